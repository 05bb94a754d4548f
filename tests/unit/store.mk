# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of store. See tests/unit/base.mk for how to add one.
check_PROGRAMS += tests/unit/store_internal
UNIT_TESTS += tests/unit/store_internal
tests_unit_store_internal_SOURCES = tests/unit/store_internal.c
tests_unit_store_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_store_internal_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
