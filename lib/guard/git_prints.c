/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What commands of git print: hashes, of which no word that `$(...)` makes
 * begins with a dash, whatever IFS is, so that no option can come of it: `git
 * diff $(git merge-base main HEAD)` is what it looks like. Names of branches
 * and tags, of which git makes none with a dash in front, and none with a
 * blank: git-check-ref-format(1), git-tag(1). A remote could send others, so
 * nothing is run for them. Files of the worktree, whatever they are called:
 * for those is true what git_word.c says of patterns.
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "guard/git.h"
#include "guard/git_walk.h"

#define MAX_OPTIONS 64

/* rev-parse prints an operand that is no revision as it stands, unless
   --verify came before it. */
enum operands { AB_PRINTS_ALWAYS, AB_PRINTS_BEHIND_VERB, AB_PRINTS_PLAIN };

/* Its options that leave it so; "*" at the end: whatever follows. */
struct printer {
	const char *name, *verb; /* a word that must be there; or NULL */
	const char *also;	 /* another one */
	enum ab_git_note note;
	enum operands operands;
	const char *options[MAX_OPTIONS];
};

#define HASHES(option)                                                         \
	option "%H", option "%h", option "%P", option "%p", option "%T",       \
	option "%t", option "%H %P", option "%h %p"
/* "-#": a number */
#define KINDS                                                                  \
	"-#", "-n", "-n#", "--max-count=*", "--skip=*", "--merges",            \
	"--no-merges", "--first-parent", "--reverse", "--all", "--tags",       \
	"--branches", "--since*", "--until*", "--after*", "--before*",         \
	"--author*", "--committer*", "--topo-order", "--date-order", "--"
#define LOGS KINDS, "--grep*", "-i", "-S*", "-G*", "--follow", "--no-decorate", \
	     "--abbrev-commit", "--abbrev=*", "--date=*", "--no-color",        \
	     "--diff-filter=*", "-E"
#define DIFFS "--name-only", "--diff-filter*", "--cached", "--staged", "-z",   \
	      "-r", "--no-renames", "-M*", "--relative", "--merge-base",       \
	      "--no-commit-id", "--root", "-m", "--no-color", "--quiet",       \
	      "--ignore-submodules*", "--no-ext-diff", "--"

const char ab_git_notes[AB_GIT_NOTES];

/* They print names of branches and tags; "": with whatever options. */
static const struct {
	const char *name, *option;
} refs[] = {
	{ "branch", "--show-current" },	  { "describe", "" },
	{ "rev-parse", "--abbrev-ref" },  { "symbolic-ref", "--short" },
	{ "tag", "-l" },		  { "tag", "--list" },
	{ "tag", "--sort=*" },		  { "tag", "--merged" },
	{ "tag", "--points-at" },
	{ "branch", "--format=%(refname)" },
	{ "branch", "--format=%(refname:short)" },
	{ "for-each-ref", "--format=%(refname)" },
	{ "for-each-ref", "--format=%(refname:short)" },
};

static const struct printer printers[] = {
	{ "log", "--format=*", NULL, AB_GIT_NAMES, AB_PRINTS_ALWAYS,
	  { HASHES("--format="), LOGS } },
	{ "log", "--pretty=*", NULL, AB_GIT_NAMES, AB_PRINTS_ALWAYS,
	  { HASHES("--pretty="), HASHES("--pretty=format:"),
	    HASHES("--pretty=tformat:"), LOGS } },
	{ "reflog", "--format=*", NULL, AB_GIT_NAMES, AB_PRINTS_ALWAYS,
	  { HASHES("--format="), LOGS } },
	{ "merge-base", NULL, NULL, AB_GIT_NAMES, AB_PRINTS_ALWAYS, { "-*" } },
	{ "rev-list", NULL, NULL, AB_GIT_NAMES, AB_PRINTS_ALWAYS,
	  { "--max-parents=*", "--min-parents=*", "--count", KINDS } },
	{ "rev-parse", "--verify", NULL, AB_GIT_NAMES, AB_PRINTS_BEHIND_VERB,
	  { "--verify", "--short", "--short=*", "-q", "--quiet" } },
	{ "rev-parse", NULL, NULL, AB_GIT_NAMES, AB_PRINTS_PLAIN,
	  { "--short", "--short=*" } },
	{ "write-tree", NULL, NULL, AB_GIT_NAMES, AB_PRINTS_ALWAYS, { NULL } },
	{ "for-each-ref", "--format=%(objectname)", NULL, AB_GIT_NAMES,
	  AB_PRINTS_ALWAYS,
	  { "--format=%(objectname)", "--format=%(objectname:short)",
	    "--sort=*", "--count=*" } },
	{ "show", "--format=*", "-s", AB_GIT_NAMES, AB_PRINTS_ALWAYS,
	  { HASHES("--format="), "-s" } },
	{ "log", "--oneline", NULL, AB_GIT_LINES, AB_PRINTS_ALWAYS,
	  { "--oneline", LOGS } },
	{ "log", "--format=*", NULL, AB_GIT_LINES, AB_PRINTS_ALWAYS,
	  { "--format=%H*", "--format=%h*", "--oneline", LOGS } },
	{ "log", "--pretty=*", NULL, AB_GIT_LINES, AB_PRINTS_ALWAYS,
	  { "--pretty=format:%H?*", "--pretty=format:%h?*",
	    "--pretty=oneline", "--pretty=%H*", "--pretty=%h*", "--oneline",
	    LOGS } },
	{ "blame", NULL, NULL, AB_GIT_LINES, AB_PRINTS_ALWAYS,
	  { "-L*", "-l", "-s", "-e", "-w", "-t", "-M*", "-C*", "--date=*",
	    "--abbrev=*", "--" } },
	{ "for-each-ref", "--format=*", NULL, AB_GIT_REF_LINES,
	  AB_PRINTS_ALWAYS,
	  { "--format=%(refname)?*", "--format=%(refname:short)?*",
	    "--sort=*", "--count=*" } },
	{ "for-each-ref", "--format=*", NULL, AB_GIT_LINES, AB_PRINTS_ALWAYS,
	  { "--format=%(objectname)?*", "--format=%(objectname:short)?*",
	    "--sort=*", "--count=*" } },
	{ "show-ref", NULL, NULL, AB_GIT_LINES, AB_PRINTS_ALWAYS,
	  { "--tags", "--heads", "--branches", "-d", "--head" } },
	{ "ls-files", NULL, NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { "-m", "-o", "-d", "-c", "-z", "-i", "-mo", "-om", "-co", "-cm",
	    "-oi", "-io", "-ozi", "-oiz", "-oz", "-mz", "-dz", "-cz", "-zm",
	    "-zo", "--modified",
	    "--others", "--deleted", "--cached", "--ignored", "--full-name",
	    "--exclude-standard", "--exclude=*", "-x", "--deduplicate",
	    "--directory", "--error-unmatch", "--recurse-submodules",
	    "--" } },
	{ "diff", "--name-only", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { DIFFS } },
	{ "diff-tree", "--name-only", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { DIFFS } },
	{ "diff-index", "--name-only", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { DIFFS } },
	{ "diff-files", "--name-only", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { DIFFS } },
	{ "show", "--format=*", "--name-only", AB_GIT_FILES,
	  AB_PRINTS_ALWAYS, { "--format=", DIFFS } },
	{ "log", "--format=*", "--name-only", AB_GIT_FILES,
	  AB_PRINTS_ALWAYS, { "--format=", "--name-only", LOGS } },
	{ "ls-tree", "--name-only", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { "--name-only", "-r", "-z", "-d", "-t", "--full-name",
	    "--full-tree" } },
	{ "grep", "-l", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { "-l", "-i", "-w", "-E", "-F", "-P", "-z", "-I", "-e",
	    "--untracked", "--cached", "--" } },
	{ "grep", "--files-with-matches", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { "--files-with-matches", "-i", "-w", "-E", "-F", "-P", "-z", "-I",
	    "-e", "--" } },
	{ "grep", "--name-only", NULL, AB_GIT_FILES, AB_PRINTS_ALWAYS,
	  { "--name-only", "-i", "-w", "-E", "-F", "-P", "-z", "-e", "--" } },
	{ "status", "-s", NULL, AB_GIT_STATUS, AB_PRINTS_ALWAYS,
	  { "-s", "-uno", "-uall", "-unormal", "--" } },
	{ "status", "--short", NULL, AB_GIT_STATUS, AB_PRINTS_ALWAYS,
	  { "--short", "-uno", "-uall", "--untracked-files=*", "--" } },
	{ "status", "--porcelain*", NULL, AB_GIT_STATUS, AB_PRINTS_ALWAYS,
	  { "--porcelain", "--porcelain=v1", "-uno", "-uall",
	    "--untracked-files=*", "--" } },
	{ "rev-parse", "--show-toplevel", NULL, AB_GIT_ROOT, AB_PRINTS_ALWAYS,
	  { "--show-toplevel" } },
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
	/* "?*": something has to follow, and it may be known later */
	if (n > 1 && pattern[n - 2] == '?')
		return w->len >= n - 2 && !memcmp(w->text, pattern, n - 2) &&
		       (w->len > n - 2 || w->hole_count);
	if (n && pattern[n - 1] == '*')
		return w->len >= n - 1 && !memcmp(w->text, pattern, n - 1);
	return ab_git_is(w, pattern);
}

bool ab_git_is_plain(const struct ab_word *w)
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

/* What follows the name of the object leaves it on its line. */
static bool is_one_line(const struct ab_word *w)
{
	static const char *const atoms[] = {
		"refname", "objectname", "objecttype", "objectsize", "subject",
		"author", "committer", "tagger", "creator", "upstream", "HEAD"
	};
	const char *at = w->text, *end = w->text + w->len;
	bool is_fine = !w->hole_count && !memchr(at, '\n', w->len);

	while (is_fine && (at = memchr(at, '%', (size_t)(end - at)))) {
		if (++at == end)
			return false;
		if (*at != '(') {
			is_fine = memchr("hHtTpPsfdDSac%", *at++, 14);
			continue;
		}
		is_fine = false;
		for (size_t i = 0; i < AB_ARRAY_LEN(atoms); i++) {
			size_t n = strlen(atoms[i]);

			is_fine |= (size_t)(end - at) > n &&
				   !memcmp(at + 1, atoms[i], n);
		}
	}
	return is_fine;
}

static bool is_good(const struct printer *p, const struct ab_word *w)
{
	if (ab_git_may_split(w) || ab_git_is_guess(w) ||
	    (ab_git_may_be_option(w) && !ab_git_is_range(w)))
		return false;
	if (!w->len || *w->text != '-')
		return p->operands != AB_PRINTS_PLAIN || ab_git_is_plain(w);
	if ((p->note == AB_GIT_LINES || p->note == AB_GIT_REF_LINES) &&
	    memchr(w->text, '%', w->len) &&
	    !is_one_line(w))
		return false;
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
	bool has_verb = !p->verb, has_also = !p->also;

	for (size_t i = 0; i < count; i++) {
		if (!is_good(p, &words[i]) ||
		    (p->operands == AB_PRINTS_BEHIND_VERB && !has_verb &&
		     (!words[i].len || *words[i].text != '-')))
			return false;
		has_verb |= !has_verb && words[i].len > 1 &&
			    is_like(&words[i], p->verb);
		has_also |= !has_also && is_like(&words[i], p->also);
		if (ab_git_is(&words[i], "--"))
			break;
	}
	return has_verb && has_also;
}

/* An operand is a ref or an error; but rev-parse prints what it does not know,
   a format is somebody's, and so is what tag -n prints. */
static bool leaves_refs(const struct ab_word *command, const struct ab_word *w,
			const char *option)
{
	static const char *const parsed[] = { "--abbrev-ref*", "--short*",
					      "--symbolic-full-name", "-q",
					      "--quiet", "--verify" };

	if (w->hole_count || memchr(w->text, ' ', w->len) ||
	    memchr(w->text, '\t', w->len) || memchr(w->text, '\n', w->len))
		return false;
	if (!w->len || *w->text != '-' || ab_git_is(command, "describe"))
		return true;
	if (ab_git_is(command, "rev-parse")) {
		for (size_t i = 0; i < AB_ARRAY_LEN(parsed); i++) {
			if (is_like(w, parsed[i]))
				return true;
		}
		return false;
	}
	if (is_like(w, "--f*"))
		return *option && is_like(w, option);
	return !ab_git_is(command, "tag") ||
	       (!is_like(w, "-n*") && !is_like(w, "--co*"));
}

/* `git tag` alone lists, too. */
static bool prints_refs(const struct ab_word *words, size_t count)
{
	const char *option = "";
	bool is_row = count == 1 && ab_git_is(words, "tag");

	for (size_t i = 0; i < AB_ARRAY_LEN(refs) && !is_row; i++) {
		if (!ab_git_is(words, refs[i].name))
			continue;
		option = refs[i].option;
		is_row = !*option;
		for (size_t k = 1; k < count && !is_row; k++)
			is_row = is_like(&words[k], option);
	}
	for (size_t k = 1; k < count && is_row; k++)
		is_row = leaves_refs(words, &words[k], option);
	return is_row;
}

/* Of several that it may be the first: they are the better ones. */
const char *ab_git_prints(const struct ab_word *words, size_t count)
{
	size_t at = 1;
	bool is_elsewhere = false;

	while (at < count && (ab_git_is(&words[at], "--no-pager") ||
			      ab_git_is(&words[at], "-C"))) {
		is_elsewhere |= ab_git_is(&words[at], "-C");
		at += ab_git_is(&words[at], "-C") ? 2 : 1;
	}
	if (at >= count || !ab_git_is(&words[0], "git"))
		return NULL;
	for (size_t i = 0; i < AB_ARRAY_LEN(printers); i++) {
		const struct printer *p = &printers[i];

		if (is_elsewhere && p->note >= AB_GIT_FILES)
			continue;
		if (ab_git_is(&words[at], p->name) &&
		    are_good(p, words + at + 1, count - at - 1))
			return &ab_git_notes[p->note];
	}
	return prints_refs(words + at, count - at) ? &ab_git_notes[AB_GIT_REFS]
						   : NULL;
}
