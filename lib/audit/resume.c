/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where an existing log stands: count, head, chain, expected key and the
 * bytes of a torn last record. A log that was closed ends in a signed head
 * and only that line is read; after a crash the whole file is verified.
 * Refuses to continue a log that does not verify. Spec: agentbox-audit(5).
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static int32_t unreadable(int code, agentbox_error **err)
{
	return ab_error_sys(err, -code, "",
			    "cannot read the log that is to be continued");
}

/*
 * match_key() wants the key the log expects next: it is handed on in the
 * scratch buffer, which holds nothing else now.
 */
static void adopt(agentbox_audit *a, const ab_audit_checker *c)
{
	a->seq = c->seq;
	memcpy(a->prev, c->hash, sizeof(a->prev));
	memcpy(a->chain, c->chain, sizeof(a->chain));
	memcpy(a->written, c->timestamp, sizeof(a->written));
	memcpy(a->scratch, c->key, sizeof(c->key));
}

/* 1 when the last line is a head that verifies, 0 when not, -errno. */
static int resume_at_head(agentbox_audit *a)
{
	size_t want = a->sink.size < AB_AUDIT_MAX_LINE ? (size_t)a->sink.size :
							 AB_AUDIT_MAX_LINE;
	off_t at = (off_t)(a->sink.size - want);
	ssize_t n = pread(a->sink.fd, a->line, want, at);
	ab_audit_checker c = { .records = 1 };
	ab_audit_frame f = { 0 };
	json_t *doc;
	const char *from, *key;

	if (n < 0)
		return -errno;
	if ((size_t)n != want || want < 2 || a->line[want - 1] != '\n')
		return 0;
	from = memrchr(a->line, '\n', want - 1);
	from = from ? from + 1 : a->line;
	n = a->line + want - 1 - from;
	if (ab_audit_scan(from, (size_t)n, &f) != 0 || f.seq < 2 ||
	    !ab_audit_is_type(&f, "audit.head"))
		return 0;
	/* run the automaton over this line as if all before it were good */
	doc = ab_audit_parse_line(from, (size_t)n);
	key = json_string_value(json_object_get(json_object_get(doc, "log"),
						"key"));
	if (key && strlen(key) == AB_AUDIT_KEY_HEX - 1) {
		memcpy(c.key, key, AB_AUDIT_KEY_HEX);
		c.seq = f.seq - 1;
		memcpy(c.hash, f.prev, AB_AUDIT_HASH_HEX - 1);
	}
	json_decref(doc);
	if (!c.seq || ab_audit_checker_line(&c, from, (size_t)n) != 0)
		return 0;
	adopt(a, &c);
	return 1;
}

static int32_t digest_torn(agentbox_audit *a, uint64_t torn, char *digest,
			   agentbox_error **err)
{
	ab_autofree char *bytes = ab_calloc((size_t)torn, 1);
	ssize_t n;

	if (!bytes)
		return ab_error_nomem(err);
	n = pread(a->sink.fd, bytes, (size_t)torn,
		  (off_t)(a->sink.size - torn));
	if (n < 0 || (uint64_t)n != torn)
		return unreadable(n < 0 ? -errno : -EIO, err);
	ab_digest(bytes, (size_t)torn, digest);
	return 0;
}

/*
 * A file that begins with a link knows its number, also when those before it
 * were moved away. It is a lower bound only: the names that are there count
 * as well, so a lie makes rotation refuse at the worst.
 */
static int32_t resume_number(agentbox_audit *a, agentbox_error **err)
{
	ssize_t n = pread(a->sink.fd, a->line, AB_AUDIT_MAX_LINE, 0);
	ab_audit_frame f = { 0 };
	const char *end;
	json_int_t number;
	json_t *doc;

	a->file_number = 0;
	if (n < 0)
		return unreadable(-errno, err);
	end = memchr(a->line, '\n', (size_t)n);
	if (!end || ab_audit_scan(a->line, (size_t)(end - a->line), &f) != 0 ||
	    !ab_audit_is_type(&f, "audit.link"))
		return 0;
	doc = ab_audit_parse_line(a->line, (size_t)(end - a->line));
	if (!doc)
		return ab_error_nomem(err);
	number = json_integer_value(json_object_get(json_object_get(doc, "log"),
						    "file"));
	json_decref(doc);
	if (number > 1 && number <= AB_AUDIT_MAX_FILE_NUMBER + 1)
		a->file_number = (uint32_t)number - 1;
	return 0;
}

int32_t ab_audit_log_resume(agentbox_audit *a, uint64_t *torn, char *digest,
			    agentbox_error **err)
{
	ab_audit_checker c = { 0 };
	int32_t rc = resume_number(a, err);

	if (rc != 0)
		return rc;
	rc = resume_at_head(a);
	if (rc < 0)
		return unreadable(rc, err);
	if (rc == 1)
		return 0;
	if (lseek(a->sink.fd, 0, SEEK_SET) != 0)
		return unreadable(-errno, err);
	rc = ab_audit_checker_file(&c, a->sink.fd, true);
	if (rc == 0)
		rc = ab_audit_checker_end(&c);
	if (c.is_bad) {
		char where[32];

		snprintf(where, sizeof(where), "seq %llu",
			 (unsigned long long)c.bad_seq);
		return ab_error_set(err, AGENTBOX_ETAMPERED, where,
				    "the log cannot be continued: record "
				    "%llu: %s",
				    (unsigned long long)c.bad_seq, c.reason);
	}
	if (rc != 0)
		return unreadable(rc, err);
	*torn = c.torn_bytes;
	adopt(a, &c);
	return c.torn_bytes ? digest_torn(a, c.torn_bytes, digest, err) : 0;
}
