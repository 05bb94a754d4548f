/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of MCP over HTTP. A request of the box is a *post*; what goes to
 * the server is a *leg*, a request of ours on a connection of its own; the
 * guard of lib/mcp stands between them in a *session*. mcp_serve.c finds the
 * server, mcp_post.c reads a request, mcp_session.c hands messages to the
 * guard and what it gives to posts and legs, mcp_answer.c writes to the box,
 * mcp_leg.c speaks with the server.
 * Nothing of a head of either side reaches the other, and no id of a session.
 */
#ifndef GATEWAY_MCP_INTERNAL_H
#define GATEWAY_MCP_INTERNAL_H

#include <jansson.h>

#include "ask.h"
#include "http_chunk.h"
#include "mcp.h"
#include "mcp/carry.h"
#include "mcp_http.h"
#include "route_internal.h"
#include "sse.h"

/* Of one box. */
#define AB_MCP_SESSIONS_MAX 64
#define AB_MCP_POSTS_MAX 128 /* requests and streams of the box at once */
#define AB_MCP_LEGS_MAX 256
#define AB_MCP_HELD_MAX (64u << 20) /* bytes of bodies, events and answers */

#define AB_MCP_IDLE_MS (30 * 60 * 1000u) /* a session that nobody uses */
#define AB_MCP_CALL_MS (60 * 60 * 1000u) /* a call, whatever it says */
#define AB_MCP_QUIET_MS (10 * 60 * 1000u) /* a call that says nothing */
#define AB_MCP_STREAM_MS (2 * 60 * 60 * 1000u) /* a stream that is silent */
#define AB_MCP_BODY_MS 60000 /* the box sends or takes nothing */

#define AB_MCP_ID_SIZE 65 /* of a session of ours: 256 random bits in hex */
#define AB_MCP_HIGH 65536 /* waits for the box: the server is not read */
#define AB_MCP_WAITING_MAX (12u << 20) /* of one post */

typedef struct ab_mcp_server ab_mcp_server;
typedef struct ab_mcp_session ab_mcp_session;
typedef struct ab_mcp_post ab_mcp_post;
typedef struct ab_mcp_leg ab_mcp_leg;

struct ab_mcps {
	ab_gw *gw;
	agentbox_policy *policy;
	char *identity_text;
	ab_mcp_server *servers;
	size_t count;
	uint64_t scope; /* the last that was given */
	size_t sessions, posts, legs;
	size_t held; /* against AB_MCP_HELD_MAX */
};

struct ab_mcp_server {
	ab_mcps *mcps;
	const char *name;
	ab_route_state *state; /* NULL: it is a command of the host's */
	ab_mcp_memory *memory;
	ab_mcp_session *stateless; /* for those without one; NULL: not yet */
	ab_mcp_session *sessions;
};

struct ab_mcp_session {
	ab_mcp_server *server;
	agentbox_mcp *guard;
	char id[AB_MCP_ID_SIZE];	       /* ours; "": stateless */
	char server_id[AB_MCP_SESSION_MAX + 1]; /* the server's; "": none */
	bool is_over, is_greeted;
	ab_live live;
	ab_timer timer;
	ab_later later;
	ab_mcp_post *posts, *stream;
	ab_mcp_leg *legs;
	ab_mcp_session *next, **back; /* of the server's */
};

/* Memory that grows, counted. */
typedef struct ab_mcp_bytes {
	char *p;
	size_t at, len, size; /* bytes [at, len) are there */
} ab_mcp_bytes;

enum ab_mcp_post_phase {
	AB_MCP_POST_BODY,    /* it is read */
	AB_MCP_POST_WAITING, /* for an answer */
	AB_MCP_POST_STREAM,  /* events were sent, more can come */
	AB_MCP_POST_LAST,    /* what waits is the last */
	AB_MCP_POST_OVER
};

struct ab_mcp_post {
	ab_client *c;
	ab_mcp_server *server;
	ab_mcp_session *session; /* NULL: not in one yet */
	uint64_t scope;
	uint8_t phase;	    /* enum ab_mcp_post_phase */
	bool is_request;    /* somebody waits for a result */
	bool is_stream;	    /* GET */
	bool is_greeting, is_stateless;
	bool is_old, close; /* of the client's connection */
	bool is_chunked, must_continue;
	ab_mcp_http head;
	ab_chunk chunk;
	uint64_t body_left;
	size_t in_at;
	ab_mcp_bytes in, out;
	unsigned legs; /* on their way for it */
	ab_asked asked; /* about its call, which the guard knows as: */
	uint64_t question;
	const char *failed; /* why one of them did not arrive; static */
	uint64_t sent;
	ab_later later;
	ab_mcp_post *next, **back; /* of the session's */
};

enum ab_mcp_leg_phase {
	AB_MCP_LEG_OPENING,
	AB_MCP_LEG_SENDING,
	AB_MCP_LEG_HEAD,
	AB_MCP_LEG_JSON,
	AB_MCP_LEG_EVENTS,
	AB_MCP_LEG_OVER
};

struct ab_mcp_leg {
	ab_mcps *mcps;
	ab_route_state *state;
	ab_mcp_session *session; /* NULL: nobody waits */
	uint64_t scope;
	uint8_t verb;	/* enum ab_mcp_http_verb */
	uint8_t phase;	/* enum ab_mcp_leg_phase */
	uint8_t version; /* enum ab_mcp_version */
	bool is_request, is_answered, is_paused, head_is_sent;
	char server_id[AB_MCP_SESSION_MAX + 1];
	json_t *message; /* owned; NULL but for a POST */
	agentbox_bytes *frame;
	ab_opening opening;
	ab_upstream *up;
	ab_timer quiet, deadline;
	ab_paced paced;
	ab_live live;
	ab_later later;
	size_t sent; /* of the head, then of the frame */
	ab_http_exchange exchange;
	ab_client_in *answer; /* while its head is read */
	uint8_t body;	     /* enum ab_http_body */
	uint64_t body_left;
	unsigned status;
	ab_chunk chunk;
	ab_sse sse;
	ab_mcp_bytes in; /* the JSON, or an event */
	size_t held; /* for the message, against AB_MCP_HELD_MAX */
	uint64_t up_total, down_total;
	ab_mcp_leg *next, **back; /* of the session's */
};

/* --- mcp_session.c -------------------------------------------------------- */

/* NULL: too many, or out of memory. A stateless one is the server's own. */
ab_mcp_session *ab_mcp_session_new(ab_mcp_server *server, bool is_stateless);
ab_mcp_session *ab_mcp_session_find(ab_mcp_server *server, const char *id,
				    size_t n);
/* Every post of it fails with this reason; its memory goes later. */
void ab_mcp_session_end(ab_mcp_session *s, const char *reason);
/* The server is told that it ends, if it has an id for it. */
void ab_mcp_session_leave(ab_mcp_session *s);
/*
 * A message from a side, and what follows of it. The session, the post and
 * the leg may be over afterwards.
 */
void ab_mcp_session_take(ab_mcp_session *s, int32_t side, uint64_t scope,
			 json_t *value);
/* The server does not answer this request: who asked is told. */
void ab_mcp_session_lost(ab_mcp_session *s, const json_t *id,
			 const char *text, const char *reason);
/* A call that was held: `why` not, static, or NULL. */
void ab_mcp_session_answer(ab_mcp_session *s, uint64_t question,
			   const char *why);
/* What the guard has given goes on. */
void ab_mcp_session_pump(ab_mcp_session *s);
/* Requests that their own client has cancelled are answered by nobody. */
void ab_mcp_session_settle(ab_mcp_session *s);
/* It was used now. */
void ab_mcp_session_touch(ab_mcp_session *s);
ab_mcp_post *ab_mcp_session_post(ab_mcp_session *s, uint64_t scope);

/* Records; required: false if it could not be made. */
bool ab_mcp_tell(ab_mcps *mcps, uint32_t kind, const char *server,
		 const char *subject, const char *reason, const char *rule,
		 const char *detail, bool required);

/* n more bytes behind len; false: too much, or out of memory. */
bool ab_mcp_room(ab_mcps *mcps, ab_mcp_bytes *b, size_t n, size_t most);
void ab_mcp_bytes_end(ab_mcps *mcps, ab_mcp_bytes *b);

/* --- mcp_post.c ----------------------------------------------------------- */

/* The head was judged; `head` are its findings. Takes the client. */
void ab_mcp_post_begin(ab_mcp_server *server, ab_client *c,
		       const ab_mcp_http *head, ab_mcp_session *s);
/* Everything of it but the client, which is somebody else's again. */
void ab_mcp_post_release(ab_mcp_post *p);
/* What waits to be written is the last: its session is done with it. */
void ab_mcp_post_last(ab_mcp_post *p);
/* Who asked has gone, or has to. */
void ab_mcp_post_cut(void *arg);
/* Nobody waits for its answer any more, not even who asked. */
void ab_mcp_post_dismiss(ab_mcp_post *p);
/* Its call waits for the host's answer; false: that cannot be asked for. */
bool ab_mcp_post_ask(ab_mcp_post *p, const ab_mcp_question *question);
/* A leg of it has arrived, or not: `failed` says why, NULL: it has. */
void ab_mcp_post_leg_done(ab_mcp_post *p, const char *failed);

/* --- mcp_answer.c --------------------------------------------------------- */

/* An error of JSON-RPC without an id, and the end of the connection. */
void ab_mcp_refuse_client(ab_client *c, unsigned status, int code,
			  const char *reason, const char *text);
/* The same for a post, whose end it is; a stream that has begun is cut. */
void ab_mcp_post_fail(ab_mcp_post *p, unsigned status, const char *reason,
		      const char *text);
/* 202 or 204: there is nothing to say. */
void ab_mcp_post_accept(ab_mcp_post *p, unsigned status);
/* A frame of the guard's for the box. */
void ab_mcp_post_frame(ab_mcp_post *p, const ab_mcp_frame *frame);
/* The server's stream has begun; has ended. */
void ab_mcp_post_stream(ab_mcp_post *p);
void ab_mcp_post_stream_end(ab_mcp_post *p);
/* What waits goes on, as far as the box takes it. */
void ab_mcp_post_flush(ab_mcp_post *p);

/* --- mcp_leg.c ------------------------------------------------------------ */

/*
 * To the server: a POST of the frame (taken), a GET or a DELETE. `session`
 * may be NULL with a DELETE alone, for which `server_id` stands. false: it
 * could not begin, and nothing is told.
 */
bool ab_mcp_leg_post(ab_mcp_session *s, ab_mcp_frame *frame);
bool ab_mcp_leg_stream(ab_mcp_session *s, uint64_t scope);
void ab_mcp_leg_delete(ab_mcp_session *s);
/* Without a word to anybody. */
void ab_mcp_leg_drop(ab_mcp_leg *l);
/* The box takes more again. */
void ab_mcp_leg_resume(ab_mcp_leg *l);

#endif
