/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pass: one call of one tool to one sandbox, for a time (L27). It lifts what
 * the target alone would be refused for, and nothing else: the call is judged
 * as ever with that one id left out, so a second sandbox, an encoding or
 * broken arguments are refused as before, and the pass is kept for the call it
 * was meant for. It is used by exchange, so of two calls one has it.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "guard/decision.h"
#include "scope/internal.h"

#define MAX_TTL_MS 3600000

struct agentbox_pass {
	agentbox_scope *scope; /* owned */
	agentbox_audit *audit; /* owned */
	char *tool;	       /* owned */
	size_t tool_len;
	const char *target; /* borrowed from the scope */
	uint64_t deadline;  /* CLOCK_BOOTTIME */
	atomic_bool used;
};

static int32_t record_side(const agentbox_pass *p, const char *type,
			   const char *side, const char *box,
			   const char *peer, agentbox_error **err)
{
	ab_auto(json_t) *f = json_pack(
		"{s:{s:s}, s:s, s:s, s:s, s:s, s:s}", "actor", "box", box,
		"side", side, "peer", peer, "subject", p->tool, "verdict",
		"allow", "rule", "scope.pass");

	return f ? ab_audit_record(p->audit, type, f, err) :
		   ab_error_nomem(err);
}

static int32_t record(const agentbox_pass *p, const char *type,
		      agentbox_error **err)
{
	const char *own = p->scope->boxes[0].id;
	int32_t r = record_side(p, type, "caller", own, p->target, err);

	return r == 0 ? record_side(p, type, "target", p->target, own, err) :
			r;
}

static const char *find_target(const agentbox_scope *s, const char *id)
{
	for (size_t i = 0; i < s->box_count; i++)
		if (s->boxes[i].owner != AB_SCOPE_OWN &&
		    strcmp(s->boxes[i].id, id) == 0)
			return s->boxes[i].id;
	return NULL;
}

static bool is_text(const char *tool, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tool[i] <= ' ' || tool[i] == 0x7f || (tool[i] & 0x80))
			return false;
	return n > 0 && n <= AB_SCOPE_MAX_TOOL;
}

int32_t agentbox_pass_new(agentbox_scope *scope, const char *tool,
			  size_t tool_n, const char *target, int64_t ttl_ms,
			  agentbox_audit *audit, agentbox_pass **pass,
			  agentbox_error **err)
{
	agentbox_pass *p;
	int32_t r;

	if (!scope || !tool || !target || !audit || !pass ||
	    !is_text(tool, tool_n) || ttl_ms < 1 || ttl_ms > MAX_TTL_MS)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "a pass is for a tool by name, a sandbox "
				    "and at most an hour, with an audit");
	if (!find_target(scope, target))
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "target",
				    "the scope has no other sandbox of that "
				    "id");
	p = ab_new(agentbox_pass);
	if (!p)
		return ab_error_nomem(err);
	p->scope = agentbox_scope_ref(scope);
	p->audit = agentbox_audit_ref(audit);
	p->target = find_target(scope, target);
	p->tool = ab_memdup0(tool, tool_n);
	p->tool_len = tool_n;
	atomic_init(&p->used, false);
	r = p->tool ? record(p, "scope.pass", err) : ab_error_nomem(err);
	if (r < 0) {
		agentbox_pass_free(p);
		return r;
	}
	p->deadline = ab_clock_deadline(ttl_ms);
	*pass = p;
	return 0;
}

void agentbox_pass_free(agentbox_pass *pass)
{
	if (!pass)
		return;
	agentbox_scope_unref(pass->scope);
	agentbox_audit_unref(pass->audit);
	free(pass->tool);
	free(pass);
}

static bool is_good_for(agentbox_pass *p, const char *tool, size_t n)
{
	return !atomic_load(&p->used) && n == p->tool_len &&
	       memcmp(tool, p->tool, n) == 0 &&
	       ab_clock_boot_ns() < p->deadline;
}

int32_t agentbox_pass_check(agentbox_pass *pass, const char *tool,
			    size_t tool_n, const char *args, size_t n,
			    agentbox_decision **decision, agentbox_error **err)
{
	struct ab_scope_call call = { .tool = tool,
				      .tool_len = tool_n,
				      .args = args,
				      .args_len = n };
	bool unused = false;
	int32_t r;

	if (pass && tool) {
		call.scope = pass->scope;
		call.pass = is_good_for(pass, tool, tool_n) ? pass->target
							    : NULL;
	}
	r = ab_scope_judge(&call, decision, err);
	if (r < 0 || !call.pass_used ||
	    agentbox_decision_get_verdict(*decision) != AGENTBOX_VERDICT_ALLOW)
		return r;
	if (atomic_compare_exchange_strong(&pass->used, &unused, true)) {
		r = record(pass, "scope.pass-used", err);
		if (r < 0)
			ab_decision_begin(*decision, NULL, AB_DECIDE_SCOPE, "",
					  0, 0, NULL);
		return r;
	}
	call.pass = NULL;
	return ab_scope_judge(&call, decision, err);
}
