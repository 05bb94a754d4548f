/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "init_neighbours.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"

neighbours around;

uint64_t ab_clock_boot_ns(void)
{
	return around.now_ns += around.tick_ns;
}

bool init_agent_is_absent(const watcher *w)
{
	(void)w;
	return !around.is_agent_there;
}

void init_tell(init_box *box, uint32_t kind, const char *object,
	       const char *detail)
{
	(void)box;
	snprintf(around.told, sizeof(around.told), "%u %s %.200s", kind,
		 object, detail);
	around.told_cut += kind == AB_EVENT_UNPROTECTED && !object[0] &&
			   !strcmp(detail, strerror(EAGAIN));
}

bool init_tell_lost(init_box *box)
{
	/* whoever asks for the last time waits for a host that reads */
	ck_assert(box->host_reads);
	return around.is_heard;
}

void init_tell_looked(init_box *box)
{
	(void)box;
	/* it would remove one that is written again */
	ck_assert(around.is_recorded);
	around.is_looked = true;
}

int init_begin_record(watcher *w)
{
	(void)w;
	around.is_recorded = true;
	return 0;
}

void init_add_to_record(watcher *w, const guarded *g)
{
	(void)w;
	(void)g;
}

void init_end_record(const watcher *w, bool is_settled)
{
	(void)w;
	around.is_recorded = !is_settled;
}

int init_open_beneath(int dirfd, const char *path, int flags)
{
	int fd;

	if (around.open_error)
		return around.open_error;
	fd = openat(dirfd, path, O_PATH | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

int init_open_parent(watcher *w, const char *path)
{
	(void)path;
	around.is_parent_asked = true;
	if (around.open_error == -EACCES)
		around.open_error = 0;
	return ab_fd_dup(w->workspace_fd);
}

void init_look_soon(watcher *w)
{
	(void)w;
}
