/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See policy_random.h. */
#include "config.h"

#include "policy_random.h"

#include <string.h>

#include "base/attr.h"

uint64_t policy_random(uint64_t *seed)
{
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t below(uint64_t *seed, size_t n)
{
	return (size_t)(policy_random(seed) % n);
}

static const char *pick(uint64_t *seed, const char *const *pool)
{
	size_t n = 0;

	while (pool[n])
		n++;
	return pool[below(seed, n)];
}

static const char *const hosts[] = {
	"*", "example.com", "*.example.com", "a.example.com:443",
	"*.a.example.com", "b.a.example.com", "a.example.com:80,443",
	"*.example.com:1-1000", "10.0.0.0/8", "10.1.0.0/16:22", "192.0.2.7",
	"2001:db8::/32", "[2001:db8:1::/48]:443", "::ffff:10.2.0.1",
	"198.51.100.0/24", "*:443", "API.Example.COM.", "localhost", NULL
};
static const char *const private_hosts[] = {
	"10.0.0.0/8", "10.1.0.0/16:22", "192.168.1.1", "*.corp.example",
	"db.corp.example:5432", NULL
};
static const char *const sizes[] = { "1MiB", "1MB", "64MiB", "1GiB", "1GB",
				     "4GB", "4GiB", "1TiB", NULL };
static const char *const times[] = { "500ms", "1s", "30s", "1m", "90m", "2h",
				     "1d", NULL };
static const char *const backoffs[] = { "1s..60s", "500ms..2s", "2s..1m",
					"1s..1s", NULL };
static const char *const calls[] = { "ptrace", "bpf", "mount", "clone3",
				     "io_uring_setup", NULL };
static const char *const globs[] = { "docs/*.lock", "secret", "a/**/b",
				     "*.key", "build", NULL };
static const char *const admits[] = { "jwt:docs/", "db-url:*.md",
				      "pem-private:a/b.pem", "k8s-secret-yaml"
				      ":charts/**", NULL };
static const char *const protects[] = { "builtin:code-that-runs-later",
					"docs/*.lock", "protected", "*.lock",
					"team/sub", "sub/x", "**/sub/x", "*/x",
					"**", NULL };
static const char *const names[] = { "LANG", "TERM", "HOME", "TZ", "LD_PRELOAD",
				     "PATH", "FOO", NULL };
static const char *const passes[] = { "LANG", "TERM", "HOME", "*", NULL };
static const char *const values[] = { "/usr/bin:/bin", ".:/bin", "x", "",
				      NULL };
static const char *const froms[] = {
	"/srv", "/srv/team", "/srv/team/sub", "/srv/team/sub/x", "/srv/teamAB",
	"/srv/other", "/usr", "/usr/lib", "/data", "/srv/docs",
	"/srv/team/.git", "/srv/team/sub/.git/hooks", NULL
};
static const char *const tos[] = {
	"/w", "/w/sub", "/w/sub/x", "/w/sub/x/y", "/wx", "/usr", "/usr/lib",
	"/srv/team", "/srv/team/sub", "/m", "/workspace/sub", NULL
};
static const char *const server_grants[] = { "resources", "prompts", "sampling",
					     NULL };
#define NO_DIGEST                                                 \
	"sha256:00000000000000000000000000000000000000000000000" \
	"00000000000000000"
static const char *const server_pins[] = { "a=" NO_DIGEST, "b=" NO_DIGEST,
					   NULL };
static const char *const tools[] = { "*", "gh:*", "gh:list", "gh:li*", "db:q",
				     NULL };
static const char *const kinds[] = { "database", "secrets", "deployment",
				     NULL };
static const char *const secrets[] = { "gh", "aws", "npm", NULL };
static const char *const deliveries[] = { "inject", "memfd", "file", NULL };
static const char *const features[] = { "userns", "mountns", "pidns", "netns",
					"landlock", "seccomp", "proc",
					"cgroup", "groups", NULL };
static const char *const limit_names[] = { "memory", "pids", "cpus", "wall",
					   NULL };
static const char *const modes[] = { "none", "gateway", "host", NULL };
static const char *const profiles[] = { "default", "strict", NULL };
static const char *const restarts[] = { "no", "on-failure", "always", NULL };
static const char *const idles[] = { "pause", "stop", "destroy", NULL };
static const char *const orphans[] = { "cascade", "orphan", "refuse", NULL };
static const char *const shields[] = { "off", "audit", "deny", "ask", NULL };
static const char *const watches[] = { "connect", "peers", "reads", NULL };
static const char *const repositories[] = { "/srv/a", "/srv/b", NULL };
static const char *const gits[] = { "none", "head", "range", NULL };
static const char *const verdicts[] = { "allow", "ask", "deny", NULL };
static const char *const ids[] = { "r1", "r2", "r3", NULL };
static const char *const agents[] = { "ada", "bob", NULL };
static const char *const trees[] = { "/team/trees/a", "/team/trees/b",
				     "/trees/c", NULL };

static json_t *list(uint64_t *seed, const char *const *pool, size_t most)
{
	json_t *a = json_array();

	for (size_t n = below(seed, most + 1); n > 0; n--)
		json_array_append_new(a, json_string(pick(seed, pool)));
	return a;
}

/* Each key appears with a chance of one in two. */
static int maybe(uint64_t *seed)
{
	return below(seed, 2) == 0;
}

static void put(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v);
}

static void put_pick(uint64_t *seed, json_t *o, const char *key,
		     const char *const *pool)
{
	if (maybe(seed))
		put(o, key, json_string(pick(seed, pool)));
}

static void put_list(uint64_t *seed, json_t *o, const char *key,
		     const char *const *pool, size_t most)
{
	if (maybe(seed))
		put(o, key, list(seed, pool, most));
}

static void put_int(uint64_t *seed, json_t *o, const char *key, size_t low,
		    size_t high)
{
	if (maybe(seed))
		put(o, key,
		    json_integer((json_int_t)(low +
					      below(seed, high - low + 1))));
}

/* Add a record unless one of that key is there. */
static void add(json_t *a, const char *key, json_t *record)
{
	const char *id = json_string_value(json_object_get(record, key));

	for (size_t i = 0; i < json_array_size(a); i++)
		if (strcmp(json_string_value(json_object_get(
				   json_array_get(a, i), key)), id) == 0) {
			json_decref(record);
			return;
		}
	json_array_append_new(a, record);
}

static json_t *random_mounts(uint64_t *seed)
{
	json_t *a = json_array();

	for (size_t n = below(seed, 6); n > 0; n--) {
		json_t *m = json_object();
		size_t kind = below(seed, 5);

		put(m, "to", json_string(pick(seed, tos)));
		put(m, "access", json_string(kind == 0 ? "hide" :
					     kind < 3  ? "read" : "write"));
		if (kind)
			put(m, "from", json_string(pick(seed, froms)));
		if (kind && maybe(seed))
			put(m, "exec", json_boolean(maybe(seed)));
		if (maybe(seed))
			put(m, "optional", json_boolean(maybe(seed)));
		add(a, "to", m);
	}
	return a;
}

static void random_workspace(uint64_t *seed, json_t *d)
{
	static const char *const ways[] = { "read", "overlay", "direct", NULL };
	static const char *const ats[] = { "/workspace", "same", "/ws", NULL };
	json_t *w = json_object();

	put_pick(seed, w, "path", froms);
	if (json_object_get(w, "path") && maybe(seed))
		put(w, "at", json_string(pick(seed, ats)));
	put_pick(seed, w, "mount", ways);
	put_pick(seed, w, "retain", times);
	put(d, "workspace", w);
}

static void random_secrets(uint64_t *seed, json_t *d)
{
	json_t *a = json_array();
	json_t *routes = json_array();

	for (size_t n = below(seed, 4); n > 0; n--) {
		json_t *s = json_object();

		put(s, "name", json_string(pick(seed, secrets)));
		put_list(seed, s, "delivery", deliveries, 3);
		put_list(seed, s, "hosts", hosts, 3);
		if (maybe(seed))
			put(s, "euids", json_pack("[i,i]", 1000,
						  (int)below(seed, 3)));
		put_pick(seed, s, "ttl", times);
		put_pick(seed, s, "max_ttl", times);
		add(a, "name", s);
	}
	for (size_t i = 0; i < json_array_size(a); i++) {
		const char *name = json_string_value(
			json_object_get(json_array_get(a, i), "name"));
		json_t *r = json_pack("{s:s+,s:s,s:{s:s}}", "prefix", "/", name,
				      "upstream", "https://api.example.com",
				      "inject", "secret", name);

		if (maybe(seed))
			put(r, "rate", json_pack("{s:i}", "requests_per_minute",
						 (int)below(seed, 3) + 1));
		if (maybe(seed))
			put(r, "access", json_string(maybe(seed) ? "read" :
								   "write"));
		if (maybe(seed))
			put(r, "open", json_pack("[s]", maybe(seed) ? "/x" :
								      "/y"));
		if (maybe(seed))
			put(r, "websocket", json_boolean(maybe(seed)));
		if (maybe(seed))
			put(r, "preset", json_string(maybe(seed) ? "openai" :
								   "xai"));
		if (maybe(seed))
			json_array_append(routes, r);
		json_decref(r);
	}
	put(d, "secrets", a);
	put(d, "routes", routes);
}

static void random_network(uint64_t *seed, json_t *d)
{
	json_t *n = json_object();

	put_pick(seed, n, "mode", modes);
	put_list(seed, n, "allow", hosts, 5);
	if (below(seed, 4) == 0)
		put(n, "deny", json_pack("[s,s]", "deny.example.com",
					 "10.9.0.0/16"));
	put_list(seed, n, "private", private_hosts, 3);
	put_list(seed, n, "tcp", private_hosts, 2);
	if (maybe(seed))
		put(n, "transparent", json_boolean(maybe(seed)));
	if (maybe(seed))
		put(n, "preview", json_pack("[i,i]", 3000,
					    3000 + (int)below(seed, 3)));
	if (maybe(seed)) {
		json_t *rate = json_object();

		put_int(seed, rate, "requests_per_minute", 1, 5);
		put_pick(seed, rate, "bytes_per_second", sizes);
		put(n, "rate", rate);
	}
	put(d, "network", n);
}

static void random_limits(uint64_t *seed, json_t *d)
{
	json_t *l = json_object();

	put_pick(seed, l, "memory", sizes);
	put_pick(seed, l, "disk", sizes);
	put_pick(seed, l, "wall", times);
	if (below(seed, 8) == 0)
		put(l, "memory", json_string("none"));
	put_int(seed, l, "pids", 1, 4);
	put_int(seed, l, "files", 16, 20);
	if (maybe(seed))
		put(l, "cpus", maybe(seed) ? json_integer(2) :
					     json_string("1500m"));
	put_list(seed, l, "require", limit_names, 2);
	put(d, "limits", l);
}

static void random_guards(uint64_t *seed, json_t *d)
{
	static const char *const sections[] = { "commands", "git" };

	for (size_t i = 0; i < 2; i++) {
		json_t *g = json_object();
		json_t *rules = json_array();

		put_pick(seed, g, "profile", profiles);
		for (size_t n = below(seed, 4); n > 0; n--)
			add(rules, "id",
			    json_pack("{s:s,s:s,s:s}", "id", pick(seed, ids),
				      "verdict", pick(seed, verdicts),
				      "pattern", pick(seed, calls)));
		put(g, "rules", rules);
		if (maybe(seed))
			put(d, sections[i], g);
		else
			json_decref(g);
	}
}

static void random_rest(uint64_t *seed, json_t *d)
{
	json_t *o = json_object();

	put_pick(seed, o, "restart", restarts);
	put_int(seed, o, "max_restarts", 0, 5);
	put_pick(seed, o, "backoff", backoffs);
	put_pick(seed, o, "timeout", times);
	put_pick(seed, o, "idle", times);
	put_pick(seed, o, "idle_action", idles);
	put_pick(seed, o, "orphan", orphans);
	put(d, "lifecycle", o);

	o = json_object();
	put_list(seed, o, "exclude", globs, 3);
	put_list(seed, o, "include", globs, 3);
	put_list(seed, o, "admit", admits, 3);
	put_pick(seed, o, "git", gits);
	/* two commits are not to be had without it */
	put(o, "git_base", json_string("main"));
	/* one alone says nothing */
	if (maybe(seed)) {
		put(o, "repository", json_string(pick(seed, repositories)));
		put(o, "git_head", json_string("HEAD"));
	}
	put_pick(seed, o, "max_bytes", sizes);
	put(d, "snapshot", o);

	o = json_object();
	put_list(seed, o, "allow", tools, 3);
	if (maybe(seed)) {
		json_t *server = json_pack("{s:s,s:[s]}", "name", "gh",
					   "command", pick(seed, calls));

		put_list(seed, server, "grant", server_grants, 2);
		put_list(seed, server, "pins", server_pins, 2);
		put(o, "servers", json_pack("[o]", server));
	}
	put(d, "tools", o);

	o = json_object();
	put_list(seed, o, "tools", kinds, 3);
	put(d, "scope", o);

	o = json_object();
	put_pick(seed, o, "mode", shields);
	put_list(seed, o, "watch", watches, 3);
	put(d, "shield", o);

	o = json_object();
	put_int(seed, o, "max_children", 0, 4);
	put_int(seed, o, "max_depth", 0, 3);
	put_pick(seed, o, "max_total_memory", sizes);
	put(d, "orchestration", o);
}

static void random_env(uint64_t *seed, json_t *d)
{
	json_t *e = json_object();
	json_t *set = json_object();

	for (size_t n = below(seed, 4); n > 0; n--)
		put(set, pick(seed, names), json_string(pick(seed, values)));
	if (maybe(seed))
		json_object_set(e, "set", set);
	json_decref(set);
	put_list(seed, e, "pass", passes, 3);
	put(d, "env", e);
}

static void random_role(uint64_t *seed, json_t *d)
{
	json_t *r = json_object();

	put(r, "kind", json_string(maybe(seed) ? "manager" : "engineer"));
	if (maybe(seed))
		put(r, "team_dir", json_string("/team"));
	put_pick(seed, r, "agent", agents);
	put_list(seed, r, "worktrees", trees, 2);
	put(d, "role", r);
}

json_t *policy_random_document(uint64_t *seed)
{
	static const char *const syscalls[] = { "profile", NULL };
	json_t *d = json_pack("{s:i}", "agentbox", 1);
	json_t *s = json_object();

	put_pick(seed, d, "name", agents);
	if (below(seed, 4) == 0)
		put(d, "account", json_string("acme"));
	put_pick(seed, s, syscalls[0], profiles);
	put_list(seed, s, "allow", calls, 2);
	if (!json_object_get(s, "allow"))
		put_list(seed, s, "deny", calls, 2);
	put(d, "syscalls", s);
	if (maybe(seed))
		put(d, "mounts", random_mounts(seed));
	if (maybe(seed))
		random_workspace(seed, d);
	if (maybe(seed))
		random_secrets(seed, d);
	if (maybe(seed))
		random_network(seed, d);
	if (maybe(seed))
		random_limits(seed, d);
	if (maybe(seed))
		random_rest(seed, d);
	if (maybe(seed))
		random_env(seed, d);
	if (below(seed, 4) == 0)
		random_role(seed, d);
	random_guards(seed, d);
	put_list(seed, d, "protect", protects, 3);
	put_list(seed, d, "require", features, 6);
	put_list(seed, d, "prefer", features, 3);
	if (below(seed, 4) == 0)
		put(d, "x-note", json_string("own"));
	return d;
}

/* One way to ask for more: a fragment laid over the document. */
static const struct widening {
	const char *pointer;
	const char *json;
	bool always; /* no random document holds it */
} widenings[] = {
	{ "/mode", "{\"mode\":\"bare\"}", true },
	{ "/network/mode", "{\"network\":{\"mode\":\"host\"}}", false },
	{ "/network/allow",
	  "{\"network\":{\"allow\":[\"wider.invalid.example\"]}}", false },
	{ "/network/private",
	  "{\"network\":{\"private\":[\"172.16.9.9\"]}}", true },
	{ "/network/tcp",
	  "{\"network\":{\"tcp\":[\"ssh.example.com:443\"]}}", true },
	{ "/network/preview", "{\"network\":{\"preview\":[22]}}", true },
	{ "/limits/memory", "{\"limits\":{\"memory\":\"none\"}}", false },
	{ "/limits/pids", "{\"limits\":{\"pids\":4000000}}", false },
	{ "/limits/cpus", "{\"limits\":{\"cpus\":100000}}", false },
	{ "/limits/wall", "{\"limits\":{\"wall\":\"9999d\"}}", false },
	{ "/limits/files", "{\"limits\":{\"files\":\"none\"}}", false },
	{ "/limits/require", "{\"limits\":{\"require\":[]}}", false },
	{ "/require", "{\"require\":[]}", false },
	{ "/mounts", "{\"mounts\":[{\"from\":\"/wider\",\"to\":\"/wider\","
		     "\"access\":\"read\"}]}", true },
	{ "/mounts", "{\"mounts\":[{\"from\":\"/usrx/lib\",\"to\":\"/m9\","
		     "\"access\":\"write\",\"exec\":true}]}", true },
	{ "/workspace/path", "{\"workspace\":{\"path\":\"/wider\","
			     "\"at\":\"/wider-at\"}}", false },
	{ "/workspace/retain", "{\"workspace\":{\"retain\":\"9999d\"}}", true },
	{ "/syscalls/allow",
	  "{\"syscalls\":{\"allow\":[\"kexec_load\"]}}", true },
	{ "/env/pass",
	  "{\"env\":{\"pass\":[\"AWS_SECRET_ACCESS_KEY\"]}}", false },
	{ "/env/set", "{\"env\":{\"set\":{\"LD_AUDIT\":\"/x.so\"}}}", true },
	{ "/secrets",
	  "{\"secrets\":[{\"name\":\"wider\"}],\"routes\":[]}", true },
	{ "/routes", "{\"routes\":[{\"prefix\":\"/wider\",\"upstream\":"
		     "\"https://wider.example\"}]}", true },
	{ "/tools/allow", "{\"tools\":{\"allow\":[\"wider:x\"]}}", false },
	{ "/snapshot/include",
	  "{\"snapshot\":{\"include\":[\".env\"]}}", true },
	{ "/snapshot/admit",
	  "{\"snapshot\":{\"admit\":[\"jwt:wider\"]}}", true },
	{ "/peering", "{\"peering\":\"read\"}", true },
	{ "/orchestration/max_children",
	  "{\"orchestration\":{\"max_children\":999}}", true },
	{ "/orchestration/max_total_memory",
	  "{\"orchestration\":{\"max_total_memory\":\"900TiB\"}}", true },
	{ "/lifecycle/max_restarts",
	  "{\"lifecycle\":{\"max_restarts\":99999}}", true },
	{ "/lifecycle/restart",
	  "{\"lifecycle\":{\"restart\":\"always\"}}", false },
	{ "/commands/rules",
	  "{\"commands\":{\"rules\":[{\"id\":\"wider\",\"verdict\":\"allow\","
	  "\"pattern\":\"rm\"}]}}", true },
};

static void lay_over(json_t *d, const json_t *over)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)over, key, v) {
		json_t *old = json_object_get(d, key);

		if (json_is_object(v) && json_is_object(old))
			lay_over(old, v);
		else
			json_object_set(d, key, v);
	}
}

const char *policy_random_widen(uint64_t *seed, json_t *document,
				bool *always)
{
	const struct widening *w =
		&widenings[below(seed, AB_ARRAY_LEN(widenings))];
	json_t *over = json_loads(w->json, 0, NULL);

	if (!over)
		return NULL;
	if (strcmp(w->pointer, "/network/allow") == 0) {
		json_t *n = json_object_get(document, "network");

		json_object_del(n, "deny");
	}
	lay_over(document, over);
	json_decref(over);
	*always = w->always;
	return w->pointer;
}
