/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How agentbox-init says what went wrong or was weakened. It never prints:
 * everything goes to the host as a message that names the stage, the object
 * and, where we know it, what to do. Spec: wire/box.h, STYLE.md section 4.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
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
	/* what sys_errno means, the host says in its own words */
	if (advice[0])
		snprintf(f->message, sizeof(f->message), "%s", advice);
	else
		snprintf(f->message, sizeof(f->message), "cannot set up '%s'",
			 f->stage);
	return -1;
}

/* There is always room for the line that says that there is none. */
void init_note(init_box *box, const char *fmt, ...)
{
	static const char full[] = "left-out\n";
	size_t used = strlen(box->notes);
	size_t left = sizeof(box->notes) - sizeof(full) - used;
	va_list ap;
	int n;

	if (used >= sizeof(full) - 1 &&
	    !strcmp(box->notes + used - (sizeof(full) - 1), full))
		return;
	va_start(ap, fmt);
	n = vsnprintf(box->notes + used, left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 2 > left) {
		memcpy(box->notes + used, full, sizeof(full));
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

/* Length of the UTF-8 sequence at s, 0 when there is none (RFC 3629). */
static size_t sequence(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, low, high; /* high: of the second */
		size_t n;
	} rows[] = {
		{0x01, 0x7f, 0, 0, 1},	     {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		if (s[0] < rows[i].first || s[0] > rows[i].last)
			continue;
		if (rows[i].n > 1 &&
		    (s[1] < rows[i].low || s[1] > rows[i].high))
			return 0;
		for (size_t k = 2; k < rows[i].n; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		}
		return rows[i].n;
	}
	return 0;
}

/* A name is bytes, a report is text: what is no UTF-8 becomes \xNN. */
static void make_text(char *to, size_t size, const char *from)
{
	size_t used = 0;

	while (*from && used + 5 < size) {
		size_t n = sequence((const unsigned char *)from);

		if (n) {
			memcpy(to + used, from, n);
			used += n;
			from += n;
			continue;
		}
		used += (size_t)snprintf(to + used, size - used, "\\x%02x",
					 (unsigned)(unsigned char)*from++);
	}
	to[used] = '\0';
}

/*
 * An event must not block the box when nobody reads: the socket's buffer
 * holds hundreds; tell.c counts what does not fit.
 */
int init_send_event(int sock, uint32_t message, uint32_t kind,
		    const char *object, const char *detail)
{
	char object_text[2 * AB_MAX_PATH], detail_text[2 * AB_MAX_PATH];
	ab_msg_event m = {.kind = kind,
			  .object = object_text,
			  .detail = detail_text};
	uint8_t memory[4 * AB_MAX_PATH + 64];
	ab_writer w;

	make_text(object_text, sizeof(object_text), object);
	make_text(detail_text, sizeof(detail_text), detail);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_event(&w, message, &m);
	return w.bad ? -EMSGSIZE
		     : ab_message_send(sock, w.data, w.len, NULL, 0,
				       MSG_DONTWAIT);
}
