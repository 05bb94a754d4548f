/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords and keys that are known by the words around them: URLs, headers,
 * connection strings, command lines. People choose them, so what
 * documentation and tests write in their place has to be told apart: see
 * content_value.c.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define back ab_content_back
#define until ab_content_until
#define is_one_of ab_content_is_one_of

/* White space between two words, at most. */
#define SPACE 32

static bool is_weak(const uint8_t *p, const uint8_t *end)
{
	return ab_content_is_weak(p, (size_t)(end - p));
}

const uint8_t *ab_content_until(const uint8_t *p, const uint8_t *hi,
				const char *set, size_t max)
{
	for (; max && p < hi && *p > ' ' && !is_one_of(set, *p); max--)
		p++;
	return p;
}

/* What stands between a name and its value, in most languages. */
static const uint8_t *separators(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *from = p;

	while (p < hi && p - from < SPACE &&
	       (ab_content_class('q', *p) || ab_content_class('s', *p) ||
		is_one_of("=:,>`[]()", *p)))
		p++;
	return p;
}

/*
 * The value: behind at most five bytes and '=' or ':', or separators alone,
 * or, as lists of pairs have it, the word "value" between them.
 */
static const uint8_t *behind_name(const ab_content_window *w,
				  const uint8_t *p)
{
	const uint8_t *q = ab_content_next_element(w, p);

	if (q)
		return q;
	q = p;
	while (q < w->hi && q - p < 5 && *q != '=' && *q != ':' && *q != '\n')
		q++;
	if (q == w->hi || (*q != '=' && *q != ':'))
		q = p;
	q = separators(q, w->hi);
	if (q > p && ab_content_at(w, q, "value", true))
		q = separators(q + 5, w->hi);
	return q > p ? q : NULL;
}

/*
 * aws_secret_access_key = "...", SecretAccessKey: ... The anchor is the
 * name's beginning; "key" ends it.
 */
bool ab_verify_aws_secret(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at, *q;
	bool is_key = false;

	/* a property's name has dots */
	while (p < w->hi && p - w->at < 40 &&
	       (ab_content_class('W', *p) || *p == '.'))
		p++;

	/* "key", and at most five more */
	for (q = p; !is_key && q - w->at >= 3 && p - q <= 5; q--)
		is_key = ab_content_at(w, q - 3, "key", true);
	if (!is_key)
		return false;
	q = behind_name(w, p);
	if (!q)
		return false;
	m->value = q;
	m->end = run('B', q, w->hi, 41);
	return m->end - q == 40 && ab_content_ends(w, m->end) &&
	       !(m->end < w->hi && *m->end == '=');
}

typedef struct login {
	const uint8_t *user, *pass, *host, *end;
} login;

/* user:pass@host behind an anchor "://" or ":\\/\\/", and its first byte. */
static bool url_login(const ab_content_window *w, const ab_content_match *m,
		      const char *not_in, size_t max, login *l)
{
	const uint8_t *p = m->end - 1;

	l->user = p;
	/* most URLs have none; what each not_in has ends this sooner */
	while (p < w->hi && *p > ' ' && *p != '@' && *p != '/' && *p != '"')
		p++;
	if (p == w->hi || *p != '@')
		return false;
	p = l->user;
	p = until(p, w->hi, not_in, 65);
	if (p == w->hi || *p != ':' || p - l->user > 64)
		return false;
	l->pass = ++p;
	p = until(p, w->hi, not_in, max + 1);
	if (p == w->hi || *p != '@' || p - l->pass < 3)
		return false;
	l->host = ++p;
	/* an address of IPv6 */
	l->end = p < w->hi && *p == '[' ? until(p, w->hi, "]", 48) :
					  run('.', p, w->hi, 255);
	return l->end > l->host;
}

/* The one of `names` that ends there, or NULL. */
static const uint8_t *scheme_before(const ab_content_window *w,
				    const uint8_t *end,
				    const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *p = end - strlen(names[i]);

		if (ab_content_at(w, p, names[i], true) &&
		    ab_content_begins(w, p))
			return p;
	}
	return NULL;
}

/* Where the scheme begins; "mysql+pymysql" says the driver too. */
static const uint8_t *scheme(const ab_content_window *w, const uint8_t *end,
			     const char *const *names, size_t count)
{
	const uint8_t *p = scheme_before(w, end, names, count);
	const uint8_t *driver = back('l', w, end, 16);

	return p || driver == w->lo || driver[-1] != '+' ?
		       p :
		       scheme_before(w, driver - 1, names, count);
}

static bool is_strong(const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);

	return n >= 12 && ab_content_entropy(p, n) >= 30 &&
	       run('z', p, end, n) != end && run('U', p, end, n) != end;
}

bool ab_verify_url_git(const ab_content_window *w, ab_content_match *m)
{
	static const char *const schemes[] = { "http", "https" };
	static const char *const hosts[] = { "github", "gitlab", "bitbucket",
					     "dev.azure" };
	login l;

	m->first = scheme(w, w->at, schemes, AB_ARRAY_LEN(schemes));
	if (!m->first || !url_login(w, m, "/:@\"'<>`", 256, &l))
		return false;
	m->value = l.pass;
	m->end = l.host - 1;
	/* GitHub's word for "the user is the token" */
	if (m->end - l.pass == 13 &&
	    ab_content_at(w, l.pass, "x-oauth-basic", false)) {
		m->value = l.user;
		m->end = l.pass - 1;
	}
	if (is_weak(m->value, m->end))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(hosts); i++) {
		if (ab_content_at(w, l.host, hosts[i], false) &&
		    ab_content_ends(w, l.host + strlen(hosts[i])))
			return true;
	}
	return false;
}

/*
 * Any host: a file that says where packages come from is for nothing else,
 * and in any file a password that nobody made up for a test.
 */
bool ab_verify_url_any(const ab_content_window *w, ab_content_match *m)
{
	static const char *const schemes[] = { "http", "https" };
	login l;

	m->first = scheme(w, w->at, schemes, AB_ARRAY_LEN(schemes));
	if (!m->first || !url_login(w, m, "/:@\"'<>`{}$", 256, &l))
		return false;
	m->value = l.pass;
	m->end = l.host - 1;
	if (!(w->kind & (AB_CONTENT_LOCK_FILE | AB_CONTENT_NPMRC |
			 AB_CONTENT_INDEX_FILE)) &&
	    (m->end - m->value < 12 ||
	     !(ab_content_is_made(m->value, m->end) ||
	       (l.pass - l.user != 33 && /* Sentry's has a rule */
		ab_content_is_generated(m->value, m->end)))))
		return false;
	return !is_weak(m->value, m->end) &&
	       !ab_content_excuses(l.host, (size_t)(l.end - l.host), m->value,
				   m->end);
}

bool ab_content_is_far(const uint8_t *host, const uint8_t *host_end,
		       const uint8_t *pass, const uint8_t *pass_end)
{
	size_t n = (size_t)(host_end - host);

	if (n == 0 || is_weak(pass, pass_end) ||
	    ab_content_excuses(host, n, pass, pass_end))
		return false;
	/* in a compose file a service has one label; so has an intranet's
	 * host, but that password is not made up in passing */
	return memchr(host, '.', n) || memchr(host, ':', n) ||
	       is_strong(pass, pass_end);
}

const uint8_t *ab_content_database(const ab_content_window *w,
				   const uint8_t *end)
{
	static const char *const schemes[] = {
		"postgres", "postgresql", "mysql",	"mariadb", "mongodb",
		"redis",    "rediss",	  "amqp",	"amqps",   "mssql",
		"clickhouse", "cockroachdb", "mongodb+srv", "mysql2",
		"postgis",  "sqlserver", "snowflake",	"redshift", "oracle",
		"smtp",	    "smtps",	  "ldap",	"ldaps",    "ftp",
		"ftps",	    "sftp",	  "mqtt",	"mqtts",    "nats",
		"imap",	    "imaps",	  "neo4j",	"bolt",
	};

	return scheme(w, end, schemes, AB_ARRAY_LEN(schemes));
}

bool ab_verify_url_db(const ab_content_window *w, ab_content_match *m)
{
	login l;

	m->first = ab_content_database(w, w->at);
	if (!m->first || !url_login(w, m, "/:@\"'<>`{}$", 128, &l))
		return false;
	m->value = l.pass;
	m->end = l.host - 1;
	return ab_content_is_far(l.host, l.end, m->value, m->end);
}

/* "dbname=" or "user=" that ends at p: what libpq has beside a host. */
static bool is_pair_name(const ab_content_window *w, const uint8_t *p)
{
	static const char *const names[] = { "dbname=", "user=" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const uint8_t *q = p - strlen(names[i]);

		if (ab_content_at(w, q, names[i], true) &&
		    (q == w->lo || q[-1] <= ' ' || q[-1] >= 0x80 ||
		     ab_content_class('q', q[-1])))
			return true;
	}
	return false;
}

/* The end of its line, or of what may belong to it. */
static const uint8_t *line_end(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *hi = w->hi - p > 350 ? p + 350 : w->hi;
	const uint8_t *end = memchr(p, '\n', (size_t)(hi - p));

	return end ? end : hi;
}

/* One of them behind the value, in its line. */
static bool has_pair_behind(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *hi = line_end(w, p);

	for (; (p = memchr(p, '=', (size_t)(hi - p))); p++) {
		if (is_pair_name(w, p + 1))
			return true;
	}
	return false;
}

/* The name of a server that ends there, in a list with ';'. */
static const uint8_t *server_name(const ab_content_window *w, const uint8_t *p)
{
	static const char *const names[] = { "server=", "data source=",
					     "host=" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const uint8_t *q = p - strlen(names[i]);

		if (ab_content_at(w, q, names[i], true) &&
		    ab_content_begins(w, q))
			return q;
	}
	return NULL;
}

/*
 * The server behind the value, which a ';' ends, or white space in a list of
 * pairs. A comma does not: those are the arguments of a call.
 */
static const uint8_t *server_behind(const ab_content_window *w,
				    const uint8_t *end, bool is_pairs)
{
	const uint8_t *hi = line_end(w, end), *p = end, *host = NULL;
	bool is_list = end < hi && *end == ';';

	if (end == hi || (!is_list && *end != ' ' && *end != '\t') ||
	    end[-1] == ',')
		return NULL;
	for (; (p = memchr(p, '=', (size_t)(hi - p))); p++) {
		const uint8_t *name = is_list ? server_name(w, p + 1) : NULL;

		if (name)
			return name;
		if (!host && ab_content_at(w, p - 4, "host=", true) &&
		    ab_content_begins(w, p - 4))
			host = p - 4;
		is_pairs = is_pairs || is_pair_name(w, p + 1);
	}
	return is_pairs && !is_list ? host : NULL;
}

/*
 * "server=" or "data source=" before the anchor, in its line; "host=" with a
 * ';' behind it, or of a list of pairs; lists have any order.
 */
static const uint8_t *server_of(const ab_content_window *w, const uint8_t *end)
{
	const uint8_t *lo = w->at - w->lo > 350 ? w->at - 350 : w->lo;
	const uint8_t *p, *last, *host = NULL;
	bool is_pairs = false;

	if (w->marks[AB_MARK_ADO] > lo)
		lo = w->marks[AB_MARK_ADO];
	p = memrchr(lo, '\n', (size_t)(w->at - lo));
	if (p)
		lo = p;
	last = memrchr(lo, ';', (size_t)(w->at - lo));
	for (p = w->at; (p = memrchr(lo, '=', (size_t)(p - lo)));) {
		if (ab_content_at(w, p - 6, "server=", true))
			return p - 6;
		if (ab_content_at(w, p - 11, "data source=", true))
			return p - 11;
		if (ab_content_at(w, p - 4, "host=", true) &&
		    ab_content_begins(w, p - 4)) {
			if (last && last > p)
				return p - 4;
			host = host ? host : p - 4;
		}
		is_pairs = is_pairs || is_pair_name(w, p + 1);
		if (host && is_pairs)
			return host;
	}
	/* the next one's line may say more: of a host, behind it */
	if (!host && !is_pairs)
		w->marks[AB_MARK_ADO] = w->at;
	if (!host)
		return server_behind(w, end, is_pairs);
	return has_pair_behind(w, end) ? host : NULL;
}

/* Where the server's name and value end; NULL: too far away to be one. */
static const uint8_t *server_end(const ab_content_window *w,
				 const uint8_t *server)
{
	const uint8_t *end;

	if (server > w->at) {
		const uint8_t *value = memchr(server, '=', 13);

		return until(value + 1, line_end(w, server), ";\"'", 140);
	}
	end = memchr(server, ';', (size_t)(w->at - server));
	if (!end) /* a list of pairs for libpq */
		end = memchr(server, ' ', (size_t)(w->at - server));
	return end && end - server <= 140 ? end : NULL;
}

/* Between the server's name and its end: this machine, or one that is written
   in its place. */
static bool is_sample_server(const uint8_t *server, const uint8_t *end,
			     const ab_content_match *m)
{
	static const char *const samples[] = { "myserver", "yourserver" };
	const uint8_t *host = memchr(server, '=', (size_t)(end - server));
	const uint8_t *colon;
	size_t n;

	host = run('s', host ? host + 1 : server, end, 8);
	/* "tcp:" */
	colon = memchr(host, ':', (size_t)(end - host));
	if (colon && colon - host <= 5 && run('z', host, colon, 5) == colon)
		host = colon + 1;
	n = (size_t)(run('.', host, end, 140) - host);
	if (ab_content_is_local(host, n) ||
	    ab_content_has(host, end - host < 6 ? (size_t)(end - host) : 6,
			   "(local"))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(samples); i++) {
		if (ab_content_has(host, n, samples[i]))
			return !ab_content_is_generated(m->value, m->end);
	}
	return false;
}

/* "a.password,s.host=b.host": statements, as a minifier joins them. */
static bool is_code(const uint8_t *p, const uint8_t *end)
{
	for (; (p = memchr(p, ',', (size_t)(end - p))); p++) {
		const uint8_t *name = p + 1, *q = name;

		while (q < end && (ab_content_is_word(*q) ||
				   is_one_of(".$", *q)))
			q++;
		if (q > name && q < end && *q == '=')
			return true;
	}
	return false;
}

/* server=...; ... password=...; the anchor is the last name. */
bool ab_verify_ado(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *server, *end;

	m->value = m->end;
	m->end = until(m->value, w->hi, ";\"'<", 256);
	if (m->end - m->value < 4 || is_code(m->value, m->end))
		return false;
	server = server_of(w, m->end);
	if (!server)
		return false;
	if (server < w->at)
		m->first = server;
	end = server_end(w, server);
	/* with a comma it is an argument of a call, and so is the password */
	if (!end || end[-1] == ',')
		return false;
	return !is_sample_server(server, end, m) &&
	       !is_weak(m->value, m->end);
}

static const uint8_t *assigned(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *value = separators(p, hi);

	return value == p ? NULL : value;
}

bool ab_verify_datadog(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end;

	if (p < w->hi && (*p == '_' || *p == '-'))
		p++;
	if (!ab_content_at(w, p, "key", true))
		return false;
	m->value = assigned(p + 3, w->hi);
	if (!m->value)
		return false;
	m->end = run('h', m->value, w->hi, 33);
	return m->end - m->value == 32 && ab_content_ends(w, m->end);
}

/* Basic: what it says when decoded. */
static bool is_basic(const uint8_t *p, const uint8_t *end)
{
	uint8_t plain[256];
	size_t n = ab_content_decode(p, (size_t)(end - p), plain,
				     sizeof(plain));
	const uint8_t *colon = memchr(plain, ':', n);

	for (size_t i = 0; i < n; i++) {
		if (plain[i] < ' ' || plain[i] == 0x7f)
			return false;
	}
	if (!colon)
		return false;
	/* "test" and a letter of another alphabet tests an encoding */
	for (end = ++colon; end < plain + n && *end < 0x80;)
		end++;
	return !is_weak(colon, plain + n - end > 4 ? plain + n : end);
}

bool ab_verify_http_auth(const ab_content_window *w, ab_content_match *m)
{
	/* the first has a name and a password in it (RFC 7617) */
	static const char *const schemes[] = { "basic", "bearer", "token",
					       "apikey", "bot", "key" };
	const uint8_t *p = assigned(m->end, w->hi);
	size_t i = 0;

	/* a list of names and values */
	if (p && ab_content_at(w, p, "value", true))
		p = assigned(p + 5, w->hi);
	if (p && ab_content_at(w, p, "- ", false)) /* YAML's list */
		p = separators(p + 2, w->hi);
	if (!p)
		return false;
	while (i < AB_ARRAY_LEN(schemes) &&
	       !ab_content_at(w, p, schemes[i], true))
		i++;
	if (i == AB_ARRAY_LEN(schemes))
		return false;
	p += strlen(schemes[i]);
	m->value = run('s', p, w->hi, SPACE);
	m->end = m->value;
	while (m->end < w->hi && (ab_content_class('.', *m->end) ||
				  ab_content_class('B', *m->end)))
		m->end++;
	if (m->value == p || m->end - m->value < 20)
		return false;
	/* a signed token has a rule of its own, which knows samples */
	if (i && ab_content_at(w, m->value, "eyJ", false) &&
	    memmem(m->value, (size_t)(m->end - m->value), ".eyJ", 4))
		return false;
	return i || is_basic(m->value, m->end);
}

/* user:password at p, perhaps quoted. */
static bool user_pass(const ab_content_window *w, const uint8_t *p,
		      ab_content_match *m)
{
	const uint8_t *user;

	if (p < w->hi && (*p == '"' || *p == '\''))
		p++;
	user = p;
	p = until(p, w->hi, ":\"'$", 65);
	if (p == w->hi || *p != ':' || p == user || p - user > 64)
		return false;
	m->value = p + 1;
	m->end = until(p + 1, w->hi, "\"'$`\\<", 256);
	/* in a sentence */
	while (m->end > m->value && is_one_of(",.;:)", m->end[-1]))
		m->end--;
	return m->end - m->value >= 3 && !is_weak(m->value, m->end);
}

/* curl ... -u user:password, on one line or one continued with '\'. */
bool ab_verify_curl(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t **mark = &w->marks[AB_MARK_CURL], *p = m->end, *q;

	if (!ab_content_begins(w, w->at))
		return false;
	if (*mark > p)
		p = *mark;
	for (; p + 3 < w->hi && p - w->at < 204; p++) {
		if (*p == '\n' && p[-1] != '\\')
			break;
		if (!ab_content_class('s', *p))
			continue;
		if (ab_content_at(w, p + 1, "-u ", false) ||
		    ab_content_at(w, p + 1, "-u=", false))
			return user_pass(w, p + 4, m);
		/* -sSu user:password, -uuser:password */
		q = run('L', p + 2, w->hi, 8);
		if (ab_content_at(w, p + 1, "-", false) && q - p > 2 &&
		    q[-1] == 'u' && q < w->hi && *q == ' ')
			return user_pass(w, q + 1, m);
		if (ab_content_at(w, p + 1, "-u", false))
			return user_pass(w, p + 3, m);
		if (ab_content_at(w, p + 1, "--user ", false) ||
		    ab_content_at(w, p + 1, "--user=", false))
			return user_pass(w, p + 8, m);
	}
	*mark = p;
	return false;
}

bool ab_verify_sshpass(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = run('s', m->end, w->hi, SPACE);

	if (!ab_content_begins(w, w->at) || p == m->end ||
	    !ab_content_at(w, p, "-p", false))
		return false;
	p = run('s', p + 2, w->hi, SPACE);
	if (p < w->hi && (*p == '"' || *p == '\''))
		p++;
	m->value = p;
	m->end = until(p, w->hi, "\"'$`<", 256);
	return m->end - m->value >= 3 && !is_weak(m->value, m->end);
}

/* White space, also as a string has it, and as a patch begins a line. */
static const uint8_t *spaces(const uint8_t *p, const uint8_t *hi, size_t max)
{
	const uint8_t *end = run('s', p, hi, max);

	while ((size_t)(end - p) < max && hi - end > 1) {
		if (end[0] == '\\' && (end[1] == 'n' || end[1] == 't'))
			end = run('s', end + 2, hi, max);
		else if (end > p && end[-1] == '\n' &&
			 is_one_of("+->", end[0]))
			end = run('s', end + 1, hi, max);
		else
			break;
	}
	return end;
}

/* `name` and the word behind it; NULL when it is not there. */
static const uint8_t *field(const ab_content_window *w, const uint8_t **p,
			    const char *name, const uint8_t **end)
{
	const uint8_t *from, *behind = *p + strlen(name);
	bool is_quoted;

	if (!ab_content_at(w, *p, name, false))
		return NULL;
	/* in a string, which a command writes into the file */
	is_quoted = w->at > w->lo && ab_content_class('Q', w->at[-1]);
	from = spaces(behind, w->hi, 64);
	*end = until(from, w->hi, is_quoted ? "\"'\\" : "", 256);
	if (from == behind || from == *end)
		return NULL;
	*p = spaces(*end, w->hi, 64);
	return from;
}

/*
 * The pairs of an entry, in any order; netrc(5) and .authinfo. Which one has
 * the password: its value in *m.
 */
static bool entry(const ab_content_window *w, const uint8_t *p,
		  ab_content_match *m, bool *has_login)
{
	static const char *const names[] = { "login", "password", "account",
					     "port" };
	bool has_password = false;

	for (size_t i = 0; i < AB_ARRAY_LEN(names);) {
		const uint8_t *end, *value = field(w, &p, names[i], &end);

		if (!value) {
			i++;
			continue;
		}
		if (i == 0) {
			/* what everybody knows */
			if (ab_content_at(w, value, "anonymous", true))
				return false;
			*has_login = true;
		} else if (i == 1 && !has_password) {
			has_password = true;
			m->value = value;
			m->end = end;
		}
		i = 0;
	}
	return has_password;
}

bool ab_verify_netrc(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at, *host, *end = NULL;
	bool has_login = false;
	size_t n;

	/* in a string, a comment, a sentence or a log */
	bool is_inside = !ab_content_begins_line(w, w->at);

	if (is_inside && !is_one_of("\"'` \t", w->at[-1]))
		return false;
	host = field(w, &p, "machine", &end);
	n = host ? (size_t)(end - host) : 0;
	if (!host) /* "default" stands for every host */
		p = run('s', p + strlen("default"), w->hi, 64);
	if (!entry(w, p, m, &has_login) || m->end - m->value < 4 ||
	    is_weak(m->value, m->end))
		return false;
	/* a program's own tests have such strings */
	if (is_inside && (!is_strong(m->value, m->end) || !has_login))
		return false;
	/* a template's host, so the password may be one's as well */
	if (n && is_one_of("%$<{", *host) &&
	    !ab_content_is_made(m->value, m->end))
		return false;
	return !host || (!ab_content_excuses(host, n, m->value, m->end) &&
			 (has_login || memchr(host, '.', n)));
}

/* The host's name in a netrc: enough alone, unless a sample follows. */
bool ab_verify_wandb(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = back('s', w, w->at, 64), *pass, *end;

	if (p == w->at || !ab_content_at(w, p - 7, "machine", false) ||
	    !ab_content_begins(w, p - 7) || !ab_content_ends(w, m->end))
		return false;
	m->first = p - 7;
	p = run('s', m->end, w->hi, 64);
	if (!field(w, &p, "login", &end))
		return true;
	pass = field(w, &p, "password", &end);
	return !pass || !is_weak(pass, end);
}
