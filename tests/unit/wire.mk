# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of wire.
check_PROGRAMS += tests/unit/wire_internal
UNIT_TESTS += tests/unit/wire_internal
tests_unit_wire_internal_SOURCES = tests/unit/wire_internal.c
tests_unit_wire_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_wire_internal_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/broker_internal
UNIT_TESTS += tests/unit/broker_internal
tests_unit_broker_internal_SOURCES = tests/unit/broker_internal.c
tests_unit_broker_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_broker_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/provider_internal
UNIT_TESTS += tests/unit/provider_internal
tests_unit_provider_internal_SOURCES = tests/unit/provider_internal.c
tests_unit_provider_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/provider
tests_unit_provider_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_provider_internal_LDADD = tests/lib/libprovider.a $(UNIT_LIBS)

# schedule.c with a kernel of the test's own
check_PROGRAMS += tests/unit/schedule_internal
UNIT_TESTS += tests/unit/schedule_internal
tests_unit_schedule_internal_SOURCES = tests/unit/schedule_internal.c \
	lib/wire/schedule.c lib/wire/schedule.h
tests_unit_schedule_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-Dsyscall=faked_syscall
tests_unit_schedule_internal_CFLAGS = $(UNIT_CFLAGS)
