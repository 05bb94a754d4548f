# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of snapshot; corpora in tests/fuzz/corpus/<target>/.
check_PROGRAMS += tests/fuzz/snapshot_manifest
FUZZ_TARGETS += tests/fuzz/snapshot_manifest
tests_fuzz_snapshot_manifest_SOURCES = tests/fuzz/snapshot_manifest.c $(FUZZ_MAIN)
tests_fuzz_snapshot_manifest_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_snapshot_manifest_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_snapshot_manifest_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/snapshot_content
FUZZ_TARGETS += tests/fuzz/snapshot_content
tests_fuzz_snapshot_content_SOURCES = tests/fuzz/snapshot_content.c \
	tests/unit/content_text.c tests/unit/content_text.h $(FUZZ_MAIN)
tests_fuzz_snapshot_content_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/tests/unit
tests_fuzz_snapshot_content_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_snapshot_content_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/snapshot_filter
FUZZ_TARGETS += tests/fuzz/snapshot_filter
tests_fuzz_snapshot_filter_SOURCES = tests/fuzz/snapshot_filter.c $(FUZZ_MAIN)
tests_fuzz_snapshot_filter_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_snapshot_filter_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_snapshot_filter_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

if HAVE_ARCHIVES
check_PROGRAMS += tests/fuzz/snapshot_archive
FUZZ_TARGETS += tests/fuzz/snapshot_archive
tests_fuzz_snapshot_archive_SOURCES = tests/fuzz/snapshot_archive.c \
	libexec/copy/archive_in.c libexec/copy/words.c $(FUZZ_MAIN)
tests_fuzz_snapshot_archive_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/copy
tests_fuzz_snapshot_archive_CFLAGS = $(UNIT_CFLAGS) $(LIBARCHIVE_CFLAGS)
tests_fuzz_snapshot_archive_LDADD = $(UNIT_LIBS) $(LIBARCHIVE_LIBS)
tests_fuzz_snapshot_archive_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
endif

check_PROGRAMS += tests/fuzz/snapshot_git
FUZZ_TARGETS += tests/fuzz/snapshot_git
tests_fuzz_snapshot_git_SOURCES = tests/fuzz/snapshot_git.c \
	libexec/git/delta.c libexec/git/pack.c libexec/copy/walk.c \
	libexec/copy/words.c $(FUZZ_MAIN)
tests_fuzz_snapshot_git_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/copy -I$(top_srcdir)/libexec/git
tests_fuzz_snapshot_git_CFLAGS = $(UNIT_CFLAGS) $(ZLIB_CFLAGS)
tests_fuzz_snapshot_git_LDADD = $(LDADD) $(ZLIB_LIBS)
tests_fuzz_snapshot_git_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
