/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collecting findings into one verdict. It refuses to be read as anything but
 * DENY before it was ended or when something was lost on the way.
 * Spec: DESIGN.md section 7, guard/decision.h.
 */
#include "config.h"

#include "guard/decision.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/key.h"
#include "base/limits.h"

/* What stays with a decision from one check to the next; more of it only
   while the checks are as large. */
#define KEEP_BYTES ((size_t)8 << 20)
#define LEAST_BYTES ((size_t)8 << 10)

static const struct ab_finding unfinished = {
	.verdict = AGENTBOX_VERDICT_DENY,
	.severity = AGENTBOX_SEVERITY_HIGH,
	.rule = "guard.unfinished",
	.reason = "the check did not come to an end",
	.command = AB_NO_COMMAND,
	.word = UINT32_MAX,
};

static const struct ab_finding failed = {
	.verdict = AGENTBOX_VERDICT_DENY,
	.severity = AGENTBOX_SEVERITY_HIGH,
	.rule = "guard.limit",
	.reason = "the check ran into a limit or out of memory",
	.alternative = "split it into smaller steps",
	.command = AB_NO_COMMAND,
	.word = UINT32_MAX,
};

int32_t agentbox_decision_new(agentbox_decision **decision,
			      agentbox_error **err)
{
	agentbox_decision *d;

	if (!decision)
		return ab_error_set(err, AGENTBOX_EINVAL, "decision",
				    "decision must not be NULL");
	d = ab_new(agentbox_decision);
	if (!d)
		return ab_error_nomem(err);
	d->text = "";
	*decision = d;
	return 0;
}

void agentbox_decision_free(agentbox_decision *d)
{
	if (!d)
		return;
	agentbox_guard_unref(d->guard);
	free(d->memory);
	free(d);
}

static void forget(agentbox_decision *d, enum ab_decision_kind kind)
{
	d->kind = kind;
	d->text = "";
	d->text_len = 0;
	d->is_ended = d->is_failed = d->has_best = false;
	d->finding_count = d->finding_total = 0;
	d->command_count = d->command_total = 0;
	d->kept_len = 0;
	d->arena = (struct ab_arena){ 0 };
}

agentbox_decision *ab_decision_use(agentbox_decision **decision,
				   agentbox_error **err)
{
	if (decision && *decision) {
		/* a check that fails at once must not show the one before */
		forget(*decision, AB_DECIDE_NOTHING);
		return *decision;
	}
	if (agentbox_decision_new(decision, err) < 0)
		return NULL;
	return *decision;
}

static void hold_guard(agentbox_decision *d, agentbox_guard *guard)
{
	if (d->guard == guard)
		return;
	agentbox_guard_unref(d->guard);
	d->guard = agentbox_guard_ref(guard);
}

/* What a check of a large text writes is spread over more small pages than a
   processor remembers the places of. Only a hint: madvise(2), MADV_HUGEPAGE. */
static void prefer_large_pages(void *memory, size_t size)
{
	const size_t page = 4096;
	size_t skip = -(uintptr_t)memory & (page - 1);

	if (size > KEEP_BYTES)
		(void)madvise((char *)memory + skip,
			      (size - skip) & ~(page - 1), MADV_HUGEPAGE);
}

/* At least `size` bytes; what was in them is gone. */
static bool make_room(agentbox_decision *d, size_t size)
{
	size_t want = LEAST_BYTES;

	if (size <= d->memory_size &&
	    (d->memory_size <= KEEP_BYTES || size > d->memory_size / 8))
		return true;
	while (want < size)
		want *= 2;
	free(d->memory);
	d->memory_size = 0;
	/* not zeroed: a large room costs what is used of it */
	d->memory = ab_realloc(NULL, want, 1);
	if (!d->memory)
		return false;
	d->memory_size = want;
	prefer_large_pages(d->memory, want);
	return true;
}

static inline char *copy_high(agentbox_decision *d, const void *p, size_t n)
{
	char *q = ab_arena_high(&d->arena, n + 1);

	if (!q)
		return NULL;
	ab_copy_text(q, p, n);
	q[n] = '\0';
	return q;
}

int32_t ab_decision_check_input(const agentbox_decision *d, const void *p,
				agentbox_error **err)
{
	uintptr_t at = (uintptr_t)p;

	if (at - (uintptr_t)d->memory >= d->memory_size &&
	    at - (uintptr_t)d->message >= sizeof(d->message))
		return 0;
	return ab_error_set(err, AGENTBOX_EINVAL, "decision",
			    "what is to be checked was lent by this decision; "
			    "copy it, or use another one");
}

int32_t ab_decision_begin(agentbox_decision *d, agentbox_guard *guard,
			  enum ab_decision_kind kind, const char *text,
			  size_t n, size_t room, agentbox_error **err)
{
	char *copy;

	hold_guard(d, guard);
	forget(d, kind);
	if (n > AB_MAX_CHECK_TEXT || room > AB_MAX_CHECK_MEMORY)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "%zu bytes to check; at most %u", n,
				    AB_MAX_CHECK_TEXT);
	if (!make_room(d, room + n + 64))
		return ab_error_nomem(err);
	ab_arena_init(&d->arena, d->memory, d->memory_size);
	copy = copy_high(d, text, n);
	if (!copy)
		return ab_error_nomem(err);
	d->text = copy;
	d->text_len = n;
	return 0;
}

static bool is_kept(const agentbox_decision *d, const char *text)
{
	return (uintptr_t)text - (uintptr_t)d->kept < d->kept_len;
}

/* What is shown of a word; its text stays where it is. Field by field: a
   whole one would be put together elsewhere first. */
static void show_word(const struct ab_word *w, struct ab_word *out)
{
	out->text = w->text;
	out->len = w->len;
	out->hole_count = 0;
	out->holes = NULL;
	out->span = w->span;
	out->map = NULL;
	out->map_count = 0;
	out->is_quoted = w->is_quoted;
}

static inline bool copy_wrappers(agentbox_decision *d,
				 const struct ab_resolved *from,
				 struct ab_resolved *to)
{
	if (AB_LIKELY(!from->wrapper_count))
		return true;
	size_t size = from->wrapper_count * sizeof(*to->wrappers);
	const char **wrappers = ab_arena_high(&d->arena, size);

	if (!wrappers)
		return false;
	memcpy(wrappers, from->wrappers, size);
	to->wrappers = wrappers;
	return true;
}

static bool copy_command(agentbox_decision *d, const struct ab_resolved *from,
			 struct ab_resolved *to)
{
	const struct ab_word *end = from->words + from->count;
	struct ab_word *words, *out;

	*to = *from;
	if (AB_LIKELY(from->stays))
		return copy_wrappers(d, from, to);
	words = ab_arena_high(&d->arena, from->count * sizeof(*words));
	if (!words)
		return false;
	out = words;
	for (const struct ab_word *w = from->words; w < end; w++, out++) {
		show_word(w, out);
		if (is_kept(d, w->text))
			continue;
		out->text = copy_high(d, w->text, w->len);
		if (!out->text)
			return false;
	}
	to->words = words;
	return copy_wrappers(d, from, to);
}

uint32_t ab_decision_add_command(agentbox_decision *d,
				 const struct ab_resolved *command,
				 bool is_found)
{
	uint32_t max = is_found ? AB_MAX_COMMANDS : AB_MAX_SHOWN_COMMANDS;

	d->command_total++;
	if (d->command_count >= max)
		return AB_NO_COMMAND;
	if (!copy_command(d, command, &d->commands[d->command_count])) {
		ab_decision_fail(d);
		return AB_NO_COMMAND;
	}
	return d->command_count++;
}

/* Verdict first, then severity; of equals the first stays. */
static bool is_worse(const struct ab_finding *a, const struct ab_finding *b)
{
	if (a->verdict != b->verdict)
		return a->verdict > b->verdict;
	return a->severity > b->severity;
}

/* The same of the same place: what is gone through more than once. */
static bool is_said(const agentbox_decision *d, const struct ab_finding *f)
{
	for (uint32_t i = 0; i < d->finding_count; i++) {
		const struct ab_finding *one = &d->findings[i];

		if (one->rule == f->rule && one->reason == f->reason &&
		    one->verdict == f->verdict && one->where == f->where &&
		    one->span.begin == f->span.begin &&
		    one->span.end == f->span.end && f->span.end)
			return true;
	}
	return false;
}

void ab_decision_add(agentbox_decision *d, const struct ab_finding *finding)
{
	struct ab_finding f = *finding;

	/* NONE counts as DENY, and so does what is no verdict at all */
	if (f.verdict < AGENTBOX_VERDICT_ALLOW ||
	    f.verdict > AGENTBOX_VERDICT_DENY)
		f.verdict = AGENTBOX_VERDICT_DENY;
	if (!d->has_best || is_worse(&f, &d->best)) {
		d->best = f;
		d->has_best = true;
	}
	if (is_said(d, &f))
		return;
	if (d->finding_count < AB_MAX_FINDINGS)
		d->findings[d->finding_count++] = f;
	d->finding_total++;
}

void ab_decision_fail(agentbox_decision *d)
{
	d->is_failed = true;
}

const char *ab_decision_say(agentbox_decision *d, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(d->message, sizeof(d->message), fmt, args);
	va_end(args);
	return d->message;
}

/* The command that decided; with none, the first. */
static const struct ab_resolved *deciding_command(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	if (!d || !d->is_ended || !d->command_count)
		return NULL;
	if (f && f->command < d->command_count)
		return &d->commands[f->command];
	return f && d->command_count > 1 ? NULL : &d->commands[0];
}

/* Who reads an argument gets a string. */
static bool end_words(agentbox_decision *d)
{
	const struct ab_resolved *c = deciding_command(d);
	struct ab_word *words = c ? (struct ab_word *)(uintptr_t)c->words
				  : NULL;

	for (uint32_t i = 0; c && i < c->count; i++) {
		if (!is_kept(d, words[i].text))
			continue;
		words[i].text = copy_high(d, words[i].text, words[i].len);
		if (!words[i].text)
			return false;
	}
	return true;
}

int32_t ab_decision_end(agentbox_decision *d, int32_t base)
{
	struct ab_finding f = unfinished;

	if (d->is_ended)
		return d->verdict;
	if (d->is_failed || d->arena.is_full)
		ab_decision_add(d, &failed);
	if (base < AGENTBOX_VERDICT_ALLOW || base > AGENTBOX_VERDICT_DENY)
		base = AGENTBOX_VERDICT_DENY;
	f.verdict = base;
	if (base > AGENTBOX_VERDICT_ALLOW &&
	    (!d->has_best || d->best.verdict < base))
		ab_decision_add(d, &f);
	d->verdict = d->has_best ? d->best.verdict : base;
	d->is_ended = true;
	if (!end_words(d)) {
		d->command_count = 0;
		ab_decision_add(d, &failed);
		d->verdict = d->best.verdict;
	}
	return d->verdict;
}

/* --- reading ----------------------------------------------------------- */

const struct ab_finding *ab_decision_deciding(const agentbox_decision *d)
{
	if (!d || !d->is_ended)
		return &unfinished;
	return d->has_best ? &d->best : NULL;
}

int32_t agentbox_decision_get_verdict(const agentbox_decision *d)
{
	if (!d || !d->is_ended || d->verdict == AGENTBOX_VERDICT_NONE)
		return AGENTBOX_VERDICT_DENY;
	return d->verdict;
}

int32_t agentbox_decision_get_severity(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f ? f->severity : AGENTBOX_SEVERITY_NONE;
}

const char *agentbox_decision_get_rule(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f ? f->rule : "";
}

const char *agentbox_decision_get_reason(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f ? f->reason : "";
}

const char *agentbox_decision_get_alternative(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f && f->alternative ? f->alternative : "";
}

size_t agentbox_decision_get_begin(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f ? f->span.begin : 0;
}

size_t agentbox_decision_get_end(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f ? f->span.end : 0;
}

const char *agentbox_decision_get_where(const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	return f && f->where ? f->where : "";
}

size_t agentbox_decision_get_argc(const agentbox_decision *d)
{
	const struct ab_resolved *c = deciding_command(d);

	return c ? c->count : 0;
}

const char *agentbox_decision_get_arg(const agentbox_decision *d, size_t i,
				      size_t *n)
{
	const struct ab_resolved *c = deciding_command(d);

	if (!c || i >= c->count)
		return NULL;
	if (n)
		*n = c->words[i].len;
	return c->words[i].len ? c->words[i].text : "";
}

const char *agentbox_decision_get_wrapper(const agentbox_decision *d, size_t i)
{
	const struct ab_resolved *c = deciding_command(d);

	return c && i < c->wrapper_count ? c->wrappers[i] : NULL;
}
