/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules by name, as data. A pattern is lower case and judged against one
 * component, or its last component against the name and the ones before
 * against the directories above. Without a slash it is about files, except
 * when it begins with a dot; a slash at its end: a directory, or a file of
 * that name. `when` says what else must hold.
 */
#ifndef AB_SNAPSHOT_NAMES_H
#define AB_SNAPSHOT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_name_when {
	AB_WHEN_ALWAYS = 0,
	AB_WHEN_NOT_SOURCE,  /* no program text or document by its suffix */
	AB_WHEN_LONE,	     /* no one of a family of names without suffix */
	AB_WHEN_NO_FAMILY,   /* not one of many files of its suffix, by name */
	AB_WHEN_NUMBER,	     /* core.1234, no page of a manual */
	AB_WHEN_NO_TEMPLATE, /* not in a directory of templates */
	AB_WHEN_NO_FIXTURE,  /* not among tests and examples, which need it */
	AB_WHEN_ROTATED,     /* the same, and no program text: x.log.ts */
	AB_WHEN_NO_MANUAL,   /* not among documents */
	AB_WHEN_NO_SUM,	     /* no checksum or signature of an archive */
	AB_WHEN_DUMP,	     /* SQL that is a dump, not a program's schema */
	AB_WHEN_STRAY,	     /* a patch outside of what packagers keep */
	AB_WHEN_NOT_TYPES,   /* index.js.flow declares types */
	AB_WHEN_HOME,	     /* beside what only a home directory has */
	AB_WHEN_CAPITAL,     /* as its program writes it: a small one is
				anybody's word */
	AB_WHEN_WORKDIR,     /* tmp/: at the root or beside a manifest */
	AB_WHEN_BUILT,	     /* beside what it is built from, or by what is
				in it (place.c) */
	AB_WHEN_BELOW	     /* files below, but program text: pattern is the
				directory's name */
};

struct ab_name_rule {
	const char *pattern;
	char tier;
	uint8_t when;	  /* enum ab_name_when */
	uint8_t proof;	  /* enum ab_filter_proof */
	bool is_required; /* in both profiles, and nothing brings it back */
};

extern const struct ab_name_rule ab_name_rules[];
extern const size_t ab_name_rule_count;

#endif
