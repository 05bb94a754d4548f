/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How agentbox-init says what went wrong or was weakened. It never prints:
 * everything goes to the host as a message that names the stage, the object
 * and, where we know it, what to do. Spec: wire/box.h, STYLE.md section 4.
 */
#include "config.h"

#include "init.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "wire/message.h"

int init_fail(init_box *box, int sys_errno, const char *advice,
	      const char *fmt, ...)
{
	init_failure *f = &box->failure;
	va_list ap;

	/* the first reason is the reason */
	if (f->stage[0])
		return -1;
	va_start(ap, fmt);
	vsnprintf(f->stage, sizeof(f->stage), fmt, ap);
	va_end(ap);
	f->sys_errno = sys_errno;
	snprintf(f->message, sizeof(f->message), "%s%s%s", strerror(sys_errno),
		 advice[0] ? "; " : "", advice);
	return -1;
}

void init_note(init_box *box, const char *fmt, ...)
{
	size_t used = strlen(box->notes), left = sizeof(box->notes) - used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(box->notes + used, left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 2 > left) {
		box->notes[used] = '\0';
		return;
	}
	box->notes[used + (size_t)n] = '\n';
	box->notes[used + (size_t)n + 1] = '\0';
}

void init_send_failure(const init_box *box, int sock)
{
	const init_failure *f = &box->failure;
	ab_msg_failed m = {.stage = f->stage[0] ? f->stage : "init",
			   .sys_errno = f->sys_errno,
			   .message = f->message};
	uint8_t memory[2048];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_failed(&w, AB_MSG_FAILED, &m);
	if (!w.bad)
		(void)ab_message_send(sock, w.data, w.len, NULL, 0, 0);
}

/*
 * An event must not block the box when nobody reads: the socket's buffer
 * holds hundreds, and a host that reads none of them has stopped working.
 */
void init_send_event(int sock, uint32_t message, uint32_t kind,
		     const char *object, const char *detail)
{
	ab_msg_event m = {.kind = kind, .object = object, .detail = detail};
	uint8_t memory[3 * AB_MAX_PATH];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_event(&w, message, &m);
	if (!w.bad)
		(void)ab_message_send(sock, w.data, w.len, NULL, 0,
				      MSG_DONTWAIT);
}
