/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions with the servers of tools: each message is handed to the guard,
 * what it decided is recorded, and only then what it gives goes to the server
 * or to who asked. What cannot be recorded does not happen. A session is
 * known by an id of ours, which no other box's gateway knows and no client
 * chose; the server's own id is never shown. Spec: mcp_internal.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/secret.h"
#include "mcp_internal.h"

/* --- records and memory --------------------------------------------------- */

bool ab_mcp_tell(ab_mcps *mcps, uint32_t kind, const char *server,
		 const char *subject, const char *reason, const char *rule,
		 const char *detail, bool required)
{
	char target[400];
	ab_gw_record record = { .kind = kind, .how = "mcp", .target = target,
				.reason = reason, .rule = rule,
				.detail = detail };

	snprintf(target, sizeof(target), "%s%s%s", server,
		 subject[0] ? ":" : "", subject);
	return ab_gw_tell(mcps->gw, &record, required);
}

bool ab_mcp_room(ab_mcps *mcps, ab_mcp_bytes *b, size_t n, size_t most)
{
	size_t have = b->len - b->at, size = b->size ? b->size : 4096;
	char *grown;

	if (n > most || have > most - n)
		return false;
	if (b->at) {
		memmove(b->p, b->p + b->at, have);
		b->at = 0;
		b->len = have;
	}
	if (have + n <= b->size)
		return true;
	while (size < have + n)
		size *= 2;
	if (size - b->size > AB_MCP_HELD_MAX - mcps->held)
		return false;
	grown = ab_realloc(b->p, size, 1);
	if (!grown)
		return false;
	mcps->held += size - b->size;
	b->p = grown;
	b->size = size;
	return true;
}

void ab_mcp_bytes_end(ab_mcps *mcps, ab_mcp_bytes *b)
{
	mcps->held -= b->size;
	free(b->p);
	*b = (ab_mcp_bytes){ 0 };
}

/* --- the life of one ------------------------------------------------------ */

static void session_free(void *arg)
{
	ab_mcp_session *s = arg;

	agentbox_mcp_free(s->guard);
	free(s);
}

/* It is nobody's any more; posts and legs still point here, for this turn. */
static void detach(ab_mcp_session *s)
{
	ab_mcp_server *server = s->server;
	ab_loop *loop = ab_gw_loop(server->mcps->gw);

	s->is_over = true;
	ab_timer_clear(loop, &s->timer);
	ab_live_remove(&s->live);
	if (server->stateless == s) {
		server->stateless = NULL;
	} else {
		*s->back = s->next;
		if (s->next)
			s->next->back = s->back;
		server->mcps->sessions--;
	}
	ab_loop_later(loop, &s->later, session_free, s);
}

/* Revoked: its posts and legs are cut as well, each by itself. */
static void session_cut(void *arg)
{
	detach(arg);
}

void ab_mcp_session_end(ab_mcp_session *s, const char *reason)
{
	if (s->is_over)
		return;
	detach(s);
	while (s->legs)
		ab_mcp_leg_drop(s->legs);
	while (s->posts)
		ab_mcp_post_fail(s->posts, 404, reason,
				 "the session is over");
	ab_mcp_tell(s->server->mcps, AB_GW_CLOSED, s->server->name, "",
		    reason, NULL, "a session", false);
}

void ab_mcp_session_leave(ab_mcp_session *s)
{
	if (s->server_id[0])
		ab_mcp_leg_delete(s);
}

static void on_idle(void *arg)
{
	ab_mcp_session *s = arg;

	if (s->posts || s->legs) {
		ab_mcp_session_touch(s);
		return;
	}
	ab_mcp_session_leave(s);
	ab_mcp_session_end(s, "mcp_idle");
}

void ab_mcp_session_touch(ab_mcp_session *s)
{
	if (s->id[0] && !s->is_over)
		ab_timer_set(ab_gw_loop(s->server->mcps->gw), &s->timer,
			     AB_MCP_IDLE_MS, on_idle, s);
}

static bool make_id(char out[AB_MCP_ID_SIZE])
{
	uint8_t bits[32];

	if (ab_random(bits, sizeof(bits)) < 0)
		return false;
	ab_hex(bits, sizeof(bits), out);
	return true;
}

static bool make_guard(ab_mcp_session *s)
{
	ab_mcps *mcps = s->server->mcps;

	if (agentbox_mcp_new(mcps->policy, s->server->name, &s->guard,
			     NULL) < 0 ||
	    agentbox_mcp_set_identity(s->guard, mcps->identity_text,
				      strlen(mcps->identity_text), NULL) < 0 ||
	    agentbox_mcp_set_ask(s->guard, 1, NULL) < 0)
		return false;
	if (s->server->memory)
		ab_mcp_memory_join(s->guard, s->server->memory);
	else
		s->server->memory = ab_mcp_memory_of(s->guard);
	return true;
}

ab_mcp_session *ab_mcp_session_new(ab_mcp_server *server, bool is_stateless)
{
	ab_mcps *mcps = server->mcps;
	ab_mcp_session *s;

	if (is_stateless && server->stateless)
		return server->stateless;
	if (!is_stateless && mcps->sessions >= AB_MCP_SESSIONS_MAX)
		return NULL;
	s = ab_new(ab_mcp_session);
	if (!s)
		return NULL;
	s->server = server;
	if (!make_guard(s) || (!is_stateless && !make_id(s->id))) {
		session_free(s);
		return NULL;
	}
	if (is_stateless) {
		server->stateless = s;
		return s;
	}
	mcps->sessions++;
	s->next = server->sessions;
	s->back = &server->sessions;
	if (s->next)
		s->next->back = &s->next;
	server->sessions = s;
	ab_live_add(mcps->gw, &s->live, session_cut, s);
	s->live.of = server->state;
	ab_mcp_session_touch(s);
	return s;
}

ab_mcp_session *ab_mcp_session_find(ab_mcp_server *server, const char *id,
				    size_t n)
{
	ab_mcp_session *found = NULL;

	if (n != AB_MCP_ID_SIZE - 1)
		return NULL;
	for (ab_mcp_session *s = server->sessions; s; s = s->next)
		if (ab_secret_equal(s->id, id, n) && s->is_greeted)
			found = s;
	return found;
}

void ab_mcp_session_settle(ab_mcp_session *s)
{
	ab_mcp_post *next;

	for (ab_mcp_post *p = s->posts; p && !s->is_over; p = next) {
		next = p->next;
		if (p->is_request && !ab_mcp_waits(s->guard, p->scope)) {
			ab_mcp_post_dismiss(p);
			/* the list may have changed in any way */
			next = s->posts;
		}
	}
}

ab_mcp_post *ab_mcp_session_post(ab_mcp_session *s, uint64_t scope)
{
	for (ab_mcp_post *p = s->posts; p; p = p->next)
		if (p->scope == scope)
			return p;
	return NULL;
}

/* --- what the guard says -------------------------------------------------- */

static const char *text_of(const json_t *v, const char *key)
{
	const char *s = json_string_value(json_object_get(v, key));

	return s ? s : "";
}

/* false: it is let through, and could not be recorded. */
static bool record(ab_mcp_session *s, const json_t *event)
{
	bool denied = strcmp(text_of(event, "verdict"), "deny") == 0;

	/* the host records what it is asked */
	if (strcmp(text_of(event, "verdict"), "ask") == 0)
		return true;
	return ab_mcp_tell(s->server->mcps,
			   denied ? AB_GW_DENIED : AB_GW_ALLOWED,
			   s->server->name, text_of(event, "subject"),
			   text_of(event, "type"), text_of(event, "rule"),
			   text_of(event, "reason"), !denied) || denied;
}

static bool record_all(ab_mcp_session *s)
{
	agentbox_bytes *bytes = NULL;
	bool ok = true;
	int32_t rc;

	while (ok && (rc = agentbox_mcp_next_event(s->guard, &bytes, NULL)) !=
			     AGENTBOX_EAGAIN) {
		json_t *event = NULL;

		if (rc == 0)
			event = json_loadb(agentbox_bytes_get_data(bytes),
					   agentbox_bytes_get_size(bytes), 0,
					   NULL);
		ok = event && record(s, event);
		json_decref(event);
		if (rc == 0)
			agentbox_bytes_free(bytes);
	}
	return ok;
}

static bool is_answer(const json_t *message)
{
	return !json_object_get(message, "method");
}

/* To who asked, or to the stream of what the server says by itself. */
static void deliver(ab_mcp_session *s, const ab_mcp_frame *frame)
{
	ab_mcp_post *p = ab_mcp_session_post(s, frame->scope);
	bool answer = is_answer(frame->message);
	bool greeting = p && p->is_greeting && answer;

	if (greeting)
		s->is_greeted = json_object_get(frame->message, "result");
	/* before its answer a greeting has no session that could say more */
	if (!answer && (!p || p->is_greeting ||
			(!p->is_request && !p->is_stream)))
		p = s->stream;
	if (p)
		ab_mcp_post_frame(p, frame);
	else
		ab_mcp_tell(s->server->mcps, AB_GW_DENIED, s->server->name,
			    text_of(frame->message, "method"), "mcp.dropped",
			    "mcp.server", "nobody listens any more", false);
	if (greeting && !s->is_greeted)
		ab_mcp_session_end(s, "mcp_not_greeted");
}

static void to_server(ab_mcp_session *s, ab_mcp_frame *frame)
{
	ab_auto(json_t) *id = json_incref(json_object_get(frame->message,
							  "id"));
	ab_mcp_post *p = ab_mcp_session_post(s, frame->scope);
	bool asks = !is_answer(frame->message) && id;

	if (ab_mcp_leg_post(s, frame))
		return;
	if (asks)
		ab_mcp_session_lost(s, id, "agentbox: the server cannot be "
				    "asked now", "mcp_busy");
	else if (p)
		p->failed = "mcp_busy";
}

/* About a call that somebody has to approve. */
static void ask_host(ab_mcp_session *s, const ab_mcp_question *q)
{
	ab_mcp_post *p = ab_mcp_session_post(s, q->scope);

	if ((!p || !ab_mcp_post_ask(p, q)) &&
	    ab_mcp_answer(s->guard, q->id, "it has to be approved, and nobody "
			  "can be asked now", NULL) < 0)
		ab_mcp_session_end(s, "mcp_ended");
}

void ab_mcp_session_answer(ab_mcp_session *s, uint64_t question,
			   const char *why)
{
	int32_t rc = ab_mcp_answer(s->guard, question, why, NULL);

	ab_mcp_session_pump(s);
	if (rc < 0)
		ab_mcp_session_end(s, "mcp_ended");
}

void ab_mcp_session_pump(ab_mcp_session *s)
{
	ab_mcp_question question;
	ab_mcp_frame frame;

	while (!s->is_over && ab_mcp_next_question(s->guard, &question))
		ask_host(s, &question);
	if (!s->is_over && !record_all(s)) {
		ab_mcp_session_end(s, "not_recorded");
		return;
	}
	while (!s->is_over && ab_mcp_next(s->guard, &frame)) {
		if (frame.side == AGENTBOX_MCP_SERVER)
			to_server(s, &frame);
		else
			deliver(s, &frame);
		ab_mcp_frame_end(&frame);
	}
}

void ab_mcp_session_take(ab_mcp_session *s, int32_t side, uint64_t scope,
			 json_t *value)
{
	int32_t rc;

	if (s->is_over)
		return;
	ab_mcp_session_touch(s);
	rc = ab_mcp_take_value(s->guard, side, scope, value, NULL);
	ab_mcp_session_pump(s);
	if (rc < 0)
		ab_mcp_session_end(s, "mcp_ended");
}

/* Called by the pump, too: what it queues is sent by the loop there. */
void ab_mcp_session_lost(ab_mcp_session *s, const json_t *id,
			 const char *text, const char *reason)
{
	if (!s->is_over &&
	    ab_mcp_lost(s->guard, id, text, reason, NULL) < 0)
		ab_mcp_session_end(s, "mcp_ended");
}
