/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The target of a request: RFC 9112 section 3.2, origin-form, absolute-form
 * of http and CONNECT's authority, each where it belongs. The bytes are those
 * that WHATWG's URL writer leaves in a path or query (clients send "|" and
 * "[" as they are), never a backslash, quote, angle or "#". Gateway cases 15,
 * 16, 23, 25-27, 83.
 */
#include "config.h"

#include <string.h>

#include "base/digit.h"
#include "http_internal.h"

static bool is_method(const ab_http_head *head, const char *buf,
		      const char *name)
{
	size_t n = strlen(name);

	/* methods have case: RFC 9110 section 9.1 */
	return head->method.len == n &&
	       memcmp(buf + head->method.at, name, n) == 0;
}

static bool is_target_byte(char c, bool query)
{
	if (strchr("\"<>\\#", c))
		return false;
	return query || !strchr("{}`", c);
}

/* Every byte may stand in a path or, behind "?", a query. */
static enum ab_http_reason judge_path(const char *s, size_t n)
{
	bool query = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_target_byte(s[i], query))
			return AB_HTTP_TARGET_BYTE;
		query |= s[i] == '?';
		if (s[i] != '%')
			continue;
		if (n - i < 3 || ab_hex_digit(s[i + 1]) < 0 ||
		    ab_hex_digit(s[i + 2]) < 0)
			return AB_HTTP_TARGET_BYTE;
	}
	return AB_HTTP_OK;
}

static enum ab_http_reason take_authority(ab_http_head *head, const char *s,
					  size_t n, uint16_t port)
{
	enum ab_target_reason reason =
		ab_target_authority(s, n, port, &head->host);

	head->target_reason = (uint8_t)reason;
	return reason ? AB_HTTP_AUTHORITY : AB_HTTP_OK;
}

static enum ab_http_reason take_path(ab_http_head *head, const char *buf,
				     size_t at)
{
	size_t end = (size_t)head->target.at + head->target.len;

	head->path.at = (uint16_t)at;
	head->path.len = (uint16_t)(end - at);
	return judge_path(buf + at, end - at);
}

/* The length of "http://", in any case; 0: another or no scheme. */
static size_t scheme_length(const char *s, size_t n)
{
	static const char scheme[] = "http://";
	size_t len = sizeof(scheme) - 1;

	if (n < len)
		return 0;
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + ('a' - 'A'));
		if (c != scheme[i])
			return 0;
	}
	return len;
}

static enum ab_http_reason absolute(ab_http_head *head, const char *buf)
{
	const char *s = buf + head->target.at;
	size_t n = head->target.len;
	size_t start = scheme_length(s, n);
	size_t end = start;
	enum ab_http_reason reason;

	if (start == 0)
		return memchr(s, ':', n) ? AB_HTTP_SCHEME :
					   AB_HTTP_TARGET_FORM;
	while (end < n && s[end] != '/' && s[end] != '?' && s[end] != '#')
		end++;
	reason = take_authority(head, s + start, end - start, 80);
	if (reason != AB_HTTP_OK)
		return reason;
	head->form = AB_HTTP_FORM_ABSOLUTE;
	return take_path(head, buf, head->target.at + end);
}

enum ab_http_reason ab_http_target(ab_http_head *head, const char *buf)
{
	char first = buf[head->target.at];

	if (is_method(head, buf, "HEAD"))
		head->flags |= AB_HTTP_IS_HEAD;
	if (is_method(head, buf, "TRACE"))
		return AB_HTTP_TRACE;
	if (is_method(head, buf, "CONNECT")) {
		head->form = AB_HTTP_FORM_CONNECT;
		return take_authority(head, buf + head->target.at,
				      head->target.len, 0);
	}
	/* the preface of HTTP/2 says "PRI * HTTP/2.0", which ends before */
	if (first == '*' && head->target.len == 1)
		return is_method(head, buf, "OPTIONS") ? AB_HTTP_TRACE :
							 AB_HTTP_TARGET_FORM;
	if (first != '/')
		return absolute(head, buf);
	head->form = AB_HTTP_FORM_ORIGIN;
	return take_path(head, buf, head->target.at);
}
