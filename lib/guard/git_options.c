/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options that several commands share: those of a diff, of a walk
 * through revisions, of a log, and of a list of refs. Sorted for strcmp().
 * Source: git-diff(1), git-rev-list(1), git-log(1), git-for-each-ref(1).
 */
#include "config.h"

#include "guard/git_option.h"

SET(diff_all)
	G("-B"), G("-C"), N("-D"), V("-G"), V("-I"), G("-M"),
	X("-O", NEED, OK, READ_ASK, 0), N("-R"), V("-S"), G("-U"), N("-W"),
	G("-X"), N("-a"), N("-b"), V("-l"), N("-p"), N("-s"), N("-u"), N("-w"),
	N("-z"), G("abbrev"), V("anchored"), N("binary"), G("break-rewrites"),
	N("check"), G("color"), G("color-moved"), V("color-moved-ws"),
	G("color-words"), N("compact-summary"), N("cumulative"),
	N("default-prefix"), V("diff-algorithm"), V("diff-filter"),
	G("dirstat"), G("dirstat-by-file"), V("dst-prefix"), N("exit-code"),
	X("ext-diff", NONE, CONFIGURED, ANY, 0), G("find-copies"),
	N("find-copies-harder"), V("find-object"), G("find-renames"),
	N("follow"), N("full-index"), N("function-context"), N("histogram"),
	N("ignore-all-space"), N("ignore-blank-lines"), N("ignore-cr-at-eol"),
	V("ignore-matching-lines"), N("ignore-space-at-eol"),
	N("ignore-space-change"), G("ignore-submodules"), N("indent-heuristic"),
	V("inter-hunk-context"), N("irreversible-delete"),
	N("ita-invisible-in-index"), N("ita-visible-in-index"),
	V("line-prefix"), V("max-depth"), N("minimal"), N("name-only"),
	N("name-status"), N("no-abbrev"), N("no-patch"), N("no-prefix"),
	N("no-renames"), N("numstat"), X("output", NEED, OK, WRITE_ASK, 0),
	V("output-indicator-context"), V("output-indicator-new"),
	V("output-indicator-old"), N("patch"), N("patch-with-raw"),
	N("patch-with-stat"), N("patience"), N("pickaxe-all"),
	N("pickaxe-regex"), N("quiet"), N("raw"), G("relative"),
	N("rename-empty"), V("rotate-to"), N("shortstat"), V("skip-to"),
	V("src-prefix"), G("stat"), V("stat-count"), V("stat-graph-width"),
	V("stat-name-width"), V("stat-width"), G("submodule"), N("summary"),
	N("text"), X("textconv", NONE, CONFIGURED, ANY, 0), G("unified"),
	G("word-diff"), V("word-diff-regex"), V("ws-error-highlight"),
END(diff_all)

SET(revisions)
	N("-#"), N("-E"), N("-F"), N("-P"), N("-c"), N("-g"), N("-i"), N("-m"),
	V("-n"), N("-r"), N("-t"), N("-v"), N("abbrev-commit"), V("after"),
	N("all"), N("all-match"), N("alternate-refs"), G("ancestry-path"),
	V("author"), N("author-date-order"), N("basic-regexp"), V("before"),
	N("bisect"), N("boundary"), G("branches"), N("cc"), N("cherry"),
	N("cherry-mark"), N("cherry-pick"), N("children"),
	N("combined-all-paths"), V("committer"), N("count"), V("date"),
	N("date-order"), N("dd"), N("dense"), V("diff-merges"), N("do-walk"),
	V("encoding"), N("end-of-options"), V("exclude"),
	N("exclude-first-parent-only"), V("exclude-hidden"), G("expand-tabs"),
	N("extended-regexp"), N("first-parent"), N("fixed-strings"),
	X("format", GLUE, OK, PRETTY, 0), N("full-diff"), N("full-history"),
	V("glob"), N("graph"), V("grep"), V("grep-reflog"), N("header"),
	N("ignore-missing"), N("in-commit-order"), N("indexed-objects"),
	N("invert-grep"), N("left-only"), N("left-right"), N("log-size"),
	V("max-age"), V("max-count"), G("max-parents"), N("maximal-only"),
	N("merge"), N("merges"), V("min-age"), G("min-parents"),
	N("no-diff-merges"), N("no-max-parents"), N("no-merges"),
	N("no-min-parents"), N("no-notes"), N("no-show-signature"),
	G("no-walk"), N("not"), G("notes"), N("objects"), N("objects-edge"),
	N("objects-edge-aggressive"), N("oneline"), N("parents"),
	N("perl-regexp"), X("pretty", GLUE, OK, PRETTY, 0), N("reflog"),
	N("regexp-ignore-case"), N("relative-date"), N("remerge-diff"),
	G("remotes"), N("remove-empty"), N("reverse"), N("right-only"),
	N("root"), G("show-linear-break"), G("show-notes"),
	N("show-notes-by-default"), N("show-pulls"),
	X("show-signature", NONE, SIGNATURE, ANY, 0),
	N("simplify-by-decoration"), N("simplify-merges"), V("since"),
	V("since-as-filter"), N("single-worktree"), V("skip"), N("sparse"),
	N("standard-notes"), N("stdin"), G("tags"), N("topo-order"),
	N("unpacked"), V("until"), N("verify-objects"), N("walk-reflogs"),
END(revisions)

SET(log)
	V("-L"), N("-q"), N("clear-decorations"), G("decorate"),
	V("decorate-refs"), V("decorate-refs-exclude"), N("follow"),
	N("i-still-use-this"), N("log-size"), N("mailmap"), N("quiet"),
	N("root"), N("show-root"), N("source"), N("use-mailmap"),
END(log)

SET(ref_filter)
	N("-i"), N("-p"), N("-s"), G("color"), V("contains"), V("count"),
	V("exclude"), X("format", NEED, OK, REF_FORMAT, 0), N("ignore-case"),
	N("include-root-refs"), V("merged"), V("no-contains"), V("no-merged"),
	N("omit-empty"), N("perl"), V("points-at"), N("python"), N("shell"),
	V("sort"), V("start-after"), N("stdin"), N("tcl"),
END(ref_filter)
