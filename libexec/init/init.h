/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the three parts of agentbox-init share: the holder (outside the box),
 * PID 1 and the launcher (inside). One process image, three lives; each
 * forks from the one before and closes what it must not keep.
 * Spec: DESIGN.md sections 2 and 6, wire/plan.h, wire/box.h.
 */
#ifndef AB_INIT_INIT_H
#define AB_INIT_INIT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/limits.h"
#include "wire/box.h"
#include "wire/broker.h"
#include "wire/gateway.h"
#include "wire/plan.h"

/* Why the box cannot be raised; what becomes AB_MSG_FAILED. */
typedef struct init_failure {
	char stage[AB_MAX_NAME + 1];
	int sys_errno;
	char message[512];
} init_failure;

/* Instead of a command's pid: PID 1 is none. */
#define INIT_IN_THE_MAKING 1u

/*
 * Shared between PID 1 and the launcher, which makes one command at a time.
 * in_flight: the pid of the one that exists but is not registered yet; the
 * kernel writes it before that process runs (CLONE_PARENT_SETTID). Until
 * then, and from before started_ns is written, INIT_IN_THE_MAKING.
 * started_ns: when the launcher began to make it, written before; with the
 * pid it names one command and no later process of the same number.
 * not_started: the one that failed and never became a command.
 * before_exec: the one that has not left the launcher's memory yet; the
 * kernel clears it at exec and exit (set_tid_address(2)).
 * command_count: those PID 1 knows of that have not ended; for the holder.
 * told, heard: registrations the launcher has sent, and PID 1 has counted.
 * launcher: its pid inside, 0 while there is none.
 * reaps: odd while PID 1 takes away who has ended, and counts the times.
 * files: of the tree's, how many the first launcher or PID 1 has begun.
 */
typedef struct init_shared {
	_Atomic uint64_t started_ns;
	_Atomic uint32_t in_flight;
	_Atomic uint32_t not_started;
	_Atomic uint32_t before_exec;
	_Atomic uint32_t command_count;
	_Atomic uint32_t told, heard;
	_Atomic uint32_t launcher;
	_Atomic uint32_t reaps;
	_Atomic uint32_t files;
} init_shared;

/* The listeners of the way to the gateway, on theirs to the host. */
typedef struct init_gate {
	int fds[AB_GATEWAY_MAX_FDS];
	uint32_t count;
	bool ipv6;
	const char *stage; /* of what is being made */
} init_gate;

typedef struct init_box {
	ab_plan plan;
	bool awaits_plan; /* it has the head only */
	bool began_with_head; /* who has the whole knows that hello was said */
	init_failure failure;
	char notes[16384]; /* newline-separated */

	int control_fd;
	int host_pidfd;
	int link_holder_fd, link_inside_fd;
	int spawn_host_fd, spawn_inside_fd;
	int mountinfo_fd;
	int inotify_fd;
	int notice_fd; /* for the host: readable when it must settle */

	/* host trees of a root host that are not PID 1's to make; by step */
	int *tree_fds;
	uint32_t trees_end; /* PID 1: it has those of the steps before this */
	/* cgroup.procs, opened with the holder's rights */
	int cgroup_fds[16];

	bool host_reads;  /* it waits for our answer to a request */
	uint32_t lost[8]; /* events by kind that the host could not take */

	pid_t pid_one; /* in the holder's pid namespace */
	int pid_one_pidfd;

	struct rlimit own_files; /* as we came, before we raised it */

	uint32_t walls; /* AB_WALL_* raised so far */
	uint32_t launcher_pid;

	/* inside */
	uint64_t exec_key; /* notice.c */
	int ruleset_fd;
	int proc_fd; /* PID 1's view of all processes of the box; -1 */
	int register_fd, register_launcher_fd;
	int root_fd;  /* the box's root, while it is built */
	int stage_fd; /* PID 1's end, to the first launcher; or -1 */
	/* PID 1, until they are lent: the broker's socket and its files */
	int broker_fds[1 + AB_BROKER_MAX_SECRETS];
	uint32_t broker_fd_count;
	pid_t first_launcher;
	cpu_set_t processors; /* the host's, which all of the box have */
	uint32_t pid_outside; /* PID 1's own, as the host sees it; or 0 */
	init_shared *shared;
} init_box;

/* report.c */
/*
 * Fill in why, and return -1. sys_errno positive; advice, one sentence about
 * what is refused and what to do, may be "". The stage (fmt) begins with the
 * name of the wall: lib/walls/report.c goes by it.
 */
int init_fail(init_box *box, int sys_errno, const char *advice,
	      const char *fmt, ...) AB_PRINTF(4, 5);
/* One line for the walls report; cut silently when there are too many. */
void init_note(init_box *box, const char *fmt, ...) AB_PRINTF(2, 3);
/* AB_MSG_FAILED from box->failure on a socket; errors are ignored. */
void init_send_failure(const init_box *box, int sock);
/* Never blocks: 0, or -EAGAIN when there is no room. */
int init_send_event(int sock, uint32_t message, uint32_t kind,
		    const char *object, const char *detail);

/* left.c: no box is raised, but what an earlier one left is put right. */
_Noreturn void init_settle_left(init_box *box);

/* tell.c: the holder's events */
void init_tell(init_box *box, uint32_t kind, const char *object,
	       const char *detail);
/* What was lost so far; false: there is no room for that either. */
bool init_tell_lost(init_box *box);
/* The last word, to a host that waits for the end: AB_MSG_LOOKED. */
void init_tell_looked(init_box *box);

/* resolve.c: paths without links */
/*
 * O_PATH|O_CLOEXEC|flags below dirfd, no symlinks anywhere, no ".."; path is
 * relative ("" is dirfd itself). Falls back to a walk without openat2(2).
 */
int init_open_beneath(int dirfd, const char *path, int flags);
/* The same for an absolute host path; the inode must be (dev, ino). */
int init_open_host(const char *path, uint64_t dev, uint64_t ino);

/* tree.c: mounts */
uint64_t init_mount_attrs(uint32_t flags);
/* Clone what fd names into a detached tree with the step's attributes. */
int init_clone_tree(int fd, uint32_t flags, uint64_t attr_set, int userns_fd);
/* A detached new file system. size 0: default. mode 0: default. */
int init_new_tmpfs(uint64_t size, uint32_t mode, uint64_t attrs);
int init_new_fs(const char *type, const char *const *options, uint64_t attrs);
/* Is it not this mount, but every one? err: what open_tree(2) answered. */
bool init_mounting_is_refused(int err);
#define INIT_NO_MOUNTING "the calls that mount are refused here"
#define INIT_NO_USERNS                                                  \
	"user namespaces are refused here: see "                        \
	"user.max_user_namespaces, kernel.unprivileged_userns_clone "   \
	"and kernel.apparmor_restrict_unprivileged_userns; in a "       \
	"chroot there are none"
/* The tree of a BIND step, with everything that the step asks for. */
int init_clone_source(init_box *box, const ab_plan_step *s);
/* Room for the tree of each step; there is none yet. */
int init_list_trees(init_box *box);
/* The holder of a root host opens and clones the host tree of a step. */
int init_prepare_tree(init_box *box, uint32_t step);

/* late.c: the plan's head at the start, the whole of it later */
/* A sealed plan of our own build; the whole must continue its head. */
int init_read_plan(init_box *box, int plan_fd);
/* The holder: hand it to PID 1, and read it. */
int init_take_plan(init_box *box, int plan_fd);
/* The same, to be read later: PID 1 judges it. */
int init_forward_plan(init_box *box, int plan_fd);
/* The holder of a root host: the trees that PID 1 wants of it (wire/box.h). */
int init_give_trees(init_box *box, uint32_t wanted);
/* PID 1: wait for the plan. */
int init_await_plan(init_box *box);
/* PID 1: wait until it has the tree of a step, if the holder has one for it. */
int init_await_tree(init_box *box, uint32_t step);
/* PID 1: the holder is to make it. */
int init_ask_tree(init_box *box, uint32_t step);
/* PID 1: the tree that it has, which is the caller's now; or -ENOENT. */
int init_take_tree(init_box *box, uint32_t step);

/* userns.c */
int init_prepare_cgroups(init_box *box);
/* Make PID 1. Returns its pid, 0 in the child, or -1 and the failure. */
pid_t init_make_child(init_box *box);
/* In the child, before it shares its memory. */
void init_set_oom_score(init_box *box);
/* In the child: id maps, cgroups. */
int init_enter_namespaces(init_box *box);
/* In the child, while the host's /proc is there: what the holder needs. */
int init_lend_namespaces(init_box *box);

/* root.c, dev.c */
/* An empty root, not in use yet: all that needs no plan. */
int init_begin_root(init_box *box);
/* All steps. */
int init_build_root(init_box *box);
/*
 * The files of the tree that no mount has to do with: by the first launcher
 * and by PID 1, as soon as either has nothing else to do, each those that the
 * other has not begun. 0 or -errno, *step says which.
 */
int init_write_files(const init_box *box, uint32_t *step);
int init_fail_step(init_box *box, uint32_t step, int err);
int init_switch_root(init_box *box);
int init_detach_host(init_box *box);
int init_seal_root(init_box *box);
int init_build_dev(init_box *box, int dev_fd, uint64_t shm_size);

/* protect.c: 0 or -errno; path is relative to root_fd */
/* Bind what is at path onto itself. */
int init_bind_self(int root_fd, const char *path, uint32_t flags);
/* The same; the mount's own descriptor. */
int init_mount_self(int root_fd, const char *path, uint32_t flags);
/* Cover what is at path with an empty directory or an unreadable file. */
int init_bind_nothing(int root_fd, const char *path);
/* Put a detached tree there. */
int init_bind_tree(int root_fd, const char *path, int tree_fd);

/* notice.c */
/*
 * A filter that asks a shield about the plan's watched calls, for the caller
 * and all that descends from it; what tells of them goes to the holder. Who
 * passes exec_key as the fifth argument of execve(2), or as the sixth of what
 * opens and names files, is not asked about.
 */
int init_raise_notices(init_box *box);

/* keyed.c: the key that this program's own calls pass from now on */
void init_set_key(uint64_t key);

/* net.c */
/* A new network namespace for the caller, with loopback up: 0 or errno. */
int init_make_network(int proc_fd, int *ns_fd, int *loopback_errno);

/* gate.c */
/*
 * The caller is in the box's network namespace, which box_ns is: the way to
 * the gateway is made and the caller comes back. 0 or -errno, and what was
 * being made; the listeners so far are the caller's in any case.
 */
int init_make_gate(const init_box *box, int box_ns, init_gate *gate);
void init_end_gate(init_gate *gate);
/* How many descriptors a whole one has. */
uint32_t init_gate_count(const ab_plan *plan);

/* broker.c: in PID 1; 0 or -errno, what is made is kept to be lent */
/* The broker's socket in a directory of ours. */
int init_make_broker(init_box *box, int dir_fd, const char *name);
/* An empty file for each name, in a tmpfs of ours, and a cover for it that
   cannot be written to: *cover_fd is a detached mount. */
int init_make_secrets(init_box *box, int tmpfs_fd, const ab_plan_step *step,
		      int *cover_fd);
/* To the holder; 0 or -1 and why. */
int init_lend_broker(init_box *box);

/* first.c: the first launcher, which begins before the tree is built */
/* Unless the tier has no namespaces. */
int init_start_first(init_box *box);
/* PID 1 goes on to build: it need not wait behind that. */
int init_push_first(init_box *box);
/* The root that it writes the tree's files to. */
void init_pass_root(const init_box *box);
/* It may read what is to come of the plan. */
void init_pass_plan(const init_box *box, int plan_fd);
/* It has written its files; join the network namespace that it has made. */
int init_join_first(init_box *box);
/* The tree is the root: it enters it, and Landlock. */
void init_show_root(const init_box *box);
/* PID 1 has dropped everything: when its walls stand as well, the host is told
   that the box is ready. False: it is not there any more. */
bool init_release_first(init_box *box);

/* walls.c */
int init_prepare_landlock(init_box *box);
/* What can be given up before mounts are made; children inherit it. */
int init_bound_privileges(init_box *box);
/* PID 1's own drops; the launcher inherits them. */
int init_drop_privileges(init_box *box);
/* The two of the launcher: 0 or -errno. */
int init_raise_landlock(const init_box *box);
int init_raise_seccomp(const init_box *box);
/* Stdio of the box, not of the host. */
int init_open_null(init_box *box);

/* hunt.c */
/*
 * One round of SIGSTOP and SIGKILL for every descendant of top. The caller
 * reaps what ended, and calls again until it has no child.
 */
void init_kill_below(pid_t top);
/* Is top an ancestor of pid, now? */
bool init_is_below(int proc_fd, pid_t pid, pid_t top);

/* pid1.c */
_Noreturn void init_pid_one(init_box *box);

/* launcher.c */
/* link_fd: where to report that the walls stand, or -1 for a replacement. */
_Noreturn void init_launcher(init_box *box, int link_fd);
/* Its own descriptors at the lowest numbers, keep at 6 or -1, no others. */
int init_settle_fds(const init_box *box, int link_fd, int keep_fd);
#define INIT_LAUNCHER_LINK_FD 5
#define INIT_LAUNCHER_KEPT_FD 6
_Noreturn void init_serve_commands(const init_box *box);
void init_report_ready(init_box *box, uint32_t walls);
#define INIT_LAUNCHER_FAILED 66
/* The host has shut the socket it would send commands on: it ends the box. */
#define INIT_LAUNCHER_DONE 67

/* exec.c */
typedef struct init_command {
	const init_box *box;
	const ab_msg_spawn *spawn;
	int channel_fd;
	const int *fds; /* spawn->target_count of them */
	int pty_slave_fd;
	/* out, by the child through shared memory */
	const char *failed_stage;
	int failed_errno;
} init_command;

/* Runs in the vfork child and never returns. */
_Noreturn void init_exec(init_command *command);

/* watch.c: does this plan have something to watch or to make again? */
bool init_needs_settling(const ab_plan *plan);

/* holder.c */
_Noreturn void init_holder(init_box *box);
/* end.c: the same end for a box whose host has gone or given up already. */
_Noreturn void init_end_unheard(init_box *box);

#endif
