/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What waits for the host's word, for a bounded time and a bounded number:
 * silence is a refusal.
 */
#include "config.h"

#include <errno.h>

#include "base/clock.h"
#include "state.h"

bool ab_sh_may_ask(const ab_sh *sh)
{
	return sh->ask_count + sh->waiting_count < AB_ASKS_MAX;
}

void ab_sh_add_ask(ab_sh *sh, uint64_t id, uint64_t notice)
{
	sh->asks[sh->ask_count++] =
		(ab_sh_ask){ id, notice, ab_clock_boot_ns() + sh->ask_ns };
}

static void end_ask(ab_sh *sh, size_t i, bool let)
{
	ab_sh_answer(sh, sh->asks[i].notice, let);
	sh->asks[i] = sh->asks[--sh->ask_count];
}

int ab_sh_answer_ask(ab_sh *sh, uint64_t id, bool let)
{
	for (size_t i = 0; i < sh->ask_count; i++) {
		if (sh->asks[i].id == id) {
			end_ask(sh, i, let);
			return 0;
		}
	}
	return -ENOENT;
}

void ab_sh_expire_asks(ab_sh *sh, uint64_t now)
{
	for (size_t i = sh->ask_count; i-- > 0;)
		if (sh->asks[i].deadline <= now)
			end_ask(sh, i, false);
}

uint64_t ab_sh_next_ask(const ab_sh *sh)
{
	uint64_t at = 0;

	for (size_t i = 0; i < sh->ask_count; i++)
		if (!at || sh->asks[i].deadline < at)
			at = sh->asks[i].deadline;
	return at;
}
