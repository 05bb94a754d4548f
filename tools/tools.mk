# SPDX-License-Identifier: LGPL-2.1-or-later
# The tool, over the public headers only.
bin_PROGRAMS += tools/agentbox
tools_agentbox_SOURCES = \
	tools/audit.c \
	tools/check.c \
	tools/cli.c \
	tools/commands.c \
	tools/doctor.c \
	tools/document.c \
	tools/job.c tools/job.h \
	tools/log.c tools/log.h \
	tools/loop.c \
	tools/mcp.h \
	tools/mcp_box.c \
	tools/mcp_box.h \
	tools/mcp_files.c \
	tools/mcp_guard.c \
	tools/mcp_key.c \
	tools/mcp_link.c \
	tools/mcp_runs.c \
	tools/network.c \
	tools/peer.c \
	tools/policy.c \
	tools/preview.c \
	tools/report.c \
	tools/report.h \
	tools/run.c \
	tools/scope.c \
	tools/secret.c \
	tools/session.h \
	tools/shield.c \
	tools/snapshot.c \
	tools/streams.c \
	tools/terminal.c \
	tools/text.c \
	tools/text.h \
	tools/tool.c \
	tools/tool.h \
	tools/verify.c
tools_agentbox_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tools_agentbox_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = tools/completion/agentbox
