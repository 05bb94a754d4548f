/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which names must not appear in a direct workspace: what a pattern names,
 * and a link in the place of a directory above such a name, because then the
 * name is made through it and never seen. A link that leads to another place
 * where the same pattern holds is harmless: there everything is judged.
 *
 * It reads the text of links and follows none; case is folded, since the
 * workspace may be on such a directory. Patterns are found by their last
 * component: a look-through of many files costs one hash each.
 * Spec: DESIGN.md section 6; symlink(7).
 */
#include "config.h"

#include "watcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "path/glob.h"

bool init_is_path_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* FNV-1a over folded bytes, up to a slash. */
static uint32_t bucket_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name && *name != '/'; name++) {
		unsigned char c = (unsigned char)*name;

		if (c >= 'A' && c <= 'Z')
			c = (unsigned char)(c + ('a' - 'A'));
		h = (h ^ c) * 16777619u;
	}
	return h % INIT_NAME_BUCKETS;
}

/* Takes an owned text. The first of equal heads is enough. */
static void add_rule(watcher *w, const char *text, bool is_head)
{
	const char *last = text, *slash;
	name_rule *r = &w->rules[w->rule_count];
	uint32_t *first;

	while ((slash = strchr(last, '/')) && slash[1])
		last = slash + 1;
	/* a trailing slash is ignored by the matcher and by the hash */
	slash = strchr(last, '/');
	first = ab_glob_is_literal(last) ? &w->buckets[bucket_of(last)] :
					   &w->any;
	for (uint32_t i = *first; i; i = w->rules[i - 1].next) {
		if (w->rules[i - 1].is_head == is_head &&
		    !strcmp(w->rules[i - 1].text, text)) {
			if (is_head)
				free((char *)(uintptr_t)text);
			return;
		}
	}
	r->text = text;
	r->is_head = is_head;
	r->next = *first;
	*first = (uint32_t)++w->rule_count;
}

static size_t count_slashes(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '/';
	return n;
}

/* Below a head of nothing but ** every name is judged where it really is. */
static bool is_everything(const char *head, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (head[i] != '*' && head[i] != '/')
			return false;
	}
	return n >= 2 && head[0] == '*' && head[1] == '*';
}

int init_index_names(watcher *w)
{
	const ab_plan *p = &w->box->plan;
	size_t room = 1;

	for (uint32_t i = 0; i < p->watch_count; i++)
		room += 1 + count_slashes(p->watches[i].pattern);
	w->rules = calloc(room, sizeof(*w->rules));
	if (!w->rules)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->watch_count; i++) {
		const char *pattern = p->watches[i].pattern;
		const char *s = pattern;

		w->is_git |= ab_glob_match(pattern, ".git/config", 0) ||
			     ab_glob_match(pattern, ".git/hooks", 0);
		add_rule(w, pattern, false);
		while ((s = strchr(s, '/'))) {
			size_t n = (size_t)(s++ - pattern);
			char *head;

			if (n == 0 || !*s || is_everything(pattern, n))
				continue;
			head = strndup(pattern, n);
			if (!head)
				return -ENOMEM;
			add_rule(w, head, true);
		}
	}
	return 0;
}

static bool matches(const name_rule *r, const char *path)
{
	/* a head without a slash would float: it means the top only */
	if (r->is_head && !strchr(r->text, '/') && strchr(path, '/'))
		return false;
	return ab_glob_match(r->text, path, AB_GLOB_FOLD);
}

bool init_is_named(const watcher *w, const char *path, unsigned char type)
{
	uint32_t first[2] = {w->buckets[bucket_of(last_of(path))], w->any};

	for (size_t k = 0; k < 2; k++) {
		for (uint32_t i = first[k]; i; i = w->rules[i - 1].next) {
			const name_rule *r = &w->rules[i - 1];

			if (!(r->is_head && type == DT_DIR) && matches(r, path))
				return true;
		}
	}
	return init_is_bare_part(w, path);
}

bool init_is_protected(const watcher *w, const char *path)
{
	return init_is_named(w, path, DT_DIR);
}

/*
 * A read-only mount over a part of the workspace does not hold what another
 * mount gives to be written: the same files have another name there. What is
 * bound onto itself is so in each of them.
 */
bool init_is_only_way(const watcher *w, const guarded *g)
{
	const ab_plan *p = &w->box->plan;

	if (g->step->kind == AB_STEP_SELF)
		return true;
	for (uint32_t i = 0; i < p->step_count; i++) {
		const ab_plan_step *s = &p->steps[i];

		if (s->kind != AB_STEP_BIND || (s->flags & AB_MOUNT_RDONLY) ||
		    !strcmp(s->target, p->workspace_inside))
			continue;
		if (init_is_path_below(g->host, s->source) ||
		    init_is_path_below(s->source, g->host))
			return false;
	}
	return true;
}

static int compare_rest_path(const void *item, const void *key)
{
	return strcmp((*(const guarded *const *)item)->rest, key);
}

/* The first in by_rest that does not come before this path. */
static size_t find_rest(const watcher *w, const char *path)
{
	return init_find_first(w->by_rest, w->by_rest_count,
			       sizeof(*w->by_rest), path,
			       compare_rest_path);
}

/* What is at this path is held, with all that is in it. */
static bool holds(const watcher *w, const guarded *g)
{
	return !g->is_gone && (g->flags & AB_MOUNT_RDONLY) &&
	       init_is_only_way(w, g);
}

static bool holds_at(const watcher *w, const char *path)
{
	for (size_t i = find_rest(w, path);
	     i < w->by_rest_count && !strcmp(w->by_rest[i]->rest, path); i++) {
		if (holds(w, w->by_rest[i]))
			return true;
	}
	return false;
}

/* `dir` ends in a slash, and has room for no more. */
static bool leads_to_held(const watcher *w, const char *dir)
{
	size_t n = strlen(dir);

	for (size_t i = find_rest(w, dir);
	     i < w->by_rest_count && !strncmp(w->by_rest[i]->rest, dir, n);
	     i++) {
		if (!w->by_rest[i]->is_gone && !w->by_rest[i]->is_adopted)
			return true;
	}
	return false;
}

/* The plan's own: it, what leads to it, or what is in it. */
static bool is_held_by_plan(const watcher *w, const char *path)
{
	char head[AB_MAX_PATH];
	size_t n = strlen(path), i = find_rest(w, path);

	if (n + 2 > sizeof(head))
		return false;
	for (; i < w->by_rest_count && !strcmp(w->by_rest[i]->rest, path); i++)
		if (!w->by_rest[i]->is_gone && !w->by_rest[i]->is_adopted)
			return true;
	memcpy(head, path, n);
	memcpy(head + n, "/", 2);
	if (leads_to_held(w, head))
		return true;
	for (char *slash = head + n; slash; slash = strrchr(head, '/')) {
		*slash = '\0';
		if (holds_at(w, head))
			return true;
	}
	return false;
}

/*
 * Bound by us: itself, what leads to it, or what lies in a read-only tree.
 * The agent cannot have made those; the host may replace them.
 */
bool init_is_held(const watcher *w, const char *path)
{
	if (w->seen)
		return init_stood(w, path);
	if (is_held_by_plan(w, path))
		return true;
	/* an adopted one does not pin what leads to it */
	for (size_t i = w->guarded_count - w->adopted_count;
	     i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];

		if (g->rest && init_is_path_below(path, g->rest) && holds(w, g))
			return true;
	}
	for (size_t i = 0; i < w->known_count; i++) {
		if (init_is_path_below(w->known[i], path))
			return true;
	}
	return false;
}

static int compare_rest(const void *a, const void *b)
{
	const guarded *const *x = a, *const *y = b;

	return strcmp((*x)->rest, (*y)->rest);
}

int init_list_sealed(watcher *w)
{
	w->sealed = calloc(w->guarded_count + 1, sizeof(const guarded *));
	w->by_rest = calloc(w->guarded_count + 1, sizeof(const guarded *));
	if (!w->sealed || !w->by_rest)
		return -ENOMEM;
	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];

		if (g->rest)
			w->by_rest[w->by_rest_count++] = g;
		if (g->rest && g->step->kind == AB_STEP_SELF &&
		    (g->flags & AB_MOUNT_RDONLY))
			w->sealed[w->sealed_count++] = g;
	}
	qsort(w->by_rest, w->by_rest_count, sizeof(const guarded *),
	      compare_rest);
	qsort(w->sealed, w->sealed_count, sizeof(const guarded *),
	      compare_rest);
	return 0;
}

bool init_is_sealed(const watcher *w, const char *path)
{
	const guarded key = {.rest = path}, *of = &key;
	const guarded *const *found =
		bsearch(&of, w->sealed, w->sealed_count,
			sizeof(const guarded *), compare_rest);

	if (w->seen)
		return init_stood_as(w, path);
	return found && !(*found)->is_gone;
}

int init_keep_known(watcher *w, const char *path)
{
	char **known = realloc(w->known, (w->known_count + 1) *
						 sizeof(*known));

	if (!known)
		return -ENOMEM;
	w->known = known;
	known[w->known_count] = strdup(path);
	if (!known[w->known_count])
		return -ENOMEM;
	w->known_count++;
	return 0;
}

bool init_lead(const char *dir, size_t dir_len, const char *text, char *out,
	       size_t size)
{
	size_t n = dir_len;
	bool is_named = false;

	if (n >= size)
		return false;
	memcpy(out, dir, n);
	while (*text) {
		size_t len = strcspn(text, "/");

		if (len == 2 && !memcmp(text, "..", 2)) {
			/* behind a name it would depend on what that is */
			if (is_named || n == 0)
				return false;
			while (n && out[n - 1] != '/')
				n--;
			n -= n > 0;
		} else if (len && !(len == 1 && *text == '.')) {
			if (n + len + 2 > size)
				return false;
			if (n)
				out[n++] = '/';
			memcpy(out + n, text, len);
			n += len;
			is_named = true;
		}
		text += len;
		text += strspn(text, "/");
	}
	out[n] = '\0';
	return n > 0;
}

/* A link whose end is under the same rule, by its text. */
static bool leads_to_the_same(const watcher *w, const name_rule *r, int parent,
			      const char *path)
{
	char text[AB_MAX_PATH], end[AB_MAX_PATH];
	const char *name = last_of(path);
	ssize_t n = readlinkat(parent, name, text, sizeof(text) - 1);
	int fd;

	if (n <= 0 || text[0] == '/')
		return false;
	text[n] = '\0';
	if (!init_lead(path, name > path ? (size_t)(name - path - 1) : 0, text,
		       end, sizeof(end)) ||
	    !matches(r, end))
		return false;
	/* an old link on the way leads who knows where */
	fd = init_open_beneath(w->workspace_fd, end, O_NOFOLLOW);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -ENOENT;
}

/* Something that is no directory, in the place of one. */
static bool stands_in(watcher *w, const name_rule *r, const char *path,
		      unsigned char type)
{
	ab_autofd int parent = -1;
	struct stat st;

	if (type == DT_DIR || init_is_held(w, path))
		return false;
	parent = init_open_parent(w, path);
	if (parent < 0)
		return parent != -ENOENT;
	if (fstatat(parent, last_of(path), &st, AT_SYMLINK_NOFOLLOW))
		return errno != ENOENT;
	if (S_ISLNK(st.st_mode))
		return !leads_to_the_same(w, r, parent, path);
	if (!S_ISREG(st.st_mode))
		return false;
	/* "gitdir: ..." is git's own kind of link; jj's is a bare path, to a
	   repository whose names nobody knows as one */
	return strcasecmp(last_of(path), ".git") ? init_is_jj(path) :
						   !init_take_pointer(w, path);
}

/* Not the host's, and not a pointer that may stand. */
static bool is_planted(watcher *w, const char *path)
{
	return !init_is_held(w, path) && !init_is_moved(w, path) &&
	       !(init_is_pointer(path) && init_take_pointer(w, path));
}

bool init_is_unwanted(watcher *w, const char *path, unsigned char type)
{
	uint32_t first[2] = {w->buckets[bucket_of(last_of(path))], w->any};

	for (size_t k = 0; k < 2; k++) {
		for (uint32_t i = first[k]; i; i = w->rules[i - 1].next) {
			const name_rule *r = &w->rules[i - 1];

			if ((r->is_head && type == DT_DIR) || !matches(r, path))
				continue;
			if (r->is_head ? stands_in(w, r, path, type) :
					 is_planted(w, path))
				return true;
		}
	}
	if (init_is_bare_part(w, path))
		return is_planted(w, path);
	init_check_bare(w, path);
	return false;
}
