/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write tool of an agent, guarded: write TEXT to PATH in DIRECTORY when
 * the policy lets it, and record what was decided either way.
 *
 *   cc guard.c $(pkg-config --cflags --libs libagentbox) -o guard
 *   ./guard "$PWD" src/new.c 'int x;'
 *
 * Five calls: context, built-in policy, a guard on the directory's fd, one
 * call per action, the record. agentbox_guard_open() judges and opens at
 * once, so no link or directory that is swapped in between leads the write
 * out of DIRECTORY. A tool that only asks uses agentbox_guard_check_path().
 *
 * The guard is no wall: run what the agent starts in a box (hello.c).
 */
#include <agentbox/agentbox.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where records go; a host has a file (audited.c), this one standard error. */
static int32_t show(void *data, const char *line, size_t n)
{
	(void)data;
	return fwrite(line, 1, n, stderr) == n ? 0 : -1;
}

static int open_log(agentbox_context *context, agentbox_audit **audit,
		    agentbox_error **err)
{
	return agentbox_audit_new(context, audit, err) == 0 &&
			       agentbox_audit_set_callback(*audit, show, NULL,
							   err) == 0 &&
			       agentbox_audit_open(*audit, err) == 0 ?
		       0 :
		       -1;
}

/* 0: written; 1: refused, and the agent is told why; -1: a failure. */
static int write_file(agentbox_guard *guard, agentbox_audit *audit,
		      const char *path, const char *text, agentbox_error **err)
{
	agentbox_decision *decision = NULL; /* made by the first call */
	agentbox_error *refusal = NULL;
	int32_t fd = -1;
	int32_t r = agentbox_guard_open(
		guard, AGENTBOX_OPEN_WRITE | AGENTBOX_OPEN_CREATE, 0644, -1,
		path, strlen(path), &fd, &decision, &refusal);
	int status = 1;

	if (r < 0)
		printf("%s\n%s\n", agentbox_error_get_message(refusal),
		       agentbox_decision_get_alternative(decision));
	/* what cannot be recorded is not done */
	if (agentbox_decision_record(decision, audit, err) < 0)
		status = -1;
	else if (r == 0 && ftruncate(fd, 0) == 0 &&
		 write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		status = 0;
	if (fd >= 0)
		close(fd);
	agentbox_decision_free(decision);
	agentbox_error_free(refusal);
	return status;
}

int main(int argc, char **argv)
{
	agentbox_error *err = NULL;
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_guard *guard = NULL;
	agentbox_audit *audit = NULL;
	int root, status = -1;

	root = argc == 4 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
			   -1;
	if (root < 0) {
		fprintf(stderr, "usage: guard DIRECTORY PATH TEXT\n");
		return 2;
	}
	if (agentbox_context_new(&context, &err) == 0 &&
	    agentbox_policy_builtin(context, "workspace", &policy, &err) == 0 &&
	    agentbox_guard_new(policy, root, &guard, &err) == 0 &&
	    open_log(context, &audit, &err) == 0)
		status = write_file(guard, audit, argv[2], argv[3], &err);
	if (err)
		fprintf(stderr, "guard: %s\n", agentbox_error_get_message(err));
	close(root);
	agentbox_audit_unref(audit);
	agentbox_guard_unref(guard);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	agentbox_error_free(err);
	return status < 0 ? 125 : status;
}
