/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for secrets: guarded pages, mlock, MADV_DONTDUMP (libsodium),
 * wiped on free. Never log, never memcmp: ab_secret_equal.
 */
#ifndef AB_BASE_SECRET_H
#define AB_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* NULL when there is no memory; filled with a pattern, not zeroes. */
void *ab_secret_new(size_t n);
/* Wipes and frees; NULL is ignored; keeps errno. */
void ab_secret_free(void *p);
/*
 * Constant time in the content. False for NULL and for n = 0: two absent
 * secrets are not a match.
 */
bool ab_secret_equal(const void *a, const void *b, size_t n);

#endif
