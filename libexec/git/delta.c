/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deltas: a size to begin with, a size to end with, and instructions that
 * copy from the one or bring bytes of their own. Refuses an instruction that
 * points outside, a result of another size than announced, and one over the
 * limit. Spec: gitformat-pack(5), "deltified representation".
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "pack.h"

typedef struct cursor {
	const uint8_t *p, *end;
} cursor;

static bool take_size(cursor *c, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		uint8_t b;

		if (c->p == c->end)
			return false;
		b = *c->p++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

int delta_result(const uint8_t *delta, size_t n, size_t *size)
{
	cursor c = { delta, delta + n };
	uint64_t from, to;

	if (!take_size(&c, &from) || !take_size(&c, &to))
		return -EPROTO;
	if (to > OBJECT_MAX)
		return -EFBIG;
	*size = (size_t)to;
	return 0;
}

/* The bytes that the bits of an instruction announce, low one first. */
static bool take_bits(cursor *c, unsigned bits, unsigned count, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < count; i++) {
		if (!(bits & 1u << i))
			continue;
		if (c->p == c->end)
			return false;
		*out |= (uint64_t)*c->p++ << (8 * i);
	}
	return true;
}

static bool run(cursor *c, const uint8_t *base, size_t base_size, uint8_t *out,
		size_t size)
{
	size_t have = 0;

	while (c->p < c->end) {
		uint8_t op = *c->p++;
		uint64_t at, n = op;
		const uint8_t *from;

		if (op & 0x80) {
			if (!take_bits(c, op & 0x0f, 4, &at) ||
			    !take_bits(c, op >> 4 & 0x07, 3, &n))
				return false;
			if (n == 0)
				n = 0x10000;
			if (at > base_size || n > base_size - at)
				return false;
			from = base + at;
		} else {
			if (op == 0 || n > (uint64_t)(c->end - c->p))
				return false;
			from = c->p;
			c->p += n;
		}
		if (n > size - have)
			return false;
		memcpy(out + have, from, (size_t)n);
		have += (size_t)n;
	}
	return have == size;
}

int delta_apply(const store_memory *memory, const uint8_t *base,
		size_t base_size, const uint8_t *delta, size_t n,
		uint8_t **out, size_t *out_size)
{
	cursor c = { delta, delta + n };
	uint64_t from, to;
	uint8_t *made;

	if (!take_size(&c, &from) || !take_size(&c, &to) || from != base_size)
		return -EPROTO;
	if (to > OBJECT_MAX)
		return -EFBIG;
	made = memory->alloc((size_t)to + 1);
	if (!made)
		return -ENOMEM;
	if (!run(&c, base, base_size, made, (size_t)to)) {
		memory->release(made);
		return -EPROTO;
	}
	made[to] = 0;
	*out = made;
	*out_size = (size_t)to;
	return 0;
}
