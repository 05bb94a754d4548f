/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words that name a host: addresses of the network, and which of them are this
 * machine or the metadata service of a cloud. RFC 3986 for their parts,
 * inet_aton(3) for the numbers.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>
#include <strings.h>

static bool starts(const struct ab_word *w, const char *text)
{
	size_t n = strlen(text);

	return w->len >= n && !memcmp(w->text, text, n);
}

bool ab_value_is_url(const struct ab_word *w)
{
	return starts(w, "http://") || starts(w, "https://") ||
	       starts(w, "ftp://") || starts(w, "git+") ||
	       starts(w, "git://") || starts(w, "git@");
}

/* github:NAME/REPOSITORY */
static bool has_host(const struct ab_word *w)
{
	static const char *const heads[] = { "github:",	   "gitlab:",
					     "gist:",	   "git:",
					     "bitbucket:", "sourcehut:" };

	for (size_t i = 0; i < AB_ARRAY_LEN(heads); i++) {
		if (starts(w, heads[i]))
			return true;
	}
	return false;
}

/* The same, or NAME/REPOSITORY, as npm has it: no scope and no path. */
bool ab_value_is_hosted(const struct ab_word *w)
{
	const char *slash = memchr(w->text, '/', w->len);

	if (has_host(w))
		return true;
	return slash && slash != w->text && !memchr("@.~-$", *w->text, 5) &&
	       !memchr(w->text, ':', w->len) && !memchr(w->text, '=', w->len) &&
	       slash + 1 < w->text + w->len &&
	       !memchr(slash + 1, '/',
		       (size_t)(w->text + w->len - slash - 1)) &&
	       !(w->len > 4 && !memcmp(w->text + w->len - 4, ".tgz", 4));
}

/* A flake that is not of nixpkgs, a registry or the disk. */
bool ab_value_is_flake_url(const struct ab_word *w)
{
	if (starts(w, "github:NixOS/") || starts(w, "github:nixos/") ||
	    starts(w, "https://github.com/NixOS/"))
		return false;
	return ab_value_is_url(w) || has_host(w) || starts(w, "tarball+");
}

/* host:path or user@host:path, or an rsync: or sftp: address. */
/* It begins with what is not known. */
static bool is_led(const struct ab_word *w)
{
	return w->hole_count && !w->holes->at &&
	       (w->holes->kind == AB_HOLE_BYTES ||
		w->holes->kind == AB_HOLE_FIELDS);
}

bool ab_value_is_remote_path(const struct ab_word *w)
{
	const char *colon = memchr(w->text, ':', w->len);

	if (starts(w, "rsync://") || starts(w, "sftp://") ||
	    starts(w, "scp://"))
		return true;
	/* "$HOST:/srv" */
	if (!colon || (colon == w->text && !is_led(w)))
		return false;
	return !memchr(w->text, '/', (size_t)(colon - w->text));
}

static bool ends_host(char ch)
{
	return ch == '/' || ch == '?' || ch == '#' || ch == '\\';
}

/* Where the host of an address begins, and how long it is. */
const char *ab_value_host(const struct ab_word *w, uint32_t *len)
{
	const char *s = w->text, *end = s + w->len;
	const char *scheme = memmem(s, w->len, "://", 3);

	if (scheme)
		s = scheme + 3;
	for (const char *p = s; p < end && !ends_host(*p); p++) {
		if (*p == '@') /* who, and not where */
			s = p + 1;
	}
	const char *stop = s;

	if (s < end && *s == '[') {
		while (stop < end && *stop != ']')
			stop++;
		stop += stop < end;
	}
	while (stop < end && *stop != ':' && !ends_host(*stop))
		stop++;
	*len = (uint32_t)(stop - s);
	return s;
}

/* The numbers of an address as inet_aton(3) reads them; false: a name. */
static bool number_host(const char *s, uint32_t n, uint32_t *address)
{
	uint32_t i = 0, count = 0;
	uint64_t part[4];

	while (i < n && count < 4) {
		uint32_t base = 10, digits = 0;
		uint64_t value = 0;

		if (s[i] == '0' && i + 1 < n && (s[i + 1] | 32) == 'x') {
			base = 16;
			i += 2;
		} else if (s[i] == '0') {
			base = 8;
		}
		for (; i < n && s[i] != '.'; i++, digits++) {
			char ch = (char)(s[i] | 32);
			uint32_t d = s[i] >= '0' && s[i] <= '9'
					     ? (uint32_t)(s[i] - '0')
				     : ch >= 'a' && ch <= 'f'
					     ? (uint32_t)(ch - 'a') + 10
					     : 99;

			if (d >= base || value > UINT32_MAX)
				return false;
			value = value * base + d;
		}
		if (!digits)
			return false;
		part[count++] = value;
		i += i < n;
	}
	if (!count || i < n)
		return false;
	uint64_t all = part[count - 1];

	if (all >> (8 * (5 - count)))
		return false;
	for (uint32_t k = 0; k + 1 < count; k++) {
		if (part[k] > 255)
			return false;
		all |= part[k] << (24 - 8 * k);
	}
	*address = (uint32_t)all;
	return true;
}

bool ab_value_is_localhost(const struct ab_word *w)
{
	uint32_t n, address;
	const char *s = ab_value_host(w, &n);

	if (w->hole_count && w->holes[0].at < (uint32_t)(s - w->text) + n)
		return false;
	/* :8080/x is httpie's */
	if (!n && w->len && *w->text == ':')
		return !w->hole_count || w->holes[0].at;
	return (n == 9 && !strncasecmp(s, "localhost", 9)) ||
	       (n == 5 && !memcmp(s, "[::1]", 5)) ||
	       (number_host(s, n, &address) &&
		(address >> 24 == 127 || !address));
}

/* http://x/, and of an operand x.io/y, which is not this machine. */
static bool is_elsewhere(const struct ab_word *w, bool is_operand)
{
	uint32_t n, from = starts(w, "--url=") ? 6 : 0;
	struct ab_word rest = *w;
	const char *s, *dot;

	if (w->hole_count)
		return false;
	rest.text += from;
	rest.len -= from;
	s = ab_value_host(&rest, &n);
	dot = memrchr(s, '.', n);
	for (uint32_t i = 0; s == rest.text && i < n; i++) {
		if (!memchr("abcdefghijklmnopqrstuvwxyz0123456789.-", s[i] | 32,
			    38))
			return false;
	}
	if (s == rest.text &&
	    (!(is_operand || from) || !dot || dot == s || dot + 2 >= s + n))
		return false;
	/* what goes in front of :// has no blank and no quote in it */
	for (const char *p = rest.text; p < s && *p != ':'; p++) {
		if ((*p | 32) < 'a' || (*p | 32) > 'z')
			return false;
	}
	return !ab_value_is_localhost(&rest);
}

/* $CURL_OPTS */
static bool is_options(const struct ab_hole *h)
{
	return h->name && h->kind == AB_HOLE_FIELDS &&
	       (strstr(h->name, "OPT") || strstr(h->name, "ARG") ||
		strstr(h->name, "FLAG"));
}

/* "$x" http://localhost/: which host that is, nobody knows; behind the name of
   one it is mostly a port. */
static bool may_be_elsewhere(const struct ab_word *w,
			     const struct ab_word *local)
{
	return w->hole_count && !w->len && !is_options(w->holes) &&
	       (w->span.begin < local->span.begin ||
		memmem(local->text, local->len, "://", 3));
}

/* http_proxy=x: it goes by another machine, but for what no_proxy has. */
static bool has_proxy(const struct ab_check *c)
{
	static const char *const names[] = { "http_proxy", "https_proxy",
					     "HTTP_PROXY", "HTTPS_PROXY",
					     "all_proxy", "ALL_PROXY" };

	for (uint32_t i = 0; i < c->assign_count; i++) {
		const struct ab_shell_assign *a = &c->assigns[i];

		if (a->name_len > 6 && a->value_count == 1 &&
		    !strncasecmp(a->name + a->name_len - 6, "_proxy", 6) &&
		    (a->values->len || a->values->hole_count))
			return strncasecmp(a->name, "no_", 3) != 0;
	}
	if (!c->run || ab_shell_get(c->run, "no_proxy", 8, NULL) ||
	    ab_shell_get(c->run, "NO_PROXY", 8, NULL))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const struct ab_word *v = ab_shell_get(
			c->run, names[i], strlen(names[i]), NULL);

		if (v && (v->len || v->hole_count))
			return true;
	}
	return false;
}

bool ab_value_is_local(const struct ab_check *c, const struct ab_word *w)
{
	const struct ab_use *use = c->use;

	if (AB_LIKELY(!ab_value_is_localhost(w)))
		return false;
	if (has_proxy(c))
		return false;
	for (uint32_t i = 1; use && i < use->count; i++) {
		if (is_elsewhere(&use->words[i], false))
			return false;
	}
	for (uint32_t i = 0; use && i < use->operand_count; i++) {
		const struct ab_word *o = &use->words[use->operands[i]];

		if (is_elsewhere(o, true) || may_be_elsewhere(o, w))
			return false;
	}
	return true;
}

static bool is_metadata_host(const char *s, uint32_t n)
{
	static const char *const hosts[] = { "metadata", "instance-data",
					     "instance-data.ec2.internal",
					     "metadata.goog" };

	for (size_t i = 0; i < AB_ARRAY_LEN(hosts); i++) {
		if (strlen(hosts[i]) == n && !strncasecmp(s, hosts[i], n))
			return true;
	}
	return false;
}

/* One of the names stands in it, whatever stands before and behind. */
static bool names_metadata(const struct ab_word *w)
{
	static const char *const hosts[] = {
		"169.254.169.254", "metadata.google.internal", "fd00:ec2::254",
		"169.254.170.2",   "100.100.100.200", "0xa9fea9fe",
		"2852039166", "[fd00:ec2", "metadata.azure.com",
	};
	static const bool heads[256] = { ['1'] = true, ['m'] = true,
					 ['f'] = true, ['0'] = true,
					 ['2'] = true, ['['] = true };

	for (uint32_t at = 0; at < w->len; at++) {
		if (!heads[(unsigned char)w->text[at]])
			continue;
		for (size_t i = 0; i < AB_ARRAY_LEN(hosts); i++) {
			size_t n = strlen(hosts[i]);

			if (hosts[i][0] == w->text[at] && w->len - at >= n &&
			    !memcmp(w->text + at, hosts[i], n))
				return true;
		}
	}
	return false;
}

/* Which ends of the target's first bytes m more bytes lead to, from those in
   `at`: bit p is its byte p. */
static uint64_t take_bytes(uint64_t at, const char *s, uint32_t m,
			   const char *target, uint32_t len)
{
	uint64_t next = 0;

	for (uint32_t p = 0; p + m <= len; p++) {
		if ((at >> p & 1) && !strncasecmp(target + p, s, m))
			next |= UINT64_C(1) << (p + m);
	}
	return next;
}

/* Behind a host a path, a port or a query begins. */
#define IS_OVER (UINT64_C(1) << 63)

static bool ends_name(char ch)
{
	return memchr("/?#:", ch, 4) != NULL;
}

/* {a,b}: s is what stands in it; of {a/x,b} the host may be over in it. */
static uint64_t take_list(uint64_t at, const char *s, uint32_t n,
			  const char *target, uint32_t len)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i <= n;) {
		const char *comma = memchr(s + i, ',', n - i);
		uint32_t m = comma ? (uint32_t)(comma - s) - i : n - i, k = 0;
		uint64_t one;

		while (k < m && !ends_name(s[i + k]))
			k++;
		one = k > len ? 0 : take_bytes(at, s + i, k, target, len);
		if (k == m)
			next |= one;
		else if (one >> len & 1)
			next |= IS_OVER;
		i += m + 1;
	}
	return next;
}

/* [1-9], [a-z] */
static uint64_t take_range(uint64_t at, const char *s, uint32_t n,
			   const char *target, uint32_t len)
{
	uint32_t i = 0, bounds[2] = { 0, 0 }, which = 0, value;
	uint64_t next = 0;

	if (n >= 3 && s[1] == '-' && (*s < '0' || *s > '9')) {
		for (uint32_t p = 0; p < len; p++) {
			if ((at >> p & 1) && target[p] >= s[0] &&
			    target[p] <= s[2])
				next |= UINT64_C(1) << (p + 1);
		}
		return next;
	}
	for (; i < n && i < 16 && s[i] != ':'; i++) {
		if (s[i] == '-')
			which = 1;
		else
			bounds[which] = bounds[which] * 10 +
					(unsigned char)(s[i] - '0');
	}
	for (uint32_t p = 0; p < len; p++) {
		value = 0;
		for (i = p; (at >> p & 1) && i < len && target[i] >= '0' &&
			    target[i] <= '9'; i++) {
			value = value * 10 + (uint32_t)(target[i] - '0');
			if (value >= bounds[0] && value <= bounds[1])
				next |= UINT64_C(1) << (i + 1);
		}
	}
	return next;
}

/* A host with curl's own patterns in it may be this one. */
static bool glob_takes(const char *s, uint32_t n, const char *target)
{
	uint32_t len = (uint32_t)strlen(target);
	uint64_t at = 1;

	for (uint32_t i = 0; i < n && at && !ends_name(s[i]);) {
		char close = s[i] == '{' ? '}' : s[i] == '[' ? ']' : '\0';
		const char *end = close ? memchr(s + i, close, n - i) : NULL;
		uint32_t m = end ? (uint32_t)(end - s) - i - 1 : 0;

		if (!end)
			at = take_bytes(at, s + i, 1, target, len);
		else if (close == '}')
			at = take_list(at, s + i + 1, m, target, len);
		else
			at = take_range(at, s + i + 1, m, target, len);
		if (at & IS_OVER)
			return true;
		i += end ? m + 2 : 1;
	}
	return at >> len & 1;
}

/* curl(1), "URL": http://169.254.169.{253,254}/ */
static bool globs_metadata(const char *s, uint32_t n)
{
	static const char *const hosts[] = { "169.254.169.254",
					     "metadata.google.internal",
					     "169.254.170.2",
					     "100.100.100.200", "metadata" };

	for (size_t i = 0; i < AB_ARRAY_LEN(hosts); i++) {
		if (glob_takes(s, n, hosts[i]))
			return true;
	}
	return false;
}

/* No address of it is shorter, http://metadata neither. */
#define METADATA_MIN 9

bool ab_value_is_metadata(const struct ab_word *w)
{
	uint32_t n, address;
	bool has_scheme;
	const char *s;

	if (w->len < METADATA_MIN)
		return false;
	if (names_metadata(w))
		return true;
	has_scheme = memmem(w->text, w->len, "://", 3);
	/* a number, or a name behind a scheme */
	if (!has_scheme && !(*w->text >= '0' && *w->text <= '9') &&
	    !memchr("{[", *w->text, 2) && !memchr(w->text, '@', w->len))
		return false;
	s = ab_value_host(w, &n);
	if (has_scheme && is_metadata_host(s, n))
		return true;
	if (memchr(s, '{', n) || memchr(s, '[', n))
		return globs_metadata(s, (uint32_t)(w->text + w->len - s));
	return number_host(s, n, &address) &&
	       (address == 0xa9fea9fe || address == 0xa9feaa02 ||
		address == 0x646464c8);
}
