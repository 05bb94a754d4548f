/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that copy: what they have read, with where it came from, is in the
 * file that they write, or in one of the same name in that directory. A program
 * under another name stays that program. Of what another machine has only the
 * name is known. Refuses to guess whether the target is a file or a directory:
 * it is judged as both. What is written is judged by the name that it has in
 * that directory, too, where one of the two is one that others look for.
 */
#include "config.h"

#include "guard/files.h"
#include "guard/found.h"

#include <string.h>
#include <strings.h>

#include "guard/command.h"

/* Where `from` goes when `to` is a directory. */
static bool inside_word(struct ab_check *c, const struct ab_word *from,
			const struct ab_word *to, struct ab_word *out)
{
	const char *slash = from->len ? memrchr(from->text, '/', from->len)
				      : NULL;
	const char *name = slash ? slash + 1 : from->text;
	uint32_t n = from->len - (uint32_t)(name - from->text);
	char *text = ab_check_alloc(c, to->len + n + 2);

	if (!text || !n)
		return false;
	memcpy(text, to->text, to->len);
	text[to->len] = '/';
	memcpy(text + to->len + 1, name, n);
	*out = *to;
	out->text = text;
	out->len = to->len + 1 + n;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

/* A copy of /bin/rm is rm. */
static const struct ab_word *program_copy(struct ab_check *c,
					  const struct ab_word *path)
{
	uint32_t skip = sizeof(AB_FILE_COPY) - 1;
	const char *slash = memrchr(path->text, '/', path->len);
	struct ab_word *w;
	char *text;

	if (path->hole_count || !slash || slash - path->text < 4 ||
	    memcmp(slash - 3, "bin", 3) != 0 || !ab_names_program(c, path))
		return NULL;
	w = ab_check_alloc(c, sizeof(*w));
	text = ab_check_alloc(c, path->len + skip + 1);
	if (!w || !text)
		return NULL;
	memcpy(text, AB_FILE_COPY, skip);
	memcpy(text + skip, path->text, path->len);
	*w = (struct ab_word){ .text = text, .len = path->len + skip,
			       .span = path->span };
	return w;
}

/* Another one follows. */
static void note_copied(struct ab_check *c)
{
	struct ab_copied *copied = ab_check_alloc(c, sizeof(*copied));

	if (!copied)
		return;
	*copied = (struct ab_copied){ .next = c->copied,
				      .path = c->copy_from };
	c->copied = copied;
}

void ab_file_read(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *content = ab_file_content(c, path);
	struct ab_word *stays = ab_check_alloc(c, sizeof(*stays));

	if (!stays)
		return;
	*stays = *path;
	if (AB_UNLIKELY(c->copy_from))
		note_copied(c);
	c->copy_taint |= content ? ab_word_taint(content) &
					   ~(uint32_t)AB_TAINT_VAR
				 : 0;
	if (!content)
		content = program_copy(c, path);
	c->copy_text = content && content->len ? content : NULL;
	c->copy_from = stays;
	c->copy_name = NULL;
	if (content && !content->len && ab_file_is_either(c, path))
		c->copy_name = ab_file_name(c, path, false, &c->copy_name_len);
}

/* The file gets what the one that was read may hold. */
static void copy_either(struct ab_check *c, const struct ab_word *path)
{
	uint32_t len;
	const char *variable = ab_file_name(c, path, true, &len);

	if (!variable)
		return;
	ab_file_note(c, variable, len);
	if (!ab_shell_copy(c->run, c->copy_name, c->copy_name_len, variable,
			   len, AB_SHELL_SHARED) ||
	    (c->trees && !ab_tree_mark(c, variable, len)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

static bool is_tee(const struct ab_use *use)
{
	uint32_t base = ab_name_base(use->words);
	const char *name = use->words->text + base;
	uint32_t n = use->words->len - base;

	return (n == 3 && !memcmp(name, "tee", n)) ||
	       (n == 6 && !memcmp(name, "sponge", n));
}

bool ab_may_keep(const struct ab_use *use)
{
	const char *plain = is_tee(use) ? "ip" : "rRfpvaLPHdT";
	const struct ab_word *name = use->words;

	if (name->len > 4 && !strncasecmp(name->text, "add-", 4))
		return true;
	/* without -f it writes over nothing */
	if (name->len > 1 && !memcmp(name->text + name->len - 2, "ln", 2) &&
	    !ab_use_has_letter(use, 'f'))
		return true;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		/* dd of=f oflag=append */
		if (w->len > 5 && (!memcmp(w->text, "oflag", 5) ||
				   !memcmp(w->text, "conv=", 5) ||
				   !memcmp(w->text, "seek=", 5)))
			return true;
		for (uint32_t k = 1; k < w->len && *w->text == '-'; k++) {
			if (!strchr(plain, w->text[k]) || !w->text[k])
				return true;
		}
	}
	return false;
}

/* is_loose: who knows what was written over the one that was read. */
static void save_copy(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *path, uint32_t taint,
		      const struct ab_word *text, bool is_loose)
{
	bool may_keep = AB_UNLIKELY(c->has_files) && ab_may_keep(use);

	if (may_keep && is_tee(use))
		ab_file_append(c, path, taint, text);
	else if (may_keep)
		ab_file_add(c, path, taint, text);
	else
		ab_file_save(c, path, taint, text, false);
	if (is_loose)
		ab_file_save(c, path, 0, NULL, false);
}

/* cp A B DIR: those before the last one go there too. */
static void copy_others(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *dir)
{
	const struct ab_word *last = c->copy_from;
	const struct ab_copied *all = c->copied;

	for (const struct ab_copied *one = all; one; one = one->next) {
		const struct ab_word *text;
		struct ab_word in;
		uint32_t taint = c->copy_taint;

		c->copy_taint = 0;
		c->copy_from = NULL;
		ab_file_read(c, one->path);
		text = c->copy_text;
		if (inside_word(c, one->path, dir, &in)) {
			if (c->copy_name)
				copy_either(c, &in);
			else if (text || c->copy_taint)
				save_copy(c, use, &in, c->copy_taint, text,
					  false);
		}
		c->copy_taint |= taint;
	}
	c->copied = all;
	c->copy_from = last;
}

static void copy_last(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *path)
{
	/* cp A B has no use for its stdin */
	bool is_input = use->in_text && (!c->copy_from ||
					 ab_is_stdin_name(c->copy_from));
	const struct ab_word *text = is_input ? use->in_text : c->copy_text;
	uint32_t taint = use->in_taint | c->copy_taint;
	struct ab_word in;

	if (c->copy_name && !is_input) {
		copy_either(c, path);
		if (inside_word(c, c->copy_from, path, &in))
			copy_either(c, &in);
		return;
	}
	bool is_loose = text && !is_input && c->copy_from &&
			ab_file_is_loose(c, c->copy_from);

	if (!text && !c->copy_from && c->command) {
		text = ab_part_in(c->command);
		is_loose = text != NULL;
	}
	save_copy(c, use, path, taint, text, is_loose);
	if (AB_UNLIKELY(c->has_lists) && c->copy_from && !is_input)
		ab_list_save(c, path, ab_list_made(c, ab_list_of(c,
							c->copy_from)),
			     true);
	if (c->copy_from && (text || taint) &&
	    inside_word(c, c->copy_from, path, &in))
		save_copy(c, use, &in, taint, text, is_loose);
}

/* `cp -r x/.git .`, `cp tasks.json .vscode/`: a name with a dot in front, of
   what is copied or of the directory, may be one that others look for. */
static bool is_dotted(const char *name, uint32_t len)
{
	return len > 1 && name[0] == '.' && name[1] != '.';
}

static uint32_t without_slash(const struct ab_word *w)
{
	uint32_t n = w->len;

	while (n > 1 && w->text[n - 1] == '/')
		n--;
	return n;
}

static bool is_looked_for(const struct ab_word *from, const struct ab_word *dir)
{
	struct ab_word names[] = { *from, *dir };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		uint32_t at;

		names[i].len = without_slash(&names[i]);
		at = ab_name_base(&names[i]);
		if (is_dotted(names[i].text + at, names[i].len - at))
			return true;
	}
	return false;
}

static bool any_looked_for(const struct ab_check *c, const struct ab_word *dir)
{
	bool is_any = is_looked_for(c->copy_from, dir);

	for (const struct ab_copied *one = c->copied; one && !is_any;
	     one = one->next)
		is_any = is_looked_for(one->path, dir);
	return is_any;
}

static bool is_in_worktree(struct ab_check *c, const struct ab_word *w)
{
	const struct ab_known_path *root = &c->place->root;
	uint32_t len;
	const char *path = root->text ? ab_path_text(c, w, &len) : NULL;

	return path && len >= root->len &&
	       !memcmp(path, root->text, root->len) &&
	       (len == root->len || path[root->len] == '/');
}

/* Nothing but a directory is called so; and nobody looks into those that are
   temporary: `cp -r .git /tmp/x/`, unless the worktree is one. */
static bool is_dir(struct ab_check *c, const struct ab_word *w, bool is_told)
{
	uint64_t dirs = AB_CLASS(ROOT) | AB_CLASS(TOP) | AB_CLASS(HOME) |
			AB_CLASS(PARENT) | AB_CLASS(WORKTREE);
	uint64_t classes = ab_path_classes(c, w);

	return (!(classes & AB_CLASS(TEMP)) || is_in_worktree(c, w)) &&
	       (is_told || (classes & dirs) ||
		(w->len && memchr("/.", w->text[w->len - 1], 2)));
}

static void check_inside(struct ab_check *c, const struct ab_use *use,
			 const struct ab_word *from, const struct ab_word *dir,
			 bool is_content)
{
	struct ab_word name = *from, in;

	if (!is_content)
		name.len = without_slash(&name);
	if (is_looked_for(from, dir) && inside_word(c, &name, dir, &in))
		ab_check_path(c, use, AB_ROLE_WRITE, &in);
}

void ab_file_land(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *from, const struct ab_word *dir)
{
	if (AB_UNLIKELY(is_looked_for(from, dir)) && is_dir(c, dir, false))
		check_inside(c, use, from, dir, false);
}

void ab_file_enter(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role, const struct ab_word *dir)
{
	/* of `rsync x/ y` what lies in x goes there; its options name files */
	bool is_rsync = !strcmp(use->program->name, "rsync");

	if (AB_LIKELY(!any_looked_for(c, dir)) ||
	    (role->select != AB_SEL_LAST &&
	     (role->select != AB_SEL_OPTION || is_rsync)) ||
	    !is_dir(c, dir, role->select == AB_SEL_OPTION || c->copied))
		return;
	check_inside(c, use, c->copy_from, dir, is_rsync);
	for (const struct ab_copied *one = c->copied; one; one = one->next)
		check_inside(c, use, one->path, dir, is_rsync);
}

void ab_file_copy(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path)
{
	/* sed -i, whose output is what it reads, too, changes it itself */
	if (AB_UNLIKELY(c->has_edits) && c->copy_from &&
	    !ab_has_role(use->program, AB_ROLE_CODE)) {
		struct ab_word in;

		ab_edit_copy(c, c->copy_from, path);
		if (inside_word(c, c->copy_from, path, &in))
			ab_edit_copy(c, c->copy_from, &in);
	}
	copy_last(c, use, path);
	if (AB_UNLIKELY(c->copied) &&
	    (c->has_files || c->trees))
		copy_others(c, use, path);
}

/* What came off the network, and what is made of it: `gcc x.c -o x`. */
static uint32_t made_of(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *path)
{
	uint32_t taint = use->in_taint;

	for (uint32_t i = 0; c->has_files && i < use->operand_count; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];
		const struct ab_word *content =
			w == path ? NULL : ab_file_kept(c, w);

		taint |= content ? ab_word_taint(content) : 0;
	}
	return taint & AB_TAINT_REMOTE;
}

void ab_file_make(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path)
{
	uint32_t taint = use ? made_of(c, use, path) : 0;

	if (AB_UNLIKELY(taint || c->has_files))
		ab_file_save(c, path, taint, NULL, false);
}

void ab_file_fetch(struct ab_check *c, const struct ab_word *from,
		   const struct ab_word *to)
{
	bool is_dir = to->len && memchr("/.", to->text[to->len - 1], 2);
	struct ab_word name, in;

	if (!ab_file_last(c, from, &name)) {
		ab_file_unpack(c, to, AB_TAINT_REMOTE);
		return;
	}
	if (!is_dir)
		ab_file_save(c, to, AB_TAINT_REMOTE, NULL, false);
	if (!inside_word(c, &name, to, &in))
		return;
	ab_file_save(c, &in, AB_TAINT_REMOTE, NULL, false);
	/* one with a dot in it is a file, mostly */
	if (memchr(name.text, '.', name.len))
		return;
	if (!is_dir)
		ab_file_unpack(c, to, AB_TAINT_REMOTE);
	ab_file_unpack(c, &in, AB_TAINT_REMOTE);
}
