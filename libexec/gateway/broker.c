/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions on the broker's socket. Who asks is known by the socket it came
 * through, which is of this box alone, by the user and the process that
 * connected (the kernel's word, for the life of the connection), and by the
 * box's key in each question; a process that has ended has no questions, even
 * where somebody else holds its connection. All refusals look the same to the
 * box; the record says which it was. One question of a connection at a time;
 * what may be had, grant.c judges. Spec: broker.h, unix(7), gateway cases 100,
 * 140-144, 149.
 */
#include "config.h"

#include "broker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "grant.h"
#include "wire/message.h"

#define IDLE_MS 60000

/* sys/socket.h of an older build machine may lack it; Linux 6.5 */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

typedef struct broker_client {
	ab_asker asker; /* uid: as the box has it, where it has it */
	ab_broker *broker;
	struct broker_client *next;
	int fd, pidfd;
	int out_fd; /* of the answer, or -1 */
	bool is_of_box;
	ab_watch watch;
	ab_timer timer;
	ab_later later;
	ab_live live;
} broker_client;

struct ab_broker {
	ab_gw *gw;
	ab_grants grants;
	broker_client *clients;
	size_t client_count;
	int fd;
	ab_watch watch;
	ab_timer rest; /* out of descriptors */
};

/* --- the life of a connection -------------------------------------------- */

static void free_client(void *arg)
{
	free(arg);
}

static void unlist(broker_client *c)
{
	broker_client **at = &c->broker->clients;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
}

static void end(broker_client *c)
{
	ab_loop *loop = ab_gw_loop(c->broker->gw);

	ab_grant_forget(&c->asker);
	unlist(c);
	c->broker->client_count--;
	ab_live_remove(&c->live);
	ab_timer_clear(loop, &c->timer);
	ab_watch_remove(loop, &c->watch);
	close(c->fd);
	close(c->pidfd);
	if (c->out_fd >= 0)
		close(c->out_fd);
	ab_loop_later(loop, &c->later, free_client, c);
}

static void cut(void *arg)
{
	end(arg);
}

/* --- answers ------------------------------------------------------------- */

/* One that does not read its answer has no more questions. */
static void send_answer(broker_client *c, const ab_broker_answer *m)
{
	uint8_t memory[AB_BROKER_MAX_ANSWER];
	ab_loop *loop = ab_gw_loop(c->broker->gw);
	bool with_fd = c->out_fd >= 0;
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_broker_answer_put(&w, m, with_fd);
	if (w.bad || ab_message_send(c->fd, w.data, w.len, &c->out_fd, with_fd,
				     MSG_DONTWAIT) ||
	    ab_watch_set(loop, &c->watch, EPOLLIN)) {
		end(c);
		return;
	}
	if (with_fd)
		close(c->out_fd);
	c->out_fd = -1;
	ab_timer_set(loop, &c->timer, IDLE_MS, cut, c);
}

static void answer(broker_client *c, uint32_t result, uint64_t left_ms)
{
	const ab_broker_answer m = { .result = result, .left_ms = left_ms,
				     .user = "" };

	send_answer(c, &m);
}

static void refuse(broker_client *c, const char *name, const char *reason)
{
	ab_grant_tell(&c->asker, AB_GW_DENIED, name, reason, "", false);
	answer(c, AB_BROKER_REFUSED, 0);
}

static broker_client *client_of(const ab_asker *a)
{
	/* its first member */
	return (broker_client *)(uintptr_t)a;
}

/* It has not ended; after that its number may be somebody else's. */
static bool is_alive(const ab_asker *a)
{
	return ab_fd_poll(client_of(a)->pidfd, POLLIN, 0) == 0;
}

static int put_memfd(ab_asker *a, const char *value, size_t n)
{
	int fd = ab_fd_memfd_sealed("agentbox-secret", value, n);

	client_of(a)->out_fd = fd;
	return fd < 0 ? fd : 0;
}

static void on_answer(ab_asker *a, uint32_t result)
{
	bool is_ok = result == AB_BROKER_OK;
	const ab_broker_answer m = {
		.result = result,
		.left_ms = is_ok ? a->secret->spec->ttl_ms : 0,
		.user = is_ok && a->way == AB_BROKER_GIT
				? a->secret->spec->user : "",
	};

	send_answer(client_of(a), &m);
}

/* --- questions ----------------------------------------------------------- */

static uint32_t way_of(uint32_t verb)
{
	return verb == AB_BROKER_GET ? AB_BROKER_MEMFD
	       : verb == AB_BROKER_GET_FILE ? AB_BROKER_FILE : 0;
}

static void list(broker_client *c)
{
	ab_grants *g = &c->broker->grants;
	ab_broker_answer m = { .result = AB_BROKER_OK, .user = "" };

	for (uint32_t i = 0; i < g->plan.count; i++) {
		const ab_granted *s = &g->secrets[i];
		ab_broker_row *row = &m.rows[m.row_count];

		if (s->is_forgotten || !ab_grant_has_euid(s, c->asker.uid))
			continue;
		row->name = s->spec->name;
		row->ways = s->spec->ways;
		row->ttl_ms = s->spec->ttl_ms;
		for (size_t w = 0; w < AB_BROKER_WAY_COUNT; w++)
			row->left_ms[w] = ab_lease_left_ms(&s->leases[w]);
		m.row_count++;
	}
	if (ab_grant_tell(&c->asker, AB_GW_ALLOWED, "", "list", "", true))
		send_answer(c, &m);
	else
		answer(c, AB_BROKER_BUSY, 0);
}

static void renew(broker_client *c, ab_granted *s)
{
	const char *name = s->spec->name;
	uint64_t left_ms = s->spec->ttl_ms;

	ab_grant_settle(s);
	if (!ab_grant_is_live(s)) {
		ab_grant_tell(&c->asker, AB_GW_FAILED, name, "ended",
			      "nothing to renew", false);
		answer(c, AB_BROKER_ENDED, 0);
		return;
	}
	if (!ab_grant_tell(&c->asker, AB_GW_ALLOWED, name, "renew", "",
			   true)) {
		answer(c, AB_BROKER_BUSY, 0);
		return;
	}
	for (size_t i = 0; i < AB_BROKER_WAY_COUNT; i++) {
		uint64_t ms;

		ab_lease_renew(&s->leases[i]);
		/* what all of them have */
		ms = ab_lease_left_ms(&s->leases[i]);
		if (ms && ms < left_ms)
			left_ms = ms;
	}
	answer(c, AB_BROKER_OK, left_ms);
}

static void release(broker_client *c, ab_granted *s)
{
	int64_t count;

	ab_grant_settle(s);
	count = ab_grant_end(s, "released");
	ab_grant_tell(&c->asker, AB_GW_NOTICE, s->spec->name, "release", "",
		      false);
	answer(c, count ? AB_BROKER_OK : AB_BROKER_ENDED, 0);
}

static void get(broker_client *c, ab_granted *s, uint32_t way)
{
	ab_loop *loop = ab_gw_loop(c->broker->gw);

	/* its end is seen, more of it is not read */
	if (ab_watch_set(loop, &c->watch, 0)) {
		end(c);
		return;
	}
	ab_timer_clear(loop, &c->timer);
	ab_grant_ask(&c->asker, s, way);
}

static void get_for_git(broker_client *c, const ab_broker_ask *q)
{
	const char *why;
	ab_granted *s = ab_grant_for_git(&c->asker, q->name, q->user, &why);

	if (s)
		get(c, s, AB_BROKER_GIT);
	else
		refuse(c, q->name, why);
}

static void serve(broker_client *c, const ab_broker_ask *q)
{
	ab_granted *s = NULL;
	const char *why = NULL;

	if (!c->is_of_box)
		why = "foreign_user";
	else if (!ab_key_is(&c->broker->gw->key, q->key, AB_BROKER_KEY_LEN))
		why = "key";
	else if (q->verb != AB_BROKER_LIST && q->verb != AB_BROKER_GET_GIT)
		why = ab_grant_judge(
			&c->asker,
			s = ab_grant_find(&c->broker->grants, q->name),
			way_of(q->verb));
	if (why) {
		refuse(c, q->name, why);
		return;
	}
	switch ((enum ab_broker_verb)q->verb) {
	case AB_BROKER_GET:
	case AB_BROKER_GET_FILE:
		get(c, s, way_of(q->verb));
		return;
	case AB_BROKER_RENEW:
		renew(c, s);
		return;
	case AB_BROKER_RELEASE:
		release(c, s);
		return;
	case AB_BROKER_LIST:
		list(c);
		return;
	case AB_BROKER_GET_GIT:
		get_for_git(c, q);
		return;
	case AB_BROKER_VERB_COUNT:
		break;
	}
	end(c);
}

/* A frame of it, or its end; what is no frame is the end. */
static void on_client(void *arg, uint32_t events)
{
	broker_client *c = arg;
	uint8_t memory[AB_BROKER_MAX_ASK];
	ab_broker_ask q;
	size_t count = 0;
	ab_reader r;
	ssize_t n;

	if (c->asker.serial) {
		if (events & (EPOLLHUP | EPOLLERR))
			end(c);
		return;
	}
	/* descriptors are closed before they are refused (wire/message.h) */
	n = ab_message_recv(c->fd, memory, sizeof(memory), NULL, 0, &count,
			    MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	if (n == 0) {
		end(c);
		return;
	}
	ab_reader_init(&r, memory, n > 0 ? (size_t)n : 0);
	if (n < 0 || ab_get_u32(&r) != AB_MSG_BROKER_ASK ||
	    ab_get_u32(&r) != 0 || ab_broker_ask_get(&r, &q)) {
		ab_grant_tell(&c->asker, AB_GW_DENIED, "", "malformed",
			      "a malformed question", false);
		end(c);
	} else if (!is_alive(&c->asker)) {
		ab_grant_tell(&c->asker, AB_GW_DENIED, q.name, "peer_gone",
			      "the process that connected has ended", false);
		end(c);
	} else if (!ab_bucket_take(&c->broker->grants.rate, 1,
				   ab_gw_loop(c->broker->gw)->now)) {
		ab_grant_tell(&c->asker, AB_GW_DENIED, q.name, "rate",
			      "too many questions in a second", false);
		answer(c, AB_BROKER_BUSY, 0);
	} else {
		serve(c, &q);
	}
	explicit_bzero(memory, sizeof(memory));
}

struct ab_grants *ab_broker_grants(ab_broker *b)
{
	return &b->grants;
}

/* --- the host ------------------------------------------------------------ */

void ab_broker_value(ab_broker *b, uint32_t serial, int32_t result, int fd)
{
	ab_grant_value(&b->grants, serial, result, fd);
}

int64_t ab_broker_forget(ab_broker *b, const char *name)
{
	return ab_grant_revoke(&b->grants, name);
}

void ab_broker_end(ab_broker *b)
{
	for (uint32_t i = 0; b && i < b->grants.plan.count; i++)
		(void)ab_grant_end(&b->grants.secrets[i], "ended");
}

/* --- who comes ----------------------------------------------------------- */

static int open_peer(int fd, pid_t pid)
{
	int pidfd = -1;
	socklen_t n = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n) == 0)
		return ab_fd_lift(pidfd);
	/* Linux before 6.5: by its number, which is his while he lives */
	return errno == ENOPROTOOPT ? ab_fd_lift(pidfd_open(pid, 0)) : -1;
}

/* The kernel's word on who connected. */
static bool identify(broker_client *c)
{
	const ab_wire_broker *plan = &c->broker->grants.plan;
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &n))
		return false;
	c->pidfd = open_peer(c->fd, cred.pid);
	c->asker.pid = (uint32_t)cred.pid;
	c->is_of_box = cred.uid == plan->uid_outside;
	c->asker.uid = c->is_of_box ? plan->uid_inside : cred.uid;
	return c->pidfd >= 0;
}

static void take(ab_broker *b, int fd)
{
	broker_client *c = ab_new(broker_client);
	ab_loop *loop = ab_gw_loop(b->gw);

	if (!c) {
		close(fd);
		return;
	}
	*c = (broker_client){
		.asker = { .grants = &b->grants, .has_peer = true,
			   .is_alive = is_alive, .put = put_memfd,
			   .answer = on_answer },
		.broker = b, .fd = fd, .pidfd = -1, .out_fd = -1,
	};
	if (!identify(c) ||
	    ab_watch_add(loop, &c->watch, fd, EPOLLIN, on_client, c)) {
		ab_grant_tell(&c->asker, AB_GW_DENIED, "", "peer_gone",
			      "who connected cannot be told", false);
		close(fd);
		if (c->pidfd >= 0)
			close(c->pidfd);
		free(c);
		return;
	}
	c->next = b->clients;
	b->clients = c;
	b->client_count++;
	ab_live_add(b->gw, &c->live, cut, c);
	ab_timer_set(loop, &c->timer, IDLE_MS, cut, c);
}

static void wake(void *arg)
{
	ab_broker *b = arg;

	(void)ab_watch_set(ab_gw_loop(b->gw), &b->watch, EPOLLIN);
}

static void on_listener(void *arg, uint32_t events)
{
	ab_broker *b = arg;
	int fd = ab_accept(ab_gw_loop(b->gw), b->fd, &b->watch, &b->rest, wake,
			   b);

	(void)events;
	if (fd < 0)
		return;
	if (!ab_gw_is_revoked(b->gw) && b->client_count < AB_BROKER_CLIENTS) {
		take(b, fd);
		return;
	}
	ab_gw_tell(b->gw, &(ab_gw_record){
		.kind = AB_GW_DENIED, .how = "broker",
		.reason = ab_gw_is_revoked(b->gw) ? "revoked" : "too_many",
		.detail = "a connection to the broker" }, false);
	close(fd);
}

/* --- all of it ----------------------------------------------------------- */

int ab_broker_new(ab_gw *gw, ab_wire_broker *plan, ab_broker **out)
{
	ab_broker *b = ab_new(ab_broker);
	int rc = b ? ab_grants_init(&b->grants, gw, plan) : -ENOMEM;

	if (rc) {
		free(b);
		return rc;
	}
	b->gw = gw;
	b->fd = -1;
	*out = b;
	return 0;
}

int ab_broker_begin(ab_broker *b, const int *fds, uint32_t count)
{
	const ab_wire_broker *plan = &b->grants.plan;
	unsigned file = ab_broker_way_index(AB_BROKER_FILE);
	uint32_t at = 1;
	int rc;

	if (count != 1 + ab_wire_broker_files(plan))
		return -EPROTO;
	b->fd = fds[0];
	for (uint32_t i = 0; i < plan->count; i++)
		if (plan->items[i].ways & AB_BROKER_FILE)
			b->grants.secrets[i].leases[file].file_fd = fds[at++];
	rc = ab_fd_set_nonblock(b->fd, 1);
	return rc ? rc : ab_watch_add(ab_gw_loop(b->gw), &b->watch, b->fd,
				      EPOLLIN, on_listener, b);
}
