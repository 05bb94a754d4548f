/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of a request to a route and of its answer, both ways at once and
 * never held back: what one side gives is sent to the other before more is
 * read, so a slow reader slows its writer and nothing grows. Bodies are
 * taken out of their framing and framed anew. What of an answer's head could
 * be read in two ways ends it with 502. Gateway cases 70, 74, 81, 82, 87, 119.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "route_internal.h"

/* Pieces read from one side before others get their turn. */
#define TURNS 32

enum flow {
	STILL,	/* nothing can be done here now */
	MOVED,	/* something was */
	ENDED	/* the exchange is over, x is not to be touched */
};

static bool has(const ab_route_buffer *b)
{
	return b->at < b->len;
}

static size_t waiting(const ab_route_buffer *b)
{
	return b->len - b->at;
}

static enum flow fail(ab_route_exchange *x, enum ab_route_reason reason,
		      const char *code)
{
	ab_route_fail(x, reason, code, NULL);
	return ENDED;
}

/* The upstream's side does not go on. */
static enum flow upstream_failed(ab_route_exchange *x)
{
	ab_tls *tls = x->up->tls;

	if (ab_route_retry(x))
		return ENDED;
	ab_route_fail(x, AB_ROUTE_CUT, ab_tls_code(tls), ab_tls_why(tls));
	return ENDED;
}

/* What a TLS call that moved nothing waits for. */
static enum flow wait_for(ab_route_exchange *x, enum ab_tls_step step)
{
	if (step == AB_TLS_READ)
		x->up_wants_read = true;
	else
		x->up_wants_write = true;
	return STILL;
}

/* --- the request --------------------------------------------------------- */

static bool write_head(ab_route_exchange *x, ab_http_out *out)
{
	const ab_injected *injected = &x->state->injected;
	const ab_route *route = x->state->route;
	bool injects = route->spec.secret[0];
	/* what is packed could not be counted */
	const ab_http_extra extras[] = {
		{ "accept-encoding", "identity", 8 },
		{ route->spec.header, injected->value, injected->len }
	};
	ab_http_rewrite rewrite = {
		.host = &route->target,
		.default_port = 443,
		.path = x->verdict.path,
		.path_len = x->verdict.len,
		.strip_credentials = true,
		.upgrade = route->spec.flags & AB_ROUTE_WEBSOCKET,
		.extras = x->counts ? extras : extras + 1,
		.extra_count = (size_t)x->counts + injects,
	};

	/* the secret can have been taken away a moment ago */
	if (injects && !injected->value)
		return false;
	ab_route_fields(route, &rewrite.only, &rewrite.drop);
	return ab_http_write_request(out, &x->c->in->head, x->c->in->bytes,
				     &rewrite);
}

/*
 * The head is written anew for each attempt, into guarded memory and out of
 * it again, so that no connection holds the real credential. Its bytes are
 * the same each time: the secret of a connection does not change.
 */
static enum flow send_head(ab_route_exchange *x)
{
	ab_http_out out = { .p = x->routes->scratch,
			    .size = AB_ROUTE_SCRATCH };
	enum ab_tls_step step = AB_TLS_DONE;
	size_t put = 0;

	if (x->up->generation != x->state->generation ||
	    !write_head(x, &out)) {
		explicit_bzero(out.p, out.len);
		return fail(x, AB_ROUTE_NO_SECRET, NULL);
	}
	while (step == AB_TLS_DONE && x->head_sent < out.len) {
		step = ab_tls_write(x->up->tls, out.p + x->head_sent,
				    out.len - x->head_sent, &put);
		x->head_sent += put;
		x->up_total += put;
	}
	x->head_is_sent = x->head_sent == out.len;
	explicit_bzero(out.p, out.len);
	if (step == AB_TLS_END || step == AB_TLS_FAILED)
		return upstream_failed(x);
	if (step != AB_TLS_DONE)
		return wait_for(x, step);
	return MOVED;
}

static void put_up(ab_route_exchange *x, const char *p, size_t n)
{
	assert(n <= sizeof(x->up_bytes) - x->up_wait.len);
	memcpy(x->up_bytes + x->up_wait.len, p, n);
	x->up_wait.len += n;
}

static void frame_up(ab_route_exchange *x, const char *p, size_t n)
{
	char text[24];
	ab_http_out out = { .p = text, .size = sizeof(text) };

	ab_http_write_chunk(&out, n);
	put_up(x, text, out.len);
	put_up(x, p, n);
	put_up(x, "\r\n", 2);
}

/* Some of the body from what the client has sent. */
static enum flow take_chunked(ab_route_exchange *x, const char *p, size_t n)
{
	size_t used;
	size_t len;
	enum ab_chunk_reason reason =
		ab_chunk_read(&x->chunk, p, n, &used, &len);

	x->in_at += used;
	switch (reason) {
	case AB_CHUNK_MORE:
		return MOVED;
	case AB_CHUNK_DATA:
		frame_up(x, p + used - len, len);
		return MOVED;
	case AB_CHUNK_DONE:
		put_up(x, "0\r\n\r\n", 5);
		x->request_is_done = true;
		return MOVED;
	default:
		return fail(x, AB_ROUTE_BODY, ab_chunk_reason_name(reason));
	}
}

static enum flow take_body(ab_route_exchange *x)
{
	const char *p = x->c->in->bytes + x->in_at;
	size_t n = x->c->in->len - x->in_at;

	if (n > AB_ROUTE_PIECE)
		n = AB_ROUTE_PIECE;
	if (!x->is_socket && x->body == AB_HTTP_BODY_CHUNKED)
		return take_chunked(x, p, n);
	if (!x->is_socket) {
		n = n < x->body_left ? n : (size_t)x->body_left;
		x->body_left -= n;
		x->request_is_done = x->body_left == 0;
	}
	put_up(x, p, n);
	x->in_at += n;
	return MOVED;
}

static enum flow read_client(ab_route_exchange *x)
{
	ab_client_in *in = x->c->in;
	ssize_t n;

	/* the head is sent and nothing looks at it any more */
	in->len = x->in_at = 0;
	n = recv(x->c->fd, in->bytes, sizeof(in->bytes), MSG_DONTWAIT);
	if (n > 0) {
		in->len = (size_t)n;
		return MOVED;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		x->client_wants_read = true;
		return STILL;
	}
	ab_route_gone(x);
	return ENDED;
}

static enum flow flow_request(ab_route_exchange *x)
{
	size_t put;
	enum ab_tls_step step;

	if (!x->head_is_sent)
		return send_head(x);
	if (!has(&x->up_wait)) {
		if (x->request_is_done && !x->is_socket)
			return STILL;
		x->up_wait = (ab_route_buffer){ 0 };
		return x->in_at < x->c->in->len ? take_body(x) :
						  read_client(x);
	}
	step = ab_tls_write(x->up->tls, x->up_bytes + x->up_wait.at,
			    waiting(&x->up_wait), &put);
	x->up_wait.at += put;
	x->up_total += put;
	if (step == AB_TLS_END || step == AB_TLS_FAILED)
		return upstream_failed(x);
	return step == AB_TLS_DONE ? MOVED : wait_for(x, step);
}

/* --- the answer ---------------------------------------------------------- */

static void put_down(ab_route_exchange *x, const char *p, size_t n)
{
	assert(n <= sizeof(x->down_bytes) - x->down_wait.len);
	memcpy(x->down_bytes + x->down_wait.len, p, n);
	x->down_wait.len += n;
}

static void end_answer(ab_route_exchange *x)
{
	if (x->answer_body == AB_HTTP_BODY_CHUNKED && !x->is_old)
		put_down(x, "0\r\n\r\n", 5);
	x->answer_is_done = true;
}

static void begin_socket(ab_route_exchange *x)
{
	x->is_socket = true;
	x->request_is_done = false;
}

static enum flow begin_answer(ab_route_exchange *x)
{
	ab_http_rewrite rewrite = {
		.strip_credentials = true,
		.upgrade = x->state->route->spec.flags & AB_ROUTE_WEBSOCKET,
		.close = x->flags & AB_HTTP_CLOSE,
		.no_chunks = x->is_old,
	};
	ab_http_out out = { .p = x->down_bytes,
			    .size = sizeof(x->down_bytes) };

	assert(!has(&x->down_wait));
	if (!ab_route_mask(x->state, x->up, x->answer_bytes, x->answer.len))
		return fail(x, AB_ROUTE_ANSWER, "secret_replaced");
	if (!ab_http_write_response(&out, &x->answer, x->answer_bytes,
				    &rewrite))
		return fail(x, AB_ROUTE_ANSWER, "http_head_long");
	x->down_wait = (ab_route_buffer){ 0, out.len };
	x->answer_wait.at = x->answer.len;
	x->answer_has_head = x->has_begun = true;
	x->is_early = !x->request_is_done || has(&x->up_wait);
	x->answer_body = x->answer.body;
	x->answer_left = x->answer.length;
	x->until_close = x->answer_body == AB_HTTP_BODY_CLOSE ||
			 (x->answer_body == AB_HTTP_BODY_CHUNKED &&
			  x->is_old);
	if (x->answer.status == 101)
		begin_socket(x);
	else if (x->answer_body == AB_HTTP_BODY_NONE ||
		 (x->answer_body == AB_HTTP_BODY_LENGTH && !x->answer_left))
		x->answer_is_done = true;
	return MOVED;
}

/* 100 was ours to say, the others are of no use to anybody. */
static void drop_interim(ab_route_exchange *x)
{
	size_t rest = x->answer_wait.len - x->answer.len;

	memmove(x->answer_bytes, x->answer_bytes + x->answer.len, rest);
	x->answer_wait = (ab_route_buffer){ 0, rest };
	ab_http_head_init(&x->answer, AB_HTTP_RESPONSE);
}

static enum flow take_head(ab_route_exchange *x)
{
	enum ab_http_reason reason = ab_http_head_read(
		&x->answer, x->answer_bytes, x->answer_wait.len);

	if (reason == AB_HTTP_MORE)
		return STILL;
	if (reason == AB_HTTP_OK)
		reason = ab_http_response_judge(&x->answer, &x->exchange);
	if (reason != AB_HTTP_OK)
		return fail(x, AB_ROUTE_ANSWER, ab_http_reason_name(reason));
	if (x->answer.status >= 200 || x->answer.status == 101)
		return begin_answer(x);
	drop_interim(x);
	return MOVED;
}

static void frame_down(ab_route_exchange *x, const char *p, size_t n)
{
	char text[24];
	ab_http_out out = { .p = text, .size = sizeof(text) };

	if (x->is_old) {
		put_down(x, p, n);
		return;
	}
	ab_http_write_chunk(&out, n);
	put_down(x, text, out.len);
	put_down(x, p, n);
	put_down(x, "\r\n", 2);
}

static enum flow take_answer_chunk(ab_route_exchange *x, const char *p,
				   size_t n)
{
	size_t used;
	size_t len;
	enum ab_chunk_reason reason =
		ab_chunk_read(&x->answer_chunk, p, n, &used, &len);

	x->answer_wait.at += used;
	switch (reason) {
	case AB_CHUNK_MORE:
		return MOVED;
	case AB_CHUNK_DATA:
		if (x->counts)
			ab_usage_read(&x->usage, p + used - len, len);
		frame_down(x, p + used - len, len);
		return MOVED;
	case AB_CHUNK_DONE:
		end_answer(x);
		return MOVED;
	default:
		return fail(x, AB_ROUTE_ANSWER, ab_chunk_reason_name(reason));
	}
}

/* Some of the answer's body from what was read. */
static enum flow take_answer(ab_route_exchange *x)
{
	const char *p = x->answer_bytes + x->answer_wait.at;
	size_t n = waiting(&x->answer_wait);

	if (!x->is_socket && x->answer_body == AB_HTTP_BODY_CHUNKED)
		return take_answer_chunk(x, p, n);
	if (!x->is_socket && x->answer_body == AB_HTTP_BODY_LENGTH) {
		n = n < x->answer_left ? n : (size_t)x->answer_left;
		x->answer_left -= n;
	}
	if (x->counts)
		ab_usage_read(&x->usage, p, n);
	put_down(x, p, n);
	x->answer_wait.at += n;
	if (!x->is_socket && x->answer_body == AB_HTTP_BODY_LENGTH &&
	    x->answer_left == 0)
		x->answer_is_done = true;
	return MOVED;
}

/* The upstream has ended: right only where that is how an answer ends. */
static enum flow upstream_ended(ab_route_exchange *x)
{
	if (x->is_socket ||
	    (x->answer_has_head && x->answer_body == AB_HTTP_BODY_CLOSE)) {
		end_answer(x);
		return MOVED;
	}
	if (ab_route_retry(x))
		return ENDED;
	return fail(x, AB_ROUTE_CUT, NULL);
}

static enum flow read_upstream(ab_route_exchange *x)
{
	ab_route_buffer *wait = &x->answer_wait;
	size_t got;
	enum ab_tls_step step;

	if (x->answer_has_head)
		*wait = (ab_route_buffer){ 0 };
	/* 16 KiB of a body are framed in down_bytes; heads need their room */
	step = ab_tls_read(x->up->tls, x->answer_bytes + wait->len,
			   x->answer_has_head ?
				   AB_ROUTE_PIECE :
				   sizeof(x->answer_bytes) - wait->len,
			   &got);
	wait->len += got;
	if (step == AB_TLS_DONE) {
		x->has_heard = true;
		return MOVED;
	}
	if (step == AB_TLS_END)
		return upstream_ended(x);
	return step == AB_TLS_FAILED ? upstream_failed(x) : wait_for(x, step);
}

/* What came with the head goes with it: one piece, and one wake-up there. */
static enum flow take_first(ab_route_exchange *x)
{
	enum flow flow = take_head(x);

	if (flow != MOVED || !x->answer_has_head || x->answer_is_done ||
	    !has(&x->answer_wait) ||
	    waiting(&x->answer_wait) + AB_ROUTE_FRAME >
		    sizeof(x->down_bytes) - x->down_wait.len)
		return flow;
	return take_answer(x);
}

static enum flow flow_answer(ab_route_exchange *x)
{
	enum flow flow = STILL;

	if (!x->head_is_sent || x->answer_is_done || has(&x->down_wait))
		return STILL;
	x->down_wait = (ab_route_buffer){ 0 };
	if (has(&x->answer_wait))
		flow = x->answer_has_head ? take_answer(x) : take_first(x);
	return flow == STILL ? read_upstream(x) : flow;
}

static enum flow flow_down(ab_route_exchange *x)
{
	ssize_t n;

	if (x->must_continue && x->head_is_sent && !x->has_begun &&
	    !has(&x->down_wait)) {
		x->must_continue = false;
		x->down_wait = (ab_route_buffer){ 0 };
		put_down(x, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	}
	if (!has(&x->down_wait))
		return STILL;
	n = send(x->c->fd, x->down_bytes + x->down_wait.at,
		 waiting(&x->down_wait), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		x->down_wants_write = true;
		return STILL;
	}
	if (n < 0) {
		ab_route_gone(x);
		return ENDED;
	}
	x->down_wait.at += (size_t)n;
	x->down_total += (size_t)n;
	return MOVED;
}

/* What has gone both ways, against the budget; false: it is used up. */
static bool count(ab_route_exchange *x)
{
	uint64_t total = x->up_total + x->down_total;
	uint64_t fresh = total - x->counted;

	x->counted = total;
	ab_pace_take(&x->state->pace, fresh);
	return !fresh || ab_gw_count_bytes(x->routes->gw, x->state->names,
					   fresh);
}

/* --- what to wait for ---------------------------------------------------- */

static void stalled(void *arg)
{
	ab_route_exchange *x = arg;

	ab_route_fail(x, x->stall, NULL, NULL);
}

static void set_timer(ab_route_exchange *x)
{
	uint64_t ms = AB_ROUTE_ANSWER_MS;

	x->stall = AB_ROUTE_SLOW;
	if (x->is_socket) {
		ms = AB_ROUTE_SOCKET_MS;
	} else if (x->down_wants_write ||
		   (x->client_wants_read && !x->request_is_done)) {
		ms = AB_ROUTE_STALL_MS;
		x->stall = AB_ROUTE_STALLED;
	}
	ab_timer_set(ab_gw_loop(x->routes->gw), &x->timer, ms, stalled, x);
}

static void set_watches(ab_route_exchange *x)
{
	ab_loop *loop = ab_gw_loop(x->routes->gw);
	uint32_t down = EPOLLRDHUP;
	uint32_t up = 0;

	if (x->client_wants_read)
		down |= EPOLLIN;
	if (x->down_wants_write)
		down |= EPOLLOUT;
	if (x->up_wants_read)
		up |= EPOLLIN;
	if (x->up_wants_write)
		up |= EPOLLOUT;
	/* An error of the upstream is always reported. Where nobody wants to
	   hear of it yet that would spin: ask once, EPOLLET. */
	if (up == 0)
		up = EPOLLET;
	if (ab_watch_set(loop, &x->c->watch, down) < 0 ||
	    ab_watch_set(loop, &x->up->watch, up) < 0) {
		ab_route_fail(x, AB_ROUTE_MEMORY, NULL, NULL);
		return;
	}
	set_timer(x);
}

/* The rate of bytes is paid: on it goes. */
static void resume(void *arg)
{
	ab_route_exchange *x = arg;

	if (x->phase == AB_ROUTE_FLOWING)
		ab_route_pump(x);
}

void ab_route_pump(ab_route_exchange *x)
{
	ab_gw *gw = x->routes->gw;
	uint64_t names = x->state->names;
	ab_pace *pace = &x->state->pace;
	int turns = pace->per_second || ab_gw_is_paced(gw, names) ? 1 : TURNS;
	bool moved = true;

	/* the box's and the names' rates first, then the route's own */
	if (ab_gw_wait(gw, names, &x->paced, resume, x) ||
	    ab_pace_wait(pace, &x->paced, resume, x)) {
		x->up_wants_read = x->up_wants_write = false;
		x->down_wants_write = x->client_wants_read = false;
		set_watches(x);
		return;
	}
	for (int turn = 0; moved && turn < turns; turn++) {
		enum flow flow[3];

		x->up_wants_read = x->up_wants_write = false;
		x->down_wants_write = x->client_wants_read = false;
		flow[0] = flow_request(x);
		flow[1] = flow[0] == ENDED ? ENDED : flow_answer(x);
		flow[2] = flow[1] == ENDED ? ENDED : flow_down(x);
		if (flow[2] == ENDED)
			return;
		if (!count(x)) {
			ab_route_fail(x, AB_ROUTE_RATE, "budget", NULL);
			return;
		}
		if (x->answer_is_done && !has(&x->down_wait)) {
			ab_route_finish(x);
			return;
		}
		moved = flow[0] == MOVED || flow[1] == MOVED ||
			flow[2] == MOVED;
	}
	/* others get their turn: whatever can go on calls again at once */
	if (moved)
		x->up_wants_read = x->up_wants_write = x->down_wants_write =
			true;
	set_watches(x);
}
