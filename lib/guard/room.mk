# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/guard, in the order in which they are best read; each file says
# at its head what it is about. Public headers in include/agentbox/ are picked up
# by themselves.

# The handle, where the agent stands, and what was found.
libagentbox_la_SOURCES += \
	lib/guard/guard.c lib/guard/guard.h lib/guard/place.c \
	lib/guard/place.h lib/guard/decision.c lib/guard/decision.h \
	lib/guard/show.c

# The write guard: one path, judged and acted on by the fd that was judged.
libagentbox_la_SOURCES += \
	lib/guard/write.c lib/guard/write.h lib/guard/target.c \
	lib/guard/target.h lib/guard/protect.c lib/guard/protect.h \
	lib/guard/act.c lib/guard/act.h lib/guard/act_name.c

# The git check: tables of what git has, and who reads a command line by them.
libagentbox_la_SOURCES += \
	lib/guard/git.c lib/guard/git.h lib/guard/git_walk.c \
	lib/guard/git_walk.h lib/guard/git_word.c lib/guard/git_path.c \
	lib/guard/git_judge.c lib/guard/git_acts.c lib/guard/git_commands.c \
	lib/guard/git_table.h lib/guard/git_option.h \
	lib/guard/git_options.c lib/guard/git_options_local.c \
	lib/guard/git_options_read.c lib/guard/git_config.c \
	lib/guard/git_env.c lib/guard/git_hardened.c lib/guard/git_prints.c \
	lib/guard/git_shows.c

# Packs of rules: read, laid out, proven.
libagentbox_la_SOURCES += \
	lib/guard/pack.c lib/guard/pack.h lib/guard/pack_internal.h \
	lib/guard/pack_read.c lib/guard/pack_program.c \
	lib/guard/pack_rule.c lib/guard/pack_settle.c \
	lib/guard/pack_verify.c lib/guard/rules.c lib/guard/rules.h

# A check of the shell: from its text to each command that would run.
# lib/shell goes through the text and tells of each.
libagentbox_la_SOURCES += \
	lib/guard/check_shell.c lib/guard/check.h lib/guard/exec.c \
	lib/guard/exec.h lib/guard/bytes.c lib/guard/shell.c \
	lib/guard/shell.h lib/guard/shopts.c lib/guard/dirs.c lib/guard/stayed.c \
	lib/guard/redirs.c lib/guard/stdin.c lib/guard/traps.c \
	lib/guard/callback.c lib/guard/defined.c

# One command: its words by the grammar of its program, and what rules say.
libagentbox_la_SOURCES += \
	lib/guard/command.c lib/guard/command.h lib/guard/called.c \
	lib/guard/argv.c lib/guard/argv_role.c lib/guard/match.c \
	lib/guard/outs.c lib/guard/check_git.c lib/guard/transfer.c

# What it runs in turn.
libagentbox_la_SOURCES += \
	lib/guard/runs.c lib/guard/formats.c lib/guard/wrap.c \
	lib/guard/mounts.c \
	lib/guard/xargs.c lib/guard/find.c lib/guard/typed.c lib/guard/parsed.c

# What a word may mean: a path, a pattern, a host, a secret.
libagentbox_la_SOURCES += \
	lib/guard/path.c lib/guard/path.h lib/guard/path_listed.c \
	lib/guard/path_usual.c lib/guard/near.c lib/guard/pattern.c \
	lib/guard/links.c lib/guard/value.c lib/guard/value_host.c \
	lib/guard/value_secret.c

# What streams and files hold, as far as the text says.
libagentbox_la_SOURCES += \
	lib/guard/prints.c lib/guard/prints.h lib/guard/prints_sed.c \
	lib/guard/names.c lib/guard/likely.c lib/guard/lists.c \
	lib/guard/found.c lib/guard/found.h \
	lib/guard/dumps.c lib/guard/fill.c lib/guard/files.c lib/guard/files.h \
	lib/guard/files_copy.c lib/guard/files_beside.c \
	lib/guard/files_edit.c lib/guard/files_run.c \
	lib/guard/files_unpack.c

# Texts in other languages: tokens, and rules about them.
libagentbox_la_SOURCES += \
	lib/guard/lexer.c lib/guard/text.c lib/guard/text.h

# Inline programs: their calls, ...
libagentbox_la_SOURCES += \
	lib/guard/code.c lib/guard/code.h lib/guard/code_calls.c \
	lib/guard/code_table.c lib/guard/code_args.c lib/guard/code_apply.c \
	lib/guard/code_block.c lib/guard/code_pair.c \
	lib/guard/code_judge.c lib/guard/code_judge_run.c \
	lib/guard/code_loose.c lib/guard/code_handed.c \
	lib/guard/code_home.c lib/guard/code_env.c lib/guard/code_argv.c \
	lib/guard/code_module.c lib/guard/code_walk.c \
	lib/guard/code_written.c lib/guard/code_remote.c \
	lib/guard/code_flow.c lib/guard/code_flow.h \
	lib/guard/code_flow_from.c lib/guard/code_flow_names.c \
	lib/guard/code_flow_own.c

# ... what their names and expressions stand for, ...
libagentbox_la_SOURCES += \
	lib/guard/code_words.c lib/guard/code_names.c \
	lib/guard/code_value.c lib/guard/code_variable.c \
	lib/guard/code_change.c lib/guard/code_params.c \
	lib/guard/code_tricks.c lib/guard/code_text.c \
	lib/guard/code_removed.c lib/guard/code_result.c \
	lib/guard/code_rest.c lib/guard/code_tool.c \
	lib/guard/code_expr.c lib/guard/code_made.c \
	lib/guard/code_op.c lib/guard/code_op.h

# ... languages with ways of their own, ...
libagentbox_la_SOURCES += \
	lib/guard/code_awk.c lib/guard/code_sed.c lib/guard/code_other.c \
	lib/guard/code_program.c

# ... and files of tools that hold commands.
libagentbox_la_SOURCES += \
	lib/guard/code_ex.c lib/guard/code_files.c lib/guard/code_image.c \
	lib/guard/code_lines.c lib/guard/code_named.c \
	lib/guard/code_config.c lib/guard/code_jq.c \
	lib/guard/code_tasks.c lib/guard/code_xml.c lib/guard/code_make.c lib/guard/code_make.h \
	lib/guard/code_make_line.c lib/guard/code_make_names.c \
	lib/guard/code_make_text.c

# The built-in rules are text; the library holds them as a string.
EXTRA_DIST += lib/guard/base.rules
nodist_libagentbox_la_SOURCES += lib/guard/base_rules.c
BUILT_SOURCES += lib/guard/base_rules.c
CLEANFILES += lib/guard/base_rules.c
lib/guard/base_rules.c: $(srcdir)/lib/guard/base.rules
	$(AM_V_GEN)$(MKDIR_P) lib/guard && { \
		printf '#include "guard/pack.h"\nconst char ab_base_rules[] =\n'; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' \
			-e 's/$$/\\n"/' $(srcdir)/lib/guard/base.rules; \
		printf ';\nconst size_t ab_base_rules_len ='; \
		printf ' sizeof(ab_base_rules) - 1;\n'; \
	} >$@.new && mv $@.new $@
