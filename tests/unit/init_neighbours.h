/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands around a part of agentbox-init that is tested by itself: a clock
 * of the test's own, a host, an agent and a record that are what a test says.
 * What a part is not linked with and no test asks for is in the tests.
 */
#ifndef INIT_NEIGHBOURS_H
#define INIT_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "watcher.h"

typedef struct neighbours {
	/* what the clock says, and what a look at it takes */
	uint64_t now_ns, tick_ns;
	bool is_agent_there;
	bool is_heard;	  /* by a host that waits for the end */
	bool is_recorded; /* that the box runs */
	bool is_looked;	  /* the host may remove that */
	/* -errno for every path that is opened; -EACCES: until somebody makes
	   passable what is above it */
	int open_error;
	bool is_parent_asked;
	char told[512]; /* the last event */
	unsigned told_cut; /* how often that a look was given up */
} neighbours;

extern neighbours around;

#endif
