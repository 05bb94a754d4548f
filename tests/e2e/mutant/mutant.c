/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-init with one wall left out, for the tests of the self-test, and
 * for them only: it is the installed program's sources, unchanged, with the
 * functions below put in front of some of theirs by the linker (ld(1),
 * --wrap). Which wall is left out stands in the file `agentbox-mutant` beside
 * the program; without it nothing is. It goes on saying that everything was
 * raised, because that is the case to be found out: a report that lies.
 *
 * Nothing of this is in the installed program: tests/meta/mutant.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

/* What the linker calls in place of the others, and what they were. */
int __real_ab_plan_decode(const void *p, size_t n, const char *build_id,
			  ab_plan *out);
int __wrap_ab_plan_decode(const void *p, size_t n, const char *build_id,
			  ab_plan *out);
int __real_init_build_root(init_box *box);
int __wrap_init_build_root(init_box *box);
int __real_init_seal_root(init_box *box);
int __wrap_init_seal_root(init_box *box);
int __real_init_build_dev(init_box *box, int dev_fd, uint64_t shm_size);
int __wrap_init_build_dev(init_box *box, int dev_fd, uint64_t shm_size);
int __real_init_drop_privileges(init_box *box);
int __wrap_init_drop_privileges(init_box *box);
int __real_init_raise_landlock(const init_box *box);
int __wrap_init_raise_landlock(const init_box *box);
int __real_init_raise_seccomp(const init_box *box);
int __wrap_init_raise_seccomp(const init_box *box);
int __real_prctl(int option, unsigned long a, unsigned long b,
		 unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b,
		 unsigned long c, unsigned long d);
_Noreturn void __real_init_exec(init_command *command);
_Noreturn void __wrap_init_exec(init_command *command);

static char wall[32];

static bool lacks(const char *name)
{
	return strcmp(wall, name) == 0;
}

/* --- the plan ------------------------------------------------------------ */


static void read_wall(void)
{
	char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	ab_autofd int fd = -1;
	char *slash;

	if (wall[0] || n <= 0)
		return;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash, "/agentbox-mutant");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, wall, sizeof(wall) - 1);
	wall[n > 0 ? n : 0] = '\0';
	wall[strcspn(wall, "\n")] = '\0';
}

/* Steps of a kind, optionally below a place, are not done. */
static void drop_steps(ab_plan *p, uint32_t kind, const char *below, bool not)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->step_count; i++) {
		const ab_plan_step *s = &p->steps[i];
		bool is_below = !strncmp(s->target, below, strlen(below));

		if (s->kind == kind && is_below != not)
			continue;
		p->steps[n++] = p->steps[i];
	}
	p->step_count = n;
}

static void clear_flag(ab_plan *p, uint32_t kind, uint32_t flag)
{
	for (uint32_t i = 0; i < p->step_count; i++) {
		if (p->steps[i].kind == kind)
			p->steps[i].flags &= ~flag;
	}
}

/* Head and whole alike, in every part that reads them. */
int __wrap_ab_plan_decode(const void *bytes, size_t n, const char *build_id,
			  ab_plan *p)
{
	int r;

	read_wall();
	r = __real_ab_plan_decode(bytes, n, build_id, p);
	if (r)
		return r;
	if (lacks("netns"))
		p->namespaces &= ~AB_NS_NET;
	if (lacks("ipcns"))
		p->namespaces &= ~AB_NS_IPC;
	if (lacks("utsns")) {
		p->namespaces &= ~AB_NS_UTS;
		p->hostname = "";
	}
	if (lacks("cgroupns"))
		p->namespaces &= ~AB_NS_CGROUP;
	if (lacks("cgroup"))
		p->cgroup_count = 0;
	if (lacks("limits"))
		p->rlimit_count = 0;
	if (lacks("protect"))
		drop_steps(p, AB_STEP_SELF, "/proc", true);
	if (lacks("proc"))
		drop_steps(p, AB_STEP_SELF, "/proc", false);
	if (lacks("hide"))
		drop_steps(p, AB_STEP_HIDE, "/proc", true);
	if (lacks("mounts"))
		clear_flag(p, AB_STEP_BIND, AB_MOUNT_RDONLY);
	return 0;
}

/* --- the tree ------------------------------------------------------------ */


/* A tree of the host's that no plan has. */
int __wrap_init_build_root(init_box *box)
{
	ab_autofd int tree = -1;
	int r = __real_init_build_root(box);

	if (r || !lacks("rootfs"))
		return r;
	tree = ab_sys_open_tree(AT_FDCWD, "/etc",
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || mkdirat(box->root_fd, "leak", 0755))
		return init_fail(box, errno, "", "mutant rootfs");
	r = ab_sys_move_mount(tree, "", box->root_fd, "leak",
			      MOVE_MOUNT_F_EMPTY_PATH);
	return r ? init_fail(box, -r, "", "mutant rootfs") : 0;
}

int __wrap_init_seal_root(init_box *box)
{
	if (!lacks("root"))
		return __real_init_seal_root(box);
	box->walls |= AB_WALL_ROOTFS;
	return 0;
}

/* A device that is not one of the six. */
int __wrap_init_build_dev(init_box *box, int dev_fd, uint64_t shm_size)
{
	int r = __real_init_build_dev(box, dev_fd, shm_size);
	ab_autofd int tree = -1;

	if (r || !lacks("devices"))
		return r;
	tree = ab_sys_open_tree(AT_FDCWD, "/dev/ptmx",
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return tree;
	if (mknodat(dev_fd, "host-ptmx", S_IFREG | 0444, 0))
		return -errno;
	return ab_sys_move_mount(tree, "", dev_fd, "host-ptmx",
				 MOVE_MOUNT_F_EMPTY_PATH);
}

/* --- what a process carries ---------------------------------------------- */


int __wrap_prctl(int option, unsigned long a, unsigned long b,
		 unsigned long c, unsigned long d)
{
	if (option == PR_SET_NO_NEW_PRIVS && lacks("no_new_privs"))
		return 0;
	if (option == PR_CAPBSET_DROP && lacks("caps"))
		return a > CAP_LAST_CAP ? (errno = EINVAL, -1) : 0;
	if (option == PR_SET_DUMPABLE && a == 0 && lacks("init"))
		return __real_prctl(option, 1, b, c, d);
	return __real_prctl(option, a, b, c, d);
}

/*
 * Without no_new_privs it takes CAP_SYS_ADMIN to enter Landlock and a filter
 * (seccomp(2)), so the launcher keeps its capabilities until it has.
 */
int __wrap_init_drop_privileges(init_box *box)
{
	/* the lie */
	box->walls |= AB_WALL_NETNS | AB_WALL_IPCNS | AB_WALL_UTSNS |
		      AB_WALL_CGROUPNS | AB_WALL_CGROUP;
	if (!lacks("no_new_privs") || getpid() == 1)
		return __real_init_drop_privileges(box);
	box->walls |= AB_WALL_CAPS | AB_WALL_SECCOMP;
	if (box->ruleset_fd >= 0)
		box->walls |= AB_WALL_LANDLOCK;
	return 0;
}

int __wrap_init_raise_landlock(const init_box *box)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	int r;

	if (lacks("landlock"))
		return 0;
	r = __real_init_raise_landlock(box);
	if (r == 0 && lacks("no_new_privs"))
		r = syscall(SYS_capset, &header, none) ? -errno : 0;
	return r;
}

int __wrap_init_raise_seccomp(const init_box *box)
{
	return lacks("seccomp") ? 0 : __real_init_raise_seccomp(box);
}

/* --- what a command is given --------------------------------------------- */


_Noreturn void __wrap_init_exec(init_command *command)
{
	if (lacks("descriptors"))
		(void)!dup2(open("/", O_RDONLY | O_DIRECTORY), 20);
	__real_init_exec(command);
}
