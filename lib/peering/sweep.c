/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of what boxes and hosts that are gone have left, when a handle is
 * made. A reader is alive while its directory is locked (lib/walls/share.c), a
 * source while its owner's process lives. A reader that cannot be looked
 * through stops nobody else; to it nothing is granted until it can, for it may
 * read what nobody granted. Without the store nothing goes on.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "peering/internal.h"
#include "walls/walls.h"

/* Younger directories may not be locked yet by the box that makes them. */
#define SWEEP_AGE_S 10

static int open_box(int boxes, const char *id)
{
	return ab_fd_lift(openat(boxes, id, O_RDONLY | O_DIRECTORY |
				 O_NOFOLLOW | O_CLOEXEC));
}

/* The lock of a box that is gone can be had. */
static bool is_gone(int boxes, const char *id)
{
	struct stat st;
	ab_autofd int fd = open_box(boxes, id);

	return fd >= 0 && fstat(fd, &st) == 0 &&
	       (uint64_t)st.st_ctim.tv_sec + SWEEP_AGE_S <
		       ab_clock_real_ns() / 1000000000 &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Locks of names that are gone: a refresh may come after its revoke. */
static void empty_records(int dir)
{
	DIR *records = ab_fd_open_list(dir, AB_SHARE_RECORDS);

	for (struct dirent *e; records && (e = ab_fd_next(records, NULL));)
		unlinkat(dirfd(records), e->d_name, 0);
	if (records)
		closedir(records);
}

/* Of a box that is gone, with nothing granted. Is there nothing left? */
static bool remove_dirs(int boxes, const char *id)
{
	ab_autofd int dir = open_box(boxes, id);

	if (dir < 0)
		return errno == ENOENT;
	if (unlinkat(dir, AB_SHARE_STAGING, AT_REMOVEDIR) && errno != ENOENT)
		return false;
	empty_records(dir);
	return unlinkat(dir, AB_SHARE_RECORDS, AT_REMOVEDIR) == 0 &&
	       unlinkat(dir, AB_SHARE_SHOWN, AT_REMOVEDIR) == 0 &&
	       unlinkat(boxes, id, AT_REMOVEDIR) == 0;
}

/* Of a box that is gone: its parts lead to what is left in one of them. */
static void make_dirs(int boxes, const char *id)
{
	ab_autofd int dir = open_box(boxes, id);

	if (dir < 0)
		return;
	(void)mkdirat(dir, AB_SHARE_SHOWN, 0700);
	(void)mkdirat(dir, AB_SHARE_STAGING, 0700);
	(void)mkdirat(dir, AB_SHARE_RECORDS, 0700);
}

/* One reader, whose directories are open. */
typedef struct swept {
	agentbox_peering *peering;
	const char *id;
	ab_places places;
	bool is_left; /* something could not be ended yet */
} swept;

/*
 * What a copy holds that a host which died has left stops nothing else: it is
 * passed over, and tried again. Where others hold the store nothing goes on.
 */
static int32_t pass_over(int32_t rc, agentbox_error **error, bool *is_left,
			 agentbox_error **err)
{
	if (rc == 0)
		return 0;
	if (rc != AGENTBOX_EBUSY ||
	    strcmp(agentbox_error_get_where(*error), AB_STORE_NAME) == 0)
		return ab_error_move(err, error);
	*is_left = true;
	agentbox_error_free(*error);
	*error = NULL;
	return 0;
}

/*
 * What is wrong with one reader, whose directories may be broken or another's.
 * The store, the context and the memory are everybody's.
 */
static int32_t pass_over_reader(agentbox_peering *p, int32_t rc,
				agentbox_error **error, agentbox_error **err)
{
	if (rc == 0)
		return 0;
	if ((rc != AGENTBOX_ESYS && rc != AGENTBOX_EBUSY) ||
	    strcmp(agentbox_error_get_where(*error), AB_STORE_NAME) == 0)
		return ab_error_move(err, error);
	p->is_unswept = true;
	agentbox_error_free(*error);
	*error = NULL;
	return 0;
}

typedef int32_t visit_entry(swept *s, const char *name, agentbox_error **err);

/* Every entry of one of its directories; what: as in "cannot list WHAT". */
static int32_t visit_all(swept *s, int fd, const char *what, visit_entry *visit,
			 agentbox_error **err)
{
	DIR *dir = ab_fd_open_list(fd, ".");
	int error = dir ? 0 : errno;
	struct dirent *e;
	int32_t rc = 0;

	while (dir && rc == 0 && (e = ab_fd_next(dir, &error))) {
		agentbox_error *busy = NULL;

		rc = visit(s, e->d_name, &busy);
		rc = pass_over(rc, &busy, &s->is_left, err);
	}
	if (dir)
		closedir(dir);
	return rc < 0 || !error ? rc :
	       ab_error_sys(err, error, "reader", "cannot list %s box %s", what,
			    s->id);
}

/*
 * Under the name's lock: no job is at it. Its record and the generation before
 * are end_name()'s, which finds them by the lock's file.
 */
static int32_t hide_unless_live(const swept *s, const char *name,
				agentbox_error **err)
{
	ab_store *store = s->peering->store;
	char id[AB_ID_SIZE];
	bool is_live = false;
	int32_t rc = ab_grant_is_live(store, s->id, name, &is_live, err);

	if (rc < 0 || is_live)
		return rc;
	rc = ab_grant_give_up(store, s->id, name, err);
	if (rc < 0)
		return rc;
	int r = ab_id_new(id);
	if (r == 0)
		r = ab_places_hide(&s->places, name, id);
	return r < 0 ? ab_places_not_hidden(r, name, s->id, err) : 0;
}

/*
 * Nobody is granted what the store does not know, because it was lost, or
 * because the host died between publishing a grant and recording it. A name
 * whose lock is taken belongs to a job; one that is live is not locked here,
 * or a job would find it busy.
 */
static int32_t hide_stray(swept *s, const char *name, agentbox_error **err)
{
	agentbox_error *error = NULL;
	bool is_live = false;
	int32_t rc;

	if (name[0] == '.' || strlen(name) > AB_PEER_NAME_MAX)
		return 0;
	rc = ab_grant_is_live(s->peering->store, s->id, name, &is_live, err);
	if (rc < 0 || is_live)
		return rc;
	rc = ab_places_lock(&s->places, name, &error);
	if (rc == AGENTBOX_EBUSY) {
		agentbox_error_free(error);
		return 0;
	}
	if (rc < 0)
		return ab_error_move(err, &error);
	rc = hide_unless_live(s, name, err);
	ab_places_unlock(&s->places);
	return rc;
}

/* Rows of a host that died before there was a name. */
static int32_t end_making(swept *s, agentbox_error **err)
{
	ab_auto(json_t) *names = NULL;
	json_t *v;
	size_t i;

	int32_t rc = ab_grant_making(s->peering->store, s->id, &names, err);
	if (rc < 0)
		return rc;
	json_array_foreach(names, i, v) {
		agentbox_error *busy = NULL;

		rc = hide_stray(s, json_string_value(v), &busy);
		rc = pass_over(rc, &busy, &s->is_left, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * A name that was taken away is revoked, also when whoever took it died before
 * the store knew; who is at that just now has the store's lock.
 */
static int32_t end_revoked(swept *s, const char *name, agentbox_error **err)
{
	const size_t prefix = strlen(AB_REVOKED_PREFIX);
	agentbox_error *error = NULL;
	int32_t told, rc;

	if (strncmp(name, AB_REVOKED_PREFIX, prefix) != 0)
		return 0;
	told = ab_grant_revoke(s->peering->store, name + prefix,
			       "its revoke was cut short", &error);
	rc = ab_places_scrub(s->peering, &s->places, name, NULL, err);
	if (rc == 0 && told < 0 && told != AGENTBOX_ENOTFOUND)
		return ab_error_move(err, &error);
	agentbox_error_free(error);
	return rc;
}

/* "code" of ".code.lock", or false. */
static bool name_of_lock(const char *file, char name[AB_PEER_NAME_MAX + 1])
{
	static const char suffix[] = ".lock";
	size_t n = strlen(file), end = sizeof(suffix) - 1;

	if (file[0] != '.' || n <= end + 1 || n - end - 1 > AB_PEER_NAME_MAX ||
	    strcmp(file + n - end, suffix) != 0)
		return false;
	memcpy(name, file + 1, n - end - 1);
	name[n - end - 1] = '\0';
	return true;
}

/*
 * A name that was granted, and is not: what a revoke leaves for its end, the
 * generation before the last and the record, goes with it. Its lock's file is
 * there until it has ended.
 */
static int32_t end_name(swept *s, const char *file, agentbox_error **err)
{
	ab_store *store = s->peering->store;
	char name[AB_PEER_NAME_MAX + 1];
	bool is_named = true;
	int32_t rc;

	if (!name_of_lock(file, name))
		return 0;
	rc = ab_grant_is_named(store, s->id, name, &is_named, err);
	if (rc < 0 || is_named || ab_places_lock(&s->places, name, NULL) < 0)
		return rc;
	rc = ab_grant_is_named(store, s->id, name, &is_named, err);
	if (rc == 0 && !is_named)
		rc = ab_places_scrub(s->peering, &s->places, AB_REVOKED_PREFIX,
				     name, err);
	if (rc == 0 && !is_named)
		ab_places_forget(&s->places, name);
	ab_places_unlock(&s->places);
	return rc;
}

/*
 * What a copy has staged that outlived its host, and then did not end by
 * itself, is nobody's any more: each job on the directory clears that away.
 * Later copies to the reader do that, and of one that is gone there are none.
 */
static int32_t end_staged(swept *s, agentbox_error **err)
{
	DIR *dir = ab_fd_open_list(s->places.staging, ".");
	bool has_entry = dir && ab_fd_next(dir, NULL);

	if (dir)
		closedir(dir);
	return has_entry ? ab_places_scrub(s->peering, &s->places,
					   AB_REVOKED_PREFIX, NULL, err) : 0;
}

/* What a host that died did not finish. */
static int32_t finish_reader(agentbox_peering *p, const char *reader,
			     bool no_box, bool *is_left,
			     agentbox_error **err)
{
	swept s = { p, reader, AB_PLACES_NONE, false };
	agentbox_error *error = NULL;
	int32_t rc = ab_places_open(p, reader, &s.places, &error);

	if (rc == AGENTBOX_ECLOSED) { /* it is being made, or removed */
		agentbox_error_free(error);
		return 0;
	}
	if (rc < 0)
		return ab_error_move(err, &error);
	rc = visit_all(&s, s.places.shown, "what is shown to", hide_stray, err);
	if (rc == 0)
		rc = end_making(&s, err);
	if (rc == 0)
		rc = visit_all(&s, s.places.staging, "what was taken from",
			       end_revoked, err);
	if (rc == 0)
		rc = visit_all(&s, s.places.records, "what was granted to",
			       end_name, err);
	if (rc == 0 && no_box)
		rc = end_staged(&s, err);
	ab_places_end(&s.places);
	*is_left |= s.is_left;
	return rc;
}

static int32_t sweep_reader(agentbox_peering *p, int boxes, const char *reader,
			    agentbox_error **err)
{
	agentbox_error *error = NULL;
	bool is_left = false, no_box;
	int32_t rc;

	if (strlen(reader) != AB_ID_SIZE - 1)
		return 0;
	no_box = is_gone(boxes, reader);
	if (no_box)
		make_dirs(boxes, reader);
	rc = finish_reader(p, reader, no_box, &is_left, err);
	if (rc == 0 && no_box) {
		rc = ab_peer_revoke_all(p, "reader", reader, "reader gone",
					&error);
		rc = pass_over(rc, &error, &is_left, err);
		/* its records are the way to what is left */
		if (rc == 0 && !is_left)
			is_left = !remove_dirs(boxes, reader);
	}
	p->is_unswept |= is_left;
	return rc;
}

static int32_t sweep_readers(agentbox_peering *p, agentbox_error **err)
{
	ab_autofd int state = -1;
	int32_t rc = ab_context_open_state(p->context, &state, err);

	if (rc < 0)
		return rc;
	DIR *dir = ab_fd_open_list(state, "boxes");
	int error = dir ? 0 : errno;
	struct dirent *e;

	if (error == ENOENT)
		return 0; /* nobody ever read here */
	while (dir && rc == 0 && (e = ab_fd_next(dir, &error))) {
		agentbox_error *wrong = NULL;

		rc = sweep_reader(p, dirfd(dir), e->d_name, &wrong);
		rc = pass_over_reader(p, rc, &wrong, err);
	}
	if (dir)
		closedir(dir);
	return rc < 0 || !error ? rc :
	       ab_error_sys(err, error, "reader",
			    "cannot list 'boxes' in the state directory");
}

static int32_t sweep_sources(agentbox_peering *p, agentbox_error **err)
{
	ab_auto(json_t) *rows = NULL;
	json_t *v;
	size_t i;

	int32_t rc = ab_grant_owners(p->store, &rows, err);
	if (rc < 0)
		return rc;
	json_array_foreach(rows, i, v) {
		pid_t pid = (pid_t)json_integer_value(
			json_object_get(v, "pid"));
		uint64_t started = (uint64_t)json_integer_value(
			json_object_get(v, "started"));
		if (ab_peer_started(pid) == started)
			continue;
		agentbox_error *error = NULL;

		rc = ab_peer_revoke_now(p, json_string_value(
						json_object_get(v, "id")),
					"source gone", &error);
		if (rc == AGENTBOX_ENOTFOUND) {
			agentbox_error_free(error);
			continue;
		}
		rc = pass_over_reader(p, rc, &error, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int32_t ab_peer_sweep_reader(agentbox_peering *p, const char *reader,
			     agentbox_error **err)
{
	uint64_t until = 0;
	bool is_left = false;
	int32_t rc;

	if (!p->is_unswept)
		return 0;
	p->turn_until = &until;
	rc = finish_reader(p, reader, false, &is_left, err);
	p->turn_until = NULL;
	return rc;
}

int32_t ab_peer_sweep(agentbox_peering *p, agentbox_error **err)
{
	uint64_t until = 0;
	int32_t rc;

	p->is_unswept = false;
	p->turn_until = &until;
	rc = sweep_readers(p, err);
	if (rc == 0)
		rc = sweep_sources(p, err);
	p->turn_until = NULL;
	return rc;
}

int32_t ab_peer_sweep_again(agentbox_peering *p, agentbox_error **err)
{
	if (!p->is_unswept)
		return 0;
	int32_t rc = ab_peer_sweep(p, err);

	p->is_unswept |= rc < 0;
	return rc;
}
