/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The head of a leg, written field by field. Spec: mcp_head.h, mcp_http.h. */
#include "config.h"

#include "mcp_head.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

/* A value that a head can hold as it is, and that does not look coded. */
static bool is_plain(const char *s, size_t n)
{
	return n > 0 && n <= AB_MCP_NAME_FIELD && ab_mcp_is_visible(s, n) &&
	       (n < 2 || memcmp(s, "=?", 2) != 0);
}

static void put_coded(ab_http_out *out, const char *s, size_t n)
{
	char text[4 * (AB_MCP_NAME_FIELD / 3 + 2)];

	if (n > AB_MCP_NAME_FIELD) {
		out->full = true;
		return;
	}
	sodium_bin2base64(text, sizeof(text), (const unsigned char *)s, n,
			  sodium_base64_VARIANT_ORIGINAL);
	ab_http_puts(out, "=?base64?");
	ab_http_puts(out, text);
	ab_http_puts(out, "?=");
}

static void put_field(ab_http_out *out, const char *name, const char *value,
		      size_t n)
{
	ab_http_puts(out, name);
	ab_http_puts(out, ": ");
	ab_http_put(out, value, n);
	ab_http_puts(out, "\r\n");
}

static void put_text(ab_http_out *out, const char *name, const char *s,
		     size_t n)
{
	if (is_plain(s, n)) {
		put_field(out, name, s, n);
		return;
	}
	ab_http_puts(out, name);
	ab_http_puts(out, ": ");
	put_coded(out, s, n);
	ab_http_puts(out, "\r\n");
}

static void put_param(ab_http_out *out, const char *name, const json_t *v)
{
	char field[96], number[32];
	const char *s = number;

	snprintf(field, sizeof(field), "Mcp-Param-%s", name);
	if (json_is_integer(v))
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(v));
	else if (json_is_boolean(v))
		s = json_is_true(v) ? "true" : "false";
	else if (json_is_string(v)) {
		put_text(out, field, json_string_value(v),
			 json_string_length(v));
		return;
	} else {
		return;
	}
	put_field(out, field, s, strlen(s));
}

/* What 2026-07-28 has in the head of what it has in the body. */
static void put_mirror(ab_http_out *out, const agentbox_mcp *guard,
		       const json_t *message)
{
	const char *method = json_string_value(
		json_object_get(message, "method"));
	const json_t *name = method ? ab_mcp_name_of(
		method, json_object_get(message, "params")) : NULL;
	const char *s = json_string_value(name);
	size_t n = json_string_length(name);

	if (!method)
		return;
	put_field(out, "Mcp-Method", method, strlen(method));
	if (s)
		put_text(out, "Mcp-Name", s, n);
	if (strcmp(method, "tools/call") != 0)
		return;
	for (size_t i = 0;; i++) {
		const json_t *v = ab_mcp_param(guard, message, i, &s);

		if (!s)
			return;
		put_param(out, s, v);
	}
}

static void put_session(ab_http_out *out, const ab_mcp_leg *l)
{
	const char *version = ab_mcp_version_name(l->version);

	/* before the greeting there is none, and 2025-03-26 had no field */
	if (l->version >= AB_MCP_2025_06_18)
		put_field(out, "MCP-Protocol-Version", version,
			  strlen(version));
	if (l->server_id[0])
		put_field(out, "Mcp-Session-Id", l->server_id,
			  strlen(l->server_id));
	if (l->version == AB_MCP_2026_07_28)
		put_mirror(out, l->session->guard, l->message);
}

static void put_content(ab_http_out *out, const ab_mcp_leg *l)
{
	bool post = l->verb == AB_MCP_HTTP_POST;

	ab_http_puts(out, "Accept: ");
	ab_http_puts(out, post ? "application/json, text/event-stream\r\n"
			       : "text/event-stream\r\n");
	if (!post)
		return;
	ab_http_puts(out, "Content-Type: application/json\r\n"
			  "Content-Length: ");
	ab_http_put_number(out, agentbox_bytes_get_size(l->frame));
	ab_http_puts(out, "\r\n");
}

bool ab_mcp_write_head(ab_http_out *out, const ab_mcp_leg *l)
{
	static const char *const verbs[] = { [AB_MCP_HTTP_POST] = "POST ",
					     [AB_MCP_HTTP_GET] = "GET ",
					     [AB_MCP_HTTP_DELETE] =
						     "DELETE " };
	const ab_wire_route *spec = &l->state->route->spec;
	const ab_injected *injected = &l->state->injected;
	char host[AB_TARGET_TEXT_SIZE];

	if (spec->secret[0] && !injected->value)
		return false;
	ab_target_text(&l->state->route->target, 443, host);
	ab_http_puts(out, verbs[l->verb]);
	ab_http_puts(out, spec->base[0] ? spec->base : "/");
	ab_http_puts(out, " HTTP/1.1\r\nHost: ");
	ab_http_puts(out, host);
	ab_http_puts(out, "\r\nUser-Agent: agentbox\r\n");
	put_content(out, l);
	put_session(out, l);
	if (spec->secret[0])
		put_field(out, spec->header, injected->value, injected->len);
	ab_http_puts(out, "Connection: close\r\n\r\n");
	return !out->full;
}

enum ab_mcp_content ab_mcp_content_of(const ab_http_head *head,
				      const char *buf)
{
	ab_http_span type = { 0 };

	/* nobody asked for it to be packed */
	if (ab_mcp_find_field(head, buf, "content-encoding", &type))
		return AB_MCP_CONTENT_OTHER;
	if (ab_mcp_find_field(head, buf, "content-type", &type) != 1)
		return AB_MCP_CONTENT_OTHER;
	if (ab_mcp_is_type(buf + type.at, type.len, "application/json"))
		return AB_MCP_CONTENT_JSON;
	return ab_mcp_is_type(buf + type.at, type.len, "text/event-stream") ?
		       AB_MCP_CONTENT_EVENTS : AB_MCP_CONTENT_OTHER;
}
