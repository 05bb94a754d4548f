# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/walls. Append, e.g.:
#   libagentbox_la_SOURCES += lib/walls/x.c lib/walls/x.h
# Public headers in include/agentbox/ are picked up by themselves.
