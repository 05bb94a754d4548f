/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Configuration keys: which may be set for one command, which may be read.
 * A key that is not known to be inert may make git run a program, so the
 * list names the harmless ones. Source: git-config(1).
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

enum inert {
	INERT_ANY,   /* whatever the value */
	INERT_BOOL,  /* other values are programs */
	INERT_OFF,   /* only switched off */
	INERT_PAGER, /* only a program known to be harmless */
	INERT_EDITOR,
	INERT_EMPTY,
	INERT_PRETTY,
	INERT_SORT,
	INERT_IDENTITY,
	INERT_HOOKS
};

/* Lower case; a trailing dot: every key below. */
static const struct {
	const char *key;
	enum inert inert;
} inert_keys[] = {
	{"add.ignoreerrors", INERT_ANY},
	{"advice.", INERT_ANY},
	{"apply.ignorewhitespace", INERT_ANY},
	{"apply.whitespace", INERT_ANY},
	{"author.", INERT_IDENTITY},
	{"blame.blankboundary", INERT_ANY},
	{"blame.coloring", INERT_ANY},
	{"blame.date", INERT_ANY},
	{"blame.showemail", INERT_ANY},
	{"blame.showroot", INERT_ANY},
	{"branch.sort", INERT_SORT},
	{"color.", INERT_ANY},
	{"column.", INERT_ANY},
	{"commit.cleanup", INERT_ANY},
	{"commit.gpgsign", INERT_OFF},
	{"commit.status", INERT_ANY},
	{"commit.verbose", INERT_ANY},
	{"committer.", INERT_IDENTITY},
	{"core.abbrev", INERT_ANY},
	{"core.autocrlf", INERT_ANY},
	{"core.checkstat", INERT_ANY},
	{"core.commentchar", INERT_ANY},
	{"core.commentstring", INERT_ANY},
	{"core.editor", INERT_EDITOR},
	{"core.eol", INERT_ANY},
	{"core.filemode", INERT_ANY},
	{"core.fsmonitor", INERT_OFF},
	{"core.hookspath", INERT_HOOKS},
	{"core.ignorecase", INERT_ANY},
	{"core.pager", INERT_PAGER},
	{"core.precomposeunicode", INERT_ANY},
	{"core.preloadindex", INERT_ANY},
	{"core.quotepath", INERT_ANY},
	{"core.safecrlf", INERT_ANY},
	{"core.trustctime", INERT_ANY},
	{"core.untrackedcache", INERT_ANY},
	{"core.whitespace", INERT_ANY},
	{"credential.helper", INERT_EMPTY},
	{"diff.algorithm", INERT_ANY},
	{"diff.autorefreshindex", INERT_ANY},
	{"diff.colormoved", INERT_ANY},
	{"diff.colormovedws", INERT_ANY},
	{"diff.context", INERT_ANY},
	{"diff.dirstat", INERT_ANY},
	{"diff.dstprefix", INERT_ANY},
	{"diff.external", INERT_EMPTY},
	{"diff.ignoresubmodules", INERT_ANY},
	{"diff.indentheuristic", INERT_ANY},
	{"diff.interhunkcontext", INERT_ANY},
	{"diff.mnemonicprefix", INERT_ANY},
	{"diff.noprefix", INERT_ANY},
	{"diff.relative", INERT_ANY},
	{"diff.renamelimit", INERT_ANY},
	{"diff.renames", INERT_ANY},
	{"diff.srcprefix", INERT_ANY},
	{"diff.statgraphwidth", INERT_ANY},
	{"diff.statnamewidth", INERT_ANY},
	{"diff.submodule", INERT_ANY},
	{"diff.suppressblankempty", INERT_ANY},
	{"diff.wordregex", INERT_ANY},
	{"diff.wserrorhighlight", INERT_ANY},
	{"format.pretty", INERT_PRETTY},
	{"gc.auto", INERT_OFF},
	{"grep.column", INERT_ANY},
	{"grep.extendedregexp", INERT_ANY},
	{"grep.fullname", INERT_ANY},
	{"grep.linenumber", INERT_ANY},
	{"grep.patterntype", INERT_ANY},
	{"grep.threads", INERT_ANY},
	{"i18n.", INERT_ANY},
	{"index.threads", INERT_ANY},
	{"init.defaultbranch", INERT_ANY},
	{"interactive.singlekey", INERT_ANY},
	{"log.abbrevcommit", INERT_ANY},
	{"log.date", INERT_ANY},
	{"log.decorate", INERT_ANY},
	{"log.diffmerges", INERT_ANY},
	{"log.follow", INERT_ANY},
	{"log.graphcolors", INERT_ANY},
	{"log.mailmap", INERT_ANY},
	{"log.showroot", INERT_ANY},
	{"log.showsignature", INERT_OFF},
	{"maintenance.auto", INERT_OFF},
	{"merge.conflictstyle", INERT_ANY},
	{"merge.renames", INERT_ANY},
	{"pack.threads", INERT_ANY},
	{"pager.", INERT_BOOL},
	{"sequence.editor", INERT_EDITOR},
	{"status.", INERT_ANY},
	{"tag.gpgsign", INERT_OFF},
	{"tag.sort", INERT_SORT},
	{"user.email", INERT_IDENTITY},
	{"user.name", INERT_IDENTITY},
	{"versionsort.", INERT_ANY},
};

/* Keys that run a program or make git trust a place, by their ends. */
static const char *const running_sections[] = {
	"alias.", "browser.", "credential.", "difftool.", "filter.",
	"gitcvs.", "guitool.", "hook.", "include.", "includeif.",
	"instaweb.", "man.", "mergetool.", "pager.", "protocol.",
	"sendemail.", "submodule.", "svn.", "tar.", "trailer.",
	"uploadpack.", "url.",
};
static const char *const running_keys[] = {
	"core.pager", "core.editor", "sequence.editor", "core.sshcommand",
	"core.fsmonitor", "core.hookspath", "core.gitproxy", "core.askpass",
	"core.alternaterefscommand", "core.attributesfile", "core.worktree",
	"core.bare", "core.excludesfile", "diff.external", "gpg.program",
	"interactive.difffilter", "help.browser", "web.browser",
	"init.templatedir", "imap.tunnel", "commit.template", "help.autocorrect",
	"format.signaturefile", "blame.ignorerevsfile", "safe.directory",
	"safe.barerepository", "receive.procreceiverefs",
};
static const char *const running_ends[] = {
	".command", ".textconv", ".cmd", ".path", ".driver", ".clean",
	".smudge", ".process", ".program", ".defaultkeycommand", ".helper",
	".update", ".uploadpack", ".receivepack", ".vcs", ".proxy", ".tunnel",
	".packobjectshook",
};
static const char *const secret_sections[] = {"credential.", "url."};
static const char *const secret_ends[] = {
	".extraheader", ".token", ".oauthtoken", ".password", ".passwd",
	".pass", ".smtppass", ".apikey", ".secret", ".insteadof",
	".pushinsteadof",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Does text begin with `start`, which is lower case? */
static bool begins(const char *text, size_t len, const char *start)
{
	size_t i;

	for (i = 0; start[i]; i++)
		if (i >= len || lower(text[i]) != start[i])
			return false;
	return true;
}

static bool ends(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && ab_git_is_fold(text + len - n, n, end);
}

static bool begins_any(const char *text, size_t len, const char *const *list,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins(text, len, list[i]))
			return true;
	return false;
}

static bool ends_any(const char *text, size_t len, const char *const *list,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ends(text, len, list[i]))
			return true;
	return false;
}

static bool is_running(const char *key, size_t len)
{
	for (size_t i = 0; i < COUNT(running_keys); i++)
		if (ab_git_is_fold(key, len, running_keys[i]))
			return true;
	return begins_any(key, len, running_sections,
			  COUNT(running_sections)) ||
	       ends_any(key, len, running_ends, COUNT(running_ends));
}

static bool is_secret(const char *key, size_t len)
{
	return begins_any(key, len, secret_sections, COUNT(secret_sections)) ||
	       ends_any(key, len, secret_ends, COUNT(secret_ends));
}

static bool is_one_of(const char *text, size_t len, const char *const *list)
{
	for (; *list; list++)
		if (ab_git_is_fold(text, len, *list))
			return true;
	return false;
}

static bool is_off(const char *text, size_t len)
{
	static const char *const off[] = {"false", "no", "off", "0", "", NULL};

	return is_one_of(text, len, off);
}

static bool is_bool(const char *text, size_t len)
{
	static const char *const on[] = {"true", "yes", "on", "1", NULL};

	return is_off(text, len) || is_one_of(text, len, on);
}

static bool is_pager(const char *text, size_t len)
{
	static const char *const pagers[] = {"cat", "less", "", NULL};

	return is_one_of(text, len, pagers) || ab_git_is_less_pager(text, len);
}

/* "%G?" runs the signature program, and a name of one's own may hold it. */
static bool is_pretty(const char *text, size_t len)
{
	static const char *const known[] = {"oneline", "short", "medium",
					    "full", "fuller", "reference",
					    "email", "raw", NULL};

	return is_one_of(text, len, known) ||
	       (memchr(text, '%', len) && !memchr(text, 'G', len));
}

static bool is_editor(const char *text, size_t len)
{
	static const char *const editors[] = {"true", ":", "cat", NULL};

	return is_one_of(text, len, editors);
}

/* value NULL: the key alone, which means true; is_sure: it has no hole. */
static enum ab_git_act key_act(enum inert inert, const char *value, size_t len,
			       bool is_sure)
{
	if (inert == INERT_ANY)
		return GIT_OK;
	if (inert == INERT_IDENTITY)
		return GIT_KEY_IDENTITY;
	if (!is_sure)
		return GIT_KEY;
	if (!value)
		return inert == INERT_BOOL ? GIT_OK : GIT_KEY;
	switch (inert) {
	case INERT_BOOL:
		return is_bool(value, len) ? GIT_OK : GIT_KEY;
	case INERT_OFF:
		return is_off(value, len) ? GIT_OK : GIT_KEY;
	case INERT_PAGER:
		return is_pager(value, len) ? GIT_OK : GIT_KEY;
	case INERT_EDITOR:
		return is_editor(value, len) ? GIT_OK : GIT_KEY;
	case INERT_EMPTY:
		return len ? GIT_KEY : GIT_OK;
	case INERT_PRETTY:
		return is_pretty(value, len) ? GIT_OK : GIT_SIGNATURE;
	case INERT_SORT:
		return memmem(value, len, "signature", 9) ? GIT_SIGNATURE
							  : GIT_OK;
	case INERT_HOOKS:
		return ab_git_is_fold(value, len, "/dev/null") ? GIT_KEY_HOOKS
							       : GIT_KEY;
	case INERT_ANY:
	case INERT_IDENTITY:
		break;
	}
	return GIT_KEY;
}

static enum ab_git_act act_of(const char *key, size_t len, const char *value,
			      size_t value_len, bool is_sure)
{
	for (size_t i = 0; i < COUNT(inert_keys); i++) {
		const char *name = inert_keys[i].key;
		size_t n = strlen(name);

		if (name[n - 1] == '.' ? begins(key, len, name) && len > n
				       : ab_git_is_fold(key, len, name))
			return key_act(inert_keys[i].inert, value, value_len,
				       is_sure);
	}
	return GIT_KEY;
}

void ab_git_judge_key(struct ab_git_walk *walk, size_t word, size_t begin,
		      bool is_env)
{
	const struct ab_word *w = &walk->words[word];
	const char *key = w->text + begin;
	const char *equal = memchr(key, '=', w->len - begin);
	size_t len = equal ? (size_t)(equal - key) : w->len - begin;
	size_t unsure = ab_git_unsure_from(w, begin);
	const char *value = equal && !is_env ? equal + 1 : NULL;
	size_t value_len = value ? w->len - begin - len - 1 : 0;

	if (unsure <= begin + len) {
		ab_git_found(walk, GIT_DYNAMIC, word, begin, w->len);
		return;
	}
	ab_git_found(walk,
		     act_of(key, len, value, value_len,
			    !is_env && unsure > w->len),
		     word, begin, w->len);
}

/*
 * A pattern for keys: denied when it asks for a secret by name; asked about
 * unless its literal beginning names a section without one.
 */
static enum ab_git_act pattern_act(const char *text, size_t len)
{
	static const char *const words[] = {"credential", "extraheader",
					    "insteadof", "token", "pass",
					    "secret", "^url", "^http"};
	size_t letters = 0;

	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < COUNT(words); k++)
			if (begins(text + i, len - i, words[k]))
				return GIT_CONFIG_SECRET;
	for (size_t i = 0; i < len; i++) {
		char c = lower(text[i]);

		if (c == '^' && i == 0)
			continue;
		if (c < 'a' || c > 'z')
			break;
		letters++;
	}
	/* "alias" may be anywhere in a key, but in none that is secret */
	return letters < 3 || begins(text, len, "url") ||
			       begins(text, len, "http") ||
			       begins(text, len, "cred")
		       ? GIT_CONFIG_LIST
		       : GIT_OK;
}

static void judge_read_key(struct ab_git_walk *walk)
{
	const struct ab_word *w = &walk->words[walk->first];
	size_t unsure = ab_git_unsure_from(w, 0);
	size_t len = w->len;
	enum ab_git_act act;

	if (walk->flags & FLAG_REGEXP)
		act = unsure <= len ? GIT_CONFIG_LIST
				    : pattern_act(w->text, len);
	else if (is_secret(w->text, len) ||
		 /* --get-urlmatch http URL: every key of the section */
		 ab_git_is_fold(w->text, len, "http") ||
		 ab_git_is_fold(w->text, len, "credential"))
		act = GIT_CONFIG_SECRET;
	else if (unsure <= len &&
		 !(memchr(w->text, '.', unsure) && !begins(w->text, len, "http")))
		act = GIT_DYNAMIC;
	else
		act = GIT_OK;
	ab_git_found_word(walk, act, walk->first);
}

static void judge_written_key(struct ab_git_walk *walk)
{
	const struct ab_word *w = &walk->words[walk->first];
	enum ab_git_act act = GIT_CONFIG;

	if (w->hole_count)
		act = GIT_CONFIG;
	else if (ab_git_is_fold(w->text, w->len, "user.name") ||
		 ab_git_is_fold(w->text, w->len, "user.email"))
		act = GIT_CONFIG_IDENTITY;
	else if (is_running(w->text, w->len))
		act = GIT_CONFIG_RUNS;
	ab_git_found_word(walk, act, walk->first);
}

void ab_git_judge_config(struct ab_git_walk *walk)
{
	if (!walk->operands)
		return;
	if ((walk->flags & FLAG_WRITE) ||
	    (!(walk->flags & FLAG_READ) && walk->operands > 1))
		judge_written_key(walk);
	else
		judge_read_key(walk);
}
