/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request to a route from its verdict to its end: judged, recorded, given a
 * connection whose other end was verified, and only then sent. Refuses
 * whatever the table refuses, a route without its secret, and more than its
 * rate. Spec: route.h, DESIGN.md section 9.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "route_internal.h"

/* --- records -------------------------------------------------------------- */

/* "POST /v1/messages": never the query, which may hold anything. */
static void describe(const ab_route_verdict *v, const ab_client *c,
		     char out[256])
{
	const ab_http_head *head = &c->in->head;
	ab_http_out text = { .p = out, .size = 255 };

	ab_http_put(&text, c->in->bytes + head->method.at, head->method.len);
	ab_http_puts(&text, " ");
	ab_http_put(&text, v->path, v->query < 180 ? v->query : 180);
	out[text.len] = '\0';
}

static bool tell(ab_routes *routes, uint32_t kind, const ab_route *route,
		 const char *reason, const char *detail, bool required)
{
	char target[AB_TARGET_TEXT_SIZE] = "";
	ab_gw_record record = { .kind = kind, .how = "route",
				.target = target, .reason = reason,
				.detail = detail };

	if (route) {
		ab_target_text(&route->target, 0, target);
		record.rule = route->spec.prefix;
	}
	return ab_gw_tell(routes->gw, &record, required);
}

/* --- tokens --------------------------------------------------------------- */

/* More than common models take for one answer. */
#define UNTOLD (UINT64_C(1) << 21)

/* Has something been asked of the model, and not been refused by it? */
static bool was_asked(const ab_route_exchange *x)
{
	if (x->answer_has_head)
		return x->answer.status >= 200 && x->answer.status < 300;
	return x->head_is_sent && x->request_is_done && !x->is_lost;
}

/*
 * What it took, as it is over: an answer that does not say, or that was left
 * before it did, counts for more than any can take. `said` is "" where there
 * is nothing to say.
 */
static void count_tokens(ab_route_exchange *x, char said[80])
{
	uint64_t tokens = 0;
	bool is_told;

	said[0] = '\0';
	if (!x->counts || x->is_reading || !was_asked(x))
		return;
	is_told = ab_usage_told(&x->usage, x->answer_is_done, &tokens) ||
		  x->is_free;
	if (!is_told && tokens < UNTOLD)
		tokens = UNTOLD;
	ab_gw_count_tokens(x->routes->gw, x->state->names, tokens);
	snprintf(said, 80, "%" PRIu64 " tokens%s", tokens,
		 is_told ? "" : ", as the answer did not tell");
}

static void tell_end(ab_route_exchange *x, uint32_t kind, const char *reason,
		     const char *detail)
{
	char target[AB_TARGET_TEXT_SIZE], said[80], line[440];
	ab_gw_record record = { .kind = kind, .how = "route",
				.target = target, .reason = reason,
				.rule = x->state->route->spec.prefix,
				.detail = line, .up = x->up_total,
				.down = x->down_total };

	count_tokens(x, said);
	snprintf(line, sizeof(line), "%s%s%s", detail ? detail : "",
		 detail && said[0] ? "; " : "", said);
	ab_target_text(&x->state->route->target, 0, target);
	ab_gw_tell(x->routes->gw, &record, false);
}

/* --- the end -------------------------------------------------------------- */

static void exchange_free(void *arg)
{
	free(arg);
}

/* Our own answer, which says whose it is. */
static void answer(ab_client *c, enum ab_route_reason reason,
		   const char *code, const char *text)
{
	char line[400];

	snprintf(line, sizeof(line), "agentbox: %s", text);
	ab_client_refuse(c, ab_route_reason_status(reason), code, line);
}

/* Everything but the client, which the caller passes on. */
static void release(ab_route_exchange *x, bool keep)
{
	ab_loop *loop = ab_gw_loop(x->routes->gw);

	x->phase = AB_ROUTE_OVER;
	if (!--x->state->active)
		ab_route_settle(x->state);
	ab_timer_clear(loop, &x->timer);
	ab_paced_forget(&x->paced);
	ab_opening_cancel(&x->opening);
	if (x->up && keep)
		ab_upstream_keep(x->up);
	else
		ab_upstream_close(x->up);
	x->up = NULL;
	x->c->state = NULL;
	x->c->live.of = NULL;
	ab_client_let_go(x->c);
	x->c->up += x->up_total;
	x->c->down += x->down_total;
	ab_loop_later(loop, &x->later, exchange_free, x);
}

/* A close that the other side cannot take for an end of the data. */
static void reset_on_close(int fd)
{
	struct linger none = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

void ab_route_fail(ab_route_exchange *x, enum ab_route_reason reason,
		   const char *code, const char *text)
{
	ab_client *c = x->c;
	bool begun = x->has_begun;
	char line[340];

	if (x->phase == AB_ROUTE_OVER)
		return;
	if (!code)
		code = ab_route_reason_name(reason);
	if (!text)
		text = ab_route_reason_text(reason);
	x->is_lost = reason == AB_ROUTE_CUT && !x->has_heard;
	/* the text can be the TLS connection's, which goes now */
	snprintf(line, sizeof(line), "%s", text);
	tell_end(x, AB_GW_FAILED, code, line);
	release(x, false);
	if (!begun) {
		answer(c, reason, code, line);
		return;
	}
	reset_on_close(c->fd);
	ab_client_close(c);
}

void ab_route_gone(ab_route_exchange *x)
{
	ab_client *c = x->c;

	if (x->phase == AB_ROUTE_OVER)
		return;
	tell_end(x, AB_GW_CLOSED, "client_gone", NULL);
	release(x, false);
	ab_client_close(c);
}

static void route_cut(void *arg)
{
	ab_route_exchange *x = arg;
	ab_client *c = x->c;

	if (x->phase == AB_ROUTE_OVER)
		return;
	ab_live_remove(&c->live);
	if (x->up)
		reset_on_close(ab_tls_fd(x->up->tls));
	tell_end(x, AB_GW_CLOSED, "revoked", NULL);
	release(x, false);
	reset_on_close(c->fd);
	ab_client_close(c);
}

/* What came behind the request is the next one's. */
static void keep_rest(ab_route_exchange *x)
{
	ab_client_in *in = x->c->in;
	size_t rest = in->len - x->in_at;

	memmove(in->bytes, in->bytes + x->in_at, rest);
	in->len = rest;
	ab_http_head_init(&in->head, AB_HTTP_REQUEST);
}

/* May it be believed that the body was read? One that answers where it looks
   at none (GET, an error, or before all of it has come) may take its bytes for
   a request, and of that one the next head would be the body. */
static bool body_is_read(const ab_route_exchange *x)
{
	return !x->has_body ||
	       (!x->is_reading && !x->is_early && x->answer.status >= 200 &&
		x->answer.status < 300);
}

/* All of the request is there, and all of the answer was taken: what is sent
   next would be the rest of one body or be answered by that of the other. */
static bool may_keep(const ab_route_exchange *x)
{
	return x->request_is_done && x->head_is_sent && !x->until_close &&
	       !x->is_socket && !(x->answer.flags & AB_HTTP_CLOSE) &&
	       x->up_wait.at == x->up_wait.len &&
	       x->answer_wait.at == x->answer_wait.len && body_is_read(x);
}

void ab_route_finish(ab_route_exchange *x)
{
	ab_client *c = x->c;
	bool stays = x->request_is_done && !(x->flags & AB_HTTP_CLOSE) &&
		     !x->until_close && !x->is_socket;
	bool keep = may_keep(x);

	tell_end(x, AB_GW_CLOSED, "ok", NULL);
	if (stays)
		keep_rest(x);
	release(x, keep);
	if (stays)
		ab_client_next(c);
	else if (!x->request_is_done && !x->is_socket)
		ab_client_drain(c); /* an answer to the rest of an upload */
	else
		ab_client_close(c);
}

/* --- a connection --------------------------------------------------------- */

static void upstream_ready(void *arg, uint32_t events)
{
	ab_route_exchange *x = arg;

	(void)events;
	if (x->phase == AB_ROUTE_FLOWING)
		ab_route_pump(x);
}

static void opened(void *arg, ab_upstream *up, enum ab_route_reason reason,
		   const char *code, const char *text)
{
	ab_route_exchange *x = arg;

	if (!up) {
		ab_route_fail(x, reason, code, text);
		return;
	}
	x->up = up;
	ab_watch_hand(&up->watch, upstream_ready, x);
	x->phase = AB_ROUTE_FLOWING;
	ab_route_pump(x);
}

static bool connect_upstream(ab_route_exchange *x)
{
	x->phase = AB_ROUTE_OPENING_UP;
	return ab_opening_begin(&x->opening, x->routes, x->state, opened, x);
}

bool ab_route_retry(ab_route_exchange *x)
{
	if (!x->up->is_used || x->has_retried || x->has_heard ||
	    !x->is_reading || x->body != AB_HTTP_BODY_NONE)
		return false;
	x->has_retried = true;
	ab_upstream_close(x->up);
	x->up = NULL;
	x->head_sent = 0;
	x->head_is_sent = false;
	if (!connect_upstream(x))
		ab_route_fail(x, AB_ROUTE_MEMORY, NULL, NULL);
	return true;
}

/* --- the beginning -------------------------------------------------------- */

/* While nothing flows the client can only go. */
static void client_ready(void *arg, uint32_t events)
{
	ab_route_exchange *x = arg;

	if (x->phase == AB_ROUTE_OVER)
		return;
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
		/* what it sent before it went can be the rest of a request
		   whose answer is on its way: to nobody */
		ab_route_gone(x);
		return;
	}
	if (x->phase == AB_ROUTE_FLOWING)
		ab_route_pump(x);
}

/*
 * Requests of model APIs that are known to take none, and such as are carried
 * out later, of which no answer tells. By how the path ends, or a part of it.
 */
static const char *const without_tokens[] = {
	"/count_tokens", ":countTokens", "/input_tokens", "/moderations",
	"/cancel", NULL
};
/* A ":" can stay as it was spelled, and some servers do not care for case. */
static const char *const for_later[] = {
	"/batches", "/batch/jobs", ":batchGenerateContent",
	"%3AbatchGenerateContent", ":asyncBatchEmbedContent",
	"%3AasyncBatchEmbedContent", "/fine_tuning/jobs", "/realtime", NULL
};

static bool ends_with(const char *p, size_t n, const char *end, bool any_case)
{
	size_t len = strlen(end);

	if (n < len)
		return false;
	p += n - len;
	return any_case ? strncasecmp(p, end, len) == 0
			: memcmp(p, end, len) == 0;
}

/* Up to its end; wide: or to any "/" in it, and in any case. */
static bool is_of(const ab_route_verdict *v, const char *const *list,
		  bool wide)
{
	for (; *list; list++)
		for (size_t n = v->query; n > 0; n--) {
			bool is_part = n == v->query || v->path[n] == '/';

			if (is_part && ends_with(v->path, n, *list, wide))
				return true;
			if (!wide)
				break;
		}
	return false;
}

static bool is_method(const ab_client *c, const char *name)
{
	const ab_http_span *method = &c->in->head.method;

	return method->len == strlen(name) &&
	       !memcmp(c->in->bytes + method->at, name, method->len);
}

static bool counts(const ab_routes *routes, const ab_route_state *state)
{
	return (state->route->spec.flags & AB_ROUTE_MODEL) &&
	       ab_gw_counts_tokens(routes->gw, state->names);
}

/* Of a route that counts: OK, or why not. */
static enum ab_route_reason judge_tokens(const ab_routes *routes,
					 const ab_client *c,
					 const ab_route_state *state)
{
	/* both ways and without an end */
	if (c->in->head.flags & AB_HTTP_UPGRADE_WS)
		return AB_ROUTE_UNCOUNTED;
	if (ab_route_is_reading(c->in->bytes, c->in->head.method))
		return AB_ROUTE_OK;
	if (is_of(&routes->verdict, for_later, true))
		return AB_ROUTE_UNCOUNTED;
	return ab_gw_has_tokens(routes->gw, state->names) ? AB_ROUTE_OK
							  : AB_ROUTE_TOKENS;
}

static ab_route_exchange *exchange_new(ab_routes *routes, ab_client *c,
				       ab_route_state *state)
{
	const ab_http_head *head = &c->in->head;
	ab_route_exchange *x = ab_new(ab_route_exchange);

	if (!x)
		return NULL;
	x->c = c;
	x->routes = routes;
	x->state = state;
	x->verdict = routes->verdict;
	x->exchange.is_head = head->flags & AB_HTTP_IS_HEAD;
	x->exchange.wants_upgrade = head->flags & AB_HTTP_UPGRADE_WS;
	x->is_reading = ab_route_is_reading(c->in->bytes, head->method);
	x->counts = counts(routes, state);
	x->is_free = is_method(c, "DELETE") ||
		     is_of(&routes->verdict, without_tokens, false);
	x->flags = head->flags;
	x->is_old = head->minor == 0;
	x->body = head->body;
	x->body_left = head->length;
	x->request_is_done = head->body == AB_HTTP_BODY_NONE ||
			     (head->body == AB_HTTP_BODY_LENGTH &&
			      head->length == 0);
	x->has_body = !x->request_is_done;
	x->must_continue = (head->flags & AB_HTTP_CONTINUE) && !x->is_old &&
			   !x->request_is_done;
	x->in_at = head->len;
	ab_http_head_init(&x->answer, AB_HTTP_RESPONSE);
	return x;
}

static enum ab_route_reason may_begin(const ab_routes *routes, ab_client *c,
				      ab_route_state *state)
{
	const ab_wire_route *spec = &state->route->spec;
	enum ab_route_reason tokens = AB_ROUTE_OK;

	if (state->is_removed)
		return AB_ROUTE_REMOVED;
	if (spec->secret[0] && !state->injected.value)
		return AB_ROUTE_NO_SECRET;
	if ((spec->connections && state->active >= spec->connections) ||
	    !ab_client_hold(c, state->names))
		return AB_ROUTE_CONNECTIONS;
	if (!(spec->flags & AB_ROUTE_MODEL) &&
	    ab_gw_needs_tokens(routes->gw, state->names))
		return AB_ROUTE_UNCOUNTED;
	if (counts(routes, state))
		tokens = judge_tokens(routes, c, state);
	if (tokens != AB_ROUTE_OK)
		return tokens;
	/* with nothing left of the bytes' budget not one more goes */
	if (!ab_gw_count_bytes(routes->gw, state->names, 0) ||
	    !ab_gw_count_request(routes->gw, state->names) ||
	    !ab_route_take(state, ab_gw_loop(routes->gw)->now))
		return AB_ROUTE_RATE;
	return AB_ROUTE_OK;
}

static void refuse(ab_routes *routes, ab_client *c,
		   enum ab_route_reason reason)
{
	const ab_route_verdict *v = &routes->verdict;
	const char *code = reason == AB_ROUTE_PATH ?
				   ab_path_reason_name(v->path_reason) :
				   ab_route_reason_name(reason);
	char detail[256];

	describe(v, c, detail);
	tell(routes, AB_GW_DENIED, v->route, code, detail, false);
	answer(c, reason, code, ab_route_reason_text(reason));
}

static void begin(ab_routes *routes, ab_client *c, ab_route_state *state)
{
	ab_loop *loop = ab_gw_loop(routes->gw);
	ab_route_exchange *x;
	char detail[256];

	describe(&routes->verdict, c, detail);
	if (!tell(routes, AB_GW_ALLOWED, state->route, "ok", detail, true) ||
	    !(x = exchange_new(routes, c, state))) {
		answer(c, AB_ROUTE_MEMORY, "not_recorded",
		       "the request could not be recorded");
		return;
	}
	state->active++;
	c->state = x;
	c->live.cut = route_cut;
	c->live.arg = x;
	c->live.of = state;
	ab_timer_clear(loop, &c->timer);
	ab_watch_hand(&c->watch, client_ready, x);
	if (ab_watch_set(loop, &c->watch, EPOLLRDHUP) < 0) {
		ab_route_fail(x, AB_ROUTE_MEMORY, NULL, NULL);
		return;
	}
	x->up = ab_upstream_take(state);
	if (x->up) {
		ab_watch_hand(&x->up->watch, upstream_ready, x);
		x->phase = AB_ROUTE_FLOWING;
		ab_route_pump(x);
	} else if (!connect_upstream(x)) {
		ab_route_fail(x, AB_ROUTE_MEMORY, NULL, NULL);
	}
}

bool ab_route_serve(ab_gw *gw, ab_client *c)
{
	ab_routes *routes = ab_gw_routes(gw);
	enum ab_route_reason reason;

	if (!routes)
		return false;
	reason = ab_route_judge(&routes->table, &c->in->head, c->in->bytes,
				&routes->verdict);
	/* a path that could be read in two ways is nobody's */
	if (reason == AB_ROUTE_NONE || reason == AB_ROUTE_FORM)
		return false;
	if (!c->with_key)
		reason = AB_ROUTE_NO_KEY;
	else if (reason == AB_ROUTE_OK)
		reason = may_begin(routes, c, ab_route_state_of(
			routes, routes->verdict.route));
	if (reason != AB_ROUTE_OK) {
		refuse(routes, c, reason);
		return true;
	}
	begin(routes, c, ab_route_state_of(routes, routes->verdict.route));
	return true;
}
