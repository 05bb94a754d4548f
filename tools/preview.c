/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * --preview PORT: that port of the box at the same port of this machine's
 * loopback, or at another one where that is taken. Specification: agentbox(1).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "text.h"

static int open_one(session *s, uint32_t port)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(s->box);
	agentbox_error *err = NULL;
	uint32_t bound = 0;
	int32_t rc = agentbox_gateway_open_preview(gateway, port, port, &bound,
						   &err);

	/* taken, or one that only root may have */
	if (rc == AGENTBOX_EBUSY || rc == AGENTBOX_EACCES) {
		agentbox_error_free(err);
		err = NULL;
		rc = agentbox_gateway_open_preview(gateway, port, 0, &bound,
						   &err);
	}
	/* given twice is the same */
	if (rc == AGENTBOX_EEXIST) {
		agentbox_error_free(err);
		return 0;
	}
	if (rc < 0)
		return tool_fail_as(s->t, TOOL_NO_BOX, err, "--preview");
	text_note("port %u of the box is at http://127.0.0.1:%u/", port,
		  bound);
	if (!s->previews)
		s->previews = json_array();
	json_array_append_new(s->previews,
			      json_pack("{s:i, s:i}", "port", (int)port,
					"host_port", (int)bound));
	return 0;
}

int tool_open_previews(session *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->args->value_count; i++) {
		const tool_value *v = &s->args->values[i];

		if (!strcmp(v->option->name, "--preview"))
			rc = open_one(s, (uint32_t)strtoul(v->value, NULL,
							   10));
	}
	return rc;
}
