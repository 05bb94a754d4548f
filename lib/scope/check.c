/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call: is the tool scoped, what do its arguments name, and the verdict.
 * Whatever is not the caller's own gets one and the same answer, so that the
 * answer says nothing about who else there is (L02, L03). What cannot be read
 * to its end is refused. Spec: DESIGN.md section 12, agentbox_scope(3).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "guard/decision.h"
#include "scope/internal.h"

/* What looking may take beside the arguments, per byte of them: the levels'
   texts, and the keys. */
#define ROOM_PER_BYTE ((size_t)96)
#define ROOM_LEAST ((size_t)96 << 10)

struct judge {
	struct ab_scope_call *call;
	agentbox_decision *d;
	struct ab_scope_reader *reader;
	struct ab_scope_look look;
	const char *reasons[AB_SAW_LIMIT + 1];
	size_t last_begin;	  /* of the last finding: not twice */
	enum ab_scope_what last_what;
	unsigned in_call[AB_SCOPE_MAX_DEPTH + 1]; /* a tool's name, its
						     arguments */
	bool is_container; /* what is looked at is all of an array or object */
};

#define HAS_TOOL 1u
#define HAS_ARGUMENTS 2u

/* --- findings ------------------------------------------------------------- */

static const char *copy_high(agentbox_decision *d, const char *text)
{
	size_t n = strlen(text) + 1;
	char *out = ab_arena_high(&d->arena, n);

	if (!out)
		return "";
	memcpy(out, text, n);
	return out;
}

static const char *reason_of(struct judge *j, enum ab_scope_what what)
{
	const char *own = j->call->scope->boxes[0].id;
	char text[256];

	if (j->reasons[what])
		return j->reasons[what];
	switch (what) {
	case AB_SAW_BOX:
	case AB_SAW_UNKNOWN:
	case AB_SAW_PATTERN:
		snprintf(text, sizeof(text),
			 "this tool may name no sandbox but your own, %s", own);
		break;
	case AB_SAW_PERHAPS:
		snprintf(text, sizeof(text),
			 "this may mean a sandbox that is not your own, %s",
			 own);
		break;
	case AB_SAW_OWN_LIKE:
		snprintf(text, sizeof(text),
			 "this looks like your own sandbox and is written "
			 "otherwise: it is %s", own);
		break;
	case AB_SAW_OPAQUE:
		snprintf(text, sizeof(text),
			 "what is compressed or encrypted cannot be looked "
			 "into, and this tool may name no sandbox but %s", own);
		break;
	case AB_SAW_LIMIT:
		snprintf(text, sizeof(text),
			 "the arguments are too large or encoded too often to "
			 "be looked through");
		break;
	}
	j->reasons[what] = copy_high(j->d, text);
	return j->reasons[what];
}

static const char *rule_of(enum ab_scope_what what)
{
	switch (what) {
	case AB_SAW_PERHAPS:
		return "scope.perhaps";
	case AB_SAW_OWN_LIKE:
		return "scope.own-lookalike";
	case AB_SAW_OPAQUE:
		return "scope.opaque";
	case AB_SAW_LIMIT:
		return "scope.limit";
	case AB_SAW_BOX:
	case AB_SAW_UNKNOWN:
	case AB_SAW_PATTERN:
		break;
	}
	return "scope.other";
}

static const char *instead_of(enum ab_scope_what what)
{
	if (what == AB_SAW_OPAQUE || what == AB_SAW_LIMIT)
		return "pass it as plain text, in smaller calls";
	if (what == AB_SAW_OWN_LIKE)
		return "write the id exactly, or leave it out";
	return "leave the sandbox out or name your own; what another one "
	       "shares is read with file tools below .shared";
}

static void add(struct judge *j, int32_t verdict, const char *rule,
		const char *reason, const char *instead)
{
	const struct ab_scope_reader *r = j->reader;
	struct ab_finding f = {
		.verdict = verdict,
		.severity = verdict == AGENTBOX_VERDICT_DENY ?
				    AGENTBOX_SEVERITY_HIGH :
				    AGENTBOX_SEVERITY_MEDIUM,
		.rule = rule,
		.reason = reason,
		.alternative = instead,
		.command = AB_NO_COMMAND,
		.word = UINT32_MAX,
	};

	if (j->d->finding_count == AB_MAX_FINDINGS &&
	    verdict <= j->d->best.verdict)
		return;
	if (r) {
		f.where = ab_scope_pointer(r, &j->d->arena);
		if (!j->is_container) {
			f.span.begin = (uint32_t)r->begin;
			f.span.end = (uint32_t)r->end;
		}
	}
	ab_decision_add(j->d, &f);
}

/* --- hints ---------------------------------------------------------------- */

static void add_hint(struct judge *j, uint32_t box, unsigned level)
{
	struct ab_scope_call *c = j->call;
	const struct ab_scope_reader *r = j->reader;
	struct ab_scope_hint *h;

	for (size_t i = 0; i < c->hint_count; i++)
		if (c->hints[i].box == box &&
		    (j->is_container || c->hints[i].begin == r->begin))
			return;
	c->hint_total++;
	if (c->hint_count == AB_SCOPE_MAX_HINTS)
		return;
	h = &c->hints[c->hint_count++];
	h->box = box;
	h->level = level;
	h->is_key = j->look.is_key && !j->is_container;
	h->begin = j->is_container ? 0 : r->begin;
	h->end = j->is_container ? 0 : r->end;
	h->pointer = ab_scope_pointer(r, &j->d->arena);
}

/* --- what is seen --------------------------------------------------------- */

static bool is_passed(struct judge *j, const struct ab_scope_name *name)
{
	struct ab_scope_call *c = j->call;

	if (!name || !c->pass ||
	    strcmp(c->scope->boxes[name->box].id, c->pass) != 0)
		return false;
	c->pass_used = true;
	return true;
}

static void saw(void *data, enum ab_scope_what what,
		const struct ab_scope_name *name, unsigned level)
{
	struct judge *j = data;
	struct ab_scope_call *c = j->call;

	if (what == AB_SAW_LIMIT)
		c->is_partial = true;
	if (!c->is_scoped) {
		if (what == AB_SAW_BOX &&
		    c->scope->boxes[name->box].owner == AB_SCOPE_PEER)
			add_hint(j, name->box, level);
		return;
	}
	if ((what == AB_SAW_BOX || what == AB_SAW_PERHAPS) &&
	    is_passed(j, name))
		return;
	if (j->last_what == what && j->last_begin == j->reader->begin)
		return;
	j->last_what = what;
	j->last_begin = j->reader->begin;
	add(j, what == AB_SAW_PERHAPS ? AGENTBOX_VERDICT_ASK :
					AGENTBOX_VERDICT_DENY,
	    rule_of(what), reason_of(j, what), instead_of(what));
}

/* Does the value name a box by where it stands? */
static bool is_box_place(const struct ab_scope_reader *r,
			 enum ab_scope_type type, const char *text, size_t n)
{
	const struct ab_scope_frame *f;

	if (!r->depth)
		return false;
	if (r->key == AB_KEY_NAME)
		return r->parent == AB_KEY_BOX;
	if (r->key != AB_KEY_BOX)
		return false;
	if (type == AB_VALUE_STRING)
		return true;
	/* "vms": 3 is a count, "sandbox": 1 is a yes, "box": [0, 9] a place;
	   "vm": 3 is the third */
	f = &r->frames[r->depth - 1];
	if (f->is_object && f->key_end > f->key_begin &&
	    (r->text[f->key_end - 1] | 0x20) != 's' &&
	    (n != 1 || (text[0] != '0' && text[0] != '1')))
		return true;
	/* and a number is an id under a key that says so */
	while (f > r->frames && !f->is_object)
		f--;
	for (size_t i = f->key_begin; f->is_object && i + 1 < f->key_end; i++)
		if ((r->text[i] | 0x20) == 'i' &&
		    (r->text[i + 1] | 0x20) == 'd')
			return true;
	return false;
}

static void judge_place(struct judge *j, const char *text, size_t n)
{
	const agentbox_scope *s = j->call->scope;
	const struct ab_scope_name *name;

	if (ab_scope_is_own(s, text, n))
		return;
	name = ab_scope_find_name(s, text, n);
	if (name && s->boxes[name->box].owner == AB_SCOPE_OWN)
		saw(j, AB_SAW_OWN_LIKE, name, 0);
	else
		saw(j, name ? AB_SAW_BOX : AB_SAW_UNKNOWN, name, 0);
}

/* What another box shares would be written, or may be. */
static void judge_path(struct judge *j, bool is_key, const char *text,
		       size_t n)
{
	int32_t verdict = ab_scope_judge_path(&j->look, j->reader, is_key,
					      j->call->writes, text, n);

	if (verdict != AGENTBOX_VERDICT_ALLOW)
		add(j, verdict, "scope.read-only",
		    "what another sandbox shares is for reading",
		    "write in your own workspace, or ask for the change there");
}

/* Words of one array as a command line has them. */
static void look_line(struct judge *j, const char *text, size_t n)
{
	void *mark = j->d->arena.low;
	char *line = ab_arena_low(&j->d->arena, n + 1);

	if (line) {
		for (size_t i = 0; i < n; i++)
			line[i] = text[i] ? text[i] : ' ';
		ab_scope_look_line(&j->look, line, n);
	} else {
		saw(j, AB_SAW_LIMIT, NULL, 0);
	}
	ab_arena_release(&j->d->arena, mark);
}

static void take_value(struct ab_scope_reader *r, enum ab_scope_type type,
		       const char *text, size_t n)
{
	struct judge *j = r->data;

	j->is_container = type == AB_VALUE_JOINED || type == AB_VALUE_BYTES;
	/* all strings of an object are no text, only pieces */
	j->look.is_key = type == AB_VALUE_KEY || j->is_container;
	j->look.key = type == AB_VALUE_KEY || j->is_container ? AB_KEY_PLAIN :
								r->key;
	if (type == AB_VALUE_WORD)
		return;
	if ((type == AB_VALUE_STRING || type == AB_VALUE_NUMBER) &&
	    is_box_place(r, type, text, n)) {
		j->look.key = AB_KEY_BOX;
		judge_place(j, text, n);
	}
	if (type == AB_VALUE_KEY && r->parent == AB_KEY_BOX)
		j->look.key = AB_KEY_TARGET;
	if (!j->call->is_scoped &&
	    (type == AB_VALUE_STRING || type == AB_VALUE_KEY))
		judge_path(j, type == AB_VALUE_KEY, text, n);
	/* where a name stands a number is one, or an address */
	if (type == AB_VALUE_NUMBER && r->key != AB_KEY_BOX &&
	    r->key != AB_KEY_TARGET)
		return;
	if (type == AB_VALUE_BYTES)
		ab_scope_look_bytes(&j->look, text, n);
	else
		ab_scope_look(&j->look, text, n);
	if (type == AB_VALUE_JOINED)
		look_line(j, text, n);
}

/* --- a tool within the call ----------------------------------------------- */

static bool is_arguments(const char *key, size_t n)
{
	static const char *const words[] = { "arguments", "parameters",
					     "params",	  "input",
					     "args",	  "kwargs",
					     "tool_input", NULL };

	for (size_t i = 0; words[i]; i++)
		if (strlen(words[i]) == n && memcmp(words[i], key, n) == 0)
			return true;
	return false;
}

static bool is_called_name(const struct ab_scope_reader *r)
{
	const struct ab_scope_frame *f = &r->frames[r->depth - 1];

	return f->is_object && f->key_end - f->key_begin == 4 &&
	       memcmp(r->text + f->key_begin, "name", 4) == 0;
}

/*
 * {"tool": "db_query"}, and {"name": "db_query", "arguments": ...}: a call
 * that carries a call is what it carries.
 */
static void take_tool(struct ab_scope_reader *r, enum ab_scope_type type,
		      const char *text, size_t n)
{
	struct judge *j = r->data;
	unsigned *has = &j->in_call[r->depth];

	if (type == AB_VALUE_KEY && r->frames[r->depth - 1].index == 0)
		*has = 0;
	if (type == AB_VALUE_KEY && is_arguments(text, n))
		*has |= HAS_ARGUMENTS;
	if (type == AB_VALUE_STRING && r->depth && n &&
	    (r->key == AB_KEY_TOOL || is_called_name(r)) &&
	    ab_scope_tool(j->call->scope, text, n) != AB_TOOL_OTHER)
		*has |= r->key == AB_KEY_TOOL ? HAS_TOOL | HAS_ARGUMENTS :
						HAS_TOOL;
	if (*has == (HAS_TOOL | HAS_ARGUMENTS))
		j->call->is_scoped = true;
}

/* --- the call ------------------------------------------------------------- */

static bool read_all(struct judge *j, struct ab_scope_reader *r,
		     void (*value)(struct ab_scope_reader *r,
				   enum ab_scope_type type, const char *text,
				   size_t n))
{
	void *mark = j->d->arena.low;
	bool good;

	*r = (struct ab_scope_reader){ .text = j->call->args,
				       .n = j->call->args_len,
				       .arena = &j->d->arena,
				       .data = j,
				       .value = value };
	j->reader = r;
	j->last_what = 0;
	good = ab_scope_read(r);
	ab_arena_release(&j->d->arena, mark);
	return good;
}

static void refuse_unread(struct judge *j, const struct ab_scope_reader *r)
{
	j->reader = NULL;
	j->call->is_unread = true;
	if (!r->is_limit)
		add(j, AGENTBOX_VERDICT_DENY, "scope.unreadable", r->why,
		    "send arguments that are JSON and mean one thing");
	else
		add(j, j->call->is_scoped ? AGENTBOX_VERDICT_DENY :
					    AGENTBOX_VERDICT_ASK,
		    rule_of(AB_SAW_LIMIT), reason_of(j, AB_SAW_LIMIT),
		    instead_of(AB_SAW_LIMIT));
}

static void judge_arguments(struct judge *j)
{
	struct ab_scope_call *c = j->call;
	struct ab_scope_reader r;
	bool good = true;

	if (c->args_len == 0)
		return;
	if (!c->is_scoped)
		good = read_all(j, &r, take_tool);
	j->look = (struct ab_scope_look){
		.scope = c->scope,
		.arena = &j->d->arena,
		.work = (uint64_t)AB_SCOPE_WORK * c->args_len +
			AB_SCOPE_WORK_LEAST,
		.is_scoped = c->is_scoped,
		.data = j,
		.saw = saw,
	};
	if (good)
		good = read_all(j, &r, take_value);
	if (!good)
		refuse_unread(j, &r);
	c->steps = j->look.steps;
}

static void judge_call(struct judge *j)
{
	struct ab_scope_call *c = j->call;
	enum ab_scope_tool tool =
		ab_scope_tool(c->scope, c->tool, c->tool_len);

	c->is_scoped = tool != AB_TOOL_OTHER;
	c->writes = ab_scope_tool_writes(c->tool, c->tool_len);
	if (tool == AB_TOOL_BAD) {
		add(j, AGENTBOX_VERDICT_DENY, "scope.tool",
		    "this is not the name of a tool", NULL);
		return;
	}
	if (c->args_len > AB_SCOPE_MAX_ARGS) {
		struct ab_scope_reader r = { .is_limit = true };

		refuse_unread(j, &r);
		return;
	}
	judge_arguments(j);
}

int32_t ab_scope_judge(struct ab_scope_call *call,
		       agentbox_decision **decision, agentbox_error **err)
{
	size_t n = call->args_len > AB_SCOPE_MAX_ARGS ? 0 : call->args_len;
	agentbox_decision *d = ab_decision_use(decision, err);
	struct judge *j;
	int32_t r;

	if (!d)
		return decision ? AGENTBOX_ENOMEM : AGENTBOX_EINVAL;
	if (!call->scope || !call->tool ||
	    (!call->args && call->args_len))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "scope or pass, tool and args must not be "
				    "NULL");
	if (!call->args)
		call->args = "";
	r = ab_decision_check_input(d, call->args, err);
	if (r == 0)
		r = ab_decision_check_input(d, call->tool, err);
	if (r == 0)
		r = ab_decision_begin(d, NULL, AB_DECIDE_SCOPE, call->args, n,
				      ROOM_LEAST + n * ROOM_PER_BYTE, err);
	if (r < 0)
		return r;
	j = ab_arena_high(&d->arena, sizeof(*j));
	if (!j)
		return ab_error_nomem(err);
	ab_clear(j, sizeof(*j));
	j->call = call;
	j->d = d;
	judge_call(j);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	return 0;
}
