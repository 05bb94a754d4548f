/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the shell is: cd, pushd and popd, and the directories that are kept
 * for them, in variables as files are (files.c). Refuses to guess: where a
 * word does not tell where it leads, the directory is not known.
 */
#include "config.h"

#include "guard/command.h"

#include <string.h>

#define CWD AB_SHELL_CWD
#define DIRS AB_SHELL_DIRS

/* cd "$(mktemp -d)"; NULL: it is another word. */
static const char *temp_dir(struct ab_check *c, const struct ab_word *w,
			    uint32_t *len)
{
	static const char base[] = AB_TEMP_DIR;
	const struct ab_hole *h = w->holes;
	char *text;

	if (w->hole_count != 1 || h->at || h->len || h->is_cut ||
	    h->kind != AB_HOLE_BYTES ||
	    ab_hole_taint(h) != AB_TAINT_TEMP || (w->len && *w->text != '/') ||
	    memmem(w->text, w->len, "..", 2))
		return NULL;
	*len = (uint32_t)(sizeof(base) - 1) + w->len;
	text = ab_check_alloc(c, *len + 1);
	if (!text)
		return NULL;
	memcpy(text, base, sizeof(base) - 1);
	memcpy(text + sizeof(base) - 1, w->text, w->len);
	text[*len] = '\0';
	return text;
}

/* cd "$(git rev-parse --git-dir)/hooks": whose .git it is does not count, and
   this worktree's is as good as any. */
static const char *git_dir(struct ab_check *c, const struct ab_word *w,
			   uint32_t *len)
{
	const struct ab_known_path *root = &c->place->root;
	const struct ab_hole *h = w->holes;
	const char *hit = memmem(w->text, w->len, "/.git", 5);
	char *text;

	if (w->hole_count != 1 || h->at || h->len || !hit || !root->text ||
	    *w->text != '/' || memmem(w->text, w->len, "..", 2) ||
	    (hit + 5 < w->text + w->len && hit[5] != '/'))
		return NULL;
	*len = root->len + w->len;
	text = ab_check_alloc(c, *len + 1);
	if (!text)
		return NULL;
	memcpy(text, root->text, root->len);
	memcpy(text + root->len, w->text, w->len);
	text[*len] = '\0';
	return text;
}

const struct ab_word *ab_cwd_after(struct ab_check *c, const struct ab_word *w)
{
	struct ab_word *cwd;
	uint32_t len;
	/* a pattern of its own may take more than one, and then it stays where
	   it is; what a loop goes through is one */
	const char *text = w->is_quoted && (c->flags & AB_SHELL_LOOP) ?
				   ab_dir_text(c, w, &len) :
				   ab_path_text(c, w, &len);

	if (!text)
		text = temp_dir(c, w, &len);
	if (!text)
		text = git_dir(c, w, &len);
	if (!text)
		return NULL;
	cwd = ab_check_alloc(c, sizeof(*cwd));
	if (!cwd)
		return NULL;
	*cwd = (struct ab_word){ .text = text, .len = len };
	return cwd;
}

static void set_cwd(struct ab_check *c, const struct ab_word *cwd)
{
	static const struct ab_word unknown = { .text = "" };

	if (!ab_shell_set(c->run, CWD, sizeof(CWD) - 1,
			  cwd ? cwd : &unknown, AB_SHELL_INHERITED))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
}

/* list NULL: none */
static void set_list(struct ab_check *c, const struct ab_word *list)
{
	static const struct ab_word none = { .text = "" };

	(void)ab_shell_set(c->run, DIRS, sizeof(DIRS) - 1, list ? list : &none,
			   AB_SHELL_OWN);
}

/* The first line of a list of directories, the rest in *rest. */
static bool first_line(struct ab_check *c, const struct ab_word *list,
		       struct ab_word *first, struct ab_word *rest)
{
	const char *end = list->len ? memchr(list->text, '\n', list->len)
				    : NULL;
	uint32_t n = end ? (uint32_t)(end - list->text) : list->len;

	return ab_word_slice(c, list, 0, n, first) &&
	       ab_word_slice(c, list, end ? n + 1 : n, list->len, rest);
}

static void push_dir(struct ab_check *c, const struct ab_word *cwd)
{
	bool is_exported;
	const struct ab_word *old = ab_shell_get(c->run, DIRS,
						 sizeof(DIRS) - 1,
						 &is_exported);
	uint32_t n = (cwd ? cwd->len : 0), more = old ? old->len : 0;
	char *text = ab_check_alloc(c, n + more + 2);

	if (!text)
		return;
	if (n)
		memcpy(text, cwd->text, n);
	text[n] = '\n';
	if (more)
		memcpy(text + n + 1, old->text, more);
	struct ab_word list = { .text = text, .len = n + 1 + more };

	set_list(c, &list);
}

static void pop_list(struct ab_check *c, const struct ab_word *list)
{
	struct ab_word first, rest;

	if (!list || list->hole_count || !list->len ||
	    !first_line(c, list, &first, &rest)) {
		set_cwd(c, NULL);
		return;
	}
	set_cwd(c, first.len ? &first : NULL);
	set_list(c, &rest);
}

static void pop_dir(struct ab_check *c)
{
	struct ab_shell_readings readings = { 0 };
	const struct ab_word *list = ab_shell_get(c->run, DIRS,
						  sizeof(DIRS) - 1, NULL);
	const struct ab_word *one;

	if (!list || !list->hole_count ||
	    !ab_shell_get_one(c->run, DIRS, sizeof(DIRS) - 1, 0)) {
		pop_list(c, list);
		return;
	}
	for (uint32_t i = 0; (one = ab_shell_get_one(c->run, DIRS,
						     sizeof(DIRS) - 1, i));
	     i++) {
		ab_shell_reading_begin(c->run, &readings);
		pop_list(c, one);
		ab_shell_reading_end(c->run, &readings);
	}
	ab_shell_reading_join(c->run, &readings);
}

#define MAX_STACK 16 /* directories that are turned around */

/* pushd +1, -2, and pushd alone, which is the first. *at: which, of the stack
   with where the shell is as its first. */
static bool stack_place(const struct ab_word *w, uint32_t count, uint32_t *at)
{
	uint32_t n = 0;

	if (!w) {
		*at = 1;
		return true;
	}
	if (w->hole_count || w->len < 2 || w->len > 4 ||
	    !memchr("+-", *w->text, 2))
		return false;
	for (uint32_t i = 1; i < w->len; i++) {
		if (w->text[i] < '0' || w->text[i] > '9')
			return false;
		n = n * 10 + (uint32_t)(w->text[i] - '0');
	}
	*at = *w->text == '+' ? n : count - 1 - n;
	return true;
}

/* The stack from `at` on and then what stands before it; of popd without that
   one, and where the shell is stays unless it was that. */
static void turn_stack(struct ab_check *c, const struct ab_word *w, bool is_pop)
{
	const struct ab_word *list = ab_shell_get(c->run, DIRS,
						  sizeof(DIRS) - 1, NULL);
	AB_UNINITIALIZED struct ab_word all[MAX_STACK];
	struct ab_word rest = { .text = "" };
	uint32_t count = 1, at;

	if (list && !list->hole_count)
		rest = *list;
	all[0] = c->cwd && !c->cwd->hole_count ?
			 *c->cwd : (struct ab_word){ .text = "" };
	while (rest.len && count < MAX_STACK)
		if (!first_line(c, &rest, &all[count++], &rest))
			return;
	if (!list || list->hole_count || rest.len ||
	    !stack_place(w, count, &at) || at >= count) {
		set_cwd(c, NULL);
		return;
	}
	set_list(c, NULL);
	if (!w) { /* the first two change places */
		struct ab_word first = all[0];

		all[0] = all[1];
		all[1] = first;
		at = 0;
	}
	for (uint32_t i = count; i-- > 1;) {
		uint32_t k = is_pop ? i : (at + i) % count;

		if (!is_pop || k != at)
			push_dir(c, all[k].len ? &all[k] : NULL);
	}
	if (is_pop && !at)
		pop_dir(c);
	else if (!is_pop)
		set_cwd(c, all[at].len ? &all[at] : NULL);
}

/* The value that a word in front of the command, or the text, gave it. */
static const struct ab_word *given(struct ab_check *c, const char *name)
{
	for (uint32_t i = c->assign_count; i-- > 0;) {
		const struct ab_shell_assign *a = &c->assigns[i];

		if (!strcmp(a->name, name))
			return a->value_count == 1 && !a->is_append ?
				       a->values : NULL;
	}
	return ab_shell_get(c->run, name, strlen(name), NULL);
}

static bool is_given(const struct ab_check *c, const char *name)
{
	for (uint32_t i = 0; i < c->assign_count; i++) {
		if (!strcmp(c->assigns[i].name, name))
			return true;
	}
	return ab_shell_get(c->run, name, strlen(name), NULL) != NULL;
}

/* CDPATH=/etc; cd ssh: where that leads is not in the word. */
static bool uses_cdpath(struct ab_check *c, const struct ab_word *to)
{
	uint32_t dots = to->len && *to->text == '.';

	dots += dots && to->len > 1 && to->text[1] == '.';
	/* ./x and ../x, but .x is looked for, and so is nothing at all */
	if ((to->len && *to->text == '/') ||
	    (dots && (to->len == dots || to->text[dots] == '/')) ||
	    (to->hole_count && !to->holes[0].at))
		return false;
	return is_given(c, "CDPATH");
}

/* cd -: where the shell was before, if that is known. */
static const struct ab_word *old_dir(struct ab_check *c)
{
	const struct ab_word *w = given(c, "OLDPWD");

	return w && !w->hole_count && w->len && *w->text == '/' ? w : NULL;
}

/* cd "$T": a file there is also called by that word, "$T/x". What is below a
   new directory stays below it. */
static void note_word(struct ab_check *c, const struct ab_word *to,
		      const struct ab_word *cwd)
{
	static const struct ab_word none = { .text = "" };
	static const char base[] = AB_TEMP_DIR;
	bool is_exported, is_below = to && !to->hole_count && cwd &&
				     to->len && *to->text != '/' &&
				     cwd->len > sizeof(base) &&
				     !memcmp(cwd->text, base, sizeof(base) - 1);

	if (!to || !to->hole_count) {
		if (is_below || !ab_shell_get(c->run, AB_CWD_WORD,
					      sizeof(AB_CWD_WORD) - 1,
					      &is_exported))
			return;
		to = &none;
	}
	if (!ab_shell_set(c->run, AB_CWD_WORD, sizeof(AB_CWD_WORD) - 1, to,
			  AB_SHELL_INHERITED))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, to);
}

/* shopt -s cdable_vars; cd NAME: $NAME, and what stands behind it in NAME/x;
   NULL: it has no such value. */
static const struct ab_word *named_dir(struct ab_check *c,
				       const struct ab_word *to,
				       const struct ab_word *home)
{
	const char *slash = to->len ? memchr(to->text, '/', to->len) : NULL;
	uint32_t n = slash ? (uint32_t)(slash - to->text) : to->len;
	const struct ab_word *value = n && !to->hole_count ?
					      ab_shell_get(c->run, to->text,
							   n, NULL) :
					      NULL;
	struct ab_word *all;
	char *text;

	if (!value && home->text && n == 4 && !memcmp(to->text, "HOME", 4))
		value = home;
	if (!value || !slash || value->hole_count)
		return value;
	all = ab_check_alloc(c, sizeof(*all));
	text = ab_check_alloc(c, (size_t)value->len + to->len - n);
	if (!all || !text)
		return NULL;
	memcpy(text, value->text, value->len);
	memcpy(text + value->len, slash, to->len - n);
	*all = (struct ab_word){ .text = text, .len = value->len + to->len - n,
				 .span = to->span };
	return all;
}

static void go_to(struct ab_check *c, const struct ab_word *to)
{
	const struct ab_word *cwd = to ? ab_cwd_after(c, to) : NULL;

	set_cwd(c, cwd);
	note_word(c, to, cwd);
}

/* To either of them. */
static void go_to_one(struct ab_check *c, const struct ab_word *to,
		      const struct ab_word *other)
{
	struct ab_shell_readings readings = { 0 };

	ab_shell_reading_begin(c->run, &readings);
	go_to(c, to);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_begin(c->run, &readings);
	go_to(c, other);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_join(c->run, &readings);
}

#define MAX_CDPATH 6 /* directories of it that are followed */

/* Where the word leads below each directory of CDPATH, or from where the shell
   is: whichever there is. */
static void go_by_cdpath(struct ab_check *c, const struct ab_word *to)
{
	const struct ab_word *path = given(c, "CDPATH");
	struct ab_shell_readings readings = { 0 };
	struct ab_word dir, at = { .span = to->span };
	uint32_t n, tries = 0;

	if (!path || path->hole_count || to->hole_count) {
		go_to(c, NULL);
		return;
	}
	ab_shell_reading_begin(c->run, &readings);
	go_to(c, to);
	ab_shell_reading_end(c->run, &readings);
	for (uint32_t from = 0; from < path->len; from += n + 1) {
		const char *end = memchr(path->text + from, ':',
					 path->len - from);
		char *text;

		n = end ? (uint32_t)(end - path->text) - from
			: path->len - from;
		if (!ab_word_slice(c, path, from, n, &dir))
			return;
		if (!n || ab_word_equals(&dir, "."))
			continue;
		text = ab_check_alloc(c, n + to->len + 2);
		if (!text)
			return;
		memcpy(text, dir.text, n);
		text[n] = '/';
		memcpy(text + n + 1, to->text, to->len);
		at.text = text;
		at.len = n + 1 + to->len;
		ab_shell_reading_begin(c->run, &readings);
		go_to(c, tries++ < MAX_CDPATH ? &at : NULL);
		ab_shell_reading_end(c->run, &readings);
		if (tries > MAX_CDPATH)
			break;
	}
	ab_shell_reading_join(c->run, &readings);
}

/* pushd and popd but for what begins with where they go: +1, -n, no word. */
static bool turns_stack(struct ab_check *c, bool is_push,
			const struct ab_word *argv, uint32_t argc)
{
	const struct ab_word *last = argc > 1 ? &argv[argc - 1] : NULL;
	bool stays = argc > 1 && ab_word_equals(&argv[1], "-n");
	static const struct ab_word second = { .text = "+1", .len = 2 };
	uint32_t at;

	if (last && ab_word_equals(last, "--") && !stays)
		last = NULL;
	if (stays && is_push && argc > 2) {
		if (stack_place(last, 1, &at))
			set_cwd(c, NULL); /* turned, and it says nowhere */
		else
			push_dir(c, ab_cwd_after(c, last));
		return true;
	}
	if (last && !stays && !stack_place(last, 1, &at))
		return false;
	if (!last && !is_push)
		return false;
	if (stays && argc > 2 && is_push)
		return false;
	turn_stack(c, stays && argc == 2 ? &second : last, !is_push);
	return true;
}

/* The word that says where: the last that is no option. Of two, bash takes
   none and dash the first. */
static const struct ab_word *target_of(const struct ab_word *argv,
				       uint32_t argc, bool *is_physical)
{
	static const struct ab_hole unknown = { .kind = AB_HOLE_BYTES };
	static const struct ab_word either = { .text = "",
					       .holes = &unknown,
					       .hole_count = 1 };
	const struct ab_word *to = NULL;

	for (uint32_t i = 1; i < argc; i++) {
		const struct ab_word *w = &argv[i];
		bool is_option = w->len > 1 && *w->text == '-' &&
				 !w->hole_count;

		*is_physical |= is_option && memchr(w->text, 'P', w->len);
		if (!is_option)
			to = to ? &either : w;
	}
	return to;
}

/* dirs -c: where popd leads is not known from there on. */
static void clear_stack(struct ab_check *c, const struct ab_word *argv,
			uint32_t argc)
{
	for (uint32_t i = 1; i < argc; i++) {
		if (argv[i].hole_count || memchr(argv[i].text, 'c',
						 argv[i].len))
			set_list(c, NULL);
	}
}

/* cd, pushd, popd, and dirs, which has no builtin of its own. */
void ab_dir_change(struct ab_check *c, enum ab_builtin builtin,
		   const struct ab_word *argv, uint32_t argc)
{
	const struct ab_word *to, *own_home, *named = NULL;
	struct ab_word home = { .text = c->place->home.text,
				.len = c->place->home.len };
	bool is_push = builtin == AB_BUILTIN_PUSHD;
	bool was_linked = c->is_linked, is_physical = c->is_physical;
	bool by_path = false;

	if (AB_UNLIKELY(builtin == AB_BUILTIN_NONE)) {
		clear_stack(c, argv, argc);
		return;
	}
	if (builtin != AB_BUILTIN_CD && turns_stack(c, is_push, argv, argc)) {
		ab_stayed_note(c, NULL);
		note_word(c, NULL, NULL);
		return;
	}
	if (builtin == AB_BUILTIN_POPD) {
		ab_stayed_note(c, NULL);
		pop_dir(c);
		note_word(c, NULL, NULL);
		return;
	}
	to = target_of(argv, argc, &is_physical);
	own_home = to ? NULL : given(c, "HOME");
	if (own_home && !own_home->hole_count)
		to = own_home;
	else if (!to && home.text)
		to = &home;
	if (is_push)
		push_dir(c, c->cwd);
	if (AB_UNLIKELY(c->has_cdable) && to)
		named = named_dir(c, to, &home);
	if (to && ab_word_equals(to, "-"))
		to = old_dir(c);
	else if (to)
		by_path = uses_cdpath(c, to);
	if (c->cwd && c->has_files)
		(void)ab_shell_set(c->run, AB_CWD_BEFORE,
				   sizeof(AB_CWD_BEFORE) - 1, c->cwd,
				   AB_SHELL_INHERITED);
	ab_stayed_note(c, to);
	c->is_linked &= is_physical;
	if (AB_UNLIKELY(by_path))
		go_by_cdpath(c, to);
	else if (AB_UNLIKELY(named != NULL))
		go_to_one(c, to, named);
	else
		go_to(c, to);
	c->is_linked = was_linked;
}

/* cd build || rm -rf *: where that did not lead away from. */
const struct ab_word *ab_dir_unmoved(struct ab_check *c)
{
	const struct ab_word *w = old_dir(c);

	return w && c->cwd && (w->len != c->cwd->len ||
			       memcmp(w->text, c->cwd->text, w->len) != 0) ?
		       w : NULL;
}
