# SPDX-License-Identifier: LGPL-2.1-or-later
# Manual pages, one line each:   dist_man_MANS += man/agentbox_base.3
dist_man_MANS += man/agentbox_base.3
dist_man_MANS += man/agentbox_guard.3
dist_man_MANS += man/agentbox_owner.3
dist_man_MANS += man/agentbox_sandbox.3
dist_man_MANS += man/agentbox.1
dist_man_MANS += man/agentbox.7
dist_man_MANS += man/agentbox_audit.3
dist_man_MANS += man/agentbox-audit.5
dist_man_MANS += man/agentbox_mcp.3
dist_man_MANS += man/agentbox_walls.3
dist_man_MANS += man/agentbox_policy.3
dist_man_MANS += man/agentbox_rules.3
dist_man_MANS += man/agentbox-rules.5
dist_man_MANS += man/agentbox-policy.5
dist_man_MANS += man/agentbox_peering.3
dist_man_MANS += man/agentbox_snapshot.3
