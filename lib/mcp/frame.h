/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One frame of the Model Context Protocol: a JSON text, read with limits that
 * hold before jansson sees it, sorted into what JSON-RPC 2.0 knows, and
 * written again. It refuses what two readers could read differently:
 * duplicate keys, NUL, text that is not UTF-8, numbers that do not fit.
 * Spec: RFC 8259, JSON-RPC 2.0 sections 4 and 5, cases 123-127.
 */
#ifndef AB_MCP_FRAME_H
#define AB_MCP_FRAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/base.h"

#define AB_MCP_MAX_DEPTH 64
#define AB_MCP_MAX_MEMBERS 10000
#define AB_MCP_MAX_ID 255
#define AB_MCP_MAX_METHOD 128
#define AB_MCP_MAX_BATCH 50

/* The codes of JSON-RPC 2.0 section 5.1 and of MCP. */
#define AB_MCP_PARSE (-32700)
#define AB_MCP_INVALID (-32600)
#define AB_MCP_NO_METHOD (-32601)
#define AB_MCP_BAD_PARAMS (-32602)
#define AB_MCP_INTERNAL (-32603)
#define AB_MCP_REFUSED (-32000)
#define AB_MCP_NO_VERSION (-32022)

enum ab_mcp_kind {
	AB_MCP_NOTHING = 0, /* no message: `why` says so */
	AB_MCP_REQUEST,
	AB_MCP_NOTIFICATION,
	AB_MCP_RESPONSE
};

typedef struct ab_mcp_message {
	enum ab_mcp_kind kind;
	json_t *id;		    /* borrowed; NULL without one */
	const char *method;	    /* borrowed, no NUL inside */
	json_t *params, *result, *error; /* borrowed; NULL without one */
	const char *why;	    /* static; NOTHING only */
} ab_mcp_message;

#define AB_MCP_TWIN "a key is one of the protocol's but for its spelling"

/*
 * Parse a frame. *value is owned. 0; AGENTBOX_EPARSE: no JSON that can be
 * trusted to mean one thing; AGENTBOX_ELIMIT: past a limit, and who sends
 * such a thing is not read from any more. `why` is static, for both.
 */
int32_t ab_mcp_read(const char *text, size_t n, json_t **value,
		    const char **why);
/* Sort one JSON value; everything in *m is borrowed from it. */
void ab_mcp_sort(json_t *value, ab_mcp_message *m);
/* Of `_meta`, in requests of 2026-07-28. */
#define AB_MCP_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define AB_MCP_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define AB_MCP_META_CLIENT "io.modelcontextprotocol/clientInfo"
/*
 * Is there a key that some readers, which do not care for case or which take
 * names of their language as well, take for one of the protocol's, in it or
 * its _meta? They read another message than the one that is judged.
 */
bool ab_mcp_has_twin(const json_t *object);
/* One that they take for this word. */
bool ab_mcp_has_twin_of(const json_t *object, const char *word);
/* Is it the word, to such readers? */
bool ab_mcp_is_like(const char *key, const char *word);
/* A line without its newline; NULL for want of memory or over the maximum. */
agentbox_bytes *ab_mcp_write(const json_t *value);
/* What digests are made of: sorted keys, no white space. NULL as above. */
char *ab_mcp_canonical(const json_t *value);
/* Is this an id that a request may have? */
bool ab_mcp_is_id(const json_t *id);

/*
 * A copy of a text for people and models without what they do not see: control
 * characters but tab and newline, directions, zero width, tags. At most `max`
 * bytes, cut at a character. NULL without memory.
 */
json_t *ab_mcp_clean(const json_t *text, size_t max);
/* Has it such characters? */
bool ab_mcp_is_clean(const char *text, size_t n);

#endif
