/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Canonical JSON text: the bytes that digests and signatures are made over.
 * It refuses reals, whose text is a matter of taste, and unbounded depth.
 * Written here and not by json_dumps(), so that no change of that library
 * can change a digest. Spec: json.h, RFC 8785.
 */
#include "config.h"

#include "base/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

/* Objects up to this size are sorted without asking for memory. */
#define FEW_KEYS 16

typedef struct member {
	const char *key;
	size_t key_len;
	const json_t *value;
} member;

static void put(ab_canonical *c, const char *p, size_t n)
{
	if (!c->rc && n && !c->put(c->data, p, n))
		c->rc = AGENTBOX_ECANCELED;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_unit(ab_canonical *c, unsigned unit)
{
	static const char digits[] = "0123456789abcdef";
	char text[6] = { '\\', 'u', digits[unit >> 12 & 15],
			 digits[unit >> 8 & 15], digits[unit >> 4 & 15],
			 digits[unit & 15] };

	put(c, text, sizeof(text));
}

static void put_ascii(ab_canonical *c, unsigned char byte)
{
	static const char from[] = "\"\\\b\f\n\r\t";
	static const char to[] = "\"\\bfnrt";
	const char *at = byte ? strchr(from, byte) : NULL;
	char text[2] = { '\\', 0 };

	if (!at) {
		put_unit(c, byte);
		return;
	}
	text[1] = to[at - from];
	put(c, text, 2);
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

size_t ab_canonical_char(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	unsigned cp;

	return u[0] < 0x80 ? 1 : decode(u, n, &cp);
}

/* One character at p; returns its length. */
static size_t put_char(ab_canonical *c, const unsigned char *p, size_t n)
{
	unsigned cp = 0;
	size_t len;

	if (p[0] < 0x80) {
		put_ascii(c, p[0]);
		return 1;
	}
	len = decode(p, n, &cp);
	if (!len) {
		/* a byte that is not text: never copied as it is */
		put_unit(c, 0xfffd);
		return 1;
	}
	if (cp >= 0x10000) {
		put_unit(c, 0xd800 + ((cp - 0x10000) >> 10));
		put_unit(c, 0xdc00 + ((cp - 0x10000) & 0x3ff));
	} else {
		put_unit(c, cp);
	}
	return len;
}

void ab_canonical_text(ab_canonical *c, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i = 0;

	while (i < n && !c->rc) {
		size_t from = i;

		while (i < n && is_plain(p[i]))
			i++;
		put(c, text + from, i - from);
		if (i < n)
			i += put_char(c, p + i, n - i);
	}
}

static void put_string(ab_canonical *c, const char *p, size_t n)
{
	put(c, "\"", 1);
	ab_canonical_text(c, p, n);
	put(c, "\"", 1);
}

/* The order of the bytes of UTF-8 is that of the code points. */
static int member_order(const void *pa, const void *pb)
{
	const member *a = pa, *b = pb;
	size_t n = a->key_len < b->key_len ? a->key_len : b->key_len;
	int r = memcmp(a->key, b->key, n);

	if (r)
		return r;
	return a->key_len < b->key_len ? -1 : a->key_len > b->key_len;
}

static void sort_members(const json_t *v, member *m)
{
	json_t *object = (json_t *)(uintptr_t)v; /* iteration is not const */
	size_t i = 0;

	for (void *it = json_object_iter(object); it;
	     it = json_object_iter_next(object, it)) {
		m[i].key = json_object_iter_key(it);
		m[i].key_len = json_object_iter_key_len(it);
		m[i++].value = json_object_iter_value(it);
	}
	qsort(m, i, sizeof(*m), member_order);
}

static void put_members(ab_canonical *c, const member *m, size_t count,
			unsigned depth)
{
	put(c, "{", 1);
	for (size_t i = 0; i < count && !c->rc; i++) {
		if (i)
			put(c, ",", 1);
		put_string(c, m[i].key, m[i].key_len);
		put(c, ":", 1);
		if (!c->put_member ||
		    !c->put_member(c->data, m[i].key, m[i].value))
			ab_canonical_value(c, m[i].value, depth + 1);
	}
	put(c, "}", 1);
}

static void put_object(ab_canonical *c, const json_t *object, unsigned depth)
{
	size_t count = json_object_size(object);
	member few[FEW_KEYS];
	ab_autofree member *many = NULL;

	if (count > c->keys_max) {
		c->rc = AGENTBOX_ELIMIT;
		return;
	}
	if (c->put_object && c->put_object(c->data, object))
		return;
	if (count > FEW_KEYS) {
		many = ab_calloc(count, sizeof(*many));
		if (!many) {
			c->rc = AGENTBOX_ENOMEM;
			return;
		}
	}
	sort_members(object, many ? many : few);
	put_members(c, many ? many : few, count, depth);
}

static void put_array(ab_canonical *c, const json_t *array, unsigned depth)
{
	size_t n = json_array_size(array);

	if (c->put_array && c->put_array(c->data, array))
		return;
	put(c, "[", 1);
	for (size_t i = 0; i < n && !c->rc; i++) {
		if (i)
			put(c, ",", 1);
		ab_canonical_value(c, json_array_get(array, i), depth + 1);
	}
	put(c, "]", 1);
}

static void put_integer(ab_canonical *c, json_int_t value)
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
	put(c, text + at, sizeof(text) - at);
}

int32_t ab_canonical_value(ab_canonical *c, const json_t *v, unsigned depth)
{
	if (c->rc)
		return c->rc;
	if (depth >= c->depth_max)
		return c->rc = AGENTBOX_ELIMIT;
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		put_object(c, v, depth);
		break;
	case JSON_ARRAY:
		put_array(c, v, depth);
		break;
	case JSON_STRING:
		if (c->put_string)
			c->put_string(c->data, json_string_value(v),
				      json_string_length(v));
		else
			put_string(c, json_string_value(v),
				   json_string_length(v));
		break;
	case JSON_INTEGER:
		put_integer(c, json_integer_value(v));
		break;
	case JSON_TRUE:
		put(c, "true", 4);
		break;
	case JSON_FALSE:
		put(c, "false", 5);
		break;
	case JSON_NULL:
		put(c, "null", 4);
		break;
	case JSON_REAL:
		c->rc = AGENTBOX_EINVAL;
		break;
	}
	return c->rc;
}

static bool append(void *data, const char *p, size_t n)
{
	return ab_bytes_append(data, p, n);
}

static int32_t explain(int32_t rc, const agentbox_bytes *b,
		       agentbox_error **err)
{
	if (ab_bytes_is_over(b))
		return ab_error_set(err, AGENTBOX_ELIMIT, NULL,
				    "canonical text is over %u bytes",
				    AB_MAX_CANONICAL_BYTES);
	if (rc == AGENTBOX_EINVAL)
		return ab_error_set(err, rc, NULL,
				    "a real number has no canonical form");
	if (rc == AGENTBOX_ELIMIT)
		return ab_error_set(err, rc, NULL,
				    "value is nested deeper than %d levels",
				    AB_MAX_CANONICAL_DEPTH);
	return ab_error_nomem(err);
}

int32_t ab_json_canonical(const json_t *value, agentbox_bytes **out,
			  agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;

	if (!value || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "value and out must not be NULL");
	b = ab_bytes_new(AB_MAX_CANONICAL_BYTES);
	if (!b)
		return ab_error_nomem(err);
	ab_canonical c = { .data = b, .put = append,
			   .depth_max = AB_MAX_CANONICAL_DEPTH,
			   .keys_max = SIZE_MAX };
	int32_t r = ab_canonical_value(&c, value, 0);
	if (r)
		return explain(r, b, err);
	*out = ab_steal(&b);
	return AGENTBOX_OK;
}
