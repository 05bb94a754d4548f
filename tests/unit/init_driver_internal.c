/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-init driven without the library: raising, running, ending, and an
 * agent inside that attacks PID 1 and the launcher. The attacker is this
 * program, bound into the box.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abtest.h"
#include "base/clock.h"
#include "base/fd.h"
#include "init_harness.h"

static char helper[4096];
static ih_plan plan;
static ih_box box;

static void setup(void)
{
	ih_plan_init(&plan);
	ab_leak_setup();
}

static void raise_box(void)
{
	int r = ih_raise(&box, helper, &plan.p);

	ck_assert_msg(r == 0, "%d: %s: %s", r, box.failed_stage,
		      box.failed_message);
}

static void end_box(void)
{
	ck_assert_msg(ih_end(&box), "the helper did not end");
}

static void nap_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static int run(const char *const *argv, ab_msg_exited *m)
{
	int channel = ih_spawn(&box, &(ih_command){.argv = argv});
	int r;

	if (channel < 0)
		return channel;
	r = ih_started(&box, channel, NULL);
	if (r > 0)
		r = ih_exited(channel, m);
	close(channel);
	return r;
}

START_TEST(a_box_runs_a_command_behind_every_wall)
{
	char out[4096];

	raise_box();
	ck_assert_uint_eq(box.walls & ~(AB_WALL_LANDLOCK), 0x37ff);
	ck_assert_int_eq(ih_shell(&box,
				  "id -u; hostname; grep -c lo: /proc/net/dev; "
				  "grep -E '^(Cap|NoNew|Seccomp:)' "
				  "/proc/self/status",
				  out, sizeof(out)),
			 0);
	ck_assert_str_eq(out, "1000\nbox\n1\n"
			      "CapInh:\t0000000000000000\n"
			      "CapPrm:\t0000000000000000\n"
			      "CapEff:\t0000000000000000\n"
			      "CapBnd:\t0000000000000000\n"
			      "CapAmb:\t0000000000000000\n"
			      "NoNewPrivs:\t1\nSeccomp:\t2\n");
	end_box();
}
END_TEST

START_TEST(the_root_of_the_box_is_read_only_and_its_own)
{
	char out[4096];

	raise_box();
	ck_assert_int_eq(ih_shell(&box,
				  "cd /; echo *; touch /x 2>/dev/null || "
				  "echo ro; touch /dev/x 2>/dev/null || echo "
				  "ro; touch /usr/x 2>/dev/null || echo ro; "
				  "touch /tmp/x && echo rw",
				  out, sizeof(out)),
			 0);
	ck_assert_str_eq(out, "bin dev lib lib64 proc sbin tmp usr\n"
			      "ro\nro\nro\nrw\n");
	end_box();
}
END_TEST

START_TEST(the_exit_status_is_exact)
{
	ab_msg_exited m;

	raise_box();
	ck_assert_int_eq(run((const char *[]){"/bin/sh", "-c", "exit 37", NULL},
			     &m),
			 0);
	ck_assert(WIFEXITED(m.status) && WEXITSTATUS(m.status) == 37);
	ck_assert_uint_eq(m.reason, AB_REASON_NONE);
	ck_assert_int_eq(run((const char *[]){"sh", "-c", "kill -TERM $$",
					      NULL},
			     &m),
			 0);
	ck_assert(WIFSIGNALED(m.status) && WTERMSIG(m.status) == SIGTERM);
	ck_assert_uint_gt(m.maxrss_kib, 0);
	ck_assert_uint_gt(m.wall_us, 0);
	end_box();
}
END_TEST

START_TEST(what_cannot_be_started_says_why)
{
	ab_msg_exited m;
	int channel;

	raise_box();
	ck_assert_int_lt(run((const char *[]){"/no/such", NULL}, &m), 0);
	ck_assert_str_eq(box.failed_stage, "exec");
	ck_assert_int_eq(box.failed_errno, ENOENT);
	ck_assert_int_lt(run((const char *[]){"nosuchprogram", NULL}, &m), 0);
	ck_assert_int_eq(box.failed_errno, ENOENT);
	ck_assert_int_lt(run((const char *[]){"/usr", NULL}, &m), 0);
	ck_assert_int_eq(box.failed_errno, EACCES);
	channel = ih_spawn(&box, &(ih_command){
					 .argv = (const char *[]){"true", NULL},
					 .cwd = "/nowhere"});
	ck_assert_int_lt(ih_started(&box, channel, NULL), 0);
	ck_assert_str_eq(box.failed_stage, "cwd");
	close(channel);
	/* and the next one works */
	ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	end_box();
}
END_TEST

START_TEST(fds_land_exactly_where_they_are_wanted)
{
	const char *argv[] = {"/bin/sh", "-c",
			      "for i in 0 3 4 5 6 7 9; do read l <&$i; "
			      "echo $i$l; done; ls /proc/self/fd | wc -l",
			      NULL};
	/* numbers that collide with the launcher's own and with each other */
	uint32_t targets[] = {1, 9, 3, 4, 5, 6, 7, 0};
	char out[256] = "";
	int fds[8], result[2], channel;
	ab_msg_exited m;

	raise_box();
	ck_assert_int_eq(pipe2(result, O_CLOEXEC), 0);
	fds[0] = result[1];
	for (int i = 1; i < 8; i++) {
		int pair[2];
		char text[8];

		ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
		snprintf(text, sizeof(text), "-%u\n", targets[i]);
		ck_assert_int_eq(ab_fd_write_full(pair[1], text, strlen(text)),
				 0);
		close(pair[1]);
		fds[i] = pair[0];
	}
	channel = ih_spawn(&box, &(ih_command){.argv = argv,
					       .fds = fds,
					       .targets = targets,
					       .fd_count = 8});
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert_int_gt(ab_fd_read_full(result[0], out, sizeof(out) - 1), 0);
	/* 0-7 and 9, and what ls opens itself */
	ck_assert_str_eq(out, "0-0\n3-3\n4-4\n5-5\n6-6\n7-7\n9-9\n10\n");
	close(result[0]);
	close(channel);
	end_box();
}
END_TEST

START_TEST(directories_and_path_fds_do_not_enter)
{
	const char *argv[] = {"true", NULL};
	int fds[] = {open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		     open("/usr", O_PATH | O_CLOEXEC)};

	raise_box();
	for (int i = 0; i < 2; i++) {
		int channel = ih_spawn(
			&box, &(ih_command){.argv = argv,
					    .fds = &fds[i],
					    .targets = (uint32_t[]){5},
					    .fd_count = 1});

		ck_assert_int_lt(ih_started(&box, channel, NULL), 0);
		ck_assert_str_eq(box.failed_stage, "fds");
		close(channel);
		close(fds[i]);
	}
	end_box();
}
END_TEST

/* What the launcher says to a socket at fd 5: 0, or the error. */
static int give_socket(int fd)
{
	const char *argv[] = {"true", NULL};
	int channel = ih_spawn(&box,
			       &(ih_command){.argv = argv,
					     .fds = &fd,
					     .targets = (uint32_t[]){5},
					     .fd_count = 1});
	ab_msg_exited m;
	int r = ih_started(&box, channel, NULL);

	if (r > 0)
		r = ih_exited(channel, &m);
	else
		ck_assert_str_eq(box.failed_stage, "fds");
	close(channel);
	return r;
}

static int give_pair(int type, bool has_name)
{
	int pair[2], r;

	ck_assert_int_eq(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair), 0);
	if (has_name)
		ck_assert_int_eq(ab_fd_take_unix_name(pair[0]), 0);
	r = give_socket(pair[0]);
	close(pair[0]);
	close(pair[1]);
	return r;
}

static int give_new(int family, int type)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0), r;

	ck_assert_int_ge(fd, 0);
	r = give_socket(fd);
	close(fd);
	return r;
}

START_TEST(sockets_of_the_host_do_not_enter)
{
	raise_box();
	ck_assert_int_eq(give_pair(SOCK_STREAM, true), 0);
	ck_assert_int_eq(give_pair(SOCK_SEQPACKET, true), 0);
	/* it would choose a name among the host's */
	ck_assert_int_lt(give_pair(SOCK_STREAM, false), 0);
	ck_assert_int_lt(give_pair(SOCK_DGRAM, true), 0);
	ck_assert_int_lt(give_new(AF_UNIX, SOCK_STREAM), 0);
	ck_assert_int_lt(give_new(AF_INET, SOCK_STREAM), 0);
	ck_assert_int_lt(give_new(AF_INET, SOCK_DGRAM), 0);
	ck_assert_int_lt(give_new(AF_NETLINK, SOCK_RAW), 0);
	end_box();
}
END_TEST

START_TEST(with_the_hosts_network_its_sockets_enter)
{
	plan.p.host_sockets = 1;
	raise_box();
	ck_assert_int_eq(give_new(AF_INET, SOCK_STREAM), 0);
	ck_assert_int_eq(give_pair(SOCK_DGRAM, false), 0);
	end_box();
}
END_TEST

START_TEST(a_long_argument_list_travels_in_a_memfd)
{
	enum { SIZE = 100000 };
	char *text = malloc(SIZE);
	const char *argv[] = {"/bin/sh", "-c", "exit $((${#1} % 251))", "sh",
			      text, NULL};
	ab_msg_exited m;
	int channel;

	memset(text, 'x', SIZE - 1);
	text[SIZE - 1] = '\0';
	raise_box();
	channel = ih_spawn(&box, &(ih_command){.argv = argv, .big = true});
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert_int_eq(WEXITSTATUS(m.status), (SIZE - 1) % 251);
	close(channel);
	free(text);
	end_box();
}
END_TEST

START_TEST(signals_reach_the_group_and_a_closed_channel_kills_it)
{
	const char *argv[] = {"/bin/sh", "-c", "sleep 100 & sleep 100", NULL};
	ab_msg_exited m;
	char out[64];
	int channel;

	raise_box();
	channel = ih_spawn(&box, &(ih_command){.argv = argv});
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_signal(channel, SIGTERM, true), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert(WIFSIGNALED(m.status) && WTERMSIG(m.status) == SIGTERM);
	close(channel);
	channel = ih_spawn(&box, &(ih_command){.argv = argv});
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	close(channel);
	nap_ms(100);
	ck_assert_int_ge(ih_shell(&box, "pgrep -c sleep", out, sizeof(out)), 0);
	ck_assert_str_eq(out, "0\n");
	end_box();
}
END_TEST

START_TEST(the_wall_clock_limit_ends_the_group)
{
	const char *argv[] = {"/bin/sh", "-c", "sleep 100 & sleep 100", NULL};
	ab_msg_exited m;
	int channel;

	raise_box();
	channel = ih_spawn(&box, &(ih_command){.argv = argv, .wall_ms = 100});
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert(WIFSIGNALED(m.status) && WTERMSIG(m.status) == SIGKILL);
	ck_assert_uint_eq(m.reason, AB_REASON_WALL);
	ck_assert_uint_ge(m.wall_us, 100000);
	close(channel);
	end_box();
}
END_TEST

START_TEST(a_pty_is_the_controlling_terminal)
{
	const char *argv[] = {"/bin/sh", "-c", "stty size; tty; echo $((1+1)) "
					       ">/dev/tty",
			      NULL};
	char out[256] = "";
	ab_msg_exited m;
	int channel, pty = -1;
	size_t used = 0;

	raise_box();
	channel = ih_spawn(&box, &(ih_command){.argv = argv,
					       .flags = AB_SPAWN_PTY,
					       .rows = 33,
					       .cols = 77});
	ck_assert_int_gt(ih_started(&box, channel, &pty), 0);
	ck_assert_int_ge(pty, 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	while (used < sizeof(out) - 1) {
		ssize_t n = read(pty, out + used, sizeof(out) - 1 - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	ck_assert_str_eq(out, "33 77\r\n/dev/pts/0\r\n2\r\n");
	close(pty);
	close(channel);
	end_box();
}
END_TEST

START_TEST(limits_come_from_the_plan)
{
	char out[64];

	plan.rlimits[0].soft = 333;
	plan.rlimits[0].hard = 444;
	raise_box();
	ck_assert_int_eq(ih_shell(&box, "ulimit -Sn; ulimit -Hn", out,
				  sizeof(out)),
			 0);
	ck_assert_str_eq(out, "333\n444\n");
	end_box();
}
END_TEST

static void bind_attacker(void)
{
	static char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	ih_bind(&plan, self, "/attack", AB_MOUNT_RDONLY);
}

/* One line per attack that succeeded. */
static void attack_one(long pid)
{
	static const char *const files[] = {
		"mem", "environ", "maps", "fd/3", "root/proc", "cwd/proc",
		"ns/user", "ns/mnt", "auxv", "stack", "syscall", "io", "fd",
		"map_files", "pagemap"};
	char path[64], byte;
	struct iovec iov = {&byte, 1};
	int fd;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		ssize_t n = -1;

		snprintf(path, sizeof(path), "/proc/%ld/%s", pid, files[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		/* maps and environ of nothing open, and are empty */
		if (fd >= 0)
			n = read(fd, &byte, 1);
		if (fd >= 0 && (n != 0 || strchr(files[i], '/')))
			printf("%s: opened\n", path);
		if (fd >= 0)
			close(fd);
	}
	snprintf(path, sizeof(path), "/proc/%ld/mem", pid);
	if (open(path, O_RDWR | O_CLOEXEC) >= 0)
		printf("%s: opened for writing\n", path);
	if (ptrace(PTRACE_ATTACH, (pid_t)pid, 0, 0) == 0)
		printf("%ld: ptrace attached\n", pid);
	if (ptrace(PTRACE_SEIZE, (pid_t)pid, 0, 0) == 0)
		printf("%ld: ptrace seized\n", pid);
	if (syscall(SYS_process_vm_readv, pid, &iov, 1, &iov, 1, 0) >= 0)
		printf("%ld: memory read\n", pid);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (syscall(SYS_pidfd_getfd, fd, 3, 0) >= 0)
		printf("%ld: fd taken\n", pid);
	if (setns(fd, CLONE_NEWNS) == 0 || setns(fd, CLONE_NEWUSER) == 0)
		printf("%ld: namespace entered\n", pid);
}

/* As much as the limit lets it have. */
/* mmap(2): a compiler may leave away what is only written; clang -O3 does. */
static _Noreturn void eat(void)
{
	for (;;) {
		char *p = mmap(NULL, 8u << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			pause();
		else
			memset(p, 1, 8u << 20);
		nap_ms(20);
	}
}

/* Again and again, once it is a command that the host knows of. */
static _Noreturn void storm(pid_t pid, int signum)
{
	nap_ms(20);
	for (;;) {
		kill(pid, signum);
		usleep(300);
	}
}

/*
 * Its children outlive it: some sleep, and some pass their life on to a
 * child again and again, so that a list of them is old before it is read.
 * It runs on a host without a limit as well, so it forks 64 times in all and
 * every one of them ends by its own alarm.
 */
static _Noreturn void bomb(void)
{
	enum { SLEEPERS = 19, RUNNERS = 5, LIVES = 9 };

	for (int i = 0; i < SLEEPERS + RUNNERS; i++) {
		if (fork())
			continue;
		for (int life = 1; i >= SLEEPERS && life < LIVES; life++) {
			alarm(10);
			usleep(2000);
			if (fork())
				_exit(0);
		}
		alarm(10);
		pause();
	}
	_exit(0);
}

static void attack(const char *how, long pid)
{
	if (!strcmp(how, "read")) {
		attack_one(1);
		attack_one(pid);
		puts("done");
	} else if (!strcmp(how, "stop")) {
		kill((pid_t)pid, SIGSTOP);
	} else if (!strcmp(how, "kill")) {
		kill((pid_t)pid, SIGKILL);
	} else if (!strcmp(how, "starve")) {
		struct rlimit four = {4, 4};

		/* with the default filter this is refused; here it is not */
		prlimit((pid_t)pid, RLIMIT_NOFILE, &four, NULL);
	} else if (!strcmp(how, "eat")) {
		eat();
	} else if (!strcmp(how, "init")) {
		kill(1, SIGKILL);
		kill(1, SIGSTOP);
		kill(1, SIGTERM);
	} else if (!strcmp(how, "halt")) {
		raise(SIGSTOP);
		_exit(5);
	} else if (!strcmp(how, "slay")) {
		storm(-1, SIGKILL);
	} else if (!strcmp(how, "freeze")) {
		storm((pid_t)pid, SIGSTOP);
	} else if (!strcmp(how, "bomb")) {
		bomb();
	}
}

static void run_attack(const char *how, char *out, size_t size)
{
	char script[128];

	/* a launcher killed before it has told of a command takes it along */
	snprintf(script, sizeof(script), "sleep 0.1; /attack attack %s %u", how,
		 box.launcher);
	ck_assert_int_eq(ih_shell(&box, script, out, size), 0);
}

START_TEST(nothing_of_pid_one_or_the_launcher_can_be_read)
{
	char out[4096];

	bind_attacker();
	raise_box();
	run_attack("read", out, sizeof(out));
	ck_assert_str_eq(out, "done\n");
	end_box();
}
END_TEST

START_TEST(a_killed_or_stopped_launcher_does_not_stop_the_box)
{
	char out[256];
	ab_msg_reply reply;

	bind_attacker();
	raise_box();
	run_attack("init", out, sizeof(out));
	run_attack("stop", out, sizeof(out));
	ck_assert_int_eq(ih_shell(&box, "true", out, sizeof(out)), 0);
	run_attack("kill", out, sizeof(out));
	ck_assert(ih_wait_event(&box, AB_EVENT_LAUNCHER, 5000));
	ck_assert_int_eq(ih_shell(&box, "true", out, sizeof(out)), 0);
	ck_assert_int_eq(ih_request(&box, AB_MSG_STATISTICS, 0, -1, &reply,
				    NULL),
			 0);
	ck_assert_uint_eq(reply.values[3], 1);
	ck_assert_uint_ne(reply.values[2], box.launcher);
	end_box();
}
END_TEST

START_TEST(a_starved_launcher_is_replaced_on_request)
{
	char out[256];
	ab_msg_reply reply;

	bind_attacker();
	raise_box();
	run_attack("starve", out, sizeof(out));
	/* fails or works, but never with wrong descriptors */
	(void)ih_shell(&box, "true", out, sizeof(out));
	ck_assert_int_eq(ih_request(&box, AB_MSG_RELAUNCH, 0, -1, &reply, NULL),
			 0);
	ck_assert(ih_wait_event(&box, AB_EVENT_LAUNCHER, 5000));
	ck_assert_int_eq(ih_shell(&box, "ulimit -n", out, sizeof(out)), 0);
	ck_assert_str_eq(out, "1024\n");
	end_box();
}
END_TEST

START_TEST(a_launcher_just_replaced_is_not_replaced_again)
{
	ab_msg_reply reply;
	ab_msg_exited m;

	raise_box();
	/* as from many threads that waited for the same one */
	for (int i = 0; i < 8; i++) {
		ck_assert_int_eq(ih_request(&box, AB_MSG_RELAUNCH, 0, -1,
					    &reply, NULL),
				 0);
		nap_ms(10);
	}
	ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	ck_assert_int_eq(ih_request(&box, AB_MSG_STATISTICS, 0, -1, &reply,
				    NULL),
			 0);
	ck_assert_uint_eq(reply.values[3], 1);
	end_box();
}
END_TEST

START_TEST(kill_all_ends_every_process_and_the_box_goes_on)
{
	const char *argv[] = {"/bin/sh", "-c",
			      "setsid -f sleep 100; sleep 100", NULL};
	ab_msg_reply reply;
	ab_msg_exited m;
	char out[64];
	int channel;

	raise_box();
	channel = ih_spawn(&box, &(ih_command){.argv = argv});
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_request(&box, AB_MSG_KILL_ALL, 0, -1, &reply, NULL),
			 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert_uint_eq(m.reason, AB_REASON_KILLED);
	close(channel);
	ck_assert_int_ge(ih_shell(&box, "pgrep -c sleep", out, sizeof(out)), 0);
	ck_assert_str_eq(out, "0\n");
	end_box();
}
END_TEST

START_TEST(after_kill_all_the_next_command_runs_at_once)
{
	const char *argv[] = {"/bin/sh", "-c",
			      "setsid -f sleep 100; sleep 100", NULL};
	ab_msg_reply reply;
	ab_msg_exited m;

	raise_box();
	for (int i = 0; i < 200; i++) {
		int channel = ih_spawn(&box, &(ih_command){.argv = argv});

		ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
		ck_assert_int_eq(ih_request(&box, AB_MSG_KILL_ALL, 0, -1,
					    &reply, NULL),
				 0);
		ck_assert_int_eq(reply.result, 0);
		ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
		ck_assert_int_eq(ih_exited(channel, &m), 0);
		ck_assert_uint_eq(m.reason, AB_REASON_KILLED);
		close(channel);
	}
	end_box();
}
END_TEST

/* How many processes there are whose command line ends in this. */
static int count_processes(const char *last)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while ((e = readdir(dir))) {
		char path[64], text[256] = "";
		int fd;
		ssize_t got;

		snprintf(path, sizeof(path), "/proc/%.16s/cmdline", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
		n += got > (ssize_t)strlen(last) + 1 &&
		     !strcmp(text + got - strlen(last) - 1, last);
	}
	closedir(dir);
	return n;
}

START_TEST(kill_all_without_a_pid_namespace_leaves_nobody)
{
	char self[4096], mark[32];
	const char *argv[] = {self, "attack", "bomb", mark, NULL};
	ab_msg_reply reply;
	ab_msg_exited m;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	snprintf(mark, sizeof(mark), "%d", (int)getpid());
	ih_plan_flatten(&plan);
	raise_box();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(run(argv, &m), 0);
		ck_assert_int_gt(count_processes(mark), 0);
		ck_assert_int_eq(ih_request(&box, AB_MSG_KILL_ALL, 0, -1,
					    &reply, NULL),
				 0);
		ck_assert_int_eq(reply.result, 0);
		ck_assert_int_eq(count_processes(mark), 0);
		ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	}
	ck_assert_int_eq(run(argv, &m), 0);
	end_box();
	ck_assert_int_eq(count_processes(mark), 0);
}
END_TEST

START_TEST(a_command_that_stops_itself_stays_stopped)
{
	const char *argv[] = {"/attack", "attack", "halt", "0", NULL};
	ab_msg_exited m;

	bind_attacker();
	raise_box();
	for (int i = 0; i < 100; i++) {
		int channel = ih_spawn(&box, &(ih_command){.argv = argv});

		ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
		ck_assert_int_eq(ab_fd_poll(channel, POLLIN, 5), 0);
		ck_assert_int_eq(ih_signal(channel, SIGCONT, true), 0);
		/* a signal before the stop is none after it */
		while (ab_fd_poll(channel, POLLIN, 20) == 0)
			ck_assert_int_eq(ih_signal(channel, SIGCONT, true), 0);
		ck_assert_int_eq(ih_exited(channel, &m), 0);
		ck_assert(WIFEXITED(m.status) && WEXITSTATUS(m.status) == 5);
		close(channel);
	}
	end_box();
}
END_TEST

START_TEST(a_descriptor_of_its_own_goes_before_the_terminal)
{
	const char *argv[] = {"/bin/sh", "-c",
			      "test -t 0 && test -t 1 && ! test -t 2 && "
			      "echo err >&2; echo tty >/dev/tty",
			      NULL};
	char err[16] = "", out[16] = "";
	ab_msg_exited m;
	int channel, pty = -1, pair[2];

	raise_box();
	ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
	channel = ih_spawn(&box, &(ih_command){.argv = argv,
					       .fds = &pair[1],
					       .targets = (uint32_t[]){2},
					       .fd_count = 1,
					       .flags = AB_SPAWN_PTY});
	close(pair[1]);
	ck_assert_int_gt(ih_started(&box, channel, &pty), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert_int_gt(read(pty, out, sizeof(out) - 1), 0);
	ck_assert_int_gt(ab_fd_read_full(pair[0], err, sizeof(err) - 1), 0);
	ck_assert_str_eq(err, "err\n");
	ck_assert_str_eq(out, "tty\r\n");
	close(pair[0]);
	close(pty);
	close(channel);
	end_box();
}
END_TEST

/* A cgroup with 32 MiB, which the helper removes; false: not here. */
static bool make_memory_cgroup(char *path, size_t size)
{
	char file[128];
	int fd;

	snprintf(path, size, "/sys/fs/cgroup/memory/agentbox-test-%d",
		 (int)getpid());
	if (geteuid() != 0 || mkdir(path, 0755))
		return false;
	snprintf(file, sizeof(file), "%s/memory.limit_in_bytes", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "33554432", 8) != 8) {
		rmdir(path);
		return false;
	}
	close(fd);
	return true;
}

START_TEST(who_was_killed_for_memory_is_told_so_and_nobody_else)
{
	const char *hog[] = {"/attack", "attack", "eat", "0", NULL};
	const char *self[] = {"/bin/sh", "-c", "kill -9 $$", NULL};
	char path[80];
	const char *cgroups[] = {path};
	ab_msg_exited m;

	if (!make_memory_cgroup(path, sizeof(path))) {
		ab_test_skip("who_was_killed_for_memory",
			     "no memory cgroup (v1) to write to");
		return;
	}
	bind_attacker();
	plan.p.cgroups = cgroups;
	plan.p.cgroup_count = 1;
	raise_box();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(run(hog, &m), 0);
		ck_assert(WIFSIGNALED(m.status) &&
			  WTERMSIG(m.status) == SIGKILL);
		ck_assert_uint_eq(m.reason, AB_REASON_MEMORY);
		ck_assert_int_eq(run(self, &m), 0);
		ck_assert(WIFSIGNALED(m.status) &&
			  WTERMSIG(m.status) == SIGKILL);
		ck_assert_uint_eq(m.reason, AB_REASON_NONE);
	}
	end_box();
}
END_TEST

START_TEST(a_plan_that_is_not_ours_is_refused)
{
	ab_writer w;

	ab_writer_init(&w, 1 << 20);
	ck_assert_int_eq(ab_plan_encode(&plan.p, &w), 0);
	ck_assert_int_eq(ih_raise_bytes(&box, helper, w.data, w.len, false),
			 -ECANCELED);
	ck_assert_str_eq(box.failed_stage, "plan");
	ck_assert_int_eq(ih_raise_bytes(&box, helper, w.data, w.len - 1, true),
			 -ECANCELED);
	ck_assert_int_eq(box.failed_errno, EPROTO);
	ab_writer_end(&w);
	plan.p.build_id = "another";
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ck_assert_int_eq(box.failed_errno, ESTALE);
}
END_TEST

START_TEST(a_swapped_source_is_refused_by_name)
{
	ab_plan_step *s = ih_bind(&plan, "/usr/share", "/share",
				  AB_MOUNT_RDONLY | AB_MOUNT_RECURSIVE);
	char stage[64];

	s->ino++;
	snprintf(stage, sizeof(stage), "mounts[%u] %s", plan.p.step_count - 1,
		 geteuid() ? "/share" : "/usr/share");
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ck_assert_str_eq(box.failed_stage, stage);
	ck_assert_int_eq(box.failed_errno, ESTALE);
}
END_TEST

START_TEST(mount_points_are_not_made_in_host_trees)
{
	ih_step(&plan, AB_STEP_TMPFS, "/usr/nothing-here");
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ck_assert_int_eq(box.failed_errno, ENOENT);
	ck_assert_int_lt(access("/usr/nothing-here", F_OK), 0);
}
END_TEST

START_TEST(commands_are_the_first_to_go_when_memory_is_short)
{
	char out[64];

	plan.p.oom_score_adj = 300;
	raise_box();
	ck_assert_int_eq(ih_shell(&box, "cat /proc/self/oom_score_adj", out,
				  sizeof(out)),
			 0);
	ck_assert_str_eq(out, "300\n");
	end_box();
}
END_TEST

/* What is below a mount is the mount's, also when the step before was not. */
START_TEST(nothing_is_made_under_a_mount_that_came_between)
{
	char stage[64];

	ih_step(&plan, AB_STEP_FILE, "/over/one");
	ih_bind(&plan, "/usr/share", "/over",
		AB_MOUNT_RDONLY | AB_MOUNT_RECURSIVE);
	ih_step(&plan, AB_STEP_FILE, "/over/two");
	snprintf(stage, sizeof(stage), "mounts[%u] /over/two",
		 plan.p.step_count - 1);
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ck_assert_str_eq(box.failed_stage, stage);
	ck_assert_int_eq(box.failed_errno, EROFS);
}
END_TEST

START_TEST(files_links_and_hidden_paths_are_made)
{
	ab_plan_step *s = ih_step(&plan, AB_STEP_FILE, "/etc/hello");
	char out[256];

	s->content = "hello\n";
	s->content_len = 6;
	ih_step(&plan, AB_STEP_DIR, "/a/b/c");
	ih_step(&plan, AB_STEP_HIDE, "/usr/share");
	ih_step(&plan, AB_STEP_HIDE, "/usr/bin/bash")->flags =
		AB_MOUNT_OPTIONAL;
	ih_step(&plan, AB_STEP_HIDE, "/usr/no")->flags = AB_MOUNT_OPTIONAL;
	raise_box();
	ck_assert_ptr_nonnull(strstr(box.notes, "skipped\tmounts["));
	ck_assert_ptr_nonnull(strstr(box.notes, "]\t/usr/no\n"));
	ck_assert_int_eq(ih_shell(&box,
				  "cat /etc/hello; ls -d /a/b/c; ls -A "
				  "/usr/share; chmod 777 /usr/share || echo no;"
				  "cat /usr/bin/bash || echo no",
				  out, sizeof(out)),
			 0);
	ck_assert_ptr_nonnull(strstr(out, "hello\n/a/b/c\n"));
	ck_assert_int_eq(out[strlen(out) - 2], 'o');
	end_box();
}
END_TEST

START_TEST(the_weakest_tier_runs_and_leaves_nothing)
{
	char out[256];

	ih_plan_flatten(&plan);
	if (!plan.p.landlock_abi) {
		ab_test_skip("the_weakest_tier", "no Landlock");
		return;
	}
	raise_box();
	ck_assert_int_eq(ih_shell(&box,
				  "touch /usr/x 2>/dev/null || echo no; "
				  "setsid -f sleep 1234; sleep 1234 & "
				  "grep NoNewPrivs /proc/self/status",
				  out, sizeof(out)),
			 0);
	ck_assert_str_eq(out, "no\nNoNewPrivs:\t1\n");
	end_box();
	/* the leak checker is a subreaper: it would see the sleepers */
}
END_TEST

/*
 * A chain that grows at its end while its head is being killed, for twenty
 * seconds at most. Each holds the write end of a pipe.
 */
START_TEST(the_weakest_tier_ends_a_chain_that_grows)
{
	const char *argv[] = {"sh", "-c",
			      "f() { [ $1 -lt 2000 ] || exit 0; sleep 0.005; "
			      "f $(($1+1)) & wait; }; f 0", NULL};
	const uint32_t target = 9;
	int pair[2], channel;

	ih_plan_flatten(&plan);
	if (!plan.p.landlock_abi) {
		ab_test_skip("the_weakest_tier_ends_a_chain_that_grows",
			     "no Landlock");
		return;
	}
	ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
	raise_box();
	channel = ih_spawn(&box, &(ih_command){.argv = argv,
					       .fds = &pair[1],
					       .targets = &target,
					       .fd_count = 1});
	close(pair[1]);
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ab_fd_poll(pair[0], POLLIN, 1500), 0);
	close(channel);
	end_box();
	ck_assert_int_gt(ab_fd_poll(pair[0], POLLIN, 0), 0);
	close(pair[0]);
}
END_TEST

/* A host that dies, with a forked child that keeps its sockets. */
static _Noreturn void doomed_host(int report)
{
	const char *argv[] = {"sleep", "100", NULL};
	int channel;
	pid_t child;

	if (ih_raise(&box, helper, &plan.p))
		_exit(1);
	channel = ih_spawn(&box, &(ih_command){.argv = argv});
	if (ih_started(&box, channel, NULL) <= 0)
		_exit(1);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
		sleep(3);
		_exit(0);
	}
	if (ab_fd_write_full(report, &box.pid_one, sizeof(box.pid_one)))
		_exit(1);
	pause();
	_exit(1);
}

START_TEST(the_hosts_death_ends_the_box_though_a_fork_of_it_lives)
{
	int pair[2], pidfd;
	uint32_t pid_one = 0;
	pid_t host;

	ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
	host = fork();
	if (host == 0)
		doomed_host(pair[1]);
	close(pair[1]);
	ck_assert_int_eq(ab_fd_read_full(pair[0], &pid_one, sizeof(pid_one)),
			 sizeof(pid_one));
	close(pair[0]);
	pidfd = (int)syscall(SYS_pidfd_open, pid_one, 0);
	ck_assert_int_ge(pidfd, 0);
	kill(host, SIGKILL);
	waitpid(host, NULL, 0);
	ck_assert_int_gt(ab_fd_poll(pidfd, POLLIN, 20000), 0);
	close(pidfd);
	/* our subreaper child, so that the leak checker is content */
	while (waitpid(-1, NULL, 0) > 0)
		;
}
END_TEST

START_TEST(many_commands_leave_nothing_behind)
{
	ab_msg_exited m;
	ab_msg_reply reply;
	char out[64];

	raise_box();
	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	ck_assert_int_eq(ih_request(&box, AB_MSG_STATISTICS, 0, -1, &reply,
				    NULL),
			 0);
	ck_assert_uint_eq(reply.values[0], 0);
	ck_assert_uint_eq(reply.values[1], 300);
	ck_assert_int_eq(ih_shell(&box, "ps -e --no-headers | wc -l", out,
				  sizeof(out)),
			 0);
	ck_assert_str_eq(out, "5\n");
	end_box();
}
END_TEST

START_TEST(started_always_comes_before_exited)
{
	enum { AT_ONCE = 20 };
	const char *argv[] = {"true", NULL};
	int channels[AT_ONCE];
	ab_msg_exited m;

	raise_box();
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < AT_ONCE; i++) {
			channels[i] = ih_spawn(&box,
					       &(ih_command){.argv = argv});
			ck_assert_int_ge(channels[i], 0);
		}
		for (int i = 0; i < AT_ONCE; i++) {
			ck_assert_int_gt(ih_started(&box, channels[i], NULL),
					 0);
			ck_assert_int_eq(ih_exited(channels[i], &m), 0);
			close(channels[i]);
		}
	}
	end_box();
}
END_TEST

/* How many of the spawns of one thread were told of to the end. */
static void *spawn_many(void *told)
{
	const char *argv[] = {"true", NULL};
	ab_msg_exited m;

	for (int i = 0; i < 300; i++)
		*(int *)told += run(argv, &m) == 0;
	return NULL;
}

START_TEST(no_exit_is_lost_when_many_threads_spawn)
{
	enum { THREADS = 16 };
	pthread_t threads[THREADS];
	int told[THREADS] = {0}, sum = 0;

	raise_box();
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, spawn_many,
						&told[i]),
				 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += told[i];
	}
	ck_assert_int_eq(sum, 300 * THREADS);
	end_box();
}
END_TEST

/*
 * A command that attacks as long as it lives: all other processes, or the
 * launcher. (It may also stop the host's commands for ever, as any process
 * of theirs: that is what a wall-clock limit is for.)
 */
static void spawn_in_a_storm(const char *how, int *good, int *bad)
{
	char launcher[16];
	const char *argv[] = {"/attack", "attack", how, launcher, NULL};
	uint64_t end = ab_clock_boot_ns() + 3000000000ull;
	ab_msg_exited m;
	int channel;

	bind_attacker();
	raise_box();
	snprintf(launcher, sizeof(launcher), "%u", box.launcher);
	channel = ih_spawn(&box, &(ih_command){.argv = argv});
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	for (int i = 0; i < 200 && ab_clock_boot_ns() < end; i++) {
		int r = run((const char *[]){"true", NULL}, &m);

		ck_assert_int_ne(r, -ETIMEDOUT);
		*good += r == 0;
		*bad += r != 0;
	}
	close(channel);
}

START_TEST(a_storm_of_kills_makes_no_command_hang)
{
	int good = 0, bad = 0;
	ab_msg_exited m;

	spawn_in_a_storm("slay", &good, &bad);
	ck_assert_int_gt(good + bad, 0);
	/* over with its channel; then nothing fails any more */
	nap_ms(200);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	end_box();
}
END_TEST

START_TEST(a_storm_of_stops_makes_no_command_hang)
{
	int good = 0, bad = 0;
	ab_msg_exited m;

	spawn_in_a_storm("freeze", &good, &bad);
	ck_assert_int_gt(good + bad, 0);
	nap_ms(200);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	end_box();
}
END_TEST

/* Open descriptors of a process of the box; -1 where only root may look. */
static int count_fds(pid_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* The only child of PID 1 while no command runs. */
static pid_t find_launcher(void)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", box.pid_one,
		 box.pid_one);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return (pid_t)atol(text);
}

START_TEST(two_thousand_commands_leave_no_descriptor)
{
	ab_msg_exited m;
	pid_t launcher;
	int ours, theirs;

	raise_box();
	ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	nap_ms(50);
	launcher = find_launcher();
	ours = count_fds((pid_t)box.pid_one);
	theirs = launcher ? count_fds(launcher) : -1;
	for (int i = 0; i < 2000; i++)
		ck_assert_int_eq(run((const char *[]){"true", NULL}, &m), 0);
	nap_ms(50); /* a channel is closed after its last message */
	ck_assert_int_eq(count_fds((pid_t)box.pid_one), ours);
	if (launcher)
		ck_assert_int_eq(count_fds(launcher), theirs);
	/* 0-2, link, registrations and their other end, spawn, epoll, signals,
	   shared by all of the agent's kind: nothing of the host */
	ck_assert_int_le(ours, 12);
	ck_assert_int_le(theirs, 5);
	end_box();
}
END_TEST

START_TEST(a_polled_memory_limit_ends_the_hog)
{
	const char *argv[] = {"/attack", "attack", "eat", "0", NULL};
	ab_msg_exited m;

	bind_attacker();
	plan.p.polled_memory = 64u << 20;
	raise_box();
	ck_assert_int_eq(run(argv, &m), 0);
	ck_assert_uint_eq(m.reason, AB_REASON_MEMORY);
	ck_assert(ih_wait_event(&box, AB_EVENT_LIMIT, 2000));
	end_box();
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("init_driver");
	TCase *tc = tcase_create("box");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, ab_leak_teardown);
	tcase_add_test(tc, a_box_runs_a_command_behind_every_wall);
	tcase_add_test(tc, the_root_of_the_box_is_read_only_and_its_own);
	tcase_add_test(tc, the_exit_status_is_exact);
	tcase_add_test(tc, what_cannot_be_started_says_why);
	tcase_add_test(tc, fds_land_exactly_where_they_are_wanted);
	tcase_add_test(tc, directories_and_path_fds_do_not_enter);
	tcase_add_test(tc, sockets_of_the_host_do_not_enter);
	tcase_add_test(tc, with_the_hosts_network_its_sockets_enter);
	tcase_add_test(tc, a_long_argument_list_travels_in_a_memfd);
	tcase_add_test(tc,
		       signals_reach_the_group_and_a_closed_channel_kills_it);
	tcase_add_test(tc, the_wall_clock_limit_ends_the_group);
	tcase_add_test(tc, a_pty_is_the_controlling_terminal);
	tcase_add_test(tc, limits_come_from_the_plan);
	tcase_add_test(tc, nothing_of_pid_one_or_the_launcher_can_be_read);
	tcase_add_test(tc, a_killed_or_stopped_launcher_does_not_stop_the_box);
	tcase_add_test(tc, a_starved_launcher_is_replaced_on_request);
	tcase_add_test(tc, a_launcher_just_replaced_is_not_replaced_again);
	tcase_add_test(tc, kill_all_ends_every_process_and_the_box_goes_on);
	tcase_add_test(tc, after_kill_all_the_next_command_runs_at_once);
	tcase_add_test(tc, kill_all_without_a_pid_namespace_leaves_nobody);
	tcase_add_test(tc, a_command_that_stops_itself_stays_stopped);
	tcase_add_test(tc, a_descriptor_of_its_own_goes_before_the_terminal);
	tcase_add_test(tc,
		       who_was_killed_for_memory_is_told_so_and_nobody_else);
	tcase_add_test(tc, a_plan_that_is_not_ours_is_refused);
	tcase_add_test(tc, a_swapped_source_is_refused_by_name);
	tcase_add_test(tc, mount_points_are_not_made_in_host_trees);
	tcase_add_test(tc,
		       commands_are_the_first_to_go_when_memory_is_short);
	tcase_add_test(tc, nothing_is_made_under_a_mount_that_came_between);
	tcase_add_test(tc, files_links_and_hidden_paths_are_made);
	tcase_add_test(tc, the_weakest_tier_runs_and_leaves_nothing);
	tcase_add_test(tc, the_weakest_tier_ends_a_chain_that_grows);
	tcase_add_test(
		tc, the_hosts_death_ends_the_box_though_a_fork_of_it_lives);
	tcase_add_test(tc, many_commands_leave_nothing_behind);
	tcase_add_test(tc, started_always_comes_before_exited);
	tcase_add_test(tc, a_polled_memory_limit_ends_the_hog);
	suite_add_tcase(s, tc);
	tc = tcase_create("storm");
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, ab_leak_teardown);
	tcase_add_test(tc, no_exit_is_lost_when_many_threads_spawn);
	tcase_add_test(tc, a_storm_of_kills_makes_no_command_hang);
	tcase_add_test(tc, a_storm_of_stops_makes_no_command_hang);
	tcase_add_test(tc, two_thousand_commands_leave_no_descriptor);
	suite_add_tcase(s, tc);
	return s;
}

int main(int argc, char **argv)
{
	SRunner *runner;
	int failed;

	if (argc == 4 && !strcmp(argv[1], "attack")) {
		attack(argv[2], atol(argv[3]));
		fflush(stdout);
		_exit(0); /* what it could open is not a leak */
	}
	snprintf(helper, sizeof(helper), "%s/agentbox-init",
		 ab_test_helper_dir());
	ih_needs_namespaces(helper);
	runner = srunner_create(suite());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
