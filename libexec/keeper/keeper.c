/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-keeper: an owner that outlives a command. A plain host program
 * over the public headers that keeps boxes for one state directory, so that
 * a box can be raised by one command line and used by the next. It decides
 * nothing about policies: it raises what it is sent, as whoever sends it
 * could do himself.
 *
 *   agentbox-keeper --state DIR [--helper-dir DIR] [--audit FILE]
 *                   [--idle SECONDS]
 *
 * It speaks through agentbox/owner.h under the owner name "keeper":
 *   {"command": "up", "name": NAME, "policy": {...}} -> {"id": ID, "tier": T}
 *   {"command": "down", "box": NAME or ID}           -> {}
 * down also tells, once, of a box that has ended by itself and in whose
 * workspace not all was put right. It ends when it kept no box for the idle
 * time.
 */
#include "config.h"

#include <agentbox/agentbox.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_BOXES 1000
#define DEFAULT_IDLE_S 10
#define MAX_UNTOLD 32 /* an older one gives way */

typedef struct kept {
	agentbox_sandbox *box;
	char *name;
} kept;

/* One that ended by itself, and not all was put right: nobody was told. */
typedef struct untold {
	char *name, *id;
} untold;

typedef struct keeper {
	const char *state;
	untold untold[MAX_UNTOLD];
	size_t untold_count; /* ever */
	agentbox_context *context;
	agentbox_audit *audit;
	agentbox_owner *owner;
	kept boxes[MAX_BOXES];
	size_t count;
	int idle_ms;
	struct rlimit files; /* as we came */
} keeper;

static volatile sig_atomic_t told_to_end;

static void on_signal(int signum)
{
	(void)signum;
	told_to_end = 1;
}

/* Takes err, which is NULL when memory for it, or for anything, was short. */
static void reply_error(agentbox_request *q, int32_t code, agentbox_error *err)
{
	const char *text = agentbox_error_get_message(err);

	agentbox_request_reply(q, code, text[0] ? text
			       : code == AGENTBOX_ENOMEM ? "out of memory"
			       : "the keeper failed", NULL);
	agentbox_error_free(err);
}

/*
 * Descriptors in flight are counted per user and compared with the soft limit
 * of whoever sends one (unix(7)): ours is above that of a box, which can then
 * not use up what we need. A box gets the limit that we came with.
 */
static void raise_files(const keeper *k)
{
	struct rlimit all = k->files;

	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

static int32_t raise_box(keeper *k, const json_t *policy_json, kept *out,
			 agentbox_error **err)
{
	agentbox_policy *policy = NULL;
	agentbox_sandbox_options *options = NULL;
	char *text = json_dumps(policy_json, JSON_COMPACT);

	if (!text)
		return AGENTBOX_ENOMEM;
	int32_t rc = agentbox_policy_parse(k->context, text, strlen(text),
					   &policy, err);
	free(text);
	if (rc == 0)
		rc = agentbox_sandbox_options_new(&options, err);
	if (rc == 0)
		rc = agentbox_sandbox_options_set_audit(options, k->audit, err);
	setrlimit(RLIMIT_NOFILE, &k->files);
	if (rc == 0)
		rc = agentbox_sandbox_new(k->context, policy, options,
					  &out->box, err);
	raise_files(k);
	agentbox_sandbox_options_free(options);
	agentbox_policy_unref(policy);
	return rc;
}

static void command_up(keeper *k, agentbox_request *q, const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "name"));
	const json_t *policy = json_object_get(root, "policy");
	agentbox_error *err = NULL;
	kept new = { NULL, NULL };
	char text[160];

	if (!name || !json_is_object(policy)) {
		agentbox_request_reply(q, AGENTBOX_EINVAL,
				       "up needs a name and a policy", NULL);
		return;
	}
	if (k->count == MAX_BOXES) {
		agentbox_request_reply(q, AGENTBOX_ELIMIT,
				       "the keeper keeps no more boxes", NULL);
		return;
	}
	int32_t rc = raise_box(k, policy, &new, &err);
	if (rc == 0) {
		new.name = strdup(name);
		rc = new.name ? agentbox_owner_add(k->owner, new.box, name,
						   &err)
			      : AGENTBOX_ENOMEM;
	}
	if (rc < 0) {
		agentbox_sandbox_free(new.box);
		free(new.name);
		reply_error(q, rc, err);
		return;
	}
	k->boxes[k->count++] = new;
	snprintf(text, sizeof(text), "{\"id\":\"%s\",\"tier\":\"%s\"}",
		 agentbox_sandbox_get_id(new.box),
		 agentbox_sandbox_get_tier(new.box));
	agentbox_request_reply(q, 0, text, NULL);
}

/* err tells what is left of it; in any case it is kept no longer. */
static int32_t let_go(keeper *k, size_t i, agentbox_error **err)
{
	agentbox_owner_remove(k->owner, k->boxes[i].box, NULL);
	/* of one that nobody hears of the library bars the next box */
	int32_t rc = err ? agentbox_sandbox_end(k->boxes[i].box, err) : 0;
	agentbox_sandbox_free(k->boxes[i].box);
	free(k->boxes[i].name);
	k->boxes[i] = k->boxes[--k->count];
	return rc;
}

/* The record of that box stays where nobody was told: agentbox_sandbox(3). */
static bool has_record(const keeper *k, const char *id)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/quarantine/unsettled/%s",
			 k->state, id);

	return n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0;
}

static void let_ended_go(keeper *k, size_t i)
{
	untold one = { strdup(k->boxes[i].name),
		       strdup(agentbox_sandbox_get_id(k->boxes[i].box)) };
	untold *at = &k->untold[k->untold_count % MAX_UNTOLD];

	(void)let_go(k, i, NULL);
	if (!one.name || !one.id || !has_record(k, one.id)) {
		free(one.name);
		free(one.id);
		return;
	}
	free(at->name);
	free(at->id);
	*at = one;
	k->untold_count++;
}

/* Told once; the next box over that workspace looks by itself. */
static bool tell_ended(keeper *k, agentbox_request *q, const char *box)
{
	for (size_t i = 0; box && i < MAX_UNTOLD; i++) {
		untold *at = &k->untold[i];
		char text[200];

		if (!at->name || (strcmp(box, at->name) != 0 &&
				  strcmp(box, at->id) != 0))
			continue;
		snprintf(text, sizeof(text), "box %.32s ended by itself, and "
			 "protected paths could not be put right; look at its "
			 "workspace", at->id);
		agentbox_request_reply(q, AGENTBOX_EWALL, text, NULL);
		free(at->name);
		free(at->id);
		*at = (untold){ NULL, NULL };
		return true;
	}
	return false;
}

static void command_down(keeper *k, agentbox_request *q, const json_t *root)
{
	const char *box = json_string_value(json_object_get(root, "box"));
	agentbox_error *err = NULL;

	for (size_t i = 0; box && i < k->count; i++) {
		if (strcmp(box, k->boxes[i].name) != 0 &&
		    strcmp(box, agentbox_sandbox_get_id(k->boxes[i].box)) != 0)
			continue;
		int32_t rc = let_go(k, i, &err);
		if (rc < 0)
			reply_error(q, rc, err);
		else
			agentbox_request_reply(q, 0, "{}", NULL);
		return;
	}
	if (!tell_ended(k, q, box))
		agentbox_request_reply(q, AGENTBOX_ENOTFOUND,
				       "the keeper keeps no such box", NULL);
}

static void serve(keeper *k, agentbox_request *q)
{
	agentbox_sandbox *boxes[MAX_BOXES];
	json_error_t where;

	for (size_t i = 0; i < k->count; i++)
		boxes[i] = k->boxes[i].box;
	if (agentbox_verify_answer(q, boxes, k->count))
		return;
	json_t *root = json_loads(agentbox_request_get_json(q),
				  JSON_REJECT_DUPLICATES, &where);
	const char *command = json_string_value(json_object_get(root,
								"command"));

	if (command && strcmp(command, "up") == 0)
		command_up(k, q, root);
	else if (command && strcmp(command, "down") == 0)
		command_down(k, q, root);
	else
		agentbox_request_reply(q, AGENTBOX_EINVAL,
				       "the keeper knows up, down and verify", NULL);
	json_decref(root);
}

/* Boxes that ended by themselves are let go. */
static void dispatch_boxes(keeper *k)
{
	for (size_t i = 0; i < k->count;) {
		agentbox_event *event = NULL;
		bool ended = false;

		agentbox_sandbox_dispatch(k->boxes[i].box, NULL);
		while (agentbox_sandbox_next_event(k->boxes[i].box, &event,
						   NULL) == 0) {
			ended |= strcmp(agentbox_event_get_kind(event),
					"ended") == 0;
			agentbox_event_free(event);
		}
		if (ended)
			let_ended_go(k, i);
		else
			i++;
	}
}

static size_t list_fds(const keeper *k, struct pollfd *fds, int *timeout_ms)
{
	size_t n = 0;

	fds[n++] = (struct pollfd){ .fd = agentbox_owner_get_fd(k->owner),
				    .events = POLLIN };
	*timeout_ms = agentbox_owner_get_timeout_ms(k->owner);
	for (size_t i = 0; i < k->count; i++) {
		const agentbox_sandbox *box = k->boxes[i].box;
		int ms = agentbox_sandbox_get_timeout_ms(box);

		if (ms >= 0 && (*timeout_ms < 0 || ms < *timeout_ms))
			*timeout_ms = ms;
		fds[n++] = (struct pollfd){ .fd = agentbox_sandbox_get_fd(box),
					    .events = POLLIN };
	}
	return n;
}

/*
 * The signals that end the keeper are blocked but while it sleeps, so that
 * one that comes between the look at told_to_end and the sleep is not lost.
 */
static int run(keeper *k, const sigset_t *awake)
{
	struct pollfd fds[1 + MAX_BOXES];
	agentbox_request *q = NULL;

	while (!told_to_end) {
		int ms;
		size_t n = list_fds(k, fds, &ms);
		bool idle = !k->count && ms < 0;

		if (idle)
			ms = k->idle_ms;
		struct timespec limit = { .tv_sec = ms / 1000,
					  .tv_nsec = ms % 1000 * 1000000L };
		int ready = ppoll(fds, n, ms < 0 ? NULL : &limit, awake);
		if (ready < 0 && errno != EINTR)
			return 70;
		if (ready == 0 && idle)
			return 0;
		if (agentbox_owner_dispatch(k->owner, NULL) < 0)
			return 70;
		while (agentbox_owner_next_request(k->owner, &q, NULL) == 0)
			serve(k, q);
		dispatch_boxes(k);
	}
	return 0;
}

static int complain(agentbox_error *err)
{
	fprintf(stderr, "agentbox-keeper: %s\n",
		agentbox_error_get_message(err));
	agentbox_error_free(err);
	return 125;
}

static int32_t open_audit(keeper *k, const char *path, agentbox_error **err)
{
	if (!path)
		return 0;
	int32_t rc = agentbox_audit_new(k->context, &k->audit, err);
	if (rc == 0)
		rc = agentbox_audit_set_path(k->audit, path, err);
	if (rc == 0)
		rc = agentbox_audit_open(k->audit, err);
	return rc;
}

typedef struct arguments {
	const char *state, *helpers, *audit;
	long idle_s;
} arguments;

static bool read_arguments(int argc, char **argv, arguments *a)
{
	static const struct option options[] = {
		{ "state", required_argument, NULL, 's' },
		{ "helper-dir", required_argument, NULL, 'h' },
		{ "audit", required_argument, NULL, 'a' },
		{ "idle", required_argument, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	char *end = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			a->state = optarg;
			break;
		case 'h':
			a->helpers = optarg;
			break;
		case 'a':
			a->audit = optarg;
			break;
		case 'i':
			a->idle_s = strtol(optarg, &end, 10);
			if (end == optarg || *end || a->idle_s < 0 ||
			    a->idle_s > 86400)
				return false;
			break;
		default:
			return false;
		}
	}
	return a->state && optind == argc;
}

static int32_t start(keeper *k, const arguments *a, agentbox_error **err)
{
	k->idle_ms = (int)a->idle_s * 1000;
	k->state = a->state;
	int32_t rc = agentbox_context_new(&k->context, err);
	if (rc == 0)
		rc = agentbox_context_set_state_dir(k->context, a->state, err);
	if (rc == 0 && a->helpers)
		rc = agentbox_context_set_helper_dir(k->context, a->helpers,
						     err);
	if (rc == 0)
		rc = open_audit(k, a->audit, err);
	if (rc == 0)
		rc = agentbox_owner_new(k->context, "keeper", &k->owner, err);
	return rc;
}

int main(int argc, char **argv)
{
	static keeper k;
	arguments a = { .idle_s = DEFAULT_IDLE_S };
	agentbox_error *err = NULL;
	struct sigaction end = { .sa_handler = on_signal };
	sigset_t ending, awake;

	if (!read_arguments(argc, argv, &a)) {
		fprintf(stderr, "usage: agentbox-keeper --state DIR "
			"[--helper-dir DIR] [--audit FILE] [--idle SECONDS]\n");
		return 2;
	}
	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	sigprocmask(SIG_BLOCK, &ending, &awake);
	sigdelset(&awake, SIGTERM);
	sigdelset(&awake, SIGINT);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	signal(SIGPIPE, SIG_IGN);

	getrlimit(RLIMIT_NOFILE, &k.files);
	raise_files(&k);
	if (start(&k, &a, &err) < 0)
		return complain(err);
	int status = run(&k, &awake);
	while (k.count)
		(void)let_go(&k, k.count - 1, NULL);
	for (size_t i = 0; i < MAX_UNTOLD; i++) {
		free(k.untold[i].name);
		free(k.untold[i].id);
	}
	agentbox_owner_free(k.owner);
	agentbox_audit_unref(k.audit);
	agentbox_context_unref(k.context);
	return status;
}
