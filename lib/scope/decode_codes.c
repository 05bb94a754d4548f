/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of numbers that stand for bytes, with something between them: "115 98
 * 45 50", "chr(115)||chr(98)", "0x73, 0x62", "7362 2d32", "0163 0142",
 * "01110011 01100010". Each row is taken for every base that it can be; what
 * it comes to is judged as a run of base64 is. It does not take a row that is
 * shorter than a name.
 */
#include "config.h"

#include <string.h>

#include "base/digit.h"
#include "scope/internal.h"

/* Between two codes: "," ", 0x" and, for decimals, ")||chr(" */
#define MAX_BETWEEN 4
#define MAX_BETWEEN_DECIMAL 14
#define LEAST_BYTES 3
#define LEAST_CODES 4

struct row {
	struct ab_scope_look *l;
	ab_scope_take take;
	int base;
	char *out;
	size_t n;      /* whole bytes */
	size_t groups; /* numbers since the last end */
	uint32_t have; /* bits that are no byte yet */
	unsigned bits;
};

static void end_row(struct row *r)
{
	bool is_row = r->base == 16 || r->base == 2 ?
			      r->groups >= 2 && r->n >= LEAST_BYTES :
			      r->groups >= LEAST_CODES;

	if (is_row)
		r->take(r->l, r->out, r->n, false);
	r->n = r->groups = 0;
	r->have = 0;
	r->bits = 0;
}

static void push(struct row *r, uint32_t value, unsigned bits)
{
	r->have = (r->have << bits | value) & 0xffff;
	r->bits += bits;
	if (r->bits >= 8) {
		r->bits -= 8;
		r->out[r->n++] = (char)(r->have >> r->bits);
	}
}

static bool are_digits(const char *p, size_t n, int base)
{
	for (size_t i = 0; i < n; i++) {
		int d = ab_digit(p[i]);

		if (d < 0 || d >= base)
			return false;
	}
	return n > 0;
}

/* A group of hex digits or bits, any number of bytes; or one code. */
static bool take_group(struct row *r, const char *p, size_t n)
{
	uint32_t c = 0;

	if (!are_digits(p, n, r->base))
		return false;
	if (r->base == 16 && n % 2)
		return false;
	if (r->base == 16 || r->base == 2) {
		/* seven bits are a character, too */
		if (r->base == 2 && n == 7)
			push(r, 0, 1);
		for (size_t i = 0; i < n; i++)
			push(r, (uint32_t)ab_digit(p[i]),
			     r->base == 16 ? 4 : 1);
		return true;
	}
	if (n > 4)
		return false;
	for (size_t i = 0; i < n; i++)
		c = c * (uint32_t)r->base + (uint32_t)ab_digit(p[i]);
	if (c < 256)
		r->out[r->n++] = (char)c;
	return c < 256;
}

/* "0x73", "0b0111", "0o163": how long what stands before the digits is. */
static size_t prefix(const struct row *r, const char *p, size_t n)
{
	char sign = r->base == 16 ? 'x' : r->base == 2 ? 'b' : 'o';

	return r->base != 10 && n > 2 && p[0] == '0' && (p[1] | 0x20) == sign ?
		       2 : 0;
}

/* Of decimals the letters beside them do not matter: "chr115". */
static bool is_group_char(char c, int base)
{
	return base == 10 ? c >= '0' && c <= '9' : ab_scope_is_alnum(c);
}

static void find_rows(struct row *r, const struct ab_plain *p)
{
	size_t between = r->base == 10 ? MAX_BETWEEN_DECIMAL : MAX_BETWEEN;
	size_t last = 0;

	for (size_t i = 0; i < p->n;) {
		size_t e = i;
		size_t skip;

		while (e < p->n && is_group_char(p->c[e], r->base))
			e++;
		if (e == i) {
			i++;
			continue;
		}
		if (r->groups && i - last > between)
			end_row(r);
		skip = prefix(r, p->c + i, e - i);
		if (take_group(r, p->c + i + skip, e - i - skip))
			r->groups++;
		else
			end_row(r);
		last = i = e;
	}
	end_row(r);
}

/* Are there numbers at all? Hex may begin with a letter. */
static bool has_digits(const struct ab_plain *p)
{
	size_t groups = 0;
	bool inside = false;

	for (size_t i = 0; i < p->n && groups < 2; i++) {
		bool digit = p->c[i] >= '0' && p->c[i] <= '9';

		groups += digit && !inside;
		inside = digit;
	}
	return groups > 1;
}

void ab_scope_codes(struct ab_scope_look *l, const struct ab_plain *p,
		    ab_scope_take take)
{
	static const int bases[] = { 10, 16, 2, 8 };
	void *mark = l->arena->low;
	struct row r = { .l = l, .take = take };

	if (!has_digits(p))
		return;
	r.out = ab_arena_low(l->arena, p->n + 8);
	for (size_t i = 0; r.out && i < AB_ARRAY_LEN(bases); i++) {
		r.base = bases[i];
		find_rows(&r, p);
	}
	ab_arena_release(l->arena, mark);
}
