# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of wire. Each program is five lines (see tests/lib/abtest.h):
#   check_PROGRAMS += tests/unit/wire_x
#   UNIT_TESTS += tests/unit/wire_x
#   tests_unit_wire_x_SOURCES = tests/unit/wire_x.c
#   tests_unit_wire_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_unit_wire_x_CFLAGS = $(UNIT_CFLAGS)
# It links libagentbox-internal.la, the leak checker and Check by default.
