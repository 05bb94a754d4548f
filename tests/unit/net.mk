# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of net and of the gateway's readers. See tests/unit/path.mk.
check_PROGRAMS += tests/unit/net_target_internal
UNIT_TESTS += tests/unit/net_target_internal
tests_unit_net_target_internal_SOURCES = tests/unit/net_target_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_net_target_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_net_target_internal_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/net_allow_internal
UNIT_TESTS += tests/unit/net_allow_internal
tests_unit_net_allow_internal_SOURCES = tests/unit/net_allow_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_net_allow_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_net_allow_internal_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/gateway_http_internal
UNIT_TESTS += tests/unit/gateway_http_internal
tests_unit_gateway_http_internal_SOURCES = tests/unit/gateway_http_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_gateway_http_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_http_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_http_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_readers_internal
UNIT_TESTS += tests/unit/gateway_readers_internal
tests_unit_gateway_readers_internal_SOURCES = \
	tests/unit/gateway_readers_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_gateway_readers_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_readers_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_readers_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_aws_internal
UNIT_TESTS += tests/unit/gateway_aws_internal
tests_unit_gateway_aws_internal_SOURCES = tests/unit/gateway_aws_internal.c
tests_unit_gateway_aws_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_aws_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_aws_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_peer_internal
UNIT_TESTS += tests/unit/gateway_peer_internal
tests_unit_gateway_peer_internal_SOURCES = tests/unit/gateway_peer_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_gateway_peer_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_peer_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_peer_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_loop_internal
UNIT_TESTS += tests/unit/gateway_loop_internal
tests_unit_gateway_loop_internal_SOURCES = tests/unit/gateway_loop_internal.c
tests_unit_gateway_loop_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_loop_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_loop_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_kept_internal
UNIT_TESTS += tests/unit/gateway_kept_internal
tests_unit_gateway_kept_internal_SOURCES = \
	tests/unit/gateway_kept_internal.c libexec/gateway/kept.c
tests_unit_gateway_kept_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_kept_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_kept_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_lease_internal
UNIT_TESTS += tests/unit/gateway_lease_internal
tests_unit_gateway_lease_internal_SOURCES = \
	tests/unit/gateway_lease_internal.c libexec/gateway/lease.c
tests_unit_gateway_lease_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_lease_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_lease_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_usage_internal
UNIT_TESTS += tests/unit/gateway_usage_internal
tests_unit_gateway_usage_internal_SOURCES = \
	tests/unit/gateway_usage_internal.c
tests_unit_gateway_usage_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_usage_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_usage_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_route_internal
UNIT_TESTS += tests/unit/gateway_route_internal
tests_unit_gateway_route_internal_SOURCES = \
	tests/unit/gateway_route_internal.c \
	tests/unit/net_rows.c tests/unit/net_rows.h
tests_unit_gateway_route_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_route_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_route_internal_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/unit/gateway_confine_internal
UNIT_TESTS += tests/unit/gateway_confine_internal
tests_unit_gateway_confine_internal_SOURCES = \
	tests/unit/gateway_confine_internal.c libexec/gateway/confine.c \
	$(CONFINE_FILES)
tests_unit_gateway_confine_internal_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_unit_gateway_confine_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gateway_confine_internal_LDADD = $(GATEWAY_TEST_LIBS)
