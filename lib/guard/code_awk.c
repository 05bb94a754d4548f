/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that a program of awk writes and reads by names: `> f` and `getline <
 * f`, where -v or a beginning says what f is. What the program computes is not
 * followed.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

/* The value of `-v NAME=VALUE`, where that is the name. */
static bool is_given(const struct ab_code *k, const struct ab_value *v,
		     const struct ab_token *t, struct ab_word *value)
{
	const struct ab_word *w = &k->use->words[v->word];
	const char *name = w->text + v->at;
	uint32_t n = w->len - v->at;

	return n > t->len && name[t->len] == '=' &&
	       !memcmp(name, k->text->text + t->at, t->len) &&
	       ab_word_slice(k->c, w, v->at + t->len + 1, n - t->len - 1,
			     value) &&
	       value->len;
}

#define MAX_GIVEN 32 /* options that are looked through for each name */

static void touch(struct ab_code *k, const struct ab_token *t, bool is_write)
{
	enum ab_role_kind role = is_write ? AB_ROLE_WRITE : AB_ROLE_READ;
	const struct ab_named *n = ab_code_value(k, t);
	const struct ab_use *use = k->use;
	struct ab_word value;

	for (uint32_t i = 0; n && !is_write && i < n->count; i++)
		ab_check_path(k->c, use, role, &n->words[i]);
	/* of more nobody looks which it is */
	if (use && use->value_count > MAX_GIVEN) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_DENY, k->text);
		return;
	}
	for (uint32_t i = 0; use && i < use->value_count; i++) {
		if (!is_given(k, &use->values[i], t, &value))
			continue;
		ab_check_path(k->c, use, role, &value);
		if (is_write)
			ab_file_make(k->c, use, &value);
	}
}

void ab_code_check_awk(struct ab_code *k)
{
	struct ab_token t, last = { 0 };

	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		bool is_write = ab_code_is_sign(k, &last, '>');

		if (t.kind == AB_TOKEN_WORD &&
		    (is_write || ab_code_is_sign(k, &last, '<')))
			touch(k, &t, is_write);
		last = t;
	}
}
