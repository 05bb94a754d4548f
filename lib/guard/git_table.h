/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tables of the git check say: subcommands, their options, and what
 * each is worth. Data only; lib/guard/git_walk.h applies it.
 *
 * Source: the manual pages and usage texts of git 2.39 with the additions up
 * to 2.52, gitcli(7) for how options are read.
 */
#ifndef AB_GUARD_GIT_TABLE_H
#define AB_GUARD_GIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/git.h"

/* What is found in a command: one row of the table in git_acts.c each. */
enum ab_git_act {
	GIT_OK = 0,
	/* topology */
	GIT_TOPOLOGY,
	GIT_BRANCH,
	GIT_CHERRY_PICK,
	GIT_PLUMBING,
	GIT_WORKTREE,
	GIT_WORKTREE_LIST,
	GIT_SUBMODULE,
	GIT_INIT,
	GIT_INIT_ELSEWHERE,
	GIT_REVERT,
	GIT_AM,
	GIT_TAG_DELETE,
	/* remotes */
	GIT_REMOTE,
	GIT_SERVER,
	GIT_CREDENTIAL,
	/* loss of work */
	GIT_HISTORY,
	GIT_PRUNE,
	GIT_CLEAN,
	GIT_RESTORE,
	GIT_RESET,
	GIT_PUT_BACK,
	GIT_REMOVE_ALL,
	GIT_REMOVE_INDEX,
	GIT_REMOVE_FORCE,
	GIT_MOVE_FORCE,
	GIT_STASH_DROP,
	GIT_NOTES_REMOVE,
	GIT_HOUSEKEEPING,
	GIT_EXPORT,
	GIT_REPORT,
	GIT_OVERWRITE,
	/* execution and configuration */
	GIT_RUNS,
	GIT_INTERNAL,
	GIT_CONFIGURED,
	GIT_SIGNATURE,
	GIT_PAGER,
	GIT_BROWSER,
	GIT_INTERACTIVE,
	GIT_PATCH,
	GIT_CONFIG,
	GIT_CONFIG_RUNS,
	GIT_CONFIG_IDENTITY,
	GIT_CONFIG_LIST,
	GIT_CONFIG_SECRET,
	GIT_KEY,
	GIT_KEY_IDENTITY,
	GIT_KEY_HOOKS,
	GIT_REPOSITORY,
	GIT_EXEC_PATH,
	GIT_ENV,
	GIT_ENV_ASK,
	GIT_ENV_PATH,
	GIT_ENV_IDENTITY,
	/* files */
	GIT_WRITES,
	GIT_WRITES_OUT,
	GIT_WRITES_TEMP,
	GIT_READS,
	GIT_READS_OUT,
	GIT_PATH_OUT,
	GIT_PATH_ASK,
	GIT_DIRECTORY_OUT,
	/* shared refs and objects */
	GIT_STASH,
	GIT_TAG,
	GIT_NOTES,
	GIT_OBJECTS,
	GIT_INDEX_BITS,
	GIT_ADD_IGNORED,
	GIT_REVERSE,
	/* the last commit, its hooks and its author */
	GIT_AMEND,
	GIT_NO_VERIFY,
	GIT_IDENTITY,
	GIT_RESET_OTHER,
	/* not understood */
	GIT_UNKNOWN_COMMAND,
	GIT_UNKNOWN_OPTION,
	GIT_DYNAMIC,
	GIT_DASHED,
	GIT_GLOBAL,
	GIT_HELP_DENIED,
	GIT_EVAL,
	GIT_OTHER_TOOL,
	GIT_ACT_COUNT
};

struct ab_git_finding {
	enum ab_git_verdict verdict;
	enum ab_git_severity severity;
	bool relaxes; /* ASK in the relaxed profile */
	const char *rule;
	const char *reason;
	const char *alternative;
};

enum ab_git_arg {
	ARG_NONE = 0,
	ARG_NEED, /* --name=value, --name value, -nvalue, -n value */
	ARG_GLUE  /* --name[=value], -n[value]: never the next word */
};

/* How the value of an option is judged. */
enum ab_git_value {
	VALUE_ANY = 0,
	VALUE_READ,	/* a file whose contents get out: outside is denied */
	VALUE_READ_ASK, /* a file git merely reads: outside is asked about */
	VALUE_READ_NAMES, /* of files: asked about outside, wherever that is */
	VALUE_PATTERNS, /* like READ_ASK, and nothing of it is ever printed */
	VALUE_WRITE,	/* a file or directory that is written */
	VALUE_WRITE_ASK,/* the same, asked about also inside */
	VALUE_OVERWRITE,/* by a command that is asked about anyway */
	VALUE_SUFFIX,	/* the end of the name of a file that is written */
	VALUE_BELOW,	/* a directory put in front of other paths */
	VALUE_PRETTY,	/* %G? and the like run a program */
	VALUE_REF_FORMAT,
	VALUE_SORT,	/* by what the signature program says, too */
	VALUE_TASK,	/* of maintenance: one fetches */
	VALUE_OBJECT,	/* REV:PATH whose contents get out */
	VALUE_ARCHIVE   /* a format: others are commands */
};

/* What an option changes for the judgement of the whole command. */
enum ab_git_flag {
	FLAG_NONE = 0,
	FLAG_LIST = 1 << 0,	/* only lists */
	FLAG_DRY = 1 << 1,	/* only says what it would do */
	FLAG_INDEX = 1 << 2,	/* index only: --cached, --staged */
	FLAG_WORKTREE = 1 << 3, /* restore -W */
	FLAG_NO_INDEX = 1 << 4, /* compares any two files */
	FLAG_RECURSE = 1 << 5,	/* acts on more than the operands name */
	FLAG_PATTERN = 1 << 6,	/* grep -e, -f: no operand is the pattern;
				 * reset -p: no operand moves HEAD */
	FLAG_READ = 1 << 7,	/* config: a form that reads; cat-file: one
				 * that no other option can change */
	FLAG_WRITE = 1 << 8,	/* config: a form that writes; others: the
				 * first file is overwritten */
	FLAG_REGEXP = 1 << 9,	/* config: keys by pattern */
	FLAG_SOFT = 1 << 10,	/* reset: a mode other than paths */
	FLAG_REVERSE = 1 << 11, /* apply -R */
	FLAG_APPLY = 1 << 12,	/* apply --apply */
	FLAG_LOCAL = 1 << 13,	/* remote show -n */
	FLAG_UNPACK = 1 << 14,	/* repack -a, -A */
	FLAG_DELETE = 1 << 15,	/* repack -d */
	FLAG_PATCH = 1 << 16,	/* prints what is in files */
	FLAG_BRIEF = 1 << 17	/* names and numbers instead of that */
};

struct ab_git_option {
	const char *name; /* "-x" or the long name without its dashes */
	uint8_t arg;	  /* enum ab_git_arg */
	uint8_t act;	  /* enum ab_git_act */
	uint8_t value;	  /* enum ab_git_value */
	uint32_t flag;	  /* enum ab_git_flag */
};

/* Sorted by name in strcmp() order. "-#" takes any number. */
struct ab_git_set {
	const struct ab_git_option *options;
	size_t count;
};

/* What the operands mean: see git_judge.c. */
enum ab_git_operands {
	OPERANDS_ANY = 0,
	OPERANDS_NONE,	   /* any is asked about */
	OPERANDS_INSIDE,   /* pathspecs */
	OPERANDS_READ_ASK, /* files that are read */
	OPERANDS_OVERWRITE, /* files that are written */
	OPERANDS_REMOVE,
	OPERANDS_MOVE,
	OPERANDS_APPLY,
	OPERANDS_DIFF,
	OPERANDS_GREP,
	OPERANDS_HASH,
	OPERANDS_BRANCH,
	OPERANDS_TAG,
	OPERANDS_SYMBOLIC_REF,
	OPERANDS_RESET,
	OPERANDS_RESTORE,
	OPERANDS_WRITE_FIRST,
	OPERANDS_CONFIG,
	OPERANDS_CLEAN,
	OPERANDS_INIT,
	OPERANDS_REMOTE_SHOW,
	OPERANDS_REPACK
};

enum {
	COMMAND_VERBS = 1,  /* the first operand is a verb: "remote show" */
	COMMAND_STOP = 2,   /* after the first operand all are operands */
	COMMAND_ECHO = 4,   /* takes any option and prints it */
	COMMAND_LENIENT = 8, /* asked about anyway, whatever its options */
	COMMAND_RANGES = 16, /* reads what ranges of revisions are */
	COMMAND_SHOWS = 32, /* prints what is in files, if no option is brief */
	COMMAND_PATCH = 64, /* prints it where an option says so */
	COMMAND_PRINTS = COMMAND_SHOWS | COMMAND_PATCH /* in any case */
};

#define AB_GIT_SETS 5

struct ab_git_command {
	const char *name; /* "stash", and "stash drop" for its verbs */
	uint8_t act;	  /* the command itself */
	uint8_t operands; /* enum ab_git_operands */
	uint8_t flags;	  /* COMMAND_* */
	uint8_t other;	  /* COMMAND_VERBS: act of a verb not listed */
	uint32_t preset;  /* enum ab_git_flag set from the start */
	const struct ab_git_set *sets[AB_GIT_SETS]; /* NULL at the end */
};

const struct ab_git_finding *ab_git_finding_of(enum ab_git_act act);

/* The command, or the verb of a command; NULL when the table has none. */
const struct ab_git_command *ab_git_command_find(const char *name,
						 size_t len);
const struct ab_git_command *ab_git_verb_find(const struct ab_git_command *of,
					      const char *verb, size_t len);
/* All of them, for tests. */
const struct ab_git_command *ab_git_commands(size_t *count);

/* Every set of options: git_options.c what several commands share, then
 * git_options_read.c and git_options_local.c what one command adds. */
#define AB_GIT_SETS_ALL(X)                                                     \
	X(diff_all) X(revisions) X(log) X(ref_filter) X(annotate)              \
	X(archive) X(cat_file) X(check_attr) X(check_ignore)                   \
	X(check_mailmap) X(check_ref_format) X(cherry) X(column) X(count)      \
	X(describe) X(diff_own) X(diff_plumbing) X(fmt_merge_msg)              \
	X(format_patch) X(fsck) X(grep) X(help) X(last_modified)               \
	X(ls_files) X(ls_tree) X(merge_base) X(merge_tree) X(name_rev)         \
	X(patch_id) X(range_diff) X(rev_list) X(rev_parse) X(shortlog)         \
	X(show_branch) X(show_index) X(show_ref) X(status) X(stripspace)       \
	X(submodule) X(trailers) X(var) X(verify_pack) X(version) X(repo)      \
	X(reflog) X(stash_show) X(notes) X(remote) X(bundle)                   \
	X(symbolic_ref) X(sparse) X(worktree_list) X(add) X(apply)             \
	X(branch) X(clean) X(commit) X(config) X(hash_object) X(index)         \
	X(mk) X(move) X(remove) X(reset) X(restore) X(tag) X(gc) X(repack)     \
	X(init) X(export) X(revert) X(notes_edit) X(packs) X(subtree)    \
	X(maintenance) X(report) X(mailsplit) X(merge_file) X(index_pack)
#define AB_GIT_DECLARE_SET(name)                                               \
	extern const struct ab_git_set ab_git_set_##name;
AB_GIT_SETS_ALL(AB_GIT_DECLARE_SET)

#endif
