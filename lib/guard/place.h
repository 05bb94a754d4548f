/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a place: paths as text, clean and absolute, or NULL for what
 * is not known. Spec: agentbox/guard.h.
 */
#ifndef AB_GUARD_PLACE_H
#define AB_GUARD_PLACE_H

#include "agentbox/guard.h"
#include <stdbool.h>

#include "base/attr.h"

AB_DEFINE_AUTO(agentbox_place, agentbox_place_free)

#define AB_MAX_TEMP_DIRS 16

/* NUL-terminated, its length beside it; text NULL: not known. */
struct ab_place_path {
	char *text; /* owned */
	size_t len;
};

struct agentbox_place {
	struct ab_place_path cwd, home, root;
	/* Borrowed; NULL: nobody asks. The cwd could be had: set when what is
	   found depends on it, and counts for nothing then. */
	bool *wants_cwd;
	struct ab_place_path temp[AB_MAX_TEMP_DIRS];
	size_t temp_count;
};

#endif
