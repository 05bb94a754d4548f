/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords that programs are configured with: what a generator made and
 * somebody assigned to a name, and the forms that one program alone has. A
 * value that a person could have made up for a test is none here: too many
 * sources have those. See content_made.c, content_login.c and content_value.c.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define back ab_content_back
#define until ab_content_until
#define is_one_of ab_content_is_one_of
#define whole_name ab_content_whole_name

/* How far a command's options may be from its name, and a URL's parameters
   from one another. */
#define LINE 350

/* What ends a value in programs and their settings. */
#define VALUE_ENDS "\"'`<>$(){}[]\\,;"

static bool is_weak(const uint8_t *p, const uint8_t *end)
{
	return ab_content_is_weak(p, (size_t)(end - p));
}

static const uint8_t *blanks(const uint8_t *p, const uint8_t *hi)
{
	return run('b', p, hi, 32);
}

static const uint8_t *assigned(const ab_content_window *w, const uint8_t *end,
			       uint8_t *quote)
{
	return ab_content_value_at(AB_WHERE_ASSIGNED, w, end, end, quote);
}

/* Before what marks a list's line, a comment, a quotation, or a change. */
static const uint8_t *before_marks(const ab_content_window *w,
				   const uint8_t *p)
{
	while (p > w->lo && is_one_of("-+#;/*>| \t[", p[-1]))
		p--;
	return p;
}

/*
 * Of a file of settings: the name is the first of its line, or a list's, or is
 * commented out. What else is there is a connection string, whose rule knows
 * local hosts.
 */
static bool is_setting(const ab_content_window *w, const uint8_t *name)
{
	static const char *const words[] = { "export", "set", "env", "arg" };
	const uint8_t *p = before_marks(w, name);

	for (size_t i = 0; p < name && i < AB_ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(p - w->lo) >= n &&
		    ab_content_at(w, p - n, words[i], true)) {
			p = before_marks(w, p - n);
			break;
		}
	}
	return ab_content_begins_line(w, p);
}

/* Behind the name of the same machine, whose passwords protect little. */
static bool is_behind_local(const ab_content_window *w, const uint8_t *p)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1",
					     "(local" };
	const uint8_t *lo = p - w->lo > LINE ? p - LINE : w->lo;
	const uint8_t *line = memrchr(lo, '\n', (size_t)(p - lo));

	lo = line ? line : lo;
	for (size_t i = 0; i < AB_ARRAY_LEN(hosts); i++) {
		if (ab_content_has(lo, (size_t)(p - lo), hosts[i]))
			return true;
	}
	return false;
}

/*
 * A variable of the environment before a command, of an inventory's host, or
 * a property of Java's: what is behind the value is something else.
 */
static bool is_word(const ab_content_window *w, const uint8_t *name,
		    const ab_content_match *m)
{
	const uint8_t *p = name;

	if (ab_content_at(w, name, "ansible_", false))
		return true;
	if (p < w->at && p[0] == '-' && p[1] == 'D')
		return true;
	/* username=v,password=v of mount(8) */
	if (m->value[-1] == '=' && p > w->lo && p[-1] == ',' &&
	    m->end < w->hi && *m->end == ',' &&
	    ab_content_has(p - w->lo > 64 ? p - 64 : w->lo,
			   p - w->lo > 64 ? 64 : (size_t)(p - w->lo), "user"))
		return true;
	/* "NAME=v" is a word of a list of arguments, or what an option or a
	   unit of systemd sets */
	if (m->value[-1] != '=' ||
	    (p > w->lo && p[-1] > ' ' && p[-1] < 0x80 && p[-1] != '=' &&
	     !ab_content_class('Q', p[-1])))
		return false;
	while (p < m->value - 1 && (ab_content_class('U', *p) || *p == '_'))
		p++;
	if (p == m->value - 1)
		return true;
	/* in a log or a list of pairs */
	return name > w->lo && ab_content_class('b', name[-1]) &&
	       !is_behind_local(w, name);
}

/* Nothing else in its line but a comment. */
static bool ends_line(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *end = blanks(p, hi);

	if (end == hi || *end == '\n' || *end == '\r')
		return true;
	/* of an ini file; that of a statement has nothing behind it */
	return end > p && (*end == '#' || (*end == ';' && hi - end > 1 &&
					    ab_content_class('b', end[1])));
}

/* In a comment is what documents a program; a sample there is shorter. */
static bool is_in_comment(const ab_content_window *w, const uint8_t *p)
{
	static const char *const marks[] = { "#", "//", "*", "/*" };
	const uint8_t *lo = p - w->lo > LINE ? p - LINE : w->lo;
	const uint8_t *line = memrchr(lo, '\n', (size_t)(p - lo));

	line = blanks(line ? line + 1 : lo, p);
	for (size_t i = 0; i < AB_ARRAY_LEN(marks); i++) {
		if (ab_content_at(w, line, marks[i], false))
			return !ab_content_at(w, line, "#define", false);
	}
	return false;
}

/* In a comment that documents what is below it, by its line's first byte. */
static bool is_in_manual(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *lo = p - w->lo > LINE ? p - LINE : w->lo;
	const uint8_t *line = memrchr(lo, '\n', (size_t)(p - lo));

	return line && ab_content_at(w, blanks(line + 1, p), "*", false);
}

/*
 * Twenty small letters and digits, of which a digest has but six letters. A
 * long one has digits all over, so that no word is asked for.
 */
static bool is_long(const ab_content_match *m)
{
	const uint8_t *p = m->value, *end = m->end;
	size_t n = (size_t)(end - p), digits = 0, others = 0;

	for (const uint8_t *q = p; q < end; q++) {
		if (!ab_content_class('l', *q))
			return false;
		digits += ab_content_class('d', *q);
		others += !ab_content_class('h', *q);
	}
	if (n < 20 || n > 64 || others * 5 < n || ab_content_counts(p, n))
		return false;
	return ab_content_is_generated(p, end) ||
	       (n >= 32 && digits * 6 >= n && ab_content_entropy(p, n) >= 38);
}

/* Where a key or a password is kept: ./certs/Server2/key-1.pem */
static bool is_file(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);

	return memchr(p, '/', n) && ab_content_names_file(p, n);
}

/* What openssl-rand(1) prints of 64 bytes, which signs a session's tokens; what
   is encrypted is longer. */
static bool is_material(const ab_content_match *m)
{
	size_t n = (size_t)(m->end - m->value);

	return n >= 86 && n <= 88 && run('E', m->value, m->end, n) == m->end &&
	       ab_content_is_shuffled(m->value, m->end);
}

static bool is_real(const ab_content_window *w, const ab_content_match *m)
{
	return !is_file(m->value, m->end) &&
	       (ab_content_is_made(m->value, m->end) || is_long(m) ||
		is_material(m)) &&
	       (m->end - m->value >= 16 || !is_in_comment(w, w->at));
}

typedef bool value_check(const ab_content_window *w, const ab_content_match *m);

/* "NAME=v" or "name: v", a whole string, or "NAME=v&...", a form. */
static bool is_string(const ab_content_window *w, const uint8_t *name,
		      ab_content_match *m)
{
	const uint8_t *next;

	if (!is_one_of("= ", m->value[-1]) || name == w->lo ||
	    !ab_content_class('Q', name[-1]) || is_behind_local(w, name))
		return false;
	next = memchr(m->value, '&', (size_t)(m->end - m->value));
	if (next && memchr(next, '=', (size_t)(m->end - next))) {
		m->end = next;
		return true;
	}
	return m->end < w->hi && *m->end == name[-1];
}

/* "{name: v, ...}" of YAML; in a program v is a variable's name. */
static bool is_flow(const ab_content_window *w, const uint8_t *name,
		    const ab_content_match *m)
{
	const uint8_t *p = back('b', w, name, 32);

	return (w->kind & AB_CONTENT_SETTINGS) &&
	       !(w->kind & AB_CONTENT_TESTS) && m->value[-1] == ' ' &&
	       p > w->lo && is_one_of("{,", p[-1]) && m->end < w->hi &&
	       is_one_of(",}", *m->end);
}

/* What is there, up to what ends it; the name before or behind it is one. */
static bool is_value(const ab_content_window *w, const uint8_t *name,
		     enum ab_content_where where, uint8_t quote,
		     ab_content_match *m)
{
	const uint8_t *p = m->value;

	if (where == AB_WHERE_ASSIGNED && name > w->lo &&
	    is_one_of("?&;#", name[-1]))
		return ab_content_parameter(w, name, m);
	/* 64 bytes in hexadecimal, and one more is none of them */
	m->end = until(p, w->hi, VALUE_ENDS, 129);
	if (quote == '|') {
		const uint8_t *end = blanks(m->end, w->hi);

		return end < w->hi && *end == '|';
	}
	if (quote)
		return m->end < w->hi && *m->end == quote;
	if (is_string(w, name, m))
		return true;
	if (is_word(w, name, m))
		return m->end == w->hi || *m->end <= ' ' || *m->end == ',' ||
		       ab_content_class('q', *m->end) ||
		       (*m->end == ';' && !is_behind_local(w, name));
	if (is_flow(w, name, m))
		return true;
	if (where == AB_WHERE_NEXT_WORD && m->end < w->hi && *m->end == ';')
		return ends_line(m->end + 1, w->hi);
	return ends_line(m->end, w->hi) &&
	       (where != AB_WHERE_ASSIGNED || is_setting(w, name));
}

/* A cell has an end of its own, so that any sign may be of the value. */
static bool is_cell(const ab_content_window *data, const ab_content_match *m,
		    value_check *check)
{
	if (until(m->value, m->end, VALUE_ENDS, 129) == m->end)
		return check(data, m);
	return until(m->value, m->end, "\"'\\`", 65) == m->end &&
	       ab_content_is_mixed(m->value, m->end);
}

/* The name heads a column of values; what is there is data, as settings are. */
static bool is_in_table(const ab_content_window *w, const uint8_t *name,
			ab_content_match *m, value_check *check)
{
	ab_content_window data = *w;
	ab_content_column column;
	ab_content_match at = *m;

	if (!ab_content_find_column(w, name, m->end, &column))
		return false;
	data.kind |= AB_CONTENT_SETTINGS;
	while (ab_content_next_cell(w, &column, &at)) {
		if (is_cell(&data, &at, check)) {
			*m = at;
			return true;
		}
	}
	return false;
}

/* name: ... of such a value; the anchor is the end of the name. */
static bool is_assigned_as(const ab_content_window *w, ab_content_match *m,
			   value_check *check)
{
	const uint8_t *name = whole_name(w);
	bool is_java = name < w->at && name[0] == '-' && name[1] == 'D';
	bool is_option = !is_java && name < w->at && *name == '-';

	/* of a list of them: "tokens" */
	if (m->end < w->hi && is_one_of("sS", *m->end))
		m->end++;
	for (int i = 0; i < AB_WHERE_COUNT; i++) {
		enum ab_content_where where = (enum ab_content_where)i;
		ab_content_match at = *m;
		uint8_t quote = 0;

		/* an option, which manuals show: ab_verify_command() knows
		   whose; what declares one has its value, and so has a list of
		   arguments */
		if (is_option && where != AB_WHERE_ALTERNATIVE &&
		    !(where == AB_WHERE_ASSIGNED && m->end + 1 < w->hi &&
		      ab_content_class('Q', *m->end) && m->end[1] == ','))
			continue;
		at.value = ab_content_value_at(where, w, name, m->end, &quote);
		if (at.value && is_value(w, name, where, quote, &at) &&
		    check(w, &at)) {
			*m = at;
			return true;
		}
	}
	return !is_option && is_in_table(w, name, m, check);
}

static bool is_assigned(const ab_content_window *w, ab_content_match *m)
{
	return is_assigned_as(w, m, is_real);
}

/* "password": "...", of what is_assigned() takes for a program's. */
static bool is_signed(const ab_content_window *w, ab_content_match *m)
{
	uint8_t quote = 0;
	const uint8_t *name = whole_name(w);
	const uint8_t *p = ab_content_value_at(AB_WHERE_LISTED, w, name,
					       m->end, &quote);

	if (!p)
		p = assigned(w, m->end, &quote);
	if (!p)
		p = ab_content_value_at(AB_WHERE_ALTERNATIVE, w, name, m->end,
					&quote);
	if (!p || (name < w->at && *name == '-'))
		return false;
	m->value = p;
	if (quote == ']') {
		m->end = memchr(p, ']', (size_t)(w->hi - p));
		if (!m->end || !ab_content_at(w, m->end, "]]>", false))
			return false;
	} else if (quote == '`') {
		return false; /* a template has signs of its own */
	} else if (quote) {
		m->end = until(p, w->hi, quote == '"' ? "\"\\" : "'\\", 65);
		if (m->end == w->hi || *m->end != quote)
			return false;
	} else {
		m->end = until(p, w->hi, "\"'\\`", 65);
		if (!(is_word(w, name, m) || (ends_line(m->end, w->hi) &&
					      is_setting(w, name))) ||
		    is_one_of(";,)]}({[", m->end[-1]))
			return false;
	}
	return ab_content_is_mixed(p, m->end) &&
	       (m->end - p >= 16 || !is_in_comment(w, w->at));
}

/* What a generator made, or digits where those are a secret. */
static bool is_given(const ab_content_window *w, const ab_content_match *m)
{
	return is_real(w, m) || ab_content_is_digits(w, m);
}

static bool is_password(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *end = m->end;

	if (is_assigned_as(w, m, is_given))
		return true;
	m->end = end;
	return is_signed(w, m);
}

/*
 * Shorter ones are what manuals of services show; with signs, which those do
 * not have, sixteen are what somebody let a generator make.
 */
static bool is_full(const ab_content_match *m)
{
	size_t n = (size_t)(m->end - m->value);

	if (n >= 20 || n < 16)
		return n >= 20;
	for (const uint8_t *p = m->value; p < m->end; p++) {
		if (is_one_of("!#%&*+=?@^|~", *p))
			return true;
	}
	return false;
}

/* password: ..., and how else its name ends */
bool ab_verify_assign(const ab_content_window *w, ab_content_match *m)
{
	return is_password(w, m);
}

/* The anchor has the byte behind the name. */
bool ab_verify_assign_short(const ab_content_window *w, ab_content_match *m)
{
	m->end--;
	/* "bypass" is none */
	return !ab_content_at(w, w->at - 2, "by", true) && is_password(w, m);
}

/* client_secret: ..., secretKey: ... */
bool ab_verify_secret(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end;

	/* Hadoop's of S3 has a rule of its own */
	if (p < w->hi && is_one_of("_-.", *p) &&
	    !ab_content_at(w, w->at - 4, "s3a.", false))
		p++;
	if (ab_content_at(w, p, "key", true))
		m->end = p + 3;
	return is_assigned_as(w, m, is_given) && is_full(m);
}

/*
 * SECRET_KEY = '...' of Django: fifty small letters, digits and signs. What
 * begins with its mark of a new project says itself that it is none.
 */
bool ab_verify_signing_key(const ab_content_window *w, ab_content_match *m)
{
	uint8_t quote = 0;
	const uint8_t *p = assigned(w, m->end, &quote);
	size_t n, digits = 0, signs = 0;

	if (!p || !ab_content_class('Q', quote) ||
	    ab_content_at(w, p, "django-insecure", false))
		return false;
	m->value = p;
	for (; p < w->hi && *p != quote && ab_content_class('p', *p); p++) {
		digits += ab_content_class('d', *p);
		signs += !ab_content_class('A', *p);
	}
	m->end = p;
	n = (size_t)(p - m->value);
	return p < w->hi && *p == quote && n >= 40 && n <= 64 &&
	       digits * 12 >= n && signs * 8 >= n && signs * 2 < n;
}

/*
 * The key of a search that runs in everybody's browser, in a page that has it:
 * the service names it public, and beside it are its two other words.
 */
static bool is_public(const ab_content_window *w, const ab_content_match *m)
{
	static const char *const words[] = { "indexname", "algolia",
					     "docsearch" };
	const uint8_t *lo = w->at - w->lo > LINE ? w->at - LINE : w->lo;
	const uint8_t *hi = w->hi - m->end > LINE ? m->end + LINE : w->hi;

	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (ab_content_has(lo, (size_t)(hi - lo), words[i]))
			return true;
	}
	return false;
}

/*
 * What a service has handed out: letters and digits in no order, or
 * hexadecimal ones; nobody thinks of such a thing. Shorter ones are samples.
 */
static bool is_issued(const ab_content_window *w, const ab_content_match *m)
{
	size_t n = (size_t)(m->end - m->value);

	if (ab_content_is_uuid(m->value, m->end))
		return is_given(w, m);
	if (run('H', m->value, m->end, n) != m->end)
		return is_full(m) && !is_file(m->value, m->end) &&
		       (ab_content_is_made(m->value, m->end) || is_long(m));
	return n >= 32 && !(n & 7) && !ab_content_counts(m->value, n) &&
	       !is_public(w, m);
}

/* sk- and 48 letters and digits; in OpenAI's is a mark, and it has a rule. */
bool ab_verify_model_key(const ab_content_window *w, ab_content_match *m)
{
	m->value = w->at + strlen("sk-");
	m->end = run('A', m->value, w->hi, 49);
	return m->end - m->value == 48 && ab_content_ends(w, m->end) &&
	       !ab_content_has(m->value, 48, "t3blbkfj");
}

/*
 * What services have in pages that everybody reads: Mapbox, Stripe, Supabase,
 * PostHog.
 */
static bool is_published(const uint8_t *p, const uint8_t *end)
{
	static const char *const fronts[] = { "pk.eyj", "pk_live_", "pk_test_",
					      "sb_publishable_", "phc_" };

	for (size_t i = 0; i < AB_ARRAY_LEN(fronts); i++) {
		size_t n = strlen(fronts[i]);

		if ((size_t)(end - p) > n && ab_content_has(p, n, fronts[i]))
			return true;
	}
	return false;
}

/* api_key: ... */
bool ab_verify_api_key(const ab_content_window *w, ab_content_match *m)
{
	return is_assigned_as(w, m, is_issued) &&
	       !is_published(m->value, m->end);
}

/*
 * access_token: ..., encryption_key: ..., of which hexadecimal ones are nonces
 * as well; what has a colon is the name of a resource.
 */
bool ab_verify_token(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *name_end = m->end;

	return is_assigned_as(w, m, is_given) && is_full(m) &&
	       !memchr(m->value, ':', (size_t)(m->end - m->value)) &&
	       !is_published(m->value, m->end) &&
	       (ab_content_opens(whole_name(w), name_end) ||
		!ab_content_is_address(m->value, m->end));
}

/* A name of its own: of what pages and cancels there are tokens too. */
bool ab_verify_token_word(const ab_content_window *w, ab_content_match *m)
{
	return ab_content_begins(w, w->at) && ab_verify_token(w, m);
}

/* The same; the anchor has the byte behind the name. */
bool ab_verify_token_short(const ab_content_window *w, ab_content_match *m)
{
	m->end--;
	return ab_verify_token_word(w, m);
}

/*
 * KEY=..., SIGNING_AND_SO_ON_KEY: ..., the name in capitals: key material. One
 * that its name calls public is none, and neither is SSH's of a host.
 */
bool ab_verify_key_word(const ab_content_window *w, ab_content_match *m)
{
	static const char *const open[] = { "pub", "site", "gpg", "host" };
	const uint8_t *name = whole_name(w);

	m->end--;
	for (const uint8_t *p = name; p < m->end; p++) {
		if (!ab_content_class('U', *p) && *p != '_')
			return false;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(open); i++) {
		if (ab_content_has(name, (size_t)(m->end - name), open[i]))
			return false;
	}
	return is_assigned(w, m) && m->end - m->value >= 32 &&
	       run('E', m->value, m->end, 64) == m->end &&
	       !ab_content_at(w, m->value, "AAAA", false);
}

/*
 * NAME_TOKEN=..., the name in capitals from its first letter: hexadecimal
 * ones and UUIDs of such names are no nonces.
 */
bool ab_verify_environment(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *name = whole_name(w);

	if (name < m->end && *name == '-') /* -e of a command */
		return false;
	/* another word than TOKEN ends with it */
	if (*w->at == 'T' && w->at > name && w->at[-1] != '_')
		return false;
	for (const uint8_t *p = name; p < m->end; p++) {
		if (!ab_content_class('U', *p) && *p != '_')
			return false;
	}
	return is_assigned_as(w, m, ab_content_is_key_or_uuid);
}

/*
 * define('AUTH_KEY', '...'), or a line of settings: what WordPress signs
 * sessions with, 64 bytes of any kind. The anchor has the name's quote or '='.
 */
bool ab_verify_salt(const ab_content_window *w, ab_content_match *m)
{
	uint8_t quote = 0;
	const uint8_t *p = assigned(w, m->end - 1, &quote);

	if (!p || !ab_content_class('Q', quote) || is_in_manual(w, w->at))
		return false;
	m->value = p;
	while (p < w->hi && *p != quote && *p >= ' ' && *p < 0x7f)
		p++;
	m->end = p;
	return p < w->hi && *p == quote && ab_content_is_shuffled(m->value, p);
}

/* user:password@tcp(host:port)/ of Go's driver of MySQL */
bool ab_verify_go_dsn(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at, *host = m->end;

	while (p > w->lo && w->at - p < 128 && p[-1] > ' ' &&
	       !is_one_of("\"'`<>:@/{}", p[-1]))
		p--;
	if (p == w->lo || p[-1] != ':' || w->at - p < 4)
		return false;
	m->value = p;
	m->first = back('.', w, p - 1, 64);
	m->end = w->at;
	return m->first < p - 1 &&
	       ab_content_is_far(host, run('.', host, w->hi, 255), m->value,
				 m->end);
}

/* bindpw of ldap.conf(5) and of who has copied that */
bool ab_verify_bindpw(const ab_content_window *w, ab_content_match *m)
{
	if (!ab_content_begins_line(w, w->at))
		return false;
	m->value = blanks(m->end, w->hi);
	m->end = until(m->value, w->hi, "\"'$<{", 256);
	return m->end - m->value >= 4 && !is_weak(m->value, m->end);
}

/* host:5432:database:user:password, a line */
bool ab_verify_pgpass(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *host = back('.', w, w->at, 255), *p = m->end;
	/* a string that a command writes, a comment, a list */
	bool is_quoted = host > w->lo && is_one_of("\"'`", host[-1]);
	bool is_line = ab_content_begins_line(w, host);

	if (host == w->at ||
	    !(is_line || is_quoted || ab_content_begins_item(w, host)))
		return false;
	for (int i = 0; i < 2; i++) {
		const uint8_t *end = until(p, w->hi, ":", 64);

		if (end == p || end == w->hi || *end != ':')
			return false;
		p = end + 1;
	}
	m->first = host;
	m->value = p;
	m->end = until(p, w->hi, is_quoted ? "\"'`\\" : "", 256);
	return m->end - p >= 4 &&
	       (is_line || ab_content_is_generated(p, m->end)) &&
	       ab_content_is_far(host, w->at, p, m->end);
}

/* "auth": "base64 of user:password", as registries have it */
bool ab_verify_docker_auth(const ab_content_window *w, ab_content_match *m)
{
	uint8_t plain[256], quote = 0;
	const uint8_t *p = assigned(w, m->end - 1, &quote), *colon;
	size_t n;

	if (!p || quote != '"')
		return false;
	m->value = p;
	m->end = run('E', p, w->hi, 340);
	if (m->end - p < 8 || m->end == w->hi || *m->end != '"')
		return false;
	n = ab_content_decode(p, (size_t)(m->end - p), plain, sizeof(plain));
	for (size_t i = 0; i < n; i++) {
		if (plain[i] <= ' ' || plain[i] > '~')
			return false;
	}
	colon = memchr(plain, ':', n);
	return colon && colon > plain && !is_weak(colon + 1, plain + n);
}

/* sig=... of a shared access signature: base64 of 32 bytes, in a URL. */
bool ab_verify_azure_sas(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *lo = w->at - w->lo > LINE ? w->at - LINE : w->lo, *p;
	const uint8_t *hi;

	if (w->at == w->lo || !is_one_of("?&;", w->at[-1]))
		return false;
	m->value = m->end;
	for (p = m->value; p < w->hi && (ab_content_class('E', *p) ||
					 *p == '%');)
		p++;
	m->end = p;
	if (p - m->value < 44 || p - m->value > 90 ||
	    !(p[-1] == '=' || ab_content_at(w, p - 3, "%3d", true)))
		return false;
	hi = w->hi - p > LINE ? p + LINE : w->hi;
	return ab_content_has(lo, (size_t)(w->at - lo), "sv=20") ||
	       ab_content_has(p, (size_t)(hi - p), "sv=20");
}
