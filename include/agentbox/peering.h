/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One agent reads another's source: a snapshot of box B's workspace
 * (agentbox/snapshot.h) appears in box A at `.shared/<name>/`, while both
 * live. A must have been raised with a policy whose `peering` is "read".
 *
 * Hard control: `.shared` is a read-only mount in a mount namespace the agent
 * does not own (nosuid, nodev, noexec, nosymfollow; mount_namespaces(7),
 * mount_setattr(2)), and what was not copied is not there. A grant, its next
 * generation and its end are one rename each on the host's side (renameat2(2));
 * nothing is mounted in a box that runs, on any kernel.
 *
 * What peering is not: it does not reach across accounts; it is no substitute
 * for git, for nothing flows back; it does not protect B from its own faults,
 * since what B writes under an ordinary name in an ordinary form is shared;
 * and it does not update itself: a grant is a point in time until the host
 * refreshes it. What a reader copied elsewhere while it could read cannot be
 * taken back.
 *
 * Grants are kept in the store of the state directory, so every host process
 * of the same user sees them and can refresh or revoke them, also after the
 * one that granted is gone.
 *
 * Threads: a peering and its jobs belong to one thread at a time;
 * agentbox_peer_job_cancel() may be called from any. In a forked child of the
 * process that made them they return AGENTBOX_EFORKED, and the get_fd() and
 * get_timeout_ms() of a job -1.
 */
#ifndef AGENTBOX_PEERING_H
#define AGENTBOX_PEERING_H

#include <agentbox/audit.h>
#include <agentbox/base.h>
#include <agentbox/sandbox.h>
#include <agentbox/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_peering agentbox_peering;
typedef struct agentbox_peer_job agentbox_peer_job;

/*
 * Opens the store (made when it is not there) and ends what boxes that are
 * gone have left behind. The context must have a state directory
 * (AGENTBOX_EINVAL; its other errors as there). Each grant, refresh and revoke
 * is recorded twice in `audit`, once for each box; what cannot be recorded is
 * not granted. NULL: nothing is recorded.
 *
 * What a copy whose host is gone holds for 2 s is passed over; each grant and
 * refresh tries to end it again.
 *
 * Errors: AGENTBOX_EBUSY when others hold the store for 5 s,
 * AGENTBOX_ETAMPERED when it is damaged, AGENTBOX_EUNSUPPORTED when a later
 * version made it.
 */
AGENTBOX_API int32_t agentbox_peering_new(agentbox_context *context,
					  agentbox_audit *audit,
					  agentbox_peering **peering,
					  agentbox_error **err);
/* Jobs are freed before. Grants stay. */
AGENTBOX_API void agentbox_peering_free(agentbox_peering *peering);

/*
 * Make a box of this process known (borrowed: remove it before freeing it)
 * under its id and, unless NULL, a name (1 to 64 letters, digits, '.', '_',
 * '-', no leading '.', not in the form of an id), which goes before the same
 * name elsewhere. Boxes of other processes are found through their
 * owners (agentbox/owner.h); those of this process cannot be, for their owner
 * would have to answer while it waits. AGENTBOX_EEXIST: it is known.
 */
AGENTBOX_API int32_t agentbox_peering_add(agentbox_peering *peering,
					  agentbox_sandbox *sandbox,
					  const char *name,
					  agentbox_error **err);
/*
 * Forget it, and revoke (scrub) every grant of which it is reader or source;
 * waits for that, as long as it takes. AGENTBOX_ENOTFOUND: it was not known.
 */
AGENTBOX_API int32_t agentbox_peering_remove(agentbox_peering *peering,
					     agentbox_sandbox *sandbox,
					     agentbox_error **err);

/*
 * Start to share the workspace of the box `source` with the box `reader`,
 * both by id or name. `name` is where it appears below `.shared`:
 * [a-z0-9][a-z0-9-]{0,62}; NULL: the source's id. What is copied is decided
 * by `options` if given, to which the `exclude` of the `snapshot` section of
 * the source's policy is added, else by that section.
 *
 * Errors: AGENTBOX_ENOTFOUND for a box no live owner has, AGENTBOX_EINVAL for
 * a box with itself, a bad name, or the name of two boxes (give an id),
 * AGENTBOX_EDENIED for boxes of different accounts, AGENTBOX_EUNSUPPORTED for
 * a reader raised without peering or a source without a workspace,
 * AGENTBOX_EEXIST for a name in use there, those of the audit and of
 * agentbox_snapshot_copy().
 */
AGENTBOX_API int32_t agentbox_peering_grant(
	agentbox_peering *peering, const char *reader, const char *source,
	const char *name, const agentbox_snapshot_options *options,
	agentbox_peer_job **job, agentbox_error **err);
/*
 * The next generation of a grant, by the grant's id. Readers see the old one
 * or the new one, never neither; who holds directories of the old one goes on
 * reading it until the refresh after. (Where the kernel's Landlock has not
 * mended its erratum 3, "disconnected directory handling", as before Linux
 * 6.19 and the stable releases that took it over, what is opened from such a
 * directory is refused with EACCES; what is open is read on.) NULL options:
 * those that the generation there was made with; AGENTBOX_ETAMPERED where
 * nothing says which these were, as after a job that found the generation
 * tampered with: the grant lives, and is refreshed with options. What the
 * source's policy excludes is added to them, as by a grant.
 * AGENTBOX_ENOTFOUND: no live grant; AGENTBOX_ECLOSED: one of the boxes is
 * gone; AGENTBOX_EBUSY: another job is at it. A revoke meanwhile wins: the job
 * is AGENTBOX_ECANCELED.
 */
AGENTBOX_API int32_t agentbox_peering_refresh(
	agentbox_peering *peering, const char *grant,
	const agentbox_snapshot_options *options, agentbox_peer_job **job,
	agentbox_error **err);
/*
 * End a grant. When the call returns it is marked revoked and its name is
 * gone from the reader; the job then removes what is left:
 *   "scrub"   every file is truncated and unlinked: open descriptors read
 *             nothing, mappings end with SIGBUS. The default (NULL).
 *   "detach"  files are unlinked; who has one open goes on reading it.
 *   "kill"    all processes of the reader are ended first, then scrub.
 * A revoke goes on where an audit record cannot be written, and says so at
 * its end. A grant that is revoked already is AGENTBOX_ENOTFOUND.
 * AGENTBOX_EBUSY: others hold the store, or a copy whose host is gone is at
 * its last step; nothing is revoked, try again.
 */
AGENTBOX_API int32_t agentbox_peering_revoke(
	agentbox_peering *peering, const char *grant, const char *how,
	agentbox_peer_job **job, agentbox_error **err);

/*
 * The grants as a JSON array of {"id", "reader", "source", "name", "account",
 * "state" ("making", "live"), "generation", "digest", "files", "bytes",
 * "left_out", "made", "refreshed"}; with `all` not 0 also those that were
 * revoked, with "reason" and "revoked".
 */
AGENTBOX_API int32_t agentbox_peering_list(agentbox_peering *peering,
					   int32_t all, agentbox_bytes **json,
					   agentbox_error **err);
/*
 * The id of the live grant (reader, name or source), for the calls above.
 * AGENTBOX_ENOTFOUND: there is none. AGENTBOX_EINVAL: `source` is a box of
 * which the reader has more than one copy; give the name of one.
 */
AGENTBOX_API int32_t agentbox_peering_find(agentbox_peering *peering,
					   const char *reader,
					   const char *source,
					   agentbox_bytes **grant,
					   agentbox_error **err);

/*
 * A job in a host's own loop, as a snapshot's: poll the fd (borrowed) for at
 * most the timeout, dispatch, until wait(job, 0) is not AGENTBOX_ETIMEOUT.
 */
AGENTBOX_API int32_t agentbox_peer_job_get_fd(const agentbox_peer_job *job);
AGENTBOX_API int32_t agentbox_peer_job_get_timeout_ms(
	const agentbox_peer_job *job);
AGENTBOX_API int32_t agentbox_peer_job_dispatch(agentbox_peer_job *job,
						agentbox_error **err);
AGENTBOX_API int32_t agentbox_peer_job_wait(agentbox_peer_job *job,
					    int64_t timeout_ms,
					    agentbox_error **err);
AGENTBOX_API int32_t agentbox_peer_job_cancel(agentbox_peer_job *job,
					      agentbox_error **err);
/* The id of its grant. Borrowed. */
AGENTBOX_API const char *agentbox_peer_job_get_grant(
	const agentbox_peer_job *job);
/* The copy behind it, for progress and report; borrowed, NULL without. */
AGENTBOX_API agentbox_snapshot *agentbox_peer_job_get_snapshot(
	agentbox_peer_job *job);
/* A grant or refresh that still runs is cancelled; a revoke is waited for. */
AGENTBOX_API void agentbox_peer_job_free(agentbox_peer_job *job);

#ifdef __cplusplus
}
#endif

#endif
