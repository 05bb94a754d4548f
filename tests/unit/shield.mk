# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of shield.
check_PROGRAMS += tests/unit/shield_internal
UNIT_TESTS += tests/unit/shield_internal
tests_unit_shield_internal_SOURCES = tests/unit/shield_internal.c
tests_unit_shield_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/shield
tests_unit_shield_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_shield_internal_LDADD = tests/lib/libshield.a $(UNIT_LIBS)
