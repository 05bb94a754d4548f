/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The routes of a gateway without the rest of one: what route_*.py drives.
 *
 *   route_gateway POLICY KEY
 *
 * listens on a port of loopback, says "port N", serves the policy's routes
 * and servers of tools to who brings KEY, and dials the upstream's port on
 * 127.0.0.1 whatever its name is. Records go to standard output, one line
 * each. Commands on standard input: "secret NAME FILE", "forget NAME",
 * "remove PREFIX", "close", from which on no list of the host's opens the
 * upstream's address, "cut", "state"; its end ends it.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sodium.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "key.h"
#include "mcp_internal.h"
#include "policy/routes.h"
#include "route_internal.h"

struct ab_gw {
	ab_loop loop;
	ab_watch input, listener;
	ab_routes *routes;
	ab_mcps *mcps;
	ab_live *live;
	ab_key key;
	bool is_revoked, is_closed;
	unsigned dials, accepted;
};

static void die(const char *what)
{
	fprintf(stderr, "route_gateway: %s\n", what);
	_exit(2);
}

/* --- the seams ----------------------------------------------------------- */

ab_loop *ab_gw_loop(ab_gw *gw)
{
	return &gw->loop;
}

bool ab_gw_is_revoked(const ab_gw *gw)
{
	return gw->is_revoked;
}

struct ab_routes *ab_gw_routes(const ab_gw *gw)
{
	return gw->routes;
}

struct ab_mcps *ab_gw_mcps(const ab_gw *gw)
{
	return gw->mcps;
}

ab_live **ab_gw_live(ab_gw *gw)
{
	return &gw->live;
}

bool ab_gw_tell(ab_gw *gw, const ab_gw_record *r, bool required)
{
	static const char *const kinds[] = { "?", "allowed", "denied",
					     "closed", "failed", "notice" };

	(void)gw;
	printf("record %s %s %s %s %s | %s%s\n", kinds[r->kind], r->how,
	       r->target, r->reason, r->rule ? r->rule : "-",
	       r->detail ? r->detail : "", required ? " !" : "");
	fflush(stdout);
	return true;
}

bool ab_gw_is_paced(const ab_gw *gw, uint64_t names)
{
	(void)gw;
	(void)names;
	return false;
}

bool ab_gw_wait(ab_gw *gw, uint64_t names, struct ab_paced *w,
		void (*then)(void *arg), void *arg)
{
	(void)gw;
	(void)names;
	(void)w;
	(void)then;
	(void)arg;
	return false;
}

bool ab_client_hold(ab_client *c, uint64_t names)
{
	c->held = names;
	return true;
}

void ab_client_let_go(ab_client *c)
{
	c->held = 0;
}

/* nobody is there to be asked */
bool ab_ask_call(ab_gw *gw, ab_asked *a, const char *tool,
		 const char *arguments,
		 void (*done)(void *arg, bool is_granted), void *arg)
{
	(void)gw;
	(void)a;
	(void)tool;
	(void)arguments;
	(void)done;
	(void)arg;
	return false;
}

void ab_ask_forget(ab_asked *a)
{
	(void)a;
}

uint64_t ab_gw_names(const ab_gw *gw, const ab_target *target)
{
	(void)gw;
	(void)target;
	return 0;
}

bool ab_gw_count_bytes(ab_gw *gw, uint64_t names, uint64_t n)
{
	(void)gw;
	(void)names;
	(void)n;
	return true;
}

bool ab_gw_count_request(ab_gw *gw, uint64_t names)
{
	(void)gw;
	(void)names;
	return true;
}

bool ab_gw_needs_tokens(const ab_gw *gw, uint64_t names)
{
	(void)gw;
	(void)names;
	return false;
}

bool ab_gw_counts_tokens(const ab_gw *gw, uint64_t names)
{
	(void)gw;
	(void)names;
	return false;
}

bool ab_gw_has_tokens(const ab_gw *gw, uint64_t names)
{
	(void)gw;
	(void)names;
	return true;
}

void ab_gw_count_tokens(ab_gw *gw, uint64_t names, uint64_t n)
{
	(void)gw;
	(void)names;
	(void)n;
}

const char *ab_dial_reason_name(enum ab_dial_reason reason)
{
	return reason == AB_DIAL_REFUSED ? "refused" : "failed";
}

struct ab_dial {
	ab_gw *gw;
	ab_timer timer;
	ab_later later;
	ab_dial_result result;
	void (*done)(void *arg, const ab_dial_result *result);
	void *arg;
};

static void dial_done(void *arg)
{
	ab_dial *d = arg;

	d->done(d->arg, &d->result);
	ab_loop_later(&d->gw->loop, &d->later, free, d);
}

ab_dial *ab_gw_dial(ab_gw *gw, const ab_target *target, unsigned flags,
		    void (*done)(void *arg, const ab_dial_result *result),
		    void *arg)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(target->port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	ab_dial *d = ab_new(ab_dial);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!d || fd < 0 || flags != AB_DIAL_ROUTE)
		die("dial");
	gw->dials++;
	d->gw = gw;
	d->done = done;
	d->arg = arg;
	d->result = (ab_dial_result){ .fd = fd, .reason = AB_DIAL_OK };
	if (gw->is_closed) {
		close(fd);
		d->result.fd = -1;
		d->result.reason = AB_DIAL_NOT_ALLOWED;
		d->result.allow = AB_ALLOW_RESOLVED_PRIVATE;
	} else if (connect(fd, (void *)&to, sizeof(to)) < 0) {
		close(fd);
		d->result.fd = -1;
		d->result.reason = AB_DIAL_REFUSED;
	} else {
		ab_fd_set_nonblock(fd, 1);
	}
	ab_timer_set(&gw->loop, &d->timer, 1, dial_done, d);
	return d;
}

bool ab_gw_may_reach(const ab_gw *gw, const ab_target *target,
		     const ab_address *address)
{
	(void)target;
	(void)address;
	return !gw->is_closed;
}

void ab_dial_cancel(ab_dial *d)
{
	ab_timer_clear(&d->gw->loop, &d->timer);
	if (d->result.fd >= 0)
		close(d->result.fd);
	ab_loop_later(&d->gw->loop, &d->later, free, d);
}

/* --- clients ------------------------------------------------------------- */

static void client_free(void *arg)
{
	ab_client *c = arg;

	free(c->in);
	free(c);
}

void ab_client_close(ab_client *c)
{
	ab_watch_remove(&c->gw->loop, &c->watch);
	ab_timer_clear(&c->gw->loop, &c->timer);
	ab_live_remove(&c->live);
	close(c->fd);
	ab_loop_later(&c->gw->loop, &c->later, client_free, c);
}

void ab_client_close_hard(ab_client *c)
{
	ab_client_close(c);
}

const char *ab_client_status_text(unsigned status)
{
	(void)status;
	return "X";
}

static void client_cut(void *arg)
{
	ab_client_close(arg);
}

static void on_drain(void *arg, uint32_t events)
{
	static char scratch[65536];
	ab_client *c = arg;
	ssize_t n = recv(c->fd, scratch, sizeof(scratch), 0);

	(void)events;
	if (n <= 0 && errno != EAGAIN)
		ab_client_close(c);
}

void ab_client_drain(ab_client *c)
{
	c->live.cut = client_cut;
	c->live.arg = c;
	if (shutdown(c->fd, SHUT_WR) < 0) {
		ab_client_close(c);
		return;
	}
	ab_watch_hand(&c->watch, on_drain, c);
	ab_watch_set(&c->gw->loop, &c->watch, EPOLLIN);
}

void ab_client_refuse(ab_client *c, unsigned status, const char *reason,
		      const char *text)
{
	char head[1024];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 %u X\r\nContent-Length: %zu\r\n"
			 "X-Agentbox-Reason: %s\r\nConnection: close\r\n\r\n"
			 "%s\n", status, strlen(text) + 1, reason, text);

	if (send(c->fd, head, (size_t)n, MSG_NOSIGNAL) != n)
		ab_client_close(c);
	else
		ab_client_drain(c);
}

static void judge(ab_client *c)
{
	enum ab_http_reason reason = ab_http_head_read(
		&c->in->head, c->in->bytes, c->in->len);

	if (reason == AB_HTTP_MORE)
		return;
	if (reason != AB_HTTP_OK) {
		ab_client_refuse(c, ab_http_reason_status(reason),
				 ab_http_reason_name(reason), "malformed");
		return;
	}
	c->with_key = ab_key_in_head(&c->gw->key, &c->in->head, c->in->bytes,
				     AB_KEY_ROUTE);
	if (!ab_mcp_serve(c->gw, c) && !ab_route_serve(c->gw, c))
		ab_client_refuse(c, 404, "no_route", "no such route");
}

static void on_request(void *arg, uint32_t events)
{
	ab_client *c = arg;
	ssize_t n;

	(void)events;
	if (!c->in)
		c->in = ab_new(ab_client_in);
	n = recv(c->fd, c->in->bytes + c->in->len,
		 sizeof(c->in->bytes) - c->in->len, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		ab_client_close(c);
		return;
	}
	c->in->len += (size_t)n;
	judge(c);
}

void ab_client_next(ab_client *c)
{
	c->state = NULL;
	c->live.cut = client_cut;
	c->live.arg = c;
	ab_watch_hand(&c->watch, on_request, c);
	ab_watch_set(&c->gw->loop, &c->watch, EPOLLIN);
	if (!c->in)
		return;
	memset(&c->in->head, 0, sizeof(c->in->head));
	if (c->in->len)
		judge(c);
}

static void on_accept(void *arg, uint32_t events)
{
	ab_gw *gw = arg;
	int fd = accept4(gw->listener.fd, NULL, NULL,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);
	ab_client *c = fd < 0 ? NULL : ab_new(ab_client);

	(void)events;
	if (!c)
		return;
	gw->accepted++;
	c->gw = gw;
	c->fd = fd;
	ab_live_add(gw, &c->live, client_cut, c);
	ab_watch_add(&gw->loop, &c->watch, fd, EPOLLIN, on_request, c);
}

/* --- commands ------------------------------------------------------------ */

static void say_state(ab_gw *gw)
{
	size_t active = 0;
	size_t idle = 0;

	for (size_t i = 0; i < gw->routes->table.count; i++) {
		active += gw->routes->states[i].active;
		idle += gw->routes->states[i].idle_count;
	}
	printf("state active %zu idle %zu dials %u", active, idle, gw->dials);
	if (gw->mcps->count)
		printf(" sessions %zu posts %zu legs %zu held %zu",
		       gw->mcps->sessions, gw->mcps->posts, gw->mcps->legs,
		       gw->mcps->held);
	printf("\n");
}

static void obey(ab_gw *gw, char *line)
{
	char *word = strtok(line, " ");
	char *name = strtok(NULL, " ");
	char *path = strtok(NULL, " ");

	if (strcmp(word, "secret") == 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		printf("secret %d\n", ab_routes_set_secret(gw->routes, name,
							   fd));
		close(fd);
	} else if (strcmp(word, "forget") == 0) {
		printf("secret %d\n", ab_routes_set_secret(gw->routes, name,
							   -1));
	} else if (strcmp(word, "remove") == 0) {
		printf("remove %d\n", (int)ab_routes_remove(gw->routes, name));
	} else if (strcmp(word, "close") == 0) {
		gw->is_closed = true;
		printf("close\n");
	} else if (strcmp(word, "cut") == 0) {
		gw->is_revoked = true;
		ab_live_cut(gw, NULL);
		if (gw->live)
			die("cut left something in the list");
		gw->is_revoked = false;
		printf("cut\n");
	} else {
		say_state(gw);
	}
	fflush(stdout);
}

static void on_input(void *arg, uint32_t events)
{
	static char text[4096];
	static size_t len;
	ab_gw *gw = arg;
	ssize_t n = read(0, text + len, sizeof(text) - 1 - len);
	char *end;

	(void)events;
	if (n <= 0) {
		ab_loop_stop(&gw->loop);
		return;
	}
	len += (size_t)n;
	text[len] = '\0';
	while ((end = strchr(text, '\n'))) {
		*end = '\0';
		obey(gw, text);
		len -= (size_t)(end + 1 - text);
		memmove(text, end + 1, len + 1);
	}
}

/* --- the beginning ------------------------------------------------------- */

static void add_routes(ab_gw *gw, const char *file)
{
	ab_autofd int fd = open(file, O_RDONLY | O_CLOEXEC);
	ab_auto(agentbox_error) *err = NULL;
	ab_auto(agentbox_policy) *policy = NULL;
	agentbox_context *context;
	ab_policy_routes routes = { 0 };
	ab_wire_route list[AB_ROUTES_MAX];
	ab_roots_text roots[AB_ROUTES_MAX];
	char *texts[AB_ROUTES_MAX] = { 0 };
	char why[AB_WHY_SIZE];
	size_t count = 0;
	char *text;
	size_t n, len;

	if (ab_fd_slurp(fd, 1 << 20, &text, &n) < 0 ||
	    agentbox_context_new(&context, NULL) < 0 ||
	    agentbox_policy_parse(context, text, n, &policy, &err) < 0 ||
	    ab_policy_routes_init(policy, &routes, &err) < 0)
		die(agentbox_error_get_message(err));
	for (size_t i = 0; i < routes.count; i++) {
		const char *ca = routes.items[i].ca;
		ab_autofd int ca_fd = ca ? open(ca, O_RDONLY | O_CLOEXEC) : -1;

		list[i] = routes.items[i].plain;
		if (!ca)
			continue;
		if (ab_fd_slurp(ca_fd, 1 << 20, &texts[count], &len) < 0)
			die("cannot read the CA");
		roots[count] = (ab_roots_text){ texts[count], len };
		list[i].roots = (uint32_t)++count;
	}
	if (ab_routes_new(gw, list, routes.count, roots, count, &gw->routes,
			  why) < 0)
		die(why);
	if (ab_mcps_new(gw, &(ab_wire_text){ text, n },
			&(ab_wire_text){ "{}", 2 }, &gw->mcps, why) < 0)
		die(why);
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(text);
	ab_policy_routes_end(&routes);
	agentbox_context_unref(context);
}

static int listen_on_loopback(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) < 0 ||
	    listen(fd, 64) < 0 || getsockname(fd, (void *)&at, &n) < 0)
		die("cannot listen");
	printf("port %u\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

int main(int argc, char **argv)
{
	static ab_gw gw;
	int fd;

	if (argc != 3 || strlen(argv[2]) != AB_KEY_LEN || sodium_init() < 0)
		die("usage: route_gateway POLICY KEY");
	ab_sha256(argv[2], AB_KEY_LEN, gw.key.hash);
	gw.key.is_set = true;
	if (ab_loop_init(&gw.loop) < 0)
		die("no loop");
	add_routes(&gw, argv[1]);
	fd = listen_on_loopback();
	ab_watch_add(&gw.loop, &gw.listener, fd, EPOLLIN, on_accept, &gw);
	ab_watch_add(&gw.loop, &gw.input, 0, EPOLLIN, on_input, &gw);
	ab_loop_run(&gw.loop);
	while (gw.live)
		gw.live->cut(gw.live->arg);
	ab_mcps_free(gw.mcps);
	ab_routes_free(gw.routes);
	close(fd);
	ab_loop_end(&gw.loop);
	return 0;
}
