/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every subcommand of git, and the verbs of those that have verbs, with what
 * they are worth: the table that the git check is. Sorted for strcmp().
 *
 * One that is denied needs no options: none makes it better. A verb is a
 * command of its own, "stash drop". What is not here is an alias or a program
 * on PATH: asked about, never allowed.
 */
#include "config.h"

#include "guard/git_table.h"

#include <string.h>

/* Name, what it is worth, how its operands and options are read. */
#define RULE(name, act, operands, flags, ...)                                  \
	{name, GIT_##act, OPERANDS_##operands, flags, GIT_OK, 0, {__VA_ARGS__}}
/* Nothing more to know: act decides. */
#define FLAT(name, act)                                                        \
	{name, GIT_##act, OPERANDS_ANY, COMMAND_LENIENT, GIT_OK, 0, {NULL}}
/* The first operand is a verb; `other`: any verb without a row of its own. */
#define VERBS(name, act, operands, flags, other, ...)                          \
	{name,                                                                 \
	 GIT_##act,                                                            \
	 OPERANDS_##operands,                                                  \
	 COMMAND_VERBS | (flags),                                              \
	 GIT_##other,                                                          \
	 0,                                                                    \
	 {__VA_ARGS__}}
#define PRESET(name, act, operands, flags, preset, ...)                        \
	{name, GIT_##act, OPERANDS_##operands, flags, GIT_OK, preset,          \
	 {__VA_ARGS__}}
#define O(set) &ab_git_set_##set
#define LENIENT COMMAND_LENIENT
#define STOP COMMAND_STOP
#define ECHO COMMAND_ECHO
#define RANGES COMMAND_RANGES
#define SHOWS COMMAND_SHOWS
#define PATCH COMMAND_PATCH
#define PRINTS COMMAND_PRINTS

static const struct ab_git_command commands[] = {
	RULE("add", OK, INSIDE, 0, O(add)),
	FLAT("add--interactive", INTERNAL),
	FLAT("am", AM),
	VERBS("annex", UNKNOWN_COMMAND, ANY, LENIENT, UNKNOWN_COMMAND, NULL),
	FLAT("annex assist", REMOTE),
	FLAT("annex assistant", REMOTE),
	FLAT("annex copy", REMOTE),
	FLAT("annex drop", PRUNE),
	FLAT("annex dropunused", PRUNE),
	FLAT("annex export", REMOTE),
	FLAT("annex get", REMOTE),
	FLAT("annex import", REMOTE),
	FLAT("annex mirror", REMOTE),
	FLAT("annex move", REMOTE),
	FLAT("annex pull", REMOTE),
	FLAT("annex push", REMOTE),
	FLAT("annex satisfy", REMOTE),
	FLAT("annex sync", REMOTE),
	FLAT("annex uninit", HISTORY),
	FLAT("annex webapp", SERVER),
	RULE("annotate", OK, ANY, RANGES | PRINTS, O(annotate),
	      O(revisions),
	      O(diff_all)),
	RULE("apply", OK, APPLY, 0, O(apply)),
	FLAT("archimport", REMOTE),
	RULE("archive", OK, ANY, PRINTS, O(archive)),
	FLAT("backfill", REMOTE),
	VERBS("bisect", OK, ANY, 0, TOPOLOGY, NULL),
	FLAT("bisect bad", TOPOLOGY),
	FLAT("bisect good", TOPOLOGY),
	RULE("bisect help", OK, ANY, 0, NULL),
	RULE("bisect log", OK, ANY, 0, NULL),
	FLAT("bisect new", TOPOLOGY),
	FLAT("bisect next", TOPOLOGY),
	FLAT("bisect old", TOPOLOGY),
	FLAT("bisect replay", TOPOLOGY),
	FLAT("bisect reset", TOPOLOGY),
	FLAT("bisect run", RUNS),
	FLAT("bisect skip", TOPOLOGY),
	FLAT("bisect start", TOPOLOGY),
	RULE("bisect terms", OK, ANY, 0, NULL),
	FLAT("bisect view", BROWSER),
	FLAT("bisect visualize", BROWSER),
	FLAT("bisect--helper", INTERNAL),
	RULE("blame", OK, ANY, RANGES | PRINTS, O(annotate),
	      O(revisions),
	      O(diff_all)),
	RULE("branch", OK, BRANCH, 0, O(branch)),
	RULE("bugreport", REPORT, ANY, LENIENT, O(report)),
	VERBS("bundle", OBJECTS, ANY, LENIENT, OBJECTS, NULL),
	RULE("bundle create", WRITES, WRITE_FIRST, LENIENT, O(bundle),
	      O(revisions), O(diff_all)),
	RULE("bundle list-heads", OK, ANY, 0, O(bundle)),
	FLAT("bundle unbundle", OBJECTS),
	RULE("bundle verify", OK, ANY, 0, O(bundle)),
	FLAT("bundle-uri", REMOTE),
	RULE("cat-file", OK, ANY, SHOWS, O(cat_file)),
	RULE("check-attr", OK, ANY, 0, O(check_attr)),
	RULE("check-ignore", OK, ANY, 0, O(check_ignore)),
	RULE("check-mailmap", OK, ANY, 0, O(check_mailmap)),
	RULE("check-ref-format", OK, ANY, 0, O(check_ref_format)),
	FLAT("checkout", TOPOLOGY),
	FLAT("checkout--worker", INTERNAL),
	FLAT("checkout-index", PLUMBING),
	RULE("cherry", OK, ANY, 0, O(cherry)),
	FLAT("cherry-pick", CHERRY_PICK),
	FLAT("citool", RUNS),
	RULE("clean", OK, CLEAN, 0, O(clean)),
	FLAT("clone", REMOTE),
	RULE("column", OK, ANY, 0, O(column)),
	RULE("commit", OK, ANY, 0, O(commit)),
	FLAT("commit-graph", HOUSEKEEPING),
	FLAT("commit-tree", OBJECTS),
	VERBS("config", OK, CONFIG, STOP, OK, O(config)),
	FLAT("config edit", CONFIG),
	PRESET("config get", OK, CONFIG, STOP, FLAG_READ, O(config)),
	PRESET("config list", CONFIG_LIST, CONFIG, STOP, FLAG_READ, O(config)),
	FLAT("config remove-section", CONFIG),
	FLAT("config rename-section", CONFIG),
	PRESET("config set", OK, CONFIG, STOP, FLAG_WRITE, O(config)),
	PRESET("config unset", OK, CONFIG, STOP, FLAG_WRITE, O(config)),
	RULE("count-objects", OK, ANY, 0, O(count)),
	FLAT("credential", CREDENTIAL),
	FLAT("credential-cache", CREDENTIAL),
	FLAT("credential-cache--daemon", CREDENTIAL),
	FLAT("credential-gnome-keyring", CREDENTIAL),
	FLAT("credential-libsecret", CREDENTIAL),
	FLAT("credential-manager", CREDENTIAL),
	FLAT("credential-manager-core", CREDENTIAL),
	FLAT("credential-netrc", CREDENTIAL),
	FLAT("credential-oauth", CREDENTIAL),
	FLAT("credential-osxkeychain", CREDENTIAL),
	FLAT("credential-store", CREDENTIAL),
	FLAT("credential-wincred", CREDENTIAL),
	FLAT("cvsexportcommit", REMOTE),
	FLAT("cvsimport", REMOTE),
	FLAT("cvsserver", SERVER),
	FLAT("daemon", SERVER),
	RULE("describe", OK, ANY, 0, O(describe)),
	RULE("diagnose", REPORT, ANY, LENIENT, O(report)),
	RULE("diff", OK, DIFF, RANGES | SHOWS, O(diff_own), O(diff_all),
	      O(revisions)),
	RULE("diff-files", OK, ANY, PATCH, O(diff_plumbing), O(diff_all),
	      O(revisions)),
	RULE("diff-index", OK, ANY, PATCH, O(diff_plumbing), O(diff_all),
	      O(revisions)),
	RULE("diff-pairs", OK, ANY, PATCH, O(diff_plumbing), O(diff_all),
	      O(revisions)),
	RULE("diff-tree", OK, ANY, RANGES | PATCH, O(diff_plumbing),
	      O(diff_all),
	      O(revisions)),
	FLAT("difftool", RUNS),
	FLAT("difftool--helper", INTERNAL),
	FLAT("env--helper", INTERNAL),
	RULE("fast-export", EXPORT, ANY, LENIENT, O(export), O(revisions),
	      O(diff_all)),
	FLAT("fast-import", HISTORY),
	FLAT("fetch", REMOTE),
	FLAT("fetch-pack", REMOTE),
	FLAT("filter-branch", HISTORY),
	FLAT("filter-repo", HISTORY),
	RULE("fmt-merge-msg", OK, ANY, 0, O(fmt_merge_msg)),
	RULE("for-each-ref", OK, ANY, 0, O(ref_filter)),
	FLAT("for-each-repo", RUNS),
	RULE("format-patch", OK, ANY, SHOWS, O(format_patch), O(revisions),
	      O(diff_all)),
	RULE("fsck", OK, ANY, 0, O(fsck)),
	RULE("fsck-objects", OK, ANY, 0, O(fsck)),
	FLAT("fsmonitor--daemon", INTERNAL),
	RULE("gc", HOUSEKEEPING, ANY, LENIENT, O(gc)),
	RULE("get-tar-commit-id", OK, ANY, 0, NULL),
	FLAT("gitk", RUNS),
	FLAT("gitweb", RUNS),
	RULE("grep", OK, GREP, 0, O(grep)),
	FLAT("gui", RUNS),
	FLAT("gui--askpass", RUNS),
	RULE("hash-object", OK, HASH, 0, O(hash_object)),
	RULE("help", OK, ANY, 0, O(help)),
	FLAT("history", TOPOLOGY),
	FLAT("hook", RUNS),
	FLAT("http-backend", SERVER),
	FLAT("http-fetch", REMOTE),
	FLAT("http-push", REMOTE),
	FLAT("imap-send", REMOTE),
	RULE("index-pack", HOUSEKEEPING, ANY, LENIENT, O(index_pack)),
	RULE("init", INIT, INIT, LENIENT, O(init)),
	RULE("init-db", INIT, INIT, LENIENT, O(init)),
	FLAT("instaweb", SERVER),
	RULE("interpret-trailers", OK, READ_ASK, 0, O(trailers)),
	FLAT("k", RUNS),
	RULE("last-modified", OK, ANY, 0, O(last_modified), O(revisions),
	      O(diff_all)),
	FLAT("legacy-rebase", INTERNAL),
	FLAT("legacy-stash", INTERNAL),
	VERBS("lfs", UNKNOWN_COMMAND, ANY, LENIENT, UNKNOWN_COMMAND, NULL),
	FLAT("lfs checkout", HISTORY),
	FLAT("lfs clone", REMOTE),
	FLAT("lfs dedup", HISTORY),
	FLAT("lfs env", UNKNOWN_COMMAND),
	FLAT("lfs fetch", REMOTE),
	FLAT("lfs install", CONFIG),
	FLAT("lfs lock", REMOTE),
	FLAT("lfs locks", REMOTE),
	FLAT("lfs ls-files", UNKNOWN_COMMAND),
	FLAT("lfs migrate", HISTORY),
	FLAT("lfs prune", PRUNE),
	FLAT("lfs pull", REMOTE),
	FLAT("lfs push", REMOTE),
	FLAT("lfs standalone-file", CONFIG),
	FLAT("lfs status", UNKNOWN_COMMAND),
	FLAT("lfs track", UNKNOWN_COMMAND),
	FLAT("lfs uninstall", CONFIG),
	FLAT("lfs unlock", REMOTE),
	FLAT("lfs untrack", UNKNOWN_COMMAND),
	FLAT("lfs update", CONFIG),
	FLAT("lfs version", UNKNOWN_COMMAND),
	RULE("log", OK, ANY, RANGES | PATCH, O(log), O(revisions), O(diff_all)),
	RULE("ls-files", OK, ANY, 0, O(ls_files)),
	FLAT("ls-remote", REMOTE),
	RULE("ls-tree", OK, ANY, 0, O(ls_tree)),
	RULE("mailinfo", OVERWRITE, OVERWRITE, LENIENT, NULL),
	RULE("mailsplit", OVERWRITE, ANY, LENIENT, O(mailsplit)),
	VERBS("maintenance", HOUSEKEEPING, ANY, LENIENT, CONFIG, NULL),
	FLAT("maintenance is-needed", HOUSEKEEPING),
	FLAT("maintenance register", CONFIG),
	RULE("maintenance run", HOUSEKEEPING, ANY, LENIENT, O(maintenance)),
	FLAT("maintenance start", CONFIG),
	FLAT("maintenance stop", CONFIG),
	FLAT("maintenance unregister", CONFIG),
	FLAT("merge", TOPOLOGY),
	RULE("merge-base", OK, ANY, 0, O(merge_base)),
	PRESET("merge-file", OVERWRITE, READ_ASK, LENIENT, FLAG_WRITE,
	       O(merge_file)),
	FLAT("merge-index", PLUMBING),
	FLAT("merge-octopus", PLUMBING),
	FLAT("merge-one-file", PLUMBING),
	FLAT("merge-ours", PLUMBING),
	FLAT("merge-recursive", PLUMBING),
	FLAT("merge-recursive-ours", PLUMBING),
	FLAT("merge-recursive-theirs", PLUMBING),
	FLAT("merge-resolve", PLUMBING),
	FLAT("merge-subtree", PLUMBING),
	RULE("merge-tree", OK, ANY, 0, O(merge_tree)),
	FLAT("mergetool", RUNS),
	FLAT("mergetool--lib", INTERNAL),
	RULE("mktag", OK, ANY, 0, O(mk)),
	RULE("mktree", OK, ANY, 0, O(mk)),
	VERBS("multi-pack-index", HOUSEKEEPING, ANY, LENIENT, HOUSEKEEPING,
	      O(packs)),
	FLAT("multi-pack-index compact", PRUNE),
	FLAT("multi-pack-index expire", PRUNE),
	FLAT("multi-pack-index repack", PRUNE),
	FLAT("multi-pack-index verify", HOUSEKEEPING),
	FLAT("multi-pack-index write", HOUSEKEEPING),
	RULE("mv", OK, MOVE, 0, O(move)),
	RULE("name-rev", OK, ANY, 0, O(name_rev)),
	VERBS("notes", OK, ANY, 0, NOTES, O(notes)),
	RULE("notes add", NOTES, ANY, LENIENT, O(notes_edit)),
	RULE("notes append", NOTES, ANY, LENIENT, O(notes_edit)),
	FLAT("notes copy", NOTES),
	RULE("notes edit", NOTES, ANY, LENIENT, O(notes_edit)),
	RULE("notes get-ref", OK, ANY, 0, O(notes)),
	RULE("notes list", OK, ANY, 0, O(notes)),
	FLAT("notes merge", NOTES),
	FLAT("notes prune", NOTES_REMOVE),
	FLAT("notes remove", NOTES_REMOVE),
	RULE("notes show", OK, ANY, 0, O(notes)),
	FLAT("p4", REMOTE),
	RULE("pack-objects", HOUSEKEEPING, OVERWRITE, LENIENT, NULL),
	FLAT("pack-redundant", HOUSEKEEPING),
	FLAT("pack-refs", HOUSEKEEPING),
	FLAT("parse-remote", INTERNAL),
	RULE("patch-id", OK, ANY, 0, O(patch_id)),
	RULE("pickaxe", OK, ANY, PRINTS, O(annotate), O(revisions),
	      O(diff_all)),
	FLAT("prune", PRUNE),
	FLAT("prune-packed", HOUSEKEEPING),
	FLAT("pull", REMOTE),
	FLAT("push", REMOTE),
	FLAT("quiltimport", OVERWRITE),
	RULE("range-diff", OK, ANY, RANGES | SHOWS, O(range_diff), O(diff_all)),
	FLAT("read-tree", PLUMBING),
	FLAT("rebase", TOPOLOGY),
	FLAT("rebase--helper", INTERNAL),
	FLAT("rebase--interactive", INTERNAL),
	FLAT("receive-pack", SERVER),
	VERBS("reflog", OK, ANY, PATCH, OK, O(log), O(revisions), O(diff_all)),
	FLAT("reflog delete", PRUNE),
	FLAT("reflog drop", PRUNE),
	RULE("reflog exists", OK, ANY, 0, O(log), O(revisions), O(diff_all)),
	FLAT("reflog expire", PRUNE),
	RULE("reflog list", OK, ANY, 0, O(log), O(revisions), O(diff_all)),
	RULE("reflog show", OK, ANY, PATCH, O(log), O(revisions), O(diff_all)),
	FLAT("reflog write", PRUNE),
	VERBS("refs", UNKNOWN_COMMAND, ANY, LENIENT, UNKNOWN_COMMAND, NULL),
	RULE("refs exists", OK, ANY, 0, NULL),
	RULE("refs list", OK, ANY, 0, O(ref_filter)),
	FLAT("refs migrate", PRUNE),
	FLAT("refs optimize", PRUNE),
	RULE("refs verify", OK, ANY, 0, O(fsck)),
	VERBS("remote", OK, ANY, 0, REMOTE, O(remote)),
	FLAT("remote add", REMOTE),
	RULE("remote get-url", OK, ANY, 0, O(remote)),
	FLAT("remote prune", REMOTE),
	FLAT("remote remove", REMOTE),
	FLAT("remote rename", REMOTE),
	FLAT("remote rm", REMOTE),
	FLAT("remote set-branches", REMOTE),
	FLAT("remote set-head", REMOTE),
	FLAT("remote set-url", REMOTE),
	RULE("remote show", OK, REMOTE_SHOW, 0, O(remote)),
	FLAT("remote update", REMOTE),
	FLAT("remote-curl", INTERNAL),
	FLAT("remote-ext", REMOTE),
	FLAT("remote-fd", REMOTE),
	FLAT("remote-ftp", REMOTE),
	FLAT("remote-ftps", REMOTE),
	FLAT("remote-http", REMOTE),
	FLAT("remote-https", REMOTE),
	FLAT("remote-testsvn", INTERNAL),
	RULE("repack", HOUSEKEEPING, REPACK, LENIENT, O(repack)),
	FLAT("replace", PLUMBING),
	FLAT("replay", TOPOLOGY),
	VERBS("repo", UNKNOWN_COMMAND, ANY, LENIENT, UNKNOWN_COMMAND, NULL),
	RULE("repo info", OK, ANY, 0, O(repo)),
	RULE("repo structure", OK, ANY, 0, O(repo)),
	FLAT("request-pull", REMOTE),
	VERBS("rerere", INDEX_BITS, ANY, LENIENT, INDEX_BITS, NULL),
	FLAT("rerere clear", HOUSEKEEPING),
	RULE("rerere diff", OK, ANY, 0, NULL),
	FLAT("rerere forget", HOUSEKEEPING),
	FLAT("rerere gc", HOUSEKEEPING),
	RULE("rerere remaining", OK, ANY, 0, NULL),
	RULE("rerere status", OK, ANY, 0, NULL),
	RULE("reset", OK, RESET, 0, O(reset)),
	RULE("restore", OK, RESTORE, 0, O(restore)),
	RULE("rev-list", OK, ANY, RANGES, O(rev_list), O(revisions),
	      O(diff_all)),
	RULE("rev-parse", OK, ANY, ECHO, O(rev_parse)),
	RULE("revert", REVERT, ANY, LENIENT, O(revert), O(diff_all)),
	FLAT("review", REMOTE),
	RULE("rm", OK, REMOVE, 0, O(remove)),
	FLAT("scalar", RUNS),
	FLAT("send-email", REMOTE),
	FLAT("send-pack", REMOTE),
	FLAT("sh-i18n", INTERNAL),
	FLAT("sh-i18n--envsubst", INTERNAL),
	FLAT("sh-setup", INTERNAL),
	FLAT("shell", SERVER),
	RULE("shortlog", OK, ANY, RANGES, O(shortlog), O(revisions),
	      O(diff_all),
	      O(log)),
	RULE("show", OK, ANY, RANGES | SHOWS, O(log), O(revisions),
	      O(diff_all)),
	RULE("show-branch", OK, ANY, 0, O(show_branch)),
	RULE("show-index", OK, ANY, 0, O(show_index)),
	RULE("show-ref", OK, ANY, 0, O(show_ref)),
	VERBS("sparse-checkout", OK, ANY, 0, SUBMODULE, NULL),
	FLAT("sparse-checkout add", SUBMODULE),
	RULE("sparse-checkout check-rules", OK, ANY, 0, O(sparse)),
	FLAT("sparse-checkout clean", SUBMODULE),
	FLAT("sparse-checkout disable", SUBMODULE),
	FLAT("sparse-checkout init", SUBMODULE),
	RULE("sparse-checkout list", OK, ANY, 0, O(sparse)),
	FLAT("sparse-checkout reapply", SUBMODULE),
	FLAT("sparse-checkout set", SUBMODULE),
	RULE("stage", OK, INSIDE, 0, O(add)),
	VERBS("stash", STASH, ANY, LENIENT, STASH, NULL),
	FLAT("stash apply", STASH),
	FLAT("stash branch", BRANCH),
	FLAT("stash clear", STASH_DROP),
	FLAT("stash create", STASH),
	FLAT("stash drop", STASH_DROP),
	FLAT("stash export", REMOTE),
	FLAT("stash import", REMOTE),
	RULE("stash list", OK, ANY, PATCH, O(log), O(revisions), O(diff_all)),
	FLAT("stash pop", STASH),
	FLAT("stash push", STASH),
	FLAT("stash save", STASH),
	RULE("stash show", OK, ANY, PATCH, O(stash_show), O(diff_all),
	      O(revisions)),
	FLAT("stash store", STASH),
	FLAT("stash--helper", INTERNAL),
	RULE("status", OK, ANY, 0, O(status)),
	RULE("stripspace", OK, ANY, 0, O(stripspace)),
	VERBS("submodule", OK, ANY, 0, SUBMODULE, O(submodule)),
	FLAT("submodule absorbgitdirs", SUBMODULE),
	FLAT("submodule add", SUBMODULE),
	FLAT("submodule deinit", SUBMODULE),
	FLAT("submodule foreach", SUBMODULE),
	FLAT("submodule init", SUBMODULE),
	FLAT("submodule set-branch", SUBMODULE),
	FLAT("submodule set-url", SUBMODULE),
	RULE("submodule status", OK, ANY, 0, O(submodule)),
	RULE("submodule summary", OK, ANY, 0, O(submodule)),
	FLAT("submodule sync", SUBMODULE),
	FLAT("submodule update", SUBMODULE),
	FLAT("submodule--helper", SUBMODULE),
	VERBS("subtree", UNKNOWN_COMMAND, ANY, LENIENT, UNKNOWN_COMMAND,
	      O(subtree)),
	FLAT("subtree add", REMOTE),
	FLAT("subtree merge", TOPOLOGY),
	FLAT("subtree pull", REMOTE),
	FLAT("subtree push", REMOTE),
	FLAT("subtree split", TOPOLOGY),
	FLAT("svn", REMOTE),
	FLAT("switch", TOPOLOGY),
	RULE("symbolic-ref", OK, SYMBOLIC_REF, 0, O(symbolic_ref)),
	RULE("tag", OK, TAG, 0, O(tag)),
	FLAT("test-tool", INTERNAL),
	FLAT("testsvn", INTERNAL),
	FLAT("unpack-file", OVERWRITE),
	FLAT("unpack-objects", HOUSEKEEPING),
	RULE("update-index", OK, INSIDE, 0, O(index)),
	FLAT("update-ref", PLUMBING),
	FLAT("update-server-info", HOUSEKEEPING),
	FLAT("upload-archive", SERVER),
	FLAT("upload-archive--writer", SERVER),
	FLAT("upload-pack", SERVER),
	RULE("var", OK, ANY, 0, O(var)),
	FLAT("verify-commit", SIGNATURE),
	RULE("verify-pack", OK, ANY, 0, O(verify_pack)),
	FLAT("verify-tag", SIGNATURE),
	RULE("version", OK, ANY, 0, O(version)),
	FLAT("web--browse", RUNS),
	RULE("whatchanged", OK, ANY, RANGES | PATCH, O(log), O(revisions),
	      O(diff_all)),
	/* without a verb it prints how it is used */
	VERBS("worktree", OK, ANY, 0, WORKTREE, NULL),
	FLAT("worktree add", WORKTREE),
	RULE("worktree list", WORKTREE_LIST, NONE, 0, O(worktree_list)),
	FLAT("worktree lock", WORKTREE),
	FLAT("worktree move", WORKTREE),
	FLAT("worktree prune", WORKTREE),
	FLAT("worktree remove", WORKTREE),
	FLAT("worktree repair", WORKTREE),
	FLAT("worktree unlock", WORKTREE),
	RULE("write-tree", OK, ANY, 0, O(mk)),
};

static const size_t command_count = sizeof(commands) / sizeof(commands[0]);

/* Like strcmp() of the table's name and `head`, a space and `tail`. */
static int compare(const char *name, const char *head, size_t head_len,
		   const char *tail, size_t tail_len)
{
	int d = (unsigned char)*name - (unsigned char)*head;

	/* most differ by then */
	if (d && head_len)
		return d;
	d = strncmp(name, head, head_len);
	if (d || !tail)
		return d ? d : (unsigned char)name[head_len];
	if (name[head_len] != ' ')
		return (unsigned char)name[head_len] - ' ';
	d = strncmp(name + head_len + 1, tail, tail_len);
	return d ? d : (unsigned char)name[head_len + 1 + tail_len];
}

static const struct ab_git_command *find(const char *head, size_t head_len,
					 const char *tail, size_t tail_len)
{
	size_t low = 0;
	size_t high = command_count;

	/* a NUL would end strncmp() early */
	if (memchr(head, '\0', head_len) ||
	    (tail && memchr(tail, '\0', tail_len)))
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int d = compare(commands[middle].name, head, head_len, tail,
				tail_len);

		if (!d)
			return &commands[middle];
		if (d < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct ab_git_command *ab_git_command_find(const char *name, size_t len)
{
	/* "stash drop" is the name of a verb, not of a command */
	if (!len || memchr(name, ' ', len))
		return NULL;
	return find(name, len, NULL, 0);
}

const struct ab_git_command *ab_git_verb_find(const struct ab_git_command *of,
					      const char *verb, size_t len)
{
	return len ? find(of->name, strlen(of->name), verb, len) : NULL;
}

const struct ab_git_command *ab_git_commands(size_t *count)
{
	*count = command_count;
	return commands;
}
