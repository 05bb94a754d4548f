/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that an inline program has of its own, as code_flow.c meets them:
 * their names and parameters, and which of them send what they are given.
 * Where one ends is not looked for: its parameters are names up to the next.
 */
#include "config.h"

#include "guard/code_flow.h"

#include <string.h>

#define MAX_PARAMS 64 /* tokens */
#define MAX_ARGS 1024 /* bytes, to where perl names them */

static struct ab_flow_span span_of(const struct ab_token *t)
{
	return (struct ab_flow_span){ t->at, t->at + t->len };
}

/* What it says from there on is another one's. */
static void begin(struct ab_flow *s, struct ab_flow_span name)
{
	s->function = name;
	if (s->is_learning)
		s->count = 0;
}

/* The names from x on, up to the end of the bracket or `until`; of `a: int = 3`
   the first. */
static void add_params(struct ab_flow *s, struct ab_lexer x, char until)
{
	struct ab_token t;
	uint32_t depth = 0;
	bool is_value = false;

	for (uint32_t i = 0; s->is_learning && i < MAX_PARAMS &&
			     ab_lexer_next(&x, &t); i++) {
		const char ch = ab_flow_sign(s, &t);

		if (!depth && ((ch && (ch == until || memchr(");", ch, 2))) ||
			       (until == '\n' && t.is_line)))
			return;
		depth += ch && memchr("([{", ch, 3);
		depth -= ch && depth && memchr(")]}", ch, 3);
		if (ch == ',')
			is_value = false;
		else if (ch && memchr("=:", ch, 2))
			is_value = true;
		else if (t.kind == AB_TOKEN_WORD && !is_value)
			ab_flow_add_names(s, span_of(&t), s->function);
	}
}

/* perl: @_, $_[0] and what shift gives. */
static void add_args(struct ab_flow *s, uint32_t from)
{
	static const char *const names[] = { "@_", "$_", "shift" };
	const char *text = s->x.text;
	const uint32_t left = s->x.len - from;
	const uint32_t n = left < MAX_ARGS ? left : MAX_ARGS;

	for (size_t i = 0; s->is_learning && i < AB_ARRAY_LEN(names); i++) {
		const uint32_t len = (uint32_t)strlen(names[i]);
		const char *hit = memmem(text + from, n, names[i], len);
		const uint32_t at = hit ? (uint32_t)(hit - text) : 0;

		if (hit)
			ab_flow_add_names(s, (struct ab_flow_span){ at,
								    at + len },
					  s->function);
	}
}

/* def f(a, b):, def f a, b, sub f { */
static void begin_named(struct ab_flow *s)
{
	struct ab_lexer x = s->x, behind;
	struct ab_token name, open;

	if (!ab_lexer_next(&x, &name) || name.kind != AB_TOKEN_WORD)
		return;
	begin(s, span_of(&name));
	behind = x;
	if (s->k->lang == AB_PERL)
		add_args(s, x.pos);
	if (!ab_lexer_next(&x, &open))
		return;
	if (ab_flow_sign(s, &open) == '(')
		add_params(s, x, ')');
	else if (s->k->lang == AB_RUBY && !open.is_line)
		add_params(s, behind, '\n');
}

/* f(a, b) {, and function (a) { by the name that it is given. */
static void begin_group(struct ab_flow *s)
{
	static const char *const others[] = { "if", "for", "while", "switch",
					      "catch", "foreach", "elseif",
					      "with" };
	struct ab_lexer x = { .text = s->x.text, .pos = s->group.at,
			      .len = s->group.end, .traits = s->x.traits };
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || t.kind != AB_TOKEN_WORD ||
	    ab_code_is_one_of(s->k, &t, others, AB_ARRAY_LEN(others)))
		return;
	if (!ab_code_is_text(s->k, &t, "function") &&
	    !ab_code_is_text(s->k, &t, "async"))
		begin(s, span_of(&t));
	else if (ab_flow_target(s).end)
		begin(s, ab_flow_target(s));
	else
		return;
	if (ab_lexer_next(&x, &t))
		add_params(s, x, ')');
}

void ab_flow_begin_function(struct ab_flow *s, const struct ab_token *t)
{
	const struct ab_code *k = s->k;

	if (s->is_reading)
		return;
	if (ab_code_is_text(k, t, "def") || ab_code_is_text(k, t, "sub")) {
		begin_named(s);
	} else if (ab_code_is_text(k, t, "lambda") && ab_flow_target(s).end) {
		begin(s, ab_flow_target(s));
		add_params(s, s->x, ':');
	} else if (ab_flow_sign(s, t) == '{' && k->lang & (AB_JS | AB_PHP) &&
		   ab_flow_sign(s, &s->before) == ')') {
		begin_group(s);
	}
}

void ab_flow_begin_arrow(struct ab_flow *s)
{
	if (!ab_flow_target(s).end)
		return;
	begin(s, ab_flow_target(s));
	if (s->is_learning && s->before.kind == AB_TOKEN_WORD)
		ab_flow_add_names(s, span_of(&s->before), s->function);
	else if (s->is_learning && s->group.end - s->group.at <= AB_FLOW_TARGET)
		ab_flow_add_names(s, s->group, s->function);
}

void ab_flow_learn(struct ab_flow *s)
{
	if (s->found.at != s->function.at || s->found.end != s->function.end) {
		s->found = (struct ab_flow_span){ 0 };
		return;
	}
	if (s->own_count < AB_FLOW_OWN)
		s->own[s->own_count++] = s->found;
	else
		s->is_full = true;
	/* no more has to be known of it */
	s->found = (struct ab_flow_span){ 0 };
	s->count = 0;
}

bool ab_flow_is_own_sender(const struct ab_flow *s, const struct ab_token *t)
{
	static const char *const begins[] = { "def", "function", "sub" };
	const struct ab_flow_span name = span_of(t);
	const char *text = s->k->text->text;

	if (ab_code_is_one_of(s->k, &s->before, begins, AB_ARRAY_LEN(begins)))
		return false;
	for (uint32_t i = 0; i < s->own_count; i++) {
		const struct ab_flow_span *own = &s->own[i];

		if (own->end - own->at == name.end - name.at &&
		    !memcmp(text + own->at, text + name.at,
			    name.end - name.at))
			return true;
	}
	return false;
}
