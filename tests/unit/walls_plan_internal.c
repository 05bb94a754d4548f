/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plans for machines this one is not: hand-made probes reach every rung of
 * every ladder, and every refusal is met with its name. Nothing is raised.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agentbox/policy.h"
#include "base/fd.h"
#include "base/json.h"
#include "walls/cgroup.h"
#include "walls/internal.h"
#include "walls/probe.h"

#include "abtest.h"

#define ID "0123456789abcdef0123456789abcdef"
#define USR "\"mounts\":[{\"from\":\"/usr\",\"to\":\"/usr\"," \
	    "\"access\":\"read\",\"exec\":true}]"

static char dir[256];
static agentbox_context *context;

static void shell(const char *fmt, ...)
{
	char command[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	ck_assert_int_eq(system(command), 0);
}

static void setup(void)
{
	char state[300], *real;

	ab_leak_setup();
	real = realpath(ab_test_tmpdir(), NULL);
	snprintf(dir, sizeof(dir), "%s/walls-XXXXXX", real);
	free(real);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(state, sizeof(state), "%s/state", dir);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, state, NULL),
			 0);
}

static void teardown(void)
{
	agentbox_context_unref(context);
	context = NULL;
	shell("rm -rf '%s'", dir);
	ab_leak_teardown();
}

/* An ordinary user on a modern kernel without delegated cgroups. */
static ab_probe user_probe(void)
{
	ab_probe p = { .landlock_abi = 7,
		       .seccomp = true,
		       .openat2 = true,
		       .euid = 1234,
		       .egid = 1234 };

	return p;
}

static agentbox_policy *parse(const char *fmt, ...)
{
	char text[8192];
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	agentbox_policy_parse(context, text, strlen(text), &policy, &err);
	ck_assert_msg(policy != NULL, "%s: %s", text,
		      agentbox_error_get_message(err));
	return policy;
}

static ab_compiled compile(agentbox_policy *policy, const ab_probe *probe,
			   uint32_t tier)
{
	const ab_compile_input in = { .box_id = ID,
				      .probe = probe,
				      .tier = tier };
	ab_compiled out = { 0 };
	agentbox_error *err = NULL;
	int32_t rc = ab_walls_compile(context, policy, &in, &out, &err);

	ck_assert_msg(rc == 0, "%s: %s", agentbox_error_get_where(err),
		      agentbox_error_get_message(err));
	agentbox_policy_unref(policy);
	return out;
}

/* The compile fails with this code and place, and leaves nothing. */
static void refused(agentbox_policy *policy, const ab_probe *probe,
		    uint32_t tier, int32_t code, const char *where)
{
	const ab_compile_input in = { .box_id = ID,
				      .probe = probe,
				      .tier = tier };
	ab_compiled out = { 0 };
	agentbox_error *err = NULL;
	int32_t rc = ab_walls_compile(context, policy, &in, &out, &err);

	ck_assert_msg(rc == code, "%s instead of %s (%s: %s)",
		      agentbox_error_name(rc), agentbox_error_name(code),
		      agentbox_error_get_where(err),
		      agentbox_error_get_message(err));
	ck_assert_str_eq(agentbox_error_get_where(err), where);
	ck_assert_ptr_null(out.description);
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
}

typedef struct loaded {
	void *map;
	size_t n;
	ab_plan plan;
} loaded;

static loaded load(const ab_compiled *c)
{
	struct stat st;
	loaded l = { 0 };

	ck_assert_int_eq(fstat(c->plan_fd, &st), 0);
	l.n = (size_t)st.st_size;
	l.map = mmap(NULL, l.n, PROT_READ, MAP_PRIVATE, c->plan_fd, 0);
	ck_assert_ptr_ne(l.map, MAP_FAILED);
	ck_assert_int_eq(ab_plan_decode(l.map, l.n, agentbox_build_id(),
					&l.plan),
			 0);
	return l;
}

static void unload(loaded *l, ab_compiled *c)
{
	ab_plan_end(&l->plan);
	munmap(l->map, l->n);
	ab_compiled_end(c);
}

static const ab_plan_step *step(const ab_plan *plan, uint32_t kind,
				const char *target)
{
	for (uint32_t i = 0; i < plan->step_count; i++) {
		if (plan->steps[i].kind == kind &&
		    strcmp(plan->steps[i].target, target) == 0)
			return &plan->steps[i];
	}
	return NULL;
}

static bool has_note(const ab_compiled *c, const char *text)
{
	json_t *note;
	size_t i;

	json_array_foreach(c->notes, i, note) {
		if (strstr(json_string_value(note), text))
			return true;
	}
	return false;
}

static const char *mechanism(const ab_compiled *c, const char *limit)
{
	return json_string_value(json_object_get(
		json_object_get(c->limits, limit), "mechanism"));
}

static bool is_hard(const ab_compiled *c, const char *limit)
{
	return json_is_true(
		json_object_get(json_object_get(c->limits, limit), "hard"));
}

static bool limit_notes(const ab_compiled *c, const char *limit,
			const char *text)
{
	const char *note = json_string_value(json_object_get(
		json_object_get(c->limits, limit), "note"));

	return note && strstr(note, text);
}

START_TEST(an_empty_policy_is_a_box_of_its_own_things_only)
{
	ab_probe p = user_probe();
	ab_compiled c = compile(parse("{\"agentbox\":1,\"require\":[]}"), &p,
				AB_TIER_FULL);
	loaded l = load(&c);

	ck_assert_uint_eq(l.plan.namespaces, AB_NS_ALL);
	for (uint32_t i = 0; i < l.plan.step_count; i++)
		ck_assert_uint_ne(l.plan.steps[i].kind, AB_STEP_BIND);
	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_PROC, "/proc"));
	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_DEV, "/dev"));
	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_TMPFS, "/tmp"));
	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_FILE, "/etc/passwd"));
	ck_assert_uint_eq(
		step(&l.plan, AB_STEP_FILE, "/etc/resolv.conf")->content_len,
		0);
	ck_assert_uint_gt(l.plan.seccomp_len, 0);
	ck_assert_uint_eq(l.plan.uid_inside, 1000);
	ck_assert_uint_eq(l.plan.uid_outside, 1234);
	ck_assert_uint_eq(l.plan.map_by_holder, 0);
	unload(&l, &c);
}
END_TEST

START_TEST(a_mount_is_read_only_and_pinned_by_inode)
{
	ab_probe p = user_probe();
	ab_compiled c = compile(parse("{\"agentbox\":1,\"require\":[]," USR "}"),
				&p, AB_TIER_FULL);
	loaded l = load(&c);
	const ab_plan_step *s = step(&l.plan, AB_STEP_BIND, "/usr");
	struct stat st;

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(stat("/usr", &st), 0);
	ck_assert_uint_eq(s->ino, st.st_ino);
	ck_assert_uint_eq(s->dev, st.st_dev);
	ck_assert_uint_eq(s->flags, AB_MOUNT_RDONLY | AB_MOUNT_RECURSIVE);
	ck_assert_uint_eq(c.path_fd_count, 1);
	unload(&l, &c);
}
END_TEST

START_TEST(host_trees_with_kernel_interfaces_or_sockets_are_refused)
{
	static const char *const from[] = { "/proc", "/sys/kernel", "/dev",
					    "/dev/shm", "/run", "/tmp" };
	ab_probe p = user_probe();

	for (size_t i = 0; i < AB_ARRAY_LEN(from); i++) {
		agentbox_policy *policy = NULL;
		char text[512];

		snprintf(text, sizeof(text),
			 "{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
			 "\"%s\",\"to\":\"/m\",\"access\":\"read\"}]}",
			 from[i]);
		/* the parser may refuse it first; both is a refusal */
		if (agentbox_policy_parse(context, text, strlen(text), &policy,
					  NULL) == 0)
			refused(policy, &p, AB_TIER_FULL, AGENTBOX_EDENIED,
				"mounts[/m]");
	}
	/* a link to one of them is judged by where it leads */
	shell("ln -s /proc '%s/link'", dir);
	refused(parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		      "\"%s/link\",\"to\":\"/m\",\"access\":\"read\"}]}",
		      dir),
		&p, AB_TIER_FULL, AGENTBOX_EDENIED, "mounts[/m]");
}
END_TEST

START_TEST(a_missing_path_is_named_and_an_optional_one_skipped)
{
	ab_probe p = user_probe();
	ab_compiled c;

	refused(parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		      "\"%s/no\",\"to\":\"/m\",\"access\":\"read\"}]}",
		      dir),
		&p, AB_TIER_FULL, AGENTBOX_ENOTFOUND, "mounts[/m]");
	refused(parse("{\"agentbox\":1,\"require\":[],\"workspace\":{\"path\":"
		      "\"%s/no\",\"at\":\"/w\",\"mount\":\"direct\"}}",
		      dir),
		&p, AB_TIER_FULL, AGENTBOX_ENOTFOUND, "workspace.path");
	c = compile(parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{"
			  "\"from\":\"%s/no\",\"to\":\"/m\",\"access\":"
			  "\"read\",\"optional\":true}]}",
			  dir),
		    &p, AB_TIER_FULL);
	ab_compiled_end(&c);
}
END_TEST

START_TEST(what_this_build_lacks_is_refused_and_not_left_out)
{
	ab_probe p = user_probe();

#ifdef HAVE_GATEWAY
	refused(parse("{\"agentbox\":1,\"require\":[],\"network\":{\"mode\":"
		      "\"gateway\"}}"),
		&p, AB_TIER_LANDLOCK, AGENTBOX_EWALL, "netns");
#else
	refused(parse("{\"agentbox\":1,\"require\":[],\"network\":{\"mode\":"
		      "\"gateway\"}}"),
		&p, AB_TIER_FULL, AGENTBOX_EUNSUPPORTED, "/network/mode");
#endif
	refused(parse("{\"agentbox\":1,\"require\":[],\"workspace\":{\"path\":"
		      "\"%s\",\"at\":\"/w\",\"mount\":\"overlay\"}}",
		      dir),
		&p, AB_TIER_FULL, AGENTBOX_EUNSUPPORTED, "/workspace/mount");
}
END_TEST

START_TEST(the_state_directory_is_hidden_from_every_mount)
{
	ab_probe p = user_probe();
	char at[400];
	ab_compiled c = compile(
		parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		      "\"%s\",\"to\":\"/m\",\"access\":\"write\"}]}",
		      dir),
		&p, AB_TIER_FULL);
	loaded l = load(&c);

	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_HIDE, "/m/state"));
	unload(&l, &c);
	snprintf(at, sizeof(at), "%s/state", dir);
	refused(parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		      "\"%s\",\"to\":\"/m\",\"access\":\"read\"}]}",
		      at),
		&p, AB_TIER_FULL, AGENTBOX_EDENIED, "/m");
}
END_TEST

static int position(const ab_plan *plan, uint32_t kind, const char *target)
{
	int found = -1;

	for (uint32_t i = 0; i < plan->step_count; i++) {
		if (plan->steps[i].kind != kind ||
		    strcmp(plan->steps[i].target, target) != 0)
			continue;
		ck_assert_msg(found < 0, "%s twice", target);
		found = (int)i;
	}
	return found;
}

START_TEST(what_leads_to_the_hidden_state_directory_cannot_be_moved)
{
	ab_probe p = user_probe();
	agentbox_context *above = context;
	const ab_plan_step *pin;
	ab_compiled c;
	char at[400];
	loaded l;

	snprintf(at, sizeof(at), "umask 077 && mkdir -p '%s/a/b/state'", dir);
	ck_assert_int_eq(system(at), 0);
	snprintf(at, sizeof(at), "%s/a/b/state", dir);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, at, NULL), 0);
	/* seen twice at one place, and once read-only */
	c = compile(parse("{\"agentbox\":1,\"require\":[],\"mounts\":["
			  "{\"from\":\"%s\",\"to\":\"/m\",\"access\":"
			  "\"write\"},{\"from\":\"%s/a\",\"to\":\"/m/a\","
			  "\"access\":\"write\"},{\"from\":\"%s\",\"to\":"
			  "\"/r\",\"access\":\"read\"}]}",
			  dir, dir, dir),
		    &p, AB_TIER_FULL);
	l = load(&c);
	ck_assert_int_eq(position(&l.plan, AB_STEP_SELF, "/m/a"), -1);
	ck_assert_int_ge(position(&l.plan, AB_STEP_SELF, "/m/a/b"), 0);
	ck_assert_int_gt(position(&l.plan, AB_STEP_HIDE, "/m/a/b/state"),
			 position(&l.plan, AB_STEP_SELF, "/m/a/b"));
	ck_assert_int_eq(position(&l.plan, AB_STEP_SELF, "/m"), -1);
	ck_assert_int_eq(position(&l.plan, AB_STEP_SELF, "/r/a"), -1);
	ck_assert_int_ge(position(&l.plan, AB_STEP_HIDE, "/r/a/b/state"), 0);
	pin = step(&l.plan, AB_STEP_SELF, "/m/a/b");
	ck_assert_uint_eq(pin->flags, AB_MOUNT_RECURSIVE);
	unload(&l, &c);
	agentbox_context_unref(context);
	context = above;
}
END_TEST

START_TEST(landlock_rights_are_cut_to_every_level)
{
	static const uint64_t masks[] = { 0,	  0x1fff, 0x3fff, 0x7fff,
					  0x7fff, 0xffff, 0xffff, 0xffff };

	for (uint32_t abi = 0; abi <= 7; abi++) {
		ab_probe p = user_probe();
		ab_compiled c;
		loaded l;

		p.landlock_abi = abi;
		c = compile(parse("{\"agentbox\":1,\"require\":[],"
				  "\"workspace\":{\"path\":\"%s\",\"at\":"
				  "\"/w\",\"mount\":\"direct\"}}",
				  dir),
			    &p, AB_TIER_FULL);
		l = load(&c);
		ck_assert_uint_eq(l.plan.landlock_abi, abi);
		ck_assert_uint_eq(l.plan.landlock_fs, masks[abi]);
		ck_assert_uint_eq(l.plan.landlock_net, 0);
		ck_assert_uint_eq(l.plan.landlock_scope, abi >= 6 ? 3 : 0);
		ck_assert_int_eq(l.plan.rule_count == 0, abi == 0);
		for (uint32_t i = 0; i < l.plan.rule_count; i++)
			ck_assert_uint_eq(l.plan.rules[i].access & ~masks[abi],
					  0);
		ck_assert_int_eq(has_note(&c, "truncate"), abi == 1 || abi == 2);
		unload(&l, &c);
	}
}
END_TEST

START_TEST(required_features_fail_closed_by_name)
{
	static const struct {
		const char *name;
		uint32_t tier, abi;
	} rows[] = {
		{ "landlock", AB_TIER_FULL, 0 },
		{ "landlock-net", AB_TIER_FULL, 3 },
		{ "landlock-scope", AB_TIER_FULL, 5 },
		{ "proc", AB_TIER_NO_PROC, 7 },
		{ "userns", AB_TIER_LANDLOCK, 7 },
		{ "mountns", AB_TIER_LANDLOCK, 7 },
		{ "pidns", AB_TIER_LANDLOCK, 7 },
		{ "netns", AB_TIER_LANDLOCK, 7 },
		{ "idmap", AB_TIER_FULL, 7 },
		{ "noswap", AB_TIER_FULL, 7 },
		{ "peer-pidfd", AB_TIER_FULL, 7 },
	};
	ab_probe p;

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		p = user_probe();
		p.landlock_abi = rows[i].abi;
		refused(parse("{\"agentbox\":1,\"require\":[\"%s\"]}",
			      rows[i].name),
			&p, rows[i].tier, AGENTBOX_EWALL, rows[i].name);
	}
	p = user_probe();
	p.group_count = 2;
	refused(parse("{\"agentbox\":1,\"require\":[\"groups\"]}"), &p,
		AB_TIER_FULL, AGENTBOX_EWALL, "groups");
	p = user_probe();
	p.seccomp = false;
	refused(parse("{\"agentbox\":1,\"require\":[]}"), &p, AB_TIER_FULL,
		AGENTBOX_EWALL, "seccomp");
	p = (ab_probe){ 0 };
	refused(parse("{\"agentbox\":1,\"require\":[]}"), &p, AB_TIER_FULL,
		AGENTBOX_EWALL, "seccomp");
	p.seccomp = true;
	refused(parse("{\"agentbox\":1,\"require\":[]}"), &p, AB_TIER_LANDLOCK,
		AGENTBOX_EWALL, "landlock");
}
END_TEST

START_TEST(the_landlock_tier_refuses_what_needs_mounts)
{
	ab_probe p = user_probe();
	ab_compiled c;
	loaded l;

	refused(parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		      "\"/usr\",\"to\":\"/m\",\"access\":\"read\"}]}"),
		&p, AB_TIER_LANDLOCK, AGENTBOX_EWALL, "mountns");
	refused(parse("{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		      "\"/usr\",\"to\":\"/usr\",\"access\":\"read\"},{\"to\":"
		      "\"/usr/lib\",\"access\":\"hide\"}]}"),
		&p, AB_TIER_LANDLOCK, AGENTBOX_EWALL, "mountns");
	refused(parse("{\"agentbox\":1,\"require\":[],\"workspace\":{\"path\":"
		      "\"%s\",\"at\":\"same\",\"mount\":\"direct\"}}",
		      dir),
		&p, AB_TIER_LANDLOCK, AGENTBOX_EWALL, "mountns");
	c = compile(parse("{\"agentbox\":1,\"require\":[]," USR "}"), &p,
		    AB_TIER_LANDLOCK);
	l = load(&c);
	ck_assert_uint_eq(l.plan.namespaces, 0);
	ck_assert_uint_eq(l.plan.step_count, 0);
	ck_assert_uint_eq(l.plan.landlock_net, 3);
	ck_assert(has_note(&c, "no network namespace"));
	unload(&l, &c);
}
END_TEST

#define LIMITS                                                          \
	"{\"agentbox\":1,\"require\":[],\"limits\":{\"memory\":\"64MiB\"," \
	"\"pids\":20,\"cpus\":1,\"files\":100,\"disk\":\"1MiB\","         \
	"\"wall\":\"1m\",\"require\":[%s]}}"

START_TEST(a_time_limit_is_hard_where_descent_can_be_told)
{
	static const struct {
		uint32_t tier;
		bool marks, hard;
		const char *note;
	} rows[] = {
		{ AB_TIER_FULL, true, true, "every process that descends" },
		{ AB_TIER_FULL, false, false, "left the group" },
		/* no /proc: nobody can be found */
		{ AB_TIER_NO_PROC, true, false, "left the group" },
		{ AB_TIER_LANDLOCK, true, false, "no namespace holds it" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		ab_probe p = user_probe();
		ab_compiled c;
		loaded l;

		p.marks = rows[i].marks;
		c = compile(parse(LIMITS, ""), &p, rows[i].tier);
		l = load(&c);
		ck_assert_int_eq(is_hard(&c, "wall"), rows[i].hard);
		ck_assert(limit_notes(&c, "wall", rows[i].note));
		ck_assert_int_eq(l.plan.mark_key != 0, rows[i].marks);
		unload(&l, &c);
	}
}
END_TEST

/* The names, one behind the other. */
static void weaker_names(const ab_compiled *c, char *out, size_t size)
{
	json_t *w;
	size_t i, n = 0;

	out[0] = '\0';
	json_array_foreach(c->weaker, i, w) {
		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "",
				      json_string_value(
					      json_object_get(w, "wall")));
		ck_assert_uint_lt(n, size);
		ck_assert(json_is_string(json_object_get(w, "what")) &&
			  json_is_string(json_object_get(w, "why")) &&
			  json_is_string(json_object_get(w, "fix")));
	}
}

START_TEST(what_is_weaker_is_one_list)
{
	static const char empty[] = "{\"agentbox\":1,\"require\":[]}";
	static const char host[] = "{\"agentbox\":1,\"require\":[],"
				   "\"network\":{\"mode\":\"host\"}}";
	static const char bare[] = "{\"agentbox\":1,\"mode\":\"bare\"}";
	static const char limits[] =
		"{\"agentbox\":1,\"require\":[],\"limits\":{"
		"\"memory\":\"64MiB\",\"cpus\":1,\"pids\":20,"
		"\"files\":100,\"disk\":\"1MiB\",\"wall\":\"1m\"}}";
	static const struct {
		const char *policy;
		uint32_t tier, groups, abi, euid;
		bool pool, no_idmap, marks;
		const char *want;
	} rows[] = {
		{ empty, AB_TIER_FULL, 0, 7, 1234, 0, 0, 1, "" },
		{ empty, AB_TIER_FULL, 3, 7, 1234, 0, 0, 1, "groups" },
		{ empty, AB_TIER_FULL, 3, 7, 0, 1, 0, 1, "" },
		{ empty, AB_TIER_FULL, 3, 7, 0, 1, 1, 1, "idmap" },
		{ empty, AB_TIER_FULL, 3, 7, 0, 0, 0, 1, "groups ids" },
		{ empty, AB_TIER_FULL, 0, 0, 1234, 0, 0, 1, "landlock" },
		{ empty, AB_TIER_NO_PROC, 0, 7, 1234, 0, 0, 1, "proc" },
		{ empty, AB_TIER_LANDLOCK, 1, 7, 1234, 0, 0, 1,
		  "namespaces groups" },
		{ empty, AB_TIER_LANDLOCK, 0, 5, 1234, 0, 0, 1,
		  "namespaces landlock-scope" },
		{ host, AB_TIER_FULL, 0, 7, 1234, 0, 0, 1, "netns" },
		{ bare, AB_TIER_BARE, 3, 0, 0, 0, 0, 0, "mode" },
		{ limits, AB_TIER_FULL, 0, 7, 1234, 0, 0, 1,
		  "limits.memory limits.cpus" },
		{ limits, AB_TIER_FULL, 0, 7, 1234, 0, 0, 0,
		  "limits.memory limits.cpus limits.wall" },
		{ limits, AB_TIER_LANDLOCK, 0, 7, 1234, 0, 0, 1,
		  "namespaces limits.memory limits.cpus limits.pids "
		  "limits.disk limits.wall" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		ab_probe p = user_probe();
		agentbox_policy *policy = parse("%s", rows[i].policy);
		ab_compile_input input = { .box_id = ID,
					   .probe = &p,
					   .tier = rows[i].tier,
					   .no_idmap = rows[i].no_idmap,
					   .dry = true };
		ab_compiled c = { .plan_fd = -1 };
		char names[256];

		p.euid = rows[i].euid;
		p.group_count = rows[i].groups;
		p.landlock_abi = rows[i].abi;
		p.marks = rows[i].marks;
		p.root = p.euid == 0;
		p.uid_pool = rows[i].pool;
		p.uid_pool_first = 100000;
		p.uid_pool_count = rows[i].pool ? 1000 : 0;
		ck_assert_int_eq(ab_walls_compile(context, policy, &input, &c,
						  NULL), 0);
		weaker_names(&c, names, sizeof(names));
		ck_assert_msg(!strcmp(names, rows[i].want), "%zu: %s", i,
			      names);
		ck_assert(json_equal(c.weaker,
				     json_object_get(c.description,
						     "weaker")));
		ab_compiled_end(&c);
		agentbox_policy_unref(policy);
	}
}
END_TEST

START_TEST(a_user_without_cgroups_gets_rlimits_and_polling)
{
	ab_probe p = user_probe();
	ab_compiled c = compile(parse(LIMITS, ""), &p, AB_TIER_FULL);
	loaded l = load(&c);
	bool nproc = false;

	ck_assert_str_eq(mechanism(&c, "memory"), "polled");
	ck_assert(!is_hard(&c, "memory"));
	ck_assert_str_eq(mechanism(&c, "pids"), "rlimit");
	ck_assert(is_hard(&c, "pids"));
	ck_assert_str_eq(mechanism(&c, "cpus"), "none");
	ck_assert(is_hard(&c, "files"));
	/* no marks here: setsid(1) leaves the process group that is ended */
	ck_assert(!is_hard(&c, "wall"));
	ck_assert(limit_notes(&c, "wall", "left the group"));
	ck_assert_str_eq(mechanism(&c, "disk"), "tmpfs");
	ck_assert(is_hard(&c, "disk"));
	ck_assert_uint_eq(l.plan.polled_memory, 64u << 20);
	ck_assert_uint_eq(step(&l.plan, AB_STEP_TMPFS, "/tmp")->size, 1u << 19);
	for (uint32_t i = 0; i < l.plan.rlimit_count; i++)
		nproc |= l.plan.rlimits[i].resource == RLIMIT_NPROC &&
			 l.plan.rlimits[i].hard == 23;
	ck_assert(nproc);
	unload(&l, &c);
}
END_TEST

START_TEST(a_required_limit_that_would_be_soft_refuses_the_start)
{
	ab_probe p = user_probe();

	refused(parse(LIMITS, "\"memory\""), &p, AB_TIER_FULL, AGENTBOX_EWALL,
		"limits.memory");
	refused(parse(LIMITS, "\"cpus\""), &p, AB_TIER_FULL, AGENTBOX_EWALL,
		"limits.cpus");
	refused(parse(LIMITS, "\"pids\""), &p, AB_TIER_LANDLOCK,
		AGENTBOX_EWALL, "limits.pids");
	/* kernel uid 0 is never counted (RECIPES.md section 7) */
	p.euid = 0;
	refused(parse(LIMITS, "\"pids\""), &p, AB_TIER_FULL, AGENTBOX_EWALL,
		"limits.pids");
}
END_TEST

/* Directories that look like cgroups, so that every write is seen. */
static void fake_cgroup(const char *name, const char *files)
{
	shell("mkdir -p '%s/%s' && cd '%s/%s' && touch cgroup.procs %s", dir,
	      name, dir, name, files);
}

START_TEST(a_cgroup_that_cannot_be_set_is_the_next_rung)
{
	ab_probe p = user_probe();
	ab_compiled c;
	char path[300];

	fake_cgroup("v2", "");
	snprintf(path, sizeof(path), "%s/v2", dir);
	snprintf(p.cgroup2_path, sizeof(p.cgroup2_path), "%s", path);
	p.cgroup2_memory = p.cgroup2_pids = p.cgroup2_cpu = true;
	/* a plain directory has no memory.max: the write fails */
	c = compile(parse(LIMITS, ""), &p, AB_TIER_FULL);
	ck_assert_str_eq(mechanism(&c, "memory"), "polled");
	ck_assert_str_eq(mechanism(&c, "pids"), "rlimit");
	ck_assert_uint_eq(c.cgroup_count, 1);
	ck_assert_int_eq(access(c.cgroups[0], F_OK), 0);
	ab_compiled_end(&c);
	shell("test -z \"$(ls -A '%s' | grep agentbox)\"", path);
}
END_TEST

START_TEST(a_dry_compile_believes_the_probe_and_makes_nothing)
{
	ab_probe p = user_probe();
	const ab_compile_input in = { .box_id = ID,
				      .probe = &p,
				      .tier = AB_TIER_FULL,
				      .dry = true };
	agentbox_policy *policy = parse(LIMITS, "\"memory\",\"pids\",\"cpus\"");
	ab_compiled c = { 0 };

	p.cgroup1_memory = p.cgroup1_pids = p.cgroup1_cpu = true;
	ck_assert_int_eq(ab_walls_compile(context, policy, &in, &c, NULL), 0);
	ck_assert_str_eq(mechanism(&c, "memory"), "cgroup1");
	ck_assert_str_eq(mechanism(&c, "cpus"), "cgroup1");
	ck_assert_uint_eq(c.cgroup_count, 0);
	ab_compiled_end(&c);
	p.cgroup2_memory = true;
	ck_assert_int_eq(ab_walls_compile(context, policy, &in, &c, NULL), 0);
	ck_assert_str_eq(mechanism(&c, "memory"), "cgroup2");
	ab_compiled_end(&c);
	agentbox_policy_unref(policy);
	shell("test ! -e '%s/state'", dir);
}
END_TEST

START_TEST(only_directories_of_dead_owners_are_stale)
{
	char mine[256], dead[256], foreign[256];
	unsigned long ns, pid, start;

	ck_assert_int_eq(ab_cgroup_name(ID, mine, sizeof(mine)), 0);
	ck_assert(!ab_cgroup_is_stale(mine));
	ck_assert_int_eq(sscanf(mine, "agentbox-" ID "-%lu-%lu-%lu", &ns, &pid,
				&start),
			 3);
	snprintf(dead, sizeof(dead), "agentbox-" ID "-%lu-%lu-%lu", ns, pid,
		 start + 1);
	ck_assert(ab_cgroup_is_stale(dead));
	snprintf(foreign, sizeof(foreign), "agentbox-" ID "-%lu-%lu-%lu",
		 ns + 1, pid, start + 1);
	ck_assert(!ab_cgroup_is_stale(foreign));
	ck_assert(!ab_cgroup_is_stale("user.slice"));
	ck_assert(!ab_cgroup_is_stale("agentbox-" ID));
	ck_assert(!ab_cgroup_is_stale("agentbox-" ID "-x-y-z"));
}
END_TEST

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* In a time namespace whose clock is a day ahead: its name, by the pipe. */
static void own_where_it_is_later(int to)
{
	int fd, status = 0;
	char name[256];
	pid_t pid;

	if (unshare((geteuid() ? CLONE_NEWUSER : 0) | CLONE_NEWTIME))
		_exit(77);
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "boottime 86400 0", 16) != 16)
		_exit(77);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (ab_cgroup_name(ID, name, sizeof(name)) ||
		    write(to, name, strlen(name) + 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

START_TEST(an_owner_with_another_clock_is_not_dead)
{
	unsigned long ns, pid = 0, start;
	char name[256] = "";
	int fds[2], status;
	pid_t child;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		own_where_it_is_later(fds[1]);
	close(fds[1]);
	if (read(fds[0], name, sizeof(name) - 1) > 0) {
		ck_assert_int_eq(sscanf(name, "agentbox-" ID "-%lu-%lu-%lu",
					&ns, &pid, &start), 3);
		ck_assert(!ab_cgroup_is_stale(name));
		kill((pid_t)pid, SIGKILL);
	}
	close(fds[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	/* gone is gone, whatever clock it had */
	ck_assert(pid == 0 || ab_cgroup_is_stale(name));
	/* 77: no such namespaces here */
	ck_assert(pid || WEXITSTATUS(status) == 77);
}
END_TEST

START_TEST(a_root_host_gives_each_box_a_kernel_id_of_its_own)
{
	ab_probe p = user_probe();
	ab_compiled c;
	loaded l;
	uint32_t first, count, a, b;

	p.euid = p.egid = 0;
	p.root = p.uid_pool = true;
	p.uid_pool_first = 500000;
	p.uid_pool_count = 65536;
	a = ab_walls_pick_uid(&p, ID, 0);
	b = ab_walls_pick_uid(&p, ID, 1);
	ck_assert_uint_ne(a, b);
	ck_assert(a >= 500000 && a < 565536 && b >= 500000 && b < 565536);
	c = compile(parse("{\"agentbox\":1,\"require\":[\"idmap\","
			  "\"groups\"],\"workspace\":{\"path\":\"%s\","
			  "\"at\":\"/w\",\"mount\":\"direct\"}}",
			  dir),
		    &p, AB_TIER_FULL);
	l = load(&c);
	ck_assert_uint_eq(l.plan.uid_outside, a);
	ck_assert_uint_eq(l.plan.map_by_holder, 1);
	ck_assert_uint_eq(l.plan.drop_groups, 1);
	ck_assert(step(&l.plan, AB_STEP_BIND, "/w")->flags & AB_MOUNT_IDMAP);
	unload(&l, &c);

	ck_assert(ab_probe_pick_pool("0 0 4294967295\n", &first, &count));
	ck_assert_uint_eq(first, 1879048192);
	ck_assert(ab_probe_pick_pool("0 1000 1\n1 100000 65536\n", &first,
				     &count));
	ck_assert(first > 1000 && first + count <= 65534);
	/* nested with one id: an ordinary user in effect */
	ck_assert(!ab_probe_pick_pool("0 1000 1\n", &first, &count));
	ck_assert(!ab_probe_pick_pool("", &first, &count));
	p.uid_pool = false;
	ck_assert_uint_eq(ab_walls_pick_uid(&p, ID, 0), 0);
}
END_TEST

START_TEST(cgroup_paths_follow_our_own_path_below_the_mount)
{
	static const char mounts[] =
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
		"rw,cpu,cpuacct\n"
		"35 31 0:32 /docker/x /cg/memory ro shared:1 master:2 - cgroup "
		"cgroup rw,memory\n"
		"41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n";
	static const char own[] = "4:memory:/docker/x/y\n2:cpu,cpuacct:/u\n"
				  "1:name=systemd:/s\n0::/a.slice/b.scope\n";
	char out[256];

	ck_assert(ab_probe_cgroup_path("cpu", own, mounts, out, sizeof(out)));
	ck_assert_str_eq(out, "/sys/fs/cgroup/cpu,cpuacct/u");
	ck_assert(ab_probe_cgroup_path("memory", own, mounts, out,
				       sizeof(out)));
	ck_assert_str_eq(out, "/cg/memory/y");
	ck_assert(ab_probe_cgroup_path("", own, mounts, out, sizeof(out)));
	ck_assert_str_eq(out, "/cg/unified/a.slice/b.scope");
	ck_assert(!ab_probe_cgroup_path("pids", own, mounts, out, sizeof(out)));
	/* mounted at a root that does not contain us */
	ck_assert(!ab_probe_cgroup_path("memory", "4:memory:/elsewhere\n",
					mounts, out, sizeof(out)));
}
END_TEST

START_TEST(only_a_kernel_without_namespaces_weakens_the_tier)
{
	agentbox_policy *any = parse("{\"agentbox\":1,\"require\":[]}");
	agentbox_policy *strict = parse("{\"agentbox\":1}");
	agentbox_policy *proc = parse("{\"agentbox\":1,\"require\":[\"proc\"]}");
	const char *why = NULL;

	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_FULL,
					     "mounts[9] /proc", &why),
			  AB_TIER_NO_PROC);
	ck_assert_ptr_nonnull(why);
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_FULL, "userns", &why),
			  AB_TIER_LANDLOCK);
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_NO_PROC,
					     "userns uid_map", &why),
			  AB_TIER_LANDLOCK);
	ck_assert_uint_eq(ab_walls_next_tier(strict, AB_TIER_FULL,
					     "mounts[9] /proc", &why),
			  AB_TIER_NO_PROC);
	ck_assert_uint_eq(ab_walls_next_tier(strict, AB_TIER_FULL, "userns",
					     &why),
			  0);
	ck_assert_uint_eq(ab_walls_next_tier(proc, AB_TIER_FULL,
					     "mounts[9] /proc", &why),
			  0);
	/* case 97: a swapped path is a refusal, never a weaker box */
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_FULL,
					     "mounts[3] /usr", &why),
			  0);
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_FULL,
					     "mounts[3] /w/proc", &why),
			  0);
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_FULL, "seccomp",
					     &why),
			  0);
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_FULL, "", &why), 0);
	ck_assert_uint_eq(ab_walls_next_tier(any, AB_TIER_LANDLOCK, "userns",
					     &why),
			  0);
	agentbox_policy_unref(any);
	agentbox_policy_unref(strict);
	agentbox_policy_unref(proc);
}
END_TEST

START_TEST(the_report_claims_only_what_init_raised)
{
	json_t *r = ab_walls_report(0, 0, AB_TIER_LANDLOCK, NULL, NULL, NULL);
	json_t *wall;
	const char *name;

	ck_assert_str_eq(json_string_value(json_object_get(r, "tier")),
			 "landlock");
	json_object_foreach(json_object_get(r, "walls"), name, wall) {
		ck_assert(json_is_false(json_object_get(wall, "standing")));
		ck_assert(json_is_false(json_object_get(wall, "hard")));
	}
	json_decref(r);
	ck_assert_str_eq(ab_walls_tier_name(77), "none");
}
END_TEST

START_TEST(what_proc_tells_about_the_host_is_masked)
{
	/* what runc, crun and podman mask, as far as this kernel has it */
	static const char *const hidden[] = {
		"/proc/acpi",	     "/proc/asound",	  "/proc/interrupts",
		"/proc/kcore",	     "/proc/key-users",	  "/proc/keys",
		"/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
		"/proc/sysrq-trigger", "/proc/timer_list", "/proc/timer_stats",
	};
	static const char *const readonly[] = { "/proc/bus", "/proc/fs",
						"/proc/irq", "/proc/sys" };
	ab_probe p = user_probe();
	ab_compiled c = compile(parse("{\"agentbox\":1,\"require\":[]}"), &p,
				AB_TIER_FULL);
	loaded l = load(&c);

	for (size_t i = 0; i < AB_ARRAY_LEN(hidden); i++) {
		const ab_plan_step *s = step(&l.plan, AB_STEP_HIDE, hidden[i]);

		ck_assert_msg((s != NULL) == (access(hidden[i], F_OK) == 0),
			      "%s", hidden[i]);
		if (s)
			ck_assert_uint_eq(s->flags, AB_MOUNT_OPTIONAL);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(readonly); i++) {
		const ab_plan_step *s =
			step(&l.plan, AB_STEP_SELF, readonly[i]);

		ck_assert_msg((s != NULL) == (access(readonly[i], F_OK) == 0),
			      "%s", readonly[i]);
		if (s)
			ck_assert_uint_eq(s->flags, AB_MOUNT_RDONLY |
							    AB_MOUNT_RECURSIVE |
							    AB_MOUNT_OPTIONAL);
		if (s)
			ck_assert(s > step(&l.plan, AB_STEP_PROC,
						 "/proc"));
	}
	unload(&l, &c);
	c = compile(parse("{\"agentbox\":1,\"require\":[]}"), &p,
		    AB_TIER_NO_PROC);
	l = load(&c);
	ck_assert_ptr_null(step(&l.plan, AB_STEP_SELF, "/proc/sys"));
	unload(&l, &c);
}
END_TEST

START_TEST(without_id_mapping_the_box_has_fewer_rights_and_says_so)
{
	ab_probe p = user_probe();
	ab_compile_input in = { .box_id = ID,
				.probe = &p,
				.tier = AB_TIER_FULL,
				.no_idmap = true };
	agentbox_policy *policy = parse("{\"agentbox\":1,\"require\":[],"
					"\"workspace\":{\"path\":\"%s\","
					"\"at\":\"/w\",\"mount\":\"direct\"}}",
					dir);
	agentbox_policy *strict = parse("{\"agentbox\":1,\"require\":"
					"[\"idmap\"]}");
	ab_compiled c = { 0 };
	agentbox_error *err = NULL;
	loaded l;

	p.root = p.uid_pool = true;
	p.uid_pool_first = 1879048192;
	p.uid_pool_count = 4096;
	p.euid = p.egid = 0;
	ck_assert_int_eq(ab_walls_compile(context, policy, &in, &c, NULL), 0);
	l = load(&c);
	ck_assert_uint_eq(step(&l.plan, AB_STEP_BIND, "/w")->flags &
				  AB_MOUNT_IDMAP,
			  0);
	ck_assert_uint_eq(l.plan.map_by_holder, 1);
	ck_assert(has_note(&c, "modes allow"));
	unload(&l, &c);
	ck_assert_int_eq(ab_walls_compile(context, strict, &in, &c, &err),
			 AGENTBOX_EWALL);
	ck_assert_str_eq(agentbox_error_get_where(err), "idmap");
	agentbox_error_free(err);

	ck_assert(ab_walls_may_skip_idmap(policy, false, "idmap[4] /srv/w"));
	/* once, for this stage, and not against the policy */
	ck_assert(!ab_walls_may_skip_idmap(policy, true, "idmap[4] /srv/w"));
	ck_assert(!ab_walls_may_skip_idmap(policy, false, "mounts[4] /idmap["));
	ck_assert(!ab_walls_may_skip_idmap(policy, false, "idmapx"));
	ck_assert(!ab_walls_may_skip_idmap(strict, false, "idmap[4] /srv/w"));
	agentbox_policy_unref(policy);
	agentbox_policy_unref(strict);
}
END_TEST

START_TEST(a_bare_box_has_no_walls_and_claims_none)
{
	ab_probe p = { .euid = 1234, .egid = 1234 };
	ab_compiled c = compile(
		parse("{\"agentbox\":1,\"extends\":\"builtin:bare\","
		      "\"protect\":[\".envrc\"],\"limits\":{\"files\":64,"
		      "\"pids\":9},\"workspace\":{\"path\":\"%s\"}}",
		      dir),
		&p, AB_TIER_BARE);
	loaded l = load(&c);
	const char *name;
	json_t *r, *wall;

	ck_assert_uint_eq(l.plan.tier, AB_TIER_BARE);
	ck_assert_uint_eq(l.plan.namespaces, 0);
	ck_assert_uint_eq(l.plan.step_count, 0);
	ck_assert_uint_eq(l.plan.rule_count, 0);
	ck_assert_uint_eq(l.plan.landlock_abi, 0);
	ck_assert_uint_eq(l.plan.seccomp_len, 0);
	ck_assert_uint_eq(l.plan.watch_count, 0);
	ck_assert_uint_eq(l.plan.cgroup_count, 0);
	ck_assert_uint_eq(l.plan.uid_inside, 1234);
	ck_assert_str_eq(c.workspace_inside, dir);
	ck_assert_str_eq(mechanism(&c, "files"), "rlimit");
	ck_assert(!is_hard(&c, "files"));
	ck_assert_str_eq(mechanism(&c, "pids"), "none");
	ck_assert_ptr_null(c.quarantine);
	ck_assert(has_note(&c, "bare"));
	unload(&l, &c);
	/* whatever init says: nothing in a bare box is to be relied on */
	r = ab_walls_report(UINT32_MAX, 7, AB_TIER_BARE, NULL, NULL, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(r, "tier")),
			 "bare");
	json_object_foreach(json_object_get(r, "walls"), name, wall) {
		ck_assert(json_is_false(json_object_get(wall, "standing")));
		ck_assert(json_is_false(json_object_get(wall, "hard")));
	}
	json_decref(r);
}
END_TEST

START_TEST(bare_is_neither_required_nor_reached_by_weakening)
{
	ab_probe p = user_probe();
	agentbox_policy *bare = parse(
		"{\"agentbox\":1,\"extends\":\"builtin:bare\"}");
	const char *why;

	refused(parse("{\"agentbox\":1,\"require\":[]}"), &p, AB_TIER_BARE,
		AGENTBOX_EINVAL, "/mode");
	refused(agentbox_policy_ref(bare), &p, AB_TIER_FULL, AGENTBOX_EINVAL,
		"/mode");
	refused(parse("{\"agentbox\":1,\"extends\":\"builtin:bare\","
		      "\"require\":[\"seccomp\"]}"),
		&p, AB_TIER_BARE, AGENTBOX_EWALL, "seccomp");
	refused(parse("{\"agentbox\":1,\"extends\":\"builtin:bare\","
		      "\"limits\":{\"files\":64,\"require\":[\"files\"]}}"),
		&p, AB_TIER_BARE, AGENTBOX_EWALL, "limits.files");
	ck_assert_uint_eq(ab_walls_next_tier(bare, AB_TIER_BARE, "userns",
					     &why),
			  0);
	ck_assert_uint_eq(ab_walls_first_tier(bare), AB_TIER_BARE);
	agentbox_policy_unref(bare);
	bare = parse("{\"agentbox\":1}");
	ck_assert_uint_eq(ab_walls_first_tier(bare), AB_TIER_FULL);
	agentbox_policy_unref(bare);
}
END_TEST

START_TEST(small_files_of_etc_are_given_as_a_copy)
{
	ab_probe p = user_probe();
	ab_compiled c = compile(
		parse("{\"agentbox\":1,\"require\":[],\"mounts\":["
		      "{\"from\":\"/etc/passwd\",\"to\":\"/etc/passwd\","
		      "\"access\":\"read\"},"
		      "{\"from\":\"/etc/group\",\"to\":\"/opt/group\","
		      "\"access\":\"read\"},"
		      "{\"from\":\"/etc/profile.d\",\"to\":\"/etc/profile.d\","
		      "\"access\":\"read\",\"optional\":true}]}"),
		&p, AB_TIER_FULL);
	loaded l = load(&c);
	const ab_plan_step *s = step(&l.plan, AB_STEP_FILE, "/etc/passwd");
	struct stat st;

	ck_assert_int_eq(stat("/etc/passwd", &st), 0);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->content_len, (size_t)st.st_size);
	ck_assert_int_eq(memcmp(s->content, "root:", 5), 0);
	ck_assert_ptr_null(step(&l.plan, AB_STEP_BIND, "/etc/passwd"));
	/* under another name, and directories: as they are */
	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_BIND, "/opt/group"));
	ck_assert_ptr_null(step(&l.plan, AB_STEP_FILE, "/etc/profile.d"));
	for (uint32_t i = 0; i < l.plan.rule_count; i++)
		ck_assert_str_ne(l.plan.rules[i].path, "/etc/passwd");
	unload(&l, &c);
	/* a directory of the host is there already: nothing is made in it */
	c = compile(parse("{\"agentbox\":1,\"require\":[],\"mounts\":["
			  "{\"from\":\"%s\",\"to\":\"/etc/ssl\","
			  "\"access\":\"read\"},{\"from\":"
			  "\"/etc/ssl/openssl.cnf\",\"to\":"
			  "\"/etc/ssl/openssl.cnf\",\"access\":\"read\","
			  "\"optional\":true}]}",
			  dir),
		    &p, AB_TIER_FULL);
	l = load(&c);
	ck_assert_ptr_null(step(&l.plan, AB_STEP_FILE, "/etc/ssl/openssl.cnf"));
	unload(&l, &c);
}
END_TEST

START_TEST(a_path_is_resolved_to_its_canonical_name)
{
	ab_hostpath h;
	char path[600], real[600];

	shell("mkdir -p '%s/a/b' && ln -s a '%s/l' && ln -s ../l/b '%s/a/m'",
	      dir, dir, dir);
	snprintf(path, sizeof(path), "%s/l/../l/m/.", dir);
	snprintf(real, sizeof(real), "%s/a/b", dir);
	ck_assert_int_eq(ab_host_resolve(path, "w", &h, NULL), 0);
	ck_assert_str_eq(h.path, real);
	ck_assert(S_ISDIR(h.mode));
	close(h.fd);
	snprintf(path, sizeof(path), "%s/l/none", dir);
	ck_assert_int_eq(ab_host_resolve(path, "w", &h, NULL),
			 AGENTBOX_ENOTFOUND);
}
END_TEST

/* Without links and in one spelling only; else it is resolved the long way. */
START_TEST(a_plain_path_is_opened_as_it_is_written)
{
	static const struct {
		const char *path;
		int result;
	} rows[] = {
		{ "/a/b", 0 },	       { "/a/none", -ENOENT },
		{ "/l/b", -ELOOP },    { "/a/m", -ELOOP },
		{ "/gone", -ELOOP },   { "/a//b", -EINVAL },
		{ "/a/../a", -EINVAL }, { "/a/./b", -EINVAL },
		{ "/a/b/", -EINVAL },
	};
	char path[600];

	shell("mkdir -p '%s/a/b' && ln -s a '%s/l' && ln -s b '%s/a/m' && "
	      "ln -s none '%s/gone'", dir, dir, dir, dir);
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		ab_hostpath h = { .fd = -1 };

		snprintf(path, sizeof(path), "%s%s", dir, rows[i].path);
		ck_assert_int_eq(ab_host_open_plain(path, &h), rows[i].result);
		ck_assert_int_eq(h.fd >= 0, rows[i].result == 0);
		if (h.fd < 0)
			continue;
		ck_assert_str_eq(h.path, path);
		ck_assert(S_ISDIR(h.mode));
		close(h.fd);
	}
}
END_TEST

/* What a policy asks for is probed as for nobody in particular. */
START_TEST(a_policy_is_told_of_what_it_asks_for)
{
	agentbox_policy *few = parse("{\"agentbox\":1,\"require\":[]}");
	agentbox_policy *many = parse("{\"agentbox\":1,\"require\":[],"
				      "\"prefer\":[\"noswap\",\"peer-pidfd\"],"
				      "\"limits\":{\"pids\":9}}");
	ab_probe all, some;

	ck_assert_int_eq(ab_probe_machine(&all, NULL, NULL), 0);
	ck_assert_int_eq(ab_probe_machine(&some, many, NULL), 0);
	ck_assert_int_eq(some.noswap, all.noswap);
	ck_assert_int_eq(some.peer_pidfd, all.peer_pidfd);
	ck_assert_int_eq(some.cgroup1_pids, all.cgroup1_pids);
	ck_assert_int_eq(some.cgroup2_pids, all.cgroup2_pids);
	ck_assert_str_eq(some.cgroup1_pids_path, all.cgroup1_pids_path);
	ck_assert_str_eq(some.cgroup2_path, all.cgroup2_path);
	ck_assert_int_eq(ab_probe_machine(&some, few, NULL), 0);
	ck_assert(!some.cgroup1_pids && !some.cgroup2_pids);
	ck_assert_int_eq(some.landlock_abi, all.landlock_abi);
	ck_assert_int_eq(some.seccomp, all.seccomp);
	ck_assert_int_eq(some.uid_pool, all.uid_pool);
	agentbox_policy_unref(few);
	agentbox_policy_unref(many);
}
END_TEST

#define LINKS \
	"{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":\"%s\"," \
	"\"to\":\"/m\",\"access\":\"%s\"},{\"from\":\"%s/out\"," \
	"\"to\":\"/out\",\"access\":\"write\"}],\"workspace\":{" \
	"\"path\":\"%s\",\"at\":\"/w\",\"mount\":\"%s\"}}"

/* What an earlier box left in its workspace does not choose a mount. */
START_TEST(a_host_path_through_a_link_of_a_box_is_refused)
{
	static const struct {
		const char *from, *workspace, *where;
	} rows[] = {
		{ "ws/link", "ws", "mounts[/m]" },
		{ "ws/link/sub", "ws", "mounts[/m]" },
		{ "ws/back", "ws", "mounts[/m]" },
		{ "wslink/link", "ws", "mounts[/m]" },
		{ "into", "ws", "mounts[/m]" },
		{ "out/link", "ws", "mounts[/m]" },
		{ "private", "out/ws", "workspace.path" },
	};
	static const char *const fine[] = { "ws/sub", "private", "wslink/sub",
					    "wslink" };
	ab_probe p = user_probe();
	char from[600], ws[600];

	shell("cd '%s' && mkdir -p ws/sub private/sub out && "
	      "ln -s ../private ws/link && ln -s sub ws/back && "
	      "ln -s ws wslink && ln -s ws/link into && "
	      "ln -s ../private out/link && ln -s ../ws out/ws", dir);
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, rows[i].from);
		snprintf(ws, sizeof(ws), "%s/%s", dir, rows[i].workspace);
		refused(parse(LINKS, from, "read", dir, ws, "direct"), &p,
			AB_TIER_FULL, AGENTBOX_EDENIED, rows[i].where);
		refused(parse(LINKS, from, "write", dir, ws, "direct"), &p,
			AB_TIER_FULL, AGENTBOX_EDENIED, rows[i].where);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(fine); i++) {
		ab_compiled c;

		snprintf(from, sizeof(from), "%s/%s", dir, fine[i]);
		/* a link above the workspace is the host's */
		snprintf(ws, sizeof(ws), "%s/wslink", dir);
		c = compile(parse(LINKS, from, "read", dir, ws, "direct"), &p,
			    AB_TIER_FULL);
		ab_compiled_end(&c);
	}
	/* no box of this policy writes there */
	snprintf(from, sizeof(from), "%s/ws/link", dir);
	snprintf(ws, sizeof(ws), "%s/ws", dir);
	{
		ab_compiled c = compile(parse(LINKS, from, "read", dir, ws,
					      "read"),
					&p, AB_TIER_FULL);

		ab_compiled_end(&c);
	}
}
END_TEST

START_TEST(only_a_box_with_a_tree_has_a_home)
{
	ab_probe p = user_probe();
	ab_compiled c = compile(parse("{\"agentbox\":1,\"require\":[]}"), &p,
				AB_TIER_NO_PROC);
	loaded l = load(&c);

	ck_assert_str_eq(c.home, "/home/agent");
	ck_assert_ptr_nonnull(step(&l.plan, AB_STEP_TMPFS, c.home));
	unload(&l, &c);
	c = compile(parse("{\"agentbox\":1,\"require\":[]}"), &p,
		    AB_TIER_LANDLOCK);
	ck_assert_ptr_null(c.home);
	ab_compiled_end(&c);
	c = compile(parse("{\"agentbox\":1,\"mode\":\"bare\"}"), &p,
		    AB_TIER_BARE);
	ck_assert_ptr_null(c.home);
	ab_compiled_end(&c);
}
END_TEST

static uint64_t private_sum(const ab_plan *plan)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < plan->step_count; i++) {
		const ab_plan_step *s = &plan->steps[i];

		if (s->kind == AB_STEP_TMPFS || s->kind == AB_STEP_DEV)
			n += s->size;
	}
	return n;
}

START_TEST(what_a_box_keeps_in_memory_leaves_it_half_of_its_limit)
{
	static const char text[] = "{\"agentbox\":1,\"require\":[],\"limits\":"
				   "{\"memory\":\"64MiB\",\"disk\":\"%s\"}}";
	ab_probe p = user_probe();

	for (int cgroup = 0; cgroup < 2; cgroup++) {
		ab_compile_input in = { .box_id = ID, .probe = &p,
					.tier = AB_TIER_FULL, .dry = true };
		ab_compiled c = { 0 };
		agentbox_policy *policy = parse(text, "1GiB");
		loaded l;

		p.cgroup2_memory = cgroup;
		snprintf(p.cgroup2_path, sizeof(p.cgroup2_path), "/none");
		ck_assert_int_eq(ab_walls_compile(context, policy, &in, &c,
						  NULL), 0);
		agentbox_policy_unref(policy);
		l = load(&c);
		ck_assert_str_eq(mechanism(&c, "memory"),
				 cgroup ? "cgroup2" : "polled");
		ck_assert_uint_eq(private_sum(&l.plan), 32u << 20);
		ck_assert(limit_notes(&c, "disk", "half of the memory limit"));
		unload(&l, &c);
		c = compile(parse(text, "16MiB"), &p, AB_TIER_FULL);
		l = load(&c);
		ck_assert_uint_eq(private_sum(&l.plan), 16u << 20);
		ck_assert(!limit_notes(&c, "disk", "half of the memory"));
		unload(&l, &c);
		p = user_probe();
	}
}
END_TEST

START_TEST(the_limits_report_says_what_polling_does_not_see)
{
	ab_probe p = user_probe();
	ab_compiled c = compile(parse(LIMITS, ""), &p, AB_TIER_FULL);

	ck_assert(!is_hard(&c, "memory"));
	ck_assert(limit_notes(&c, "memory", "memfds"));
	ck_assert(limit_notes(&c, "memory", "System V"));
	ab_compiled_end(&c);
}
END_TEST

static bool torture_body(void *data)
{
	ab_probe p = user_probe();
	const ab_compile_input in = { .box_id = ID,
				      .probe = &p,
				      .tier = AB_TIER_FULL };
	ab_compiled c = { 0 };
	agentbox_error *err = NULL;
	int32_t rc = ab_walls_compile(context, data, &in, &c, &err);

	if (rc == 0)
		ab_compiled_end(&c);
	else
		ck_assert_int_eq(rc, AGENTBOX_ENOMEM);
	agentbox_error_free(err);
	return rc == 0;
}

START_TEST(every_failed_allocation_of_a_compile_is_out_of_memory)
{
	agentbox_policy *policy =
		parse("{\"agentbox\":1,\"require\":[]," USR
		      ",\"protect\":[\".git/hooks\",\".envrc\"],"
		      "\"workspace\":{\"path\":\"%s\",\"at\":\"/w\","
		      "\"mount\":\"direct\"}}",
		      dir);

	shell("mkdir -p '%s/.git/hooks' && touch '%s/.envrc'", dir, dir);
	if (ab_torture_available())
		ck_assert_uint_gt(ab_torture(torture_body, policy, 5000, NULL),
				  20);
	agentbox_policy_unref(policy);
}
END_TEST

typedef struct seen {
	int begun, cancelled;
	ab_plan head;
	void *map;
	size_t n;
} seen;

static void begin(void *data, int head_fd)
{
	seen *s = data;

	s->begun++;
	ck_assert_int_eq(ab_fd_check_sealed(head_fd, AB_MAX_PLAN_BYTES, &s->n),
			 0);
	s->map = mmap(NULL, s->n, PROT_READ, MAP_PRIVATE, head_fd, 0);
	ck_assert(s->map != MAP_FAILED);
	ck_assert_int_eq(ab_plan_decode(s->map, s->n, agentbox_build_id(),
					&s->head), 0);
}

static void cancel(void *data)
{
	((seen *)data)->cancelled++;
}

START_TEST(who_begins_early_gets_the_head_of_the_plan)
{
	ab_probe p = user_probe();
	seen s = { 0 };
	const ab_compile_early early = { begin, cancel, &s };
	const ab_compile_input in = { .box_id = ID,
				      .probe = &p,
				      .tier = AB_TIER_FULL,
				      .early = &early };
	agentbox_policy *good = parse("{\"agentbox\":1," USR "}");
	agentbox_policy *bad = parse("{\"agentbox\":1,\"mounts\":[{\"from\":"
				     "\"/nonesuch\",\"to\":\"/x\","
				     "\"access\":\"read\"}]}");
	ab_compiled c = { 0 };
	loaded l;

	ck_assert_int_eq(ab_walls_compile(context, good, &in, &c, NULL), 0);
	ck_assert_int_eq(s.begun, 1);
	ck_assert_int_eq(s.cancelled, 0);
	l = load(&c);
	ck_assert(ab_plan_continues(&l.plan, &s.head));
	unload(&l, &c);
	ab_plan_end(&s.head);
	munmap(s.map, s.n);
	/* what fails after that is told to who began */
	ck_assert_int_eq(ab_walls_compile(context, bad, &in, &c, NULL),
			 AGENTBOX_ENOTFOUND);
	ck_assert_int_eq(s.begun, 2);
	ck_assert_int_eq(s.cancelled, 1);
	ab_plan_end(&s.head);
	munmap(s.map, s.n);
	agentbox_policy_unref(good);
	agentbox_policy_unref(bad);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walls_plan");
	TCase *tc = tcase_create("plan");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_time_limit_is_hard_where_descent_can_be_told);
	tcase_add_test(tc, an_empty_policy_is_a_box_of_its_own_things_only);
	tcase_add_test(tc, a_mount_is_read_only_and_pinned_by_inode);
	tcase_add_test(
		tc, host_trees_with_kernel_interfaces_or_sockets_are_refused);
	tcase_add_test(tc, a_missing_path_is_named_and_an_optional_one_skipped);
	tcase_add_test(tc, what_this_build_lacks_is_refused_and_not_left_out);
	tcase_add_test(tc, the_state_directory_is_hidden_from_every_mount);
	tcase_add_test(
		tc, what_leads_to_the_hidden_state_directory_cannot_be_moved);
	tcase_add_test(tc, landlock_rights_are_cut_to_every_level);
	tcase_add_test(tc, required_features_fail_closed_by_name);
	tcase_add_test(tc, the_landlock_tier_refuses_what_needs_mounts);
	tcase_add_test(tc, what_is_weaker_is_one_list);
	tcase_add_test(tc, a_user_without_cgroups_gets_rlimits_and_polling);
	tcase_add_test(tc,
		       a_required_limit_that_would_be_soft_refuses_the_start);
	tcase_add_test(tc, a_cgroup_that_cannot_be_set_is_the_next_rung);
	tcase_add_test(tc, a_dry_compile_believes_the_probe_and_makes_nothing);
	tcase_add_test(tc, only_directories_of_dead_owners_are_stale);
	tcase_add_test(tc, an_owner_with_another_clock_is_not_dead);
	tcase_add_test(tc, a_root_host_gives_each_box_a_kernel_id_of_its_own);
	tcase_add_test(tc,
		       cgroup_paths_follow_our_own_path_below_the_mount);
	tcase_add_test(tc, only_a_kernel_without_namespaces_weakens_the_tier);
	tcase_add_test(tc, the_report_claims_only_what_init_raised);
	tcase_add_test(tc, small_files_of_etc_are_given_as_a_copy);
	tcase_add_test(tc, a_path_is_resolved_to_its_canonical_name);
	tcase_add_test(tc, a_plain_path_is_opened_as_it_is_written);
	tcase_add_test(tc, a_policy_is_told_of_what_it_asks_for);
	tcase_add_test(tc, a_host_path_through_a_link_of_a_box_is_refused);
	tcase_add_test(tc, only_a_box_with_a_tree_has_a_home);
	tcase_add_test(tc,
		       what_a_box_keeps_in_memory_leaves_it_half_of_its_limit);
	tcase_add_test(tc,
		       the_limits_report_says_what_polling_does_not_see);
	tcase_add_test(tc, what_proc_tells_about_the_host_is_masked);
	tcase_add_test(tc,
		       without_id_mapping_the_box_has_fewer_rights_and_says_so);
	tcase_add_test(tc, a_bare_box_has_no_walls_and_claims_none);
	tcase_add_test(tc, bare_is_neither_required_nor_reached_by_weakening);
	tcase_add_test(
		tc, every_failed_allocation_of_a_compile_is_out_of_memory);
	tcase_add_test(tc, who_begins_early_gets_the_head_of_the_plan);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
