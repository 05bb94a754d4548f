# SPDX-License-Identifier: LGPL-2.1-or-later
# The agentbox tool, end to end. tool_lib.py is what the scripts share.
E2E_TESTS += tests/e2e/tool_usage.py
E2E_TESTS += tests/e2e/tool_run.py
E2E_TESTS += tests/e2e/tool_terminal.py
E2E_TESTS += tests/e2e/tool_audit.py
E2E_TESTS += tests/e2e/owner_hostile.py
E2E_TESTS += tests/e2e/tool_mcp.py
E2E_TESTS += tests/e2e/tool_mcp_box.py
E2E_TESTS += tests/e2e/tool_check.py
E2E_TESTS += tests/e2e/shell_sound.py
E2E_TESTS += tests/e2e/shell_shapes.py
E2E_TESTS += tests/e2e/tool_verify.py
E2E_TESTS += tests/e2e/tool_weaker.py
E2E_TESTS += tests/e2e/tool_scope.py
E2E_TESTS += tests/e2e/tool_shield.py
E2E_TESTS += tests/e2e/tool_snapshot.py
if HAVE_ARCHIVES
E2E_TESTS += tests/e2e/tool_archive.py
endif
E2E_TESTS += tests/e2e/snapshot_git.py
E2E_TESTS += tests/e2e/snapshot_worktree.py
E2E_TESTS += tests/e2e/snapshot_fuse.py
if HAVE_GATEWAY
E2E_TESTS += tests/e2e/tool_network.py
E2E_TESTS += tests/e2e/broker.py
E2E_TESTS += tests/e2e/broker_aws.py
E2E_TESTS += tests/e2e/broker_git.py
E2E_TESTS += tests/e2e/broker_rows.py
E2E_TESTS += tests/e2e/broker_program.py
E2E_TESTS += tests/e2e/gateway_connect.py
E2E_TESTS += tests/e2e/gateway_clients.py
E2E_TESTS += tests/e2e/gateway_preview.py
E2E_TESTS += tests/e2e/gateway_rate.py
E2E_TESTS += tests/e2e/gateway_round.py
E2E_TESTS += tests/e2e/gateway_rows.py
E2E_TESTS += tests/e2e/gateway_tcp.py
E2E_TESTS += tests/e2e/gateway_tokens.py
E2E_TESTS += tests/e2e/gateway_tunnel.py
E2E_TESTS += tests/e2e/gateway_upgrade.py
E2E_TESTS += tests/e2e/gateway_mcp.py
E2E_TESTS += tests/e2e/gateway_mcp_server.py
E2E_TESTS += tests/e2e/gateway_mcp_wire.py
E2E_TESTS += tests/e2e/gateway_approve.py
check_PROGRAMS += tests/e2e/gateway_approver
tests_e2e_gateway_approver_SOURCES = tests/e2e/gateway_approver.c
tests_e2e_gateway_approver_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_e2e_gateway_approver_CFLAGS = $(UNIT_CFLAGS)
tests_e2e_gateway_approver_LDADD = $(PUBLIC_LIBS)
E2E_TESTS += tests/e2e/gateway_http.py
E2E_TESTS += tests/e2e/gateway_keep.py
E2E_TESTS += tests/e2e/gateway_hostile.py
E2E_TESTS += tests/e2e/gateway_route.py
endif
