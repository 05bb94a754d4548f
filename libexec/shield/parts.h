/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pure parts of agentbox-shield: its own copy of the grants, and the
 * calls that a host has announced. They hold no fd and ask nobody.
 */
#ifndef AB_SHIELD_PARTS_H
#define AB_SHIELD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/shield.h"

#define AB_SHIELD_MAX_TOOLS 1024

/* A source that this box may read. */
typedef struct ab_sh_grant {
	char box[AB_SHIELD_MAX_NAME + 1], name[AB_SHIELD_MAX_NAME + 1];
} ab_sh_grant;

typedef struct ab_sh_grants {
	char own[AB_SHIELD_MAX_NAME + 1];
	/* tools that may name no box but their own; owned */
	char *tools[AB_SHIELD_MAX_TOOLS];
	size_t tool_count;
	ab_sh_grant items[AB_SHIELD_MAX_GRANTS];
	size_t count;
} ab_sh_grants;

/* A tool's name besides those that are always scoped: 0 or -errno. */
int ab_sh_grants_scope(ab_sh_grants *grants, const char *tool);
/* From u32 count on: all of the new list. -EPROTO: there is none then. */
int ab_sh_grants_take(ab_sh_grants *grants, ab_reader *r);
/*
 * May `tool` do `action` to `box`? NULL, or why not. Everything to the box's
 * own, "read" to what is granted; the same words for what is not granted and
 * what does not exist.
 */
const char *ab_sh_grants_refuse(const ab_sh_grants *grants, const char *tool,
				const char *box, const char *action);

/* What a host said was allowed and is under way. */
typedef struct ab_sh_calls {
	char ids[AB_SHIELD_MAX_CALLS][AB_SHIELD_MAX_NAME + 1];
	size_t count;
	bool is_told; /* it tells of calls at all */
} ab_sh_calls;

/* -E2BIG, -EEXIST, -EINVAL. */
int ab_sh_calls_begin(ab_sh_calls *calls, const char *id);
/* -ENOENT */
int ab_sh_calls_end(ab_sh_calls *calls, const char *id);
/* A call is under way, or the host does not tell of calls. */
bool ab_sh_calls_cover(const ab_sh_calls *calls);
/* The one that is, or "". */
const char *ab_sh_calls_one(const ab_sh_calls *calls);

#endif
