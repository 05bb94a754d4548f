/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands that wrappers run: from which of their words on. xargs.c has those
 * that put words in. Refuses to believe of an option that is not in the table
 * that it took no word: the words behind it are tried, too.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

#define MAX_LEFT_OUT 3 /* words that are left out one after the other */
#define HARMFUL	     (AB_TAINT_REMOTE | AB_TAINT_DECODE)

/* $OPTS, "$@": none, or many. */
static bool may_be_none(const struct ab_word *w)
{
	return !w->len && w->hole_count == 1 &&
	       w->holes->kind == AB_HOLE_FIELDS;
}

/* aws "$X" s3 rb: in place of a subcommand stands one word, which may be an
   option. */
static bool may_be_option(const struct ab_use *use, uint32_t operand)
{
	const struct ab_program *p = use->program;
	const struct ab_word *w = &use->words[use->operands[operand]];

	return p->has_subs && !p->depth && !operand && w->hole_count == 1 &&
	       (!w->len || (w->holes->kind == AB_HOLE_LIKELY &&
			    !w->holes->at));
}

/* The first operand that may be none, where others stand behind it, or two
   before it: `cp x /etc/y $OPTS`; alone where stdin is harmful: `sh $OPTS`. 0:
   there is none. */
static uint32_t find_none(const struct ab_use *use)
{
	uint32_t known = 0;

	for (uint32_t i = use->base[use->program->depth];
	     i < use->operand_count; i++) {
		uint32_t at = use->operands[i], next = at + 1;

		if (!may_be_none(&use->words[at]) && !may_be_option(use, i)) {
			known++;
			continue;
		}
		while (next < use->count && use->words[next].hole_count)
			next++;
		return next < use->count || known > 1 ||
			       (!known && use->in_taint & HARMFUL) ? at : 0;
	}
	return 0;
}

void ab_run_without(struct ab_check *c, const struct ab_use *use)
{
	bool was_again = c->is_again, was_perhaps = c->is_perhaps;
	uint32_t at = c->left_out < MAX_LEFT_OUT ? find_none(use) : 0, n = at;
	ab_guard_command *told = c->told;
	struct ab_word *all;

	if (!at || !(all = ab_check_alloc(c, use->count * sizeof(*all))))
		return;
	memcpy(all, use->words, at * sizeof(*all));
	/* the last time all the others go as well */
	for (uint32_t i = at + 1; i < use->count; i++) {
		if (c->left_out + 1 < MAX_LEFT_OUT ||
		    !may_be_none(&use->words[i]))
			all[n++] = use->words[i];
	}
	/* what it runs is perhaps not run, and may have been pushed */
	c->is_again = c->is_perhaps = true;
	c->told = NULL;
	c->left_out++;
	/* what else is not known of stdin may be read by the word */
	ab_check_words(c, all, n, use->in_taint & HARMFUL, use->in_text,
		       use->in_text || use->in_taint & HARMFUL);
	c->left_out--;
	c->told = told;
	c->is_again = was_again;
	c->is_perhaps = was_perhaps;
}

static bool is_text(const struct ab_word *w, const char *text)
{
	return ab_word_equals(w, text);
}

/* Words behind an option, up to `;` or `+` (find) or the end. */
static void until_role(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		uint32_t from = v->word, end = from;

		if (!(role->mask & (UINT64_C(1) << v->group)) || v->at)
			continue;
		while (end < use->count) {
			const struct ab_word *w = &use->words[end];

			if (w->len == 1 && (*w->text == ';' ||
					    (*w->text == '+' && end > from)))
				break;
			end++;
		}
		ab_wrap_find(c, use, use->words + from, end - from);
	}
}

/* docker run --entrypoint rm IMAGE -rf /: the words from operand `at` on are
   what it gets. */
static bool run_entrypoint(struct ab_check *c, const struct ab_use *use,
			   const struct ab_role *role, uint32_t at)
{
	struct ab_word *all;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];

		if (!(role->mask & (UINT64_C(1) << v->group)))
			continue;
		uint32_t from = at <= use->operand_count
					? use->operands[at - 1]
					: use->count;
		uint32_t count = use->count - from;

		all = ab_check_alloc(c, (count + 1) * sizeof(*all));
		if (!all || !ab_word_slice(c, &use->words[v->word], v->at,
					   UINT32_MAX, &all[0]))
			return true;
		if (!all[0].len && !all[0].hole_count) /* none, then */
			return false;
		if (count)
			memcpy(all + 1, use->words + from,
			       count * sizeof(*all));
		ab_run_words(c, use, all, count + 1);
		return true;
	}
	return false;
}

/* nix run nixpkgs#git -- push: git, with the words behind the dashes. */
static bool run_flake(struct ab_check *c, const struct ab_use *use,
		      uint32_t first)
{
	const struct ab_word *w = &use->words[first];
	const char *sign = w->len ? memchr(w->text, '#', w->len) : NULL;
	uint32_t count = use->count - first;
	struct ab_word *all;

	if (!sign || strcmp(use->program->name, "nix/run") != 0)
		return false;
	all = ab_check_alloc(c, (count + 1) * sizeof(*all));
	if (!all || !ab_word_slice(c, w, (uint32_t)(sign - w->text) + 1,
				   w->len, &all[0]))
		return true;
	if (count > 1 && is_text(w + 1, "--")) {
		w++;
		count--;
	}
	memcpy(all + 1, w + 1, (count - 1) * sizeof(*all));
	ab_run_words(c, use, all, count);
	return true;
}

/* npx prisma@5, uvx 'twine==6', npx @scope/name@1: how long the name is. */
static uint32_t package_name(const struct ab_word *w)
{
	static const char signs[] = "@=<>~![";
	uint32_t i = 1;

	while (i < w->len && !memchr(signs, w->text[i], sizeof(signs) - 1))
		i++;
	return i;
}

/* The words that a runner of packages gets, without the version. */
static bool run_package(struct ab_check *c, const struct ab_use *use,
			uint32_t first)
{
	const struct ab_word *w = &use->words[first];
	uint32_t count = use->count - first, len;
	struct ab_word *all;

	if (!use->program->is_package || !w->len ||
	    (len = package_name(w)) >= w->len)
		return false;
	all = ab_check_alloc(c, count * sizeof(*all));
	if (!all || !ab_word_slice(c, w, 0, len, &all[0]))
		return true;
	memcpy(all + 1, w + 1, (count - 1) * sizeof(*all));
	ab_run_words(c, use, all, count);
	return true;
}

void ab_run_wrap(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role)
{
	uint32_t base = use->base[use->program->depth];
	uint32_t n = use->operand_count - base;

	if (role->select == AB_SEL_UNTIL) {
		until_role(c, use, role);
		return;
	}
	if (run_entrypoint(c, use, role, base + role->a))
		return;
	if (n < role->a) {
		if (ab_has_role(use->program, AB_ROLE_STDIN_ARGS) &&
		    role->a == 1)
			ab_wrap_xargs(c, use, NULL, 0);
		return;
	}
	uint32_t first = use->operands[base + role->a - 1];

	if (ab_has_role(use->program, AB_ROLE_STDIN_ARGS)) {
		ab_wrap_xargs(c, use, use->words + first, use->count - first);
		return;
	}
	if (run_flake(c, use, first))
		return;
	if (use->program->has_commands) {
		ab_run_commands(c, use, first);
		return;
	}
	if (is_text(&use->words[first], "--"))
		first++;
	if (first < use->count && run_package(c, use, first))
		return;
	if (AB_UNLIKELY(role->mask) && use->value_count)
		ab_run_mounted(c, use, first);
	/* an option that is not in the table may have taken the first words */
	uint32_t tries = use->is_unsure ? 3 : 1;

	for (uint32_t i = 0; i < tries && first + i < use->count; i++) {
		if (!i || ab_names_program(c, &use->words[first + i]))
			ab_run_words(c, use, use->words + first + i,
				     use->count - first - i);
	}
}
