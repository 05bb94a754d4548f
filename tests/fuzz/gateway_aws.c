/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Credentials of AWS from any bytes: what is written is an object of plain
 * strings, fits, and is read as itself again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "aws_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW UINT64_C(1700000000000000000)
#define UNTIL (NOW + UINT64_C(900000000000))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char out[AB_AWS_ANSWER_MAX], again[AB_AWS_ANSWER_MAX];
	ssize_t n = ab_aws_answer((const char *)data, size, NOW, UNTIL, out);
	size_t quotes = 0;

	if (n < 0)
		return 0;
	for (ssize_t i = 0; i < n; i++) {
		if (out[i] < ' ' || out[i] > '~' || out[i] == '\\')
			abort();
		quotes += out[i] == '"';
	}
	/* four members or five, each a name and a string */
	if (quotes != 16 && quotes != 20)
		abort();
	if (n <= AB_AWS_VALUE_MAX &&
	    (ab_aws_answer(out, (size_t)n, NOW, UNTIL, again) != n ||
	     memcmp(out, again, (size_t)n) != 0))
		abort();
	return 0;
}
