/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that run commands where they are no more than a value: {"x":
 * os.system}, (lambda f: f("x"))(os.system), each(&method(:system)),
 * array_walk($a, "system"). What they are called with is not followed: each
 * string of such a program may be the command, and each list of strings. Where
 * none of those does harm it is nothing but a mention, as in help(os.system).
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_WORDS 16 /* of a list; those behind say little */

/* {"x": os.system}, [os.system, f]: what stands behind it is not its own. */
static bool is_kept(const struct ab_code *k, uint32_t at)
{
	char last;

	while (at && (ab_code_is_letter(k->text->text[at - 1]) ||
		      k->text->text[at - 1] == '.'))
		at--;
	last = ab_code_last_byte(k->text, &at);
	return last && memchr(":[{=", last, 4);
}

void ab_code_note_handed(struct ab_code *k, const struct ab_token *t,
			 const struct ab_args *a)
{
	char next = ab_code_next_byte(k->text, t->at + t->len), last;
	uint32_t at = t->at;

	/* a class is also a type */
	if (!next || !memchr(",)]}", next, 4) || ab_code_is_text(k, t, "Popen"))
		return;
	last = ab_code_last_byte(k->text, &at);
	if (!last || (k->lang == AB_RUBY ? last != ':'
					 : !memchr(".[(", last, 3)))
		return;
	/* map(os.system, ["x", "y"]): no word of those is the next one's */
	k->has_handed |= (!a->count || next == ',' ||
			  (last == '.' && is_kept(k, at))) &&
			 ab_code_names_command(k, t) &&
			 (last != '(' || a->is_run);
}

/* getattr(os, "system")("x"): not far before it. */
static bool is_got(const struct ab_code *k, uint32_t at)
{
	uint32_t from = at > 64 ? at - 64 : 0;

	return ab_code_is_sign(k, &k->before, ',') &&
	       memmem(k->text->text + from, at - from, "getattr", 7);
}

void ab_code_handed_string(struct ab_code *k, const struct ab_token *t)
{
	static const char *const takers[] = { "methodcaller", "attrgetter" };
	char next;

	if (!(k->lang & (AB_PHP | AB_PY | AB_LUA)) ||
	    ab_code_call_of(k, k->text->text + t->at, t->len) !=
		    AB_CALL_SHELL || !ab_code_names_command(k, t))
		return;
	next = ab_code_next_byte(k->text, k->x.pos);
	if (k->lang == AB_PHP)
		k->has_handed |= next && memchr(",)]", next, 3) &&
				 k->before.kind == AB_TOKEN_SIGN;
	else if (k->lang == AB_PY)
		k->has_handed |=
			(ab_code_is_sign(k, &k->before, '(') &&
			 ab_code_is_one_of(k, &k->behind, takers,
					   AB_ARRAY_LEN(takers))) ||
			(next == ')' && is_got(k, t->at));
	else
		k->has_handed |= ab_code_is_sign(k, &k->before, '[') &&
				 next == ']';
}

#define MAX_NAME 32

/* Behind the string and what joins it to the next one; false: nothing does. */
static bool next_piece(const struct ab_code *k, struct ab_lexer *x,
		       struct ab_token *t)
{
	return ab_lexer_next(x, t) && ab_code_is_joint(k, t) &&
	       ab_lexer_next(x, t) &&
	       (t->kind == AB_TOKEN_STRING ||
		(k->lang == AB_LUA && ab_code_is_joint(k, t) &&
		 ab_lexer_next(x, t) && t->kind == AB_TOKEN_STRING));
}

/* A string in front was joined to this one: it has been gone through. */
static bool is_later_piece(const struct ab_code *k)
{
	return ab_code_is_joint(k, &k->before) &&
	       (k->behind.kind == AB_TOKEN_STRING ||
		(k->lang == AB_LUA && ab_code_is_joint(k, &k->behind)));
}

/* c["exec" + "Sync"](...), send("sys" + "tem", ...): who takes the name of
   such a call apart does not want it to be seen. */
void ab_code_pieced_name(struct ab_code *k, const struct ab_token *t)
{
	static const char *const others[] = { "child_process", "subprocess",
					      "__builtins__", "mainModule",
					      "require", "eval" };
	struct ab_lexer x = k->x;
	struct ab_token piece = *t;
	char name[MAX_NAME];
	uint32_t len = 0, n = 0;
	bool is_one = false;
	uint8_t call;

	if (AB_LIKELY(!memchr("+.", ab_code_next_byte(k->text, x.pos), 2)) ||
	    is_later_piece(k))
		return;
	do {
		if (piece.len > MAX_NAME - len)
			return;
		memcpy(name + len, k->text->text + piece.at, piece.len);
		len += piece.len;
		n++;
	} while (next_piece(k, &x, &piece));
	if (n < 2)
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(others); i++)
		is_one |= strlen(others[i]) == len &&
			  !memcmp(others[i], name, len);
	call = ab_code_call_of(k, name, len);
	if (!is_one && call != AB_CALL_SHELL && call != AB_CALL_CODE)
		return;
	ab_check_known(k->c, AB_KNOWN_OPAQUE, AB_V_ASK, k->text);
	k->has_handed = true;
}

/* A list of strings: what they are together. */
struct list {
	struct ab_word words[MAX_WORDS];
	uint32_t count;
};

static void end_list(struct ab_code *k, struct list *l)
{
	if (l->count > 1)
		ab_check_words(k->c, l->words, l->count, 0, NULL, false);
	l->count = 0;
}

void ab_code_check_handed(struct ab_code *k)
{
	struct list l = { .count = 0 };
	struct ab_token t;
	struct ab_word w;

	ab_lexer_rewind(&k->x);
	k->last = NULL;
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		if (t.kind != AB_TOKEN_STRING) {
			if (!ab_code_is_sign(k, &t, ','))
				end_list(k, &l);
			continue;
		}
		if (!ab_code_plain_word(k, &t, &w) || !w.len)
			continue;
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
		if (l.count < MAX_WORDS)
			l.words[l.count++] = w;
	}
	end_list(k, &l);
}
