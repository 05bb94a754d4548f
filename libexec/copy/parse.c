/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser: an archive in, entries with clean paths out into the ring. It
 * holds the stream, the ring and a nameless file, and can open nothing: who
 * breaks it through a format's reader has gained what he had, the say over
 * what is in the archive. Everything it says is judged again, by the
 * extractor and then as a tree.
 *
 * What its name leaves out for certain is not sent, only that it was there.
 * Refuses archives whose names are no names below a root. Spec: archives.h,
 * DESIGN.md section 8.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "archives.h"
#include "base/alloc.h"
#include "base/fd.h"
#include "snapshot/filter.h"

typedef struct parsing {
	copy_job *job;
	copy_failure failure;
	archive_in *in;
	ab_filter *filter; /* owned */
	char path[AB_MAX_PATH + 1], target[AB_MAX_PATH + 1];
	size_t path_len;
	/* a directory that was judged: its files are not certain to go */
	char known[AB_MAX_PATH + 1];
	size_t known_len;
	bool has_known, is_passage;
	/* the directory that was left out last */
	char gone[AB_MAX_PATH + 1];
	size_t gone_len;
	uint64_t entries, bytes;
} parsing;

static int fail(parsing *g, int32_t code, const char *message)
{
	return copy_fail(&g->failure, code, 0, g->path, message);
}

/* --- names ---------------------------------------------------------------- */

/* 1: the root, of which nothing is kept. */
static int take_path(parsing *g, const char *raw, char *out, size_t *n)
{
	switch (archive_path(raw, out, n)) {
	case ARCHIVE_PATH_GOOD:
		return 0;
	case ARCHIVE_PATH_ROOT:
		return 1;
	case ARCHIVE_PATH_LONG:
		return copy_fail(&g->failure, AGENTBOX_ELIMIT, 0, raw,
				 "a name longer than one may be");
	case ARCHIVE_PATH_BAD:
		break;
	}
	return copy_fail(&g->failure, AGENTBOX_EDENIED, 0, raw,
			 "the archive has a name that is not below its root");
}

static bool is_out(parsing *g, const char *path, size_t n, bool is_dir,
		   bool *is_passage)
{
	ab_filter_verdict v;

	ab_filter_name(g->filter, NULL, path, n, is_dir, NULL, &v);
	*is_passage = v.is_passage;
	return v.reason != AB_KEPT && !v.is_passage && !v.proof;
}

/*
 * How much of the path is left out for certain: its first directory that is,
 * or all of it; 0: nothing. Below a passage nothing is certain.
 */
static size_t left_out(parsing *g, const char *path, size_t n, bool is_dir)
{
	const char *slash = memrchr(path, '/', n);
	size_t above = slash ? (size_t)(slash - path) : 0;
	bool is_passage = false;

	if (g->has_known && g->known_len == above &&
	    memcmp(g->known, path, above) == 0) {
		is_passage = g->is_passage;
	} else {
		for (size_t i = 1; i <= above && !is_passage; i++) {
			if ((i == above || path[i] == '/') &&
			    is_out(g, path, i, true, &is_passage))
				return i;
		}
		memcpy(g->known, path, above);
		g->known_len = above;
		g->is_passage = is_passage;
		g->has_known = true;
	}
	return !is_passage && is_out(g, path, n, is_dir, &is_passage) ? n : 0;
}

/* --- the ring ------------------------------------------------------------- */

static ring_record *reserve(parsing *g, enum archive_kind kind, size_t n)
{
	ring_record *r = ring_reserve(&g->job->ring, 0, n);

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->data_len = n;
	return r;
}

/* A path, and after a NUL the one it is a link to. */
static void put(parsing *g, enum archive_kind kind, const char *path, size_t n,
		const char *target, const archive_in_entry *e)
{
	size_t target_len = target ? strlen(target) + 1 : 0;
	ring_record *r = reserve(g, kind, n + target_len);

	memcpy(ring_data(r), path, n);
	if (target_len) {
		ring_data(r)[n] = 0;
		memcpy(ring_data(r) + n + 1, target, target_len - 1);
	}
	r->source.size = e->size;
	r->source.mtime_ns = e->mtime_ns;
	if (e->is_exec)
		r->source.flags = AB_RECORD_EXEC;
	ring_commit(&g->job->ring, r);
}

static void put_data(parsing *g, const uint8_t *p, size_t n, uint64_t offset)
{
	while (n) {
		size_t piece = n < RING_DATA_MAX ? n : RING_DATA_MAX;
		ring_record *r = reserve(g, ARCHIVE_DATA, piece);

		memcpy(ring_data(r), p, piece);
		r->source.size = offset;
		ring_commit(&g->job->ring, r);
		p += piece;
		n -= piece;
		offset += piece;
	}
}

static void put_plain(parsing *g, enum archive_kind kind)
{
	ring_commit(&g->job->ring, reserve(g, kind, 0));
}

/* --- entries -------------------------------------------------------------- */

/* To the end of the entry's data, sent on or not. */
static int read_data(parsing *g, uint64_t size, bool send)
{
	uint64_t offset = 0;
	const void *p;
	size_t n = 0;
	int r;

	while ((r = archive_in_data(g->in, &p, &n, &offset)) == 1) {
		if (!send)
			continue;
		if (offset > size || n > size - offset)
			return fail(g, AGENTBOX_EPARSE,
				    "the archive has more of a file than it "
				    "said");
		put_data(g, p, n, offset);
	}
	return r;
}

static int put_file(parsing *g, const archive_in_entry *e)
{
	const ab_copy_plan *plan = &g->job->plan;

	if (e->size > plan->max_file_bytes) {
		put(g, ARCHIVE_TOO_LARGE, g->path, g->path_len, NULL, e);
		return read_data(g, 0, false);
	}
	if (e->size > plan->max_bytes - g->bytes)
		return fail(g, AGENTBOX_ELIMIT,
			    "max_bytes: more than may be copied");
	g->bytes += e->size;
	put(g, ARCHIVE_FILE, g->path, g->path_len, NULL, e);
	if (read_data(g, e->size, true))
		return -1;
	put_plain(g, ARCHIVE_END);
	atomic_fetch_add(&g->job->counters->files, 1);
	atomic_store(&g->job->counters->bytes, g->bytes);
	return 0;
}

/* A link to what is not sent is one to what was left out. */
static int put_hard_link(parsing *g, const archive_in_entry *e)
{
	size_t n = 0, out;
	int r = take_path(g, e->target, g->target, &n);

	if (r)
		return r < 0 ? r
			     : fail(g, AGENTBOX_EDENIED,
				    "the archive has a hard link to a "
				    "directory");
	out = left_out(g, g->target, n, false);
	if (out)
		put(g, ARCHIVE_LEFT_OUT, g->target, n, NULL, e);
	put(g, ARCHIVE_HARD, g->path, g->path_len, g->target, e);
	return 0;
}

static int put_entry(parsing *g, const archive_in_entry *e)
{
	switch (e->kind) {
	case ARCHIVE_FILE:
		return put_file(g, e);
	case ARCHIVE_HARD:
		return put_hard_link(g, e);
	default:
		put(g, e->kind, g->path, g->path_len, NULL, e);
		return 0;
	}
}

/*
 * The part of the path that is as deep as the walk looks before it leaves
 * out what is below; all of it when it is not deeper.
 */
static size_t shallow(const parsing *g)
{
	uint32_t most = g->job->plan.max_depth, depth = 0;

	if (most > COPY_MAX_DEPTH)
		most = COPY_MAX_DEPTH;
	for (size_t i = 0; i < g->path_len; i++) {
		if (g->path[i] == '/' && ++depth > most)
			return i;
	}
	return g->path_len;
}

/* Of a directory that is left out once is enough. */
static void put_left_out(parsing *g, size_t n, const archive_in_entry *e)
{
	if (n == g->path_len && e->kind != ARCHIVE_DIR) {
		put(g, ARCHIVE_LEFT_OUT, g->path, n, NULL, e);
		return;
	}
	if (g->gone_len == n && memcmp(g->gone, g->path, n) == 0)
		return;
	memcpy(g->gone, g->path, n);
	g->gone_len = n;
	put(g, ARCHIVE_DIR, g->path, n, NULL, e);
}

static int take_entry(parsing *g, const archive_in_entry *e)
{
	int r = take_path(g, e->path, g->path, &g->path_len);
	size_t n;

	if (r)
		return r < 0 ? r : read_data(g, 0, false);
	/* another name of a file is made also where it is left out: the file
	   is then left out under every name */
	n = e->kind == ARCHIVE_HARD ? 0
				    : left_out(g, g->path, g->path_len,
					       e->kind == ARCHIVE_DIR);
	if (n)
		put_left_out(g, n, e);
	else if ((n = shallow(g)) < g->path_len)
		put_left_out(g, n, e);
	else if (put_entry(g, e))
		return -1;
	return read_data(g, 0, false);
}

static int parse_all(parsing *g)
{
	const uint64_t most = copy_most_entries(&g->job->plan);
	archive_in_entry e;
	int r;

	atomic_store(&g->job->counters->phase, AB_PHASE_WALK);
	while ((r = archive_in_next(g->in, &e)) == 1) {
		if (++g->entries > most)
			return fail(g, AGENTBOX_ELIMIT,
				    "max_files: far more names than files "
				    "may be");
		if (take_entry(g, &e))
			return -1;
	}
	if (r)
		return -1;
	put_plain(g, ARCHIVE_FINISH);
	ring_end(&g->job->ring);
	return 0;
}

/* --- the process ---------------------------------------------------------- */

static ssize_t read_stream(void *data, void *p, size_t n)
{
	const int *fd = data;

	for (;;) {
		ssize_t got = read(*fd, p, n);

		if (got >= 0)
			return got;
		if (errno == EAGAIN)
			(void)ab_fd_poll(*fd, POLLIN, -1);
		else if (errno != EINTR)
			return -errno;
	}
}

static int make_filter(parsing *g)
{
	agentbox_error *err = NULL;
	ab_reader r;
	int32_t rc;

	ab_reader_init(&r, g->job->plan.filter, g->job->plan.filter_len);
	rc = ab_filter_get(&r, &g->filter, &err);
	return rc < 0 ? copy_fail(&g->failure, rc, 0,
				  agentbox_error_get_where(err),
				  agentbox_error_get_message(err))
		      : 0;
}

static int parse(parsing *g, const int fds[2], int sock)
{
	int fd = fds[0], r;
	const archive_source source = { .read = read_stream,
					.data = &fd,
					.spool_fd = fds[1],
					.max_spool = g->job->plan.max_bytes };

	if (make_filter(g))
		return -1;
	g->in = archive_in_new(&source, &g->failure);
	if (!g->in || parse_all(g))
		return -1;
	r = copy_send_word(sock, COPY_WORD_PARSED, NULL, 0, NULL, 0);
	return r ? fail(g, AGENTBOX_ESYS, "nobody listens") : 0;
}

void copy_parser(copy_job *job, int sock, const int fds[2])
{
	const copy_place nowhere = { { -1, -1, -1 }, false,
				     job->supervisor };
	parsing *g = ab_new(parsing);
	const char *stage = "locale";
	int r = g ? archive_prepare() : -ENOMEM;
	copy_failure f;

	ring_leave(&job->other);
	if (r == 0)
		r = copy_take_role(COPY_PARSER, &job->plan, &nowhere, &stage);
	if (r) {
		(void)copy_fail(&f, AGENTBOX_EWALL, -r, stage,
				"the parser cannot give its rights away");
		copy_send_failure(sock, &f);
		_exit(1);
	}
	g->job = job;
	if (parse(g, fds, sock)) {
		copy_send_failure(sock, &g->failure);
		_exit(1);
	}
	_exit(0);
}
