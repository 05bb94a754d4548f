/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls under way, as the host announces them. Spec: parts.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "parts.h"

static size_t find(const ab_sh_calls *c, const char *id)
{
	size_t i = 0;

	while (i < c->count && strcmp(c->ids[i], id) != 0)
		i++;
	return i;
}

int ab_sh_calls_begin(ab_sh_calls *c, const char *id)
{
	size_t n = strlen(id);

	if (n == 0 || n > AB_SHIELD_MAX_NAME)
		return -EINVAL;
	if (find(c, id) < c->count)
		return -EEXIST;
	if (c->count == AB_SHIELD_MAX_CALLS)
		return -E2BIG;
	memcpy(c->ids[c->count++], id, n + 1);
	c->is_told = true;
	return 0;
}

int ab_sh_calls_end(ab_sh_calls *c, const char *id)
{
	size_t i = find(c, id);

	if (i == c->count)
		return -ENOENT;
	c->count--;
	if (i != c->count)
		memcpy(c->ids[i], c->ids[c->count], sizeof(c->ids[i]));
	return 0;
}

bool ab_sh_calls_cover(const ab_sh_calls *c)
{
	return c->count > 0 || !c->is_told;
}

const char *ab_sh_calls_one(const ab_sh_calls *c)
{
	return c->count == 1 ? c->ids[0] : "";
}
