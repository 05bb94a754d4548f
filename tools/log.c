/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log that --audit names, opened for appending: its signing key and its
 * anchor are kept in the state directory, where no box reaches them.
 * Specification: agentbox(1), agentbox-audit(5).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"
#include "text.h"

static int make_key_dir(tool *t)
{
	char *dir = t->state ? text_format("%s/audit", t->state) : NULL;
	int rc = 0;

	if (!dir)
		return 0;
	mkdir(t->state, 0700);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		rc = tool_refuse(t, TOOL_REFUSED, "EACCES", "--audit",
				 "cannot keep the signing key in '%s': %s; "
				 "give --state DIR", dir, strerror(errno));
	free(dir);
	return rc;
}

int tool_log_open(tool *t, const char *log, agentbox_audit **audit)
{
	char *key = tool_audit_beside(t, log, "key");
	char *anchor = tool_audit_beside(t, log, "anchor");
	agentbox_error *err = NULL;
	int rc = make_key_dir(t);

	if (!rc &&
	    (agentbox_audit_new(t->context, audit, &err) < 0 ||
	     agentbox_audit_set_path(*audit, log, &err) < 0 ||
	     (key && agentbox_audit_set_key_file(*audit, key, &err) < 0) ||
	     (anchor &&
	      agentbox_audit_set_anchor_file(*audit, anchor, &err) < 0) ||
	     agentbox_audit_open(*audit, &err) < 0)) {
		bool tampered = agentbox_error_get_code(err) ==
				AGENTBOX_ETAMPERED;
		rc = tool_fail_name(t, err, "--audit");
		agentbox_audit_unref(*audit);
		*audit = NULL;
		if (tampered && key)
			text_note("if you removed or replaced the log "
				  "yourself, also remove '%s' and its .anchor",
				  key);
	}
	free(key);
	free(anchor);
	return rc;
}
