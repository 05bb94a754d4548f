/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's reports as tables for people, on standard error. Anything a
 * report has beyond what these know is in --json.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <jansson.h>

/* agentbox_sandbox_walls_to_json() */
void report_walls(const json_t *walls);
/* The `weaker` of any report, with what to do. */
void report_weaker(const json_t *o);
/*
 * Its names, "groups, limits.memory", for a line at every start: without
 * limits.disk, which is soft on any machine where the workspace is written to.
 * Owned; NULL: nothing else is.
 */
char *report_weaker_line(const json_t *o);
/* Warn of each of these places that is not there, so that nothing covers it. */
void report_not_hidden(const json_t *walls, const json_t *places);
/* Warn of what could be written but for what it has to protect. */
void report_read_only(const json_t *walls);
/* agentbox_sandbox_limits_to_json() */
void report_limits(const json_t *limits);
/* agentbox_sandbox_plan_to_json() */
void report_plan(const json_t *plan);

#endif
