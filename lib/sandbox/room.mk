# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/sandbox. Append, e.g.:
#   libagentbox_la_SOURCES += lib/sandbox/x.c lib/sandbox/x.h
# Public headers in include/agentbox/ are picked up by themselves.
