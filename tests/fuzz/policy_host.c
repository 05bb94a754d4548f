/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Host patterns: the canonical text parses to itself, covering is reflexive,
 * and the intersection of two sets is covered by both.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "net/hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 8

/* Lines of the input as a set; the rest stays unread. */
static void read_set(char **text, ab_host_set *set)
{
	ab_host *items = calloc(MOST, sizeof(*items));
	char why[AB_WHY_SIZE];
	char out[AB_HOST_TEXT_SIZE];
	size_t n = 0;

	for (size_t i = 0; items && i < MOST && *text; i++) {
		char *line = strsep(text, "\n");
		ab_host again;

		if (!ab_host_parse(line, &items[n], why))
			continue;
		ab_host_text(&items[n], out);
		if (!ab_host_parse(out, &again, why) ||
		    memcmp(&again, &items[n], sizeof(again)) != 0 ||
		    !ab_host_covers(&again, &items[n], true))
			abort();
		n++;
	}
	if (!items || ab_host_set_init(set, items, n) < 0)
		ab_host_set_end(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ab_memdup0(data, size);
	char *rest = text;
	ab_host_set a = { 0 };
	ab_host_set b = { 0 };
	ab_host_set both = { 0 };

	if (!text)
		return 0;
	read_set(&rest, &a);
	read_set(&rest, &b);
	if (ab_host_set_intersect(&a, &b, &both) == 0)
		for (size_t i = 0; i < both.count; i++)
			if (!ab_host_set_covers(&a, &both.items[i], false) ||
			    !ab_host_set_covers(&b, &both.items[i], false))
				abort();
	ab_host_set_end(&a);
	ab_host_set_end(&b);
	ab_host_set_end(&both);
	free(text);
	return 0;
}
