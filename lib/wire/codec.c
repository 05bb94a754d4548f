/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The message and plan codec. It refuses to read or write one byte outside
 * its memory whatever the lengths inside say, and after the first refusal it
 * stays refused. Libc only: every helper compiles it. Spec: codec.h.
 */
#include "config.h"

#include "wire/codec.h"

#include <string.h>

#include "base/alloc.h"

#define WRITER_FIRST 256u

void ab_writer_init(ab_writer *w, size_t max)
{
	memset(w, 0, sizeof(*w));
	w->max = max;
}

void ab_writer_init_fixed(ab_writer *w, void *memory, size_t size)
{
	memset(w, 0, sizeof(*w));
	w->data = memory;
	w->cap = size;
	w->max = size;
	w->is_fixed = true;
}

void ab_writer_end(ab_writer *w)
{
	if (!w->is_fixed)
		free(w->data);
	memset(w, 0, sizeof(*w));
	w->bad = true; /* a writer that ended takes nothing more */
}

static bool writer_grow(ab_writer *w, size_t need)
{
	size_t cap = w->cap ? w->cap : WRITER_FIRST;
	uint8_t *data;

	if (w->is_fixed)
		return false;
	while (cap < need) {
		if (!ab_mul_size(cap, 2, &cap))
			return false;
	}
	if (cap > w->max)
		cap = w->max;
	data = ab_realloc(w->data, cap, 1);
	if (!data)
		return false;
	w->data = data;
	w->cap = cap;
	return true;
}

/* n bytes to fill, or NULL and bad. */
static uint8_t *writer_take(ab_writer *w, size_t n)
{
	uint8_t *at;
	size_t need;

	if (w->bad)
		return NULL;
	if (!ab_add_size(w->len, n, &need) || need > w->max ||
	    (need > w->cap && !writer_grow(w, need))) {
		w->bad = true;
		return NULL;
	}
	at = w->data + w->len;
	w->len = need;
	return at;
}

static void put_le(ab_writer *w, uint64_t v, size_t n)
{
	uint8_t *at = writer_take(w, n);

	for (size_t i = 0; at && i < n; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

void ab_put_u8(ab_writer *w, uint8_t v)
{
	put_le(w, v, 1);
}

void ab_put_u32(ab_writer *w, uint32_t v)
{
	put_le(w, v, 4);
}

void ab_put_u64(ab_writer *w, uint64_t v)
{
	put_le(w, v, 8);
}

void ab_put_i32(ab_writer *w, int32_t v)
{
	put_le(w, (uint32_t)v, 4);
}

void ab_put_bytes(ab_writer *w, const void *p, size_t n)
{
	uint8_t *at;

	if (n > UINT32_MAX || (!p && n)) {
		w->bad = true;
		return;
	}
	ab_put_u32(w, (uint32_t)n);
	if (n == 0)
		return;
	at = writer_take(w, n);
	if (at)
		memcpy(at, p, n);
}

void ab_put_str(ab_writer *w, const char *s)
{
	if (!s) {
		w->bad = true;
		return;
	}
	ab_put_bytes(w, s, strlen(s) + 1);
}

void ab_reader_init(ab_reader *r, const void *p, size_t n)
{
	r->data = p;
	r->len = p ? n : 0;
	r->pos = 0;
	r->bad = !p && n;
}

static const uint8_t *reader_take(ab_reader *r, size_t n)
{
	const uint8_t *at;

	if (r->bad || n > r->len - r->pos) {
		r->bad = true;
		return NULL;
	}
	at = r->data + r->pos;
	r->pos += n;
	return at;
}

static uint64_t get_le(ab_reader *r, size_t n)
{
	const uint8_t *at = reader_take(r, n);
	uint64_t v = 0;

	for (size_t i = 0; at && i < n; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

uint8_t ab_get_u8(ab_reader *r)
{
	return (uint8_t)get_le(r, 1);
}

uint32_t ab_get_u32(ab_reader *r)
{
	return (uint32_t)get_le(r, 4);
}

uint64_t ab_get_u64(ab_reader *r)
{
	return get_le(r, 8);
}

int32_t ab_get_i32(ab_reader *r)
{
	uint32_t v = ab_get_u32(r);
	int32_t out;

	memcpy(&out, &v, sizeof(out));
	return out;
}

const void *ab_get_bytes(ab_reader *r, size_t *n)
{
	uint32_t len = ab_get_u32(r);
	const uint8_t *at = reader_take(r, len);

	*n = at ? len : 0;
	return at;
}

const char *ab_get_str(ab_reader *r)
{
	size_t n;
	const char *s = ab_get_bytes(r, &n);

	if (!s || n == 0 || memchr(s, '\0', n) != s + n - 1) {
		r->bad = true;
		return "";
	}
	return s;
}

uint32_t ab_get_count(ab_reader *r, uint32_t max)
{
	uint32_t count = ab_get_u32(r);

	/* every element takes a byte at least: no allocation from a lie */
	if (r->bad || count > max || count > r->len - r->pos) {
		r->bad = true;
		return 0;
	}
	return count;
}

bool ab_reader_done(const ab_reader *r)
{
	return !r->bad && r->pos == r->len;
}
