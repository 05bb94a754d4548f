/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The listeners, which the box's holder made in the gateway's namespace. Who
 * arrives there is of this box and nobody else (gateway case 94): the channel
 * is the identity. Where a connection was sent is its own local address,
 * since every address is local there (RECIPES.md 3b).
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "state.h"

#define ACCEPT_AT_ONCE 64
#define REST_MS 50

void ab_close_hard(int fd)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static bool read_name(int fd, ab_target *to)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	socklen_t n = sizeof(a);

	memset(to, 0, sizeof(*to));
	if (getsockname(fd, &a.any, &n))
		return false;
	to->kind = AB_TARGET_ADDRESS;
	if (a.any.sa_family == AF_INET) {
		to->address.family = AB_ADDRESS_IPV4;
		memcpy(to->address.bytes, &a.in.sin_addr, 4);
		to->port = ntohs(a.in.sin_port);
	} else if (a.any.sa_family == AF_INET6) {
		to->address.family = AB_ADDRESS_IPV6;
		memcpy(to->address.bytes, &a.in6.sin6_addr, 16);
		to->port = ntohs(a.in6.sin6_port);
		ab_address_unmap(&to->address);
	} else {
		return false;
	}
	return true;
}

int ab_accept(ab_loop *loop, int listener, ab_watch *watch, ab_timer *rest,
	      void (*wake)(void *arg), void *arg)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int err = errno;

	if (fd >= 0)
		return fd;
	if (err == EMFILE || err == ENFILE || err == ENOBUFS ||
	    err == ENOMEM) {
		(void)ab_watch_set(loop, watch, 0);
		ab_timer_set(loop, rest, REST_MS, wake, arg);
	}
	return -err;
}

static void wake(void *arg)
{
	ab_listener *l = arg;

	(void)ab_watch_set(&l->gw->loop, &l->watch, EPOLLIN);
}

static void take(ab_listener *l, int fd)
{
	ab_target to;

	if (l->gw->is_revoked || l->gw->clients >= l->gw->clients_max ||
	    !read_name(fd, &to)) {
		if (!l->gw->is_revoked)
			ab_gw_tell(l->gw, &(ab_gw_record){
				.kind = AB_GW_DENIED, .how = "accept",
				.reason = "too_many",
				.detail = "too many connections at once" },
				   false);
		ab_close_hard(fd);
		return;
	}
	if (l->kind == AB_PORT_DNS_TCP)
		ab_stub_accept(l->gw, fd);
	else
		ab_client_begin(l->gw, fd, l->kind, &to);
}

static void on_listener(void *arg, uint32_t events)
{
	ab_listener *l = arg;

	(void)events;
	if (l->kind == AB_PORT_DNS_UDP) {
		ab_stub_udp(l);
		return;
	}
	for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
		int fd = ab_accept(&l->gw->loop, l->fd, &l->watch, &l->timer,
				   wake, l);

		if (fd >= 0)
			take(l, fd);
		else if (fd != -ECONNABORTED && fd != -EINTR)
			return;
	}
}

int ab_listen_begin(ab_gw *gw, const int *fds, uint32_t count)
{
	if (count < AB_GATEWAY_FIXED_FDS ||
	    count > AB_GATEWAY_FIXED_FDS + AB_GATEWAY_MAX_PORTS)
		return -EPROTO;
	for (uint32_t i = 0; i < count; i++) {
		ab_listener *l = &gw->listeners[i];
		int rc;

		l->gw = gw;
		l->fd = fds[i];
		l->kind = i < AB_GATEWAY_FIXED_FDS ? (uint8_t)i : AB_PORT_ANY;
		rc = ab_fd_set_nonblock(l->fd, 1);
		if (!rc)
			rc = ab_watch_add(&gw->loop, &l->watch, l->fd, EPOLLIN,
					  on_listener, l);
		if (rc)
			return rc;
		gw->listener_count++;
	}
	return 0;
}
