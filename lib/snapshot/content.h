/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks for secrets in what a file holds: the rules of content_rules.c, found
 * by a literal prefilter (the anchors) and then verified: format, borders,
 * checksums where the format has one, entropy, and the placeholders that
 * documentation uses. Streaming: chunks of any size, the verdict is the same
 * as for the whole file at once. UTF-16 and UTF-32 text is seen through,
 * the escapes of JSON, scripts, URLs and pages are, and keys in base64 by their
 * encoded beginnings.
 *
 * A finding says which rule and where, never what: the secret is in no
 * message, log or record. Soft for what it has no rule for; hard in that what
 * it finds is not copied. Pure; one scanner belongs to one thread. Compiled
 * into agentbox-copy and agentbox-git (CONTENT_FILES in room.mk). Time is
 * linear in the bytes, memory constant: some 300 KiB a scanner, made in half
 * a millisecond, so make one for a job and not one for a file.
 *
 * What it lets through by reason: samples of documentation, values that
 * templates fill in, passwords that protect nothing, databases of the same
 * machine or compose file; among the bytes of a program all of tier M. What
 * it does not know: archives, compression, base64 in base64.
 */
#ifndef AB_SNAPSHOT_CONTENT_H
#define AB_SNAPSHOT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_content_level {
	AB_CONTENT_STRICT, /* findings of tier H and M count */
	AB_CONTENT_HIGH,   /* tier H only */
	AB_CONTENT_OFF
};

typedef struct ab_content_finding {
	const char *rule; /* "github-pat-classic"; static */
	char tier;	  /* 'H' or 'M' */
	uint64_t offset;  /* of its first byte; before it, behind escapes */
	uint64_t line;	  /* from 1; 0 in wide text */
} ab_content_finding;

typedef struct ab_content ab_content;

/* NULL: no memory. Nothing is allocated later. */
ab_content *ab_content_new(void);
void ab_content_free(ab_content *scanner);

/*
 * Begin a file. `path` (n bytes, any) is only used for rules that hold for
 * some kinds of files; borrowed until ab_content_end().
 */
void ab_content_begin(ab_content *scanner, enum ab_content_level level,
		      const char *path, size_t n);
/*
 * Behind ab_content_begin(): findings of this rule (a number below
 * ab_content_rule_count()) do not count in this file; those of the others do.
 */
void ab_content_admit(ab_content *scanner, size_t rule);
/*
 * True: a finding counts already; more need not be fed. False says nothing
 * before ab_content_end(): bytes are collected and scanned in large pieces.
 */
bool ab_content_feed(ab_content *scanner, const void *p, size_t n);
/*
 * True and *finding (may be NULL, else untouched when false) when something
 * was found: the first in order of place, wide text after the rest. The
 * scanner then waits for another ab_content_begin().
 */
bool ab_content_end(ab_content *scanner, ab_content_finding *finding);
/*
 * Behind ab_content_end(): how many rules were admitted that found something,
 * and the first finding (may be NULL) when that is not 0.
 */
size_t ab_content_admitted(const ab_content *scanner,
			   ab_content_finding *finding);

/* The rules, for the manual, tests and `agentbox snapshot explain`. */
size_t ab_content_rule_count(void);
const char *ab_content_rule_id(size_t i);
/* 'H' when one of its spellings is sure by its form, else 'M'. */
char ab_content_rule_tier(size_t i);
/* The number of the rule of this name, or ab_content_rule_count(). */
size_t ab_content_rule_find(const char *id, size_t n);

#endif
