/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell check on any text: it ends, stays inside its input, and says the
 * same twice. The arena is exactly as large as asked for, so that sanitizers
 * see a byte too many.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/pack.h"
#include "guard/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE 8192

static void count(void *user, const struct ab_shell_found *found)
{
	uint32_t *sum = user;

	if (found->span.end < found->span.begin || !found->rule)
		abort();
	*sum = *sum * 31 + found->verdict + found->number;
}

static uint32_t check(const struct ab_pack *pack, const uint8_t *data,
		      size_t size)
{
	static const struct ab_known_path temps[] = { { "/tmp", 4 } };
	static const struct ab_shell_place_text place = {
		.cwd = { "/srv/repo", 9 },
		.home = { "/home/u", 7 },
		.root = { "/srv/repo", 9 },
		.temps = temps,
		.temp_count = 1,
	};
	size_t room = ab_shell_check_room(size);
	void *memory = malloc(room);
	struct ab_arena arena;
	uint32_t sum = 1;
	struct ab_shell_request q = { .pack = pack, .place = &place,
				      .arena = &arena, .report = count,
				      .user = &sum };

	if (!memory)
		return 0;
	ab_arena_init(&arena, memory, room);
	(void)ab_shell_check_text(&q, (const char *)data, size);
	free(memory);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ab_pack *pack;

	if (!pack) {
		pack = ab_pack_new();
		if (!pack ||
		    ab_pack_read(pack, AB_LAYER_BASE, "base", ab_base_rules,
				 ab_base_rules_len, NULL) < 0)
			abort();
	}
	if (size > MAX_SIZE)
		return 0;
	if (check(pack, data, size) != check(pack, data, size))
		abort();
	return 0;
}
