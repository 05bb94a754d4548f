/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shell check: a line or an argv against a pack. Every command that the
 * text runs is taken apart and judged, wrappers are peeled off, texts for
 * other shells are read again, bytes are followed through pipes, variables
 * and files. Context decides: what is only an argument is data.
 *
 * Pure: no heap, no kernel, no state. What it cannot see: scripts on disk,
 * programs it does not know, links. Spec: DESIGN.md section 7.
 */
#ifndef AB_GUARD_SHELL_H
#define AB_GUARD_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "guard/pack.h"
#include "shell/word.h"

struct ab_known_path {
	const char *text; /* absolute and clean; NULL: unknown */
	uint32_t len;
};

/* Where the agent stands. Zeroed: nothing is known, nothing is inside. */
struct ab_shell_place_text {
	struct ab_known_path cwd, home, root;
	const struct ab_known_path *temps;
	uint32_t temp_count;
	bool is_strict, is_git_strict, is_git_relaxed;
	bool is_all_git; /* nothing but a git command is checked */
	bool *wants_cwd; /* see place.h; NULL where the cwd is known */
};

/* One thing that was found. Borrowed from the arena of the check. */
struct ab_shell_found {
	const char *rule, *reason, *alternative; /* alternative may be NULL */
	uint16_t number; /* of the rule in the pack; UINT16_MAX: a git rule */
	uint8_t verdict, severity;
	struct ab_span span;
	const struct ab_word *words; /* of the command; or NULL */
	uint32_t count;
	const struct ab_chain *chain; /* wrappers, innermost first */
};

struct ab_chain;
typedef void ab_guard_report(void *user, const struct ab_shell_found *found);
/* Each resolved command, before it is judged; may be NULL. stays: its words
   live as long as the arena, and are bytes of the text as they stand. */
typedef void ab_guard_command(void *user, const struct ab_word *words,
			      uint32_t count, const struct ab_chain *chain,
			      bool stays);

struct ab_shell_request {
	const struct ab_pack *pack;
	const struct ab_shell_place_text *place;
	struct ab_arena *arena;
	ab_guard_report *report;
	ab_guard_command *command;
	void *user;
};

/* False: there was too little memory, and the verdict is DENY. */
bool ab_shell_check_text(const struct ab_shell_request *request,
			 const char *text, size_t n);
bool ab_shell_check_argv(const struct ab_shell_request *request,
			 const struct ab_word *words, size_t count);

/* Arena bytes that are enough for a text of n bytes. */
size_t ab_shell_check_room(size_t n);

/*
 * Run the examples of every rule that a layer brought; `where` of an error is
 * the line of the example.
 */
int32_t ab_pack_verify(const struct ab_pack *pack, enum ab_pack_layer layer,
		       const char *name, agentbox_error **err) AB_MUST_CHECK;

#endif
