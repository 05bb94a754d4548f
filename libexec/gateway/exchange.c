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
#include "flow.h"
#include "http_write.h"
#include "kept.h"
#include "state.h"

#define QUIET_MS (15 * 60 * 1000u)

typedef struct exchange {
	ab_gw *gw;
	ab_client *c;
	ab_target bound, target;
	bool is_bound, has_target;
	bool in_request;  /* its head was read */
	bool in_response; /* the final head was sent */
	bool close;	  /* the client's connection ends after this */
	bool is_ended;
	bool is_granted; /* by the host, which was asked */
	bool may_share; /* its connection, with other requests */
	bool is_kept;	/* that has served another, and said nothing since */
	bool has_end;	/* the answer says where it ends, and ended there */
	ab_asked asked;
	bool waits; /* the rate of bytes is used up */
	ab_paced paced;
	ab_dial *dial;
	ab_upstream_line line;
	ab_address told; /* where it goes, of its record */
	ab_watch up; /* while it is connected */
	ab_later later;
	ab_http_exchange facts;
	ab_flow request, response;
	ab_client_in *answer; /* the response's head, while it is read */
	ab_out *to_up, *to_box;
	uint64_t sent, received, names; /* the target's: ab_gw_names() */
} exchange;

static void on_box(void *arg, uint32_t events);

/* --- the end -------------------------------------------------------------- */

static void release(void *arg)
{
	exchange *x = arg;

	free(x->answer);
	free(x->to_up);
	free(x->to_box);
	free(x);
}

static void drop_upstream(exchange *x)
{
	ab_dial_cancel(x->dial);
	x->dial = NULL;
	if (x->up.ready) {
		ab_watch_remove(&x->gw->loop, &x->up);
		ab_close_hard(x->line.fd);
	}
}

/* Nothing more is to come on it, and nothing was cut short. */
static void keep_upstream(exchange *x)
{
	if (!x->up.ready || x->to_up || !x->may_share || !x->has_end)
		return;
	ab_watch_remove(&x->gw->loop, &x->up);
	ab_kept_put(x->gw, &x->target, &x->line);
}

/* The client is somebody else's from now on. */
static void end(exchange *x)
{
	char name[AB_TARGET_TEXT_SIZE];

	if (x->is_ended)
		return;
	x->is_ended = true;
	ab_paced_forget(&x->paced);
	ab_ask_forget(&x->asked);
	drop_upstream(x);
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

static void cut(void *arg)
{
	exchange *x = arg;
	ab_client *c = x->c;

	end(x);
	ab_close_hard(ab_client_release(c));
}

/* An answer of ours, where none has begun; else only the end is left. */
static void refuse(exchange *x, unsigned status, const char *reason,
		   const char *text)
{
	ab_client *c = x->c;

	if (x->in_response) {
		cut(x);
		return;
	}
	end(x);
	ab_client_refuse(c, status, reason, text);
}

static void tell(exchange *x, uint32_t kind, const char *reason,
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

/* Recorded, and the client is told the same: false. */
static bool give_up(exchange *x, uint32_t kind, unsigned status,
		    const char *reason, const char *why)
{
	char name[AB_TARGET_TEXT_SIZE], text[AB_TARGET_TEXT_SIZE + 128];

	tell(x, kind, reason, why);
	ab_target_text(&x->target, 0, name);
	snprintf(text, sizeof(text), "agentbox: %s%s%s",
		 x->has_target ? name : "", x->has_target ? ": " : "", why);
	refuse(x, status, reason, text);
	return false;
}

/* What upstream says cannot be passed on. */
static void fail_upstream(exchange *x, const char *reason)
{
	give_up(x, AB_GW_FAILED, 502, reason, "its answer was not accepted");
}

/* --- what is waited for --------------------------------------------------- */

static bool wants_box(const exchange *x)
{
	if (!x->in_request)
		return true;
	return x->up.ready && !x->request.done && !x->to_up;
}

static void set_events(exchange *x);

static void resume(void *arg)
{
	set_events(arg);
}

static void set_events(exchange *x)
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
		cut(x);
}

/* --- the response --------------------------------------------------------- */

static bool account(exchange *x, uint64_t n)
{
	ab_timer_set(&x->gw->loop, &x->c->timer, QUIET_MS, cut, x);
	if (ab_gw_count_bytes(x->gw, x->names, n))
		return true;
	tell(x, AB_GW_DENIED, "budget_bytes", "no bytes are left");
	cut(x);
	return false;
}

/* Both ways are free from now on. */
static void switch_protocols(exchange *x)
{
	ab_client *c = x->c;
	ab_gw *gw = x->gw;
	ab_client_in *answer = x->answer, *in = c->in;
	int up_fd = x->line.fd, fd;

	if (x->to_box && !ab_out_flush(&x->to_box, c->fd)) {
		cut(x);
		return;
	}
	/* a client that has not read one head does not read on either */
	if (x->to_box || x->to_up ||
	    (answer->len && send(c->fd, answer->bytes, answer->len,
				 MSG_NOSIGNAL) != (ssize_t)answer->len)) {
		cut(x);
		return;
	}
	ab_watch_remove(&gw->loop, &x->up);
	c->in = NULL;
	fd = ab_client_release(c);
	ab_tunnel_begin(gw, fd, up_fd, &x->target, "websocket", AB_GATE_NONE,
			in ? in->bytes : NULL, in ? in->len : 0);
	free(in);
	end(x);
}

static bool write_answer(exchange *x)
{
	ab_client_in *a = x->answer;
	bool final = a->head.status >= 200;
	const ab_http_rewrite rewrite = {
		.upgrade = a->head.status == 101,
		.close = final && x->close,
		.no_chunks = x->response.plain,
	};
	ab_http_out head;

	if (!ab_out_room(&x->to_box))
		return false;
	head = (ab_http_out){ .p = x->to_box->bytes + x->to_box->len,
			      .size = sizeof(x->to_box->bytes) -
				      x->to_box->len };
	if (!ab_http_write_response(&head, &a->head, a->bytes, &rewrite))
		return false;
	x->to_box->len += head.len;
	return true;
}

static void take_body(exchange *x, const char *p, size_t n);

static void take_answer(exchange *x)
{
	bool plain = x->response.plain, is_final;
	ab_client_in *a = x->answer;
	enum ab_http_reason r;

	r = ab_http_response_judge(&a->head, &x->facts);
	if (r != AB_HTTP_OK) {
		fail_upstream(x, ab_http_reason_name(r));
		return;
	}
	is_final = a->head.status >= 200;
	if (is_final) {
		ab_flow_begin(&x->response, &a->head, plain);
		x->has_end = ab_kept_answer(&a->head);
		/* without a length it ends with the connection */
		if (a->head.body == AB_HTTP_BODY_CLOSE ||
		    (plain && a->head.body == AB_HTTP_BODY_CHUNKED))
			x->close = true;
	}
	if (!write_answer(x)) {
		fail_upstream(x, "too_long");
		return;
	}
	x->in_response = is_final || a->head.status == 101;
	if (a->head.status == 101) {
		ab_client_took(a, a->head.len);
		switch_protocols(x);
		return;
	}
	ab_client_took(a, a->head.len);
	if (!is_final) {
		ab_http_head_init(&a->head, AB_HTTP_RESPONSE);
		return;
	}
	x->answer = NULL;
	if (a->len)
		take_body(x, a->bytes, a->len);
	free(a);
}

static void take_body(exchange *x, const char *p, size_t n)
{
	const char *why;
	size_t used;

	if (!ab_out_room(&x->to_box)) {
		cut(x);
		return;
	}
	why = ab_flow_pass(&x->response, x->to_box, p, n, &used);
	if (why)
		fail_upstream(x, why);
	/* what comes behind the end of it is nobody's */
	else if (used < n)
		x->has_end = false;
}

static void dial(exchange *x);

/*
 * The connection that was kept is gone: the same once more, on one of its own
 * (RFC 9112 section 9.3.1). Nothing of an answer has come, and the head is
 * there still.
 */
static bool ask_again(exchange *x)
{
	if (!x->is_kept)
		return false;
	x->is_kept = false;
	drop_upstream(x);
	free(x->to_up);
	free(x->answer);
	x->to_up = NULL;
	x->answer = NULL;
	dial(x);
	return true;
}

/* Heads, one after the other, until the final one. */
static void read_answer(exchange *x)
{
	ab_client_in *a = x->answer;
	enum ab_http_reason r = AB_HTTP_OK;
	ssize_t n;

	if (a->len == sizeof(a->bytes)) {
		fail_upstream(x, ab_http_reason_name(AB_HTTP_HEAD_LONG));
		return;
	}
	n = recv(x->line.fd, a->bytes + a->len, sizeof(a->bytes) - a->len, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 && ask_again(x))
		return;
	if (n <= 0) {
		fail_upstream(x, "no_answer");
		return;
	}
	if (x->is_kept) {
		x->is_kept = false;
		ab_client_took(x->c->in, x->c->in->head.len);
	}
	a->len += (size_t)n;
	x->received += (uint64_t)n;
	if (!account(x, (uint64_t)n))
		return;
	while (r == AB_HTTP_OK && !x->is_ended && x->answer && a->len) {
		r = ab_http_head_read(&a->head, a->bytes, a->len);
		if (r == AB_HTTP_OK)
			take_answer(x);
	}
	if (r != AB_HTTP_OK && r != AB_HTTP_MORE)
		fail_upstream(x, ab_http_reason_name(r));
}

static void read_body(exchange *x)
{
	ssize_t n = recv(x->line.fd, x->gw->scratch, AB_FLOW_PIECE, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0 || (n == 0 && x->response.body != AB_HTTP_BODY_CLOSE)) {
		cut(x);
		return;
	}
	if (n == 0) {
		x->response.done = true;
		return;
	}
	x->received += (uint64_t)n;
	if (account(x, (uint64_t)n))
		take_body(x, x->gw->scratch, (size_t)n);
}

/* What is there of its body goes on; the rest is the next request's. */
static void take_request_body(exchange *x, const char *p, size_t n,
			      size_t *used)
{
	const char *why;

	*used = 0;
	if (x->request.done || !n)
		return;
	if (!ab_out_room(&x->to_up)) {
		cut(x);
		return;
	}
	why = ab_flow_pass(&x->request, x->to_up, p, n, used);
	if (why) {
		give_up(x, AB_GW_DENIED, 400, why, "the request is malformed");
		return;
	}
	x->sent += *used;
	(void)account(x, *used);
}

/* What came with the head, or behind it, before more is read. */
static void feed(exchange *x)
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
static void finish(exchange *x)
{
	ab_client *c = x->c;
	ab_target bound = x->bound;
	bool again = x->is_bound, is_early = !x->request.done;
	bool close_it = x->close;

	keep_upstream(x);
	end(x);
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
static bool flush(exchange *x)
{
	if (x->is_ended)
		return false;
	if ((x->up.ready && !ab_out_flush(&x->to_up, x->line.fd) &&
	     !ask_again(x)) ||
	    (!x->is_ended && !ab_out_flush(&x->to_box, x->c->fd)))
		cut(x);
	return !x->is_ended;
}

static void go_on(exchange *x)
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
	exchange *x = arg;

	/* it is gone, and would be told of again and again */
	if ((events & (EPOLLHUP | EPOLLERR)) && x->to_box) {
		if (!x->in_response || !x->response.done) {
			cut(x);
			return;
		}
		drop_upstream(x);
	} else if (!x->waits && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
		if (x->answer)
			read_answer(x);
		else if (!x->response.done)
			read_body(x);
	}
	go_on(x);
}

/* --- the request ---------------------------------------------------------- */

static bool write_request(exchange *x)
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

static void begin_upstream(exchange *x)
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
	if (account(x, x->to_up->len))
		go_on(x);
}

/* One request, one record: another says that it went somewhere else. */
static bool tell_allowed(exchange *x, const ab_host *rule,
			 const ab_address *to)
{
	if (x->told.family && ab_address_equal(&x->told, to))
		return true;
	x->told = *to;
	return ab_gw_tell_allowed(x->gw, "http", &x->target, rule, to);
}

static void connected(exchange *x, const ab_upstream_line *line)
{
	const ab_host *rule = NULL;

	if (ab_gw_judge_granted(x->gw, &x->target, x->is_granted, &rule) !=
		    AB_ALLOW_OK ||
	    !tell_allowed(x, rule, &line->address) ||
	    ab_watch_add(&x->gw->loop, &x->up, line->fd, EPOLLIN, on_up, x)) {
		ab_close_hard(line->fd);
		cut(x);
		return;
	}
	x->line = *line;
	begin_upstream(x);
}

static void on_dialled(void *arg, const ab_dial_result *r)
{
	exchange *x = arg;
	bool denied = r->reason == AB_DIAL_NOT_ALLOWED;
	const char *reason = denied ? ab_allow_reason_name(r->allow)
				    : ab_dial_reason_name(r->reason);

	x->dial = NULL;
	if (r->reason == AB_DIAL_OK)
		connected(x, &(ab_upstream_line){ r->fd, r->address,
						  x->gw->loop.now });
	else
		give_up(x, denied ? AB_GW_DENIED : AB_GW_FAILED,
			denied ? 403
			: r->reason == AB_DIAL_TIMEOUT ? 504 : 502, reason,
			denied ? ab_allow_reason_text(r->allow)
			       : "cannot be reached");
}

static void dial(exchange *x)
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
static bool find_target(exchange *x, const ab_http_head *h)
{
	uint16_t port = h->host.port ? h->host.port : AB_HTTP_PORT;
	ab_target *to = &x->target;

	*to = x->is_bound ? x->bound : h->host;
	to->port = x->is_bound ? x->bound.port : port;
	x->has_target = true;
	if (h->form == AB_HTTP_FORM_CONNECT)
		return give_up(x, AB_GW_DENIED, 403, "target_form",
			       "a tunnel inside of a connection");
	/* one connection reaches one host, whatever it asks for */
	if (port != to->port || !ab_target_same_host(&h->host, to))
		return give_up(x, AB_GW_DENIED, 403, "host_mismatch",
			       "another host than the connection's");
	/* as all that begins with no ClientHello (case 59) */
	return port != AB_TLS_PORT || ab_allow_is_tcp(&x->gw->allow, to) ||
	       give_up(x, AB_GW_DENIED, 403, "not_tls",
		       "port 443 is for TLS, which CONNECT leads to");
}

/* The target may be reached. */
static void send_on(exchange *x)
{
	ab_http_head *h = &x->c->in->head;
	ab_upstream_line line = { .fd = -1 };

	x->names = ab_gw_names(x->gw, &x->target);
	if (ab_gw_needs_tokens(x->gw, x->names)) {
		give_up(x, AB_GW_DENIED, 403, AB_TOKENS_UNTOLD,
			AB_TOKENS_UNTOLD_WHY);
		return;
	}
	if (!ab_client_hold(x->c, x->names) ||
	    !ab_gw_count_request(x->gw, x->names)) {
		give_up(x, AB_GW_DENIED, 429, "too_many", "too many requests");
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
		dial(x);
}

/* Recorded, and told with the host's name. */
static void refuse_target(exchange *x)
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
	exchange *x = arg;
	const ab_host *rule;

	x->is_granted = is_granted;
	if (ab_gw_judge_granted(x->gw, &x->target, is_granted, &rule) ==
	    AB_ALLOW_OK)
		send_on(x);
	else
		refuse_target(x);
}

static void take_request(exchange *x)
{
	enum ab_allow_reason allow;
	const ab_host *rule;

	x->in_request = true;
	ab_timer_set(&x->gw->loop, &x->c->timer, QUIET_MS, cut, x);
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

static void judge_request(exchange *x)
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
	give_up(x, AB_GW_DENIED, ab_http_reason_status(r),
		ab_http_reason_name(r), "the request is malformed");
}

static void read_request_body(exchange *x)
{
	ssize_t n = recv(x->c->fd, x->gw->scratch, AB_FLOW_PIECE, 0);
	size_t used;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		cut(x);
		return;
	}
	take_request_body(x, x->gw->scratch, (size_t)n, &used);
	/* a client that sends its next request before this one's answer */
	if (!x->is_ended && used < (size_t)n &&
	    !ab_client_ahead(x->c, x->gw->scratch + used, (size_t)n - used))
		cut(x);
}

static void on_box(void *arg, uint32_t events)
{
	exchange *x = arg;
	bool first = !x->c->in || x->c->in->len == 0;
	int n;

	if (x->in_request && (events & (EPOLLERR | EPOLLHUP)) &&
	    !(events & EPOLLIN)) {
		cut(x);
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

		end(x);
		ab_client_close(c);
		return;
	}
	if (first)
		ab_timer_set(&x->gw->loop, &x->c->timer, AB_HEAD_MS, cut, x);
	judge_request(x);
}

void ab_exchange_begin(ab_client *c, const ab_target *bound)
{
	exchange *x = ab_new(exchange);

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
	c->live.cut = cut;
	c->live.arg = x;
	ab_watch_hand(&c->watch, on_box, x);
	ab_timer_set(&c->gw->loop, &c->timer,
		     c->in && c->in->len ? AB_HEAD_MS : AB_IDLE_MS, cut, x);
	if (ab_watch_set(&c->gw->loop, &c->watch, EPOLLIN)) {
		cut(x);
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
