/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walls a process carries: no capability in any of the five sets, no new
 * privileges, not dumpable, Landlock, seccomp. PID 1 takes the first three,
 * the launcher inherits them and adds the last two, and every command
 * inherits all of them. Nothing here can be undone by its process.
 * Spec: capabilities(7), landlock(7), seccomp(2), DESIGN.md section 6.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fd.h"
#include "sys.h"

/* ABI 1 knows only the first field, ABI 4 the second, ABI 6 the third. */
static size_t ruleset_size(const ab_plan *p)
{
	if (p->landlock_scope)
		return sizeof(struct ab_landlock_ruleset_attr);
	if (p->landlock_net)
		return offsetof(struct ab_landlock_ruleset_attr, scoped);
	return offsetof(struct ab_landlock_ruleset_attr, handled_access_net);
}

static int add_rule(init_box *box, int root_fd, uint32_t i)
{
	const ab_plan_rule *rule = &box->plan.rules[i];
	ab_autofd int fd = -1;
	struct ab_landlock_path_beneath_attr attr;
	int r;

	fd = init_open_beneath(root_fd, rule->path + 1, 0);
	if (fd == -ENOENT || fd == -EACCES) {
		/* a grant on nothing grants nothing */
		init_note(box, "landlock: %s is not there", rule->path);
		return 0;
	}
	if (fd < 0)
		return init_fail(box, -fd, "", "landlock[%u] %s", i,
				 rule->path);
	attr.allowed_access = rule->access;
	attr.parent_fd = fd;
	r = ab_sys_landlock_add(box->ruleset_fd, &attr);
	if (r < 0)
		return init_fail(box, -r,
				 "a rule for a file may hold only rights on "
				 "files",
				 "landlock[%u] %s", i, rule->path);
	return 0;
}

int init_prepare_landlock(init_box *box)
{
	const ab_plan *p = &box->plan;
	struct ab_landlock_ruleset_attr attr = {
		.handled_access_fs = p->landlock_fs,
		.handled_access_net = p->landlock_net,
		.scoped = p->landlock_scope,
	};
	ab_autofd int host_root_fd = -1;
	int root_fd = box->root_fd;

	box->ruleset_fd = -1;
	if (p->landlock_abi == 0)
		return 0;
	box->ruleset_fd = ab_fd_lift(
		ab_sys_landlock_create(&attr, ruleset_size(p)));
	if (box->ruleset_fd < 0)
		return init_fail(box, -box->ruleset_fd,
				 "the kernel has another Landlock than the "
				 "plan was made for",
				 "landlock");
	/* a tier without a tree of its own */
	if (root_fd < 0)
		root_fd = host_root_fd =
			open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return init_fail(box, errno, "", "landlock");
	for (uint32_t i = 0; i < p->rule_count; i++) {
		if (add_rule(box, root_fd, i))
			return -1;
	}
	return 0;
}

/*
 * An unprivileged process outside a user namespace (tier landlock) may not
 * touch its bounding set: no_new_privs makes it meaningless there.
 */
static int drop_bounding_set(void)
{
	for (int cap = 0; cap <= 63; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		return errno == EINVAL ? 0 : -errno;
	}
	return 0;
}

/* uid 0 means nothing, no ambient capabilities, and no way back. */
#define SECUREBITS                                                  \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |                     \
	 SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |   \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |    \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

int init_bound_privileges(init_box *box)
{
	bool owns = box->plan.namespaces & AB_NS_USER;
	int r;

	/* no walls: the commands keep what the host has, also for sudo(8) */
	if (box->plan.tier == AB_TIER_BARE)
		return 0;
	/* before the capabilities that allow it are gone */
	if (owns && prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0))
		return init_fail(box, errno, "", "capabilities: securebits");
	r = drop_bounding_set();
	if (r && owns)
		return init_fail(box, -r, "", "capabilities: bounding set");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return init_fail(box, errno, "", "capabilities: ambient");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return init_fail(box, errno, "", "no_new_privs");
	box->walls |= AB_WALL_NNP;
	return 0;
}

int init_drop_privileges(init_box *box)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	if (box->plan.tier != AB_TIER_BARE) {
		if (syscall(SYS_capset, &header, none))
			return init_fail(box, errno, "", "capabilities");
		box->walls |= AB_WALL_CAPS;
	}
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return init_fail(box, errno, "", "dumpable");
	if (box->plan.tier == AB_TIER_BARE)
		return 0;
	if (box->ruleset_fd >= 0)
		box->walls |= AB_WALL_LANDLOCK;
	if (box->plan.seccomp_len)
		box->walls |= AB_WALL_SECCOMP;
	return 0;
}

int init_raise_landlock(const init_box *box)
{
	return box->ruleset_fd < 0
		       ? 0
		       : ab_sys_landlock_restrict(box->ruleset_fd);
}

int init_raise_seccomp(const init_box *box)
{
	/* the kernel copies it and does not write */
	struct sock_fprog program = {
		.len = (unsigned short)(box->plan.seccomp_len /
					sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)box->plan.seccomp,
	};

	if (!program.len)
		return 0;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
		       ? -errno
		       : 0;
}

/* Stdio of the box, not of the host. */
int init_open_null(init_box *box)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		init_note(box, "no /dev/null in the box: %s", strerror(errno));
		return 0;
	}
	for (int i = 0; i <= 2; i++) {
		if (fd != i && dup2(fd, i) < 0)
			return init_fail(box, errno, "", "stdio");
	}
	if (fd > 2)
		close(fd);
	return 0;
}
