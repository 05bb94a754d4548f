/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host of an agent: one box is raised once, then every line on standard
 * input is a command that runs in it, at the price of a plain spawn.
 *
 *   printf 'make\nmake test\n' | ./agent_loop "$PWD" STATE-DIRECTORY
 *
 * Output of the commands goes to this program's standard output as it comes.
 * After each command a line on standard error says how it ended, why, and
 * how long it took. Events of the box (a git hook was planted and is now in
 * quarantine, a limit was hit) are printed when they happen: this is the
 * loop a program with an event loop of its own would use.
 */
#include <agentbox/agentbox.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int complain(const char *what, agentbox_error *err)
{
	fprintf(stderr, "agent_loop: %s: %s (%s)\n", what,
		agentbox_error_get_message(err),
		agentbox_error_name(agentbox_error_get_code(err)));
	agentbox_error_free(err);
	return -1;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A policy is a built-in one and the directory it is about. */
static int raise_box(const char *directory, const char *state,
		     agentbox_context **context, agentbox_sandbox **box)
{
	agentbox_error *err = NULL;
	agentbox_policy *builtin = NULL, *policy = NULL;

	if (agentbox_context_new(context, &err) == 0 &&
	    agentbox_context_set_state_dir(*context, state, &err) == 0 &&
	    agentbox_policy_builtin(*context, "workspace", &builtin,
				    &err) == 0 &&
	    agentbox_policy_with_workspace(builtin, directory, NULL, &policy,
					   &err) == 0)
		agentbox_sandbox_new(*context, policy, NULL, box, &err);
	agentbox_policy_unref(policy);
	agentbox_policy_unref(builtin);
	return *box ? 0 : complain("no box", err);
}

/* What the box has to say; returns -1 when it has ended. */
static int read_events(agentbox_sandbox *box)
{
	agentbox_error *err = NULL;
	agentbox_event *event = NULL;
	int alive = 0;

	if (agentbox_sandbox_dispatch(box, &err) < 0)
		return complain("dispatch", err);
	while (agentbox_sandbox_next_event(box, &event, NULL) == 0) {
		fprintf(stderr, "[event: %s %s %s]\n",
			agentbox_event_get_kind(event),
			agentbox_event_get_object(event),
			agentbox_event_get_detail(event));
		if (strcmp(agentbox_event_get_kind(event), "ended") == 0)
			alive = -1;
		agentbox_event_free(event);
	}
	return alive;
}

/* Returns when the command has ended; the box is heard meanwhile. */
static int await(agentbox_sandbox *box, agentbox_process *process)
{
	agentbox_error *err = NULL;
	struct pollfd fds[2];

	fds[0].fd = agentbox_process_get_fd(process);
	fds[1].fd = agentbox_sandbox_get_fd(box);
	fds[0].events = fds[1].events = POLLIN;
	for (;;) {
		int32_t rc;

		if (poll(fds, 2, agentbox_sandbox_get_timeout_ms(box)) < 0 &&
		    errno != EINTR)
			return -1;
		if (read_events(box) < 0)
			return -1;
		/* 0 only looks; an end takes a moment to be settled */
		rc = agentbox_process_wait(process, fds[0].revents ? 10 : 0,
					   &err);
		if (rc == 0)
			return read_events(box);
		if (rc != AGENTBOX_ETIMEOUT)
			return complain("wait", err);
		agentbox_error_free(err);
		err = NULL;
	}
}

static int run(agentbox_sandbox *box, const char *line)
{
	const char *argv[] = { "/bin/sh", "-c", NULL };
	agentbox_error *err = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	double start = now_ms();
	int rc = -1;

	argv[2] = line;
	/* Standard input is /dev/null: what is not given does not exist. */
	if (agentbox_command_new(argv, 3, &command, &err) < 0 ||
	    agentbox_command_set_fd(command, 1, STDOUT_FILENO, &err) < 0 ||
	    agentbox_command_set_fd(command, 2, STDERR_FILENO, &err) < 0 ||
	    agentbox_sandbox_spawn(box, command, &process, &err) < 0) {
		complain(line, err);
	} else if (await(box, process) == 0) {
		rc = 0;
		fprintf(stderr, "[status %d, signal %d, %s, %.1f ms]\n",
			(int)agentbox_process_get_exit_status(process),
			(int)agentbox_process_get_signal(process),
			agentbox_process_get_reason(process),
			now_ms() - start);
	}
	agentbox_process_free(process);
	agentbox_command_free(command);
	return rc;
}

int main(int argc, char **argv)
{
	agentbox_context *context = NULL;
	agentbox_sandbox *box = NULL;
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: agent_loop /DIRECTORY /STATE\n");
		return 2;
	}
	if (raise_box(argv[1], argv[2], &context, &box) < 0) {
		agentbox_context_unref(context);
		return 125;
	}
	fprintf(stderr, "[box %s, tier %s]\n", agentbox_sandbox_get_id(box),
		agentbox_sandbox_get_tier(box));
	while (rc == 0 && getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			rc = run(box, line);
	}
	free(line);
	agentbox_sandbox_free(box);
	agentbox_context_unref(context);
	return rc ? 1 : 0;
}
