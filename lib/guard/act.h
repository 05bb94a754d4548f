/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the forms of the write guard that act share: the call with its
 * decision, which begins as DENY and is ended by one of the answers below.
 *
 * Judging is write.c's. Here the object that was judged is reached again from
 * the same directory, without links, compared by inode, and only then changed;
 * what moved meanwhile is judged anew, a bounded number of times. Spec:
 * DESIGN.md section 7; F11, F13, F23.
 */
#ifndef AB_GUARD_ACT_H
#define AB_GUARD_ACT_H

#include "guard/write.h"

/* How often a path may be something else than what was judged. */
#define AB_ACT_RACES 64

/* One end of a call. */
struct ab_act_path {
	int dirfd;
	const char *path;
	size_t n;
	size_t offset; /* of path in the decision's text */
};

struct ab_act {
	agentbox_guard *guard;
	agentbox_decision *decision; /* borrowed, or `own` */
	agentbox_decision *own;	     /* owned: the caller gave none */
	agentbox_error **err;
};

/*
 * The guard and its decision, with the paths as its text; `to` is NULL for a
 * call with one end. 0, or EINVAL, EFORKED, ELIMIT, ENOMEM.
 */
int32_t ab_act_begin(struct ab_act *c, agentbox_decision **decision,
		     const struct ab_act_path *from, struct ab_act_path *to);
void ab_act_end(struct ab_act *c);

#define ab_autoact __attribute__((cleanup(ab_act_end)))

bool ab_act_judge(struct ab_act *c, int32_t action,
		  const struct ab_act_path *e, bool follow,
		  struct ab_target *t, struct ab_path_judgement *j);

/*
 * The answers, each with its code: EDENIED with the reason; 0; what the kernel
 * said of an act that the guard allowed ("cannot WHAT"), the errno of which is
 * `error`; EBUSY after AB_ACT_RACES.
 */
int32_t ab_act_denied(struct ab_act *c, const struct ab_act_path *e,
		      struct ab_path_judgement *j);
int32_t ab_act_allowed(struct ab_act *c);
int32_t ab_act_kernel_said(struct ab_act *c, int error, const char *what);
/* The last two by r: 0 or -errno. */
int32_t ab_act_done(struct ab_act *c, int r, const char *what);
int32_t ab_act_no_rest(struct ab_act *c);

#endif
