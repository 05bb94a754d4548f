/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the host says and asks. Messages: wire/shield.h. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

static void reply(uint32_t serial, int32_t result, const char *why)
{
	uint8_t memory[512];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_SH_REPLY);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, serial);
	ab_put_i32(&w, result);
	ab_put_str(&w, why);
	/* it waits and reads; one that does not is killed by who asked */
	(void)ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0, 0);
}

/* An address that a host asks about before anybody connects. */
static const char *refuse_address(const ab_sh *sh, const char *text)
{
	ab_target t;

	if (ab_target_authority(text, strlen(text), 0, &t) != AB_TARGET_OK ||
	    t.kind != AB_TARGET_ADDRESS)
		return "is no address with a port";
	ab_address_unmap(&t.address);
	return ab_sh_network_refuse(&sh->network, &t);
}

/* Told before it is answered: both go to who asks. */
static void on_verify(ab_sh *sh, uint32_t serial, ab_reader *r)
{
	const char *tool = ab_get_str(r);
	const char *box = ab_get_str(r);
	const char *action = ab_get_str(r);
	const char *why;
	ab_shield_record m = { .kind = AB_SHIELD_VERIFY, .object = tool,
			       .command = box, .rule = "shield.grants",
			       .call = ab_sh_calls_one(&sh->calls) };

	if (!ab_reader_done(r) || strlen(tool) > AB_SHIELD_MAX_NAME ||
	    strlen(box) > AB_SHIELD_MAX_NAME ||
	    strlen(action) > AB_SHIELD_MAX_NAME)
		_exit(1);
	if (strcmp(action, "connect") == 0 && strchr(box, ':'))
		why = refuse_address(sh, box);
	else
		why = ab_sh_grants_refuse(&sh->grants, tool, box, action);
	m.verdict = why ? AGENTBOX_VERDICT_DENY : AGENTBOX_VERDICT_ALLOW;
	m.answer = why ? AB_SHIELD_REFUSED : AB_SHIELD_LET;
	m.reason = why ? why : "";
	if (!ab_sh_deliver(sh, &m, 0))
		why = "it cannot be recorded";
	reply(serial, why ? -EACCES : 0, why ? why : "");
}

static void on_call(ab_sh *sh, uint32_t serial, ab_reader *r)
{
	uint32_t begins = ab_get_u32(r);
	const char *id = ab_get_str(r);

	if (!ab_reader_done(r) || begins > 1)
		_exit(1);
	reply(serial, begins ? ab_sh_calls_begin(&sh->calls, id)
			     : ab_sh_calls_end(&sh->calls, id), "");
}

static void on_answer(ab_sh *sh, uint32_t serial, ab_reader *r)
{
	uint64_t id = ab_get_u64(r);
	uint32_t let = ab_get_u32(r);

	if (!ab_reader_done(r) || let > 1)
		_exit(1);
	reply(serial, ab_sh_answer_ask(sh, id, let), "");
}

static void on_own(ab_sh *sh, uint32_t serial, ab_reader *r)
{
	uint32_t begins = ab_get_u32(r);
	bool good = begins ? sh->own < UINT32_MAX : sh->own > 0;

	if (!ab_reader_done(r) || begins > 1)
		_exit(1);
	if (good)
		sh->own += begins ? 1u : UINT32_MAX;
	reply(serial, good ? 0 : -ENOENT, "");
}

static void dispatch(ab_sh *sh, uint32_t kind, uint32_t serial, ab_reader *r)
{
	switch (kind) {
	case AB_MSG_SH_GRANTS:
		reply(serial, ab_sh_grants_take(&sh->grants, r), "");
		break;
	case AB_MSG_SH_VERIFY:
		on_verify(sh, serial, r);
		break;
	case AB_MSG_SH_CALL:
		on_call(sh, serial, r);
		break;
	case AB_MSG_SH_ANSWER:
		on_answer(sh, serial, r);
		break;
	case AB_MSG_SH_OWN:
		on_own(sh, serial, r);
		break;
	case AB_MSG_SH_PING:
		reply(serial, 0, "");
		break;
	default:
		/* not a host of our build: the box starts nothing more */
		_exit(1);
	}
}

void ab_sh_serve_control(ab_sh *sh)
{
	static uint8_t message[AB_MAX_MESSAGE];
	uint32_t kind, serial;
	size_t count = 0;
	ab_reader r;
	ssize_t n = ab_message_recv(AB_HELPER_CONTROL_FD, message,
				    sizeof(message), NULL, 0, &count,
				    MSG_DONTWAIT);

	if (n == -EAGAIN)
		return;
	if (n <= 0)
		_exit(0);
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	serial = ab_get_u32(&r);
	if (r.bad)
		_exit(1);
	dispatch(sh, kind, serial, &r);
}
