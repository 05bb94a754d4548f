/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a shield handle, for the files of this room. */
#ifndef AB_SHIELD_INTERNAL_H
#define AB_SHIELD_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "base/spawn.h"
#include "guard/exec.h"
#include "shield/shield.h"

/* How long it may take to answer; it never waits for anybody. */
#define AB_SHIELD_ANSWER_MS 2000
/* How long the host may take. */
#define AB_SHIELD_ASK_MS 60000

struct agentbox_shield {
	pid_t owner; /* getpid() of the process that made it */
	void (*told)(void *arg, const ab_shield_record *record);
	void (*closing)(void *arg, int fd);
	void *arg;
	char box_id[AB_SHIELD_MAX_NAME + 1];
	uint32_t mode; /* enum ab_policy_shield */
	uint32_t watch; /* AB_SHIELD_WATCH_*, of those that the box has */
	ab_exec_judge judge;

	pthread_mutex_t lock; /* what follows */
	ab_helper helper;
	bool has_ended;
	uint32_t serial;
};

/* shield.c: ends the helper; who watches its socket is told before. */
void ab_shield_end_helper(agentbox_shield *shield, int64_t timeout_ms);
/* request.c: kill and close, lock held; told once. */
void ab_shield_lose(agentbox_shield *shield);

#endif
