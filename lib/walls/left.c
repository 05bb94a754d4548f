/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a box left whose holder was killed: the plan by which agentbox-init
 * looks through its workspace before another box is raised there, and what is
 * said where that is of no help. It decides nothing and touches no workspace.
 * Spec: wire/plan.h AB_UNSETTLED_DIR, libexec/init/left.c.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "walls/internal.h"

/* The quarantine of that box, into path (AB_MAX_PATH bytes). */
static bool name_quarantine(const agentbox_context *context,
			    const ab_left *left, char *path)
{
	int n = snprintf(path, AB_MAX_PATH, "%s/quarantine/%s",
			 ab_context_state_dir(context), left->id);

	return n > 0 && n < AB_MAX_PATH;
}

int32_t ab_left_plan(const agentbox_context *context, const ab_left *left,
		     int *plan_fd, agentbox_error **err)
{
	char quarantine[AB_MAX_PATH];
	const ab_plan plan = { .build_id = agentbox_build_id(),
			       .box_id = left->id,
			       .hostname = "",
			       .tier = AB_TIER_BARE,
			       .workspace_host = left->workspace,
			       .workspace_dev = left->dev,
			       .workspace_ino = left->ino,
			       .quarantine_host = quarantine,
			       .is_left = 1 };

	if (!name_quarantine(context, left, quarantine))
		return ab_error_set(err, AGENTBOX_ELIMIT, "protect",
				    "the state directory's path is too long");
	/* who finds it empty and old takes it away */
	if (mkdir(quarantine, 0700) < 0 && errno != EEXIST)
		return ab_error_sys(err, errno, "quarantine",
				    "cannot make '%s'", quarantine);
	return ab_plan_seal(&plan, plan_fd, err);
}

void ab_left_end(const agentbox_context *context, const ab_left *left)
{
	char quarantine[AB_MAX_PATH];

	if (name_quarantine(context, left, quarantine))
		(void)rmdir(quarantine);
}

int32_t ab_left_refuse(const agentbox_context *context, const ab_left *left,
		       const char *why, agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_EWALL, "protect",
			    "protected names that box %.80s made may stand in "
			    "'%s': %s; look for them there, then remove "
			    "'%s/quarantine/" AB_UNSETTLED_DIR "/%.80s'",
			    left->id, left->workspace, why,
			    ab_context_state_dir(context), left->id);
}
