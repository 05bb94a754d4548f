/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words, strings and signs of a text in another language than the shell's;
 * comments and patterns are told apart from what runs, as far as a lexer that
 * parses nothing can: what a quote or a # in a pattern would hide is code.
 * Whatever has no end within MAX_SPAN is no literal, and its bytes are tokens;
 * none is looked for in them (plain_to), so that a text of nothing but
 * beginnings is read in linear time.
 */
#include "config.h"

#include "guard/text.h"

#include "base/attr.h"

#include <string.h>

/* The longest literal without quotes. */
#define MAX_SPAN 65536

static const bool word_bytes[256] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true,
	['_'] = true,	      ['$'] = true,	    [0x80 ... 0xff] = true,
};

static inline bool is_word(char ch)
{
	return word_bytes[(unsigned char)ch];
}

static inline bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

/* The byte at `i`; 0: the text ends before. */
static inline char byte_at(const struct ab_lexer *x, uint32_t i)
{
	return i < x->len ? x->text[i] : 0;
}

static bool at(const struct ab_lexer *x, const char *sign)
{
	size_t n = strlen(sign);

	return x->len - x->pos >= n && !memcmp(x->text + x->pos, sign, n);
}

static uint32_t limit(const struct ab_lexer *x, uint32_t from)
{
	return from < x->len && x->len - from > MAX_SPAN ? from + MAX_SPAN
							  : x->len;
}

static bool is_last(const struct ab_lexer *x, const char *const *words,
		    size_t count)
{
	for (size_t i = 0; i < count && x->last_kind == AB_TOKEN_WORD; i++) {
		if (strlen(words[i]) == x->last_len &&
		    !memcmp(words[i], x->text + x->last_at, x->last_len))
			return true;
	}
	return false;
}

static bool is_last_sign(const struct ab_lexer *x, char sign)
{
	return x->last_kind == AB_TOKEN_SIGN && x->last_len == 1 &&
	       x->text[x->last_at] == sign;
}

/* Behind the next `what`, or to the end. */
static void skip_to(struct ab_lexer *x, const char *what)
{
	const char *stop = memmem(x->text + x->pos, x->len - x->pos, what,
				  strlen(what));

	x->pos = stop ? (uint32_t)(stop - x->text) + (uint32_t)strlen(what)
		      : x->len;
}

static void to_line_end(struct ab_lexer *x)
{
	const char *from = x->text + x->pos;
	const char *end = memchr(from, '\n', x->len - x->pos);

	/* php goes on behind it as text */
	if (x->traits & AB_LEX_HEREDOC_PHP) {
		const char *tag = memmem(from, end ? (size_t)(end - from)
						   : x->len - x->pos, "?>", 2);

		end = tag ? tag : end;
	}
	x->pos = end ? (uint32_t)(end - x->text) : x->len;
}

/* php: what stands outside of <?php ... ?>. The text of a program that is no
   file begins with no <. */
static bool outside(struct ab_lexer *x)
{
	bool is_outside = at(x, "?>");

	if (!(x->traits & AB_LEX_HEREDOC_PHP) ||
	    !(is_outside || (!x->last_kind && at(x, "<"))))
		return false;
	skip_to(x, "<?");
	if (at(x, "php"))
		x->pos += 3;
	else if (at(x, "="))
		x->pos++;
	return true;
}

static bool is_line_begin(const struct ab_lexer *x)
{
	return !x->pos || x->text[x->pos - 1] == '\n';
}

/* perl: =pod to =cut; where a value was last, `=pod` is given to it. */
static bool is_pod(const struct ab_lexer *x)
{
	char ch = byte_at(x, x->pos + 1);

	return x->traits & AB_LEX_PERL && at(x, "=") && is_line_begin(x) &&
	       ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'));
}

/* What is no program: pod, =begin to =end, and all behind __END__ where it is
   not read. */
static bool document(struct ab_lexer *x)
{
	uint32_t i = x->pos + 7;

	if (is_pod(x) && (!x->last_kind || is_last_sign(x, ';'))) {
		skip_to(x, "\n=cut");
		to_line_end(x);
		return true;
	}
	if (x->traits & AB_LEX_FIELDS && is_line_begin(x) && at(x, "=begin")) {
		skip_to(x, "\n=end");
		to_line_end(x);
		return true;
	}
	if (!(x->traits & (AB_LEX_PERL | AB_LEX_FIELDS)) || x->has_data ||
	    !is_line_begin(x) ||
	    !(at(x, "__END__") ||
	      (at(x, "__DATA__") && x->traits & AB_LEX_PERL)))
		return false;
	i += at(x, "__DATA__");
	if (byte_at(x, i) && byte_at(x, i) != '\n')
		return false;
	x->pos = x->len;
	return true;
}

/* [==[ at `from`: behind its ]==]; 0: there is none. */
static uint32_t long_end(struct ab_lexer *x, uint32_t from, uint32_t *inner)
{
	uint32_t n = 0, end = limit(x, from);

	if (byte_at(x, from) != '[' || from < x->plain_to)
		return 0;
	while (byte_at(x, from + 1 + n) == '=')
		n++;
	if (byte_at(x, from + 1 + n) != '[')
		return 0;
	*inner = from + n + 2;
	for (uint32_t i = *inner; i + n + 1 < end; i++) {
		uint32_t k = 0;

		if (x->text[i] != ']')
			continue;
		while (k < n && x->text[i + 1 + k] == '=')
			k++;
		if (k == n && x->text[i + 1 + n] == ']')
			return i + n + 2;
	}
	x->plain_to = end;
	return 0;
}

static bool comment(struct ab_lexer *x)
{
	uint32_t traits = x->traits, inner, end;

	if (traits & (AB_LEX_SLASH | AB_LEX_SQL) && at(x, "/*")) {
		/* mysql runs what stands in such a comment */
		if (traits & AB_LEX_SQL && (at(x, "/*!") || at(x, "/*M!"))) {
			x->pos += at(x, "/*!") ? 3 : 4;
			return true;
		}
		const char *stop = memmem(x->text + x->pos + 2,
					  x->len - x->pos - 2, "*/", 2);

		x->pos = stop ? (uint32_t)(stop - x->text) + 2 : x->len;
		return true;
	}
	if (traits & AB_LEX_SQL && at(x, "*/")) { /* of those */
		x->pos += 2;
		return true;
	}
	if (traits & AB_LEX_LONG && at(x, "--[")) {
		end = long_end(x, x->pos + 2, &inner);
		if (end) {
			x->pos = end;
			return true;
		}
	}
	if ((traits & AB_LEX_DASH && at(x, "--")) ||
	    (traits & AB_LEX_SLASH && at(x, "//") &&
	     (!x->pos || x->text[x->pos - 1] != ':')) ||
	    (traits & AB_LEX_HASH && at(x, "#") &&
	     !(traits & AB_LEX_HEREDOC_PHP && at(x, "#["))) ||
	    (traits & AB_LEX_HEAD && at(x, "# ") && is_line_begin(x)) ||
	    (traits & AB_LEX_LISP && at(x, ";"))) {
		to_line_end(x);
		return true;
	}
	return false;
}

/* Strings in expressions of strings of ... */
#define MAX_NEST 8

/* To the brace of a language whose strings have no strings in them. */
static uint32_t brace_end(const char *s, uint32_t at, uint32_t end)
{
	char quote = 0;
	int depth = 1;

	for (; at < end && depth; at++) {
		if (s[at] == '\\')
			at++;
		else if (quote)
			quote = s[at] == quote ? 0 : quote;
		else if (s[at] == '"' || s[at] == '\'' || s[at] == '`')
			quote = s[at];
		else if (s[at] == '{' || s[at] == '}')
			depth += s[at] == '{' ? 1 : -1;
	}
	return depth || at > end ? 0 : at;
}

uint32_t ab_field_end(struct ab_lexer *outer, uint32_t at, uint32_t end)
{
	struct ab_lexer x = { .text = outer->text, .pos = at, .len = end,
			      .traits = outer->traits,
			      .plain_to = outer->plain_to,
			      .nest = (uint8_t)(outer->nest + 1) };
	struct ab_token t;
	int depth = 1;

	if (!(x.traits & (AB_LEX_FIELDS | AB_LEX_TEMPLATE)))
		return brace_end(x.text, at, end);
	x.is_deep = x.nest > MAX_NEST;
	while (depth && !x.is_deep && ab_lexer_next(&x, &t)) {
		if (t.kind == AB_TOKEN_SIGN && t.len == 1 &&
		    (x.text[t.at] == '{' || x.text[t.at] == '}'))
			depth += x.text[t.at] == '{' ? 1 : -1;
	}
	outer->is_deep |= x.is_deep;
	return depth || x.is_deep ? 0 : x.pos;
}

/* Behind "#{...}" and `${...}`, which may have quotes; at + 1: there is none
   at `at`. */
static uint32_t skip_field(struct ab_lexer *x, uint32_t at, char quote)
{
	char sign = x->traits & AB_LEX_FIELDS && quote != '\'' ? '#' :
		    x->traits & AB_LEX_TEMPLATE && quote == '`' ? '$' : 0;
	uint32_t end;

	if (!sign || byte_at(x, at) != sign || at < x->plain_to ||
	    byte_at(x, at + 1) != '{')
		return at + 1;
	end = ab_field_end(x, at + 2, limit(x, at));
	if (end)
		return end;
	x->plain_to = limit(x, at);
	return at + 1;
}

/* False: the line ends before it does. */
static bool string(struct ab_lexer *x, struct ab_token *t)
{
	char quote = x->text[x->pos];
	bool is_line = x->traits & AB_LEX_LINE && quote != '`';
	uint32_t i = x->pos + 1;

	/* 'x is a name */
	if (x->traits & AB_LEX_LISP && quote == '\'')
		return false;
	/* three quotes and three quotes */
	if (x->len - x->pos >= 6 && x->text[i] == quote &&
	    x->text[i + 1] == quote && x->traits & AB_LEX_TRIPLE) {
		char three[3] = { quote, quote, quote };
		const char *end = memmem(x->text + i + 2, x->len - i - 2,
					 three, 3);

		t->at = i + 2;
		t->len = (end ? (uint32_t)(end - x->text) : x->len) - t->at;
		x->pos = end ? t->at + t->len + 3 : x->len;
		return true;
	}
	while (i < x->len && x->text[i] != quote) {
		if (is_line && x->text[i] == '\n')
			return false;
		/* "\#{" begins nothing */
		i = x->text[i] == '\\' ? i + 2 : skip_field(x, i, quote);
	}
	if (i > x->len)
		i = x->len;
	t->at = x->pos + 1;
	t->len = i - t->at;
	x->pos = i < x->len ? i + 1 : i;
	return true;
}

/* --- literals without quotes ---------------------------------------------- */

static bool is_awk(const struct ab_lexer *x)
{
	return x->traits == (AB_LEX_HASH | AB_LEX_REGEX | AB_LEX_LINE);
}

/* A value may begin here: what was last is none. When in doubt it is one, for
   a division is code and a pattern is not. */
static bool is_operand(const struct ab_lexer *x, const struct ab_token *t)
{
	static const char *const before[] = {
		"return", "if",	   "unless", "and",   "or",	"not",
		"when",	  "while", "until",  "case",  "in",	"else",
		"elsif",  "then",  "do",     "typeof", "delete", "void",
		"throw",  "new",
	};
	/* names that perl, and awk, alone keep for themselves */
	static const char *const of_perl[] = { "split", "grep", "print", "join",
					       "push", "map" };
	const bool is_statement = t->is_line &&
				  !(x->traits & (AB_LEX_PERL | AB_LEX_SLASH));
	const char *last = x->text + x->last_at;

	if (x->last_kind == AB_TOKEN_STRING)
		return false;
	if (is_last_sign(x, ')'))
		return x->was_condition;
	/* x.in */
	if (x->last_kind == AB_TOKEN_WORD && x->last_at && last[-1] == '.')
		return false;
	/* awk: {...} /x/ {...} */
	if (x->last_kind == AB_TOKEN_SIGN && x->last_len == 1 && *last == '}')
		return is_statement || is_awk(x);
	if (x->last_kind != AB_TOKEN_WORD)
		return !x->last_kind ||
		       (x->last_len == 1 && !memchr(")]", *last, 2));
	return is_statement || is_last(x, before, AB_ARRAY_LEN(before)) ||
	       ((x->traits & AB_LEX_PERL || is_awk(x)) &&
		is_last(x, of_perl, AB_ARRAY_LEN(of_perl)));
}

/* Nobody can tell without parsing: behind a brace, `i++ /`, and what ruby and
   perl may take for an argument, `puts /x/`. */
static bool is_doubtful(const struct ab_lexer *x)
{
	/* names that js keeps for itself, some of them at times */
	static const char *const of_js[] = { "yield", "await", "of", "default",
					     "extends", "instanceof", "get" };
	bool is_named = x->traits & (AB_LEX_PERL | AB_LEX_FIELDS) &&
			x->last_kind == AB_TOKEN_WORD;

	if (x->traits & AB_LEX_TEMPLATE &&
	    is_last(x, of_js, AB_ARRAY_LEN(of_js)))
		return true;

	if (is_last_sign(x, '+') || is_last_sign(x, '-'))
		return x->last_at &&
		       x->text[x->last_at - 1] == x->text[x->last_at];
	return is_last_sign(x, '}') ||
	       (is_named && x->pos && is_blank(x->text[x->pos - 1]) &&
		!is_blank(byte_at(x, x->pos + 1)));
}

/* From behind what opens to behind what closes it; 0: nothing does. Brackets
   nest. */
static uint32_t close_of(struct ab_lexer *x, uint32_t from)
{
	static const char open[] = "([{<", close[] = ")]}>";
	const char begin = x->text[from - 1], *which = memchr(open, begin, 4);
	const char end = which ? close[which - open] : begin;
	uint32_t stop = limit(x, from);
	int depth = 1;

	for (uint32_t i = from; i < stop && from >= x->plain_to; i++) {
		if (x->text[i] == '\\')
			i++;
		else if (x->text[i] == end && !--depth)
			return i + 1;
		else if (which && x->text[i] == begin)
			depth++;
	}
	if (from >= x->plain_to)
		x->plain_to = stop;
	return 0;
}

/* A pattern from t->at to `end`. One with expressions, "#{x}" and "@{[x]}", is
   as good as a string; in one with (?{x}) all is code: false. */
static bool put_pattern(struct ab_lexer *x, struct ab_token *t, uint32_t end)
{
	t->kind = AB_TOKEN_SIGN;
	for (uint32_t i = t->at; i + 1 < end; i++) {
		if (x->text[i + 1] != '{')
			continue;
		if (x->text[i] == '?')
			return false;
		if (memchr("#@$", x->text[i], 3)) {
			t->kind = AB_TOKEN_STRING;
			t->quote = '/';
		}
	}
	while (end < x->len && x->text[end] >= 'a' && x->text[end] <= 'z')
		end++;
	t->len = end - t->at;
	x->pos = end;
	return true;
}

/* What may be a pattern, or code. */
static bool put_doubt(struct ab_lexer *x, struct ab_token *t, uint32_t end)
{
	t->kind = AB_TOKEN_SIGN;
	t->is_doubt = true;
	t->len = end - t->at;
	x->pos = end;
	return true;
}

/* =pod behind a brace: $h{x} may be given something. */
static bool pod(struct ab_lexer *x, struct ab_token *t)
{
	struct ab_lexer end = *x;

	if (!is_pod(x) || !is_last_sign(x, '}'))
		return false;
	skip_to(&end, "\n=cut");
	to_line_end(&end);
	return put_doubt(x, t, end.pos);
}

/* /.../ */
static bool slash_pattern(struct ab_lexer *x, struct ab_token *t)
{
	uint32_t stop = limit(x, x->pos), i = x->pos + 1;
	bool is_class = false, is_pattern = is_operand(x, t);
	bool is_doubt = is_doubtful(x) && !(is_pattern && x->last_kind ==
							AB_TOKEN_WORD);

	/* awk and ruby: {...} /x/ */
	if (is_last_sign(x, '}') && is_pattern)
		is_doubt = false;
	if (x->pos < x->plain_to || !(is_pattern || is_doubt))
		return false;
	for (; i < stop && x->text[i] != '\n'; i++) {
		if (x->text[i] == '\\')
			i++;
		else if (x->text[i] == '[')
			is_class = true;
		else if (x->text[i] == ']')
			is_class = false;
		else if (x->text[i] == '/' && !is_class)
			break;
	}
	if (i < stop && x->text[i] == '/' && is_doubt)
		return put_doubt(x, t, i + 1);
	if (i < stop && x->text[i] == '/')
		return put_pattern(x, t, i + 1);
	x->plain_to = i < stop ? i : stop;
	return false;
}

static bool put_string(struct ab_lexer *x, struct ab_token *t, char quote,
		       uint32_t from, uint32_t end)
{
	if (!end)
		return false;
	t->kind = AB_TOKEN_STRING;
	t->quote = quote;
	t->at = from;
	t->len = end - 1 - from;
	x->pos = end;
	return true;
}

/* What may stand behind q, m, s, ...: where its text begins; 0: a name. */
static uint32_t open_of(const struct ab_lexer *x, uint32_t at)
{
	uint32_t i = at;
	char ch;

	while (is_blank(byte_at(x, i)))
		i++;
	ch = byte_at(x, i);
	if (!ch || is_word(ch) || memchr(",;)=>]}\\", ch, 8) ||
	    (i > at && !memchr("([{</|", ch, 6)))
		return 0;
	return i + 1;
}

/* q(...) and what is like it; the lexer is behind the word. */
static bool perl_literal(struct ab_lexer *x, struct ab_token *t)
{
	const char *w = x->text + t->at;
	bool is_two = (t->len == 1 && memchr("sy", *w, 2)) ||
		      (t->len == 2 && !memcmp(w, "tr", 2));
	bool is_text = (t->len == 1 && *w == 'q') ||
		       (t->len == 2 && !memcmp(w, "qq", 2));
	bool is_one = (t->len == 1 && *w == 'm') ||
		      (t->len == 2 && !memcmp(w, "qr", 2));
	bool is_words = t->len == 2 && !memcmp(w, "qw", 2);
	uint32_t from, end;

	if (!is_two && !is_text && !is_one && !is_words)
		return false;
	/* ->s, {s} */
	if (t->at && memchr(">{&@%", x->text[t->at - 1], 5) &&
	    (x->text[t->at - 1] != '{' || byte_at(x, x->pos) == '}'))
		return false;
	from = open_of(x, x->pos);
	end = from ? close_of(x, from) : 0;
	if (!end)
		return false;
	if (is_words)
		return put_string(x, t, 'w', from, end);
	if (is_text)
		return put_string(x, t, t->len == 2 ? '"' : '\'', from, end);
	if (is_two) {
		bool is_pair = memchr("([{<", x->text[from - 1], 4);
		uint32_t next = is_pair ? open_of(x, end) : end;

		/* s///: the delimiter in the middle opens the second part */
		end = next ? close_of(x, next) : 0;
		/* s/x/CODE/e */
		for (uint32_t i = end; end && i < x->len &&
				       x->text[i] >= 'a' && x->text[i] <= 'z';
		     i++) {
			if (x->text[i] == 'e')
				return false;
		}
	}
	return end && put_pattern(x, t, end);
}

/* %q(...), %Q(...), %(...), %r(...), %w(...) */
static bool percent_literal(struct ab_lexer *x, struct ab_token *t)
{
	uint32_t i = x->pos + 1, end;
	char kind = byte_at(x, i);
	bool has_kind = kind && memchr("qQrwWiI", kind, 7);

	/* puts %(x): behind a name it needs a space before, and none behind */
	if (!is_operand(x, t) &&
	    !(x->last_kind == AB_TOKEN_WORD && x->pos &&
	      is_blank(x->text[x->pos - 1])))
		return false;
	i += has_kind;
	if (!byte_at(x, i) ||
	    !memchr(has_kind ? "([{<|!/" : "([{<", x->text[i],
		    has_kind ? 7 : 4))
		return false;
	end = close_of(x, i + 1);
	if (!end)
		return false;
	if (kind == 'r')
		return put_pattern(x, t, end);
	if (has_kind && memchr("wWiI", kind, 4))
		return put_string(x, t, 'w', i + 1, end);
	return put_string(x, t, kind == 'q' ? '\'' : '"', i + 1, end);
}

/* ?" and ?#: a byte */
static bool byte_literal(struct ab_lexer *x, struct ab_token *t)
{
	if (!is_operand(x, t) || !byte_at(x, x->pos + 1) ||
	    !memchr("\"'`#", x->text[x->pos + 1], 4))
		return false;
	t->kind = AB_TOKEN_SIGN;
	t->len = 2;
	x->pos += 2;
	return true;
}

/* The line that is the name of a here-document, from a line's beginning on:
   *end is behind the name. False: none is. */
static bool body_end(struct ab_lexer *x, uint32_t from, uint32_t name,
		     uint32_t n, uint32_t *stop, uint32_t *end)
{
	uint32_t last = limit(x, from), i;

	for (; from < last; from++) {
		for (i = from; byte_at(x, i) == ' ' || byte_at(x, i) == '\t';)
			i++;
		if (x->len - i >= n &&
		    !memcmp(x->text + i, x->text + name, n) &&
		    !is_word(byte_at(x, i + n))) {
			*stop = from;
			*end = i + n;
			return true;
		}
		while (from < last && x->text[from] != '\n')
			from++;
	}
	x->plain_to = last;
	return false;
}

/* <<X: its body is a string; the line goes on behind X. */
static bool here_document(struct ab_lexer *x, struct ab_token *t)
{
	static const char *const takers[] = { "system", "exec", "spawn", "eval",
					      "puts", "print", "warn", "die" };
	bool is_php = x->traits & AB_LEX_HEREDOC_PHP;
	uint32_t i = x->pos + (is_php ? 3 : 2), n = 0, from, stop, end;
	const char *line;
	char quote;

	/* where `a << b` is a sum */
	if (x->pos < x->plain_to || !at(x, is_php ? "<<<" : "<<") ||
	    !(is_operand(x, t) || is_last(x, takers, AB_ARRAY_LEN(takers))))
		return false;
	if (!is_php && byte_at(x, i) && memchr("~-", x->text[i], 2))
		i++;
	while (is_php && byte_at(x, i) == ' ')
		i++;
	quote = byte_at(x, i);
	if (quote && memchr("\"'`", quote, 3))
		i++;
	else
		quote = 0;
	while (is_word(byte_at(x, i + n)))
		n++;
	if (!n || (x->text[i] >= '0' && x->text[i] <= '9'))
		return false;
	from = x->body_end > x->pos ? x->body_end : i + n;
	line = from < x->len
		       ? memchr(x->text + from, '\n', limit(x, from) - from)
		       : NULL;
	if (!line)
		x->plain_to = limit(x, from);
	if (!line ||
	    !body_end(x, (uint32_t)(line - x->text) + 1, i, n, &stop, &end))
		return false;
	from = (uint32_t)(line - x->text) + 1;
	if (x->body_end <= x->pos)
		x->body_at = from;
	x->body_end = end;
	t->kind = AB_TOKEN_STRING;
	t->quote = quote ? quote : '"';
	t->at = from;
	t->len = stop - from;
	x->pos = i + n + (quote != 0);
	return true;
}

static bool literal(struct ab_lexer *x, struct ab_token *t, char ch)
{
	uint32_t inner, end;

	switch (ch) {
	case '/':
		return x->traits & AB_LEX_REGEX && slash_pattern(x, t);
	case '=':
		return pod(x, t);
	case '%':
		return x->traits & AB_LEX_PERCENT && percent_literal(x, t);
	case '?':
		return x->traits & AB_LEX_PERCENT && byte_literal(x, t);
	case '<':
		return x->traits & (AB_LEX_HEREDOC | AB_LEX_HEREDOC_PHP) &&
		       here_document(x, t);
	case '[':
		end = x->traits & AB_LEX_LONG ? long_end(x, x->pos, &inner) : 0;
		if (!end)
			return false;
		t->kind = AB_TOKEN_STRING;
		t->quote = '\'';
		t->at = inner;
		t->len = end - (inner - x->pos) - inner;
		x->pos = end;
		return true;
	default:
		return false;
	}
}

/* --- tokens --------------------------------------------------------------- */

/* What document() and outside() are about begins with one of these. */
static inline bool may_document(char ch)
{
	return ch == '=' || ch == '_' || ch == '<' || ch == '?';
}

static void skip_blanks(struct ab_lexer *x, struct ab_token *t)
{
	const bool has_documents = x->traits & (AB_LEX_PERL | AB_LEX_FIELDS |
						AB_LEX_HEREDOC_PHP);

	while (x->pos < x->len) {
		char ch = x->text[x->pos];

		if (ch == '\n')
			t->is_line = true;
		if (is_blank(ch))
			x->pos++;
		else if ((is_word(ch) || !comment(x)) /* none begins so */ &&
			 !(has_documents && may_document(ch) &&
			   (document(x) || outside(x))))
			return;
		if (x->body_at && x->pos >= x->body_at) {
			x->pos = x->body_end < x->len ? x->body_end : x->len;
			x->body_at = x->body_end = 0;
		}
	}
}

/* system$_ is two words where $ begins the names of variables. */
static bool begins_name(const struct ab_lexer *x, uint32_t begin)
{
	return x->pos > begin && x->text[x->pos] == '$' &&
	       x->text[x->pos - 1] != '$' &&
	       x->traits & (AB_LEX_PERL | AB_LEX_FIELDS | AB_LEX_HEREDOC_PHP);
}

static void word(struct ab_lexer *x, struct ab_token *t)
{
	bool is_lisp = x->traits & AB_LEX_LISP;

	t->kind = AB_TOKEN_WORD;
	while (x->pos < x->len && !begins_name(x, t->at) &&
	       (is_word(x->text[x->pos]) ||
		(x->text[x->pos] == '-' && is_lisp)))
		x->pos++;
	t->len = x->pos - t->at;
	if (x->traits & (AB_LEX_PERL | AB_LEX_FIELDS) && t->len == 1 &&
	    x->text[t->at] == '$' && byte_at(x, x->pos) &&
	    memchr("\"'`", x->text[x->pos], 3)) {
		/* $" is a name */
		x->pos++;
		t->len++;
	} else if (!(x->traits & AB_LEX_PERL)) {
		return;
	} else if (x->text[x->pos - 1] == '$' && byte_at(x, x->pos) == '#') {
		/* $#a is a number, and no comment */
		x->pos++;
		t->len++;
	} else if (t->len == 3 && !memcmp(x->text + t->at, "isn", 3) &&
		   at(x, "'t")) {
		x->pos += 2; /* Test::More's */
		t->len += 2;
	} else {
		(void)perl_literal(x, t);
	}
}

/* Which brackets are those of a condition, behind which a value begins. */
static void note_bracket(struct ab_lexer *x, char ch)
{
	static const char *const heads[] = { "if", "while", "for", "with" };

	if (ch == '(') {
		x->conditions = x->conditions << 1 |
				is_last(x, heads, AB_ARRAY_LEN(heads));
	} else if (ch == ')') {
		x->was_condition = x->conditions & 1;
		x->conditions >>= 1;
	}
}

bool ab_lexer_next(struct ab_lexer *x, struct ab_token *t)
{
	*t = (struct ab_token){ 0 };
	skip_blanks(x, t);
	if (x->pos >= x->len)
		return false;
	char ch = x->text[x->pos];

	t->at = x->pos;
	if ((ch == '"' || (!(x->traits & AB_LEX_LISP) &&
			   (ch == '\'' || ch == '`'))) && string(x, t)) {
		t->quote = ch;
		/* "name" and `name` are names in SQL */
		t->kind = x->traits & AB_LEX_SQL && ch != '\''
				  ? AB_TOKEN_WORD
				  : AB_TOKEN_STRING;
	} else if (is_word(ch) || (ch == '-' && x->traits & AB_LEX_LISP)) {
		word(x, t);
	} else if (!literal(x, t, ch)) {
		t->kind = AB_TOKEN_SIGN;
		/* \exec of php is exec */
		x->pos += ch == '\\' && x->pos + 1 < x->len &&
					  !(x->traits & AB_LEX_HEREDOC_PHP)
				  ? 2
				  : 1;
		t->len = x->pos - t->at;
		note_bracket(x, ch);
	}
	if (t->kind != AB_TOKEN_SIGN && !x->has_data &&
	    x->traits & (AB_LEX_PERL | AB_LEX_FIELDS))
		x->has_data = memmem(x->text + t->at, t->len, "DATA", 4) &&
			      *(x->text + t->at) != '_';
	x->last_at = t->at;
	x->last_len = t->len;
	x->last_kind = t->kind;
	return true;
}

uint32_t ab_lex_traits(const char *lang)
{
	static const struct {
		const char *name;
		uint32_t traits;
	} langs[] = {
		{ "sql", AB_LEX_SQL | AB_LEX_DASH },
		{ "python", AB_LEX_HASH | AB_LEX_TRIPLE | AB_LEX_LINE },
		{ "perl", AB_LEX_HASH | AB_LEX_REGEX | AB_LEX_PERL |
				  AB_LEX_HEREDOC },
		{ "ruby", AB_LEX_HASH | AB_LEX_FIELDS | AB_LEX_REGEX |
				  AB_LEX_PERCENT | AB_LEX_HEREDOC },
		{ "r", AB_LEX_HASH | AB_LEX_TRIPLE },
		{ "tcl", AB_LEX_HASH | AB_LEX_TRIPLE },
		{ "awk", AB_LEX_HASH | AB_LEX_REGEX | AB_LEX_LINE },
		{ "js", AB_LEX_SLASH | AB_LEX_REGEX | AB_LEX_TEMPLATE |
				AB_LEX_LINE },
		{ "php", AB_LEX_SLASH | AB_LEX_HASH | AB_LEX_HEREDOC_PHP },
		{ "lua", AB_LEX_DASH | AB_LEX_LONG | AB_LEX_LINE },
		{ "lisp", AB_LEX_LISP },
		{ "pwsh", AB_LEX_HASH },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(langs); i++) {
		if (!strcmp(langs[i].name, lang))
			return langs[i].traits;
	}
	return AB_LEX_SLASH | AB_LEX_HEAD;
}
