/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the agentbox tool share. The tool is a host program like
 * any other: it includes the public headers only, and it owns its process, so
 * it may read the environment, catch signals and change the terminal, which
 * the library never does (agentbox(1)).
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <agentbox/base.h>
#include <agentbox/policy.h>

/* Exit statuses, agentbox(1) EXIT STATUS; 128+N and a command's own beside. */
enum tool_status {
	TOOL_OK = 0,
	TOOL_USAGE = 2,
	TOOL_BAD_INPUT = 3,
	TOOL_NOT_FOUND = 4,
	TOOL_REFUSED = 5,
	TOOL_TAMPERED = 6,
	TOOL_ASK = 10,
	TOOL_DENY = 11,
	TOOL_INTERNAL = 70,
	TOOL_TIMED_OUT = 124,
	TOOL_NO_BOX = 125,
	TOOL_CANNOT_EXEC = 126,
	TOOL_NO_COMMAND = 127,
	TOOL_SIGNAL = 128
};

/* cli.c: one table drives parsing, help, usage errors, completion */

#define TOOL_REPEAT 0x1u   /* may be given more than once */
#define TOOL_NOT_YET 0x2u  /* recognised, and refused: see `refusal` */

typedef struct tool_option {
	const char *name;     /* "--policy" */
	const char *argument; /* "FILE", "[=MODE]" or NULL for a flag */
	const char *complete; /* "file", "dir", "builtin", "shield", ... or "" */
	uint32_t flags;
	const char *help;
	const char *refusal; /* with TOOL_NOT_YET: what is missing */
} tool_option;

struct tool;
struct tool_args;

typedef struct tool_command {
	const char *group; /* "policy", or NULL */
	const char *name;  /* "check" */
	const char *synopsis; /* what follows the options */
	const char *complete; /* of the operands */
	const char *summary;
	const tool_option *options; /* ends with a NULL name */
	const char *detail;   /* paragraphs for --help, NULL for none */
	const char *example;  /* lines for --help */
	int min, max; /* operands; max -1: any number */
	bool command_line; /* the first operand ends the options */
	int (*main)(struct tool *tool, const struct tool_args *args);
} tool_command;

extern const tool_command tool_commands[]; /* ends with a NULL name */
extern const tool_option tool_global_options[];

typedef struct tool_value {
	const tool_option *option;
	const char *value;
} tool_value;

typedef struct tool_args {
	const tool_command *command;
	tool_value *values;
	size_t value_count;
	char **operands; /* NULL-terminated */
	int operand_count;
	bool is_help; /* "agentbox help ..." */
	char *wrong;  /* what is wrong with the words, owned, or NULL */
	const char *wrong_group, *wrong_name; /* whose --help tells */
} tool_args;

/*
 * Parse argv. Returns -1 with *args filled, or the exit status when all is
 * said (--help, --version, a usage error).
 */
int tool_parse(struct tool *tool, int argc, char **argv, tool_args *args);
void tool_args_end(tool_args *args);
/* The value of the last one given (NULL: none, "" for a flag). */
const char *tool_get(const tool_args *args, const char *name);
bool tool_has(const tool_args *args, const char *name);

/* tool.c: what every subcommand needs */

typedef struct tool {
	bool json;
	bool verbose;
	bool json_written; /* the document is out */
	const char *state; /* absolute, or NULL when there is none */
	char *state_owned;
	char *helper_dir_owned;
	char *last_warning; /* of the library's */
	agentbox_context *context;
} tool;

/* The context of this call; made once. 0 or an exit status, already said. */
int tool_open(tool *t, const tool_args *args);
void tool_end(tool *t);
/* Make the state directory's parents; what fails shows when it is needed. */
void tool_make_state_parents(const tool *t);
/* 0, or an exit status where there is none to look into. */
int tool_need_state(tool *t);

/*
 * Tell a failure and return its exit status. `err` is taken. `about` (may be
 * NULL) names the object: a file, an option.
 */
int tool_fail(tool *t, agentbox_error *err, const char *about);
int tool_fail_as(tool *t, int status, agentbox_error *err, const char *about);
/* The same where EINVAL is about what somebody has written: wrong usage. */
int tool_fail_name(tool *t, agentbox_error *err, const char *about);
int tool_refuse(tool *t, int status, const char *code, const char *about,
		const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Words that are no call of the tool: exit status 2. */
int tool_usage(tool *t, const char *message);
/* The same for an operand of this command that is not there. */
int tool_lacks(tool *t, const tool_args *args, const char *operand);
/* Is it that a helper program cannot be used? And what to do then. */
bool tool_is_about_helper(const agentbox_error *err);
void tool_note_helper(void);
/* Where there is no home to keep a state directory in. */
extern const char tool_no_state_hint[];
/* The library knows no options: its message names the directory. */
bool tool_is_about_state(const tool *t, const agentbox_error *err);
/* The exit status for a code of the library. */
int tool_status_of(int32_t code);

/* Write the document of --json; `root` is taken. 0 or an exit status. */
int tool_print_json(tool *t, json_t *root);
/* Bytes to standard output. 0 or an exit status. */
int tool_write_out(tool *t, const void *data, size_t n);
/* The same for a line of text, which is taken; NULL: out of memory. */
int tool_write_line(tool *t, char *line);
/*
 * The rows of a list: a document with --json, otherwise a line for each, or
 * the note `none` when there are none. `rows` is taken; NULL: there was no
 * memory for it, which is not an empty list.
 */
int tool_print_rows(tool *t, json_t *rows, char *(*line_of)(const json_t *row),
		    const char *none);
/* An owned document from the library as a tree; frees `bytes`. */
json_t *tool_json_of(agentbox_bytes *bytes);

/*
 * Absolute and lexically clean, links kept; owned. NULL with errno: there is
 * no current directory, or no memory.
 */
char *tool_absolute(const char *path);
/* When that is NULL: tells why, and gives the exit status. */
int tool_no_path(tool *t, const char *about);
/* `path` below `top`: the rest ("" when equal, else "/..."), or NULL. */
const char *tool_below(const char *path, const char *top);

/* document.c: policies from files and options */

/* All of FILE or "-", at most `most` bytes; `what` it is, for messages. *text
   is owned. 0 or an exit status. */
int tool_read_all(tool *t, const char *name, const char *what, size_t most,
		  char **text, size_t *n);
/* FILE, "-" or "builtin:NAME"; 0 or an exit status. */
int tool_read_policy(tool *t, const char *name, agentbox_policy **policy);

typedef struct tool_plan {
	agentbox_policy *policy;
	json_t *document;    /* its canonical dump as a tree */
	json_t *hidden;	     /* where in the box --hide covers something */
	char *host_workspace; /* real host path, or NULL */
	const char *box_workspace; /* borrowed from `document`, or NULL */
	char *cwd;	      /* inside the box, or NULL: its workspace */
} tool_plan;

/* The policy of run and shell out of their options. 0 or an exit status. */
int tool_plan_new(tool *t, const tool_args *args, tool_plan *plan);
/* Where the command starts; own_tree: the box has a tree of its own. */
int tool_plan_start(tool *t, const tool_args *args, tool_plan *plan,
		    bool own_tree);
void tool_plan_end(tool_plan *plan);

/* network.c: the stored allowlist of an account (NULL: of boxes without one)
   as an owned array of hosts. 0 or an exit status, already said. */
int tool_stored_allow(tool *t, const char *account, json_t **allow);

/* the subcommands */

int tool_doctor(tool *t, const tool_args *args);
int tool_run(tool *t, const tool_args *args);
int tool_shell(tool *t, const tool_args *args);
int tool_check_write(tool *t, const tool_args *args);
int tool_check_read(tool *t, const tool_args *args);
int tool_check_shell(tool *t, const tool_args *args);
int tool_check_argv(tool *t, const tool_args *args);
int tool_check_git(tool *t, const tool_args *args);
int tool_policy_check(tool *t, const tool_args *args);
int tool_policy_show(tool *t, const tool_args *args);
int tool_policy_digest(tool *t, const tool_args *args);
int tool_policy_contains(tool *t, const tool_args *args);
int tool_policy_narrow(tool *t, const tool_args *args);
int tool_snapshot_copy(tool *t, const tool_args *args);
int tool_snapshot_refresh(tool *t, const tool_args *args);
int tool_snapshot_explain(tool *t, const tool_args *args);
int tool_snapshot_verify(tool *t, const tool_args *args);
int tool_snapshot_scrub(tool *t, const tool_args *args);
int tool_snapshot_tar(tool *t, const tool_args *args);
int tool_snapshot_untar(tool *t, const tool_args *args);
int tool_peer_grant(tool *t, const tool_args *args);
int tool_peer_refresh(tool *t, const tool_args *args);
int tool_peer_revoke(tool *t, const tool_args *args);
int tool_peer_list(tool *t, const tool_args *args);
int tool_network_show(tool *t, const tool_args *args);
int tool_network_allow(tool *t, const tool_args *args);
int tool_network_disallow(tool *t, const tool_args *args);
int tool_network_reset(tool *t, const tool_args *args);
int tool_scope_check(tool *t, const tool_args *args);
int tool_scope_hint(tool *t, const tool_args *args);
int tool_scope_prompt(tool *t, const tool_args *args);
int tool_mcp(tool *t, const tool_args *args);
int tool_mcp_guard(tool *t, const tool_args *args);
int tool_verify(tool *t, const tool_args *args);
int tool_secret_put(tool *t, const tool_args *args);
int tool_secret_list(tool *t, const tool_args *args);
int tool_secret_revoke(tool *t, const tool_args *args);
int tool_identity_list(tool *t, const tool_args *args);
int tool_identity_revoke(tool *t, const tool_args *args);
int tool_audit_show(tool *t, const tool_args *args);
int tool_audit_verify(tool *t, const tool_args *args);
int tool_audit_report(tool *t, const tool_args *args);

/* audit.c: the file of a log's signing key ("key") or anchor ("anchor") in
   the state directory; owned, NULL without a state directory. */
char *tool_audit_beside(const tool *t, const char *log, const char *kind);

#endif
