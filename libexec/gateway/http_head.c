/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a head, byte by byte. A byte that cannot stand where it stands
 * ends the reading at once. Spec: http.h, RFC 9112 sections 2 to 5.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "http_internal.h"

static const struct {
	const char *name;
	unsigned status;
} reasons[] = {
	[AB_HTTP_MORE] = { "more", 400 },
	[AB_HTTP_OK] = { "ok", 200 },
	[AB_HTTP_LINE_END] = { "http_line_end", 400 },
	[AB_HTTP_CONTROL] = { "http_control", 400 },
	[AB_HTTP_METHOD] = { "http_method", 400 },
	[AB_HTTP_REQUEST_LINE] = { "http_request_line", 400 },
	[AB_HTTP_STATUS_LINE] = { "http_status_line", 502 },
	[AB_HTTP_FIELD_NAME] = { "http_field_name", 400 },
	[AB_HTTP_FIELD_TWICE] = { "http_field_twice", 400 },
	[AB_HTTP_FOLD] = { "http_fold", 400 },
	[AB_HTTP_TARGET_BYTE] = { "http_target_byte", 400 },
	[AB_HTTP_TARGET_FORM] = { "http_target_form", 400 },
	[AB_HTTP_SCHEME] = { "http_scheme", 400 },
	[AB_HTTP_AUTHORITY] = { "http_authority", 400 },
	[AB_HTTP_HOST_MISSING] = { "http_host_missing", 400 },
	[AB_HTTP_HOST_TWICE] = { "http_host_twice", 400 },
	[AB_HTTP_HOST] = { "http_host", 400 },
	[AB_HTTP_HOST_UNEQUAL] = { "http_host_unequal", 400 },
	[AB_HTTP_LENGTH] = { "http_length", 400 },
	[AB_HTTP_LENGTH_TWICE] = { "http_length_twice", 400 },
	[AB_HTTP_CODING] = { "http_coding", 400 },
	[AB_HTTP_CODING_TWICE] = { "http_coding_twice", 400 },
	[AB_HTTP_LENGTH_CODING] = { "http_length_coding", 400 },
	[AB_HTTP_BODY] = { "http_body", 400 },
	[AB_HTTP_CONNECTION] = { "http_connection", 400 },
	[AB_HTTP_UPGRADE] = { "http_upgrade", 502 },
	[AB_HTTP_TRACE] = { "http_trace", 405 },
	[AB_HTTP_TARGET_LONG] = { "http_target_long", 414 },
	[AB_HTTP_EXPECT] = { "http_expect", 417 },
	[AB_HTTP_HEAD_LONG] = { "http_head_long", 431 },
	[AB_HTTP_LINE_LONG] = { "http_line_long", 431 },
	[AB_HTTP_FIELDS] = { "http_fields", 431 },
	[AB_HTTP_VERSION] = { "http_version", 505 },
	[AB_HTTP_INTERIM] = { "http_interim", 502 },
};

static_assert(AB_ARRAY_LEN(reasons) == AB_HTTP_REASON_COUNT,
	      "a reason without a name");

const char *ab_http_reason_name(enum ab_http_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason].name :
							"unknown";
}

unsigned ab_http_reason_status(enum ab_http_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ?
		       reasons[reason].status :
		       400;
}

/* --- characters --------------------------------------------------------- */

bool ab_http_is_token(unsigned char c)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9'))
		return true;
	return c && memchr(others, c, sizeof(others) - 1) != NULL;
}

bool ab_http_is_value(unsigned char c)
{
	return c == '\t' || (c >= ' ' && c != 0x7f);
}

/* Between two spaces of a start line, whatever it means. */
static bool is_visible(unsigned char c)
{
	return c > ' ' && c < 0x7f;
}

/* --- the states --------------------------------------------------------- */

enum state {
	S_METHOD = 0,
	S_TARGET,
	S_VERSION, /* of a request; ends the line */
	S_STATUS,  /* "HTTP/1.1 200", all twelve bytes */
	S_PHRASE,
	S_LF, /* after the CR of any line but the last */
	S_LINE,	/* first byte of a field line */
	S_NAME,
	S_BEFORE_VALUE,
	S_VALUE,
	S_LAST_LF,
	S_DONE
};

static ab_http_span span(size_t from, size_t to)
{
	ab_http_span s = { (uint16_t)from, (uint16_t)(to - from) };

	return s;
}

/* A byte nothing allows here: line ends have a reason of their own. */
static enum ab_http_reason judge_byte(unsigned char c,
				      enum ab_http_reason otherwise)
{
	if (c == '\r' || c == '\n')
		return AB_HTTP_LINE_END;
	return c < ' ' || c == 0x7f ? AB_HTTP_CONTROL : otherwise;
}

static enum ab_http_reason read_method(ab_http_head *h, unsigned char c)
{
	if (c == ' ' && h->pos > h->line) {
		h->method = span(h->line, h->pos);
		h->mark = (uint16_t)(h->pos + 1);
		h->state = S_TARGET;
		return AB_HTTP_MORE;
	}
	if (!ab_http_is_token(c))
		return judge_byte(c, AB_HTTP_METHOD);
	return h->pos - h->line >= AB_HTTP_METHOD_MAX ? AB_HTTP_METHOD :
							AB_HTTP_MORE;
}

static enum ab_http_reason read_target(ab_http_head *h, unsigned char c)
{
	if (c == ' ' && h->pos > h->mark) {
		h->target = span(h->mark, h->pos);
		h->mark = (uint16_t)(h->pos + 1);
		h->state = S_VERSION;
		return AB_HTTP_MORE;
	}
	/* a line that ends here is HTTP/0.9 */
	if (c == ' ' || c == '\r')
		return AB_HTTP_REQUEST_LINE;
	if (!is_visible(c))
		return judge_byte(c, AB_HTTP_TARGET_BYTE);
	return h->pos - h->mark >= AB_HTTP_TARGET_MAX ? AB_HTTP_TARGET_LONG :
							AB_HTTP_MORE;
}

/* One byte of "HTTP/1.x" at offset i. */
static enum ab_http_reason read_version_byte(ab_http_head *h, size_t i,
					     unsigned char c,
					     enum ab_http_reason otherwise)
{
	static const char text[] = "HTTP/";

	if (i < 5)
		return c == (unsigned char)text[i] ? AB_HTTP_MORE :
						     judge_byte(c, otherwise);
	if (i == 6)
		return c == '.' ? AB_HTTP_MORE : judge_byte(c, otherwise);
	if (c < '0' || c > '9')
		return judge_byte(c, otherwise);
	if (i == 5)
		return c == '1' ? AB_HTTP_MORE : AB_HTTP_VERSION;
	h->minor = (uint8_t)(c - '0');
	return h->minor <= 1 ? AB_HTTP_MORE : AB_HTTP_VERSION;
}

static enum ab_http_reason read_version(ab_http_head *h, unsigned char c)
{
	size_t i = (size_t)(h->pos - h->mark);

	if (i < 8)
		return read_version_byte(h, i, c, AB_HTTP_REQUEST_LINE);
	if (c != '\r')
		return judge_byte(c, AB_HTTP_REQUEST_LINE);
	h->state = S_LF;
	return AB_HTTP_MORE;
}

static enum ab_http_reason read_status(ab_http_head *h, unsigned char c)
{
	size_t i = (size_t)(h->pos - h->line);

	if (i < 8)
		return read_version_byte(h, i, c, AB_HTTP_STATUS_LINE);
	if (i == 8)
		return c == ' ' ? AB_HTTP_MORE :
				  judge_byte(c, AB_HTTP_STATUS_LINE);
	if (i < 12) {
		if (c < (i == 9 ? '1' : '0') || c > (i == 9 ? '5' : '9'))
			return judge_byte(c, AB_HTTP_STATUS_LINE);
		h->status = (uint16_t)(h->status * 10 + (c - '0'));
		return AB_HTTP_MORE;
	}
	h->mark = (uint16_t)(h->pos + 1);
	h->state = c == '\r' ? S_LF : S_PHRASE;
	return c == '\r' || c == ' ' ? AB_HTTP_MORE :
				       judge_byte(c, AB_HTTP_STATUS_LINE);
}

static enum ab_http_reason read_phrase(ab_http_head *h, unsigned char c)
{
	if (c == '\r') {
		h->phrase = span(h->mark, h->pos);
		h->state = S_LF;
		return AB_HTTP_MORE;
	}
	return ab_http_is_value(c) ? AB_HTTP_MORE :
				     judge_byte(c, AB_HTTP_CONTROL);
}

static enum ab_http_reason read_line(ab_http_head *h, unsigned char c)
{
	h->line = h->pos;
	if (c == '\r') {
		h->state = S_LAST_LF;
		return AB_HTTP_MORE;
	}
	if (c == ' ' || c == '\t')
		return AB_HTTP_FOLD;
	if (!ab_http_is_token(c))
		return judge_byte(c, AB_HTTP_FIELD_NAME);
	if (h->field_count == AB_HTTP_FIELDS_MAX)
		return AB_HTTP_FIELDS;
	h->state = S_NAME;
	return AB_HTTP_MORE;
}

static enum ab_http_reason read_name(ab_http_head *h, unsigned char c)
{
	if (c == ':') {
		h->fields[h->field_count].name = span(h->line, h->pos);
		h->state = S_BEFORE_VALUE;
		return AB_HTTP_MORE;
	}
	return ab_http_is_token(c) ? AB_HTTP_MORE :
				     judge_byte(c, AB_HTTP_FIELD_NAME);
}

static enum ab_http_reason end_value(ab_http_head *h, size_t end)
{
	h->fields[h->field_count++].value = span(h->mark, end);
	h->state = S_LF;
	return AB_HTTP_MORE;
}

/* `mark` is where the value begins, `value_end` behind its last visible byte:
   kept in the field itself, so that no byte is looked at twice. */
static enum ab_http_reason read_value(ab_http_head *h, unsigned char c)
{
	ab_http_span *value = &h->fields[h->field_count].value;

	if (h->state == S_BEFORE_VALUE) {
		if (c == ' ' || c == '\t')
			return AB_HTTP_MORE;
		h->mark = h->pos;
		*value = span(h->pos, h->pos);
		h->state = S_VALUE;
	}
	if (c == '\r')
		return end_value(h, (size_t)value->at + value->len);
	if (!ab_http_is_value(c))
		return judge_byte(c, AB_HTTP_CONTROL);
	if (c != ' ' && c != '\t')
		*value = span(value->at, (size_t)h->pos + 1);
	return AB_HTTP_MORE;
}

static enum ab_http_reason read_lf(ab_http_head *h, unsigned char c)
{
	if (c != '\n')
		return AB_HTTP_LINE_END;
	if (h->state == S_LAST_LF) {
		h->state = S_DONE;
		h->len = (uint16_t)(h->pos + 1);
		return AB_HTTP_OK;
	}
	h->state = S_LINE;
	return AB_HTTP_MORE;
}

static enum ab_http_reason read_byte(ab_http_head *h, unsigned char c)
{
	switch ((enum state)h->state) {
	case S_METHOD:
		return read_method(h, c);
	case S_TARGET:
		return read_target(h, c);
	case S_VERSION:
		return read_version(h, c);
	case S_STATUS:
		return read_status(h, c);
	case S_PHRASE:
		return read_phrase(h, c);
	case S_LF:
	case S_LAST_LF:
		return read_lf(h, c);
	case S_LINE:
		return read_line(h, c);
	case S_NAME:
		return read_name(h, c);
	case S_BEFORE_VALUE:
	case S_VALUE:
		return read_value(h, c);
	case S_DONE:
		break;
	}
	return AB_HTTP_OK;
}

static enum ab_http_reason judge_size(const ab_http_head *h)
{
	bool field = h->state == S_NAME || h->state == S_BEFORE_VALUE ||
		     h->state == S_VALUE || h->state == S_PHRASE;

	if (field && h->pos - h->line >= AB_HTTP_LINE_MAX)
		return AB_HTTP_LINE_LONG;
	/* uint16_t holds every offset below this */
	return h->pos >= AB_HTTP_HEAD_MAX ? AB_HTTP_HEAD_LONG : AB_HTTP_MORE;
}

void ab_http_head_init(ab_http_head *head, enum ab_http_kind kind)
{
	memset(head, 0, sizeof(*head));
	head->kind = (uint8_t)kind;
	if (kind == AB_HTTP_RESPONSE)
		head->state = S_STATUS;
}

enum ab_http_reason ab_http_head_read(ab_http_head *head, const char *buf,
				      size_t len)
{
	enum ab_http_reason reason = (enum ab_http_reason)head->reason;

	while (reason == AB_HTTP_MORE && head->pos < len) {
		reason = judge_size(head);
		if (reason != AB_HTTP_MORE)
			break;
		reason = read_byte(head, (unsigned char)buf[head->pos]);
		head->pos++;
		if (reason == AB_HTTP_OK)
			reason = ab_http_meaning(head, buf);
	}
	head->reason = (uint8_t)reason;
	return reason;
}
