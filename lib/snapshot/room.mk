# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/snapshot. Append, e.g.:
#   libagentbox_la_SOURCES += lib/snapshot/x.c lib/snapshot/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/snapshot/content.h \
	lib/snapshot/filter.h

libagentbox_la_SOURCES += \
	lib/snapshot/line.c lib/snapshot/line.h \
	lib/snapshot/manifest.c lib/snapshot/manifest.h \
	lib/snapshot/record.c lib/snapshot/record.h
