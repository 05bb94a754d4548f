/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A word as a path, taken apart: path.c and path_listed.c. */
#ifndef AB_GUARD_PATH_H
#define AB_GUARD_PATH_H

#include "guard/check.h"

struct part {
	const char *text;
	uint32_t len;
	uint8_t kind; /* 0 exact, 1 a pattern, 2 with an unknown part */
};

enum path_from { FROM_ROOT, FROM_HOME, FROM_TEMP, FROM_NOWHERE };

struct path {
	struct part parts[AB_CHECK_MAX_PARTS];
	uint32_t count;
	enum path_from from;
	bool has_hole, is_too_long, went_up;
	bool has_end_hole; /* behind the last slash, which may be nothing */
	bool is_new; /* it begins in a directory that mktemp made */
	bool has_homes, is_checked;
	/* of ab_path_is_ordinary(), when it was asked for */
	bool has_ordinary, is_ordinary;
	/* patterns: struct ab_check; hidden: all but `*` take a dot */
	bool has_dots, has_fold, has_hidden;
	const struct ab_word *cwd;
	/* of the text: they are followed, or only met; what was followed */
	const struct ab_linked *links;
	bool is_linked, met_link;
	/* which of several at one name is followed; there are more */
	uint8_t choice;
	bool has_choice;
	uint8_t hops;
	uint16_t homes; /* bit n: the first n components are a home */
};

/* Links at one name that are tried. */
#define AB_MAX_LINK_CHOICES 8

/* A link that the text made. */
struct ab_linked {
	struct ab_linked *next; /* older */
	const char *path, *target; /* absolute; "": who knows where */
	const char *said; /* what stands in it */
	uint32_t len, target_len, said_len;
	bool is_gone;
	bool is_new; /* the command at hand makes it */
	bool is_later; /* it is made again between any two commands */
	/* ab_file_add(): what it leads to has it, and what lies in that */
	bool is_told, is_told_below;
};

/* --- links.c --- */
/* The link that the path is now, or NULL. */
const struct ab_linked *ab_link_at(struct path *p);

/* --- path_usual.c --- */
/* "$KUBECONFIG": what it names, below the home directory; NULL: who knows. */
const char *ab_path_usual(const struct ab_hole *h);

/* --- path.c --- */
/* The components of a path; no link is followed. */
void ab_path_split(struct ab_check *c, const struct ab_word *w,
		   struct path *p);
/* The classes of a word, whatever is known of it. */
uint64_t ab_path_classes_of(struct ab_check *c, const struct ab_word *w);
/* Every name there is: `*`, `.*`, `?*`. */
bool ab_part_is_all(const struct part *part);
/* The directory is the worktree or in it, or a new temporary one, and no name
   on the way says that keys are kept there. */
bool ab_path_is_ordinary(const struct ab_check *c, struct path *p);
/* A component with patterns in it may be this name. */
bool ab_part_may_be(const struct path *p, const struct part *part,
		    const char *name, size_t len);
/* The first `count` components are a home. */
bool ab_path_is_home(const struct ab_check *c, const struct path *p,
		     uint32_t count);

/* --- path_listed.c --- */
/* The bits of the classes that the pack lists. */
uint64_t ab_path_listed(const struct ab_check *c, struct path *p);

#endif
