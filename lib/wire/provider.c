/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan of agentbox-provider as bytes. Spec: provider.h. Libc only. */
#include "config.h"

#include "wire/provider.h"

#include <errno.h>
#include <string.h>

int ab_provider_plan_put(ab_writer *w, const ab_provider_plan *p)
{
	ab_put_str(w, p->build_id);
	ab_put_u32(w, p->timeout_ms);
	ab_put_u32(w, p->argc);
	for (uint32_t i = 0; i < p->argc; i++)
		ab_put_str(w, p->argv[i]);
	ab_put_u32(w, p->box_uid);
	ab_put_u32(w, p->writable_count);
	for (uint32_t i = 0; i < p->writable_count; i++)
		ab_put_str(w, p->writable[i]);
	return w->bad ? -EMSGSIZE : 0;
}

int ab_provider_plan_get(ab_reader *r, const char *build_id,
			 ab_provider_plan *p)
{
	p->build_id = ab_get_str(r);
	if (r->bad)
		return -EPROTO;
	if (strcmp(p->build_id, build_id) != 0)
		return -ESTALE;
	p->timeout_ms = ab_get_u32(r);
	p->argc = ab_get_u32(r);
	if (r->bad || p->argc < 1 || p->argc > AB_PROVIDER_MAX_ARGS)
		return -EPROTO;
	for (uint32_t i = 0; i < p->argc; i++)
		p->argv[i] = ab_get_str(r);
	p->argv[p->argc] = NULL;
	p->box_uid = ab_get_u32(r);
	p->writable_count = ab_get_count(r, AB_PROVIDER_MAX_WRITABLE);
	for (uint32_t i = 0; i < p->writable_count; i++)
		p->writable[i] = ab_get_str(r);
	return ab_reader_done(r) && p->argv[0][0] == '/' && p->timeout_ms
		       ? 0 : -EPROTO;
}
