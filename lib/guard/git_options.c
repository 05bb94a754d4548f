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
	X("-O", NEED, OK, READ_ASK, 0), N("-R"), V("-S"),
	X("-U", GLUE, OK, ANY, FLAG_PATCH), N("-W"), G("-X"), N("-a"), N("-b"),
	V("-l"), X("-p", NONE, OK, ANY, FLAG_PATCH),
	X("-s", NONE, OK, ANY, FLAG_BRIEF), X("-u", NONE, OK, ANY, FLAG_PATCH),
	N("-w"), N("-z"), G("abbrev"), V("anchored"),
	X("binary", NONE, OK, ANY, FLAG_PATCH), G("break-rewrites"),
	X("check", NONE, OK, ANY, FLAG_PATCH), /* prints the lines */
	G("color"), G("color-moved"), V("color-moved-ws"), G("color-words"),
	X("compact-summary", NONE, OK, ANY, FLAG_BRIEF), N("cumulative"),
	N("default-prefix"), V("diff-algorithm"), V("diff-filter"),
	X("dirstat", GLUE, OK, ANY, FLAG_BRIEF), G("dirstat-by-file"),
	V("dst-prefix"), N("exit-code"),
	X("ext-diff", NONE, CONFIGURED, ANY, 0), G("find-copies"),
	N("find-copies-harder"), V("find-object"), G("find-renames"),
	N("follow"), N("full-index"), N("function-context"), N("histogram"),
	N("ignore-all-space"), N("ignore-blank-lines"), N("ignore-cr-at-eol"),
	V("ignore-matching-lines"), N("ignore-space-at-eol"),
	N("ignore-space-change"), G("ignore-submodules"), N("indent-heuristic"),
	V("inter-hunk-context"), N("irreversible-delete"),
	N("ita-invisible-in-index"), N("ita-visible-in-index"),
	V("line-prefix"), V("max-depth"), N("minimal"),
	X("name-only", NONE, OK, ANY, FLAG_BRIEF),
	X("name-status", NONE, OK, ANY, FLAG_BRIEF), N("no-abbrev"),
	X("no-patch", NONE, OK, ANY, FLAG_BRIEF), N("no-prefix"),
	N("no-renames"), X("numstat", NONE, OK, ANY, FLAG_BRIEF),
	X("output", NEED, OK, WRITE_ASK, 0), V("output-indicator-context"),
	V("output-indicator-new"), V("output-indicator-old"),
	X("patch", NONE, OK, ANY, FLAG_PATCH),
	X("patch-with-raw", NONE, OK, ANY, FLAG_PATCH),
	X("patch-with-stat", NONE, OK, ANY, FLAG_PATCH), N("patience"),
	N("pickaxe-all"), N("pickaxe-regex"),
	X("quiet", NONE, OK, ANY, FLAG_BRIEF),
	X("raw", NONE, OK, ANY, FLAG_BRIEF), G("relative"), N("rename-empty"),
	V("rotate-to"), X("shortstat", NONE, OK, ANY, FLAG_BRIEF), V("skip-to"),
	V("src-prefix"), X("stat", GLUE, OK, ANY, FLAG_BRIEF), V("stat-count"),
	V("stat-graph-width"), V("stat-name-width"), V("stat-width"),
	G("submodule"), X("summary", NONE, OK, ANY, FLAG_BRIEF), N("text"),
	X("textconv", NONE, CONFIGURED, ANY, 0),
	X("unified", GLUE, OK, ANY, FLAG_PATCH), G("word-diff"),
	V("word-diff-regex"), V("ws-error-highlight"),
END(diff_all)

SET(revisions)
	N("-#"), N("-E"), N("-F"), N("-P"), X("-c", NONE, OK, ANY, FLAG_PATCH),
	N("-g"), N("-i"), N("-m"), V("-n"), N("-r"), N("-t"), N("-v"),
	N("abbrev-commit"), V("after"), N("all"), N("all-match"),
	/* core.alternateRefsCommand */
	X("alternate-refs", NONE, CONFIGURED, ANY, 0), G("ancestry-path"),
	V("author"),
	N("author-date-order"), N("basic-regexp"), V("before"), N("bisect"),
	N("boundary"), G("branches"), X("cc", NONE, OK, ANY, FLAG_PATCH),
	N("cherry"), N("cherry-mark"), N("cherry-pick"), N("children"),
	N("combined-all-paths"), V("committer"), N("count"), V("date"),
	N("date-order"), X("dd", NONE, OK, ANY, FLAG_PATCH), N("dense"),
	V("diff-merges"), N("do-walk"), V("encoding"), N("end-of-options"),
	V("exclude"), N("exclude-first-parent-only"), V("exclude-hidden"),
	G("expand-tabs"), N("extended-regexp"), N("first-parent"),
	N("fixed-strings"), X("format", GLUE, OK, PRETTY, 0), N("full-diff"),
	N("full-history"), V("glob"), N("graph"), V("grep"), V("grep-reflog"),
	N("header"), N("ignore-missing"), N("in-commit-order"),
	N("indexed-objects"), N("invert-grep"), N("left-only"), N("left-right"),
	N("log-size"), V("max-age"), V("max-count"), G("max-parents"),
	N("maximal-only"), N("merge"), N("merges"), V("min-age"),
	G("min-parents"), N("no-diff-merges"), N("no-max-parents"),
	N("no-merges"), N("no-min-parents"), N("no-notes"),
	N("no-show-signature"), G("no-walk"), N("not"), G("notes"),
	N("objects"), N("objects-edge"), N("objects-edge-aggressive"),
	N("oneline"), N("parents"), N("perl-regexp"),
	X("pretty", GLUE, OK, PRETTY, 0), N("reflog"), N("regexp-ignore-case"),
	N("relative-date"), X("remerge-diff", NONE, OK, ANY, FLAG_PATCH),
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
	X("-L", NEED, OK, ANY, FLAG_PATCH), N("-q"), N("clear-decorations"),
	G("decorate"), V("decorate-refs"), V("decorate-refs-exclude"),
	N("follow"), N("i-still-use-this"), N("log-size"), N("mailmap"),
	N("quiet"), N("root"), N("show-root"), N("source"), N("use-mailmap"),
END(log)

SET(ref_filter)
	N("-i"), N("-p"), N("-s"), G("color"), V("contains"), V("count"),
	V("exclude"), X("format", NEED, OK, REF_FORMAT, 0), N("ignore-case"),
	N("include-root-refs"), V("merged"), V("no-contains"), V("no-merged"),
	N("omit-empty"), N("perl"), V("points-at"), N("python"), N("shell"),
	X("sort", NEED, OK, SORT, 0), V("start-after"), N("stdin"), N("tcl"),
END(ref_filter)
