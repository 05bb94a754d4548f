# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/peering. Append, e.g.:
#   libagentbox_la_SOURCES += lib/peering/x.c lib/peering/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/peering/boxes.c \
	lib/peering/grants.c \
	lib/peering/internal.h \
	lib/peering/job.c \
	lib/peering/job.h \
	lib/peering/peering.c \
	lib/peering/places.c \
	lib/peering/revoke.c \
	lib/peering/share.c \
	lib/peering/sweep.c
