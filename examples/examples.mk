# SPDX-License-Identifier: LGPL-2.1-or-later
# Examples use only <agentbox/...>. They are built by make check and make demo:
#   EXTRA_PROGRAMS += examples/x
#   EXAMPLES += examples/x
#   examples_x_SOURCES = examples/x.c
#   examples_x_LDADD = $(PUBLIC_LIBS)
# DEMO += examples/demo   is what make demo runs (program or script).
