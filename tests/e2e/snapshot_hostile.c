/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of agentbox-copy is somebody else's: what the writer makes is
 * still inside the staging directory and what its manifest says, or nothing
 * is published and the generation there is as it was. Spec: job.h, ring.h,
 * snapshot_hostile_reader.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agentbox/base.h"

#include "abtest.h"
#include "box.h"
#include "copy.h"

static void begin(void)
{
	int status;

	host_mkdir(host_path("hostile"));
	HOST_RUN(&status, "cp",
		 e2e_text("%s/tests/e2e/hostile_copy", ab_test_builddir()),
		 host_path("hostile/agentbox-copy"));
	REQUIRE(status == 0, "cannot copy it");
	setenv("AB_TEST_HELPER_DIR", host_path("hostile"), 1);
}

static copy_end make(const char *script, uint32_t flags)
{
	copy_task task;

	host_write(ws_path("script"), script);
	copy_init(&task, AB_COPY_MAKE);
	/* what it says of sums is its own */
	task.plan.flags = flags | AB_COPY_NO_HASHES;
	return copy_do(&task);
}

static void is_as_its_manifest_says(const char *script)
{
	copy_task task;

	copy_init(&task, AB_COPY_VERIFY);
	copy_end end = copy_do(&task);

	CHECK(end.code == 0 && end.done.left_out == 0, "%s: %d %s: %s", script,
	      end.code, end.message, end.report);
	CHECK(copy_leftovers(host_path("out")) == 0, "%s: leftovers", script);
}

typedef struct row {
	const char *script;
	int32_t code;
	const char *message;
} row;

static void what_no_reader_sends_is_refused(void)
{
	static const row rows[] = {
		{ "f ../x hi", AGENTBOX_EPROTO, "sent no name" },
		{ "f a/b hi", AGENTBOX_EPROTO, "sent no name" },
		{ "f /etc/x hi", AGENTBOX_EPROTO, "sent no name" },
		{ "f . hi", AGENTBOX_EPROTO, "sent no name" },
		{ "f .. hi", AGENTBOX_EPROTO, "sent no name" },
		{ "f EMPTY hi", AGENTBOX_EPROTO, "sent no name" },
		{ "d ..", AGENTBOX_EPROTO, "sent no name" },
		{ "l ../snap", AGENTBOX_EPROTO, "sent no name" },
		{ "b .. x", AGENTBOX_EPROTO, "sent no name" },
		{ "f .agentbox x", AGENTBOX_EPROTO, "the manifest's name" },
		{ "d .agentbox", AGENTBOX_EPROTO, "the manifest's name" },
		{ "l .agentbox", AGENTBOX_EPROTO, "the manifest's name" },
		{ "u", AGENTBOX_EPROTO, "did not enter" },
		{ "d a\nu\nu", AGENTBOX_EPROTO, "did not enter" },
		{ "d a", AGENTBOX_EPROTO, "ended in the middle" },
		{ "F a x", AGENTBOX_EPROTO, "another size" },
		{ "a x", AGENTBOX_EPROTO, "data of no file" },
		{ "e 1", AGENTBOX_EPROTO, "ended no file" },
		{ "b a x", AGENTBOX_EPROTO, "ended in the middle" },
		{ "b a x\ne 5", AGENTBOX_EPROTO, "another size" },
		{ "b a x\na y\na z\ne 2", AGENTBOX_EPROTO, "another size" },
		{ "b a x\nb b x", AGENTBOX_EPROTO, "left a file open" },
		{ "b a x\nf b x", AGENTBOX_EPROTO, "left a file open" },
		{ "b a x\nl b", AGENTBOX_EPROTO, "left a file open" },
		{ "b a x\nd b", AGENTBOX_EPROTO, "left a file open" },
		{ "d a\nb a x\nu", AGENTBOX_EPROTO, "left a file open" },
		{ "l a", AGENTBOX_ETAMPERED, "lacks the file" },
		{ "A a", AGENTBOX_EPROTO, "what is no rule's" },
		{ "z", AGENTBOX_EPROTO, "something else" },
		{ "r", AGENTBOX_EPROTO, "the ring is broken" },
	};

	begin();
	char *before = host_tree(host_path("outside"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const row *r = &rows[i];
		copy_end end = make(r->script, 0);

		CHECK(end.code == r->code && strstr(end.message, r->message),
		      "%s: %d %s", r->script, end.code, end.message);
		CHECK(!snap_has(""), "%s: published", r->script);
		CHECK(copy_leftovers(host_path("out")) == 0, "%s: leftovers",
		      r->script);
	}
	host_same_tree("hostile", before, host_tree(host_path("outside")));
}

static void it_does_not_go_too_deep(void)
{
	static char script[600 * 4 + 1];

	begin();
	for (int i = 0; i < 600; i++)
		memcpy(script + i * 4, "d a\n", 4);
	copy_end end = make(script, 0);

	CHECK(end.code < 0, "it went down");
	CHECK(!snap_has("") && copy_leftovers(host_path("out")) == 0, "left");
}

/* Generations before, for what is linked and moved. */
static void make_two(void)
{
	const char *script = "d s\nf f0 zero\nf f1 ones\nf f2 twos\nu\n"
			     "d t\nf g0 zero\nf g1 ones\nu\nf top here";
	copy_end end = make(script, AB_COPY_KEEP_OLD);

	REQUIRE(end.code == 0, "%d %s", end.code, end.message);
	end = make("d s\nl f0\nl f1\nl f2\nu\nd t\nl g0\nf g1 more\nu\nl top",
		   AB_COPY_KEEP_OLD | AB_COPY_REPLACE);
	REQUIRE(end.code == 0 && end.done.linked == 5, "%d %s %llu", end.code,
		end.message, (unsigned long long)end.done.linked);
	is_as_its_manifest_says(script);
}

static void what_is_made_of_them_is_what_was_said(void)
{
	static const row rows[] = {
		{ "d s\nl f0\nl f1\nl f2\nu", 0, "" },
		{ "d s\nl f0\nu", 0, "" },
		{ "d s\nl f0\nl f0\nl f1\nl f2\nu", 0, "" },
		{ "d s\nl f0\nl f1\nl f2\nl f2\nu", 0, "" },
		{ "d s\nl f0\nl f1\nl f2\nd x\nu\nu", 0, "" },
		{ "d s\nl f0\nl f1\nl f2\nf x new\nu", 0, "" },
		{ "d s\nl f0\nf f1 new\nl f2\nu", 0, "" },
		{ "d s\nl f0\nl f1\nf f2 new\nu", 0, "" },
		{ "d s\nl f0\nf f0 new\nl f1\nl f2\nu", 0, "" },
		{ "d s\nl f0\nl f1\nl f2\nb y new\ne 3\nu", 0, "" },
		{ "d s\nl f0\nl f1\nl f2\nb y new\nx\nu", 0, "" },
		{ "d s\nu\nd t\nl g0\nl g1\nu\nl top", 0, "" },
		{ "d t\nl g0\nl g0\nl g1\nl g1\nu\nl top\nl top", 0, "" },
		{ "d top\nf a x\nu", 0, "" },
		{ "f s x\nf t y", 0, "" },
		{ "d s\nl f0\nl f3\nu", AGENTBOX_ETAMPERED, "lacks" },
		{ "d s\nl f0\nl f1\nl f2\nd x\nl f0\nu\nu",
		  AGENTBOX_ETAMPERED, "lacks" },
		{ "l s", AGENTBOX_ESYS, "cannot link" },
		{ "d s\nl f0\nl f1\nl f2\nu\nd s\nu", AGENTBOX_ESYS, "make" },
		{ "d s\nl f0\nl f1\nl f2", AGENTBOX_EPROTO, "in the middle" },
		{ "d s\nl f0\nz", AGENTBOX_EPROTO, "something else" },
	};

	begin();
	e2e_seconds(120);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const row *r = &rows[i];
		copy_end end;

		make_two();
		end = make(r->script, AB_COPY_KEEP_OLD | AB_COPY_REPLACE);
		CHECK(end.code == r->code && strstr(end.message, r->message),
		      "%s: %d %s (%d)", r->script, end.code, end.message,
		      end.sys_errno);
		if (r->code != AGENTBOX_ETAMPERED)
			is_as_its_manifest_says(r->script);
		if (r->code)
			CHECK(strcmp(host_read(snap_path("t/g1")), "more") ==
			      0 && snap_has("s/f2"), "%s: what was there",
			      r->script);
		copy_task task;

		copy_init(&task, AB_COPY_SCRUB);
		(void)copy_do(&task);
	}
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(what_no_reader_sends_is_refused),
		CASE(it_does_not_go_too_deep),
		CASE(what_is_made_of_them_is_what_was_said),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
