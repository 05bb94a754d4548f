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
	bool spelled = l->is_spelled;
	struct ab_plain p;

	if (l->level + deeper >= AB_SCOPE_LEVELS) {
		if (n >= LEAST_HIDDEN)
			saw(l, AB_SAW_LIMIT);
		return;
	}
	if (!is_whole)
		l->key = AB_KEY_PLAIN;
	l->is_spelled &= is_whole;
	l->level += deeper;
	if (!ab_scope_plain(l->arena, text, n, &p))
		saw(l, AB_SAW_LIMIT);
	else
		look_at(l, &p, false);
	l->level -= deeper;
	l->is_spelled = spelled;
	l->key = key;
}

/* As strings(1) has it: shorter than this no encoding of a name is. */
#define LEAST_STRETCH 6

/* What can be read in some bytes, a line for each stretch; 0: nothing. */
static size_t stretches(const char *text, size_t n, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		size_t e = i;

		while (e < n && text[e] >= ' ' && text[e] < 0x7f)
			e++;
		if (e - i >= LEAST_STRETCH) {
			memcpy(out + used, text + i, e - i);
			used += e - i;
			out[used++] = '\n';
		}
		i = e + 1;
	}
	return used;
}

/* Names stand in serialised data, too, and encodings of them. */
static void look_at_data(struct ab_scope_look *l, const char *text, size_t n)
{
	void *mark = l->arena->low;
	struct ab_plain p;
	char *out;

	if (n < 4 || !ab_scope_pay(l, n))
		return;
	l->level++;
	l->is_data = true;
	if (ab_scope_plain(l->arena, text, n, &p))
		ab_scope_find(l, &p, true);
	else
		saw(l, AB_SAW_LIMIT);
	l->is_data = false;
	l->level--;
	ab_arena_release(l->arena, mark);
	out = n < LEAST_STRETCH ? NULL : ab_arena_low(l->arena, n + 1);
	n = out ? stretches(text, n, out) : 0;
	if (n)
		look_below(l, out, n, false, 1);
	ab_arena_release(l->arena, mark);
}

/* What a run of base64 and the like came to: a text, or some bytes. */
static void take_run(struct ab_scope_look *l, const char *text, size_t n,
		     bool is_whole)
{
	if (ab_scope_is_packed(text, n, is_whole)) {
		saw(l, AB_SAW_OPAQUE);
		return;
	}
	ab_scope_find_address_bytes(l, text, n);
	ab_scope_find_id_bytes(l, text, n);
	if (is_text(text, n))
		look_below(l, text, n, is_whole, 1);
	else
		look_at_data(l, text, n);
}

typedef bool (*decoder)(struct ab_scope_look *l, const struct ab_plain *p,
			char **out, size_t *n);

static void decode(struct ab_scope_look *l, const struct ab_plain *p)
{
	static const decoder decoders[] = { ab_scope_unescape,
					    ab_scope_printable,
					    ab_scope_literals,
					    ab_scope_punycode };
	char *text;
	size_t n;

	for (size_t i = 0; i < AB_ARRAY_LEN(decoders); i++) {
		void *mark = l->arena->low;

		if (decoders[i](l, p, &text, &n)) {
			ab_scope_find_address_bytes(l, text, n);
			if (ab_scope_holds_packed(l, text, n))
				saw(l, AB_SAW_OPAQUE);
			else
				look_below(l, text, n, true, 1);
		}
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
	ab_scope_codes(l, p, take_run);
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
	l->is_spelled = true;
	if (!ab_scope_plain(l->arena, text, n, &p))
		saw(l, AB_SAW_LIMIT);
	else
		look_at(l, &p, false);
	ab_arena_release(l->arena, mark);
}

void ab_scope_look_bytes(struct ab_scope_look *l, const char *bytes, size_t n)
{
	l->level = 0;
	l->is_spelled = false;
	take_run(l, bytes, n, true);
}

void ab_scope_look_line(struct ab_scope_look *l, const char *line, size_t n)
{
	void *mark = l->arena->low;
	struct ab_plain p;

	l->level = 0;
	l->is_spelled = false;
	if (!ab_scope_pay(l, n))
		return;
	if (!ab_scope_plain(l->arena, line, n, &p)) {
		saw(l, AB_SAW_LIMIT);
		return;
	}
	ab_scope_find(l, &p, false);
	ab_scope_find_places(l, &p);
	ab_scope_codes(l, &p, take_run);
	ab_arena_release(l->arena, mark);
}
