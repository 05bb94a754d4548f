/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit records of a box: box.start, box.end, command.start,
 * command.exit, box.event. A command is recorded before it is sent to the
 * box; when the record cannot be written it is not sent (DESIGN.md
 * section 13). Field names are in agentbox-audit(5).
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "sandbox/internal.h"

static json_t *text(const agentbox_sandbox *box, const char *s)
{
	return ab_audit_text(box->audit, s, strlen(s));
}

static json_t *start_fields(const agentbox_sandbox *box, const char *subject)
{
	return json_pack("{s:{s:s, s:I, s:I, s:i}, s:o, s:s}",
			 "actor", "box", box->id,
			 "uid", (json_int_t)getuid(),
			 "euid", (json_int_t)geteuid(),
			 "pid", (int)box->owner,
			 "subject", text(box, subject), "config_hash",
			 agentbox_policy_get_digest(box->policy));
}

/* Adds a field, taken; a record that lacks one is not written: *f is NULL. */
static void add(json_t **f, const char *key, json_t *value)
{
	if (*f && json_object_set_new(*f, key, value) == 0)
		return;
	if (!*f)
		json_decref(value);
	json_decref(*f);
	*f = NULL;
}

static int32_t record(agentbox_sandbox *box, const char *type, json_t *fields,
		      agentbox_error **err)
{
	if (!fields)
		return ab_error_nomem(err);
	int32_t rc = ab_audit_record(box->audit, type, fields, err);
	json_decref(fields);
	return rc;
}

/* The walls that hold less than they could; what and why is in the report. */
static json_t *weaker_walls(const agentbox_sandbox *box)
{
	json_t *list = json_array();
	json_t *o;
	size_t i;

	json_array_foreach(box->weaker, i, o)
		if (list && json_array_append(list,
					      json_object_get(o, "wall"))) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

int32_t ab_record_box(agentbox_sandbox *box, const char *type,
		      agentbox_error **err)
{
	if (!box->audit)
		return 0;
	const char *path = ab_policy_get(box->policy)->workspace.path;
	json_t *f = start_fields(box, path ? path : "");
	add(&f, "tier", json_string(agentbox_sandbox_get_tier(box)));
	add(&f, "weaker", weaker_walls(box));
	return record(box, type, f, err);
}

static json_t *command_fields(const agentbox_sandbox *box,
			      const agentbox_command *c, size_t n)
{
	json_t *argv = json_array();

	for (size_t i = 0; argv && i < n; i++)
		if (json_array_append_new(argv, text(box, c->argv[i])) < 0) {
			json_decref(argv);
			argv = NULL;
		}
	json_t *f = start_fields(box, c->argv[0]);
	add(&f, "argv", argv);
	if (n < c->argc) {
		add(&f, "truncated", json_true());
		add(&f, "argc", json_integer((json_int_t)c->argc));
	}
	add(&f, "verdict", json_string("allow"));
	return f;
}

/* A record has an end; of the longest commands it has the beginning. */
int32_t ab_record_command(agentbox_sandbox *box, const agentbox_command *c,
			  agentbox_error **err)
{
	/* the shortest argument takes three bytes of a record */
	const size_t most = AB_MAX_AUDIT_RECORD / 3;
	size_t n = c->argc < most ? c->argc : most;
	ab_auto(agentbox_error) *why = NULL;
	int32_t rc;

	if (!box->audit)
		return 0;
	for (;;) {
		rc = record(box, "command.start", command_fields(box, c, n),
			    &why);
		if (rc != AGENTBOX_ELIMIT || n < 2)
			break;
		agentbox_error_free(why);
		why = NULL;
		n /= 2;
	}
	return rc < 0 ? ab_error_move(err, &why) : rc;
}

int32_t ab_record_exit(agentbox_sandbox *box, const agentbox_process *p,
		       agentbox_error **err)
{
	if (!box->audit)
		return 0;
	json_t *f = start_fields(box, "");
	add(&f, "command_pid", json_integer(p->pid));
	add(&f, "exit_status",
	    json_integer(agentbox_process_get_exit_status(p)));
	add(&f, "signal", json_integer(agentbox_process_get_signal(p)));
	add(&f, "reason", json_string(agentbox_process_get_reason(p)));
	return record(box, "command.exit", f, err);
}

int32_t ab_record_event(agentbox_sandbox *box, const agentbox_event *e,
			agentbox_error **err)
{
	if (!box->audit)
		return 0;
	json_t *f = start_fields(box, e->object);
	if (e->record) {
		if (f && json_object_update(f, e->record) < 0) {
			json_decref(f);
			f = NULL;
		}
		return record(box, e->kind >= AB_EVENT_EXEC ? "shield"
							    : "network", f,
			      err);
	}
	add(&f, "event", json_string(ab_event_kind_name(e->kind)));
	add(&f, "reason", text(box, e->detail));
	return record(box, "box.event", f, err);
}
