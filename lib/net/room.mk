# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/net. Append, e.g.:
#   libagentbox_la_SOURCES += lib/net/x.c lib/net/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/net/address.c lib/net/address.h \
	lib/net/allow.c lib/net/allow.h \
	lib/net/host_set.c \
	lib/net/hosts.c lib/net/hosts.h \
	lib/net/ports.c lib/net/ports.h \
	lib/net/ranges.c lib/net/ranges.h \
	lib/net/target.c lib/net/target.h
