# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/policy. Append, e.g.:
#   libagentbox_la_SOURCES += lib/policy/x.c lib/policy/x.h
# Public headers in include/agentbox/ are picked up by themselves.
