# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/verify.
libagentbox_la_SOURCES += \
	lib/verify/answer.c \
	lib/verify/appear.c \
	lib/verify/ask.c lib/verify/ask.h \
	lib/verify/bait.c \
	lib/verify/calls.c \
	lib/verify/exposure.c \
	lib/verify/inside.c \
	lib/verify/judge.c \
	lib/verify/leftover.c \
	lib/verify/limits.c \
	lib/verify/internal.h \
	lib/verify/mounts.c \
	lib/verify/options.c \
	lib/verify/other.c \
	lib/verify/outside.c \
	lib/verify/probes.c \
	lib/verify/proc.c \
	lib/verify/report.c \
	lib/verify/run.c \
	lib/verify/scheduling.c \
	lib/verify/secrets.c
