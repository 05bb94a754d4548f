/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HTTP/1.1 heads as a wall reads them: RFC 9112 without any of its leniency.
 * What two parsers could read in two ways is refused, so that the peer behind
 * the gateway sees the message the gateway judged. What is forwarded is
 * written anew by http_write.h, never the client's bytes.
 * Spec: DESIGN.md section 9, gateway cases 13-29, 67-83.
 *
 * The caller owns the bytes: it keeps all of the head in one buffer, and
 * calls ab_http_head_read() whenever that has grown. The reader looks at each
 * byte once, whatever the pieces are, holds offsets into the buffer and no
 * memory of its own.
 *
 * Accepted: HTTP/1.1 and 1.0 (CONNECT of some clients), CRLF line ends, one
 * space where the grammar says so. Refused: bare LF or CR, NUL and other
 * controls, obs-fold, space before the colon, empty lines before the head,
 * any Transfer-Encoding but one "chunked", it together with Content-Length,
 * two of either, numbers not in plain decimal, two or no or mangled Hosts,
 * in a request two of another field that has one value.
 */
#ifndef GATEWAY_HTTP_H
#define GATEWAY_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/target.h"

#define AB_HTTP_HEAD_MAX 32768 /* all of the head, with the empty line */
#define AB_HTTP_TARGET_MAX 8192
#define AB_HTTP_LINE_MAX 16384 /* one field line */
#define AB_HTTP_FIELDS_MAX 100
#define AB_HTTP_METHOD_MAX 32

/* Names of reasons are in audit records: stable. */
enum ab_http_reason {
	AB_HTTP_MORE = 0, /* the head is not complete */
	AB_HTTP_OK,
	/* the head, 400 */
	AB_HTTP_LINE_END,      /* bare CR or LF, or an empty first line */
	AB_HTTP_CONTROL,       /* a control character */
	AB_HTTP_METHOD,	       /* not a token */
	AB_HTTP_REQUEST_LINE,  /* spaces, or no version (HTTP/0.9) */
	AB_HTTP_STATUS_LINE,
	AB_HTTP_FIELD_NAME,    /* empty, no token, space before the colon */
	AB_HTTP_FIELD_TWICE,   /* one that has one value */
	AB_HTTP_FOLD,	       /* a line that continues another */
	AB_HTTP_TARGET_BYTE,   /* a byte no URI has, or a mangled %XX */
	AB_HTTP_TARGET_FORM,   /* not the form the method has */
	AB_HTTP_SCHEME,	       /* absolute-form with another scheme */
	AB_HTTP_AUTHORITY,     /* net/target.h says why */
	AB_HTTP_HOST_MISSING,
	AB_HTTP_HOST_TWICE,
	AB_HTTP_HOST,	       /* net/target.h says why */
	AB_HTTP_HOST_UNEQUAL,  /* another host than the target's */
	AB_HTTP_LENGTH,	       /* not one plain number */
	AB_HTTP_LENGTH_TWICE,
	AB_HTTP_CODING,	       /* not exactly one "chunked" */
	AB_HTTP_CODING_TWICE,
	AB_HTTP_LENGTH_CODING, /* both */
	AB_HTTP_BODY,	       /* where there can be none */
	AB_HTTP_CONNECTION,    /* not a list of tokens */
	AB_HTTP_UPGRADE,       /* 101 that nobody asked for */
	/* others */
	AB_HTTP_TRACE,	       /* 405: TRACE, OPTIONS * */
	AB_HTTP_TARGET_LONG,   /* 414 */
	AB_HTTP_EXPECT,	       /* 417 */
	AB_HTTP_HEAD_LONG,     /* 431 */
	AB_HTTP_LINE_LONG,     /* 431 */
	AB_HTTP_FIELDS,	       /* 431 */
	AB_HTTP_VERSION,       /* 505 */
	AB_HTTP_INTERIM,       /* 502: more than 16 interim answers */
	AB_HTTP_REASON_COUNT
};

const char *ab_http_reason_name(enum ab_http_reason reason);
/* The status a client is answered with; responses that are refused: 502. */
unsigned ab_http_reason_status(enum ab_http_reason reason);

enum ab_http_kind {
	AB_HTTP_REQUEST,
	AB_HTTP_RESPONSE
};

enum ab_http_form {
	AB_HTTP_FORM_NONE = 0,
	AB_HTTP_FORM_ORIGIN,   /* GET /path */
	AB_HTTP_FORM_ABSOLUTE, /* GET http://host/path */
	AB_HTTP_FORM_CONNECT   /* CONNECT host:port */
};

enum ab_http_body {
	AB_HTTP_BODY_NONE = 0,
	AB_HTTP_BODY_LENGTH,
	AB_HTTP_BODY_CHUNKED,
	AB_HTTP_BODY_CLOSE /* responses only: until the connection ends */
};

enum ab_http_flag {
	AB_HTTP_CLOSE = 1,	    /* the connection ends after this */
	AB_HTTP_CONTINUE = 2,	    /* Expect: 100-continue */
	AB_HTTP_UPGRADE_WS = 4,	    /* websocket is asked for or granted */
	AB_HTTP_UPGRADE_OTHER = 8,  /* h2c and the like: stripped */
	AB_HTTP_IS_HEAD = 16	    /* the method is HEAD */
};

/* A part of the caller's buffer. */
typedef struct ab_http_span {
	uint16_t at, len;
} ab_http_span;

typedef struct ab_http_field {
	ab_http_span name, value; /* the value without space around it */
} ab_http_field;

typedef struct ab_http_head {
	/* how far, for ab_http_head_read() alone */
	uint8_t state;
	uint8_t reason; /* enum ab_http_reason */
	uint16_t pos;
	uint16_t line; /* where the line began */
	uint16_t mark;
	/* what was read; complete with AB_HTTP_OK */
	uint8_t kind;  /* enum ab_http_kind */
	uint8_t minor; /* HTTP/1.x */
	uint8_t form;  /* enum ab_http_form */
	uint8_t body;  /* enum ab_http_body */
	uint8_t target_reason; /* enum ab_target_reason, for AUTHORITY, HOST */
	uint8_t field_count;
	uint16_t status;
	uint16_t len;	/* bytes of the head, with the empty line */
	uint32_t flags; /* enum ab_http_flag */
	uint64_t length;
	ab_http_span method;
	ab_http_span target; /* as written */
	ab_http_span path;   /* path and query; len 0: "/" */
	ab_http_span phrase; /* of a response */
	/* the authority of the target or, origin-form, the Host */
	ab_target host;
	ab_http_field fields[AB_HTTP_FIELDS_MAX];
} ab_http_head;

/* Zeroed by hand is a request, too. */
void ab_http_head_init(ab_http_head *head, enum ab_http_kind kind);

/*
 * Read on in buf, which holds all bytes of the head so far and maybe more.
 * MORE: call again with the same bytes and more. OK: head->len bytes are the
 * head. Else: refused, for good.
 */
enum ab_http_reason ab_http_head_read(ab_http_head *head, const char *buf,
				      size_t len);

/* What the request was, for its responses. */
typedef struct ab_http_exchange {
	bool is_head, is_connect, wants_upgrade;
	uint8_t interim; /* 1xx answers so far */
} ab_http_exchange;

/*
 * After AB_HTTP_OK of a response: whether it may follow this request, and
 * what its body is. Interim answers (1xx but 101) are counted.
 */
enum ab_http_reason ab_http_response_judge(ab_http_head *head,
					   ab_http_exchange *exchange);

/* Is the field's name this (lower case), in ASCII and with "_" read as "-",
   as servers that hand fields on in variables do (RFC 3875 section 4.1.18)? */
bool ab_http_name_is(const char *buf, ab_http_span name, const char *lower);

#endif
