/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two threads, of which one at a time works on the state. One waits in the
 * kernel for the next notice and for nothing else, since each exec of the box
 * waits for it: to wait in poll(2) for whoever comes first was a sixth of all
 * that an exec cost. The other one serves the host, and what ends at a time.
 * Each takes the filter itself, before it reads a byte of an agent's.
 * Spec: DESIGN.md sections 2, 12, seccomp_unotify(2).
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/clock.h"
#include "base/fd.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

struct ab_sh_server {
	ab_sh *sh;
	/* Whoever wants the state takes the turn first and gives it back with
	   the state in hand: who has just had it does not get it again while
	   the other one waits. */
	pthread_mutex_t turn, state;
	pthread_cond_t room;
	int wake[2]; /* the host's thread is to look again */
	int error;   /* of the notices' thread; 1: not known yet */
	pthread_cond_t told;
	/* what the host's thread waits for */
	uint64_t end;
	bool is_telling;
};

typedef struct ab_sh_server server;

static void take_state(server *s)
{
	pthread_mutex_lock(&s->turn);
	pthread_mutex_lock(&s->state);
	pthread_mutex_unlock(&s->turn);
}

static void give_state(server *s)
{
	pthread_mutex_unlock(&s->state);
}

/* --- notices -------------------------------------------------------------- */

/* Nothing comes any more: the host ends us with the box. */
static void rest(server *s)
{
	for (;;)
		pthread_cond_wait(&s->told, &s->state);
}

/* Does the host's thread wait for less than there is? */
static void wake_host_thread(const server *s)
{
	static const uint8_t empty[AB_MESSAGE_HEADER];
	int r;

	if (ab_sh_next_end(s->sh) == s->end &&
	    (s->sh->waiting_count != 0) == s->is_telling)
		return;
	r = ab_message_send(s->wake[1], empty, sizeof(empty), NULL, 0,
			    MSG_DONTWAIT);
	/* full: it has not looked yet */
	if (r && r != -EAGAIN)
		_exit(1);
}

static void *take_notices(void *arg)
{
	server *s = arg;
	int error = ab_sh_take_filter();

	take_state(s);
	s->error = error;
	pthread_cond_broadcast(&s->told);
	while (!error) {
		ab_sh_notice notice;
		bool ended = false, is_there;

		/* nothing is taken that could not be told: callers wait */
		while (s->sh->waiting_count == AB_WAITING_MAX)
			pthread_cond_wait(&s->room, &s->state);
		give_state(s);
		is_there = ab_sh_wait_for_notice(s->sh, &notice, &ended);
		take_state(s);
		if (ended)
			break;
		if (is_there) {
			ab_sh_on_notice(s->sh, &notice);
			wake_host_thread(s);
		}
	}
	rest(s);
	return NULL;
}

/* --- the host ------------------------------------------------------------- */

static void look(server *s, const struct pollfd fds[3])
{
	uint8_t none[16];
	size_t count = 0;

	/* it is gone, also where a child of its holds the socket */
	if (fds[1].revents)
		_exit(0);
	if (fds[2].revents)
		(void)ab_message_recv(s->wake[0], none, sizeof(none), NULL, 0,
				      &count, MSG_DONTWAIT);
	if (fds[0].revents & POLLOUT)
		ab_sh_flush(s->sh, MSG_DONTWAIT);
	if (fds[0].revents & ~POLLOUT)
		ab_sh_serve_control(s->sh);
	if (s->end)
		ab_sh_expire(s->sh, ab_clock_boot_ns());
	if (s->sh->waiting_count < AB_WAITING_MAX)
		pthread_cond_signal(&s->room);
}

static void serve_host(server *s)
{
	struct pollfd fds[] = {
		{ .fd = AB_HELPER_CONTROL_FD, .events = POLLIN },
		{ .fd = s->sh->host_pidfd, .events = POLLIN },
		{ .fd = s->wake[0], .events = POLLIN },
	};

	s->end = ab_sh_next_end(s->sh);
	s->is_telling = s->sh->waiting_count != 0;
	if (s->is_telling)
		fds[0].events |= POLLOUT;
	give_state(s);
	if (ab_fd_poll_many(fds, AB_ARRAY_LEN(fds),
			    s->end ? ab_clock_left_ms(s->end) : -1) < 0)
		_exit(1);
	take_state(s);
	look(s, fds);
}

/* --- start ---------------------------------------------------------------- */

static int start_thread(server *s)
{
	pthread_t thread;

	/* a second arena of the allocator would ask how many processors there
	   are, and the filter has no call for that */
	(void)mallopt(M_ARENA_MAX, 1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->wake))
		return -errno;
	return -pthread_create(&thread, NULL, take_notices, s);
}

/* From here on each thread has the ids that it keeps, and there is no other
   one to come. */
static int confine(server *s, const char **stage)
{
	int r;

	*stage = "limits";
	r = ab_sh_set_limits();
	if (r)
		return r;
	*stage = "seccomp";
	r = ab_sh_take_filter();
	while (!r && s->error == 1)
		pthread_cond_wait(&s->told, &s->state);
	return r ? r : s->error;
}

int ab_sh_start(ab_sh *sh, uint32_t uid, uint32_t gid, const char **stage,
		struct ab_sh_server **out)
{
	server *s = ab_new(server);
	int r = s ? ab_sh_give_up(uid, gid, stage) : -ENOMEM;

	if (r)
		return r;
	*s = (server){ .sh = sh, .turn = PTHREAD_MUTEX_INITIALIZER,
		       .state = PTHREAD_MUTEX_INITIALIZER,
		       .room = PTHREAD_COND_INITIALIZER,
		       .told = PTHREAD_COND_INITIALIZER, .error = 1 };
	*stage = "thread";
	take_state(s);
	r = start_thread(s);
	if (r == 0)
		r = confine(s, stage);
	*out = s;
	return r;
}

void ab_sh_serve(struct ab_sh_server *s)
{
	for (;;)
		serve_host(s);
}
