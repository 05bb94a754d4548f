/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors are made once, where they are noticed. Every maker returns the code
 * so that a caller can write: return ab_error_set(err, AGENTBOX_EINVAL, ...).
 * `err` may be NULL. When memory for the error runs out a static ENOMEM
 * error is handed out (agentbox_error_free() knows it).
 */
#ifndef AB_BASE_ERROR_H
#define AB_BASE_ERROR_H

#include "agentbox/base.h"
#include "base/attr.h"

/* Room for the words after a refused value: `is not a size; write "4GiB"`. */
#define AB_WHY_SIZE 200

AB_DEFINE_AUTO(agentbox_error, agentbox_error_free)

/* errno part is 0. `where` is "" or NULL for the call itself. */
int32_t ab_error_set(agentbox_error **err, int32_t code, const char *where,
		     const char *fmt, ...) AB_PRINTF(4, 5);

/*
 * A failed system call: errno `sys_errno` is stored and its text appended
 * after ": ". ENOENT maps to AGENTBOX_ENOTFOUND, EACCES/EPERM to
 * AGENTBOX_EACCES, ENOMEM to AGENTBOX_ENOMEM, the rest to AGENTBOX_ESYS.
 */
int32_t ab_error_sys(agentbox_error **err, int sys_errno, const char *where,
		     const char *fmt, ...) AB_PRINTF(4, 5);

/* The same with a code of the caller's choosing. */
int32_t ab_error_sys_code(agentbox_error **err, int32_t code, int sys_errno,
			  const char *where, const char *fmt, ...)
	AB_PRINTF(5, 6);

int32_t ab_error_nomem(agentbox_error **err);

/* A copy of `from` (NULL: ENOMEM) into *to; returns its code. */
int32_t ab_error_copy(agentbox_error **to, const agentbox_error *from);

/* Move *from into *to (or free it when `to` is NULL); returns its code. */
int32_t ab_error_move(agentbox_error **to, agentbox_error **from);

#endif
