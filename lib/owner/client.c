/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What clients ask, and what they are told. A client that breaks the
 * protocol or does not read its answers loses its connection; it is never
 * waited for.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "owner/internal.h"
#include "policy/policy.h"
#include "sandbox/sandbox.h"
#include "wire/message.h"

AB_DEFINE_AUTO(agentbox_command, agentbox_command_free)

void ab_client_drop(ab_client *c)
{
	if (c->gone)
		return;
	c->gone = true;
	ab_owner_end_socket(c->owner, &c->fd);
	for (agentbox_request *q = c->owner->requests; q; q = q->next)
		if (q->client == c)
			q->client = NULL;
}

void ab_client_answer(ab_client *c, uint32_t serial, int32_t code,
		      const char *text, size_t n)
{
	uint8_t memory[4096];
	ab_autofd int memfd = -1;
	ab_writer w;

	/* Long texts travel as a memfd; an error message is cut to fit. */
	if (n > 2048 && code == 0) {
		memfd = ab_fd_memfd_sealed("agentbox-answer", text, n);
		if (memfd < 0) {
			code = AGENTBOX_ENOMEM;
			text = "out of memory";
		}
		n = memfd < 0 ? strlen(text) : 0;
	}
	if (n > 2048)
		n = 2048;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_OWNER_ANSWER);
	ab_put_u32(&w, memfd >= 0);
	ab_put_u32(&w, serial);
	ab_put_i32(&w, code);
	ab_put_bytes(&w, text, n);
	/* A client that does not read its answers is not waited for. */
	if (w.bad || ab_message_send(c->fd, w.data, w.len, &memfd, memfd >= 0,
				     MSG_DONTWAIT) < 0)
		ab_client_drop(c);
}

static void answer_error(ab_client *c, uint32_t serial, int32_t code,
			 const agentbox_error *error)
{
	const char *text = agentbox_error_get_message(error);

	ab_client_answer(c, serial, code, text, strlen(text));
}

static json_t *describe(const agentbox_owner *o, const ab_served *s)
{
	agentbox_policy *policy = ab_box_policy(s->box);
	const json_t *snapshot = ab_policy_section(policy, "/snapshot");
	ab_box_facts facts;

	ab_box_facts_of(s->box, &facts);
	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:s?, s:s?, s:b, "
			 "s:O?, s:o, "
			 "s:{s:s?, s:I, s:I}}",
			 "id", agentbox_sandbox_get_id(s->box),
			 "name", s->name,
			 "tier", agentbox_sandbox_get_tier(s->box),
			 "owner_pid", (int)o->pid, "owner_name", o->name,
			 "policy", agentbox_policy_get_name(policy),
			 "config_hash", agentbox_policy_get_digest(policy),
			 "account", facts.account,
			 "identity", ab_policy_get(policy)->identity,
			 "reads_peers", facts.is_reader,
			 "snapshot", (json_t *)(uintptr_t)snapshot,
			 "hidden", ab_box_hidden(s->box),
			 "workspace", "path", facts.workspace,
			 "dev", (json_int_t)facts.workspace_dev,
			 "ino", (json_int_t)facts.workspace_ino);
}

static void serve_list(agentbox_owner *o, ab_client *c, uint32_t serial)
{
	ab_auto(agentbox_bytes) *text = NULL;
	ab_auto(agentbox_error) *error = NULL;
	ab_auto(json_t) *all = json_pack("{s:i, s:s, s:[]}", "owner_pid",
					 (int)o->pid, "owner_name", o->name,
					 "boxes");
	json_t *boxes = json_object_get(all, "boxes");

	for (const ab_served *s = o->boxes; s; s = s->next)
		if (json_array_append_new(boxes, describe(o, s)) < 0) {
			ab_client_answer(c, serial, AGENTBOX_ENOMEM, "", 0);
			return;
		}
	int32_t rc = all ? ab_json_canonical(all, &text, &error)
			 : AGENTBOX_ENOMEM;
	if (rc < 0)
		answer_error(c, serial, rc, error);
	else
		ab_client_answer(c, serial, 0, agentbox_bytes_get_data(text),
				 agentbox_bytes_get_size(text));
}

agentbox_sandbox *ab_owner_find_box(const agentbox_owner *o, const char *name)
{
	for (const ab_served *s = o->boxes; s; s = s->next)
		if (strcmp(agentbox_sandbox_get_id(s->box), name) == 0 ||
		    (s->name[0] && strcmp(s->name, name) == 0))
			return s->box;
	return NULL;
}

int32_t ab_owner_slurp(int fd, size_t max, char **text, size_t *n,
		       agentbox_error **err)
{
	int rc = ab_fd_check_sealed(fd, max, n);
	if (rc == 0)
		rc = ab_fd_slurp(fd, max, text, n);
	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_EPROTO, -rc, "",
					 "the request's text is no sealed "
					 "memfd within %zu bytes", max);
	return 0;
}

static int32_t serve_spawn(agentbox_owner *o, const char *name, int *fds,
			   size_t fd_count, agentbox_error **err)
{
	ab_auto(agentbox_command) *command = NULL;
	ab_autofree char *bytes = NULL;
	size_t n = 0;
	ab_reader r;

	agentbox_sandbox *box = ab_owner_find_box(o, name);
	if (!box)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "no box '%s' here", name);
	if (fd_count < 2)
		return ab_error_set(err, AGENTBOX_EPROTO, "",
				    "a spawn without its descriptors");
	int32_t rc = ab_owner_slurp(fds[1], AB_OWNER_MAX_COMMAND, &bytes, &n,
				    err);
	if (rc < 0)
		return rc;
	ab_reader_init(&r, bytes, n);
	rc = ab_command_get(&r, fds + 2, fd_count - 2, &command, err);
	if (rc == 0)
		rc = ab_job_start(o, box, &fds[0], command, err);
	return rc;
}

static int32_t serve_kill(agentbox_owner *o, const char *name,
			  agentbox_error **err)
{
	agentbox_sandbox *box = ab_owner_find_box(o, name);

	if (!box)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "no box '%s' here", name);
	return agentbox_sandbox_kill_all(box, err);
}

/* One box: 1 it was its turn, 0 it has nothing of that, or an error. */
static int32_t take_away(agentbox_sandbox *box, uint32_t kind,
			 const char *name, uint64_t *count,
			 agentbox_error **err)
{
	const char *identity = ab_policy_get(ab_box_policy(box))->identity;
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(box);
	int32_t rc;

	if (kind == AB_OWNER_REVOKE) {
		if (!identity || strcmp(identity, name) != 0)
			return 0;
		rc = agentbox_sandbox_revoke(box, count, err);
		return rc ? rc : 1;
	}
	if (!gateway)
		return 0;
	rc = agentbox_gateway_forget_secret(gateway, name, count, NULL);
	return rc == AGENTBOX_ENOTFOUND || rc == AGENTBOX_EINVAL ? 0
	       : rc ? rc : 1;
}

/* Every box has its turn, whatever went wrong with another. */
static void serve_taking(agentbox_owner *o, ab_client *c, uint32_t serial,
			 uint32_t kind, const char *name)
{
	ab_auto(agentbox_bytes) *text = NULL;
	ab_auto(agentbox_error) *error = NULL;
	ab_auto(json_t) *all = json_array();
	int32_t failed = all ? 0 : AGENTBOX_ENOMEM;

	for (const ab_served *s = o->boxes; s; s = s->next) {
		uint64_t count = 0;
		int32_t rc = take_away(s->box, kind, name, &count,
				       failed ? NULL : &error);

		if (rc < 0)
			failed = failed ? failed : rc;
		if (rc > 0 && json_array_append_new(
				all, json_pack("{s:s, s:s, s:I}", "id",
					       agentbox_sandbox_get_id(s->box),
					       "name", s->name, "cut",
					       (json_int_t)count)))
			failed = AGENTBOX_ENOMEM;
	}
	if (!failed)
		failed = ab_json_canonical(all, &text, &error);
	if (failed)
		answer_error(c, serial, failed, error);
	else
		ab_client_answer(c, serial, 0, agentbox_bytes_get_data(text),
				 agentbox_bytes_get_size(text));
}

/* One datagram of a client; false: it broke the protocol. */
static bool serve(agentbox_owner *o, ab_client *c, ab_reader *r, int *fds,
		  size_t fd_count)
{
	ab_auto(agentbox_error) *error = NULL;
	uint32_t kind = ab_get_u32(r);
	uint32_t announced = ab_get_u32(r);
	uint32_t serial = ab_get_u32(r);
	bool takes = kind == AB_OWNER_REVOKE || kind == AB_OWNER_FORGET;
	bool has_name = kind == AB_OWNER_SPAWN || kind == AB_OWNER_KILL ||
			takes;
	const char *name = has_name ? ab_get_str(r) : "";
	int32_t rc;

	if (announced != fd_count || !ab_reader_done(r))
		return false;
	switch (kind) {
	case AB_OWNER_LIST:
		serve_list(o, c, serial);
		return true;
	case AB_OWNER_CALL:
		if (fd_count != 1)
			return false;
		rc = ab_request_queue(o, c, serial, fds[0], &error);
		if (rc < 0)
			answer_error(c, serial, rc, error);
		return true; /* answered by agentbox_request_reply() */
	case AB_OWNER_REVOKE:
	case AB_OWNER_FORGET:
		serve_taking(o, c, serial, kind, name);
		return true;
	case AB_OWNER_SPAWN:
		rc = serve_spawn(o, name, fds, fd_count, &error);
		break;
	case AB_OWNER_KILL:
		rc = serve_kill(o, name, &error);
		break;
	default:
		return false;
	}
	answer_error(c, serial, rc, error);
	return true;
}

void ab_client_ready(ab_client *c)
{
	uint8_t buf[4096];
	int fds[2 + AB_MAX_EXTRA_FDS];
	size_t fd_count = 0;
	ab_reader r;

	if (c->gone)
		return;
	ssize_t n = ab_message_recv(c->fd, buf, sizeof(buf), fds,
				    AB_ARRAY_LEN(fds), &fd_count, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		ab_client_drop(c);
		return;
	}
	ab_reader_init(&r, buf, (size_t)n);
	if (!serve(c->owner, c, &r, fds, fd_count))
		ab_client_drop(c);
	for (size_t i = 0; i < fd_count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
