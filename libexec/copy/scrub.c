/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot is ended, whoever is at work on it. Its names are taken away
 * first, and whoever had its record is waited for: a refresh finds that it
 * cannot publish, and a first copy may have published meanwhile, so it is
 * looked again until nothing is found. Refuses to call an end what somebody
 * who hangs may still publish, and to touch what is no snapshot. Spec:
 * staging.h, cases 73, 110.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/clock.h"
#include "base/fd.h"
#include "supervise.h"

/* How long a scrub waits for who is at the same snapshot, and how often it
   looks again: more than once or twice only while others make it anew. */
#define WAIT_NS (UINT64_C(2) * 1000000000)
#define POLL_MS 5
#define MOST_ROUNDS 64

typedef struct scrubbing {
	supervision *s;
	const copy_job *job;
	enum staging_empty empty;
	uint64_t *files;
	uint64_t wait_ns; /* of it is left */
	bool found;	  /* anything of the snapshot */
} scrubbing;

/* How a round ended, when it did not fail (-1). */
enum round_end { ROUND_FOUND_NOTHING, ROUND_FOUND_SOMETHING, ROUND_HANGS };

static int fail(scrubbing *g, int r, const char *where, const char *message)
{
	return copy_fail(&g->s->failure, copy_code_of(r), -r, where, message);
}

/* --- what is no snapshot -------------------------------------------------- */

/* What is to be ended by its public name; the host's own trees are ones. */
static bool is_no_snapshot(const copy_job *job)
{
	ab_autofd int tree = -1;

	if (!(job->plan.flags & AB_COPY_ASKED))
		return false;
	tree = copy_open_tree(job);
	return tree != -ENOENT && !copy_has_manifest(tree);
}

/* --- who is at work ------------------------------------------------------- */

/* Records that have no name of their own any more, and the last that had. */
typedef struct ended {
	int fds[2 * STAGING_ENDED + 1];
	int count;
	int error; /* the first that could not be opened: who has it? */
} ended;

static void add_record(const copy_job *job, const char *name, ended *e)
{
	int fd = job->record_fd < 0 ? -1
				    : openat(job->record_fd, name,
					     O_RDONLY | O_NOFOLLOW |
						     O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		e->fds[e->count++] = fd;
	else if (job->record_fd >= 0 && errno != ENOENT && !e->error)
		e->error = -errno;
}

static void add_ended(const copy_job *job, ended *e)
{
	char name[STAGING_NAME];

	for (unsigned i = 0; i < STAGING_ENDED; i++) {
		int r = staging_ended_name(job, i, name);

		if (r == 0)
			add_record(job, name, e);
		else if (r != -ENOENT && !e->error)
			e->error = r;
	}
}

/* 0, -EWOULDBLOCK after the time that is left, or another -errno. */
static int wait_for_lock(scrubbing *g, int fd)
{
	uint64_t begin = ab_clock_boot_ns(), waited = 0;
	int r;

	while ((r = staging_lock(fd)) == -EWOULDBLOCK &&
	       waited < g->wait_ns) {
		(void)ab_fd_poll(-1, 0, POLL_MS);
		waited = ab_clock_boot_ns() - begin;
	}
	g->wait_ns -= waited < g->wait_ns ? waited : g->wait_ns;
	return r;
}

/*
 * Until whoever had these records has ended: a refresh that has published puts
 * the generation before away, and is done. Each is closed before the next, for
 * two may be one file. -EWOULDBLOCK: one hangs, and what it has locked a sweep
 * passes over.
 */
static int wait_for_ended(scrubbing *g, const ended *e)
{
	int first = e->error;

	for (int i = 0; i < e->count; i++) {
		ab_autofd int fd = e->fds[i];
		int r = wait_for_lock(g, fd);

		if (r == 0)
			staging_forget_ended(g->job, fd);
		else if (!first)
			first = r;
	}
	return first;
}

/* --- what has its names --------------------------------------------------- */

/*
 * Nobody finds it by its name any more. The file itself stays until whoever
 * has it locked has ended: the scrub after this one is to wait for him, too.
 * 1: there was none. -EEXIST: so many hang that there is no place for one more,
 * and it stays; another -errno: it cannot be taken away.
 */
static int put_away_record(const copy_job *job)
{
	char place[STAGING_NAME];
	int r = job->record_fd < 0 ? -ENOENT : -EEXIST;

	for (unsigned i = 0; r == -EEXIST && i < STAGING_ENDED; i++) {
		r = staging_ended_name(job, i, place);
		if (r == 0)
			r = copy_rename(job->record_fd, job->plan.record_name,
					job->record_fd, place, RENAME_NEW);
	}
	if (r == -ENOENT)
		return 1;
	if (r == 0 || r == -EEXIST)
		return r;
	if (unlinkat(job->record_fd, job->plan.record_name, 0) == 0)
		return 0;
	return errno == ENOENT ? 1 : -errno;
}

/*
 * Records are looked for before and after the names are taken away: what was
 * put away before this scrub, whose owner may have published since, and what
 * this one put away, which a refresh may have exchanged meanwhile.
 */
static int one_round(scrubbing *g)
{
	const copy_job *job = g->job;
	const char *tree_name = job->plan.dest_name;
	const char *record_name = job->plan.record_name;
	ended e = { .count = 0 };
	int tree, away, others;

	add_ended(job, &e);
	add_record(job, record_name, &e);
	tree = staging_take(job, job->dest_fd, tree_name, g->empty, g->files);
	away = put_away_record(job);
	add_ended(job, &e);
	others = wait_for_ended(g, &e);
	g->found |= tree == 0 || e.count > 0;
	if (tree < 0)
		return fail(g, tree, tree_name,
			    "cannot end all of the snapshot");
	if (away < 0 && away != -EEXIST)
		return fail(g, away, record_name,
			    "cannot take the record's name away");
	if (others == -EWOULDBLOCK)
		return ROUND_HANGS;
	if (others)
		return fail(g, others, record_name,
			    "cannot see whether a job is at work on it");
	return tree == 1 && away == 1 && e.count == 0 ? ROUND_FOUND_NOTHING
						      : ROUND_FOUND_SOMETHING;
}

static int take_names(scrubbing *g)
{
	for (unsigned i = 0; i < MOST_ROUNDS; i++) {
		int r = one_round(g);

		if (r != ROUND_FOUND_SOMETHING)
			return r;
		/* somebody else's that came to the name meanwhile stays */
		if (is_no_snapshot(g->job))
			return ROUND_FOUND_NOTHING;
	}
	return ROUND_HANGS;
}

int copy_scrub(supervision *s, ab_copy_done *done)
{
	copy_job *job = s->job;
	scrubbing g = { .s = s,
			.job = job,
			.empty = job->plan.flags & AB_COPY_UNLINK
					 ? EMPTY_NOTHING
					 : EMPTY_ALL,
			.files = &done->files,
			.wait_ns = WAIT_NS };
	const char *name = job->plan.dest_name;
	char slot[STAGING_NAME];
	int names, left, slot_error, old = 1;

	atomic_store(&job->counters->phase, AB_PHASE_CLEAN);
	if (is_no_snapshot(job))
		return copy_fail(&s->failure, AGENTBOX_ENOTFOUND, 0, name,
				 "what is there is no snapshot, and stays");
	names = take_names(&g);
	/* without a record there is none (-ENOENT) */
	slot_error = staging_old_name(job, slot);
	if (slot_error == 0)
		old = staging_take(job, job->staging_fd, slot, g.empty,
				   g.files);
	else if (slot_error != -ENOENT)
		old = slot_error;
	/* what a refresh was clearing away, alive or not */
	staging_sweep(job->staging_fd);
	if (names < 0)
		return -1;
	if (old < 0)
		return fail(&g, old, name, "cannot end all of the snapshot");
	left = names == ROUND_HANGS ? 0 : staging_end(job, g.empty, g.files);
	if (left)
		return fail(&g, left, name,
			    "cannot end what jobs that were killed have left");
	if (names == ROUND_HANGS)
		return copy_fail(&s->failure, AGENTBOX_EBUSY, 0, name,
				 "a refresh that does not end holds what is "
				 "left");
	return g.found || old == 0
		       ? 0
		       : copy_fail(&s->failure, AGENTBOX_ENOTFOUND, 0, name,
				   "there is no snapshot");
}
