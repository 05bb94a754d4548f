/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What make hands to the shell of a line: names are replaced by what the
 * makefile says, by what make itself says, or by the variable of the shell,
 * which is what a name is that nobody sets. Calls of make are unknown, but for
 * $(shell), which is the shell's own, and $(wildcard), which is a pattern.
 * Spec: GNU make manual, 6 and 10.5.
 */
#include "config.h"

#include "guard/code_make.h"

#include <string.h>

#include "guard/code.h"

struct out {
	struct ab_make *m;
	char *text;
	uint32_t len, room;
	struct ab_hole *holes;
	uint32_t hole_count;
	struct ab_span span;
	uint32_t limit; /* what is set behind it is not known */
	bool is_stem; /* `%` is what a pattern took */
	bool is_broken;
};

static void expand(struct out *o, const char *s, uint32_t len, uint32_t depth);
static void put_name(struct out *o, const char *s, uint32_t len,
		     uint32_t depth);

static void put(struct out *o, const char *s, uint32_t len)
{
	uint32_t room = o->room;
	char *text;

	if (!ab_make_take(o->m, len)) {
		o->is_broken = true;
		return;
	}
	if (len > room - o->len) {
		while (len > room - o->len && room < UINT32_MAX / 2)
			room = room ? 2 * room : 256;
		text = ab_check_alloc(o->m->c, room);
		if (!text || len > room - o->len) {
			o->is_broken = true;
			return;
		}
		if (o->len)
			memcpy(text, o->text, o->len);
		o->text = text;
		o->room = room;
	}
	if (len)
		memcpy(o->text + o->len, s, len);
	o->len += len;
}

static void put_text(struct out *o, const char *s)
{
	put(o, s, (uint32_t)strlen(s));
}

static void put_hole(struct out *o)
{
	if (!o->holes)
		o->holes = ab_check_alloc(o->m->c, AB_MAKE_HOLES *
						   sizeof(*o->holes));
	if (!o->holes || o->hole_count == AB_MAKE_HOLES) {
		o->is_broken = true;
		return;
	}
	o->holes[o->hole_count++] = (struct ab_hole){
		.at = o->len, .kind = AB_HOLE_BYTES, .span = o->span
	};
}

/* What is expanded where it stands knows no name that is set behind that. */
static void put_value(struct out *o, const struct ab_make_value *v,
		      uint32_t depth)
{
	uint32_t was = o->limit;

	if (v->now && v->now < was)
		o->limit = v->now;
	expand(o, v->text, v->len, depth);
	o->limit = was;
}

/* Names of targets: `%` is what nobody knows. */
static void put_names(struct out *o, const struct ab_make_value *w,
		      uint32_t depth)
{
	bool was = o->is_stem;

	if (!w->text) {
		put_hole(o);
		return;
	}
	o->is_stem = true;
	put_value(o, w, depth);
	o->is_stem = was;
}

/* The first word of w, which may hold $(a b). */
static struct ab_make_value first_word(const struct ab_make_value *w)
{
	struct ab_make_value first = *w;
	int depth = 0;
	uint32_t i = 0, from;

	while (i < w->len && memchr(" \t\\\n", w->text[i], 4))
		i++;
	for (from = i; i < w->len; i++) {
		depth += memchr("({", w->text[i], 2) != NULL;
		depth -= memchr(")}", w->text[i], 2) != NULL;
		if (!depth && memchr(" \t\\\n", w->text[i], 4))
			break;
	}
	first.text += from;
	first.len = i - from;
	if (!first.len)
		first.text = NULL;
	return first;
}

/* $@, $<, $^: the names of the rule; the rest of that kind is unknown. */
static bool put_automatic(struct out *o, const char *s, uint32_t len,
			  uint32_t depth)
{
	const struct ab_make *m = o->m;
	struct ab_make_value w;

	if (!memchr("@<^+?*%|123456789", *s, 17) || len > 2)
		return false;
	if (len > 1 && !memchr("DF", s[1], 2))
		return false;
	if (len > 1 || memchr("*%|123456789", *s, 12)) {
		put_hole(o);
		return true;
	}
	w = *s == '@' ? m->targets : m->needs;
	if (*s == '<' && w.text)
		w = first_word(&w);
	put_names(o, &w, depth + 1);
	return true;
}

/* The rest behind the name of a call: $(shell x). */
static const char *call_of(const char *s, uint32_t len, const char *name)
{
	uint32_t n = (uint32_t)strlen(name);

	return len > n && !memcmp(s, name, n) && memchr(" \t", s[n], 2)
		       ? s + n + 1 : NULL;
}

/* $(call NAME,x) */
static uint32_t rest_len(const char *s, const char *end)
{
	const char *comma = memchr(s, ',', (size_t)(end - s));

	return (uint32_t)((comma ? comma : end) - s);
}

/* What is not followed. Where what it is made of ends a command, it may begin
   one. */
static void put_unknown(struct out *o, const char *s, uint32_t len,
			uint32_t name_len, uint32_t depth)
{
	const char *value = call_of(s, len, "value");
	const char *rest = value ? value : call_of(s, len, "call");
	uint32_t from = o->len, count = o->hole_count;
	bool has_end = false;

	if (rest)
		put_name(o, rest, rest_len(rest, s + len), depth + 1);
	else if (name_len && s[name_len] == ':')
		put_name(o, s, name_len, depth + 1);
	expand(o, s, len, depth + 1);
	/* $($(A)): a name that is computed */
	if (s[name_len] == '$' && !value && !rest && o->hole_count == count &&
	    o->len > from && depth < AB_MAKE_DEPTH) {
		uint32_t n = o->len - from;
		char *name = ab_check_alloc(o->m->c, n);

		o->len = from;
		if (name)
			put_name(o, memcpy(name, o->text + from, n), n,
				 depth + 1);
		else
			o->is_broken = true;
		return;
	}
	for (uint32_t i = from; i < o->len && !has_end; i++)
		has_end = memchr(";|&`\n", o->text[i], 5) != NULL;
	o->len = from;
	o->hole_count = count;
	if (has_end)
		put_text(o, ";");
	put_hole(o);
}

/* A call, or a name with an edit of it; false: a name and no more. */
static bool put_call(struct out *o, const char *s, uint32_t len,
		     uint32_t depth)
{
	static const char *const quiet[] = { "info", "warning", "error" };
	const char *end = s + len, *rest;

	if ((rest = call_of(s, len, "shell"))) {
		put_text(o, "$(");
		expand(o, rest, (uint32_t)(end - rest), depth + 1);
		put_text(o, ")");
		return true;
	}
	if ((rest = call_of(s, len, "wildcard")) ||
	    (rest = call_of(s, len, "strip"))) {
		expand(o, rest, (uint32_t)(end - rest), depth + 1);
		return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(quiet); i++) {
		if (call_of(s, len, quiet[i]))
			return true;
	}
	for (uint32_t i = 0; i < len; i++) {
		if (memchr(" \t\n:,$(){}", s[i], 10)) {
			put_unknown(o, s, len, i, depth);
			return true;
		}
	}
	return false;
}

/* The variable of the shell, as what is not set elsewhere is. */
static void put_variable(struct out *o, const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (!ab_code_is_letter(s[i]) || (s[i] <= '9' && !i)) {
			put_hole(o);
			return;
		}
	}
	put_text(o, "${");
	put(o, s, len);
	put_text(o, "}");
}

static void put_unset(struct out *o, const char *s, uint32_t len,
		      uint32_t depth)
{
	const char *known = o->m->is_open || ab_make_is_outside(o->m, s, len)
				    ? NULL : ab_make_default(s, len);

	if (known)
		expand(o, known, (uint32_t)strlen(known), depth + 1);
	else if (o->m->is_full || o->m->is_open)
		put_hole(o);
	else
		put_variable(o, s, len);
}

/* One of several names in the line is gone through, the rest is unknown. */
static const struct ab_make_value *value_of(struct ab_make *m,
					    const struct ab_make_name *n)
{
	if (n->is_unknown || m->is_open)
		return NULL;
	if (n->count == 1)
		return &n->values[0];
	if (m->chosen && m->chosen != n)
		return NULL;
	m->chosen = n;
	m->rounds = n->count;
	return &n->values[m->round < n->count ? m->round : 0];
}

static void put_name(struct out *o, const char *s, uint32_t len,
		     uint32_t depth)
{
	const struct ab_make_name *n;
	const struct ab_make_value *value;

	while (len && memchr(" \t", *s, 2)) {
		s++;
		len--;
	}
	if (!len || put_automatic(o, s, len, depth) ||
	    put_call(o, s, len, depth))
		return;
	n = ab_make_find(o->m, s, len);
	if (!n || (!n->count && !n->is_unknown) ||
	    (o->m->is_turned && ab_make_is_outside(o->m, s, len))) {
		put_unset(o, s, len, depth);
		return;
	}
	if (n->last > o->m->latest)
		o->m->latest = n->last;
	value = n->last > o->limit ? NULL : value_of(o->m, n);
	if (!value)
		put_hole(o);
	else if (value->text)
		put_value(o, value, depth + 1);
	else
		put_unset(o, s, len, depth);
}

/* Where the name ends that begins behind $( or ${. */
static uint32_t name_end(const char *s, uint32_t at, uint32_t len)
{
	const char open = s[at - 1], close = open == '(' ? ')' : '}';
	uint32_t depth = 1;

	for (; at < len; at++) {
		depth += s[at] == open;
		if (s[at] == close && !--depth)
			break;
	}
	return at;
}

static void expand(struct out *o, const char *s, uint32_t len, uint32_t depth)
{
	if (depth > AB_MAKE_DEPTH) {
		put_hole(o);
		return;
	}
	for (uint32_t i = 0; i < len && !o->is_broken;) {
		uint32_t from = i, end;

		while (i < len && s[i] != '$' && !(o->is_stem && s[i] == '%'))
			i++;
		put(o, s + from, i - from);
		if (i + 1 >= len && (i == len || s[i] == '$'))
			return;
		if (s[i] == '%') {
			put_hole(o);
			i++;
		} else if (s[i + 1] == '$') {
			put(o, "$", 1);
			i += 2;
		} else if (memchr("({", s[i + 1], 2)) {
			end = name_end(s, i + 2, len);
			/* what it costs to look */
			o->is_broken |= !ab_make_take(o->m, 8);
			if (end == len)
				put_hole(o); /* it has no end */
			else
				put_name(o, s + i + 2, end - i - 2, depth);
			i = end + 1;
		} else {
			put_name(o, s + i + 1, 1, depth);
			i += 2;
		}
	}
}

bool ab_make_expand(struct ab_make *m, const struct ab_word *text,
		    struct ab_word *out)
{
	struct out o = { .m = m, .span = text->span, .limit = m->limit };
	uint32_t at = 0;

	*out = *text;
	if (!memchr(text->text, '$', text->len))
		return true;
	/* what the shell did not know stays where it is */
	for (uint32_t i = 0; i < text->hole_count && !o.is_broken; i++) {
		expand(&o, text->text + at, text->holes[i].at - at, 0);
		at = text->holes[i].at;
		put_hole(&o);
		if (!o.is_broken) {
			o.holes[o.hole_count - 1] = text->holes[i];
			o.holes[o.hole_count - 1].at = o.len;
		}
	}
	expand(&o, text->text + at, text->len - at, 0);
	*out = (struct ab_word){ .text = o.text ? o.text : "", .len = o.len,
				 .holes = o.holes, .span = text->span,
				 .hole_count = o.hole_count };
	return !o.is_broken;
}
