/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cannot fail, so that what stands behind its `&&` is surely run. */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

/* The word is that, plain or in quotes. */
static bool is_written(const struct ab_shell_tree *tree, const struct word *w,
		       const char *text, uint32_t len)
{
	uint32_t n = w->end - w->begin;
	bool is_quoted = n == len + 2 && memchr("'\"", tree->text[w->begin], 2);

	return n == len + 2 * is_quoted &&
	       ab_same((const char *)tree->text + w->begin + is_quoted, text,
		       len);
}

/* `cd /`, or to where the shell began while nothing ran that may have shut
   that. */
static bool is_sure_move(const struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd)
{
	const struct word *w = cmd->words->next;

	if (cmd->builtin != AB_BUILTIN_CD || run->keeps_pwd ||
	    ab_run_function(run, "cd", 2) || !w || w->next)
		return false;
	return is_written(tree, w, "/", 1) ||
	       (run->context->cwd && !run->has_acted &&
		is_written(tree, w, run->context->cwd,
			   run->context->cwd_len));
}

/* `true` and `:`, and nothing else */
static bool is_idle(const struct ab_shell_run *run, const struct cmd *cmd)
{
	return (cmd->builtin == AB_BUILTIN_TRUE &&
		!ab_run_function(run, "true", 4)) ||
	       (cmd->builtin == AB_BUILTIN_COLON && ab_tree_is_plain(cmd) &&
		!ab_run_function(run, ":", 1));
}

bool ab_run_is_sure(const struct ab_shell_run *run,
		    const struct ab_shell_tree *tree, const struct cmd *cmd)
{
	if (cmd->kind != CMD_SIMPLE || cmd->redirs || !cmd->words)
		return false;
	if (cmd->flags & ~(CMD_HAS_CALL | CMD_EXACT))
		return false;
	if (cmd->flags)
		return !run->aliases && (is_sure_move(run, tree, cmd) ||
					 is_idle(run, cmd));
	for (const struct word *w = cmd->words; w; w = w->next)
		if (!w->assign || (w->flags & WORD_SUBST))
			return false;
	return true;
}
