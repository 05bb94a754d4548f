/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a container does to files of this machine: `docker run -v $HOME:/h
 * alpine rm -rf /h`. The command is judged once more with the names that its
 * paths have here; what would be asked about then, was asked about before.
 * Refuses to follow what is mounted in what is mounted.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/key.h"
#include "guard/command.h"

#define MAX_MOUNTS 8
#define MAX_PATH 4096 /* no longer one is mounted */
#define MAX_PUT 65536 /* bytes of names that are put into one command */

/* What it is called here, and there; how much may be put in. */
struct mount {
	struct ab_word from, to;
	uint32_t *room;
};

/* All of its bytes are known: of what is a home, too. */
static bool is_known(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].kind != AB_HOLE_HOME || !w->holes[i].len)
			return false;
	}
	return w->len;
}

/* type=bind,source=/x,target=/y: the value of a key of two names. */
static bool read_key(struct ab_check *c, const struct ab_word *w,
		     const char *const *names, struct ab_word *out)
{
	for (uint32_t at = 0, n; at < w->len; at += n + 1) {
		n = (uint32_t)ab_seek(w->text + at, w->len - at, ',');
		for (size_t i = 0; i < 2; i++) {
			uint32_t len = (uint32_t)strlen(names[i]);

			if (n > len && !memcmp(w->text + at, names[i], len))
				return ab_word_slice(c, w, at + len, n - len,
						     out);
		}
	}
	return false;
}

/* /x:/y, /x:/y:ro */
static bool read_mount(struct ab_check *c, const struct ab_word *w,
		       struct mount *m)
{
	static const char *const froms[] = { "source=", "src=" };
	static const char *const tos[] = { "target=", "dst=" };
	uint32_t n = (uint32_t)ab_seek(w->text, w->len, ':'), rest;

	if (n == w->len)
		return read_key(c, w, froms, &m->from) &&
		       read_key(c, w, tos, &m->to);
	rest = (uint32_t)ab_seek(w->text + n + 1, w->len - n - 1, ':');
	return ab_word_slice(c, w, 0, n, &m->from) &&
	       ab_word_slice(c, w, n + 1, rest, &m->to);
}

static uint32_t read_mounts(struct ab_check *c, const struct ab_use *use,
			    struct mount *all, uint32_t *room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *o = &use->words[v->option];
		struct ab_word w;

		if (!(o->len > 1 && !memcmp(o->text, "-v", 2)) &&
		    !(o->len > 6 && !memcmp(o->text, "--volu", 6)) &&
		    !(o->len > 6 && !memcmp(o->text, "--moun", 6)))
			continue;
		if (n == MAX_MOUNTS) {
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK,
				       &use->words[v->word]);
			break;
		}
		if (!ab_word_slice(c, &use->words[v->word], v->at, UINT32_MAX,
				   &w) || !read_mount(c, &w, &all[n]))
			continue;
		all[n].room = room;
		while (all[n].to.len > 1 &&
		       all[n].to.text[all[n].to.len - 1] == '/')
			all[n].to.len--;
		n += is_known(&all[n].from) && is_known(&all[n].to) &&
		     all[n].to.len > 1 && all[n].to.len < MAX_PATH &&
		     *all[n].to.text == '/';
	}
	return n;
}

static bool is_name(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || memchr("_.-/", ch, 4);
}

/* It stands there as the beginning of a path. */
static bool is_at(const struct ab_word *w, uint32_t at, const struct mount *m)
{
	uint32_t end = at + m->to.len;

	return end <= w->len && w->text[at] == '/' &&
	       !(at && is_name(w->text[at - 1])) &&
	       !memcmp(w->text + at, m->to.text, m->to.len) &&
	       (end == w->len || w->text[end] == '/' ||
		!is_name(w->text[end]));
}

/* The word with the names that its paths have here; false: it has none. */
static bool put_names(struct ab_check *c, const struct ab_word *w,
		      const struct mount *m, struct ab_word *out)
{
	uint32_t count = 0, n = 0;
	char *text;

	for (uint32_t i = 0; !w->hole_count && i < w->len; i++)
		count += is_at(w, i, m);
	if (!count)
		return false;
	if ((uint64_t)count * m->from.len > *m->room) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return false;
	}
	*m->room -= count * m->from.len;
	text = ab_check_alloc(c, w->len + (size_t)count * m->from.len);
	if (!text)
		return false;
	for (uint32_t i = 0; i < w->len;) {
		if (!is_at(w, i, m)) {
			text[n++] = w->text[i++];
			continue;
		}
		memcpy(text + n, m->from.text, m->from.len);
		n += m->from.len;
		i += m->to.len;
	}
	*out = (struct ab_word){ .text = text, .len = n, .span = w->span };
	return true;
}

/* -w /h: where the command runs, as it is called here. */
static bool put_dir(struct ab_check *c, const struct ab_use *use,
		    const struct mount *m)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *o = &use->words[v->option];
		struct ab_word w, *dir;

		if (!(o->len > 1 && !memcmp(o->text, "-w", 2)) &&
		    !(o->len > 8 && !memcmp(o->text, "--workdi", 8)))
			continue;
		dir = ab_check_alloc(c, sizeof(*dir));
		if (dir && ab_word_slice(c, &use->words[v->word], v->at,
					 UINT32_MAX, &w) &&
		    put_names(c, &w, m, dir)) {
			c->cwd = ab_cwd_after(c, dir);
			return true;
		}
	}
	return false;
}

void ab_run_mounted(struct ab_check *c, const struct ab_use *use,
		    uint32_t first)
{
	AB_UNINITIALIZED struct mount mounts[MAX_MOUNTS];
	uint32_t count = use->count - first;
	uint32_t room = MAX_PUT, n = read_mounts(c, use, mounts, &room);
	struct ab_word *all = n ? ab_check_alloc(c, count * sizeof(*all))
				: NULL;
	const struct ab_word *cwd = c->cwd;
	ab_guard_command *told = c->told;
	bool was_part = c->is_part, has_any = false;

	if (!all)
		return;
	memcpy(all, use->words + first, count * sizeof(*all));
	for (uint32_t k = 0; k < n; k++) {
		has_any |= put_dir(c, use, &mounts[k]);
		for (uint32_t i = 1; i < count; i++)
			has_any |= put_names(c, &all[i], &mounts[k], &all[i]);
	}
	if (has_any) {
		c->told = NULL;
		c->is_part = true;
		ab_run_words(c, use, all, count);
		c->is_part = was_part;
		c->told = told;
	}
	c->cwd = cwd;
}
