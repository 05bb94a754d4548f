/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job: what of it is recorded, how it ends, and how a host waits for it. A
 * grant or a refresh whose copy is staged is published in one transaction
 * that asks whether it was revoked meanwhile: a revoke comes before or after,
 * never between. What fails leaves nothing that a reader can see.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "peering/internal.h"
#include "peering/job.h"
#include "snapshot/snapshot.h"

/* How long a copy that is staged may take for one rename. */
#define PUBLISH_TIMEOUT_MS 5000
#define CANCEL_TIMEOUT_MS 2000

/* --- records --- */

static json_t *fields(const agentbox_peer_job *j, bool reader_side,
		      const char *verdict, const char *reason)
{
	const ab_grant *g = &j->grant;
	const ab_copy_done *d = j->copy ? ab_snapshot_done(j->copy) : NULL;
	json_t *f = json_pack(
		"{s:{s:s, s:I, s:I, s:i}, s:o, s:s, s:s, s:s, s:s, s:s}",
		"actor", "box", reader_side ? g->reader : g->source,
		"uid", (json_int_t)getuid(), "euid", (json_int_t)geteuid(),
		"pid", (int)j->owner,
		"subject", ab_audit_text(j->peering->audit, g->workspace,
					 strlen(g->workspace)),
		"grant", g->id, "side", reader_side ? "reader" : "source",
		"peer", reader_side ? g->source : g->reader,
		"verdict", verdict, "reason", reason);

	if (f && d && j->kind != AB_PEER_REVOKE &&
	    json_object_update_missing_new(f, json_pack(
		    "{s:s, s:I, s:I, s:I, s:I, s:I}", "digest", d->digest,
		    "generation", (json_int_t)d->generation,
		    "files", (json_int_t)d->files,
		    "bytes", (json_int_t)d->bytes,
		    "left_out", (json_int_t)d->left_out,
		    "admitted", (json_int_t)d->admitted)) < 0) {
		json_decref(f);
		f = NULL;
	}
	return f;
}

int32_t ab_peer_job_record(agentbox_peer_job *j, const char *type,
			   const char *verdict, const char *reason,
			   agentbox_error **err)
{
	int32_t rc = 0;

	for (int side = 0; j->peering->audit && rc == 0 && side < 2; side++) {
		ab_auto(json_t) *f = fields(j, side == 0, verdict, reason);
		rc = f ? ab_audit_record(j->peering->audit, type, f, err) :
			 ab_error_nomem(err);
	}
	return rc;
}

/* --- the end of a job --- */

static void end(agentbox_peer_job *j, agentbox_error **error)
{
	j->has_ended = true;
	if (!j->error && *error)
		j->error = ab_steal(error);
	agentbox_error_free(*error);
	*error = NULL;
	ab_places_end(&j->places);
}

/* The reader may see it still: said in the error and on both sides. */
static void say_not_hidden(agentbox_peer_job *j, const agentbox_error *why,
			   agentbox_error **error)
{
	agentbox_error *both = NULL;

	ab_error_set(&both, agentbox_error_get_code(*error),
		     agentbox_error_get_where(*error),
		     "%s; and what is shown is not taken back yet: %s",
		     agentbox_error_get_message(*error),
		     agentbox_error_get_message(why));
	ab_peer_job_record(j, "peer.revoke", "error",
			   agentbox_error_get_message(why), NULL);
	if (!both)
		return;
	agentbox_error_free(*error);
	*error = both;
}

/*
 * What was published, or may have been, goes: first its name, whatever the
 * store then says; nobody is left who could give it back. A name that another
 * copy keeps us from is a stray from here on: no row is live that it could
 * belong to, and every sweep tries to take it away.
 */
static void take_back(agentbox_peer_job *j, agentbox_error **error)
{
	agentbox_error *left = NULL;

	if (j->copy)
		ab_snapshot_kill(j->copy);
	if (j->places.shown >= 0)
		(void)ab_places_hide(&j->places, j->grant.name, j->grant.id);
	ab_store_rollback(j->peering->store);
	ab_places_end(&j->places); /* its lock too */
	/* hides it again, and fails where that does */
	int32_t rc = ab_peer_revoke_now(j->peering, j->grant.id,
					agentbox_error_get_message(*error),
					&left);
	if (rc < 0 && rc != AGENTBOX_ENOTFOUND) {
		(void)ab_grant_revoke(j->peering->store, j->grant.id,
				      agentbox_error_get_message(*error),
				      NULL);
		j->peering->is_unswept = true;
		say_not_hidden(j, left, error);
	}
	agentbox_error_free(left);
	end(j, error);
}

void ab_peer_job_fail(agentbox_peer_job *j, agentbox_error **error)
{
	ab_peer_job_record(j,
			   j->kind == AB_PEER_GRANT ? "peer.grant" :
			   j->kind == AB_PEER_REFRESH ? "peer.refresh" :
							"peer.revoke",
			   "error", agentbox_error_get_message(*error), NULL);
	if (j->kind == AB_PEER_GRANT)
		take_back(j, error);
	else
		end(j, error);
}

static int32_t mark_live(agentbox_peer_job *j, agentbox_error **err)
{
	const ab_copy_done *d = ab_snapshot_done(j->copy);

	return ab_grant_publish(j->peering->store, j->grant.id, d->generation,
				d->digest, d->files, d->bytes, d->left_out,
				err);
}

static void finish_copy(agentbox_peer_job *j)
{
	agentbox_error *error = NULL;

	if (ab_peer_job_record(j,
			       j->kind == AB_PEER_GRANT ? "peer.granted" :
							  "peer.refreshed",
			       "allow", "", &error) < 0)
		take_back(j, &error);
	else
		end(j, &error);
}

/*
 * A copy whose generation, record or place was taken away fails with what it
 * met; why it was is in the store.
 */
static void say_revoked(const agentbox_peer_job *j, agentbox_error **error)
{
	agentbox_error *revoked = NULL;

	if (ab_grant_check(j->peering->store, j->grant.id, &revoked) ==
	    AGENTBOX_ECANCELED) {
		agentbox_error_free(*error);
		*error = ab_steal(&revoked);
	}
	agentbox_error_free(revoked);
}

/* Staged: publish, unless a revoke was first. */
static void publish(agentbox_peer_job *j)
{
	ab_store *store = j->peering->store;
	agentbox_error *error = NULL;

	int32_t rc = ab_store_hold_room(store, &error);
	if (rc == 0)
		rc = ab_store_begin(store, &error);
	if (rc == 0)
		rc = ab_grant_check(store, j->grant.id, &error);
	bool told = rc == 0;
	if (rc == 0)
		rc = ab_snapshot_publish(j->copy, &error);
	if (rc == 0)
		rc = agentbox_snapshot_wait(j->copy, PUBLISH_TIMEOUT_MS,
					    &error);
	if (rc == 0)
		rc = mark_live(j, &error);
	if (rc == 0)
		rc = ab_store_commit(store, &error);
	if (rc == 0) {
		finish_copy(j);
		return;
	}
	ab_store_rollback(store);
	/* told to publish and not told that it could not: it may have */
	if (told && (ab_snapshot_done(j->copy) || rc == AGENTBOX_EHELPER ||
		     rc == AGENTBOX_EPROTO || rc == AGENTBOX_ETIMEOUT)) {
		take_back(j, &error);
		return;
	}
	agentbox_snapshot_cancel(j->copy, NULL);
	agentbox_snapshot_wait(j->copy, CANCEL_TIMEOUT_MS, NULL);
	ab_peer_job_fail(j, &error);
}

/* The copy has ended without being staged: unchanged, or it failed. */
static void copy_ended(agentbox_peer_job *j)
{
	agentbox_error *error = NULL;
	int32_t rc = agentbox_snapshot_wait(j->copy, 0, &error);

	if (rc == 0)
		rc = mark_live(j, &error);
	else
		say_revoked(j, &error);
	if (rc < 0)
		ab_peer_job_fail(j, &error);
	else
		finish_copy(j);
}

/*
 * Not when the name has been granted again. Who has its lock and no row is a
 * refresh that was revoked, and has nothing to look for there any more.
 */
static void forget_name(const agentbox_peer_job *j)
{
	bool is_named = true;

	if (j->places.records < 0)
		return;
	(void)ab_grant_is_named(j->peering->store, j->grant.reader,
				j->grant.name, &is_named, NULL);
	if (!is_named)
		ab_places_forget(&j->places, j->grant.name);
}

static void scrub_ended(agentbox_peer_job *j)
{
	agentbox_error *error = NULL;

	int32_t rc = j->copy ? agentbox_snapshot_wait(j->copy, 0, &error) : 0;
	if (rc < 0 && rc != AGENTBOX_ENOTFOUND) {
		ab_peer_job_fail(j, &error);
		return;
	}
	agentbox_error_free(ab_steal(&error)); /* nothing was there to end */
	forget_name(j);
	if (ab_peer_job_record(j, "peer.revoked", "allow", "", &error) == 0 &&
	    j->error)
		agentbox_error_free(ab_steal(&error));
	end(j, &error);
}

/* --- a host's loop --- */

static int32_t usable(const agentbox_peer_job *j, agentbox_error **err)
{
	if (!j)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "job is NULL");
	if (j->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the job belongs to process %d; a forked "
				    "child cannot use it", (int)j->owner);
	return 0;
}

int32_t agentbox_peer_job_get_fd(const agentbox_peer_job *job)
{
	return job && job->copy ? agentbox_snapshot_get_fd(job->copy) : -1;
}

int32_t agentbox_peer_job_get_timeout_ms(const agentbox_peer_job *job)
{
	if (!job || job->owner != getpid() || job->has_ended)
		return -1;
	return job->copy ? agentbox_snapshot_get_timeout_ms(job->copy) : 0;
}

int32_t agentbox_peer_job_dispatch(agentbox_peer_job *job,
				   agentbox_error **err)
{
	int32_t rc = usable(job, err);

	if (rc < 0 || job->has_ended)
		return rc;
	if (job->copy)
		rc = agentbox_snapshot_dispatch(job->copy, err);
	if (rc < 0)
		return rc;
	if (job->copy && ab_snapshot_staged_fd(job->copy) >= 0) {
		publish(job);
		return 0;
	}
	const char *phase = job->copy ?
		agentbox_snapshot_get_phase(job->copy) : "done";
	if (strcmp(phase, "done") != 0 && strcmp(phase, "failed") != 0)
		return 0;
	if (job->kind == AB_PEER_REVOKE)
		scrub_ended(job);
	else
		copy_ended(job);
	return 0;
}

int32_t agentbox_peer_job_wait(agentbox_peer_job *job, int64_t timeout_ms,
			       agentbox_error **err)
{
	uint64_t until = ab_clock_deadline(timeout_ms);
	int32_t rc = usable(job, err);

	while (rc == 0) {
		rc = agentbox_peer_job_dispatch(job, err);
		if (rc < 0 || job->has_ended)
			break;
		int64_t left = ab_clock_left_ms(until);
		int64_t own = agentbox_peer_job_get_timeout_ms(job);
		if (left == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "wait",
					    "grant %s: the job has not ended "
					    "after %lld ms", job->grant.id,
					    (long long)timeout_ms);
		if (own >= 0 && (left < 0 || own < left))
			left = own;
		int ready = ab_fd_poll(agentbox_peer_job_get_fd(job), POLLIN,
				       left);
		if (ready < 0)
			return ab_error_sys(err, -ready, "wait",
					    "cannot wait for the copy");
	}
	if (rc < 0)
		return rc;
	return job->error ? ab_error_copy(err, job->error) : 0;
}

int32_t agentbox_peer_job_cancel(agentbox_peer_job *job, agentbox_error **err)
{
	int32_t rc = usable(job, err);

	/* a revoke is not to be stopped */
	if (rc == 0 && job->kind != AB_PEER_REVOKE)
		rc = agentbox_snapshot_cancel(job->copy, err);
	return rc;
}

const char *agentbox_peer_job_get_grant(const agentbox_peer_job *job)
{
	return job ? job->grant.id : "";
}

agentbox_snapshot *agentbox_peer_job_get_snapshot(agentbox_peer_job *job)
{
	return job ? job->copy : NULL;
}

void agentbox_peer_job_free(agentbox_peer_job *job)
{
	if (!job)
		return;
	int saved = errno;
	if (job->owner == getpid() && !job->has_ended && job->grant.id[0]) {
		agentbox_peer_job_cancel(job, NULL);
		agentbox_peer_job_wait(job, -1, NULL);
	}
	agentbox_snapshot_free(job->copy);
	agentbox_error_free(job->error);
	ab_places_end(&job->places);
	ab_grant_end(&job->grant);
	free(job);
	errno = saved;
}

agentbox_peer_job *ab_peer_job_new(agentbox_peering *p, enum ab_peer_kind kind)
{
	agentbox_peer_job *j = ab_new(agentbox_peer_job);

	if (!j)
		return NULL;
	j->owner = getpid();
	j->peering = p;
	j->kind = kind;
	j->places = (ab_places)AB_PLACES_NONE;
	return j;
}
