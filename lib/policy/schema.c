/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the policy document. Reading it answers which keys there are
 * and what a child may ask for; the page agentbox-policy(5) is the same in
 * words and the unit tests compare the two. Spec: policy/schema.h.
 */
#include "config.h"

#include "policy/schema.h"

#include <string.h>

#include "base/limits.h"
#include "policy/items.h"
#include "policy/policy.h"

const char *const ab_schema_features[] = {
	"userns",  "mountns",	   "pidns",	     "ipcns",	"utsns",
	"cgroupns", "netns",	   "proc",	     "landlock", "landlock-net",
	"landlock-scope", "seccomp", "cgroup",	     "groups",	"idmap",
	"noswap",  "peer-pidfd",   NULL
};

const char *const ab_schema_limits[] = { "memory", "cpus",  "pids", "disk",
					 "files",  "wall",  NULL };

const char *const ab_schema_watches[] = { "connect", "peers", "reads",
					 NULL };

static const char *const modes[] = { "sandbox", "bare", NULL };
static const char *const role_kinds[] = { "engineer", "manager", NULL };
static const char *const ws_mounts[] = { "read", "overlay", "direct", NULL };
static const char *const accesses[] = { "hide", "read", "write", NULL };
static const char *const profiles[] = { "strict", "default", NULL };
static const char *const restarts[] = { "no", "on-failure", "always", NULL };
static const char *const idles[] = { "destroy", "stop", "pause", NULL };
static const char *const orphans[] = { "cascade", "refuse", "orphan", NULL };
static const char *const net_modes[] = { "none", "gateway", "host", NULL };
static const char *const shields[] = { "deny", "ask", "audit", "off", NULL };
static const char *const git_copies[] = { "none", "head", "range", NULL };
static const char *const peerings[] = { "none", "read", NULL };
static const char *const route_kinds[] = { "git", "http", NULL };
static const char *const route_rights[] = { "read", "write", NULL };
static const char *const verdicts[] = { "deny", "ask", "allow", NULL };

#define END { .key = NULL }
#define STRING(k, fn, r) \
	{ .key = k, .type = AB_T_STRING, .rule = r, .item = fn }
#define STRING_REQ(k, fn, r)                               \
	{ .key = k, .type = AB_T_STRING, .rule = r, .item = fn, \
	  .flags = AB_F_REQUIRED }
#define ENUM(k, n, fb)                                                \
	{ .key = k, .type = AB_T_ENUM, .rule = AB_R_ORDER, .names = n, \
	  .fallback = fb }
#define BOOL(k, fb) \
	{ .key = k, .type = AB_T_BOOL, .rule = AB_R_ORDER, .fallback = fb }
#define NUMBER(k, t, r, f) { .key = k, .type = t, .rule = r, .flags = f }
#define INT(k, lo, hi, r, f)                                             \
	{ .key = k, .type = AB_T_INT, .rule = r, .min = lo, .max = hi, \
	  .flags = f }
/* A bound that holds where none is written. */
#define USUAL(k, t, n) { .key = k, .type = t, .rule = AB_R_MIN, .usual = n }
#define USUAL_INT(k, hi, n)                                              \
	{ .key = k, .type = AB_T_INT, .rule = AB_R_MIN, .min = 1,      \
	  .max = hi, .usual = n }
#define SET(k, fn, r) { .key = k, .type = AB_T_SET, .rule = r, .item = fn }
#define SET_STAR(k, fn, r)                                     \
	{ .key = k, .type = AB_T_SET, .rule = r, .item = fn, \
	  .flags = AB_F_STAR }
#define OBJECT(k, t) \
	{ .key = k, .type = AB_T_OBJECT, .rule = AB_R_OBJECT, .table = t }
#define RECORDS(k, t, kf, r)                                        \
	{ .key = k, .type = AB_T_RECORDS, .rule = r, .table = t, \
	  .key_field = kf }

static const ab_field run_table[] = {
	STRING("profile", ab_item_text, AB_R_FREE),
	STRING("template", ab_item_text, AB_R_FREE),
	STRING("image", ab_item_text, AB_R_FREE),
	END
};

static const ab_field role_table[] = {
	ENUM("kind", role_kinds, 1),
	STRING("team_dir", ab_item_dir, AB_R_FREE),
	STRING("agent", ab_item_name, AB_R_FREE),
	{ .key = "worktrees", .type = AB_T_SET, .rule = AB_R_SUBSET,
	  .item = ab_item_dir, .max = 1024 },
	END
};

static const ab_field workspace_table[] = {
	STRING("path", ab_item_source, AB_R_FREE),
	STRING("at", ab_item_at, AB_R_FREE),
	ENUM("mount", ws_mounts, 2),
	NUMBER("retain", AB_T_DURATION, AB_R_MIN_ZERO, 0),
	END
};

static const ab_field mount_table[] = {
	STRING("from", ab_item_mount_from, AB_R_FREE),
	STRING_REQ("to", ab_item_mount_to, AB_R_FREE),
	{ .key = "access", .type = AB_T_ENUM, .rule = AB_R_FREE,
	  .names = accesses, .flags = AB_F_REQUIRED },
	{ .key = "exec", .type = AB_T_BOOL, .rule = AB_R_FREE },
	{ .key = "optional", .type = AB_T_BOOL, .rule = AB_R_FREE },
	END
};

static const ab_field env_table[] = {
	{ .key = "set", .type = AB_T_MAP, .rule = AB_R_ENV_SET,
	  .item = ab_item_env },
	SET_STAR("pass", ab_item_env, AB_R_SUBSET),
	END
};

static const ab_field syscalls_table[] = {
	ENUM("profile", profiles, 1),
	SET("deny", ab_item_syscall, AB_R_UNION),
	SET("allow", ab_item_syscall, AB_R_SUBSET),
	END
};

static const ab_field limits_table[] = {
	NUMBER("memory", AB_T_SIZE, AB_R_MIN, AB_F_NONE),
	NUMBER("cpus", AB_T_CPUS, AB_R_MIN, AB_F_NONE),
	INT("pids", 1, 4194304, AB_R_MIN, AB_F_NONE),
	NUMBER("disk", AB_T_SIZE, AB_R_MIN, AB_F_NONE),
	INT("files", 16, 1048576, AB_R_MIN, AB_F_NONE),
	NUMBER("wall", AB_T_DURATION, AB_R_MIN, AB_F_NONE),
	SET("require", ab_item_limit, AB_R_SUPERSET),
	END
};

static const ab_field lifecycle_table[] = {
	ENUM("restart", restarts, 0),
	{ .key = "max_restarts", .type = AB_T_INT, .rule = AB_R_MIN,
	  .min = 0, .max = 1000000, .usual = AB_USUAL_RESTARTS },
	NUMBER("backoff", AB_T_BACKOFF, AB_R_FLOOR, 0),
	NUMBER("timeout", AB_T_DURATION, AB_R_MIN, 0),
	NUMBER("grace", AB_T_DURATION, AB_R_MIN, 0),
	NUMBER("idle", AB_T_DURATION, AB_R_MIN, 0),
	ENUM("idle_action", idles, 2),
	ENUM("orphan", orphans, 0),
	END
};

static const ab_field rate_table[] = {
	INT("requests_per_minute", 1, UINT32_MAX, AB_R_MIN, 0),
	NUMBER("bytes_per_second", AB_T_SIZE, AB_R_MIN, 0),
	INT("connections", 1, 65535, AB_R_MIN, 0),
	END
};

static const ab_field budget_table[] = {
	INT("requests", 1, UINT32_MAX, AB_R_MIN, 0),
	NUMBER("bytes", AB_T_SIZE, AB_R_MIN, 0),
	INT("tokens", 1, UINT32_MAX, AB_R_MIN, 0),
	END
};

static const ab_field name_table[] = {
	STRING_REQ("name", ab_item_host, AB_R_SAME),
	OBJECT("rate", rate_table),
	OBJECT("budget", budget_table),
	END
};

static const ab_field network_table[] = {
	ENUM("mode", net_modes, 0),
	{ .key = "allow", .type = AB_T_HOSTS, .rule = AB_R_HOSTS,
	  .flags = AB_F_STAR },
	{ .key = "deny", .type = AB_T_HOSTS, .rule = AB_R_UNION,
	  .flags = AB_F_STAR },
	{ .key = "private", .type = AB_T_HOSTS, .rule = AB_R_HOSTS },
	{ .key = "tcp", .type = AB_T_HOSTS, .rule = AB_R_HOSTS },
	BOOL("transparent", 1),
	{ .key = "preview", .type = AB_T_INTS, .rule = AB_R_SUBSET,
	  .min = 1, .max = 65535 },
	OBJECT("rate", rate_table),
	OBJECT("budget", budget_table),
	{ .key = "names", .type = AB_T_RECORDS, .rule = AB_R_LIMITS,
	  .table = name_table, .key_field = "name", .max = 64 },
	END
};

static const ab_field inject_table[] = {
	STRING_REQ("secret", ab_item_secret, AB_R_SAME),
	STRING("header", ab_item_header, AB_R_SAME),
	STRING("scheme", ab_item_scheme, AB_R_SAME),
	STRING("user", ab_item_user, AB_R_SAME),
	END
};

static const ab_field route_table[] = {
	STRING_REQ("prefix", ab_item_prefix, AB_R_SAME),
	STRING("upstream", ab_item_upstream, AB_R_SAME),
	STRING("preset", ab_item_preset, AB_R_SAME),
	{ .key = "kind", .type = AB_T_ENUM, .rule = AB_R_SAME,
	  .names = route_kinds, .fallback = 1 },
	ENUM("access", route_rights, 1),
	SET("open", ab_item_prefix, AB_R_SUBSET),
	BOOL("websocket", 0),
	STRING("ca", ab_item_path, AB_R_SAME),
	OBJECT("inject", inject_table),
	OBJECT("rate", rate_table),
	END
};

static const ab_field secret_table[] = {
	STRING_REQ("name", ab_item_secret, AB_R_SAME),
	SET("delivery", ab_item_delivery, AB_R_SUBSET),
	{ .key = "hosts", .type = AB_T_HOSTS, .rule = AB_R_HOSTS,
	  .flags = AB_F_STAR },
	{ .key = "euids", .type = AB_T_INTS, .rule = AB_R_SUBSET,
	  .min = 0, .max = UINT32_MAX - 1 },
	NUMBER("ttl", AB_T_DURATION, AB_R_MIN, 0),
	NUMBER("max_ttl", AB_T_DURATION, AB_R_MIN, 0),
	STRING("user", ab_item_user, AB_R_SAME),
	{ .key = "command", .type = AB_T_SEQ, .rule = AB_R_SAME,
	  .item = ab_item_argument, .max = 64 },
	END
};

static const ab_field server_table[] = {
	STRING_REQ("name", ab_item_id, AB_R_SAME),
	{ .key = "command", .type = AB_T_SEQ, .rule = AB_R_SAME,
	  .item = ab_item_argument },
	STRING("url", ab_item_upstream, AB_R_SAME),
	STRING("ca", ab_item_path, AB_R_SAME),
	OBJECT("inject", inject_table),
	STRING("pin", ab_item_digest, AB_R_SAME),
	{ .key = "pins", .type = AB_T_SET, .rule = AB_R_UNION,
	  .item = ab_item_tool_pin, .max = 4096 },
	SET("grant", ab_item_grant, AB_R_SUBSET),
	SET("resources", ab_item_subject, AB_R_SUBSET),
	SET("prompts", ab_item_subject, AB_R_SUBSET),
	END
};

static const ab_field tools_rate_table[] = {
	USUAL_INT("calls_per_minute", UINT32_MAX, AB_USUAL_CALLS),
	USUAL_INT("burst", 1000000, AB_USUAL_BURST),
	END
};

static const ab_field tools_table[] = {
	RECORDS("servers", server_table, "name", AB_R_RECORD_SUBSET),
	{ .key = "allow", .type = AB_T_SET, .rule = AB_R_TOOLS,
	  .item = ab_item_tool, .flags = AB_F_STAR, .max = 1024 },
	{ .key = "ask", .type = AB_T_SET, .rule = AB_R_UNION,
	  .item = ab_item_tool, .flags = AB_F_STAR, .max = 1024 },
	STRING("pin", ab_item_digest, AB_R_SAME),
	OBJECT("rate", tools_rate_table),
	END
};

const char *const ab_policy_scope_kinds[] = {
	"database", "secrets", "deployment", "observability", NULL
};

static const ab_field scope_table[] = {
	SET("tools", ab_item_scope, AB_R_UNION),
	END
};

static const ab_field shield_table[] = {
	ENUM("mode", shields, 3),
	SET("watch", ab_item_watch, AB_R_UNION),
	END
};

static const ab_field rule_table[] = {
	STRING_REQ("id", ab_item_id, AB_R_FREE),
	{ .key = "verdict", .type = AB_T_ENUM, .rule = AB_R_FREE,
	  .names = verdicts, .flags = AB_F_REQUIRED },
	STRING_REQ("pattern", ab_item_argument, AB_R_FREE),
	STRING("reason", ab_item_text, AB_R_FREE),
	STRING("alternative", ab_item_text, AB_R_FREE),
	END
};

static const ab_field guard_table[] = {
	ENUM("profile", profiles, 1),
	{ .key = "rules", .type = AB_T_ORDERED, .rule = AB_R_RULES,
	  .table = rule_table, .key_field = "id" },
	END
};

static const ab_field snapshot_table[] = {
	SET("exclude", ab_item_glob, AB_R_UNION),
	SET("include", ab_item_glob, AB_R_SUBSET),
	SET("admit", ab_item_admit, AB_R_SUBSET),
	ENUM("git", git_copies, 0),
	STRING("git_base", ab_item_reference, AB_R_SAME),
	STRING("repository", ab_item_source, AB_R_GRANT),
	STRING("git_head", ab_item_head, AB_R_GRANT),
	USUAL("max_bytes", AB_T_SIZE, AB_USUAL_SNAPSHOT_BYTES),
	USUAL_INT("max_files", UINT32_MAX, AB_USUAL_SNAPSHOT_FILES),
	USUAL("deadline", AB_T_DURATION, AB_USUAL_SNAPSHOT_MS),
	END
};

static const ab_field orchestration_table[] = {
	BOOL("enabled", 0),
	INT("max_children", 0, 1000000, AB_R_MIN_ZERO, AB_F_ZERO),
	/* of a box that may have children at all */
	{ .key = "max_depth", .type = AB_T_INT, .rule = AB_R_MIN_ZERO,
	  .max = 64, .flags = AB_F_ZERO, .usual = AB_USUAL_DEPTH },
	NUMBER("max_total_cpus", AB_T_CPUS, AB_R_MIN_ZERO, AB_F_ZERO),
	NUMBER("max_total_memory", AB_T_SIZE, AB_R_MIN_ZERO, AB_F_ZERO),
	NUMBER("max_total_disk", AB_T_SIZE, AB_R_MIN_ZERO, AB_F_ZERO),
	END
};

/* Order matters where one rule needs another's result: role and workspace
   come before mounts, secrets before routes. */
const ab_field ab_schema[] = {
	INT("agentbox", 1, 1, AB_R_FREE, AB_F_REQUIRED),
	STRING("extends", ab_item_text, AB_R_FREE),
	STRING("name", ab_item_id, AB_R_FREE),
	STRING("account", ab_item_id, AB_R_SAME),
	STRING("workspace_id", ab_item_id, AB_R_SAME),
	STRING("identity", ab_item_id, AB_R_SAME),
	ENUM("mode", modes, 0),
	OBJECT("run", run_table),
	{ .key = "role", .type = AB_T_OBJECT, .rule = AB_R_ROLE,
	  .table = role_table },
	OBJECT("workspace", workspace_table),
	RECORDS("mounts", mount_table, "to", AB_R_MOUNTS),
	OBJECT("env", env_table),
	SET("protect", ab_item_protect, AB_R_UNION),
	OBJECT("syscalls", syscalls_table),
	OBJECT("limits", limits_table),
	OBJECT("lifecycle", lifecycle_table),
	OBJECT("network", network_table),
	RECORDS("secrets", secret_table, "name", AB_R_SECRETS),
	RECORDS("routes", route_table, "prefix", AB_R_ROUTES),
	OBJECT("tools", tools_table),
	OBJECT("scope", scope_table),
	OBJECT("shield", shield_table),
	OBJECT("commands", guard_table),
	OBJECT("git", guard_table),
	OBJECT("snapshot", snapshot_table),
	ENUM("peering", peerings, 0),
	OBJECT("orchestration", orchestration_table),
	SET("require", ab_item_feature, AB_R_SUPERSET),
	SET("prefer", ab_item_feature, AB_R_FREE),
	END
};

bool ab_schema_is_list(const ab_field *field)
{
	switch ((enum ab_field_type)field->type) {
	case AB_T_SET:
	case AB_T_SEQ:
	case AB_T_HOSTS:
	case AB_T_INTS:
	case AB_T_RECORDS:
	case AB_T_ORDERED:
		return true;
	case AB_T_STRING:
	case AB_T_ENUM:
	case AB_T_BOOL:
	case AB_T_INT:
	case AB_T_SIZE:
	case AB_T_CPUS:
	case AB_T_DURATION:
	case AB_T_BACKOFF:
	case AB_T_OBJECT:
	case AB_T_MAP:
		return false;
	}
	return false;
}

const ab_field *ab_schema_find(const ab_field *table, const char *key,
			       bool *append)
{
	size_t n = strlen(key);
	bool plus = append && n > 1 && key[n - 1] == '+';

	if (append)
		*append = plus;
	if (plus)
		n--;
	for (const ab_field *f = table; f->key; f++)
		if (strncmp(f->key, key, n) == 0 && f->key[n] == '\0')
			return !plus || ab_schema_is_list(f) ? f : NULL;
	return NULL;
}

/* Edit distance with transpositions, cut off at 64 bytes per word. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][65];
	size_t n = strlen(a);
	size_t m = strlen(b);

	if (n > 64 || m > 64)
		return 1000;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = rows[i % 3];
		const unsigned *up = rows[(i + 2) % 3];
		const unsigned *up2 = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned v = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < v)
				v = up[j] + 1;
			if (now[j - 1] + 1 < v)
				v = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < v)
				v = up2[j - 2] + 1;
			now[j] = v;
		}
	}
	return rows[n % 3][m];
}

const char *ab_schema_nearest(const ab_field *table, const char *key)
{
	const char *best = NULL;
	unsigned least = 1000;

	for (const ab_field *f = table; f->key; f++) {
		unsigned d = distance(key, f->key);

		if (d < least) {
			least = d;
			best = f->key;
		}
	}
	return best && least <= 2 + strlen(best) / 4 ? best : NULL;
}

size_t ab_schema_list_max(const ab_field *f)
{
	bool records = f->type == AB_T_RECORDS || f->type == AB_T_ORDERED;

	if (f->max && (records || f->type == AB_T_SET || f->type == AB_T_SEQ))
		return f->max;
	return records ? AB_MAX_POLICY_MOUNTS : AB_MAX_POLICY_ENTRIES;
}

int ab_schema_index(const ab_field *field, const char *s)
{
	for (int i = 0; field->names[i]; i++)
		if (strcmp(field->names[i], s) == 0)
			return i;
	return -1;
}
