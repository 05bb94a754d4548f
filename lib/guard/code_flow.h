/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program as code_flow.c goes through it, token by token; code_flow_from.c
 * tells what a token has from outside.
 */
#ifndef AB_GUARD_CODE_FLOW_H
#define AB_GUARD_CODE_FLOW_H

#include "guard/code.h"

#define AB_FLOW_NAMES 64
#define AB_FLOW_OWN 16 /* functions of the program that send */
#define AB_FLOW_DEPTH 16 /* of brackets; what is deeper belongs to the last */
#define AB_FLOW_TARGET 1024 /* bytes: they are read more than once */
#define AB_FLOW_REACH 4  /* tokens: environ . get ( "X" */

struct ab_flow_span {
	uint32_t at, end;
};

/* A name, and the variable that it was made of; of what was read: none. */
struct ab_flow_sent {
	struct ab_flow_span name, variable;
};

struct ab_flow {
	struct ab_code *k;
	struct ab_lexer x; /* behind the token at hand */
	struct ab_token before, behind, last; /* the last tokens, backwards */
	uint32_t since;	   /* tokens behind the name of the environment */
	uint32_t hole;	   /* of the text: none of those before is looked at */
	bool has_argv;	   /* a word behind the program is a secret */
	struct ab_flow_sent names[AB_FLOW_NAMES];
	uint32_t count;
	bool is_full;	   /* ... and there are more */
	struct ab_flow_span own[AB_FLOW_OWN]; /* ... which these do */
	uint32_t own_count;
	struct ab_flow_span function; /* the last that was begun */
	bool is_learning;  /* it is about what those do with parameters */
	struct ab_flow_span found; /* the variable that is sent */
	bool is_reading;   /* it is about what the program reads */
	bool is_sending;   /* ... and sends; otherwise it removes that */
	bool is_showing;   /* ... or prints */
	bool is_fed;	   /* and the statement has that */
	bool is_line;	   /* perl: so has $_ */
	bool is_given;	   /* ... which is sent or removed */
	uint32_t depth;
	struct {
		struct ab_flow_span target; /* `x =` of the statement in it */
		bool is_net;	/* given to what sends, or removes */
		bool is_body;	/* statements of their own */
		bool has_chain; /* of a call: is_chain before it */
		bool is_rm;	/* ... that runs rm(1) */
		bool is_own;	/* a header */
		bool is_payload; /* files=, body: */
		bool is_closed; /* what a call makes of it is another thing */
		bool is_returned; /* what the statement makes */
	} all[AB_FLOW_DEPTH];
	bool is_chain; /* requests.x.y, c.x: of the network */
	bool is_net, is_open; /* what the call at hand would be */
	struct ab_flow_span group;    /* what the last bracket holds */
	uint32_t opened[AB_FLOW_DEPTH];
};

/* The sign that a token is; 0: it is none. */
char ab_flow_sign(const struct ab_flow *s, const struct ab_token *t);
/* A name without the sigil that perl and php have. */
struct ab_flow_span ab_flow_bare(const struct ab_flow *s, uint32_t at,
				 uint32_t len);
/* A name of what was found before; or NULL. */
const struct ab_flow_sent *ab_flow_find(const struct ab_flow *s,
					struct ab_flow_span name);
/* It is a name like that of a secret. */
bool ab_flow_is_secret(const struct ab_flow *s, struct ab_flow_span name);
/* The token is a secret, or a name of one; `since` tells how far it is from the
   environment. */
bool ab_flow_names_secret(const struct ab_flow *s, const struct ab_token *t,
			  const struct ab_token *before, uint32_t *since,
			  struct ab_flow_span *variable);
/* The shell, or an expression in the string, puts one in. */
bool ab_flow_has_hole(struct ab_flow *s, const struct ab_token *t,
		      struct ab_flow_span *variable);
bool ab_flow_string_has_secret(const struct ab_flow *s,
			       const struct ab_token *t,
			       struct ab_flow_span *variable);
/* The environment as a whole, or by a name that it has. */
bool ab_flow_is_whole(const struct ab_flow *s, const struct ab_token *t,
		      struct ab_flow_span *variable);
/* code_flow_own.c: a function begins there, whose parameters are names from
 * then on when it is about those. */
void ab_flow_begin_function(struct ab_flow *s, const struct ab_token *t);
void ab_flow_begin_arrow(struct ab_flow *s);
/* What was found is a parameter: its function sends. */
void ab_flow_learn(struct ab_flow *s);
bool ab_flow_is_own_sender(const struct ab_flow *s, const struct ab_token *t);
/* code_flow.c */
void ab_flow_add_names(struct ab_flow *s, struct ab_flow_span part,
		       struct ab_flow_span variable);
struct ab_flow_span ab_flow_target(const struct ab_flow *s);
/* The token reads a file, or it is a name of what that gave. */
bool ab_flow_is_read(const struct ab_flow *s, const struct ab_token *t);

#endif
