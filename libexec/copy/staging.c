/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Staging names, locks and sweeping. Refuses to remove what somebody holds
 * locked. Spec: staging.h, flock(2), case 71.
 */
#include "config.h"

#include "staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "tree.h"

#define PREFIX ".agentbox-"
#define DIGITS 16
#define OWN_DIGITS 8
#define TRIES 8
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int copy_rename(int from, const char *name, int to, const char *as,
		unsigned flags)
{
	return syscall(SYS_renameat2, from, name, to, as, flags) ? -errno : 0;
}

int staging_lock(int fd)
{
	int r;

	do {
		r = flock(fd, LOCK_EX | LOCK_NB);
	} while (r && errno == EINTR);
	return r ? -errno : 0;
}

/* One that every job on this snapshot finds, of several of a kind. */
static int known_name(const copy_job *job, unsigned which, const char *suffix,
		      char name[STAGING_NAME])
{
	char text[AB_MAX_NAME + 96];
	uint8_t sum[AB_SHA256_SIZE];
	char hex[AB_HEX_SIZE(DIGITS / 2)];
	struct stat st;

	if (job->record_fd < 0)
		return -ENOENT;
	if (fstat(job->record_fd, &st))
		return -errno;
	int n = snprintf(text, sizeof(text), "%llu/%llu/%s",
			 (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino, job->plan.record_name);
	/* a record's name has no '/' */
	if (which)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "/%u",
			      which);
	job->hash(text, (size_t)n, sum);
	ab_hex(sum, DIGITS / 2, hex);
	snprintf(name, STAGING_NAME, PREFIX "%s%s", hex, suffix);
	return 0;
}

/* So far a name says whose it is, where it is somebody's. */
static int own_part(const copy_job *job, char own[STAGING_NAME])
{
	int r = known_name(job, 0, "", own);

	if (r == 0)
		own[sizeof(PREFIX) - 1 + OWN_DIGITS] = 0;
	return r;
}

int staging_new_name(const copy_job *job, const char *suffix,
		     char name[STAGING_NAME])
{
	uint8_t bytes[DIGITS / 2];
	char hex[AB_HEX_SIZE(DIGITS / 2)], own[STAGING_NAME] = PREFIX;
	int r = ab_random(bytes, sizeof(bytes));

	if (r)
		return r;
	ab_hex(bytes, sizeof(bytes), hex);
	(void)own_part(job, own);
	snprintf(name, STAGING_NAME, "%s%s%s", own,
		 hex + strlen(own) - (sizeof(PREFIX) - 1), suffix);
	return 0;
}

int staging_old_name(const copy_job *job, char name[STAGING_NAME])
{
	return known_name(job, 0, ".old", name);
}

int staging_ended_name(const copy_job *job, unsigned which,
		       char name[STAGING_NAME])
{
	/* of those that a sweep takes when nobody holds them */
	return known_name(job, which, ".record", name);
}

bool staging_is_named(int fd, int dirfd, const char *name)
{
	struct stat st, named;

	return fstat(fd, &st) == 0 &&
	       fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == named.st_ino && st.st_dev == named.st_dev;
}

/*
 * Ours from the moment it is locked and still has its name: a sweep may have
 * come between.
 */
static bool is_still(int fd, int dirfd, const char *name)
{
	return staging_lock(fd) == 0 && staging_is_named(fd, dirfd, name);
}

int staging_make_dir(const copy_job *job, int dirfd, char name[STAGING_NAME])
{
	for (int i = 0; i < TRIES; i++) {
		int r = staging_new_name(job, ".incomplete", name), fd;

		if (r)
			return r;
		if (mkdirat(dirfd, name, 0700)) {
			if (errno == EEXIST)
				continue;
			return -errno;
		}
		fd = openat(dirfd, name, DIR_FLAGS);
		if (fd >= 0 && is_still(fd, dirfd, name))
			return ab_fd_lift(fd);
		if (fd >= 0)
			close(fd);
	}
	return -EBUSY;
}

int staging_make_file(const copy_job *job, int dirfd, char name[STAGING_NAME])
{
	for (int i = 0; i < TRIES; i++) {
		int r = staging_new_name(job, ".record", name), fd;

		if (r)
			return r;
		fd = openat(dirfd, name,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
		if (fd >= 0 && is_still(fd, dirfd, name))
			return ab_fd_lift(fd);
		if (fd >= 0)
			close(fd);
	}
	return -EBUSY;
}

void staging_forget_ended(const copy_job *job, int record)
{
	char ended[STAGING_NAME];

	for (unsigned i = 0; i < STAGING_ENDED; i++) {
		if (staging_ended_name(job, i, ended) == 0 &&
		    staging_is_named(record, job->record_fd, ended))
			(void)unlinkat(job->record_fd, ended, 0);
	}
}

int staging_take(const copy_job *job, int dirfd, const char *name,
		 enum staging_empty empty, uint64_t *files)
{
	char going[STAGING_NAME];
	int r = staging_new_name(job, ".scrub", going);

	if (r == 0)
		r = copy_rename(dirfd, name, job->staging_fd, going,
				RENAME_NEW);
	if (r == -ENOENT)
		return 1;
	return r ? r : staging_remove(job->staging_fd, going, empty, files);
}

/* --- sweeping ------------------------------------------------------------- */

/* The suffix of a name that a killed job may have left, or NULL. */
static const char *suffix_of(const char *name)
{
	static const char *const known[] = { ".incomplete", ".scrub",
					     ".record" };
	size_t at = sizeof(PREFIX) - 1;

	if (strncmp(name, PREFIX, at) != 0)
		return NULL;
	if (strspn(name + at, "0123456789abcdef") != DIGITS)
		return NULL;
	at += DIGITS;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name + at, known[i]) == 0)
			return known[i];
	}
	return NULL;
}

typedef void visit(int dirfd, const char *name, const char *suffix,
		   void *data);

/* Every such name; where there is no directory, none. Returns 0 or -errno. */
static int visit_all(int dirfd, visit *see, void *data)
{
	uint8_t *raw;
	long n = 0;
	int fd;

	if (dirfd < 0)
		return 0;
	fd = openat(dirfd, ".", DIR_FLAGS);
	if (fd < 0)
		return -errno;
	raw = ab_calloc(RAW_SIZE, 1);
	if (!raw)
		n = -ENOMEM;
	while (raw && (n = read_names(fd, raw)) > 0) {
		for (long at = 0; at < n;) {
			const raw_dirent *d = (const void *)(raw + at);
			const char *suffix = suffix_of(d->name);

			at += d->len;
			if (suffix)
				see(dirfd, d->name, suffix, data);
		}
	}
	free(raw);
	close(fd);
	return (int)n;
}

static bool is_record(const char *suffix)
{
	return strcmp(suffix, ".record") == 0;
}

static int open_left(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
					   O_CLOEXEC | O_NOCTTY);
}

static void sweep_name(int dirfd, const char *name, const char *suffix,
		       void *data)
{
	int fd = open_left(dirfd, name);

	(void)data;
	if (fd < 0)
		return;
	/* names of records are given again: it may be another's by now */
	if (is_still(fd, dirfd, name)) {
		if (is_record(suffix))
			(void)unlinkat(dirfd, name, 0);
		else
			(void)staging_remove(dirfd, name,
					     strcmp(suffix, ".scrub") == 0
						     ? EMPTY_ALL
						     : EMPTY_UNSHARED,
					     NULL);
	}
	close(fd);
}

void staging_sweep(int dirfd)
{
	(void)visit_all(dirfd, sweep_name, NULL);
}

/* --- what one snapshot has left ------------------------------------------- */

typedef struct ending {
	const copy_job *job;
	char own[STAGING_NAME];
	/* somebody makes it for the first time, or cannot be asked */
	bool is_at_work;
	enum staging_empty empty;
	uint64_t *files;
	int error; /* the first */
} ending;

static bool is_own(const ending *e, const char *name)
{
	return strncmp(name, e->own, strlen(e->own)) == 0;
}

static void keep_first(ending *e, int r)
{
	if (!e->error && r != -ENOENT)
		e->error = r;
}

static void look_at_record(int dirfd, const char *name, const char *suffix,
			   void *data)
{
	ending *e = data;
	int fd, r;

	if (!is_record(suffix) || !is_own(e, name))
		return;
	fd = open_left(dirfd, name);
	r = fd < 0 ? -errno : staging_lock(fd);
	if (fd >= 0)
		close(fd);
	if (r && r != -ENOENT)
		e->is_at_work = true;
	if (r != -EWOULDBLOCK)
		keep_first(e, r);
}

/*
 * Who makes a tree has made its record before, and has it locked while it has
 * a name of its own; then it has the snapshot's.
 */
static void look_for_work(ending *e)
{
	const copy_job *job = e->job;
	struct stat st;
	int r = visit_all(job->record_fd, look_at_record, e);

	if (r == 0 && fstatat(job->record_fd, job->plan.record_name, &st,
			      AT_SYMLINK_NOFOLLOW))
		r = -errno;
	if (r != -ENOENT)
		e->is_at_work = true;
	keep_first(e, r);
}

/* Of a tree that is there: a job that begins later has another. */
static void end_tree(int dirfd, const char *name, const char *suffix,
		     void *data)
{
	ending *e = data;
	int r;

	if (is_record(suffix) || !is_own(e, name) || e->is_at_work)
		return;
	look_for_work(e);
	if (e->is_at_work)
		return;
	r = staging_take(e->job, dirfd, name, e->empty, e->files);
	keep_first(e, r == 1 ? 0 : r);
}

int staging_end(const copy_job *job, enum staging_empty empty, uint64_t *files)
{
	ending e = { .job = job, .empty = empty, .files = files };
	int r = own_part(job, e.own);

	/* no record, and so nothing that belongs to it */
	if (r)
		return r == -ENOENT ? 0 : r;
	keep_first(&e, visit_all(job->staging_fd, end_tree, &e));
	return e.error;
}
