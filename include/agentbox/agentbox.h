/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every public header of libagentbox; start reading at agentbox/base.h. */
#ifndef AGENTBOX_AGENTBOX_H
#define AGENTBOX_AGENTBOX_H

#include <agentbox/audit.h>
#include <agentbox/base.h>
#include <agentbox/gateway.h>
#include <agentbox/guard.h>
#include <agentbox/mcp.h>
#include <agentbox/owner.h>
#include <agentbox/peering.h>
#include <agentbox/policy.h>
#include <agentbox/sandbox.h>
#include <agentbox/scope.h>
#include <agentbox/shield.h>
#include <agentbox/snapshot.h>
#include <agentbox/verify.h>
#include <agentbox/walls.h>

#endif
