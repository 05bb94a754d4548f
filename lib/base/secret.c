/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secret memory on libsodium: guard pages, mlock, MADV_DONTDUMP, wiped when
 * freed. It refuses to compare in data-dependent time, and to call two absent
 * secrets equal. Spec: secret.h, STYLE.md section 5.
 */
#include "config.h"

#include "base/secret.h"

#include <errno.h>

#include <sodium.h>

#include "base/alloc.h"

#ifdef AB_FAULT_INJECTION
/* sodium_malloc() is not ours: count it with a block of our own. */
static bool probe_alloc(void)
{
	void *p = ab_calloc(1, 1);

	free(p);
	return p;
}
#else
static bool probe_alloc(void)
{
	return true;
}
#endif

void *ab_secret_new(size_t n)
{
	/* idempotent and safe from any thread; 1 when it was done before */
	if (!probe_alloc() || sodium_init() < 0)
		return NULL;
	return sodium_malloc(n ? n : 1);
}

void ab_secret_free(void *p)
{
	int saved = errno;

	sodium_free(p);
	errno = saved;
}

bool ab_secret_equal(const void *a, const void *b, size_t n)
{
	return a && b && n && sodium_memcmp(a, b, n) == 0;
}
