/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The supervisor: starts the other processes, listens to the host, to them
 * and to the clock, and has the last word. Whatever ends the job, nothing of
 * it is left but what was published; what a SIGKILL leaves is swept at the
 * next start. Spec: job.h, wire/copy.h, cases 57, 60, 61, 71-73.
 */
#include "config.h"

#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/clock.h"
#include "base/fd.h"
#include "snapshot/report.h"
#include "wire/helper.h"
#include "wire/message.h"

static int fail(supervision *s, int32_t code, int sys_errno, const char *where,
		const char *message)
{
	return copy_fail(&s->failure, code, sys_errno, where, message);
}

/* --- processes ------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* A process of the job keeps what it works on and nothing else. */
static void close_all_but(int *keep, size_t n)
{
	unsigned next = AB_HELPER_CONTROL_FD;

	qsort(keep, n, sizeof(*keep), by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < (int)next)
			continue;
		if (keep[i] > (int)next)
			(void)syscall(SYS_close_range, next,
				      (unsigned)keep[i] - 1, 0);
		next = (unsigned)keep[i] + 1;
	}
	(void)syscall(SYS_close_range, next, ~0u, 0);
}

static void be(copy_job *job, copy_main *entry, int sock, const int fds[2])
{
	/* who is not to have the repository is started without it */
	int keep[] = { sock, job->ring.put_event, job->ring.take_event,
		       fds[0], fds[1], job->repository_fd };

	close_all_but(keep, sizeof(keep) / sizeof(keep[0]));
	if (copy_end_with(job->supervisor))
		_exit(1);
	entry(job, sock, fds);
	_exit(1);
}

int copy_start(supervision *s, helper *h, copy_main *entry, int fd,
	       int more_fd)
{
	const int fds[2] = { fd, more_fd };
	int pair[2];
	int r = ab_fd_seqpacket_pair(pair);

	if (r)
		return fail(s, AGENTBOX_ESYS, -r, "start", "no socket");
	h->pid = fork();
	if (h->pid == 0)
		be(s->job, entry, pair[1], fds);
	close(pair[1]);
	h->sock = pair[0];
	if (h->pid < 0)
		return fail(s, AGENTBOX_ESYS, errno, "start", "cannot fork");
	h->pidfd = ab_fd_lift(pidfd_open(h->pid, 0));
	return h->pidfd < 0 ? fail(s, AGENTBOX_ESYS, -h->pidfd, "start",
				   "no pidfd")
			    : 0;
}

static void as_reader(copy_job *job, int sock, const int fds[2])
{
	(void)fds; /* job->source_fd */
	copy_reader(job, sock);
}

static void as_writer(copy_job *job, int sock, const int fds[2])
{
	(void)fds;
	copy_writer(job, sock);
}

static void as_verifier(copy_job *job, int sock, const int fds[2])
{
	copy_verifier(job, sock, fds[0]);
}

static void as_scout(copy_job *job, int sock, const int fds[2])
{
	(void)sock; /* it has nothing to say */
	(void)fds;
	copy_scout(job);
}

/* Before the reader, for it has most to do; only it may hold its end. */
static int start_scout(supervision *s)
{
	scouting *all = &s->job->scouting;
	int r;

	/* a commit is looked at by its name */
	if (!s->job->has_old || s->job->plan.git_mode != AB_COPY_GIT_NONE)
		return 0;
	r = scouting_make(s->job);
	if (r)
		return fail(s, AGENTBOX_ESYS, -r, "start", "no scout");
	r = copy_start(s, &s->scout, as_scout, s->job->source_fd,
		       all->hold_fd);
	ab_cleanup_fd(&all->hold_fd);
	all->hold_fd = -1;
	return r;
}

/*
 * Commits: objects wait on disk, beside the tree they will be in, until all
 * are there. Where the file system has no O_TMPFILE the reader has memory.
 */
static int start_git_reader(supervision *s)
{
	copy_job *job = s->job;
	int r;

	if (job->plan.job == AB_COPY_MAKE)
		job->spool_fd = ab_fd_lift(openat(
			job->staging_fd, ".",
			O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC,
			0600));
	r = copy_start(s, &s->reader, as_reader, job->source_fd,
		       job->spool_fd);
	ab_cleanup_fd(&job->spool_fd);
	ab_cleanup_fd(&job->repository_fd);
	job->spool_fd = job->repository_fd = -1;
	return r;
}

int copy_start_reader(supervision *s)
{
	if (s->job->plan.git_mode != AB_COPY_GIT_NONE)
		return start_git_reader(s);
	return copy_start(s, &s->reader, as_reader, s->job->source_fd,
			  s->job->scouting.end_fd);
}

int copy_start_writer(supervision *s)
{
	s->begin = copy_begin_output;
	return copy_start(s, &s->writer, as_writer, -1, -1);
}

void copy_stop(helper *h)
{
	siginfo_t si;

	if (h->pid <= 0)
		return;
	if (h->pidfd >= 0)
		(void)pidfd_send_signal(h->pidfd, SIGKILL, NULL, 0);
	ab_cleanup_fd(&h->sock);
	h->sock = -1;
	/* one that hangs in a dead file system is left to the kernel */
	if (h->pidfd >= 0 && ab_fd_poll(h->pidfd, POLLIN, 2000) > 0)
		(void)waitid(P_PIDFD, (id_t)h->pidfd, &si, WEXITED | WNOHANG);
	ab_cleanup_fd(&h->pidfd);
	h->pidfd = -1;
	h->pid = 0;
}

/* --- the host ------------------------------------------------------------- */

static void send_progress(supervision *s)
{
	const copy_counters *c = s->job->counters;
	ab_copy_progress m = {
		.phase = atomic_load(&c->phase),
		.files = atomic_load(&c->files),
		.bytes = atomic_load(&c->bytes),
		.files_in_all = atomic_load(&c->files_in_all),
	};
	uint64_t now = ab_clock_boot_ns();
	uint8_t memory[128];
	ab_writer w;

	if (now - s->told_ns < COPY_PROGRESS_MS * UINT64_C(1000000))
		return;
	s->told_ns = now;
	if (m.phase < AB_PHASE_WALK || m.phase > AB_PHASE_CLEAN)
		return;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_copy_progress_put(&w, &m);
	/* a host that does not listen misses it */
	(void)ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0,
			      MSG_DONTWAIT);
}

static int cancelled(supervision *s)
{
	s->cancelled = true;
	return fail(s, AGENTBOX_ECANCELED, 0, "", "the host gave it up");
}

static int hear_host(supervision *s)
{
	uint8_t memory[256];
	size_t count = 0;
	int fds[1];
	ssize_t n = ab_message_recv(AB_HELPER_CONTROL_FD, memory,
				    sizeof(memory), fds, 0, &count,
				    MSG_DONTWAIT);
	uint32_t kind;

	if (n == -EAGAIN)
		return 0;
	if (n < AB_MESSAGE_HEADER)
		return cancelled(s);
	memcpy(&kind, memory, sizeof(kind));
	if (kind != AB_MSG_COPY_PUBLISH || !s->has_wrote)
		return cancelled(s);
	s->may_publish = true;
	return 0;
}

/* --- the others ----------------------------------------------------------- */

static int failed_by(supervision *s, const void *p, ssize_t n,
		     const char *who)
{
	copy_failure f;

	if (n != (ssize_t)sizeof(f))
		return fail(s, AGENTBOX_EPROTO, 0, who, "it said nonsense");
	memcpy(&f, p, sizeof(f));
	f.where[sizeof(f.where) - 1] = 0;
	f.message[sizeof(f.message) - 1] = 0;
	if (f.code >= 0)
		f.code = AGENTBOX_EPROTO;
	s->failure = f;
	/* the generation there is not what its record says */
	if (f.code == AGENTBOX_ETAMPERED && s->job->record_fd >= 0 &&
	    !s->is_parsing)
		(void)unlinkat(s->job->record_fd, s->job->plan.record_name, 0);
	return -1;
}

static int take_read(supervision *s, const void *p, ssize_t n, int fd)
{
	size_t size;
	int r;

	if (fd < 0)
		return fail(s, AGENTBOX_EPROTO, 0, "reader", "no report");
	s->report_fd = fd;
	if (n != (ssize_t)sizeof(s->read) ||
	    ab_fd_check_sealed(fd, AB_REPORT_MAX, &size))
		return fail(s, AGENTBOX_EPROTO, 0, "reader",
			    "the report is not sealed");
	memcpy(&s->read, p, sizeof(s->read));
	s->has_read = true;
	s->reader.wanted = false;
	if (!s->writer.wanted)
		return 0;
	r = copy_send_word(s->writer.sock, COPY_WORD_REPORT, &s->read,
			   sizeof(s->read), &fd, 1);
	/* one that is gone has said why, or will be heard to have ended */
	return r && r != -EPIPE && r != -ECONNRESET
		       ? fail(s, AGENTBOX_EHELPER, -r, "writer",
			      "cannot send it the report")
		       : 0;
}

static int hear(supervision *s, helper *h)
{
	const char *who = h == &s->reader ? "reader" : "writer";
	uint8_t memory[sizeof(copy_failure) + 64];
	enum copy_word word = 0;
	size_t count = 0;
	int fd = -1;
	ssize_t n = copy_receive_word(h->sock, &word, memory, sizeof(memory),
				      &fd, 1, &count, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return 0;
	if (n < 0) {
		ab_cleanup_fd(&h->sock);
		h->sock = -1;
		return h->wanted ? fail(s, AGENTBOX_EHELPER, 0, who,
					"it ended before its work was done")
				 : 0;
	}
	if (word == COPY_WORD_FAILED)
		return failed_by(s, memory, n, who);
	if (word == COPY_WORD_PARSED && h == &s->reader && s->is_parsing) {
		h->wanted = false;
		return 0;
	}
	if (s->is_parsing && h == &s->reader)
		return fail(s, AGENTBOX_EPROTO, 0, "parser",
			    "it said something else");
	if (word == COPY_WORD_BUILD && h == &s->reader && !s->writer.wanted &&
	    s->writer.pid > 0) {
		s->writer.wanted = true;
		return s->begin(s);
	}
	if (word == COPY_WORD_READ && h == &s->reader && !s->has_read)
		return take_read(s, memory, n, fd);
	if (word == COPY_WORD_WROTE && h == &s->writer &&
	    n == (ssize_t)sizeof(s->wrote)) {
		memcpy(&s->wrote, memory, sizeof(s->wrote));
		s->has_wrote = true;
		h->wanted = false;
		return 0;
	}
	return fail(s, AGENTBOX_EPROTO, 0, who, "it said something else");
}

static int64_t time_left(const supervision *s)
{
	int64_t left = ab_clock_left_ms(s->job->deadline_ns);

	return left >= 0 && left < COPY_PROGRESS_MS ? left : COPY_PROGRESS_MS;
}

/* One look at everybody. */
static int listen_once(supervision *s)
{
	struct pollfd fds[] = {
		{ .fd = AB_HELPER_CONTROL_FD, .events = POLLIN },
		{ .fd = s->job->host_pidfd, .events = POLLIN },
		{ .fd = s->reader.sock, .events = POLLIN },
		{ .fd = s->writer.sock, .events = POLLIN },
	};
	int n = ab_fd_poll_many(fds, 4, s->clearing ? 0 : time_left(s));

	if (n < 0)
		return fail(s, AGENTBOX_ESYS, -n, "poll", "cannot wait");
	if (fds[1].revents || (fds[0].revents & POLLERR))
		return cancelled(s);
	if (fds[0].revents && hear_host(s))
		return -1;
	if (s->job->deadline_ns &&
	    ab_clock_boot_ns() >= s->job->deadline_ns)
		return fail(s, AGENTBOX_ETIMEOUT, 0, "", "deadline_ms is over");
	if (n == 0 && copy_is_ended(s))
		return fail(s, AGENTBOX_ECANCELED, 0, s->job->plan.dest_name,
			    "it was ended meanwhile");
	if (fds[2].revents && hear(s, &s->reader))
		return -1;
	if (fds[3].revents && s->writer.sock >= 0 && hear(s, &s->writer))
		return -1;
	send_progress(s);
	copy_clear(s);
	return 0;
}

static int say_staged(supervision *s)
{
	uint32_t head[2] = { AB_MSG_COPY_STAGED, 1 };
	int r = ab_message_send(AB_HELPER_CONTROL_FD, head, sizeof(head),
				&s->tree_fd, 1, 0);

	return r ? cancelled(s) : 0;
}

/* --- jobs ----------------------------------------------------------------- */

int copy_wait_for_both(supervision *s)
{
	s->reader.wanted = true;
	while (s->reader.wanted || s->writer.wanted) {
		if (listen_once(s))
			return -1;
	}
	return 0;
}

int copy_supervisor_role(supervision *s)
{
	const copy_job *job = s->job;
	const copy_place place = {
		{ job->dest_fd, job->staging_fd, job->record_fd }, true, 0
	};
	const char *stage = "";
	int r = copy_take_role(COPY_SUPERVISOR, &job->plan, &place, &stage);

	return r ? fail(s, AGENTBOX_EWALL, -r, stage,
			"the supervisor cannot give its rights away")
		 : 0;
}

static int run_make(supervision *s)
{
	staging_sweep(s->job->staging_fd);
	staging_sweep(s->job->record_fd);
	if (copy_open_old(s) || start_scout(s) || copy_start_reader(s) ||
	    copy_start_writer(s) || copy_supervisor_role(s))
		return -1;
	return copy_make(s);
}

/*
 * Who takes a name away from a reader has the directory of the records locked
 * meanwhile (lib/peering/places.c), and so has who gives it one: not to be
 * late for him when the host has died that told to publish, and could have
 * been waited for. Held until it is published, or this process ends.
 */
static int take_turn(supervision *s)
{
	int fd = openat(s->job->record_fd, ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fail(s, AGENTBOX_ESYS, errno, "publish",
			    "cannot open the directory of the records");
	while ((r = staging_lock(fd)) == -EWOULDBLOCK) {
		if (listen_once(s))
			return -1;
	}
	if (r) {
		close(fd);
		return fail(s, AGENTBOX_ESYS, -r, "publish",
			    "cannot lock the directory of the records");
	}
	s->turn_fd = fd;
	return ab_fd_poll(s->job->host_pidfd, POLLIN, 0) ? cancelled(s) : 0;
}

int copy_make(supervision *s)
{
	if (copy_wait_for_both(s))
		return -1;
	if (s->read.unchanged)
		return 0;
	if (s->job->plan.flags & AB_COPY_HOLD) {
		/* told to publish, the host waits, and others for it */
		while (copy_has_to_clear(s)) {
			copy_clear(s);
			/* after the last piece there is nothing to wait for */
			if (copy_has_to_clear(s) && listen_once(s))
				return -1;
		}
		if (say_staged(s))
			return -1;
		while (!s->may_publish) {
			if (listen_once(s))
				return -1;
		}
		if (take_turn(s))
			return -1;
	}
	/* the last moment at which the host may give it up */
	if (hear_host(s))
		return -1;
	return copy_publish(s);
}

static int run_explain(supervision *s)
{
	return copy_start_reader(s) || copy_supervisor_role(s) ||
			       copy_wait_for_both(s)
		       ? -1
		       : 0;
}

static int run_verify(supervision *s)
{
	if (copy_open_for_verify(s) ||
	    copy_start(s, &s->reader, as_verifier, s->old_tree_fd, -1) ||
	    copy_supervisor_role(s))
		return -1;
	return copy_wait_for_both(s);
}

/* It sweeps itself, when it has seen what a scrub before it left. */
static int run_scrub(supervision *s, ab_copy_done *done)
{
	if (copy_supervisor_role(s))
		return -1;
	s->report_fd = ab_fd_memfd_sealed("agentbox-report", "", 0);
	return copy_scrub(s, done);
}

/* Where the texts of an ab_copy_done are. */
typedef struct done_text {
	char digest[AB_DIGEST_SIZE];
	char ids[4][AB_COPY_GIT_ID_SIZE];
} done_text;

static void fill_git(const supervision *s, ab_copy_done *done, done_text *text)
{
	const copy_git *git = &s->read.git;
	const ab_record_git *old = &s->job->old.tail.git;
	bool same = s->read.unchanged;

	done->base_left_out = same ? old->base_left_out
				   : s->read.base_left_out;
	if (!git->has_head)
		return;
	ab_hex(same ? old->head : git->head, sizeof(git->head), text->ids[0]);
	ab_hex(git->source_head, sizeof(git->source_head), text->ids[2]);
	if (!git->has_base)
		return;
	ab_hex(same ? old->base : git->base, sizeof(git->base), text->ids[1]);
	ab_hex(git->source_base, sizeof(git->source_base), text->ids[3]);
}

static void fill_done(const supervision *s, ab_copy_done *done,
		      done_text *text)
{
	char *digest = text->digest;
	const ab_copy_plan *p = &s->job->plan;
	const uint8_t *sum = s->wrote.digest;

	done->left_out = s->read.left_out + s->wrote.collisions;
	done->torn = s->read.torn;
	done->raced = s->read.raced;
	done->admitted = s->read.admitted;
	done->digest = "";
	if (p->job == AB_COPY_SCRUB)
		return; /* it counted itself */
	fill_git(s, done, text);
	if (p->job == AB_COPY_EXPLAIN || p->job == AB_COPY_VERIFY) {
		done->files = s->read.files;
		done->directories = s->read.directories;
		done->bytes = s->read.bytes;
		return;
	}
	done->unchanged = s->read.unchanged;
	if (p->job != AB_COPY_PACK)
		done->generation = s->generation + !s->read.unchanged;
	done->swap_ns = s->swap_ns;
	done->files = s->wrote.files;
	done->directories = s->wrote.directories;
	done->bytes = s->wrote.bytes;
	done->copied = s->wrote.copied;
	done->linked = s->wrote.linked;
	if (s->read.unchanged) {
		const ab_record_tail *tail = &s->job->old.tail;

		done->files = tail->files;
		done->directories = tail->directories;
		done->bytes = tail->bytes;
		sum = tail->manifest;
		/* nobody looked at the files of the same commits again */
		if (s->read.git.has_head) {
			done->left_out = tail->left_out;
			done->admitted = tail->admitted;
		}
	}
	memcpy(digest, "sha256:", 7);
	ab_hex(sum, AB_SHA256_SIZE, digest + 7);
	done->digest = digest;
}

static int run(supervision *s, ab_copy_done *done)
{
	switch ((enum ab_copy_job)s->job->plan.job) {
	case AB_COPY_MAKE:
		return run_make(s);
	case AB_COPY_EXPLAIN:
		return run_explain(s);
	case AB_COPY_VERIFY:
		return run_verify(s);
	case AB_COPY_SCRUB:
		return run_scrub(s, done);
	case AB_COPY_PACK:
		return copy_pack(s);
	case AB_COPY_UNPACK:
		return copy_unpack(s);
	}
	return fail(s, AGENTBOX_EUNSUPPORTED, 0, "job", "there is no such job");
}

static uint32_t fds_of(uint32_t job)
{
	switch ((enum ab_copy_job)job) {
	case AB_COPY_MAKE:
		return AB_COPY_FD_SOURCE | AB_COPY_FD_DEST |
		       AB_COPY_FD_STAGING | AB_COPY_FD_RECORD;
	case AB_COPY_EXPLAIN:
		return AB_COPY_FD_SOURCE;
	case AB_COPY_VERIFY:
		return AB_COPY_FD_DEST;
	case AB_COPY_SCRUB:
		return AB_COPY_FD_DEST | AB_COPY_FD_STAGING;
	case AB_COPY_PACK:
		return AB_COPY_FD_SOURCE | AB_COPY_FD_STREAM;
	case AB_COPY_UNPACK:
		return AB_COPY_FD_STREAM | AB_COPY_FD_DEST |
		       AB_COPY_FD_STAGING | AB_COPY_FD_RECORD;
	}
	return 0;
}

/* Known by inode, whatever path or bind mount leads there. */
static void note_own(copy_job *job)
{
	const int fds[] = { job->dest_fd, job->staging_fd, job->record_fd };
	struct stat st;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0 && fstat(fds[i], &st) == 0)
			job->own[i] = (struct copy_own){ st.st_dev, st.st_ino };
}

static void send_end(supervision *s, const ab_copy_done *done)
{
	/* names of the source may stand in it: paths of any bytes */
	const ab_copy_failed m = { .code = s->failure.code,
				   .sys_errno = s->failure.sys_errno,
				   .where = s->failure.where,
				   .message = s->failure.message };
	uint8_t memory[2048 + sizeof(done_text)];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	if (done)
		ab_copy_done_put(&w, done);
	else
		ab_copy_failed_put(&w, s->report_fd >= 0, &m);
	(void)ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len,
			      &s->report_fd, s->report_fd >= 0, 0);
}

int copy_supervise(copy_job *job)
{
	done_text text = { "", { "" } };
	ab_copy_done done = { .digest = text.digest,
			      .git_head = text.ids[0],
			      .git_base = text.ids[1],
			      .source_head = text.ids[2],
			      .source_base = text.ids[3] };
	supervision s = {
		.job = job,
		.reader = { .pidfd = -1, .sock = -1 },
		.writer = { .pidfd = -1, .sock = -1 },
		.scout = { .pidfd = -1, .sock = -1 },
		.begin = copy_begin_output,
		.old_tree_fd = -1,
		.old_record_fd = -1,
		.tree_fd = -1,
		.record_fd = -1,
		.spare_fd = -1,
		.turn_fd = -1,
		.report_fd = -1,
	};
	int r;

	job->supervisor = getpid();
	note_own(job);
	if ((job->plan.fds & fds_of(job->plan.job)) != fds_of(job->plan.job))
		r = fail(&s, AGENTBOX_EINVAL, 0, "fds",
			 "the job lacks a directory");
	else
		r = run(&s, &done);
	if (r)
		copy_give_up(&s);
	copy_stop(&s.reader);
	copy_stop(&s.writer);
	copy_stop(&s.scout);
	if (r) {
		copy_abandon(&s);
		copy_name_limit(&s.failure, &job->plan);
		send_end(&s, NULL);
		return 1;
	}
	fill_done(&s, &done, &text);
	send_end(&s, &done);
	return 0;
}
