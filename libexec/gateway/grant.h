/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the box may have of its secrets: who asks is judged here, the host is
 * asked for the value, and the lease begins, whichever way the question came.
 * Nothing of a value stays: each question asks the host anew.
 * Spec: DESIGN.md section 9, gateway cases 140-154.
 */
#ifndef GATEWAY_GRANT_H
#define GATEWAY_GRANT_H

#include "lease.h"
#include "net/hosts.h"
#include "state.h"
#include "wire/broker.h"

typedef struct ab_granted {
	const ab_wire_secret *spec;
	ab_host_set hosts; /* of AB_BROKER_GIT */
	ab_lease leases[AB_BROKER_WAY_COUNT]; /* ab_broker_way_index() */
	bool is_forgotten;
} ab_granted;

typedef struct ab_asker ab_asker;

typedef struct ab_grants {
	ab_gw *gw;
	ab_wire_broker plan;
	ab_granted secrets[AB_BROKER_MAX_SECRETS];
	ab_asker *waiting;
	size_t asked;
	uint32_t serial;
	ab_bucket rate;
	char *value; /* guarded; holds one only while it is passed on */
} ab_grants;

/* Who asks; zeroed but for what comes first. Its memory is its owner's, who
   forgets it before it goes. */
struct ab_asker {
	ab_grants *grants;
	bool has_peer; /* the next two are the kernel's word */
	uint32_t uid, pid;
	/* NULL: it is, while it waits. One that has ended has no questions. */
	bool (*is_alive)(const ab_asker *a);
	/* Make what goes out of n bytes of guarded memory. 0 or -errno. */
	int (*put)(ab_asker *a, const char *value, size_t n);
	/* The answer to what was asked; `a` may be gone afterwards. */
	void (*answer)(ab_asker *a, uint32_t result);

	/* what it waits for; serial 0: nothing */
	ab_asker *next;
	uint32_t serial, way;
	ab_granted *secret;
	ab_timer timer;
};

/* Takes what the plan says. 0, -ENOMEM, or -EPROTO: hosts that are none. */
int ab_grants_init(ab_grants *g, ab_gw *gw, ab_wire_broker *plan);

bool ab_grant_tell(const ab_asker *a, uint32_t kind, const char *name,
		   const char *reason, const char *detail, bool required);
/* Of all secrets. */
uint32_t ab_grant_ways(const ab_grants *g);
/* NULL: it has none. */
ab_granted *ab_grant_find(ab_grants *g, const char *name);
/*
 * Whose password git is given there, for this user, or for any with "". NULL:
 * none is, and *why is what the record says.
 */
ab_granted *ab_grant_for_git(const ab_asker *a, const char *host,
			     const char *user, const char **why);
/* Of the secret (NULL: there is none), by one of the ways, or 0 for no
   delivery. NULL: it may; else what the record says. */
const char *ab_grant_judge(const ab_asker *a, const ab_granted *s,
			   uint32_t way);
bool ab_grant_has_euid(const ab_granted *s, uint32_t uid);

/* Ask the host; put() and answer() follow, answer() alone at once where it
   cannot be asked. */
void ab_grant_ask(ab_asker *a, ab_granted *s, uint32_t way);
/* It does not wait any more. */
void ab_grant_forget(ab_asker *a);
/* From the host: as ab_broker_value(), ab_broker_forget(). */
void ab_grant_value(ab_grants *g, uint32_t serial, int32_t result, int fd);
int64_t ab_grant_revoke(ab_grants *g, const char *name);

bool ab_grant_is_live(const ab_granted *s);
/* Leases of it whose time is over have ended. */
void ab_grant_settle(ab_granted *s);
/* All its leases; how many there were. */
int64_t ab_grant_end(ab_granted *s, const char *reason);

#endif
