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
	uint32_t from = ab_make_skip_blanks(line->text, 0, line->len), at = 0;
	struct ab_word names, file;
	bool is_known, is_open;

	for (size_t i = 0; !at && i < AB_ARRAY_LEN(words); i++) {
		if (ab_make_begins(line, from, words[i]))
			at = from + (uint32_t)strlen(words[i]);
	}
	if (!at || !m->c->has_files || ab_make_is_recipe(m, line) ||
	    !ab_word_slice(m->c, line, at, line->len - at, &names) ||
	    !ab_make_join_lines(m, &names))
		return;
	m->limit = ab_make_place_of(m, line->text);
	is_known = ab_make_expand(m, &names, &names);
	m->limit = UINT32_MAX;
	if (!is_known) {
		m->is_open = true;
		ab_check_known(m->c, AB_KNOWN_LIMIT, AB_V_DENY, line);
		return;
	}
	is_open = names.hole_count && has_makefile(m->c);
	for (uint32_t i = 0; i < names.len;) {
		from = i = ab_make_skip_blanks(names.text, i, names.len);
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
		    !ab_make_join_lines(m, &w))
			continue;
		/* it may be of a name that is expanded where it is used, ... */
		m->latest = 0;
		run(m, &w);
		/* ... or at once */
		m->limit = ab_make_place_of(m, from);
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
	static const struct ab_hole hole = { .len = 1, .kind = AB_HOLE_BYTES };
	const struct ab_make_name *n = ab_make_find(m, name, len);

	if (n && n->is_unknown) {
		struct ab_word w = { .text = "?", .len = 1, .holes = &hole,
				     .hole_count = 1, .span = m->text->span };

		ab_check_env(m->c, name, len, &w);
	}

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
	uint32_t from = at = ab_make_skip_blanks(s, at, line->len), to, value;
	struct ab_word w;
	char sign;

	at = ab_make_skip_words(s, at, line->len);
	if (ab_make_begins(line, at, "export") && line->len - at == 6) {
		export_all(m);
		return;
	}
	if (!memmem(s + from, at - from, "export", 6) ||
	    memmem(s + from, at - from, "unexport", 8))
		return;
	while (at < line->len) {
		for (to = at; to < line->len && ab_code_is_letter(s[to]);)
			to++;
		value = ab_make_skip_blanks(s, to, line->len);
		value += ab_make_sign_at(s + value, line->len - value, &sign);
		if (to > at && value > to && s[value - 1] == '=') {
			value = ab_make_skip_blanks(s, value, line->len);
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
		if (ab_make_has_target(line, ".EXPORT_ALL_VARIABLES"))
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
		uint32_t now = ab_make_place_of(m, s);

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

	while (ab_make_next_line(m, &next, &more) &&
	       ab_make_is_recipe(m, &more))
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

	if (ab_make_is_recipe(m, line)) {
		if (m->is_one_shell)
			join_recipe(m, next, line);
		note_recipe(m, line);
		at = 1;
	} else {
		ab_make_read_prefix(m, line);
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
		if (is_now && ab_make_join_lines(m, &w))
			m->limit = ab_make_place_of(m, line->text);
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
	ab_make_read_given(m);
	ab_make_read_names(m);
	m->prefix = '\t';
	while (ab_make_next_line(m, &at, &line)) {
		ab_make_read_prefix(m, &line);
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
	while (ab_make_next_line(m, &at, &line))
		run_line(m, &line, &at);
	c->scratch->low = mark;
}
