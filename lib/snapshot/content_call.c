/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords that no name stands before, since their place among a call's
 * arguments says what they are: connect(host, "user", "password"). The first
 * argument is never one. See content_made.c for what a person could have made
 * up.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define is_one_of ab_content_is_one_of

/* How long a call may be. */
#define LINE 350

/* The string that begins at p, with its quote: what ends it. NULL: nothing. */
static const uint8_t *string_end(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *q = p + 1;

	for (; q < hi && *q != *p && *q != '\n'; q++) {
		if (*q == '\\')
			q++;
	}
	return q < hi && *q == *p ? q : NULL;
}

/* A string behind a comma that nobody made up. */
static bool is_password(const uint8_t *p, const uint8_t *end,
			ab_content_match *m)
{
	if (ab_content_until(p, end, "\\", 65) != end ||
	    !(ab_content_is_made(p, end) || ab_content_is_mixed(p, end)))
		return false;
	m->value = p;
	m->end = end;
	return true;
}

/*
 * One of the strings between the anchor, which ends with '(', and what closes
 * it. A call that is begun in another has been looked through with that one.
 */
bool ab_verify_argument(const ab_content_window *w, ab_content_match *m)
{
	const uint8_t **mark = &w->marks[AB_MARK_CALL];
	const uint8_t *p = m->end, *hi = w->hi - p > LINE ? p + LINE : w->hi;
	bool is_behind = false;
	int depth = 0;

	if (*mark > p)
		return false;
	for (; p < hi && depth >= 0 && !is_one_of(";{}", *p); p++) {
		const uint8_t *end;

		depth += (*p == '(') - (*p == ')');
		if (!ab_content_class('Q', *p)) {
			if (*p > ' ' && !is_one_of("@bru", *p))
				is_behind = *p == ',';
			continue;
		}
		end = string_end(p, hi);
		if (!end)
			break;
		if (is_behind && is_password(p + 1, end, m))
			return true;
		is_behind = false;
		p = end;
	}
	*mark = p;
	return false;
}
