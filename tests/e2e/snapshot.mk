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
