/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a box costs the kernel: the calls that none with these namespaces and
 * mounts can do without, one after the other, in a static program of one
 * file. It takes the words of bubblewrap's command line that tests/bench/
 * spawn uses.
 *
 * It judges nothing, names nothing that fails and has no Landlock, no filter,
 * no files by value, no masks, no policy, no second command: it is a measure
 * and no box. Spec: clone(2), open_tree(2), pivot_root(2).
 */
#include "config.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../libexec/init/sys.h"

#define BOX_ID 1000
#define KERNEL_ID 54321 /* of a root host's box */
#define ALL_NAMESPACES                                                    \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |      \
	 CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWNET)

static _Alignas(16) char child_stack[65536];

static void must(bool ok)
{
	if (!ok)
		_exit(1);
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd >= 0 && write(fd, text, strlen(text)) > 0);
	close(fd);
}

static void write_maps(unsigned outside)
{
	char map[64];

	write_to("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%d %u 1\n", BOX_ID, outside);
	write_to("/proc/self/gid_map", map);
	write_to("/proc/self/uid_map", map);
}

static void raise_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	lo.ifr_flags = IFF_UP | IFF_RUNNING;
	must(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0);
	close(fd);
}

/* --- mounts; every path but a source is relative to the new root --------- */

static void make_parents(const char *path)
{
	char dir[4096];

	for (size_t i = 1; path[i] && i < sizeof(dir); i++) {
		if (path[i] != '/')
			continue;
		memcpy(dir, path, i);
		dir[i] = '\0';
		mkdir(dir, 0755);
	}
}

static void attach(int tree, const char *at, bool is_dir)
{
	make_parents(at);
	if (is_dir)
		mkdir(at, 0755);
	else
		must(mknod(at, S_IFREG | 0444, 0) == 0);
	must(ab_sys_move_mount(tree, "", AT_FDCWD, at,
			       MOVE_MOUNT_F_EMPTY_PATH) == 0);
	close(tree);
}

static int new_fs(const char *type)
{
	int fs = ab_sys_fsopen(type), tree;

	must(fs >= 0 && !ab_sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL));
	tree = ab_sys_fsmount(fs, MOUNT_ATTR_NOSUID);
	must(tree >= 0);
	close(fs);
	return tree;
}

static void bind_tree(const char *from, const char *at, bool is_writable)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID,
				   .propagation = AB_MS_PRIVATE };
	struct stat st;
	int tree = ab_sys_open_tree(AT_FDCWD, from,
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					    AT_RECURSIVE);

	must(tree >= 0 && fstat(tree, &st) == 0);
	if (!is_writable)
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	must(!ab_sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				   &attr));
	attach(tree, at, S_ISDIR(st.st_mode));
}

static void make_dev(const char *at)
{
	static const char *const names[] = { "null",   "zero",	  "full",
					     "random", "urandom", "tty" };
	char from[64], path[4096];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(from, sizeof(from), "/dev/%s", names[i]);
		snprintf(path, sizeof(path), "%s/%s", at, names[i]);
		attach(ab_sys_open_tree(AT_FDCWD, from,
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
		       path, false);
	}
	snprintf(path, sizeof(path), "%s/pts", at);
	attach(new_fs("devpts"), path, true);
	snprintf(path, sizeof(path), "%s/shm", at);
	attach(new_fs("tmpfs"), path, true);
}

/* One word of the command line with what belongs to it; how many it took. */
static int do_word(char **word)
{
	const char *what = word[0] + 2;

	if (!strcmp(what, "ro-bind") || !strcmp(what, "bind")) {
		bind_tree(word[1], word[2] + 1, *what == 'b');
		return 3;
	}
	if (!strcmp(what, "symlink")) {
		make_parents(word[2] + 1);
		must(symlink(word[1], word[2] + 1) == 0);
		return 3;
	}
	if (!strcmp(what, "tmpfs") || !strcmp(what, "proc") ||
	    !strcmp(what, "mqueue")) {
		attach(new_fs(what), word[1] + 1, true);
		return 2;
	}
	if (!strcmp(what, "dev")) {
		make_dev(word[1] + 1);
		return 2;
	}
	if (!strcmp(what, "dir")) {
		make_parents(word[1] + 1);
		mkdir(word[1] + 1, 0755);
		return 2;
	}
	/* --unshare-all and the like: what is done in any case */
	return 1;
}

/* Returns the program's words. */
static char **make_root(char **word)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int root;

	must(ab_sys_mount(NULL, "/", NULL, AB_MS_REC | AB_MS_PRIVATE) == 0);
	root = new_fs("tmpfs");
	must(ab_sys_move_mount(root, "", AT_FDCWD, "/",
			       MOVE_MOUNT_F_EMPTY_PATH) == 0);
	must(fchdir(root) == 0);
	while (*word && !strncmp(*word, "--", 2))
		word += do_word(word);
	must(ab_sys_pivot_root(".", ".") == 0);
	must(ab_sys_umount2(".", AB_MNT_DETACH) == 0 && chdir("/") == 0);
	must(ab_sys_mount_setattr(AT_FDCWD, "/", 0, &attr) == 0);
	return word;
}

/* --- processes ----------------------------------------------------------- */

static int run(void *words)
{
	char *const *argv = words, *const envp[] = { NULL };

	execve(argv[0], argv, envp);
	_exit(127);
}

static _Noreturn void pid_one(char **word, unsigned outside)
{
	int status = 1;
	pid_t pid;

	write_maps(outside);
	raise_loopback();
	word = make_root(word);
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	pid = clone(run, child_stack + sizeof(child_stack),
		    CLONE_VM | CLONE_VFORK | SIGCHLD, word);
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	_exit(status ? 1 : 0);
}

int main(int argc, char **argv)
{
	unsigned outside = geteuid();
	int status = 1;
	pid_t pid;

	if (argc < 2)
		return 2;
	if (outside == 0) {
		outside = KERNEL_ID;
		must(setresgid(outside, outside, 0) == 0);
		must(setresuid(outside, outside, 0) == 0);
		must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
	}
	pid = ab_sys_clone(ALL_NAMESPACES | SIGCHLD);
	if (pid == 0)
		pid_one(argv + 1, outside);
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status ? 1 : 0;
}
