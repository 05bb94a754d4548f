/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing heads. Spec: http_write.h. */
#include "config.h"

#include "http_write.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "http_internal.h"

/* --- text --------------------------------------------------------------- */

void ab_http_put(ab_http_out *out, const char *s, size_t n)
{
	if (out->full || n > out->size - out->len) {
		out->full = true;
		return;
	}
	if (n)
		memcpy(out->p + out->len, s, n);
	out->len += n;
}

void ab_http_puts(ab_http_out *out, const char *s)
{
	ab_http_put(out, s, strlen(s));
}

void ab_http_put_number(ab_http_out *out, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	ab_http_puts(out, text);
}

void ab_http_write_chunk(ab_http_out *out, size_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%zx\r\n", n);
	ab_http_puts(out, text);
}

static void put_span(ab_http_out *out, const char *buf, ab_http_span s)
{
	ab_http_put(out, buf + s.at, s.len);
}

bool ab_http_value_is_safe(const char *s, size_t n)
{
	if (n == 0 || s[0] == ' ' || s[0] == '\t' || s[n - 1] == ' ' ||
	    s[n - 1] == '\t')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!ab_http_is_value((unsigned char)s[i]))
			return false;
	return true;
}

/* --- which fields go ------------------------------------------------------ */

/* Of one hop, or written by us. RFC 9110 section 7.6.1; HTTP2-Settings and
   Upgrade would let the two ends speak a protocol nobody reads here. */
static const char *const hop[] = {
	"connection",	     "proxy-connection", "keep-alive",
	"te",		     "trailer",		 "transfer-encoding",
	"upgrade",	     "http2-settings",	 "proxy-authorization",
	"proxy-authenticate", "proxy-authentication-info",
	"content-length",    "host",
};

/* What names the caller to an upstream: case 76. */
static const char *const credentials[] = {
	"x-goog-user-project",
	"x-jfrog-art-api",
	"cookie",
	"cookie2",
	"dpop", /* RFC 9449 */
	"signature", /* RFC 9421, of a head that is written anew here */
	"signature-input",
	"signature-agent",
	"forwarded",
	"via",
	"x-real-ip",
	"x-client-ip",
	"x-cluster-client-ip",
	"true-client-ip",
};

/* What a proxy in front of a server would say of who it has let in. */
static const char *const credential_prefixes[] = {
	"x-forwarded-",
	"cf-",
	"chatgpt-",
	"client-cert", /* RFC 9440 */
	"x-client-cert",
	"ssl-client-",
	"x-ssl-client-",
	"impersonate-",
	"remote-",
	"x-remote-",
	"x-webauth-",
	"x-proxyuser-",
	"x-auth-request-",
	"x-authenticated-",
	"x-ms-client-principal",
	"x-amzn-oidc-",
	"x-goog-authenticated-user-",
};

/* A name that ends so is a credential's, whatever stands before it, also
   those that nobody has made yet: */
static const char *const credential_endings[] = {
	"authorization", "authentication", "key",	 "token",
	"password",	 "passwd",	   "passphrase", "secret",
	"credential",	 "credentials",	   "auth-email", "auth",
};

/* but these, which say something about the request. */
static const char *const other_endings[] = {
	"idempotency-key", "sec-websocket-key", "encryption-key",
	"customer-key",	   "partition-key",	"partitionkey",
	"routing-key",	   "cache-key",		"surrogate-key",
	"csrf-token",	   "csrftoken",		"xsrf-token",
	"lock-token",	   "continuation-token", "page-token",
	"idempotency-token",
};

static const char *const response_credentials[] = {
	"set-cookie",
	"set-cookie2",
};

static bool is_one_of(const char *buf, ab_http_span name,
		      const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ab_http_name_is(buf, name, list[i]))
			return true;
	return false;
}

static bool has_prefix(const char *buf, ab_http_span name, const char *prefix)
{
	ab_http_span head = { name.at, (uint16_t)strlen(prefix) };

	return name.len >= head.len && ab_http_name_is(buf, head, prefix);
}

static bool has_ending(const char *buf, ab_http_span name, const char *ending)
{
	size_t n = strlen(ending);
	ab_http_span tail = { (uint16_t)(name.at + name.len - n), (uint16_t)n };

	return name.len >= n && ab_http_name_is(buf, tail, ending);
}

static bool has_ending_of(const char *buf, ab_http_span name,
			  const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (has_ending(buf, name, list[i]))
			return true;
	return false;
}

/* Of these only what describes the request stays: the others name
   organisations and workspaces, those to come included. */
static bool is_vendor_identity(const char *buf, ab_http_span name)
{
	static const char *const plain[] = {
		"anthropic-version", "anthropic-beta",
		"anthropic-dangerous-direct-browser-access", "openai-beta",
	};

	return (has_prefix(buf, name, "anthropic-") ||
		has_prefix(buf, name, "openai-")) &&
	       !is_one_of(buf, name, plain, AB_ARRAY_LEN(plain));
}

static bool is_credential(const char *buf, ab_http_span name)
{
	if (is_one_of(buf, name, credentials, AB_ARRAY_LEN(credentials)) ||
	    is_vendor_identity(buf, name))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(credential_prefixes); i++)
		if (has_prefix(buf, name, credential_prefixes[i]))
			return true;
	return has_ending_of(buf, name, credential_endings,
			     AB_ARRAY_LEN(credential_endings)) &&
	       !has_ending_of(buf, name, other_endings,
			      AB_ARRAY_LEN(other_endings));
}

/* "x-original-*" is every name that begins so, "*-override" that ends so. */
static bool is_like(const char *buf, ab_http_span name, const char *pattern)
{
	size_t n = strlen(pattern);

	if (pattern[0] == '*')
		return has_ending(buf, name, pattern + 1);
	if (pattern[n - 1] != '*')
		return ab_http_name_is(buf, name, pattern);
	for (size_t i = 0; i + 1 < n; i++) {
		ab_http_span byte = { (uint16_t)(name.at + i), 1 };
		char one[2] = { pattern[i], '\0' };

		if (i >= name.len || !ab_http_name_is(buf, byte, one))
			return false;
	}
	return true;
}

static bool is_listed(const char *buf, ab_http_span name,
		      const char *const *list)
{
	for (; list && *list; list++)
		if (is_like(buf, name, *list))
			return true;
	return false;
}

static bool is_dropped(const ab_http_head *head, const char *buf,
		       ab_http_span name, const ab_http_rewrite *rewrite)
{
	if (is_one_of(buf, name, hop, AB_ARRAY_LEN(hop)))
		return true;
	if (is_listed(buf, name, rewrite->drop) ||
	    (rewrite->only && !is_listed(buf, name, rewrite->only)))
		return true;
	for (size_t i = 0; i < rewrite->extra_count; i++)
		if (ab_http_name_is(buf, name, rewrite->extras[i].name))
			return true;
	if (!rewrite->strip_credentials)
		return false;
	if (head->kind == AB_HTTP_REQUEST)
		return is_credential(buf, name);
	return is_one_of(buf, name, response_credentials,
			 AB_ARRAY_LEN(response_credentials));
}

/* --- heads ---------------------------------------------------------------- */

static void put_fields(ab_http_out *out, const ab_http_head *head,
		       const char *buf, const ab_http_rewrite *rewrite)
{
	for (size_t i = 0; i < head->field_count; i++) {
		const ab_http_field *f = &head->fields[i];

		if (is_dropped(head, buf, f->name, rewrite))
			continue;
		put_span(out, buf, f->name);
		ab_http_puts(out, ": ");
		put_span(out, buf, f->value);
		ab_http_puts(out, "\r\n");
	}
}

static void put_extras(ab_http_out *out, const ab_http_rewrite *rewrite)
{
	for (size_t i = 0; i < rewrite->extra_count; i++) {
		const ab_http_extra *extra = &rewrite->extras[i];

		if (!ab_http_value_is_safe(extra->value, extra->len))
			out->full = true;
		ab_http_puts(out, extra->name);
		ab_http_puts(out, ": ");
		ab_http_put(out, extra->value, extra->len);
		ab_http_puts(out, "\r\n");
	}
}

/* Framing and the connection, and the end of the head. */
static void put_end(ab_http_out *out, const ab_http_head *head,
		    const ab_http_rewrite *rewrite, bool length)
{
	bool upgrade = rewrite->upgrade && (head->flags & AB_HTTP_UPGRADE_WS);
	bool until_close = head->body == AB_HTTP_BODY_CLOSE ||
			   (head->body == AB_HTTP_BODY_CHUNKED &&
			    head->kind == AB_HTTP_RESPONSE &&
			    rewrite->no_chunks);

	if (head->body == AB_HTTP_BODY_CHUNKED && !until_close) {
		ab_http_puts(out, "Transfer-Encoding: chunked\r\n");
	} else if (length) {
		ab_http_puts(out, "Content-Length: ");
		ab_http_put_number(out, head->length);
		ab_http_puts(out, "\r\n");
	}
	if (upgrade)
		ab_http_puts(out, "Connection: Upgrade\r\n"
				  "Upgrade: websocket\r\n");
	else if (rewrite->close || until_close)
		ab_http_puts(out, "Connection: close\r\n");
	ab_http_puts(out, "\r\n");
}

static bool has_field(const ab_http_head *head, const char *buf,
		      const char *lower)
{
	for (size_t i = 0; i < head->field_count; i++)
		if (ab_http_word(buf, head->fields[i].name, lower))
			return true;
	return false;
}

static void put_target(ab_http_out *out, const ab_http_head *head,
		       const char *buf, const ab_http_rewrite *rewrite)
{
	if (rewrite->path) {
		ab_http_put(out, rewrite->path, rewrite->path_len);
		return;
	}
	/* absolute-form may have no path, or begin with the query */
	if (head->path.len == 0 || buf[head->path.at] != '/')
		ab_http_puts(out, "/");
	put_span(out, buf, head->path);
}

bool ab_http_write_request(ab_http_out *out, const ab_http_head *head,
			   const char *buf, const ab_http_rewrite *rewrite)
{
	char host[AB_TARGET_TEXT_SIZE];

	if (head->kind != AB_HTTP_REQUEST || head->reason != AB_HTTP_OK ||
	    head->form == AB_HTTP_FORM_CONNECT)
		return false;
	ab_target_text(rewrite->host ? rewrite->host : &head->host,
		       rewrite->default_port, host);
	put_span(out, buf, head->method);
	ab_http_puts(out, " ");
	put_target(out, head, buf, rewrite);
	ab_http_puts(out, " HTTP/1.1\r\nHost: ");
	ab_http_puts(out, host);
	ab_http_puts(out, "\r\n");
	put_fields(out, head, buf, rewrite);
	put_extras(out, rewrite);
	/* "Content-Length: 0" tells POST without a body from one to come */
	put_end(out, head, rewrite, has_field(head, buf, "content-length"));
	return !out->full;
}

static bool says_length(const ab_http_head *head, const char *buf)
{
	if (head->body == AB_HTTP_BODY_LENGTH)
		return true;
	/* of HEAD and 304: the length there would have been; never with 204
	   or an interim answer (RFC 9110 section 8.6) */
	return head->body == AB_HTTP_BODY_NONE && head->status >= 200 &&
	       head->status != 204 && has_field(head, buf, "content-length");
}

bool ab_http_write_response(ab_http_out *out, const ab_http_head *head,
			    const char *buf, const ab_http_rewrite *rewrite)
{
	char status[16];

	if (head->kind != AB_HTTP_RESPONSE || head->reason != AB_HTTP_OK)
		return false;
	snprintf(status, sizeof(status), "HTTP/1.1 %u ", head->status);
	ab_http_puts(out, status);
	put_span(out, buf, head->phrase);
	ab_http_puts(out, "\r\n");
	put_fields(out, head, buf, rewrite);
	put_extras(out, rewrite);
	put_end(out, head, rewrite, says_length(head, buf));
	return !out->full;
}
