# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of sandbox. Each program is five lines (see tests/lib/abtest.h):
#   check_PROGRAMS += tests/unit/sandbox_x
#   UNIT_TESTS += tests/unit/sandbox_x
#   tests_unit_sandbox_x_SOURCES = tests/unit/sandbox_x.c
#   tests_unit_sandbox_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_unit_sandbox_x_CFLAGS = $(UNIT_CFLAGS)
# It links libagentbox-internal.la, the leak checker and Check by default.
check_PROGRAMS += tests/unit/sandbox_command
UNIT_TESTS += tests/unit/sandbox_command
tests_unit_sandbox_command_SOURCES = tests/unit/sandbox_command.c
tests_unit_sandbox_command_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_sandbox_command_CFLAGS = $(UNIT_CFLAGS)
tests_unit_sandbox_command_LDADD = $(UNIT_LIBS) -lutil
check_PROGRAMS += tests/unit/sandbox_settle_internal
UNIT_TESTS += tests/unit/sandbox_settle_internal
tests_unit_sandbox_settle_internal_SOURCES = \
	tests/unit/sandbox_settle_internal.c
tests_unit_sandbox_settle_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_sandbox_settle_internal_CFLAGS = $(UNIT_CFLAGS)
