/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions on the broker's socket. Who asks is known by the socket it came
 * through, which is of this box alone, by the user and the process that
 * connected (the kernel's word, for the life of the connection), and by the
 * box's key in each question; a process that has ended has no questions, even
 * where somebody else holds its connection. All refusals look the same to the
 * box; the record says which it was. One question of a connection at a time,
 * few of all at the host. Spec: broker.h, unix(7), gateway cases 100, 140-144,
 * 149.
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
#include "base/secret.h"
#include "lease.h"
#include "state.h"
#include "value.h"
#include "wire/helper.h"
#include "wire/message.h"

#define IDLE_MS 60000
#define VALUE_MS 10000 /* the host's time to answer */
#define ASKED_MAX 8    /* at the host, at once */
#define PER_SECOND 50
#define BURST 100

/* sys/socket.h of an older build machine may lack it; Linux 6.5 */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

typedef struct broker_secret {
	const ab_wire_secret *spec;
	ab_lease memfd, file;
	bool is_forgotten;
} broker_secret;

typedef struct broker_client {
	ab_broker *broker;
	struct broker_client *next;
	int fd, pidfd;
	uint32_t uid, pid; /* uid: as the box has it, where it has it */
	bool is_of_box;
	ab_watch watch;
	ab_timer timer;
	ab_later later;
	ab_live live;
	/* asked of the host; serial 0: nothing */
	uint32_t serial, way;
	broker_secret *secret;
} broker_client;

struct ab_broker {
	ab_gw *gw;
	ab_wire_broker plan;
	broker_secret secrets[AB_BROKER_MAX_SECRETS];
	broker_client *clients;
	size_t client_count, asked;
	uint32_t serial;
	ab_bucket rate;
	int fd;
	ab_watch watch;
	ab_timer rest; /* out of descriptors */
	char *value; /* guarded; holds one only while it is passed on */
};

/* --- records ------------------------------------------------------------- */

static bool tell(const broker_client *c, uint32_t kind, const char *name,
		 const char *reason, const char *detail, bool required)
{
	return ab_gw_tell(c->broker->gw, &(ab_gw_record){
		.kind = kind, .how = "broker", .target = name,
		.reason = reason, .detail = detail, .has_peer = true,
		.peer_uid = c->uid, .peer_pid = c->pid }, required);
}

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

static void forget_question(broker_client *c)
{
	if (c->serial)
		c->broker->asked--;
	c->serial = 0;
}

static void end(broker_client *c)
{
	ab_loop *loop = ab_gw_loop(c->broker->gw);

	forget_question(c);
	unlist(c);
	c->broker->client_count--;
	ab_live_remove(&c->live);
	ab_timer_clear(loop, &c->timer);
	ab_watch_remove(loop, &c->watch);
	close(c->fd);
	close(c->pidfd);
	ab_loop_later(loop, &c->later, free_client, c);
}

static void cut(void *arg)
{
	end(arg);
}

/* --- answers ------------------------------------------------------------- */

/* One that does not read its answer has no more questions. */
static void send_answer(broker_client *c, const ab_broker_answer *m, int fd)
{
	uint8_t memory[AB_BROKER_MAX_ANSWER];
	ab_loop *loop = ab_gw_loop(c->broker->gw);
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_broker_answer_put(&w, m, fd >= 0);
	if (w.bad || ab_message_send(c->fd, w.data, w.len, &fd, fd >= 0,
				     MSG_DONTWAIT) ||
	    ab_watch_set(loop, &c->watch, EPOLLIN)) {
		end(c);
		return;
	}
	ab_timer_set(loop, &c->timer, IDLE_MS, cut, c);
}

static void answer(broker_client *c, uint32_t result, uint64_t left_ms)
{
	const ab_broker_answer m = { .result = result, .left_ms = left_ms };

	send_answer(c, &m, -1);
}

static void refuse(broker_client *c, const char *name, const char *reason,
		   const char *detail)
{
	tell(c, AB_GW_DENIED, name, reason, detail, false);
	answer(c, AB_BROKER_REFUSED, 0);
}

/* --- who may have what --------------------------------------------------- */

static bool has_euid(const ab_wire_secret *s, uint32_t uid)
{
	if (!s->has_euids)
		return true;
	for (uint32_t i = 0; i < s->euid_count; i++)
		if (s->euids[i] == uid)
			return true;
	return false;
}

static broker_secret *find(ab_broker *b, const char *name)
{
	for (uint32_t i = 0; i < b->plan.count; i++)
		if (strcmp(b->plan.items[i].name, name) == 0)
			return &b->secrets[i];
	return NULL;
}

/* It has not ended; after that its number may be somebody else's. */
static bool is_alive(const broker_client *c)
{
	return ab_fd_poll(c->pidfd, POLLIN, 0) == 0;
}

static uint32_t way_of(uint32_t verb)
{
	return verb == AB_BROKER_GET ? AB_BROKER_MEMFD
	       : verb == AB_BROKER_GET_FILE ? AB_BROKER_FILE : 0;
}

/* NULL: it may; else what the record says. */
static const char *judge(const broker_client *c, const ab_broker_ask *q,
			 const broker_secret *s)
{
	uint32_t way = way_of(q->verb);

	if (!c->is_of_box)
		return "foreign_user";
	if (!ab_key_is(&c->broker->gw->key, q->key, AB_BROKER_KEY_LEN))
		return "key";
	if (q->verb == AB_BROKER_LIST)
		return NULL;
	if (!s)
		return "not_listed";
	if (s->is_forgotten)
		return "revoked";
	if (!has_euid(s->spec, c->uid))
		return "euid";
	if (way && !(s->spec->ways & way))
		return "delivery";
	return NULL;
}

/* --- questions ----------------------------------------------------------- */

static void list(broker_client *c)
{
	ab_broker *b = c->broker;
	ab_broker_answer m = { .result = AB_BROKER_OK };

	for (uint32_t i = 0; i < b->plan.count; i++) {
		const broker_secret *s = &b->secrets[i];

		if (s->is_forgotten || !has_euid(s->spec, c->uid))
			continue;
		m.rows[m.row_count++] = (ab_broker_row){
			.name = s->spec->name, .ways = s->spec->ways,
			.ttl_ms = s->spec->ttl_ms,
			.memfd_left_ms = ab_lease_left_ms(&s->memfd),
			.file_left_ms = ab_lease_left_ms(&s->file),
		};
	}
	if (tell(c, AB_GW_ALLOWED, "", "list", "", true))
		send_answer(c, &m, -1);
	else
		answer(c, AB_BROKER_BUSY, 0);
}

static void renew(broker_client *c, broker_secret *s)
{
	ab_lease *leases[] = { &s->memfd, &s->file };
	bool any = ab_lease_is_live(&s->memfd) || ab_lease_is_live(&s->file);

	if (!any) {
		tell(c, AB_GW_FAILED, s->spec->name, "ended",
		     "nothing to renew", false);
		answer(c, AB_BROKER_ENDED, 0);
		return;
	}
	if (!tell(c, AB_GW_ALLOWED, s->spec->name, "renew", "", true)) {
		answer(c, AB_BROKER_BUSY, 0);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		if (ab_lease_is_live(leases[i]))
			ab_lease_begin(leases[i]);
	answer(c, AB_BROKER_OK, s->spec->ttl_ms);
}

static void release(broker_client *c, broker_secret *s)
{
	bool any = ab_lease_is_live(&s->memfd) || ab_lease_is_live(&s->file);

	ab_lease_end(&s->memfd, "released");
	ab_lease_end(&s->file, "released");
	tell(c, AB_GW_NOTICE, s->spec->name, "release", "", false);
	answer(c, any ? AB_BROKER_OK : AB_BROKER_ENDED, 0);
}

static void on_late(void *arg)
{
	broker_client *c = arg;

	tell(c, AB_GW_FAILED, c->secret->spec->name, "no_answer",
	     "who has the value did not answer", false);
	forget_question(c);
	answer(c, AB_BROKER_LATE, 0);
}

static bool ask_host(uint32_t serial, const char *name)
{
	uint8_t memory[AB_MESSAGE_HEADER + 128];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_GW_NEED);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, serial);
	ab_put_str(&w, name);
	return !w.bad && !ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len,
					  NULL, 0, MSG_DONTWAIT);
}

static void get(broker_client *c, broker_secret *s, uint32_t way)
{
	ab_broker *b = c->broker;
	ab_loop *loop = ab_gw_loop(b->gw);
	uint32_t serial = ++b->serial ? b->serial : ++b->serial;

	if (b->asked >= ASKED_MAX || !ask_host(serial, s->spec->name)) {
		tell(c, AB_GW_DENIED, s->spec->name, "busy",
		     "too many questions at once", false);
		answer(c, AB_BROKER_BUSY, 0);
		return;
	}
	b->asked++;
	c->serial = serial;
	c->secret = s;
	c->way = way;
	/* its end is seen, more of it is not read */
	if (ab_watch_set(loop, &c->watch, 0)) {
		end(c);
		return;
	}
	ab_timer_set(loop, &c->timer, VALUE_MS, on_late, c);
}

static void serve(broker_client *c, const ab_broker_ask *q)
{
	broker_secret *s = find(c->broker, q->name);
	const char *why = judge(c, q, s);

	if (why) {
		refuse(c, q->name, why, "");
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

	if (c->serial) {
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
		tell(c, AB_GW_DENIED, "", "malformed", "a malformed question",
		     false);
		end(c);
	} else if (!is_alive(c)) {
		tell(c, AB_GW_DENIED, q.name, "peer_gone",
		     "the process that connected has ended", false);
		end(c);
	} else if (!ab_bucket_take(&c->broker->rate, 1,
				   ab_gw_loop(c->broker->gw)->now)) {
		tell(c, AB_GW_DENIED, q.name, "rate",
		     "too many questions in a second", false);
		answer(c, AB_BROKER_BUSY, 0);
	} else {
		serve(c, &q);
	}
	explicit_bzero(memory, sizeof(memory));
}

/* --- what the host answers ----------------------------------------------- */

static broker_client *find_asking(ab_broker *b, uint32_t serial)
{
	broker_client *c = b->clients;

	while (c && (!serial || c->serial != serial))
		c = c->next;
	return c;
}

static void no_value(broker_client *c, int32_t result)
{
	char detail[64];

	snprintf(detail, sizeof(detail), "nobody has a value for it (%d)",
		 result);
	tell(c, AB_GW_FAILED, c->secret->spec->name, "no_value", detail,
	     false);
	answer(c, AB_BROKER_NONE, 0);
}

/* n bytes of it are in b->value. */
static void deliver(broker_client *c, size_t n)
{
	broker_secret *s = c->secret;
	bool is_file = c->way == AB_BROKER_FILE;
	ab_lease *lease = is_file ? &s->file : &s->memfd;
	const ab_broker_answer m = { .result = AB_BROKER_OK,
				     .left_ms = s->spec->ttl_ms };
	ab_autofd int fd = -1;
	char detail[64];
	int rc = 0;

	snprintf(detail, sizeof(detail), "for %llu s",
		 (unsigned long long)(s->spec->ttl_ms / 1000));
	/* before it is handed out, or it is not */
	if (!tell(c, AB_GW_ALLOWED, s->spec->name,
		  is_file ? "file" : "memfd", detail, true)) {
		answer(c, AB_BROKER_BUSY, 0);
		return;
	}
	if (is_file)
		rc = ab_lease_fill(lease, c->broker->value, n);
	else
		rc = fd = ab_fd_memfd_sealed("agentbox-secret",
					     c->broker->value, n);
	if (rc < 0) {
		ab_lease_end(lease, "failed");
		tell(c, AB_GW_FAILED, s->spec->name, "failed",
		     "no descriptor or no memory", false);
		answer(c, AB_BROKER_FAILED, 0);
		return;
	}
	ab_lease_begin(lease);
	send_answer(c, &m, fd);
}

void ab_broker_value(ab_broker *b, uint32_t serial, int32_t result, int fd)
{
	broker_client *c = find_asking(b, serial);
	ssize_t n;

	if (!c)
		return;
	forget_question(c);
	if (c->secret->is_forgotten || !is_alive(c)) {
		refuse(c, c->secret->spec->name,
		       c->secret->is_forgotten ? "revoked" : "peer_gone", "");
		return;
	}
	n = fd < 0 ? result : ab_value_read(fd, b->value, AB_BROKER_MAX_VALUE);
	if (fd < 0 || n <= 0)
		no_value(c, (int32_t)n);
	else
		deliver(c, (size_t)n);
	explicit_bzero(b->value, AB_BROKER_MAX_VALUE);
}

int64_t ab_broker_forget(ab_broker *b, const char *name)
{
	broker_secret *s = find(b, name);
	int64_t count;

	if (!s)
		return -ENOENT;
	s->is_forgotten = true;
	count = ab_lease_is_live(&s->memfd) + ab_lease_is_live(&s->file);
	ab_lease_end(&s->memfd, "revoked");
	ab_lease_end(&s->file, "revoked");
	return count;
}

void ab_broker_end(ab_broker *b)
{
	for (uint32_t i = 0; b && i < b->plan.count; i++)
		ab_lease_end(&b->secrets[i].file, "ended");
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
	const ab_wire_broker *plan = &c->broker->plan;
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &n))
		return false;
	c->pidfd = open_peer(c->fd, cred.pid);
	c->pid = (uint32_t)cred.pid;
	c->is_of_box = cred.uid == plan->uid_outside;
	c->uid = c->is_of_box ? plan->uid_inside : cred.uid;
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
	*c = (broker_client){ .broker = b, .fd = fd, .pidfd = -1 };
	if (!identify(c) ||
	    ab_watch_add(loop, &c->watch, fd, EPOLLIN, on_client, c)) {
		tell(c, AB_GW_DENIED, "", "peer_gone",
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

	if (b)
		b->value = ab_secret_new(AB_BROKER_MAX_VALUE);
	if (!b || !b->value) {
		free(b);
		return -ENOMEM;
	}
	b->gw = gw;
	b->fd = -1;
	b->plan = *plan;
	*plan = (ab_wire_broker){ 0 };
	ab_bucket_init(&b->rate, BURST, PER_SECOND, gw->loop.now);
	for (uint32_t i = 0; i < b->plan.count; i++) {
		const ab_wire_secret *spec = &b->plan.items[i];

		b->secrets[i] = (broker_secret){
			.spec = spec,
			.memfd = { .gw = gw, .secret = spec, .file_fd = -1,
				   .way = AB_BROKER_MEMFD },
			.file = { .gw = gw, .secret = spec, .file_fd = -1,
				  .way = AB_BROKER_FILE },
		};
	}
	*out = b;
	return 0;
}

int ab_broker_begin(ab_broker *b, const int *fds, uint32_t count)
{
	uint32_t at = 1;
	int rc;

	if (count != 1 + ab_wire_broker_files(&b->plan))
		return -EPROTO;
	b->fd = fds[0];
	for (uint32_t i = 0; i < b->plan.count; i++)
		if (b->plan.items[i].ways & AB_BROKER_FILE)
			b->secrets[i].file.file_fd = fds[at++];
	rc = ab_fd_set_nonblock(b->fd, 1);
	return rc ? rc : ab_watch_add(ab_gw_loop(b->gw), &b->watch, b->fd,
				      EPOLLIN, on_listener, b);
}
