/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of agentbox-secret. */
#ifndef SECRET_H
#define SECRET_H

#include <sys/types.h>

#include "wire/broker.h"

/* Exit statuses, as of agentbox(1). */
#define USAGE 2
#define NOT_FOUND 4
#define REFUSED 5
#define INTERNAL 70

typedef struct reply {
	uint8_t memory[AB_BROKER_MAX_ANSWER];
	ab_broker_answer m;
	int fd; /* owned, or -1 */
} reply;

/* main.c */
/* On standard error; `status` again. */
int complain(int status, const char *what, const char *why);
/* 0, or the exit status for this answer, which is said. */
int say_result(const char *name, uint32_t result);
/* Without its key, which is added. 0 and an answer, whatever it says, or an
   exit status and it was said why. */
int put_question(const ab_broker_ask *question, reply *out);
/* All of a sealed memfd into AB_BROKER_MAX_VALUE bytes; how many, or -errno. */
ssize_t read_value(int fd, char *buffer);

/* git.c: what git asks a credential helper for; an exit status. */
int git(const char *operation);

#endif
