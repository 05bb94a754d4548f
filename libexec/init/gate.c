/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way to the gateway: a pair of virtual interfaces, one end in the box's
 * network namespace, the other in a second one that holds the gateway's
 * listeners and nothing else. There every address is local, so a connection
 * to any address on a listened port arrives with its original destination;
 * no route leads further, from either of the two. Both belong to the box's
 * user namespace. Nobody but the gateway keeps a listener, nor this second
 * namespace: when it ends, the namespace and the pair go with it, and the box
 * has no network at once (gateway case 7). Made by the first launcher while it
 * still may. Spec: DESIGN.md section 9, RECIPES.md 3b, rtnetlink(7), veth(4).
 */
#include "config.h"

#include "init.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/gateway.h"

#define OUTER "gw0"
#define INNER "eth0"
#define BACKLOG 4096 /* somaxconn(7) of a new namespace */

/* linux/if_addr.h, which an older build machine may lack */
#ifndef IFA_F_NODAD
#define IFA_F_NODAD 0x02
#endif

/*
 * Nothing is lost between the two ends, and every kernel has it. What the
 * machine may have for the world outside (bbr) paces what is sent, which here
 * costs a third of the gateway's time and of its bytes per second.
 */
static const char congestion[] = "reno";

/* One request and its attributes. */
typedef struct request {
	struct nlmsghdr head;
	uint8_t body[256];
} request;

static void *extend(request *q, size_t n)
{
	void *at = (uint8_t *)q + NLMSG_ALIGN(q->head.nlmsg_len);

	/* what is asked for here is known and fits */
	q->head.nlmsg_len = NLMSG_ALIGN(q->head.nlmsg_len) + (uint32_t)n;
	return at;
}

static void begin(request *q, uint16_t type, uint16_t flags, const void *p,
		  size_t n)
{
	memset(q, 0, sizeof(*q));
	q->head.nlmsg_len = NLMSG_HDRLEN;
	q->head.nlmsg_type = type;
	q->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	memcpy(extend(q, n), p, n);
}

static struct rtattr *add(request *q, uint16_t type, const void *p, size_t n)
{
	struct rtattr *a = extend(q, RTA_LENGTH(n));

	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(n);
	if (n)
		memcpy(RTA_DATA(a), p, n);
	return a;
}

static void close_nest(request *q, struct rtattr *a)
{
	a->rta_len = (uint16_t)((uint8_t *)q + q->head.nlmsg_len -
				(uint8_t *)a);
}

/* 0 or -errno of the kernel's answer. */
static int ask(int nl, request *q)
{
	union {
		struct nlmsghdr head;
		uint8_t bytes[4096];
	} answer;
	const struct nlmsgerr *e = NLMSG_DATA(&answer.head);
	ssize_t n;

	if (send(nl, q, q->head.nlmsg_len, 0) < 0)
		return -errno;
	do
		n = recv(nl, &answer, sizeof(answer), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < NLMSG_LENGTH(sizeof(*e)) ||
	    answer.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return e->error;
}

static int make_pair(int nl, int box_ns)
{
	const struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	const uint32_t ns = (uint32_t)box_ns;
	struct rtattr *link, *data, *peer;
	request q;

	begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	add(&q, IFLA_IFNAME, OUTER, sizeof(OUTER));
	link = add(&q, IFLA_LINKINFO, NULL, 0);
	add(&q, IFLA_INFO_KIND, "veth", 4);
	data = add(&q, IFLA_INFO_DATA, NULL, 0);
	peer = add(&q, VETH_INFO_PEER, &info, sizeof(info));
	add(&q, IFLA_IFNAME, INNER, sizeof(INNER));
	add(&q, IFLA_NET_NS_FD, &ns, sizeof(ns));
	close_nest(&q, peer);
	close_nest(&q, data);
	close_nest(&q, link);
	return ask(nl, &q);
}

static int raise_link(int nl, int index)
{
	const struct ifinfomsg info = { .ifi_family = AF_UNSPEC,
					.ifi_index = index,
					.ifi_flags = IFF_UP,
					.ifi_change = IFF_UP };
	request q;

	begin(&q, RTM_NEWLINK, 0, &info, sizeof(info));
	return ask(nl, &q);
}

static int add_address(int nl, int index, int family, const void *address,
		       size_t n, uint8_t prefix)
{
	const struct ifaddrmsg info = { .ifa_family = (uint8_t)family,
					.ifa_prefixlen = prefix,
					/* nobody else is on the link */
					.ifa_flags = IFA_F_NODAD,
					.ifa_scope = RT_SCOPE_UNIVERSE,
					.ifa_index = (uint32_t)index };
	request q;

	begin(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	add(&q, IFA_LOCAL, address, n);
	add(&q, IFA_ADDRESS, address, n);
	return ask(nl, &q);
}

static void add_metrics(request *q)
{
	struct rtattr *metrics = add(q, RTA_METRICS, NULL, 0);

	add(q, RTAX_CC_ALGO, congestion, sizeof(congestion));
	close_nest(q, metrics);
}

/* To the other end itself, which has a route by its prefix already: with it
   come no metrics. */
static int add_link_route(int nl, int index, int family, const void *to,
			  uint8_t n)
{
	const struct rtmsg info = { .rtm_family = (uint8_t)family,
				    .rtm_dst_len = (uint8_t)(8 * n),
				    .rtm_table = RT_TABLE_MAIN,
				    .rtm_protocol = RTPROT_STATIC,
				    .rtm_scope = RT_SCOPE_LINK,
				    .rtm_type = RTN_UNICAST };
	const uint32_t out = (uint32_t)index;
	request q;

	begin(&q, RTM_NEWROUTE, NLM_F_CREATE, &info, sizeof(info));
	add(&q, RTA_DST, to, n);
	add(&q, RTA_OIF, &out, sizeof(out));
	add_metrics(&q);
	return ask(nl, &q);
}

/* Every address that has no other route; table local would make all senders
   martians. `gateway` NULL: it is ours. */
static int add_route(int nl, int index, int family, const void *gateway,
		     size_t n)
{
	const struct rtmsg info = { .rtm_family = (uint8_t)family,
				    .rtm_table = RT_TABLE_MAIN,
				    .rtm_protocol = RTPROT_STATIC,
				    .rtm_scope = gateway ? RT_SCOPE_UNIVERSE
							 : RT_SCOPE_HOST,
				    .rtm_type = gateway ? RTN_UNICAST
							: RTN_LOCAL };
	const uint32_t out = (uint32_t)index;
	request q;

	begin(&q, RTM_NEWROUTE, NLM_F_CREATE, &info, sizeof(info));
	if (gateway)
		add(&q, RTA_GATEWAY, gateway, n);
	add(&q, RTA_OIF, &out, sizeof(out));
	if (gateway)
		add_metrics(&q);
	return ask(nl, &q);
}

/* The ends' addresses. */
typedef struct ends {
	struct in_addr outer4, inner4;
	struct in6_addr outer6, inner6;
} ends;

static ends get_ends(void)
{
	return (ends){
		.outer4.s_addr = htonl(AB_GATEWAY_IPV4),
		.inner4.s_addr = htonl(AB_GATEWAY_BOX_IPV4),
		.outer6.s6_addr = { AB_GATEWAY_IPV6_HEAD, 1 },
		.inner6.s6_addr = { AB_GATEWAY_IPV6_HEAD, 2 },
	};
}

/* In the gateway's namespace. */
static int set_up_outer(int nl, int box_ns, bool *ipv6)
{
	const ends e = get_ends();
	int index, r = make_pair(nl, box_ns);

	if (r)
		return r;
	index = (int)if_nametoindex(OUTER);
	r = add_address(nl, index, AF_INET, &e.outer4, 4, AB_GATEWAY_PREFIX4);
	if (!r)
		r = raise_link(nl, index);
	/* loopback is the first interface of a new namespace */
	if (!r)
		r = raise_link(nl, 1);
	if (!r)
		r = add_route(nl, 1, AF_INET, NULL, 0);
	if (r)
		return r;
	*ipv6 = !add_address(nl, index, AF_INET6, &e.outer6, 16,
			     AB_GATEWAY_PREFIX6) &&
		!add_route(nl, 1, AF_INET6, NULL, 0);
	return 0;
}

/* In the box's. */
static int set_up_inner(int nl, bool *ipv6)
{
	const ends e = get_ends();
	int index = (int)if_nametoindex(INNER);
	int r = add_address(nl, index, AF_INET, &e.inner4, 4,
			    AB_GATEWAY_PREFIX4);

	if (!r)
		r = raise_link(nl, index);
	if (!r)
		r = add_link_route(nl, index, AF_INET, &e.outer4, 4);
	if (!r)
		r = add_route(nl, index, AF_INET, &e.outer4, 4);
	if (!r && *ipv6)
		*ipv6 = !add_address(nl, index, AF_INET6, &e.inner6, 16,
				     AB_GATEWAY_PREFIX6) &&
			!add_link_route(nl, index, AF_INET6, &e.outer6, 16) &&
			!add_route(nl, index, AF_INET6, &e.outer6, 16);
	return r;
}

/* --- listeners ---------------------------------------------------------- */

/* What is accepted has them, too. */
static int set_tcp_options(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion,
			 sizeof(congestion) - 1);
	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))
		       ? -errno : 0;
}

static int set_options(int fd, bool is_udp, int family)
{
	const int on = 1, off = 0;

	if (family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
		return -errno;
	if (!is_udp)
		return set_tcp_options(fd);
	/* to which address it was sent, so that the answer comes from there;
	   an IPv6 one is none of an interface (RECIPES.md 3) */
	if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)))
		return -errno;
	if (family == AF_INET6 &&
	    (setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on))))
		return -errno;
	return 0;
}

/* On every address, IPv4 as well where it is an IPv6 one. fd or -errno. */
static int listen_on(int family, int type, uint16_t port)
{
	ab_autofd int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
				  0);
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	int r;

	if (fd < 0)
		return -errno;
	r = set_options(fd, type == SOCK_DGRAM, family);
	if (r)
		return r;
	memset(&a, 0, sizeof(a));
	a.any.sa_family = (sa_family_t)family;
	/* at one place in both */
	a.in.sin_port = htons(port);
	if (bind(fd, &a.any, family == AF_INET ? sizeof(a.in) : sizeof(a.in6)))
		return -errno;
	if (type == SOCK_STREAM && listen(fd, BACKLOG))
		return -errno;
	return ab_steal_fd(&fd);
}

static int make_listeners(const init_box *box, int family, init_gate *gate)
{
	const ab_plan *p = &box->plan;
	int r;

	for (uint32_t i = 0; i < AB_GATEWAY_FIXED_FDS + p->gateway_port_count;
	     i++) {
		uint16_t port = i == 0 ? AB_GATEWAY_PROXY_PORT
				: i < AB_GATEWAY_FIXED_FDS
					? AB_GATEWAY_DNS_PORT
					: (uint16_t)p->gateway_ports
						  [i - AB_GATEWAY_FIXED_FDS];

		r = ab_fd_lift(listen_on(family,
					 i == 1 ? SOCK_DGRAM : SOCK_STREAM,
					 port));
		if (r < 0)
			return r;
		gate->fds[gate->count++] = r;
	}
	return 0;
}

/*
 * Sockets of the box's network, through which the host's previews reach its
 * loopback; who holds one can connect it and nothing else. Without IPv6 all
 * are of IPv4.
 */
static int make_preview_sockets(init_gate *gate)
{
	for (int i = 0; i < AB_GATEWAY_PREVIEW_FDS; i++) {
		const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
		int fd = i < AB_GATEWAY_PREVIEW_IPV4
			? -1 : socket(AF_INET6, type, 0);

		if (fd < 0)
			fd = socket(AF_INET, type, 0);
		fd = ab_fd_lift(fd);
		if (fd < 0)
			return fd == -1 ? -errno : fd;
		gate->fds[gate->count++] = fd;
	}
	return 0;
}

uint32_t init_gate_count(const ab_plan *plan)
{
	return AB_GATEWAY_FIXED_FDS + plan->gateway_port_count +
	       (plan->gateway_previews ? AB_GATEWAY_PREVIEW_FDS : 0);
}

/* --- both --------------------------------------------------------------- */

void init_end_gate(init_gate *gate)
{
	for (uint32_t i = 0; i < gate->count; i++)
		close(gate->fds[i]);
	gate->count = 0;
}

static int open_netlink(void)
{
	int fd = ab_fd_lift(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
				   NETLINK_ROUTE));

	return fd == -1 ? -errno : fd;
}

/* In the namespace of the gateway, new: its half and the listeners. */
static int make_outer(const init_box *box, int box_ns, init_gate *gate)
{
	ab_autofd int nl = open_netlink();
	int r;

	gate->stage = "gateway interfaces";
	if (nl < 0)
		return nl;
	r = set_up_outer(nl, box_ns, &gate->ipv6);
	if (r)
		return r;
	gate->stage = "gateway listeners";
	r = make_listeners(box, AF_INET6, gate);
	if (r != -EAFNOSUPPORT || gate->count)
		return r;
	/* a kernel without IPv6 */
	gate->ipv6 = false;
	return make_listeners(box, AF_INET, gate);
}

int init_make_gate(const init_box *box, int box_ns, init_gate *gate)
{
	ab_autofd int nl = -1;
	int r;

	gate->stage = "gateway netns";
	if (unshare(CLONE_NEWNET))
		return -errno;
	r = make_outer(box, box_ns, gate);
	if (r)
		return r;
	gate->stage = "gateway netns";
	if (setns(box_ns, CLONE_NEWNET))
		return -errno;
	gate->stage = "gateway interfaces";
	nl = open_netlink();
	r = nl < 0 ? nl : set_up_inner(nl, &gate->ipv6);
	if (r || !box->plan.gateway_previews)
		return r;
	gate->stage = "preview sockets";
	return make_preview_sockets(gate);
}
