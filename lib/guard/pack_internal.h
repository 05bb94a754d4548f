/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files that read packs. The reader holds one line, cut into
 * words in place; every string of the tables points into the layer's text.
 */
#ifndef AB_GUARD_PACK_INTERNAL_H
#define AB_GUARD_PACK_INTERNAL_H

#include "base/error.h"
#include "guard/pack.h"

struct ab_pack_reader {
	struct ab_pack *pack;
	enum ab_pack_layer layer;
	const char *name;
	agentbox_error **err;
	uint32_t line;
	char *start;		  /* of the line, for columns */
	char *words[AB_PACK_MAX_TOKENS];
	uint32_t count;
	char *rest; /* of the line behind the first word, uncut copy */
	/* the open block */
	int block;
	uint32_t first, last; /* programs of the block */
	uint16_t rule;
	bool is_changed; /* the rule is one of an earlier layer */
	uint8_t verdict; /* of the clause being read */
};

bool ab_pack_grow(void **table, uint32_t count, uint32_t *room, size_t size);

/* A new zeroed entry of a table; NULL: bound or memory. */
#define ab_pack_add(pack, name)                                              \
	(ab_pack_grow((void **)&(pack)->name, (pack)->name##_count,          \
		      &(pack)->name##_room, sizeof(*(pack)->name))           \
		 ? (memset(&(pack)->name[(pack)->name##_count], 0,           \
			   sizeof(*(pack)->name)),                           \
		    &(pack)->name[(pack)->name##_count++])                   \
		 : NULL)

/* The end of a layer: false when there is no memory. */
bool ab_pack_settle(struct ab_pack *pack);
/* Sets the error at `at` (a byte of the line) and returns its code. */
int32_t ab_pack_bad(struct ab_pack_reader *r, const char *at, const char *fmt,
		    ...) AB_PRINTF(3, 4);
/* ELIMIT or ENOMEM: a table is full, or cannot grow. */
int32_t ab_pack_full(struct ab_pack_reader *r);
/* ELIMIT: "at most MAX WHAT". */
int32_t ab_pack_too_many(struct ab_pack_reader *r, uint32_t max,
			 const char *what);

/* A program line inside a block, words[0..]. */
int32_t ab_pack_read_program(struct ab_pack_reader *r);
int32_t ab_pack_open_program(struct ab_pack_reader *r);
/* A rule's line. */
int32_t ab_pack_open_rule(struct ab_pack_reader *r);
int32_t ab_pack_read_rule(struct ab_pack_reader *r);
/* The group mask of "-a|--long" in a program. */
int32_t ab_pack_options(struct ab_pack_reader *r, const struct ab_program *p,
			char *text, uint64_t *mask);
/* "remote|decode" */
int32_t ab_pack_taint(struct ab_pack_reader *r, char *text, uint32_t *taint);
int32_t ab_pack_classes(struct ab_pack_reader *r, char *text, uint64_t *mask);
/*
 * The programs of "a,b,@set". make: they must be new, else names that are not
 * there are made. `as`: the name, which the program has by a rule only
 * (ab_pack_find(): python3.11); else NULL.
 */
struct ab_pack_list {
	uint32_t count;
	struct {
		uint32_t program;
		const char *as;
	} items[AB_PACK_MAX_TOKENS];
};
/* help WORD|WORD PROGRAM,... */
int32_t ab_pack_read_help(struct ab_pack_reader *r);
int32_t ab_pack_read_common(struct ab_pack_reader *r);
int32_t ab_pack_programs(struct ab_pack_reader *r, char *text, bool make,
			 struct ab_pack_list *list);
/* Number of a predicate on values ("mode-777") or -1. */
int ab_value_named(const char *name);
/* What is exact is none of those values. */
bool ab_value_needs_hole(uint8_t value);

#endif
