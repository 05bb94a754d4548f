# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of base; base_helper is the helper program base_spawn starts.
check_PROGRAMS += tests/unit/base_helper
tests_unit_base_helper_SOURCES = tests/unit/base_helper.c
tests_unit_base_helper_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_helper_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_helper_LDADD = libagentbox-internal.la $(DEP_LIBS)

check_PROGRAMS += tests/unit/base_public
UNIT_TESTS += tests/unit/base_public
tests_unit_base_public_SOURCES = tests/unit/base_public.c
tests_unit_base_public_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_public_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/base_text_internal
UNIT_TESTS += tests/unit/base_text_internal
tests_unit_base_text_internal_SOURCES = tests/unit/base_text_internal.c
tests_unit_base_text_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_text_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/base_fd_internal
UNIT_TESTS += tests/unit/base_fd_internal
tests_unit_base_fd_internal_SOURCES = tests/unit/base_fd_internal.c
tests_unit_base_fd_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_fd_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/base_json_internal
UNIT_TESTS += tests/unit/base_json_internal
tests_unit_base_json_internal_SOURCES = tests/unit/base_json_internal.c
tests_unit_base_json_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_json_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/base_spawn_internal
UNIT_TESTS += tests/unit/base_spawn_internal
tests_unit_base_spawn_internal_SOURCES = tests/unit/base_spawn_internal.c
tests_unit_base_spawn_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_base_spawn_internal_CFLAGS = $(UNIT_CFLAGS)

# processor.c with a scheduler of the test's own
check_PROGRAMS += tests/unit/base_processor_internal
UNIT_TESTS += tests/unit/base_processor_internal
tests_unit_base_processor_internal_SOURCES = \
	tests/unit/base_processor_internal.c \
	lib/base/processor.c lib/base/processor.h
tests_unit_base_processor_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-Dsched_getcpu=faked_getcpu -Dsched_getaffinity=faked_getaffinity \
	-Dsched_setaffinity=faked_setaffinity
tests_unit_base_processor_internal_CFLAGS = $(UNIT_CFLAGS)
