/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A policy as plain data, for the rooms that carry it out. Everything here
 * is checked, canonical and immutable; strings and arrays are borrowed from
 * the handle and live as long as it. It refuses nothing any more: what
 * could be refused was refused by the parser (DESIGN.md section 5,
 * agentbox-policy(5)).
 *
 * A zeroed ab_policy is the emptiest policy: mode sandbox, no workspace, no
 * mounts, no network, nothing granted.
 */
#ifndef AB_POLICY_POLICY_H
#define AB_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/policy.h"
#include "base/attr.h"
#include "base/hash.h"

AB_DEFINE_AUTO(agentbox_policy, agentbox_policy_unref)

/* A number with three states; `value` is 0 unless SET. */
enum ab_policy_state {
	AB_POLICY_ABSENT = 0, /* the document says nothing */
	AB_POLICY_NONE = 1,   /* "none": explicitly without a limit */
	AB_POLICY_SET = 2
};

typedef struct ab_policy_number {
	uint32_t state; /* enum ab_policy_state */
	uint64_t value; /* bytes, milli-cpus, milliseconds or a count */
} ab_policy_number;

/* Strings; `present` tells an empty list from an absent one. */
typedef struct ab_policy_list {
	const char *const *items;
	size_t count;
	bool present;
} ab_policy_list;

enum ab_policy_mode { AB_MODE_SANDBOX = 0, AB_MODE_BARE = 1 };

enum ab_policy_access {
	AB_ACCESS_HIDE = 0,
	AB_ACCESS_READ = 1,
	AB_ACCESS_WRITE = 2
};

/* READ: the workspace is shown read-only. Absent reads as DIRECT. */
enum ab_policy_wsmount {
	AB_WORKSPACE_READ = 0,
	AB_WORKSPACE_OVERLAY = 1,
	AB_WORKSPACE_DIRECT = 2
};

enum ab_policy_netmode {
	AB_NET_NONE = 0,
	AB_NET_GATEWAY = 1,
	AB_NET_HOST = 2
};

enum ab_policy_sysprofile { AB_SYSCALLS_STRICT = 0, AB_SYSCALLS_DEFAULT = 1 };

enum ab_policy_role_kind {
	AB_ROLE_NONE = 0,
	AB_ROLE_ENGINEER = 1,
	AB_ROLE_MANAGER = 2
};

/*
 * Walls and properties that `require` and `prefer` name; bit n of a mask is
 * feature n. ab_policy_feature_name() gives the text.
 */
enum ab_policy_feature {
	AB_FEATURE_USERNS = 0, /* "userns" */
	AB_FEATURE_MOUNTNS,    /* "mountns" */
	AB_FEATURE_PIDNS,      /* "pidns" */
	AB_FEATURE_IPCNS,      /* "ipcns" */
	AB_FEATURE_UTSNS,      /* "utsns" */
	AB_FEATURE_CGROUPNS,   /* "cgroupns" */
	AB_FEATURE_NETNS,      /* "netns": the network wall */
	AB_FEATURE_PROC,       /* "proc": a /proc of the box's own */
	AB_FEATURE_LANDLOCK,   /* "landlock": any ABI */
	AB_FEATURE_LANDLOCK_NET,   /* "landlock-net": ABI 4 */
	AB_FEATURE_LANDLOCK_SCOPE, /* "landlock-scope": ABI 6 */
	AB_FEATURE_SECCOMP,    /* "seccomp" */
	AB_FEATURE_CGROUP,     /* "cgroup": limits held by a cgroup */
	AB_FEATURE_GROUPS,     /* "groups": no supplementary group in force */
	AB_FEATURE_IDMAP,      /* "idmap": root host, id-mapped workspace */
	AB_FEATURE_NOSWAP,     /* "noswap": secret tmpfs never swapped */
	AB_FEATURE_PIDFD_PEER, /* "peer-pidfd": SO_PEERPIDFD */
	AB_FEATURE_COUNT
};
#define AB_FEATURE_BIT(f) (UINT32_C(1) << (f))

/* Limits, and the bits of limits.require. */
enum ab_policy_limit {
	AB_LIMIT_MEMORY = 0,
	AB_LIMIT_CPUS,
	AB_LIMIT_PIDS,
	AB_LIMIT_DISK,
	AB_LIMIT_FILES,
	AB_LIMIT_WALL,
	AB_LIMIT_COUNT
};

/*
 * A mount. `from` is an absolute host path, lexically clean, NULL for
 * AB_ACCESS_HIDE (then `to` is what is covered); `to` is absolute in the
 * box, never "/", /proc, /sys, /dev, /run, and unique.
 * Sorted by `to`, so a parent comes before what lies below it.
 */
typedef struct ab_policy_mount {
	const char *from;
	const char *to;
	uint32_t access; /* enum ab_policy_access */
	bool exec;	 /* false: noexec */
	bool optional;	 /* true: skipped and reported when `from` is absent */
	bool from_role;	 /* made by the role, not in the document's list */
} ab_policy_mount;

typedef struct ab_policy_workspace {
	const char *path; /* absolute host path; NULL: not given */
	/* where it is in the box, resolved: never "same"; NULL when at is
	   "same" and the path is not given */
	const char *at;
	bool at_same;
	uint32_t mount; /* enum ab_policy_wsmount */
	ab_policy_number retain_ms;
} ab_policy_workspace;

typedef struct ab_policy_env {
	const char *const *set_names; /* sorted */
	const char *const *set_values;
	size_t set_count;
	ab_policy_list pass;
	bool pass_all; /* "*" was written */
} ab_policy_env;

/*
 * A protected pattern, relative to the workspace; ab_glob_match() grammar.
 * Without a slash it matches a name in any directory of the workspace, with
 * one it is anchored at each repository root: the workspace itself and every
 * directory below it that holds a `.git` (`repository` true), or at the
 * workspace only (`repository` false).
 */
typedef struct ab_policy_protect {
	const char *pattern;
	bool repository; /* also in nested repositories */
	bool dir;	 /* the usual thing there is a directory */
	bool builtin;	 /* from builtin:code-that-runs-later */
} ab_policy_protect;

typedef struct ab_policy_syscalls {
	uint32_t profile; /* enum ab_policy_sysprofile; absent reads DEFAULT */
	ab_policy_list deny;
	ab_policy_list allow;
} ab_policy_syscalls;

typedef struct ab_policy_limits {
	ab_policy_number value[AB_LIMIT_COUNT]; /* by enum ab_policy_limit */
	uint32_t require; /* bit per enum ab_policy_limit */
} ab_policy_limits;

enum ab_policy_restart {
	AB_RESTART_NO = 0,
	AB_RESTART_ON_FAILURE = 1,
	AB_RESTART_ALWAYS = 2
};
enum ab_policy_idle {
	AB_IDLE_DESTROY = 0,
	AB_IDLE_STOP = 1,
	AB_IDLE_PAUSE = 2
};
enum ab_policy_orphan {
	AB_ORPHAN_CASCADE = 0,
	AB_ORPHAN_REFUSE = 1,
	AB_ORPHAN_ORPHAN = 2
};

typedef struct ab_policy_lifecycle {
	uint32_t restart, idle_action, orphan;
	ab_policy_number max_restarts;
	ab_policy_number backoff_min_ms, backoff_max_ms;
	ab_policy_number timeout_ms, grace_ms, idle_ms;
} ab_policy_lifecycle;

/* `rate` and `budget`: what the box, or one name, may have. */
typedef struct ab_policy_rates {
	ab_policy_number requests_per_minute, bytes_per_second, connections;
	ab_policy_number budget_requests, budget_bytes, budget_tokens;
} ab_policy_rates;

typedef struct ab_policy_name {
	const char *name; /* a host pattern */
	ab_policy_rates rates;
} ab_policy_name;

/*
 * Host patterns in canonical form ("*", "*.example.com:443", "10.0.0.0/8",
 * "[2001:db8::/32]:443,8000-8100"); lib/net/hosts.h parses and matches.
 */
typedef struct ab_policy_network {
	uint32_t mode; /* enum ab_policy_netmode; absent reads NONE */
	ab_policy_list allow, deny, private_, tcp;
	bool transparent; /* absent reads true */
	const uint16_t *preview;
	size_t preview_count;
	ab_policy_rates rates;
	const ab_policy_name *names;
	size_t name_count;
} ab_policy_network;

enum ab_policy_peering {
	AB_PEERING_NONE = 0,
	AB_PEERING_READ = 1 /* grants of peers are shown in the box */
};

/* The schema's order: what comes first is stricter. */
enum ab_policy_shield {
	AB_SHIELD_DENY = 0,
	AB_SHIELD_ASK = 1,
	AB_SHIELD_AUDIT = 2,
	AB_SHIELD_OFF = 3
};

/* What it watches besides exec: bits, in the schema's order. */
#define AB_SHIELD_WATCH_CONNECT 1u
#define AB_SHIELD_WATCH_PEERS 2u
#define AB_SHIELD_WATCH_READS 4u

typedef struct ab_policy_orchestration {
	bool enabled;
	uint64_t max_children, max_depth;
	uint64_t max_total_cpus_milli, max_total_memory, max_total_disk;
} ab_policy_orchestration;

typedef struct ab_policy_role {
	uint32_t kind; /* enum ab_policy_role_kind */
	const char *team_dir, *agent; /* NULL: not given */
	ab_policy_list worktrees;
} ab_policy_role;

typedef struct ab_policy {
	const char *name; /* NULL: not given; so for all strings here */
	const char *account, *workspace_id, *identity;
	const char *profile, *template_, *image;
	uint32_t mode; /* enum ab_policy_mode */
	ab_policy_role role;
	ab_policy_workspace workspace;
	const ab_policy_mount *mounts; /* with those of the role */
	size_t mount_count;
	ab_policy_env env;
	const ab_policy_protect *protect;
	size_t protect_count;
	ab_policy_syscalls syscalls;
	ab_policy_limits limits;
	ab_policy_lifecycle lifecycle;
	ab_policy_network network;
	ab_policy_orchestration orchestration;
	uint32_t peering; /* enum ab_policy_peering; absent reads NONE */
	uint32_t shield; /* enum ab_policy_shield; absent reads OFF */
	uint32_t shield_watch; /* AB_SHIELD_WATCH_*; absent reads 0 */
	uint32_t require; /* AB_FEATURE_BIT; absent reads AB_REQUIRE_DEFAULT */
	uint32_t prefer;
} ab_policy;

/*
 * The bounds that hold where a document has none: whoever carries them out
 * takes them from here, so that narrow and contains speak of the same.
 */
#define AB_USUAL_RESTARTS UINT64_C(3)
#define AB_USUAL_DEPTH UINT64_C(1) /* of a box that may orchestrate */
#define AB_USUAL_CALLS UINT64_C(600) /* of tools, a minute */
#define AB_USUAL_BURST UINT64_C(60)
#define AB_USUAL_SNAPSHOT_BYTES (UINT64_C(4) << 30)
#define AB_USUAL_SNAPSHOT_FILES UINT64_C(1000000)
#define AB_USUAL_SNAPSHOT_MS UINT64_C(60000)

/* What is required when a sandbox document has no `require`. */
#define AB_REQUIRE_DEFAULT                                                  \
	(AB_FEATURE_BIT(AB_FEATURE_USERNS) |                               \
	 AB_FEATURE_BIT(AB_FEATURE_MOUNTNS) |                              \
	 AB_FEATURE_BIT(AB_FEATURE_PIDNS) | AB_FEATURE_BIT(AB_FEATURE_NETNS) | \
	 AB_FEATURE_BIT(AB_FEATURE_LANDLOCK) |                              \
	 AB_FEATURE_BIT(AB_FEATURE_SECCOMP))

/* The plain data of a handle; borrowed, never NULL. */
const ab_policy *ab_policy_get(const agentbox_policy *policy);

/*
 * A part of the document that has no plain form yet ("/routes", "/secrets",
 * "/tools", "/scope", "/shield", "/commands", "/git", "/snapshot"), as the
 * canonical JSON tree: borrowed, not to be changed. NULL when absent. The
 * result is a `const json_t *`.
 */
const void *ab_policy_section(const agentbox_policy *policy, const char *key);

/*
 * The kinds of tools that scope.tools knows, NULL at the end; where a document
 * has no such list, these.
 */
extern const char *const ab_policy_scope_kinds[];

/*
 * "userns" for AB_FEATURE_USERNS; NULL past the last. Static. The same for
 * limits ("memory").
 */
const char *ab_policy_feature_name(uint32_t feature);
const char *ab_policy_limit_name(uint32_t limit);

/*
 * One cached object per policy (the compiled seccomp filter). get returns
 * the stored pointer or NULL. put stores `value` unless another thread was
 * first, and returns what is stored now; a value that lost is released with
 * `end`, the winner when the policy ends.
 */
void *ab_policy_cache_get(const agentbox_policy *policy);
void *ab_policy_cache_put(agentbox_policy *policy, void *value,
			  void (*end)(void *value));

/*
 * `child` speaks of paths as its parent sees them (inside the parent's box);
 * *out is the child in the host's terms: `from` of every mount and
 * workspace.path go through the parent's mount with the longest matching
 * `to`, compared by components. EDENIED names a path the parent does not
 * see. To be called before contains or narrow on requests that come out of
 * a box.
 */
int32_t ab_policy_translate(agentbox_policy *parent, agentbox_policy *child,
			    agentbox_policy **out, agentbox_error **err);

/*
 * In an engineer's agent directory: what carries his limits, and so is not his
 * to write. The guard and the box read it; NULL at the end.
 */
extern const char *const ab_policy_own_config[];

#endif
