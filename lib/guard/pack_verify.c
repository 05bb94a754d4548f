/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pack proves itself: each rule finds its own examples, leaves the others
 * alone, and what it offers instead is allowed. The place is that of the
 * examples in agentbox-rules(5).
 */
#include "config.h"

#include "guard/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

struct outcome {
	uint16_t wanted;
	bool is_found;
	uint8_t verdict;
	const char *rule; /* of the worst */
};

static void on_found(void *user, const struct ab_shell_found *found)
{
	struct outcome *o = user;

	if (found->number == o->wanted)
		o->is_found = true;
	if (found->verdict > o->verdict) {
		o->verdict = found->verdict;
		o->rule = found->rule;
	}
}

static int32_t judge(const struct ab_pack *pack, const char *text, size_t n,
		     struct outcome *o, agentbox_error **err)
{
	static const struct ab_known_path temps[] = { { "/tmp", 4 } };
	static const struct ab_shell_place_text place = {
		.cwd = { "/srv/repo", 9 },
		.home = { "/home/u", 7 },
		.root = { "/srv/repo", 9 },
		.temps = temps,
		.temp_count = 1,
	};
	size_t room = ab_shell_check_room(n);
	ab_autofree void *memory = ab_calloc(1, room);
	struct ab_arena arena;
	struct ab_shell_request q = { .pack = pack, .place = &place,
				      .arena = &arena, .report = on_found,
				      .user = o };

	if (!memory)
		return ab_error_nomem(err);
	ab_arena_init(&arena, memory, room);
	o->verdict = AB_V_ALLOW;
	o->is_found = false;
	o->rule = "";
	/* its finding may be lost: nothing was proved */
	if (!ab_shell_check_text(&q, text, n))
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "an example takes more memory than any "
				    "check has");
	return 0;
}

static int32_t bad(const char *name, uint32_t line, agentbox_error **err,
		   const char *what, const char *rule, const char *other)
{
	char where[300];

	snprintf(where, sizeof(where), "%.200s:%u:1", name, line);
	return ab_error_set(err, AGENTBOX_EPOLICY, where, "rule '%s' %s%s",
			    rule, what, other);
}

static int32_t verify_example(const struct ab_pack *pack,
			      const struct ab_example *e, const char *name,
			      agentbox_error **err)
{
	const struct ab_rule *rule = &pack->rules[e->rule];
	struct outcome o = { .wanted = e->rule };
	int32_t rc = judge(pack, e->text, e->len, &o, err);

	/* a rule that a host switched off finds nothing */
	if (rc < 0 || rule->verdict == AB_V_ALLOW)
		return rc;
	if (e->is_match && !o.is_found)
		return bad(name, e->line, err, "does not find this", rule->id,
			   "");
	if (!e->is_match && o.is_found)
		return bad(name, e->line, err, "finds this", rule->id, "");
	return 0;
}

static int32_t verify_rule(const struct ab_pack *pack, uint16_t number,
			   const char *name, agentbox_error **err)
{
	const struct ab_rule *rule = &pack->rules[number];
	struct outcome o = { .wanted = number };
	uint32_t yes = 0, no = 0;
	int32_t rc;

	for (uint32_t i = 0; i < pack->examples_count; i++) {
		yes += pack->examples[i].rule == number &&
		       pack->examples[i].is_match;
		no += pack->examples[i].rule == number &&
		      !pack->examples[i].is_match;
	}
	if (!yes || !no)
		return bad(name, rule->line, err,
			   "needs an example that matches and one that does "
			   "not", rule->id, "");
	if (!rule->is_command || !rule->alternative)
		return 0;
	rc = judge(pack, rule->alternative, strlen(rule->alternative), &o,
		   err);
	if (rc < 0)
		return rc;
	return o.verdict == AB_V_ALLOW
		? 0
		: bad(name, rule->line, err,
		      "offers what is not allowed either: ", rule->id,
		      o.rule);
}

int32_t ab_pack_verify(const struct ab_pack *pack, enum ab_pack_layer layer,
		       const char *name, agentbox_error **err)
{
	for (uint32_t i = 0; i < pack->rules_count; i++) {
		if (pack->rules[i].layer != layer)
			continue;
		int32_t rc = verify_rule(pack, (uint16_t)i, name, err);

		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; i < pack->examples_count; i++) {
		const struct ab_example *e = &pack->examples[i];

		if (pack->rules[e->rule].layer != layer)
			continue;
		int32_t rc = verify_example(pack, e, name, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}
