/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the processes of one job say to each other: a word, a payload of fixed
 * size, descriptors. Refuses anything longer, shorter or unknown.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agentbox/base.h"
#include "base/fd.h"
#include "job.h"
#include "wire/message.h"

#define WORD_MAX 4096
/* Ten milliseconds each. */
#define FLIGHT_TRIES 200

int copy_send_word(int sock, enum copy_word word, const void *p, size_t n,
		   const int *fds, size_t fd_count)
{
	uint32_t head[2] = { (uint32_t)word, (uint32_t)fd_count };
	uint8_t memory[WORD_MAX];
	int r;

	if (n > sizeof(memory) - sizeof(head))
		return -EINVAL;
	memcpy(memory, head, sizeof(head));
	if (n)
		memcpy(memory + sizeof(head), p, n);
	/* all of a user's descriptors in flight count together (unix(7)):
	   somebody else's will arrive */
	for (int i = 0;; i++) {
		r = ab_message_send(sock, memory, sizeof(head) + n, fds,
				    fd_count, 0);
		if (r != -ETOOMANYREFS || i == FLIGHT_TRIES)
			return r;
		(void)ab_fd_poll(-1, 0, 10);
	}
}

ssize_t copy_receive_word(int sock, enum copy_word *word, void *p,
			  size_t size, int *fds, size_t max_fds,
			  size_t *fd_count, int flags)
{
	uint8_t memory[WORD_MAX];
	uint32_t head[2];
	ssize_t n = ab_message_recv(sock, memory, sizeof(memory), fds, max_fds,
				    fd_count, flags);

	if (n <= 0)
		return n ? n : -ECONNRESET;
	n -= (ssize_t)sizeof(head);
	if (n < 0 || (size_t)n > size)
		return -EPROTO;
	memcpy(head, memory, sizeof(head));
	*word = (enum copy_word)head[0];
	memcpy(p, memory + sizeof(head), (size_t)n);
	return n;
}

void copy_send_failure(int sock, const copy_failure *failure)
{
	(void)copy_send_word(sock, COPY_WORD_FAILED, failure, sizeof(*failure),
			     NULL, 0);
}

bool copy_is_name(const char *name, size_t n)
{
	return n && n <= AB_MAX_NAME && !memchr(name, '/', n) &&
	       !memchr(name, 0, n) && !(n == 1 && name[0] == '.') &&
	       !(n == 2 && name[0] == '.' && name[1] == '.');
}

void copy_set_admitted(ab_record_entry *source,
		       const ab_content_finding *finding)
{
	size_t rule = ab_content_rule_find(finding->rule,
					   strlen(finding->rule));

	source->admitted = (uint16_t)(rule + 1);
	source->admitted_line = finding->line > UINT16_MAX
					? 0
					: (uint16_t)finding->line;
}

const char *copy_admitted_rule(const ab_record_entry *source)
{
	return source->admitted ? ab_content_rule_id(source->admitted - 1u)
				: NULL;
}

uint64_t copy_most_entries(const ab_copy_plan *plan)
{
	uint64_t most;

	return !__builtin_mul_overflow(plan->max_files, (uint64_t)8, &most) &&
			       most > 100000
		       ? most
		       : 100000;
}

int copy_fail(copy_failure *failure, int32_t code, int sys_errno,
	      const char *where, const char *message)
{
	memset(failure, 0, sizeof(*failure));
	failure->code = code;
	failure->sys_errno = sys_errno;
	snprintf(failure->where, sizeof(failure->where), "%s", where);
	snprintf(failure->message, sizeof(failure->message), "%s", message);
	return -1;
}

void copy_name_limit(copy_failure *failure, const ab_copy_plan *plan)
{
	const struct {
		const char *name;
		uint64_t value;
	} limits[] = {
		{ "max_bytes: ", plan->max_bytes },
		{ "max_files: ", plan->max_files },
		{ "max_file_bytes: ", plan->max_file_bytes },
		{ "deadline_ms ", plan->deadline_ms },
	};
	size_t len = strnlen(failure->message, sizeof(failure->message));

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *name = limits[i].name;

		if (strncmp(failure->message, name, strlen(name)) != 0)
			continue;
		/* too long for the text: what there is says enough */
		snprintf(failure->message + len, sizeof(failure->message) - len,
			 "; it is %" PRIu64 ": allow more, or exclude more",
			 limits[i].value);
		return;
	}
}
