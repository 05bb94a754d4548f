/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle: the store, the boxes of this process, lists, and the end of
 * what boxes that are gone have left. A reader is alive while its directory is
 * locked (lib/walls/share.c), a source while its owner's process lives.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "peering/internal.h"
#include "walls/walls.h"

/* Younger directories may not be locked yet by the box that makes them. */
#define SWEEP_AGE_S 10

int32_t ab_peering_usable(const agentbox_peering *p, agentbox_error **err)
{
	if (!p)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "peering is NULL");
	if (p->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the peering belongs to process %d; a "
				    "forked child cannot use it",
				    (int)p->owner);
	return 0;
}

void agentbox_peering_free(agentbox_peering *peering)
{
	if (!peering)
		return;
	int saved = errno;
	while (peering->boxes) {
		ab_known *k = peering->boxes;
		peering->boxes = k->next;
		free(k);
	}
	ab_store_close(peering->store);
	agentbox_audit_unref(peering->audit);
	agentbox_context_unref(peering->context);
	free(peering);
	errno = saved;
}

/* --- sweeping --- */

/* Every grant of a box, as reader or source. */
static int32_t revoke_all(agentbox_peering *p, const char *column,
			  const char *box, const char *reason,
			  agentbox_error **err)
{
	ab_auto(json_t) *ids = NULL;
	json_t *v;
	size_t i;

	int32_t rc = ab_grant_ids(p->store, column, box, &ids, err);
	if (rc < 0)
		return rc;
	json_array_foreach(ids, i, v) {
		rc = ab_peer_revoke_now(p, json_string_value(v), reason, err);
		if (rc < 0 && rc != AGENTBOX_ENOTFOUND)
			return rc;
		/* another process was faster */
		if (rc < 0 && err) {
			agentbox_error_free(*err);
			*err = NULL;
		}
	}
	return 0;
}

/* The lock of a box that is gone can be had. */
static bool is_gone(int boxes, const char *id)
{
	struct stat st;
	ab_autofd int fd = ab_fd_lift(openat(boxes, id, O_RDONLY | O_DIRECTORY |
					     O_NOFOLLOW | O_CLOEXEC));

	return fd >= 0 && fstat(fd, &st) == 0 &&
	       (uint64_t)st.st_ctim.tv_sec + SWEEP_AGE_S <
		       ab_clock_real_ns() / 1000000000 &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Locks of names that are gone: a refresh may come after its revoke. */
static void empty_records(int dir)
{
	DIR *records = ab_fd_open_list(dir, AB_SHARE_RECORDS);

	for (struct dirent *e; records && (e = readdir(records)) != NULL;)
		unlinkat(dirfd(records), e->d_name, 0);
	if (records)
		closedir(records);
}

/* Of a box that is gone, with nothing granted. */
static void remove_dirs(int boxes, const char *id)
{
	static const char *const parts[] = { AB_SHARE_SHOWN, AB_SHARE_STAGING,
					     AB_SHARE_RECORDS };
	ab_autofd int dir = ab_fd_lift(openat(boxes, id, O_RDONLY |
					      O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC));

	if (dir >= 0)
		empty_records(dir);
	for (size_t i = 0; dir >= 0 && i < AB_ARRAY_LEN(parts); i++)
		unlinkat(dir, parts[i], AT_REMOVEDIR);
	unlinkat(boxes, id, AT_REMOVEDIR);
}

/* The entries of a directory that stays open; NULL with errno. */
static DIR *entries_of(int fd)
{
	int copy = ab_fd_dup(fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	int saved = errno;

	if (dir)
		rewinddir(dir);
	else if (copy >= 0)
		close(copy);
	errno = saved;
	return dir;
}

/* Under the name's lock: no job is at it. */
static int32_t hide_unless_live(agentbox_peering *p, const char *reader,
				const ab_places *places, const char *name,
				agentbox_error **err)
{
	char id[AB_ID_SIZE];
	bool is_live = false;
	int32_t rc = ab_grant_is_live(p->store, reader, name, &is_live, err);

	if (rc < 0 || is_live)
		return rc;
	rc = ab_grant_give_up(p->store, reader, name, err);
	if (rc < 0)
		return rc;
	int r = ab_id_new(id);
	if (r == 0)
		r = ab_places_hide(places, name, id);
	if (r < 0)
		return ab_error_sys(err, -r, "reader",
				    "cannot take '%s' from box %s", name,
				    reader);
	ab_places_forget(places, name);
	return 0;
}

/*
 * Nobody is granted what the store does not know, because it was lost, or
 * because the host died between publishing a grant and recording it. A name
 * whose lock is taken belongs to a job; one that is live is not locked here,
 * or a job would find it busy.
 */
static int32_t hide_stray(agentbox_peering *p, const char *reader,
			  ab_places *places, const char *name,
			  agentbox_error **err)
{
	agentbox_error *error = NULL;
	bool is_live = false;
	int32_t rc = ab_grant_is_live(p->store, reader, name, &is_live, err);

	if (rc < 0 || is_live)
		return rc;
	rc = ab_places_lock(places, name, &error);
	if (rc == AGENTBOX_EBUSY) {
		agentbox_error_free(error);
		return 0;
	}
	if (rc < 0)
		return ab_error_move(err, &error);
	rc = hide_unless_live(p, reader, places, name, err);
	ab_cleanup_fd(&places->lock);
	places->lock = -1;
	return rc;
}

static int32_t hide_strays(agentbox_peering *p, const char *reader,
			   ab_places *places, agentbox_error **err)
{
	DIR *dir = entries_of(places->shown);
	int32_t rc = dir ? 0 : ab_error_sys(err, errno, "reader",
					    "cannot list what box %s sees",
					    reader);

	for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;)
		if (e->d_name[0] != '.' &&
		    strlen(e->d_name) <= AB_PEER_NAME_MAX)
			rc = hide_stray(p, reader, places, e->d_name, err);
	if (dir)
		closedir(dir);
	return rc;
}

/* Rows of a host that died before there was a name. */
static int32_t end_making(agentbox_peering *p, const char *reader,
			  ab_places *places, agentbox_error **err)
{
	ab_auto(json_t) *names = NULL;
	json_t *v;
	size_t i;

	int32_t rc = ab_grant_making(p->store, reader, &names, err);
	if (rc < 0)
		return rc;
	json_array_foreach(names, i, v) {
		rc = hide_stray(p, reader, places, json_string_value(v), err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * A name that was taken away is revoked, also when whoever took it died before
 * the store knew; who is at that just now has the store's lock.
 */
static int32_t end_revoked(agentbox_peering *p, const ab_places *places,
			   const char *name, agentbox_error **err)
{
	const char *id = name + strlen(AB_REVOKED_PREFIX);
	agentbox_error *error = NULL;
	int32_t told = ab_grant_revoke(p->store, id, "its revoke was cut short",
				       &error);
	int32_t rc = ab_places_scrub(p, places, name, NULL, err);

	if (rc == 0 && told < 0 && told != AGENTBOX_ENOTFOUND)
		return ab_error_move(err, &error);
	agentbox_error_free(error);
	return rc;
}

static int32_t scrub_revoked(agentbox_peering *p, const ab_places *places,
			     agentbox_error **err)
{
	DIR *dir = entries_of(places->staging);
	int32_t rc = dir ? 0 : ab_error_sys(err, errno, "reader",
					    "cannot list what was revoked");

	for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;)
		if (strncmp(e->d_name, AB_REVOKED_PREFIX,
			    strlen(AB_REVOKED_PREFIX)) == 0)
			rc = end_revoked(p, places, e->d_name, err);
	if (dir)
		closedir(dir);
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
static int32_t end_name(agentbox_peering *p, const char *reader,
			ab_places *places, const char *name,
			agentbox_error **err)
{
	bool is_named = true;
	int32_t rc = ab_grant_is_named(p->store, reader, name, &is_named, err);

	if (rc < 0 || is_named || ab_places_lock(places, name, NULL) < 0)
		return rc;
	rc = ab_grant_is_named(p->store, reader, name, &is_named, err);
	if (rc == 0 && !is_named)
		rc = ab_places_scrub(p, places, AB_REVOKED_PREFIX, name, err);
	if (rc == 0 && !is_named)
		ab_places_forget(places, name);
	ab_cleanup_fd(&places->lock);
	places->lock = -1;
	return rc;
}

static int32_t end_names(agentbox_peering *p, const char *reader,
			 ab_places *places, agentbox_error **err)
{
	DIR *dir = entries_of(places->records);
	int32_t rc = dir ? 0 : ab_error_sys(err, errno, "reader",
					    "cannot list what was granted");
	char name[AB_PEER_NAME_MAX + 1];

	for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;)
		if (name_of_lock(e->d_name, name))
			rc = end_name(p, reader, places, name, err);
	if (dir)
		closedir(dir);
	return rc;
}

/* What a host that died did not finish. */
static int32_t finish_reader(agentbox_peering *p, const char *reader,
			     agentbox_error **err)
{
	ab_places places = AB_PLACES_NONE;
	int32_t rc = ab_places_open(p, reader, &places, NULL);

	if (rc < 0)
		return 0; /* it is being made, or removed */
	rc = hide_strays(p, reader, &places, err);
	if (rc == 0)
		rc = end_making(p, reader, &places, err);
	if (rc == 0)
		rc = scrub_revoked(p, &places, err);
	if (rc == 0)
		rc = end_names(p, reader, &places, err);
	ab_places_end(&places);
	return rc;
}

static int32_t sweep_readers(agentbox_peering *p, agentbox_error **err)
{
	ab_autofd int state = -1;
	int32_t rc = ab_context_open_state(p->context, &state, err);
	if (rc < 0)
		return rc;
	int boxes = ab_fd_lift(openat(state, "boxes", O_RDONLY | O_DIRECTORY |
				      O_NOFOLLOW | O_CLOEXEC));
	if (boxes < 0)
		return 0; /* nobody ever read here */
	DIR *dir = fdopendir(boxes);
	if (!dir) {
		close(boxes);
		return ab_error_nomem(err);
	}
	for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;) {
		if (strlen(e->d_name) != AB_ID_SIZE - 1)
			continue;
		rc = finish_reader(p, e->d_name, err);
		if (rc < 0 || !is_gone(dirfd(dir), e->d_name))
			continue;
		rc = revoke_all(p, "reader", e->d_name, "reader gone", err);
		if (rc == 0)
			remove_dirs(dirfd(dir), e->d_name);
	}
	closedir(dir);
	return rc;
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
		rc = ab_peer_revoke_now(p, json_string_value(
						json_object_get(v, "id")),
					"source gone", err);
		if (rc < 0 && rc != AGENTBOX_ENOTFOUND)
			return rc;
		if (rc < 0 && err) {
			agentbox_error_free(*err);
			*err = NULL;
		}
	}
	return 0;
}

/* --- the public calls --- */

int32_t agentbox_peering_new(agentbox_context *context, agentbox_audit *audit,
			     agentbox_peering **peering, agentbox_error **err)
{
	if (!context || !peering)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context or peering is NULL");
	ab_auto(agentbox_peering) *p = ab_new(agentbox_peering);
	if (!p)
		return ab_error_nomem(err);
	p->owner = getpid();
	p->context = ab_context_use(context);
	p->audit = audit ? agentbox_audit_ref(audit) : NULL;
	int32_t rc = ab_store_open(context, &p->store, err);
	if (rc == 0)
		rc = sweep_readers(p, err);
	if (rc == 0)
		rc = sweep_sources(p, err);
	if (rc < 0)
		return rc;
	*peering = ab_steal(&p);
	return 0;
}

static bool name_ok(const char *s)
{
	size_t n = strnlen(s, AB_PEER_BOX_NAME_MAX + 1);

	if (n == 0 || n > AB_PEER_BOX_NAME_MAX || s[0] == '.')
		return false;
	return strspn(s, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static ab_known **find_known(agentbox_peering *p,
			     const agentbox_sandbox *sandbox)
{
	ab_known **at = &p->boxes;

	while (*at && (*at)->sandbox != sandbox)
		at = &(*at)->next;
	return at;
}

int32_t agentbox_peering_add(agentbox_peering *peering,
			     agentbox_sandbox *sandbox, const char *name,
			     agentbox_error **err)
{
	int32_t rc = ab_peering_usable(peering, err);
	if (rc < 0)
		return rc;
	if (!sandbox || (name && !name_ok(name)))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "no box, or '%s' is no box name",
				    name ? name : "");
	for (const ab_known *k = peering->boxes; k; k = k->next)
		if (k->sandbox == sandbox ||
		    (name && strcmp(k->name, name) == 0))
			return ab_error_set(err, AGENTBOX_EEXIST, "name",
					    "box '%s' is known already",
					    name ? name :
					    agentbox_sandbox_get_id(sandbox));
	ab_known *k = ab_new(ab_known);
	if (!k)
		return ab_error_nomem(err);
	k->sandbox = sandbox;
	if (name)
		memcpy(k->name, name, strlen(name));
	k->next = peering->boxes;
	peering->boxes = k;
	return 0;
}

int32_t agentbox_peering_remove(agentbox_peering *peering,
				agentbox_sandbox *sandbox,
				agentbox_error **err)
{
	int32_t rc = ab_peering_usable(peering, err);
	if (rc < 0)
		return rc;
	if (!sandbox)
		return ab_error_set(err, AGENTBOX_EINVAL, "sandbox",
				    "sandbox is NULL");
	ab_known **at = find_known(peering, sandbox);
	if (!*at)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "sandbox",
				    "the box was not made known");
	const char *id = agentbox_sandbox_get_id(sandbox);
	rc = revoke_all(peering, "source", id, "source ended", err);
	if (rc == 0)
		rc = revoke_all(peering, "reader", id, "reader ended", err);
	if (rc < 0)
		return rc;
	ab_known *k = *at;
	*at = k->next;
	free(k);
	return 0;
}

int32_t agentbox_peering_list(agentbox_peering *peering, int32_t all,
			      agentbox_bytes **json, agentbox_error **err)
{
	ab_auto(json_t) *rows = NULL;
	int32_t rc = ab_peering_usable(peering, err);

	if (rc == 0 && !json)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "", "json is NULL");
	if (rc == 0)
		rc = ab_grant_list(peering->store, all != 0, &rows, err);
	return rc < 0 ? rc : ab_json_canonical(rows, json, err);
}
