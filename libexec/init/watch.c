/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected names that must not appear in a direct workspace. One inotify
 * instance watches every directory; the host polls it and asks to settle
 * before it delivers a command's end, so a quiet command costs nothing. While
 * no command runs the holder looks by itself: a process that was left behind
 * plants names at any time. What matches a pattern and was not there at start
 * is quarantined; what came between the plan's look and the first one here is
 * held before the box is ready, as if the plan had seen it.
 *
 * It reads names, never contents, follows no link and leaves the box no way
 * to hide a directory by its mode or its depth. A link that takes the place
 * of a directory in a pattern is unwanted like what the pattern names: what
 * lies behind it has another name. Beyond MAX_WATCHES directories, or when
 * events were lost, it looks through the whole workspace instead. Who made a
 * name, the agent or the host's own user, can be told only where no process
 * of the agent was there (adopt.c).
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
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sys.h"

/* fs.inotify.max_user_watches is shared by all of a user's boxes. */
#define MAX_WATCHES 32768u
#define MAX_TRIES 5u
/* Events are taken so long at once: who moves things all the time, and each
   move may be a look through a tree, holds up nobody. */
#define DRAIN_NS 100000000ull
/* The host waits for 30 seconds (AB_REQUEST_TIMEOUT_MS) and then has no box:
   nobody who is in the box may have that, nor anybody the half of it: a look
   that nobody asked for may go before the one that the host waits for. */
#define RACE_NS 5000000000ull
#define MOST_NS 10000000000ull
/* At the end a host that lives waits for 30 seconds, and nobody for one that
   was killed: but for that, no processor is kept busy. */
#define LAST_NS 60000000000ull
/* IN_MOVED_FROM: the mount of a protected name may have gone along with it. */
#define MASK (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR | \
	      IN_EXCL_UNLINK)

static void scan(watcher *w, char *path, size_t len);

bool init_needs_settling(const ab_plan *plan)
{
	if (plan->watch_count)
		return true;
	for (uint32_t i = 0; i < plan->step_count; i++) {
		if (init_is_guarded_step(plan, i))
			return true;
	}
	return false;
}

/* The host polls the notice fd, readable while there are events or this. */
void init_demand(watcher *w)
{
	(void)eventfd_write(w->demand_fd, 1);
}

bool init_is_blind(const watcher *w)
{
	return w->is_rescan || w->pointer_count;
}

/* From here on only looking tells. */
static void fall_back(watcher *w, const char *why)
{
	if (w->is_rescan)
		return;
	w->is_rescan = true;
	init_note(w->box,
		  "workspace: %s; it is looked through after every command",
		  why);
	init_demand(w);
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
	else if (!init_keep_dir(w, wd, path))
		fall_back(w, "out of memory");
}

static unsigned char type_of(int dirfd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

void init_fail_path(watcher *w, const char *path, int sys_errno)
{
	w->failed++;
	w->is_doubtful = true; /* the next settle looks at everything again */
	w->last_errno = sys_errno;
	init_tell(w->box, AB_EVENT_UNPROTECTED, path, strerror(sys_errno));
}

/*
 * A path could not be looked at. Alone that may be because something above
 * it has moved, so everything is looked through; then it must not happen.
 */
static void on_trouble(watcher *w, const char *path, int sys_errno)
{
	if (sys_errno == ENOENT)
		return; /* gone: where it went there is an event */
	if (!w->is_whole)
		w->is_lost = true;
	else if (sys_errno == ENOTDIR || sys_errno == ELOOP)
		w->is_again = true; /* replaced since it was read */
	else
		init_fail_path(w, path, sys_errno);
}

/* Nobody can look for names in it: it is moved away as a whole. */
static void refuse_tree(watcher *w, const char *path, int sys_errno)
{
	if (w->is_judging && path[0] && !init_is_held(w, path))
		init_quarantine_outside(w, path);
	else if (!init_is_held(w, path))
		on_trouble(w, path, sys_errno);
}

static void begin(watcher *w, uint64_t race_ns, uint64_t most_ns)
{
	uint64_t now = ab_clock_boot_ns();

	w->limit_ns = now + race_ns;
	w->most_ns = now + most_ns;
	w->looking_count = w->quarantined + w->failed;
	w->is_cut = false;
}

void init_begin_looking(watcher *w)
{
	begin(w, RACE_NS, MOST_NS);
}

void init_begin_last_look(watcher *w)
{
	begin(w, LAST_NS, LAST_NS);
}

/*
 * A large workspace in which nothing appears is looked through to its end: the
 * number of entries is its limit.
 */
static bool is_over(watcher *w)
{
	if (w->is_cut || !w->most_ns ||
	    w->quarantined + w->failed == w->looking_count ||
	    ab_clock_boot_ns() < w->limit_ns)
		return w->is_cut;
	w->is_cut = w->limit_ns == w->most_ns || !init_agent_is_absent(w);
	w->limit_ns = w->most_ns;
	return w->is_cut;
}

/* The root is 0, as in lib/walls/scan.c. */
static unsigned depth_of(const char *path)
{
	unsigned n = path[0] != '\0';

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/*
 * A state directory inside the workspace (a home): what was moved there is not
 * moved again. The box cannot reach it, it is masked.
 */
static void find_own(watcher *w)
{
	const char *q = w->box->plan.quarantine_host;
	const char *host = w->box->plan.workspace_host;
	size_t n = strlen(host);
	const char *slash;

	if (strncmp(q, host, n) != 0 || q[n] != '/')
		return;
	slash = strrchr(q, '/');
	if (slash <= q + n)
		return;
	w->own = q + n + 1;
	w->own_len = (size_t)(slash - w->own);
}

/*
 * The plan holds what it saw. What it leaves on purpose the box cannot reach,
 * or nothing holds there; anything else came after it and is judged when it
 * can be held.
 */
static void see_at_start(watcher *w, const char *path, unsigned char type)
{
	if (!init_is_named(w, path, type) || init_is_held(w, path))
		return;
	if (!init_is_left(w, path))
		w->is_late = true;
	else if (init_keep_known(w, path))
		on_trouble(w, path, ENOMEM);
}

static void visit(watcher *w, char *path, size_t len, unsigned char type)
{
	if (w->own && len == w->own_len && memcmp(path, w->own, len) == 0)
		return;
	w->entries++;
	if (w->is_judging && init_is_unwanted(w, path, type)) {
		if (!init_adopt(w, path) && !init_await_pointer(w, path))
			init_quarantine(w, path);
		return;
	}
	if (!w->is_judging)
		see_at_start(w, path, type);
	/* nobody in the box can make anything in a read-only one */
	if (type == DT_DIR && !init_is_sealed(w, path))
		scan(w, path, len);
}

/*
 * On the workspace's own mount only: what is mounted below it was noted when
 * the plan was made, and its server may never answer (sandbox case 87).
 */
static int open_own(const watcher *w, const char *path)
{
	int fd;

	if (path[0] == '\0')
		return ab_fd_dup(w->workspace_fd);
	fd = ab_sys_openat2(w->workspace_fd, path,
			    O_PATH | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
				    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
	if (fd == -ENOSYS || fd == -EPERM)
		fd = init_open_beneath(w->workspace_fd, path,
				       O_DIRECTORY | O_NOFOLLOW);
	return ab_fd_lift(fd);
}

/* It is the root of a mount, or below one, that was there at start. */
static bool is_mount(const watcher *w, const char *path)
{
	for (size_t i = 0; i < w->mount_count; i++) {
		size_t n = strlen(w->mounts[i]);

		if (!strncmp(path, w->mounts[i], n) &&
		    (path[n] == '/' || !path[n]))
			return true;
	}
	return false;
}

static void keep_mount(watcher *w, const char *path)
{
	char **mounts = realloc(w->mounts,
				(w->mount_count + 1) * sizeof(*mounts));

	if (mounts)
		w->mounts = mounts;
	if (!mounts || !(mounts[w->mount_count] = strdup(path)))
		init_fail_path(w, path, ENOMEM);
	else
		w->mount_count++;
}

/* Told of once, with its name. */
static void keep_covered(watcher *w, const char *path)
{
	size_t i = 0;

	while (i < w->covered_count && strcmp(w->covered[i], path) != 0)
		i++;
	if (i < w->covered_count)
		return;
	if (i == INIT_MAX_COVERED || !(w->covered[i] = strdup(path))) {
		w->has_more_covered = true;
		return;
	}
	w->covered_count++;
	init_tell(w->box, AB_EVENT_UNPROTECTED, path,
		  "the host has mounted something over it: what the box makes "
		  "below that is found when it is unmounted");
}

/*
 * Another file system, or ours again at another place. The box has what is
 * below one that came later: that is judged as soon as it is seen again.
 */
static void on_mount(watcher *w, const char *path)
{
	if (!w->is_judging) {
		keep_mount(w, path);
	} else if (!is_mount(w, path)) {
		w->is_covered = true;
		keep_covered(w, path);
	}
}

/*
 * Nothing tells that the host has unmounted it. As long as it has not, there
 * is no need to look through everything for that.
 */
static bool is_uncovered(watcher *w)
{
	bool is = w->is_covered && w->has_more_covered;

	for (size_t i = 0; w->is_covered && i < w->covered_count;) {
		int fd = open_own(w, w->covered[i]);

		if (fd >= 0)
			close(fd);
		if (fd == -EXDEV) {
			i++;
			continue;
		}
		free(w->covered[i]);
		w->covered[i] = w->covered[--w->covered_count];
		is = true;
	}
	return is;
}

bool init_is_covered(const watcher *w, const char *path)
{
	char dir[AB_MAX_PATH];
	size_t n = strlen(path);
	int fd = -ENOENT;

	if (n >= sizeof(dir) || is_mount(w, path))
		return false;
	memcpy(dir, path, n + 1);
	/* the nearest that is there, or is not ours */
	while (fd == -ENOENT && strrchr(dir, '/')) {
		*strrchr(dir, '/') = '\0';
		fd = open_own(w, dir);
	}
	if (fd >= 0)
		close(fd);
	return fd == -EXDEV;
}

/* A directory as O_PATH; -EACCES only where the agent cannot go either. */
static int open_dir(watcher *w, const char *path)
{
	int fd = open_own(w, path);

	if (!w->is_judging)
		return fd;
	/* the agent may hide a directory by its mode: it is ours too */
	if (fd == -EACCES) {
		ab_autofd int parent = init_open_parent(w, path);

		fd = open_own(w, path);
	}
	if (fd >= 0)
		init_make_passable(fd);
	return fd;
}

/* Somebody else's directory: the agent has neither made nor filled it. */
static bool is_foreign(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid != geteuid();
}

static DIR *read_dir(watcher *w, const char *path)
{
	ab_autofd int fd = open_dir(w, path);
	int read_fd;
	DIR *dir;

	if (fd == -EXDEV) {
		on_mount(w, path);
		return NULL;
	}
	if (fd < 0) {
		on_trouble(w, path, -fd);
		return NULL;
	}
	watch_dir(w, fd, path);
	read_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (read_fd < 0) {
		if (errno != EACCES ||
		    (w->is_judging && !is_foreign(fd)))
			refuse_tree(w, path, errno);
		return NULL;
	}
	dir = fdopendir(read_fd);
	if (!dir) {
		close(read_fd);
		on_trouble(w, path, ENOMEM);
	}
	return dir;
}

/*
 * Watch a directory, then read it: what appears in between is an event or an
 * entry, or both. Quarantining while reading is safe, a name that vanishes
 * is skipped.
 */
static void scan(watcher *w, char *path, size_t len)
{
	struct dirent *e;
	int error = 0;
	DIR *dir;

	if (is_over(w))
		return;
	if (depth_of(path) >= AB_MAX_SCAN_DEPTH) {
		refuse_tree(w, path, ENAMETOOLONG);
		return;
	}
	if (w->entries > AB_MAX_SCAN_ENTRIES) {
		w->is_full = true;
		return;
	}
	dir = read_dir(w, path);
	if (!dir)
		return;
	while (!is_over(w) && (e = ab_fd_next(dir, &error))) {
		size_t n = strlen(e->d_name);

		if (len + n + 1 > w->max_path) {
			refuse_tree(w, path, ENAMETOOLONG);
			break;
		}
		if (len)
			path[len] = '/';
		memcpy(path + len + (len > 0), e->d_name, n + 1);
		visit(w, path, len + (len > 0) + n, type_of(dirfd(dir), e));
		path[len] = '\0';
	}
	if (!w->is_cut && error)
		on_trouble(w, path, error);
	closedir(dir);
}

/* Several times, when the agent changes it meanwhile. */
static void scan_all(watcher *w)
{
	static char path[AB_MAX_PATH];
	unsigned tries = 0;

	w->is_whole = true;
	w->is_lost = false;
	do {
		w->is_again = false;
		w->is_full = false;
		w->is_covered = w->has_more_covered = false;
		path[0] = '\0';
		w->entries = 0;
		scan(w, path, 0);
	} while (w->is_again && !w->is_cut && ++tries < MAX_TRIES);
	w->total = w->entries;
	if (w->is_again && !w->is_cut)
		init_fail_path(w, "", EAGAIN);
	if (w->is_full)
		init_fail_path(w, "", E2BIG);
	w->is_whole = false;
}

static void on_event(watcher *w, const struct inotify_event *e)
{
	static char path[AB_MAX_PATH];
	const char *dir;
	int n;

	if (e->mask & IN_Q_OVERFLOW) {
		w->is_lost = true;
		w->has_left = true;
		return;
	}
	dir = init_find_dir(w, e->wd);
	if (!dir)
		return;
	if (e->mask & IN_IGNORED) {
		init_forget_dir(w, e->wd);
		return;
	}
	w->has_left |= (e->mask & IN_MOVED_FROM) != 0;
	/* where all is looked through after this, no single name is */
	if (w->is_lost || !e->len || (e->mask & IN_MOVED_FROM))
		return;
	n = snprintf(path, sizeof(path), "%s%s%s", dir, dir[0] ? "/" : "",
		     e->name);
	if (n < 0 || (size_t)n > w->max_path) {
		w->is_lost = true;
		return;
	}
	w->entries = 0;
	visit(w, path, (size_t)n, e->mask & IN_ISDIR ? DT_DIR : DT_UNKNOWN);
	w->total += w->entries;
}

/* What is left in the queue when the time is over is of what is looked
   through then, and is taken the next time. */
static void take_events(watcher *w)
{
	static _Alignas(struct inotify_event) char buffer[65536];
	uint64_t until = ab_clock_boot_ns() + DRAIN_NS;
	bool is_late = false;
	ssize_t n;

	/* after a fall-back nothing is read: see there */
	while (!w->is_rescan && !is_late &&
	       (n = read(w->box->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(buffer +
								       at);

			is_late |= ab_clock_boot_ns() >= until;
			w->is_lost |= is_late;
			w->has_left |= is_late;
			on_event(w, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}

static void drain(watcher *w)
{
	w->is_inside_unknown = false;
	w->is_lost |= w->is_doubtful || is_uncovered(w);
	w->is_doubtful = false;
	take_events(w);
	if (w->is_lost || w->is_rescan || w->total > AB_MAX_SCAN_ENTRIES) {
		scan_all(w);
		/* what it has not come to may be where it has been, by the
		   host's rename, and is not the host's for that */
		take_events(w);
	}
	init_check_awaited(w);
	init_check_pointers(w);
	if (w->is_cut)
		init_fail_path(w, "", EAGAIN);
	if (init_is_blind(w) || w->is_covered)
		init_demand(w);
}

void init_keep_namespaces(watcher *w, const int fds[2])
{
	ab_cleanup_fd(&w->namespace_fds[0]);
	ab_cleanup_fd(&w->namespace_fds[1]);
	w->namespace_fds[0] = fds[0];
	w->namespace_fds[1] = fds[1];
}

void init_settle_names(watcher *w)
{
	/* of names that nobody asks for none is lost */
	if (!w->box->plan.watch_count)
		w->is_lost = false;
	else if (!w->is_cut)
		drain(w);
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
	w->quarantine_fd = open(p->quarantine_host, O_RDONLY | O_DIRECTORY |
							    O_NOFOLLOW |
							    O_CLOEXEC);
	if (w->quarantine_fd < 0)
		return init_fail(w->box, errno, "", "quarantine %s",
				 p->quarantine_host);
	/* else a host that raises a box an hour later may take it away, and
	   what appears is set aside where it is; and none is raised beside
	   this one, since nobody sees that it lives */
	(void)flock(w->quarantine_fd, LOCK_EX | LOCK_NB);
	return 0;
}

/* Longer paths cannot be named inside, outside, or with a file added. */
static size_t find_max_path(const ab_plan *p)
{
	size_t host = strlen(p->workspace_host);
	size_t inside = strlen(p->workspace_inside);
	size_t used = (host > inside ? host : inside) + AB_SCAN_PATH_RESERVE;

	return used < AB_MAX_PATH ? AB_MAX_PATH - used : 0;
}

static int open_notice(watcher *w)
{
	init_box *box = w->box;
	struct epoll_event e = {.events = EPOLLIN};

	box->inotify_fd = ab_fd_lift(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	w->demand_fd = ab_fd_lift(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	box->notice_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (w->demand_fd < 0 || box->notice_fd < 0 ||
	    epoll_ctl(box->notice_fd, EPOLL_CTL_ADD, w->demand_fd, &e))
		return init_fail(box, errno, "", "protect");
	if (box->inotify_fd < 0)
		fall_back(w, "inotify is not available");
	else if (epoll_ctl(box->notice_fd, EPOLL_CTL_ADD, box->inotify_fd, &e))
		return init_fail(box, errno, "", "protect");
	return 0;
}

int init_prepare_look(watcher *w)
{
	if (init_index_names(w))
		return init_fail(w->box, ENOMEM, "", "protect");
	w->max_path = find_max_path(&w->box->plan);
	find_own(w);
	return 0;
}

/* What is there now is the host's. */
static int look_at_start(watcher *w)
{
	const ab_plan *p = &w->box->plan;
	int r;

	if (init_prepare_look(w))
		return -1;
	scan_all(w);
	if (w->last_errno)
		return init_fail(w->box, w->last_errno, "",
				 "looking through workspace %s",
				 p->workspace_host);
	w->is_judging = true;
	r = init_begin_record(w);
	return r ? init_fail(w->box, -r, "", "record in %s/../%s",
			     p->quarantine_host, AB_UNSETTLED_DIR)
		 : 0;
}

int init_start_watching(holder *h)
{
	static watcher w = INIT_WATCHER_NONE;

	if (!init_needs_settling(&h->box->plan))
		return 0;
	w.box = h->box;
	h->watcher = &w;
	if (open_notice(&w))
		return -1;
	if (init_list_guarded(&w))
		return init_fail(h->box, ENOMEM, "", "protect");
	if (open_places(&w))
		return -1;
	if (w.workspace_fd >= 0 && look_at_start(&w))
		return -1;
	init_watch_parents(&w);
	return 0;
}
