/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of tools with commands in their lines: a Procfile, tcl, and m4.
 * Refuses to follow variables of the tool; where m4 does not say which of its
 * words is a command, it is asked about.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#include "guard/command.h"

/* eval "exec make" */
static bool is_evaluated(const char *line, const char *hit)
{
	return hit - line >= 6 && !memcmp(hit - 6, "eval \"", 6);
}

/* Where the words of tcl's exec, spawn or system begin; 0: no such. */
static uint32_t tcl_command(const char *line, uint32_t n)
{
	static const char *const names[] = { "exec ", "spawn ", "system " };
	uint32_t first = 0;

	while (first < n && (line[first] == ' ' || line[first] == '\t'))
		first++;
	if (first < n && line[first] == '#')
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const char *hit = memmem(line, n, names[i], strlen(names[i]));

		if (hit && (hit == line || memchr(" \t[{;", hit[-1], 5) ||
			    is_evaluated(line, hit)))
			return (uint32_t)(hit - line) +
			       (uint32_t)strlen(names[i]);
	}
	return 0;
}

/* What stands in quotes or braces from open on, up to *stop, as the program is
   sent it, up to what a variable or a command gives. */
static bool sent_text(struct ab_check *c, const char *open, const char *end,
		      const char **stop, struct ab_word *w)
{
	bool is_quote = *open == '"', is_cut = false;
	const char *at = open + 1;
	uint32_t depth = 1, n = 0;
	char *text;

	while (at < end && (depth += !is_quote && *at == '{') &&
	       (depth -= *at == (is_quote ? '"' : '}')))
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	*stop = at;
	text = ab_check_alloc(c, (size_t)(at - open));
	for (const char *s = open + 1; text && s < at && !is_cut; s++) {
		char ch = *s;

		is_cut = is_quote && (ch == '$' || ch == '[');
		if (is_quote && ch == '\\' && s + 1 < at)
			ch = memchr("rn", *++s, 2) ? '\n' : *s;
		if (!is_cut)
			text[n++] = ch;
	}
	w->text = text;
	w->len = n;
	return text && n;
}

/* send "rm x\r": what expect types into what it has spawned. What a variable or
   a command gives is an answer, and not known. */
static void tcl_keys(struct ab_check *c, const struct ab_word *text,
		     uint32_t from, uint32_t n)
{
	static const char call[] = "send ";
	const char *end = text->text + from + n, *at = text->text + from;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		bool is_call = at == text->text ||
			       memchr(" \t\n[{;_", at[-1], 7);
		struct ab_word w = { .span = text->span };

		at += sizeof(call) - 1;
		if (!is_call)
			continue;
		while (at < end && !memchr("\"{;", *at, 3))
			at++;
		if (at < end && *at != ';' && sent_text(c, at, end, &at, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	}
}

/* The next word of a command, without what it is quoted with. */
static bool tcl_word(struct ab_check *c, const struct ab_word *text,
		     uint32_t *at, uint32_t end, struct ab_word *w)
{
	uint32_t from;
	char quote;

	while (*at < end && memchr(" \t", text->text[*at], 2))
		++*at;
	if (*at >= end || memchr("];", text->text[*at], 2))
		return false;
	quote = text->text[*at] == '"' ? '"' :
		text->text[*at] == '{' ? '}' : 0;
	from = *at += quote != 0;
	while (*at < end && (quote ? text->text[*at] != quote
				   : !memchr(" \t];", text->text[*at], 4)))
		++*at;
	if (!ab_word_slice(c, text, from, *at - from, w))
		return false;
	*at += quote != 0;
	return true;
}

/* $env(HOME)/x, ~/x: names of files are expanded by tcl 8, quoted or not. */
static void tcl_home(struct ab_check *c, struct ab_word *w)
{
	static const char mark[] = "$env(HOME)";
	const struct ab_known_path *home = &c->place->home;
	uint32_t n = sizeof(mark) - 1;
	char *text;

	if (w->len && *w->text == '~' && (w->len == 1 || w->text[1] == '/'))
		n = 1;
	else if (w->len < n || memcmp(w->text, mark, n) != 0)
		return;
	if (!home->text || w->hole_count)
		return;
	text = ab_check_alloc(c, home->len + w->len);
	if (!text)
		return;
	memcpy(text, home->text, home->len);
	memcpy(text + home->len, w->text + n, w->len - n);
	*w = (struct ab_word){ .text = text, .len = home->len + w->len - n,
			       .span = w->span };
}

/* file delete -force -- a b, file rename a b, open a w: the files. */
static void tcl_files(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *text, uint32_t from, uint32_t n)
{
	static const struct {
		const char *name;
		uint8_t role;
	} calls[] = {
		{ "file delete ", AB_ROLE_REMOVE },
		{ "file rename ", AB_ROLE_WRITE },
		{ "file mkdir ", AB_ROLE_WRITE },
		{ "file copy ", AB_ROLE_READ },
		{ "file link ", AB_ROLE_WRITE },
		{ "open ", AB_ROLE_READ },
	};
	const char *line = text->text + from;
	struct ab_word w, last;

	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		size_t len = strlen(calls[i].name);
		const char *hit = memmem(line, n, calls[i].name, len);
		enum ab_role_kind role = (enum ab_role_kind)calls[i].role;
		uint32_t at, count = 0;

		if (!hit || (hit > line && !memchr(" \t[{;", hit[-1], 5)))
			continue;
		at = (uint32_t)(hit - text->text) + (uint32_t)len;
		while (tcl_word(c, text, &at, from + n, &w)) {
			tcl_home(c, &w);
			if (!w.len || memchr("-$[", *w.text, 3))
				continue;
			if (role == AB_ROLE_READ && count) {
				/* open FILE MODE, file copy a b */
				if (i < 5)
					last = w;
				else if (!memchr("wa", *w.text, 2) &&
					 !memchr(w.text, '+', w.len))
					continue;
				ab_check_path(c, use, AB_ROLE_WRITE, &last);
				continue;
			}
			if (*w.text != '|')
				ab_check_path(c, use, role, &w);
			last = w;
			count++;
		}
	}
}

/* Where that ends that begins at `at`: [exec make], catch {exec make}, and
   eval "exec make". */
static uint32_t tcl_end(const char *line, uint32_t at, uint32_t n)
{
	bool is_text = at > 5 && line[at - 1] == ' ' &&
		       (is_evaluated(line, line + at - 5) ||
			(at > 6 && is_evaluated(line, line + at - 6)));
	const char *quote = is_text ? memchr(line + at, '"', n - at) : NULL;
	int depth = 0;

	if (quote)
		return (uint32_t)(quote - line);
	for (uint32_t i = at; i < n; i++) {
		depth += line[i] == '[' || line[i] == '{';
		depth -= line[i] == ']' || line[i] == '}';
		if (depth < 0)
			return i;
	}
	return n;
}

/* Where the group ends that begins there, in braces or quotes; or len. */
static uint32_t group_end(const struct ab_word *w, uint32_t at)
{
	uint32_t depth = 0;

	if (w->text[at] == '"')
		return at + 1 + (uint32_t)ab_seek(w->text + at + 1,
						  w->len - at - 1, '"');
	for (; at < w->len; at++) {
		depth += w->text[at] == '{';
		depth -= w->text[at] == '}';
		if (!depth)
			return at;
	}
	return w->len;
}

/* The holes of a word whose bytes go elsewhere; of those before `next` the
   places are new. */
struct moved {
	struct ab_hole *all;
	uint32_t count, next;
};

static bool copy_holes(struct ab_check *c, const struct ab_word *w,
		       struct moved *m)
{
	m->all = ab_check_alloc(c, m->count * sizeof(*m->all));
	if (m->all)
		memcpy(m->all, w->holes, m->count * sizeof(*m->all));
	return m->all;
}

/* What stood at a byte up to `from` stands at `to`. */
static void move_holes(struct moved *m, uint32_t from, uint32_t to)
{
	while (m->next < m->count && m->all[m->next].at <= from)
		m->all[m->next++].at = to;
}

/* exec {*}[list make x]: the words of the list. */
static bool open_lists(struct ab_check *c, struct ab_word *w)
{
	static const char name[] = "[list ";
	const uint32_t len = sizeof(name) - 1;
	uint64_t lists = 0; /* a bit for each bracket that is open */
	char *text;

	if (AB_LIKELY(!memmem(w->text, w->len, name, len)))
		return true;
	text = ab_check_alloc(c, w->len + 1);
	if (!text)
		return false;
	memcpy(text, w->text, w->len);
	for (uint32_t i = 0; i < w->len; i++) {
		if (w->len - i > len && !memcmp(text + i, name, len)) {
			memset(text + i, ' ', len);
			lists = lists << 1 | 1;
		} else if (text[i] == '[') {
			lists <<= 1;
		} else if (text[i] == ']') {
			text[i] = lists & 1 ? ' ' : ']';
			lists >>= 1;
		}
	}
	w->text = text;
	return true;
}

/* exec sh -c {rm -rf x}: what braces hold is one word, as in quotes; of
   system {rm -rf x} it is the command, and behind {*} it is words. */
static void quote_braces(struct ab_check *c, struct ab_word *w)
{
	char *text = memchr(w->text, '{', w->len)
			     ? ab_check_alloc(c, 4 * (size_t)w->len + 1) : NULL;
	struct moved m = { .count = w->hole_count };
	bool is_split = false, is_open = false; /* a group has no end */
	uint32_t n = 0;

	if (!text || (m.count && !copy_holes(c, w, &m)))
		return;
	for (uint32_t i = 0, end; i < w->len; i++) {
		char ch = w->text[i];
		bool is_group = is_split ? ch == '{' || ch == '"' :
				ch == '{' && (!i || w->text[i - 1] == ' ');

		move_holes(&m, i, n);
		end = is_group && !is_open ? group_end(w, i) : w->len;
		is_open |= is_group && end == w->len;
		is_group &= end < w->len && (i || end + 1 < w->len);
		if (!is_group) {
			text[n++] = ch;
			is_split = false;
			continue;
		}
		bool is_mark = end == i + 2 && w->text[i + 1] == '*';

		text[n++] = is_split || is_mark ? ' ' : '\'';
		for (i++; i < end && !is_mark; i++) {
			move_holes(&m, i, n);
			text[n++] = w->text[i];
			if (w->text[i] == '\'' && !is_split) {
				memcpy(text + n, "\\''", 3);
				n += 3;
			}
		}
		move_holes(&m, end, n);
		text[n++] = is_split || is_mark ? ' ' : '\'';
		is_split = is_mark;
		i = end;
	}
	move_holes(&m, w->len, n);
	for (uint32_t i = 0; i < m.count; i++) {
		if (m.all[i].len > n - m.all[i].at)
			m.all[i].len = n - m.all[i].at;
	}
	w->text = text;
	w->len = n;
	w->holes = m.count ? m.all : w->holes;
	w->map = NULL;
	w->map_count = 0;
}

/* system "a b" is a text for a shell, and so is open "|a b". */
static void tcl_text(struct ab_check *c, const struct ab_word *text,
		     uint32_t from, uint32_t n)
{
	static const char *const names[] = { "system ", "open " };
	const char *line = text->text + from;
	struct ab_word w;

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const char *hit = memmem(line, n, names[i], strlen(names[i]));
		uint32_t at, end;

		if (!hit || (hit > line && !memchr(" \t[{;", hit[-1], 5)))
			continue;
		at = (uint32_t)(hit - line) + (uint32_t)strlen(names[i]);
		while (at < n && memchr(" \t", line[at], 2))
			at++;
		if (at >= n || !memchr("\"{|", line[at], 3))
			continue;
		struct ab_word rest = { .text = line, .len = n };

		end = line[at] == '|' ? n : group_end(&rest, at);
		at += line[at] != '|';
		if (i && (at >= n || line[at] != '|'))
			continue;
		at += i;
		if (end <= at ||
		    !ab_word_slice(c, text, from + at, end - at, &w))
			continue;
		if (i && open_lists(c, &w))
			quote_braces(c, &w);
		ab_check_script(c, &w, true, NULL, 0, NULL);
	}
}

/* syscmd(COMMAND) and esyscmd of m4, in whatever quotes. */
static void check_m4_calls(struct ab_check *c, const struct ab_word *text)
{
	static const char call[] = "syscmd(";
	const char *end = text->text + text->len, *at = text->text;
	struct ab_word w;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		const char *from = at += sizeof(call) - 1;
		uint32_t depth = 1;

		while (at < end && (depth -= *at == ')'))
			depth += *at++ == '(';
		const char *stop = at;

		while (from < stop && memchr("`[ \t\n", *from, 5))
			from++;
		while (from < stop && memchr("'] \t\n", stop[-1], 5))
			stop--;
		if (ab_word_slice(c, text, (uint32_t)(from - text->text),
				  (uint32_t)(stop - from), &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	}
}

/* define(`x', defn(`syscmd')), builtin(`syscmd', ...): which of its words is
   a command is not said. */
static bool has_other_call(const struct ab_word *text)
{
	static const char call[] = "syscmd";
	const char *end = text->text + text->len, *at = text->text;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		at += sizeof(call) - 1;
		if (at == end || *at != '(')
			return true;
	}
	return false;
}

void ab_check_m4(struct ab_check *c, const struct ab_word *text)
{
	static const char signs[] = "`'[](),\n";
	uint32_t from = 0;
	struct ab_word w;

	if (!has_other_call(text)) {
		check_m4_calls(c, text);
		return;
	}
	ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, text);
	for (uint32_t i = 0; i <= text->len; i++) {
		if (i < text->len && !memchr(signs, text->text[i], 8))
			continue;
		if (i > from && memchr(text->text + from, ' ', i - from) &&
		    ab_word_slice(c, text, from, i - from, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
		from = i + 1;
	}
}

/* Calls of tcl, NAME: COMMAND. */
void ab_check_lines(struct ab_check *c, const struct ab_use *use,
		    const char *lang,
		    const struct ab_word *text)
{
	bool is_tcl = !strcmp(lang, "tcl");

	for (uint32_t i = 0; i < text->len;) {
		const char *end = memchr(text->text + i, '\n', text->len - i);
		uint32_t stop = end ? (uint32_t)(end - text->text)
				    : text->len;
		const char *line = text->text + i;
		uint32_t n = stop - i, at = 0;
		struct ab_word w;

		if (is_tcl) {
			tcl_text(c, text, i, n);
			tcl_keys(c, text, i, n);
			tcl_files(c, use, text, i, n);
			at = tcl_command(line, n);
			n = at ? tcl_end(line, at, n) : n;
		} else {
			const char *colon = memchr(line, ':', n);

			at = colon ? (uint32_t)(colon - line) + 1 : 0;
		}
		if (!at || !ab_word_slice(c, text, i + at, n - at, &w)) {
			i = stop + 1;
			continue;
		}
		if (is_tcl && open_lists(c, &w))
			quote_braces(c, &w);
		ab_check_script(c, &w, true, NULL, 0, NULL);
		i = stop + 1;
	}
}
