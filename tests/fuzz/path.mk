# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of path: one LLVMFuzzerTestOneInput() per file, corpus in
# tests/fuzz/corpus/<target>/, replayed by make check:
#   check_PROGRAMS += tests/fuzz/path_x
#   FUZZ_TARGETS += tests/fuzz/path_x
#   tests_fuzz_path_x_SOURCES = tests/fuzz/path_x.c $(FUZZ_MAIN)
#   tests_fuzz_path_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_fuzz_path_x_CFLAGS = $(UNIT_CFLAGS)
#   tests_fuzz_path_x_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
check_PROGRAMS += tests/fuzz/path_glob
FUZZ_TARGETS += tests/fuzz/path_glob
tests_fuzz_path_glob_SOURCES = tests/fuzz/path_glob.c $(FUZZ_MAIN)
tests_fuzz_path_glob_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_path_glob_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_path_glob_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
