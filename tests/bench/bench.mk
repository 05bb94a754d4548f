# SPDX-License-Identifier: LGPL-2.1-or-later
# Benchmarks, run by make bench only, built only then:
#   EXTRA_PROGRAMS += tests/bench/x
#   BENCHES += tests/bench/x
#   tests_bench_x_SOURCES = tests/bench/x.c
#   tests_bench_x_LDADD = $(PUBLIC_LIBS)
EXTRA_PROGRAMS += tests/bench/audit
BENCHES += tests/bench/audit
tests_bench_audit_SOURCES = tests/bench/audit.c
tests_bench_audit_LDADD = $(PUBLIC_LIBS)

# warm, cold, in a large host, with threads, and the peers
EXTRA_PROGRAMS += tests/bench/spawn
BENCHES += tests/bench/spawn
tests_bench_spawn_SOURCES = \
	tests/bench/bench.h \
	tests/bench/peers.c \
	tests/bench/spawn.c \
	tests/bench/table.c
tests_bench_spawn_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_bench_spawn_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS) -lpthread
EXTRA_tests_bench_spawn_DEPENDENCIES = tests/bench/floor$(EXEEXT)

# what the kernel takes for a box, linked as agentbox-init is; spawn runs it
EXTRA_PROGRAMS += tests/bench/floor
tests_bench_floor_SOURCES = tests/bench/floor.c
tests_bench_floor_CPPFLAGS = $(INIT_CPPFLAGS)
tests_bench_floor_CFLAGS = $(INIT_CFLAGS)
tests_bench_floor_LDADD = $(MUSL_END)
tests_bench_floor_LINK = $(INIT_LINK)

# one check of a path
EXTRA_PROGRAMS += tests/bench/guard_path
BENCHES += tests/bench/guard_path
tests_bench_guard_path_SOURCES = tests/bench/guard_path.c
tests_bench_guard_path_LDADD = $(PUBLIC_LIBS)

# one check of a shell line; growth, heap, stack, and the peers
EXTRA_PROGRAMS += tests/bench/guard_shell
BENCHES += tests/bench/guard_shell
tests_bench_guard_shell_SOURCES = \
	tests/bench/guard_shell.c \
	tests/bench/guard_shell.h \
	tests/bench/guard_shell_growth.c \
	tests/bench/guard_shell_peers.c \
	tests/bench/guard_shell_texts.c
tests_bench_guard_shell_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_bench_guard_shell_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS) -lpthread -lm

# a copy of a tree and its refreshes against rsync, cp and tar
EXTRA_PROGRAMS += tests/bench/snapshot
BENCHES += tests/bench/snapshot
tests_bench_snapshot_SOURCES = \
	tests/bench/bench.h \
	tests/bench/peers.c \
	tests/bench/snapshot.c \
	tests/bench/snapshot.h \
	tests/bench/snapshot_floor.c \
	tests/bench/snapshot_hold.c \
	tests/bench/snapshot_tree.c \
	tests/bench/table.c
tests_bench_snapshot_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_bench_snapshot_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)

# the network wall from inside a box, against relays and proxies
EXTRA_PROGRAMS += tests/bench/gateway tests/bench/gateway_client
BENCHES += tests/bench/gateway
tests_bench_gateway_SOURCES = \
	tests/bench/bench.h \
	tests/bench/gateway.c \
	tests/bench/gateway.h \
	tests/bench/gateway_origin.c \
	tests/bench/gateway_peers.c \
	tests/bench/gateway_route.c \
	tests/bench/peers.c \
	tests/bench/table.c
tests_bench_gateway_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_bench_gateway_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)
EXTRA_tests_bench_gateway_DEPENDENCIES = tests/bench/gateway_client$(EXEEXT)
tests_bench_gateway_client_SOURCES = tests/bench/gateway_client.c
tests_bench_gateway_client_LDADD =

# what a shield adds to an exec
EXTRA_PROGRAMS += tests/bench/shield tests/bench/shield_client
BENCHES += tests/bench/shield
tests_bench_shield_SOURCES = \
	tests/bench/bench.h \
	tests/bench/peers.c \
	tests/bench/shield.c \
	tests/bench/table.c
tests_bench_shield_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_bench_shield_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)
EXTRA_tests_bench_shield_DEPENDENCIES = tests/bench/shield_client$(EXEEXT)
tests_bench_shield_client_SOURCES = tests/bench/shield_client.c
tests_bench_shield_client_LDADD =
