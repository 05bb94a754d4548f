/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements in a text: SQL that reaches a client, calls in an inline
 * program. The text is cut into tokens (words, strings, signs; comments go),
 * the tokens into statements, and the token rules of the language are looked
 * for in each. This is no parser: it does not know what a statement means.
 */
#include "config.h"

#include "guard/check.h"
#include "guard/text.h"

#include <string.h>
#include <strings.h>

/* Tokens of a statement that are looked at together, and how many of them
   stay when a statement is longer. */
#define WINDOW 512
#define OVERLAP 16

/* --- rules -------------------------------------------------------------- */

struct window {
	struct ab_check *c;
	const char *text;
	struct ab_token tokens[WINDOW];
	uint32_t count;
	bool is_start; /* tokens[0] begins a statement */
	/* the tokens of a hash in their order, index + 1 */
	uint16_t first[AB_TEXT_ANY], next[WINDOW];
};

/* Nothing is put into it: "$x", "#{x}", "@x". */
static bool is_constant(const char *text, uint32_t len)
{
	return !memchr(text, '$', len) && !memchr(text, '#', len) &&
	       !memchr(text, '@', len);
}

/* %string and the like; each begins with another letter. */
static inline bool is_sort(const char *want, const char *sort)
{
	return *want == '%' && want[1] == sort[1] && !strcmp(want, sort);
}

/* It has an address of what changes repositories that others see. */
static bool is_forge(const char *text, uint32_t len)
{
	static const char *const names[] = { "api.github.com/",
					     "uploads.github.com/",
					     "api.bitbucket.org/",
					     "/api/v1/repos/" };

	if (!memmem(text, len, "://", 3) || memmem(text, len, "/graphql", 8) ||
	    memmem(text, len, "localhost", 9) ||
	    memmem(text, len, "127.0.0.1", 9))
		return false;
	if (memmem(text, len, "gitlab", 6) && memmem(text, len, "/api/v4/", 8))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (memmem(text, len, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static bool are_equal(const struct window *w, const struct ab_token *a,
		      const struct ab_token *b)
{
	return a->kind == b->kind && a->len == b->len &&
	       !strncasecmp(w->text + a->at, w->text + b->at, a->len);
}

/* It begins with an address that is not this machine's. */
static bool is_address(const char *text, uint32_t len)
{
	const struct ab_word w = { .text = text, .len = len };

	return memmem(text, len < 12 ? len : 12, "://", 3) &&
	       !ab_value_is_localhost(&w);
}

/* A variable of the environment, named like a secret. */
static bool is_secret(const char *text, uint32_t len)
{
	char name[64];

	if (len >= sizeof(name) || memchr(text, '\0', len))
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return ab_value_is_secret(name);
}

/* A word, or a sign that is one of those. */
static bool is_part(const struct window *w, const struct ab_token *t,
		    const char *signs)
{
	return t->kind == AB_TOKEN_SIGN ?
		       t->len == 1 && strchr(signs, w->text[t->at]) :
		       t->kind == AB_TOKEN_WORD && *signs == '.';
}

/* id = id, t.id >= t.id: the name in front of the sign once more, and nothing
   behind it narrows that. */
static bool is_same(const struct window *w, uint32_t i)
{
	static const char *const ends[] = { "or", "limit", "order",
					    "returning" };
	uint32_t sign = i, begin;
	const struct ab_token *t;

	while (sign && is_part(w, &w->tokens[sign - 1], "=<>"))
		sign--;
	for (begin = sign; begin && sign - begin < 5 &&
			   is_part(w, &w->tokens[begin - 1], ".");)
		begin--;
	/* the word in front of the name is none of it */
	while (sign - begin > 1 &&
	       w->tokens[begin].kind == w->tokens[begin + 1].kind)
		begin++;
	for (; begin < sign && i < w->count; begin++, i++) {
		if (!are_equal(w, &w->tokens[begin], &w->tokens[i]))
			return false;
	}
	if (begin < sign)
		return false;
	t = &w->tokens[i];
	if (i == w->count || is_part(w, t, ")"))
		return true;
	for (size_t k = 0; k < AB_ARRAY_LEN(ends); k++) {
		if (t->len == strlen(ends[k]) &&
		    !strncasecmp(w->text + t->at, ends[k], t->len))
			return true;
	}
	return false;
}

/* It is one of `a|b`, where an empty one is the sign itself. */
static bool is_one_of(const struct window *w, const struct ab_token *t,
		      const char *want)
{
	for (const char *p = want; p;) {
		const char *end = p;

		while (*end && *end != '|')
			end++;
		size_t n = (size_t)(end - p);

		if (!n && *end) /* the sign itself */
			n = 1;
		if (n == t->len && !strncasecmp(p, w->text + t->at, n))
			return true;
		p = *end ? end + 1 : NULL;
	}
	return false;
}

/* %word|%string|x */
static bool is_any_of(const struct window *w, const struct ab_token *t,
		      const char *want)
{
	for (const char *p = want; p;) {
		size_t n = strcspn(p, "|");
		bool is_word = n == 5 && !memcmp(p, "%word", n);
		bool is_var = n == 4 && !memcmp(p, "%var", n);

		if (n == 7 && !memcmp(p, "%string", n)) {
			if (t->kind == AB_TOKEN_STRING)
				return true;
		} else if (is_word || is_var) {
			if (t->kind == AB_TOKEN_WORD &&
			    (is_word || w->text[t->at] == '$'))
				return true;
		} else if (t->kind != AB_TOKEN_STRING && n == t->len &&
			   !strncasecmp(p, w->text + t->at, n)) {
			return true;
		}
		p = p[n] ? p + n + 1 : NULL;
	}
	return false;
}

/* "/:/host", which gives a container what is the host's. */
static bool is_bind(const struct window *w, const struct ab_token *t)
{
	const struct ab_word s = { .text = w->text + t->at, .len = t->len };

	return t->kind == AB_TOKEN_STRING && ab_value_is_bind_root(w->c, &s);
}

static bool token_is(const struct window *w, uint32_t i, const char *want)
{
	const struct ab_token *t = &w->tokens[i];

	if (want[0] == '%' && want[1] == '=')
		return is_one_of(w, t, want + 2);
	if (*want == '%' && strchr(want, '|'))
		return is_any_of(w, t, want);
	if (is_sort(want, "%string"))
		return t->kind == AB_TOKEN_STRING;
	if (is_sort(want, "%plain"))
		return t->kind == AB_TOKEN_STRING &&
		       (t->quote == '\'' ||
			is_constant(w->text + t->at, t->len));
	if (is_sort(want, "%metadata")) {
		const struct ab_word s = { .text = w->text + t->at,
					   .len = t->len };

		return t->kind == AB_TOKEN_STRING && ab_value_is_metadata(&s);
	}
	if (is_sort(want, "%address"))
		return t->kind == AB_TOKEN_STRING &&
		       is_address(w->text + t->at, t->len);
	if (is_sort(want, "%forge"))
		return t->kind == AB_TOKEN_STRING &&
		       is_forge(w->text + t->at, t->len);
	if (is_sort(want, "%secret"))
		return t->kind != AB_TOKEN_SIGN &&
		       is_secret(w->text + t->at, t->len);
	if (is_sort(want, "%bind"))
		return is_bind(w, t);
	if (is_sort(want, "%same"))
		return t->kind == AB_TOKEN_WORD && is_same(w, i);
	if (is_sort(want, "%word"))
		return t->kind == AB_TOKEN_WORD;
	if (is_sort(want, "%var"))
		return t->kind == AB_TOKEN_WORD && w->text[t->at] == '$';
	if (*want == '*' && !want[1])
		return true;
	if (t->kind == AB_TOKEN_STRING)
		return false;
	return is_one_of(w, t, want);
}

static inline bool has_hash(const struct ab_token *t, struct ab_text_bits bits)
{
	return bits.low >> (t->hash & 63) & bits.high >> (t->hash >> 4) & 1;
}

static bool none_after(const struct window *w, uint32_t from,
		       const struct ab_text_want *want)
{
	for (uint32_t i = from; i < w->count; i++) {
		if (has_hash(&w->tokens[i], want->bits) &&
		    token_is(w, i, want->text + 1))
			return false;
	}
	return true;
}

/* Behind the bracket that ends what token `i` stands in. */
static uint32_t bracket_end(const struct window *w, uint32_t i)
{
	uint32_t depth = 1;

	for (; i < w->count; i++) {
		const struct ab_token *t = &w->tokens[i];
		char ch = w->text[t->at];

		if (t->kind != AB_TOKEN_SIGN)
			continue;
		depth += ch == '(';
		depth -= ch == ')';
		if (!depth)
			return i + 1;
	}
	return i;
}

/* Another word than that. */
static inline bool is_other(const char *want)
{
	return *want == 'n' && !strncmp(want, "not:", 4);
}

/* The rule's tokens from token `i` on; each gap is as short as it can be. */
static bool match_from(const struct window *w, const struct ab_text_want *want,
		       uint32_t n, uint32_t i)
{
	uint32_t k = 0, gap = UINT32_MAX, back = 0, end = w->count;

	while (k < n) {
		const char *s = want[k].text;

		if (*s == '^' && !s[1]) {
			if (i != 0 || !w->is_start)
				return false;
			k++;
			continue;
		}
		if (*s == '.' && (!strcmp(s, "..") || !strcmp(s, "..)"))) {
			gap = ++k;
			back = i;
			if (s[2])
				end = bracket_end(w, i);
			continue;
		}
		if (s[0] == '!' && s[1]) {
			if (!none_after(w, i, &want[k]))
				return false;
			k++;
			continue;
		}
		bool is_not = is_other(s);

		if (i < end && (has_hash(&w->tokens[i], want[k].bits) &&
				token_is(w, i, is_not ? s + 4 : s)) != is_not) {
			i++;
			k++;
		} else if (gap != UINT32_MAX && back < end) {
			k = gap;
			i = ++back;
		} else {
			return false;
		}
	}
	return true;
}

uint32_t ab_lang_key(const char *lang)
{
	return ab_pack_hash(lang, strlen(lang)) % AB_TEXT_LISTS;
}

/* What only a string can be: its hash is 0. */
static bool is_of_strings(const char *want)
{
	return is_sort(want, "%string") || is_sort(want, "%plain") ||
	       is_sort(want, "%metadata") || is_sort(want, "%forge") ||
	       is_sort(want, "%address") || is_sort(want, "%bind");
}

struct ab_text_bits ab_text_heads(const char *want)
{
	struct ab_text_bits bits = { 0, 0 };

	if (is_of_strings(want))
		return (struct ab_text_bits){ 1, 1 };
	if (*want == '^' || *want == '%' || *want == '*' || is_other(want))
		return (struct ab_text_bits){ UINT64_MAX, UINT64_MAX };
	for (const char *p = want; p;) {
		size_t n = strcspn(p, "|");

		/* `|`: the sign itself */
		ab_text_bits_add(&bits,
				 ab_text_hash(p, n ? (uint32_t)n : 1));
		p = p[n] ? p + n + 1 : NULL;
	}
	return bits;
}

uint32_t ab_text_first(const char *want)
{
	if (is_of_strings(want))
		return 0;
	if (*want == '^' || *want == '%' || *want == '*' || is_other(want) ||
	    strchr(want, '|'))
		return AB_TEXT_ANY;
	return ab_text_hash(want, (uint32_t)strlen(want));
}

struct ab_text_want ab_text_want(const char *text)
{
	uint32_t skip = is_other(text) ? 4 : *text == '!' && text[1] ? 1 : 0;

	return (struct ab_text_want){ text, ab_text_heads(text + skip) };
}

/* The words and signs of the window, noted of each and of all: most rules are
   about none of them. */
static struct ab_text_bits window_bits(struct window *w)
{
	struct ab_text_bits bits = { 0, 0 };

	memset(w->first, 0, sizeof(w->first));
	for (uint32_t i = w->count; i-- > 0;) {
		struct ab_token *t = &w->tokens[i];
		bool is_string = !t->len || t->kind == AB_TOKEN_STRING;
		uint32_t h = is_string
				     ? 0
				     : ab_text_hash(w->text + t->at, t->len);

		t->hash = (uint16_t)h;
		ab_text_bits_add(&bits, h);
		w->next[i] = w->first[h];
		w->first[h] = (uint16_t)(i + 1);
	}
	return bits;
}

/* The rule's first token from number `i` on; its text is asked about later. */
static uint32_t next_head(const struct window *w, const struct ab_link *link,
			  uint32_t i)
{
	struct ab_text_bits heads = { link->heads, link->highs };

	while (i < w->count && !has_hash(&w->tokens[i], heads))
		i++;
	return i;
}

/* Token `i` begins what the rule is about: is that so? */
static bool holds_at(struct ab_check *c, const struct ab_clause *clause,
		     const struct window *w, uint32_t i,
		     const struct ab_word *text)
{
	const struct ab_text_want *want = c->pack->wants + clause->token;
	AB_UNINITIALIZED struct ab_word found;

	if (!match_from(w, want, clause->token_count, i))
		return false;
	if (ab_word_slice(c, text, w->tokens[i].at, w->tokens[i].len, &found))
		ab_check_clause(c, clause, &found);
	return true;
}

/* The first place where the rule holds is told. */
static void look_for(struct ab_check *c, const struct ab_link *link,
		     const struct ab_clause *clause, const struct window *w,
		     const struct ab_word *text)
{
	uint32_t i;

	if (link->first != AB_TEXT_ANY) {
		for (i = w->first[link->first]; i; i = w->next[i - 1]) {
			if (holds_at(c, clause, w, i - 1, text))
				return;
		}
		return;
	}
	for (i = next_head(w, link, 0); i < w->count;
	     i = next_head(w, link, i + 1)) {
		if (holds_at(c, clause, w, i, text) ||
		    *c->pack->wants[clause->token].text == '^')
			return;
	}
}

static void look(struct ab_check *c, const char *lang, struct window *w,
		 const struct ab_word *text)
{
	uint32_t at = c->pack->text_links[ab_lang_key(lang)];
	struct ab_text_bits have = window_bits(w);

	while (at && w->count) {
		const struct ab_link *link = &c->pack->links[at - 1];
		const struct ab_clause *clause =
			&c->pack->clauses[link->clause];

		at = link->next;
		if ((link->first != AB_TEXT_ANY ?
			     !w->first[link->first] :
			     !(link->heads & have.low) ||
				     !(link->highs & have.high)) ||
		    (link->needs && !w->first[link->needs]) ||
		    strcmp(clause->lang, lang) != 0)
			continue;
		look_for(c, link, clause, w, text);
	}
}

static bool ends_statement(const struct ab_lexer *x, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_SIGN && t->len == 1 &&
	       x->text[t->at] == ';' && x->traits & AB_LEX_SQL;
}

static void check_text(struct ab_check *c, const char *lang,
		       const struct ab_word *text, bool is_start)
{
	struct ab_lexer x = { .text = text->text, .len = text->len,
			      .traits = ab_lex_traits(lang) };
	void *mark = c->scratch->low;
	struct window *w;
	struct ab_token t;

	if (c->text_read <= AB_CHECK_MAX_TEXT)
		c->text_read += text->len;
	if (AB_UNLIKELY(c->text_read > AB_CHECK_MAX_TEXT)) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, text);
		return;
	}
	w = ab_check_alloc(c, sizeof(*w));
	if (!w)
		return;
	w->c = c;
	w->text = text->text;
	w->count = 0;
	w->is_start = is_start;
	while (ab_lexer_next(&x, &t)) {
		bool is_end = ends_statement(&x, &t);

		if (is_end || w->count == WINDOW) {
			uint32_t keep = is_end ? 0 : OVERLAP;

			look(c, lang, w, text);
			memmove(w->tokens, w->tokens + w->count - keep,
				keep * sizeof(t));
			w->count = keep;
			w->is_start = is_end;
		}
		if (!is_end)
			w->tokens[w->count++] = t;
	}
	look(c, lang, w, text);
	ab_arena_release(c->scratch, mark);
}

void ab_check_text(struct ab_check *c, const char *lang,
		   const struct ab_word *text)
{
	check_text(c, lang, text, true);
}

void ab_check_text_inside(struct ab_check *c, const char *lang,
			  const struct ab_word *text)
{
	check_text(c, lang, text, false);
}

/* --- where a statement begins ------------------------------------------- */

/* The end of a comment, or of a string that may have the sign of one in it, at
   `at`; else `at`. To a database that runs it, and to one to which the word
   behind it is one more comment, what is in an odd one is a statement. */
static uint32_t skip_aside(const struct ab_word *w, uint32_t at)
{
	const char *s = w->text + at, *end;
	uint32_t left = w->len - at, skip = 0;

	if (left > 1 && !memcmp(s, "/*", 2)) {
		bool is_run = left > 2 && (s[2] == '!' || s[2] == 'M');

		if (is_run) {
			skip = 3 + (left > 3 && s[2] == 'M' && s[3] == '!');
			while (skip < left && s[skip] >= '0' && s[skip] <= '9')
				skip++;
			return at + skip;
		}
		end = memmem(s + 2, left - 2, "*/", 2);
		return end ? (uint32_t)(end - w->text) + 2 : w->len;
	}
	if (*s == '#' ||
	    (left > 1 && (!memcmp(s, "--", 2) || !memcmp(s, "//", 2)))) {
		end = memchr(s, '\n', left);
		return end ? (uint32_t)(end - w->text) : w->len;
	}
	if (*s != '\'' && *s != '"')
		return at;
	end = left > 1 ? memchr(s + 1, *s, left - 1) : NULL;
	return end ? (uint32_t)(end - w->text) + 1 : w->len;
}

bool ab_text_opens(const struct ab_word *w, const char *lang)
{
	bool is_fresh = true;
	uint32_t at = 0, end;

	for (uint32_t i = 0; i < w->hole_count && !strcmp(lang, "sql"); i++) {
		while (at < w->holes[i].at) {
			end = skip_aside(w, at);
			if (end > at) {
				is_fresh &= !memchr("'\"", w->text[at], 2);
				at = end;
				continue;
			}
			if (w->text[at] == ';' ||
			    (w->text[at] == '*' && at + 1 < w->len &&
			     w->text[at + 1] == '/'))
				is_fresh = true;
			else if (!memchr(" \t\n/", w->text[at], 4))
				is_fresh = false;
			at++;
		}
		/* what is in a string or a comment opens none */
		if (is_fresh && at == w->holes[i].at)
			return true;
		is_fresh &= at > w->holes[i].at;
	}
	return !w->len;
}
