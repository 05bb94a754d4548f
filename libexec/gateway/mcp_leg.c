/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One request of ours to a server of tools, over a verified connection of its
 * own: every field of its head is ours, the credential is put in at the last
 * moment, redirects are not followed. Of the answer only messages get
 * further, each read strictly; what is malformed, too large or too late is an
 * error for who asked. Spec: mcp_internal.h, gateway cases 64, 84, 125, 136.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/json.h"
#include "mcp_head.h"
#include "mcp_internal.h"

#define TURNS 32

/* --- the end -------------------------------------------------------------- */

static void leg_free(void *arg)
{
	ab_mcp_leg *l = arg;

	json_decref(l->message);
	agentbox_bytes_free(l->frame);
	free(l->answer);
	free(l);
}

void ab_mcp_leg_drop(ab_mcp_leg *l)
{
	ab_loop *loop = ab_gw_loop(l->mcps->gw);

	if (l->phase == AB_MCP_LEG_OVER)
		return;
	l->phase = AB_MCP_LEG_OVER;
	if (l->session) {
		*l->back = l->next;
		if (l->next)
			l->next->back = l->back;
	}
	ab_timer_clear(loop, &l->quiet);
	ab_timer_clear(loop, &l->deadline);
	ab_paced_forget(&l->paced);
	ab_live_remove(&l->live);
	ab_opening_cancel(&l->opening);
	ab_upstream_close(l->up);
	l->up = NULL;
	ab_mcp_bytes_end(l->mcps, &l->in);
	l->mcps->held -= l->held;
	l->mcps->legs--;
	ab_loop_later(loop, &l->later, leg_free, l);
}

static void tell(const ab_mcp_leg *l, uint32_t kind, const char *code,
		 const char *text)
{
	char target[AB_TARGET_TEXT_SIZE];
	ab_gw_record record = { .kind = kind, .how = "mcp", .target = target,
				.reason = code,
				.rule = l->state->route->spec.prefix,
				.detail = text, .up = l->up_total,
				.down = l->down_total };

	ab_target_text(&l->state->route->target, 0, target);
	ab_gw_tell(l->mcps->gw, &record, false);
}

/* Everybody is told: who asked, and whose message it was. */
static void end(ab_mcp_leg *l, const char *code, const char *text)
{
	ab_mcp_session *s = l->session;
	uint64_t scope = l->scope;
	char line[340];
	ab_mcp_post *p;

	if (l->phase == AB_MCP_LEG_OVER)
		return;
	snprintf(line, sizeof(line), "agentbox: %s", text ? text : "");
	tell(l, code ? AB_GW_FAILED : AB_GW_CLOSED, code ? code : "ok",
	     code ? line + 10 : NULL);
	ab_mcp_leg_drop(l);
	if (!s || s->is_over)
		return;
	if (l->is_request && !l->is_answered) {
		ab_mcp_session_lost(s, json_object_get(l->message, "id"),
				    line, code ? code : "upstream_cut");
		ab_mcp_session_pump(s);
	}
	p = ab_mcp_session_post(s, scope);
	if (!p)
		return;
	if (l->verb == AB_MCP_HTTP_POST)
		ab_mcp_post_leg_done(p, code);
	else if (p->phase == AB_MCP_POST_WAITING)
		ab_mcp_post_fail(p, l->status == 405 ? 405 : 502,
				 code ? code : "upstream_cut",
				 "the server has no stream");
	else
		ab_mcp_post_stream_end(p);
}

static void fail(ab_mcp_leg *l, enum ab_route_reason reason, const char *code,
		 const char *text)
{
	end(l, code ? code : ab_route_reason_name(reason),
	    text ? text : ab_route_reason_text(reason));
}

static void on_quiet(void *arg)
{
	fail(arg, AB_ROUTE_SLOW, NULL, NULL);
}

static void leg_cut(void *arg)
{
	ab_mcp_leg_drop(arg);
}

static void set_quiet(ab_mcp_leg *l)
{
	ab_timer_set(ab_gw_loop(l->mcps->gw), &l->quiet,
		     l->verb == AB_MCP_HTTP_GET ? AB_MCP_STREAM_MS :
		     l->is_request		? AB_MCP_QUIET_MS :
						  AB_MCP_BODY_MS,
		     on_quiet, l);
}

/* --- messages of the server ----------------------------------------------- */

static bool answers(json_t *value, const json_t *id)
{
	ab_mcp_message message;

	ab_mcp_sort(value, &message);
	return message.kind == AB_MCP_RESPONSE && id &&
	       json_equal(message.id, (json_t *)(uintptr_t)id);
}

/* Is the answer among them? The guard takes a batch of 2025-03-26 alone. */
static bool has_answer(const ab_mcp_leg *l, json_t *value)
{
	const json_t *id = json_object_get(l->message, "id");
	json_t *v;
	size_t i;

	if (!json_is_array(value))
		return answers(value, id);
	json_array_foreach(value, i, v)
		if (l->version == AB_MCP_2025_03_26 && answers(v, id))
			return true;
	return false;
}

/* false: the leg is over. */
static bool feed(ab_mcp_leg *l, const char *p, size_t n)
{
	ab_auto(json_t) *value = NULL;
	const char *why;

	/* it may hold what nobody knows any more to mask */
	if (l->up->generation + AB_ROUTE_EARLIER < l->state->generation) {
		fail(l, AB_ROUTE_ANSWER, "secret_replaced", NULL);
		return false;
	}
	if (ab_mcp_read(p, n, &value, &why) < 0) {
		fail(l, AB_ROUTE_ANSWER, "upstream_message",
		     "the server sent something that is no message");
		return false;
	}
	if (l->is_request && has_answer(l, value))
		l->is_answered = true;
	ab_mcp_session_take(l->session, AGENTBOX_MCP_SERVER, l->scope, value);
	if (l->phase == AB_MCP_LEG_OVER)
		return false;
	if (!l->is_answered)
		return true;
	end(l, NULL, NULL);
	return false;
}

static bool take_json(ab_mcp_leg *l, const char *p, size_t n)
{
	if (!ab_mcp_room(l->mcps, &l->in, n, AGENTBOX_MCP_FRAME_MAX)) {
		fail(l, AB_ROUTE_ANSWER, "upstream_long",
		     "the server's answer is too large");
		return false;
	}
	memcpy(l->in.p + l->in.len, p, n);
	l->in.len += n;
	return true;
}

static bool take_event(ab_mcp_leg *l)
{
	const ab_sse *sse = &l->sse;
	bool is_message = !sse->type[0] || !strcmp(sse->type, "message");

	/* one without data is for who resumes, which nobody does here */
	return !is_message || !sse->len || feed(l, sse->data, sse->len);
}

static bool take_events(ab_mcp_leg *l, const char *p, size_t n)
{
	enum ab_sse_reason reason = AB_SSE_EVENT;
	size_t used;

	/* each byte that comes is at most one of the event */
	l->in.len = l->sse.len;
	if (!ab_mcp_room(l->mcps, &l->in, n, AGENTBOX_MCP_FRAME_MAX)) {
		fail(l, AB_ROUTE_ANSWER, "upstream_long",
		     "the server's event is too large");
		return false;
	}
	l->sse.data = l->in.p;
	l->sse.size = l->in.size;
	while (reason == AB_SSE_EVENT) {
		reason = ab_sse_read(&l->sse, p, n, &used);
		p += used;
		n -= used;
		if (reason == AB_SSE_EVENT && !take_event(l))
			return false;
	}
	if (reason != AB_SSE_MORE) {
		fail(l, AB_ROUTE_ANSWER, "upstream_event",
		     "the server's events are malformed");
		return false;
	}
	if (l->sse.len)
		return true;
	/* nothing is held between two events */
	ab_mcp_bytes_end(l->mcps, &l->in);
	l->sse.data = NULL;
	l->sse.size = 0;
	return true;
}

static bool take_data(ab_mcp_leg *l, const char *p, size_t n)
{
	return l->phase == AB_MCP_LEG_JSON ? take_json(l, p, n)
					   : take_events(l, p, n);
}

/* The answer is whole. */
static void whole(ab_mcp_leg *l)
{
	if (l->phase == AB_MCP_LEG_JSON && !feed(l, l->in.p ? l->in.p : "",
						 l->in.len))
		return;
	if (l->is_request && !l->is_answered)
		fail(l, AB_ROUTE_CUT, NULL,
		     "the server ended without an answer");
	else
		end(l, NULL, NULL);
}

/* --- the body ------------------------------------------------------------- */

static bool take_chunked(ab_mcp_leg *l, const char *p, size_t n)
{
	while (n) {
		size_t used, len;
		enum ab_chunk_reason reason = ab_chunk_read(&l->chunk, p, n,
							    &used, &len);

		if (reason == AB_CHUNK_DATA &&
		    !take_data(l, p + used - len, len))
			return false;
		p += used;
		n -= used;
		if (reason == AB_CHUNK_DONE) {
			whole(l);
			return false;
		}
		if (reason != AB_CHUNK_DATA && reason != AB_CHUNK_MORE) {
			fail(l, AB_ROUTE_ANSWER, ab_chunk_reason_name(reason),
			     NULL);
			return false;
		}
	}
	return true;
}

static bool take_body(ab_mcp_leg *l, const char *p, size_t n)
{
	if (l->body == AB_HTTP_BODY_CHUNKED)
		return take_chunked(l, p, n);
	if (l->body == AB_HTTP_BODY_LENGTH && n > l->body_left)
		n = (size_t)l->body_left;
	if (n && !take_data(l, p, n))
		return false;
	l->body_left -= l->body == AB_HTTP_BODY_LENGTH ? n : 0;
	if (l->body == AB_HTTP_BODY_NONE ||
	    (l->body == AB_HTTP_BODY_LENGTH && !l->body_left)) {
		whole(l);
		return false;
	}
	return true;
}

/* --- the answer's head ---------------------------------------------------- */

/* The session is known by it from now on. */
static bool take_server_id(ab_mcp_leg *l)
{
	const ab_client_in *a = l->answer;
	ab_http_span id = { 0 };
	unsigned n = ab_mcp_find_field(&a->head, a->bytes, "mcp-session-id",
				       &id);

	if (n == 0 || !l->session->id[0] || l->session->is_greeted)
		return true;
	if (n > 1 || id.len > AB_MCP_SESSION_MAX ||
	    !ab_mcp_is_visible(a->bytes + id.at, id.len)) {
		fail(l, AB_ROUTE_ANSWER, "upstream_session_id",
		     "the server's session has no usable name");
		return false;
	}
	memcpy(l->session->server_id, a->bytes + id.at, id.len);
	l->session->server_id[id.len] = '\0';
	return true;
}

/* What the status and the type say; false: the leg is over. */
static bool judge_answer(ab_mcp_leg *l)
{
	const ab_client_in *a = l->answer;
	bool good = l->status >= 200 && l->status < 300;
	enum ab_mcp_content content = ab_mcp_content_of(&a->head, a->bytes);

	if (!l->session) {
		end(l, NULL, NULL);
		return false;
	}
	if (l->status == 404 && l->server_id[0] && l->session->id[0]) {
		tell(l, AB_GW_FAILED, "upstream_session",
		     "the server does not know the session any more");
		ab_mcp_session_end(l->session, "mcp_no_session");
		return false;
	}
	if (good && !l->is_request && l->verb == AB_MCP_HTTP_POST) {
		end(l, NULL, NULL);
		return false;
	}
	/* an error of the protocol can come with the status of one */
	if (good && content == AB_MCP_CONTENT_EVENTS)
		l->phase = AB_MCP_LEG_EVENTS;
	else if (content == AB_MCP_CONTENT_JSON && l->is_request &&
		 (good || l->status >= 400))
		l->phase = AB_MCP_LEG_JSON;
	else
		fail(l, AB_ROUTE_ANSWER,
		     good ? "upstream_type" :
		     l->status < 400 ? "upstream_redirect" : "upstream_status",
		     good ? "the server's answer is neither JSON nor events" :
		     l->status < 400 ? "the server leads elsewhere, where "
				       "nobody follows" :
				       "the server refuses the request");
	return l->phase != AB_MCP_LEG_OVER;
}

static bool take_head(ab_mcp_leg *l)
{
	ab_client_in *a = l->answer;
	bool ok;

	l->status = a->head.status;
	l->body = a->head.body;
	l->body_left = a->head.length;
	if (!judge_answer(l) ||
	    (l->verb == AB_MCP_HTTP_POST && !take_server_id(l)))
		return false;
	if (l->verb == AB_MCP_HTTP_GET) {
		ab_mcp_post *p = ab_mcp_session_post(l->session, l->scope);

		if (p)
			ab_mcp_post_stream(p);
		if (l->phase == AB_MCP_LEG_OVER)
			return false;
	}
	/* the leg's memory outlives this turn, and the answer's with it */
	ok = take_body(l, a->bytes + a->head.len, a->len - a->head.len);
	if (ok) {
		free(a);
		l->answer = NULL;
	}
	return ok;
}

static void drop_interim(ab_client_in *a)
{
	a->len -= a->head.len;
	memmove(a->bytes, a->bytes + a->head.len, a->len);
	ab_http_head_init(&a->head, AB_HTTP_RESPONSE);
}

/* More of the head is there; false: the leg is over. */
static bool read_heads(ab_mcp_leg *l)
{
	ab_client_in *a = l->answer;
	enum ab_http_reason reason = AB_HTTP_OK;

	while (reason == AB_HTTP_OK && a->len) {
		reason = ab_http_head_read(&a->head, a->bytes, a->len);
		if (reason == AB_HTTP_OK)
			reason = ab_http_response_judge(&a->head,
							&l->exchange);
		if (reason == AB_HTTP_OK && a->head.status >= 200)
			return take_head(l);
		if (reason == AB_HTTP_OK)
			drop_interim(a);
	}
	if (reason == AB_HTTP_MORE && a->len == sizeof(a->bytes))
		reason = AB_HTTP_HEAD_LONG;
	if (reason == AB_HTTP_MORE || reason == AB_HTTP_OK)
		return true;
	fail(l, AB_ROUTE_ANSWER, ab_http_reason_name(reason), NULL);
	return false;
}

/* --- bytes ---------------------------------------------------------------- */

enum flow { MOVED, READ, WRITE, ENDED };

static enum flow flow_of(ab_mcp_leg *l, enum ab_tls_step step)
{
	ab_tls *tls = l->up->tls;

	switch (step) {
	case AB_TLS_DONE:
		return MOVED;
	case AB_TLS_READ:
		return READ;
	case AB_TLS_WRITE:
		return WRITE;
	case AB_TLS_END:
		break;
	case AB_TLS_FAILED:
		fail(l, AB_ROUTE_CUT, ab_tls_code(tls), ab_tls_why(tls));
		return ENDED;
	}
	if (l->phase >= AB_MCP_LEG_JSON && l->body == AB_HTTP_BODY_CLOSE)
		whole(l);
	else
		fail(l, AB_ROUTE_CUT, NULL, NULL);
	return ENDED;
}

/* The head is written anew for each attempt, and is nowhere in between. */
static enum flow send_head(ab_mcp_leg *l)
{
	ab_http_out out = { .p = ab_gw_routes(l->mcps->gw)->scratch,
			    .size = AB_ROUTE_SCRATCH };
	enum ab_tls_step step;
	size_t put;

	if (l->up->generation != l->state->generation ||
	    !ab_mcp_write_head(&out, l)) {
		explicit_bzero(out.p, out.len);
		if (out.full)
			fail(l, AB_ROUTE_LONG, "mcp_head_long",
			     "what the server wants in the head is too long");
		else
			fail(l, AB_ROUTE_NO_SECRET, NULL, NULL);
		return ENDED;
	}
	step = ab_tls_write(l->up->tls, out.p + l->sent, out.len - l->sent,
			    &put);
	l->sent += put;
	l->up_total += put;
	if (l->sent == out.len) {
		l->head_is_sent = true;
		l->sent = 0;
	}
	explicit_bzero(out.p, out.len);
	return flow_of(l, step);
}

static enum flow send_frame(ab_mcp_leg *l)
{
	size_t n = l->frame ? agentbox_bytes_get_size(l->frame) : 0, put;
	enum ab_tls_step step;

	if (l->sent == n) {
		agentbox_bytes_free(l->frame);
		l->frame = NULL;
		l->phase = AB_MCP_LEG_HEAD;
		return MOVED;
	}
	step = ab_tls_write(l->up->tls,
			    (const char *)agentbox_bytes_get_data(l->frame) +
				    l->sent, n - l->sent, &put);
	l->sent += put;
	l->up_total += put;
	return flow_of(l, step);
}

static enum flow read_head(ab_mcp_leg *l)
{
	ab_client_in *a = l->answer;
	size_t got;
	enum ab_tls_step step = ab_tls_read(l->up->tls, a->bytes + a->len,
					    sizeof(a->bytes) - a->len, &got);

	a->len += got;
	l->down_total += got;
	if (step != AB_TLS_DONE)
		return flow_of(l, step);
	return read_heads(l) ? MOVED : ENDED;
}

static enum flow read_body(ab_mcp_leg *l)
{
	char piece[AB_ROUTE_PIECE];
	size_t got;
	enum ab_tls_step step = ab_tls_read(l->up->tls, piece, sizeof(piece),
					    &got);

	l->down_total += got;
	if (step != AB_TLS_DONE)
		return flow_of(l, step);
	return take_body(l, piece, got) ? MOVED : ENDED;
}

static enum flow step(ab_mcp_leg *l)
{
	switch ((enum ab_mcp_leg_phase)l->phase) {
	case AB_MCP_LEG_SENDING:
		return l->head_is_sent ? send_frame(l) : send_head(l);
	case AB_MCP_LEG_HEAD:
		return read_head(l);
	case AB_MCP_LEG_JSON:
	case AB_MCP_LEG_EVENTS:
		return read_body(l);
	case AB_MCP_LEG_OPENING:
	case AB_MCP_LEG_OVER:
		break;
	}
	return ENDED;
}

/* The box has not taken what it was sent. */
static bool box_is_full(const ab_mcp_leg *l)
{
	const ab_mcp_post *p = l->session ?
		ab_mcp_session_post(l->session, l->scope) : NULL;

	return p && p->out.len - p->out.at > AB_MCP_HIGH;
}

static void wait_for(ab_mcp_leg *l, enum flow flow)
{
	/* EPOLLET asks once where nobody wants to hear of an error yet */
	uint32_t events = l->is_paused	? (uint32_t)EPOLLET :
			  flow == READ	? (uint32_t)EPOLLIN :
			  flow == WRITE ? (uint32_t)EPOLLOUT :
					  (uint32_t)(EPOLLIN | EPOLLOUT);

	if (ab_watch_set(ab_gw_loop(l->mcps->gw), &l->up->watch, events) < 0)
		fail(l, AB_ROUTE_MEMORY, NULL, NULL);
}

/* The rate of bytes is paid: on it goes. */
static void paid(void *arg)
{
	ab_mcp_leg_resume(arg);
}

static void pump(ab_mcp_leg *l)
{
	ab_gw *gw = l->mcps->gw;
	int turns = ab_gw_is_paced(gw, l->state->names) ? 1 : TURNS;
	uint64_t moved = l->up_total + l->down_total;
	enum flow flow = MOVED;
	bool paid_for;

	for (int turn = 0; flow == MOVED && turn < turns; turn++) {
		l->is_paused = box_is_full(l) ||
			       ab_gw_wait(gw, l->state->names, &l->paced,
					  paid, l);
		if (l->is_paused)
			break;
		flow = step(l);
	}
	/* the leg's memory outlives this turn: a whole answer is counted */
	moved = l->up_total + l->down_total - moved;
	paid_for = !moved || ab_gw_count_bytes(gw, l->state->names, moved);
	if (flow == ENDED)
		return;
	if (!paid_for) {
		fail(l, AB_ROUTE_RATE, "budget", NULL);
		return;
	}
	if (moved)
		set_quiet(l);
	wait_for(l, flow);
}

void ab_mcp_leg_resume(ab_mcp_leg *l)
{
	if (l->phase != AB_MCP_LEG_OVER && l->up)
		pump(l);
}

static void on_upstream(void *arg, uint32_t events)
{
	ab_mcp_leg *l = arg;

	(void)events;
	if (l->phase != AB_MCP_LEG_OVER && !l->is_paused)
		pump(l);
}

/* --- the beginning -------------------------------------------------------- */

static void opened(void *arg, ab_upstream *up, enum ab_route_reason reason,
		   const char *code, const char *text)
{
	ab_mcp_leg *l = arg;

	if (!up) {
		fail(l, reason, code, text);
		return;
	}
	l->up = up;
	ab_watch_hand(&up->watch, on_upstream, l);
	/* with nothing left not a byte more goes */
	if (!ab_gw_count_bytes(l->mcps->gw, l->state->names, 0)) {
		fail(l, AB_ROUTE_RATE, "budget", NULL);
		return;
	}
	l->phase = AB_MCP_LEG_SENDING;
	l->answer = ab_calloc(1, sizeof(*l->answer));
	if (!l->answer) {
		fail(l, AB_ROUTE_MEMORY, NULL, NULL);
		return;
	}
	ab_http_head_init(&l->answer->head, AB_HTTP_RESPONSE);
	set_quiet(l);
	pump(l);
}

static ab_mcp_leg *leg_new(ab_mcp_session *s, enum ab_mcp_http_verb verb)
{
	ab_mcps *mcps = s->server->mcps;
	ab_mcp_leg *l = mcps->legs < AB_MCP_LEGS_MAX ? ab_new(ab_mcp_leg)
						     : NULL;

	if (!l)
		return NULL;
	mcps->legs++;
	l->mcps = mcps;
	l->state = s->server->state;
	l->verb = (uint8_t)verb;
	l->version = (uint8_t)ab_mcp_settled(s->guard);
	memcpy(l->server_id, s->server_id, sizeof(l->server_id));
	ab_live_add(mcps->gw, &l->live, leg_cut, l);
	l->live.of = l->state;
	return l;
}

static void listen_to(ab_mcp_leg *l, ab_mcp_session *s, uint64_t scope)
{
	l->session = s;
	l->scope = scope;
	l->next = s->legs;
	l->back = &s->legs;
	if (l->next)
		l->next->back = &l->next;
	s->legs = l;
}

static bool begin(ab_mcp_leg *l)
{
	if (ab_opening_begin(&l->opening, ab_gw_routes(l->mcps->gw), l->state,
			     opened, l))
		return true;
	ab_mcp_leg_drop(l);
	return false;
}

bool ab_mcp_leg_post(ab_mcp_session *s, ab_mcp_frame *frame)
{
	ab_mcp_post *p = ab_mcp_session_post(s, frame->scope);
	size_t held = 2 * agentbox_bytes_get_size(frame->bytes);
	ab_mcps *mcps = s->server->mcps;
	ab_mcp_leg *l = held <= AB_MCP_HELD_MAX - mcps->held ?
			leg_new(s, AB_MCP_HTTP_POST) : NULL;

	if (!l)
		return false;
	/* as text and as values */
	l->held = held;
	mcps->held += held;
	l->message = ab_steal(&frame->message);
	l->frame = ab_steal(&frame->bytes);
	l->is_request = json_object_get(l->message, "method") &&
			json_object_get(l->message, "id");
	listen_to(l, s, frame->scope);
	if (l->is_request)
		ab_timer_set(ab_gw_loop(l->mcps->gw), &l->deadline,
			     AB_MCP_CALL_MS, on_quiet, l);
	if (!begin(l))
		return false;
	if (p)
		p->legs++;
	return true;
}

bool ab_mcp_leg_stream(ab_mcp_session *s, uint64_t scope)
{
	ab_mcp_leg *l = leg_new(s, AB_MCP_HTTP_GET);

	if (!l)
		return false;
	listen_to(l, s, scope);
	return begin(l);
}

void ab_mcp_leg_delete(ab_mcp_session *s)
{
	ab_mcp_leg *l = leg_new(s, AB_MCP_HTTP_DELETE);

	if (l)
		(void)begin(l);
}
