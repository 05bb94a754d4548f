/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record that a box over a direct workspace runs, beside its quarantine:
 * written before the box is ready, removed when it has ended and all that
 * appeared was put right. So a holder that is killed, a disk that the agent
 * has filled, or a host that is gone can only leave it standing, and then the
 * next box over that workspace is not raised: its host would take what stands
 * there for his own (lib/walls/quarantine.c). Where the record cannot be
 * written there is no box.
 *
 * It forces nothing to the disk while a box is raised, which would take longer
 * than all the rest; only a record that stays is. Spec: wire/plan.h.
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define DIR_BESIDE "../" AB_UNSETTLED_DIR

static const char *name_of(const watcher *w)
{
	return strrchr(w->box->plan.quarantine_host, '/') + 1;
}

static int open_beside(int quarantine_fd)
{
	return ab_fd_lift(openat(quarantine_fd, DIR_BESIDE,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					 O_CLOEXEC));
}

static int open_record(const watcher *w, const char *name, int flags)
{
	return openat(w->unsettled_fd, name, flags | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

/* Whole, or not there: one that says nothing would be about every workspace. */
static int write_record(const watcher *w, const char *text)
{
	char beside[AB_MAX_NAME + sizeof(AB_UNBORN_RECORD)];
	ab_autofd int fd = -1;
	int r;

	if (snprintf(beside, sizeof(beside), AB_UNBORN_RECORD "%s",
		     name_of(w)) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = open_record(w, beside, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd < 0)
		return -errno;
	r = ab_fd_write_full(fd, text, strlen(text));
	if (r == 0 && renameat(w->unsettled_fd, beside, w->unsettled_fd,
			       name_of(w)))
		r = -errno;
	if (r)
		(void)unlinkat(w->unsettled_fd, beside, 0);
	return r;
}

int init_begin_record(watcher *w)
{
	const ab_plan *p = &w->box->plan;
	char text[AB_MAX_PATH + 64];

	w->unsettled_fd = open_beside(w->quarantine_fd);
	if (w->unsettled_fd < 0 && errno == ENOENT) {
		(void)mkdirat(w->quarantine_fd, DIR_BESIDE, 0700);
		w->unsettled_fd = open_beside(w->quarantine_fd);
	}
	if (w->unsettled_fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "%llu %llu %s",
		 (unsigned long long)p->workspace_dev,
		 (unsigned long long)p->workspace_ino, p->workspace_host);
	return write_record(w, text);
}

void init_end_record(const watcher *w, bool is_settled)
{
	ab_autofd int fd = -1;

	if (w->unsettled_fd < 0)
		return;
	if (is_settled) {
		(void)unlinkat(w->unsettled_fd, name_of(w), 0);
		return;
	}
	fd = open_record(w, name_of(w), O_RDONLY);
	if (fd >= 0)
		(void)fsync(fd);
	(void)fsync(w->unsettled_fd);
}
