/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text in base64: `echo -n "$LINE" | base64`, variables of a pipeline,
 * manifests. A row of content_rules.c knows three letters or more of a word
 * at each of the three places that it can have in there; the text around it
 * is what the rules then look at, as if it were a file's. What is no text
 * ends it, so nothing is expected of pictures and archives.
 */
#include "config.h"

#include "base/digit.h"
#include "snapshot/content_internal.h"

#include <string.h>

#define LETTERS (AB_CONTENT_BACK + AB_CONTENT_AHEAD)

/* The letters around an anchor, without the ends of lines. */
typedef struct letters {
	uint8_t of[LETTERS];
	uint16_t from[LETTERS]; /* how far behind lo each is */
	size_t n, at;		/* at: the anchor's first */
	const uint8_t *lo, *hi; /* where they are from */
} letters;

static bool is_letter(uint8_t c)
{
	return ab_base64_digit((char)c) >= 0;
}

/* base64(1) has lines of 76; in a string their ends are escaped. */
static const uint8_t *skip_end(const uint8_t *p, const uint8_t *hi)
{
	if (hi - p > 1 && p[0] == '\\' && p[1] == 'n')
		return p + 2;
	if (p < hi && *p == '\r')
		p++;
	if (p == hi || *p != '\n')
		return NULL;
	return ab_content_run('b', p + 1, hi, 32);
}

static void collect(const ab_content_window *w, letters *l)
{
	const uint8_t *p = w->at, *q;

	/* before it only its own line: the word in front of another is none */
	while (p > w->lo && is_letter(p[-1]))
		p--;
	l->lo = p;
	l->n = 0;
	l->at = (size_t)(w->at - p);
	while (p < w->hi && l->n < LETTERS) {
		if (is_letter(*p)) {
			l->from[l->n] = (uint16_t)(p - l->lo);
			l->of[l->n++] = *p++;
			continue;
		}
		q = skip_end(p, w->hi);
		if (!q)
			break;
		p = q;
	}
	l->hi = p;
}

static bool is_text(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == 0x7f || p[i] > 0x7f ||
		    (p[i] < ' ' && !ab_content_class('s', p[i])))
			return false;
	}
	return n > 0;
}

/* Four letters or, at the end, two or three; how many bytes, 0 for no text. */
static size_t group(const letters *l, size_t i, uint8_t *out)
{
	size_t n = l->n - i < 4 ? l->n - i : 4;

	n = ab_content_decode(l->of + i, n, out, 3);
	return is_text(out, n) ? n : 0;
}

/* The text with whole groups at i, and behind which letter it ends; 0: there
   is none. */
static size_t text_at(const letters *l, size_t i, uint8_t *out, size_t *end)
{
	uint8_t three[3];
	size_t n = 0, len;

	if (!group(l, i, three))
		return 0;
	while (i >= 4 && group(l, i - 4, three))
		i -= 4;
	for (; i < l->n && (len = group(l, i, three)); i += 4) {
		memcpy(out + n, three, len);
		n += len;
	}
	*end = i < l->n ? i : l->n;
	return n;
}

/* How far nobody need look again: to the end of the text, or to its middle
   where more of it may be behind the window. */
static const uint8_t *seen_to(const ab_content_window *w, const letters *l,
			      size_t end)
{
	if (end < l->n || (l->n < LETTERS && l->hi < w->hi))
		return l->lo + l->from[end - 1] + 1;
	return w->hi - w->at > AB_CONTENT_AHEAD / 2 ?
		       w->at + AB_CONTENT_AHEAD / 2 :
		       w->hi;
}

size_t ab_content_text(const ab_content_window *w, ab_content_match *m,
		       uint8_t *out)
{
	letters l;
	size_t n = 0, best = 0, end = 0;

	collect(w, &l);
	/* which letter of a group is the anchor's first? */
	for (size_t k = 0; k < 4 && k <= l.at; k++) {
		size_t len = text_at(&l, l.at - k, out, &end);

		if (len > n) {
			n = len;
			best = k;
		}
	}
	m->first = l.lo;
	m->end = w->at + 1;
	if (n < 8)
		return 0;
	n = text_at(&l, l.at - best, out, &end);
	m->end = seen_to(w, &l, end);
	return n;
}
