/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `${x:-git -C . push}`: words that one default gives when the variable is not
 * set. Each may be another where it is set; but where it is not, they are what
 * the default says, and options among them are those of the program there.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

/* All of it is what is likely. */
static bool is_likely(const struct ab_word *w)
{
	return w->hole_count == 1 && w->len &&
	       w->holes->kind == AB_HOLE_LIKELY && w->holes->len == w->len;
}

/* Both are of one default. */
static bool is_of_one(const struct ab_word *a, const struct ab_word *b)
{
	return is_likely(a) && is_likely(b) &&
	       a->holes->name == b->holes->name &&
	       a->holes->span.begin == b->holes->span.begin &&
	       a->holes->span.end == b->holes->span.end;
}

void ab_check_likely(struct ab_check *c, const struct ab_word *argv,
		     uint32_t argc, const struct ab_input *in)
{
	struct ab_word *all;
	uint32_t i = 1;

	while (i < argc && !(argv[i].hole_count &&
			     is_of_one(&argv[i - 1], &argv[i])))
		i++;
	if (AB_LIKELY(i >= argc) || !(all = ab_check_alloc(c, argc *
							     sizeof(*all))))
		return;
	memcpy(all, argv, argc * sizeof(*all));
	for (; i < argc; i++)
		if (is_of_one(&argv[i - 1], &argv[i]))
			all[i - 1].hole_count = all[i].hole_count = 0;
	ab_check_words(c, all, argc, in->taint, in->text, in->has);
}
