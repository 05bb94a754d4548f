/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what a revocation cuts. Spec: gw.h. */
#include "config.h"

#include "gw.h"

void ab_live_add(ab_gw *gw, ab_live *l, void (*cut)(void *arg), void *arg)
{
	ab_live **list = ab_gw_live(gw);

	*l = (ab_live){ *list, list, cut, arg, NULL };
	if (l->next)
		l->next->back = &l->next;
	*list = l;
}

void ab_live_remove(ab_live *l)
{
	if (!l->back)
		return;
	*l->back = l->next;
	if (l->next)
		l->next->back = l->back;
	*l = (ab_live){ 0 };
}

uint64_t ab_live_cut(ab_gw *gw, const void *of)
{
	ab_live *l = *ab_gw_live(gw), here;
	uint64_t count = 0;

	while (l) {
		void (*cut)(void *arg) = l->cut;
		void *arg = l->arg;

		if (of && l->of != of) {
			l = l->next;
			continue;
		}
		/* what is cut may take others with it: our place stays */
		here = (ab_live){ .next = l->next, .back = &l->next };
		if (here.next)
			here.next->back = &here.next;
		l->next = &here;
		ab_live_remove(l);
		cut(arg);
		l = here.next;
		ab_live_remove(&here);
		/* all: also what came in front meanwhile */
		if (!of)
			l = *ab_gw_live(gw);
		count++;
	}
	return count;
}
