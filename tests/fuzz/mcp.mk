# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz target of mcp; corpus in tests/fuzz/corpus/mcp_frames/.
check_PROGRAMS += tests/fuzz/mcp_frames
FUZZ_TARGETS += tests/fuzz/mcp_frames
tests_fuzz_mcp_frames_SOURCES = tests/fuzz/mcp_frames.c $(FUZZ_MAIN)
tests_fuzz_mcp_frames_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_fuzz_mcp_frames_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_mcp_frames_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_mcp_frames_LDADD = $(GATEWAY_TEST_LIBS)
