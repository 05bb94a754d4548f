/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of files that the text wrote into a file, `git ls-files >l`, for who
 * takes them out again, `xargs rm <l`, and for programs that have theirs from a
 * file or from their stdin. They stand in a variable beside that
 * with what the file holds, so branches join them as they do that.
 *
 * Nobody is excused by them: more may be in the file than is known here.
 */
#include "config.h"

#include "guard/found.h"

#include <string.h>

#include "guard/command.h"
#include "guard/files.h"

#define LIST_PREFIX " list " /* as long as AB_FILE_PREFIX */

const struct ab_stream *ab_list_of(struct ab_check *c,
				   const struct ab_word *path)
{
	const struct ab_word *w;
	const char *variable;
	uint32_t len;

	if (AB_LIKELY(!c->has_lists))
		return NULL;
	variable = ab_file_name(c, path, false, &len);
	w = variable ? ab_file_beside(c, LIST_PREFIX, variable, len) : NULL;
	return w && !w->len && w->hole_count ? w->holes->origin : NULL;
}

bool ab_list_word(struct ab_check *c, const struct ab_stream *list,
		  struct ab_word *out)
{
	struct ab_hole *hole = ab_check_alloc(c, sizeof(*hole));

	if (!hole)
		return false;
	*hole = (struct ab_hole){ .kind = AB_HOLE_BYTES,
				  .origin = (void *)(uintptr_t)list };
	*out = (struct ab_word){ .text = "", .holes = hole, .hole_count = 1 };
	return true;
}

/* A stream that has told of such names; NULL: it has not. */
struct ab_stream *ab_list_made(struct ab_check *c, const struct ab_stream *from)
{
	struct ab_stream *list;
	const struct ab_names *names = ab_names_noted(from);

	if (AB_LIKELY(!from || (!names && !(from->taint & AB_TAINT_TREE))))
		return NULL;
	list = ab_shell_stream(c->run, from->span);
	if (!list) {
		c->is_broken = true;
		return NULL;
	}
	list->taint = AB_TAINT_FILE | (from->taint & AB_TAINT_TREE);
	list->note = names;
	return list;
}

void ab_list_open(struct ab_check *c, struct ab_stream *in, uint32_t taint)
{
	in->taint |= taint;
	if (!(taint & ~(uint32_t)AB_TAINT_TREE))
		in->taint |= AB_TAINT_FILE;
	if (AB_UNLIKELY(c->in_list))
		in->note = c->in_list->note;
}

/* Those of both; what there is no room for is asked about. */
static void join_names(struct ab_check *c, struct ab_stream *list,
		       const struct ab_stream *old, const struct ab_word *path)
{
	const struct ab_names *a = ab_names_noted(old);
	const struct ab_names *b = ab_names_noted(list);
	AB_UNINITIALIZED struct ab_word all[2 * AB_MAX_STARTS];
	struct ab_names *both;
	uint32_t n = 0;

	list->taint |= old->taint;
	if (!a || !b) {
		list->note = a ? a : b;
		return;
	}
	for (uint32_t i = 0; i < a->count + b->count; i++) {
		if (ab_found_is_full(c, path, n))
			break;
		all[n++] = i < a->count ? a->words[i] : b->words[i - a->count];
	}
	both = ab_names_keep(c, list, all, n);
	if (both)
		both->is_read = a->is_read && b->is_read;
}

void ab_list_save(struct ab_check *c, const struct ab_word *path,
		  struct ab_stream *list, bool is_new)
{
	static const struct ab_word none = { .text = "0", .len = 1 };
	const struct ab_stream *old = ab_list_of(c, path);
	struct ab_word word = none;
	const char *variable;
	uint32_t len;

	if (AB_LIKELY(!list && (!old || !is_new)))
		return;
	if (list && old && !is_new)
		join_names(c, list, old, path);
	variable = ab_file_name(c, path, true, &len);
	if (!variable || (list && !ab_list_word(c, list, &word)))
		return;
	c->has_lists = true;
	if (!ab_file_set_beside(c, LIST_PREFIX, variable, len, &word))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

#define MAX_LINES 256

/* Each line of the text, or what ends at a NUL. */
static void read_lines(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *text)
{
	uint32_t at = 0, end, n = 0;
	struct ab_word w;

	for (; at < text->len && !c->is_broken; at = end + 1) {
		if (n++ == MAX_LINES) {
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, text);
			return;
		}
		for (end = at; end < text->len &&
			       !memchr("\n", text->text[end], 2);)
			end++;
		if (end > at && ab_word_slice(c, text, at, end - at, &w))
			ab_check_path(c, use, AB_ROLE_READ, &w);
	}
}

void ab_list_read(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path)
{
	const struct ab_shell_command *m = c->command;
	const struct ab_word *text = use->in_text;
	const struct ab_stream *list = c->in_list;
	const struct ab_names *names;

	if (path && path->hole_count == 1 &&
	    path->holes->kind == AB_HOLE_PROC && path->holes->origin) {
		list = path->holes->origin;
		text = list->value;
	} else if (path && !ab_is_stdin_name(path)) {
		text = path->hole_count ? NULL : ab_file_content(c, path);
		list = ab_list_of(c, path);
	} else if (m && ab_has_stdin(m)) {
		list = m->place.in;
	}
	names = ab_names_noted(list);
	for (uint32_t i = 0; names && i < names->count; i++)
		ab_check_path(c, use, AB_ROLE_READ, &names->words[i]);
	if (text && text->len)
		read_lines(c, use, text);
}
