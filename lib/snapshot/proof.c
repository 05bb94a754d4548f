/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files whose name says secret and whose content says that it is none. Keys:
 * every armoured block in them is of a kind that is public (RFC 7468, RFC
 * 9580). One block of another kind, a byte that is no text, or, but for .asc,
 * no block at all: not proven. What stands between the blocks is the content
 * scan's. XML with Maven's name for its settings, as Android and many programs
 * have it: no word with which a login is written stands in it. Kubernetes'
 * secrets: every document is of a kind that has its secrets sealed, or says
 * where they are. A database or an image is no text; SQL that makes tables and
 * puts nothing into them is a program's.
 */
#include "config.h"

#include "snapshot/filter.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"

#define BEGIN "-----BEGIN "

static bool is_text(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 && !memchr("\t\n\r\f", p[i], 4))
			return false;
	return true;
}

static bool is_label(const char *p, size_t n, const char *const *labels,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(labels[i]);

		if (n >= len + 5 && memcmp(p, labels[i], len) == 0 &&
		    memcmp(p + len, "-----", 5) == 0)
			return true;
	}
	return false;
}

/* How many blocks there are, all of these kinds; -1: one of another kind. */
static long count_blocks(const char *p, size_t n, const char *const *labels,
			 size_t count)
{
	const char *end = p + n;
	long blocks = 0;

	for (;;) {
		const char *at = memmem(p, (size_t)(end - p), BEGIN,
					sizeof(BEGIN) - 1);

		if (!at)
			return blocks;
		p = at + sizeof(BEGIN) - 1;
		if (!is_label(p, (size_t)(end - p), labels, count))
			return -1;
		blocks++;
	}
}

static bool has_word(const char *p, size_t n, const char *lower)
{
	size_t len = strlen(lower);

	for (; n >= len; p++, n--)
		if ((*p | 0x20) == (*lower | 0x20) &&
		    strncasecmp(p, lower, len) == 0)
			return true;
	return false;
}

static bool has_any(const char *p, size_t n, const char *const *words,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (has_word(p, n, words[i]))
			return true;
	return false;
}

/* user@host behind "://" */
static bool has_login(const char *p, size_t n)
{
	const char *end = p + n, *at;

	while ((at = memmem(p, (size_t)(end - p), "://", 3))) {
		for (p = at + 3; p < end && *p && !strchr(" \t\r\n\"'<>/", *p);
		     p++)
			if (*p == '@')
				return true;
	}
	return false;
}

/* The first tag that is no declaration and no comment; NULL: none. */
static const char *root_of(const char *p, const char *end)
{
	for (;;) {
		const char *mark = "?>";

		while (p < end && *p && strchr(" \t\r\n\f", *p))
			p++;
		if (end - p < 2 || *p != '<')
			return NULL;
		if (end - p >= 4 && memcmp(p, "<!--", 4) == 0)
			mark = "-->";
		else if (p[1] != '?')
			return p[1] == '!' ? NULL : p + 1;
		p = memmem(p, (size_t)(end - p), mark, strlen(mark));
		if (!p)
			return NULL;
		p += strlen(mark);
	}
}

/*
 * Not Maven's settings, or those without servers and proxies; and in neither
 * a word that logins are written with. An entity could hide one.
 */
static bool is_harmless_xml(const char *p, size_t n)
{
	static const char *const words[] = {
		"pass", "pwd", "secret", "token", "credential", "authoriz",
		"private", "apikey", "api_key", "api-key", "accesskey",
		"access_key", "cookie", "&#", "<![cdata["
	};
	static const char *const maven[] = { "server", "prox", "user", "login",
					     "header", "auth" };
	const char *root = root_of(p, p + n), *end = p + n;

	if (!root || has_any(p, n, words, AB_ARRAY_LEN(words)) ||
	    has_login(p, n))
		return false;
	return !(end - root > 8 && memcmp(root, "settings", 8) == 0) ||
	       !has_any(p, n, maven, AB_ARRAY_LEN(maven));
}

/* --- sealed secrets ------------------------------------------------------- */

typedef struct yaml {
	bool has_text, is_sealed, is_outside;
	bool has_data, has_template, is_unread;
} yaml;

static bool is_line(const char *p, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(p, text, n) == 0;
}

/* A key of a block, or of a list's item, with nothing but itself before it. */
static bool is_key(const char *p, size_t n, const char *key)
{
	size_t len = strlen(key);

	while (n && (*p == ' ' || *p == '-' || *p == '"' || *p == '\'')) {
		p++;
		n--;
	}
	return n > len && memcmp(p, key, len) == 0 &&
	       (p[len] == ':' || p[len] == '"' || p[len] == '\'' ||
		p[len] == ' ');
}

static void take_line(yaml *y, const char *p, size_t n)
{
	while (n && strchr(" \t\r", p[n - 1]))
		n--;
	if (n == 0 || *p == '#')
		return;
	y->has_text = true;
	y->is_sealed |= is_line(p, n, "kind: SealedSecret");
	y->is_outside |= is_line(p, n, "kind: ExternalSecret");
	/* as JSON has it, by another name, or with blanks that is_key() does
	   not know: nobody looks into that here */
	y->is_unread |= memchr(p, '{', n) || memchr(p, '&', n) ||
			memchr(p, '?', n) || memchr(p, '\t', n) ||
			is_key(p, n, "stringData");
	y->has_data |= is_key(p, n, "data");
	y->has_template |= is_key(p, n, "template");
}

static bool is_closed(const yaml *y)
{
	return !y->has_text ||
	       (!y->is_unread && (y->is_sealed ?
					  !y->is_outside && !y->has_data :
					  y->is_outside && !y->has_template));
}

/*
 * Each document is a SealedSecret, which is encrypted, or an ExternalSecret,
 * which names the places in a vault; and has nothing of the kind in which a
 * plain one would stand.
 */
static bool is_all_sealed(const char *p, size_t n)
{
	const char *end = p + n;
	yaml y = { 0 };
	bool any = false;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((stop ? stop : end) - p);

		if (len >= 3 && memcmp(p, "---", 3) == 0) {
			if (!is_closed(&y) || !is_line(p, len, "---"))
				return false;
			y = (yaml){ 0 };
		} else {
			take_line(&y, p, len);
			any |= y.has_text;
		}
		p = stop ? stop + 1 : end;
	}
	return any && is_closed(&y);
}

/* Tables and functions, and nothing that puts a row into one. */
static bool is_schema(const char *p, size_t n)
{
	static const char *const words[] = {
		"insert", "replace into", "merge into", "copy", "load data",
		"dump",	  "identified",	  "password '", "openrowset"
	};

	return has_word(p, n, "create") &&
	       !has_any(p, n, words, AB_ARRAY_LEN(words));
}

bool ab_filter_proves(enum ab_filter_proof proof, const void *p, size_t n)
{
	static const char *const pem[] = {
		"CERTIFICATE",	       "TRUSTED CERTIFICATE",
		"X509 CERTIFICATE",    "CERTIFICATE REQUEST",
		"NEW CERTIFICATE REQUEST", "X509 CRL",
		"PUBLIC KEY",	       "RSA PUBLIC KEY",
		"EC PARAMETERS",       "DH PARAMETERS",
		"DSA PARAMETERS",      "X9.42 DH PARAMETERS",
		"ATTRIBUTE CERTIFICATE", "PKCS7",
		"CMS"};
	static const char *const pgp[] = {"PGP SIGNATURE",
					  "PGP PUBLIC KEY BLOCK",
					  "PGP SIGNED MESSAGE"};

	if (n == 0 || n > AB_FILTER_PROOF_MAX || !is_text(p, n))
		return false;
	switch (proof) {
	case AB_PROOF_PEM:
		return count_blocks(p, n, pem, AB_ARRAY_LEN(pem)) > 0;
	case AB_PROOF_PGP:
		return count_blocks(p, n, pgp, AB_ARRAY_LEN(pgp)) > 0;
	case AB_PROOF_ASC: /* AsciiDoc has the suffix as well */
		return count_blocks(p, n, pgp, AB_ARRAY_LEN(pgp)) >= 0;
	case AB_PROOF_XML:
		return is_harmless_xml(p, n);
	case AB_PROOF_SEALED:
		return is_all_sealed(p, n);
	case AB_PROOF_KEY:
		return count_blocks(p, n, pem, AB_ARRAY_LEN(pem)) > 0 ||
		       count_blocks(p, n, pgp, AB_ARRAY_LEN(pgp)) > 0;
	case AB_PROOF_TEXT:
		return true;
	case AB_PROOF_SCHEMA:
		return is_schema(p, n);
	case AB_PROOF_NONE:
		break;
	}
	return false;
}
