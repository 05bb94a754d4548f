/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection from the box until it is known what it wants: SOCKS5, CONNECT,
 * a request to forward, or one to the gateway itself. On the proxy's port
 * everything but GET /healthz needs the box's key. Spec: DESIGN.md section 9,
 * gateway cases 13-29, 93-99.
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
#include "aws.h"
#include "state.h"

#define DRAIN_MS 1000
#define DRAIN_MAX (256 * 1024)

static void on_request(void *arg, uint32_t events);

/* --- the life of one ------------------------------------------------------ */

static void free_client(void *arg)
{
	ab_client *c = arg;

	free(c->in);
	free(c);
}

void ab_client_let_go(ab_client *c)
{
	ab_gw_let_go(c->gw, c->held);
	c->held = 0;
}

bool ab_client_hold(ab_client *c, uint64_t names)
{
	ab_client_let_go(c);
	if (!ab_gw_has_room(c->gw, names))
		return false;
	c->held = names;
	ab_gw_join(c->gw, names);
	return true;
}

int ab_client_release(ab_client *c)
{
	int fd = c->fd;

	ab_client_let_go(c);
	ab_watch_leave(&c->watch);
	ab_timer_clear(&c->gw->loop, &c->timer);
	ab_live_remove(&c->live);
	c->gw->clients--;
	c->fd = -1;
	ab_loop_later(&c->gw->loop, &c->later, free_client, c);
	return fd;
}

void ab_client_close(ab_client *c)
{
	close(ab_client_release(c));
}

void ab_client_close_hard(ab_client *c)
{
	ab_close_hard(ab_client_release(c));
}

static void cut(void *arg)
{
	ab_client_close_hard(arg);
}

static void on_late(void *arg)
{
	cut(arg);
}

ab_client_in *ab_client_in_new(void)
{
	ab_client_in *in = ab_realloc(NULL, 1, sizeof(*in));

	if (in) {
		ab_clear(&in->head, sizeof(in->head));
		in->len = 0;
	}
	return in;
}

int ab_client_fill(ab_client *c)
{
	ssize_t n;

	if (!c->in) {
		c->in = ab_client_in_new();
		if (!c->in)
			return -ENOMEM;
	}
	if (c->in->len == sizeof(c->in->bytes))
		return -ENOBUFS;
	n = recv(c->fd, c->in->bytes + c->in->len,
		 sizeof(c->in->bytes) - c->in->len, 0);
	if (n < 0)
		return -errno;
	c->in->len += (size_t)n;
	return (int)n;
}

bool ab_client_ahead(ab_client *c, const char *p, size_t n)
{
	if (!c->in)
		c->in = ab_client_in_new();
	if (!c->in || n > sizeof(c->in->bytes) - c->in->len)
		return false;
	memcpy(c->in->bytes + c->in->len, p, n);
	c->in->len += n;
	return true;
}

void ab_client_took(ab_client_in *in, size_t n)
{
	memmove(in->bytes, in->bytes + n, in->len - n);
	in->len -= n;
	memset(&in->head, 0, sizeof(in->head));
}

/* --- answers of ours ------------------------------------------------------ */

/* What still comes is read, so that the answer is not lost to a reset. */
static void on_drain(void *arg, uint32_t events)
{
	ab_client *c = arg;
	ssize_t n = recv(c->fd, c->gw->scratch, AB_SCRATCH_SIZE, 0);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0)
		c->up += (uint64_t)n;
	if (n <= 0 || c->up > DRAIN_MAX)
		ab_client_close(c);
}

/* No reset: a slow reader may still be taking what was said. */
static void on_drained(void *arg)
{
	ab_client_close(arg);
}

void ab_client_drain(ab_client *c)
{
	free(c->in);
	c->in = NULL;
	ab_client_let_go(c);
	/* whoever served it is done with it */
	c->live.cut = cut;
	c->live.arg = c;
	c->up = 0;
	if (shutdown(c->fd, SHUT_WR)) {
		ab_client_close(c);
		return;
	}
	ab_watch_hand(&c->watch, on_drain, c);
	ab_timer_set(&c->gw->loop, &c->timer, DRAIN_MS, on_drained, c);
	if (ab_watch_set(&c->gw->loop, &c->watch, EPOLLIN))
		ab_client_close(c);
}

const char *ab_client_status_text(unsigned status)
{
	switch (status) {
	case 200:
		return "OK";
	case 202:
		return "Accepted";
	case 204:
		return "No Content";
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 406:
		return "Not Acceptable";
	case 407:
		return "Proxy Authentication Required";
	case 408:
		return "Request Timeout";
	case 409:
		return "Conflict";
	case 413:
		return "Content Too Large";
	case 414:
		return "URI Too Long";
	case 415:
		return "Unsupported Media Type";
	case 417:
		return "Expectation Failed";
	case 429:
		return "Too Many Requests";
	case 431:
		return "Request Header Fields Too Large";
	case 501:
		return "Not Implemented";
	case 502:
		return "Bad Gateway";
	case 503:
		return "Service Unavailable";
	case 504:
		return "Gateway Timeout";
	case 505:
		return "HTTP Version Not Supported";
	}
	return "Refused";
}

void ab_client_refuse(ab_client *c, unsigned status, const char *reason,
		      const char *text)
{
	const char *ask = status == 407
		? "Proxy-Authenticate: Basic realm=\"agentbox\"\r\n"
		: status == 401 ?
		  "WWW-Authenticate: Basic realm=\"agentbox\"\r\n" : "";
	char head[1024];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 %u %s\r\n%s"
			 "Content-Type: text/plain\r\n"
			 "Content-Length: %zu\r\n"
			 "X-Agentbox-Reason: %s\r\n"
			 "Connection: close\r\n\r\n"
			 "%s\n",
			 status, ab_client_status_text(status), ask,
			 strlen(text) + 1, reason, text);

	if (n < 0 || (size_t)n >= sizeof(head) ||
	    send(c->fd, head, (size_t)n, MSG_NOSIGNAL) != n) {
		ab_client_close(c);
		return;
	}
	ab_client_drain(c);
}

static void tell_denied(ab_client *c, const char *how, const char *target,
			const char *reason, const char *detail)
{
	ab_gw_tell(c->gw, &(ab_gw_record){ .kind = AB_GW_DENIED, .how = how,
					   .target = target,
					   .reason = reason,
					   .detail = detail },
		   false);
}

bool ab_client_may_fail(ab_client *c)
{
	return ab_bucket_take(&c->gw->failures, 1, c->gw->loop.now);
}

/* --- requests to us ------------------------------------------------------- */

static bool is_own_host(const ab_target *host)
{
	static const uint8_t v4[4] = { 192, 0, 0, 1 };
	static const uint8_t v6[16] = { AB_GATEWAY_IPV6_HEAD, 1 };
	const ab_address *a = &host->address;

	if (host->kind != AB_TARGET_ADDRESS ||
	    (host->port && host->port != AB_GATEWAY_PROXY_PORT))
		return false;
	return a->family == AB_ADDRESS_IPV4 ? !memcmp(a->bytes, v4, 4)
					    : !memcmp(a->bytes, v6, 16);
}

static bool span_is(const ab_client *c, ab_http_span s, const char *text)
{
	return s.len == strlen(text) &&
	       !memcmp(c->in->bytes + s.at, text, s.len);
}

/* Who takes requests to the gateway itself, in this order. */
static const ab_client_server servers[] = {
	ab_mcp_serve,
	ab_route_serve,
};

static void serve_own(ab_client *c)
{
	const ab_http_head *h = &c->in->head;
	bool is_aws = ab_aws_is_host(c->gw, &h->host);

	/* a page in a browser of the box, or a name that was made to lead
	   here (case 99) */
	if (!is_aws && !is_own_host(&h->host)) {
		tell_denied(c, "http", "", "foreign_host",
			    "a request to the gateway under another name");
		ab_client_refuse(c, 403, "foreign_host",
				 "agentbox: this is the gateway of a box");
		return;
	}
	if (span_is(c, h->method, "GET") && span_is(c, h->path, "/healthz") &&
	    h->body == AB_HTTP_BODY_NONE) {
		ab_client_refuse(c, 200, "healthy", "ok");
		return;
	}
	c->with_key = ab_key_in_head(&c->gw->key, h, c->in->bytes,
				     AB_KEY_ROUTE);
	if (!c->with_key) {
		if (!ab_client_may_fail(c)) {
			cut(c);
			return;
		}
		tell_denied(c, "http", "", "key", "no key, or a wrong one");
		ab_client_refuse(c, 401, "key",
				 "agentbox: the box's key is needed");
		return;
	}
	if (is_aws) {
		ab_aws_serve(c->gw, c);
		return;
	}
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++)
		if (servers[i] && servers[i](c->gw, c))
			return;
	ab_client_refuse(c, 404, "no_route", "agentbox: there is no such "
			 "route");
}

/* --- the first request ---------------------------------------------------- */

static void serve_head(ab_client *c)
{
	const ab_http_head *h = &c->in->head;
	char name[AB_TARGET_TEXT_SIZE];

	ab_timer_clear(&c->gw->loop, &c->timer);
	if (h->form == AB_HTTP_FORM_ORIGIN) {
		serve_own(c);
		return;
	}
	if (!ab_key_in_head(&c->gw->key, h, c->in->bytes, AB_KEY_PROXY)) {
		ab_target_text(&h->host, 0, name);
		if (!ab_client_may_fail(c)) {
			cut(c);
			return;
		}
		tell_denied(c, h->form == AB_HTTP_FORM_CONNECT ? "connect"
							       : "http",
			    name, "key", "no key, or a wrong one");
		ab_client_refuse(c, 407, "key",
				 "agentbox: the box's key is needed");
		return;
	}
	c->with_key = true;
	if (h->form == AB_HTTP_FORM_CONNECT)
		ab_connect_begin(c);
	else
		ab_exchange_begin(c, NULL);
}

static void refuse_head(ab_client *c, enum ab_http_reason reason)
{
	char text[128];

	snprintf(text, sizeof(text), "agentbox: the request is malformed: %s",
		 ab_http_reason_name(reason));
	tell_denied(c, "http", "", ab_http_reason_name(reason),
		    "a malformed request");
	ab_client_refuse(c, ab_http_reason_status(reason),
			 ab_http_reason_name(reason), text);
}

static void judge_head(ab_client *c)
{
	enum ab_http_reason reason = ab_http_head_read(
		&c->in->head, c->in->bytes, c->in->len);

	if (reason == AB_HTTP_OK)
		serve_head(c);
	else if (reason != AB_HTTP_MORE)
		refuse_head(c, reason);
	else if (c->in->len == sizeof(c->in->bytes))
		refuse_head(c, AB_HTTP_HEAD_LONG);
}

/* false: nothing came, or there is no client any more. */
static bool fill(ab_client *c)
{
	bool first = !c->in || c->in->len == 0;
	int n = ab_client_fill(c);

	if (n == -EAGAIN)
		return false;
	if (n <= 0) {
		ab_client_close(c);
		return false;
	}
	/* all of the head in its time, from its first byte (case 73) */
	if (first)
		ab_timer_set(&c->gw->loop, &c->timer, AB_HEAD_MS, on_late, c);
	return true;
}

static void on_request(void *arg, uint32_t events)
{
	(void)events;
	if (fill(arg))
		judge_head(arg);
}

/* The first byte says which of the two it speaks. */
static void on_first(void *arg, uint32_t events)
{
	ab_client *c = arg;

	(void)events;
	if (!fill(c))
		return;
	if (c->in->bytes[0] == 4 || c->in->bytes[0] == 5) {
		ab_socks_begin(c);
		return;
	}
	ab_watch_hand(&c->watch, on_request, c);
	judge_head(c);
}

void ab_client_next(ab_client *c)
{
	size_t len = c->in ? c->in->len : 0;

	if (c->gw->is_revoked) {
		cut(c);
		return;
	}
	ab_client_let_go(c);
	c->state = NULL;
	c->with_key = false;
	c->live.cut = cut;
	c->live.arg = c;
	ab_watch_hand(&c->watch, on_request, c);
	ab_timer_set(&c->gw->loop, &c->timer, len ? AB_HEAD_MS : AB_IDLE_MS,
		     on_late, c);
	if (ab_watch_set(&c->gw->loop, &c->watch, EPOLLIN)) {
		ab_client_close(c);
		return;
	}
	if (!len) {
		free(c->in);
		c->in = NULL;
		return;
	}
	memset(&c->in->head, 0, sizeof(c->in->head));
	judge_head(c);
}

void ab_client_begin(ab_gw *gw, int fd, enum ab_port_kind kind,
		     const ab_target *to)
{
	ab_client *c = ab_new(ab_client);

	if (!c) {
		ab_close_hard(fd);
		return;
	}
	c->gw = gw;
	c->fd = fd;
	c->port_kind = (uint8_t)kind;
	if (ab_watch_add(&gw->loop, &c->watch, fd, EPOLLIN, on_first, c)) {
		ab_close_hard(fd);
		free(c);
		return;
	}
	gw->clients++;
	ab_live_add(gw, &c->live, cut, c);
	ab_timer_set(&gw->loop, &c->timer, AB_HEAD_MS, on_late, c);
	/* the proxy's port of any other address is a port like others */
	if (kind == AB_PORT_ANY ||
	    !(is_own_host(to) || ab_aws_is_host(gw, to)))
		ab_direct_begin(c, to);
}
