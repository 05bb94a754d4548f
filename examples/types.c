/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A front end reads a back end's types, and again when they have changed. The
 * front end's agent sees a point in time: what the back end's agent does in
 * its own box shows only when the host refreshes, and then all at once.
 *
 *   cc types.c $(pkg-config --cflags --libs libagentbox) -o types
 *   ./types ~/src/api ~/src/web \
 *       'echo "export type Id = string" >types/id.ts' \
 *       'cat .shared/backend/types/id.ts; make check'
 *
 * The front end's command runs, then the back end's; the front end's again,
 * which sees no change; and once more after the refresh.
 */
#include <agentbox/agentbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char document[] =
	"{ \"agentbox\": 1, \"extends\": \"builtin:workspace\","
	"  \"peering\": \"read\" }";

typedef struct ends {
	agentbox_context *context;
	agentbox_policy *base, *back_policy, *front_policy;
	agentbox_sandbox *back, *front;
	agentbox_peering *peering;
	char grant[64];
} ends;

static int32_t raise_both(ends *e, const char *back, const char *front,
			  agentbox_error **err)
{
	int32_t rc = agentbox_policy_parse(e->context, document,
					   strlen(document), &e->base, err);

	if (rc == 0)
		rc = agentbox_policy_with_workspace(e->base, back, NULL,
						    &e->back_policy, err);
	if (rc == 0)
		rc = agentbox_policy_with_workspace(e->base, front, NULL,
						    &e->front_policy, err);
	if (rc == 0)
		rc = agentbox_sandbox_new(e->context, e->back_policy, NULL,
					  &e->back, err);
	if (rc == 0)
		rc = agentbox_sandbox_new(e->context, e->front_policy, NULL,
					  &e->front, err);
	if (rc == 0)
		rc = agentbox_peering_new(e->context, NULL, &e->peering, err);
	if (rc == 0)
		rc = agentbox_peering_add(e->peering, e->back, "backend", err);
	if (rc == 0)
		rc = agentbox_peering_add(e->peering, e->front, "frontend",
					  err);
	return rc;
}

static int32_t share(ends *e, agentbox_error **err)
{
	agentbox_peer_job *job = NULL;
	int32_t rc = agentbox_peering_grant(e->peering, "frontend", "backend",
					    "backend", NULL, &job, err);

	if (rc == 0)
		rc = agentbox_peer_job_wait(job, -1, err);
	if (rc == 0)
		snprintf(e->grant, sizeof(e->grant), "%s",
			 agentbox_peer_job_get_grant(job));
	agentbox_peer_job_free(job);
	return rc;
}

static int32_t refresh(ends *e, agentbox_error **err)
{
	agentbox_peer_job *job = NULL;
	int32_t rc = agentbox_peering_refresh(e->peering, e->grant, NULL,
					      &job, err);

	if (rc == 0)
		rc = agentbox_peer_job_wait(job, -1, err);
	agentbox_peer_job_free(job);
	return rc;
}

static int32_t run(agentbox_sandbox *box, const char *who, const char *line,
		   int *status, agentbox_error **err)
{
	const char *const argv[] = { "sh", "-c", line };
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	agentbox_bytes *out = NULL;
	int32_t rc = agentbox_command_new(argv, 3, &command, err);

	if (rc == 0)
		rc = agentbox_sandbox_capture(box, command, 1 << 20, &process,
					      &out, NULL, err);
	if (rc == 0) {
		*status = agentbox_process_get_exit_status(process);
		printf("%s, status %d:\n", who, *status);
		fwrite(agentbox_bytes_get_data(out), 1,
		       agentbox_bytes_get_size(out), stdout);
		fflush(stdout);
	}
	agentbox_bytes_free(out);
	agentbox_process_free(process);
	agentbox_command_free(command);
	return rc;
}

static int32_t work(ends *e, char **argv, int *status, agentbox_error **err)
{
	int32_t rc = run(e->front, "front end", argv[4], status, err);

	if (rc == 0)
		rc = run(e->back, "back end", argv[3], status, err);
	if (rc == 0)
		rc = run(e->front, "front end, before the refresh", argv[4],
			 status, err);
	if (rc == 0)
		rc = refresh(e, err);
	if (rc == 0)
		rc = run(e->front, "front end, after the refresh", argv[4],
			 status, err);
	return rc;
}

int main(int argc, char **argv)
{
	const char *home = getenv("HOME");
	agentbox_error *err = NULL;
	ends e = { NULL };
	char state[4096];
	int status = 125;

	if (argc != 5 || !home) {
		fprintf(stderr, "usage: types /BACKEND /FRONTEND "
				"BACKEND-COMMAND FRONTEND-COMMAND\n");
		return 2;
	}
	snprintf(state, sizeof(state), "%s/.local/state/agentbox-types", home);
	if (agentbox_context_new(&e.context, &err) < 0 ||
	    agentbox_context_set_state_dir(e.context, state, &err) < 0 ||
	    raise_both(&e, argv[1], argv[2], &err) < 0 ||
	    share(&e, &err) < 0 || work(&e, argv, &status, &err) < 0) {
		fprintf(stderr, "types: %s\n",
			agentbox_error_get_message(err));
		status = 125;
	}
	if (e.peering && e.back)
		agentbox_peering_remove(e.peering, e.back, NULL);
	if (e.peering && e.front)
		agentbox_peering_remove(e.peering, e.front, NULL);
	agentbox_peering_free(e.peering);
	agentbox_sandbox_free(e.front);
	agentbox_sandbox_free(e.back);
	agentbox_policy_unref(e.front_policy);
	agentbox_policy_unref(e.back_policy);
	agentbox_policy_unref(e.base);
	agentbox_context_unref(e.context);
	agentbox_error_free(err);
	return status;
}
