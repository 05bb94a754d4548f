/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this machine can enforce, without a box of one's own.
 */
#ifndef AGENTBOX_WALLS_H
#define AGENTBOX_WALLS_H

#include <agentbox/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Probe the machine and report as one JSON document: kernel, every tier with
 * whether it can be raised and the exact reason why not, the same for the way
 * to a gateway, Landlock level, seccomp, cgroup layout and delegation,
 * namespaces, and for each thing missing what a person can do about it. Tiers
 * are probed by really raising an empty box through agentbox-init: no guess
 * from version numbers. Any thread; takes a few milliseconds per tier, and
 * leaves nothing behind but the state directory, which it makes as a box
 * would. Errors: AGENTBOX_EHELPER, and those of
 * agentbox_context_set_state_dir().
 */
AGENTBOX_API int32_t agentbox_walls_probe(agentbox_context *context,
					  agentbox_bytes **json,
					  agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
