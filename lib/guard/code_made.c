/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an expression of an inline program makes: one of several words, or a
 * list of them, and what is put together of those. code_expr.c reads the
 * expressions. Refuses to grow without end: what is too long is not known, and
 * what is one of too many is cut.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_TEXT 4096
#define MAX_PIECES 16 /* of what a format is filled with */

void ab_made_word(struct ab_code *k, struct ab_made *m,
		  const struct ab_word *w)
{
	*m = (struct ab_made){ .count = 0 };
	ab_made_add(k, m, w);
}

void ab_made_text(struct ab_code *k, struct ab_made *m, const char *s)
{
	const struct ab_word w = { .text = s, .len = (uint32_t)strlen(s),
				   .span = k->text->span };

	ab_made_word(k, m, &w);
}

void ab_made_hole(struct ab_code *k, struct ab_made *m)
{
	struct ab_word w = { .text = "", .span = k->text->span };

	ab_code_hole(k, &w);
	ab_made_word(k, m, &w);
}

static void add_hole(struct ab_code *k, struct ab_made *m)
{
	struct ab_word w = { .text = "", .span = k->text->span };

	ab_code_hole(k, &w);
	ab_made_add(k, m, &w);
}

/* The home, as the shell has it. */
void ab_made_home(struct ab_code *k, struct ab_made *m)
{
	static const struct ab_hole hole = { .kind = AB_HOLE_HOME };
	const struct ab_known_path *home = &k->c->place->home;
	const struct ab_word unknown = { .text = "", .holes = &hole,
					 .hole_count = 1,
					 .span = k->text->span };

	if (home->text)
		ab_made_text(k, m, home->text);
	else
		ab_made_word(k, m, &unknown);
}

/* Whatever name a directory has. */
void ab_made_entry(struct ab_code *k, struct ab_made *m)
{
	static const struct ab_hole hole = { .len = 1,
					     .kind = AB_HOLE_PATTERN };
	const struct ab_word any = { .text = "*", .len = 1, .holes = &hole,
				     .hole_count = 1, .span = k->text->span };

	ab_made_word(k, m, &any);
}

/* The values may be those of a name: they are copied before they grow. */
void ab_made_add(struct ab_code *k, struct ab_made *m, const struct ab_word *w)
{
	struct ab_word *words;
	uint32_t room;

	if (m->count >= AB_CODE_VALUES) {
		m->is_cut = true;
		return;
	}
	if (m->count >= m->room) {
		room = m->count ? 2 * m->count : 1;
		words = ab_check_alloc(k->c, room * sizeof(*words));
		if (!words) {
			m->is_cut = true;
			return;
		}
		if (m->count)
			memcpy(words, m->words, m->count * sizeof(*words));
		m->words = words;
		m->room = room;
	}
	m->words[m->count++] = *w;
}

bool ab_made_is_known(const struct ab_made *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct ab_word *w = &m->words[i];

		for (uint32_t h = 0; h < w->hole_count; h++)
			if (w->holes[h].kind == AB_HOLE_BYTES)
				return false;
	}
	return m->count && !m->is_cut;
}

static bool begins(const struct ab_word *w)
{
	return !(w->hole_count && !w->holes[0].at &&
		 w->holes[0].kind == AB_HOLE_BYTES);
}

/* What one of its values begins with is known, of a list the first. */
bool ab_made_begins(const struct ab_made *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		if (begins(&m->words[i]))
			return true;
		if (m->is_list)
			break;
	}
	return false;
}

void ab_made_cut(struct ab_code *k, struct ab_made *m, bool keeps_hole)
{
	struct ab_made all = { .is_path = m->is_path, .is_cut = m->is_cut };
	bool has_hole = false;

	for (uint32_t i = 0; i < m->count && !m->is_list; i++) {
		if (begins(&m->words[i]))
			ab_made_add(k, &all, &m->words[i]);
		else
			has_hole = true;
	}
	if (has_hole && keeps_hole)
		add_hole(k, &all);
	if (has_hole)
		*m = all;
}

/* --- what is put together ----------------------------------------------- */

static bool ends_with_slash(const struct ab_word *w)
{
	return w->len && w->text[w->len - 1] == '/' &&
	       !(w->hole_count && w->holes[w->hole_count - 1].at == w->len);
}

static void join_words(struct ab_code *k, struct ab_word *w,
		       const struct ab_word *more, enum ab_glue glue)
{
	static const struct ab_word slash = { .text = "/", .len = 1 };
	bool is_absolute = more->len && *more->text == '/' &&
			   !(more->hole_count && !more->holes[0].at);
	bool is_empty = !w->len && !w->hole_count;

	if (glue == AB_GLUE_PATH && (is_absolute || is_empty)) {
		*w = *more;
		return;
	}
	k->last = NULL; /* others may have the text */
	if (glue != AB_GLUE_TEXT && !is_empty && !ends_with_slash(w) &&
	    !is_absolute)
		ab_code_append(k, w, &slash);
	ab_code_append(k, w, more);
	k->last = NULL;
	if (w->len > MAX_TEXT) {
		*w = (struct ab_word){ .text = "", .span = k->text->span };
		ab_code_hole(k, w);
	}
}

static void join_lists(struct ab_code *k, struct ab_made *a,
		       const struct ab_made *b)
{
	for (uint32_t i = 0; i < b->count; i++)
		ab_made_add(k, a, &b->words[i]);
	a->is_cut |= b->is_cut;
}

void ab_made_join(struct ab_code *k, struct ab_made *a,
		  const struct ab_made *b, enum ab_glue glue)
{
	struct ab_made all = { .is_path = a->is_path | b->is_path,
			       .is_cut = a->is_cut | b->is_cut };

	if (a->is_list && b->is_list && glue == AB_GLUE_TEXT) {
		join_lists(k, a, b);
		return;
	}
	/* ["rm", "-rf"] + x: nobody knows how many words that is */
	if (a->is_list && glue == AB_GLUE_TEXT && b->count == 1 &&
	    ab_code_is_hole(&b->words[0])) {
		ab_made_add(k, a, &b->words[0]);
		return;
	}
	if (a->is_list || b->is_list) {
		ab_made_hole(k, a);
		return;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		for (uint32_t j = 0; j < b->count && !k->c->is_broken; j++) {
			struct ab_word w = a->words[i];

			if (all.count >= AB_CODE_VALUES) {
				all.is_cut = true;
				break;
			}
			join_words(k, &w, &b->words[j], glue);
			ab_made_add(k, &all, &w);
		}
	}
	*a = all;
}

/* One or the other. */
void ab_made_either(struct ab_code *k, struct ab_made *a,
		    const struct ab_made *b)
{
	const struct ab_made *list = a->is_list ? a : b;

	a->is_cut |= b->is_cut;
	a->is_path |= b->is_path;
	if (a->is_list != b->is_list || (list->is_list && list->count > 1)) {
		ab_made_hole(k, a);
		a->is_cut = true;
		return;
	}
	for (uint32_t i = 0; i < b->count; i++)
		ab_made_add(k, a, &b->words[i]);
}

/* " ".join(list) */
void ab_made_words(struct ab_code *k, struct ab_made *list,
		   const struct ab_made *between)
{
	struct ab_word w;

	if (!list->is_list || !list->count || list->is_cut ||
	    between->count != 1 || between->is_list) {
		ab_made_hole(k, list);
		return;
	}
	w = list->words[0];
	for (uint32_t i = 1; i < list->count; i++) {
		join_words(k, &w, &between->words[0], AB_GLUE_TEXT);
		join_words(k, &w, &list->words[i], AB_GLUE_TEXT);
	}
	ab_made_word(k, list, &w);
}

/* "a b".split() */
void ab_made_split(struct ab_code *k, struct ab_made *m)
{
	const struct ab_word all = m->count ? m->words[0]
					    : (struct ab_word){ 0 };
	struct ab_made list = { .is_list = true };
	struct ab_word w;

	if (m->count != 1 || m->is_list || all.hole_count) {
		ab_made_hole(k, m);
		m->is_cut = true;
		return;
	}
	for (uint32_t i = 0, from = 0; i <= all.len; i++) {
		if (i < all.len && !memchr(" \t\n", all.text[i], 3))
			continue;
		if (i > from && ab_word_slice(k->c, &all, from, i - from, &w))
			ab_made_add(k, &list, &w);
		from = i + 1;
	}
	*m = list;
}

/* The directory that it is in. */
void ab_made_parent(struct ab_code *k, struct ab_made *m)
{
	struct ab_made all = { .is_path = m->is_path, .is_cut = m->is_cut };
	const struct ab_word up = { .text = "..", .len = 2 };

	if (m->is_list) {
		ab_made_hole(k, m);
		return;
	}
	for (uint32_t i = 0; i < m->count; i++) {
		struct ab_word w = m->words[i];

		if (w.len == 1 && *w.text == '.')
			w = up;
		else
			join_words(k, &w, &up, AB_GLUE_BELOW);
		ab_made_add(k, &all, &w);
	}
	*m = all;
}

/* ~ and $HOME at its beginning. */
void ab_made_expand(struct ab_code *k, struct ab_made *m)
{
	static const char *const heads[] = { "~", "$HOME", "${HOME}" };
	struct ab_made all = { .is_path = m->is_path, .is_cut = m->is_cut,
			       .is_list = m->is_list };

	for (uint32_t i = 0; i < m->count; i++) {
		struct ab_word w = m->words[i], rest;
		struct ab_made home;

		for (size_t h = 0; h < AB_ARRAY_LEN(heads); h++) {
			uint32_t n = (uint32_t)strlen(heads[h]);

			if (w.len < n || memcmp(w.text, heads[h], n) ||
			    (w.len > n && w.text[n] != '/') ||
			    (w.hole_count && w.holes[0].at < n) ||
			    !ab_word_slice(k->c, &w, n, w.len - n, &rest))
				continue;
			ab_made_home(k, &home);
			w = home.count ? home.words[0] : w;
			join_words(k, &w, &rest, AB_GLUE_TEXT);
			break;
		}
		ab_made_add(k, &all, &w);
	}
	*m = all;
}

/* --- formats ------------------------------------------------------------ */

/* "{}", "%s": the number of the argument, or `count`: none of those. */
static uint32_t argument_of(const struct ab_code *k, const char *s,
			    uint32_t len, uint32_t next,
			    const struct ab_made_args *args)
{
	uint32_t at = 0;

	if (!len)
		return next;
	if (len == 1 && *s >= '0' && *s <= '9')
		return (uint32_t)(*s - '0');
	for (; at < args->count; at++) {
		const struct ab_token *key = &args->keys[at];

		if (key->len == len &&
		    !memcmp(k->text->text + key->at, s, len))
			break;
	}
	return at;
}

/* Behind the place in the template that begins at `at`; *name: what it is
   called. */
static uint32_t place_end(const struct ab_word *w, uint32_t at, char sign,
			  uint32_t *name, uint32_t *len)
{
	const char *close;
	uint32_t end;

	*name = at + 1;
	*len = 0;
	if (sign == '{') {
		close = memchr(w->text + at, '}', w->len - at);
		if (!close)
			return 0;
		end = (uint32_t)(close - w->text);
		while (*name + *len < end &&
		       !memchr("!:", w->text[*name + *len], 2))
			++*len;
		return end + 1;
	}
	end = at + 1;
	/* %(name)s */
	if (end < w->len && w->text[end] == '(') {
		close = memchr(w->text + end, ')', w->len - end);
		if (!close)
			return 0;
		*name = end + 1;
		*len = (uint32_t)(close - w->text) - *name;
		end = *name + *len + 1;
	}
	while (end < w->len && memchr("-+0123456789.$", w->text[end], 14))
		end++;
	return end < w->len ? end + 1 : 0;
}

void ab_made_format(struct ab_code *k, struct ab_made *m,
		    const struct ab_made_args *args, char sign)
{
	const struct ab_word all = m->count ? m->words[0]
					    : (struct ab_word){ 0 };
	uint32_t from = 0, at = 0, next = 0, pieces = 0, name, len;
	struct ab_made out, part;
	struct ab_word w;

	if (m->count != 1 || m->is_list || all.hole_count) {
		ab_made_hole(k, m);
		return;
	}
	ab_made_text(k, &out, "");
	while (at < all.len && pieces++ < MAX_PIECES) {
		const char *found = memchr(all.text + at, sign, all.len - at);
		uint32_t end, which;

		at = found ? (uint32_t)(found - all.text) : all.len;
		/* {{ and %% are one of them */
		if (at + 1 < all.len && all.text[at + 1] == sign) {
			if (!ab_word_slice(k->c, &all, from, at + 1 - from,
					   &w))
				return;
			ab_made_word(k, &part, &w);
			ab_made_join(k, &out, &part, AB_GLUE_TEXT);
			from = at += 2;
			continue;
		}
		if (!ab_word_slice(k->c, &all, from, at - from, &w))
			return;
		ab_made_word(k, &part, &w);
		ab_made_join(k, &out, &part, AB_GLUE_TEXT);
		if (!found)
			break;
		end = place_end(&all, at, sign, &name, &len);
		if (!end)
			break;
		which = argument_of(k, all.text + name, len, next, args);
		next++;
		if (which < args->count && !args->all[which].is_list)
			part = args->all[which];
		else
			ab_made_hole(k, &part);
		ab_made_join(k, &out, &part, AB_GLUE_TEXT);
		from = at = end;
	}
	if (pieces > MAX_PIECES)
		add_hole(k, &out);
	*m = out;
}
