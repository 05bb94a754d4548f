/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a decision: what the guards write and the host reads.
 *
 *   d = ab_decision_use(&decision, err);      makes one when there is none
 *   ab_decision_begin(d, guard, kind, text, n, room, err);  DENY from here on
 *   ... parse d->text, allocate from d->arena ...
 *   c = ab_decision_add_command(d, &command, found);  each command, once
 *   ab_decision_add(d, &finding);                each finding, any order
 *   ab_decision_end(d, base);                 the worst of `base` and findings
 *
 * A decision that is not ended is DENY, one whose memory ran out is DENY, and
 * ending it twice changes nothing. Verdicts only ever go up.
 */
#ifndef AB_GUARD_DECISION_H
#define AB_GUARD_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/guard.h"
#include "base/arena.h"
#include "base/attr.h"
#include "shell/word.h"

AB_DEFINE_AUTO(agentbox_decision, agentbox_decision_free)

/* Findings that are kept; more are counted, and the worst is always kept. */
#define AB_MAX_FINDINGS 64
/* Resolved commands that are kept for show; the last ones of them only for
   commands in which something was found. */
#define AB_MAX_COMMANDS 256
#define AB_MAX_SHOWN_COMMANDS 192
/* No command: a finding about the text or a path. */
#define AB_NO_COMMAND UINT32_MAX

enum ab_decision_kind {
	AB_DECIDE_NOTHING = 0,
	AB_DECIDE_PATH,
	AB_DECIDE_SHELL,
	AB_DECIDE_ARGV,
	AB_DECIDE_GIT,
	AB_DECIDE_SCOPE
};

/*
 * Strings are NUL-terminated and live as long as the decision's next use:
 * static, of the guard (which the decision holds), or in the arena.
 */
struct ab_finding {
	int32_t verdict;	 /* AGENTBOX_VERDICT_* */
	int32_t severity;	 /* AGENTBOX_SEVERITY_* */
	const char *rule;	 /* never NULL */
	const char *reason;	 /* never NULL */
	const char *alternative; /* or NULL */
	struct ab_span span;	 /* of the text; 0, 0: none */
	const char *where;	 /* JSON pointer, or NULL: no such place */
	uint32_t command;	 /* from ab_decision_add_command() */
	uint32_t word;		 /* of that command; UINT32_MAX: none */
};

/* A command as it would be run. */
struct ab_resolved {
	const struct ab_word *words;
	uint32_t count;
	const char *const *wrappers; /* outermost first; static strings */
	uint32_t wrapper_count;
	/* the words are as they would be shown and stay where they are */
	bool stays;
};

struct agentbox_decision {
	struct ab_arena arena; /* over `memory`; empty again at each begin */
	void *memory;	       /* owned */
	size_t memory_size;
	agentbox_guard *guard; /* owned reference of the last check; or NULL */
	enum ab_decision_kind kind;
	const char *text; /* a copy in the arena, with a NUL behind it */
	size_t text_len;
	const char *kept; /* bytes that stay as they are: words in it are */
	size_t kept_len;  /* not copied before they are shown; or 0 */

	int32_t verdict; /* once it is_ended; until then it is DENY */
	bool is_ended;
	bool is_failed; /* something could not be kept: DENY */
	bool has_best;
	struct ab_finding best; /* what decided */
	struct ab_finding findings[AB_MAX_FINDINGS];
	uint32_t finding_count; /* kept */
	uint32_t finding_total;
	struct ab_resolved commands[AB_MAX_COMMANDS];
	uint32_t command_count;
	uint32_t command_total;
	char message[512]; /* a reason made for this check: ab_decision_say() */
};

/*
 * *decision, made when it is NULL; what it held of the last check is gone.
 * NULL with *err set on EINVAL (no address) and ENOMEM.
 */
agentbox_decision *ab_decision_use(agentbox_decision **decision,
				   agentbox_error **err);

/*
 * EINVAL when p is in the decision's own memory: a check with it writes over
 * what it lent, and may free it. For all that is to be checked, before begin.
 */
int32_t ab_decision_check_input(const agentbox_decision *d, const void *p,
				agentbox_error **err);

/*
 * Forget the last check; from here on DENY. `guard` is referenced (NULL is
 * accepted). The arena has `room` bytes besides a copy of the text; they are
 * not touched before they are used. 0, or ENOMEM, ELIMIT.
 */
int32_t ab_decision_begin(agentbox_decision *d, agentbox_guard *guard,
			  enum ab_decision_kind kind, const char *text,
			  size_t n, size_t room, agentbox_error **err);

/*
 * Copies words, unless they stay, and wrappers (text and span; holes and map
 * stay behind) to the far end of the arena. The text of a word in d->kept is
 * copied, with a NUL behind it, when the decision ends and only for the
 * command that decided. `is_found`: some finding will be about it. The index
 * for ab_finding.command, or AB_NO_COMMAND when the list is full, which is no
 * failure: only what is shown gets shorter.
 */
uint32_t ab_decision_add_command(agentbox_decision *d,
				 const struct ab_resolved *command,
				 bool is_found);

/* The same for most commands: no wrapper, words that stay, nothing found. */
static inline uint32_t ab_decision_add_plain(agentbox_decision *d,
					     const struct ab_word *words,
					     uint32_t count)
{
	d->command_total++;
	if (d->command_count >= AB_MAX_SHOWN_COMMANDS)
		return AB_NO_COMMAND;
	d->commands[d->command_count] = (struct ab_resolved){
		.words = words, .count = count, .stays = true
	};
	return d->command_count++;
}

/* Kept when there is room; the verdict takes it into account in any case. */
void ab_decision_add(agentbox_decision *d, const struct ab_finding *finding);

/* Something is missing: the verdict will be DENY whatever was found. */
void ab_decision_fail(agentbox_decision *d);

/* A reason that names things: text in d->message, cut where it is full. */
const char *ab_decision_say(agentbox_decision *d, const char *fmt, ...)
	AB_PRINTF(2, 3);

/*
 * The verdict is now the worst of `base` (what it is when nothing was found,
 * AGENTBOX_VERDICT_ALLOW at the end of a check that saw everything) and the
 * findings. Returns it.
 */
int32_t ab_decision_end(agentbox_decision *d, int32_t base);

/*
 * What decided. NULL: an ALLOW in which nothing was found. For NULL and for a
 * decision that is not ended a finding that says so.
 */
const struct ab_finding *ab_decision_deciding(const agentbox_decision *d);

#endif
