/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report: findings as they come, what they come to, and the document.
 * A finding that could not be written down makes the report fail, never the
 * finding vanish. Spec: agentbox_verify(3).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "verify/internal.h"

/* More than this no box has probes for. */
#define MAX_FINDINGS 8192

const char *ab_verdict_name(uint32_t verdict)
{
	switch ((enum ab_verdict)verdict) {
	case AB_VERDICT_UNKNOWN:
		return "unknown";
	case AB_VERDICT_PASS:
		return "pass";
	case AB_VERDICT_MISSING:
		return "missing";
	case AB_VERDICT_WEAKER:
		return "weaker";
	case AB_VERDICT_NOT_APPLICABLE:
		return "not-applicable";
	}
	return "unknown";
}

static bool make_room(agentbox_verify *report)
{
	size_t room = report->room ? report->room * 2 : 256;
	ab_finding *more;

	if (report->count < report->room)
		return true;
	more = room > MAX_FINDINGS
		       ? NULL
		       : ab_realloc(report->findings, room, sizeof(*more));
	if (!more)
		return false;
	report->findings = more;
	report->room = room;
	return true;
}

/* A report is text: names of files and sockets are any bytes. */
static void make_text(char *s)
{
	size_t n = s ? strlen(s) : 0;

	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len = ab_utf8_decode(s + i, n - i, &c);

		if (len == 0 || c < ' ' || (c >= 0x7f && c < 0xa0)) {
			memset(s + i, c == '\n' ? ' ' : '?', len ? len : 1);
			len = len ? len : 1;
		}
		i += len;
	}
}

void ab_verify_add(agentbox_verify *report, const char *probe,
		   const char *wall, const char *tried, bool hard,
		   uint32_t verdict, char *result, char *answer)
{
	char *own = ab_strdup(probe);

	make_text(own);
	make_text(result);
	make_text(answer);

	if (!own || !result || !answer || !make_room(report)) {
		report->nomem = true;
		free(own);
		free(result);
		free(answer);
		return;
	}
	report->findings[report->count++] = (ab_finding){
		.wall = wall, .tried = tried, .verdict = verdict, .hard = hard,
		.probe = own, .result = result, .answer = answer
	};
}

/* The first of that name, or NULL. */
static ab_finding *find(const agentbox_verify *report, const char *probe)
{
	for (size_t i = 0; i < report->count; i++) {
		if (strcmp(report->findings[i].probe, probe) == 0)
			return &report->findings[i];
	}
	return NULL;
}

void ab_verify_amend(agentbox_verify *report, const char *probe,
		     uint32_t verdict, char *result, char *answer)
{
	ab_finding *f = find(report, probe);

	if (!result || !answer || !f) {
		report->nomem |= !result || !answer;
		free(result);
		free(answer);
		return;
	}
	free(f->result);
	free(f->answer);
	f->verdict = verdict;
	f->result = result;
	f->answer = answer;
}

bool ab_verify_has(const agentbox_verify *report, uint32_t verdict)
{
	for (size_t i = 0; i < report->count; i++) {
		if (report->findings[i].verdict == verdict)
			return true;
	}
	return false;
}

uint32_t ab_verify_verdict_of(const agentbox_verify *report, const char *probe)
{
	const ab_finding *f = find(report, probe);

	return f ? f->verdict : (uint32_t)AB_VERDICT_UNKNOWN;
}

/* --- causes --------------------------------------------------------------- */

/* Walls that another one bears: mount_namespaces(7), pid_namespaces(7), and
   what a tree of the host shows. */
static const struct bearer {
	const char *wall, *on;
} bearers[] = {
	{ "rootfs", "mountns" },  { "mounts", "mountns" },
	{ "protect", "mountns" }, { "devices", "mountns" },
	{ "proc", "mountns" },	  { "sockets", "mountns" },
	{ "proc", "pidns" },	  { "sockets", "rootfs" },
};

static bool is_missing(const agentbox_verify *report, const char *wall)
{
	for (size_t i = 0; i < report->count; i++) {
		if (report->findings[i].verdict == AB_VERDICT_MISSING &&
		    !strcmp(report->findings[i].wall, wall))
			return true;
	}
	return false;
}

void ab_verify_find_causes(agentbox_verify *report)
{
	for (size_t b = 0; b < AB_ARRAY_LEN(bearers); b++) {
		if (!is_missing(report, bearers[b].on))
			continue;
		for (size_t i = 0; i < report->count; i++) {
			ab_finding *f = &report->findings[i];

			if ((f->verdict == AB_VERDICT_MISSING ||
			     f->verdict == AB_VERDICT_UNKNOWN) &&
			    !strcmp(f->wall, bearers[b].wall))
				f->wall = bearers[b].on;
		}
	}
}

/* --- the design's table -------------------------------------------------- */

static int add_control(json_t *list, const char *name, bool stands, bool hard,
		       const char *holder, const char *note)
{
	return json_array_append_new(
		list, json_pack("{s:s,s:b,s:s,s:s,s:s}", "control", name,
				"stands", stands, "kind",
				hard ? "hard" : "soft", "holder", holder,
				"note", note));
}

/* What stands beside the box: DESIGN.md section 1. */
static int add_others(json_t *list, const ab_verify_run *run)
{
	static const char *const nets[] = {
		"no way out of the box", "one way out, judged by the gateway",
		"the host's network: no wall"
	};
	const ab_policy *p = run->policy;
	bool box = run->walls.tier != AB_TIER_BARE;
	uint32_t net = box && p->network.mode <= AB_NET_HOST ? p->network.mode
							    : AB_NET_HOST;

	return add_control(list, "network", net != AB_NET_HOST, true,
			   net == AB_NET_GATEWAY ? "agentbox-gateway"
						 : "kernel", nets[net]) |
	       add_control(list, "credentials", net == AB_NET_GATEWAY, true,
			   "agentbox-gateway",
			   "real ones are in the gateway's memory alone") |
	       add_control(list, "snapshots", p->peering == AB_PEERING_READ,
			   true, "kernel",
			   "what was not copied does not exist; the mount is "
			   "read-only") |
	       add_control(list, "shell and git checks", true, false,
			   "the host's program",
			   "text and argv, before it runs; a wall of their own "
			   "they are not") |
	       add_control(list, "exec tripwire",
			   box && p->shield != AB_SHIELD_OFF, false,
			   "agentbox-shield",
			   "the arguments lie in the agent's memory") |
	       add_control(list, "protected names that appear", box, false,
			   "agentbox-init",
			   "moved away when the command has ended; tried in a "
			   "second box, for to try it is to make one") |
	       add_control(list, "environment variables", true, false,
			   "nobody", "a program may ignore them");
}

static int add_walls(json_t *list, const ab_verify_run *run)
{
	ab_auto(agentbox_bytes) *bytes = NULL;
	ab_auto(json_t) *report = NULL;
	const char *name;
	json_t *wall;
	int bad = 0;

	if (agentbox_sandbox_walls_to_json(run->box, &bytes, NULL) < 0 ||
	    ab_json_parse(agentbox_bytes_get_data(bytes),
			  agentbox_bytes_get_size(bytes),
			  AB_MAX_CANONICAL_BYTES, &report, NULL, NULL) < 0)
		return -1;
	json_object_foreach(json_object_get(report, "walls"), name, wall) {
		bool stands = json_is_true(json_object_get(wall, "standing"));
		const char *holder = json_string_value(
			json_object_get(wall, "holder"));
		const char *note =
			json_string_value(json_object_get(wall, "note"));

		/* add_others() has it as what it is, the exec tripwire */
		if (strcmp(name, "shield") == 0)
			continue;
		bad |= add_control(list, name, stands, true,
				   holder ? holder : "nobody",
				   note ? note : "");
	}
	return bad;
}

static int add_limits(json_t *list, const ab_verify_run *run)
{
	const char *name;
	json_t *l;
	int bad = 0;

	json_object_foreach((json_t *)(uintptr_t)run->walls.limits, name, l) {
		const char *mechanism = json_string_value(
			json_object_get(l, "mechanism"));
		const char *note =
			json_string_value(json_object_get(l, "note"));
		ab_autofree char *control = ab_asprintf("limit: %s", name);

		if (!control)
			return -1;
		bad |= add_control(
			list, control,
			mechanism && strcmp(mechanism, "none") != 0,
			json_is_true(json_object_get(l, "hard")),
			mechanism ? mechanism : "none", note ? note : "");
	}
	return bad;
}

json_t *ab_verify_controls(const ab_verify_run *run)
{
	ab_auto(json_t) *list = json_array();

	if (!list || add_walls(list, run) || add_limits(list, run) ||
	    add_others(list, run))
		return NULL;
	return ab_steal(&list);
}

/* --- public -------------------------------------------------------------- */

void agentbox_verify_free(agentbox_verify *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->count; i++) {
		free(report->findings[i].probe);
		free(report->findings[i].result);
		free(report->findings[i].answer);
	}
	free(report->findings);
	free(report->policy_name);
	free(report->config_hash);
	json_decref(report->controls);
	json_decref(report->exposure);
	json_decref(report->notes);
	json_decref(report->weaker);
	free(report);
}

int32_t agentbox_verify_is_good(const agentbox_verify *report)
{
	return report && report->count && !report->is_bare &&
	       !ab_verify_has(report, AB_VERDICT_MISSING) &&
	       !ab_verify_has(report, AB_VERDICT_UNKNOWN);
}

uint32_t agentbox_verify_get_exposure(const agentbox_verify *report)
{
	return report ? report->exposure_sum : UINT32_MAX;
}

size_t agentbox_verify_get_count(const agentbox_verify *report)
{
	return report ? report->count : 0;
}

static const ab_finding *at(const agentbox_verify *report, size_t index)
{
	static const ab_finding none = {
		.wall = "", .tried = "", .probe = (char *)(uintptr_t)"",
		.result = (char *)(uintptr_t)"",
		.answer = (char *)(uintptr_t)""
	};

	return report && index < report->count ? &report->findings[index]
					       : &none;
}

const char *agentbox_verify_get_probe(const agentbox_verify *report,
				      size_t index)
{
	return at(report, index)->probe;
}

const char *agentbox_verify_get_wall(const agentbox_verify *report,
				     size_t index)
{
	return at(report, index)->wall;
}

const char *agentbox_verify_get_verdict(const agentbox_verify *report,
					size_t index)
{
	return index < agentbox_verify_get_count(report)
		       ? ab_verdict_name(at(report, index)->verdict)
		       : "";
}

const char *agentbox_verify_get_tried(const agentbox_verify *report,
				      size_t index)
{
	return at(report, index)->tried;
}

const char *agentbox_verify_get_result(const agentbox_verify *report,
				       size_t index)
{
	return at(report, index)->result;
}

const char *agentbox_verify_get_answer(const agentbox_verify *report,
				       size_t index)
{
	return at(report, index)->answer;
}

/* Each wall that a missing finding is of, once. */
static json_t *missing_walls(const agentbox_verify *report)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < report->count; i++) {
		const ab_finding *f = &report->findings[i];
		bool seen = false;

		if (f->verdict != AB_VERDICT_MISSING)
			continue;
		for (size_t j = 0; j < json_array_size(list); j++)
			seen |= !strcmp(json_string_value(
						json_array_get(list, j)),
					f->wall);
		if (!seen &&
		    json_array_append_new(list, json_string(f->wall))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *findings(const agentbox_verify *report)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < report->count; i++) {
		const ab_finding *f = &report->findings[i];

		if (json_array_append_new(
			    list,
			    json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "probe",
				      f->probe, "wall", f->wall, "tried",
				      f->tried, "result", f->result,
				      "answered", f->answer, "verdict",
				      ab_verdict_name(f->verdict), "kind",
				      f->hard ? "hard" : "soft"))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *counts(const agentbox_verify *report)
{
	json_int_t n[AB_VERDICT_NOT_APPLICABLE + 1] = { 0 };

	for (size_t i = 0; i < report->count; i++)
		n[report->findings[i].verdict]++;
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "unknown",
			 n[AB_VERDICT_UNKNOWN], "pass", n[AB_VERDICT_PASS],
			 "missing", n[AB_VERDICT_MISSING], "weaker",
			 n[AB_VERDICT_WEAKER], "not-applicable",
			 n[AB_VERDICT_NOT_APPLICABLE]);
}

int32_t agentbox_verify_to_json(const agentbox_verify *report,
				agentbox_bytes **json, agentbox_error **err)
{
	ab_auto(json_t) *o = NULL;

	if (!report || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "report or json is NULL");
	o = json_pack("{s:i,s:s,s:s,s:s*,s:s*,s:b,s:o,s:o,s:o,s:O,s:{s:I,s:O},"
		      "s:O,s:O}",
		      "schema", AGENTBOX_VERIFY_SCHEMA, "box", report->box_id,
		      "tier", report->tier, "policy", report->policy_name,
		      "config_hash", report->config_hash, "good",
		      agentbox_verify_is_good(report), "missing",
		      missing_walls(report), "counts", counts(report),
		      "findings", findings(report), "controls",
		      report->controls, "exposure", "score",
		      (json_int_t)report->exposure_sum, "parts",
		      report->exposure, "notes", report->notes, "weaker",
		      report->weaker);
	return o ? ab_json_canonical(o, json, err) : ab_error_nomem(err);
}
