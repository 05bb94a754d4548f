/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every helper does before it reads its plan. On any failure the helper
 * ends: a host without a hello raises nothing. Spec: helper.h.
 */
#include "config.h"

#include "wire/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "build-id.h"
#include "wire/message.h"
#include "wire/schedule.h"

/* By number: the libc of agentbox-init has no names for it. */
static int open_process(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

int ab_helper_begin(const char *name)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NAME, name, 0, 0, 0) ||
	    syscall(SYS_close_range, AB_HELPER_FIRST_FREE_FD, ~0u, 0))
		return -errno;
	/* posix_spawn gave them to us without CLOEXEC */
	if (fcntl(AB_HELPER_CONTROL_FD, F_SETFD, FD_CLOEXEC) ||
	    fcntl(AB_HELPER_PLAN_FD, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
}

int ab_helper_run_as_others(void)
{
	const char *what;
	int r = ab_schedule_as_others(&what);

	if (r)
		ab_message_send_no_hello(AB_HELPER_CONTROL_FD, -r, what);
	return r;
}

int ab_helper_open_host(void)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);
	ab_autofd int fd = -1;

	if (getsockopt(AB_HELPER_CONTROL_FD, SOL_SOCKET, SO_PEERCRED, &cred,
		       &n))
		return -errno;
	fd = ab_fd_lift(open_process(cred.pid));
	if (fd < 0)
		return fd;
	if (getppid() != cred.pid)
		return -ESRCH;
	return ab_steal_fd(&fd);
}

int ab_helper_say_hello(const char *name)
{
	ab_autofd int self = open_process(getpid());
	int r = self < 0 ? self
			 : ab_message_send_hello(AB_HELPER_CONTROL_FD,
						 AB_BUILD_ID, name, self);

	if (r)
		ab_message_send_no_hello(AB_HELPER_CONTROL_FD, -r, "");
	return r;
}

int ab_helper_map_plan(ab_reader *plan)
{
	void *map;
	size_t n;
	int r = ab_fd_map_sealed(AB_HELPER_PLAN_FD, AB_MAX_PLAN_BYTES, &map,
				 &n);

	if (r == 0)
		ab_reader_init(plan, map, n);
	return r;
}

static void begin_message(ab_writer *w, void *memory, size_t size,
			  uint32_t kind)
{
	ab_writer_init_fixed(w, memory, size);
	ab_put_u32(w, kind);
	ab_put_u32(w, 0);
}

int ab_helper_say(uint32_t kind)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	begin_message(&w, memory, sizeof(memory), kind);
	return ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0,
			       0);
}

void ab_helper_say_failed(uint32_t kind, const char *stage, int sys_errno,
			  const char *message)
{
	uint8_t memory[1024];
	ab_writer w;

	begin_message(&w, memory, sizeof(memory), kind);
	ab_put_str(&w, stage);
	ab_put_i32(&w, sys_errno);
	ab_put_str(&w, message);
	(void)ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0, 0);
}
