/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Canonical JSON text: the bytes that digests and signatures are made over.
 * It refuses reals, whose text is a matter of taste, and unbounded depth.
 * Written here and not by json_dumps(), so that no change of that library
 * can change a digest. The audit log writes the same form with a writer of
 * its own, and says there why. Spec: json.h, RFC 8785.
 */
#include "config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

typedef struct member {
	const char *key;
	size_t key_len;
	const json_t *value;
} member;

static int32_t put_value(agentbox_bytes *b, const json_t *v, unsigned depth,
			 agentbox_error **err);

/* One code point of UTF-8 that jansson has checked; advances *p. */
static uint32_t next_char(const unsigned char **p, const unsigned char *end)
{
	uint32_t c = *(*p)++;
	unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

	if (more)
		c &= 0x3fu >> more;
	for (; more && *p < end; more--)
		c = c << 6 | (*(*p)++ & 0x3fu);
	return c;
}

static void put_escaped(agentbox_bytes *b, uint32_t c)
{
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char letter[] = "\"\\bfnrt";
	const char *found = c < 0x80 && c ? strchr(plain, (int)c) : NULL;

	if (found) {
		ab_bytes_append_char(b, '\\');
		ab_bytes_append_char(b, letter[found - plain]);
	} else if (c > 0xffff) {
		c -= 0x10000;
		ab_bytes_appendf(b, "\\u%04x\\u%04x", 0xd800 + (c >> 10),
				 0xdc00 + (c & 0x3ff));
	} else {
		ab_bytes_appendf(b, "\\u%04x", c);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(agentbox_bytes *b, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	const unsigned char *end = p + n;

	ab_bytes_append_char(b, '"');
	while (p < end) {
		const unsigned char *run = p;

		while (p < end && is_plain(*p))
			p++;
		ab_bytes_append(b, run, (size_t)(p - run));
		if (p < end)
			put_escaped(b, next_char(&p, end));
	}
	ab_bytes_append_char(b, '"');
}

static int member_order(const void *pa, const void *pb)
{
	const member *a = pa, *b = pb;
	size_t n = a->key_len < b->key_len ? a->key_len : b->key_len;
	int r = memcmp(a->key, b->key, n);

	if (r)
		return r;
	return a->key_len < b->key_len ? -1 : a->key_len > b->key_len;
}

static int32_t sorted_members(const json_t *v, member **out,
			      agentbox_error **err)
{
	json_t *object = (json_t *)(uintptr_t)v; /* iteration is not const */
	member *m = ab_calloc(json_object_size(v), sizeof(*m));
	size_t i = 0;
	void *it;

	if (!m)
		return ab_error_nomem(err);
	for (it = json_object_iter(object); it;
	     it = json_object_iter_next(object, it)) {
		m[i].key = json_object_iter_key(it);
		m[i].key_len = json_object_iter_key_len(it);
		m[i++].value = json_object_iter_value(it);
	}
	qsort(m, i, sizeof(*m), member_order);
	*out = m;
	return AGENTBOX_OK;
}

static int32_t put_object(agentbox_bytes *b, const json_t *v, unsigned depth,
			  agentbox_error **err)
{
	ab_autofree member *m = NULL;
	size_t n = json_object_size(v);
	int32_t r = sorted_members(v, &m, err);

	if (r)
		return r;
	ab_bytes_append_char(b, '{');
	for (size_t i = 0; i < n; i++) {
		if (i)
			ab_bytes_append_char(b, ',');
		put_string(b, m[i].key, m[i].key_len);
		ab_bytes_append_char(b, ':');
		r = put_value(b, m[i].value, depth, err);
		if (r)
			return r;
	}
	ab_bytes_append_char(b, '}');
	return AGENTBOX_OK;
}

static int32_t put_array(agentbox_bytes *b, const json_t *v, unsigned depth,
			 agentbox_error **err)
{
	size_t n = json_array_size(v);

	ab_bytes_append_char(b, '[');
	for (size_t i = 0; i < n; i++) {
		int32_t r;

		if (i)
			ab_bytes_append_char(b, ',');
		r = put_value(b, json_array_get(v, i), depth, err);
		if (r)
			return r;
	}
	ab_bytes_append_char(b, ']');
	return AGENTBOX_OK;
}

static int32_t put_value(agentbox_bytes *b, const json_t *v, unsigned depth,
			 agentbox_error **err)
{
	if (depth >= AB_MAX_CANONICAL_DEPTH)
		return ab_error_set(err, AGENTBOX_ELIMIT, NULL,
				    "value is nested deeper than %d levels",
				    AB_MAX_CANONICAL_DEPTH);
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return put_object(b, v, depth + 1, err);
	case JSON_ARRAY:
		return put_array(b, v, depth + 1, err);
	case JSON_STRING:
		put_string(b, json_string_value(v), json_string_length(v));
		return AGENTBOX_OK;
	case JSON_INTEGER:
		ab_bytes_appendf(b, "%lld", (long long)json_integer_value(v));
		return AGENTBOX_OK;
	case JSON_TRUE:
		ab_bytes_append_str(b, "true");
		return AGENTBOX_OK;
	case JSON_FALSE:
		ab_bytes_append_str(b, "false");
		return AGENTBOX_OK;
	case JSON_NULL:
		ab_bytes_append_str(b, "null");
		return AGENTBOX_OK;
	case JSON_REAL:
		break;
	}
	return ab_error_set(err, AGENTBOX_EINVAL, NULL,
			    "a real number has no canonical form");
}

int32_t ab_json_canonical(const json_t *value, agentbox_bytes **out,
			  agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;
	int32_t r;

	if (!value || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "value and out must not be NULL");
	b = ab_bytes_new(AB_MAX_CANONICAL_BYTES);
	if (!b)
		return ab_error_nomem(err);
	r = put_value(b, value, 0, err);
	if (r)
		return r;
	if (ab_bytes_is_over(b))
		return ab_error_set(err, AGENTBOX_ELIMIT, NULL,
				    "canonical text is over %u bytes",
				    AB_MAX_CANONICAL_BYTES);
	if (!ab_bytes_ok(b))
		return ab_error_nomem(err);
	*out = ab_steal(&b);
	return AGENTBOX_OK;
}
