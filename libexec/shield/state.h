/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of agentbox-shield. Of its threads one at a time works on it
 * (serve.c); every list is bounded, and what cannot be judged, told or answered
 * is refused unless the mode is "audit". Nothing it decides about an exec is a
 * wall: the file's name and the arguments lie in the caller's memory, who may
 * change them after they were read (seccomp_unotify(2), "Caveats").
 * Spec: DESIGN.md sections 2, 12.
 */
#ifndef AB_SHIELD_STATE_H
#define AB_SHIELD_STATE_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "guard/exec.h"
#include "parts.h"
#include "wire/shield.h"


/* What is read of one exec, and how many of its arguments. */
#define AB_EXEC_MAX_BYTES (256u << 10)
#define AB_EXEC_MAX_ARGS 4096u

/* Answers that wait for their record to be handed over. */
#define AB_WAITING_MAX 256
/* How long a host may leave records unread before what waits is refused. */
#define AB_WAITING_MS 5000
/* Execs that wait for the host's word. */
#define AB_ASKS_MAX 64

/* What was executed and needed the working directory: how often it is looked
   up first before that is found out again. */
#define AB_SHAPES 256u
#define AB_SHAPE_USES 64u

typedef struct ab_sh_shape {
	uint32_t shape, uses;
} ab_sh_shape;

/* Whole pages of a caller's, and those that his words are looked for in. */
#define AB_PAGE 4096u
#define AB_GUESSES 2u
typedef struct ab_sh_pages {
	uint64_t at[2 + AB_GUESSES]; /* in pages */
	size_t count;
	uint64_t guess[AB_GUESSES];
	size_t guess_count;
	char bytes[(2 + AB_GUESSES) * AB_PAGE];
} ab_sh_pages;

/* What the kernel is told: to go on, or this error instead. */
typedef struct ab_sh_waiting {
	uint64_t notice;
	uint32_t answer;
	size_t len;
	uint8_t *record; /* owned */
	uint64_t ask;	 /* with ASKED */
} ab_sh_waiting;

typedef struct ab_sh_ask {
	uint64_t id, notice, deadline;
	uint8_t *record; /* that it was asked; owned */
	size_t len;
} ab_sh_ask;

typedef struct ab_sh {
	int host_pidfd, notify_fd, proc_fd;
	uint32_t mode; /* enum ab_policy_shield */
	bool is_audited;
	uint64_t ask_ns;
	ab_exec_judge judge;
	agentbox_decision *decision;
	ab_sh_shape shapes[AB_SHAPES];
	ab_sh_memo memo;
	ab_sh_pages pages;
	ab_sh_grants grants;
	ab_sh_calls calls;
	ab_sh_network network;
	char shared[AB_MAX_PATH]; /* where peers are, in the box; "": none */

	/* Programs of the host's own that run in the box now. Who cannot be
	   read because his memory is of a user namespace above (EPERM) is let
	   through meanwhile: a process of the box is, whatever it hides. */
	uint32_t own;

	uint64_t lost; /* records without an audit that found no room */
	ab_sh_waiting waiting[AB_WAITING_MAX]; /* a ring */
	size_t waiting_first, waiting_count;
	uint64_t stuck_at; /* when the first of them is refused */
	bool is_unheard;   /* that was so; until a record finds room again */
	ab_sh_ask asks[AB_ASKS_MAX];
	size_t ask_count;
	uint64_t ask_last;

	/* of the exec at hand */
	char bytes[AB_EXEC_MAX_BYTES];
	size_t used;
	const char *args[AB_EXEC_MAX_ARGS + 1];
	size_t lens[AB_EXEC_MAX_ARGS + 1];
	char command[AB_SHIELD_MAX_COMMAND];
	char place[AB_MAX_PATH];
	/* his working directory, when it was looked up for this notice */
	char cwd[AB_MAX_PATH];
	ssize_t cwd_len;
	uint64_t cwd_notice;
} ab_sh;

/* confine.c: everything that is not needed given up; 0 or -errno. Ids and
   capabilities first, then, with all threads there are, the limits, and last
   the filter, by each thread for itself. */
int ab_sh_give_up(uint32_t uid, uint32_t gid, const char **stage);
int ab_sh_set_limits(void);
int ab_sh_take_filter(void);

/* serve.c: behind all walls; 0 or -errno. Then for ever. */
struct ab_sh_server;
int ab_sh_start(ab_sh *sh, uint32_t uid, uint32_t gid, const char **stage,
		struct ab_sh_server **out);
void ab_sh_serve(struct ab_sh_server *server);

/* target.c: of a process that waits for an answer to this notice */
typedef struct ab_caller {
	ab_sh *sh;
	pid_t pid;
	uint64_t notice;
} ab_caller;

/* Still waiting: then what was read is its own. To be asked after all that is
   read for one notice: notice.c. */
bool ab_caller_is_valid(const ab_caller *t);
/*
 * The file's name and argv at these addresses, into sh->bytes, args and lens;
 * AB_SHIELD_CUT in *flags where there is more. 0 or -errno.
 */
int ab_caller_read_exec(const ab_caller *t, uint64_t path, uint64_t argv,
			ab_exec *out, uint32_t *flags);
/* A string into sh->bytes, and n bytes. 0 or -errno. */
int ab_caller_read_text(const ab_caller *t, uint64_t address,
			const char **out);
int ab_caller_read(const ab_caller *t, uint64_t address, void *out, size_t n);
/* Of its process, whose tables /proc/self shows: before Linux 6.13 a thread is
   taken for it. */
pid_t ab_caller_leader(const ab_caller *t);
/* linux/pidfd.h as of 6.13 */
#define AB_PIDFD_GET_INFO _IOWR(0xff, 11, uint8_t[64])
/* A link of /proc/PID ("cwd", "exe", "fd/3"): its length, or -errno, and "":
   -ENOENT there is none, -ENAMETOOLONG the kernel cannot say it either. */
ssize_t ab_caller_link(const ab_caller *t, const char *name, char *out,
		       size_t size);

/* Where it is, looked up once for one notice: *out lasts until the next. As
   ab_caller_link(). */
ssize_t ab_caller_cwd(const ab_caller *t, const char **out);

/* pages.c: read what is likely needed of an exec, into sh->pages. */
void ab_pages_read(const ab_caller *t, uint64_t path, uint64_t argv);
/* What was read from there on and how much, or NULL. */
const char *ab_pages_find(const ab_sh *sh, uint64_t address, size_t *left);
/* Where the words of this exec were: the next one's may be there. */
void ab_pages_learn(ab_sh *sh, uint64_t path, uint64_t argv,
		    const uint64_t *at, size_t n);

/* exec.c: what is to be executed, judged; strings stay in *sh. 0, or -errno:
   nothing is to be told of it, there is no such file. */
int ab_sh_look_at_exec(const ab_caller *t, const struct seccomp_notif *notice,
		       ab_shield_record *out, ab_exec_finding *finding);

/*
 * places.c: is it a call that connects, or one that changes names or opens a
 * file, and what is said of it; false: it is neither. With `quiet` nothing
 * is to be told of it: it is about no peer. Strings stay in *sh.
 */
bool ab_sh_look_at_place(const ab_caller *t,
			 const struct seccomp_notif *notice,
			 ab_shield_record *out, ab_exec_finding *finding,
			 bool *quiet);
/* The name of the file that this path leads to, links and all: its length, 0:
   nowhere, -errno. An empty one names `dirfd` itself. */
ssize_t ab_sh_follow(const ab_caller *t, int dirfd, const char *path,
		     char *out, size_t size);
/* What the kernel would say: -ENOENT or -ENOTDIR where it is sure. */
int ab_sh_find_file(const ab_caller *t, int dirfd, const char *path);

/* notice.c */
typedef union ab_sh_notice {
	struct seccomp_notif notice;
	uint8_t room[512]; /* of a later kernel: see main.c */
} ab_sh_notice;
/* Looks at nothing of *sh but its listener. False: whose it was is gone, or it
   was interrupted; *ended: nobody is left who could ask. */
bool ab_sh_wait_for_notice(const ab_sh *sh, ab_sh_notice *out, bool *ended);
void ab_sh_on_notice(ab_sh *sh, const ab_sh_notice *notice);
/* Tell, then answer; false: it could not be told and is refused. notice 0:
   there is nothing to answer, and the host waits and reads. */
bool ab_sh_deliver(ab_sh *sh, ab_shield_record *m, uint64_t notice);
/* The host reads again; flags 0: it waits for us and reads everything. */
void ab_sh_flush(ab_sh *sh, int flags);
/* 0 lets it go on, -errno does not. */
void ab_sh_answer(ab_sh *sh, uint64_t notice, int error);
/* Until when to wait, boot-time ns, 0: for ever; and what is over by now. */
uint64_t ab_sh_next_end(const ab_sh *sh);
void ab_sh_expire(ab_sh *sh, uint64_t now);

/* asks.c */
/* False: there are too many. Those of the dead end first. */
bool ab_sh_may_ask(ab_sh *sh);
/* `record` is that of the question, copied: what became of it is told with the
   same words. False: no memory, nothing was added. */
bool ab_sh_add_ask(ab_sh *sh, uint64_t id, uint64_t notice,
		   const uint8_t *record, size_t n);
/* -ENOENT: it is over. */
int ab_sh_answer_ask(ab_sh *sh, uint64_t id, bool let);
void ab_sh_expire_asks(ab_sh *sh, uint64_t now);
uint64_t ab_sh_next_ask(const ab_sh *sh);

/* control.c: one message of the host; it ends with the host. */
void ab_sh_serve_control(ab_sh *sh);

#endif
