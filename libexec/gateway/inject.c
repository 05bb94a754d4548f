/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real credentials. Spec: inject.h. */
#include "config.h"

#include "inject.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <sodium.h>

#include "base/secret.h"
#include "http_write.h"

static char *copy_secret(const char *s, size_t n)
{
	char *p = ab_secret_new(n + 1);

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

/* "Basic " and base64 of user:secret. */
static int make_basic(ab_injected *in, const char *user)
{
	size_t user_len = strlen(user);
	size_t n = user_len + (user_len != 0) + in->secret_len;
	size_t room = sodium_base64_encoded_len(
		n, sodium_base64_VARIANT_ORIGINAL);
	char *plain = ab_secret_new(n + 1);
	char *value = ab_secret_new(6 + room);

	if (!plain || !value) {
		ab_secret_free(plain);
		ab_secret_free(value);
		return -ENOMEM;
	}
	memcpy(plain, user, user_len);
	if (user_len)
		plain[user_len++] = ':';
	memcpy(plain + user_len, in->secret, in->secret_len);
	memcpy(value, "Basic ", 6);
	sodium_bin2base64(value + 6, room, (unsigned char *)plain, n,
			  sodium_base64_VARIANT_ORIGINAL);
	ab_secret_free(plain);
	in->value = value;
	in->len = strlen(value);
	return 0;
}

static int make_plain(ab_injected *in, const char *scheme)
{
	size_t n = strlen(scheme);

	in->value = ab_secret_new(n + 1 + in->secret_len + 1);
	if (!in->value)
		return -ENOMEM;
	memcpy(in->value, scheme, n);
	if (n)
		in->value[n++] = ' ';
	memcpy(in->value + n, in->secret, in->secret_len + 1);
	in->len = n + in->secret_len;
	return 0;
}

int ab_injected_init(ab_injected *in, const char *scheme, const char *user,
		     const char *secret, size_t n)
{
	int r;

	*in = (ab_injected){ 0 };
	if (n < AB_INJECT_SECRET_MIN || !ab_http_value_is_safe(secret, n))
		return -EINVAL;
	in->secret = copy_secret(secret, n);
	if (!in->secret)
		return -ENOMEM;
	in->secret_len = n;
	r = strcasecmp(scheme, "basic") == 0 ? make_basic(in, user) :
					       make_plain(in, scheme);
	if (r < 0)
		ab_injected_end(in);
	return r;
}

void ab_injected_end(ab_injected *in)
{
	ab_secret_free(in->value);
	ab_secret_free(in->secret);
	*in = (ab_injected){ 0 };
}

static int mask(const char *what, size_t len, char *p, size_t n)
{
	int found = 0;

	for (char *at; len && (at = memmem(p, n, what, len)) != NULL;) {
		memset(at, '*', len);
		n -= (size_t)(at + len - p);
		p = at + len;
		found = 1;
	}
	return found;
}

/* What stands behind the scheme, too: an echo may leave that out. */
static const char *credential_of(const ab_injected *in, size_t *len)
{
	const char *space = memchr(in->value, ' ', in->len);
	const char *start = space ? space + 1 : in->value;

	*len = in->len - (size_t)(start - in->value);
	return start;
}

int ab_injected_mask(const ab_injected *in, char *p, size_t n)
{
	const char *credential;
	size_t len;
	int found;

	if (!in->value)
		return 0;
	credential = credential_of(in, &len);
	found = mask(in->secret, in->secret_len, p, n);
	return mask(credential, len, p, n) || found;
}
