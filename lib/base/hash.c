/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-256 by libsodium, hex, and random identifiers from the kernel. It
 * refuses to make an identifier from anything but getrandom(2).
 * Spec: hash.h, FIPS 180-4.
 */
#include "config.h"

#include "base/digit.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <sodium.h>

_Static_assert(AB_SHA256_SIZE == crypto_hash_sha256_BYTES, "same function");
_Static_assert(AB_DIGEST_SIZE == 7 + AB_HEX_SIZE(AB_SHA256_SIZE),
	       "prefix, digits, NUL");

void ab_sha256(const void *p, size_t n, uint8_t out[AB_SHA256_SIZE])
{
	/* portable C inside: needs no sodium_init() and cannot fail */
	(void)crypto_hash_sha256(out, p, n);
}

void ab_digest(const void *p, size_t n, char out[AB_DIGEST_SIZE])
{
	static const char prefix[] = "sha256:";
	uint8_t hash[AB_SHA256_SIZE];

	for (size_t i = 0; i < sizeof(prefix) - 1; i++)
		out[i] = prefix[i];
	ab_sha256(p, n, hash);
	ab_hex(hash, sizeof(hash), out + sizeof(prefix) - 1);
}

void ab_hex(const uint8_t *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * n] = '\0';
}

int ab_unhex(const char *hex, size_t hex_len, uint8_t *out, size_t n)
{
	if (hex_len % 2 || hex_len / 2 != n)
		return -EINVAL;
	for (size_t i = 0; i < hex_len; i++) {
		if (ab_lower_hex_digit(hex[i]) < 0)
			return -EINVAL;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(ab_lower_hex_digit(hex[2 * i]) << 4 |
				   ab_lower_hex_digit(hex[2 * i + 1]));
	return 0;
}

int ab_random(void *p, size_t n)
{
	uint8_t *to = p;
	size_t done = 0;

	while (done < n) {
		ssize_t r = getrandom(to + done, n - done, 0);

		if (r >= 0)
			done += (size_t)r;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

bool ab_is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == AB_ID_SIZE - 1 &&
	       !text[AB_ID_SIZE - 1];
}

int ab_id_new(char out[AB_ID_SIZE])
{
	uint8_t id[(AB_ID_SIZE - 1) / 2];
	int r = ab_random(id, sizeof(id));

	if (r == 0)
		ab_hex(id, sizeof(id), out);
	return r;
}
