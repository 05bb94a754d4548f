/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the rows of tests/data/git.jsonl allow, a real git does, in a
 * repository with a branch, a tag, a note, a stash, a remote, and work that
 * is not committed. None of it may change a ref other than by adding commits
 * to the branch that is checked out, nor configuration, hooks or worktrees,
 * nor make anything outside.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

#define WORDS 32
/* So many rows are run before the repository is looked at. */
#define BATCH 16

static char top[1024], repo[1100];

static char *shell(const char *command)
{
	static char output[65536];
	char line[4096];
	size_t n;
	FILE *f;

	snprintf(line, sizeof(line), "cd '%s/repo' && { %s; } 2>&1", top,
		 command);
	f = popen(line, "r");
	ck_assert(f != NULL);
	n = fread(output, 1, sizeof(output) - 1, f);
	output[n] = '\0';
	pclose(f);
	return output;
}

static void make_repository(void)
{
	char line[4096];

	snprintf(top, sizeof(top), "%s/real", ab_test_tmpdir());
	snprintf(repo, sizeof(repo), "%s/repo", top);
	snprintf(line, sizeof(line),
		 "rm -rf '%s' && mkdir -p '%s/repo' '%s/home'", top, top, top);
	ck_assert_int_eq(system(line), 0);
	shell("git init -q . && git symbolic-ref HEAD refs/heads/main && "
	      "git config user.name a && git config user.email a@b && "
	      "mkdir src sub && for f in a b a.c b.c f p.diff src/main.rs "
	      "src/a.c sub/y; do echo $f >$f; done && git add -A && "
	      "git commit -q -m one && echo 2 >>a && git commit -q -a -m two "
	      "&& echo 3 >>b && git commit -q -a -m three && "
	      "git branch other HEAD~1 && git tag v1 HEAD~2 && "
	      "git notes add -m n && echo s >>f && git stash -q && "
	      "git remote add origin /nowhere && echo m >>a.c && "
	      "echo new >new && echo m >msg && echo w >>b.c && git add b.c");
	ck_assert_str_eq(shell("git rev-list --count main; git stash list | "
			       "wc -l; git tag"),
			 "3\n1\nv1\n");
}

/* All that must not change, as text. */
static char *state(void)
{
	return shell("git for-each-ref | grep -v refs/heads/main$; "
		     "git symbolic-ref HEAD; git stash list; "
		     "git worktree list | wc -l; cat .git/config; "
		     "ls .git/hooks .. ../home; cat new; "
		     "git merge-base --is-ancestor $(cat ../start) main; "
		     "echo $?");
}

static void set_env(const json_t *env)
{
	const json_t *text;
	char home[1100];
	size_t i;

	snprintf(home, sizeof(home), "%s/home", top);
	setenv("HOME", home, 1);
	setenv("GIT_PAGER", "cat", 1);
	setenv("GIT_EDITOR", "true", 1);
	setenv("LC_ALL", "C", 1);
	json_array_foreach(env, i, text) {
		char name[128];
		const char *s = json_string_value(text);
		const char *equal = strchr(s, '=');

		snprintf(name, sizeof(name), "%.*s", (int)(equal - s), s);
		setenv(name, equal + 1, 1);
	}
}

/* The rows speak of a worktree /srv/repo. */
static char *translate(const char *word)
{
	char *out = malloc(strlen(word) + sizeof(repo));

	ck_assert(out != NULL);
	if (strncmp(word, "/srv/repo", 9) == 0)
		sprintf(out, "%s%s", repo, word + 9);
	else
		strcpy(out, word);
	return out;
}

static void run(const json_t *row)
{
	char *argv[WORDS] = {NULL};
	const json_t *word;
	size_t i;
	int status;
	pid_t pid;

	json_array_foreach(json_object_get(row, "run"), i, word)
		argv[i < WORDS - 1 ? i : WORDS - 2] =
			translate(json_string_value(word));
	pid = fork();
	ck_assert(pid >= 0);
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || chdir(repo) < 0)
			_exit(125);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		set_env(json_object_get(row, "env"));
		alarm(20);
		execvp(argv[0], argv);
		_exit(errno == ENOENT ? 127 : 126);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != 125, "%s",
		      json_string_value(json_object_get(row, "id")));
	for (i = 0; argv[i]; i++)
		free(argv[i]);
}

static bool is_wanted(const json_t *row, const char *line)
{
	const char *expect =
		json_string_value(json_object_get(row, "expect"));
	const char *program = json_string_value(
		json_array_get(json_object_get(row, "run"), 0));

	return strcmp(expect, "allow") == 0 && strcmp(program, "git") == 0 &&
	       !strstr(line, "{{") && !json_object_get(row, "cwd") &&
	       !json_object_get(row, "git_dir");
}

static void compare(const char *before, const char *line)
{
	const char *after = state();

	ck_assert_msg(strcmp(before, after) == 0,
		      "one of %d rows up to %s\nbefore:\n%s\nafter:\n%s", BATCH,
		      line, before, after);
}

START_TEST(what_is_allowed_changes_nothing_but_the_work)
{
	char path[4096];
	char *line = NULL;
	char *before;
	size_t room = 0;
	unsigned rows = 0;
	FILE *f;

	make_repository();
	shell("git rev-parse main >../start; : >../state");
	before = strdup(state());
	snprintf(path, sizeof(path), "%s/tests/data/git.jsonl",
		 ab_test_srcdir());
	f = fopen(path, "r");
	ck_assert(before && f);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);

		if (is_wanted(row, line)) {
			run(row);
			if (++rows % BATCH == 0)
				compare(before, line);
		}
		json_decref(row);
	}
	fclose(f);
	compare(before, "the end");
	ck_assert_uint_ge(rows, 400);
	/* the rows did something */
	ck_assert_int_gt(atoi(shell("git rev-list --count main")), 3);
	free(line);
	free(before);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_git_real");
	TCase *t = tcase_create("real");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_test(t, what_is_allowed_changes_nothing_but_the_work);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
