/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The directories of a reader (lib/walls/share.c makes them): `shared`, which
 * its box shows, and beside it what no box shows, `staging` and `records`.
 * Everything below is opened from the state directory without links.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "peering/internal.h"
#include "walls/walls.h"

/* How long a copy may be at its last step, two renames. */
#define TURN_MS 2000
#define TURN_STEP_MS 5

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int open_dir(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, DIR_FLAGS);

	return fd < 0 ? -errno : ab_fd_lift(fd);
}

/*
 * A child that this process forked meanwhile has the lock's descriptor too: to
 * close ours would not give it back, see flock(2).
 */
static void give_back(int *fd)
{
	if (*fd >= 0)
		(void)flock(*fd, LOCK_UN);
	ab_cleanup_fd(fd);
}

void ab_places_unlock(ab_places *p)
{
	if (p->lock_pid == getpid())
		give_back(&p->lock);
	else
		ab_cleanup_fd(&p->lock);
	p->lock = -1;
}

void ab_places_end(ab_places *p)
{
	ab_places_unlock(p);
	ab_cleanup_fd(&p->records);
	ab_cleanup_fd(&p->staging);
	ab_cleanup_fd(&p->shown);
	ab_cleanup_fd(&p->dir);
	*p = (ab_places)AB_PLACES_NONE;
}

int32_t ab_places_open(agentbox_peering *peering, const char *reader,
		       ab_places *out, agentbox_error **err)
{
	ab_autofd int state = -1;
	ab_autofd int boxes = -1;
	ab_places p = AB_PLACES_NONE;

	p.turn_until = peering->turn_until;
	int32_t rc = ab_context_open_state(peering->context, &state, err);
	if (rc < 0)
		return rc;
	boxes = open_dir(state, "boxes");
	if (boxes >= 0)
		p.dir = open_dir(boxes, reader);
	if (p.dir >= 0) {
		p.shown = open_dir(p.dir, AB_SHARE_SHOWN);
		p.staging = open_dir(p.dir, AB_SHARE_STAGING);
		p.records = open_dir(p.dir, AB_SHARE_RECORDS);
	}
	int first = boxes < 0 ? boxes : p.dir < 0 ? p.dir :
		    p.shown < 0 ? p.shown : p.staging < 0 ? p.staging :
		    p.records;
	if (first < 0) {
		ab_places_end(&p);
		return ab_error_sys_code(err, first == -ENOENT ?
					 AGENTBOX_ECLOSED : AGENTBOX_ESYS,
					 -first, "reader",
					 "box %s has no place for what peers "
					 "share", reader);
	}
	*out = p;
	return 0;
}

int32_t ab_places_lock(ab_places *places, const char *name,
		       agentbox_error **err)
{
	char file[AB_PEER_NAME_MAX + 16];

	snprintf(file, sizeof(file), ".%s.lock", name);
	int fd = ab_fd_lift(openat(places->records, file,
				   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
				   0600));
	if (fd < 0)
		return ab_error_sys(err, errno, "records",
				    "cannot make '%s'", file);
	/* whatever the umask was, the next host opens it, too */
	(void)fchmod(fd, 0600);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return ab_error_set(err, AGENTBOX_EBUSY, "grant",
				    "another job is at '%s' of this reader",
				    name);
	}
	places->lock = fd;
	places->lock_pid = getpid();
	return 0;
}

void ab_revoked_name(const char *grant, char out[AB_REVOKED_SIZE])
{
	snprintf(out, AB_REVOKED_SIZE, AB_REVOKED_PREFIX "%s", grant);
}

/*
 * A copy that was told to publish has this lock while it does, and looks
 * before whether its host lives (copy_make()). A host that lives has the
 * store's meanwhile; one that died may have left such a copy, which would give
 * the name back after us. No box sees this directory: who reads cannot hold us
 * up. A sweep waits once for all copies that it meets: those that hang make
 * nobody wait longer.
 */
static int take_turn(const ab_places *places)
{
	uint64_t own = 0;
	uint64_t *until = places->turn_until ? places->turn_until : &own;
	int fd = open_dir(places->records, ".");

	if (fd < 0)
		return fd;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int error = errno;

		if (*until == 0)
			*until = ab_clock_deadline(TURN_MS);
		if (error == EWOULDBLOCK && ab_clock_left_ms(*until) > 0) {
			(void)ab_fd_poll(-1, 0, TURN_STEP_MS);
			continue;
		}
		close(fd);
		return error == EWOULDBLOCK ? -EBUSY : -error;
	}
	return fd;
}

int ab_places_hide(const ab_places *places, const char *name,
		   const char *grant)
{
	__attribute__((cleanup(give_back))) int turn = take_turn(places);
	char to[AB_REVOKED_SIZE];

	if (turn < 0)
		return turn;
	ab_revoked_name(grant, to);
	/* who moves a directory to another parent must be able to write it */
	if (fchmodat(places->shown, name, 0755, 0) == 0 &&
	    renameat(places->shown, name, places->staging, to) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

int32_t ab_places_not_hidden(int r, const char *name, const char *reader,
			     agentbox_error **err)
{
	return ab_error_sys_code(err, r == -EBUSY ? AGENTBOX_EBUSY
						  : AGENTBOX_ESYS, -r,
				 "reader", "cannot take '%s' from box %s%s",
				 name, reader,
				 r == -EBUSY ? ": a copy whose host is gone is "
					       "at its last step; try again"
					     : "");
}

void ab_places_forget(const ab_places *places, const char *name)
{
	char lock[AB_PEER_NAME_MAX + 16];

	snprintf(lock, sizeof(lock), ".%s.lock", name);
	unlinkat(places->records, name, 0);
	unlinkat(places->records, lock, 0);
}
