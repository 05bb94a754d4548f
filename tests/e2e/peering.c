/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One box reads another's work: what a grant shows, what a refresh changes,
 * what a revoke takes from who still holds it, and who is refused. Rows of
 * the snapshot cases, sections H and I (tests/e2e/SNAPSHOT-CASES.md).
 */
#include "peers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void case_099_the_reader_sees_source_and_no_secret(void)
{
	struct outcome o;

	peers_begin();
	peers_grant("code");
	o = box_sh("cat .shared/code/src/a.c .shared/code/docs/plan.txt; "
		   "ls -A .shared/code; cat .shared/code/.env");
	CHECK(strncmp(o.out, "one\nplan\n", 9) == 0, "read: %s", o.out);
	CHECK(!strstr(o.out, ".env") && !strstr(o.out, "TOKEN"), "leaked: %s",
	      o.out);
	CHECK(strstr(o.out, "docs\nsrc\n"), "listed: %s", o.out);
	o = box_sh("echo x >>.shared/code/src/a.c || rm -rf .shared/code || "
		   "chmod u+w .shared/code/src/a.c || touch .shared/code/n");
	CHECK(o.status != 0, "written");
	peers_finish();
}

/*
 * Landlock's erratum 3: who stands where no mount leads any more is refused.
 * Asked by version and flag as in Documentation/userspace-api/landlock.rst.
 */
static bool refuses_who_stays(void)
{
	long level = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	long errata = syscall(SYS_landlock_create_ruleset, NULL, 0, 2);

	return level > 0 && (errata < 0 || !(errata & 4));
}

static void case_070_a_refresh_is_seen_and_who_stayed_reads_on(void)
{
	const char *stays = refuses_who_stays() ?
				    "cat: a.c: Permission denied\n" : "one\n";
	const char *id;
	struct outcome o;

	peers_begin();
	id = peers_grant("code");
	held = BOX_START(-1, "sh", "-c",
		  "cd .shared/code/src; exec 3<a.c; : >/tmp/in; "
		  "while [ ! -e /tmp/go ]; do sleep 0.01; done; "
		  "{ cat a.c; cat <&3; } >/tmp/out 2>&1; : >/tmp/done");
	o = box_sh("while [ ! -e /tmp/in ]; do sleep 0.01; done");
	host_write(host_path("peer/src/a.c"), "two\n");
	host_write(host_path("peer/src/b.c"), "new\n");
	unlink(host_path("peer/docs/plan.txt"));
	peers_refresh(id);
	o = box_sh("cat .shared/code/src/*.c; ls .shared/code/docs; "
		   ": >/tmp/go; while [ ! -e /tmp/done ]; do sleep 0.01; "
		   "done; cat /tmp/out");
	CHECK(strcmp(o.out, e2e_text("two\nnew\n%sone\n", stays)) == 0,
	      "seen: %s%s", o.out, o.err);
	peers_finish();
}

/* Rows 108-110: an open file, a directory, a mapping. */
static void case_110_scrub_takes_what_is_held(void)
{
	const char *id;
	struct outcome o;

	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	peers_begin();
	host_write(host_path("peer/src/big"), e2e_text("%09999d\n", 7));
	id = peers_grant("code");
	held = BOX_START(-1, "python3", "-c",
		  "import mmap,os,signal,sys,time\n"
		  "f=open('.shared/code/src/big','rb',0)\n"
		  "d=os.open('.shared/code/src',os.O_RDONLY)\n"
		  "m=mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ)\n"
		  "os.chdir('.shared/code/docs')\n"
		  "open('/tmp/in','w')\n"
		  "while not os.path.exists('/tmp/go'): time.sleep(0.01)\n"
		  "out=open('/tmp/out','w')\n"
		  "f.seek(0); out.write('fd %d\\n' % len(f.read()))\n"
		  "for where in (lambda: os.open('big',os.O_RDONLY,dir_fd=d),\n"
		  "              lambda: os.open('plan.txt',os.O_RDONLY)):\n"
		  "  try:\n"
		  "    where(); out.write('opened\\n')\n"
		  "  except OSError as e: out.write('gone\\n')\n"
		  "out.flush()\n"
		  "pid=os.fork()\n"
		  "if pid==0:\n"
		  "  m[0]; os._exit(0)\n"
		  "out.write('map %d\\n' % os.waitpid(pid,0)[1]); out.flush()\n"
		  "open('/tmp/done','w')\n");
	o = box_sh("while [ ! -e /tmp/in ]; do sleep 0.01; done");
	peers_end_grant(id, NULL);
	o = box_sh("ls .shared; : >/tmp/go; while [ ! -e /tmp/done ]; do "
		   "sleep 0.01; done; cat /tmp/out");
	CHECK(strcmp(o.out, "fd 0\ngone\ngone\nmap 7\n") == 0,
	      "held: %s%s", o.out, o.err);
	peers_finish();
}

static void case_109_detach_leaves_what_is_open(void)
{
	const char *id;
	struct outcome o;

	peers_begin();
	id = peers_grant("code");
	held = BOX_START(-1, "sh", "-c",
		  "exec 3<.shared/code/src/a.c; : >/tmp/in; "
		  "while [ ! -e /tmp/go ]; do sleep 0.01; done; "
		  "cat <&3 >/tmp/out; : >/tmp/done");
	o = box_sh("while [ ! -e /tmp/in ]; do sleep 0.01; done");
	peers_end_grant(id, "detach");
	o = box_sh("ls .shared; : >/tmp/go; while [ ! -e /tmp/done ]; do "
		   "sleep 0.01; done; cat /tmp/out");
	CHECK(strcmp(o.out, "one\n") == 0, "held: %s%s", o.out, o.err);
	peers_finish();
}

static void case_110_kill_ends_the_readers_processes(void)
{
	const char *id;

	peers_begin();
	id = peers_grant("code");
	held = BOX_START(-1, "sh", "-c", "cd .shared/code; sleep 60");
	peers_end_grant(id, "kill");
	CHECK(agentbox_process_wait(held, SOON_MS, NULL) == 0, "it lives");
	peers_finish();
}

static void case_116_who_is_refused(void)
{
	static const char *const names[] = { "..", "a/b", ".env", "A", "",
					     "-x", "a\nb", "a b" };
	char *message, longest[80];

	peers_begin();
	CHECK(peers_refused("reader", "reader", NULL, &message) ==
		      AGENTBOX_EINVAL, "self: %s", message);
	CHECK(peers_refused("writer", "reader", NULL, &message) ==
		      AGENTBOX_EUNSUPPORTED, "no place: %s", message);
	CHECK(peers_refused("reader", "nobody", NULL, &message) ==
		      AGENTBOX_ENOTFOUND, "nobody: %s", message);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK(peers_refused("reader", "writer", names[i], &message) ==
			      AGENTBOX_EINVAL, "%s: %s", names[i], message);
	memset(longest, 'a', 64);
	longest[64] = '\0';
	CHECK(peers_refused("reader", "writer", longest, &message) ==
		      AGENTBOX_EINVAL, "64 bytes: %s", message);
	peers_grant("code");
	CHECK(peers_refused("reader", "writer", "code", &message) ==
		      AGENTBOX_EEXIST, "twice: %s", message);
	peers_finish();
}

static void case_116_accounts_are_not_crossed(void)
{
	char *message;

	peers_begin_with(NULL, "\"account\":\"acme\"", PEERS_READ);
	CHECK(peers_refused("reader", "writer", NULL, &message) ==
		      AGENTBOX_EDENIED, "one without: %s", message);
	peers_finish();
}

static void case_116_the_same_account_may(void)
{
	peers_begin_with(NULL, "\"account\":\"acme\"",
		   PEERS_READ ", \"account\":\"acme\"");
	peers_grant(NULL);
	peers_finish();
}

/* Row 116: what is shared with the source is not shared on. */
static void case_116_nothing_is_shared_on(void)
{
	struct outcome o;

	peers_begin();
	host_write(host_path("peer/.shared/third/x.c"), "of a third\n");
	peers_grant("code");
	o = box_sh("ls -A .shared/code");
	CHECK(!strstr(o.out, ".shared"), "shared on: %s", o.out);
	peers_finish();
}

/* Row 31: the workspace is another directory now. */
static void case_031_a_replaced_workspace_is_not_shared(void)
{
	char *message;

	peers_begin();
	CHECK(rename(host_path("peer"), host_path("peer-was")) == 0, "%m");
	host_write(host_path("peer/src/other.c"), "other\n");
	CHECK(peers_refused("reader", "writer", NULL, &message) ==
		      AGENTBOX_EDENIED, "another: %s", message);
	HOST_RUN(NULL, "rm", "-r", host_path("peer"));
	host_symlink(host_path("outside"), host_path("peer"));
	CHECK(peers_refused("reader", "writer", NULL, &message) < 0,
	      "a link: %s", message);
	unlink(host_path("peer"));
	CHECK(rename(host_path("peer-was"), host_path("peer")) == 0, "%m");
	peers_grant("code");
	peers_finish();
}

static void case_117_the_end_of_the_source_ends_the_grant(void)
{
	agentbox_error *err = NULL;
	struct outcome o;

	peers_begin();
	peers_grant("code");
	CHECK(agentbox_peering_remove(peering, NULL, NULL) == AGENTBOX_EINVAL,
	      "no box");
	CHECK(agentbox_peering_remove(peering, source, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	o = box_sh("ls -A .shared");
	CHECK(strcmp(o.out, "") == 0, "left: %s", o.out);
	CHECK(agentbox_peering_add(peering, source, NULL, NULL) == 0, "add");
	peers_finish();
}

/* Row 115, and the durable record: another handle knows, and ends it. */
static void case_115_another_process_of_the_user_can_revoke(void)
{
	agentbox_peering *mine = peering;
	agentbox_bytes *json = NULL;
	const char *id;
	struct outcome o;

	peers_begin();
	id = peers_grant("code");
	mine = peering;
	REQUIRE(agentbox_peering_new(box_context(), NULL, &peering, NULL) == 0,
		"a second handle");
	REQUIRE(agentbox_peering_list(peering, 0, &json, NULL) == 0, "list");
	CHECK(strstr(agentbox_bytes_get_data(json), id), "listed: %s",
	      agentbox_bytes_get_data(json));
	agentbox_bytes_free(json);
	peers_end_grant(id, "scrub");
	agentbox_peering_free(peering);
	peering = mine;
	o = box_sh("ls -A .shared");
	CHECK(strcmp(o.out, "") == 0, "left: %s", o.out);
	agentbox_peer_job *job = NULL;
	CHECK(agentbox_peering_revoke(peering, id, NULL, &job, NULL) ==
		      AGENTBOX_ENOTFOUND, "revoked twice");
	peers_finish();
}

/*
 * What a revoke has still to end is found by the name: who is granted the name
 * meanwhile, by another process too, would lose his record to it.
 */
static void a_name_is_not_granted_again_before_its_revoke_has_ended(void)
{
	agentbox_peer_job *revoke = NULL, *grant = NULL;
	agentbox_error *err = NULL;
	int32_t rc;

	peers_begin();
	REQUIRE(agentbox_peering_revoke(peering, peers_grant("code"), NULL,
					&revoke, &err) == 0,
		"%s", agentbox_error_get_message(err));
	rc = agentbox_peering_grant(peering, "reader", "writer", "code", NULL,
				    &grant, &err);
	CHECK(rc == AGENTBOX_EBUSY, "granted meanwhile: %d", (int)rc);
	agentbox_error_free(err);
	agentbox_peer_job_free(grant);
	agentbox_peer_job_free(revoke); /* waits for it */
	peers_grant("code");
	peers_finish();
}

/* Where a copy that publishes has its lock; the box cannot see it. */
static int lock_records(void)
{
	int fd = open(host_path("state/boxes/%s/records",
				agentbox_sandbox_get_id(box())),
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	REQUIRE(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, "lock: %m");
	return fd;
}

/*
 * A host that died may have told a copy to publish: the copy has this lock
 * until it has, and a name that is gone when the revoke returns stays gone.
 */
static void case_110_a_revoke_comes_after_who_publishes(void)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	const char *id, *shown;
	int status = -1, turn;
	char *message;
	int32_t rc;
	pid_t pid;

	peers_begin();
	id = peers_grant("code");
	shown = host_path("state/boxes/%s/shared/code",
			  agentbox_sandbox_get_id(box()));
	turn = lock_records();
	rc = agentbox_peering_revoke(peering, id, NULL, &job, &err);
	CHECK(rc == AGENTBOX_EBUSY, "revoked meanwhile: %d", (int)rc);
	CHECK(host_exists(shown), "and gone");
	agentbox_error_free(err);
	err = NULL;
	pid = fork();
	if (pid == 0) {
		usleep(500000);
		_exit(host_exists(shown) ? 0 : 1);
	}
	close(turn); /* the child's has it still, and may be slow to end */
	while ((rc = agentbox_peering_revoke(peering, id, NULL, &job, &err)) ==
	       AGENTBOX_EBUSY) {
		agentbox_error_free(err);
		err = NULL;
	}
	CHECK(rc == 0, "revoke: %s", agentbox_error_get_message(err));
	CHECK(!host_exists(shown), "it is left");
	CHECK(waitpid(pid, &status, 0) == pid && status == 0,
	      "it did not wait: %d", status);
	CHECK(peers_ended(job, &message) == 0, "revoked: %s", message);
	peers_grant("code");
	peers_finish();
}

/* A host that died in a revoke: the next one ends it, for who holds it too. */
static void case_110_a_revoke_that_was_cut_short_is_finished(void)
{
	const char *left = NULL;
	agentbox_peering *next = NULL;
	agentbox_error *err = NULL;
	char text[8] = "";

	peers_begin();
	left = host_path("state/boxes/%s/staging/revoked-"
			 "0123456789abcdef0123456789abcdef",
			 agentbox_sandbox_get_id(box()));
	host_write(e2e_text("%s/src/a.c", left), "one\n");
	FILE *f = fopen(e2e_text("%s/src/a.c", left), "r");
	REQUIRE(f, "open");
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	CHECK(!host_exists(left), "it is left");
	CHECK(!fgets(text, sizeof(text), f), "read: %s", text);
	fclose(f);
	agentbox_peering_free(next);
	peers_finish();
}

/* Or before the store knew of it: it is no grant that shows nothing. */
static void case_110_a_revoke_that_no_store_knows_is_finished(void)
{
	agentbox_peering *next = NULL;
	agentbox_bytes *list = NULL;
	agentbox_error *err = NULL;
	const char *id, *box_id, *left;

	peers_begin();
	id = peers_grant("code");
	box_id = agentbox_sandbox_get_id(box());
	left = host_path("state/boxes/%s/staging/revoked-%s", box_id, id);
	REQUIRE(chmod(host_path("state/boxes/%s/shared/code", box_id),
		      0755) == 0 &&
			rename(host_path("state/boxes/%s/shared/code", box_id),
			       left) == 0,
		"rename: %m");
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0 &&
		      agentbox_peering_list(next, 0, &list, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	CHECK(list && strcmp(agentbox_bytes_get_data(list), "[]") == 0,
	      "listed: %s", list ? agentbox_bytes_get_data(list) : "");
	CHECK(!host_exists(left), "it is left");
	agentbox_bytes_free(list);
	agentbox_peering_free(next);
	peers_grant("code");
	peers_finish();
}

/* The store says that of all grants, as a host that was killed left it. */
static void put_state(const char *state)
{
	int status;

	HOST_RUN(&status, "python3", "-c",
		 "import sqlite3,sys\n"
		 "d=sqlite3.connect(sys.argv[1])\n"
		 "d.execute('UPDATE grants SET state=?',sys.argv[2:])\n"
		 "d.commit()", host_path("state/store.db"), state);
	REQUIRE(status == 0, "sqlite3: %d", status);
}

/* Or when the tree was gone, and the generation before it was not. */
static void case_110_a_generation_that_a_revoke_left_goes(void)
{
	agentbox_peering *next = NULL;
	agentbox_error *err = NULL;
	const char *id, *shown, *staging;
	char text[16] = "";
	int status;

	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	peers_begin();
	id = peers_grant("code");
	shown = host_path("state/boxes/%s/shared/code",
			  agentbox_sandbox_get_id(box()));
	staging = host_path("state/boxes/%s/staging",
			    agentbox_sandbox_get_id(box()));
	FILE *f = fopen(e2e_text("%s/src/a.c", shown), "re");
	REQUIRE(f, "open");
	host_write(host_path("peer/src/a.c"), "another\n");
	peers_refresh(id);
	HOST_RUN(&status, "sh", "-c",
		 "ls -A \"$1\" | grep -q old && chmod -R u+w \"$0\" && "
		 "rm -r \"$0\"", shown, staging);
	REQUIRE(status == 0, "nothing was kept");
	put_state("revoked");
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	HOST_RUN(&status, "sh", "-c", "test -z \"$(ls -A \"$0\")\"", staging);
	CHECK(status == 0, "something is left");
	CHECK(!fgets(text, sizeof(text), f), "read: %s", text);
	fclose(f);
	agentbox_peering_free(next);
	peers_grant("code");
	peers_finish();
}

/* Whoever opens the store next takes from the reader what is not granted. */
static void next_host_takes_it(const char *why)
{
	agentbox_peering *next = NULL;
	agentbox_error *err = NULL;
	char *file = e2e_text("%s/code/src/a.c",
			      host_path("state/boxes/%s/shared",
					agentbox_sandbox_get_id(box())));
	FILE *f = fopen(file, "re");
	struct outcome o;

	REQUIRE(f, "%s", file);
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	o = box_sh("ls -A .shared");
	CHECK(strcmp(o.out, "") == 0, "%s: still there: %s", why, o.out);
	CHECK(fgetc(f) == EOF, "%s: read", why);
	fclose(f);
	agentbox_peering_free(next);
}

static void case_110_what_no_store_knows_is_not_shared(void)
{
	peers_begin();
	peers_grant("code");
	agentbox_peering_free(peering);
	unlink(host_path("state/store.db"));
	unlink(host_path("state/store.db-wal"));
	unlink(host_path("state/store.db-shm"));
	next_host_takes_it("a store that was lost");
	peers_open(NULL);
	peers_grant("code");
	peers_finish();
}

/* Nor what it showed before: who held a file of that could not be reached. */
static void case_110_what_no_store_knows_leaves_no_generation(void)
{
	agentbox_peering *next = NULL;
	agentbox_error *err = NULL;
	const char *id, *dirs;
	char text[16] = "";
	int status;

	peers_begin();
	id = peers_grant("code");
	dirs = host_path("state/boxes/%s", agentbox_sandbox_get_id(box()));
	FILE *f = fopen(e2e_text("%s/shared/code/src/a.c", dirs), "re");
	REQUIRE(f, "open");
	host_write(host_path("peer/src/a.c"), "another\n");
	peers_refresh(id);
	agentbox_peering_free(peering);
	unlink(host_path("state/store.db"));
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	HOST_RUN(&status, "sh", "-c",
		 "cd \"$0\" && test -z \"$(ls -A shared staging records | "
		 "grep -v :)\"", dirs);
	CHECK(status == 0, "something is left");
	CHECK(!fgets(text, sizeof(text), f), "read: %s", text);
	fclose(f);
	agentbox_peering_free(next);
	peers_open(NULL);
	peers_grant("code");
	peers_finish();
}

/* A reader's directories, as a box that ended has left them. */
static const char *make_other_reader(void)
{
	const char *dir = host_path("state/boxes/"
				    "0123456789abcdef0123456789abcdef");

	host_write(e2e_text("%s/shared/stray/a.c", dir), "stray\n");
	host_mkdir(e2e_text("%s/staging", dir));
	host_mkdir(e2e_text("%s/records", dir));
	return dir;
}

/*
 * A copy that hangs at its last step keeps one name: the others are ended, the
 * handle is made, and who grants next ends that one, too.
 */
static void case_110_a_sweep_passes_over_what_hangs(void)
{
	const char *shown, *other;
	int turn;

	peers_begin();
	peers_grant("code");
	shown = host_path("state/boxes/%s/shared/code",
			  agentbox_sandbox_get_id(box()));
	agentbox_peering_free(peering);
	unlink(host_path("state/store.db"));
	other = make_other_reader();
	turn = lock_records();
	peers_open(NULL);
	CHECK(!host_exists(e2e_text("%s/shared/stray", other)),
	      "another reader's is left");
	CHECK(host_exists(shown), "taken from under a copy");
	close(turn);
	peers_grant("most");
	CHECK(!host_exists(shown), "nobody tried again");
	peers_finish();
}

/* What nobody granted, whose lock's file is none. */
static const char *make_stray_that_stays(const char *dir)
{
	host_write(e2e_text("%s/shared/stray/a.c", dir), "stray\n");
	host_mkdir(e2e_text("%s/records/.stray.lock", dir));
	return dir;
}

/*
 * A reader that cannot be looked through stops nobody else: the others are
 * ended, the handle is made and grants to others, and who grants next tries
 * again.
 */
static void case_110_a_reader_that_cannot_be_swept_stops_no_other(void)
{
	const char *other;

	peers_begin();
	agentbox_peering_free(peering);
	other = make_stray_that_stays(make_other_reader());
	peers_open(NULL);
	peers_grant("code");
	CHECK(host_exists(e2e_text("%s/shared/stray", other)), "no stray");
	rmdir(e2e_text("%s/records/.stray.lock", other));
	peers_grant("more");
	CHECK(!host_exists(e2e_text("%s/shared/stray", other)),
	      "nobody tried again");
	peers_finish();
}

/* And nothing is granted to it: it may read what nobody granted. */
static void case_110_to_a_reader_that_cannot_be_swept_nothing_is_granted(void)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	const char *dir, *id;

	peers_begin();
	id = peers_grant("code");
	dir = host_path("state/boxes/%s", agentbox_sandbox_get_id(box()));
	agentbox_peering_free(peering);
	make_stray_that_stays(dir);
	peers_open(NULL);
	CHECK(agentbox_peering_grant(peering, agentbox_sandbox_get_id(box()),
				     agentbox_sandbox_get_id(source), "more",
				     NULL, &job, &err) == AGENTBOX_ESYS,
	      "granted: %s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	err = NULL;
	CHECK(agentbox_peering_refresh(peering, id, NULL, &job, &err) ==
		      AGENTBOX_ESYS,
	      "refreshed: %s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	rmdir(e2e_text("%s/records/.stray.lock", dir));
	peers_grant("more");
	CHECK(!host_exists(e2e_text("%s/shared/stray", dir)), "it is left");
	peers_finish();
}

/* The same of what is revoked, and a refresh has its record. */
static void case_110_a_sweep_passes_over_a_refresh_that_hangs(void)
{
	const char *staging;
	int record, status;

	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	peers_begin();
	host_write(host_path("peer/src/a.c"), "first\n");
	const char *id = peers_grant("code");
	host_write(host_path("peer/src/a.c"), "another\n");
	peers_refresh(id);
	staging = host_path("state/boxes/%s/staging",
			    agentbox_sandbox_get_id(box()));
	record = open(host_path("state/boxes/%s/records/code",
				agentbox_sandbox_get_id(box())),
		      O_RDONLY | O_CLOEXEC);
	REQUIRE(record >= 0 && flock(record, LOCK_EX | LOCK_NB) == 0,
		"lock: %m");
	HOST_RUN(&status, "sh", "-c", "chmod -R u+w \"$0\" && rm -r \"$0\"",
		 host_path("state/boxes/%s/shared/code",
			   agentbox_sandbox_get_id(box())));
	REQUIRE(status == 0, "rm");
	put_state("revoked");
	agentbox_peering_free(peering);
	peers_open(NULL);
	close(record);
	peers_end_grant(peers_grant("code"), NULL);
	HOST_RUN(&status, "sh", "-c", "test -z \"$(ls -A \"$0\")\"", staging);
	CHECK(status == 0, "something is left");
	peers_finish();
}

/*
 * A grant that fails when nobody knows whether it is shown, and cannot be taken
 * back: it says so, is no grant, and is taken away as soon as that is possible.
 */
static void case_071_what_cannot_be_taken_back_is_told(void)
{
	agentbox_peer_job *job = NULL;
	agentbox_bytes *list = NULL;
	const char *shown;
	char *message;
	int turn;

	e2e_seconds(60);
	peers_begin();
	shown = host_path("state/boxes/%s/shared/code",
			  agentbox_sandbox_get_id(box()));
	REQUIRE(agentbox_peering_grant(peering, "reader", "writer", "code",
				       NULL, &job, NULL) == 0, "grant");
	turn = lock_records();
	CHECK(peers_ended(job, &message) == AGENTBOX_ETIMEOUT &&
		      strstr(message, "not taken back yet"), "%s", message);
	REQUIRE(agentbox_peering_list(peering, 0, &list, NULL) == 0, "list");
	CHECK(strcmp(agentbox_bytes_get_data(list), "[]") == 0, "listed: %s",
	      agentbox_bytes_get_data(list));
	agentbox_bytes_free(list);
	/* as a copy leaves it that was further */
	host_write(e2e_text("%s/a.c", shown), "one\n");
	close(turn);
	peers_grant("more");
	CHECK(!host_exists(shown), "nobody tried again");
	peers_grant("code");
	peers_finish();
}

/* A host that was killed when its copy was published, and not yet recorded. */
static void case_071_a_grant_that_was_cut_short_is_taken_back(void)
{
	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	peers_begin();
	peers_grant("code");
	put_state("making");
	next_host_takes_it("a grant that is not live");
	peers_grant("code");
	peers_finish();
}

/* A host that was killed before anything was published. */
static void case_071_a_grant_that_was_never_made_is_listed_no_more(void)
{
	agentbox_peering *next = NULL;
	agentbox_bytes *list = NULL;
	agentbox_error *err = NULL;

	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	peers_begin();
	peers_end_grant(peers_grant("code"), "scrub");
	put_state("making");
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0 &&
		      agentbox_peering_list(next, 0, &list, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	CHECK(list && strcmp(agentbox_bytes_get_data(list), "[]") == 0,
	      "listed: %s", list ? agentbox_bytes_get_data(list) : "");
	agentbox_bytes_free(list);
	agentbox_peering_free(next);
	peers_grant("code");
	peers_finish();
}

/* A copier that dies when it has published leaves this: a name, no grant. */
static void case_071_a_grant_that_failed_shows_nothing(void)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	char *message, *shown;
	struct outcome o;

	peers_begin();
	shown = e2e_text("%s/code/half.c",
			 host_path("state/boxes/%s/shared",
				   agentbox_sandbox_get_id(box())));
	host_write(shown, "half\n");
	REQUIRE(agentbox_peering_grant(peering, "reader", "writer", "code",
				       NULL, &job, &err) == 0,
		"grant: %s", agentbox_error_get_message(err));
	CHECK(peers_ended(job, &message) < 0, "granted over what is there");
	o = box_sh("ls -A .shared");
	CHECK(strcmp(o.out, "") == 0, "shown without a grant: %s", o.out);
	peers_grant("code");
	peers_finish();
}

/* Rows 48 and 72: it is no grant that is gone, and options bring it back. */
static void case_072_a_grant_without_its_record_is_no_end(void)
{
	agentbox_snapshot_options *options = NULL;
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	char *message;
	const char *id;

	peers_begin();
	id = peers_grant("code");
	REQUIRE(unlink(host_path("state/boxes/%s/records/code",
				 agentbox_sandbox_get_id(box()))) == 0,
		"no record");
	CHECK(agentbox_peering_refresh(peering, id, NULL, &job, &err) ==
			      AGENTBOX_ETAMPERED &&
		      strstr(agentbox_error_get_message(err), "options"),
	      "%s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	REQUIRE(agentbox_snapshot_options_new(&options, NULL) == 0 &&
			agentbox_peering_refresh(peering, id, options, &job,
						 NULL) == 0 &&
			peers_ended(job, &message) == 0,
		"with options");
	agentbox_snapshot_options_free(options);
	peers_refresh(id);
	peers_finish();
}

static void case_073_a_revoke_wins_over_a_refresh(void)
{
	agentbox_error *err = NULL;
	char *message;

	peers_begin();
	for (int i = 0; i < 6; i++) {
		agentbox_peer_job *job = NULL;
		const char *id = peers_grant("code");

		host_write(host_path("peer/src/a.c"), e2e_text("%d\n", i));
		REQUIRE(agentbox_peering_refresh(peering, id, NULL, &job,
						 &err) == 0,
			"refresh: %s", agentbox_error_get_message(err));
		/* whatever the copy has come to */
		e2e_sleep_ms(2 * i);
		peers_end_grant(id, NULL);
		CHECK(peers_ended(job, &message) == AGENTBOX_ECANCELED,
		      "%d: %s", i, message);
		struct outcome o = box_sh("ls -A .shared");

		CHECK(strcmp(o.out, "") == 0, "left: %s", o.out);
	}
	peers_finish();
}

static void case_072_two_jobs_at_one_grant(void)
{
	agentbox_peer_job *job = NULL, *other = NULL;
	agentbox_error *err = NULL;
	const char *id;
	char *message;

	peers_begin();
	id = peers_grant("code");
	host_write(host_path("peer/src/a.c"), "two\n");
	REQUIRE(agentbox_peering_refresh(peering, id, NULL, &job, &err) == 0,
		"refresh: %s", agentbox_error_get_message(err));
	CHECK(agentbox_peering_refresh(peering, id, NULL, &other, NULL) ==
		      AGENTBOX_EBUSY, "two at once");
	CHECK(peers_ended(job, &message) == 0, "the first: %s", message);
	peers_finish();
}

/* Rows 122 and I: both sides, with counts and digests; none, no grant. */
static void case_122_it_is_recorded_on_both_sides(void)
{
	agentbox_audit *audit = NULL;
	agentbox_error *err = NULL;
	const char *log = host_path("log/audit.jsonl");
	char *text;

	host_mkdir(host_path("log"));
	REQUIRE(agentbox_audit_new(box_context(), &audit, &err) == 0 &&
		agentbox_audit_set_path(audit, log, &err) == 0 &&
		agentbox_audit_open(audit, &err) == 0,
		"audit: %s", agentbox_error_get_message(err));
	peers_begin_with(audit, NULL, PEERS_READ);
	peers_end_grant(peers_grant("code"), NULL);
	peers_finish();
	CHECK(agentbox_audit_close(audit, NULL) == 0, "close");
	agentbox_audit_unref(audit);
	text = host_read(log);
	REQUIRE(text, "no log");
	static const char *const types[] = { "peer.grant", "peer.granted",
					     "peer.revoke", "peer.revoked" };
	for (size_t i = 0; i < 4; i++) {
		char *word = e2e_text("\"type\":\"%s\"", types[i]);
		char *first = strstr(text, word);
		char *second = first ? strstr(first + 1, word) : NULL;
		CHECK(second && !strstr(second + 1, word),
		      "%s is not there twice: %s", types[i], text);
	}
	CHECK(strstr(text, "\"side\":\"reader\"") &&
	      strstr(text, "\"side\":\"source\"") &&
	      strstr(text, "\"digest\":\"sha256:") &&
	      strstr(text, "\"left_out\":1"), "fields: %s", text);
}

static const struct e2e_case cases[] = {
	CASE(case_031_a_replaced_workspace_is_not_shared),
	CASE(case_070_a_refresh_is_seen_and_who_stayed_reads_on),
	CASE(case_071_a_grant_that_was_never_made_is_listed_no_more),
	CASE(case_071_a_grant_that_failed_shows_nothing),
	CASE(case_071_a_grant_that_was_cut_short_is_taken_back),
	CASE(case_072_two_jobs_at_one_grant),
	CASE(case_072_a_grant_without_its_record_is_no_end),
	CASE(case_073_a_revoke_wins_over_a_refresh),
	CASE(case_099_the_reader_sees_source_and_no_secret),
	CASE(case_109_detach_leaves_what_is_open),
	CASE(case_110_a_revoke_that_was_cut_short_is_finished),
	CASE(case_110_a_revoke_that_no_store_knows_is_finished),
	CASE(case_110_a_revoke_comes_after_who_publishes),
	CASE(case_110_a_generation_that_a_revoke_left_goes),
	CASE(case_110_what_no_store_knows_is_not_shared),
	CASE(case_110_what_no_store_knows_leaves_no_generation),
	CASE(case_110_a_sweep_passes_over_what_hangs),
	CASE(case_110_a_sweep_passes_over_a_refresh_that_hangs),
	CASE(case_110_a_reader_that_cannot_be_swept_stops_no_other),
	CASE(case_110_to_a_reader_that_cannot_be_swept_nothing_is_granted),
	CASE(case_071_what_cannot_be_taken_back_is_told),
	CASE(case_110_kill_ends_the_readers_processes),
	CASE(case_110_scrub_takes_what_is_held),
	CASE(case_115_another_process_of_the_user_can_revoke),
	CASE(a_name_is_not_granted_again_before_its_revoke_has_ended),
	CASE(case_116_accounts_are_not_crossed),
	CASE(case_116_nothing_is_shared_on),
	CASE(case_116_the_same_account_may),
	CASE(case_116_who_is_refused),
	CASE(case_117_the_end_of_the_source_ends_the_grant),
	CASE(case_122_it_is_recorded_on_both_sides),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
