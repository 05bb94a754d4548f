/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random policies from a seed, for the property tests. */
#ifndef POLICY_RANDOM_H
#define POLICY_RANDOM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* splitmix64: the same sequence everywhere. */
uint64_t policy_random(uint64_t *seed);
/*
 * A document that parses, owned. Values come from small pools, so that two
 * documents often meet; every key of the schema appears with some chance.
 */
json_t *policy_random_document(uint64_t *seed);
/*
 * Change one thing of a document so that it asks for more than before.
 * Returns the pointer of what was changed, static; NULL when it could not.
 * `always`: whatever the document was, the change asks for more.
 */
const char *policy_random_widen(uint64_t *seed, json_t *document,
				bool *always);

#endif
