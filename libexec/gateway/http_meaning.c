/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the fields of a head mean for a proxy: whom it is for, how long the
 * body is, what becomes of the connection. RFC 9112 sections 3.2, 6 and 9,
 * with each choice it leaves decided for refusal. Gateway cases 23-28, 67,
 * 68, 75, 79-81.
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "http_internal.h"

#define INTERIM_MAX 16

/* --- spans -------------------------------------------------------------- */

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool ab_http_word(const char *buf, ab_http_span span, const char *lower)
{
	size_t n = strlen(lower);

	if (span.len != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (fold(buf[span.at + i]) != lower[i])
			return false;
	return true;
}

bool ab_http_name_is(const char *buf, ab_http_span name, const char *lower)
{
	size_t n = strlen(lower);

	if (name.len != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = fold(buf[name.at + i]);

		if (c != lower[i] && !(c == '_' && lower[i] == '-'))
			return false;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool ab_http_list_next(const char *buf, ab_http_span list, size_t *at,
		       ab_http_span *item)
{
	size_t end = (size_t)list.at + list.len;
	size_t i = *at ? *at : list.at;
	size_t j;

	while (i < end && (is_blank(buf[i]) || buf[i] == ','))
		i++;
	if (i >= end)
		return false;
	for (j = i; j < end && buf[j] != ',';)
		j++;
	*at = j;
	while (j > i && is_blank(buf[j - 1]))
		j--;
	item->at = (uint16_t)i;
	item->len = (uint16_t)(j - i);
	return true;
}

/* --- framing fields ----------------------------------------------------- */

/*
 * Fields that decide who reads how much take exactly one space, or none,
 * before the value and nothing after: parsers that differ about blanks differ
 * about these first.
 */
static bool is_plain(const char *buf, const ab_http_field *f)
{
	size_t gap = (size_t)f->value.at - f->name.at - f->name.len;
	size_t end = (size_t)f->value.at + f->value.len;

	if (gap > 2 || (gap == 2 && buf[f->value.at - 1] != ' '))
		return false;
	return buf[end] == '\r';
}

static enum ab_http_reason take_length(ab_http_head *head, const char *buf,
				       const ab_http_field *f)
{
	const char *s = buf + f->value.at;
	size_t n = f->value.len;
	uint64_t v = 0;

	/* 18 digits are less than 2^63; nobody sends leading zeros */
	if (!is_plain(buf, f) || n == 0 || n > 18 || (s[0] == '0' && n > 1))
		return AB_HTTP_LENGTH;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return AB_HTTP_LENGTH;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	head->length = v;
	return AB_HTTP_OK;
}

static enum ab_http_reason take_host(ab_http_head *head, const char *buf,
				     const ab_http_field *f)
{
	enum ab_target_reason reason;
	ab_target host;

	if (!is_plain(buf, f))
		return AB_HTTP_HOST;
	/* CONNECT has no port of its own to stand in: any will do */
	reason = ab_target_authority(buf + f->value.at, f->value.len,
				     head->form == AB_HTTP_FORM_CONNECT ?
					     head->host.port :
					     80,
				     &host);
	head->target_reason = (uint8_t)reason;
	if (reason)
		return AB_HTTP_HOST;
	if (head->form == AB_HTTP_FORM_ORIGIN) {
		head->host = host;
		return AB_HTTP_OK;
	}
	/* RFC 9112 section 3.2.2 lets a proxy replace it; an unequal one is
	   somebody's mistake or attempt, and is told so */
	return ab_target_same_host(&host, &head->host) &&
			       host.port == head->host.port ?
		       AB_HTTP_OK :
		       AB_HTTP_HOST_UNEQUAL;
}

/* --- the connection ------------------------------------------------------ */

struct seen {
	unsigned host, length, coding, upgrade;
	uint32_t single; /* bits: of single_names */
	bool keep_alive, close, upgrade_token, websocket, other;
};

static enum ab_http_reason take_connection(const char *buf, ab_http_span list,
					   struct seen *seen)
{
	ab_http_span item;

	for (size_t at = 0; ab_http_list_next(buf, list, &at, &item);) {
		for (size_t i = 0; i < item.len; i++)
			if (!ab_http_is_token(
				    (unsigned char)buf[item.at + i]))
				return AB_HTTP_CONNECTION;
		seen->close |= ab_http_word(buf, item, "close");
		seen->keep_alive |= ab_http_word(buf, item, "keep-alive");
		seen->upgrade_token |= ab_http_word(buf, item, "upgrade");
	}
	return AB_HTTP_OK;
}

static void take_upgrade(const char *buf, ab_http_span list, struct seen *seen)
{
	ab_http_span item;

	for (size_t at = 0; ab_http_list_next(buf, list, &at, &item);) {
		if (ab_http_word(buf, item, "websocket"))
			seen->websocket = true;
		else
			seen->other = true;
	}
}

static enum ab_http_reason take_coding(const ab_http_head *head,
				       const char *buf, const ab_http_field *f)
{
	if (!is_plain(buf, f) || !ab_http_word(buf, f->value, "chunked"))
		return AB_HTTP_CODING;
	/* RFC 9112 section 6.1: faulty framing */
	return head->minor == 1 ? AB_HTTP_OK : AB_HTTP_CODING;
}

/*
 * Fields of a request that have one value and are no list (RFC 9110 section
 * 5.3), of which somebody judges it: twice, one of two readers would take the
 * other one, though both should be the same.
 */
static const char *const single_names[] = {
	"authorization", "proxy-authorization", "content-type",
	"content-range", "content-location", "range", "if-range",
	"if-modified-since", "if-unmodified-since", "max-forwards", "origin",
	"sec-websocket-key",
};

static enum ab_http_reason take_single(const char *buf, ab_http_span name,
				       struct seen *seen)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(single_names); i++) {
		uint32_t bit = UINT32_C(1) << i;

		if (!ab_http_name_is(buf, name, single_names[i]))
			continue;
		if (seen->single & bit)
			return AB_HTTP_FIELD_TWICE;
		seen->single |= bit;
		return AB_HTTP_OK;
	}
	return AB_HTTP_OK;
}

/* Names with "_" are read as their fields, so that no peer finds a length or
   a host that was not looked at; only the true spelling counts as one. */
static enum ab_http_reason take_field(ab_http_head *head, const char *buf,
				      const ab_http_field *f,
				      struct seen *seen)
{
	bool request = head->kind == AB_HTTP_REQUEST;

	if (ab_http_name_is(buf, f->name, "content-length")) {
		if (memchr(buf + f->name.at, '_', f->name.len))
			return AB_HTTP_LENGTH;
		return seen->length++ ? AB_HTTP_LENGTH_TWICE :
					take_length(head, buf, f);
	}
	if (ab_http_name_is(buf, f->name, "transfer-encoding")) {
		if (memchr(buf + f->name.at, '_', f->name.len))
			return AB_HTTP_CODING;
		return seen->coding++ ? AB_HTTP_CODING_TWICE :
					take_coding(head, buf, f);
	}
	if (ab_http_word(buf, f->name, "connection"))
		return take_connection(buf, f->value, seen);
	if (ab_http_word(buf, f->name, "upgrade"))
		take_upgrade(buf, f->value, seen);
	if (request && ab_http_word(buf, f->name, "host"))
		return seen->host++ ? AB_HTTP_HOST_TWICE :
				      take_host(head, buf, f);
	if (request && ab_http_word(buf, f->name, "expect")) {
		if (!ab_http_word(buf, f->value, "100-continue"))
			return AB_HTTP_EXPECT;
		head->flags |= AB_HTTP_CONTINUE;
	}
	return request ? take_single(buf, f->name, seen) : AB_HTTP_OK;
}

static void settle_connection(ab_http_head *head, const struct seen *seen)
{
	if (seen->close || (head->minor == 0 && !seen->keep_alive))
		head->flags |= AB_HTTP_CLOSE;
	if (seen->websocket && seen->upgrade_token && !seen->other &&
	    head->minor == 1)
		head->flags |= AB_HTTP_UPGRADE_WS;
	else if (seen->websocket || seen->other)
		head->flags |= AB_HTTP_UPGRADE_OTHER;
}

/* --- the body ------------------------------------------------------------ */

static enum ab_http_reason settle_request(ab_http_head *head,
					  const struct seen *seen)
{
	if (seen->host == 0 &&
	    (head->minor == 1 || head->form == AB_HTTP_FORM_ORIGIN))
		return AB_HTTP_HOST_MISSING;
	if (seen->coding)
		head->body = AB_HTTP_BODY_CHUNKED;
	else if (head->length)
		head->body = AB_HTTP_BODY_LENGTH;
	/* "Content-Length: 0" with CONNECT is said by old clients */
	if (head->form == AB_HTTP_FORM_CONNECT && head->body)
		return AB_HTTP_BODY;
	return AB_HTTP_OK;
}

static void settle_response(ab_http_head *head, const struct seen *seen)
{
	if (seen->coding)
		head->body = AB_HTTP_BODY_CHUNKED;
	else if (seen->length)
		head->body = AB_HTTP_BODY_LENGTH;
	else
		head->body = AB_HTTP_BODY_CLOSE;
}

enum ab_http_reason ab_http_meaning(ab_http_head *head, const char *buf)
{
	enum ab_http_reason reason = AB_HTTP_OK;
	struct seen seen = { 0 };

	if (head->kind == AB_HTTP_REQUEST)
		reason = ab_http_target(head, buf);
	for (size_t i = 0; reason == AB_HTTP_OK && i < head->field_count; i++)
		reason = take_field(head, buf, &head->fields[i], &seen);
	if (reason == AB_HTTP_OK && seen.length && seen.coding)
		reason = AB_HTTP_LENGTH_CODING;
	if (reason != AB_HTTP_OK)
		return reason;
	settle_connection(head, &seen);
	if (head->kind == AB_HTTP_REQUEST)
		return settle_request(head, &seen);
	settle_response(head, &seen);
	return AB_HTTP_OK;
}

/* --- responses ----------------------------------------------------------- */

static enum ab_http_reason judge_interim(ab_http_head *head,
					 ab_http_exchange *exchange)
{
	if (head->body == AB_HTTP_BODY_CHUNKED || head->length)
		return AB_HTTP_BODY;
	head->body = AB_HTTP_BODY_NONE;
	if (head->status == 101)
		return exchange->wants_upgrade &&
				       (head->flags & AB_HTTP_UPGRADE_WS) ?
			       AB_HTTP_OK :
			       AB_HTTP_UPGRADE;
	if (exchange->interim == INTERIM_MAX)
		return AB_HTTP_INTERIM;
	exchange->interim++;
	return AB_HTTP_OK;
}

enum ab_http_reason ab_http_response_judge(ab_http_head *head,
					   ab_http_exchange *exchange)
{
	if (head->kind != AB_HTTP_RESPONSE || head->reason != AB_HTTP_OK)
		return AB_HTTP_STATUS_LINE;
	if (head->status < 200)
		return judge_interim(head, exchange);
	/* RFC 9112 section 6.3: these have none, whatever they say */
	if (head->status == 204 || (exchange->is_connect &&
				    head->status < 300)) {
		if (head->body == AB_HTTP_BODY_CHUNKED || head->length)
			return AB_HTTP_BODY;
		head->body = AB_HTTP_BODY_NONE;
	}
	if (head->status == 304 || exchange->is_head)
		head->body = AB_HTTP_BODY_NONE;
	if (head->body == AB_HTTP_BODY_LENGTH && head->length == 0)
		head->body = AB_HTTP_BODY_NONE;
	return AB_HTTP_OK;
}
