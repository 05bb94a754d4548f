/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two boxes of one host, for the cases of peering: "writer" over base/peer,
 * whose work is shared, and "reader", the box of the case.
 */
#ifndef E2E_PEERS_H
#define E2E_PEERS_H

#include "agentbox/peering.h"
#include "box.h"

#define PEERS_READ "\"peering\": \"read\""

extern agentbox_peering *peering;
extern agentbox_sandbox *source;
extern agentbox_process *held; /* who holds something of a grant */

/* Members of the two documents besides the usual, or NULL. */
void peers_begin_with(agentbox_audit *audit, const char *source_keys,
		      const char *reader_keys);
void peers_begin(void);
/* The handle again, with both boxes made known. */
void peers_open(agentbox_audit *audit);
/* Everything ends well, and nothing is left. */
void peers_finish(void);

/* The job's end; its message when it failed. Frees it. */
int32_t peers_ended(agentbox_peer_job *job, char **message);
/* Of writer to reader; the id, kept. NULL: named after the source. */
const char *peers_grant(const char *name);
void peers_refresh(const char *id);
void peers_refresh_with(const char *id,
			const agentbox_snapshot_options *options);
void peers_end_grant(const char *id, const char *how);
/* Why a grant is refused: the code, and the message kept. */
int32_t peers_refused(const char *reader, const char *from, const char *name,
		      char **message);

#endif
