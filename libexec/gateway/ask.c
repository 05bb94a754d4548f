/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ask-on-deny: where the host wants to be asked, a target that is not in
 * network.allow waits for its answer, for this one connection or request. What
 * else is refused is nobody's to ask about. A call of a tool waits in the same
 * way where the policy wants it approved. No answer in time, too many
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
	return gw->ask_ms[false] &&
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

/* `arguments` NULL: of a target. */
static bool send_question(uint32_t id, const char *how, const char *what,
			  const char *arguments)
{
	uint8_t memory[AB_GATEWAY_MAX_QUESTION];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, arguments ? AB_MSG_GW_APPROVE : AB_MSG_GW_ASK);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, id);
	ab_put_str(&w, how);
	ab_put_str(&w, what);
	if (arguments)
		ab_put_str(&w, arguments);
	return !w.bad && ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len,
					 NULL, 0, MSG_DONTWAIT) == 0;
}

static bool begin(ab_gw *gw, ab_asked *a, const char *how, const char *what,
		  const char *arguments,
		  void (*done)(void *arg, bool is_granted), void *arg)
{
	uint32_t id = gw->ask_id + 1 ? gw->ask_id + 1 : 1;
	bool is_call = arguments != NULL;

	if (!gw->ask_ms[is_call] || gw->ask_count >= AB_GATEWAY_ASKS ||
	    !ab_bucket_take(&gw->records, 1, gw->loop.now) ||
	    !send_question(id, how, what, arguments))
		return false;
	gw->ask_id = id;
	*a = (ab_asked){ .gw = gw, .next = gw->asked, .back = &gw->asked,
			 .id = id, .is_call = is_call, .done = done,
			 .arg = arg };
	if (a->next)
		a->next->back = &a->next;
	gw->asked = a;
	gw->ask_count++;
	ab_timer_set(&gw->loop, &a->timer, gw->ask_ms[is_call], on_late, a);
	return true;
}

bool ab_ask_begin(ab_gw *gw, ab_asked *a, const char *how, const ab_target *t,
		  void (*done)(void *arg, bool is_granted), void *arg)
{
	char text[AB_TARGET_TEXT_SIZE];

	ab_target_text(t, 0, text);
	return ab_ask_may(gw, t) &&
	       begin(gw, a, how, text, NULL, done, arg);
}

bool ab_ask_call(ab_gw *gw, ab_asked *a, const char *tool,
		 const char *arguments,
		 void (*done)(void *arg, bool is_granted), void *arg)
{
	return begin(gw, a, "mcp", tool, arguments, done, arg);
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

void ab_ask_set(ab_gw *gw, bool are_calls, uint32_t ms)
{
	ab_asked *a = gw->asked;

	gw->ask_ms[are_calls] = ms;
	while (!ms && a) {
		bool fits = a->is_call == are_calls;

		if (fits)
			settle(a, false);
		/* the list may have changed in any way */
		a = fits ? gw->asked : a->next;
	}
}
