/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames over descriptors, and what the guard says of them into the audit.
 * Nothing here waits: who calls has polled. Specification: mcp.h.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp.h"
#include "text.h"

#define READ_BYTES 65536
#define WRITE_BYTES 2048 /* a pipe or terminal that said POLLOUT takes it */
#define WRITE_TIMES 32

void link_end(mcp_link *l)
{
	free(l->line);
	free(l->queue);
	l->line = l->queue = NULL;
}

size_t link_waits(const mcp_link *l)
{
	return l->end - l->start;
}

static bool make_room(mcp_link *l, size_t n)
{
	if (l->start) {
		memmove(l->queue, l->queue + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
	}
	if (n > LINK_MOST - l->end)
		return false;
	if (l->end + n <= l->room)
		return true;
	size_t room = 2 * (l->end + n);
	char *grown = realloc(l->queue, room);
	if (!grown)
		return false;
	l->queue = grown;
	l->room = room;
	return true;
}

bool link_put(mcp_link *l, const char *frame, size_t n)
{
	if (l->out < 0)
		return true; /* its answer is for nobody */
	if (!make_room(l, n + 1))
		return false;
	memcpy(l->queue + l->end, frame, n);
	l->queue[l->end + n] = '\n';
	l->end += n + 1;
	return true;
}

/* The descriptor may be shared with others: what it is set to is theirs. */
static ssize_t write_some(int fd, const char *p, size_t n)
{
	ssize_t done = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (done < 0 && errno == ENOTSOCK)
		done = write(fd, p, n > WRITE_BYTES ? WRITE_BYTES : n);
	return done;
}

static bool takes_more(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0;
}

bool link_write(mcp_link *l)
{
	for (int i = 0; i < WRITE_TIMES && link_waits(l) && l->out >= 0; i++) {
		if (i && !takes_more(l->out))
			return true;
		ssize_t done = write_some(l->out, l->queue + l->start,
					  link_waits(l));
		if (done < 0)
			return errno == EAGAIN || errno == EINTR;
		l->start += (size_t)done;
	}
	if (!link_waits(l) && l->room > LINK_HIGH) {
		/* a large answer's memory is not kept */
		free(l->queue);
		l->queue = NULL;
		l->room = l->start = l->end = 0;
	}
	return true;
}

int link_read(mcp_link *l, bool (*fn)(void *data, const char *p, size_t n),
	      void *data)
{
	char *grown = realloc(l->line, l->line_n + READ_BYTES);
	char *stop;

	if (!grown)
		return -1;
	l->line = grown;
	ssize_t got = read(l->in, l->line + l->line_n, READ_BYTES);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (got <= 0)
		return 0;
	size_t seen = l->line_n, from = 0;
	l->line_n += (size_t)got;
	while ((stop = memchr(l->line + seen, '\n', l->line_n - seen))) {
		size_t end = (size_t)(stop - l->line);
		if (!fn(data, l->line + from, end - from))
			return -1;
		from = seen = end + 1;
	}
	l->line_n -= from;
	memmove(l->line, l->line + from, l->line_n);
	if (l->line_n <= AGENTBOX_MCP_FRAME_MAX)
		return 1;
	return fn(data, l->line, l->line_n) ? 1 : -1;
}

/* --- the guard's decisions ---------------------------------------------- */

/* A tool that vanishes is worth a line; the rest is in the audit. */
static void tell(mcp_session *s, const json_t *event)
{
	const char *type = text_of(event, "type");
	const char *verdict = text_of(event, "verdict");

	if (!strcmp(type, "mcp.tool"))
		text_warning("tool '%s' is not shown: %s",
			     text_of(event, "subject"),
			     text_of(event, "reason"));
	else if (s->t->verbose)
		text_note("%s %s %s %s", type, verdict,
			  text_of(event, "subject"),
			  text_of(event, "reason"));
}

static bool record(mcp_session *s, json_t *event)
{
	agentbox_error *err = NULL;
	char type[64];
	bool ok = false;

	tell(s, event);
	if (!s->audit)
		return true;
	strncpy(type, text_of(event, "type"), sizeof(type) - 1);
	type[sizeof(type) - 1] = '\0';
	json_object_del(event, "type");
	json_object_set_new(event, "actor",
			    json_pack("{s:I, s:I, s:i}", "uid",
				      (json_int_t)getuid(), "euid",
				      (json_int_t)geteuid(), "pid",
				      (int)getpid()));
	json_object_set_new(event, "config_hash", json_string(s->digest));
	char *text = json_dumps(event, JSON_COMPACT);
	if (text)
		ok = agentbox_audit_append(s->audit, type, text, strlen(text),
					   &err) == 0;
	free(text);
	/* what cannot be recorded does not happen */
	if (!ok)
		s->status = tool_fail(s->t, err, "--audit");
	return ok;
}

static bool record_all(mcp_session *s)
{
	agentbox_bytes *bytes = NULL;
	int32_t rc;
	bool ok = true;

	while (ok &&
	       (rc = agentbox_mcp_next_event(s->guard, &bytes, NULL)) !=
		       AGENTBOX_EAGAIN) {
		json_t *event = rc == 0 ? tool_json_of(bytes) : NULL;
		ok = event && record(s, event);
		json_decref(event);
	}
	return ok;
}

static bool send_all(mcp_session *s)
{
	agentbox_bytes *bytes = NULL;
	int32_t side;
	bool ok = true;

	while (ok && agentbox_mcp_next_frame(s->guard, &side, &bytes, NULL) ==
			     0) {
		mcp_link *l = side == AGENTBOX_MCP_CLIENT ? &s->client
							  : &s->server;
		if (l == &s->server && s->inbox) {
			ok = json_array_append_new(s->inbox,
						   tool_json_of(bytes)) == 0;
			continue;
		}
		ok = link_put(l, agentbox_bytes_get_data(bytes),
			      agentbox_bytes_get_size(bytes));
		agentbox_bytes_free(bytes);
	}
	return ok;
}

bool mcp_take(mcp_session *s, int32_t side, const char *p, size_t n)
{
	agentbox_error *err = NULL;
	int32_t rc = agentbox_mcp_take(s->guard, side, p, n, &err);
	bool ok = record_all(s) && send_all(s);

	if (rc == 0 && ok)
		return true;
	if (rc < 0)
		s->status = tool_fail_as(s->t, TOOL_REFUSED, err,
					 side == AGENTBOX_MCP_CLIENT
					 ? "the client" : "the server");
	else if (!s->status)
		s->status = tool_refuse(s->t, TOOL_REFUSED, "ELIMIT", NULL,
					"more than %u bytes wait to be read",
					LINK_MOST);
	return false;
}

json_t *mcp_identity(const json_t *policy)
{
	static const char *const keys[] = { "account", "workspace_id",
					    "identity", "name" };
	json_t *out = json_pack("{s:I, s:I}", "uid", (json_int_t)getuid(),
				"euid", (json_int_t)geteuid());

	for (size_t i = 0; out && i < sizeof(keys) / sizeof(*keys); i++) {
		json_t *v = json_object_get(policy, keys[i]);
		if (v)
			json_object_set(out, keys[i], v);
	}
	return out;
}
