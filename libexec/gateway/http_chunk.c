/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A chunked body, byte by byte. Spec: http_chunk.h. */
#include "config.h"

#include "http_chunk.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "base/digit.h"
#include "http_internal.h"

static const char *const reasons[] = {
	[AB_CHUNK_MORE] = "more",
	[AB_CHUNK_DATA] = "data",
	[AB_CHUNK_DONE] = "done",
	[AB_CHUNK_SIZE] = "chunk_size",
	[AB_CHUNK_LINE_END] = "chunk_line_end",
	[AB_CHUNK_CONTROL] = "chunk_control",
	[AB_CHUNK_EXTENSION] = "chunk_extension",
	[AB_CHUNK_TRAILER] = "chunk_trailer",
	[AB_CHUNK_TRAILER_NAME] = "chunk_trailer_name",
};

static_assert(AB_ARRAY_LEN(reasons) == AB_CHUNK_REASON_COUNT,
	      "a reason without a name");

const char *ab_chunk_reason_name(enum ab_chunk_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason] :
							"unknown";
}

/* RFC 9110 section 6.5.1: what may not come after what it would decide. */
static const char *const forbidden[] = {
	"authorization", "connection",	   "content-encoding",
	"content-length", "content-range", "content-type",
	"cookie",	 "expect",	   "forwarded",
	"host",		 "proxy-authorization", "set-cookie",
	"te",		 "trailer",	   "transfer-encoding",
	"upgrade",	 "x-api-key",	   "x-goog-api-key",
};

enum state {
	C_SIZE = 0,
	C_BLANK, /* behind the size, before ";" */
	C_EXTENSION,
	C_SIZE_LF,
	C_DATA,
	C_DATA_CR,
	C_DATA_LF,
	C_TRAILER, /* first byte of a trailer, or the end */
	C_NAME,
	C_VALUE,
	C_TRAILER_LF,
	C_LAST_LF
};

static enum ab_chunk_reason judge_byte(unsigned char c,
				       enum ab_chunk_reason otherwise)
{
	if (c == '\r' || c == '\n')
		return AB_CHUNK_LINE_END;
	return (c < ' ' && c != '\t') || c == 0x7f ? AB_CHUNK_CONTROL :
						     otherwise;
}

static enum ab_chunk_reason read_size(ab_chunk *c, unsigned char b)
{
	int digit = ab_hex_digit((char)b);

	if (digit >= 0) {
		/* 16 digits, the first not over 7: below 2^63 */
		if (c->digits == 16 || (c->left >> 59))
			return AB_CHUNK_SIZE;
		c->left = c->left << 4 | (uint64_t)digit;
		c->digits++;
		return AB_CHUNK_MORE;
	}
	if (c->digits == 0)
		return judge_byte(b, AB_CHUNK_SIZE);
	c->extension = 0;
	if (b == '\r')
		c->state = C_SIZE_LF;
	else if (b == ';')
		c->state = C_EXTENSION;
	else if (b == ' ' || b == '\t')
		c->state = C_BLANK;
	else
		return judge_byte(b, AB_CHUNK_SIZE);
	return AB_CHUNK_MORE;
}

/* Nothing in it is used; quotes do not hide a line end. */
static enum ab_chunk_reason read_extension(ab_chunk *c, unsigned char b)
{
	if (b == '\r' && c->state == C_EXTENSION) {
		c->state = C_SIZE_LF;
		return AB_CHUNK_MORE;
	}
	if (c->extension++ == AB_CHUNK_EXTENSION_MAX ||
	    c->extensions++ == AB_CHUNK_EXTENSIONS_MAX)
		return AB_CHUNK_EXTENSION;
	if (c->state == C_BLANK && b == ';')
		c->state = C_EXTENSION;
	else if (c->state == C_BLANK && b != ' ' && b != '\t')
		return judge_byte(b, AB_CHUNK_EXTENSION);
	/* obs-text is in no token and would be in a quoted string only */
	if (b != '\t' && (b < ' ' || b >= 0x7f))
		return judge_byte(b, AB_CHUNK_EXTENSION);
	return AB_CHUNK_MORE;
}

/* --- trailers ------------------------------------------------------------ */

static enum ab_chunk_reason end_name(ab_chunk *c)
{
	ab_http_span name = { 0, c->name_len };

	for (size_t i = 0; i < AB_ARRAY_LEN(forbidden); i++)
		if (ab_http_name_is(c->name, name, forbidden[i]))
			return AB_CHUNK_TRAILER_NAME;
	c->state = C_VALUE;
	return AB_CHUNK_MORE;
}

static enum ab_chunk_reason read_name(ab_chunk *c, unsigned char b)
{
	if (b == ':' && c->state == C_NAME)
		return end_name(c);
	if (!ab_http_is_token(b))
		return judge_byte(b, AB_CHUNK_TRAILER);
	if (c->state == C_TRAILER) {
		if (c->trailers++ == AB_CHUNK_TRAILERS_MAX)
			return AB_CHUNK_TRAILER;
		c->name_len = 0;
		c->state = C_NAME;
	}
	/* a longer name is none of the forbidden ones */
	if (c->name_len < AB_CHUNK_NAME_SIZE)
		c->name[c->name_len++] = (char)b;
	return AB_CHUNK_MORE;
}

static enum ab_chunk_reason read_trailer(ab_chunk *c, unsigned char b)
{
	if (c->trailer++ == AB_CHUNK_TRAILER_MAX)
		return AB_CHUNK_TRAILER;
	if (b == '\r' && c->state == C_TRAILER) {
		c->state = C_LAST_LF;
		return AB_CHUNK_MORE;
	}
	if (c->state != C_VALUE)
		return read_name(c, b);
	if (b == '\r') {
		c->state = C_TRAILER_LF;
		return AB_CHUNK_MORE;
	}
	return ab_http_is_value(b) ? AB_CHUNK_MORE :
				     judge_byte(b, AB_CHUNK_TRAILER);
}

/* --- the body ------------------------------------------------------------- */

static enum ab_chunk_reason read_lf(ab_chunk *c, unsigned char b)
{
	if (b != '\n')
		return AB_CHUNK_LINE_END;
	switch ((enum state)c->state) {
	case C_SIZE_LF:
		c->state = c->left ? C_DATA : C_TRAILER;
		return AB_CHUNK_MORE;
	case C_DATA_LF:
		c->state = C_SIZE;
		c->digits = 0;
		return AB_CHUNK_MORE;
	case C_TRAILER_LF:
		c->state = C_TRAILER;
		return AB_CHUNK_MORE;
	case C_SIZE:
	case C_BLANK:
	case C_EXTENSION:
	case C_DATA:
	case C_DATA_CR:
	case C_TRAILER:
	case C_NAME:
	case C_VALUE:
	case C_LAST_LF:
		break;
	}
	return AB_CHUNK_DONE;
}

static enum ab_chunk_reason read_byte(ab_chunk *c, unsigned char b)
{
	switch ((enum state)c->state) {
	case C_SIZE:
		return read_size(c, b);
	case C_BLANK:
	case C_EXTENSION:
		return read_extension(c, b);
	case C_DATA:
	case C_DATA_CR:
		c->state = C_DATA_LF;
		return b == '\r' ? AB_CHUNK_MORE : AB_CHUNK_LINE_END;
	case C_TRAILER:
	case C_NAME:
	case C_VALUE:
		return read_trailer(c, b);
	case C_SIZE_LF:
	case C_DATA_LF:
	case C_TRAILER_LF:
	case C_LAST_LF:
		break;
	}
	return read_lf(c, b);
}

/* As much of the chunk's data as there is. */
static size_t take_data(ab_chunk *c, size_t n)
{
	size_t len = c->left < n ? (size_t)c->left : n;

	c->left -= len;
	c->total += len;
	if (c->left == 0)
		c->state = C_DATA_CR;
	return len;
}

enum ab_chunk_reason ab_chunk_read(ab_chunk *c, const char *p, size_t n,
				   size_t *used, size_t *data_len)
{
	size_t i = 0;
	enum ab_chunk_reason reason = (enum ab_chunk_reason)c->reason;

	*data_len = 0;
	while (reason == AB_CHUNK_MORE && i < n) {
		if (c->state == C_DATA) {
			*data_len = take_data(c, n - i);
			*used = i + *data_len;
			return AB_CHUNK_DATA;
		}
		reason = read_byte(c, (unsigned char)p[i++]);
	}
	c->reason = (uint8_t)reason;
	*used = i;
	return reason;
}
