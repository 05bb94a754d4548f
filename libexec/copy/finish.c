/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue of open files from one thread to one other, and that other. It
 * opens nothing and allocates nothing. After a failure it writes no more, but
 * goes on to give room back, or the reader would wait for it, and the writer
 * for the reader. Spec: finish.h, pthreads(7), seccomp(2).
 */
#include "config.h"

#include "finish.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "job.h"

/* Waking somebody costs as much as a small file: do it for several. */
#define TELL_FINISHER (FINISH_JOBS / 16)
#define TELL_WRITER (FINISH_JOBS / 2)
/* From so many on the writer does its own part. */
#define MANY (FINISH_JOBS - FINISH_JOBS / 4)
/* Otherwise as large as RLIMIT_STACK, which may be more than there is. */
#define STACK_SIZE ((size_t)1 << 20)

static void fail(finisher *f, const char *path, int sys_errno,
		 const char *message)
{
	/* the writer and the finisher may both fail */
	if (atomic_exchange(&f->is_failing, 1))
		return;
	f->sys_errno = sys_errno;
	f->message = message;
	memcpy(f->path, path, strlen(path) + 1);
	atomic_store(&f->has_failed, 1);
}

static void finish_file(finisher *f, const finish_job *job)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   copy_time(job->mtime_ns) };
	int r = 0;

	if (job->len && !finish_has_failed(f))
		r = ab_fd_write_full(job->fd, job->data, job->len);
	if (r)
		fail(f, job->path, -r, "cannot write the file");
	else if (job->has_time && !finish_has_failed(f) &&
		 futimens(job->fd, times))
		fail(f, job->path, errno, "cannot set the file's time");
	if (job->is_last)
		close(job->fd);
}

static uint64_t waiting(const finisher *f)
{
	return atomic_load(&f->put) - atomic_load(&f->done);
}

/* The owner's. */
static void take_job(finisher *f)
{
	uint64_t done = atomic_load(&f->done);
	const finish_job *job = &f->jobs[done % FINISH_JOBS];

	if (job->fd >= 0)
		finish_file(f, job);
	ring_release_to(f->ring, job->end);
	atomic_store(&f->done, done + 1);
}

static bool take_hold(finisher *f, enum finish_owner whose)
{
	uint32_t free = FINISH_FREE;

	return atomic_compare_exchange_strong(&f->owner, &free, whose);
}

/*
 * Whoever lets the queue go looks once more: what came in between would have
 * nobody. The writer is who puts, so it need not.
 */
static void let_go(finisher *f)
{
	atomic_store(&f->owner, FINISH_FREE);
	if (!waiting(f) || !take_hold(f, FINISH_FINISHER))
		ring_sleep(f->job_event);
}

static void *work(void *data)
{
	finisher *f = data;
	int r = copy_take_filter(COPY_FINISHER);

	if (r)
		fail(f, "", -r, "the finisher has no filter");
	for (;;) {
		uint64_t left;

		while (!waiting(f))
			let_go(f);
		take_job(f);
		left = waiting(f);
		/* he waits for room, or for all */
		if ((left == TELL_WRITER || left == 0) &&
		    atomic_exchange(&f->writer_waits, 0))
			ring_wake(f->done_event);
	}
	return NULL;
}

/* Of those that this process may run on; 1 where nobody says. */
static int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

int finish_start(finisher *f, ring *from)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	f->ring = from;
	f->processors = count_processors();
	f->owner = FINISH_FINISHER;
	f->job_event = ab_fd_lift(eventfd(0, EFD_CLOEXEC));
	f->done_event = ab_fd_lift(eventfd(0, EFD_CLOEXEC));
	if (f->job_event < 0 || f->done_event < 0)
		return -EMFILE;
	r = pthread_attr_init(&attr);
	if (r)
		return -r;
	r = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (r == 0)
		r = pthread_create(&thread, &attr, work, f);
	pthread_attr_destroy(&attr);
	return -r;
}

static bool has_processor(const finisher *f)
{
	return f->processors > 2 ||
	       (f->processors == 2 && ring_putter_rests(f->ring));
}

static void tell_finisher(finisher *f)
{
	if (take_hold(f, FINISH_FINISHER))
		ring_wake(f->job_event);
}

/* Until so many are left, if the finisher is not at them. */
static void do_some(finisher *f, uint64_t left)
{
	if (waiting(f) <= left || !take_hold(f, FINISH_WRITER))
		return;
	while (waiting(f) > left)
		take_job(f);
	atomic_store(&f->owner, FINISH_FREE);
}

static void wait_below(finisher *f, uint64_t count)
{
	while (waiting(f) >= count) {
		do_some(f, count - 1);
		atomic_store(&f->writer_waits, 1);
		if (waiting(f) >= count)
			ring_sleep(f->done_event);
		atomic_store(&f->writer_waits, 0);
	}
}

finish_job *finish_reserve(finisher *f)
{
	wait_below(f, FINISH_JOBS);
	return &f->jobs[atomic_load(&f->put) % FINISH_JOBS];
}

void finish_commit(finisher *f)
{
	finish_job *job = &f->jobs[atomic_load(&f->put) % FINISH_JOBS];

	if (waiting(f) >= MANY)
		do_some(f, FINISH_JOBS / 2);
	/* out of turn, but for the room in the ring */
	if (waiting(f) >= MANY && job->is_whole && job->fd >= 0) {
		finish_file(f, job);
		job->fd = -1;
	}
	atomic_fetch_add(&f->put, 1);
	if (has_processor(f) && waiting(f) >= TELL_FINISHER)
		tell_finisher(f);
}

void finish_flush(finisher *f)
{
	if (!waiting(f))
		return;
	if (has_processor(f))
		tell_finisher(f);
	else
		do_some(f, 0);
}

void finish_wait(finisher *f)
{
	wait_below(f, 1);
}

bool finish_has_failed(const finisher *f)
{
	return atomic_load(&f->has_failed);
}
