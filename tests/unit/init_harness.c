/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spec: init_harness.h. */
#include "config.h"

#include "init_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "base/limits.h"
#include "build-id.h"
#include "wire/message.h"

#define IH_LANDLOCK_VERSION 1u /* LANDLOCK_CREATE_RULESET_VERSION */
#define TIMEOUT_MS 20000

const char *ih_processors;

static const char *const no_env[] = {NULL};
static const char *const default_env[] = {"PATH=/usr/bin:/bin", "HOME=/tmp",
					  NULL};

/* Enough of a filter to see that it is there: mount(2) is EXDEV. */
static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* seccomp_data.nr */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

ab_plan_step *ih_step(ih_plan *plan, uint32_t kind, const char *target)
{
	ab_plan_step *s = &plan->steps[plan->p.step_count++];

	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->target = target;
	s->source = "";
	return s;
}

ab_plan_step *ih_bind(ih_plan *plan, const char *source, const char *target,
		      uint32_t flags)
{
	ab_plan_step *s = ih_step(plan, AB_STEP_BIND, target);
	struct stat st;

	s->source = source;
	s->flags = flags;
	if (stat(source, &st) == 0) {
		s->dev = st.st_dev;
		s->ino = st.st_ino;
	}
	return s;
}

static void add_rule(ih_plan *plan, const char *path, uint64_t access)
{
	ab_plan_rule *r = &plan->rules[plan->p.rule_count++];

	r->path = path;
	r->access = access;
}

/* landlock(7): rights known to each ABI level, as counts of low bits. */
static void add_landlock(ih_plan *plan)
{
	static const unsigned bits[] = {0, 13, 14, 15, 15, 16};
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   IH_LANDLOCK_VERSION);
	uint64_t all;

	if (abi < 1)
		return;
	plan->p.landlock_abi = (uint32_t)abi;
	all = (1ull << bits[abi > 5 ? 5 : abi]) - 1;
	plan->p.landlock_fs = all;
	if (abi >= 6)
		plan->p.landlock_scope = 3;
	/* execute, read file, read dir */
	add_rule(plan, "/", 0x0d);
	add_rule(plan, "/tmp", all);
	add_rule(plan, "/dev", all);
	add_rule(plan, "/workspace", all);
}

static void add_links(ih_plan *plan)
{
	static const char *const names[] = {"/bin", "/sbin", "/lib", "/lib64"};
	static const char *const texts[] = {"usr/bin", "usr/sbin", "usr/lib",
					    "usr/lib64"};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		ih_step(plan, AB_STEP_SYMLINK, names[i])->source = texts[i];
}

void ih_plan_init(ih_plan *plan)
{
	ab_plan *p = &plan->p;
	bool root = geteuid() == 0;

	memset(plan, 0, sizeof(*plan));
	p->build_id = AB_BUILD_ID;
	p->box_id = "00112233445566778899aabbccddeeff";
	p->hostname = "box";
	p->tier = AB_TIER_FULL;
	p->namespaces = AB_NS_ALL;
	p->uid_inside = p->gid_inside = 1000;
	p->uid_outside = root ? 100000 : geteuid();
	p->gid_outside = root ? 100000 : getegid();
	p->map_by_holder = root;
	p->drop_groups = root;
	p->steps = plan->steps;
	p->rules = plan->rules;
	p->rlimits = plan->rlimits;
	p->watches = plan->watches;
	p->seccomp = filter;
	p->seccomp_len = sizeof(filter);
	ih_bind(plan, "/usr", "/usr", AB_MOUNT_RDONLY | AB_MOUNT_RECURSIVE);
	add_links(plan);
	ih_step(plan, AB_STEP_PROC, "/proc");
	ih_step(plan, AB_STEP_DEV, "/dev")->size = 1 << 20;
	ih_step(plan, AB_STEP_TMPFS, "/tmp")->mode = 01777;
	plan->rlimits[0] = (ab_plan_rlimit){RLIMIT_NOFILE, 1024, 1024};
	plan->rlimits[1] = (ab_plan_rlimit){RLIMIT_CORE, 0, 0};
	p->rlimit_count = 2;
	add_landlock(plan);
}

void ih_plan_flatten(ih_plan *plan)
{
	plan->p.tier = AB_TIER_LANDLOCK;
	plan->p.namespaces = 0;
	plan->p.step_count = 0;
	plan->p.map_by_holder = 0;
	plan->p.uid_outside = plan->p.uid_inside = geteuid();
	plan->p.gid_outside = plan->p.gid_inside = getegid();
}

static int start(ih_box *box, const char *helper, int plan_fd, bool deaf)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *argv[] = {(char *)(uintptr_t) "agentbox-init",
			(char *)(uintptr_t)ih_processors, NULL};
	int pair[2];
	int r = ab_fd_seqpacket_pair(pair);

	if (r)
		return r;
	if (deaf)
		shutdown(pair[0], SHUT_RD);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	for (int i = 0; i <= 2; i++)
		posix_spawn_file_actions_addopen(&actions, i, "/dev/null",
						 O_RDWR, 0);
	/* both may be 3 or 4 themselves: out of the way first */
	posix_spawn_file_actions_adddup2(&actions, pair[1], 900);
	posix_spawn_file_actions_adddup2(&actions, plan_fd, 901);
	posix_spawn_file_actions_adddup2(&actions, 900, 3);
	posix_spawn_file_actions_adddup2(&actions, 901, 4);
	r = -posix_spawn(&box->pid, helper, &actions, &attr, argv,
			 (char *const *)(uintptr_t)no_env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	box->control = pair[0];
	return 0;
}

static void take_failure(ih_box *box, ab_reader *r)
{
	ab_msg_failed m;

	if (ab_msg_get_failed(r, &m))
		return;
	snprintf(box->failed_stage, sizeof(box->failed_stage), "%s", m.stage);
	snprintf(box->failed_message, sizeof(box->failed_message), "%s",
		 m.message);
	box->failed_errno = m.sys_errno;
}

static int take_ready(ih_box *box, ab_reader *r, const int *fds, size_t count)
{
	ab_msg_ready m;

	if (ab_msg_get_ready(r, &m) || (count != 1 && count != 3))
		return -EPROTO;
	box->walls = m.walls;
	box->pid_one = m.pid_one;
	box->launcher = m.launcher;
	box->landlock_abi = m.landlock_abi;
	snprintf(box->notes, sizeof(box->notes), "%s", m.notes);
	box->spawn = fds[0];
	if (count == 3) {
		box->mountinfo = fds[1];
		box->inotify = fds[2];
	}
	return 0;
}

static int receive(int fd, void *p, size_t n, int *fds, size_t max,
		   size_t *count)
{
	int r = ab_fd_poll(fd, POLLIN, TIMEOUT_MS);

	if (r <= 0)
		return r ? r : -ETIMEDOUT;
	return (int)ab_message_recv(fd, p, n, fds, max, count, 0);
}

/* rest_fd: of the whole plan, -1: there was no head before it. */
static int greet(ih_box *box, int rest_fd)
{
	uint8_t message[4096];
	ab_reader r;
	int fds[3] = {-1, -1, -1};
	size_t count = 0;
	uint32_t kind;
	int n = receive(box->control, message, sizeof(message), fds, 1, &count);

	if (n <= 0)
		return n ? n : -EPIPE;
	ab_reader_init(&r, message, (size_t)n);
	if (ab_get_u32(&r) != AB_MSG_HELLO || count != 1)
		return -EPROTO;
	box->pidfd = fds[0];
	if (rest_fd >= 0) {
		const uint32_t plan[2] = {AB_MSG_PLAN, 1};

		n = ab_message_send(box->control, plan, sizeof(plan), &rest_fd,
				    1, 0);
		/* it has ended and said why */
		if (n && n != -EPIPE && n != -ECONNRESET)
			return n;
	}
	do {
		n = receive(box->control, message, sizeof(message), fds, 3,
			    &count);
		if (n <= 0)
			return n ? n : -EPIPE;
		ab_reader_init(&r, message, (size_t)n);
		kind = ab_get_u32(&r);
	} while (kind == AB_MSG_EVENT && count == 0);
	switch (kind) {
	case AB_MSG_READY:
		(void)ab_get_u32(&r);
		return take_ready(box, &r, fds, count);
	case AB_MSG_FAILED:
		(void)ab_get_u32(&r);
		take_failure(box, &r);
		return -ECANCELED;
	default:
		return -EPROTO;
	}
}

static int raise_parts(ih_box *box, const char *helper, const void *p, size_t n,
		       bool sealed, int rest_fd)
{
	int plan_fd = sealed ? ab_fd_memfd_sealed("plan", p, n)
			     : memfd_create("plan", MFD_CLOEXEC);
	int r;

	memset(box, 0, sizeof(*box));
	box->control = box->pidfd = box->spawn = -1;
	box->mountinfo = box->inotify = -1;
	if (plan_fd < 0)
		return plan_fd;
	if (!sealed && ab_fd_write_full(plan_fd, p, n))
		return -EIO;
	r = start(box, helper, plan_fd, false);
	close(plan_fd);
	if (r)
		return r;
	r = greet(box, rest_fd);
	if (r) {
		char stage[256], message[600];
		int saved = box->failed_errno;

		memcpy(stage, box->failed_stage, sizeof(stage));
		memcpy(message, box->failed_message, sizeof(message));
		ih_end(box);
		memcpy(box->failed_stage, stage, sizeof(stage));
		memcpy(box->failed_message, message, sizeof(message));
		box->failed_errno = saved;
	}
	return r;
}

int ih_raise_bytes(ih_box *box, const char *helper, const void *p, size_t n,
		   bool sealed)
{
	return raise_parts(box, helper, p, n, sealed, -1);
}

int ih_raise_two(ih_box *box, const char *helper, const ab_plan *head,
		 int rest_fd)
{
	ab_writer w;
	int r;

	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	r = ab_plan_encode(head, &w);
	if (r == 0)
		r = raise_parts(box, helper, w.data, w.len, true, rest_fd);
	ab_writer_end(&w);
	return r;
}

int ih_raise(ih_box *box, const char *helper, const ab_plan *plan)
{
	ab_writer w;
	int r;

	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	r = ab_plan_encode(plan, &w);
	if (r == 0)
		r = ih_raise_bytes(box, helper, w.data, w.len, true);
	ab_writer_end(&w);
	return r;
}

int ih_raise_deaf(const char *helper, const ab_plan *plan)
{
	ih_box box = {.control = -1};
	ab_writer w;
	int plan_fd, r;

	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	r = ab_plan_encode(plan, &w);
	plan_fd = r ? r : ab_fd_memfd_sealed("plan", w.data, w.len);
	ab_writer_end(&w);
	if (plan_fd < 0)
		return plan_fd;
	r = start(&box, helper, plan_fd, true);
	close(plan_fd);
	if (r)
		return r;
	waitpid(box.pid, NULL, 0);
	close(box.control);
	return 0;
}

void ih_needs_namespaces(const char *helper)
{
	static const char *const walls[] = {"userns", "mountns"};
	static ih_plan plan;
	static ih_box box;
	char why[128];

	ih_plan_init(&plan);
	if (ih_raise(&box, helper, &plan.p) == -ECANCELED)
		for (size_t i = 0; i < AB_ARRAY_LEN(walls); i++) {
			if (strcmp(box.failed_stage, walls[i]))
				continue;
			snprintf(why, sizeof(why), "%s is refused here",
				 walls[i]);
			ab_test_skip_all(why);
		}
	ih_end(&box);
}

bool ih_end(ih_box *box)
{
	bool ended = false;
	int *fds[] = {&box->control, &box->spawn, &box->mountinfo,
		      &box->inotify};

	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	if (box->pidfd >= 0)
		ended = ab_fd_poll(box->pidfd, POLLIN, 20000) > 0;
	if (!ended && box->pidfd >= 0)
		kill(box->pid, SIGKILL);
	if (box->pid > 0)
		waitpid(box->pid, NULL, 0);
	if (box->pidfd >= 0)
		close(box->pidfd);
	box->pidfd = -1;
	box->pid = 0;
	return ended;
}

static uint32_t count_strings(const char *const *list)
{
	uint32_t n = 0;

	while (list[n])
		n++;
	return n;
}

static int send_spawn(ih_box *box, const ih_command *c, int channel)
{
	int fds[40];
	size_t n = 0;
	ab_msg_spawn m = {.flags = c->flags,
			  .rows = c->rows,
			  .cols = c->cols,
			  .wall_ms = c->wall_ms,
			  .cwd = c->cwd ? c->cwd : "/",
			  .targets = c->targets,
			  .target_count = (uint32_t)c->fd_count,
			  .argv = c->argv,
			  .argc = count_strings(c->argv),
			  .envp = c->envp ? c->envp : default_env};
	ab_writer w;
	int big = -1, r;

	m.envc = count_strings(m.envp);
	ab_writer_init(&w, AB_MAX_ARGV_BYTES + AB_MAX_MESSAGE);
	fds[n++] = channel;
	if (c->big) {
		ab_msg_put_spawn(&w, &m);
		big = ab_fd_memfd_sealed("spawn", w.data, w.len);
		w.len = 0;
		fds[n++] = big;
	}
	ab_put_u32(&w, c->big ? AB_MSG_SPAWN_BIG : AB_MSG_SPAWN);
	ab_put_u32(&w, (uint32_t)(n + c->fd_count));
	if (!c->big)
		ab_msg_put_spawn(&w, &m);
	for (size_t i = 0; i < c->fd_count; i++)
		fds[n++] = c->fds[i];
	r = w.bad ? -EMSGSIZE
		  : ab_message_send(box->spawn, w.data, w.len, fds, n, 0);
	if (big >= 0)
		close(big);
	ab_writer_end(&w);
	return r;
}

int ih_spawn(ih_box *box, const ih_command *command)
{
	int pair[2];
	int r = ab_fd_seqpacket_pair(pair);

	if (r)
		return r;
	r = send_spawn(box, command, pair[1]);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	return pair[0];
}

int ih_started(ih_box *box, int channel, int *pty)
{
	uint8_t message[2048];
	ab_reader r;
	size_t count = 0;
	int fd = -1;
	int n = receive(channel, message, sizeof(message), &fd, 1, &count);
	uint32_t kind;

	if (n <= 0)
		return n ? n : -EPIPE;
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if (kind == AB_MSG_NOT_STARTED) {
		take_failure(box, &r);
		return -ECANCELED;
	}
	if (kind != AB_MSG_STARTED)
		return -EPROTO;
	if (pty)
		*pty = fd;
	else if (fd >= 0)
		close(fd);
	return (int)ab_get_u32(&r);
}

int ih_exited(int channel, ab_msg_exited *m)
{
	uint8_t message[256];
	ab_reader r;
	size_t count = 0;
	int n = receive(channel, message, sizeof(message), NULL, 0, &count);

	if (n <= 0)
		return n ? n : -EPIPE;
	ab_reader_init(&r, message, (size_t)n);
	if (ab_get_u32(&r) != AB_MSG_EXITED)
		return -EPROTO;
	(void)ab_get_u32(&r);
	return ab_msg_get_exited(&r, m);
}

int ih_signal(int channel, int signum, bool group)
{
	ab_msg_signal m = {.signum = signum, .group = group};
	uint8_t memory[32];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_signal(&w, &m);
	return ab_message_send(channel, w.data, w.len, NULL, 0, 0);
}

int ih_shell(ih_box *box, const char *script, char *out, size_t size)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	uint32_t targets[] = {1, 2};
	int pipe_fds[2], channel, r;
	size_t used = 0;
	ab_msg_exited m;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	channel = ih_spawn(box, &(ih_command){.argv = argv,
					      .fds = (int[]){pipe_fds[1],
							     pipe_fds[1]},
					      .targets = targets,
					      .fd_count = 2});
	close(pipe_fds[1]);
	r = channel < 0 ? channel : ih_started(box, channel, NULL);
	while (r > 0 && used + 1 < size &&
	       ab_fd_poll(pipe_fds[0], POLLIN, TIMEOUT_MS) > 0) {
		ssize_t n = read(pipe_fds[0], out + used, size - 1 - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (size)
		out[used] = '\0';
	close(pipe_fds[0]);
	if (r > 0)
		r = ih_exited(channel, &m);
	if (channel >= 0)
		close(channel);
	return r ? r : m.status;
}

static void take_event(ih_box *box, ab_reader *r)
{
	size_t used = strlen(box->events);
	ab_msg_event m;

	if (ab_msg_get_event(r, &m) || box->event_count == 64)
		return;
	box->event_kinds[box->event_count++] = m.kind;
	snprintf(box->events + used, sizeof(box->events) - used, "%u %s %s\n",
		 m.kind, m.object, m.detail);
}

bool ih_saw_event(const ih_box *box, uint32_t kind, const char *object)
{
	char line[512];

	snprintf(line, sizeof(line), "%u %s ", kind, object);
	return strstr(box->events, line) != NULL;
}

/* One message of the control socket; its kind, 0 at the end, or -errno. */
static int take_control(ih_box *box, ab_msg_reply *reply, int *fd)
{
	uint8_t message[16384];
	ab_reader r;
	size_t count = 0;
	int n = receive(box->control, message, sizeof(message), fd, fd != NULL,
			&count);
	uint32_t kind;

	if (n <= 0)
		return n;
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if (kind == AB_MSG_EVENT)
		take_event(box, &r);
	else if (kind != AB_MSG_REPLY || !reply || ab_msg_get_reply(&r, reply))
		return -EPROTO;
	return (int)kind;
}

bool ih_wait_event(ih_box *box, uint32_t kind, int timeout_ms)
{
	size_t seen = 0;

	for (;;) {
		for (; seen < box->event_count; seen++) {
			if (box->event_kinds[seen] == kind)
				return true;
		}
		if (ab_fd_poll(box->control, POLLIN, timeout_ms) <= 0 ||
		    take_control(box, NULL, NULL) <= 0)
			return false;
	}
}

int ih_request(ih_box *box, uint32_t kind, uint32_t arg, int fd,
	       ab_msg_reply *reply, int *reply_fd)
{
	ab_msg_request m = {
		.kind = kind, .serial = ++box->serial, .arg = arg};
	uint8_t memory[32];
	ab_writer w;
	int r;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_request(&w, fd >= 0, &m);
	r = ab_message_send(box->control, w.data, w.len, &fd, fd >= 0, 0);
	while (r == 0) {
		int k = take_control(box, reply, reply_fd);

		if (k == AB_MSG_REPLY)
			return reply->serial == m.serial ? 0 : -EPROTO;
		if (k <= 0)
			r = k ? k : -EPIPE;
	}
	return r;
}
