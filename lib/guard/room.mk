# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/guard. Append, e.g.:
#   libagentbox_la_SOURCES += lib/guard/x.c lib/guard/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/guard/decision.c lib/guard/decision.h \
	lib/guard/git.h \
	lib/guard/guard.c lib/guard/guard.h \
	lib/guard/place.c lib/guard/place.h \
	lib/guard/show.c
