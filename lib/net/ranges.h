/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an address is for: the complete table of ranges that are not ordinary
 * public hosts, from the IANA special-purpose registries, with every IPv6
 * form that carries an IPv4 address, and the metadata services of the clouds.
 * A wall that let one of these through would let the box reach the host, its
 * networks or its credentials. Spec: DESIGN.md section 9, gateway cases
 * 30-39, 46, 47.
 *
 * The mapping a network's own NAT64 prefix makes (RFC 6052 section 2.2) looks
 * like any public address and cannot be told from outside; a host behind such
 * a translator has to keep it from reaching private IPv4 addresses.
 */
#ifndef AB_NET_RANGES_H
#define AB_NET_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/address.h"

/* Ordered: what is opened is at most PRIVATE. Zero is the worst. */
enum ab_range_class {
	AB_RANGE_NEVER = 0, /* no policy opens it */
	AB_RANGE_METADATA,  /* the same; credentials of the machine */
	AB_RANGE_PRIVATE,   /* where `network.private` names it */
	AB_RANGE_PUBLIC
};

typedef struct ab_range {
	uint8_t family; /* enum ab_address_family */
	uint8_t prefix;
	uint8_t class_; /* enum ab_range_class */
	uint8_t address[16];
	const char *name;   /* "loopback": for records and messages */
	const char *source; /* "RFC 1122 3.2.1.3" */
} ab_range;

/*
 * The worst class of the address and of every IPv4 address inside it. *row
 * (may be NULL) is the row that decided, NULL for a public address.
 */
enum ab_range_class ab_range_of(const ab_address *a, const ab_range **row);

/*
 * The IPv4 address inside one of a NAT64's well-known prefix (RFC 6052
 * section 2.1). Reaching the outer one reaches this one, so both have to be
 * allowed. false: there is none.
 */
bool ab_range_inner(const ab_address *a, ab_address *inner);

/* Has the range any address that is not public? */
bool ab_range_overlaps_special(uint32_t family, const uint8_t *address,
			       unsigned prefix);
/* Is every address of the range one that no policy opens? */
bool ab_range_is_void(uint32_t family, const uint8_t *address,
		      unsigned prefix);

/* The table, for tests and for show. */
const ab_range *ab_range_table(size_t *count);

/* --- names ------------------------------------------------------------- */

/*
 * The same for names (lower case, no trailing dot): METADATA for the names of
 * metadata services, NEVER for those that must not reach the DNS (RFC 7686,
 * RFC 8375, RFC 6761, RFC 9476), PRIVATE for those that only a local resolver
 * knows and for names of one label, PUBLIC for the rest.
 */
enum ab_range_class ab_name_class(const char *name, size_t n);
/* Is there a name below it that a policy can open but "*" does not? */
bool ab_name_tree_is_special(const char *name, size_t n);
/* Can no policy open it, nor a name below it? */
bool ab_name_is_void(const char *name, size_t n);

#endif
