/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The helper's half of the helper contract (DESIGN.md section 2): fd 3
 * control, fd 4 the sealed plan, nothing else; hello before the plan is
 * honoured; the host's life is ours. The host's half is base/spawn.h. Compiled
 * into helpers only. Libc only; -errno form.
 */
#ifndef AB_WIRE_HELPER_H
#define AB_WIRE_HELPER_H

#include <stdint.h>

#include "wire/codec.h"

#define AB_HELPER_CONTROL_FD 3
#define AB_HELPER_PLAN_FD 4
#define AB_HELPER_FIRST_FREE_FD 5

/*
 * Not dumpable, known to ps as `name`, every descriptor closed that the
 * contract does not name, and the two that it names not handed on.
 */
int ab_helper_begin(const char *name);
/*
 * The agent decides what a helper has to do: it does that no sooner than
 * others do theirs (wire/schedule.h), also where the host runs before them. A
 * failure is told to the host in the place of hello.
 */
int ab_helper_run_as_others(void);
/*
 * A pidfd of the host, which no later process can be mistaken for: it is our
 * parent still, so its pid was not reused. -ESRCH: it is gone.
 */
int ab_helper_open_host(void);
/* With our own pidfd and build id; a failure is told to the host. */
int ab_helper_say_hello(const char *name);
/* The plan, sealed and mapped for as long as we live. */
int ab_helper_map_plan(ab_reader *plan);
/* A word of this kind, and no more than that. */
int ab_helper_say(uint32_t kind);
/*
 * Why there will be none of what the host asked for: the kind's message is str
 * stage, i32 errno, str message. It is all that can still be done, so errors
 * are ignored.
 */
void ab_helper_say_failed(uint32_t kind, const char *stage, int sys_errno,
			  const char *message);

#endif
