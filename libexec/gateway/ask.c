/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ask-on-deny: where the host wants to be asked, a target that is not in
 * network.allow waits for its answer, for this one connection or request. What
 * else is refused is nobody's to ask about. No answer in time, too many
 * questions, a host that went away: refused. Spec: DESIGN.md section 1.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

/* Only where a yes would be enough. */
bool ab_ask_may(const ab_gw *gw, const ab_target *t)
{
	return gw->ask_ms &&
	       ab_allow_granted(&gw->allow, t, NULL) == AB_ALLOW_OK;
}

enum ab_allow_reason ab_gw_judge_granted(const ab_gw *gw, const ab_target *t,
					 bool is_granted, const ab_host **rule)
{
	return is_granted ? ab_allow_granted(&gw->allow, t, rule)
			  : ab_allow_target(&gw->allow, t, rule);
}

void ab_ask_forget(ab_asked *a)
{
	if (!a->gw)
		return;
	*a->back = a->next;
	if (a->next)
		a->next->back = a->back;
	ab_timer_clear(&a->gw->loop, &a->timer);
	a->gw->ask_count--;
	*a = (ab_asked){ 0 };
}

static void settle(ab_asked *a, bool is_granted)
{
	void (*done)(void *arg, bool is_granted) = a->done;
	void *arg = a->arg;

	ab_ask_forget(a);
	done(arg, is_granted);
}

static void on_late(void *arg)
{
	settle(arg, false);
}

static bool send_question(uint32_t id, const char *how,
			  const ab_target *t)
{
	uint8_t memory[AB_TARGET_TEXT_SIZE + 64];
	char text[AB_TARGET_TEXT_SIZE];
	ab_writer w;

	ab_target_text(t, 0, text);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_GW_ASK);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, id);
	ab_put_str(&w, how);
	ab_put_str(&w, text);
	return !w.bad && ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len,
					 NULL, 0, MSG_DONTWAIT) == 0;
}

bool ab_ask_begin(ab_gw *gw, ab_asked *a, const char *how, const ab_target *t,
		  void (*done)(void *arg, bool is_granted), void *arg)
{
	uint32_t id = gw->ask_id + 1 ? gw->ask_id + 1 : 1;

	if (!ab_ask_may(gw, t) || gw->ask_count >= AB_GATEWAY_ASKS ||
	    !ab_bucket_take(&gw->records, 1, gw->loop.now) ||
	    !send_question(id, how, t))
		return false;
	gw->ask_id = id;
	*a = (ab_asked){ .gw = gw, .next = gw->asked, .back = &gw->asked,
			 .id = id, .done = done, .arg = arg };
	if (a->next)
		a->next->back = &a->next;
	gw->asked = a;
	gw->ask_count++;
	ab_timer_set(&gw->loop, &a->timer, gw->ask_ms, on_late, a);
	return true;
}

int ab_ask_answer(ab_gw *gw, uint32_t id, bool is_granted)
{
	ab_asked *a = gw->asked;

	while (a && a->id != id)
		a = a->next;
	if (!a)
		return -ENOENT;
	settle(a, is_granted);
	return 0;
}

void ab_ask_set(ab_gw *gw, uint32_t ms)
{
	gw->ask_ms = ms;
	while (!ms && gw->asked)
		settle(gw->asked, false);
}
