/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts inside of texts: the substitutions of words, before the command that
 * they stand in; what a visitor pushed; bodies of functions that are called.
 */
#include "config.h"

#include "shell/scan.h"
#include "shell/state.h"

/* Flags that hold for a command but not for what is inside of it. */
#define OWN_FLAGS                                                              \
	((uint32_t)(AB_SHELL_NEGATED | AB_SHELL_PIPE_BOTH | AB_SHELL_CONDITION))

static bool body_is_special(const struct ab_shell_tree *tree,
			    const struct redir *r)
{
	const unsigned char *s = tree->text + r->body;
	size_t len = r->body_end - r->body;

	if (r->is_stripped)
		return true;
	return !r->is_quoted && (memchr(s, '$', len) || memchr(s, '`', len) ||
				 memchr(s, '\\', len) || memchr(s, 0, len));
}

bool ab_visit_needs_words(const struct cmd *cmd)
{
	if (AB_UNLIKELY(!ab_tree_is_plain(cmd)))
		for (const struct word *w = cmd->words; w; w = w->next)
			if (w->flags & (WORD_SUBST | WORD_ARRAY))
				return true;
	for (const struct redir *r = cmd->redirs; r; r = r->next)
		if ((r->target.flags & WORD_SUBST) ||
		    r->kind == AB_REDIR_HERE_DOC)
			return true;
	if (cmd->kind == CMD_CASE)
		for (const struct clause *c = cmd->clauses; c; c = c->next)
			for (const struct word *w = c->words; w; w = w->next)
				if (w->flags & WORD_SUBST)
					return true;
	return false;
}

void ab_visit_words(struct ab_shell_run *run, const struct visit_frame *below,
		    const struct cmd *cmd, bool is_late)
{
	const struct ab_shell_tree *tree = below->tree;
	struct visit_frame *f;

	if (!ab_visit_needs_words(cmd))
		return;
	f = ab_visit_enter(run, VISIT_WORDS, tree, &below->place);
	if (!f)
		return;
	f->cmd = cmd;
	f->word = cmd->words;
	f->part = f->word ? f->word->parts : NULL;
	f->redir = cmd->redirs;
	f->clause = cmd->kind == CMD_CASE ? cmd->clauses : NULL;
	f->is_late = is_late;
}

/*
 * Texts.
 */

/* A copy of the bytes that may be parsed: holes become one NUL each, except
 * for patterns, whose bytes are what the shell reads. */
struct source {
	unsigned char *text;
	uint32_t len;
	struct ab_word word;
	struct ab_hole *holes, *texts;
	struct ab_map *map;
};

static bool source_room(struct ab_shell_run *run, struct source *s,
			uint32_t len, uint32_t holes, uint32_t maps)
{
	memset(s, 0, sizeof(*s));
	s->text = ab_run_low(run, (size_t)len + holes + AB_SHELL_PAD);
	s->holes = ab_run_low(run, ((size_t)holes + 1) * sizeof(*s->holes));
	s->texts = ab_run_low(run, ((size_t)holes + 1) * sizeof(*s->texts));
	s->map = ab_run_low(run, (size_t)maps * sizeof(*s->map));
	s->word.holes = s->holes;
	s->word.map = s->map;
	return s->text && s->holes && s->texts && s->map;
}

static void source_map(struct source *s, struct ab_span span, uint32_t len)
{
	struct ab_map *last = s->word.map_count ?
				      &s->map[s->word.map_count - 1] :
				      NULL;

	if (last && last->span.end - last->span.begin == s->len - last->at &&
	    last->span.end == span.begin && span.end - span.begin == len)
		last->span.end = span.end;
	else
		s->map[s->word.map_count++] = (struct ab_map){ s->len, span };
}

/* Bytes begin..end of w, which hold no hole but patterns. */
static void source_bytes(struct source *s, const struct ab_word *w,
			 uint32_t begin, uint32_t end)
{
	uint32_t i = ab_word_entry(w, begin);

	while (begin < end) {
		uint32_t last = i + 1 < w->map_count &&
						w->map[i + 1].at < end ?
					w->map[i + 1].at :
					end;

		source_map(s, ab_word_span(w, begin, last - begin),
			   last - begin);
		memcpy(s->text + s->len, w->text + begin, last - begin);
		s->len += last - begin;
		begin = last;
		i++;
	}
}

/* "${x:-rm -rf /}" is a command when it is a text: read it as one. */
static bool is_likely_text(const struct ab_word *w, const struct ab_hole *h)
{
	if (h->kind != AB_HOLE_LIKELY)
		return false;
	for (uint32_t i = 0; i < h->len; i++) {
		if (memchr(" \t\n;|&<>(){}`$", w->text[h->at + i], 14))
			return true;
	}
	return false;
}

static bool source_of(struct ab_shell_run *run, const struct ab_word *w,
		      struct source *s)
{
	uint32_t at = 0;

	if (!source_room(run, s, w->len, w->hole_count,
			 w->map_count + 2 * w->hole_count + 2))
		return false;
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (h->kind == AB_HOLE_PATTERN || is_likely_text(w, h))
			continue;
		source_bytes(s, w, at, h->at);
		source_map(s, h->span, 1);
		s->texts[s->word.hole_count] = *h;
		s->holes[s->word.hole_count] = *h;
		s->holes[s->word.hole_count].at = s->len;
		s->holes[s->word.hole_count].len = 1;
		s->word.hole_count++;
		s->text[s->len++] = 0;
		at = h->at + h->len;
	}
	source_bytes(s, w, at, w->len);
	s->word.span = w->span;
	return true;
}

/* The tree of a source; `bytes` is what the holes' own bytes are in. */
static const struct ab_shell_tree *source_parse(struct ab_shell_run *run,
						struct source *s,
						const char *bytes,
						enum ab_shell_mode mode)
{
	struct ab_word *w = ab_run_low(run, sizeof(*w));
	const struct ab_shell_tree *tree;
	struct ab_shell_tree *made;

	if (!w)
		return NULL;
	*w = s->word;
	w->text = (const char *)s->text;
	w->len = s->len;
	tree = ab_shell_parse_text(run->arena, s->text, s->len, w, mode,
				   &run->limits, run->result);
	if (!tree)
		return NULL;
	made = (struct ab_shell_tree *)(uintptr_t)tree;
	made->hole_texts = s->texts;
	made->hole_bytes = bytes;
	return tree;
}

/* A hole of the tree's own source, on its way into a source made of it. */
static void source_hole(struct source *s, const struct ab_shell_tree *tree,
			uint32_t at)
{
	const struct ab_word *w = tree->source;
	uint32_t low = 0, high = w ? w->hole_count : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (w->holes[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!w || low >= w->hole_count || w->holes[low].at != at)
		return;
	source_map(s, w->holes[low].span, 1);
	s->texts[s->word.hole_count] = tree->hole_texts[low];
	s->holes[s->word.hole_count] = w->holes[low];
	s->holes[s->word.hole_count].at = s->len;
	s->word.hole_count++;
	s->text[s->len++] = 0;
}

static uint32_t count_bytes(const unsigned char *s, uint32_t len,
			    unsigned char c)
{
	const unsigned char *end = s + len;
	uint32_t count = 0;

	for (; (s = memchr(s, c, (size_t)(end - s))); s++)
		count++;
	return count;
}

/* The first byte from `at` on that decode() looks at; `end` or behind it. */
static uint32_t to_special(const unsigned char *text, uint32_t at, uint32_t end)
{
	uint32_t n = sizeof(ab_vector);

	for (; at < end && n == sizeof(ab_vector); at += n) {
		ab_vector v = ab_vector_load(text + at);

		n = ab_vector_first(
			(ab_vector)((v == 0) | (v == '\\') | (v == '\t')));
	}
	return at;
}

/*
 * begin..end of the tree's text with bytes left out: `unescape` are those
 * that a backslash is removed before; tabs at the start of lines when strip.
 */
static bool decode(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		   uint32_t begin, uint32_t end, const char *unescape,
		   bool strip, struct source *s)
{
	const unsigned char *text = tree->text;
	uint32_t len = end - begin, from = begin;
	uint32_t cuts = count_bytes(text + begin, len, 0) +
			(unescape ? count_bytes(text + begin, len, '\\') : 0) +
			(strip ? count_bytes(text + begin, len, '\n') : 0);
	struct ab_word w = { 0 };

	if (!source_room(run, s, len,
			 tree->source ? tree->source->hole_count : 0,
			 2 * cuts + 2 +
				 (tree->source ? tree->source->map_count : 0)))
		return false;
	w.text = (const char *)text;
	w.len = tree->len;
	w.span = (struct ab_span){ 0, tree->len };
	if (tree->source)
		w = *tree->source;
	for (uint32_t i = begin; (i = to_special(text, i, end)) < end; i++) {
		unsigned char ch = text[i];

		if (ch == '\t') {
			if (!strip || (i > begin && text[i - 1] != '\n'))
				continue;
			source_bytes(s, &w, from, i);
			while (i < end && text[i] == '\t')
				i++;
			from = i--;
		} else if (ch == 0) {
			source_bytes(s, &w, from, i);
			source_hole(s, tree, i);
			from = i + 1;
		} else if (unescape && i + 1 < end) {
			if (text[i + 1] && strchr(unescape, text[i + 1])) {
				source_bytes(s, &w, from, i);
				from = i + 1;
			}
			i++;
			if (text[i] == 0)
				i--;
		}
	}
	source_bytes(s, &w, from, end);
	s->word.span = ab_tree_span(tree, begin, end);
	return true;
}

/*
 * Substitutions.
 */

static struct visit_frame *enter_substitution(struct ab_shell_run *run,
					      struct visit_frame *words,
					      struct part *part)
{
	enum ab_stream_kind kind = part->kind == PART_PROC_IN ?
					   AB_STREAM_PROC_IN :
				   part->kind == PART_PROC_OUT ?
					   AB_STREAM_PROC_OUT :
					   AB_STREAM_COMMAND;
	struct ab_span span = ab_tree_span(words->tree, part->begin,
					   part->end);
	/* what >(...) reads has a stream since its word was looked at; public
	 * is the first member */
	struct stream *stream = kind == AB_STREAM_PROC_OUT && part->stream ?
					(struct stream *)(void *)part->stream :
					ab_run_stream(run, kind, span);
	struct visit_frame *f = ab_visit_enter(run, VISIT_SUBSTITUTION,
					       words->tree, &words->place);

	if (!stream || !f)
		return NULL;
	f->stream = stream;
	f->target = part;
	f->scope.kind = AB_SCOPE_SUBSTITUTION;
	f->scope.span = span;
	f->scope.place = words->place;
	f->inner = words->place;
	f->inner.flags &= ~OWN_FLAGS;
	f->inner.flags |= AB_SHELL_SUBSTITUTION | AB_SHELL_SUBSHELL;
	f->inner.depth++;
	if (kind == AB_STREAM_PROC_OUT)
		f->inner.in = &stream->public;
	else
		f->inner.out = &stream->public;
	f->scope.in = f->inner.in;
	f->scope.out = f->inner.out;
	return f;
}

/* The commands of a part, parsed now when they are not yet. */
static void visit_part(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct part *part = f->target;
	const struct ab_shell_tree *tree = f->tree;
	const struct cmd *list = part->u.list;

	if (part->kind == PART_BACKQUOTE || part->kind == PART_FUNSUB) {
		const char *unescape =
			part->kind == PART_FUNSUB	  ? NULL :
			(part->flags & PART_QUOTED) ? "$`\\\"" :
							    "$`\\";
		struct source s;

		if (part->end - part->begin > run->text_budget) {
			ab_run_limit(run, "too much text to look at");
			return;
		}
		run->text_budget -= part->end - part->begin;
		if (run->text_depth >= run->limits.texts) {
			ab_run_limit(run, "nested too deeply");
			return;
		}
		run->text_depth++;
		f->count = 1; /* to be taken back */
		if (!decode(run, tree, part->begin, part->end, unescape, false,
			    &s))
			return;
		tree = source_parse(run, &s, tree->hole_bytes,
				    AB_SHELL_COMMANDS);
		if (!tree)
			return;
		list = tree->list;
		if (tree->is_guess)
			f->inner.flags |= AB_SHELL_GUESS;
	}
	ab_visit_list(run, tree, list, &f->inner);
}

void ab_visit_step_substitution(struct ab_shell_run *run,
				struct visit_frame *f)
{
	if (f->phase++ == 0) {
		f->undo = ab_run_branch(run);
		ab_visit_begin(run, &f->scope);
		visit_part(run, f);
		return;
	}
	/* once */
	if (f->phase == 2 && ab_visit_last(run, &f->inner))
		return;
	run->text_depth -= f->count;
	ab_run_back(run, f->undo, NULL);
	if (f->target->kind != PART_PROC_OUT)
		ab_run_close(run, f->stream, true);
	f->target->stream = &f->stream->public;
	ab_visit_end(run, &f->scope);
	ab_visit_leave(run);
}

/* The next word of the command to be looked at: argv, then the targets of
 * redirections, then patterns. */
static bool next_word(struct ab_shell_run *run, struct visit_frame *f)
{
	if (f->outer) { /* the elements of an array */
		f->word = f->word->next;
		if (f->word) {
			f->part = f->word->parts;
			return true;
		}
		f->word = f->outer;
		f->part = f->outer_part;
		f->outer = NULL;
		return true;
	}
	if (f->word && f->word->next) {
		f->word = f->word->next;
		f->part = f->word->parts;
		return true;
	}
	f->word = NULL;
	while (f->redir) {
		struct redir *r = f->redir;
		struct source s;

		f->redir = r->next;
		if (r->kind != AB_REDIR_HERE_DOC) {
			f->part = r->target.parts;
			return true;
		}
		if (f->is_late)
			continue;
		r->tree = NULL;
		if (!body_is_special(f->tree, r))
			continue;
		if (!decode(run, f->tree, r->body, r->body_end, NULL,
			    r->is_stripped, &s))
			return false;
		if (r->is_quoted) /* a text of its own, nothing special in it */
			r->tree = ab_tree_plain(run->arena, &s.word, s.text,
						s.len);
		else
			r->tree = source_parse(run, &s, f->tree->hole_bytes,
					       AB_SHELL_BODY);
		if (!r->tree)
			return false;
		f->part = r->tree->word->parts;
		f->inner_tree = r->tree;
		return true;
	}
	if (f->clause) {
		f->word = f->clause->words;
		f->part = f->word ? f->word->parts : NULL;
		f->clause = f->clause->next;
		return true;
	}
	return false;
}

static bool is_due(const struct visit_frame *f, const struct part *part)
{
	switch ((enum part_kind)part->kind) {
	case PART_COMMAND:
	case PART_BACKQUOTE:
	case PART_FUNSUB:
	case PART_PROC_IN:
		return !f->is_late;
	case PART_PROC_OUT:
		return f->is_late;
	default:
		return false;
	}
}

/* A text that is no command, but whose $(...) and `...` are run: visited as
 * `: "text"`. */
bool ab_visit_embedded(struct ab_shell_run *run, const struct ab_word *word,
		       const struct ab_shell_place_of *place)
{
	struct segments list = { NULL, &list.first };
	struct fields fields = { 0 };
	struct pushed pushed = { 0 };
	const struct ab_word *kept;

	if (!memmem(word->text, word->len, "$(", 2) &&
	    !memchr(word->text, '`', word->len))
		return false;
	ab_segments_add(run, &list, ": \"", 3, word->span, SEGMENT_QUOTED);
	ab_segments_add_word(run, &list, word, SEGMENT_QUOTED);
	ab_segments_add(run, &list, "\"", 1, word->span, SEGMENT_QUOTED);
	ab_expand_fields(run, list.first, EXPAND_ONE, &fields);
	kept = fields.count ? ab_run_keep(run, &fields.words[0]) : NULL;
	if (!kept || kept->len > run->text_budget) {
		ab_run_limit(run, "too much text to look at");
		return false;
	}
	run->text_budget -= kept->len;
	pushed.text.text = *kept;
	pushed.text.in = place->in;
	pushed.text.out = place->out;
	pushed.text.tag = place->tag;
	ab_visit_pushed(run, &pushed, place);
	return true;
}

/* ${x@P} runs the commands that are in the value of x. */
static bool prompt_commands(struct ab_shell_run *run,
			       const struct visit_frame *f,
			       const struct part *part)
{
	const struct param *param = part->u.param;
	const char *name = (const char *)f->tree->text + param->name;
	const struct value *v;
	bool any = false;

	if (param->op != OP_AT || param->letter != 'P')
		return false;
	if (*name == '*' || (ab_shell_name[(unsigned char)*name] & AB_DIGIT))
		v = ab_run_value(run, "@", 1);
	else
		v = ab_run_value(run, name, param->name_len);
	for (; v; v = v->other) {
		const struct value *text = v->one ? v->one : v;

		if (!ab_run_is_text(text))
			continue;
		for (uint32_t i = 0; i < text->count; i++) {
			const struct ab_word *w = &text->words[i];

			if (w->len >= run->text_budget) {
				ab_run_limit(run, "too much text to look at");
				return any;
			}
			run->text_budget -= w->len + 1;
			any |= ab_visit_embedded(run, w, &f->place);
		}
	}
	return any;
}

void ab_visit_step_words(struct ab_shell_run *run, struct visit_frame *f)
{
	while (!run->arena->is_full) {
		struct part *part = f->part;

		if (!part) {
			f->inner_tree = NULL;
			if (!next_word(run, f)) {
				ab_visit_leave(run);
				return;
			}
			continue;
		}
		f->part = part->next;
		if (part->kind == PART_ARRAY) {
			f->outer = f->word;
			f->outer_part = f->part;
			f->word = part->u.words;
			f->part = f->word ? f->word->parts : NULL;
			if (!f->word) {
				f->word = f->outer;
				f->part = f->outer_part;
				f->outer = NULL;
			}
		} else if (part->kind == PART_PROC_OUT && !f->is_late) {
			struct stream *s = ab_run_stream(
				run, AB_STREAM_PROC_OUT,
				ab_tree_span(f->tree, part->begin, part->end));

			part->stream = s ? &s->public : NULL;
			f->below->has_late = true;
		} else if (part->kind == PART_PARAM && !f->is_late) {
			if (prompt_commands(run, f, part))
				return;
		} else if (is_due(f, part)) {
			const struct ab_shell_tree *tree = f->tree;

			/* the body of a here-document has its own tree */
			if (f->inner_tree)
				f->tree = f->inner_tree;
			enter_substitution(run, f, part);
			f->tree = tree;
			return;
		}
	}
}

/*
 * What was pushed, and calls.
 */

static void begin_passing(struct ab_shell_run *run, struct visit_frame *f,
			  const struct passing *p, bool is_child)
{
	for (; p; p = p->next) {
		struct variable *v;
		struct undo *u = ab_run_high(run, sizeof(*u));

		if (!u)
			return;
		u->value = ab_run_value(run, p->name, p->len);
		ab_run_assign(run, p->name, p->len, p->value,
			      is_child ? VARIABLE_EXPORTED : 0);
		v = ab_run_find(run, p->name, p->len);
		if (!v)
			continue;
		u->variable = v;
		u->local_to = v->local_to;
		v->local_to = f;
		u->older = f->locals;
		f->locals = u;
	}
}

static void end_passing(struct ab_shell_run *run, struct visit_frame *f)
{
	for (struct undo *u = f->locals; u; u = u->older) {
		ab_run_restore(run, u->variable, u->value);
		u->variable->local_to = u->local_to;
	}
}

void ab_visit_pushed(struct ab_shell_run *run, struct pushed *pushed,
		     const struct ab_shell_place_of *place)
{
	struct visit_frame *f = ab_visit_enter(run, VISIT_TEXT,
					       run->root, place);
	struct pushed *copy = ab_run_high(run, sizeof(*copy));

	if (!f || !copy)
		return;
	*copy = *pushed;
	f->pushed = copy;
	f->alias = pushed->alias;
	f->inner = *place;
	f->inner.flags &= ~OWN_FLAGS;
	f->inner.depth++;
	if (pushed->text.in)
		f->inner.in = pushed->text.in;
	if (pushed->text.out)
		f->inner.out = pushed->text.out;
	f->inner.tag = pushed->text.tag;
	f->scope.kind = AB_SCOPE_TEXT;
	f->scope.span = pushed->text.text.span;
	f->scope.place = *place;
	f->scope.in = f->inner.in;
	f->scope.out = f->inner.out;
}

/* env NAME=VALUE sh -c ... */
static void give(struct ab_shell_run *run, const struct ab_word *w)
{
	uint32_t len = ab_builtin_name_len(w, 0);
	struct ab_word value;

	if (!len || len >= w->len || w->text[len] != '=' ||
	    !ab_builtin_is_exact(w, len + 1))
		return;
	value = ab_builtin_tail(run, w, len + 1);
	ab_run_assign(run, w->text, len, ab_run_scalar(run, &value),
		      VARIABLE_EXPORTED);
}

static void begin_child(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct ab_shell_text *t = &f->pushed->text;
	struct ab_word none = { .text = "" };

	f->undo = ab_run_branch(run);
	f->saved = NULL;
	begin_passing(run, f, f->pushed->passing, true);
	for (uint32_t i = 0; i < t->given_count; i++)
		give(run, &t->given[i]);
	f->child = run->child;
	run->child = ++run->clock;
	f->functions_before = run->functions;
	f->function_mask = run->function_mask;
	f->aliases_before = run->aliases;
	run->functions = NULL;
	run->function_mask = 0;
	run->aliases = NULL;
	f->inner.flags |= AB_SHELL_SUBSHELL;
	f->inner.function = NULL;
	ab_run_assign(run, "@", 1,
		      ab_run_array(run, t->arg_count ? t->args + 1 : &none,
				   t->arg_count ? t->arg_count - 1 : 0),
		      0);
	if (t->arg_count)
		ab_run_assign(run, "0", 1, ab_run_scalar(run, t->args), 0);
	if (t->cwd) {
		ab_run_assign(run, AB_SHELL_CWD, sizeof(AB_SHELL_CWD) - 1,
			      ab_run_scalar(run, t->cwd), VARIABLE_EXPORTED);
		ab_run_assign(run, "PWD", 3,
			      t->cwd->len ? ab_run_scalar(run, t->cwd) : NULL,
			      VARIABLE_EXPORTED);
	}
}

/* `. FILE ARGS`: they are "$@" until it ends. */
static void begin_arguments(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct ab_shell_text *t = &f->pushed->text;
	struct undo *u;

	if (AB_LIKELY(t->arg_count < 2))
		return;
	u = ab_run_high(run, sizeof(*u));
	if (!u)
		return;
	u->value = ab_run_value(run, "@", 1);
	ab_run_assign(run, "@", 1,
		      ab_run_array(run, t->args + 1, t->arg_count - 1), 0);
	u->variable = ab_run_find(run, "@", 1);
	if (!u->variable)
		return;
	u->local_to = u->variable->local_to;
	u->older = f->locals;
	f->locals = u;
}

static bool is_unsure(const struct ab_shell_text *t)
{
	return t->is_perhaps || t->when != AB_SHELL_NOW;
}

static void begin_text(struct ab_shell_run *run, struct visit_frame *f)
{
	const struct ab_shell_text *t = &f->pushed->text;
	const struct ab_shell_tree *tree;
	const struct ab_shell_result was = *run->result;
	struct source s;

	f->was_posix = run->limits.posix;
	if (t->is_child)
		run->limits.posix = run->root->limits.posix && !t->is_bash;
	f->mark = run->arena->low;
	f->functions = run->function_count;
	if (is_unsure(t))
		ab_later_begin(run, f);
	if (run->text_depth++ >= run->limits.texts) {
		ab_run_limit(run, "nested too deeply");
		return;
	}
	if (f->alias)
		f->alias->is_active = true;
	ab_visit_begin(run, &f->scope);
	if (t->is_child) {
		begin_child(run, f);
	} else {
		begin_passing(run, f, f->pushed->passing, false);
		begin_arguments(run, f);
	}
	if (!source_of(run, &t->text, &s))
		return;
	tree = source_parse(run, &s, t->text.text, AB_SHELL_COMMANDS);
	if (!tree)
		return;
	if (t->is_bash)
		run->result->differs = was.differs;
	if (AB_UNLIKELY(t->is_part) &&
	    run->result->status != AB_SHELL_LIMIT)
		*run->result = was;
	f->tree = tree;
	if (tree->is_guess)
		f->inner.flags |= AB_SHELL_GUESS;
	ab_visit_list(run, tree, tree->list, &f->inner);
}

void ab_visit_step_text(struct ab_shell_run *run, struct visit_frame *f)
{
	if (f->phase++ == 0) {
		begin_text(run, f);
		return;
	}
	/* once */
	if (f->pushed->text.is_child && f->phase == 2 &&
	    ab_visit_last(run, &f->inner))
		return;
	run->text_depth--;
	if (f->alias)
		f->alias->is_active = false;
	if (f->pushed->text.is_child) {
		run->child = f->child;
		run->limits.posix = f->was_posix;
		run->functions = f->functions_before;
		run->function_mask = f->function_mask;
		run->aliases = f->aliases_before;
		ab_run_back(run, f->undo, NULL);
		/* what a program ran may have read */
		if (f->inner.in)
			f->inner.in->value = NULL;
	} else {
		end_passing(run, f);
	}
	if (AB_UNLIKELY(is_unsure(&f->pushed->text)))
		ab_later_end(run, f);
	ab_visit_end(run, &f->scope);
	ab_visit_leave(run);
}

/* `f <file`: the redirections of a call stand around the body. They are kept as
 * long as the run. */
static void redirect_call(struct ab_shell_run *run, struct visit_frame *f,
			  const struct ab_shell_command *c)
{
	static const struct ab_hole any = { .kind = AB_HOLE_BYTES };
	static const struct ab_word unknown = { .text = "", .holes = &any,
						.hole_count = 1 };
	struct ab_shell_redir *all;

	if (AB_LIKELY(!c->redir_count))
		return;
	all = ab_run_high(run, c->redir_count * sizeof(*all));
	if (!all)
		return;
	for (uint32_t i = 0; i < c->redir_count; i++) {
		const struct ab_word *kept =
			ab_run_keep(run, &c->redirs[i].target);

		all[i] = c->redirs[i];
		all[i].target = kept ? *kept : unknown;
	}
	f->scope.redirs = all;
	f->scope.redir_count = c->redir_count;
	ab_visit_redirect(run, f);
}

void ab_visit_call(struct ab_shell_run *run, struct function *function,
		   const struct ab_shell_command *c, struct passing *passing)
{
	struct visit_frame *f;

	if (function->active >= 2 || run->text_depth >= run->limits.texts) {
		/* what it does there was seen, but not how often; what a
		 * definition does to the state is taken back anyway */
		if (!(c->place.flags & AB_SHELL_DEFINITION))
			ab_shell_forget(run);
		if (c->place.in)
			c->place.in->value = NULL;
		return;
	}
	f = ab_visit_enter(run, VISIT_CALL, function->tree, &c->place);
	if (!f)
		return;
	function->active++;
	run->text_depth++;
	f->function = function;
	f->saved = ab_run_value(run, "@", 1);
	f->inner = c->place;
	f->inner.flags &= ~(OWN_FLAGS | AB_SHELL_DEFINITION);
	f->inner.flags |= AB_SHELL_CALLED;
	f->inner.depth++;
	f->inner.function = function->public.name;
	f->scope.kind = AB_SCOPE_CALL;
	f->scope.span = c->span;
	f->scope.place = c->place;
	redirect_call(run, f, c);
	f->scope.in = f->inner.in;
	f->scope.out = f->inner.out;
	f->scope.function = &function->public;
	f->child = (uint64_t)(uintptr_t)run->call;
	run->call = f;
	begin_passing(run, f, passing, false);
	ab_run_assign(run, "@", 1,
		      ab_run_array(run, c->argv + 1, c->argc - 1), 0);
	f->uncertain = run->uncertain;
	f->undo = ab_run_branch(run);
	f->jumps = run->jumps;
	ab_run_stands(run, f->stood);
}

void ab_visit_step_call(struct ab_shell_run *run, struct visit_frame *f)
{
	if (f->phase++ == 0) {
		f->mark = run->arena->low;
		f->functions = run->function_count;
		ab_visit_begin(run, &f->scope);
		ab_visit_list(run, f->tree, f->function->body, &f->inner);
		return;
	}
	f->function->active--;
	run->text_depth--;
	run->call = (struct visit_frame *)(uintptr_t)f->child;
	/* it may have ended before any of its assignments */
	if (f->is_sure)
		ab_run_blur(run, f->undo, f->jumps == run->jumps, false);
	if (--run->branch_depth == 0)
		run->trail = f->undo;
	ab_visit_close(run, f);
	/* with the variables that are its own */
	ab_visit_end(run, &f->scope);
	end_passing(run, f);
	ab_run_assign(run, "@", 1, f->saved, 0);
	if (run->branch_depth)
		ab_run_outlive(run, f->undo);
	ab_visit_leave(run);
}
