# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of guard; tests/unit/path.mk says how to add one.
check_PROGRAMS += tests/unit/guard_decision_internal
UNIT_TESTS += tests/unit/guard_decision_internal
tests_unit_guard_decision_internal_SOURCES = \
	tests/unit/guard_decision_internal.c
tests_unit_guard_decision_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_decision_internal_CFLAGS = $(UNIT_CFLAGS)
