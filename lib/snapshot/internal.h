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

struct ab_filter {
	enum ab_filter_profile profile;
	ab_patterns exclude, include;
	ab_match *match;
};

struct ab_filter_ignore {
	ab_patterns patterns;
};

#endif
