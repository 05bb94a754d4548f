# SPDX-License-Identifier: LGPL-2.1-or-later
# Snapshots by agentbox-copy, driven without the public interface (copy.h);
# which case is where: SNAPSHOT-CASES.md.
E2E_COPY_LIBS = $(LEAK_LDFLAGS) tests/e2e/libcopy.a tests/e2e/libbox.a \
	tests/lib/libabtest.a libagentbox-internal.la $(CHECK_LIBS) $(DEP_LIBS)

check_LIBRARIES += tests/e2e/libcopy.a
tests_e2e_libcopy_a_SOURCES = tests/e2e/copy.c tests/e2e/copy.h
nodist_tests_e2e_libcopy_a_SOURCES = build-id.h
tests_e2e_libcopy_a_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_libcopy_a_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/e2e/snapshot_make
E2E_TESTS += tests/e2e/snapshot_make
tests_e2e_snapshot_make_SOURCES = tests/e2e/snapshot_make.c
tests_e2e_snapshot_make_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_make_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_make_LDADD = $(E2E_COPY_LIBS)
check_PROGRAMS += tests/e2e/snapshot_rows
E2E_TESTS += tests/e2e/snapshot_rows
tests_e2e_snapshot_rows_SOURCES = tests/e2e/snapshot_rows.c
tests_e2e_snapshot_rows_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_rows_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_rows_LDADD = $(E2E_COPY_LIBS)
check_PROGRAMS += tests/e2e/snapshot_ends
E2E_TESTS += tests/e2e/snapshot_ends
tests_e2e_snapshot_ends_SOURCES = tests/e2e/snapshot_ends.c
tests_e2e_snapshot_ends_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_ends_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_ends_LDADD = $(E2E_COPY_LIBS)
check_PROGRAMS += tests/e2e/snapshot_record
E2E_TESTS += tests/e2e/snapshot_record
tests_e2e_snapshot_record_SOURCES = tests/e2e/snapshot_record.c
tests_e2e_snapshot_record_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_record_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_record_LDADD = $(E2E_COPY_LIBS)

check_PROGRAMS += tests/e2e/snapshot_planted
E2E_TESTS += tests/e2e/snapshot_planted
tests_e2e_snapshot_planted_SOURCES = tests/e2e/snapshot_planted.c \
	tests/unit/content_text.c tests/unit/content_text.h
tests_e2e_snapshot_planted_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_planted_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_planted_LDADD = $(E2E_COPY_LIBS)

# agentbox-copy, with another reader.
check_PROGRAMS += tests/e2e/hostile_copy
tests_e2e_hostile_copy_SOURCES = tests/e2e/snapshot_hostile_reader.c \
	$(COPY_FILES_BUT_READER) libexec/copy/no_archive.c
nodist_tests_e2e_hostile_copy_SOURCES = build-id.h
tests_e2e_hostile_copy_CPPFLAGS = $(libexec_agentbox_copy_CPPFLAGS)
tests_e2e_hostile_copy_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS)
tests_e2e_hostile_copy_LDADD = $(libexec_agentbox_copy_LDADD)
tests_e2e_hostile_copy_LDFLAGS = $(libexec_agentbox_copy_LDFLAGS)
check_PROGRAMS += tests/e2e/snapshot_hostile
E2E_TESTS += tests/e2e/snapshot_hostile
tests_e2e_snapshot_hostile_SOURCES = tests/e2e/snapshot_hostile.c
tests_e2e_snapshot_hostile_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_hostile_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_hostile_LDADD = $(E2E_COPY_LIBS)

# A short form, and minutes of it.
check_PROGRAMS += tests/e2e/snapshot_race tests/e2e/snapshot_race_long
E2E_TESTS += tests/e2e/snapshot_race
CHECK_LONG_TESTS += tests/e2e/snapshot_race_long
tests_e2e_snapshot_race_SOURCES = tests/e2e/snapshot_race.c
tests_e2e_snapshot_race_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_race_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_race_LDADD = $(E2E_COPY_LIBS)
tests_e2e_snapshot_race_long_SOURCES = tests/e2e/snapshot_race.c
tests_e2e_snapshot_race_long_CPPFLAGS = $(E2E_BOX_CPPFLAGS) \
	-DRACE_SECONDS=180 -DKILLS=1000 -DENDS=1000u
tests_e2e_snapshot_race_long_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_race_long_LDADD = $(E2E_COPY_LIBS)

# Two helpers, switched at each system call of both.
check_PROGRAMS += tests/e2e/snapshot_steps tests/e2e/snapshot_steps_long
E2E_TESTS += tests/e2e/snapshot_steps
CHECK_LONG_TESTS += tests/e2e/snapshot_steps_long
tests_e2e_snapshot_steps_SOURCES = tests/e2e/snapshot_steps.c
tests_e2e_snapshot_steps_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_snapshot_steps_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_steps_LDADD = $(E2E_COPY_LIBS)
tests_e2e_snapshot_steps_long_SOURCES = tests/e2e/snapshot_steps.c
tests_e2e_snapshot_steps_long_CPPFLAGS = $(E2E_BOX_CPPFLAGS) \
	-D'STRIDES={1,1}' -DMOST_SECONDS=3600
tests_e2e_snapshot_steps_long_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_snapshot_steps_long_LDADD = $(E2E_COPY_LIBS)
