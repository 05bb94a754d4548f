/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `.shared`, the mount at which a box finds what peers share with it: who can
 * write, rename or fill it (nobody), what may stand there before, and that
 * what the host renames into it is seen at once. Rows 99, 100, 103, 119 and
 * 120 of the snapshot cases (tests/e2e/SNAPSHOT-CASES.md).
 */
#include "box.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READS "\"peering\": \"read\""

/* The host's side of it: <state>/boxes/<id>/shared. */
static const char *shown(agentbox_sandbox *sandbox)
{
	return host_path("state/boxes/%s/shared",
			 agentbox_sandbox_get_id(sandbox));
}

/* What a grant does: made elsewhere, then renamed into place. */
static void share(agentbox_sandbox *sandbox, const char *name,
		  const char *text)
{
	const char *made = host_path("state/boxes/%s/staging/x",
				     agentbox_sandbox_get_id(sandbox));

	host_write_mode(e2e_text("%s/file", made), text, 0555);
	REQUIRE(rename(made, e2e_text("%s/%s", shown(sandbox), name)) == 0,
		"rename: %m");
}

/* What a revoke does, in the end: what is granted outlives a box. */
static void unshare_peer(agentbox_sandbox *sandbox)
{
	int status;

	HOST_RUN(&status, "rm", "-r", e2e_text("%s/peer", shown(sandbox)));
	CHECK(status == 0, "rm: %d", status);
}

static void case_099_nothing_can_be_written(void)
{
	struct outcome o;

	box_needs_namespaces();
	box_raise(NULL, READS);
	share(box(), "peer", "#!/bin/sh\necho ran\n");
	o = box_sh("cat .shared/peer/file");
	CHECK(strcmp(o.out, "#!/bin/sh\necho ran\n") == 0, "read: %s%s", o.out,
	      o.err);
	o = box_sh("echo x >.shared/peer/file; echo x >.shared/new; "
		   "mkdir .shared/d; chmod 777 .shared/peer; "
		   "rm -rf .shared/peer; touch .shared/peer/file; "
		   "ln -s /etc .shared/l; mv .shared/peer .shared/p2");
	o = box_sh("cat .shared/peer/file; ls .shared");
	CHECK(strcmp(o.out, "#!/bin/sh\necho ran\npeer\n") == 0,
	      "changed: %s%s", o.out, o.err);
	unshare_peer(box());
}

static void case_100_103_no_remount_no_exec(void)
{
	struct outcome o;

	box_needs_namespaces();
	box_raise(NULL, READS);
	share(box(), "peer", "#!/bin/sh\necho ran\n");
	o = box_sh("mount -o remount,rw .shared || umount .shared || "
		   "umount -l .shared");
	CHECK(o.status != 0, "remounted: %s", o.err);
	o = box_sh(".shared/peer/file");
	CHECK(o.status == 126 && !strstr(o.out, "ran"), "ran: %d %s", o.status,
	      o.out);
	o = box_sh("grep ' /[^ ]*/.shared ' /proc/self/mountinfo");
	CHECK(strstr(o.out, " ro,nosuid,nodev,noexec") &&
	      strstr(o.out, "nosymfollow"), "mounted: %s", o.out);
	unshare_peer(box());
}

static void case_119_it_is_no_name_of_the_agent(void)
{
	struct outcome o;

	box_needs_namespaces();
	box_raise(NULL, READS);
	o = box_sh("mv .shared .s2; rmdir .shared; rm -rf .shared; "
		   "mv .shared sub; ln -sfn /tmp .shared; ls -d .s2 sub");
	share(box(), "peer", "text");
	o = box_sh("cat .shared/peer/file");
	CHECK(strcmp(o.out, "text") == 0, "hidden: %s%s", o.out, o.err);
	CHECK(host_exists(ws_path(".shared")), "no mount point");
	unshare_peer(box());
	box_end();
	CHECK(!host_exists(ws_path(".shared")), "the mount point is left");
}

/* `what` stands at .shared before the box is raised: it is refused, named. */
static void refused(const char *what)
{
	char *where = NULL, *message = NULL;
	int32_t code = 0;

	CHECK(!box_try(box_document("workspace", NULL, READS), &code, &where,
		       &message),
	      "%s: raised", what);
	CHECK(where && strcmp(where, "/peering") == 0, "%s: at %s", what,
	      where);
	CHECK(message && strstr(message, "/.shared'"), "%s: %s", what,
	      message);
}

static void case_119_what_is_there_before(void)
{
	int status;

	box_needs_namespaces();
	host_write(ws_path(".shared"), "a file");
	refused("a file");
	unlink(ws_path(".shared"));
	host_symlink("/tmp", ws_path(".shared"));
	refused("a link");
	unlink(ws_path(".shared"));
	host_write(ws_path(".shared/b/fake"), "planted");
	refused("a directory with content");
	CHECK(host_exists(ws_path(".shared/b/fake")), "it was removed");
	HOST_RUN(&status, "rm", "-r", ws_path(".shared/b"));
	box_raise(NULL, READS);
	box_end();
	CHECK(!host_exists(ws_path(".shared")), "an empty one is taken over");
}

/* Two boxes over one workspace: the first to end takes nothing away. */
static void case_119_two_boxes_of_one_workspace(void)
{
	agentbox_sandbox *first, *second;
	char *where, *message;
	struct outcome o;
	int32_t code;

	box_needs_namespaces();
	first = box_try(box_document("workspace", NULL, READS), &code, &where,
			&message);
	REQUIRE(first, "first: %s", message);
	second = box_raise(NULL, READS);
	share(second, "peer", "for the second");
	agentbox_sandbox_free(first);
	o = box_sh("cat .shared/peer/file");
	CHECK(strcmp(o.out, "for the second") == 0, "lost: %s%s", o.out,
	      o.err);
	unshare_peer(second);
}

/* What was not revoked stays for peering to sweep; the rest goes. */
static void case_119_the_end_leaves_no_empty_directory(void)
{
	const char *dir;

	box_needs_namespaces();
	box_raise(NULL, READS);
	dir = host_path("state/boxes/%s", agentbox_sandbox_get_id(box()));
	CHECK(host_exists(dir), "%s was not made", dir);
	box_end();
	CHECK(!host_exists(dir), "%s is left", dir);
}

static void case_119_without_the_key_there_is_none(void)
{
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path(".shared")), "made without being asked");
}

static const struct e2e_case cases[] = {
	CASE(case_099_nothing_can_be_written),
	CASE(case_100_103_no_remount_no_exec),
	CASE(case_119_it_is_no_name_of_the_agent),
	CASE(case_119_what_is_there_before),
	CASE(case_119_two_boxes_of_one_workspace),
	CASE(case_119_the_end_leaves_no_empty_directory),
	CASE(case_119_without_the_key_there_is_none),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
