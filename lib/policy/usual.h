/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a record says by saying nothing: routes, servers of tools, secrets.
 * One place, so that what is carried out and what narrow compares are the
 * same. Spec: agentbox-policy(5). Internal to lib/policy.
 */
#ifndef AB_POLICY_USUAL_H
#define AB_POLICY_USUAL_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/presets.h"

/*
 * Header and scheme of an `inject` (NULL: empty): what it says, then the
 * preset (NULL: none), then what is usual. Borrowed, never NULL.
 */
void ab_usual_inject(const json_t *inject, const ab_preset *preset,
		     bool is_git, const char **header, const char **scheme);

/* A route, a server, with the usual written out. Owned; NULL: ENOMEM. */
json_t *ab_usual_route(const json_t *route);
json_t *ab_usual_server(const json_t *server);

/*
 * The parent's secret with the usual for what the child `c` names and it does
 * not. Owned; NULL: ENOMEM.
 */
json_t *ab_usual_secret(const json_t *held, const json_t *c);

#endif
