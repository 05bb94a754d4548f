/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines that are sent to agentbox-verify. Spec: ask.c. */
#ifndef AB_VERIFY_ASK_H
#define AB_VERIFY_ASK_H

#include "verify/internal.h"

#define AB_VERIFY_MAX_INPUT 60000u /* libexec/verify/main.c */

/* One line that was sent, and what came back. */
typedef struct ab_question {
	const char *id, *wall, *tries;
	char *op;		/* owned; NULL: not asked, see `why` */
	const char *refused;	/* "EPERM=seccomp ..." */
	uint32_t needs;
	const char *why;	/* of op NULL */
	char *owned_id;		/* for what is not in a table */
	uint32_t unasked;	/* the verdict of one that is not asked */
} ab_question;

typedef struct ab_questions {
	ab_question *items;
	size_t count, room;
	bool nomem;
} ab_questions;

/* All rows; what there is no memory for sets nomem. */
void ab_questions_ask(ab_questions *q, const ab_verify_run *run);
/* The one for after a revocation. */
void ab_questions_ask_revoked(ab_questions *q, const ab_verify_run *run);
void ab_questions_end(ab_questions *q);

/* A text as one field of a line, or a part of one: libexec/verify/main.c. */
void ab_verify_put_field(agentbox_bytes *b, const char *text, size_t n);

/* judge.c */
/* %XX in a text becomes the byte. */
void ab_verify_decode(char *text);
/* The finding of one answer: "ok", "e13", "s31" or "?", and a text. */
void ab_verify_judge(ab_verify_run *run, const ab_question *item,
		     const char *how, const char *text);

#endif
