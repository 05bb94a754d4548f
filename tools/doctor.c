/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox doctor: the probe of agentbox_walls(3) as a table for people. It
 * judges nothing itself; --json prints what the library found.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <agentbox/walls.h>

#include "text.h"
#include "tool.h"

int tool_doctor(tool *t, const tool_args *args)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;

	(void)args;
	text_progress_begin("raising empty boxes");
	int32_t rc = agentbox_walls_probe(t->context, &bytes, &err);
	text_progress_end();
	if (rc < 0)
		return tool_fail(t, err, NULL);
	json_t *report = tool_json_of(bytes);
	if (t->json)
		return tool_print_json(t, report);
	text_outline(stderr, 0, report);
	json_decref(report);
	return TOOL_OK;
}
