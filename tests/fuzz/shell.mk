# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of shell; see tests/fuzz/path.mk for the form.
check_PROGRAMS += tests/fuzz/shell_parse
FUZZ_TARGETS += tests/fuzz/shell_parse
tests_fuzz_shell_parse_SOURCES = tests/fuzz/shell_parse.c $(FUZZ_MAIN)
tests_fuzz_shell_parse_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_shell_parse_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_shell_parse_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/shell_run
FUZZ_TARGETS += tests/fuzz/shell_run
tests_fuzz_shell_run_SOURCES = tests/fuzz/shell_run.c $(FUZZ_MAIN)
tests_fuzz_shell_run_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_shell_run_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_shell_run_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
