/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One HTTP request that is forwarded: of a client that uses us as its proxy,
 * or of one that speaks to port 80 without. The target is judged for each
 * request, both heads are written anew, bodies are taken out of their framing
 * and framed anew. A connection upstream serves one request, or, where neither
 * side can see more or less in it than we did, another GET after it (kept.h).
 * What one side sends is read only when the other has taken what was sent
 * before, so nothing grows. A granted upgrade to websocket becomes a tunnel.
 * Spec: DESIGN.md section 9, gateway cases 23-26, 67-84, 87, 109.
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
#include "exchange.h"
#include "http_write.h"

#define QUIET_MS (15 * 60 * 1000u)

static void on_box(void *arg, uint32_t events);

/* --- the end -------------------------------------------------------------- */

static void release(void *arg)
{
	ab_exchange *x = arg;

	free(x->answer);
	free(x->to_up);
	free(x->to_box);
	free(x);
}

void ab_exchange_drop(ab_exchange *x)
{
	ab_dial_cancel(x->dial);
	x->dial = NULL;
	if (x->up.ready) {
		ab_watch_leave(&x->up);
		ab_close_hard(x->line.fd);
	}
}

/* Nothing more is to come on it, and nothing was cut short. */
static void keep_upstream(ab_exchange *x)
{
	if (!x->up.ready || x->to_up || !x->may_share || !x->has_end)
		return;
	ab_watch_leave(&x->up);
	ab_kept_put(x->gw, &x->target, &x->line);
}

void ab_exchange_end(ab_exchange *x)
{
	char name[AB_TARGET_TEXT_SIZE];

	if (x->is_ended)
		return;
	x->is_ended = true;
	ab_paced_forget(&x->paced);
	ab_ask_forget(&x->asked);
	ab_exchange_drop(x);
	ab_client_let_go(x->c);
	x->c->state = NULL;
	if (x->has_target && (x->sent || x->received)) {
		ab_target_text(&x->target, 0, name);
		ab_gw_tell(x->gw, &(ab_gw_record){
			.kind = AB_GW_CLOSED, .how = "http", .target = name,
			.reason = "ended", .up = x->sent,
			.down = x->received }, false);
	}
	ab_loop_later(&x->gw->loop, &x->later, release, x);
}

void ab_exchange_cut(void *arg)
{
	ab_exchange *x = arg;
	ab_client *c = x->c;

	ab_exchange_end(x);
	ab_close_hard(ab_client_release(c));
}

/* An answer of ours, where none has begun; else only the end is left. */
static void refuse(ab_exchange *x, unsigned status, const char *reason,
		   const char *text)
{
	ab_client *c = x->c;

	if (x->in_response) {
		ab_exchange_cut(x);
		return;
	}
	ab_exchange_end(x);
	ab_client_refuse(c, status, reason, text);
}

void ab_exchange_tell(ab_exchange *x, uint32_t kind, const char *reason,
		      const char *detail)
{
	char name[AB_TARGET_TEXT_SIZE] = "";

	if (x->has_target)
		ab_target_text(&x->target, 0, name);
	ab_gw_tell(x->gw, &(ab_gw_record){ .kind = kind, .how = "http",
					   .target = name, .reason = reason,
					   .detail = detail },
		   false);
}

bool ab_exchange_give_up(ab_exchange *x, uint32_t kind, unsigned status,
			 const char *reason, const char *why)
{
	char name[AB_TARGET_TEXT_SIZE], text[AB_TARGET_TEXT_SIZE + 128];

	ab_exchange_tell(x, kind, reason, why);
	ab_target_text(&x->target, 0, name);
	snprintf(text, sizeof(text), "agentbox: %s%s%s",
		 x->has_target ? name : "", x->has_target ? ": " : "", why);
	refuse(x, status, reason, text);
	return false;
}

/* --- what is waited for --------------------------------------------------- */

static bool wants_box(const ab_exchange *x)
{
	if (!x->in_request)
		return true;
	return x->up.ready && !x->request.done && !x->to_up;
}

static void set_events(ab_exchange *x);

static void resume(void *arg)
{
	set_events(arg);
}

static void set_events(ab_exchange *x)
{
	uint32_t box = (wants_box(x) ? EPOLLIN : 0u) |
		       (x->to_box ? EPOLLOUT : 0u);
	uint32_t up = (x->to_box || x->response.done ? 0u : EPOLLIN) |
		      (x->to_up ? EPOLLOUT : 0u);

	/* an end is told of all the same: once, or again and again */
	x->waits = x->up.ready &&
		   ab_gw_wait(x->gw, x->names, &x->paced, resume, x);
	if (x->waits) {
		box = (box & ~(uint32_t)EPOLLIN) | EPOLLET;
		up = (up & ~(uint32_t)EPOLLIN) | EPOLLET;
	}
	if (ab_watch_set(&x->gw->loop, &x->c->watch, box) ||
	    (x->up.ready && ab_watch_set(&x->gw->loop, &x->up, up)))
		ab_exchange_cut(x);
}

/* --- the request's body ------------------------------------------------ */

bool ab_exchange_account(ab_exchange *x, uint64_t n)
{
	ab_timer_set(&x->gw->loop, &x->c->timer, QUIET_MS, ab_exchange_cut, x);
	if (ab_gw_count_bytes(x->gw, x->names, n))
		return true;
	ab_exchange_tell(x, AB_GW_DENIED, "budget_bytes", "no bytes are left");
	ab_exchange_cut(x);
	return false;
}

/* What is there of its body goes on; the rest is the next request's. */
static void take_request_body(ab_exchange *x, const char *p, size_t n,
			      size_t *used)
{
	const char *why;

	*used = 0;
	if (x->request.done || !n)
		return;
	if (!ab_out_room(&x->to_up)) {
		ab_exchange_cut(x);
		return;
	}
	why = ab_flow_pass(&x->request, x->to_up, p, n, used);
	if (why) {
		ab_exchange_give_up(x, AB_GW_DENIED, 400, why,
				    "the request is malformed");
		return;
	}
	x->sent += *used;
	(void)ab_exchange_account(x, *used);
}

/* What came with the head, or behind it, before more is read. */
static void feed(ab_exchange *x)
{
	ab_client_in *in = x->c->in;
	size_t used;

	if (!x->up.ready || x->to_up || x->request.done || !in || !in->len)
		return;
	take_request_body(x, in->bytes, in->len, &used);
	if (x->is_ended)
		return;
	ab_client_took(in, used);
}

/* --- both sides ----------------------------------------------------------- */

/* Everything was sent that there was to send. */
static void finish(ab_exchange *x)
{
	ab_client *c = x->c;
	ab_target bound = x->bound;
	bool again = x->is_bound, is_early = !x->request.done;
	bool close_it = x->close;

	keep_upstream(x);
	ab_exchange_end(x);
	if (is_early) {
		ab_client_drain(c);
	} else if (close_it) {
		shutdown(c->fd, SHUT_WR);
		ab_client_close(c);
	} else if (again) {
		ab_exchange_begin(c, &bound);
	} else {
		ab_client_next(c);
	}
}

/* What waits for either side; false: x has ended. */
static bool flush(ab_exchange *x)
{
	if (x->is_ended)
		return false;
	if ((x->up.ready && !ab_out_flush(&x->to_up, x->line.fd) &&
	     !ab_exchange_ask_again(x)) ||
	    (!x->is_ended && !ab_out_flush(&x->to_box, x->c->fd)))
		ab_exchange_cut(x);
	return !x->is_ended;
}

static void go_on(ab_exchange *x)
{
	if (!flush(x))
		return;
	feed(x);
	if (!flush(x))
		return;
	if (x->in_response && x->response.done && !x->to_box)
		finish(x);
	else
		set_events(x);
}

static void on_up(void *arg, uint32_t events)
{
	ab_exchange *x = arg;

	/* it is gone, and would be told of again and again */
	if ((events & (EPOLLHUP | EPOLLERR)) && x->to_box) {
		if (!x->in_response || !x->response.done) {
			ab_exchange_cut(x);
			return;
		}
		ab_exchange_drop(x);
	} else if (!x->waits && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
		if (x->answer)
			ab_exchange_read_answer(x);
		else if (!x->response.done)
			ab_exchange_read_body(x);
	}
	go_on(x);
}

/* --- the request ---------------------------------------------------------- */

static bool write_request(ab_exchange *x)
{
	ab_client_in *in = x->c->in;
	const ab_http_rewrite rewrite = {
		.host = &x->target,
		.default_port = AB_HTTP_PORT,
		.upgrade = x->facts.wants_upgrade,
		.close = !x->may_share,
	};
	ab_http_out head;

	if (!ab_out_room(&x->to_up))
		return false;
	head = (ab_http_out){ .p = x->to_up->bytes,
			      .size = sizeof(x->to_up->bytes) };
	if (!ab_http_write_request(&head, &in->head, in->bytes, &rewrite))
		return false;
	x->to_up->len = head.len;
	return true;
}

static void begin_upstream(ab_exchange *x)
{
	ab_client_in *in = x->c->in;

	x->answer = ab_client_in_new();
	if (!x->answer || !write_request(x)) {
		refuse(x, 502, "failed", "agentbox: out of memory");
		return;
	}
	ab_http_head_init(&x->answer->head, AB_HTTP_RESPONSE);
	x->response.plain = in->head.minor == 0;
	/* one that may be gone has it again */
	if (!x->is_kept)
		ab_client_took(in, in->head.len);
	x->sent += x->to_up->len;
	if (ab_exchange_account(x, x->to_up->len))
		go_on(x);
}

/* One request, one record: another says that it went somewhere else. */
static bool tell_allowed(ab_exchange *x, const ab_host *rule,
			 const ab_address *to)
{
	if (x->told.family && ab_address_equal(&x->told, to))
		return true;
	x->told = *to;
	return ab_gw_tell_allowed(x->gw, "http", &x->target, rule, to);
}

static void connected(ab_exchange *x, const ab_upstream_line *line)
{
	const ab_host *rule = NULL;

	if (ab_gw_judge_granted(x->gw, &x->target, x->is_granted, &rule) !=
		    AB_ALLOW_OK ||
	    !tell_allowed(x, rule, &line->address) ||
	    ab_watch_take(&x->gw->loop, &x->up, line->fd, EPOLLIN, on_up, x)) {
		ab_close_hard(line->fd);
		ab_exchange_cut(x);
		return;
	}
	x->line = *line;
	begin_upstream(x);
}

static void on_dialled(void *arg, const ab_dial_result *r)
{
	ab_exchange *x = arg;
	bool denied = r->reason == AB_DIAL_NOT_ALLOWED;
	const char *reason = denied ? ab_allow_reason_name(r->allow)
				    : ab_dial_reason_name(r->reason);

	x->dial = NULL;
	if (r->reason == AB_DIAL_OK)
		connected(x, &(ab_upstream_line){ r->fd, r->address,
						  x->gw->loop.now });
	else
		ab_exchange_give_up(x, denied ? AB_GW_DENIED : AB_GW_FAILED,
				    denied ? 403
				    : r->reason == AB_DIAL_TIMEOUT ? 504 : 502,
				    reason,
				    denied ? ab_allow_reason_text(r->allow)
					   : "cannot be reached");
}

void ab_exchange_dial(ab_exchange *x)
{
	x->dial = ab_gw_dial(x->gw, &x->target,
			     x->is_granted ? AB_DIAL_GRANTED : 0, on_dialled,
			     x);
	if (!x->dial)
		refuse(x, 502, "failed", "agentbox: out of memory");
	else
		set_events(x);
}

/* Where it goes; false: nowhere, it was refused. */
static bool find_target(ab_exchange *x, const ab_http_head *h)
{
	uint16_t port = h->host.port ? h->host.port : AB_HTTP_PORT;
	ab_target *to = &x->target;

	*to = x->is_bound ? x->bound : h->host;
	to->port = x->is_bound ? x->bound.port : port;
	x->has_target = true;
	if (h->form == AB_HTTP_FORM_CONNECT)
		return ab_exchange_give_up(x, AB_GW_DENIED, 403, "target_form",
					   "a tunnel inside of a connection");
	/* one connection reaches one host, whatever it asks for */
	if (port != to->port || !ab_target_same_host(&h->host, to))
		return ab_exchange_give_up(x, AB_GW_DENIED, 403,
					   "host_mismatch", "another host than "
					   "the connection's");
	/* as all that begins with no ClientHello (case 59) */
	return port != AB_TLS_PORT || ab_allow_is_tcp(&x->gw->allow, to) ||
	       ab_exchange_give_up(x, AB_GW_DENIED, 403, "not_tls",
				   "port 443 is for TLS, which CONNECT leads "
				   "to");
}

/* The target may be reached. */
static void send_on(ab_exchange *x)
{
	ab_http_head *h = &x->c->in->head;
	ab_upstream_line line = { .fd = -1 };

	x->names = ab_gw_names(x->gw, &x->target);
	if (ab_gw_needs_tokens(x->gw, x->names)) {
		ab_exchange_give_up(x, AB_GW_DENIED, 403, AB_TOKENS_UNTOLD,
				    AB_TOKENS_UNTOLD_WHY);
		return;
	}
	if (!ab_client_hold(x->c, x->names) ||
	    !ab_gw_count_request(x->gw, x->names)) {
		ab_exchange_give_up(x, AB_GW_DENIED, 429, "too_many",
				    "too many requests");
		return;
	}
	x->facts.wants_upgrade = h->flags & AB_HTTP_UPGRADE_WS;
	x->facts.is_head = h->flags & AB_HTTP_IS_HEAD;
	x->close = (h->flags & AB_HTTP_CLOSE) || h->minor == 0;
	ab_flow_begin(&x->request, h, false);
	x->may_share = ab_kept_request(h, x->c->in->bytes);
	if (x->may_share)
		line = ab_kept_take(x->gw, &x->target);
	x->is_kept = line.fd >= 0;
	if (x->is_kept)
		connected(x, &line);
	else
		ab_exchange_dial(x);
}

/* Recorded, and told with the host's name. */
static void refuse_target(ab_exchange *x)
{
	char text[AB_TARGET_TEXT_SIZE + 128], name[AB_TARGET_TEXT_SIZE];
	const ab_host *rule;
	enum ab_allow_reason allow = ab_gw_judge(x->gw, "http", &x->target,
						 &rule);

	ab_target_text(&x->target, 0, name);
	snprintf(text, sizeof(text), "agentbox: %s %s", name,
		 ab_allow_reason_text(allow));
	refuse(x, 403, ab_allow_reason_name(allow), text);
}

static void on_answered(void *arg, bool is_granted)
{
	ab_exchange *x = arg;
	const ab_host *rule;

	x->is_granted = is_granted;
	if (ab_gw_judge_granted(x->gw, &x->target, is_granted, &rule) ==
	    AB_ALLOW_OK)
		send_on(x);
	else
		refuse_target(x);
}

static void take_request(ab_exchange *x)
{
	enum ab_allow_reason allow;
	const ab_host *rule;

	x->in_request = true;
	ab_timer_set(&x->gw->loop, &x->c->timer, QUIET_MS, ab_exchange_cut, x);
	if (!find_target(x, &x->c->in->head))
		return;
	allow = ab_allow_target(&x->gw->allow, &x->target, &rule);
	if (allow == AB_ALLOW_OK)
		send_on(x);
	else if (ab_ask_begin(x->gw, &x->asked, "http", &x->target, on_answered,
			      x))
		set_events(x);
	else
		refuse_target(x);
}

static void judge_request(ab_exchange *x)
{
	ab_client_in *in = x->c->in;
	enum ab_http_reason r = ab_http_head_read(&in->head, in->bytes,
						  in->len);

	if (r == AB_HTTP_OK) {
		take_request(x);
		return;
	}
	if (r == AB_HTTP_MORE && in->len < sizeof(in->bytes))
		return;
	if (r == AB_HTTP_MORE)
		r = AB_HTTP_HEAD_LONG;
	ab_exchange_give_up(x, AB_GW_DENIED, ab_http_reason_status(r),
			    ab_http_reason_name(r),
			    "the request is malformed");
}

static void read_request_body(ab_exchange *x)
{
	ssize_t n = recv(x->c->fd, x->gw->scratch, AB_FLOW_PIECE, 0);
	size_t used;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		ab_exchange_cut(x);
		return;
	}
	take_request_body(x, x->gw->scratch, (size_t)n, &used);
	/* a client that sends its next request before this one's answer */
	if (!x->is_ended && used < (size_t)n &&
	    !ab_client_ahead(x->c, x->gw->scratch + used, (size_t)n - used))
		ab_exchange_cut(x);
}

static void on_box(void *arg, uint32_t events)
{
	ab_exchange *x = arg;
	bool first = !x->c->in || x->c->in->len == 0;
	int n;

	if (x->in_request && (events & (EPOLLERR | EPOLLHUP)) &&
	    !(events & EPOLLIN)) {
		ab_exchange_cut(x);
		return;
	}
	if (x->in_request) {
		if ((events & EPOLLIN) && !x->waits && wants_box(x))
			read_request_body(x);
		go_on(x);
		return;
	}
	n = ab_client_fill(x->c);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		ab_client *c = x->c;

		ab_exchange_end(x);
		ab_client_close(c);
		return;
	}
	if (first)
		ab_timer_set(&x->gw->loop, &x->c->timer, AB_HEAD_MS,
			     ab_exchange_cut, x);
	judge_request(x);
}

void ab_exchange_begin(ab_client *c, const ab_target *bound)
{
	ab_exchange *x = ab_new(ab_exchange);

	if (!x) {
		ab_close_hard(ab_client_release(c));
		return;
	}
	x->gw = c->gw;
	x->c = c;
	if (bound) {
		x->bound = *bound;
		x->is_bound = true;
	}
	c->state = x;
	c->live.cut = ab_exchange_cut;
	c->live.arg = x;
	ab_watch_hand(&c->watch, on_box, x);
	ab_timer_set(&c->gw->loop, &c->timer,
		     c->in && c->in->len ? AB_HEAD_MS : AB_IDLE_MS,
		     ab_exchange_cut, x);
	if (ab_watch_set(&c->gw->loop, &c->watch, EPOLLIN)) {
		ab_exchange_cut(x);
		return;
	}
	/* nothing is held while nothing is asked */
	if (c->in && !c->in->len) {
		free(c->in);
		c->in = NULL;
	}
	if (c->in && c->in->head.reason != AB_HTTP_OK)
		memset(&c->in->head, 0, sizeof(c->in->head));
	if (c->in)
		judge_request(x);
}
