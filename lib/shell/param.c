/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ${...}: what a parameter gives when its value and its argument are known,
 * and a hole that says whose value it would be when not (bash(1), Parameter
 * Expansion).
 */
#include "config.h"

#include "base/key.h"
#include "shell/param.h"

/* Whose bytes it is made of, of what is known of it in part. */
static struct ab_stream *origin_of(const struct expansion *e)
{
	struct ab_stream *origin = e->value->origin;

	for (uint32_t i = 0; !origin && e->word && i < e->word->hole_count; i++)
		origin = e->word->holes[i].origin;
	if (!origin && AB_UNLIKELY(e->word && e->word->hole_count))
		origin = ab_run_said(e->run, e->word);
	return origin;
}

static void add_unknown(struct expansion *e)
{
	struct segment *s = ab_segments_hole(
		e->run, e->list,
		e->flags & SEGMENT_QUOTED ? AB_HOLE_BYTES : AB_HOLE_FIELDS,
		e->span, e->name, origin_of(e));

	if (!s)
		return;
	s->part = e->value->part;
	if (AB_UNLIKELY(e->value->one) && e->value->one->kind == VALUE_SCALAR)
		s->one_of = e->value;
}

void ab_param_argument(struct expansion *e, struct segment *list,
		     enum expand_mode mode, struct ab_word *out)
{
	struct fields f = { 0 };

	ab_expand_fields(e->run, list, mode, &f);
	if (f.count)
		*out = f.words[0];
	else
		memset(out, 0, sizeof(*out));
	if (!out->text)
		out->text = "";
}

static void append(struct expansion *e, struct segment *args)
{
	/* unquoted, its own blanks separate too */
	for (*e->list->tail = args; args; args = args->next) {
		if (!(e->flags & SEGMENT_QUOTED) &&
		    !(args->flags & SEGMENT_QUOTED))
			args->flags |= SEGMENT_SPLIT;
		e->list->tail = &args->next;
	}
}

/* Of v, which is what was found under it; or NULL. */
static const char *name_of(struct ab_shell_run *run, const struct variable *v,
			   const char *text, uint32_t len)
{
	char *name;

	if (v)
		return v->name;
	name = ab_run_high(run, len + 1);
	if (!name)
		return NULL;
	memcpy(name, text, len);
	name[len] = '\0';
	return name;
}

/*
 * Values.
 */

/* A positional parameter, from 1. */
static const struct ab_word *positional(const struct ab_shell_run *run,
					const struct value *all, uint32_t n)
{
	static const struct ab_word empty = { .text = "" };

	if (all->kind != VALUE_ARRAY || n == 0 ||
	    (all->is_loose &&
	     (n > all->count || !ab_value_is_first(run, all->words, n - 1))))
		return NULL;
	return n <= all->count ? &all->words[n - 1] : &empty;
}

/* Of the list that it has, the word there is one of some, or of all. */
static AB_COLD void pick(struct expansion *e, int64_t at)
{
	const struct value *v = ab_choice_pick(e->run, e->value, at);

	if (v->kind == VALUE_ARRAY) {
		e->value = v;
		e->is_all = true;
		e->all = '@';
		return;
	}
	e->value = e->param->op == OP_OTHER ? v : ab_choice_read(e->run, v);
	e->word = e->value->kind == VALUE_SCALAR ? e->value->words : NULL;
}

static uint32_t number_of(const char *text, uint32_t len)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < len && n < 1000000; i++)
		n = n * 10 + (uint32_t)(text[i] - '0');
	return n;
}

static void find_positional(struct expansion *e, const char *text,
			    uint32_t len)
{
	uint32_t n = number_of(text, len);

	e->value = ab_run_value(e->run, "@", 1);
	if (n && AB_UNLIKELY(e->value->one))
		e->value = ab_choice_read(e->run, e->value);
	if (n == 0) {
		e->value = ab_run_value(e->run, "0", 1);
		e->word = e->value->kind == VALUE_SCALAR ? e->value->words :
							   NULL;
		return;
	}
	e->word = positional(e->run, e->value, n);
	if (e->word && n > e->value->count)
		e->value = &ab_run_unset;
	else if (!e->word && e->value->kind == VALUE_ARRAY)
		pick(e, n - 1);
}

/* What names begin with a digit or are a sign. */
static bool find_special(struct expansion *e, const char *text, uint32_t len)
{
	char *digits;
	struct ab_word *w;

	if (len && text[0] >= '0' && text[0] <= '9') {
		find_positional(e, text, len);
		return true;
	}
	if (len != 1 || (ab_shell_name[(unsigned char)text[0]]))
		return false;
	e->value = ab_run_value(e->run, text, 1);
	if (text[0] == '@' || text[0] == '*') {
		e->value = ab_run_value(e->run, "@", 1);
		e->is_all = true;
		e->all = text[0];
	} else if (text[0] == '#') {
		e->value = ab_run_value(e->run, "@", 1);
		w = ab_run_low(e->run, sizeof(*w));
		digits = ab_run_low(e->run, 24);
		if (e->value->kind == VALUE_ARRAY && !e->value->is_loose &&
		    w && digits) {
			memset(w, 0, sizeof(*w));
			w->text = digits;
			w->len = ab_decimal(digits, e->value->count);
			w->span = e->span;
			e->word = w;
		}
	}
	return true;
}

/* The index of a list, from its end when it is negative. */
static int64_t place_in(const struct expansion *e, const struct ab_word *w)
{
	int64_t n;

	return w->hole_count || e->value->keys ||
			       e->value->attributes & VALUE_MAP ||
			       !ab_arith(e->run, w->text, w->len, &n) ?
		       AB_CHOICE_ANY :
		       n;
}

/* a[i] with i known, a[@] and a[*]; without an index a[0]. */
static void find_element(struct expansion *e, struct segment *index)
{
	struct ab_word w = { .text = "0", .len = 1 };
	bool is_known = true;

	e->word = NULL;
	if (e->value->kind == VALUE_SCALAR)
		e->word = e->value->words;
	if (e->param->has_index && e->param->letter && e->param->op != OP_AT) {
		e->is_all = true;
		e->all = e->param->letter;
		return;
	}
	if (e->param->has_index)
		ab_param_argument(e, index, EXPAND_ONE, &w);
	if (e->value->kind == VALUE_ARRAY ||
	    (e->value->kind == VALUE_SCALAR && e->param->has_index))
		e->word = ab_value_element(e->run, e->value, &w, &is_known);
	if (is_known && !e->word && e->value->kind == VALUE_ARRAY)
		e->value = &ab_run_unset;
	else if (is_known && !e->word && e->value->kind == VALUE_SCALAR)
		e->value = &ab_run_unset;
	else if (!is_known && e->value->kind == VALUE_ARRAY)
		pick(e, place_in(e, &w));
}

/* What is known of a variable that the text never set. */
static void find_default(struct expansion *e)
{
	const struct ab_shell_context *c = e->run->context;
	char first = e->name[0];
	struct segment *s;

	/* what the names of all others here begin with */
	if (first != 'H' && first != 'S' && first != 'B') {
		add_unknown(e);
	} else if (strcmp(e->name, "HOME") == 0) {
		s = ab_segments_hole(e->run, e->list, AB_HOLE_HOME, e->span,
				     e->name, NULL);
		if (s) {
			s->text = c->home ? c->home : "~";
			s->len = c->home ? c->home_len : 1;
		}
	} else if (strcmp(e->name, "SHELL") == 0 ||
		   strcmp(e->name, "BASH") == 0) {
		s = ab_segments_hole(e->run, e->list, AB_HOLE_LIKELY, e->span,
				     e->name, NULL);
		if (s) {
			s->text = "/bin/sh";
			s->len = 7;
		}
	} else {
		add_unknown(e);
	}
}

/* What a reference leads to; ${!x} asks for its name. */
static AB_COLD struct variable *refer(struct expansion *e, struct variable *v,
				      const char **text, uint32_t *len)
{
	const struct ab_word *name = NULL;

	if (e->param->is_indirect)
		return v;
	v = ab_run_target(e->run, v, &name);
	if (name) {
		*text = name->text;
		*len = name->len;
	}
	return v;
}

/* What every shell sets itself, and the text left alone. */
static AB_COLD const struct value *find_own(const struct expansion *e,
					    const char *text)
{
	static const struct {
		char name[4], value[4];
	} own[] = { { "IFS", " \t\n" }, { "PS4", "+ " }, { "PS2", "> " } };
	struct ab_word w = { .span = e->span };

	for (uint32_t i = 0; i < 3; i++) {
		if (!ab_same(own[i].name, text, 3))
			continue;
		w.text = own[i].value;
		w.len = (uint32_t)strlen(w.text);
		return ab_run_scalar(e->run, &w);
	}
	return NULL;
}

/* $x of a text, ${x[i]} of a list; what has all of a list is its own. */
static bool is_one_word(const struct value *v, const struct param *param)
{
	return v->kind == VALUE_SCALAR ? !param->has_index :
	       v->kind == VALUE_ARRAY && param->has_index && !param->letter;
}

/* $y of y=$x is one of the values that $x was. */
static void read_word(struct expansion *e)
{
	const struct ab_hole *h = e->word->holes;

	if (e->word->hole_count > 1 || e->word->len || !h->one_of ||
	    e->param->op == OP_OTHER)
		return;
	e->value = ab_choice_read(e->run, h->one_of);
	e->word = e->value->kind == VALUE_SCALAR ? e->value->words : NULL;
	e->is_given = !e->word;
}

static void find_value(struct expansion *e, const char *text, uint32_t len,
		       struct segment *index)
{
	struct variable *v = NULL;
	const struct value *own = NULL;

	e->is_all = false;
	e->word = NULL;
	if (!find_special(e, text, len)) {
		v = ab_run_find(e->run, text, len);
		if (AB_UNLIKELY(v && v->flags & VARIABLE_NAMEREF))
			v = refer(e, v, &text, &len);
		e->value = ab_run_value_of(e->run, v);
		if (AB_UNLIKELY(len == 3) &&
		    (!v || !v->when || v->when < e->run->child) &&
		    (own = find_own(e, text)))
			e->value = own;
		e->is_given = v && e->value->kind == VALUE_UNKNOWN;
		if (e->value->one && e->param->op != OP_OTHER &&
		    is_one_word(e->value->one, e->param))
			e->value = ab_choice_read(e->run, e->value);
		find_element(e, index);
	}
	if (AB_UNLIKELY(e->word && e->word->hole_count))
		read_word(e);
	e->name = name_of(e->run, v, text, len);
}

/* The text gave it a value, whichever. */
static bool is_set_here(const struct expansion *e)
{
	const struct variable *v =
		ab_run_find(e->run, e->name, strlen(e->name));

	return v && v->when;
}

/* ${!ref}: the variable that ref names. */
static void follow(struct expansion *e)
{
	const struct ab_word *w = e->word;
	uint32_t i = 0;

	if (!w || w->hole_count || w->len == 0) {
		/* nobody knows which; of none bash says that it is an error,
		   which ends the line */
		if (w ? !w->hole_count :
			e->value->kind == VALUE_UNSET || !is_set_here(e))
			e->run->has_ended = true;
		e->is_given = true;
		e->value = ab_run_unknown(e->run, e->value->origin);
		e->word = NULL;
		return;
	}
	while (i < w->len && ab_shell_name[(unsigned char)w->text[i]])
		i++;
	if (i == w->len) {
		find_value(e, w->text, w->len, NULL);
		return;
	}
	/* r='a[1]' */
	e->is_given = true;
	e->value = ab_run_unknown(e->run, NULL);
	e->word = NULL;
}

/*
 * Operators.
 */

static bool is_known(const struct expansion *e)
{
	return e->word || e->value->kind == VALUE_UNSET ||
	       (e->is_all && e->value->kind == VALUE_ARRAY);
}

/* Unset, or empty when the operator has a colon; only when it is known. */
static bool is_missing(const struct expansion *e)
{
	if (e->is_all)
		return e->value->count == 0;
	if (!e->word)
		return true;
	if (e->value->kind == VALUE_UNSET)
		return true;
	return e->param->has_colon && e->word->len == 0 &&
	       e->word->hole_count == 0;
}

/* A value whose holes may make it empty is neither. A default that it was
   given is likely there: x=${x:-a}; ${x:-b}. x=${y:+a} may be nothing. */
static bool may_be_empty(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind == AB_HOLE_HOME ||
		    w->holes[i].kind == AB_HOLE_PROC ||
		    w->holes[i].kind == AB_HOLE_PATTERN ||
		    (w->holes[i].kind == AB_HOLE_LIKELY &&
		     w->holes[i].len && !w->holes[i].origin &&
		     !w->holes[i].is_test))
			return false;
	if (!w->hole_count)
		return false;
	for (uint32_t i = 0, at = 0; i < w->hole_count; i++) {
		if (w->holes[i].at > at)
			return false;
		at = w->holes[i].at + w->holes[i].len;
		if (i + 1 == w->hole_count && at < w->len)
			return false;
	}
	return true;
}

/* What stands between the words of "$*": the first byte of IFS, NUL-terminated;
 * NULL: nobody knows. */
static const char *joint_of(const struct expansion *e)
{
	const char *ifs;
	uint32_t len;
	char *text;

	if (!ab_run_ifs(e->run, &ifs, &len))
		return NULL;
	if (!len)
		return "";
	text = ab_run_low(e->run, 2);
	if (text) {
		text[0] = ifs[0];
		text[1] = '\0';
	}
	return text;
}

static void add_joint(struct expansion *e, const char *joint)
{
	struct segment *s;

	if (joint && (!e->is_here || strcmp(joint, " ") == 0)) {
		ab_param_add_bytes(e, joint, (uint32_t)strlen(joint));
		return;
	}
	/* in a here-document bash takes a blank, and others IFS */
	s = ab_segments_hole(e->run, e->list,
			     joint ? AB_HOLE_LIKELY : AB_HOLE_BYTES, e->span,
			     "IFS", NULL);
	if (s && joint) {
		s->text = " ";
		s->len = 1;
	}
}

static void add_break(struct expansion *e, const char *joint)
{
	struct segment *s = ab_segments_add(e->run, e->list,
					    joint ? joint : "", 0, e->span, 0);

	if (!s)
		return;
	s->flags = SEGMENT_BREAK;
	if (!joint)
		s->hole = AB_HOLE_BYTES;
}

/* A word of an array that may be many is as many in "${a[@]}". */
static void add_loose(struct expansion *e, const struct ab_word *word)
{
	struct segment **tail = e->list->tail;

	ab_param_add_word(e, word);
	if (word->len || word->hole_count != 1 ||
	    word->holes->kind != AB_HOLE_FIELDS || !*tail)
		return;
	(*tail)->hole = AB_HOLE_FIELDS;
	(*tail)->flags = 0;
}

/* ${!a[@]} */
static bool find_keys(struct expansion *e)
{
	struct value *keys = ab_run_low(e->run, sizeof(*keys));
	struct ab_word *words;

	if (e->value->kind != VALUE_ARRAY || e->value->is_loose || !keys)
		return false;
	*keys = *e->value;
	keys->words = e->value->keys;
	e->value = keys;
	if (keys->words)
		return true;
	keys->words = words = ab_run_low(e->run, keys->count * sizeof(*words));
	for (uint32_t i = 0; words && i < keys->count; i++) {
		char *digits = ab_run_low(e->run, 24);

		if (!digits)
			return false;
		memset(&words[i], 0, sizeof(*words));
		words[i].text = digits;
		words[i].len = ab_decimal(digits, i);
		words[i].span = e->span;
	}
	return words;
}

static void add_all(struct expansion *e)
{
	const struct value *v = e->value;
	bool quoted = e->flags & SEGMENT_QUOTED;
	const char *joint = " ";
	struct segment *s;

	if (quoted && e->all == '@')
		v = ab_choice_read(e->run, v);
	if (v->kind == VALUE_SCALAR) {
		ab_param_add_word(e, v->words);
		return;
	}
	if (v->kind != VALUE_ARRAY) {
		if (v->kind == VALUE_UNSET)
			return;
		/* "$@" may be many words or none */
		s = ab_segments_hole(e->run, e->list, AB_HOLE_FIELDS, e->span,
				     e->name, v->origin);
		if (s)
			s->part = v->part;
		if (s && quoted && e->all == '*')
			s->hole = AB_HOLE_BYTES;
		return;
	}
	if (v->count == 0 && quoted && e->all == '@') {
		s = ab_segments_add(e->run, e->list, "", 0, e->span, 0);
		if (s)
			s->flags = SEGMENT_NONE;
	}
	if (v->count > 1 && e->all == '*')
		joint = joint_of(e);
	for (uint32_t i = 0; i < v->count && !e->run->arena->is_full; i++) {
		if (i && quoted && e->all == '*')
			add_joint(e, joint);
		else if (i)
			add_break(e, joint);
		if (AB_UNLIKELY(v->is_loose) && quoted && e->all == '@')
			add_loose(e, &v->words[i]);
		else
			ab_param_add_word(e, &v->words[i]);
	}
}

static void add_value(struct expansion *e)
{
	if (e->is_all)
		add_all(e);
	else if (e->word)
		ab_param_add_word(e, e->word);
	else if (e->value->kind == VALUE_UNSET)
		ab_param_add_bytes(e, "", 0);
	else if (!e->value->origin && e->value->kind == VALUE_UNKNOWN)
		find_default(e);
	else
		add_unknown(e);
}

/* $0 $# $? $$ $- and, for all we care, $HOME. */
static bool is_always_set(const char *name)
{
	return strcmp(name, "HOME") == 0 ||
	       (name[0] && !name[1] && strchr("0#?$-", name[0]));
}

/* Nothing: ${x:-}, ${x-""}. */
static bool is_nothing(const struct segment *s)
{
	while (s && !s->len && !s->hole && !(s->flags & SEGMENT_BREAK))
		s = s->next;
	return !s;
}

static void default_value(struct expansion *e, struct segment *args)
{
	bool known = is_known(e) && !(e->word && may_be_empty(e->word));

	if (e->param->op == OP_OTHER) {
		if (known ? !is_missing(e) : is_always_set(e->name))
			append(e, args);
		else if (!known)
			ab_param_likely(e, args);
		return;
	}
	if (e->param->op == OP_ERROR) {
		struct segment **tail = e->list->tail;

		add_value(e);
		/* the shell ends there when it is empty */
		if (*tail && (*tail)->hole && e->param->has_colon)
			(*tail)->is_checked = true;
		return;
	}
	if (known && !is_missing(e)) {
		add_value(e);
		return;
	}
	if (known) {
		if (e->param->op == OP_ASSIGN) {
			struct ab_word w;

			ab_param_argument(e, args, EXPAND_ONE, &w);
			ab_run_assign(e->run, e->name, strlen(e->name),
				      ab_run_scalar(e->run, &w), 0);
			ab_param_add_word(e, &w);
			return;
		}
		append(e, args);
		return;
	}
	/* unset or empty it is nothing either way */
	if (e->param->op == OP_DEFAULT && is_nothing(args)) {
		add_value(e);
		return;
	}
	if (!e->word && !e->value->origin && strcmp(e->name, "HOME") == 0) {
		add_value(e);
		return;
	}
	const bool is_kept = ab_param_is_given(e);
	const struct value *was = e->value;
	struct segment *likely = ab_param_likely(e, args);

	/* the text gave it a value: it is that, or the default */
	if (likely && is_kept && e->param->op == OP_ASSIGN &&
	    !e->param->has_index) {
		struct ab_word w;

		ab_param_argument(e, args, EXPAND_ONE, &w);
		ab_run_assign(e->run, e->name, strlen(e->name),
			      ab_run_either(e->run, was->origin,
					    ab_run_scalar(e->run, &w), was),
			      0);
		return;
	}
	if (likely && e->param->op == OP_ASSIGN && !e->param->has_index)
		ab_param_assign_likely(e, likely);
}

static bool length(struct expansion *e)
{
	char *digits = ab_run_low(e->run, 24);
	uint32_t n;

	if (!digits || !is_known(e) || (e->word && e->word->hole_count) ||
	    (e->is_all && e->value->is_loose))
		return false;
	if (e->is_all)
		n = e->value->count;
	else
		n = e->word ? e->word->len : 0;
	ab_segments_add(e->run, e->list, digits, ab_decimal(digits, n),
			e->span, e->flags | SEGMENT_QUOTED);
	return true;
}

/* Its last bytes are not known. */
static bool ends_open(const struct ab_word *w)
{
	const struct ab_hole *last;

	if (!w->hole_count)
		return false;
	last = &w->holes[w->hole_count - 1];
	return last->at + last->len == w->len &&
	       (last->kind == AB_HOLE_HOME || !last->len);
}

/* ${x%/}: any bytes without a slash at their end are any bytes, and no home
   directory has one. */
static bool is_slash_trim(struct expansion *e, struct segment *args)
{
	struct ab_word w;

	if (e->param->op != OP_SUFFIX || e->is_all ||
	    (e->word ? !ends_open(e->word) :
		       e->value->kind != VALUE_UNKNOWN))
		return false;
	ab_param_argument(e, args, EXPAND_PATTERN, &w);
	return w.len == 1 && w.text[0] == '/' && !w.hole_count;
}

/* A home that is known stands there as its bytes: they are what is edited. */
static void take_home(struct expansion *e)
{
	const struct ab_shell_context *context = e->run->context;
	const struct ab_word *w = e->word;
	struct ab_word *copy;

	if (!context->home)
		return;
	/* HOME itself, which the text has left alone */
	if (!w && (e->is_all || e->value->kind != VALUE_UNKNOWN ||
		   e->value->origin || strcmp(e->name, "HOME") != 0))
		return;
	if (w && !w->hole_count)
		return;
	for (uint32_t i = 0; w && i < w->hole_count; i++)
		if (w->holes[i].kind != AB_HOLE_HOME ||
		    w->holes[i].len != context->home_len)
			return;
	copy = ab_run_low(e->run, sizeof(*copy));
	if (!copy)
		return;
	*copy = w ? *w : (struct ab_word){ .text = context->home,
					   .len = context->home_len,
					   .span = e->span };
	copy->hole_count = 0;
	e->word = copy;
}

/* ${a[@]#x}: each word by itself. */
static bool edit_all(struct expansion *e, struct segment *args)
{
	const struct value *v = e->value;
	struct value *edited = ab_run_low(e->run, sizeof(*edited));
	struct ab_word *words = ab_param_edit_words(e, args);

	if (!edited || !words)
		return false;
	*edited = *v;
	edited->words = words;
	e->value = edited;
	add_all(e);
	return true;
}

static bool operate(struct expansion *e, struct segment *args)
{
	enum param_op op = (enum param_op)e->param->op;

	if (op == OP_LENGTH)
		return length(e);
	if (op == OP_SLICE && e->is_all) {
		if (!ab_param_slice_all(e, args))
			return false;
		add_all(e);
		return true;
	}
	if (is_slash_trim(e, args)) {
		e->is_whole = true;
		add_value(e);
		return true;
	}
	if (e->is_all && e->value->kind == VALUE_ARRAY)
		return edit_all(e, args);
	take_home(e);
	if (e->is_all)
		return false;
	if (!e->word && e->value->kind == VALUE_UNSET) {
		ab_param_add_bytes(e, "", 0);
		return true;
	}
	if (op == OP_SLICE)
		return ab_param_slice(e, args);
	return e->word && ab_param_edit(e, args);
}

void ab_expand_param(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct part *part,
		     struct segments *list, struct segment **args,
		     struct segment *index)
{
	const struct param *param = part->u.param;
	struct segment *arg = args ? *args : NULL;
	struct segment **tail;
	struct expansion e = {
		.run = run,
		.param = param,
		.list = list,
		.span = ab_tree_span(tree, part->begin, part->end),
		.flags = part->flags & PART_QUOTED ? SEGMENT_QUOTED :
						     SEGMENT_SPLIT,
		.is_here = tree->word,
	};

	find_value(&e, (const char *)tree->text + param->name,
		   param->name_len, index);
	if (!e.name)
		return;
	if (param->is_indirect && e.is_all && param->has_index) {
		if (param->op == OP_NONE && find_keys(&e))
			add_all(&e);
		else
			add_unknown(&e);
		return;
	}
	if (param->is_indirect && param->op != OP_NAMES) {
		follow(&e);
		if (!e.name)
			return;
	}
	switch ((enum param_op)param->op) {
	case OP_NONE:
		add_value(&e);
		break;
	case OP_DEFAULT:
	case OP_ASSIGN:
	case OP_ERROR:
	case OP_OTHER:
		default_value(&e, arg);
		break;
	case OP_NAMES:
	case OP_BAD:
		add_unknown(&e);
		break;
	default:
		tail = list->tail;
		if (!operate(&e, arg))
			add_unknown(&e);
		if (*tail && (*tail)->hole) {
			(*tail)->is_test = param->op == OP_LENGTH;
			(*tail)->is_cut |= !e.is_whole;
		}
		break;
	}
}
