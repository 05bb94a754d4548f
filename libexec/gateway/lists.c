/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host's lists, compiled whole or not at all (gateway case 4). */
#include "config.h"

#include "lists.h"

#include <errno.h>
#include <stdio.h>

int ab_lists_compile(const ab_gateway_lists *lists, ab_allow *out, char *why,
		     size_t size)
{
	static const char *const names[] = { "allow", "deny", "private" };
	ab_allow_text text = { 0 };
	ab_allow_error bad = { 0 };
	int rc;

	for (size_t i = 0; i < 3; i++) {
		text.list[i].items = lists->items[i];
		text.list[i].count = lists->count[i];
	}
	rc = ab_allow_init(out, &text, &bad);
	if (rc == -EINVAL || rc == -E2BIG)
		snprintf(why, size, "network.%s[%zu] %s",
			 bad.list <= AB_ALLOW_LIST_PRIVATE ? names[bad.list]
							   : "routes",
			 bad.index, bad.why);
	return rc;
}
