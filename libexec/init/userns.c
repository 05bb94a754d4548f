/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Namespaces: one clone() makes PID 1 with all of them, and the child writes
 * its own id maps as the unprivileged owner of its user namespace.
 *
 * A root host becomes the box's kernel ids first (effective and real; saved
 * stays 0 so that the holder can come back), clones, and comes back: the
 * child is then in the same position as an ordinary user's, and no message
 * has to pass before it can work. The agent never gets kernel uid 0, for
 * which RLIMIT_NPROC and file modes do not exist (RECIPES.md section 7).
 * Spec: user_namespaces(7), RECIPES.md sections 1 and 8.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "sys.h"
#include "wire/message.h"

static const struct {
	uint32_t ours;
	uint32_t wall;
	unsigned long kernel;
	const char *name;
} namespaces[] = {
	{AB_NS_USER, AB_WALL_USERNS, CLONE_NEWUSER, "userns"},
	{AB_NS_MOUNT, AB_WALL_MOUNTNS, CLONE_NEWNS, "mountns"},
	{AB_NS_PID, AB_WALL_PIDNS, CLONE_NEWPID, "pidns"},
	{AB_NS_IPC, AB_WALL_IPCNS, CLONE_NEWIPC, "ipcns"},
	{AB_NS_UTS, AB_WALL_UTSNS, CLONE_NEWUTS, "utsns"},
	{AB_NS_CGROUP, AB_WALL_CGROUPNS, CLONE_NEWCGROUP, "cgroupns"},
	{AB_NS_NET, AB_WALL_NETNS, CLONE_NEWNET, "netns"},
};

/*
 * PID 1 moves itself, one thread. By "tasks", which only cgroup v1 has, the
 * kernel moves the writer at once; by cgroup.procs it first stops every fork
 * and exit of the machine, which takes a grace period of milliseconds.
 */
static int open_cgroup(const char *dir)
{
	static const char *const names[] = {"tasks", "cgroup.procs"};
	char path[AB_MAX_PATH + 32];
	int fd = -1;

	for (size_t i = 0; i < AB_ARRAY_LEN(names) && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	return fd;
}

int init_prepare_cgroups(init_box *box)
{
	for (uint32_t i = 0; i < box->plan.cgroup_count; i++) {
		box->cgroup_fds[i] = open_cgroup(box->plan.cgroups[i]);
		if (box->cgroup_fds[i] < 0)
			return init_fail(box, errno, "", "cgroup %s",
					 box->plan.cgroups[i]);
	}
	return 0;
}

/* Effective and real ids of the box; saved ones stay 0. */
static int become(init_box *box)
{
	const ab_plan *p = &box->plan;

	if (!p->map_by_holder)
		return 0;
	if (p->uid_outside == 0 || p->gid_outside == 0)
		return init_fail(box, EPERM,
				 "a box needs kernel ids other than 0", "ids");
	if (p->drop_groups && setgroups(0, NULL))
		return init_fail(box, errno, "", "groups");
	if (setresgid(p->gid_outside, p->gid_outside, 0) ||
	    setresuid(p->uid_outside, p->uid_outside, 0))
		return init_fail(box, errno, "", "ids");
	return 0;
}

static int come_back(init_box *box)
{
	if (!box->plan.map_by_holder)
		return 0;
	if (setresuid(0, 0, 0) || setresgid(0, 0, 0))
		return init_fail(box, errno, "", "ids");
	return 0;
}

/* All together were refused: which one is it? */
static const char *find_refused(unsigned long flags)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(namespaces); i++) {
		unsigned long one = namespaces[i].kernel;
		pid_t pid;

		if (!(flags & one))
			continue;
		/* only the owner of a user namespace may make the others */
		pid = ab_sys_clone(one | (flags & CLONE_NEWUSER) | SIGCHLD);
		if (pid == 0)
			_exit(0);
		if (pid < 0)
			return namespaces[i].name;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return "userns";
}

pid_t init_make_child(init_box *box)
{
	const char *refused = "userns";
	unsigned long flags = SIGCHLD;
	int saved;
	pid_t pid;

	for (size_t i = 0; i < AB_ARRAY_LEN(namespaces); i++) {
		if (!(box->plan.namespaces & namespaces[i].ours))
			continue;
		/* net.c makes it while the tree is built */
		if (namespaces[i].ours == AB_NS_NET)
			continue;
		box->walls |= namespaces[i].wall;
		/* it would be rooted at the cgroup it must still leave */
		if (namespaces[i].ours == AB_NS_CGROUP &&
		    box->plan.cgroup_count)
			continue;
		flags |= namespaces[i].kernel;
	}
	if (become(box))
		return -1;
	pid = ab_sys_clone(flags);
	saved = pid < 0 ? -pid : 0;
	if (pid == 0)
		return 0;
	if (pid < 0)
		refused = find_refused(flags);
	if (come_back(box)) {
		if (pid > 0)
			kill(pid, SIGKILL);
		return -1;
	}
	if (pid < 0)
		return init_fail(box, saved,
				 !strcmp(refused, "userns") &&
						 (saved == EPERM ||
						  saved == ENOSPC)
					 ? INIT_NO_USERNS
					 : "",
				 "%s", refused);
	return pid;
}

static int write_self(const char *path, const char *text)
{
	ab_autofd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int write_maps(init_box *box)
{
	const ab_plan *p = &box->plan;
	char text[64];
	int r;

	r = write_self("/proc/self/setgroups", "deny");
	if (r)
		return init_fail(box, -r, "is /proc mounted on the host?",
				 "userns setgroups");
	snprintf(text, sizeof(text), "%u %u 1\n", p->gid_inside,
		 p->gid_outside);
	r = write_self("/proc/self/gid_map", text);
	if (r)
		return init_fail(box, -r, "", "userns gid_map");
	snprintf(text, sizeof(text), "%u %u 1\n", p->uid_inside,
		 p->uid_outside);
	r = write_self("/proc/self/uid_map", text);
	if (r)
		return init_fail(box, -r, "", "userns uid_map");
	/* the saved ids of a root host's child are not mapped: drop them */
	if (setresgid(p->gid_inside, p->gid_inside, p->gid_inside) ||
	    setresuid(p->uid_inside, p->uid_inside, p->uid_inside))
		return init_fail(box, errno, "", "userns ids");
	return 0;
}

static int enter_cgroups(init_box *box)
{
	for (uint32_t i = 0; i < box->plan.cgroup_count; i++) {
		if (write(box->cgroup_fds[i], "0", 1) < 0)
			return init_fail(box, errno, "", "cgroup %s",
					 box->plan.cgroups[i]);
		close(box->cgroup_fds[i]);
	}
	if (box->plan.cgroup_count)
		box->walls |= AB_WALL_CGROUP;
	if (box->plan.cgroup_count && (box->plan.namespaces & AB_NS_CGROUP) &&
	    unshare(CLONE_NEWCGROUP))
		return init_fail(box, errno, "", "cgroupns");
	return 0;
}

/* A root host without a user namespace (tier landlock): its ids for good. */
static int drop_ids(init_box *box)
{
	const ab_plan *p = &box->plan;

	if (!p->map_by_holder || (p->namespaces & AB_NS_USER))
		return 0;
	if (setresgid(p->gid_outside, p->gid_outside, p->gid_outside) ||
	    setresuid(p->uid_outside, p->uid_outside, p->uid_outside))
		return init_fail(box, errno, "", "ids");
	return 0;
}

/*
 * While nobody shares our memory: with whoever does, the kernel keeps it the
 * same and looks through every process of the machine for them (proc(5)).
 */
void init_set_oom_score(init_box *box)
{
	char text[16];
	int r;

	if (!box->plan.oom_score_adj)
		return;
	/* dumpable only now: /proc/self is root's otherwise (proc(5)) */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	snprintf(text, sizeof(text), "%d", box->plan.oom_score_adj);
	r = write_self("/proc/self/oom_score_adj", text);
	if (r)
		init_note(box, "oom_score_adj was refused: %s", strerror(-r));
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int init_enter_namespaces(init_box *box)
{
	/* the files of /proc/self are ours only then, see above */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if ((box->plan.namespaces & AB_NS_USER) && write_maps(box))
		return -1;
	if (drop_ids(box))
		return -1;
	/* setresuid made us undumpable again */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (enter_cgroups(box))
		return -1;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if ((box->plan.namespaces & AB_NS_UTS) && box->plan.hostname[0] &&
	    sethostname(box->plan.hostname, strlen(box->plan.hostname)))
		return init_fail(box, errno, "", "hostname");
	return 0;
}

/*
 * The holder must be able to come back to make a bind again, and may not open
 * these itself: we are not dumpable (ptrace(2), access mode checks).
 */
int init_lend_namespaces(init_box *box)
{
	const char *const paths[] = {"/proc/self/ns/user", "/proc/self/ns/mnt"};
	uint8_t header[AB_MESSAGE_HEADER];
	ab_writer w;
	ab_autofd int user = -1, mnt = -1;
	int fds[2], r;

	if (!init_needs_settling(&box->plan) ||
	    box->plan.tier >= AB_TIER_LANDLOCK)
		return 0;
	user = open(paths[0], O_RDONLY | O_CLOEXEC);
	mnt = open(paths[1], O_RDONLY | O_CLOEXEC);
	fds[0] = user;
	fds[1] = mnt;
	if (user < 0 || mnt < 0)
		return init_fail(box, errno, "", "namespaces");
	ab_writer_init_fixed(&w, header, sizeof(header));
	ab_put_u32(&w, AB_MSG_LINK_NAMESPACES);
	ab_put_u32(&w, 2);
	r = ab_message_send(box->link_inside_fd, w.data, w.len, fds, 2,
			    0);
	return r ? init_fail(box, -r, "", "namespaces") : 0;
}
