/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-copy reads and writes no archives: those jobs are
 * agentbox-archive's, which has archive.c instead of this file.
 */
#include "config.h"

#include "agentbox/base.h"
#include "supervise.h"

const char copy_program[] = "agentbox-copy";

static int refuse(supervision *s)
{
	return copy_fail(&s->failure, AGENTBOX_EUNSUPPORTED, 0, "job",
			 "archives are agentbox-archive's");
}

int copy_pack(supervision *s)
{
	return refuse(s);
}

int copy_unpack(supervision *s)
{
	return refuse(s);
}
