/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-shield: outside the box, it sees what is executed inside and
 * answers what the box may do to others. It follows the helper contract
 * (wire/helper.h), refuses a plan that is not sealed, of another build, or
 * malformed, and answers nothing before its own walls stand.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "build-id.h"
#include "policy/policy.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

#define NAME "agentbox-shield"

/* linux/seccomp.h as of 6.6 */
#define NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#define SYNC_WAKE_UP 1ul

static int fail(const char *stage, int sys_errno, const char *message)
{
	ab_helper_say_failed(AB_MSG_SH_FAILED, stage, sys_errno, message);
	return 1;
}

static int read_plan(ab_shield_plan *plan)
{
	ab_reader reader;
	int r = ab_helper_map_plan(&reader);

	return r ? r : ab_shield_plan_get(&reader, AB_BUILD_ID, plan);
}

/* Tools that the policy adds to those that stay in their own box. */
static int take_tools(ab_sh *sh, const agentbox_policy *policy)
{
	const json_t *scope = ab_policy_section(policy, "/scope");
	const json_t *tools = json_object_get(scope, "tools");
	int r = 0;

	for (size_t i = 0; i < json_array_size(tools) && !r; i++)
		r = ab_sh_grants_scope(
			&sh->grants,
			json_string_value(json_array_get(tools, i)));
	return r;
}

static int take_policy(ab_sh *sh, const ab_shield_plan *plan)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	int32_t rc = agentbox_context_new(&context, NULL);

	if (rc == 0)
		rc = agentbox_policy_parse(context, plan->policy,
					   strlen(plan->policy), &policy,
					   NULL);
	if (rc == 0)
		rc = ab_exec_judge_init(&sh->judge, policy, plan->workspace,
					plan->home, NULL);
	if (rc == 0 && ab_sh_network_init(&sh->network,
					  &ab_policy_get(policy)->network))
		rc = AGENTBOX_ELIMIT;
	if (rc == 0 && take_tools(sh, policy))
		rc = AGENTBOX_ELIMIT;
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return rc ? fail("policy", 0, "its checks cannot be made") : 0;
}

/* A kernel whose notices are longer than what we have room for. */
static int check_sizes(void)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
		return -errno;
	return sizes.seccomp_notif > 512 ||
			       sizes.seccomp_notif_resp >
				       sizeof(struct seccomp_notif_resp)
		       ? -EOVERFLOW
		       : 0;
}

/* Everything that may still look at files. 0, or it has said why. */
static int prepare(ab_sh *sh, ab_shield_plan *plan)
{
	int r = read_plan(plan);

	if (r)
		return fail("plan", r == -ESTALE ? 0 : -r,
			    r == -ESTALE ? "library and helper are of "
					   "different builds"
					 : "it is not as announced");
	sh->mode = plan->mode;
	sh->is_audited = plan->flags & AB_SHIELD_AUDITED;
	sh->ask_ns = plan->ask_ms * UINT64_C(1000000);
	if (plan->workspace[0] &&
	    (size_t)snprintf(sh->shared, sizeof(sh->shared), "%s/.shared",
			     plan->workspace) >= sizeof(sh->shared))
		return fail("plan", ENAMETOOLONG, "it is not as announced");
	snprintf(sh->grants.own, sizeof(sh->grants.own), "%s", plan->box_id);
	r = check_sizes();
	if (r)
		return fail("seccomp", -r, "the kernel's notices are not "
			    "those that are known here");
	sh->proc_fd = ab_fd_lift(open("/proc", O_PATH | O_DIRECTORY |
				      O_CLOEXEC));
	if (sh->proc_fd < 0)
		return fail("proc", errno, "there is no /proc");
	return take_policy(sh, plan);
}

static int receive_listener(ab_sh *sh)
{
	uint8_t message[AB_MESSAGE_HEADER + 8];
	size_t count = 0;
	ab_reader r;
	ssize_t n = ab_message_recv(AB_HELPER_CONTROL_FD, message,
				    sizeof(message), &sh->notify_fd, 1, &count,
				    0);

	if (n <= 0)
		return n ? (int)n : -ECANCELED;
	ab_reader_init(&r, message, (size_t)n);
	if (ab_get_u32(&r) != AB_MSG_SH_LISTEN || ab_get_u32(&r) != 1 ||
	    count != 1 || !ab_reader_done(&r))
		return -EPROTO;
	return 0;
}

/*
 * Who asks waits for us: we are woken where it runs, and it where we do. From
 * 6.6 on; before, each wakes up another processor.
 */
static void wake_in_place(const ab_sh *sh)
{
	(void)ioctl(sh->notify_fd, NOTIF_SET_FLAGS, SYNC_WAKE_UP);
}

static int begin(ab_sh *sh, const ab_shield_plan *plan,
		 struct ab_sh_server **server)
{
	const char *stage = "listener";
	int r = receive_listener(sh);

	if (r == 0)
		wake_in_place(sh);
	if (r == 0)
		r = ab_sh_start(sh, plan->uid, plan->gid, &stage, server);
	if (r)
		return fail(stage, -r, "the shield's own walls do not stand");
	return ab_helper_say(AB_MSG_SH_READY);
}

int main(void)
{
	struct ab_sh_server *server = NULL;
	ab_shield_plan plan;
	ab_sh *sh;

	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (ab_helper_begin(NAME) || ab_helper_run_as_others())
		return 1;
	sh = ab_new(ab_sh);
	if (sh)
		sh->host_pidfd = ab_helper_open_host();
	if (!sh || sh->host_pidfd < 0 || ab_helper_say_hello(NAME))
		return 1;
	/* whatever goes wrong: without us nothing is started in the box */
	if (prepare(sh, &plan) || begin(sh, &plan, &server))
		_exit(1);
	ab_sh_serve(server);
}
