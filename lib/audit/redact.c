/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps secrets out of records. Three nets: byte strings the host registered,
 * names that say their value is a secret, and the common spellings of such
 * values inside a string (name=value, "name": value, Bearer x, user:password
 * in a URL, options and words that take one: arguments.c). The first is exact,
 * the others are soft: they catch mistakes, not somebody who encodes a secret
 * on purpose. Refuses to keep a secret anywhere but in guarded memory.
 * Spec: agentbox-audit(5), "REDACTION".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/secret.h"

#define MARK "[redacted]"
#define MARK_LEN (sizeof(MARK) - 1)
#define LONGEST_NAME 64

#define NAME(s)              \
	{                    \
		sizeof(s) - 1, s \
	}
struct name {
	uint8_t len;
	char text[20];
};

static const struct name whole_names[] = {
	NAME("authorization"), NAME("proxy_authorization"), NAME("pwd"),
	NAME("secret"), NAME("secrets"), NAME("token"), NAME("api_key"),
	NAME("x_api_key"), NAME("private_key"), NAME("access_key"),
	NAME("secret_key"), NAME("cookie"), NAME("set_cookie"),
	NAME("credential"), NAME("credentials"), NAME("bearer"),
	NAME("session_key"), NAME("passcode"), NAME("sshpass"),
	NAME("rediscli_auth"),
};

/* What a name ends in, or is. */
static const struct name name_endings[] = {
	NAME("password"), NAME("passwd"), NAME("passphrase"), NAME("apikey"),
	NAME("authtoken"), NAME("_secret"), NAME("_token"), NAME("_pass"),
	NAME("_pwd"), NAME("_passcode"), NAME("_api_key"),
	NAME("_private_key"), NAME("_secret_key"), NAME("_access_key"),
	NAME("_account_key"), NAME("_encryption_key"), NAME("_signing_key"),
	NAME("_master_key"), NAME("_authorization"), NAME("_credential"),
	NAME("_credentials"),
};

int32_t ab_audit_secrets_add(ab_audit_secrets *s, const char *p, size_t n,
			     agentbox_error **err)
{
	uint8_t *arena;
	void *items;

	if (!p || n < AB_AUDIT_MIN_SECRET || n > AB_AUDIT_MAX_SECRET)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "a secret has 4 to 4096 bytes");
	if (s->count >= AB_AUDIT_MAX_SECRETS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "an audit has at most %d secrets",
				    AB_AUDIT_MAX_SECRETS);
	items = ab_realloc(s->items, s->count + 1, sizeof(*s->items));
	if (!items)
		return ab_error_nomem(err);
	s->items = items;
	arena = ab_secret_new(s->arena_len + n);
	if (!arena)
		return ab_error_nomem(err);
	if (s->arena_len)
		memcpy(arena, s->arena, s->arena_len);
	memcpy(arena + s->arena_len, p, n);
	ab_secret_free(s->arena);
	s->arena = arena;
	s->items[s->count].off = s->arena_len;
	s->items[s->count].len = n;
	s->arena_len += n;
	s->count++;
	return 0;
}

void ab_audit_secrets_free(ab_audit_secrets *s)
{
	ab_secret_free(s->arena);
	free(s->items);
	memset(s, 0, sizeof(*s));
}

static char fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '-' ? '_' : c;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* A word begins: the T of accessToken, the K of APIKey. */
static bool begins_word(const char *name, size_t n, size_t i)
{
	return i && is_upper(name[i]) && name[i - 1] != '_' &&
	       name[i - 1] != '-' &&
	       (!is_upper(name[i - 1]) ||
		(i + 1 < n && name[i + 1] >= 'a' && name[i + 1] <= 'z'));
}

static bool is_listed(const char *low, size_t n)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(whole_names); i++) {
		const struct name *w = &whole_names[i];

		if (n == w->len && memcmp(low, w->text, n) == 0)
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(name_endings); i++) {
		const struct name *e = &name_endings[i];

		if (n >= e->len && low[n - 1] == e->text[e->len - 1] &&
		    memcmp(low + n - e->len, e->text, e->len) == 0)
			return true;
	}
	return false;
}

bool ab_audit_is_secret_name(const char *name, size_t n)
{
	char low[LONGEST_NAME], parted[2 * LONGEST_NAME];
	size_t len = 0;

	if (!n || n > LONGEST_NAME)
		return false;
	for (size_t i = 0; i < n; i++) {
		low[i] = fold(name[i]);
		if (begins_word(name, n, i))
			parted[len++] = '_';
		parted[len++] = low[i];
	}
	return is_listed(low, n) || (len > n && is_listed(parted, len));
}

typedef ab_audit_span span;

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool ends_value(char c)
{
	return (unsigned char)c <= ' ' || c == '"' || c == '\'' || c == '&' ||
	       c == ';' || c == ',' || c == '`' || c == '\\' || c == '}' ||
	       c == ')';
}

static bool has_word(const char *p, size_t n, size_t i, const char *word)
{
	size_t len = strlen(word);

	if (n - i < len)
		return false;
	for (size_t k = 0; k < len; k++) {
		if (fold(p[i + k]) != word[k])
			return false;
	}
	return true;
}

size_t ab_audit_skip_scheme(const char *p, size_t n, size_t i)
{
	static const char *const schemes[] = { "bearer ", "basic ", "token ",
					       "digest " };

	while (i < n && p[i] == ' ')
		i++;
	for (size_t k = 0; k < AB_ARRAY_LEN(schemes); k++) {
		if (has_word(p, n, i, schemes[k]))
			i += strlen(schemes[k]);
	}
	return i;
}

/* The value that starts at or after i, past quotes and an auth scheme. */
static span value_span(const char *p, size_t n, size_t i)
{
	span s;

	while (i < n && (p[i] == ' ' || p[i] == '\\'))
		i++;
	if (i < n && (p[i] == '"' || p[i] == '\''))
		i++;
	s.at = i = ab_audit_skip_scheme(p, n, i);
	while (i < n && !ends_value(p[i]))
		i++;
	s.len = i - s.at;
	return s;
}

/* At a separator: is the word before it a secret name, and whose value? */
static span after_name(const char *p, size_t n, size_t i)
{
	size_t end = i, from;
	span none = { 0, 0 };

	while (end && (p[end - 1] == ' ' || p[end - 1] == '"' ||
		       p[end - 1] == '\'' || p[end - 1] == '\\'))
		end--;
	from = end;
	while (from && is_name_char(p[from - 1]) && end - from < LONGEST_NAME)
		from--;
	while (from < end && p[from] == '-')
		from++;
	if (!ab_audit_is_secret_name(p + from, end - from))
		return none;
	return value_span(p, n, i + 1);
}

/* At "://": the password of user:password@host. */
static span url_password(const char *p, size_t n, size_t i)
{
	span none = { 0, 0 }, s = none;
	size_t k = i + 3;

	for (; k < n && (unsigned char)p[k] > ' ' && p[k] != '/' &&
	       p[k] != '"' && p[k] != '\'' && p[k] != '@';
	     k++) {
		if (p[k] == ':' && !s.at)
			s.at = k + 1;
	}
	if (!s.at || k >= n || p[k] != '@')
		return none;
	s.len = k - s.at;
	return s;
}

static span soft_span(const char *p, size_t n, size_t i)
{
	span none = { 0, 0 };

	switch (p[i]) {
	case ':':
		if (n - i > 3 && p[i + 1] == '/' && p[i + 2] == '/')
			return url_password(p, n, i);
		return after_name(p, n, i);
	case '=':
		return after_name(p, n, i);
	case ' ':
		if (i >= 6 && has_word(p, n, i - 6, "bearer"))
			return value_span(p, n, i + 1);
		return none;
	default:
		return none;
	}
}

static bool has_hard(const ab_audit_secrets *s, const char *p, size_t n)
{
	for (size_t k = 0; k < s->count; k++) {
		if (memmem(p, n, s->arena + s->items[k].off, s->items[k].len))
			return true;
	}
	return false;
}

/*
 * Mark what goes: 1 in mask for each byte of a secret. Overlapping secrets
 * are all marked, so that none shows through the gap of another.
 */
static void mark_hard(const ab_audit_secrets *s, const char *p, size_t n,
		      char *mask)
{
	for (size_t k = 0; k < s->count; k++) {
		size_t len = s->items[k].len, i = 0, done = 0;
		const uint8_t *secret = s->arena + s->items[k].off;

		while (i + len <= n) {
			const char *at = memmem(p + i, n - i, secret, len);

			if (!at)
				break;
			i = (size_t)(at - p);
			if (done < i)
				done = i;
			memset(mask + done, 1, i + len - done);
			done = i + len;
			i++;
		}
	}
}

static void mark_soft(const char *p, size_t n, char *mask)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		span s;

		if (p[i] != ':' && p[i] != '=' && p[i] != ' ')
			continue;
		s = soft_span(p, n, i);
		if (!s.len || s.at + s.len <= done)
			continue;
		memset(mask + s.at, 1, s.len);
		done = s.at + s.len;
		/* past the value: token=token=token= must not be quadratic */
		i = done - 1;
	}
}

/* Is there anything at all? The common answer is no, and costs no memory. */
static bool has_any(const ab_audit_secrets *s, const char *p, size_t n)
{
	if (has_hard(s, p, n))
		return true;
	for (size_t i = 0; i < n; i++) {
		if ((p[i] == ':' || p[i] == '=' || p[i] == ' ') &&
		    soft_span(p, n, i).len)
			return true;
	}
	return ab_audit_mark_arguments(p, n, NULL);
}

int64_t ab_audit_redact(const ab_audit_secrets *s, const char *p, size_t n,
			ab_audit_span known, char **out, size_t *out_n)
{
	ab_autofree char *mask = NULL;
	char *text;
	size_t len = 0, max = 0;
	int64_t count = 0;

	if (!known.len && !has_any(s, p, n))
		return 0;
	mask = ab_calloc(n + 1, 1);
	if (!mask)
		return -ENOMEM;
	mark_hard(s, p, n, mask);
	mark_soft(p, n, mask);
	ab_audit_mark_arguments(p, n, mask);
	memset(mask + known.at, 1, known.len);
	for (size_t i = 0; i < n; i++) {
		if (mask[i] && (!i || !mask[i - 1]))
			max += MARK_LEN;
	}
	text = ab_calloc(n + max + 1, 1);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!mask[i]) {
			text[len++] = p[i];
		} else if (!i || !mask[i - 1]) {
			memcpy(text + len, MARK, MARK_LEN);
			len += MARK_LEN;
			count++;
		}
	}
	*out = text;
	*out_n = len;
	return count;
}
