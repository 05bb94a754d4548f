/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An agent that talks to a model and never holds the key. The box has one way
 * out, its gateway, and the policy has one route: requests to the model get
 * the real key there. The agent's environment says where the model is and
 * holds a key that works in this box alone; every other host is refused.
 *
 *   cc model.c $(pkg-config --cflags --libs libagentbox) -o model
 *   ./model "$PWD" ~/.secrets/anthropic -- my-agent 'fix the tests'
 *
 * KEY-FILE is one line, mode 0600. With UPSTREAM and CA the model is somebody
 * else's, verified with that authority; model.py shows it with one of its own
 * on loopback. What the agent prints comes as it prints it; what the gateway
 * decides comes on standard error.
 */
#include <agentbox/agentbox.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No host is allowed: the model is reached by its route, which needs none. */
static const char document[] =
	"{ \"agentbox\": 1, \"extends\": \"builtin:workspace\","
	"  \"network\": { \"mode\": \"gateway\", \"private\": [%s] },"
	"  \"secrets\": [{ \"name\": \"key\", \"delivery\": [\"inject\"] }],"
	"  \"routes\": [{ \"prefix\": \"/model\", \"preset\": \"anthropic\","
	"                 \"inject\": { \"secret\": \"key\" }%s }] }";

typedef struct host {
	agentbox_context *context;
	agentbox_policy *base, *policy;
	agentbox_sandbox *box;
} host;

/* Text that is put into a document may not end a string of it. */
static int is_plain(const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\' || (unsigned char)*s < ' ')
			return 0;
	}
	return 1;
}

static int32_t raise_box(host *h, const char *directory, const char *upstream,
			 const char *ca, agentbox_error **err)
{
	char more[8192] = "", text[sizeof(document) + sizeof(more)];
	int32_t rc;

	if (upstream)
		snprintf(more, sizeof(more),
			 ", \"upstream\": \"%s\", \"ca\": \"%s\"", upstream,
			 ca);
	/* private addresses are for an upstream of one's own alone */
	snprintf(text, sizeof(text), document,
		 upstream ? "\"127.0.0.0/8\"" : "", more);
	rc = agentbox_policy_parse(h->context, text, strlen(text), &h->base,
				   err);
	if (rc == 0)
		rc = agentbox_policy_with_workspace(h->base, directory, NULL,
						    &h->policy, err);
	if (rc == 0)
		rc = agentbox_sandbox_new(h->context, h->policy, NULL, &h->box,
					  err);
	return rc;
}

/* The gateway reads the file; the key never is in this process. */
static int32_t give_key(host *h, const char *path, agentbox_error **err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int32_t rc;

	if (fd < 0) {
		fprintf(stderr, "model: %s: %s\n", path, strerror(errno));
		return AGENTBOX_ENOTFOUND;
	}
	rc = agentbox_gateway_set_secret(agentbox_sandbox_get_gateway(h->box),
					 "key", fd, err);
	close(fd);
	return rc;
}

static int32_t tell_events(host *h, agentbox_error **err)
{
	agentbox_event *event = NULL;
	int32_t rc = agentbox_sandbox_dispatch(h->box, err);

	while (rc == 0 &&
	       agentbox_sandbox_next_event(h->box, &event, NULL) == 0) {
		fprintf(stderr, "[%s %s: %s]\n", agentbox_event_get_kind(event),
			agentbox_event_get_object(event),
			agentbox_event_get_detail(event));
		agentbox_event_free(event);
	}
	return rc;
}

static int32_t await(host *h, agentbox_process *process, agentbox_error **err)
{
	struct pollfd fds[2] = {
		{ .fd = agentbox_process_get_fd(process), .events = POLLIN },
		{ .fd = agentbox_sandbox_get_fd(h->box), .events = POLLIN },
	};
	int32_t rc = 0;

	while (rc == 0 && !fds[0].revents) {
		if (poll(fds, 2, agentbox_sandbox_get_timeout_ms(h->box)) < 0 &&
		    errno != EINTR) {
			perror("model: poll");
			return AGENTBOX_ESYS;
		}
		rc = tell_events(h, err);
	}
	if (rc == 0)
		rc = agentbox_process_wait(process, -1, err);
	return rc ? rc : tell_events(h, err);
}

static int32_t run(host *h, int argc, char **argv, int *status,
		   agentbox_error **err)
{
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	int32_t rc = agentbox_command_new((const char *const *)argv,
					  (size_t)argc, &command, err);

	if (rc == 0)
		rc = agentbox_command_set_fd(command, 1, STDOUT_FILENO, err);
	if (rc == 0)
		rc = agentbox_command_set_fd(command, 2, STDERR_FILENO, err);
	if (rc == 0)
		rc = agentbox_sandbox_spawn(h->box, command, &process, err);
	if (rc == 0)
		rc = await(h, process, err);
	if (rc == 0) {
		*status = agentbox_process_get_exit_status(process);
		if (*status < 0) /* a signal ended it */
			*status = 128 + agentbox_process_get_signal(process);
	}
	agentbox_process_free(process);
	agentbox_command_free(command);
	return rc;
}

int main(int argc, char **argv)
{
	const char *home = getenv("HOME"), *upstream = NULL, *ca = NULL;
	int at = argc > 5 && strcmp(argv[3], "--") != 0 ? 5 : 3, status = 125;
	agentbox_error *err = NULL;
	host h = { NULL, NULL, NULL, NULL };
	char state[4096];

	if (at == 5) {
		upstream = argv[3];
		ca = argv[4];
	}
	if (argc < at + 2 || strcmp(argv[at], "--") != 0 || !home ||
	    (upstream && (!is_plain(upstream) || !is_plain(ca)))) {
		fprintf(stderr, "usage: model /DIRECTORY KEY-FILE "
				"[UPSTREAM /CA] -- COMMAND...\n");
		return 2;
	}
	snprintf(state, sizeof(state), "%s/.local/state/agentbox-model", home);
	if (agentbox_context_new(&h.context, &err) < 0 ||
	    agentbox_context_set_state_dir(h.context, state, &err) < 0 ||
	    raise_box(&h, argv[1], upstream, ca, &err) < 0 ||
	    give_key(&h, argv[2], &err) < 0 ||
	    run(&h, argc - at - 1, argv + at + 1, &status, &err) < 0) {
		if (err)
			fprintf(stderr, "model: %s (%s)\n",
				agentbox_error_get_message(err),
				agentbox_error_name(
					agentbox_error_get_code(err)));
	}

	/* The gateway, and the key with it, end with the box. */
	agentbox_sandbox_free(h.box);
	agentbox_policy_unref(h.policy);
	agentbox_policy_unref(h.base);
	agentbox_context_unref(h.context);
	agentbox_error_free(err);
	return status;
}
