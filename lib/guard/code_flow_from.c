/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an inline program has from outside: secrets of its environment, those
 * that the shell puts into it or behind it, what it reads, and the names that
 * were given something of them.
 * Refuses to take a property for a name.
 */
#include "config.h"

#include "guard/code_flow.h"

#include <string.h>

char ab_flow_sign(const struct ab_flow *s, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_SIGN ? s->k->text->text[t->at] : 0;
}

struct ab_flow_span ab_flow_bare(const struct ab_flow *s, uint32_t at,
				 uint32_t len)
{
	struct ab_flow_span name = { .at = at, .end = at + len };

	while (name.at < name.end &&
	       memchr("$@%", s->k->text->text[name.at], 3))
		name.at++;
	return name;
}

bool ab_flow_is_secret(const struct ab_flow *s, struct ab_flow_span name)
{
	char text[64];
	uint32_t len = name.end - name.at;

	if (len >= sizeof(text))
		return false;
	memcpy(text, s->k->text->text + name.at, len);
	text[len] = '\0';
	return strlen(text) == len && ab_value_is_secret(text);
}

/* for k in ("X_TOKEN", "Y_KEY"): environ[k] */
static bool holds_secret(const struct ab_flow *s, const struct ab_token *t)
{
	const struct ab_named *n = t->kind == AB_TOKEN_WORD && s->k->name_count
					   ? ab_code_named(s->k, t)
					   : NULL;

	for (uint32_t i = 0; n && !n->call && i < n->count; i++) {
		const struct ab_word *w = &n->words[i];
		char text[64];

		if (w->len >= sizeof(text))
			continue;
		memcpy(text, w->text, w->len);
		text[w->len] = '\0';
		if (ab_value_is_secret(text))
			return true;
	}
	return false;
}

const struct ab_flow_sent *ab_flow_find(const struct ab_flow *s,
					struct ab_flow_span name)
{
	const char *text = s->k->text->text;
	uint32_t len = name.end - name.at;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct ab_flow_span *n = &s->names[i].name;

		if (n->end - n->at == len &&
		    !memcmp(text + n->at, text + name.at, len))
			return &s->names[i];
	}
	return NULL;
}

/* f"..." */
static bool ab_flow_is_prefix(const struct ab_flow *s, const struct ab_token *t)
{
	const uint32_t end = t->at + t->len;

	return s->k->lang == AB_PY && t->len <= 2 && end < s->x.len &&
	       memchr("\"'", s->x.text[end], 2);
}

/* perl and php: "a" . $x */
static bool joins_by_dot(const struct ab_flow *s)
{
	return s->k->lang & (AB_PERL | AB_PHP);
}

/* That is what it was made of. */
static bool is_all_of_it(const struct ab_flow *s, struct ab_flow_span variable)
{
	const struct ab_token t = { .kind = AB_TOKEN_WORD, .at = variable.at,
				    .len = variable.end - variable.at };

	return ab_code_reads_environment(s->k, &t);
}

/* A name that the environment was given; or NULL. */
static const struct ab_flow_sent *name_of_all(const struct ab_flow *s,
					      const struct ab_token *t)
{
	const struct ab_flow_sent *n =
		s->count ? ab_flow_find(s, ab_flow_bare(s, t->at, t->len)) :
			   NULL;

	return n && is_all_of_it(s, n->variable) ? n : NULL;
}

/* The environment, or a name that it was given. */
static bool is_environment(const struct ab_flow *s, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_WORD &&
	       (ab_code_reads_environment(s->k, t) || name_of_all(s, t));
}

/* No other thing of that name: `env=` of a call. */
static bool is_own_environment(const struct ab_flow *s,
			       const struct ab_token *t)
{
	static const char *const names[] = { "environ", "environb", "ENV",
					     "$_ENV", "$_SERVER" };

	if (ab_code_is_text(s->k, t, "env"))
		return s->k->lang == AB_JS &&
		       ab_flow_sign(s, &s->before) == '.' &&
		       ab_code_is_text(s->k, &s->behind, "process");
	return ab_code_is_one_of(s->k, t, names, AB_ARRAY_LEN(names));
}

/* environ.copy(), ENV.to_h: that is all of it. */
static bool keeps_all(const struct ab_flow *s)
{
	static const char *const names[] = { "copy", "to_h", "to_hash",
					     "items", "values", "inspect",
					     "to_json", "to_s", "dup",
					     "to_a" };
	struct ab_lexer x = s->x;
	struct ab_token t;

	return ab_lexer_next(&x, &t) && ab_lexer_next(&x, &t) &&
	       ab_code_is_one_of(s->k, &t, names, AB_ARRAY_LEN(names));
}

/* Not one variable of it, nor `const { A } =` that. */
bool ab_flow_is_whole(const struct ab_flow *s, const struct ab_token *t,
		      struct ab_flow_span *variable)
{
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;
	const struct ab_flow_span to = ab_flow_target(s);
	const struct ab_flow_sent *n;

	if (s->is_learning || !is_environment(s, t))
		return false;
	n = name_of_all(s, t);
	if (n ? ab_flow_sign(s, &s->before) == '.' : !is_own_environment(s, t))
		return false;
	if ((next && memchr("[{(?", next, 4)) || (next == '.' && !keeps_all(s)))
		return false;
	if (memchr(s->x.text + to.at, '{', to.end - to.at) ||
	    (to.at && s->x.text[to.at - 1] == '{'))
		return false;
	*variable = n ? n->variable : ab_flow_bare(s, t->at, t->len);
	return true;
}

/* The token is a secret of the environment, or a name of one; `since` tells how
   far it is from the environment. */
bool ab_flow_names_secret(const struct ab_flow *s, const struct ab_token *t,
			 const struct ab_token *before, uint32_t *since,
			 struct ab_flow_span *variable)
{
	const struct ab_flow_span name = ab_flow_bare(s, t->at, t->len);
	const struct ab_flow_sent *known;

	if (!s->is_learning && is_environment(s, t)) {
		*since = 0;
		return false;
	}
	if (*since <= AB_FLOW_REACH)
		++*since;
	if (t->kind == AB_TOKEN_SIGN)
		return false;
	if (s->has_argv && ab_code_is_argv(s->k, t)) {
		*variable = name;
		return true;
	}
	if (*since <= AB_FLOW_REACH && *since > 1 &&
	    (ab_flow_is_secret(s, name) || holds_secret(s, t))) {
		*variable = name;
		return true;
	}
	/* a property of something is another thing */
	if (t->kind != AB_TOKEN_WORD || !s->count ||
	    (ab_flow_sign(s, before) == '.' && !joins_by_dot(s)) ||
	    ab_flow_is_prefix(s, t))
		return false;
	known = ab_flow_find(s, name);
	if (known)
		*variable = known->variable;
	return known;
}

#define MAX_MODE 16 /* tokens, to where it stands */

/* open(x, "w") */
static bool is_written(const struct ab_flow *s)
{
	struct ab_lexer x = s->x;
	struct ab_token t, before = { 0 };
	uint32_t depth = 0;

	for (uint32_t i = 0; i < MAX_MODE && ab_lexer_next(&x, &t); i++) {
		const char ch = ab_flow_sign(s, &t);

		depth += ch == '(';
		depth -= ch == ')' && depth;
		if (ch == ')' && !depth)
			break;
		if (t.kind == AB_TOKEN_STRING && t.len && t.len <= 3 &&
		    ab_flow_sign(s, &before) &&
		    memchr(",=", ab_flow_sign(s, &before), 2) &&
		    memchr("wax>", x.text[t.at], 4))
			return true;
		before = t;
	}
	return false;
}

/* open(x), File.read(x): a file, and nothing that is typed or fetched. */
static bool is_file(const struct ab_flow *s, const struct ab_token *t)
{
	if (ab_code_is_file_reader(s->k, t))
		return true;
	if (ab_code_is_text(s->k, &s->behind, "File"))
		return ab_code_is_text(s->k, t, "read") ||
		       ab_code_is_text(s->k, t, "open");
	return s->k->lang == AB_PY && ab_flow_sign(s, &s->before) != '.' &&
	       ab_code_is_text(s->k, t, "open");
}

/* It reads a file or its stdin: open(x), sys.stdin, <F>; or it is a name of
   what that gave. */
bool ab_flow_is_read(const struct ab_flow *s, const struct ab_token *t)
{
	const char *text = s->k->text->text;
	uint32_t at = t->at + 1;

	if (t->kind == AB_TOKEN_WORD &&
	    (ab_flow_is_prefix(s, t) ||
	     (ab_code_is_text(s->k, t, "open") && is_written(s))))
		return false;
	if ((s->is_sending || s->is_showing) && is_file(s, t))
		return true;
	if (t->kind == AB_TOKEN_WORD) {
		if ((!s->is_sending &&
		     ab_code_is_reader(s->k, t)) ||
		    (s->is_line && ab_code_is_text(s->k, t, "$_")))
			return true;
		return ab_flow_sign(s, &s->before) != '.' && s->count &&
		       ab_flow_find(s, ab_flow_bare(s, t->at, t->len));
	}
	if (s->k->lang != AB_PERL || s->is_sending || ab_flow_sign(s, t) != '<')
		return false;
	while (at < s->x.len && at - t->at < 32 &&
	       (ab_code_is_letter(text[at]) || text[at] == '$'))
		at++;
	return at < s->x.len && text[at] == '>';
}

/* The same anywhere in a part of the text. */
static bool has_secret(const struct ab_flow *s, uint32_t at, uint32_t end,
		       struct ab_flow_span *variable)
{
	struct ab_lexer x = { .text = s->x.text, .pos = at, .len = end,
			      .traits = s->x.traits };
	struct ab_token t, before = { 0 };
	uint32_t since = AB_FLOW_REACH + 1;

	while (ab_lexer_next(&x, &t)) {
		if (ab_flow_names_secret(s, &t, &before, &since, variable))
			return true;
		before = t;
	}
	return false;
}

/* perl and php put "$x" and "$ENV{X}" into a string without a brace. */
static bool has_variable(const struct ab_flow *s, const struct ab_token *t,
			 struct ab_flow_span *variable)
{
	const char *text = s->k->text->text;
	const uint32_t end = t->at + t->len;

	if (!(s->k->lang & (AB_PERL | AB_PHP)) || t->quote == '\'')
		return false;
	for (uint32_t i = t->at; i + 1 < end; i++) {
		uint32_t to = i + 1;

		if (text[i] != '$')
			continue;
		while (to < end && (ab_code_is_letter(text[to]) ||
				    memchr("{}['\"", text[to], 5)))
			to++;
		if (has_secret(s, i, to, variable))
			return true;
		i = to - 1;
	}
	return false;
}

/* python3 -c "... '$X_TOKEN' ...": the shell puts it in. */
bool ab_flow_has_hole(struct ab_flow *s, const struct ab_token *t,
		     struct ab_flow_span *variable)
{
	const struct ab_word *text = s->k->text;
	const uint32_t end = t->at + t->len;

	while (s->hole < text->hole_count && text->holes[s->hole].at < t->at)
		s->hole++;
	for (; s->hole < text->hole_count && text->holes[s->hole].at <= end;
	     s->hole++) {
		const struct ab_hole *h = &text->holes[s->hole];

		if (!h->name || h->is_test || !ab_value_is_secret(h->name))
			continue;
		*variable = (struct ab_flow_span){ t->at, end + !t->len };
		return true;
	}
	return false;
}

/* What the string puts in of its expressions, but for `user:x@host`, which
   says who one is. */
bool ab_flow_string_has_secret(const struct ab_flow *s,
			       const struct ab_token *t,
			       struct ab_flow_span *variable)
{
	const char *text = s->k->text->text;
	uint32_t from = t->at, at, end;

	while (ab_code_field(s->k, t, from, &at, &end)) {
		bool is_user = end + 1 < t->at + t->len &&
			       text[end + 1] == '@';

		if (!is_user && has_secret(s, at, end, variable))
			return true;
		from = end;
	}
	return has_variable(s, t, variable);
}
