/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shell check of a text in an arena of a size, for fuzz targets: the arena is
 * memory of its own, so that sanitizers see a byte too many.
 */
#ifndef AB_TESTS_FUZZ_GUARD_TEXT_H
#define AB_TESTS_FUZZ_GUARD_TEXT_H

#include <stdint.h>
#include <stdlib.h>

#include "guard/pack.h"
#include "guard/shell.h"

struct answer {
	uint32_t sum;
	int32_t worst;
};

static inline void count_found(void *user, const struct ab_shell_found *found)
{
	struct answer *answer = user;

	if (found->span.end < found->span.begin || !found->rule)
		abort();
	answer->sum = answer->sum * 31 + found->verdict + found->number;
	if (answer->worst < (int32_t)found->verdict)
		answer->worst = (int32_t)found->verdict;
}

static inline struct answer check_text(const struct ab_pack *pack,
				       const void *data, size_t size,
				       size_t room)
{
	static const struct ab_known_path temps[] = { { "/tmp", 4 } };
	static const struct ab_shell_place_text place = {
		.cwd = { "/srv/repo", 9 },
		.home = { "/home/u", 7 },
		.root = { "/srv/repo", 9 },
		.temps = temps,
		.temp_count = 1,
	};
	void *memory = malloc(room);
	struct answer answer = { 1, 0 };
	struct ab_arena arena;
	struct ab_shell_request q = { .pack = pack, .place = &place,
				      .arena = &arena, .report = count_found,
				      .user = &answer };

	if (!memory)
		return answer;
	ab_arena_init(&arena, memory, room);
	if (!ab_shell_check_text(&q, data, size))
		answer.worst = AB_V_DENY;
	free(memory);
	return answer;
}

/* The pack that comes with the library. */
static inline const struct ab_pack *base_pack(void)
{
	static struct ab_pack *pack;

	if (pack)
		return pack;
	pack = ab_pack_new();
	if (!pack || ab_pack_read(pack, AB_LAYER_BASE, "base", ab_base_rules,
				  ab_base_rules_len, NULL) < 0)
		abort();
	return pack;
}

#endif
