/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What other rooms use to record: the public append with a jansson object in
 * place of text. A NULL audit records nothing and returns 0, so that callers
 * without a log need no branch of their own.
 */
#ifndef AB_AUDIT_AUDIT_H
#define AB_AUDIT_AUDIT_H

#include <jansson.h>

#include "agentbox/audit.h"
#include "base/attr.h"

AB_DEFINE_AUTO(agentbox_audit, agentbox_audit_unref)

/*
 * `fields` is borrowed and unchanged; NULL means none. Rules and errors are
 * those of agentbox_audit_append(); types beginning with "audit." are refused
 * here too.
 */
int32_t ab_audit_record(agentbox_audit *audit, const char *type,
			const json_t *fields, agentbox_error **err);

/*
 * A byte string as a field; owned, NULL without memory. Bytes that are no
 * UTF-8 become \xNN; secrets are replaced before that, since what an escape
 * cuts in two is not found again.
 */
json_t *ab_audit_text(agentbox_audit *audit, const char *p, size_t n);

#endif
