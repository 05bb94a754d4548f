/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an answer of a model's API says of tokens, on any bytes; the first byte
 * says how the rest is cut. Pieces tell what the whole tells, and no answer
 * tells so much that a sum of answers goes around.
 */
#include "config.h"

#include <stdlib.h>

#include "usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool told(const ab_usage *u, bool has_ended, uint64_t *tokens)
{
	bool is_told = ab_usage_told(u, has_ended, tokens);

	if (*tokens >= UINT64_C(1) << 47)
		abort();
	return is_told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_usage whole = { 0 }, pieces = { 0 };
	uint64_t a, b;
	const char *p;
	size_t n, step;

	if (size < 1)
		return 0;
	p = (const char *)data + 1;
	n = size - 1;
	step = data[0] + 1u;
	ab_usage_read(&whole, p, n);
	for (size_t i = 0; i < n; i += step)
		ab_usage_read(&pieces, p + i, n - i < step ? n - i : step);
	if (told(&whole, true, &a) != told(&pieces, true, &b) || a != b ||
	    told(&whole, false, &a) != told(&pieces, false, &b))
		abort();
	/* who left has not been told what who stayed was not */
	if (told(&whole, false, &a) && !told(&whole, true, &b))
		abort();
	return 0;
}
