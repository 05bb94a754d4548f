/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Punycode (RFC 3492): labels of hosts, each of which is put where it stood, so
 * a word in it stands where the label does. Spec: internal.h.
 */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "scope/internal.h"

#define MAX_LABEL 64

static uint32_t adapt(uint32_t delta, uint32_t count, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / count;
	for (; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static int value36(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0' + 26;
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' : -1;
}

static void insert(uint32_t *label, size_t n, size_t at, uint32_t c)
{
	memmove(label + at + 1, label + at, (n - at) * sizeof(*label));
	label[at] = c;
}

/* Where the part behind the last '-' begins. */
static size_t last_dash(const char *p, size_t n)
{
	while (n && p[n - 1] != '-')
		n--;
	return n;
}

/* RFC 3492 section 6.2. How many characters; 0: it is none. */
static size_t punycode(const char *p, size_t n, uint32_t label[MAX_LABEL])
{
	size_t at = last_dash(p, n);
	size_t count = at ? at - 1 : 0;
	uint32_t c = 128, i = 0, bias = 72;

	for (size_t j = 0; j < count; j++)
		label[j] = (unsigned char)p[j];
	while (at < n && count + 1 < MAX_LABEL) {
		uint32_t old = i;
		uint32_t weight = 1;

		for (uint32_t k = 36;; k += 36) {
			uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 :
								      k - bias;
			int v = at < n ? value36(p[at++]) : -1;

			if (v < 0 || weight > (1u << 24) || i > (1u << 26))
				return 0;
			i += (uint32_t)v * weight;
			if ((uint32_t)v < t)
				break;
			weight *= 36 - t;
		}
		count++;
		bias = adapt(i - old, (uint32_t)count, old == 0);
		c += i / (uint32_t)count;
		i %= (uint32_t)count;
		if (c > 0x10ffff)
			return 0;
		insert(label, count - 1, i, c);
		i++;
	}
	return count;
}

static bool is_xn(const struct ab_plain *p, size_t i)
{
	return i + 4 < p->n && (p->c[i] | 0x20) == 'x' &&
	       (p->c[i + 1] | 0x20) == 'n' && p->c[i + 2] == '-' &&
	       p->c[i + 3] == '-';
}

static bool is_part(char c)
{
	return ab_scope_is_alnum(c) || c == '-';
}

/* The label at i: how long it is, 0: there is none. */
static size_t label_at(const struct ab_plain *p, size_t i)
{
	size_t e = i;

	if (!is_xn(p, i) || (i > 0 && is_part(p->c[i - 1])))
		return 0;
	while (e < p->n && is_part(p->c[e]))
		e++;
	return e - i <= MAX_LABEL ? e - i : 0;
}

static bool put_label(struct ab_scope_text *t, const char *c, size_t n)
{
	uint32_t label[MAX_LABEL];
	size_t count = punycode(c + 4, n - 4, label);

	for (size_t j = 0; j < count; j++)
		ab_scope_text_put(t, label[j]);
	return count != 0;
}

bool ab_scope_punycode(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n)
{
	struct ab_scope_text t;

	/* each character of a label has one of four bytes at most */
	if (!memmem(p->c, p->n, "--", 2) ||
	    !ab_scope_text_begin(l, &t, 4 * p->n + 16))
		return false;
	for (size_t i = 0; i < p->n;) {
		size_t len = label_at(p, i);

		if (len && put_label(&t, p->c + i, len)) {
			t.changed = true;
			i += len;
			continue;
		}
		t.p[t.n++] = p->c[i];
		ab_scope_text_copied(&t, p->c[i]);
		i++;
	}
	return ab_scope_text_end(&t, out, n);
}
