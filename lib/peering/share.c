/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Grant and refresh. The order of a grant: row "making" in the store, both
 * audit records, the copy; job.c publishes it when it is staged.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "peering/internal.h"
#include "peering/job.h"
#include "sandbox/sandbox.h"
#include "snapshot/snapshot.h"

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

/* A box of this process may have ended, and nobody have looked since. */
static int32_t lives(const ab_peer_box *box, agentbox_error **err)
{
	if (!box->local)
		return 0;
	(void)agentbox_sandbox_dispatch(box->local, NULL);
	return ab_box_usable(box->local, err);
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

/* Whatever the options: a copy has the rights of the source and never more. */
static int32_t leave_out_hidden(agentbox_snapshot_options *options,
				const json_t *hidden, agentbox_error **err)
{
	int32_t rc = 0;
	json_t *v;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)hidden, i, v) {
		const char *text = json_string_value(v);

		if (rc == 0)
			rc = text ? ab_snapshot_options_add_hidden(
					    options, text, err)
				  : ab_error_set(err, AGENTBOX_EPROTO, "owner",
						 "a pattern of what a box does "
						 "not see is no text");
	}
	return rc;
}

/*
 * Without options: of a grant the section of the source's policy, of a refresh
 * what the generation there was made with, so that nothing is shown that the
 * grant left out. With options what the policy excludes is excluded, too: who
 * asks for one more deadline does not mean to show more.
 */
static int32_t start_copy(agentbox_peer_job *j, uint32_t flags,
			  const ab_peer_box *from,
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
	else if (rc == 0)
		rc = options ? ab_snapshot_options_copy(options, &own, err)
			     : agentbox_snapshot_options_new(&own, err);
	if (rc == 0 && own && from->snapshot)
		rc = options ? ab_snapshot_options_add_excludes(
				       own, from->snapshot, err)
			     : ab_snapshot_options_set_section(
				       own, from->snapshot, err);
	if (rc == 0 && own)
		rc = leave_out_hidden(own, from->hidden, err);
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
		.options = own,
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
	rc = ab_peer_job_record(j, "peer.grant", "allow", "", &error);
	if (rc == 0)
		rc = start_copy(j, 0, source, options, &error);
	if (rc == 0)
		return 0;
	ab_peer_job_fail(j, &error);
	return ab_error_copy(err, j->error);
}

/* Between two boxes that were found. */
static int32_t grant_between(agentbox_peering *p, const ab_peer_box *reader,
			     const ab_peer_box *source, const char *name,
			     const agentbox_snapshot_options *options,
			     agentbox_peer_job **job, agentbox_error **err)
{
	int32_t rc = lives(reader, err);
	if (rc == 0)
		rc = lives(source, err);
	if (rc == 0)
		rc = judge(reader, source, name, err);
	if (rc < 0)
		return rc;
	ab_auto(agentbox_peer_job) *j = ab_peer_job_new(p, AB_PEER_GRANT);
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
		rc = ab_peer_sweep_again(peering, err);
	if (rc == 0)
		rc = ab_peer_box_find(peering, reader, &a, err);
	if (rc == 0)
		rc = ab_peer_sweep_reader(peering, a.id, err);
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
	if (rc == 0)
		rc = ab_peer_sweep_again(peering, err);
	if (rc < 0)
		return rc;
	ab_auto(agentbox_peer_job) *j =
		ab_peer_job_new(peering, AB_PEER_REFRESH);
	if (!j)
		return ab_error_nomem(err);
	j->has_ended = true; /* until there is a copy to wait for */
	rc = ab_grant_get(peering->store, grant, &j->grant, err);
	if (rc == 0)
		rc = ab_peer_sweep_reader(peering, j->grant.reader, err);
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
		rc = lives(&b, err);
	if (rc == 0)
		rc = ab_places_open(peering, j->grant.reader, &j->places, err);
	if (rc == 0)
		rc = ab_places_lock(&j->places, j->grant.name, err);
	if (rc == 0)
		rc = ab_peer_job_record(j, "peer.refresh", "allow", "", err);
	if (rc == 0)
		rc = start_copy(j, AB_COPY_REPLACE, &b, options, err);
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
