# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of the self-test. See tests/unit/path.mk.
check_PROGRAMS += tests/unit/verify_internal
UNIT_TESTS += tests/unit/verify_internal
tests_unit_verify_internal_SOURCES = tests/unit/verify_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_verify_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/tests/unit
tests_unit_verify_internal_CFLAGS = $(UNIT_CFLAGS)
