/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy document as a table: every key, its type, what values it takes
 * and how it compares with the same key of a parent. The checker, the merge
 * of `extends`, narrow, contains and the tests all walk this one table, so a
 * key cannot be known to one of them and forgotten by another.
 * Spec: DESIGN.md section 5, agentbox-policy(5).
 */
#ifndef AB_POLICY_SCHEMA_H
#define AB_POLICY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/value.h"

enum ab_field_type {
	AB_T_STRING = 1, /* through `item` */
	AB_T_ENUM,	 /* one of `names` */
	AB_T_BOOL,
	AB_T_INT, /* min..max */
	AB_T_SIZE,
	AB_T_CPUS,
	AB_T_DURATION,
	AB_T_BACKOFF,
	AB_T_SET,     /* list of strings through `item`, no order */
	AB_T_SEQ,     /* list of strings through `item`, order kept */
	AB_T_HOSTS,   /* set of host patterns */
	AB_T_INTS,    /* set of integers min..max */
	AB_T_OBJECT,  /* `table` */
	AB_T_RECORDS, /* list of objects; sorted, unique by `key_field` */
	AB_T_ORDERED, /* the same, but the order has a meaning and is kept */
	AB_T_MAP      /* object of strings; names through `item` */
};

/*
 * How a child's value is cut to its parent's. "Absent" in the parent reads
 * as the field's fallback; an absent child inherits.
 */
enum ab_field_rule {
	AB_R_FREE = 1, /* not a right: the child's own */
	AB_R_SAME,     /* what the parent has set, the child may only repeat */
	AB_R_GRANT,    /* the same, and where the parent has none, none */
	AB_R_MIN,      /* at most the parent's; absent: `usual`, or no bound */
	AB_R_MIN_ZERO, /* at most the parent's; absent parent: nothing */
	AB_R_FLOOR,    /* at least the parent's (both ends of a range) */
	AB_R_ORDER,    /* enum, bool: not past the parent's place in `names` */
	AB_R_SUBSET,   /* a grant: within the parent's list */
	AB_R_UNION,    /* a restriction: the parent's stays in force */
	AB_R_SUPERSET, /* a demand: leaving out one of the parent's is a cut */
	AB_R_HOSTS,    /* a grant of host patterns */
	AB_R_OBJECT,   /* field by field */
	AB_R_MOUNTS, AB_R_ROLE, AB_R_ENV_SET, AB_R_SECRETS,
	AB_R_ROUTES, AB_R_RECORD_SUBSET, AB_R_RULES, AB_R_TOOLS,
	AB_R_LIMITS /* records of bounds: the parent's stay in force */
};

#define AB_F_REQUIRED 0x01u /* in its object */
#define AB_F_NONE 0x02u	    /* "none": explicitly no bound */
#define AB_F_ZERO 0x04u	    /* "0B", 0 */
#define AB_F_STAR 0x08u	    /* "*" alone may be an item */

/*
 * The canonical text of one string, written to out (size bytes, at least
 * AB_ITEM_SIZE); false: `why`.
 */
#define AB_ITEM_SIZE 8192
typedef bool (*ab_item_fn)(const char *s, size_t n, char *out,
			   char why[AB_WHY_SIZE]);

typedef struct ab_field {
	const char *key; /* NULL ends a table */
	uint8_t type;
	uint8_t rule;
	uint8_t flags;
	/* ORDER: what an absent one reads as, index in `names` (bool: 0, 1) */
	uint8_t fallback;
	/* MIN, MIN_ZERO: the bound that an absent one is, 0 for none */
	uint64_t usual;
	uint32_t min, max; /* of a number; max of a list: its entries */
	const char *const *names; /* NULL-terminated; narrowest first */
	ab_item_fn item;
	const struct ab_field *table;
	const char *key_field;
} ab_field;

extern const ab_field ab_schema[];

/* The field, or NULL. `append` (may be NULL) is set for "key+" of a list. */
const ab_field *ab_schema_find(const ab_field *table, const char *key,
			       bool *append);
/* The key of the table that `key` was probably meant to be, or NULL. */
const char *ab_schema_nearest(const ab_field *table, const char *key);
bool ab_schema_is_list(const ab_field *field);
/* The most entries a list may have. */
size_t ab_schema_list_max(const ab_field *field);
/* Index of s in field->names, -1 when it is not there. */
int ab_schema_index(const ab_field *field, const char *s);

extern const char *const ab_schema_features[];
extern const char *const ab_schema_limits[];
extern const char *const ab_schema_watches[];

#endif
