/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is it a secret, or what documentation, tests and generators write in the
 * place of one? Samples are told by words, by repetition and by little
 * entropy; passwords that people choose by a list of those that protect
 * nothing. A right checksum is proof and ends the question.
 */
#include "config.h"

#include "base/digit.h"
#include "base/utf8.h"
#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

static uint8_t fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* Does p begin with it? n bytes may be looked at. */
static bool starts(const uint8_t *p, size_t n, const char *lower)
{
	for (; *lower; p++, lower++, n--) {
		if (!n || fold(*p) != (uint8_t)*lower)
			return false;
	}
	return true;
}

bool ab_content_has(const uint8_t *p, size_t n, const char *lower)
{
	for (; n; p++, n--) {
		if (starts(p, n, lower))
			return true;
	}
	return false;
}

static bool is_text(const uint8_t *p, size_t n, const char *lower)
{
	return starts(p, n, lower) && strlen(lower) == n;
}

/* log2(x) in 1/256, by squaring: no libm, no table. */
static uint32_t log2_of(uint32_t x)
{
	uint32_t whole = 31 - (uint32_t)__builtin_clz(x), out = whole << 8;
	uint64_t y = ((uint64_t)x << 31) >> whole; /* 1 <= y < 2, 31 bits */

	for (uint32_t bit = 128; bit; bit >>= 1) {
		y = y * y >> 31;
		if (y >> 32) {
			y >>= 1;
			out |= bit;
		}
	}
	return out;
}

unsigned ab_content_entropy(const uint8_t *p, size_t n)
{
	uint16_t count[256] = { 0 };
	uint64_t sum = 0;

	if (n > AB_CONTENT_AHEAD)
		n = AB_CONTENT_AHEAD;
	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		count[p[i]]++;
	for (size_t i = 0; i < 256; i++) {
		if (count[i])
			sum += (uint64_t)count[i] * log2_of(count[i]);
	}
	return (unsigned)((log2_of((uint32_t)n) - sum / n) * 10 / 256);
}

/* One byte again and again, or "xxxxx" anywhere. */
static bool repeats(const uint8_t *p, size_t n)
{
	uint16_t count[256] = { 0 }, most = 0;
	size_t run = 0;

	if (n > AB_CONTENT_AHEAD)
		n = AB_CONTENT_AHEAD;
	for (size_t i = 0; i < n; i++) {
		uint8_t c = fold(p[i]);

		if (++count[c] > most)
			most = count[c];
		run = i && c == fold(p[i - 1]) ? run + 1 : 1;
		if ((c == 'x' || c == '*') && run == 5)
			return true;
	}
	return most * 10u > n * 6;
}

/* A short word counts only where it is a word: "your-token", not "xYour". */
static bool has_word(const uint8_t *p, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++) {
		if ((i == 0 || p[i - 1] == '-' || p[i - 1] == '_') &&
		    is_text(p + i, len, word) &&
		    (i + len == n || p[i + len] == '-' || p[i + len] == '_'))
			return true;
	}
	return false;
}

/*
 * Forty characters of three kinds are key material, in which two letters look
 * like a word by chance.
 */
static bool is_material(const uint8_t *p, size_t n)
{
	bool upper = false, lower = false, digit = false;

	for (size_t i = 0; i < n; i++) {
		upper |= p[i] >= 'A' && p[i] <= 'Z';
		lower |= p[i] >= 'a' && p[i] <= 'z';
		digit |= p[i] >= '0' && p[i] <= '9';
	}
	return n >= 40 && upper && lower && digit;
}

static bool is_template(const uint8_t *p, size_t n)
{
	static const char *const marks[] = { "${", "{{", "%(", "$(", "#{",
					     "process.env", "os.environ",
					     "getenv", "****", "...", "%s" };
	const uint8_t *open = memchr(p, '<', n);

	if (open && memchr(open, '>', n - (size_t)(open - p)))
		return true;

	for (size_t i = 0; i < AB_ARRAY_LEN(marks); i++) {
		if (ab_content_has(p, n, marks[i]))
			return true;
	}
	return false;
}

bool ab_content_is_sample(const uint8_t *p, size_t n)
{
	static const char *const anywhere[] = { "example", "changeme",
						"redacted", "placeholder",
						"dummy", "replace" };
	static const char *const words[] = { "your", "test", "todo", "fake",
					     "sample", "secret", "token",
					     "here", "insert" };

	if (n > AB_CONTENT_AHEAD)
		n = AB_CONTENT_AHEAD;
	for (size_t i = 0; i < AB_ARRAY_LEN(anywhere); i++) {
		if (ab_content_has(p, n, anywhere[i]))
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (has_word(p, n, words[i]))
			return true;
	}
	if (has_word(p, n, "my") && !is_material(p, n))
		return true;
	return repeats(p, n) || is_template(p, n);
}

static const char *const weak_words[] = {
	"pass",	    "passwd",	"password", "pw",	"pwd",	   "secret",
	"s3cr3t",   "s3cret",	"admin",    "root",	"user",	   "username",
	"guest",    "test",	"testing",  "tester",	"postgres", "postgresql",
	"mysql",    "mariadb",	"redis",    "mongo",	"mongodb", "rabbitmq",
	"foo",	    "bar",	"baz",	    "foobar",	"qwerty",  "letmein",
	"demo",	    "dev",	"develop",  "local",	"abc",	   "docker",
	"welcome",  "token",	"key",	    "apikey",	"api_key", "login",
	"string",   "value",	"none",	    "null",	"true",	   "false",
	"p4ssw0rd", "p4ssword", "passw0rd", "p@ssw0rd", "p@ssword", "default",
	"toor",	    "sa",	"pass;word",
};

/* What in a chosen password says that it is none. */
static const char *const weak_parts[] = {
	"example", "changeme", "change_me", "change-me", "dummy", "redacted",
	"placeholder", "your", "todo", "xxxx", "insert", "replace", "sample",
};

static bool is_wordy(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t c = fold(p[i]);

		if (!(c >= 'a' && c <= 'z') && c != '_' && c != '-')
			return false;
	}
	return true;
}

/* NAME_OF_A_VARIABLE */
static bool is_name(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(p[i] >= 'A' && p[i] <= 'Z') && p[i] != '_')
			return false;
	}
	return true;
}

static bool is_plain(const uint8_t *p, size_t n)
{
	bool digits = true, small = true;

	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			digits = false;
		if (!(p[i] >= 'a' && p[i] <= 'z') && p[i] != '_' &&
		    p[i] != '-')
			small = false;
	}
	/* a number to count with, a word or two */
	return (digits && n < 9) || (small && n < 12);
}

/*
 * Pictures and bullets, and no letter: what documentation draws where a
 * password goes. A URL's own would be in percent escapes (RFC 3986, 2.1).
 */
static bool is_drawn(const uint8_t *p, size_t n)
{
	size_t len;

	for (; n; p += len, n -= len) {
		uint32_t c;

		len = ab_utf8_decode(p, n, &c);
		if (!len || !((c >= 0x2000 && c <= 0x2bff) ||
			      (c >= 0xfe00 && c <= 0xfe0f) ||
			      (c >= 0x1f000 && c <= 0x1faff)))
			return false;
	}
	return true;
}

/* "your", "Your", "YOUR": four letters as people write them; in any other
   mixture, and before what nobody writes behind them, they are there by
   chance. */
static bool has_part(const uint8_t *p, size_t n, const char *part)
{
	size_t len = strlen(part);

	for (; n >= len; p++, n--) {
		bool upper = false, lower = false;

		if (!starts(p, n, part))
			continue;
		for (size_t i = 1; i < len; i++) {
			upper |= p[i] >= 'A' && p[i] <= 'Z';
			lower |= p[i] >= 'a' && p[i] <= 'z';
		}
		lower |= n > len && p[len] >= 'a' && p[len] <= 'z';
		if (len > 4 || !upper || !lower)
			return true;
	}
	return false;
}

bool ab_content_is_weak(const uint8_t *p, size_t n)
{
	size_t stem;

	if (n > AB_CONTENT_AHEAD)
		n = AB_CONTENT_AHEAD;
	for (; n && (*p == '"' || *p == '\'' || *p == '\\' || *p == '#'); n--)
		p++;
	while (n && (p[n - 1] == '"' || p[n - 1] == '\''))
		n--;
	/* user1, pass1234: what counts is the word */
	for (stem = n; stem && n - stem < 4 && p[stem - 1] >= '0' &&
		       p[stem - 1] <= '9';)
		stem--;
	for (size_t i = 0; i < AB_ARRAY_LEN(weak_words); i++) {
		if (is_text(p, stem, weak_words[i]) ||
		    is_text(p, n, weak_words[i]))
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(weak_parts); i++) {
		if (has_part(p, n, weak_parts[i]))
			return true;
	}
	if (is_wordy(p, n) && (ab_content_has(p, n, "pass") ||
			       ab_content_has(p, n, "secret")))
		return true;
	if (n && (p[0] == '$' || p[0] == '{' || p[0] == '[' || p[0] == '@' ||
		  p[0] == '('))
		return true;
	return is_plain(p, n) || is_name(p, stem) || repeats(p, n) ||
	       is_template(p, n) || is_drawn(p, n);
}

/* Does the host end with these labels, or is it they? */
static bool ends_with(const uint8_t *host, size_t n, const char *labels)
{
	size_t len = strlen(labels);

	return n >= len && is_text(host + n - len, len, labels) &&
	       (n == len || host[n - len - 1] == '.');
}

/* ".com", ".co.uk": nobody has a name of his own in there. */
static bool is_public_suffix(const uint8_t *p, size_t n)
{
	const uint8_t *dot;

	if (n < 2 || *p != '.')
		return n == 0;
	dot = memchr(p + 1, '.', n - 1);
	return !dot || (dot - p <= 4 && p + n - dot == 3 && dot[1] != '.');
}

/* RFC 2606: example.com, db.example.org and x.example are nobody's, but not
   my-example.com and example.corp.io. */
static bool is_example(const uint8_t *host, size_t n)
{
	static const char label[] = "example";
	size_t len = sizeof(label) - 1;

	for (size_t i = 0; i + len <= n; i++) {
		if ((i == 0 || host[i - 1] == '.') &&
		    is_text(host + i, len, label) &&
		    is_public_suffix(host + i + len, n - i - len))
			return true;
	}
	return false;
}

bool ab_content_is_local(const uint8_t *host, size_t n)
{
	return ends_with(host, n, "localhost") ||
	       ends_with(host, n, "localhost.localdomain") ||
	       is_text(host, n, "[::1") || is_text(host, n, "::1") ||
	       (n >= 4 && memcmp(host, "127.", 4) == 0) ||
	       is_example(host, n);
}

/*
 * What compose files call services, and where tests and clusters live: both
 * what was made up for a minute and what is in use.
 */
static bool is_anybodys(const uint8_t *host, size_t n)
{
	static const char *const ends[] = { "local", "test", "invalid",
					    "localdomain",
					    "host.docker.internal" };
	static const char *const whole[] = {
		"0.0.0.0", "host",  "hostname",	 "server",   "database",
		"postgres", "postgresql", "pg",	 "mysql",    "mariadb",
		"redis",   "mongo", "mongodb",	 "rabbitmq", "rabbit",
		"amqp",	   "mq",    "queue",	 "broker",   "cache",
		"clickhouse", "cockroach", "mssql",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		if (ends_with(host, n, ends[i]))
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(whole); i++) {
		if (is_text(host, n, whole[i]))
			return true;
	}
	return false;
}

bool ab_content_excuses(const uint8_t *host, size_t n, const uint8_t *pass,
			const uint8_t *pass_end)
{
	return ab_content_is_local(host, n) || is_text(host, n, "db") ||
	       (is_anybodys(host, n) &&
		!ab_content_is_generated(pass, pass_end));
}

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

bool ab_content_checksum(const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz";
	uint32_t crc;

	if (n < 7)
		return false;
	crc = crc32_of(p, n - 6);
	for (size_t i = 0; i < 6; i++, crc /= 62) {
		if (p[n - 1 - i] != (uint8_t)digits[crc % 62])
			return false;
	}
	return true;
}

/* What documentation prints and everybody has, in small letters. */
static const char *const samples[] = {
	/* Azurite's account; Stripe's documentation; RFC 7617 section 2 and
	 * RFC 6749 sections 2.3.1, 4.1, 4.4.2 and 5.1 */
	"eby8vdm02xnocqflquwjpllmetlcdxj1ouzft50usrz6ifsufq2uvercz4i6tq/k1szfp"
	"totr/kbhbeksogmgw==",
	"4ec39hqlyjwdarjtt1zdp7dc",
	"qwxhzgrpbjpvcgvuihnlc2ftzq==",
	"czzcagrsa3f0mzpnwdfmqmf0m2jw",
	"2yotnfzfejr1zcsicmwpaa", "tgzv3jokf0xg5qx2tlkwia",
	"7fjfp0zbr1ktdrbnfvdmiw", "splxlobezqqybys6wxsbia",
	/* the MD5, SHA-1 and SHA-256 of nothing, and of "password" and "test" */
	"d41d8cd98f00b204e9800998ecf8427e",
	"da39a3ee5e6b4b0d3255bfef95601890afd80709",
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"5f4dcc3b5aa765d61d8327deb882cf99",
	"5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8",
	"5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
	"098f6bcd4621d373cade4e832627b4f6",
	"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
	"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	/* UUIDs of encyclopedias and of Swagger; kubeadm's manual */
	"550e8400-e29b-41d4-a716-446655440000",
	"123e4567-e89b-12d3-a456-426614174000",
	"123e4567-e89b-12d3-a456-426655440000",
	"3fa85f64-5717-4562-b3fc-2c963f66afa6",
	"abcdef.0123456789abcdef", "abcdef.1234567890abcdef",
	/* the manuals of GitHub's applications, of Django REST framework and of
	   Twitter's signatures */
	"e72e16c7e42f292c6912e7710c838347ae178b4a",
	"9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
	"kacsoqf21fu85e7zjz7zn2u4zrhfv3wpwpaoe3z7kbw",
	"lswwdouaivs8ltytt5jkrh4j50vupvvhtr2ypi5ke",
	/* Hardhat's and Anvil's first account */
	"ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
	"0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
	/* Laravel's factories, of "password" and "secret" */
	"$10$92ixunpkjo0roq5bymi.ye4okoea3ro9llc/.og/at2.uhewg/igi",
	"$10$tkh8h1.pfqx37ygczwikb.kjnywgahb9cbcoqgdivflyg7b77udfm",
	"jbswy3dpehpk3pxp", /* of one-time passwords, "Hello!" */
	/* the manuals of IAM, Salt, Spring MVC and Docker */
	"]35d/{pb9fo9wj", "3s0k_;xh4~8xxi", "h]6eszr}vj*m",
	"^76525bvhgq", "697adbdc8fe971d09ae4c2a3add7248859c87079",
	"3pu6hszjas19xyp7ghgosyx9k8atbfcr8p2is99znpy26u2lkl-"
	"1awxwuwd3z9j1z3puu7rcgdbx",
	"3pu6hszjas19xyp7ghgosyx9k8atbfcr8p2is99znpy26u2lkl-"
	"7p73s1dx5in4tatdymyhg9hu2",
	"49nj1cmql0jkz5s954yi3oex3nedyz0fb0xx14ie39trti4wxv-"
	"8vxv8rssmk743ojnwacrr2e7c",
	"3pu6hszjas19xyp7ghgosyx9k8atbfcr8p2is99znpy26u2lkl-"
	"b30ljddcqhef9b9v4rs7mel7t",
	"1h8aps2yszaiqmz2l3oc5392pgk8e49qhx2aj3nyv0ui0hez2a-"
	"6qmn92w6bu3jdvnglku58u11a",
	"1h8aps2yszaiqmz2l3oc5392pgk8e49qhx2aj3nyv0ui0hez2a-"
	"8llk83c4wm9lwioey2s316r9l",
	/* and of each of FlashBlade's modules for Ansible */
	"t-55a68eb5-c785-4720-a2ca-8b03903bf641",
	"t-9f276a18-50ab-446e-8a0c-666a3529a1b6",
	"t-68618f31-0c9e-4e57-aa44-5306a2cf10e3",
};

#define KIND_UPPER 1u
#define KIND_LOWER 2u
#define KIND_DIGIT 4u

static unsigned kinds(const uint8_t *p, size_t n)
{
	unsigned out = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] >= 'A' && p[i] <= 'Z')
			out |= KIND_UPPER;
		else if (p[i] >= 'a' && p[i] <= 'z')
			out |= KIND_LOWER;
		else if (p[i] >= '0' && p[i] <= '9')
			out |= KIND_DIGIT;
	}
	return out;
}

/* What a random one has for certain, or nearly. */
static bool has_kinds(uint32_t flags, const uint8_t *p, size_t n)
{
	unsigned k = kinds(p, n);

	if ((flags & AB_ROW_MIXED) && (k & (k - 1)) == 0)
		return false;
	if ((flags & AB_ROW_CASES) &&
	    (k & (KIND_UPPER | KIND_LOWER)) != (KIND_UPPER | KIND_LOWER))
		return false;
	return !(flags & AB_ROW_DIGIT) || (k & KIND_DIGIT);
}

/* "//x" of a comment and "+x" of a diff: not base64, though its letters. */
static bool is_mark(const ab_content_window *w, const uint8_t *end)
{
	const uint8_t *p = end - 1;

	while (p > w->lo && p[-1] == *p)
		p--;
	if (*p == '+')
		return ab_content_is_line(w, p);
	return end - p > 1 && (p == w->lo || !ab_content_class('B', p[-1]));
}

/* In the middle of base64 every short beginning occurs. */
static bool is_lonely(const ab_content_window *w, const ab_content_match *m)
{
	return !(m->first > w->lo &&
		 (m->first[-1] == '+' || m->first[-1] == '/') &&
		 !is_mark(w, m->first)) &&
	       !(m->end < w->hi && (*m->end == '+' || *m->end == '/'));
}

/*
 * Base64: long, of all three kinds, and they change again and again. A path
 * and a URL have words.
 */
static bool is_base64(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p), changes = 0;
	unsigned all = 0, last = 0;

	for (; p < end; p++) {
		unsigned now = kinds(p, 1);

		changes += now && now != last &&
			   !(last == KIND_UPPER && now == KIND_LOWER);
		all |= now;
		last = now;
	}
	return n >= 16 && changes * 4 > n &&
	       all == (KIND_UPPER | KIND_LOWER | KIND_DIGIT);
}

/* For one that is long enough, or rare: '+' and '/' end a word as any sign
   does, unless there is base64 beside it, in which they are letters. */
static bool is_apart(const ab_content_window *w, const ab_content_match *m)
{
	const uint8_t *front = m->first, *back = m->end;

	if (front > w->lo && (front[-1] == '+' || front[-1] == '/'))
		front = ab_content_back('B', w, front, 64);
	if (back < w->hi && (*back == '+' || *back == '/'))
		back = ab_content_run('B', back, w->hi, 64);
	return !is_base64(front, m->first) && !is_base64(m->end, back);
}

bool ab_content_value(const ab_content_row *row, const ab_content_window *w,
		      const ab_content_match *m)
{
	const uint8_t *p = m->value;
	size_t n = (size_t)(m->end - m->value);

	if (row->flags & AB_ROW_LITERAL)
		return true;
	if ((row->flags & AB_ROW_CHECKSUM) && ab_content_checksum(p, n))
		return true;
	if ((row->flags & AB_ROW_LONELY) && !is_lonely(w, m))
		return false;
	if ((row->flags & AB_ROW_APART) && !is_apart(w, m))
		return false;
	if (!has_kinds(row->flags, p, n))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(samples); i++) {
		if (is_text(p, n, samples[i]))
			return false;
	}
	if ((row->flags & AB_ROW_CHOSEN) && ab_content_is_weak(p, n))
		return false;
	return ab_content_entropy(p, n) >= row->entropy &&
	       !ab_content_is_sample(p, n);
}

size_t ab_content_decode(const uint8_t *p, size_t n, uint8_t *out,
			 size_t room)
{
	uint32_t bits = 0;
	size_t have = 0, len = 0;

	for (size_t i = 0; i < n && len < room; i++) {
		int v = ab_base64_digit((char)p[i]);

		if (v < 0)
			continue;
		bits = bits << 6 | (uint32_t)v;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[len++] = (uint8_t)(bits >> have);
		}
	}
	return len;
}
