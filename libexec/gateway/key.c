/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recognising the key of a box. Spec: key.h. */
#include "config.h"

#include "key.h"

#include <string.h>

#include <sodium.h>

#include "base/hash.h"
#include "base/secret.h"
#include "http_internal.h"

bool ab_key_is(const ab_key *key, const char *s, size_t n)
{
	char text[AB_KEY_LEN] = { 0 };
	uint8_t hash[32];
	bool same;

	/* always 64 bytes are hashed and 32 compared: how much of a guess was
	   right does not show (case 93) */
	memcpy(text, s, n < sizeof(text) ? n : sizeof(text));
	ab_sha256(text, sizeof(text), hash);
	same = ab_secret_equal(hash, key->hash, sizeof(hash));
	explicit_bzero(text, sizeof(text));
	return same & (n == AB_KEY_LEN) & key->is_set;
}

/* "user:password": is the password the key? RFC 7617 section 2. */
static bool is_in_basic(const ab_key *key, const char *s, size_t n)
{
	char text[512];
	size_t len = 0;
	const char *colon;
	bool is;

	if (sodium_base642bin((unsigned char *)text, sizeof(text), s, n, NULL,
			      &len, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
		len = 0;
	colon = memchr(text, ':', len);
	is = colon && ab_key_is(key, colon + 1,
				len - (size_t)(colon + 1 - text));
	explicit_bzero(text, sizeof(text));
	return is;
}

static bool is_scheme(const char *s, size_t n, const char *lower)
{
	ab_http_span span = { 0, (uint16_t)n };

	return ab_http_word(s, span, lower);
}

/* "Scheme credentials", RFC 9110 section 11.4. */
static bool judge_authorization(const ab_key *key, const char *s, size_t n)
{
	const char *space = memchr(s, ' ', n);
	size_t scheme = space ? (size_t)(space - s) : n;
	size_t at = scheme;

	while (at < n && s[at] == ' ')
		at++;
	if (at == n)
		return false;
	if (is_scheme(s, scheme, "basic"))
		return is_in_basic(key, s + at, n - at);
	if (is_scheme(s, scheme, "bearer") || is_scheme(s, scheme, "token"))
		return ab_key_is(key, s + at, n - at);
	return false;
}

enum place { NOWHERE, AUTHORIZATION, BARE };

static enum place place_of(const char *buf, ab_http_span name,
			   enum ab_key_where where)
{
	if (where == AB_KEY_PROXY)
		return ab_http_word(buf, name, "proxy-authorization") ?
			       AUTHORIZATION : NOWHERE;
	if (ab_http_word(buf, name, "authorization"))
		return AUTHORIZATION;
	if (ab_http_word(buf, name, "x-api-key") ||
	    ab_http_word(buf, name, "x-goog-api-key"))
		return BARE;
	return NOWHERE;
}

bool ab_key_in_head(const ab_key *key, const ab_http_head *head,
		    const char *buf, enum ab_key_where where)
{
	bool found = false;
	size_t tries = 0;

	for (size_t i = 0; i < head->field_count && tries < AB_KEY_TRIES;
	     i++) {
		const ab_http_field *f = &head->fields[i];
		enum place place = place_of(buf, f->name, where);
		const char *value = buf + f->value.at;

		if (place == NOWHERE)
			continue;
		tries++;
		if (place == BARE)
			found |= ab_key_is(key, value, f->value.len);
		else
			found |= judge_authorization(key, value,
						     f->value.len);
	}
	return found;
}
