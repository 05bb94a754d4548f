/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text and everything it may be an encoding of. Each level is looked at as
 * it is and with its quotes taken out; then each decoder makes texts of the
 * next level. What a level's texts may cost is bounded by the work that is
 * left, so a text made to branch ends in "too much", never in time.
 */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "scope/internal.h"

/* Pieces of pieces: A=sb; B=$A-2; $B. */
#define MAX_NAMED 2

static void saw(struct ab_scope_look *l, enum ab_scope_what what)
{
	l->saw(l->data, what, NULL, l->level);
}

/* Compressed or encrypted: nothing more can be known. */
static bool is_opaque(const char *text, size_t n, bool is_whole)
{
	static const struct {
		const char *magic;
		size_t n;
	} magics[] = {
		{ "\x1f\x8b\x08", 3 },	     { "\x28\xb5\x2f\xfd", 4 },
		{ "\xfd" "7zXZ", 6 },	     { "BZh91AY&SY", 10 },
		{ "\x04\x22\x4d\x18", 4 },   { "PK\x03\x04", 4 },
		{ "Salted__", 8 },	     { "7z\xbc\xaf\x27\x1c", 6 },
		{ "age-encryption.org/", 19 },
	};
	const unsigned char *u = (const unsigned char *)text;

	for (size_t i = 0; i < AB_ARRAY_LEN(magics); i++)
		if (n >= magics[i].n + 4 &&
		    memcmp(text, magics[i].magic, magics[i].n) == 0)
			return true;
	/* zlib: RFC 1950 section 2.2; two bytes that chance has, too, where
	   there are many runs */
	return is_whole && n >= 24 && u[0] == 0x78 && (u[1] & 0x20) == 0 &&
	       (u[0] * 256u + u[1]) % 31 == 0;
}

/* Could be read: UTF-8 without controls, or UTF-16 of ASCII. */
static bool is_text(const char *text, size_t n)
{
	size_t seen = 0;

	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len = ab_utf8_decode(text + i, n - i, &c);

		if (len == 0 || (c && c < 0x20 && !strchr("\t\n\r", (int)c)) ||
		    (c >= 0x7f && c < 0xa0))
			return false;
		seen += c != 0;
		i += len;
	}
	return seen > 1 && seen >= n / 2;
}

bool ab_scope_pay(struct ab_scope_look *l, size_t n)
{
	if (n > l->work) {
		l->work = 0;
		saw(l, AB_SAW_LIMIT);
		return false;
	}
	l->work -= n;
	l->steps += n;
	return true;
}

static void look_at(struct ab_scope_look *l, const struct ab_plain *p,
		    bool joined);

static void find(struct ab_scope_look *l, const struct ab_plain *p,
		 bool joined)
{
	ab_scope_find(l, p, joined);
	if (joined)
		return;
	ab_scope_find_places(l, p);
	ab_scope_find_addresses(l, p);
}

/* What is shorter is no strong name, and chance makes many. */
#define LEAST_HIDDEN 4

/* Something that a text of this level stands for, `deeper` levels below. */
static void look_below(struct ab_scope_look *l, const char *text, size_t n,
		       bool is_whole, unsigned deeper)
{
	enum ab_scope_key key = l->key;
	struct ab_plain p;

	if (l->level + deeper >= AB_SCOPE_LEVELS) {
		if (n >= LEAST_HIDDEN)
			saw(l, AB_SAW_LIMIT);
		return;
	}
	if (!is_whole)
		l->key = AB_KEY_PLAIN;
	l->level += deeper;
	if (!ab_scope_plain(l->arena, text, n, &p))
		saw(l, AB_SAW_LIMIT);
	else
		look_at(l, &p, false);
	l->level -= deeper;
	l->key = key;
}

/* What a run of base64 and the like came to: a text, or some bytes. */
static void take_run(struct ab_scope_look *l, const char *text, size_t n,
		     bool is_whole)
{
	struct ab_plain p;

	if (is_opaque(text, n, is_whole)) {
		saw(l, AB_SAW_OPAQUE);
		return;
	}
	if (is_text(text, n)) {
		look_below(l, text, n, is_whole, 1);
		return;
	}
	/* names stand in serialised data, too */
	if (n < 4 || !ab_scope_pay(l, n) ||
	    !ab_scope_plain(l->arena, text, n, &p))
		return;
	l->level++;
	ab_scope_find(l, &p, true);
	l->level--;
}

typedef bool (*decoder)(struct ab_scope_look *l, const struct ab_plain *p,
			char **out, size_t *n);

static bool decimals(struct ab_scope_look *l, const struct ab_plain *p,
		     char **out, size_t *n)
{
	return ab_scope_numbers(l, p, 10, out, n);
}

static bool hex_pairs(struct ab_scope_look *l, const struct ab_plain *p,
		      char **out, size_t *n)
{
	return ab_scope_numbers(l, p, 16, out, n);
}

static void decode(struct ab_scope_look *l, const struct ab_plain *p)
{
	static const struct {
		decoder fn;
		bool is_whole;
	} decoders[] = { { ab_scope_unescape, true },
			 { ab_scope_printable, true },
			 { decimals, false },
			 { hex_pairs, false } };
	char *text;
	size_t n;

	for (size_t i = 0; i < AB_ARRAY_LEN(decoders); i++) {
		void *mark = l->arena->low;

		if (decoders[i].fn(l, p, &text, &n))
			look_below(l, text, n, decoders[i].is_whole, 1);
		ab_arena_release(l->arena, mark);
	}
	/* no encoding; and a name that holds itself would go on for ever */
	if (l->named < MAX_NAMED && ab_scope_named(l, p, &text, &n)) {
		l->named++;
		look_below(l, text, n, true, 0);
		l->named--;
	}
}

static void run_wrapped(struct ab_scope_look *l, const struct ab_plain *p)
{
	struct ab_plain q = { 0 };
	char *text;
	size_t n;

	if (!ab_scope_unwrap(l, p, &text, &n) || !ab_scope_pay(l, n))
		return;
	q.c = text;
	q.n = n;
	ab_scope_runs(l, &q, take_run);
}

static void look_at(struct ab_scope_look *l, const struct ab_plain *p,
		    bool joined)
{
	void *mark = l->arena->low;
	struct ab_plain q;

	if (!ab_scope_pay(l, p->n))
		return;
	find(l, p, joined);
	ab_scope_runs(l, p, take_run);
	ab_arena_release(l->arena, mark);
	decode(l, p);
	run_wrapped(l, p);
	ab_arena_release(l->arena, mark);
	if (!joined && ab_scope_join(l, p, &q))
		look_at(l, &q, true);
	ab_arena_release(l->arena, mark);
}

void ab_scope_look(struct ab_scope_look *l, const char *text, size_t n)
{
	void *mark = l->arena->low;
	struct ab_plain p;

	l->level = 0;
	if (!ab_scope_plain(l->arena, text, n, &p))
		saw(l, AB_SAW_LIMIT);
	else
		look_at(l, &p, false);
	ab_arena_release(l->arena, mark);
}
