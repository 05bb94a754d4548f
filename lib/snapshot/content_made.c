/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Did a generator make it? What has no form of its own is told by its letters,
 * digits and signs: in no order, of several kinds, without words. What a person
 * thinks of looks otherwise, and so do symbols, numbers that count and samples.
 * See content_config.c for who asks.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define until ab_content_until

static bool is_weak(const uint8_t *p, const uint8_t *end)
{
	return ab_content_is_weak(p, (size_t)(end - p));
}

/* "Abcdefgh1234", "a1b2c3d4": most bytes are one more than the one before, or
   than the one before that. */
bool ab_content_counts(const uint8_t *p, size_t n)
{
	size_t steps = 0, pairs = 0;

	for (size_t i = 1; i < n; i++) {
		steps += (p[i] | 0x20) == (p[i - 1] | 0x20) + 1;
		pairs += i > 1 && (p[i] | 0x20) == (p[i - 2] | 0x20) + 1;
	}
	return steps * 2 > n || pairs * 2 > n;
}

static bool is_vowel(uint8_t c)
{
	return memchr("aeiouy", c | 0x20, 6) != NULL;
}

static char kind(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return 'd';
	if (c >= 'a' && c <= 'z')
		return 'a';
	return c >= 'A' && c <= 'Z' ? 'A' : '.';
}

/* How often it goes from one kind to another; "Ab" is one. */
static size_t pieces(const uint8_t *p, const uint8_t *end)
{
	size_t n = 0;
	char last = '.';

	for (; p < end; last = kind(*p++)) {
		char now = kind(*p);

		n += now != last && now != '.' && !(last == 'A' && now == 'a');
	}
	return n;
}

/* KEY of "settings.API_KEY_V2": three capitals or more between signs; where
   they end, or p. */
static const uint8_t *capitals(const uint8_t *begin, const uint8_t *p,
			       const uint8_t *end)
{
	const uint8_t *q = p;

	if (p > begin && kind(p[-1]) != '.')
		return p;
	while (q < end && kind(*q) == 'A')
		q++;
	return q - p >= 3 && (q == end || kind(*q) == '.') ? q : p;
}

/*
 * "MinLength12Validator", "JaneDoe1985": words of four letters make half of
 * it and the rest is no shuffle, so it is a symbol, a label or what a person
 * thought of. Of sixteen letters and digits that a generator made, two in a
 * hundred look so as well.
 */
static bool has_words(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p), in_words = 0;
	const uint8_t *begin = p;

	if (pieces(p, end) * 3 > n)
		return false;

	while (p < end) {
		const uint8_t *word = p;
		bool has_vowel = is_vowel(*word);

		p = capitals(begin, p, end);
		in_words += (size_t)(p - word);
		if (p > word)
			continue;
		p++;
		if ((*word | 0x20) < 'a' || (*word | 0x20) > 'z')
			continue;
		for (; p < end && *p >= 'a' && *p <= 'z'; p++)
			has_vowel |= is_vowel(*p);
		if (p - word >= 4 && has_vowel)
			in_words += (size_t)(p - word);
	}
	return in_words * 2 >= n;
}

/* "ch4ng3m3", "Str0ngPa$$w0rd": a word of samples, with digits and signs for
   letters. */
static bool is_leet(const uint8_t *p, size_t n)
{
	static const char from[] = "0134578$@!", to[] = "oieastbsai";
	uint8_t plain[32];

	if (n > sizeof(plain))
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *at = p[i] ? strchr(from, p[i]) : NULL;

		plain[i] = at ? (uint8_t)to[at - from] : p[i];
	}
	return ab_content_has(plain, n, "password") ||
	       ab_content_has(plain, n, "changeme");
}

/* "ENC[AES256_GCM,...]" of sops and "ENC[PKCS7,...]" of hiera-eyaml, and
   Jasypt's "ENC(...)": base64 of a salt and blocks, each of eight bytes. */
static bool is_encrypted(const uint8_t *p, size_t n)
{
	const uint8_t *end, *inner, *q;
	uint8_t plain[64];

	if (n < 8 || memcmp(p, "ENC", 3) != 0)
		return false;
	inner = p + 4;
	end = p + n - 1;
	if (p[3] == '[') {
		q = until(inner, end, ",", n);
		return q < end && q - inner >= 3 && *end == ']' &&
		       run('U', inner, q, 3) == inner + 3;
	}
	q = run('E', inner, end, n);
	n = (size_t)(end - inner);
	return p[3] == '(' && *end == ')' && q == end && n >= 22 &&
	       n % 4 == 0 &&
	       ab_content_decode(inner, n, plain, sizeof(plain)) % 8 == 0;
}

/* Or what is no plain text: of openssl-enc(1), "Salted__", and what is
   encrypted; or a name. */
static bool has_sample(const uint8_t *p, size_t n)
{
	return (n > 10 && memcmp(p, "U2FsdGVkX1", 10) == 0) ||
	       (n > 4 && (memcmp(p, "urn:", 4) == 0 ||
			  memcmp(p, "arn:", 4) == 0)) ||
	       is_encrypted(p, n) ||
	       ab_content_has(p, n, "pass") || ab_content_has(p, n, "secret") ||
	       ab_content_has(p, n, "test") || is_leet(p, n);
}

/* The base64 of a text that says itself that it is none, as npm shows it, or
   of a word that protects nothing. */
static bool hides_sample(const uint8_t *p, size_t n)
{
	uint8_t plain[64];
	size_t got = ab_content_decode(p, n, plain, sizeof(plain));

	for (size_t i = 0; i < got; i++) {
		if (plain[i] < ' ' || plain[i] > '~')
			return false;
	}
	return has_sample(plain, got) ||
	       (got && got <= 24 && ab_content_class('A', plain[0]) &&
		ab_content_is_weak(plain, got));
}

bool ab_content_is_made(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);
	bool upper = false, lower = false, digit = false, sign = false;

	for (size_t i = 0; i < n; i++) {
		upper |= p[i] >= 'A' && p[i] <= 'Z';
		lower |= p[i] >= 'a' && p[i] <= 'z';
		digit |= p[i] >= '0' && p[i] <= '9';
		sign |= kind(p[i]) == '.';
	}
	/* with signs nobody types ten as a sample */
	return n >= (sign ? 10 : 12) && n <= 64 && upper && lower && digit &&
	       ab_content_entropy(p, n) >= (n < 12 ? 29 : n < 14 ? 30 : 32) &&
	       !is_weak(p, end) && !ab_content_counts(p, n) &&
	       !has_words(p, end) && !has_sample(p, n) && !hides_sample(p, n);
}

bool ab_content_is_generated(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);
	bool letter = false, digit = false;

	if (ab_content_is_made(p, end))
		return true;
	for (size_t i = 0; i < n; i++) {
		letter |= ab_content_class('L', p[i]);
		digit |= ab_content_class('d', p[i]);
	}
	return n >= 16 && letter && digit && ab_content_entropy(p, n) >= 32 &&
	       !is_weak(p, end) && !ab_content_counts(p, n) &&
	       !has_words(p, end) && !has_sample(p, n);
}

/* A word, a number or nothing in brackets, as programs and patterns have. */
static bool has_brackets(const uint8_t *p, const uint8_t *end)
{
	static const char pairs[][3] = { "()", "[]", "{}", "<>", "``" };

	for (; p < end; p++) {
		const uint8_t *close = p + 1;

		while (close < end && (ab_content_class('.', *close) ||
				       *close == ','))
			close++;
		for (size_t i = 0; close < end && i < AB_ARRAY_LEN(pairs); i++)
			if (*p == (uint8_t)pairs[i][0] &&
			    *close == (uint8_t)pairs[i][1])
				return true;
	}
	return false;
}

/*
 * What a generator makes of letters, digits and signs, of which a language has
 * each as well: so few words, no brackets, and nothing of one kind for long.
 */
bool ab_content_is_mixed(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p), run_of = 0, in_words = 0;
	bool has_vowel = false, upper = false, digit = false, lower = false;

	/* without such a sign it was judged */
	if (n < 12 || n > 64 || until(p, end, "$(){}[]<>,;`", n) == end)
		return false;
	for (const uint8_t *q = p; q < end; q++) {
		char now = kind(*q);

		upper |= now == 'A';
		lower |= now == 'a';
		digit |= now == 'd';
		if (q == p || now != kind(q[-1])) {
			run_of = 0;
			has_vowel = false;
		}
		has_vowel |= now == 'a' && is_vowel(*q);
		if (++run_of > 6)
			return false;
		if (run_of >= 4 && has_vowel)
			in_words += run_of == 4 ? 4 : 1;
	}
	return upper && lower && digit && in_words * 3 <= n &&
	       pieces(p, end) * 4 > n &&
	       ab_content_entropy(p, n) >= (n < 16 ? 32 : 34) &&
	       !is_weak(p, end) && !has_sample(p, n) &&
	       !has_brackets(p, end) && !ab_content_has(p, n, "://");
}

/* Its signs look like a template's by chance: so no word is asked for. */
bool ab_content_is_shuffled(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);
	bool upper = false, lower = false, digit = false;

	for (const uint8_t *q = p; q < end; q++) {
		upper |= *q >= 'A' && *q <= 'Z';
		lower |= *q >= 'a' && *q <= 'z';
		digit |= *q >= '0' && *q <= '9';
	}
	return n >= 40 && n <= 128 && upper && lower && digit &&
	       ab_content_entropy(p, n) >= 40 && !has_words(p, end);
}
