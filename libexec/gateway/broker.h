/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The credential broker: a socket in the box on which its processes ask for
 * the secrets their policy lists, and leases that end. Values are the host's:
 * it is asked for each one each time, and nothing of them stays here.
 * Spec: DESIGN.md section 9, wire/broker.h, gateway cases 140-151.
 */
#ifndef GATEWAY_BROKER_H
#define GATEWAY_BROKER_H

#include <stdint.h>

#include "gw.h"
#include "wire/broker.h"

typedef struct ab_broker ab_broker;

/* Takes what the plan says. 0 or -ENOMEM. */
int ab_broker_new(ab_gw *gw, ab_wire_broker *plan, ab_broker **out);
/* The socket and the files, which are taken, in their order. 0 or -errno. */
int ab_broker_begin(ab_broker *broker, const int *fds, uint32_t count);

/* grant.h: what questions that come another way are judged by. */
struct ab_grants *ab_broker_grants(ab_broker *broker);

/* The host's answer: a value (borrowed), or -1 and why there is none. Who it
   was for may be gone. */
void ab_broker_value(ab_broker *broker, uint32_t serial, int32_t result,
		     int fd);
/* The end of it all: what is in files goes. NULL is ignored. */
void ab_broker_end(ab_broker *broker);
/*
 * The box may not have it any more, for good. How many leases were ended, or
 * -ENOENT: none of its secrets.
 */
int64_t ab_broker_forget(ab_broker *broker, const char *name);

#endif
