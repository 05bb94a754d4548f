/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request of the box: its body is read whole, compared with its head, and
 * handed to the guard of its session; a stream waits for what the server says
 * by itself. Who goes before he was answered waits for nothing any more.
 * Spec: mcp_internal.h, mcp_http.h.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/json.h"
#include "mcp_internal.h"

/* --- the end -------------------------------------------------------------- */

static void leave(ab_mcp_post *p)
{
	ab_mcp_session *s = p->session;

	if (!s)
		return;
	*p->back = p->next;
	if (p->next)
		p->next->back = p->back;
	if (s->stream == p)
		s->stream = NULL;
	ab_ask_forget(&p->asked);
	p->session = NULL;
}

void ab_mcp_post_last(ab_mcp_post *p)
{
	leave(p);
	p->phase = AB_MCP_POST_LAST;
}

void ab_mcp_post_release(ab_mcp_post *p)
{
	ab_mcps *mcps = p->server->mcps;
	ab_loop *loop = ab_gw_loop(mcps->gw);

	leave(p);
	p->phase = AB_MCP_POST_OVER;
	ab_timer_clear(loop, &p->c->timer);
	p->c->state = NULL;
	p->c->live.of = NULL;
	p->c->down += p->sent;
	ab_mcp_bytes_end(mcps, &p->in);
	ab_mcp_bytes_end(mcps, &p->out);
	mcps->posts--;
	ab_loop_later(loop, &p->later, free, p);
}

/* What was asked of the server for it alone. */
static void drop_legs(ab_mcp_session *s, uint64_t scope)
{
	ab_mcp_leg *next;

	for (ab_mcp_leg *l = s->legs; l; l = next) {
		next = l->next;
		if (l->scope == scope &&
		    (l->is_request || l->verb == AB_MCP_HTTP_GET))
			ab_mcp_leg_drop(l);
	}
}

void ab_mcp_post_cut(void *arg)
{
	ab_mcp_post *p = arg;
	ab_mcp_session *s = p->session;
	ab_client *c = p->c;
	bool greeting = p->is_greeting;

	if (p->phase == AB_MCP_POST_OVER)
		return;
	ab_mcp_post_release(p);
	ab_client_close_hard(c);
	if (!s || s->is_over)
		return;
	drop_legs(s, p->scope);
	ab_mcp_forget(s->guard, p->scope);
	/* its id went to nobody */
	if (greeting)
		ab_mcp_session_end(s, "client_gone");
}

/* --- between the two sides ------------------------------------------------ */

static void deny(ab_mcp_post *p, unsigned status, int code, const char *reason,
		 const char *text)
{
	ab_client *c = p->c;

	ab_mcp_tell(p->server->mcps, AB_GW_DENIED, p->server->name, "", reason,
		    NULL, text, false);
	ab_mcp_post_release(p);
	ab_mcp_refuse_client(c, status, code, reason, text);
}

/* Everything that was to be done for it is done, and nothing is to be said. */
static void settle(ab_mcp_post *p)
{
	if (p->phase != AB_MCP_POST_WAITING || p->legs || p->is_stream ||
	    p->asked.gw)
		return;
	if (p->is_request)
		ab_mcp_post_fail(p, 502, p->failed ? p->failed :
					 "mcp_unanswered",
				 "there is no answer");
	else if (p->failed)
		ab_mcp_post_fail(p, 502, p->failed,
				 "the server did not take the message");
	else
		ab_mcp_post_accept(p, 202);
}

void ab_mcp_post_leg_done(ab_mcp_post *p, const char *failed)
{
	p->legs--;
	if (failed)
		p->failed = failed;
	settle(p);
}

/* --- approval ------------------------------------------------------------- */

static void answered(void *arg, bool is_granted)
{
	ab_mcp_post *p = arg;

	ab_mcp_session_answer(p->session, p->question, is_granted ? NULL :
			      "it was not approved, or not in time");
	settle(p);
}

bool ab_mcp_post_ask(ab_mcp_post *p, const ab_mcp_question *q)
{
	char tool[AB_TARGET_TEXT_SIZE];
	char *arguments = q->arguments ? json_dumps(q->arguments, JSON_COMPACT)
				       : ab_strdup("{}");
	int n = snprintf(tool, sizeof(tool), "%s:%s", p->server->name,
			 q->tool);
	bool ok = arguments && n > 0 && (size_t)n < sizeof(tool) &&
		  !p->asked.gw &&
		  ab_ask_call(p->server->mcps->gw, &p->asked, tool, arguments,
			      answered, p);

	free(arguments);
	if (ok)
		p->question = q->id;
	return ok;
}

void ab_mcp_post_dismiss(ab_mcp_post *p)
{
	drop_legs(p->session, p->scope);
	if (p->phase == AB_MCP_POST_STREAM)
		ab_mcp_post_stream_end(p);
	else
		ab_mcp_post_accept(p, 202);
}

static void join(ab_mcp_post *p, ab_mcp_session *s)
{
	ab_loop *loop = ab_gw_loop(p->server->mcps->gw);

	p->session = s;
	p->next = s->posts;
	p->back = &s->posts;
	if (p->next)
		p->next->back = &p->next;
	s->posts = p;
	p->phase = AB_MCP_POST_WAITING;
	ab_timer_clear(loop, &p->c->timer);
	ab_mcp_session_touch(s);
}

/* --- a message ------------------------------------------------------------ */

/* The session it is for, which may have ended while its body came. */
static ab_mcp_session *session_of(const ab_mcp_post *p, const char *buf)
{
	if (p->is_greeting)
		return ab_mcp_session_new(p->server, false);
	if (p->is_stateless)
		return ab_mcp_session_new(p->server, true);
	return ab_mcp_session_find(p->server, buf + p->head.session.at,
				   p->head.session.len);
}

/* What came behind this request is the next one's. */
static void keep_rest(ab_mcp_post *p)
{
	ab_client_in *in = p->c->in;
	size_t rest = in->len - p->in_at;

	memmove(in->bytes, in->bytes + p->in_at, rest);
	in->len = rest;
	ab_http_head_init(&in->head, AB_HTTP_REQUEST);
	if (rest)
		return;
	free(in);
	p->c->in = NULL;
}

static int code_of(enum ab_mcp_http_reason reason, const ab_mcp_bytes *body)
{
	json_t *value = NULL;
	const char *why;
	int32_t rc;

	if (reason == AB_MCP_HTTP_MISMATCH)
		return AB_MCP_HEADER_MISMATCH;
	if (reason != AB_MCP_HTTP_BODY)
		return AB_MCP_INVALID;
	rc = ab_mcp_read(body->p ? body->p : "", body->len, &value, &why);
	json_decref(value);
	return rc < 0 ? AB_MCP_PARSE : AB_MCP_INVALID;
}

static void take_message(ab_mcp_post *p)
{
	const char *buf = p->c->in->bytes;
	ab_auto(json_t) *value = NULL;
	enum ab_mcp_http_reason reason = ab_mcp_http_body(
		&p->head, buf, p->in.p ? p->in.p : "", p->in.len, &value);
	ab_mcp_session *s;

	if (reason != AB_MCP_HTTP_OK) {
		deny(p, ab_mcp_http_reason_status(reason),
		     code_of(reason, &p->in), ab_mcp_http_reason_name(reason),
		     "the message and its head are not what MCP over HTTP "
		     "says");
		return;
	}
	ab_mcp_bytes_end(p->server->mcps, &p->in);
	p->is_request = json_object_get(value, "method") &&
			json_object_get(value, "id");
	p->is_greeting = p->head.is_greeting && p->is_request;
	p->is_stateless = p->head.family == AB_MCP_STATELESS;
	s = session_of(p, buf);
	if (!s) {
		if (p->head.session.len)
			deny(p, 404, AB_MCP_INVALID, "mcp_no_session",
			     "there is no such session");
		else
			deny(p, 429, AB_MCP_REFUSED, "mcp_sessions",
			     "too many sessions");
		return;
	}
	keep_rest(p);
	join(p, s);
	if (ab_watch_set(ab_gw_loop(p->server->mcps->gw), &p->c->watch,
			 EPOLLRDHUP)) {
		ab_mcp_post_cut(p);
		return;
	}
	ab_mcp_session_take(s, AGENTBOX_MCP_CLIENT, p->scope, value);
	if (!p->is_request)
		ab_mcp_session_settle(s);
	settle(p);
}

/* --- its body ------------------------------------------------------------- */

static bool keep(ab_mcp_post *p, const char *from, size_t n)
{
	if (!ab_mcp_room(p->server->mcps, &p->in, n, AB_MCP_HTTP_BODY_MAX)) {
		deny(p, 413, AB_MCP_INVALID, "mcp_length",
		     "the message is too large");
		return false;
	}
	memcpy(p->in.p + p->in.len, from, n);
	p->in.len += n;
	return true;
}

/* What is there of it; *done: it is whole. false: the post is over. */
static bool take_chunked(ab_mcp_post *p, bool *done)
{
	ab_client_in *in = p->c->in;

	while (p->in_at < in->len) {
		size_t used, len;
		enum ab_chunk_reason reason = ab_chunk_read(
			&p->chunk, in->bytes + p->in_at, in->len - p->in_at,
			&used, &len);

		p->in_at += used;
		if (reason == AB_CHUNK_DATA &&
		    !keep(p, in->bytes + p->in_at - len, len))
			return false;
		if (reason == AB_CHUNK_DONE) {
			*done = true;
			return true;
		}
		if (reason != AB_CHUNK_DATA && reason != AB_CHUNK_MORE) {
			deny(p, 400, AB_MCP_INVALID,
			     ab_chunk_reason_name(reason),
			     "the body is malformed");
			return false;
		}
	}
	return true;
}

static bool take_body(ab_mcp_post *p, bool *done)
{
	ab_client_in *in = p->c->in;
	size_t n = in->len - p->in_at;

	if (p->is_chunked)
		return take_chunked(p, done);
	n = n < p->body_left ? n : (size_t)p->body_left;
	if (!keep(p, in->bytes + p->in_at, n))
		return false;
	p->in_at += n;
	p->body_left -= n;
	*done = p->body_left == 0;
	return true;
}

/* Behind the head, which is needed until the body was compared with it. */
static ssize_t read_more(ab_mcp_post *p)
{
	ab_client_in *in = p->c->in;
	size_t from = in->head.len;
	ssize_t n = recv(p->c->fd, in->bytes + from,
			 sizeof(in->bytes) - from, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	p->in_at = from;
	in->len = from + (size_t)n;
	return n;
}

static void read_body(ab_mcp_post *p)
{
	bool done = false;
	ssize_t n;

	do {
		if (!take_body(p, &done))
			return;
		if (done) {
			take_message(p);
			return;
		}
		n = read_more(p);
	} while (n > 0);
	if (n < 0)
		ab_mcp_post_cut(p);
}

static void on_client(void *arg, uint32_t events)
{
	ab_mcp_post *p = arg;

	if (p->phase == AB_MCP_POST_OVER)
		return;
	if (p->phase == AB_MCP_POST_BODY)
		read_body(p);
	else if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		ab_mcp_post_cut(p);
	else if (events & EPOLLOUT)
		ab_mcp_post_flush(p);
}

/* --- the beginning -------------------------------------------------------- */

static void begin_stream(ab_mcp_post *p, ab_mcp_session *s)
{
	p->is_stream = true;
	p->in_at = p->c->in->head.len;
	keep_rest(p);
	join(p, s);
	s->stream = p;
	if (ab_watch_set(ab_gw_loop(p->server->mcps->gw), &p->c->watch,
			 EPOLLRDHUP))
		ab_mcp_post_cut(p);
	else if (!ab_mcp_leg_stream(s, p->scope))
		ab_mcp_post_fail(p, 503, "mcp_busy",
				 "the server cannot be asked now");
}

static void end_session(ab_mcp_post *p, ab_mcp_session *s)
{
	p->in_at = p->c->in->head.len;
	keep_rest(p);
	ab_mcp_session_leave(s);
	ab_mcp_session_end(s, "mcp_deleted");
	ab_mcp_post_accept(p, 204);
}

static void begin_body(ab_mcp_post *p, const ab_http_head *head)
{
	static const char on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	ab_loop *loop = ab_gw_loop(p->server->mcps->gw);

	p->is_chunked = head->body == AB_HTTP_BODY_CHUNKED;
	p->body_left = head->length;
	p->in_at = head->len;
	if ((head->flags & AB_HTTP_CONTINUE) && !p->is_old &&
	    send(p->c->fd, on, sizeof(on) - 1, MSG_NOSIGNAL) !=
		    sizeof(on) - 1) {
		ab_mcp_post_cut(p);
		return;
	}
	ab_timer_set(loop, &p->c->timer, AB_MCP_BODY_MS, ab_mcp_post_cut, p);
	if (ab_watch_set(loop, &p->c->watch, EPOLLIN))
		ab_mcp_post_cut(p);
	else
		read_body(p);
}

void ab_mcp_post_begin(ab_mcp_server *server, ab_client *c,
		       const ab_mcp_http *judged, ab_mcp_session *s)
{
	const ab_http_head *head = &c->in->head;
	ab_mcp_post *p = ab_new(ab_mcp_post);

	/* the head stays while the body is read behind it */
	if (head->len > sizeof(c->in->bytes) - 4096) {
		free(p);
		ab_mcp_refuse_client(c, 431, AB_MCP_REFUSED, "head_long",
				     "the request's head is too long");
		return;
	}
	if (!p) {
		ab_mcp_refuse_client(c, 503, AB_MCP_REFUSED, "memory",
				     "out of memory");
		return;
	}
	p->c = c;
	p->server = server;
	p->scope = ++server->mcps->scope;
	p->head = *judged;
	p->is_old = head->minor == 0;
	p->close = p->is_old || (head->flags & AB_HTTP_CLOSE);
	server->mcps->posts++;
	c->state = p;
	c->live.cut = ab_mcp_post_cut;
	c->live.arg = p;
	c->live.of = server->state;
	ab_watch_hand(&c->watch, on_client, p);
	switch ((enum ab_mcp_http_verb)judged->verb) {
	case AB_MCP_HTTP_POST:
		begin_body(p, head);
		break;
	case AB_MCP_HTTP_GET:
		begin_stream(p, s);
		break;
	case AB_MCP_HTTP_DELETE:
		end_session(p, s);
		break;
	}
}
