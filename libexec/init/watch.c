/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected names that must not appear in a direct workspace. One inotify
 * instance watches every directory; the host polls it and asks to settle
 * before it delivers a command's end, so a quiet command costs nothing. What
 * matches a pattern and was not there at start is quarantined.
 *
 * It reads names, never contents, follows no link and leaves the box no way
 * to hide a directory by its mode. Beyond AB_MAX_WATCHES directories, or
 * when events were lost, it looks through the whole workspace instead.
 * Spec: DESIGN.md section 6, inotify(7).
 */
#include "config.h"

#include "watcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "path/glob.h"

/* fs.inotify.max_user_watches is shared by all of a user's boxes. */
#define MAX_WATCHES 32768u
#define MASK (IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK)

static void scan(watcher *w, char *path, size_t len, unsigned depth,
		 bool judging);

bool init_needs_settling(const ab_plan *plan)
{
	if (plan->watch_count)
		return true;
	for (uint32_t i = 0; i < plan->step_count; i++) {
		if (plan->steps[i].kind == AB_STEP_SELF)
			return true;
	}
	return false;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

/*
 * Bound by us: itself, what leads to it, or what lies in a read-only tree.
 * The agent cannot have made those; the host may replace them.
 */
static bool is_guarded(const watcher *w, const char *path)
{
	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];

		if (!g->rest || g->is_gone)
			continue;
		if (is_below(g->rest, path) ||
		    ((g->flags & AB_MOUNT_RDONLY) && is_below(path, g->rest)))
			return true;
	}
	return false;
}

static bool is_unwanted(const watcher *w, const char *path)
{
	const ab_plan *p = &w->box->plan;

	for (uint32_t i = 0; i < p->watch_count; i++) {
		/* case is folded: the workspace may be on such a directory */
		if (ab_glob_match(p->watches[i].pattern, path, AB_GLOB_FOLD))
			return !is_guarded(w, path);
	}
	return false;
}

/* Big, and nothing in it is a name that a pattern could mean. */
static bool is_dull(const char *path)
{
	static const char *const names[] = {"objects", "refs", "logs", "lfs",
					    "annex"};
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n < 4 || strncmp(slash - 4, ".git", 4) != 0 ||
	    (n > 4 && slash[-5] != '/'))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(slash + 1, names[i]))
			return true;
	}
	return false;
}

static bool remember(watcher *w, int wd, const char *path)
{
	size_t at = (size_t)wd;
	char *copy = strdup(path);

	if (copy && at >= w->dir_room) {
		size_t room = at * 2 + 64;
		char **dirs = realloc(w->dirs, room * sizeof(*dirs));

		if (!dirs) {
			free(copy);
			return false;
		}
		memset(dirs + w->dir_room, 0,
		       (room - w->dir_room) * sizeof(*dirs));
		w->dirs = dirs;
		w->dir_room = room;
	}
	if (!copy)
		return false;
	if (!w->dirs[at])
		w->watch_count++;
	free(w->dirs[at]);
	w->dirs[at] = copy;
	return true;
}

/*
 * The host polls the inotify fd. When it cannot tell any more, it must stay
 * readable for ever, so that every command is settled: a removed watch leaves
 * an event, and nothing is read after it.
 */
static void fall_back(watcher *w, const char *why)
{
	if (w->is_rescan)
		return;
	w->is_rescan = true;
	init_note(w->box,
		  "workspace: %s; it is looked through after every command",
		  why);
	for (size_t wd = 0; wd < w->dir_room; wd++) {
		if (w->dirs[wd]) {
			inotify_rm_watch(w->box->inotify_fd, (int)wd);
			return;
		}
	}
	/* no watch at all: the host has not got the fd yet */
	ab_cleanup_fd(&w->box->inotify_fd);
	w->box->inotify_fd =
		ab_fd_lift(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
}

static void watch_dir(watcher *w, int fd, const char *path)
{
	char proc[32];
	int wd;

	if (w->is_rescan)
		return;
	if (w->watch_count >= MAX_WATCHES) {
		fall_back(w, "too many directories to watch");
		return;
	}
	/* by descriptor: the very directory that was opened without links */
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(w->box->inotify_fd, proc, MASK);
	if (wd < 0)
		fall_back(w, errno == ENOSPC ? "fs.inotify.max_user_watches "
					       "is used up"
					     : strerror(errno));
	else if (!remember(w, wd, path))
		fall_back(w, "out of memory");
}

static bool is_dir_entry(int dirfd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* One entry, by its whole path. */
static void visit(watcher *w, char *path, size_t len, unsigned depth,
		  bool is_dir, bool judging)
{
	w->entries++;
	if (judging && is_unwanted(w, path)) {
		init_quarantine(w, path);
		return;
	}
	if (is_dir && !is_dull(path))
		scan(w, path, len, depth + 1, judging);
}

/*
 * Watch a directory, then read it: what appears in between is an event or an
 * entry, or both. Quarantining while reading is safe, a name that vanishes
 * is skipped.
 */
static void scan(watcher *w, char *path, size_t len, unsigned depth,
		 bool judging)
{
	int fd, read_fd;
	struct dirent *e;
	DIR *dir;

	if (depth > AB_MAX_SCAN_DEPTH || w->entries > AB_MAX_SCAN_ENTRIES) {
		fall_back(w, "deeper or larger than AB_MAX_SCAN_*");
		return;
	}
	fd = init_open_beneath(w->workspace_fd, path, O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0)
		return;
	/* the agent may hide a directory by its mode: it is ours too */
	if (judging)
		init_make_passable(fd);
	watch_dir(w, fd, path);
	read_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(fd);
	dir = read_fd < 0 ? NULL : fdopendir(read_fd);
	if (!dir && read_fd >= 0)
		close(read_fd);
	while (dir && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    len + n + 2 > AB_MAX_PATH)
			continue;
		if (len)
			path[len] = '/';
		memcpy(path + len + (len > 0), e->d_name, n + 1);
		visit(w, path, len + (len > 0) + n, depth,
		      is_dir_entry(dirfd(dir), e), judging);
		path[len] = '\0';
	}
	if (dir)
		closedir(dir);
}

static void scan_all(watcher *w, bool judging)
{
	static char path[AB_MAX_PATH];

	path[0] = '\0';
	w->entries = 0;
	scan(w, path, 0, 0, judging);
}

static void on_event(watcher *w, const struct inotify_event *e, bool *lost)
{
	static char path[AB_MAX_PATH];
	const char *dir;
	int n;

	if (e->mask & IN_Q_OVERFLOW) {
		*lost = true;
		return;
	}
	if (e->wd < 0 || (size_t)e->wd >= w->dir_room || !w->dirs[e->wd])
		return;
	dir = w->dirs[e->wd];
	if (e->mask & IN_IGNORED) {
		free(w->dirs[e->wd]);
		w->dirs[e->wd] = NULL;
		w->watch_count--;
		return;
	}
	if (!e->len)
		return;
	n = snprintf(path, sizeof(path), "%s%s%s", dir, dir[0] ? "/" : "",
		     e->name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	w->entries = 0;
	visit(w, path, (size_t)n,
	      (unsigned)(dir[0] ? 1 : 0), e->mask & IN_ISDIR, true);
}

static void drain(watcher *w)
{
	static _Alignas(struct inotify_event) char buffer[65536];
	bool lost = false;
	ssize_t n;

	/* after a fall-back nothing is read: see there */
	while (!w->is_rescan &&
	       (n = read(w->box->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(buffer +
								       at);

			on_event(w, e, &lost);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	if (lost || w->is_rescan)
		scan_all(w, true);
}

void init_keep_namespaces(watcher *w, const int fds[2])
{
	ab_cleanup_fd(&w->namespace_fds[0]);
	ab_cleanup_fd(&w->namespace_fds[1]);
	w->namespace_fds[0] = fds[0];
	w->namespace_fds[1] = fds[1];
}

int init_settle(holder *h, uint64_t values[4])
{
	watcher *w = h->watcher;
	uint64_t before[3];

	if (!w)
		return 0;
	before[0] = w->quarantined;
	before[1] = w->reprotected;
	before[2] = w->failed;
	init_check_mounts(w);
	if (w->is_rescan)
		scan_all(w, true);
	else if (w->box->plan.watch_count)
		drain(w);
	values[0] = w->quarantined - before[0];
	values[1] = w->reprotected - before[1];
	values[2] = w->failed - before[2];
	return 0;
}

static int list_guarded(watcher *w)
{
	const ab_plan *p = &w->box->plan;
	const char *top = p->workspace_inside;
	size_t n = strlen(top);

	w->guarded = calloc(p->step_count + 1, sizeof(*w->guarded));
	if (!w->guarded)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->step_count; i++) {
		const ab_plan_step *s = &p->steps[i];
		guarded *g = &w->guarded[w->guarded_count];

		if (s->kind != AB_STEP_SELF)
			continue;
		g->target = s->target;
		g->flags = s->flags;
		if (n && is_below(s->target, top) && s->target[n] == '/')
			g->rest = s->target + n + 1;
		w->guarded_count++;
	}
	return 0;
}

static int open_places(watcher *w)
{
	const ab_plan *p = &w->box->plan;

	if (!p->watch_count)
		return 0;
	w->workspace_fd = init_open_host(p->workspace_host, p->workspace_dev,
					 p->workspace_ino);
	if (w->workspace_fd < 0)
		return init_fail(w->box, -w->workspace_fd, "", "workspace %s",
				 p->workspace_host);
	w->quarantine_fd = open(p->quarantine_host, O_PATH | O_DIRECTORY |
							    O_NOFOLLOW |
							    O_CLOEXEC);
	if (w->quarantine_fd < 0)
		return init_fail(w->box, errno, "", "quarantine %s",
				 p->quarantine_host);
	return 0;
}

int init_start_watching(holder *h)
{
	static watcher w = {.workspace_fd = -1,
			    .quarantine_fd = -1,
			    .namespace_fds = {-1, -1}};

	if (!init_needs_settling(&h->box->plan))
		return 0;
	w.box = h->box;
	h->watcher = &w;
	h->box->inotify_fd = ab_fd_lift(inotify_init1(IN_CLOEXEC |
						      IN_NONBLOCK));
	if (h->box->inotify_fd < 0)
		fall_back(&w, "inotify is not available");
	if (list_guarded(&w))
		return init_fail(h->box, ENOMEM, "", "protect");
	if (open_places(&w))
		return -1;
	if (w.workspace_fd >= 0)
		scan_all(&w, false);
	return 0;
}
