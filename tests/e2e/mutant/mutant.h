/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which wall this agentbox-init leaves out. Spec: mutant.c. */
#ifndef AB_MUTANT_H
#define AB_MUTANT_H

#include <stdbool.h>

/* Known from the first look at a plan on. */
bool lacks(const char *wall);

#endif
