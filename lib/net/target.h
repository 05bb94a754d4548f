/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What somebody asks to be connected to: canonical bytes of a host and a
 * port. Every wire the box speaks on (CONNECT, Host, SOCKS5, SNI, DNS) comes
 * through here, so that all decisions are about one spelling.
 * Spec: DESIGN.md section 9, gateway cases 12-22, 29-31.
 *
 * A name is LDH labels (RFC 5890 section 2.3.1: ASCII letters, digits and
 * hyphens, no hyphen at an edge), 2 to 253 bytes, labels to 63, lower-cased
 * in ASCII whatever the locale, one trailing dot removed. Underscores are
 * refused: they are in no host name (RFC 952, RFC 1123 section 2.1), resolvers
 * disagree about them, and names with one are service labels. A name whose
 * last label is a number, decimal or with 0x, is an IPv4 address to
 * inet_aton(3) and browsers (WHATWG URL, "ends in a number"): it is one in
 * four plain decimal parts or refused. Non-ASCII is refused; IDNA comes as
 * A-labels and is compared as such.
 */
#ifndef AB_NET_TARGET_H
#define AB_NET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/address.h"

/* 253 bytes and NUL */
#define AB_TARGET_NAME_SIZE 254
/* "[...]:65535" or "name:65535" and NUL */
#define AB_TARGET_TEXT_SIZE (AB_TARGET_NAME_SIZE + 8)

enum ab_target_kind {
	AB_TARGET_NONE = 0, /* nothing; refused everywhere */
	AB_TARGET_NAME,
	AB_TARGET_ADDRESS
};

typedef struct ab_target {
	uint8_t kind; /* enum ab_target_kind */
	uint8_t name_len;
	uint16_t port; /* 0: not given */
	ab_address address;
	char name[AB_TARGET_NAME_SIZE];
} ab_target;

/* Why bytes are no target. Stable: the names are in audit records. */
enum ab_target_reason {
	AB_TARGET_OK = 0,
	AB_TARGET_EMPTY,
	AB_TARGET_TOO_LONG,
	AB_TARGET_LABEL,	/* empty, over 63 bytes, hyphen at an edge */
	AB_TARGET_NUL,
	AB_TARGET_CONTROL,
	AB_TARGET_NOT_ASCII,
	AB_TARGET_USERINFO,	/* "@" */
	AB_TARGET_PERCENT,
	AB_TARGET_CHARACTER,	/* any other that is not LDH */
	AB_TARGET_NUMBER,	/* ends in a number, no dotted quad */
	AB_TARGET_IPV6,		/* malformed, zone, brackets */
	AB_TARGET_NO_PORT,
	AB_TARGET_PORT,		/* not 1..65535 in plain decimal */
	AB_TARGET_REASON_COUNT
};

/* "name_control": for records. */
const char *ab_target_reason_name(enum ab_target_reason reason);

/* On a refusal *out is zeroed, that is AB_TARGET_NONE. */

/* A host alone: a name, "192.0.2.7" or "[2001:db8::7]"; the port stays 0. */
enum ab_target_reason ab_target_host(const char *s, size_t n, ab_target *out);
/* The same where IPv6 comes without brackets (SOCKS5 with a literal). */
enum ab_target_reason ab_target_bare_host(const char *s, size_t n,
					  ab_target *out);
/*
 * "host:port", RFC 3986 section 3.2 without userinfo. `port` stands in when
 * there is none; 0: there has to be one.
 */
enum ab_target_reason ab_target_authority(const char *s, size_t n,
					  uint16_t port, ab_target *out);
/* A name only: no literal. SNI, DNS and patterns. */
enum ab_target_reason ab_target_only_name(const char *s, size_t n,
					  ab_target *out);

/* 1..65535 in plain decimal without sign, space or leading zero; else 0. */
uint16_t ab_target_port(const char *s, size_t n);

/* Hosts are the same; ports are not looked at. */
bool ab_target_same_host(const ab_target *a, const ab_target *b);

/* "name:443", "[2001:db8::7]:443"; no port when it is 0 or `hide`. */
void ab_target_text(const ab_target *t, uint16_t hide,
		    char out[AB_TARGET_TEXT_SIZE]);

#endif
