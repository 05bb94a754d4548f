/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Canonical host bytes and authorities. Spec: net/target.h. */
#include "config.h"

#include "net/target.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"

#define LABEL_MAX 63

static const char *const reasons[] = {
	[AB_TARGET_OK] = "ok",
	[AB_TARGET_EMPTY] = "name_empty",
	[AB_TARGET_TOO_LONG] = "name_too_long",
	[AB_TARGET_LABEL] = "name_label",
	[AB_TARGET_NUL] = "name_nul",
	[AB_TARGET_CONTROL] = "name_control",
	[AB_TARGET_NOT_ASCII] = "name_not_ascii",
	[AB_TARGET_USERINFO] = "name_userinfo",
	[AB_TARGET_PERCENT] = "name_percent",
	[AB_TARGET_CHARACTER] = "name_character",
	[AB_TARGET_NUMBER] = "name_number",
	[AB_TARGET_IPV6] = "name_ipv6",
	[AB_TARGET_NO_PORT] = "port_missing",
	[AB_TARGET_PORT] = "port_bad",
};

static_assert(AB_ARRAY_LEN(reasons) == AB_TARGET_REASON_COUNT,
	      "a reason without a name");

const char *ab_target_reason_name(enum ab_target_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason] :
							"unknown";
}

/* --- bytes ------------------------------------------------------------- */

/* The reason a byte that is neither LDH nor a dot is refused for. */
static enum ab_target_reason judge_byte(unsigned char c)
{
	if (c == '\0')
		return AB_TARGET_NUL;
	if (c < ' ' || c == 0x7f)
		return AB_TARGET_CONTROL;
	if (c >= 0x80)
		return AB_TARGET_NOT_ASCII;
	if (c == '@')
		return AB_TARGET_USERINFO;
	return c == '%' ? AB_TARGET_PERCENT : AB_TARGET_CHARACTER;
}

/* ASCII only: tolower(3) would follow the locale. */
static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_ldh(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* Every byte is one a name may have, whatever their order. */
static enum ab_target_reason judge_bytes(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != '.' && !is_ldh(fold(s[i])))
			return judge_byte((unsigned char)s[i]);
	return AB_TARGET_OK;
}

/* --- names ------------------------------------------------------------- */

/* Lower-cases the labels of s into out. */
static enum ab_target_reason copy_labels(const char *s, size_t n, char *out)
{
	size_t label = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && s[i] != '.') {
			out[i] = fold(s[i]);
			continue;
		}
		if (i == label || i - label > LABEL_MAX || s[label] == '-' ||
		    s[i - 1] == '-')
			return AB_TARGET_LABEL;
		if (i < n)
			out[i] = '.';
		label = i + 1;
	}
	return AB_TARGET_OK;
}

/* WHATWG URL, "ends-in-a-number checker": digits only, or 0x and hex. */
static bool ends_in_number(const char *s, size_t n)
{
	size_t label = n;
	bool decimal = true;
	bool hex;

	while (label && s[label - 1] != '.')
		label--;
	hex = n - label >= 2 && s[label] == '0' && s[label + 1] == 'x';
	for (size_t i = label; i < n; i++) {
		bool digit = s[i] >= '0' && s[i] <= '9';

		decimal &= digit;
		if (i >= label + 2)
			hex &= digit || (s[i] >= 'a' && s[i] <= 'f');
	}
	return decimal || hex;
}

static enum ab_target_reason parse_name(const char *s, size_t n,
					ab_target *out)
{
	enum ab_target_reason reason;

	if (n == 0)
		return AB_TARGET_EMPTY;
	if (n > AB_TARGET_NAME_SIZE)
		return AB_TARGET_TOO_LONG;
	reason = judge_bytes(s, n);
	if (reason)
		return reason;
	if (s[n - 1] == '.')
		n--;
	if (n >= AB_TARGET_NAME_SIZE)
		return AB_TARGET_TOO_LONG;
	if (n < 2)
		return n ? AB_TARGET_LABEL : AB_TARGET_EMPTY;
	reason = copy_labels(s, n, out->name);
	if (reason)
		return reason;
	out->name[n] = '\0';
	out->name_len = (uint8_t)n;
	out->kind = AB_TARGET_NAME;
	return ends_in_number(out->name, n) ? AB_TARGET_NUMBER : AB_TARGET_OK;
}

static enum ab_target_reason done(enum ab_target_reason reason, ab_target *out)
{
	if (reason)
		memset(out, 0, sizeof(*out));
	return reason;
}

enum ab_target_reason ab_target_only_name(const char *s, size_t n,
					  ab_target *out)
{
	memset(out, 0, sizeof(*out));
	return done(parse_name(s, n, out), out);
}

/* --- hosts ------------------------------------------------------------- */

static enum ab_target_reason take_address(const char *s, size_t n,
					  ab_target *out)
{
	enum ab_target_reason reason;

	if (!ab_address_parse(s, n, &out->address)) {
		/* say which byte it is, if one never belongs */
		for (size_t i = 0; i < n; i++) {
			if (s[i] == ':' || s[i] == '.')
				continue;
			reason = judge_bytes(s + i, 1);
			if (reason)
				return reason;
		}
		return AB_TARGET_IPV6;
	}
	ab_address_unmap(&out->address);
	out->kind = AB_TARGET_ADDRESS;
	return AB_TARGET_OK;
}

static enum ab_target_reason parse_host(const char *s, size_t n,
					ab_target *out)
{
	enum ab_target_reason reason;

	if (n && s[0] == '[') {
		if (n < 4 || s[n - 1] != ']' || !memchr(s, ':', n))
			return AB_TARGET_IPV6;
		return take_address(s + 1, n - 2, out);
	}
	reason = parse_name(s, n, out);
	if (reason != AB_TARGET_NUMBER)
		return reason;
	memset(out, 0, sizeof(*out));
	/* no trailing dot: "127.0.0.1." is neither spelling */
	if (!ab_address_parse(s, n, &out->address))
		return AB_TARGET_NUMBER;
	out->kind = AB_TARGET_ADDRESS;
	return AB_TARGET_OK;
}

enum ab_target_reason ab_target_host(const char *s, size_t n, ab_target *out)
{
	memset(out, 0, sizeof(*out));
	return done(parse_host(s, n, out), out);
}

enum ab_target_reason ab_target_bare_host(const char *s, size_t n,
					  ab_target *out)
{
	memset(out, 0, sizeof(*out));
	if (n && s[0] != '[' && memchr(s, ':', n))
		return done(take_address(s, n, out), out);
	return done(parse_host(s, n, out), out);
}

/* --- authorities ------------------------------------------------------- */

uint16_t ab_target_port(const char *s, size_t n)
{
	unsigned v = 0;

	if (n == 0 || n > 5 || s[0] == '0')
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		v = v * 10 + (unsigned)(s[i] - '0');
	}
	return v <= UINT16_MAX ? (uint16_t)v : 0;
}

/* Where the host ends: behind the bracket, or before the first colon. */
static size_t host_length(const char *s, size_t n)
{
	const char *end = NULL;

	if (n && s[0] == '[') {
		end = memchr(s, ']', n);
		return end ? (size_t)(end - s) + 1 : n;
	}
	if (n)
		end = memchr(s, ':', n);
	return end ? (size_t)(end - s) : n;
}

static enum ab_target_reason parse_authority(const char *s, size_t n,
					     uint16_t port, ab_target *out)
{
	size_t host = host_length(s, n);
	enum ab_target_reason reason;

	if (n && memchr(s, '@', n))
		return AB_TARGET_USERINFO;
	reason = parse_host(s, host, out);
	if (reason)
		return reason;
	out->port = port;
	if (host == n)
		return port ? AB_TARGET_OK : AB_TARGET_NO_PORT;
	if (s[host] != ':')
		return AB_TARGET_IPV6;
	out->port = ab_target_port(s + host + 1, n - host - 1);
	return out->port ? AB_TARGET_OK : AB_TARGET_PORT;
}

enum ab_target_reason ab_target_authority(const char *s, size_t n,
					  uint16_t port, ab_target *out)
{
	memset(out, 0, sizeof(*out));
	return done(parse_authority(s, n, port, out), out);
}

/* --- comparing and writing --------------------------------------------- */

bool ab_target_same_host(const ab_target *a, const ab_target *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == AB_TARGET_ADDRESS)
		return ab_address_equal(&a->address, &b->address);
	return a->kind == AB_TARGET_NAME && a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0;
}

void ab_target_text(const ab_target *t, uint16_t hide,
		    char out[AB_TARGET_TEXT_SIZE])
{
	char address[AB_ADDRESS_TEXT_SIZE] = "";
	bool six = t->kind == AB_TARGET_ADDRESS &&
		   t->address.family == AB_ADDRESS_IPV6;
	int n;

	if (t->kind == AB_TARGET_ADDRESS)
		ab_address_text(&t->address, address);
	n = snprintf(out, AB_TARGET_TEXT_SIZE, "%s%s%s", six ? "[" : "",
		     t->kind == AB_TARGET_NAME ? t->name : address,
		     six ? "]" : "");
	if (n > 0 && t->port && t->port != hide)
		snprintf(out + n, AB_TARGET_TEXT_SIZE - (size_t)n, ":%u",
			 t->port);
}
