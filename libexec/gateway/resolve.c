/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names to addresses, by c-ares over the loop. Absolute names only: no search
 * list, no hosts file, no aliases (gateway case 45). What is asked for was
 * allowed before; what comes back is judged by who asked. Answers live 1 to
 * 60 seconds, whatever they say. Spec: ares_getaddrinfo(3), cases 41-45.
 */
#include "config.h"

#include <ares.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/alloc.h"
#include "state.h"

#define CACHE_SIZE 256
#define TRY_MS 2500
#define TRIES 2
#define CNAMES_MAX 8
#define CNAMES_SIZE (CNAMES_MAX * (AB_TARGET_NAME_SIZE + 2))
#define TTL_MAX 60
#define SECOND UINT64_C(1000000000)

/* One answer. `until` 0: none. */
typedef struct cached {
	uint64_t until;
	char name[AB_TARGET_NAME_SIZE];
	uint8_t count;
	ab_address addresses[AB_ALLOW_ADDRESSES];
} cached;

typedef struct socket_watch {
	ab_resolver *resolver;
	struct socket_watch *next;
	ab_watch watch;
	ab_later later;
	int fd;
} socket_watch;

struct ab_resolver {
	ab_gw *gw;
	ares_channel channel;
	socket_watch *sockets;
	ab_timer timer;
	cached cache[CACHE_SIZE];
};

struct ab_query {
	ab_gw *gw;
	ab_resolved done; /* NULL: nobody waits any more */
	void *arg;
	ab_later later;
	char name[AB_TARGET_NAME_SIZE];
};

static void process(ab_resolver *r, ares_socket_t in, ares_socket_t out);

static void on_timer(void *arg)
{
	process(arg, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void set_timer(ab_resolver *r)
{
	struct timeval tv, *next = ares_timeout(r->channel, NULL, &tv);

	if (!next)
		ab_timer_clear(&r->gw->loop, &r->timer);
	else
		ab_timer_set(&r->gw->loop, &r->timer,
			     (uint64_t)next->tv_sec * 1000 +
				     (uint64_t)next->tv_usec / 1000 + 1,
			     on_timer, r);
}

static void process(ab_resolver *r, ares_socket_t in, ares_socket_t out)
{
	ares_process_fd(r->channel, in, out);
	set_timer(r);
}

static void on_socket(void *arg, uint32_t events)
{
	socket_watch *s = arg;
	bool in = events & (EPOLLIN | EPOLLERR | EPOLLHUP);

	process(s->resolver, in ? s->fd : ARES_SOCKET_BAD,
		events & EPOLLOUT ? s->fd : ARES_SOCKET_BAD);
}

static void drop(ab_resolver *r, socket_watch **at)
{
	socket_watch *s = *at;

	*at = s->next;
	ab_watch_remove(&r->gw->loop, &s->watch);
	ab_loop_later(&r->gw->loop, &s->later, free, s);
}

static void add(ab_resolver *r, int fd, uint32_t events)
{
	socket_watch *s = ab_new(socket_watch);

	/* not watched: the query runs into its time */
	if (!s)
		return;
	s->resolver = r;
	s->fd = fd;
	if (ab_watch_add(&r->gw->loop, &s->watch, fd, events, on_socket, s)) {
		free(s);
		return;
	}
	s->next = r->sockets;
	r->sockets = s;
}

static void on_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	ab_resolver *r = arg;
	socket_watch **at = &r->sockets;
	uint32_t events = (readable ? EPOLLIN : 0u) |
			  (writable ? EPOLLOUT : 0u);

	while (*at && (*at)->fd != fd)
		at = &(*at)->next;
	if (!*at && events)
		add(r, fd, events);
	else if (*at && !events)
		drop(r, at);
	else if (*at)
		(void)ab_watch_set(&r->gw->loop, &(*at)->watch, events);
}

/* --- the cache ----------------------------------------------------------- */

static cached *slot(ab_resolver *r, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return &r->cache[hash % CACHE_SIZE];
}

static bool find(ab_resolver *r, const char *name, const cached **out)
{
	cached *c = slot(r, name);

	if (c->until <= r->gw->loop.now || strcmp(c->name, name) != 0)
		return false;
	*out = c;
	return true;
}

static void keep(ab_resolver *r, const char *name, const ab_address *addresses,
		 size_t count, uint32_t ttl)
{
	cached *c = slot(r, name);

	ttl = ttl < 1 ? 1 : ttl > TTL_MAX ? TTL_MAX : ttl;
	c->until = r->gw->loop.now + ttl * SECOND;
	strcpy(c->name, name);
	c->count = (uint8_t)count;
	memcpy(c->addresses, addresses, count * sizeof(*addresses));
}

/* --- queries -------------------------------------------------------------- */

static bool take_address(const struct sockaddr *a, ab_address *out)
{
	memset(out, 0, sizeof(*out));
	if (a->sa_family == AF_INET) {
		out->family = AB_ADDRESS_IPV4;
		memcpy(out->bytes, &((const struct sockaddr_in *)
					     (const void *)a)->sin_addr, 4);
		return true;
	}
	if (a->sa_family != AF_INET6)
		return false;
	out->family = AB_ADDRESS_IPV6;
	memcpy(out->bytes, &((const struct sockaddr_in6 *)
				     (const void *)a)->sin6_addr, 16);
	return true;
}

/*
 * The names that it is an alias of, each once: the answers for both families
 * have them. false: they are too many, or no names of hosts.
 */
static bool read_aliases(const struct ares_addrinfo *info,
			 char out[CNAMES_SIZE])
{
	const char *seen[CNAMES_MAX];
	size_t count = 0, len = 0, i;

	out[0] = '\0';
	for (const struct ares_addrinfo_cname *c = info->cnames; c;
	     c = c->next) {
		for (i = 0; c->name && i < count; i++)
			if (strcasecmp(seen[i], c->name) == 0)
				break;
		if (!c->name || (i == count && count == CNAMES_MAX))
			return false;
		if (i < count)
			continue;
		seen[count++] = c->name;
		len += (size_t)snprintf(out + len, CNAMES_SIZE - len, "%s%s",
					len ? ", " : "", c->name);
		if (len >= CNAMES_SIZE)
			return false;
	}
	return true;
}

/* OK and the addresses, or why there are none. */
static enum ab_dial_reason read_answer(const struct ares_addrinfo *info,
				       ab_address *out, size_t *count,
				       uint32_t *ttl)
{
	*ttl = TTL_MAX;
	for (const struct ares_addrinfo_node *n = info->nodes; n;
	     n = n->ai_next) {
		/* one that is not judged spoils all */
		if (*count == AB_ALLOW_ADDRESSES ||
		    !take_address(n->ai_addr, &out[*count]))
			return AB_DIAL_RESOLVER;
		++*count;
		if (n->ai_ttl >= 0 && (uint32_t)n->ai_ttl < *ttl)
			*ttl = (uint32_t)n->ai_ttl;
	}
	return *count ? AB_DIAL_OK : AB_DIAL_NO_NAME;
}

/* It is judged by where it ends; what it is called there is recorded. */
static void tell_aliases(ab_query *q, const char *aliases)
{
	if (aliases[0])
		ab_gw_tell(q->gw, &(ab_gw_record){
			.kind = AB_GW_ALLOWED, .how = "dns",
			.target = q->name, .reason = "alias",
			.detail = aliases }, false);
}

static void on_answer(void *arg, int status, int timeouts,
		      struct ares_addrinfo *info)
{
	ab_query *q = arg;
	ab_address addresses[AB_ALLOW_ADDRESSES];
	char aliases[CNAMES_SIZE];
	enum ab_dial_reason reason = AB_DIAL_RESOLVER;
	uint32_t ttl = 0;
	size_t count = 0;

	(void)timeouts;
	if (status == ARES_SUCCESS && info && read_aliases(info, aliases)) {
		tell_aliases(q, aliases);
		reason = read_answer(info, addresses, &count, &ttl);
	} else if (status == ARES_ENOTFOUND || status == ARES_ENODATA) {
		reason = AB_DIAL_NO_NAME;
	} else if (status == ARES_ETIMEOUT) {
		reason = AB_DIAL_TIMEOUT;
	}
	if (info)
		ares_freeaddrinfo(info);
	if (status == ARES_EDESTRUCTION)
		return;
	if (reason == AB_DIAL_OK)
		keep(q->gw->resolver, q->name, addresses, count, ttl);
	if (q->done)
		q->done(q->arg, reason, addresses,
			reason == AB_DIAL_OK ? count : 0);
	ab_loop_later(&q->gw->loop, &q->later, free, q);
}

void ab_resolve(ab_gw *gw, const ab_target *name, ab_resolved done, void *arg,
		ab_query **query)
{
	const struct ares_addrinfo_hints hints = {
		.ai_flags = ARES_AI_NOSORT,
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
	};
	char absolute[AB_TARGET_NAME_SIZE + 1];
	const cached *c;
	ab_query *q;

	*query = NULL;
	if (find(gw->resolver, name->name, &c)) {
		done(arg, AB_DIAL_OK, c->addresses, c->count);
		return;
	}
	q = ab_gw_count_name(gw) ? ab_new(ab_query) : NULL;
	if (!q) {
		done(arg, AB_DIAL_BUSY, NULL, 0);
		return;
	}
	q->gw = gw;
	q->done = done;
	q->arg = arg;
	strcpy(q->name, name->name);
	*query = q;
	/* a dot at the end: no search list is ever tried */
	strcpy(absolute, name->name);
	strcat(absolute, ".");
	ares_getaddrinfo(gw->resolver->channel, absolute, NULL, &hints,
			 on_answer, q);
	set_timer(gw->resolver);
}

void ab_resolve_cancel(ab_query *q)
{
	if (q)
		q->done = NULL;
}

/* --- the beginning -------------------------------------------------------- */

int ab_resolver_new(ab_gw *gw, const char *servers)
{
	ab_resolver *r = ab_new(ab_resolver);
	struct ares_options o = { 0 };
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
		   ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB;

	if (!r)
		return -ENOMEM;
	r->gw = gw;
	o.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
	o.timeout = TRY_MS;
	o.tries = TRIES;
#ifdef ARES_OPT_QUERY_CACHE
	/* since 1.31 it keeps answers for an hour; ours is kept here */
	mask |= ARES_OPT_QUERY_CACHE;
	o.qcache_max_ttl = 0;
#endif
	o.lookups = (char *)(uintptr_t)"b";
	o.sock_state_cb = on_state;
	o.sock_state_cb_data = r;
	if (ares_library_init(ARES_LIB_INIT_ALL) ||
	    ares_init_options(&r->channel, &o, mask)) {
		free(r);
		return -EIO;
	}
	if (servers[0] &&
	    ares_set_servers_ports_csv(r->channel, servers)) {
		ares_destroy(r->channel);
		free(r);
		return -EINVAL;
	}
	gw->resolver = r;
	return 0;
}
