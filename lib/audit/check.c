/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verifying automaton: one line after the other, it keeps the hash, the
 * count and the key that must sign next. It refuses a record that is not
 * canonical, out of order, not hashed by its successor, a head that the
 * expected key did not sign, a log without its beginning, and one that does
 * not hold the anchored record. It trusts nothing it reads: only the pinned
 * key and the anchors come from elsewhere.
 * Spec: agentbox-audit(5), "VERIFYING".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/json.h"

static int bad(ab_audit_checker *c, uint64_t seq, const char *fmt, ...)
	AB_PRINTF(3, 4);

static int bad(ab_audit_checker *c, uint64_t seq, const char *fmt, ...)
{
	va_list ap;

	if (c->is_bad)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
	c->is_bad = true;
	c->is_suspect = false;
	c->bad_seq = seq;
	return -EINVAL;
}

/* A member that must be hex of this length. */
static const char *hex_member(const json_t *log, const char *key, size_t n)
{
	const char *s = json_string_value(json_object_get(log, key));

	if (!s || strlen(s) != n || strspn(s, "0123456789abcdef") != n)
		return NULL;
	return s;
}

static void meet_key(ab_audit_checker *c, const char *key)
{
	memcpy(c->key, key, AB_AUDIT_KEY_HEX);
	if (c->pin[0] && strcmp(c->pin, key) == 0)
		c->is_pinned = true;
}

/* The chain id and the key that start, open and link records carry. */
static int check_names(ab_audit_checker *c, const ab_audit_frame *f,
		       const json_t *log, const char **key)
{
	const char *chain = hex_member(log, "chain", AB_ID_SIZE - 1);

	*key = hex_member(log, "key", AB_AUDIT_KEY_HEX - 1);
	if (!chain || !*key)
		return bad(c, f->seq, "record has no chain or key");
	if (c->chain[0] && strcmp(c->chain, chain) != 0)
		return bad(c, f->seq, "record belongs to another chain");
	memcpy(c->chain, chain, AB_ID_SIZE);
	return 0;
}

static int on_open(ab_audit_checker *c, const ab_audit_frame *f,
		   const json_t *log)
{
	const char *key;
	int rc = check_names(c, f, log, &key);

	if (rc != 0)
		return rc;
	c->opens++;
	if (strcmp(key, c->key) == 0)
		return 0;
	if (c->is_pinned)
		return bad(c, f->seq, "the key changes without a signature "
				      "of the key before it");
	c->key_breaks++;
	meet_key(c, key);
	return 0;
}

static int on_start(ab_audit_checker *c, const ab_audit_frame *f,
		    const json_t *log)
{
	const char *key;
	int rc = check_names(c, f, log, &key);

	if (rc != 0)
		return rc;
	if (json_integer_value(json_object_get(log, "format")) != 1)
		return bad(c, f->seq, "the log's format is not known");
	meet_key(c, key);
	return 0;
}

static int on_link(ab_audit_checker *c, const ab_audit_frame *f,
		   const json_t *log)
{
	const char *head = hex_member(log, "head", AB_AUDIT_HASH_HEX - 1);
	const json_t *count = json_object_get(log, "count");
	const char *key;
	int rc = check_names(c, f, log, &key);

	if (rc != 0)
		return rc;
	if (!head || memcmp(head, f->prev, AB_AUDIT_HASH_HEX - 1) != 0 ||
	    (uint64_t)json_integer_value(count) + 1 != f->seq)
		return bad(c, f->seq, "link does not carry the old head");
	if (c->key[0] && strcmp(key, c->key) != 0)
		return bad(c, f->seq, "link names another key");
	c->links++;
	meet_key(c, key);
	return 0;
}

static int on_head(ab_audit_checker *c, const ab_audit_frame *f,
		   const json_t *log, const char *line, size_t n)
{
	const char *next = hex_member(log, "next", AB_AUDIT_KEY_HEX - 1);
	const char *why = json_string_value(json_object_get(log, "reason"));
	const char *key;
	int rc = check_names(c, f, log, &key);

	if (rc != 0)
		return rc;
	if (!next || !why)
		return bad(c, f->seq, "head names no next key");
	if (strcmp(key, c->key) != 0)
		return bad(c, f->seq, "head is signed by a key that the one "
				      "before it does not name");
	if (!ab_audit_head_is_signed(line, n, key))
		return bad(c, f->seq, "head has no valid signature");
	c->heads++;
	/* with a pinned key a stranger's signature is none */
	if (!c->pin[0] || c->is_pinned)
		c->signed_seq = f->seq;
	c->is_closed = strcmp(why, "close") == 0;
	meet_key(c, next);
	return 0;
}

static int on_own(ab_audit_checker *c, const ab_audit_frame *f,
		  const char *line, size_t n)
{
	json_t *doc = ab_audit_parse_line(line, n);
	const json_t *log = json_object_get(doc, "log");
	int rc = 0;

	if (!doc)
		return -ENOMEM;
	if (ab_audit_is_type(f, "audit.head"))
		rc = on_head(c, f, log, line, n);
	else if (ab_audit_is_type(f, "audit.open"))
		rc = on_open(c, f, log);
	else if (ab_audit_is_type(f, "audit.start"))
		rc = on_start(c, f, log);
	else if (ab_audit_is_type(f, "audit.link"))
		rc = on_link(c, f, log);
	else if (ab_audit_is_type(f, "audit.reset"))
		c->resets++;
	json_decref(doc);
	return rc;
}

/* The first line of all: where the log begins, or goes on from. */
static int check_first(ab_audit_checker *c, const ab_audit_frame *f)
{
	static const char zeros[] = "00000000000000000000000000000000"
				    "00000000000000000000000000000000";
	bool is_link = ab_audit_is_type(f, "audit.link");

	c->first_seq = f->seq;
	/* the anchored record is the last of what is not here */
	if (is_link && c->has_anchor && f->seq - 1 == c->anchor_count) {
		if (memcmp(f->prev, c->anchor_head, 64) != 0)
			return bad(c, f->seq, "the first record does not go "
					      "on from the anchor");
		c->is_anchor_met = true;
	}
	if (c->has_start) {
		if (!is_link || f->seq != c->start_count + 1 ||
		    memcmp(f->prev, c->start_head, 64) != 0)
			return bad(c, c->start_count + 1,
				   "the first record does not go on from the "
				   "start anchor");
		memcpy(c->key, c->start_key, sizeof(c->key));
		return 0;
	}
	if (ab_audit_is_type(f, "audit.start")) {
		if (f->seq != 1 || memcmp(f->prev, zeros, 64) != 0)
			return bad(c, 1, "audit.start is not the first record");
		return 0;
	}
	if (!is_link || f->seq < 2)
		return bad(c, 1, "the beginning is missing: record %llu is "
				 "neither audit.start nor audit.link",
			   (unsigned long long)f->seq);
	c->begins_at_link = true;
	return 0;
}

static bool prev_is(const ab_audit_frame *f, const char *hash)
{
	return memcmp(hash, f->prev, AB_AUDIT_HASH_HEX - 1) == 0;
}

static int check_order(ab_audit_checker *c, const ab_audit_frame *f)
{
	bool at_start = ab_audit_is_type(f, "audit.start") ||
			ab_audit_is_type(f, "audit.link");

	if (c->records == 0)
		return check_first(c, f);
	if (f->seq == c->seq && prev_is(f, c->prev))
		return bad(c, f->seq, "two records continue the same one");
	if (f->seq != c->seq + 1)
		return bad(c, c->seq + 1, "record %llu stands where %llu "
					  "belongs",
			   (unsigned long long)f->seq,
			   (unsigned long long)(c->seq + 1));
	if (!prev_is(f, c->hash)) {
		/* this one or the one before: the next line tells */
		c->is_suspect = true;
		return 0;
	}
	if (at_start != c->is_file_start)
		return bad(c, f->seq, c->is_file_start ?
					      "a file begins without a link" :
					      "a file begins in a file");
	/* it would bring a key that nobody signed */
	if (ab_audit_is_type(f, "audit.start"))
		return bad(c, f->seq, "audit.start is not the first record");
	return 0;
}

/* The record before the last does not hash to what the last one says. */
static int settle(ab_audit_checker *c, bool last_is_good)
{
	uint64_t seq = last_is_good ? c->seq - 1 : c->seq;

	c->is_suspect = false;
	return bad(c, seq, "record was changed");
}

static void check_time(ab_audit_checker *c, const ab_audit_frame *f)
{
	char now[AB_TIMESTAMP_SIZE] = { 0 };

	memcpy(now, f->timestamp, f->timestamp_len);
	if (strcmp(now, c->timestamp) < 0)
		c->time_anomalies++;
	memcpy(c->timestamp, now, sizeof(now));
}

static int check_anchor(ab_audit_checker *c)
{
	if (!c->has_anchor || c->seq != c->anchor_count)
		return 0;
	if (strcmp(c->hash, c->anchor_head) != 0)
		return bad(c, c->seq, "record differs from the anchor");
	c->is_anchor_met = true;
	return 0;
}

int ab_audit_checker_line(ab_audit_checker *c, const char *line, size_t n)
{
	uint8_t hash[AB_SHA256_SIZE];
	ab_audit_frame f = { 0 };
	bool was_suspect = c->is_suspect;
	int rc = ab_audit_scan(line, n, &f);

	if (!c->hash_fn)
		c->hash_fn = ab_sha256_pick();
	if (was_suspect)
		return settle(c, rc == 0 && f.seq == c->seq + 1 &&
					 prev_is(&f, c->hash));
	if (rc == -ENOMEM)
		return rc;
	if (rc != 0)
		return bad(c, c->records ? c->seq + 1 : 1,
			   "line is not a record in canonical form");
	rc = check_order(c, &f);
	if (rc == 0 && !c->is_suspect && f.type_len > 6 &&
	    memcmp(f.type, "audit.", 6) == 0)
		rc = on_own(c, &f, line, n);
	else
		c->is_closed = false;
	if (rc != 0)
		return rc;
	check_time(c, &f);
	c->hash_fn(line, n, hash);
	ab_hex(hash, sizeof(hash), c->hash);
	memcpy(c->prev, f.prev, AB_AUDIT_HASH_HEX - 1);
	c->seq = f.seq;
	c->records++;
	c->bytes += n + 1;
	c->is_file_start = false;
	return c->is_suspect ? 0 : check_anchor(c);
}

/*
 * Bytes without a newline and no record before them are a torn one only where
 * they can be its beginning, or what a file system leaves behind after a
 * crash: whoever names the wrong file must not lose it to a writer.
 */
static bool can_be_torn(const char *p, size_t n)
{
	static const char begin[] = "{\"actor\":{\"box\":\"";
	size_t i = 0;

	if (memcmp(p, begin, n < sizeof(begin) - 1 ? n : sizeof(begin) - 1) ==
	    0)
		return true;
	while (i < n && p[i] == '\0')
		i++;
	return i == n;
}

int ab_audit_checker_file(ab_audit_checker *c, int fd, bool is_last)
{
	ab_audit_reader r;
	const char *line = NULL;
	size_t n = 0;
	int rc = ab_audit_reader_init(&r, fd);

	if (rc != 0)
		return rc;
	c->files++;
	c->is_file_start = true;
	for (;;) {
		rc = ab_audit_reader_next(&r, &line, &n);
		if (rc <= 0)
			break;
		rc = ab_audit_checker_line(c, line, n);
		if (rc != 0)
			break;
	}
	if (rc == -EFBIG)
		rc = bad(c, c->seq + 1, "line is longer than a record");
	if (rc == 0 && n && !is_last && !c->is_bad)
		rc = bad(c, c->seq + 1, "a file that was continued ends in "
					"the middle of a record");
	if (rc == 0 && n && !c->records && !can_be_torn(line, n))
		rc = bad(c, 1, "the file is no audit log");
	if (rc == 0 && !c->is_bad)
		c->torn_bytes = n;
	ab_audit_reader_end(&r);
	return c->is_bad ? -EINVAL : rc;
}

/* With nothing after it: does the anchor vouch for the last record? */
static bool is_last_anchored(const ab_audit_checker *c)
{
	return c->has_anchor && c->seq == c->anchor_count &&
	       strcmp(c->hash, c->anchor_head) == 0;
}

int ab_audit_checker_end(ab_audit_checker *c)
{
	if (c->is_suspect)
		return settle(c, !c->has_anchor || is_last_anchored(c) ||
					 c->seq > c->anchor_count);
	if (c->has_anchor && c->seq < c->anchor_count)
		return bad(c, c->seq + 1, "records %llu to %llu are missing",
			   (unsigned long long)c->seq + 1,
			   (unsigned long long)c->anchor_count);
	if (!c->records && !c->torn_bytes)
		return bad(c, 1, "the log is empty");
	if (c->has_anchor && !c->is_anchor_met)
		return bad(c, c->first_seq,
			   "the log begins after the anchored record");
	/* a link to what follows it may stand where a file was removed */
	if (c->skips_first && c->begins_at_link)
		return bad(c, c->first_seq,
			   "the file before the first link is this one again");
	if (c->pin[0] && !c->is_pinned)
		return bad(c, c->first_seq,
			   "no record is vouched for by the given key");
	/* naming it is easy: it is public */
	if (c->pin[0] && !c->signed_seq)
		return bad(c, c->first_seq,
			   "no head is signed by the given key or one after "
			   "it");
	return 0;
}

int32_t ab_audit_anchor_parse(const char *json, uint64_t *count,
			      char chain[AB_ID_SIZE],
			      char head[AB_AUDIT_HASH_HEX],
			      char key[AB_AUDIT_KEY_HEX], agentbox_error **err)
{
	json_t *doc = NULL;
	const char *c, *h, *k;
	json_int_t n;
	int32_t rc = ab_json_parse(json, strlen(json), 4096, &doc, NULL, err);

	if (rc != 0)
		return rc;
	c = hex_member(doc, "chain", AB_ID_SIZE - 1);
	h = hex_member(doc, "head", AB_AUDIT_HASH_HEX - 1);
	k = hex_member(doc, "key", AB_AUDIT_KEY_HEX - 1);
	n = json_integer_value(json_object_get(doc, "count"));
	if (json_integer_value(json_object_get(doc, "agentbox_audit_anchor")) !=
		    1 ||
	    !c || !h || !k || n < 1) {
		json_decref(doc);
		return ab_error_set(err, AGENTBOX_EPARSE, "",
				    "an anchor is an object of "
				    "agentbox_audit_anchor, chain, count, "
				    "head and key");
	}
	*count = (uint64_t)n;
	memcpy(chain, c, AB_ID_SIZE);
	memcpy(head, h, AB_AUDIT_HASH_HEX);
	memcpy(key, k, AB_AUDIT_KEY_HEX);
	json_decref(doc);
	return 0;
}
