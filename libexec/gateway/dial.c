/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One connection upstream: judged before the look-up, each address judged
 * after it, and connected to those addresses and no others; never looked up
 * twice (gateway cases 39-43, 51). A late address does not hold up the rest:
 * the next one is tried too after 250 ms (RFC 8305 section 5).
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "state.h"

#define NEXT_MS 250

typedef struct attempt {
	ab_dial *dial;
	ab_watch watch;
	int fd; /* valid while watched */
	ab_address address;
} attempt;

struct ab_dial {
	ab_gw *gw;
	void (*done)(void *arg, const ab_dial_result *result);
	void *arg;
	ab_target target;
	ab_query *query;
	ab_live live;
	ab_timer deadline, next;
	ab_later later, start;
	bool has_ended;
	uint8_t flags, failed; /* enum ab_dial_reason of the last attempt */
	uint8_t count, at;
	attempt attempts[AB_DIAL_TRIES];
	ab_address addresses[AB_ALLOW_ADDRESSES];
};

static const char *const reason_names[] = {
	[AB_DIAL_UNTRIED] = "untried",
	[AB_DIAL_OK] = "ok",
	[AB_DIAL_NOT_ALLOWED] = "not_allowed",
	[AB_DIAL_NO_NAME] = "no_such_name",
	[AB_DIAL_RESOLVER] = "resolver",
	[AB_DIAL_REFUSED] = "connection_refused",
	[AB_DIAL_UNREACHABLE] = "unreachable",
	[AB_DIAL_TIMEOUT] = "timeout",
	[AB_DIAL_BUSY] = "too_many",
	[AB_DIAL_UNTOLD] = AB_TOKENS_UNTOLD,
	[AB_DIAL_REVOKED] = "revoked",
	[AB_DIAL_FAILED] = "failed",
};
_Static_assert(sizeof(reason_names) / sizeof(*reason_names) ==
		       AB_DIAL_REASON_COUNT, "a name for each");

const char *ab_dial_reason_name(enum ab_dial_reason reason)
{
	return reason < AB_DIAL_REASON_COUNT ? reason_names[reason] : "failed";
}

static void try_next(void *arg);

/* What is not closed goes to whoever asked, who takes it or closes it. */
static void end_attempt(attempt *a, bool close_it)
{
	if (!a->watch.ready)
		return;
	ab_watch_leave(&a->watch);
	if (close_it)
		close(a->fd);
}

/* Everything but the memory, which goes at the end of the turn. */
static void end(ab_dial *d)
{
	d->has_ended = true;
	ab_resolve_cancel(d->query);
	ab_live_remove(&d->live);
	ab_timer_clear(&d->gw->loop, &d->deadline);
	ab_timer_clear(&d->gw->loop, &d->next);
	for (size_t i = 0; i < AB_DIAL_TRIES; i++)
		end_attempt(&d->attempts[i], true);
	d->gw->dials--;
	ab_loop_later(&d->gw->loop, &d->later, free, d);
}

static void finish(ab_dial *d, enum ab_dial_reason reason,
		   enum ab_allow_reason allow, int fd,
		   const ab_address *address)
{
	ab_dial_result result = { .fd = fd, .reason = (uint8_t)reason,
				  .allow = (uint8_t)allow };

	if (address)
		result.address = *address;
	end(d);
	d->done(d->arg, &result);
}

static void fail(ab_dial *d, enum ab_dial_reason reason)
{
	finish(d, reason, AB_ALLOW_UNJUDGED, -1, NULL);
}

static void cut(void *arg)
{
	fail(arg, AB_DIAL_REVOKED);
}

static void on_deadline(void *arg)
{
	fail(arg, AB_DIAL_TIMEOUT);
}

static enum ab_dial_reason reason_of(int err)
{
	if (err == ECONNREFUSED)
		return AB_DIAL_REFUSED;
	return err == ETIMEDOUT ? AB_DIAL_TIMEOUT : AB_DIAL_UNREACHABLE;
}

/* --- addresses ------------------------------------------------------------ */

typedef union any_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
} any_address;

static socklen_t to_sockaddr(const ab_address *a, uint16_t port,
			     any_address *out)
{
	memset(out, 0, sizeof(*out));
	if (a->family == AB_ADDRESS_IPV4) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(port);
		memcpy(&out->in.sin_addr, a->bytes, 4);
		return sizeof(out->in);
	}
	out->in6.sin6_family = AF_INET6;
	out->in6.sin6_port = htons(port);
	memcpy(&out->in6.sin6_addr, a->bytes, 16);
	return sizeof(out->in6);
}

/*
 * A public address that this machine has itself leads to its own services
 * (case 38): the kernel would send from where it sends to. Asked with a
 * datagram socket, which sends nothing.
 */
static bool is_own(const ab_address *a)
{
	any_address there, here;
	socklen_t n = to_sockaddr(a, 9, &there), m = sizeof(here);
	int fd = socket(there.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool own = false;

	if (fd < 0)
		return errno != EAFNOSUPPORT;
	if (connect(fd, &there.any, n) == 0 &&
	    getsockname(fd, &here.any, &m) == 0)
		own = a->family == AB_ADDRESS_IPV4
			      ? !memcmp(&here.in.sin_addr, a->bytes, 4)
			      : !memcmp(&here.in6.sin6_addr, a->bytes, 16);
	close(fd);
	return own;
}

static enum ab_allow_reason judge(const ab_dial *d)
{
	enum ab_allow_reason reason = ab_allow_addresses(
		&d->gw->allow, &d->target, d->addresses, d->count);

	for (size_t i = 0; i < d->count && reason == AB_ALLOW_OK; i++)
		if (ab_range_of(&d->addresses[i], NULL) == AB_RANGE_PUBLIC &&
		    is_own(&d->addresses[i]))
			reason = AB_ALLOW_RANGE;
	return reason;
}

/* --- attempts ------------------------------------------------------------- */

static attempt *running(ab_dial *d)
{
	for (size_t i = 0; i < AB_DIAL_TRIES; i++)
		if (d->attempts[i].watch.ready)
			return &d->attempts[i];
	return NULL;
}

static void connected(ab_dial *d, attempt *a)
{
	int fd = a->fd;
	ab_address address = a->address;
	any_address peer;
	socklen_t n = sizeof(peer);

	end_attempt(a, false);
	/* gone again already */
	if (getpeername(fd, &peer.any, &n)) {
		close(fd);
		d->failed = AB_DIAL_UNREACHABLE;
		try_next(d);
		return;
	}
	finish(d, AB_DIAL_OK, AB_ALLOW_OK, fd, &address);
}

static void on_attempt(void *arg, uint32_t events)
{
	attempt *a = arg;
	ab_dial *d = a->dial;
	int err = 0;
	socklen_t n = sizeof(err);

	if (!(events & (EPOLLERR | EPOLLHUP))) {
		connected(d, a);
		return;
	}
	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &err, &n))
		err = errno;
	d->failed = (uint8_t)reason_of(err ? err : ECONNRESET);
	end_attempt(a, true);
	try_next(d);
}

/* 0: it is under way. */
static int begin_attempt(ab_dial *d, attempt *a, const ab_address *address)
{
	const int on = 1;
	any_address to;
	socklen_t n = to_sockaddr(address, d->target.port, &to);
	int fd = socket(to.any.sa_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return errno;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	err = connect(fd, &to.any, n) && errno != EINPROGRESS ? errno : 0;
	a->dial = d;
	a->fd = fd;
	a->address = *address;
	if (!err)
		err = -ab_watch_add(&d->gw->loop, &a->watch, fd, EPOLLOUT,
				    on_attempt, a);
	if (err)
		close(fd);
	return err;
}

static void try_next(void *arg)
{
	ab_dial *d = arg;
	attempt *a = NULL;

	for (size_t i = 0; i < AB_DIAL_TRIES && !a; i++)
		if (!d->attempts[i].watch.ready)
			a = &d->attempts[i];
	while (a && d->at < d->count) {
		int err = begin_attempt(d, a, &d->addresses[d->at++]);

		if (!err) {
			if (d->at < d->count)
				ab_timer_set(&d->gw->loop, &d->next, NEXT_MS,
					     try_next, d);
			return;
		}
		d->failed = (uint8_t)reason_of(err);
	}
	if (!running(d))
		fail(d, d->failed);
}

static void on_addresses(void *arg, enum ab_dial_reason reason,
			 const ab_address *addresses, size_t count)
{
	ab_dial *d = arg;
	enum ab_allow_reason allow;

	d->query = NULL;
	if (d->has_ended)
		return;
	if (reason != AB_DIAL_OK) {
		fail(d, reason);
		return;
	}
	d->count = (uint8_t)count;
	memcpy(d->addresses, addresses, count * sizeof(*addresses));
	allow = judge(d);
	if (allow != AB_ALLOW_OK) {
		finish(d, AB_DIAL_NOT_ALLOWED, allow, -1, NULL);
		return;
	}
	d->failed = AB_DIAL_FAILED;
	try_next(d);
}

/* In the loop, so that the caller has what we gave it. */
static void begin(void *arg)
{
	ab_dial *d = arg;
	enum ab_allow_reason allow = AB_ALLOW_OK;
	const ab_host *rule;

	if (d->has_ended)
		return;
	if (d->gw->is_revoked) {
		fail(d, AB_DIAL_REVOKED);
		return;
	}
	if (!(d->flags & AB_DIAL_ROUTE))
		allow = ab_gw_judge_granted(d->gw, &d->target,
					    d->flags & AB_DIAL_GRANTED,
					    &rule);
	if (allow != AB_ALLOW_OK || d->gw->dials > d->gw->dials_max) {
		finish(d, allow != AB_ALLOW_OK ? AB_DIAL_NOT_ALLOWED
					       : AB_DIAL_BUSY,
		       allow, -1, NULL);
		return;
	}
	ab_timer_set(&d->gw->loop, &d->deadline, AB_DIAL_MS, on_deadline, d);
	if (d->target.kind == AB_TARGET_ADDRESS)
		on_addresses(d, AB_DIAL_OK, &d->target.address, 1);
	else
		ab_resolve(d->gw, &d->target, on_addresses, d, &d->query);
}

ab_dial *ab_gw_dial(ab_gw *gw, const ab_target *target, unsigned flags,
		    void (*done)(void *arg, const ab_dial_result *result),
		    void *arg)
{
	ab_dial *d = ab_new(ab_dial);

	if (!d)
		return NULL;
	d->gw = gw;
	d->target = *target;
	d->flags = (uint8_t)flags;
	d->done = done;
	d->arg = arg;
	gw->dials++;
	ab_live_add(gw, &d->live, cut, d);
	ab_loop_later(&gw->loop, &d->start, begin, d);
	return d;
}

void ab_dial_cancel(ab_dial *d)
{
	if (d && !d->has_ended)
		end(d);
}

bool ab_gw_may_reach(const ab_gw *gw, const ab_target *target,
		     const ab_address *address)
{
	return ab_allow_address(&gw->allow, target, address) == AB_ALLOW_OK;
}
