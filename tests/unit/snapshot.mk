# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of snapshot.
check_PROGRAMS += tests/unit/snapshot_manifest_internal
UNIT_TESTS += tests/unit/snapshot_manifest_internal
tests_unit_snapshot_manifest_internal_SOURCES = tests/unit/snapshot_manifest_internal.c
tests_unit_snapshot_manifest_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_manifest_internal_CFLAGS = $(UNIT_CFLAGS)
