# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of path. Each program is five lines (see tests/lib/abtest.h):
#   check_PROGRAMS += tests/unit/path_x
#   UNIT_TESTS += tests/unit/path_x
#   tests_unit_path_x_SOURCES = tests/unit/path_x.c
#   tests_unit_path_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_unit_path_x_CFLAGS = $(UNIT_CFLAGS)
# It links libagentbox-internal.la, the leak checker and Check by default.
check_PROGRAMS += tests/unit/path_internal
UNIT_TESTS += tests/unit/path_internal
tests_unit_path_internal_SOURCES = tests/unit/path_internal.c
tests_unit_path_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_path_internal_CFLAGS = $(UNIT_CFLAGS)
