# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of net and of the gateway's readers; corpora in
# tests/fuzz/corpus/<target>/.
check_PROGRAMS += tests/fuzz/net_target
FUZZ_TARGETS += tests/fuzz/net_target
tests_fuzz_net_target_SOURCES = tests/fuzz/net_target.c $(FUZZ_MAIN)
tests_fuzz_net_target_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_net_target_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_net_target_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
check_PROGRAMS += tests/fuzz/gateway_http
FUZZ_TARGETS += tests/fuzz/gateway_http
tests_fuzz_gateway_http_SOURCES = tests/fuzz/gateway_http.c $(FUZZ_MAIN)
tests_fuzz_gateway_http_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_fuzz_gateway_http_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_gateway_http_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_gateway_http_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/fuzz/gateway_aws
FUZZ_TARGETS += tests/fuzz/gateway_aws
tests_fuzz_gateway_aws_SOURCES = tests/fuzz/gateway_aws.c $(FUZZ_MAIN)
tests_fuzz_gateway_aws_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_fuzz_gateway_aws_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_gateway_aws_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_gateway_aws_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/fuzz/gateway_wire
FUZZ_TARGETS += tests/fuzz/gateway_wire
tests_fuzz_gateway_wire_SOURCES = tests/fuzz/gateway_wire.c $(FUZZ_MAIN)
tests_fuzz_gateway_wire_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_fuzz_gateway_wire_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_gateway_wire_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_gateway_wire_LDADD = $(GATEWAY_TEST_LIBS)
check_PROGRAMS += tests/fuzz/gateway_usage
FUZZ_TARGETS += tests/fuzz/gateway_usage
tests_fuzz_gateway_usage_SOURCES = tests/fuzz/gateway_usage.c $(FUZZ_MAIN)
tests_fuzz_gateway_usage_CPPFLAGS = $(GATEWAY_TEST_CPPFLAGS)
tests_fuzz_gateway_usage_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_gateway_usage_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_gateway_usage_LDADD = $(GATEWAY_TEST_LIBS)
