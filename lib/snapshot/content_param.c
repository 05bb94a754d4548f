/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords that are given as a parameter: of a database's URL, as JDBC and
 * libpq have them, and of a command. See content_login.c, and content_value.c
 * for what documentation writes in their place.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define until ab_content_until
#define is_one_of ab_content_is_one_of

/* How far before the password the URL and the command may begin. */
#define LINE 350

/* "jdbc:" before a scheme that needs no other word: "jdbc:h2:tcp". */
static const uint8_t *jdbc(const ab_content_window *w, const uint8_t *end)
{
	const uint8_t *p = end;

	while (p > w->lo && end - p < 48 &&
	       (ab_content_is_word(p[-1]) || is_one_of(":+-", p[-1])))
		p--;
	return ab_content_at(w, p, "jdbc:", true) ? p : NULL;
}

/* "://" before the anchor in the same word. */
static const uint8_t *url_of(const ab_content_window *w)
{
	const uint8_t *lo = w->at - w->lo > LINE ? w->at - LINE : w->lo;
	const uint8_t *p = w->at;

	if (w->marks[AB_MARK_URL] > lo)
		lo = w->marks[AB_MARK_URL];
	for (; p > lo && p[-1] > ' ' && !is_one_of("\"'`<>", p[-1]); p--) {
		if (ab_content_at(w, p - 3, "://", false))
			return p - 3;
	}
	w->marks[AB_MARK_URL] = w->at;
	return NULL;
}

/* The host behind "://", or, when none is there, the parameter "host". */
static const uint8_t *host_of(const ab_content_window *w, const uint8_t *p,
			      const uint8_t **end)
{
	*end = run('.', p, w->at, 255);
	for (; *end == p && p < w->at; p++) {
		if (is_one_of("?&;", p[0]) &&
		    ab_content_at(w, p + 1, "host=", true)) {
			p += 6;
			*end = run('.', p, w->at, 255);
			return p;
		}
		*end = p + 1;
	}
	return p;
}

/* jdbc:postgresql://host/db?user=u&password=p; the anchor is the last name. */
bool ab_verify_url_param(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *url, *host, *end;

	if (w->at == w->lo || !is_one_of("?&;:", w->at[-1]))
		return false;
	m->value = m->end;
	m->end = until(m->value, w->hi, "&;,\"'<>`)\\", 256);
	if (m->end - m->value < 4)
		return false;
	url = url_of(w);
	if (!url)
		return false;
	m->first = ab_content_database(w, url);
	if (!m->first)
		m->first = jdbc(w, url);
	if (!m->first)
		return false;
	host = host_of(w, url + 3, &end);
	return ab_content_is_far(host, end, m->value, m->end);
}

/*
 * Databases have ab_verify_url_param(), which knows what their passwords are
 * worth. A log has the path alone; what begins with a blank is a sentence.
 */
bool ab_content_parameter(const ab_content_window *w, const uint8_t *name,
			  ab_content_match *m)
{
	const uint8_t *url, *host;
	const uint8_t *q = name - 1;

	if (*q == ';' && !ab_content_at(w, q - 4, "&amp", false))
		return false;
	if (q == w->lo || q[-1] <= ' ')
		return false;
	m->end = until(m->value, w->hi, "&#\"'`<>$(){}[]\\,;|^*", 256);
	if (m->end < w->hi && is_one_of("<$({[*", *m->end))
		return false;
	url = url_of(w);
	if (!url)
		return true;
	if (ab_content_database(w, url) || jdbc(w, url))
		return false;
	host = url + 3;
	q = run('.', host, w->hi, 255);
	return !ab_content_excuses(host, (size_t)(q - host), m->value, m->end);
}

/* jdbc:oracle:thin:user/password@host */
bool ab_verify_oracle(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = until(m->end, w->hi, "/@\"'<>`$", 64), *host;

	if (p == m->end || p == w->hi || *p != '/')
		return false;
	m->value = p + 1;
	m->end = until(m->value, w->hi, "@\"'<>`$", 128);
	if (m->end == w->hi || *m->end != '@')
		return false;
	host = m->end + 1;
	while (host < w->hi && *host == '/')
		host++;
	return ab_content_is_far(host, run('.', host, w->hi, 255), m->value,
				 m->end);
}

/* A program that takes "--password", as a word that begins at p. */
static bool is_program(const ab_content_window *w, const uint8_t *p)
{
	static const char *const names[] = { "wget",  "mysql",	"mariadb",
					     "mongo", "docker", "podman",
					     "helm",  "svn" };
	const uint8_t *end = run('a', p, w->hi, 24);

	if (end == w->hi || !ab_content_class('b', *end))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_content_at(w, p, names[i], false))
			return ab_content_begins(w, p);
	}
	return false;
}

/* Is the option before p one of such a program, in its line or in one that
   '\\' continues? */
static bool is_option(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *lo = p - w->lo > LINE ? p - LINE : w->lo;

	if (w->marks[AB_MARK_COMMAND] > lo)
		lo = w->marks[AB_MARK_COMMAND];
	for (; p > lo; p--) {
		if (p[-1] == '\n' && (p - lo < 2 || p[-2] != '\\'))
			break;
		if (is_program(w, p - 1))
			return true;
	}
	w->marks[AB_MARK_COMMAND] = w->at;
	return false;
}

/* Letters alone, as a word of a sentence has, and no long mixture of them. */
static bool is_letters(const uint8_t *p, const uint8_t *end)
{
	return run('L', p, end, 256) == end &&
	       (end - p < 12 || ab_content_entropy(p, (size_t)(end - p)) < 30);
}

/* wget ... --password=p, --http-password p; the anchor is "-password". */
bool ab_verify_command(const ab_content_window *w, ab_content_match *m)
{
	static const char *const fronts[] = { "-", "--http", "--ftp",
					      "--proxy" };
	const uint8_t *p = NULL, *q;

	for (size_t i = 0; !p && i < AB_ARRAY_LEN(fronts); i++) {
		q = w->at - strlen(fronts[i]);
		if (ab_content_at(w, q, fronts[i], false) && q > w->lo &&
		    ab_content_class('s', q[-1]))
			p = q;
	}
	if (!p)
		return false;
	q = m->end;
	if (q < w->hi && ab_content_class('Q', *q))
		q++;
	m->value = q;
	m->end = until(q, w->hi, "\"'$`<", 256);
	while (m->end > q && is_one_of(",.;:)", m->end[-1]))
		m->end--;
	if (m->end - q < 4 || is_letters(q, m->end) ||
	    ab_content_is_weak(q, (size_t)(m->end - q)))
		return false;
	return is_option(w, p);
}

/* --token and so on; what is a key alone has names in hexadecimal, and what
   marks a request is a UUID. */
static bool is_digits(const ab_content_window *w, const uint8_t *option,
		      const ab_content_match *m)
{
	size_t n = (size_t)(m->end - m->value);

	if (ab_content_at(w, w->at, "-key", false) ||
	    (w->kind & AB_CONTENT_TESTS))
		return false;
	if (ab_content_is_uuid(m->value, m->end))
		return option + 1 == w->at ||
		       ab_content_is_handed_out(option, m->value - 1);
	return n >= 32 && !(n & 7) && run('h', m->value, m->end, n) == m->end &&
	       !ab_content_counts(m->value, n);
}

/*
 * --token v, --acme-password=v of any program: what a generator made. Shorter
 * ones are what manuals show.
 */
bool ab_verify_option(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at;

	while (p > w->lo && w->at - p < 32 && ab_content_class('a', p[-1]))
		p--;
	if (!ab_content_at(w, p, "-", false) || p == w->lo ||
	    !(ab_content_class('s', p[-1]) || ab_content_class('q', p[-1])))
		return false;
	m->value = run('b', m->end, w->hi, 8);
	if (m->value < w->hi && ab_content_class('Q', *m->value))
		m->value++;
	/* a path or a URL is what such a word is read from */
	m->end = until(m->value, w->hi, "\"'$`<\\,;:/", 65);
	return m->end - m->value >= 16 &&
	       !(m->end < w->hi && is_one_of(":/", *m->end)) &&
	       (ab_content_is_made(m->value, m->end) || is_digits(w, p, m));
}

/* "committer NAME <MAIL> SECONDS +ZONE" behind "mark" or a commit's line. */
bool ab_verify_git_export(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *lo = w->at - w->lo > LINE ? w->at - LINE : w->lo;
	const uint8_t *p, *end;

	/* a history made for tests: text, which is looked through */
	if ((w->kind & AB_CONTENT_TESTS) || !ab_content_is_line(w, w->at))
		return false;
	end = memchr(m->end, '\n', (size_t)(w->hi - m->end));
	p = end ? memrchr(m->end, '>', (size_t)(end - m->end)) : NULL;
	if (!p || end - p < 15 || p[1] != ' ' ||
	    run('d', p + 2, end, 12) - (p + 2) < 8 ||
	    !is_one_of("+-", end[-5]) || run('d', end - 4, end, 4) != end)
		return false;
	/* what a commit itself has there are its tree and its parents */
	for (p = lo; (p = memchr(p, '\n', (size_t)(w->at - p))); p++) {
		if (ab_content_at(w, p + 1, "mark :", false) ||
		    ab_content_at(w, p + 1, "commit refs/", false))
			break;
	}
	m->value = m->end;
	m->end = end;
	return p != NULL;
}
