/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of the snapshot cases that need no second process: odd names,
 * links, special files, sizes, mounts, and what may not follow from them.
 * Spec: SNAPSHOT-CASES.md.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/base.h"

#include "box.h"
#include "copy.h"

#define PAT "ghp_" "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"

static void case_001_to_022_names_in_a_real_tree(void)
{
	static const char *const gone[] = {
		".env", ".env.local", ".ENV", "sub/deep/.env",
		"credentials.json.bak", ".env ", ".env\n", "\xff.env",
		"a\\b", "git~1", ".env\xe2\x80\x8b",
	};
	static const char *const kept[] = { "-rf", "...", "Makefile",
					    ".env.example", ".gitignore" };
	copy_end end;

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		host_write(ws_path(gone[i]), "A=1\n");
	host_write(ws_path("venv.d/.env/lib/x.py"), "x\n");
	host_write(ws_path("dir/.env.example/x"), "x\n");
	host_write(ws_path("node_modules/a/index.js"), "x\n");
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		host_write(ws_path(kept[i]), "!.env\n");
	end = copy_make(0);
	GOOD(end);
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		CHECK(!snap_has(gone[i]), "%s is there", gone[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CHECK(snap_has(kept[i]), "%s is gone: %s", kept[i],
		      end.report);
	CHECK(!snap_has("venv.d/.env") && !snap_has("dir/.env.example") &&
		      !snap_has("node_modules"), "a directory");
	CHECK(strstr(end.report, "\"path\":\"\\\\xff.env\",\"encoded\":true"),
	      "%s", end.report);
	CHECK(strstr(end.report, "\".env\\u000a\""), "%s", end.report);
}

static void case_025_the_trees_own_patterns_only_leave_out(void)
{
	host_write(ws_path(".agentboxignore"), "src/\n!.env\n");
	host_write(ws_path(".env"), "A=1\n");
	copy_end end = copy_make(0);

	GOOD(end);
	LEFT(end, "src", "ignore-file");
	LEFT(end, ".env", "name");
	/* a link is not followed, an endless one is refused */
	unlink(ws_path(".agentboxignore"));
	host_symlink(host_path("outside"), ws_path(".agentboxignore"));
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(snap_has("src"), "%s", end.report);
	unlink(ws_path(".agentboxignore"));
	host_write(ws_path(".agentboxignore"), "");
	REQUIRE(truncate(ws_path(".agentboxignore"), 65537) == 0, "truncate");
	end = copy_make(AB_COPY_REPLACE);
	CHECK(end.code == AGENTBOX_ELIMIT, "%d", end.code);
	CHECK(snap_has("src"), "the generation before is gone");
}

static void case_026_to_028_links_are_left_out(void)
{
	static const char *const links[][2] = {
		{ "shadow", "/etc/shadow" }, { "up", "../outside" },
		{ "inside", "./Makefile" },  { "dangling", "nowhere" },
		{ "loop", "loop" },	     { "src/dir", "/" },
	};
	copy_end end;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		host_symlink(links[i][1], ws_path(links[i][0]));
	end = copy_make(0);
	GOOD(end);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		CHECK(!snap_has(links[i][0]), "%s", links[i][0]);
		LEFT(end, links[i][0], "symlink");
	}
}

static void link_ws(const char *from, const char *to)
{
	REQUIRE(link(ws_path(from), ws_path(to)) == 0, "link: %m");
}

static void case_033_034_other_names_of_secrets_are_left_out(void)
{
	host_write(ws_path(".env"), "PASS=abc\n");
	link_ws(".env", "notes.txt");
	host_write(ws_path(".ssh/config"), "Host x\n");
	link_ws(".ssh/config", "src/hosts.c");
	host_write(ws_path("node_modules/.bin/deep/x.js"), "x\n");
	link_ws("node_modules/.bin/deep/x.js", "src/x.js");
	copy_end end = copy_make(0);

	GOOD(end);
	LEFT(end, "notes.txt", "alias");
	LEFT(end, "src/hosts.c", "alias");
	LEFT(end, "src/x.js", "alias");
}

static void case_034_a_secret_that_cannot_be_listed(void)
{
	host_write(ws_path(".ssh/key"), "x\n");
	link_ws(".ssh/key", "src/x.c");
	host_write(ws_path("store/a.c"), "int a;\n");
	link_ws("store/a.c", "src/a.c");
	chmod(ws_path(".ssh"), 0);
	copy_end end = copy_make(0);

	chmod(ws_path(".ssh"), 0755);
	GOOD(end);
	LEFT(end, "src/x.c", "alias");
	CHECK(snap_has("src/a.c") && snap_has("store/a.c"),
	      "all names of it are known: %s", end.report);
}

static void case_034_a_directory_becomes_a_secret(void)
{
	copy_end end;

	host_write(ws_path("cfg/key.c"), "x\n");
	link_ws("cfg/key.c", "src/x.c");
	end = copy_make(0);
	GOOD(end);
	CHECK(snap_has("src/x.c"), "%s", end.report);
	REQUIRE(rename(ws_path("cfg"), ws_path(".ssh")) == 0, "rename");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	LEFT(end, "src/x.c", "alias");
	CHECK(!snap_has("src/x.c"), "it was taken over");
}

static void case_035_039_linked_files_are_kept_and_never_linked_to(void)
{
	struct stat a, b;

	host_write(host_path("store/one.c"), "int one;\n");
	REQUIRE(link(host_path("store/one.c"), ws_path("src/one.c")) == 0,
		"link");
	copy_end end = copy_make(0);

	GOOD(end);
	CHECK(snap_has("src/one.c"), "%s", end.report);
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	host_write(ws_path("src/two.c"), "int two;\n");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	REQUIRE(stat(snap_path("src/one.c"), &a) == 0 &&
			stat(ws_path("src/one.c"), &b) == 0, "stat");
	CHECK(a.st_ino != b.st_ino && a.st_nlink == 1, "%lu links",
	      (unsigned long)a.st_nlink);
}

static void case_037_secrets_under_other_names_are_found(void)
{
	host_write(ws_path("src/config.txt"), "token = " PAT "\n");
	copy_end end = copy_make(0);

	GOOD(end);
	LEFT(end, "src/config.txt", "content");
	CHECK(strstr(end.report, "\"line\":1"), "%s", end.report);
	CHECK(!strstr(end.report, "wWPw5k"), "the secret is told");
}

static void case_040_041_special_files_are_left_out(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	REQUIRE(mkfifo(ws_path("a.c"), 0666) == 0, "fifo");
	REQUIRE(chdir(ws_path("")) == 0, "chdir");
	strcpy(at.sun_path, "b.c");
	REQUIRE(bind(fd, (struct sockaddr *)(void *)&at, sizeof(at)) == 0,
		"bind: %m");
	bool device = mknod("c.c", S_IFCHR | 0666, makedev(1, 5)) == 0;
	bool whiteout = mknod("d.c", S_IFCHR, makedev(0, 0)) == 0;
	copy_end end = copy_make(0);

	GOOD(end);
	LEFT(end, "a.c", "special");
	LEFT(end, "b.c", "special");
	CHECK(!snap_has("a.c") && !snap_has("b.c") && !snap_has("c.c") &&
		      !snap_has("d.c"), "one is there");
	if (device)
		LEFT(end, "c.c", "special");
	if (whiteout)
		LEFT(end, "d.c", "special");
	close(fd);
	REQUIRE(chdir("/") == 0, "chdir");
}

static void case_043_044_no_bits_and_no_attributes(void)
{
	struct stat st;

	host_write_mode(ws_path("run"), "#!/bin/sh\n", 0755);
	REQUIRE(chmod(ws_path("run"), 06755) == 0, "chmod");
	REQUIRE(chmod(ws_path("src"), 01777) == 0, "chmod");
	bool has_xattr = setxattr(ws_path("run"), "user.x", "y", 1, 0) == 0;
	copy_end end = copy_make(0);

	GOOD(end);
	REQUIRE(stat(snap_path("run"), &st) == 0, "stat");
	CHECK((st.st_mode & 07777) == 0555, "%o", st.st_mode);
	REQUIRE(stat(snap_path("src"), &st) == 0, "stat");
	CHECK((st.st_mode & 07777) == 0555, "%o", st.st_mode);
	if (has_xattr)
		CHECK(listxattr(snap_path("run"), NULL, 0) <= 0, "attributes");
}

static void an_ordinary_user_takes_no_other(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.source_uid = geteuid() + 1;
	copy_end end = copy_do(&task);

	CHECK(end.code == AGENTBOX_EWALL, "%d", end.code);
	copy_nothing_published();
}

static void case_046_two_more_users(void)
{
	copy_task task;
	struct stat st;

	if (geteuid() != 0) {
		an_ordinary_user_takes_no_other();
		return;
	}
	copy_init(&task, AB_COPY_MAKE);
	task.plan.source_uid = task.plan.source_gid = 54321;
	task.plan.output_uid = task.plan.output_gid = 54322;
	host_write_mode(ws_path("private.c"), "int x;\n", 0600);
	host_write_mode(ws_path("own.c"), "int x;\n", 0600);
	REQUIRE(chown(ws_path("own.c"), 54321, 54321) == 0, "chown");
	copy_end end = copy_do(&task);

	GOOD(end);
	LEFT(end, "private.c", "unreadable");
	REQUIRE(stat(snap_path("own.c"), &st) == 0, "%s", end.report);
	CHECK(st.st_uid == 54322 && st.st_gid == 54322, "%u", st.st_uid);
	REQUIRE(stat(snap_path("src"), &st) == 0, "stat");
	CHECK(st.st_uid == 54322, "%u", st.st_uid);
	host_write(ws_path("src/main.c"), "int y;\n");
	task.plan.flags = AB_COPY_REPLACE;
	end = copy_do(&task);
	GOOD(end);
	CHECK(end.done.linked == 3 && end.done.copied == 1, "%llu %llu",
	      (unsigned long long)end.done.linked,
	      (unsigned long long)end.done.copied);
	task.plan.job = AB_COPY_VERIFY;
	task.plan.fds = AB_COPY_FD_DEST | AB_COPY_FD_RECORD;
	end = copy_do(&task);
	GOOD(end);
	CHECK(end.done.left_out == 0, "%s", end.report);
	task.plan.job = AB_COPY_SCRUB;
	task.plan.fds |= AB_COPY_FD_STAGING;
	end = copy_do(&task);
	GOOD(end);
	CHECK(!snap_has(""), "it is there");
}

static void case_048_049_large_files_are_left_out(void)
{
	copy_task task;
	int fd = open(ws_path("huge"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	REQUIRE(fd >= 0 && ftruncate(fd, (off_t)1 << 40) == 0, "truncate: %m");
	close(fd);
	REQUIRE(truncate(ws_path("Makefile"), 3000000) == 0, "truncate");
	REQUIRE(truncate(ws_path("README"), 2500000) == 0, "truncate");
	copy_init(&task, AB_COPY_MAKE);
	task.plan.max_file_bytes = 2800000;
	copy_end end = copy_do(&task);

	GOOD(end);
	LEFT(end, "huge", "size");
	LEFT(end, "Makefile", "size");
	struct stat st;
	CHECK(stat(snap_path("README"), &st) == 0 && st.st_size == 2500000,
	      "a file of several pieces");
	task.plan.job = AB_COPY_VERIFY;
	task.plan.fds = AB_COPY_FD_DEST | AB_COPY_FD_RECORD;
	end = copy_do(&task);
	GOOD(end);
	CHECK(end.done.left_out == 0, "%s", end.report);
}

static void case_049_a_secret_at_the_end_of_a_large_file(void)
{
	int fd;

	REQUIRE(truncate(ws_path("README"), 3500000) == 0, "truncate");
	fd = open(ws_path("README"), O_WRONLY | O_APPEND | O_CLOEXEC);
	REQUIRE(write(fd, "\n" PAT "\n", 42) == 42, "write");
	close(fd);
	copy_end end = copy_make(0);

	GOOD(end);
	LEFT(end, "README", "content");
	CHECK(!snap_has("README"), "it is there");
}

static void case_050_051_past_a_limit_nothing_is_published(void)
{
	copy_task task;
	copy_end end;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.max_files = 2;
	end = copy_do(&task);
	CHECK(end.code == AGENTBOX_ELIMIT, "%d", end.code);
	CHECK(strstr(end.message, "it is 2: allow more"), "%s", end.message);
	copy_nothing_published();
	copy_init(&task, AB_COPY_MAKE);
	task.plan.max_bytes = 20;
	end = copy_do(&task);
	CHECK(end.code == AGENTBOX_ELIMIT, "%d", end.code);
	copy_nothing_published();
	copy_init(&task, AB_COPY_MAKE);
	task.plan.max_files = 0;
	end = copy_do(&task);
	CHECK(end.code == AGENTBOX_ELIMIT, "%d", end.code);
	copy_nothing_published();
}

static void case_052_deep_trees(void)
{
	copy_task task;
	int fd = open(ws_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	e2e_seconds(40);
	for (int i = 0; i < 600 && fd >= 0; i++) {
		int next;

		REQUIRE(mkdirat(fd, "dddddddddd", 0755) == 0, "mkdir");
		next = openat(fd, "dddddddddd",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	close(fd);
	copy_init(&task, AB_COPY_MAKE);
	copy_end end = copy_do(&task);

	GOOD(end);
	CHECK(strstr(end.report, "\"reason\":\"depth\""), "%s", end.report);
	task.plan.flags = AB_COPY_REPLACE;
	end = copy_do(&task);
	GOOD(end);
	CHECK(end.done.unchanged, "changed");
	/* past any path, and past what can be open at once */
	task.plan.max_depth = 100000;
	end = copy_do(&task);
	CHECK(end.code == 0 || end.code == AGENTBOX_ESYS, "%d", end.code);
	/* what has no path of its own is told where it is */
	CHECK(end.code || (end.done.left_out > 0 &&
			   strstr(end.report, "\"reason\":\"depth\"")),
	      "nothing was left out");
	int status;

	HOST_RUN(&status, "rm", "-rf", ws_path("dddddddddd"));
}

static void case_053_a_directory_with_many_names(void)
{
	int dirfd;

	e2e_seconds(40);
	host_mkdir(ws_path("many"));
	dirfd = open(ws_path("many"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 5000; i++) {
		char name[16];
		int fd;

		snprintf(name, sizeof(name), "f%d.c", i * 7919 % 5000);
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		REQUIRE(fd >= 0, "open");
		close(fd);
	}
	close(dirfd);
	copy_end end = copy_make(0);

	GOOD(end);
	CHECK(end.done.files == 5003, "%llu",
	      (unsigned long long)end.done.files);
	copy_task task;

	copy_init(&task, AB_COPY_VERIFY);
	end = copy_do(&task);
	GOOD(end);
	CHECK(end.done.left_out == 0, "%s", end.report);
}

static void case_055_056_mounts_are_not_entered(void)
{
	copy_may_mount();
	host_mkdir(ws_path("bind"));
	host_mkdir(ws_path("cycle"));
	if (mount(host_path("outside"), ws_path("bind"), NULL, MS_BIND, NULL))
		e2e_skip("no mounts here: %s", strerror(errno));
	REQUIRE(mount(ws_path(""), ws_path("cycle"), NULL, MS_BIND, NULL) == 0,
		"bind");
	REQUIRE(mount("/etc/hostname", ws_path("README"), NULL, MS_BIND,
		      NULL) == 0, "bind: %m");
	copy_end end = copy_make(0);

	umount(ws_path("bind"));
	umount(ws_path("cycle"));
	umount(ws_path("README"));
	GOOD(end);
	LEFT(end, "bind", "mount");
	LEFT(end, "cycle", "mount");
	LEFT(end, "README", "mount");
	CHECK(!snap_has("bind") && !snap_has("cycle") && !snap_has("README"),
	      "entered");
}

static void case_092_a_proof_brings_back_public_keys(void)
{
	host_write(ws_path("ca.pem"),
		   "-----BEGIN PUBLIC KEY-----\n"
		   "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiVdF\n"
		   "-----END PUBLIC KEY-----\n");
	host_write(ws_path("other.pem"), "no key at all\n");
	copy_end end = copy_make(0);

	GOOD(end);
	CHECK(snap_has("ca.pem"), "%s", end.report);
	LEFT(end, "other.pem", "name");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.unchanged, "changed");
}

static void includes_below_what_goes(void)
{
	static const char *const include[] = { "force:/.vagrant/mine/index.js" };
	copy_task task;

	host_write(ws_path(".vagrant/mine/index.js"), "x\n");
	host_write(ws_path(".vagrant/other/index.js"), "x\n");
	copy_init(&task, AB_COPY_MAKE);
	task.filter.include = include;
	task.filter.include_count = 1;
	copy_end end = copy_do(&task);

	GOOD(end);
	CHECK(snap_has(".vagrant/mine/index.js"), "%s", end.report);
	CHECK(!snap_has(".vagrant/other"), "%s", end.report);
	task.plan.flags = AB_COPY_REPLACE;
	end = copy_do(&task);
	GOOD(end);
	CHECK(end.done.unchanged, "changed");
}

static const char *manifest(void)
{
	return host_read(snap_path(".agentbox/manifest"));
}

/* A terminal that shows the report does nothing that a name says. */
static void case_123_odd_names_are_escaped_in_what_is_told(void)
{
	host_write(ws_path("say \"x\".c"), "x\n");
	host_write(ws_path("\033[2J.c"), "x\n");
	host_write(ws_path("two\nlines.c"), "x\n");
	copy_end end = copy_make(0);

	GOOD(end);
	const char *text = manifest();

	CHECK(strstr(text, "\"say \\\"x\\\".c\""), "%s", text);
	CHECK(strstr(end.report, "\"\\u001b[2J.c\""), "%s", end.report);
	CHECK(strstr(end.report, "\"two\\u000alines.c\""), "%s", end.report);
	CHECK(!strchr(end.report, '\033') && !strchr(text, '\033'),
	      "raw: %s", end.report);
}

/* What a name says may be a secret, too: the reader has only what is there. */
static void case_124_the_manifest_has_no_name_of_what_was_left_out(void)
{
	host_write(ws_path("acme-merger.key"), "x\n");
	host_write(ws_path("deal/.env"), "A=1\n");
	host_symlink("acme-merger.key", ws_path("merger-link"));
	copy_end end = copy_make(0);

	GOOD(end);
	LEFT(end, "acme-merger.key", "name");
	LEFT(end, "merger-link", "symlink");
	const char *text = manifest();

	CHECK(!strstr(text, "merger") && !strstr(text, ".env"), "%s", text);
}

/*
 * By their bytes, whatever a locale says, and a directory's entries where its
 * own name is: "a-b" < "a.c" < "a/x" < "a0".
 */
static void case_125_names_are_in_the_order_of_their_bytes(void)
{
	static const char *const names[] = { "B",   "_",    "a b", "a-b", "a.c",
					     "a/x", "a/~y", "a0",  "b",
					     "z\303\251", "\303\251" };
	const char *text, *p;
	copy_end end;

	for (size_t i = sizeof(names) / sizeof(names[0]); i > 0; i--)
		host_write(ws_path(names[i - 1]), "x\n");
	end = copy_make(0);
	GOOD(end);
	p = text = manifest();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *at = strstr(p, e2e_text("\"%s\"", names[i]));

		CHECK(at != NULL, "%s is not behind what is before it: %s",
		      names[i], text);
		p = at ? at : p;
	}
}

static void case_125_the_same_tree_has_the_same_digest(void)
{
	copy_task task;
	copy_end a = copy_make(0), b;

	copy_init(&task, AB_COPY_MAKE);
	task.dest = host_path("out2");
	host_mkdir(task.dest);
	b = copy_do(&task);
	GOOD(a);
	GOOD(b);
	CHECK(strcmp(a.digest, b.digest) == 0, "%s %s", a.digest, b.digest);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_001_to_022_names_in_a_real_tree),
		CASE(case_025_the_trees_own_patterns_only_leave_out),
		CASE(case_026_to_028_links_are_left_out),
		CASE(case_033_034_other_names_of_secrets_are_left_out),
		CASE(case_034_a_secret_that_cannot_be_listed),
		CASE(case_034_a_directory_becomes_a_secret),
		CASE(case_035_039_linked_files_are_kept_and_never_linked_to),
		CASE(case_037_secrets_under_other_names_are_found),
		CASE(case_040_041_special_files_are_left_out),
		CASE(case_043_044_no_bits_and_no_attributes),
		CASE(case_046_two_more_users),
		CASE(case_048_049_large_files_are_left_out),
		CASE(case_049_a_secret_at_the_end_of_a_large_file),
		CASE(case_050_051_past_a_limit_nothing_is_published),
		CASE(case_052_deep_trees),
		CASE(case_053_a_directory_with_many_names),
		CASE(case_055_056_mounts_are_not_entered),
		CASE(case_092_a_proof_brings_back_public_keys),
		CASE(includes_below_what_goes),
		CASE(case_123_odd_names_are_escaped_in_what_is_told),
		CASE(case_124_the_manifest_has_no_name_of_what_was_left_out),
		CASE(case_125_names_are_in_the_order_of_their_bytes),
		CASE(case_125_the_same_tree_has_the_same_digest),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
