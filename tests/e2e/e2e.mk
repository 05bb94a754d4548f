# SPDX-License-Identifier: LGPL-2.1-or-later
# End-to-end tests: scripts (sh or python3, printing TAP) or programs.
#   E2E_TESTS += tests/e2e/x.sh
# A program is built like a unit test (see tests/unit/base.mk) and listed in
# both check_PROGRAMS and E2E_TESTS; helper programs only in check_PROGRAMS.
# Minutes-long ones: CHECK_LONG_TESTS += tests/e2e/x
# Environment: AB_TEST_SRCDIR AB_TEST_BUILDDIR AB_TEST_HELPER_DIR AB_TEST_TOOL
# TMPDIR (private, writable, removed afterwards), LD_LIBRARY_PATH.

# The live box suite: programs on the public interface that attack a box case
# by case (SANDBOX-CASES.md). One program at a time can be run by hand:
#   tests/e2e/privilege case_047
E2E_BOX_LIBS = $(LEAK_LDFLAGS) tests/e2e/libbox.a tests/lib/libabtest.a \
	$(PUBLIC_LIBS) $(CHECK_LIBS)
E2E_BOX_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(top_srcdir)/tests/e2e

check_LIBRARIES += tests/e2e/libbox.a
tests_e2e_libbox_a_SOURCES = \
	tests/e2e/box.c \
	tests/e2e/box.h \
	tests/e2e/case.c \
	tests/e2e/host.c \
	tests/e2e/host.h \
	tests/e2e/tree.c
tests_e2e_libbox_a_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_libbox_a_CFLAGS = $(UNIT_CFLAGS)

# Static, without sanitizers or libraries: it runs where nothing else is.
E2E_STATIC_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
E2E_STATIC_LINK = $(CC) $(E2E_STATIC_CFLAGS) $(CFLAGS) -static \
	$(LDFLAGS) -o $@
check_PROGRAMS += tests/e2e/attacker tests/e2e/without
tests_e2e_attacker_SOURCES = \
	tests/e2e/attack_exec.c \
	tests/e2e/attack_files.c \
	tests/e2e/attack_kernel.c \
	tests/e2e/attack_load.c \
	tests/e2e/attack_network.c \
	tests/e2e/attack_odd.c \
	tests/e2e/attack_process.c \
	tests/e2e/attack_verify.c \
	tests/e2e/attacker.c \
	tests/e2e/attacker.h
tests_e2e_attacker_CPPFLAGS = -D_GNU_SOURCE
tests_e2e_attacker_CFLAGS = $(E2E_STATIC_CFLAGS)
tests_e2e_attacker_LDADD =
tests_e2e_attacker_LINK = $(E2E_STATIC_LINK)
tests_e2e_without_SOURCES = tests/e2e/without.c tests/lib/cover_proc.h
tests_e2e_without_CPPFLAGS = -D_GNU_SOURCE
tests_e2e_without_CFLAGS = $(E2E_STATIC_CFLAGS)
tests_e2e_without_LDADD =
tests_e2e_without_LINK = $(E2E_STATIC_LINK)

check_PROGRAMS += tests/e2e/protect_present
E2E_TESTS += tests/e2e/protect_present
tests_e2e_protect_present_SOURCES = tests/e2e/protect_present.c
tests_e2e_protect_present_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_present_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_present_LDADD = $(E2E_BOX_LIBS)
E2E_PEERS = tests/e2e/peers.c tests/e2e/peers.h
check_PROGRAMS += tests/e2e/peering
E2E_TESTS += tests/e2e/peering
tests_e2e_peering_SOURCES = tests/e2e/peering.c $(E2E_PEERS)
tests_e2e_peering_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_peering_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_peering_LDADD = $(E2E_BOX_LIBS)

check_PROGRAMS += tests/e2e/peer_sweep
E2E_TESTS += tests/e2e/peer_sweep
tests_e2e_peer_sweep_SOURCES = tests/e2e/peer_sweep.c $(E2E_PEERS)
tests_e2e_peer_sweep_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_peer_sweep_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_peer_sweep_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/peer_hold
E2E_TESTS += tests/e2e/peer_hold
tests_e2e_peer_hold_SOURCES = tests/e2e/peer_hold.c $(E2E_PEERS)
tests_e2e_peer_hold_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_peer_hold_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_peer_hold_LDADD = $(E2E_BOX_LIBS)
# A short form, and minutes of it.
check_PROGRAMS += tests/e2e/peer_swap tests/e2e/peer_swap_long
E2E_TESTS += tests/e2e/peer_swap
CHECK_LONG_TESTS += tests/e2e/peer_swap_long
tests_e2e_peer_swap_SOURCES = tests/e2e/peer_swap.c $(E2E_PEERS)
tests_e2e_peer_swap_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_peer_swap_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_peer_swap_LDADD = $(E2E_BOX_LIBS)
tests_e2e_peer_swap_long_SOURCES = $(tests_e2e_peer_swap_SOURCES)
tests_e2e_peer_swap_long_CPPFLAGS = $(E2E_BOX_CPPFLAGS) -DSWAPS=10000
tests_e2e_peer_swap_long_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_peer_swap_long_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/peer_mount
E2E_TESTS += tests/e2e/peer_mount
tests_e2e_peer_mount_SOURCES = tests/e2e/peer_mount.c
tests_e2e_peer_mount_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_peer_mount_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_peer_mount_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/protect_missing
E2E_TESTS += tests/e2e/protect_missing
tests_e2e_protect_missing_SOURCES = tests/e2e/protect_missing.c
tests_e2e_protect_missing_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_missing_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_missing_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/protect_race
E2E_TESTS += tests/e2e/protect_race
tests_e2e_protect_race_SOURCES = tests/e2e/protect_race.c
tests_e2e_protect_race_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_race_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_race_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/protect_attacks
E2E_TESTS += tests/e2e/protect_attacks
tests_e2e_protect_attacks_SOURCES = tests/e2e/protect_attacks.c
tests_e2e_protect_attacks_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_attacks_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_attacks_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/protect_host
E2E_TESTS += tests/e2e/protect_host
tests_e2e_protect_host_SOURCES = tests/e2e/protect_host.c
tests_e2e_protect_host_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_host_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_host_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/protect_git
E2E_TESTS += tests/e2e/protect_git
tests_e2e_protect_git_SOURCES = tests/e2e/protect_git.c
tests_e2e_protect_git_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_git_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_git_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/protect_load
E2E_TESTS += tests/e2e/protect_load
tests_e2e_protect_load_SOURCES = tests/e2e/protect_load.c
tests_e2e_protect_load_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_protect_load_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_protect_load_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/read_protect
E2E_TESTS += tests/e2e/read_protect
tests_e2e_read_protect_SOURCES = tests/e2e/read_protect.c
tests_e2e_read_protect_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_read_protect_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_read_protect_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/privilege
E2E_TESTS += tests/e2e/privilege
tests_e2e_privilege_SOURCES = tests/e2e/privilege.c
tests_e2e_privilege_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_privilege_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_privilege_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/network
E2E_TESTS += tests/e2e/network
tests_e2e_network_SOURCES = tests/e2e/network.c
tests_e2e_network_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_network_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_network_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/command
E2E_TESTS += tests/e2e/command
tests_e2e_command_SOURCES = tests/e2e/command.c
tests_e2e_command_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_command_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_command_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/limits
E2E_TESTS += tests/e2e/limits
tests_e2e_limits_SOURCES = tests/e2e/limits.c
tests_e2e_limits_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_limits_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_limits_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/realtime
E2E_TESTS += tests/e2e/realtime
tests_e2e_realtime_SOURCES = tests/e2e/realtime.c
tests_e2e_realtime_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_realtime_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_realtime_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/left
E2E_TESTS += tests/e2e/left
tests_e2e_left_SOURCES = tests/e2e/left.c
tests_e2e_left_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_left_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_left_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/lifetime
E2E_TESTS += tests/e2e/lifetime
tests_e2e_lifetime_SOURCES = tests/e2e/lifetime.c
tests_e2e_lifetime_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_lifetime_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_lifetime_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/setup
E2E_TESTS += tests/e2e/setup
tests_e2e_setup_SOURCES = tests/e2e/setup.c
tests_e2e_setup_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_setup_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_setup_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/lacks
E2E_TESTS += tests/e2e/lacks
tests_e2e_lacks_SOURCES = tests/e2e/lacks.c
tests_e2e_lacks_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_lacks_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_lacks_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/programs
E2E_TESTS += tests/e2e/programs
tests_e2e_programs_SOURCES = tests/e2e/programs.c
tests_e2e_programs_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_programs_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_programs_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/long_runs
CHECK_LONG_TESTS += tests/e2e/long_runs
tests_e2e_long_runs_SOURCES = tests/e2e/long_runs.c
tests_e2e_long_runs_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_long_runs_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_long_runs_LDADD = $(E2E_BOX_LIBS)

# The tool.
include tests/e2e/route.mk
include tests/e2e/tool.mk

# Snapshots.
include tests/e2e/snapshot.mk
include tests/e2e/verify.mk
if HAVE_GATEWAY
check_PROGRAMS += tests/e2e/gateway_host
E2E_TESTS += tests/e2e/gateway_host
tests_e2e_gateway_host_SOURCES = tests/e2e/gateway_host.c
tests_e2e_gateway_host_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_gateway_host_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_gateway_host_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/broker_host
E2E_TESTS += tests/e2e/broker_host
tests_e2e_broker_host_SOURCES = tests/e2e/broker_host.c
tests_e2e_broker_host_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_broker_host_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_broker_host_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/gateway_control
E2E_TESTS += tests/e2e/gateway_control
tests_e2e_gateway_control_SOURCES = tests/e2e/gateway_control.c
tests_e2e_gateway_control_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_gateway_control_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_gateway_control_LDADD = $(E2E_BOX_LIBS)
endif

check_PROGRAMS += tests/e2e/shield
E2E_TESTS += tests/e2e/shield
tests_e2e_shield_SOURCES = tests/e2e/shield.c
tests_e2e_shield_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_shield_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_shield_LDADD = $(E2E_BOX_LIBS)

check_PROGRAMS += tests/e2e/shield_odd
E2E_TESTS += tests/e2e/shield_odd
tests_e2e_shield_odd_SOURCES = tests/e2e/shield_odd.c $(E2E_PEERS)
tests_e2e_shield_odd_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_shield_odd_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_shield_odd_LDADD = $(E2E_BOX_LIBS)

check_PROGRAMS += tests/e2e/shield_places
E2E_TESTS += tests/e2e/shield_places
tests_e2e_shield_places_SOURCES = tests/e2e/shield_places.c $(E2E_PEERS)
tests_e2e_shield_places_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_shield_places_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_shield_places_LDADD = $(E2E_BOX_LIBS)
