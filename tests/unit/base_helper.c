/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A helper for base_spawn_internal.c that behaves, or misbehaves, by the name
 * it is started under. It has no environment and no arguments to go by.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "wire/codec.h"
#include "wire/helper.h"
#include "wire/message.h"

#define MSG_REPORT 100u

extern char **environ;

static void hello(const char *build_id, const char *name)
{
	int self = pidfd_open(getpid(), 0);

	ab_message_send_hello(AB_HELPER_CONTROL_FD, build_id, name, self);
	close(self);
}

static void wait_for_end(void)
{
	while (ab_fd_poll(AB_HELPER_CONTROL_FD, POLLIN, -1) > 0) {
		char c;

		if (read(AB_HELPER_CONTROL_FD, &c, 1) == 0)
			return;
	}
}

/* How many signals are not at their default, SIGKILL and SIGSTOP aside. */
static uint32_t changed_signals(void)
{
	uint32_t changed = 0;

	for (int s = 1; s <= SIGRTMAX; s++) {
		struct sigaction sa;

		if (sigaction(s, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL)
			changed++;
	}
	return changed;
}

static uint32_t blocked_signals(void)
{
	uint32_t blocked = 0;
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int s = 1; s <= SIGRTMAX; s++)
		blocked += sigismember(&set, s) == 1;
	return blocked;
}

static uint32_t null_streams(void)
{
	uint32_t good = 0;
	char link[32], target[64];

	for (int fd = 0; fd < 3; fd++) {
		ssize_t n;

		link[0] = '\0';
		strcat(link, "/proc/self/fd/0");
		link[14] = (char)('0' + fd);
		n = readlink(link, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		good += strcmp(target, "/dev/null") == 0;
	}
	return good;
}

/* u32 kind, fds=0; str argv0; u32 each; bytes plan. */
static void report(const char *name)
{
	char plan[256] = "";
	ssize_t n = read(AB_HELPER_PLAN_FD, plan, sizeof(plan));
	uint32_t count = 0;
	ab_writer w;

	while (environ[count])
		count++;
	ab_writer_init(&w, 4096);
	ab_put_u32(&w, MSG_REPORT);
	ab_put_u32(&w, 0);
	ab_put_str(&w, name);
	ab_put_u32(&w, count);
	ab_put_u32(&w, changed_signals());
	ab_put_u32(&w, blocked_signals());
	ab_put_u32(&w, null_streams());
	ab_put_u32(&w, getsid(0) == getpid());
	ab_put_u32(&w, fcntl(AB_HELPER_FIRST_FREE_FD, F_GETFD) != -1);
	ab_put_bytes(&w, plan, n > 0 ? (size_t)n : 0);
	ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0, 0);
	ab_writer_end(&w);
}

static void send_raw(uint32_t kind, int fd_count, const char *id,
		     const char *name)
{
	int fds[2] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)};
	uint8_t memory[512];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, kind);
	ab_put_u32(&w, (uint32_t)fd_count);
	ab_put_str(&w, id);
	ab_put_str(&w, name);
	ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, fds,
			(size_t)fd_count, 0);
}

static void misbehave(const char *name)
{
	const char *id = agentbox_build_id();

	if (strcmp(name, "wrong-build") == 0)
		hello("0123\033[31m-other", name);
	else if (strcmp(name, "wrong-name") == 0)
		hello(id, "somebody-else");
	else if (strcmp(name, "cannot") == 0)
		ab_message_send_no_hello(AB_HELPER_CONTROL_FD, ETOOMANYREFS,
					 "");
	else if (strcmp(name, "hurried") == 0)
		ab_message_send_no_hello(AB_HELPER_CONTROL_FD, EPERM,
					 "policy");
	else if (strcmp(name, "no-pidfd") == 0)
		send_raw(AB_MSG_HELLO, 1, id, name);
	else if (strcmp(name, "no-fd") == 0)
		send_raw(AB_MSG_HELLO, 0, id, name);
	else if (strcmp(name, "two-fds") == 0)
		send_raw(AB_MSG_HELLO, 2, id, name);
	else if (strcmp(name, "garbage") == 0)
		send_raw(7, 1, id, name);
	else if (strcmp(name, "short") == 0)
		(void)!write(AB_HELPER_CONTROL_FD, "hi", 2);
	else if (strcmp(name, "closes") == 0)
		close(AB_HELPER_CONTROL_FD);
	else if (strcmp(name, "dies") == 0)
		_exit(3);
	else if (strcmp(name, "killed") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(name, "stubborn") == 0)
		hello(id, name);
	/* "silent" and all the others stay for ever */
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[0] : "?"; /* and the processors */

	if (strcmp(name, "good") != 0 && strcmp(name, "reports") != 0)
		misbehave(name);
	hello(agentbox_build_id(), name);
	if (strcmp(name, "reports") == 0)
		report(name);
	wait_for_end();
	return 0;
}
