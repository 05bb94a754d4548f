# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/policy. Append, e.g.:
#   libagentbox_la_SOURCES += lib/policy/x.c lib/policy/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/policy/builtins.c lib/policy/builtins.h \
	lib/policy/check.c \
	lib/policy/commit.c lib/policy/commit.h \
	lib/policy/compile.c lib/policy/compile.h \
	lib/policy/handle.h \
	lib/policy/items.c lib/policy/items.h \
	lib/policy/narrow.c lib/policy/narrow.h \
	lib/policy/narrow_lists.c \
	lib/policy/narrow_mounts.c \
	lib/policy/narrow_records.c \
	lib/policy/narrow_routed.c \
	lib/policy/policy.c lib/policy/policy.h \
	lib/policy/presets.c lib/policy/presets.h \
	lib/policy/protect.c \
	lib/policy/routes.c lib/policy/routes.h \
	lib/policy/schema.c lib/policy/schema.h \
	lib/policy/secrets.c lib/policy/secrets.h \
	lib/policy/tree.c lib/policy/tree.h \
	lib/policy/usual.c lib/policy/usual.h \
	lib/policy/value.c lib/policy/value.h \
	lib/policy/view.c lib/policy/view.h \
	lib/policy/way.c lib/policy/way.h \
	lib/policy/whole.c
