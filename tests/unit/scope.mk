# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of scope. See tests/unit/path.mk.
check_PROGRAMS += tests/unit/scope_internal
UNIT_TESTS += tests/unit/scope_internal
tests_unit_scope_internal_SOURCES = tests/unit/scope_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_scope_internal_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/tests/unit
tests_unit_scope_internal_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/scope_calls
UNIT_TESTS += tests/unit/scope_calls
tests_unit_scope_calls_SOURCES = tests/unit/scope_calls.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_scope_calls_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/tests/unit \
	-I$(top_srcdir)/libexec/shield
tests_unit_scope_calls_CFLAGS = $(UNIT_CFLAGS)
tests_unit_scope_calls_LDADD = tests/lib/libshield.a $(UNIT_LIBS)
check_PROGRAMS += tests/unit/scope_narrow
UNIT_TESTS += tests/unit/scope_narrow
tests_unit_scope_narrow_SOURCES = tests/unit/scope_narrow.c
tests_unit_scope_narrow_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_scope_narrow_CFLAGS = $(UNIT_CFLAGS)
