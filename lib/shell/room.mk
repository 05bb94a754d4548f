# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/shell. No public headers: hosts meet the parser through the
# guard.
libagentbox_la_SOURCES += \
	lib/shell/arith.c \
	lib/shell/array.c \
	lib/shell/brace.c \
	lib/shell/branch.c lib/shell/sure.c \
	lib/shell/builtin.c \
	lib/shell/builtin_read.c \
	lib/shell/chars.c \
	lib/shell/choice.c \
	lib/shell/compound.c \
	lib/shell/dollar.c \
	lib/shell/expand.c \
	lib/shell/fields.c \
	lib/shell/here.c \
	lib/shell/later.c \
	lib/shell/lex.c \
	lib/shell/lex_inside.c \
	lib/shell/names.c \
	lib/shell/output.c \
	lib/shell/param.c lib/shell/param.h \
	lib/shell/param_default.c lib/shell/param_edit.c \
	lib/shell/parse.c lib/shell/parser.h \
	lib/shell/parse_compound.c \
	lib/shell/parse_simple.c \
	lib/shell/redirect.c \
	lib/shell/run.c \
	lib/shell/scan.h \
	lib/shell/shell.h lib/shell/tree.h \
	lib/shell/simple.c \
	lib/shell/state.c lib/shell/state.h \
	lib/shell/visit.c \
	lib/shell/word.c lib/shell/word.h
