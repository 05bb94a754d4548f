# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/path. Append, e.g.:
#   libagentbox_la_SOURCES += lib/path/x.c lib/path/x.h
# Public headers in include/agentbox/ are picked up by themselves.
