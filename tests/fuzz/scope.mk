# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of scope; tests/fuzz/path.mk says how to add one.
check_PROGRAMS += tests/fuzz/scope_check
FUZZ_TARGETS += tests/fuzz/scope_check
tests_fuzz_scope_check_SOURCES = tests/fuzz/scope_check.c $(FUZZ_MAIN)
tests_fuzz_scope_check_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_scope_check_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_scope_check_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
