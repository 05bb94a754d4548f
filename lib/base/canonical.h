/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk behind ab_json_canonical() (base/json.h, where the form is
 * written down), for one who has a place of his own for the text and his own
 * word about what is in it: the audit log, with its lines of bounded size
 * and its secrets.
 */
#ifndef AB_BASE_CANONICAL_H
#define AB_BASE_CANONICAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ab_canonical {
	void *data; /* the caller's */
	/* Takes the next bytes; false ends the walk. */
	bool (*put)(void *data, const char *p, size_t n);
	/* Each may be NULL; else it writes what stands in place of the string
	   value, and answers whether it did so for the others. */
	void (*put_string)(void *data, const char *p, size_t n);
	bool (*put_object)(void *data, const json_t *object);
	bool (*put_array)(void *data, const json_t *array);
	bool (*put_member)(void *data, const char *key, const json_t *value);
	unsigned depth_max;
	size_t keys_max; /* of one object */

	/* Whether the walk is to go on: 0; else AGENTBOX_EINVAL for a real,
	   ELIMIT for depth and keys, ENOMEM, ECANCELED by put(). */
	int32_t rc;
} ab_canonical;

/* A value `depth` levels below the top. Returns c->rc. */
int32_t ab_canonical_value(ab_canonical *c, const json_t *value,
			   unsigned depth);
/* The inside of a string. What is not UTF-8 becomes \ufffd, byte by byte. */
void ab_canonical_text(ab_canonical *c, const char *p, size_t n);
/* The length of the UTF-8 character at p, n > 0; 0: there is none. */
size_t ab_canonical_char(const char *p, size_t n);

#endif
