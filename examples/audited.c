/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A box that is recorded: run one command, then prove that the log is whole.
 *
 *   ./audited /DIRECTORY /NEW-STATE-DIRECTORY COMMAND...
 *
 * The log is STATE/audit.jsonl: one line of JSON per record, each carrying
 * the hash of the line before, with a signed head at the end. A command that
 * cannot be recorded is not run. What a verifier needs is public: the key
 * that was valid when the log began, and the last anchor (count and head).
 * Keep both where whoever could change the log cannot change them.
 */
#include <agentbox/agentbox.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct log {
	char path[4096];
	agentbox_audit *audit;
	agentbox_bytes *key, *anchor, *report;
};

static int open_log(agentbox_context *context, const char *state,
		    struct log *log, agentbox_error **err)
{
	snprintf(log->path, sizeof(log->path), "%s/audit.jsonl", state);
	if (agentbox_audit_new(context, &log->audit, err) < 0 ||
	    agentbox_audit_set_path(log->audit, log->path, err) < 0 ||
	    agentbox_audit_open(log->audit, err) < 0)
		return -1;
	/* from here on every record can be traced to this key */
	return agentbox_audit_get_key(log->audit, &log->key, err);
}

/* The box writes its records itself: what was raised, run, refused, ended. */
static int run(agentbox_context *context, const char *directory,
	       const char *const *argv, size_t argc, agentbox_audit *audit,
	       agentbox_error **err)
{
	agentbox_policy *builtin = NULL, *policy = NULL;
	agentbox_sandbox_options *options = NULL;
	agentbox_sandbox *box = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	int status = -1;

	if (agentbox_policy_builtin(context, "workspace", &builtin, err) == 0 &&
	    agentbox_policy_with_workspace(builtin, directory, NULL, &policy,
					   err) == 0 &&
	    agentbox_sandbox_options_new(&options, err) == 0 &&
	    agentbox_sandbox_options_set_audit(options, audit, err) == 0 &&
	    agentbox_sandbox_new(context, policy, options, &box, err) == 0 &&
	    agentbox_command_new(argv, argc, &command, err) == 0 &&
	    agentbox_command_set_fd(command, 1, 1, err) == 0 &&
	    agentbox_command_set_fd(command, 2, 2, err) == 0 &&
	    agentbox_sandbox_spawn(box, command, &process, err) == 0 &&
	    agentbox_process_wait(process, -1, err) == 0)
		status = agentbox_process_get_exit_status(process);
	agentbox_process_free(process);
	agentbox_command_free(command);
	agentbox_sandbox_free(box);
	agentbox_sandbox_options_free(options);
	agentbox_policy_unref(policy);
	agentbox_policy_unref(builtin);
	return status;
}

/* Sign the end, then check every line with public material only. */
static int close_and_verify(agentbox_context *context, struct log *log,
			    agentbox_error **err)
{
	const char *paths[1];

	paths[0] = log->path;
	if (agentbox_audit_close(log->audit, err) < 0 ||
	    agentbox_audit_get_anchor(log->audit, &log->anchor, err) < 0)
		return -1;
	return agentbox_audit_verify(context, paths, 1,
				     agentbox_bytes_get_data(log->key),
				     agentbox_bytes_get_data(log->anchor), NULL,
				     &log->report, err);
}

int main(int argc, char **argv)
{
	agentbox_error *err = NULL;
	agentbox_context *context = NULL;
	struct log log;
	int status = -1, verified = -1;

	memset(&log, 0, sizeof(log));
	if (argc < 4 || mkdir(argv[2], 0700) < 0) {
		fprintf(stderr, "usage: audited /DIRECTORY "
				"/NEW-STATE-DIRECTORY COMMAND...\n");
		return 2;
	}
	if (agentbox_context_new(&context, &err) == 0 &&
	    agentbox_context_set_state_dir(context, argv[2], &err) == 0 &&
	    open_log(context, argv[2], &log, &err) == 0) {
		status = run(context, argv[1], (const char *const *)argv + 3,
			     (size_t)argc - 3, log.audit, &err);
		if (!err)
			verified = close_and_verify(context, &log, &err);
	}
	if (err)
		fprintf(stderr, "audited: %s\n",
			agentbox_error_get_message(err));
	if (log.report)
		printf("%s: %s\n", log.path,
		       agentbox_bytes_get_data(log.report));
	agentbox_bytes_free(log.report);
	agentbox_bytes_free(log.anchor);
	agentbox_bytes_free(log.key);
	agentbox_audit_unref(log.audit);
	agentbox_context_unref(context);
	agentbox_error_free(err);
	return verified < 0 || status < 0 ? 125 : status;
}
