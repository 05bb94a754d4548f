/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-init: raises one box from a sealed plan and keeps it, by the helper
 * contract (wire/helper.h).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/processor.h"
#include "sys.h"
#include "wire/helper.h"
#include "wire/message.h"
#include "wire/schedule.h"

/*
 * unix(7), ETOOMANYREFS: descriptors in flight are counted per user and
 * compared with the limit of whoever sends one. With ours above that of the
 * agent, who is the same user to the kernel, he cannot use up what we need.
 * Commands get the limit that we came with, or the plan's.
 */
static void raise_files(init_box *box)
{
	struct rlimit all;

	if (getrlimit(RLIMIT_NOFILE, &box->own_files))
		return;
	all = box->own_files;
	all.rlim_cur = all.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &all);
}

/*
 * For all that we start, behind whose filter nobody can change it any more. An
 * ordinary user to whom even 1 byte is forbidden cannot have it: see
 * lib/walls/limits.c.
 */
static void forbid_core_dumps(void)
{
	const struct rlimit none = {.rlim_cur = 1, .rlim_max = 1};

	(void)setrlimit(RLIMIT_CORE, &none);
}

static int prepare_sockets(init_box *box)
{
	int pair[2];
	int r = ab_fd_seqpacket_pair(pair);

	if (r)
		return init_fail(box, -r, "", "sockets");
	box->link_holder_fd = pair[0];
	box->link_inside_fd = pair[1];
	r = ab_fd_seqpacket_pair(pair);
	if (r)
		return init_fail(box, -r, "", "sockets");
	box->spawn_host_fd = pair[0];
	box->spawn_inside_fd = pair[1];
	return 0;
}

static int share_memory(init_box *box)
{
	box->shared = mmap(NULL, sizeof(*box->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return box->shared == MAP_FAILED ? init_fail(box, errno, "", "memory")
					 : 0;
}

/*
 * Before a cgroup is joined: one of version 1 takes no process of real time
 * unless it was given a part of that (scheduler/sched-rt-group.rst). The
 * holder too, whose work the agent can make more. A box without walls keeps
 * what the host has.
 */
static int run_as_others(init_box *box)
{
	const char *what;
	int r = box->plan.tier == AB_TIER_BARE
			? 0 : ab_schedule_as_others(&what);

	return r ? init_fail(box, -r, "this program runs before others, and "
			     "the box must not", "scheduling: %s", what) : 0;
}

static int raise_box(init_box *box)
{
	if (share_memory(box) || init_read_plan(box, AB_HELPER_PLAN_FD))
		return -1;
	if (run_as_others(box))
		return -1;
	forbid_core_dumps();
	if (box->plan.is_left)
		return 0;
	if (init_prepare_cgroups(box) || prepare_sockets(box))
		return -1;
	box->awaits_plan = box->began_with_head = box->plan.is_head;
	if (box->plan.tier >= AB_TIER_LANDLOCK &&
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		return init_fail(box, errno, "", "subreaper");
	box->pid_one = init_make_child(box);
	if (box->pid_one == 0)
		init_pid_one(box);
	return box->pid_one < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	static init_box box = {
		.control_fd = AB_HELPER_CONTROL_FD,
		.link_holder_fd = -1,
		.link_inside_fd = -1,
		.spawn_host_fd = -1,
		.spawn_inside_fd = -1,
		.mountinfo_fd = -1,
		.inotify_fd = -1,
		.notice_fd = -1,
		.pid_one_pidfd = -1,
		.ruleset_fd = -1,
		.proc_fd = -1,
		.register_fd = -1,
		.register_launcher_fd = -1,
		.root_fd = -1,
		.stage_fd = -1,
	};

	int failed;

	if (argc > 1)
		ab_processor_parse(argv[1], &box.processors);
	raise_files(&box);
	if (ab_helper_begin("agentbox-init"))
		return 1;
	box.host_pidfd = ab_helper_open_host();
	if (box.host_pidfd < 0)
		return 1;
	failed = raise_box(&box);
	/*
	 * Said when PID 1 has begun to work, so that waking the host costs the
	 * box no time; and before anything else is said. The plan's own build
	 * id was compared before, so nothing of another build's plan is ever
	 * carried out.
	 */
	if (ab_helper_say_hello("agentbox-init")) {
		if (box.pid_one > 0)
			init_end_unheard(&box);
		return 1;
	}
	if (failed) {
		init_send_failure(&box, AB_HELPER_CONTROL_FD);
		return 1;
	}
	if (box.plan.is_left)
		init_settle_left(&box);
	init_holder(&box);
}
