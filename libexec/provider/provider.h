/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of agentbox-provider. */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "wire/provider.h"

#define WHY_SIZE 512

/*
 * trust.c: a program, every directory and link of whose path, and the file
 * itself, nobody but root and we could have written or can replace, and none
 * of which lies where the box can write. *to is where it leads, to be executed
 * by that name. false, and *why says what it is. Spec: DESIGN.md section 9.
 */
bool provider_trusts(const ab_provider_plan *plan, char to[AB_MAX_PATH],
		     char why[WHY_SIZE]);

/*
 * origin.c: "DEVICE PATH", the path in its file system, so that it is the same
 * for what is mounted twice, one behind the other; of what an overlay shows
 * each layer in which it may be, or, with `writes`, in which what is written
 * there is. false: it cannot be told.
 */
#define PROVIDER_ORIGINS 65536
typedef struct provider_origins {
	size_t len; /* each with its NUL */
	char text[PROVIDER_ORIGINS];
} provider_origins;
bool provider_origin(const char *path, bool writes, provider_origins *o);

/*
 * run.c: what the program prints, as a sealed memfd (owned), or -1 and *why
 * says what there was instead. Whatever it started has ended. Does not return
 * where the host went away or wants it no more.
 */
int provider_run(const char *path, const char *const *argv,
		 unsigned timeout_ms, int host_pidfd, char why[WHY_SIZE]);

#endif
