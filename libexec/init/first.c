/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first launcher. It is forked before the tree is built, so that what does
 * not need the tree is done on another processor meanwhile: it moves PID 1 off
 * its own processor, makes the network namespace, writes those of the tree's
 * files that PID 1, when it has made the mounts, does not come to first, drops
 * its capabilities and loads the filter. When the tree stands it takes its
 * root, adds Landlock, says so to PID 1 and waits for commands. The host sends
 * none before PID 1, which drops everything itself first, has told it that the
 * box is ready.
 *
 * Its walls are those of every launcher, in another order: the filter comes
 * before Landlock. A policy may refuse what Landlock is entered with; then, as
 * after any other trouble, it just ends, and PID 1 starts a launcher that does
 * all in the usual order and says what is wrong. Spec: DESIGN.md section 6.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/processor.h"
#include "sys.h"
#include "wire/message.h"

/* --- the launcher's side ------------------------------------------------- */

/*
 * PID 1 sleeps until the plan comes. The kernel would wake it here, behind the
 * network namespace, and leave us both here (base/processor.h): a cold box took
 * a sixth longer. Who is refused this works beside PID 1.
 */
static void move_pid_one(const init_box *box)
{
	cpu_set_t others;

	if (ab_processor_others(&box->processors, &others))
		(void)sched_setaffinity(getppid(), sizeof(others), &others);
}

/* The next message of PID 1, of this kind; its end is ours. */
static int hear(int stage_fd, uint32_t kind, uint8_t *message, size_t size,
		int *fd, ab_reader *r)
{
	size_t count = 0;
	ssize_t n = ab_message_recv(stage_fd, message, size, fd, 1, &count, 0);

	if (n <= 0)
		return -EPROTO;
	ab_reader_init(r, message, (size_t)n);
	return ab_get_u32(r) == kind && ab_get_u32(r) == count ? 0 : -EPROTO;
}

/* The root that PID 1 has begun, and what was to come of the plan. */
static int hear_plan(init_box *box, int stage_fd)
{
	uint8_t message[AB_MESSAGE_HEADER];
	ab_autofd int fd = -1;
	ab_reader r;

	if (hear(stage_fd, AB_MSG_STAGE_TREE, message, sizeof(message),
		 &box->root_fd, &r) ||
	    !ab_reader_done(&r))
		return -EPROTO;
	if (!box->awaits_plan)
		return 0;
	if (hear(stage_fd, AB_MSG_STAGE_PLAN, message, sizeof(message), &fd,
		 &r) ||
	    !ab_reader_done(&r))
		return -EPROTO;
	return init_read_plan(box, fd) ? -EPROTO : 0;
}

/* The way to the gateway, and at once to whoever waits for it. */
static int make_gate(const init_box *box, int stage_fd, int ns_fd)
{
	uint8_t memory[AB_MESSAGE_HEADER + 64];
	init_gate gate = {0};
	int failed = init_make_gate(box, ns_fd, &gate);
	ab_writer w;
	int r;

	if (failed)
		init_end_gate(&gate);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STAGE_GATE);
	ab_put_u32(&w, gate.count);
	ab_put_i32(&w, failed);
	ab_put_str(&w, gate.stage);
	ab_put_u32(&w, gate.ipv6 ? AB_GATEWAY_HAS_IPV6 : 0);
	r = ab_message_send(stage_fd, w.data, w.len, gate.fds, gate.count, 0);
	init_end_gate(&gate);
	return r || failed ? -EPROTO : 0;
}

/* The network, and files of the tree. */
static int make_and_tell(init_box *box, int stage_fd, int proc_fd)
{
	uint8_t memory[AB_MESSAGE_HEADER + 16];
	int ns_fd = -1, loopback = 0, failed = 0, file = 0, r;
	uint32_t step = 0;
	ab_writer w;

	if (box->plan.namespaces & AB_NS_NET)
		failed = init_make_network(proc_fd, &ns_fd, &loopback);
	if (!failed && hear_plan(box, stage_fd))
		return -EPROTO;
	if (!failed)
		file = -init_write_files(box, &step);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STAGE_DONE);
	ab_put_u32(&w, ns_fd >= 0);
	ab_put_i32(&w, failed);
	ab_put_i32(&w, loopback);
	ab_put_i32(&w, file);
	ab_put_u32(&w, step);
	r = ab_message_send(stage_fd, w.data, w.len, &ns_fd, ns_fd >= 0, 0);
	if (r || failed || file)
		return -EPROTO;
	return box->plan.gateway ? make_gate(box, stage_fd, ns_fd) : 0;
}

/*
 * Is it the root that PID 1 has built? What is mounted on it, until PID 1 has
 * detached that, is not found by a path that begins there.
 */
static int take_root(init_box *box, uint64_t dev, uint64_t ino)
{
	struct stat st;

	if (chdir("/") || stat("/", &st))
		return -errno;
	if (st.st_dev != dev || st.st_ino != ino)
		return -ESTALE;
	return init_open_null(box) ? -EIO : 0;
}

static int await_root(init_box *box)
{
	uint8_t message[AB_MESSAGE_HEADER + 16];
	uint64_t dev, ino;
	ab_reader r;

	if (hear(INIT_LAUNCHER_KEPT_FD, AB_MSG_STAGE_ROOT, message,
		 sizeof(message), &box->ruleset_fd, &r))
		return -EPROTO;
	dev = ab_get_u64(&r);
	ino = ab_get_u64(&r);
	if (!ab_reader_done(&r) ||
	    (box->ruleset_fd >= 0) != (box->plan.landlock_abi != 0))
		return -EPROTO;
	return take_root(box, dev, ino);
}

static int say_walls(void)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STAGE_WALLS);
	ab_put_u32(&w, 0);
	return ab_message_send(INIT_LAUNCHER_KEPT_FD, w.data, w.len, NULL, 0,
			       0);
}

/*
 * A filter may also answer in the kernel's place that all is well; only the
 * kernel knows that -1 is no ruleset.
 */
static bool may_enter_landlock(const init_box *box)
{
	return !box->plan.landlock_abi ||
	       ab_sys_landlock_restrict(-1) == -EBADF;
}

/*
 * Those of the host, which had fewer for a moment when it moved us, and so had
 * what we made then (base/processor.h). A launcher that takes the place of
 * another inherits them.
 */
static bool has_moved_back(const init_box *box)
{
	const cpu_set_t *all = &box->processors;
	cpu_set_t now;

	if (CPU_COUNT(all) == 0 ||
	    (sched_getaffinity(0, sizeof(now), &now) == 0 &&
	     CPU_EQUAL(&now, all)))
		return true;
	/* EINVAL: another cpuset meanwhile, whose processors we have been given
	   with it: cpuset(7) */
	return sched_setaffinity(0, sizeof(*all), all) == 0 || errno == EINVAL;
}

static int move_back(init_box *box)
{
	return has_moved_back(box)
		       ? 0
		       : init_fail(box, errno, "", "processors");
}

/* Whatever goes wrong ends it, and PID 1 knows what to do. */
static _Noreturn void first_launcher(init_box *box, int stage_fd, int proc_fd)
{
	prctl(PR_SET_NAME, "agentbox-launch", 0, 0, 0);
	move_pid_one(box);
	if (!has_moved_back(box) || chdir("/") ||
	    make_and_tell(box, stage_fd, proc_fd) ||
	    init_drop_privileges(box) ||
	    init_settle_fds(box, box->link_inside_fd, stage_fd) ||
	    init_raise_seccomp(box) || !may_enter_landlock(box) ||
	    await_root(box) || init_raise_landlock(box) || say_walls())
		_exit(INIT_LAUNCHER_FAILED);
	init_serve_commands(box);
}

/* --- the side of PID 1 --------------------------------------------------- */

/* The host's /proc knows us by the number that the host does. */
static void find_outside(init_box *box, int proc_fd)
{
	char text[16] = "";

	if (readlinkat(proc_fd, "self", text, sizeof(text) - 1) > 0)
		box->pid_outside = (uint32_t)strtoul(text, NULL, 10);
}

int init_start_first(init_box *box)
{
	int pair[2], proc_fd, r;
	pid_t pid;

	/* who started us may not have said it, as tests do not */
	if (CPU_COUNT(&box->processors) == 0)
		ab_processor_get(&box->processors);
	if (box->plan.tier >= AB_TIER_LANDLOCK)
		return move_back(box);
	r = ab_fd_seqpacket_pair(pair);
	if (r)
		return init_fail(box, -r, "", "launcher");
	box->stage_fd = pair[0];
	/* the tree may have none, or its own */
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return init_fail(box, errno, "", "netns");
	pid = ab_sys_clone(SIGCHLD);
	if (pid == 0)
		first_launcher(box, pair[1], proc_fd);
	find_outside(box, proc_fd);
	close(proc_fd);
	/* so that its end is seen */
	close(pair[1]);
	if (pid < 0)
		return init_fail(box, -pid, "", "launcher");
	box->first_launcher = pid;
	return 0;
}

int init_push_first(init_box *box)
{
	int r = box->first_launcher > 0
			? ab_processor_push(box->first_launcher,
					    &box->processors)
			: 0;

	return r ? init_fail(box, -r, "", "processors") : 0;
}

static void pass(const init_box *box, uint32_t kind, int fd)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	if (box->stage_fd < 0)
		return;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, kind);
	ab_put_u32(&w, fd >= 0);
	/* an error: it has ended, which is seen later */
	(void)ab_message_send(box->stage_fd, w.data, w.len, &fd, fd >= 0, 0);
}

void init_pass_root(const init_box *box)
{
	pass(box, AB_MSG_STAGE_TREE, box->root_fd);
}

void init_pass_plan(const init_box *box, int plan_fd)
{
	pass(box, AB_MSG_STAGE_PLAN, plan_fd);
}

static int join_network(init_box *box, int ns_fd, int loopback)
{
	if (setns(ns_fd, CLONE_NEWNET))
		return init_fail(box, errno, "", "netns");
	box->walls |= AB_WALL_NETNS;
	if (loopback)
		init_note(box, "loopback stays down: %s", strerror(loopback));
	else
		box->walls |= AB_WALL_LOOPBACK;
	return 0;
}

/* What the holder passes on to the host; nobody here keeps it. */
static int lend_gate(init_box *box, const init_gate *gate)
{
	uint8_t memory[AB_MESSAGE_HEADER + 8];
	ab_writer w;
	int r;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_LISTENERS);
	ab_put_u32(&w, gate->count);
	ab_put_u32(&w, gate->ipv6 ? AB_GATEWAY_HAS_IPV6 : 0);
	r = ab_message_send(box->link_inside_fd, w.data, w.len, gate->fds,
			    gate->count, 0);
	return r ? init_fail(box, -r, "", "gateway listeners") : 0;
}

static int pass_gate(init_box *box)
{
	uint8_t message[AB_MESSAGE_HEADER + 64];
	init_gate gate = {0};
	size_t count = 0;
	const char *stage;
	ab_reader r;
	int failed;
	ssize_t n = ab_message_recv(box->stage_fd, message, sizeof(message),
				    gate.fds, AB_GATEWAY_MAX_FDS, &count, 0);

	if (n <= 0)
		return init_fail(box, EIO, "it ended", "launcher");
	gate.count = (uint32_t)count;
	ab_reader_init(&r, message, (size_t)n);
	failed = ab_get_u32(&r) == AB_MSG_STAGE_GATE ? 0 : EPROTO;
	if (ab_get_u32(&r) != count)
		failed = EPROTO;
	if (!failed)
		failed = -ab_get_i32(&r);
	stage = ab_get_str(&r);
	gate.ipv6 = ab_get_u32(&r) & AB_GATEWAY_HAS_IPV6;
	if (!failed && (!ab_reader_done(&r) ||
			count != init_gate_count(&box->plan)))
		failed = EPROTO;
	if (!failed)
		failed = lend_gate(box, &gate) ? -1 : 0;
	else
		init_fail(box, failed,
			  "the way to the gateway could not be made", "%s",
			  stage);
	init_end_gate(&gate);
	return failed ? -1 : 0;
}

int init_join_first(init_box *box)
{
	uint8_t message[AB_MESSAGE_HEADER + 16];
	bool has_net = box->plan.namespaces & AB_NS_NET;
	int failed, loopback, file;
	ab_autofd int fd = -1;
	uint32_t step;
	ab_reader r;
	int heard;

	if (box->stage_fd < 0)
		return 0;
	heard = hear(box->stage_fd, AB_MSG_STAGE_DONE, message,
		     sizeof(message), &fd, &r);
	/* it moves nobody any more */
	if (move_back(box))
		return -1;
	if (heard)
		return init_fail(box, EIO, "it ended", "launcher");
	failed = ab_get_i32(&r);
	loopback = ab_get_i32(&r);
	file = ab_get_i32(&r);
	step = ab_get_u32(&r);
	if (failed)
		return init_fail(box, failed, "", "netns");
	if (!ab_reader_done(&r) || has_net != (fd >= 0) ||
	    step > box->plan.step_count)
		return init_fail(box, EPROTO, "", "launcher");
	if (file)
		return init_fail_step(box, step, file);
	if (has_net && join_network(box, fd, loopback))
		return -1;
	if (box->plan.gateway && pass_gate(box))
		return -1;
	return box->broker_fd_count ? init_lend_broker(box) : 0;
}

void init_show_root(const init_box *box)
{
	uint8_t memory[AB_MESSAGE_HEADER + 16];
	struct stat st;
	ab_writer w;

	if (box->stage_fd < 0 || stat("/", &st))
		return;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STAGE_ROOT);
	ab_put_u32(&w, box->ruleset_fd >= 0);
	ab_put_u64(&w, st.st_dev);
	ab_put_u64(&w, st.st_ino);
	/* an error: it has ended, which is seen later */
	(void)ab_message_send(box->stage_fd, w.data, w.len, &box->ruleset_fd,
			      box->ruleset_fd >= 0, 0);
}

/* Straight to the host, which has one word to wait for. */
static int tell_host(const init_box *box, const ab_msg_ready *m)
{
	uint8_t memory[sizeof(box->notes) + 64];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_ready(&w, AB_MSG_READY, 1, m);
	return w.bad ? -EMSGSIZE
		     : ab_message_send(box->control_fd, w.data, w.len,
				       &box->spawn_host_fd, 1, 0);
}

/* Not before its hello, nor where it watches something for the host. */
static bool has_to_pass_holder(const init_box *box)
{
	return !box->began_with_head || box->plan.gateway ||
	       box->plan.watched_calls ||
	       init_needs_settling(&box->plan);
}

static int tell_ready(const init_box *box)
{
	const ab_msg_ready m = {.walls = box->walls,
				.landlock_abi = box->plan.landlock_abi,
				.pid_one = box->pid_outside,
				.launcher = (uint32_t)box->first_launcher,
				.notes = box->notes};
	uint8_t memory[sizeof(box->notes) + 64];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	if (has_to_pass_holder(box) || tell_host(box, &m)) {
		ab_msg_put_ready(&w, AB_MSG_LINK_READY, 0, &m);
	} else {
		ab_put_u32(&w, AB_MSG_LINK_TOLD);
		ab_put_u32(&w, 0);
	}
	return w.bad ? -EMSGSIZE
		     : ab_message_send(box->link_inside_fd, w.data, w.len,
				       NULL, 0, 0);
}

/* That it has raised its walls; its end: it has not. */
static bool hear_walls(const init_box *box)
{
	uint8_t message[AB_MESSAGE_HEADER];
	ab_autofd int fd = -1;
	ab_reader r;

	return hear(box->stage_fd, AB_MSG_STAGE_WALLS, message,
		    sizeof(message), &fd, &r) == 0 &&
	       fd < 0 && ab_reader_done(&r);
}

bool init_release_first(init_box *box)
{
	bool stands = box->stage_fd >= 0 && hear_walls(box);

	/* nobody inside can end it: one that is gone now is replaced */
	if (stands && tell_ready(box))
		_exit(1);
	/* the next one is not to share its commands */
	if (!stands && box->first_launcher > 0)
		kill(box->first_launcher, SIGKILL);
	if (box->stage_fd >= 0)
		close(box->stage_fd);
	box->stage_fd = -1;
	return stands;
}
