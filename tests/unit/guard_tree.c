/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "guard_tree.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"

char base[4096], team[4096];
agentbox_context *context;

static agentbox_decision *decision;

const char *at(const char *path)
{
	static char ring[8][8192];
	static int next;
	char *p = ring[next++ % 8];

	snprintf(p, sizeof(ring[0]), "%s/%s", base, path);
	return p;
}

void make_dir(const char *path)
{
	char p[8192];

	snprintf(p, sizeof(p), "%s", at(path));
	for (char *s = p + strlen(base) + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		mkdir(p, 0755);
		*s = '/';
	}
	mkdir(p, 0755);
}

void make_file(const char *path, const char *text)
{
	char parent[8192];
	char *slash;
	int fd;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (slash) {
		*slash = '\0';
		make_dir(parent);
	}
	fd = open(at(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

void make_symlink(const char *text, const char *path)
{
	ck_assert_msg(symlink(text, at(path)) == 0, "%s", path);
}

const char *text_of(const char *path)
{
	static char text[4096];
	int fd = open(at(path), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

bool is_there(const char *path)
{
	struct stat st;

	return lstat(at(path), &st) == 0;
}

void tree_setup(void)
{
	snprintf(base, sizeof(base), "%s/guard-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_ptr_nonnull(realpath(base, team));
	memcpy(base, team, sizeof(base));
	snprintf(team, sizeof(team), "%.4000s/team", base);
	make_file("outside/secret", "secret");
	make_dir("outside/dir");
	make_file("protected/next", "next");
	make_file("wt/repo-T1/src/a.c", "a");
	make_file("wt/repo-T10/x", "x");
	make_file("team/charter.md", "charter");
	make_file("team/workflows/w", "w");
	make_file("team/protected/keys", "keys");
	make_file("team/shared/s", "s");
	make_file("team/agents/alice/a", "a");
	make_file("team/agents/alice/config.yaml", "model: small");
	make_file("team/agents/alice/journal", "j");
	make_file("team/agents/bob/b", "b");
	make_file("team/agents/alice2/x", "x");
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tree_teardown(void)
{
	agentbox_decision_free(decision);
	decision = NULL;
	agentbox_context_unref(context);
	context = NULL;
	nftw(base, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

agentbox_guard *guard_of(const char *builtin, const char *json,
			 const char *dir, int32_t *code)
{
	agentbox_policy *p = NULL;
	agentbox_policy *q = NULL;
	agentbox_guard *g = NULL;
	agentbox_error *err = NULL;
	int fd = dir ? open(at(dir), O_PATH | O_CLOEXEC) : -1;
	int32_t r = agentbox_policy_builtin(context, builtin, &p, &err);

	if (r == 0)
		r = agentbox_policy_merge(p, json, strlen(json), &q, &err);
	if (r == 0)
		r = agentbox_guard_new(q, fd, &g, &err);
	if (r < 0 && !code)
		ck_abort_msg("%s", agentbox_error_get_message(err));
	ck_assert_int_eq(r < 0, err != NULL);
	if (code)
		*code = r;
	if (fd >= 0)
		close(fd);
	agentbox_error_free(err);
	agentbox_policy_unref(p);
	agentbox_policy_unref(q);
	return g;
}

agentbox_guard *engineer(void)
{
	char json[16384];

	snprintf(json, sizeof(json),
		 "{\"role\":{\"team_dir\":\"%s\",\"agent\":\"alice\","
		 "\"worktrees\":[\"%s/wt/repo-T1\"]}}", team, base);
	return guard_of("engineer", json, "team", NULL);
}

agentbox_guard *manager(void)
{
	char json[8192];

	snprintf(json, sizeof(json), "{\"role\":{\"team_dir\":\"%s\"}}", team);
	return guard_of("manager", json, "team", NULL);
}

agentbox_guard *workspace(void)
{
	return guard_of("workspace", "{}", "team", NULL);
}

int32_t ask_n(agentbox_guard *guard, int32_t action, const char *path,
	      size_t n)
{
	agentbox_error *err = NULL;
	int32_t r = agentbox_guard_check_path(guard, action, -1, path, n,
					      &decision, &err);

	ck_assert_msg(r == 0, "%s", agentbox_error_get_message(err));
	if (action == AGENTBOX_ACTION_WRITE)
		ck_assert_int_eq(agentbox_guard_allow_write(guard, path, n),
				 agentbox_decision_get_verdict(decision) ==
					 ALLOW);
	return agentbox_decision_get_verdict(decision);
}

int32_t ask(agentbox_guard *guard, int32_t action, const char *path)
{
	return ask_n(guard, action, path, strlen(path));
}

const char *last_rule(void)
{
	return agentbox_decision_get_rule(decision);
}

const char *last_reason(void)
{
	return agentbox_decision_get_reason(decision);
}
