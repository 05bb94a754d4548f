/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What upstream answers to a forwarded request: heads until the final one,
 * judged and written anew, and its body, out of its framing and into ours. A
 * granted upgrade to websocket becomes a tunnel. Spec: exchange.c, gateway
 * cases 79, 81, 82, 87.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "exchange.h"
#include "http_write.h"

/* What upstream says cannot be passed on. */
static void fail_upstream(ab_exchange *x, const char *reason)
{
	ab_exchange_give_up(x, AB_GW_FAILED, 502, reason,
			    "its answer was not accepted");
}

/* Both ways are free from now on. */
static void switch_protocols(ab_exchange *x)
{
	ab_client *c = x->c;
	ab_gw *gw = x->gw;
	ab_client_in *answer = x->answer, *in = c->in;
	int up_fd = x->line.fd, fd;

	if (x->to_box && !ab_out_flush(&x->to_box, c->fd)) {
		ab_exchange_cut(x);
		return;
	}
	/* a client that has not read one head does not read on either */
	if (x->to_box || x->to_up ||
	    (answer->len && send(c->fd, answer->bytes, answer->len,
				 MSG_NOSIGNAL) != (ssize_t)answer->len)) {
		ab_exchange_cut(x);
		return;
	}
	ab_watch_leave(&x->up);
	c->in = NULL;
	fd = ab_client_release(c);
	ab_tunnel_begin(gw, fd, up_fd, &x->target, "websocket", AB_GATE_NONE,
			in ? in->bytes : NULL, in ? in->len : 0);
	free(in);
	ab_exchange_end(x);
}

static bool write_answer(ab_exchange *x)
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

static void take_body(ab_exchange *x, const char *p, size_t n);

static void take_answer(ab_exchange *x)
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

static void take_body(ab_exchange *x, const char *p, size_t n)
{
	const char *why;
	size_t used;

	if (!ab_out_room(&x->to_box)) {
		ab_exchange_cut(x);
		return;
	}
	why = ab_flow_pass(&x->response, x->to_box, p, n, &used);
	if (why)
		fail_upstream(x, why);
	/* what comes behind the end of it is nobody's */
	else if (used < n)
		x->has_end = false;
}

bool ab_exchange_ask_again(ab_exchange *x)
{
	if (!x->is_kept)
		return false;
	x->is_kept = false;
	ab_exchange_drop(x);
	free(x->to_up);
	free(x->answer);
	x->to_up = NULL;
	x->answer = NULL;
	ab_exchange_dial(x);
	return true;
}

void ab_exchange_read_answer(ab_exchange *x)
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
	if (n <= 0 && ab_exchange_ask_again(x))
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
	if (!ab_exchange_account(x, (uint64_t)n))
		return;
	while (r == AB_HTTP_OK && !x->is_ended && x->answer && a->len) {
		r = ab_http_head_read(&a->head, a->bytes, a->len);
		if (r == AB_HTTP_OK)
			take_answer(x);
	}
	if (r != AB_HTTP_OK && r != AB_HTTP_MORE)
		fail_upstream(x, ab_http_reason_name(r));
}

void ab_exchange_read_body(ab_exchange *x)
{
	ssize_t n = recv(x->line.fd, x->gw->scratch, AB_FLOW_PIECE, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0 || (n == 0 && x->response.body != AB_HTTP_BODY_CLOSE)) {
		ab_exchange_cut(x);
		return;
	}
	if (n == 0) {
		x->response.done = true;
		return;
	}
	x->received += (uint64_t)n;
	if (ab_exchange_account(x, (uint64_t)n))
		take_body(x, x->gw->scratch, (size_t)n);
}
