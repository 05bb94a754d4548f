# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of walls. Each program is five lines (see tests/lib/abtest.h):
#   check_PROGRAMS += tests/unit/walls_x
#   UNIT_TESTS += tests/unit/walls_x
#   tests_unit_walls_x_SOURCES = tests/unit/walls_x.c
#   tests_unit_walls_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_unit_walls_x_CFLAGS = $(UNIT_CFLAGS)
# It links libagentbox-internal.la, the leak checker and Check by default.

check_PROGRAMS += tests/unit/walls_seccomp_internal
UNIT_TESTS += tests/unit/walls_seccomp_internal
tests_unit_walls_seccomp_internal_SOURCES = tests/unit/walls_seccomp_internal.c
tests_unit_walls_seccomp_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_walls_seccomp_internal_CFLAGS = $(UNIT_CFLAGS)
EXTRA_DIST += tests/data/seccomp.jsonl tests/data/seccomp-refused.jsonl

check_PROGRAMS += tests/unit/walls_plan_internal
UNIT_TESTS += tests/unit/walls_plan_internal
tests_unit_walls_plan_internal_SOURCES = tests/unit/walls_plan_internal.c
tests_unit_walls_plan_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_walls_plan_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/walls_protect_internal
UNIT_TESTS += tests/unit/walls_protect_internal
tests_unit_walls_protect_internal_SOURCES = tests/unit/walls_protect_internal.c
tests_unit_walls_protect_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_walls_protect_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_walls_protect_internal_LDFLAGS = -Wl,--wrap=readdir

check_PROGRAMS += tests/unit/walls_quarantine_internal
UNIT_TESTS += tests/unit/walls_quarantine_internal
tests_unit_walls_quarantine_internal_SOURCES = tests/unit/walls_quarantine_internal.c
tests_unit_walls_quarantine_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_walls_quarantine_internal_CFLAGS = $(UNIT_CFLAGS)
