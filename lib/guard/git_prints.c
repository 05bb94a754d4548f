/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands of git that print hashes: whatever IFS is, no word that `$(...)`
 * makes of them begins with a dash, so that no option can come of it. `git
 * diff $(git merge-base main HEAD)` is what it looks like. Names of branches
 * and tags may begin with one, as they are whatever somebody wrote below
 * .git/refs, but hold no blank: git-check-ref-format(1).
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "guard/git.h"
#include "guard/git_walk.h"

#define MAX_OPTIONS 24

/* rev-parse prints an operand that is no revision as it stands, unless
   --verify came before it. */
enum operands { AB_PRINTS_ALWAYS, AB_PRINTS_BEHIND_VERB, AB_PRINTS_PLAIN };

/* Its options that leave it so; "*" at the end: whatever follows. */
struct printer {
	const char *name, *verb; /* a word that must be there; or NULL */
	const char *options[MAX_OPTIONS];
	enum operands operands;
};

/* "-#": a number */
#define COUNTS "-#", "-n", "-n#", "--max-count=*", "--skip=*"
#define KINDS "--merges", "--no-merges", "--first-parent"

const char ab_git_names_note = 0, ab_git_refs_note = 0, ab_git_temp_note = 0;

/* They print names of branches and tags; "": with whatever options. */
static const struct {
	const char *name, *option;
} refs[] = {
	{ "branch", "--show-current" },	  { "describe", "" },
	{ "rev-parse", "--abbrev-ref" },  { "symbolic-ref", "--short" },
	{ "tag", "-l" },		  { "tag", "--list" },
	{ "tag", "--sort=*" },		  { "tag", "--merged" },
	{ "tag", "--points-at" },
	{ "for-each-ref", "--format=%(refname)" },
	{ "for-each-ref", "--format=%(refname:short)" },
};

static const struct printer printers[] = {
	{ "log", "--format=*",
	  { "--format=%H", "--format=%h", COUNTS, KINDS, "--" },
	  AB_PRINTS_ALWAYS },
	{ "log", "--pretty=*",
	  { "--pretty=format:%H", "--pretty=format:%h", "--pretty=%H",
	    "--pretty=%h", COUNTS, KINDS, "--" },
	  AB_PRINTS_ALWAYS },
	{ "merge-base", NULL, { "-*" }, AB_PRINTS_ALWAYS },
	{ "rev-list", NULL,
	  { COUNTS, KINDS, "--max-parents=*", "--min-parents=*", "--reverse",
	    "--all", "--tags", "--branches", "--count", "--since=*",
	    "--until=*", "--after=*", "--before=*", "--author=*",
	    "--topo-order", "--date-order", "--" },
	  AB_PRINTS_ALWAYS },
	{ "rev-parse", "--verify",
	  { "--verify", "--short", "--short=*", "-q", "--quiet" },
	  AB_PRINTS_BEHIND_VERB },
	{ "rev-parse", NULL, { "--short", "--short=*" }, AB_PRINTS_PLAIN },
	{ "write-tree", NULL, { NULL }, AB_PRINTS_ALWAYS },
};

static bool is_like(const struct ab_word *w, const char *pattern)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '#') {
		for (size_t i = n - 1; i < w->len; i++) {
			if (w->text[i] < '0' || w->text[i] > '9')
				return false;
		}
		return w->len >= n && !memcmp(w->text, pattern, n - 1);
	}
	if (n && pattern[n - 1] == '*')
		return w->len >= n - 1 && !memcmp(w->text, pattern, n - 1);
	return ab_git_is(w, pattern);
}

/* No dash and no blank anywhere: what it prints of this is harmless. */
static bool is_plain(const struct ab_word *w)
{
	if (w->hole_count)
		return false;
	for (uint32_t i = 0; i < w->len; i++) {
		char c = w->text[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && !memchr("._/~^@{}:", c, 9))
			return false;
	}
	return true;
}

static bool is_good(const struct printer *p, const struct ab_word *w)
{
	if (ab_git_may_split(w) || ab_git_may_be_option(w) ||
	    ab_git_is_guess(w))
		return false;
	if (!w->len || *w->text != '-')
		return p->operands != AB_PRINTS_PLAIN || is_plain(w);
	for (size_t i = 0; i < MAX_OPTIONS && p->options[i]; i++) {
		if (is_like(w, p->options[i]))
			return true;
	}
	return false;
}

/* All words behind the subcommand leave it as it is. */
static bool are_good(const struct printer *p, const struct ab_word *words,
		     size_t count)
{
	bool has_verb = !p->verb;

	for (size_t i = 0; i < count; i++) {
		if (!is_good(p, &words[i]) ||
		    (p->operands == AB_PRINTS_BEHIND_VERB && !has_verb &&
		     (!words[i].len || *words[i].text != '-')))
			return false;
		has_verb |= !has_verb && words[i].len > 2 &&
			    is_like(&words[i], p->verb);
		if (ab_git_is(&words[i], "--"))
			break;
	}
	return has_verb;
}

/* `git tag` alone lists, too. */
static bool prints_refs(const struct ab_word *words, size_t count)
{
	bool is_row = count == 1 && ab_git_is(words, "tag");

	for (size_t i = 0; i < AB_ARRAY_LEN(refs) && !is_row; i++) {
		if (!ab_git_is(words, refs[i].name))
			continue;
		is_row = !*refs[i].option;
		for (size_t k = 1; k < count && !is_row; k++)
			is_row = is_like(&words[k], refs[i].option);
	}
	/* what is printed as it stands holds none either, and a format of tag
	   or its -n prints what somebody wrote */
	for (size_t k = 1; k < count && is_row; k++) {
		const struct ab_word *w = &words[k];

		is_row = !w->hole_count && !memchr(w->text, ' ', w->len) &&
			 !memchr(w->text, '\t', w->len) &&
			 !memchr(w->text, '\n', w->len) &&
			 !(ab_git_is(words, "tag") &&
			   (is_like(w, "-n*") || is_like(w, "--f*") ||
			    is_like(w, "--co*")));
	}
	return is_row;
}

const char *ab_git_prints(const struct ab_word *words, size_t count)
{
	size_t at = 1;

	while (at < count && (ab_git_is(&words[at], "--no-pager") ||
			      ab_git_is(&words[at], "-C")))
		at += ab_git_is(&words[at], "-C") ? 2 : 1;
	if (at >= count || !ab_git_is(&words[0], "git"))
		return NULL;
	for (size_t i = 0; i < AB_ARRAY_LEN(printers); i++) {
		if (ab_git_is(&words[at], printers[i].name) &&
		    are_good(&printers[i], words + at + 1, count - at - 1))
			return &ab_git_names_note;
	}
	return prints_refs(words + at, count - at) ? &ab_git_refs_note : NULL;
}
