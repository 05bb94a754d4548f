/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Grant, refresh, revoke. The order of a grant: row "making" in the store,
 * both audit records, the copy; when it is staged, one transaction asks
 * whether the grant was revoked meanwhile, publishes and marks the row live:
 * a revoke comes before or after, never between. The order of a revoke: row
 * "revoked" and the name gone from the reader, at once, then the rest. What
 * fails leaves nothing that a reader can see.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agentbox/owner.h"
#include "audit/audit.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "peering/internal.h"
#include "snapshot/snapshot.h"

/* How long a copy that is staged may take for one rename. */
#define PUBLISH_TIMEOUT_MS 5000
#define CANCEL_TIMEOUT_MS 2000

enum job_kind { JOB_GRANT, JOB_REFRESH, JOB_REVOKE };

struct agentbox_peer_job {
	pid_t owner;
	agentbox_peering *peering;
	enum job_kind kind;
	ab_grant grant;
	ab_places places;
	agentbox_snapshot *copy; /* NULL: nothing to remove */
	bool has_ended;
	agentbox_error *error; /* NULL when it ended well */
};

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

	if (f && d && j->kind != JOB_REVOKE &&
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

/* On both sides; what cannot be recorded on one does not happen. */
static int32_t record(agentbox_peer_job *j, const char *type,
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

/*
 * What was published, or may have been, goes: first its name, whatever the
 * store then says; nobody is left who could give it back.
 */
static void take_back(agentbox_peer_job *j, agentbox_error **error)
{
	if (j->copy)
		ab_snapshot_kill(j->copy);
	if (j->places.shown >= 0)
		(void)ab_places_hide(&j->places, j->grant.name, j->grant.id);
	ab_store_rollback(j->peering->store);
	ab_places_end(&j->places); /* its lock too */
	ab_peer_revoke_now(j->peering, j->grant.id,
			   agentbox_error_get_message(*error), NULL);
	end(j, error);
}

/* A grant that failed is none; of a refresh the generation before stays. */
static void fail(agentbox_peer_job *j, agentbox_error **error)
{
	record(j, j->kind == JOB_GRANT ? "peer.grant" :
	       j->kind == JOB_REFRESH ? "peer.refresh" : "peer.revoke",
	       "error", agentbox_error_get_message(*error), NULL);
	if (j->kind == JOB_GRANT)
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

	if (record(j, j->kind == JOB_GRANT ? "peer.granted" : "peer.refreshed",
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

	int32_t rc = ab_store_begin(store, &error);
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
	fail(j, &error);
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
		fail(j, &error);
	else
		finish_copy(j);
}

static void scrub_ended(agentbox_peer_job *j)
{
	agentbox_error *error = NULL;

	int32_t rc = j->copy ? agentbox_snapshot_wait(j->copy, 0, &error) : 0;
	if (rc < 0 && rc != AGENTBOX_ENOTFOUND) {
		fail(j, &error);
		return;
	}
	agentbox_error_free(ab_steal(&error)); /* nothing was there to end */
	if (j->places.records >= 0)
		ab_places_forget(&j->places, j->grant.name);
	if (record(j, "peer.revoked", "allow", "", &error) == 0 && j->error)
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
	if (!job || job->has_ended)
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
	if (job->kind == JOB_REVOKE)
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
	if (rc == 0 && job->kind != JOB_REVOKE)
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

static agentbox_peer_job *make(agentbox_peering *p, enum job_kind kind)
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

/* --- grant and refresh --- */

static bool grant_name_ok(const char *s)
{
	size_t n = strnlen(s, AB_PEER_NAME_MAX + 1);

	return n >= 1 && n <= AB_PEER_NAME_MAX && s[0] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static bool same_account(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static int32_t judge(const ab_peer_box *reader, const ab_peer_box *source,
		     const char *name, agentbox_error **err)
{
	if (strcmp(reader->id, source->id) == 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "source",
				    "box %s cannot be its own peer",
				    reader->id);
	if (!grant_name_ok(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "'%s' is no name of a grant; give lower-"
				    "case letters, digits and '-', at most %d",
				    name, AB_PEER_NAME_MAX);
	if (!same_account(reader->account, source->account))
		return ab_error_set(err, AGENTBOX_EDENIED, "account",
				    "box %s and box %s have different "
				    "accounts; nothing is shared across "
				    "accounts", reader->id, source->id);
	if (!reader->is_reader)
		return ab_error_set(err, AGENTBOX_EUNSUPPORTED, "reader",
				    "box %s was raised without a place for "
				    "peers; its policy needs \"peering\": "
				    "\"read\" and a workspace", reader->id);
	if (!source->workspace)
		return ab_error_set(err, AGENTBOX_EUNSUPPORTED, "source",
				    "box %s has no workspace to share",
				    source->id);
	return 0;
}

static int32_t set_grant(ab_grant *g, const ab_peer_box *reader,
			 const ab_peer_box *source, const char *name,
			 agentbox_error **err)
{
	int r = ab_id_new(g->id);

	if (r < 0)
		return ab_error_sys(err, -r, "grant", "no random bits");
	memcpy(g->reader, reader->id, AB_ID_SIZE);
	memcpy(g->source, source->id, AB_ID_SIZE);
	snprintf(g->name, sizeof(g->name), "%s", name);
	g->account = source->account ? ab_strdup(source->account) : NULL;
	g->workspace = ab_strdup(source->workspace);
	g->dev = source->dev;
	g->ino = source->ino;
	g->source_pid = source->owner;
	g->source_started = ab_peer_started(source->owner);
	return g->workspace && (g->account || !source->account) ? 0 :
	       ab_error_nomem(err);
}

/* The directory that the source was raised over, or nothing. */
static int32_t open_source(const ab_grant *g, int *fd, agentbox_error **err)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };
	struct stat st;

	ab_autofd int dir = ab_fd_lift((int)syscall(
		SYS_openat2, AT_FDCWD, g->workspace, &how, sizeof(how)));
	if (dir < 0 || fstat(dir, &st) < 0)
		return ab_error_sys(err, errno, "source",
				    "cannot open the workspace '%s'",
				    g->workspace);
	if (st.st_dev != g->dev || st.st_ino != g->ino)
		return ab_error_set(err, AGENTBOX_EDENIED, "source",
				    "'%s' is not the directory that box %s was "
				    "raised over", g->workspace, g->source);
	*fd = ab_steal_fd(&dir);
	return 0;
}

/*
 * What the generation there was made with. A record that is not there, for a
 * refresh has found the generation tampered with, is no end of the grant.
 */
static int32_t read_choice(agentbox_peer_job *j, char **text,
			   const void **choice, size_t *choice_len,
			   agentbox_error **err)
{
	agentbox_error *error = NULL;
	int32_t rc = ab_snapshot_read_choice(j->places.records, j->grant.name,
					     text, choice, choice_len, &error);

	if (rc == AGENTBOX_ENOTFOUND)
		rc = ab_error_set(err, AGENTBOX_ETAMPERED, j->grant.name,
				  "the record of what '%s' shows is gone; give "
				  "the options", j->grant.name);
	else if (rc < 0)
		rc = ab_error_copy(err, error);
	agentbox_error_free(error);
	return rc;
}

/*
 * Without options: of a grant the section of the source's policy, of a refresh
 * what the generation there was made with, so that nothing is shown that the
 * grant left out.
 */
static int32_t start_copy(agentbox_peer_job *j, uint32_t flags,
			  const json_t *section,
			  const agentbox_snapshot_options *options,
			  agentbox_error **err)
{
	ab_auto(agentbox_snapshot_options) *own = NULL;
	ab_autofree char *text = NULL;
	const bool is_refresh = flags & AB_COPY_REPLACE;
	const void *choice = NULL;
	size_t choice_len = 0;
	ab_autofd int source = -1;
	int32_t rc = open_source(&j->grant, &source, err);

	if (rc == 0 && !options && is_refresh)
		rc = read_choice(j, &text, &choice, &choice_len, err);
	else if (rc == 0 && !options)
		rc = agentbox_snapshot_options_new(&own, err);
	if (rc == 0 && own && section)
		rc = ab_snapshot_options_set_section(own, section, err);
	if (rc < 0)
		return rc;
	ab_snapshot_job job = {
		.job = AB_COPY_MAKE,
		.flags = flags | AB_COPY_HOLD | AB_COPY_KEEP_OLD,
		.source_fd = source,
		.dest_fd = j->places.shown,
		.staging_fd = j->places.staging,
		.record_fd = j->places.records,
		.stream_fd = -1,
		.dest_name = j->grant.name,
		.record_name = j->grant.name,
		.source_name = j->grant.workspace,
		.options = options ? options : own,
		.choice = choice,
		.choice_len = choice_len,
		.source_uid = AB_SNAPSHOT_OWNER,
		.source_gid = AB_SNAPSHOT_OWNER,
	};
	return ab_snapshot_start(j->peering->context, &job, &j->copy, err);
}

static int32_t begin_grant(agentbox_peer_job *j, const ab_peer_box *source,
			   const agentbox_snapshot_options *options,
			   agentbox_error **err)
{
	agentbox_error *error = NULL;
	int32_t rc = ab_places_open(j->peering, j->grant.reader, &j->places,
				    &error);
	if (rc == 0)
		rc = ab_places_lock(&j->places, j->grant.name, &error);
	/* who was at this name before and did not end is gone: we have its
	   lock */
	if (rc == 0)
		rc = ab_grant_give_up(j->peering->store, j->grant.reader,
				      j->grant.name, &error);
	if (rc == 0)
		rc = ab_grant_insert(j->peering->store, &j->grant, &error);
	if (rc < 0) {
		/* there is no row, so there is nothing to take back */
		j->has_ended = true;
		return ab_error_move(err, &error);
	}
	rc = record(j, "peer.grant", "allow", "", &error);
	if (rc == 0)
		rc = start_copy(j, 0, source->snapshot, options, &error);
	if (rc == 0)
		return 0;
	fail(j, &error);
	return ab_error_copy(err, j->error);
}

/* Between two boxes that were found. */
static int32_t grant_between(agentbox_peering *p, const ab_peer_box *reader,
			     const ab_peer_box *source, const char *name,
			     const agentbox_snapshot_options *options,
			     agentbox_peer_job **job, agentbox_error **err)
{
	int32_t rc = judge(reader, source, name, err);
	if (rc < 0)
		return rc;
	ab_auto(agentbox_peer_job) *j = make(p, JOB_GRANT);
	if (!j)
		return ab_error_nomem(err);
	rc = set_grant(&j->grant, reader, source, name, err);
	j->has_ended = rc < 0;
	if (rc == 0)
		rc = begin_grant(j, source, options, err);
	if (rc == 0)
		*job = ab_steal(&j);
	return rc;
}

int32_t agentbox_peering_grant(agentbox_peering *peering, const char *reader,
			       const char *source, const char *name,
			       const agentbox_snapshot_options *options,
			       agentbox_peer_job **job, agentbox_error **err)
{
	ab_peer_box a = { .local = NULL }, b = { .local = NULL };
	int32_t rc = ab_peering_usable(peering, err);

	if (rc == 0 && (!reader || !source || !job))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "reader, source or job is NULL");
	if (rc == 0)
		rc = ab_peer_box_find(peering, reader, &a, err);
	if (rc == 0)
		rc = ab_peer_box_find(peering, source, &b, err);
	if (rc == 0)
		rc = grant_between(peering, &a, &b, name ? name : b.id,
				   options, job, err);
	ab_peer_box_end(&a);
	ab_peer_box_end(&b);
	return rc;
}

int32_t agentbox_peering_refresh(agentbox_peering *peering, const char *grant,
				 const agentbox_snapshot_options *options,
				 agentbox_peer_job **job, agentbox_error **err)
{
	ab_peer_box b = { .local = NULL };
	agentbox_error *error = NULL;
	int32_t rc = ab_peering_usable(peering, err);

	if (rc == 0 && (!grant || !job))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "grant or job is NULL");
	if (rc < 0)
		return rc;
	ab_auto(agentbox_peer_job) *j = make(peering, JOB_REFRESH);
	if (!j)
		return ab_error_nomem(err);
	j->has_ended = true; /* until there is a copy to wait for */
	rc = ab_grant_get(peering->store, grant, &j->grant, err);
	if (rc == 0)
		rc = ab_peer_box_find(peering, j->grant.source, &b, &error);
	if (rc == AGENTBOX_ENOTFOUND && error)
		rc = ab_error_set(err, AGENTBOX_ECLOSED, "source",
				  "box %s, the source, is gone",
				  j->grant.source);
	else if (error)
		rc = ab_error_move(err, &error);
	agentbox_error_free(error);
	if (rc == 0)
		rc = ab_places_open(peering, j->grant.reader, &j->places, err);
	if (rc == 0)
		rc = ab_places_lock(&j->places, j->grant.name, err);
	if (rc == 0)
		rc = record(j, "peer.refresh", "allow", "", err);
	if (rc == 0)
		rc = start_copy(j, AB_COPY_REPLACE, NULL, options, err);
	ab_peer_box_end(&b);
	if (rc < 0)
		return rc;
	j->has_ended = false;
	*job = ab_steal(&j);
	return 0;
}

int32_t agentbox_peering_find(agentbox_peering *peering, const char *reader,
			      const char *source, agentbox_bytes **grant,
			      agentbox_error **err)
{
	ab_peer_box a = { .local = NULL }, b = { .local = NULL };
	char id[AB_ID_SIZE];
	int32_t rc = ab_peering_usable(peering, err);

	if (rc == 0 && (!reader || !source || !grant))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "reader, source or grant is NULL");
	if (rc < 0)
		return rc;
	/* names of boxes become ids where they live; a grant outlives them */
	const char *from = ab_peer_box_find(peering, reader, &a, NULL) == 0 ?
				   a.id : reader;
	rc = ab_grant_find(peering->store, from, source, id, err);
	if (rc == AGENTBOX_ENOTFOUND &&
	    ab_peer_box_find(peering, source, &b, NULL) == 0) {
		if (err) {
			agentbox_error_free(*err);
			*err = NULL;
		}
		rc = ab_grant_find(peering->store, from, b.id, id, err);
	}
	ab_peer_box_end(&a);
	ab_peer_box_end(&b);
	if (rc < 0)
		return rc;
	*grant = ab_bytes_from(id, strlen(id));
	return *grant ? 0 : ab_error_nomem(err);
}

/* --- revoke --- */

/* All of the reader's processes, whoever owns it. */
static int32_t kill_reader(agentbox_peering *p, const char *reader,
			   agentbox_error **err)
{
	for (const ab_known *k = p->boxes; k; k = k->next)
		if (strcmp(agentbox_sandbox_get_id(k->sandbox), reader) == 0)
			return agentbox_sandbox_kill_all(k->sandbox, err);
	agentbox_remote *remote = NULL;
	int32_t rc = agentbox_remote_open(p->context, reader, &remote, err);
	if (rc == 0)
		rc = agentbox_remote_kill_all(remote, err);
	agentbox_remote_free(remote);
	return rc;
}

static int32_t start_scrub(agentbox_peer_job *j, uint32_t flags,
			   agentbox_error **err)
{
	char name[AB_REVOKED_SIZE];
	ab_snapshot_job job = {
		.job = AB_COPY_SCRUB,
		.flags = flags,
		.source_fd = -1,
		.dest_fd = j->places.staging,
		.staging_fd = j->places.staging,
		.record_fd = j->places.records,
		.stream_fd = -1,
		.dest_name = name,
		.record_name = j->grant.name,
		.source_name = j->grant.workspace,
	};

	ab_revoked_name(j->grant.id, name);
	return ab_snapshot_start(j->peering->context, &job, &j->copy, err);
}

int32_t ab_places_scrub(agentbox_peering *p, const ab_places *places,
			const char *name, agentbox_error **err)
{
	ab_auto(agentbox_snapshot) *scrub = NULL;
	agentbox_error *error = NULL;
	ab_snapshot_job job = { .job = AB_COPY_SCRUB, .source_fd = -1,
				.dest_fd = places->staging,
				.staging_fd = places->staging,
				.record_fd = -1, .stream_fd = -1,
				.dest_name = name };

	int32_t rc = ab_snapshot_start(p->context, &job, &scrub, &error);
	if (rc == 0)
		rc = agentbox_snapshot_wait(scrub, -1, &error);
	if (rc == AGENTBOX_ENOTFOUND) {
		agentbox_error_free(error);
		return 0;
	}
	return rc < 0 ? ab_error_move(err, &error) : 0;
}

/* From the reader's sight; a reader that is gone has nothing. */
static int32_t hide(agentbox_peer_job *j, agentbox_error **err)
{
	agentbox_error *error = NULL;
	int32_t rc = ab_places_open(j->peering, j->grant.reader, &j->places,
				    &error);

	if (rc == AGENTBOX_ECLOSED) {
		agentbox_error_free(error);
		return 0;
	}
	if (rc < 0)
		return ab_error_move(err, &error);
	int r = ab_places_hide(&j->places, j->grant.name, j->grant.id);
	return r < 0 ? ab_error_sys(err, -r, "reader",
				    "cannot take '%s' from box %s",
				    j->grant.name, j->grant.reader) : 0;
}

/*
 * The row and the name at once: a host that dies in between has revoked
 * nothing, or leaves what the next one ends (finish_reader()).
 */
static int32_t withdraw(agentbox_peer_job *j, const char *reason,
			agentbox_error **err)
{
	ab_store *store = j->peering->store;
	int32_t rc = ab_store_begin(store, err);

	if (rc == 0)
		rc = ab_grant_revoke(store, j->grant.id, reason, err);
	if (rc == 0)
		rc = hide(j, err);
	if (rc == 0)
		rc = ab_store_commit(store, err);
	if (rc < 0)
		ab_store_rollback(store);
	return rc;
}

/* It is revoked: from here on errors are told, and stop nothing. */
static void carry_out(agentbox_peer_job *j, const char *how)
{
	agentbox_error *error = NULL;

	record(j, "peer.revoke", "allow", how, &j->error);
	if (strcmp(how, "kill") == 0 &&
	    kill_reader(j->peering, j->grant.reader, &error) < 0) {
		if (!j->error)
			j->error = ab_steal(&error);
		agentbox_error_free(ab_steal(&error));
	}
	if (j->places.staging >= 0 &&
	    start_scrub(j, strcmp(how, "detach") == 0 ? AB_COPY_UNLINK : 0,
			&error) < 0)
		fail(j, &error);
}

static int32_t start_revoke(agentbox_peering *p, const char *grant,
			    const char *how, const char *reason,
			    agentbox_peer_job **out, agentbox_error **err)
{
	ab_auto(agentbox_peer_job) *j = make(p, JOB_REVOKE);

	if (!j)
		return ab_error_nomem(err);
	j->has_ended = true; /* until there is something to wait for */
	int32_t rc = ab_grant_get(p->store, grant, &j->grant, err);
	if (rc == 0)
		rc = withdraw(j, reason, err);
	if (rc < 0)
		return rc;
	j->has_ended = false;
	carry_out(j, how);
	*out = ab_steal(&j);
	return 0;
}

int32_t agentbox_peering_revoke(agentbox_peering *peering, const char *grant,
				const char *how, agentbox_peer_job **job,
				agentbox_error **err)
{
	int32_t rc = ab_peering_usable(peering, err);

	if (rc == 0 && (!grant || !job))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "grant or job is NULL");
	if (!how)
		how = "scrub";
	if (rc == 0 && strcmp(how, "scrub") != 0 &&
	    strcmp(how, "detach") != 0 && strcmp(how, "kill") != 0)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "how",
				  "'%s' is no way to revoke; give scrub, "
				  "detach or kill", how);
	return rc < 0 ? rc : start_revoke(peering, grant, how, how, job, err);
}

int32_t ab_peer_revoke_now(agentbox_peering *p, const char *grant,
			   const char *reason, agentbox_error **err)
{
	ab_auto(agentbox_peer_job) *j = NULL;
	int32_t rc = start_revoke(p, grant, "scrub", reason, &j, err);

	return rc < 0 ? rc : agentbox_peer_job_wait(j, -1, err);
}
