/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host's lists as a table. */
#ifndef GATEWAY_LISTS_H
#define GATEWAY_LISTS_H

#include <stddef.h>

#include "net/allow.h"
#include "wire/gateway.h"

/* 0, -EINVAL (why: which entry, and how to write it), -E2BIG, -ENOMEM. */
int ab_lists_compile(const ab_gateway_lists *lists, ab_allow *out, char *why,
		     size_t size);

#endif
