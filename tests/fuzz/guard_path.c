/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write guard on any path, from any of three guards, in a tree with links
 * of every kind. The first byte chooses the guard, the second the action. A
 * path that may be read is opened too, and what was opened must lie in the
 * tree: its name in /proc begins with the root's.
 */
#include "config.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char top[64];
static char root[4096];
static agentbox_guard *guards[3];
static agentbox_decision *decision;

static void need(int rc)
{
	if (rc < 0) {
		perror("guard_path: set-up");
		exit(1);
	}
}

static void remove_top(void)
{
	static const char *const files[] = {
		"team/agents/alice/a", "team/agents/alice/out",
		"team/agents/alice/up", "team/agents/alice/loop",
		"team/agents/alice/s", "team/agents/alice/p",
		"team/shared/back", "team/protected/k", "secret",
	};
	static const char *const dirs[] = { "team/agents/alice", "team/agents",
					    "team/shared", "team/protected",
					    "team" };
	char path[256];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, files[i]);
		unlink(path);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, dirs[i]);
		rmdir(path);
	}
	rmdir(top);
	for (int i = 0; i < 3; i++)
		agentbox_guard_unref(guards[i]);
	agentbox_decision_free(decision);
}

static void file(int dir, const char *path)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	need(fd);
	close(fd);
}

static int make_tree(void)
{
	int dir;

	snprintf(top, sizeof(top), "/var/tmp/agentbox-fuzz.XXXXXX");
	need(mkdtemp(top) ? 0 : -1);
	dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(dir);
	need(mkdirat(dir, "team", 0700));
	need(mkdirat(dir, "team/agents", 0700));
	need(mkdirat(dir, "team/agents/alice", 0700));
	need(mkdirat(dir, "team/shared", 0700));
	need(mkdirat(dir, "team/protected", 0700));
	file(dir, "secret");
	file(dir, "team/protected/k");
	file(dir, "team/agents/alice/a");
	need(symlinkat("../../../secret", dir, "team/agents/alice/out"));
	need(symlinkat("..", dir, "team/agents/alice/up"));
	need(symlinkat("loop/x", dir, "team/agents/alice/loop"));
	need(symlinkat("../../shared", dir, "team/agents/alice/s"));
	need(symlinkat("/proc/self/root", dir, "team/agents/alice/p"));
	need(symlinkat("../agents/alice", dir, "team/shared/back"));
	return dir;
}

static void make_guards(void)
{
	static const char *const roles[] = {
		"{}", "{\"role\":{\"kind\":\"manager\"}}",
		"{\"role\":{\"kind\":\"engineer\",\"agent\":\"alice\"}}",
	};
	agentbox_context *context = NULL;
	agentbox_policy *base = NULL;
	int dir = make_tree();
	int fd = openat(dir, "team", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	need(fd);
	snprintf(root, sizeof(root), "%s/team", top);
	need(agentbox_context_new(&context, NULL));
	need(agentbox_policy_builtin(context, "workspace", &base, NULL));
	for (int i = 0; i < 3; i++) {
		agentbox_policy *p = NULL;

		need(agentbox_policy_merge(base, roles[i], strlen(roles[i]),
					   &p, NULL));
		need(agentbox_guard_new(p, fd, &guards[i], NULL));
		agentbox_policy_unref(p);
	}
	agentbox_policy_unref(base);
	agentbox_context_unref(context);
	close(fd);
	close(dir);
	atexit(remove_top);
}

static void check_inside(int fd)
{
	char link[32];
	char name[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	if (n < 0)
		return;
	name[n] = '\0';
	if (strncmp(name, root, strlen(root)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	agentbox_guard *guard;
	int32_t action;
	int32_t fd = -1;

	if (!guards[0])
		make_guards();
	if (size < 2)
		return 0;
	guard = guards[data[0] % 3];
	action = 1 + data[1] % AGENTBOX_ACTION_BIND;
	if (agentbox_guard_check_path(guard, action, -1,
				      (const char *)data + 2, size - 2,
				      &decision, NULL) < 0)
		return 0;
	if (agentbox_guard_open(guard, AGENTBOX_OPEN_READ, 0, -1,
				(const char *)data + 2, size - 2, &fd, NULL,
				NULL) == 0) {
		check_inside(fd);
		close(fd);
	}
	return 0;
}
