/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what a revocation cuts. Spec: gw.h. */
#include "config.h"

#include "gw.h"

void ab_live_add(ab_gw *gw, ab_live *l, void (*cut)(void *arg), void *arg)
{
	ab_live **list = ab_gw_live(gw);

	*l = (ab_live){ *list, list, cut, arg };
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
