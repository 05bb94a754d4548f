/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Previews: the host listens on its loopback and each connection there goes to
 * the box's own loopback, never the reverse. Only the host opens one. The way
 * in is a socket of the box's network namespace that agentbox-init made before
 * the first command: this process connects it, and when the connection has
 * ended unconnects it for the next one (connect(2), AF_UNSPEC). So there are as
 * many connections at once as sockets; more wait to be accepted. Spec:
 * DESIGN.md section 9, gateway case 95.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "state.h"

#define PORTS_MAX 16
#define CONNECT_MS 5000

/* Zeroed: none. */
typedef struct preview {
	ab_gw *gw;
	uint16_t port; /* of the box */
	int fd;
	ab_watch watch;
	ab_timer timer; /* it rests: out of descriptors */
} preview;

typedef struct lent {
	int fd; /* -1: it was lost */
	bool is_ipv6, is_free;
} lent;

struct ab_previews {
	preview ports[PORTS_MAX];
	lent lent[AB_GATEWAY_PREVIEW_FDS];
};

/* A connection of the host's until the box's side stands. */
typedef struct caller {
	ab_gw *gw;
	int fd, box_fd;
	uint16_t port;
	bool is_ipv6;
	ab_watch watch;
	ab_timer timer;
	ab_live live;
	ab_later later;
} caller;

/* --- sockets that are lent ------------------------------------------------ */

int ab_preview_begin(ab_gw *gw, const int *fds, uint32_t count)
{
	ab_previews *p = ab_new(ab_previews);

	if (!p || count != AB_GATEWAY_PREVIEW_FDS)
		return p ? -EPROTO : -ENOMEM;
	gw->previews = p;
	for (uint32_t i = 0; i < count; i++) {
		int family = 0, rc = ab_fd_set_nonblock(fds[i], 1);
		socklen_t n = sizeof(family);

		if (!rc && getsockopt(fds[i], SOL_SOCKET, SO_DOMAIN, &family,
				      &n))
			rc = -errno;
		if (rc)
			return rc;
		p->lent[i] = (lent){ .fd = fds[i], .is_free = true,
				     .is_ipv6 = family == AF_INET6 };
	}
	return 0;
}

static lent *find_lent(const ab_gw *gw, int fd)
{
	for (size_t i = 0; gw->previews && i < AB_GATEWAY_PREVIEW_FDS; i++)
		if (gw->previews->lent[i].fd == fd)
			return &gw->previews->lent[i];
	return NULL;
}

bool ab_preview_owns(const ab_gw *gw, int fd)
{
	return fd >= 0 && find_lent(gw, fd);
}

static lent *find_free(ab_gw *gw, bool is_ipv6)
{
	for (size_t i = 0; i < AB_GATEWAY_PREVIEW_FDS; i++) {
		lent *l = &gw->previews->lent[i];

		if (l->fd >= 0 && l->is_free && l->is_ipv6 == is_ipv6)
			return l;
	}
	return NULL;
}

static void listen_again(ab_gw *gw)
{
	for (size_t i = 0; i < PORTS_MAX; i++) {
		preview *p = &gw->previews->ports[i];

		if (p->port)
			(void)ab_watch_set(&gw->loop, &p->watch, EPOLLIN);
	}
}

void ab_preview_give(ab_gw *gw, int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	lent *l = find_lent(gw, fd);

	if (!l)
		return;
	/* both ends of its data are gone with this, in the kernel, too */
	if (connect(fd, &none, sizeof(none))) {
		close(fd);
		l->fd = -1;
		return;
	}
	l->is_free = true;
	listen_again(gw);
}

/* --- a connection --------------------------------------------------------- */

static ab_target target_of(uint16_t port, bool is_ipv6)
{
	ab_target t = { .kind = AB_TARGET_ADDRESS, .port = port };

	t.address.family = is_ipv6 ? AB_ADDRESS_IPV6 : AB_ADDRESS_IPV4;
	if (is_ipv6)
		t.address.bytes[15] = 1;
	else
		memcpy(t.address.bytes, "\x7f\0\0\1", 4);
	return t;
}

static void tell_failed(const caller *c, const char *reason)
{
	ab_target t = target_of(c->port, false);
	char text[AB_TARGET_TEXT_SIZE];

	ab_target_text(&t, 0, text);
	ab_gw_tell(c->gw, &(ab_gw_record){
		.kind = AB_GW_FAILED, .how = "preview", .target = text,
		.reason = reason,
		.detail = "nothing listens there in the box" }, false);
}

/* Its descriptors are somebody else's from now on. */
static void release(caller *c)
{
	ab_watch_remove(&c->gw->loop, &c->watch);
	ab_timer_clear(&c->gw->loop, &c->timer);
	ab_live_remove(&c->live);
	ab_loop_later(&c->gw->loop, &c->later, free, c);
}

static void drop(void *arg)
{
	caller *c = arg;

	release(c);
	if (c->box_fd >= 0)
		ab_preview_give(c->gw, c->box_fd);
	ab_close_hard(c->fd);
}

static void on_late(void *arg)
{
	tell_failed(arg, "timeout");
	drop(arg);
}

static bool try_family(caller *c, bool is_ipv6);

/* A port of an ephemeral range can be connected to itself (RFC 9293, 3.5). */
static bool is_itself(int fd)
{
	struct sockaddr_in6 here = { 0 }, there = { 0 };
	socklen_t n = sizeof(here), m = sizeof(there);

	return getsockname(fd, (struct sockaddr *)&here, &n) ||
	       getpeername(fd, (struct sockaddr *)&there, &m) ||
	       here.sin6_port == there.sin6_port;
}

static void on_connected(void *arg, uint32_t events)
{
	caller *c = arg;
	ab_target target = target_of(c->port, c->is_ipv6);
	char text[AB_TARGET_TEXT_SIZE];
	socklen_t n = sizeof(int);
	int err = 0;

	(void)events;
	if (getsockopt(c->box_fd, SOL_SOCKET, SO_ERROR, &err, &n))
		err = errno;
	if (!err && is_itself(c->box_fd))
		err = ECONNREFUSED;
	if (err) {
		ab_watch_remove(&c->gw->loop, &c->watch);
		ab_preview_give(c->gw, c->box_fd);
		c->box_fd = -1;
		if (c->is_ipv6 || !try_family(c, true)) {
			tell_failed(c, "connection_refused");
			drop(c);
		}
		return;
	}
	ab_target_text(&target, 0, text);
	if (!ab_gw_tell(c->gw, &(ab_gw_record){ .kind = AB_GW_ALLOWED,
						.how = "preview",
						.target = text,
						.reason = "opened" }, true)) {
		drop(c);
		return;
	}
	release(c);
	ab_tunnel_begin(c->gw, c->box_fd, c->fd, &target, "preview",
			AB_GATE_NONE, NULL, 0);
}

/* false: it cannot be, and nothing is under way. */
static bool try_family(caller *c, bool is_ipv6)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;
	lent *l = find_free(c->gw, is_ipv6);
	socklen_t n = is_ipv6 ? sizeof(to.in6) : sizeof(to.in);

	if (!l)
		return false;
	memset(&to, 0, sizeof(to));
	if (is_ipv6) {
		to.in6.sin6_family = AF_INET6;
		to.in6.sin6_addr = in6addr_loopback;
		to.in6.sin6_port = htons(c->port);
	} else {
		to.in.sin_family = AF_INET;
		to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		to.in.sin_port = htons(c->port);
	}
	l->is_free = false;
	c->box_fd = l->fd;
	c->is_ipv6 = is_ipv6;
	/* what was refused at once is told by the socket all the same */
	if ((connect(l->fd, &to.any, n) == 0 || errno == EINPROGRESS ||
	     errno == ECONNREFUSED) &&
	    ab_watch_add(&c->gw->loop, &c->watch, l->fd, EPOLLOUT,
			 on_connected, c) == 0)
		return true;
	ab_preview_give(c->gw, l->fd);
	c->box_fd = -1;
	return false;
}

static void begin_caller(preview *p, int fd)
{
	caller *c = ab_new(caller);

	if (!c) {
		ab_close_hard(fd);
		return;
	}
	c->gw = p->gw;
	c->fd = fd;
	c->box_fd = -1;
	c->port = p->port;
	ab_live_add(c->gw, &c->live, drop, c);
	ab_timer_set(&c->gw->loop, &c->timer, CONNECT_MS, on_late, c);
	if (!try_family(c, false) && !try_family(c, true))
		drop(c);
}

static void wake(void *arg)
{
	preview *p = arg;

	(void)ab_watch_set(&p->gw->loop, &p->watch, EPOLLIN);
}

static void on_listener(void *arg, uint32_t events)
{
	preview *p = arg;
	int fd;

	(void)events;
	/* the next ones wait until a socket is given back */
	if (!find_free(p->gw, false)) {
		(void)ab_watch_set(&p->gw->loop, &p->watch, 0);
		return;
	}
	fd = ab_accept(&p->gw->loop, p->fd, &p->watch, &p->timer, wake, p);
	if (fd >= 0)
		begin_caller(p, fd);
}

/* --- opened and closed by the host ---------------------------------------- */

/* On this machine's loopback and nowhere else. */
static bool is_loopback(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	socklen_t n = sizeof(a);
	int listens = 0;
	socklen_t m = sizeof(listens);

	if (getsockname(fd, &a.any, &n) ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &m) ||
	    !listens)
		return false;
	if (a.any.sa_family == AF_INET)
		return ntohl(a.in.sin_addr.s_addr) >> 24 == 127;
	return a.any.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
}

static preview *find(ab_gw *gw, uint16_t port)
{
	for (size_t i = 0; i < PORTS_MAX; i++)
		if (gw->previews->ports[i].port == port)
			return &gw->previews->ports[i];
	return NULL;
}

static void end(preview *p)
{
	if (!p->port)
		return;
	ab_watch_remove(&p->gw->loop, &p->watch);
	ab_timer_clear(&p->gw->loop, &p->timer);
	close(p->fd);
	*p = (preview){ 0 };
}

void ab_preview_end_all(ab_gw *gw)
{
	for (size_t i = 0; gw->previews && i < PORTS_MAX; i++)
		end(&gw->previews->ports[i]);
}

int ab_preview_set(ab_gw *gw, uint16_t port, int fd)
{
	preview *p = gw->previews ? find(gw, port) : NULL;
	int rc;

	if (!gw->previews || gw->is_revoked)
		return -EPERM;
	if (fd < 0) {
		if (!p)
			return -ENOENT;
		end(p);
		return 0;
	}
	if (p)
		return -EEXIST;
	p = find(gw, 0);
	rc = !p ? -E2BIG
	     : !is_loopback(fd) ? -EACCES : ab_fd_set_nonblock(fd, 1);
	if (rc)
		return rc;
	p->gw = gw;
	p->fd = fd;
	rc = ab_watch_add(&gw->loop, &p->watch, fd, EPOLLIN, on_listener, p);
	if (rc == 0)
		p->port = port;
	return rc;
}
