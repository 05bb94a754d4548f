/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell check on any text: it ends, stays inside its input, and says the
 * same twice. The arena is exactly as large as asked for, so that sanitizers
 * see a byte too many. In a smaller one it says the same, or denies.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/pack.h"
#include "guard/shell.h"
#include "shell/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE 8192
/* of which little is for the text itself */
#define ROOM_OF_NO_TEXT (ab_shell_check_room(0) - AB_SHELL_ARENA(0))

struct answer {
	uint32_t sum;
	int32_t worst;
};

static void count(void *user, const struct ab_shell_found *found)
{
	struct answer *answer = user;

	if (found->span.end < found->span.begin || !found->rule)
		abort();
	answer->sum = answer->sum * 31 + found->verdict + found->number;
	if (answer->worst < (int32_t)found->verdict)
		answer->worst = (int32_t)found->verdict;
}

static struct answer check(const struct ab_pack *pack, const uint8_t *data,
			   size_t size, size_t room)
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
				      .arena = &arena, .report = count,
				      .user = &answer };

	if (!memory)
		return answer;
	ab_arena_init(&arena, memory, room);
	if (!ab_shell_check_text(&q, (const char *)data, size))
		answer.worst = AB_V_DENY;
	free(memory);
	return answer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ab_pack *pack;
	size_t room = ab_shell_check_room(size);
	struct answer answer, again;
	uint32_t less = 0;

	if (!pack) {
		pack = ab_pack_new();
		if (!pack ||
		    ab_pack_read(pack, AB_LAYER_BASE, "base", ab_base_rules,
				 ab_base_rules_len, NULL) < 0)
			abort();
	}
	if (size > MAX_SIZE)
		return 0;
	answer = check(pack, data, size, room);
	again = check(pack, data, size, room);
	if (answer.sum != again.sum || answer.worst != again.worst)
		abort();
	for (size_t i = 0; i < size; i++)
		less = less * 31 + data[i];
	again = check(pack, data, size, ROOM_OF_NO_TEXT + less % 8192);
	if (answer.sum != again.sum && again.worst != AB_V_DENY)
		abort();
	return 0;
}
