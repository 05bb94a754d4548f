/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes both ways. A tunnel holds no buffer while nothing is on its way: what
 * is read goes through one buffer of the process, and only what could not be
 * written at once is kept, with reading stopped until it is gone. What goes on
 * and on moves through a pipe without being copied (splice(2)); the pipe is
 * given back when its bytes have gone. Before the first byte goes upstream the
 * gate is passed: a ClientHello has to be the target's own, and so has another
 * one that the server asks for (gateway cases 52-61).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "state.h"
#include "tls_hello.h"
#include "tls_retry.h"

typedef struct gate {
	ab_hello hello;
	size_t len, at; /* what of it was looked at */
	bool is_hello;	/* what follows there, when it is asked for again */
	char bytes[AB_HELLO_WIRE_MAX];
} gate;

/* What waits to be written to an end. */
typedef struct kept {
	size_t len, at;
	char bytes[];
} kept;

typedef struct end {
	struct tunnel *tunnel;
	int fd;
	bool has_ended; /* it sends no more */
	bool is_shut;	/* we send no more */
	ab_watch watch;
	kept *kept;
	int pipe[2];	/* bulk on its way to it; 0: none */
	uint32_t piped; /* bytes in that */
	uint8_t full;	/* reads from it in a row that filled the buffer */
	uint8_t calm;	/* reads from it in a row that took all there was */
	uint64_t bytes; /* that came from it */
} end;

typedef struct tunnel {
	ab_gw *gw;
	end box, up;
	ab_timer timer;
	ab_live live;
	ab_later later;
	gate *gate;
	uint64_t active_ns;
	const char *how;
	uint8_t gate_kind; /* enum ab_gate; NONE once it is passed */
	bool is_for_tls;   /* by its port, whatever is said */
	ab_retry_reader answer; /* of the server's to the hello */
	bool is_again;	   /* the one that it asked for was passed */
	bool is_held;	   /* the box has said more before these came */
	bool is_ended;
	bool is_preview; /* of the host's: its other end is lent */
	bool is_paced;	 /* it has a rate of bytes */
	bool waits;	 /* that is used up */
	ab_paced paced;
	char *target;	/* owned: for the record of its end */
	uint64_t names; /* ab_gw_names() of it; of a preview none */
} tunnel;

/* --- pipes ---------------------------------------------------------------- */

#define BULK_READS 4
#define PIPE_SIZE (1 << 20)
#define SPLICE_ROUNDS 4

static bool take_pipe(ab_gw *gw, end *to)
{
	if (to->pipe[0])
		return true;
	if (gw->spare_pipes) {
		memcpy(to->pipe, gw->pipes[--gw->spare_pipes],
		       sizeof(to->pipe));
		return true;
	}
	/* without one its bytes are copied */
	if (gw->pipes_open >= gw->pipes_max)
		return false;
	if (pipe2(to->pipe, O_CLOEXEC | O_NONBLOCK)) {
		to->pipe[0] = to->pipe[1] = 0;
		return false;
	}
	gw->pipes_open++;
	/* a limit of the user's may keep it at its size */
	(void)fcntl(to->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
	return true;
}

/* One with bytes in it is nobody else's any more. */
static void give_pipe(ab_gw *gw, end *to)
{
	if (!to->pipe[0])
		return;
	if (!to->piped && gw->spare_pipes < AB_SPARE_PIPES) {
		memcpy(gw->pipes[gw->spare_pipes++], to->pipe,
		       sizeof(to->pipe));
	} else {
		close(to->pipe[0]);
		close(to->pipe[1]);
		gw->pipes_open--;
	}
	to->pipe[0] = to->pipe[1] = 0;
	to->piped = 0;
}

static bool is_pending(const end *to)
{
	return to->kept || to->piped;
}

static void release(void *arg)
{
	tunnel *t = arg;

	free(t->box.kept);
	free(t->up.kept);
	free(t->gate);
	free(t->target);
	free(t);
}

static void finish(tunnel *t, const char *reason, bool hard)
{
	if (t->is_ended)
		return;
	t->is_ended = true;
	/* a preview's was lent and stays open */
	if (t->is_preview)
		ab_watch_remove(&t->gw->loop, &t->box.watch);
	ab_watch_leave(&t->box.watch);
	ab_watch_leave(&t->up.watch);
	ab_timer_clear(&t->gw->loop, &t->timer);
	ab_live_remove(&t->live);
	ab_paced_forget(&t->paced);
	t->gw->clients--;
	ab_gw_let_go(t->gw, t->names);
	give_pipe(t->gw, &t->box);
	give_pipe(t->gw, &t->up);
	if (t->is_preview)
		ab_preview_give(t->gw, t->box.fd);
	else if (hard)
		ab_close_hard(t->box.fd);
	else
		close(t->box.fd);
	if (hard)
		ab_close_hard(t->up.fd);
	else
		close(t->up.fd);
	ab_gw_tell(t->gw, &(ab_gw_record){ .kind = AB_GW_CLOSED,
					   .how = t->how, .target = t->target,
					   .reason = reason,
					   .up = t->box.bytes,
					   .down = t->up.bytes },
		   false);
	ab_loop_later(&t->gw->loop, &t->later, release, t);
}

static void cut(void *arg)
{
	finish(arg, "revoked", true);
}

static void refuse(tunnel *t, const char *reason, const char *detail)
{
	ab_gw_tell(t->gw, &(ab_gw_record){ .kind = AB_GW_DENIED,
					   .how = t->how, .target = t->target,
					   .reason = reason,
					   .detail = detail },
		   false);
	finish(t, reason, true);
}

/* What the host looks at is not the box's to pay for. */
static bool count(tunnel *t, uint64_t n)
{
	return t->is_preview || ab_gw_count_bytes(t->gw, t->names, n);
}

/* It was set for when the tunnel would be idle for too long. */
static void on_timer(void *arg)
{
	tunnel *t = arg;
	uint64_t idle_ms = (t->gw->loop.now - t->active_ns) / 1000000;

	if (t->gate_kind == AB_GATE_TLS || t->gate_kind == AB_GATE_AGAIN)
		refuse(t, "no_hello", "no ClientHello came in time");
	else if (idle_ms + 1 >= AB_TUNNEL_IDLE_MS)
		finish(t, "idle", true);
	else
		ab_timer_set(&t->gw->loop, &t->timer,
			     AB_TUNNEL_IDLE_MS - idle_ms, on_timer, t);
}

static end *other(end *e)
{
	return e == &e->tunnel->box ? &e->tunnel->up : &e->tunnel->box;
}

static void on_end(void *arg, uint32_t events);
static void go_on(void *arg);

/*
 * An end that says little at a time is told of once: asked again before it
 * waits, the kernel would look at the end a second time, which is a twentieth
 * of what a byte there and back takes. All that could leave something unread
 * is told with that (its end, urgent bytes, a failure) or ends the calm (a
 * read that filled half a buffer); asked for anew, the kernel tells of what
 * is there already. epoll(7), "Level-triggered and edge-triggered".
 */
#define CALM_READS 4
#define CALM_EVENTS (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLET)

static uint32_t events_of(const end *e, bool reads)
{
	uint32_t events = (reads ? EPOLLIN : 0u) |
			  (is_pending(e) ? EPOLLOUT : 0u);

	/* of a preview's end, which is lent, it is not known what it is */
	return events == EPOLLIN && e->calm >= CALM_READS &&
			       !e->tunnel->is_preview ? CALM_EVENTS : events;
}

static int watch(tunnel *t, end *e, uint32_t events)
{
	if (e->watch.ready)
		return ab_watch_set(&t->gw->loop, &e->watch, events);
	/* rests, as it is told of whatever is asked for */
	return events ? ab_watch_add(&t->gw->loop, &e->watch, e->fd, events,
				     on_end, e)
		      : 0;
}

/* What each end is asked for, from what is on its way. */
static void set_events(tunnel *t)
{
	end *ends[] = { &t->box, &t->up };

	/* a hello is never held up, and is small */
	t->waits = !t->is_preview && t->gate_kind == AB_GATE_NONE &&
		   ab_gw_wait(t->gw, t->names, &t->paced, go_on, t);
	for (size_t i = 0; i < 2 && !t->is_ended; i++) {
		end *e = ends[i];
		bool reads = !t->waits && !e->has_ended &&
			     !is_pending(other(e));

		/* nothing comes down before the gate is passed */
		if (e == &t->up && t->gate_kind == AB_GATE_TLS)
			reads = false;
		if (e == &t->box && t->gate_kind == AB_GATE_ANSWER &&
		    t->is_held)
			reads = false;
		if (watch(t, e, events_of(e, reads)))
			finish(t, "failed", true);
	}
}

static void go_on(void *arg)
{
	set_events(arg);
}

/* It sends no more, and what it sent is written. */
static void pass_end(end *from)
{
	end *to = other(from);
	tunnel *t = from->tunnel;

	if (!from->has_ended || is_pending(to) || to->is_shut)
		return;
	to->is_shut = true;
	if (shutdown(to->fd, SHUT_WR) && errno != ENOTCONN)
		finish(t, "failed", true);
	else if (t->box.has_ended && t->up.has_ended &&
		 !is_pending(&t->box) && !is_pending(&t->up))
		finish(t, "ended", false);
}

static bool keep(end *to, const char *p, size_t n)
{
	to->kept = ab_realloc(NULL, 1, sizeof(*to->kept) + n);
	if (!to->kept)
		return false;
	to->kept->len = n;
	to->kept->at = 0;
	memcpy(to->kept->bytes, p, n);
	return true;
}

/* All of it, now or later. */
static void pass(end *to, const char *p, size_t n)
{
	ssize_t done = send(to->fd, p, n, MSG_NOSIGNAL);

	if (done < 0 && errno != EAGAIN) {
		finish(to->tunnel, "reset", true);
		return;
	}
	if (done < 0)
		done = 0;
	if ((size_t)done < n && !keep(to, p + done, n - (size_t)done))
		finish(to->tunnel, "failed", true);
}

/* What is in its pipe; true: it is empty again. */
static bool drain_pipe(end *to)
{
	while (to->piped) {
		ssize_t n = splice(to->pipe[0], NULL, to->fd, NULL, to->piped,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0) {
			finish(to->tunnel, "reset", true);
			return false;
		}
		to->piped -= (uint32_t)n;
	}
	return true;
}

static void flush(end *to)
{
	kept *k = to->kept;
	ssize_t n;

	if (!k) {
		if (!drain_pipe(to))
			return;
		give_pipe(to->tunnel->gw, to);
		pass_end(other(to));
		return;
	}
	n = send(to->fd, k->bytes + k->at, k->len - k->at, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN) {
		finish(to->tunnel, "reset", true);
		return;
	}
	if (n > 0)
		k->at += (size_t)n;
	if (k->at < k->len)
		return;
	free(k);
	to->kept = NULL;
	pass_end(other(to));
}

/* --- the gate ------------------------------------------------------------- */

static bool make_gate(tunnel *t)
{
	if (t->gate)
		return true;
	t->gate = ab_realloc(NULL, 1, sizeof(*t->gate));
	if (!t->gate) {
		finish(t, "failed", true);
		return false;
	}
	ab_clear(&t->gate->hello, sizeof(t->gate->hello));
	t->gate->len = t->gate->at = 0;
	t->gate->is_hello = false;
	return true;
}

static const char *detail_of(enum ab_hello_reason reason)
{
	switch (reason) {
	case AB_HELLO_SNI_MISMATCH:
		return "its server_name is another host";
	case AB_HELLO_SNI_ABSENT:
		return "its ClientHello names no host";
	case AB_HELLO_ECH:
		return "its server_name is encrypted";
	case AB_HELLO_NOT_TLS:
		return "this port is for TLS";
	default:
		return "its ClientHello was not accepted";
	}
}

static void open_gate(tunnel *t)
{
	gate *g = t->gate;

	t->gate_kind = AB_GATE_NONE;
	t->gate = NULL;
	if (g->len)
		pass(&t->up, g->bytes, g->len);
	free(g);
}

/* A record of TLS of any kind: servers take some before the ClientHello. */
static bool is_record(char first)
{
	return first >= 0x14 && first <= 0x18;
}

#define OLD_HEAD 5

/*
 * A hello in the format of SSL 2, by which servers may be asked for TLS: its
 * length, the kind of message and the version. One longer than a record of
 * TLS nobody takes: what begins so is another protocol. < 0: may become one.
 */
static int is_old_hello(const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	bool is_one = p[0] >= 0x80 && p[0] < 0xd0 && (n < 3 || p[2] == 1) &&
		      (n < 4 || p[3] == 3 || p[3] == 0);

	if (!is_one || n < OLD_HEAD)
		return is_one ? -1 : 0;
	return p[3] == 3 ? p[4] <= 4 : p[4] == 2;
}

/* What may be TLS or not: true when that was settled, one way or the other. */
static bool sniff(tunnel *t, const char *p, size_t n)
{
	gate *g = t->gate;
	int old;

	if (g->len == 0 && is_record(p[0]))
		return false;
	memcpy(g->bytes + g->len, p, n);
	g->len += n;
	old = is_old_hello(g->bytes, g->len);
	if (old > 0)
		refuse(t, "ssl2_hello", "a hello of SSL 2 names no host");
	else if (old == 0)
		open_gate(t);
	return true;
}

#define RECORD_HEAD 5

/* Before a second hello there may be a change of cipher and data that came too
   early, which the server passes over (RFC 8446 sections 4.2.10 and D.4). */
static bool find_second(gate *g)
{
	while (!g->is_hello && g->len - g->at >= RECORD_HEAD) {
		const unsigned char *p = (unsigned char *)g->bytes + g->at;
		size_t n = RECORD_HEAD + ((size_t)p[3] << 8 | p[4]);

		g->is_hello = p[0] != 0x14 && p[0] != 0x17;
		if (!g->is_hello && g->len - g->at < n)
			return false;
		if (!g->is_hello)
			g->at += n;
	}
	return g->is_hello;
}

/* What of a hello has come, up to its end in g->at. */
static enum ab_hello_reason read_gate(const tunnel *t, gate *g)
{
	enum ab_hello_reason reason;
	ab_target target;
	size_t used;

	if (t->gate_kind == AB_GATE_AGAIN && !find_second(g))
		return AB_HELLO_MORE;
	reason = ab_hello_read(&g->hello, g->bytes + g->at, g->len - g->at,
			       &used);
	g->at += used;
	if (reason == AB_HELLO_OK &&
	    ab_target_authority(t->target, strlen(t->target), 0, &target))
		return AB_HELLO_SNI_MISMATCH;
	return reason == AB_HELLO_OK ? ab_hello_judge(&g->hello, &target, 0)
				     : reason;
}

/* A server may ask for another one, if 1.3 was offered or a draft of it, and
   not for a third. What comes behind waits until it is known. */
static void pass_hello(tunnel *t)
{
	gate *g = t->gate;

	if (t->gate_kind == AB_GATE_AGAIN &&
	    ab_retry_read(&t->answer, NULL, 0) != AB_RETRY_YES) {
		open_gate(t);
		return;
	}
	t->is_again = t->gate_kind == AB_GATE_AGAIN;
	t->is_held = false;
	t->gate_kind = AB_GATE_ANSWER;
	pass(&t->up, g->bytes, g->at);
	g->len -= g->at;
	memmove(g->bytes, g->bytes + g->at, g->len);
	g->at = 0;
	ab_clear(&g->hello, sizeof(g->hello));
	if (g->len)
		return;
	free(g);
	t->gate = NULL;
}

/* What has come before the gate is open is looked at. */
static void try_gate(tunnel *t)
{
	gate *g = t->gate;
	enum ab_hello_reason reason = read_gate(t, g);

	if (reason == AB_HELLO_MORE) {
		if (g->len == sizeof(g->bytes))
			refuse(t, "hello_long", "its ClientHello is too long");
	} else if (reason != AB_HELLO_OK) {
		refuse(t, ab_hello_reason_name(reason), detail_of(reason));
	} else {
		ab_timer_set(&t->gw->loop, &t->timer, AB_TUNNEL_IDLE_MS,
			     on_timer, t);
		pass_hello(t);
	}
}

/* Bytes of the box's before the gate is open. */
static void ask_gate(tunnel *t, const char *p, size_t n)
{
	gate *g = t->gate;

	if (t->gate_kind == AB_GATE_SNIFF && sniff(t, p, n))
		return;
	/* from now on there has to be a whole one, in its time */
	if (t->gate_kind == AB_GATE_SNIFF) {
		t->gate_kind = AB_GATE_TLS;
		ab_timer_set(&t->gw->loop, &t->timer, AB_HEAD_MS, on_timer, t);
	}
	memcpy(g->bytes + g->len, p, n);
	g->len += n;
	try_gate(t);
}

/* The answer is known: it asks for another hello, or for none. */
static void end_answer(tunnel *t, enum ab_retry retry)
{
	/* what the box said since then waits; the server has to have read
	   what it answers */
	if (t->gate && is_pending(&t->up)) {
		finish(t, "failed", true);
	} else if (retry == AB_RETRY_YES) {
		t->gate_kind = AB_GATE_AGAIN;
		ab_timer_set(&t->gw->loop, &t->timer, AB_HEAD_MS, on_timer, t);
		if (t->gate)
			try_gate(t);
	} else if (t->gate) {
		open_gate(t);
	} else {
		t->gate_kind = AB_GATE_NONE;
	}
}

/* The server's first bytes (none: it says nothing any more), before they go
   down; and those that come when it has asked for another hello. */
static void look_at_answer(tunnel *t, const char *p, size_t n)
{
	enum ab_retry retry = n ? ab_retry_read(&t->answer, p, n)
				: AB_RETRY_NO;
	bool has_asked = t->is_again || t->gate_kind == AB_GATE_AGAIN;

	/* RFC 8446 section 4.1.4: who is asked twice ends it */
	if (retry == AB_RETRY_TWICE)
		refuse(t, "retry_twice", "its server asks for a third hello");
	else if (retry == AB_RETRY_BAD && (t->is_for_tls || has_asked))
		refuse(t, "not_tls", "its server does not speak TLS");
	else if (t->gate_kind == AB_GATE_ANSWER && retry != AB_RETRY_MORE &&
		 (retry != AB_RETRY_YES || !has_asked))
		end_answer(t, retry);
}

/* --- events --------------------------------------------------------------- */

/* Bulk: without a copy, some rounds; the others have their turn, too. */
static void move_bulk(end *from)
{
	tunnel *t = from->tunnel;
	end *to = other(from);

	for (int i = 0; i < SPLICE_ROUNDS && !t->is_ended; i++) {
		ssize_t n = splice(from->fd, NULL, to->pipe[1], NULL,
				   PIPE_SIZE,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			finish(t, "reset", true);
			return;
		}
		if (n == 0) {
			from->has_ended = true;
			break;
		}
		from->bytes += (uint64_t)n;
		to->piped += (uint32_t)n;
		t->active_ns = t->gw->loop.now;
		if (!count(t, (uint64_t)n)) {
			refuse(t, "budget_bytes",
			       "no bytes are left");
			return;
		}
		if (!drain_pipe(to))
			return;
	}
	if (t->is_ended)
		return;
	/* it has paused: what comes next is copied until it goes on again */
	if (!to->piped) {
		give_pipe(t->gw, to);
		from->full = BULK_READS / 2;
	}
	pass_end(from);
}

static void read_some(end *from)
{
	tunnel *t = from->tunnel;
	bool gated = from == &t->box && t->gate_kind != AB_GATE_NONE;
	bool answers = from == &t->up && (t->gate_kind == AB_GATE_ANSWER ||
					  t->gate_kind == AB_GATE_AGAIN);
	size_t room = AB_SCRATCH_SIZE;
	ssize_t n;

	if (!gated && !answers && from->full >= BULK_READS &&
	    take_pipe(t->gw, other(from))) {
		move_bulk(from);
		return;
	}
	if (gated && !make_gate(t))
		return;
	if (gated)
		room = sizeof(t->gate->bytes) - t->gate->len;
	else if (t->is_paced)
		room = AB_PACE_PIECE;
	n = recv(from->fd, t->gw->scratch, room, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		finish(t, "reset", true);
		return;
	}
	if (n == 0) {
		/* no hello will come any more */
		if (gated && t->gate_kind != AB_GATE_SNIFF) {
			finish(t, "no_hello", true);
			return;
		}
		if (gated)
			open_gate(t);
		if (answers)
			look_at_answer(t, NULL, 0);
		if (t->is_ended)
			return;
		from->has_ended = true;
		pass_end(from);
		return;
	}
	from->bytes += (uint64_t)n;
	from->full = n < AB_SCRATCH_SIZE / 2 ? 0
		     : from->full < BULK_READS ? from->full + 1 : BULK_READS;
	from->calm = (size_t)n == room || from->full ? 0
		     : from->calm < CALM_READS ? from->calm + 1 : CALM_READS;
	t->active_ns = t->gw->loop.now;
	if (!count(t, (uint64_t)n)) {
		refuse(t, "budget_bytes", "no bytes are left");
		return;
	}
	if (gated) {
		ask_gate(t, t->gw->scratch, (size_t)n);
		return;
	}
	if (answers)
		look_at_answer(t, t->gw->scratch, (size_t)n);
	if (!t->is_ended)
		pass(other(from), t->gw->scratch, (size_t)n);
}

/* Before the server's first bytes nothing more of the box is read. */
static bool may_read(end *e)
{
	tunnel *t = e->tunnel;

	char byte;

	/* an end is no more than that */
	if (e == &t->box && t->gate_kind == AB_GATE_ANSWER && !t->gate &&
	    recv(e->fd, &byte, 1, MSG_PEEK) == 0)
		t->gate_kind = AB_GATE_NONE;
	if (e == &t->box && t->gate_kind == AB_GATE_ANSWER) {
		t->is_held = true;
		return false;
	}
	return !t->waits && !e->has_ended && !is_pending(other(e));
}

static void on_end(void *arg, uint32_t events)
{
	end *e = arg;
	tunnel *t = e->tunnel;

	if (events != EPOLLIN)
		e->calm = 0;
	if (is_pending(e) && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		flush(e);
	if (t->is_ended)
		return;
	if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) && may_read(e))
		read_some(e);
	else if (events & EPOLLERR)
		finish(t, "reset", true);
	else if (events & EPOLLHUP)
		/* the other end has to take something first */
		ab_watch_remove(&t->gw->loop, &e->watch);
	if (!t->is_ended)
		set_events(t);
}

static bool begin_end(tunnel *t, end *e, int fd, uint32_t events)
{
	e->tunnel = t;
	e->fd = fd;
	return ab_watch_take(&t->gw->loop, &e->watch, fd, events, on_end,
			     e) == 0;
}

void ab_tunnel_begin(ab_gw *gw, int fd, int up_fd, const ab_target *target,
		     const char *how, enum ab_gate gate_kind,
		     const char *bytes, size_t len)
{
	char text[AB_TARGET_TEXT_SIZE];
	bool is_preview = ab_preview_owns(gw, fd);
	tunnel *t = ab_new(tunnel);

	ab_target_text(target, 0, text);
	if (t) {
		t->gw = gw;
		t->how = how;
		t->gate_kind = (uint8_t)gate_kind;
		t->is_for_tls = gate_kind == AB_GATE_TLS;
		t->active_ns = gw->loop.now;
		t->is_preview = is_preview;
		t->target = ab_strdup(text);
		t->names = is_preview ? 0 : ab_gw_names(gw, target);
		t->is_paced = !is_preview && ab_gw_is_paced(gw, t->names);
	}
	/* nothing comes down before the gate is passed */
	if (!t || !t->target || !begin_end(t, &t->box, fd, EPOLLIN) ||
	    !begin_end(t, &t->up, up_fd,
		       gate_kind == AB_GATE_TLS ? 0 : EPOLLIN)) {
		if (t) {
			ab_watch_remove(&gw->loop, &t->box.watch);
			release(t);
		}
		if (is_preview)
			ab_preview_give(gw, fd);
		else
			ab_close_hard(fd);
		ab_close_hard(up_fd);
		return;
	}
	gw->clients++;
	/* the client held it until a moment ago */
	ab_gw_join(gw, t->names);
	ab_live_add(gw, &t->live, cut, t);
	ab_timer_set(&gw->loop, &t->timer,
		     gate_kind == AB_GATE_TLS ? AB_HEAD_MS : AB_TUNNEL_IDLE_MS,
		     on_timer, t);
	t->box.bytes = len;
	if (!count(t, len)) {
		refuse(t, "budget_bytes", "no bytes are left");
	} else if (len && gate_kind == AB_GATE_NONE) {
		pass(&t->up, bytes, len);
	} else if (len && make_gate(t)) {
		if (len > sizeof(t->gate->bytes))
			refuse(t, "hello_long", "its ClientHello is too long");
		else
			ask_gate(t, bytes, len);
	}
	if (!t->is_ended)
		set_events(t);
}
