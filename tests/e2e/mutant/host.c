/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host, and who is in the box, do at one moment of the holder's that
 * no test meets by waiting for it: the holder does it itself. No wall is left
 * out; mutant.c has the others.
 */
#include "config.h"

#include "watcher.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "mutant.h"

int __real_init_open_mountinfo(const watcher *w);
int __wrap_init_open_mountinfo(const watcher *w);
void __real_init_settle_last(holder *h, bool is_empty);
void __wrap_init_settle_last(holder *h, bool is_empty);

/* What is there has no mount of the box's any more. */
static void replace(const watcher *w, const char *by)
{
	const ab_plan *p = &w->box->plan;
	char path[2 * AB_MAX_PATH];
	ab_autofd int fd = -1;

	snprintf(path, sizeof(path), "%s/.git/config", p->workspace_host);
	if (unlink(path) || !by)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	(void)dprintf(fd, "%s\n", by);
}

/* What leads to it is a link now, and it is elsewhere with its mount. */
static void lead_elsewhere(const watcher *w)
{
	const char *top = w->box->plan.workspace_host;
	char path[2 * AB_MAX_PATH], aside[2 * AB_MAX_PATH];

	snprintf(path, sizeof(path), "%s/.git", top);
	snprintf(aside, sizeof(aside), "%s/aside", top);
	if (rename(path, aside) == 0)
		(void)!symlink("evil", path);
}

/* All mounts are made, and nobody looks at them yet. */
int __wrap_init_open_mountinfo(const watcher *w)
{
	static bool was_replaced;

	if (lacks("removed-at-the-start"))
		replace(w, NULL);
	/* it is opened twice, for the host and for the holder */
	if (lacks("replaced-at-the-start") && !was_replaced) {
		was_replaced = true;
		replace(w, "#mine");
	}
	return __real_init_open_mountinfo(w);
}

/* Nobody is there any more who did it. */
void __wrap_init_settle_last(holder *h, bool is_empty)
{
	if (lacks("replaced-at-the-end") && h->watcher)
		replace(h->watcher, "evil");
	if (lacks("linked-at-the-end") && h->watcher)
		lead_elsewhere(h->watcher);
	__real_init_settle_last(h, is_empty);
}
