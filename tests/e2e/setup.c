/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Setting up on machines as they are: odd mounts, odd workspaces, nested
 * boxes, documents that contradict themselves, paths that change meanwhile.
 * Rows 87-89, 94, 96, 97, 101 and 109 of tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

/*
 * A mount name space of the case's own, and for an ordinary user a user
 * name space in which he is root: so that a case may mount.
 */
static void may_mount(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	int fd;

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
		e2e_skip("no mount namespace here: %s", strerror(errno));
	if (uid) {
		char *text = e2e_text("0 %u 1", uid);

		fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
		(void)!write(fd, "deny", 4);
		close(fd);
		fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		REQUIRE(write(fd, text, strlen(text)) > 0, "%m");
		close(fd);
		text = e2e_text("0 %u 1", gid);
		fd = open("/proc/self/gid_map", O_WRONLY | O_CLOEXEC);
		REQUIRE(write(fd, text, strlen(text)) > 0, "%m");
		close(fd);
	}
	REQUIRE(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
		"%m");
	e2e_mark_again();
}

static void mount_tmpfs(const char *at)
{
	host_mkdir(at);
	REQUIRE(mount("none", at, "tmpfs", 0, "size=1m") == 0, "%s: %m", at);
}

/* After a case that mounted: nothing may stay in the way of the removal. */
static void unmount(const char *at)
{
	box_end();
	umount2(at, MNT_DETACH);
}

/* Raised, or a sentence that names the path; never a hang. */
static bool raised_or_named(const char *document, const char *path)
{
	int32_t code;
	char *where, *message;
	int64_t start = e2e_now_ms();

	bool good = box_try(document, &code, &where, &message);

	CHECK(e2e_now_ms() - start < 1000 *
	      (int64_t)ab_test_patience(6), "took %lld ms",
	      (long long)(e2e_now_ms() - start));
	if (good)
		return true;
	e2e_note("%s at %s: %s", agentbox_error_name(code), where, message);
	CHECK(strstr(message, path) || strstr(where, path),
	      "the error does not name %s: %s: %s", path, where, message);
	return false;
}

/* Raises over a tree in which one directory never answers, and says so. */
static void raise_over_hang(void)
{
	if (raised_or_named(box_document("workspace", NULL, NULL), "hang"))
		ATTACK("OK", "create /workspace/src/new.c");
	box_end();
	_exit(e2e_failures() ? 1 : 0);
}

/*
 * A FUSE file system whose daemon never answers. In a process of its own:
 * whoever asks it waits until SIGKILL.
 */
static void case_087_hanging_file_system(void)
{
	const char *at = ws_path("hang");
	int fd, status = 0;
	pid_t pid, done = 0;

	may_mount();
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		e2e_skip("no /dev/fuse: %s", strerror(errno));
	host_mkdir(at);
	if (mount("none", at, "fuse", 0, e2e_text(
		    "fd=%d,rootmode=40000,user_id=0,group_id=0", fd)) < 0) {
		close(fd);
		e2e_skip("fuse cannot be mounted: %s", strerror(errno));
	}
	box_context();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fd);
		raise_over_hang();
	}
	for (int i = 0; i < SOON_MS / 20 && done == 0; i++) {
		e2e_sleep_ms(20);
		done = waitpid(pid, &status, WNOHANG);
	}
	CHECK(done == pid, "agentbox_sandbox_new() waits for a file system "
	      "that never answers");
	CHECK(done != pid || status == 0, "wait status %x", status);
	kill(pid, SIGKILL);
	/* closing the device ends every wait */
	close(fd);
	umount2(at, MNT_DETACH);
	if (done != pid)
		waitpid(pid, NULL, 0);
}

static void case_088_many_submounts_are_all_covered(void)
{
	may_mount();
	for (int i = 0; i < 120; i++)
		mount_tmpfs(host_path("many/m%d", i));
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/many\","
			   "\"access\":\"read\"}", host_path("many")), NULL);
	for (int i = 0; i < 120; i += 17)
		ATTACK("EROFS|EACCES", "create /many/m%d/new", i);
	ATTACK("EROFS|EACCES", "create /many/new");
	ATTACK("OK", "create /workspace/src/new.c");
	box_end();
	for (int i = 0; i < 120; i++)
		umount2(host_path("many/m%d", i), MNT_DETACH);
}

/* The box has it to write, like the rest of the workspace. */
static void case_087_protected_names_below_a_mount(void)
{
	int status;

	may_mount();
	mount_tmpfs(ws_path("m"));
	host_repository(ws_path("m/r"));
	host_write(ws_path("m/.envrc"), "mine");
	host_write(ws_path("m/plain"), "mine");
	REQUIRE(link(ws_path("m/.envrc"), ws_path("m/alias")) == 0, "%m");
	box_raise(NULL, NULL);
	ATTACK("OK", "overwrite /workspace/m/plain");
	ATTACK("OK", "create /workspace/m/new");
	ATTACK("EROFS|EACCES", "overwrite /workspace/m/.envrc");
	ATTACK("EROFS|EACCES", "overwrite /workspace/m/alias");
	ATTACK("EROFS|EACCES", "overwrite /workspace/m/r/.git/config");
	ATTACK("EROFS|EACCES", "create /workspace/m/r/.git/hooks/post-merge");
	ATTACK("EBUSY|EXDEV", "rename /workspace/m/r/.git /workspace/m/r/g");
	ATTACK("EBUSY|EXDEV", "rename /workspace/m/r /workspace/m/r2");
	ATTACK("EBUSY|EXDEV", "rename /workspace/m /workspace/m2");
	/* the host's own rename takes the mount away; it is made again */
	HOST_RUN(&status, "sh", "-c",
		 e2e_text("cd '%s' && echo mine2 >x && mv x .envrc",
			  ws_path("m")));
	REQUIRE(status == 0, "%d", status);
	CHECK(BOX_RUN("true").status == 0, "true");
	ATTACK("EROFS|EACCES", "overwrite /workspace/m/.envrc");
	CHECK(!strcmp(host_read(ws_path("m/.envrc")), "mine2\n"), "%s",
	      host_read(ws_path("m/.envrc")));
	box_end();
	umount2(ws_path("m"), MNT_DETACH);
}

/* The mount table changes all the time while boxes are raised. */
static void case_088_mount_table_changes_meanwhile(void)
{
	const char *at = host_path("busy");
	pid_t pid;

	may_mount();
	host_mkdir(at);
	pid = fork();
	if (pid == 0) {
		for (;;) {
			mount("none", at, "tmpfs", 0, "size=1m");
			umount2(at, MNT_DETACH);
		}
	}
	for (int i = 0; i < 8; i++) {
		box_raise(NULL, NULL);
		ATTACK("EROFS|EACCES", "create /usr/planted");
		ATTACK("EROFS|EACCES", "write /workspace/.git/config");
		box_end();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	umount2(at, MNT_DETACH);
}

static void case_089_workspace_on_tmpfs(void)
{
	const char *at = host_path("tmpfs");
	char *doc;

	may_mount();
	mount_tmpfs(at);
	host_repository(e2e_text("%s/ws", at));
	doc = e2e_text("{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		       "\"workspace\":{\"path\":\"%s/ws\",\"at\":"
		       "\"/workspace\"},\"mounts+\":[{\"from\":\"%s\","
		       "\"to\":\"/attack\",\"access\":\"read\","
		       "\"exec\":true}]}", at, host_path("tools"));
	if (raised_or_named(doc, "tmpfs")) {
		/* a root host's, before Linux 6.3: it is told, and holds */
		bool is_told = strstr(box_walls(), "cannot be mapped");

		ATTACK(is_told ? "EACCES" : "OK", "create /workspace/new");
		ATTACK("EROFS|EACCES", "write /workspace/.git/config");
		ATTACK("EBUSY|EACCES", "rename /workspace/.git /workspace/g");
		CHECK(host_exists(e2e_text("%s/ws/new", at)) != is_told,
		      "not as it was told");
		CHECK(!host_exists(e2e_text("%s/ws/g", at)), "renamed");
	}
	unmount(at);
}

static void case_089_workspace_path_is_a_link(void)
{
	char *doc;

	box_needs_namespaces();
	host_symlink("ws", host_path("link"));
	doc = e2e_text("{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		       "\"workspace\":{\"path\":\"%s\",\"at\":"
		       "\"/workspace\"},\"mounts+\":[{\"from\":\"%s\","
		       "\"to\":\"/attack\",\"access\":\"read\","
		       "\"exec\":true}]}", host_path("link"),
		       host_path("tools"));
	if (!raised_or_named(doc, "link"))
		return;
	ATTACK("OK", "create /workspace/src/new.c");
	ATTACK("EROFS|EACCES", "write /workspace/.git/config");
	CHECK(host_exists(ws_path("src/new.c")), "not in the workspace");
}

static void case_089_deleted_directories(void)
{
	int32_t code;
	char *where, *message;

	/* of the host: its own cwd is gone */
	host_mkdir(host_path("gone"));
	REQUIRE(chdir(host_path("gone")) == 0 &&
		rmdir(host_path("gone")) == 0, "%m");
	box_raise(NULL, NULL);
	ATTACK("OK", "getcwd");
	REQUIRE(chdir("/") == 0, "%m");
	/* of the command: it removes its own */
	struct outcome o = box_sh("mkdir d; cd d; rmdir ../d; "
				  "/attack/attacker getcwd");

	CHECK(strstr(o.out, "getcwd ENOENT"), "%s", o.out);
	box_end();
	/* the workspace itself */
	REQUIRE(rename(ws_path(""), host_path("moved")) == 0, "%m");
	CHECK(!box_try(box_document("workspace", NULL, NULL), &code, &where,
		       &message), "raised without a workspace");
	CHECK(code == AGENTBOX_ENOTFOUND && strstr(message, "ws"),
	      "%s at %s: %s", agentbox_error_name(code), where, message);
}

/* This program again, inside another sandbox. */
static void nested_in(const char *const *wrapper, size_t n)
{
	const char *argv[64];
	char self[4096];
	int status = -1;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	REQUIRE(len > 0, "%m");
	self[len] = 0;
	memcpy(argv, wrapper, n * sizeof(*argv));
	argv[n] = self;
	argv[n + 1] = "inner_nested";
	argv[n + 2] = NULL;
	e2e_seconds(20); /* the inner case has its own ten seconds */
	char *out = host_run(argv, &status);

	e2e_note("%s", out);
	CHECK(status == 0 && strstr(out, "ok 1 - inner_nested"),
	      "nested in %s: wait status %x", wrapper[0], status);
}

/* Raised with what the outer one leaves us, or refused with a sentence. */
static void inner_nested(void)
{
	int32_t code;
	char *where, *message;

	if (box_try(box_document("workspace", NULL, NULL), &code, &where,
		    &message)) {
		e2e_note("tier %s", agentbox_sandbox_get_tier(box()));
		ATTACK("OK", "create /workspace/src/new.c");
		ATTACK("EROFS|EACCES", "write /workspace/.git/config");
		ATTACK("EPERM", "unshare 0x10000000");
		return;
	}
	e2e_note("%s at %s: %s", agentbox_error_name(code), where, message);
	CHECK(code == AGENTBOX_EWALL && *where && strlen(message) > 20,
	      "%s at '%s': %s", agentbox_error_name(code), where, message);
}

static void case_094_inside_a_user_namespace(void)
{
	const char *wrapper[] = { "unshare", "--user", "--map-root-user",
				  "--mount", "--pid", "--fork",
				  "--mount-proc" };
	int status;

	HOST_RUN(&status, "unshare", "--user", "--map-root-user", "true");
	if (status != 0)
		e2e_skip("no user namespaces for unshare(1)");
	nested_in(wrapper, 7);
}

static void case_094_inside_bubblewrap(void)
{
	const char *wrapper[] = { "bwrap", "--bind", "/", "/", "--dev",
				  "/dev", "--proc", "/proc", "--unshare-user",
				  "--unshare-pid", /* this may be built there */
				  "--bind-try", "/dev/shm", "/dev/shm" };
	int status;

	if (!host_has("bwrap"))
		e2e_skip("bwrap is not installed");
	HOST_RUN(&status, "bwrap", "--bind", "/", "/", "--unshare-user",
		 "true");
	if (status != 0)
		e2e_skip("bwrap does not run here");
	nested_in(wrapper, 13);
}

static void refused(const char *document, int32_t code, const char *where)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	int32_t r = agentbox_policy_parse(box_context(), document,
					  strlen(document), &policy, &err);

	e2e_note("%s: %s", agentbox_error_get_where(err),
		 agentbox_error_get_message(err));
	CHECK(r == code, "%s: %s, not %s", document, agentbox_error_name(r),
	      agentbox_error_name(code));
	CHECK(strstr(agentbox_error_get_where(err), where),
	      "'%s' does not hold '%s'", agentbox_error_get_where(err),
	      where);
	CHECK(strchr(agentbox_error_get_message(err), '\n') == NULL,
	      "more than one line");
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
}

static void case_096_bad_documents_are_pointed_at(void)
{
	refused("{\"agentbox\":1,\"mode\":\"sandbox\",\"surprise\":1}",
		AGENTBOX_EPOLICY, "/surprise");
	refused("{\"agentbox\":1,\"name\":\"a\",\"name\":\"b\"}",
		AGENTBOX_EPARSE, "");
	refused("{\"agentbox\":1,\"limits\":{\"memory\":\"4 GiB\"}}",
		AGENTBOX_EPOLICY, "/limits/memory");
	refused("{\"agentbox\":1,\"limits\":{\"memory\":7.5}}",
		AGENTBOX_EPARSE, "");
	refused("{\"agentbox\":1,\"limits\":{\"memory\":"
		"\"99999999999999999999GiB\"}}", AGENTBOX_EPOLICY,
		"/limits/memory");
	refused("{\"agentbox\":1,\"limits\":{\"pids\":-1}}",
		AGENTBOX_EPOLICY, "/limits/pids");
	refused("{\"agentbox\":1,\"mounts\":{}}", AGENTBOX_EPOLICY,
		"/mounts");
	refused("{\"agentbox\":1,\"mounts\":[{\"from\":\"relative\","
		"\"to\":\"/x\",\"access\":\"read\"}]}", AGENTBOX_EPOLICY,
		"/mounts/0/from");
	refused("{\"agentbox\":1,\"mounts\":[{\"from\":\"/usr\",\"to\":"
		"\"/x\",\"access\":\"read\"},{\"from\":\"/etc\",\"to\":"
		"\"/x\",\"access\":\"read\"}]}", AGENTBOX_EPOLICY,
		"/mounts/1");
	refused("{\"agentbox\":1,\"orchestration\":{\"enabled\":true},"
		"\"network\":{\"mode\":\"host\"}}", AGENTBOX_EPOLICY, "/");
	refused("[]", AGENTBOX_EPOLICY, "");
	refused("{", AGENTBOX_EPARSE, "");
}

static void case_096_missing_paths_leave_nothing_half_made(void)
{
	int32_t code;
	char *where, *message;
	size_t fds = 0;

	for (int i = 0; i < 3; i++) {
		CHECK(!box_try(box_document("workspace", e2e_text(
			"{\"from\":\"%s\",\"to\":\"/x\",\"access\":\"read\"}",
			host_path("missing")), NULL), &code, &where,
			&message), "raised over a missing path");
		CHECK(code == AGENTBOX_ENOTFOUND && strstr(message, "missing"),
		      "%s at %s: %s", agentbox_error_name(code), where,
		      message);
		CHECK(strstr(where, "mounts"), "where: %s", where);
		CHECK(host_descendants() == 0, "a process is left");
		if (i)
			CHECK(host_fd_count(getpid()) == fds,
			      "a descriptor is left");
		fds = host_fd_count(getpid());
	}
}

static void case_096_missing_helper_is_said(void)
{
	agentbox_context *context = NULL;
	agentbox_sandbox *s = NULL;
	agentbox_error *err = NULL;
	agentbox_policy *policy;
	int32_t r;

	policy = box_policy(box_document("workspace", NULL, NULL));
	REQUIRE(agentbox_context_new(&context, &err) == 0 &&
		agentbox_context_set_helper_dir(
			context, host_path("outside"), &err) == 0 &&
		agentbox_context_set_state_dir(
			context, host_path("state"), &err) == 0, "context");
	r = agentbox_sandbox_new(context, policy, NULL, &s, &err);
	CHECK(r == AGENTBOX_EHELPER && strstr(
		agentbox_error_get_message(err), "agentbox-init"), "%s: %s",
	      agentbox_error_name(r), agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

/* A helper that another user could write is not started. */
static void case_096_writable_helper_is_refused(void)
{
	agentbox_context *context = NULL;
	agentbox_sandbox *s = NULL;
	agentbox_error *err = NULL;
	agentbox_policy *policy;
	int32_t r;

	host_mkdir(host_path("helpers"));
	host_write_mode(host_path("helpers/agentbox-init"),
			"#!/bin/sh\ntouch started\n", 0777);
	policy = box_policy(box_document("workspace", NULL, NULL));
	REQUIRE(agentbox_context_new(&context, &err) == 0 &&
		agentbox_context_set_helper_dir(
			context, host_path("helpers"), &err) == 0 &&
		agentbox_context_set_state_dir(
			context, host_path("state"), &err) == 0, "context");
	r = agentbox_sandbox_new(context, policy, NULL, &s, &err);
	CHECK(r == AGENTBOX_EHELPER, "%s: %s", agentbox_error_name(r),
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

/*
 * A mount's source is exchanged all the time between two directories: each
 * box shows one of them whole or is not raised, and never what a link in
 * their place would lead to.
 */
static void case_097_exchanged_between_compile_and_spawn(void)
{
	char *doc = box_document("workspace", e2e_text(
		"{\"from\":\"%s\",\"to\":\"/pick\",\"access\":\"read\"}",
		host_path("pick")), NULL);
	int raised = 0, failed = 0;
	pid_t pid;

	host_write(host_path("pick/marker"), "first\n");
	host_write(host_path("other/marker"), "second\n");
	host_symlink("outside", host_path("link"));
	const char *a = host_path("pick"), *b = host_path("other"),
		   *c = host_path("link");

	pid = fork();
	if (pid == 0) {
		for (;;) {
			syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2);
			syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, c, 2);
			syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, c, 2);
		}
	}
	for (int i = 0; i < 25; i++) {
		int32_t code;
		char *where, *message;

		if (!box_try(doc, &code, &where, &message)) {
			failed++;
			continue;
		}
		raised++;
		struct outcome o = box_sh("cat /pick/marker /pick/secret");

		/* resolved when it was the link: then it is outside, whole;
		   but never one inode checked and another one mounted */
		CHECK(strcmp(o.out, "first\n") == 0 ||
		      strcmp(o.out, "second\n") == 0 ||
		      strcmp(o.out, "FAKE-SECRET-FOR-TESTS-ONLY\n") == 0,
		      "%s", o.out);
		box_end();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	e2e_note("%d raised, %d refused", raised, failed);
}

/* Mounted by the host afterwards, on a host whose tree is shared. */
static void case_101_later_mounts_are_not_visible(void)
{
	const char *at = host_path("data/us");

	may_mount();
	host_mkdir(at);
	REQUIRE(mount("none", "/", NULL, MS_REC | MS_SHARED, NULL) == 0,
		"%m");
	e2e_mark_again();
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/data\","
			   "\"access\":\"read\"}", host_path("data")), NULL);
	mount_tmpfs(at);
	host_write(e2e_text("%s/file", at), "later\n");
	mount_tmpfs(ws_path("late"));
	host_write(ws_path("late/file"), "later\n");
	ATTACK("ENOENT", "read /data/us/file");
	ATTACK("EROFS|EACCES", "create /data/us/planted");
	ATTACK("ENOENT", "read /workspace/late/file");
	unmount(at);
	umount2(ws_path("late"), MNT_DETACH);
}

/* A host of an ordinary user who is in a group of the file's. */
static void user_with_group(void)
{
	int32_t code;
	char *where, *message;

	if (box_try(box_document("workspace", NULL,
				 "\"require+\":[\"groups\"]"),
		    &code, &where, &message)) {
		CHECK(false, "raised although the group is in force");
		box_end();
	} else {
		CHECK(code == AGENTBOX_EWALL && strstr(where, "groups"),
		      "%s at %s: %s", agentbox_error_name(code), where,
		      message);
	}
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/shared\","
			   "\"access\":\"read\"}", host_path("shared")), NULL);
	CHECK(strstr(box_walls(), "group"), "not reported: %s", box_walls());
	e2e_note("read of the group's file: %s",
		 box_attack("read /shared/file"));
}

static void case_109_supplementary_groups_are_reported(void)
{
	gid_t groups[] = { 23456 };
	int status = -1;
	pid_t pid;

	if (geteuid() != 0)
		e2e_skip("needs root to join a group");
	host_write_mode(host_path("shared/file"), "of the group\n", 0640);
	REQUIRE(chown(host_path("shared/file"), 0, groups[0]) == 0, "%m");
	HOST_RUN(&status, "chown", "-R", "54322:54322", ws_path(""),
		 host_path("state"));
	/* the user has to reach the workspace */
	REQUIRE(chmod(getenv("TMPDIR"), 0711) == 0, "%m");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setgroups(1, groups) || setresgid(54322, 54322, 54322) ||
		    setresuid(54322, 54322, 54322))
			_exit(3);
		if (access(ws_path("README"), R_OK) < 0 ||
		    access(getenv("AB_TEST_HELPER_DIR") ?
			   getenv("AB_TEST_HELPER_DIR") : "/", X_OK) < 0)
			_exit(77);
		user_with_group();
		box_end();
		_exit(e2e_failures() ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		e2e_skip("the build directory is closed to other users");
	CHECK(status == 0, "wait status %x", status);
}

int main(int argc, char **argv)
{
	static const struct e2e_case inner[] = {
		CASE(inner_nested),
		CASES_END,
	};
	static const struct e2e_case cases[] = {
		CASE(case_087_hanging_file_system),
		CASE(case_087_protected_names_below_a_mount),
		CASE(case_088_many_submounts_are_all_covered),
		CASE(case_088_mount_table_changes_meanwhile),
		CASE(case_089_workspace_on_tmpfs),
		CASE(case_089_workspace_path_is_a_link),
		CASE(case_089_deleted_directories),
		CASE(case_094_inside_a_user_namespace),
		CASE(case_094_inside_bubblewrap),
		CASE(case_096_bad_documents_are_pointed_at),
		CASE(case_096_missing_paths_leave_nothing_half_made),
		CASE(case_096_missing_helper_is_said),
		CASE(case_096_writable_helper_is_refused),
		CASE(case_097_exchanged_between_compile_and_spawn),
		CASE(case_101_later_mounts_are_not_visible),
		CASE(case_109_supplementary_groups_are_reported),
		CASES_END,
	};
	bool is_inner = argc > 1 && strncmp(argv[1], "inner_", 6) == 0;

	return e2e_main(argc, argv, is_inner ? inner : cases);
}
