/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of commands that only read. Sorted for strcmp(). Source: the
 * manual page of each command.
 */
#include "config.h"

#include "guard/git_option.h"

SET(annotate)
	G("-C"), V("-L"), G("-M"), X("-S", NEED, OK, READ_ASK, 0), N("-b"),
	N("-c"), N("-e"), N("-f"), N("-l"), N("-n"), N("-p"), N("-s"), N("-t"),
	N("-w"), G("abbrev"), N("color-by-age"), N("color-lines"),
	X("contents", NEED, OK, READ_ASK, 0), V("ignore-rev"),
	X("ignore-revs-file", NEED, OK, READ_ASK, 0), N("incremental"),
	N("line-porcelain"), N("minimal"), N("porcelain"), N("progress"),
	N("root"), N("score-debug"), N("show-email"), N("show-name"),
	N("show-number"), N("show-stats"),
END(annotate)

SET(archive)
	N("-#"), N("-l"), X("-o", NEED, OK, WRITE, 0), N("-v"),
	X("add-file", NEED, OK, READ, 0), V("add-virtual-file"),
	X("exec", NEED, REMOTE, ANY, 0), X("format", NEED, OK, ARCHIVE, 0),
	N("list"), V("mtime"), X("output", NEED, OK, WRITE, 0), V("prefix"),
	X("remote", NEED, REMOTE, ANY, 0), N("verbose"),
	N("worktree-attributes"),
END(archive)

SET(cat_file)
	N("-Z"), X("-e", NONE, OK, ANY, FLAG_READ | FLAG_BRIEF),
	X("-p", NONE, OK, ANY, FLAG_READ),
	X("-s", NONE, OK, ANY, FLAG_READ | FLAG_BRIEF),
	X("-t", NONE, OK, ANY, FLAG_READ | FLAG_BRIEF), N("-z"),
	N("allow-unknown-type"), G("batch"), N("batch-all-objects"),
	G("batch-check"), G("batch-command"), N("buffer"),
	X("filter", NEED, CONFIGURED, ANY, 0),
	X("filters", NONE, CONFIGURED, ANY, 0), N("follow-symlinks"),
	N("mailmap"), V("path"), X("textconv", NONE, CONFIGURED, ANY, 0),
	N("unordered"), N("use-mailmap"),
END(cat_file)

SET(check_attr)
	N("-a"), N("-z"), N("all"), N("cached"), V("source"), N("stdin"),
END(check_attr)

SET(check_ignore)
	N("-n"), N("-q"), N("-v"), N("-z"), N("no-index"), N("non-matching"),
	N("quiet"), N("stdin"), N("verbose"),
END(check_ignore)

SET(check_mailmap)
	V("mailmap-blob"), X("mailmap-file", NEED, OK, READ_ASK, 0), N("stdin"),
END(check_mailmap)

SET(check_ref_format)
	N("allow-onelevel"), N("branch"), N("normalize"), N("print"),
	N("refspec-pattern"),
END(check_ref_format)

SET(cherry)
	N("-v"), G("abbrev"), N("verbose"),
END(cherry)

SET(column)
	V("command"), V("indent"), G("mode"), V("nl"), V("padding"),
	V("raw-mode"), V("width"),
END(column)

SET(count)
	N("-H"), N("-v"), N("human-readable"), N("verbose"),
END(count)

SET(describe)
	G("abbrev"), N("all"), N("always"), G("broken"), V("candidates"),
	N("contains"), N("debug"), G("dirty"), N("exact-match"), V("exclude"),
	N("first-parent"), N("long"), V("match"), N("tags"),
END(describe)

SET(diff_own)
	N("-#"), N("-q"), N("base"), N("cached"), N("index"), N("merge-base"),
	N("no-ext-diff"), X("no-index", NONE, OK, ANY, FLAG_NO_INDEX),
	N("no-textconv"), N("ours"), N("staged"), N("theirs"),
END(diff_own)

SET(diff_plumbing)
	N("-#"), X("-c", NONE, OK, ANY, FLAG_PATCH), N("-m"), N("-q"), N("-r"),
	X("-s", NONE, OK, ANY, FLAG_BRIEF), N("-t"), N("-v"), N("-z"),
	N("always"), N("base"), N("cached"), X("cc", NONE, OK, ANY, FLAG_PATCH),
	N("combined-all-paths"), N("match-missing"), N("merge-base"),
	N("no-commit-id"), N("ours"), N("recursive"), N("root"),
	N("show-trees"), N("stdin"), N("theirs"),
END(diff_plumbing)

SET(fmt_merge_msg)
	X("-F", NEED, OK, READ_ASK, 0), V("-m"),
	X("file", NEED, OK, READ_ASK, 0), V("into-name"), G("log"),
	V("message"), N("summary"),
END(fmt_merge_msg)

SET(format_patch)
	N("-N"), N("-k"), N("-n"), X("-o", NEED, OK, WRITE, 0), N("-p"),
	N("-q"), N("-s"), V("-v"), V("add-header"), N("always"), G("attach"),
	V("base"), V("cc"), X("commit-list-format", NEED, OK, PRETTY, 0),
	V("cover-from-description"), N("cover-letter"), V("creation-factor"),
	X("description-file", NEED, OK, READ_ASK, 0), N("encode-email-headers"),
	V("filename-max-length"), N("force-in-body-from"), G("from"),
	N("ignore-if-in-upstream"), V("in-reply-to"), G("inline"),
	V("interdiff"), N("keep-subject"), N("minimal"), N("no-binary"),
	N("no-numbered"), N("no-stat"), N("numbered"), N("numbered-files"),
	X("output-directory", NEED, OK, WRITE, 0), N("progress"), N("quiet"),
	V("range-diff"), V("reroll-count"), G("rfc"), V("signature"),
	X("signature-file", NEED, OK, READ_ASK, 0), N("signoff"),
	V("start-number"), N("stdout"), V("subject-prefix"),
	X("suffix", NEED, OK, SUFFIX, 0), G("thread"), V("to"),
	N("zero-commit"),
END(format_patch)

SET(fsck)
	N("-v"), N("cache"), N("connectivity-only"), N("dangling"), N("full"),
	X("lost-found", NONE, OBJECTS, ANY, 0), N("name-objects"),
	N("progress"), N("references"), N("reflogs"), N("root"), N("strict"),
	N("tags"), N("unreachable"), N("verbose"),
END(fsck)

SET(grep)
	N("-#"), V("-A"), V("-B"), V("-C"), N("-E"), N("-F"), N("-G"), N("-H"),
	N("-I"), N("-L"), X("-O", GLUE, PAGER, ANY, 0), N("-P"), N("-W"),
	N("-a"), N("-c"), X("-e", NEED, OK, ANY, FLAG_PATTERN),
	X("-f", NEED, OK, READ_ASK, FLAG_PATTERN), N("-h"), N("-i"), N("-l"),
	V("-m"), N("-n"), N("-o"), N("-p"), N("-q"), N("-r"), N("-v"), N("-w"),
	N("-z"), V("after-context"), N("all-match"), N("and"),
	N("basic-regexp"), V("before-context"), N("break"), N("cached"),
	G("color"), N("column"), V("context"), N("count"),
	N("exclude-standard"), X("ext-grep", NONE, CONFIGURED, ANY, 0),
	N("extended-regexp"), N("files-with-matches"), N("files-without-match"),
	N("fixed-strings"), N("full-name"), N("function-context"), N("heading"),
	N("ignore-case"), N("index"), N("invert-match"), N("line-number"),
	V("max-count"), V("max-depth"), N("name-only"),
	X("no-index", NONE, OK, ANY, FLAG_NO_INDEX), N("not"), N("null"),
	N("only-matching"), X("open-files-in-pager", GLUE, PAGER, ANY, 0),
	N("or"), N("perl-regexp"), N("quiet"), N("recurse-submodules"),
	N("recursive"), N("show-function"), N("text"),
	X("textconv", NONE, CONFIGURED, ANY, 0), V("threads"), N("untracked"),
	N("word-regexp"),
END(grep)

SET(help)
	N("-a"), N("-c"), N("-g"), X("-i", NONE, BROWSER, ANY, 0), N("-m"),
	N("-v"), X("-w", NONE, BROWSER, ANY, 0), N("aliases"), N("all"),
	N("config"), N("config-all-for-completion"), N("config-for-completion"),
	N("config-sections-for-completion"), N("developer-interfaces"),
	N("exclude-guides"), N("external-commands"), N("guides"),
	X("info", NONE, BROWSER, ANY, 0), N("man"), N("user-interfaces"),
	N("verbose"), X("web", NONE, BROWSER, ANY, 0),
END(help)

SET(last_modified)
	N("-r"), N("-t"), N("-z"), V("max-depth"), N("recursive"),
	N("show-trees"),
END(last_modified)

SET(ls_files)
	X("-X", NEED, OK, PATTERNS, 0), N("-c"), N("-d"), N("-f"), N("-i"),
	N("-k"), N("-m"), N("-o"), N("-s"), N("-t"), N("-u"), N("-v"), V("-x"),
	N("-z"), G("abbrev"), N("cached"), N("debug"), N("deduplicate"),
	N("deleted"), N("directory"), N("empty-directory"), N("eol"),
	N("error-unmatch"), V("exclude"),
	X("exclude-from", NEED, OK, PATTERNS, 0), V("exclude-per-directory"),
	N("exclude-standard"), V("format"), N("full-name"), N("ignored"),
	N("killed"), N("modified"), N("others"), N("recurse-submodules"),
	N("resolve-undo"), N("sparse"), N("stage"), N("unmerged"),
	V("with-tree"),
END(ls_files)

SET(ls_tree)
	N("-d"), N("-l"), N("-r"), N("-t"), N("-z"), G("abbrev"), V("format"),
	N("full-name"), N("full-tree"), N("long"), N("name-only"),
	N("name-status"), N("object-only"),
END(ls_tree)

SET(merge_base)
	N("-a"), N("all"), N("fork-point"), N("independent"), N("is-ancestor"),
	N("octopus"),
END(merge_base)

SET(merge_tree)
	V("-X"), N("-z"), N("allow-unrelated-histories"), V("merge-base"),
	N("messages"), N("name-only"), N("quiet"), N("stdin"),
	V("strategy-option"), N("trivial-merge"),
	X("write-tree", NONE, OBJECTS, ANY, 0),
END(merge_tree)

SET(name_rev)
	N("all"), N("always"), N("annotate-stdin"), V("exclude"),
	N("name-only"), N("peel-tag"), V("refs"), N("stdin"), N("tags"),
	N("undefined"),
END(name_rev)

SET(patch_id)
	N("stable"), N("unstable"), N("verbatim"),
END(patch_id)

SET(range_diff)
	V("creation-factor"), V("diff-merges"), N("dual-color"), N("left-only"),
	V("max-memory"), N("no-dual-color"), G("notes"), N("remerge-diff"),
	N("right-only"),
END(range_diff)

SET(rev_list)
	N("-z"), N("bisect-all"), N("bisect-vars"), N("commit-header"),
	G("disk-usage"), N("exclude-promisor-objects"),
	N("exclude-promisor-objects-best-effort"), G("filter"),
	N("filter-print-omitted"), N("filter-provided-objects"), G("missing"),
	N("no-commit-header"), N("no-filter"), N("no-object-names"),
	N("object-names"), G("progress"), N("quiet"), N("test-bitmap"),
	N("timestamp"), G("use-bitmap-index"),
END(rev_list)

SET(rev_parse)
	N("-q"), G("abbrev"), G("abbrev-ref"), N("absolute-git-dir"),
	G("after"), N("all"), G("before"), N("bisect"), G("branches"),
	V("default"), G("disambiguate"), V("exclude"), V("exclude-hidden"),
	N("flags"), N("git-common-dir"), N("git-dir"), V("git-path"), V("glob"),
	N("is-bare-repository"), N("is-inside-git-dir"),
	N("is-inside-work-tree"), N("is-shallow-repository"),
	N("keep-dashdash"), N("local-env-vars"), N("no-flags"), N("no-revs"),
	N("not"), G("output-object-format"), X("parseopt", NONE, EVAL, ANY, 0),
	G("path-format"), V("prefix"), N("quiet"), G("remotes"),
	V("resolve-git-dir"), N("revs-only"), N("shared-index-path"),
	G("short"), N("show-cdup"), G("show-object-format"), N("show-prefix"),
	N("show-ref-format"), N("show-superproject-working-tree"),
	N("show-toplevel"), G("since"), N("sq"), N("sq-quote"),
	N("stop-at-non-option"), N("stuck-long"), N("symbolic"),
	N("symbolic-full-name"), G("tags"), G("until"), N("verify"),
END(rev_parse)

SET(shortlog)
	N("-c"), N("-e"), N("-n"), N("-s"), G("-w"), N("committer"), V("date"),
	N("email"), V("group"), N("numbered"),
	X("output", NEED, OK, WRITE_ASK, 0), N("summary"),
END(shortlog)

SET(show_branch)
	N("-a"), G("-g"), N("-r"), N("all"), G("color"), N("current"),
	N("date-order"), N("independent"), N("list"), N("merge-base"),
	G("more"), N("no-name"), G("reflog"), N("remotes"), N("sha1-name"),
	N("sparse"), N("topics"), N("topo-order"),
END(show_branch)

SET(show_index)
	V("object-format"),
END(show_index)

SET(show_ref)
	N("-d"), N("-q"), G("-s"), G("abbrev"), N("branches"), N("dereference"),
	G("exclude-existing"), N("exists"), G("hash"), N("head"), N("heads"),
	N("quiet"), N("tags"), N("verify"),
END(show_ref)

SET(status)
	G("-M"), N("-b"), N("-s"), G("-u"), N("-v"), N("-z"), N("ahead-behind"),
	N("branch"), G("column"), G("find-renames"), G("ignore-submodules"),
	G("ignored"), N("long"), N("no-renames"), N("null"), G("porcelain"),
	N("renames"), N("short"), N("show-stash"), G("untracked-files"),
	N("verbose"),
END(status)

SET(stripspace)
	N("-c"), N("-s"), N("comment-lines"), N("strip-comments"),
END(stripspace)

SET(submodule)
	V("-n"), N("-q"), N("cached"), N("files"), N("quiet"), N("recursive"),
	V("summary-limit"),
END(submodule)

SET(trailers)
	N("divider"), V("if-exists"), V("if-missing"),
	X("in-place", NONE, OVERWRITE, ANY, FLAG_WRITE), N("no-divider"),
	N("only-input"), N("only-trailers"), N("parse"), V("trailer"),
	N("trim-empty"), N("unfold"), V("where"),
END(trailers)

SET(var)
	X("-l", NONE, CONFIG_LIST, ANY, 0),
END(var)

SET(verify_pack)
	N("-s"), N("-v"), V("object-format"), N("stat-only"), N("verbose"),
END(verify_pack)

SET(version)
	N("build-options"),
END(version)

SET(repo)
	N("-z"), N("all"), V("format"),
END(repo)

SET(reflog)
	N("-n"), N("-q"), N("dry-run"), V("expire"), N("quiet"),
END(reflog)

SET(stash_show)
	N("-u"), N("include-untracked"), N("only-untracked"),
END(stash_show)

SET(notes)
	V("ref"),
END(notes)

SET(remote)
	X("-n", NONE, OK, ANY, FLAG_LOCAL), N("-v"), N("all"), N("push"),
	N("verbose"),
END(remote)

SET(bundle)
	N("-q"), N("all-progress"), N("all-progress-implied"), N("no-quiet"),
	N("progress"), N("quiet"), V("version"),
END(bundle)

SET(symbolic_ref)
	X("-d", NONE, PLUMBING, ANY, 0), X("-m", NEED, PLUMBING, ANY, 0),
	N("-q"), X("delete", NONE, PLUMBING, ANY, 0), N("no-recurse"),
	N("quiet"), N("recurse"), N("short"),
END(symbolic_ref)

SET(sparse)
	N("-z"), N("cone"), X("rules-file", NEED, OK, READ_ASK, 0), N("stdin"),
END(sparse)

SET(worktree_list)
	N("-v"), N("-z"), N("porcelain"), N("verbose"),
END(worktree_list)
