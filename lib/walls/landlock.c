/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Landlock rules from the views of a box, cut to the kernel's level. In a
 * full box they repeat what the mounts say, held by another mechanism; in the
 * landlock tier they are the wall. Refuses nothing itself: what a level
 * cannot hold is noted, and `require` was judged before.
 * Spec: landlock(7), Documentation/userspace-api/landlock.rst.
 */
#include "config.h"

#include "walls/internal.h"

#include <string.h>

#include "path/lexical.h"

/* The rights by the level that brought them; headers may be older. */
#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_MAKE_CHAR (UINT64_C(1) << 6)
#define FS_MAKE_BLOCK (UINT64_C(1) << 11)
#define FS_LEVEL_1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)	 /* level 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14)	 /* level 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* level 5 */
#define NET_TCP UINT64_C(3)		 /* level 4: bind, connect */
#define SCOPE_ALL UINT64_C(3)		 /* level 6: abstract unix, signals */

/* What a rule on something that is not a directory may carry. */
#define FS_FILE \
	(FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

uint64_t ab_landlock_fs_mask(uint32_t abi)
{
	uint64_t mask = 0;

	if (abi >= 1)
		mask |= FS_LEVEL_1;
	if (abi >= 2)
		mask |= FS_REFER;
	if (abi >= 3)
		mask |= FS_TRUNCATE;
	if (abi >= 5)
		mask |= FS_IOCTL_DEV;
	return mask;
}

static uint64_t view_access(const ab_view *v)
{
	uint64_t access = FS_READ_FILE | FS_READ_DIR;

	if (v->exec)
		access |= FS_EXECUTE;
	if (v->proc)
		return access | FS_WRITE_FILE;
	if (v->device)
		return access | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
	if (v->write)
		access |= (FS_LEVEL_1 | FS_REFER | FS_TRUNCATE) &
			  ~(FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_EXECUTE);
	return v->dir ? access : access & FS_FILE;
}

/* Nothing to add where a rule above gives as much already. */
static void add_rule(ab_build *b, const char *path, uint64_t access)
{
	for (uint32_t i = 0; path && i < b->plan.rule_count; i++) {
		if ((access & ~b->plan.rules[i].access) == 0 &&
		    ab_path_is_below(path, b->plan.rules[i].path))
			return;
	}
	ab_build_rule(b, path, access);
}

/* The host's own harmless devices, where the box has no /dev. */
static void add_host_devices(ab_build *b, uint64_t mask)
{
	static const char *const devices[] = { "/dev/null",   "/dev/zero",
					       "/dev/full",   "/dev/random",
					       "/dev/urandom" };

	for (size_t i = 0; i < AB_ARRAY_LEN(devices); i++)
		ab_build_rule(b, devices[i],
			      (FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE) &
				      mask);
}

static void note_level(ab_build *b, uint32_t abi)
{
	bool alone = !ab_build_has_tree(b);

	if (abi == 1)
		ab_build_note(b, "landlock level 1: files cannot be renamed "
			      "or linked between directories");
	if (abi < 3)
		ab_build_note(b, "landlock level %u does not hold "
			      "truncate(2)%s", abi,
			      alone ? "" : "; read-only mounts do");
	if (abi < 5)
		ab_build_note(b, "landlock level %u does not hold ioctl(2) on "
			      "devices", abi);
	if (!alone)
		return;
	if (abi < 6)
		ab_build_note(b, "landlock level %u does not stop signals to "
			      "other processes of the same user", abi);
	ab_build_note(b, "without a mount namespace modes, owners and times of "
		      "files outside can be changed as far as their "
		      "permissions allow, and names can be probed");
}

static void add_net(ab_build *b, uint32_t abi)
{
	if (b->plan.namespaces & AB_NS_NET)
		return; /* the network namespace holds it: loopback is free */
	if (b->policy->network.mode == AB_NET_HOST)
		return;
	if (abi >= 4)
		b->plan.landlock_net = NET_TCP;
}

int32_t ab_landlock_compile(ab_build *b, agentbox_error **err)
{
	uint32_t abi = b->probe->landlock_abi;
	uint64_t mask = ab_landlock_fs_mask(abi);

	(void)err;
	if (abi == 0) {
		ab_build_note(b, "no landlock in this kernel: mounts alone "
			      "hold files");
		return 0;
	}
	b->plan.landlock_abi = abi;
	b->plan.landlock_fs = mask;
	if (abi >= 6)
		b->plan.landlock_scope = SCOPE_ALL;
	add_net(b, abi);
	if (!ab_build_has_tree(b)) {
		add_host_devices(b, mask);
	} else {
		/* the box's own root holds mount points and links only */
		ab_build_rule(b, "/", FS_READ_DIR & mask);
		ab_build_rule(b, "/etc", (FS_READ_FILE | FS_READ_DIR) & mask);
	}
	for (size_t i = 0; i < b->view_count; i++)
		add_rule(b, b->views[i].inside,
			 view_access(&b->views[i]) & mask);
	note_level(b, abi);
	return 0;
}
