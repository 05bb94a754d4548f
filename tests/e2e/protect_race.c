/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host and the agent do to protected paths at moments that a test
 * which only repeats itself does not meet: the holder is a mutant of
 * agentbox-init that does it itself, or waits (tests/e2e/mutant). Row 102 of
 * tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <string.h>

/* A read-only mount that is gone before anybody is told of such. */
static void case_102_removed_before_the_box_is_ready(void)
{
	box_use_mutant("agentbox-init", "removed-at-the-start");
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path(".git/config")), "it is not removed");
	box_sh("echo evil >.git/config; true");
	CHECK(!host_exists(ws_path(".git/config")), "what the agent made "
	      "stands there");
	CHECK(box_event("quarantined", ".git/config", 0), "not reported");
}

/* It is the host's: nobody else was there. */
static void case_102_replaced_before_the_box_is_ready(void)
{
	char *text;

	box_use_mutant("agentbox-init", "replaced-at-the-start");
	box_raise(NULL, NULL);
	box_sh("echo evil >>.git/config; true");
	text = host_read(ws_path(".git/config"));
	CHECK(text && !strcmp(text, "#mine\n"), "%s", text ? text : "gone");
	CHECK(!box_event("quarantined", NULL, 0), "the host's was taken");
}

static void end_replaced(const char *how, const char *path)
{
	agentbox_error *err = NULL;
	int32_t rc;

	box_use_mutant("agentbox-init", how);
	box_raise(NULL, NULL);
	/* who is left behind may have done it; where nobody is it is the
	   host's */
	box_sh("(sleep 60 >/dev/null 2>&1 &)");
	rc = agentbox_sandbox_end(box(), &err);
	CHECK(host_exists(ws_path(path)), "it is not replaced");
	CHECK(rc == AGENTBOX_EWALL, "%d", rc);
	CHECK(box_event("unprotected", ".git/config", 0), "not reported");
	agentbox_error_free(err);
}

/* The agent was faster than the end of it, and nobody looked since. */
static void case_102_replaced_before_the_end(void)
{
	end_replaced("replaced-at-the-end", ".git/config");
}

/* Nothing is there to mount again, and what leads there counts as held. */
static void case_102_linked_before_the_end(void)
{
	end_replaced("linked-at-the-end", ".git");
}

/* The command is over before the launcher is done with it. */
static void case_102_at_rest_behind_a_slow_launcher(void)
{
	box_use_mutant("agentbox-init", "launcher-that-lingers");
	box_raise(NULL, NULL);
	e2e_seconds(30);
	for (unsigned i = 0; i < 4; i++) {
		box_sh("true");
		e2e_sleep_ms(2000);
		host_repository(ws_path(e2e_text("n%u", i)));
		e2e_sleep_ms(100);
	}
	box_sh("true");
	CHECK(!box_event("quarantined", NULL, 0), "the host's was taken");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_102_removed_before_the_box_is_ready),
		CASE(case_102_replaced_before_the_box_is_ready),
		CASE(case_102_replaced_before_the_end),
		CASE(case_102_linked_before_the_end),
		CASE(case_102_at_rest_behind_a_slow_launcher),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
