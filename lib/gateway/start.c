/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Start agentbox-gateway: the plan sealed, the listeners handed over, and its
 * word that it judges. Nothing runs in the box before that.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/secret.h"
#include "gateway/internal.h"
#include "wire/message.h"

static int32_t make_key(agentbox_gateway *gw, uint8_t hash[AB_SHA256_SIZE],
			agentbox_error **err)
{
	uint8_t *bits = ab_secret_new(32);
	int rc;

	gw->key = ab_secret_new(AB_GATEWAY_KEY_SIZE);
	rc = bits && gw->key ? ab_random(bits, 32) : -ENOMEM;
	if (rc == 0) {
		ab_hex(bits, 32, gw->key);
		ab_sha256(gw->key, AB_GATEWAY_KEY_SIZE - 1, hash);
	}
	ab_secret_free(bits);
	return rc ? ab_error_sys(err, -rc, "gateway", "cannot make a key") : 0;
}

/* 0: the policy says nothing. */
static uint64_t number(const ab_policy_number *n)
{
	return n->state == AB_POLICY_SET ? n->value : 0;
}

static ab_gateway_rates rates_of(const ab_policy_rates *from)
{
	return (ab_gateway_rates){
		.connections = number(&from->connections),
		.requests_per_minute = number(&from->requests_per_minute),
		.bytes_per_second = number(&from->bytes_per_second),
		.budget_requests = number(&from->budget_requests),
		.budget_bytes = number(&from->budget_bytes),
		.budget_tokens = number(&from->budget_tokens),
	};
}

/* A policy has no more of them than the plan has room for. */
static void name_limits(const ab_policy_network *net, ab_gateway_plan *plan)
{
	for (size_t i = 0; i < net->name_count && i < AB_GATEWAY_MAX_NAMES;
	     i++) {
		const ab_policy_name *from = &net->names[i];

		plan->names[plan->name_count++] = (ab_gateway_name){
			.name = from->name,
			.rates = rates_of(&from->rates),
		};
	}
}

static ab_wire_text text(const char *s)
{
	return (ab_wire_text){ s, s ? strlen(s) : 0 };
}

static int32_t seal_plan(const ab_policy *policy,
			 const ab_wire_routes *routes,
			 const ab_gateway_tools *tools,
			 const ab_wire_broker *broker,
			 const ab_gateway_options *o, const uint8_t *hash,
			 int *fd, agentbox_error **err)
{
	const ab_policy_network *net = &policy->network;
	ab_gateway_plan plan = {
		.build_id = agentbox_build_id(),
		.box_id = o->box_id,
		.key_hash = hash,
		.flags = (o->is_audited ? AB_GATEWAY_AUDITED : 0) |
			 (net->preview_count ? AB_GATEWAY_PREVIEWS : 0),
		.resolver = o->resolver ? o->resolver : "",
		.rates = rates_of(&net->rates),
		.routes = *routes,
		.tools = text(tools->tools),
		.identity = text(tools->identity),
		.broker = *broker,
	};
	ab_writer w;
	int32_t rc = ab_gateway_lists_of(policy, &plan.lists, err);
	int made;

	if (rc)
		return rc;
	name_limits(net, &plan);
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	made = ab_gateway_plan_put(&w, &plan);
	ab_gateway_lists_end(&plan.lists);
	if (made == 0)
		made = ab_fd_memfd_sealed("agentbox-gateway", w.data, w.len);
	ab_writer_end(&w);
	if (made < 0)
		return ab_error_sys(err, -made, "gateway",
				    "cannot seal the gateway's plan");
	*fd = made;
	return 0;
}

static int32_t read_failed(ab_reader *r, agentbox_error **err)
{
	const char *stage = ab_get_str(r);
	int32_t sys_errno = ab_get_i32(r);
	const char *message = ab_get_str(r);

	if (!ab_reader_done(r))
		return ab_error_set(err, AGENTBOX_EPROTO, "gateway",
				    "agentbox-gateway sent a malformed "
				    "failure");
	/* the caller's own words: no machine would raise it with them */
	if (sys_errno == EINVAL && !strcmp(stage, "resolver"))
		return ab_error_set(err, AGENTBOX_EINVAL, "resolver",
				    "no addresses of name servers; write "
				    "192.0.2.1 or [2001:db8::1]:53, with "
				    "commas between several");
	if (sys_errno)
		return ab_error_sys_code(err, AGENTBOX_EWALL, sys_errno,
					 "gateway", "agentbox-gateway: %s: %s",
					 stage, message);
	return ab_error_set(err, AGENTBOX_EWALL, "gateway",
			    "agentbox-gateway: %s: %s", stage, message);
}

static int send_fds(agentbox_gateway *gw, uint32_t kind, const int *fds,
		    size_t count, uint32_t flags)
{
	uint8_t memory[AB_MESSAGE_HEADER + 8];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, kind);
	ab_put_u32(&w, (uint32_t)count);
	ab_put_u32(&w, flags);
	return ab_message_send(gw->helper.control_fd, w.data, w.len, fds,
			       count, 0);
}

/*
 * What it says of its start. One that has ended before it took what was sent
 * has said why all the same, and the kernel tells of its end first: unix(7),
 * ECONNRESET.
 */
static ssize_t first_answer(int fd, uint8_t *p, size_t size)
{
	size_t count = 0;
	ssize_t n = ab_message_recv(fd, p, size, NULL, 0, &count, 0);

	if (n == -ECONNRESET)
		n = ab_message_recv(fd, p, size, NULL, 0, &count,
				    MSG_DONTWAIT);
	return n;
}

static int32_t hand_over(agentbox_gateway *gw, const ab_gateway_options *o,
			 agentbox_error **err)
{
	uint8_t memory[AB_GATEWAY_MAX_RECORD];
	int fd = gw->helper.control_fd;
	ab_reader r;
	ssize_t n;
	int rc = 0;

	if (o->broker_fd_count)
		rc = send_fds(gw, AB_MSG_GW_BROKER, o->broker_fds,
			      o->broker_fd_count, 0);
	if (rc == 0)
		rc = send_fds(gw, AB_MSG_GW_LISTEN, o->fds, o->fd_count,
			      o->flags);
	if (rc == 0)
		rc = ab_fd_poll(fd, POLLIN, ab_clock_left_ms(o->deadline));
	if (rc == 0)
		return ab_error_set(err, AGENTBOX_ETIMEOUT, "gateway",
				    "the gateway was not ready in time");
	/* also where it could not be sent to */
	n = rc > 0 || rc == -EPIPE || rc == -ECONNRESET ?
		    first_answer(fd, memory, sizeof(memory)) : rc;
	if (n <= 0)
		return ab_error_sys_code(err, AGENTBOX_EHELPER,
					 n ? (int)-n : ECONNRESET, "gateway",
					 "agentbox-gateway died at its start");
	ab_reader_init(&r, memory, (size_t)n);
	uint32_t kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if (kind == AB_MSG_GW_FAILED)
		return read_failed(&r, err);
	if (kind != AB_MSG_GW_READY || !ab_reader_done(&r))
		return ab_error_set(err, AGENTBOX_EPROTO, "gateway",
				    "agentbox-gateway sent message %u", kind);
	return 0;
}

/* The ports that may be opened later. */
static int32_t keep_previews(agentbox_gateway *gw,
			     const ab_policy_network *net,
			     agentbox_error **err)
{
	gw->previews = ab_calloc(net->preview_count + 1,
				 sizeof(*gw->previews));
	if (!gw->previews)
		return ab_error_nomem(err);
	for (size_t i = 0; i < net->preview_count; i++)
		gw->previews[i] = net->preview[i];
	gw->preview_count = net->preview_count;
	return 0;
}

/* Key, environment and plan, which is sealed. */
static int32_t prepare(agentbox_gateway *gw, const agentbox_policy *handle,
		       const ab_gateway_routes *routes,
		       const ab_gateway_options *o, int *plan_fd,
		       agentbox_error **err)
{
	const ab_policy *policy = ab_policy_get(handle);
	uint8_t hash[AB_SHA256_SIZE];
	ab_gateway_tools tools = { 0 };
	ab_wire_broker broker = { 0 };
	int32_t rc = keep_previews(gw, &policy->network, err);

	if (!rc)
		rc = ab_gateway_tools_init(handle, o->box_id, &tools, err);
	if (!rc)
		rc = ab_policy_broker_init(handle, &broker, err);
	broker.uid_inside = o->uid_inside;
	broker.uid_outside = gw->uid_outside = o->uid_outside;
	if (!rc && o->broker_fd_count !=
			   (broker.count ? 1 + ab_wire_broker_files(&broker)
					 : 0))
		rc = ab_error_set(err, AGENTBOX_EWALL, "broker",
				  "agentbox-init made no way to the broker");
	if (!rc)
		rc = make_key(gw, hash, err);
	if (!rc)
		rc = ab_gateway_make_environment(gw, policy, &routes->policy,
						 &broker, err);
	if (!rc)
		rc = seal_plan(policy, &routes->wire, &tools, &broker, o, hash,
			       plan_fd, err);
	ab_gateway_tools_end(&tools);
	ab_wire_broker_end(&broker);
	return rc;
}

static int32_t start(agentbox_gateway *gw, agentbox_context *context,
		     const agentbox_policy *policy,
		     const ab_gateway_options *o, agentbox_error **err)
{
	ab_autofd int plan_fd = -1;
	ab_gateway_routes routes;
	int32_t rc = ab_gateway_routes_init(policy, &routes, err);

	if (!rc)
		rc = prepare(gw, policy, &routes, o, &plan_fd, err);
	if (!rc && o->broker_fd_count)
		rc = ab_gateway_keep_files(gw, o->broker_fds + 1,
					   o->broker_fd_count - 1, err);
	if (!rc)
		rc = ab_helper_start(context, "agentbox-gateway", plan_fd,
				     ab_clock_left_ms(o->deadline),
				     &gw->helper, err);
	if (!rc)
		rc = hand_over(gw, o, err);
	if (!rc)
		rc = ab_gateway_inject_named(gw, &routes.wire, o->deadline,
					     err);
	ab_gateway_routes_end(&routes);
	return rc;
}

int32_t ab_gateway_new(agentbox_context *context, agentbox_policy *policy,
		       const ab_gateway_options *options,
		       agentbox_gateway **out, agentbox_error **err)
{
	agentbox_gateway *gw = ab_new(agentbox_gateway);
	int32_t rc;

	if (!gw)
		return ab_error_nomem(err);
	gw->owner = getpid();
	gw->helper = (ab_helper){ .control_fd = -1, .pidfd = -1 };
	gw->runs_fd = -1;
	gw->context = ab_context_use(context);
	gw->told = options->told;
	gw->closing = options->closing;
	gw->wake = options->wake;
	gw->arg = options->arg;
	pthread_mutex_init(&gw->lock, NULL);
	rc = ab_gateway_runs_init(gw, policy, options->broker_fd_count > 0,
				  err);
	if (!rc)
		rc = start(gw, context, policy, options, err);
	if (rc) {
		ab_gateway_free(gw);
		return rc;
	}
	*out = gw;
	return 0;
}
