# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of shell (see tests/lib/abtest.h).
check_PROGRAMS += tests/unit/shell_data
UNIT_TESTS += tests/unit/shell_data
tests_unit_shell_data_SOURCES = tests/unit/shell_data.c \
	tests/unit/shell_print.c tests/unit/shell_print.h
tests_unit_shell_data_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_shell_data_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/shell_run
UNIT_TESTS += tests/unit/shell_run
tests_unit_shell_run_SOURCES = tests/unit/shell_run.c
tests_unit_shell_run_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_shell_run_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/shell_bash
UNIT_TESTS += tests/unit/shell_bash
tests_unit_shell_bash_SOURCES = tests/unit/shell_bash.c
tests_unit_shell_bash_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_shell_bash_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/shell_names_internal
UNIT_TESTS += tests/unit/shell_names_internal
tests_unit_shell_names_internal_SOURCES = tests/unit/shell_names_internal.c
tests_unit_shell_names_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_shell_names_internal_CFLAGS = $(UNIT_CFLAGS)
