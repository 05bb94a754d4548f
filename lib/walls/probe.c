/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Facts about the machine, found by asking the kernel and not by version
 * number, without a process and without a trace. Whether namespaces can be
 * had is not asked here: that takes a process, and raising a box answers it.
 *
 * Refuses to guess: what cannot be found out counts as absent.
 * Spec: DESIGN.md section 6, RECIPES.md section 7; landlock(7),
 * cgroups(7), user_namespaces(7).
 */
#include "config.h"

#include "walls/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/fd.h"
#include "wire/plan.h"

#define MAX_PROC_TEXT (4u << 20)

/* Numbers from 424 on are the same on every architecture. */
#define NR_OPENAT2 437
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_LANDLOCK_CREATE_RULESET 444

#define MOVE_BENEATH 0x200u
#define FSCONFIG_FLAG 0u
#define PEERPIDFD 77 /* SO_PEERPIDFD */

static uint32_t probe_landlock(void)
{
	/* LANDLOCK_CREATE_RULESET_VERSION */
	long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1u);

	return abi > 0 && abi < 1000 ? (uint32_t)abi : 0;
}

static bool probe_seccomp(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static bool probe_openat2(void)
{
	/* an impossible size: EINVAL where the call exists (openat2(2)) */
	return syscall(NR_OPENAT2, AT_FDCWD, "/", NULL, (size_t)0) < 0 &&
	       errno == EINVAL;
}

static bool at_least(const char *release, unsigned long major,
		     unsigned long minor)
{
	char *end;
	unsigned long have = strtoul(release, &end, 10);
	unsigned long rest = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return have > major || (have == major && rest >= minor);
}

/*
 * A kernel that does not know MOVE_MOUNT_BENEATH answers EINVAL to the flag
 * before it looks at the descriptors; one that does answers EBADF, or EPERM
 * to who may not mount.
 */
static bool probe_beneath(const ab_probe *p)
{
	long rc = syscall(NR_MOVE_MOUNT, -1, "", -1, "",
			  MOVE_BENEATH | 0x4u | 0x40u);

	if (rc < 0 && errno == EBADF)
		return true;
	if (rc < 0 && errno != EPERM)
		return false;
	/* without the right to mount only the version is left */
	return at_least(p->kernel, 6, 5);
}

/* fsconfig(2) of an unattached tmpfs; only a privileged host can ask. */
static bool probe_noswap(const ab_probe *p)
{
	ab_autofd int fd = ab_fd_lift((int)syscall(NR_FSOPEN, "tmpfs", 1u));

	if (fd >= 0)
		return syscall(NR_FSCONFIG, fd, FSCONFIG_FLAG, "noswap", NULL,
			       0) == 0;
	return at_least(p->kernel, 6, 4);
}

static bool probe_peer_pidfd(void)
{
	int pair[2], fd = -1;
	socklen_t n = sizeof(fd);
	bool good;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	good = getsockopt(pair[0], SOL_SOCKET, PEERPIDFD, &fd, &n) == 0;
	if (good && fd >= 0)
		close(fd);
	close(pair[0]);
	close(pair[1]);
	return good;
}

/*
 * The limit that marks commands must be free to be set, downwards from
 * infinity. A limit at no address tells a kernel that would set it (EFAULT)
 * from a filter around us that refuses (EPERM), and sets nothing.
 */
static bool probe_marks(void)
{
	struct rlimit now;
	long r;

	/* both times in nanoseconds must fit, in the kernel too */
	if (sizeof(now.rlim_cur) != sizeof(uint64_t) ||
	    sizeof(long) != sizeof(uint64_t) ||
	    getrlimit(AB_MARK_RESOURCE, &now) < 0 ||
	    now.rlim_cur != RLIM_INFINITY || now.rlim_max != RLIM_INFINITY)
		return false;
	r = syscall(SYS_prlimit64, 0, AB_MARK_RESOURCE, (void *)1, NULL);
	return r < 0 && errno == EFAULT;
}

static bool has_caps(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = { { 0 } };
	const uint32_t want = (1u << CAP_SYS_ADMIN) | (1u << CAP_SETUID) |
			      (1u << CAP_SETGID);

	return syscall(SYS_capget, &head, data) == 0 &&
	       (data[0].effective & want) == want;
}

/* A whole file of /proc; NULL when it cannot be read. Owned. */
static char *read_proc(const char *path)
{
	ab_autofd int fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	char *text = NULL;
	size_t n;

	if (fd < 0 || ab_fd_slurp(fd, MAX_PROC_TEXT, &text, &n) != 0)
		return NULL;
	return text;
}

/*
 * The best run of ids in a map (user_namespaces(7): inside, outside, count).
 * Where all ids are mapped: 1879048192 on, which systemd's UIDS-GIDS leaves
 * unused. Else the upper half of the largest run, because containers hand
 * out the lower ones.
 */
bool ab_probe_pick_pool(const char *map, uint32_t *first, uint32_t *count)
{
	const uint64_t quiet = 1879048192, quiet_count = 268435456;
	uint64_t best = 0, best_first = 0;

	for (const char *p = map; p && *p;) {
		char *end;
		uint64_t in = strtoull(p, &end, 10), n;

		/* the ids outside do not matter here */
		strtoull(end, &end, 10);
		n = strtoull(end, &end, 10);
		if (*end != '\n' && *end != '\0')
			break;
		if (in <= quiet && in + n >= quiet + quiet_count) {
			*first = (uint32_t)quiet;
			*count = (uint32_t)quiet_count;
			return true;
		}
		if (n > best && in + n <= UINT32_MAX) {
			best = n;
			best_first = in;
		}
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	if (best < 4096)
		return false;
	*first = (uint32_t)(best_first + best / 2);
	/* not the overflow id: it owns what nobody owns */
	*count = (uint32_t)(best / 2);
	if (*first <= 65534 && *first + *count > 65534)
		*count = 65534 - *first;
	return *count >= 1024;
}

static void probe_pool(ab_probe *p)
{
	ab_autofree char *uids = NULL, *gids = NULL;
	uint32_t gid_first, gid_count;

	if (!p->root)
		return;
	uids = read_proc("/proc/self/uid_map");
	gids = read_proc("/proc/self/gid_map");
	if (!uids || !gids ||
	    !ab_probe_pick_pool(uids, &p->uid_pool_first,
				&p->uid_pool_count) ||
	    !ab_probe_pick_pool(gids, &gid_first, &gid_count))
		return;
	/* one number serves as both: the runs must agree */
	p->uid_pool = gid_first == p->uid_pool_first &&
		      gid_count == p->uid_pool_count;
}

static void probe_groups(ab_probe *p)
{
	gid_t groups[1024];
	int n = getgroups((int)AB_ARRAY_LEN(groups), groups);

	if (n < 0) {
		/* more than fit: certainly some */
		p->group_count = (uint32_t)AB_ARRAY_LEN(groups);
		return;
	}
	for (int i = 0; i < n; i++)
		p->group_count += groups[i] != p->egid;
}

static void probe_cgroups(ab_probe *p)
{
	ab_autofree char *own = read_proc("/proc/self/cgroup");
	ab_autofree char *mounts = read_proc("/proc/self/mountinfo");

	if (own && mounts)
		ab_probe_cgroups(p, own, mounts);
}

/* Does the policy set what a cgroup could hold? */
static bool asks_for_cgroups(const ab_policy *policy)
{
	static const enum ab_policy_limit limits[] = {
		AB_LIMIT_MEMORY, AB_LIMIT_CPUS, AB_LIMIT_PIDS
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(limits); i++) {
		if (policy->limits.value[limits[i]].state == AB_POLICY_SET)
			return true;
	}
	return false;
}

static bool asks_for(const ab_policy *policy, enum ab_policy_feature feature)
{
	return !policy || ((policy->require | policy->prefer) &
			   AB_FEATURE_BIT(feature));
}

int32_t ab_probe_machine(ab_probe *out, agentbox_policy *handle,
			 agentbox_error **err)
{
	const ab_policy *policy = handle ? ab_policy_get(handle) : NULL;
	ab_probe p = { 0 };
	struct utsname u;

	if (uname(&u) < 0)
		return ab_error_sys(err, errno, "uname",
				    "cannot ask for the kernel");
	snprintf(p.kernel, sizeof(p.kernel), "%.*s",
		 (int)sizeof(p.kernel) - 1, u.release);
	p.euid = (uint32_t)geteuid();
	p.egid = (uint32_t)getegid();
	p.landlock_abi = probe_landlock();
	p.seccomp = probe_seccomp();
	/* of these two a policy never asks */
	p.openat2 = !policy && probe_openat2();
	p.mount_beneath = !policy && probe_beneath(&p);
	p.noswap = asks_for(policy, AB_FEATURE_NOSWAP) && probe_noswap(&p);
	p.peer_pidfd = asks_for(policy, AB_FEATURE_PIDFD_PEER) &&
		       probe_peer_pidfd();
	p.marks = probe_marks();
	p.root = p.euid == 0 && has_caps();
	probe_pool(&p);
	probe_groups(&p);
	if (!policy || asks_for_cgroups(policy))
		probe_cgroups(&p);
	*out = p;
	return 0;
}
