# SPDX-License-Identifier: LGPL-2.1-or-later
# The self-test of a live box.
E2E_VERIFY = tests/e2e/verify_lib.c tests/e2e/verify_lib.h
check_PROGRAMS += tests/e2e/verify_box
E2E_TESTS += tests/e2e/verify_box
tests_e2e_verify_box_SOURCES = tests/e2e/verify_box.c $(E2E_VERIFY)
tests_e2e_verify_box_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_verify_box_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_verify_box_LDADD = $(E2E_BOX_LIBS)
check_PROGRAMS += tests/e2e/verify_agent
E2E_TESTS += tests/e2e/verify_agent
tests_e2e_verify_agent_SOURCES = tests/e2e/verify_agent.c $(E2E_VERIFY)
tests_e2e_verify_agent_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_verify_agent_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_verify_agent_LDADD = $(E2E_BOX_LIBS)

check_PROGRAMS += tests/e2e/verify_lists
E2E_TESTS += tests/e2e/verify_lists
tests_e2e_verify_lists_SOURCES = tests/e2e/verify_lists.c $(E2E_VERIFY)
tests_e2e_verify_lists_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_verify_lists_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_verify_lists_LDADD = $(E2E_BOX_LIBS)

# agentbox-init with one wall left out: its own sources, and mutant.c in front
# of some functions. In the build tree only; verify_walls makes a directory of
# helpers for each mutant.
check_PROGRAMS += tests/e2e/mutant/agentbox-init
tests_e2e_mutant_agentbox_init_SOURCES = tests/e2e/mutant/mutant.c \
	tests/e2e/mutant/mutant.h tests/e2e/mutant/host.c \
	tests/e2e/mutant/tree.c \
	$(libexec_agentbox_init_SOURCES)
nodist_tests_e2e_mutant_agentbox_init_SOURCES = build-id.h
tests_e2e_mutant_agentbox_init_CPPFLAGS = $(libexec_agentbox_init_CPPFLAGS)
tests_e2e_mutant_agentbox_init_CFLAGS = $(INIT_CFLAGS)
tests_e2e_mutant_agentbox_init_LDADD = $(MUSL_END)
MUTANT_WRAP = ab_plan_decode init_begin_root init_build_root init_write_files \
	init_switch_root init_detach_host init_seal_root init_build_dev \
	init_mount_attrs init_new_fs init_enter_namespaces \
	init_drop_privileges init_raise_landlock init_raise_seccomp \
	init_quarantine init_open_mountinfo init_settle_last \
	init_exec clone prctl setgroups setresuid setrlimit syscall
tests_e2e_mutant_agentbox_init_LINK = $(INIT_LINK) $(INIT_WRAP) \
	`for w in $(MUTANT_WRAP); do echo -Wl,--wrap=$$w; done`
# The same of agentbox-gateway.
if HAVE_GATEWAY
check_PROGRAMS += tests/e2e/mutant/agentbox-gateway
tests_e2e_mutant_agentbox_gateway_SOURCES = tests/e2e/mutant/gateway.c \
	$(libexec_agentbox_gateway_SOURCES)
nodist_tests_e2e_mutant_agentbox_gateway_SOURCES = build-id.h
tests_e2e_mutant_agentbox_gateway_CPPFLAGS = \
	$(libexec_agentbox_gateway_CPPFLAGS)
tests_e2e_mutant_agentbox_gateway_CFLAGS = $(libexec_agentbox_gateway_CFLAGS)
tests_e2e_mutant_agentbox_gateway_LDADD = $(libexec_agentbox_gateway_LDADD)
tests_e2e_mutant_agentbox_gateway_LDFLAGS = \
	$(libexec_agentbox_gateway_LDFLAGS) \
	-Wl,--wrap=ab_key_in_head -Wl,--wrap=ab_allow_target \
	-Wl,--wrap=ab_gw_dial -Wl,--wrap=ab_resolver_new \
	-Wl,--wrap=ab_kept_end_all -Wl,--wrap=ab_confine
endif
check_PROGRAMS += tests/e2e/verify_walls
E2E_TESTS += tests/e2e/verify_walls
tests_e2e_verify_walls_SOURCES = tests/e2e/verify_walls.c $(E2E_VERIFY)
tests_e2e_verify_walls_CPPFLAGS = $(E2E_BOX_CPPFLAGS)
tests_e2e_verify_walls_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_verify_walls_LDADD = $(E2E_BOX_LIBS)
