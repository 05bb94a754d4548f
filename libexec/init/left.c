/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a box whose holder was killed, at the next start over its
 * workspace: its record says what stood at protected names when it began, so
 * what stands there now and did not is moved to its quarantine, under the
 * rules of a look at the end, and the record is removed. Nothing is raised.
 *
 * Why that is safe. Nobody of that box lives: its processes end with its PID 1,
 * that ends with its holder, and it is waited for (life.c). What stood at a
 * protected name was the root of a read-only mount there, all the time: such a
 * mount goes only when its name is removed or renamed over, by the host, and
 * then the inode goes as well, or is at another place. So an inode that is
 * the same, by its number and the time it was made, which nobody can set, is
 * the host's, and so is what is in it, whoever has changed it since; and the
 * agent could not move it, what leads to it is pinned. Any other inode at a
 * protected name may be the agent's. At a name at which nothing stood it is
 * taken away, as it is from a box that lives. At one at which something stood
 * the host has replaced that, and may have done so while the agent was there
 * to write to it before it was covered again, or after everything was over:
 * nobody knows, so it is told and left alone, and the record stays. So it does
 * where something is mounted in the workspace, which may cover anything, where
 * something cannot be read or moved, where the workspace is another directory
 * than it was, and where the record says nothing, or is torn.
 *
 * What the host's user has made meanwhile at a name at which nothing stood is
 * taken away too; a clock could tell, but clocks are set.
 * Spec: record.c, wire/plan.h, statx(2), flock(2).
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

/* Between two tries for a record that somebody else looks after. */
#define LOCK_POLL_MS 20
/* The last of them finds nothing. */
#define MAX_PASSES 8u

static int compare_path(const void *a, const void *b)
{
	const seen *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int compare_number(const void *a, const void *b)
{
	const seen *const *x = a, *const *y = b;

	return (*x)->ino < (*y)->ino ? -1 : (*x)->ino > (*y)->ino;
}

static int index_seen(watcher *w)
{
	if (w->seen_count)
		qsort(w->seen, w->seen_count, sizeof(*w->seen), compare_path);
	w->by_ino = calloc(w->seen_count + 1, sizeof(*w->by_ino));
	if (!w->by_ino)
		return -ENOMEM;
	for (size_t i = 0; i < w->seen_count; i++) {
		if (w->seen[i].kind != SEEN_MOUNT)
			w->by_ino[w->by_ino_count++] = &w->seen[i];
	}
	qsort(w->by_ino, w->by_ino_count, sizeof(*w->by_ino), compare_number);
	return 0;
}

/* The first that does not come before this path. */
static size_t find_path(const watcher *w, const char *path)
{
	const seen key = {.path = path};

	return init_find_first(w->seen, w->seen_count, sizeof(*w->seen), &key,
			       compare_path);
}

static bool is_same(const seen *was, const seen *is)
{
	if (was->ino != is->ino || was->type != is->type ||
	    was->made_ns != is->made_ns)
		return false;
	/* what could be written by another name, or is known by its number
	   only, or was out of reach by something else than its own mount */
	return (was->kind == SEEN_HELD && is->kind == SEEN_HELD) ||
	       (was->changed_ns == is->changed_ns &&
		!strcmp(was->path, is->path));
}

static bool is_known(const watcher *w, const seen *is)
{
	size_t i = init_find_first(w->by_ino, w->by_ino_count,
				   sizeof(*w->by_ino), &is, compare_number);

	while (i < w->by_ino_count && w->by_ino[i]->ino == is->ino) {
		if (is_same(w->by_ino[i++], is))
			return true;
	}
	return false;
}

static bool stands(const watcher *w, const char *path)
{
	seen is;

	return init_see(w, path, &is) == 0 && is_known(w, &is);
}

bool init_stood(const watcher *w, const char *path)
{
	char head[AB_MAX_PATH];
	size_t n = strlen(path);

	if (n >= sizeof(head))
		return false;
	memcpy(head, path, n + 1);
	for (;;) {
		char *slash;

		if (stands(w, head))
			return true;
		slash = strrchr(head, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
}

bool init_stood_as(const watcher *w, const char *path)
{
	size_t i = find_path(w, path);

	return i < w->seen_count && !strcmp(w->seen[i].path, path) &&
	       stands(w, path);
}

/* Was anything of the record there, in it, or over it? */
static bool was_anything(const watcher *w, const char *path)
{
	char head[AB_MAX_PATH];
	size_t n = strlen(path), i;

	if (n + 1 >= sizeof(head))
		return true;
	memcpy(head, path, n);
	memcpy(head + n, "/", 2);
	i = find_path(w, head);
	if (i < w->seen_count && init_is_path_below(w->seen[i].path, path))
		return true;
	for (char *slash = head + n; slash; slash = strrchr(head, '/')) {
		*slash = '\0';
		i = find_path(w, head);
		if (i < w->seen_count && !strcmp(w->seen[i].path, head))
			return true;
	}
	return false;
}

static void doubt(watcher *w, const char *path)
{
	w->failed++;
	init_tell(w->box, AB_EVENT_UNPROTECTED, path,
		  "it is not what stood there when the box began, and nobody "
		  "knows whether the host or the agent has made it");
}

bool init_doubt(watcher *w, const char *path)
{
	if (!was_anything(w, path))
		return false;
	doubt(w, path);
	return true;
}

/* Of several at one path, which it was one after the other, any is good. */
static void check_seen(watcher *w)
{
	for (size_t i = 0; i < w->seen_count; i++) {
		const char *path = w->seen[i].path;
		seen is;
		int r;

		if (w->seen[i].kind == SEEN_MOUNT ||
		    (i && !strcmp(w->seen[i - 1].path, path)))
			continue;
		r = init_see(w, path, &is);
		if (r == -EACCES) {
			ab_autofd int passable = init_open_parent(w, path);

			r = init_see(w, path, &is);
		}
		if (r && !init_is_nowhere(r))
			init_fail_path(w, path, -r);
		/* the look that follows finds those that patterns name */
		else if (r == 0 && !is_known(w, &is) &&
			 !init_is_protected(w, path))
			doubt(w, path);
	}
}

static void look(watcher *w)
{
	uint64_t found;
	unsigned passes = 0;

	check_seen(w);
	do {
		found = w->quarantined;
		init_begin_last_look(w);
		init_settle_names(w);
	} while (w->quarantined != found && !w->failed &&
		 ++passes < MAX_PASSES);
	if (passes == MAX_PASSES)
		init_fail_path(w, "", EAGAIN);
	if (w->is_covered)
		init_fail_path(w, w->covered_count ? w->covered[0] : "",
			       EBUSY);
}

/* Who started us may not wait any longer, or be gone. */
static bool is_alone(const init_box *box, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = box->control_fd, .events = POLLIN},
		{.fd = box->host_pidfd, .events = POLLIN},
	};

	return ab_fd_poll_many(fds, 2, timeout_ms) != 0;
}

/*
 * Whoever comes second waits, and finds the record gone. That of a holder that
 * lives is not ours: it has locked its quarantine.
 */
static int lock(const watcher *w, int fd)
{
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (is_alone(w->box, LOCK_POLL_MS))
			_exit(1);
	}
	return flock(w->quarantine_fd, LOCK_SH | LOCK_NB) ? -errno : 0;
}

/* Nobody of it plants any more while, or after, we look. */
static int await_death(init_box *box, const life *of)
{
	ab_autofd int fd = init_open_life(of);

	if (fd == -ESRCH)
		return 0;
	if (fd == -EXDEV)
		return init_fail(box, EXDEV, "it was killed in another pid "
				 "namespace, so nobody knows whether all of it "
				 "is gone", "processes");
	if (fd < 0)
		return init_fail(box, -fd, "", "processes");
	while (ab_fd_poll(fd, POLLIN, LOCK_POLL_MS) == 0) {
		if (is_alone(box, 0))
			_exit(1);
	}
	return 0;
}

static int open_directories(watcher *w)
{
	const ab_plan *p = &w->box->plan;

	w->quarantine_fd = ab_fd_lift(open(p->quarantine_host,
					   O_RDONLY | O_DIRECTORY |
						   O_NOFOLLOW | O_CLOEXEC));
	if (w->quarantine_fd < 0)
		return init_fail(w->box, errno, "", "quarantine %s",
				 p->quarantine_host);
	w->workspace_fd = init_open_host(p->workspace_host, p->workspace_dev,
					 p->workspace_ino);
	if (w->workspace_fd < 0)
		return init_fail(w->box, -w->workspace_fd, "", "workspace %s",
				 p->workspace_host);
	return 0;
}

/* -1: told; 0; 1: somebody else has done it. */
static int read_record(watcher *w)
{
	seen was = {.ino = 0}, top;
	struct stat st;
	life of;
	int fd = init_open_record(w), r;

	if (fd == -ENOENT)
		return 1;
	r = fd < 0 ? fd : lock(w, fd);
	if (r)
		return init_fail(w->box, -r, "", "record");
	/* it stays open, and locked */
	if (fstat(fd, &st) || !st.st_nlink)
		return 1;
	r = init_read_record(w, fd, &was, &of);
	if (r == 0)
		r = index_seen(w);
	if (r == -ENODATA)
		return init_fail(w->box, ENODATA,
				 "its record does not say what stood there "
				 "before", "record");
	if (r || init_see(w, "", &top))
		return init_fail(w->box, -r, "", "record");
	if (await_death(w->box, &of))
		return -1;
	/* the number of a device may change when a machine starts */
	if (top.ino != was.ino || top.made_ns != was.made_ns)
		return init_fail(w->box, ESTALE, "another directory is where "
				 "its workspace was", "workspace");
	return 0;
}

/* By a descriptor of each that is no O_PATH. */
static int sync_both(const watcher *w)
{
	ab_autofd int fd = openat(w->workspace_fd, ".",
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : ab_sys_syncfs(fd);

	return r ? r : ab_sys_syncfs(w->quarantine_fd);
}

static int settle(watcher *w)
{
	init_box *box = w->box;
	int r = open_directories(w);

	if (r == 0)
		r = read_record(w);
	if (r)
		return r < 0 ? r : 0;
	w->is_judging = w->is_last = w->is_rescan = true;
	if (init_prepare_look(w) || init_list_sealed(w))
		return init_fail(box, ENOMEM, "", "protect");
	look(w);
	if (w->failed)
		return init_fail(box, EBUSY, "some names could not be judged, "
				 "or not be moved away", "names");
	/* or they may be back when the machine loses its power now */
	if (w->quarantined)
		r = sync_both(w);
	if (r)
		return init_fail(box, -r, "", "sync");
	/* somebody has to hear of it */
	if (is_alone(box, 0))
		_exit(1);
	init_end_record(w, true);
	return 0;
}

_Noreturn void init_settle_left(init_box *box)
{
	static watcher w = INIT_WATCHER_NONE;
	int r;

	signal(SIGPIPE, SIG_IGN);
	w.box = box;
	/* it reads until we end */
	box->host_reads = true;
	r = settle(&w);
	if (r)
		init_send_failure(box, box->control_fd);
	else
		init_tell_looked(box);
	_exit(r != 0);
}
