/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that are plainly inside: `src/main.c` where the agent stands in its
 * worktree is no directory of the system, no home, nothing that a pack lists.
 * Most words of most commands are such, and path.c, which knows what every
 * other word is, need not take them apart.
 *
 * Why it is right: the answer is given only when each step of path.c has but
 * one outcome. The directory is absolute, of two names at least, in the
 * worktree, in no temporary directory and above none, not above the home, and
 * none of its names is listed or means something; so nothing that is added
 * below it is the system's, a home, a parent or temporary. The word is bytes
 * without holes, goes down only, and none of its names is `.git`, a key of a
 * listed path (but for an absolute one that begins otherwise than the
 * directory), or taken by a listed pattern.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/key.h"


static bool is_below(const struct ab_known_path *dir, const char *text,
		     uint32_t len)
{
	return dir->text && len > dir->len && text[dir->len] == '/' &&
	       ab_same(dir->text, text, dir->len);
}

/* One is the other, or is above it. */
static bool is_related(const struct ab_known_path *a,
		       const struct ab_known_path *b)
{
	return a->text && (is_below(a, b->text, b->len) ||
			   is_below(b, a->text, a->len) ||
			   (a->len == b->len &&
			    !memcmp(a->text, b->text, a->len)));
}

/* A pack lists something that has this name in it; an absolute path only if
   it begins with `first`, when that is not 0. */
static inline bool is_key(const struct ab_pack *pack, const char *name,
			  uint32_t len, char first)
{
	if (!ab_pack_may_list(pack, name, len))
		return false;
	uint32_t hash = ab_pack_hash(name, len);

	for (uint32_t at = pack->path_buckets[hash % AB_PATH_BUCKETS]; at;
	     at = pack->patterns[at - 1].next) {
		const struct ab_end *end = &pack->ends[at - 1];

		if (pack->patterns[at - 1].key_hash == hash &&
		    !(first && end->base == 1 && end->head &&
		      end->head != first))
			return true;
	}
	return false;
}

/* A pattern of the list takes the name, or is not of one name. */
static bool is_taken(const struct ab_pack *pack, uint32_t at, const char *name,
		     uint32_t len)
{
	for (; at; at = pack->patterns[at - 1].next_end) {
		const struct ab_path_pattern *p = &pack->patterns[at - 1];
		const struct ab_part *want = &pack->parts[p->part];

		if (p->base || p->component_count != 1 || p->is_deep)
			return true;
		if ((want->last && want->last != name[len - 1]) ||
		    (want->first && want->first != name[0]))
			continue;
		if (ab_part_takes(want, name, len))
			return true;
	}
	return false;
}

static bool is_listed_end(const struct ab_pack *pack, const char *name,
			  uint32_t len)
{
	uint32_t first = pack->path_first[(unsigned char)name[0]];
	uint32_t last = pack->path_last[(unsigned char)name[len - 1]];

	return pack->path_rest || (first && is_taken(pack, first, name, len)) ||
	       (last && is_taken(pack, last, name, len));
}

static bool is_git(const char *name, uint32_t len)
{
	return len == 4 && name[0] == '.' && (name[1] | 0x20) == 'g' &&
	       (name[2] | 0x20) == 'i' && (name[3] | 0x20) == 't';
}

static bool is_dots(const char *name, uint32_t len)
{
	return *name == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

/* The names of the directory mean nothing. */
static bool is_plain_dir(const struct ab_pack *pack, const char *text,
			 uint32_t len)
{
	static const char *const first[] = { "proc", "dev", "tmp", "var",
					     "etc", "usr", "sys", "run" };
	uint32_t count = 0, at = 1;

	while (at < len) {
		const char *slash = memchr(text + at, '/', len - at);
		uint32_t end = slash ? (uint32_t)(slash - text) : len;
		uint32_t n = end - at;

		if (!n || is_dots(text + at, n) || is_git(text + at, n) ||
		    is_key(pack, text + at, n, 0))
			return false;
		for (size_t i = 0; !count && i < AB_ARRAY_LEN(first); i++) {
			if (first[i][0] == text[at] &&
			    strlen(first[i]) == n &&
			    ab_same(first[i], text + at, n))
				return false;
		}
		count++;
		at = end + 1;
	}
	return count >= 2 && text[len - 1] != '/';
}

static bool is_near_dir(const struct ab_check *c, const struct ab_word *cwd)
{
	const struct ab_shell_place_text *place = c->place;
	struct ab_known_path here = { cwd->text, cwd->len };

	if (cwd->len < 2 || *cwd->text != '/' || !place->root.text ||
	    !((cwd->len == place->root.len &&
	       ab_same(cwd->text, place->root.text, cwd->len)) ||
	      is_below(&place->root, cwd->text, cwd->len)) ||
	    place->root.len < 2 || is_related(&place->home, &here))
		return false;
	for (uint32_t i = 0; i < place->temp_count; i++) {
		if (is_related(&place->temps[i], &here))
			return false;
	}
	return is_plain_dir(c->pack, cwd->text, cwd->len);
}

bool ab_path_is_near(struct ab_check *c, const struct ab_word *w)
{
	const char *s = w->text;
	uint32_t at = 0, name = 0, len = 0;

	if (!c->cwd || c->cwd != c->first_cwd || w->hole_count || !w->len ||
	    AB_UNLIKELY(c->links || c->stays_far))
		return false;
	if (c->near_dir != c->cwd->text || c->near_len != c->cwd->len) {
		c->near_dir = c->cwd->text;
		c->near_len = c->cwd->len;
		c->is_near = is_near_dir(c, c->cwd);
	}
	/* few names, and what path.c looks at twice: file:/x, a line's end */
	if (!c->is_near || *s == '/' || *s == '~' || w->len > 255 ||
	    s[w->len - 1] == '\r' || (w->len > 5 && s[4] == ':'))
		return false;
	while (at < w->len) {
		uint32_t begin = at;
		uint32_t n = (uint32_t)ab_seek(s + at, w->len - at, '/');

		at += n + 1;

		if (!n || (n == 1 && s[begin] == '.'))
			continue;
		if ((s[begin] == '.' &&
		     (is_dots(s + begin, n) || is_git(s + begin, n))) ||
		    is_key(c->pack, s + begin, n, c->near_dir[1]))
			return false;
		name = begin;
		len = n;
	}
	return len && !is_listed_end(c->pack, s + name, len);
}
