/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person who is asked should know, and what the agent is told: hints
 * and the prompt text. Both are made of ids and names, whose grammar lets
 * nothing else be said, and of places; no text of the arguments is repeated
 * but in a JSON pointer, and for people that is reduced to plain characters.
 */
#include "config.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"
#include "guard/decision.h"
#include "scope/internal.h"

#define MAX_TEXT ((size_t)4 << 20)
#define MAX_PLACE 80

static void quoted(agentbox_bytes *b, const char *text)
{
	size_t n = strlen(text);

	ab_bytes_append_char(b, '"');
	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len = ab_utf8_decode(text + i, n - i, &c);

		if (len == 0)
			c = 0xfffd;
		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
			ab_bytes_append_char(b, (char)c);
		else if (c < 0x10000)
			ab_bytes_appendf(b, "\\u%04x", c);
		else
			ab_bytes_appendf(b, "\\u%04x\\u%04x",
					 0xd800 + ((c - 0x10000) >> 10),
					 0xdc00 + ((c - 0x10000) & 0x3ff));
		i += len ? len : 1;
	}
	ab_bytes_append_char(b, '"');
}

/* A place for people: what could speak or hide becomes '?'. */
static void plain_place(agentbox_bytes *b, const char *pointer)
{
	size_t n = strlen(pointer);

	for (size_t i = 0; i < n && i < MAX_PLACE; i++)
		ab_bytes_append_char(b, ab_scope_is_alnum(pointer[i]) ||
						strchr("/_-.~", pointer[i]) ?
						pointer[i] :
						'?');
	if (n > MAX_PLACE)
		ab_bytes_append_str(b, "...");
}

static void put_hint(agentbox_bytes *b, const agentbox_scope *s,
		     const struct ab_scope_hint *h)
{
	const struct ab_scope_box *box = &s->boxes[h->box];
	const char *pointer = h->pointer ? h->pointer : "";

	ab_bytes_appendf(b, "{\"sandbox\":\"%s\",\"path\":\".shared/%s\","
			    "\"where\":", box->id, box->mount);
	quoted(b, pointer);
	ab_bytes_appendf(b, ",\"key\":%s,\"encoded\":%s",
			 h->is_key ? "true" : "false",
			 h->level ? "true" : "false");
	if (h->end > h->begin)
		ab_bytes_appendf(b, ",\"span\":[%zu,%zu]", h->begin, h->end);
	ab_bytes_appendf(b, ",\"text\":\"The request names sandbox %s, which "
			    "may be read at .shared/%s, in ",
			 box->id, box->mount);
	plain_place(b, *pointer ? pointer : "/");
	ab_bytes_append_str(b, ". Reading is all that was granted.\"}");
}

static void put_hints(agentbox_bytes *b, const struct ab_scope_call *c)
{
	ab_bytes_append_str(b, "{\"hints\":[");
	for (size_t i = 0; i < c->hint_count; i++) {
		if (i)
			ab_bytes_append_char(b, ',');
		put_hint(b, c->scope, &c->hints[i]);
	}
	ab_bytes_appendf(b, "],\"left_out\":%zu,\"partial\":%s}",
			 c->hint_total - c->hint_count,
			 c->is_partial || c->is_unread ? "true" : "false");
}

static int32_t hand_over(agentbox_bytes **b, agentbox_bytes **out,
			 agentbox_error **err)
{
	if (!*b || (!ab_bytes_ok(*b) && !ab_bytes_is_over(*b)))
		return ab_error_nomem(err);
	if (!ab_bytes_ok(*b))
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "the text is too long");
	*out = ab_steal(b);
	return 0;
}

int32_t agentbox_scope_hint(agentbox_scope *scope, const char *tool,
			    size_t tool_n, const char *args, size_t n,
			    agentbox_bytes **json, agentbox_error **err)
{
	struct ab_scope_call call = { .scope = scope,
				      .tool = tool,
				      .tool_len = tool_n,
				      .args = args ? args : "",
				      .args_len = n };
	ab_auto(agentbox_decision) *d = NULL;
	ab_auto(agentbox_bytes) *b = NULL;
	int32_t r;

	if (!scope || !tool || !json || (!args && n))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "scope, tool, args and json must not be "
				    "NULL");
	r = ab_scope_judge(&call, &d, err);
	if (r < 0)
		return r;
	if (d->is_failed || d->arena.is_full)
		return ab_error_nomem(err);
	b = ab_bytes_new(MAX_TEXT);
	if (b)
		put_hints(b, &call);
	return hand_over(&b, json, err);
}

int32_t agentbox_scope_prompt(agentbox_scope *scope, agentbox_bytes **text,
			      agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;

	if (!scope || !text)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "scope and text must not be NULL");
	b = ab_bytes_new(MAX_TEXT);
	if (b)
		ab_bytes_appendf(b, "Your sandbox is %s.\n",
				 scope->boxes[0].id);
	for (size_t i = 0; b && i < scope->box_count; i++) {
		const struct ab_scope_box *box = &scope->boxes[i];

		if (box->owner == AB_SCOPE_PEER)
			ab_bytes_appendf(
				b, "You have read access to sandbox %s at "
				   ".shared/%s. This is for inspection only. "
				   "Do not request writes, deploys, or "
				   "database operations against %s.\n",
				box->id, box->mount, box->id);
	}
	return hand_over(&b, text, err);
}
