# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of snapshot.
check_PROGRAMS += tests/unit/snapshot_manifest_internal
UNIT_TESTS += tests/unit/snapshot_manifest_internal
tests_unit_snapshot_manifest_internal_SOURCES = tests/unit/snapshot_manifest_internal.c
tests_unit_snapshot_manifest_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_manifest_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/snapshot_filter_internal
UNIT_TESTS += tests/unit/snapshot_filter_internal
tests_unit_snapshot_filter_internal_SOURCES = \
	tests/unit/snapshot_filter_internal.c \
	tests/unit/snapshot_names.c tests/unit/snapshot_names.h
tests_unit_snapshot_filter_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_filter_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/snapshot_content_internal
UNIT_TESTS += tests/unit/snapshot_content_internal
tests_unit_snapshot_content_internal_SOURCES = \
	tests/unit/content_rows.c tests/unit/content_rows.h \
	tests/unit/content_text.c tests/unit/content_text.h \
	tests/unit/snapshot_content_internal.c
tests_unit_snapshot_content_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_content_internal_CFLAGS = $(UNIT_CFLAGS)
EXTRA_DIST += tests/data/snapshot-content.jsonl

check_PROGRAMS += tests/unit/snapshot_table_internal
UNIT_TESTS += tests/unit/snapshot_table_internal
tests_unit_snapshot_table_internal_SOURCES = \
	tests/unit/content_text.c tests/unit/content_text.h \
	tests/unit/snapshot_table_internal.c
tests_unit_snapshot_table_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_table_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/snapshot_escape_internal
UNIT_TESTS += tests/unit/snapshot_escape_internal
tests_unit_snapshot_escape_internal_SOURCES = \
	tests/unit/content_rows.c tests/unit/content_rows.h \
	tests/unit/content_text.c tests/unit/content_text.h \
	tests/unit/snapshot_escape_internal.c
tests_unit_snapshot_escape_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_escape_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/snapshot_options_internal
UNIT_TESTS += tests/unit/snapshot_options_internal
tests_unit_snapshot_options_internal_SOURCES = \
	tests/unit/snapshot_options_internal.c
tests_unit_snapshot_options_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_snapshot_options_internal_CFLAGS = $(UNIT_CFLAGS)
