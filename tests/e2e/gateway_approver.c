/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host that approves calls of tools, or does not, for gateway_approve.py:
 *   gateway_approver POLICY STATE RESOLVER SECRET MODE TIMEOUT_MS COMMAND...
 * MODE: "allow", "deny", "later" (yes, but after the callback), "never"
 * (asked, and silent), "deaf" (the box is not looked at while the command
 * runs), "none" (no callback), "gone" (one that was taken away), "revoke" (the
 * box loses its network instead of an answer). The command's output is ours;
 * questions and events are lines on standard error.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentbox/gateway.h"
#include "agentbox/guard.h"
#include "agentbox/sandbox.h"

static struct {
	const char *mode;
	agentbox_context *context;
	agentbox_policy *policy;
	agentbox_sandbox *box;
	agentbox_error *err;
	uint32_t later; /* an id; 0: none */
} host;

static int is(const char *mode)
{
	return strcmp(host.mode, mode) == 0;
}

static int32_t approve(void *data, uint32_t id, const char *tool,
		       const char *arguments)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(host.box);

	fprintf(stderr, "asked %s %s%s\n", tool, arguments,
		data == &host ? "" : " with other data");
	if (is("revoke"))
		agentbox_gateway_revoke(gateway, NULL, NULL);
	host.later = is("later") ? id : 0;
	return is("allow") ? AGENTBOX_VERDICT_ALLOW :
	       is("deny")  ? AGENTBOX_VERDICT_DENY : AGENTBOX_VERDICT_ASK;
}

static void look(void)
{
	agentbox_event *event = NULL;

	if (agentbox_sandbox_dispatch(host.box, NULL) < 0)
		fprintf(stderr, "dispatch failed\n");
	while (agentbox_sandbox_next_event(host.box, &event, NULL) == 0) {
		fprintf(stderr, "event %s %s %s\n",
			agentbox_event_get_kind(event),
			agentbox_event_get_object(event),
			agentbox_event_get_detail(event));
		agentbox_event_free(event);
	}
	if (host.later && agentbox_gateway_answer(
			agentbox_sandbox_get_gateway(host.box), host.later,
			AGENTBOX_VERDICT_ALLOW, NULL) < 0)
		fprintf(stderr, "answer failed\n");
	host.later = 0;
}

static char *read_file(const char *path)
{
	char *text = calloc(1, 1 << 20);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 && text ? read(fd, text, (1 << 20) - 1) : -1;

	if (fd >= 0)
		close(fd);
	return n < 0 ? NULL : text;
}

static int32_t raise_box(char **argv, const char *document)
{
	const char *helpers = getenv("AB_TEST_HELPER_DIR");
	agentbox_sandbox_options *options = NULL;
	agentbox_error **err = &host.err;
	int32_t rc = agentbox_context_new(&host.context, err);

	if (rc == 0 && helpers)
		rc = agentbox_context_set_helper_dir(host.context, helpers,
						     err);
	if (rc == 0)
		rc = agentbox_context_set_state_dir(host.context, argv[2],
						    err);
	if (rc == 0)
		rc = agentbox_policy_parse(host.context, document,
					   strlen(document), &host.policy,
					   err);
	if (rc == 0)
		rc = agentbox_sandbox_options_new(&options, err);
	if (rc == 0)
		rc = agentbox_sandbox_options_set_resolver(options, argv[3],
							   err);
	if (rc == 0)
		rc = agentbox_sandbox_new(host.context, host.policy, options,
					  &host.box, err);
	agentbox_sandbox_options_free(options);
	return rc;
}

static int32_t prepare(char **argv)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(host.box);
	int fd = open(argv[4], O_RDONLY | O_CLOEXEC);
	int32_t rc = agentbox_gateway_set_secret(gateway, "key", fd,
						 &host.err);

	if (fd >= 0)
		close(fd);
	if (rc == 0 && !is("none"))
		rc = agentbox_gateway_set_approve(gateway, approve, &host,
						  (uint32_t)atoi(argv[6]),
						  &host.err);
	if (rc == 0 && is("gone"))
		rc = agentbox_gateway_set_approve(gateway, NULL, NULL, 0,
						  &host.err);
	return rc;
}

static int32_t run(char **argv, int argc, int *status)
{
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	int32_t rc = agentbox_command_new((const char *const *)argv,
					  (size_t)argc, &command, &host.err);

	if (rc == 0)
		rc = agentbox_command_set_fd(command, 1, 1, &host.err);
	if (rc == 0)
		rc = agentbox_command_set_fd(command, 2, 2, &host.err);
	if (rc == 0)
		rc = agentbox_sandbox_spawn(host.box, command, &process,
					    &host.err);
	while (rc == 0) {
		struct pollfd fds[2] = {
			{ agentbox_process_get_fd(process), POLLIN, 0 },
			{ is("deaf") ? -1 : agentbox_sandbox_get_fd(host.box),
			  POLLIN, 0 },
		};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			look();
		if (fds[0].revents)
			break;
	}
	if (rc == 0)
		rc = agentbox_process_wait(process, -1, &host.err);
	if (rc == 0)
		*status = agentbox_process_get_exit_status(process);
	look();
	agentbox_process_free(process);
	agentbox_command_free(command);
	return rc;
}

int main(int argc, char **argv)
{
	char *document = argc > 7 ? read_file(argv[1]) : NULL;
	int status = 125;

	if (!document)
		return 2;
	host.mode = argv[5];
	if (raise_box(argv, document) < 0 || prepare(argv) < 0 ||
	    run(argv + 7, argc - 7, &status) < 0)
		fprintf(stderr, "failed: %s\n",
			agentbox_error_get_message(host.err));
	agentbox_sandbox_free(host.box);
	agentbox_policy_unref(host.policy);
	agentbox_context_unref(host.context);
	agentbox_error_free(host.err);
	free(document);
	return status;
}
