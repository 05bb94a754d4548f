/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames: limits by one pass over the bytes, jansson, and the shapes of
 * JSON-RPC. Nothing is decided here about what a message may do. Spec: frame.h.
 */
#include "config.h"

#include "mcp/frame.h"

#include <string.h>

#include "agentbox/mcp.h"
#include "base/alloc.h"
#include "base/attr.h"
#include "base/bytes.h"
#include "base/utf8.h"

/* 2^53 - 1: what every reader of JSON holds exactly (RFC 8259 section 6). */
#define MOST_INTEGER INT64_C(9007199254740991)

/*
 * Depth and members before anything is built. Strings are passed over as
 * jansson will read them: a backslash takes the next byte with it.
 */
static const char *find_excess(const char *text, size_t n)
{
	size_t depth = 0, members = 0;
	bool in_string = false;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > AB_MCP_MAX_DEPTH)
				return "deeper than 64 levels";
		} else if (c == '}' || c == ']') {
			depth -= depth > 0;
		} else if (c == ',' && ++members > AB_MCP_MAX_MEMBERS) {
			return "more than 10000 members";
		}
	}
	return NULL;
}

int32_t ab_mcp_read(const char *text, size_t n, json_t **value,
		    const char **why)
{
	json_error_t error;

	*value = NULL;
	*why = NULL;
	if (n > AGENTBOX_MCP_FRAME_MAX)
		*why = "larger than 4 MiB";
	else
		*why = find_excess(text, n);
	if (*why)
		return AGENTBOX_ELIMIT;
	/* NUL in strings is refused by jansson unless it is allowed */
	*value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
			    &error);
	if (*value)
		return 0;
	if (json_error_code(&error) == json_error_out_of_memory)
		return AGENTBOX_ENOMEM;
	*why = json_error_code(&error) == json_error_duplicate_key ?
		       "a key stands twice in one object" :
		       "not one JSON text in UTF-8 with numbers that fit";
	return AGENTBOX_EPARSE;
}

bool ab_mcp_is_id(const json_t *id)
{
	if (json_is_string(id))
		return json_string_length(id) <= AB_MCP_MAX_ID;
	return json_is_integer(id) && json_integer_value(id) <= MOST_INTEGER &&
	       json_integer_value(id) >= -MOST_INTEGER;
}

/* A letter as readers that do not care for case take it (Unicode's simple
   mappings to a letter of ASCII). */
static uint32_t fold(uint32_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c + ('a' - 'A');
	return c == 0x130 || c == 0x131 ? 'i'
	       : c == 0x17f		? 's'
	       : c == 0x212a		? 'k' : c;
}

/* `loose`: what binds keys to names of its language takes words that a '_' or
   a '-' parts for the same, too. */
static bool is_same(const char *key, const char *word, bool loose)
{
	size_t n = strlen(key), i = 0;
	const char *w = word;

	for (size_t len; i < n; i += len) {
		uint32_t c;

		len = ab_utf8_decode(key + i, n - i, &c);
		if (!len)
			return false;
		if (loose && (c == '_' || c == '-'))
			continue;
		if (!*w || fold(c) != fold((unsigned char)*w++))
			return false;
	}
	return !*w;
}

bool ab_mcp_is_like(const char *key, const char *word)
{
	return is_same(key, word, true);
}

static bool has_twin_of(const json_t *object, const char *const *words,
			size_t count, bool loose)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)object, key, v)
		for (size_t i = 0; i < count; i++)
			if (is_same(key, words[i], loose) &&
			    strcmp(key, words[i]) != 0)
				return true;
	return false;
}

bool ab_mcp_has_twin_of(const json_t *object, const char *word)
{
	return has_twin_of(object, &word, 1, true);
}

bool ab_mcp_has_twin(const json_t *object)
{
	/* what is judged, or written here, in any object of the protocol */
	static const char *const words[] = {
		"_meta", "arguments", "capabilities", "cursor", "method",
		"mode", "name", "notifications", "params", "progressToken",
		"protocolVersion", "ref", "requestId", "task", "taskId",
		"type", "uri", "url",
	};
	/* and goes on as it was judged: in any spelling */
	static const char *const judged[] = {
		"elicitationId", "includeContext", "inputRequests",
		"inputResponses", "requestState", "resourceSubscriptions",
		"resultType",
	};
	/* and in their _meta, where anybody may have names of his own; what
	   is ours goes in any case, see ab_mcp_unsign_meta() */
	static const char *const meta[] = {
		"progressToken", AB_MCP_META_VERSION, AB_MCP_META_CAPABILITIES,
		AB_MCP_META_CLIENT,
	};

	return has_twin_of(object, words, AB_ARRAY_LEN(words), false) ||
	       has_twin_of(object, judged, AB_ARRAY_LEN(judged), true) ||
	       has_twin_of(json_object_get(object, "_meta"), meta,
			   AB_ARRAY_LEN(meta), false);
}

/* No member but those of JSON-RPC; each at most once, by the parser. */
static bool known_members(const json_t *value)
{
	static const char *const known[] = { "jsonrpc", "id",	  "method",
					     "params",	"result", "error" };
	size_t found = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		found += json_object_get(value, known[i]) != NULL;
	return found == json_object_size(value);
}

static const char *sort_call(ab_mcp_message *m, const json_t *method)
{
	if (!json_is_string(method) ||
	    json_string_length(method) > AB_MCP_MAX_METHOD)
		return "the method is not a name";
	if (m->result || m->error)
		return "a method and a result in one message";
	if (m->params && !json_is_object(m->params))
		return "params is not an object";
	if (ab_mcp_has_twin(m->params))
		return AB_MCP_TWIN;
	if (m->id && !ab_mcp_is_id(m->id))
		return "the id is neither a string nor an exact integer";
	m->method = json_string_value(method);
	m->kind = m->id ? AB_MCP_REQUEST : AB_MCP_NOTIFICATION;
	return NULL;
}

static const char *sort_answer(ab_mcp_message *m)
{
	if (!m->result == !m->error)
		return "neither a method nor one of result and error";
	if (m->params)
		return "params in a response";
	if (!m->id || (!ab_mcp_is_id(m->id) && !json_is_null(m->id)))
		return "a response without an id";
	if (m->error && !json_is_object(m->error))
		return "the error is not an object";
	m->kind = AB_MCP_RESPONSE;
	return NULL;
}

void ab_mcp_sort(json_t *value, ab_mcp_message *m)
{
	const char *version = json_string_value(
		json_object_get(value, "jsonrpc"));
	const json_t *method = json_object_get(value, "method");

	memset(m, 0, sizeof(*m));
	m->why = "not a JSON object";
	if (!json_is_object(value))
		return;
	m->id = json_object_get(value, "id");
	m->why = "jsonrpc is not \"2.0\"";
	if (!version || strcmp(version, "2.0") != 0)
		return;
	m->why = "a member that JSON-RPC does not know";
	if (!known_members(value))
		return;
	m->params = json_object_get(value, "params");
	m->result = json_object_get(value, "result");
	m->error = json_object_get(value, "error");
	m->why = method ? sort_call(m, method) : sort_answer(m);
}

/* 17 digits bring back every double exactly. */
#define EXACT JSON_REAL_PRECISION(17)

static int put(const char *p, size_t n, void *data)
{
	return ab_bytes_append(data, p, n) ? 0 : -1;
}

agentbox_bytes *ab_mcp_write(const json_t *value)
{
	agentbox_bytes *out = ab_bytes_new(AGENTBOX_MCP_FRAME_MAX);

	if (out && (!value || json_dump_callback(value, put, out,
						 JSON_COMPACT | EXACT) < 0)) {
		agentbox_bytes_free(out);
		out = NULL;
	}
	return out;
}

char *ab_mcp_canonical(const json_t *value)
{
	return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS |
				 JSON_ENCODE_ANY | EXACT);
}

/* --- text -------------------------------------------------------------- */

/* What a reader does not see and a model does, or that a terminal obeys. */
static bool is_hidden(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} table[] = {
		{ 0x00, 0x08 },	    { 0x0b, 0x1f },	{ 0x7f, 0x9f },
		{ 0xad, 0xad },	    { 0x34f, 0x34f },	{ 0x61c, 0x61c },
		{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0x3164, 0x3164 }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (c >= table[i].from && c <= table[i].to)
			return true;
	return false;
}

bool ab_mcp_is_clean(const char *text, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		uint32_t c;

		len = ab_utf8_decode(text + i, n - i, &c);
		if (!len || is_hidden(c))
			return false;
	}
	return true;
}

json_t *ab_mcp_clean(const json_t *text, size_t max)
{
	const char *s = json_string_value(text);
	size_t n = json_string_length(text), used = 0;
	char *out = s ? ab_calloc(1, n + 1) : NULL;
	json_t *made = NULL;

	for (size_t i = 0, len; out && i < n; i += len) {
		uint32_t c;

		len = ab_utf8_decode(s + i, n - i, &c);
		if (!len)
			len = 1;
		else if (used + len > max)
			break;
		else if (!is_hidden(c)) {
			memcpy(out + used, s + i, len);
			used += len;
		}
	}
	if (out)
		made = json_stringn(out, used);
	free(out);
	return made;
}
