/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of lib/peering: boxes as grants need them, grants as the store has
 * them, and the directories of a reader. Files: peering.c (the handle, lists),
 * sweep.c (what others left), boxes.c (who is alive), grants.c (rows), places.c
 * (directories), share.c (grant, refresh), revoke.c, job.c (what they start, to
 * its end).
 */
#ifndef AB_PEERING_INTERNAL_H
#define AB_PEERING_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox/peering.h"
#include "base/attr.h"
#include "base/hash.h"
#include "store/store.h"

#define AB_PEER_NAME_MAX 63
#define AB_PEER_BOX_NAME_MAX 64

/* A box of this process. */
typedef struct ab_known {
	agentbox_sandbox *sandbox; /* borrowed */
	char name[AB_PEER_BOX_NAME_MAX + 1];
	struct ab_known *next;
} ab_known;

struct agentbox_peering {
	pid_t owner;
	agentbox_context *context;
	agentbox_audit *audit; /* or NULL */
	ab_store *store;
	ab_known *boxes;
	bool is_unswept; /* a sweep had to leave something */
	/* while one runs: until when all of it waits for copies; 0: it has
	   met none */
	uint64_t *turn_until;
};

AB_DEFINE_AUTO(agentbox_peering, agentbox_peering_free)
AB_DEFINE_AUTO(agentbox_peer_job, agentbox_peer_job_free)

/* A live box, of this process or another's; ends with ab_peer_box_end(). */
typedef struct ab_peer_box {
	char id[AB_ID_SIZE];
	char *account;	 /* NULL: none */
	char *workspace; /* NULL: none */
	uint64_t dev, ino;
	bool is_reader;
	json_t *snapshot; /* the section of its policy, or NULL */
	json_t *hidden;	  /* patterns: what it does not see itself */
	pid_t owner;
	agentbox_sandbox *local; /* borrowed; NULL: of another process */
} ab_peer_box;

/* By id or name. ENOTFOUND, and what agentbox_remote_list() returns. */
int32_t ab_peer_box_find(agentbox_peering *p, const char *box,
			 ab_peer_box *out, agentbox_error **err);
void ab_peer_box_end(ab_peer_box *box);
/*
 * When a process started, so that its pid means this process and no other
 * (proc_pid_stat(5), starttime); 0: there is none.
 */
uint64_t ab_peer_started(pid_t pid);

/* A row. Strings in it are its own. */
typedef struct ab_grant {
	char id[AB_ID_SIZE], reader[AB_ID_SIZE], source[AB_ID_SIZE];
	char name[AB_PEER_NAME_MAX + 1];
	char state[16]; /* "making", "live", "revoked" */
	char *account, *workspace;
	uint64_t dev, ino;
	pid_t source_pid; /* the process that owns the source */
	uint64_t source_started;
	uint64_t generation;
} ab_grant;

void ab_grant_end(ab_grant *grant);
/* EEXIST when the reader has something of this name. */
int32_t ab_grant_insert(ab_store *store, const ab_grant *grant,
			agentbox_error **err);
/* What was being made under a name whose lock the caller holds. */
int32_t ab_grant_give_up(ab_store *store, const char *reader,
			 const char *name, agentbox_error **err);
/* A grant that is not revoked. ENOTFOUND. */
int32_t ab_grant_get(ab_store *store, const char *id, ab_grant *out,
		     agentbox_error **err);
/*
 * Marks it live with what the copy says. ECANCELED when it was revoked
 * meanwhile. Inside a transaction of the caller.
 */
int32_t ab_grant_publish(ab_store *store, const char *id, uint64_t generation,
			 const char *digest, uint64_t files, uint64_t bytes,
			 uint64_t left_out, agentbox_error **err);
/* ECANCELED unless it is there and not revoked. */
int32_t ab_grant_check(ab_store *store, const char *id, agentbox_error **err);
/* ENOTFOUND when it is revoked already. */
int32_t ab_grant_revoke(ab_store *store, const char *id, const char *reason,
			agentbox_error **err);
/* Ids of live grants; column is "reader" or "source". An array of text. */
int32_t ab_grant_ids(ab_store *store, const char *column, const char *box,
		     json_t **ids, agentbox_error **err);
/* The names of a reader's that are being made, or whose maker is gone. */
int32_t ab_grant_making(ab_store *store, const char *reader, json_t **names,
			agentbox_error **err);
/* Every live grant: [{"id", "reader", "pid", "started"}]. */
int32_t ab_grant_owners(ab_store *store, json_t **rows, agentbox_error **err);
int32_t ab_grant_list(ab_store *store, bool all, json_t **rows,
		      agentbox_error **err);
int32_t ab_grant_find(ab_store *store, const char *reader, const char *source,
		      char id[AB_ID_SIZE], agentbox_error **err);
/* Granted under this name, and not only being made. */
int32_t ab_grant_is_live(ab_store *store, const char *reader,
			 const char *name, bool *is_live, agentbox_error **err);
/* The same, or being made; true when it cannot be told. */
int32_t ab_grant_is_named(ab_store *store, const char *reader,
			  const char *name, bool *is_named,
			  agentbox_error **err);

/* The directories of one reader; -1 each when closed. */
typedef struct ab_places {
	int dir, shown, staging, records;
	int lock; /* of one grant's name, while a job is at it */
	pid_t lock_pid; /* who took it: a forked child gives none back */
	uint64_t *turn_until; /* borrowed, of a sweep; NULL: of its own */
} ab_places;
#define AB_PLACES_NONE { -1, -1, -1, -1, -1, 0, NULL }

/* ECLOSED when the reader has none, which means that it is gone. */
int32_t ab_places_open(agentbox_peering *p, const char *reader, ab_places *out,
		       agentbox_error **err);
void ab_places_end(ab_places *places);
/* EBUSY: another job is at this name. */
int32_t ab_places_lock(ab_places *places, const char *name,
		       agentbox_error **err);
void ab_places_unlock(ab_places *places);
/* The name under which a revoked tree waits for its end. */
#define AB_REVOKED_PREFIX "revoked-"
#define AB_REVOKED_SIZE (AB_ID_SIZE + 16)
void ab_revoked_name(const char *grant, char out[AB_REVOKED_SIZE]);
/*
 * Take it away from the reader: 1, or 0 when it was not there; -errno. No copy
 * that a host which died has left gives it back afterwards: -EBUSY when one
 * does not end.
 */
int ab_places_hide(const ab_places *places, const char *name,
		   const char *grant);
/* Says so. */
int32_t ab_places_not_hidden(int r, const char *name, const char *reader,
			     agentbox_error **err);
/* The record and the lock of a name that is gone. */
void ab_places_forget(const ab_places *places, const char *name);

/* revoke.c: end such a tree, and wait for it; 0 also when another does. With
   `record` (or NULL) what the grant of that name left beside it, too. */
int32_t ab_places_scrub(agentbox_peering *p, const ab_places *places,
			const char *name, const char *record,
			agentbox_error **err);
/*
 * revoke.c: revoke and wait for the end, for boxes that are gone. `reason` is
 * for the record.
 */
int32_t ab_peer_revoke_now(agentbox_peering *p, const char *grant,
			   const char *reason, agentbox_error **err);
/* The same of every grant of a box; column is "reader" or "source". */
int32_t ab_peer_revoke_all(agentbox_peering *p, const char *column,
			   const char *box, const char *reason,
			   agentbox_error **err);
/*
 * sweep.c: end what boxes and hosts that are gone have left. What a copy still
 * holds is passed over, and ended by the next; so is a reader that cannot be
 * looked through.
 */
int32_t ab_peer_sweep(agentbox_peering *p, agentbox_error **err);
/* When something was passed over. */
int32_t ab_peer_sweep_again(agentbox_peering *p, agentbox_error **err);
/* The same of one reader, which may have been: what is wrong with it. */
int32_t ab_peer_sweep_reader(agentbox_peering *p, const char *reader,
			     agentbox_error **err);
int32_t ab_peering_usable(const agentbox_peering *p, agentbox_error **err);

#endif
