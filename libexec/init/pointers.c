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

#include "base/clock.h"
#include "base/fd.h"
#include "path/glob.h"
#include "sys.h"

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

/* By descriptor, when it is known to be a file: never a FIFO. */
static bool read_file(int at, char *out, size_t size, size_t *len)
{
	ab_autofd int fd = -1;
	char proc[32];
	struct stat st;
	ssize_t n;

	if (at < 0 || fstat(at, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || (size_t)st.st_size >= size)
		return false;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", at);
	fd = open(proc, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = fd < 0 ? -1 : ab_fd_read_full(fd, out, size);
	*len = n > 0 ? (size_t)n : 0;
	return n > 0 && *len < size;
}

bool init_read_small(const watcher *w, const char *path, char *out,
		     size_t size, size_t *len)
{
	ab_autofd int at = init_open_beneath(w->workspace_fd, path, O_NOFOLLOW);

	return read_file(at, out, size, len);
}

/* The one line of a file that has no other. */
static bool cut_line(char *out, size_t n)
{
	if (memchr(out, '\0', n))
		return false;
	if (out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	return n > 0 && !strpbrk(out, "\r\n");
}

/* The one line of a small regular file; false: anything else. */
static bool read_line(const watcher *w, const char *path, char *out,
		      size_t size)
{
	size_t n;

	return init_read_small(w, path, out, size, &n) && cut_line(out, n);
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

/* Does some mount of the box give this place of the host to be written? */
static bool is_writable(const watcher *w, const char *host)
{
	const ab_plan *p = &w->box->plan;

	for (uint32_t i = 0; i < p->step_count; i++) {
		const ab_plan_step *s = &p->steps[i];

		if (s->kind == AB_STEP_BIND && !(s->flags & AB_MOUNT_RDONLY) &&
		    init_is_path_below(host, s->source))
			return true;
	}
	return false;
}

/*
 * From the workspace up to the last directory that the text shares with it,
 * and no higher: the root of a file system of its own, as /home often is, is
 * not to be left.
 */
static bool from_workspace(const watcher *w, const char *text, char *out,
			   size_t size)
{
	const char *host = w->box->plan.workspace_host;
	size_t n = 0, shared = 0;

	for (size_t i = 0; host[i] && host[i] == text[i]; i++) {
		if (host[i] == '/')
			shared = i;
	}
	for (const char *s = host + shared; *s; s++) {
		if (*s != '/' || !s[1])
			continue;
		if (n + 3 >= size)
			return false;
		memcpy(out + n, "../", 3);
		n += 3;
	}
	text += shared + 1;
	return (size_t)snprintf(out + n, size - n, "%s", text) < size - n;
}

/*
 * A work tree of the host's beside the workspace: its own `.git` says that it
 * belongs here, and the box cannot have written that. The place is looked up
 * on the workspace's own mount only: the agent chooses what we look at, and
 * another file system may never answer.
 */
static bool is_hosts_tree(const watcher *w, const char *path, const char *text)
{
	const ab_plan *p = &w->box->plan;
	size_t host = strlen(p->workspace_host);
	size_t n = (size_t)(last_of(path) - path - 1), len;
	char place[AB_MAX_PATH], line[AB_MAX_PATH];
	ab_autofd int at = -1;

	/* where an earlier box could write, nobody knows any more */
	if (w->seen || text[0] != '/' || strstr(text, "/../") || strstr(text, "//") ||
	    strstr(text, "/./") || strcmp(last_of(text), ".git") != 0 ||
	    is_writable(w, text) ||
	    !from_workspace(w, text, place, sizeof(place)))
		return false;
	at = ab_fd_lift(ab_sys_openat2(
		w->workspace_fd, place, O_PATH | O_CLOEXEC | O_NOFOLLOW,
		RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV));
	return read_file(at, line, sizeof(line), &len) && cut_line(line, len) &&
	       !strncmp(line, "gitdir: ", 8) &&
	       !strncmp(line + 8, p->workspace_host, host) &&
	       line[8 + host] == '/' && !strncmp(line + 9 + host, path, n) &&
	       !line[9 + host + n];
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
	if (to_workspace(w, path, (size_t)(name - path - 1), line, end,
			 sizeof(end)))
		return !strcmp(last_of(end), ".git");
	return is_hosts_tree(w, path, line);
}

bool init_knows_pointer(const watcher *w, const char *path)
{
	for (size_t i = 0; i < w->pointer_count; i++) {
		if (!strcmp(w->pointers[i], path))
			return true;
	}
	return false;
}

bool init_take_pointer(watcher *w, const char *path)
{
	if (!is_good(w, path))
		return false;
	if (init_knows_pointer(w, path))
		return true;
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

static void stop_awaiting(watcher *w, size_t i)
{
	free(w->awaited[i].path);
	w->awaited[i] = w->awaited[--w->awaited_count];
}

bool init_await_pointer(watcher *w, const char *path)
{
	uint64_t now = ab_clock_boot_ns();
	size_t i = 0;

	if (!init_is_pointer(path))
		return false;
	while (i < w->awaited_count && strcmp(w->awaited[i].path, path) != 0)
		i++;
	if (i < w->awaited_count) {
		if (!w->is_last &&
		    now - w->awaited[i].since_ns < INIT_AWAIT_NS) {
			init_look_soon(w);
			return true;
		}
		stop_awaiting(w, i);
		return false;
	}
	if (w->is_last || i == INIT_MAX_AWAITED ||
	    !(w->awaited[i].path = strdup(path)))
		return false;
	w->awaited[i].since_ns = now;
	w->awaited_count++;
	init_look_soon(w);
	return true;
}

static bool is_there(const watcher *w, const char *path)
{
	ab_autofd int fd = init_open_beneath(w->workspace_fd, path, O_NOFOLLOW);

	return fd != -ENOENT;
}

void init_check_awaited(watcher *w)
{
	for (size_t i = 0; i < w->awaited_count;) {
		char path[AB_MAX_PATH];
		size_t before = w->awaited_count;

		snprintf(path, sizeof(path), "%s", w->awaited[i].path);
		if (!is_there(w, path) || init_is_held(w, path) ||
		    init_take_pointer(w, path))
			stop_awaiting(w, i);
		else if (!init_await_pointer(w, path))
			init_quarantine(w, path);
		i += w->awaited_count == before;
	}
}

void init_check_pointers(watcher *w)
{
	/* each may have been good because of one that is gone now */
	for (size_t i = 0; i < w->pointer_count;) {
		const char *path = w->pointers[i];

		if (init_is_held(w, path) || is_good(w, path)) {
			i++;
			continue;
		}
		if (is_there(w, path) && !init_await_pointer(w, path))
			init_quarantine(w, path);
		forget(w, i);
		i = 0;
	}
}
