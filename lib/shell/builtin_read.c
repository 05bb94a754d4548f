/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `read` and `mapfile`: what they make of a text that is known. Of any other
 * nobody knows what they read. What else may read of it, leaves nobody knows
 * what to the next.
 */
#include "config.h"

#include "shell/state.h"

const struct ab_word *ab_builtin_proc_text(const struct ab_word *w)
{
	return w->hole_count == 1 && w->holes->kind == AB_HOLE_PROC &&
			       w->holes->len == w->len && w->holes->origin ?
		       w->holes->origin->value :
		       NULL;
}

/* <&5: what the visitor keeps of that descriptor (shell.h). */
static struct ab_stream *fd_origin(struct ab_shell_run *run,
				   const struct ab_word *fd)
{
	char name[16] = " fd ";
	const struct value *v;

	if (fd->hole_count || fd->len > 6)
		return ab_run_blend(run, fd, 1);
	memcpy(name + 4, fd->text, fd->len);
	v = ab_run_value(run, name, 4 + fd->len);
	return v->origin ? v->origin : ab_run_blend(run, v->words, v->count);
}

/* read -u 3: the word that says so; or NULL. */
static const struct ab_word *other_fd(const struct ab_shell_command *c)
{
	for (uint32_t i = 1; i + 1 < c->argc; i++) {
		const struct ab_word *w = &c->argv[i];

		if (w->len > 1 && *w->text == '-' && !w->hole_count &&
		    w->text[w->len - 1] == 'u')
			return &c->argv[i + 1];
	}
	return NULL;
}

/* What `read` reads: the word, or the stream it comes from. *is_first: in a
   loop, where the next round reads another line. */
static const struct ab_word *input_of(struct ab_shell_run *run,
				      const struct ab_shell_command *c,
				      struct ab_stream **origin,
				      bool *is_first)
{
	const struct ab_word *word = c->place.in ? c->place.in->value : NULL;
	const struct stream *all =
		(const struct stream *)(const void *)c->place.in;
	const struct ab_word *fd;

	*origin = c->place.in;
	*is_first = c->place.flags & AB_SHELL_LOOP;
	if (all && all->is_taken && !*is_first)
		word = NULL;
	for (uint32_t i = 0; i < c->redir_count; i++) {
		const struct ab_shell_redir *r = &c->redirs[i];

		if (r->fd != 0)
			continue;
		*is_first = false;
		*origin = r->kind == AB_REDIR_DUP_IN ?
				  fd_origin(run, &r->target) :
				  ab_run_blend(run, &r->target, 1);
		word = r->kind >= AB_REDIR_HERE_DOC ?
			       &r->target :
			       ab_builtin_proc_text(&r->target);
		if (!word && r->kind == AB_REDIR_READ)
			word = run->input;
	}
	fd = other_fd(c);
	if (fd) {
		*is_first = false;
		*origin = fd_origin(run, fd);
		word = NULL;
	}
	return word;
}

bool ab_may_name_fd(const struct ab_word *w)
{
	return w->hole_count || memmem(w->text, w->len, "stdin", 5) ||
	       memmem(w->text, w->len, "fd", 2);
}

/* Its fd 0 is another, it duplicates none, and no operand may name one: what
   it is given stays. */
static bool has_own_input(const struct ab_shell_command *c)
{
	bool own = false;

	for (uint32_t i = 1; i < c->argc; i++) {
		if (ab_may_name_fd(&c->argv[i]))
			return false;
	}
	for (uint32_t i = 0; i < c->redir_count; i++) {
		const struct ab_shell_redir *r = &c->redirs[i];

		if (r->kind == AB_REDIR_DUP_IN)
			return false;
		if (r->fd == 0)
			own = r->kind >= AB_REDIR_HERE_DOC ||
			      !ab_may_name_fd(&r->target);
	}
	return own;
}

/* `exec <f` changes what comes behind it. */
static bool is_exec(const struct ab_shell_command *c)
{
	uint32_t i = 0;

	while (i < c->argc && (ab_word_equals(&c->argv[i], "command") ||
			       ab_word_equals(&c->argv[i], "builtin") ||
			       ab_word_equals(&c->argv[i], "--") ||
			       ab_word_equals(&c->argv[i], "-p")))
		i++;
	return i < c->argc && ab_word_equals(&c->argv[i], "exec");
}

/* Those that may read what they are given, besides `read` and mapfile. */
static bool may_read(const struct ab_shell_command *c)
{
	const uint64_t readers = AB_BUILTIN(CAT) | AB_BUILTIN(SOURCE) |
				 AB_BUILTIN(DOT);
	enum ab_builtin builtin = c->builtin;
	uint32_t i = 0;

	while (i < c->argc && (builtin == AB_BUILTIN_COMMAND ||
			       builtin == AB_BUILTIN_BUILTIN) &&
	       ++i < c->argc)
		builtin = ab_shell_builtin(&c->argv[i]);
	return i < c->argc && (builtin == AB_BUILTIN_NONE ||
			       (UINT64_C(1) << builtin & readers));
}

/* Programs that read nothing, unless they are to ask. */
static bool is_deaf(const struct ab_shell_command *c)
{
	static const char *const names[] = { "rm",    "rmdir", "mkdir",
					     "touch", "ls",    "chmod" };
	bool is_one = false;

	for (size_t i = 0; i < AB_ARRAY_LEN(names) && c->argc; i++)
		is_one |= ab_word_equals(c->argv, names[i]);
	for (uint32_t i = 1; is_one && i < c->argc; i++) {
		const struct ab_word *w = &c->argv[i];

		if (w->hole_count && !w->holes->at && !w->is_quoted)
			return false;
		is_one = !w->len || *w->text != '-' ||
			 (!memchr(w->text, 'i', w->len) &&
			  !memchr(w->text, 'I', w->len));
	}
	return is_one && !c->callee;
}

void ab_builtin_take(const struct ab_shell_command *c)
{
	if (c->place.in->value && may_read(c) && !is_deaf(c) &&
	    (is_exec(c) || !has_own_input(c)))
		c->place.in->value = NULL;
}

/* There is a backslash, and no -r that has it be one. */
static bool escapes(const struct ab_shell_command *c, const char *text,
		    uint32_t len)
{
	if (AB_LIKELY(!len || !memchr(text, '\\', len)))
		return false;
	for (uint32_t i = 1; i < c->argc; i++) {
		const struct ab_word *w = &c->argv[i];

		if (w->len > 1 && w->text[0] == '-' && w->text[1] == 'r' &&
		    (!w->hole_count || w->holes->at > 1))
			return false;
	}
	return true;
}

/* Another `read` goes on behind the newline; where that is, is known of a
   plain one that surely ran, once. */
static void take_line(struct ab_shell_run *run,
		      const struct ab_shell_command *c, bool is_plain)
{
	struct ab_stream *s = c->place.in;
	/* public is the first member */
	struct stream *all = (struct stream *)(void *)s;
	const struct ab_word *in = s ? s->value : NULL;
	const char *newline;
	struct ab_word *rest;

	if (!in || has_own_input(c))
		return;
	/* in the loop each round is perhaps the first; what takes part of a
	   line makes lines of parts */
	if (c->place.flags & AB_SHELL_LOOP) {
		all->is_taken = true;
		if (!is_plain)
			s->value = NULL;
		return;
	}
	s->value = NULL;
	if (!is_plain || in->hole_count || c->redir_count || all->is_taken ||
	    all->uncertain != run->uncertain)
		return;
	newline = memchr(in->text, '\n', in->len);
	if (escapes(c, in->text, newline ? (uint32_t)(newline - in->text) :
					   in->len) ||
	    !(rest = ab_run_high(run, sizeof(*rest))))
		return;
	memset(rest, 0, sizeof(*rest));
	rest->text = newline ? newline + 1 : in->text + in->len;
	rest->len = in->len - (uint32_t)(rest->text - in->text);
	rest->span = ab_word_span(in, in->len - rest->len, rest->len);
	s->value = rest;
}

/* What of a known text becomes elements: lines, or the fields of the first. */
struct cut {
	const char *ends;
	uint32_t end_count;
	bool is_lines, is_each, keeps_ends; /* each: fields may be empty */
};

/* What separates fields for this command; false: nobody knows. */
static bool find_ends(struct ab_shell_run *run,
		      const struct ab_shell_command *c, struct cut *cut)
{
	*cut = (struct cut){ 0 };
	if (!ab_run_ifs(run, &cut->ends, &cut->end_count))
		return false;
	for (uint32_t i = 0; i < c->assign_count; i++) {
		const struct ab_shell_assign *a = &c->assigns[i];

		if (strcmp(a->name, "IFS") != 0)
			continue;
		if (a->value_count != 1 || a->is_array || a->is_append ||
		    a->values->hole_count)
			return false;
		cut->ends = a->values->text;
		cut->end_count = a->values->len;
	}
	return true;
}

/* A line begins or ends with what may be cut off. */
static bool has_ends(const struct cut *cut, const char *line, uint32_t len)
{
	return len && (memchr(cut->ends, line[0], cut->end_count) ||
		       memchr(cut->ends, line[len - 1], cut->end_count));
}

/* One line without blanks around it for one name; else nobody knows. */
static const struct value *read_value(struct ab_shell_run *run,
				      const struct ab_shell_command *c,
				      const struct ab_word *in)
{
	struct cut cut;
	struct ab_word w = *in;
	const char *newline = memchr(w.text, '\n', w.len);
	uint32_t len = newline ? (uint32_t)(newline - w.text) : w.len;

	if (in->hole_count && newline &&
	    in->holes[in->hole_count - 1].at > len)
		return ab_run_unknown(run, ab_run_blend(run, in, 1));
	if (escapes(c, w.text, len) || !find_ends(run, c, &cut) ||
	    has_ends(&cut, w.text, len))
		return ab_run_unknown(run, ab_run_blend(run, in, 1));
	w.len = len;
	while (w.map_count > 1 && w.map[w.map_count - 1].at >= len)
		w.map_count--;
	return ab_run_scalar(run, &w);
}

static uint32_t next_piece(const struct cut *cut, const struct ab_word *in,
			   uint32_t *at)
{
	uint32_t i = *at;

	if (!cut->is_lines && !cut->is_each)
		while (i < in->len && memchr(cut->ends, in->text[i],
					     cut->end_count))
			i++;
	*at = i;
	while (i < in->len &&
	       !memchr(cut->ends, in->text[i], cut->end_count))
		i++;
	return i;
}

#define MAX_HOMES 16 /* in one text */

/* What is not known of it are homes, which end no line. */
static bool has_known_lines(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].kind != AB_HOLE_HOME || i == MAX_HOMES)
			return false;
	}
	return true;
}

/* A line of such a text. */
static struct ab_word line_of(struct ab_shell_run *run,
			      const struct ab_word *in, uint32_t at,
			      uint32_t len)
{
	struct ab_word w = { .text = in->text + at, .len = len,
			     .span = ab_word_span(in, at, len) };
	struct ab_hole *holes =
		in->hole_count ? ab_run_low(run, in->hole_count *
							 sizeof(*holes)) :
				 NULL;

	for (uint32_t i = 0; holes && i < in->hole_count; i++) {
		if (in->holes[i].at < at ||
		    in->holes[i].at + in->holes[i].len > at + len)
			continue;
		holes[w.hole_count] = in->holes[i];
		holes[w.hole_count++].at -= at;
	}
	w.holes = holes;
	return w;
}

/* The elements of a[] that `read -a` and mapfile make of a known text. */
static const struct value *read_array(struct ab_shell_run *run,
				      const struct ab_word *in,
				      const struct cut *cut)
{
	struct ab_stream *origin = ab_run_blend(run, in, 1);
	struct fields f = { 0 };

	if (cut->is_lines ? !has_known_lines(in) : in->hole_count != 0)
		return ab_run_unknown(run, origin);
	for (uint32_t at = 0; at < in->len;) {
		uint32_t end = next_piece(cut, in, &at), last = end;
		struct ab_word *w;

		if (at == in->len)
			break;
		last += cut->keeps_ends && end < in->len;
		w = ab_fields_new(run, &f);
		if (!w)
			return ab_run_unknown(run, origin);
		*w = line_of(run, in, at, last - at);
		at = end + 1;
	}
	return ab_run_array(run, f.words, f.count);
}

/* A mixture of blanks and others cuts nobody knows where. */
static bool find_cut(struct ab_shell_run *run, const struct ab_shell_command *c,
		     struct cut *cut)
{
	uint32_t blanks = 0;

	if (!find_ends(run, c, cut))
		return false;
	for (uint32_t i = 0; i < cut->end_count; i++)
		blanks += memchr(" \t\n", cut->ends[i], 3) != NULL;
	cut->is_each = cut->end_count && !blanks;
	return cut->is_each || (blanks && blanks == cut->end_count);
}

/* read -a: the first line by IFS. */
static const struct value *read_fields(struct ab_shell_run *run,
				       const struct ab_shell_command *c,
				       const struct ab_word *in)
{
	struct cut cut;
	struct ab_word line = *in;
	const char *newline = memchr(in->text, '\n', in->len);

	if (newline)
		line.len = (uint32_t)(newline - in->text);
	/* what stands behind the last name may be dropped at its end */
	if (escapes(c, line.text, line.len) || !find_cut(run, c, &cut) ||
	    (cut.is_each && line.len &&
	     memchr(cut.ends, line.text[line.len - 1], cut.end_count)))
		return ab_run_unknown(run, ab_run_blend(run, in, 1));
	return read_array(run, &line, &cut);
}

/* Options that change neither what is read nor where it goes. */
static bool has_only(const char *letters, const char *known)
{
	return letters[strspn(letters, known)] == '\0';
}

/* The last of these words, w, is a name that is not known: it does not stand
   behind an option that takes one of another kind. */
static bool is_name(const struct ab_shell_command *c,
		    const struct ab_word *argv, uint32_t argc,
		    const struct ab_word *w, const char *takers)
{
	const struct ab_word *before = argc > 2 ? &argv[argc - 2] : NULL;

	if (before && before->len > 1 && *before->text == '-' &&
	    strchr(takers, before->text[before->len - 1]))
		return false;
	return ab_builtin_is_any_name(c, w);
}

/* mapfile NAME: an element for each line */
void ab_builtin_mapfile(struct ab_shell_run *run,
			   const struct ab_shell_tree *tree,
			   const struct ab_shell_command *c,
			   const struct ab_word *argv, uint32_t argc)
{
	char letters[16];
	uint32_t i = ab_builtin_options(argv, argc, letters), len;
	struct ab_stream *origin;
	bool is_first;
	const struct ab_word *in = input_of(run, c, &origin, &is_first);
	struct ab_word none = { .text = "MAPFILE", .len = 7 };
	const struct ab_word *name = argc > 1 ? &argv[argc - 1] : &none;
	const struct value *value = ab_run_unknown(run, origin);
	struct cut cut = { "\n", 1, true, !strchr(letters, 't') };

	(void)tree;
	take_line(run, c, false);
	if (i >= argc)
		name = &none;
	len = ab_builtin_name_len(name, 0);
	if (is_name(c, argv, argc, name, "dnOsuCc"))
		ab_run_set_any(run);
	if (!len || !ab_builtin_is_exact(name, len))
		return;
	if (in && !is_first && has_only(letters, "t") && i + 1 >= argc)
		value = read_array(run, in, &cut);
	else if (!in && has_only(letters, "t"))
		value = ab_run_part(run, origin, AB_PART_LINE);
	ab_run_assign(run, name->text, len, value, 0);
}

/* Where field n of the first line begins. */
static uint32_t field_at(const struct cut *cut, const struct ab_word *in,
			 uint32_t n)
{
	uint32_t at = 0, end;

	for (end = next_piece(cut, in, &at); n; n--) {
		at = end + cut->is_each;
		end = next_piece(cut, in, &at);
	}
	return at;
}

/* What it is in the first round, and nobody knows later. */
static const struct value *perhaps(struct ab_shell_run *run,
				   struct ab_stream *origin,
				   const struct value *first)
{
	return ab_run_either(run, origin, first, ab_run_unknown(run, origin));
}

/* read a b: a field each, and the rest of the line for the last. */
static void read_names(struct ab_shell_run *run,
		       const struct ab_shell_command *c,
		       const struct ab_word *in, const struct ab_word *argv,
		       uint32_t argc, struct ab_stream *origin, bool is_first)
{
	const struct value *v = read_fields(run, c, in), *field;
	const char *end = memchr(in->text, '\n', in->len);
	struct cut cut;
	uint32_t n = 0;

	if (!find_cut(run, c, &cut))
		return;
	end = end ? end : in->text + in->len;
	while (!cut.is_each && end > in->text &&
	       (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	for (uint32_t i = 1; i < argc && v->kind == VALUE_ARRAY; i++) {
		uint32_t len = ab_builtin_name_len(&argv[i], 0);
		struct ab_word w = { .text = "" };

		if (argv[i].text[0] == '-' || !len ||
		    !ab_builtin_is_exact(&argv[i], len))
			continue;
		if (n < v->count)
			w = v->words[n++];
		if (i + 1 == argc && w.len) {
			/* the fields are copies: where the last one began */
			uint32_t at = field_at(&cut, in, n - 1);

			w.text = in->text + at;
			w.len = (uint32_t)(end - w.text);
			w.span = ab_word_span(in, at, w.len);
			w.map_count = 0;
		}
		field = ab_run_scalar(run, &w);
		ab_run_assign(run, argv[i].text, len,
			      is_first ? perhaps(run, origin, field) : field,
			      0);
	}
}

/* The blanks that are taken off at both ends; false: nobody knows. */
static bool strips(struct ab_shell_run *run, const struct ab_shell_command *c,
		   const char **ends, uint32_t *count)
{
	for (uint32_t i = 0; i < c->assign_count; i++) {
		const struct ab_shell_assign *a = &c->assigns[i];

		if (strcmp(a->name, "IFS") != 0)
			continue;
		*ends = "";
		*count = 0;
		return a->value_count == 1 && !a->values->len &&
		       !a->values->hole_count;
	}
	return ab_run_ifs(run, ends, count);
}

/* read -d '': all that there is. */
static const struct value *read_whole(struct ab_shell_run *run,
				      const struct ab_shell_command *c,
				      const struct ab_word *in, bool is_raw)
{
	uint32_t begin = 0, end = in->len, first = in->len, last = 0;
	struct ab_word w = *in;
	const char *ends;
	uint32_t count;

	if (memchr(in->text, 0, in->len) ||
	    (!is_raw && memchr(in->text, '\\', in->len)) ||
	    !strips(run, c, &ends, &count))
		return ab_run_unknown(run, ab_run_blend(run, in, 1));
	if (in->hole_count) {
		first = in->holes[0].at;
		last = in->holes[in->hole_count - 1].at +
		       in->holes[in->hole_count - 1].len;
	}
	while (begin < first && memchr(" \t\n", in->text[begin], 3) &&
	       memchr(ends, in->text[begin], count))
		begin++;
	while (end > begin && end > last &&
	       memchr(" \t\n", in->text[end - 1], 3) &&
	       memchr(ends, in->text[end - 1], count))
		end--;
	w.len = end;
	while (w.map_count > 1 && w.map[w.map_count - 1].at >= end)
		w.map_count--;
	if (!begin)
		return ab_run_scalar(run, &w);
	w = ab_builtin_tail(run, &w, begin);
	return ab_run_scalar(run, &w);
}

/* `-d ''`, which takes all there is up to a NUL. */
static bool ends_at_nul(const struct ab_word *argv, uint32_t argc, uint32_t i)
{
	return (ab_word_equals(&argv[i], "-d") ||
		ab_word_equals(&argv[i], "-rd")) &&
	       i + 1 < argc && !argv[i + 1].len && !argv[i + 1].hole_count;
}

/* -n 3, -d x, -a: what it takes is not a line. */
static bool may_cut(const struct ab_word *w)
{
	for (uint32_t i = 1; i < w->len; i++) {
		if (memchr("nNda", w->text[i], 4))
			return true;
	}
	return false;
}

/* `while read x`, and nothing beside it: in the body it has read a line. */
static bool is_whole_condition(const struct ab_shell_run *run)
{
	const struct visit_frame *loop = ab_run_loop(run);
	const struct cmd *cmd = loop ? loop->cmd : NULL;
	const struct cmd *cond = cmd && cmd->kind == CMD_WHILE && cmd->clauses ?
					 cmd->clauses->cond :
					 NULL;

	return cond && !cond->next && cond == run->simple &&
	       !(cond->flags & (CMD_BANG | CMD_COPROC | CMD_BACKGROUND));
}

/* In a loop: any line of what is known, where they are few and plain. */
static const struct value *any_line(struct ab_shell_run *run,
				    const struct ab_shell_command *c,
				    struct ab_stream *origin,
				    const struct ab_word *in)
{
	struct cut cut;
	const struct value *all = NULL;
	uint32_t end = in->len, count = 0;
	struct ab_word w;

	if (!has_known_lines(in) || escapes(c, in->text, in->len) ||
	    !find_ends(run, c, &cut) || !is_whole_condition(run))
		return perhaps(run, origin, read_value(run, c, in));
	end -= end && in->text[end - 1] == '\n';
	for (uint32_t at = end + 1; at; end = at - 1) {
		const char *newline = memrchr(in->text, '\n', end);

		at = newline ? (uint32_t)(newline + 1 - in->text) : 0;
		w = line_of(run, in, at, end - at);
		if (++count > AB_SHELL_READS + 1 ||
		    has_ends(&cut, w.text, w.len))
			return perhaps(run, origin, read_value(run, c, in));
		all = all ? ab_run_either(run, origin, ab_run_scalar(run, &w),
					  all) :
			    ab_run_scalar(run, &w);
	}
	return all;
}

void ab_builtin_read(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct ab_shell_command *c,
			const struct ab_word *argv, uint32_t argc)
{
	struct ab_stream *origin;
	bool is_first;
	const struct ab_word *in = input_of(run, c, &origin, &is_first);
	uint32_t names = 0, last = 0;
	bool plain = true, is_array = false, is_whole = false, is_raw = false;
	bool is_cut = false;

	(void)tree;
	for (uint32_t i = 1; i < argc; i++) {
		const struct ab_word *w = &argv[i];
		uint32_t len = ab_builtin_name_len(w, 0);

		if (w->len && w->text[0] == '-') {
			bool is_a = ab_word_equals(w, "-a") ||
				    ab_word_equals(w, "-ra");
			bool is_end = ends_at_nul(argv, argc, i);

			is_array |= is_a;
			is_whole |= is_end;
			is_cut |= !is_end && may_cut(w);
			is_raw |= w->len > 1 && w->text[1] == 'r';
			plain = plain &&
				(is_a || is_end || ab_word_equals(w, "-r"));
			i += is_end;
			continue;
		}
		if (is_name(c, argv, i + 1, w, "dinNptu"))
			ab_run_set_any(run);
		if (!len || !ab_builtin_is_exact(w, len))
			continue;
		last = i;
		ab_run_assign(run, w->text, len,
			      in || ((is_array || !plain) && !is_cut) ?
				      ab_run_unknown(run, origin) :
				      ab_run_part(run, origin,
						  names || is_cut ?
							  AB_PART_BYTES :
							  AB_PART_LINE),
			      0);
		names++;
	}
	take_line(run, c, plain && !is_whole);
	if (names == 1 && is_whole && !is_array && plain && in && !is_first)
		ab_run_assign(run, argv[last].text,
			      ab_builtin_name_len(&argv[last], 0),
			      read_whole(run, c, in, is_raw), 0);
	else if (names == 0)
		ab_run_assign(run, "REPLY", 5, ab_run_unknown(run, origin), 0);
	else if (!plain || is_whole || !in || (is_first && is_array))
		return;
	else if (names > 1)
		read_names(run, c, in, argv, argc, origin, is_first);
	else
		ab_run_assign(run, argv[last].text,
			      ab_builtin_name_len(&argv[last], 0),
			      is_array ? read_fields(run, c, in) :
			      is_first ? any_line(run, c, origin, in) :
					 read_value(run, c, in),
			      0);
}
