# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of snapshot; corpora in tests/fuzz/corpus/<target>/.
check_PROGRAMS += tests/fuzz/snapshot_manifest
FUZZ_TARGETS += tests/fuzz/snapshot_manifest
tests_fuzz_snapshot_manifest_SOURCES = tests/fuzz/snapshot_manifest.c $(FUZZ_MAIN)
tests_fuzz_snapshot_manifest_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_snapshot_manifest_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_snapshot_manifest_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
