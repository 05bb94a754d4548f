/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_bytes: owned output, and a buffer that grows by doubling up to a
 * hard maximum. It refuses to cut: an append that does not fit appends
 * nothing and leaves the buffer bad for good. Spec: base.h, bytes.h.
 */
#include "config.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define BYTES_FIRST 64u

struct agentbox_bytes {
	char *data; /* owned, never NULL, data[size] is NUL */
	size_t size;
	size_t cap; /* of data, with the NUL */
	size_t max; /* of size */
	bool is_bad;
	bool is_over; /* bad, and the maximum is why */
};

static agentbox_bytes *bytes_new(size_t cap, size_t max)
{
	agentbox_bytes *b = ab_new(agentbox_bytes);

	if (!b)
		return NULL;
	b->data = ab_calloc(cap, 1);
	if (!b->data) {
		free(b);
		return NULL;
	}
	b->cap = cap;
	b->max = max;
	return b;
}

agentbox_bytes *ab_bytes_new(size_t max)
{
	/* the NUL must be countable too */
	if (max == SIZE_MAX)
		max--;
	return bytes_new(max < BYTES_FIRST ? max + 1 : BYTES_FIRST, max);
}

agentbox_bytes *ab_bytes_from(const void *p, size_t n)
{
	agentbox_bytes *b;
	size_t cap;

	if (!ab_add_size(n, 1, &cap))
		return NULL;
	b = bytes_new(cap, n);
	if (b && n) {
		memcpy(b->data, p, n);
		b->size = n;
	}
	return b;
}

/* Make room for n more and the NUL; the buffer is bad when there is none. */
static bool reserve(agentbox_bytes *b, size_t n)
{
	size_t cap = b->cap;
	char *data;

	if (b->is_bad)
		return false;
	if (n < b->cap - b->size && n <= b->max - b->size)
		return true;
	b->is_bad = true;
	b->is_over = n > b->max - b->size;
	if (b->is_over)
		return false;
	while (cap - b->size <= n) {
		if (!ab_mul_size(cap, 2, &cap))
			return false;
	}
	if (cap > b->max + 1)
		cap = b->max + 1;
	data = ab_realloc(b->data, cap, 1);
	if (!data)
		return false;
	b->data = data;
	b->cap = cap;
	b->is_bad = false;
	return true;
}

bool ab_bytes_append(agentbox_bytes *b, const void *p, size_t n)
{
	if (!reserve(b, n))
		return false;
	if (n)
		memcpy(b->data + b->size, p, n);
	b->size += n;
	b->data[b->size] = '\0';
	return true;
}

bool ab_bytes_append_str(agentbox_bytes *b, const char *s)
{
	return ab_bytes_append(b, s, strlen(s));
}

bool ab_bytes_append_char(agentbox_bytes *b, char c)
{
	return ab_bytes_append(b, &c, 1);
}

bool ab_bytes_appendf(agentbox_bytes *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		b->is_bad = true;
	if (n < 0 || !reserve(b, (size_t)n))
		return false;
	va_start(ap, fmt);
	vsnprintf(b->data + b->size, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->size += (size_t)n;
	return true;
}

bool ab_bytes_ok(const agentbox_bytes *b)
{
	return b && !b->is_bad;
}

bool ab_bytes_is_over(const agentbox_bytes *b)
{
	return b && b->is_over;
}

const char *agentbox_bytes_get_data(const agentbox_bytes *bytes)
{
	return bytes ? bytes->data : "";
}

size_t agentbox_bytes_get_size(const agentbox_bytes *bytes)
{
	return bytes ? bytes->size : 0;
}

void agentbox_bytes_free(agentbox_bytes *bytes)
{
	int saved = errno;

	if (bytes)
		free(bytes->data);
	free(bytes);
	errno = saved;
}
