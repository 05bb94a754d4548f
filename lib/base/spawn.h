/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one place in the library that starts a process, and the host's half of
 * the helper contract (DESIGN.md section 2): empty environment, default
 * signals, empty mask, new session, fds 0-2 on /dev/null, fd 3 the control
 * socket, fd 4 the sealed plan, everything else closed by the helper, whose
 * half is wire/helper.h.
 */
#ifndef AB_BASE_SPAWN_H
#define AB_BASE_SPAWN_H

#include <sys/types.h>

#include "agentbox/base.h"
#include "base/limits.h"

typedef struct ab_helper {
	int control_fd; /* owned, SOCK_SEQPACKET, blocking, CLOEXEC */
	int pidfd;	/* owned; -1 until the helper's hello delivered it */
	pid_t pid;
} ab_helper;

/*
 * Start `name` ("agentbox-init") with the plan in `plan_fd` (borrowed, sealed
 * memfd, or -1 for none: fd 4 is then /dev/null) and demand its hello with
 * our build id within `timeout_ms`. argv is { name, NULL }. The helper is
 * looked up as base.h says, opened O_PATH once, refused when it or its
 * directory is writable by anyone but root and the caller, and started
 * through /proc/self/fd/N, or by path with dev+inode compared where there is
 * no /proc. Errors: EHELPER with the path and what to do.
 */
int32_t ab_helper_start(agentbox_context *context, const char *name,
			int plan_fd, int64_t timeout_ms, ab_helper *out,
			agentbox_error **err);

/* Where `name` is found, judged as for a start. EHELPER. */
int32_t ab_helper_find(const agentbox_context *context, const char *name,
		       char path[AB_MAX_PATH], agentbox_error **err);

/*
 * The same in two steps, so that a host can go on meanwhile: a helper that was
 * started and has not said hello yet. ab_helper_greet() takes it in any case;
 * ab_helper_cancel() ends it as ab_helper_stop() does, and accepts a zeroed or
 * a taken one.
 */
typedef struct ab_launch {
	const char *name;      /* borrowed */
	char dir[AB_MAX_PATH]; /* where it was found, for messages */
	int control_fd;	       /* owned */
	int watch_fd;	       /* owned: a pidfd of our own, or -1 */
	pid_t pid;
} ab_launch;

int32_t ab_helper_launch(agentbox_context *context, const char *name,
			 int plan_fd, ab_launch *out, agentbox_error **err);
int32_t ab_helper_greet(ab_launch *launch, int64_t timeout_ms, ab_helper *out,
			agentbox_error **err);
void ab_helper_cancel(ab_launch *launch, int64_t timeout_ms);

/*
 * A program of ours that is run inside a box, where no path leads to it: a
 * sealed memfd (owned) with what the helper `name` holds, found and judged as
 * above. It can be executed and read by nobody, so that it is not dumpable
 * from its first instruction on (execve(2), ptrace(2)).
 */
int32_t ab_helper_open_program(agentbox_context *context, const char *name,
			       int *memfd, agentbox_error **err);

/*
 * Close the control socket, which ends the helper and all below it; wait up
 * to timeout_ms for its pidfd, then SIGKILL by pidfd; reap if it is still
 * our child (a host may have reaped it or ignore SIGCHLD: both are fine).
 * Safe on a half-made or already stopped helper. Keeps errno.
 */
void ab_helper_stop(ab_helper *helper, int64_t timeout_ms);

#endif
