# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/wire. Append, e.g.:
#   libagentbox_la_SOURCES += lib/wire/x.c lib/wire/x.h
# Public headers in include/agentbox/ are picked up by themselves.
