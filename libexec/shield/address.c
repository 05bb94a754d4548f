/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the policy says of an address that a process connects to. The wall is
 * the network namespace and the gateway; this says what it was about. Spec:
 * parts.h, net/allow.h.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "parts.h"
#include "wire/gateway.h"

int ab_sh_network_init(ab_sh_network *out, const ab_policy_network *n)
{
	const ab_allow_text text = { .list = {
		[AB_ALLOW_LIST_ALLOW] = { n->allow.items, n->allow.count },
		[AB_ALLOW_LIST_DENY] = { n->deny.items, n->deny.count },
		[AB_ALLOW_LIST_PRIVATE] = { n->private_.items,
					    n->private_.count },
	} };
	ab_allow_error bad;

	out->mode = n->mode;
	return ab_allow_init(&out->allow, &text, &bad);
}

static bool has(const ab_address *a, uint8_t family, const uint8_t *bytes,
		unsigned bits)
{
	return a->family == family && ab_bits_equal(a->bytes, bytes, bits);
}

/* 0.0.0.0 and :: are the machine itself to connect(2): ip(7). */
static bool is_own(const ab_address *a)
{
	static const uint8_t loopback[16] = { 127 }, zero[16] = { 0 };
	static const uint8_t one[16] = { [15] = 1 };

	return has(a, AB_ADDRESS_IPV4, loopback, 8) ||
	       has(a, AB_ADDRESS_IPV4, zero, 32) ||
	       has(a, AB_ADDRESS_IPV6, zero, 128) ||
	       has(a, AB_ADDRESS_IPV6, one, 128);
}

/* The link to the gateway, and what it answers names with: it judges. */
static bool is_gateway(const ab_address *a)
{
	static const uint8_t link4[16] = { AB_GATEWAY_IPV4 >> 24 };
	static const uint8_t names4[16] = { AB_GATEWAY_NAMES4 >> 24,
					    (AB_GATEWAY_NAMES4 >> 16) & 255 };
	static const uint8_t both6[16] = { AB_GATEWAY_IPV6_HEAD };

	return has(a, AB_ADDRESS_IPV4, link4, 29) ||
	       has(a, AB_ADDRESS_IPV4, names4, 15) ||
	       has(a, AB_ADDRESS_IPV6, both6, 48);
}

const char *ab_sh_network_refuse(const ab_sh_network *n, const ab_target *t)
{
	enum ab_allow_reason r;

	if (is_own(&t->address))
		return NULL;
	if (n->mode == AB_NET_GATEWAY && is_gateway(&t->address))
		return NULL;
	if (n->mode != AB_NET_GATEWAY && n->mode != AB_NET_HOST)
		return "leads out of the box, which has no network";
	r = ab_allow_target(&n->allow, t, NULL);
	/* with the host's network only these two are said of any box */
	if (n->mode == AB_NET_HOST && r != AB_ALLOW_METADATA &&
	    r != AB_ALLOW_DENIED)
		return NULL;
	return r == AB_ALLOW_OK ? NULL : ab_allow_reason_text(r);
}

static void take_target(ab_sh_address *out, uint8_t family, const void *bytes,
			size_t n, in_port_t port)
{
	out->kind = AB_SH_INTERNET;
	out->target = (ab_target){ .kind = AB_TARGET_ADDRESS,
				   .port = ntohs(port),
				   .address = { .family = family } };
	memcpy(out->target.address.bytes, bytes, n);
	ab_address_unmap(&out->target.address);
	ab_target_text(&out->target, 0, out->text);
}

static void take_path(ab_sh_address *out, const struct sockaddr_un *un,
		      size_t n)
{
	if (n == 0)
		return;
	out->kind = un->sun_path[0] ? AB_SH_PATH : AB_SH_OTHER;
	if (out->kind == AB_SH_OTHER)
		snprintf(out->text, sizeof(out->text), "unix:@%.*s",
			 (int)(n - 1), un->sun_path + 1);
	else
		snprintf(out->text, sizeof(out->text), "%.*s", (int)n,
			 un->sun_path);
}

int ab_sh_address_get(ab_sh_address *out, const void *bytes, size_t n,
		      bool is_sent)
{
	union {
		sa_family_t family;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un un;
	} u;
	const size_t path = offsetof(struct sockaddr_un, sun_path);

	*out = (ab_sh_address){ .kind = AB_SH_OTHER, .text = "no address" };
	memset(&u, 0, sizeof(u));
	if (n == 0)
		return 0;
	if (n < sizeof(u.family) || n > AB_SH_ADDRESS_BYTES)
		return -EINVAL;
	memcpy(&u, bytes, n < sizeof(u) ? n : sizeof(u));
	snprintf(out->text, sizeof(out->text), "address family %u", u.family);
	/* of the Internet's to whoever sends a datagram: udp_sendmsg() */
	if (u.family == AF_UNSPEC && is_sent)
		u.family = AF_INET;
	if (u.family == AF_INET && n >= sizeof(u.v4))
		take_target(out, AB_ADDRESS_IPV4, &u.v4.sin_addr, 4,
			    u.v4.sin_port);
	else if (u.family == AF_INET6 && n >= 24 /* without the scope */)
		take_target(out, AB_ADDRESS_IPV6, &u.v6.sin6_addr, 16,
			    u.v6.sin6_port);
	else if (u.family == AF_UNIX && n <= sizeof(u.un))
		take_path(out, &u.un, n - path);
	else if (u.family == AF_INET || u.family == AF_INET6 ||
		 u.family == AF_UNIX)
		return -EINVAL;
	return 0;
}
