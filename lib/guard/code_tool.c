/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that an inline program runs without saying where they are: itself,
 * sys.executable, and in python a path of which only the name is known, exe =
 * os.path.join(d, "a.out"). That is what such a word of a shell is, "$d/a.out":
 * a program of that name. Refuses it where the program has something from the
 * network, which may be what lies there, and a name that is ever given
 * something else.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

bool ab_code_own_program(const struct ab_code *k, const struct ab_token *t,
			 struct ab_word *w)
{
	static const struct {
		const char *name, *program;
		uint8_t lang;
	} own[] = {
		{ "executable", "python3", AB_PY },
		{ "execPath", "node", AB_JS },
		{ "RbConfig", "ruby", AB_RUBY },
		{ "PHP_BINARY", "php", AB_PHP },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(own); i++) {
		if (own[i].lang == k->lang &&
		    ab_code_is_text(k, t, own[i].name)) {
			*w = (struct ab_word){
				.text = own[i].program,
				.len = (uint32_t)strlen(own[i].program),
				.span = k->text->span,
			};
			return true;
		}
	}
	return false;
}

/* Behind all that is not known a slash stands, and a name. */
static bool has_name(const struct ab_word *w)
{
	const char *slash = memrchr(w->text, '/', w->len);
	uint32_t from = slash ? (uint32_t)(slash - w->text) + 1 : w->len;

	if (from == w->len || !w->hole_count)
		return false;
	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind != AB_HOLE_BYTES ||
		    w->holes[i].at + w->holes[i].len >= from)
			return false;
	for (uint32_t i = from; i < w->len; i++)
		if (!ab_code_is_letter(w->text[i]) &&
		    !(i > from && memchr(".-+", w->text[i], 3)))
			return false;
	return true;
}

static bool ends(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return !ab_lexer_next(&x, &t) || t.is_line ||
	       (t.kind == AB_TOKEN_SIGN &&
		memchr(",)];", k->text->text[t.at], 4));
}

static bool read_path(struct ab_code *k, struct ab_lexer *x, struct ab_made *m)
{
	return ab_code_read_expr(k, x, m, AB_NEED_WORD) && ends(k, *x) &&
	       m->count == 1 && !m->is_list && !m->is_cut &&
	       has_name(&m->words[0]);
}

void ab_code_note_tool(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name)
{
	struct ab_made m;

	if (k->lang != AB_PY || k->tool_count == AB_CODE_TOOLS ||
	    ab_code_named(k, name) || ab_code_is_linked(k, name) ||
	    !read_path(k, &x, &m))
		return;
	k->tools[k->tool_count++] = (struct ab_tool){ .name = *name,
						      .word = m.words[0] };
}

void ab_code_drop_tool(struct ab_code *k, const struct ab_token *name)
{
	for (uint32_t i = 0; i < k->tool_count; i++)
		if (ab_code_is_same(k, &k->tools[i].name, name))
			k->tools[i].word.len = 0;
}

/* exe, str(exe) */
static const struct ab_tool *tool_at(const struct ab_code *k,
				     struct ab_lexer *x)
{
	struct ab_token t;
	bool is_text;

	if (!ab_lexer_next(x, &t))
		return NULL;
	is_text = ab_code_is_text(k, &t, "str");
	if (is_text && (!ab_lexer_next(x, &t) || !ab_code_is_sign(k, &t, '(') ||
			!ab_lexer_next(x, &t)))
		return NULL;
	for (uint32_t i = 0; i < k->tool_count; i++) {
		struct ab_token close;

		if (t.kind == AB_TOKEN_WORD && k->tools[i].word.len &&
		    ab_code_is_same(k, &k->tools[i].name, &t))
			return !is_text || (ab_lexer_next(x, &close) &&
					    ab_code_is_sign(k, &close, ')'))
				       ? &k->tools[i]
				       : NULL;
	}
	return NULL;
}

bool ab_code_read_tool(struct ab_code *k, struct ab_lexer *x, struct ab_made *m)
{
	struct ab_lexer behind = *x;
	const struct ab_tool *tool;

	if (k->lang != AB_PY || ab_code_fetches(k) || ab_code_has_socket(k))
		return false;
	tool = tool_at(k, &behind);
	if (tool && ends(k, behind)) {
		ab_made_word(k, m, &tool->word);
		*x = behind;
		return true;
	}
	behind = *x;
	if (!read_path(k, &behind, m))
		return false;
	*x = behind;
	return true;
}
