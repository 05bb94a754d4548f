/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a box sees of its credential broker: the socket, the program that asks
 * there, and a private tmpfs for secrets as files, all in one directory of
 * the box's own root, which the agent cannot write. Refuses a policy that
 * mounts something there, a box that has no gateway to ask, and secrets as
 * files where the policy requires that they are never swapped out, which only
 * a tmpfs of the machine's own root can promise (tmpfs(5), noswap).
 * Spec: DESIGN.md section 9, wire/broker.h.
 */
#include "config.h"

#include "walls/internal.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/spawn.h"
#include "path/lexical.h"
#include "policy/secrets.h"
#include "wire/broker.h"

#define WHERE "/secrets"
#define FILE_BYTES (AB_BROKER_MAX_VALUE + 4096u)

int32_t ab_broker_check(const ab_build *b, agentbox_error **err)
{
	ab_wire_broker broker;
	int32_t rc = ab_policy_broker_init(b->handle, &broker, err);
	uint32_t files, count;

	if (rc)
		return rc;
	count = broker.count;
	files = ab_wire_broker_files(&broker);
	ab_wire_broker_end(&broker);
	if (count && b->policy->network.mode != AB_NET_GATEWAY)
		return ab_error_set(err, AGENTBOX_EUNSUPPORTED, WHERE,
				    "secrets are handed to a box by its "
				    "gateway: set network.mode to 'gateway'");
	if (files && (b->policy->require & AB_FEATURE_BIT(AB_FEATURE_NOSWAP)))
		return ab_error_set(err, AGENTBOX_EWALL, "noswap",
				    "the policy requires 'noswap', and a secret "
				    "as a file may be swapped out: deliver it "
				    "by injection");
	return 0;
}

static int32_t check_free(const ab_build *b, agentbox_error **err)
{
	for (size_t i = 0; i < b->view_count; i++) {
		const char *at = b->views[i].inside;

		if (at && (ab_path_is_below(at, AB_BROKER_DIR) ||
			   ab_path_is_below(AB_BROKER_DIR, at)))
			return ab_error_set(err, AGENTBOX_EDENIED, at,
					    "'" AB_BROKER_DIR "' is where a "
					    "box asks for its secrets; mount "
					    "elsewhere");
	}
	return 0;
}

static int32_t add_program(ab_build *b, agentbox_error **err)
{
	char path[AB_MAX_PATH];
	ab_view view = { .inside = AB_BROKER_PROGRAM, .exec = true };
	ab_hostpath h = { .fd = -1 };
	ab_plan_step *s;
	int32_t rc = ab_helper_find(b->context, "agentbox-secret", path, err);

	if (rc == 0)
		rc = ab_host_resolve(path, "helper", &h, err);
	if (rc)
		return rc;
	s = ab_build_step(b, AB_STEP_BIND, AB_MOUNT_RDONLY, view.inside);
	s->source = view.host = ab_build_str(b, h.path);
	s->dev = h.dev;
	s->ino = h.ino;
	ab_build_view(b, &view);
	ab_build_pin(b, h.fd);
	return 0;
}

/* The names of those that come as files, each with its NUL. */
static void add_files(ab_build *b, const ab_wire_broker *broker)
{
	const ab_view view = { .inside = AB_BROKER_FILES, .dir = true };
	uint32_t count = ab_wire_broker_files(broker);
	char *names = ab_build_own(b, ab_calloc(count, AB_BROKER_MAX_NAME + 1));
	ab_plan_step *s;
	size_t n = 0;

	if (!names)
		return; /* sticky */
	for (uint32_t i = 0; i < broker->count; i++) {
		const ab_wire_secret *secret = &broker->items[i];
		size_t len = strlen(secret->name) + 1;

		if (!(secret->ways & AB_BROKER_FILE))
			continue;
		memcpy(names + n, secret->name, len);
		n += len;
	}
	s = ab_build_step(b, AB_STEP_SECRETS, 0, view.inside);
	s->size = (uint64_t)(count + 1) * FILE_BYTES;
	s->content = names;
	s->content_len = n;
	ab_build_view(b, &view);
	ab_build_note(b, "secrets as files are in memory, which may be "
		      "swapped out");
}

int32_t ab_broker_compile(ab_build *b, agentbox_error **err)
{
	ab_wire_broker broker;
	int32_t rc = ab_policy_broker_init(b->handle, &broker, err);

	if (rc)
		return rc;
	if (broker.count)
		rc = check_free(b, err);
	if (rc == 0 && broker.count) {
		/* first: the host knows its descriptors by their order */
		ab_build_step(b, AB_STEP_BROKER, 0, AB_BROKER_SOCKET);
		rc = add_program(b, err);
		if (ab_wire_broker_files(&broker))
			add_files(b, &broker);
	}
	ab_wire_broker_end(&broker);
	return rc;
}
