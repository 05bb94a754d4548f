/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Host patterns: the entries of network.allow, deny, private and of a
 * secret's hosts. Parsed once into names, addresses and port ranges, so that
 * no wall ever compares text. Spec: agentbox-policy(5), cases A01-A28.
 *
 *   *                       every name and every ordinary address
 *   api.example.com         this name
 *   *.example.com           names below it at any depth, not itself
 *   192.0.2.7  192.0.2.0/24  2001:db8::7  2001:db8::/32
 *   HOST:443  HOST:443,8000-8100  [2001:db8::/32]:443
 *
 * Names are LDH labels in ASCII (IDNA as A-labels); numeric tricks, zones
 * and addresses with host bits are refused. No ports means every port.
 */
#ifndef AB_NET_HOSTS_H
#define AB_NET_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "net/target.h"

#define AB_HOST_RANGES 32
#define AB_HOST_NAME_SIZE AB_TARGET_NAME_SIZE
/* the longest canonical text: name, and all ranges */
#define AB_HOST_TEXT_SIZE (AB_HOST_NAME_SIZE + 8 + AB_HOST_RANGES * 12)

enum ab_host_kind {
	AB_HOST_ANY = 0,
	AB_HOST_NAME,
	AB_HOST_BELOW, /* "*.name" */
	AB_HOST_IPV4,
	AB_HOST_IPV6
};

typedef struct ab_host_range {
	uint16_t low, high;
} ab_host_range;

typedef struct ab_host {
	uint32_t kind;
	char name[AB_HOST_NAME_SIZE]; /* NAME, BELOW: lower case, no dot */
	uint8_t address[16];	      /* IPV4: the first four */
	uint8_t prefix;
	uint8_t range_count; /* 0: every port */
	ab_host_range ranges[AB_HOST_RANGES];
} ab_host;

/* A sorted set with one entry per host part. Zeroed: empty. */
typedef struct ab_host_set {
	ab_host *items;
	size_t count;
	/* which prefix lengths there may be, IPv4 and IPv6: a bit each */
	uint8_t lengths[2][17];
} ab_host_set;

/* false: `why` says how to write it. */
bool ab_host_parse(const char *s, ab_host *out, char why[AB_WHY_SIZE]);
void ab_host_text(const ab_host *host, char out[AB_HOST_TEXT_SIZE]);
/* "*.com", or more than 2^24 (IPv4) addresses: loads with a warning. */
bool ab_host_is_broad(const ab_host *host);

/* Loopback, private, local...: what "*" as a grant does not stand for. */
bool ab_host_is_special(const ab_host *host);
/* Nothing it names can be opened (metadata services): loads with a warning. */
bool ab_host_is_void(const ab_host *host);

/*
 * Everything c names, p names too, ports included. With `deny` "*" stands
 * for special addresses as well (loopback, private, link-local, metadata):
 * as a grant it does not.
 */
bool ab_host_covers(const ab_host *p, const ab_host *c, bool deny);

/*
 * Take `count` entries into a set: sorted, entries of one host merged. The
 * items are taken over. 0, -E2BIG when a host gets more than AB_HOST_RANGES
 * ranges.
 */
int ab_host_set_init(ab_host_set *set, ab_host *items, size_t count);
void ab_host_set_end(ab_host_set *set);

/*
 * The entries whose host part covers c's have, taken together, all its
 * ports. Host parts are not added up: two halves of an address range do not
 * cover the whole (A18).
 */
bool ab_host_set_covers(const ab_host_set *set, const ab_host *c, bool deny);

/*
 * The entry whose host part covers a target's and whose ports hold its port
 * (port 0: any of them; with `deny` all of them), NULL: none. Like
 * ab_host_set_covers() for one target.
 */
const ab_host *ab_host_set_find(const ab_host_set *set, const ab_target *t,
				bool deny);

/*
 * What both sets name, as a set. 0, -ENOMEM, -E2BIG. Time is
 * O((n + m) log), whatever the entries are (A26).
 */
int ab_host_set_intersect(const ab_host_set *p, const ab_host_set *c,
			  ab_host_set *out);

/* --- port ranges, shared inside the room ------------------------------- */

/* Sort and join touching ranges; how many remain. */
size_t ab_host_join_ranges(ab_host_range *r, size_t n);
/* false when more than AB_HOST_RANGES remain. */
bool ab_host_set_ranges(ab_host *h, ab_host_range *r, size_t n);
/* Do n sorted, joined ranges hold every port of c? */
bool ab_host_ranges_cover(const ab_host_range *r, size_t n, const ab_host *c);
/* Ports both have; false: none. Two lists can meet in too many pieces. */
bool ab_host_ports_intersect(const ab_host *a, const ab_host *b, ab_host *out,
			     bool *too_many);

#endif
