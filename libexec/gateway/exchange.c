/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* HTTP requests that are forwarded. */
#include "config.h"

#include "state.h"

void ab_exchange_begin(ab_client *c, const ab_target *bound)
{
	(void)bound;
	ab_client_refuse(c, 501, "no_forwarding",
			 "agentbox: plain HTTP is not forwarded by this "
			 "build; use CONNECT");
}
