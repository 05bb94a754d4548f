/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name server the box asks, whatever address it asks at: a name that the
 * list allows has a synthetic address, which stands for the name when a
 * connection to it arrives; nothing else exists, and nothing is forwarded, so
 * no question carries anything out (gateway cases 48, 50, 109).
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
#include "dns.h"
#include "state.h"

#define NAMES_MAX 16384
#define TTL 60
#define OLD_NS (UINT64_C(1200) * 1000000000) /* not asked for so long: gone */
#define UDP_AT_ONCE 64
#define TCP_IDLE_MS 10000
#define TCP_MAX 64

typedef struct stub_name {
	uint64_t asked_ns; /* 0: free */
	uint16_t next;	   /* of the same hash, plus one */
	uint8_t len;
	char *name; /* owned */
} stub_name;

struct ab_names {
	size_t streams; /* TCP connections */
	uint32_t used;
	uint32_t sweep;
	uint16_t heads[4096];
	stub_name items[NAMES_MAX];
};

int ab_stub_begin(ab_gw *gw)
{
	gw->names = ab_new(ab_names);
	return gw->names ? 0 : -ENOMEM;
}

/* --- names ---------------------------------------------------------------- */

static uint16_t *head_of(ab_names *t, const char *name, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return &t->heads[hash % 4096];
}

static void forget(ab_names *t, uint32_t i)
{
	stub_name *s = &t->items[i];
	uint16_t *at = head_of(t, s->name, s->len);

	while (*at && *at != i + 1)
		at = &t->items[*at - 1].next;
	*at = s->next;
	free(s->name);
	*s = (stub_name){ 0 };
	t->used--;
}

/* A free place; where there is none, one of a name not asked for long. */
static int find_place(ab_names *t, uint64_t now)
{
	for (uint32_t i = 0; i < NAMES_MAX; i++) {
		uint32_t at = (t->sweep + i) % NAMES_MAX;
		stub_name *s = &t->items[at];

		if (s->asked_ns && now - s->asked_ns < OLD_NS)
			continue;
		if (s->asked_ns)
			forget(t, at);
		t->sweep = at + 1;
		return (int)at;
	}
	return -1;
}

/* The number of a name, which gets one; -1: there is none left now. */
static int number_of(ab_gw *gw, const ab_target *name)
{
	ab_names *t = gw->names;
	uint16_t *head = head_of(t, name->name, name->name_len);
	int at;

	for (uint16_t i = *head; i; i = t->items[i - 1].next)
		if (t->items[i - 1].len == name->name_len &&
		    !memcmp(t->items[i - 1].name, name->name,
			    name->name_len)) {
			t->items[i - 1].asked_ns = gw->loop.now;
			return i - 1;
		}
	at = ab_gw_count_name(gw) ? find_place(t, gw->loop.now) : -1;
	if (at < 0)
		return -1;
	t->items[at].name = ab_memdup0(name->name, name->name_len);
	if (!t->items[at].name)
		return -1;
	t->items[at].len = name->name_len;
	t->items[at].asked_ns = gw->loop.now;
	/* forgetting another may have moved the head */
	t->items[at].next = *head;
	*head = (uint16_t)(at + 1);
	t->used++;
	return at;
}

static void addresses_of(int number, ab_address out[2])
{
	const uint32_t v4 = htonl(AB_GATEWAY_NAMES4 + 1 + (uint32_t)number);
	const uint8_t v6[12] = { 0xfd, 0x61, 0x67, 0x62, 0x6f, 0x78, 0, 1 };
	const uint32_t tail = htonl(1 + (uint32_t)number);

	memset(out, 0, 2 * sizeof(*out));
	out[0].family = AB_ADDRESS_IPV4;
	memcpy(out[0].bytes, &v4, 4);
	out[1].family = AB_ADDRESS_IPV6;
	memcpy(out[1].bytes, v6, 12);
	memcpy(out[1].bytes + 12, &tail, 4);
}

bool ab_stub_name(ab_gw *gw, const ab_address *a, ab_target *name)
{
	uint32_t number = 0;
	ab_address own[2];
	const stub_name *s;

	memcpy(&number, a->bytes + (a->family == AB_ADDRESS_IPV4 ? 0 : 12), 4);
	number = ntohl(number) -
		 (a->family == AB_ADDRESS_IPV4 ? AB_GATEWAY_NAMES4 : 0) - 1;
	if (number >= NAMES_MAX || !gw->names->items[number].asked_ns)
		return false;
	addresses_of((int)number, own);
	if (!ab_address_equal(a, &own[a->family == AB_ADDRESS_IPV6]))
		return false;
	s = &gw->names->items[number];
	return ab_target_only_name(s->name, s->len, name) == AB_TARGET_OK;
}

/* --- questions ------------------------------------------------------------ */

static void tell(ab_gw *gw, const ab_dns_query *q, const char *reason,
		 const char *detail)
{
	ab_gw_tell(gw, &(ab_gw_record){ .kind = AB_GW_DENIED, .how = "dns",
					.target = q->reason == AB_DNS_OK
							  ? q->name.name
							  : "",
					.reason = reason, .detail = detail },
		   false);
}

static size_t answer(ab_gw *gw, const void *message, size_t n, bool tcp,
		     uint8_t out[AB_DNS_ANSWER_MAX])
{
	enum ab_allow_reason allow;
	ab_address addresses[2];
	ab_dns_query q;
	int number;

	if (ab_dns_read(message, n, &q) != AB_DNS_OK) {
		if (q.reason != AB_DNS_SHORT && q.reason != AB_DNS_RESPONSE)
			tell(gw, &q, ab_dns_reason_name(q.reason),
			     "is no question for an address");
		return ab_dns_answer(&q, message, AB_DNS_REFUSED, NULL, 0, 0,
				     tcp, out);
	}
	allow = ab_allow_lookup(&gw->allow, &q.name);
	if (allow != AB_ALLOW_OK) {
		tell(gw, &q, ab_allow_reason_name(allow),
		     ab_allow_reason_text(allow));
		return ab_dns_answer(&q, message, AB_DNS_NXDOMAIN, NULL, 0, 0,
				     tcp, out);
	}
	/* other types than addresses: there are none, and no name is made */
	if (q.type != AB_DNS_A && q.type != AB_DNS_AAAA)
		return ab_dns_answer(&q, message, AB_DNS_NOERROR, NULL, 0, TTL,
				     tcp, out);
	number = number_of(gw, &q.name);
	if (number < 0) {
		tell(gw, &q, "too_many_names",
		     "too many different names in a short time");
		return ab_dns_answer(&q, message, AB_DNS_REFUSED, NULL, 0, 0,
				     tcp, out);
	}
	addresses_of(number, addresses);
	return ab_dns_answer(&q, message, AB_DNS_NOERROR, addresses,
			     gw->has_ipv6 ? 2 : 1, TTL, tcp, out);
}

/* --- UDP ------------------------------------------------------------------ */

/* The answer comes from the address that was asked: the message's own. */
static void answer_datagram(ab_listener *l, struct msghdr *m,
			    const uint8_t *message, size_t n)
{
	uint8_t out[AB_DNS_ANSWER_MAX];
	struct iovec v = { .iov_base = out };

	v.iov_len = answer(l->gw, message, n, false, out);
	if (!v.iov_len)
		return;
	m->msg_iov = &v;
	/* the control data says to which address it came; the same fields say
	   from which it goes (ip(7), ipv6(7)), but not by which interface */
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo *i = (void *)CMSG_DATA(c);

			i->ipi_spec_dst = i->ipi_addr;
			i->ipi_ifindex = 0;
		} else if (c->cmsg_level == IPPROTO_IPV6 &&
			   c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo *i = (void *)CMSG_DATA(c);

			i->ipi6_ifindex = 0;
		}
	}
	(void)sendmsg(l->fd, m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void ab_stub_udp(ab_listener *l)
{
	for (int i = 0; i < UDP_AT_ONCE; i++) {
		uint8_t message[AB_DNS_QUERY_MAX + 1];
		union {
			struct cmsghdr align;
			char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
				   CMSG_SPACE(sizeof(struct in_pktinfo))];
		} control;
		struct sockaddr_in6 from;
		struct iovec v = { message, sizeof(message) };
		struct msghdr m = { .msg_name = &from,
				    .msg_namelen = sizeof(from),
				    .msg_iov = &v, .msg_iovlen = 1,
				    .msg_control = &control,
				    .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(l->fd, &m, MSG_DONTWAIT);

		if (n < 0)
			return;
		if (!l->gw->is_revoked && !(m.msg_flags & MSG_CTRUNC))
			answer_datagram(l, &m, message, (size_t)n);
	}
}

/* --- TCP ------------------------------------------------------------------ */

typedef struct stream {
	ab_gw *gw;
	int fd;
	ab_watch watch;
	ab_timer timer;
	ab_live live;
	ab_later later;
	ab_dns_frame frame;
} stream;

static void end_stream(void *arg)
{
	stream *s = arg;

	ab_watch_remove(&s->gw->loop, &s->watch);
	ab_timer_clear(&s->gw->loop, &s->timer);
	ab_live_remove(&s->live);
	close(s->fd);
	s->gw->names->streams--;
	ab_loop_later(&s->gw->loop, &s->later, free, s);
}

/* false: it has ended. A client that does not read its answers does. */
static bool answer_frame(stream *s)
{
	uint8_t out[2 + AB_DNS_ANSWER_MAX];
	size_t n = answer(s->gw, s->frame.message, s->frame.len, true,
			  out + 2);

	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	if (n && send(s->fd, out, n + 2, MSG_NOSIGNAL) == (ssize_t)n + 2)
		return true;
	end_stream(s);
	return false;
}

static void on_stream(void *arg, uint32_t events)
{
	stream *s = arg;
	uint8_t bytes[2048];
	ssize_t n = recv(s->fd, bytes, sizeof(bytes), 0);
	size_t at = 0, used;
	int r = 0;

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	while (n > 0 && at < (size_t)n && r >= 0) {
		r = ab_dns_frame_read(&s->frame, bytes + at, (size_t)n - at,
				      &used);
		at += used;
		if (r == 1 && !answer_frame(s))
			return;
	}
	if (n <= 0 || r < 0) {
		end_stream(s);
		return;
	}
	ab_timer_set(&s->gw->loop, &s->timer, TCP_IDLE_MS, end_stream, s);
}

void ab_stub_accept(ab_gw *gw, int fd)
{
	stream *s = gw->names->streams < TCP_MAX ? ab_new(stream) : NULL;

	if (!s) {
		ab_close_hard(fd);
		return;
	}
	s->gw = gw;
	s->fd = fd;
	if (ab_watch_add(&gw->loop, &s->watch, fd, EPOLLIN, on_stream, s)) {
		close(fd);
		free(s);
		return;
	}
	gw->names->streams++;
	ab_live_add(gw, &s->live, end_stream, s);
	ab_timer_set(&gw->loop, &s->timer, TCP_IDLE_MS, end_stream, s);
}
