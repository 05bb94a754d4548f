/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two boxes and a handle on what they share, for the cases of peering.
 */
#include "peers.h"

#include <stdlib.h>
#include <unistd.h>

agentbox_peering *peering;
agentbox_sandbox *source;
agentbox_process *held;

/* The source is a box over base/peer; the reader is the box of the case. */
static agentbox_sandbox *raise_source(const char *keys)
{
	char *where, *message;
	int32_t code;
	char *document = e2e_text(
		"{\"agentbox\":1,\"extends\":\"builtin:workspace\",%s%s"
		"\"workspace\":{\"path\":\"%s\",\"at\":\"/workspace\"}}",
		keys ? keys : "", keys ? "," : "", host_path("peer"));
	agentbox_sandbox *s = box_try(document, &code, &where, &message);

	REQUIRE(s, "the source: %s", message);
	return s;
}

void peers_open(agentbox_audit *audit)
{
	agentbox_error *err = NULL;

	REQUIRE(agentbox_peering_new(box_context(), audit, &peering, &err) == 0,
		"peering: %s", agentbox_error_get_message(err));
	REQUIRE(agentbox_peering_add(peering, source, "writer", NULL) == 0 &&
		agentbox_peering_add(peering, box(), "reader", NULL) == 0,
		"add");
}

void peers_begin_with(agentbox_audit *audit, const char *source_keys,
		      const char *reader_keys)
{
	box_needs_namespaces();
	host_write(host_path("peer/src/a.c"), "one\n");
	host_write(host_path("peer/docs/plan.txt"), "plan\n");
	host_write(host_path("peer/.env"), "TOKEN=x\n");
	source = raise_source(source_keys);
	box_raise(NULL, reader_keys);
	peers_open(audit);
}

void peers_begin(void)
{
	peers_begin_with(NULL, NULL, PEERS_READ);
}

void peers_finish(void)
{
	agentbox_error *err = NULL;

	agentbox_process_free(held);
	CHECK(agentbox_peering_remove(peering, source, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	CHECK(agentbox_peering_remove(peering, box(), &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_peering_free(peering);
	agentbox_sandbox_free(source);
	unlink(host_path("state/store.db"));
	unlink(host_path("state/store.db-wal"));
	unlink(host_path("state/store.db-shm"));
}

int32_t peers_ended(agentbox_peer_job *job, char **message)
{
	agentbox_error *err = NULL;
	int32_t rc = agentbox_peer_job_wait(job, 60000, &err);

	*message = e2e_text("%s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_peer_job_free(job);
	return rc;
}

const char *peers_grant(const char *name)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	char *message, *id;

	REQUIRE(agentbox_peering_grant(peering, "reader", "writer", name, NULL,
				       &job, &err) == 0,
		"grant: %s", agentbox_error_get_message(err));
	id = e2e_text("%s", agentbox_peer_job_get_grant(job));
	REQUIRE(peers_ended(job, &message) == 0, "granted: %s", message);
	return id;
}

void peers_refresh_with(const char *id,
			const agentbox_snapshot_options *options)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	char *message;

	REQUIRE(agentbox_peering_refresh(peering, id, options, &job,
					 &err) == 0,
		"refresh: %s", agentbox_error_get_message(err));
	REQUIRE(peers_ended(job, &message) == 0, "refreshed: %s", message);
}

void peers_refresh(const char *id)
{
	peers_refresh_with(id, NULL);
}

void peers_end_grant(const char *id, const char *how)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	char *message;

	REQUIRE(agentbox_peering_revoke(peering, id, how, &job, &err) == 0,
		"revoke: %s", agentbox_error_get_message(err));
	REQUIRE(peers_ended(job, &message) == 0, "revoked: %s", message);
}

int32_t peers_refused(const char *reader, const char *from, const char *name,
		      char **message)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	int32_t rc = agentbox_peering_grant(peering, reader, from, name, NULL,
					    &job, &err);

	CHECK(rc < 0, "granted %s to %s as %s", from, reader,
	      name ? name : "");
	*message = e2e_text("%s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_peer_job_free(job);
	return rc;
}
