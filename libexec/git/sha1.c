/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SHA-1 as FIPS 180-4 section 6.1 says it. */
#include "config.h"

#include "sha1.h"

#include <string.h>

static uint32_t rotl(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static void mix(uint32_t state[5], const uint8_t *p)
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2];
	uint32_t d = state[3], e = state[4];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f, k, t;

		if (i < 20) {
			f = (b & c) | (~b & d);
			k = 0x5a827999u;
		} else if (i < 40) {
			f = b ^ c ^ d;
			k = 0x6ed9eba1u;
		} else if (i < 60) {
			f = (b & c) | (b & d) | (c & d);
			k = 0x8f1bbcdcu;
		} else {
			f = b ^ c ^ d;
			k = 0xca62c1d6u;
		}
		t = rotl(a, 5) + f + e + k + w[i];
		e = d;
		d = c;
		c = rotl(b, 30);
		b = a;
		a = t;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sha1_begin(sha1 *s)
{
	*s = (sha1){ .state = { 0x67452301u, 0xefcdab89u, 0x98badcfeu,
				0x10325476u, 0xc3d2e1f0u } };
}

void sha1_add(sha1 *s, const void *p, size_t n)
{
	const uint8_t *from = p;
	size_t have = s->n % sizeof(s->block);

	s->n += n;
	if (have) {
		size_t some = sizeof(s->block) - have;

		if (some > n)
			some = n;
		memcpy(s->block + have, from, some);
		from += some;
		n -= some;
		if (have + some < sizeof(s->block))
			return;
		mix(s->state, s->block);
	}
	for (; n >= sizeof(s->block); n -= sizeof(s->block)) {
		mix(s->state, from);
		from += sizeof(s->block);
	}
	if (n)
		memcpy(s->block, from, n);
}

void sha1_end(sha1 *s, uint8_t out[SHA1_SIZE])
{
	static const uint8_t pad[64] = { 0x80 };
	uint64_t bits = s->n * 8;
	size_t have = s->n % sizeof(s->block);
	uint8_t size[8];

	for (unsigned i = 0; i < 8; i++)
		size[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha1_add(s, pad, have < 56 ? 56 - have : 120 - have);
	sha1_add(s, size, sizeof(size));
	for (unsigned i = 0; i < 20; i++)
		out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}
