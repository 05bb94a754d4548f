/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The jobs of agentbox-archive, as their supervisor. A pack is a copy whose
 * writer writes an archive. Spec: archives.h, wire/copy.h.
 */
#include "config.h"

#include "archives.h"

#include "agentbox/base.h"

const char copy_program[] = "agentbox-archive";

/* --- pack ----------------------------------------------------------------- */

static int start_packing(supervision *s)
{
	int r = copy_send_word(s->writer.sock, COPY_WORD_START, NULL, 0, NULL,
			       0);

	return r ? copy_fail(&s->failure, AGENTBOX_EHELPER, -r, "packer",
			     "cannot start the packer")
		 : 0;
}

int copy_pack(supervision *s)
{
	s->begin = start_packing;
	if (copy_start_reader(s) ||
	    copy_start(s, &s->writer, copy_packer, s->job->stream_fd, -1) ||
	    copy_supervisor_role(s))
		return -1;
	return copy_wait_for_both(s);
}

/* --- unpack --------------------------------------------------------------- */

int copy_unpack(supervision *s)
{
	return copy_fail(&s->failure, AGENTBOX_EUNSUPPORTED, 0, "job",
			 "archives are not read yet");
}
