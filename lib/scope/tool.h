/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a tool one of a policy's scope.tools? For those who have a list and no
 * scope. Refuses nothing by itself. Spec: DESIGN.md section 12.
 */
#ifndef AB_SCOPE_TOOL_H
#define AB_SCOPE_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is the tool what one entry of the list says: a kind, "server:tool",
 * "server:*", "tool"? A name that cannot be read may be any of them: true.
 */
bool ab_scope_tool_is(const char *entry, const char *name, size_t n);

#endif
