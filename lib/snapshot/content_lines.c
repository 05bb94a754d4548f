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

/* The name of "name:" that begins the line of p, or a string, as lists have
   such lines. */
static const uint8_t *line_name(const ab_content_window *w, const uint8_t *p,
				char class, size_t max)
{
	const uint8_t *name;

	if (p == w->lo || p[-1] != ':')
		return NULL;
	name = back(class, w, p - 1, max);
	if (name == p - 1)
		return NULL;
	return ab_content_begins_line(w, name) ||
			       (name > w->lo && ab_content_class('Q', name[-1]))
		       ? name
		       : NULL;
}

static const uint8_t *printable(const uint8_t *p, const uint8_t *hi,
				uint8_t stop)
{
	while (p < hi && *p > ' ' && *p != stop)
		p++;
	return p;
}

/* Compose has "$$" for '$', as the labels of a proxy do. */
static const uint8_t *dollars(const uint8_t *p, const uint8_t *hi)
{
	return hi - p > 1 && p[0] == '$' && p[1] == '$' ? p + 2 : p + 1;
}

/* A hash of htpasswd(1) from p, whole: no word of a text looks so. Its end, or
   NULL. */
static const uint8_t *hash_end(const uint8_t *p, const uint8_t *hi)
{
	bool is_md5 = p[1] == 'a';
	size_t salt = is_md5 ? 8 : 2, n = is_md5 ? 22 : 53;
	const uint8_t *end;

	if (*p != '$' || !(is_md5 || p[1] == '2'))
		return NULL;
	p += is_md5 ? 5 : 3;
	p = dollars(p, hi);
	end = run('S', p, hi, salt);
	if (end == p || end == hi || *end != '$')
		return NULL;
	p = dollars(end, hi);
	end = run('S', p, hi, n);
	return end - p == (ptrdiff_t)n ? end : NULL;
}

/* The name before a whole hash behind more than begins a line: a label's,
   another pair's, a comment's. */
static const uint8_t *pair_name(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *name;

	if (p == w->lo || p[-1] != ':' || !hash_end(w->at, w->hi))
		return NULL;
	name = back('.', w, p - 1, 64);
	return name < p - 1 &&
			       ((name > w->lo && name[-1] == ',') ||
				ab_content_begins_item(w, name)) ?
		       name :
		       NULL;
}

/*
 * The same as a value in a row of SQL, or between the tabs or commas of a dump.
 * Quoted, and in no row, it is what a program compares with.
 */
static bool is_in_row(const ab_content_window *w)
{
	const uint8_t *p = w->at, *end = hash_end(p, w->hi);
	bool is_quoted = p > w->lo && p[-1] == '\'';

	if (!end || p == w->lo || (w->kind & AB_CONTENT_TESTS))
		return false;
	/* as files of values have it */
	if (p - w->lo > 1 && p[-1] == '"' && end < w->hi && *end == '"') {
		p--;
		end++;
	}
	if (!is_quoted)
		return ab_content_is_one_of("\t,;", p[-1]) &&
		       (end == w->hi || *end == p[-1] ||
			ab_content_is_one_of("\r\n", *end));
	end = run('b', end + (end < w->hi && *end == '\''), w->hi, 8);
	return end < w->hi && ab_content_is_one_of(",)", *end) &&
	       ab_content_has(w->lo, (size_t)(p - w->lo), "values");
}

bool ab_verify_hash_line(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at;

	if (p > w->lo && *p == '$' && p[-1] == '$')
		p--;
	/* '.' is [A-Za-z0-9_.=-] */
	m->first = line_name(w, p, '.', 64);
	if (!m->first)
		m->first = pair_name(w, p);
	if (!m->first && is_in_row(w))
		m->first = p;
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

/* Argon2's, "$argon2id$v=19$m=1,t=2,p=3$salt$hash", and Django's of PBKDF2,
   "pbkdf2_sha256$1000$salt$hash=", whose parts are in base64. */
static const uint8_t *kdf_end(const uint8_t *p, const uint8_t *hi)
{
	size_t parts = *p == '$' ? 4 : 3;

	p += *p == '$';
	for (; parts; parts--, p = dollars(p, hi)) {
		p = run('+', run('a', p, hi, 64), hi, 64);
		while (p < hi && ab_content_is_one_of(",=", *p))
			p = run('a', p + 1, hi, 64);
		if (p == hi || *p != '$')
			return NULL;
	}
	hi = run('E', p, hi, 128);
	return hi - p >= 24 ? hi : NULL;
}

/* "For example:" of a manual, a line or two in front. */
static bool is_shown(const ab_content_window *w)
{
	size_t n = w->at - w->lo < 200 ? (size_t)(w->at - w->lo) : 200;

	return !(w->kind & AB_CONTENT_SETTINGS) &&
	       ab_content_has(w->at - n, n, "example:");
}

/* The end of what a program keeps of a password, or NULL. */
static const uint8_t *kept_end(const ab_content_window *w)
{
	bool is_login = ab_content_class('d', w->at[1]) && w->at[1] != '2';

	if (is_login || w->at[1] == 'y')
		return crypt_end(w->at, w->hi);
	/* tests of what makes them have them by the dozen */
	if ((w->kind & AB_CONTENT_TESTS) || is_shown(w))
		return NULL;
	return w->at[1] == '2' ? hash_end(w->at, w->hi) :
				 kdf_end(w->at, w->hi);
}

/* Before what says how it was made, "{bcrypt}" of Spring and "{CRYPT}" of LDAP,
   or the first '$' of Compose's two. */
static const uint8_t *before_scheme(const ab_content_window *w,
				    const uint8_t *p)
{
	const uint8_t *q;

	if (p > w->lo && *p == '$' && p[-1] == '$')
		p--;
	if (p == w->lo || p[-1] != '}')
		return p;
	q = back('a', w, p - 1, 12);
	return q > w->lo && q[-1] == '{' ? q - 1 : p;
}

/*
 * A login's hash that is no line of shadow(5): passwd: $6$... of cloud-init,
 * rootpw --iscrypted, password of a preseed, echo 'root:$6$...' | chpasswd,
 * useradd -p, and what programs have: 'password' => '$2y$...'.
 */
bool ab_verify_crypt(const ab_content_window *w, ab_content_match *m)
{
	static const char *const words[] = { "passwd", "password", "pw",
					     "crypted", "iscrypted", "root",
					     "-p", "passwordhash",
					     "password_hash" };
	const uint8_t *p = w->at, *word;

	m->end = kept_end(w);
	if (!m->end)
		return false;
	m->value = w->at + 3;
	p = before_scheme(w, p);
	while (p > w->lo && w->at - p < 32 &&
	       (ab_content_class('b', p[-1]) || ab_content_class('q', p[-1]) ||
		ab_content_is_one_of(":=>", p[-1])))
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

/* Only blanks, a list's '-' and a quote between the line's beginning and p? */
static bool begins_item(const ab_content_window *w, const uint8_t *p)
{
	if (p > w->lo && ab_content_class('Q', p[-1]))
		p--;
	while (p > w->lo && (p[-1] == ' ' || p[-1] == '-'))
		p--;
	return ab_content_begins_line(w, p);
}

/* Behind '{' or ',', perhaps in the line before, and a quote. */
static bool begins_member(const ab_content_window *w, const uint8_t *p)
{
	p = back('q', w, p, 4);
	p = back('s', w, p, 128);
	if (ab_content_at(w, p - 2, "\\n", false))
		p = back('s', w, p - 2, 128);
	return p > w->lo && (p[-1] == '{' || p[-1] == ',');
}

/* Of a manifest: what else is called so has neither of these near. */
static bool is_near_manifest(const ab_content_window *w)
{
	const uint8_t **mark = &w->marks[AB_MARK_MANIFEST];
	const uint8_t *p = *mark > w->lo ? *mark : w->lo;
	size_t n = p < w->hi ? (size_t)(w->hi - p) : 0;

	if (memmem(p, n, "apiVersion", 10) || memmem(p, n, "metadata", 8))
		return true;
	if (n > 9) /* the beginning of one may be there */
		*mark = w->hi - 9;
	return false;
}

/* kind: Secret, alone in its line, or a member of an object. */
bool ab_verify_k8s_kind(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = run('b', run('q', m->end, w->hi, 2), w->hi, 32);

	if (begins_item(w, w->at) && (p == w->hi || *p == '\n' || *p == '\r' ||
				      *p == '#'))
		return true;
	p = run('s', p, w->hi, 128);
	return begins_member(w, w->at) &&
	       (p == w->hi || *p == ',' || *p == '}' || *p == '\\') &&
	       is_near_manifest(w);
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

/* A number is a PIN, unless it counts, or the key says what it is for. */
static bool is_pin(const uint8_t *key, const uint8_t *key_end,
		   const uint8_t *p, size_t n)
{
	static const char *const numbers[] = { "port", "size", "count", "time",
					       "limit", "version", "ttl",
					       "days", "hours", "seconds" };
	size_t steps = 0;

	if (n < 4 || run('d', p, p + n, n) != p + n)
		return false;
	for (size_t i = 1; i < n; i++)
		steps += p[i] == p[i - 1] + 1 || p[i] == p[i - 1];
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (ab_content_has(key, (size_t)(key_end - key), numbers[i]))
			return false;
	}
	return steps < n / 2;
}

static bool is_secret(const uint8_t *key, const uint8_t *key_end,
		      const uint8_t *p, size_t n, bool is_encoded)
{
	uint8_t plain[256];

	if (is_filled_in(p, n))
		return false;
	if (is_encoded) {
		if (run('E', p, p + n, n) != p + n)
			return false;
		n = ab_content_decode(p, n, plain, sizeof(plain));
		p = plain;
		while (n && (p[n - 1] == '\n' || p[n - 1] == '\r'))
			n--;
	}
	return n >= 3 && (!ab_content_is_weak(p, n) ||
			  is_pin(key, key_end, p, n));
}

/* "!!binary", as YAML says of what type a value is. */
static const uint8_t *skip_tag(const uint8_t *p, const uint8_t *end)
{
	if (p < end && *p == '!')
		p = run('b', printable(p, end, 0), end, 32);
	return p;
}

/* `key: value`, or a line of a block: is there a secret in it? */
static bool is_data(const uint8_t *p, const uint8_t *end, bool is_encoded,
		    bool *is_block)
{
	const uint8_t *value = p, *colon = memchr(p, ':', (size_t)(end - p));
	size_t n;

	if (colon && !*is_block)
		value = skip_tag(run('b', colon + 1, end, 32), end);
	while (value < end && (*value == ' ' || *value == '"' ||
			       *value == '\''))
		value++;
	while (end > value && (end[-1] <= ' ' || end[-1] == '"' ||
			       end[-1] == '\''))
		end--;
	n = (size_t)(end - value);
	*is_block = n && (*value == '|' || *value == '>');
	return !*is_block && is_secret(p, colon ? colon : p, value, n,
				       is_encoded);
}

/* White space, also as a string has it. */
static const uint8_t *spaces(const uint8_t *p, const uint8_t *hi)
{
	for (;;) {
		const uint8_t *end = run('s', p, hi, AB_CONTENT_AHEAD);

		if (hi - end < 2 || end[0] != '\\' ||
		    (end[1] != 'n' && end[1] != 't' && end[1] != 'r'))
			return end;
		p = end + 2;
	}
}

/* Without quotes: what a program puts there. */
static bool is_expression(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);

	for (const uint8_t *q = p; q < end; q++) {
		if (ab_content_is_one_of(" ([!`", *q))
			return true;
	}
	return n && !ab_content_class('d', *p) &&
	       run('.', p, end, n) == end && !ab_content_is_made(p, end);
}

/* In whole groups, and what is short is a text: so is no other word. */
static bool is_base64(const uint8_t *p, size_t n)
{
	uint8_t plain[16];
	size_t got = ab_content_decode(p, n, plain, sizeof(plain));

	for (size_t i = 0; i < got && n <= 16; i++) {
		if (plain[i] > '~' || (plain[i] < ' ' &&
				       !ab_content_class('s', plain[i])))
			return false;
	}
	return n % 4 == 0;
}

/* One `key: value` of an object, and the place behind it; NULL: none. */
static const uint8_t *member(const uint8_t *p, const uint8_t *hi,
			     bool is_encoded, bool *found)
{
	const uint8_t *key = run('q', spaces(p, hi), hi, 4);
	const uint8_t *key_end = run('.', key, hi, 253), *value, *end;
	bool is_quoted;
	size_t n;

	p = spaces(run('q', key_end, hi, 4), hi);
	if (key == key_end || p == hi || *p != ':')
		return NULL;
	p = skip_tag(spaces(p + 1, hi), hi);
	value = run('q', p, hi, 4);
	is_quoted = value > p;
	/* a manifest has no objects and lists among them */
	if (value == hi || *value == '{' || *value == '[')
		return NULL;
	for (end = value; end < hi && *end >= ' '; end++) {
		if (is_quoted ? ab_content_class('q', *end) :
				*end == ',' || *end == '}')
			break;
	}
	p = spaces(run('q', end, hi, 4), hi);
	while (end > value && end[-1] == ' ')
		end--;
	n = (size_t)(end - value);
	*found = n && (is_encoded ? p == hi || is_base64(value, n) :
				    is_quoted || !is_expression(value, end)) &&
		 is_secret(key, key_end, value, n, is_encoded);
	return p;
}

/* {key: value, ...} behind its brace: is one of them a secret? */
static bool has_member(const uint8_t *p, const uint8_t *hi, bool is_encoded)
{
	bool found = false;

	do {
		p = member(p, hi, is_encoded, &found);
	} while (p && !found && p < hi && *p++ == ',');
	return found;
}

/*
 * The lines below that are further in: is one of them a secret? `line` is the
 * one that has the name; what a patch begins it with those have, too.
 */
static bool has_line(const ab_content_window *w, const uint8_t *line,
		     const uint8_t *end, size_t indent, bool is_encoded)
{
	bool is_marked = ab_content_is_one_of("+->", *line);
	bool is_block = false;

	while (end < w->hi) {
		const uint8_t *p = end + 1;

		if (is_marked && p < w->hi && *p == *line)
			p++;
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

/*
 * data: or stringData:, and below it or in braces at least one value that is
 * one. The anchor may end behind the name.
 */
bool ab_verify_k8s_data(const ab_content_window *w, ab_content_match *m)
{
	bool is_encoded = *w->at == 'd';
	const uint8_t *p, *end;
	const uint8_t *line = w->at;

	p = spaces(run('q', m->end, w->hi, 4), w->hi);
	if (m->end[-1] != ':') {
		if (p == w->hi || *p != ':')
			return false;
		m->end = p + 1;
		p = spaces(m->end, w->hi);
	}
	if (p < w->hi && *p == '{')
		return (begins_item(w, w->at) || begins_member(w, w->at)) &&
		       has_member(p + 1, w->hi, is_encoded);
	if (!begins_item(w, w->at))
		return false;
	while (line > w->lo && line[-1] != '\n')
		line--;
	end = line_end(m->end, w->hi);
	p = run('s', m->end, end, 64);
	return (p == end || *p == '#') &&
	       has_line(w, line, end,
			(size_t)(back('q', w, w->at, 1) - line), is_encoded);
}

/* "---" alone: what comes is another document. */
bool ab_verify_document(const ab_content_window *w, ab_content_match *m)
{
	return m->end == w->hi || *m->end <= ' ';
}
