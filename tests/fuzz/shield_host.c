/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shield says to its host, which reads what agents wrote: any datagrams
 * (two bytes of length, then as many) in place of its own, before the host
 * reads or while it waits for an answer. Whatever they are, the host is told
 * of sound records and once of the end, and allows nothing that was not
 * answered so.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agentbox/guard.h"
#include "shield/internal.h"

#define MOST_DATAGRAMS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
	if (!good)
		abort();
}

static void told(void *arg, const ab_shield_record *m)
{
	int *ends = arg;

	require(*ends == 0); /* the end comes last */
	if (!m) {
		(*ends)++;
		return;
	}
	require(m->kind >= 1 && m->kind <= AB_SHIELD_KINDS &&
		m->answer >= 1 && m->answer <= AB_SHIELD_ANSWERS &&
		m->verdict <= AGENTBOX_VERDICT_DENY);
	require(m->answer != AB_SHIELD_ASKED || m->id != 0);
	require(strlen(m->object) + strlen(m->command) + strlen(m->rule) +
		strlen(m->reason) + strlen(m->call) <
		AB_SHIELD_MAX_RECORD + 2048);
}

static void say(int fd, const uint8_t *p, size_t n)
{
	for (int i = 0; i < MOST_DATAGRAMS && n >= 2; i++) {
		size_t len = p[0] | (size_t)p[1] << 8;

		p += 2;
		n -= 2;
		len = len < n ? len : n;
		/* one without bytes would be the end */
		if (len)
			(void)send(fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		p += len;
		n -= len;
	}
	shutdown(fd, SHUT_WR);
}

/* Did any of the datagrams say that request 1 is allowed? */
static bool is_allowed(const uint8_t *p, size_t n)
{
	static const uint8_t yes[] = { AB_MSG_SH_REPLY, 0, 0, 0, 0, 0, 0, 0,
				       1, 0, 0, 0, 0, 0, 0, 0 };

	for (size_t i = 0; i + sizeof(yes) <= n; i++)
		if (!memcmp(p + i, yes, sizeof(yes)))
			return true;
	return false;
}

static void ask(agentbox_shield *s, int how, bool allowed)
{
	int32_t verdict = 77, rc;

	switch (how) {
	case 0:
		ab_shield_drain(s);
		break;
	case 1:
		rc = agentbox_shield_verify(s, "files", "peer", "read",
					    &verdict, NULL, NULL);
		require(verdict == AGENTBOX_VERDICT_DENY ||
			(rc == 0 && allowed &&
			 verdict == AGENTBOX_VERDICT_ALLOW));
		break;
	case 2:
		rc = agentbox_shield_set_grants(s, "[]", 2, NULL);
		require(rc < 0 || allowed);
		break;
	case 3:
		rc = agentbox_shield_answer(s, "1", 1, NULL);
		require(rc < 0 || allowed);
		break;
	default:
		rc = agentbox_shield_begin_call(s, "call", NULL);
		require(rc < 0 || allowed);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int sv[2], ends = 0;
	agentbox_shield s = { .told = told, .arg = &ends,
			      .owner = getpid(), .box_id = "0123" };

	if (size < 1 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				   sv) < 0)
		return 0;
	s.helper = (ab_helper){ .control_fd = sv[0], .pidfd = -1 };
	require(pthread_mutex_init(&s.lock, NULL) == 0);
	say(sv[1], data + 1, size - 1);
	ask(&s, data[0] % 5, is_allowed(data + 1, size - 1));
	/* what is left is read, and its end noticed */
	ab_shield_drain(&s);
	require(s.has_ended && ends == 1);
	require(agentbox_shield_is_alive(&s) == 0);
	pthread_mutex_destroy(&s.lock);
	close(sv[0]);
	close(sv[1]);
	return 0;
}
