# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of owner (see tests/lib/abtest.h).
check_PROGRAMS += tests/unit/owner_serves
UNIT_TESTS += tests/unit/owner_serves
tests_unit_owner_serves_SOURCES = tests/unit/owner_serves.c
tests_unit_owner_serves_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_owner_serves_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/owner_keeper
UNIT_TESTS += tests/unit/owner_keeper
tests_unit_owner_keeper_SOURCES = tests/unit/owner_keeper.c
tests_unit_owner_keeper_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_owner_keeper_CFLAGS = $(UNIT_CFLAGS)
