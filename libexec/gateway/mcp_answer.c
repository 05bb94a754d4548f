/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the box is told: one JSON text where the answer is the first thing
 * that is said, a stream of events where something else came before. A slow
 * reader slows the server: past AB_MCP_HIGH bytes that wait, its leg is not
 * read. Spec: mcp_internal.h.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "inject.h"
#include "mcp_internal.h"

/* --- refusals ------------------------------------------------------------- */

void ab_mcp_refuse_client(ab_client *c, unsigned status, int code,
			  const char *reason, const char *text)
{
	char body[512], head[768];
	/* ours, and without a character that JSON writes otherwise */
	int n = snprintf(body, sizeof(body),
			 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":"
			 "%d,\"message\":\"agentbox: %s\",\"data\":{\"reason\":"
			 "\"%s\"}}}\n", code, text, reason);

	n = snprintf(head, sizeof(head),
		     "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\n"
		     "Content-Length: %d\r\n%sX-Agentbox-Reason: %s\r\n"
		     "Connection: close\r\n\r\n%s",
		     status, ab_client_status_text(status), n,
		     status == 405 ? "Allow: POST, GET, DELETE\r\n" : "",
		     reason, body);
	if (n < 0 || (size_t)n >= sizeof(head) ||
	    send(c->fd, head, (size_t)n, MSG_NOSIGNAL) != n) {
		ab_client_close(c);
		return;
	}
	ab_client_drain(c);
}

void ab_mcp_post_fail(ab_mcp_post *p, unsigned status, const char *reason,
		      const char *text)
{
	ab_client *c = p->c;

	if (p->phase == AB_MCP_POST_OVER)
		return;
	if (p->phase > AB_MCP_POST_WAITING) {
		ab_mcp_post_cut(p);
		return;
	}
	if (p->session && !p->session->is_over)
		ab_mcp_forget(p->session->guard, p->scope);
	ab_mcp_post_release(p);
	ab_mcp_refuse_client(c, status, AB_MCP_REFUSED, reason, text);
}

/* --- bytes ---------------------------------------------------------------- */

static bool put(ab_mcp_post *p, const char *s, size_t n)
{
	if (!ab_mcp_room(p->server->mcps, &p->out, n, AB_MCP_WAITING_MAX))
		return false;
	memcpy(p->out.p + p->out.len, s, n);
	p->out.len += n;
	return true;
}

__attribute__((format(printf, 2, 3)))
static bool putf(ab_mcp_post *p, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return n >= 0 && (size_t)n < sizeof(text) && put(p, text, (size_t)n);
}

/* The client is its connection's again: what came behind this request is the
   next one, and begins in a turn of its own. */
static void next_request(void *arg)
{
	ab_client_next(arg);
}

static void client_cut(void *arg)
{
	ab_client_close_hard(arg);
}

static void client_idle(void *arg, uint32_t events)
{
	if (events & (EPOLLHUP | EPOLLERR))
		client_cut(arg);
}

static void finish(ab_mcp_post *p)
{
	ab_client *c = p->c;
	bool close = p->close;
	ab_loop *loop = ab_gw_loop(p->server->mcps->gw);

	ab_mcp_post_release(p);
	if (close) {
		ab_client_drain(c);
		return;
	}
	if (!c->in || !c->in->len) {
		ab_client_next(c);
		return;
	}
	c->live.cut = client_cut;
	c->live.arg = c;
	ab_watch_hand(&c->watch, client_idle, c);
	ab_timer_set(loop, &c->timer, 0, next_request, c);
}

static void resume_legs(ab_mcp_post *p)
{
	ab_mcp_leg *next;

	for (ab_mcp_leg *l = p->session ? p->session->legs : NULL; l;
	     l = next) {
		next = l->next;
		if (l->scope == p->scope && l->is_paused) {
			/* others of the list can go with it */
			ab_mcp_leg_resume(l);
			return;
		}
	}
}

void ab_mcp_post_flush(ab_mcp_post *p)
{
	ab_mcps *mcps = p->server->mcps;
	ab_loop *loop = ab_gw_loop(mcps->gw);

	while (p->out.at < p->out.len) {
		ssize_t n = send(p->c->fd, p->out.p + p->out.at,
				 p->out.len - p->out.at,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0) {
			ab_mcp_post_cut(p);
			return;
		}
		p->out.at += (size_t)n;
		p->sent += (uint64_t)n;
		ab_timer_clear(loop, &p->c->timer);
	}
	if (p->out.at < p->out.len) {
		if (!ab_timer_is_set(&p->c->timer))
			ab_timer_set(loop, &p->c->timer, AB_MCP_BODY_MS,
				     ab_mcp_post_cut, p);
		if (ab_watch_set(loop, &p->c->watch, EPOLLOUT | EPOLLRDHUP))
			ab_mcp_post_cut(p);
		else if (p->out.len - p->out.at <= AB_MCP_HIGH)
			resume_legs(p);
		return;
	}
	/* nothing is held for one that waits */
	ab_mcp_bytes_end(mcps, &p->out);
	if (p->phase == AB_MCP_POST_LAST)
		finish(p);
	else if (ab_watch_set(loop, &p->c->watch, EPOLLRDHUP))
		ab_mcp_post_cut(p);
	else
		resume_legs(p);
}

/* --- answers -------------------------------------------------------------- */

static void put_or_cut(ab_mcp_post *p, bool ok)
{
	if (ok)
		ab_mcp_post_flush(p);
	else
		ab_mcp_post_cut(p);
}

/* The last is in `out`; the session has nothing more to do with it. */
static void last(ab_mcp_post *p, bool ok)
{
	ab_mcp_post_last(p);
	put_or_cut(p, ok);
}

static const char *ends(const ab_mcp_post *p)
{
	return p->close ? "Connection: close\r\n" : "";
}

void ab_mcp_post_accept(ab_mcp_post *p, unsigned status)
{
	last(p, putf(p, "HTTP/1.1 %u %s\r\n%s%s\r\n", status,
		     ab_client_status_text(status),
		     status == 204 ? "" : "Content-Length: 0\r\n", ends(p)));
}

/* 2026-07-28 says some errors in the status as well. */
static unsigned status_of(const ab_mcp_post *p, const json_t *message)
{
	json_int_t code = json_integer_value(json_object_get(
		json_object_get(message, "error"), "code"));

	if (p->is_stateless && code == AB_MCP_NO_METHOD)
		return 404;
	if (p->is_stateless && code == AB_MCP_NO_VERSION)
		return 400;
	return 200;
}

/* Without the server's credential, should it say what it was sent: a message
   is here as a whole, as a route's body never is. */
static bool put_frame(ab_mcp_post *p, const ab_mcp_frame *frame)
{
	const ab_route_state *state = p->server->state;
	size_t n = agentbox_bytes_get_size(frame->bytes);

	if (!put(p, agentbox_bytes_get_data(frame->bytes), n))
		return false;
	/* what came with an older one has ended, mcp_leg.c */
	return !state || ab_route_mask(state, NULL,
				       p->out.p + p->out.len - n, n);
}

static bool put_json(ab_mcp_post *p, const ab_mcp_frame *frame)
{
	size_t n = agentbox_bytes_get_size(frame->bytes);
	unsigned status = status_of(p, frame->message);
	bool named = p->is_greeting && p->session && p->session->is_greeted;

	return putf(p,
		    "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\n"
		    "Content-Length: %zu\r\n%s%s%s%s\r\n",
		    status, ab_client_status_text(status), n,
		    named ? "Mcp-Session-Id: " : "",
		    named ? p->session->id : "", named ? "\r\n" : "",
		    ends(p)) &&
	       put_frame(p, frame);
}

static bool put_chunk_size(ab_mcp_post *p, size_t n)
{
	return p->is_old || putf(p, "%zx\r\n", n);
}

/* One event: a frame has no line end in it. */
static bool put_event(ab_mcp_post *p, const ab_mcp_frame *frame)
{
	static const char before[] = "event: message\ndata: ", after[] = "\n\n";
	size_t n = agentbox_bytes_get_size(frame->bytes);

	return put_chunk_size(p, sizeof(before) + n + sizeof(after) - 2) &&
	       put(p, before, sizeof(before) - 1) &&
	       put_frame(p, frame) &&
	       put(p, after, sizeof(after) - 1) &&
	       (p->is_old || put(p, "\r\n", 2));
}

static bool put_stream_head(ab_mcp_post *p)
{
	bool named = p->is_greeting && p->session && p->session->is_greeted;

	p->phase = AB_MCP_POST_STREAM;
	p->close = p->close || p->is_old;
	return putf(p,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		    "Cache-Control: no-cache\r\n%s%s%s%s%s\r\n",
		    named ? "Mcp-Session-Id: " : "",
		    named ? p->session->id : "", named ? "\r\n" : "",
		    p->is_old ? "" : "Transfer-Encoding: chunked\r\n",
		    ends(p));
}

static bool put_stream_end(ab_mcp_post *p)
{
	return p->is_old || put(p, "0\r\n\r\n", 5);
}

void ab_mcp_post_frame(ab_mcp_post *p, const ab_mcp_frame *frame)
{
	bool answer = !json_object_get(frame->message, "method");
	bool ok = true;

	if (p->phase != AB_MCP_POST_WAITING && p->phase != AB_MCP_POST_STREAM)
		return;
	if (p->phase == AB_MCP_POST_WAITING && answer && p->is_request) {
		last(p, put_json(p, frame));
		return;
	}
	if (p->phase == AB_MCP_POST_WAITING)
		ok = put_stream_head(p);
	ok = ok && put_event(p, frame);
	if (answer && p->is_request)
		last(p, ok && put_stream_end(p));
	else
		put_or_cut(p, ok);
}

void ab_mcp_post_stream(ab_mcp_post *p)
{
	if (p->phase == AB_MCP_POST_WAITING)
		put_or_cut(p, put_stream_head(p));
}

void ab_mcp_post_stream_end(ab_mcp_post *p)
{
	if (p->phase == AB_MCP_POST_STREAM)
		last(p, put_stream_end(p));
}
