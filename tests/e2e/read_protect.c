/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the box may not read, and what of the machine it may not see.
 * Rows 34-42, 71, 104-106 of tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNSEEN "ENOENT|EACCES"

static void case_034_secrets_of_the_host_are_not_there(void)
{
	const char *home = getenv("HOME");
	static const char *const names[] = {
		"/root/.ssh/id_rsa", "/root/.ssh/id_ed25519",
		"/root/.aws/credentials", "/root/.netrc", "/etc/shadow",
		"/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_rsa_key",
	};

	box_raise(NULL, NULL);
	ATTACK("OK", "read /workspace/README");
	CONTROL("OK", "read %s", host_path("outside/secret"));
	ATTACK("ENOENT", "read %s", host_path("outside/secret"));
	ATTACK("ENOENT", "read %s", host_path("outside/private/id_ed25519"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ATTACK(UNSEEN, "read %s", names[i]);
	if (home && strcmp(home, "/") != 0)
		ATTACK(UNSEEN, "read %s/.ssh/id_rsa", home);
}

static void case_034_hidden_paths_cannot_be_read(void)
{
	host_write(ws_path(".env"), "FAKE_TOKEN=for-tests-only\n");
	host_write(ws_path("secrets/key"), "FAKE KEY FOR TESTS ONLY\n");
	box_raise("{\"to\":\"/workspace/.env\",\"access\":\"hide\"},"
		  "{\"to\":\"/workspace/secrets\",\"access\":\"hide\"}", NULL);
	ATTACK("OK", "read /workspace/README");
	ATTACK(UNSEEN, "read /workspace/.env");
	ATTACK("EROFS|EACCES|ENOENT", "write /workspace/.env");
	ATTACK(UNSEEN, "read /workspace/secrets/key");
	ATTACK("EROFS|EACCES|ENOENT", "create /workspace/secrets/new");
	CHECK(strstr(host_read(ws_path(".env")), "FAKE_TOKEN"), "changed");
}

static void case_035_hidden_parent_keeps_the_cwd_valid(void)
{
	char *doc = e2e_text(
		"{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		"\"workspace\":{\"path\":\"%s\",\"at\":\"same\","
		"\"mount\":\"direct\"},\"mounts+\":[{\"from\":\"%s\","
		"\"to\":\"/attack\",\"access\":\"read\",\"exec\":true}]}",
		ws_path("src"), host_path("tools"));

	box_raise_document(doc);
	ATTACK("OK", "getcwd");
	CHECK(strcmp(attack_detail(), ws_path("src")) == 0, "cwd is %s",
	      attack_detail());
	ATTACK("OK", "create new.c");
	CHECK(host_exists(ws_path("src/new.c")), "not in the workspace");
	ATTACK("ENOENT", "read ../README");
	ATTACK("ENOENT", "read ../../outside/secret");
	/* the directories above are the box's own, or not writable */
	box_attack("create ../planted");
	CHECK(!host_exists(ws_path("planted")), "created on the host");
}

/* A pattern cannot be a mount: it is refused, never silently open. */
static void case_036_globs_for_later_files_are_refused(void)
{
	static const char *const globs[] = {
		"/workspace/**/.env", "/workspace/*.pem",
	};

	for (size_t i = 0; i < 2; i++) {
		agentbox_policy *policy = NULL;
		agentbox_error *err = NULL;
		char *doc = box_document("workspace", e2e_text(
			"{\"to\":\"%s\",\"access\":\"hide\"}", globs[i]),
			NULL);
		int32_t r = agentbox_policy_parse(box_context(), doc,
						  strlen(doc), &policy, &err);

		if (r == 0) {
			int32_t code;
			char *where, *message;

			agentbox_policy_unref(policy);
			CHECK(!box_try(doc, &code, &where, &message),
			      "%s was taken as if it were a path", globs[i]);
			box_end();
			continue;
		}
		CHECK(r == AGENTBOX_EPOLICY && strstr(
			agentbox_error_get_where(err), "/mounts"), "%s: %s",
		      agentbox_error_get_where(err),
		      agentbox_error_get_message(err));
		agentbox_error_free(err);
	}
}

static void case_037_hidden_files_cannot_be_moved(void)
{
	host_write(ws_path("deep/secrets/key"), "FAKE KEY FOR TESTS ONLY\n");
	box_raise("{\"to\":\"/workspace/deep/secrets/key\","
		  "\"access\":\"hide\"}", NULL);
	ATTACK(UNSEEN, "read /workspace/deep/secrets/key");
	ATTACK("EXDEV|EACCES|EPERM|EROFS", "link "
	       "/workspace/deep/secrets/key /workspace/k");
	ATTACK("EBUSY|EXDEV", "rename /workspace/deep/secrets/key "
	       "/workspace/k");
	/* an ancestor may move: what is hidden moves along and stays hidden */
	ATTACK("EBUSY|EXDEV|OK", "rename /workspace/deep/secrets "
	       "/workspace/s");
	ATTACK("EBUSY|EXDEV|OK", "rename /workspace/deep /workspace/d");
	ATTACK(UNSEEN, "read /workspace/deep/secrets/key");
	ATTACK(UNSEEN, "read /workspace/k");
	ATTACK(UNSEEN, "read /workspace/s/key");
	ATTACK(UNSEEN, "read /workspace/d/secrets/key");
	ATTACK("OK", "rename /workspace/src /workspace/src2");
}

static void case_038_nothing_of_the_host_in_proc(void)
{
	static const char *const files[] = {
		"kcore", "keys", "key-users", "sysrq-trigger", "kmsg",
		"timer_list", "sched_debug", "kpagecount",
	};
	static const char *const of_init[] = {
		"root/etc/passwd", "cwd/etc", "environ", "mem", "maps",
		"ns/mnt", "fd/3", "exe", "stack", "syscall", "auxv", "io",
	};

	box_raise(NULL, NULL);
	ATTACK("OK", "proc self status");
	ATTACK("ENOENT", "proc %d status", getpid());
	ATTACK("ENOENT", "proc %d environ", getppid());
	for (size_t i = 0; i < sizeof(of_init) / sizeof(*of_init); i++)
		ATTACK("EACCES|EPERM|ENOENT", "proc 1 %s", of_init[i]);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		ATTACK("ENOENT|EACCES|EPERM|EIO", "proc . %s", files[i]);
	ATTACK("ENOENT|EACCES|EPERM|EROFS|EIO",
	       "proc-write /proc/sysrq-trigger h");
	ATTACK("ENOENT|EACCES|EPERM|EROFS|EIO",
	       "proc-write /proc/sys/kernel/core_pattern x");
	ATTACK("ENOENT|EACCES|EPERM|EROFS|EIO",
	       "proc-write /proc/sys/vm/drop_caches 0");
	ATTACK("OK", "processes");
	CHECK(!strstr(attack_detail(), "systemd") &&
	      !strstr(attack_detail(), "kthreadd"),
	      "processes of the host: %s", attack_detail());
}

static void case_039_handles_are_refused(void)
{
	box_raise(NULL, NULL);
	if (geteuid() == 0)
		CONTROL("OK", "open-by-handle /");
	ATTACK("EPERM", "open-by-handle /workspace");
	ATTACK("EPERM", "name-to-handle /workspace");
}

static void case_040_inherited_directories_are_closed(void)
{
	/* on purpose without CLOEXEC: what a careless host leaves open */
	int dir = open(host_path("outside"), O_RDONLY | O_DIRECTORY);
	int file = open(host_path("outside/secret"), O_RDONLY);

	REQUIRE(dir >= 0 && file >= 0, "%m");
	box_raise(NULL, NULL);
	for (int fd = 3; fd < 16; fd++)
		ATTACK("EBADF", "fd-openat %d secret", fd);
	ATTACK("OK", "fd-list");
	CHECK(!strstr(attack_detail(), "outside"), "%s", attack_detail());
	close(dir);
	close(file);
}

static void case_041_devices_are_the_few_listed(void)
{
	static const char *const missing[] = {
		"/dev/mem", "/dev/kmem", "/dev/port", "/dev/sda", "/dev/vda",
		"/dev/fuse", "/dev/kvm", "/dev/kmsg", "/dev/loop0",
		"/dev/net/tun", "/dev/vhost-net", "/dev/uinput",
		"/dev/console", "/dev/tty0", "/dev/vsock", "/dev/mapper",
	};
	static const char *const there[] = {
		"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
		"/dev/urandom",
	};
	char shared[64];
	struct outcome o;

	snprintf(shared, sizeof(shared), "/dev/shm/agentbox-e2e-%d",
		 getpid());
	host_write(shared, "host\n");
	box_raise(NULL, NULL);
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		ATTACK("ENOENT", "open-rdwr %s", missing[i]);
	for (size_t i = 0; i < sizeof(there) / sizeof(*there); i++)
		ATTACK("OK", "open-rdwr %s", there[i]);
	CONTROL("OK", "read %s", shared);
	ATTACK("ENOENT", "read %s", shared);
	unlink(shared);
	ATTACK("OK", "create /dev/shm/agentbox-e2e-box");
	CHECK(!host_exists("/dev/shm/agentbox-e2e-box"), "shared with host");
	/* character 1:3 is harmless, and refused all the same; block 8:0 */
	ATTACK("EPERM|EACCES", "mknod /tmp/null 020000 1 3");
	ATTACK("EPERM|EACCES", "mknod /tmp/disk 060000 8 0");
	ATTACK("EPERM|EACCES", "mknod /workspace/disk 060000 8 0");
	ATTACK("OK", "mkfifo /tmp/fifo");
	o = box_sh("ls -A /dev | tr '\\n' ' '");
	CHECK(strcmp(o.out, "fd full null ptmx pts random shm stderr stdin "
		     "stdout tty urandom zero ") == 0, "/dev holds %s",
	      o.out);
}

static bool host_makes_cores(void)
{
	struct rlimit limit = { 0, 0 };

	return geteuid() == 0 || (getrlimit(RLIMIT_CORE, &limit) == 0 &&
				  limit.rlim_max > 0);
}

static void case_042_no_core_file(void)
{
	struct outcome o;

	box_raise(NULL, NULL);
	ATTACK("OK", "rlimit 4");
	CHECK(strcmp(attack_detail(), host_makes_cores() ? "1 1" : "0 0") == 0,
	      "RLIMIT_CORE is %s", attack_detail());
	/* with 0 the program of core_pattern would be started, as root of the
	   host: who asks for 0 is told that it is so, and it is not */
	ATTACK("OK", "no-core");
	ATTACK("OK", "rlimit 4");
	CHECK(strcmp(attack_detail(), host_makes_cores() ? "1 1" : "0 0") == 0,
	      "RLIMIT_CORE is %s, and was changed", attack_detail());
	o = BOX_RUN("/attack/attacker", "do-signal", "6");
	CHECK(o.signal == 6, "signal %d status %d", o.signal, o.status);
	o = box_sh("ls -A | grep -i core");
	CHECK(!*o.out, "a core file: %s", o.out);
}

static void case_071_sockets_of_host_services_are_not_there(void)
{
	static const char *const names[] = {
		"/var/run/docker.sock", "/run/docker.sock",
		"/run/podman/podman.sock", "/run/containerd/containerd.sock",
		"/run/dbus/system_bus_socket", "/run/user/0/bus",
		"/run/user/1000/bus", "/tmp/.X11-unix/X0",
		"/run/user/1000/wayland-0", "/run/systemd/private",
		"/run/systemd/journal/socket", "/run/nscd/socket",
		"/run/systemd/resolve/io.systemd.Resolve",
	};
	const char *path = host_path("sockets/agent.sock");
	int fd = host_listen_unix(path);

	box_raise(NULL, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ATTACK("ENOENT", "connect-unix %s", names[i]);
	if (strlen(path) < 100) {
		CONTROL("OK", "connect-unix %s", path);
		ATTACK("ENOENT", "connect-unix %s", path);
	}
	ATTACK("OK", "bind-unix /tmp/own.sock");
	close(fd);
}

/* Granted by path: then, and only then, it is reachable. */
static void case_071_granted_socket_is_reachable(void)
{
	int fd = host_listen_unix(host_path("granted/a.sock"));

	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/granted\","
			   "\"access\":\"write\"}", host_path("granted")),
		  NULL);
	ATTACK("OK", "connect-unix /granted/a.sock");
	close(fd);
}

static int32_t give(int target, int fd, char **message)
{
	const char *argv[] = { "/bin/true" };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	agentbox_error *err = NULL;
	int32_t r;

	REQUIRE(agentbox_command_new(argv, 1, &c, &err) == 0, "command");
	r = agentbox_command_set_fd(c, target, fd, &err);
	if (r == 0)
		r = agentbox_sandbox_spawn(box(), c, &p, &err);
	*message = e2e_text("%s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_process_free(p);
	agentbox_command_free(c);
	return r;
}

static void case_104_directories_are_refused_as_descriptors(void)
{
	static const int flags[] = {
		O_RDONLY | O_DIRECTORY, O_PATH | O_DIRECTORY, O_PATH,
	};
	char *message;
	int fds[2], fd;

	box_raise(NULL, NULL);
	for (size_t i = 0; i < 3; i++) {
		fd = open(i == 2 ? host_path("outside/secret") :
			  host_path("outside"), flags[i] | O_CLOEXEC);
		REQUIRE(fd >= 0, "%m");
		for (int target = 0; target < 6; target += 5)
			CHECK(give(target, fd, &message) == AGENTBOX_EDENIED,
			      "flags %x as fd %d: %s", flags[i], target,
			      message);
		close(fd);
	}
	fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	CHECK(give(5, fd, &message) == AGENTBOX_EDENIED, "namespace: %s",
	      message);
	close(fd);
	/* the control: a pipe and a socket are fine */
	REQUIRE(pipe2(fds, O_CLOEXEC) == 0, "%m");
	CHECK(give(5, fds[0], &message) == 0, "pipe: %s", message);
	close(fds[0]);
	close(fds[1]);
	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0,
		"%m");
	CHECK(give(5, fds[0], &message) == 0, "socket: %s", message);
	close(fds[0]);
	close(fds[1]);
}

/* The host's next open(2) of the file would wait for 45 seconds. */
static void leases_are_refused(const char *builtin)
{
	box_raise_document(box_document(builtin, NULL, NULL));
	host_write(host_path("leased"), "");
	CONTROL("OK", "lease %s", host_path("leased"));
	ATTACK("EINVAL|EPERM", "lease /workspace/README");
	ATTACK("EINVAL|EPERM", "lease /workspace/.git/config");
}

static void api_no_lease_stops_the_host(void)
{
	leases_are_refused("workspace");
}

static void api_no_lease_of_a_review(void)
{
	leases_are_refused("review");
}

static void case_105_write_only_log_cannot_be_reopened(void)
{
	const char *path = host_path("log");
	const char *argv[] = { "/attack/attacker", "fd-reopen", "2", ",",
			       "fd-ftruncate", "2" };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	agentbox_bytes *out = NULL;
	agentbox_error *err = NULL;
	const char *text;
	int fd;

	host_write(path, "earlier lines\n");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	box_raise(NULL, NULL);
	REQUIRE(agentbox_command_new(argv, 6, &c, &err) == 0 &&
		agentbox_command_set_fd(c, 2, fd, &err) == 0 &&
		agentbox_sandbox_capture(box(), c, 4096, &p, &out, NULL,
					 &err) == 0, "%s",
		agentbox_error_get_message(err));
	text = e2e_text("%s", agentbox_bytes_get_data(out));
	CHECK(!strstr(text, "fd-reopen OK read"), "read: %s", text);
	CHECK(!strstr(text, "truncated"), "truncated: %s", text);
	CHECK(strstr(text, "fd-ftruncate EINVAL") ||
	      strstr(text, "fd-ftruncate EACCES"), "%s", text);
	agentbox_bytes_free(out);
	agentbox_process_free(p);
	agentbox_command_free(c);
	/* the control: what a command writes there does arrive */
	const char *say[] = { "/bin/sh", "-c", "echo from the box >&2" };

	c = NULL;
	p = NULL;
	REQUIRE(agentbox_command_new(say, 3, &c, &err) == 0 &&
		agentbox_command_set_fd(c, 2, fd, &err) == 0 &&
		agentbox_sandbox_spawn(box(), c, &p, &err) == 0 &&
		agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
		agentbox_error_get_message(err));
	agentbox_process_free(p);
	agentbox_command_free(c);
	(void)E2E_SOON(strstr(host_read(path), "from the box"));
	CHECK(strcmp(host_read(path), "earlier lines\nfrom the box\n") == 0,
	      "the log holds: %s", host_read(path));
	close(fd);
}

/* No built-in policy shows a socket or a FIFO of the host. */
static void find_channels(const char *builtin)
{
	struct outcome o;

	box_raise_document(box_document(builtin, NULL, NULL));
	o = box_sh("find / -path /proc -prune -o -path /workspace -prune -o "
		   "\\( -type s -o -type p \\) -print 2>/dev/null | head");
	CHECK(!*o.out, "builtin:%s shows %s", builtin, o.out);
	o = box_sh("ls -d /run/* /var/run/* /tmp/* /root/* /home/* "
		   "2>/dev/null");
	e2e_note("builtin:%s: %s", builtin, o.out);
	box_end();
}

static void case_106_no_channel_through_builtin_workspace(void)
{
	e2e_seconds(30); /* walks the whole of /usr */
	find_channels("workspace");
}

static void case_106_no_channel_through_builtin_strict(void)
{
	e2e_seconds(30); /* walks the whole of /usr */
	find_channels("strict");
}

static void case_106_no_channel_through_builtin_review(void)
{
	e2e_seconds(30); /* walks the whole of /usr */
	find_channels("review");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_034_secrets_of_the_host_are_not_there),
		CASE(case_034_hidden_paths_cannot_be_read),
		CASE(case_035_hidden_parent_keeps_the_cwd_valid),
		CASE(case_036_globs_for_later_files_are_refused),
		CASE(case_037_hidden_files_cannot_be_moved),
		CASE(case_038_nothing_of_the_host_in_proc),
		CASE(case_039_handles_are_refused),
		CASE(case_040_inherited_directories_are_closed),
		CASE(case_041_devices_are_the_few_listed),
		CASE(case_042_no_core_file),
		CASE(case_071_sockets_of_host_services_are_not_there),
		CASE(case_071_granted_socket_is_reachable),
		CASE(case_104_directories_are_refused_as_descriptors),
		CASE(case_105_write_only_log_cannot_be_reopened),
		CASE(api_no_lease_stops_the_host),
		CASE(api_no_lease_of_a_review),
		CASE(case_106_no_channel_through_builtin_workspace),
		CASE(case_106_no_channel_through_builtin_strict),
		CASE(case_106_no_channel_through_builtin_review),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
