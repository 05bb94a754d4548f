/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The git check on any words: NUL-separated, the first byte says profile and
 * which word gets a hole of which kind. It ends, stays inside its input
 * (sanitizers watch), points at a word that is there, and never allows with
 * a hole what it denies without, nor in strict what it denies in default.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/git.h"

#define MAX_WORDS 256
#define TEXT(s) {s, sizeof(s) - 1}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t split(const char *text, size_t n, struct ab_word *words)
{
	size_t count = 0;
	size_t begin = 0;

	for (size_t i = 0; i <= n && count < MAX_WORDS; i++) {
		if (i < n && text[i])
			continue;
		words[count++] = (struct ab_word){
			.text = text + begin, .len = (uint32_t)(i - begin)};
		begin = i + 1;
	}
	return count;
}

static void check_result(const struct ab_git_result *r,
			 const struct ab_word *words, size_t count)
{
	if (r->verdict < AB_GIT_ASK)
		return;
	if (!r->rule || !r->reason)
		abort();
	if (r->word < count ? r->end > words[r->word].len || r->begin > r->end
			    : r->env != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ab_git_text temp[] = {TEXT("/tmp")};
	struct ab_word words[MAX_WORDS];
	struct ab_hole hole = {0};
	struct ab_word value = {.text = "cat", .len = 3};
	struct ab_git_assign assign = {.name = TEXT("GIT_PAGER"),
				       .value = &value};
	struct ab_git_context context = {
		.cwd = TEXT("/srv/repo/sub"), .worktree = TEXT("/srv/repo"),
		.home = TEXT("/home/u"), .temp_dirs = temp, .temp_count = 1,
		.env = &assign, .env_count = 1};
	struct ab_git_result exact, result, strict;
	size_t count, at;

	if (size < 2)
		return 0;
	context.profile = AB_GIT_DEFAULT;
	count = split((const char *)data + 2, size - 2, words);
	ab_git_check(words, count, &context, &exact);
	check_result(&exact, words, count);

	context.profile = AB_GIT_STRICT;
	ab_git_check(words, count, &context, &strict);
	if (strict.verdict < exact.verdict || strict.verdict == AB_GIT_ASK)
		abort();

	context.profile = (enum ab_git_profile)(data[0] % 3);
	at = data[1] % count;
	hole.kind = (enum ab_hole_kind)(data[0] / 3 % 6 + 1);
	hole.at = words[at].len / 2;
	hole.len = hole.kind <= AB_HOLE_FIELDS ? 0 : words[at].len - hole.at;
	words[at].holes = &hole;
	words[at].hole_count = 1;
	ab_git_check(words, count, &context, &result);
	check_result(&result, words, count);
	if (at && exact.verdict == AB_GIT_DENY &&
	    hole.kind == AB_HOLE_LIKELY && result.verdict < AB_GIT_ASK)
		abort();
	return 0;
}
