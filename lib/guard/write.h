/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules of the write guard: what an action on a target that was found
 * means. Text and inode in, one finding out. Spec: DESIGN.md section 7;
 * cases F01-F27.
 */
#ifndef AB_GUARD_WRITE_H
#define AB_GUARD_WRITE_H

#include "guard/decision.h"
#include "guard/guard.h"
#include "guard/target.h"

struct ab_path_judgement {
	int32_t verdict; /* AGENTBOX_VERDICT_*; reason is NULL with ALLOW */
	struct ab_finding finding;
	char message[256]; /* of a reason that names something */
};

/* Is it one of AGENTBOX_ACTION_*? */
bool ab_action_is_known(int32_t action);
/* Does the action mean a link at the end of the path itself? */
bool ab_action_is_on_name(int32_t action);

/*
 * Judge the action on a target as ab_target_find() left it, good or not.
 * True: allowed.
 */
bool ab_write_judge(const agentbox_guard *guard, int32_t action,
		    const struct ab_target *target,
		    struct ab_path_judgement *judgement);

/* Find and judge; the same. */
bool ab_write_check(const agentbox_guard *guard, int32_t action, int dirfd,
		    const char *path, size_t n, struct ab_target *target,
		    struct ab_path_judgement *judgement);

#endif
