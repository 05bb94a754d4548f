# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/shell. No public headers: hosts meet the parser through the
# guard.
libagentbox_la_SOURCES += \
	lib/shell/chars.c \
	lib/shell/lex.c \
	lib/shell/parse.c lib/shell/parser.h \
	lib/shell/shell.h lib/shell/tree.h \
	lib/shell/word.c lib/shell/word.h
