/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Revoke: row "revoked" and the name gone from the reader, at once, then the
 * rest.
 */
#include "config.h"

#include <string.h>

#include "agentbox/owner.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "peering/internal.h"
#include "peering/job.h"
#include "snapshot/snapshot.h"

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
			const char *name, const char *record,
			agentbox_error **err)
{
	ab_auto(agentbox_snapshot) *scrub = NULL;
	agentbox_error *error = NULL;
	ab_snapshot_job job = { .job = AB_COPY_SCRUB, .source_fd = -1,
				.dest_fd = places->staging,
				.staging_fd = places->staging,
				.record_fd = record ? places->records : -1,
				.stream_fd = -1,
				.dest_name = name,
				.record_name = record };

	int32_t rc = ab_snapshot_start(p->context, &job, &scrub, &error);
	if (rc == 0)
		rc = agentbox_snapshot_wait(scrub, -1, &error);
	if (rc == AGENTBOX_ENOTFOUND) {
		agentbox_error_free(error);
		return 0;
	}
	return rc < 0 ? ab_error_move(err, &error) : 0;
}

/*
 * From the reader's sight; a reader that is gone has nothing. What follows ends
 * by its name the record and the generation before, so nobody is granted the
 * name meanwhile. Who has its lock already is a refresh, and is not waited for.
 */
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
	(void)ab_places_lock(&j->places, j->grant.name, NULL);
	int r = ab_places_hide(&j->places, j->grant.name, j->grant.id);
	return r < 0 ? ab_places_not_hidden(r, j->grant.name, j->grant.reader,
					    err) : 0;
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

	ab_peer_job_record(j, "peer.revoke", "allow", how, &j->error);
	if (strcmp(how, "kill") == 0 &&
	    kill_reader(j->peering, j->grant.reader, &error) < 0) {
		if (!j->error)
			j->error = ab_steal(&error);
		agentbox_error_free(ab_steal(&error));
	}
	if (j->places.staging >= 0 &&
	    start_scrub(j, strcmp(how, "detach") == 0 ? AB_COPY_UNLINK : 0,
			&error) < 0)
		ab_peer_job_fail(j, &error);
}

static int32_t start_revoke(agentbox_peering *p, const char *grant,
			    const char *how, const char *reason,
			    agentbox_peer_job **out, agentbox_error **err)
{
	ab_auto(agentbox_peer_job) *j = ab_peer_job_new(p, AB_PEER_REVOKE);

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

int32_t ab_peer_revoke_all(agentbox_peering *p, const char *column,
			   const char *box, const char *reason,
			   agentbox_error **err)
{
	ab_auto(json_t) *ids = NULL;
	int32_t first = 0;
	json_t *v;
	size_t i;

	int32_t rc = ab_grant_ids(p->store, column, box, &ids, err);
	if (rc < 0)
		return rc;
	json_array_foreach(ids, i, v) {
		agentbox_error *error = NULL;

		rc = ab_peer_revoke_now(p, json_string_value(v), reason,
					&error);
		/* another process was faster */
		if (rc == AGENTBOX_ENOTFOUND || rc == 0) {
			agentbox_error_free(error);
			continue;
		}
		/* one that cannot be revoked keeps no other */
		if (first == 0) {
			first = rc;
			ab_error_move(err, &error);
		}
		agentbox_error_free(error);
	}
	return first;
}
