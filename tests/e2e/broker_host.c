/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's part of the credential broker: a provider of its own that revokes
 * while it is asked or names a program, and a forked child that has copies of
 * every handle. Rows 151 and 152 of tests/e2e/GATEWAY-CASES.md; the rest is
 * broker.py.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <agentbox/guard.h>

static int asked;
static bool revokes, forgets;

static agentbox_gateway *gateway(void)
{
	return agentbox_sandbox_get_gateway(box());
}

static int32_t provide(void *data, const char *name, int32_t *fd)
{
	const char *path = host_path("value");

	asked++;
	CHECK(data == &asked && strcmp(name, "gh") == 0, "%s", name);
	if (revokes)
		CHECK(agentbox_gateway_revoke(gateway(), NULL, NULL) == 0,
		      "revoke");
	if (forgets)
		CHECK(agentbox_gateway_forget_secret(gateway(), name, NULL,
						     NULL) == 0, "forget");
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? AGENTBOX_ENOTFOUND : 0;
}

static void raise_with_provider(void)
{
	box_needs("gateway");
	host_write(host_path("value"), "a value");
	box_raise(NULL, "\"network\":{\"mode\":\"gateway\"},"
			"\"secrets\":[{\"name\":\"gh\","
			"\"delivery\":[\"memfd\",\"file\"]}]");
	asked = 0;
	REQUIRE(agentbox_gateway_set_provider(gateway(), provide, &asked,
					      NULL) == 0, "provider");
}

/* What was asked is answered at once, and nothing that comes later. */
static void answer_once(agentbox_process *p, int fd)
{
	struct pollfd told = { .fd = agentbox_sandbox_get_fd(box()),
			       .events = POLLIN };
	char line[64];

	REQUIRE(read(fd, line, sizeof(line)) > 0, "it said nothing");
	while (!asked) {
		REQUIRE(poll(&told, 1, 60000) == 1, "nothing is asked");
		/* so that more of them have come; the case holds without */
		e2e_sleep_ms(200);
		REQUIRE(agentbox_sandbox_dispatch(box(), NULL) == 0,
			"dispatch");
	}
	while (read(fd, line, sizeof(line)) > 0)
		;
	agentbox_process_wait(p, 60000, NULL);
	agentbox_process_free(p);
	close(fd);
}

/* The first of several questions ends them all. */
static void ask_while_it_ends(void)
{
	agentbox_process *p;
	int fds[2];

	REQUIRE(pipe(fds) == 0, "%m");
	p = BOX_START(fds[1], "sh", "-c",
		      "i=0; while [ $i -lt 6 ]; do i=$((i + 1));"
		      "$AGENTBOX_SECRET get gh >/dev/null 2>&1 & done; echo ready; "
		      "wait");
	close(fds[1]);
	answer_once(p, fds[0]);
	CHECK(asked == 1, "asked %d times", asked);
}

static void case_152_a_host_is_asked_nothing_for_a_revoked_box(void)
{
	raise_with_provider();
	revokes = true;
	forgets = false;
	ask_while_it_ends();
	CHECK(!agentbox_gateway_is_alive(gateway()), "still alive");
}

static void nor_for_a_secret_that_is_forgotten(void)
{
	raise_with_provider();
	revokes = false;
	forgets = true;
	ask_while_it_ends();
	CHECK(agentbox_gateway_is_alive(gateway()), "no longer alive");
	forgets = false;
}

/* What it says, while the host answers as in its loop. */
static const char *run(const char *script)
{
	char text[256] = "";
	size_t at = 0;
	ssize_t n = 1;
	agentbox_process *p;
	int fds[2];

	REQUIRE(pipe(fds) == 0, "%m");
	p = BOX_START(fds[1], "sh", "-c", script);
	close(fds[1]);
	while (n > 0 && at < sizeof(text) - 1) {
		struct pollfd w[] = {
			{ .fd = agentbox_sandbox_get_fd(box()),
			  .events = POLLIN },
			{ .fd = fds[0], .events = POLLIN },
		};

		REQUIRE(poll(w, 2, 60000) > 0, "nothing comes");
		if (w[0].revents)
			agentbox_sandbox_dispatch(box(), NULL);
		if (w[1].revents)
			n = read(fds[0], text + at, sizeof(text) - 1 - at);
		at += w[1].revents && n > 0 ? (size_t)n : 0;
	}
	close(fds[0]);
	REQUIRE(agentbox_process_wait(p, 60000, NULL) == 0, "wait");
	agentbox_process_free(p);
	return e2e_text("%s", text);
}

/* Names programs; what it returns and opens then is not looked at. */
static int32_t name_program(void *data, const char *name, int32_t *fd)
{
	static const char *const good[] = { "/bin/echo", "of a program",
					    NULL };
	static const char *const relative[] = { "echo", "x", NULL };
	static const char *const none[] = { NULL };
	const char *many[66] = { "/bin/echo" };

	(void)name;
	asked++;
	for (size_t i = 1; i < 65; i++)
		many[i] = "x";
	CHECK(agentbox_gateway_use_program(data, NULL, NULL) ==
		      AGENTBOX_EINVAL, "NULL");
	CHECK(agentbox_gateway_use_program(data, none, NULL) ==
		      AGENTBOX_EINVAL, "none");
	CHECK(agentbox_gateway_use_program(data, relative, NULL) ==
		      AGENTBOX_EINVAL, "relative");
	CHECK(agentbox_gateway_use_program(data, many, NULL) ==
		      AGENTBOX_EINVAL, "65");
	CHECK(agentbox_gateway_use_program(data, good, NULL) == 0, "good");
	CHECK(agentbox_gateway_use_program(data, good, NULL) ==
		      AGENTBOX_EINVAL, "twice");
	*fd = open(host_path("value"), O_RDONLY | O_CLOEXEC);
	return asked % 2 ? 0 : AGENTBOX_ENOTFOUND;
}

static void a_provider_may_name_a_program(void)
{
	static const char *const argv[] = { "/bin/echo", "x", NULL };
	const char *out;

	raise_with_provider();
	REQUIRE(agentbox_gateway_set_provider(gateway(), name_program,
					      gateway(), NULL) == 0, "set");
	CHECK(agentbox_gateway_use_program(gateway(), argv, NULL) ==
		      AGENTBOX_EINVAL, "outside of a provider");
	CHECK(agentbox_gateway_use_program(NULL, argv, NULL) ==
		      AGENTBOX_EINVAL, "NULL");
	out = run("for i in 1 2 3; do $AGENTBOX_SECRET get gh; done");
	CHECK(strcmp(out, "of a programof a programof a program") == 0, "%s",
	      out);
	CHECK(asked == 3, "asked %d times", asked);
	/* what it answers otherwise is what it always was */
	REQUIRE(agentbox_gateway_set_provider(gateway(), provide, &asked,
					      NULL) == 0, "set");
	revokes = false;
	out = run("$AGENTBOX_SECRET get gh");
	CHECK(strcmp(out, "a value") == 0, "%s", out);
	REQUIRE(agentbox_gateway_revoke(gateway(), NULL, NULL) == 0,
		"revoke");
	CHECK(agentbox_gateway_use_program(gateway(), argv, NULL) < 0,
	      "revoked");
}

/* Too late: who asked has been refused. */
static int32_t forget_and_name_program(void *data, const char *name,
				       int32_t *fd)
{
	static const char *const argv[] = { "/bin/echo", "v", NULL };

	*fd = -1;
	asked++;
	CHECK(agentbox_gateway_forget_secret(data, name, NULL, NULL) == 0,
	      "forget");
	CHECK(agentbox_gateway_use_program(data, argv, NULL) ==
		      AGENTBOX_ECLOSED, "use");
	return AGENTBOX_ENOTFOUND;
}

static void no_program_is_run_for_a_secret_that_is_forgotten(void)
{
	const char *out;

	raise_with_provider();
	REQUIRE(agentbox_gateway_set_provider(gateway(),
					      forget_and_name_program,
					      gateway(), NULL) == 0, "set");
	out = run("$AGENTBOX_SECRET get gh 2>/dev/null || echo none");
	CHECK(strcmp(out, "none\n") == 0, "%s", out);
	CHECK(asked == 1, "asked %d times", asked);
}

/* A copy of the host that does nothing; it ends with the pipe. */
static int copy_end = -1;
static pid_t copy;

static int32_t name_program_and_fork(void *data, const char *name, int32_t *fd)
{
	static const char *const argv[] = { "/bin/echo", "v", NULL };
	int fds[2];
	char c;

	(void)name;
	*fd = -1;
	asked++;
	CHECK(agentbox_gateway_use_program(data, argv, NULL) == 0, "use");
	if (copy_end >= 0)
		return 0;
	REQUIRE(pipe(fds) == 0, "%m");
	copy = fork();
	REQUIRE(copy >= 0, "fork");
	if (copy == 0) {
		close(fds[1]);
		_exit(read(fds[0], &c, 1) != 0);
	}
	close(fds[0]);
	copy_end = fds[1];
	return 0;
}

/* It holds every descriptor that a program is heard of by. */
static void a_copy_of_the_host_does_not_keep_what_a_program_said(void)
{
	struct pollfd told;
	const char *out;
	int status = -1;

	raise_with_provider();
	REQUIRE(agentbox_gateway_set_provider(gateway(), name_program_and_fork,
					      gateway(), NULL) == 0, "set");
	out = run("for i in 1 2 3; do $AGENTBOX_SECRET get gh; done");
	CHECK(strcmp(out, "vvv") == 0, "%s", out);
	told = (struct pollfd){ .fd = agentbox_sandbox_get_fd(box()),
				.events = POLLIN };
	for (int i = 0; i < 300 && poll(&told, 1, 0) > 0; i++) {
		agentbox_event *event;

		agentbox_sandbox_dispatch(box(), NULL);
		while (agentbox_sandbox_next_event(box(), &event, NULL) == 0)
			agentbox_event_free(event);
		e2e_sleep_ms(100);
	}
	CHECK(poll(&told, 1, 0) == 0, "there is always something to hear");
	close(copy_end);
	copy_end = -1;
	REQUIRE(waitpid(copy, &status, 0) == copy && status == 0, "the copy");
}

static void use_as_a_child(void)
{
	static const char *const argv[] = { "/bin/echo", NULL };
	agentbox_gateway *gw = gateway();
	uint64_t count = 7;

	CHECK(!agentbox_gateway_is_alive(gw), "alive");
	CHECK(agentbox_gateway_revoke(gw, &count, NULL) == AGENTBOX_EFORKED,
	      "revoke");
	CHECK(agentbox_gateway_forget_secret(gw, "gh", &count, NULL) ==
		      AGENTBOX_EFORKED, "forget");
	CHECK(agentbox_gateway_set_provider(gw, NULL, NULL, NULL) ==
		      AGENTBOX_EFORKED, "provider");
	CHECK(agentbox_gateway_set_secret(gw, "gh", -1, NULL) ==
		      AGENTBOX_EFORKED, "secret");
	CHECK(agentbox_gateway_set_ask(gw, NULL, NULL, 0, NULL) ==
		      AGENTBOX_EFORKED, "ask");
	CHECK(agentbox_gateway_answer(gw, 1, AGENTBOX_VERDICT_ALLOW, NULL) ==
		      AGENTBOX_EFORKED, "answer");
	CHECK(agentbox_gateway_open_preview(gw, 3000, 0, NULL, NULL) ==
		      AGENTBOX_EFORKED, "preview");
	CHECK(agentbox_gateway_use_program(gw, argv, NULL) ==
		      AGENTBOX_EFORKED, "program");
	CHECK(count == 7, "*count was touched");
	/* it frees its copy, and nothing of the box */
	agentbox_sandbox_free(box());
}

static void case_151_a_forked_child_cannot_use_or_end_what_is_leased(void)
{
	static const char look[] = "cat /run/agentbox/secrets/gh";
	const char *out;
	int status = -1;
	pid_t pid;

	raise_with_provider();
	out = run("$AGENTBOX_SECRET get --file gh");
	REQUIRE(strcmp(out, "/run/agentbox/secrets/gh\n") == 0 && asked == 1,
		"%s", out);
	pid = fork();
	REQUIRE(pid >= 0, "fork");
	if (pid == 0) {
		use_as_a_child();
		_exit(e2e_failures() ? 1 : 0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid && status == 0,
		"the child: status %d", status);
	out = run(look);
	CHECK(strcmp(out, "a value") == 0, "%s", out);
	CHECK(agentbox_gateway_is_alive(gateway()), "the gateway");
	REQUIRE(agentbox_gateway_forget_secret(gateway(), "gh", NULL, NULL) ==
			0, "forget");
	out = run(look);
	CHECK(strcmp(out, "") == 0, "%s", out);
}

static const struct e2e_case cases[] = {
	CASE(case_151_a_forked_child_cannot_use_or_end_what_is_leased),
	CASE(a_provider_may_name_a_program),
	CASE(no_program_is_run_for_a_secret_that_is_forgotten),
	CASE(a_copy_of_the_host_does_not_keep_what_a_program_said),
	CASE(case_152_a_host_is_asked_nothing_for_a_revoked_box),
	CASE(nor_for_a_secret_that_is_forgotten),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
