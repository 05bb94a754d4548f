# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/walls. Append, e.g.:
#   libagentbox_la_SOURCES += lib/walls/x.c lib/walls/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/walls/broker.c \
	lib/walls/build.c \
	lib/walls/cgroup.c lib/walls/cgroup.h \
	lib/walls/compile.c \
	lib/walls/doctor.c \
	lib/walls/fit.c \
	lib/walls/follow.c \
	lib/walls/gitconfig.c lib/walls/gitconfig.h \
	lib/walls/gitdir.c \
	lib/walls/gitvalue.c \
	lib/walls/held.c \
	lib/walls/internal.h \
	lib/walls/inodes.c lib/walls/inodes.h \
	lib/walls/landlock.c \
	lib/walls/layout.c \
	lib/walls/left.c \
	lib/walls/limits.c \
	lib/walls/links.c \
	lib/walls/patterns.c \
	lib/walls/probe.c lib/walls/probe.h \
	lib/walls/protect.c lib/walls/protect.h \
	lib/walls/quarantine.c \
	lib/walls/report.c \
	lib/walls/resolve.c \
	lib/walls/role.c \
	lib/walls/scan.c \
	lib/walls/seccomp.c \
	lib/walls/share.c \
	lib/walls/submounts.c \
	lib/walls/syscalls.c lib/walls/syscalls.h \
	lib/walls/tree.c \
	lib/walls/walls.h \
	lib/walls/weaker.c
