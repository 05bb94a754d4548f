/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys and tokens whose anchor stands in their middle, or which have to be
 * decoded before they can be told: the rules of content_rules.c that are no
 * shape. Each looks at most AB_CONTENT_BACK and AB_CONTENT_AHEAD far.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define back ab_content_back

bool ab_verify_word(const ab_content_window *w, ab_content_match *m)
{
	(void)w;
	(void)m;
	return true;
}

/* Behind the header: at least 64 characters of base64, in lines. */
static bool has_body(const uint8_t *p, const uint8_t *hi)
{
	size_t sum = 0;

	while (p < hi) {
		const uint8_t *end = run('E', p, hi, AB_CONTENT_AHEAD);
		size_t n = (size_t)(end - p);

		/* a line or its tail; the words of a comment are shorter */
		if (n >= 16 && ab_content_entropy(p, n) >= 25)
			sum += n;
		if (sum >= 64)
			return true;
		if (hi - end >= 5 && memcmp(end, "-----", 5) == 0)
			return false;
		p = end + 1;
	}
	return false;
}

/* "-----BEGIN" and at most 40 of [ A-Z0-9_-] before p. */
static const uint8_t *armour(const ab_content_window *w, const uint8_t *p)
{
	for (size_t i = 0; i <= 40; i++, p--) {
		if (ab_content_at(w, p - 10, "-----BEGIN", false))
			return p - 10;
		/* of SSH2: RFC 4716 has it for public ones */
		if (ab_content_at(w, p - 10, "---- BEGIN", false))
			return p - 10;
		if (p == w->lo ||
		    !(ab_content_class('a', p[-1]) || p[-1] == ' ' ||
		      p[-1] == '_'))
			return NULL;
	}
	return NULL;
}

bool ab_verify_pem(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end;

	m->first = armour(w, w->at);
	if (!m->first)
		return false;
	if (ab_content_at(w, p, " BLOCK", false))
		p += 6;
	return (ab_content_at(w, p, "-----", false) ||
		ab_content_at(w, p, " ----", false)) &&
	       has_body(p + 5, w->hi);
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of "%2B" at *p, which goes on behind it; '+' is a space. */
static uint8_t url_byte(const uint8_t **p, const uint8_t *hi)
{
	const uint8_t *q = *p;

	if (*q == '%' && hi - q >= 3 && hex_digit(q[1]) >= 0 &&
	    hex_digit(q[2]) >= 0) {
		*p += 3;
		return (uint8_t)(hex_digit(q[1]) << 4 | hex_digit(q[2]));
	}
	*p += 1;
	return *q == '+' ? ' ' : *q;
}

/* The same in a URL or a form's body. */
bool ab_verify_pem_url(const ab_content_window *w, ab_content_match *m)
{
	uint8_t plain[640];
	const uint8_t *p = w->at - w->lo > 96 ? w->at - 96 : w->lo;
	ab_content_window in = { .lo = plain, .at = plain };
	ab_content_match key = { .first = plain };
	size_t n = 0;

	while (p < w->hi && n < sizeof(plain)) {
		if (p == w->at)
			in.at = plain + n;
		plain[n++] = url_byte(&p, w->hi);
	}
	in.hi = plain + n;
	key.end = in.at + sizeof("PRIVATE KEY") - 1;
	m->first = w->at;
	return in.at > plain && ab_content_at(&in, in.at, "PRIVATE KEY", false) &&
	       ab_verify_pem(&in, &key);
}

/* Inside the SEQUENCE (X.690, 8.1) that a file begins with; NULL: there is
   none, or this is not the file's beginning. */
static const uint8_t *sequence(const ab_content_window *w)
{
	const uint8_t *p = w->lo;
	ptrdiff_t skip;

	if (w->at - p >= AB_CONTENT_BACK || w->hi - p < 8 || *p != 0x30)
		return NULL;
	skip = p[1] < 0x80 ? 2 : p[1] == 0x81 ? 3 : p[1] == 0x82 ? 4 : 0;
	return skip ? p + skip : NULL;
}

/*
 * A file that is a key in DER: a version and the key (RFC 8017, appendix A.1.2;
 * RFC 5915), or with an algorithm's name between (RFC 5958), or encrypted,
 * which begins with that name. A template has no key behind it.
 */
bool ab_verify_der(const ab_content_window *w, ab_content_match *m)
{
	static const uint8_t pkcs[] = { 0x2a, 0x86, 0x48, 0x86, 0xf7 };
	const uint8_t *p = sequence(w), *at = w->at;

	if (!p || w->hi - m->end < 40)
		return false;
	if (*at == '\r') {
		if (at - p != 9 || p[0] != 0x30 || p[2] != 6 ||
		    memcmp(p + 4, pkcs, sizeof(pkcs)) != 0)
			return false;
	} else if (at != p || (at[3] == 0x30 && at[5] != 6) ||
		   (at[3] == 2 && at[4] < 0x20) ||
		   (at[3] == 4 && at[4] < 24)) {
		return false;
	}
	m->value = m->end;
	m->end = w->hi - m->value > 128 ? m->value + 128 : w->hi;
	return ab_content_entropy(m->value, (size_t)(m->end - m->value)) >= 35;
}

/* A line end as it is in a string: \n, \r. */
static bool is_line_end(const uint8_t *p)
{
	return p[0] == '\\' && (p[1] == 'n' || p[1] == 'r');
}

/* At most `max` letters of base64 from p, without line ends. */
static size_t letters(const uint8_t *p, const uint8_t *hi, uint8_t *out,
		      size_t max)
{
	size_t n = 0;

	for (; p < hi && n < max; p++) {
		if (ab_content_class('B', *p))
			out[n++] = *p;
		else if (hi - p > 1 && is_line_end(p))
			p++;
		else if (!ab_content_class('s', *p))
			break;
	}
	return n;
}

/* The same before p, the last ones; how many. */
static size_t letters_before(const ab_content_window *w, uint8_t *out,
			     size_t max)
{
	size_t n = 0;

	for (const uint8_t *p = w->at; p > w->lo && n < max; p--) {
		if (p - w->lo > 1 && is_line_end(p - 2))
			p--;
		else if (ab_content_class('B', p[-1]))
			out[max - ++n] = p[-1];
		else if (!ab_content_class('s', p[-1]))
			break;
	}
	return n;
}

/*
 * "-----BEGIN" or "PRIVATE KEY" in base64. The anchor's first letter says how
 * it is aligned: where the next group of four begins.
 */
bool ab_verify_pem_b64(const ab_content_window *w, ab_content_match *m)
{
	size_t skip = *w->at == '0' || *w->at == 'B' ? 2 :
		      *w->at == 't' || *w->at == 'Q' ? 1 :
						       0;
	bool is_begin = *w->at == 'L' || *w->at == '0' || *w->at == 't';
	uint8_t text[192], plain[144];
	size_t before = is_begin ? 0 : letters_before(w, text, 88), n, from;

	if (letters(m->end, w->hi, plain, 20) < 20)
		return false;
	memmove(text, text + 88 - before, before);
	n = before + letters(w->at, w->hi, text + before, 88);
	from = (before + skip) % 4;
	n = ab_content_decode(text + from, n - from, plain, sizeof(plain));
	return ab_content_has(plain, n, "begin") &&
	       memmem(plain, n, "PRIVATE KEY", 11);
}

/* Is p where the body begins behind a header that "pem-private" has found? */
static bool is_armoured(const ab_content_window *w, const uint8_t *p)
{
	static const char *const words[] = { "PRIVATE KEY", "PRIVATE%20KEY",
					     "PRIVATE+KEY" };
	ab_content_window in = *w;

	for (in.at = p; in.at > w->lo && p - in.at < 48; in.at--) {
		for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
			ab_content_match m = {
				.end = in.at + strlen(words[i])
			};

			if (ab_content_at(w, in.at, words[i], false))
				return i ? ab_verify_pem_url(&in, &m)
					 : ab_verify_pem(&in, &m);
		}
	}
	return false;
}

/*
 * Is p where the body of a "TESTING KEY" or "TEST KEY" begins? So a key is
 * labelled that anybody may have, and that is for tests alone: Go's own
 * sources have it in packages that programs are built of.
 */
static bool is_for_tests(const ab_content_window *w, const uint8_t *p)
{
	static const char *const labels[] = { "TESTING KEY-----",
					      "TEST KEY-----" };

	while (p > w->lo && ab_content_class('s', p[-1]))
		p--;
	if (ab_content_at(w, p - 2, "\\n", false))
		p -= 2;
	for (size_t i = 0; i < AB_ARRAY_LEN(labels); i++) {
		const uint8_t *q = p - strlen(labels[i]);

		if (ab_content_at(w, q, labels[i], false) && armour(w, q))
			return true;
	}
	return false;
}

/*
 * A private key's beginning as DER in base64, where its kind is said; the
 * length before it varies: "MIIE" and two more, "MIG" and one.
 */
bool ab_verify_key_b64(const ab_content_window *w, ab_content_match *m)
{
	size_t before = *w->at == 'I' ? 6 : *w->at == 'A' ? 4 : 0;
	const uint8_t *p = w->at - before;
	uint8_t text[48];
	size_t n;

	if ((size_t)(w->at - w->lo) < before || !ab_content_begins(w, p) ||
	    (before && !ab_content_at(w, p, before == 6 ? "MII" : "MI", false)))
		return false;
	if (p > w->lo && ab_content_class('B', p[-1]) && p[-1] < 'A')
		return false; /* '+' and '/': in the middle of something */
	n = letters(m->end, w->hi, text, sizeof(text));
	m->first = p;
	return n >= 24 && ab_content_entropy(text, n) >= 30 &&
	       !is_armoured(w, p) && !is_for_tests(w, p);
}

/* From a name's end to the value's beginning in JSON: quotes and a colon. */
static const uint8_t *json_value(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *q = run('q', p, hi, 4), *colon = run('s', q, hi, 20);

	if (q == p || colon == hi || *colon != ':')
		return NULL;
	p = run('s', colon + 1, hi, 20);
	q = run('q', p, hi, 4);
	return q == p ? NULL : q;
}

/* RFC 7517, 7518: of a public key there is no "d", and none of "oct". */
static bool jwk_member(const uint8_t *p, const uint8_t *lo, const uint8_t *hi,
		       ab_content_match *m)
{
	size_t least = *p == 'd' ? 42 : 22;

	if ((*p != 'd' && *p != 'k') || p == lo ||
	    !ab_content_class('q', p[-1]))
		return false;
	m->value = json_value(p + 1, hi);
	if (!m->value)
		return false;
	m->end = run('W', m->value, hi, 1024);
	return (size_t)(m->end - m->value) >= least &&
	       (m->end == hi || ab_content_class('q', *m->end));
}

/* In the same object as "kty". */
bool ab_verify_jwk(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at, *lo = p, *hi = p;

	m->first = p;
	while (lo > w->lo && lo[-1] != '{' && lo[-1] != '}')
		lo--;
	while (hi < w->hi && *hi != '{' && *hi != '}')
		hi++;
	for (p = lo; p < hi; p++) {
		if (jwk_member(p, lo, hi, m))
			return true;
	}
	return false;
}

/*
 * mnemonic: "twelve words or more", which make a wallet's keys (BIP 39). In
 * the ones of tests a word is there again and again.
 */
bool ab_verify_seed_phrase(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *words[24], *p = m->end, *end;
	size_t n = 0, lens[24];

	while (p < w->hi && p - m->end < 16 &&
	       (ab_content_class('b', *p) || ab_content_class('q', *p) ||
		*p == ':' || *p == '='))
		p++;
	m->value = p;
	for (; n < 24; n++, p = end + 1) {
		end = run('z', p, w->hi, 9);
		if (end - p < 3 || end - p > 8)
			return false;
		words[n] = p;
		lens[n] = (size_t)(end - p);
		for (size_t i = 0; i < n; i++) {
			if (lens[i] == lens[n] &&
			    memcmp(words[i], p, lens[n]) == 0)
				return false;
		}
		if (end == w->hi || *end != ' ') {
			n++;
			break;
		}
	}
	m->end = end;
	return n >= 12 && n % 3 == 0 &&
	       (end == w->hi || ab_content_class('s', *end) ||
		ab_content_class('q', *end));
}

bool ab_verify_putty(const ab_content_window *w, ab_content_match *m)
{
	static const char *const kinds[] = { "ssh-", "ecdsa-", "ed25519",
					     "ed448", "rsa", "dss" };
	const uint8_t *p = m->end;

	p = run('s', p, w->hi, 2);
	for (size_t i = 0; i < AB_ARRAY_LEN(kinds); i++) {
		if (ab_content_at(w, p, kinds[i], false))
			return true;
	}
	return false;
}

/*
 * PrivateKey = ..., as wg(8) has it, and the same in a string, in JSON and
 * YAML, behind a mark of a comment, a diff or a quoted mail. A member of an
 * object is a program's, whose value is another's.
 */
bool ab_verify_wireguard(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = run('s', run('q', m->end, w->hi, 2), w->hi, 32);

	if (!ab_content_begins(w, w->at) ||
	    (w->at > w->lo && w->at[-1] == '.') ||
	    p == w->hi || (*p != '=' && *p != ':'))
		return false;
	p = run('s', p + 1, w->hi, 32);
	m->value = run('q', p, w->hi, 2);
	/* BIND writes the same line, and "dnssec-key" has it */
	if (*m->end == ':' && m->value == p && w->at > w->lo &&
	    w->at[-1] == '\n')
		return false;
	m->end = run('B', m->value, w->hi, 44);
	return m->end - m->value == 43 && m->end < w->hi && *m->end == '=';
}

/* jwt.io's and everybody's {"sub":"1234567890", and PyJWT's manual. */
static const char *const jwt_samples[] = { "eyJzdWIiOiIxMjM0NTY3ODkwIi",
					   "eyJzb21lIjoicGF5bG9hZCJ9" };

bool ab_verify_jwt(const ab_content_window *w, ab_content_match *m)
{
	bool is_cut = w->hi - w->at == AB_CONTENT_AHEAD;
	const uint8_t *p = run('W', w->at + 3, w->hi, AB_CONTENT_AHEAD);

	if (p - w->at < 18 || !ab_content_at(w, p, ".eyJ", false))
		return false;
	m->value = ++p;
	for (size_t i = 0; i < AB_ARRAY_LEN(jwt_samples); i++) {
		if (ab_content_at(w, p, jwt_samples[i], false))
			return false;
	}
	m->end = run('W', p, w->hi, AB_CONTENT_AHEAD);
	if (m->end - p < 18)
		return false;
	if (m->end == w->hi)
		return is_cut;
	if (*m->end != '.')
		return false;
	p = m->end + 1;
	m->end = run('W', p, w->hi, AB_CONTENT_AHEAD);
	return m->end - p >= 10 || (m->end == w->hi && is_cut);
}

bool ab_verify_jwt_b64(const ab_content_window *w, ab_content_match *m)
{
	uint8_t plain[AB_CONTENT_AHEAD];
	ab_content_window in = { .lo = plain, .at = plain };
	ab_content_match token = { .first = plain };
	const uint8_t *end;
	size_t n;

	if (w->at > w->lo && ab_content_class('B', w->at[-1]))
		return false;
	end = run('B', w->at, w->hi, AB_CONTENT_AHEAD);
	n = ab_content_decode(w->at, (size_t)(end - w->at), plain,
			      sizeof(plain));
	in.hi = plain + n;
	m->value = w->at;
	m->end = end;
	if (n < 60 || memcmp(plain, "eyJ", 3) != 0)
		return false;
	/* its end may be beyond what is seen */
	if (ab_verify_jwt(&in, &token))
		return true;
	return end - w->at == AB_CONTENT_AHEAD && token.value &&
	       token.value > plain;
}

bool ab_verify_openai(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t **mark = &w->marks[AB_MARK_OPENAI];
	const uint8_t *p = w->at - w->lo > 256 ? w->at - 256 : w->lo;
	const uint8_t *first = NULL, *more = m->end;

	if (*mark > p)
		p = *mark;
	p = back('W', w, w->at, (size_t)(w->at - p));
	m->is_inside = true;
	for (; m->is_inside && w->at - p >= 23; p++) {
		if (!ab_content_at(w, p, "sk-", false))
			continue;
		m->is_inside = !ab_content_begins(w, p);
		if (!first || !m->is_inside)
			first = p;
	}
	m->first = first ? first : w->at;
	m->value = m->first + 3;
	m->end = run('W', more, w->hi, 256);
	if (!first || !ab_content_may_stand(w, m)) {
		*mark = w->at - w->lo > 23 ? w->at - 22 : *mark;
		return false;
	}
	return m->end - more >= 20;
}

/* Does a word begin n bytes before the anchor, all of one class? */
static bool begins_before(char class, const ab_content_window *w, size_t n)
{
	const uint8_t *p = back(class, w, w->at, n);

	return (size_t)(w->at - p) == n && ab_content_begins(w, p);
}

/* abc8Q~ and 31 to 34 more: the anchor is "8Q~". */
bool ab_verify_azure_ad(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p;

	if (!begins_before('t', w, 3))
		return false;
	m->first = m->value = w->at - 3;
	p = w->at + 3;
	m->end = run('t', p, w->hi, 35);
	/* the end of a sentence, of a comment */
	while (m->end - p > 31 && (m->end[-1] == '.' || m->end[-1] == '-'))
		m->end--;
	return m->end - p >= 31 && m->end - p <= 34;
}

bool ab_verify_azure_devops(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end;

	m->first = m->value = back('A', w, w->at, 76);
	m->end = run('A', p, w->hi, 4);
	m->is_inside = !ab_content_begins(w, m->first) ||
		       !ab_content_ends(w, m->end);
	return w->at - m->first == 76 && m->end - p == 4 &&
	       ab_content_may_stand(w, m);
}

bool ab_verify_terraform(const ab_content_window *w, ab_content_match *m)
{
	if (!begins_before('A', w, 14))
		return false;
	m->first = w->at - 14;
	m->value = m->end;
	m->end = run('=', m->value, w->hi, 70);
	return m->end - m->value >= 60;
}

/* 8 to 10 digits before ":AA", 32 or 33 of base64url behind. */
bool ab_verify_telegram(const ab_content_window *w, ab_content_match *m)
{
	size_t n = 8;

	/* in a URL "bot" stands before it */
	while (n <= 10 && !begins_before('d', w, n) &&
	       !(back('d', w, w->at, n) == w->at - n &&
		 ab_content_at(w, w->at - n - 3, "bot", false)))
		n++;
	if (n > 10)
		return false;
	m->first = w->at - n;
	m->value = w->at + 3;
	m->end = run('W', m->value, w->hi, 33);
	return m->end - m->value >= 32 && ab_content_ends(w, m->end);
}

/* 32 of hex before "-us" and a number. */
bool ab_verify_mailchimp(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p;

	if (!begins_before('h', w, 32))
		return false;
	m->first = m->value = w->at - 32;
	p = run('d', m->end, w->hi, 1);
	m->end = w->at;
	return ab_content_ends(w, p);
}

/*
 * A bot's token by its outline alone, which is too little anywhere but near
 * the word. (One that begins with a user's id is found without.)
 */
bool ab_verify_discord_near(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t **mark = &w->marks[AB_MARK_DISCORD];
	ab_content_window in = *w;

	in.at = w->at - w->lo > 256 ? w->at - 256 : w->lo;
	if (*mark > in.at)
		in.at = *mark;
	for (; in.at < w->hi && in.at - w->at < 512; in.at++) {
		if (ab_content_class('0', *in.at) &&
		    ab_content_shape("!%0%W{23,25}.%W{6}.%W{27,38}!", false,
				     &in, m) &&
		    ab_content_entropy(m->value,
				       (size_t)(m->end - m->value)) >= 40)
			return true;
	}
	*mark = in.at;
	return false;
}

/* xoxa- xoxr- xoxo- xoxs-, numbers, and a tail. */
bool ab_verify_slack_legacy(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end, *end;
	size_t groups = 0;

	if (!ab_content_begins(w, w->at))
		return false;
	m->value = p;
	for (;; p = end + 1, groups++) {
		end = run('d', p, w->hi, 32);
		if (end == p || end == w->hi || *end != '-' || groups == 16)
			break;
	}
	m->end = run('A', p, w->hi, 48);
	return groups && m->end - p >= 8;
}
