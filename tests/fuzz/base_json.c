/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON front end: what it accepts jansson accepts with the same value, the
 * root is in the index, the canonical text is a fixed point, and nothing that
 * it must refuse comes through.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_canonical(const json_t *value)
{
	ab_auto(agentbox_bytes) *out = NULL;
	ab_auto(agentbox_bytes) *again = NULL;
	ab_auto(json_t) *back = NULL;

	if (ab_json_canonical(value, &out, NULL))
		return;
	if (ab_json_parse(agentbox_bytes_get_data(out),
			  agentbox_bytes_get_size(out), 16u << 20, &back, NULL,
			  NULL) ||
	    !json_equal(value, back) || ab_json_canonical(back, &again, NULL) ||
	    strcmp(agentbox_bytes_get_data(out),
		   agentbox_bytes_get_data(again)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_auto(agentbox_error) *err = NULL;
	ab_auto(ab_json_index) *index = NULL;
	ab_auto(json_t) *value = NULL;
	ab_auto(json_t) *other = NULL;
	unsigned line = 0, column = 0;
	int32_t r = ab_json_parse((const char *)data, size, 1u << 20, &value,
				  &index, &err);

	if (r) {
		if (value || index || agentbox_error_get_code(err) != r)
			abort();
		return 0;
	}
	other = json_loadb((const char *)data, size,
			   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	if (!other || !json_equal(value, other) || memchr(data, 0, size) ||
	    ab_json_index_find(index, "", &line, &column) || line == 0 ||
	    column == 0)
		abort();
	check_canonical(value);
	return 0;
}
