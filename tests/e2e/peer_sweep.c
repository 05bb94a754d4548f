/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Peering after a host or a copier has died, at whatever step: what it left
 * is ended by the next handle, shows nothing, and is granted to nobody. Row
 * 110, and 71 of grants. What peering does while all live: peering.c.
 */
#include "peers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
 * A box may end where nobody has a handle, as a keeper's does: what was
 * granted to it, what a copy that hung had staged for it, and what is left of
 * such a reader whose other directories are gone, end when it is known to be
 * gone.
 */
static void case_110_what_a_box_that_ended_was_shown_goes(void)
{
	static const char *const others[] = {
		"00000000000000000000000000000001",
		"00000000000000000000000000000002",
	};
	agentbox_peering *next = NULL;
	agentbox_error *err = NULL;
	const char *dir;
	char text[16] = "";

	/* a younger directory may be a box's that is being made */
	e2e_seconds(60);
	peers_begin();
	peers_grant("code");
	dir = host_path("state/boxes/%s", agentbox_sandbox_get_id(box()));
	FILE *f = fopen(e2e_text("%s/shared/code/src/a.c", dir), "re");
	REQUIRE(f, "open");
	agentbox_peering_free(peering);
	box_end();
	CHECK(host_exists(e2e_text("%s/staging", dir)) &&
		      host_exists(e2e_text("%s/records/code", dir)),
	      "what leads to it is gone");
	host_write(host_path("state/boxes/%s/shared/stray/a.c", others[0]),
		   "stray\n");
	host_write(host_path("state/boxes/%s/staging/.agentbox-0123456789abcdef"
			     ".incomplete/a.c", others[1]), "staged\n");
	host_mkdir(host_path("state/boxes/%s/records", others[1]));
	e2e_sleep_ms(11500);
	CHECK(agentbox_peering_new(box_context(), NULL, &next, &err) == 0,
	      "%s", agentbox_error_get_message(err));
	CHECK(!fgets(text, sizeof(text), f), "read: %s", text);
	fclose(f);
	CHECK(!host_exists(dir), "%s is left", dir);
	for (size_t i = 0; i < 2; i++) {
		dir = host_path("state/boxes/%s", others[i]);
		CHECK(!host_exists(dir), "%s is left", dir);
	}
	agentbox_peering_free(next);
	agentbox_sandbox_free(source);
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

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* However many names such copies keep, the host waits once. */
static void case_110_a_sweep_waits_once_for_all_that_hangs(void)
{
	const char *dir;
	uint64_t took;
	int turn;

	peers_begin();
	peers_grant("code");
	dir = host_path("state/boxes/%s", agentbox_sandbox_get_id(box()));
	agentbox_peering_free(peering);
	unlink(host_path("state/store.db"));
	for (int i = 0; i < 4; i++)
		host_write(e2e_text("%s/shared/stray%d/a.c", dir, i), "x\n");
	turn = lock_records();
	took = now_ms();
	peers_open(NULL);
	took = now_ms() - took;
	CHECK(took >= 1900 && took < 4000, "%u ms", (unsigned)took);
	close(turn);
	peers_grant("most");
	for (int i = 0; i < 4; i++)
		CHECK(!host_exists(e2e_text("%s/shared/stray%d", dir, i)),
		      "stray %d is left", i);
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

static const struct e2e_case cases[] = {
	CASE(case_071_a_grant_that_was_never_made_is_listed_no_more),
	CASE(case_071_a_grant_that_failed_shows_nothing),
	CASE(case_071_a_grant_that_was_cut_short_is_taken_back),
	CASE(case_110_a_revoke_that_was_cut_short_is_finished),
	CASE(case_110_a_revoke_that_no_store_knows_is_finished),
	CASE(case_110_a_revoke_comes_after_who_publishes),
	CASE(case_110_a_generation_that_a_revoke_left_goes),
	CASE(case_110_what_no_store_knows_is_not_shared),
	CASE(case_110_what_no_store_knows_leaves_no_generation),
	CASE(case_110_what_a_box_that_ended_was_shown_goes),
	CASE(case_110_a_sweep_passes_over_what_hangs),
	CASE(case_110_a_sweep_passes_over_a_refresh_that_hangs),
	CASE(case_110_a_sweep_waits_once_for_all_that_hangs),
	CASE(case_110_a_reader_that_cannot_be_swept_stops_no_other),
	CASE(case_110_to_a_reader_that_cannot_be_swept_nothing_is_granted),
	CASE(case_071_what_cannot_be_taken_back_is_told),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
