# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/sandbox.
libagentbox_la_SOURCES += \
	lib/sandbox/box.c \
	lib/sandbox/capture.c \
	lib/sandbox/command.c \
	lib/sandbox/control.c \
	lib/sandbox/environment.c \
	lib/sandbox/event.c \
	lib/sandbox/gateway.c \
	lib/sandbox/hidden.c \
	lib/sandbox/internal.h \
	lib/sandbox/left.c \
	lib/sandbox/pack.c \
	lib/sandbox/process.c \
	lib/sandbox/record.c \
	lib/sandbox/sandbox.h \
	lib/sandbox/settle.c \
	lib/sandbox/shield.c \
	lib/sandbox/spawn.c \
	lib/sandbox/uid.c
