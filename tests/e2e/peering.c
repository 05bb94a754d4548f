/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One box reads another's work: what a grant shows, what a refresh changes,
 * what a revoke takes from who still holds it, and who is refused. Rows of
 * the snapshot cases, sections H and I (tests/e2e/SNAPSHOT-CASES.md).
 */
#include "peers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

static void case_118_a_name_is_no_path(void)
{
	static const char *const names[] = { "..", "a/b", ".env", "A", "",
					     "-x", "a\nb", "a b" };
	char *message, longest[301];

	peers_begin();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK(peers_refused("reader", "writer", names[i], &message) ==
			      AGENTBOX_EINVAL, "%s: %s", names[i], message);
	for (size_t n = 64; n <= 300; n += 236) {
		memset(longest, 'a', n);
		longest[n] = '\0';
		CHECK(peers_refused("reader", "writer", longest, &message) ==
			      AGENTBOX_EINVAL, "%zu bytes: %s", n, message);
	}
	peers_finish();
}

/* What the source itself does not see, whatever options the copy has. */
static void case_099_what_the_source_does_not_see_is_not_shared(void)
{
	static const char *const includes[] = {
		"conf/pr*", "/under/", "/under/below.txt", "force:**/*",
	};
	agentbox_snapshot_options *options = NULL;
	agentbox_error *err = NULL;
	struct outcome o;
	const char *id;

	host_write(host_path("peer/conf/pr od .txt"), "hidden\n");
	host_write(host_path("peer/conf/shown.txt"), "shown\n");
	host_write(host_path("peer/under/below.txt"), "hidden\n");
	host_write(host_path("peer/same/ro.txt"), "shown\n");
	peers_begin_with(NULL, e2e_text(
		"\"mounts\": [{\"to\":\"/workspace/conf/pr od .txt\","
		"\"access\":\"hide\"},"
		"{\"from\":\"%s\",\"to\":\"/workspace/under\","
		"\"access\":\"read\"},"
		"{\"from\":\"%s\",\"to\":\"/workspace/same\","
		"\"access\":\"read\"}]", host_path("outside"),
		host_path("peer/same")), PEERS_READ);
	id = peers_grant("code");
	o = box_sh("cd .shared/code; cat conf/* under/* same/*");
	CHECK(!strcmp(o.out, "shown\nshown\n"), "%s", o.out);
	REQUIRE(agentbox_snapshot_options_new(&options, &err) == 0, "options");
	for (size_t i = 0; i < sizeof(includes) / sizeof(includes[0]); i++)
		REQUIRE(agentbox_snapshot_options_add_include(
				options, includes[i], &err) == 0, "include");
	peers_refresh_with(id, options);
	agentbox_snapshot_options_free(options);
	o = box_sh("cd .shared/code; cat conf/* under/* same/*");
	CHECK(!strcmp(o.out, "shown\nshown\n"), "%s", o.out);
	peers_finish();
}

/* Who asks for something else does not mean to show more. */
static void case_099_options_lift_no_exclude_of_the_policy(void)
{
	agentbox_snapshot_options *options = NULL;
	agentbox_error *err = NULL;
	struct outcome o;
	const char *id;

	host_write(host_path("peer/private.txt"), "private\n");
	peers_begin_with(NULL, "\"snapshot\": {\"exclude\": [\"private.txt\"],"
			 " \"include\": [\"docs/plan.txt\"]}", PEERS_READ);
	id = peers_grant("code");
	REQUIRE(agentbox_snapshot_options_new(&options, &err) == 0 &&
		agentbox_snapshot_options_add_exclude(options, "docs/",
						      &err) == 0 &&
		agentbox_snapshot_options_set_deadline(options, 60000,
						       &err) == 0, "options");
	peers_refresh_with(id, options);
	o = box_sh("cd .shared/code; ls -A; cat src/a.c");
	CHECK(strstr(o.out, "one\n") && !strstr(o.out, "private") &&
		      !strstr(o.out, "docs"), "%s", o.out);
	/* unless it is asked for by its name */
	REQUIRE(agentbox_snapshot_options_add_include(
			options, "private.txt", &err) == 0, "include");
	peers_refresh_with(id, options);
	agentbox_snapshot_options_free(options);
	o = box_sh("cat .shared/code/private.txt");
	CHECK(!strcmp(o.out, "private\n"), "%s", o.out);
	peers_finish();
}

/* One of two is not meant by what both are. */
static void case_116_a_grant_is_found_by_what_it_alone_is(void)
{
	agentbox_bytes *found = NULL;
	agentbox_error *err = NULL;
	const char *reader, *from, *id;

	peers_begin();
	reader = agentbox_sandbox_get_id(box());
	from = agentbox_sandbox_get_id(source);
	id = peers_grant("one");
	CHECK(agentbox_peering_find(peering, reader, from, &found, &err) == 0 &&
		      !strcmp(agentbox_bytes_get_data(found), id),
	      "not the only one");
	agentbox_bytes_free(found);
	found = NULL;
	id = peers_grant("two");
	CHECK(agentbox_peering_find(peering, reader, from, &found, &err) ==
		      AGENTBOX_EINVAL, "one of two was found");
	CHECK(strstr(agentbox_error_get_message(err), "'one' and 'two'"), "%s",
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	err = NULL;
	CHECK(agentbox_peering_find(peering, reader, "two", &found, &err) ==
			      0 && !strcmp(agentbox_bytes_get_data(found), id),
	      "not by its name");
	agentbox_bytes_free(found);
	peers_finish();
}

/* What a child of the host, forked while a job is at the grant, keeps open. */
static void case_072_a_forked_child_holds_up_no_grant(void)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	char *message;
	const char *id;
	pid_t child;

	peers_begin();
	REQUIRE(agentbox_peering_grant(peering,
				       agentbox_sandbox_get_id(box()),
				       agentbox_sandbox_get_id(source), "code",
				       NULL, &job, &err) == 0,
		"%s", agentbox_error_get_message(err));
	id = e2e_text("%s", agentbox_peer_job_get_grant(job));
	child = fork();
	if (child == 0) {
		alarm(60); /* if the case fails */
		pause();
		_exit(0);
	}
	REQUIRE(child > 0, "fork");
	CHECK(peers_ended(job, &message) == 0, "%s", message);
	peers_refresh(id);
	peers_end_grant(id, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	peers_finish();
}

/* To a box that has ended, and of one, whoever has its handle still. */
static void case_117_what_has_ended_is_granted_nothing(void)
{
	char *message = NULL;

	peers_begin();
	REQUIRE(agentbox_sandbox_end(source, NULL) == 0, "end");
	CHECK(peers_refused(agentbox_sandbox_get_id(box()),
			    agentbox_sandbox_get_id(source), "code",
			    &message) == AGENTBOX_ECLOSED, "%s", message);
	peers_finish();
}

/* What a host makes for the next one has the mode that it needs. */
static void case_116_a_grant_made_under_any_umask_is_refreshed(void)
{
	const char *id;
	mode_t mask;

	peers_begin();
	mask = umask(0777);
	id = peers_grant("code");
	umask(mask);
	agentbox_peering_free(peering);
	peers_open(NULL);
	peers_refresh(id);
	CHECK(!strcmp(box_sh("cat .shared/code/src/a.c").out, "one\n"), "lost");
	peers_finish();
}

static void case_116_who_is_refused(void)
{
	char *message;

	peers_begin();
	CHECK(peers_refused("reader", "reader", NULL, &message) ==
		      AGENTBOX_EINVAL, "self: %s", message);
	CHECK(peers_refused("writer", "reader", NULL, &message) ==
		      AGENTBOX_EUNSUPPORTED, "no place: %s", message);
	CHECK(peers_refused("reader", "nobody", NULL, &message) ==
		      AGENTBOX_ENOTFOUND, "nobody: %s", message);
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
	CASE(case_072_two_jobs_at_one_grant),
	CASE(case_072_a_grant_without_its_record_is_no_end),
	CASE(case_072_a_forked_child_holds_up_no_grant),
	CASE(case_073_a_revoke_wins_over_a_refresh),
	CASE(case_099_the_reader_sees_source_and_no_secret),
	CASE(case_109_detach_leaves_what_is_open),
	CASE(case_110_kill_ends_the_readers_processes),
	CASE(case_110_scrub_takes_what_is_held),
	CASE(case_115_another_process_of_the_user_can_revoke),
	CASE(a_name_is_not_granted_again_before_its_revoke_has_ended),
	CASE(case_116_accounts_are_not_crossed),
	CASE(case_116_nothing_is_shared_on),
	CASE(case_116_the_same_account_may),
	CASE(case_099_what_the_source_does_not_see_is_not_shared),
	CASE(case_099_options_lift_no_exclude_of_the_policy),
	CASE(case_116_a_grant_is_found_by_what_it_alone_is),
	CASE(case_117_what_has_ended_is_granted_nothing),
	CASE(case_116_a_grant_made_under_any_umask_is_refreshed),
	CASE(case_116_who_is_refused),
	CASE(case_117_the_end_of_the_source_ends_the_grant),
	CASE(case_118_a_name_is_no_path),
	CASE(case_122_it_is_recorded_on_both_sides),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
