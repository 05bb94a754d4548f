/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What editors put into files that stay what they are: sed -i, perl -pi, ed,
 * vim -c, patch. What else such a file holds nobody knows, so for who reads it
 * there is no difference. Who runs it runs what was put in as well: that is
 * judged as if it stood alone, and what would be denied is denied. What would
 * be asked about is not: it is a part of something that is not seen, in which
 * a variable has a value and a quote its end. Kept in variables like what the
 * text writes (files.c), so that branches and subshells undo them.
 *
 * Refuses to take a program apart: each string of it may be what it puts in.
 */
#include "config.h"

#include "guard/files.h"

#include <string.h>

#include "guard/command.h"

#define EDIT_PREFIX " edit " /* as long as AB_FILE_PREFIX */
#define MAX_EDITED 32768     /* bytes that were put into one file */
#define MAX_PATTERNS 16

/* What was put into the files that a pattern takes, the last first. */
struct ab_edited {
	const struct ab_edited *next;
	struct ab_word pattern, text;
	uint32_t number;
};

/* --- what was put in ----------------------------------------------------- */

/* The variable of the file's; the name lives as long as the check. */
static char *edit_name(struct ab_check *c, const struct ab_word *path,
		       uint32_t *len)
{
	const char *variable = ab_file_name(c, path, true, len);
	char *name = variable ? ab_arena_high(c->high, *len + 1) : NULL;

	if (!variable || !name) {
		c->is_broken |= variable != NULL;
		return NULL;
	}
	memcpy(name, variable, *len + 1);
	memcpy(name, EDIT_PREFIX, sizeof(EDIT_PREFIX) - 1);
	return name;
}

/* One of the texts that may have been put in. */
static const struct ab_word *get_one(struct ab_check *c, const char *name,
				     uint32_t len, uint32_t i)
{
	const struct ab_word *w = ab_shell_get(c->run, name, len, NULL);

	if (w && w->len)
		return i ? NULL : w;
	return w ? ab_shell_get_one(c->run, name, len, i) : NULL;
}

/* For patterns and those who look for a name, as long as there is room: with
   one that found none they would ask, and what was put in is seldom run. */
static void note(struct ab_check *c, const struct ab_word *path)
{
	uint32_t len;
	const char *variable = ab_file_name(c, path, true, &len);

	for (uint32_t i = 0; variable && i < c->written_count; i++) {
		if (!strcmp(c->written[i], variable))
			return;
	}
	if (variable && c->written_count < AB_CHECK_WRITTEN)
		c->written[c->written_count++] = variable;
}

/* sed -i x *.sh: each file that it takes; beyond so many any file. */
static void put_pattern(struct ab_check *c, const struct ab_word *path,
			const struct ab_word *text)
{
	struct ab_edited *one = ab_arena_high(c->high, sizeof(*one));
	const struct ab_edited *last = c->edited_patterns;
	struct ab_word all;

	if (!ab_file_pattern(c, path, &all))
		return;
	if (!one) {
		c->is_broken = true;
		return;
	}
	*one = (struct ab_edited){ .next = last };
	if (last && last->number + 1 == MAX_PATTERNS) {
		if (last->text.len + text->len >= MAX_EDITED) {
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, path);
			return;
		}
		if (!ab_file_join(c, &last->text, text, &one->text))
			return;
		text = &one->text;
		one->next = last->next;
	}
	one->number = one->next ? one->next->number + 1 : 0;
	if (ab_keep_word(c, &all, &one->pattern) &&
	    ab_keep_word(c, text, &one->text)) {
		c->edited_patterns = one;
		c->has_edits = true;
	}
}

void ab_edit_put(struct ab_check *c, const struct ab_word *path,
		 const struct ab_word *text)
{
	const struct ab_word *one, *kept;
	struct ab_word all = *text;
	uint32_t len, i = 0;
	char *name;

	if (!c->run || text->len < 3 || ab_file_fd(path) >= 0)
		return;
	if (ab_file_is_pattern(path)) {
		put_pattern(c, path, text);
		return;
	}
	name = edit_name(c, path, &len);
	if (!name)
		return;
	while (c->has_edits && all.len < MAX_EDITED &&
	       (one = get_one(c, name, len, i++))) {
		/* once more */
		if (one->len >= text->len && i == 1 &&
		    !memcmp(one->text, text->text, text->len))
			return;
		if (!ab_file_join(c, &all, one, &all))
			return;
	}
	c->has_edits = true;
	note(c, path);
	if (all.len < MAX_EDITED &&
	    ab_shell_set(c->run, name, len, &all, AB_SHELL_SHARED) &&
	    (kept = ab_shell_get(c->run, name, len, NULL)) &&
	    kept->len == all.len)
		return;
	/* more than can be judged: who runs it is asked */
	if (!ab_file_mark(c, name, len, AB_TAINT_FILE, AB_SHELL_SHARED))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_edit_drop(struct ab_check *c, const struct ab_word *path)
{
	static const struct ab_word none = { .text = "" };
	uint32_t len;
	char *name = edit_name(c, path, &len);

	if (name && ab_shell_get(c->run, name, len, NULL) &&
	    !ab_shell_set(c->run, name, len, &none, AB_SHELL_SHARED))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_edit_copy(struct ab_check *c, const struct ab_word *from,
		  const struct ab_word *to)
{
	const struct ab_word *one;
	uint32_t i = 0;

	while ((one = ab_edit_next(c, from, &i)))
		ab_edit_put(c, to, one);
}

/* *i goes on with the patterns behind the texts of the file itself. */
static const struct ab_word *next_pattern(struct ab_check *c, const char *path,
					  uint32_t *i)
{
	const struct ab_edited *one = c->edited_patterns;
	uint32_t k = AB_SHELL_ALTERNATIVES;

	for (; one; one = one->next, k++) {
		bool is_any = one->number + 1 == MAX_PATTERNS;

		if (k < *i || (!is_any && !ab_pattern_may_take(
						  one->pattern.text,
						  one->pattern.len, path,
						  strlen(path), c->has_fold)))
			continue;
		*i = k + 1;
		return &one->text;
	}
	return NULL;
}

/* More was put in than is kept. */
static void ask_too_much(struct ab_check *c, const char *name, uint32_t len,
			 const struct ab_word *path)
{
	const struct ab_word *w = ab_shell_get(c->run, name, len, NULL);
	bool was_part = c->is_part;

	if (!w || w->len || !w->hole_count ||
	    ab_shell_get_one(c->run, name, len, 0))
		return;
	c->is_part = false;
	ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, path);
	c->is_part = was_part;
}

const struct ab_word *ab_edit_next(struct ab_check *c,
				   const struct ab_word *path, uint32_t *i)
{
	uint32_t len;
	char *name = c->run && ab_file_fd(path) < 0 ? edit_name(c, path, &len)
						    : NULL;

	if (name && !*i)
		ask_too_much(c, name, len, path);
	for (; name && *i < AB_SHELL_ALTERNATIVES; ++*i) {
		const struct ab_word *one = get_one(c, name, len, *i);

		if (one && one->len) {
			++*i;
			return one;
		}
	}
	return name ? next_pattern(c, name + sizeof(EDIT_PREFIX) - 1, i) : NULL;
}

/* --- pieces of a program -------------------------------------------------- */

/* They are shorter than what they stand in: each has a delimiter there, and a
   new line here. */
struct ab_edit {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *from;
	struct ab_word text;
	char *out;
	struct ab_hole *holes;
	uint32_t next; /* hole of from */
	uint32_t unclosed; /* beginnings of a change that had no end */
};

#define MAX_UNCLOSED 8 /* behind them no more is looked for */

static bool writes_in_place(const struct ab_check *c, const struct ab_use *use)
{
	const struct ab_program *p = use ? use->program : NULL;

	for (uint32_t i = 0; p && i < p->role_count; i++) {
		const struct ab_role *role = &c->pack->roles[p->role + i];

		if (role->kind == AB_ROLE_WRITE && ab_role_applies(use, role))
			return true;
	}
	return false;
}

static bool begin(struct ab_edit *e, struct ab_check *c,
		  const struct ab_use *use, const struct ab_word *from)
{
	*e = (struct ab_edit){ .c = c, .use = use, .from = from };
	e->out = ab_check_alloc(c, (size_t)from->len + 2);
	e->holes = ab_check_alloc(c, (from->hole_count + 1) *
					     sizeof(*e->holes));
	e->text.span = from->span;
	e->text.text = e->out;
	e->text.holes = e->holes;
	return e->out && e->holes;
}

struct ab_edit *ab_edit_begin(struct ab_check *c, const struct ab_use *use,
			      const struct ab_word *from)
{
	struct ab_edit *e;

	if (!c->run || !from->len || AB_LIKELY(!writes_in_place(c, use)))
		return NULL;
	e = ab_check_alloc(c, sizeof(*e));
	return e && begin(e, c, use, from) ? e : NULL;
}

/* What is put in at that byte. It is a word there, as `s/VERSION/$v/` has it,
   wherever it comes from. */
static void take_holes(struct ab_edit *e, uint32_t at)
{
	const struct ab_word *w = e->from;

	for (; e->next < w->hole_count && w->holes[e->next].at <= at;
	     e->next++) {
		if (w->holes[e->next].at != at || w->holes[e->next].len)
			continue;
		e->holes[e->text.hole_count++] =
			(struct ab_hole){ .at = e->text.len,
					  .kind = AB_HOLE_BYTES };
	}
}

static void take(struct ab_edit *e, uint32_t at, char ch)
{
	take_holes(e, at);
	e->out[e->text.len++] = ch;
}

static void end_piece(struct ab_edit *e, uint32_t at)
{
	take_holes(e, at);
	e->out[e->text.len++] = '\n';
}

void ab_edit_piece(struct ab_edit *e, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i++)
		take(e, i, e->from->text[i]);
	end_piece(e, end);
}

/* `rm \/x`, `a\nb`; `&` and \1 are words that nobody knows. */
void ab_edit_quoted(struct ab_edit *e, uint32_t from, uint32_t end)
{
	const char *s = e->from->text;

	for (uint32_t i = from; i < end; i++) {
		if (s[i] == '&') {
			take(e, i, '_');
		} else if (s[i] != '\\' || i + 1 >= end) {
			take(e, i, s[i]);
		} else if (s[++i] >= '0' && s[i] <= '9') {
			take(e, i, '_');
		} else {
			take(e, i, s[i] == 'n'	 ? '\n'
				   : s[i] == 't' ? '\t'
						 : s[i]);
		}
	}
	end_piece(e, end);
}

static void put_word(struct ab_check *c, const struct ab_use *use,
		     const struct ab_role *role, const struct ab_word *w)
{
	(void)use;
	(void)role;
	ab_edit_put(c, w, c->edited);
}

/* Into each of the files that are written. */
static void put_all(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *text)
{
	const struct ab_program *p = use->program;

	c->edited = text;
	for (uint32_t i = 0; text->len > 2 && i < p->role_count; i++) {
		const struct ab_role *role = &c->pack->roles[p->role + i];

		if (role->kind == AB_ROLE_WRITE && ab_role_applies(use, role))
			ab_role_each(c, use, role, put_word);
	}
	c->edited = NULL;
}

void ab_edit_end(struct ab_edit *e)
{
	put_all(e->c, e->use, &e->text);
}

void ab_edit_read(struct ab_edit *e, const struct ab_word *path)
{
	const struct ab_word *content = ab_file_content(e->c, path);

	if (content && content->len)
		put_all(e->c, e->use, content);
}

/* --- strings -------------------------------------------------------------- */

static bool is_name(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_';
}

/* Behind the delimiter, which brackets nest in; n: there is none. */
static uint32_t skip_to(const char *s, uint32_t n, uint32_t i, char open,
			char close)
{
	uint32_t depth = 1;

	for (; i < n; i++) {
		if (s[i] == '\\')
			i++;
		else if (s[i] == close && !--depth)
			return i;
		else if (s[i] == open && open != close)
			depth++;
	}
	return n;
}

static char closing(char open)
{
	switch (open) {
	case '{':
		return '}';
	case '(':
		return ')';
	case '[':
		return ']';
	case '<':
		return '>';
	default:
		return open;
	}
}

/* s/x/y/, s{x}{y}: where it ends; from: it is none. */
static uint32_t change(struct ab_edit *e, uint32_t from)
{
	const char *s = e->from->text;
	uint32_t n = e->from->len, i = from + 1, end;
	char open = i < n ? s[i] : ' ', close = closing(open);

	if (e->unclosed == MAX_UNCLOSED || is_name(open) ||
	    memchr(" \t\n=,;.)]}>-\"'", open, 15) ||
	    (from && (is_name(s[from - 1]) || memchr("$@%>", s[from - 1], 4))))
		return from;
	i = skip_to(s, n, i + 1, open, close);
	if (open != close) {
		for (i++; i < n && memchr(" \t\n", s[i], 3); i++)
			;
		open = i < n ? s[i] : ' ';
		close = closing(open);
	}
	end = i < n ? skip_to(s, n, i + 1, open, close) : n;
	if (end >= n) {
		e->unclosed++;
		return from;
	}
	ab_edit_quoted(e, i + 1, end);
	return end;
}

/* Each string may be what is put in, and what stands for a pattern. */
static void take_strings(struct ab_edit *e)
{
	const char *s = e->from->text;
	uint32_t n = e->from->len, end;

	for (uint32_t i = 0; i < n; i++) {
		if (memchr("\"'`", s[i], 3)) {
			end = skip_to(s, n, i + 1, s[i], s[i]);
			ab_edit_quoted(e, i + 1, end);
			i = end;
		} else if (s[i] == 's') {
			i = change(e, i);
		} else if (s[i] == '\\') {
			i++;
		}
	}
}

/* --- ed and ex ------------------------------------------------------------ */

/* Behind 1,$ and /x/ and g/x/. */
static uint32_t skip_range(const char *s, uint32_t n, uint32_t i)
{
	while (i < n) {
		bool is_all = memchr("gv", s[i], 2) && i + 1 < n &&
			      s[i + 1] == '/';

		i += is_all;
		if (s[i] == '/')
			i = skip_to(s, n, i + 1, '/', '/');
		else if (!memchr(" \t:%.,;$+-0123456789", s[i], 20))
			return i;
		i++;
	}
	return n;
}

/* What is typed, or a line of what is put in. */
static void take_line(struct ab_edit *e, uint32_t from, uint32_t end)
{
	const char *s = e->from->text;
	uint32_t at = skip_range(s, end, from), to;

	if (at + 2 < end && s[at] == 's' && !is_name(s[at + 1]) &&
	    s[at + 1] != ' ') {
		char delim = s[at + 1];

		to = skip_to(s, end, at + 2, delim, delim);
		if (to < end)
			ab_edit_quoted(e, to + 1, skip_to(s, end, to + 1,
							  delim, delim));
	} else if (at + 7 < end && !memcmp(s + at, "norm", 4)) {
		while (at < end && s[at] != ' ')
			at++;
		ab_edit_piece(e, at + 2 < end ? at + 2 : end, end);
	} else {
		ab_edit_piece(e, from, end);
	}
}

static void take_lines(struct ab_edit *e, bool has_bars)
{
	const char *s = e->from->text;
	uint32_t n = e->from->len;

	for (uint32_t i = 0, end; i < n; i = end + 1) {
		for (end = i; end < n && s[end] != '\n' &&
			      !(has_bars && s[end] == '|'); end++)
			;
		take_line(e, i, end);
	}
}

void ab_edit_by(struct ab_check *c, const struct ab_use *use, const char *lang,
		const struct ab_word *text)
{
	struct ab_edit *e = ab_edit_begin(c, use, text);

	if (AB_LIKELY(!e))
		return;
	if (!strcmp(lang, "vim")) {
		take_lines(e, false);
	} else if (!strcmp(lang, "viml")) {
		take_lines(e, true);
	} else if (!strcmp(lang, "piece")) {
		ab_edit_piece(e, 0, text->len);
	} else if (!strcmp(lang, "perl") || !strcmp(lang, "ruby") ||
		   !strcmp(lang, "awk")) {
		take_strings(e);
	}
	ab_edit_end(e);
	/* call append(0, "x") */
	if (!strcmp(lang, "viml") && memchr(text->text, '(', text->len) &&
	    (e = ab_edit_begin(c, use, text))) {
		take_strings(e);
		ab_edit_end(e);
	}
}

/* --- patches -------------------------------------------------------------- */

/* +++ b/x/y is x/y, of another name all of it; is_patch: patch(1) by itself
   takes the last name alone. */
static void put_named(struct ab_check *c, const struct ab_word *patch,
		      uint32_t from, uint32_t end, bool is_patch,
		      const struct ab_word *text)
{
	const char *s = patch->text;
	const char *tab = memchr(s + from, '\t', end - from);
	const char *slash;
	struct ab_word path;

	end = tab ? (uint32_t)(tab - s) : end;
	if (end - from > 2 && !memcmp(s + from, "b/", 2))
		from += 2;
	if (ab_word_slice(c, patch, from, end - from, &path))
		ab_edit_put(c, &path, text);
	slash = memrchr(s + from, '/', end - from);
	from = slash ? (uint32_t)(slash - s) + 1 : from;
	if (is_patch && slash &&
	    ab_word_slice(c, patch, from, end - from, &path))
		ab_edit_put(c, &path, text);
}

/* What follows is of another file. */
static void next_part(struct ab_edit *e)
{
	e->out += e->text.len;
	e->holes += e->text.hole_count;
	e->text.text = e->out;
	e->text.holes = e->holes;
	e->text.len = e->text.hole_count = 0;
}

void ab_edit_patch(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *patch)
{
	const char *s = patch->text;
	uint32_t n = patch->len, from = 0, name_end = 0;
	struct ab_word all;
	struct ab_edit e;

	if (!c->run || !begin(&e, c, use, patch))
		return;
	all = e.text;
	for (uint32_t i = 0, end; i < n; i = end + 1) {
		const char *nl = memchr(s + i, '\n', n - i);

		end = nl ? (uint32_t)(nl - s) : n;
		if (end - i > 4 && !memcmp(s + i, "+++ ", 4)) {
			if (name_end)
				put_named(c, patch, from, name_end, use,
					  &e.text);
			next_part(&e);
			from = i + 4;
			name_end = end;
		} else if (s[i] == '+' && end > i) {
			ab_edit_piece(&e, i + 1, end);
		} else if (!name_end) { /* of ed, or nothing */
			ab_edit_piece(&e, i, end);
		}
	}
	if (name_end)
		put_named(c, patch, from, name_end, use, &e.text);
	all.len = (uint32_t)(e.out - all.text) + e.text.len;
	/* patch FILE: all of it */
	if (use && use->program && writes_in_place(c, use))
		put_all(c, use, &all);
}
