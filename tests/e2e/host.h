/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two halves of the harness share. Spec: tests/e2e/box.h.
 */
#ifndef E2E_HOST_H
#define E2E_HOST_H

#include <stdbool.h>
#include <stddef.h>

/* Owned by the case from now on; NULL ends it (out of memory). */
void *e2e_keep(void *p);
/* What a case that runs out of time was doing; kept text. */
void e2e_doing(const char *what);
/* box.c: free what the case holds. */
void box_teardown(void);
/* box.c: id number `index` of the boxes this case raised, or NULL. */
const char *box_id_seen(size_t index);
/* Can this user make a user namespace with a mount and a pid namespace? */
bool host_can_make_namespaces(void);

#endif
