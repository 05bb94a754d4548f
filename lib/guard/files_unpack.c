/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Archives off the network that are taken apart: any file below may be of one.
 * They are numbered, and what the text writes after one is its own; where both
 * may stand, a file holds both. Refuses to know which names an archive has.
 */
#include "config.h"

#include "guard/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guard/command.h"

#define LATE_PREFIX " late " /* as long: when that was */

/* The number of the archive after which the file was written, or which was
   taken apart in the directory: eight digits. */
bool ab_tree_mark(struct ab_check *c, const char *variable, uint32_t len)
{
	char text[9];
	struct ab_word number = { .text = text, .len = sizeof(text) - 1 };

	snprintf(text, sizeof(text), "%08" PRIx32, c->trees);
	return ab_file_set_beside(c, LATE_PREFIX, variable, len, &number);
}

void ab_file_unpack(struct ab_check *c, const struct ab_word *dir,
		    uint32_t taint)
{
	uint32_t len;
	struct ab_word last;
	const char *variable;
	char *name;

	/* hg clone https://host/name, bzr branch lp:name: called as there */
	if (memchr(dir->text, ':', dir->len) && ab_file_last(c, dir, &last))
		dir = &last;
	variable = ab_file_name(c, dir, false, &len);
	if (!variable)
		return;
	/* as a file's, with a slash behind it */
	name = ab_arena_high(c->high, len + 2);
	if (!name) {
		c->is_broken = true;
		return;
	}
	memcpy(name, variable, len);
	if (name[len - 1] != '/')
		name[len++] = '/';
	name[len] = '\0';
	c->trees++;
	if (!ab_file_mark(c, name, len, taint, AB_SHELL_SHARED) ||
	    !ab_tree_mark(c, name, len))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, dir);
}

/* The innermost one above the file. What lies in the worktree is not in an
   archive that was taken apart around it. */
bool ab_tree_find(struct ab_check *c, const char *variable, uint32_t len,
		  struct ab_tree *out)
{
	const struct ab_known_path *root = &c->place->root;
	uint32_t skip = sizeof(AB_FILE_PREFIX) - 1, inner = skip;
	const char *path = variable + skip;
	bool is_exported;

	if (root->text && root->len > 1 && len - skip > root->len + 1 &&
	    path[root->len] == '/' && !memcmp(path, root->text, root->len))
		inner = skip + root->len + 1;
	for (uint32_t n = len; n > skip && n >= inner; n--) {
		if (variable[n - 1] != '/')
			continue;
		out->content = ab_shell_get(c->run, variable, n, &is_exported);
		if (!out->content)
			continue;
		out->rest = variable + n;
		out->rest_len = len - n;
		out->len = n;
		out->is_root = inner > skip && n == inner;
		return true;
	}
	return false;
}

/* The file's variable; of a pattern as it stands: it tells the directory. */
const char *ab_tree_file(struct ab_check *c, const struct ab_word *path,
			 uint32_t *len)
{
	struct ab_word plain = *path;

	for (uint32_t i = 0; i < path->hole_count; i++) {
		if (path->holes[i].kind != AB_HOLE_PATTERN)
			return ab_file_name(c, path, false, len);
	}
	plain.hole_count = 0;
	return ab_file_name(c, &plain, false, len);
}

/* Eight digits; NULL: it is not known which. */
static const char *late_number(struct ab_check *c, const char *variable,
			       uint32_t len)
{
	const struct ab_word *w =
		ab_file_get_beside(c, LATE_PREFIX, variable, len);

	return w && w->len == 8 ? w->text : NULL;
}

/* The text wrote the file after the archive was taken apart. */
static bool is_later(struct ab_check *c, const char *variable, uint32_t len,
		     const struct ab_tree *tree)
{
	const char *file = late_number(c, variable, len);
	const char *dir = late_number(c, variable, tree->len);

	return file && dir && memcmp(file, dir, 8) >= 0;
}

/* The same where an archive may have brought another one. */
const struct ab_word *ab_tree_content(struct ab_check *c,
				      const struct ab_word *path,
				      const struct ab_word *w)
{
	struct ab_word *both;
	const char *variable;
	struct ab_tree tree;
	uint32_t len;

	variable = ab_tree_file(c, path, &len);
	if (!variable || !ab_tree_find(c, variable, len, &tree))
		return w;
	if (!w)
		return tree.content;
	if (is_later(c, variable, len, &tree))
		return w;
	both = ab_check_alloc(c, sizeof(*both));
	return both && ab_file_join(c, w, tree.content, both) ? both
							      : tree.content;
}
