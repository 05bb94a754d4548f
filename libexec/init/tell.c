/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events from the holder to the host. While the host waits for an answer it
 * reads, so the holder waits for it; at other times nobody may read, and the
 * holder must not stop. What then does not fit into the socket is counted by
 * kind, and one event says so as soon as there is room again and before
 * anything else is said: nothing is lost in silence.
 * Spec: DESIGN.md section 6, wire/box.h.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "wire/message.h"

/* A host that asked and does not read has stopped; the box has not. */
#define MAX_WAIT_MS 1000

/* Room for another, or the host is gone; false: not in time. */
static bool wait_for_room(const init_box *box)
{
	struct pollfd fds[] = {
		{.fd = box->control_fd, .events = POLLOUT},
		{.fd = box->host_pidfd, .events = POLLIN},
	};

	return ab_fd_poll_many(fds, 2, MAX_WAIT_MS) > 0 &&
	       !fds[1].revents;
}

static int try_event(init_box *box, uint32_t kind, const char *object,
		     const char *detail)
{
	int r;

	do {
		r = init_send_event(box->control_fd, AB_MSG_EVENT, kind,
				    object, detail);
	} while (r == -EAGAIN && box->host_reads && wait_for_room(box));
	return r;
}

bool init_tell_lost(init_box *box)
{
	uint32_t *lost = box->lost, all = 0, kind = AB_EVENT_LIMIT;
	char text[200];

	for (size_t i = 0; i < AB_ARRAY_LEN(box->lost); i++)
		all += lost[i];
	if (!all)
		return true;
	/* what the worst of them was */
	if (lost[AB_EVENT_UNPROTECTED])
		kind = AB_EVENT_UNPROTECTED;
	else if (lost[AB_EVENT_QUARANTINED])
		kind = AB_EVENT_QUARANTINED;
	else if (lost[AB_EVENT_REPROTECTED])
		kind = AB_EVENT_REPROTECTED;
	snprintf(text, sizeof(text),
		 "%u events were lost, as nobody read them: %u quarantined, "
		 "%u reprotected, %u unprotected",
		 all, lost[AB_EVENT_QUARANTINED], lost[AB_EVENT_REPROTECTED],
		 lost[AB_EVENT_UNPROTECTED]);
	if (try_event(box, kind, "events", text))
		return false;
	memset(box->lost, 0, sizeof(box->lost));
	return true;
}

void init_tell(init_box *box, uint32_t kind, const char *object,
	       const char *detail)
{
	if (init_tell_lost(box) && !try_event(box, kind, object, detail))
		return;
	if (kind < AB_ARRAY_LEN(box->lost) && box->lost[kind] < UINT32_MAX)
		box->lost[kind]++;
}

/* Not before what it is the end of; what does not arrive was not said. */
void init_tell_looked(init_box *box)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;
	bool is_told;
	int r;

	box->host_reads = true;
	is_told = init_tell_lost(box);
	box->host_reads = false;
	if (!is_told)
		return;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LOOKED);
	ab_put_u32(&w, 0);
	do {
		r = ab_message_send(box->control_fd, w.data, w.len, NULL, 0,
				    MSG_DONTWAIT);
	} while (r == -EAGAIN && wait_for_room(box));
}
