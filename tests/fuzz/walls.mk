# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of walls: one LLVMFuzzerTestOneInput() per file, corpus in
# tests/fuzz/corpus/<target>/, replayed by make check:
#   check_PROGRAMS += tests/fuzz/walls_x
#   FUZZ_TARGETS += tests/fuzz/walls_x
#   tests_fuzz_walls_x_SOURCES = tests/fuzz/walls_x.c $(FUZZ_MAIN)
#   tests_fuzz_walls_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_fuzz_walls_x_CFLAGS = $(UNIT_CFLAGS)
#   tests_fuzz_walls_x_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
