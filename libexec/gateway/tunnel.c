/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who asks for a connection: CONNECT, SOCKS5, and connections that come
 * without a proxy, whose destination is the name that the stub gave its
 * address to. All three are judged in one way and end in a tunnel; what goes
 * to port 80 is HTTP and judged request by request.
 * Spec: DESIGN.md section 9, gateway cases 28, 52-63, 88-92, 109.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "socks.h"
#include "state.h"

#define ESTABLISHED "HTTP/1.1 200 Connection established\r\n\r\n"

enum way { WAY_CONNECT, WAY_SOCKS, WAY_DIRECT };

typedef struct asker {
	ab_client *c;
	ab_dial *dial;
	ab_later later;
	ab_target target;
	const ab_host *rule; /* valid while the list is the same */
	uint8_t way;
	bool is_granted; /* by the host, which was asked */
	ab_asked asked;
	size_t early; /* where what the client sent ahead begins, in c->in */
	ab_socks socks;
} asker;

static const char *how_of(const asker *a)
{
	return a->way == WAY_CONNECT ? "connect"
	       : a->way == WAY_SOCKS ? "socks" : "transparent";
}

static void end_asker(asker *a)
{
	ab_dial_cancel(a->dial);
	ab_ask_forget(&a->asked);
	explicit_bzero(&a->socks, sizeof(a->socks));
	a->c->state = NULL;
	ab_loop_later(&a->c->gw->loop, &a->later, free, a);
}

/* A reset: to whoever has no protocol to be told more. */
static void drop(asker *a)
{
	ab_client *c = a->c;

	end_asker(a);
	ab_close_hard(ab_client_release(c));
}

static void cut(void *arg)
{
	asker *a = arg;

	/* the attempt is cut for itself, or was */
	drop(a);
}

static void on_late(void *arg)
{
	drop(arg);
}

static asker *begin(ab_client *c, enum way way)
{
	asker *a = ab_new(asker);

	if (!a) {
		ab_close_hard(ab_client_release(c));
		return NULL;
	}
	a->c = c;
	a->way = (uint8_t)way;
	c->state = a;
	c->live.cut = cut;
	c->live.arg = a;
	return a;
}

/* --- answers -------------------------------------------------------------- */

static enum ab_socks_code code_of(const ab_dial_result *r)
{
	switch ((enum ab_dial_reason)r->reason) {
	case AB_DIAL_OK:
		return AB_SOCKS_OK;
	case AB_DIAL_NOT_ALLOWED:
	case AB_DIAL_UNTOLD:
		return AB_SOCKS_NOT_ALLOWED;
	case AB_DIAL_REFUSED:
		return AB_SOCKS_REFUSED;
	case AB_DIAL_NO_NAME:
	case AB_DIAL_RESOLVER:
	case AB_DIAL_UNREACHABLE:
		return AB_SOCKS_HOST_UNREACHABLE;
	case AB_DIAL_TIMEOUT:
		return AB_SOCKS_TTL;
	default:
		return AB_SOCKS_FAILURE;
	}
}

static bool send_socks(asker *a, enum ab_socks_code code)
{
	uint8_t out[AB_SOCKS_REPLY_SIZE];
	size_t n = ab_socks_reply(&a->socks, code, out);

	return send(a->c->fd, out, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static unsigned status_of(const ab_dial_result *r)
{
	switch ((enum ab_dial_reason)r->reason) {
	case AB_DIAL_NOT_ALLOWED:
	case AB_DIAL_UNTOLD:
		return 403;
	case AB_DIAL_TIMEOUT:
		return 504;
	case AB_DIAL_BUSY:
		return 429;
	default:
		return 502;
	}
}

static const char *text_of(const ab_dial_result *r)
{
	return r->reason == AB_DIAL_NOT_ALLOWED ? ab_allow_reason_text(r->allow)
	       : r->reason == AB_DIAL_UNTOLD    ? AB_TOKENS_UNTOLD_WHY
						: "cannot be reached";
}

static void refuse(asker *a, const ab_dial_result *r)
{
	const char *reason = r->reason == AB_DIAL_NOT_ALLOWED
		? ab_allow_reason_name(r->allow)
		: ab_dial_reason_name(r->reason);
	const char *text = text_of(r);
	char name[AB_TARGET_TEXT_SIZE], line[AB_TARGET_TEXT_SIZE + 160];
	ab_client *c = a->c;

	ab_target_text(&a->target, 0, name);
	snprintf(line, sizeof(line), "agentbox: %s %s (%s)", name, text,
		 reason);
	if (a->way == WAY_SOCKS) {
		(void)send_socks(a, code_of(r));
		end_asker(a);
		ab_client_close(c);
	} else if (a->way == WAY_CONNECT || a->target.port == AB_HTTP_PORT) {
		end_asker(a);
		ab_client_refuse(c, status_of(r), reason, line);
	} else {
		drop(a);
	}
}

static void refuse_list(asker *a, enum ab_allow_reason reason)
{
	const ab_dial_result r = { .fd = -1, .reason = AB_DIAL_NOT_ALLOWED,
				   .allow = (uint8_t)reason };

	refuse(a, &r);
}

/* Whoever speaks a proxy's protocol is told that it may go on. */
static bool say_yes(asker *a)
{
	const size_t n = sizeof(ESTABLISHED) - 1;

	if (a->way == WAY_CONNECT)
		return send(a->c->fd, ESTABLISHED, n, MSG_NOSIGNAL) ==
		       (ssize_t)n;
	return a->way == WAY_DIRECT || send_socks(a, AB_SOCKS_OK);
}

/* --- the connection ------------------------------------------------------- */

static void tell_failed(asker *a, const ab_dial_result *r)
{
	bool denied = r->reason == AB_DIAL_NOT_ALLOWED;
	char name[AB_TARGET_TEXT_SIZE];

	ab_target_text(&a->target, 0, name);
	ab_gw_tell(a->c->gw, &(ab_gw_record){
		.kind = denied || r->reason == AB_DIAL_UNTOLD ? AB_GW_DENIED
							      : AB_GW_FAILED,
		.how = how_of(a), .target = name,
		.reason = denied ? ab_allow_reason_name(r->allow)
				 : ab_dial_reason_name(r->reason),
		.detail = text_of(r) },
		   false);
}

static enum ab_gate gate_of(const asker *a)
{
	if (ab_allow_is_tcp(&a->c->gw->allow, &a->target))
		return AB_GATE_NONE;
	return a->target.port == AB_TLS_PORT ? AB_GATE_TLS : AB_GATE_SNIFF;
}

static void on_dialled(void *arg, const ab_dial_result *r)
{
	asker *a = arg;
	ab_client *c = a->c;
	ab_client_in *in;
	int fd;

	a->dial = NULL;
	if (r->reason != AB_DIAL_OK) {
		tell_failed(a, r);
		refuse(a, r);
		return;
	}
	/* it may have been taken from a list meanwhile (case 153): from `tcp`,
	   where there has to be HTTP, which is not read on this way */
	if (ab_gw_judge_granted(c->gw, &a->target, a->is_granted, &a->rule) !=
		    AB_ALLOW_OK ||
	    (a->target.port == AB_HTTP_PORT && gate_of(a) != AB_GATE_NONE) ||
	    !ab_gw_tell_allowed(c->gw, how_of(a), &a->target, a->rule,
				&r->address) ||
	    !say_yes(a)) {
		ab_close_hard(r->fd);
		drop(a);
		return;
	}
	in = c->in;
	c->in = NULL;
	fd = ab_client_release(c);
	ab_tunnel_begin(c->gw, fd, r->fd, &a->target, how_of(a),
			gate_of(a),
			in ? in->bytes + a->early : NULL,
			in ? in->len - a->early : 0);
	free(in);
	end_asker(a);
}

/*
 * Nothing is read meanwhile; a reset is seen nevertheless. Most clients say
 * nothing before they are answered: what is asked for stays as it is until one
 * does.
 */
static void on_wait(void *arg, uint32_t events)
{
	asker *a = arg;

	if ((events & (EPOLLERR | EPOLLHUP)) ||
	    ab_watch_set(&a->c->gw->loop, &a->c->watch, 0))
		drop(a);
}

/* What goes to port 80 is answered request by request. */
static void serve_http(asker *a)
{
	ab_client *c = a->c;
	ab_target target = a->target;

	if (!say_yes(a)) {
		drop(a);
		return;
	}
	if (c->in)
		ab_client_took(c->in, a->early);
	end_asker(a);
	ab_exchange_begin(c, &target);
}

static void go_on(asker *a)
{
	ab_client *c = a->c;
	uint64_t names = ab_gw_names(c->gw, &a->target);
	ab_dial_result no = { .fd = -1 };

	if (ab_gw_needs_tokens(c->gw, names))
		no.reason = AB_DIAL_UNTOLD;
	else if (!ab_client_hold(c, names) ||
		 !ab_gw_count_request(c->gw, names))
		no.reason = AB_DIAL_BUSY;
	if (no.reason) {
		tell_failed(a, &no);
		refuse(a, &no);
		return;
	}
	ab_watch_hand(&c->watch, on_wait, a);
	a->dial = ab_gw_dial(c->gw, &a->target,
			     a->is_granted ? AB_DIAL_GRANTED : 0, on_dialled,
			     a);
	if (!a->dial)
		drop(a);
}

/* As the list is now; a refusal is recorded. */
static void on_answered(void *arg, bool is_granted)
{
	asker *a = arg;
	enum ab_allow_reason reason = ab_gw_judge_granted(
		a->c->gw, &a->target, is_granted, &a->rule);

	a->is_granted = is_granted;
	if (reason == AB_ALLOW_OK)
		go_on(a);
	else
		refuse_list(a, ab_gw_judge(a->c->gw, how_of(a), &a->target,
					   &a->rule));
}

static void ask(asker *a)
{
	ab_client *c = a->c;
	enum ab_allow_reason reason = ab_allow_target(&c->gw->allow,
						      &a->target, &a->rule);

	ab_timer_clear(&c->gw->loop, &c->timer);
	/* there each request is judged, and asked about, for itself */
	if (a->target.port == AB_HTTP_PORT &&
	    !ab_allow_is_tcp(&c->gw->allow, &a->target) &&
	    (reason == AB_ALLOW_OK || ab_ask_may(c->gw, &a->target))) {
		serve_http(a);
	} else if (reason == AB_ALLOW_OK) {
		go_on(a);
	} else if (ab_ask_begin(c->gw, &a->asked, how_of(a), &a->target,
				on_answered, a)) {
		ab_watch_hand(&c->watch, on_wait, a);
	} else {
		refuse_list(a, ab_gw_judge(c->gw, how_of(a), &a->target,
					   &a->rule));
	}
}

void ab_connect_begin(ab_client *c)
{
	asker *a = begin(c, WAY_CONNECT);

	if (!a)
		return;
	a->target = c->in->head.host;
	a->early = c->in->head.len;
	ask(a);
}

void ab_direct_begin(ab_client *c, const ab_target *to)
{
	asker *a = begin(c, WAY_DIRECT);

	if (!a)
		return;
	if (ab_stub_name(c->gw, &to->address, &a->target))
		a->target.port = to->port;
	else
		a->target = *to;
	ask(a);
}

/* --- SOCKS5 --------------------------------------------------------------- */

static void refuse_socks(asker *a, enum ab_socks_reason reason)
{
	ab_client *c = a->c;

	ab_gw_tell(c->gw, &(ab_gw_record){ .kind = AB_GW_DENIED,
					   .how = "socks",
					   .reason = ab_socks_reason_name(
						   reason),
					   .detail = "SOCKS was refused" },
		   false);
	(void)send_socks(a, AB_SOCKS_FAILURE);
	end_asker(a);
	ab_client_close(c);
}

/* One message of the client's; true: there may be another. */
static bool take_message(asker *a, enum ab_socks_reason reason)
{
	bool good;

	switch (reason) {
	case AB_SOCKS_METHODS:
		break;
	case AB_SOCKS_AUTH:
		good = ab_key_is(&a->c->gw->key, a->socks.password,
				 a->socks.password_len);
		reason = ab_socks_auth(&a->socks, good);
		if (!good && !ab_client_may_fail(a->c)) {
			drop(a);
			return false;
		}
		if (!good) {
			refuse_socks(a, reason);
			return false;
		}
		break;
	case AB_SOCKS_REQUEST:
		a->target = a->socks.target;
		a->c->with_key = true;
		ask(a);
		return false;
	default:
		refuse_socks(a, reason);
		return false;
	}
	if (send_socks(a, AB_SOCKS_OK))
		return true;
	drop(a);
	return false;
}

/* What has come of it. */
static void read_socks(asker *a)
{
	ab_client_in *in = a->c->in;
	bool more = true;

	while (more && a->early < in->len) {
		size_t used;
		enum ab_socks_reason reason = ab_socks_read(
			&a->socks, in->bytes + a->early, in->len - a->early,
			&used);

		/* the password does not stay */
		explicit_bzero(in->bytes + a->early, used);
		a->early += used;
		if (reason == AB_SOCKS_MORE)
			break;
		more = take_message(a, reason);
	}
}

static void on_socks(void *arg, uint32_t events)
{
	asker *a = arg;
	int n = ab_client_fill(a->c);

	(void)events;
	if (n == -EAGAIN)
		return;
	if (n <= 0)
		drop(a);
	else
		read_socks(a);
}

void ab_socks_begin(ab_client *c)
{
	asker *a = begin(c, WAY_SOCKS);

	if (!a)
		return;
	ab_watch_hand(&c->watch, on_socks, a);
	ab_timer_set(&c->gw->loop, &c->timer, AB_HEAD_MS, on_late, a);
	read_socks(a);
}
