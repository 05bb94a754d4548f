# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/guard. Append, e.g.:
#   libagentbox_la_SOURCES += lib/guard/x.c lib/guard/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/guard/act.c \
	lib/guard/decision.c lib/guard/decision.h \
	lib/guard/git.c lib/guard/git.h \
	lib/guard/git_acts.c \
	lib/guard/git_check.c \
	lib/guard/git_commands.c \
	lib/guard/git_config.c \
	lib/guard/git_env.c \
	lib/guard/git_hardened.c \
	lib/guard/git_judge.c \
	lib/guard/git_option.h \
	lib/guard/git_options.c \
	lib/guard/git_options_local.c \
	lib/guard/git_options_read.c \
	lib/guard/git_path.c \
	lib/guard/git_table.h \
	lib/guard/git_walk.c lib/guard/git_walk.h \
	lib/guard/git_word.c \
	lib/guard/guard.c lib/guard/guard.h \
	lib/guard/place.c lib/guard/place.h \
	lib/guard/protect.c lib/guard/protect.h \
	lib/guard/show.c \
	lib/guard/target.c lib/guard/target.h \
	lib/guard/write.c lib/guard/write.h
