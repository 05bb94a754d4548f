# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets of wire; corpora in tests/fuzz/corpus/<target>/.
check_PROGRAMS += tests/fuzz/wire_reader
FUZZ_TARGETS += tests/fuzz/wire_reader
tests_fuzz_wire_reader_SOURCES = tests/fuzz/wire_reader.c $(FUZZ_MAIN)
tests_fuzz_wire_reader_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_wire_reader_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_wire_reader_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/wire_message
FUZZ_TARGETS += tests/fuzz/wire_message
tests_fuzz_wire_message_SOURCES = tests/fuzz/wire_message.c $(FUZZ_MAIN)
tests_fuzz_wire_message_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_wire_message_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_wire_message_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/wire_gateway
FUZZ_TARGETS += tests/fuzz/wire_gateway
tests_fuzz_wire_gateway_SOURCES = tests/fuzz/wire_gateway.c $(FUZZ_MAIN)
tests_fuzz_wire_gateway_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_wire_gateway_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_wire_gateway_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/wire_broker
FUZZ_TARGETS += tests/fuzz/wire_broker
tests_fuzz_wire_broker_SOURCES = tests/fuzz/wire_broker.c $(FUZZ_MAIN)
tests_fuzz_wire_broker_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_wire_broker_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_wire_broker_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

check_PROGRAMS += tests/fuzz/wire_route
FUZZ_TARGETS += tests/fuzz/wire_route
tests_fuzz_wire_route_SOURCES = tests/fuzz/wire_route.c $(FUZZ_MAIN)
tests_fuzz_wire_route_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_wire_route_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_wire_route_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
