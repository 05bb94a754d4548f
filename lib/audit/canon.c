/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Canonical JSON for records: keys sorted by code point, no spaces, integers
 * only, everything outside printable ASCII escaped with lower-case \u. It is
 * what Python's json.dumps(sort_keys=True, separators=(",", ":")) gives, so a
 * verifier in another language needs no code of ours. Secrets are replaced
 * and long strings cut on the way, in that order: a cut never leaves half a
 * secret. Refuses reals, depth over 16 and too many keys.
 * base/canonical.c writes the same form into memory that grows; this one has
 * a line of fixed size, and bytes that are not UTF-8 to replace. A unit test
 * holds the two together, character by character.
 * Spec: agentbox-audit(5), "CANONICAL FORM".
 */
#include "config.h"

#include "audit/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"

#define REDACTED "[redacted]"
#define FEW_KEYS 16

void ab_audit_write_raw(ab_audit_writer *w, const char *p, size_t n)
{
	if (w->is_full || n > w->max - w->len) {
		w->is_full = true;
		return;
	}
	memcpy(w->buf + w->len, p, n);
	w->len += n;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void write_unit(ab_audit_writer *w, unsigned unit)
{
	static const char digits[] = "0123456789abcdef";
	char text[6] = { '\\', 'u', digits[unit >> 12 & 15],
			 digits[unit >> 8 & 15], digits[unit >> 4 & 15],
			 digits[unit & 15] };

	ab_audit_write_raw(w, text, sizeof(text));
}

static void write_ascii(ab_audit_writer *w, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t";
	static const char to[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;
	char text[2] = { '\\', 0 };

	if (!at) {
		write_unit(w, c);
		return;
	}
	text[1] = to[at - from];
	ab_audit_write_raw(w, text, 2);
}

/* Length of the UTF-8 sequence at p, its code point in *cp; 0: invalid. */
static size_t decode(const unsigned char *p, size_t n, unsigned *cp)
{
	static const unsigned least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	*cp = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (p[i] & 0x3f);
	}
	if (*cp < least[len] || *cp > 0x10ffff ||
	    (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return len;
}

/* One character at p; returns its length. */
static size_t write_char(ab_audit_writer *w, const unsigned char *p, size_t n)
{
	unsigned cp = 0;
	size_t len;

	if (p[0] < 0x80) {
		write_ascii(w, p[0]);
		return 1;
	}
	len = decode(p, n, &cp);
	if (!len) {
		/* a byte that is not text: never copied as it is */
		write_unit(w, 0xfffd);
		return 1;
	}
	if (cp >= 0x10000) {
		write_unit(w, 0xd800 + ((cp - 0x10000) >> 10));
		write_unit(w, 0xdc00 + ((cp - 0x10000) & 0x3ff));
	} else {
		write_unit(w, cp);
	}
	return len;
}

static void write_text(ab_audit_writer *w, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i = 0;

	while (i < n && !w->is_full) {
		size_t from = i;

		while (i < n && is_plain(p[i]))
			i++;
		ab_audit_write_raw(w, text + from, i - from);
		if (i < n)
			i += write_char(w, p + i, n - i);
	}
}

/* How much of p,n is kept, at a character boundary. */
static size_t cut_at(const char *p, size_t n, size_t max)
{
	size_t keep = max;

	if (!max || n <= max)
		return n;
	while (keep && ((unsigned char)p[keep] & 0xc0) == 0x80)
		keep--;
	return keep;
}

void ab_audit_write_string(ab_audit_writer *w, const char *p, size_t n)
{
	ab_autofree char *clean = NULL;
	size_t clean_n = 0, keep;
	int64_t found = 0;

	if (w->secrets)
		found = ab_audit_redact(w->secrets, p, n, &clean, &clean_n);
	if (found < 0) {
		w->has_no_memory = true;
		return;
	}
	if (clean) {
		p = clean;
		n = clean_n;
		w->redacted += (uint64_t)found;
	}
	keep = cut_at(p, n, w->value_max);
	ab_audit_write_raw(w, "\"", 1);
	write_text(w, p, keep);
	if (keep < n) {
		char mark[48];
		int len = snprintf(mark, sizeof(mark), "[cut %zu bytes]",
				   n - keep);

		w->cut_values++;
		w->cut_bytes += n - keep;
		ab_audit_write_raw(w, mark, (size_t)len);
	}
	ab_audit_write_raw(w, "\"", 1);
}

static int compare_keys(const void *a, const void *b)
{
	/* strcmp() on UTF-8 is the order of code points */
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_key(ab_audit_writer *w, const char *key)
{
	ab_audit_write_raw(w, "\"", 1);
	write_text(w, key, strlen(key));
	ab_audit_write_raw(w, "\":", 2);
}

static bool is_hidden(const ab_audit_writer *w, const char *key,
		      const json_t *value)
{
	if (!w->secrets || json_is_null(value) || json_is_boolean(value))
		return false;
	return ab_audit_is_secret_name(key, strlen(key));
}

/* No memory counts as yes, and is marked. */
static bool has_secret_key(ab_audit_writer *w, const json_t *object)
{
	for (void *it = json_object_iter((json_t *)object); it;
	     it = json_object_iter_next((json_t *)object, it)) {
		const char *key = json_object_iter_key(it);
		ab_autofree char *clean = NULL;
		size_t n = 0;
		int64_t found = ab_audit_redact(w->secrets, key, strlen(key),
						&clean, &n);

		if (found < 0)
			w->has_no_memory = true;
		if (found)
			return true;
	}
	return false;
}

static void write_members(ab_audit_writer *w, const json_t *object,
			  const char **keys, size_t count, unsigned depth)
{
	size_t i = 0;

	for (void *it = json_object_iter((json_t *)object); it;
	     it = json_object_iter_next((json_t *)object, it))
		keys[i++] = json_object_iter_key(it);
	qsort(keys, count, sizeof(*keys), compare_keys);
	ab_audit_write_raw(w, "{", 1);
	for (i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, keys[i]);

		if (i)
			ab_audit_write_raw(w, ",", 1);
		write_key(w, keys[i]);
		if (is_hidden(w, keys[i], value)) {
			ab_audit_write_raw(w, "\"" REDACTED "\"",
					   sizeof(REDACTED) + 1);
			w->redacted++;
		} else {
			ab_audit_write_value(w, value, depth + 1);
		}
	}
	ab_audit_write_raw(w, "}", 1);
}

static void write_object(ab_audit_writer *w, const json_t *object,
			 unsigned depth)
{
	size_t count = json_object_size(object);
	const char *few[FEW_KEYS];
	ab_autofree const char **many = NULL;

	if (count > AB_AUDIT_MAX_KEYS) {
		w->is_bad = true;
		return;
	}
	if (w->secrets && has_secret_key(w, object)) {
		/* a name is a secret: the object goes, names and values */
		ab_audit_write_raw(w, "\"" REDACTED "\"", sizeof(REDACTED) + 1);
		w->redacted++;
		return;
	}
	if (count > FEW_KEYS) {
		many = ab_calloc(count, sizeof(*many));
		if (!many) {
			w->has_no_memory = true;
			return;
		}
	}
	write_members(w, object, many ? many : few, count, depth);
}

static void write_array(ab_audit_writer *w, const json_t *array, unsigned depth)
{
	size_t n = json_array_size(array);

	ab_audit_write_raw(w, "[", 1);
	for (size_t i = 0; i < n && !w->is_full && !w->is_bad; i++) {
		if (i)
			ab_audit_write_raw(w, ",", 1);
		ab_audit_write_value(w, json_array_get(array, i), depth + 1);
	}
	ab_audit_write_raw(w, "]", 1);
}

static void write_integer(ab_audit_writer *w, json_int_t value)
{
	/* the magnitude, also of the least integer */
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char text[24];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		text[--at] = '-';
	ab_audit_write_raw(w, text + at, sizeof(text) - at);
}

void ab_audit_write_value(ab_audit_writer *w, const json_t *value,
			  unsigned depth)
{
	if (!value || depth > AB_MAX_JSON_DEPTH || w->is_bad) {
		w->is_bad = true;
		return;
	}
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		write_object(w, value, depth);
		break;
	case JSON_ARRAY:
		write_array(w, value, depth);
		break;
	case JSON_STRING:
		ab_audit_write_string(w, json_string_value(value),
				      json_string_length(value));
		break;
	case JSON_INTEGER:
		write_integer(w, json_integer_value(value));
		break;
	case JSON_TRUE:
		ab_audit_write_raw(w, "true", 4);
		break;
	case JSON_FALSE:
		ab_audit_write_raw(w, "false", 5);
		break;
	case JSON_NULL:
		ab_audit_write_raw(w, "null", 4);
		break;
	case JSON_REAL:
		w->is_bad = true;
		break;
	}
}
