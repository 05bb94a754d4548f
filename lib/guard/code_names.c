/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of an inline program that stand for strings or for calls;
 * code_words.c has the words that its strings make. A name that has several
 * values may be any of them. Refuses to follow where a program changes them as
 * it runs.
 */
#include "config.h"

#include "guard/code.h"

#include <assert.h>
#include <string.h>

#define MAX_TOKENS 64 /* of a value */

bool ab_code_is_sign(const struct ab_code *k, const struct ab_token *t,
		     char sign)
{
	return t->kind == AB_TOKEN_SIGN && k->text->text[t->at] == sign;
}

bool ab_code_is_text(const struct ab_code *k, const struct ab_token *t,
		     const char *s)
{
	return t->kind == AB_TOKEN_WORD && t->len == strlen(s) &&
	       !memcmp(k->text->text + t->at, s, t->len);
}

const struct ab_named *ab_code_named(const struct ab_code *k,
				     const struct ab_token *t)
{
	const char *s = k->text->text;

	for (uint32_t i = 0; i < k->name_count; i++) {
		const struct ab_named *n = &k->names[i];

		if (n->name.len == t->len && t->len &&
		    !memcmp(s + n->name.at, s + t->at, t->len))
			return n;
	}
	return NULL;
}

/* x.split(): the words of the line that x is. */
static bool is_split(const struct ab_code *k, const struct ab_token *dot)
{
	static const char split[] = ".split(";
	const size_t n = sizeof(split) - 1;

	return k->text->len - dot->at >= n &&
	       !memcmp(k->text->text + dot->at, split, n);
}

const struct ab_named *ab_code_value(const struct ab_code *k,
				     const struct ab_token *t)
{
	const struct ab_named *n = t->kind == AB_TOKEN_WORD && k->name_count
					   ? ab_code_named(k, t)
					   : NULL;
	struct ab_lexer x = k->x;
	struct ab_token next;

	if (!n || n->call || !n->count)
		return NULL;
	if (ab_lexer_next(&x, &next) && next.kind == AB_TOKEN_SIGN &&
	    memchr("(.[=", k->text->text[next.at], 4) &&
	    !is_split(k, &next) &&
	    !(ab_code_is_sign(k, &next, '.') &&
	      k->lang & (AB_PERL | AB_PHP | AB_LUA)))
		return NULL;
	return n;
}

static struct ab_named *add_named(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_named(k, t);

	if (n)
		return &k->names[n - k->names];
	if (k->name_count == AB_CODE_NAMES)
		return NULL;
	if (!k->names)
		k->names = ab_check_alloc(k->c, AB_CODE_NAMES *
							sizeof(*k->names));
	if (!k->names)
		return NULL;
	k->names[k->name_count] = (struct ab_named){ .name = *t };
	return &k->names[k->name_count++];
}

static bool is_same(const struct ab_code *k, const struct ab_token *a,
		    const struct ab_token *b)
{
	const char *s = k->text->text;

	return a->len == b->len && !memcmp(s + a->at, s + b->at, a->len);
}

#define MAX_UNKNOWN 64

void ab_code_note_unknown(struct ab_code *k, const struct ab_token *t)
{
	if (t->kind != AB_TOKEN_WORD || k->is_unknown)
		return;
	for (uint32_t i = 0; i < k->unknown_count; i++) {
		if (is_same(k, &k->unknown[i], t))
			return;
	}
	if (!k->unknown)
		k->unknown = ab_check_alloc(k->c, MAX_UNKNOWN *
							  sizeof(*k->unknown));
	k->is_unknown = !k->unknown || k->unknown_count == MAX_UNKNOWN;
	if (!k->is_unknown)
		k->unknown[k->unknown_count++] = *t;
}

void ab_code_settle_names(struct ab_code *k)
{
	for (uint32_t i = 0; i < k->name_count; i++) {
		struct ab_named *n = &k->names[i];

		n->is_unknown = k->is_unknown;
		for (uint32_t u = 0; u < k->unknown_count; u++)
			n->is_unknown |= is_same(k, &k->unknown[u], &n->name);
	}
}

static_assert(AB_CODE_VALUES <= 32, "a bit for each value");

static void add_value(struct ab_code *k, struct ab_named *n,
		      const struct ab_token *t, enum ab_piece piece)
{
	struct ab_word w;

	if (n->is_cut)
		return;
	if (piece == AB_PIECE_HOLE) {
		if (n->count)
			ab_code_hole(k, &n->words[n->count - 1]);
	} else if (piece != AB_PIECE_OTHER && ab_code_word(k, t, &w)) {
		if (piece == AB_PIECE_MORE && n->count)
			ab_code_append(k, &n->words[n->count - 1], &w);
		else if (n->count < AB_CODE_VALUES)
			n->words[n->count++] = w;
		else
			n->is_cut = true;
	}
}

bool ab_code_is_path_type(const struct ab_code *k, const struct ab_token *t)
{
	return (k->lang == AB_PY && (ab_code_is_text(k, t, "Path") ||
				     ab_code_is_text(k, t, "PurePath") ||
				     ab_code_is_text(k, t, "PosixPath"))) ||
	       (k->lang == AB_RUBY && ab_code_is_text(k, t, "Pathname"));
}

/* Nothing is made of it, or the same path; the lexer is behind it. */
static bool is_plain_path(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || t.is_line)
		return true;
	if (ab_code_is_sign(k, &t, '.') && ab_lexer_next(&x, &t))
		return ab_code_is_text(k, &t, "resolve") ||
		       ab_code_is_text(k, &t, "absolute") ||
		       ab_code_is_text(k, &t, "expanduser");
	return !ab_code_is_sign(k, &t, '/') && !ab_code_is_sign(k, &t, '+');
}

enum value_kind {
	VALUE_SET,  /* name = */
	VALUE_MORE, /* name += */
	VALUE_EACH  /* for name in */
};

/* What stands behind `name =` or `for name in`. */
static void read_value(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name, enum value_kind kind)
{
	enum ab_joint joint = AB_JOINT_NONE;
	struct ab_token t, last = { 0 };
	struct ab_named *n = NULL;
	bool is_path = true; /* os.system, and no more */
	bool had = false, begins = false, is_list = false, is_file = false;
	uint32_t depth = 0, i = 0, from = 0, lists = 0;

	for (; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		bool is_text = t.kind == AB_TOKEN_STRING;
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;

		if (!depth && i && (t.is_line || (ch && memchr(";,)}]", ch, 5))))
			break;
		if (ch && memchr("([", ch, 2)) {
			is_path = is_path && i && ch == '(' && depth;
			is_file |= i && !depth &&
				   ab_code_is_path_type(k, &last);
			/* a call, unless it begins a list */
			if (i && !depth && joint == AB_JOINT_NONE && !is_file)
				break;
			/* for x in [["a", "b"], ["c"]] */
			if (begins && depth == 1 && ch == '[' &&
			    (!n || n->count < AB_CODE_VALUES))
				lists |= UINT32_C(1) << (n ? n->count : 0);
			depth++;
			begins |= !i;
		} else if (ch && memchr(")]", ch, 2) &&
			   (!depth || !--depth)) {
			last = t;
			break;
		}
		is_path = is_path && (t.kind == AB_TOKEN_WORD || ch == '.');
		if (!is_path && !is_text && !n && !(ch && memchr("([", ch, 2)))
			break;
		if (is_text && !n) {
			n = add_named(k, name);
			if (!n)
				return;
			from = n->count;
			had = from > 0;
		}
		if (n && is_text && t.quote == 'w') {
			struct ab_token w = { .at = t.at };

			while (ab_code_bare_word(k, &t, &w))
				add_value(k, n, &w, AB_PIECE_NEW);
			is_list = true;
		} else if (n) {
			enum ab_piece piece =
				ab_code_piece(k, &joint, &t, is_text);

			if (kind == VALUE_MORE && !begins &&
			    piece == AB_PIECE_NEW)
				piece = AB_PIECE_MORE;
			add_value(k, n, &t, piece);
		}
		/* ("a") is no list */
		is_list |= ch && ((ch == '[' && !i) ||
				  (ch == ',' && depth == 1 && begins));
		last = t;
	}
	/* for p in Path("x").glob("*"), Path("x") / "y" */
	if (n && is_file && (kind != VALUE_SET || !is_plain_path(k, x))) {
		n->count = from;
		return;
	}
	if (n) {
		/* what was not read may be the end of its last value */
		n->is_cut |= i == MAX_TOKENS;
		is_list &= kind != VALUE_EACH || lists;
		n->begins |= lists;
		n->is_path |= is_file;
		if (is_list && kind == VALUE_SET && from < AB_CODE_VALUES)
			n->begins |= UINT32_C(1) << from | (from > 0);
		n->is_any |= had && n->is_list != is_list &&
			     kind != VALUE_MORE;
		n->is_list |= is_list;
	}
	if (is_path && last.kind == AB_TOKEN_WORD && ab_code_call(k, &last) &&
	    (n = add_named(k, name)))
		n->call = ab_code_call(k, &last);
}

static bool begins_text(struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_STRING;
}

/* None, 0: before it is given something. */
static bool is_nothing(const struct ab_code *k, struct ab_lexer x)
{
	static const char *const words[] = { "None", "null", "nil", "undefined",
					     "True", "False", "true", "false" };
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || t.kind != AB_TOKEN_WORD)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (ab_code_is_text(k, &t, words[i]))
			return true;
	}
	return k->text->text[t.at] >= '0' && k->text->text[t.at] <= '9';
}

/* The same, and whether that is not known. */
static void set_value(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *before,
		      const struct ab_token *name, enum value_kind kind)
{
	const struct ab_named *n = ab_code_named(k, name);
	uint32_t count = n ? n->count : 0;
	bool was_cut = n && n->is_cut;

	read_value(k, x, name, kind);
	n = ab_code_named(k, name);
	/* `x += "a"` makes a value longer */
	/* f(x=y) of python gives it to another one */
	if (k->lang == AB_PY && (ab_code_is_sign(k, before, '(') ||
				 ab_code_is_sign(k, before, ',')))
		return;
	if ((!n || (n->count == count && !n->call && !was_cut)) &&
	    !(n && kind == VALUE_MORE && begins_text(x)) &&
	    !is_nothing(k, x))
		ab_code_note_unknown(k, name);
}

/* a, b = f(): behind the first of them. */
static void note_tuple(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *first)
{
	struct ab_token all[8], t;
	uint32_t n = 0;

	all[n++] = *first;
	while (n < AB_ARRAY_LEN(all) && ab_lexer_next(&x, &t) && !t.is_line) {
		if (t.kind == AB_TOKEN_WORD)
			all[n++] = t;
		else if (ab_code_is_sign(k, &t, '='))
			break;
		else if (!ab_code_is_sign(k, &t, ',') &&
			 !ab_code_is_sign(k, &t, '*'))
			return;
	}
	if (!ab_code_is_sign(k, &t, '=') ||
	    (x.pos < x.len && x.text[x.pos] == '='))
		return;
	for (uint32_t i = 0; i < n; i++)
		ab_code_note_unknown(k, &all[i]);
}

/* x.append("a"), x.extend(["a", "b"]), x.push("a"), behind the name. */
static void read_append(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	static const char *const names[] = { "append", "extend", "push" };
	const struct ab_named *known = ab_code_named(k, name);
	struct ab_named *n;
	struct ab_token t;
	bool is_append = false;

	if (!known || !known->is_list || !ab_lexer_next(&x, &t))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		is_append |= ab_code_is_text(k, &t, names[i]);
	if (!is_append || !ab_lexer_next(&x, &t))
		return;
	n = &k->names[known - k->names];
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t) &&
			     !t.is_line && !ab_code_is_sign(k, &t, ')'); i++) {
		if (t.kind == AB_TOKEN_STRING)
			add_value(k, n, &t, AB_PIECE_NEW);
	}
}

void ab_code_cut_name(struct ab_code *k, const struct ab_token *t)
{
	struct ab_named *n = add_named(k, t);

	if (n)
		n->is_cut = true;
}

void ab_code_read_param(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	const struct ab_named *n = ab_code_named(k, name);
	uint32_t count = n ? n->count : 0;

	read_value(k, x, name, VALUE_SET);
	n = ab_code_named(k, name);
	if (!n || n->count == count)
		ab_code_cut_name(k, name);
}

void ab_code_read_rest(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name)
{
	struct ab_named *n = add_named(k, name);
	struct ab_token t;

	if (!n)
		return;
	n->is_list = true;
	if (n->count < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << n->count;
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		if (ab_code_is_sign(k, &t, ')'))
			return;
		if (t.kind == AB_TOKEN_STRING)
			add_value(k, n, &t, AB_PIECE_NEW);
		else if (!ab_code_is_sign(k, &t, ','))
			break;
	}
	n->is_cut = true;
}

/* x = promisify(y.exec), x = partial(os.system): another name of the call;
   behind the word. */
static void read_wrapped(struct ab_code *k, const struct ab_token *name)
{
	struct ab_lexer x = k->x;
	struct ab_token t, last = { 0 };
	struct ab_named *n;

	if (!name->len || !ab_lexer_next(&x, &t) ||
	    !ab_code_is_sign(k, &t, '('))
		return;
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t) &&
			     (t.kind != AB_TOKEN_SIGN ||
			      memchr(".()", k->text->text[t.at], 3)); i++) {
		if (t.kind == AB_TOKEN_WORD)
			last = t;
		else if (!ab_code_is_sign(k, &t, '.'))
			last.kind = ab_code_is_sign(k, &t, '(') ? 0 : last.kind;
		if (ab_code_is_sign(k, &t, ')') && last.kind &&
		    ab_code_call(k, &last)) {
			n = add_named(k, name);
			if (n)
				n->call = ab_code_call(k, &last);
			return;
		}
	}
}

/* What goes through a list that has a name is any of its values. */
static void copy_values(struct ab_code *k, const struct ab_token *name,
			const struct ab_token *list)
{
	const struct ab_named *from = ab_code_named(k, list);
	struct ab_named *n;

	if (!from || from->call || !from->is_list)
		return;
	n = add_named(k, name);
	if (!n || n == from)
		return;
	n->is_any |= n->is_list;
	n->is_cut |= from->is_cut;
	for (uint32_t i = 0; i < from->count; i++) {
		if (n->count < AB_CODE_VALUES)
			n->words[n->count++] = from->words[i];
		else
			n->is_cut = true;
	}
}

/* for x in, for (const x of, foreach my $x (; t stands behind the first. */
static void read_loop(struct ab_code *k, struct ab_lexer x, struct ab_token t)
{
	static const char *const declare[] = { "const", "let", "var", "my",
					       "our" };
	const struct ab_named *known;
	struct ab_token name;
	struct ab_lexer list;
	uint32_t count;

	if (ab_code_is_sign(k, &t, '(') && !ab_lexer_next(&x, &t))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(declare); i++) {
		if (ab_code_is_text(k, &t, declare[i]) &&
		    !ab_lexer_next(&x, &t))
			return;
	}
	name = t;
	list = x;
	if (name.kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &t))
		return;
	/* for k, v in: parts of what the list has */
	if (ab_code_is_sign(k, &t, ',')) {
		ab_code_note_unknown(k, &name);
		for (uint32_t i = 0; i < 8 && ab_code_is_sign(k, &t, ',') &&
				     ab_lexer_next(&x, &name); i++) {
			ab_code_note_unknown(k, &name);
			if (!ab_lexer_next(&x, &t))
				break;
		}
		return;
	}
	if (ab_code_is_text(k, &t, "in") || ab_code_is_text(k, &t, "of"))
		list = x;
	else if (k->lang != AB_PERL || !ab_code_is_sign(k, &t, '('))
		return;
	known = ab_code_named(k, &name);
	count = known ? known->count : 0;
	read_value(k, list, &name, VALUE_EACH);
	if (ab_lexer_next(&list, &t) && t.kind == AB_TOKEN_WORD)
		copy_values(k, &name, &t);
	known = ab_code_named(k, &name);
	if (!known || known->count == count)
		ab_code_note_unknown(k, &name);
}

/* p of (p =>, ((p) =>, (function (p), { |p|, do |p|. */
static bool is_parameter(struct ab_code *k, struct ab_lexer x,
			 struct ab_token *name)
{
	uint32_t open = 0;
	struct ab_token t;

	for (uint32_t i = 0; i < 6 && ab_lexer_next(&x, name); i++) {
		if (ab_code_is_sign(k, name, '(') ||
		    ab_code_is_text(k, name, "function")) {
			open++;
			continue;
		}
		if (ab_code_is_sign(k, name, '{') ||
		    ab_code_is_sign(k, name, '|') ||
		    ab_code_is_text(k, name, "async") ||
		    ab_code_is_text(k, name, "do"))
			continue;
		return name->kind == AB_TOKEN_WORD && ab_lexer_next(&x, &t) &&
		       (ab_code_is_sign(k, &t, '=') ||
			ab_code_is_sign(k, &t, '|') ||
			(open > 1 && (ab_code_is_sign(k, &t, ')') ||
				      ab_code_is_sign(k, &t, ','))));
	}
	return false;
}

/* The tokens before the one at hand, the last one first, and the place before
   the last list that was written out. */
struct trail {
	struct ab_token last[2];
	struct ab_token set; /* the name that was given something last */
	struct ab_lexer list;
};

/* ["a", "b"].forEach(p =>, x.each { |p|. */
static void read_each(struct ab_code *k, const struct trail *trail,
		      const struct ab_token *t)
{
	static const char *const names[] = { "forEach", "map", "each", "some",
					     "every", "filter", "flatMap" };
	struct ab_token name;
	bool is_each = false;

	if (!ab_code_is_sign(k, &trail->last[0], '.'))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		is_each |= ab_code_is_text(k, t, names[i]);
	if (!is_each || !is_parameter(k, k->x, &name))
		return;
	if ((ab_code_is_sign(k, &trail->last[1], ']') ||
	     trail->last[1].quote == 'w') && trail->list.text)
		read_value(k, trail->list, &name, VALUE_EACH);
	else if (trail->last[1].kind == AB_TOKEN_WORD)
		copy_values(k, &name, &trail->last[1]);
}

/* A list and no index. */
static bool is_list(const struct ab_code *k, const struct ab_token *before,
		    const struct ab_token *t)
{
	return ab_code_is_sign(k, t, '[') &&
	       before->kind != AB_TOKEN_WORD &&
	       !ab_code_is_sign(k, before, ')') &&
	       !ab_code_is_sign(k, before, ']');
}

static void look_at(struct ab_code *k, const struct ab_token *before,
		    const struct ab_token *t)
{
	const char *s = k->text->text;
	struct ab_lexer x = k->x;
	struct ab_token next, name;
	struct ab_named *n;
	uint8_t call;

	if (!ab_lexer_next(&x, &next))
		return;
	if (ab_code_is_sign(k, &next, '=')) {
		/* no `==`, `=>` or `=~`, and no x.name */
		if (!(x.pos < x.len && memchr("=>~", s[x.pos], 3)) &&
		    !ab_code_is_sign(k, before, '.'))
			set_value(k, x, before, t, VALUE_SET);
	} else if (ab_code_is_sign(k, &next, ':') && x.pos < x.len &&
		   s[x.pos] == '=') {
		ab_code_note_unknown(k, t); /* (x := f()) */
	} else if (ab_code_is_sign(k, &next, ',') &&
		   (t->is_line || !before->kind ||
		    ab_code_is_sign(k, before, ';'))) {
		note_tuple(k, x, t);
	} else if ((k->lang == AB_AWK && ab_code_is_text(k, t, "getline")) ||
		   (k->lang & (AB_PY | AB_PHP) &&
		    (ab_code_is_text(k, t, "as") ||
		     ab_code_is_text(k, t, "lambda")))) {
		ab_code_note_unknown(k, &next);
	} else if (ab_code_is_sign(k, &next, '<') && x.pos < x.len &&
		   s[x.pos] == '-' && !strcmp(k->name, "r")) {
		if (ab_lexer_next(&x, &next))
			set_value(k, x, before, t, VALUE_SET);
	} else if (ab_code_is_joint(k, &next) && x.pos < x.len &&
		   s[x.pos] == '=') {
		if (ab_lexer_next(&x, &next) &&
		    !ab_code_is_sign(k, before, '.'))
			set_value(k, x, before, t, VALUE_MORE);
	} else if (ab_code_is_sign(k, &next, '.') &&
		   k->lang & (AB_PY | AB_JS | AB_RUBY) && k->name_count) {
		read_append(k, x, t);
	} else if (ab_code_is_text(k, t, "for") ||
		   ab_code_is_text(k, t, "foreach")) {
		read_loop(k, x, next);
	} else if (((k->lang & (AB_PY | AB_JS) &&
		     ab_code_is_text(k, &next, "as")) ||
		    (k->lang == AB_JS && ab_code_is_sign(k, &next, ':'))) &&
		   (call = ab_code_call(k, t)) && ab_lexer_next(&x, &name) &&
		   name.kind == AB_TOKEN_WORD && (n = add_named(k, &name))) {
		n->call = call;
	}
}

void ab_code_find_names(struct ab_code *k)
{
	struct ab_token t;
	struct ab_lexer start = k->x, at = k->x;
	struct trail trail = { 0 };

	/* those that are known get values to the end */
	while (ab_lexer_next(&k->x, &t)) {
		if (t.kind == AB_TOKEN_WORD) {
			look_at(k, &trail.last[0], &t);
			read_each(k, &trail, &t);
			if (ab_code_is_text(k, &t, "promisify") ||
			    ab_code_is_text(k, &t, "partial"))
				read_wrapped(k, &trail.set);
		} else if (t.quote == 'w' ||
			   is_list(k, &trail.last[0], &t)) {
			trail.list = at;
		}
		if (ab_code_is_sign(k, &t, '='))
			trail.set = trail.last[0];
		else if (ab_code_is_sign(k, &t, ';'))
			trail.set.len = 0;
		at = k->x;
		trail.last[1] = trail.last[0];
		trail.last[0] = t;
	}
	k->x = start;
	k->last = NULL;
}
