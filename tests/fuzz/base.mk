# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of base; corpora in tests/fuzz/corpus/<target>/.
check_PROGRAMS += tests/fuzz/base_json
FUZZ_TARGETS += tests/fuzz/base_json
tests_fuzz_base_json_SOURCES = tests/fuzz/base_json.c $(FUZZ_MAIN)
tests_fuzz_base_json_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_base_json_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_base_json_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
