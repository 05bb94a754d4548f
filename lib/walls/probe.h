/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the probe that tests feed with texts; see probe.c, layout.c. */
#ifndef AB_WALLS_PROBE_H
#define AB_WALLS_PROBE_H

#include "walls/walls.h"

/* From the text of a uid_map; false: no run worth using. */
bool ab_probe_pick_pool(const char *map, uint32_t *first, uint32_t *count);

/*
 * Fill the cgroup fields from the texts of /proc/self/cgroup and
 * /proc/self/mountinfo, checking each directory for write access.
 */
void ab_probe_cgroups(ab_probe *p, const char *own, const char *mounts);

/*
 * Where our own cgroup of a hierarchy is in the file system: "name" is a v1
 * controller, or "" for v2. False: not mounted, or mounted without us.
 */
bool ab_probe_cgroup_path(const char *name, const char *own,
			  const char *mounts, char *out, size_t size);

#endif
