# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/audit. Append, e.g.:
#   libagentbox_la_SOURCES += lib/audit/x.c lib/audit/x.h
# Public headers in include/agentbox/ are picked up by themselves.
