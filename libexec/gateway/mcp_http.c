/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The head and the body of MCP over HTTP, compared. Spec: mcp_http.h. */
#include "config.h"

#include "mcp_http.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define CODED "=?base64?"
#define CODED_END "?="

static const struct {
	const char *name;
	unsigned status;
} reasons[AB_MCP_HTTP_REASON_COUNT] = {
	[AB_MCP_HTTP_UNJUDGED] = { "unjudged", 500 },
	[AB_MCP_HTTP_OK] = { "ok", 200 },
	[AB_MCP_HTTP_METHOD] = { "mcp_method", 405 },
	[AB_MCP_HTTP_ORIGIN] = { "mcp_origin", 403 },
	[AB_MCP_HTTP_TWICE] = { "mcp_field_twice", 400 },
	[AB_MCP_HTTP_TYPE] = { "mcp_type", 415 },
	[AB_MCP_HTTP_CODING] = { "mcp_coding", 415 },
	[AB_MCP_HTTP_ACCEPT] = { "mcp_accept", 406 },
	[AB_MCP_HTTP_LENGTH] = { "mcp_length", 413 },
	[AB_MCP_HTTP_VERSION] = { "mcp_version", 400 },
	[AB_MCP_HTTP_SESSION] = { "mcp_session_id", 400 },
	[AB_MCP_HTTP_RESUME] = { "mcp_resume", 400 },
	[AB_MCP_HTTP_BODY] = { "mcp_body", 400 },
	[AB_MCP_HTTP_MISMATCH] = { "mcp_header_mismatch", 400 },
	[AB_MCP_HTTP_NEEDS_SESSION] = { "mcp_session_missing", 400 },
	[AB_MCP_HTTP_NO_SESSION] = { "mcp_session_unasked", 400 },
};

const char *ab_mcp_http_reason_name(enum ab_mcp_http_reason reason)
{
	return (unsigned)reason < AB_MCP_HTTP_REASON_COUNT ?
		       reasons[reason].name : "unknown";
}

unsigned ab_mcp_http_reason_status(enum ab_mcp_http_reason reason)
{
	return (unsigned)reason < AB_MCP_HTTP_REASON_COUNT ?
		       reasons[reason].status : 500;
}

/* --- fields -------------------------------------------------------------- */

unsigned ab_mcp_find_field(const ab_http_head *head, const char *buf,
			   const char *name, ab_http_span *value)
{
	unsigned count = 0;

	for (unsigned i = 0; i < head->field_count; i++) {
		if (!ab_http_name_is(buf, head->fields[i].name, name))
			continue;
		*value = head->fields[i].value;
		count++;
	}
	return count;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Does the text begin so, without regard to case? */
static bool begins(const char *p, size_t n, const char *with)
{
	size_t len = strlen(with);

	if (n < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (lower(p[i]) != with[i])
			return false;
	return true;
}

static size_t skip_space(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (p[i] == ' ' || p[i] == '\t'))
		i++;
	return i;
}

bool ab_mcp_is_type(const char *p, size_t n, const char *type)
{
	size_t at = strlen(type);

	if (!begins(p, n, type))
		return false;
	at += skip_space(p + at, n - at);
	if (at == n)
		return true;
	if (p[at++] != ';')
		return false;
	at += skip_space(p + at, n - at);
	return (begins(p + at, n - at, "charset=utf-8") && n - at == 13) ||
	       (begins(p + at, n - at, "charset=\"utf-8\"") && n - at == 15);
}

/* "; q=0.000" and how else nothing is said, RFC 9110 section 12.4.2. */
static bool is_none(const char *p, size_t n)
{
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	while (n && (p[n - 1] == '0' || p[n - 1] == '.'))
		n--;
	return n >= 2 && p[n - 1] == '=' && lower(p[n - 2]) == 'q';
}

/* Is `type` in the list, by name or by a star, and not with q=0? */
static bool accepts(const char *p, size_t n, const char *type)
{
	size_t slash = strcspn(type, "/");

	for (size_t at = 0; at < n;) {
		const char *comma = memchr(p + at, ',', n - at);
		size_t end = comma ? (size_t)(comma - p) : n;
		size_t from = at + skip_space(p + at, end - at);
		const char *semi = memchr(p + from, ';', end - from);
		size_t len = (semi ? (size_t)(semi - p) : end) - from;

		while (len && (p[from + len - 1] == ' ' ||
			       p[from + len - 1] == '\t'))
			len--;
		bool fits = (len == strlen(type) &&
			     begins(p + from, len, type)) ||
			    (len == 3 && memcmp(p + from, "*/*", 3) == 0) ||
			    (len == slash + 2 && p[from + len - 1] == '*' &&
			     memcmp(p + from, type, slash + 1) == 0);
		if (fits && !(semi && is_none(semi, end - (size_t)(semi - p))))
			return true;
		at = end + 1;
	}
	return false;
}

bool ab_mcp_is_visible(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x21 || p[i] > 0x7e)
			return false;
	return n > 0;
}

static enum ab_mcp_version version_of(const char *p, size_t n)
{
	char text[16] = "";

	if (n >= sizeof(text) || memchr(p, 0, n))
		return AB_MCP_VERSION_NONE;
	memcpy(text, p, n);
	return ab_mcp_version_find(text);
}

/* --- the head ------------------------------------------------------------ */

static uint8_t verb_of(const char *p, size_t n)
{
	static const char *const verbs[] = { "POST", "GET", "DELETE" };

	for (unsigned i = 0; i < AB_ARRAY_LEN(verbs); i++)
		if (n == strlen(verbs[i]) && memcmp(p, verbs[i], n) == 0)
			return (uint8_t)(AB_MCP_HTTP_POST + i);
	return 0;
}

/* The content of a POST, and what each verb takes as an answer. */
static enum ab_mcp_http_reason judge_content(const ab_http_head *head,
					     const char *buf, uint8_t verb)
{
	ab_http_span type = { 0 }, accept = { 0 }, coding = { 0 };
	unsigned types = ab_mcp_find_field(head, buf, "content-type", &type);
	unsigned accepted = ab_mcp_find_field(head, buf, "accept", &accept);

	if (types > 1 || accepted > 1)
		return AB_MCP_HTTP_TWICE;
	if (verb == AB_MCP_HTTP_DELETE)
		return head->body == AB_HTTP_BODY_NONE ? AB_MCP_HTTP_OK
						       : AB_MCP_HTTP_BODY;
	if (!accepts(buf + accept.at, accept.len, "text/event-stream"))
		return AB_MCP_HTTP_ACCEPT;
	if (verb == AB_MCP_HTTP_GET)
		return head->body == AB_HTTP_BODY_NONE ? AB_MCP_HTTP_OK
						       : AB_MCP_HTTP_BODY;
	if (!accepts(buf + accept.at, accept.len, "application/json"))
		return AB_MCP_HTTP_ACCEPT;
	if (!types || !ab_mcp_is_type(buf + type.at, type.len, "application/json"))
		return AB_MCP_HTTP_TYPE;
	if (ab_mcp_find_field(head, buf, "content-encoding", &coding))
		return AB_MCP_HTTP_CODING;
	if (head->body == AB_HTTP_BODY_NONE)
		return AB_MCP_HTTP_BODY;
	if (head->body == AB_HTTP_BODY_LENGTH &&
	    head->length > AB_MCP_HTTP_BODY_MAX)
		return AB_MCP_HTTP_LENGTH;
	return AB_MCP_HTTP_OK;
}

/* What a page of a browser brings (case 99). */
static enum ab_mcp_http_reason judge_origin(const ab_http_head *head,
					    const char *buf,
					    const char *origin)
{
	ab_http_span v = { 0 };
	unsigned n = ab_mcp_find_field(head, buf, "origin", &v);

	if (n == 0)
		return AB_MCP_HTTP_OK;
	return n == 1 && origin && v.len == strlen(origin) &&
			       memcmp(buf + v.at, origin, v.len) == 0 ?
		       AB_MCP_HTTP_OK : AB_MCP_HTTP_ORIGIN;
}

static enum ab_mcp_http_reason judge_fields(const ab_http_head *head,
					    const char *buf, ab_mcp_http *out)
{
	ab_http_span version = { 0 }, resume = { 0 };
	unsigned versions = ab_mcp_find_field(head, buf, "mcp-protocol-version", &version);
	unsigned sessions = ab_mcp_find_field(head, buf, "mcp-session-id", &out->session);
	unsigned methods = ab_mcp_find_field(head, buf, "mcp-method", &out->method);
	unsigned names = ab_mcp_find_field(head, buf, "mcp-name", &out->name);

	if (versions > 1 || sessions > 1 || methods > 1 || names > 1)
		return AB_MCP_HTTP_TWICE;
	out->has_method = methods;
	out->has_name = names;
	if (versions)
		out->version = (uint8_t)version_of(buf + version.at,
						   version.len);
	if (versions && out->version == AB_MCP_VERSION_NONE)
		return AB_MCP_HTTP_VERSION;
	if (sessions && (out->session.len > AB_MCP_SESSION_MAX ||
			 !ab_mcp_is_visible(buf + out->session.at,
				     out->session.len)))
		return AB_MCP_HTTP_SESSION;
	if (ab_mcp_find_field(head, buf, "last-event-id", &resume))
		return AB_MCP_HTTP_RESUME;
	return AB_MCP_HTTP_OK;
}

/* GET and DELETE are about a session, which 2026-07-28 has not. */
static enum ab_mcp_http_reason judge_bodiless(const ab_mcp_http *out)
{
	if (out->verb == AB_MCP_HTTP_POST)
		return AB_MCP_HTTP_OK;
	if (out->version == AB_MCP_2026_07_28)
		return AB_MCP_HTTP_METHOD;
	return out->session.len ? AB_MCP_HTTP_OK : AB_MCP_HTTP_NEEDS_SESSION;
}

enum ab_mcp_http_reason ab_mcp_http_head(const ab_http_head *head,
					 const char *buf, const char *origin,
					 ab_mcp_http *out)
{
	enum ab_mcp_http_reason reason = AB_MCP_HTTP_OK;

	memset(out, 0, sizeof(*out));
	out->verb = verb_of(buf + head->method.at, head->method.len);
	if (!out->verb)
		reason = AB_MCP_HTTP_METHOD;
	if (reason == AB_MCP_HTTP_OK)
		reason = judge_origin(head, buf, origin);
	if (reason == AB_MCP_HTTP_OK)
		reason = judge_content(head, buf, out->verb);
	if (reason == AB_MCP_HTTP_OK)
		reason = judge_fields(head, buf, out);
	if (reason == AB_MCP_HTTP_OK)
		reason = judge_bodiless(out);
	if (reason != AB_MCP_HTTP_OK)
		memset(out, 0, sizeof(*out));
	return reason;
}

/* --- the body ------------------------------------------------------------ */

/* A digit of base64 (RFC 4648 section 4), or -1. */
static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/*
 * The bytes behind n digits, whole groups with their padding and nothing in
 * the bits that padding leaves over. -1: it is not that.
 */
static ssize_t decode(const char *p, size_t n, char *out)
{
	size_t used = 0, pad = 0;

	if (n == 0 || n % 4)
		return -1;
	while (pad < 2 && p[n - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < n; i += 4) {
		size_t left = i + 4 == n ? 4 - pad : 4;
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++) {
			int d = k < left ? digit(p[i + k]) : 0;

			if (d < 0)
				return -1;
			v = v << 6 | (uint32_t)d;
		}
		if ((left == 3 && (v & 0xff)) || (left == 2 && (v & 0xffff)))
			return -1;
		out[used++] = (char)(v >> 16);
		if (left > 2)
			out[used++] = (char)(v >> 8);
		if (left > 3)
			out[used++] = (char)v;
	}
	return (ssize_t)used;
}

/* Does the field's value say this text, as it is or in its coded form? */
static bool says(const char *p, size_t n, const json_t *text)
{
	const size_t head = sizeof(CODED) - 1, tail = sizeof(CODED_END) - 1;
	const char *s = json_string_value(text);
	size_t len = json_string_length(text);
	char plain[AB_MCP_NAME_FIELD];

	if (!s || n > sizeof(plain))
		return false;
	/* what looks coded is coded: there is no second reading */
	if (n >= head + tail && memcmp(p, CODED, head) == 0 &&
	    memcmp(p + n - tail, CODED_END, tail) == 0) {
		ssize_t got = decode(p + head, n - head - tail, plain);

		return got >= 0 && (size_t)got == len &&
		       memcmp(plain, s, len) == 0;
	}
	return n == len && memcmp(p, s, n) == 0;
}

const json_t *ab_mcp_name_of(const char *method, const json_t *params)
{
	if (strcmp(method, "tools/call") == 0 ||
	    strcmp(method, "prompts/get") == 0)
		return json_object_get(params, "name");
	if (strcmp(method, "resources/read") == 0)
		return json_object_get(params, "uri");
	return NULL;
}

/* Mcp-Method and Mcp-Name: needed by 2026-07-28, never wrong. */
static enum ab_mcp_http_reason judge_mirror(const ab_mcp_http *h,
					    const char *buf,
					    const ab_mcp_message *msg,
					    bool needed)
{
	const json_t *name = msg->method ? ab_mcp_name_of(msg->method,
							     msg->params)
					   : NULL;

	if (!msg->method)
		return h->has_method || h->has_name ? AB_MCP_HTTP_MISMATCH
						    : AB_MCP_HTTP_OK;
	if ((needed && !h->has_method) || (needed && name && !h->has_name))
		return AB_MCP_HTTP_MISMATCH;
	if (h->has_method &&
	    (h->method.len != strlen(msg->method) ||
	     memcmp(buf + h->method.at, msg->method, h->method.len) != 0))
		return AB_MCP_HTTP_MISMATCH;
	if (h->has_name && !says(buf + h->name.at, h->name.len, name))
		return AB_MCP_HTTP_MISMATCH;
	return AB_MCP_HTTP_OK;
}

/* The version of the head, the body and the session are one. */
static enum ab_mcp_http_reason judge_version(ab_mcp_http *h,
					     const ab_mcp_message *msg)
{
	const json_t *stated = json_object_get(
		json_object_get(msg->params, "_meta"), META_VERSION);
	bool stateless = h->version == AB_MCP_2026_07_28;

	if (stated) {
		enum ab_mcp_version v = ab_mcp_version_find(
			json_string_value(stated));

		if (v != h->version)
			return AB_MCP_HTTP_MISMATCH;
	} else if (stateless && msg->kind == AB_MCP_REQUEST) {
		return AB_MCP_HTTP_MISMATCH;
	}
	h->family = stateless ? AB_MCP_STATELESS : AB_MCP_SESSIONS;
	h->is_greeting = msg->method &&
			 strcmp(msg->method, "initialize") == 0;
	/* a client does not choose the id of its session */
	if (stateless || h->is_greeting)
		return h->session.len ? AB_MCP_HTTP_NO_SESSION
				      : AB_MCP_HTTP_OK;
	return h->session.len ? AB_MCP_HTTP_OK : AB_MCP_HTTP_NEEDS_SESSION;
}

enum ab_mcp_http_reason ab_mcp_http_body(ab_mcp_http *judged, const char *buf,
					 const char *body, size_t n,
					 json_t **value)
{
	enum ab_mcp_http_reason reason;
	ab_mcp_message msg;
	const char *why;
	int32_t rc;

	*value = NULL;
	if (judged->verb != AB_MCP_HTTP_POST)
		return AB_MCP_HTTP_UNJUDGED;
	rc = ab_mcp_read(body, n, value, &why);
	if (rc < 0)
		return rc == AGENTBOX_ENOMEM ? AB_MCP_HTTP_UNJUDGED
					     : AB_MCP_HTTP_BODY;
	ab_mcp_sort(*value, &msg);
	reason = msg.kind == AB_MCP_NOTHING ? AB_MCP_HTTP_BODY
					    : AB_MCP_HTTP_OK;
	if (reason == AB_MCP_HTTP_OK)
		reason = judge_version(judged, &msg);
	if (reason == AB_MCP_HTTP_OK)
		reason = judge_mirror(judged, buf, &msg,
				      judged->family == AB_MCP_STATELESS);
	if (reason != AB_MCP_HTTP_OK) {
		json_decref(*value);
		*value = NULL;
	}
	return reason;
}
