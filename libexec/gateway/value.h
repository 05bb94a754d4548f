/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The value of a secret, which comes as a descriptor that nobody read before:
 * into guarded memory, and never farther than the caller says.
 */
#ifndef GATEWAY_VALUE_H
#define GATEWAY_VALUE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * All of a regular file or memfd into p; how many bytes, -EFBIG when there are
 * more than `max`, -EACCES: it is something else, or -errno.
 */
ssize_t ab_value_read(int fd, char *p, size_t max);

#endif
