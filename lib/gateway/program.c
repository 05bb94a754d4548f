/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that are asked for values: the policy names one for a secret
 * (`secrets[].command`), or the host's provider does. agentbox-provider runs
 * it, so that nothing here waits: its answer is heard of in dispatch() and
 * goes on to the gateway as the descriptor it is. Whoever is revoked or gone
 * has nobody asked for him any more. Spec: DESIGN.md section 9.
 */
#include "config.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "gateway/internal.h"
#include "wire/message.h"
#include "wire/provider.h"

/* A helper's hello, and what it needs beyond the program's own time. */
#define GRACE_MS 3000
/* One that is not wanted any more ends what it started. */
#define STOP_MS 500
/* enum ab_gw_kind of libexec/gateway/gw.h */
#define KIND_FAILED 4

struct ab_gateway_run {
	uint32_t serial;
	char name[AB_BROKER_MAX_NAME + 1];
	uint64_t deadline;
	bool is_greeted; /* then it is `helper`, else `launch` */
	ab_launch launch;
	ab_helper helper;
};

typedef struct outcome {
	uint32_t serial;
	char name[AB_BROKER_MAX_NAME + 1];
	int32_t result;
	int fd; /* owned; -1: none, and why */
	char why[AB_PROVIDER_MAX_ANSWER];
} outcome;

static bool has_command(const agentbox_policy *policy)
{
	const json_t *list = ab_policy_section(policy, "/secrets");
	bool has = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		has |= json_object_get(json_array_get(list, i), "command") !=
		       NULL;
	return has;
}

int32_t ab_gateway_runs_init(agentbox_gateway *gw, agentbox_policy *policy,
			     bool has_broker, agentbox_error **err)
{
	gw->policy = agentbox_policy_ref(policy);
	if (!has_broker && !has_command(policy))
		return 0;
	gw->runs_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	return gw->runs_fd < 0 ? ab_error_sys(err, errno, "broker",
					      "no descriptor left")
			       : 0;
}

/* --- the end of one ------------------------------------------------------- */

static int control_of(const ab_gateway_run *run)
{
	return run->is_greeted ? run->helper.control_fd
			       : run->launch.control_fd;
}

static int listen_to(agentbox_gateway *gw, size_t i)
{
	struct epoll_event in = { .events = EPOLLIN, .data.u64 = i };

	return epoll_ctl(gw->runs_fd, EPOLL_CTL_ADD, control_of(gw->runs[i]),
			 &in);
}

/* Before the descriptor is closed: where a copy of the host has it, too, it
   would be heard of for ever. */
static void listen_no_more(agentbox_gateway *gw, size_t i)
{
	int fd = control_of(gw->runs[i]);

	if (fd >= 0)
		(void)epoll_ctl(gw->runs_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* It hears that it is not wanted, also where a copy of the host has the
   descriptor. */
static void leave_run(agentbox_gateway *gw, size_t i)
{
	listen_no_more(gw, i);
	(void)shutdown(control_of(gw->runs[i]), SHUT_RDWR);
}

static void end_run(agentbox_gateway *gw, size_t i, int64_t ms)
{
	ab_gateway_run *run = gw->runs[i];

	leave_run(gw, i);
	gw->runs[i] = NULL;
	if (run->is_greeted)
		ab_helper_stop(&run->helper, ms);
	else
		ab_helper_cancel(&run->launch, ms);
	free(run);
}

static bool is_run_of(const agentbox_gateway *gw, size_t i, const char *name)
{
	const ab_gateway_run *run = gw->runs[i];

	return run && gw->owner == getpid() &&
	       (!name || strcmp(run->name, name) == 0);
}

/* One time for all of them: who is stuck does not add up. */
void ab_gateway_end_runs(agentbox_gateway *gw, const char *name)
{
	uint64_t deadline = ab_clock_deadline(STOP_MS);

	for (size_t i = 0; i < AB_GATEWAY_MAX_RUNS; i++)
		if (is_run_of(gw, i, name))
			leave_run(gw, i);
	for (size_t i = 0; i < AB_GATEWAY_MAX_RUNS; i++)
		if (is_run_of(gw, i, name))
			end_run(gw, i, ab_clock_left_ms(deadline));
}

void ab_gateway_runs_end(agentbox_gateway *gw)
{
	ab_gateway_end_runs(gw, NULL);
	/* in a forked child they are the parent's */
	for (size_t i = 0; i < AB_GATEWAY_MAX_RUNS; i++) {
		ab_gateway_run *run = gw->runs[i];

		if (!run)
			continue;
		ab_cleanup_fd(run->is_greeted ? &run->helper.control_fd
					      : &run->launch.control_fd);
		ab_cleanup_fd(run->is_greeted ? &run->helper.pidfd
					      : &run->launch.watch_fd);
		free(run);
		gw->runs[i] = NULL;
	}
	ab_cleanup_fd(&gw->runs_fd);
	gw->runs_fd = -1;
}

/* --- the beginning -------------------------------------------------------- */

/* What lies there is the agent's to write, often with the caller's own id. */
static void list_writable(const ab_policy *policy, ab_provider_plan *plan)
{
	if (policy->workspace.path &&
	    policy->workspace.mount != AB_WORKSPACE_READ)
		plan->writable[plan->writable_count++] =
			policy->workspace.path;
	for (size_t i = 0; i < policy->mount_count; i++)
		if (policy->mounts[i].access == AB_ACCESS_WRITE)
			plan->writable[plan->writable_count++] =
				policy->mounts[i].from;
}

static int32_t seal_plan(const agentbox_gateway *gw, const char *const *argv,
			 size_t argc, int *fd, agentbox_error **err)
{
	ab_provider_plan plan = { .build_id = agentbox_build_id(),
				  .timeout_ms = AB_PROVIDER_MS,
				  .argc = (uint32_t)argc,
				  .box_uid = gw->uid_outside };
	const ab_policy *policy = ab_policy_get(gw->policy);
	ab_writer w;
	int made;

	if (policy->mount_count >= AB_PROVIDER_MAX_WRITABLE)
		return ab_error_set(err, AGENTBOX_ELIMIT, "program",
				    "the policy has more than %d mounts",
				    AB_PROVIDER_MAX_WRITABLE - 1);
	memcpy(plan.argv, argv, argc * sizeof(*argv));
	list_writable(policy, &plan);
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	made = ab_provider_plan_put(&w, &plan);
	if (made == 0)
		made = ab_fd_memfd_sealed("agentbox-provider", w.data, w.len);
	ab_writer_end(&w);
	if (made < 0)
		return ab_error_sys(err, -made, "program",
				    "cannot seal the program's plan");
	*fd = made;
	return 0;
}

/* A place for one more; of those that had their time the helper is stuck. */
static int32_t find_place(agentbox_gateway *gw, size_t *at,
			  agentbox_error **err)
{
	for (size_t i = 0; i < AB_GATEWAY_MAX_RUNS; i++) {
		if (gw->runs[i] && !ab_clock_left_ms(gw->runs[i]->deadline))
			end_run(gw, i, STOP_MS);
		if (!gw->runs[i]) {
			*at = i;
			return 0;
		}
	}
	return ab_error_set(err, AGENTBOX_EBUSY, "program",
			    "%d programs run already", AB_GATEWAY_MAX_RUNS);
}

static void tell(agentbox_gateway *gw, uint32_t kind, const char *name,
		 const char *detail)
{
	const ab_gateway_record record = {
		.kind = kind, .how = "broker", .target = name,
		.reason = "program", .rule = "", .detail = detail,
	};

	gw->told(gw->arg, &record);
}

/* Lock held. */
static int32_t begin_run(agentbox_gateway *gw, const ab_gateway_need *need,
			 const char *const *argv, size_t argc,
			 agentbox_error **err)
{
	ab_autofd int plan_fd = -1;
	ab_gateway_run *run;
	size_t at = 0;
	int32_t rc;

	if (gw->has_ended || gw->is_revoked || gw->runs_fd < 0 ||
	    need->is_dropped)
		return ab_error_set(err, AGENTBOX_ECLOSED, "program",
				    "the box asks for nothing any more");
	rc = find_place(gw, &at, err);
	if (rc == 0)
		rc = seal_plan(gw, argv, argc, &plan_fd, err);
	run = rc ? NULL : ab_new(ab_gateway_run);
	if (!run)
		return rc ? rc : ab_error_nomem(err);
	rc = ab_helper_launch(gw->context, "agentbox-provider", plan_fd,
			      &run->launch, err);
	if (rc) {
		free(run);
		return rc;
	}
	run->serial = need->serial;
	memcpy(run->name, need->name, sizeof(run->name));
	run->deadline = ab_clock_deadline(AB_PROVIDER_MS + GRACE_MS);
	gw->runs[at] = run;
	if (listen_to(gw, at)) {
		rc = ab_error_sys(err, errno, "program",
				  "a program cannot be waited for");
		end_run(gw, at, STOP_MS);
		return rc;
	}
	tell(gw, AB_GATEWAY_KINDS, need->name, argv[0]);
	return 0;
}

/* How many, or 0: there is no such secret, or no program. */
static size_t find_command(const agentbox_gateway *gw, const char *name,
			   const char *argv[AB_PROVIDER_MAX_ARGS])
{
	const json_t *list = ab_policy_section(gw->policy, "/secrets");
	const json_t *command = NULL;
	size_t n;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);

		if (strcmp(json_string_value(json_object_get(v, "name")),
			   name) == 0)
			command = json_object_get(v, "command");
	}
	/* a policy has no longer one */
	n = json_array_size(command);
	if (n > AB_PROVIDER_MAX_ARGS)
		n = AB_PROVIDER_MAX_ARGS;
	for (size_t i = 0; i < n; i++)
		argv[i] = json_string_value(json_array_get(command, i));
	return n;
}

bool ab_gateway_run_named(agentbox_gateway *gw, const ab_gateway_need *need)
{
	const char *argv[AB_PROVIDER_MAX_ARGS];
	size_t argc = find_command(gw, need->name, argv);
	ab_auto(agentbox_error) *err = NULL;
	int32_t rc;

	if (!argc)
		return false;
	pthread_mutex_lock(&gw->lock);
	rc = begin_run(gw, need, argv, argc, &err);
	if (rc && !gw->has_ended)
		tell(gw, KIND_FAILED, need->name,
		     agentbox_error_get_message(err));
	pthread_mutex_unlock(&gw->lock);
	if (rc)
		ab_gateway_give(gw, need->serial, rc, -1);
	return true;
}

/* How many arguments; 0: they are none of a program's. */
static size_t count_arguments(const char *const *argv)
{
	size_t n = 0;

	if (!argv || !argv[0] || argv[0][0] != '/')
		return 0;
	while (n <= AB_PROVIDER_MAX_ARGS && argv[n])
		if (strlen(argv[n++]) >= AB_MAX_PATH)
			return 0;
	return n <= AB_PROVIDER_MAX_ARGS ? n : 0;
}

int32_t agentbox_gateway_use_program(agentbox_gateway *gw,
				     const char *const *argv,
				     agentbox_error **err)
{
	int32_t rc = ab_gateway_usable(gw, err);
	size_t argc = count_arguments(argv);

	if (rc)
		return rc;
	if (!argc)
		return ab_error_set(err, AGENTBOX_EINVAL, "argv",
				    "not an absolute path and at most %d "
				    "arguments of less than 4 KiB",
				    AB_PROVIDER_MAX_ARGS - 1);
	pthread_mutex_lock(&gw->lock);
	if (!gw->serving || gw->is_named)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "gateway",
				  "a program is named by a provider, once, "
				  "while it is called");
	else
		rc = begin_run(gw, gw->serving, argv, argc, err);
	gw->is_named |= rc == 0;
	pthread_mutex_unlock(&gw->lock);
	return rc;
}

/* --- what they say -------------------------------------------------------- */

static void set_why(outcome *o, int32_t result, const char *why)
{
	o->result = result;
	snprintf(o->why, sizeof(o->why), "%s", why);
}

/* One that is refused closes its descriptor. */
static void greet(agentbox_gateway *gw, size_t i, outcome *o)
{
	ab_auto(agentbox_error) *err = NULL;
	ab_gateway_run *run = gw->runs[i];
	int32_t rc;

	listen_no_more(gw, i);
	rc = ab_helper_greet(&run->launch, 0, &run->helper, &err);
	run->is_greeted = rc == 0;
	if (rc == 0 && listen_to(gw, i))
		rc = ab_error_sys(&err, errno, "program",
				  "a program cannot be waited for");
	if (rc)
		set_why(o, rc, agentbox_error_get_message(err));
}

static void hear(ab_gateway_run *run, outcome *o)
{
	uint8_t memory[AB_PROVIDER_MAX_ANSWER];
	size_t count = 0, size;
	ab_reader r;
	ssize_t n = ab_message_recv(run->helper.control_fd, memory,
				    sizeof(memory), &o->fd, 1, &count,
				    MSG_DONTWAIT);
	uint32_t kind;

	set_why(o, AGENTBOX_EHELPER, "agentbox-provider has ended");
	if (n <= 0)
		return;
	ab_reader_init(&r, memory, (size_t)n);
	kind = ab_get_u32(&r);
	if (ab_get_u32(&r) != count)
		kind = 0;
	if (kind == AB_MSG_PROVIDER_FAILED && !count) {
		(void)ab_get_str(&r);
		(void)ab_get_i32(&r);
		set_why(o, AGENTBOX_ENOTFOUND, ab_get_str(&r));
	} else if (kind == AB_MSG_PROVIDER_VALUE && count == 1 &&
		   ab_fd_check_sealed(o->fd, AB_BROKER_MAX_VALUE, &size) == 0) {
		o->result = 0;
	}
}

/* One that has said its last word; false: there is none. */
static bool next_outcome(agentbox_gateway *gw, outcome *o)
{
	struct epoll_event e;
	ab_gateway_run *run;
	bool any = false;

	*o = (outcome){ .fd = -1 };
	pthread_mutex_lock(&gw->lock);
	while (!any && epoll_wait(gw->runs_fd, &e, 1, 0) == 1) {
		run = gw->runs[e.data.u64];
		/* a hello is none; one that fails is */
		o->result = 0;
		any = run->is_greeted;
		if (any)
			hear(run, o);
		else
			greet(gw, e.data.u64, o);
		any |= o->result != 0;
		o->serial = run->serial;
		memcpy(o->name, run->name, sizeof(o->name));
		if (any)
			end_run(gw, e.data.u64, STOP_MS);
	}
	if (any && o->result)
		tell(gw, KIND_FAILED, o->name, o->why);
	pthread_mutex_unlock(&gw->lock);
	return any;
}

void ab_gateway_serve_runs(agentbox_gateway *gw)
{
	outcome o;

	for (int i = 0; gw->runs_fd >= 0 && i < AB_GATEWAY_MAX_RUNS &&
			next_outcome(gw, &o); i++) {
		ab_gateway_give(gw, o.serial, o.result,
				o.result ? -1 : o.fd);
		if (o.fd >= 0)
			close(o.fd);
	}
}

/* --- what routes inject --------------------------------------------------- */

/* The program's one answer, or the end of the time for it. */
static int32_t await_outcome(agentbox_gateway *gw, uint64_t deadline,
			     outcome *o, agentbox_error **err)
{
	for (;;) {
		int n = ab_fd_poll(gw->runs_fd, POLLIN,
				   ab_clock_left_ms(deadline));

		if (n < 0)
			return ab_error_sys(err, -n, "program",
					    "a program cannot be waited for");
		if (n == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "program",
					    "a program did not answer in the "
					    "time that the start of a box "
					    "has");
		if (next_outcome(gw, o))
			return 0;
	}
}

static int32_t inject(agentbox_gateway *gw, const ab_gateway_need *need,
		      const char *const *argv, size_t argc, uint64_t deadline,
		      agentbox_error **err)
{
	ab_auto(agentbox_error) *refused = NULL;
	outcome o = { .fd = -1 };
	int32_t rc;

	pthread_mutex_lock(&gw->lock);
	rc = begin_run(gw, need, argv, argc, err);
	pthread_mutex_unlock(&gw->lock);
	if (rc == 0)
		rc = await_outcome(gw, deadline, &o, err);
	if (rc)
		return rc;
	if (!o.result && agentbox_gateway_set_secret(gw, need->name, o.fd,
						     &refused))
		set_why(&o, AGENTBOX_EWALL,
			agentbox_error_get_message(refused));
	if (o.fd >= 0)
		close(o.fd);
	return !o.result ? 0
		: ab_error_set(err, AGENTBOX_EWALL, "program",
			       "the program that is asked for the secret "
			       "\"%s\": %s", need->name, o.why);
}

int32_t ab_gateway_inject_named(agentbox_gateway *gw,
				const ab_wire_routes *routes,
				uint64_t deadline, agentbox_error **err)
{
	const char *argv[AB_PROVIDER_MAX_ARGS];
	int32_t rc = 0;

	for (uint32_t i = 0; rc == 0 && i < routes->count; i++) {
		const char *name = routes->items[i].secret;
		ab_gateway_need need = { .serial = 0 };
		uint32_t first = 0;
		size_t argc = find_command(gw, name, argv);

		while (strcmp(routes->items[first].secret, name) != 0)
			first++;
		/* a value is of all routes that inject it */
		if (!argc || first < i)
			continue;
		snprintf(need.name, sizeof(need.name), "%s", name);
		rc = inject(gw, &need, argv, argc, deadline, err);
	}
	return rc;
}
