/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rate of bytes, and who waits for it. */
#ifndef GATEWAY_PACE_H
#define GATEWAY_PACE_H

#include "loop.h"

/* What is read at once where there is a rate. */
#define AB_PACE_PIECE 16384

/* Zeroed: waits for nothing. */
typedef struct ab_paced {
	struct ab_paced *next, **back;
	void (*go_on)(void *arg);
	void *arg;
} ab_paced;

/* Stays where it is. */
typedef struct ab_pace {
	ab_loop *loop;
	int64_t per_second; /* 0: without end */
	int64_t level;	    /* below 0: owed */
	uint64_t filled_ns;
	ab_paced *waiting;
	ab_timer timer;
} ab_pace;

void ab_pace_init(ab_pace *p, ab_loop *loop, uint64_t per_second);
/* These have gone, whether there was room for them or not. */
void ab_pace_take(ab_pace *p, uint64_t n);
/*
 * true: none may go now; `then` is called from the loop, once, when some may
 * again, unless it was forgotten. One that waits already goes on waiting.
 */
bool ab_pace_wait(ab_pace *p, ab_paced *w, void (*then)(void *arg), void *arg);
/* Before its memory goes. */
void ab_paced_forget(ab_paced *w);

#endif
