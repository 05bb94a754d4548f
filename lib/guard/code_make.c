/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A makefile: its names are read first, since the last word about a name
 * counts in every recipe; then its recipes, $(shell) calls and the files that
 * it includes are judged as what make hands on. What a condition decides is
 * gone through; what is computed is unknown, and asked about where that
 * matters. Refuses to evaluate calls. Spec: GNU make manual, 3 to 7.
 */
#include "config.h"

#include "guard/code_make.h"

#include <string.h>

#include "guard/code.h"
#include "guard/command.h"
#include "guard/files.h"

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

/* What stands between a name and its value: =, :=, ?=, += or !=. */
static uint32_t sign_at(const char *s, uint32_t len, char *sign)
{
	uint32_t i = 0;

	while (i < len && i < 3 && s[i] == ':')
		i++;
	*sign = '=';
	if (!i && len && memchr("?+!", *s, 3))
		*sign = s[i++];
	return i < len && s[i] == '=' ? i + 1 : 0;
}

static uint32_t skip_blanks(const char *s, uint32_t at, uint32_t len)
{
	while (at < len && memchr(" \t", s[at], 2))
		at++;
	return at;
}

/* override, export and private in front of a name. */
static uint32_t skip_words(const char *s, uint32_t at, uint32_t len)
{
	static const char *const words[] = { "export", "override", "private",
					     "unexport" };

	for (size_t i = 0; i < AB_ARRAY_LEN(words);) {
		uint32_t n = (uint32_t)strlen(words[i]);

		if (len - at > n && !memcmp(s + at, words[i], n) &&
		    memchr(" \t", s[at + n], 2)) {
			at = skip_blanks(s, at + n, len);
			i = 0;
		} else {
			i++;
		}
	}
	return at;
}

/* `?=` changes nothing. */
static bool is_set(const struct ab_make *m, const struct ab_make_name *n)
{
	return n->count || n->is_unknown ||
	       ab_make_default(n->name, n->len) ||
	       ab_make_is_outside(m, n->name, n->len);
}

/* Where a text stands in the makefile, counted from 1. */
static uint32_t place_of(const struct ab_make *m, const char *at)
{
	return (uint32_t)(at - m->text->text) + 1;
}

/* Lines that a backslash joins are one to make, with a blank between them. */
static bool join_lines(struct ab_make *m, struct ab_word *w)
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
static uint32_t comment_at(const char *s, uint32_t at, uint32_t len)
{
	while (at < len && (s[at] != '#' || s[at - 1] == '\\'))
		at++;
	return at;
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
	at = skip_blanks(s, at, line->len);
	return sign_at(s + at, line->len - at, &sign) != 0;
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

	from = at = skip_words(s, skip_blanks(s, at, len), len);
	while (at < len && !memchr(" \t:?+!=#$(){}", s[at], 12))
		at++;
	if (at < len && s[at] == '$' && sets_computed(line, from)) {
		m->is_open = true;
		return true;
	}
	to = at;
	at = skip_blanks(s, at, len);
	n = sign_at(s + at, len - at, &sign);
	if (to == from || !n)
		return false;
	now = s[at] == ':' ? place_of(m, s) : 0;
	at = skip_blanks(s, at + n, len);
	len = comment_at(s, at, len);
	while (len > at && memchr(" \t\r", s[len - 1], 3))
		len--;
	name = name_at(m, s + from, to - from);
	if (name && memmem(s, from, "override", 8))
		name->is_given = false;
	if (!name || name->is_given ||
	    !ab_word_slice(m->c, line, at, len - at, &value))
		return true;
	name->last = place_of(m, s);
	if (sign == '!' || (sign == '+' && branch) || !join_lines(m, &value))
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

static bool begins(const struct ab_word *line, uint32_t at, const char *word)
{
	uint32_t n = (uint32_t)strlen(word);

	return line->len - at >= n && !memcmp(line->text + at, word, n) &&
	       (line->len - at == n ||
		memchr(" \t(#\"'", line->text[at + n], 6));
}

/* The line at *at, with those that a backslash joins; *at is behind it. */
static bool next_line(struct ab_make *m, uint32_t *at, struct ab_word *line)
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
static uint32_t opens(const struct ab_word *line)
{
	uint32_t at = skip_blanks(line->text, 0, line->len);

	if (begins(line, at, "define"))
		return 1;
	return begins(line, at, "endef") ? UINT32_MAX : 0;
}

/* define NAME, up to endef. What make takes off a line is taken off. */
static void read_define(struct ab_make *m, const struct ab_word *head,
			uint32_t at, uint32_t branch, uint32_t *next)
{
	uint32_t from = skip_blanks(head->text, at, head->len), to = from;
	struct ab_make_name *n;
	struct ab_word line, value = { .span = head->span, .text = "" };
	char *text;
	bool is_first = true;
	uint32_t depth = 1;

	while (to < head->len && !memchr(" \t:?+!=", head->text[to], 7))
		to++;
	at = *next < m->text->len ? *next : m->text->len;
	while (next_line(m, next, &line) && (depth += opens(&line)))
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
	n->last = place_of(m, head->text);
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
	uint32_t at = skip_blanks(line->text, 0, line->len);

	for (size_t i = 0; i < AB_ARRAY_LEN(ifs); i++) {
		if (!begins(line, at, ifs[i]))
			continue;
		if (*depth < AB_MAKE_DEPTH)
			branches[*depth] = *seen += 2;
		++*depth;
		return true;
	}
	if (begins(line, at, "else")) {
		/* with no other condition, around it or in it, it is all that
		   is left */
		if (*depth && *depth <= AB_MAKE_DEPTH)
			branches[*depth - 1] =
				line->len - at == 4 && *depth == 1
					? branches[*depth - 1] | 1
					: (*seen += 2);
		return true;
	}
	if (!begins(line, at, "endif"))
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
static void read_prefix(struct ab_make *m, const struct ab_word *line)
{
	static const char name[] = ".RECIPEPREFIX";
	uint32_t at = skip_words(line->text, 0, line->len);
	struct ab_word w;
	char sign;

	if (line->len - at < sizeof(name) - 1 ||
	    memcmp(line->text + at, name, sizeof(name) - 1) != 0)
		return;
	at = skip_blanks(line->text, at + sizeof(name) - 1, line->len);
	at += sign_at(line->text + at, line->len - at, &sign);
	at = skip_blanks(line->text, at, line->len);
	if (!ab_word_slice(m->c, line, at, line->len - at, &w) ||
	    !ab_make_expand(m, &w, &w))
		return;
	m->prefix = w.len ? *w.text : '\t';
	if (w.hole_count)
		ab_check_known(m->c, AB_KNOWN_DYNAMIC, AB_V_ASK, line);
}

static bool is_recipe(const struct ab_make *m, const struct ab_word *line)
{
	return line->len && *line->text == m->prefix;
}

/* .ONESHELL .PHONY: */
static bool has_target(const struct ab_word *line, const char *name)
{
	const char *colon = memchr(line->text, ':', line->len);

	return colon && memmem(line->text, (size_t)(colon - line->text), name,
			       strlen(name));
}

static void read_names(struct ab_make *m)
{
	uint32_t branches[AB_MAKE_DEPTH] = { 0 }, depth = 0, seen = 0, at = 0;
	struct ab_word line;

	while (next_line(m, &at, &line)) {
		uint32_t i = skip_blanks(line.text, 0, line.len), n = depth;
		uint32_t branch = !n ? 0 : n <= AB_MAKE_DEPTH
					? branches[n - 1] : UINT32_MAX;

		if (read_condition(&line, branches, &depth, &seen))
			continue;
		i = skip_words(line.text, i, line.len);
		read_prefix(m, &line);
		if (begins(&line, i, "define"))
			read_define(m, &line, i + 6, branch, &at);
		else if (!is_recipe(m, &line))
			m->is_one_shell |= has_target(&line, ".ONESHELL");
		if (!begins(&line, i, "define") &&
!is_recipe(m, &line) && !read_name(m, &line, 0, branch))
			read_target_name(m, &line);
	}
}

static bool is_option(const struct ab_word *w, const char *begin)
{
	size_t n = strlen(begin);

	return w->len >= n && !memcmp(w->text, begin, n);
}

/* make NAME=VALUE: the text cannot change that. */
static void read_given(struct ab_make *m)
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

/* The text wrote a file, but for the usual ones, that could be included by a
   name that is not known. */
static bool has_makefile(const struct ab_check *c)
{
	static const char *const ends[] = { ".mk", ".mak", ".make", ".d",
					    ".inc", ".conf", ".config",
					    ".env", ".in" };

	for (uint32_t i = 0; i < c->written_count; i++) {
		const char *base = strrchr(c->written[i], '/');
		const char *dot = base ? strrchr(base, '.') : NULL;

		if (!dot && base && (!strcmp(base, "/Makefile") ||
				     !strcmp(base, "/makefile") ||
				     !strcmp(base, "/GNUmakefile")))
			continue;
		if (!dot)
			return true;
		for (size_t k = 0; k < AB_ARRAY_LEN(ends); k++) {
			if (!strcmp(dot, ends[k]))
				return true;
		}
	}
	return c->written_count == AB_CHECK_WRITTEN;
}

/* A pattern that may take what the text wrote. */
static bool takes_written(struct ab_make *m, const struct ab_word *word)
{
	struct ab_word all, name;
	uint32_t i = 0;

	for (uint32_t at = 0; at < word->len; at++) {
		if (memchr("*?[", word->text[at], 3))
			return !ab_file_pattern(m->c, word, &all) ||
			       ab_file_taken(m->c, &all, &i, &name);
	}
	return false;
}

/* include FILES: what the text wrote there is a makefile, too, and may set any
   name. The first time its names count, and then what it runs. */
static void read_included(struct ab_make *m, const struct ab_word *line,
			  bool is_run)
{
	static const char *const words[] = { "include", "-include",
					     "sinclude" };
	uint32_t from = skip_blanks(line->text, 0, line->len), at = 0;
	struct ab_word names, file;
	bool is_known, is_open;

	for (size_t i = 0; !at && i < AB_ARRAY_LEN(words); i++) {
		if (begins(line, from, words[i]))
			at = from + (uint32_t)strlen(words[i]);
	}
	if (!at || !m->c->has_files || is_recipe(m, line) ||
	    !ab_word_slice(m->c, line, at, line->len - at, &names) ||
	    !join_lines(m, &names))
		return;
	m->limit = place_of(m, line->text);
	is_known = ab_make_expand(m, &names, &names);
	m->limit = UINT32_MAX;
	if (!is_known)
		return;
	is_open = names.hole_count && has_makefile(m->c);
	for (uint32_t i = 0; i < names.len;) {
		from = i = skip_blanks(names.text, i, names.len);
		while (i < names.len && !memchr(" \t", names.text[i], 2))
			i++;
		if (i == from ||
		    !ab_word_slice(m->c, &names, from, i - from, &file))
			continue;
		is_open |= takes_written(m, &file);
		if (!ab_file_content(m->c, &file))
			continue;
		m->is_open |= !is_run;
		if (!is_run)
			continue;
		if (m->c->makefiles == AB_MAKE_FILES) {
			ab_check_known(m->c, AB_KNOWN_LIMIT, AB_V_DENY, &file);
			return;
		}
		m->c->makefiles++;
		ab_file_run(m->c, m->use, &file);
	}
	m->is_open |= is_open;
	if (is_open && is_run)
		ab_check_known(m->c, AB_KNOWN_DYNAMIC, AB_V_ASK, &names);
}

/* --- what runs ---------------------------------------------------------- */

/* What make takes off the front of a line; what is not known there stays. */
static uint32_t skip_marks(const struct ab_word *w, uint32_t at)
{
	uint32_t hole = 0;

	while (hole < w->hole_count && w->holes[hole].at < at)
		hole++;
	while (at < w->len && memchr("@-+ \t", w->text[at], 5) &&
	       (hole == w->hole_count || w->holes[hole].at > at))
		at++;
	return at;
}

/* A text for the shell, for each value of a name that has several. */
static void run(struct ab_make *m, const struct ab_word *text)
{
	struct ab_word all, w;

	m->chosen = NULL;
	m->rounds = 1;
	for (m->round = 0; m->round < m->rounds; m->round++) {
		/* what is pushed is kept elsewhere */
		void *mark = m->c->scratch->low;
		uint32_t at;

		if (!ab_make_expand(m, text, &all)) {
			ab_check_known(m->c, AB_KNOWN_LIMIT, AB_V_DENY, text);
			break;
		}
		/* $(Q)cc, and Q is @ */
		at = skip_marks(&all, 0);
		w = all;
		if (at && !ab_word_slice(m->c, &all, at, all.len - at, &w))
			break;
		ab_check_script(m->c, &w, true, NULL, 0, NULL);
		m->c->scratch->low = mark;
	}
	m->round = 0;
}

/* $(shell COMMAND) and ${shell COMMAND}. */
static void run_calls(struct ab_make *m)
{
	static const char call[] = "shell", by_name[] = "call ";
	const struct ab_word *text = m->text;
	const char *end = text->text + text->len, *at = text->text;
	struct ab_word w;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		bool is_named = at - text->text > 5 &&
				!memcmp(at - 5, by_name, 5);
		char open = at > text->text ? at[is_named ? -6 : -1] : '\0';
		const char *from = at += sizeof(call) - 1;
		char close = open == '(' ? ')' : '}';
		uint32_t depth = 1;

		if ((open != '(' && open != '{') || at == end ||
		    !memchr(is_named ? ", \t" : " \t", *at,
			    is_named ? 3 : 2))
			continue;
		from += is_named;
		while (at < end && (depth -= *at == close))
			depth += *at++ == open;
		if (at <= from ||
		    !ab_word_slice(m->c, text, (uint32_t)(from - text->text),
				   (uint32_t)(at - from), &w) ||
		    !join_lines(m, &w))
			continue;
		/* it may be of a name that is expanded where it is used, ... */
		m->latest = 0;
		run(m, &w);
		/* ... or at once */
		m->limit = place_of(m, from);
		if (m->latest > m->limit)
			run(m, &w);
		m->limit = UINT32_MAX;
	}
}

/* $(eval TARGETS: ; COMMAND), or what a command prints. */
static void run_evals(struct ab_make *m)
{
	static const char call[] = "eval ";
	const struct ab_word *text = m->text;
	const char *end = text->text + text->len, *at = text->text, *semi;
	const char *line = at, *next;
	struct ab_word w;

	next = memmem(at, (size_t)(end - at), call, sizeof(call) - 1);
	while ((at = next)) {
		bool is_call = at > text->text && memchr("({", at[-1], 2);
		const char *to;

		if (line <= at)
			line = memchr(at, '\n', (size_t)(end - at));
		line = line ? line : end;
		at += sizeof(call) - 1;
		next = memmem(at, (size_t)(end - at), call, sizeof(call) - 1);
		to = next && next < line ? next : line;
		if (!is_call)
			continue;
		if (to - at > 7 && *at == '$' && !memcmp(at + 2, "shell", 5))
			ab_check_known(m->c, AB_KNOWN_DYNAMIC, AB_V_ASK, text);
		semi = memchr(at, ';', (size_t)(to - at));
		if (!semi || !memchr(at, ':', (size_t)(semi - at)))
			continue;
		at = semi + 1;
		/* without the brackets that end it */
		while (to > at && memchr("$(){} \t", to[-1], 7))
			to--;
		if (to > at &&
		    ab_word_slice(m->c, text, (uint32_t)(at - text->text),
				  (uint32_t)(to - at), &w))
			run(m, &w);
	}
}

/* NAME != COMMAND, and not what is in a recipe, a call or another value. */
static bool is_name(const char *line, const char *end)
{
	bool has_name = false;
	int depth = 0;

	for (; line < end; line++) {
		if (!depth && memchr("=#;\"'", *line, 5))
			return false;
		depth += memchr("({", *line, 2) != NULL;
		depth -= memchr(")}", *line, 2) != NULL;
		has_name |= *line != ' ';
	}
	return has_name && !depth;
}

static void export_name(struct ab_make *m, const char *name, uint32_t len)
{
	const struct ab_make_name *n = ab_make_find(m, name, len);

	for (uint32_t i = 0; n && i < n->count; i++) {
		struct ab_word w = { .text = n->values[i].text,
				     .len = n->values[i].len,
				     .span = m->text->span };

		if (w.text)
			ab_check_env(m->c, name, len, &w);
	}
}

static void export_all(struct ab_make *m)
{
	for (uint32_t i = 0; i < m->count && !m->is_exported; i++)
		export_name(m, m->names[i].name, m->names[i].len);
	m->is_exported = true;
}

/* export NAME = VALUE, export NAMES or export, at s[at]. */
static void export_at(struct ab_make *m, const struct ab_word *line,
		      uint32_t at)
{
	const char *s = line->text;
	uint32_t from = at = skip_blanks(s, at, line->len), to, value;
	struct ab_word w;
	char sign;

	at = skip_words(s, at, line->len);
	if (begins(line, at, "export") && line->len - at == 6) {
		export_all(m);
		return;
	}
	if (!memmem(s + from, at - from, "export", 6) ||
	    memmem(s + from, at - from, "unexport", 8))
		return;
	while (at < line->len) {
		for (to = at; to < line->len && ab_code_is_letter(s[to]);)
			to++;
		value = skip_blanks(s, to, line->len);
		value += sign_at(s + value, line->len - value, &sign);
		if (to > at && value > to && s[value - 1] == '=') {
			value = skip_blanks(s, value, line->len);
			if (ab_word_slice(m->c, line, value, line->len - value,
					  &w))
				ab_check_env(m->c, s + at, to - at, &w);
			return;
		}
		if (to > at)
			export_name(m, s + at, to - at);
		at = to > at ? to : to + 1;
	}
}

static void check_export(struct ab_make *m, const struct ab_word *line)
{
	const char *colon;

	if (!memmem(line->text, line->len, "export", 6)) {
		if (has_target(line, ".EXPORT_ALL_VARIABLES"))
			export_all(m);
		return;
	}
	export_at(m, line, 0);
	colon = memchr(line->text, ':', line->len);
	if (colon)
		export_at(m, line, (uint32_t)(colon - line->text) + 1);
}

/* Another shell reads the recipes: python, or one with words of its own. */
static void check_shell(struct ab_make *m)
{
	static const char text[] = "$(SHELL) $(.SHELLFLAGS)";
	static const char *const names[] = { "sh", "bash", "dash", "ash",
					     "ksh", "zsh" };
	const struct ab_make_name *shell = ab_make_find(m, "SHELL", 5);
	struct ab_word w = { .text = text, .len = 8, .span = m->text->span };
	struct ab_word all = w;
	bool is_known = false;
	uint32_t n;

	if (!shell && !ab_make_find(m, ".SHELLFLAGS", 11))
		return;
	all.len = sizeof(text) - 1;
	if (!shell) {
		all.text = "sh $(.SHELLFLAGS)";
		all.len = 17;
	}
	run(m, &all);
	if (!shell)
		return;
	if (shell->count > 1 || !ab_make_expand(m, &w, &w)) {
		ab_check_known(m->c, AB_KNOWN_DYNAMIC, AB_V_ASK, &w);
		return;
	}
	while (w.len && memchr(") ", w.text[w.len - 1], 2))
		w.len--;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		n = (uint32_t)strlen(names[i]);
		is_known |= w.len >= n &&
			    !memcmp(w.text + w.len - n, names[i], n) &&
			    (w.len == n ||
			     memchr("/ ", w.text[w.len - n - 1], 2));
	}
	if (!is_known)
		ab_check_known(m->c, AB_KNOWN_DYNAMIC, AB_V_ASK, &w);
}

/* TARGETS: NEEDS, or TARGETS: %.o: %.c. Where its recipe begins behind a
   semicolon; 0: it does not. */
static uint32_t read_rule(struct ab_make *m, const struct ab_word *line)
{
	const char *s = line->text;
	uint32_t colon = 0, from = 0, i, semi = 0, end;
	int depth = 0;

	for (i = 0; i < line->len && !semi; i++) {
		depth += memchr("({", s[i], 2) != NULL;
		depth -= memchr(")}", s[i], 2) != NULL;
		if (depth || (s[i] == ':' && i + 1 < line->len &&
			      s[i + 1] == '='))
			continue;
		if (s[i] == ':') {
			colon = colon ? colon : i;
			from = i + 1;
		} else if (s[i] == ';' && from) {
			semi = i;
		}
	}
	if (!from)
		return 0;
	end = semi ? semi : line->len;
	for (i = from; i < end && s[i] != '|' && s[i] != '#';)
		i++;
	m->targets = m->needs = (struct ab_make_value){ .text = NULL };
	if (!line->hole_count) {
		uint32_t now = place_of(m, s);

		m->targets = (struct ab_make_value){ .text = s, .len = colon,
						     .now = now };
		m->needs = (struct ab_make_value){ .text = s + from,
						   .len = i - from,
						   .now = now };
	}
	return semi ? semi + 1 : 0;
}

/* .ONESHELL: the lines behind this one go to the same shell. */
static void join_recipe(struct ab_make *m, uint32_t *at, struct ab_word *line)
{
	uint32_t from = (uint32_t)(line->text - m->text->text), next = *at;
	struct ab_word more;

	while (next_line(m, &next, &more) && is_recipe(m, &more))
		*at = next;
	(void)ab_word_slice(m->c, m->text, from, *at - from, line);
}

/* A recipe that runs make, with more than targets: another directory or file,
   a variable, another command on the line. */
static void note_recipe(struct ab_make *m, const struct ab_word *line)
{
	const char *s = line->text, *hit = memmem(s, line->len, "make", 4);

	if (!hit)
		hit = memmem(s, line->len, "MAKE", 4);
	if (!hit)
		return;
	for (uint32_t i = 1; i < line->len; i++) {
		if (!ab_code_is_letter(s[i]) && !memchr(" @-+$(){}", s[i], 9))
			m->c->is_make_told = true;
	}
	m->c->is_make_told |= memmem(s, line->len, " -", 2) != NULL ||
			      m->is_one_shell || line->hole_count;
}

static void run_line(struct ab_make *m, struct ab_word *line, uint32_t *next)
{
	const char *set;
	struct ab_word w;
	uint32_t at = 0;
	bool is_now = false;

	if (is_recipe(m, line)) {
		if (m->is_one_shell)
			join_recipe(m, next, line);
		note_recipe(m, line);
		at = 1;
	} else {
		read_prefix(m, line);
		check_export(m, line);
		read_included(m, line, true);
		set = memmem(line->text, line->len, "!=", 2);
		is_now = set && is_name(line->text, set);
		at = is_now ? (uint32_t)(set - line->text) + 2
			    : read_rule(m, line);
		/* a condition may have kept the tab */
		if (!at && line->len > 1 && *line->text == '\t')
			at = 1;
	}
	at = at ? skip_marks(line, at) : 0;
	if (at && at < line->len &&
	    ab_word_slice(m->c, line, at, line->len - at, &w)) {
		if (is_now && join_lines(m, &w))
			m->limit = place_of(m, line->text);
		run(m, &w);
		m->limit = UINT32_MAX;
	}
}

/* FNV-1a: the same place may hold another text by now. */
static uint64_t hash_of(const struct ab_word *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < text->len; i++)
		hash = (hash ^ (unsigned char)text->text[i]) *
		       UINT64_C(0x100000001b3);
	return hash;
}

static uint32_t make_depth(const struct ab_check *c)
{
	uint32_t depth = 0;

	for (const struct ab_chain *up = c->chain; up; up = up->up)
		depth += up->len > 3 &&
			 !memcmp(up->name + up->len - 4, "make", 4);
	return depth;
}

/*
 * A make that a recipe runs reads the same file again: nothing is new when it
 * was given names of targets alone, and otherwise it is read once more, and
 * asked about when that runs it a third time.
 */
static bool is_read(struct ab_check *c, const struct ab_word *text)
{
	struct ab_make_read now = { text->text, text->len, text->hole_count,
				    hash_of(text) };
	uint32_t depth = make_depth(c);
	bool is_known = false;

	for (size_t i = 0; i < AB_ARRAY_LEN(c->makes); i++)
		is_known |= c->makes[i].text == now.text &&
			    c->makes[i].len == now.len &&
			    c->makes[i].holes == now.holes &&
			    c->makes[i].hash == now.hash;
	c->makes[c->make_count++ % AB_ARRAY_LEN(c->makes)] = now;
	if (!is_known || !depth)
		return false;
	if (depth > 1 && c->is_make_told)
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, text);
	return depth > 1 || !c->is_make_told;
}

static bool has_any(const struct ab_word *text, const char *const *what,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (memmem(text->text, text->len, what[i], strlen(what[i])))
			return true;
	}
	return false;
}

void ab_check_make(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *text)
{
	static const char *const evals[] = { "(eval", "{eval", "call eval",
					     "undefine" };
	/* code of another kind, files, and calls of a name that is computed */
	static const char *const foreign[] = { "(guile ", "{guile ",
					       "(file >", "{file >",
					       "(call $", "{call $" };
	void *mark = c->scratch->low;
	struct ab_make *m;
	struct ab_word line;
	uint32_t at = 0;

	if (is_read(c, text) || !(m = ab_check_alloc(c, sizeof(*m))))
		return;
	*m = (struct ab_make){ .c = c, .use = use, .text = text,
			       .prefix = '\t', .limit = UINT32_MAX,
			       .room = (size_t)text->len * 16 + (1 << 20) };
	if (!ab_make_take(m, text->len)) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, text);
		return;
	}
	m->is_turned = ab_make_is_outside(m, "MAKEFLAGS", 9) ||
		       ab_make_is_outside(m, "GNUMAKEFLAGS", 12);
	/* names that a make around it was given are its own, too */
	m->is_open = c->is_make_given && make_depth(c);
	if (ab_make_is_outside(m, "MAKEFILES", 9) && has_makefile(c)) {
		m->is_open = true;
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, text);
	}
	read_given(m);
	read_names(m);
	m->prefix = '\t';
	while (next_line(m, &at, &line)) {
		read_prefix(m, &line);
		read_included(m, &line, false);
	}
	at = 0;
	m->prefix = '\t';
	m->is_open |= has_any(text, evals, AB_ARRAY_LEN(evals));
	if (has_any(text, foreign, AB_ARRAY_LEN(foreign)))
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, text);
	check_shell(m);
	run_calls(m);
	run_evals(m);
	while (next_line(m, &at, &line))
		run_line(m, &line, &at);
	c->scratch->low = mark;
}
