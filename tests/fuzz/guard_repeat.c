/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell check on long texts made of a short one: a part of it stands there
 * many times, perhaps numbered. That is how limits are met to the byte, and how
 * a text looks whose check would take time with its square.
 *
 * Input: times / 16, which part (begin, length, 0: all), mode; then the text.
 * A 0x01 in the part is its number, if the mode is odd.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "guard_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SIZE 32768
#define HEAD 4

struct text {
	char bytes[MAX_SIZE];
	size_t len;
};

static void add(struct text *t, const uint8_t *bytes, size_t n)
{
	if (n > sizeof(t->bytes) - t->len)
		n = sizeof(t->bytes) - t->len;
	memcpy(t->bytes + t->len, bytes, n);
	t->len += n;
}

static void add_part(struct text *t, const uint8_t *bytes, size_t n,
		     unsigned number)
{
	char digits[16];
	int count = snprintf(digits, sizeof(digits), "%u", number);

	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == 1)
			add(t, (const uint8_t *)digits, (size_t)count);
		else
			add(t, bytes + i, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ab_pack *pack = base_pack();
	static struct text t;
	size_t begin, n, end;

	if (size <= HEAD)
		return 0;
	unsigned times = data[0] * 16u;
	bool is_numbered = data[3] & 1;

	begin = data[1];
	n = data[2];
	data += HEAD;
	size -= HEAD;
	begin = begin < size ? begin : 0;
	n = n && n < size - begin ? n : size - begin;
	end = begin + n;
	t.len = 0;
	add(&t, data, begin);
	for (unsigned i = 0; i <= times && t.len < MAX_SIZE; i++) {
		if (is_numbered)
			add_part(&t, data + begin, n, i);
		else
			add(&t, data + begin, n);
	}
	add(&t, data + end, size - end);
	check_text(pack, t.bytes, t.len, ab_shell_check_room(t.len));
	return 0;
}
