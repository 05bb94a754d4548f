/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The MCP guard: what stands between an agent (the client) and one server of
 * the Model Context Protocol. Every message of either side is taken in, read
 * strictly, judged, and written anew; what goes on is what was judged, never
 * the bytes that came. What no grant names is refused: a tool that the policy
 * does not list is not in any list and unknown when called.
 *
 * Hard control where the host alone holds both pipes, as agentbox mcp-guard
 * does: neither side has another way to the other. The guard sees what
 * a call asks for, not what the server does: for that, put it in a box.
 *
 * No descriptor, thread or process here: frames in, frames out. A guard is
 * one session of one client and belongs to one thread at a time.
 */
#ifndef AGENTBOX_MCP_H
#define AGENTBOX_MCP_H

#include <agentbox/base.h>
#include <agentbox/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_mcp agentbox_mcp;

/* The two sides of a guard. */
#define AGENTBOX_MCP_CLIENT 1
#define AGENTBOX_MCP_SERVER 2

/* The most bytes of one frame, in either direction. */
#define AGENTBOX_MCP_FRAME_MAX 4194304

/*
 * A guard for one session with the server that the policy's `tools` section
 * calls `server` (1 to 64 of A-Z a-z 0-9 . _ -; AGENTBOX_EINVAL). A server
 * that is not listed there is granted nothing. The policy is kept by
 * reference.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_new(agentbox_policy *policy,
				      const char *server, agentbox_mcp **mcp,
				      agentbox_error **err);
/* NULL is accepted; errno is kept. Since: 1.0 */
AGENTBOX_API void agentbox_mcp_free(agentbox_mcp *mcp);

/*
 * Who the client is: a JSON object of n bytes, at most 4096, that every
 * request of the client carries as _meta["agentbox/identity"]; what the
 * client writes under "agentbox/" is removed, with an identity or without.
 * Errors: EINVAL, EPARSE, ELIMIT.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_set_identity(agentbox_mcp *mcp,
					       const char *json, size_t n,
					       agentbox_error **err);

/*
 * Take in one frame of n untrusted bytes that came from `side`: one JSON
 * text, without the newline that ends it. Returns 0 when it was judged,
 * whatever the verdict; what is to be sent is then in the queue of
 * agentbox_mcp_next_frame(). On failure the session is over: send what is in
 * the queue and close both sides. AGENTBOX_ELIMIT: larger, deeper or more
 * members than a frame may have; AGENTBOX_EDENIED: the two sides cannot be
 * joined (no common version); AGENTBOX_ECLOSED: an earlier call failed;
 * AGENTBOX_EBUSY: take the frames and events out first; AGENTBOX_EINVAL,
 * AGENTBOX_ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_take(agentbox_mcp *mcp, int32_t side,
				       const char *frame, size_t n,
				       agentbox_error **err);

/*
 * The next frame to send, and to which side: one line of JSON without its
 * newline; owned. AGENTBOX_EAGAIN when there is none.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_next_frame(agentbox_mcp *mcp, int32_t *side,
					     agentbox_bytes **frame,
					     agentbox_error **err);

/* The most bytes of the parameters of a call that is asked about. */
#define AGENTBOX_MCP_QUESTION_MAX 32768

/*
 * A call of a tool that the policy's `tools.ask` names needs somebody's yes.
 * 1: it waits for agentbox_mcp_answer(), and the server hears nothing of it
 * before; 0, which is how a guard begins: it is refused. More than 32 that
 * wait, or more than AGENTBOX_MCP_QUESTION_MAX bytes: refused.
 * AGENTBOX_EINVAL.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_set_ask(agentbox_mcp *mcp, int32_t enabled,
					  agentbox_error **err);

/*
 * The next call that waits, and how it is called in the answer: a JSON object
 * with "server", "tool" and "arguments" (as the client sent them; absent where
 * it sent none), owned. Each is given once. AGENTBOX_EAGAIN when there is
 * none.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_next_question(agentbox_mcp *mcp, uint64_t *id,
						agentbox_bytes **json,
						agentbox_error **err);

/*
 * AGENTBOX_VERDICT_ALLOW lets it go on, if the tool may still be called;
 * anything else refuses it. What follows is in the queues. How long a call
 * waits is the host's to keep: one that is not answered waits until it is
 * cancelled or the guard freed. AGENTBOX_ENOTFOUND: no call waits under this
 * id (any more); a failure otherwise as agentbox_mcp_take().
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_answer(agentbox_mcp *mcp, uint64_t id,
					 int32_t verdict,
					 agentbox_error **err);

/*
 * What was decided, oldest first: a JSON object with "type" ("mcp.call",
 * "mcp.list", "mcp.request", "mcp.session", "mcp.dropped", "mcp.tool"),
 * "verdict", "subject", "rule" and "reason"; without "type" it is what
 * agentbox_audit_append() takes. A host that records before it acts takes the
 * events before the frames. AGENTBOX_EAGAIN when there is none.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_mcp_next_event(agentbox_mcp *mcp,
					     agentbox_bytes **json,
					     agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
