# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/base. Public headers in include/agentbox/ are picked up by
# themselves.

# What a static helper may compile as well: libc and nothing else.
LIBC_ONLY_FILES = \
	lib/base/alloc.c lib/base/alloc.h \
	lib/base/arena.h \
	lib/base/key.h \
	lib/base/attr.c lib/base/attr.h \
	lib/base/clock.c lib/base/clock.h \
	lib/base/fd.c lib/base/fd.h \
	lib/base/limits.h \
	lib/base/processor.c lib/base/processor.h

libagentbox_la_SOURCES += \
	lib/base/alloc.c lib/base/alloc.h \
	lib/base/arena.h \
	lib/base/key.h \
	lib/base/attr.c lib/base/attr.h \
	lib/base/bytes.c lib/base/bytes.h \
	lib/base/canonical.c lib/base/canonical.h \
	lib/base/clock.c lib/base/clock.h \
	lib/base/context.c lib/base/context.h \
	lib/base/digit.h \
	lib/base/error.c lib/base/error.h \
	lib/base/fd.c lib/base/fd.h \
	lib/base/fold.c lib/base/fold.h lib/base/fold_table.c \
	lib/base/fork_mark.c lib/base/fork_mark.h \
	lib/base/hash.c lib/base/hash.h \
	lib/base/json.c lib/base/json.h \
	lib/base/limits.h \
	lib/base/processor.c lib/base/processor.h \
	lib/base/secret.c lib/base/secret.h \
	lib/base/sha256.c \
	lib/base/spawn.c lib/base/spawn.h \
	lib/base/utf8.h \
	lib/base/version.c
