/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What waits for the host's answer: a target that the list does not name, or
 * a call of a tool that has to be approved.
 */
#ifndef GATEWAY_ASK_H
#define GATEWAY_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "loop.h"

typedef struct ab_gw ab_gw;

/* Zeroed: asks nothing. Who owns its memory forgets it first. */
typedef struct ab_asked {
	ab_gw *gw;
	struct ab_asked *next, **back;
	ab_timer timer;
	uint32_t id;
	bool is_call;
	void (*done)(void *arg, bool is_granted);
	void *arg;
} ab_asked;

/*
 * Ask about a call of "SERVER:TOOL" with these arguments, a text of JSON.
 * `done` is called once, from the loop, unless it is forgotten. false: nobody
 * can be asked, and done is not called.
 */
bool ab_ask_call(ab_gw *gw, ab_asked *a, const char *tool,
		 const char *arguments,
		 void (*done)(void *arg, bool is_granted), void *arg);
void ab_ask_forget(ab_asked *a);

#endif
