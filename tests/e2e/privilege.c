/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Privileges, namespaces, other processes, the kernel's own machinery and
 * the terminal. Rows 43-56, 65, 74, 75 and 107 of
 * tests/e2e/SANDBOX-CASES.md. Each refusal names its errno: the seccomp
 * filter's EPERM or ENOSYS, not an accident further down.
 */
#include "box.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

/* flags of clone(2): user, mount, pid, net, ipc, uts, cgroup */
static const char *const namespaces[] = {
	"0x10000000", "0x00020000", "0x20000000", "0x40000000",
	"0x08000000", "0x04000000", "0x02000000",
};
#define NAMESPACE_COUNT (sizeof(namespaces) / sizeof(*namespaces))

static void case_043_setuid_programs_give_nothing(void)
{
	char *own, *setuid;

	if (geteuid() == 0)
		chmod(host_path("tools/attacker"), 06755);
	box_raise(NULL, NULL);
	ATTACK("OK", "status NoNewPrivs");
	CHECK(strcmp(attack_detail(), "1") == 0, "NoNewPrivs is %s",
	      attack_detail());
	own = e2e_text("%s", box_sh("id -u").out);
	ATTACK("OK", "ids");
	setuid = e2e_text("%s", attack_detail());
	CHECK(strncmp(own, setuid, strcspn(own, "\n")) == 0 &&
	      atoi(setuid) != 0, "ids %s, as a setuid program %s", own,
	      setuid);
	ATTACK("EPERM|EINVAL", "setuid 0");
	if (host_exists("/usr/bin/su") || host_exists("/bin/su")) {
		struct outcome o = box_sh("su -c id root </dev/null");

		CHECK(o.status != 0 && !strstr(o.out, "uid=0"), "su: %s%s",
		      o.out, o.err);
	}
}

static void case_044_namespaces_cannot_be_made_inside(void)
{
	box_raise(NULL, NULL);
	CONTROL("OK", "unshare 0x10000000");
	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		ATTACK("EPERM", "unshare %s", namespaces[i]);
		ATTACK("EPERM", "clone %s", namespaces[i]);
		/* flags behind a pointer cannot be judged: glibc falls back */
		ATTACK("ENOSYS", "clone3 %s", namespaces[i]);
	}
	ATTACK("EPERM", "unshare 0x7e020000");
	ATTACK("EPERM", "unshare 0x80");
	/* the upper half of the register is no way around */
	ATTACK("EPERM|EINVAL", "unshare 0x110000000");
	/* what every program does stays possible */
	ATTACK("OK", "clone 0");
	ATTACK("OK", "unshare 0x400");
}

static void case_045_mounts_cannot_be_touched(void)
{
	box_raise(NULL, NULL);
	ATTACK("EPERM", "mount-tmpfs /tmp");
	ATTACK("EPERM", "mount-tmpfs /workspace");
	ATTACK("EPERM", "mount-proc /tmp");
	ATTACK("EPERM", "mount-bind /workspace /tmp");
	ATTACK("EPERM", "remount-rw /usr");
	ATTACK("EPERM", "remount-rw /workspace/.git/hooks");
	ATTACK("EPERM", "umount /workspace/.git/hooks");
	ATTACK("EPERM", "umount /workspace/.git/config");
	ATTACK("EPERM", "umount /proc");
	ATTACK("EPERM", "umount /");
	ATTACK("EPERM|ENOSYS", "open-tree /workspace");
	ATTACK("EPERM|ENOSYS", "move-mount /workspace/.git/hooks /tmp");
	ATTACK("EPERM|ENOSYS", "fsopen tmpfs");
	ATTACK("EPERM|ENOSYS", "fsconfig");
	ATTACK("EPERM|ENOSYS", "fsmount");
	ATTACK("EPERM|ENOSYS", "fspick /");
	ATTACK("EPERM|ENOSYS", "mount-setattr-rw /usr");
	ATTACK("EPERM", "pivot-root /");
	ATTACK("EPERM", "chroot /workspace");
	ATTACK("EPERM", "sethostname evil");
	ATTACK("EROFS|EACCES", "create /usr/planted");
}

static void case_046_setns_is_refused(void)
{
	box_raise(NULL, NULL);
	CONTROL("OK|EPERM|EINVAL", "setns /proc/self/ns/uts 0");
	ATTACK("EPERM", "setns /proc/self/ns/mnt 0");
	ATTACK("EPERM", "setns /proc/1/ns/mnt 0");
	ATTACK("EPERM", "setns-pidfd 1 0x20000");
}

/* pid of the launcher as the box sees it. */
static int launcher(void)
{
	char *at, *save = NULL;

	ATTACK("OK", "processes");
	for (at = strtok_r(e2e_text("%s", attack_detail()), " ", &save); at;
	     at = strtok_r(NULL, " ", &save)) {
		int pid = atoi(at);

		if (pid > 1 && !strstr(at, "=attacker"))
			return pid;
	}
	REQUIRE(false, "no launcher among %s", attack_detail());
	return 0;
}

static void case_047_other_processes_cannot_be_opened(void)
{
	box_raise(NULL, NULL);
	/* the control: a process of one's own may be traced (debuggers) */
	ATTACK("OK", "ptrace child");
	CONTROL("OK", "vm-read child");
	CONTROL("OK", "pidfd-getfd child 0");
	/* init and the launcher */
	for (int i = 0; i < 2; i++) {
		int pid = i ? launcher() : 1;

		ATTACK("EPERM|EACCES", "ptrace %d", pid);
		ATTACK("EPERM|EACCES", "ptrace-seize %d", pid);
		ATTACK("EPERM|EACCES", "proc %d mem", pid);
		ATTACK("EPERM|EACCES", "proc %d environ", pid);
		ATTACK("EPERM|EACCES|ENOENT", "proc %d fd/3", pid);
		ATTACK("EPERM|EACCES", "proc %d root/etc", pid);
		ATTACK("EPERM|EACCES", "proc %d maps", pid);
		ATTACK("EPERM", "vm-read %d", pid);
		ATTACK("EPERM", "vm-write %d", pid);
		ATTACK("EPERM", "pidfd-getfd %d 0", pid);
		ATTACK("EPERM", "kcmp %d", pid);
	}
	ATTACK("EPERM", "vm-read child");
	ATTACK("EPERM", "pidfd-getfd child 0");
	ATTACK("ESRCH", "ptrace %d", getpid());
}

static void case_048_signals_stay_inside(void)
{
	agentbox_process *bystander;
	agentbox_error *err = NULL;
	pid_t victim = fork();

	if (victim == 0) {
		for (;;)
			pause();
	}
	box_raise(NULL, NULL);
	ATTACK("ESRCH", "kill %d 9", victim);
	ATTACK("ESRCH", "kill %d 19", getpid());
	/* PID 1 ignores what it has no handler for: alive afterwards */
	box_attack("kill 1 9");
	box_attack("kill 1 19");
	bystander = BOX_START(-1, "/attack/attacker", "do-sleep", "60000");
	box_attack("kill-all 15");
	box_attack("kill-all 9");
	CHECK(agentbox_process_wait(bystander, SOON_MS, &err) == 0,
	      "kill(-1) did not reach the box's own process");
	agentbox_process_free(bystander);
	CHECK(kill(victim, 0) == 0 && waitpid(victim, NULL, WNOHANG) == 0,
	      "a process of the host was killed");
	/* what the launcher was starting as it died is told as lost */
	box_attack("clone 0");
	ATTACK("OK", "clone 0");
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
}

static void case_049_every_capability_set_is_empty(void)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff",
					    "CapBnd", "CapAmb" };

	box_raise(NULL, NULL);
	for (size_t i = 0; i < 5; i++) {
		ATTACK("OK", "status %s", sets[i]);
		CHECK(strcmp(attack_detail(), "0000000000000000") == 0,
		      "%s is %s", sets[i], attack_detail());
	}
	ATTACK("OK", "status Seccomp");
	CHECK(strcmp(attack_detail(), "2") == 0, "Seccomp is %s",
	      attack_detail());
	ATTACK("EPERM|EINVAL", "prctl-ambient");
	ATTACK("EINVAL", "prctl-clear-nnp");
	ATTACK("OK", "ids");
	CHECK(atoi(attack_detail()) != 0, "uid in the box is %s",
	      attack_detail());
}

static void case_050_keyrings_are_refused(void)
{
	box_raise(NULL, NULL);
	CONTROL("OK", "add-key");
	ATTACK("EPERM", "keyctl-session");
	ATTACK("EPERM", "keyctl-user");
	ATTACK("EPERM", "add-key");
	ATTACK("EPERM", "request-key");
}

static void case_051_kernel_machinery_is_refused(void)
{
	static const char *const calls[] = {
		"bpf", "perf", "userfaultfd", "io-uring", "io-uring-enter",
		"fanotify", "kexec", "init-module", "finit-module",
		"delete-module", "swapon", "acct", "quotactl",
		"settimeofday", "clock-settime", "adjtimex", "reboot",
		"syslog", "iopl",
	};

	box_raise(NULL, NULL);
	if (geteuid() == 0) {
		CONTROL("OK", "bpf");
		CONTROL("OK", "perf");
	}
	CONTROL("OK|ENOSYS|EPERM", "io-uring");
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		ATTACK("EPERM|ENOSYS", "%s", calls[i]);
}

static void case_052_personality_is_refused(void)
{
	box_raise(NULL, NULL);
	CONTROL("OK", "personality 0x0040000");
	ATTACK("EPERM", "personality 0x0040000");
	ATTACK("EPERM", "personality 0x0400000");
	ATTACK("EPERM", "personality 8");
	/* asking is what every program may do */
	ATTACK("OK", "personality 0xffffffff");
}

static void case_053_foreign_system_call_numbers(void)
{
#ifdef __x86_64__
	box_raise(NULL, NULL);
	CONTROL("OK|SIG11|SIG4|ENOSYS", "int80");
	ATTACK("ENOSYS|EPERM|SIG31|SIG11|SIG9", "int80");
	ATTACK("ENOSYS|EPERM|SIG31", "x32");
	ATTACK("ENOSYS|EPERM", "syscall 4242");
	ATTACK("ENOSYS|EPERM|SIG31", "syscall -1");
#else
	e2e_skip("foreign system call numbers are tested on x86_64");
#endif
}

static void case_054_filters_of_the_agent_bind_only_itself(void)
{
	box_raise(NULL, NULL);
	ATTACK("OK", "seccomp-self");
	CHECK(strcmp(attack_detail(), "child 0 parent unchanged") == 0, "%s",
	      attack_detail());
	CONTROL("OK", "seccomp-listener");
	ATTACK("EPERM|EBUSY", "seccomp-listener");
	ATTACK("EINVAL|EPERM|EACCES", "seccomp-disable");
}

static void case_055_prctl_tricks_change_nothing(void)
{
	box_raise(NULL, NULL);
	ATTACK("EPERM|EINVAL", "prctl-mm");
	ATTACK("OK", "prctl-dumpable 0");
	ATTACK("OK", "prctl-dumpable 1");
	ATTACK("EINVAL|EPERM", "prctl-dumpable 2");
	ATTACK("EPERM|EACCES", "ptrace 1");
	ATTACK("EROFS|EACCES", "write /workspace/.git/config");
}

/* A terminal of the host, its slave side as our own; the master's fd. */
static int open_terminal(int *slave)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	REQUIRE(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0,
		"%m");
	*slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	REQUIRE(*slave >= 0, "%m");
	return master;
}

/* Characters waiting to be read by the program on the terminal. */
static int pending(int slave)
{
	int n = 0;

	ioctl(slave, FIONREAD, &n);
	return n;
}

static const char *attack_on_tty(int slave, const char *request)
{
	const char *argv[] = { "/attack/attacker", "tty-ioctl", "0", request };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	agentbox_bytes *out = NULL;
	agentbox_error *err = NULL;
	char *word;

	REQUIRE(agentbox_command_new(argv, 4, &c, &err) == 0 &&
		agentbox_command_set_fd(c, 0, slave, &err) == 0 &&
		agentbox_sandbox_capture(box(), c, 4096, &p, &out, NULL,
					 &err) == 0, "%s",
		agentbox_error_get_message(err));
	word = e2e_text("%s", agentbox_bytes_get_data(out));
	word[strcspn(word, "\n")] = 0;
	agentbox_bytes_free(out);
	agentbox_process_free(p);
	agentbox_command_free(c);
	return strncmp(word, "tty-ioctl ", 10) ? word : word + 10;
}

static void case_056_nothing_is_typed_into_the_host_terminal(void)
{
	static const char *const requests[] = {
		"0x5412", "0x100005412", "0xffffffff00005412", /* TIOCSTI */
		"0x541c", "0x10000541c", /* TIOCLINUX */
		"0x5423", "0x100005423", /* TIOCSETD */
	};
	int slave, master = open_terminal(&slave);
	char text[8] = "X";

	box_raise(NULL, NULL);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const char *got = attack_on_tty(slave, requests[i]);

		CHECK(one_of(got, "EPERM|EACCES"), "%s: %s", requests[i],
		      got);
	}
	CHECK(pending(slave) == 0, "something was typed");
	/* the control: this terminal can be typed into by who may */
	if (geteuid() == 0 && ioctl(slave, TIOCSTI, text) == 0) {
		text[0] = '\n';
		ioctl(slave, TIOCSTI, text);
		CHECK(pending(slave) > 0, "the control typed nothing");
	}
	CHECK(one_of(attack_on_tty(slave, "0x5413"), "OK"),
	      "asking for the window size is refused: %s",
	      attack_on_tty(slave, "0x5413"));
	close(slave);
	close(master);
}

/* In a box's own terminal too. */
static void case_056_own_terminal_refuses_it_too(void)
{
	const char *argv[] = { "/attack/attacker", "tty-ioctl", "0", "0x5412",
			       ",", "tty-ioctl", "0", "0x100005412" };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	agentbox_error *err = NULL;
	char text[4096];
	size_t used = 0;
	int32_t fd = -1;

	box_raise(NULL, NULL);
	REQUIRE(agentbox_command_new(argv, 8, &c, &err) == 0 &&
		agentbox_command_set_pty(c, 24, 80, &err) == 0 &&
		agentbox_sandbox_spawn(box(), c, &p, &err) == 0 &&
		agentbox_process_open_pty(p, &fd, &err) == 0, "%s",
		agentbox_error_get_message(err));
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	for (;;) {
		ssize_t n = read(fd, text + used, sizeof(text) - 1 - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	text[used] = 0;
	CHECK(strstr(text, "tty-ioctl EPERM\r\ntty-ioctl EPERM"), "%s", text);
	close(fd);
	agentbox_process_free(p);
	agentbox_command_free(c);
}

static void case_074_socket_families_are_an_allow_list(void)
{
	/* vsock, packet, alg, xdp, can, bluetooth, key, tipc, rds, kcm */
	static const int families[] = { 40, 17, 38, 44, 29, 31, 15, 30, 21,
					41 };

	box_raise(NULL, NULL);
	CONTROL("OK|EAFNOSUPPORT", "socket 40 1 0");
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		ATTACK("EAFNOSUPPORT|EPERM|EACCES", "socket %d 3 0",
		       families[i]);
	ATTACK("EAFNOSUPPORT|EPERM|EACCES", "socket 0x100000028 1 0");
	/* netlink: route only; generic, audit, netfilter are not */
	CONTROL("OK", "socket 16 3 16");
	ATTACK("EAFNOSUPPORT|EPERM|EACCES|EPROTONOSUPPORT", "socket 16 3 16");
	ATTACK("EAFNOSUPPORT|EPERM|EACCES|EPROTONOSUPPORT", "socket 16 3 9");
	ATTACK("EAFNOSUPPORT|EPERM|EACCES|EPROTONOSUPPORT", "socket 16 3 12");
	ATTACK("OK", "socket 16 3 0");
	ATTACK("OK", "socket 1 1 0");
	ATTACK("OK", "socket 2 1 0");
	ATTACK("OK|EAFNOSUPPORT", "socket 10 1 0");
	ATTACK("OK", "socketpair 1 1");
}

static void case_075_io_uring_opens_no_socket(void)
{
	box_raise(NULL, NULL);
	ATTACK("EPERM|ENOSYS", "io-uring");
	ATTACK("EPERM|ENOSYS", "io-uring-enter");
	ATTACK("EPERM|ENOSYS", "syscall 427");
}

static void case_107_launcher_keeps_its_limits(void)
{
	int pid;

	box_raise(NULL, NULL);
	pid = launcher();
	CONTROL("OK", "prlimit child");
	ATTACK("EPERM", "prlimit 1");
	ATTACK("EPERM", "prlimit %d", pid);
	ATTACK("EPERM", "prlimit-read %d", pid);
	ATTACK("OK", "rlimit 7");
	CHECK(atoi(attack_detail()) >= 1024, "RLIMIT_NOFILE is %s",
	      attack_detail());
	/* slowing init and launcher down is refused, or without effect */
	for (int i = 0; i < 2; i++) {
		int at = i ? pid : 1;
		int64_t start = e2e_now_ms();

		box_attack("sched-idle %d", at);
		box_attack("nice %d", at);
		box_attack("affinity %d", at);
		ATTACK("OK", "clone 0");
		CHECK(e2e_now_ms() - start < 1000 *
	      (int64_t)ab_test_patience(6), "spawning has stalled");
	}
	ATTACK("OK", "status Cpus_allowed_list");
}

static void case_107_stopped_launcher_is_replaced(void)
{
	int64_t start;

	box_raise(NULL, NULL);
	box_attack("kill %d 19", launcher());
	start = e2e_now_ms();
	struct outcome o = BOX_RUN("/attack/attacker", "clone", "0");

	if (o.result == AGENTBOX_ETIMEOUT) {
		e2e_note("ETIMEOUT after %lld ms, as the header says",
			 (long long)(e2e_now_ms() - start));
		o = BOX_RUN("/attack/attacker", "clone", "0");
	}
	CHECK(o.result == 0 && strstr(o.out, "OK"),
	      "no command runs after the launcher was stopped: %s",
	      o.error);
	CHECK(e2e_now_ms() - start < 1000 *
	      (int64_t)ab_test_patience(8), "took too long");
	CHECK(one_of(box_attack("write /workspace/.git/config"),
		     "EROFS|EACCES"), "the new launcher has no walls");
	ATTACK("OK", "status CapEff");
	CHECK(strcmp(attack_detail(), "0000000000000000") == 0, "%s",
	      attack_detail());
}

static void case_107_killed_launcher_is_replaced(void)
{
	box_raise(NULL, NULL);
	for (int i = 0; i < 3; i++) {
		box_attack("kill %d 9", launcher());
		struct outcome o = BOX_RUN("/attack/attacker", "clone", "0");

		if (o.result != 0)
			o = BOX_RUN("/attack/attacker", "clone", "0");
		CHECK(o.result == 0 && strstr(o.out, "OK"),
		      "round %d: no command runs: %s", i, o.error);
		ATTACK("EPERM", "unshare 0x10000000");
		ATTACK("EPERM|EACCES", "ptrace %d", launcher());
	}
	CHECK(box_event("launcher", NULL, SOON_MS), "no event");
}

/* The strict profile is an allow list, and has no ptrace. */
static void case_047_strict_profile_has_no_ptrace(void)
{
	box_raise_document(box_document("strict", NULL, NULL));
	ATTACK("EPERM|ENOSYS", "ptrace child");
	ATTACK("EPERM|ENOSYS", "kcmp 1");
	ATTACK("EPERM|ENOSYS", "modify-ldt");
	ATTACK("EPERM|ENOSYS", "syscall 4242");
	ATTACK("EPERM", "unshare 0x10000000");
	ATTACK("OK", "create /workspace/src/new.c");
	CHECK(box_sh("echo fine").status == 0, "a shell does not run");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_043_setuid_programs_give_nothing),
		CASE(case_044_namespaces_cannot_be_made_inside),
		CASE(case_045_mounts_cannot_be_touched),
		CASE(case_046_setns_is_refused),
		CASE(case_047_other_processes_cannot_be_opened),
		CASE(case_047_strict_profile_has_no_ptrace),
		CASE(case_048_signals_stay_inside),
		CASE(case_049_every_capability_set_is_empty),
		CASE(case_050_keyrings_are_refused),
		CASE(case_051_kernel_machinery_is_refused),
		CASE(case_052_personality_is_refused),
		CASE(case_053_foreign_system_call_numbers),
		CASE(case_054_filters_of_the_agent_bind_only_itself),
		CASE(case_055_prctl_tricks_change_nothing),
		CASE(case_056_nothing_is_typed_into_the_host_terminal),
		CASE(case_056_own_terminal_refuses_it_too),
		CASE(case_074_socket_families_are_an_allow_list),
		CASE(case_075_io_uring_opens_no_socket),
		CASE(case_107_launcher_keeps_its_limits),
		CASE(case_107_stopped_launcher_is_replaced),
		CASE(case_107_killed_launcher_is_replaced),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
