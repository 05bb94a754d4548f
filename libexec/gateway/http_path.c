/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One spelling of a path, or none. Spec: http_path.h. */
#include "config.h"

#include "http_path.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "base/digit.h"
#include "http_internal.h"

static const char *const reasons[] = {
	[AB_PATH_UNREAD] = "unread",
	[AB_PATH_OK] = "ok",
	[AB_PATH_START] = "path_start",
	[AB_PATH_LONG] = "path_long",
	[AB_PATH_BYTE] = "path_byte",
	[AB_PATH_DOT] = "path_dot",
	[AB_PATH_EMPTY] = "path_empty",
	[AB_PATH_SEPARATOR] = "path_separator",
	[AB_PATH_CONTROL] = "path_control",
	[AB_PATH_TWICE] = "path_twice",
	[AB_PATH_UTF8] = "path_utf8",
};

static_assert(AB_ARRAY_LEN(reasons) == AB_PATH_REASON_COUNT,
	      "a reason without a name");

const char *ab_path_reason_name(enum ab_path_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason] :
							"unknown";
}

/* RFC 3986 section 2.3 */
static bool is_unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || memchr("-._~", c, 4) != NULL;
}

struct path {
	char *out;
	size_t size, len;
	size_t segment;	   /* where it began in out */
	unsigned pending;  /* bytes of a UTF-8 sequence still to come */
	unsigned char low; /* bounds of the next of them */
	unsigned char high;
};

static enum ab_path_reason put(struct path *p, const char *s, size_t n)
{
	if (n > p->size - p->len)
		return AB_PATH_LONG;
	memcpy(p->out + p->len, s, n);
	p->len += n;
	return AB_PATH_OK;
}

/* A byte of 0x80 and above: RFC 3629 section 4, table of well-formed ones. */
static enum ab_path_reason judge_utf8(struct path *p, unsigned char c)
{
	if (p->pending) {
		if (c < p->low || c > p->high)
			return AB_PATH_UTF8;
		p->pending--;
		p->low = 0x80;
		p->high = 0xbf;
		return AB_PATH_OK;
	}
	if (c < 0xc2 || c > 0xf4)
		return AB_PATH_UTF8;
	p->pending = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	p->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	p->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	return AB_PATH_OK;
}

static enum ab_path_reason judge_decoded(struct path *p, unsigned char c,
					 unsigned flags)
{
	if (c >= 0x80)
		return judge_utf8(p, c);
	if (c < ' ' || c == 0x7f)
		return AB_PATH_CONTROL;
	if (c == '%')
		return AB_PATH_TWICE;
	if (c == '/')
		return flags & AB_PATH_KEEP_SLASH ? AB_PATH_OK :
						    AB_PATH_SEPARATOR;
	return c == '\\' || c == ';' ? AB_PATH_SEPARATOR : AB_PATH_OK;
}

/* Ends a segment; `last`: nothing follows, so it may be empty. */
static enum ab_path_reason end_segment(struct path *p, bool last)
{
	const char *s = p->out + p->segment;
	size_t n = p->len - p->segment;

	if (p->pending)
		return AB_PATH_UTF8;
	if (n == 0 && !last)
		return AB_PATH_EMPTY;
	if (n && n <= 2 && s[0] == '.' && s[n - 1] == '.')
		return AB_PATH_DOT;
	return AB_PATH_OK;
}

/* A slash, bare or encoded: a server may part segments at either. */
static enum ab_path_reason put_slash(struct path *p, const char *s, size_t n)
{
	enum ab_path_reason reason = end_segment(p, false);

	if (reason == AB_PATH_OK)
		reason = put(p, s, n);
	p->segment = p->len;
	return reason;
}

static enum ab_path_reason put_encoded(struct path *p, const char *s, size_t n,
				       unsigned flags)
{
	static const char digits[] = "0123456789ABCDEF";
	int high = n >= 3 ? ab_hex_digit(s[1]) : -1;
	int low = n >= 3 ? ab_hex_digit(s[2]) : -1;
	enum ab_path_reason reason;
	unsigned char c;
	char text[3] = { '%' };

	if (high < 0 || low < 0)
		return AB_PATH_BYTE;
	c = (unsigned char)(high << 4 | low);
	if (c < 0x80 && p->pending)
		return AB_PATH_UTF8;
	reason = judge_decoded(p, c, flags);
	if (reason != AB_PATH_OK)
		return reason;
	if (is_unreserved(c))
		return put(p, (const char *)&c, 1);
	text[1] = digits[high];
	text[2] = digits[low];
	return c == '/' ? put_slash(p, text, 3) : put(p, text, 3);
}

static enum ab_path_reason put_byte(struct path *p, const char *s)
{
	unsigned char c = (unsigned char)*s;

	if (p->pending)
		return AB_PATH_UTF8;
	if (c == '\\' || c == ';')
		return AB_PATH_SEPARATOR;
	if (c <= ' ' || c >= 0x7f || strchr("\"<>#?{}`^|[]", c))
		return AB_PATH_BYTE;
	return c == '/' ? put_slash(p, s, 1) : put(p, s, 1);
}

enum ab_path_reason ab_http_path(const char *s, size_t n, unsigned flags,
				      char *out, size_t size, size_t *len)
{
	struct path p = { .out = out, .size = size };
	enum ab_path_reason reason;

	*len = 0;
	if (n == 0 || s[0] != '/')
		return AB_PATH_START;
	reason = put(&p, s, 1);
	p.segment = 1;
	for (size_t i = 1; reason == AB_PATH_OK && i < n; i++) {
		if (s[i] == '%') {
			reason = put_encoded(&p, s + i, n - i, flags);
			i += 2;
		} else {
			reason = put_byte(&p, s + i);
		}
	}
	if (reason == AB_PATH_OK)
		reason = end_segment(&p, true);
	if (reason == AB_PATH_OK)
		*len = p.len;
	return reason;
}

bool ab_path_below(const char *path, size_t n, const char *prefix,
		   size_t *rest)
{
	size_t len = strlen(prefix);

	if (len == 1 && prefix[0] == '/')
		len = 0;
	if (n < len || memcmp(path, prefix, len) != 0 ||
	    (n > len && path[len] != '/'))
		return false;
	*rest = len;
	return true;
}
