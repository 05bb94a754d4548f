/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an inline program does to a string or a list that has a name: a word of
 * it is replaced, put in or added. What it is then is known where both are
 * written out; of whatever else may change it, the name is not known any more.
 * Refuses to see what a function does to a list that it is given.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_TOKENS 16 /* of an index */

static void note(struct ab_code *k, const struct ab_token *name)
{
	ab_code_note_shared(k, name);
	ab_code_note_unknown(k, name);
}

/* A number of one digit; 10: none. */
static uint32_t digit_of(const struct ab_code *k, const struct ab_token *t)
{
	char ch = k->text->text[t->at];

	return t->kind == AB_TOKEN_WORD && t->len == 1 && ch >= '0' &&
			       ch <= '9'
		       ? (uint32_t)(ch - '0')
		       : 10;
}

/* One string and nothing that is made of it, at the lexer. */
static bool read_word(struct ab_code *k, struct ab_lexer x, struct ab_word *w)
{
	struct ab_token t, next;

	if (!ab_lexer_next(&x, &t) || t.kind != AB_TOKEN_STRING ||
	    t.quote == 'w' || !ab_code_word(k, &t, w))
		return false;
	return !ab_lexer_next(&x, &next) || next.is_line ||
	       ab_code_is_sign(k, &next, ';') ||
	       ab_code_is_sign(k, &next, ')') ||
	       ab_code_is_sign(k, &next, '}');
}

/* The words of the list from `at` on are moved by one. */
static void insert(struct ab_code *k, struct ab_named *n, uint32_t at,
		   const struct ab_word *w)
{
	ab_code_add_value(k, n, w, false);
	if (n->is_cut || at >= n->count)
		return;
	memmove(&n->words[at + 1], &n->words[at],
		(n->count - 1 - at) * sizeof(n->words[0]));
	n->words[at] = *w;
}

/* c[1] = "x", behind the bracket that opens. True: it is given something. */
static bool read_index(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *t)
{
	const struct ab_token name = ab_code_bare_name(k, t);
	struct ab_token index, next;
	uint32_t at, from, depth = 1, i = 0;
	struct ab_named *n;
	struct ab_word w;
	bool is_end;

	if (!ab_lexer_next(&x, &index))
		return false;
	is_end = ab_code_is_sign(k, &index, ']'); /* php: $c[] = */
	at = digit_of(k, &index);
	next = index;
	for (; i < MAX_TOKENS; i++) {
		depth += ab_code_is_sign(k, &next, '[');
		depth -= ab_code_is_sign(k, &next, ']');
		if (!depth)
			break;
		if (!ab_lexer_next(&x, &next))
			return false;
	}
	if (i == MAX_TOKENS) {
		note(k, &name);
		return true;
	}
	if (!ab_lexer_next(&x, &next) || next.kind != AB_TOKEN_SIGN)
		return false;
	/* c[0] += "x", c[0][1] = "x", c[0].insert(...) */
	if (!ab_code_is_sign(k, &next, '=')) {
		bool is_set = memchr("[.<", x.text[next.at], 3) ||
			      (x.pos < x.len && x.text[x.pos] == '=' &&
			       !memchr("!=<>", x.text[next.at], 4));

		if (is_set && ab_code_named(k, &name) &&
		    ab_code_named(k, &name)->is_nested)
			note(k, &name);
		return is_set;
	}
	if (x.pos < x.len && memchr("=>~", x.text[x.pos], 3))
		return false;
	n = (is_end || (at < 10 && i == 1)) && read_word(k, x, &w) &&
			    ab_code_named(k, &name)
		    ? ab_code_change(k, &name, &from)
		    : NULL;
	if (n && n->is_list && !n->is_nested && is_end)
		ab_code_add_value(k, n, &w, false);
	else if (n && n->is_list && !n->is_nested && from + at < n->count)
		n->words[from + at] = w;
	else
		note(k, &name);
	return true;
}

static const char *const adds[] = { "append", "push" };

/* What is added to a list is in the one that has the other name, too. */
static void add_word(struct ab_code *k, struct ab_named *n,
		     const struct ab_word *w)
{
	const struct ab_named *of = n->source.len
					    ? ab_code_named(k, &n->source)
					    : NULL;

	ab_code_add_value(k, n, w, false);
	if (of && of != n && of->is_list && !of->is_nested && !of->call)
		ab_code_add_value(k, &k->names[of - k->names], w, false);
}

/* d.update({"a": "x"}), d.update(a="x"): one more value each. */
static void add_values(struct ab_code *k, struct ab_lexer x,
		       struct ab_named *n)
{
	struct ab_token t, next;
	struct ab_word w;
	int depth = 0;

	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		struct ab_lexer behind = x;

		depth += ab_code_is_sign(k, &t, '(');
		depth -= ab_code_is_sign(k, &t, ')');
		if (depth <= 0)
			return;
		if (t.kind == AB_TOKEN_STRING &&
		    !(ab_lexer_next(&behind, &next) &&
		      ab_code_is_sign(k, &next, ':')) &&
		    ab_code_word(k, &t, &w))
			ab_code_add_value(k, n, &w, false);
	}
}

/* ruby: c.push("x").push("y"): more is added. What else is done to the list
   there is not followed. */
static bool goes_on(struct ab_code *k, const struct ab_token *name,
		    struct ab_lexer *x)
{
	struct ab_lexer ahead = *x;
	struct ab_token t;

	if (k->lang != AB_RUBY || !ab_lexer_next(&ahead, &t) ||
	    !ab_code_is_sign(k, &t, '.') || !ab_lexer_next(&ahead, &t))
		return false;
	*x = ahead;
	if (ab_code_is_one_of(k, &t, adds, AB_ARRAY_LEN(adds)))
		return true;
	note(k, name);
	return false;
}

/* What is added to the list `name`, from the lexer to the bracket that closes,
   or the end of the statement. */
static void add_rest(struct ab_code *k, struct ab_lexer x,
		     const struct ab_token *name, bool is_spread)
{
	struct ab_named *n;
	struct ab_token t;
	struct ab_word w;
	uint32_t from;

	n = ab_code_named(k, name) ? ab_code_change(k, name, &from) : NULL;
	if (!n) {
		note(k, name);
		return;
	}
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		const struct ab_named *one;
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;
		const struct ab_lexer was = k->x;

		if (ch && memchr(",(", ch, 2))
			continue;
		if (ch == ')' && goes_on(k, name, &x))
			continue;
		if ((ch && memchr(");}]", ch, 4)) || (t.is_line && i))
			return;
		/* c.append(["a", "b"]): one more list, or many words */
		if (ch == '[' || t.quote == 'w') {
			if (ch == '[' && !is_spread && n->is_nested &&
			    n->count < AB_CODE_VALUES)
				n->begins |= UINT32_C(1) << n->count;
			else if (n->is_nested || !(is_spread || t.quote))
				break;
			if (t.quote != 'w')
				continue;
			struct ab_token bare = { .at = t.at };

			while (ab_code_bare_word(k, &t, &bare)) {
				if (ab_code_word(k, &bare, &w))
					add_word(k, n, &w);
			}
			continue;
		}
		k->x = x;
		one = ab_code_value(k, &t);
		if (t.kind == AB_TOKEN_STRING && !ab_code_is_changed(k) &&
		    ab_code_word(k, &t, &w)) {
			k->x = was;
			add_word(k, n, &w);
			continue;
		}
		k->x = was;
		if (!one || one->is_list || one->count != 1)
			break;
		w = one->words[0];
		add_word(k, n, &w);
	}
	if (n->is_list)
		ab_code_add_hole(k, n);
	note(k, name);
}

/* c.append("x"), c.insert(1, "x"), c.reverse(), behind the dot. */
static bool read_method(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	static const char *const others[] = {
		"pop",	   "remove",  "clear",	  "sort",      "reverse",
		"unshift", "shift",   "splice",	  "fill",      "copyWithin",
		"concat",  "prepend", "replace",  "delete",    "delete_at",
		"rotate",  "update",  "__setitem__", "__iadd__", "setbyte",
		"insert",  "store",   "extendleft",  "appendleft",
		"keep_if", "delete_if", "setdefault",
	};
	const struct ab_named *known = ab_code_named(k, name);
	struct ab_token t, at, next;
	struct ab_named *n;
	struct ab_word w;
	uint32_t from;

	if (!ab_lexer_next(&x, &t))
		return false;
	/* of js it makes another list, and this one stays as it is */
	if (k->lang == AB_JS && ab_code_is_text(k, &t, "concat"))
		return false;
	/* a parameter, before it is known */
	if (!known && ab_code_is_linked(k, name) &&
	    (ab_code_is_one_of(k, &t, adds, AB_ARRAY_LEN(adds)) ||
	     ab_code_is_one_of(k, &t, others, AB_ARRAY_LEN(others)) ||
	     ab_code_is_text(k, &t, "extend") ||
	     ab_code_is_text(k, &t, "insert")))
		note(k, name);
	if (!known || known->call || known->is_path)
		return false;
	if (known->is_list &&
	    ab_code_is_one_of(k, &t, adds, AB_ARRAY_LEN(adds))) {
		add_rest(k, x, name, false);
		return true;
	}
	if (known->is_list && ab_code_is_text(k, &t, "extend")) {
		add_rest(k, x, name, true);
		return true;
	}
	if (known->is_list && !known->is_nested &&
	    ab_code_is_text(k, &t, "insert")) {
		struct ab_lexer in = x;
		uint32_t index;

		if (ab_lexer_next(&in, &next) &&
		    ab_code_is_sign(k, &next, '(') &&
		    ab_lexer_next(&in, &at) &&
		    (index = digit_of(k, &at)) < 10 &&
		    ab_lexer_next(&in, &next) &&
		    ab_code_is_sign(k, &next, ',') && read_word(k, in, &w) &&
		    (n = ab_code_change(k, name, &from))) {
			insert(k, n, from + index, &w);
			return true;
		}
		note(k, name);
		return true;
	}
	if (known->is_map && !known->is_nested &&
	    (ab_code_is_text(k, &t, "update") ||
	     ab_code_is_text(k, &t, "setdefault")))
		add_values(k, x, &k->names[known - k->names]);
	/* ruby's c.sub!(...); strings of the others stay what they are */
	if ((k->lang == AB_RUBY && t.at + t.len < k->text->len &&
	     k->text->text[t.at + t.len] == '!') ||
	    ((known->is_list || known->is_map || k->lang == AB_RUBY) &&
	     ab_code_is_one_of(k, &t, others, AB_ARRAY_LEN(others)))) {
		note(k, name);
		return true;
	}
	return false;
}

/* java and its kin: c.add("x") */
static bool read_java(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *name)
{
	const struct ab_named *known = ab_code_named(k, name);
	struct ab_token t;

	if (!known || !known->is_list || known->call ||
	    !ab_lexer_next(&x, &t))
		return false;
	if (!ab_code_is_text(k, &t, "add") && !ab_code_is_text(k, &t, "Add"))
		return false;
	add_rest(k, x, name, false);
	return true;
}

/* All names in the brackets, or to the end of the statement. */
static void note_names(struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;
	bool has_bracket = false;
	int depth = 0;

	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		const struct ab_token bare = ab_code_bare_name(k, &t);

		has_bracket |= !i && ab_code_is_sign(k, &t, '(');
		depth += ab_code_is_sign(k, &t, '(');
		depth -= ab_code_is_sign(k, &t, ')');
		if ((has_bracket && depth <= 0) || depth < 0 ||
		    ab_code_is_sign(k, &t, ';') || (i && t.is_line))
			return;
		if (ab_code_named(k, &t))
			note(k, &t);
		if (ab_code_named(k, &bare))
			note(k, &bare);
	}
}

/* Functions that change what they are given. */
static bool read_call(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *before, const struct ab_token *t)
{
	static const struct {
		const char *name;
		uint8_t langs;
	} calls[] = {
		{ "sub", AB_AWK },	    { "gsub", AB_AWK },
		{ "split", AB_AWK },	    { "unshift", AB_PERL },
		{ "splice", AB_PERL },	    { "substr", AB_PERL },
		{ "pop", AB_PERL },	    { "chop", AB_PERL },
		{ "shift", AB_PERL },	    { "array_push", AB_PHP },
		{ "array_unshift", AB_PHP }, { "array_splice", AB_PHP },
		{ "array_pop", AB_PHP },    { "array_shift", AB_PHP },
		{ "sort", AB_PHP },	    { "rsort", AB_PHP },
		{ "shuffle", AB_PHP | AB_PY }, { "insert", AB_LUA },
		{ "remove", AB_LUA },	    { "sort", AB_LUA },
		{ "setitem", AB_PY },	    { "del", AB_PY },
		{ "assign", AB_JS },	    { "array_walk", AB_PHP },
		{ "prototype", AB_JS },	    { "getattr", AB_PY },
		{ "delete", AB_JS | AB_PERL | AB_AWK },
	};
	struct ab_token list;

	if (k->lang == AB_PERL && ab_code_is_text(k, t, "push")) {
		/* push @c, "x"; push(@c, "x") */
		while (ab_lexer_next(&x, &list) &&
		       (ab_code_is_sign(k, &list, '(') ||
			ab_code_is_sign(k, &list, '@')))
			;
		if (list.kind == AB_TOKEN_WORD)
			add_rest(k, x, &list, true);
		return true;
	}
	/* list.append(c, "x") */
	if (k->lang == AB_PY && ab_code_is_text(k, t, "list") &&
	    ab_lexer_next(&x, &list) && ab_code_is_sign(k, &list, '.') &&
	    ab_lexer_next(&x, &list)) {
		note_names(k, x);
		return false;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if (!(calls[i].langs & k->lang) ||
		    !ab_code_is_text(k, t, calls[i].name) ||
		    (k->lang == AB_LUA && !ab_code_is_sign(k, before, '.')))
			continue;
		note_names(k, x);
		return true;
	}
	return false;
}

bool ab_code_read_change(struct ab_code *k, const struct ab_token *before,
			 const struct ab_token *t)
{
	const bool is_member = ab_code_is_sign(k, before, '.');
	struct ab_lexer x = k->x;
	struct ab_token next, part;

	if (!k->name_count || !ab_lexer_next(&x, &next))
		return false;
	if (read_call(k, k->x, before, t))
		return true;
	if (is_member || next.kind != AB_TOKEN_SIGN)
		return false;
	/* \@c, &$c */
	if ((k->lang == AB_PERL && t->at && x.text[t->at - 1] != '$' &&
	     before->kind == AB_TOKEN_SIGN && x.text[before->at] == '\\') ||
	    (k->lang == AB_PHP && ab_code_is_sign(k, before, '&') &&
	     before->at && memchr("= ", x.text[before->at - 1], 2)))
		note(k, t);
	switch (k->text->text[next.at]) {
	case '[':
		return (next.at == t->at + t->len || k->lang == AB_AWK) &&
		       read_index(k, x, t);
	case '.':
		if (k->lang == AB_OTHER)
			return read_java(k, x, t);
		return k->lang & (AB_PY | AB_JS | AB_RUBY) &&
		       read_method(k, x, t);
	case '<':
		if (k->lang != AB_RUBY || x.pos >= x.len ||
		    x.text[x.pos] != '<' || !ab_lexer_next(&x, &next))
			return false;
		if (!ab_code_named(k, t) && ab_code_is_linked(k, t))
			note(k, t);
		if (!ab_code_named(k, t))
			return false;
		if (ab_code_named(k, t)->is_list) {
			add_rest(k, x, t, false);
		} else {
			struct ab_named *n;
			struct ab_word w;
			uint32_t from;

			n = read_word(k, x, &w) ? ab_code_change(k, t, &from)
						: NULL;
			if (n)
				ab_code_add_value(k, n, &w, true);
			else
				note(k, t);
		}
		return true;
	case '=':
		/* perl: $c =~ s/x/y/ */
		(void)ab_lexer_next(&x, &part); /* ~ */
		if (k->lang == AB_PERL && ab_lexer_next(&x, &part) &&
		    memchr("sty", k->text->text[part.at], 3))
			note(k, t);
		return false;
	default:
		return false;
	}
}
