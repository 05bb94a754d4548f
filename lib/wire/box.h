/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of a box. Three sockets, all SOCK_SEQPACKET:
 *
 *  control  host <-> holder          one per box: ready, requests, events
 *  spawn    host  -> launcher        one per box: a datagram is one command
 *  channel  host <-> launcher/PID 1  one per command, made by the host and
 *           sent along: started or failed from the launcher, exited from
 *           PID 1; signals from the host to PID 1; its end-of-stream on the
 *           host's side ends the command and what descends from it
 *
 * So a waiting host thread touches only its command's channel, several
 * threads share a box without a lock of ours, and the exit status survives a
 * killed launcher. STARTED always comes before EXITED. A channel that ends
 * without NOT_STARTED or EXITED means that the launcher was killed while it
 * made the command; the command was killed too. Every message: u32 kind, u32
 * fd count, then the fields in the order of the struct. Libc only; structures
 * point into the message.
 */
#ifndef AB_WIRE_BOX_H
#define AB_WIRE_BOX_H

#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

enum ab_box_message {
	/* control, holder -> host */
	/* ab_msg_ready; fds: spawn, and with a protected workspace (a watch
	   or a SELF step in the plan) mountinfo and inotify: 1 or 3. PID 1
	   says it itself when the holder has nothing to add */
	AB_MSG_READY = 16,
	AB_MSG_FAILED = 17, /* ab_msg_failed; the box was not raised */
	AB_MSG_EVENT = 18,  /* ab_msg_event */
	AB_MSG_REPLY = 19,  /* ab_msg_reply to a request, same serial */
	/* before READY, where the plan has a gateway: u32 flags of
	   wire/gateway.h; fds: the listeners in their order. Kept by nobody
	   else */
	AB_MSG_LISTENERS = 20,
	/* before READY, where calls are watched; fd: what tells of them
	   (seccomp_unotify(2)). Kept by nobody else */
	AB_MSG_NOTICES = 21,
	/* before READY, where the plan has a broker; fds: its socket and the
	   files of its secrets in their order */
	AB_MSG_BROKER = 22,
	/* after the last look at a workspace, where not all was put right, and
	   everything that is to be said of that was said: the host may tell
	   of it and remove the record (wire/plan.h). A holder that was killed
	   has not said it */
	AB_MSG_LOOKED = 23,
	/* control, host -> holder: ab_msg_request */
	AB_MSG_SETTLE = 32,    /* drain watches, quarantine, re-protect */
	AB_MSG_RELAUNCH = 33,  /* replace a stalled launcher, unless it is
				  a replacement younger than a second */
	AB_MSG_KILL_ALL = 34,  /* SIGKILL every process of the agent; told
				  when all are gone and a launcher is there,
				  -ETIMEDOUT when some hang in the kernel */
	AB_MSG_STATISTICS = 35, /* counts for verify and tests: commands
				   now, commands ever, launcher's pid in the
				   box, launchers replaced */
	AB_MSG_RELAY = 36,     /* fd: a regular file; arg bit 0: 0 out of the
				  box, 1 into the box; above it the group of
				  ab_msg_spawn; reply carries the pipe */
	/* before READY, once, and only when the plan given at the start was a
	   head; fd: the sealed memfd of the whole. No answer of its own.
	   Without an fd: u64 size, and the plan in messages of this kind, each
	   of at most AB_PLAN_CHUNK bytes with its header. */
	AB_MSG_PLAN = 37,
	/* spawn, host -> launcher */
	AB_MSG_SPAWN = 48, /* ab_msg_spawn; fds: channel, then spawn.fds */
	AB_MSG_SPAWN_BIG = 49, /* fds: channel, sealed memfd with an
				  ab_msg_spawn, then spawn.fds */
	/* channel */
	AB_MSG_STARTED = 64, /* u32 pid in the box; fd: pty master if asked */
	AB_MSG_NOT_STARTED = 65, /* ab_msg_failed */
	AB_MSG_EXITED = 66,  /* ab_msg_exited */
	AB_MSG_SIGNAL = 67,  /* host -> PID 1: ab_msg_signal */
	/* registration, launcher -> PID 1, inside the box */
	AB_MSG_REGISTER = 80, /* ab_msg_register; fd: channel */
	/* link, holder <-> PID 1 */
	AB_MSG_LINK_READY = 96, /* ab_msg_ready fields known inside */
	AB_MSG_LINK_KILL_ALL = 97,
	AB_MSG_LINK_RELAUNCH = 98,
	AB_MSG_LINK_EVENT = 99,
	/* 100 is not used: PID 1 writes its own maps */
	AB_MSG_LINK_REPLY = 101,
	AB_MSG_LINK_STATISTICS = 102,
	/* fds: user and mount namespace; PID 1 -> holder */
	AB_MSG_LINK_NAMESPACES = 103,
	/* u32 group: the command of these relays has ended */
	AB_MSG_LINK_RELAYS = 104,
	/* holder -> PID 1. fd: the plan */
	AB_MSG_LINK_PLAN = 105,
	/* holder -> PID 1, answer to WANTED, until all steps are through. u32:
	   the steps before this one have their trees now, u32 walls of their
	   making, u32 step for each fd: its tree */
	AB_MSG_LINK_TREES = 106,
	/* PID 1 -> holder: READY was sent to the host */
	AB_MSG_LINK_TOLD = 107,
	/* PID 1 -> holder: as LISTENERS */
	AB_MSG_LINK_LISTENERS = 108,
	/* PID 1 -> holder: as NOTICES */
	AB_MSG_LINK_NOTICES = 109,
	/* PID 1 -> holder: as BROKER */
	AB_MSG_LINK_BROKER = 110,
	/* PID 1 -> holder: maybe nobody is left but its launcher */
	AB_MSG_LINK_QUIET = 111,
	/* PID 1 -> holder of a root host: trees that only it can make. u32:
	   that of this step, or AB_WANTS_MAPPED */
	AB_MSG_LINK_WANTED = 118,
	/* stage, PID 1 <-> its first launcher, until the box is ready */
	/* launcher: i32 errno of the network namespace, i32 of loopback,
	   i32 of the file of u32 step; fd: the namespace, where one was asked
	   for and could be made */
	AB_MSG_STAGE_DONE = 112,
	AB_MSG_STAGE_PLAN = 113, /* fd: the whole plan */
	/* u64 device and inode of /; fd: the ruleset, where there is one */
	AB_MSG_STAGE_ROOT = 114,
	/* fd: the box's root, of which nothing is made yet */
	AB_MSG_STAGE_TREE = 115,
	/* launcher: Landlock and the filter hold it */
	AB_MSG_STAGE_WALLS = 116,
	/* launcher, right behind DONE where the plan has a gateway: i32 errno,
	   str stage, u32 flags; fds: the listeners, or none with an errno */
	AB_MSG_STAGE_GATE = 117
};

#define AB_PLAN_CHUNK 16384

/* Of all steps with AB_MOUNT_IDMAP. */
#define AB_WANTS_MAPPED 0xffffffffu

/* What was raised. Bits of `walls`, also used by verify. */
#define AB_WALL_USERNS 0x0001u
#define AB_WALL_MOUNTNS 0x0002u
#define AB_WALL_PIDNS 0x0004u
#define AB_WALL_IPCNS 0x0008u
#define AB_WALL_UTSNS 0x0010u
#define AB_WALL_CGROUPNS 0x0020u
#define AB_WALL_NETNS 0x0040u
#define AB_WALL_ROOTFS 0x0080u
#define AB_WALL_PROC 0x0100u
#define AB_WALL_CAPS 0x0200u
#define AB_WALL_NNP 0x0400u
#define AB_WALL_LANDLOCK 0x0800u
#define AB_WALL_SECCOMP 0x1000u
#define AB_WALL_LOOPBACK 0x2000u
#define AB_WALL_CGROUP 0x4000u
#define AB_WALL_IDMAP 0x8000u
#define AB_WALL_NOTICES 0x10000u

typedef struct ab_msg_ready {
	uint32_t walls;
	uint32_t landlock_abi;
	uint32_t pid_one;  /* in the host's pid namespace, for tests */
	uint32_t launcher; /* in the box's pid namespace */
	/* newline-separated notes: skipped optional steps and the like */
	const char *notes;
} ab_msg_ready;

typedef struct ab_msg_failed {
	/* "userns", "mounts[3] /usr", "landlock", "seccomp", "exec", ... */
	const char *stage;
	int32_t sys_errno;
	const char *message; /* one line, what to do when we know */
} ab_msg_failed;

/*
 * Kinds of events, with the object they are about. What the host did not read
 * in time is told of by one event of the worst kind that was lost, with the
 * object "events" and how many of which kind there were.
 */
enum ab_event_kind {
	AB_EVENT_QUARANTINED = 1, /* protected name appeared, moved away */
	AB_EVENT_REPROTECTED = 2, /* host replaced it; bind made again */
	AB_EVENT_UNPROTECTED = 3, /* could not be protected again: frozen */
	AB_EVENT_LAUNCHER = 4,	  /* launcher was replaced */
	AB_EVENT_LIMIT = 5,	  /* a polled limit ended something */
	AB_EVENT_ENDED = 6,	  /* the box is gone */
	/* 7 is not used; the next ones come from the gateway, not from here:
	   an AB_MSG_EVENT with one of them is malformed */
	AB_EVENT_ALLOWED = 8,
	AB_EVENT_DENIED = 9,
	AB_EVENT_CLOSED = 10,
	AB_EVENT_FAILED = 11,
	AB_EVENT_GATEWAY = 12,	  /* of the gateway itself */
	/* of the shield; EXEC and VERIFIED are only recorded */
	AB_EVENT_EXEC = 13,
	AB_EVENT_TRIPWIRE = 14,
	AB_EVENT_ASK = 15,
	AB_EVENT_MISMATCH = 16,
	AB_EVENT_VERIFIED = 17,
	AB_EVENT_SHIELD = 18, /* of the shield itself */
	AB_EVENT_CONNECT = 19, /* only recorded, and so is the next */
	AB_EVENT_READ = 20
};

typedef struct ab_msg_event {
	uint32_t kind;
	const char *object; /* path relative to the workspace, limit name */
	const char *detail; /* where it went, why */
} ab_msg_event;

typedef struct ab_msg_request {
	uint32_t kind; /* AB_MSG_SETTLE ... */
	uint32_t serial;
	uint32_t arg;
} ab_msg_request;

typedef struct ab_msg_reply {
	uint32_t serial;
	int32_t result; /* 0 or -errno */
	uint64_t values[4];
} ab_msg_reply;

/* Target fd numbers lie below this: RLIMIT_NOFILE of a stock system. */
#define AB_MAX_TARGET_FD 1024u

/* A pty of the box is the ctty, and what of 0-2 is not among the targets. */
#define AB_SPAWN_PTY 0x1u

typedef struct ab_msg_spawn {
	uint32_t flags;
	uint16_t rows, cols;
	uint32_t wall_ms; /* 0: none */
	uint32_t relays;  /* its relays end with it; 0: it has none */
	const char *cwd;
	/* target fd number in the command for each fd after the fixed ones */
	const uint32_t *targets;
	uint32_t target_count;
	/* NUL-terminated strings, NULL-terminated arrays */
	const char *const *argv;
	uint32_t argc;
	const char *const *envp;
	uint32_t envc;
} ab_msg_spawn;

typedef struct ab_msg_register {
	uint32_t pid;
	uint32_t wall_ms;
	uint64_t started_ns; /* CLOCK_BOOTTIME, before it was made */
	uint32_t relays;
} ab_msg_register;

/*
 * Why a command ended; 0 unless something of ours ended it.
 *
 * WALL, KILLED, CLOSED: SIGKILL went to all that descends from the command,
 * and EXITED is told when nothing of it is left, two seconds later at most.
 * Where commands bear no mark (plan.h) it went to the process group and to
 * who still had his parents; the others go on until KILL_ALL or the end of the
 * box, which reach every process.
 * MEMORY: a polled limit, or SIGKILL while the count of OOM kills in the
 * box's cgroup rose. The kernel names no victim: of two commands that end by
 * SIGKILL together, the first to be reaped is told. A command that outlives
 * the killed child of its own says nothing but its own exit status.
 * PIDS: only the polled limit, which ends all commands. Where the kernel
 * holds the limit, fork(2) fails with EAGAIN and nobody is ended, so a
 * command's end is never put down to it.
 */
#define AB_REASON_NONE 0u
#define AB_REASON_WALL 1u     /* its wall-clock limit */
#define AB_REASON_KILLED 2u   /* the host asked */
#define AB_REASON_MEMORY 3u   /* a memory limit */
#define AB_REASON_PIDS 4u
#define AB_REASON_SECCOMP 5u  /* SIGSYS */
#define AB_REASON_CLOSED 6u   /* the host closed the channel */

typedef struct ab_msg_exited {
	int32_t status; /* wait status as of wait4(2) */
	uint32_t reason;
	uint64_t utime_us, stime_us, maxrss_kib, wall_us;
	uint64_t minflt, majflt, inblock, oublock, nvcsw, nivcsw;
} ab_msg_exited;

typedef struct ab_msg_signal {
	int32_t signum;
	uint32_t group; /* 1: the whole process group */
} ab_msg_signal;

/*
 * put: appends kind, fd count and fields. get: r is positioned after kind
 * and fd count; 0 or -EPROTO, strings borrowed from the message. spawn's
 * arrays are allocated by get; ab_msg_spawn_end() frees them.
 */
void ab_msg_put_ready(ab_writer *w, uint32_t kind, uint32_t fds,
		      const ab_msg_ready *m);
int ab_msg_get_ready(ab_reader *r, ab_msg_ready *m);
void ab_msg_put_failed(ab_writer *w, uint32_t kind, const ab_msg_failed *m);
int ab_msg_get_failed(ab_reader *r, ab_msg_failed *m);
void ab_msg_put_event(ab_writer *w, uint32_t kind, const ab_msg_event *m);
int ab_msg_get_event(ab_reader *r, ab_msg_event *m);
void ab_msg_put_request(ab_writer *w, uint32_t fds, const ab_msg_request *m);
int ab_msg_get_request(ab_reader *r, uint32_t kind, ab_msg_request *m);
void ab_msg_put_reply(ab_writer *w, uint32_t kind, uint32_t fds,
		      const ab_msg_reply *m);
int ab_msg_get_reply(ab_reader *r, ab_msg_reply *m);
/* The body alone (no kind, no fd count): for a datagram or a memfd. */
void ab_msg_put_spawn(ab_writer *w, const ab_msg_spawn *m);
int ab_msg_get_spawn(ab_reader *r, ab_msg_spawn *m);
void ab_msg_spawn_end(ab_msg_spawn *m);
void ab_msg_put_register(ab_writer *w, const ab_msg_register *m);
int ab_msg_get_register(ab_reader *r, ab_msg_register *m);
void ab_msg_put_exited(ab_writer *w, const ab_msg_exited *m);
int ab_msg_get_exited(ab_reader *r, ab_msg_exited *m);
void ab_msg_put_signal(ab_writer *w, const ab_msg_signal *m);
int ab_msg_get_signal(ab_reader *r, ab_msg_signal *m);

#endif
