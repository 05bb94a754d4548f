/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variables that have the name of a secret, and words that send the value of
 * one away: in an address, in a body, in a field. Nobody knows what a variable
 * holds; its name says what it is for. What goes to the host that a variable
 * is named after is not sent away, nor is a header, which says who one is.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>
#include <strings.h>

static bool ends(const char *name, size_t n, const char *end)
{
	size_t k = strlen(end);

	return n >= k && !memcmp(name + n - k, end, k);
}

/* MAX_TOKENS, PASSWORD_FILE, AWS_ACCESS_KEY_ID: of a secret, and none. */
static bool is_about_secret(const char *name)
{
	static const char *const tails[] = {
		"_FILE", "_PATH", "_DIR", "_URL", "_NAME", "_ID", "_TYPE",
		"_ARN", "_COUNT", "_LENGTH", "_LIMIT", "_ENDPOINT", "_HOST",
	};
	size_t n = strlen(name);

	if (strstr(name, "TOKENI") ||
	    (ends(name, n, "TOKENS") &&
	     (strstr(name, "MAX") || strstr(name, "NUM") ||
	      strstr(name, "PUT_") || strstr(name, "TOTAL"))))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(tails); i++) {
		if (ends(name, n, tails[i]))
			return true;
	}
	return false;
}

static inline bool begins(const char *s, const char *text)
{
	while (*text && *s == *text) {
		s++;
		text++;
	}
	return !*text;
}

/* What a name has in it, whatever stands around that. */
static bool has_secret_part(const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case 'S':
			if (begins(s, "SECRET"))
				return true;
			break;
		case 'T':
			if (begins(s, "TOKEN"))
				return true;
			break;
		case 'P':
			if (begins(s, "PASSWORD") || begins(s, "PASSWD") ||
			    begins(s, "PRIVATE_KEY"))
				return true;
			break;
		case 'A':
			if (begins(s, "API_KEY") || begins(s, "APIKEY") ||
			    begins(s, "ACCESS_KEY"))
				return true;
			break;
		case 'C':
			if (begins(s, "CREDENTIAL"))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

static bool is_secret_name(const char *name)
{
	static const char *const tails[] = { "_PASS", "_PAT", "_PWD", "_DSN",
					     "DATABASE_URL", "MONGO_URI",
					     "MONGODB_URI", "PASSPHRASE",
					     "CONNECTION_STRING" };
	size_t n = strlen(name);

	/* how they end */
	for (size_t i = 0; n >= 4 && memchr("STDNLIEG", name[n - 1], 8) &&
			   i < AB_ARRAY_LEN(tails);
	     i++) {
		if (ends(name, n, tails[i]))
			return true;
	}
	return n >= 5 && has_secret_part(name) && !is_about_secret(name);
}

bool ab_value_names(const struct ab_word *w, bool (*is_name)(const char *name))
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].name && !w->holes[i].is_test &&
		    is_name(w->holes[i].name))
			return true;
	}
	return false;
}

bool ab_value_is_secret(const char *name)
{
	return is_secret_name(name);
}

/* None of them has less than five letters. */
uint32_t ab_secret_named(const char *name)
{
	for (int i = 0; i < 5; i++)
		if (!name[i])
			return 0;
	return is_secret_name(name) ? AB_TAINT_SECRET | AB_TAINT_VAR : 0;
}

/* By its name, or made of one: ${x:0:9}, "$(base64 <<< "$API_TOKEN")" */
bool ab_value_has_secret(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (!h->is_test &&
		    ((h->origin && h->origin->taint & AB_TAINT_SECRET) ||
		     (h->name && is_secret_name(h->name))))
			return true;
	}
	return false;
}

uint32_t ab_secret_taint(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		if (use->words[i].hole_count &&
		    ab_value_has_secret(&use->words[i]))
			return AB_TAINT_SECRET;
	}
	return 0;
}

/* `coverity` of scan.coverity.com; or nothing. */
static const char *domain_of(const char *s, uint32_t n, uint32_t *len)
{
	const char *last = memrchr(s, '.', n);
	const char *first = last ? memrchr(s, '.', (size_t)(last - s)) : NULL;

	first = first ? first + 1 : s;
	*len = last ? (uint32_t)(last - first) : 0;
	return first;
}

#define MAX_HOST_WORDS 64
#define MAX_HOST_TEXT 256

bool ab_value_is_hosted_for(const struct ab_word *w, const char *name,
			    uint32_t len)
{
	const char *sign = memchr(name, '_', len);
	size_t n = sign ? (size_t)(sign - name) : 0;
	struct ab_word head = *w;
	uint32_t host_len, domain_len;
	const char *host, *domain;

	head.len = w->len < MAX_HOST_TEXT ? w->len : MAX_HOST_TEXT;
	host = ab_value_host(&head, &host_len);
	domain = domain_of(host, host_len, &domain_len);
	return n >= 3 && domain_len == n && !strncasecmp(domain, name, n) &&
	       !(w->hole_count &&
		 w->holes[0].at <= (uint32_t)(host - w->text) + host_len);
}

/* $COVERITY_TOKEN goes to coverity.com and to nobody else: so one says there
   who one is. */
static bool is_for_host(const struct ab_check *c, const char *name)
{
	bool is_said = false;

	/* each variable asks about all words: few of them, and their heads */
	if (!c->use || c->use->count > MAX_HOST_WORDS)
		return false;
	for (uint32_t i = 1; i < c->use->count; i++) {
		const struct ab_word *w = &c->use->words[i];
		size_t n = w->len < MAX_HOST_TEXT ? w->len : MAX_HOST_TEXT;

		if (!memmem(w->text, n, "://", 3))
			continue;
		if (!ab_value_is_hosted_for(w, name, (uint32_t)strlen(name)))
			return false;
		is_said = true;
	}
	return is_said;
}

static bool is_sent(const struct ab_check *c, const struct ab_hole *h)
{
	/* "$(jq --arg t "$X_TOKEN" ...)" has it in what that printed */
	if (ab_hole_taint(h) & AB_TAINT_SECRET && !h->is_test)
		return true;
	return h->name && !h->is_test && is_secret_name(h->name) &&
	       !is_for_host(c, h->name);
}

bool ab_value_is_sent(const struct ab_check *c, const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (is_sent(c, &w->holes[i]))
			return true;
	}
	return false;
}

static bool is_in_host(char ch)
{
	return ((ch | 32) >= 'a' && (ch | 32) <= 'z') ||
	       (ch >= '0' && ch <= '9') || ch == '-' || ch == '_';
}

/* evil:8080, [2001::1], $HOST: what may stand in front of a path where nobody
   wrote a scheme or a dot. A port may be a variable; s[n] is the slash. */
static bool is_bare_host(const struct ab_word *w, uint32_t from, uint32_t n)
{
	bool is_port = false;
	uint32_t i = from;

	if (i < n && w->text[i] == '[')
		i += (uint32_t)ab_seek(w->text + i, n - i, ']') + 1;
	for (; i < n; i++) {
		char ch = w->text[i];

		if (is_port ? ch < '0' || ch > '9'
			    : !is_in_host(ch) && ch != ':')
			return false;
		is_port |= ch == ':';
	}
	return n < w->len && (n > from || (w->hole_count && !w->holes[0].at));
}

/* Where what is sent begins in an address: its host and all behind it, as
   `https://$X.example.com` and `example.com/$X`; in front of `@` stands who one
   is, and a variable alone is the host, as a name without a dot is: of these
   the path is sent. w->len + 1: it is no address. */
static uint32_t sent_from(const struct ab_word *w)
{
	const char *at = memmem(w->text, w->len, "://", 3);
	uint32_t begin = at ? (uint32_t)(at - w->text) + 3 : 0;
	uint32_t n = (uint32_t)ab_seek(w->text + begin, w->len - begin, '/');
	const char *user = memrchr(w->text + begin, '@', n);
	uint32_t from = user ? (uint32_t)(user - w->text) + 1 : begin;

	if (!at && !memchr(w->text, '.', n))
		return is_bare_host(w, from, n) ? n + 1 : w->len + 1;
	if (user)
		return from;
	return n ? begin : begin + 1;
}

/* A bot's own token, or one of which the name does not say whose it is. */
static bool is_for_bot(const char *name)
{
	return strstr(name, "BOT") || strstr(name, "TELEGRAM") ||
	       !strncmp(name, "TG_", 3) || !strcmp(name, "TOKEN") ||
	       !strcmp(name, "API_TOKEN");
}

/* Where an API has who one is: https://api.telegram.org/bot$BOT_TOKEN/x */
static bool is_in_path_of_api(const struct ab_word *w, const struct ab_hole *h)
{
	static const char front[] = "https://api.telegram.org/bot";

	return h->at == sizeof(front) - 1 && w->len >= h->at &&
	       !memcmp(w->text, front, h->at) && h->name &&
	       is_for_bot(h->name);
}

/* In an address, or in a field `name=$X`. What stands in front of `:` is the
   name of a header, and headers say who one is. */
bool ab_value_is_sent_field(const struct ab_check *c, const struct ab_word *w)
{
	uint32_t address = w->hole_count ? sent_from(w) : 0;
	/* $HOST?t=$X has no slash in it */
	uint32_t query = (uint32_t)ab_seek(w->text, w->len, '?');
	uint32_t sign = 0;

	while (sign < w->len && !memchr(":=", w->text[sign], 2))
		sign++;
	if (sign + 1 < w->len && w->text[sign] == ':')
		sign = w->text[sign + 1] == '=' ? sign : w->len;
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if ((h->at >= address || h->at > query || h->at > sign) &&
		    is_sent(c, h) && !is_in_path_of_api(w, h))
			return true;
	}
	return false;
}
