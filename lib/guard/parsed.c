/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that is only parsed (perl -c): BEGIN blocks and what `use` is given
 * run while that is done. Whatever may be such a thing is one, also in a string
 * or a comment, since a quote may look like either; perlmod(1), perlfunc(1).
 */
#include "config.h"

#include "guard/files.h"

#include <string.h>

#include "guard/command.h"

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_';
}

static uint32_t skip_blanks(const struct ab_word *text, uint32_t i)
{
	while (i < text->len && memchr(" \t\r\n", text->text[i], 4))
		i++;
	return i;
}

static uint32_t skip_name(const struct ab_word *text, uint32_t i)
{
	while (i < text->len &&
	       (is_letter(text->text[i]) || memchr(":.", text->text[i], 2)))
		i++;
	return i;
}

/* A statement may begin at `i`. */
static bool is_begin(const struct ab_word *text, uint32_t i)
{
	while (i && memchr(" \t\r", text->text[i - 1], 3))
		i--;
	return !i || memchr("\n;{}:", text->text[i - 1], 5);
}

/* Behind 'x', "x" and qw(x), into which nothing is put; `i` itself: it is
   something else. */
static uint32_t skip_string(const struct ab_word *text, uint32_t i)
{
	const char *s = text->text;
	uint32_t from = i;
	char end;

	if (text->len - i > 2 && !memcmp(s + i, "qw", 2))
		from = i + 2;
	if (from == i && s[i] != '\'' && s[i] != '"')
		return i;
	end = s[from] == '(' ? ')' : s[from];
	if (from > i && end != ')' && end != '/')
		return i;
	for (uint32_t k = from + 1; k < text->len && s[k] != '\n'; k++) {
		if (s[k] == end)
			return k + 1;
		if (s[k] == '\\' || (end == '"' && memchr("$@", s[k], 2)))
			return i;
	}
	return i;
}

/* `use NAME 1.2 qw(a b), 'c', d => 1;` and nothing that is computed. */
static bool is_plain_use(const struct ab_word *text, uint32_t i)
{
	uint32_t from = skip_blanks(text, i), end = skip_name(text, from);

	/* modules that lie elsewhere */
	if (end == from || (end - from == 3 &&
			    !memcmp(text->text + from, "lib", 3)))
		return false;
	for (i = skip_blanks(text, end); i < text->len;
	     i = skip_blanks(text, end)) {
		char ch = text->text[i];

		if (ch == ';')
			return true;
		end = skip_string(text, i);
		if (end > i)
			continue;
		end = i + 1;
		if (memchr(",()=>", ch, 5))
			continue;
		if (!is_letter(ch))
			return false;
		end = skip_name(text, i);
		from = skip_blanks(text, end);
		if ((ch < '0' || ch > '9') &&
		    (text->len - from < 2 ||
		     memcmp(text->text + from, "=>", 2) != 0))
			return false;
	}
	return false;
}

#define MAX_USES 256

static bool runs_early(const struct ab_word *text)
{
	static const char *const words[] = { "use", "no" };
	uint32_t uses = 0;

	/* of UNITCHECK, too */
	if (memmem(text->text, text->len, "BEGIN", 5) ||
	    memmem(text->text, text->len, "CHECK", 5))
		return true;
	for (size_t k = 0; k < AB_ARRAY_LEN(words); k++) {
		const char *at = text->text, *end = at + text->len;
		size_t n = strlen(words[k]);

		for (; (at = memmem(at, (size_t)(end - at), words[k], n));
		     at += n) {
			uint32_t i = (uint32_t)(at - text->text);

			if (!is_begin(text, i) ||
			    (i + n < text->len && is_letter(at[n])))
				continue;
			if (++uses > MAX_USES ||
			    !is_plain_use(text, i + (uint32_t)n))
				return true;
		}
	}
	return false;
}

bool ab_file_is_only_parsed(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *content =
		path->hole_count ? NULL : ab_file_content(c, path);

	return content && content->len && !content->hole_count &&
	       !runs_early(content);
}
