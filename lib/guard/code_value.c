/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a name of an inline program is given: a string, a list of strings or of
 * lists, another call, and what is put together of those and of names that are
 * known. Refuses to compute: an element of a list that is not known is a hole,
 * and a value that something else is made of is noted as not known.
 */
#include "config.h"

#include "guard/code.h"

#include <assert.h>
#include <string.h>

#define MAX_TOKENS 128 /* of a value */
#define MAX_ROOM 1024  /* words that the names of a program have together */

static_assert(AB_CODE_VALUES <= 32, "a bit for each value");

/* Room for one more value. */
static bool has_room(struct ab_code *k, struct ab_named *n)
{
	uint32_t room = n->room ? 2 * n->room : 2;
	struct ab_word *words;

	if (n->count < n->room)
		return true;
	if (n->count >= AB_CODE_VALUES || k->value_room + room > MAX_ROOM) {
		n->is_cut = true;
		return false;
	}
	words = ab_check_alloc(k->c, room * sizeof(*words));
	if (!words)
		return false;
	if (n->count)
		memcpy(words, n->words, n->count * sizeof(*words));
	k->value_room += room;
	n->words = words;
	n->room = room;
	return true;
}

void ab_code_add_value(struct ab_code *k, struct ab_named *n,
		       const struct ab_word *w, bool is_more)
{
	/* of a list it is not known where the next one stands */
	if (n->is_cut && (n->is_list || is_more))
		return;
	n->edits++;
	if (is_more && n->count)
		ab_code_append(k, &n->words[n->count - 1], w);
	else if (has_room(k, n))
		n->words[n->count++] = *w;
}

/* A value that is not known. */
void ab_code_add_hole(struct ab_code *k, struct ab_named *n)
{
	struct ab_word w = { .text = "", .span = k->text->span };

	ab_code_hole(k, &w);
	ab_code_add_value(k, n, &w, false);
}

bool ab_code_is_hole(const struct ab_word *w)
{
	return w->hole_count && !w->len;
}

static uint32_t count_bits(uint32_t bits)
{
	uint32_t n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

uint32_t ab_code_alternatives(const struct ab_named *n)
{
	return !n->is_list ? n->count :
	       n->begins   ? count_bits(n->begins) :
			     1;
}

/* Where the last of them begins. */
static uint32_t last_begin(const struct ab_named *n)
{
	if (!n->is_list)
		return n->count - 1;
	return n->begins ? 31 - (uint32_t)__builtin_clz(n->begins) : 0;
}

static void fork_last(struct ab_code *k, struct ab_named *n)
{
	uint32_t from = last_begin(n), end = n->count;

	if (n->is_list && end < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << end | UINT32_C(1) << from;
	for (uint32_t i = from; i < end && !n->is_cut; i++) {
		const struct ab_word w = n->words[i];

		ab_code_add_value(k, n, &w, false);
	}
	n->forks++;
	k->last = NULL; /* two words may have the text now */
}

void ab_code_note_shared(struct ab_code *k, const struct ab_token *name)
{
	const struct ab_named *n = ab_code_named(k, name);

	if (n && n->source.len && (n->is_list || k->lang == AB_RUBY))
		ab_code_note_unknown(k, &n->source);
}

struct ab_named *ab_code_change(struct ab_code *k, const struct ab_token *name,
				uint32_t *from)
{
	const struct ab_named *known = ab_code_named(k, name);
	struct ab_named *n = known ? &k->names[known - k->names] : NULL;

	ab_code_note_shared(k, name);
	if (!n || n->call || (!n->count && !n->is_list) || n->is_map ||
	    n->is_any ||
	    n->is_cut || (!n->is_nested &&
			  ab_code_alternatives(n) != n->forks + 1)) {
		ab_code_note_unknown(k, name);
		return NULL;
	}
	/* what it was before may have been run */
	if (n->count && !n->is_nested && (n->is_used || k->has_functions))
		fork_last(k, n);
	n->edits++;
	*from = last_begin(n);
	return n->is_cut ? NULL : n;
}

/* --- values ------------------------------------------------------------- */

/* What is read. An element is one of a list, and the inner ones of a list of
   lists. */
struct value {
	struct ab_code *k;
	const struct ab_token *name;
	struct ab_named *n; /* once it has a value */
	enum ab_setting kind;
	enum ab_joint joint;
	struct ab_token last;
	uint32_t i; /* tokens */
	uint32_t depth, hidden; /* of brackets, and that of a call; or 0 */
	uint32_t handed; /* the depth of one that hands on what it is given */
	uint32_t base;	  /* values that the name had before */
	uint32_t lost;	  /* holes before n was made */
	uint32_t element; /* values before the element at hand */
	uint32_t heads;	  /* a bit for each that begins one of the outer list */
	char open, inner; /* what the list begins with; or 0 */
	bool is_head;	  /* an element of the outer list begins */
	bool has_word, has_other; /* in the element at hand */
	bool is_computed;
	bool has_comma, has_key;
	bool is_list, is_nested, is_call, is_file, is_changed;
};

static uint32_t count_of(const struct value *v)
{
	return v->n ? v->n->count : v->base + v->lost;
}

static bool begin(struct value *v)
{
	if (v->n)
		return true;
	v->n = ab_code_add_named(v->k, v->name);
	for (uint32_t i = 0; v->n && i < v->lost; i++)
		ab_code_add_hole(v->k, v->n);
	return v->n;
}

static void note_head(struct value *v)
{
	if (v->is_head && count_of(v) < AB_CODE_VALUES)
		v->heads |= UINT32_C(1) << count_of(v);
	v->is_head = false;
}

static void put(struct value *v, const struct ab_word *w, enum ab_piece piece)
{
	bool is_more = piece == AB_PIECE_MORE ||
		       (piece == AB_PIECE_NEW && v->kind == AB_VALUE_MORE &&
			!v->open && !v->is_list);

	if (!begin(v))
		return;
	/* a text is nothing that a list can have more of */
	if (is_more && piece == AB_PIECE_NEW && v->n->is_list) {
		v->is_changed = true;
		return;
	}
	if (!is_more) {
		v->is_computed |= v->open && (v->has_word || v->has_other);
		note_head(v);
	}
	ab_code_add_value(v->k, v->n, w, is_more);
	v->has_word = true;
}

/* An element that is not known, or not as one word. */
static void end_element(struct value *v)
{
	bool is_hole = v->is_computed || (v->has_other && !v->has_word);

	/* ("a" if x else "b") is no list */
	if (v->open == '(' && !v->has_comma && v->depth == 1)
		is_hole = false;
	if (is_hole && v->n && v->n->count > v->element)
		v->n->count = v->element;
	if (is_hole) {
		note_head(v);
		if (v->n)
			ab_code_add_hole(v->k, v->n);
		else
			v->lost++;
	}
}

static void begin_element(struct value *v)
{
	v->has_word = v->has_other = v->is_computed = false;
	v->joint = AB_JOINT_NONE;
	v->element = count_of(v);
	v->is_head |= v->depth == 1;
}

/* The values of a list that has a name, as elements. */
static void put_list(struct value *v, const struct ab_named *from)
{
	/* it may be the name's own */
	const uint32_t count = from->count;

	for (uint32_t i = 0; i < count; i++) {
		const struct ab_word w = from->words[i];

		v->has_word = v->has_other = false;
		v->is_head |= from->begins >> i & 1 && from->is_nested;
		put(v, &w, AB_PIECE_NEW);
	}
	v->is_nested |= from->is_nested;
	if (v->n)
		v->n->is_cut |= from->is_cut;
}

/* It is made of another one, which may change later on. */
static void note_source(struct value *v, const struct ab_named *from)
{
	if (!begin(v) || v->n == from)
		return;
	if (v->n->source.len && ab_code_named(v->k, &v->n->source) != from)
		v->is_changed = true;
	v->n->source = from->name;
	v->n->source_edits = from->edits;
}

/* A name of something known where a value may stand; x is behind it. */
static const struct ab_named *known_name(struct value *v, struct ab_lexer x,
					 const struct ab_token *t)
{
	const struct ab_lexer was = v->k->x;
	const struct ab_named *n;

	if (t->kind != AB_TOKEN_WORD || !v->k->name_count)
		return NULL;
	v->k->x = x;
	n = ab_code_value(v->k, t);
	v->k->x = was;
	return n;
}

/* Something is made of what the lexer is behind. */
static bool is_changed(struct value *v, struct ab_lexer x)
{
	const struct ab_lexer was = v->k->x;
	bool is_changed;

	v->k->x = x;
	is_changed = ab_code_is_changed(v->k);
	v->k->x = was;
	return is_changed;
}

/* " ".join(...) of python: the string is what stands between others. */
static bool is_separator(const struct value *v, struct ab_lexer x)
{
	struct ab_token t;

	return v->k->lang == AB_PY && ab_lexer_next(&x, &t) &&
	       ab_code_is_sign(v->k, &t, '.') && ab_lexer_next(&x, &t) &&
	       ab_code_is_text(v->k, &t, "join");
}

static bool is_prefix(const struct value *v, const struct ab_token *t)
{
	const struct ab_word *text = v->k->text;
	uint32_t end = t->at + t->len;

	return v->k->lang == AB_PY && t->kind == AB_TOKEN_WORD && t->len < 3 &&
	       end < text->len && memchr("\"'", text->text[end], 2);
}

/* c = c + "x" */
static bool take_own(struct value *v, struct ab_lexer x,
		     const struct ab_token *t)
{
	const struct ab_code *k = v->k;
	const struct ab_named *n = known_name(v, x, t);
	struct ab_token next;
	uint32_t from;

	if (!n || n->is_list || v->i || v->kind != AB_VALUE_SET ||
	    v->name->quote == AB_CODE_RESULT ||
	    t->len != v->name->len ||
	    memcmp(k->text->text + t->at, k->text->text + v->name->at,
		   t->len) != 0 ||
	    !ab_lexer_next(&x, &next) ||
	    !(ab_code_is_joint(k, &next) ||
	      (k->lang == AB_AWK && next.kind != AB_TOKEN_SIGN)))
		return false;
	v->n = ab_code_change(v->k, v->name, &from);
	v->kind = AB_VALUE_MORE;
	v->joint = AB_JOINT_STRING;
	v->has_word = v->n;
	return v->n;
}

/* True: the name was taken. */
static bool take_name(struct value *v, struct ab_lexer x,
		      const struct ab_token *t)
{
	const struct ab_named *n = known_name(v, x, t);
	const struct ab_code *k = v->k;
	bool is_spread = v->depth && (ab_code_is_sign(k, &v->last, '*') ||
				      ab_code_is_sign(k, &v->last, '.') ||
				      ab_code_is_sign(k, &v->last, '@'));
	bool may_begin = !v->has_word && !v->has_other;
	enum ab_piece piece;
	struct ab_word w;

	/* [x, *args], of words that are known in part */
	if (is_spread && t->kind == AB_TOKEN_WORD && k->name_count) {
		const struct ab_named *cut = ab_code_named(k, t);

		v->is_changed |= cut && cut->is_cut;
	}
	if (!n || n->is_map || n->is_any || n->is_cut)
		return false;
	if (n->is_list && v->open && (is_spread || may_begin) &&
	    (is_spread ? v->depth : v->depth == 1) &&
	    (n->is_nested ? is_spread : ab_code_alternatives(n) == 1)) {
		v->is_nested |= !is_spread;
		put_list(v, n);
		note_source(v, n);
		return true;
	}
	if (n->is_list || n->count != 1)
		return false;
	w = n->words[0];
	piece = ab_code_piece(k, &v->joint, t, true);
	if (piece == AB_PIECE_NEW && v->open && !may_begin)
		return false;
	put(v, &w, piece);
	note_source(v, n);
	return true;
}

/* What may stand behind a list that is a value. */
static bool ends_list(const struct value *v, const struct ab_token *t)
{
	static const char *const words[] = { "if", "unless", "for", "do",
					     "foreach", "as" };
	const struct ab_code *k = v->k;

	if (t->is_line)
		return !ab_code_is_joint(k, t);
	if (t->kind == AB_TOKEN_SIGN)
		return memchr(";,)]}:.", k->text->text[t->at], 7) ||
		       (k->lang == AB_PHP && v->kind == AB_VALUE_EACH) ||
		       (v->kind == AB_VALUE_EACH && ab_code_is_sign(k, t, '{'));
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (ab_code_is_text(k, t, words[i]))
			return k->lang != AB_PY || v->kind == AB_VALUE_EACH;
	}
	return false;
}

/* The lexer is behind the bracket that ends the list: true: it goes on. */
static bool go_on(struct value *v, struct ab_lexer *x)
{
	struct ab_lexer ahead = *x, late;
	const struct ab_named *from;
	struct ab_token t, next;

	if (!ab_lexer_next(&ahead, &t))
		return false;
	late = ahead;
	if (v->has_key && v->kind == AB_VALUE_EACH) {
		v->is_changed |= !ab_code_is_sign(v->k, &t, '.') ||
				 !ab_lexer_next(&ahead, &t) ||
				 !(ab_code_is_text(v->k, &t, "items") ||
				   ab_code_is_text(v->k, &t, "values"));
		return false;
	}
	v->is_changed |= is_changed(v, *x) && v->kind != AB_VALUE_EACH;
	/* ["a"].concat(x) */
	v->is_changed |= ab_code_is_sign(v->k, &t, '.') &&
			 ab_lexer_next(&late, &next) &&
			 ab_code_is_text(v->k, &next, "concat");
	v->is_changed |= ab_code_is_sign(v->k, &t, '[');
	if (!ab_code_is_sign(v->k, &t, '+') || !v->is_list || v->has_key) {
		v->is_changed |= !ends_list(v, &t);
		return false;
	}
	*x = ahead;
	if (!ab_lexer_next(&ahead, &t))
		return false;
	v->depth = 1;
	begin_element(v);
	if (ab_code_is_sign(v->k, &t, v->open)) {
		*x = ahead;
		v->last = t;
		return true;
	}
	from = known_name(v, ahead, &t);
	v->depth = 0;
	v->is_changed = !from || !from->is_list || from->is_map ||
			from->is_any ||
			!(from->is_nested || ab_code_alternatives(from) == 1);
	if (v->is_changed)
		return false;
	put_list(v, from);
	note_source(v, from);
	*x = ahead;
	return go_on(v, x);
}

/* A bracket that opens; false: the value ends. */
static bool open_bracket(struct value *v, char ch)
{
	const struct ab_code *k = v->k;
	bool is_call = v->last.kind == AB_TOKEN_WORD ||
		       ab_code_is_sign(k, &v->last, ')') ||
		       ab_code_is_sign(k, &v->last, ']');
	bool is_path = v->last.kind && ab_code_is_path_type(k, &v->last);

	v->is_call = v->is_call && v->i && ch == '(' && v->depth;
	if (v->i && !v->depth) {
		v->is_file |= is_path;
		v->has_other &= !is_path;
		/* a call, unless it begins a list */
		if (v->joint == AB_JOINT_NONE && !v->is_file)
			return false;
		/* "a" + f(x) */
		v->hidden = !v->is_file;
		v->is_changed |= v->joint == AB_JOINT_STRING;
		if (v->joint == AB_JOINT_OPEN && v->n && v->n->count)
			ab_code_hole(v->k, &v->n->words[v->n->count - 1]);
	} else if (!v->i) {
		v->open = ch;
	} else if (is_call && is_path) {
		v->is_file = true;
		v->has_other = false;
	} else if (is_call && !v->has_word && ch == '(' &&
		   ab_code_hands_on(k, &v->last)) {
		v->has_other = false;
		v->handed = v->depth + 1;
	} else if (is_call || v->has_word || v->has_other) {
		v->hidden = v->depth + 1;
		v->has_other = true;
		/* x.split() */
		v->is_computed |= is_call && v->has_word && ch != '(';
	} else if (v->depth == 1) {
		v->is_nested |= ch != '(';
		v->inner = ch;
	}
	v->depth++;
	if (!v->hidden && !is_call && v->open) {
		bool is_head = v->is_head;

		begin_element(v);
		v->is_head |= is_head;
	}
	return true;
}

/* One that closes; false: the value ends. */
static bool close_bracket(struct value *v, struct ab_lexer *x)
{
	if (!v->depth)
		return false;
	if (v->hidden == v->depth) {
		v->hidden = 0;
		return --v->depth;
	}
	if (v->hidden) {
		v->depth--;
		return true;
	}
	end_element(v);
	/* the list is the element now, or what was handed on; x.strip() has
	   nothing to hand on */
	v->has_other = v->handed == v->depth && count_of(v) == v->element;
	v->has_word = !v->has_other;
	v->handed = v->handed == v->depth ? 0 : v->handed;
	v->is_computed = false;
	v->depth--;
	if (v->depth || !v->open)
		return v->depth;
	v->is_list |= v->open == '[' || (v->open == '{' && !v->has_key);
	return go_on(v, x);
}

static void put_string(struct value *v, struct ab_lexer x,
		       const struct ab_token *t)
{
	struct ab_token one = { .at = t->at };
	struct ab_word w;

	if (t->quote == 'w') {
		v->is_nested |= v->depth == 1 && v->open &&
				v->k->lang == AB_RUBY;
		v->is_list = true;
		while (ab_code_bare_word(v->k, t, &one)) {
			v->has_word = v->has_other = false;
			if (ab_code_word(v->k, &one, &w))
				put(v, &w, AB_PIECE_NEW);
		}
		return;
	}
	if (is_changed(v, x) || is_separator(v, x)) {
		v->is_computed = true;
		v->is_changed |= !v->open;
	}
	if (ab_code_word(v->k, t, &w))
		put(v, &w, ab_code_piece(v->k, &v->joint, t, true));
}

/* What is neither a string nor a bracket; false: the value ends. */
static bool put_other(struct value *v, struct ab_lexer x,
		      const struct ab_token *t, char ch)
{
	const struct ab_code *k = v->k;
	enum ab_piece piece;

	if (ch == ',' && v->depth && v->open) {
		v->has_comma |= v->depth == 1;
		/* ("a") is no list */
		v->is_nested |= v->depth == 2 && v->inner == '(' &&
				k->lang == AB_PY;
		end_element(v);
		v->is_list |= v->depth == 1;
		begin_element(v);
		return true;
	}
	/* the key of a table */
	if (v->depth == 1 && v->open && memchr("[{", v->open, 2) &&
	    k->lang != AB_LUA &&
	    (ch == ':' || (ch == '=' && x.pos < x.len &&
			   x.text[x.pos] == '>')) &&
	    !(k->lang == AB_RUBY && ch == ':' && !v->has_word &&
	      !v->has_other)) {
		v->has_key = true;
		if (v->n && v->n->count > v->element)
			v->n->count = v->element;
		v->heads &= ~(count_of(v) < 32 ? UINT32_C(1) << count_of(v)
					       : 0);
		begin_element(v);
		return true;
	}
	if (ch == '>' && v->has_key && !v->has_word && !v->has_other)
		return true;
	if (take_own(v, x, t) || take_name(v, x, t))
		return true;
	/* x = y: what is done to the one is done to the other */
	if (!v->i && known_name(v, x, t) && known_name(v, x, t)->is_list)
		ab_code_note_unknown(v->k, t);
	v->is_call = v->is_call && (t->kind == AB_TOKEN_WORD || ch == '.');
	if (!v->is_call && !v->n && !v->open)
		return k->lang == AB_AWK && (v->has_other = true);
	piece = ab_code_piece(k, &v->joint, t, false);
	if (piece == AB_PIECE_HOLE && v->n && v->n->count) {
		ab_code_hole(v->k, &v->n->words[v->n->count - 1]);
		v->n->edits++;
	}
	if (is_prefix(v, t) || (ch && memchr("*.@\\&", ch, 5)))
		return true;
	if (t->kind == AB_TOKEN_WORD || ch != '+')
		v->has_other = v->has_other || !v->has_word;
	/* x or "a", "a" if x else y */
	if (!v->open && v->n && v->joint == AB_JOINT_NONE &&
	    (ab_code_is_text(k, t, "else") || ab_code_is_text(k, t, "or") ||
	     ab_code_is_text(k, t, "and") ||
	     (ch && memchr(":|?&", ch, 4)))) {
		struct ab_token next;

		v->is_changed |= ab_lexer_next(&x, &next) &&
				 next.kind == AB_TOKEN_WORD &&
				 !is_prefix(v, &next) &&
				 !known_name(v, x, &next);
	}
	return true;
}

/* c = base + ["x"], behind the name: that is a list, too. */
static bool begins_sum(struct value *v, struct ab_lexer x,
		       const struct ab_token *t)
{
	const struct ab_named *n = v->i || v->kind != AB_VALUE_SET
					   ? NULL
					   : known_name(v, x, t);
	struct ab_token next;

	if (!n || !n->is_list || n->is_nested || n->is_any || n->is_cut ||
	    v->k->lang & ~(AB_PY | AB_RUBY) || ab_code_alternatives(n) != 1 ||
	    !ab_lexer_next(&x, &next) || !ab_code_is_sign(v->k, &next, '+') ||
	    (x.pos < x.len && x.text[x.pos] == '='))
		return false;
	v->open = '[';
	v->is_list = true;
	v->is_call = false;
	put_list(v, n);
	note_source(v, n);
	return true;
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

static void end_value(struct value *v, struct ab_lexer x)
{
	struct ab_named *n = v->n;
	const uint32_t from = v->base;
	bool had = from > 0, was_list = n->is_list;

	/* for p in Path("x").glob("*"), Path("x") / "y" */
	if (v->is_file && !v->open &&
	    (v->kind != AB_VALUE_SET || !is_plain_path(v->k, x))) {
		n->count = from;
		return;
	}
	/* perl: @c = ("a") */
	if (v->k->lang == AB_PERL && v->open && v->name->at &&
	    v->k->text->text[v->name->at - 1] == '@')
		v->is_list = true;
	/* what was not read may be the end of its last value */
	n->is_cut |= v->i == MAX_TOKENS;
	n->is_path |= v->is_file;
	n->is_map |= v->has_key && v->kind == AB_VALUE_SET;
	if (v->kind == AB_VALUE_EACH)
		v->is_list = v->is_nested;
	if (v->is_nested)
		n->begins |= v->heads;
	if (v->is_list && v->kind == AB_VALUE_SET && from < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << from | (from > 0);
	n->is_any |= had && was_list != v->is_list && v->kind != AB_VALUE_MORE;
	n->is_list |= v->is_list;
	/* of which kind it is, is not known any more */
	if (v->kind != AB_VALUE_EACH) {
		if (had && n->is_nested != v->is_nested && v->is_list)
			v->is_changed = true;
		n->is_nested |= v->is_nested;
	}
}

/* What may stand behind a value that was put together. */
static bool ends_made(const struct ab_code *k, struct ab_lexer x, char *end)
{
	struct ab_token t;

	*end = 0;
	if (!ab_lexer_next(&x, &t) || t.is_line)
		return true;
	if (t.kind == AB_TOKEN_SIGN)
		*end = k->text->text[t.at];
	return (*end && memchr(";,)}]:{", *end, 7)) ||
	       ab_code_is_text(k, &t, "do") || ab_code_is_text(k, &t, "as") ||
	       ab_code_is_text(k, &t, "if") ||
	       ab_code_is_text(k, &t, "unless");
}

static bool has_value(struct ab_code *k, const struct ab_token *name,
		      const struct ab_made *m)
{
	const struct ab_named *n = ab_code_named(k, name);

	for (uint32_t i = 0; n && i < m->count && i < n->count; i++) {
		if (m->words == n->words)
			return true;
	}
	return false;
}

bool ab_code_set_made(struct ab_code *k, const struct ab_token *name,
		      struct ab_made *m, bool is_each)
{
	struct ab_named *n;
	bool is_list = m->is_list && !is_each;

	ab_made_cut(k, m, true);
	/* of itself: once more for each time */
	if (has_value(k, name, m) || !(n = ab_code_add_named(k, name)))
		return false;
	n->is_any |= n->count && n->is_list != is_list;
	if (is_list && n->count < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << n->count | (n->count > 0);
	n->is_list |= is_list;
	n->is_path |= m->is_path;
	for (uint32_t i = 0; i < m->count; i++)
		ab_code_add_value(k, n, &m->words[i], false);
	n->is_cut |= m->is_cut;
	k->last = NULL;
	return true;
}

/* c += "a b".split(): the words are more of the list. */
static bool add_made(struct ab_code *k, const struct ab_token *name,
		     struct ab_lexer x, char *end)
{
	const struct ab_named *n = ab_code_named(k, name);
	struct ab_made m;

	if (!n || !n->is_list || n->is_nested ||
	    !ab_code_read_expr(k, &x, &m, AB_NEED_MADE) ||
	    !ends_made(k, x, end) || !m.is_list || has_value(k, name, &m))
		return false;
	for (uint32_t i = 0; i < m.count; i++)
		ab_code_add_value(k, &k->names[n - k->names], &m.words[i],
				  false);
	k->names[n - k->names].is_cut |= m.is_cut;
	k->last = NULL;
	return true;
}

void ab_code_wait(struct ab_code *k, struct ab_lexer x,
		  const struct ab_token *name, bool is_each)
{
	if (k->waits && k->late_count < AB_CODE_LATE)
		k->late[k->late_count++] = (struct ab_late){
			.x = x, .name = *name, .is_each = is_each,
		};
	k->waits = false;
}

void ab_code_read_late(struct ab_code *k)
{
	struct ab_made m;

	for (uint32_t i = 0; i < k->late_count; i++) {
		struct ab_late *late = &k->late[i];

		if (ab_code_read_expr(k, &late->x, &m,
				      late->is_each ? AB_NEED_WALKED
						    : AB_NEED_MADE))
			(void)ab_code_set_made(k, &late->name, &m,
					       late->is_each);
	}
}

/* [sys.executable, "-m", x]: the element begins with it. */
static bool put_own(struct value *v, const struct ab_token *t)
{
	const struct ab_word *text = v->k->text;
	uint32_t at = t->at;
	struct ab_word w;
	char before;

	if (t->kind != AB_TOKEN_WORD || v->has_word || !v->depth ||
	    !ab_code_is_sign(v->k, &v->last, '.') ||
	    !ab_code_own_program(v->k, t, &w))
		return false;
	while (at && (ab_code_is_letter(text->text[at - 1]) ||
		      text->text[at - 1] == '.'))
		at--;
	before = ab_code_last_byte(text, &at);
	if (!before || !memchr("[(,", before, 3))
		return false;
	v->has_other = false;
	put(v, &w, ab_code_piece(v->k, &v->joint, t, true));
	return true;
}

#define MAX_CLASS 10 /* tokens of the name of a list's class */

/* [] of js, new ArrayList<String>() and mutableListOf() of java and its kin:
   what the others begin so is asked about where it is run. */
static bool is_empty_list(const struct ab_code *k, struct ab_lexer *x)
{
	struct ab_token t;
	bool is_list = false;

	if (!ab_lexer_next(x, &t))
		return false;
	if (ab_code_is_sign(k, &t, '['))
		return ab_lexer_next(x, &t) && ab_code_is_sign(k, &t, ']');
	for (uint32_t i = 0; i < MAX_CLASS && k->lang == AB_OTHER; i++) {
		const char *s = k->text->text + t.at;

		if (ab_code_is_sign(k, &t, '('))
			return is_list && ab_lexer_next(x, &t) &&
			       ab_code_is_sign(k, &t, ')');
		if (t.kind != AB_TOKEN_WORD &&
		    !(t.kind == AB_TOKEN_SIGN && memchr("<>.,", *s, 4)))
			return false;
		is_list |= t.len > 3 && memmem(s, t.len, "List", 4);
		if (!ab_lexer_next(x, &t))
			return false;
	}
	return false;
}

static bool set_empty(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *name, char *end)
{
	struct ab_named *n;

	if ((k->lang != AB_OTHER &&
	     (k->lang != AB_JS || ab_code_next_byte(k->text, x.pos) != '[')) ||
	    !is_empty_list(k, &x) ||
	    !ends_made(k, x, end) || !(n = ab_code_add_named(k, name)))
		return false;
	n->is_list = true;
	n->begins = 1;
	return true;
}

char ab_code_read_value(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name, enum ab_setting kind)
{
	const struct ab_named *known = ab_code_named(k, name);
	struct value v = { .k = k, .name = name, .kind = kind,
			   .base = known ? known->count : 0,
			   .is_call = true };
	struct ab_lexer behind = x;
	struct ab_token t;
	struct ab_made m;
	char end = 0;

	if (kind == AB_VALUE_SET && !known && set_empty(k, x, name, &end))
		return end;
	if (kind == AB_VALUE_SET &&
	    ab_code_read_expr(k, &behind, &m, AB_NEED_MADE) &&
	    ends_made(k, behind, &end) &&
	    ab_code_set_made(k, name, &m, false))
		return end;
	if (kind == AB_VALUE_SET)
		ab_code_wait(k, x, name, false);
	if (kind == AB_VALUE_MORE && add_made(k, name, x, &end))
		return end;
	end = 0;
	v.element = v.base;
	for (; v.i < MAX_TOKENS && ab_lexer_next(&x, &t); v.i++) {
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;
		bool goes_on = true, is_text = t.kind == AB_TOKEN_STRING;

		if (!v.depth && v.i &&
		    ((t.is_line && v.joint != AB_JOINT_OPEN &&
		      !(ab_code_is_joint(k, &t) && v.n)) ||
		     (ch && memchr(";,)}]", ch, 5)))) {
			end = ch;
			break;
		}
		if (ch && (memchr("([", ch, 2) ||
			   (ch == '{' && (!v.i || v.depth))))
			goes_on = open_bracket(&v, ch);
		else if (ch && memchr(")]}", ch, 3))
			goes_on = close_bracket(&v, &x);
		else if (v.hidden)
			goes_on = true;
		else if (begins_sum(&v, x, &t))
			goes_on = go_on(&v, &x);
		else if (is_text)
			put_string(&v, x, &t);
		else if (!put_own(&v, &t))
			goes_on = put_other(&v, x, &t, ch);
		if (is_text)
			v.is_call = false;
		v.last = t;
		if (!goes_on)
			break;
	}
	if (v.n)
		end_value(&v, x);
	if (v.is_changed || (v.n && !v.open && v.has_other))
		ab_code_note_unknown(k, name);
	if (v.is_call && v.last.kind == AB_TOKEN_WORD &&
	    ab_code_call(k, &v.last) && (v.n = ab_code_add_named(k, name)))
		v.n->call = ab_code_call(k, &v.last);
	return end;
}
