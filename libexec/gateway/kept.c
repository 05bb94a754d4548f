/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kept connections of forwarded HTTP. Spec: kept.h. */
#include "config.h"

#include "kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "state.h"

/* --- what may be kept ----------------------------------------------------- */

bool ab_kept_request(const ab_http_head *head, const char *buf)
{
	return head->method.len == 3 &&
	       !memcmp(buf + head->method.at, "GET", 3) &&
	       head->body == AB_HTTP_BODY_NONE &&
	       !(head->flags & (AB_HTTP_UPGRADE_WS | AB_HTTP_CONTINUE));
}

/* 204 and 304 end by a rule that not every server keeps. */
bool ab_kept_answer(const ab_http_head *head)
{
	return head->minor == 1 && !(head->flags & AB_HTTP_CLOSE) &&
	       head->body != AB_HTTP_BODY_CLOSE && head->status != 204 &&
	       head->status != 304;
}

/* --- the connections ------------------------------------------------------ */

/* Newest first. */
struct ab_kept {
	ab_gw *gw;
	struct ab_kept *next, **back;
	ab_target target;
	ab_upstream_line line;
	ab_watch watch;
	ab_timer timer;
	ab_later later;
};

/* The descriptor is the caller's, who has another watch take it or closes
   it. */
static void unlist(struct ab_kept *k)
{
	*k->back = k->next;
	if (k->next)
		k->next->back = k->back;
	k->gw->kept_count--;
	ab_watch_leave(&k->watch);
	ab_timer_clear(&k->gw->loop, &k->timer);
	ab_loop_later(&k->gw->loop, &k->later, free, k);
}

static void end(void *arg)
{
	struct ab_kept *k = arg;

	unlist(k);
	close(k->line.fd);
}

/* A word that nobody asked for, or its end: it is of no use either way. */
static void on_event(void *arg, uint32_t events)
{
	(void)events;
	end(arg);
}

static bool is_silent(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

static bool is_old(const ab_gw *gw, const ab_upstream_line *line)
{
	return gw->loop.now - line->since_ns >=
	       AB_KEPT_AGE_MS * UINT64_C(1000000);
}

static bool leads_to(const struct ab_kept *k, const ab_target *t)
{
	return k->target.port == t->port &&
	       ab_target_same_host(&k->target, t);
}

ab_upstream_line ab_kept_take(ab_gw *gw, const ab_target *t)
{
	struct ab_kept *k = gw->kept;

	while (k) {
		struct ab_kept *one = k;

		k = k->next;
		if (!leads_to(one, t))
			continue;
		/* the lists may be new, and an event may be on its way */
		if (!is_old(gw, &one->line) && is_silent(one->line.fd) &&
		    ab_allow_address(&gw->allow, t, &one->line.address) ==
			    AB_ALLOW_OK) {
			unlist(one);
			return one->line;
		}
		end(one);
	}
	return (ab_upstream_line){ .fd = -1 };
}

static void end_oldest(ab_gw *gw)
{
	struct ab_kept *k = gw->kept;

	while (k->next)
		k = k->next;
	end(k);
}

void ab_kept_put(ab_gw *gw, const ab_target *t, const ab_upstream_line *line)
{
	struct ab_kept *k = NULL;

	if (!gw->is_revoked && !is_old(gw, line) && is_silent(line->fd))
		k = ab_new(struct ab_kept);
	if (!k || ab_watch_take(&gw->loop, &k->watch, line->fd,
				EPOLLIN | EPOLLRDHUP, on_event, k)) {
		free(k);
		close(line->fd);
		return;
	}
	if (gw->kept_count == AB_KEPT_MAX)
		end_oldest(gw);
	k->gw = gw;
	k->target = *t;
	k->line = *line;
	ab_timer_set(&gw->loop, &k->timer, AB_KEPT_IDLE_MS, end, k);
	k->next = gw->kept;
	k->back = &gw->kept;
	if (k->next)
		k->next->back = &k->next;
	gw->kept = k;
	gw->kept_count++;
}

void ab_kept_end_all(ab_gw *gw)
{
	while (gw->kept)
		end(gw->kept);
}
