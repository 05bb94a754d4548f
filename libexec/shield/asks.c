/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What waits for the host's word, for a bounded time and a bounded number:
 * silence is a refusal.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "state.h"

bool ab_sh_add_ask(ab_sh *sh, uint64_t id, uint64_t notice,
		   const uint8_t *record, size_t n)
{
	uint8_t *copy = ab_calloc(1, n);

	if (!copy)
		return false;
	memcpy(copy, record, n);
	sh->asks[sh->ask_count++] = (ab_sh_ask){
		id, notice, ab_clock_boot_ns() + sh->ask_ns, copy, n };
	return true;
}

/* Told before it is answered, where there is an audit. */
static void end_ask(ab_sh *sh, size_t i, bool let)
{
	ab_sh_ask ask = sh->asks[i];
	ab_shield_record m;
	ab_reader r;

	sh->asks[i] = sh->asks[--sh->ask_count];
	ab_reader_init(&r, ask.record, ask.len);
	(void)ab_get_u64(&r); /* kind and fd count */
	if (ab_shield_record_get(&r, &m) == 0) {
		m.answer = let ? AB_SHIELD_LET : AB_SHIELD_REFUSED;
		ab_sh_deliver(sh, &m, ask.notice);
	} else {
		ab_sh_answer(sh, ask.notice, -EACCES);
	}
	free(ask.record);
}

/* Who was killed meanwhile waits for nothing. */
static void end_dead(ab_sh *sh)
{
	for (size_t i = sh->ask_count; i-- > 0;) {
		const ab_caller t = { .sh = sh, .notice = sh->asks[i].notice };

		if (!ab_caller_is_valid(&t))
			end_ask(sh, i, false);
	}
}

bool ab_sh_may_ask(ab_sh *sh)
{
	if (sh->ask_count + sh->waiting_count >= AB_ASKS_MAX)
		end_dead(sh);
	return sh->ask_count + sh->waiting_count < AB_ASKS_MAX;
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
