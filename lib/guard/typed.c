/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that drive a terminal: keys that are typed into it, and commands of
 * their own with `;` between them, in words and in texts (tmux(1), COMMAND
 * PARSING AND EXECUTION, FORMATS).
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/command.h"

/* --- keys --------------------------------------------------------------- */

static const struct ab_word line_end = { .text = "\n", .len = 1 };
static const struct ab_word blank = { .text = "" };

/* Enter, C-m; Up and Escape leave the line, too. */
static bool is_key(const struct ab_word *w)
{
	static const char *const names[] = {
		"Enter",  "KPEnter", "Return", "Escape", "Esc",
		"Tab",	  "BSpace",  "Up",     "Down",	 "Left",
		"Right",  "Home",    "End",    "BTab",	 "DC",
		"NPage",  "PPage",   "Delete",
	};

	if (w->hole_count)
		return false;
	if (w->len >= 3 && w->text[1] == '-' && memchr("CMS", *w->text, 3))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(w, names[i]))
			return true;
	}
	return false;
}

/* \n, \015, ^M, <CR>: how many bytes stand for the end of a line here. */
static uint32_t end_of_line(const char *s, uint32_t n)
{
	static const char *const signs[] = { "\\n",   "\\r",   "\\015", "\\012",
					     "\\x0d", "\\x0a", "^M",	"^J",
					     "<CR>",  "<cr>",  "<Enter>" };

	if (!n || !memchr("\\^<", *s, 3))
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(signs); i++) {
		size_t len = strlen(signs[i]);

		if (len <= n && !memcmp(s, signs[i], len))
			return (uint32_t)len;
	}
	return 0;
}

/* A word with the ends of lines as they are typed. */
static bool typed_word(struct ab_check *c, const struct ab_word *w,
		       struct ab_word *out)
{
	uint32_t n = 0, skip;
	char *text;

	*out = *w;
	if (is_key(w) || ab_word_equals(w, "Space")) {
		*out = ab_word_equals(w, "Space") ? blank : line_end;
		out->span = w->span;
		return true;
	}
	if (w->hole_count)
		return true;
	text = ab_check_alloc(c, w->len + 1);
	if (!text)
		return false;
	for (uint32_t i = 0; i < w->len; i += skip ? skip : 1) {
		skip = end_of_line(w->text + i, w->len - i);
		text[n++] = skip ? '\n' : w->text[i];
	}
	*out = (struct ab_word){ .text = text, .len = n, .span = w->span };
	return true;
}

bool ab_typed_text(struct ab_check *c, const struct ab_use *use,
		   uint32_t first, struct ab_word *out)
{
	uint32_t count = use->count - first;
	struct ab_word *all = ab_check_alloc(c, count * sizeof(*all));

	for (uint32_t i = 0; i < count; i++) {
		if (!all || !typed_word(c, &use->words[first + i], &all[i]))
			return false;
	}
	return all && ab_shell_join(c->run, all, count, out);
}

/* --- commands ----------------------------------------------------------- */

/* #(COMMAND) in a format. */
static void check_formats(struct ab_check *c, const struct ab_word *w)
{
	const char *end = w->text + w->len, *at = w->text;
	struct ab_word text;

	while ((at = memmem(at, (size_t)(end - at), "#(", 2))) {
		const char *from = at += 2;
		uint32_t depth = 1;

		while (at < end && (depth -= *at == ')'))
			depth += *at++ == '(';
		if (ab_word_slice(c, w, (uint32_t)(from - w->text),
				  (uint32_t)(at - from), &text))
			ab_check_script(c, &text, true, NULL, 0, NULL);
	}
}

/* `;`, or the end of a word that is that: how many bytes stay. */
static bool ends_command(const struct ab_word *w, uint32_t *keep)
{
	*keep = w->len - 1;
	return w->len && !w->hole_count && w->text[w->len - 1] == ';' &&
	       (w->len == 1 || w->text[w->len - 2] != '\\');
}

bool ab_split_commands(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_word *words = use->words;
	uint32_t count = use->count, from = 1, keep;
	struct ab_word *all = NULL;

	for (uint32_t i = 1; i < count; i++)
		check_formats(c, &words[i]);
	for (uint32_t i = 1; i <= count; i++) {
		bool is_end = i == count ? all != NULL
					 : ends_command(&words[i], &keep);

		if (!is_end)
			continue;
		if (!all) {
			all = ab_check_alloc(c, count * sizeof(*all));
			if (!all)
				return true;
			memcpy(all, words, count * sizeof(*all));
		}
		uint32_t end = i;

		if (i < count && keep &&
		    ab_word_slice(c, &words[i], 0, keep, &all[i]))
			end++;
		/* the word in front is not needed any more */
		all[from - 1] = words[0];
		if (end > from)
			ab_check_words(c, all + from - 1, end - from + 1, 0,
				       NULL, false);
		from = i + 1;
	}
	return all != NULL;
}

/* The text with the program's name in front of each of its commands, as a
   shell has it: quotes are the same. */
static void named_text(struct ab_check *c, const struct ab_word *name,
		       const struct ab_word *w)
{
	static const char next[] = "\n";
	uint32_t n = 0, extra = name->len + 2, depth = 0;
	size_t room = name->len + 2;
	struct ab_word text = { .span = w->span };
	bool is_gap = true;
	char quote = 0, *s;

	for (uint32_t i = 0; i < w->len; i++)
		room += memchr(";{}\n", w->text[i], 4) ? extra : 1;
	s = ab_check_alloc(c, room);
	if (!s)
		return;
	memcpy(s, name->text, n = name->len);
	s[n++] = ' ';
	for (uint32_t i = 0; i < w->len; i++) {
		char ch = w->text[i];

		/* a remark of a file: a quote in it is none; #{ x } is no
		   remark, nor does one begin in it */
		if (ch == '#' && i + 1 < w->len && w->text[i + 1] == '{')
			depth += !quote;
		else if (is_gap && ch == '#')
			i += (uint32_t)ab_seek(w->text + i, w->len - i, '\n');
		if (i == w->len)
			break;
		ch = w->text[i];
		if (depth)
			depth = ch == '\n' ? 0 : depth - (ch == '}');
		is_gap = !quote && !depth && memchr(" \t\n;", ch, 4);
		if (ch == '\\' && quote != '\'' && i + 1 < w->len) {
			s[n++] = ch;
			s[n++] = w->text[++i];
			continue;
		}
		if (quote ? ch == quote : ch == '"' || ch == '\'')
			quote = quote ? 0 : ch;
		if (quote || !memchr(";{}\n", ch, 4)) {
			s[n++] = ch;
			continue;
		}
		s[n++] = *next;
		memcpy(s + n, name->text, name->len);
		n += name->len;
		s[n++] = ' ';
	}
	text.text = s;
	text.len = n;
	ab_check_script(c, &text, true, NULL, 0, NULL);
}

#define MAX_SOURCE 16384 /* bytes of a text that is known when met again */

/* bind r source-file ~/.tmux.conf, in that very file. */
static bool is_within(const struct ab_check *c, const struct ab_word *name,
		      const struct ab_word *w)
{
	for (const struct ab_chain *k = c->chain; k; k = k->up) {
		if (k->source && k->source_len == name->len + 1 + w->len &&
		    !memcmp(k->source, name->text, name->len) &&
		    !memcmp(k->source + name->len + 1, w->text, w->len))
			return true;
	}
	return false;
}

/* A copy, since the words do not stay, and others come to lie there. */
static void keep_source(struct ab_check *c, const struct ab_word *name,
			const struct ab_word *w)
{
	uint32_t len = name->len + 1 + w->len;
	char *text = ab_arena_high(c->high, len);

	if (!text) {
		c->is_broken = true;
		return;
	}
	memcpy(text, name->text, name->len);
	text[name->len] = '\0';
	memcpy(text + name->len + 1, w->text, w->len);
	c->source = text;
	c->source_len = len;
}

void ab_command_text(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *w)
{
	struct ab_word all[2] = { use->words[0], *w }, text;

	if (!w->hole_count && !all->hole_count && w->len < MAX_SOURCE &&
	    all->len < MAX_SOURCE) {
		if (is_within(c, all, w))
			return;
		keep_source(c, all, w);
	}
	if (!w->hole_count && !all->hole_count)
		named_text(c, all, w);
	else if (ab_shell_join(c->run, all, 2, &text))
		ab_check_script(c, &text, true, NULL, 0, NULL);
	c->source = NULL;
}

void ab_run_commands(struct ab_check *c, const struct ab_use *use,
		     uint32_t first)
{
	const struct ab_word *w = &use->words[first];
	uint32_t count = use->count - first + 1;
	struct ab_word *all;

	if (count == 2) {
		ab_command_text(c, use, w);
		return;
	}
	all = ab_check_alloc(c, count * sizeof(*all));
	if (!all)
		return;
	all[0] = use->words[0];
	memcpy(all + 1, w, (count - 1) * sizeof(*all));
	ab_run_words(c, use, all, count);
}
