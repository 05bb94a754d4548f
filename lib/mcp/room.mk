# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/mcp. Append, e.g.:
#   libagentbox_la_SOURCES += lib/mcp/x.c lib/mcp/x.h
# Public headers in include/agentbox/ are picked up by themselves.
libagentbox_la_SOURCES += \
	lib/mcp/ask.c \
	lib/mcp/carry.c lib/mcp/carry.h \
	lib/mcp/client.c lib/mcp/internal.h \
	lib/mcp/frame.c lib/mcp/frame.h \
	lib/mcp/mcp.c \
	lib/mcp/method.c lib/mcp/method.h \
	lib/mcp/server.c \
	lib/mcp/param.c \
	lib/mcp/session.c \
	lib/mcp/subject.c \
	lib/mcp/tools.c
