/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the subcommands that speak the Model Context Protocol share: a link
 * carries frames, one a line, over two descriptors, and never more than a
 * bounded number of bytes; records go into the audit before frames go out.
 */
#ifndef TOOLS_MCP_H
#define TOOLS_MCP_H

#include <poll.h>

#include <agentbox/audit.h>
#include <agentbox/mcp.h>

#include "tool.h"

/* Above the first nobody is read who could add to it; above the second the
   session ends. */
#define LINK_HIGH (1u << 20)
#define LINK_MOST (16u << 20)

typedef struct mcp_link {
	int in, out;   /* -1: ended */
	char *line;    /* owned: what came and has no newline yet */
	size_t line_n;
	char *queue;   /* owned: what is still to be written */
	size_t start, end, room;
} mcp_link;

void link_end(mcp_link *l);
/* What is still to be written, in bytes. */
size_t link_waits(const mcp_link *l);
/* Queue one frame and its newline; false: too much waits, or no memory. */
bool link_put(mcp_link *l, const char *frame, size_t n);
/* Write what can be written without waiting; false: nobody reads. */
bool link_write(mcp_link *l);
/*
 * Read once and hand every whole line to `fn`, which returns false to stop.
 * 1: go on; 0: the other side has closed; -1: `fn` stopped it. A line over
 * the limit of a frame is handed on as it is, for the guard to refuse.
 */
int link_read(mcp_link *l, bool (*fn)(void *data, const char *p, size_t n),
	      void *data);

/*
 * Everything the guard has decided, recorded; then its frames, to `client`
 * and `server`. False, with *status: already said.
 */
typedef struct mcp_session {
	tool *t;
	agentbox_mcp *guard;
	agentbox_audit *audit; /* or NULL */
	const char *digest;    /* of the policy */
	mcp_link client, server;
	json_t *inbox; /* not NULL: what goes to the server is appended here */
	int status;
} mcp_session;

bool mcp_take(mcp_session *s, int32_t side, const char *p, size_t n);
/* {"uid", "euid"} and what the policy calls the agent; owned. */
json_t *mcp_identity(const json_t *policy);

#endif
