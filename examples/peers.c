/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One agent reviews another's work. Two boxes live side by side; the reviewer
 * reads the author's tree at .shared/author, without its secrets, histories
 * and credentials, and can change nothing there. It works in its own
 * directory, so it can copy what it reads and run the tests of it. With
 * --base the author's tree is a branch: the reviewer gets its last commit and
 * where it parted from BASE, in a repository with these two commits alone.
 *
 *   cc peers.c $(pkg-config --cflags --libs libagentbox) -o peers
 *   ./peers "$PWD" /tmp/review sh -c 'cp -r .shared/author t; make -C t check'
 *   ./peers "$PWD" /tmp/review --base main sh -c \
 *       'cp -r .shared/author t; git -C t diff HEAD~1; make -C t check'
 */
#include <agentbox/agentbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing else of the policy has to be written: the rest is built in. */
static const char document[] =
	"{ \"agentbox\": 1, \"extends\": \"builtin:workspace\","
	"  \"peering\": \"read\" }";

typedef struct pair {
	agentbox_context *context;
	agentbox_policy *base, *author_policy, *reviewer_policy;
	agentbox_sandbox *author, *reviewer;
	agentbox_peering *peering;
	agentbox_snapshot_options *options; /* NULL: what the policy says */
} pair;

static int32_t raise_both(pair *p, char **argv, agentbox_error **err)
{
	int32_t rc = agentbox_policy_parse(p->context, document,
					   strlen(document), &p->base, err);

	if (rc == 0)
		rc = agentbox_policy_with_workspace(p->base, argv[1], NULL,
						    &p->author_policy, err);
	if (rc == 0)
		rc = agentbox_policy_with_workspace(p->base, argv[2], NULL,
						    &p->reviewer_policy, err);
	if (rc == 0)
		rc = agentbox_sandbox_new(p->context, p->author_policy, NULL,
					  &p->author, err);
	if (rc == 0)
		rc = agentbox_sandbox_new(p->context, p->reviewer_policy, NULL,
					  &p->reviewer, err);
	return rc;
}

/* The reviewer reads a snapshot of the author; without an audit log here. */
static int32_t share(pair *p, const char *base, agentbox_error **err)
{
	agentbox_peer_job *job = NULL;
	int32_t rc = agentbox_peering_new(p->context, NULL, &p->peering, err);

	if (rc == 0 && base)
		rc = agentbox_snapshot_options_new(&p->options, err);
	if (rc == 0 && base)
		rc = agentbox_snapshot_options_set_git(p->options, "range",
						       base, err);
	if (rc == 0)
		rc = agentbox_peering_add(p->peering, p->author, "author",
					  err);
	if (rc == 0)
		rc = agentbox_peering_add(p->peering, p->reviewer, "reviewer",
					  err);
	if (rc == 0)
		rc = agentbox_peering_grant(p->peering, "reviewer", "author",
					    "author", p->options, &job, err);
	if (rc == 0)
		rc = agentbox_peer_job_wait(job, -1, err);
	agentbox_peer_job_free(job);
	return rc;
}

static int32_t review(pair *p, int argc, char **argv, int *status,
		      agentbox_error **err)
{
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	agentbox_bytes *out = NULL;
	int32_t rc = agentbox_command_new((const char *const *)argv + 3,
					  (size_t)argc - 3, &command, err);

	if (rc == 0)
		rc = agentbox_sandbox_capture(p->reviewer, command, 1 << 20,
					      &process, &out, NULL, err);
	if (rc == 0) {
		fwrite(agentbox_bytes_get_data(out), 1,
		       agentbox_bytes_get_size(out), stdout);
		*status = agentbox_process_get_exit_status(process);
	}
	agentbox_bytes_free(out);
	agentbox_process_free(process);
	agentbox_command_free(command);
	return rc;
}

int main(int argc, char **argv)
{
	const char *home = getenv("HOME"), *base = NULL;
	agentbox_error *err = NULL;
	pair p = { NULL };
	char state[4096];
	int status = 125;

	if (argc > 5 && strcmp(argv[3], "--base") == 0) {
		base = argv[4];
		/* what follows stands where it would without */
		argv[4] = argv[2];
		argv[3] = argv[1];
		argv += 2;
		argc -= 2;
	}
	if (argc < 4 || !home) {
		fprintf(stderr, "usage: peers /AUTHOR /REVIEWER "
				"[--base BASE] COMMAND...\n");
		return 2;
	}
	snprintf(state, sizeof(state), "%s/.local/state/agentbox-peers", home);
	if (agentbox_context_new(&p.context, &err) < 0 ||
	    agentbox_context_set_state_dir(p.context, state, &err) < 0 ||
	    raise_both(&p, argv, &err) < 0 || share(&p, base, &err) < 0 ||
	    review(&p, argc, argv, &status, &err) < 0)
		fprintf(stderr, "peers: %s\n", agentbox_error_get_message(err));

	/* What was shared ends before the boxes do. */
	if (p.peering && p.author)
		agentbox_peering_remove(p.peering, p.author, NULL);
	if (p.peering && p.reviewer)
		agentbox_peering_remove(p.peering, p.reviewer, NULL);
	agentbox_peering_free(p.peering);
	agentbox_snapshot_options_free(p.options);
	agentbox_sandbox_free(p.reviewer);
	agentbox_sandbox_free(p.author);
	agentbox_policy_unref(p.reviewer_policy);
	agentbox_policy_unref(p.author_policy);
	agentbox_policy_unref(p.base);
	agentbox_context_unref(p.context);
	agentbox_error_free(err);
	return status;
}
