/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a filter, for the files of this room. */
#ifndef AB_SNAPSHOT_INTERNAL_H
#define AB_SNAPSHOT_INTERNAL_H

#include "snapshot/filter.h"
#include "snapshot/fold.h"
#include "snapshot/match.h"
#include "snapshot/names.h"
#include "snapshot/pattern.h"
#include "snapshot/place.h"

#define AB_FILTER_BELOW_MAX 8

struct ab_filter {
	enum ab_filter_profile profile;
	bool is_unscanned;
	ab_patterns hidden, exclude, include;
	ab_patterns admit; /* with the rule of each */
	ab_match *match;
	/* the rules about what is below a directory; NULL ends them */
	const struct ab_name_rule *below[AB_FILTER_BELOW_MAX + 1];
};

struct ab_filter_ignore {
	ab_patterns patterns;
};

#endif
