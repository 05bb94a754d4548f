/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A simple command in a run: its words, assignments and redirections expanded,
 * told to the visitor, and what it does to the shell.
 */
#include "config.h"

#include "base/alloc.h"
#include "shell/state.h"

/* Without anything to expand, as most words are; of the text itself. */
static inline void put_text(const unsigned char *text, const struct word *w,
			    struct ab_word *out)
{
	uint32_t begin = w->begin, end = w->end;

	if (AB_UNLIKELY(w->parts)) { /* in quotes */
		begin = w->parts->begin;
		end = w->parts->end;
	}
	/* field by field: a whole one would be put together elsewhere first */
	out->text = (const char *)text + begin;
	out->len = end - begin;
	out->hole_count = 0;
	out->holes = NULL;
	out->span.begin = begin;
	out->span.end = end;
	out->map = NULL;
	out->map_count = 0;
	out->is_quoted = w->parts;
}

void ab_visit_exact(const struct ab_shell_tree *tree, const struct word *w,
		    struct ab_word *out)
{
	put_text(tree->text, w, out);
	out->span = ab_tree_span(tree, out->span.begin, out->span.end);
}

/* (...) of an assignment. */
static void expand_list(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct word *list, struct fields *values,
			struct ab_shell_assign *a)
{
	struct fields keys = { 0 };

	for (const struct word *e = list; e; e = e->next) {
		/* `a=1` is a word here, and [a]=1 has a key */
		bool is_keyed = e->assign && tree->text[e->begin] == '[';
		struct ab_word *key;

		ab_expand_word(run, tree, e,
			       is_keyed ? EXPAND_VALUE : EXPAND_FIELDS,
			       values);
		if (!is_keyed && !keys.count)
			continue;
		/* those in front of it have none */
		while (keys.count < values->count &&
		       ab_fields_new(run, &keys))
			;
		/* no room: there is no value, either */
		if (!is_keyed || !keys.count || keys.count != values->count)
			continue;
		key = &keys.words[keys.count - 1];
		a->is_odd |= !ab_expand_subscript(run, tree, e, key) ||
			     tree->text[e->begin + e->assign - 2] == '+';
	}
	a->keys = keys.count == values->count ? keys.words : NULL;
	a->is_odd |= keys.count && !a->keys;
}

/* Of a[i]=; a hole where nobody knows. */
static const struct ab_word *expand_key(struct ab_shell_run *run,
					const struct ab_shell_tree *tree,
					const struct word *w)
{
	static const struct ab_hole any = { .kind = AB_HOLE_BYTES };
	static const struct ab_word unknown = { .text = "", .holes = &any,
						.hole_count = 1 };
	struct ab_word *key = ab_run_low(run, sizeof(*key));

	return key && ab_expand_subscript(run, tree, w, key) ? key : &unknown;
}

static void expand_assign(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  const struct word *w, struct ab_shell_assign *a)
{
	const char *text = (const char *)tree->text + w->begin;
	bool is_append = w->assign > 1 && text[w->assign - 2] == '+';
	uint32_t len = w->assign - 1 - is_append;
	struct fields values = { 0 };
	const struct part *array = w->parts;
	char *name;

	/* a name, but with a subscript a shorter one */
	if (len && text[len - 1] == ']')
		for (len = 0; ab_shell_name[(unsigned char)text[len]]; len++)
			;
	memset(a, 0, sizeof(*a));
	a->name = "";
	a->span = ab_tree_span(tree, w->begin, w->end);
	name = ab_run_low(run, len + 1);
	if (!name)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	a->name = name;
	a->name_len = len;
	a->is_append = is_append;
	a->is_array = text[len] == '[';
	while (array && array->kind != PART_ARRAY)
		array = array->next;
	if (!array) {
		ab_expand_word(run, tree, w, EXPAND_VALUE, &values);
		if (AB_UNLIKELY(a->is_array))
			a->keys = expand_key(run, tree, w);
	} else {
		a->is_array = a->is_list = true;
		expand_list(run, tree, array->u.words, &values, a);
	}
	a->values = values.words;
	a->value_count = values.count;
}

static bool declares(const struct ab_word *w)
{
	return (UINT64_C(1) << ab_shell_builtin(w)) &
	       (AB_BUILTIN(EXPORT) | AB_BUILTIN(LOCAL) |
		AB_BUILTIN(READONLY) | AB_BUILTIN(DECLARE) |
		AB_BUILTIN(TYPESET));
}

/* NAME=(...) of `declare` and the like. */
static AB_COLD void expand_lists(struct ab_shell_run *run,
				 const struct ab_shell_tree *tree,
				 const struct word *name,
				 struct ab_shell_command *c)
{
	uint32_t count = 0;
	struct ab_shell_assign *lists;

	for (const struct word *w = name->next; w; w = w->next)
		count += (w->flags & WORD_ARRAY) != 0;
	lists = ab_run_low(run, count * sizeof(*lists));
	if (!lists)
		return;
	c->lists = lists;
	for (const struct word *w = name->next; w; w = w->next)
		if (w->flags & WORD_ARRAY)
			expand_assign(run, tree, w, &lists[c->list_count++]);
}

/* A command of nothing but exact words. */
static void exact_command(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  const struct cmd *cmd, struct ab_shell_command *c)
{
	size_t size = cmd->word_count * sizeof(struct ab_word);
	const unsigned char *text = tree->text;
	struct ab_word *out, *all;

	if (AB_LIKELY(run->kept && !tree->source)) {
		run->kept--;
		c->is_kept = true;
		out = ab_run_high(run, size);
	} else {
		out = ab_run_low(run, size);
	}
	if (!out)
		return;
	c->argv = all = out;
	c->argc = cmd->word_count;
	for (const struct word *w = cmd->words; w; w = w->next)
		put_text(text, w, out++);
	if (AB_UNLIKELY(tree->source))
		for (; all < out; all++)
			all->span = ab_tree_span(tree, all->span.begin,
						 all->span.end);
	c->builtin = (enum ab_builtin)cmd->builtin;
	if (AB_UNLIKELY(cmd->words && cmd->words->parts))
		c->builtin = ab_shell_builtin(&c->argv[0]);
}

/* The assignments before the name: returns the word that they end at. */
static const struct word *expand_assigns(struct ab_shell_run *run,
					 const struct ab_shell_tree *tree,
					 const struct cmd *cmd,
					 struct ab_shell_command *c)
{
	struct ab_shell_assign *assigns;
	const struct word *end = cmd->words;
	uint32_t count = 0;

	for (; end && end->assign; end = end->next)
		count++;
	if (AB_LIKELY(!count))
		return end;
	assigns = ab_run_low(run, count * sizeof(*assigns));
	if (!assigns)
		return NULL;
	c->assigns = assigns;
	for (const struct word *w = cmd->words; w != end; w = w->next)
		expand_assign(run, tree, w, &assigns[c->assign_count++]);
	return end;
}

/* argv and assignments of a simple command. */
static void expand_command(struct ab_shell_run *run,
			   const struct ab_shell_tree *tree,
			   const struct cmd *cmd, struct ab_shell_command *c)
{
	const struct word *name = expand_assigns(run, tree, cmd, c);
	struct fields argv = { .room = cmd->word_count };
	bool has_name = false, has_list = false;

	if (!cmd->words)
		return;
	argv.words = ab_run_low(run, argv.room * sizeof(*argv.words));
	if (!argv.words)
		return;
	for (const struct word *w = name; w; w = w->next) {
		has_list |= w->flags & WORD_ARRAY;
		if (ab_tree_is_exact(w) && argv.count < argv.room)
			ab_visit_exact(tree, w, &argv.words[argv.count++]);
		else
			ab_expand_word(run, tree, w,
				       w->assign && has_name &&
						       declares(argv.words) ?
					       EXPAND_ONE :
					       EXPAND_FIELDS,
				       &argv);
		if (w == name)
			has_name = argv.count > 0;
	}
	c->argv = argv.words;
	c->argc = argv.count;
	if (argv.count)
		c->builtin = !name->parts && ab_tree_is_exact(name) ?
				     (enum ab_builtin)cmd->builtin :
				     ab_shell_builtin(&argv.words[0]);
	if (AB_UNLIKELY(has_list) && argv.count && declares(argv.words))
		expand_lists(run, tree, name, c);
}

/* What goes to stdout does not go to the stream. */
static bool redirects(const struct ab_shell_command *c, int32_t fd)
{
	for (uint32_t i = 0; i < c->redir_count; i++)
		if (c->redirs[i].fd == fd ||
		    c->redirs[i].kind == AB_REDIR_WRITE_BOTH ||
		    c->redirs[i].kind == AB_REDIR_APPEND_BOTH)
			return true;
	return false;
}

/* >&2, >&$n, >/dev/stderr */
static bool writes_others(const struct ab_shell_command *c)
{
	for (uint32_t i = 0; i < c->redir_count; i++) {
		const struct ab_shell_redir *r = &c->redirs[i];
		const struct ab_word *w = &r->target;

		if (r->fd != 1 || r->kind >= AB_REDIR_HERE_DOC)
			continue;
		if (r->kind == AB_REDIR_DUP_OUT ||
		    memmem(w->text, w->len, "stderr", 6) ||
		    memmem(w->text, w->len, "/fd/", 4))
			return true;
	}
	return false;
}

/* cat of what is known: a here-document, or what it reads. */
static const struct ab_word *cat_output(const struct ab_shell_command *c)
{
	const struct ab_word *in = c->place.in ? c->place.in->value : NULL;

	if (c->builtin != AB_BUILTIN_CAT || c->argc > 2 ||
	    (c->argc == 2 && !ab_word_equals(&c->argv[1], "-")))
		return NULL;
	for (uint32_t i = 0; i < c->redir_count; i++)
		if (c->redirs[i].fd == 0)
			in = c->redirs[i].kind >= AB_REDIR_HERE_DOC ?
				     &c->redirs[i].target :
				     NULL;
	return in;
}

static void find_output(struct ab_shell_run *run, struct ab_shell_command *c,
			struct ab_word *room)
{
	if (c->callee || !c->argc)
		return;
	if (ab_output_of(run, c->argv, c->argc, room))
		c->output = room;
	else
		c->output = cat_output(c);
}

static struct passing *keep_assigns(struct ab_shell_run *run,
				    const struct ab_shell_command *c)
{
	struct passing *list = NULL;

	for (uint32_t i = c->assign_count; i-- > 0;) {
		const struct ab_shell_assign *a = &c->assigns[i];
		struct passing *p = ab_run_high(run, sizeof(*p));
		char *name = ab_run_high(run, a->name_len + 1);

		if (!p || !name)
			return list;
		memcpy(name, a->name, a->name_len + 1);
		p->name = name;
		p->len = a->name_len;
		p->value = a->value_count == 1 && !a->is_append ?
				   ab_run_scalar(run, a->values) :
				   ab_run_unknown(run, NULL);
		p->next = list;
		list = p;
	}
	return list;
}

/* The one that a word of this tree stands for; NULL: none. */
static struct alias *alias_of(const struct ab_shell_run *run,
			      const struct ab_shell_tree *tree,
			      const struct word *w)
{
	struct alias *a = run->aliases;
	uint32_t len = w->end - w->begin;

	if (w->parts || w->assign)
		return NULL;
	while (a && (a->len != len ||
		     memcmp(a->name, tree->text + w->begin, len) != 0))
		a = a->next;
	return a && !a->is_active &&
			       (a->tree != tree || w->begin >= a->visible) ?
		       a :
		       NULL;
}

static void add_source(struct ab_shell_run *run,
		       const struct ab_shell_tree *tree, uint32_t begin,
		       uint32_t end, struct segments *list)
{
	struct ab_word w = { .text = (const char *)tree->text + begin,
			     .len = end > begin ? end - begin : 0 };

	w.span = ab_tree_span(tree, begin, begin + w.len);
	ab_segments_add_word(run, list, &w, SEGMENT_QUOTED);
}

/* Behind a value that ends in a blank the next word may be one, too (bash(1),
   ALIASES). Where it ends. */
static uint32_t add_aliases(struct ab_shell_run *run,
			    const struct ab_shell_tree *tree,
			    const struct word *w, const struct alias *a,
			    struct segments *list)
{
	uint32_t end = w->end;

	ab_segments_add_word(run, list, a->value, SEGMENT_QUOTED);
	for (w = w->next; w && a->value->len; w = w->next) {
		char last = a->value->text[a->value->len - 1];

		if ((last != ' ' && last != '\t') ||
		    !(a = alias_of(run, tree, w)))
			break;
		add_source(run, tree, end, w->begin, list);
		ab_segments_add_word(run, list, a->value, SEGMENT_QUOTED);
		end = w->end;
	}
	return end;
}

/* The bodies of its here-documents, which stand behind the line, with what ends
   the last. */
static void add_bodies(struct ab_shell_run *run,
		       const struct ab_shell_tree *tree, const struct cmd *cmd,
		       struct segments *list)
{
	const struct redir *first = NULL, *last = NULL;
	const unsigned char *newline;
	uint32_t end;

	for (const struct redir *r = cmd->redirs; r; r = r->next) {
		if (r->kind != AB_REDIR_HERE_DOC)
			continue;
		first = first ? first : r;
		last = r;
	}
	if (!first || last->body_end < first->body)
		return;
	newline = memchr(tree->text + last->body_end, '\n',
			 tree->len - last->body_end);
	end = newline ? (uint32_t)(newline - tree->text) : tree->len;
	ab_segments_add(run, list, "\n", 1,
			ab_tree_span(tree, cmd->end, cmd->end),
			SEGMENT_QUOTED);
	add_source(run, tree, first->body, end, list);
}

/* An alias stands for its text with the rest of the command behind it. */
static bool visit_alias(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct cmd *cmd,
			const struct ab_shell_place_of *place)
{
	const struct word *w = cmd->words;
	struct ab_shell_text text = { 0 };
	struct segments list = { NULL, &list.first };
	struct fields fields = { 0 };
	struct pushed pushed = { 0 };
	const struct ab_word *kept;
	struct alias *a;
	uint32_t end;

	while (w && w->assign)
		w = w->next;
	a = w ? alias_of(run, tree, w) : NULL;
	if (!a || run->text_depth >= run->limits.texts)
		return false;
	add_source(run, tree, cmd->begin, w->begin, &list);
	end = add_aliases(run, tree, w, a, &list);
	add_source(run, tree, end, cmd->end, &list);
	add_bodies(run, tree, cmd, &list);
	ab_expand_fields(run, list.first, EXPAND_ONE, &fields);
	kept = fields.count ? ab_run_keep(run, &fields.words[0]) : NULL;
	if (!kept)
		return false;
	text.text = *kept;
	text.in = place->in;
	text.out = place->out;
	text.tag = place->tag;
	pushed.text = text;
	pushed.alias = a;
	ab_visit_pushed(run, &pushed, place);
	return true;
}

/* The frames of what the callback pushed, so that the first is on top. */
static void visit_pushed(struct ab_shell_run *run, struct pushed *list,
			 const struct ab_shell_command *c)
{
	struct pushed *reversed = NULL, *next;
	struct passing *passing = keep_assigns(run, c);

	for (; list; list = next) {
		next = list->next;
		list->next = reversed;
		list->passing = passing;
		list->text.is_perhaps |= run->is_reading_of;
		reversed = list;
	}
	for (; reversed; reversed = reversed->next)
		ab_visit_pushed(run, reversed, &c->place);
}

/* What the builtin does, unless a function stands in its place. */
static void builtin_effects(struct ab_shell_run *run,
			    const struct ab_shell_tree *tree,
			    const struct ab_shell_command *c)
{
	struct ab_shell_readings readings = { 0 };

	if (AB_LIKELY(!c->callee)) {
		ab_builtin_effects(run, tree, c);
		return;
	}
	if (!c->callee->is_perhaps)
		return;
	ab_shell_reading_begin(run, &readings);
	ab_builtin_effects(run, tree, c);
	ab_shell_reading_end(run, &readings);
	ab_shell_reading_begin(run, &readings);
	ab_shell_reading_end(run, &readings);
	ab_shell_reading_join(run, &readings);
}

#define MAX_VERSIONS 8 /* of a function that may be called */

/* The body; of a function that is perhaps not the one, those before it, too:
   the oldest first. */
static void visit_callee(struct ab_shell_run *run,
			 const struct ab_shell_command *c)
{
	struct function *f = ab_run_function(run, c->callee->name,
					     c->callee->name_len);

	for (uint32_t i = 0; f; i++) {
		if (i == MAX_VERSIONS) {
			ab_run_limit(run, "too many functions of one name");
			return;
		}
		ab_visit_call(run, f, c, keep_assigns(run, c));
		f = f->public.is_perhaps ?
			    (struct function *)(uintptr_t)ab_run_older(f) :
			    NULL;
	}
}

/* eval, source and `.`, whose text is not known when nothing was pushed. */
static bool is_any_text(const struct ab_shell_command *c)
{
	const uint64_t texts = AB_BUILTIN(EVAL) | AB_BUILTIN(SOURCE) |
			       AB_BUILTIN(DOT);
	uint32_t skip;

	return c->builtin &&
	       ((UINT64_C(1) << ab_builtin_behind(c, &skip)) & texts) &&
	       !(c->callee && !c->callee->is_perhaps);
}

/* realpath FILE, readlink -f FILE */
static bool is_resolver(const struct ab_shell_command *c)
{
	return c->argc > 1 && c->argc < 4 && c->builtin == AB_BUILTIN_NONE &&
	       (ab_word_equals(c->argv, "realpath") ||
		ab_word_equals(c->argv, "readlink"));
}

static void write_output(struct ab_shell_run *run,
			 const struct ab_shell_command *c)
{
	struct ab_stream *out = c->place.out;

	ab_run_write(run, out, c->output ? c->output : run->output);
	if (!c->output && !run->output && out->kind == AB_STREAM_COMMAND &&
	    is_resolver(c))
		ab_run_likely(run, out, &c->argv[c->argc - 1]);
}

static void command_done(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct ab_shell_command *c, bool skip)
{
	struct pushed *pushed = run->pushed;
	uint32_t at;

	run->pushed = NULL;
	run->pushed_tail = &run->pushed;
	if (c->builtin || !c->argc)
		builtin_effects(run, tree, c);
	if (!pushed && is_any_text(c)) {
		run->has_acted = true;
		ab_run_forget(run,
			      ab_builtin_behind(c, &at) == AB_BUILTIN_EVAL);
	}
	if (c->place.out && !pushed && !(c->callee && !skip) &&
	    (c->argc || c->redir_count)) {
		if (!redirects(c, 1))
			write_output(run, c);
		else if (ab_redirs_may_reach(run, c->redirs,
					     c->redir_count))
			ab_run_write(run, c->place.out, NULL);
	}
	if (AB_UNLIKELY(c->place.others != NULL) && writes_others(c))
		ab_run_write(run, c->place.others, NULL);
	run->output = run->input = NULL;
	if (c->callee && !skip)
		visit_callee(run, c);
	if (pushed)
		visit_pushed(run, pushed, c);
}

/* `$x`, `$x 2` or `command $x $y`, which may be a break. */
static bool is_any_jump(const struct ab_shell_command *c)
{
	uint32_t i = c->builtin == AB_BUILTIN_COMMAND ||
		     c->builtin == AB_BUILTIN_BUILTIN;
	uint32_t known = 0;

	if (i >= c->argc || !c->argv[i].hole_count)
		return false;
	while (++i < c->argc)
		known += !c->argv[i].hole_count;
	return known <= 1;
}

#define DECLARES                                                               \
	(AB_BUILTIN(DECLARE) | AB_BUILTIN(LOCAL) | AB_BUILTIN(READONLY) |      \
	 AB_BUILTIN(TYPESET))

/* readonly PWD; declare -r $x */
static bool may_keep_pwd(const struct ab_shell_command *c)
{
	uint32_t i;

	if (!((UINT64_C(1) << ab_builtin_behind(c, &i)) & DECLARES))
		return false;
	while (++i < c->argc) {
		const struct ab_word *w = &c->argv[i];

		if ((w->hole_count && !w->holes->at) ||
		    memmem(w->text, w->len, "PWD", 3))
			return true;
	}
	return false;
}

/* A cd or pushd that leads nowhere when it fails. It may also fail behind the
   move: when it cannot write where it is, or set what says so. */
static bool is_whole_move(const struct ab_shell_run *run,
			  const struct ab_shell_command *c)
{
	uint32_t i;
	enum ab_builtin builtin = ab_builtin_behind(c, &i);

	if (c->callee)
		return false;
	if (builtin == AB_BUILTIN_CD) {
		while (++i < c->argc)
			if (c->argv[i].len && *c->argv[i].text == '-')
				return false;
		if (ab_run_find(run, "CDPATH", 6))
			return false;
	}
	return (builtin == AB_BUILTIN_CD || builtin == AB_BUILTIN_PUSHD) &&
	       !run->keeps_pwd;
}

/* Whether it may have read what it was given. */
static bool tell_command(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 struct ab_shell_command *c)
{
	enum ab_shell_answer a = AB_SHELL_GO;
	bool is_read;

	run->command = c;
	if (run->visitor->command)
		a = run->visitor->command(run->user, run, c);
	ab_visit_answer(run, a);
	/* what a text does that it runs comes by itself */
	run->has_acted |= !c->builtin && !run->pushed && c->argc;
	if (AB_UNLIKELY(c->place.flags & AB_SHELL_LOOP) && is_any_jump(c))
		run->jumps++;
	run->told++;
	run->is_at_move = false;
	if (c->builtin) {
		run->keeps_pwd |= may_keep_pwd(c);
		run->is_at_move = is_whole_move(run, c);
	}
	/* what was pushed has the stream first, but for what came from it */
	is_read = c->place.in && !(c->callee && a != AB_SHELL_SKIP) &&
		  (!run->pushed || c->builtin);
	if (AB_LIKELY(!run->is_stopped) &&
	    (run->pushed || c->builtin || c->callee || c->place.out ||
	     !c->argc))
		command_done(run, tree, c, a == AB_SHELL_SKIP);
	ab_run_reckon(run, &c->place);
	run->command = NULL;
	return is_read;
}

/* ${x:=y} assigns, and so may the arithmetic of ${x:y}; of ${x:+y} the value
   is no part, and what is there of y is judged as it is. */
static bool is_steady_param(const struct param *param)
{
	return !param->is_indirect && param->op != OP_ASSIGN &&
	       param->op != OP_OTHER &&
	       (param->op <= OP_TOGGLE_ALL || param->op == OP_LENGTH);
}

/* A substitution was visited before, and what it gave is there; `${ x; }` is
   no other process, and >(...) is to be visited. */
static bool is_steady_part(const struct part *p)
{
	switch ((enum part_kind)p->kind) {
	case PART_TEXT:
	case PART_ANSI:
	case PART_INDEX:
	case PART_SEP:
	case PART_END:
	case PART_HOLE:
	case PART_COMMAND:
	case PART_BACKQUOTE:
	case PART_PROC_IN:
		return true;
	case PART_PARAM:
		return is_steady_param(p->u.param);
	case PART_FUNSUB:
	case PART_ARITH:
	case PART_PROC_OUT:
	case PART_ARRAY:
	case PART_ASSIGN:
		return false;
	}
	return false;
}

static bool is_steady_word(const struct word *w)
{
	for (const struct part *p = w->parts; p; p = p->next)
		if (!is_steady_part(p))
			return false;
	return true;
}

/* Expanding the words changes nothing, however often it is done. */
static bool is_steady(const struct cmd *cmd)
{
	for (const struct word *w = cmd->words; w; w = w->next)
		if (!is_steady_word(w))
			return false;
	for (const struct redir *r = cmd->redirs; r; r = r->next)
		if (r->tree || !is_steady_word(&r->target))
			return false;
	return true;
}

/* printf that sets no variable. */
static bool is_printed(const struct ab_shell_command *c)
{
	return c->builtin == AB_BUILTIN_PRINTF && c->argc > 1 &&
	       !c->argv[1].hole_count && c->argv[1].len &&
	       *c->argv[1].text != '-';
}

/* It does nothing to the shell, however often it is told, but to what the
 * visitor keeps there. What echo prints goes nowhere, or into a file, and what
 * the text of an eval does is perhaps done. What cat prints is what nobody
 * knows, each time. */
static bool is_idle(const struct ab_shell_command *c)
{
	return c->builtin == AB_BUILTIN_NONE ||
	       c->builtin == AB_BUILTIN_EVAL ||
	       c->builtin == AB_BUILTIN_CAT ||
	       ((!c->place.out || redirects(c, 1)) &&
		(c->builtin == AB_BUILTIN_ECHO ||
		 c->builtin == AB_BUILTIN_COLON || is_printed(c)));
}

/* The command by one reading of its values. False: it is one that does
 * something to the shell, of which there are not two. */
static bool read_command(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd,
			 const struct ab_shell_command *c, uint32_t reading,
			 struct ab_shell_command *out)
{
	*out = *c;
	out->argv = NULL;
	out->argc = 0;
	out->list_count = 0;
	out->is_kept = false; /* its words are new ones, which do not stay */
	run->reading = reading;
	run->is_reading = true;
	expand_command(run, tree, cmd, out);
	if (c->redir_count) {
		struct ab_shell_redir *redirs;

		out->redir_count = ab_visit_redirs(run, tree, cmd, &redirs);
		out->redirs = out->redir_count ? redirs : NULL;
	}
	run->is_reading = false;
	return out->argc && is_idle(out) &&
	       (out->argv->hole_count || !run->functions ||
		!ab_run_function(run, out->argv->text, out->argv->len));
}

/* $cmd after `[ c ] && cmd="$cmd x"`: the command with x, and that without;
 * with two such values the four, and so on. Their number; 0: it is told as
 * what nobody knows. */
static AB_COLD uint32_t all_readings(struct ab_shell_run *run,
				     const struct ab_shell_tree *tree,
				     const struct cmd *cmd,
				     const struct ab_shell_command *c,
				     struct ab_shell_command **out)
{
	struct ab_shell_command *all;
	uint32_t n = 0;

	if (run->read_count > AB_SHELL_READS || c->assign_count ||
	    !is_idle(c) || c->callee ||
	    !is_steady(cmd))
		return 0;
	all = ab_run_low(run, sizeof(*all) << run->read_count);
	if (!all)
		return 0;
	for (uint32_t i = 0; i < 1u << run->read_count; i++) {
		run->readings_seen = 0;
		if (!read_command(run, tree, cmd, c, i, &all[n]))
			return 0;
		/* a choice that no value asked for makes no other command */
		n += !(i & ~run->readings_seen);
	}
	*out = all;
	return n;
}

/* What the command does; of more than one it is one of them, and nobody knows
 * which. */
static bool tell_commands(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  struct ab_shell_command *all, uint32_t count)
{
	struct ab_shell_readings readings = { 0 };
	bool is_one = count <= 1, is_read = false;
	uint32_t i = 0;

	run->is_reading_of = !is_one;
	do {
		if (AB_UNLIKELY(!is_one))
			ab_shell_reading_begin(run, &readings);
		is_read |= tell_command(run, tree, &all[i]);
		if (AB_UNLIKELY(!is_one))
			ab_shell_reading_end(run, &readings);
	} while (++i < count && !run->is_stopped && !run->arena->is_full);
	if (AB_LIKELY(is_one))
		return is_read;
	ab_shell_reading_join(run, &readings);
	run->is_reading_of = false;
	return is_read;
}

/* Nothing in it yet, each by itself: a struct that is cleared as a whole is
   written twice. */
static inline void begin_command(const struct ab_shell_tree *tree,
				 const struct cmd *cmd,
				 const struct ab_shell_place_of *place,
				 struct ab_shell_command *c)
{
	c->span = ab_tree_span(tree, cmd->begin, cmd->end);
	c->argv = NULL;
	c->argc = 0;
	c->is_kept = false;
	c->builtin = AB_BUILTIN_NONE;
	c->assigns = NULL;
	c->assign_count = 0;
	c->lists = NULL;
	c->list_count = 0;
	c->redirs = NULL;
	c->redir_count = 0;
	c->place = *place;
	c->callee = NULL;
	c->calls_back = false;
	c->output = NULL;
}

void ab_visit_simple(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd,
			 const struct ab_shell_place_of *place)
{
	AB_UNINITIALIZED struct ab_shell_command c;
	struct ab_shell_command *told = &c;
	AB_UNINITIALIZED struct ab_shell_redir *redirs;
	void *mark = run->arena->low;
	AB_UNINITIALIZED struct ab_word output;
	uint32_t count = 0;
	struct function *f;
	bool has_readings;

	if (AB_UNLIKELY(run->aliases) && cmd->words &&
	    visit_alias(run, tree, cmd, place))
		return;
	begin_command(tree, cmd, place, &c);
	run->simple = cmd;
	run->read_count = run->pick_count = 0;
	if (AB_LIKELY(ab_tree_is_plain(cmd)))
		exact_command(run, tree, cmd, &c);
	else
		expand_command(run, tree, cmd, &c);
	if (AB_UNLIKELY(cmd->redirs)) {
		c.redir_count = ab_visit_redirs(run, tree, cmd, &redirs);
		c.redirs = c.redir_count ? redirs : NULL;
	}
	has_readings = run->read_count;
	/* enable -n exit */
	if (c.argc &&
	    (ab_word_equals(&c.argv[0], "enable") ||
	     ab_word_equals(&c.argv[c.argc > 2], "enable")))
		run->doubts_exits = true;
	if (AB_UNLIKELY(run->functions) && c.argc &&
	    c.argv[0].hole_count == 0) {
		f = ab_run_function(run, c.argv[0].text, c.argv[0].len);
		if (f) {
			f->public.is_perhaps |= run->may_lack_functions;
			c.callee = &f->public;
			c.calls_back = f->active;
		}
	}
	if (place->out && AB_LIKELY(!run->arena->is_full))
		find_output(run, &c, &output);
	if (AB_UNLIKELY(run->arena->is_full))
		return;
	if (AB_UNLIKELY(has_readings))
		count = all_readings(run, tree, cmd, &c, &told);
	if (tell_commands(run, tree, told, count))
		ab_builtin_take(&c);
	/* what the frames above need was copied */
	ab_arena_release(run->arena, mark);
}
