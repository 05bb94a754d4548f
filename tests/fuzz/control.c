/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every message decoder of a box: kind and fd count as on the wire, then the
 * fields; spawn's body as it stands in a datagram after its header.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "wire/box.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void get_spawn(ab_reader *r)
{
	ab_msg_spawn m;

	if (ab_msg_get_spawn(r, &m))
		return;
	/* what was accepted is safe to use */
	if (m.argv[m.argc] || m.envp[m.envc] || !m.argv[0][0])
		abort();
	for (uint32_t i = 0; i < m.target_count; i++) {
		if (m.targets[i] >= AB_MAX_TARGET_FD)
			abort();
	}
	ab_msg_spawn_end(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_msg_ready ready;
	ab_msg_failed failed;
	ab_msg_event event;
	ab_msg_reply reply;
	ab_msg_request request;
	ab_msg_register registration;
	ab_msg_exited exited;
	ab_msg_signal signal;
	ab_reader r;
	uint32_t kind;

	ab_reader_init(&r, data, size);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	switch (kind) {
	case AB_MSG_READY:
	case AB_MSG_LINK_READY:
		(void)ab_msg_get_ready(&r, &ready);
		break;
	case AB_MSG_FAILED:
	case AB_MSG_NOT_STARTED:
		(void)ab_msg_get_failed(&r, &failed);
		break;
	case AB_MSG_EVENT:
	case AB_MSG_LINK_EVENT:
		(void)ab_msg_get_event(&r, &event);
		break;
	case AB_MSG_REPLY:
	case AB_MSG_LINK_REPLY:
		(void)ab_msg_get_reply(&r, &reply);
		break;
	case AB_MSG_SPAWN:
	case AB_MSG_SPAWN_BIG:
		get_spawn(&r);
		break;
	case AB_MSG_EXITED:
		(void)ab_msg_get_exited(&r, &exited);
		break;
	case AB_MSG_SIGNAL:
		if (ab_msg_get_signal(&r, &signal) == 0 && signal.signum < 1)
			abort();
		break;
	case AB_MSG_REGISTER:
		if (ab_msg_get_register(&r, &registration) == 0 &&
		    (registration.pid < 2 || registration.pid > INT32_MAX))
			abort();
		break;
	default:
		(void)ab_msg_get_request(&r, kind, &request);
	}
	return 0;
}
