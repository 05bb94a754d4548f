# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of guard; tests/fuzz/path.mk says how to add one.
check_PROGRAMS += tests/fuzz/guard_git
FUZZ_TARGETS += tests/fuzz/guard_git
tests_fuzz_guard_git_SOURCES = tests/fuzz/guard_git.c $(FUZZ_MAIN)
tests_fuzz_guard_git_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_guard_git_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_guard_git_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/guard_path
FUZZ_TARGETS += tests/fuzz/guard_path
tests_fuzz_guard_path_SOURCES = tests/fuzz/guard_path.c $(FUZZ_MAIN)
tests_fuzz_guard_path_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_guard_path_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_guard_path_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/guard_pack
FUZZ_TARGETS += tests/fuzz/guard_pack
tests_fuzz_guard_pack_SOURCES = tests/fuzz/guard_pack.c $(FUZZ_MAIN)
tests_fuzz_guard_pack_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_guard_pack_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_guard_pack_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/guard_shell
FUZZ_TARGETS += tests/fuzz/guard_shell
tests_fuzz_guard_shell_SOURCES = tests/fuzz/guard_shell.c \
	tests/fuzz/guard_text.h $(FUZZ_MAIN)
tests_fuzz_guard_shell_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_guard_shell_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_guard_shell_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/guard_repeat
FUZZ_TARGETS += tests/fuzz/guard_repeat
tests_fuzz_guard_repeat_SOURCES = tests/fuzz/guard_repeat.c \
	tests/fuzz/guard_text.h $(FUZZ_MAIN)
tests_fuzz_guard_repeat_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_guard_repeat_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_guard_repeat_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
