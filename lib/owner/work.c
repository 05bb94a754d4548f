/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spec: work.h. */
#include "config.h"

#include "owner/work.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "owner/internal.h"

bool ab_owner_can_work(const agentbox_request *request,
		       const agentbox_sandbox *box)
{
	const agentbox_owner *o = request->owner;

	return o &&
	       ab_owner_find_box(o, agentbox_sandbox_get_id(box)) == box;
}

bool ab_owner_begin_work(agentbox_request *request, agentbox_sandbox *box,
			 const ab_work_kind *kind, void *arg)
{
	agentbox_owner *o = request->owner;
	ab_owner_work *w = ab_new(ab_owner_work);

	if (!w)
		return false;
	*w = (ab_owner_work){ .source = { SOURCE_WORK }, .owner = o,
			      .box = box, .request = request, .kind = kind,
			      .arg = arg, .next = o->works };
	if (ab_owner_watch(o, kind->fd(arg), &w->source) < 0) {
		free(w);
		return false;
	}
	o->works = w;
	return true;
}

static void give_up(ab_owner_work *w)
{
	if (w->gone)
		return;
	w->gone = true;
	ab_owner_unwatch(w->owner, w->kind->fd(w->arg));
	w->kind->end(w->arg);
}

static void sweep(agentbox_owner *o)
{
	for (ab_owner_work **at = &o->works; *at;) {
		ab_owner_work *w = *at;

		if (!w->gone) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
	}
}

void ab_owner_work_all(agentbox_owner *o)
{
	for (ab_owner_work *w = o->works; w; w = w->next) {
		/* nobody waits for it any more */
		if (!w->request->client || w->kind->turn(w->arg))
			give_up(w);
	}
	sweep(o);
}

void ab_owner_end_works(agentbox_owner *o, const agentbox_sandbox *box)
{
	for (ab_owner_work *w = o->works; w; w = w->next) {
		if (!box || w->box == box)
			give_up(w);
	}
	sweep(o);
}

int64_t ab_owner_work_timeout_ms(const agentbox_owner *o)
{
	int64_t least = -1;

	for (const ab_owner_work *w = o->works; w; w = w->next) {
		int64_t ms = w->kind->timeout_ms(w->arg);

		if (ms >= 0 && (least < 0 || ms < least))
			least = ms;
	}
	return least;
}
