/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files by which git finds a repository: a `.git` that is a file, and
 * `commondir` and `gitdir` of a linked work tree. Whoever writes them chooses
 * whose configuration git runs, so a new one is let stand only when it says
 * what `git worktree add` and `git submodule` say: a place of this workspace
 * whose hooks and configuration are protected names. Their contents may
 * change without a notice, so while there is one every command is settled
 * and every one is read again. Everything else is quarantined.
 * Spec: gitrepository-layout(5), git-worktree(1).
 */
#include "config.h"

#include "watcher.h"

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

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_in_worktrees(const char *path)
{
	return ab_glob_match("**/.git/worktrees/*/commondir", path, 0) ||
	       ab_glob_match("**/.git/worktrees/*/gitdir", path, 0);
}

bool init_is_jj(const char *path)
{
	size_t n = strlen(path);

	return n >= 8 && !strcasecmp(path + n - 8, ".jj/repo") &&
	       (n == 8 || path[n - 9] == '/');
}

bool init_is_pointer(const char *path)
{
	return is_in_worktrees(path) || !strcasecmp(last_of(path), ".git");
}

/* The one line of a small regular file; false: anything else. */
static bool read_line(const watcher *w, const char *path, char *out,
		      size_t size)
{
	ab_autofd int at = init_open_beneath(w->workspace_fd, path, O_NOFOLLOW);
	ab_autofd int fd = -1;
	char proc[32];
	struct stat st;
	ssize_t n;

	/* by descriptor, when it is known to be a file: never a FIFO */
	if (at < 0 || fstat(at, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || (size_t)st.st_size >= size)
		return false;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", at);
	fd = open(proc, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = ab_fd_read_full(fd, out, size - 1);
	if (n <= 0 || memchr(out, '\0', (size_t)n))
		return false;
	if (out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	return n > 0 && !strpbrk(out, "\r\n");
}

/* The rest of an absolute path below dir, or NULL. */
static const char *rest_of(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n && !strncmp(path, dir, n) && path[n] == '/' ? path + n + 1 :
							       NULL;
}

/* A path as written in a file, to one below the workspace. */
static bool to_workspace(const watcher *w, const char *dir, size_t dir_len,
			 const char *text, char *out, size_t size)
{
	const ab_plan *p = &w->box->plan;
	const char *rest;

	if (text[0] != '/')
		return init_lead(dir, dir_len, text, out, size);
	/* as the box has written it, or as the host reads it */
	rest = rest_of(text, p->workspace_inside);
	if (!rest)
		rest = rest_of(text, p->workspace_host);
	return rest && init_lead("", 0, rest, out, size);
}

static bool is_covered(const watcher *w, const char *dir, const char *name)
{
	char path[AB_MAX_PATH];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	return n > 0 && (size_t)n < sizeof(path) &&
	       (init_is_protected(w, path) || init_is_held(w, path));
}

static bool is_missing(const watcher *w, const char *dir, const char *name)
{
	char path[AB_MAX_PATH];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name), fd;

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	fd = init_open_beneath(w->workspace_fd, path, O_NOFOLLOW);
	if (fd >= 0)
		close(fd);
	return fd == -ENOENT;
}

/* Its common directory must be the repository it lies in. */
static bool is_good_worktree(const watcher *w, const char *dir)
{
	char path[AB_MAX_PATH], line[AB_MAX_PATH];
	int n = snprintf(path, sizeof(path), "%s/commondir", dir);

	return n > 0 && (size_t)n < sizeof(path) &&
	       is_covered(w, dir, "commondir") &&
	       is_covered(w, dir, "config.worktree") &&
	       read_line(w, path, line, sizeof(line)) && !strcmp(line, "../..");
}

static bool is_good_module(const watcher *w, const char *dir)
{
	return is_covered(w, dir, "hooks") && is_covered(w, dir, "config") &&
	       is_covered(w, dir, "config.worktree") &&
	       (is_missing(w, dir, "commondir") ||
		is_covered(w, dir, "commondir"));
}

/* Hooks and configuration of the repository that dir/../.. is. */
static bool is_good_common(const watcher *w, const char *dir)
{
	char common[AB_MAX_PATH];
	size_t n = strlen(dir);

	if (n >= sizeof(common))
		return false;
	memcpy(common, dir, n + 1);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(common, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	return is_covered(w, common, "hooks") &&
	       is_covered(w, common, "config") &&
	       is_covered(w, common, "commondir");
}

static bool is_good_gitdir(const watcher *w, const char *path, const char *text)
{
	const char *name = last_of(path);
	char dir[AB_MAX_PATH];
	int fd;

	if (strncmp(text, "gitdir: ", 8) != 0 ||
	    !to_workspace(w, path, name > path ? (size_t)(name - path - 1) : 0,
			  text + 8, dir, sizeof(dir)))
		return false;
	fd = init_open_beneath(w->workspace_fd, dir, O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0)
		return false;
	close(fd);
	if (ab_glob_match("**/.git/worktrees/*", dir, 0))
		return is_good_worktree(w, dir) && is_good_common(w, dir);
	return ab_glob_match("**/.git/modules/**", dir, 0) &&
	       is_good_module(w, dir);
}

static bool is_good(const watcher *w, const char *path)
{
	char line[AB_MAX_PATH], end[AB_MAX_PATH];
	const char *name = last_of(path);

	if (!read_line(w, path, line, sizeof(line)))
		return false;
	if (!is_in_worktrees(path))
		return is_good_gitdir(w, path, line);
	if (!strcmp(name, "commondir"))
		return !strcmp(line, "../..");
	return to_workspace(w, path, (size_t)(name - path - 1), line, end,
			    sizeof(end)) &&
	       !strcmp(last_of(end), ".git");
}

bool init_take_pointer(watcher *w, const char *path)
{
	if (!is_good(w, path))
		return false;
	for (size_t i = 0; i < w->pointer_count; i++) {
		if (!strcmp(w->pointers[i], path))
			return true;
	}
	if (w->pointer_count == INIT_MAX_POINTERS)
		return false;
	w->pointers[w->pointer_count] = strdup(path);
	if (!w->pointers[w->pointer_count])
		return false;
	w->pointer_count++;
	return true;
}

static void forget(watcher *w, size_t i)
{
	free(w->pointers[i]);
	w->pointers[i] = w->pointers[--w->pointer_count];
}

void init_check_pointers(watcher *w)
{
	/* each may have been good because of one that is gone now */
	for (size_t i = 0; i < w->pointer_count;) {
		const char *path = w->pointers[i];
		int fd;

		if (init_is_held(w, path) || is_good(w, path)) {
			i++;
			continue;
		}
		fd = init_open_beneath(w->workspace_fd, path, O_NOFOLLOW);
		if (fd >= 0)
			close(fd);
		if (fd != -ENOENT)
			init_quarantine(w, path);
		forget(w, i);
		i = 0;
	}
}
