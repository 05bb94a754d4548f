/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The extractor: makes in one private directory what the parser says, so that
 * it can be walked, filtered, scanned and copied as any other tree; only that
 * copy is published. What is not to be kept has a stand-in without content,
 * which the walk meets and reports. It believes nothing: a path is clean,
 * nothing is followed, nothing replaced, and the plan's limits hold. Refuses
 * archives that say two things of one name. Spec: archives.h, DESIGN.md
 * section 8, rows 26-28, 33-35, 40, 41, 43, 48-52.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "archives.h"
#include "base/alloc.h"
#include "base/fd.h"
#include "snapshot/manifest.h"
#include "tree.h"

/* A stand-in of this size says "size"; past it, it could be no file. */
#define STAND_IN_MAX (UINT64_C(1) << 40)

/* A directory's time, which is set when nothing more is made in it. */
typedef struct dir_time {
	size_t path; /* in texts */
	int64_t mtime_ns;
} dir_time;

typedef struct extracting {
	copy_job *job;
	copy_failure failure;
	int root_fd;
	char path[2 * AB_MAX_PATH + 2]; /* and the target of a link */
	size_t len, target; /* where that begins; 0: none */
	/* the directory of the file before */
	char above[AB_MAX_PATH + 1];
	int above_fd; /* -1: none */
	int fd;	      /* of a file that is being made; -1: none */
	uint64_t size, end;
	int64_t mtime_ns;
	dir_time *dirs; /* owned */
	size_t dir_count, dir_room;
	char *texts; /* owned */
	size_t texts_len, texts_room;
	uint64_t entries, bytes;
} extracting;

static int fail(extracting *g, int sys_errno, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_ESYS, sys_errno, g->path,
			 message);
}

static int refuse(extracting *g, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_EPROTO, 0, g->path, message);
}

static int deny(extracting *g, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_EDENIED, 0, g->path, message);
}

static int limit(extracting *g, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_ELIMIT, 0, g->path, message);
}

/* --- paths ---------------------------------------------------------------- */

static bool is_path(const char *p, size_t n)
{
	size_t depth = 1;

	if (!ab_manifest_is_path(p, n) || n > AB_MAX_PATH)
		return false;
	for (size_t i = 0; i < n; i++)
		depth += p[i] == '/';
	return depth <= COPY_MAX_DEPTH + 1;
}

/* Out of the ring: copied first, then judged. */
static int take_path(extracting *g, const ring_record *r, const uint8_t *data)
{
	const char *nul;
	size_t n = r->data_len;

	if (n >= sizeof(g->path))
		return refuse(g, "the parser sent too long a path");
	memcpy(g->path, data, n);
	g->path[n] = 0;
	nul = memchr(g->path, 0, n);
	g->len = nul ? (size_t)(nul - g->path) : n;
	g->target = nul ? g->len + 1 : 0;
	if ((nul != NULL) != (r->kind == ARCHIVE_HARD) ||
	    !is_path(g->path, g->len) ||
	    (nul && !is_path(nul + 1, n - g->target)))
		return refuse(g, "the parser sent no path");
	return 0;
}

static int note_dir(extracting *g, const char *at, size_t n,
		    int64_t mtime_ns)
{
	if (!ab_grow(&g->dirs, &g->dir_room, g->dir_count + 1,
		     sizeof(*g->dirs)) ||
	    !ab_grow(&g->texts, &g->texts_room, g->texts_len + n + 1, 1))
		return fail(g, ENOMEM, "out of memory");
	g->dirs[g->dir_count++] = (dir_time){ g->texts_len, mtime_ns };
	memcpy(g->texts + g->texts_len, at, n);
	g->texts[g->texts_len + n] = 0;
	g->texts_len += n + 1;
	return 0;
}

static int count_name(extracting *g)
{
	return ++g->entries > 2 * copy_most_entries(&g->job->plan)
		       ? limit(g, "max_files: far more names than files may be")
		       : 0;
}

/* One more directory down, made where it is not there. */
static int go_down(extracting *g, int fd, const char *at, size_t begin,
		   size_t end, int64_t mtime_ns)
{
	char name[AB_MAX_NAME + 1];
	int down;

	memcpy(name, at + begin, end - begin);
	name[end - begin] = 0;
	if (mkdirat(fd, name, 0700) == 0) {
		if (count_name(g) || note_dir(g, at, end, mtime_ns))
			return -1;
	} else if (errno != EEXIST) {
		return fail(g, errno, "cannot make the directory");
	}
	down = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (down >= 0)
		return down;
	return errno == ENOTDIR || errno == ELOOP
		       ? deny(g, "the archive has a name both as a file and "
				 "as a directory")
		       : fail(g, errno, "cannot open the directory");
}

/* The directory of n bytes of `at`, made where it is not; borrowed. */
static int open_above(extracting *g, const char *at, size_t n,
		      int64_t mtime_ns)
{
	int fd = g->root_fd;

	if (g->above_fd >= 0 && strlen(g->above) == n &&
	    memcmp(g->above, at, n) == 0)
		return g->above_fd;
	if (n == 0)
		return g->root_fd;
	for (size_t begin = 0, i = 1; i <= n; i++) {
		int down;

		if (i < n && at[i] != '/')
			continue;
		down = go_down(g, fd, at, begin, i, mtime_ns);
		if (fd != g->root_fd)
			close(fd);
		if (down < 0)
			return -1;
		fd = down;
		begin = i + 1;
	}
	if (g->above_fd >= 0)
		close(g->above_fd);
	g->above_fd = fd;
	memcpy(g->above, at, n);
	g->above[n] = 0;
	return fd;
}

/* Where the path lies, and its last name. */
static int find_place(extracting *g, int64_t mtime_ns, const char **name)
{
	const char *slash = memrchr(g->path, '/', g->len);

	*name = slash ? slash + 1 : g->path;
	return open_above(g, g->path, slash ? (size_t)(slash - g->path) : 0,
			  mtime_ns);
}

/* --- entries -------------------------------------------------------------- */

static int put_dir(extracting *g, const ring_record *r)
{
	int fd = open_above(g, g->path, g->len, r->source.mtime_ns);

	if (fd < 0)
		return -1;
	return note_dir(g, g->path, g->len, r->source.mtime_ns);
}

static int twice(extracting *g)
{
	return deny(g, "the archive has a name twice");
}

static int put_file(extracting *g, const ring_record *r)
{
	const ab_copy_plan *plan = &g->job->plan;
	mode_t mode = r->source.flags & AB_RECORD_EXEC ? 0555 : 0444;
	const char *name;
	int dirfd;

	if (r->source.size > plan->max_file_bytes ||
	    r->source.size > plan->max_bytes - g->bytes)
		return limit(g, "max_bytes: more than may be copied");
	g->bytes += r->source.size;
	dirfd = find_place(g, r->source.mtime_ns, &name);
	if (dirfd < 0)
		return -1;
	g->fd = openat(dirfd, name,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       mode);
	if (g->fd < 0)
		return errno == EEXIST ? twice(g)
				       : fail(g, errno, "cannot make the file");
	g->size = r->source.size;
	g->end = 0;
	g->mtime_ns = r->source.mtime_ns;
	return 0;
}

static int put_data(extracting *g, const ring_record *r, const uint8_t *data)
{
	uint64_t at = r->source.size;
	size_t left = r->data_len;

	if (g->fd < 0 || at < g->end || at > g->size || left > g->size - at)
		return refuse(g, "the parser sent data of no file");
	while (left) {
		ssize_t n = pwrite(g->fd, data, left, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(g, errno, "cannot write the file");
		data += n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	g->end = at;
	return 0;
}

static int end_file(extracting *g)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   copy_time(g->mtime_ns) };
	int r = 0;

	if (g->fd < 0)
		return refuse(g, "the parser ended no file");
	/* what is not there is a hole */
	if (g->end < g->size && ftruncate(g->fd, (off_t)g->size))
		r = fail(g, errno, "cannot write the file");
	else if (futimens(g->fd, times))
		r = fail(g, errno, "cannot set the file's time");
	close(g->fd);
	g->fd = -1;
	return r;
}

static int put_hard(extracting *g, const ring_record *r)
{
	char target[AB_MAX_NAME + 1];
	const char *name = g->path + g->target;
	const char *slash = strrchr(name, '/');
	int fd, above, rc;

	snprintf(target, sizeof(target), "%s", slash ? slash + 1 : name);
	fd = open_above(g, name, slash ? (size_t)(slash - name) : 0,
			r->source.mtime_ns);
	/* the next look closes it */
	fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return g->failure.code ? -1 : fail(g, errno, "no descriptor");
	above = find_place(g, r->source.mtime_ns, &name);
	rc = above < 0 ? -1 : linkat(fd, target, above, name, 0);
	if (above >= 0 && rc) {
		rc = errno == EEXIST ? twice(g)
		     : errno == ENOENT || errno == EPERM
			     ? deny(g, "the archive has a hard link to what "
				       "is no file before it")
			     : fail(g, errno, "cannot link the file");
	}
	close(fd);
	return rc;
}

/* Not to be kept: the walk needs its name and kind only. */
static int put_empty(extracting *g, int dirfd, const char *name)
{
	struct stat st;
	int fd = openat(dirfd, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0444);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno != EEXIST)
		return fail(g, errno, "cannot make the file");
	/* said already, and left out both times */
	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			       !S_ISDIR(st.st_mode)
		       ? 0
		       : twice(g);
}

static int put_too_large(extracting *g, int dirfd, const char *name)
{
	uint64_t size = g->job->plan.max_file_bytes + 1;
	int fd, r = 0;

	if (size > STAND_IN_MAX || size == 0)
		return limit(g, "max_file_bytes: larger than a file may be");
	fd = openat(dirfd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0444);
	if (fd < 0)
		return errno == EEXIST ? twice(g)
				       : fail(g, errno, "cannot make the file");
	if (ftruncate(fd, (off_t)size))
		r = fail(g, errno, "cannot make the file");
	close(fd);
	return r;
}

static int put_stand_in(extracting *g, const ring_record *r)
{
	const char *name;
	int dirfd = find_place(g, r->source.mtime_ns, &name), rc;

	if (dirfd < 0)
		return -1;
	if (r->kind == ARCHIVE_LEFT_OUT)
		return put_empty(g, dirfd, name);
	if (r->kind == ARCHIVE_TOO_LARGE)
		return put_too_large(g, dirfd, name);
	/* nobody reads where it leads */
	rc = r->kind == ARCHIVE_SYMLINK ? symlinkat("-", dirfd, name)
					: mknodat(dirfd, name, S_IFIFO, 0);
	if (rc == 0)
		return 0;
	return errno == EEXIST ? twice(g)
			       : fail(g, errno, "cannot stand in for it");
}

static int put_entry(extracting *g, const ring_record *r, const uint8_t *data)
{
	if (g->fd >= 0)
		return refuse(g, "the parser left a file open");
	if (count_name(g) || take_path(g, r, data))
		return -1;
	switch ((enum archive_kind)r->kind) {
	case ARCHIVE_DIR:
		return put_dir(g, r);
	case ARCHIVE_FILE:
		return put_file(g, r);
	case ARCHIVE_HARD:
		return put_hard(g, r);
	default:
		return put_stand_in(g, r);
	}
}

static int put_one(extracting *g, const ring_record *r, const uint8_t *data)
{
	switch ((enum archive_kind)r->kind) {
	case ARCHIVE_DATA:
		return put_data(g, r, data);
	case ARCHIVE_END:
		return end_file(g);
	case ARCHIVE_DIR:
	case ARCHIVE_FILE:
	case ARCHIVE_HARD:
	case ARCHIVE_SYMLINK:
	case ARCHIVE_SPECIAL:
	case ARCHIVE_LEFT_OUT:
	case ARCHIVE_TOO_LARGE:
		return put_entry(g, r, data);
	case ARCHIVE_FINISH:
		break;
	}
	return refuse(g, "the parser sent something else");
}

/* --- the process ---------------------------------------------------------- */

static int set_dir_times(extracting *g)
{
	for (size_t i = 0; i < g->dir_count; i++) {
		const struct timespec times[2] = {
			{ .tv_nsec = UTIME_OMIT },
			copy_time(g->dirs[i].mtime_ns)
		};
		const char *dir = g->texts + g->dirs[i].path;

		if (utimensat(g->root_fd, dir, times, AT_SYMLINK_NOFOLLOW))
			return fail(g, errno, "cannot set a directory's time");
	}
	return 0;
}

static int extract_all(extracting *g, int sock)
{
	static const copy_wrote wrote;
	int r;

	for (;;) {
		const uint8_t *data;
		const char *name;
		ring_record rec;

		if (ring_take(&g->job->ring, &rec, &name, &data))
			return refuse(g, "the ring is broken");
		if (rec.kind == ARCHIVE_FINISH)
			break;
		if (put_one(g, &rec, data))
			return -1;
		ring_release(&g->job->ring, &rec);
	}
	if (g->fd >= 0)
		return refuse(g, "the parser ended in the middle");
	if (set_dir_times(g))
		return -1;
	r = copy_send_word(sock, COPY_WORD_WROTE, &wrote, sizeof(wrote), NULL,
			   0);
	return r ? fail(g, -r, "nobody listens") : 0;
}

void copy_extractor(copy_job *job, int sock, const int fds[2])
{
	const copy_place place = { { fds[0], -1, -1 }, true,
				   job->supervisor };
	extracting *g = ab_new(extracting);
	const char *stage = "memory";
	int r = -ENOMEM;
	copy_failure f;

	ring_leave(&job->other);
	if (g)
		r = copy_take_role(COPY_EXTRACTOR, &job->plan, &place, &stage);
	if (r) {
		(void)copy_fail(&f, AGENTBOX_EWALL, -r, stage,
				"the extractor cannot give its rights away");
		copy_send_failure(sock, &f);
		_exit(1);
	}
	g->job = job;
	g->root_fd = fds[0];
	g->above_fd = g->fd = -1;
	if (extract_all(g, sock)) {
		copy_send_failure(sock, &g->failure);
		_exit(1);
	}
	_exit(0);
}
