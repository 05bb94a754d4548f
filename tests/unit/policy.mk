# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of policy. Each program is five lines (see tests/lib/abtest.h):
#   check_PROGRAMS += tests/unit/policy_x
#   UNIT_TESTS += tests/unit/policy_x
#   tests_unit_policy_x_SOURCES = tests/unit/policy_x.c
#   tests_unit_policy_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_unit_policy_x_CFLAGS = $(UNIT_CFLAGS)
# It links libagentbox-internal.la, the leak checker and Check by default.
check_PROGRAMS += tests/unit/policy_data
UNIT_TESTS += tests/unit/policy_data
tests_unit_policy_data_SOURCES = tests/unit/policy_data.c
tests_unit_policy_data_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_data_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/policy_property
UNIT_TESTS += tests/unit/policy_property
tests_unit_policy_property_SOURCES = tests/unit/policy_property.c \
	tests/unit/policy_random.c tests/unit/policy_random.h
tests_unit_policy_property_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_property_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/policy_internal
UNIT_TESTS += tests/unit/policy_internal
tests_unit_policy_internal_SOURCES = tests/unit/policy_internal.c \
	tests/unit/policy_random.c tests/unit/policy_random.h
tests_unit_policy_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/policy_routes_internal
UNIT_TESTS += tests/unit/policy_routes_internal
tests_unit_policy_routes_internal_SOURCES = tests/unit/policy_routes_internal.c
tests_unit_policy_routes_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_policy_routes_internal_CFLAGS = $(UNIT_CFLAGS)
