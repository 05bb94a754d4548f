/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a policy to a plan. Compiling judges and prepares (opens host paths
 * O_PATH, compiles seccomp, makes cgroups); raising is agentbox-init's work.
 */
#ifndef AB_WALLS_WALLS_H
#define AB_WALLS_WALLS_H

#include <jansson.h>
#include <stdbool.h>

#include "agentbox/base.h"
#include "base/hash.h"
#include "base/limits.h"
#include "policy/policy.h"
#include "wire/plan.h"

/*
 * Facts about the machine that need no attempt. Filled by ab_probe_machine();
 * tests fill it by hand so that every rung of every ladder is reached.
 */
typedef struct ab_probe {
	uint32_t landlock_abi; /* 0: none */
	bool seccomp;
	bool root;	       /* euid 0 with CAP_SYS_ADMIN, CAP_SETUID/GID */
	bool openat2;
	bool mount_beneath;    /* 6.5 */
	bool noswap;	       /* 6.4 */
	bool peer_pidfd;       /* SO_PEERPIDFD, 6.5 */
	bool marks;	       /* commands can be marked, wire/plan.h */
	bool uid_pool;	       /* root: ids for boxes are mapped here */
	uint32_t uid_pool_first, uid_pool_count;
	uint32_t euid, egid;
	uint32_t group_count;  /* supplementary groups that stay in force */
	/* cgroup mechanisms that are really writable for us */
	bool cgroup2_memory, cgroup2_pids, cgroup2_cpu;
	/* where a child with the controllers can be made: our own cgroup or
	   its parent (cgroup v2 keeps processes in leaves), or "" */
	char cgroup2_path[4096];
	bool cgroup1_memory, cgroup1_pids, cgroup1_cpu;
	char cgroup1_memory_path[4096], cgroup1_pids_path[4096],
		cgroup1_cpu_path[4096];
	char kernel[128];
} ab_probe;

/*
 * policy: who does not ask for a thing is not told of it, since asking takes
 * time: cgroups without a limit that could use one, and features that are
 * neither required nor preferred, count as absent. NULL: everything.
 */
int32_t ab_probe_machine(ab_probe *out, agentbox_policy *policy,
			 agentbox_error **err);

/*
 * What a box sees of its peers: `.shared` in its workspace shows
 * <state>/boxes/<id>/shared. The directories beside it are the host's.
 */
#define AB_SHARE_NAME ".shared"
#define AB_SHARE_SHOWN "shared"
#define AB_SHARE_STAGING "staging"
#define AB_SHARE_RECORDS "records"

/* Everything one cold start needs; freed with ab_compiled_end(). */
typedef struct ab_compiled {
	int plan_fd;	    /* sealed memfd */
	int *path_fds;	    /* O_PATH, pin the inodes until ready */
	size_t path_fd_count;
	char **cgroups;	    /* directories made; removed by _end */
	size_t cgroup_count;
	char *quarantine;   /* directory made, or NULL; removed when empty */
	/* what the holder writes beside it (wire/plan.h AB_UNSETTLED_DIR), or
	   NULL; removed by _end only if is_told: nobody was in the box, or
	   the host says what stands there */
	char *record;
	bool is_told;
	/* what peers share with it, made by share.c; removed by _end */
	char *share;	     /* <state>/boxes/<id>, or NULL */
	int share_point_fd;  /* the mount point in the workspace, locked */
	int share_parent_fd; /* the workspace */
	int share_lock_fd;   /* the directory, locked while the box lives */
	char *workspace_inside; /* NULL: no workspace */
	char *workspace_host;	/* canonical, without links */
	uint64_t workspace_dev, workspace_ino;
	/* HOME of commands for which nobody set one; NULL in a tier without a
	   tree, where that directory does not exist */
	const char *home;
	bool host_sockets;  /* as in the plan */
	uint32_t uid_outside, gid_outside; /* of whom owns its namespaces */
	json_t *limits;	    /* the limits report */
	json_t *notes;	    /* array of strings: what was weakened and why */
	json_t *noted;	    /* of some: array of {kind, object, note} */
	json_t *weaker;	    /* array of {wall, what, why, fix}, weaker.c */
	json_t *description; /* the plan for people; of a dry one only */
	uint32_t tier;
	uint32_t uid_inside; /* of its agent, as the box has it */
	uint32_t expected_walls; /* AB_WALL_* init must report */
} ab_compiled;

/*
 * Who wants to start agentbox-init before the plan is whole. begin: called
 * once with the sealed head of the plan (borrowed; plan.h, is_head), before
 * any path of the policy is looked at. cancel: called when compiling failed
 * after that, before anything that was made is removed.
 */
typedef struct ab_compile_early {
	void (*begin)(void *data, int head_fd);
	void (*cancel)(void *data);
	void *data;
} ab_compile_early;

/*
 * A box that is gone has left its record, by which its workspace may be put
 * right: then a compile that was refused because of it can be tried again.
 */
typedef struct ab_left {
	char id[AB_ID_SIZE]; /* "": none, or nobody can tell */
	char workspace[AB_MAX_PATH];
	uint64_t dev, ino;
} ab_left;

/*
 * The plan by which agentbox-init puts it right (plan.h, is_left): a sealed
 * memfd (owned). It needs its quarantine, which is made where it is missing
 * and goes with ab_left_end() when it is empty.
 */
int32_t ab_left_plan(const agentbox_context *context, const ab_left *left,
		     int *plan_fd, agentbox_error **err);
void ab_left_end(const agentbox_context *context, const ab_left *left);
/* Why that box's workspace is not put right; AGENTBOX_EWALL. */
int32_t ab_left_refuse(const agentbox_context *context, const ab_left *left,
		       const char *why, agentbox_error **err);

typedef struct ab_compile_input {
	const char *box_id;	   /* 32 hex digits */
	const ab_probe *probe;
	uint32_t tier;		   /* AB_TIER_* to compile for */
	bool dry;		   /* make nothing: no cgroups, directories */
	uint32_t uid_try;	   /* counts up when a kernel uid is taken */
	bool no_idmap;		   /* see ab_walls_may_skip_idmap() */
	uint64_t max_entries;	   /* for tests; 0: AB_MAX_SCAN_ENTRIES */
	const ab_compile_early *early; /* NULL: nobody */
	ab_left *left; /* NULL, or set with an EWALL of "protect" */
} ab_compile_input;

/*
 * The kernel uid (and gid) of a box on a root host: a hash of the box id and
 * the try over the pool, so it says nothing about other boxes and a restart
 * of the same id finds the same one. Who holds several boxes keeps them
 * unique by counting `try_number` up. 0: there is no pool here.
 */
uint32_t ab_walls_pick_uid(const ab_probe *probe, const char *box_id,
			   uint32_t try_number);

/*
 * Errors: EWALL with `where` naming the requirement the machine or tier
 * cannot meet, ENOTFOUND/EACCES for a policy path ("mounts[/opt/tools]",
 * "workspace.path"), EDENIED for host trees no box may see, EUNSUPPORTED for
 * the gateway and overlays, EPOLICY for /syscalls, ELIMIT naming the bound.
 * EINVAL "/mode" for a bare policy in another tier than BARE, or the reverse.
 * A zeroed ab_compiled may be given to ab_compiled_end().
 */
int32_t ab_walls_compile(agentbox_context *context, agentbox_policy *policy,
			 const ab_compile_input *input, ab_compiled *out,
			 agentbox_error **err);
void ab_compiled_end(ab_compiled *compiled);

/*
 * The tier to try after `tier` failed at `stage` (of ab_msg_failed), or 0
 * when the policy's `require` forbids a weaker one or there is none.
 * `why` gets one line for the walls report.
 */
uint32_t ab_walls_next_tier(agentbox_policy *policy, uint32_t tier,
			    const char *stage, const char **why);

/* Where the ladder of a policy begins: FULL, or BARE for a bare one. */
uint32_t ab_walls_first_tier(agentbox_policy *policy);

/*
 * Whether a root host may try the same tier once more with `no_idmap` set,
 * after it failed at `stage` with the flag as given: a file system cannot map
 * ids and the policy does not require "idmap". The box then has fewer rights,
 * not more: it writes only where modes let its kernel uid. The compile notes
 * it.
 */
bool ab_walls_may_skip_idmap(agentbox_policy *policy, bool no_idmap,
			     const char *stage);

/* "full", "no-proc", "landlock", "bare". */
const char *ab_walls_tier_name(uint32_t tier);

/* The name of the first of some walls (AB_WALL_* bits); static. */
const char *ab_walls_first_name(uint32_t walls);

/*
 * The walls report from what init says it raised (AB_WALL_* bits), the
 * tier, the notes, those with a kind, and what is weaker; owned.
 */
json_t *ab_walls_report(uint32_t walls, uint32_t landlock_abi, uint32_t tier,
			const json_t *notes, const json_t *noted,
			const json_t *weaker);

/*
 * Adds what agentbox-init noted: lines, and of what has a kind
 * "skipped\tSTAGE\tPATH" or "left-out". What is no UTF-8 is written \xNN.
 */
bool ab_walls_take_notes(ab_compiled *compiled, const char *lines);

/*
 * The agent's seccomp filter for a policy's syscalls section, as the bytes
 * of a struct sock_filter array, and its key (plan.h, mark_key). Cached in the
 * policy: compiled once.
 */
int32_t ab_walls_seccomp(agentbox_policy *policy, uint32_t tier,
			 const void **filter, size_t *n, uint64_t *key,
			 agentbox_error **err);

#endif
