/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ClientHello of a tunnel: whom the client thinks it talks to. RFC 8446
 * section 4.1.2 and RFC 5246 section 7.4.1.2 over RFC 8446 section 5.1
 * records, RFC 6066 section 3 (server_name), RFC 7301 (ALPN), RFC 9849 and
 * its drafts (encrypted_client_hello). Nothing is decrypted, and no byte goes
 * upstream before the whole hello is read and judged.
 * Spec: DESIGN.md section 9, gateway cases 52-61.
 *
 * The reader takes bytes as they come, across TCP segments, records and
 * fragments, looks at each once and keeps none: the caller keeps what it read
 * and sends it on as it was.
 *
 * Refused: SSLv2 and what is no TLS, versions below 1.2, lengths that do not
 * add up, any extension twice, a server_name that is not exactly one host
 * name, another record or message before the hello is whole.
 */
#ifndef GATEWAY_TLS_HELLO_H
#define GATEWAY_TLS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/target.h"

#define AB_HELLO_MAX 16384 /* the message */
#define AB_HELLO_WIRE_MAX 32768 /* with its records, however small */
#define AB_HELLO_EXTENSIONS_MAX 64

enum ab_hello_reason {
	AB_HELLO_MORE = 0,
	AB_HELLO_OK,
	AB_HELLO_NOT_TLS,
	AB_HELLO_SSLV2,
	AB_HELLO_RECORD,      /* version, length or type of a record */
	AB_HELLO_TYPE,	      /* another handshake message */
	AB_HELLO_LONG,
	AB_HELLO_VERSION,     /* below TLS 1.2 */
	AB_HELLO_LENGTH,      /* lengths that do not add up */
	AB_HELLO_SESSION_ID,  /* over 32 bytes */
	AB_HELLO_CIPHERS,
	AB_HELLO_COMPRESSION, /* no null, or more than it with TLS 1.3 */
	AB_HELLO_TWICE,	      /* an extension */
	AB_HELLO_EXTENSIONS,  /* too many */
	AB_HELLO_SNI,	      /* not exactly one host_name */
	AB_HELLO_SNI_NAME,    /* no host name: net/target.h says why */
	AB_HELLO_ALPN,
	AB_HELLO_TRAILING,    /* bytes behind the hello in its record */
	/* judged against the target */
	AB_HELLO_SNI_ABSENT,
	AB_HELLO_SNI_MISMATCH,
	AB_HELLO_ECH,
	AB_HELLO_REASON_COUNT
};

const char *ab_hello_reason_name(enum ab_hello_reason reason);

enum ab_hello_flag {
	AB_HELLO_HAS_SNI = 1,
	AB_HELLO_HAS_ECH = 2, /* or its ancestors; grease looks the same */
	AB_HELLO_HAS_ALPN = 4,
	AB_HELLO_ALPN_H2 = 8,
	AB_HELLO_ALPN_HTTP11 = 16,
	AB_HELLO_ALPN_OTHER = 32,
	AB_HELLO_TLS13 = 64,
	AB_HELLO_EARLY_DATA = 128
};

/* Zeroed: the beginning. */
typedef struct ab_hello {
	/* how far, for the reader alone */
	uint8_t state, record_state, reason;
	uint8_t size_bytes; /* of a number being read */
	uint8_t any_version; /* one of supported_versions is ours */
	uint8_t name_type;
	uint16_t record_left;
	uint32_t number;    /* the number being read */
	uint32_t wire;	    /* bytes of the wire so far */
	uint32_t body_left; /* of the message */
	uint32_t skip;	    /* bytes of a field without interest */
	uint32_t list_left; /* of a list inside an extension */
	uint32_t extensions_left;
	uint32_t extension_left;
	uint16_t extension;
	uint16_t extension_count;
	uint16_t name_len;
	uint16_t alpn_len;
	uint8_t null_compression, compressions;
	uint16_t seen[AB_HELLO_EXTENSIONS_MAX];
	char name[256]; /* SNI or a protocol as it is read */
	/* what was read; complete with OK */
	uint8_t target_reason; /* enum ab_target_reason, for SNI_NAME */
	uint32_t flags;	       /* enum ab_hello_flag */
	ab_target sni;
} ab_hello;

/*
 * Take bytes. *used of them belong to the hello; with OK the rest (early
 * data) was not looked at. MORE: all was taken. Else: refused, for good.
 */
enum ab_hello_reason ab_hello_read(ab_hello *h, const void *p, size_t n,
				   size_t *used);

/* What a rule lets pass beyond a hello with the target's own name. */
enum ab_hello_permit {
	AB_HELLO_PERMIT_NO_SNI = 1,
	AB_HELLO_PERMIT_ECH = 2
};

/*
 * May this hello go to the target? A name has to be the SNI's. A target that
 * is an address has no name, so an SNI there is a mismatch and its absence is
 * right (case 53). OK or why not.
 */
enum ab_hello_reason ab_hello_judge(const ab_hello *h, const ab_target *target,
				    unsigned permit);

#endif
