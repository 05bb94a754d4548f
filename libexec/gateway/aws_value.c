/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading strictly and writing anew. What it does not know it refuses where
 * it could hide something (nested values, escapes, a name twice) and leaves
 * out otherwise; so what is written needs no escapes either. Times are
 * compared as texts of one form and one zone. Spec: aws_value.h, RFC 8259,
 * RFC 3339.
 */
#include "config.h"

#include "aws_value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/clock.h"

/* "2026-01-31T12:00:00" */
#define TIME_LEN 19

typedef struct span {
	const char *p; /* NULL: not there */
	size_t n;
} span;

typedef struct credentials {
	span id, secret, token, expiration, account;
} credentials;

typedef struct reader {
	const char *p, *end;
} reader;

static void skip_space(reader *r)
{
	while (r->p < r->end && memchr(" \t\r\n", *r->p, 4))
		r->p++;
}

/* The next character that is no space is this one. */
static bool take(reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool take_string(reader *r, span *out)
{
	if (!take(r, '"'))
		return false;
	*out = (span){ r->p, 0 };
	while (r->p < r->end && *r->p >= ' ' && *r->p <= '~' &&
	       *r->p != '"' && *r->p != '\\')
		r->p++;
	out->n = (size_t)(r->p - out->p);
	return r->p < r->end && *r->p++ == '"';
}

/* "Version": 1 is the only number there is. */
static bool take_number(reader *r)
{
	const char *begin;

	skip_space(r);
	begin = r->p;
	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return r->p > begin;
}

static bool is_named(span name, const char *text)
{
	return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

static span *place_of(credentials *c, span name)
{
	const struct {
		const char *name;
		span *place;
	} known[] = {
		{ "AccessKeyId", &c->id }, { "SecretAccessKey", &c->secret },
		{ "SessionToken", &c->token }, { "Token", &c->token },
		{ "Expiration", &c->expiration }, { "AccountId", &c->account },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(known); i++)
		if (is_named(name, known[i].name))
			return known[i].place;
	return NULL;
}

static bool take_pair(reader *r, credentials *c)
{
	span name, value, *place;

	if (!take_string(r, &name) || !take(r, ':'))
		return false;
	place = place_of(c, name);
	if (place && (place->p || !take_string(r, place)))
		return false;
	return place || take_string(r, &value) || take_number(r);
}

static bool read_object(reader *r, credentials *c)
{
	if (!take(r, '{'))
		return false;
	do {
		if (!take_pair(r, c))
			return false;
	} while (take(r, ','));
	if (!take(r, '}'))
		return false;
	skip_space(r);
	return r->p == r->end && c->id.n && c->secret.n &&
	       (!c->expiration.p || c->expiration.n >= TIME_LEN);
}

/* A fraction of a second may follow, and UTC has to. */
static bool is_time(span s)
{
	static const char form[] = "0000-00-00T00:00:00";
	const char *p = s.p + TIME_LEN;
	size_t n = s.n - TIME_LEN;

	for (size_t i = 0; i < TIME_LEN; i++)
		if (form[i] == '0' ? s.p[i] < '0' || s.p[i] > '9'
				   : s.p[i] != form[i])
			return false;
	if (n && *p == '.')
		for (p++, n--; n && *p >= '0' && *p <= '9'; n--)
			p++;
	return is_named((span){ p, n }, "Z") ||
	       is_named((span){ p, n }, "+00:00");
}

/* The earlier one, as ab_clock_format() begins. -ESTALE: it has passed. */
static int find_end(const credentials *c, uint64_t now_ns, uint64_t until_ns,
		     char end[AB_TIMESTAMP_SIZE])
{
	char now[AB_TIMESTAMP_SIZE];

	ab_clock_format(now_ns, now);
	ab_clock_format(until_ns, end);
	if (c->expiration.p && !is_time(c->expiration))
		return -EINVAL;
	if (c->expiration.p && memcmp(c->expiration.p, end, TIME_LEN) < 0)
		memcpy(end, c->expiration.p, TIME_LEN);
	return memcmp(now, end, TIME_LEN) < 0 ? 0 : -ESTALE;
}

ssize_t ab_aws_answer(const char *value, size_t n, uint64_t now_ns,
		      uint64_t until_ns, char out[AB_AWS_ANSWER_MAX])
{
	reader r = { value, value + n };
	char end[AB_TIMESTAMP_SIZE];
	credentials c = { 0 };
	int len;

	if (n > AB_AWS_VALUE_MAX || !read_object(&r, &c))
		return -EINVAL;
	len = find_end(&c, now_ns, until_ns, end);
	if (len)
		return len;
	len = snprintf(out, AB_AWS_ANSWER_MAX,
		       "{\"AccessKeyId\":\"%.*s\",\"SecretAccessKey\":\"%.*s\","
		       "\"Token\":\"%.*s\",\"Expiration\":\"%.*sZ\"%s%.*s%s}",
		       (int)c.id.n, c.id.p, (int)c.secret.n, c.secret.p,
		       (int)c.token.n, c.token.p ? c.token.p : "", TIME_LEN,
		       end, c.account.n ? ",\"AccountId\":\"" : "",
		       (int)c.account.n, c.account.p ? c.account.p : "",
		       c.account.n ? "\"" : "");
	return len > 0 && len < AB_AWS_ANSWER_MAX ? len : -EINVAL;
}
