/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run: lists of commands with their pipes, `&&`, `||` and `&`, and simple
 * commands. One loop over a stack of frames; what a callback asks for is
 * pushed there and visited when it has returned.
 */
#include "config.h"

#include "base/alloc.h"
#include "base/key.h"
#include "shell/state.h"

struct visit_frame *ab_visit_enter(struct ab_shell_run *run, enum visit kind,
				   const struct ab_shell_tree *tree,
				   const struct ab_shell_place_of *place)
{
	struct visit_frame *below = run->top;
	struct visit_frame *f = below ? below->above : NULL;
	struct visit_frame *above = f ? f->above : NULL;
	size_t size;

	if (!f) {
		f = ab_run_high(run, sizeof(*f));
		if (!f)
			return NULL;
		if (below)
			below->above = f;
	}
	/* only what has redirections and words of its own looks behind it */
	size = (kind == VISIT_LIST || kind == VISIT_SIMPLE ||
				kind == VISIT_WORDS ?
			offsetof(struct visit_frame, words) :
			sizeof(*f)) -
	       offsetof(struct visit_frame, phase);
	ab_clear(&f->phase, size);
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

void ab_visit_begin(struct ab_shell_run *run,
		    const struct ab_shell_scope *scope)
{
	if (run->visitor->begin && !run->is_stopped &&
	    !(run->visitor->untold >> scope->kind & 1))
		ab_visit_answer(run,
				run->visitor->begin(run->user, run, scope));
}

void ab_visit_end(struct ab_shell_run *run,
		  const struct ab_shell_scope *scope)
{
	if (run->visitor->end && !run->is_stopped &&
	    !(run->visitor->untold >> scope->kind & 1))
		ab_visit_answer(run, run->visitor->end(run->user, run, scope));
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
	f->began = run->moves;
	f->at = list;
}

/* Words first, then the command, then what >(...) does. */
static void step_simple(struct ab_shell_run *run, struct visit_frame *f)
{
	switch (f->phase++) {
	case 0:
		ab_visit_words(run, f, f->cmd, false);
		break;
	case 1:
		ab_visit_simple(run, f->tree, f->cmd, &f->place);
		break;
	case 2:
		if (f->has_late) {
			ab_visit_words(run, f, f->cmd, true);
			break;
		}
		/* fall through */
	default:
		ab_visit_leave(run);
		break;
	}
}

static void visit_command(struct ab_shell_run *run,
			  const struct ab_shell_tree *tree,
			  const struct cmd *cmd,
			  const struct ab_shell_place_of *place)
{
	struct visit_frame *f;

	if (cmd->kind == CMD_SIMPLE) {
		if (!cmd->words && !cmd->redirs)
			return;
		if (AB_LIKELY((cmd->flags & CMD_EXACT) && !cmd->redirs) ||
		    !ab_visit_needs_words(cmd)) {
			ab_visit_simple(run, tree, cmd, place);
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

static void tell_scope(struct ab_shell_run *run, struct visit_frame *f,
		       enum ab_shell_scope_kind kind, bool is_end)
{
	struct ab_shell_scope scope;

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

static inline void list_scope(struct ab_shell_run *run, struct visit_frame *f,
			      enum ab_shell_scope_kind kind, bool is_end)
{
	if (!(run->visitor->untold >> kind & 1) &&
	    (is_end ? !!run->visitor->end : !!run->visitor->begin))
		tell_scope(run, f, kind, is_end);
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
		/* it still has the descriptors of the shell */
		if (f->place.in)
			f->place.in->value = NULL;
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
	f->inner.depth++;
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
		if (cmd->op == CMD_OP_PIPE_BOTH) {
			f->inner.flags |= AB_SHELL_PIPE_BOTH;
			f->inner.others = f->inner.out;
		}
	}
	f->stage_undo = ab_run_branch(run);
	list_scope(run, f, AB_SCOPE_STAGE, false);
}

static void close_stage(struct ab_shell_run *run, struct visit_frame *f)
{
	struct outcome *outcomes = NULL;
	bool stays = AB_UNLIKELY(run->options & AB_SHELL_LASTPIPE) &&
		     !f->stream;

	ab_run_back(run, f->stage_undo, stays ? &outcomes : NULL);
	if (stays)
		ab_run_join(run, outcomes, 2);
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

/* Nothing before it in its list may have failed. */
static bool is_straight(const struct visit_frame *f)
{
	return !f->op || f->is_sure;
}

static void set_background(struct ab_shell_place_of *inner, bool is_paced)
{
	if ((inner->flags & AB_SHELL_ENDLESS) && !is_paced)
		inner->flags |= AB_SHELL_FORKING;
	inner->flags |= AB_SHELL_BACKGROUND | AB_SHELL_SUBSHELL;
	inner->depth++;
}

static void before_command(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct cmd *cmd = f->at;

	f->inner = f->place;
	f->inner.flags &= ~(uint32_t)AB_SHELL_PACED;
	if (!f->op && !f->count)
		f->moves = AB_UNLIKELY(run->stayed != NULL) ?
				   ab_run_moves(run) : run->moves;
	if (AB_UNLIKELY(f->is_background))
		set_background(&f->inner, f->place.flags & AB_SHELL_PACED);
	if (f->is_branch)
		f->inner.flags |= AB_SHELL_MAYBE;
	if (AB_UNLIKELY(cmd->flags & (CMD_BACKGROUND | CMD_COPROC)) &&
	    !f->is_background) {
		/* x && y && coproc z: what begins later ends before */
		if (f->is_branch)
			close_branch(run, f);
		open_background(run, f);
		set_background(&f->inner, f->place.flags & AB_SHELL_PACED);
	}
	if (f->op && !f->is_branch && !f->is_sure && f->count == 0) {
		open_branch(run, f);
		f->inner.flags |= AB_SHELL_MAYBE;
	}
	if (AB_UNLIKELY(f->is_unmoved))
		f->inner.flags |= AB_SHELL_UNMOVED;
	if (f->op == CMD_OP_AND && AB_UNLIKELY(run->stayed != NULL) &&
	    !f->count)
		ab_run_arrive(run, f->moves);
	if (cmd->op == CMD_OP_OR && is_straight(f)) {
		ab_run_stands(run, f->stood);
		f->told = run->told;
	}
	if (AB_UNLIKELY(cmd->flags & CMD_BANG))
		f->inner.flags |= AB_SHELL_NEGATED;
	if (f->count == 0 && cmd->pipe_count > 1) {
		f->count = cmd->pipe_count;
		f->index = 0;
	}
	if (f->count)
		open_stage(run, f);
}

/* `cd d`, and nothing but that as a function or an eval has: when it fails the
   shell is where it was. */
static bool is_move(const struct ab_shell_run *run, const struct visit_frame *f,
		    const struct cmd *cmd)
{
	return cmd->kind == CMD_SIMPLE &&
	       !(cmd->flags & (CMD_BANG | CMD_BACKGROUND | CMD_COPROC)) &&
	       cmd->pipe_count <= 1 && run->is_at_move &&
	       run->told == f->told + 1;
}

/* Its right side is over. `cd d || exit`: what comes is in d, but not where
   that left a subshell or a function, `cd d || (exit 1)`. */
static void close_or(struct ab_shell_run *run, struct visit_frame *f)
{
	bool has_left = ab_run_left_since(run, f->left, &f->place) &&
			(!run->left_call || run->left_call == run->call);

	if (f->is_branch)
		close_branch(run, f);
	if (has_left)
		ab_run_arrive(run, f->moves);
	ab_run_overlook(run, f->began);
}

static void after_command(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct cmd *cmd = f->at;
	bool is_piped = f->count; /* pipefail: it ends as any of them does */

	if (f->count) {
		close_stage(run, f);
		if (f->count) {
			f->at = cmd->next;
			return;
		}
	}
	if (AB_UNLIKELY(f->op == CMD_OP_OR) && cmd->op != CMD_OP_OR)
		close_or(run, f);
	if (AB_UNLIKELY(cmd->flags & CMD_BANG))
		ab_run_overlook(run, f->began);
	if (cmd->op == CMD_OP_AND || cmd->op == CMD_OP_OR) {
		if (f->is_branch && f->op != cmd->op)
			close_branch(run, f);
		/* of `a || b || exit` b may have been enough */
		if (cmd->op == CMD_OP_OR)
			f->left = f->op == CMD_OP_OR ? UINT32_MAX : run->told;
		f->is_unmoved = cmd->op == CMD_OP_OR && is_straight(f) &&
				is_move(run, f, cmd);
		f->is_sure = cmd->op == CMD_OP_AND && is_straight(f) &&
			     !is_piped && ab_run_is_sure(run, f->tree, cmd);
		f->op = cmd->op;
	} else {
		if (f->is_branch)
			close_branch(run, f);
		if (f->is_background)
			close_background(run, f);
		f->op = 0;
		f->is_sure = f->is_unmoved = false;
	}
	f->at = cmd->next;
}

static bool can_go_on(const struct ab_shell_run *run)
{
	return AB_LIKELY(!run->is_stopped && !run->arena->is_full) &&
	       run->result->status != AB_SHELL_LIMIT;
}

/* How far a command of a list is. */
enum { PHASE_RUNS = 1, PHASE_STAGE_OVER, PHASE_LIST_OVER };

/* A stage is over, and then perhaps a list with &: subshells, told so from
   within, each once. True: what that ran comes first. */
static bool ends_subshell(struct ab_shell_run *run, struct visit_frame *f)
{
	struct ab_shell_place_of place;

	if (f->phase == PHASE_RUNS) {
		f->phase = PHASE_STAGE_OVER;
		if (f->count && ab_visit_last(run, &f->inner))
			return true;
	}
	if (AB_LIKELY(!f->is_background) || f->at->op > CMD_OP_AMP ||
	    f->phase == PHASE_LIST_OVER)
		return false;
	f->phase = PHASE_LIST_OVER;
	place = f->inner;
	place.depth -= f->count != 0;
	return ab_visit_last(run, &place);
}

/* Nothing joins it to another command, nothing is open around it, and its place
   is its list's. */
static inline bool is_lone(const struct visit_frame *f, const struct cmd *cmd)
{
	return cmd->op <= CMD_OP_NEXT && cmd->pipe_count <= 1 &&
	       !(cmd->flags & (CMD_BANG | CMD_COPROC | CMD_BACKGROUND)) &&
	       !f->op && !f->count && !f->is_branch && !f->is_background &&
	       !(f->place.flags & AB_SHELL_PACED);
}

/* The command that is next. */
static void visit_next(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct ab_shell_place_of *place = &f->place;
	const struct cmd *cmd = f->at;

	run->steps--;
	if (AB_UNLIKELY(run->stayed != NULL) && !f->op && !f->count)
		ab_run_overlook(run, f->began);
	if (is_lone(f, cmd)) {
		f->is_sure = false;
		f->at = cmd->next;
	} else {
		before_command(run, f);
		f->phase = PHASE_RUNS;
		place = &f->inner;
	}
	visit_command(run, f->tree, cmd, place);
}

/* Commands, until one of them needs a frame of its own. */
static void step_list(struct ab_shell_run *run, struct visit_frame *f)
{
	do {
		if (f->phase) {
			if ((f->count || f->is_background) &&
			    ends_subshell(run, f))
				return;
			after_command(run, f);
			f->phase = 0;
		}
		if (AB_UNLIKELY(f->is_body)) {
			/* the loop may end here */
			f->is_body = false;
			ab_run_jump(run, f->below, 0);
		}
		if (!f->at) {
			ab_visit_leave(run);
			return;
		}
		if (run->steps == 0) {
			ab_run_limit(run, "too many commands");
			return;
		}
		visit_next(run, f);
	} while (run->top == f && can_go_on(run));
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

/* The first is put on top. */
void ab_visit_waiting(struct ab_shell_run *run,
		      const struct ab_shell_place_of *place)
{
	struct pushed *list, *next, *reversed = NULL;

	for (list = run->pushed; list; list = next) {
		next = list->next;
		list->next = reversed;
		reversed = list;
	}
	run->pushed = NULL;
	run->pushed_tail = &run->pushed;
	for (; reversed; reversed = reversed->next)
		ab_visit_pushed(run, reversed, place);
}

bool ab_visit_last(struct ab_shell_run *run,
		   const struct ab_shell_place_of *place)
{
	const struct visit_frame *top = run->top;

	if (!run->visitor->finish || !can_go_on(run))
		return false;
	run->visitor->finish(run->user, run, place);
	ab_visit_waiting(run, place);
	return run->top != top;
}

void ab_shell_run(struct ab_arena *arena, const struct ab_shell_tree *tree,
		  const struct ab_shell_context *context,
		  const struct ab_shell_visitor *visitor, void *user,
		  struct ab_shell_result *result)
{
	AB_UNINITIALIZED struct ab_shell_run run;
	struct ab_shell_place_of place = { .pipe_count = 1 };
	bool is_over = false;

	if (!tree)
		return;
	ab_clear(&run, sizeof(run));
	run.arena = arena;
	run.arena_end = arena->high;
	run.visitor = visitor;
	run.user = user;
	run.kept = visitor->kept;
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
	do {
		while (run.top && can_go_on(&run))
			step(&run);
		is_over = !is_over;
	} while (is_over && ab_visit_last(&run, &place));
	if (run.is_stopped && result->status != AB_SHELL_LIMIT)
		result->status = AB_SHELL_STOPPED;
	if (arena->is_full)
		ab_run_limit(&run, "the arena is too small");
}

/*
 * For callbacks.
 */

void ab_shell_tell(struct ab_shell_run *run, const struct ab_word *output)
{
	run->output = output;
}

void ab_shell_tell_input(struct ab_shell_run *run, const struct ab_word *input)
{
	run->input = input;
}

/* Words that stay; NULL: LIMIT. */
static const struct ab_word *keep_words(struct ab_shell_run *run,
					const struct ab_word *words,
					uint32_t count)
{
	struct ab_word *copy = ab_run_high(run, count * sizeof(*copy));

	for (uint32_t i = 0; copy && i < count; i++) {
		const struct ab_word *w = ab_run_keep(run, &words[i]);

		if (!w)
			return NULL;
		copy[i] = *w;
	}
	return copy;
}

static bool keep_text(struct ab_shell_run *run,
		      const struct ab_shell_text *text,
		      struct ab_shell_text *out)
{
	const struct ab_word *w = ab_run_keep(run, &text->text);

	*out = *text;
	if (!w)
		return false;
	out->text = *w;
	out->args = keep_words(run, text->args, text->arg_count);
	out->given = keep_words(run, text->given, text->given_count);
	if (text->cwd)
		out->cwd = ab_run_keep(run, text->cwd);
	return out->args && out->given && (!text->cwd || out->cwd);
}

bool ab_shell_push(struct ab_shell_run *run, const struct ab_shell_text *text)
{
	struct pushed *p = ab_run_high(run, sizeof(*p));

	if (!p)
		return false;
	memset(p, 0, sizeof(*p));
	if (text->text.len > run->text_budget ||
	    !keep_text(run, text, &p->text)) {
		ab_run_limit(run, "too much text to look at");
		return false;
	}
	run->text_budget -= text->text.len;
	*run->pushed_tail = p;
	run->pushed_tail = &p->next;
	return true;
}

bool ab_shell_has_pushed(struct ab_shell_run *run, const struct ab_word *text)
{
	struct pushed *p = run->pushed;

	while (p && !ab_run_same_word(&p->text.text, text))
		p = p->next;
	if (p)
		p->again++;
	return p;
}

void ab_shell_pushed_by(struct ab_shell_run *run, uint32_t readings)
{
	for (struct pushed *p = run->pushed; p; p = p->next)
		p->text.is_perhaps |= p->again + 1 < readings;
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

bool ab_shell_has_letters(const struct ab_shell_run *run, uint32_t letters)
{
	return run->letters & letters;
}

const struct variable *ab_shell_variable(const struct ab_shell_run *run,
					 const char *name, size_t len)
{
	return ab_run_find(run, name, len);
}

const struct ab_word *ab_shell_value(const struct ab_shell_run *run,
				     const struct variable *v)
{
	const struct value *value = ab_run_value_of(run, v);
	struct ab_word *w;
	struct ab_hole *hole;

	if (value->kind == VALUE_SCALAR)
		return value->words;
	/* in a subshell only, or in a reading that is over */
	if (!v || !v->when || value->kind != VALUE_UNKNOWN)
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

const struct ab_word *ab_shell_get(const struct ab_shell_run *run,
				   const char *name, size_t len,
				   bool *is_exported)
{
	const struct variable *v = ab_run_find(run, name, len);

	if (is_exported)
		*is_exported = v && (v->flags & VARIABLE_EXPORTED);
	return ab_shell_value(run, v);
}

enum ab_shell_said ab_shell_said(const struct ab_shell_run *run,
				 const char *name, size_t len)
{
	const struct variable *v = ab_run_find(run, name, len);
	const struct value *value = v ? ab_run_value_of(run, v) :
					&ab_run_absent;

	if (value == &ab_run_absent)
		return AB_SHELL_UNSAID;
	return value->other == &ab_run_absent ? AB_SHELL_PERHAPS :
						AB_SHELL_SAID;
}

bool ab_shell_is_exported(const struct ab_shell_run *run, const char *name,
			  size_t len)
{
	const struct variable *v = ab_run_find(run, name, len);

	return v && (v->flags & VARIABLE_EXPORTED) &&
	       !(v->flags & VARIABLE_MAYBE_EXPORTED);
}

const struct ab_word *ab_shell_get_one(const struct ab_shell_run *run,
				       const char *name, size_t len,
				       uint32_t index)
{
	const struct value *value =
		ab_run_value_of(run, ab_run_find(run, name, len));

	for (; value && value->kind == VALUE_UNKNOWN; value = value->other) {
		const struct value *one = value->one;

		if (one && one->kind == VALUE_SCALAR && !index--)
			return one->words;
	}
	return value && value->kind == VALUE_SCALAR && !index ? value->words
							      : NULL;
}

static const uint32_t owner_flags[] = { 0, VARIABLE_EXPORTED,
					VARIABLE_SHARED };

bool ab_shell_set(struct ab_shell_run *run, const char *name, size_t len,
		  const struct ab_word *value, enum ab_shell_owner owner)
{
	ab_run_assign(run, name, len,
		      value ? ab_run_scalar(run, value) :
			      ab_run_unknown(run, NULL),
		      owner_flags[owner]);
	return run->result->status != AB_SHELL_LIMIT;
}

bool ab_shell_copy(struct ab_shell_run *run, const char *name, size_t len,
		   const char *to, size_t to_len, enum ab_shell_owner owner)
{
	ab_run_assign(run, to, to_len, ab_run_value(run, name, len),
		      owner_flags[owner]);
	return run->result->status != AB_SHELL_LIMIT;
}

void ab_shell_reading_begin(struct ab_shell_run *run,
			    struct ab_shell_readings *readings)
{
	readings->undo = ab_run_branch(run);
	readings->count++;
}

void ab_shell_reading_end(struct ab_shell_run *run,
			  struct ab_shell_readings *readings)
{
	ab_run_back(run, readings->undo, &readings->outcomes);
}

void ab_shell_reading_join(struct ab_shell_run *run,
			   struct ab_shell_readings *readings)
{
	ab_run_join(run, readings->outcomes, readings->count);
}

void ab_shell_forget(struct ab_shell_run *run)
{
	run->forgotten = ++run->clock;
}

bool ab_shell_has_aliases(const struct ab_shell_run *run)
{
	return run->aliases;
}

void ab_shell_learn(struct ab_shell_run *run)
{
	run->learned++;
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

bool ab_shell_has_functions(const struct ab_shell_run *run)
{
	return run->functions;
}

uint32_t ab_shell_definitions(const struct ab_shell_run *run)
{
	return run->function_count + run->alias_count;
}
