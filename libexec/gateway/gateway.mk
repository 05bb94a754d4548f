# SPDX-License-Identifier: LGPL-2.1-or-later
# What agentbox-gateway reads from the wire: pure readers and writers, no heap,
# no kernel, so that tests and fuzz targets compile them alone.
GATEWAY_READERS = \
	libexec/gateway/aws_value.c libexec/gateway/aws_value.h \
	libexec/gateway/dns.c libexec/gateway/dns.h \
	libexec/gateway/git_http.c libexec/gateway/git_http.h \
	libexec/gateway/http_chunk.c libexec/gateway/http_chunk.h \
	libexec/gateway/http_head.c libexec/gateway/http.h \
	libexec/gateway/http_internal.h \
	libexec/gateway/http_meaning.c \
	libexec/gateway/http_path.c libexec/gateway/http_path.h \
	libexec/gateway/http_target.c \
	libexec/gateway/http_write.c libexec/gateway/http_write.h \
	libexec/gateway/inject.c libexec/gateway/inject.h \
	libexec/gateway/key.c libexec/gateway/key.h \
	libexec/gateway/live.c \
	libexec/gateway/loop.c libexec/gateway/loop.h \
	libexec/gateway/mcp_http.c libexec/gateway/mcp_http.h \
	libexec/gateway/pace.c libexec/gateway/pace.h \
	libexec/gateway/route_table.c libexec/gateway/route_table.h \
	libexec/gateway/socks.c libexec/gateway/socks.h \
	libexec/gateway/sse.c libexec/gateway/sse.h \
	libexec/gateway/tls_hello.c libexec/gateway/tls_hello.h \
	libexec/gateway/tls_retry.c libexec/gateway/tls_retry.h \
	libexec/gateway/usage.c libexec/gateway/usage.h
# What needs OpenSSL: the upstreams' side of routes.
GATEWAY_ROUTES = \
	libexec/gateway/route.h libexec/gateway/route_internal.h \
	libexec/gateway/route_flow.c libexec/gateway/route_open.c \
	libexec/gateway/route_serve.c \
	libexec/gateway/routes.c \
	libexec/gateway/tls_client.c libexec/gateway/tls_client.h \
	libexec/gateway/value.c libexec/gateway/value.h
# Servers of tools, which are reached as routes are.
GATEWAY_MCP = \
	libexec/gateway/mcp.h libexec/gateway/mcp_internal.h \
	libexec/gateway/mcp_answer.c \
	libexec/gateway/mcp_head.c libexec/gateway/mcp_head.h \
	libexec/gateway/mcp_leg.c libexec/gateway/mcp_post.c \
	libexec/gateway/mcp_serve.c libexec/gateway/mcp_session.c
check_LIBRARIES += tests/lib/libgateway.a
tests_lib_libgateway_a_SOURCES = $(GATEWAY_READERS)
tests_lib_libgateway_a_CPPFLAGS = $(AM_CPPFLAGS) $(FAULT_CPPFLAGS)
tests_lib_libgateway_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
GATEWAY_TEST_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/libexec/gateway \
	-I$(top_srcdir)/tests/unit
GATEWAY_TEST_LIBS = tests/lib/libgateway.a $(UNIT_LIBS)

# The helper itself: linked with the static libagentbox, of which it takes what
# it uses. The only one with c-ares; without it there is no agentbox-gateway,
# and boxes with network mode gateway are refused by name.
if HAVE_GATEWAY
pkglibexec_PROGRAMS += libexec/agentbox-gateway
libexec_agentbox_gateway_SOURCES = $(GATEWAY_READERS) $(GATEWAY_ROUTES) \
	$(GATEWAY_MCP) \
	libexec/gateway/ask.c libexec/gateway/ask.h \
	libexec/gateway/aws.c libexec/gateway/aws.h \
	libexec/gateway/broker.c libexec/gateway/broker.h \
	libexec/gateway/bucket.c \
	libexec/gateway/confine.c \
	libexec/gateway/conn.c \
	libexec/gateway/control.c \
	libexec/gateway/dial.c \
	libexec/gateway/grant.c libexec/gateway/grant.h \
	libexec/gateway/exchange.c libexec/gateway/exchange.h \
	libexec/gateway/exchange_answer.c \
	libexec/gateway/flow.c libexec/gateway/flow.h \
	libexec/gateway/gw.h \
	libexec/gateway/kept.c libexec/gateway/kept.h \
	libexec/gateway/listen.c \
	libexec/gateway/lease.c libexec/gateway/lease.h \
	libexec/gateway/lists.c libexec/gateway/lists.h \
	libexec/gateway/main.c \
	libexec/gateway/preview.c \
	libexec/gateway/quota.c \
	libexec/gateway/relay.c \
	libexec/gateway/resolve.c \
	libexec/gateway/state.h \
	libexec/gateway/stub.c \
	libexec/gateway/tunnel.c \
	$(HELPER_FILES) $(CONFINE_FILES)
nodist_libexec_agentbox_gateway_SOURCES = build-id.h
libexec_agentbox_gateway_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/libexec/gateway
libexec_agentbox_gateway_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS) $(CARES_CFLAGS) \
	$(OPENSSL_CFLAGS)
libexec_agentbox_gateway_LDADD = $(PUBLIC_LIBS) $(LIBSODIUM_LIBS) \
	$(CARES_LIBS) $(OPENSSL_LIBS)
libexec_agentbox_gateway_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--as-needed
endif
