/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client of agentbox-gateway, for lib/sandbox: started with the box's
 * listeners before its first command, read in the box's dispatch.
 */
#ifndef AB_GATEWAY_GATEWAY_H
#define AB_GATEWAY_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/gateway.h"
#include "base/error.h"
#include "policy/policy.h"
#include "wire/gateway.h"

typedef struct ab_gateway_options {
	const char *box_id;
	const char *resolver; /* NULL or "": the system's */
	const int *fds;	      /* the listeners, borrowed */
	size_t fd_count;
	uint32_t flags;	      /* AB_GATEWAY_HAS_IPV6 */
	const int *broker_fds; /* borrowed: the socket, then the files */
	size_t broker_fd_count; /* 0: no broker */
	uint32_t uid_inside, uid_outside; /* of the box's agent */
	bool is_audited;
	uint64_t deadline;    /* boot-time ns */
	/* For every record, with the gateway's lock held; and once with NULL
	   when it has ended by itself. Borrowed. */
	void (*told)(void *arg, const ab_gateway_record *record);
	/* ab_gateway_fd() is about to be closed. NULL: nobody watches it. */
	void (*closing)(void *arg, int fd);
	/* The box asks for a secret: ab_gateway_serve() is to be called. */
	void (*wake)(void *arg);
	void *arg;
} ab_gateway_options;

/* EHELPER, EPOLICY (a list), EWALL with `where` "gateway", ETIMEOUT. */
int32_t ab_gateway_new(agentbox_context *context, agentbox_policy *policy,
		       const ab_gateway_options *options,
		       agentbox_gateway **out, agentbox_error **err);
/* Ends it; NULL is ignored. In a forked child only memory and descriptors. */
void ab_gateway_free(agentbox_gateway *gateway);

/* Ends it, and nothing is told of that; the handle stays for its holders. */
void ab_gateway_stop(agentbox_gateway *gateway);

/* To poll for reading; -1 when it has ended. */
int ab_gateway_fd(const agentbox_gateway *gateway);
/* The same, for programs that are asked for values; -1: it never asks. */
int ab_gateway_runs_fd(const agentbox_gateway *gateway);
/* Of its process, borrowed; -1: the kernel has none, or it was ended. */
int ab_gateway_pidfd(const agentbox_gateway *gateway);
/* Take what is there without waiting. */
void ab_gateway_drain(agentbox_gateway *gateway);
/* Put what it asks to the host; no lock of ours is held. */
void ab_gateway_serve_asks(agentbox_gateway *gateway);
/* Answer what the box has asked for; calls the host, so no lock is held. */
void ab_gateway_serve(agentbox_gateway *gateway);
/* "NAME=value" of what commands are given; borrowed, NULL-terminated. */
char *const *ab_gateway_environment(const agentbox_gateway *gateway);

#endif
