/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every subcommand and option of the tool, as data. Parsing, --help, usage
 * errors and completion read these tables and nothing else; the manual page
 * is compared with them by a test. Specification: agentbox(1).
 */
#include "config.h"

#include "tool.h"

#define NEEDS_OVERLAY "needs overlay workspaces, which this build lacks"
#define END { NULL, NULL, NULL, 0, NULL, NULL }

const tool_option tool_global_options[] = {
	{ "--json", NULL, "", 0,
	  "print one JSON document on standard output, nothing else there",
	  NULL },
	{ "--state", "DIR", "dir", 0,
	  "where what outlives a call is kept; default "
	  "$XDG_STATE_HOME/agentbox, else ~/.local/state/agentbox", NULL },
	{ "--helper-dir", "DIR", "dir", 0,
	  "where the helper programs are, instead of the installed place",
	  NULL },
	{ "--verbose", NULL, "", 0, "say more of what is done", NULL },
	{ "--help", NULL, "", 0, "print this", NULL },
	{ "--version", NULL, "", 0, "print version and build id", NULL },
	{ "--list-options", NULL, "", 0,
	  "print these tables, tab-separated, for completion", NULL },
	END
};

/* What makes a box. */
#define PLACE_OPTIONS                                                         \
	{ "--policy", "FILE", "policy", 0,                                    \
	  "the policy document; \"-\" reads standard input", NULL },          \
	{ "--builtin", "NAME", "builtin", 0,                                  \
	  "a built-in policy; default: workspace", NULL },                    \
	{ "--bare", NULL, "", 0,                                              \
	  "the policy builtin:bare: no walls at all", NULL },                 \
	{ "--workspace", "DIR", "dir", 0,                                     \
	  "the directory to work in, writable; default: the current one",     \
	  NULL },                                                             \
	{ "--at", "PATH", "", 0,                                              \
	  "where the workspace is in the box, or \"same\"", NULL },           \
	{ "--read", "PATH", "file", TOOL_REPEAT,                              \
	  "show this host path in the box, read-only", NULL },                \
	{ "--write", "PATH", "file", TOOL_REPEAT,                             \
	  "show this host path in the box, writable", NULL },                 \
	{ "--hide", "PATH", "file", TOOL_REPEAT,                              \
	  "cover this path in the box with nothing", NULL },                  \
	{ "--limit", "NAME=VALUE,...", "limit", TOOL_REPEAT,                  \
	  "memory, cpus, pids, disk, files, wall: --limit "                   \
	  "memory=2GiB,wall=10m", NULL },                                     \
	{ "--env", "NAME=VALUE", "", TOOL_REPEAT,                             \
	  "set a variable for the command", NULL },                           \
	{ "--cwd", "PATH", "", 0,                                             \
	  "directory in the box to start in, relative to the workspace",      \
	  NULL },                                                             \
	{ "--name", "NAME", "", 0,                                            \
	  "let other calls of this tool reach the box by this name", NULL },  \
	{ "--peering", NULL, "", 0,                                           \
	  "give the box a place for what peers share (agentbox peer)",        \
	  NULL },                                                             \
	{ "--shield", "[=MODE]", "shield", 0,                                 \
	  "see from outside what is executed in the box: audit records it, "  \
	  "deny (the default) refuses what the checks do not allow, ask "     \
	  "asks you", NULL },                                                 \
	{ "--audit", "FILE", "file", 0,                                       \
	  "record the box's life in this log", NULL }

#define NETWORK_OPTIONS                                                       \
	{ "--allow", "HOST[:PORT]", "", TOOL_REPEAT,                          \
	  "let the box reach this host, and through its gateway alone", NULL }, \
	{ "--stored", NULL, "", 0,                                            \
	  "add the account's stored allowlist (agentbox network) to what "    \
	  "--policy, --builtin or --allow say", NULL },                       \
	{ "--resolver", "ADDR[:PORT]", "", 0,                                 \
	  "the name server the gateway asks; default: the system's", NULL },  \
	{ "--secret", "NAME=FILE", "", TOOL_REPEAT,                           \
	  "the value that the policy's routes inject under this name",       \
	  NULL },                                                             \
	{ "--preview", "PORT", "", TOOL_REPEAT,                               \
	  "let this machine reach this port of the box, at 127.0.0.1",       \
	  NULL }

/* What run and shell have in common. */
#define BOX_OPTIONS                                                           \
	PLACE_OPTIONS,                                                        \
	{ "--tty", NULL, "", 0,                                               \
	  "give the command a terminal of its own; default: when standard "   \
	  "input, output and error are terminals", NULL },            \
	{ "--no-tty", NULL, "", 0, "never a terminal", NULL },                \
	{ "--walls", NULL, "", 0,                                             \
	  "print which walls and limits stand before the command runs",      \
	  NULL },                                                             \
	{ "--dry-run", NULL, "", 0,                                           \
	  "print what would be raised, and raise nothing", NULL },            \
	NETWORK_OPTIONS,                                                      \
	{ "--overlay", NULL, "", TOOL_NOT_YET,                                \
	  "write to a layer and print the changes (not in this build)",      \
	  NEEDS_OVERLAY },                                                    \
	{ "--apply", NULL, "", TOOL_NOT_YET,                                  \
	  "apply the changes of --overlay (not in this build)",              \
	  NEEDS_OVERLAY }

static const tool_option box_options[] = { BOX_OPTIONS, END };
static const tool_option no_options[] = { END };

static const tool_option check_options[] = {
	{ "--policy", "FILE", "policy", 0,
	  "the policy document; \"-\" reads standard input", NULL },
	{ "--builtin", "NAME", "builtin", 0,
	  "a built-in policy; default: the role's, else workspace", NULL },
	{ "--role", "KIND", "role", 0, "manager or engineer", NULL },
	{ "--team-dir", "DIR", "dir", 0,
	  "the team directory, which a role is about", NULL },
	{ "--agent", "NAME", "", 0, "whose directory an engineer writes",
	  NULL },
	{ "--workspace", "DIR", "dir", 0,
	  "the workspace, without a role; default: the policy's, else the "
	  "current directory", NULL },
	{ "--cwd", "DIR", "dir", 0,
	  "where relative paths start; default: the current directory", NULL },
	{ "--jsonl", NULL, "", 0,
	  "judge rows {\"id\", \"path\" or \"cmd\" or \"argv\"} on standard "
	  "input, one decision a line on standard output, in the same order",
	  NULL },
	{ "--explain", NULL, "", 0,
	  "show what was looked at and every rule that fired", NULL },
	END
};

#define SNAPSHOT_OPTIONS                                                      \
	{ "--policy", "FILE", "policy", 0,                                    \
	  "take the snapshot section of this policy", NULL },                 \
	{ "--exclude", "PATTERN", "", TOOL_REPEAT,                            \
	  "leave out more, as in gitignore(5)", NULL },                       \
	{ "--include", "PATTERN", "", TOOL_REPEAT,                            \
	  "bring back what a weaker rule leaves out", NULL },                 \
	{ "--admit", "RULE:PATTERN", "", TOOL_REPEAT,                         \
	  "keep these files although this rule finds something in them",     \
	  NULL },                                                             \
	{ "--profile", "NAME", "", 0,                                         \
	  "strict (default), or required: the required names only", NULL },  \
	{ "--content", "LEVEL", "", 0,                                        \
	  "strict (default), high or off: how content is looked through",    \
	  NULL },                                                             \
	{ "--git", "WHAT", "", 0,                                             \
	  "none (default), head: the files of that commit and a repository "  \
	  "of them, or range=BASE: and of where the branch parted from BASE", \
	  NULL },                                                             \
	{ "--repository", "DIR", "dir", 0,                                    \
	  "whose commits, for a linked worktree; with --head", NULL },        \
	{ "--head", "NAME", "", 0,                                            \
	  "which: refs/heads/BRANCH, a commit's full name, HEAD or "          \
	  "worktrees/NAME/HEAD", NULL },                                      \
	{ "--max-bytes", "N", "", 0, "the most bytes in all", NULL },         \
	{ "--max-files", "N", "", 0, "the most files in all", NULL },         \
	{ "--deadline", "SECONDS", "", 0, "the most time; default 60", NULL }

static const tool_option explain_options[] = { SNAPSHOT_OPTIONS, END };
static const tool_option copy_options[] = {
	SNAPSHOT_OPTIONS,
	{ "--no-hashes", NULL, "", 0, "no SHA-256 in the manifest", NULL },
	END
};

static const tool_option tar_options[] = {
	SNAPSHOT_OPTIONS,
	{ "--no-hashes", NULL, "", 0, "no SHA-256 in the manifest", NULL },
	{ "--output", "FILE", "file", 0,
	  "write there, to a new file; default: standard output", NULL },
	{ "--format", "NAME", "", 0,
	  "tar, tar.gz, tar.zst or zip; default: by FILE's suffix, else tar",
	  NULL },
	END
};

#define PEER_OPTIONS                                                          \
	{ "--reader", "BOX", "", 0, "the box that reads, by id or name",      \
	  NULL },                                                             \
	{ "--source", "BOX", "", 0,                                           \
	  "the box whose workspace is read, by id or name", NULL },           \
	{ "--audit", "FILE", "file", 0, "record it in this log", NULL }

static const tool_option grant_options[] = {
	PEER_OPTIONS,
	{ "--as", "NAME", "", 0,
	  "its name below .shared; default: the id of the source", NULL },
	SNAPSHOT_OPTIONS, END
};
static const tool_option refresh_options[] = {
	PEER_OPTIONS, SNAPSHOT_OPTIONS, END
};
static const tool_option revoke_options[] = {
	PEER_OPTIONS,
	{ "--revoke", "HOW", "", 0,
	  "scrub (default), detach, or kill", NULL },
	END
};
static const tool_option list_options[] = {
	{ "--all", NULL, "", 0, "also those that were revoked", NULL },
	END
};

#define FILTER_OPTIONS                                                        \
	{ "--run", "ID", "", 0, "only records of this run", NULL },           \
	{ "--box", "ID", "", 0, "only records of this box", NULL },           \
	{ "--group", "ID", "", 0, "only records of this spawn group", NULL }, \
	{ "--type", "TYPE", "", 0,                                            \
	  "only this type; a trailing \"*\" matches a prefix", NULL },        \
	{ "--verdict", "VERDICT", "verdict", 0,                               \
	  "only none, allow, ask or deny", NULL },                            \
	{ "--rule", "RULE", "", 0, "only this rule", NULL },                  \
	{ "--since", "TIME", "", 0, "from this RFC 3339 time on", NULL },     \
	{ "--until", "TIME", "", 0, "up to this RFC 3339 time", NULL }

static const tool_option filter_options[] = { FILTER_OPTIONS, END };

static const tool_option verify_options[] = {
	{ "--key", "HEX", "", 0,
	  "a public key taken earlier: some head must be signed by it", NULL },
	{ "--anchor", "FILE", "file", 0,
	  "an anchor kept elsewhere: its record must be there and the same; "
	  "default: the one in the state directory", NULL },
	{ "--start", "FILE", "file", 0,
	  "the anchor at the end of files that are no longer kept", NULL },
	END
};

#define SCOPE_OPTIONS                                                         \
	{ "--scope", "FILE", "file", 0,                                       \
	  "who the caller is, what it may read, whom else the host knows: a " \
	  "JSON document, agentbox_scope(3); \"-\" reads standard input",     \
	  NULL },                                                             \
	{ "--policy", "FILE", "policy", 0,                                    \
	  "the policy that lists the scoped tools", NULL },                   \
	{ "--builtin", "NAME", "builtin", 0,                                  \
	  "a built-in policy; default: workspace", NULL }

static const tool_option scope_options[] = { SCOPE_OPTIONS, END };

static const tool_option scope_check_options[] = {
	SCOPE_OPTIONS,
	{ "--jsonl", NULL, "", 0,
	  "judge rows {\"id\", \"tool\", \"args\"} on standard input, one "
	  "decision a line on standard output, in the same order", NULL },
	{ "--explain", NULL, "", 0,
	  "show where something was found and every rule that fired", NULL },
	END
};

static const tool_option network_options[] = {
	{ "--account", "NAME", "", 0,
	  "the list of boxes whose policy has this account; default: of those "
	  "without one", NULL },
	END
};

static const tool_option guard_options[] = {
	{ "--policy", "FILE", "policy", 0,
	  "the policy document whose tools section grants", NULL },
	{ "--builtin", "NAME", "builtin", 0,
	  "a built-in policy; default: workspace, which grants no tool", NULL },
	{ "--server", "NAME", "", 0,
	  "its name in tools.servers; default: the one with this command",
	  NULL },
	{ "--audit", "FILE", "file", 0, "record every decision in this log",
	  NULL },
	END
};

static const tool_option mcp_options[] = {
	{ "--tools", "KIND", "", 0,
	  "what is served: box (team is not in this build)", NULL },
	{ "--key", "FILE", "file", 0,
	  "the key that the client must hold, in $AGENTBOX_KEY", NULL },
	{ "--new-key", "FILE", "file", 0, "make such a file, and nothing else",
	  NULL },
	{ "--box", "BOX", "", 0,
	  "serve this live box, by id or name, instead of raising one; the "
	  "other options are those it was raised with", NULL },
	PLACE_OPTIONS, END
};

static const tool_option verify_box_options[] = {
	{ "--all", NULL, "", 0, "tell every finding, also where a wall holds",
	  NULL },
	PLACE_OPTIONS, NETWORK_OPTIONS, END
};

const tool_command tool_commands[] = {
	{ NULL, "doctor", "", "",
	  "what this machine can enforce, and how to fix what is missing",
	  no_options,
	  "Raises an empty box in every tier and says what stood in the way. "
	  "The exit status is 0 when some tier can be raised, else 125.",
	  "agentbox doctor\nagentbox doctor --json | jq .tiers\n",
	  0, 0, false, tool_doctor },
	{ NULL, "run", "[--] CMD [ARG...]", "command",
	  "raise a box, run CMD in it, remove the box",
	  box_options,
	  "Without --policy the box is builtin:workspace on the current "
	  "directory. The exit status is the command's own; see agentbox(1) "
	  "for the others.",
	  "agentbox run -- make check\n"
	  "agentbox run --limit memory=2GiB,wall=10m -- npm test\n"
	  "agentbox run --read ~/data --hide .env -- python3 train.py\n"
	  "agentbox run --allow packages.example.com:443 -- npm ci\n"
	  "agentbox run --shield --audit run.jsonl -- ./agent\n"
	  "agentbox run --walls -- true\n",
	  1, -1, true, tool_run },
	{ NULL, "shell", "", "",
	  "an interactive shell in a box",
	  box_options,
	  "Your shell if it exists in the box, else /bin/bash, /bin/sh. What "
	  "it leaves running ends with it.",
	  "agentbox shell\nagentbox shell --workspace ~/src/project\n",
	  0, 0, false, tool_shell },
	{ "check", "write", "PATH...", "file",
	  "may the agent write these paths",
	  check_options,
	  "Nothing is written. The exit status is the worst verdict: 0 allow, "
	  "10 ask, 11 deny.",
	  "agentbox check write src/main.c\n"
	  "agentbox check write --role engineer --team-dir ~/team --agent ada "
	  "shared/notes\n",
	  0, -1, false, tool_check_write },
	{ "check", "read", "PATH...", "file",
	  "may the agent read these paths",
	  check_options, NULL, "agentbox check read --explain ../secret\n",
	  0, -1, false, tool_check_read },
	{ "check", "shell", "[--] LINE", "",
	  "may the agent run this line of shell",
	  check_options,
	  "Nothing is run. Every command that a shell would run is judged, "
	  "wherever in the line it hides.",
	  "agentbox check shell 'make && git push'\n"
	  "agentbox check shell --explain 'cd /tmp; rm -rf *'\n",
	  0, -1, true, tool_check_shell },
	{ "check", "argv", "[--] CMD [ARG...]", "command",
	  "may the agent run this command, which no shell reads",
	  check_options, NULL,
	  "agentbox check argv -- rm -rf build\n",
	  0, -1, true, tool_check_argv },
	{ "check", "git", "[--] ARG...", "",
	  "may the agent run git with these arguments",
	  check_options, NULL, "agentbox check git -- push --force\n",
	  0, -1, true, tool_check_git },
	{ "policy", "check", "FILE", "policy",
	  "is FILE a good policy document",
	  no_options,
	  "FILE may be \"-\" or builtin:NAME here and below. An error names "
	  "key, line and column.",
	  "agentbox policy check policy.json\n",
	  1, 1, false, tool_policy_check },
	{ "policy", "show", "FILE", "policy",
	  "the whole policy with everything it inherits, as JSON",
	  no_options, NULL,
	  "agentbox policy show builtin:workspace\n",
	  1, 1, false, tool_policy_show },
	{ "policy", "digest", "FILE", "policy",
	  "the digest that the audit records as config_hash",
	  no_options, NULL, "agentbox policy digest policy.json\n",
	  1, 1, false, tool_policy_digest },
	{ "policy", "contains", "PARENT CHILD", "policy",
	  "does CHILD ask for nothing that PARENT does not hold",
	  no_options,
	  "Exit status 0 when it does not, 5 with the first thing that asks "
	  "for more when it does.",
	  "agentbox policy contains builtin:workspace child.json\n",
	  2, 2, false, tool_policy_contains },
	{ "policy", "narrow", "PARENT CHILD", "policy",
	  "CHILD cut to PARENT, as JSON",
	  no_options, NULL,
	  "agentbox policy narrow parent.json child.json >cut.json\n",
	  2, 2, false, tool_policy_narrow },
	{ "snapshot", "copy", "SRC DST", "dir",
	  "a filtered, read-only copy of the tree SRC at DST",
	  copy_options,
	  "DST is made, in a directory that is there. Secrets by name and "
	  "content, histories, dependency stores and links are left out; "
	  "'agentbox snapshot explain SRC' tells what and why.",
	  "agentbox snapshot copy ~/src/project /tmp/project\n"
	  "agentbox snapshot copy --exclude '*.bin' . ../for-review\n",
	  2, 2, false, tool_snapshot_copy },
	{ "snapshot", "refresh", "DST", "dir",
	  "the next generation of a copy, with the options it was made with",
	  copy_options,
	  "What did not change is taken over. DST shows the old tree or the "
	  "new one, never neither.",
	  "agentbox snapshot refresh /tmp/project\n",
	  1, 1, false, tool_snapshot_refresh },
	{ "snapshot", "explain", "SRC", "dir",
	  "what a copy of SRC would leave out, and why",
	  explain_options,
	  "One line a place: path, reason, rule. A finding names the rule and "
	  "the line, never the secret.",
	  "agentbox snapshot explain .\n",
	  1, 1, false, tool_snapshot_explain },
	{ "snapshot", "tar", "SRC", "dir",
	  "what a copy of SRC would have, as an archive",
	  tar_options,
	  "The same tree always makes the same bytes. An archive that was cut "
	  "off by an error has no end, and tar says so.",
	  "agentbox snapshot tar . | ssh reviewer agentbox snapshot untar - "
	  "project\n"
	  "agentbox snapshot tar --output /tmp/project.zip ~/src/project\n",
	  1, 1, false, tool_snapshot_tar },
	{ "snapshot", "untar", "ARCHIVE DST", "file",
	  "a copy at DST of what an archive holds, filtered as a tree is",
	  copy_options,
	  "ARCHIVE is tar, tar.gz, tar.zst or zip; '-' reads standard input. "
	  "What was left out is listed, one line a place. An archive with "
	  "names that lead out of it, or twice the same, is refused.",
	  "agentbox snapshot untar project.tar.gz /tmp/project\n",
	  2, 2, false, tool_snapshot_untar },
	{ "snapshot", "verify", "DST", "dir",
	  "is a copy what its manifest says",
	  no_options,
	  "Exit status 0 when it is, 6 with the places that differ when not.",
	  "agentbox snapshot verify /tmp/project\n",
	  1, 1, false, tool_snapshot_verify },
	{ "snapshot", "scrub", "DST", "dir",
	  "end a copy, also for who still has files of it open",
	  no_options, NULL,
	  "agentbox snapshot scrub /tmp/project\n",
	  1, 1, false, tool_snapshot_scrub },
	{ "peer", "grant", "", "",
	  "let one live box read a snapshot of another's workspace",
	  grant_options,
	  "It appears below .shared in the reader's workspace. The reader "
	  "must have been raised with --peering or such a policy. What is "
	  "copied: the snapshot section of the source's policy, or the "
	  "options here and what that section excludes.",
	  "agentbox shell --name writer\n"
	  "agentbox shell --name reviewer --peering --workspace ../review\n"
	  "agentbox peer grant --reader reviewer --source writer --as code\n",
	  0, 0, false, tool_peer_grant },
	{ "peer", "refresh", "", "",
	  "share the source's workspace as it is now",
	  refresh_options, NULL,
	  "agentbox peer refresh --reader reviewer --source writer\n",
	  0, 0, false, tool_peer_refresh },
	{ "peer", "revoke", "", "",
	  "end a grant",
	  revoke_options,
	  "Its name is gone at once. scrub empties every file, also for who "
	  "has it open; detach lets those read on; kill ends the reader's "
	  "processes first.",
	  "agentbox peer revoke --reader reviewer --source writer\n",
	  0, 0, false, tool_peer_revoke },
	{ "peer", "list", "", "",
	  "who reads whom",
	  list_options, NULL, "agentbox peer list --json\n",
	  0, 0, false, tool_peer_list },
	{ "scope", "check", "[TOOL]", "",
	  "may the caller make this tool call",
	  scope_check_options,
	  "The arguments of the call come on standard input, as JSON. Exit "
	  "status 0 allow, 10 ask, 11 deny.",
	  "echo '{\"host\": \"sb-2\"}' | agentbox scope check --scope me.json "
	  "db_query\n",
	  0, 1, false, tool_scope_check },
	{ "scope", "hint", "TOOL", "",
	  "which readable boxes a tool call names, and where",
	  scope_options,
	  "For tools that are not scoped. The arguments come on standard "
	  "input, as JSON.",
	  "echo '{\"path\": \".shared/sb-2/x.c\"}' | agentbox scope hint "
	  "--scope me.json read_file\n",
	  1, 1, false, tool_scope_hint },
	{ "scope", "prompt", "", "",
	  "what the agent is told about its scope",
	  scope_options, NULL, "agentbox scope prompt --scope me.json\n",
	  0, 0, false, tool_scope_prompt },
	{ "network", "show", "", "",
	  "the stored allowlist: what boxes may reach when nothing else says",
	  network_options,
	  "One entry a line. It is empty until 'allow' adds to it. run and "
	  "shell take it when neither --policy, --builtin, --bare nor --allow "
	  "is given, or with --stored.",
	  "agentbox network show\n",
	  0, 0, false, tool_network_show },
	{ "network", "allow", "HOST...", "",
	  "add hosts to it, as network.allow of a policy writes them",
	  network_options,
	  "All of them or none. \"*\", every ordinary host, has to be written.",
	  "agentbox network allow api.example.com:443 '*.pkg.example'\n",
	  1, -1, false, tool_network_allow },
	{ "network", "disallow", "HOST...", "",
	  "take away every entry that HOST covers",
	  network_options,
	  "An entry that names more than HOST stays, and is told. Exit status "
	  "4, and nothing is changed, when some HOST covers no entry.",
	  "agentbox network disallow api.example.com\n",
	  1, -1, false, tool_network_disallow },
	{ "network", "reset", "", "",
	  "nothing is allowed any more",
	  network_options, NULL,
	  "agentbox network reset\n",
	  0, 0, false, tool_network_reset },
	{ NULL, "mcp", "", "",
	  "a box as an MCP server: read, write, list, run, result",
	  mcp_options,
	  "For an agent that runs beside a box. It raises one as run does, "
	  "serves it on standard input and output, and removes it when the "
	  "client has gone. Paths go through the write guard, commands into "
	  "the box.",
	  "agentbox mcp --new-key ~/.box-key\n"
	  "AGENTBOX_KEY=$(cat ~/.box-key) agentbox mcp --tools box "
	  "--key ~/.box-key\n",
	  0, 0, false, tool_mcp },
	{ NULL, "mcp-guard", "[--] [SERVER [ARG...]]", "command",
	  "an MCP server behind the guard, on standard input and output",
	  guard_options,
	  "The policy's tools section says which servers there are and which "
	  "tools may be called; what it does not list is not shown and not "
	  "known. SERVER may run in a box of its own, by 'agentbox run'. The "
	  "exit status is the server's own; 5 when a side went past a limit.",
	  "agentbox mcp-guard --policy agent.json --server files\n"
	  "agentbox mcp-guard --policy agent.json -- agentbox run -- "
	  "my-server --stdio\n",
	  0, -1, true, tool_mcp_guard },
	{ NULL, "verify", "[BOX]", "",
	  "try every wall of a live box, from inside and outside",
	  verify_box_options,
	  "Without BOX a box is raised as by run, tried and removed. The exit "
	  "status is 0 when every wall answered, 6 when one is missing or "
	  "could not be tried.",
	  "agentbox verify\nagentbox verify --policy agent.json --json\n"
	  "agentbox verify ada\n",
	  0, 1, false, tool_verify },
	{ "secret", "put", "NAME", "",
	  "store a secret, whose value comes on standard input",
	  no_options,
	  "Boxes whose policy lists it with \"memfd\" or \"file\" ask for it "
	  "by this name. It is kept in the state directory, which no box "
	  "sees, in a file of mode 0600.",
	  "pass show github | agentbox secret put gh\n",
	  1, 1, false, tool_secret_put },
	{ "secret", "list", "", "",
	  "the names of the stored secrets, never their values",
	  no_options, NULL, "agentbox secret list\n",
	  0, 0, false, tool_secret_list },
	{ "secret", "revoke", "NAME", "",
	  "remove a stored secret, and end its leases in live boxes",
	  no_options,
	  "Files of it in boxes are emptied at once. What a process has read "
	  "cannot be recalled: change it where it was issued, too.",
	  "agentbox secret revoke gh\n",
	  1, 1, false, tool_secret_revoke },
	{ "identity", "list", "", "",
	  "the identities of live boxes",
	  no_options, NULL, "agentbox identity list --json\n",
	  0, 0, false, tool_identity_list },
	{ "identity", "revoke", "ID", "",
	  "cut all that live boxes of this identity have through their gateways",
	  no_options,
	  "Tunnels, streams, sessions and leases end at once, and nothing "
	  "begins any more, commands neither. What runs goes on without a "
	  "network. ID is the policy's identity.",
	  "agentbox identity revoke ada@acme\n",
	  1, 1, false, tool_identity_revoke },
	{ "audit", "show", "[FILE...]", "file",
	  "the records of a log, oldest first",
	  filter_options,
	  "With --json the records as they are in the file, one a line. "
	  "Without FILE: audit.jsonl in the state directory. This does not "
	  "verify.",
	  "agentbox audit show run.jsonl\n"
	  "agentbox audit show --verdict deny --json run.jsonl\n",
	  0, -1, false, tool_audit_show },
	{ "audit", "verify", "[FILE...]", "file",
	  "is anything changed, dropped, reordered or cut",
	  verify_options,
	  "Give rotated files oldest first. Exit status 0 when the log "
	  "verifies, 6 when it does not.",
	  "agentbox audit verify run.jsonl\n",
	  0, -1, false, tool_audit_verify },
	{ "audit", "report", "[FILE...]", "file",
	  "how often what happened, most frequent denials first",
	  filter_options, NULL, "agentbox audit report run.jsonl\n",
	  0, -1, false, tool_audit_report },
	{ .name = NULL }
};
