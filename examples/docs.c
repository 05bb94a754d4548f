/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A documentation agent reads several boxes. Each project lives in a box of
 * its own; the writer of the documentation has a box too, and there every
 * project's tree at .shared/x<number>-<its directory's name>, read-only,
 * without its secrets and histories. What it writes stays in its own
 * directory.
 *
 *   cc docs.c $(pkg-config --cflags --libs libagentbox) -o docs
 *   ./docs /tmp/docs ~/src/one ~/src/two -- \
 *       sh -c 'find .shared -name README.md -exec head -5 {} + >index'
 *
 * Names below .shared are lower case letters, digits and '-'; others of a
 * directory's name become '-'.
 */
#include <agentbox/agentbox.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

static const char document[] =
	"{ \"agentbox\": 1, \"extends\": \"builtin:workspace\","
	"  \"peering\": \"read\" }";

typedef struct desk {
	agentbox_context *context;
	agentbox_policy *base;
	agentbox_peering *peering;
	/* [0] is the writer's, then one per project */
	agentbox_sandbox *boxes[MOST + 1];
	size_t count;
} desk;

/* A box over this directory, known by its name. */
static int32_t add_box(desk *d, const char *directory, const char *name,
		       agentbox_error **err)
{
	agentbox_policy *policy = NULL;
	int32_t rc = agentbox_policy_with_workspace(d->base, directory, NULL,
						    &policy, err);

	if (rc == 0)
		rc = agentbox_sandbox_new(d->context, policy, NULL,
					  &d->boxes[d->count], err);
	if (rc == 0)
		rc = agentbox_peering_add(d->peering, d->boxes[d->count++],
					  name, err);
	agentbox_policy_unref(policy);
	return rc;
}

static void name_of(const char *directory, size_t number, char out[64])
{
	const char *slash = strrchr(directory, '/');
	const char *from = slash && slash[1] ? slash + 1 : directory;
	size_t n = (size_t)snprintf(out, 64, "x%zu-", number);

	for (; *from && n < 63; from++, n++)
		out[n] = isalnum((unsigned char)*from)
				 ? (char)tolower((unsigned char)*from)
				 : '-';
	out[n] = '\0';
}

/* The writer may read this project from now on. */
static int32_t share(desk *d, const char *name, agentbox_error **err)
{
	agentbox_peer_job *job = NULL;
	int32_t rc = agentbox_peering_grant(d->peering, "writer", name, name,
					    NULL, &job, err);

	if (rc == 0)
		rc = agentbox_peer_job_wait(job, -1, err);
	agentbox_peer_job_free(job);
	return rc;
}

static int32_t open_desk(desk *d, char **directories, size_t count,
			 const char *state, agentbox_error **err)
{
	int32_t rc = agentbox_context_new(&d->context, err);

	if (rc == 0)
		rc = agentbox_context_set_state_dir(d->context, state, err);
	if (rc == 0)
		rc = agentbox_policy_parse(d->context, document,
					   strlen(document), &d->base, err);
	if (rc == 0)
		rc = agentbox_peering_new(d->context, NULL, &d->peering, err);
	if (rc == 0)
		rc = add_box(d, directories[0], "writer", err);
	for (size_t i = 1; rc == 0 && i < count; i++) {
		char name[64];

		name_of(directories[i], i, name);
		rc = add_box(d, directories[i], name, err);
		if (rc == 0)
			rc = share(d, name, err);
		if (rc == 0)
			printf("%s is at .shared/%s\n", directories[i], name);
	}
	fflush(stdout);
	return rc;
}

static int32_t write_docs(desk *d, char **argv, size_t argc, int *status,
			  agentbox_error **err)
{
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	agentbox_bytes *out = NULL;
	int32_t rc = agentbox_command_new((const char *const *)argv, argc,
					  &command, err);

	if (rc == 0)
		rc = agentbox_sandbox_capture(d->boxes[0], command, 1 << 20,
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

/* What was shared ends before the boxes do. */
static void close_desk(desk *d)
{
	for (size_t i = 0; i < d->count; i++)
		agentbox_peering_remove(d->peering, d->boxes[i], NULL);
	agentbox_peering_free(d->peering);
	for (size_t i = 0; i <= d->count && i <= MOST; i++)
		agentbox_sandbox_free(d->boxes[i]);
	agentbox_policy_unref(d->base);
	agentbox_context_unref(d->context);
}

int main(int argc, char **argv)
{
	const char *home = getenv("HOME");
	agentbox_error *err = NULL;
	desk d = { NULL };
	char state[4096];
	size_t split = 1;
	int status = 125;

	while (split < (size_t)argc && strcmp(argv[split], "--") != 0)
		split++;
	if (!home || split < 3 || split > MOST + 1 ||
	    split + 1 >= (size_t)argc) {
		fprintf(stderr, "usage: docs /WRITER /PROJECT... -- "
				"COMMAND...\n");
		return 2;
	}
	snprintf(state, sizeof(state), "%s/.local/state/agentbox-docs", home);
	if (open_desk(&d, argv + 1, split - 1, state, &err) < 0 ||
	    write_docs(&d, argv + split + 1, (size_t)argc - split - 1,
		       &status, &err) < 0)
		fprintf(stderr, "docs: %s\n", agentbox_error_get_message(err));
	close_desk(&d);
	agentbox_error_free(err);
	return status;
}
