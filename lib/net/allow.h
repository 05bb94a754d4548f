/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The allowlist as a table: a policy's network lists compiled once, asked for
 * every connection. Pure, no heap when asked. Spec: DESIGN.md section 9,
 * gateway cases 1-12, 30-48, 114.
 *
 * Two questions, both before anything leaves the machine: may this target be
 * asked for (before any look-up), and may it be connected to at this address
 * (after). What decides, in this order:
 *
 *   1. metadata services and ranges no policy opens: refused though listed;
 *   2. `deny`, whatever else is listed;
 *   3. a host that has a route is reached by the route alone;
 *   4. `allow` has to name it: empty is nothing; "*" is only what is written;
 *   5. a private address has to be in `private` as well, and where a name led
 *      to it, the name too. So no other name reaches that range, and the
 *      owner of a name reaches no range it was not given.
 */
#ifndef AB_NET_ALLOW_H
#define AB_NET_ALLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/hosts.h"
#include "net/ranges.h"
#include "net/target.h"

/* Answers of one look-up that are judged; more are refused (case 43). */
#define AB_ALLOW_ADDRESSES 32

/* Zeroed: nothing is allowed. */
typedef struct ab_allow {
	ab_host_set allow, deny, private_, tcp, routed;
} ab_allow;

/* Stable: the names are in audit records. Anything but OK is a refusal. */
enum ab_allow_reason {
	AB_ALLOW_UNJUDGED = 0,
	AB_ALLOW_OK,
	AB_ALLOW_NO_TARGET,	/* no host, or no port */
	AB_ALLOW_METADATA,	/* credentials of the machine */
	AB_ALLOW_RANGE,		/* a range or name that nothing opens */
	AB_ALLOW_DENIED,
	AB_ALLOW_ROUTED,
	AB_ALLOW_NOT_LISTED,
	AB_ALLOW_PORT,		/* the host is listed, with other ports */
	AB_ALLOW_PRIVATE_NAME,	/* the name is not in `private` */
	AB_ALLOW_PRIVATE_ADDRESS, /* a private literal */
	AB_ALLOW_RESOLVED_PRIVATE, /* a name that leads to one */
	AB_ALLOW_NO_ADDRESS,	/* none, too many, or of something else */
	AB_ALLOW_REASON_COUNT
};

/* "not_listed", for records. */
const char *ab_allow_reason_name(enum ab_allow_reason reason);
/* What to tell a person: "is not in network.allow". */
const char *ab_allow_reason_text(enum ab_allow_reason reason);

enum ab_allow_list {
	AB_ALLOW_LIST_ALLOW,
	AB_ALLOW_LIST_DENY,
	AB_ALLOW_LIST_PRIVATE,
	AB_ALLOW_LIST_TCP,
	AB_ALLOW_LIST_ROUTED,
	AB_ALLOW_LIST_COUNT
};

/* Host patterns as text, by list. ROUTED holds the hosts of upstreams. */
typedef struct ab_allow_text {
	struct {
		const char *const *items;
		size_t count;
	} list[AB_ALLOW_LIST_COUNT];
} ab_allow_text;

/* The entry that could not be read. */
typedef struct ab_allow_error {
	enum ab_allow_list list;
	size_t index;
	char why[AB_WHY_SIZE];
} ab_allow_error;

/*
 * Compile the lists. One entry that cannot be read fails the whole load:
 * -EINVAL with `bad` filled, -E2BIG (ports of one host), -ENOMEM; *out is
 * untouched then, so what was in force stays. 0: the caller ends it.
 */
int ab_allow_init(ab_allow *out, const ab_allow_text *text,
		  ab_allow_error *bad);
void ab_allow_end(ab_allow *allow);

/*
 * May the box ask for this? Before any look-up. *rule (may be NULL) is the
 * entry of `allow` that let it pass or, for DENIED and ROUTED, the entry that
 * did not: budgets and records go by it. Borrowed.
 */
enum ab_allow_reason ab_allow_target(const ab_allow *allow, const ab_target *t,
				     const ab_host **rule);

/* The same as though `allow` named it, which somebody who may has said. */
enum ab_allow_reason ab_allow_granted(const ab_allow *allow,
				      const ab_target *t,
				      const ab_host **rule);

/*
 * Of a target that may be asked for: do its bytes go on unread, whatever is
 * wanted of its port otherwise? It grants nothing.
 */
bool ab_allow_is_tcp(const ab_allow *allow, const ab_target *t);

/*
 * May a look-up be answered, for any port? A name that passes here can still
 * be refused with its port.
 */
enum ab_allow_reason ab_allow_lookup(const ab_allow *allow, const ab_target *t);

/*
 * May this target be connected to at this address? For a target that passed
 * above, and for the upstream of a route. An address literal has to be the
 * address itself.
 */
enum ab_allow_reason ab_allow_address(const ab_allow *allow, const ab_target *t,
				      const ab_address *address);

/* All of them: one bad answer spoils the set (case 40). */
enum ab_allow_reason ab_allow_addresses(const ab_allow *allow,
					const ab_target *t,
					const ab_address *addresses,
					size_t count);

#endif
