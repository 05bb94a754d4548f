/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cookies that are somebody's login: in a header, in a call, in the options of
 * curl(1), in a file of cookies. The name says that it is one, and the value
 * is what a server made; RFC 6265, section 4.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define until ab_content_until
#define is_one_of ab_content_is_one_of

/* How far the last pair may be, and how many are looked at. */
#define LINE 350
#define PAIRS 16

static bool is_session_name(const uint8_t *p, const uint8_t *end)
{
	static const char *const parts[] = { "sess", "sid",   "auth",
					     "token", "jwt",  "login",
					     "remember", "sso" };
	size_t n = (size_t)(end - p);

	/* what only says that a form was asked for opens nothing */
	if (ab_content_has(p, n, "csrf") || ab_content_has(p, n, "xsrf"))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(parts); i++) {
		if (ab_content_has(p, n, parts[i]))
			return true;
	}
	return false;
}

/*
 * Letters and digits of a generator; servers have them in one case, too.
 * Hexadecimal ones in small letters are what documentation shows, and hashes.
 */
static bool is_session_value(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *mac = memmem(p, (size_t)(end - p), "--", 2);
	size_t n, digits = 0;

	if (mac) /* behind it are Rails' signature's digits */
		end = mac;
	n = (size_t)(end - p);
	if (run('h', p, end, n) == end)
		return false;
	if (n >= 20 && ab_content_is_made(p, n > 64 ? p + 64 : end))
		return true;
	if (n < 26 ||
	    (run('l', p, end, n) != end && run('U', p, end, n) != end))
		return false;
	for (size_t i = 0; i < n; i++)
		digits += p[i] >= '0' && p[i] <= '9';
	return digits >= 4 && n - digits >= 4 &&
	       ab_content_entropy(p, n) >= 32 && !ab_content_is_sample(p, n);
}

/* name=value, 'name': 'value' at *p, which goes on behind it. */
static bool next_pair(const ab_content_window *w, const uint8_t **p,
		      ab_content_match *m, bool *is_found)
{
	const uint8_t *name = *p, *end, *q;

	while (name < w->hi && name - *p < 8 &&
	       (ab_content_class('b', *name) || is_one_of("\"'{[(;,", *name)))
		name++;
	end = until(name, w->hi, "=:;,\"'\\<>{}()", 64);
	q = run('b', run('q', end, w->hi, 2), w->hi, 4);
	if (end == name || q == w->hi || !is_one_of("=:", *q))
		return false;
	q = run('b', q + 1, w->hi, 4);
	m->value = run('q', q, w->hi, 2);
	m->end = until(m->value, w->hi, ";,\"'\\<>{}()$`", 512);
	*is_found = is_session_name(name, end) &&
		    is_session_value(m->value, m->end);
	*p = run('q', m->end, w->hi, 2);
	return *p < w->hi && is_one_of(";,", **p);
}

static bool has_session(const ab_content_window *w, const uint8_t *p,
			ab_content_match *m)
{
	bool is_found = false;

	for (int i = 0; i < PAIRS && next_pair(w, &p, m, &is_found); i++) {
		if (is_found || p - w->at > LINE)
			break;
	}
	return is_found;
}

/* Cookie: ..., Set-Cookie: ..., cookies={...}; the anchor has one byte more
   than the word. */
bool ab_verify_cookie(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end - 1, *from = p;

	while (p < w->hi && p - from < 8 &&
	       (ab_content_class('b', *p) || is_one_of("\"'\\:=>{(,", *p)))
		p++;
	return has_session(w, p, m);
}

/* curl -b "name=value" */
bool ab_verify_curl_cookie(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end - 1;

	for (; p + 4 < w->hi && p - w->at < LINE && *p != '\n'; p++) {
		if (ab_content_class('b', *p) &&
		    ab_content_at(w, p + 1, "-b", false))
			return has_session(w, p + 3, m);
	}
	return false;
}

/*
 * A line of curl's file of cookies, which browsers have taken from Netscape:
 * domain, whether for all below it, path, whether secure, when it ends, name
 * and value. The anchor is the second with the tabs beside it.
 */
bool ab_verify_cookie_line(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end - 1, *end = p, *name = p;

	for (int i = 0; i < 4; i++) {
		name = p;
		end = until(p, w->hi, "", 256);
		if (end == p || end == w->hi || *end != '\t')
			return false;
		p = end + 1;
	}
	m->value = p;
	m->end = until(p, w->hi, "", 512);
	return is_session_name(name, end) && is_session_value(p, m->end);
}
