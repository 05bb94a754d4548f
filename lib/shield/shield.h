/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client of agentbox-shield, for lib/sandbox: started before the box's
 * first command, read in the box's dispatch and while a command is waited for.
 */
#ifndef AB_SHIELD_SHIELD_H
#define AB_SHIELD_SHIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/shield.h"
#include "base/error.h"
#include "policy/policy.h"
#include "wire/shield.h"

typedef struct ab_shield_options {
	const char *box_id;
	const char *workspace, *home; /* in the box; NULL: none */
	int notify_fd;		      /* borrowed */
	uint32_t uid, gid; /* of the owner of the box's user namespace */
	bool is_audited;
	uint64_t deadline; /* boot-time ns */
	/* For every record, and once with NULL when it has ended by itself;
	   with the shield's lock held, or by ab_shield_command(). Borrowed. */
	void (*told)(void *arg, const ab_shield_record *record);
	/* ab_shield_fd() is about to be closed. NULL: nobody watches it. */
	void (*closing)(void *arg, int fd);
	void *arg;
} ab_shield_options;

/* EHELPER, EWALL with `where` "shield", ETIMEOUT. */
int32_t ab_shield_new(agentbox_context *context, agentbox_policy *policy,
		      const ab_shield_options *options, agentbox_shield **out,
		      agentbox_error **err);
/* Ends it; NULL is ignored. In a forked child only memory and descriptors. */
void ab_shield_free(agentbox_shield *shield);
/* Ends it, and nothing is told of that; the handle stays for its holders. */
void ab_shield_stop(agentbox_shield *shield);

/*
 * A program of ours begins in the box, or ends, whose memory nobody of the box
 * can read, the shield among them: what it opens and connects to is let
 * through meanwhile. True: the shield knows.
 */
bool ab_shield_own(agentbox_shield *shield, bool begins);

/* To poll for reading; -1 when it has ended. */
int ab_shield_fd(const agentbox_shield *shield);
/* Take what is there without waiting, up to a bound. */
void ab_shield_drain(agentbox_shield *shield);

/*
 * A command that the host starts itself, judged as any exec is: EDENIED when
 * the mode refuses it, ECLOSED when the shield has ended. NULL: no shield.
 */
int32_t ab_shield_command(agentbox_shield *shield, const char *const *argv,
			  size_t argc, const char *cwd, agentbox_error **err);

#endif
