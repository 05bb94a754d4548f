/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of commands that change index, files or local refs. Sorted for
 * strcmp(). Source: the manual page of each command.
 */
#include "config.h"

#include "guard/git_option.h"

SET(add)
	X("-A", NONE, OK, ANY, FLAG_RECURSE), N("-N"), V("-U"),
	X("-e", NONE, INTERACTIVE, ANY, 0),
	X("-f", NONE, ADD_IGNORED, ANY, 0), X("-i", NONE, INTERACTIVE, ANY, 0),
	N("-n"), X("-p", NONE, PATCH, ANY, 0), N("-u"), N("-v"),
	X("all", NONE, OK, ANY, FLAG_RECURSE), N("auto-advance"), V("chmod"),
	N("dry-run"), X("edit", NONE, INTERACTIVE, ANY, 0),
	X("force", NONE, ADD_IGNORED, ANY, 0), N("ignore-errors"),
	N("ignore-missing"), N("ignore-removal"), N("intent-to-add"),
	V("inter-hunk-context"), X("interactive", NONE, INTERACTIVE, ANY, 0),
	X("patch", NONE, PATCH, ANY, 0), N("pathspec-file-nul"),
	X("pathspec-from-file", NEED, OK, READ_NAMES, FLAG_RECURSE), N("refresh"),
	N("renormalize"), N("sparse"), V("unified"), N("update"), N("verbose"),
	N("warn-embedded-repo"),
END(add)

SET(apply)
	N("-3"), V("-C"), N("-N"), X("-R", NONE, OK, ANY, FLAG_REVERSE),
	V("-p"), N("-q"), N("-v"), N("-z"), N("3way"), N("add"),
	N("allow-binary-replacement"), N("allow-empty"), N("allow-overlap"),
	X("apply", NONE, OK, ANY, FLAG_APPLY), N("binary"),
	X("build-fake-ancestor", NEED, OK, WRITE_ASK, 0), N("cached"),
	X("check", NONE, OK, ANY, FLAG_DRY), X("directory", NEED, OK, BELOW, 0),
	V("exclude"), N("ignore-space-change"), N("ignore-whitespace"),
	N("inaccurate-eof"), V("include"), N("index"), N("intent-to-add"),
	N("no-add"), X("numstat", NONE, OK, ANY, FLAG_DRY), N("ours"),
	N("quiet"), N("recount"), N("reject"),
	X("reverse", NONE, OK, ANY, FLAG_REVERSE),
	X("stat", NONE, OK, ANY, FLAG_DRY),
	X("summary", NONE, OK, ANY, FLAG_DRY), N("theirs"), N("unidiff-zero"),
	N("union"), X("unsafe-paths", NONE, PATH_OUT, ANY, 0), N("verbose"),
	V("whitespace"),
END(apply)

SET(branch)
	X("-C", NONE, BRANCH, ANY, 0), X("-D", NONE, BRANCH, ANY, 0),
	X("-M", NONE, BRANCH, ANY, 0), N("-a"), X("-c", NONE, BRANCH, ANY, 0),
	X("-d", NONE, BRANCH, ANY, 0), X("-f", NONE, BRANCH, ANY, 0), N("-i"),
	X("-l", NONE, OK, ANY, FLAG_LIST), X("-m", NONE, BRANCH, ANY, 0),
	N("-q"), N("-r"), X("-t", GLUE, BRANCH, ANY, 0),
	X("-u", NEED, BRANCH, ANY, 0), N("-v"), G("abbrev"), N("all"),
	G("color"), G("column"), X("contains", NEED, OK, ANY, FLAG_LIST),
	X("copy", NONE, BRANCH, ANY, 0),
	X("create-reflog", NONE, BRANCH, ANY, 0),
	X("delete", NONE, BRANCH, ANY, 0),
	X("edit-description", NONE, BRANCH, ANY, 0),
	X("force", NONE, BRANCH, ANY, 0), X("format", NEED, OK, REF_FORMAT, 0),
	N("ignore-case"), X("list", NONE, OK, ANY, FLAG_LIST),
	X("merged", NEED, OK, ANY, FLAG_LIST), X("move", NONE, BRANCH, ANY, 0),
	N("no-abbrev"), X("no-contains", NEED, OK, ANY, FLAG_LIST),
	X("no-merged", NEED, OK, ANY, FLAG_LIST), N("no-track"),
	N("omit-empty"), X("points-at", NEED, OK, ANY, FLAG_LIST), N("quiet"),
	X("recurse-submodules", NONE, BRANCH, ANY, 0), N("remotes"),
	X("set-upstream", NONE, BRANCH, ANY, 0),
	X("set-upstream-to", NEED, BRANCH, ANY, 0),
	X("show-current", NONE, OK, ANY, FLAG_LIST),
	X("sort", NEED, OK, SORT, 0),
	X("track", GLUE, BRANCH, ANY, 0),
	X("unset-upstream", NONE, BRANCH, ANY, 0), N("verbose"),
	X("with", NEED, OK, ANY, FLAG_LIST),
	X("without", NEED, OK, ANY, FLAG_LIST),
END(branch)

SET(clean)
	N("-X"), N("-d"), V("-e"), N("-f"), N("-i"),
	X("-n", NONE, OK, ANY, FLAG_DRY), N("-q"), N("-x"),
	X("dry-run", NONE, OK, ANY, FLAG_DRY), V("exclude"), N("force"),
	N("interactive"), N("quiet"),
END(clean)

SET(commit)
	V("-C"), X("-F", NEED, OK, READ, 0), X("-S", GLUE, SIGNATURE, ANY, 0),
	V("-U"), N("-a"), V("-c"), N("-e"), N("-i"), V("-m"),
	X("-n", NONE, NO_VERIFY, ANY, 0), N("-o"), X("-p", NONE, PATCH, ANY, 0),
	N("-q"), N("-s"), X("-t", NEED, OK, READ, 0), G("-u"), N("-v"), N("-z"),
	N("ahead-behind"), N("all"), N("allow-empty"), N("allow-empty-message"),
	X("amend", NONE, AMEND, ANY, 0), X("author", NEED, IDENTITY, ANY, 0),
	N("auto-advance"), N("branch"), V("cleanup"),
	X("date", NEED, IDENTITY, ANY, 0), N("dry-run"), N("edit"),
	X("file", NEED, OK, READ, 0), V("fixup"),
	X("gpg-sign", GLUE, SIGNATURE, ANY, 0), N("include"),
	V("inter-hunk-context"), X("interactive", NONE, INTERACTIVE, ANY, 0),
	N("long"), V("message"), N("no-gpg-sign"),
	X("no-post-rewrite", NONE, NO_VERIFY, ANY, 0),
	X("no-verify", NONE, NO_VERIFY, ANY, 0), N("null"), N("only"),
	X("patch", NONE, PATCH, ANY, 0), N("pathspec-file-nul"),
	X("pathspec-from-file", NEED, OK, READ_NAMES, 0), N("porcelain"),
	N("quiet"), V("reedit-message"),
	X("reset-author", NONE, IDENTITY, ANY, 0), V("reuse-message"),
	N("short"), N("signoff"), V("squash"), N("status"),
	X("template", NEED, OK, READ, 0), V("trailer"), V("unified"),
	G("untracked-files"), N("verbose"),
END(commit)

SET(config)
	X("-e", NONE, CONFIG, ANY, 0), X("-f", NEED, OK, READ, 0),
	X("-l", NONE, CONFIG_LIST, ANY, FLAG_READ), V("-t"), N("-z"),
	X("add", NONE, OK, ANY, FLAG_WRITE), N("all"), N("append"),
	X("blob", NEED, OK, OBJECT, 0),
	N("bool"), N("bool-or-int"), N("bool-or-str"), N("color"), V("comment"),
	V("default"), X("edit", NONE, CONFIG, ANY, 0), N("expiry-date"),
	X("file", NEED, OK, READ, 0), N("fixed-value"),
	X("get", NONE, OK, ANY, FLAG_READ),
	X("get-all", NONE, OK, ANY, FLAG_READ),
	X("get-color", NONE, OK, ANY, FLAG_READ),
	X("get-colorbool", NONE, OK, ANY, FLAG_READ),
	X("get-regexp", NONE, OK, ANY, FLAG_READ | FLAG_REGEXP),
	X("get-urlmatch", NONE, OK, ANY, FLAG_READ), N("global"), N("includes"),
	N("int"), X("list", NONE, CONFIG_LIST, ANY, FLAG_READ), N("local"),
	N("name-only"), N("no-type"), N("null"), N("path"),
	X("regexp", NONE, OK, ANY, FLAG_REGEXP),
	X("remove-section", NONE, CONFIG, ANY, 0),
	X("rename-section", NONE, CONFIG, ANY, 0),
	X("replace-all", NONE, OK, ANY, FLAG_WRITE), N("show-names"),
	N("show-origin"), N("show-scope"), N("system"), V("type"),
	X("unset", NONE, OK, ANY, FLAG_WRITE),
	X("unset-all", NONE, OK, ANY, FLAG_WRITE), V("url"), V("value"),
	N("worktree"),
END(config)

SET(hash_object)
	V("-t"), X("-w", NONE, OBJECTS, ANY, 0), N("literally"),
	N("no-filters"), V("path"), N("stdin"),
	X("stdin-paths", NONE, PATH_ASK, ANY, 0),
END(hash_object)

SET(index)
	N("-g"), N("-q"), N("-z"), N("add"), N("again"),
	X("assume-unchanged", NONE, INDEX_BITS, ANY, 0),
	X("cacheinfo", NEED, INDEX_BITS, ANY, 0), V("chmod"),
	X("clear-resolve-undo", NONE, INDEX_BITS, ANY, 0),
	X("force-remove", NONE, INDEX_BITS, ANY, 0),
	X("force-untracked-cache", NONE, INDEX_BITS, ANY, 0),
	X("force-write-index", NONE, INDEX_BITS, ANY, 0),
	X("fsmonitor", NONE, INDEX_BITS, ANY, 0),
	X("fsmonitor-valid", NONE, INDEX_BITS, ANY, 0), N("ignore-missing"),
	X("ignore-skip-worktree-entries", NONE, INDEX_BITS, ANY, 0),
	N("ignore-submodules"), X("index-info", NONE, INDEX_BITS, ANY, 0),
	X("index-version", NEED, INDEX_BITS, ANY, 0),
	X("info-only", NONE, INDEX_BITS, ANY, 0),
	X("no-assume-unchanged", NONE, INDEX_BITS, ANY, 0),
	X("no-fsmonitor", NONE, INDEX_BITS, ANY, 0),
	X("no-fsmonitor-valid", NONE, INDEX_BITS, ANY, 0),
	X("no-skip-worktree", NONE, INDEX_BITS, ANY, 0),
	X("no-split-index", NONE, INDEX_BITS, ANY, 0),
	X("no-untracked-cache", NONE, INDEX_BITS, ANY, 0), N("really-refresh"),
	N("refresh"), X("remove", NONE, INDEX_BITS, ANY, 0), N("replace"),
	N("show-index-version"), X("skip-worktree", NONE, INDEX_BITS, ANY, 0),
	X("split-index", NONE, INDEX_BITS, ANY, 0), N("stdin"),
	X("test-untracked-cache", NONE, INDEX_BITS, ANY, 0), N("unmerged"),
	X("unresolve", NONE, INDEX_BITS, ANY, 0),
	X("untracked-cache", NONE, INDEX_BITS, ANY, 0), N("verbose"),
END(index)

SET(mk)
	N("-z"), N("batch"), N("ignore-cache-tree"), N("missing"),
	N("missing-ok"), V("prefix"), N("strict"),
END(mk)

SET(move)
	X("-f", NONE, MOVE_FORCE, ANY, 0), N("-k"),
	X("-n", NONE, OK, ANY, FLAG_DRY), N("-v"),
	X("dry-run", NONE, OK, ANY, FLAG_DRY),
	X("force", NONE, MOVE_FORCE, ANY, 0), N("sparse"), N("verbose"),
END(move)

SET(remove)
	X("-f", NONE, REMOVE_FORCE, ANY, 0), X("-n", NONE, OK, ANY, FLAG_DRY),
	N("-q"), X("-r", NONE, OK, ANY, FLAG_RECURSE),
	X("cached", NONE, OK, ANY, FLAG_INDEX),
	X("dry-run", NONE, OK, ANY, FLAG_DRY),
	X("force", NONE, REMOVE_FORCE, ANY, 0), N("ignore-unmatch"),
	N("pathspec-file-nul"), X("pathspec-from-file", NEED, PATH_ASK, ANY, 0),
	N("quiet"), N("sparse"),
END(remove)

SET(reset)
	N("-N"), V("-U"), X("-p", NONE, PATCH, ANY, FLAG_PATTERN), N("-q"),
	N("auto-advance"), X("hard", NONE, RESET, ANY, 0), N("intent-to-add"),
	V("inter-hunk-context"), X("keep", NONE, RESET, ANY, 0),
	X("merge", NONE, RESET, ANY, 0), X("mixed", NONE, OK, ANY, FLAG_SOFT),
	N("no-refresh"), X("patch", NONE, PATCH, ANY, FLAG_PATTERN),
	N("pathspec-file-nul"),
	X("pathspec-from-file", NEED, OK, READ_NAMES, 0), N("quiet"),
	X("recurse-submodules", GLUE, RESET, ANY, 0), N("refresh"),
	X("soft", NONE, OK, ANY, FLAG_SOFT), V("unified"),
END(reset)

SET(restore)
	X("-2", NONE, RESTORE, ANY, 0), X("-3", NONE, RESTORE, ANY, 0),
	X("-S", NONE, OK, ANY, FLAG_INDEX), V("-U"),
	X("-W", NONE, OK, ANY, FLAG_WORKTREE), X("-m", NONE, RESTORE, ANY, 0),
	X("-p", NONE, PATCH, ANY, 0), N("-q"), V("-s"), N("auto-advance"),
	X("conflict", NEED, RESTORE, ANY, 0), N("ignore-skip-worktree-bits"),
	N("ignore-unmerged"), V("inter-hunk-context"),
	X("merge", NONE, RESTORE, ANY, 0), X("ours", NONE, RESTORE, ANY, 0),
	N("overlay"), X("patch", NONE, PATCH, ANY, 0), N("pathspec-file-nul"),
	X("pathspec-from-file", NEED, OK, READ_NAMES, FLAG_RECURSE),
	N("progress"), N("quiet"),
	X("recurse-submodules", GLUE, RESTORE, ANY, 0), V("source"),
	X("staged", NONE, OK, ANY, FLAG_INDEX),
	X("theirs", NONE, RESTORE, ANY, 0), V("unified"),
	X("worktree", NONE, OK, ANY, FLAG_WORKTREE),
END(restore)

SET(tag)
	X("-F", NEED, TAG, READ, 0), X("-a", NONE, TAG, ANY, 0),
	X("-d", NONE, TAG_DELETE, ANY, 0), X("-e", NONE, TAG, ANY, 0),
	X("-f", NONE, TAG_DELETE, ANY, 0), N("-i"),
	X("-l", NONE, OK, ANY, FLAG_LIST), X("-m", NEED, TAG, ANY, 0),
	X("-n", GLUE, OK, ANY, FLAG_LIST), X("-s", NONE, SIGNATURE, ANY, 0),
	X("-u", NEED, SIGNATURE, ANY, 0), X("-v", NONE, SIGNATURE, ANY, 0),
	X("annotate", NONE, TAG, ANY, 0), V("cleanup"), G("color"), G("column"),
	X("contains", NEED, OK, ANY, FLAG_LIST),
	X("create-reflog", NONE, TAG, ANY, 0),
	X("delete", NONE, TAG_DELETE, ANY, 0), X("edit", NONE, TAG, ANY, 0),
	X("file", NEED, TAG, READ, 0), X("force", NONE, TAG_DELETE, ANY, 0),
	X("format", NEED, OK, REF_FORMAT, 0), N("ignore-case"),
	X("list", NONE, OK, ANY, FLAG_LIST),
	X("local-user", NEED, SIGNATURE, ANY, 0),
	X("merged", NEED, OK, ANY, FLAG_LIST), X("message", NEED, TAG, ANY, 0),
	X("no-contains", NEED, OK, ANY, FLAG_LIST),
	X("no-merged", NEED, OK, ANY, FLAG_LIST), N("no-sign"), N("omit-empty"),
	X("points-at", NEED, OK, ANY, FLAG_LIST),
	X("sign", NONE, SIGNATURE, ANY, 0), X("sort", NEED, OK, SORT, 0),
	V("trailer"),
	X("verify", NONE, SIGNATURE, ANY, 0),
	X("with", NEED, OK, ANY, FLAG_LIST),
	X("without", NEED, OK, ANY, FLAG_LIST),
END(tag)

SET(notes_edit)
	V("-C"), X("-F", NEED, OK, READ, 0), V("-c"), N("-e"), N("-f"),
	V("-m"), N("allow-empty"), X("file", NEED, OK, READ, 0), N("force"),
	V("message"), V("reedit-message"), V("reuse-message"),
	V("separator"), N("stripspace"),
END(notes_edit)

SET(gc)
	N("-q"), X("aggressive", NONE, PRUNE, ANY, 0), N("auto"), N("cruft"),
	N("detach"), X("expire-to", NEED, OK, WRITE_ASK, 0),
	X("force", NONE, PRUNE, ANY, 0), N("keep-largest-pack"),
	V("max-cruft-size"), N("no-prune"), X("prune", GLUE, PRUNE, ANY, 0),
	N("quiet"),
END(gc)

SET(maintenance)
	N("auto"), N("detach"), N("quiet"), V("schedule"),
	X("task", NEED, OK, TASK, 0),
END(maintenance)

SET(report)
	X("-o", NEED, OK, OVERWRITE, 0), X("-s", NEED, OK, SUFFIX, 0),
	G("diagnose"), V("mode"), X("output-directory", NEED, OK, OVERWRITE, 0),
	X("suffix", NEED, OK, SUFFIX, 0),
END(report)

SET(mailsplit)
	N("-b"), V("-d"), V("-f"), X("-o", NEED, OK, OVERWRITE, 0),
	N("keep-cr"), N("mboxrd"),
END(mailsplit)

SET(merge_file)
	V("-L"), X("-p", NONE, OK, ANY, FLAG_DRY), N("-q"),
	V("diff-algorithm"), N("diff3"), V("marker-size"),
	X("object-id", NONE, OK, ANY, FLAG_DRY), N("ours"), N("quiet"),
	X("stdout", NONE, OK, ANY, FLAG_DRY), N("theirs"), N("union"),
	N("zdiff3"),
END(merge_file)

SET(index_pack)
	X("-o", NEED, OK, OVERWRITE, 0), N("-v"), N("check-self-contained"),
	N("fix-thin"), G("fsck-objects"), G("keep"), V("max-input-size"),
	V("object-format"), G("promisor"), N("rev-index"), N("stdin"),
	G("strict"), V("threads"), N("verify"),
END(index_pack)

SET(packs)
	V("batch-size"), N("bitmap"), V("object-dir"), V("preferred-pack"),
	N("progress"), V("refs-snapshot"), N("stdin-packs"),
END(packs)

SET(subtree)
	V("-P"), G("-S"), V("-b"), N("-d"), V("-m"), N("-q"), V("annotate"),
	V("branch"), N("debug"), G("gpg-sign"), N("ignore-joins"),
	V("message"), V("onto"), V("prefix"), N("quiet"), N("rejoin"),
	N("squash"),
END(subtree)

SET(repack)
	X("-A", NONE, OK, ANY, FLAG_UNPACK), N("-F"),
	X("-a", NONE, OK, ANY, FLAG_UNPACK), N("-b"),
	X("-d", NONE, OK, ANY, FLAG_DELETE), N("-f"), V("-g"), N("-i"), N("-k"),
	N("-l"), N("-m"), N("-n"), N("-q"), N("cruft"), V("cruft-expiration"),
	N("delta-islands"), V("depth"), X("expire-to", NEED, OK, WRITE_ASK, 0),
	V("filter"), X("filter-to", NEED, OK, WRITE_ASK, 0), V("geometric"),
	V("keep-pack"), N("keep-unreachable"), N("local"), V("max-pack-size"),
	V("name-hash-version"), N("pack-kept-objects"), N("path-walk"),
	N("quiet"), V("threads"), V("unpack-unreachable"), V("window"),
	V("window-memory"), N("write-bitmap-index"), N("write-midx"),
END(repack)

SET(init)
	V("-b"), N("-q"), N("bare"), V("initial-branch"), V("object-format"),
	N("quiet"), V("ref-format"),
	X("separate-git-dir", NEED, INIT_ELSEWHERE, ANY, 0),
	X("shared", GLUE, INIT_ELSEWHERE, ANY, 0),
	X("template", NEED, INIT_ELSEWHERE, ANY, 0),
END(init)

SET(export)
	G("-C"), G("-M"), N("anonymize"), V("anonymize-map"), N("data"),
	X("export-marks", NEED, OK, WRITE_ASK, 0), N("fake-missing-tagger"),
	N("full-tree"), X("import-marks", NEED, OK, READ_ASK, 0),
	X("import-marks-if-exists", NEED, OK, READ_ASK, 0), N("mark-tags"),
	N("no-data"), V("progress"), V("reencode"),
	N("reference-excluded-parents"), V("refspec"), N("show-original-ids"),
	V("signed-commits"), V("signed-tags"), V("tag-of-filtered-object"),
	N("use-done-feature"),
END(export)

SET(revert)
	X("-S", GLUE, SIGNATURE, ANY, 0), V("-X"), N("-e"), V("-m"), N("-n"),
	N("-s"), N("abort"), V("cleanup"), N("continue"), N("edit"),
	X("gpg-sign", GLUE, SIGNATURE, ANY, 0), V("mainline"), N("no-commit"),
	N("quit"), N("reference"), N("rerere-autoupdate"), N("signoff"),
	N("skip"), V("strategy"), V("strategy-option"),
END(revert)
