/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of an inline program that stand for strings or for calls;
 * code_words.c has the words that its strings make. A name that has several
 * values may be any of them. What they are given is read in code_value.c, and
 * what changes them in code_change.c. Refuses to follow the order in which a
 * program does that.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_TOKENS 64 /* of what is read of a call */
#define MAX_LOOK 16

bool ab_code_is_sign(const struct ab_code *k, const struct ab_token *t,
		     char sign)
{
	return t->kind == AB_TOKEN_SIGN && k->text->text[t->at] == sign;
}

const struct ab_named *ab_code_named(const struct ab_code *k,
				     const struct ab_token *t)
{
	const char *s = k->text->text;

	for (uint32_t i = 0; i < k->name_count; i++) {
		const struct ab_named *n = &k->names[i];

		if (n->name.len == t->len && t->len &&
		    (n->name.quote == AB_CODE_RESULT) ==
			    (t->quote == AB_CODE_RESULT) &&
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

	if (!n || n->call || n->is_map || !n->count)
		return NULL;
	if (ab_lexer_next(&x, &next) && next.kind == AB_TOKEN_SIGN &&
	    memchr("(.[=", k->text->text[next.at], 4) &&
	    !is_split(k, &next) &&
	    !(ab_code_is_sign(k, &next, '.') &&
	      k->lang & (AB_PERL | AB_PHP | AB_LUA)))
		return NULL;
	return n;
}

/* The name stands somewhere before: in what may run later. */
static bool stands_before(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text, *at = s, *end = s + t->at;

	for (; (at = memmem(at, (size_t)(end - at), s + t->at, t->len)); at++) {
		if ((at == s || !ab_code_is_letter(at[-1])) &&
		    !ab_code_is_letter(at[t->len]))
			return true;
	}
	return false;
}

struct ab_token ab_code_bare_name(const struct ab_code *k,
				  const struct ab_token *t)
{
	struct ab_token bare = *t;

	if (k->lang == AB_PERL && t->len > 1 &&
	    k->text->text[t->at] == '$') {
		bare.at++;
		bare.len--;
	}
	return bare;
}

struct ab_named *ab_code_add_named(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_named(k, t);
	const bool is_result = t->quote == AB_CODE_RESULT;

	if (n)
		return &k->names[n - k->names];
	/* what functions return takes no room from the others */
	if (is_result ? k->result_count == AB_CODE_RESULTS
		      : k->name_count - k->result_count == AB_CODE_NAMES)
		return NULL;
	if (!k->names)
		k->names = ab_check_alloc(
			k->c, (AB_CODE_NAMES + AB_CODE_RESULTS) *
				      sizeof(*k->names));
	if (!k->names)
		return NULL;
	k->result_count += is_result;
	k->names[k->name_count] = (struct ab_named){
		.name = *t,
		.is_used = stands_before(k, t),
	};
	return &k->names[k->name_count++];
}

#define MAX_UNKNOWN 64

void ab_code_note_unknown(struct ab_code *k, const struct ab_token *t)
{
	if (t->quote == AB_CODE_RESULT) {
		struct ab_named *n = ab_code_add_named(k, t);

		if (n)
			n->is_noted = true;
		return;
	}
	if (AB_UNLIKELY(k->tool_count))
		ab_code_drop_tool(k, t);
	if (t->kind != AB_TOKEN_WORD || k->is_unknown)
		return;
	for (uint32_t i = 0; i < k->unknown_count; i++) {
		if (ab_code_is_same(k, &k->unknown[i], t))
			return;
	}
	if (!k->unknown)
		k->unknown = ab_check_alloc(k->c, MAX_UNKNOWN *
							  sizeof(*k->unknown));
	k->is_unknown = !k->unknown || k->unknown_count == MAX_UNKNOWN;
	if (!k->is_unknown)
		k->unknown[k->unknown_count++] = *t;
}

bool ab_code_is_noted(const struct ab_code *k, const struct ab_token *t)
{
	for (uint32_t i = 0; i < k->unknown_count; i++) {
		if (ab_code_is_same(k, &k->unknown[i], t))
			return true;
	}
	return k->is_unknown;
}

void ab_code_settle_names(struct ab_code *k)
{
	bool has_more;

	for (uint32_t i = 0; i < k->name_count; i++) {
		struct ab_named *n = &k->names[i];

		n->is_unknown = k->is_unknown || n->is_noted;
		for (uint32_t u = 0; u < k->unknown_count; u++)
			n->is_unknown |=
				ab_code_is_same(k, &k->unknown[u], &n->name);
	}
	/* what is made of another name knows no more than that */
	do {
		has_more = ab_code_settle_links(k);
		for (uint32_t i = 0; i < k->name_count; i++) {
			struct ab_named *n = &k->names[i];
			const struct ab_named *of =
				n->source.len ? ab_code_named(k, &n->source)
					      : NULL;

			if (!of || n->is_unknown ||
			    (!of->is_unknown && of->edits == n->source_edits))
				continue;
			n->is_unknown = has_more = true;
		}
	} while (has_more);
}

bool ab_code_is_path_type(const struct ab_code *k, const struct ab_token *t)
{
	return (k->lang == AB_PY && (ab_code_is_text(k, t, "Path") ||
				     ab_code_is_text(k, t, "PurePath") ||
				     ab_code_is_text(k, t, "PosixPath"))) ||
	       (k->lang == AB_RUBY && ab_code_is_text(k, t, "Pathname"));
}

bool ab_code_is_nothing(const struct ab_code *k, struct ab_lexer x)
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
		      const struct ab_token *name, enum ab_setting kind)
{
	const struct ab_named *n;
	uint32_t edits, from;
	struct ab_lexer value = x;
	struct ab_token first, next;
	char end;

	/* they are parameters, or noted (code_params.c) */
	if (k->functions && ab_lexer_next(&value, &first) &&
	    ((k->lang == AB_PERL && ab_code_is_text(k, &first, "shift") &&
	      ab_lexer_next(&value, &next) && ab_code_is_sign(k, &next, ';')) ||
	     (k->lang == AB_PY && ab_code_is_text(k, &first, "lambda"))))
		return;
	if (kind == AB_VALUE_MORE && !ab_code_change(k, name, &from))
		return;
	n = ab_code_named(k, name);
	edits = n ? n->edits : 0;
	end = ab_code_read_value(k, x, name, kind);
	n = ab_code_named(k, name);
	/* f(x=y) of python gives it to another one */
	if (k->lang == AB_PY && (ab_code_is_sign(k, before, '(') ||
				 ab_code_is_sign(k, before, ',')))
		return;
	if ((!n || (n->edits == edits && !n->call && !n->is_cut)) &&
	    !ab_code_is_nothing(k, x)) {
		const bool is_first = !ab_code_is_noted(k, name);

		ab_code_note_unknown(k, name);
		if (is_first && kind == AB_VALUE_SET)
			ab_code_note_tool(k, x, name);
	}
	/* x = "a", "b" is a list */
	if (end == ',' && n && k->lang & (AB_PY | AB_RUBY))
		ab_code_note_unknown(k, name);
}

#define MAX_TUPLE 8

/* a, b = "a", "b": behind the sign. */
static bool set_tuple(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *names, uint32_t n)
{
	struct ab_made all[MAX_TUPLE];
	struct ab_token t = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		bool is_end;

		if (!ab_code_read_expr(k, &x, &all[i], AB_NEED_ANY))
			return false;
		is_end = !ab_lexer_next(&x, &t) || t.is_line ||
			 ab_code_is_sign(k, &t, ';');
		if (is_end != (i + 1 == n) ||
		    (!is_end && !ab_code_is_sign(k, &t, ',')))
			return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!ab_code_set_made(k, &names[i], &all[i], false))
			ab_code_note_unknown(k, &names[i]);
	}
	k->tuple_at = names[n - 1].at;
	return true;
}

/* a, b = f(): behind the first of them. */
static void note_tuple(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *first)
{
	struct ab_token all[MAX_TUPLE], t;
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
	if (set_tuple(k, x, all, n))
		return;
	for (uint32_t i = 0; i < n; i++)
		ab_code_note_unknown(k, &all[i]);
}

void ab_code_cut_name(struct ab_code *k, const struct ab_token *t)
{
	struct ab_named *n = ab_code_add_named(k, t);

	if (n)
		n->is_cut = true;
}

void ab_code_read_param(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	const struct ab_named *n = ab_code_named(k, name);
	uint32_t count = n ? n->count : 0;

	(void)ab_code_read_value(k, x, name, AB_VALUE_SET);
	n = ab_code_named(k, name);
	if (!n || n->count == count) {
		ab_code_cut_name(k, name);
		k->waits = true; /* names are not known yet */
		ab_code_wait(k, x, name, false);
	}
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
			n = ab_code_add_named(k, name);
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
	const struct ab_named *from =
		ab_code_next_byte(k->text, list->at + list->len) == '('
			? ab_code_result(k, list)
			: ab_code_named(k, list);
	struct ab_named *n;

	if (!from || from->call || !(from->is_list || from->is_map))
		return;
	n = ab_code_add_named(k, name);
	if (!n || n == from)
		return;
	if (n->count && n->is_list != from->is_nested)
		n->is_any = true;
	n->is_list |= from->is_nested;
	n->is_cut |= from->is_cut;
	if (n->source.len && !ab_code_is_same(k, &n->source, list))
		ab_code_note_unknown(k, name);
	n->source = from->name;
	n->source_edits = from->edits;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct ab_word w = from->words[i];

		if (from->is_nested && n->count < AB_CODE_VALUES)
			n->begins |= (from->begins >> i & 1) << n->count;
		ab_code_add_value(k, n, &w, false);
	}
}

/* What a loop goes through, at the lexer: its first token, with what only
   hands the list on left out. Of a part of each, what enumerate() and items()
   have. False: that is not known. */
static bool begins_list(struct ab_code *k, struct ab_lexer *list,
			struct ab_token *t, bool is_parts)
{
	static const char *const same[] = { "sorted", "reversed", "list",
					    "tuple",  "set",	  "ipairs",
					    "enumerate" };
	bool has_parts = false;
	struct ab_lexer x = *list;
	struct ab_token next;

	if (!ab_lexer_next(&x, t))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(same); i++) {
		struct ab_lexer behind = x;

		if (!ab_code_is_text(k, t, same[i]) ||
		    !ab_lexer_next(&behind, &next) ||
		    !ab_code_is_sign(k, &next, '('))
			continue;
		has_parts = i + 2 >= AB_ARRAY_LEN(same);
		*list = x = behind;
		if (!ab_lexer_next(&x, t))
			return false;
		break;
	}
	/* perl: (@x) */
	if (k->lang == AB_PERL && ab_code_is_sign(k, t, '(')) {
		struct ab_lexer inner = x;

		if (ab_lexer_next(&inner, &next) &&
		    ab_code_is_sign(k, &next, '@') &&
		    ab_lexer_next(&inner, t) && t->kind == AB_TOKEN_WORD)
			return ab_lexer_next(&inner, &next) &&
			       ab_code_is_sign(k, &next, ')');
		return true;
	}
	if (t->kind == AB_TOKEN_WORD) {
		const struct ab_named *n = ab_code_named(k, t);
		bool is_map = n && n->is_map;

		if (!ab_lexer_next(&x, &next))
			return !is_parts && !is_map;
		if (!is_map)
			return has_parts == is_parts &&
			       !(next.kind == AB_TOKEN_SIGN && !next.is_line &&
				 memchr(".[(+*%", k->text->text[next.at], 6));
		return ab_code_is_sign(k, &next, '.') &&
		       ab_lexer_next(&x, &next) &&
		       ab_code_is_text(k, &next,
				       is_parts ? "items" : "values");
	}
	return has_parts == is_parts || ab_code_is_sign(k, t, '{');
}

/* perl: what a loop goes through may be changed by it. */
static bool changes_each(const struct ab_code *k)
{
	static const char *const signs[] = { "$_ =", "$_=", "s/",  "s{", "s|",
					     "s,",   "tr/", "y/",  "s#", "$_ .",
					     "$_." };
	const char *s = k->text->text, *end = s + k->text->len, *at;

	for (size_t i = 0; i < AB_ARRAY_LEN(signs); i++) {
		size_t n = strlen(signs[i]);

		for (at = s; (at = memmem(at, (size_t)(end - at), signs[i], n));
		     at++) {
			if (at == s || !(ab_code_is_letter(at[-1]) ||
					 memchr("$@%", at[-1], 3)))
				return true;
		}
	}
	return false;
}

/* php: foreach (x as $k => $v), behind the bracket. */
static void read_foreach(struct ab_code *k, struct ab_lexer x)
{
	const struct ab_lexer list = x;
	struct ab_token first, name, t;
	const struct ab_named *known;
	uint32_t i = 0, edits;

	if (!ab_lexer_next(&x, &first))
		return;
	t = first;
	while (!ab_code_is_text(k, &t, "as") && i++ < MAX_TOKENS &&
	       ab_lexer_next(&x, &t))
		;
	if (!ab_code_is_text(k, &t, "as") || !ab_lexer_next(&x, &name) ||
	    !ab_lexer_next(&x, &t))
		return;
	if (ab_code_is_sign(k, &name, '&'))
		name = t;
	if (ab_code_is_sign(k, &t, '=')) {
		ab_code_note_unknown(k, &name);
		(void)ab_lexer_next(&x, &t); /* > */
		(void)ab_lexer_next(&x, &name);
	}
	known = ab_code_named(k, &name);
	edits = known ? known->edits : 0;
	if (first.kind == AB_TOKEN_WORD && i == 1)
		copy_values(k, &name, &first);
	else if (ab_code_is_sign(k, &first, '['))
		(void)ab_code_read_value(k, list, &name, AB_VALUE_EACH);
	known = ab_code_named(k, &name);
	if (!known || known->edits == edits)
		ab_code_note_unknown(k, &name);
}

/* What is there is gone through: os.listdir(x). */
static bool is_listing(const struct ab_code *k, struct ab_lexer x)
{
	static const char *const names[] = { "listdir", "readdirSync",
					     "readdir", "iterdir", "children",
					     "each_child", "entries" };
	struct ab_token t;

	for (uint32_t i = 0; i < MAX_LOOK && ab_lexer_next(&x, &t); i++) {
		if ((t.is_line && i) || ab_code_is_sign(k, &t, ':'))
			return false;
		if (ab_code_is_one_of(k, &t, names, AB_ARRAY_LEN(names)))
			return true;
	}
	return false;
}

/* for p in Path("x").glob("y"), for n in os.listdir("x"). */
static bool read_walked(struct ab_code *k, struct ab_lexer list,
			const struct ab_token *name)
{
	struct ab_lexer x = list;
	struct ab_made m;

	if (ab_code_read_expr(k, &x, &m, AB_NEED_WALKED) &&
	    (m.is_list || m.is_path) &&
	    ab_code_set_made(k, name, &m, true))
		return true;
	ab_code_wait(k, list, name, true);
	if (k->entry_count < AB_CODE_ENTRIES && is_listing(k, list))
		k->entries[k->entry_count++] = *name;
	return false;
}

/* for x in, for (const x of, foreach my $x (; t stands behind the first. */
static void read_loop(struct ab_code *k, struct ab_lexer x, struct ab_token t)
{
	static const char *const declare[] = { "const", "let", "var", "my",
					       "our" };
	const struct ab_named *known;
	struct ab_token name, bare;
	struct ab_lexer list;
	uint32_t edits;
	bool is_parts;
	char end = 0;

	if (k->lang == AB_PHP) {
		read_foreach(k, x);
		return;
	}
	if (ab_code_is_sign(k, &t, '(') && !ab_lexer_next(&x, &t))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(declare); i++) {
		if (ab_code_is_text(k, &t, declare[i]) &&
		    !ab_lexer_next(&x, &t))
			return;
	}
	/* perl: s/x/y/ for @c */
	if (k->changes_each && !ab_code_is_text(k, &t, "my") &&
	    !ab_code_is_text(k, &t, "our")) {
		name = t;
		for (uint32_t i = 0; i < 3 && name.kind != AB_TOKEN_WORD &&
				     ab_lexer_next(&x, &name); i++)
			;
		bare = ab_code_bare_name(k, &name);
		ab_code_note_unknown(k, &name);
		ab_code_note_unknown(k, &bare);
		if (t.kind != AB_TOKEN_WORD)
			return;
	}
	name = t;
	list = x;
	if (name.kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &t))
		return;
	/* for k, v in: parts of what the list has */
	is_parts = ab_code_is_sign(k, &t, ',');
	if (is_parts)
		ab_code_note_unknown(k, &name);
	for (uint32_t i = 0; i < 8 && ab_code_is_sign(k, &t, ',') &&
			     ab_lexer_next(&x, &name); i++) {
		list = x;
		if (!ab_lexer_next(&x, &t))
			return;
		if (ab_code_is_sign(k, &t, ','))
			ab_code_note_unknown(k, &name);
	}
	if (ab_code_is_text(k, &t, "in") || ab_code_is_text(k, &t, "of"))
		list = x;
	else if (k->lang != AB_PERL || !ab_code_is_sign(k, &t, '('))
		return;
	if (!is_parts && read_walked(k, list, &name))
		return;
	known = ab_code_named(k, &name);
	edits = known ? known->edits : 0;
	if (begins_list(k, &list, &t, is_parts)) {
		if (t.kind == AB_TOKEN_WORD)
			copy_values(k, &name, &t);
		else
			end = ab_code_read_value(k, list, &name,
						 AB_VALUE_EACH);
	} else if (!is_parts && t.kind == AB_TOKEN_WORD) {
		/* list + more, list[1:]: among others those */
		copy_values(k, &name, &t);
		ab_code_note_unknown(k, &name);
	}
	known = ab_code_named(k, &name);
	/* for x in "a", "b" */
	if (!known || known->edits == edits || end == ',')
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

#define MAX_OPEN 8

/* The tokens before the one at hand, the last one first, and the place before
   the last list that was written out and ended. */
struct trail {
	struct ab_token last[2];
	struct ab_token set; /* the name that was given something last */
	struct ab_lexer list;
	struct ab_lexer open[MAX_OPEN]; /* of those that have not ended */
	uint32_t depth;
};

/* ["a", "b"].forEach(p =>, x.each { |p|. */
static void read_each(struct ab_code *k, const struct trail *trail,
		      const struct ab_token *t)
{
	static const char *const names[] = { "forEach", "map", "each", "some",
					     "every", "filter", "flatMap" };
	const struct ab_named *known;
	struct ab_token name;
	bool is_each = false;
	uint32_t edits;

	if (!ab_code_is_sign(k, &trail->last[0], '.'))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		is_each |= ab_code_is_text(k, t, names[i]);
	if (!(is_each || k->lang == AB_RUBY) || !is_parameter(k, k->x, &name))
		return;
	known = ab_code_named(k, &name);
	edits = known ? known->edits : 0;
	if (!is_each)
		edits = 0;
	else if ((ab_code_is_sign(k, &trail->last[1], ']') ||
	     trail->last[1].quote == 'w') && trail->list.text)
		(void)ab_code_read_value(k, trail->list, &name, AB_VALUE_EACH);
	else if (trail->last[1].kind == AB_TOKEN_WORD)
		copy_values(k, &name, &trail->last[1]);
	known = ab_code_named(k, &name);
	if (!known || !is_each || known->edits == edits)
		ab_code_note_unknown(k, &name);
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

/* `%=`, `||=`, `<<=`: what is made of it is not known; t is the sign. */
static bool is_operator(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;
	uint32_t n = 0, most = k->text->len - t->at;

	while (n < 3 && n < most && memchr("%*|&^?<>/@-", s[n], 11))
		n++;
	return t->kind == AB_TOKEN_SIGN && n && n + 1 < most && s[n] == '=' &&
	       !memchr("=~", s[n + 1], 2) &&
	       !(n == 1 && memchr("<>", *s, 2));
}

/* my ($a, $b) = f(), list($a, $b) = f(), const [a, b] = f(). */
static void note_parts(struct ab_code *k, struct ab_lexer x)
{
	const struct ab_lexer start = x;
	struct ab_token t;
	uint32_t n = 0;

	if (!ab_lexer_next(&x, &t) || t.kind != AB_TOKEN_SIGN ||
	    !memchr("([{", k->text->text[t.at], 3))
		return;
	while (n++ < MAX_TOKENS && ab_lexer_next(&x, &t) &&
	       !(t.kind == AB_TOKEN_SIGN &&
		 memchr(")]};=", k->text->text[t.at], 5)))
		;
	/* who knows which names are given something */
	if (n > MAX_TOKENS) {
		k->is_unknown = true;
		return;
	}
	if (!ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, '='))
		return;
	/* what a function is called with */
	if (ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '@') &&
	    ab_lexer_next(&x, &t) && ab_code_is_text(k, &t, "_"))
		return;
	x = start;
	while (n-- && ab_lexer_next(&x, &t))
		ab_code_note_unknown(k, &t);
}

/* p: str = "x", const p: string = "x"; x is behind the colon, and in the end
   behind the sign. A type is short, and no word of the language. */
static bool is_annotated(const struct ab_code *k, struct ab_lexer *x,
			 const struct ab_token *before,
			 const struct ab_token *t)
{
	static const char *const kinds[] = { "let", "const", "var" };
	static const char *const others[] = { "else", "try", "finally" };
	const char *s = k->text->text;
	struct ab_token type;

	if (k->lang == AB_PY
		    ? !(t->is_line || !before->kind ||
			ab_code_is_sign(k, before, ';')) ||
			      ab_code_is_one_of(k, t, others,
						AB_ARRAY_LEN(others))
		    : k->lang != AB_JS ||
			      !ab_code_is_one_of(k, before, kinds,
						 AB_ARRAY_LEN(kinds)))
		return false;
	for (uint32_t i = 0; i < 16 && ab_lexer_next(x, &type) &&
			     !type.is_line; i++) {
		if (ab_code_is_sign(k, &type, '='))
			return x->pos >= x->len || !memchr("=>~", s[x->pos], 3);
		if (type.kind == AB_TOKEN_SIGN &&
		    !memchr(".[],|<>", s[type.at], 7))
			return false;
	}
	return false;
}

/* True: the name is given something there, and not used. */
static bool look_at(struct ab_code *k, const struct ab_token *before,
		    const struct ab_token *t)
{
	const char *s = k->text->text;
	const bool is_member = ab_code_is_sign(k, before, '.');
	struct ab_lexer x = k->x, typed;
	struct ab_token next, name;
	struct ab_named *n;
	uint32_t edits;
	uint8_t call;

	if (!ab_lexer_next(&x, &next))
		return false;
	typed = x;
	if (ab_code_is_sign(k, &next, '=')) {
		/* no `==`, `=>` or `=~`, and no x.name */
		if (x.pos < x.len && s[x.pos] == '~')
			return ab_code_read_change(k, before, t);
		if ((x.pos < x.len && memchr("=>", s[x.pos], 2)) ||
		    (is_member && !ab_code_is_own_member(k, before)))
			return false;
		if (is_member && ab_code_is_itself(k, x, t))
			return true;
		if (k->tuple_at && t->at == k->tuple_at)
			return true;
		set_value(k, x, before, t, AB_VALUE_SET);
		return true;
	} else if (ab_code_is_sign(k, &next, ':') && x.pos < x.len &&
		   s[x.pos] == '=') {
		(void)ab_lexer_next(&x, &next); /* (x := f()) */
		n = ab_code_add_named(k, t);
		edits = n ? n->edits : 0;
		(void)ab_code_read_value(k, x, t, AB_VALUE_SET);
		if (!n || n->edits == edits)
			ab_code_note_unknown(k, t);
	} else if (ab_code_is_sign(k, &next, ':') &&
		   is_annotated(k, &typed, before, t)) {
		set_value(k, typed, before, t, AB_VALUE_SET);
	} else if (ab_code_is_sign(k, &next, ',') &&
		   (t->is_line || !before->kind ||
		    ab_code_is_sign(k, before, ';'))) {
		note_tuple(k, x, t);
	} else if ((k->lang == AB_AWK && ab_code_is_text(k, t, "getline")) ||
		   (k->lang == AB_PY && ab_code_is_text(k, t, "as"))) {
		ab_code_note_unknown(k, &next);
	} else if (ab_code_is_text(k, t, "my") ||
		   ab_code_is_text(k, t, "our") ||
		   (k->lang == AB_PHP && ab_code_is_text(k, t, "list")) ||
		   ab_code_is_text(k, t, "let") ||
		   ab_code_is_text(k, t, "const") ||
		   ab_code_is_text(k, t, "var")) {
		note_parts(k, k->x);
	} else if (ab_code_is_sign(k, &next, '<') && x.pos < x.len &&
		   s[x.pos] == '-' && !strcmp(k->name, "r")) {
		if (ab_lexer_next(&x, &next))
			set_value(k, x, before, t, AB_VALUE_SET);
	} else if (ab_code_is_joint(k, &next) && x.pos < x.len &&
		   s[x.pos] == '=') {
		if (ab_lexer_next(&x, &next) && !is_member)
			set_value(k, x, before, t, AB_VALUE_MORE);
		return true;
	} else if (!is_member && is_operator(k, &next)) {
		ab_code_note_unknown(k, t);
	} else if (ab_code_is_text(k, t, "for") ||
		   ab_code_is_text(k, t, "foreach")) {
		read_loop(k, x, next);
	} else if (((k->lang & (AB_PY | AB_JS) &&
		     ab_code_is_text(k, &next, "as")) ||
		    (k->lang == AB_JS && ab_code_is_sign(k, &next, ':'))) &&
		   (call = ab_code_call(k, t)) && ab_lexer_next(&x, &name) &&
		   name.kind == AB_TOKEN_WORD &&
		   (n = ab_code_add_named(k, &name))) {
		n->call = call;
	} else {
		return ab_code_read_change(k, before, t);
	}
	return false;
}

/* What stands for the name is used before what comes. */
static void note_use(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_token bare = ab_code_bare_name(k, t);
	const struct ab_named *all[] = { ab_code_named(k, t),
					 ab_code_named(k, &bare) };

	for (size_t i = 0; i < AB_ARRAY_LEN(all); i++) {
		if (all[i])
			k->names[all[i] - k->names].is_used = true;
	}
}

/* Lists that begin and end. */
static void note_list(struct ab_code *k, struct trail *trail,
		      const struct ab_lexer *at, const struct ab_token *t)
{
	if (t->quote == 'w') {
		trail->list = *at;
	} else if (ab_code_is_sign(k, t, '[')) {
		if (trail->depth < MAX_OPEN)
			trail->open[trail->depth] =
				is_list(k, &trail->last[0], t)
					? *at
					: (struct ab_lexer){ .text = NULL };
		trail->depth++;
	} else if (ab_code_is_sign(k, t, ']') && trail->depth) {
		trail->depth--;
		trail->list = trail->depth < MAX_OPEN
				      ? trail->open[trail->depth]
				      : (struct ab_lexer){ .text = NULL };
	}
}

void ab_code_find_names(struct ab_code *k)
{
	struct ab_token t;
	struct ab_lexer start = k->x, at = k->x;
	struct trail trail = { 0 };

	k->changes_each = k->lang == AB_PERL && changes_each(k);
	/* what stands below may run before */
	k->has_functions = k->lang == AB_AWK ||
			   (k->lang & (AB_JS | AB_PHP | AB_PERL) &&
			    (ab_code_has_name(k, "function") ||
			     ab_code_has_name(k, "sub") ||
			     memmem(k->text->text, k->text->len, "=>", 2)));
	/* those that are known get values to the end */
	while (ab_lexer_next(&k->x, &t)) {
		if (t.kind == AB_TOKEN_WORD) {
			if (!look_at(k, &trail.last[0], &t) && k->name_count)
				note_use(k, &t);
			ab_code_read_result(k, &trail.last[0], &t);
			read_each(k, &trail, &t);
			if (ab_code_is_text(k, &t, "promisify") ||
			    ab_code_is_text(k, &t, "partial"))
				read_wrapped(k, &trail.set);
		}
		note_list(k, &trail, &at, &t);
		if (ab_code_is_sign(k, &t, '{'))
			k->braces++;
		else if (ab_code_is_sign(k, &t, '}'))
			k->braces -= k->braces > 0;
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
