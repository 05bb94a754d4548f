/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotation: the full file is signed and gets a number, a new one takes its
 * name and begins with a link to the old head. The new file is complete
 * before it is renamed over the old name, so at every moment the name leads
 * to a log that verifies. A crash leaves at most PATH.new behind, which the
 * next rotation removes, or the old file with both names, which it takes up
 * again and verifying reads once. Numbers only grow, so that the order of the
 * names is the order of the chain, and old files go after the new one has its
 * name. Refuses to overwrite a numbered file.
 * Spec: agentbox-audit(5), "ROTATION".
 */
#include "config.h"

#include "audit/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"

#define NUMBER_DIGITS 6

static char *numbered(const agentbox_audit *a, uint32_t number)
{
	return ab_asprintf("%s.%06u", a->sink.path, number);
}

/* NNNNNN of a name "log.NNNNNN"; 0 when it is another. */
static uint32_t number_of(const char *log, const char *name)
{
	size_t n = strlen(log);
	uint32_t number = 0;

	if (strncmp(name, log, n) != 0 || name[n] != '.' ||
	    strlen(name + n + 1) != NUMBER_DIGITS)
		return 0;
	for (const char *p = name + n + 1; *p; p++) {
		if (*p < '0' || *p > '9')
			return 0;
		number = number * 10 + (uint32_t)(*p - '0');
	}
	return number;
}

/* What a walk over the directory finds, and what it may remove. */
typedef struct walk {
	uint32_t old; /* files up to this number are old; 0: none */
	bool removes; /* unlink the old ones */
	uint32_t highest, pruned;
} walk;

static bool is_file(int fd, const struct stat *st)
{
	struct stat own;

	return fstat(fd, &own) == 0 && st->st_ino == own.st_ino &&
	       st->st_dev == own.st_dev;
}

static void visit(const agentbox_audit *a, int dirfd, const char *name,
		  uint32_t number, walk *w)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	/* our own second name, left by a crash: swap_names() takes it again */
	if (is_file(a->sink.fd, &st))
		return;
	if (number > w->highest)
		w->highest = number;
	if (!S_ISREG(st.st_mode) || number > w->old)
		return;
	if (!w->removes || unlinkat(dirfd, name, 0) == 0)
		w->pruned++;
}

static int32_t end_walk(DIR *dir, uint32_t seen, int error,
			agentbox_error **err)
{
	closedir(dir);
	if (seen >= AB_AUDIT_MAX_DIR)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "the log's directory has more than %u "
				    "entries", AB_AUDIT_MAX_DIR);
	if (error)
		return ab_error_sys(err, error, "",
				    "cannot read the log's directory");
	return 0;
}

static int32_t walk_numbers(const agentbox_audit *a, walk *w,
			    agentbox_error **err)
{
	const char *path = a->sink.path, *slash = strrchr(path, '/');
	int fd = ab_audit_open_dir(path, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	uint32_t seen = 0;
	int error = 0;

	if (fd < 0)
		return fd;
	if (!dir) {
		int32_t rc = ab_error_sys(err, errno, "",
					  "cannot read the log's directory");

		close(fd);
		return rc;
	}
	w->highest = 0;
	w->pruned = 0;
	while (seen < AB_AUDIT_MAX_DIR && (e = ab_fd_next(dir, &error))) {
		uint32_t number = number_of(slash ? slash + 1 : path,
					    e->d_name);

		seen++;
		if (number)
			visit(a, dirfd(dir), e->d_name, number, w);
	}
	return end_walk(dir, seen, error, err);
}

/* One past everything that is or was there: a gap is never filled. */
static int32_t pick_number(const agentbox_audit *a, uint32_t *number,
			   agentbox_error **err)
{
	walk w = { 0 };
	int32_t rc = walk_numbers(a, &w, err);

	if (rc != 0)
		return rc;
	*number = (w.highest > a->file_number ? w.highest : a->file_number) + 1;
	if (*number <= AB_AUDIT_MAX_FILE_NUMBER)
		return 0;
	return ab_error_set(err, AGENTBOX_ELIMIT, "",
			    "the log has %u old files, and no number more",
			    AB_AUDIT_MAX_FILE_NUMBER);
}

static int32_t open_next(const char *path, ab_audit_sink *next,
			 agentbox_error **err)
{
	(void)unlinkat(AT_FDCWD, path, 0);
	next->kind = AB_AUDIT_SINK_PATH;
	next->is_regular = true;
	next->can_reserve = true;
	next->fd = -1;
	return ab_audit_open_file(path, O_CREAT | O_EXCL | O_APPEND, &next->fd,
				  NULL, err);
}

/* Give the old file its number and the new one the name. */
static int32_t swap_names(agentbox_audit *a, int old_fd, uint32_t number,
			  const char *fresh, agentbox_error **err)
{
	ab_autofree char *old = numbered(a, number);
	struct stat st;
	int saved;

	if (!old)
		return ab_error_nomem(err);
	if (linkat(AT_FDCWD, a->sink.path, AT_FDCWD, old, 0) != 0) {
		saved = errno;
		if (saved != EEXIST || lstat(old, &st) != 0 ||
		    !is_file(old_fd, &st))
			return ab_error_sys(err, saved, "",
					    "cannot name '%s'", old);
	}
	if (renameat(AT_FDCWD, fresh, AT_FDCWD, a->sink.path) == 0)
		return 0;
	saved = errno;
	(void)unlinkat(AT_FDCWD, old, 0);
	return ab_error_sys(err, saved, "", "cannot replace '%s'",
			    a->sink.path);
}

static int32_t write_link(agentbox_audit *a, uint32_t number, uint32_t pruned,
			  agentbox_error **err)
{
	int32_t rc = ab_audit_sink_reserve(&a->sink, AB_AUDIT_MAX_LINE, err);

	if (rc == 0)
		rc = ab_audit_log_own(
			a, "audit.link",
			json_pack("{s:s,s:I,s:i,s:s,s:s,s:i}", "chain",
				  a->chain, "count", (json_int_t)a->seq,
				  "file", (int)number + 1, "head", a->prev,
				  "key", a->key.hex, "pruned", (int)pruned),
			err);
	return rc == 0 ? ab_audit_log_sync(a, err) : rc;
}

/* The chain as it was, for a link that did not come to be. */
typedef struct mark {
	uint64_t seq, since_head;
	char prev[AB_AUDIT_HASH_HEX], written[AB_TIMESTAMP_SIZE];
} mark;

/* The names are as before when this fails. */
static int32_t begin_next(agentbox_audit *a, const char *fresh,
			  uint32_t number, uint32_t pruned,
			  agentbox_error **err)
{
	ab_audit_sink next = { 0 }, old = a->sink;
	mark m = { a->seq, a->since_head, "", "" };
	int32_t rc = open_next(fresh, &next, err);

	memcpy(m.prev, a->prev, sizeof(m.prev));
	memcpy(m.written, a->written, sizeof(m.written));
	if (rc != 0)
		return rc;
	next.path = old.path;
	a->sink = next;
	rc = write_link(a, number, pruned, err);
	if (rc == 0)
		rc = swap_names(a, old.fd, number, fresh, err);
	if (rc == 0) {
		a->file_number = number;
		ab_audit_sink_close(&old);
		return 0;
	}
	ab_audit_sink_close(&a->sink);
	(void)unlinkat(AT_FDCWD, fresh, 0);
	a->sink = old;
	a->seq = m.seq;
	a->since_head = m.since_head;
	memcpy(a->prev, m.prev, sizeof(m.prev));
	memcpy(a->written, m.written, sizeof(m.written));
	return rc;
}

/* Signed once, however often the rest is tried. */
static int32_t sign_last(agentbox_audit *a, agentbox_error **err)
{
	int32_t rc = 0;

	if (a->rotate_seq != a->seq)
		rc = ab_audit_log_head(a, "rotate", err);
	if (rc == 0)
		a->rotate_seq = a->seq;
	return rc;
}

int32_t ab_audit_log_rotate(agentbox_audit *a, agentbox_error **err)
{
	ab_autofree char *fresh = ab_asprintf("%s.new", a->sink.path);
	uint32_t number = 0;
	walk w = { 0 };
	int32_t rc;

	if (!fresh)
		return ab_error_nomem(err);
	rc = pick_number(a, &number, err);
	if (rc == 0 && a->keep && number > a->keep) {
		w.old = number - a->keep;
		rc = walk_numbers(a, &w, err);
	}
	if (rc == 0)
		rc = sign_last(a, err);
	if (rc == 0)
		rc = begin_next(a, fresh, number, w.pruned, err);
	if (rc == 0 && a->sync_mode != AGENTBOX_AUDIT_SYNC_NEVER) {
		rc = ab_audit_sync_dir(a->sink.path, err);
		/* which file a crash leaves under the name is not known */
		a->sink.is_broken = rc != 0;
	}
	if (rc != 0 || !w.pruned)
		return rc;
	/* only now; what cannot be removed is tried at the next rotation */
	w.removes = true;
	(void)walk_numbers(a, &w, NULL);
	return 0;
}
