# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/path. Append, e.g.:
#   libagentbox_la_SOURCES += lib/path/x.c lib/path/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/path/lexical.c lib/path/lexical.h \
	lib/path/glob.c lib/path/glob.h \
	lib/path/resolve.c lib/path/resolve.h
