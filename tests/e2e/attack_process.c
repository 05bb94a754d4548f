/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks on processes: the init of the box, its launcher, siblings, the
 * host, the terminal; and what an agent can find out about its own walls.
 * Spec: tests/e2e/attacker.c.
 */
#include "attacker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char target_word[16] = "sibling-secret";

/* A child to attack: the control that shows what is possible at all. */
static pid_t spawn_target(void)
{
	pid_t parent = getpid(), pid;
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		/* nothing of ours may outlive the attack and hold its output */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		dup2(open("/dev/null", O_RDWR), 1);
		dup2(1, 2);
		close(ready[0]);
		(void)!write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	(void)!read(ready[0], &byte, 1);
	close(ready[0]);
	return pid;
}

/* "self-child" or a number. */
static pid_t target(const char *text)
{
	if (strcmp(text, "child") == 0)
		return spawn_target();
	return (pid_t)number(text);
}

static long attack_ptrace(char **argv)
{
	pid_t pid = target(argv[0]);

	return result(ptrace(PTRACE_ATTACH, pid, 0, 0));
}

static long attack_seize(char **argv)
{
	pid_t pid = target(argv[0]);

	return result(ptrace(PTRACE_SEIZE, pid, 0, 0));
}

static long attack_vm_read(char **argv)
{
	char text[16];
	struct iovec local = { text, sizeof(text) };
	struct iovec remote = { target_word, sizeof(target_word) };

	return result(process_vm_readv(target(argv[0]), &local, 1, &remote, 1,
				       0));
}

static long attack_vm_write(char **argv)
{
	char text[16] = "evil";
	struct iovec local = { text, sizeof(text) };
	struct iovec remote = { target_word, sizeof(target_word) };

	return result(process_vm_writev(target(argv[0]), &local, 1, &remote, 1,
					0));
}

static long attack_pidfd_getfd(char **argv)
{
	int fd = (int)syscall(SYS_pidfd_open, target(argv[0]), 0);

	if (fd < 0)
		return -errno;
	return result(syscall(SYS_pidfd_getfd, fd, number(argv[1]), 0));
}

static long attack_kcmp(char **argv)
{
	return result(syscall(SYS_kcmp, getpid(), target(argv[0]), KCMP_FILES,
			      0, 0));
}

static long attack_prlimit(char **argv)
{
	struct rlimit limit = { 4, 4 };

	return result(syscall(SYS_prlimit64, target(argv[0]), RLIMIT_NOFILE,
			      &limit, NULL));
}

static long attack_prlimit_read(char **argv)
{
	struct rlimit limit;

	return result(syscall(SYS_prlimit64, target(argv[0]), RLIMIT_NOFILE,
			      NULL, &limit));
}

static long attack_kill(char **argv)
{
	return result(kill((pid_t)number(argv[0]), (int)number(argv[1])));
}

static long attack_sched_idle(char **argv)
{
	struct sched_param param = { 0 };

	return result(sched_setscheduler(target(argv[0]), SCHED_IDLE, &param));
}

static long attack_affinity(char **argv)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return result(sched_setaffinity(target(argv[0]), sizeof(set), &set));
}

static long attack_nice(char **argv)
{
	return result(setpriority(PRIO_PROCESS, (id_t)target(argv[0]), 19));
}

/* Policy, nice value, class of I/O, and the two limits, soft and hard. */
static long show_scheduling(char **argv)
{
	struct rlimit rtprio = { 0 }, most_nice = { 0 };

	(void)argv;
	getrlimit(RLIMIT_RTPRIO, &rtprio);
	getrlimit(RLIMIT_NICE, &most_nice);
	detail("%d %d %ld %ld/%ld %ld/%ld", sched_getscheduler(0),
	       getpriority(PRIO_PROCESS, 0),
	       syscall(SYS_ioprio_get, 1, 0) >> 13, (long)rtprio.rlim_cur,
	       (long)rtprio.rlim_max, (long)most_nice.rlim_cur,
	       (long)most_nice.rlim_max);
	return 0;
}

/* Before others, by a policy of this number. */
static long attack_realtime(char **argv)
{
	struct sched_param param = { .sched_priority = 1 };

	return result(sched_setscheduler(0, (int)number(argv[0]), &param));
}

/* linux/sched/types.h: a millisecond of each ten is ours. */
static long attack_deadline(char **argv)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { sizeof(attr), 6, 0, 0, 0, 1000000, 10000000, 10000000 };

	(void)argv;
	return result(syscall(SYS_sched_setattr, 0, &attr, 0));
}

static long attack_nice_below(char **argv)
{
	return result(setpriority(PRIO_PROCESS, 0, (int)number(argv[0])));
}

static long attack_io_realtime(char **argv)
{
	(void)argv;
	return result(syscall(SYS_ioprio_set, 1, 0, 1 << 13));
}

/* /proc/N/FILE: opened, or followed when it is a link. */
static long attack_proc(char **argv)
{
	char path[128], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", argv[0], argv[1]);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0 && errno != EISDIR)
		return -errno;
	return 0;
}

static long attack_proc_write(char **argv)
{
	int fd = open(argv[0], O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, argv[1], strlen(argv[1]));
	return result(n) < 0 ? -errno : 0;
}

/* Lines of /proc/self/status the walls are read from. */
static long show_status(char **argv)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = strlen(argv[0]);

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, argv[0], n) != 0 || line[n] != ':')
			continue;
		line[strcspn(line, "\n")] = 0;
		detail("%s", line + n + 1 + strspn(line + n + 1, "\t "));
	}
	fclose(f);
	return 0;
}

static long show_ids(char **argv)
{
	(void)argv;
	detail("%u %u", getuid(), getgid());
	return 0;
}

static long show_rlimit(char **argv)
{
	struct rlimit limit;

	if (getrlimit((unsigned int)number(argv[0]), &limit) < 0)
		return -errno;
	detail("%llu %llu", (unsigned long long)limit.rlim_cur,
	       (unsigned long long)limit.rlim_max);
	return 0;
}

static long raise_rlimit(char **argv)
{
	struct rlimit limit;

	if (getrlimit((unsigned int)number(argv[0]), &limit) < 0)
		return -errno;
	limit.rlim_max++;
	return result(setrlimit((unsigned int)number(argv[0]), &limit));
}

/*
 * Give back the very limits it has, by each of the calls that can, with
 * words of our own where the kernel looks at none.
 */
static long same_rlimit(char **argv)
{
	unsigned int which = (unsigned int)number(argv[0]);
	uint64_t limit[2];

	if (syscall(SYS_prlimit64, 0, which, NULL, limit) < 0)
		return -errno;
	if (number(argv[1]))
		return result(syscall(SYS_setrlimit, which, limit));
	return result(syscall(SYS_prlimit64, 0, which, limit, NULL,
			      number(argv[2]), number(argv[2])));
}

/* As a program does that holds a secret. */
static long no_core(char **argv)
{
	const struct rlimit none = { 0, 0 };

	(void)argv;
	return result(setrlimit(RLIMIT_CORE, &none));
}

static long set_setuid(char **argv)
{
	return result(setresuid((uid_t)number(argv[0]),
				(uid_t)number(argv[0]),
				(uid_t)number(argv[0])));
}

static long prctl_mm(char **argv)
{
	(void)argv;
	return result(prctl(PR_SET_MM, PR_SET_MM_START_CODE, 4096, 0, 0));
}

static long prctl_dumpable(char **argv)
{
	return result(prctl(PR_SET_DUMPABLE, number(argv[0]), 0, 0, 0));
}

static long prctl_ambient(char **argv)
{
	(void)argv;
	return result(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
}

static long prctl_clear_nnp(char **argv)
{
	(void)argv;
	return result(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static long install(struct sock_filter *code, unsigned short n,
		    unsigned int flags)
{
	struct sock_fprog prog = { n, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			      &prog));
}

static long seccomp_listener(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	(void)argv;
	return install(code, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

/*
 * A filter that makes getppid() answer 0 with EIO, and what then the parent
 * sees: its own real answer.
 */
static long seccomp_self(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int status;
	pid_t pid = fork();

	(void)argv;
	if (pid == 0) {
		if (install(code, 4, 0) < 0)
			_exit(2);
		_exit(syscall(SYS_getppid) == -1 && errno == EIO ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	detail("child %d parent %s", WEXITSTATUS(status),
	       syscall(SYS_getppid) > 0 ? "unchanged" : "changed");
	return 0;
}

static long seccomp_disable(char **argv)
{
	(void)argv;
	return result(prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
}

/* Pushes a character into the terminal on fd argv[0]; argv[1] the request. */
static long tty_ioctl(char **argv)
{
	char text[8] = "X";
	unsigned long request = (unsigned long)number(argv[1]);

	return result(syscall(SYS_ioctl, (int)number(argv[0]), request, text));
}

static long tty_take(char **argv)
{
	setsid();
	return result(ioctl((int)number(argv[0]), TIOCSCTTY, 1));
}

/* kill(-1): lives to tell when it did not reach itself. */
static long kill_all(char **argv)
{
	signal((int)number(argv[0]), SIG_IGN);
	return result(kill(-1, (int)number(argv[0])));
}

static long list_processes(char **argv)
{
	char path[32], text[64];

	(void)argv;
	for (int pid = 1; pid < 400; pid++) {
		int fd;
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		text[n - 1] = 0;
		detail("%d=%s ", pid, text);
	}
	return 0;
}

/* Double fork: a daemon that keeps the standard descriptors open. */
static long do_daemon(char **argv)
{
	long seconds = number(argv[0]);

	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			signal(SIGHUP, SIG_IGN);
			sleep((unsigned int)seconds);
		}
		_exit(0);
	}
	wait(NULL);
	printf("left\n");
	fflush(stdout);
	return 0;
}

/*
 * Runs away from whoever wants to kill it: forks and ends for ever, so that
 * no process of it lives long, each in a session of its own. argv[0]: how
 * many of that kind at once.
 */
static long do_run_away(char **argv)
{
	long runners = number(argv[0]);

	setsid();
	printf("running\n");
	fflush(stdout);
	while (--runners > 0 && fork() > 0)
		;
	for (;;) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid == 0)
			setsid();
	}
}

static long do_signal(char **argv)
{
	signal((int)number(argv[0]), SIG_DFL);
	raise((int)number(argv[0]));
	return 99;
}

/* What the kernel says of a process: its name, and whether it sleeps. */
static bool process_sleeps(const char *pid, char name[32])
{
	char path[64], text[256] = "", *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(text, "%*d (%31[^)]", name) == 1 &&
	       strncmp(end, ") S", 3) == 0;
}

/*
 * Sends a signal to every younger process that was executed (its name is no
 * longer that of the box's init) and waits for something, as long as there
 * are seconds left.
 */
static long do_signal_new(char **argv)
{
	char init[32] = "", name[32] = "";
	time_t end = time(NULL) + number(argv[1]);
	DIR *proc = opendir("/proc");

	process_sleeps("1", init);
	if (!proc || !*init)
		return 98;
	printf("looking\n");
	fflush(stdout);
	while (time(NULL) < end) {
		for (struct dirent *e; (e = readdir(proc));) {
			pid_t pid = atoi(e->d_name);

			if (pid > getpid() && process_sleeps(e->d_name, name) &&
			    strcmp(name, init) != 0)
				kill(pid, (int)number(argv[0]));
		}
		rewinddir(proc);
		usleep(500);
	}
	return 0;
}

/* Stops itself; whoever continues it gets exit 7. */
static long do_stop(char **argv)
{
	(void)argv;
	raise(SIGSTOP);
	return 7;
}

static long do_exit(char **argv)
{
	return number(argv[0]);
}

static long do_sleep(char **argv)
{
	struct timespec left = { .tv_sec = number(argv[0]) / 1000,
				 .tv_nsec = number(argv[0]) % 1000 * 1000000 };

	printf("sleeping\n");
	fflush(stdout);
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
	return 0;
}

/* Ignores everything that can be ignored. */
static long do_stubborn(char **argv)
{
	for (int s = 1; s < 65; s++)
		signal(s, SIG_IGN);
	return do_sleep(argv);
}

const struct attack attacks_process[] = {
	{ "ptrace", 1, attack_ptrace },
	{ "ptrace-seize", 1, attack_seize },
	{ "vm-read", 1, attack_vm_read },
	{ "vm-write", 1, attack_vm_write },
	{ "pidfd-getfd", 2, attack_pidfd_getfd },
	{ "kcmp", 1, attack_kcmp },
	{ "scheduling", 0, show_scheduling },
	{ "realtime", 1, attack_realtime },
	{ "deadline", 0, attack_deadline },
	{ "nice-below", 1, attack_nice_below },
	{ "io-realtime", 0, attack_io_realtime },
	{ "prlimit", 1, attack_prlimit },
	{ "prlimit-read", 1, attack_prlimit_read },
	{ "kill", 2, attack_kill },
	{ "kill-all", 1, kill_all },
	{ "sched-idle", 1, attack_sched_idle },
	{ "affinity", 1, attack_affinity },
	{ "nice", 1, attack_nice },
	{ "proc", 2, attack_proc },
	{ "proc-write", 2, attack_proc_write },
	{ "status", 1, show_status },
	{ "ids", 0, show_ids },
	{ "rlimit", 1, show_rlimit },
	{ "raise-rlimit", 1, raise_rlimit },
	{ "same-rlimit", 3, same_rlimit },
	{ "no-core", 0, no_core },
	{ "setuid", 1, set_setuid },
	{ "prctl-mm", 0, prctl_mm },
	{ "prctl-dumpable", 1, prctl_dumpable },
	{ "prctl-ambient", 0, prctl_ambient },
	{ "prctl-clear-nnp", 0, prctl_clear_nnp },
	{ "seccomp-listener", 0, seccomp_listener },
	{ "seccomp-self", 0, seccomp_self },
	{ "seccomp-disable", 0, seccomp_disable },
	{ "tty-ioctl", 2, tty_ioctl },
	{ "tty-take", 1, tty_take },
	{ "processes", 0, list_processes },
	{ "do-daemon", 1, do_daemon },
	{ "do-run-away", 1, do_run_away },
	{ "do-signal", 1, do_signal },
	{ "do-signal-new", 2, do_signal_new },
	{ "do-stop", 0, do_stop },
	{ "do-exit", 1, do_exit },
	{ "do-sleep", 1, do_sleep },
	{ "do-stubborn", 1, do_stubborn },
	{ NULL, 0, NULL },
};
