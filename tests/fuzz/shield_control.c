/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a host says to agentbox-shield: any datagrams (two bytes of length, then
 * as many) on its control socket. Whatever they are, each is answered under its
 * serial or ends the shield, no list grows past its bound, records are sound,
 * and a request is allowed only to the box itself or by a grant in force.
 */
#include "config.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agentbox/guard.h"
#include "base/alloc.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

#define MOST_DATAGRAMS 80
#define OWN "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf ended;

/* In place of _exit() in the shield's files. */
void shield_exit(int status)
{
	longjmp(ended, status + 1);
}

static void require(int good)
{
	if (!good)
		abort();
}

/* A datagram of the host's. */
typedef struct said {
	const uint8_t *p;
	size_t n;
	uint32_t serial;
} said;

/* May this be: said once more, in other words. */
static bool is_granted(const ab_sh *sh, const said *what)
{
	const char *tool, *box, *action;
	ab_reader r;

	ab_reader_init(&r, what->p + 12, what->n - 12);
	tool = ab_get_str(&r);
	box = ab_get_str(&r);
	action = ab_get_str(&r);
	if (!strcmp(box, OWN))
		return true;
	for (size_t i = 0; i < sh->grants.count; i++)
		if (!strcmp(sh->grants.items[i].box, box) ||
		    !strcmp(sh->grants.items[i].name, box))
			return !strcmp(action, "read") &&
			       strcmp(tool, "database") != 0 &&
			       strcmp(tool, "billing") != 0;
	return false;
}

static void look_at(const ab_sh *sh, const uint8_t *p, size_t n,
		    const said *what)
{
	ab_shield_record m;
	uint32_t kind;
	ab_reader r;

	ab_reader_init(&r, p, n);
	kind = ab_get_u32(&r);
	require(ab_get_u32(&r) == 0);
	if (kind == AB_MSG_SH_REPLY) {
		require(ab_get_u32(&r) == what->serial);
		require(ab_get_i32(&r) <= 0);
		require(strlen(ab_get_str(&r)) < 256 && ab_reader_done(&r));
		return;
	}
	require(kind == AB_MSG_SH_RECORD &&
		ab_shield_record_get(&r, &m) == 0);
	if (m.kind == AB_SHIELD_EXEC) {
		require((m.id == 1 || m.id == 2) && !strcmp(m.object, "git") &&
			m.answer == (what->p[what->n - 4] ? AB_SHIELD_LET
						 : AB_SHIELD_REFUSED));
		return;
	}
	require(m.kind == AB_SHIELD_VERIFY &&
		strlen(m.command) <= AB_SHIELD_MAX_NAME);
	require(m.verdict == AGENTBOX_VERDICT_DENY || is_granted(sh, what));
}

static void look(const ab_sh *sh, int fd, const said *what)
{
	uint8_t answer[AB_SHIELD_MAX_RECORD + 2048];
	ssize_t n;
	int count = 0;

	while ((n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT)) > 0) {
		look_at(sh, answer, (size_t)n, what);
		count++;
	}
	require(count >= 1 && count <= 2);
	require(sh->grants.count <= AB_SHIELD_MAX_GRANTS &&
		sh->calls.count <= AB_SHIELD_MAX_CALLS &&
		sh->ask_count <= AB_ASKS_MAX);
	for (size_t i = 0; i < sh->grants.count; i++)
		require(memchr(sh->grants.items[i].box, 0,
			       sizeof(sh->grants.items[i].box)) &&
			memchr(sh->grants.items[i].name, 0,
			       sizeof(sh->grants.items[i].name)));
}

static void talk(ab_sh *sh, int fd, const uint8_t *p, size_t n)
{
	for (int i = 0; i < MOST_DATAGRAMS && n >= 2; i++) {
		size_t len = p[0] | (size_t)p[1] << 8;
		said what = { p + 2, 0, 0 };

		p += 2;
		n -= 2;
		len = what.n = len < n ? len : n;
		if (len >= 12)
			memcpy(&what.serial, p + 8, sizeof(what.serial));
		if (len && send(fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL) ==
				   (ssize_t)len) {
			ab_sh_serve_control(sh);
			look(sh, fd, &what);
		}
		p += len;
		n -= len;
	}
}

/* Nothing waits for its answer: there is no listener here. */
static void add_ask(ab_sh *sh, uint64_t id)
{
	const ab_shield_record m = {
		.kind = AB_SHIELD_EXEC, .answer = AB_SHIELD_ASKED,
		.verdict = AGENTBOX_VERDICT_ASK, .id = id, .object = "git",
		.command = "git tag", .rule = "r", .reason = "", .call = "",
	};
	uint8_t memory[256];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_shield_record_put(&w, &m);
	require(ab_sh_add_ask(sh, id, 1, w.data, w.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_sh *volatile sh = ab_new(ab_sh);
	int sv[2];

	if (!sh || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) <
			   0) {
		free(sh);
		return 0;
	}
	require(sv[0] == AB_HELPER_CONTROL_FD ||
		dup2(sv[0], AB_HELPER_CONTROL_FD) == AB_HELPER_CONTROL_FD);
	sh->notify_fd = sh->proc_fd = sh->host_pidfd = -1;
	memcpy(sh->grants.own, OWN, sizeof(OWN));
	require(ab_sh_grants_scope(&sh->grants, "billing") == 0);
	add_ask(sh, 1);
	add_ask(sh, 2);
	if (setjmp(ended) == 0)
		talk(sh, sv[1], data, size);
	while (sh->ask_count)
		free(sh->asks[--sh->ask_count].record);
	free(sh->grants.tools[0]);
	free(sh);
	if (sv[0] != AB_HELPER_CONTROL_FD)
		close(AB_HELPER_CONTROL_FD);
	close(sv[0]);
	close(sv[1]);
	return 0;
}
