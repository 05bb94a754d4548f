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
#include <signal.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "mutant.h"
#include "sys.h"

/* What the linker calls in place of the others, and what they were. */
int __real_ab_plan_decode(const void *p, size_t n, const char *build_id,
			  ab_plan *out);
int __wrap_ab_plan_decode(const void *p, size_t n, const char *build_id,
			  ab_plan *out);
int __real_init_enter_namespaces(init_box *box);
int __wrap_init_enter_namespaces(init_box *box);
int __real_init_drop_privileges(init_box *box);
int __wrap_init_drop_privileges(init_box *box);
int __real_init_raise_landlock(const init_box *box);
int __wrap_init_raise_landlock(const init_box *box);
int __real_init_raise_seccomp(const init_box *box);
int __wrap_init_raise_seccomp(const init_box *box);
long __real_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
int __real_setresuid(uid_t real, uid_t effective, uid_t saved);
int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved);
int __real_setgroups(size_t n, const gid_t *list);
int __wrap_setgroups(size_t n, const gid_t *list);
int __real_setrlimit(int resource, const struct rlimit *limit);
int __wrap_setrlimit(int resource, const struct rlimit *limit);
int __real_prctl(int option, unsigned long a, unsigned long b,
		 unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b,
		 unsigned long c, unsigned long d);
struct watcher;
void __real_init_quarantine(struct watcher *w, const char *path);
void __wrap_init_quarantine(struct watcher *w, const char *path);
int __real_clone(int (*run)(void *), void *stack, int flags, void *arg,
		 pid_t *pid);
int __wrap_clone(int (*run)(void *), void *stack, int flags, void *arg,
		 pid_t *pid);
_Noreturn void __real_init_exec(init_command *command);
_Noreturn void __wrap_init_exec(init_command *command);

static char wall[32];

bool lacks(const char *name)
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

/* Of a command's limits, which are all of them or this one. */
static void drop_limits(ab_plan *p, int resource)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->rlimit_count; i++) {
		if ((int)p->rlimits[i].resource != resource)
			p->rlimits[n++] = p->rlimits[i];
	}
	p->rlimit_count = n;
}

/* What is held by a number or a flag of a step. */
static void change_steps(ab_plan *p)
{
	if (lacks("protect"))
		drop_steps(p, AB_STEP_SELF, "/proc", true);
	if (lacks("proc"))
		drop_steps(p, AB_STEP_SELF, "/proc", false);
	if (lacks("masked"))
		drop_steps(p, AB_STEP_HIDE, "/proc", false);
	if (lacks("hide"))
		drop_steps(p, AB_STEP_HIDE, "/proc", true);
	if (lacks("mounts"))
		clear_flag(p, AB_STEP_BIND, AB_MOUNT_RDONLY);
	if (lacks("noexec"))
		clear_flag(p, AB_STEP_BIND, AB_MOUNT_NOEXEC);
	for (uint32_t i = 0; lacks("tmpfs-size") && i < p->step_count; i++) {
		if (p->steps[i].kind == AB_STEP_TMPFS)
			p->steps[i].size = 0;
	}
}

static void change_limits(ab_plan *p)
{
	if (lacks("cgroup"))
		p->cgroup_count = 0;
	if (lacks("limits"))
		p->rlimit_count = 0;
	if (lacks("limit-files"))
		drop_limits(p, RLIMIT_NOFILE);
	if (lacks("limit-pids"))
		drop_limits(p, RLIMIT_NPROC);
	if (lacks("limit-disk"))
		drop_limits(p, RLIMIT_FSIZE);
}

static void change_namespaces(ab_plan *p)
{
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
	/* so nothing of it can be mounted: tree.c */
	if (lacks("mountns"))
		p->namespaces &= ~AB_NS_MOUNT;
	/* who looks after the box keeps to what descends from it, as in the
	   tier that has none; so who is left by another comes to us */
	if (lacks("pidns")) {
		p->namespaces &= ~AB_NS_PID;
		__real_prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
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
	/* no wall, but a box that cannot be raised */
	if (lacks("box-with-watches") && p->watch_count > 0)
		return -EINVAL;
	/* nor one: whoever waits for it waits in vain */
	if (lacks("box-that-hangs"))
		sleep(120);
	change_namespaces(p);
	change_limits(p);
	change_steps(p);
	/* a root host's boxes have ids of their own; not this one */
	if (lacks("uid") && p->map_by_holder) {
		p->map_by_holder = p->drop_groups = 0;
		p->uid_outside = p->gid_outside = 0;
	}
	return 0;
}

/* --- what a process carries ---------------------------------------------- */


typedef struct caps {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct sets[2];
} caps;

static void get_caps(caps *c)
{
	memset(c, 0, sizeof(*c));
	c->header.version = _LINUX_CAPABILITY_VERSION_3;
	(void)__real_syscall(SYS_capget, (long)&c->header, (long)c->sets, 0, 0,
			     0, 0);
}

static void set_caps(caps *c)
{
	(void)__real_syscall(SYS_capset, (long)&c->header, (long)c->sets, 0, 0,
			     0, 0);
}

/* What an ordinary program would have after setresuid(2) as root. */
static void raise_effective(void)
{
	caps c;

	get_caps(&c);
	for (int i = 0; i < 2; i++)
		c.sets[i].effective = c.sets[i].permitted;
	set_caps(&c);
}

#define KEPT (1u << CAP_CHOWN)

/* One that is inherited, while the bounding set still allows it. */
static void add_inheritable(void)
{
	caps c;

	get_caps(&c);
	c.sets[0].inheritable |= KEPT;
	set_caps(&c);
}

/* All but that one is given up. */
static long keep_one(void)
{
	caps c;
	uint32_t kept = lacks("ambient") ? KEPT : 0;

	get_caps(&c);
	c.sets[0].permitted = c.sets[0].effective = kept;
	c.sets[1].permitted = c.sets[1].effective = 0;
	set_caps(&c);
	return 0;
}

/* A root host may make the other namespaces without this one. */
static long clone_without_userns(long flags)
{
	long pid;

	raise_effective();
	pid = __real_syscall(SYS_clone, flags & ~(long)CLONE_NEWUSER, 0, 0, 0,
			     0, 0);
	if (pid == 0)
		__real_prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	return pid;
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e,
		    long f)
{
	if (number == SYS_clone && lacks("userns") && (a & CLONE_NEWUSER) &&
	    (a & CLONE_NEWNS))
		return clone_without_userns(a);
	if (number == SYS_capset && (lacks("inheritable") || lacks("ambient")))
		return keep_one();
	return __real_syscall(number, a, b, c, d, e, f);
}

int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved)
{
	int r = __real_setresuid(real, effective, saved);

	if (r == 0 && lacks("userns") && effective != 0)
		raise_effective();
	return r;
}

/* One that root has on every machine, to be found again. */
int __wrap_setgroups(size_t n, const gid_t *list)
{
	static const gid_t kept[] = {4};

	return lacks("groups") ? __real_setgroups(1, kept)
			       : __real_setgroups(n, list);
}

/* What the program gives itself, and then the command. */
int __wrap_setrlimit(int resource, const struct rlimit *limit)
{
	if (resource == RLIMIT_CORE && (lacks("limit-core") || lacks("limits")))
		return 0;
	return __real_setrlimit(resource, limit);
}

/* Ids for good, as in the tier without one. */
int __wrap_init_enter_namespaces(init_box *box)
{
	int r;

	if (lacks("userns"))
		box->plan.namespaces &= ~AB_NS_USER;
	r = __real_init_enter_namespaces(box);
	if (lacks("userns"))
		box->plan.namespaces |= AB_NS_USER;
	return r;
}

int __wrap_prctl(int option, unsigned long a, unsigned long b,
		 unsigned long c, unsigned long d)
{
	if ((lacks("inheritable") || lacks("ambient")) &&
	    option == PR_CAPBSET_DROP && a == 0)
		add_inheritable();
	if (lacks("ambient") && option == PR_SET_SECUREBITS)
		return 0;
	if (lacks("ambient") && option == PR_CAP_AMBIENT)
		return __real_prctl(option, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0,
				    0);
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
		      AB_WALL_CGROUPNS | AB_WALL_CGROUP | AB_WALL_MOUNTNS |
		      AB_WALL_PIDNS | AB_WALL_PROC;
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

/* --- what appears --------------------------------------------------------- */

void __wrap_init_quarantine(struct watcher *w, const char *path)
{
	if (!lacks("appear"))
		__real_init_quarantine(w, path);
}

/* --- when a command begins ------------------------------------------------ */

/* Not a wall: it was begun, and has no process for a while. */
int __wrap_clone(int (*run)(void *), void *stack, int flags, void *arg,
		 pid_t *pid)
{
	int r;

	if (lacks("launcher-that-pauses"))
		usleep(30000);
	r = __real_clone(run, stack, flags, arg, pid);
	/* it has ended, and the launcher is still at it */
	if (lacks("launcher-that-lingers"))
		usleep(30000);
	return r;
}

/* --- what a command is given --------------------------------------------- */


/* A variable that no policy has. The launcher's own are not touched: its memory
   is shared. */
static _Noreturn void exec_with_variable(const init_command *command)
{
	static const char *envp[4096];
	static ab_msg_spawn spawn;
	static init_command copy;

	spawn = *command->spawn;
	copy = *command;
	copy.spawn = &spawn;
	if (spawn.envc + 2 > sizeof(envp) / sizeof(*envp))
		_exit(127);
	memcpy(envp, spawn.envp, spawn.envc * sizeof(*envp));
	envp[spawn.envc++] = "LEAKED=1";
	envp[spawn.envc] = NULL;
	spawn.envp = envp;
	__real_init_exec(&copy);
}

_Noreturn void __wrap_init_exec(init_command *command)
{
	if (lacks("environment"))
		exec_with_variable(command);
	if (lacks("descriptors"))
		(void)!dup2(open("/", O_RDONLY | O_DIRECTORY), 20);
	__real_init_exec(command);
}
