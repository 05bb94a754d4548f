# SPDX-License-Identifier: LGPL-2.1-or-later
check_LIBRARIES += tests/lib/libabtest.a
tests_lib_libabtest_a_SOURCES = \
	tests/lib/abtest.h \
	tests/lib/env.c \
	tests/lib/leak.c \
	tests/lib/torture.c
tests_lib_libabtest_a_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_lib_libabtest_a_CFLAGS = $(UNIT_CFLAGS)
