/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "content_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/content_internal.h"

/* Templates may be a fuzzer's. */
#define DEPTH 4
#define LONGEST 4096

typedef struct text {
	char *p;
	size_t n, room;
} text;

/* xorshift64*: Marsaglia 2003, Vigna 2016. */
uint64_t content_next(content_random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 2685821657736338717u;
}

/* FNV-1a, and never 0, from which nothing would come. */
content_random content_seed(const char *template, unsigned round)
{
	uint64_t hash = 14695981039346656037u + round;

	for (; *template; template++)
		hash = (hash ^ (uint8_t)*template) * 1099511628211u;
	return (content_random){ hash | 1 };
}

static void put(text *t, char c)
{
	if (t->n + 1 >= t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->p = realloc(t->p, t->room);
		if (!t->p)
			abort();
	}
	t->p[t->n++] = c;
	t->p[t->n] = '\0';
}

static char any_of(content_random *r, char class)
{
	for (int tries = 0; tries < 10000; tries++) {
		uint8_t c = (uint8_t)(content_next(r) >> 40);

		/* '=' ends base64 and is not in the middle of it */
		if (ab_content_class(class, c) && c != '=')
			return (char)c;
	}
	return '?'; /* no such class */
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789";

static void put_base64(text *t, const char *p, size_t n, bool is_url)
{
	char letters[65];

	memcpy(letters, base64, 62);
	memcpy(letters + 62, is_url ? "-_" : "+/", 3);
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i < 3 ? n - i : 3;
		uint32_t v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < left ? (uint8_t)p[i + k] : 0);
		for (size_t k = 0; k < 4; k++) {
			if (k <= left)
				put(t, letters[v >> (18 - 6 * k) & 63]);
			else if (!is_url)
				put(t, '=');
		}
	}
}

/* A random payload of n letters, and its checksum in six. */
static void put_checked(text *t, content_random *r, size_t n)
{
	static const char digits[] = "0123456789"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz";
	uint32_t crc = ~0u;
	char tail[6];

	for (size_t i = 0; i < n; i++) {
		char c = any_of(r, 'A');

		put(t, c);
		crc ^= (uint8_t)c;
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	crc = ~crc;
	for (size_t i = 6; i-- > 0; crc /= 62)
		tail[i] = digits[crc % 62];
	for (size_t i = 0; i < 6; i++)
		put(t, tail[i]);
}

static const char *expand(text *t, content_random *r, const char *p,
			  unsigned depth);

/* At the letter behind '^'; the place behind the closing one. */
static const char *command(text *t, content_random *r, const char *p,
			   unsigned depth)
{
	text inner = { NULL, 0, 0 };
	char *end, class = *p;
	size_t n;

	if (*p == '^' || !*p || depth > DEPTH)
		return *p ? p + 1 : p;
	n = strtoul(p + 1, &end, 10);
	n = n > LONGEST ? LONGEST : n;
	if ((class == 'B' || class == 'U') &&
	    (end == p + 1 || *end != '^')) {
		p = expand(&inner, r, p + 1, depth + 1);
		put_base64(t, inner.p, inner.n, class == 'U');
		free(inner.p);
		return p;
	}
	if (class == 'C') {
		put_checked(t, r, n);
	} else if (class == 'D') {
		for (size_t i = 0; i < n; i++)
			put(&inner, any_of(r, 'd'));
		put_base64(t, inner.p, n, true);
		free(inner.p);
	} else {
		for (size_t i = 0; i < n; i++)
			put(t, any_of(r, class));
	}
	return *end ? end + 1 : end;
}

static const char *expand(text *t, content_random *r, const char *p,
			  unsigned depth)
{
	while (*p) {
		if (*p != '^') {
			put(t, *p++);
			continue;
		}
		/* the end of what is nested, unless something opens */
		if (depth && p[1] != '^' &&
		    !(strchr("UC", p[1]) && p[1]) &&
		    !(p[1] && strchr("ABWhHUl2dzLk", p[1]) &&
		      p[2] >= '0' && p[2] <= '9'))
			return p + 1;
		p = command(t, r, p + 1, depth);
	}
	return p;
}

char *content_text(content_random *r, const char *template, size_t *n)
{
	text t = { NULL, 0, 0 };

	expand(&t, r, template, 0);
	*n = t.n;
	return t.p;
}
