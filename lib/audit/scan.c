/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a line of a log without building a tree: is it one canonical JSON
 * object (strict grammar, sorted unique keys, no space, shortest escapes,
 * plain integers), and where are seq, prev, timestamp and type. Refuses
 * every line the writer in canon.c could not have written. Where the answer
 * needs decoding (escapes in keys, 19-digit numbers) it asks jansson and the
 * writer instead, and tests compare both ways over everything.
 * Spec: agentbox-audit(5), "CANONICAL FORM".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/digit.h"

#define UNSURE (-EAGAIN)

typedef struct cursor {
	const unsigned char *p, *end;
} cursor;

typedef struct text {
	const char *p;
	size_t n;
	bool has_escape;
} text;

/* Four lower-case hex digits after "\u"; -1 if not. */
static int scan_unit(cursor *c)
{
	int unit = 0;

	if (c->end - c->p < 6 || c->p[0] != '\\' || c->p[1] != 'u')
		return -1;
	for (size_t i = 2; i < 6; i++) {
		int v = ab_lower_hex_digit(c->p[i]);

		if (v < 0)
			return -1;
		unit = unit << 4 | v;
	}
	c->p += 6;
	return unit;
}

static bool has_short_form(int unit)
{
	return unit == '\b' || unit == '\f' || unit == '\n' || unit == '\r' ||
	       unit == '\t';
}

/* At a backslash. */
static int scan_escape(cursor *c)
{
	int unit, low;

	if (c->end - c->p < 2)
		return -EINVAL;
	/* memchr, not strchr: a NUL must not match the end of the list */
	if (memchr("\"\\bfnrt", c->p[1], 7)) {
		c->p += 2;
		return 0;
	}
	unit = scan_unit(c);
	if (unit < 0 || (unit >= 0x20 && unit < 0x7f) || has_short_form(unit))
		return -EINVAL;
	if (unit >= 0xdc00 && unit < 0xe000)
		return -EINVAL;
	if (unit < 0xd800 || unit >= 0xe000)
		return 0;
	low = scan_unit(c);
	return low >= 0xdc00 && low < 0xe000 ? 0 : -EINVAL;
}

/* 1 for the bytes that stand for themselves in a string; by code, 16 a row */
static const unsigned char plain[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0,
};

static int scan_string(cursor *c, text *out)
{
	bool has_escape = false;
	const unsigned char *from;

	if (c->p >= c->end || *c->p != '"')
		return -EINVAL;
	from = ++c->p;
	for (;;) {
		while (c->p < c->end && plain[*c->p])
			c->p++;
		if (c->p >= c->end)
			return -EINVAL;
		if (*c->p == '"')
			break;
		if (*c->p != '\\' || scan_escape(c) != 0)
			return -EINVAL;
		has_escape = true;
	}
	out->p = (const char *)from;
	out->n = (size_t)(c->p - from);
	out->has_escape = has_escape;
	c->p++;
	return 0;
}

static int scan_integer(cursor *c, uint64_t *out)
{
	const unsigned char *from;
	bool is_negative = c->p < c->end && *c->p == '-';
	uint64_t v = 0;

	c->p += is_negative;
	from = c->p;
	while (c->p < c->end && *c->p >= '0' && *c->p <= '9') {
		if (c->p - from >= 18)
			return UNSURE;
		v = v * 10 + (uint64_t)(*c->p - '0');
		c->p++;
	}
	if (c->p == from || (*from == '0' && (c->p - from > 1 || is_negative)))
		return -EINVAL;
	*out = is_negative ? UINT64_MAX : v;
	return 0;
}

static int scan_word(cursor *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return -EINVAL;
	c->p += n;
	return 0;
}

static int scan_value(cursor *c, unsigned depth);

/* A key, its colon, and that it comes after the one before. */
static int scan_key(cursor *c, text *last, bool is_first)
{
	text key = { 0 };
	size_t n;
	int order;

	if (scan_string(c, &key) != 0 || c->p >= c->end || *c->p != ':')
		return -EINVAL;
	c->p++;
	if (key.has_escape)
		return UNSURE;
	if (!is_first) {
		n = key.n < last->n ? key.n : last->n;
		order = memcmp(last->p, key.p, n);
		if (order > 0 || (order == 0 && last->n >= key.n))
			return -EINVAL;
	}
	*last = key;
	return 0;
}

static int scan_object(cursor *c, unsigned depth)
{
	text last = { 0 };
	size_t count = 0;
	int rc;

	c->p++;
	if (c->p < c->end && *c->p == '}') {
		c->p++;
		return 0;
	}
	for (bool is_first = true;; is_first = false) {
		rc = scan_key(c, &last, is_first);
		if (rc == 0 && ++count > AB_AUDIT_MAX_KEYS)
			rc = -EINVAL;
		if (rc == 0)
			rc = scan_value(c, depth + 1);
		if (rc != 0)
			return rc;
		if (c->p >= c->end)
			return -EINVAL;
		if (*c->p++ == '}')
			return 0;
		if (c->p[-1] != ',')
			return -EINVAL;
	}
}

static int scan_array(cursor *c, unsigned depth)
{
	int rc;

	c->p++;
	if (c->p < c->end && *c->p == ']') {
		c->p++;
		return 0;
	}
	for (;;) {
		rc = scan_value(c, depth + 1);
		if (rc != 0)
			return rc;
		if (c->p >= c->end)
			return -EINVAL;
		if (*c->p++ == ']')
			return 0;
		if (c->p[-1] != ',')
			return -EINVAL;
	}
}

static int scan_value(cursor *c, unsigned depth)
{
	text ignored = { 0 };
	uint64_t number = 0;

	if (c->p >= c->end || depth > AB_MAX_JSON_DEPTH)
		return -EINVAL;
	switch (*c->p) {
	case '{':
		return scan_object(c, depth);
	case '[':
		return scan_array(c, depth);
	case '"':
		return scan_string(c, &ignored);
	case 't':
		return scan_word(c, "true");
	case 'f':
		return scan_word(c, "false");
	case 'n':
		return scan_word(c, "null");
	default:
		return scan_integer(c, &number);
	}
}

static bool is_key(const text *key, const char *name)
{
	return key->n == strlen(name) && memcmp(key->p, name, key->n) == 0;
}

static const unsigned char is_hex[256] = {
	['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1,
	['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1, ['a'] = 1, ['b'] = 1,
	['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1,
};

static bool is_hash(const text *t)
{
	int bad = 0;

	if (t->n != AB_AUDIT_HASH_HEX - 1)
		return false;
	for (size_t i = 0; i < t->n; i++)
		bad |= !is_hex[(unsigned char)t->p[i]];
	return !bad;
}

/* One of the four framing fields, else any value. */
static int scan_member(cursor *c, const text *key, ab_audit_frame *f)
{
	text value = { 0 };
	int rc;

	if (is_key(key, "seq")) {
		rc = scan_integer(c, &f->seq);
		return rc == 0 && f->seq - 1 >= INT64_MAX ? -EINVAL : rc;
	}
	if (!is_key(key, "prev") && !is_key(key, "timestamp") &&
	    !is_key(key, "type"))
		return scan_value(c, 1);
	rc = scan_string(c, &value);
	if (rc != 0 || value.has_escape)
		return -EINVAL;
	if (is_key(key, "prev")) {
		f->prev = value.p;
		return is_hash(&value) ? 0 : -EINVAL;
	}
	if (is_key(key, "timestamp")) {
		f->timestamp = value.p;
		f->timestamp_len = value.n;
		return value.n && value.n < AB_TIMESTAMP_SIZE ? 0 : -EINVAL;
	}
	f->type = value.p;
	f->type_len = value.n;
	return value.n && value.n <= AB_AUDIT_MAX_TYPE ? 0 : -EINVAL;
}

static int scan_record(const char *line, size_t n, ab_audit_frame *f)
{
	cursor c = { (const unsigned char *)line,
		     (const unsigned char *)line + n };
	text last = { 0 };
	size_t count = 0;
	int rc;

	if (n < 2 || line[0] != '{' || n >= AB_AUDIT_MAX_LINE)
		return -EINVAL;
	c.p++;
	for (bool is_first = true;; is_first = false) {
		rc = scan_key(&c, &last, is_first);
		if (rc == 0 && ++count > AB_AUDIT_MAX_KEYS)
			rc = -EINVAL;
		if (rc == 0)
			rc = scan_member(&c, &last, f);
		if (rc != 0)
			return rc;
		if (c.p >= c.end)
			return -EINVAL;
		if (*c.p++ == '}')
			break;
		if (c.p[-1] != ',')
			return -EINVAL;
	}
	if (c.p != c.end)
		return -EINVAL;
	return f->seq && f->prev && f->timestamp && f->type ? 0 : -EINVAL;
}

json_t *ab_audit_parse_line(const char *line, size_t n)
{
	return json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
			  NULL);
}

/* jansson recurses: depth is bounded before it sees the bytes. */
bool ab_audit_is_shallow(const char *line, size_t n)
{
	unsigned depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < n; i++) {
		if (in_string) {
			if (line[i] == '\\')
				i++;
			else if (line[i] == '"')
				in_string = false;
		} else if (line[i] == '"') {
			in_string = true;
		} else if (line[i] == '{' || line[i] == '[') {
			if (++depth > AB_MAX_JSON_DEPTH + 1)
				return false;
		} else if ((line[i] == '}' || line[i] == ']') && depth) {
			depth--;
		}
	}
	return true;
}

/* Where the string value of a top-level key is in a canonical line. */
static bool frame_text(const json_t *doc, const char *key, const char *line,
		       size_t n, const char **out, size_t *out_n)
{
	const json_t *value = json_object_get(doc, key);
	size_t len = json_string_length(value);
	char needle[160];
	const char *at;
	int k;

	if (!value || !len || len > AB_AUDIT_MAX_TYPE ||
	    strlen(json_string_value(value)) != len)
		return false;
	k = snprintf(needle, sizeof(needle), "\"%s\":\"%s\"", key,
		     json_string_value(value));
	at = memmem(line, n, needle, (size_t)k);
	if (!at)
		return false; /* it has escapes */
	*out = at + strlen(key) + 4;
	*out_n = len;
	return true;
}

static bool fill_frame(const json_t *doc, const char *line, size_t n,
		       ab_audit_frame *f)
{
	const json_t *seq = json_object_get(doc, "seq");
	text prev = { 0 };

	if (!json_is_integer(seq) || json_integer_value(seq) < 1)
		return false;
	f->seq = (uint64_t)json_integer_value(seq);
	if (!frame_text(doc, "prev", line, n, &prev.p, &prev.n) ||
	    !is_hash(&prev))
		return false;
	f->prev = prev.p;
	return frame_text(doc, "timestamp", line, n, &f->timestamp,
			  &f->timestamp_len) &&
	       f->timestamp_len < AB_TIMESTAMP_SIZE &&
	       frame_text(doc, "type", line, n, &f->type, &f->type_len);
}

int ab_audit_scan_slow(const char *line, size_t n, ab_audit_frame *out)
{
	ab_autofree char *again = NULL;
	ab_audit_frame f = { 0 };
	ab_audit_writer w = { 0 };
	json_t *doc;
	bool is_same;

	if (n < 2 || n >= AB_AUDIT_MAX_LINE || !ab_audit_is_shallow(line, n))
		return -EINVAL;
	again = ab_calloc(n, 1);
	if (!again)
		return -ENOMEM;
	doc = ab_audit_parse_line(line, n);
	w.buf = again;
	w.max = n;
	if (json_is_object(doc))
		ab_audit_write_value(&w, doc, 0);
	is_same = json_is_object(doc) && !w.is_full && !w.is_bad &&
		  w.len == n && memcmp(line, again, n) == 0;
	is_same = is_same && fill_frame(doc, line, n, &f);
	json_decref(doc);
	if (w.has_no_memory)
		return -ENOMEM;
	if (!is_same)
		return -EINVAL;
	*out = f;
	return 0;
}

int ab_audit_scan(const char *line, size_t n, ab_audit_frame *out)
{
	ab_audit_frame f = { 0 };
	int rc = scan_record(line, n, &f);

	if (rc == UNSURE)
		return ab_audit_scan_slow(line, n, out);
	if (rc == 0)
		*out = f;
	return rc;
}

bool ab_audit_is_type(const ab_audit_frame *frame, const char *type)
{
	return frame->type_len == strlen(type) &&
	       memcmp(frame->type, type, frame->type_len) == 0;
}
