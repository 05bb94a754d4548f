/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodings that are a run of characters of their own: base64 and base64url
 * (RFC 4648 sections 4, 5), base32 (6, 7), base16 (8) and bits. Every run long
 * enough is taken for each of them; padding, a cut end and a new beginning
 * behind the padding do not matter.
 */
#include "config.h"

#include <string.h>

#include "base/digit.h"
#include "scope/internal.h"

#define LEAST_BASE64 4
#define LEAST_HEX 6

static int value32(char c)
{
	if (c >= '2' && c <= '7')
		return c - '2' + 26;
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' : -1;
}

static int value32_hex(char c)
{
	int d = ab_digit(c);

	return d < 32 ? d : -1;
}

static int value2(char c)
{
	return c == '0' || c == '1' ? c - '0' : -1;
}

/* All n characters as `bits` bits each; how many whole bytes, 0: not these. */
static size_t decode(const char *p, size_t n, int (*value)(char c),
		     unsigned bits, char *out)
{
	uint32_t have = 0;
	unsigned count = 0;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		int v = value(p[i]);

		if (v < 0)
			return 0;
		have = (have << bits | (uint32_t)v) & 0xffff;
		count += bits;
		if (count >= 8) {
			count -= 8;
			out[used++] = (char)(have >> count);
		}
	}
	return used;
}

struct run {
	struct ab_scope_look *l;
	const struct ab_plain *p;
	ab_scope_take take;
	bool is_word; /* letters and digits only */
};

/* With its padding, is the run all there is? */
static bool is_whole(const struct run *r, size_t i, size_t n)
{
	size_t end = i + n;

	while (end < r->p->n && r->p->c[end] == '=')
		end++;
	return i == 0 && end == r->p->n;
}

static void try_one(const struct run *r, size_t i, size_t n,
		    int (*value)(char c), unsigned bits)
{
	void *mark = r->l->arena->low;
	char *out = ab_arena_low(r->l->arena, n + 1);
	size_t used = out ? decode(r->p->c + i, n, value, bits, out) : 0;

	if (used)
		r->take(r->l, out, used, is_whole(r, i, n));
	ab_arena_release(r->l->arena, mark);
}

static void try_run(const struct run *r, size_t i, size_t n)
{
	const char *p = r->p->c + i;
	size_t skip = n > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' ? 2 : 0;

	/* \x7362, as PostgreSQL writes bytes */
	if (n > 1 && p[0] == 'x' && i && r->p->c[i - 1] == '\\')
		skip = 1;
	if (n >= LEAST_BASE64)
		try_one(r, i, n, ab_base64_digit, 6);
	if (!r->is_word)
		return;
	if (n - skip >= LEAST_HEX)
		try_one(r, i + skip, n - skip, ab_hex_digit, 4);
	if (n >= LEAST_HEX) {
		try_one(r, i, n, value32, 5);
		try_one(r, i, n, value32_hex, 5);
	}
	if (n >= 24 && n % 8 == 0)
		try_one(r, i, n, value2, 1);
}

/* --- runs ----------------------------------------------------------------- */

/* Runs of letters, digits and `more`; such without one of `more` are words,
   and taken only once. */
static void each_run(struct run *r, const char *more)
{
	const struct ab_plain *p = r->p;

	for (size_t i = 0; i < p->n;) {
		size_t end = i;
		bool special = false;

		while (end < p->n && p->c[end] &&
		       (ab_scope_is_alnum(p->c[end]) ||
			strchr(more, p->c[end]))) {
			special |= !ab_scope_is_alnum(p->c[end]);
			end++;
		}
		if (end == i) {
			i++;
			continue;
		}
		if (r->is_word || special)
			try_run(r, i, end - i);
		i = end;
	}
}

/* --- pieces --------------------------------------------------------------- */

static size_t piece_end(const struct ab_plain *p, size_t i)
{
	while (i < p->n && ab_base64_digit(p->c[i]) >= 0)
		i++;
	return i;
}

/* The padding behind a piece of base64 that begins at i and ends at e. */
static size_t padding(const struct ab_plain *p, size_t i, size_t e)
{
	size_t at = e;

	while (at < p->n && at < e + 2 && p->c[at] == '=')
		at++;
	return e - i >= 2 && (at - i) % 4 == 0 ? at : e;
}

/* The pieces from i on: how many bytes, *end behind the last of them. */
static size_t join_pieces(const struct ab_plain *p, size_t i, char *out,
			  size_t *end)
{
	size_t e = piece_end(p, i);
	size_t used = 0;
	size_t count = 0;

	for (*end = i; e > i; i = *end, e = piece_end(p, i)) {
		used += decode(p->c + i, e - i, ab_base64_digit, 6,
			       out + used);
		count++;
		*end = padding(p, i, e);
		if (*end == e)
			break;
	}
	return count > 1 ? used : 0;
}

/* Base64 one behind the other, each with its padding: "c2I=LTI=". */
static void pieces(const struct run *r)
{
	const struct ab_plain *p = r->p;
	void *mark = r->l->arena->low;
	char *out = ab_arena_low(r->l->arena, p->n + 1);

	for (size_t done = 0; out && done < p->n;) {
		const char *sign = memchr(p->c + done, '=', p->n - done);
		size_t at = sign ? (size_t)(sign - p->c) : p->n;
		size_t i = at;
		size_t end;
		size_t used;

		if (!sign)
			break;
		while (i > done && ab_base64_digit(p->c[i - 1]) >= 0)
			i--;
		used = join_pieces(p, i, out, &end);
		if (used)
			r->take(r->l, out, used, false);
		done = end > at ? end : at + 1;
	}
	ab_arena_release(r->l->arena, mark);
}

void ab_scope_runs(struct ab_scope_look *l, const struct ab_plain *p,
		   ab_scope_take take)
{
	struct run r = { l, p, take, true };

	each_run(&r, "");
	r.is_word = false;
	each_run(&r, "+/");
	each_run(&r, "-_");
	pieces(&r);
}
