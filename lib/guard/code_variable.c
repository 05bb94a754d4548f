/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands for something in an expression of an inline program without being
 * called: names that the program gave a value, also in the strings of perl and
 * php, constants of the language, and the variables of the environment that are
 * directories. Refuses to take one of several lists for another.
 */
#include "config.h"

#include "guard/code_op.h"

#include <string.h>

#define MAX_VARIABLES 16 /* in a string */

static char sign_of(const struct ab_code *k, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;
}

/* The directory at hand: __DIR__, os.curdir. */
static bool is_here(const struct ab_code *k, const struct ab_token *t,
		    const struct ab_token *owner)
{
	return (owner->len && ab_code_is_text(k, t, "curdir")) ||
	       (k->lang == AB_PHP && ab_code_is_text(k, t, "__DIR__")) ||
	       (k->lang == AB_RUBY && ab_code_is_text(k, t, "__dir__")) ||
	       (k->lang == AB_JS && ab_code_is_text(k, t, "__dirname"));
}

/* os.sep, File::SEPARATOR, sys.executable */
static bool constant(struct ab_code *k, const struct ab_token *t,
		     const struct ab_token *owner, struct ab_made *m)
{
	static const char *const slashes[] = { "sep", "SEPARATOR",
					       "DIRECTORY_SEPARATOR" };
	struct ab_word own;

	if (ab_code_is_one_of(k, t, slashes, AB_ARRAY_LEN(slashes)) &&
	    (owner->len || k->lang == AB_PHP))
		ab_made_text(k, m, "/");
	else if (ab_code_is_text(k, t, "pardir") && owner->len)
		ab_made_text(k, m, "..");
	else if (ab_code_is_text(k, t, "HOME") && k->lang == AB_JS)
		ab_made_home(k, m);
	else if (ab_code_own_program(k, t, &own) &&
		 (owner->len || k->lang == AB_PHP))
		ab_made_word(k, m, &own);
	else
		return false;
	return true;
}

/* environ["HOME"], $ENV{HOME}; behind the word. */
static bool variable(struct ab_code *k, const struct ab_token *t,
		     struct ab_lexer *behind, struct ab_made *m)
{
	static const char *const names[] = { "environ", "environb", "env",
					     "ENV", "$ENV", "$_SERVER",
					     "$_ENV" };
	struct ab_lexer x = *behind;
	struct ab_token open, name, close;

	if (!ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names)) ||
	    !ab_lexer_next(&x, &open) || !ab_lexer_next(&x, &name) ||
	    !ab_lexer_next(&x, &close) || !sign_of(k, &open) ||
	    !memchr("[{", sign_of(k, &open), 2) || !sign_of(k, &close) ||
	    !memchr("]}", sign_of(k, &close), 2))
		return false;
	*behind = x;
	name.kind = AB_TOKEN_WORD;
	if (ab_code_is_text(k, &name, "HOME") ||
	    ab_code_is_text(k, &name, "USERPROFILE"))
		ab_made_home(k, m);
	else if (ab_code_is_text(k, &name, "PWD"))
		ab_made_text(k, m, ".");
	else
		ab_made_hole(k, m);
	return true;
}

enum ab_said ab_code_said(struct ab_code *k, const struct ab_token *t,
			  const struct ab_token *owner, struct ab_lexer *x,
			  struct ab_made *m)
{
	if (is_here(k, t, owner)) {
		ab_made_text(k, m, ".");
		return AB_SAID_HERE;
	}
	return constant(k, t, owner, m) || variable(k, t, x, m) ? AB_SAID
								 : AB_SAID_NOT;
}

/* --- names -------------------------------------------------------------- */

/* The values of a name; false: it is a list, or a map, in more ways than one.
 */
bool ab_code_values_of(struct ab_code *k, const struct ab_named *n,
		      bool is_index, struct ab_made *m)
{
	struct ab_made hole;

	*m = (struct ab_made){ .words = n->words, .count = n->count,
			       .is_list = n->is_list && !n->is_map,
			       .is_path = n->is_path, .is_cut = n->is_cut };
	if (n->is_any || n->is_nested || n->is_map != is_index ||
	    (n->is_list && ab_code_alternatives(n) != 1) ||
	    (n->is_list && n->is_unknown))
		return false;
	if (n->is_unknown || m->is_cut) {
		ab_made_hole(k, &hole);
		ab_made_either(k, m, &hole);
	}
	return true;
}

bool ab_code_element_of(struct ab_code *k, const struct ab_named *n,
			struct ab_made *m)
{
	struct ab_made hole;

	*m = (struct ab_made){ .words = n->words, .count = n->count,
			       .is_cut = n->is_cut };
	if (!(n->is_list || n->is_map) || n->is_nested || !n->count)
		return false;
	if (n->is_unknown || n->is_cut) {
		ab_made_hole(k, &hole);
		ab_made_either(k, m, &hole);
	}
	return true;
}

/* What perl and php put into a string by that name. */
static const struct ab_named *find_variable(const struct ab_code *k,
					    const char *name, uint32_t len,
					    bool is_list)
{
	const char *s = k->text->text;

	for (uint32_t i = 0; i < k->name_count; i++) {
		const struct ab_named *n = &k->names[i];
		uint32_t skip = n->name.len && s[n->name.at] == '$';

		if (n->name.len - skip == len && n->count && !n->call &&
		    n->is_list == is_list && !n->is_map &&
		    !memcmp(s + n->name.at + skip, name, len))
			return n;
	}
	return NULL;
}

/* A name in a string. */
struct variable {
	uint32_t begin, end;
	struct ab_made m;
};

/* $x, ${x}, {$x}, $x[0] and @x at `at`: false: none that is known. */
static bool read_variable(struct ab_code *k, uint32_t at, uint32_t end,
			  struct variable *v)
{
	const char *s = k->text->text;
	const bool is_outer = k->lang == AB_PHP && s[at] == '{';
	const char sigil = s[at + is_outer];
	const struct ab_named *n;
	struct ab_made space;
	uint32_t from, i = at + is_outer + 1, index = 10;
	bool is_inner;

	if (!(sigil == '$' || (sigil == '@' && k->lang == AB_PERL)) ||
	    i >= end)
		return false;
	is_inner = s[i] == '{';
	from = i += is_inner;
	while (i < end && ab_code_is_letter(s[i]))
		i++;
	const uint32_t len = i - from;

	if (is_inner && (i >= end || s[i++] != '}'))
		return false;
	if (end - i > 2 && s[i] == '[' && s[i + 2] == ']') {
		index = (uint32_t)(s[i + 1] - '0');
		i += 3;
	}
	if (is_outer && (i >= end || s[i++] != '}'))
		return false;
	n = len ? find_variable(k, s + from, len, index < 10 || sigil == '@')
		: NULL;
	if (!n || !ab_code_values_of(k, n, false, &v->m) ||
	    (index < 10 && index >= v->m.count))
		return false;
	if (sigil == '@') {
		ab_made_text(k, &space, " ");
		ab_made_words(k, &v->m, &space);
	} else if (index < 10) {
		const struct ab_word w = v->m.words[index];

		ab_made_word(k, &v->m, &w);
	}
	v->begin = at;
	v->end = i;
	return true;
}

/* perl and php: what is known of the names in a string; others stay. */
bool ab_code_read_variables(struct ab_code *k, const struct ab_token *t,
			    struct ab_made *m)
{
	const char *s = k->text->text;
	uint32_t end = t->at + t->len, from = t->at, count = 0;
	struct ab_token part = *t;
	struct ab_made all, text;
	struct variable v;
	struct ab_word w;

	ab_made_text(k, &all, "");
	for (uint32_t i = t->at; i <= end; i++) {
		bool is_known = i < end && memchr("$@{", s[i], 3) &&
				!(i > t->at && s[i - 1] == '\\') &&
				read_variable(k, i, end, &v);

		if (!is_known && i < end)
			continue;
		part.at = from;
		part.len = i - from;
		if (count++ == MAX_VARIABLES ||
		    !ab_code_plain_word(k, &part, &w))
			return false;
		ab_made_word(k, &text, &w);
		ab_made_join(k, &all, &text, AB_GLUE_TEXT);
		if (!is_known)
			break;
		ab_made_join(k, &all, &v.m, AB_GLUE_TEXT);
		from = v.end;
		i = v.end - 1;
	}
	if (count < 2)
		return false;
	*m = all;
	return true;
}
