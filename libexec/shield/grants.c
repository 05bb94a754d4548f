/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is granted, as the host last said. Spec: parts.h, DESIGN.md 12. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "parts.h"
#include "scope/tool.h"

int ab_sh_grants_scope(ab_sh_grants *g, const char *tool)
{
	char *copy;

	if (g->tool_count == AB_SHIELD_MAX_TOOLS)
		return -E2BIG;
	copy = ab_strdup(tool);
	if (!copy)
		return -ENOMEM;
	g->tools[g->tool_count++] = copy;
	return 0;
}

static bool take_name(ab_reader *r, char out[AB_SHIELD_MAX_NAME + 1])
{
	const char *s = ab_get_str(r);
	size_t n = strlen(s);

	if (r->bad || n == 0 || n > AB_SHIELD_MAX_NAME)
		return false;
	memcpy(out, s, n + 1);
	return true;
}

int ab_sh_grants_take(ab_sh_grants *g, ab_reader *r)
{
	uint32_t n = ab_get_count(r, AB_SHIELD_MAX_GRANTS);
	uint32_t i = 0;

	g->count = 0;
	g->is_told = true;
	while (i < n && take_name(r, g->items[i].box) &&
	       take_name(r, g->items[i].name))
		i++;
	if (i < n || !ab_reader_done(r))
		return -EPROTO;
	g->count = n;
	return 0;
}

/* DESIGN.md section 12: a policy adds to the kinds and takes none away. */
static bool is_scoped(const ab_sh_grants *g, const char *tool)
{
	size_t n = strlen(tool);

	for (size_t i = 0; ab_policy_scope_kinds[i]; i++)
		if (ab_scope_tool_is(ab_policy_scope_kinds[i], tool, n))
			return true;
	for (size_t i = 0; i < g->tool_count; i++)
		if (ab_scope_tool_is(g->tools[i], tool, n))
			return true;
	return false;
}

const char *ab_sh_grants_refuse(const ab_sh_grants *g, const char *tool,
				const char *box, const char *action)
{
	if (strcmp(box, g->own) == 0)
		return NULL;
	if (is_scoped(g, tool))
		return "this tool works on the box's own scope alone";
	if (strcmp(action, "read") != 0)
		return "nothing but reading is granted to any box";
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->items[i].box, box) == 0 ||
		    strcmp(g->items[i].name, box) == 0)
			return NULL;
	return "no such box is granted";
}

bool ab_sh_grants_cover(const ab_sh_grants *g, const char *name, size_t n)
{
	for (size_t i = 0; i < g->count; i++)
		if (strlen(g->items[i].name) == n &&
		    memcmp(g->items[i].name, name, n) == 0)
			return true;
	return !g->is_told;
}
