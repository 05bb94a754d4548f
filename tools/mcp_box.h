/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The box tools server: one box, its files through the write guard
 * (mcp_files.c), commands in it (mcp_runs.c), one client (mcp_box.c).
 */
#ifndef TOOLS_MCP_BOX_H
#define TOOLS_MCP_BOX_H

#include <agentbox/guard.h>

#include "mcp.h"
#include "session.h"

#define BOX_RUNS 32	      /* kept, running or not */
#define BOX_OUTPUT (256u << 10) /* kept of each stream */
#define BOX_READ (256u << 10) /* of one read */
#define BOX_ENTRIES 2000      /* of one list */

/* One stream of a command. */
typedef struct box_stream {
	int fd;		 /* -1: ended */
	char *bytes;	 /* owned */
	size_t n;
	uint64_t dropped; /* what came behind BOX_OUTPUT */
} box_stream;

typedef struct box_run {
	uint64_t number; /* 0: free */
	agentbox_process *process;
	box_stream out, err;
	bool ending;	     /* has ended, and is being settled */
	bool ended;	     /* and its status is known */
	bool unsettled;	     /* protected paths could not be put right */
	bool killed;
	int64_t ended_ms;
	int status;
	char reason[16];
	/* who waits for it, or NULL: the request's id, owned */
	json_t *waiter;
	int64_t waits_until;
	bool stateless;
} box_run;

typedef struct box_server {
	mcp_session s;
	session box;
	agentbox_remote *remote; /* the box is another process's, or NULL */
	agentbox_guard *guard;
	agentbox_decision *decision;
	agentbox_place *place;
	box_run runs[BOX_RUNS];
	uint64_t last_run;
	bool stateless; /* the request that is served */
	bool client_gone;
} box_server;

int64_t box_now_ms(void);

/* The result of a tool; `structured` is taken, may be NULL. */
json_t *box_result(const char *text, size_t n, json_t *structured);
/* A failure of the tool's own, as a result. */
json_t *box_failure(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* An argument that must be a text (NULL: it is not there or is none). */
const char *box_text(const json_t *arguments, const char *name, size_t *n);

/* mcp_files.c: the results of the tools, NULL without memory */
json_t *box_read(box_server *b, const json_t *arguments);
json_t *box_write(box_server *b, const json_t *arguments);
json_t *box_list(box_server *b, const json_t *arguments);

/* mcp_runs.c: NULL with *later: the answer comes when the command ends */
json_t *box_run_command(box_server *b, const json_t *id,
			const json_t *arguments, bool *later);
json_t *box_run_result(box_server *b, const json_t *id,
		       const json_t *arguments, bool *later);
/* The client wants no answer to this request any more. */
void box_run_cancel(box_server *b, const json_t *id);
size_t box_runs_poll(box_server *b, struct pollfd *fds);
/* Take what came; answers those who wait. */
bool box_runs_turn(box_server *b);
/* Milliseconds until the next look is due, at most `ms`. */
int box_runs_timeout(const box_server *b, int ms);
void box_runs_end(box_server *b);
/* Send a result to the request; `result` is taken. False: it is over. */
bool box_answer(box_server *b, const json_t *id, json_t *result,
		bool stateless);

/* mcp_key.c: 0 or an exit status, already said */
int mcp_key_make(tool *t, const char *file);
int mcp_key_check(tool *t, const char *file);

#endif
