/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the shell is should a cd have failed at which nobody looked: `cd a/b;
 * rm -rf ../../etc` is within the worktree, or /etc where there is no a/b. Only
 * what leads to the system or a home from there counts: that it may delete
 * something of its neighbours is true of most scripts.
 */
#include "config.h"

#include "guard/command.h"
#include "guard/path.h"

#include <string.h>

#define STAYED AB_SHELL_STAYED

static bool is_far(const struct ab_known_path *root, const struct ab_word *w)
{
	return !root->text || w->len < root->len ||
	       memcmp(w->text, root->text, root->len) != 0 ||
	       (w->len > root->len && w->text[root->len] != '/');
}

static uint32_t depth(const struct ab_word *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->len; i++)
		n += w->text[i] == '/';
	return w->len > 1 ? n : 0;
}

/* It is one of those: the one that is nearest to the root. */
void ab_stayed_prepare(struct ab_check *c)
{
	const struct ab_word *w = ab_shell_value(c->run, c->stayed);

	c->stays = w && !w->hole_count && w->len ? w : NULL;
	for (uint32_t i = 0; w && w->hole_count; i++) {
		const struct ab_word *one =
			ab_shell_get_one(c->run, STAYED, sizeof(STAYED) - 1, i);

		if (!one)
			break;
		if (one->len && !one->hole_count &&
		    (!c->stays || depth(one) < depth(c->stays)))
			c->stays = one;
	}
	c->stays_far = c->stays && is_far(&c->place->root, c->stays);
}

static void set(struct ab_check *c, const struct ab_word *dir)
{
	if (!ab_shell_set(c->run, STAYED, sizeof(STAYED) - 1, dir,
			  AB_SHELL_INHERITED))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
	c->stayed = ab_shell_variable(c->run, STAYED, sizeof(STAYED) - 1);
}

static bool is_known(const struct ab_known_path *path, const struct ab_word *to)
{
	return path->text && to->len == path->len &&
	       !memcmp(to->text, path->text, to->len);
}

/* /etc and its like, on whatever machine. */
static bool is_usual(const struct ab_word *to)
{
	static const char *const dirs[] = { "/etc", "/usr", "/var", "/bin",
					    "/lib", "/home", "/root", "/dev",
					    "/proc", "/sys", "/opt", "/run",
					    "/sbin", "/tmp", "/var/log",
					    "/usr/bin", "/usr/lib", "/var/lib",
					    "/usr/local", "/var/tmp" };

	for (size_t i = 0; i < AB_ARRAY_LEN(dirs); i++) {
		if (ab_word_equals(to, dirs[i]))
			return true;
	}
	return false;
}

/* `/`, /tmp, a home, where it began, and where it surely is. */
static bool is_there(const struct ab_check *c, const struct ab_word *to)
{
	for (uint32_t i = 0; i < to->hole_count; i++) {
		if (to->holes[i].kind != AB_HOLE_HOME)
			return false;
	}
	if (!to->len || *to->text != '/')
		return false;
	return to->len == 1 || is_usual(to) ||
	       is_known(&c->place->home, to) || is_known(&c->place->root, to) ||
	       (c->cwd && !c->stays && to->len == c->cwd->len &&
		!memcmp(to->text, c->cwd->text, to->len));
}

/* `..`, `../..`, `.`: they are always there. */
static bool is_up(const struct ab_word *to)
{
	for (uint32_t i = 0; i < to->len; i++) {
		if (to->text[i] != '.' && to->text[i] != '/')
			return false;
	}
	return !to->hole_count && to->len && *to->text != '/' &&
	       !memmem(to->text, to->len, "...", 3);
}

void ab_stayed_note(struct ab_check *c, const struct ab_word *to)
{
	static const struct ab_word none = { .text = "" };
	const struct ab_word *was = c->stays ? c->stays : c->cwd;
	const struct ab_word *cwd = c->cwd;
	struct ab_word at = { .text = "" };

	if (to && is_there(c, to)) {
		if (c->stays)
			set(c, &none);
		return;
	}
	if (!was || was->hole_count || !was->len)
		return;
	if (!to || !is_up(to)) {
		set(c, was);
	} else if (c->stays) {
		c->cwd = was;
		at.text = ab_path_text(c, to, &at.len);
		c->cwd = cwd;
		set(c, at.text ? &at : was);
	}
}

bool ab_stayed_counts(const struct ab_check *c, const struct ab_word *w)
{
	return c->stays && c->cwd == c->first_cwd &&
	       (c->stays_far || memmem(w->text, w->len, "..", 2));
}

uint64_t ab_stayed_classes(struct ab_check *c, const struct ab_word *w,
			   uint64_t usual)
{
	/* what these excuse where the cd did not fail */
	const uint64_t plain = AB_CLASS(INSIDE) | AB_CLASS(SUBDIR) |
			       AB_CLASS(TEMP) | AB_CLASS(CHECKED);
	const uint64_t above = AB_CLASS(ROOT) | AB_CLASS(PARENT);
	uint64_t harm = AB_CLASS(ROOT) | AB_CLASS(TOP) | AB_CLASS(HOME) |
			~(AB_CLASS(COMPUTED) - 1);
	const struct ab_word *cwd = c->cwd;
	uint64_t classes;

	c->cwd = c->stays;
	classes = ab_path_classes_of(c, w);
	c->cwd = cwd;
	/* `cp x ../..`: only what is above, and not all that is in it */
	if (classes & above && !memchr(w->text, '*', w->len))
		return usual;
	harm &= classes & AB_CLASS(OUTSIDE) ? classes : 0;
	return harm ? (usual & ~plain) | harm : usual;
}
