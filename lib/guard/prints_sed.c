/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sed makes of a text that is known: `s/word/other/`, `3p`, `2,5d`. In a
 * pattern a dot, the ends of a line and a last `.*` are followed, nothing else:
 * what more there is makes a text that nobody knows.
 */
#include "config.h"

#include "guard/files.h"
#include "guard/prints.h"

#include <string.h>

#include "guard/command.h"

#define ANY '\1'     /* a dot, in a pattern */
#define MAX_WORD 128 /* bytes of a pattern, and of what is put in its place */

/* One `s`. */
struct change {
	char pattern[MAX_WORD];
	uint32_t len;
	bool at_begin, at_end, is_global;
	bool has_any;  /* a dot: one letter, of which text has more bytes */
	bool has_rest; /* .* behind it: all of the line from there on */
	struct ab_word to;
};

/* --- the words of the command ------------------------------------------- */

static void add_text(struct ab_sed *sed, const struct ab_word *w)
{
	if (sed->count == AB_SED_TEXTS)
		sed->is_odd = true;
	else
		sed->texts[sed->count++] = w;
}

/* -nE, -i.bak, -e; true: the next word is a text. */
static bool takes_text(struct ab_sed *sed, const struct ab_word *w)
{
	for (uint32_t k = 1; k < w->len && w->text[k] != 'i'; k++) {
		char ch = w->text[k];

		if (ch == 'e' && k + 1 == w->len)
			return true;
		sed->is_quiet |= ch == 'n';
		sed->is_extended |= ch == 'E' || ch == 'r';
		/* -s counts the lines of each file by itself */
		sed->is_odd |= !memchr("nEru", ch, 4);
	}
	sed->is_odd |= w->hole_count > 0;
	return false;
}

bool ab_sed_word(struct ab_sed *sed, const struct ab_word *argv, uint32_t argc,
		 uint32_t *i)
{
	const struct ab_word *w = &argv[*i];

	if (!sed->is_ended && w->len > 1 && *w->text == '-') {
		sed->is_ended = w->len == 2 && w->text[1] == '-';
		if (sed->is_ended || !takes_text(sed, w))
			return true;
		sed->has_e = true;
		if (*i + 1 < argc)
			add_text(sed, &argv[++*i]);
		return true;
	}
	if (sed->has_e || sed->count)
		return false;
	add_text(sed, w);
	return true;
}

/* --- s/x/y/ ------------------------------------------------------------- */

static bool has_hole(const struct ab_word *w, uint32_t from, uint32_t end)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].at >= from && w->holes[i].at <= end)
			return true;
	}
	return false;
}

/* A byte of the pattern at s[*i]; false: it is more than plain. */
static bool pattern_byte(struct change *ch, bool is_extended, const char *s,
			 uint32_t n, uint32_t *i, char delim)
{
	char b = s[*i];

	if (b == '\\') {
		b = ++*i < n ? s[*i] : '\n';
		/* s|a\|b|c|: what that means is not the same everywhere */
		if (!memchr("./-&[]*^$\\", b, 10) &&
		    (b != delim || memchr("|+", b, 2)))
			return false;
	} else if (b == '.' && *i + 2 < n && s[*i + 1] == '*' &&
		   (s[*i + 2] == delim || s[*i + 2] == '$')) {
		ch->has_rest = ch->has_any = true;
		++*i;
		return true;
	} else if (b == '.') {
		b = ANY;
		ch->has_any = true;
	} else if (b == '^' && !ch->len && !ch->at_begin) {
		ch->at_begin = true;
		return true;
	} else if (b == '$' && *i + 1 < n && s[*i + 1] == delim) {
		ch->at_end = true;
		return true;
	} else if (memchr("^$*[\n\1", b, 6) ||
		   (is_extended && memchr("+?(){}|", b, 7))) {
		return false;
	}
	if (ch->len == MAX_WORD)
		return false;
	ch->pattern[ch->len++] = b;
	return true;
}

/* What is put in, from s[from] to the delimiter, is w's or a copy of it. */
static bool read_to(struct ab_check *c, struct change *ch,
		    const struct ab_word *w, uint32_t from, uint32_t *at,
		    char delim)
{
	const char *s = w->text;
	uint32_t i = from, len = 0;
	bool is_quoted = false;
	char *copy;

	for (; i < w->len && s[i] != delim; i++) {
		if (s[i] == '&')
			return false;
		if (s[i] != '\\')
			continue;
		is_quoted = true;
		if (++i == w->len ||
		    (s[i] != delim && !memchr("./-&n\\", s[i], 6)))
			return false;
	}
	if (i >= w->len || i - from > MAX_WORD ||
	    !ab_word_slice(c, w, from, i - from, &ch->to))
		return false;
	*at = i + 1;
	if (!is_quoted)
		return true;
	copy = ab_check_alloc(c, ch->to.len);
	if (!copy || ch->to.hole_count)
		return false;
	for (uint32_t k = 0; k < ch->to.len; k++) {
		bool is_back = ch->to.text[k] == '\\';

		k += is_back;
		copy[len++] = is_back && ch->to.text[k] == 'n'
				      ? '\n'
				      : ch->to.text[k];
	}
	ch->to = (struct ab_word){ .text = copy, .len = len,
				   .span = ch->to.span };
	return true;
}

/* The command at w->text[*at] == 's', which ends there then. */
static bool read_change(struct ab_check *c, const struct ab_word *w,
			bool is_extended, uint32_t *at, struct change *ch)
{
	const char *s = w->text;
	uint32_t i = *at + 2, from = i;
	char delim = i < w->len ? s[i - 1] : '\\';

	/* others mean something in a pattern, or behind a backslash */
	if (!memchr("/|#,:;@%!~+=_", delim, 13))
		return false;
	ch->len = 0;
	ch->at_begin = ch->at_end = ch->is_global = false;
	ch->has_rest = ch->has_any = false;
	for (; i < w->len && s[i] != delim; i++) {
		if (!pattern_byte(ch, is_extended, s, w->len, &i, delim))
			return false;
	}
	if (i >= w->len || has_hole(w, from, i) ||
	    !(ch->len || ch->at_begin || ch->at_end || ch->has_rest) ||
	    !read_to(c, ch, w, i + 1, at, delim))
		return false;
	if (*at < w->len && s[*at] == 'g') {
		ch->is_global = true;
		++*at;
	}
	return *at == w->len || memchr("; \n", s[*at], 3);
}

/* *len: the bytes that are taken. */
static bool matches(const struct change *ch, const char *s, uint32_t at,
		    uint32_t begin, uint32_t end, uint32_t *len)
{
	if ((ch->at_begin && at != begin) || at + ch->len > end ||
	    (ch->at_end && !ch->has_rest && at + ch->len != end))
		return false;
	for (uint32_t i = 0; i < ch->len; i++) {
		if (ch->pattern[i] != s[at + i] && ch->pattern[i] != ANY)
			return false;
	}
	*len = ch->has_rest ? end - at : ch->len;
	return true;
}

/* What it becomes; text NULL: how long, and how often something is put in. */
struct made {
	char *text;
	struct ab_hole *holes;
	uint32_t len, hole_count, count;
};

static void put_bytes(struct made *m, const char *s, uint32_t n)
{
	if (m->text)
		memcpy(m->text + m->len, s, n);
	m->len += n;
}

static void put_new(struct made *m, const struct ab_word *to)
{
	for (uint32_t i = 0; m->text && i < to->hole_count; i++) {
		m->holes[m->hole_count] = to->holes[i];
		m->holes[m->hole_count++].at += m->len;
	}
	m->count++;
	put_bytes(m, to->text, to->len);
}

static void change_line(const struct change *ch, const char *s, uint32_t begin,
			uint32_t end, struct made *m)
{
	uint32_t at = begin, n = 0;
	bool is_done = false;

	while (at <= end) {
		if (!is_done && matches(ch, s, at, begin, end, &n)) {
			put_new(m, &ch->to);
			is_done = !ch->is_global || !ch->len || ch->has_rest;
			at += n;
			if (n)
				continue;
		}
		if (at < end)
			put_bytes(m, s + at, 1);
		at++;
	}
}

static void change_lines(const struct change *ch, const struct ab_word *w,
			 struct made *m)
{
	for (uint32_t at = 0, end; at < w->len; at = end + 1) {
		const char *newline = memchr(w->text + at, '\n', w->len - at);

		end = newline ? (uint32_t)(newline - w->text) : w->len;
		change_line(ch, w->text, at, end, m);
		if (newline)
			put_bytes(m, "\n", 1);
	}
}

static bool is_ascii(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if ((unsigned char)w->text[i] > 127)
			return false;
	}
	return true;
}

static bool apply(struct ab_check *c, const struct change *ch,
		  struct ab_word *w)
{
	struct made m = { 0 };

	if (w->hole_count || w->len > 2 * AB_MAX_PRINTED ||
	    !ab_print_pay(c, w->len * (ch->len + 1)) ||
	    (ch->has_any && !is_ascii(w)))
		return false;
	change_lines(ch, w, &m);
	/* what is put in nowhere may be more than what is put in */
	if (m.count > AB_MAX_PRINTED / MAX_WORD ||
	    (!m.count && ch->to.hole_count))
		return false;
	m.text = ab_check_alloc(c, m.len + 1);
	m.holes = ab_check_alloc(c, (m.count * ch->to.hole_count + 1) *
					    sizeof(*m.holes));
	if (!m.text || !m.holes)
		return false;
	m.len = m.count = 0;
	change_lines(ch, w, &m);
	*w = (struct ab_word){ .text = m.text, .len = m.len,
			       .span = w->span, .holes = m.holes,
			       .hole_count = m.hole_count };
	return true;
}

/* --- 3p and 2,5d -------------------------------------------------------- */

/* A number, or `$`: the last line of all; false: neither. */
static bool read_line(const char *s, uint32_t n, uint32_t *i, uint32_t last,
		      uint32_t *line)
{
	uint32_t from = *i;

	*line = 0;
	if (*i < n && s[*i] == '$') {
		++*i;
		*line = last;
		return true;
	}
	for (; *i < n && s[*i] >= '0' && s[*i] <= '9' && *i - from < 7; ++*i)
		*line = *line * 10 + (uint32_t)(s[*i] - '0');
	return *i > from && *line;
}

/* -n 3p, 2,5d, 1q as all that there is. */
static bool pick_lines(struct ab_check *c, const struct ab_sed *sed,
		       const struct ab_word *by, struct ab_word *w)
{
	uint32_t first, end, i = 0, last = 0, at = 0, len = 0, line = 1;
	char *out, ch;

	for (uint32_t k = 0; k < w->len; k++)
		last += w->text[k] == '\n' || k + 1 == w->len;
	if (sed->count > 1 || by->hole_count || w->hole_count ||
	    !ab_print_pay(c, w->len) ||
	    !read_line(by->text, by->len, &i, last, &first))
		return false;
	end = first;
	if (i < by->len && by->text[i] == ',' &&
	    (++i, !read_line(by->text, by->len, &i, last, &end)))
		return false;
	ch = i + 1 == by->len ? by->text[i] : '\0';
	if (ch == 'q' && !sed->is_quiet && end == first)
		first = 1;
	else if (ch != (sed->is_quiet ? 'p' : 'd'))
		return false;
	end = end < first ? first : end;
	out = ab_check_alloc(c, w->len + 1);
	for (; out && at < w->len; line++) {
		const char *nl = memchr(w->text + at, '\n', w->len - at);
		uint32_t n = nl ? (uint32_t)(nl + 1 - w->text) - at
				: w->len - at;

		if ((line >= first && line <= end) != (ch == 'd')) {
			memcpy(out + len, w->text + at, n);
			len += n;
		}
		at += n;
	}
	*w = (struct ab_word){ .text = out, .len = len, .span = w->span };
	return out;
}

/* --- all of it ---------------------------------------------------------- */

/* is_split: what was a line is more of them now, but one for sed. */
static bool edit_by(struct ab_check *c, const struct ab_sed *sed,
		    const struct ab_word *by, struct ab_word *w,
		    bool *is_split)
{
	AB_UNINITIALIZED struct change ch;
	uint32_t at = 0, holes = 0;

	while (at < by->len && memchr(" \t\n;", by->text[at], 4))
		at++;
	if (at < by->len && by->text[at] != 's')
		return pick_lines(c, sed, by, w);
	while (at < by->len) {
		if (by->text[at] != 's' || sed->is_quiet || *is_split ||
		    !read_change(c, by, sed->is_extended, &at, &ch) ||
		    !apply(c, &ch, w))
			return false;
		holes += ch.to.hole_count;
		*is_split = ch.to.len &&
			    memchr(ch.to.text, '\n', ch.to.len);
		while (at < by->len && memchr(" \t\n;", by->text[at], 4))
			at++;
	}
	/* another may be more commands */
	return holes == by->hole_count;
}

bool ab_sed_edit(struct ab_check *c, const struct ab_sed *sed,
		 struct ab_word *w)
{
	bool is_split = false;

	if (w->len > AB_MAX_PRINTED || sed->is_odd || !sed->count)
		return false;
	for (uint32_t i = 0; i < sed->count; i++) {
		if (!edit_by(c, sed, sed->texts[i], w, &is_split))
			return false;
	}
	return true;
}

/* What it makes of that is in the file from now on. */
static void edit_text(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *w, const struct ab_word *content)
{
	struct ab_word text = *content;
	struct ab_sed sed = { 0 };

	for (uint32_t i = 1; i < use->count; i++)
		ab_sed_word(&sed, use->words, use->count, &i);
	if (!ab_sed_edit(c, &sed, &text)) {
		text = *content;
		if (!ab_print_more(c, 0, &text))
			return;
	}
	ab_file_save(c, w, 0, text.len ? &text : NULL, false);
}

/* Of what may hold one of several texts each of them, or it is what it was. */
static void edit_file(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *w)
{
	const struct ab_word *content = ab_file_kept(c, w), *one;
	struct ab_shell_readings readings = { 0 };

	(void)role;
	if (!content || content->len) {
		if (content)
			edit_text(c, use, w, content);
		return;
	}
	for (uint32_t i = 0; (one = ab_file_either(c, w, i)); i++) {
		ab_shell_reading_begin(c->run, &readings);
		if (one->len)
			edit_text(c, use, w, one);
		ab_shell_reading_end(c->run, &readings);
	}
	if (!readings.count)
		return;
	ab_shell_reading_begin(c->run, &readings);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_join(c->run, &readings);
}

void ab_sed_in_place(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *text)
{
	const struct ab_program *p = use->program;
	struct ab_sed sed = { 0 };

	for (uint32_t i = 1; i < use->count && !sed.count; i++)
		ab_sed_word(&sed, use->words, use->count, &i);
	if (sed.count && sed.texts[0]->text != text->text)
		return;
	for (uint32_t i = 0; i < p->role_count; i++) {
		const struct ab_role *role = &c->pack->roles[p->role + i];

		if (role->kind == AB_ROLE_WRITE && ab_role_applies(use, role))
			ab_role_each(c, use, role, edit_file);
	}
}
