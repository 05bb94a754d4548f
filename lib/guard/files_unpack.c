/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Archives off the network that are taken apart: any file below may be of one.
 * They are numbered, and what the text writes after one is its own; where both
 * may stand, a file holds both. Refuses to know which names an archive has.
 * And what `split` made parts of: any part may hold any of it.
 */
#include "config.h"

#include "guard/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guard/command.h"
#include "guard/prints.h"

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

/* --- parts -------------------------------------------------------------- */

/* Files that begin like this one, each by the one before. */
struct ab_parts {
	const struct ab_parts *next;
	const char *variable;
	uint32_t len;
	struct ab_word content;
};

#define MAX_SUFFIX 16 /* bytes of what tells the parts apart */

const struct ab_word *ab_part_content(const struct ab_check *c,
				      const char *variable, uint32_t len)
{
	for (const struct ab_parts *p = c->parts; p; p = p->next) {
		const char *rest = variable + p->len;
		uint32_t n = len - p->len;

		if (len <= p->len || n > MAX_SUFFIX ||
		    memcmp(variable, p->variable, p->len) != 0)
			continue;
		if (!memchr(rest + 1, '/', n - 1))
			return &p->content;
	}
	return NULL;
}

/* part_aa, part_00: what a pattern takes. */
static void note_part(struct ab_check *c, const struct ab_parts *p,
		      const char *suffix)
{
	char *name = ab_arena_high(c->high, p->len + 3);

	if (!name) {
		c->is_broken = true;
		return;
	}
	memcpy(name, p->variable, p->len);
	memcpy(name + p->len, suffix, 3);
	ab_file_note(c, name, p->len + 2);
}

static void split_to(struct ab_check *c, const struct ab_use *use,
		     const struct ab_role *role, const struct ab_word *w)
{
	uint32_t keep = AB_TAINT_REMOTE | AB_TAINT_DECODE | AB_TAINT_CRED |
			AB_TAINT_ENV | AB_TAINT_PICK;
	uint32_t base = use->base[use->program->depth], taint = use->in_taint;
	const struct ab_word *from = use->in_text;
	struct ab_parts *p = ab_arena_high(c->high, sizeof(*p));
	struct ab_word text = { .text = "" };

	(void)role;
	if (use->operand_count > base &&
	    !ab_is_stdin_name(&use->words[use->operands[base]])) {
		from = ab_file_content(c, &use->words[use->operands[base]]);
		taint = from ? ab_word_taint(from) : 0;
	}
	if (!p) {
		c->is_broken = true;
		return;
	}
	if (!from && !(taint & keep))
		return;
	if (from)
		text = *from;
	*p = (struct ab_parts){ .next = c->parts };
	p->variable = ab_file_name(c, w, true, &p->len);
	if (!p->variable)
		return;
	if (!ab_print_more(c, taint & keep, &text) ||
	    !ab_keep_word(c, &text, &p->content)) {
		c->is_broken = true;
		return;
	}
	c->parts = p;
	note_part(c, p, "aa");
	note_part(c, p, "00");
	c->file_names = UINT64_MAX; /* they may be called anything */
}

void ab_file_split(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role)
{
	static const struct ab_word plain = { .text = "x", .len = 1 };
	bool has_prefix = role->select == AB_SEL_NTH &&
			  use->operand_count - use->base[use->program->depth] >=
				  role->a;

	for (uint32_t i = 0; i < use->value_count && !has_prefix; i++)
		has_prefix = role->select == AB_SEL_OPTION &&
			     (role->mask >> use->values[i].group & 1);
	if (has_prefix)
		ab_role_each(c, use, role, split_to);
	else
		split_to(c, use, role, &plain);
}
