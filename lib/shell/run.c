/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run: lists of commands with their pipes, `&&`, `||` and `&`, and simple
 * commands. One loop over a stack of frames; what a callback asks for is
 * pushed there and visited when it has returned.
 */
#include "config.h"

#include "shell/state.h"

struct visit_frame *ab_visit_enter(struct ab_shell_run *run, enum visit kind,
				   const struct ab_shell_tree *tree,
				   const struct ab_shell_place_of *place)
{
	struct visit_frame *below = run->top;
	struct visit_frame *f = below ? below->above : NULL;
	struct visit_frame *above = f ? f->above : NULL;

	if (!f) {
		f = ab_run_high(run, sizeof(*f));
		if (!f)
			return NULL;
		if (below)
			below->above = f;
	}
	memset(f, 0, sizeof(*f));
	f->below = below;
	f->above = above;
	f->kind = (uint8_t)kind;
	f->tree = tree;
	f->place = *place;
	f->mark = run->arena->low;
	f->functions = run->function_count;
	run->top = f;
	return f;
}

/* Back to the frame below, with its scratch memory, unless a function that
 * was defined meanwhile lives there. */
void ab_visit_leave(struct ab_shell_run *run)
{
	struct visit_frame *f = run->top;

	if (f->functions == run->function_count && f->kind != VISIT_WORDS)
		ab_arena_release(run->arena, f->mark);
	run->top = f->below;
}

static void answer(struct ab_shell_run *run, enum ab_shell_answer a)
{
	if (a == AB_SHELL_STOP)
		run->is_stopped = true;
}

void ab_visit_begin(struct ab_shell_run *run,
		    const struct ab_shell_scope *scope)
{
	if (run->visitor->begin && !run->is_stopped)
		answer(run, run->visitor->begin(run->user, run, scope));
}

void ab_visit_end(struct ab_shell_run *run,
		  const struct ab_shell_scope *scope)
{
	if (run->visitor->end && !run->is_stopped)
		answer(run, run->visitor->end(run->user, run, scope));
}

void ab_visit_list(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		   const struct cmd *list,
		   const struct ab_shell_place_of *place)
{
	struct visit_frame *f;

	if (!list)
		return;
	f = ab_visit_enter(run, VISIT_LIST, tree, place);
	if (!f)
		return;
	f->place.flags &= ~(uint32_t)(AB_SHELL_NEGATED | AB_SHELL_PIPE_BOTH);
	f->place.pipe_index = 0;
	f->place.pipe_count = 1;
	f->at = list;
}

/*
 * Simple commands.
 */

uint32_t ab_visit_redirs(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd, struct ab_shell_redir **out)
{
	uint32_t count = 0;
	struct ab_shell_redir *all;

	*out = NULL;
	for (const struct redir *r = cmd->redirs; r; r = r->next)
		count++;
	if (!count || !(all = ab_run_low(run, count * sizeof(*all))))
		return 0;
	*out = all;
	for (const struct redir *r = cmd->redirs; r; r = r->next, all++) {
		uint32_t end = r->target.end > r->begin ? r->target.end :
							  r->begin;

		all->kind = (enum ab_redir_kind)r->kind;
		all->fd = r->fd;
		all->is_quoted = r->is_quoted;
		all->span = ab_tree_span(tree, r->begin, end);
		if (r->tree) {
			ab_expand_one(run, r->tree, r->tree->word, EXPAND_ONE,
				      &all->target);
		} else if (r->kind == AB_REDIR_HERE_DOC) {
			memset(&all->target, 0, sizeof(all->target));
			all->target.text = (const char *)tree->text + r->body;
			all->target.len = r->body_end - r->body;
			all->target.span =
				ab_tree_span(tree, r->body, r->body_end);
		} else {
			ab_expand_one(run, tree, &r->target,
				      r->kind == AB_REDIR_HERE_STRING ?
					      EXPAND_ONE :
					      EXPAND_PATTERN,
				      &all->target);
		}
		/* >& and <& with a name mean a file */
		if (r->kind == AB_REDIR_DUP_OUT &&
		    all->target.hole_count == 0 && all->target.len &&
		    all->target.text[0] != '-' &&
		    !(ab_shell_name[(unsigned char)all->target.text[0]] &
		      AB_DIGIT))
			all->kind = AB_REDIR_WRITE_BOTH;
	}
	return count;
}

static void expand_assign(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  const struct word *w, struct ab_shell_assign *a)
{
	const char *text = (const char *)tree->text + w->begin;
	uint32_t len = 0;
	struct fields values = { 0 };
	const struct part *array = w->parts;
	char *name;

	while (len < w->assign && ab_shell_name[(unsigned char)text[len]])
		len++;
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
	a->is_append = w->assign > 1 && text[w->assign - 2] == '+';
	a->is_array = text[len] == '[';
	while (array && array->kind != PART_ARRAY)
		array = array->next;
	if (!array) {
		ab_expand_word(run, tree, w, EXPAND_VALUE, &values);
	} else {
		a->is_array = a->is_list = true;
		for (const struct word *e = array->u.words; e; e = e->next)
			ab_expand_word(run, tree, e,
				       e->assign ? EXPAND_VALUE :
						   EXPAND_FIELDS,
				       &values);
	}
	a->values = values.words;
	a->value_count = values.count;
}

static bool is_declare(const struct ab_word *w)
{
	static const char *const names[] = { "export", "local", "readonly",
					     "declare", "typeset" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (ab_word_equals(w, names[i]))
			return true;
	return false;
}

/* argv and assignments of a simple command. */
static void expand_command(struct ab_shell_run *run,
			   const struct ab_shell_tree *tree,
			   const struct cmd *cmd, struct ab_shell_command *c)
{
	struct fields argv = { 0 };
	struct ab_shell_assign *assigns = NULL;
	uint32_t words = 0, assign_count = 0;
	bool has_call = false, declares = false;

	for (const struct word *w = cmd->words; w; w = w->next) {
		words++;
		assign_count += w->assign != 0;
	}
	argv.room = words;
	if (words)
		argv.words = ab_run_low(run, words * sizeof(*argv.words));
	if (assign_count)
		assigns = ab_run_low(run, assign_count * sizeof(*assigns));
	if ((words && !argv.words) || (assign_count && !assigns))
		return;
	c->assigns = assigns;
	for (const struct word *w = cmd->words; w; w = w->next) {
		if (w->assign && !has_call) {
			expand_assign(run, tree, w,
				      &assigns[c->assign_count++]);
			continue;
		}
		ab_expand_word(run, tree, w,
			       w->assign && declares ? EXPAND_ONE :
						       EXPAND_FIELDS,
			       &argv);
		if (!has_call && argv.count)
			declares = is_declare(&argv.words[0]);
		has_call = true;
	}
	c->argv = argv.words;
	c->argc = argv.count;
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

/* cat of what is known: a here-document, or what it reads. */
static const struct ab_word *cat_output(const struct ab_shell_command *c)
{
	const struct ab_word *in = c->place.in ? c->place.in->value : NULL;

	if (!ab_word_equals(&c->argv[0], "cat") || c->argc > 2 ||
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
	struct alias *a = run->aliases;
	struct ab_word rest = { 0 };
	const struct ab_word *kept;
	uint32_t len = w->end - w->begin;

	if (w->parts || w->assign || cmd->redirs)
		return false;
	while (a && (a->len != len ||
		     memcmp(a->name, tree->text + w->begin, len) != 0))
		a = a->next;
	if (!a || a->is_active ||
	    (a->tree == tree && w->begin < a->visible) ||
	    run->text_depth >= run->limits.texts)
		return false;
	rest.text = (const char *)tree->text + w->end;
	rest.len = cmd->end > w->end ? cmd->end - w->end : 0;
	rest.span = ab_tree_span(tree, w->end, w->end + rest.len);
	ab_segments_add_word(run, &list, a->value, SEGMENT_QUOTED);
	ab_segments_add_word(run, &list, &rest, SEGMENT_QUOTED);
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
		reversed = list;
	}
	for (; reversed; reversed = reversed->next)
		ab_visit_pushed(run, reversed, &c->place);
}

static void command_done(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct ab_shell_command *c, bool skip)
{
	struct pushed *pushed = run->pushed;

	run->pushed = NULL;
	run->pushed_tail = &run->pushed;
	ab_builtin_effects(run, tree, c);
	if (!pushed && c->argc &&
	    (ab_word_equals(&c->argv[0], "eval") ||
	     ab_word_equals(&c->argv[0], "source") ||
	     ab_word_equals(&c->argv[0], ".")))
		ab_shell_forget(run);
	if (c->place.out && !pushed && !(c->callee && !skip) &&
	    !redirects(c, 1) && (c->argc || c->redir_count))
		ab_run_write(run, c->place.out, c->argc ? c->output : NULL);
	if (c->callee && !skip) {
		struct function *f = ab_run_function(run, c->callee->name,
						     c->callee->name_len);

		if (f)
			ab_visit_call(run, f, c, keep_assigns(run, c));
	}
	if (pushed)
		visit_pushed(run, pushed, c);
}

static void visit_simple(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd,
			 const struct ab_shell_place_of *place)
{
	struct ab_shell_command c;
	struct ab_shell_redir *redirs;
	void *mark = run->arena->low;
	struct ab_word output;
	enum ab_shell_answer a = AB_SHELL_GO;
	struct function *f;

	if (run->aliases && cmd->words &&
	    visit_alias(run, tree, cmd, place))
		return;
	memset(&c, 0, sizeof(c));
	c.place = *place;
	c.span = ab_tree_span(tree, cmd->begin, cmd->end);
	expand_command(run, tree, cmd, &c);
	c.redir_count = cmd->redirs ?
				ab_visit_redirs(run, tree, cmd, &redirs) :
				0;
	if (c.redir_count)
		c.redirs = redirs;
	if (run->functions && c.argc && c.argv[0].hole_count == 0) {
		f = ab_run_function(run, c.argv[0].text, c.argv[0].len);
		if (f)
			c.callee = &f->public;
	}
	if (place->out && !run->arena->is_full)
		find_output(run, &c, &output);
	if (run->arena->is_full)
		return;
	run->command = &c;
	if (run->visitor->command)
		a = run->visitor->command(run->user, run, &c);
	answer(run, a);
	if (!run->is_stopped)
		command_done(run, tree, &c, a == AB_SHELL_SKIP);
	run->command = NULL;
	/* what the frames above need was copied */
	ab_arena_release(run->arena, mark);
}

/* Words first, then the command, then what >(...) does. */
static void step_simple(struct ab_shell_run *run, struct visit_frame *f)
{
	switch (f->phase++) {
	case 0:
		ab_visit_words(run, f, f->cmd, false);
		break;
	case 1:
		visit_simple(run, f->tree, f->cmd, &f->place);
		break;
	case 2:
		ab_visit_words(run, f, f->cmd, true);
		break;
	default:
		ab_visit_leave(run);
		break;
	}
}

void ab_visit_command(struct ab_shell_run *run,
		      const struct ab_shell_tree *tree, const struct cmd *cmd,
		      const struct ab_shell_place_of *place)
{
	struct visit_frame *f;

	if (cmd->kind == CMD_SIMPLE) {
		if (!cmd->words && !cmd->redirs)
			return;
		if (!ab_visit_needs_words(cmd)) {
			visit_simple(run, tree, cmd, place);
			return;
		}
	}
	f = ab_visit_enter(run,
			   cmd->kind == CMD_SIMPLE ? VISIT_SIMPLE :
						     VISIT_COMPOUND,
			   tree, place);
	if (f)
		f->cmd = cmd;
}

/*
 * Lists.
 */

static void list_scope(struct ab_shell_run *run, struct visit_frame *f,
		       enum ab_shell_scope_kind kind, bool is_end)
{
	struct ab_shell_scope scope;

	if (!(is_end ? run->visitor->end : run->visitor->begin))
		return;
	memset(&scope, 0, sizeof(scope));
	scope.kind = kind;
	scope.place = f->place;
	scope.span = ab_tree_span(f->tree, f->at->begin, f->at->end);
	scope.in = f->inner.in;
	scope.out = f->inner.out;
	if (kind == AB_SCOPE_STAGE || kind == AB_SCOPE_PIPELINE) {
		scope.place.pipe_index = f->inner.pipe_index;
		scope.place.pipe_count = f->inner.pipe_count;
	}
	if (is_end)
		ab_visit_end(run, &scope);
	else
		ab_visit_begin(run, &scope);
}

static void open_background(struct ab_shell_run *run, struct visit_frame *f)
{
	bool is_coproc = f->at->flags & CMD_COPROC;

	f->is_background = true;
	f->list_undo = ab_run_branch(run);
	if (is_coproc) {
		struct stream *s = ab_run_stream(
			run, AB_STREAM_COPROC,
			ab_tree_span(f->tree, f->at->begin, f->at->end));

		if (s)
			f->inner.in = f->inner.out = &s->public;
	}
	list_scope(run, f, is_coproc ? AB_SCOPE_COPROC : AB_SCOPE_SUBSHELL,
		   false);
}

static void close_background(struct ab_shell_run *run, struct visit_frame *f)
{
	f->is_background = false;
	ab_run_back(run, f->list_undo, NULL);
	list_scope(run, f,
		   f->at->flags & CMD_COPROC ? AB_SCOPE_COPROC :
					       AB_SCOPE_SUBSHELL,
		   true);
}

static void open_branch(struct ab_shell_run *run, struct visit_frame *f)
{
	f->is_branch = true;
	f->undo = ab_run_branch(run);
	run->uncertain++;
	list_scope(run, f, AB_SCOPE_BRANCH, false);
}

static void close_branch(struct ab_shell_run *run, struct visit_frame *f)
{
	struct outcome *outcomes = NULL;

	f->is_branch = false;
	run->uncertain--;
	ab_run_back(run, f->undo, &outcomes);
	ab_run_join(run, outcomes, 2);
	list_scope(run, f, AB_SCOPE_BRANCH, true);
}

/* Stage number f->index of the pipeline that f->at belongs to. */
static void open_stage(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct cmd *cmd = f->at;

	f->inner.pipe_index = f->index;
	f->inner.pipe_count = f->count;
	if (f->index == 0)
		list_scope(run, f, AB_SCOPE_PIPELINE, false);
	f->inner.flags |= AB_SHELL_SUBSHELL;
	if (f->index)
		f->inner.in = f->pipe;
	f->stream = NULL;
	if (cmd->op == CMD_OP_PIPE || cmd->op == CMD_OP_PIPE_BOTH) {
		f->stream = ab_run_stream(
			run, AB_STREAM_PIPE,
			ab_tree_span(f->tree, cmd->begin, cmd->end));
		if (!f->stream)
			return;
		f->inner.out = &f->stream->public;
		if (cmd->op == CMD_OP_PIPE_BOTH)
			f->inner.flags |= AB_SHELL_PIPE_BOTH;
	}
	f->stage_undo = ab_run_branch(run);
	list_scope(run, f, AB_SCOPE_STAGE, false);
}

static void close_stage(struct ab_shell_run *run, struct visit_frame *f)
{
	ab_run_back(run, f->stage_undo, NULL);
	list_scope(run, f, AB_SCOPE_STAGE, true);
	f->pipe = NULL;
	if (f->stream) {
		ab_run_close(run, f->stream, false);
		f->pipe = &f->stream->public;
		f->index++;
		return;
	}
	list_scope(run, f, AB_SCOPE_PIPELINE, true);
	f->count = 0;
}

static void before_command(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct cmd *cmd = f->at;

	f->inner = f->place;
	if (f->is_background)
		f->inner.flags |= AB_SHELL_BACKGROUND | AB_SHELL_SUBSHELL;
	if (f->is_branch)
		f->inner.flags |= AB_SHELL_MAYBE;
	if (cmd->flags & (CMD_BACKGROUND | CMD_COPROC) && !f->is_background) {
		open_background(run, f);
		f->inner.flags |= AB_SHELL_BACKGROUND | AB_SHELL_SUBSHELL;
	}
	if (f->op && !f->is_branch && !f->is_sure && f->count == 0) {
		open_branch(run, f);
		f->inner.flags |= AB_SHELL_MAYBE;
	}
	if (cmd->flags & CMD_BANG)
		f->inner.flags |= AB_SHELL_NEGATED;
	if (f->count == 0 && cmd->pipe_count > 1) {
		f->count = cmd->pipe_count;
		f->index = 0;
	}
	if (f->count)
		open_stage(run, f);
}

/* Its success is sure: nothing but assignments without commands in them. */
static bool is_sure(const struct cmd *cmd)
{
	if (cmd->kind != CMD_SIMPLE || cmd->flags || cmd->redirs ||
	    !cmd->words)
		return false;
	for (const struct word *w = cmd->words; w; w = w->next)
		if (!w->assign || (w->flags & WORD_SUBST))
			return false;
	return true;
}

static void after_command(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct cmd *cmd = f->at;

	if (f->count) {
		close_stage(run, f);
		if (f->count) {
			f->at = cmd->next;
			return;
		}
	}
	if (cmd->op == CMD_OP_AND || cmd->op == CMD_OP_OR) {
		if (f->is_branch && f->op != cmd->op)
			close_branch(run, f);
		f->is_sure = cmd->op == CMD_OP_AND && is_sure(cmd) &&
			     (!f->op || f->is_sure);
		f->op = cmd->op;
	} else {
		if (f->is_branch)
			close_branch(run, f);
		if (f->is_background)
			close_background(run, f);
		f->op = 0;
		f->is_sure = false;
	}
	f->at = cmd->next;
}

static void step_list(struct ab_shell_run *run, struct visit_frame *f)
{
	if (f->phase) {
		after_command(run, f);
		f->phase = 0;
	}
	if (!f->at) {
		ab_visit_leave(run);
		return;
	}
	if (run->steps == 0) {
		ab_run_limit(run, "too many commands");
		return;
	}
	run->steps--;
	before_command(run, f);
	f->phase = 1;
	ab_visit_command(run, f->tree, f->at, &f->inner);
}

static void step(struct ab_shell_run *run)
{
	struct visit_frame *f = run->top;

	switch ((enum visit)f->kind) {
	case VISIT_LIST:
		step_list(run, f);
		break;
	case VISIT_SIMPLE:
		step_simple(run, f);
		break;
	case VISIT_COMPOUND:
		ab_visit_step_compound(run, f);
		break;
	case VISIT_SUBSTITUTION:
		ab_visit_step_substitution(run, f);
		break;
	case VISIT_TEXT:
		ab_visit_step_text(run, f);
		break;
	case VISIT_CALL:
		ab_visit_step_call(run, f);
		break;
	case VISIT_WORDS:
		ab_visit_step_words(run, f);
		break;
	}
}

/* What is known at the start. */
static void start(struct ab_shell_run *run)
{
	struct ab_word w = { 0 };

	if (!run->context->cwd)
		return;
	w.text = run->context->cwd;
	w.len = run->context->cwd_len;
	ab_run_assign(run, "PWD", 3, ab_run_scalar(run, &w),
		      VARIABLE_EXPORTED);
}

void ab_shell_run(struct ab_arena *arena, const struct ab_shell_tree *tree,
		  const struct ab_shell_context *context,
		  const struct ab_shell_visitor *visitor, void *user,
		  struct ab_shell_result *result)
{
	struct ab_shell_run run;
	struct ab_shell_place_of place = { .pipe_count = 1 };

	if (!tree)
		return;
	memset(&run, 0, sizeof(run));
	run.arena = arena;
	run.arena_end = arena->high;
	run.visitor = visitor;
	run.user = user;
	run.result = result;
	run.context = context;
	run.root = tree;
	run.limits = tree->limits;
	run.steps = run.limits.steps;
	run.expansion = (uint64_t)tree->len * 16 + (1u << 20);
	run.text_budget = (uint64_t)tree->len * 16 + (1u << 20);
	run.pushed_tail = &run.pushed;
	run.factor = 1;
	run.clock = 1;
	if (tree->is_guess)
		place.flags |= AB_SHELL_GUESS;
	start(&run);
	ab_visit_list(&run, tree, tree->list, &place);
	while (run.top && !run.is_stopped && !arena->is_full &&
	       result->status != AB_SHELL_LIMIT)
		step(&run);
	if (run.is_stopped && result->status != AB_SHELL_LIMIT)
		result->status = AB_SHELL_STOPPED;
	if (arena->is_full)
		ab_run_limit(&run, "the arena is too small");
}

/*
 * For callbacks.
 */

bool ab_shell_push(struct ab_shell_run *run, const struct ab_shell_text *text)
{
	struct pushed *p = ab_run_high(run, sizeof(*p));
	struct ab_word *args;
	const struct ab_word *w;

	if (!p)
		return false;
	memset(p, 0, sizeof(*p));
	p->text = *text;
	if (text->text.len > run->text_budget) {
		ab_run_limit(run, "too much text to look at");
		return false;
	}
	run->text_budget -= text->text.len;
	w = ab_run_keep(run, &text->text);
	args = ab_run_high(run, text->arg_count * sizeof(*args));
	if (!w || !args) {
		ab_run_limit(run, "too much text to look at");
		return false;
	}
	p->text.text = *w;
	p->text.args = args;
	for (uint32_t i = 0; i < text->arg_count; i++) {
		w = ab_run_keep(run, &text->args[i]);
		if (!w) {
			ab_run_limit(run, "too much text to look at");
			return false;
		}
		args[i] = *w;
	}
	*run->pushed_tail = p;
	run->pushed_tail = &p->next;
	return true;
}

bool ab_shell_join(struct ab_shell_run *run, const struct ab_word *words,
		   uint32_t count, struct ab_word *out)
{
	struct segments list = { NULL, &list.first };
	struct fields fields = { 0 };

	for (uint32_t i = 0; i < count && !run->arena->is_full; i++) {
		if (i)
			ab_segments_add(run, &list, " ", 1, words[i].span,
					SEGMENT_QUOTED);
		ab_segments_add_word(run, &list, &words[i], 0);
	}
	ab_expand_fields(run, list.first, EXPAND_ONE, &fields);
	if (!fields.count)
		return false;
	*out = fields.words[0];
	return true;
}

const struct ab_word *ab_shell_get(const struct ab_shell_run *run,
				   const char *name, size_t len,
				   bool *is_exported)
{
	const struct variable *v = ab_run_find(run, name, len);
	const struct value *value = ab_run_value(run, name, len);
	struct ab_word *w;
	struct ab_hole *hole;

	if (is_exported)
		*is_exported = v && (v->flags & VARIABLE_EXPORTED);
	if (value->kind == VALUE_SCALAR)
		return value->words;
	if (!v || value->kind != VALUE_UNKNOWN)
		return NULL;
	w = ab_arena_low(run->arena, sizeof(*w));
	hole = ab_arena_low(run->arena, sizeof(*hole));
	if (!w || !hole)
		return NULL; /* the run ends with LIMIT */
	memset(w, 0, sizeof(*w));
	memset(hole, 0, sizeof(*hole));
	w->text = "";
	w->holes = hole;
	w->hole_count = 1;
	hole->kind = AB_HOLE_BYTES;
	hole->name = v->name;
	hole->origin = value->origin;
	if (value->origin)
		w->span = hole->span = value->origin->span;
	return w;
}

bool ab_shell_set(struct ab_shell_run *run, const char *name, size_t len,
		  const struct ab_word *value)
{
	ab_run_assign(run, name, len,
		      value ? ab_run_scalar(run, value) :
			      ab_run_unknown(run, NULL),
		      0);
	return !run->arena->is_full;
}

bool ab_shell_set_from(struct ab_shell_run *run, const char *name, size_t len,
		       struct ab_stream *stream)
{
	ab_run_assign(run, name, len, ab_run_unknown(run, stream), 0);
	return !run->arena->is_full;
}

void ab_shell_forget(struct ab_shell_run *run)
{
	run->forgotten = ++run->clock;
}

struct ab_stream *ab_shell_stream(struct ab_shell_run *run,
				  struct ab_span span)
{
	struct stream *s = ab_run_stream(run, AB_STREAM_REDIRECT, span);

	return s ? &s->public : NULL;
}

bool ab_shell_output(struct ab_shell_run *run, const struct ab_word *argv,
		     uint32_t argc, struct ab_word *out)
{
	return ab_output_of(run, argv, argc, out);
}

const struct ab_shell_function *
ab_shell_function(const struct ab_shell_run *run, const char *name, size_t len)
{
	const struct function *f = ab_run_function(run, name, len);

	return f ? &f->public : NULL;
}
