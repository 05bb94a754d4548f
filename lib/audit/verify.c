/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_audit_verify(): the automaton of check.c over files, and its
 * findings as a report. It needs no secret, writes nothing, and answers
 * "tampered" with the first bad record. Refuses to call a log anchored that
 * was not compared with an anchor. Spec: agentbox-audit(5), "VERIFYING".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

static int32_t take_inputs(ab_audit_checker *c, const char *key_hex,
			   const char *anchor_json, const char *start_json,
			   agentbox_error **err)
{
	char chain[AB_ID_SIZE] = "", key[AB_AUDIT_KEY_HEX];
	uint8_t raw[32];
	int32_t rc = 0;

	if (key_hex) {
		if (ab_unhex(key_hex, strlen(key_hex), raw, sizeof(raw)) != 0)
			return ab_error_set(err, AGENTBOX_EPARSE, "",
					    "a key is 64 lower-case hex "
					    "digits");
		memcpy(c->pin, key_hex, AB_AUDIT_KEY_HEX);
	}
	if (start_json) {
		rc = ab_audit_anchor_parse(start_json, &c->start_count,
					   c->chain, c->start_head,
					   c->start_key, err);
		c->has_start = rc == 0;
	}
	if (rc == 0 && anchor_json) {
		rc = ab_audit_anchor_parse(anchor_json, &c->anchor_count,
					   chain, c->anchor_head, key, err);
		c->has_anchor = rc == 0;
	}
	if (rc == 0 && c->has_anchor && c->has_start &&
	    strcmp(c->chain, chain) != 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "the anchors belong to different chains");
	if (rc == 0 && c->has_anchor)
		memcpy(c->chain, chain, sizeof(chain));
	/* a key that a trusted anchor names is as good as a pinned one */
	if (rc == 0 && c->has_start && strcmp(c->pin, c->start_key) == 0)
		c->is_pinned = true;
	return rc;
}

static int32_t check_one(ab_audit_checker *c, const char *path, bool is_last,
			 agentbox_error **err)
{
	ab_autofd int fd = -1;
	int32_t rc;

	if (!path)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "path must not be NULL");
	rc = ab_audit_open_log(path, &fd, err);
	if (rc != 0)
		return rc;
	rc = ab_audit_checker_file(c, fd, is_last);
	if (rc == 0 || c->is_bad)
		return 0;
	return ab_error_sys(err, -rc, "", "cannot read '%s'", path);
}

/*
 * A rotation that was killed leaves the file two names, the number and the
 * log's own: the same bytes twice in a row are one file.
 */
static bool is_second_name(const char *path, const char *next)
{
	struct stat a, b;

	return path && next && stat(path, &a) == 0 && stat(next, &b) == 0 &&
	       S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static const char *tail_of(const ab_audit_checker *c)
{
	if (!c->is_anchor_met)
		return "unanchored";
	return c->seq == c->anchor_count ? "anchored" : "past-anchor";
}

static const char *status_of(const ab_audit_checker *c)
{
	if (c->is_bad)
		return "tampered";
	return c->torn_bytes ? "torn" : "verified";
}

static bool put_counts(json_t *doc, const ab_audit_checker *c)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{ "records", c->records },
		{ "first_seq", c->first_seq },
		{ "last_seq", c->seq },
		{ "signed_seq", c->signed_seq },
		{ "unsigned_tail", c->seq - c->signed_seq },
		{ "bytes", c->bytes },
		{ "files", c->files },
		{ "heads", c->heads },
		{ "opens", c->opens },
		{ "links", c->links },
		{ "resets", c->resets },
		{ "key_breaks", c->key_breaks },
		{ "time_anomalies", c->time_anomalies },
		{ "torn_bytes", c->torn_bytes },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		if (json_object_set_new(doc, rows[i].key,
					json_integer((json_int_t)
							     rows[i].value)))
			return false;
	}
	return true;
}

static bool put_reason(json_t *doc, const ab_audit_checker *c)
{
	json_t *seq = json_integer((json_int_t)c->bad_seq);

	return json_object_set_new(doc, "first_bad_seq", seq) == 0 &&
	       json_object_set_new(doc, "reason", json_string(c->reason)) == 0;
}

static int32_t make_report(const ab_audit_checker *c, agentbox_bytes **out,
			   agentbox_error **err)
{
	ab_auto(json_t) *doc = NULL;
	bool ok;

	doc = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b}", "status",
			status_of(c), "tail", tail_of(c), "key",
			c->pin[0] ? "pinned" : "unpinned", "begins",
			c->begins_at_link ? "link" :
			c->has_start	  ? "start-anchor" :
					    "start",
			"chain", c->chain, "head", c->hash, "closed",
			(int)c->is_closed);
	if (!doc)
		return ab_error_nomem(err);
	ok = put_counts(doc, c);
	if (c->is_bad)
		ok = ok && put_reason(doc, c);
	if (!ok)
		return ab_error_nomem(err);
	return ab_json_canonical(doc, out, err);
}

int32_t agentbox_audit_verify(agentbox_context *context,
			      const char *const *paths, size_t path_count,
			      const char *key_hex, const char *anchor_json,
			      const char *start_json,
			      agentbox_bytes **report_json,
			      agentbox_error **err)
{
	ab_audit_checker c = { 0 };
	char where[32];
	int32_t rc;

	if (!context || !paths || !path_count ||
	    path_count > AB_AUDIT_MAX_PATHS)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "verify needs a context and paths");
	if (sodium_init() < 0)
		return ab_error_set(err, AGENTBOX_ESYS, "",
				    "libsodium cannot be initialised");
	rc = take_inputs(&c, key_hex, anchor_json, start_json, err);
	for (size_t i = 0; rc == 0 && !c.is_bad && i < path_count; i++) {
		bool is_last = i + 1 == path_count;

		if (is_last || !is_second_name(paths[i], paths[i + 1]))
			rc = check_one(&c, paths[i], is_last, err);
		else if (!c.files)
			c.skips_first = true;
	}
	if (rc == 0 && !c.is_bad)
		(void)ab_audit_checker_end(&c);
	if (rc == 0 && report_json)
		rc = make_report(&c, report_json, err);
	if (rc != 0 || !c.is_bad)
		return rc;
	snprintf(where, sizeof(where), "seq %llu",
		 (unsigned long long)c.bad_seq);
	return ab_error_set(err, AGENTBOX_ETAMPERED, where, "record %llu: %s",
			    (unsigned long long)c.bad_seq, c.reason);
}
