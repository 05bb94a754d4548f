# SPDX-License-Identifier: LGPL-2.1-or-later
# The tool, over the public headers only:
#   bin_PROGRAMS += tools/agentbox
#   tools_agentbox_SOURCES = tools/x.c
#   tools_agentbox_LDADD = $(PUBLIC_LIBS)
