/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One request, one question to the host, one answer, and the end of the
 * connection. SDKs speak plain HTTP with few hosts, of which this address is
 * one; the box reaches it because every address leads to the gateway. It is
 * the box's own listener and key, as on the broker's socket, and there is no
 * process to name: a box has one id, which is judged. Spec: aws.h, grant.h.
 */
#include "config.h"

#include "aws.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "aws_value.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/secret.h"
#include "grant.h"

#define TOP "/aws/"
#define HEAD_ROOM 256

typedef struct aws_request {
	ab_asker asker;
	ab_client *client;
	ab_later later;
	char *out; /* guarded, of an answer with credentials */
	size_t len;
} aws_request;

bool ab_aws_is_host(const ab_gw *gw, const ab_target *host)
{
	static const uint8_t v4[4] = { 169, 254, 170, 2 };

	return gw->broker && host->kind == AB_TARGET_ADDRESS &&
	       host->address.family == AB_ADDRESS_IPV4 &&
	       !memcmp(host->address.bytes, v4, sizeof(v4)) &&
	       host->port == AB_GATEWAY_PROXY_PORT &&
	       (ab_grant_ways(ab_broker_grants(gw->broker)) & AB_BROKER_AWS);
}

/* --- the life of a request ------------------------------------------------ */

static void free_request(void *arg)
{
	aws_request *r = arg;

	ab_secret_free(r->out);
	free(r);
}

/* The connection is the caller's again. */
static ab_client *end(aws_request *r)
{
	ab_client *c = r->client;

	ab_grant_forget(&r->asker);
	ab_loop_later(&c->gw->loop, &r->later, free_request, r);
	c->state = NULL;
	return c;
}

static void cut(void *arg)
{
	ab_client *c = arg;

	ab_client_close_hard(end(c->state));
}

/* It waits for the host, and more of it is not read. */
static void on_gone(void *arg, uint32_t events)
{
	ab_client *c = arg;

	if (events & (EPOLLHUP | EPOLLERR))
		ab_client_close(end(c->state));
}

/* --- the answer ----------------------------------------------------------- */

static aws_request *request_of(const ab_asker *a)
{
	/* its first member */
	return (aws_request *)(uintptr_t)a;
}

static int put(ab_asker *a, const char *value, size_t n)
{
	aws_request *r = request_of(a);
	uint64_t now = ab_clock_real_ns();
	uint64_t until = now + a->secret->spec->ttl_ms * UINT64_C(1000000);
	char *body = ab_secret_new(AB_AWS_ANSWER_MAX);
	ssize_t len = body ? ab_aws_answer(value, n, now, until, body)
			   : -ENOMEM;

	if (len > 0)
		r->out = ab_secret_new(HEAD_ROOM + (size_t)len);
	if (r->out) {
		r->len = (size_t)snprintf(r->out, HEAD_ROOM, "HTTP/1.1 200 OK"
					  "\r\nContent-Type: application/json"
					  "\r\nCache-Control: no-store"
					  "\r\nContent-Length: %zd"
					  "\r\nConnection: close\r\n\r\n",
					  len);
		memcpy(r->out + r->len, body, (size_t)len);
		r->len += (size_t)len;
	}
	ab_secret_free(body);
	return len < 0 ? (int)len : r->out ? 0 : -ENOMEM;
}

static void refuse(aws_request *r, uint32_t result)
{
	static const struct {
		unsigned status;
		const char *reason, *text;
	} answers[AB_BROKER_RESULT_COUNT] = {
		[AB_BROKER_REFUSED] = { 403, "refused", "refused; the host's "
					"record says why" },
		[AB_BROKER_BUSY] = { 429, "busy", "too many questions" },
		[AB_BROKER_NONE] = { 404, "no_value", "nobody has them" },
		[AB_BROKER_LATE] = { 504, "no_answer", "who has them did not "
				     "answer in time" },
		[AB_BROKER_FAILED] = { 502, "failed", "what the host has are "
				       "no credentials" },
	};
	unsigned status = answers[result].status;
	char text[96];

	snprintf(text, sizeof(text), "agentbox: %s",
		 status ? answers[result].text : "no credentials");
	ab_client_refuse(end(r), status ? status : 502,
			 status ? answers[result].reason : "failed", text);
}

static void on_answer(ab_asker *a, uint32_t result)
{
	aws_request *r = request_of(a);
	ab_client *c;

	if (result != AB_BROKER_OK) {
		refuse(r, result);
		return;
	}
	c = end(r);
	if (send(c->fd, r->out, r->len, MSG_NOSIGNAL) != (ssize_t)r->len)
		ab_client_close_hard(c);
	else
		ab_client_drain(c);
}

/* --- the question --------------------------------------------------------- */

/* "/aws/NAME"; what has a query or anything else in it is no name. */
static bool read_name(const ab_client *c, char name[AB_BROKER_MAX_NAME + 1])
{
	const ab_http_head *h = &c->in->head;
	const size_t top = sizeof(TOP) - 1;
	const char *path = c->in->bytes + h->path.at;
	size_t n = h->path.len;

	if (h->method.len != 3 || h->body != AB_HTTP_BODY_NONE ||
	    memcmp(c->in->bytes + h->method.at, "GET", 3) != 0 || n <= top ||
	    n - top > AB_BROKER_MAX_NAME || memcmp(path, TOP, top) != 0)
		return false;
	memcpy(name, path + top, n - top);
	name[n - top] = '\0';
	return strlen(name) == n - top && ab_broker_name_ok(name);
}

static void judge(aws_request *r, const char *name)
{
	ab_grants *g = r->asker.grants;
	ab_granted *s = ab_grant_find(g, name);
	const char *why = ab_grant_judge(&r->asker, s, AB_BROKER_AWS);
	bool has_room = ab_bucket_take(&g->rate, 1, g->gw->loop.now);

	if (!why && has_room) {
		ab_grant_ask(&r->asker, s, AB_BROKER_AWS);
		return;
	}
	ab_grant_tell(&r->asker, AB_GW_DENIED, name, why ? why : "rate", "",
		      false);
	refuse(r, why ? AB_BROKER_REFUSED : AB_BROKER_BUSY);
}

void ab_aws_serve(ab_gw *gw, ab_client *c)
{
	ab_grants *g = ab_broker_grants(gw->broker);
	char name[AB_BROKER_MAX_NAME + 1];
	aws_request *r;

	if (!read_name(c, name)) {
		ab_client_refuse(c, 404, "no_route", "agentbox: GET " TOP
				 "NAME is all there is");
		return;
	}
	r = ab_new(aws_request);
	if (!r || ab_watch_set(&gw->loop, &c->watch, 0)) {
		free(r);
		ab_client_close(c);
		return;
	}
	r->client = c;
	r->asker = (ab_asker){ .grants = g, .uid = g->plan.uid_inside,
			       .put = put, .answer = on_answer };
	c->state = r;
	c->live.cut = cut;
	c->live.arg = c;
	ab_watch_hand(&c->watch, on_gone, c);
	judge(r, name);
}
