# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of sandbox: one LLVMFuzzerTestOneInput() per file, corpus in
# tests/fuzz/corpus/<target>/, replayed by make check:
#   check_PROGRAMS += tests/fuzz/sandbox_x
#   FUZZ_TARGETS += tests/fuzz/sandbox_x
#   tests_fuzz_sandbox_x_SOURCES = tests/fuzz/sandbox_x.c $(FUZZ_MAIN)
#   tests_fuzz_sandbox_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_fuzz_sandbox_x_CFLAGS = $(UNIT_CFLAGS)
#   tests_fuzz_sandbox_x_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
