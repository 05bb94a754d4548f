/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log that --audit names. */
#ifndef TOOLS_LOG_H
#define TOOLS_LOG_H

#include <agentbox/audit.h>

#include "tool.h"

/* Open it for appending. 0 or an exit status, already said; *audit NULL. */
int tool_log_open(tool *t, const char *log, agentbox_audit **audit);

#endif
