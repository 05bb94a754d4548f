/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords in command lines, as histories, scripts and images have them:
 * behind an option of a program that is known by name, in front of a pipe, or
 * as a word of its own. `--password` and what it is called elsewhere is in
 * content_param.c, curl in content_login.c.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define back ab_content_back
#define until ab_content_until
#define is_one_of ab_content_is_one_of

/* How far a command's options may be from its name. */
#define LINE 350

static bool is_weak(const uint8_t *p, const uint8_t *end)
{
	return ab_content_is_weak(p, (size_t)(end - p));
}

static const uint8_t *blanks(const uint8_t *p, const uint8_t *hi)
{
	return run('b', p, hi, 32);
}

/* 27017:27017, 127.0.0.1:80:80/tcp, 9042: of a container that is called like
   the program, or of the program itself. */
static bool is_port(const uint8_t *p, const uint8_t *end)
{
	bool is_short = end - p <= 5 || memchr(p, ':', (size_t)(end - p));

	while (p < end && (ab_content_class('d', *p) || is_one_of(".:", *p)))
		p++;
	return is_short && (p == end || *p == '/');
}

/* The option (of two bytes) with its value in the line from p on, or with
   blanks between. */
static bool short_option(const ab_content_window *w, const uint8_t *p,
			 const char *option, bool is_tight,
			 ab_content_match *m)
{
	for (; p + 4 < w->hi && p - w->at < LINE && *p != '\n'; p++) {
		if (!ab_content_class('b', *p) ||
		    !ab_content_at(w, p + 1, option, false))
			continue;
		m->value = p + 3;
		if (!is_tight) {
			m->value = blanks(m->value, w->hi);
			if (m->value == p + 3)
				continue;
			m->value = run('Q', m->value, w->hi, 1);
		}
		m->end = until(m->value, w->hi, "\"'$`<;|", 256);
		return m->end - m->value >= 4 && !is_weak(m->value, m->end) &&
		       !is_port(m->value, m->end) &&
		       run('L', m->value, m->end, 256) != m->end;
	}
	return false;
}

/* mysql -pPASSWORD; the anchor is the command and a blank. */
bool ab_verify_short_option(const ab_content_window *w, ab_content_match *m)
{
	return ab_content_begins(w, w->at) &&
	       short_option(w, m->end - 1, "-p", true, m);
}

/* docker login -p PASSWORD; the anchor is the second word and a blank. */
bool ab_verify_login_option(const ab_content_window *w, ab_content_match *m)
{
	static const char *const names[] = {
		"docker", "podman", "buildah",	"skopeo", "nerdctl",
		"az",	  "oc",	    "registry", "auth",	  "cf",
	};
	const uint8_t *end = back('b', w, w->at, 8);

	for (size_t i = 0; end < w->at && i < AB_ARRAY_LEN(names); i++) {
		const uint8_t *p = end - strlen(names[i]);

		if (ab_content_at(w, p, names[i], false) &&
		    ab_content_begins(w, p))
			return short_option(w, m->end - 1, "-p", false, m);
	}
	return false;
}

/* redis-cli -a PASSWORD, ldapsearch -w PASSWORD; the anchor is the command's
   beginning. */
bool ab_verify_tool_option(const ab_content_window *w, ab_content_match *m)
{
	static const struct {
		const char *command, *option;
	} tools[] = {
		{ "redis-cli", "-a" },	  { "valkey-cli", "-a" },
		{ "mongo", "-p" },	  { "mongosh", "-p" },
		{ "mongodump", "-p" },	  { "mongorestore", "-p" },
		{ "mongoexport", "-p" },  { "mongoimport", "-p" },
		{ "ldapsearch", "-w" },	  { "ldapadd", "-w" },
		{ "ldapmodify", "-w" },	  { "ldapdelete", "-w" },
		{ "ldapwhoami", "-w" },	  { "ldappasswd", "-w" },
		{ "sqlcmd", "-P" },	  { "cqlsh", "-p" },
		{ "bcp", "-P" },	  { "osql", "-P" },
		{ "psexec", "-p" },	  { "zip", "-P" },
		{ "unzip", "-P" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(tools); i++) {
		const uint8_t *end = w->at + strlen(tools[i].command);

		if (!ab_content_at(w, w->at, tools[i].command, true))
			continue;
		if (ab_content_at(w, end, ".exe", true))
			end += strlen(".exe");
		if (end < w->hi && ab_content_class('b', *end))
			return ab_content_begins(w, w->at) &&
			       short_option(w, end, tools[i].option, false, m);
	}
	return false;
}

/* Of a user and a password in one word: smbclient -U user%password, lftp -u
   user,password; the anchor is the command and a blank. */
bool ab_verify_user_option(const ab_content_window *w, ab_content_match *m)
{
	bool is_lftp = *w->at == 'l';
	const uint8_t *p = m->end - 1, *end;

	for (; p + 4 < w->hi && p - w->at < LINE && *p != '\n'; p++) {
		if (!ab_content_class('b', *p) ||
		    !ab_content_at(w, p + 1, is_lftp ? "-u" : "-U", false))
			continue;
		p = run('Q', blanks(p + 3, w->hi), w->hi, 1);
		end = until(p, w->hi, "\"'$`<;|", 256);
		m->value = memchr(p, is_lftp ? ',' : '%', (size_t)(end - p));
		m->end = end;
		return m->value && end - ++m->value >= 4 &&
		       !is_weak(m->value, end) &&
		       run('L', m->value, end, 256) != end;
	}
	return false;
}

static bool is_made(const ab_content_match *m)
{
	return ab_content_is_made(m->value, m->end);
}

/* The word behind the anchor, perhaps quoted, which nobody made up. */
bool ab_verify_made_word(const ab_content_window *w, ab_content_match *m)
{
	m->value = run('Q', blanks(m->end, w->hi), w->hi, 1);
	m->end = until(m->value, w->hi, "\"'$`<;|\\,", 65);
	return is_made(m);
}

/* root:PASSWORD, a line of chpasswd(8) or a string that is one. */
bool ab_verify_root_line(const ab_content_window *w, ab_content_match *m)
{
	if (!ab_content_begins_line(w, w->at) &&
	    !(w->at > w->lo && ab_content_class('Q', w->at[-1])))
		return false;
	m->value = w->at + strlen("root:");
	m->end = until(m->value, w->hi, "\"':\\", 65);
	return (m->end == w->hi || *m->end != ':') && is_made(m);
}

/* -passin pass:PASSWORD of openssl(1) */
bool ab_verify_openssl_pass(const ab_content_window *w, ab_content_match *m)
{
	static const char *const options[] = { "-pass", "-passin", "-passout" };
	const uint8_t *end = back('b', w, m->end - strlen("pass:"), 8);

	for (size_t i = 0; i < AB_ARRAY_LEN(options); i++) {
		if (ab_content_at(w, end - strlen(options[i]), options[i],
				  false))
			return ab_verify_made_word(w, m);
	}
	return false;
}

/* --from-literal=NAME=VALUE of kubectl create secret */
bool ab_verify_from_literal(const ab_content_window *w, ab_content_match *m)
{
	m->value = until(m->end, w->hi, "=\"'$`<;|", 64);
	if (m->value == w->hi || *m->value != '=')
		return false;
	m->end = m->value + 1;
	return ab_verify_made_word(w, m);
}

/* net use \\\\server\\share /user:NAME PASSWORD */
bool ab_verify_net_user(const ab_content_window *w, ab_content_match *m)
{
	m->end = until(m->end, w->hi, "\"'", 64);
	return m->end < w->hi && ab_content_class('b', *m->end) &&
	       ab_verify_made_word(w, m);
}

/* htpasswd -b FILE USER PASSWORD: a word that nobody made up */
bool ab_verify_htpasswd(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = m->end - 1;
	bool has_option = false;

	while (p < w->hi && p - w->at < LINE && ab_content_class('b', *p)) {
		m->value = run('Q', blanks(p, w->hi), w->hi, 1);
		m->end = until(m->value, w->hi, "\"'$`<;|", 128);
		if (m->value < m->end && *m->value == '-')
			has_option |= ab_content_has(
				m->value, (size_t)(m->end - m->value), "b");
		else if (has_option && is_made(m))
			return true;
		p = run('Q', m->end, w->hi, 1);
	}
	return false;
}

/*
 * echo PASSWORD | docker login --password-stdin, | sudo -S, | chpasswd: the
 * last word before the pipe, of "user:password" what is behind the colon.
 */
bool ab_verify_piped(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *lo = w->at - w->lo > LINE ? w->at - LINE : w->lo;
	const uint8_t *line = memrchr(lo, '\n', (size_t)(w->at - lo));
	const uint8_t *p, *colon;

	lo = line ? line + 1 : lo;
	p = memrchr(lo, '|', (size_t)(w->at - lo));
	if (!p)
		return false;
	while (p > lo && ab_content_class('b', p[-1]))
		p--;
	if (p > lo && ab_content_class('Q', p[-1]))
		p--;
	m->end = p;
	while (p > lo && p[-1] > ' ' && !is_one_of("\"'", p[-1]))
		p--;
	m->value = m->first = p;
	colon = memchr(p, ':', (size_t)(m->end - p));
	if (colon)
		m->value = colon + 1;
	return is_made(m);
}
