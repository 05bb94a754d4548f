/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the Model Context Protocol says over HTTP, judged: the head of a
 * request and then its body, for the sessions of 2025-03-26 to 2025-11-25 and
 * the stateless 2026-07-28. The body decides; a head that says otherwise is
 * refused, so that nobody who reads only heads was told something else.
 * Nothing is resumed: a stream ends with its connection.
 * Spec: the transports of those versions, gateway cases 95, 99, 128, 129, 136.
 */
#ifndef GATEWAY_MCP_HTTP_H
#define GATEWAY_MCP_HTTP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "mcp/frame.h"
#include "mcp/method.h"

#define AB_MCP_HTTP_BODY_MAX (4u << 20)
#define AB_MCP_SESSION_MAX 128 /* bytes of an id, of any server */
#define AB_MCP_NAME_FIELD 4096
/* HeaderMismatch of 2026-07-28 */
#define AB_MCP_HEADER_MISMATCH (-32020)

/* Names are in records: stable. */
enum ab_mcp_http_reason {
	AB_MCP_HTTP_UNJUDGED = 0,
	AB_MCP_HTTP_OK,
	AB_MCP_HTTP_METHOD,	  /* 405: not POST, GET or DELETE */
	AB_MCP_HTTP_ORIGIN,	  /* 403: a page of somebody's */
	AB_MCP_HTTP_TWICE,	  /* 400: a field that decides, twice */
	AB_MCP_HTTP_TYPE,	  /* 415: the body is not application/json */
	AB_MCP_HTTP_CODING,	  /* 415: it is packed */
	AB_MCP_HTTP_ACCEPT,	  /* 406: takes neither JSON nor events */
	AB_MCP_HTTP_LENGTH,	  /* 413 */
	AB_MCP_HTTP_VERSION,	  /* 400: one that is not known */
	AB_MCP_HTTP_SESSION,	  /* 400: an id that is none */
	AB_MCP_HTTP_RESUME,	  /* 400: Last-Event-ID */
	AB_MCP_HTTP_BODY,	  /* 400: no message, or a batch */
	AB_MCP_HTTP_MISMATCH,	  /* 400: the head says something else */
	AB_MCP_HTTP_NEEDS_SESSION, /* 400: none was named */
	AB_MCP_HTTP_NO_SESSION,	  /* 400: one was named where there is none */
	AB_MCP_HTTP_REASON_COUNT
};

const char *ab_mcp_http_reason_name(enum ab_mcp_http_reason reason);
unsigned ab_mcp_http_reason_status(enum ab_mcp_http_reason reason);

enum ab_mcp_http_verb {
	AB_MCP_HTTP_POST = 1,
	AB_MCP_HTTP_GET,   /* a stream of what the server says by itself */
	AB_MCP_HTTP_DELETE /* the end of a session */
};

typedef struct ab_mcp_http {
	uint8_t verb;	 /* enum ab_mcp_http_verb */
	uint8_t version; /* enum ab_mcp_version; NONE: the head names none */
	uint8_t family;	 /* AB_MCP_SESSIONS or AB_MCP_STATELESS, of a body */
	bool is_greeting; /* the body is initialize */
	ab_http_span session; /* in the head's bytes; len 0: none */
	ab_http_span method, name; /* Mcp-Method, Mcp-Name; len 0: none */
	bool has_method, has_name;
} ab_mcp_http;

/*
 * Judge a head, before any of the body is read. `origin` is the gateway's own
 * ("http://gateway:8080"), the only one a page may have. *out is zeroed with
 * anything but OK.
 */
enum ab_mcp_http_reason ab_mcp_http_head(const ab_http_head *head,
					 const char *buf, const char *origin,
					 ab_mcp_http *out);
/*
 * Judge the body of a POST with its head, after OK. *value is owned: the one
 * message, for the guard; NULL with anything but OK.
 */
enum ab_mcp_http_reason ab_mcp_http_body(ab_mcp_http *judged, const char *buf,
					 const char *body, size_t n,
					 json_t **value);

/* The field of this name: how many there are, the last in *value. */
unsigned ab_mcp_find_field(const ab_http_head *head, const char *buf,
			   const char *name, ab_http_span *value);
/* This type, and in UTF-8 if it names a charset? */
bool ab_mcp_is_type(const char *p, size_t n, const char *type);
/* Nothing but visible ASCII, and some of it? */
bool ab_mcp_is_visible(const char *p, size_t n);
/* What Mcp-Name has to say for a message; NULL: nothing. Borrowed. */
const json_t *ab_mcp_name_of(const char *method, const json_t *params);

#endif
