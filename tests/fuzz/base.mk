# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of base: one LLVMFuzzerTestOneInput() per file, corpus in
# tests/fuzz/corpus/<target>/, replayed by make check:
#   check_PROGRAMS += tests/fuzz/base_x
#   FUZZ_TARGETS += tests/fuzz/base_x
#   tests_fuzz_base_x_SOURCES = tests/fuzz/base_x.c $(FUZZ_MAIN)
#   tests_fuzz_base_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_fuzz_base_x_CFLAGS = $(UNIT_CFLAGS)
#   tests_fuzz_base_x_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
