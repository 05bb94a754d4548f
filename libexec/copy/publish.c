/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a staged tree to a published one. The record first, then the tree, each
 * by one rename: a record says which inode it describes, so one that does not
 * fit the tree beside it, because of a crash between the two, is seen and not
 * used. Whoever holds the record's lock is the only one who publishes; a scrub
 * takes the names away and wins. Spec: job.h, cases 39, 70-73, 110.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "base/clock.h"
#include "base/fd.h"
#include "build-id.h"
#include "snapshot/manifest.h"
#include "supervise.h"

#define RECORD_MAX ((size_t)8 << 30)

static int fail(supervision *s, int32_t code, int sys_errno, const char *where,
		const char *message)
{
	return copy_fail(&s->failure, code, sys_errno, where, message);
}

int32_t copy_code_of(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS ? AGENTBOX_EACCES
							  : AGENTBOX_ESYS;
}

/* --- what is there -------------------------------------------------------- */

/* The file of this name, locked, and still of this name; -errno. */
static int open_locked(int dirfd, const char *name)
{
	for (;;) {
		int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW |
						     O_NONBLOCK | O_CLOEXEC);
		int r;

		if (fd < 0)
			return -errno;
		r = staging_lock(fd);
		if (r == 0 && staging_is_named(fd, dirfd, name))
			return ab_fd_lift(fd);
		close(fd);
		if (r)
			return r;
	}
}

int copy_open_tree(const copy_job *job)
{
	int fd = openat(job->dest_fd, job->plan.dest_name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : ab_fd_lift(fd);
}

/* The options that decide what is in a tree, and the rules by the build. */
static void digest_options(copy_job *job)
{
	const ab_copy_plan *p = &job->plan;
	uint64_t numbers[3] = { p->max_file_bytes,
				(uint64_t)p->max_depth << 32 |
					p->content_level,
				p->flags & AB_COPY_NO_HASHES };
	ab_sha256_stream sum;

	ab_sha256_begin(&sum, job->hash);
	ab_sha256_add(&sum, AB_BUILD_ID, sizeof(AB_BUILD_ID));
	ab_sha256_add(&sum, numbers, sizeof(numbers));
	ab_sha256_add(&sum, &p->git_mode, sizeof(p->git_mode));
	ab_sha256_add(&sum, p->git_base, strlen(p->git_base) + 1);
	ab_sha256_add(&sum, p->git_repository, strlen(p->git_repository) + 1);
	ab_sha256_add(&sum, p->git_head, strlen(p->git_head) + 1);
	ab_sha256_add(&sum, &p->repository_dev, sizeof(p->repository_dev));
	ab_sha256_add(&sum, &p->repository_ino, sizeof(p->repository_ino));
	ab_sha256_add(&sum, p->filter, p->filter_len);
	ab_sha256_end(&sum, job->options);
}

static void read_boot(uint8_t boot[AB_RECORD_BOOT_SIZE])
{
	/* without it no two boots are the same */
	(void)ab_random(boot, AB_RECORD_BOOT_SIZE);
	ab_autofd int fd = open("/proc/sys/kernel/random/boot_id",
				O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n <= 0)
		return;
	memset(boot, 0, AB_RECORD_BOOT_SIZE);
	for (ssize_t i = 0; i < n; i++)
		boot[i % AB_RECORD_BOOT_SIZE] =
			(uint8_t)(boot[i % AB_RECORD_BOOT_SIZE] * 31 +
				  (uint8_t)text[i]);
}

/*
 * Does the record tell of this source, this tree, these options? One that
 * somebody else could have written tells nothing.
 */
static bool is_usable(const supervision *s)
{
	const copy_job *job = s->job;
	const ab_record *old = &job->old;
	struct stat record, source, tree;

	return fstat(s->old_record_fd, &record) == 0 &&
	       record.st_uid == geteuid() &&
	       !(record.st_mode & (S_IWGRP | S_IWOTH)) &&
	       fstat(job->source_fd, &source) == 0 &&
	       fstat(s->old_tree_fd, &tree) == 0 &&
	       old->head.source_dev == source.st_dev &&
	       old->head.source_ino == source.st_ino &&
	       old->tail.tree_dev == tree.st_dev &&
	       old->tail.tree_ino == tree.st_ino &&
	       memcmp(old->head.boot, s->boot, sizeof(s->boot)) == 0 &&
	       memcmp(old->head.options, job->options,
		      sizeof(job->options)) == 0;
}

/* A record that is not whole is no record; it is replaced all the same. */
static bool load_record(supervision *s, int fd)
{
	copy_job *job = s->job;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > RECORD_MAX)
		return false;
	job->old_size = (size_t)st.st_size;
	job->old_map = mmap(NULL, job->old_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (job->old_map == MAP_FAILED ||
	    ab_record_open(&job->old, job->old_map, job->old_size, job->hash))
		return false;
	s->generation = job->old.head.generation;
	return true;
}

int copy_open_old(supervision *s)
{
	copy_job *job = s->job;
	bool replace = job->plan.flags & AB_COPY_REPLACE;

	digest_options(job);
	read_boot(s->boot);
	s->old_tree_fd = copy_open_tree(job);
	if (replace && s->old_tree_fd < 0)
		return fail(s, s->old_tree_fd == -ENOENT ? AGENTBOX_ENOTFOUND
							 : AGENTBOX_ESYS,
			    -s->old_tree_fd, job->plan.dest_name,
			    "there is no generation to refresh");
	if (!replace && s->old_tree_fd != -ENOENT)
		return fail(s, AGENTBOX_EEXIST, 0, job->plan.dest_name,
			    "the destination is there; choose a new name, or "
			    "refresh it where it is a snapshot");
	s->old_record_fd = open_locked(job->record_fd, job->plan.record_name);
	if (s->old_record_fd == -EWOULDBLOCK)
		return fail(s, AGENTBOX_EBUSY, 0, job->plan.dest_name,
			    "another job is at work on it");
	if (s->old_record_fd < 0 && s->old_record_fd != -ENOENT)
		return fail(s, AGENTBOX_ESYS, -s->old_record_fd,
			    job->plan.record_name, "cannot open the record");
	/* so that no sweep takes it once it lies in the staging directory; who
	   reads it may have locked it. Who works on it has the record, or, of
	   several where there is none, is the first to publish one. */
	if (replace)
		(void)staging_lock(s->old_tree_fd);
	if (s->old_record_fd >= 0 && load_record(s, s->old_record_fd))
		job->has_old = replace && is_usable(s);
	return 0;
}

bool copy_has_manifest(int tree)
{
	ab_autofd int dir = tree < 0 ? -1
				     : openat(tree, AB_MANIFEST_DIR,
					      O_PATH | O_DIRECTORY |
						      O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	return dir >= 0 &&
	       fstatat(dir, AB_MANIFEST_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

int copy_open_for_verify(supervision *s)
{
	copy_job *job = s->job;
	ab_autofd int fd = -1;
	int r;

	s->old_tree_fd = copy_open_tree(job);
	if (s->old_tree_fd < 0 &&
	    (s->old_tree_fd != -ENOTDIR || job->record_fd < 0))
		return fail(s, s->old_tree_fd == -ENOENT
				       ? AGENTBOX_ENOTFOUND
				       : copy_code_of(s->old_tree_fd),
			    -s->old_tree_fd, job->plan.dest_name,
			    "cannot open the snapshot");
	if (job->record_fd < 0)
		return 0;
	fd = openat(job->record_fd, job->plan.record_name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	r = fd < 0 ? errno : 0;
	/* with a record or a manifest it was one, and something is wrong */
	if (r == ENOENT && !copy_has_manifest(s->old_tree_fd))
		return fail(s, AGENTBOX_ENOTFOUND, 0, job->plan.dest_name,
			    "what is there is no snapshot");
	if (s->old_tree_fd < 0)
		return fail(s, AGENTBOX_ETAMPERED, 0, job->plan.dest_name,
			    "it is no directory any more");
	/* another user's, who alone may read it */
	if (r && copy_code_of(-r) == AGENTBOX_EACCES)
		return fail(s, AGENTBOX_EACCES, r, job->plan.record_name,
			    "the record may not be read");
	if (fd < 0 || !load_record(s, fd))
		return fail(s, AGENTBOX_ETAMPERED, r, job->plan.record_name,
			    "the record is not whole");
	job->has_old = true;
	return 0;
}

/* --- making --------------------------------------------------------------- */

/* About a millisecond's. */
#define CLEAR_AT_ONCE 64

/*
 * The generation before the one that is there was to stay until now. From here
 * on nobody finds it by its name: who scrubs sweeps, and a sweep passes over
 * what we hold locked. What a reader has locked is cleared away all the same,
 * for later the host would wait for it; but the writer takes nothing out of it,
 * as a sweep may be at it when that lock ends.
 */
static void take_spare(supervision *s)
{
	const copy_job *job = s->job;
	char slot[STAGING_NAME];
	ab_autofd int fd = -1;
	bool is_ours;

	if (!(job->plan.flags & AB_COPY_REPLACE) ||
	    !(job->plan.flags & AB_COPY_KEEP_OLD) ||
	    staging_old_name(job, slot))
		return;
	fd = openat(job->staging_fd, slot,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || staging_new_name(job, ".incomplete", s->spare_name))
		return;
	is_ours = staging_lock(fd) == 0;
	if (copy_rename(job->staging_fd, slot, job->staging_fd, s->spare_name,
			RENAME_NEW) ||
	    !staging_is_named(fd, job->staging_fd, s->spare_name))
		s->spare_name[0] = 0;
	else if (is_ours)
		s->spare_fd = ab_fd_lift(ab_steal_fd(&fd));
}

/* The writer takes out of it what did not change: the rest, when it has. */
void copy_clear(supervision *s)
{
	bool is_free = s->has_wrote || !s->writer.wanted || !s->job->has_old;

	if (s->spare_name[0] && is_free) {
		s->clearing = removal_begin(s->job->staging_fd, s->spare_name,
					    EMPTY_UNSHARED);
		s->spare_name[0] = 0;
	}
	if (!s->clearing || removal_step(s->clearing, CLEAR_AT_ONCE))
		return;
	(void)removal_end(s->clearing, NULL);
	s->clearing = NULL;
}

bool copy_has_to_clear(const supervision *s)
{
	return s->spare_name[0] || s->clearing;
}

/* The writer has ended, or was. */
static void finish_clearing(supervision *s)
{
	s->writer.wanted = false;
	do
		copy_clear(s);
	while (s->clearing);
}

int copy_begin_output(supervision *s)
{
	copy_job *job = s->job;
	const ab_copy_plan *p = &job->plan;
	ab_record_head head = { .generation = s->generation + 1 };
	int fds[4] = { -1, -1, s->old_tree_fd, -1 };
	size_t count = 2;
	struct stat st;
	int r;

	/* the record first: by it a scrub sees that the tree is worked on */
	s->record_fd = staging_make_file(job, job->record_fd, s->record_name);
	if (s->record_fd < 0)
		return fail(s, copy_code_of(s->record_fd), -s->record_fd, "record",
			    "cannot make the snapshot's record in the "
			    "directory that is to hold it");
	s->tree_fd = staging_make_dir(job, job->staging_fd, s->tree_name);
	if (s->tree_fd < 0)
		return fail(s, copy_code_of(s->tree_fd), -s->tree_fd, "staging",
			    "cannot make anything in the directory that is to "
			    "hold the snapshot");
	if ((p->output_uid != UINT32_MAX || p->output_gid != UINT32_MAX) &&
	    fchown(s->tree_fd, p->output_uid, p->output_gid))
		return fail(s, AGENTBOX_EACCES, errno, "staging",
			    "cannot give the staging directory away");
	if (fstat(job->source_fd, &st))
		return fail(s, AGENTBOX_ESYS, errno, "source", "cannot look");
	head.source_dev = st.st_dev;
	head.source_ino = st.st_ino;
	memcpy(head.options, job->options, sizeof(head.options));
	memcpy(head.boot, s->boot, sizeof(head.boot));
	fds[0] = s->tree_fd;
	fds[1] = s->record_fd;
	take_spare(s);
	fds[3] = s->spare_fd;
	if (job->has_old)
		count = s->spare_fd < 0 ? 3 : 4;
	r = copy_send_word(s->writer.sock, COPY_WORD_START, &head,
			   sizeof(head), fds, count);
	return r ? fail(s, AGENTBOX_EHELPER, -r, "writer",
			"cannot start the writer")
		 : 0;
}

/* No name is given any more, and nobody waits for what goes away. */
static void end_turn(supervision *s)
{
	ab_cleanup_fd(&s->turn_fd);
	s->turn_fd = -1;
}

/*
 * Nothing will be published. What only the spare generation has no helper
 * takes, alive or not; and once it is gone, who scrubs need not wait for one
 * that hangs. Unlocked for all who were started with a copy of it (flock(2)).
 */
void copy_give_up(supervision *s)
{
	end_turn(s);
	finish_clearing(s);
	staging_forget_ended(s->job, s->record_fd);
	if (s->old_record_fd < 0)
		return;
	staging_forget_ended(s->job, s->old_record_fd);
	(void)flock(s->old_record_fd, LOCK_UN);
}

void copy_abandon(supervision *s)
{
	finish_clearing(s);
	if (s->tree_name[0])
		(void)staging_remove(s->job->staging_fd, s->tree_name,
				     EMPTY_NOTHING, NULL);
	if (s->record_name[0])
		(void)unlinkat(s->job->record_fd, s->record_name, 0);
	s->tree_name[0] = 0;
	s->record_name[0] = 0;
}

/* --- publishing ----------------------------------------------------------- */

static bool has_record(const supervision *s)
{
	return s->old_record_fd >= 0;
}

static int publish_record(const supervision *s)
{
	const copy_job *job = s->job;

	/* an exchange fails when a scrub has taken the old one away */
	return copy_rename(job->record_fd, s->record_name, job->record_fd,
			   job->plan.record_name,
			   has_record(s) ? RENAME_EXCHANGED : RENAME_NEW);
}

/* Was what we published scrubbed since? */
static bool is_ended_since(const supervision *s)
{
	const copy_job *job = s->job;

	return !staging_is_named(s->record_fd, job->record_fd,
				 job->plan.record_name);
}

static void unpublish_record(const supervision *s)
{
	const copy_job *job = s->job;

	/* then what has the name now is another's */
	if (is_ended_since(s))
		return;
	if (has_record(s))
		(void)copy_rename(job->record_fd, s->record_name,
				  job->record_fd, job->plan.record_name,
				  RENAME_EXCHANGED);
	else
		(void)copy_rename(job->record_fd, job->plan.record_name,
				  job->record_fd, s->record_name, RENAME_NEW);
}

bool copy_is_ended(const supervision *s)
{
	const copy_job *job = s->job;

	return has_record(s) &&
	       !staging_is_named(s->old_record_fd, job->record_fd,
				 job->plan.record_name);
}

/* The generation before lies at the staging name now. */
static void put_away_old(supervision *s)
{
	const copy_job *job = s->job;
	char slot[STAGING_NAME], going[STAGING_NAME];

	finish_clearing(s);
	if ((job->plan.flags & AB_COPY_KEEP_OLD) &&
	    staging_old_name(job, slot) == 0 &&
	    staging_new_name(job, ".incomplete", going) == 0) {
		if (copy_rename(job->staging_fd, slot, job->staging_fd, going,
				RENAME_NEW))
			going[0] = 0;
		(void)copy_rename(job->staging_fd, s->tree_name,
				  job->staging_fd, slot, RENAME_NEW);
		memcpy(s->tree_name, going, sizeof(going));
		/* a scrub that looked for it before it lay there */
		if (is_ended_since(s))
			(void)staging_take(job, job->staging_fd, slot,
					   EMPTY_ALL, NULL);
	}
	if (s->tree_name[0])
		(void)staging_remove(job->staging_fd, s->tree_name,
				     EMPTY_UNSHARED, NULL);
	s->tree_name[0] = 0;
}

/* Where the tree is made and where it is shown: the same directory? */
static bool has_one_parent(const copy_job *job)
{
	struct stat a, b;

	return fstat(job->staging_fd, &a) == 0 &&
	       fstat(job->dest_fd, &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

/*
 * A directory that goes to another parent must be writable for who moves it,
 * for its ".." changes (rename(2), EACCES); root need not ask. What readers
 * see of the mode meanwhile is on a read-only mount. The old tree's is left
 * alone otherwise: a scrub may be emptying it by now, and has to write in it.
 */
static int set_roots(const supervision *s, bool replace, bool moves)
{
	if (fchmod(s->tree_fd, moves ? 0755 : 0555) ||
	    (replace && moves && fchmod(s->old_tree_fd, 0755)))
		return -errno;
	return 0;
}

/* The tree gets its name, or everything is as it was. */
static int swap_trees(supervision *s, bool replace)
{
	const copy_job *job = s->job;
	unsigned how = replace ? RENAME_EXCHANGED : RENAME_NEW;
	bool moves = !has_one_parent(job);
	uint64_t begin;
	int r = set_roots(s, replace, moves);

	if (r)
		return r;
	begin = ab_clock_mono_ns();
	r = copy_rename(job->staging_fd, s->tree_name, job->dest_fd,
			job->plan.dest_name, how);
	s->swap_ns = ab_clock_mono_ns() - begin;
	if (r || !moves || fchmod(s->tree_fd, 0555) == 0)
		return r;
	r = -errno;
	if (copy_rename(job->dest_fd, job->plan.dest_name, job->staging_fd,
			s->tree_name, how) == 0 && replace)
		(void)fchmod(s->old_tree_fd, 0555);
	return r;
}

/* Somebody has made it since, or ended it. */
static int32_t code_of_publishing(int r)
{
	return r == -EEXIST ? AGENTBOX_EEXIST :
	       r == -ENOENT ? AGENTBOX_ENOTFOUND
			    : AGENTBOX_ESYS;
}

int copy_publish(supervision *s)
{
	copy_job *job = s->job;
	bool replace = job->plan.flags & AB_COPY_REPLACE;
	int r;

	atomic_store(&job->counters->phase, AB_PHASE_PUBLISH);
	r = publish_record(s);
	if (r == -EEXIST && replace)
		return fail(s, AGENTBOX_EBUSY, 0, job->plan.dest_name,
			    "another job was at work on it");
	if (r)
		return fail(s, code_of_publishing(r), -r, "publish",
			    "cannot publish the record");
	r = swap_trees(s, replace);
	if (r) {
		unpublish_record(s);
		return fail(s, code_of_publishing(r), -r, "publish",
			    "cannot publish the tree");
	}
	/* what follows only adds to what a scrub finds, and looks whether there
	   was one (put_away_old()): who revokes need not wait for it */
	end_turn(s);
	atomic_store(&job->counters->phase, AB_PHASE_CLEAN);
	if (has_record(s))
		(void)unlinkat(job->record_fd, s->record_name, 0);
	s->record_name[0] = 0;
	if (replace)
		put_away_old(s);
	if (is_ended_since(s))
		staging_forget_ended(job, s->record_fd);
	s->tree_name[0] = 0;
	return 0;
}
