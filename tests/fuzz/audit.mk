# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of audit: one LLVMFuzzerTestOneInput() per file, corpus in
# tests/fuzz/corpus/<target>/, replayed by make check:
#   check_PROGRAMS += tests/fuzz/audit_x
#   FUZZ_TARGETS += tests/fuzz/audit_x
#   tests_fuzz_audit_x_SOURCES = tests/fuzz/audit_x.c $(FUZZ_MAIN)
#   tests_fuzz_audit_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_fuzz_audit_x_CFLAGS = $(UNIT_CFLAGS)
#   tests_fuzz_audit_x_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
check_PROGRAMS += tests/fuzz/audit_verify
FUZZ_TARGETS += tests/fuzz/audit_verify
tests_fuzz_audit_verify_SOURCES = tests/fuzz/audit_verify.c $(FUZZ_MAIN)
tests_fuzz_audit_verify_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_audit_verify_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_audit_verify_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
