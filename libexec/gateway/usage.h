/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many tokens an answer of a model's API says that it took: the `usage`
 * of OpenAI and Anthropic and what speaks like them, `usageMetadata` of
 * Gemini, in JSON or in server-sent events, read as it goes by and never kept.
 * It counts only where an API puts it, not where a model could have written
 * it; what it says more than once, it says of the whole so far. Whatever is no
 * such answer tells nothing. Spec: agentbox-policy(5), gateway case 117.
 */
#ifndef GATEWAY_USAGE_H
#define GATEWAY_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_USAGE_COUNTS 7
#define AB_USAGE_WORD 32

/* Zeroed: at the beginning of an answer. */
typedef struct ab_usage {
	uint8_t form, line; /* enums of usage.c */
	uint8_t line_at;    /* bytes of "data:" or "[DONE]" that were seen */
	bool after_cr;

	/* JSON: where it is */
	uint32_t depth, base;
	uint32_t usage_at; /* depth of the object that tells; 0: not in it */
	uint8_t key[3];	   /* by depth: enum of usage.c */
	uint8_t wrap;	   /* the key of the object at depth 2 */
	uint8_t count;	   /* which count's value comes */
	bool is_part;	   /* of which the total tells */
	bool in_string, is_escaped, has_word, in_number;
	uint8_t word_len; /* of the string read last; cut: over its size */
	char word[AB_USAGE_WORD];
	uint64_t number;

	/* what it has told */
	uint64_t counts[AB_USAGE_COUNTS];
	bool has_told, is_final, is_bad;
} ab_usage;

/* Bytes of its body, out of their framing. */
void ab_usage_read(ab_usage *u, const char *p, size_t n);
/*
 * How many it took. false: it does not say, or may say more: `has_ended` is
 * whether all of it came; *tokens is what it has said so far.
 */
bool ab_usage_told(const ab_usage *u, bool has_ended, uint64_t *tokens);

#endif
