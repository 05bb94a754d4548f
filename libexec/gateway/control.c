/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's side of the gateway: its requests, its end, and what it is told.
 * Whatever is malformed ends the process: the box then has no network.
 * Spec: wire/gateway.h, gateway cases 4, 5, 7, 152-158.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "kept.h"
#include "lists.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

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

ab_live **ab_gw_live(ab_gw *gw)
{
	return &gw->live;
}

struct ab_mcps *ab_gw_mcps(const ab_gw *gw)
{
	return gw->mcps;
}

/* --- what is live ------------------------------------------------------- */

void ab_gw_revoke(ab_gw *gw, uint64_t *count)
{
	gw->is_revoked = true;
	ab_preview_end_all(gw);
	ab_kept_end_all(gw);
	*count = ab_live_cut(gw, NULL);
}

bool ab_gw_count_name(ab_gw *gw)
{
	return ab_bucket_take(&gw->new_names, 60, gw->loop.now);
}

/* --- records ------------------------------------------------------------ */

/*
 * A required one waits for room, for a host that has a moment's work to do:
 * what it is about would be refused. One that does not read in that time is
 * not waited for again until it has.
 */
static bool send_record(ab_gw *gw, const ab_gw_record *r, bool required)
{
	const int flags = required && !gw->is_behind ? 0 : MSG_DONTWAIT;
	const ab_gateway_record m = {
		.kind = r->kind, .how = r->how, .target = r->target,
		.reason = r->reason, .rule = r->rule, .detail = r->detail,
		.up = r->up, .down = r->down, .lost = gw->lost,
		.has_peer = r->has_peer, .peer_uid = r->peer_uid,
		.peer_pid = r->peer_pid,
	};
	uint8_t memory[AB_GATEWAY_MAX_RECORD];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_gateway_record_put(&w, &m);
	if (w.bad || ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len,
				     NULL, 0, flags)) {
		gw->is_behind |= required;
		return false;
	}
	gw->is_behind = false;
	gw->lost = 0;
	return true;
}

bool ab_gw_tell(ab_gw *gw, const ab_gw_record *r, bool required)
{
	if (required && gw->is_audited)
		return send_record(gw, r, true);
	if (ab_bucket_take(&gw->records, 1, gw->loop.now) &&
	    send_record(gw, r, false))
		return true;
	gw->lost++;
	return !required || !gw->is_audited;
}

enum ab_allow_reason ab_gw_judge(ab_gw *gw, const char *how,
				 const ab_target *t, const ab_host **rule)
{
	enum ab_allow_reason reason = ab_allow_target(&gw->allow, t, rule);
	char text[AB_TARGET_TEXT_SIZE];
	char rule_text[AB_HOST_TEXT_SIZE] = "";

	if (reason == AB_ALLOW_OK)
		return reason;
	ab_target_text(t, 0, text);
	if (*rule)
		ab_host_text(*rule, rule_text);
	ab_gw_tell(gw, &(ab_gw_record){
		.kind = AB_GW_DENIED, .how = how, .target = text,
		.rule = rule_text, .reason = ab_allow_reason_name(reason),
		.detail = ab_allow_reason_text(reason) },
		   false);
	return reason;
}

bool ab_gw_tell_allowed(ab_gw *gw, const char *how, const ab_target *t,
			const ab_host *rule, const ab_address *address)
{
	char text[AB_TARGET_TEXT_SIZE], rule_text[AB_HOST_TEXT_SIZE] = "";
	char address_text[AB_ADDRESS_TEXT_SIZE] = "";
	bool is_read = strcmp(how, "http") == 0 ||
		       !ab_allow_is_tcp(&gw->allow, t);

	ab_target_text(t, 0, text);
	if (rule)
		ab_host_text(rule, rule_text);
	if (address)
		ab_address_text(address, address_text);
	return ab_gw_tell(gw, &(ab_gw_record){ .kind = AB_GW_ALLOWED,
					       .how = how, .target = text,
					       .rule = rule_text,
					       .reason = is_read ? "listed"
								 : "tcp",
					       .detail = address_text },
			  true);
}

/* --- requests ----------------------------------------------------------- */

static void reply(uint32_t serial, int32_t result, uint64_t value,
		  const char *text)
{
	uint8_t memory[512];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_GW_REPLY);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, serial);
	ab_put_i32(&w, result);
	ab_put_u64(&w, value);
	ab_put_str(&w, text);
	/* it waits and reads; one that does not is killed by who asked */
	(void)ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, NULL, 0, 0);
}

static int read_lists(const ab_gw *gw, int fd, ab_allow *out, char *why,
		      size_t size)
{
	ab_gateway_lists lists;
	void *map;
	size_t n;
	ab_reader r;
	int rc = ab_fd_map_sealed(fd, AB_MAX_PLAN_BYTES, &map, &n);

	if (rc)
		return rc;
	ab_reader_init(&r, map, n);
	rc = ab_gateway_lists_get(&r, &lists);
	if (rc == 0) {
		rc = ab_lists_compile(&lists, &gw->routed, out, why, size);
		ab_gateway_lists_end(&lists);
	}
	munmap(map, n);
	return rc;
}

/* All of the new list or all of the old one. */
static void on_lists(ab_gw *gw, uint32_t serial, int fd)
{
	char why[AB_WHY_SIZE + 32] = "";
	ab_allow fresh;
	int rc = read_lists(gw, fd, &fresh, why, sizeof(why));

	if (rc == 0) {
		ab_allow_end(&gw->allow);
		gw->allow = fresh;
	}
	reply(serial, rc, 0, why[0] || !rc ? why : strerror(-rc));
}

static void on_secret(ab_gw *gw, uint32_t serial, const char *name, int fd)
{
	int rc = gw->routes ? ab_routes_set_secret(gw->routes, name, fd)
			    : -ENOENT;

	reply(serial, rc, 0, "");
}

static void on_unroute(ab_gw *gw, uint32_t serial, const char *prefix)
{
	int64_t n = gw->routes ? ab_routes_remove(gw->routes, prefix)
			       : -ENOENT;

	reply(serial, n < 0 ? (int32_t)n : 0, n < 0 ? 0 : (uint64_t)n, "");
}

/* "ID 1" is a yes, everything else is a no. */
static void on_verdict(ab_gw *gw, uint32_t serial, const char *text)
{
	char *end = NULL;
	uint32_t id = (uint32_t)strtoul(text, &end, 10);

	reply(serial, ab_ask_answer(gw, id, strcmp(end, " 1") == 0), 0, "");
}

/* A listener that was taken is not ours to close. */
static void on_preview(ab_gw *gw, uint32_t serial, const char *name, int *fd)
{
	uint16_t port = ab_target_port(name, strlen(name));
	int rc = port ? ab_preview_set(gw, port, *fd) : -EINVAL;

	if (rc == 0)
		*fd = -1;
	reply(serial, rc, 0, "");
}

/* By whichever way the box has it, or it would go on by the other one. */
static void on_forget(ab_gw *gw, uint32_t serial, const char *name)
{
	int64_t n = gw->broker ? ab_broker_forget(gw->broker, name) : -ENOENT;
	int64_t more = gw->routes ? ab_routes_forget(gw->routes, name)
				  : -ENOENT;

	if (more >= 0)
		n = more + (n > 0 ? n : 0);
	reply(serial, n < 0 ? (int32_t)n : 0, n < 0 ? 0 : (uint64_t)n, "");
}

/* The host is gone, or no sense is to be made of it. */
static _Noreturn void end(ab_gw *gw, int status)
{
	ab_broker_end(gw->broker);
	_exit(status);
}

static void serve_control(ab_gw *gw)
{
	uint8_t message[AB_GATEWAY_MAX_REQUEST];
	uint32_t kind, serial;
	const char *name = "";
	int32_t result = 0;
	uint64_t cut;
	size_t count = 0;
	ab_reader r;
	int fd = -1;
	ssize_t n;

	n = ab_message_recv(AB_HELPER_CONTROL_FD, message, sizeof(message),
			    &fd, 1, &count, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	if (n <= 0)
		end(gw, 0);
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	if (ab_get_u32(&r) != count)
		end(gw, 1);
	serial = ab_get_u32(&r);
	if (kind == AB_MSG_GW_SECRET ||
	    (kind >= AB_MSG_GW_FORGET && kind <= AB_MSG_GW_APPROVING))
		name = ab_get_str(&r);
	if (kind == AB_MSG_GW_VALUE)
		result = ab_get_i32(&r);
	if (!ab_reader_done(&r))
		end(gw, 1);
	if (kind == AB_MSG_GW_LISTS && count == 1) {
		on_lists(gw, serial, fd);
	} else if (kind == AB_MSG_GW_REVOKE && count == 0) {
		ab_gw_revoke(gw, &cut);
		reply(serial, 0, cut, "");
	} else if (kind == AB_MSG_GW_SECRET) {
		on_secret(gw, serial, name, fd);
	} else if ((kind == AB_MSG_GW_ASKING ||
		    kind == AB_MSG_GW_APPROVING) && count == 0) {
		ab_ask_set(gw, kind == AB_MSG_GW_APPROVING,
			   (uint32_t)strtoul(name, NULL, 10));
		reply(serial, 0, 0, "");
	} else if (kind == AB_MSG_GW_ANSWER && count == 0) {
		on_verdict(gw, serial, name);
	} else if (kind == AB_MSG_GW_PREVIEW) {
		on_preview(gw, serial, name, &fd);
	} else if (kind == AB_MSG_GW_UNROUTE && count == 0) {
		on_unroute(gw, serial, name);
	} else if (kind == AB_MSG_GW_FORGET && count == 0) {
		on_forget(gw, serial, name);
	} else if (kind == AB_MSG_GW_VALUE && gw->broker) {
		ab_broker_value(gw->broker, serial, result, fd);
	} else {
		end(gw, 1);
	}
	if (fd >= 0)
		close(fd);
}

static void take_reserve(ab_gw *gw)
{
	int fd = ab_fd_dup(AB_HELPER_CONTROL_FD);

	gw->reserve_fd = fd < 0 ? -1 : fd;
}

/*
 * A box that has taken every descriptor is told of new lists nevertheless:
 * there is one for what comes with a message, and nobody else gets it.
 */
static void on_control(void *arg, uint32_t events)
{
	ab_gw *gw = arg;

	(void)events;
	if (gw->reserve_fd >= 0)
		close(gw->reserve_fd);
	serve_control(gw);
	take_reserve(gw);
}

/* Its death is seen here, also where a child of its holds the socket. */
static void on_host(void *arg, uint32_t events)
{
	(void)events;
	end(arg, 0);
}

int ab_control_begin(ab_gw *gw)
{
	const struct timeval room = { .tv_sec = AB_RECORD_WAIT_S };
	int rc;

	take_reserve(gw);
	/* of answers, too: who asked reads until it has one */
	if (setsockopt(AB_HELPER_CONTROL_FD, SOL_SOCKET, SO_SNDTIMEO, &room,
		       sizeof(room)))
		return -errno;
	rc = ab_watch_add(&gw->loop, &gw->control, AB_HELPER_CONTROL_FD,
			  EPOLLIN, on_control, gw);
	return rc ? rc : ab_watch_add(&gw->loop, &gw->host, gw->host_pidfd,
				      EPOLLIN, on_host, gw);
}
