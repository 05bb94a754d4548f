/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shortest program: raise a box on a directory, run one command in it,
 * print what it printed, end with its status.
 *
 *   cc hello.c $(pkg-config --cflags --libs libagentbox) -o hello
 *   ./hello "$PWD" make test
 *
 * The command sees DIRECTORY as /workspace, the system's programs read-only,
 * a /tmp of its own, and nothing else: no home, no network, no other process.
 */
#include <agentbox/agentbox.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	agentbox_error *err = NULL;
	agentbox_context *context = NULL;
	agentbox_policy *builtin = NULL, *policy = NULL;
	agentbox_sandbox *box = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	agentbox_bytes *out = NULL;
	const char *home = getenv("HOME");
	char state[4096];
	int status = 125;

	if (argc < 3 || !home) {
		fprintf(stderr, "usage: hello /ABSOLUTE/DIRECTORY COMMAND...\n");
		return 2;
	}
	/* Where the library puts a git hook that the command tries to plant. */
	snprintf(state, sizeof(state), "%s/.local/state/agentbox-hello", home);

	/* Every call returns 0 or a code; on failure `err` says why. */
	if (agentbox_context_new(&context, &err) < 0 ||
	    agentbox_context_set_state_dir(context, state, &err) < 0 ||
	    agentbox_policy_builtin(context, "workspace", &builtin, &err) < 0 ||
	    agentbox_policy_with_workspace(builtin, argv[1], NULL, &policy,
					   &err) < 0 ||
	    agentbox_sandbox_new(context, policy, NULL, &box, &err) < 0 ||
	    agentbox_command_new((const char *const *)argv + 2,
				 (size_t)argc - 2, &command, &err) < 0 ||
	    agentbox_sandbox_capture(box, command, 1 << 20, &process, &out,
				     NULL, &err) < 0) {
		fprintf(stderr, "hello: %s\n", agentbox_error_get_message(err));
	} else {
		fwrite(agentbox_bytes_get_data(out), 1,
		       agentbox_bytes_get_size(out), stdout);
		status = agentbox_process_get_exit_status(process);
		if (status < 0) /* a signal ended it */
			status = 128 + agentbox_process_get_signal(process);
	}

	/* Every free accepts NULL. The box and all in it end here. */
	agentbox_bytes_free(out);
	agentbox_process_free(process);
	agentbox_command_free(command);
	agentbox_sandbox_free(box);
	agentbox_policy_unref(policy);
	agentbox_policy_unref(builtin);
	agentbox_context_unref(context);
	agentbox_error_free(err);
	return status;
}
