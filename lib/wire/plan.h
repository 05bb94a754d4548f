/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan of a box: everything agentbox-init needs, decided by the host,
 * as plain data. The host compiles it (lib/walls), seals it in a memfd, and
 * agentbox-init carries it out in order without deciding anything. It is
 * general on purpose: an OCI config or a bubblewrap command line compiles to
 * the same structure.
 *
 * Encoded by ab_plan_encode(), decoded by ab_plan_decode() into memory that
 * points into the mapped plan. The first string is the build id: a helper of
 * another build stops there. Libc only.
 */
#ifndef AB_WIRE_PLAN_H
#define AB_WIRE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

/*
 * Tiers, strongest first (DESIGN.md section 6). NO_PROC: a new proc cannot
 * be mounted, the box has none. LANDLOCK: no namespaces at all. BARE: no
 * wall of any kind, because the policy asks for none; never reached by
 * weakening.
 */
#define AB_TIER_FULL 1u
#define AB_TIER_NO_PROC 2u
#define AB_TIER_LANDLOCK 3u
#define AB_TIER_BARE 4u

/* Namespaces to make, as our own bits: CLONE_* stays out of the format. */
#define AB_NS_USER 0x01u
#define AB_NS_MOUNT 0x02u
#define AB_NS_PID 0x04u
#define AB_NS_IPC 0x08u
#define AB_NS_UTS 0x10u
#define AB_NS_CGROUP 0x20u
#define AB_NS_NET 0x40u
#define AB_NS_ALL 0x7fu

/*
 * One step of building the tree. Targets are absolute paths inside the box;
 * missing parents and mount points are made in the box's own root tmpfs and
 * nowhere else: a target below a host tree must exist there already.
 */
enum ab_plan_step_kind {
	/*
	 * A host tree: `source` is a symlink-free absolute host path whose
	 * inode must be (dev, ino), or the step fails. RECURSIVE includes
	 * submounts. Always private propagation, always nosuid and nodev.
	 */
	AB_STEP_BIND = 1,
	/* A fresh tmpfs of `size` bytes (0: kernel default) and `mode`. */
	AB_STEP_TMPFS = 2,
	AB_STEP_PROC = 3,
	/* /dev: null zero full random urandom tty, fd links, shm, pts
	   (newinstance, ptmx); `size` bounds /dev/shm. A directory of the
	   root, or a tmpfs of its own where it is not right below that. */
	AB_STEP_DEV = 4,
	AB_STEP_MQUEUE = 5,
	/* `source` is the link's text. */
	AB_STEP_SYMLINK = 6,
	/* A read-only file with `content`, in the root tmpfs. */
	AB_STEP_FILE = 7,
	AB_STEP_DIR = 8,
	/* Cover whatever is at target: empty read-only dir or 0000 file. */
	AB_STEP_HIDE = 9,
	/*
	 * Bind what is at target onto itself, with RDONLY or without (a pin:
	 * an ancestor that can then not be renamed). Resolved without
	 * following links; a symlink at target is bound itself.
	 */
	AB_STEP_SELF = 10,
	/* The broker's socket, listening; it goes to the host. */
	AB_STEP_BROKER = 11,
	/*
	 * A private tmpfs of `size`, read-only to all but the descriptors that
	 * go to the host: an empty file for each name in `content`, which ends
	 * each with a NUL.
	 */
	AB_STEP_SECRETS = 12,
	/* cgroup2/sysfs etc. are not given to boxes; no kinds for them. */
	AB_STEP_KIND_COUNT
};

#define AB_MOUNT_RDONLY 0x01u
#define AB_MOUNT_NOEXEC 0x02u
#define AB_MOUNT_NOSYMFOLLOW 0x04u
#define AB_MOUNT_RECURSIVE 0x08u
/* a missing target or source is skipped and reported, not an error */
#define AB_MOUNT_OPTIONAL 0x10u
/* id-map the tree: owner `idmap_uid/gid` on disk <-> the box's kernel ids */
#define AB_MOUNT_IDMAP 0x20u

typedef struct ab_plan_step {
	uint32_t kind; /* enum ab_plan_step_kind */
	uint32_t flags;
	const char *source;
	const char *target;
	uint64_t dev, ino;
	uint64_t size;
	uint32_t mode;
	uint32_t idmap_uid, idmap_gid;
	const void *content;
	size_t content_len;
} ab_plan_step;

/* A Landlock path_beneath rule; `path` is inside the box. */
typedef struct ab_plan_rule {
	const char *path;
	uint64_t access; /* LANDLOCK_ACCESS_FS_*, already cut to the ABI */
} ab_plan_rule;

/*
 * A command and all that descends from it bear the same mark, wherever it
 * goes: the values of a resource limit that the kernel has not looked at since
 * 2.4.25, RLIMIT_LOCKS of getrlimit(2). The soft one is when the command began
 * (CLOCK_BOOTTIME, ns; one launcher starts one command at a time), the hard
 * one when its time is over, or RLIM_INFINITY. fork(2) and execve(2) keep
 * them, and the filter lets nobody set them who does not pass mark_key as the
 * fifth argument of prlimit64(2), which that call does not have: it is known
 * to agentbox-init alone, whose memory the agent cannot read.
 */
#define AB_MARK_RESOURCE 10u

typedef struct ab_plan_rlimit {
	uint32_t resource; /* RLIMIT_* of this architecture */
	uint64_t soft, hard;
} ab_plan_rlimit;

/*
 * Beside a quarantine: records of boxes that run, or that have ended and not
 * all names in whose workspace could be put right, or nobody knows. Each has
 * the last part of the quarantine's path for its name, and in it, in decimal,
 * device and inode of the workspace, then its path: "DEV INO PATH". The holder
 * writes it before READY and removes it at its end when all was put right;
 * else the host does, when the holder has looked through all to the end, which
 * AB_MSG_LOOKED says, and whoever ends the box is told that something stands:
 * not when he waits no longer, nor when the holder was killed. Over that
 * workspace no box is raised as long as the record is there and no holder has
 * the quarantine locked. After the path comes a NUL, and what stood at
 * protected names (libexec/init/record.c), or nothing: from that a next start
 * puts right what can be, and the record goes (is_left below); who does that
 * has the record itself locked.
 */
#define AB_UNSETTLED_DIR "unsettled"
/* Before its name while it is written; a box's id does not begin so. */
#define AB_UNBORN_RECORD ".new-"

/*
 * A protected name that does not exist at start. `dir` is a directory inside
 * the box (below the workspace) and `pattern` what may not appear in or
 * below it. See AB_MSG_SETTLE.
 */
typedef struct ab_plan_watch {
	const char *pattern; /* workspace-relative glob, as in the policy */
} ab_plan_watch;

#define AB_WATCH_EXEC 1u    /* execve(2), execveat(2) */
#define AB_WATCH_CONNECT 2u /* connect(2), what is sent to an address */
#define AB_WATCH_PEERS 4u   /* files opened to be written, names changed */
#define AB_WATCH_READS 8u   /* files opened, however */
#define AB_WATCH_ALL 15u

typedef struct ab_plan {
	const char *build_id;
	const char *box_id; /* 32 hex digits */
	const char *hostname;
	uint32_t tier;
	uint32_t namespaces; /* AB_NS_* */

	/* Ids of the agent inside, and the kernel ids they map to (in the
	   host's user namespace). For an ordinary user the latter are his own.
	   map_by_holder: the holder (root) writes the maps. */
	uint32_t uid_inside, gid_inside;
	uint32_t uid_outside, gid_outside;
	uint32_t map_by_holder;
	uint32_t drop_groups; /* holder must clear supplementary groups */

	/* 1: the policy gives the host's network, so commands may be given
	   sockets of every kind, each of which carries the network it was
	   made in. 0: connected UNIX streams only. */
	uint32_t host_sockets;

	/* Calls of the box that a shield is asked about, AB_WATCH_*: a filter
	   of its own, whose listener goes to the host. In a head, too. */
	uint32_t watched_calls;

	/* 1: the way to a gateway is made, with listeners on these ports */
	uint32_t gateway;
	uint32_t *gateway_ports;
	uint32_t gateway_port_count;
	/* 1: and sockets of the box's own network, for previews */
	uint32_t gateway_previews;

	ab_plan_step *steps;
	uint32_t step_count;

	/* Landlock; abi 0: not available and not required. */
	uint32_t landlock_abi;
	uint64_t landlock_fs;	 /* handled_access_fs */
	uint64_t landlock_net;	 /* handled_access_net */
	uint64_t landlock_scope; /* scoped */
	ab_plan_rule *rules;
	uint32_t rule_count;

	/* struct sock_filter array for the agent; empty only in tests. */
	const void *seccomp;
	size_t seccomp_len;

	ab_plan_rlimit *rlimits;
	uint32_t rlimit_count;

	/* Existing cgroup directories to enter; removed at the end. */
	const char **cgroups;
	uint32_t cgroup_count;

	/*
	 * What the filter asks of who marks a command, 0: commands bear no
	 * mark. See AB_MARK_RESOURCE.
	 */
	uint64_t mark_key;

	/* Polled limits, 0 for none: bytes of resident memory of all box
	   processes, CPU is never polled. */
	uint64_t polled_memory;
	uint64_t polled_pids;

	/* Direct workspace: where it is in the box and on the host, what to
	   protect, where to move what must not appear ("" : none). */
	const char *workspace_inside;
	const char *workspace_host;
	uint64_t workspace_dev, workspace_ino;
	/* an existing 0700 directory; the holder keeps it open and locked
	   (flock(2), exclusive) for as long as it lives */
	const char *quarantine_host;
	ab_plan_watch *watches;
	uint32_t watch_count;

	/* oom_score_adj for box processes; 0 leaves it. */
	int32_t oom_score_adj;

	/*
	 * 1: a head, the part that does not depend on the host's files: the
	 * identity above, cgroups and oom_score_adj, no step and no rule. The
	 * namespaces are made from it while the host looks at its files;
	 * AB_MSG_PLAN brings the whole, and nothing is mounted before.
	 */
	uint32_t is_head;

	/*
	 * 1: nothing is raised. The box whose quarantine this is left its
	 * record: what it left in the workspace is put right, and the record
	 * removed (AB_UNSETTLED_DIR). Nothing else is in such a plan.
	 */
	uint32_t is_left;
} ab_plan;

/* 0 or -errno. The writer owns the bytes. */
int ab_plan_encode(const ab_plan *plan, ab_writer *w);

/*
 * Decode n bytes, which must stay mapped as long as the plan. Arrays are
 * allocated; ab_plan_end() frees them. -EPROTO for anything malformed: wrong
 * build id first (-ESTALE), counts over bounds, unknown kinds or flags,
 * relative paths, unknown tiers, bytes left over.
 */
int ab_plan_decode(const void *p, size_t n, const char *build_id, ab_plan *out);
void ab_plan_end(ab_plan *plan);

/* The head of a plan; the arrays are the plan's own. */
ab_plan ab_plan_head(const ab_plan *plan);
/* Does `whole` say the same as `head` where that one says something? */
bool ab_plan_continues(const ab_plan *whole, const ab_plan *head);

#endif
