/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must agree with a name before it decides: where it is, what is beside
 * it, what is in it. A generic word alone takes nothing, because somebody's
 * program is called core/ or build/. Unknown is no agreement.
 */
#ifndef AB_SNAPSHOT_PLACE_H
#define AB_SNAPSHOT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/filter.h"
#include "snapshot/names.h"

/* No more names of one directory are looked at for one answer. */
#define AB_PLACE_NAMES_MAX 512

typedef struct ab_place {
	const char *path; /* relative to the root, n bytes */
	size_t n;
	size_t parent_len;     /* of path, without the slash */
	const char *form;      /* the name as it matched, lower case */
	size_t form_len;
	bool is_directory;
	const ab_filter_names *siblings; /* may be NULL */
} ab_place;

/* Does the place agree with rule->when? */
bool ab_place_agrees(const struct ab_name_rule *rule, const ab_place *place);

/*
 * Is this file, below a directory of the rule's name, what the rule is for?
 * rule->when is AB_WHEN_BELOW.
 */
bool ab_place_below(const struct ab_name_rule *rule, const ab_place *place);

/*
 * What ab_place_listing() is to know of a directory whose rule did not agree
 * by what is beside it: 0 or bits of AB_PLACE_MARK.
 */
#define AB_PLACE_MARK 0xffffff00u
uint32_t ab_place_mark(const struct ab_name_rule *rule, const ab_place *place);

/*
 * The id of the structure a directory with these entries is, or NULL. *tier
 * is its tier; 'X': history of a repository.
 */
const char *ab_place_listing(uint32_t mark, const ab_filter_names *entries,
			     char *tier);

/*
 * Is a directory above for tests, which make up what they need? What runs
 * against a service (e2e), and what shows how to, is often given a real key.
 */
bool ab_place_is_of_tests(const char *path, size_t parent_len);

/* A section of a manual may end in a number: man/passwd.1 */
bool ab_place_is_manual(const char *path, size_t parent_len);

#endif
