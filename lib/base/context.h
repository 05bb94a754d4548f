/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of agentbox_context. Immutable once `sealed`; every object made
 * from a context takes a reference with ab_context_use(), which seals it.
 */
#ifndef AB_BASE_CONTEXT_H
#define AB_BASE_CONTEXT_H

#include <stdbool.h>
#include <sys/types.h>

#include "agentbox/base.h"
#include "base/attr.h"

AB_DEFINE_AUTO(agentbox_context, agentbox_context_unref)

/* A reference; from now on the setters return EBUSY. */
agentbox_context *ab_context_use(agentbox_context *context);

/* Borrowed; NULL when not set. */
const char *ab_context_helper_dir(const agentbox_context *context);
const char *ab_context_state_dir(const agentbox_context *context);

/*
 * An owned O_PATH|O_DIRECTORY fd of the state directory, created 0700 if
 * absent, refused when not ours or open to others.
 */
int32_t ab_context_open_state(agentbox_context *context, int *dirfd,
			      agentbox_error **err);

/* The same for a directory of it, 0700, open for reading; made if absent. */
int32_t ab_context_open_dir(agentbox_context *context, const char *name,
			    int *dirfd, agentbox_error **err);

void ab_log(const agentbox_context *context, int32_t level, const char *fmt,
	    ...) AB_PRINTF(3, 4);

#endif
