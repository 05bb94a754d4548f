/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gateway's plan, its lists and its records: whatever the bytes are, they
 * are read or refused; lists and records are written as the same bytes again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/gateway.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BUILD "build"

static void plan(const uint8_t *p, size_t n)
{
	ab_gateway_plan got;
	ab_reader r;

	ab_reader_init(&r, p, n);
	if (ab_gateway_plan_get(&r, BUILD, &got))
		return;
	for (size_t i = 0; i < AB_GATEWAY_LISTS; i++)
		for (uint32_t j = 0; j < got.lists.count[i]; j++)
			if (strlen(got.lists.items[i][j]) >= n)
				abort();
	if (got.tools.len + got.identity.len >= n)
		abort();
	ab_wire_routes_end(&got.routes);
	ab_gateway_lists_end(&got.lists);
	ab_wire_broker_end(&got.broker);
}

static void lists(const uint8_t *p, size_t n)
{
	ab_gateway_lists got;
	ab_reader r;
	ab_writer w;

	ab_reader_init(&r, p, n);
	if (ab_gateway_lists_get(&r, &got))
		return;
	ab_writer_init(&w, 1u << 20);
	ab_gateway_lists_put(&w, &got);
	if (w.bad || w.len != n || memcmp(w.data, p, n) != 0)
		abort();
	ab_writer_end(&w);
	ab_gateway_lists_end(&got);
}

static void record(const uint8_t *p, size_t n)
{
	ab_gateway_record got;
	ab_reader r;
	ab_writer w;

	ab_reader_init(&r, p, n);
	if (ab_gateway_record_get(&r, &got))
		return;
	ab_writer_init(&w, 1u << 20);
	ab_gateway_record_put(&w, &got);
	/* kind and fd count come before what was read */
	if (w.bad || w.len != n + 8 || memcmp(w.data + 8, p, n) != 0)
		abort();
	ab_writer_end(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0] % 3) {
	case 0:
		plan(data + 1, size - 1);
		break;
	case 1:
		lists(data + 1, size - 1);
		break;
	default:
		record(data + 1, size - 1);
	}
	return 0;
}
