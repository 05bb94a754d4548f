/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guard for who carries frames otherwise than line by line: over HTTP each
 * message comes in a request of its own, what answers it has to go back there,
 * and there are several sessions with one server. A `scope` is a number of
 * the carrier's for one asker; 0 is none. It comes back with every frame that
 * is for this asker or that his message led to. Spec: agentbox/mcp.h.
 */
#ifndef AB_MCP_CARRY_H
#define AB_MCP_CARRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agentbox/mcp.h"
#include "mcp/method.h"

/*
 * Take in one JSON value that ab_mcp_read() gave (borrowed). Returns what
 * agentbox_mcp_take() does.
 */
int32_t ab_mcp_take_value(agentbox_mcp *m, int32_t side, uint64_t scope,
			  json_t *value, agentbox_error **err);

/* A frame as bytes and as what they say; both are owned. */
typedef struct ab_mcp_frame {
	int32_t side;
	uint64_t scope;
	agentbox_bytes *bytes;
	json_t *message;
} ab_mcp_frame;

/* false: none waits. */
bool ab_mcp_next(agentbox_mcp *m, ab_mcp_frame *frame);
void ab_mcp_frame_end(ab_mcp_frame *frame);

/*
 * The server will not answer the request that went to it under `id`, for a
 * reason of the carrier's: who asked gets an error with it. 0 also when
 * nothing is under way under that id.
 */
int32_t ab_mcp_lost(agentbox_mcp *m, const json_t *id, const char *message,
		    const char *reason, agentbox_error **err);
/* Who asked has gone: what he waits for is for nobody. */
void ab_mcp_forget(agentbox_mcp *m, uint64_t scope);

/* A call that waits for an approval. Borrowed, until it is answered. */
typedef struct ab_mcp_question {
	uint64_t id, scope;
	const char *tool;
	const json_t *arguments; /* NULL: none */
} ab_mcp_question;

/* false: none that was not given out. */
bool ab_mcp_next_question(agentbox_mcp *m, ab_mcp_question *question);
/* `why` not, for the record and who asked; NULL: it goes on. As
   agentbox_mcp_answer(). */
int32_t ab_mcp_answer(agentbox_mcp *m, uint64_t id, const char *why,
		      agentbox_error **err);

/* Is a request of this asker under way? */
bool ab_mcp_waits(const agentbox_mcp *m, uint64_t scope);

/*
 * Over HTTP, 2026-07-28: the argument of a tools/call that its head has as the
 * i-th field "Mcp-Param-*name". *name NULL: there is no such field; else NULL
 * where the call lacks the argument. Borrowed.
 */
const json_t *ab_mcp_param(const agentbox_mcp *m, const json_t *call, size_t i,
			   const char **name);

/* The version that is settled. */
enum ab_mcp_version ab_mcp_settled(const agentbox_mcp *m);

/*
 * What a session with a server leaves behind for the next: how much of the
 * rates is used up, and what each tool was when it was first seen. So
 * neither a rate nor a quarantine ends with a session.
 */
typedef struct ab_mcp_memory ab_mcp_memory;

/* NULL: out of memory. */
ab_mcp_memory *ab_mcp_memory_new(void);
/* NULL is ignored. */
void ab_mcp_memory_unref(ab_mcp_memory *memory);
/* The one of a guard; a new reference. */
ab_mcp_memory *ab_mcp_memory_of(agentbox_mcp *m);
/* Before the first frame: of another guard of the same policy and server. */
void ab_mcp_memory_join(agentbox_mcp *m, ab_mcp_memory *memory);

#endif
