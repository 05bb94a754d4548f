# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/shield.
libagentbox_la_SOURCES += \
	lib/shield/internal.h \
	lib/shield/request.c \
	lib/shield/shield.c \
	lib/shield/shield.h \
	lib/shield/start.c \
	lib/shield/witness.c
