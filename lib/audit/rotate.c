/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotation: the full file is signed and gets a number, a new one takes its
 * name and begins with a link to the old head. The new file is complete
 * before it is renamed over the old name, so at every moment the name leads
 * to a log that verifies, and a crash leaves at most PATH.new behind, which
 * the next rotation removes. Refuses to overwrite a numbered file.
 * Spec: agentbox-audit(5), "ROTATION".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static char *numbered(const agentbox_audit *a, uint32_t number)
{
	return ab_asprintf("%s.%06u", a->sink.path, number);
}

/* The first number that is free; what is there is found by asking. */
static int32_t pick_number(agentbox_audit *a, agentbox_error **err)
{
	struct stat st, own;

	if (fstat(a->sink.fd, &own) != 0)
		return ab_error_sys(err, errno, "", "cannot stat the log");
	for (uint32_t i = a->file_number + 1; i <= AB_AUDIT_MAX_FILE_NUMBER;
	     i++) {
		ab_autofree char *name = numbered(a, i);

		if (!name)
			return ab_error_nomem(err);
		if (lstat(name, &st) != 0 && errno == ENOENT) {
			a->file_number = i;
			return 0;
		}
		/* our own second name, left by a crash: take it again */
		if (st.st_ino == own.st_ino && st.st_dev == own.st_dev &&
		    unlinkat(AT_FDCWD, name, 0) == 0) {
			a->file_number = i;
			return 0;
		}
	}
	return ab_error_set(err, AGENTBOX_ELIMIT, "",
			    "AB_AUDIT_MAX_FILE_NUMBER reached");
}

static uint32_t prune(const agentbox_audit *a)
{
	uint32_t pruned = 0;

	if (!a->keep || a->file_number <= a->keep)
		return 0;
	for (uint32_t i = a->file_number - a->keep; i > 0; i--) {
		ab_autofree char *name = numbered(a, i);

		/* the first that is gone: those before it went earlier */
		if (!name || unlinkat(AT_FDCWD, name, 0) != 0)
			break;
		pruned++;
	}
	return pruned;
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
				  err);
}

/* Give the old file its number and the new one the name. */
static int32_t swap_names(agentbox_audit *a, const char *fresh,
			  agentbox_error **err)
{
	ab_autofree char *old = numbered(a, a->file_number);

	if (!old)
		return ab_error_nomem(err);
	if (linkat(AT_FDCWD, a->sink.path, AT_FDCWD, old, 0) != 0)
		return ab_error_sys(err, errno, "", "cannot name '%s'", old);
	if (renameat(AT_FDCWD, fresh, AT_FDCWD, a->sink.path) != 0) {
		int saved = errno;

		(void)unlinkat(AT_FDCWD, old, 0);
		return ab_error_sys(err, saved, "", "cannot replace '%s'",
				    a->sink.path);
	}
	if (a->sync_mode != AGENTBOX_AUDIT_SYNC_NEVER)
		return ab_audit_sync_dir(a->sink.path, err);
	return 0;
}

/* The chain as it was, for a link that did not come to be. */
typedef struct mark {
	uint64_t seq, since_head;
	char prev[AB_AUDIT_HASH_HEX];
} mark;

static int32_t begin_next(agentbox_audit *a, const char *fresh,
			  agentbox_error **err)
{
	ab_audit_sink next = { 0 }, old = a->sink;
	mark m = { a->seq, a->since_head, "" };
	int32_t rc = open_next(fresh, &next, err);

	memcpy(m.prev, a->prev, sizeof(m.prev));
	if (rc != 0)
		return rc;
	next.path = old.path;
	a->sink = next;
	rc = ab_audit_sink_reserve(&a->sink, AB_AUDIT_MAX_LINE, err);
	if (rc == 0)
		rc = ab_audit_log_own(
			a, "audit.link",
			json_pack("{s:s,s:I,s:i,s:s,s:s,s:i}", "chain",
				  a->chain, "count", (json_int_t)a->seq,
				  "file", (int)a->file_number + 1, "head",
				  a->prev, "key", a->key.hex, "pruned",
				  (int)prune(a)),
			err);
	if (rc == 0)
		rc = ab_audit_log_sync(a, err);
	if (rc == 0)
		rc = swap_names(a, fresh, err);
	if (rc == 0) {
		ab_audit_sink_close(&old);
		return 0;
	}
	ab_audit_sink_close(&a->sink);
	(void)unlinkat(AT_FDCWD, fresh, 0);
	a->sink = old;
	a->seq = m.seq;
	a->since_head = m.since_head;
	memcpy(a->prev, m.prev, sizeof(m.prev));
	return rc;
}

int32_t ab_audit_log_rotate(agentbox_audit *a, agentbox_error **err)
{
	ab_autofree char *fresh = ab_asprintf("%s.new", a->sink.path);
	int32_t rc;

	if (!fresh)
		return ab_error_nomem(err);
	rc = pick_number(a, err);
	if (rc == 0)
		rc = ab_audit_log_head(a, "rotate", err);
	return rc == 0 ? begin_next(a, fresh, err) : rc;
}
