/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Characters as databases and programs write them where a backslash alone is
 * not enough: U&'sb\002d2', with another sign behind UESCAPE, and UNISTR
 * (PostgreSQL, section 4.1.2.3; Oracle); chr(45), CHAR(115, 98) and
 * String.fromCharCode(45), which become text between quotes, so that what
 * stands beside them is put together as other pieces are (ab_scope_join).
 */
#include "config.h"

#include <string.h>

#include "scope/internal.h"

#define MAX_ARGUMENTS 64
#define MAX_WORD 16

/* --- \002d ---------------------------------------------------------------- */

static size_t unit(const char *p, size_t n, uint32_t *c)
{
	if (n >= 8 && p[1] == '+' && ab_scope_number(p + 2, 6, 16, 6, c) == 6)
		return *c > 0x10ffff ? 0 : 8;
	return n >= 5 && ab_scope_number(p + 1, 4, 16, 4, c) == 4 ? 5 : 0;
}

/* "\002d", "\+00002d"; two halves are one character. */
static size_t wide(const char *p, size_t n, struct ab_scope_text *t)
{
	uint32_t c;
	uint32_t low;
	size_t len = unit(p, n, &c);
	size_t more = 0;

	if (len && c >= 0xd800 && c < 0xdc00 && n > len && p[len] == p[0])
		more = unit(p + len, n - len, &low);
	if (more && low >= 0xdc00 && low < 0xe000)
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	else
		more = 0;
	if (len)
		ab_scope_text_put(t, c);
	return len + more;
}

/* The signs that the text gives itself: UESCAPE '!'. */
static void find_signs(const struct ab_plain *p, bool sign[256])
{
	static const char word[] = "uescape";
	size_t n = sizeof(word) - 1;

	sign['\\'] = true;
	if (!memchr(p->c, '&', p->n))
		return;
	for (size_t i = 0; i + n < p->n; i++) {
		size_t k = 0;

		while (k < n && ab_scope_fold(p->c[i + k]) == word[k])
			k++;
		if (k < n)
			continue;
		i = ab_scope_skip_spaces(p, i + n);
		if (i + 1 < p->n && (p->c[i] == '\'' || p->c[i] == '"'))
			sign[(unsigned char)p->c[i + 1]] = true;
	}
}

/* --- chr(45) -------------------------------------------------------------- */

static bool is_string(const struct ab_plain *p, size_t i)
{
	return memcmp(p->c + i, "String.", 7) == 0;
}

/* The word before a '(' makes characters: its length with what is between. */
static size_t maker(const struct ab_plain *p, size_t at)
{
	static const char *const words[] = { "chr",	"char",
					     "nchar",	"chrw",
					     "unichar", "fromcharcode",
					     "fromcodepoint", NULL };
	size_t limit = at > MAX_WORD ? at - MAX_WORD : 0;
	size_t end = at;
	size_t i;

	while (end > limit && ab_scope_is_space(p->c[end - 1]))
		end--;
	i = end;
	while (i > limit && ab_scope_is_alnum(p->c[i - 1]))
		i--;
	for (size_t w = 0; words[w]; w++) {
		size_t k = 0;

		if (strlen(words[w]) != end - i)
			continue;
		while (i + k < end && ab_scope_fold(p->c[i + k]) == words[w][k])
			k++;
		if (i + k == end)
			return at - i + (i >= 7 && is_string(p, i - 7) ? 7 : 0);
	}
	return 0;
}

static size_t argument(const struct ab_plain *p, size_t i, uint32_t *c)
{
	bool hex = i + 2 < p->n && p->c[i] == '0' &&
		   (p->c[i + 1] | 0x20) == 'x';
	size_t skip = hex ? 2 : 0;
	size_t len = ab_scope_number(p->c + i + skip, p->n - i - skip,
				     hex ? 16 : 10, 7, c);

	return len && *c <= 0x10ffff ? skip + len : 0;
}

/* From '(' on; how long all of it is, 0: these are no codes. */
static size_t codes(const struct ab_plain *p, size_t i,
		    uint32_t c[MAX_ARGUMENTS], size_t *count)
{
	size_t at = i;

	for (*count = 0; *count < MAX_ARGUMENTS;) {
		size_t len;

		at = ab_scope_skip_spaces(p, at + 1);
		len = argument(p, at, &c[*count]);
		if (!len)
			return 0;
		++*count;
		at = ab_scope_skip_spaces(p, at + len);
		if (at >= p->n || p->c[at] != ',')
			break;
	}
	/* CHAR(45 USING utf8mb4) */
	for (size_t k = 0; k < 32 && at < p->n && p->c[at] != ')'; k++)
		at++;
	return at < p->n && p->c[at] == ')' ? at + 1 - i : 0;
}

static size_t call(const struct ab_plain *p, size_t i, struct ab_scope_text *t)
{
	uint32_t c[MAX_ARGUMENTS];
	size_t word = maker(p, i);
	size_t count;
	size_t len = word ? codes(p, i, c, &count) : 0;

	if (!len)
		return 0;
	/* its letters were copied; not when their line has ended since */
	if (t->n - t->line >= word)
		t->n -= word;
	ab_scope_text_put(t, '\'');
	for (size_t k = 0; k < count; k++)
		ab_scope_text_put(t, c[k]);
	ab_scope_text_put(t, '\'');
	return len;
}

bool ab_scope_literals(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n)
{
	struct ab_scope_text t;
	bool sign[256] = { false };

	if (!memchr(p->c, '(', p->n) && !memchr(p->c, '\\', p->n) &&
	    !memchr(p->c, '&', p->n))
		return false;
	if (!ab_scope_text_begin(l, &t, p->n + 16))
		return false;
	find_signs(p, sign);
	for (size_t i = 0; i < p->n;) {
		size_t len = p->c[i] == '(' ? call(p, i, &t) : 0;

		if (!len && sign[(unsigned char)p->c[i]])
			len = wide(p->c + i, p->n - i, &t);
		t.changed |= len != 0;
		if (!len) {
			t.p[t.n++] = p->c[i];
			ab_scope_text_copied(&t, p->c[i]);
		}
		i += len ? len : 1;
	}
	return ab_scope_text_end(&t, out, n);
}
