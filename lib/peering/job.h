/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job as those that start one see it: share.c (grant, refresh) and revoke.c.
 * job.c brings it to its end.
 */
#ifndef AB_PEERING_JOB_H
#define AB_PEERING_JOB_H

#include "peering/internal.h"

enum ab_peer_kind { AB_PEER_GRANT, AB_PEER_REFRESH, AB_PEER_REVOKE };

struct agentbox_peer_job {
	pid_t owner;
	agentbox_peering *peering;
	enum ab_peer_kind kind;
	ab_grant grant;
	ab_places places;
	agentbox_snapshot *copy; /* NULL: nothing to remove */
	bool has_ended;
	agentbox_error *error; /* NULL when it ended well */
};

/* NULL: no memory. */
agentbox_peer_job *ab_peer_job_new(agentbox_peering *p, enum ab_peer_kind kind);
/* On both sides; what cannot be recorded on one does not happen. */
int32_t ab_peer_job_record(agentbox_peer_job *j, const char *type,
			   const char *verdict, const char *reason,
			   agentbox_error **err);
/*
 * Ends it with this error. A grant that failed is none; of a refresh the
 * generation before stays.
 */
void ab_peer_job_fail(agentbox_peer_job *j, agentbox_error **error);

#endif
