# SPDX-License-Identifier: LGPL-2.1-or-later
check_LIBRARIES += tests/lib/libabtest.a
tests_lib_libabtest_a_SOURCES = \
	tests/lib/abtest.h \
	tests/lib/cover_proc.h \
	tests/lib/env.c \
	tests/lib/leak.c \
	tests/lib/torture.c
if HAVE_CHECK
tests_lib_libabtest_a_SOURCES += tests/lib/leak_check.c
endif
tests_lib_libabtest_a_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_lib_libabtest_a_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/lib/leaky tests/lib/torture_test
UNIT_TESTS += tests/lib/torture_test
tests_lib_leaky_SOURCES = tests/lib/leaky.c
tests_lib_leaky_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_lib_leaky_CFLAGS = $(UNIT_CFLAGS)
tests_lib_torture_test_SOURCES = tests/lib/torture_test.c
tests_lib_torture_test_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_lib_torture_test_CFLAGS = $(UNIT_CFLAGS)
