/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-provider: runs the one program that a policy or the host's callback
 * names for a secret, with the host's rights and outside of every box, and
 * answers with what it printed. It is the library's, which starts no process
 * of others, and holds no value itself. It follows the helper contract
 * (wire/helper.h), refuses a plan that is not sealed, of another build, or
 * malformed, and a program that others could have written. It has no walls of
 * its own: the program needs the host's rights, and nothing of a box is read.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "build-id.h"
#include "provider.h"
#include "wire/helper.h"
#include "wire/message.h"
#include "wire/provider.h"

#define NAME "agentbox-provider"

static int fail(const char *stage, int sys_errno, const char *message)
{
	ab_helper_say_failed(AB_MSG_PROVIDER_FAILED, stage, sys_errno,
			     message);
	return 1;
}

static int send_value(int fd)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_PROVIDER_VALUE);
	ab_put_u32(&w, 1);
	return ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len, &fd, 1, 0)
		       ? 1 : 0;
}

static int serve(int host_pidfd)
{
	char path[AB_MAX_PATH], why[WHY_SIZE];
	ab_provider_plan plan;
	ab_reader reader;
	int fd, r = ab_helper_map_plan(&reader);

	if (r == 0)
		r = ab_provider_plan_get(&reader, AB_BUILD_ID, &plan);
	if (r)
		return fail("plan", r == -ESTALE ? 0 : -r,
			    r == -ESTALE ? "library and helper are of "
					   "different builds"
					 : "it is not as announced");
	if (!provider_trusts(&plan, path, why))
		return fail("program", 0, why);
	fd = provider_run(path, plan.argv, plan.timeout_ms, host_pidfd, why);
	return fd < 0 ? fail("program", 0, why) : send_value(fd);
}

int main(void)
{
	int host_pidfd;

	signal(SIGPIPE, SIG_IGN);
	if (ab_helper_begin(NAME) || ab_helper_run_as_others())
		return 1;
	host_pidfd = ab_helper_open_host();
	if (host_pidfd < 0 || ab_helper_say_hello(NAME))
		return 1;
	return serve(host_pidfd);
}
