/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each finding of the git check says to who asked. A command between
 * backquotes in an alternative is one that the check allows.
 */
#include "config.h"

#include "guard/git_table.h"

#include <assert.h>

#define TOPOLOGY "git.topology"
#define REMOTE "git.remote"
#define DESTROY "git.destroy"
#define EXEC "git.exec"
#define SHARED "git.shared"
#define REWRITE "git.rewrite"
#define UNKNOWN "git.unknown"
#define SECRET "cred.cli-token"

#define DENY(severity, rule, reason, alternative)                              \
	{AB_GIT_DENY, severity, false, rule, reason, alternative}
#define SOFT(severity, rule, reason, alternative)                              \
	{AB_GIT_DENY, severity, true, rule, reason, alternative}
#define ASK(severity, rule, reason, alternative)                               \
	{AB_GIT_ASK, severity, false, rule, reason, alternative}

#define HIGH AB_GIT_HIGH
#define MEDIUM AB_GIT_MEDIUM
#define LOW AB_GIT_LOW
#define CRITICAL AB_GIT_CRITICAL

static const struct ab_git_finding findings[] = {
[GIT_OK] = {AB_GIT_ALLOW, LOW, false, NULL, NULL, NULL},

[GIT_TOPOLOGY] = DENY(HIGH, TOPOLOGY,
	"branches and HEAD are moved by the host only",
	"commit here and let the host integrate"),
[GIT_BRANCH] = DENY(HIGH, TOPOLOGY,
	"creates, changes or deletes a branch",
	"`git branch --list` only shows; the host makes branches"),
[GIT_CHERRY_PICK] = SOFT(HIGH, TOPOLOGY,
	"brings in commits of other branches",
	"`git show --stat` and make the change here"),
[GIT_PLUMBING] = DENY(HIGH, TOPOLOGY,
	"plumbing that moves refs or rewrites index and files",
	"`git add -A`, then commit"),
[GIT_WORKTREE] = DENY(HIGH, TOPOLOGY,
	"worktrees are made and removed by the host only", NULL),
[GIT_WORKTREE_LIST] = ASK(LOW, TOPOLOGY,
	"shows where other agents work", "`git rev-parse --show-toplevel`"),
[GIT_SUBMODULE] = DENY(HIGH, TOPOLOGY,
	"changes which files or submodules are checked out, and may run "
	"commands of the repository", "`git submodule status`"),
[GIT_INIT] = ASK(MEDIUM, TOPOLOGY,
	"makes a repository inside the worktree", NULL),
[GIT_INIT_ELSEWHERE] = DENY(HIGH, TOPOLOGY,
	"makes a repository elsewhere or with foreign hooks", NULL),
[GIT_REVERT] = ASK(MEDIUM, TOPOLOGY,
	"adds a commit and may stop in a conflict",
	"undo the change in the files and commit"),
[GIT_AM] = ASK(MEDIUM, TOPOLOGY,
	"applies a mailbox as commits or resets the worktree",
	"`git apply --check change.patch`, then apply and commit"),
[GIT_TAG_DELETE] = DENY(HIGH, TOPOLOGY,
	"deletes or moves a tag that every worktree shares", "`git tag -l`"),

[GIT_REMOTE] = DENY(HIGH, REMOTE,
	"touches a remote or changes which one is used",
	"commit here; the host fetches and pushes"),
[GIT_SERVER] = DENY(HIGH, REMOTE, "serves a repository to others", NULL),
[GIT_CREDENTIAL] = DENY(CRITICAL, SECRET,
	"prints or stores credentials", NULL),

[GIT_HISTORY] = DENY(CRITICAL, DESTROY,
	"rewrites history", "make a new commit"),
[GIT_PRUNE] = DENY(CRITICAL, DESTROY,
	"makes lost work unrecoverable in every worktree",
	"`git count-objects -v`"),
[GIT_CLEAN] = DENY(CRITICAL, DESTROY,
	"untracked files cannot be recovered", "`git clean -n` shows them"),
[GIT_RESTORE] = DENY(HIGH, DESTROY,
	"discards work that is not committed",
	"`git restore --staged .` unstages; commit before going back"),
[GIT_RESET] = DENY(HIGH, DESTROY,
	"discards work that is not committed and moves HEAD",
	"`git reset` unstages; commit before going back"),
[GIT_PUT_BACK] = ASK(HIGH, DESTROY,
	"puts another version over a file, whose changes are not committed",
	"`git diff` shows what would be lost; commit before going back"),
[GIT_REMOVE_ALL] = DENY(HIGH, DESTROY,
	"removes every file of the tree", "name the files to remove"),
[GIT_REMOVE_INDEX] = ASK(MEDIUM, DESTROY,
	"removes every file from the index", "name the files to remove"),
[GIT_REMOVE_FORCE] = ASK(MEDIUM, DESTROY,
	"removes files although they were changed",
	"`git rm file` without -f"),
[GIT_MOVE_FORCE] = ASK(MEDIUM, DESTROY,
	"overwrites the file at the destination", "`git mv a b` without -f"),
[GIT_STASH_DROP] = DENY(HIGH, DESTROY,
	"drops stash entries that every worktree shares",
	"`git stash list`"),
[GIT_NOTES_REMOVE] = DENY(HIGH, DESTROY,
	"removes notes that every worktree shares", "`git notes list`"),
[GIT_HOUSEKEEPING] = ASK(MEDIUM, DESTROY,
	"rewrites objects or refs that every worktree shares",
	"leave housekeeping to the host"),
[GIT_EXPORT] = ASK(LOW, DESTROY,
	"prints the whole history, which can be read back as another",
	"`git log -p`"),
[GIT_REPORT] = ASK(MEDIUM, EXEC,
	"collects configuration and objects into a file", "`git version`"),
[GIT_OVERWRITE] = ASK(MEDIUM, DESTROY,
	"writes files in place", NULL),

[GIT_RUNS] = DENY(CRITICAL, EXEC,
	"runs programs that arguments or configuration name",
	"`git diff` shows the changes"),
[GIT_INTERNAL] = DENY(HIGH, EXEC,
	"an internal helper of git that no agent needs", NULL),
[GIT_CONFIGURED] = ASK(MEDIUM, EXEC,
	"runs a program that the repository configures",
	"leave the option away"),
[GIT_SIGNATURE] = ASK(MEDIUM, EXEC,
	"runs the configured signature program", "leave the option away"),
[GIT_PAGER] = DENY(CRITICAL, EXEC,
	"runs the program it names on the files found",
	"`git grep -l pattern` lists the files"),
[GIT_BROWSER] = ASK(MEDIUM, EXEC,
	"starts a configured browser or viewer", "`git help -a`"),
[GIT_INTERACTIVE] = ASK(MEDIUM, EXEC,
	"opens an editor or a dialogue", "`git add file` by name"),
[GIT_PATCH] = ASK(LOW, EXEC,
	"asks about every hunk, and nobody is there to answer",
	"`git add file` by name"),
[GIT_CONFIG] = DENY(HIGH, EXEC,
	"changes the configuration of git",
	"`git config --get user.name` reads; the host configures"),
[GIT_CONFIG_RUNS] = DENY(CRITICAL, EXEC,
	"sets a key that makes git run a program or trust a place",
	"the host configures"),
[GIT_CONFIG_IDENTITY] = ASK(MEDIUM, REWRITE,
	"changes who the author is", "the host sets the identity"),
[GIT_CONFIG_LIST] = ASK(MEDIUM, SECRET,
	"may print tokens kept in the configuration",
	"`git config --get user.name` reads one key"),
[GIT_CONFIG_SECRET] = DENY(HIGH, SECRET,
	"reads a key that holds credentials", NULL),
[GIT_KEY] = DENY(CRITICAL, EXEC,
	"sets a configuration key that can make git run a program",
	"`git -c color.ui=never status`: only keys of that kind"),
[GIT_KEY_IDENTITY] = ASK(MEDIUM, REWRITE,
	"changes who the author is", "the host sets the identity"),
[GIT_KEY_HOOKS] = ASK(MEDIUM, EXEC,
	"takes hooks or configuration of the host out of use", NULL),
[GIT_REPOSITORY] = DENY(HIGH, EXEC,
	"makes git use another repository or worktree",
	"`git -C . status` inside the assigned worktree"),
[GIT_EXEC_PATH] = DENY(CRITICAL, EXEC,
	"makes git take its own programs from elsewhere", NULL),
[GIT_ENV] = DENY(CRITICAL, EXEC,
	"sets a variable that makes git run a program or use other files",
	NULL),
[GIT_ENV_ASK] = ASK(MEDIUM, EXEC,
	"sets a variable whose effect on git is not known to be harmless",
	NULL),
[GIT_ENV_PATH] = ASK(MEDIUM, EXEC,
	"makes the shell look for git elsewhere", NULL),
[GIT_ENV_IDENTITY] = ASK(MEDIUM, REWRITE,
	"changes author, committer or date of commits", NULL),

[GIT_WRITES] = ASK(MEDIUM, EXEC,
	"writes a file that git was told the name of",
	"redirect standard output to a file of the worktree"),
[GIT_WRITES_OUT] = DENY(CRITICAL, EXEC,
	"writes a file outside the worktree or inside .git",
	"write to a file of the worktree"),
[GIT_WRITES_TEMP] = SOFT(HIGH, EXEC,
	"writes files outside the worktree",
	"write to a directory of the worktree, or redirect standard output"),
[GIT_READS] = ASK(MEDIUM, EXEC,
	"reads a file outside the worktree", "name a file of the worktree"),
[GIT_READS_OUT] = DENY(HIGH, EXEC,
	"reads any file on the system", "name a file of the worktree"),
[GIT_PATH_OUT] = DENY(HIGH, EXEC,
	"names a path outside the worktree", "name a path in the worktree"),
[GIT_PATH_ASK] = ASK(MEDIUM, EXEC,
	"names a path that is not known to be in the worktree",
	"name a path in the worktree"),
[GIT_DIRECTORY_OUT] = ASK(MEDIUM, EXEC,
	"works in a directory that is not known to be in the worktree",
	"`git -C . status` inside the assigned worktree"),

[GIT_STASH] = ASK(MEDIUM, SHARED,
	"the stash is shared by every worktree", "make a commit"),
[GIT_TAG] = ASK(MEDIUM, SHARED,
	"tags are shared by every worktree", "`git tag -l`"),
[GIT_NOTES] = ASK(MEDIUM, SHARED,
	"notes are shared by every worktree",
	"say it in the commit message"),
[GIT_OBJECTS] = ASK(MEDIUM, SHARED,
	"writes objects that every worktree shares", "add and commit"),
[GIT_INDEX_BITS] = ASK(MEDIUM, SHARED,
	"changes the index by hand or hides changes from review",
	"`git add file`"),
[GIT_ADD_IGNORED] = ASK(MEDIUM, SHARED,
	"adds files that the project ignores", "`git add -A`"),
[GIT_REVERSE] = ASK(MEDIUM, DESTROY,
	"takes changes back out of the files",
	"`git apply -R --check change.patch`"),

[GIT_AMEND] = ASK(MEDIUM, REWRITE,
	"replaces a commit that the host may have recorded",
	"make a new commit"),
[GIT_NO_VERIFY] = ASK(MEDIUM, REWRITE,
	"skips the commit hooks", "commit with the hooks"),
[GIT_IDENTITY] = ASK(MEDIUM, REWRITE,
	"changes author or date of the commit", "commit as configured"),
[GIT_RESET_OTHER] = ASK(MEDIUM, REWRITE,
	"moves the branch to another commit",
	"`git reset HEAD -- file` unstages; make a new commit"),

[GIT_UNKNOWN_COMMAND] = ASK(MEDIUM, UNKNOWN,
	"not a command of git: an alias or a program on PATH",
	"spell the command out"),
[GIT_UNKNOWN_OPTION] = ASK(MEDIUM, UNKNOWN,
	"an option that is not known for this command",
	"spell the option out"),
[GIT_DYNAMIC] = ASK(MEDIUM, UNKNOWN,
	"a word that is only known when it runs may be an option or a command",
	"spell it out, or put -- before it"),
[GIT_DASHED] = ASK(LOW, UNKNOWN,
	"not the usual way to start git", "`git status`: in two words"),
[GIT_GLOBAL] = ASK(MEDIUM, UNKNOWN,
	"an option of git itself that is not known to be harmless",
	"leave the option away"),
[GIT_HELP_DENIED] = ASK(LOW, UNKNOWN,
	"asks for the help of a command that is denied",
	"`git help push` and the like"),
[GIT_EVAL] = ASK(LOW, UNKNOWN,
	"prints text that is meant to be run", NULL),
[GIT_OTHER_TOOL] = ASK(MEDIUM, UNKNOWN,
	"another program that works on the repository", "use git itself"),
};

static_assert(sizeof(findings) / sizeof(findings[0]) == GIT_ACT_COUNT,
	      "every act has a row");

const struct ab_git_finding *ab_git_finding_of(enum ab_git_act act)
{
	return &findings[act];
}
