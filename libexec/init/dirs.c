/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The directories that are watched, by the number of their watch. The kernel
 * gives each watch the next number, so who makes and removes directories all
 * day has high ones: they are kept in the order of their numbers, as many as
 * there are (MAX_WATCHES), and what is kept does not grow with the numbers.
 * Spec: inotify(7).
 */
#include "config.h"

#include "watcher.h"

#include <stdlib.h>
#include <string.h>

/* Forgotten ones stay in their places until there are as many as others. */
#define FEW 64

static int compare_wd(const void *item, const void *key)
{
	const watched *d = item;
	const int *wd = key;

	return d->wd < *wd ? -1 : d->wd > *wd;
}

/* The first that does not come before this number. */
static size_t find(const watcher *w, int wd)
{
	return init_find_first(w->dirs, w->dir_count, sizeof(*w->dirs), &wd,
			       compare_wd);
}

static bool is_at(const watcher *w, size_t i, int wd)
{
	return i < w->dir_count && w->dirs[i].wd == wd;
}

const char *init_find_dir(const watcher *w, int wd)
{
	size_t i = find(w, wd);

	return is_at(w, i, wd) ? w->dirs[i].path : NULL;
}

static void compact(watcher *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->dir_count; i++) {
		if (w->dirs[i].path)
			w->dirs[n++] = w->dirs[i];
	}
	w->dir_count = n;
}

void init_forget_dir(watcher *w, int wd)
{
	size_t i = find(w, wd);

	if (!is_at(w, i, wd) || !w->dirs[i].path)
		return;
	free(w->dirs[i].path);
	w->dirs[i].path = NULL;
	w->watch_count--;
	if (w->dir_count > 2 * w->watch_count + FEW)
		compact(w);
}

static bool make_room(watcher *w)
{
	size_t room = 2 * w->dir_room + FEW;
	watched *dirs;

	if (w->dir_count < w->dir_room)
		return true;
	dirs = realloc(w->dirs, room * sizeof(*dirs));
	if (!dirs)
		return false;
	w->dirs = dirs;
	w->dir_room = room;
	return true;
}

bool init_keep_dir(watcher *w, int wd, const char *path)
{
	char *copy = strdup(path);
	size_t i = find(w, wd);

	if (!copy || (!is_at(w, i, wd) && !make_room(w))) {
		free(copy);
		return false;
	}
	if (!is_at(w, i, wd)) {
		memmove(w->dirs + i + 1, w->dirs + i,
			(w->dir_count - i) * sizeof(*w->dirs));
		w->dirs[i] = (watched){.wd = wd};
		w->dir_count++;
	}
	if (!w->dirs[i].path)
		w->watch_count++;
	/* the same directory, which has another name by now */
	free(w->dirs[i].path);
	w->dirs[i].path = copy;
	return true;
}
