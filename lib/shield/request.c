/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is said to a shield and what it says. It reads what agents wrote, so
 * everything of its is parsed strictly: whatever is malformed ends it, and so
 * does silence; the kernel refuses every exec then. Messages: wire/shield.h.
 */
#include "config.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "shield/internal.h"
#include "wire/message.h"

#define LOSE_TIMEOUT_MS 200
#define MOST_ERRNO 4095 /* of a system call's answer */
/* Records that are read in one go: more than a socket holds. A box that
   executes without end holds nobody here. */
#define MOST_AT_ONCE 4096

/* What it answered. */
typedef struct answer {
	int32_t result;
	char why[256];
} answer;

void ab_shield_lose(agentbox_shield *s)
{
	if (s->has_ended)
		return;
	s->has_ended = true;
	ab_shield_end_helper(s, LOSE_TIMEOUT_MS);
	s->told(s->arg, NULL);
}

static int read_reply(ab_reader *r, uint32_t serial, answer *out)
{
	uint32_t got = ab_get_u32(r);
	const char *why;
	size_t n;

	out->result = ab_get_i32(r);
	why = ab_get_str(r);
	n = strlen(why);
	/* 0 or -errno, which is negated later */
	if (!ab_reader_done(r) || !serial || got != serial ||
	    out->result > 0 || out->result < -MOST_ERRNO ||
	    n >= sizeof(out->why))
		return -EPROTO;
	memcpy(out->why, why, n + 1);
	return 1;
}

/*
 * One datagram without waiting, lock held: a record is told, the answer to
 * `serial` gives 1, nothing there -EAGAIN.
 */
static int take(agentbox_shield *s, uint32_t serial, answer *out)
{
	uint8_t message[AB_SHIELD_MAX_RECORD + 2048];
	ab_shield_record record;
	size_t count = 0;
	uint32_t kind;
	ab_reader r;
	ssize_t n = ab_message_recv(s->helper.control_fd, message,
				    sizeof(message), NULL, 0, &count,
				    MSG_DONTWAIT);

	if (n <= 0)
		return n ? (int)n : -ECONNRESET;
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	if (ab_get_u32(&r) != 0)
		return -EPROTO;
	if (kind == AB_MSG_SH_REPLY)
		return read_reply(&r, serial, out);
	if (kind != AB_MSG_SH_RECORD || ab_shield_record_get(&r, &record) < 0)
		return -EPROTO;
	s->told(s->arg, &record);
	return 0;
}

void ab_shield_drain(agentbox_shield *s)
{
	answer unused;
	int rc = 0;

	if (!s || s->owner != getpid() || pthread_mutex_trylock(&s->lock) != 0)
		return; /* who waits for an answer reads the socket */
	for (int i = 0; rc == 0 && i < MOST_AT_ONCE; i++)
		rc = s->has_ended ? -EAGAIN : take(s, 0, &unused);
	if (rc && rc != -EAGAIN)
		ab_shield_lose(s);
	pthread_mutex_unlock(&s->lock);
}

/* Send and wait, lock held. 0 and what it said, or -errno: it is lost. */
static int ask(agentbox_shield *s, const ab_writer *w, answer *out)
{
	uint64_t deadline = ab_clock_deadline(AB_SHIELD_ANSWER_MS);
	/* one that has not read so much is not well */
	int rc = ab_message_send(s->helper.control_fd, w->data, w->len, NULL,
				 0, MSG_DONTWAIT);

	for (int i = 0; rc == 0 && i < MOST_AT_ONCE; i++) {
		rc = ab_fd_poll(s->helper.control_fd, POLLIN,
				ab_clock_left_ms(deadline));
		if (rc > 0)
			rc = take(s, s->serial, out);
		else if (rc == 0)
			rc = -ETIMEDOUT;
		if (rc == -EAGAIN)
			rc = 0;
	}
	if (rc == 1)
		return 0;
	ab_shield_lose(s);
	/* nothing but records, for longer than a well one has any */
	return rc ? rc : -ETIMEDOUT;
}

static int32_t usable(const agentbox_shield *s, agentbox_error **err)
{
	if (!s)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "shield is NULL");
	if (s->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "shield",
				    "a forked child cannot use the shield");
	return 0;
}

static void put_u32_at(ab_writer *w, size_t at, uint32_t value)
{
	ab_writer there;

	ab_writer_init_fixed(&there, w->data + at, sizeof(value));
	ab_put_u32(&there, value);
}

/* The beginning of a message; its end is request(). */
static void begin(ab_writer *w, void *memory, size_t size, uint32_t kind)
{
	ab_writer_init_fixed(w, memory, size);
	ab_put_u32(w, kind);
	ab_put_u32(w, 0);
	ab_put_u32(w, 0); /* the serial, put in by request() */
}

static int32_t request(agentbox_shield *s, ab_writer *w, answer *out,
		       agentbox_error **err)
{
	int32_t rc = usable(s, err);
	int failed;

	if (rc)
		return rc;
	if (w->bad)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "it does not fit a message");
	pthread_mutex_lock(&s->lock);
	s->serial += s->serial == UINT32_MAX ? 2 : 1;
	put_u32_at(w, AB_MESSAGE_HEADER, s->serial);
	failed = s->has_ended ? -ECONNRESET : ask(s, w, out);
	pthread_mutex_unlock(&s->lock);
	return failed ? ab_error_sys_code(err, AGENTBOX_ECLOSED, -failed,
					  "shield",
					  "the shield no longer answers; "
					  "nothing is started in the box any "
					  "more")
		      : 0;
}

int32_t agentbox_shield_is_alive(agentbox_shield *s)
{
	uint8_t memory[32];
	answer a;
	ab_writer w;

	begin(&w, memory, sizeof(memory), AB_MSG_SH_PING);
	return request(s, &w, &a, NULL) == 0;
}

bool ab_shield_own(agentbox_shield *s, bool begins)
{
	uint8_t memory[32];
	answer a = { .result = -ECANCELED };
	ab_writer w;

	begin(&w, memory, sizeof(memory), AB_MSG_SH_OWN);
	ab_put_u32(&w, begins);
	return request(s, &w, &a, NULL) == 0 && a.result == 0;
}

/* --- verify --------------------------------------------------------------- */

static bool is_name(const char *s)
{
	return s && *s && strlen(s) <= AB_SHIELD_MAX_NAME;
}

int32_t agentbox_shield_verify(agentbox_shield *s, const char *tool,
			       const char *target, const char *action,
			       int32_t *verdict, agentbox_bytes **why,
			       agentbox_error **err)
{
	uint8_t memory[3 * (AB_SHIELD_MAX_NAME + 8) + 32];
	agentbox_bytes *text;
	answer a = { 0 };
	ab_writer w;
	int32_t rc;

	if (verdict)
		*verdict = AGENTBOX_VERDICT_DENY;
	if (!verdict || !tool || !target || !action)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "verdict, tool, target or action is NULL");
	if (!is_name(tool) || !is_name(target) || !is_name(action))
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "a name is empty or longer than %d bytes",
				    AB_SHIELD_MAX_NAME);
	begin(&w, memory, sizeof(memory), AB_MSG_SH_VERIFY);
	ab_put_str(&w, tool);
	ab_put_str(&w, target);
	ab_put_str(&w, action);
	rc = request(s, &w, &a, err);
	if (rc)
		return rc;
	if (why) {
		text = ab_bytes_from(a.why, strlen(a.why));
		if (!text)
			return ab_error_nomem(err);
		*why = text;
	}
	if (a.result == 0)
		*verdict = AGENTBOX_VERDICT_ALLOW;
	return 0;
}

/* --- grants --------------------------------------------------------------- */

/* Of the elements that grant something to this box: 1 added, 0 not, -1 bad. */
static int put_grant(const agentbox_shield *s, const json_t *grant,
		     ab_writer *w)
{
	const char *reader = json_string_value(json_object_get(grant,
							       "reader"));
	const char *source = json_string_value(json_object_get(grant,
							       "source"));
	const char *name = json_string_value(json_object_get(grant, "name"));
	const char *state = json_string_value(json_object_get(grant, "state"));

	if (!reader || !state || !is_name(source) || !is_name(name))
		return -1;
	if (strcmp(reader, s->box_id) != 0 || strcmp(state, "live") != 0)
		return 0;
	ab_put_str(w, source);
	ab_put_str(w, name);
	return 1;
}

/* 0, EPARSE or ELIMIT; then the message says that there are none. */
static int32_t put_grants(const agentbox_shield *s, const json_t *list,
			  ab_writer *w, agentbox_error **err)
{
	const size_t at = w->len;
	uint32_t count = 0;
	int added = 0;

	ab_put_u32(w, 0);
	if (!json_is_array(list))
		added = -1;
	for (size_t i = 0; i < json_array_size(list) && added >= 0 &&
			   count <= AB_SHIELD_MAX_GRANTS; i++) {
		added = put_grant(s, json_array_get(list, i), w);
		count += added == 1;
	}
	if (added >= 0 && count <= AB_SHIELD_MAX_GRANTS && !w->bad) {
		put_u32_at(w, at, count);
		return 0;
	}
	w->bad = false;
	w->len = at;
	ab_put_u32(w, 0);
	return added < 0 ? ab_error_set(err, AGENTBOX_EPARSE, "",
					"not a list of grants; none is in "
					"force now")
			 : ab_error_set(err, AGENTBOX_ELIMIT, "",
					"more than %d grants; none is in force "
					"now", AB_SHIELD_MAX_GRANTS);
}

int32_t agentbox_shield_set_grants(agentbox_shield *s, const char *json,
				   size_t n, agentbox_error **err)
{
	ab_autofree uint8_t *memory = NULL;
	ab_auto(json_t) *list = NULL;
	answer a = { 0 };
	ab_writer w;
	int32_t bad, rc = usable(s, err);

	if (rc)
		return rc;
	if (!json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "json is NULL");
	memory = ab_calloc(1, AB_MAX_MESSAGE);
	if (!memory)
		return ab_error_nomem(err);
	begin(&w, memory, AB_MAX_MESSAGE, AB_MSG_SH_GRANTS);
	/* what is no JSON is no list */
	(void)ab_json_parse(json, n, AB_MAX_POLICY_BYTES, &list, NULL,
			    NULL);
	bad = put_grants(s, list, &w, err);
	rc = request(s, &w, &a, bad ? NULL : err);
	if (bad || rc)
		return bad ? bad : rc;
	return a.result ? ab_error_sys_code(err, AGENTBOX_EPROTO, -a.result,
					    "shield", "the grants were refused")
			: 0;
}

/* --- calls and answers ---------------------------------------------------- */

static int32_t say_call(agentbox_shield *s, const char *id, uint32_t begins,
			agentbox_error **err)
{
	uint8_t memory[AB_SHIELD_MAX_NAME + 64];
	answer a = { 0 };
	ab_writer w;
	int32_t rc;

	if (!is_name(id))
		return ab_error_set(err, AGENTBOX_EINVAL, "id",
				    "not the id of a call");
	begin(&w, memory, sizeof(memory), AB_MSG_SH_CALL);
	ab_put_u32(&w, begins);
	ab_put_str(&w, id);
	rc = request(s, &w, &a, err);
	if (rc || a.result == 0)
		return rc;
	if (a.result == -E2BIG)
		return ab_error_set(err, AGENTBOX_ELIMIT, "id",
				    "%d calls are under way",
				    AB_SHIELD_MAX_CALLS);
	return begins ? ab_error_set(err, AGENTBOX_EEXIST, "id",
				     "a call of this id is under way")
		      : ab_error_set(err, AGENTBOX_ENOTFOUND, "id",
				     "no call of this id is under way");
}

int32_t agentbox_shield_begin_call(agentbox_shield *s, const char *id,
				   agentbox_error **err)
{
	return say_call(s, id, 1, err);
}

int32_t agentbox_shield_end_call(agentbox_shield *s, const char *id,
				 agentbox_error **err)
{
	return say_call(s, id, 0, err);
}

int32_t agentbox_shield_answer(agentbox_shield *s, const char *id,
			       int32_t allow, agentbox_error **err)
{
	uint8_t memory[64];
	answer a = { 0 };
	uint64_t number = 0;
	ab_writer w;
	int32_t rc;
	size_t n = id ? strlen(id) : 0;

	if (n == 0 || n > 18 || strspn(id, "0123456789") != n)
		return ab_error_set(err, AGENTBOX_EINVAL, "id",
				    "not the id of what was asked");
	for (size_t i = 0; i < n; i++)
		number = 10 * number + (uint64_t)(id[i] - '0');
	begin(&w, memory, sizeof(memory), AB_MSG_SH_ANSWER);
	ab_put_u64(&w, number);
	ab_put_u32(&w, allow != 0);
	rc = request(s, &w, &a, err);
	if (rc == 0 && a.result)
		rc = ab_error_set(err, AGENTBOX_ENOTFOUND, "id",
				  "nothing is asked under this id any more");
	return rc;
}
