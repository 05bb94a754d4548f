/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codec reader on hostile bytes. The first half of the input chooses what
 * to read, the second is read. Whatever was read well is written again and
 * must give the same bytes; a bad reader must stay bad.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy_one(ab_reader *r, ab_writer *w, unsigned what)
{
	const void *p;
	size_t n;

	switch (what % 7) {
	case 0:
		ab_put_u8(w, ab_get_u8(r));
		break;
	case 1:
		ab_put_u32(w, ab_get_u32(r));
		break;
	case 2:
		ab_put_u64(w, ab_get_u64(r));
		break;
	case 3:
		ab_put_i32(w, ab_get_i32(r));
		break;
	case 4:
		p = ab_get_bytes(r, &n);
		if (!p && n)
			abort();
		ab_put_bytes(w, p, n);
		break;
	case 5:
		ab_put_str(w, ab_get_str(r));
		break;
	case 6:
		ab_put_u32(w, ab_get_count(r, 1000));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2;
	ab_reader r;
	ab_writer w;

	ab_reader_init(&r, data + half, size - half);
	ab_writer_init(&w, size + 64);
	for (size_t i = 0; i < half; i++) {
		size_t before = r.pos;
		bool was_bad = r.bad;

		copy_one(&r, &w, data[i]);
		if (r.pos > r.len || (was_bad && (!r.bad || r.pos != before)))
			abort();
		if (r.bad)
			break;
		if (w.bad || w.len != r.pos ||
		    memcmp(w.data, data + half, w.len) != 0)
			abort();
	}
	if (ab_reader_done(&r) && (r.bad || r.pos != r.len))
		abort();
	ab_writer_end(&w);
	return 0;
}
