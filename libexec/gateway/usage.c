/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens of an answer: no heap, a byte at a time. Spec: usage.h, RFC 8259,
   WHATWG HTML section 9.2.6. */
#include "config.h"

#include "usage.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

/* No count is above it; sums stay in 64 bits. */
#define MOST (UINT64_C(1) << 40)

enum form { FORM_UNKNOWN, FORM_JSON, FORM_EVENTS };
enum line { LINE_NAME, LINE_DATA, LINE_OTHER };

enum key {
	KEY_OTHER,
	KEY_USAGE,
	KEY_WRAP,     /* an object that may have it in it */
	KEY_RESPONSE, /* the same, which has it when all is over */
	KEY_TYPE
};

static const struct {
	const char *name;
	uint8_t key;
} keys[] = {
	{ "usage", KEY_USAGE },		/* OpenAI, Anthropic */
	{ "usageMetadata", KEY_USAGE }, /* Gemini */
	{ "message", KEY_WRAP },	/* Anthropic's message_start */
	{ "x_groq", KEY_WRAP },
	{ "response", KEY_RESPONSE }, /* OpenAI's response.completed */
	{ "type", KEY_TYPE },
};

/* In which the counts are added up; the total is for itself. */
enum count { IN, OUT, CACHE_MADE, CACHE_READ, THOUGHTS, TOOLS, TOTAL, NONE };

static_assert(NONE == AB_USAGE_COUNTS, "each has its place, NONE has none");

static const struct {
	const char *name;
	uint8_t count;
	/* who asks can have it without the others (Google's `fields`): it
	   counts, and that something was told is said by the total alone */
	bool is_part;
} fields[] = {
	{ "prompt_tokens", IN, false },
	{ "input_tokens", IN, false },
	{ "promptTokenCount", IN, true },
	{ "completion_tokens", OUT, false },
	{ "output_tokens", OUT, false },
	{ "candidatesTokenCount", OUT, true },
	{ "cache_creation_input_tokens", CACHE_MADE, false },
	{ "cache_read_input_tokens", CACHE_READ, false },
	{ "thoughtsTokenCount", THOUGHTS, true },
	{ "toolUsePromptTokenCount", TOOLS, true },
	{ "total_tokens", TOTAL, false },
	{ "totalTokenCount", TOTAL, false },
};

/* --- JSON ----------------------------------------------------------------- */

static bool word_is(const ab_usage *u, const char *name)
{
	return u->word_len == strlen(name) &&
	       memcmp(u->word, name, u->word_len) == 0;
}

/* An object's own depth is 1, also of those in an array of answers. */
static uint32_t depth(const ab_usage *u)
{
	return u->depth - u->base;
}

static void take_key(ab_usage *u)
{
	uint32_t at = depth(u);

	if (at >= 1 && at <= 2) {
		u->key[at] = KEY_OTHER;
		for (size_t i = 0; i < AB_ARRAY_LEN(keys); i++)
			if (word_is(u, keys[i].name))
				u->key[at] = keys[i].key;
	}
	u->count = NONE;
	for (size_t i = 0; u->usage_at && at == u->usage_at &&
			   i < AB_ARRAY_LEN(fields); i++)
		if (word_is(u, fields[i].name)) {
			u->count = fields[i].count;
			u->is_part = fields[i].is_part;
		}
}

static void end_number(ab_usage *u)
{
	if (!u->in_number)
		return;
	u->in_number = false;
	if (u->number > u->counts[u->count])
		u->counts[u->count] = u->number;
	u->has_told |= !u->is_part;
	/* there it is told once, at the end */
	u->is_final |= u->wrap == KEY_RESPONSE && !u->is_part;
}

/* A value is over: "," or a bracket. */
static void end_value(ab_usage *u)
{
	end_number(u);
	if (u->has_word && depth(u) == 1 && u->key[1] == KEY_TYPE &&
	    word_is(u, "message_stop"))
		u->is_final = true;
	u->has_word = false;
	u->count = NONE;
}

/* No comma before what begins: the number before it is none. */
static void begin_value(ab_usage *u)
{
	u->is_bad |= u->in_number;
	u->in_number = false;
	u->count = NONE;
}

static void open_object(ab_usage *u)
{
	uint32_t at = depth(u);
	uint8_t key = at >= 1 && at <= 2 ? u->key[at] : KEY_OTHER;

	if (at == 1)
		u->wrap = key == KEY_WRAP || key == KEY_RESPONSE ? key
								 : KEY_OTHER;
	if (key == KEY_USAGE && (at == 1 || u->wrap != KEY_OTHER))
		u->usage_at = at + 1;
	u->depth++;
	begin_value(u);
	if (at < 2)
		u->key[at + 1] = KEY_OTHER;
}

static void open_array(ab_usage *u)
{
	if (u->depth == 0)
		u->base = 1;
	/* what is in it is not where its key says */
	else if (depth(u) == 1)
		u->wrap = KEY_OTHER;
	u->depth++;
	begin_value(u);
}

static void close_one(ab_usage *u)
{
	end_value(u);
	if (u->usage_at && depth(u) == u->usage_at)
		u->usage_at = 0;
	if (depth(u) == 2)
		u->wrap = KEY_OTHER;
	if (u->depth > u->base)
		u->depth--;
	else
		u->depth = u->base = 0;
}

/* Digits alone are a count; anything else there could be read as more. */
static void take_other(ab_usage *u, char c)
{
	if (u->count == NONE)
		return;
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
		if (u->in_number) {
			end_number(u);
			u->count = NONE;
		}
	} else if (c >= '0' && c <= '9') {
		if (!u->in_number)
			u->number = 0;
		u->in_number = true;
		if (u->number < MOST)
			u->number = u->number * 10 + (uint64_t)(c - '0');
	} else if (u->in_number || c == '-') {
		u->is_bad = true;
	} else {
		/* null: it is not told */
		u->count = NONE;
	}
}

static void begin_string(ab_usage *u)
{
	begin_value(u);
	u->in_string = true;
	u->word_len = 0;
	u->has_word = false;
}

static void take_string(ab_usage *u, char c)
{
	if (u->is_escaped || c == '\\') {
		/* no name of ours has one */
		u->is_escaped = !u->is_escaped;
		u->word_len = AB_USAGE_WORD + 1;
	} else if (c == '"') {
		u->in_string = false;
		u->has_word = true;
	} else if (u->word_len < AB_USAGE_WORD) {
		u->word[u->word_len++] = c;
	} else {
		u->word_len = AB_USAGE_WORD + 1;
	}
}

static void take_json(ab_usage *u, char c)
{
	if (u->in_string) {
		take_string(u, c);
		return;
	}
	switch (c) {
	case '"':
		begin_string(u);
		break;
	case ':':
		if (u->has_word)
			take_key(u);
		u->has_word = false;
		break;
	case ',':
		end_value(u);
		break;
	case '{':
		if (u->depth == 0)
			u->base = 0;
		open_object(u);
		break;
	case '[':
		open_array(u);
		break;
	case '}':
	case ']':
		close_one(u);
		break;
	default:
		take_other(u, c);
	}
}

/* --- server-sent events --------------------------------------------------- */

/* What was cut off in one event is nothing in the next. */
static void end_event(ab_usage *u)
{
	u->depth = u->base = u->usage_at = 0;
	u->wrap = KEY_OTHER;
	u->count = NONE;
	u->in_string = u->is_escaped = u->has_word = u->in_number = false;
}

static void end_line(ab_usage *u)
{
	if (u->line == LINE_NAME && u->line_at == 0)
		end_event(u);
	else if (u->line == LINE_DATA)
		take_json(u, '\n');
	u->line = LINE_NAME;
	u->line_at = 0;
}

static void take_data(ab_usage *u, char c)
{
	static const char done[] = "[DONE]";

	if (u->line_at < sizeof(done) - 1 && c == done[u->line_at])
		u->is_final |= ++u->line_at == sizeof(done) - 1;
	else if (u->line_at || c != ' ')
		u->line_at = sizeof(done);
	take_json(u, c);
}

static void take_event(ab_usage *u, char c)
{
	static const char name[] = "data:";
	bool is_second = u->after_cr && c == '\n';

	u->after_cr = c == '\r';
	if (is_second)
		return;
	if (c == '\r' || c == '\n') {
		end_line(u);
	} else if (u->line == LINE_DATA) {
		take_data(u, c);
	} else if (u->line == LINE_NAME && c == name[u->line_at]) {
		if (++u->line_at == sizeof(name) - 1) {
			u->line = LINE_DATA;
			u->line_at = 0;
		}
	} else {
		u->line = LINE_OTHER;
	}
}

/* --- the whole ------------------------------------------------------------ */

/* A byte order mark is none of either; space may stand before JSON. */
static void take_first(ab_usage *u, char c)
{
	if (strchr("\xef\xbb\xbf \t\r\n", c))
		return;
	u->count = NONE;
	u->form = c == '{' || c == '[' ? FORM_JSON : FORM_EVENTS;
}

void ab_usage_read(ab_usage *u, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (u->form == FORM_UNKNOWN)
			take_first(u, p[i]);
		if (u->form == FORM_JSON)
			take_json(u, p[i]);
		else if (u->form == FORM_EVENTS)
			take_event(u, p[i]);
	}
}

bool ab_usage_told(const ab_usage *u, bool has_ended, uint64_t *tokens)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TOTAL; i++)
		sum += u->counts[i];
	*tokens = sum > u->counts[TOTAL] ? sum : u->counts[TOTAL];
	return u->has_told && !u->is_bad && (has_ended || u->is_final);
}
