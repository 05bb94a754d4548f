/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leases: for how long the box has a secret in one of its ways. A file is
 * emptied through the descriptor that was kept when its lease ends, whatever
 * ends it; a memfd that was handed over cannot be recalled, and its lease says
 * when the value is to be asked for again. By CLOCK_BOOTTIME.
 */
#ifndef GATEWAY_LEASE_H
#define GATEWAY_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "gw.h"
#include "wire/broker.h"

/* Zeroed with gw, secret and file_fd set: not in force. */
typedef struct ab_lease {
	ab_gw *gw;
	const ab_wire_secret *secret;
	uint32_t way;
	int file_fd; /* of AB_BROKER_FILE, kept; else -1 */
	uint64_t ends_ns; /* boot time; 0: not in force */
	uint64_t latest_ns; /* however often it is renewed */
	ab_timer timer;
	ab_live live;
} ab_lease;

/* From now on for the secret's time; one in force begins anew. */
void ab_lease_begin(ab_lease *lease);
/* The same without a new value: no further than the secret's longest time. */
void ab_lease_renew(ab_lease *lease);
/* One whose time was over while we could not look has ended. */
void ab_lease_settle(ab_lease *lease);
/* Ends it, recorded with this reason; nothing to do for one that is none. */
void ab_lease_end(ab_lease *lease, const char *reason);
static inline bool ab_lease_is_live(const ab_lease *lease)
{
	return lease->ends_ns != 0;
}
uint64_t ab_lease_left_ms(const ab_lease *lease);

/* n bytes as all of the file. 0 or -errno, and the file is empty. */
int ab_lease_fill(ab_lease *lease, const char *p, size_t n);

#endif
