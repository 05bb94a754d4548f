/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shield's plan and records as bytes; what is read is bounded and refused
 * when anything is left over. Spec: shield.h. Libc only.
 */
#include "config.h"

#include "wire/shield.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"

int ab_shield_plan_put(ab_writer *w, const ab_shield_plan *p)
{
	ab_put_str(w, p->build_id);
	ab_put_str(w, p->box_id);
	ab_put_u32(w, p->mode);
	ab_put_u32(w, p->flags);
	ab_put_u32(w, p->uid);
	ab_put_u32(w, p->gid);
	ab_put_u32(w, p->ask_ms);
	ab_put_str(w, p->workspace);
	ab_put_str(w, p->home);
	ab_put_str(w, p->policy);
	return w->bad ? -EMSGSIZE : 0;
}

int ab_shield_plan_get(ab_reader *r, const char *build_id, ab_shield_plan *p)
{
	p->build_id = ab_get_str(r);
	if (r->bad)
		return -EPROTO;
	if (strcmp(p->build_id, build_id) != 0)
		return -ESTALE;
	p->box_id = ab_get_str(r);
	p->mode = ab_get_u32(r);
	p->flags = ab_get_u32(r);
	p->uid = ab_get_u32(r);
	p->gid = ab_get_u32(r);
	p->ask_ms = ab_get_u32(r);
	p->workspace = ab_get_str(r);
	p->home = ab_get_str(r);
	p->policy = ab_get_str(r);
	if (!ab_reader_done(r) || p->mode > 2 ||
	    (p->flags & ~AB_SHIELD_AUDITED) || p->uid == UINT32_MAX ||
	    p->gid == UINT32_MAX || p->ask_ms == 0 ||
	    strlen(p->workspace) >= AB_MAX_PATH ||
	    strlen(p->home) >= AB_MAX_PATH)
		return -EPROTO;
	return 0;
}

void ab_shield_record_put(ab_writer *w, const ab_shield_record *m)
{
	ab_put_u32(w, AB_MSG_SH_RECORD);
	ab_put_u32(w, 0);
	ab_put_u32(w, m->kind);
	ab_put_u32(w, m->answer);
	ab_put_u32(w, m->flags);
	ab_put_u32(w, m->verdict);
	ab_put_u64(w, m->id);
	ab_put_u32(w, m->pid);
	ab_put_str(w, m->object);
	ab_put_str(w, m->command);
	ab_put_str(w, m->rule);
	ab_put_str(w, m->reason);
	ab_put_str(w, m->call);
	ab_put_u64(w, m->lost);
}

static bool is_one_of(uint32_t value, uint32_t last)
{
	return value >= 1 && value <= last;
}

int ab_shield_record_get(ab_reader *r, ab_shield_record *m)
{
	m->kind = ab_get_u32(r);
	m->answer = ab_get_u32(r);
	m->flags = ab_get_u32(r);
	m->verdict = ab_get_u32(r);
	m->id = ab_get_u64(r);
	m->pid = ab_get_u32(r);
	m->object = ab_get_str(r);
	m->command = ab_get_str(r);
	m->rule = ab_get_str(r);
	m->reason = ab_get_str(r);
	m->call = ab_get_str(r);
	m->lost = ab_get_u64(r);
	if (!ab_reader_done(r) || !is_one_of(m->kind, AB_SHIELD_KINDS) ||
	    !is_one_of(m->answer, AB_SHIELD_ANSWERS) || m->verdict > 3 ||
	    (m->flags & ~AB_SHIELD_FLAGS) ||
	    (m->answer == AB_SHIELD_ASKED && m->id == 0))
		return -EPROTO;
	return 0;
}
