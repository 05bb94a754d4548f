# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of policy: one LLVMFuzzerTestOneInput() per file, corpus in
# tests/fuzz/corpus/<target>/, replayed by make check:
#   check_PROGRAMS += tests/fuzz/policy_x
#   FUZZ_TARGETS += tests/fuzz/policy_x
#   tests_fuzz_policy_x_SOURCES = tests/fuzz/policy_x.c $(FUZZ_MAIN)
#   tests_fuzz_policy_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_fuzz_policy_x_CFLAGS = $(UNIT_CFLAGS)
#   tests_fuzz_policy_x_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
check_PROGRAMS += tests/fuzz/policy_document
FUZZ_TARGETS += tests/fuzz/policy_document
tests_fuzz_policy_document_SOURCES = tests/fuzz/policy_document.c $(FUZZ_MAIN)
tests_fuzz_policy_document_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_policy_document_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_policy_document_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
check_PROGRAMS += tests/fuzz/policy_host
FUZZ_TARGETS += tests/fuzz/policy_host
tests_fuzz_policy_host_SOURCES = tests/fuzz/policy_host.c $(FUZZ_MAIN)
tests_fuzz_policy_host_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_policy_host_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_policy_host_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
