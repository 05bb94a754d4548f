/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compound commands in a run. A branch is visited and taken back, and what
 * its variables were is joined with the other ways at the end. A loop over a
 * known list is visited item by item; any other loop once as it is, and once
 * more with everything unknown that the first round changed.
 */
#include "config.h"

#include "shell/state.h"

enum {
	MAX_ITEMS = 16,	 /* of a list that are visited one by one */
	MAX_FACTOR = 64, /* rounds of loops inside each other */
	MAX_SIZE = 1 << 18, /* bytes that the rounds of one loop may make */
	MAX_SHIFTS = 8	    /* rounds more that take arguments away */
};

/* Phases of every compound command. */
enum { PHASE_WORDS, PHASE_BEGIN, PHASE_FIRST, PHASE_LATE = UINT8_MAX };

static bool is_loop(const struct cmd *cmd)
{
	return cmd->kind >= CMD_WHILE && cmd->kind <= CMD_CFOR;
}

static enum ab_shell_scope_kind scope_of(const struct cmd *cmd)
{
	switch ((enum cmd_kind)cmd->kind) {
	case CMD_SUBSHELL:
		return AB_SCOPE_SUBSHELL;
	case CMD_IF:
		return AB_SCOPE_IF;
	case CMD_CASE:
		return AB_SCOPE_CASE;
	case CMD_COND:
		return AB_SCOPE_TEST;
	case CMD_ARITH:
		return AB_SCOPE_ARITH;
	case CMD_FUNCTION:
		return AB_SCOPE_DEFINITION;
	case CMD_WHILE:
	case CMD_UNTIL:
	case CMD_FOR:
	case CMD_SELECT:
	case CMD_CFOR:
		return AB_SCOPE_LOOP;
	case CMD_SIMPLE:
	case CMD_GROUP:
		break;
	}
	return AB_SCOPE_GROUP;
}

/* `:` or `true` and nothing else (`false` for until). */
static bool is_endless(const struct ab_shell_tree *tree,
		       const struct cmd *cmd)
{
	const struct cmd *cond = cmd->clauses ? cmd->clauses->cond : NULL;
	const struct word *w = cond ? cond->words : NULL;
	const char *text;
	uint32_t len;

	if (cmd->kind == CMD_CFOR) {
		text = (const char *)tree->text + cmd->words->begin;
		return memmem(text, cmd->words->end - cmd->words->begin, ";;",
			      2);
	}
	if (!w || cond->next || cond->kind != CMD_SIMPLE || w->parts)
		return false;
	text = (const char *)tree->text + w->begin;
	len = w->end - w->begin;
	if (cmd->kind == CMD_UNTIL)
		return len == 5 && memcmp(text, "false", 5) == 0;
	return (len == 1 && (text[0] == ':' || text[0] == '1')) ||
	       (len == 4 && memcmp(text, "true", 4) == 0);
}

static bool is_named(const struct ab_shell_tree *tree, const struct word *w,
		     const char *name)
{
	size_t n = strlen(name);

	return w->end - w->begin == n &&
	       !memcmp(tree->text + w->begin, name, n);
}

/* Of a simple command of that name in its list: nothing runs in its place. */
static bool is_itself(const struct ab_shell_run *run,
		      const struct ab_shell_tree *tree, const struct cmd *cmd)
{
	const struct word *w = cmd->words;

	return ab_tree_is_plain(cmd) && w && !run->aliases &&
	       cmd->pipe_count <= 1 &&
	       !(cmd->flags & (CMD_BACKGROUND | CMD_COPROC)) &&
	       !ab_run_function(run, (const char *)tree->text + w->begin,
				w->end - w->begin);
}

/* AB_SHELL_PACED, or 0: what stands before the end of a round is simple, skips
   nothing and disowns nothing. */
static uint32_t pace_of(const struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct cmd *cmd)
{
	const uint64_t ends = AB_BUILTIN(WAIT) | AB_BUILTIN(BREAK) |
			      AB_BUILTIN(EXIT);
	const uint64_t skips = AB_BUILTIN(CONTINUE) | AB_BUILTIN(EVAL) |
			       AB_BUILTIN(DOT) | AB_BUILTIN(SOURCE) |
			       AB_BUILTIN(COMMAND) | AB_BUILTIN(BUILTIN);
	const struct cmd *at = cmd->clauses ? cmd->clauses->body : NULL;
	bool is_first = true;

	for (; at && at->kind == CMD_SIMPLE && at->words; at = at->next) {
		uint64_t is = UINT64_C(1) << at->builtin;

		if ((is & skips) || at->words->parts ||
		    is_named(tree, at->words, "disown"))
			return 0;
		if (is_first && (is & ends) && is_itself(run, tree, at))
			return AB_SHELL_PACED;
		is_first = at->op == CMD_OP_NEXT || at->op == CMD_OP_AMP;
	}
	return 0;
}

static void expand_words(struct ab_shell_run *run, struct visit_frame *f)
{
	enum expand_mode mode = EXPAND_FIELDS;
	const struct cmd *cmd = f->cmd;

	if (cmd->kind == CMD_COND)
		mode = EXPAND_PATTERN;
	if (cmd->kind == CMD_CASE || cmd->kind == CMD_ARITH ||
	    cmd->kind == CMD_CFOR)
		mode = EXPAND_ONE;
	for (const struct word *w = cmd->words; w; w = w->next)
		ab_expand_word(run, f->tree, w, mode, &f->words);
	if ((cmd->kind == CMD_FOR || cmd->kind == CMD_SELECT) &&
	    !(cmd->flags & CMD_HAS_WORDS)) {
		const struct value *all = ab_run_value(run, "@", 1);

		/* for x; do: the arguments */
		for (uint32_t i = 0;
		     all->kind == VALUE_ARRAY && i < all->count; i++) {
			struct segments list = { NULL, &list.first };

			ab_segments_add_word(run, &list, &all->words[i],
					     SEGMENT_QUOTED);
			ab_expand_fields(run, list.first, EXPAND_ONE,
					 &f->words);
		}
		if (all->kind != VALUE_ARRAY) {
			struct segments list = { NULL, &list.first };

			ab_segments_hole(run, &list, AB_HOLE_FIELDS,
					 f->scope.span, "@", all->origin);
			ab_expand_fields(run, list.first, EXPAND_FIELDS,
					 &f->words);
		}
	}
}

/* <&0, </dev/stdin, or a file that may be a link to it. */
static bool may_read_outer(const struct ab_shell_redir *r)
{
	return r->kind == AB_REDIR_DUP_IN ||
	       (r->kind < AB_REDIR_HERE_DOC && ab_may_name_fd(&r->target));
}

void ab_visit_redirect(struct ab_shell_run *run, struct visit_frame *f)
{
	for (uint32_t i = 0; i < f->scope.redir_count; i++) {
		const struct ab_shell_redir *r = &f->scope.redirs[i];
		bool both = r->kind == AB_REDIR_WRITE_BOTH ||
			    r->kind == AB_REDIR_APPEND_BOTH;
		struct stream *s;

		if (f->place.in && may_read_outer(r))
			f->place.in->value = NULL;
		if (r->fd != 0 && r->fd != 1 && !both) {
			if (ab_word_equals(&r->target, "1") && f->inner.out)
				f->inner.others = f->inner.out;
			continue;
		}
		if (r->fd != 0 && ab_redir_process(r)) {
			f->inner.out = ab_redir_process(r);
			continue;
		}
		s = ab_run_stream(run, AB_STREAM_REDIRECT, r->span);
		if (!s)
			return;
		if (r->fd == 0 && !both)
			f->inner.in = &s->public;
		else
			f->inner.out = &s->public;
		if (r->kind >= AB_REDIR_HERE_DOC)
			s->public.value = ab_run_keep(run, &r->target);
		else if (r->fd == 0)
			s->public.value = ab_builtin_proc_text(&r->target);
		s->is_unknown = r->fd == 0 && !s->public.value;
	}
	if (f->inner.out != f->place.out &&
	    ab_redirs_may_reach(NULL, f->scope.redirs, f->scope.redir_count))
		f->inner.out = f->place.out;
	if (f->inner.in && f->cmd && f->cmd->kind == CMD_SELECT)
		f->inner.in->value = NULL;
}

static void begin(struct ab_shell_run *run, struct visit_frame *f)
{
	struct ab_shell_redir *redirs = NULL;
	const struct cmd *cmd = f->cmd;

	f->scope.kind = scope_of(cmd);
	f->scope.span = ab_tree_span(f->tree, cmd->begin, cmd->end);
	f->scope.place = f->place;
	f->scope.redir_count =
		cmd->redirs ? ab_visit_redirs(run, f->tree, cmd, &redirs) : 0;
	f->scope.redirs = redirs;
	if (cmd->words)
		expand_words(run, f);
	else if (cmd->kind == CMD_FOR || cmd->kind == CMD_SELECT)
		expand_words(run, f);
	f->scope.is_menu = cmd->kind == CMD_SELECT;
	f->scope.words = f->words.words;
	f->scope.word_count = f->words.count;
	f->inner = f->place;
	f->inner.flags &= ~(uint32_t)(AB_SHELL_NEGATED | AB_SHELL_PIPE_BOTH);
	ab_visit_redirect(run, f);
	f->scope.in = f->inner.in;
	f->scope.out = f->inner.out;
	if (cmd->kind != CMD_FUNCTION)
		ab_visit_begin(run, &f->scope);
}

void ab_visit_close(struct ab_shell_run *run, const struct visit_frame *f)
{
	/* none of its own, as a definition has; public is the first member */
	if (AB_UNLIKELY(f->scope.out != f->place.out) && f->scope.out) {
		ab_run_close(run, (struct stream *)(void *)f->scope.out, false);
		if (f->place.out &&
		    ab_redirs_may_reach(run, f->scope.redirs,
					f->scope.redir_count))
			ab_run_write(run, f->place.out, NULL);
	}
}

/* What >(...) does comes behind it, as behind a simple command. */
static void finish(struct ab_shell_run *run, struct visit_frame *f)
{
	ab_visit_close(run, f);
	ab_visit_end(run, &f->scope);
	if (AB_LIKELY(!f->has_late)) {
		ab_visit_leave(run);
		return;
	}
	f->phase = PHASE_LATE;
	ab_visit_words(run, f, f->cmd, true);
}

/*
 * Branches.
 */

static void visit_branch(struct ab_shell_run *run, struct visit_frame *f,
			 const struct cmd *body)
{
	f->undo = ab_run_branch(run);
	f->is_branch = true;
	f->left = run->told;
	f->exits = run->exits;
	run->uncertain++;
	f->inner.flags |= AB_SHELL_MAYBE;
	f->inner.flags &= ~(uint32_t)AB_SHELL_CONDITION;
	ab_visit_list(run, f->tree, body, &f->inner);
}

/* `else echo no; exit 1; fi`: nobody comes from there, when that is its only
   way out. A trap may be run then, with what it left in its variables. */
static bool has_left(const struct ab_shell_run *run,
		     const struct visit_frame *f)
{
	return run->is_exit && !run->doubts_exits &&
	       run->exits == f->exits + 1 &&
	       ab_run_left_since(run, f->left, &f->inner);
}

static void end_branch(struct ab_shell_run *run, struct visit_frame *f)
{
	bool is_end;

	if (!f->is_branch)
		return;
	is_end = AB_UNLIKELY(has_left(run, f));
	f->is_branch = false;
	run->uncertain--;
	f->branches += !is_end;
	/* as of a subshell: what it did to the world stays */
	ab_run_back(run, f->undo, is_end ? NULL : &f->outcomes);
}

static void step_if(struct ab_shell_run *run, struct visit_frame *f)
{
	end_branch(run, f);
	if (f->phase == PHASE_FIRST)
		f->clause = f->cmd->clauses;
	f->phase = PHASE_FIRST + 1;
	if (!f->clause) {
		ab_run_join(run, f->outcomes, f->branches + !f->is_sure);
		finish(run, f);
		return;
	}
	/* the condition, when it was not yet; then the body */
	if (f->clause->cond && f->index == 0) {
		struct ab_shell_place_of place = f->inner;

		f->index = 1;
		f->moves = ab_run_moves(run);
		place.flags |= AB_SHELL_CONDITION;
		ab_visit_list(run, f->tree, f->clause->cond, &place);
		return;
	}
	f->index = 0;
	f->is_sure = !f->clause->cond; /* there is an else */
	visit_branch(run, f, f->clause->body);
	if (f->clause->cond)
		ab_run_arrive(run, f->moves);
	f->clause = f->clause->next;
}

/* After `;&` and `;;&` what follows begins as before the case, or as the
   branch ended: nobody can tell any more that one of them was taken. */
static void fall(struct ab_shell_run *run, struct visit_frame *f)
{
	ab_run_join(run, f->outcomes, f->branches + 1);
	f->outcomes = NULL;
	f->branches = 0;
	f->has_fallen = true;
}

static void step_case(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct word *w;
	bool falls = f->is_branch && f->falls;

	end_branch(run, f);
	if (AB_UNLIKELY(falls))
		fall(run, f);
	if (f->phase == PHASE_FIRST)
		f->clause = f->cmd->clauses;
	f->phase = PHASE_FIRST + 1;
	if (!f->clause) {
		ab_run_join(run, f->outcomes,
			    f->branches + (!f->is_sure || f->has_fallen));
		finish(run, f);
		return;
	}
	f->falls = f->clause->term != TERM_BREAK;
	w = f->clause->words;
	f->is_sure |= w && !w->parts && w->end == w->begin + 1 &&
		      f->tree->text[w->begin] == '*';
	visit_branch(run, f, f->clause->body);
	f->clause = f->clause->next;
}

/*
 * Loops.
 */

static void begin_loop(struct ab_shell_run *run, struct visit_frame *f)
{
	uint64_t size = f->cmd->end - f->cmd->begin;

	f->undo = ab_run_branch(run);
	f->jumps = run->jumps;
	f->is_loop = true;
	ab_run_stands(run, f->stood);
	f->forgotten = ab_run_losses(run);
	f->learned = run->learned;
	f->exits = run->exits;
	run->uncertain++;
	f->inner.flags |= AB_SHELL_LOOP | AB_SHELL_MAYBE;
	if (is_endless(f->tree, f->cmd))
		f->inner.flags |= AB_SHELL_ENDLESS |
				  pace_of(run, f->tree, f->cmd);
	if (f->cmd->kind == CMD_CFOR && f->words.count)
		ab_arith_effects(run, &f->words.words[0]);
	f->factor = run->factor;
	f->count = f->words.count < MAX_ITEMS ? f->words.count : MAX_ITEMS;
	if (f->cmd->kind != CMD_FOR)
		f->count = 1;
	if (run->factor * (f->count + 1) > MAX_FACTOR ||
	    size * f->count > MAX_SIZE)
		f->count = 1;
	run->factor *= f->count + 1;
	if (run->factor > MAX_FACTOR) {
		/* no second round: the first knows nothing */
		f->is_again = true;
		ab_shell_forget(run);
		run->factor = MAX_FACTOR;
	}
}

/* Any word of what a command printed, and nothing beside it. */
static const struct value *printed(struct ab_shell_run *run,
				   const struct ab_word *w)
{
	struct ab_word copy = *w;
	struct ab_hole hole;

	if (w->len || w->hole_count != 1 ||
	    (w->holes->name && w->holes->part == AB_PART_UNKNOWN) ||
	    !w->holes->origin || w->holes->kind != AB_HOLE_FIELDS)
		return NULL;
	hole = *w->holes;
	hole.kind = AB_HOLE_BYTES;
	if (hole.part != AB_PART_BYTES)
		hole.part = AB_PART_WORD;
	copy.holes = &hole;
	return ab_run_scalar(run, &copy);
}

/* What item i of a for is; false: no more, or nobody knows. */
static const struct value *item(struct ab_shell_run *run,
				struct visit_frame *f)
{
	const struct ab_word *w = &f->words.words[f->index];
	const struct value *value = printed(run, w);
	struct ab_word copy = *w;

	if (value)
		return value;
	if (w->hole_count != 1 || w->holes->kind != AB_HOLE_FIELDS || w->len)
		return ab_run_scalar(run, &copy);
	/* {1..65535}: of those it stays one */
	if (!w->holes->name && !w->holes->origin) {
		struct ab_hole any = *w->holes;

		any.kind = AB_HOLE_BYTES;
		copy.holes = &any;
		return ab_run_scalar(run, &copy);
	}
	return ab_run_unknown(run, w->holes[0].origin);
}

/* The same once more: NULL where it may be any one of several words. */
static const struct value *again(struct ab_shell_run *run,
				 const struct ab_word *w)
{
	struct ab_word copy = *w;

	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind == AB_HOLE_FIELDS)
			return printed(run, w);
	return ab_run_scalar(run, &copy);
}

static bool is_definite(const struct visit_frame *f)
{
	if (f->words.count > f->count)
		return false;
	for (uint32_t i = 0; i < f->words.count; i++)
		for (uint32_t k = 0; k < f->words.words[i].hole_count; k++)
			if (f->words.words[i].holes[k].kind == AB_HOLE_FIELDS ||
			    f->words.words[i].holes[k].kind == AB_HOLE_PATTERN)
				return false;
	return true;
}

/* Each of several items was seen as what a pattern takes or as bytes, and no
   round left anything behind that the next could know. */
static bool is_all_seen(const struct ab_shell_run *run,
			const struct visit_frame *f)
{
	const char *name = (const char *)f->tree->text + f->cmd->name;

	if (!f->words.count || f->words.count > f->count ||
	    f->forgotten != ab_run_losses(run) || f->learned != run->learned)
		return false;
	for (uint32_t i = 0; i < f->words.count; i++)
		for (uint32_t k = 0; k < f->words.words[i].hole_count; k++)
			if (f->words.words[i].holes[k].kind == AB_HOLE_FIELDS)
				return false;
	return !ab_run_has_changed(run, f->undo, name, f->cmd->name_len);
}

static void visit_round(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct clause *c = f->cmd->clauses;
	struct ab_shell_place_of place = f->inner;

	/* the body first on the stack, the condition above it */
	if (!c)
		return;
	place.flags &= ~(uint32_t)AB_SHELL_CONDITION;
	ab_visit_list(run, f->tree, c->body, &place);
	if (!c->cond)
		return;
	run->top->is_body = run->top != f;
	place.flags |= AB_SHELL_CONDITION;
	ab_visit_list(run, f->tree, c->cond, &place);
}

static void set_item(struct ab_shell_run *run, struct visit_frame *f,
		     const struct value *value)
{
	ab_run_assign(run, (const char *)f->tree->text + f->cmd->name,
		      f->cmd->name_len, value, 0);
}

/* After a `for` that was seen to its end: its last item, unless it was left
   before. */
static void leave_item(struct ab_shell_run *run, struct visit_frame *f,
		       const struct value *last)
{
	if (f->cmd->kind != CMD_FOR || !f->words.count || !is_definite(f) ||
	    last->kind != VALUE_SCALAR)
		return;
	set_item(run, f,
		 ab_run_either(run, NULL, last, ab_run_unknown(run, NULL)));
}

static uint32_t arguments(const struct ab_shell_run *run)
{
	const struct value *all = ab_run_value(run, "@", 1);

	return all->kind == VALUE_ARRAY && !all->is_loose ? all->count : 0;
}

/* While each round of a loop takes some of the arguments away, and some are
   left, they are known in the next. */
static bool has_shifted(struct ab_shell_run *run, struct visit_frame *f)
{
	uint32_t count = arguments(run);
	bool is_less = count && count < f->count && f->index <= MAX_SHIFTS;

	f->count = count;
	return is_less && run->factor <= 4 &&
	       (f->cmd->end - f->cmd->begin) * MAX_SHIFTS <= MAX_SIZE;
}

/* The next word of a plain condition, without the quotes around it. */
static bool test_word(const char *s, uint32_t n, uint32_t *at,
		      struct ab_word *out)
{
	uint32_t from;

	while (*at < n && s[*at] == ' ')
		++*at;
	from = *at;
	while (*at < n && (ab_shell_name[(unsigned char)s[*at]] ||
			   memchr("\"'${}[]=!/.-_:", s[*at], 14)))
		++*at;
	if (*at < n && s[*at] != ' ')
		return false;
	*out = (struct ab_word){ .text = s + from, .len = *at - from };
	if (out->len > 1 && (s[from] == '"' || s[from] == '\'') &&
	    s[*at - 1] == s[from]) {
		out->text++;
		out->len -= 2;
	}
	return out->len && !memchr(out->text, '"', out->len) &&
	       !memchr(out->text, '\'', out->len);
}

/* The name in $NAME and ${NAME}; false: it is something else. */
static bool test_name(struct ab_word *w)
{
	bool has_braces = w->len > 3 && w->text[1] == '{' &&
			  w->text[w->len - 1] == '}';
	uint32_t skip = 1 + has_braces;

	if (w->len < 2 || *w->text != '$')
		return false;
	w->text += skip;
	w->len -= skip + has_braces;
	for (uint32_t i = 0; i < w->len; i++) {
		if (!ab_shell_name[(unsigned char)w->text[i]])
			return false;
	}
	return w->text[0] > '9';
}

/* until [ "$d" = / ]: behind it d is that, if no break was first. */
static void note_end(struct ab_shell_run *run, const struct visit_frame *f)
{
	bool is_until = f->cmd->kind == CMD_UNTIL;
	const struct cmd *cond = f->cmd->clauses ? f->cmd->clauses->cond : NULL;
	const struct value *value, *now;
	struct ab_word begin, name, sign, to;
	const char *s;
	uint32_t at = 0, n;

	if ((!is_until && f->cmd->kind != CMD_WHILE) || !cond || cond->next ||
	    (cond->flags & (CMD_BANG | CMD_COPROC | CMD_BACKGROUND)) ||
	    (cond->kind != CMD_SIMPLE && cond->kind != CMD_COND))
		return;
	s = (const char *)f->tree->text + cond->begin;
	n = cond->end - cond->begin;
	if (!test_word(s, n, &at, &begin) || !test_word(s, n, &at, &name) ||
	    !test_word(s, n, &at, &sign) || !test_word(s, n, &at, &to) ||
	    !(ab_word_equals(&begin, "[") || ab_word_equals(&begin, "[[") ||
	      ab_word_equals(&begin, "test")) ||
	    !(is_until ? ab_word_equals(&sign, "=") ||
				 ab_word_equals(&sign, "==") :
			 ab_word_equals(&sign, "!=")) ||
	    memchr(to.text, '$', to.len) || !test_name(&name) ||
	    ab_word_equals(&name, "PWD"))
		return;
	to.span = ab_tree_span(f->tree, cond->begin, cond->end);
	value = ab_run_scalar(run, &to);
	now = ab_run_value(run, name.text, name.len);
	ab_run_assign(run, name.text, name.len,
		      ab_run_either(run, now->origin, value, now), 0);
}

/* Each round of it was visited, one after the other, and none left it. */
static bool is_seen_through(const struct ab_shell_run *run,
			    const struct visit_frame *f)
{
	return f->cmd->kind == CMD_FOR && f->words.count && !f->branches &&
	       !f->is_again && f->index == f->words.count &&
	       f->jumps == run->jumps && f->exits == run->exits &&
	       !f->cmd->redirs && is_definite(f) &&
	       f->forgotten == ab_run_losses(run);
}

static void end_loop(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct value *last = ab_run_value(
		run, (const char *)f->tree->text + f->cmd->name,
		f->cmd->name_len);

	/* `b=$c; c=/etc`: a round behind the last one may lead elsewhere */
	if (f->branches && ab_run_goes_on(run, f->again))
		run->jumps++;
	ab_run_blur(run, f->undo, f->jumps == run->jumps,
		    is_seen_through(run, f));
	if (--run->branch_depth == 0)
		run->trail = f->undo;
	run->uncertain--;
	run->factor = f->factor;
	leave_item(run, f, last);
	note_end(run, f);
	finish(run, f);
}

static void step_loop(struct ab_shell_run *run, struct visit_frame *f)
{
	bool is_for = f->cmd->kind == CMD_FOR;

	if (f->phase == PHASE_FIRST) {
		f->phase++;
		begin_loop(run, f);
		f->index = 0;
	} else {
		f->inner.flags |= AB_SHELL_AGAIN;
	}
	if (is_for && f->index < f->count && f->words.count &&
	    !f->is_again) {
		set_item(run, f, item(run, f));
		f->index++;
		visit_round(run, f);
		ab_run_reckon(run, &f->inner);
		return;
	}
	if (is_for && f->words.count == 0) {
		end_loop(run, f);
		return;
	}
	if (!is_for && f->index == 0) {
		f->index = 1;
		f->count = arguments(run);
		if (f->cmd->kind == CMD_SELECT)
			set_item(run, f, NULL);
		visit_round(run, f);
		return;
	}
	if (!is_for && !f->branches && !f->is_again && has_shifted(run, f)) {
		f->index++;
		visit_round(run, f);
		return;
	}
	/* one more round with what has changed unknown, if that matters */
	if (f->branches == 0 &&
	    (f->is_again ? is_for :
			   (!is_for ||
			    (!is_definite(f) && !is_all_seen(run, f))) &&
				   (ab_run_blur(run, f->undo,
						f->jumps == run->jumps,
						false) ||
				    f->learned != run->learned ||
				    (is_for && f->words.count > f->count)))) {
		f->branches = 1;
		if (is_for)
			set_item(run, f,
				 f->words.count == 1 ?
					 again(run, f->words.words) :
					 NULL);
		f->again = run->trail;
		visit_round(run, f);
		return;
	}
	end_loop(run, f);
}

/*
 * The others.
 */

static void step_simple_body(struct ab_shell_run *run, struct visit_frame *f)
{
	bool is_subshell = f->cmd->kind == CMD_SUBSHELL;

	if (f->phase++ == PHASE_FIRST) {
		if (is_subshell) {
			f->undo = ab_run_branch(run);
			f->inner.flags |= AB_SHELL_SUBSHELL;
			f->inner.depth++;
		}
		if (f->cmd->clauses)
			ab_visit_list(run, f->tree, f->cmd->clauses->body,
				      &f->inner);
		return;
	}
	/* once */
	if (is_subshell && f->phase == PHASE_FIRST + 2 &&
	    ab_visit_last(run, &f->inner))
		return;
	if (is_subshell)
		ab_run_back(run, f->undo, NULL);
	finish(run, f);
}

/* A text that runs many times defines it once. */
static bool is_same(const struct ab_shell_function *f, const char *text,
		    uint32_t len)
{
	return f->text && f->text_len == len && !memcmp(f->text, text, len);
}

static struct function *define(struct ab_shell_run *run,
			       struct visit_frame *f)
{
	const char *text = (const char *)f->tree->text + f->cmd->name;
	uint32_t len = f->cmd->name_len;
	struct function *function = ab_run_function(run, text, len);
	bool is_later = run->later || (function && function->is_later);
	bool is_perhaps = run->branch_depth || run->uncertain || is_later;
	char *name;

	/* again, by a loop's next round */
	if (function && function->tree == f->tree && f->cmd->clauses &&
	    function->body == f->cmd->clauses->body) {
		function->public.is_perhaps &= is_perhaps;
		return function;
	}
	if (AB_UNLIKELY(run->later) && function &&
	    is_same(&function->public,
		    (const char *)f->tree->text + f->cmd->begin,
		    f->cmd->end - f->cmd->begin)) {
		function->is_later = function->public.is_perhaps = true;
		return function;
	}
	function = ab_run_high(run, sizeof(*function));
	name = ab_run_high(run, len + 1);
	if (!function || !name)
		return NULL;
	memcpy(name, text, len);
	name[len] = '\0';
	memset(function, 0, sizeof(*function));
	function->is_later = is_later;
	function->public.is_perhaps = is_perhaps;
	function->public.name = name;
	function->public.name_len = len;
	function->public.span = f->scope.span;
	if (!f->tree->source || !f->tree->source->hole_count) {
		function->public.text = (const char *)f->tree->text +
					f->cmd->begin;
		function->public.text_len = f->cmd->end - f->cmd->begin;
	}
	function->tree = f->tree;
	function->body = f->cmd->clauses ? f->cmd->clauses->body : NULL;
	if (run->function_count >= 1024) {
		ab_run_limit(run, "too many functions");
		return NULL;
	}
	ab_run_define(run, function);
	return function;
}

/* What it does to the world may be done later, or never. */
static void join_shared(struct ab_shell_run *run, struct outcome *all)
{
	struct outcome *shared = NULL;

	while (all) {
		struct outcome *o = all;

		all = o->next;
		if (!(o->variable->flags & VARIABLE_SHARED))
			continue;
		o->next = shared;
		shared = o;
	}
	ab_run_join(run, shared, 2);
}

static void step_function(struct ab_shell_run *run, struct visit_frame *f)
{
	struct ab_shell_place_of place;

	if (f->phase++ == PHASE_FIRST) {
		f->function = define(run, f);
		if (!f->function)
			return;
		f->scope.function = &f->function->public;
		f->undo = ab_run_branch(run);
		ab_run_assign(run, "@", 1, ab_run_unknown(run, NULL), 0);
		f->inner.flags |= AB_SHELL_DEFINITION;
		f->inner.function = f->function->public.name;
		f->inner.in = f->inner.out = NULL;
		f->scope.in = f->scope.out = NULL;
		run->uncertain++;
		f->function->active = 2; /* a call of itself is not visited */
		ab_visit_begin(run, &f->scope);
		ab_visit_list(run, f->tree, f->function->body, &f->inner);
		return;
	}
	if (f->function) {
		f->function->active = 0;
		run->uncertain--;
		ab_run_back(run, f->undo, &f->outcomes);
		join_shared(run, f->outcomes);
	}
	place = f->place;
	finish(run, f);
	if (AB_UNLIKELY(run->pushed))
		ab_visit_waiting(run, &place);
}

/* Two words without an operator between them: ((rm -rf x)) is arithmetic to
 * bash, which fails, but commands in subshells to a POSIX shell. */
static bool looks_like_command(const struct ab_word *w)
{
	const char *s = w->text, *end = s + w->len;

	while (s < end && (*s == '(' || *s == ' ' || *s == '\t' || *s == '\n'))
		s++;
	if (s == end || ab_shell_name[(unsigned char)*s] != AB_NAME)
		return false;
	while (s < end && (ab_shell_name[(unsigned char)*s] ||
			   strchr("./-", *s)))
		s++;
	if (s == end || (*s != ' ' && *s != '\t' && *s != ';'))
		return false;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s == end)
		return false;
	if (*s == '-' || *s == '>' || *s == '<')
		return s + 1 < end &&
		       (ab_shell_name[(unsigned char)s[1]] == AB_NAME ||
			s[1] == '-' || s[1] == '/');
	return ab_shell_name[(unsigned char)*s] || strchr("./~;'\"*$", *s);
}

static bool visit_as_commands(struct ab_shell_run *run, struct visit_frame *f)
{
	struct pushed pushed = { 0 };
	const struct ab_word *kept;

	if (!f->words.count || !looks_like_command(&f->words.words[0]))
		return false;
	kept = ab_run_keep(run, &f->words.words[0]);
	if (!kept)
		return false;
	pushed.text.text = *kept;
	pushed.text.in = f->inner.in;
	pushed.text.out = f->inner.out;
	pushed.text.tag = f->inner.tag;
	ab_visit_pushed(run, &pushed, &f->inner);
	return true;
}

/* -eq and the like, whose operands are arithmetic. */
static bool is_comparison(const struct ab_word *w)
{
	static const char names[][4] = { "-eq", "-ne", "-lt",
					 "-le", "-gt", "-ge" };

	if (w->len != 3 || w->is_quoted)
		return false;
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (ab_word_equals(w, names[i]))
			return true;
	return false;
}

/* -v a[$(b)] in [[ ]] runs b, also when it is quoted, and so does -eq. */
static bool visit_operands(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct ab_word *words = f->words.words;
	uint32_t count = f->words.count;
	bool any = false;

	for (uint32_t i = 0; i < count; i++)
		if ((i && (ab_word_equals(&words[i - 1], "-v") ||
			   is_comparison(&words[i - 1]))) ||
		    (i + 1 < count && is_comparison(&words[i + 1])))
			any |= ab_visit_embedded(run, &words[i], &f->inner);
	return any;
}

void ab_visit_step_compound(struct ab_shell_run *run, struct visit_frame *f)
{
	if (f->phase == PHASE_WORDS) {
		f->phase++;
		ab_visit_words(run, f, f->cmd, false);
		if (run->top != f || run->arena->is_full)
			return;
	}
	if (f->phase == PHASE_BEGIN) {
		begin(run, f);
		f->phase++;
		return;
	}
	if (AB_UNLIKELY(f->phase == PHASE_LATE)) {
		ab_visit_leave(run);
		return;
	}
	if (is_loop(f->cmd)) {
		step_loop(run, f);
		return;
	}
	switch ((enum cmd_kind)f->cmd->kind) {
	case CMD_IF:
		step_if(run, f);
		break;
	case CMD_CASE:
		step_case(run, f);
		break;
	case CMD_FUNCTION:
		step_function(run, f);
		break;
	case CMD_ARITH:
		if (f->phase++ == PHASE_FIRST) {
			if (f->words.count)
				ab_arith_effects(run, &f->words.words[0]);
			if (visit_as_commands(run, f))
				return;
		}
		finish(run, f);
		break;
	case CMD_COND:
		if (f->phase++ == PHASE_FIRST && visit_operands(run, f))
			return;
		finish(run, f);
		break;
	default:
		step_simple_body(run, f);
		break;
	}
}
