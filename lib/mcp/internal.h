/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of agentbox_mcp. client.c judges what the client sends,
 * server.c what the server sends, tools.c what tools there are; session.c
 * holds what both need. Each function returns 0 or a failure that ends the
 * session; a refusal is no failure.
 */
#ifndef AB_MCP_INTERNAL_H
#define AB_MCP_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agentbox/mcp.h"
#include "base/json.h"
#include "mcp/carry.h"
#include "mcp/frame.h"
#include "mcp/method.h"
#include "policy/policy.h"

#define AB_MCP_CALLS 256 /* requests of the client under way */
#define AB_MCP_ASKS 64	 /* requests of the server under way */
#define AB_MCP_QUEUE 1024
#define AB_MCP_NAME_MAX 128
#define AB_MCP_TEXT_MAX 8192
#define AB_MCP_TOOL_MAX 65536
#define AB_MCP_ARGUMENTS_MAX (1u << 20)
#define AB_MCP_PAGES 64
#define AB_MCP_LISTS 16		/* of them under way */
#define AB_MCP_META_MAX 65536
#define AB_MCP_TOOLS 2048
#define AB_MCP_KNOWN_MAX 8192 /* names of tools that are remembered */
#define AB_MCP_CURSOR_MAX 4096

/* A request under way; free when id is 0. */
typedef struct ab_mcp_call {
	uint64_t id;	    /* ours: what the other side sees */
	json_t *asked;	    /* owned: what the asker calls it */
	json_t *token;	    /* owned: his progress token, or NULL */
	const ab_mcp_method *method;
	json_t *params;	    /* owned, LIST or while it waits: of the request */
	json_t *tools;	    /* owned, LIST: what came so far */
	unsigned pages;
	size_t bytes; /* of the pages */
	uint64_t scope; /* carry.h: of who asked */
	bool waits;	/* for an approval: the server knows nothing of it */
	bool is_told;	/* its question was given out */
} ab_mcp_call;

enum ab_mcp_state {
	AB_MCP_FRESH = 0,
	AB_MCP_GREETING, /* initialize is on its way */
	AB_MCP_OPEN,	 /* the version is settled */
	AB_MCP_OVER
};

typedef struct ab_mcp_bucket {
	uint64_t per_minute, burst;
	uint64_t level_ns; /* time saved up, at most `burst` events' worth */
	uint64_t last_ns;
} ab_mcp_bucket;

/* What outlives a session: carry.h. */
struct ab_mcp_memory {
	unsigned refs;
	ab_mcp_bucket call_rate, other_rate, notice_rate;
	json_t *known; /* owned: name -> digest, or null: in quarantine */
	json_t *params; /* owned: name -> what param.c has found */
	bool pin_failed;
	bool is_full; /* more names than are remembered: no tool is granted */
};

struct agentbox_mcp {
	agentbox_policy *policy; /* owned reference */
	char server[65];
	json_t *identity;	 /* owned, or NULL */
	/* of the policy, borrowed; NULL: nothing */
	const json_t *allow, *ask, *pins, *resources, *prompts;
	const char *pin;
	uint32_t grants;
	bool can_ask; /* there is somebody */
	enum ab_mcp_state state;
	enum ab_mcp_version version;
	uint8_t family; /* 0: open */
	uint64_t last_id;
	ab_mcp_call calls[AB_MCP_CALLS], asks[AB_MCP_ASKS];
	ab_mcp_memory *memory; /* owned reference */
	uint64_t (*now)(void); /* tests set it */
	uint64_t scope; /* of the frame that is taken in, or answered */
	ab_mcp_frame frames[AB_MCP_QUEUE];
	size_t frame_first, frame_end;
	json_t *events; /* owned array */
	agentbox_error **err; /* of the call that is running */
};

/* --- session.c --- */

int32_t ab_mcp_nomem(agentbox_mcp *m);
/* Queue a message, which is taken (NULL: out of memory). */
int32_t ab_mcp_send(agentbox_mcp *m, int32_t side, json_t *message);
/* An error as the answer to `id` (borrowed; NULL: null). retry_ms 0: none. */
int32_t ab_mcp_refuse(agentbox_mcp *m, int32_t side, const json_t *id,
		      int code, const char *message, const char *reason,
		      uint64_t retry_ms);
/* Record a decision. `subject` of n untrusted bytes. */
int32_t ab_mcp_event(agentbox_mcp *m, const char *type, const char *verdict,
		     const char *rule, const char *subject, size_t n,
		     const char *reason);
/* Something that goes nowhere: recorded. */
int32_t ab_mcp_drop(agentbox_mcp *m, int32_t side, const char *subject,
		    const char *reason);

/* A free place, or NULL. */
ab_mcp_call *ab_mcp_call_new(agentbox_mcp *m, ab_mcp_call *table, size_t n,
			     const json_t *asked, const ab_mcp_method *method);
/* By our id as it came back, or by the asker's. NULL: there is none. What
   waits for an approval has no id that could come back. */
ab_mcp_call *ab_mcp_call_by_id(ab_mcp_call *table, size_t n, const json_t *id);
ab_mcp_call *ab_mcp_call_by_asked(const agentbox_mcp *m, ab_mcp_call *table,
				  size_t n, const json_t *id);
void ab_mcp_call_end(ab_mcp_call *call);

/* 0: go on; else milliseconds until the next is allowed. */
uint64_t ab_mcp_rate(agentbox_mcp *m, ab_mcp_bucket *bucket);
bool ab_mcp_granted(const agentbox_mcp *m, uint32_t grant);
/* A shallow copy of an object without `key` (may be NULL: all); owned. */
json_t *ab_mcp_without(const json_t *object, const char *key);
/* Takes out whatever a reader may take for this key. */
void ab_mcp_delete_like(json_t *object, const char *word);
/* `_meta` of either side without what is the guard's; owned. */
json_t *ab_mcp_meta(const json_t *meta);
/* Takes that out of one. */
void ab_mcp_unsign_meta(json_t *meta);
/* The capabilities of a side that the grants leave; owned. */
json_t *ab_mcp_capabilities(const agentbox_mcp *m, int32_t side,
			    const json_t *capabilities);
/* Members of an implementation or an error that are text, cleaned; owned. */
json_t *ab_mcp_texts(const json_t *object);

/* --- tools.c --- */

bool ab_mcp_is_tool_name(const json_t *name);
/* Does a list of the policy's name this tool of the server? */
bool ab_mcp_is_listed(const agentbox_mcp *m, const json_t *list,
		      const char *name);
/* May it be called? *why is static, for the record alone. */
bool ab_mcp_tool_allowed(const agentbox_mcp *m, const char *name,
			 const char **why);
/* One page of a server's list into `call`. */
int32_t ab_mcp_tools_gather(agentbox_mcp *m, ab_mcp_call *call,
			    const json_t *page);
/* The list is whole: what of it the client sees, owned. NULL: no memory. */
int32_t ab_mcp_tools_judge(agentbox_mcp *m, const json_t *tools,
			   json_t **shown);

/*
 * A copy without what hides in text that is read; with *why NULL for want of
 * memory, else because something hides where nothing may.
 */
json_t *ab_mcp_clean_value(const json_t *v, const char *key,
			   const char **why);

/* --- param.c --- */

/* What of a tool's arguments goes into a head; false: no memory. */
bool ab_mcp_params_learn(agentbox_mcp *m, const char *tool,
			 const json_t *schema);

/* --- subject.c --- */

/* May the resource or prompt that `params` name be asked for, or told of? */
bool ab_mcp_subject_allowed(const agentbox_mcp *m, const ab_mcp_method *method,
			    const json_t *params);
/* Only what is allowed stays in the lists of `result`. false: no memory. */
bool ab_mcp_subjects_shown(const agentbox_mcp *m, const ab_mcp_method *method,
			   json_t *result);

/* --- ask.c --- */

#define AB_MCP_NOT_APPROVED "The call was not approved"

/* Has a call with these parameters, which was judged, to be approved? */
bool ab_mcp_has_to_ask(const agentbox_mcp *m, const json_t *params);
/* Why it cannot be asked about, static; NULL: it can. */
const char *ab_mcp_cannot_ask(const agentbox_mcp *m, const json_t *params);
void ab_mcp_hold(ab_mcp_call *call, json_t *params);

/* --- mcp.c --- */

/* May something be taken in now? */
int32_t ab_mcp_usable(const agentbox_mcp *m, agentbox_error **err);

/* --- client.c, server.c --- */

/* What a side says: 0, or a failure that ends the session. */
typedef struct ab_mcp_sayer {
	int32_t (*request)(agentbox_mcp *m, const ab_mcp_message *msg);
	int32_t (*notification)(agentbox_mcp *m, const ab_mcp_message *msg);
	int32_t (*response)(agentbox_mcp *m, const ab_mcp_message *msg);
} ab_mcp_sayer;

extern const ab_mcp_sayer ab_mcp_client_says, ab_mcp_server_says;
/* A request that settles the version has failed: nothing is settled. */
void ab_mcp_unsettle(agentbox_mcp *m, const ab_mcp_call *call);
/* A call that was judged goes to the server. */
int32_t ab_mcp_forward_call(agentbox_mcp *m, ab_mcp_call *call,
			    const json_t *params);
/* Ask the server for the tools behind `cursor` (borrowed; NULL: the first). */
int32_t ab_mcp_ask_list(agentbox_mcp *m, ab_mcp_call *call,
			const json_t *cursor, const json_t *params);

#endif
