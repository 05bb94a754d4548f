/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hexadecimal digits and UUIDs: what a service hands out as a key looks like a
 * digest, a nonce, an id or a test's vector, so that the name and the file have
 * to say which it is. See content_made.c for what is told by itself.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define is_one_of ab_content_is_one_of

bool ab_content_is_uuid(const uint8_t *p, const uint8_t *end)
{
	if (end - p != 36 || run('x', p, end, 36) != end)
		return false;
	for (size_t i = 0; i < 36; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if ((p[i] == '-') != is_dash)
			return false;
	}
	return !ab_content_counts(p, 36);
}

static bool is_base58(const uint8_t *p, const uint8_t *end)
{
	while (p < end && ab_content_class('A', *p) && !is_one_of("0OIl", *p))
		p++;
	return p == end;
}

bool ab_content_is_address(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);

	if (n == 42 && p[0] == '0' && p[1] == 'x')
		return run('H', p + 2, end, n) == end;
	return (n == 43 || n == 44 || (n == 34 && *p == 'T')) &&
	       is_base58(p, end);
}

bool ab_content_opens(const uint8_t *name, const uint8_t *end)
{
	static const char *const words[] = { "access", "api", "auth", "bot",
					     "refresh", "private", "secret",
					     "bearer", "session", "deploy",
					     "key", "pass", "pwd" };

	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (ab_content_has(name, (size_t)(end - name), words[i]))
			return true;
	}
	return false;
}

bool ab_content_is_handed_out(const uint8_t *name, const uint8_t *end)
{
	static const char *const names[] = {
		"accesskey",	"accesstoken",	"admintoken",
		"apikey",	"apisecret",	"apitoken",
		"appsecret",	"authtoken",	"bearertoken",
		"bottoken",	"clientsecret", "consumersecret",
		"cookiesecret", "deploytoken",	"hashsalt",
		"jwtsecret",	"oauthsecret",	"passwordsalt",
		"secretkey",	"secretsalt",	"secrettoken",
		"servicetoken", "sessionsecret", "signingsecret",
		"webhooksecret", "webhooktoken",
	};
	uint8_t plain[64];
	size_t n = 0;

	if (end - name > (ptrdiff_t)sizeof(plain))
		name = end - sizeof(plain);
	for (; name < end; name++) {
		if (ab_content_class('A', *name))
			plain[n++] = *name;
	}
	/* "accessTokens" */
	n -= n && (plain[n - 1] | 0x20) == 's';
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);

		if (n >= len && ab_content_has(plain + n - len, len, names[i]))
			return true;
	}
	return false;
}

/* A word of a name: of "next_page" and "nextPage", but not of "nextcloud". */
static bool has_word(const uint8_t *name, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++) {
		const uint8_t *p = name + i;

		if (ab_content_has(p, len, word) &&
		    (!i || !ab_content_class('L', p[-1]) ||
		     (ab_content_class('z', p[-1]) &&
		      ab_content_class('U', *p))) &&
		    (i + len == n || !ab_content_class('z', p[len])))
			return true;
	}
	return false;
}

/* Of what is called a token these open nothing; others are a service's. */
static bool is_of_service(const uint8_t *name, const uint8_t *end)
{
	static const char *const words[] = {
		"request",	"page",	    "next",	    "csrf",
		"xsrf",		"sync",	    "synchronizer", "cursor",
		"start",	"continue", "continuation", "cancel",
		"cancellation", "marker",
	};
	size_t n = (size_t)(end - name);

	if (!ab_content_has(name, n, "_token") &&
	    !ab_content_has(name, n, "-token"))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (has_word(name, n, words[i]))
			return false;
	}
	return true;
}

/* The same of the anchor's name, whose value may be before it. */
static bool name_opens(const ab_content_window *w)
{
	return ab_content_opens(ab_content_whole_name(w),
				run('W', w->at, w->hi, 96));
}

bool ab_content_is_key_or_uuid(const ab_content_window *w,
			       const ab_content_match *m)
{
	const uint8_t *p = m->value;
	size_t n;

	if (m->end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	n = (size_t)(m->end - p);
	/* tests make up UUIDs for whatever they need */
	if (ab_content_is_uuid(p, m->end))
		return !(w->kind & AB_CONTENT_TESTS);
	if (ab_content_is_address(m->value, m->end) && !name_opens(w))
		return false;
	return n >= 32 && n <= 128 && !(n & 1) &&
	       run('h', p, m->end, n) == m->end && !ab_content_counts(p, n) &&
	       !ab_content_is_weak(p, n);
}

/* "token" and "app.token", but not "request_token" */
static bool is_bare(const ab_content_window *w, const uint8_t *name)
{
	return name == w->at || is_one_of(".:", w->at[-1]);
}

/*
 * A string of hexadecimal digits behind the bare name of a secret: not
 * request_token, whose kind opens nothing, and no UUID, which is made up for
 * whatever needs one.
 */
static bool is_literal(const ab_content_window *w, const uint8_t *name,
		       const ab_content_match *m)
{
	static const char *const names[] = { "token", "secret", "password",
					     "passwd", "pwd", "encryption" };
	size_t n = (size_t)(m->end - m->value);

	if (!is_one_of("\"'`[", m->value[-1]) || m->end == w->hi ||
	    !is_one_of("\"'`]", *m->end) ||
	    run('h', m->value, m->end, n) != m->end)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		/* of passwords there is one kind */
		if (ab_content_at(w, w->at, names[i], true))
			return (*w->at | 0x20) == 'p' || is_bare(w, name);
	}
	return false;
}

/* The key of a wallet, as programs on a chain of blocks have it. */
static bool is_wallet_key(const ab_content_window *w, const ab_content_match *m)
{
	return m->end - m->value == 66 &&
	       ab_content_at(w, m->value, "0x", false) &&
	       ab_content_at(w, w->at, "private", true);
}

/*
 * May digits be a secret here? In a file of settings what stands behind the
 * name of one is. In a program it may be a digest, a nonce or a test's vector,
 * but not behind the name of what was handed out; of pages and requests there
 * are tokens that open nothing.
 */
static bool has_digits(const ab_content_window *w, const uint8_t *name,
		       const ab_content_match *m)
{
	const uint8_t *end = run('W', w->at, w->hi, 32);

	if (w->kind & AB_CONTENT_SETTINGS)
		return is_bare(w, name) || name_opens(w) ||
		       is_of_service(name, end);
	return !(w->kind & AB_CONTENT_TEST) &&
	       (ab_content_is_handed_out(name, end) ||
		is_literal(w, name, m) || is_wallet_key(w, m));
}

bool ab_content_is_digits(const ab_content_window *w, const ab_content_match *m)
{
	const uint8_t *name = ab_content_whole_name(w);

	/* "hashed_secret" says that it is a digest */
	return has_digits(w, name, m) && !(w->kind & AB_CONTENT_TESTS) &&
	       !ab_content_has(name, (size_t)(w->at - name), "hashed") &&
	       ab_content_is_key_or_uuid(w, m);
}
