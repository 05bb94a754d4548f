/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell parser on any bytes: it ends, stays inside its text and arena
 * (sanitizers watch), says something about what it refuses, and an arena of
 * AB_SHELL_ARENA() is always enough.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "shell/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = AB_SHELL_ARENA(size);
	char *memory = malloc(room);
	struct ab_shell_result result;
	const struct ab_shell_tree *tree;
	struct ab_arena arena;

	if (!memory)
		return 0;
	ab_arena_init(&arena, memory, room);
	tree = ab_shell_parse(&arena, (const char *)data, size, NULL, &result);
	if (size <= 1u << 20 && (!tree || arena.is_full))
		abort();
	if ((result.status == AB_SHELL_OK) != (result.message == NULL) ||
	    result.span.begin > result.span.end || result.span.end > size)
		abort();
	/* too little memory is an answer too */
	ab_arena_init(&arena, memory, size);
	(void)ab_shell_parse(&arena, (const char *)data, size, NULL, &result);
	free(memory);
	return 0;
}
