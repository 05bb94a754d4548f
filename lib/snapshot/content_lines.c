/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets that are known by where in a line they stand: password hashes,
 * .npmrc entries, Kubernetes manifests.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#define run ab_content_run
#define back ab_content_back

/* The name of "name:" that fills the line before p. */
static const uint8_t *line_name(const ab_content_window *w, const uint8_t *p,
				char class, size_t max)
{
	const uint8_t *name;

	if (p == w->lo || p[-1] != ':')
		return NULL;
	name = back(class, w, p - 1, max);
	if (name == p - 1 || !ab_content_is_line(w, name))
		return NULL;
	return name;
}

static const uint8_t *printable(const uint8_t *p, const uint8_t *hi,
				uint8_t stop)
{
	while (p < hi && *p > ' ' && *p != stop)
		p++;
	return p;
}

bool ab_verify_hash_line(const ab_content_window *w, ab_content_match *m)
{
	/* '.' is [A-Za-z0-9_.=-] */
	m->first = line_name(w, w->at, '.', 64);
	if (!m->first)
		return false;
	m->value = w->at + 3;
	m->end = printable(m->value, w->hi, 0);
	return m->end - m->value >= 20;
}

bool ab_verify_shadow_line(const ab_content_window *w, ab_content_match *m)
{
	m->first = line_name(w, w->at, 'W', 32);
	if (!m->first)
		return false;
	m->value = w->at + 3;
	m->end = printable(m->value, w->hi, ':');
	return m->end - m->value >= 20 && m->end < w->hi && *m->end == ':';
}

/* "$6$salt$hash" from p, whole; NULL when it is none. */
static const uint8_t *crypt_end(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *salt = p + 3, *hash, *end;
	size_t n = p[1] == '6' ? 86 : 43;

	if (hi - salt > 7 && memcmp(salt, "rounds=", 7) == 0) {
		salt = run('d', salt + 7, hi, 9);
		if (salt == hi || *salt++ != '$')
			return NULL;
	}
	if (p[1] == 'y') { /* yescrypt's parameters */
		salt = run('S', salt, hi, 16);
		if (salt == hi || *salt++ != '$')
			return NULL;
	}
	hash = run('S', salt, hi, 32);
	if (hash - salt < 8 || hash == hi || *hash++ != '$' ||
	    ab_content_has(salt, (size_t)(hash - salt), "salt"))
		return NULL;
	end = run('S', hash, hi, n + 1);
	return (size_t)(end - hash) == n ? end : NULL;
}

/*
 * A login's hash that is no line of shadow(5): passwd: $6$... of cloud-init,
 * rootpw --iscrypted, password of a preseed, echo 'root:$6$...' | chpasswd.
 */
bool ab_verify_crypt(const ab_content_window *w, ab_content_match *m)
{
	static const char *const words[] = { "passwd", "password", "pw",
					     "crypted", "iscrypted", "root" };
	const uint8_t *p = w->at, *word;

	m->end = crypt_end(w->at, w->hi);
	if (!m->end)
		return false;
	m->value = w->at + 3;
	while (p > w->lo && w->at - p < 16 &&
	       (ab_content_class('b', p[-1]) || ab_content_class('q', p[-1]) ||
		p[-1] == ':' || p[-1] == '='))
		p--;
	word = back('W', w, p, 48);
	m->first = word;
	for (size_t i = 0; p < w->at && i < sizeof(words) / sizeof(*words);
	     i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(p - word) >= n &&
		    ab_content_at(w, p - n, words[i], true))
			return true;
	}
	return false;
}

/* _auth is base64 of user:password; anything else may be a variable. */
static bool is_pair(const uint8_t *p, const uint8_t *end)
{
	uint8_t plain[256];
	size_t n = ab_content_decode(p, (size_t)(end - p), plain,
				     sizeof(plain));
	const uint8_t *colon = memchr(plain, ':', n);

	for (size_t i = 0; i < n; i++) {
		if (plain[i] < ' ' || plain[i] > '~')
			return false;
	}
	return colon &&
	       !ab_content_is_weak(colon + 1,
				   (size_t)(plain + n - colon) - 1);
}

/* [//registry/:]_auth=..., _password=...; the anchor is the name. */
bool ab_verify_npm_auth(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at;
	bool is_scoped;

	while (p > w->lo && p[-1] > ' ' && p[-1] < 0x7f && w->at - p < 300)
		p--;
	is_scoped = w->at - p > 3 && p[0] == '/' && p[1] == '/' &&
		    w->at[-1] == ':';
	if ((p != w->at && !is_scoped) || !ab_content_begins_line(w, p))
		return false;
	m->first = p;
	/* the anchor ends with '=' or the white space before it */
	p = run('b', m->end - 1, w->hi, 32);
	if (p == w->hi || *p != '=')
		return false;
	m->value = run('b', p + 1, w->hi, 32);
	m->end = run('E', m->value, w->hi, 512);
	if (m->end - m->value < 8 || (m->end < w->hi && *m->end > ' '))
		return false;
	return is_scoped || (w->kind & AB_CONTENT_NPMRC) ||
	       is_pair(m->value, m->end);
}

/* kind: Secret, alone in its line. */
bool ab_verify_k8s_kind(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at;

	while (p > w->lo && (p[-1] == ' ' || p[-1] == '-'))
		p--;
	if (!ab_content_is_line(w, p))
		return false;
	p = m->end;
	while (p < w->hi && *p == ' ')
		p++;
	return p == w->hi || *p == '\n' || *p == '\r' || *p == '#';
}

static const uint8_t *line_end(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *end = memchr(p, '\n', (size_t)(hi - p));

	return end ? end : hi;
}

/* A value that a template fills in, or that is none. */
static bool is_filled_in(const uint8_t *p, size_t n)
{
	return n < 3 || *p == '$' || *p == '{' || *p == '#' || *p == '*' ||
	       ab_content_has(p, n, "{{") || ab_content_has(p, n, "${") ||
	       ab_content_has(p, n, "<") || ab_content_is_sample(p, n);
}

/* `key: value`, or a line of a block: is there a secret in it? */
static bool is_data(const uint8_t *p, const uint8_t *end, bool is_encoded,
		    bool *is_block)
{
	const uint8_t *value = p, *colon = memchr(p, ':', (size_t)(end - p));
	uint8_t plain[256];
	size_t n;

	if (colon && !*is_block)
		value = colon + 1;
	while (value < end && (*value == ' ' || *value == '"' ||
			       *value == '\''))
		value++;
	while (end > value && (end[-1] <= ' ' || end[-1] == '"' ||
			       end[-1] == '\''))
		end--;
	n = (size_t)(end - value);
	*is_block = n && (*value == '|' || *value == '>');
	if (*is_block || is_filled_in(value, n))
		return false;
	if (!is_encoded)
		return !ab_content_is_weak(value, n);
	if (run('E', value, end, n) != end)
		return false;
	n = ab_content_decode(value, n, plain, sizeof(plain));
	return n >= 3 && !ab_content_is_weak(plain, n);
}

/* data: or stringData:, and below it at least one value that is one. */
bool ab_verify_k8s_data(const ab_content_window *w, ab_content_match *m)
{
	bool is_encoded = *w->at == 'd', is_block = false;
	const uint8_t *p = w->at, *end;
	size_t indent;

	while (p > w->lo && p[-1] == ' ')
		p--;
	if (!ab_content_is_line(w, p))
		return false;
	indent = (size_t)(w->at - p);
	end = line_end(m->end, w->hi);
	p = run('s', m->end, end, 64);
	if (p < end && *p != '#')
		return false;
	while (end < w->hi) {
		p = end + 1;
		while (p < w->hi && *p == ' ')
			p++;
		if (p == w->hi || ((size_t)(p - end - 1) <= indent &&
				   *p != '\n' && *p != '\r' && *p != '#'))
			return false;
		end = line_end(p, w->hi);
		if (*p != '#' && is_data(p, end, is_encoded, &is_block))
			return true;
	}
	return false;
}

/* "---" alone: what comes is another document. */
bool ab_verify_document(const ab_content_window *w, ab_content_match *m)
{
	return m->end == w->hi || *m->end <= ' ';
}
