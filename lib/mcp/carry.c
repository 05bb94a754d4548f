/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames with their askers, and what outlives a session. Spec: carry.h. */
#include "config.h"

#include "mcp/carry.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "mcp/internal.h"

bool ab_mcp_next(agentbox_mcp *m, ab_mcp_frame *frame)
{
	if (m->frame_first == m->frame_end) {
		m->frame_first = m->frame_end = 0;
		return false;
	}
	*frame = m->frames[m->frame_first];
	m->frames[m->frame_first++] = (ab_mcp_frame){ 0 };
	return true;
}

void ab_mcp_frame_end(ab_mcp_frame *frame)
{
	agentbox_bytes_free(frame->bytes);
	json_decref(frame->message);
	*frame = (ab_mcp_frame){ 0 };
}

int32_t ab_mcp_lost(agentbox_mcp *m, const json_t *id, const char *message,
		    const char *reason, agentbox_error **err)
{
	ab_mcp_call *call = ab_mcp_call_by_id(m->calls, AB_MCP_CALLS, id);
	int32_t rc;

	if (!call || m->state == AB_MCP_OVER)
		return 0;
	m->err = err;
	m->scope = call->scope;
	ab_mcp_unsettle(m, call);
	rc = ab_mcp_refuse(m, AGENTBOX_MCP_CLIENT, call->asked, AB_MCP_REFUSED,
			   message, reason, 0);
	ab_mcp_call_end(call);
	m->err = NULL;
	if (rc < 0)
		m->state = AB_MCP_OVER;
	return rc;
}

void ab_mcp_forget(agentbox_mcp *m, uint64_t scope)
{
	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		if (m->calls[i].id && m->calls[i].scope == scope) {
			ab_mcp_unsettle(m, &m->calls[i]);
			ab_mcp_call_end(&m->calls[i]);
		}
}

enum ab_mcp_version ab_mcp_settled(const agentbox_mcp *m)
{
	return m->version;
}

bool ab_mcp_waits(const agentbox_mcp *m, uint64_t scope)
{
	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		if (m->calls[i].id && m->calls[i].scope == scope)
			return true;
	return false;
}

ab_mcp_memory *ab_mcp_memory_new(void)
{
	ab_mcp_memory *memory = ab_new(ab_mcp_memory);

	if (!memory)
		return NULL;
	memory->refs = 1;
	memory->known = json_object();
	memory->params = json_object();
	if (memory->known && memory->params)
		return memory;
	ab_mcp_memory_unref(memory);
	return NULL;
}

void ab_mcp_memory_unref(ab_mcp_memory *memory)
{
	if (!memory || --memory->refs)
		return;
	json_decref(memory->known);
	json_decref(memory->params);
	free(memory);
}

ab_mcp_memory *ab_mcp_memory_of(agentbox_mcp *m)
{
	m->memory->refs++;
	return m->memory;
}

void ab_mcp_memory_join(agentbox_mcp *m, ab_mcp_memory *memory)
{
	memory->refs++;
	ab_mcp_memory_unref(m->memory);
	m->memory = memory;
}
