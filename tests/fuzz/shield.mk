# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of shield, both directions; corpora in tests/fuzz/corpus/.
check_PROGRAMS += tests/fuzz/shield_host
FUZZ_TARGETS += tests/fuzz/shield_host
tests_fuzz_shield_host_SOURCES = tests/fuzz/shield_host.c $(FUZZ_MAIN)
tests_fuzz_shield_host_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_shield_host_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_shield_host_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
# The helper's own files, which end it with a jump.
check_PROGRAMS += tests/fuzz/shield_control
FUZZ_TARGETS += tests/fuzz/shield_control
tests_fuzz_shield_control_SOURCES = tests/fuzz/shield_control.c \
	$(SHIELD_PARTS) $(SHIELD_LOOP) $(FUZZ_MAIN)
tests_fuzz_shield_control_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/shield -D_exit=shield_exit
tests_fuzz_shield_control_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_shield_control_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
