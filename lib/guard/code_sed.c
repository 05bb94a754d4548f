/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of sed: commands that run others, and files that they read and
 * write.
 */
#include "config.h"

#include "guard/check.h"
#include "guard/command.h"
#include "guard/prints.h"

struct code {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *text;
	uint32_t hole; /* the first one that was not come to */
	bool has_command; /* one that was passed is no part of what follows */
	struct ab_edit *edit; /* -i: what it puts in; or NULL */
};

/* What is put in from there to there is a pattern or what is put in its
   place, and no command: `s/VERSION/$v/`, `/$x/d`. */
static void sed_data(struct code *k, uint32_t from, uint32_t to)
{
	const struct ab_word *w = k->text;

	for (; k->hole < w->hole_count && w->holes[k->hole].at <= to; k->hole++)
		k->has_command |= w->holes[k->hole].at < from;
}

static uint32_t sed_skip_to(const char *s, uint32_t n, uint32_t i, char delim)
{
	while (i < n && s[i] != delim) {
		if (s[i] == '\\')
			i++;
		else if (s[i] == '[') { /* a set may hold the delimiter */
			uint32_t k = i + 1;

			if (k < n && s[k] == '^')
				k++;
			if (k < n && s[k] == ']')
				k++;
			while (k < n && s[k] != ']' && s[k] != '\n')
				k++;
			if (k < n && s[k] == ']')
				i = k;
		}
		i++;
	}
	return i < n ? i + 1 : n;
}

static uint32_t sed_address(const char *s, uint32_t n, uint32_t i)
{
	while (i < n) {
		if (s[i] == '/')
			i = sed_skip_to(s, n, i + 1, '/');
		else if (s[i] == '\\' && i + 1 < n)
			i = sed_skip_to(s, n, i + 2, s[i + 1]);
		else if (memchr("0123456789$,+~!IM \t\n;{}", s[i], 23))
			i++;
		else
			break;
	}
	return i;
}

static uint32_t sed_line(const char *s, uint32_t n, uint32_t i)
{
	const char *end = i < n ? memchr(s + i, '\n', n - i) : NULL;

	return end ? (uint32_t)(end - s) : n;
}

static void sed_name(struct code *k, uint32_t from, enum ab_role_kind kind)
{
	const char *s = k->text->text;
	uint32_t end = sed_line(s, k->text->len, from);
	struct ab_word w;

	while (from < end && (s[from] == ' ' || s[from] == '\t'))
		from++;
	if (!ab_word_slice(k->c, k->text, from, end - from, &w) || !w.len)
		return;
	if (kind == AB_ROLE_KINDS)
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
	else
		ab_check_path(k->c, k->use, kind, &w);
	if (AB_UNLIKELY(k->edit) && kind == AB_ROLE_READ)
		ab_edit_read(k->edit, &w);
	if (kind != AB_ROLE_WRITE)
		return;
	ab_file_make(k->c, k->use, &w);
	/* lines of it, as they are or changed */
	if (k->use && k->use->in_text && k->use->in_text->len)
		ab_file_save(k->c, &w, k->use->in_taint, k->use->in_text,
			     false);
}

/* What the input made of a line is run: `e` with no command. */
static void sed_run(struct code *k)
{
	ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_DECODE, k->text);
}

/* Behind `e` stands a command. */
static bool sed_has_command(const struct code *k, uint32_t from)
{
	const char *s = k->text->text;
	uint32_t end = sed_line(s, k->text->len, from);

	while (from < end && memchr(" \t;}", s[from], 4))
		from++;
	return from < end;
}

/* Flags behind s///: w takes the rest of the line, e runs the result. */
static uint32_t sed_flags(struct code *k, uint32_t i)
{
	const char *s = k->text->text;
	uint32_t n = k->text->len;

	while (i < n && memchr("gpIiMm0123456789", s[i], 16))
		i++;
	if (i < n && s[i] == 'w') {
		sed_name(k, i + 1, AB_ROLE_WRITE);
		return sed_line(s, n, i);
	}
	if (i < n && s[i] == 'e') {
		sed_run(k);
		i++;
	}
	return i;
}

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-&";

/* `s/x/y/`, `3p`, `/x/d`: what comes out are lines that went in, with plain
   words put in at most. */
static bool is_pick(const struct ab_word *text)
{
	const char *s = text->text;
	uint32_t n = text->len, i = sed_address(s, n, 0), end;

	if (text->hole_count || i >= n)
		return false;
	if (s[i] == 'p' || s[i] == 'd')
		return i + 1 == n;
	if (s[i] != 's' || i + 1 >= n)
		return false;
	char delim = s[i + 1];

	i = sed_skip_to(s, n, i + 2, delim);
	for (end = i; end < n && s[end] != delim; end++) {
		bool is_quoted = s[end] == '\\' && end + 1 < n;

		end += is_quoted;
		if (is_quoted ? !memchr("0123456789./-_", s[end], 14)
			      : !memchr(plain, s[end], sizeof(plain) - 1))
			return false;
	}
	for (i = end + 1; i < n; i++) {
		if (!memchr("gpI0123456789", s[i], 13))
			return false;
	}
	return end < n;
}

/* What stands behind `a`, a label or a comment. A line of `a` that ends in a
   backslash goes on. */
static uint32_t sed_text(struct code *k, uint32_t i, char ch)
{
	const char *s = k->text->text;
	uint32_t n = k->text->len, from = i;
	bool is_text = memchr("aic", ch, 3);

	while (i < n && s[i] != '\n' &&
	       !(memchr("btT", ch, 3) && s[i] == ';'))
		i += 1 + (is_text && s[i] == '\\');
	i = i < n ? i : n;
	while (is_text && from < i && memchr(" \t\\\n", s[from], 4))
		from++;
	if (AB_UNLIKELY(k->edit) && is_text)
		ab_edit_quoted(k->edit, from, i);
	return i;
}

/* -e 'c\' -e 'x': what follows is no command. */
static bool goes_on(const struct ab_use *use)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_word *w = &use->words[use->values[i].word];

		if (w->len && w->text[w->len - 1] == '\\')
			return true;
	}
	return false;
}

void ab_check_sed(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *text)
{
	struct code code = { .c = c, .use = use, .text = text,
			     .edit = ab_edit_begin(c, use, text) };
	struct code *k = &code;
	const char *s = text->text;
	uint32_t n = text->len, i = 0;

	c->out_taint |= is_pick(text) ? AB_TAINT_PICK : AB_TAINT_DECODE;
	for (uint32_t from = 0; (i = sed_address(s, n, from)) < n; from = i) {
		char ch = s[i];

		/* right behind a command stands what is of it: s/x/y/$flags */
		sed_data(k, from ? from + 1 : 0, i++);
		from = i;
		if (ch == 's' || ch == 'y') {
			if (i >= n)
				break;
			char delim = s[i];

			uint32_t to = i = sed_skip_to(s, n, i + 1, delim);

			i = sed_skip_to(s, n, i, delim);
			if (AB_UNLIKELY(k->edit) && ch == 's' && to < i)
				ab_edit_quoted(k->edit, to,
					       i - (s[i - 1] == delim));
			sed_data(k, from + 1, i - 1);
			if (ch == 's')
				i = sed_flags(k, i);
		} else if (ch == 'e') {
			if (sed_has_command(k, i))
				sed_name(k, i, AB_ROLE_KINDS);
			else
				sed_run(k);
			i = sed_line(s, n, i);
		} else if (ch == 'w' || ch == 'W') {
			sed_name(k, i, AB_ROLE_WRITE);
			i = sed_line(s, n, i);
		} else if (ch == 'r' || ch == 'R') {
			sed_name(k, i, AB_ROLE_READ);
			i = sed_line(s, n, i);
		} else if (memchr("aicbtT:#", ch, 8)) {
			i = sed_text(k, i, ch);
			sed_data(k, from, i);
		}
	}
	if (k->has_command || k->hole < text->hole_count)
		ab_check_flow(c, use, AB_SINK_CODE,
			      ab_word_taint(text) & ~(uint32_t)AB_TAINT_VAR,
			      text);
	if (AB_UNLIKELY(k->edit)) {
		ab_edit_end(k->edit);
		if (goes_on(use))
			ab_edit_by(c, use, "piece", text);
	}
	if (AB_UNLIKELY(c->has_files) && c->run && use->program)
		ab_sed_in_place(c, use, text);
}
