/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The value of the header that carries the real credential, in guarded
 * memory. Whatever a header may not hold is refused when the secret comes,
 * not when it is used (case 78).
 */
#ifndef GATEWAY_INJECT_H
#define GATEWAY_INJECT_H

#include <stddef.h>

#define AB_INJECT_SECRET_MIN 8

/* Zeroed: there is none. Both are ab_secret_new()'s. */
typedef struct ab_injected {
	char *value; /* "Bearer sk-..." */
	size_t len;
	char *secret; /* as it came, to be looked for in what comes back */
	size_t secret_len;
} ab_injected;

/*
 * `scheme` "": the secret alone; "Basic" (in any case): user:secret, or with
 * user "" the secret, in base64. 0; -EINVAL: not a value a header may have,
 * or too short to be looked for; -ENOMEM.
 */
int ab_injected_init(ab_injected *in, const char *scheme, const char *user,
		     const char *secret, size_t n);
void ab_injected_end(ab_injected *in);

/*
 * Overwrite what of the credential stands in n bytes; whether there was any
 * (case 119: an upstream that echoes what it was sent).
 */
int ab_injected_mask(const ab_injected *in, char *p, size_t n);

#endif
