/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a box asks its broker, what it is told, and the broker's part of a
 * plan: whatever the bytes are, they are read or refused, and what was read is
 * written as the same bytes again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/broker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const ab_writer *w, size_t skip, const uint8_t *p, size_t n)
{
	if (w->bad || w->len != n + skip ||
	    (n && memcmp(w->data + skip, p, n) != 0))
		abort();
}

static void ask(ab_writer *w, const uint8_t *p, size_t n)
{
	ab_broker_ask got;
	ab_reader r;

	ab_reader_init(&r, p, n);
	if (ab_broker_ask_get(&r, &got))
		return;
	if (got.verb == AB_BROKER_GET_GIT
		    ? strlen(got.name) > AB_BROKER_MAX_HOST
		    : strchr(got.name, '/') || strchr(got.name, '.') ||
			      strlen(got.name) > AB_BROKER_MAX_NAME)
		abort();
	ab_broker_ask_put(w, &got);
	/* kind and fd count come before what was read */
	same(w, 8, p, n);
}

static void answer(ab_writer *w, const uint8_t *p, size_t n)
{
	ab_broker_answer got;
	ab_reader r;

	ab_reader_init(&r, p, n);
	if (ab_broker_answer_get(&r, &got))
		return;
	ab_broker_answer_put(w, &got, 0);
	same(w, 8, p, n);
}

static void plan(ab_writer *w, const uint8_t *p, size_t n)
{
	ab_wire_broker got;
	ab_reader r;

	ab_reader_init(&r, p, n);
	if (ab_wire_broker_get(&r, &got))
		return;
	if (ab_wire_broker_files(&got) > got.count)
		abort();
	if (ab_reader_done(&r)) {
		ab_wire_broker_put(w, &got);
		same(w, 0, p, n);
	}
	ab_wire_broker_end(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(ab_writer *w, const uint8_t *p,
				       size_t n) = { ask, answer, plan };
	ab_writer w;

	if (size < 1)
		return 0;
	ab_writer_init(&w, 1u << 20);
	readers[data[0] % 3](&w, data + 1, size - 1);
	ab_writer_end(&w);
	return 0;
}
