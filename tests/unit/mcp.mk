# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of mcp. See tests/unit/path.mk.
check_PROGRAMS += tests/unit/mcp_internal
UNIT_TESTS += tests/unit/mcp_internal
tests_unit_mcp_internal_SOURCES = tests/unit/mcp_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_mcp_internal_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/tests/unit
tests_unit_mcp_internal_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/gateway_mcp_internal
UNIT_TESTS += tests/unit/gateway_mcp_internal
tests_unit_gateway_mcp_internal_SOURCES = tests/unit/gateway_mcp_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_gateway_mcp_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_mcp_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_mcp_internal_LDADD = $(GATEWAY_TEST_LIBS)
