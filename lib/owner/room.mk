# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/owner.
libagentbox_la_SOURCES += \
	lib/owner/client.c \
	lib/owner/internal.h \
	lib/owner/job.c \
	lib/owner/owner.c \
	lib/owner/peer.c \
	lib/owner/protocol.c \
	lib/owner/protocol.h \
	lib/owner/remote.c \
	lib/owner/request.c \
	lib/owner/sweep.c \
	lib/owner/work.c \
	lib/owner/work.h
