/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of a makefile: what gives them values, in it and around it, and
 * which of these count where. Spec: GNU make manual, 6, 7 and 9.5.
 */
#include "config.h"

#include "guard/code_make.h"

#include <string.h>

#include "guard/code.h"
#include "guard/command.h"

struct ab_make_name *ab_make_find(struct ab_make *m, const char *name,
				  uint32_t len)
{
	for (uint32_t i = 0; i < m->count; i++) {
		if (m->names[i].len == len &&
		    !memcmp(m->names[i].name, name, len))
			return &m->names[i];
	}
	return NULL;
}

const char *ab_make_default(const char *name, uint32_t len)
{
	static const char *const known[][2] = {
		{ "CC", "cc" },	       { "CXX", "g++" },
		{ "CPP", "cc -E" },    { "AR", "ar" },
		{ "ARFLAGS", "rv" },   { "AS", "as" },
		{ "LD", "ld" },	       { "FC", "f77" },
		{ "RM", "rm -f" },     { "MAKE", "make" },
		{ "CURDIR", "$${PWD}" }, { "YACC", "yacc" },
		{ "LEX", "lex" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(known); i++) {
		if (strlen(known[i][0]) == len &&
		    !memcmp(known[i][0], name, len))
			return known[i][1];
	}
	return NULL;
}

static bool gives(const struct ab_word *w, const char *name, uint32_t len)
{
	return w->len > len && w->text[len] == '=' &&
	       !memcmp(w->text, name, len);
}

bool ab_make_is_outside(const struct ab_make *m, const char *name,
			uint32_t len)
{
	const struct ab_check *c = m->c;
	bool is_exported;

	for (uint32_t i = 0; i < c->assign_count; i++) {
		if (c->assigns[i].name_len == len &&
		    !memcmp(c->assigns[i].name, name, len))
			return true;
	}
	for (const struct ab_given *g = c->given; g; g = g->up) {
		for (uint32_t i = 0; i < g->count; i++) {
			if (gives(&g->words[i], name, len))
				return true;
		}
	}
	return c->run && ab_shell_get(c->run, name, len, &is_exported);
}

bool ab_make_take(struct ab_make *m, size_t size)
{
	if (size > m->room || m->c->make_bytes > m->room - size)
		return false;
	m->c->make_bytes += size;
	return true;
}

/* --- names -------------------------------------------------------------- */

static void add_value(struct ab_make_name *n, const char *text, uint32_t len,
		      uint32_t now)
{
	if (n->count == AB_MAKE_VALUES)
		n->is_unknown = true;
	else
		n->values[n->count++] = (struct ab_make_value){
			.text = text, .len = len, .now = now
		};
}

/* Room for a value that grows, twice what it needs; false: there is none. */
static bool make_room(struct ab_make *m, struct ab_make_value *v, size_t len)
{
	if (len <= v->room)
		return true;
	v->own = len < UINT32_MAX / 2 && ab_make_take(m, 2 * len)
			 ? ab_check_alloc(m->c, 2 * len) : NULL;
	if (!v->own)
		return false;
	v->room = 2 * (uint32_t)len;
	memcpy(v->own, v->text, v->len);
	v->text = v->own;
	return true;
}

/* NAME += VALUE; behind what is not known it is no value. */
static void append(struct ab_make *m, struct ab_make_name *n,
		   const struct ab_word *value)
{
	n->is_unknown |= !n->count;
	for (uint32_t i = 0; i < n->count; i++) {
		struct ab_make_value *was = &n->values[i];

		if (!was->text ||
		    !make_room(m, was, (size_t)was->len + 1 + value->len)) {
			n->is_unknown = true;
			return;
		}
		was->own[was->len++] = ' ';
		memcpy(was->own + was->len, value->text, value->len);
		was->len += value->len;
	}
}

/* NULL: there is no room for another. */
static struct ab_make_name *name_at(struct ab_make *m, const char *name,
				    uint32_t len)
{
	struct ab_make_name *n = ab_make_find(m, name, len);

	if (!n && m->count == AB_MAKE_NAMES) {
		m->is_full = true;
	} else if (!n) {
		n = &m->names[m->count++];
		*n = (struct ab_make_name){ .name = name, .len = len };
	}
	return n;
}

/*
 * branch is that of the condition around it, 0: none. Where both sides of a
 * condition set a name it is one of the two, and not what it was before.
 */
static void set_value(struct ab_make_name *n, const struct ab_word *value,
		      uint32_t branch, uint32_t now)
{
	n->is_unknown |= value->hole_count != 0;
	if (!branch) {
		n->is_unknown = value->hole_count != 0;
		n->count = n->branch = 0;
	} else if (!n->count) {
		n->branch = branch;
		add_value(n, NULL, 0, 0);
	} else if (n->branch && branch == (n->branch | 1) &&
		   !n->values[0].text) {
		n->count--;
		memmove(n->values, n->values + 1,
			n->count * sizeof(n->values[0]));
	}
	add_value(n, value->text, value->len, now);
}

/* `?=` changes nothing. */
static bool is_set(const struct ab_make *m, const struct ab_make_name *n)
{
	return n->count || n->is_unknown ||
	       ab_make_default(n->name, n->len) ||
	       ab_make_is_outside(m, n->name, n->len);
}

/* Where a text stands in the makefile, counted from 1. */
uint32_t ab_make_place_of(const struct ab_make *m, const char *at)
{
	return (uint32_t)(at - m->text->text) + 1;
}

/* $(A)B = VALUE: any name may be set. */
static bool sets_computed(const struct ab_word *line, uint32_t at)
{
	const char *s = line->text;
	int depth = 0;
	char sign;

	for (; at < line->len; at++) {
		if (!depth && memchr(" \t:=+?!#", s[at], 8))
			break;
		depth += memchr("({", s[at], 2) != NULL;
		depth -= memchr(")}", s[at], 2) != NULL;
	}
	at = ab_make_skip_blanks(s, at, line->len);
	return ab_make_sign_at(s + at, line->len - at, &sign) != 0;
}

/* NAME = VALUE, at s[at]; false: it is no such line. */
static bool read_name(struct ab_make *m, const struct ab_word *line,
		      uint32_t at, uint32_t branch)
{
	const char *s = line->text;
	uint32_t len = line->len, from, to, n, now;
	struct ab_make_name *name;
	struct ab_word value;
	char sign;

	from = at = ab_make_skip_words(s, ab_make_skip_blanks(s, at, len), len);
	while (at < len && !memchr(" \t:?+!=#$(){}", s[at], 12))
		at++;
	if (at < len && s[at] == '$' && sets_computed(line, from)) {
		m->is_open = true;
		return true;
	}
	to = at;
	at = ab_make_skip_blanks(s, at, len);
	n = ab_make_sign_at(s + at, len - at, &sign);
	if (to == from || !n)
		return false;
	now = s[at] == ':' ? ab_make_place_of(m, s) : 0;
	at = ab_make_skip_blanks(s, at + n, len);
	len = ab_make_comment_at(s, at, len);
	while (len > at && memchr(" \t\r", s[len - 1], 3))
		len--;
	name = name_at(m, s + from, to - from);
	if (name && memmem(s, from, "override", 8))
		name->is_given = false;
	if (!name || name->is_given ||
	    !ab_word_slice(m->c, line, at, len - at, &value))
		return true;
	name->last = ab_make_place_of(m, s);
	if (sign == '!' || (sign == '+' && branch) ||
	    !ab_make_join_lines(m, &value))
		name->is_unknown = true;
	else if (sign == '+')
		append(m, name, &value);
	else if (sign != '?' || !is_set(m, name))
		set_value(name, &value, branch, now);
	name->is_unknown |= memmem(value.text, value.len, "\\#", 2) != NULL;
	m->is_turned |= to - from >= 9 &&
			!memcmp(s + to - 9, "MAKEFLAGS", 9);
	return true;
}

/* define NAME, up to endef. What make takes off a line is taken off. */
static void read_define(struct ab_make *m, const struct ab_word *head,
			uint32_t at, uint32_t branch, uint32_t *next)
{
	uint32_t from = ab_make_skip_blanks(head->text, at, head->len);
	uint32_t to = from;
	struct ab_make_name *n;
	struct ab_word line, value = { .span = head->span, .text = "" };
	char *text;
	bool is_first = true;
	uint32_t depth = 1;

	while (to < head->len && !memchr(" \t:?+!=", head->text[to], 7))
		to++;
	at = *next < m->text->len ? *next : m->text->len;
	while (ab_make_next_line(m, next, &line) &&
	       (depth += ab_make_opens(&line)))
		value.len = (uint32_t)(line.text + line.len - m->text->text) -
			    at;
	n = to > from ? name_at(m, head->text + from, to - from) : NULL;
	text = n ? ab_check_alloc(m->c, (size_t)value.len + 1) : NULL;
	if (!text)
		return;
	memcpy(text, m->text->text + at, value.len);
	for (uint32_t i = 0; i < value.len; i++) {
		if (text[i] == '\n')
			is_first = true;
		else if (is_first && memchr("\t@-+ ", text[i], 5))
			text[i] = ' ';
		else
			is_first = false;
	}
	value.text = text;
	n->is_given &= !memmem(head->text, head->len, "override", 8);
	if (!n->is_given)
		set_value(n, &value, branch, 0);
	n->last = ab_make_place_of(m, head->text);
	m->is_open |= memchr(head->text, '$', head->len) != NULL;
	/* define NAME += */
	n->is_unknown |= m->text->hole_count != 0 ||
			 memchr(head->text, '+', head->len) ||
			 memchr(head->text, '!', head->len);
}

/* if, else and endif: the branch of the innermost that is open. */
static bool read_condition(const struct ab_word *line, uint32_t *branches,
			   uint32_t *depth, uint32_t *seen)
{
	static const char *const ifs[] = { "ifeq", "ifneq", "ifdef",
					   "ifndef" };
	uint32_t at = ab_make_skip_blanks(line->text, 0, line->len);

	for (size_t i = 0; i < AB_ARRAY_LEN(ifs); i++) {
		if (!ab_make_begins(line, at, ifs[i]))
			continue;
		if (*depth < AB_MAKE_DEPTH)
			branches[*depth] = *seen += 2;
		++*depth;
		return true;
	}
	if (ab_make_begins(line, at, "else")) {
		/* with no other condition, around it or in it, it is all that
		   is left */
		if (*depth && *depth <= AB_MAKE_DEPTH)
			branches[*depth - 1] =
				line->len - at == 4 && *depth == 1
					? branches[*depth - 1] | 1
					: (*seen += 2);
		return true;
	}
	if (!ab_make_begins(line, at, "endif"))
		return false;
	*depth -= *depth > 0;
	return true;
}

/* all: NAME = VALUE */
static void read_target_name(struct ab_make *m, const struct ab_word *line)
{
	const char *colon = memchr(line->text, ':', line->len);
	uint32_t at = colon ? (uint32_t)(colon - line->text) + 1 : 0;

	while (at && at < line->len && line->text[at] == ':')
		at++;
	if (at && at < line->len && line->text[at] != '=')
		read_name(m, line, at, UINT32_MAX);
}

/* .RECIPEPREFIX = >: of the lines behind it. */
void ab_make_read_prefix(struct ab_make *m, const struct ab_word *line)
{
	static const char name[] = ".RECIPEPREFIX";
	uint32_t at = ab_make_skip_words(line->text, 0, line->len);
	struct ab_word w;
	char sign;

	if (line->len - at < sizeof(name) - 1 ||
	    memcmp(line->text + at, name, sizeof(name) - 1) != 0)
		return;
	at = ab_make_skip_blanks(line->text, at + sizeof(name) - 1, line->len);
	at += ab_make_sign_at(line->text + at, line->len - at, &sign);
	at = ab_make_skip_blanks(line->text, at, line->len);
	if (!ab_word_slice(m->c, line, at, line->len - at, &w))
		return;
	if (!ab_make_expand(m, &w, &w)) {
		ab_check_known(m->c, AB_KNOWN_LIMIT, AB_V_DENY, line);
		return;
	}
	m->prefix = w.len ? *w.text : '\t';
	if (w.hole_count)
		ab_check_known(m->c, AB_KNOWN_DYNAMIC, AB_V_ASK, line);
}

void ab_make_read_names(struct ab_make *m)
{
	uint32_t branches[AB_MAKE_DEPTH] = { 0 }, depth = 0, seen = 0, at = 0;
	struct ab_word line;

	while (ab_make_next_line(m, &at, &line)) {
		uint32_t i = ab_make_skip_blanks(line.text, 0, line.len);
		uint32_t n = depth;
		uint32_t branch = !n ? 0 : n <= AB_MAKE_DEPTH
					? branches[n - 1] : UINT32_MAX;

		if (read_condition(&line, branches, &depth, &seen))
			continue;
		i = ab_make_skip_words(line.text, i, line.len);
		ab_make_read_prefix(m, &line);
		if (ab_make_begins(&line, i, "define")) {
			read_define(m, &line, i + 6, branch, &at);
			continue;
		}
		if (ab_make_is_recipe(m, &line))
			continue;
		m->is_one_shell |= ab_make_has_target(&line, ".ONESHELL");
		if (!read_name(m, &line, 0, branch))
			read_target_name(m, &line);
	}
}

static bool is_option(const struct ab_word *w, const char *begin)
{
	size_t n = strlen(begin);

	return w->len >= n && !memcmp(w->text, begin, n);
}

/* make NAME=VALUE: the text cannot change that. */
void ab_make_read_given(struct ab_make *m)
{
	uint32_t files = 0;

	for (uint32_t i = 1; i < m->use->count; i++) {
		const struct ab_word *w = &m->use->words[i];
		const char *sign = memchr(w->text, '=', w->len);
		uint32_t len = sign ? (uint32_t)(sign - w->text) : 0;
		struct ab_make_name *n;
		struct ab_word value;

		m->is_turned |= w->len > 1 && *w->text == '-' &&
				(w->text[1] == '-'
					 ? is_option(w, "--en")
					 : memchr(w->text, 'e', w->len) != 0);
		files += is_option(w, "--f") || is_option(w, "--makef") ||
			 (w->len > 1 && *w->text == '-' && w->text[1] != '-' &&
			  memchr(w->text, 'f', w->len));
		/* what one says of names counts in the other */
		m->is_open |= files > 1 || is_option(w, "--ev");
		if (len && memchr(":+?!", sign[-1], 4))
			len--;
		n = len && *w->text != '-' ? name_at(m, w->text, len) : NULL;
		if (!n || !ab_word_slice(m->c, w,
					 (uint32_t)(sign - w->text) + 1,
					 w->len, &value))
			continue;
		n->is_given = true;
		m->c->is_make_given = true;
		set_value(n, &value, 0, 0);
		n->is_unknown |= memchr(":=", w->text[len], 2) == NULL;
	}
}
