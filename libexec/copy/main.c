/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-copy: one job on a tree, a snapshot made, explained, verified or
 * ended; and agentbox-archive, the same with archives. This file is the
 * helper contract of DESIGN.md section 2: fd 3 control, fd 4 plan, nothing
 * else; hello before the plan is honoured; the host's life is ours. It
 * refuses a plan that is not sealed, of another build, or malformed. Spec:
 * wire/copy.h, job.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "base/clock.h"
#include "base/fd.h"
#include "build-id.h"
#include "supervise.h"
#include "wire/message.h"

/* The host, which is our parent still, so its pid was not reused. */
static int open_host(void)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);
	int fd;

	if (getsockopt(COPY_CONTROL_FD, SOL_SOCKET, SO_PEERCRED, &cred, &n))
		return -errno;
	fd = ab_fd_lift(pidfd_open(cred.pid, 0));
	if (fd >= 0 && getppid() != cred.pid) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

static int say_hello(void)
{
	ab_autofd int self = pidfd_open(getpid(), 0);
	int r = self < 0 ? -errno
			 : ab_message_send_hello(COPY_CONTROL_FD, AB_BUILD_ID,
						 copy_program, self);

	if (r)
		ab_message_send_no_hello(COPY_CONTROL_FD, -r);
	return r;
}

static int read_plan(copy_job *job)
{
	size_t n = 0;
	int r = ab_fd_check_sealed(COPY_PLAN_FD, AB_MAX_PLAN_BYTES, &n);
	ab_reader reader;
	void *map;

	if (r || n == 0)
		return r ? r : -EPROTO;
	map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, COPY_PLAN_FD, 0);
	if (map == MAP_FAILED)
		return -errno;
	ab_reader_init(&reader, map, n);
	return ab_copy_plan_get(&reader, AB_BUILD_ID, &job->plan);
}

static bool fits(int fd, bool is_directory)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (!is_directory || S_ISDIR(st.st_mode));
}

/* The directories, in the order of their bits. */
static int receive_go(copy_job *job)
{
	int *const places[AB_COPY_MAX_FDS] = {
		&job->source_fd, &job->dest_fd, &job->staging_fd,
		&job->record_fd, &job->stream_fd
	};
	int fds[AB_COPY_MAX_FDS];
	uint32_t head[2];
	size_t count = 0, used = 0;
	ssize_t n = ab_message_recv(COPY_CONTROL_FD, head, sizeof(head), fds,
				    AB_COPY_MAX_FDS, &count, 0);

	if (n == 0)
		return -ECANCELED;
	if (n != (ssize_t)sizeof(head) || head[0] != AB_MSG_COPY_GO)
		return -EPROTO;
	for (size_t i = 0; i < AB_COPY_MAX_FDS; i++) {
		if (!(job->plan.fds & 1u << i))
			continue;
		if (used == count || !fits(fds[used], i < 4))
			return -EPROTO;
		*places[i] = fds[used++];
	}
	return used == count ? 0 : -EPROTO;
}

static int share_memory(copy_job *job)
{
	void *p = mmap(NULL, sizeof(copy_counters), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	job->counters = p;
	return ring_make(&job->ring);
}

static int refuse(int r)
{
	const ab_copy_failed m = {
		.code = r == -ESTALE ? AGENTBOX_EHELPER : AGENTBOX_EPROTO,
		.sys_errno = -r,
		.where = "plan",
		.message = r == -ESTALE ? "library and helper are of "
					  "different builds"
					: "the plan or its directories are "
					  "not as announced",
	};
	uint8_t memory[512];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_copy_failed_put(&w, 0, &m);
	(void)ab_message_send(COPY_CONTROL_FD, w.data, w.len, NULL, 0, 0);
	return 1;
}

int main(void)
{
	static copy_job job = {
		.source_fd = -1,
		.dest_fd = -1,
		.staging_fd = -1,
		.record_fd = -1,
		.stream_fd = -1,
		.scouting = { .end_fd = -1, .hold_fd = -1 },
		.spool_fd = -1,
	};
	int r;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NAME, copy_program, 0, 0, 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(0);
	if (syscall(SYS_close_range, COPY_FIRST_FD, ~0u, 0))
		return 1;
	fcntl(COPY_CONTROL_FD, F_SETFD, FD_CLOEXEC);
	fcntl(COPY_PLAN_FD, F_SETFD, FD_CLOEXEC);
	job.host_pidfd = open_host();
	if (job.host_pidfd < 0 || say_hello())
		return 1;
	job.hash = ab_sha256_pick();
	r = read_plan(&job);
	if (r == 0)
		r = receive_go(&job);
	if (r == -ECANCELED)
		return 1;
	/* counted from here, on a clock that runs while the machine sleeps */
	if (job.plan.deadline_ms)
		job.deadline_ns = ab_clock_boot_ns() +
				  job.plan.deadline_ms * 1000000;
	if (r == 0)
		r = share_memory(&job);
	/* the role has no calls for what a runtime does at exit */
	_exit(r ? refuse(r) : copy_supervise(&job));
}
