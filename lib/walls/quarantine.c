/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a protected name that appears is moved: a directory of the box's own
 * below the state directory. Whoever raises a box also takes away such
 * directories that killed hosts have left, when they are empty, and raises
 * none over a workspace in which protected names of an agent may stand that
 * nobody was told of, since the record of an earlier box is still there and
 * its holder is not: the plan would take them for the host's own and protect
 * them. It says of which box, for who wants to put that right first (left.c).
 *
 * It removes nothing that was moved there: only the user knows whether it is
 * of worth, or a proof. Spec: wire/plan.h AB_UNSETTLED_DIR, flock(2),
 * agentbox_sandbox(3).
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "walls/internal.h"
#include "walls/protect.h"

/* Between the making of one and its holder's lock there is a box's start. */
#define OLD_SECONDS 3600
/* Full ones stay, and each box's start looks at no more of all. */
#define LOOKS 64

static bool is_entry(const struct dirent *e)
{
	return strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
	       strcmp(e->d_name, AB_UNSETTLED_DIR);
}

/* Who cannot look must not take it for dead, nor for one that lives. */
typedef enum held { HELD_NO, HELD_YES, HELD_UNKNOWN } held;

/* Its holder has it locked for itself. Whoever looks shares the lock, or two
   who look at the same time would take each other for the holder. */
static held is_held(int all_fd, const char *name)
{
	ab_autofd int fd = ab_fd_lift(openat(all_fd, name,
					     O_RDONLY | O_DIRECTORY |
						     O_NOFOLLOW | O_CLOEXEC));

	if (fd < 0)
		return fd == -1 && errno == ENOENT ? HELD_NO : HELD_UNKNOWN;
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		return HELD_NO;
	return errno == EWOULDBLOCK ? HELD_YES : HELD_UNKNOWN;
}

/* Nobody's, and empty. */
static void sweep_one(int all_fd, const char *name, time_t now)
{
	struct stat st;

	if (fstatat(all_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISDIR(st.st_mode) || now - st.st_mtime < OLD_SECONDS)
		return;
	if (is_held(all_fd, name) == HELD_NO)
		(void)unlinkat(all_fd, name, AT_REMOVEDIR);
}

/* From another one each time, where there are more than are looked at. */
static void sweep(int all_fd)
{
	DIR *dir = ab_fd_open_list(all_fd, ".");
	struct timespec now = { 0 };
	unsigned long count = 0, skip = 0;
	struct dirent *e;

	while (dir && (e = ab_fd_next(dir, NULL)))
		count += is_entry(e);
	clock_gettime(CLOCK_REALTIME, &now);
	if (count > LOOKS)
		skip = (unsigned long)now.tv_nsec % count;
	if (dir)
		rewinddir(dir);
	for (unsigned looks = 0;
	     dir && looks < LOOKS && (e = ab_fd_next(dir, NULL));) {
		if (!is_entry(e) || (skip && skip--))
			continue;
		sweep_one(all_fd, e->d_name, now.tv_sec);
		looks++;
	}
	if (dir)
		closedir(dir);
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = dir[1] ? strlen(dir) : 0; /* of "/" nothing is compared */

	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

/* A record's first line, or what a box is over. */
typedef struct place {
	uint64_t dev, ino;
	const char *path;
} place;

/* Whose workspace a record is about. What does not say may mean any. */
typedef enum whose { WHOSE_OTHER, WHOSE_OURS, WHOSE_UNSAID } whose;

/* "DEV INO PATH" */
static bool parse(const char *text, place *out)
{
	char *end, *path;

	errno = 0;
	out->dev = strtoull(text, &end, 10);
	out->ino = strtoull(end, &path, 10);
	if (errno || *end != ' ' || path == end || path[0] != ' ' ||
	    path[1] != '/')
		return false;
	out->path = path + 1;
	return true;
}

/* Ours is this one, and what has to do with it. */
static bool is_ours(const place *ours, const place *of)
{
	return (of->dev == ours->dev && of->ino == ours->ino) ||
	       is_below(of->path, ours->path) || is_below(ours->path, of->path);
}

typedef struct said {
	char text[AB_MAX_PATH + 64];
	place of;
} said;

static whose read_whose(const place *ours, int dir_fd, const char *name,
			said *out)
{
	ab_autofd int fd = ab_fd_lift(openat(dir_fd, name,
					     O_RDONLY | O_NOFOLLOW |
						     O_NONBLOCK | O_CLOEXEC));
	ssize_t n;

	/* taken away meanwhile, by whoever has looked */
	if (fd == -1 && errno == ENOENT)
		return WHOSE_OTHER;
	n = fd < 0 ? -1 : ab_fd_read_full(fd, out->text, sizeof(out->text) - 1);
	if (n <= 0)
		return WHOSE_UNSAID;
	out->text[n] = '\0';
	if (!parse(out->text, &out->of))
		return WHOSE_UNSAID;
	return is_ours(ours, &out->of) ? WHOSE_OURS : WHOSE_OTHER;
}

/* A holder that lives sees to it, and removes its record before it is gone. */
static bool stands(int all_fd, int dir_fd, const char *name)
{
	return is_held(all_fd, name) != HELD_YES &&
	       (faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		errno != ENOENT);
}

static int32_t refuse_unsaid(const ab_build *b, const char *name,
			     agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_EWALL, "protect",
			    "protected names that box %.80s made may stand in "
			    "some workspace, and its record is empty, torn or "
			    "cannot be read, so nobody knows in which; look "
			    "for them where it ran, which an audit log tells, "
			    "then remove '%s/quarantine/" AB_UNSETTLED_DIR
			    "/%.80s'", name,
			    ab_context_state_dir(b->context), name);
}

/*
 * Why nobody can look at a place: somebody may be there. False: nobody is. Of
 * whom nobody can say it, and where the list breaks off, somebody is.
 */
static bool is_occupied(int all_fd, DIR *dir, const place *over, char *why,
			size_t size)
{
	struct dirent *e;
	int error = 0;

	rewinddir(dir);
	while ((e = ab_fd_next(dir, &error))) {
		said other;

		if (is_held(all_fd, e->d_name) == HELD_NO ||
		    read_whose(over, dirfd(dir), e->d_name, &other) ==
			    WHOSE_OTHER)
			continue;
		snprintf(why, size, "it was killed, and before anybody can "
			 "look, box %.80s must have ended", e->d_name);
		return true;
	}
	if (error)
		snprintf(why, size, "it was killed, and the records of those "
			 "that live cannot be listed");
	return error != 0;
}

static bool is_id(const char *name)
{
	return strlen(name) == AB_ID_SIZE - 1 &&
	       strspn(name, "0123456789abcdef") == AB_ID_SIZE - 1;
}

/*
 * Can it be put right? Not while somebody else's agent is there, who moves
 * things about; nor where nothing is at that path any more.
 */
static int32_t refuse(const ab_build *b, int all_fd, DIR *dir,
		      const char *id, const said *r, agentbox_error **err)
{
	const place ours = { b->plan.workspace_dev, b->plan.workspace_ino,
			     b->plan.workspace_host };
	bool is_here = r->of.dev == ours.dev && r->of.ino == ours.ino;
	ab_left left = { .dev = ours.dev, .ino = ours.ino };
	char why[200];
	struct stat st;
	int n = snprintf(left.workspace, sizeof(left.workspace), "%s",
			 is_here ? ours.path : r->of.path);

	snprintf(left.id, sizeof(left.id), "%.32s", id);
	if (!is_id(id) || n < 0 || (size_t)n >= sizeof(left.workspace))
		return ab_left_refuse(b->context, &left, "it was killed, or "
				      "they could not be moved away", err);
	if (!is_here && lstat(r->of.path, &st) < 0)
		return ab_left_refuse(b->context, &left, "it was killed, and "
				      "nothing is at that path any more", err);
	if (!is_here) {
		left.dev = st.st_dev;
		left.ino = st.st_ino;
	}
	if (is_occupied(all_fd, dir, &r->of, why, sizeof(why)))
		return ab_left_refuse(b->context, &left, why, err);
	if (b->input->left)
		*b->input->left = left;
	return ab_left_refuse(b->context, &left, "it was killed", err);
}

/*
 * One whose holder has not written it to its end: it has no box yet. That of a
 * holder that was killed just then never gets one.
 */
static bool is_unborn(int all_fd, int dir_fd, const char *name)
{
	if (strncmp(name, AB_UNBORN_RECORD, strlen(AB_UNBORN_RECORD)))
		return false;
	if (is_held(all_fd, name + strlen(AB_UNBORN_RECORD)) == HELD_NO)
		(void)unlinkat(dir_fd, name, 0);
	return true;
}

static int32_t check_settled(const ab_build *b, int all_fd,
			     agentbox_error **err)
{
	const place ours = { b->plan.workspace_dev, b->plan.workspace_ino,
			     b->plan.workspace_host };
	DIR *dir = ab_fd_open_list(all_fd, AB_UNSETTLED_DIR);
	struct dirent *e;
	said r;
	int32_t rc = 0;
	int error = 0;

	if (!dir && errno != ENOENT)
		return ab_error_sys(err, errno, "quarantine",
				    "cannot open 'quarantine/" AB_UNSETTLED_DIR
				    "' in the state directory");
	while (dir && rc == 0 && (e = ab_fd_next(dir, &error))) {
		if (!is_entry(e) || is_unborn(all_fd, dirfd(dir), e->d_name))
			continue;
		whose about = read_whose(&ours, dirfd(dir), e->d_name, &r);
		if (about == WHOSE_OTHER ||
		    !stands(all_fd, dirfd(dir), e->d_name))
			continue;
		char name[AB_MAX_NAME + 1];

		snprintf(name, sizeof(name), "%s", e->d_name);
		rc = about == WHOSE_OURS ? refuse(b, all_fd, dir, name, &r, err)
					 : refuse_unsaid(b, name, err);
	}
	if (dir)
		closedir(dir);
	if (rc == 0 && error)
		rc = ab_error_sys(err, error, "quarantine",
				  "cannot list 'quarantine/" AB_UNSETTLED_DIR
				  "' in the state directory");
	return rc;
}

/* init takes no path through a link */
static int32_t open_all(const ab_build *b, int *all_fd, agentbox_error **err)
{
	const char *state = ab_context_state_dir(b->context);
	ab_autofd int state_fd = -1;
	int32_t rc = ab_context_open_state(b->context, &state_fd, err);

	if (rc)
		return rc;
	if (mkdirat(state_fd, "quarantine", 0700) < 0 && errno != EEXIST)
		return ab_error_sys(err, errno, "quarantine",
				    "cannot make '%s/quarantine'", state);
	*all_fd = ab_fd_lift(openat(state_fd, "quarantine",
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					    O_CLOEXEC));
	if (*all_fd < 0)
		return ab_error_sys(err, errno, "quarantine",
				    "cannot open '%s/quarantine'", state);
	return 0;
}

int32_t ab_quarantine_check(const ab_build *b, agentbox_error **err)
{
	ab_autofd int all_fd = -1;
	int32_t rc;

	if (b->workspace.fd < 0 || b->input->dry ||
	    (!b->policy->protect_count && !ab_protect_has_role(b->policy)) ||
	    !ab_context_state_dir(b->context))
		return 0;
	rc = open_all(b, &all_fd, err);
	return rc ? rc : check_settled(b, all_fd, err);
}

int32_t ab_quarantine_make(ab_build *b, agentbox_error **err)
{
	const char *state = ab_context_state_dir(b->context);
	ab_autofree char *path = NULL, *record = NULL;
	ab_autofd int all_fd = -1;
	int32_t rc;

	b->plan.quarantine_host = "";
	if (b->plan.watch_count == 0)
		return 0;
	if (b->plan.watch_count > AB_MAX_PROTECTED)
		return ab_error_set(err, AGENTBOX_ELIMIT, "protect",
				    "more than %d protected names to watch "
				    "(bound AB_MAX_PROTECTED)",
				    AB_MAX_PROTECTED);
	if (!state && b->input->dry) {
		ab_build_note(b, "a state directory is needed to raise this");
		return 0;
	}
	if (!state)
		return ab_error_set(err, AGENTBOX_EWALL, "protect",
				    "a protected name that appears in the "
				    "workspace must be moved away, and there "
				    "is no place: set a state directory");
	path = ab_asprintf("%s/quarantine/%s", state, b->input->box_id);
	record = ab_asprintf("%s/quarantine/" AB_UNSETTLED_DIR "/%s", state,
			     b->input->box_id);
	if (!path || !record)
		return ab_error_nomem(err);
	b->plan.quarantine_host = ab_build_str(b, path);
	if (b->input->dry)
		return 0;
	rc = open_all(b, &all_fd, err);
	/* one may have been killed since */
	if (rc == 0)
		rc = check_settled(b, all_fd, err);
	if (rc)
		return rc;
	sweep(all_fd);
	if (mkdirat(all_fd, b->input->box_id, 0700) < 0)
		return ab_error_sys(err, errno, "quarantine",
				    "cannot make '%s'", path);
	b->out->quarantine = ab_steal(&path);
	b->out->record = ab_steal(&record);
	return 0;
}
