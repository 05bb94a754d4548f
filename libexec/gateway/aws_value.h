/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Temporary credentials of AWS as the host has them, and as the container
 * credential provider of its SDKs reads them. Pure; the value stays where the
 * caller has it. Spec: "Container credential provider" and "Process credential
 * provider" of the AWS SDKs and Tools Reference Guide.
 */
#ifndef GATEWAY_AWS_VALUE_H
#define GATEWAY_AWS_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AB_AWS_VALUE_MAX 16384
/* What is written is never longer than what was read and this. */
#define AB_AWS_ANSWER_MAX (AB_AWS_VALUE_MAX + 256)

/*
 * The value is one flat object as a credential process prints it:
 * "AccessKeyId", "SecretAccessKey", "SessionToken" (or "Token"), "Expiration",
 * "AccountId", "Version"; plain printable strings without a backslash, each at
 * most once. What is written ends at `until_ns` of the real clock, or with the
 * value's own expiration if that is earlier. How many bytes, -EINVAL: it is no
 * such object, or -ESTALE: it has expired at `now_ns`.
 */
ssize_t ab_aws_answer(const char *value, size_t n, uint64_t now_ns,
		      uint64_t until_ns, char out[AB_AWS_ANSWER_MAX]);

#endif
