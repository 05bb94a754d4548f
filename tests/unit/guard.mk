# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of guard; tests/unit/path.mk says how to add one.
check_PROGRAMS += tests/unit/guard_decision_internal
UNIT_TESTS += tests/unit/guard_decision_internal
tests_unit_guard_decision_internal_SOURCES = \
	tests/unit/guard_decision_internal.c
tests_unit_guard_decision_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_decision_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_git_internal
UNIT_TESTS += tests/unit/guard_git_internal
tests_unit_guard_git_internal_SOURCES = tests/unit/guard_git_internal.c \
	tests/unit/guard_git_rows.c tests/unit/guard_git_rows.h
tests_unit_guard_git_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_git_internal_CFLAGS = $(UNIT_CFLAGS)
