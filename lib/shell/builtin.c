/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a simple command does to the shell itself: assignments, and the
 * builtins that set, declare, shift and name things; not those that read.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

typedef void (*effect_fn)(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  const struct ab_shell_command *c,
			  const struct ab_word *argv, uint32_t argc);

uint32_t ab_builtin_name_len(const struct ab_word *w, uint32_t from)
{
	uint32_t i = from;

	if (i < w->len && (ab_shell_name[(unsigned char)w->text[i]] == AB_NAME))
		while (i < w->len && ab_shell_name[(unsigned char)w->text[i]])
			i++;
	return i - from;
}

bool ab_builtin_is_exact(const struct ab_word *w, uint32_t end)
{
	return !w->hole_count || w->holes[0].at >= end;
}

struct ab_word ab_builtin_tail(struct ab_shell_run *run,
			       const struct ab_word *w, uint32_t from)
{
	struct ab_word out = *w;
	struct ab_hole *holes;

	out.text += from;
	out.len -= from;
	out.span = ab_word_span(w, from, out.len);
	out.map = NULL;
	out.map_count = 0;
	if (w->hole_count) {
		holes = ab_run_low(run, w->hole_count * sizeof(*holes));
		if (!holes) {
			out.hole_count = 0;
			return out;
		}
		for (uint32_t i = 0; i < w->hole_count; i++) {
			holes[i] = w->holes[i];
			holes[i].at -= from;
		}
		out.holes = holes;
	}
	return out;
}

/* What no text has set may come from the environment, as the first element. */
static const struct value *from_environment(struct ab_shell_run *run,
					    const struct ab_shell_assign *a)
{
	struct ab_hole hole = { .kind = AB_HOLE_BYTES, .span = a->span };
	struct ab_word w = { .text = "", .span = a->span, .holes = &hole,
			     .hole_count = 1 };

	return a->is_array && !a->is_list ? ab_run_array(run, &w, 1) :
					    ab_run_unknown(run, NULL);
}

/* What nobody can assign in bash, whatever the text says of it. */
static bool is_readonly(const struct ab_shell_assign *a)
{
	static const char *const names[] = { "UID", "EUID", "PPID", "BASHOPTS",
					     "SHELLOPTS", "BASH_VERSINFO" };

	if (AB_LIKELY(!memchr("UEPBS", *a->name, 5)))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == a->name_len &&
		    !memcmp(names[i], a->name, a->name_len))
			return true;
	return false;
}

static void assign(struct ab_shell_run *run, const struct ab_shell_assign *a)
{
	struct variable *v = ab_run_find(run, a->name, a->name_len);
	const struct ab_word *name;
	const struct value *old;

	if (AB_UNLIKELY(v && v->flags & VARIABLE_NAMEREF))
		v = ab_run_target(run, v, &name);
	if (AB_UNLIKELY((v && v->flags & VARIABLE_READONLY) || is_readonly(a)))
		run->has_ended = true;
	old = !v || !v->when ? from_environment(run, a) :
			       ab_run_value_of(run, v);
	ab_run_assign(run, a->name, a->name_len,
		      ab_value_assigned(run, old, old->attributes, a), 0);
}

uint32_t ab_builtin_options(const struct ab_word *argv, uint32_t argc,
			    char letters[16])
{
	uint32_t i = 1, n = 0;

	for (; i < argc; i++) {
		const struct ab_word *w = &argv[i];

		if (w->len < 2 || (w->text[0] != '-' && w->text[0] != '+'))
			break;
		if (ab_word_equals(w, "--")) {
			i++;
			break;
		}
		for (uint32_t k = 1; k < w->len && n < 15; k++)
			if (w->text[0] == '-')
				letters[n++] = w->text[k];
	}
	letters[n] = '\0';
	return i;
}

/* Keeps a value for the caller of the function it is local to; it is unset
 * then, unless it is local to that already or inherits the value. */
static void begin_local(struct ab_shell_run *run, const char *name,
			uint32_t len, bool inherits)
{
	struct undo *u;
	struct variable *v;

	if (!run->call)
		return;
	v = ab_run_find(run, name, len);
	if (v && v->local_to == run->call)
		return;
	if (!v) {
		ab_run_assign(run, name, len,
			      ab_run_losses(run) ? NULL : &ab_run_absent, 0);
		v = ab_run_find(run, name, len);
	}
	u = ab_run_high(run, sizeof(*u));
	if (!v || !u)
		return;
	u->variable = v;
	u->value = ab_run_value_of(run, v);
	u->older = run->call->locals;
	u->local_to = v->local_to;
	run->call->locals = u;
	/* on one way only: on the others it is not local yet */
	if (run->uncertain == run->call->uncertain)
		v->local_to = run->call;
	if (AB_UNLIKELY(run->may_inherit))
		ab_run_restore(run, v,
			       ab_run_either(run, u->value->origin, u->value,
					     &ab_run_unset));
	else if (!inherits)
		ab_run_restore(run, v, &ab_run_unset);
}

/* declare +x: an attribute is taken away. */
static bool takes_away(const struct ab_word *argv, uint32_t argc)
{
	for (uint32_t i = 1; i < argc; i++) {
		if (argv[i].len && *argv[i].text == '+')
			return true;
	}
	return false;
}

/* Most commands have none. */
static bool has_letter(const char *letters, char c)
{
	return *letters && strchr(letters, c);
}

/* A definition sets none. */
bool ab_builtin_is_any_name(const struct ab_shell_command *c,
			    const struct ab_word *w)
{
	uint32_t len = ab_builtin_name_len(w, 0);

	return w->hole_count && !ab_builtin_is_exact(w, len ? len : 1) &&
	       !(c->place.flags & AB_SHELL_DEFINITION);
}

/* declare -n NAME=TARGET */
static void refer(struct ab_shell_run *run, const struct ab_shell_command *c,
		  const struct ab_word *w, uint32_t len)
{
	struct ab_word target = { 0 };
	bool is_known = len < w->len && w->text[len] == '=';
	bool is_sure = !(c->place.flags & (AB_SHELL_MAYBE | AB_SHELL_LOOP));

	if (c->place.flags & AB_SHELL_DEFINITION)
		return;
	if (is_known)
		target = ab_builtin_tail(run, w, len + 1);
	is_known = is_known && !target.hole_count &&
		   ab_builtin_name_len(&target, 0) == target.len;
	ab_run_refer(run, w->text, len, is_known ? &target : NULL, is_sure);
}

static uint32_t attribute_of(char letter)
{
	switch (letter) {
	case 'a':
		return VALUE_LIST;
	case 'A':
		return VALUE_MAP;
	case 'i':
		return VALUE_INTEGER;
	case 'l':
		return VALUE_LOWER;
	case 'u':
		return VALUE_UPPER;
	default:
		return 0;
	}
}

/* NAME[...]=VALUE in one word: the assignment that it is. */
static void text_assign(struct ab_shell_run *run, const struct ab_word *w,
			uint32_t len, struct ab_shell_assign *a)
{
	struct ab_word *value = ab_run_low(run, 2 * sizeof(*value));
	struct ab_word *key;
	const char *end = NULL;
	uint32_t at = len;

	if (!value)
		return;
	key = value + 1;
	if (w->text[at] == '[') {
		a->is_array = true;
		end = memmem(w->text + at, w->len - at, "]=", 2);
		end = end ? end : memmem(w->text + at, w->len - at, "]+=", 3);
		at = end ? (uint32_t)(end - w->text) + 1 : len;
	}
	a->is_append = at < w->len && w->text[at] == '+';
	at += a->is_append;
	if (at >= w->len || w->text[at] != '=' ||
	    !ab_builtin_is_exact(w, at + 1))
		return;
	*value = ab_builtin_tail(run, w, at + 1);
	a->values = value;
	a->value_count = 1;
	if (!end)
		return;
	*key = *w;
	key->text += len + 1;
	key->len = (uint32_t)(end - key->text);
	key->hole_count = 0;
	a->keys = key;
}

/* A word that is an array to who is one: declare -a 'x=(a b)'. What only the
   environment may have set is none. */
static bool is_quoted_list(const struct value *old, bool is_set,
			   uint32_t attributes,
			   const struct ab_shell_assign *a)
{
	return (old->kind == VALUE_ARRAY ||
		(old->kind == VALUE_UNKNOWN && is_set) ||
		attributes & (VALUE_LIST | VALUE_MAP)) &&
	       a->value_count == 1 && a->values->len &&
	       *a->values->text == '(';
}

/* What no text has set is no array. */
static const struct value *old_value(const struct ab_shell_run *run,
				     const char *name, uint32_t len,
				     uint32_t attributes)
{
	const struct variable *v = ab_run_find(run, name, len);

	return (!v || !v->when) && attributes & (VALUE_LIST | VALUE_MAP) ?
		       &ab_run_unset :
		       ab_run_value_of(run, v);
}

#define CASES ((uint32_t)(VALUE_LOWER | VALUE_UPPER))

struct declaration {
	const struct ab_shell_command *c;
	uint32_t flags, attributes;
	bool is_removal;
	uint32_t lists; /* of the command that are behind us */
};

static void declare_name(struct ab_shell_run *run, struct declaration *d,
			 const struct ab_word *w, uint32_t len)
{
	const struct value *old, *value;
	struct ab_shell_assign a = { .span = w->span };
	const struct variable *v = ab_run_find(run, w->text, len);
	bool is_set = v && v->when;
	uint32_t attributes;

	old = old_value(run, w->text, len, d->attributes);
	attributes = old->attributes;
	if (d->attributes & CASES)
		attributes &= ~CASES;
	attributes |= d->attributes;
	if ((attributes & CASES) == CASES)
		attributes &= ~CASES; /* each takes the other away */
	if (len == w->len) {
		value = ab_value_declared(run, old, attributes);
		if (d->is_removal && old->attributes)
			value = ab_run_unknown(run, NULL);
		ab_run_assign(run, w->text, len, value, d->flags);
		return;
	}
	if (d->lists < d->c->list_count &&
	    d->c->lists[d->lists].name_len == len &&
	    ab_same(d->c->lists[d->lists].name, w->text, len))
		a = d->c->lists[d->lists++];
	else
		text_assign(run, w, len, &a);
	value = ab_value_assigned(run, old, attributes, &a);
	if ((!a.is_list && is_quoted_list(old, is_set, attributes, &a)) ||
	    (d->is_removal && old->attributes))
		value = ab_value_with(
			run, ab_run_unknown(run, ab_run_blend(run, w, 1)),
			value->attributes);
	ab_run_assign(run, w->text, len, value, d->flags);
}

/* export, readonly, declare, typeset, local */
static void effect_declare(struct ab_shell_run *run,
			   const struct ab_shell_tree *tree,
			   const struct ab_shell_command *c,
			   const struct ab_word *argv, uint32_t argc)
{
	char letters[16];
	uint32_t i = ab_builtin_options(argv, argc, letters);
	bool is_export = ab_word_equals(argv, "export");
	bool is_reference = has_letter(letters, 'n') && !is_export;
	bool is_local = ab_word_equals(argv, "local") ||
			(!is_export && !ab_word_equals(argv, "readonly") &&
			 !has_letter(letters, 'g'));
	struct declaration d = { .c = c };

	(void)tree;
	if (has_letter(letters, 'f') || has_letter(letters, 'p'))
		return;
	if (is_export || has_letter(letters, 'x'))
		d.flags |= VARIABLE_EXPORTED;
	for (const char *l = letters; *l; l++)
		d.attributes |= attribute_of(*l);
	if (d.attributes & ~(uint32_t)VALUE_LIST)
		d.flags |= VARIABLE_ATTRIBUTED;
	if (ab_word_equals(argv, "readonly") || has_letter(letters, 'r'))
		d.flags |= VARIABLE_READONLY;
	d.is_removal = takes_away(argv, argc);
	/* export -n, declare +x; nothing takes the mark from a variable */
	if (run->branch_depth || run->uncertain || has_letter(letters, 'n') ||
	    d.is_removal)
		d.flags |= VARIABLE_MAYBE_EXPORTED;
	for (; i < argc; i++) {
		const struct ab_word *w = &argv[i];
		uint32_t len = ab_builtin_name_len(w, 0);

		if (ab_builtin_is_any_name(c, w))
			ab_run_set_any(run);
		if (!len || !ab_builtin_is_exact(w, len))
			continue;
		if (is_local)
			begin_local(run, w->text, len,
				    has_letter(letters, 'I'));
		if (is_reference)
			refer(run, c, w, len);
		else
			declare_name(run, &d, w, len);
	}
}

/* `unset a` and `unset 'a[i]'`; with -n a reference itself. */
static void unset(struct ab_shell_run *run, const struct ab_word *w,
		  uint32_t len, bool is_reference)
{
	struct variable *v = ab_run_find(run, w->text, len);
	struct ab_word key = *w;

	if (len == w->len && is_reference && v) {
		ab_run_restore(run, v, &ab_run_unset);
		return;
	}
	if (len == w->len) {
		ab_run_assign(run, w->text, len, &ab_run_unset, 0);
		return;
	}
	key.text += len + 1;
	key.len = w->len - len > 1 ? w->len - len - 2 : 0;
	if (w->hole_count || w->text[w->len - 1] != ']' ||
	    ab_word_equals(&key, "@") || ab_word_equals(&key, "*"))
		key.len = 0;
	ab_run_assign(run, w->text, len,
		      key.len && v && v->when ?
			      ab_value_without(run, ab_run_value_of(run, v),
					       &key) :
			      ab_run_unknown(run, NULL),
		      0);
}

static void effect_unset(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct ab_shell_command *c,
			 const struct ab_word *argv, uint32_t argc)
{
	char letters[16];
	uint32_t i = ab_builtin_options(argv, argc, letters);

	(void)tree;
	for (uint32_t k = i; k < argc && !strchr(letters, 'v'); k++)
		ab_run_undefine(run, &argv[k]);
	if (strchr(letters, 'f'))
		return;
	for (; i < argc; i++) {
		uint32_t len = ab_builtin_name_len(&argv[i], 0);

		if (ab_builtin_is_any_name(c, &argv[i]))
			ab_run_set_any(run);
		if (len && ab_builtin_is_exact(&argv[i], len))
			unset(run, &argv[i], len, strchr(letters, 'n'));
	}
}

/* printf -v NAME */
static void effect_printf(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  const struct ab_shell_command *c,
			  const struct ab_word *argv, uint32_t argc)
{
	struct ab_word out;
	struct ab_word *rest;
	uint32_t len;

	(void)tree;
	if (argc < 4 || !ab_word_equals(&argv[1], "-v"))
		return;
	if (ab_builtin_is_any_name(c, &argv[2]))
		ab_run_set_any(run);
	len = ab_builtin_name_len(&argv[2], 0);
	if (!len || !ab_builtin_is_exact(&argv[2], len))
		return;
	rest = ab_run_low(run, (argc - 2) * sizeof(*rest));
	if (!rest)
		return;
	rest[0] = argv[0];
	memcpy(rest + 1, argv + 3, (argc - 3) * sizeof(*rest));
	if (len == argv[2].len && ab_output_of(run, rest, argc - 2, &out))
		ab_run_assign(run, argv[2].text, len,
			      ab_run_scalar(run, &out), 0);
	else
		ab_run_assign(run, argv[2].text, len,
			      ab_run_unknown(run,
					     ab_run_blend(run, argv, argc)),
			      0);
}

/* set [--] ARGS */
static void effect_set(struct ab_shell_run *run,
		       const struct ab_shell_tree *tree,
		       const struct ab_shell_command *c,
		       const struct ab_word *argv, uint32_t argc)
{
	uint32_t i = 1;

	(void)tree;
	(void)c;
	while (i < argc && argv[i].len > 1 &&
	       (argv[i].text[0] == '-' || argv[i].text[0] == '+') &&
	       !ab_word_equals(&argv[i], "--"))
		i += argv[i].text[argv[i].len - 1] == 'o' ? 2 : 1;
	if (i >= argc)
		return;
	if (ab_word_equals(&argv[i], "--"))
		i++;
	ab_run_assign(run, "@", 1, ab_run_array(run, argv + i, argc - i), 0);
}

static void effect_shift(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct ab_shell_command *c,
			 const struct ab_word *argv, uint32_t argc)
{
	const struct value *all = ab_run_value(run, "@", 1);
	int64_t n = 1;
	struct value *rest;

	(void)tree;
	(void)c;
	if (all->kind != VALUE_ARRAY)
		return;
	if (argc > 1 && (argv[1].hole_count ||
			 !ab_arith(run, argv[1].text, argv[1].len, &n))) {
		ab_run_assign(run, "@", 1, NULL, 0);
		return;
	}
	if (all->is_loose && (n < 0 || n > all->count ||
			      ab_value_is_loose(all->words, (uint32_t)n))) {
		ab_run_assign(run, "@", 1, ab_choice_shift(run, all, n), 0);
		return;
	}
	if (n < 0 || n > all->count)
		return;
	rest = ab_run_high(run, sizeof(*rest));
	if (!rest)
		return;
	*rest = *all;
	rest->words += n;
	rest->count -= (uint32_t)n;
	ab_run_assign(run, "@", 1, rest, 0);
}

/* a[...] */
static bool has_subscript(const struct ab_word *w)
{
	uint32_t len = ab_builtin_name_len(w, 0);

	return len && len < w->len && w->text[len] == '[';
}

/* What these take for names and numbers is expanded once more, so that $(...)
 * in a quoted subscript is run. */
static void visit_subscripts(struct ab_shell_run *run,
			     const struct ab_shell_command *c,
			     enum ab_builtin builtin,
			     const struct ab_word *argv, uint32_t argc)
{
	const uint64_t declare = AB_BUILTIN(DECLARE) | AB_BUILTIN(TYPESET) |
				 AB_BUILTIN(LOCAL);
	const uint64_t names = declare | AB_BUILTIN(EXPORT) |
			       AB_BUILTIN(READONLY) | AB_BUILTIN(READ) |
			       AB_BUILTIN(UNSET) | AB_BUILTIN(MAPFILE) |
			       AB_BUILTIN(READARRAY) | AB_BUILTIN(GETOPTS) |
			       AB_BUILTIN(WAIT);
	const uint64_t tests = AB_BUILTIN(TEST) | AB_BUILTIN(BRACKET) |
			       AB_BUILTIN(PRINTF);
	uint64_t bit = UINT64_C(1) << builtin;
	bool is_let = builtin == AB_BUILTIN_LET;
	char letters[16];

	if (!is_let && !(bit & (names | tests)))
		return;
	if (bit & declare) {
		ab_builtin_options(argv, argc, letters);
		is_let = strchr(letters, 'i');
	}
	for (uint32_t i = 1; i < argc; i++)
		if (is_let || ((bit & names) && has_subscript(&argv[i])) ||
		    ((bit & tests) && ab_word_equals(&argv[i - 1], "-v")))
			ab_visit_embedded(run, &argv[i], &c->place);
}

/* Names that an assignment operator, ++ or -- follows or precedes. */
void ab_arith_effects(struct ab_shell_run *run, const struct ab_word *w)
{
	const char *s = w->text;
	uint32_t len = w->len;

	for (uint32_t i = 0; i < len; i++) {
		uint32_t begin = i, end;
		int64_t n;
		bool changes = false, is_plain;

		if (ab_shell_name[(unsigned char)s[i]] == AB_DIGIT) {
			while (i + 1 < len &&
			       ab_shell_name[(unsigned char)s[i + 1]])
				i++;
			continue;
		}
		if (!ab_shell_name[(unsigned char)s[i]])
			continue;
		end = i + ab_builtin_name_len(w, i);
		i = end - 1;
		changes = begin >= 2 && s[begin - 1] == s[begin - 2] &&
			  (s[begin - 1] == '+' || s[begin - 1] == '-');
		while (end < len && (s[end] == ' ' || s[end] == '\t'))
			end++;
		if (end < len && s[end] == '[')
			changes = true;
		is_plain = end + 1 < len && s[end] == '=' && s[end + 1] != '=';
		changes = changes || is_plain;
		for (uint32_t k = end; !changes && k < len && k < end + 3; k++)
			changes = s[k] == '=' && k > end &&
				  strchr("+-*/%<>&^|", s[k - 1]) &&
				  !(k + 1 < len && s[k + 1] == '=') &&
				  !(k == end + 1 &&
				    (s[end] == '<' || s[end] == '>'));
		changes = changes || (end + 1 < len && s[end] == s[end + 1] &&
				      (s[end] == '+' || s[end] == '-'));
		if (!changes)
			continue;
		if (is_plain && begin == 0 && w->hole_count == 0 &&
		    !memchr(s, ',', len) &&
		    ab_arith(run, s + end + 1, len - end - 1, &n)) {
			struct ab_word number = { .span = w->span };
			char *digits = ab_run_low(run, 24);

			if (!digits)
				return;
			number.text = digits;
			number.len = ab_decimal(digits, n);
			ab_run_assign(run, s, ab_builtin_name_len(w, 0),
				      ab_run_scalar(run, &number), 0);
			return;
		}
		ab_run_assign(run, s + begin, ab_builtin_name_len(w, begin),
			      NULL, 0);
	}
}

static void effect_let(struct ab_shell_run *run,
		       const struct ab_shell_tree *tree,
		       const struct ab_shell_command *c,
		       const struct ab_word *argv, uint32_t argc)
{
	(void)tree;
	(void)c;
	for (uint32_t i = 1; i < argc; i++)
		ab_arith_effects(run, &argv[i]);
}

static void effect_getopts(struct ab_shell_run *run,
			   const struct ab_shell_tree *tree,
			   const struct ab_shell_command *c,
			   const struct ab_word *argv, uint32_t argc)
{
	(void)tree;
	(void)c;
	if (argc > 2 && argv[2].hole_count == 0)
		ab_run_assign(run, argv[2].text, argv[2].len, NULL, 0);
	ab_run_assign(run, "OPTARG", 6, NULL, 0);
}

/* Where the visitor says that the shell is then; or a plain absolute path. */
static void effect_cd(struct ab_shell_run *run,
		      const struct ab_shell_tree *tree,
		      const struct ab_shell_command *c,
		      const struct ab_word *argv, uint32_t argc)
{
	const struct ab_word *w = &argv[argc - 1];
	const struct variable *kept = ab_run_find(run, AB_SHELL_CWD,
						  sizeof(AB_SHELL_CWD) - 1);
	const struct value *to = ab_run_value_of(run, kept);

	(void)tree;
	(void)c;
	run->moves++;
	if (argc > 1 && ab_word_equals(&argv[1], "-n"))
		return; /* of pushd and popd: only what is kept */
	if (!kept && argc == 2 && !w->hole_count && w->len &&
	    w->text[0] == '/' && !memmem(w->text, w->len, "..", 2))
		to = ab_run_scalar(run, w);
	ab_run_assign(run, "OLDPWD", 6, ab_run_value(run, "PWD", 3), 0);
	if (to->kind != VALUE_SCALAR || !to->words->len)
		to = NULL;
	ab_run_assign(run, "PWD", 3, to, 0);
}

/* Where in the tree a new line begins after `at`. */
static uint32_t next_line(const struct ab_shell_tree *tree, uint32_t at)
{
	const unsigned char *end =
		memchr(tree->text + at, '\n', tree->len - at);

	return end ? (uint32_t)(end - tree->text) : tree->len;
}

static void effect_alias(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct ab_shell_command *c,
			 const struct ab_word *argv, uint32_t argc)
{
	for (uint32_t i = 1; i < argc; i++) {
		const struct ab_word *w = &argv[i];
		const char *eq = memchr(w->text, '=', w->len);
		uint32_t len = eq ? (uint32_t)(eq - w->text) : 0;
		struct alias *a;
		struct ab_word value;
		char *name;

		if (!len || !ab_builtin_is_exact(w, len + 1))
			continue;
		if (run->alias_count++ >= 64) {
			ab_run_limit(run, "too many aliases");
			return;
		}
		a = ab_run_high(run, sizeof(*a));
		name = ab_run_high(run, len + 1);
		value = ab_builtin_tail(run, w, len + 1);
		if (!a || !name)
			return;
		memcpy(name, w->text, len);
		name[len] = '\0';
		memset(a, 0, sizeof(*a));
		a->name = name;
		a->len = len;
		a->value = ab_run_keep(run, &value);
		a->tree = tree;
		/* an alias counts from the next line on */
		a->visible = tree->source ? 0 : next_line(tree, c->span.end);
		if (!a->value)
			return;
		a->next = run->aliases;
		run->aliases = a;
	}
}

void ab_shell_note_option(struct ab_shell_run *run,
			  enum ab_shell_option option)
{
	run->learned += !(run->options & option);
	run->options |= option;
}

/* shopt -s localvar_inherit, nullglob, lastpipe */
static void effect_shopt(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct ab_shell_command *c,
			 const struct ab_word *argv, uint32_t argc)
{
	(void)tree;
	(void)c;
	ab_shell_learn(run);
	for (uint32_t i = 1; i < argc; i++) {
		run->may_inherit |= argv[i].hole_count ||
				    ab_word_equals(&argv[i],
						   "localvar_inherit");
		if (argv[i].hole_count || ab_word_equals(&argv[i], "nullglob"))
			ab_shell_note_option(run, AB_SHELL_NULLGLOB);
		if (argv[i].hole_count || ab_word_equals(&argv[i], "lastpipe"))
			ab_shell_note_option(run, AB_SHELL_LASTPIPE);
	}
}

static const effect_fn effects[] = {
	[AB_BUILTIN_SHOPT] = effect_shopt,
	[AB_BUILTIN_EXPORT] = effect_declare,
	[AB_BUILTIN_READONLY] = effect_declare,
	[AB_BUILTIN_DECLARE] = effect_declare,
	[AB_BUILTIN_TYPESET] = effect_declare,
	[AB_BUILTIN_LOCAL] = effect_declare,
	[AB_BUILTIN_UNSET] = effect_unset,
	[AB_BUILTIN_READ] = ab_builtin_read,
	[AB_BUILTIN_MAPFILE] = ab_builtin_mapfile,
	[AB_BUILTIN_READARRAY] = ab_builtin_mapfile,
	[AB_BUILTIN_PRINTF] = effect_printf,
	[AB_BUILTIN_SET] = effect_set,
	[AB_BUILTIN_SHIFT] = effect_shift,
	[AB_BUILTIN_LET] = effect_let,
	[AB_BUILTIN_GETOPTS] = effect_getopts,
	[AB_BUILTIN_CD] = effect_cd,
	[AB_BUILTIN_PUSHD] = effect_cd,
	[AB_BUILTIN_POPD] = effect_cd,
	[AB_BUILTIN_ALIAS] = effect_alias,
	[AB_BUILTIN_WHICH] = NULL, /* the last name there is */
};

#define JUMPS                                                                  \
	(AB_BUILTIN(RETURN) | AB_BUILTIN(BREAK) | AB_BUILTIN(CONTINUE))
#define MOVES (AB_BUILTIN(CD) | AB_BUILTIN(PUSHD) | AB_BUILTIN(POPD))

/* What is behind it may not run. `break 2` leaves more than one loop. */
static void jump(struct ab_shell_run *run, const struct ab_shell_command *c,
		 enum ab_builtin builtin, uint32_t argc)
{
	if (run->call)
		run->call->is_sure = true;
	if (builtin == AB_BUILTIN_RETURN)
		ab_run_jump(run, run->call, c->place.flags);
	else
		ab_run_jump(run, argc > 1 ? NULL : ab_run_loop(run),
			    c->place.flags);
}

enum ab_builtin ab_builtin_behind_front(const struct ab_shell_command *c,
					uint32_t *skip)
{
	enum ab_builtin builtin = c->builtin;
	uint32_t i = 0;

	while (i + 1 < c->argc && (builtin == AB_BUILTIN_COMMAND ||
				   builtin == AB_BUILTIN_BUILTIN)) {
		do {
			builtin = ab_shell_builtin(&c->argv[++i]);
		} while (i + 1 < c->argc &&
			 (ab_word_equals(&c->argv[i], "-p") ||
			  ab_word_equals(&c->argv[i], "--")));
	}
	*skip = i;
	return builtin;
}

/* `x=/ :` sets x in dash and in bash's posix mode, as with any of these. */
static AB_COLD void assign_before(struct ab_shell_run *run,
				  const struct ab_shell_command *c)
{
	static const uint64_t special =
		JUMPS | AB_BUILTIN(COLON) | AB_BUILTIN(DOT) |
		AB_BUILTIN(EVAL) | AB_BUILTIN(EXPORT) | AB_BUILTIN(READONLY) |
		AB_BUILTIN(SET) | AB_BUILTIN(SHIFT) | AB_BUILTIN(TRAP) |
		AB_BUILTIN(UNSET);

	if (!((UINT64_C(1) << c->builtin) & special))
		return;
	run->result->differs = true;
	for (uint32_t i = 0; run->limits.posix && i < c->assign_count; i++)
		assign(run, &c->assigns[i]);
}

/* Not a function or an alias of that name; and bash goes on where it is told
   too much, `exit 1 2`, or cannot open a file (bash(1)). */
static bool is_sure_exit(const struct ab_shell_run *run,
			 const struct ab_shell_command *c,
			 const struct ab_word *argv, uint32_t argc)
{
	const struct ab_hole *h = argc > 1 && argv[1].hole_count
					  ? argv[1].holes
					  : NULL;

	return !c->callee && !run->aliases && !c->redir_count && argc <= 2 &&
	       (!h || h->kind == AB_HOLE_BYTES ||
		(h->name && !strcmp(h->name, "?")));
}

void ab_builtin_effects(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct ab_shell_command *c)
{
	const struct ab_word *argv;
	enum ab_builtin builtin;
	uint32_t skip, argc;

	if (c->argc == 0) {
		for (uint32_t i = 0; i < c->assign_count; i++)
			assign(run, &c->assigns[i]);
		return;
	}
	if (AB_UNLIKELY(c->assign_count))
		assign_before(run, c);
	builtin = ab_builtin_behind(c, &skip);
	argv = c->argv + skip;
	argc = c->argc - skip;
	if (builtin == AB_BUILTIN_NONE)
		return;
	run->doubts_exits |= builtin == AB_BUILTIN_TRAP;
	if (AB_UNLIKELY((UINT64_C(1) << builtin) &
			(JUMPS | AB_BUILTIN(EXIT)))) {
		run->exits++;
		run->left = run->told;
		run->left_at = run->uncertain;
		run->left_depth = ab_run_subshell(&c->place);
		run->left_call = builtin == AB_BUILTIN_EXIT ? NULL : run->call;
		run->is_exit = builtin == AB_BUILTIN_EXIT &&
			       is_sure_exit(run, c, argv, argc);
		if (builtin != AB_BUILTIN_EXIT)
			jump(run, c, builtin, argc);
	}
	/* behind `cd d || { cd e; continue; }` it is not where it was */
	if (AB_UNLIKELY(c->place.flags & AB_SHELL_UNMOVED) &&
	    (UINT64_C(1) << builtin) & MOVES)
		run->jumps++;
	visit_subscripts(run, c, builtin, argv, argc);
	if (effects[builtin])
		effects[builtin](run, tree, c, argv, argc);
}
