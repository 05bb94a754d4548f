# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of guard; tests/unit/path.mk says how to add one.
check_PROGRAMS += tests/unit/guard_decision_internal
UNIT_TESTS += tests/unit/guard_decision_internal
tests_unit_guard_decision_internal_SOURCES = \
	tests/unit/guard_decision_internal.c
tests_unit_guard_decision_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_decision_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_near_internal
UNIT_TESTS += tests/unit/guard_near_internal
tests_unit_guard_near_internal_SOURCES = tests/unit/guard_near_internal.c
tests_unit_guard_near_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_near_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_code_internal
UNIT_TESTS += tests/unit/guard_code_internal
tests_unit_guard_code_internal_SOURCES = tests/unit/guard_code_internal.c
tests_unit_guard_code_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_code_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_exec_internal
UNIT_TESTS += tests/unit/guard_exec_internal
tests_unit_guard_exec_internal_SOURCES = tests/unit/guard_exec_internal.c
tests_unit_guard_exec_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_exec_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_git_internal
UNIT_TESTS += tests/unit/guard_git_internal
tests_unit_guard_git_internal_SOURCES = tests/unit/guard_git_internal.c \
	tests/unit/guard_git_rows.c tests/unit/guard_git_rows.h
tests_unit_guard_git_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_git_internal_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/guard_write
UNIT_TESTS += tests/unit/guard_write
tests_unit_guard_write_SOURCES = tests/unit/guard_write.c \
	tests/unit/guard_tree.c tests/unit/guard_tree.h
tests_unit_guard_write_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_write_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_protect_internal
UNIT_TESTS += tests/unit/guard_protect_internal
tests_unit_guard_protect_internal_SOURCES = tests/unit/guard_protect_internal.c
tests_unit_guard_protect_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_protect_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_act
UNIT_TESTS += tests/unit/guard_act
tests_unit_guard_act_SOURCES = tests/unit/guard_act.c \
	tests/unit/guard_tree.c tests/unit/guard_tree.h
tests_unit_guard_act_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_act_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_odd
UNIT_TESTS += tests/unit/guard_odd
tests_unit_guard_odd_SOURCES = tests/unit/guard_odd.c \
	tests/unit/guard_tree.c tests/unit/guard_tree.h
tests_unit_guard_odd_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_odd_CFLAGS = $(UNIT_CFLAGS)

# The same for two seconds in make check and for a minute in make check-long.
check_PROGRAMS += tests/unit/guard_race tests/unit/guard_race_long
UNIT_TESTS += tests/unit/guard_race
CHECK_LONG_TESTS += tests/unit/guard_race_long
tests_unit_guard_race_SOURCES = tests/unit/guard_race.c \
	tests/unit/guard_tree.c tests/unit/guard_tree.h
tests_unit_guard_race_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_race_CFLAGS = $(UNIT_CFLAGS)
tests_unit_guard_race_long_SOURCES = $(tests_unit_guard_race_SOURCES)
tests_unit_guard_race_long_CPPFLAGS = $(UNIT_CPPFLAGS) -DRACE_SECONDS=60
tests_unit_guard_race_long_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_git_table_internal
UNIT_TESTS += tests/unit/guard_git_table_internal
tests_unit_guard_git_table_internal_SOURCES = \
	tests/unit/guard_git_table_internal.c \
	tests/unit/guard_git_rows.c tests/unit/guard_git_rows.h
tests_unit_guard_git_table_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_git_table_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_git_hostile_internal
UNIT_TESTS += tests/unit/guard_git_hostile_internal
tests_unit_guard_git_hostile_internal_SOURCES = \
	tests/unit/guard_git_hostile_internal.c
tests_unit_guard_git_hostile_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_git_hostile_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_git_real_internal
UNIT_TESTS += tests/unit/guard_git_real_internal
tests_unit_guard_git_real_internal_SOURCES = \
	tests/unit/guard_git_real_internal.c
tests_unit_guard_git_real_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_git_real_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_git
UNIT_TESTS += tests/unit/guard_git
tests_unit_guard_git_SOURCES = tests/unit/guard_git.c
tests_unit_guard_git_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_git_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_pack_internal
UNIT_TESTS += tests/unit/guard_pack_internal
tests_unit_guard_pack_internal_SOURCES = tests/unit/guard_pack_internal.c
tests_unit_guard_pack_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_pack_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_shell_corpus
UNIT_TESTS += tests/unit/guard_shell_corpus
tests_unit_guard_shell_corpus_SOURCES = tests/unit/guard_shell_corpus.c
tests_unit_guard_shell_corpus_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_shell_corpus_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_shell
UNIT_TESTS += tests/unit/guard_shell
tests_unit_guard_shell_SOURCES = tests/unit/guard_shell.c
tests_unit_guard_shell_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_shell_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/guard_shell_real
UNIT_TESTS += tests/unit/guard_shell_real
tests_unit_guard_shell_real_SOURCES = tests/unit/guard_shell_real.c
tests_unit_guard_shell_real_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_guard_shell_real_CFLAGS = $(UNIT_CFLAGS)
