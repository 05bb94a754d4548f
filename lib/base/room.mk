# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/base. Append, e.g.:
#   libagentbox_la_SOURCES += lib/base/x.c lib/base/x.h
# Public headers in include/agentbox/ are picked up by themselves.
