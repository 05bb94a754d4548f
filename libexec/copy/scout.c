/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks at every file that the record names: is it what it was, by inode,
 * ctime, size, mtime and mode? The scout begins when the reader begins to
 * walk; when the reader has walked, it takes what is left from the other
 * side of the same list. Blocks of entries are claimed, so that each is done
 * once; what a scout that was killed had claimed, the reader does again.
 *
 * A look opens nothing but directories, beneath the source's root without
 * links or mounts, and decides nothing: the reader's walk says what is kept.
 * Spec: job.h, cases 30, 66.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "tree.h"

#define BLOCK 256u
/* Directories held open above the one that is looked at. */
#define HELD_MAX (COPY_MAX_DEPTH + 1)

typedef struct held {
	int fd;
	size_t len; /* of its path, with the slash */
} held;

typedef struct looking {
	copy_job *job;
	held held[HELD_MAX];
	size_t count;
	char at[AB_MAX_PATH + 2]; /* the last directory's path */
} looking;

static size_t blocks_of(const copy_job *job)
{
	return (size_t)(job->old.tail.entries / BLOCK) + 1;
}

int scouting_make(copy_job *job)
{
	scouting *s = &job->scouting;
	size_t blocks = blocks_of(job);
	uint8_t *p = mmap(NULL, (size_t)job->old.tail.entries + 2 * blocks,
			  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	int ends[2];

	if (p == MAP_FAILED || pipe2(ends, O_CLOEXEC))
		return -errno;
	s->claimed = (_Atomic uint8_t *)p;
	s->finished = s->claimed + blocks;
	s->looks = p + 2 * blocks;
	s->end_fd = ab_fd_lift(ends[0]);
	s->hold_fd = ab_fd_lift(ends[1]);
	return s->end_fd < 0 || s->hold_fd < 0 ? -EMFILE : 0;
}

/* The directory of these bytes, which end in a slash; -1: not there. */
static int open_parent(looking *l, const char *dir, size_t n)
{
	size_t from;
	int fd;

	while (l->count && (l->held[l->count - 1].len > n ||
			    memcmp(l->at, dir,
				   l->held[l->count - 1].len) != 0))
		close(l->held[--l->count].fd);
	from = l->count ? l->held[l->count - 1].len : 0;
	fd = l->count ? l->held[l->count - 1].fd : l->job->source_fd;
	if (from == n)
		return fd;
	if (l->count == HELD_MAX)
		return -1;
	memcpy(l->at + from, dir + from, n - from);
	l->at[n] = 0;
	fd = open_beneath(fd, l->at + from, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return -1;
	l->held[l->count++] = (held){ fd, n };
	return fd;
}

static enum look look_at(looking *l, const ab_record_entry *was,
			 const char *file)
{
	const char *slash = memrchr(file, '/', was->path_len);
	size_t n = slash ? (size_t)(slash - file) + 1 : 0;
	char name[AB_MAX_NAME + 1];
	size_t name_len = was->path_len - n;
	struct stat st;
	int dirfd;

	if (!name_len || name_len > AB_MAX_NAME)
		return LOOK_OTHER; /* a directory: the walk compares it */
	dirfd = open_parent(l, file, n);
	memcpy(name, file + n, name_len);
	name[name_len] = 0;
	if (dirfd < 0 ||
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) ||
	    !S_ISREG(st.st_mode) || st.st_ino != was->ino ||
	    (uint64_t)st.st_size != was->size || st.st_mode != was->mode ||
	    time_ns(&st.st_ctim) != was->ctime_ns ||
	    time_ns(&st.st_mtim) != was->mtime_ns)
		return LOOK_OTHER;
	return st.st_nlink > 1 ? LOOK_LINKED : LOOK_SAME;
}

/* Every block that nobody has claimed; `again`: or not finished. */
static void look_at_blocks(copy_job *job, bool again)
{
	scouting *s = &job->scouting;
	looking l = { .job = job };
	ab_record_cursor at = { 0 };
	ab_record_entry was;
	const char *file;
	bool mine = false;
	size_t block = 0;

	for (uint64_t i = 0; ab_record_next(&job->old, &at, &was, &file) == 1;
	     i++) {
		if (i == job->old.tail.entries)
			break;
		if (i % BLOCK == 0) {
			if (mine)
				atomic_store(&s->finished[block], 1);
			block = (size_t)(i / BLOCK);
			mine = !atomic_exchange(&s->claimed[block], 1) ||
			       (again && !atomic_load(&s->finished[block]));
		}
		if (mine)
			s->looks[i] = (uint8_t)look_at(&l, &was, file);
	}
	if (mine)
		atomic_store(&s->finished[block], 1);
	while (l.count)
		close(l.held[--l.count].fd);
}

void scouting_finish(copy_job *job)
{
	char byte;

	look_at_blocks(job, false);
	/* nothing is ever written: it ends when the scout has */
	while (read(job->scouting.end_fd, &byte, 1) < 0 && errno == EINTR)
		;
	look_at_blocks(job, true);
}

void copy_scout(copy_job *job)
{
	const copy_place place = { { job->source_fd, -1, -1 }, false,
				   job->supervisor };
	const char *stage;

	/* without it the reader does all of it */
	if (copy_take_role(COPY_READER, &job->plan, &place, &stage) == 0)
		look_at_blocks(job, false);
	_exit(0);
}
