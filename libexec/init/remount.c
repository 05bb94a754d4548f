/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binds that the host has detached. When the host renames a file over a
 * protected one, or removes it, the kernel silently drops the box's mount on
 * it (since 3.18). The mount table of PID 1 tells; a child of the holder then
 * enters the box's user and mount namespaces, but not its pid namespace, so
 * the agent never sees it, and binds what is there now.
 * Spec: RECIPES.md sections 4 and 8p, proc(5) mountinfo, setns(2).
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

#define MAX_TABLE (16u << 20)

static void send_event(const watcher *w, uint32_t kind, const guarded *g,
		       const char *detail)
{
	init_send_event(w->box->control_fd, AB_MSG_EVENT, kind,
			g->rest ? g->rest : g->target, detail);
}

/* \040 and the like, in place. proc(5). */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 +
				       (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static void mark_mounted(watcher *w, const char *point)
{
	for (size_t i = 0; i < w->guarded_count; i++) {
		if (!strcmp(w->guarded[i].target, point))
			w->guarded[i].is_mounted = true;
	}
}

/* The fifth field of each line is the mount point. */
static void read_table(watcher *w, char *table)
{
	char *save = NULL;

	for (size_t i = 0; i < w->guarded_count; i++)
		w->guarded[i].is_mounted = false;
	for (char *line = strtok_r(table, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *at = line, *end;

		for (int i = 0; i < 4 && at; i++) {
			at = strchr(at, ' ');
			at = at ? at + 1 : NULL;
		}
		end = at ? strchr(at, ' ') : NULL;
		if (!end)
			continue;
		*end = '\0';
		unescape(at);
		mark_mounted(w, at);
	}
}

/* In a child: one result per missing bind, in the order of the plan. */
static _Noreturn void rebind(const watcher *w, int result_fd)
{
	ab_autofd int root = -1;
	int r = 0;

	if (setns(w->namespace_fds[0], CLONE_NEWUSER) ||
	    setns(w->namespace_fds[1], CLONE_NEWNS))
		r = -errno;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 && r == 0)
		r = -errno;
	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];
		int one = r;

		if (g->is_mounted || g->is_gone)
			continue;
		if (one == 0)
			one = init_bind_self(root, g->target + 1, g->flags);
		if (ab_fd_write_full(result_fd, &one, sizeof(one)))
			_exit(1);
	}
	_exit(0);
}

static void judge(watcher *w, guarded *g, int r)
{
	if (r == 0) {
		w->reprotected++;
		send_event(w, AB_EVENT_REPROTECTED, g, "bound again");
	} else if (r == -ENOENT || r == -ENOTDIR) {
		/* from now on it is a name that must not appear */
		g->is_gone = true;
		w->reprotected++;
		send_event(w, AB_EVENT_REPROTECTED, g,
			   "it was removed on the host");
	} else {
		w->failed++;
		send_event(w, AB_EVENT_UNPROTECTED, g, strerror(-r));
	}
}

static void rebind_missing(watcher *w)
{
	int pair[2];
	pid_t pid = -1;

	if (pipe2(pair, O_CLOEXEC) == 0) {
		pid = ab_sys_clone(SIGCHLD);
		if (pid == 0)
			rebind(w, pair[1]);
		close(pair[1]);
	} else {
		pair[0] = -1;
	}
	for (size_t i = 0; i < w->guarded_count; i++) {
		guarded *g = &w->guarded[i];
		int r = -EIO;

		if (g->is_mounted || g->is_gone)
			continue;
		if (pid > 0 &&
		    ab_fd_read_full(pair[0], &r, sizeof(r)) != sizeof(r))
			r = -EIO;
		judge(w, g, r);
	}
	ab_cleanup_fd(&pair[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void init_check_mounts(watcher *w)
{
	ab_autofree char *table = NULL;
	size_t n = 0;
	bool missing = false;

	if (!w->guarded_count)
		return;
	if (lseek(w->box->mountinfo_fd, 0, SEEK_SET) < 0 ||
	    ab_fd_slurp(w->box->mountinfo_fd, MAX_TABLE, &table, &n)) {
		w->failed++;
		send_event(w, AB_EVENT_UNPROTECTED, &w->guarded[0],
			   "the mount table cannot be read");
		return;
	}
	read_table(w, table);
	for (size_t i = 0; i < w->guarded_count; i++)
		missing |= !w->guarded[i].is_mounted && !w->guarded[i].is_gone;
	if (missing)
		rebind_missing(w);
}
