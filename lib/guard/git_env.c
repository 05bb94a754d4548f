/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Environment variables that make git run a program, or take its files or its
 * configuration from elsewhere. Source: git(1) under ENVIRONMENT VARIABLES,
 * git-config(1), ld.so(8), less(1).
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

enum env_kind {
	ENV_DENY,     /* whatever the value */
	ENV_ASK,
	ENV_INERT,
	ENV_IDENTITY,
	ENV_PAGER,    /* harmless programs may be named */
	ENV_EDITOR,
	ENV_TRACE,    /* numbers and words, no file */
	ENV_LESS,     /* letters only */
	ENV_NULL,     /* asks when it is /dev/null or a switch, else denies */
	ENV_PATH,
	ENV_HOME,
	ENV_CONFIG,   /* .config in it */
	ENV_DIFF_OPTIONS
};

/* A trailing star: every name that begins so. The first that fits counts. */
static const struct {
	const char *name;
	enum env_kind kind;
} names[] = {
	{"GIT_TERMINAL_PROMPT", ENV_INERT},
	{"GIT_OPTIONAL_LOCKS", ENV_INERT},
	{"GIT_ADVICE", ENV_INERT},
	{"GIT_LITERAL_PATHSPECS", ENV_INERT},
	{"GIT_GLOB_PATHSPECS", ENV_INERT},
	{"GIT_NOGLOB_PATHSPECS", ENV_INERT},
	{"GIT_ICASE_PATHSPECS", ENV_INERT},
	{"GIT_NO_REPLACE_OBJECTS", ENV_INERT},
	{"GIT_NO_LAZY_FETCH", ENV_INERT},
	{"GIT_MERGE_VERBOSITY", ENV_INERT},
	{"GIT_PROGRESS_DELAY", ENV_INERT},
	{"GIT_FLUSH", ENV_INERT},
	{"GIT_PAGER_IN_USE", ENV_INERT},
	{"GIT_REFLOG_ACTION", ENV_INERT},
	{"GIT_PRINT_SHA1_ELLIPSIS", ENV_INERT},
	{"GIT_DIFF_OPTS", ENV_DIFF_OPTIONS},
	{"GIT_AUTHOR_*", ENV_IDENTITY},
	{"GIT_COMMITTER_*", ENV_IDENTITY},
	{"EMAIL", ENV_IDENTITY},
	{"GIT_PAGER", ENV_PAGER},
	{"PAGER", ENV_PAGER},
	{"MANPAGER", ENV_PAGER},
	{"GIT_EDITOR", ENV_EDITOR},
	{"GIT_SEQUENCE_EDITOR", ENV_EDITOR},
	{"EDITOR", ENV_EDITOR},
	{"VISUAL", ENV_EDITOR},
	{"GIT_TRACE*", ENV_TRACE},
	{"GIT_CONFIG_NOSYSTEM", ENV_NULL},
	{"GIT_CONFIG_GLOBAL", ENV_NULL},
	{"GIT_CONFIG_SYSTEM", ENV_NULL},
	{"GIT_ATTR_NOSYSTEM", ENV_NULL},
	{"GIT_CEILING_DIRECTORIES", ENV_ASK},
	{"GIT_DIR", ENV_DENY},
	{"GIT_WORK_TREE", ENV_DENY},
	{"GIT_COMMON_DIR", ENV_DENY},
	{"GIT_INDEX_FILE", ENV_DENY},
	{"GIT_OBJECT_DIRECTORY", ENV_DENY},
	{"GIT_ALTERNATE_OBJECT_DIRECTORIES", ENV_DENY},
	{"GIT_NAMESPACE", ENV_DENY},
	{"GIT_EXEC_PATH", ENV_DENY},
	{"GIT_TEMPLATE_DIR", ENV_DENY},
	{"GIT_CONFIG*", ENV_DENY},
	{"GIT_SSH*", ENV_DENY},
	{"GIT_SSL_*", ENV_DENY},
	{"GIT_PROXY_*", ENV_DENY},
	{"GIT_ASKPASS", ENV_DENY},
	{"SSH_ASKPASS", ENV_DENY},
	{"GIT_EXTERNAL_DIFF", ENV_DENY},
	{"GIT_ALLOW_PROTOCOL", ENV_DENY},
	{"GIT_PROTOCOL_FROM_USER", ENV_DENY},
	{"GIT_REDIRECT_*", ENV_DENY},
	{"GIT_ATTR_SOURCE", ENV_DENY},
	{"GIT_REPLACE_REF_BASE", ENV_DENY},
	{"GIT_SHALLOW_FILE", ENV_DENY},
	{"GIT_*", ENV_ASK},
	{"LESS", ENV_LESS},
	{"LESSOPEN", ENV_DENY},
	{"LESSCLOSE", ENV_DENY},
	{"LESSKEY*", ENV_DENY},
	{"LESSEDIT", ENV_DENY},
	{"BROWSER", ENV_DENY},
	{"HOME", ENV_HOME},
	{"XDG_CONFIG_HOME", ENV_CONFIG},
	{"GNUPGHOME", ENV_ASK},
	{"PATH", ENV_PATH},
	{"LD_*", ENV_DENY},
	{"DYLD_*", ENV_DENY},
	{"GCONV_PATH", ENV_DENY},
	{"GITPERLLIB", ENV_DENY},
	{"PERL5LIB", ENV_DENY},
	{"PERL5OPT", ENV_DENY},
	{"PERL5DB", ENV_DENY},
	{"PERLLIB", ENV_DENY},
	{"BASH_ENV", ENV_DENY},
	{"BASH_FUNC_*", ENV_DENY},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool fits(struct ab_git_text name, const char *pattern)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return name.len >= n - 1 &&
		       memcmp(name.text, pattern, n - 1) == 0;
	return name.len == n && memcmp(name.text, pattern, n) == 0;
}

static bool is_one_of(const struct ab_word *w, const char *const *list)
{
	for (; *list; list++)
		if (ab_git_is(w, *list))
			return true;
	return false;
}

/* Letters that change how less shows; +, k, o, O, p, P, t and T take more. */
static bool are_less_letters(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr("-FRXSKMNIQGEeismqgrc ", text[i]))
			return false;
	return true;
}

static bool is_less(const struct ab_word *w)
{
	return !w->hole_count && are_less_letters(w->text, w->len);
}

bool ab_git_is_less_pager(const char *text, size_t len)
{
	return len > 5 && memcmp(text, "less ", 5) == 0 &&
	       are_less_letters(text + 5, len - 5);
}

static bool is_pager(const struct ab_word *w)
{
	static const char *const list[] = {"", "cat", "less", "more",
					   "/bin/cat", "/usr/bin/cat", NULL};

	return is_one_of(w, list) ||
	       (!w->hole_count && ab_git_is_less_pager(w->text, w->len));
}

static bool is_editor(const struct ab_word *w)
{
	static const char *const list[] = {"true", ":", "cat", "/bin/true",
					   "/usr/bin/true", "false", NULL};

	return is_one_of(w, list);
}

/* An editor for people: nothing happens without one, and no one is there. */
static bool is_plain_editor(const struct ab_word *w)
{
	static const char *const list[] = {"vi", "vim", "nvim", "nano", "emacs",
					   "ed", "code --wait", NULL};

	return is_one_of(w, list);
}

static bool is_trace(const struct ab_word *w)
{
	static const char *const list[] = {"", "0", "1", "2", "true", "false",
					   NULL};

	return is_one_of(w, list);
}

static bool is_switch(const struct ab_word *w)
{
	static const char *const list[] = {"/dev/null", "0", "1", "true",
					   "false", "", NULL};

	return is_one_of(w, list);
}

static bool is_diff_options(const struct ab_word *w)
{
	size_t i = 0;

	if (w->hole_count)
		return false;
	if (w->len > 2 && memcmp(w->text, "-u", 2) == 0)
		i = 2;
	else if (w->len > 10 && memcmp(w->text, "--unified=", 10) == 0)
		i = 10;
	else
		return !w->len;
	for (; i < w->len; i++)
		if (w->text[i] < '0' || w->text[i] > '9')
			return false;
	return true;
}

static bool is_system_dir(const char *text, size_t len)
{
	static const char *const dirs[] = {
		"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin",
		"/usr/local/sbin"};

	for (size_t i = 0; i < COUNT(dirs); i++)
		if (len == strlen(dirs[i]) && memcmp(text, dirs[i], len) == 0)
			return true;
	return false;
}

/*
 * Only directories of the system come before what was the path, "$PATH";
 * what comes behind it finds nothing that is called git.
 */
static bool is_safe_path(const struct ab_word *w)
{
	const struct ab_hole *h = w->hole_count ? w->holes : NULL;
	size_t begin = 0;

	for (size_t i = 0; i <= w->len; i++) {
		if (h && h->at == i)
			return i == begin && h->name &&
			       strcmp(h->name, "PATH") == 0 &&
			       (i == w->len || w->text[i] == ':');
		if (i < w->len && w->text[i] != ':')
			continue;
		if (!is_system_dir(w->text + begin, i - begin))
			return false;
		begin = i + 1;
	}
	return true;
}

/* The home directory, and `rest` of it. */
static bool is_home(const struct ab_word *w, const struct ab_git_context *c,
		    const char *rest)
{
	const struct ab_hole *h = ab_git_hole_at(w, 0);
	size_t n = strlen(rest);
	size_t len = c->home.len;

	if (w->len < n || memcmp(w->text + w->len - n, rest, n) != 0)
		return false;
	if (h && h->kind == AB_HOLE_HOME)
		return w->hole_count == 1 && h->len == w->len - n &&
		       (h->len < 2 || *w->text != '~');
	return c->home.text && !w->hole_count && w->len - n == len &&
	       memcmp(w->text, c->home.text, len) == 0;
}

static enum ab_git_act act_of(enum env_kind kind, const struct ab_word *w,
			      const struct ab_git_context *c)
{
	switch (kind) {
	case ENV_DENY:
		return GIT_ENV;
	case ENV_ASK:
		return GIT_ENV_ASK;
	case ENV_INERT:
		return GIT_OK;
	case ENV_IDENTITY:
		return GIT_ENV_IDENTITY;
	case ENV_PATH:
		return w && is_safe_path(w) ? GIT_OK : GIT_ENV_PATH;
	case ENV_PAGER:
		return w && is_pager(w) ? GIT_OK : GIT_ENV;
	case ENV_EDITOR:
		if (w && is_plain_editor(w))
			return GIT_ENV_ASK;
		return w && is_editor(w) ? GIT_OK : GIT_ENV;
	case ENV_TRACE:
		return w && is_trace(w) ? GIT_OK : GIT_ENV;
	case ENV_LESS:
		return w && is_less(w) ? GIT_OK : GIT_ENV;
	case ENV_NULL:
		return w && is_switch(w) ? GIT_ENV_ASK : GIT_ENV;
	case ENV_HOME:
		return w && is_home(w, c, "") ? GIT_OK : GIT_ENV;
	case ENV_CONFIG:
		return w && is_home(w, c, "/.config") ? GIT_OK : GIT_ENV;
	case ENV_DIFF_OPTIONS:
		return w && is_diff_options(w) ? GIT_OK : GIT_ENV_ASK;
	}
	return GIT_ENV;
}

/*
 * GIT_SHA, GIT_BRANCH_NAME: what scripts call a fact of the repository, made of
 * such words alone. git reads none of them, but some that begin as they do.
 */
static bool is_fact(struct ab_git_text name)
{
	static const char words[] =
		" BASE BRANCH CHANGED CLONE COMMIT COUNT CURRENT DATE DEPTH "
		"DESCRIBE DIRTY EMAIL FILES FULL HASH HEAD HOST ID INFO LAST "
		"LATEST LFS LOCAL LONG MAIN MESSAGE MODIFIED MSG NAME NUMBER "
		"ORG ORIGIN OWNER PREVIOUS REF REMOTE REPO REPOSITORY REV "
		"REVISION ROOT SHA SHORT SKIP SLUG SMUDGE STATE STATUS SUFFIX "
		"SUMMARY TAG TAGS TIME TIMESTAMP TOKEN TOPLEVEL URL USER "
		"USERNAME VER VERSION ";
	size_t at = sizeof("GIT_") - 1;

	if (!fits(name, "GIT_*"))
		return false;
	while (at < name.len) {
		const char *end = memchr(name.text + at, '_', name.len - at);
		size_t n = end ? (size_t)(end - name.text) - at : name.len - at;
		char word[16] = " ";

		if (!n || n > sizeof(word) - 3)
			return false;
		memcpy(word + 1, name.text + at, n);
		memcpy(word + 1 + n, " ", 2);
		if (!strstr(words, word))
			return false;
		at += n + 1;
	}
	return at == name.len + 1;
}

/* Unsetting gives the default back, which is no worse. */
static bool find_act(const struct ab_git_assign *a,
		     const struct ab_git_context *c, enum ab_git_act *act)
{
	if (!a->name.text)
		return false;
	for (size_t i = 0; i < COUNT(names); i++) {
		if (!fits(a->name, names[i].name))
			continue;
		*act = a->is_unset || is_fact(a->name)
			       ? GIT_OK
			       : act_of(names[i].kind, a->value, c);
		if (a->is_unset && names[i].kind == ENV_PATH)
			*act = GIT_ENV_PATH;
		return true;
	}
	return false;
}

static void judge(struct ab_git_walk *walk, const struct ab_git_assign *a,
		  size_t i)
{
	enum ab_git_act act = GIT_OK;
	enum ab_git_verdict before = walk->result->verdict;
	size_t len = a->value ? a->value->len : 0;

	if (!find_act(a, walk->context, &act))
		return;
	ab_git_found(walk, act, AB_GIT_NOWHERE, 0, len);
	if (walk->result->verdict != before)
		walk->result->env = (uint32_t)i;
}

void ab_git_judge_env(struct ab_git_walk *walk)
{
	const struct ab_git_context *c = walk->context;

	for (size_t i = 0; i < c->env_count; i++)
		judge(walk, &c->env[i], i);
}

void ab_git_check_assign(const struct ab_git_assign *assign,
			 const struct ab_git_context *context,
			 struct ab_git_result *result)
{
	struct ab_git_walk walk = {.context = context, .result = result};

	*result = (struct ab_git_result){
		.verdict = AB_GIT_NONE,
		.word = AB_GIT_NOWHERE,
		.env = AB_GIT_NOWHERE,
	};
	judge(&walk, assign, 0);
	if (result->verdict == AB_GIT_ALLOW)
		result->env = AB_GIT_NOWHERE;
}
