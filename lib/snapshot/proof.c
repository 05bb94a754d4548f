/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files whose name says key and whose content says that it is public: every
 * armoured block in them is of a kind that is (RFC 7468, RFC 9580). One block
 * of another kind, a byte that is no text, or, but for .asc, no block at all:
 * not proven.
 * What stands between the blocks is the content scan's.
 */
#include "config.h"

#include "snapshot/filter.h"

#include <string.h>

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
	case AB_PROOF_NONE:
		break;
	}
	return false;
}
