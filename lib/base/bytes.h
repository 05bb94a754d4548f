/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_bytes as a growing buffer with a hard maximum. An append that
 * fails (memory, maximum) marks the buffer bad and every later append fails
 * too, so a builder checks once, at the end, with ab_bytes_ok().
 */
#ifndef AB_BASE_BYTES_H
#define AB_BASE_BYTES_H

#include <stdbool.h>

#include "agentbox/base.h"
#include "base/attr.h"

AB_DEFINE_AUTO(agentbox_bytes, agentbox_bytes_free)

/* max: the most it may ever hold, without the closing NUL. NULL on ENOMEM. */
agentbox_bytes *ab_bytes_new(size_t max);
bool ab_bytes_append(agentbox_bytes *b, const void *p, size_t n);
bool ab_bytes_append_str(agentbox_bytes *b, const char *s);
bool ab_bytes_append_char(agentbox_bytes *b, char c);
bool ab_bytes_appendf(agentbox_bytes *b, const char *fmt, ...) AB_PRINTF(2, 3);
bool ab_bytes_ok(const agentbox_bytes *b);
/* Bad because of the maximum, not for want of memory. */
bool ab_bytes_is_over(const agentbox_bytes *b);
/* A copy as agentbox_bytes; NULL on ENOMEM. */
agentbox_bytes *ab_bytes_from(const void *p, size_t n);

#endif
