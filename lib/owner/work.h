/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a request asks for and takes its time, carried on while the owner
 * serves others: it has a descriptor and a timeout, which become the owner's,
 * and a turn in each agentbox_owner_dispatch(). Its end is told by itself.
 */
#ifndef AB_OWNER_WORK_H
#define AB_OWNER_WORK_H

#include <stdbool.h>

#include "agentbox/owner.h"

typedef struct ab_work_kind {
	int (*fd)(const void *arg);
	int64_t (*timeout_ms)(const void *arg);
	/* One turn, which waits for nobody; true: it is done. */
	bool (*turn)(void *arg);
	/* Done or given up. */
	void (*end)(void *arg);
} ab_work_kind;

/* Does this request's owner live and serve the box? */
bool ab_owner_can_work(const agentbox_request *request,
		       const agentbox_sandbox *box);
/*
 * For such a request, until it is done, the client has gone, or the box is
 * served no more. False: no memory; nothing is taken then, else `arg` is.
 */
bool ab_owner_begin_work(agentbox_request *request, agentbox_sandbox *box,
			 const ab_work_kind *kind, void *arg);

#endif
