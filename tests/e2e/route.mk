# SPDX-License-Identifier: LGPL-2.1-or-later
# Routes of the gateway against upstreams that the tests make: route_lib.py is
# what the scripts share, route_gateway the routes without the rest.
if HAVE_OPENSSL
check_PROGRAMS += tests/e2e/route_gateway
tests_e2e_route_gateway_SOURCES = tests/e2e/route_gateway.c \
	$(GATEWAY_ROUTES) $(GATEWAY_MCP)
tests_e2e_route_gateway_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_e2e_route_gateway_CFLAGS = $(UNIT_CFLAGS) $(OPENSSL_CFLAGS)
tests_e2e_route_gateway_LDADD = $(GATEWAY_TEST_LIBS) $(OPENSSL_LIBS)
E2E_TESTS += tests/e2e/route_http.py
E2E_TESTS += tests/e2e/route_tls.py
E2E_TESTS += tests/e2e/route_git.py
E2E_TESTS += tests/e2e/route_mcp.py
endif
