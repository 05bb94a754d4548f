/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of jq: what they put where npm runs it, and the environment, of
 * which a program can print all. It is no parser: a program is gone through
 * once, for words and brackets.
 */
#include "config.h"

#include "base/key.h"
#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_OPEN 32 /* brackets; what is deeper belongs to none */

/* Which brackets are open; an expression in a string is one of them. */
struct open {
	char all[MAX_OPEN];
	uint32_t depth;
};

static bool is_word_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || memchr("_$@.-:", ch, 6);
}

static char innermost(const struct open *o)
{
	return o->depth && o->depth <= MAX_OPEN ? o->all[o->depth - 1] : '\0';
}

static void note_open(struct open *o, char ch)
{
	if (o->depth < MAX_OPEN)
		o->all[o->depth] = ch;
	o->depth++;
}

static uint32_t skip_blanks(const char *s, uint32_t len, uint32_t at)
{
	while (at < len && memchr(" \t\n", s[at], 3))
		at++;
	return at;
}

/* `| keys`, `| length`, `| has(`: nothing of a value. */
static bool shows_names(const char *s, uint32_t len, uint32_t at)
{
	static const char *const names[] = { "keys", "length", "has" };

	if (at == len || s[at] != '|')
		return false;
	at = skip_blanks(s, len, at + 1);
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		uint32_t n = (uint32_t)strlen(names[i]);

		if (len - at >= n && !memcmp(s + at, names[i], n) &&
		    (at + n == len || !is_word_byte(s[at + n])))
			return true;
	}
	return false;
}

/* What stands behind the word takes all of it: not env.X, env["X"], {env: 1},
   {env} and env(X), which is yq's for one of them. */
static bool takes_all(const char *s, uint32_t len, uint32_t end,
		      const struct open *o, bool is_key)
{
	uint32_t at = skip_blanks(s, len, end);

	while (at < len && s[at] == '?')
		at = skip_blanks(s, len, at + 1);
	if (at == len)
		return true;
	if (s[at] == '.')
		return at + 1 < len && s[at + 1] == '[' &&
		       !(at + 2 < len && s[at + 2] == '"');
	if (s[at] == '[')
		return at + 1 == len || s[at + 1] != '"';
	if (is_key && innermost(o) == '{' && memchr(",}:", s[at], 3))
		return false;
	return memchr("|,;)]}+*/#", s[at], 10) ?
		       !shows_names(s, len, at) :
		       at > end && !memchr(":(=", s[at], 3);
}

/* `env` or `$ENV` at the byte: its length; or 0. */
static uint32_t word_at(const char *s, uint32_t len, uint32_t at)
{
	uint32_t n = s[at] == '$' ? 4 : 3;

	if (len - at < n || memcmp(s + at, n == 4 ? "$ENV" : "env", n) != 0 ||
	    (at && s[at - 1] != ':' && is_word_byte(s[at - 1])))
		return 0;
	return at + n < len && s[at + n] != '.' && is_word_byte(s[at + n])
		       ? 0 : n;
}

/* The end of what is a string from `at` on, or goes on there: behind its
   quote, or where an expression begins. */
static uint32_t skip_string(const char *s, uint32_t len, uint32_t at,
			    struct open *o)
{
	for (; at < len && s[at] != '"'; at++) {
		if (s[at] != '\\' || at + 1 == len)
			continue;
		at++;
		if (s[at] == '(') {
			note_open(o, '"');
			return at + 1;
		}
	}
	return at < len ? at + 1 : len;
}

/* jq -n '$ENV | tostring' */
static void check_env(struct ab_check *c, const struct ab_word *text)
{
	const char *s = text->text;
	struct open open = { .depth = 0 };
	uint32_t at = 0, len = text->len, n;
	struct ab_word w;
	char last = '\0';

	while (at < len) {
		char ch = s[at];

		n = memchr("e$", ch, 2) ? word_at(s, len, at) : 0;
		if (n && takes_all(s, len, at + n, &open,
				   ch != '$' && memchr("{,", last, 2)) &&
		    ab_word_slice(c, text, at, n, &w)) {
			ab_check_text(c, "jq", &w);
			return;
		}
		at += n ? n : 1;
		last = memchr(" \t\n", ch, 3) ? last : ch;
		if (ch == '"')
			at = skip_string(s, len, at, &open);
		else if (ch == '#')
			at += (uint32_t)ab_seek(s + at, len - at, '\n');
		else if (memchr("([{", ch, 3))
			note_open(&open, ch);
		else if (memchr(")]}", ch, 3) && open.depth) {
			if (innermost(&open) == '"')
				at = skip_string(s, len, at, &open);
			open.depth--;
		}
	}
}

/* '.scripts.x = "TEXT"': what is put there is run as npm does it, from
   wherever that is written to. */
static void check_scripts(struct ab_check *c, const struct ab_word *text)
{
	const char *s = text->text;
	uint32_t before = 0, at = 0, end;
	struct ab_word w;

	for (; at < text->len; at++) {
		if (s[at] != '"') {
			before = memchr(" \t\n", s[at], 3) ? before : at;
			continue;
		}
		for (end = at + 1; end < text->len && s[end] != '"'; end++)
			end += s[end] == '\\';
		if (end > text->len)
			end = text->len;
		/* behind `=` and `:`, and without \(...) in it */
		if (memchr("=:", s[before], 2) &&
		    !(before && memchr("=!<>", s[before - 1], 4)) &&
		    !memmem(s + at, end - at, "\\(", 2) &&
		    ab_word_slice(c, text, at + 1, end - at - 1, &w))
			ab_check_script(c, &w, true, NULL, 0, "npm");
		at = before = end;
	}
}

void ab_check_jq(struct ab_check *c, const struct ab_word *text)
{
	if (AB_UNLIKELY((memchr(text->text, 'v', text->len) &&
			 memmem(text->text, text->len, "env", 3)) ||
			(memchr(text->text, 'V', text->len) &&
			 memmem(text->text, text->len, "$ENV", 4))))
		check_env(c, text);
	if (AB_UNLIKELY(memmem(text->text, text->len, "scripts", 7) != NULL))
		check_scripts(c, text);
}
