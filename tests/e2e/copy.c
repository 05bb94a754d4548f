/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver of agentbox-copy for tests. Spec: copy.h. */
#include "config.h"

#include "copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/fd.h"
#include "build-id.h"
#include "wire/message.h"

#include "abtest.h"
#include "box.h"
#include "host.h"

void copy_init(copy_task *task, uint32_t job)
{
	memset(task, 0, sizeof(*task));
	task->plan = (ab_copy_plan){
		.build_id = AB_BUILD_ID,
		.job = job,
		.source_uid = UINT32_MAX,
		.source_gid = UINT32_MAX,
		.output_uid = UINT32_MAX,
		.output_gid = UINT32_MAX,
		.max_bytes = UINT64_C(1) << 34,
		.max_files = 2000000,
		.max_file_bytes = 50u << 20,
		.deadline_ms = 60000,
		.max_depth = 128,
		.content_level = AB_CONTENT_STRICT,
		.dest_name = "snap",
		.record_name = ".snap.agentbox",
		.source_name = "a tree",
	};
	switch ((enum ab_copy_job)job) {
	case AB_COPY_EXPLAIN:
		task->plan.fds = AB_COPY_FD_SOURCE;
		break;
	case AB_COPY_VERIFY:
		task->plan.fds = AB_COPY_FD_DEST | AB_COPY_FD_RECORD;
		break;
	case AB_COPY_SCRUB:
		task->plan.fds = AB_COPY_FD_DEST | AB_COPY_FD_STAGING |
				 AB_COPY_FD_RECORD;
		break;
	case AB_COPY_MAKE:
	case AB_COPY_PACK:
	case AB_COPY_UNPACK:
		task->plan.fds = AB_COPY_FD_SOURCE | AB_COPY_FD_DEST |
				 AB_COPY_FD_STAGING | AB_COPY_FD_RECORD;
		break;
	}
	task->filter.profile = AB_FILTER_STRICT;
	task->source = host_path("ws");
	task->dest = host_path("out");
	host_mkdir(task->dest);
}

agentbox_context *copy_context(void)
{
	static agentbox_context *context;
	agentbox_error *err = NULL;

	if (context)
		return context;
	REQUIRE(agentbox_context_new(&context, &err) == 0 &&
			agentbox_context_set_helper_dir(
				context, ab_test_helper_dir(), &err) == 0,
		"%s", agentbox_error_get_message(err));
	return context;
}

static int make_plan(const copy_task *task)
{
	ab_writer filter, w;
	ab_copy_plan plan = task->plan;
	int fd;

	ab_writer_init(&filter, 1u << 20);
	ab_filter_put(&filter, &task->filter);
	plan.filter = filter.data;
	plan.filter_len = filter.len;
	ab_writer_init(&w, 2u << 20);
	ab_copy_plan_put(&w, &plan);
	REQUIRE(!w.bad && !filter.bad, "the plan cannot be written");
	fd = ab_fd_memfd_sealed("plan", w.data, w.len);
	ab_writer_end(&w);
	ab_writer_end(&filter);
	REQUIRE(fd >= 0, "memfd: %d", fd);
	return fd;
}

static void send_go(const copy_task *task, int control)
{
	const char *const places[] = {
		task->source, task->dest,
		task->staging ? task->staging : task->dest,
		task->record ? task->record : task->dest
	};
	uint32_t head[2] = { AB_MSG_COPY_GO, 0 };
	int fds[4];

	for (uint32_t i = 0; i < 4; i++) {
		if (!(task->plan.fds & 1u << i))
			continue;
		fds[head[1]] = open(places[i], O_RDONLY | O_DIRECTORY |
						       O_CLOEXEC);
		REQUIRE(fds[head[1]] >= 0, "%s: %s", places[i],
			strerror(errno));
		head[1]++;
	}
	REQUIRE(ab_message_send(control, head, sizeof(head), fds, head[1],
				0) == 0, "cannot send the directories");
	for (uint32_t i = 0; i < head[1]; i++)
		close(fds[i]);
}

copy_run copy_start(const copy_task *task)
{
	copy_run run = { .context = copy_context() };
	agentbox_error *err = NULL;
	int plan = make_plan(task);
	int32_t rc = ab_helper_start(run.context, "agentbox-copy", plan, 10000,
				     &run.helper, &err);

	close(plan);
	REQUIRE(rc == 0, "%s", agentbox_error_get_message(err));
	send_go(task, run.helper.control_fd);
	return run;
}

void copy_say(copy_run *run, uint32_t kind)
{
	uint32_t head[2] = { kind, 0 };

	(void)ab_message_send(run->helper.control_fd, head, sizeof(head), NULL,
			      0, 0);
}

static void take_done(ab_reader *r, copy_end *end)
{
	REQUIRE(ab_copy_done_get(r, &end->done) == 0, "DONE is malformed");
	snprintf(end->digest, sizeof(end->digest), "%s", end->done.digest);
	end->done.digest = end->digest;
	end->code = 0;
}

static void take_failed(ab_reader *r, copy_end *end)
{
	ab_copy_failed m;

	REQUIRE(ab_copy_failed_get(r, &m) == 0, "FAILED is malformed");
	end->code = m.code;
	end->sys_errno = m.sys_errno;
	snprintf(end->where, sizeof(end->where), "%s", m.where);
	snprintf(end->message, sizeof(end->message), "%s", m.message);
}

static void take_report(int fd, copy_end *end)
{
	struct stat st;

	REQUIRE(fstat(fd, &st) == 0, "report");
	end->report = e2e_keep(calloc(1, (size_t)st.st_size + 1));
	REQUIRE(pread(fd, end->report, (size_t)st.st_size, 0) == st.st_size,
		"report");
	close(fd);
}

uint32_t copy_next(copy_run *run, copy_end *end, int *fd)
{
	for (;;) {
		uint8_t memory[4096];
		int got = -1;
		size_t count = 0;
		ssize_t n = ab_message_recv(run->helper.control_fd, memory,
					    sizeof(memory), &got, 1, &count,
					    0);
		ab_reader r;
		uint32_t kind;

		if (n <= 0)
			return 0;
		ab_reader_init(&r, memory, (size_t)n);
		kind = ab_get_u32(&r);
		(void)ab_get_u32(&r);
		if (kind == AB_MSG_COPY_PROGRESS)
			continue;
		if (kind == AB_MSG_COPY_DONE)
			take_done(&r, end);
		else if (kind == AB_MSG_COPY_FAILED)
			take_failed(&r, end);
		if (kind == AB_MSG_COPY_STAGED && fd)
			*fd = got;
		else if (count)
			take_report(got, end);
		return kind;
	}
}

void copy_wait(copy_run *run, copy_end *end)
{
	static char nothing[1];
	uint32_t kind;

	memset(end, 0, sizeof(*end));
	end->code = AGENTBOX_ECLOSED;
	end->report = nothing;
	do {
		kind = copy_next(run, end, NULL);
	} while (kind && kind != AB_MSG_COPY_DONE &&
		 kind != AB_MSG_COPY_FAILED);
	ab_helper_stop(&run->helper, 5000);
}

copy_end copy_do(const copy_task *task)
{
	copy_run run = copy_start(task);
	copy_end end;

	copy_wait(&run, &end);
	return end;
}

copy_end copy_make(uint32_t flags)
{
	copy_task task;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = flags;
	return copy_do(&task);
}

const char *snap_path(const char *relative)
{
	return host_path("out/snap/%s", relative);
}

bool snap_has(const char *relative)
{
	struct stat st;

	return lstat(snap_path(relative), &st) == 0;
}

const char *left_out_as(const copy_end *end, const char *path)
{
	char *key = e2e_text("{\"path\":\"%s\",", path);
	const char *at = strstr(end->report, key), *reason;
	size_t n;

	if (!at)
		return "";
	reason = strstr(at, "\"reason\":\"");
	if (!reason)
		return "";
	reason += strlen("\"reason\":\"");
	n = strcspn(reason, "\"");
	return e2e_text("%.*s", (int)n, reason);
}

size_t copy_leftovers(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, ".agentbox-", 10) == 0 &&
		    !strstr(e->d_name, ".old"))
			n++;
	}
	if (d)
		closedir(d);
	return n;
}

void copy_nothing_published(void)
{
	CHECK(!snap_has(""), "something was published");
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
	CHECK(!host_exists(host_path("out/.snap.agentbox")), "a record");
}

static void write_map(const char *file, unsigned id)
{
	const char *text = e2e_text("%u %u 1\n", id, id);
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	REQUIRE(fd >= 0 && write(fd, text, strlen(text)) > 0, "%s: %m", file);
	close(fd);
}

void copy_may_mount(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int fd;

	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		e2e_skip("no mount namespaces: %s", strerror(errno));
	if (uid == 0) {
		e2e_mark_again();
		return;
	}
	fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	(void)!write(fd, "deny", 4);
	close(fd);
	write_map("/proc/self/uid_map", uid);
	write_map("/proc/self/gid_map", gid);
	e2e_mark_again();
}
