/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hardened environment against a real git in a repository that wants to
 * run things. Every way has a marker, a file that its program makes. Without
 * the environment the marker is there, with it it is not; and for what the
 * environment cannot switch off, as its comment says, it is.
 */
#include "config.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abtest.h"
#include "guard/git.h"

static char top[1024];

__attribute__((format(printf, 1, 2))) static int shell(const char *fmt, ...)
{
	static char command[65536];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

/* "git ..." in the repository, in an environment of its own. */
static int git(bool is_hardened, const char *arguments)
{
	static char env[16384];
	size_t len = 0;

	env[0] = '\0';
	for (size_t i = 0; is_hardened && ab_git_environment(i); i++)
		len += (size_t)snprintf(env + len, sizeof(env) - len, " '%s'",
					ab_git_environment(i));
	return shell("cd '%s/repo' && env -i PATH=\"$PATH\" HOME='%s/home' "
		     "LC_ALL=C GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
		     "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b "
		     "GIT_TERMINAL_PROMPT=0%s git %s >>'%s/out' 2>&1 <'%s/in'",
		     top, top, env, arguments, top, top);
}

static bool ran(const char *name)
{
	char path[1200];

	snprintf(path, sizeof(path), "%s/ran-%s", top, name);
	return unlink(path) == 0;
}

static void configure(const char *key, const char *before, const char *name)
{
	ck_assert_int_eq(shell("git -C '%s/repo' config '%s' '%s%s/evil %s'",
			       top, key, before, top, name),
			 0);
}

static void make_programs(void)
{
	ck_assert_int_eq(shell("printf '#!/bin/sh\\n: >%s/ran-\"$1\"\\n' "
			       ">'%s/evil' && chmod +x '%s/evil'",
			       top, top, top),
			 0);
}

static void make_repository(void)
{
	ck_assert_int_eq(
		shell("mkdir '%s/home' && : >'%s/in' && "
		      "git init -q '%s/repo' && "
		      "git init -q --bare '%s/bare' && cd '%s/repo' && "
		      "echo 1 >f && git add f && "
		      "git -c user.name=a -c user.email=a@b commit -q -m x && "
		      "echo 2 >f",
		      top, top, top, top, top),
		0);
	/* a hook for everything a commit does */
	ck_assert_int_eq(
		shell("mkdir -p '%s/repo/.git/hooks' && cd "
		      "'%s/repo/.git/hooks' && for h in pre-commit "
		      "commit-msg post-commit post-index-change "
		      "reference-transaction prepare-commit-msg; do "
		      "printf '#!/bin/sh\\n%s/evil hook\\n' >$h && "
		      "chmod +x $h || exit 1; done",
		      top, top, top),
		0);
}

static void setup(void)
{
	snprintf(top, sizeof(top), "%s/hostile", ab_test_tmpdir());
	ck_assert_int_eq(shell("rm -rf '%s' && mkdir '%s'", top, top), 0);
	make_programs();
	make_repository();
	configure("core.fsmonitor", "", "fsmonitor");
	configure("core.sshCommand", "", "ssh");
	configure("core.askPass", "", "askpass");
	configure("core.pager", "", "pager");
	configure("core.editor", "", "editor");
	configure("credential.helper", "!", "credential");
	configure("diff.external", "", "external");
	configure("alias.st", "!", "alias");
	configure("interactive.diffFilter", "", "diff-filter");
	configure("tar.tar.gz.command", "", "targz");
	configure("tar.tgz.command", "", "tgz");
	/* the first argument that git gives it is no name */
	ck_assert_int_eq(shell("cd '%s/repo' && git config gpg.program "
			       "'%s/gpg' && printf '#!/bin/sh\\n%s/evil "
			       "gpg\\nexit 1\\n' >'%s/gpg' && chmod +x '%s/gpg'",
			       top, top, top, top, top),
			 0);
	ck_assert_int_eq(shell("git -C '%s/repo' config commit.gpgSign true && "
			       "git -C '%s/repo' config protocol.ext.allow "
			       "always",
			       top, top),
			 0);
}

static void teardown(void)
{
	shell("rm -rf '%s'", top);
}

/* A command, and the marker that it leaves in a plain environment. */
static const struct {
	const char *arguments, *marker;
} ways[] = {
	{"status", "fsmonitor"},
	{"diff --stat --no-ext-diff", "fsmonitor"},
	{"add f", "fsmonitor"},
	{"-c commit.gpgSign=false commit --allow-empty -m x", "hook"},
	{"commit --allow-empty -m x", "gpg"},
	{"-c commit.gpgSign=false commit --allow-empty", "editor"},
	{"fetch ssh://localhost/x", "ssh"},
	{"archive -o x.tar.gz HEAD", "targz"},
	{"archive --format=tgz HEAD", "tgz"},
	{"-c protocol.version=0 fetch 'ext::../evil ext'", "ext"},
};

START_TEST(what_runs_without_it_does_not_run_with_it)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		git(true, ways[i].arguments);
		ck_assert_msg(!ran(ways[i].marker), "git %s runs %s",
			      ways[i].arguments, ways[i].marker);
		/* nothing else either */
		ck_assert_int_ne(shell("ls '%s'/ran-* 2>/dev/null", top), 0);
		git(false, ways[i].arguments);
		ck_assert_msg(ran(ways[i].marker),
			      "git %s does not run %s: the test is blind",
			      ways[i].arguments, ways[i].marker);
		shell("rm -f '%s'/ran-*", top);
	}
}
END_TEST

START_TEST(credential_helpers_and_prompts_are_off)
{
	ck_assert_int_eq(shell("printf 'protocol=https\\nhost=x\\n\\n' "
			       ">'%s/in'",
			       top),
			 0);
	git(true, "credential fill");
	ck_assert(!ran("credential") && !ran("askpass"));
	git(false, "credential fill");
	ck_assert(ran("credential"));
}
END_TEST

START_TEST(pager_and_editor_are_harmless)
{
	ck_assert_int_eq(shell("rm -f '%s/out'", top), 0);
	ck_assert_int_eq(git(true, "var GIT_PAGER"), 0);
	ck_assert_int_eq(git(true, "var GIT_EDITOR"), 0);
	/* which add -p runs on a terminal only */
	ck_assert_int_eq(git(true, "config --get interactive.diffFilter"), 0);
	ck_assert_int_eq(shell("printf 'cat\\nfalse\\ncat\\n' | "
			       "cmp -s - '%s/out'",
			       top),
			 0);
}
END_TEST

START_TEST(a_bare_repository_in_the_way_is_not_used)
{
	ck_assert_int_eq(git(false, "-C ../bare rev-parse"), 0);
	ck_assert_int_ne(git(true, "-C ../bare rev-parse"), 0);
	ck_assert_int_eq(git(true, "--git-dir=../bare rev-parse"), 0);
}
END_TEST

START_TEST(configuration_of_the_user_is_left_aside)
{
	ck_assert_int_eq(shell("printf '[core]\\n\\tfsmonitor = %s/evil "
			       "global\\n' >'%s/home/.gitconfig' && "
			       "git -C '%s/repo' config --unset core.fsmonitor",
			       top, top, top),
			 0);
	git(false, "status");
	ck_assert(ran("global"));
	git(true, "status");
	ck_assert(!ran("global"));
}
END_TEST

START_TEST(work_goes_on_in_it)
{
	ck_assert_int_eq(git(true, "status --porcelain"), 0);
	ck_assert_int_eq(git(true, "add -A"), 0);
	ck_assert_int_eq(git(true, "commit -m x"), 0);
	ck_assert_int_eq(git(true, "log -p --no-ext-diff --no-textconv"), 0);
	ck_assert_int_eq(git(true, "diff --no-ext-diff HEAD~1"), 0);
	ck_assert_int_eq(git(true, "fsck"), 0);
}
END_TEST

/* The comment in git_hardened.c and guard(3) say so: keep them true. */
START_TEST(what_it_cannot_switch_off_still_runs)
{
	git(true, "diff");
	ck_assert(ran("external"));
	git(true, "diff --no-ext-diff");
	ck_assert(!ran("external"));
	git(true, "st");
	ck_assert(ran("alias"));
	configure("filter.x.clean", "", "filter");
	configure("diff.x.textconv", "", "textconv");
	ck_assert_int_eq(shell("cd '%s/repo' && echo '* filter=x diff=x' "
			       ">.gitattributes && echo 3 >f",
			       top),
			 0);
	configure("tar.x.command", "", "tar");
	configure("trailer.x.command", "", "trailer");
	git(true, "add f");
	ck_assert(ran("filter"));
	git(true, "archive --format=x HEAD");
	ck_assert(ran("tar"));
	git(true, "interpret-trailers --trailer x=y");
	ck_assert(ran("trailer"));
	git(true, "log -p");
	ck_assert(ran("textconv"));
	git(true, "log -p --no-textconv");
	ck_assert(!ran("textconv"));
}
END_TEST

START_TEST(the_arguments_say_the_same)
{
	size_t count = 0;

	for (size_t i = 0; ab_git_arguments(i); i++, count++) {
		const char *text = ab_git_arguments(i);

		ck_assert(i % 2 ? strchr(text, '=') != NULL
				: strcmp(text, "-c") == 0);
	}
	for (size_t i = 0; ab_git_environment(i); i++) {
		const char *text = ab_git_environment(i);

		ck_assert_ptr_nonnull(strchr(text, '='));
		if (strncmp(text, "GIT_CONFIG_COUNT=", 17) == 0)
			ck_assert_uint_eq(strtoul(text + 17, NULL, 10) * 2,
					  count);
	}
	ck_assert_ptr_null(ab_git_arguments(count + 5));
	ck_assert_ptr_null(ab_git_environment(1000));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_git_hostile");
	TCase *t = tcase_create("hostile");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_runs_without_it_does_not_run_with_it);
	tcase_add_test(t, credential_helpers_and_prompts_are_off);
	tcase_add_test(t, pager_and_editor_are_harmless);
	tcase_add_test(t, a_bare_repository_in_the_way_is_not_used);
	tcase_add_test(t, configuration_of_the_user_is_left_aside);
	tcase_add_test(t, work_goes_on_in_it);
	tcase_add_test(t, what_it_cannot_switch_off_still_runs);
	tcase_add_test(t, the_arguments_say_the_same);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
