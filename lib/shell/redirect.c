/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Redirections, expanded. One that leads stdout to where it is already is none:
 * `>&1`, `>/dev/stdout`.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

/* What is written there goes to fd 1 as it is by then. */
static bool is_to_stdout(const struct ab_shell_redir *r)
{
	static const char *const names[] = { "/dev/stdout", "/dev/fd/1",
					     "/proc/self/fd/1",
					     "/proc/thread-self/fd/1" };

	if (r->kind == AB_REDIR_DUP_OUT)
		return ab_word_equals(&r->target, "1");
	for (size_t i = 0; r->kind < AB_REDIR_HERE_DOC &&
			   r->kind != AB_REDIR_READ &&
			   r->kind != AB_REDIR_DUP_IN &&
			   i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(&r->target, names[i]))
			return true;
	}
	return false;
}

/* True: it does nothing. `&>/dev/stdout` is 2>&1. */
static bool leads_nowhere(struct ab_shell_redir *r)
{
	if (r->fd == 1)
		return true;
	if (r->kind == AB_REDIR_WRITE_BOTH || r->kind == AB_REDIR_APPEND_BOTH) {
		r->kind = AB_REDIR_DUP_OUT;
		r->fd = 2;
		r->target = (struct ab_word){ .text = "1", .len = 1,
					      .span = r->target.span };
	}
	return false;
}

/* `/dev/fd/3`, `/proc/$$/fd/1`, `/dev/st*`; what else a value may name is a
   file. */
static bool may_name_stdout(const struct ab_word *w)
{
	/* cd /dev/fd; ... >1 */
	if (w->len == 1 && *w->text == '1')
		return true;
	return memmem(w->text, w->len, "stdout", 6) ||
	       memmem(w->text, w->len, "/fd/", 4) ||
	       (w->hole_count &&
		((w->len >= 4 && ab_same(w->text, "/dev", 4)) ||
		 (w->len >= 5 && ab_same(w->text, "/proc", 5))));
}

/* A file that may be a link to it. */
static bool may_be_link(const struct ab_shell_run *run, const struct ab_word *w)
{
	return AB_UNLIKELY(run && run->options & AB_SHELL_STDOUT_LINK) &&
	       !ab_word_equals(w, "/dev/null");
}

struct ab_stream *ab_redir_process(const struct ab_shell_redir *r)
{
	struct ab_stream *s = r->target.hole_count == 1 ?
				      r->target.holes->origin :
				      NULL;

	return s && r->target.holes->kind == AB_HOLE_PROC &&
			       s->kind == AB_STREAM_PROC_OUT ?
		       s :
		       NULL;
}

bool ab_redirs_may_reach(const struct ab_shell_run *run,
			 const struct ab_shell_redir *all, uint32_t count)
{
	bool is_err = false, may = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct ab_shell_redir *r = &all[i];
		bool is_dup = r->kind == AB_REDIR_DUP_OUT ||
			      r->kind == AB_REDIR_DUP_IN;

		is_err |= r->fd == 2 && is_dup;
		if (r->fd != 1 && r->kind != AB_REDIR_WRITE_BOTH &&
		    r->kind != AB_REDIR_APPEND_BOTH)
			continue;
		/* >&2 goes elsewhere, but for `2>&1 >&2` */
		may = ab_redir_process(r) ? false :
		      !is_dup ? r->kind < AB_REDIR_HERE_DOC &&
					(may_name_stdout(&r->target) ||
					 may_be_link(run, &r->target)) :
		      ab_word_equals(&r->target, "2") ? is_err :
				!ab_word_equals(&r->target, "-");
	}
	return may;
}

uint32_t ab_visit_redirs(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd, struct ab_shell_redir **out)
{
	uint32_t count = 0;
	struct ab_shell_redir *all, *first;

	*out = NULL;
	for (const struct redir *r = cmd->redirs; r; r = r->next)
		count++;
	if (!count || !(all = ab_run_low(run, count * sizeof(*all))))
		return 0;
	*out = first = all;
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
		} else if (ab_tree_is_exact(&r->target)) {
			ab_visit_exact(tree, &r->target, &all->target);
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
		if (is_to_stdout(all) && leads_nowhere(all))
			all--;
	}
	return (uint32_t)(all - first);
}
