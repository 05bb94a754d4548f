/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One file: opened beneath its directory without blocking, judged by what was
 * opened, read at most as long as it was then, scanned and hashed on the
 * bytes that are published, and compared again with what it was. What changes
 * meanwhile is tried three times. Refuses to publish anything but a regular
 * file with the inode that the walk met. Cases 29, 33, 34, 42, 48, 49, 64-67.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "reading.h"

#define TRIES 3
/* A file that changed so shortly before it was read may change once more
   without its times telling: a tick of the kernel's clock, and some. */
#define RACY_NS INT64_C(20000000)

enum outcome { KEPT, LEFT, TORN, FATAL };

/* One try. */
typedef struct attempt {
	reading *g;
	uint32_t index;
	entry *e;
	const char *name;
	void (*enter)(reading *);
	int fd;
	struct stat st;
	ring_record *record; /* NULL outside the ring */
	ab_record_entry source;
	ab_content_finding admitted; /* when source.admitted is not 0 */
} attempt;

static enum outcome leave(attempt *a, enum ab_left_out reason)
{
	/* one that was left out by name says so still */
	if (a->e->reason == AB_KEPT) {
		a->e->reason = (uint8_t)reason;
		a->e->tier = 0;
		a->e->rule = 0;
	}
	a->e->proof = 0;
	return LEFT;
}

static enum outcome fatal(attempt *a, int32_t code, int sys_errno,
			  const char *message)
{
	copy_fail(&a->g->failure, code, sys_errno, a->g->path.text, message);
	return FATAL;
}

static enum outcome open_file(attempt *a, int dirfd)
{
	int flags = O_RDONLY | O_NONBLOCK;
	tree *t = &a->g->tree;
	enum ab_left_out reason;
	int fd = open_beneath(dirfd, a->name,
			      t->owned_by_us ? flags | O_NOATIME : flags);

	if (fd == -EPERM && t->owned_by_us)
		fd = open_beneath(dirfd, a->name, flags);
	a->fd = fd;
	if (fd >= 0)
		return KEPT;
	/* a socket or a device that nobody serves, put there since the walk */
	if (fd == -ENXIO || fd == -ENODEV)
		return leave(a, AB_OUT_RACED);
	reason = reason_of(-fd);
	return reason == AB_OUT_REASONS
		       ? fatal(a, AGENTBOX_ESYS, -fd, "cannot open the file")
		       : leave(a, reason);
}

/* The walk may have gone on: the table lies somewhere else. */
static void look_up(attempt *a)
{
	a->e = &a->g->tree.entries[a->index];
	a->name = entry_name(&a->g->tree, a->e);
}

static bool is_alias(attempt *a)
{
	bool r = is_left_out(&a->g->walk, a->st.st_ino, a->st.st_nlink);

	look_up(a);
	return r;
}

static enum outcome judge_file(attempt *a)
{
	const ab_copy_plan *plan = &a->g->job->plan;
	uint64_t size;

	if (fstat(a->fd, &a->st))
		return fatal(a, AGENTBOX_ESYS, errno, "cannot look at it");
	if (!S_ISREG(a->st.st_mode) || a->st.st_ino != a->e->ino)
		return leave(a, AB_OUT_RACED);
	size = (uint64_t)a->st.st_size;
	if (size > plan->max_file_bytes)
		return leave(a, AB_OUT_SIZE);
	if (a->e->proof && size > AB_FILTER_PROOF_MAX)
		return leave(a, AB_OUT_NAME);
	if (a->st.st_nlink > 1 && a->e->reason == AB_KEPT &&
	    is_alias(a))
		return leave(a, AB_OUT_ALIAS);
	if (size > plan->max_bytes - a->g->bytes)
		return fatal(a, AGENTBOX_ELIMIT, 0,
			     "max_bytes: more than may be copied");
	return KEPT;
}

static void describe(attempt *a)
{
	ab_record_entry *s = &a->source;
	struct timespec now;

	memset(s, 0, sizeof(*s));
	s->ino = a->st.st_ino;
	s->size = (uint64_t)a->st.st_size;
	s->ctime_ns = time_ns(&a->st.st_ctim);
	s->mtime_ns = time_ns(&a->st.st_mtim);
	s->mode = a->st.st_mode;
	if (a->st.st_mode & 0111)
		s->flags |= AB_RECORD_EXEC;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (s->ctime_ns >= time_ns(&now) - RACY_NS)
		s->flags |= AB_RECORD_RACY;
}

/* Up to n bytes; less only at the end of the file; -errno. */
static ssize_t read_up_to(int fd, uint8_t *to, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = read(fd, to + have, n - have);

		if (r == 0)
			break;
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		have += (size_t)r;
	}
	return (ssize_t)have;
}

static bool is_unchanged(attempt *a)
{
	struct stat st;

	return fstat(a->fd, &st) == 0 && st.st_size == a->st.st_size &&
	       time_ns(&st.st_ctim) == a->source.ctime_ns &&
	       time_ns(&st.st_mtim) == a->source.mtime_ns;
}

static enum outcome found(attempt *a)
{
	ab_content_finding f = { 0 };
	tree *t = &a->g->tree;
	entry *e = a->e;

	if (!ab_content_end(a->g->content, &f)) {
		if (ab_content_admitted(a->g->content, &a->admitted))
			copy_set_admitted(&a->source, &a->admitted);
		return KEPT;
	}
	e->reason = AB_OUT_CONTENT;
	e->proof = 0;
	e->tier = (uint8_t)f.tier;
	e->rule = tree_rule(t, f.rule);
	e->count = f.line > UINT32_MAX ? UINT32_MAX : (uint32_t)f.line;
	return LEFT;
}

static void begin_scan(attempt *a)
{
	ab_filter_begin_content(a->g->filter, a->g->content,
				a->g->job->plan.content_level,
				a->g->path.text, a->g->path.len);
}

/* Room in the ring for so much of the file, or the scratch memory. */
static uint8_t *take_room(attempt *a, enum ring_kind kind, size_t n)
{
	ring_record *r;

	if (a->g->pass != PASS_BUILD || a->g->is_pending)
		return a->g->scratch;
	r = ring_reserve(&a->g->job->ring, a->e->name_len, n);
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	if (kind == RING_FILE || kind == RING_BEGIN) {
		r->name_len = a->e->name_len;
		memcpy(ring_name(r), a->name, r->name_len);
	}
	a->record = r;
	return ring_data(r);
}

static void commit(attempt *a, size_t n)
{
	if (!a->record)
		return;
	a->record->data_len = n;
	a->record->source = a->source;
	ring_commit(&a->g->job->ring, a->record);
	a->record = NULL;
}

void hash_owed(void *data)
{
	reading *g = data;

	if (!ring_taker_waits(&g->job->ring)) {
		ab_sha256_many(g->job->hash, g->owed, g->owed_count);
		for (size_t i = 0; i < g->owed_count; i++)
			g->owed_to[i]->source.flags |= AB_RECORD_HASHED;
	}
	g->owed_count = 0;
}

/* A whole file in the ring: hashed there, with those beside it, by whoever has
   the time; ring_hash() is the taker's part. */
static void commit_whole(attempt *a, size_t n)
{
	reading *g = a->g;

	if (a->record && !(g->job->plan.flags & AB_COPY_NO_HASHES)) {
		if (g->owed_count == OWED_MAX)
			hash_owed(g);
		g->owed_to[g->owed_count] = a->record;
		g->owed[g->owed_count++] =
			(ab_sha256_job){ ring_data(a->record), n,
					 a->record->source.sha256 };
	}
	commit(a, n);
}

/* The end is where less is had than asked for, and the size says so too. */
static ssize_t read_whole(int fd, uint8_t *to, size_t size)
{
	ssize_t n = read(fd, to, size + 1), more;

	if (n == (ssize_t)size)
		return n;
	if (n < 0 && errno != EINTR)
		return -errno;
	if (n < 0)
		n = 0;
	more = read_up_to(fd, to + n, size + 1 - (size_t)n);
	return more < 0 ? more : n + more;
}

static enum outcome read_small(attempt *a)
{
	size_t size = (size_t)a->st.st_size;
	uint8_t *p = take_room(a, RING_FILE, size + 1);
	ssize_t n = read_whole(a->fd, p, size);
	enum outcome r;

	if (n < 0)
		return fatal(a, AGENTBOX_ESYS, (int)-n, "cannot read the file");
	if ((size_t)n != size || !is_unchanged(a))
		return TORN;
	if (a->e->proof && !ab_filter_proves(a->e->proof, p, size))
		return leave(a, AB_OUT_NAME);
	begin_scan(a);
	(void)ab_content_feed(a->g->content, p, size);
	r = found(a);
	if (r != KEPT)
		return r;
	if (a->g->pass == PASS_BUILD && a->g->is_pending) {
		a->enter(a->g);
		memcpy(take_room(a, RING_FILE, size), p, size);
	}
	commit_whole(a, size);
	return KEPT;
}

static void drop(attempt *a)
{
	(void)take_room(a, RING_DROP, 0);
	commit(a, 0);
}

static enum outcome read_pieces(attempt *a, ab_sha256_stream *sum)
{
	uint64_t left = (uint64_t)a->st.st_size;
	enum ring_kind kind = RING_BEGIN;
	uint8_t more;

	begin_scan(a);
	while (left) {
		size_t want = left < RING_DATA_MAX ? (size_t)left
						   : RING_DATA_MAX;
		uint8_t *p = take_room(a, kind, want);
		ssize_t n = read_up_to(a->fd, p, want);

		if (n < 0)
			return fatal(a, AGENTBOX_ESYS, (int)-n,
				     "cannot read the file");
		if ((size_t)n != want)
			return TORN;
		if (ab_content_feed(a->g->content, p, want))
			break;
		ab_sha256_add(sum, p, want);
		commit(a, want);
		kind = RING_DATA;
		left -= want;
	}
	if (found(a) != KEPT)
		return LEFT;
	return read_up_to(a->fd, &more, 1) == 0 && is_unchanged(a) ? KEPT
								   : TORN;
}

static enum outcome read_large(attempt *a)
{
	ab_sha256_stream sum;
	enum outcome r;

	if (a->g->pass == PASS_BUILD)
		a->enter(a->g);
	ab_sha256_begin(&sum, a->g->job->hash);
	r = read_pieces(a, &sum);
	a->record = NULL;
	if (r != KEPT) {
		drop(a);
		return r;
	}
	if (!(a->g->job->plan.flags & AB_COPY_NO_HASHES)) {
		ab_sha256_end(&sum, a->source.sha256);
		a->source.flags |= AB_RECORD_HASHED;
	}
	(void)take_room(a, RING_END, 0);
	commit(a, 0);
	return KEPT;
}

static enum outcome try_file(attempt *a, int dirfd)
{
	enum outcome r = open_file(a, dirfd);

	if (r != KEPT)
		return r;
	r = judge_file(a);
	if (r == KEPT) {
		describe(a);
		r = a->st.st_size <= (off_t)RING_DATA_MAX - 1 ? read_small(a)
							     : read_large(a);
	}
	close(a->fd);
	return r;
}

/* What the report and the next generation say of it. */
static void note_admitted(attempt *a)
{
	entry *e = a->e;

	e->flags = (uint8_t)(e->flags & ~ENTRY_ADMITTED);
	if (!a->source.admitted)
		return;
	e->flags |= ENTRY_ADMITTED;
	e->tier = (uint8_t)a->admitted.tier;
	e->rule = tree_rule(&a->g->tree, a->admitted.rule);
	e->count = a->source.admitted_line;
}

int read_file(reading *g, int dirfd, uint32_t index, void (*enter)(reading *))
{
	attempt a = { .g = g, .index = index, .enter = enter };
	enum outcome r = TORN;

	look_up(&a);
	for (int i = 0; r == TORN && i < TRIES; i++) {
		a.record = NULL;
		r = try_file(&a, dirfd);
	}
	if (r == TORN)
		r = leave(&a, AB_OUT_TORN);
	if (r == FATAL)
		return -1;
	if (r != KEPT)
		return 0;
	a.e->reason = AB_KEPT;
	note_admitted(&a);
	g->finds_new = true;
	g->bytes += (uint64_t)a.st.st_size;
	g->counts.copied++;
	g->counts.files++;
	atomic_fetch_add(&g->job->counters->files, 1);
	atomic_store(&g->job->counters->bytes, g->bytes);
	return 0;
}

bool is_same_content(reading *g, const char *at, const ab_record_entry *e)
{
	ab_autofd int fd = open_beneath(g->walk.root_fd, at,
					O_RDONLY | O_NONBLOCK);
	uint8_t sum[AB_SHA256_SIZE];
	ab_sha256_stream s;
	struct stat st;
	ssize_t n;

	if (fd < 0 || !(e->flags & AB_RECORD_HASHED) || fstat(fd, &st) ||
	    st.st_ino != e->ino || time_ns(&st.st_ctim) != e->ctime_ns)
		return false;
	ab_sha256_begin(&s, g->job->hash);
	do {
		n = read_up_to(fd, g->scratch, RING_DATA_MAX);
		if (n > 0)
			ab_sha256_add(&s, g->scratch, (size_t)n);
	} while (n == (ssize_t)RING_DATA_MAX);
	ab_sha256_end(&s, sum);
	return n >= 0 && memcmp(sum, e->sha256, sizeof(sum)) == 0;
}
