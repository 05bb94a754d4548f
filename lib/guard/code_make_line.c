/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a makefile, and the words that may stand at their beginning.
 * Spec: GNU make manual, 3.1.1 (splitting lines), 6.5 (setting variables).
 */
#include "config.h"

#include "guard/code_make.h"

#include <string.h>

/* What stands between a name and its value: =, :=, ?=, += or !=. */
uint32_t ab_make_sign_at(const char *s, uint32_t len, char *sign)
{
	uint32_t i = 0;

	while (i < len && i < 3 && s[i] == ':')
		i++;
	*sign = '=';
	if (!i && len && memchr("?+!", *s, 3))
		*sign = s[i++];
	return i < len && s[i] == '=' ? i + 1 : 0;
}

uint32_t ab_make_skip_blanks(const char *s, uint32_t at, uint32_t len)
{
	while (at < len && memchr(" \t", s[at], 2))
		at++;
	return at;
}

/* override, export and private in front of a name. */
uint32_t ab_make_skip_words(const char *s, uint32_t at, uint32_t len)
{
	static const char *const words[] = { "export", "override", "private",
					     "unexport" };

	for (size_t i = 0; i < AB_ARRAY_LEN(words);) {
		uint32_t n = (uint32_t)strlen(words[i]);

		if (len - at > n && !memcmp(s + at, words[i], n) &&
		    memchr(" \t", s[at + n], 2)) {
			at = ab_make_skip_blanks(s, at + n, len);
			i = 0;
		} else {
			i++;
		}
	}
	return at;
}

/* Lines that a backslash joins are one to make, with a blank between them. */
bool ab_make_join_lines(struct ab_make *m, struct ab_word *w)
{
	char *text, *at;

	if (!memmem(w->text, w->len, "\\\n", 2))
		return true;
	text = ab_check_alloc(m->c, w->len);
	if (!text)
		return false;
	memcpy(text, w->text, w->len);
	w->text = text;
	for (at = text; (at = memchr(at, '\n', w->len - (at - text))); at++) {
		if (at > text && at[-1] == '\\')
			at[-1] = *at = ' ';
		if (at + 1 == text + w->len)
			break;
	}
	return true;
}

/* Where the comment of a line begins, which a backslash takes back. */
uint32_t ab_make_comment_at(const char *s, uint32_t at, uint32_t len)
{
	while (at < len && (s[at] != '#' || s[at - 1] == '\\'))
		at++;
	return at;
}

bool ab_make_begins(const struct ab_word *line, uint32_t at, const char *word)
{
	uint32_t n = (uint32_t)strlen(word);

	return line->len - at >= n && !memcmp(line->text + at, word, n) &&
	       (line->len - at == n ||
		memchr(" \t(#\"'", line->text[at + n], 6));
}

/* The line at *at, with those that a backslash joins; *at is behind it. */
bool ab_make_next_line(struct ab_make *m, uint32_t *at, struct ab_word *line)
{
	const struct ab_word *text = m->text;
	uint32_t from = *at, end = from;

	if (from >= text->len)
		return false;
	for (;;) {
		const char *stop = memchr(text->text + end, '\n',
					  text->len - end);

		end = stop ? (uint32_t)(stop - text->text) : text->len;
		if (end == text->len || end == from ||
		    text->text[end - 1] != '\\')
			break;
		end++;
	}
	*at = end + 1;
	return ab_word_slice(m->c, text, from, end - from, line);
}

/* 1: a define in another begins, UINT32_MAX: one ends. */
uint32_t ab_make_opens(const struct ab_word *line)
{
	uint32_t at = ab_make_skip_blanks(line->text, 0, line->len);

	if (ab_make_begins(line, at, "define"))
		return 1;
	return ab_make_begins(line, at, "endef") ? UINT32_MAX : 0;
}

bool ab_make_is_recipe(const struct ab_make *m, const struct ab_word *line)
{
	return line->len && *line->text == m->prefix;
}

/* .ONESHELL .PHONY: */
bool ab_make_has_target(const struct ab_word *line, const char *name)
{
	const char *colon = memchr(line->text, ':', line->len);

	return colon && memmem(line->text, (size_t)(colon - line->text), name,
			       strlen(name));
}
