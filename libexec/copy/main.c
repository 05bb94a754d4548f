/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-copy: one job on a tree, a snapshot made, explained, verified or
 * ended; and agentbox-archive, the same with archives. It follows the helper
 * contract (wire/helper.h) and refuses a plan that is not sealed, of another
 * build, or malformed. Spec: wire/copy.h, job.h.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "base/clock.h"
#include "build-id.h"
#include "supervise.h"
#include "wire/helper.h"
#include "wire/message.h"

static int read_plan(copy_job *job)
{
	ab_reader reader;
	int r = ab_helper_map_plan(&reader);

	return r ? r : ab_copy_plan_get(&reader, AB_BUILD_ID, &job->plan);
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
		&job->record_fd, &job->stream_fd, &job->repository_fd
	};
	int fds[AB_COPY_MAX_FDS];
	uint32_t head[2];
	size_t count = 0, used = 0;
	ssize_t n = ab_message_recv(AB_HELPER_CONTROL_FD, head, sizeof(head),
				    fds, AB_COPY_MAX_FDS, &count, 0);

	if (n == 0)
		return -ECANCELED;
	if (n != (ssize_t)sizeof(head) || head[0] != AB_MSG_COPY_GO)
		return -EPROTO;
	for (size_t i = 0; i < AB_COPY_MAX_FDS; i++) {
		if (!(job->plan.fds & 1u << i))
			continue;
		if (used == count ||
		    !fits(fds[used], places[i] != &job->stream_fd))
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

/* r: what is wrong with the plan; memory: with what the processes share. */
static int refuse(int r, int memory_error)
{
	const ab_copy_failed m = {
		.code = memory_error   ? AGENTBOX_ESYS
			: r == -ESTALE ? AGENTBOX_EHELPER
				       : AGENTBOX_EPROTO,
		.sys_errno = memory_error ? -memory_error : -r,
		.where = memory_error ? "memory" : "plan",
		.message = memory_error	  ? "cannot share memory"
			   : r == -ESTALE ? "library and helper are of "
					    "different builds"
					  : "the plan or its directories are "
					    "not as announced",
	};
	uint8_t memory[512];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_copy_failed_put(&w, 0, &m);
	(void)ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0, 0);
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
		.repository_fd = -1,
		.scouting = { .end_fd = -1, .hold_fd = -1 },
		.spool_fd = -1,
	};
	int r, shared = 0;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(0);
	if (ab_helper_begin(copy_program) || ab_helper_run_as_others())
		return 1;
	job.host_pidfd = ab_helper_open_host();
	if (job.host_pidfd < 0 || ab_helper_say_hello(copy_program))
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
		shared = share_memory(&job);
	/* the role has no calls for what a runtime does at exit */
	_exit(r || shared ? refuse(r, shared) : copy_supervise(&job));
}
