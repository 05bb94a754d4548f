/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell check on any text: it ends, stays inside its input, and says the
 * same twice. The arena is exactly as large as asked for, so that sanitizers
 * see a byte too many. In a smaller one it says the same, or denies.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "guard_text.h"
#include "shell/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE 8192
/* of which little is for the text itself */
#define ROOM_OF_NO_TEXT (ab_shell_check_room(0) - AB_SHELL_ARENA(0))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ab_pack *pack = base_pack();
	size_t room = ab_shell_check_room(size);
	struct answer answer, again;
	uint32_t less = 0;

	if (size > MAX_SIZE)
		return 0;
	answer = check_text(pack, data, size, room);
	again = check_text(pack, data, size, room);
	if (answer.sum != again.sum || answer.worst != again.worst)
		abort();
	for (size_t i = 0; i < size; i++)
		less = less * 31 + data[i];
	again = check_text(pack, data, size, ROOM_OF_NO_TEXT + less % 8192);
	if (answer.sum != again.sum && again.worst != AB_V_DENY)
		abort();
	return 0;
}
