/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections to the hosts of forwarded HTTP that may serve another request.
 * Who puts one here has read the last answer to its exact end, and nothing
 * behind it. One that is taken was silent ever since; it is to the same host
 * and port, and to an address that the lists allow it still. Bounded in number
 * and in age: a name's answer lives no longer. A box is one identity, so all
 * of them are its own. A request that finds its connection gone goes out again
 * on one of its own; it has one record nevertheless, and a second where that
 * leads to another address. Spec: DESIGN.md section 9, RFC 9112 section 9.3.
 */
#ifndef GATEWAY_KEPT_H
#define GATEWAY_KEPT_H

#include "gw.h"

#define AB_KEPT_MAX 16	      /* descriptors */
#define AB_KEPT_IDLE_MS 30000 /* since its last answer */
#define AB_KEPT_AGE_MS 60000  /* since it was connected */

typedef struct ab_upstream_line {
	int fd; /* -1: none */
	ab_address address;
	uint64_t since_ns; /* when it was connected */
} ab_upstream_line;

struct ab_kept;

/* Does this request, which was read whole, send nothing that a server could
   take for the next one, and may it be asked twice? No other goes over a
   connection that is kept, and no connection is kept after another. */
bool ab_kept_request(const ab_http_head *head, const char *buf);
/* Does this answer say itself where it ends, and that another may follow? */
bool ab_kept_answer(const ab_http_head *head);

/* One that leads to t; fd -1: none. */
ab_upstream_line ab_kept_take(ab_gw *gw, const ab_target *t);
/* Its descriptor is taken: kept, or closed. */
void ab_kept_put(ab_gw *gw, const ab_target *t, const ab_upstream_line *line);
void ab_kept_end_all(ab_gw *gw);

#endif
