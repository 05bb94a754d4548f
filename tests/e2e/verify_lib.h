/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A box is verified, and what was found is asked for. Spec: box.h. */
#ifndef E2E_VERIFY_LIB_H
#define E2E_VERIFY_LIB_H

#include "box.h"

#include "agentbox/verify.h"

/* The report of the box of the case, freed with the next one. */
agentbox_verify *verify_box(void);
/* Walls that findings of this verdict are of, each once, by name: "a b". */
const char *verify_walls(const agentbox_verify *report, const char *verdict);
/* Every finding of this verdict, for whoever reads the log. */
void verify_note(const agentbox_verify *report, const char *verdict);
/* The verdict of a probe, "" when there is none of this name. */
const char *verify_verdict(const agentbox_verify *report, const char *probe);

#endif
