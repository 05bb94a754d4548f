/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of an inline program that stand for strings or for calls, and the
 * words that its strings make. A name that has several values may be any of
 * them; where a program changes them as it runs is not followed.
 */
#include "config.h"

#include "guard/code.h"

#include <assert.h>
#include <string.h>

#define MAX_TOKENS 64 /* of a value */

bool ab_code_is_sign(const struct ab_code *k, const struct ab_token *t,
		     char sign)
{
	return t->kind == AB_TOKEN_SIGN && k->text->text[t->at] == sign;
}

bool ab_code_is_text(const struct ab_code *k, const struct ab_token *t,
		     const char *s)
{
	return t->kind == AB_TOKEN_WORD && t->len == strlen(s) &&
	       !memcmp(k->text->text + t->at, s, t->len);
}

/* --- words -------------------------------------------------------------- */

static void add_holes(struct ab_code *k, struct ab_word *w,
		      const struct ab_hole *more, uint32_t count)
{
	struct ab_hole *all;

	if (!count)
		return;
	all = ab_check_alloc(k->c, (w->hole_count + count) * sizeof(*all));
	if (!all)
		return;
	if (w->hole_count)
		memcpy(all, w->holes, w->hole_count * sizeof(*all));
	memcpy(all + w->hole_count, more, count * sizeof(*all));
	for (uint32_t i = 0; i < count; i++)
		all[w->hole_count + i].at += w->len;
	w->holes = all;
	w->hole_count += count;
}

void ab_code_hole(struct ab_code *k, struct ab_word *w)
{
	static const struct ab_hole hole = { .kind = AB_HOLE_BYTES };

	/* two at one place say no more than one */
	if (!w->hole_count || w->holes[w->hole_count - 1].at != w->len)
		add_holes(k, w, &hole, 1);
}

void ab_code_append(struct ab_code *k, struct ab_word *w,
		    const struct ab_word *more)
{
	size_t len = (size_t)w->len + more->len;

	/* with room for more, so that many pieces are not copied each time */
	if (!k->last || w->text != k->last || len > k->last_size) {
		char *text = ab_check_alloc(k->c, 2 * len + 1);

		if (!text)
			return;
		if (w->len)
			memcpy(text, w->text, w->len);
		k->last = text;
		k->last_size = 2 * len;
	}
	if (more->len)
		memcpy(k->last + w->len, more->text, more->len);
	add_holes(k, w, more->holes, more->hole_count);
	w->text = k->last;
	w->len = (uint32_t)len;
	w->map = NULL;
	w->map_count = 0;
}

/* Digits of a base from *i on, at most `most`, or all of a {...}. */
static uint32_t read_number(const char *s, uint32_t *i, uint32_t len,
			    uint32_t base, uint32_t most)
{
	bool is_braced = *i < len && s[*i] == '{';
	uint32_t n = 0, end;

	*i += is_braced;
	end = is_braced || len - *i < most ? len : *i + most;
	for (; *i < end; ++*i) {
		char ch = s[*i] | 0x20;
		uint32_t digit = s[*i] >= '0' && s[*i] <= '9'
					 ? (uint32_t)(s[*i] - '0')
				 : ch >= 'a' && ch <= 'f'
					 ? (uint32_t)(ch - 'a') + 10
					 : 99;

		if (digit >= base)
			break;
		n = n < 0x110000 ? n * base + digit : n;
	}
	*i += is_braced && *i < len && s[*i] == '}';
	return n;
}

/* No longer than what stood for it. */
static uint32_t put_utf8(char *to, uint32_t n)
{
	if (n < 0x80) {
		to[0] = (char)n;
		return 1;
	}
	if (n < 0x800) {
		to[0] = (char)(0xc0 | n >> 6);
		to[1] = (char)(0x80 | (n & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | (n >> 12 & 0xf));
	to[1] = (char)(0x80 | (n >> 6 & 0x3f));
	to[2] = (char)(0x80 | (n & 0x3f));
	return 3;
}

/* What a backslash and s[i] stand for; the bytes, of which there are none more
   than were read, go to `to`. The index behind. */
static uint32_t put_escape(const struct ab_code *k, const char *s, uint32_t i,
			   uint32_t len, char *to, uint32_t *n)
{
	static const char names[] = "ntrabefv0", bytes[] = "\n\t\r\a\b\033\f\v";
	const char *at = memchr(names, s[i], 8);
	bool is_octal = s[i] >= '0' && s[i] <= (k->lang == AB_LUA ? '9' : '7');

	if (s[i] == '\n' && k->lang & (AB_PY | AB_JS | AB_RUBY)) {
		i++; /* the line goes on */
	} else if (at) {
		to[(*n)++] = bytes[at - names];
		i++;
	} else if (is_octal) {
		to[(*n)++] = (char)read_number(s, &i, len,
					       k->lang == AB_LUA ? 10 : 8, 3);
	} else if (s[i] == 'x' && i + 1 < len) {
		i++;
		to[(*n)++] = (char)read_number(s, &i, len, 16, 2);
	} else if ((s[i] == 'u' || s[i] == 'U') && i + 4 < len) {
		uint32_t most = s[i] == 'U' ? 8 : 4;

		i++;
		*n += put_utf8(to + *n, read_number(s, &i, len, 16, most));
	} else {
		to[(*n)++] = s[i++];
	}
	return i;
}

/* What a backslash stands for in a string. */
static bool unescape(struct ab_code *k, struct ab_word *w)
{
	const char *from = w->text;
	uint32_t n = 0, len = w->len, h = 0;
	struct ab_hole *holes;
	char *to;

	if (!memchr(from, '\\', len))
		return true;
	to = ab_check_alloc(k->c, len + 1);
	holes = ab_check_alloc(k->c, (w->hole_count + 1) * sizeof(*holes));
	if (!to || !holes)
		return false;
	if (w->hole_count)
		memcpy(holes, w->holes, w->hole_count * sizeof(*holes));
	for (uint32_t i = 0; i < len; i++) {
		while (h < w->hole_count && holes[h].at <= i)
			holes[h++].at = n;
		if (from[i] == '\\' && i + 1 < len)
			i = put_escape(k, from, i + 1, len, to, &n) - 1;
		else
			to[n++] = from[i];
	}
	while (h < w->hole_count)
		holes[h++].at = n;
	for (h = 0; h < w->hole_count; h++) {
		if (holes[h].len > n - holes[h].at)
			holes[h].len = n - holes[h].at;
	}
	w->text = to;
	w->len = n;
	w->holes = holes;
	return true;
}

/* f"..." of python, and "...".format(). */
static bool is_format(const struct ab_code *k, const struct ab_token *t)
{
	static const char format[] = ".format(";
	const char *s = k->text->text;
	uint32_t end = t->at + t->len, at = t->at;

	while (end < k->text->len && s[end] == t->quote)
		end++;
	if (k->text->len - end >= sizeof(format) - 1 &&
	    !memcmp(s + end, format, sizeof(format) - 1))
		return true;
	while (at && s[at - 1] == t->quote)
		at--;
	return (at && (s[at - 1] | 0x20) == 'f') ||
	       (at > 1 && (s[at - 2] | 0x20) == 'f' &&
		(s[at - 1] | 0x20) == 'r');
}

/* What begins an expression in the string; NULL: nothing does. */
static const char *field_open(const struct ab_code *k,
			      const struct ab_token *t)
{
	const char *open = NULL;

	if (k->lang == AB_PY)
		open = "{";
	else if (k->lang == AB_JS && t->quote == '`')
		open = "${";
	else if (k->lang & (AB_RUBY | AB_OTHER) && t->quote != '\'')
		open = "#{";
	if (!open || !memmem(k->text->text + t->at, t->len, open, strlen(open)))
		return NULL;
	return k->lang != AB_PY || is_format(k, t) ? open : NULL;
}

/* The next `open` that no backslash stands before; {{ is a brace. */
static const char *find_open(const char *s, uint32_t at, uint32_t end,
			     const char *open)
{
	const size_t n = strlen(open);
	const char *found;

	for (; (found = memmem(s + at, end - at, open, n)); at++) {
		uint32_t i = (uint32_t)(found - s), k = 0;

		while (i - k > at && s[i - k - 1] == '\\')
			k++;
		at = i;
		if (n == 1 && i + 1 < end && s[i + 1] == '{')
			at++;
		else if (n == 1 || !(k & 1))
			return found;
	}
	return NULL;
}

bool ab_code_field(const struct ab_code *k, const struct ab_token *t,
		   uint32_t from, uint32_t *at, uint32_t *end)
{
	static const char *const more[] = { "${", "@{" };
	const char *s = k->text->text, *open = field_open(k, t), *found = NULL;
	uint32_t stop = t->at + t->len;
	struct ab_lexer x = k->x;

	if (t->is_doubt) {
		*at = t->at + 1;
		*end = k->doubt_end;
		return from < *at;
	}
	if (open)
		found = find_open(s, from, stop, open);
	/* what the shell would take for a variable of its own */
	for (size_t i = 0; i < AB_ARRAY_LEN(more) && !found; i++) {
		open = more[i];
		if (k->lang & (AB_PERL | AB_OTHER) && t->quote != '\'')
			found = find_open(s, from, stop, open);
	}
	if (!found && k->lang == AB_PHP && t->quote != '\'') {
		open = "{";
		found = memmem(s + from, stop - from, "{$", 2);
	}
	if (!found)
		return false;
	*at = (uint32_t)(found - s) + (uint32_t)strlen(open);
	*end = ab_field_end(&x, *at, stop);
	/* without an end all that follows may be code */
	*end = *end ? *end - 1 : stop;
	return true;
}

/* {x}: the one value that x has, or a hole. */
static void put_field(struct ab_code *k, struct ab_word *w, uint32_t at,
		      uint32_t len)
{
	struct ab_token t = { .at = at, .len = len, .kind = AB_TOKEN_WORD };
	const struct ab_named *n = ab_code_named(k, &t);

	if (n && !n->call && n->count == 1)
		ab_code_append(k, w, &n->words[0]);
	else
		ab_code_hole(k, w);
}

/* A part of the string as it is. */
static bool put_text(struct ab_code *k, struct ab_word *w, uint32_t from,
		     uint32_t to)
{
	struct ab_word part;

	if (!ab_word_slice(k->c, k->text, from, to - from, &part) ||
	    !unescape(k, &part))
		return false;
	ab_code_append(k, w, &part);
	return true;
}

static bool fill_fields(struct ab_code *k, const struct ab_token *t,
			const char *open, struct ab_word *w)
{
	const char *s = k->text->text;
	const uint32_t n = (uint32_t)strlen(open), end = t->at + t->len;
	uint32_t at = t->at;

	if (!ab_word_slice(k->c, k->text, at, 0, w))
		return false;
	while (at < end) {
		const char *found = n == 1 ? memchr(s + at, '{', end - at)
					   : find_open(s, at, end, open);
		uint32_t stop = found ? (uint32_t)(found - s) : end;
		/* {{ is one brace and no field */
		bool is_brace = n == 1 && stop + 1 < end && s[stop + 1] == '{';
		uint32_t close = found && !is_brace
					 ? ab_field_end(&k->x, stop + n,
							 end)
					 : 0;

		if (!close)
			stop = is_brace ? stop + 1 : end;
		if (!put_text(k, w, at, stop))
			return false;
		at = stop + is_brace;
		if (!close)
			continue;
		at = close;
		if (k->lang != AB_OTHER) {
			put_field(k, w, stop + n, close - 1 - stop - n);
			continue;
		}
		/* in some of them it is text */
		ab_code_hole(k, w);
		if (!put_text(k, w, stop, close))
			return false;
	}
	return true;
}

/* "$a" of perl and php: the value that a has; of others the shell is asked. */
static bool fill_names(struct ab_code *k, const struct ab_token *t,
		       struct ab_word *w)
{
	const char *s = k->text->text;
	uint32_t at = t->at, end = t->at + t->len;

	if (!ab_word_slice(k->c, k->text, at, 0, w))
		return false;
	for (uint32_t i = at; i < end;) {
		struct ab_token name = { .at = i, .kind = AB_TOKEN_WORD };
		const struct ab_named *n;

		if (s[i++] != '$')
			continue;
		while (i < end && ab_code_is_letter(s[i]))
			i++;
		name.len = i - name.at;
		n = ab_code_named(k, &name);
		if (!n || n->call || n->count != 1)
			continue;
		if (!put_text(k, w, at, name.at))
			return false;
		ab_code_append(k, w, &n->words[0]);
		at = i;
	}
	return put_text(k, w, at, end);
}

bool ab_code_word(struct ab_code *k, const struct ab_token *t,
		  struct ab_word *w)
{
	const char *open = field_open(k, t);

	if (k->lang & (AB_PERL | AB_PHP) && k->name_count &&
	    t->quote != '\'' && memchr(k->text->text + t->at, '$', t->len))
		return fill_names(k, t, w);

	if (open)
		return fill_fields(k, t, open, w);
	return ab_word_slice(k->c, k->text, t->at, t->len, w) &&
	       unescape(k, w);
}

bool ab_code_bare_word(const struct ab_code *k, const struct ab_token *all,
		       struct ab_token *t)
{
	const char *s = k->text->text;
	uint32_t end = all->at + all->len, at = t->at + t->len;

	while (at < end && memchr(" \t\r\n", s[at], 4))
		at++;
	*t = (struct ab_token){ .at = at, .kind = AB_TOKEN_STRING,
				.quote = '\'' };
	while (at < end && !memchr(" \t\r\n", s[at], 4))
		at++;
	t->len = at - t->at;
	return t->len > 0;
}

bool ab_code_is_joint(const struct ab_code *k, const struct ab_token *t)
{
	return (ab_code_is_sign(k, t, '+') &&
		k->lang & (AB_PY | AB_RUBY | AB_JS | AB_OTHER)) ||
	       (ab_code_is_sign(k, t, '.') &&
		k->lang & (AB_PERL | AB_PHP | AB_LUA));
}

enum ab_piece ab_code_piece(const struct ab_code *k, enum ab_joint *joint,
			    const struct ab_token *t, bool is_text)
{
	enum ab_joint was = *joint;

	if (is_text) {
		*joint = AB_JOINT_STRING;
		/* "a" "b" is one string */
		return was == AB_JOINT_OPEN ||
				       (was == AB_JOINT_STRING &&
					k->lang & (AB_PY | AB_RUBY | AB_AWK))
			       ? AB_PIECE_MORE
			       : AB_PIECE_NEW;
	}
	if (was == AB_JOINT_NONE)
		return AB_PIECE_OTHER;
	if (ab_code_is_joint(k, t)) {
		*joint = AB_JOINT_OPEN;
		return AB_PIECE_OTHER;
	}
	if (was == AB_JOINT_OPEN ||
	    (was == AB_JOINT_STRING &&
	     (ab_code_is_sign(k, t, '%') ||
	      (k->lang == AB_AWK && t->kind == AB_TOKEN_WORD)))) {
		*joint = AB_JOINT_COMPUTED;
		return AB_PIECE_HOLE;
	}
	if (was == AB_JOINT_STRING || ab_code_is_sign(k, t, ','))
		*joint = AB_JOINT_NONE;
	return AB_PIECE_OTHER;
}

/* --- names -------------------------------------------------------------- */

const struct ab_named *ab_code_named(const struct ab_code *k,
				     const struct ab_token *t)
{
	const char *s = k->text->text;

	for (uint32_t i = 0; i < k->name_count; i++) {
		const struct ab_named *n = &k->names[i];

		if (n->name.len == t->len && t->len &&
		    !memcmp(s + n->name.at, s + t->at, t->len))
			return n;
	}
	return NULL;
}

/* x.split(): the words of the line that x is. */
static bool is_split(const struct ab_code *k, const struct ab_token *dot)
{
	static const char split[] = ".split(";
	const size_t n = sizeof(split) - 1;

	return k->text->len - dot->at >= n &&
	       !memcmp(k->text->text + dot->at, split, n);
}

const struct ab_named *ab_code_value(const struct ab_code *k,
				     const struct ab_token *t)
{
	const struct ab_named *n = t->kind == AB_TOKEN_WORD && k->name_count
					   ? ab_code_named(k, t)
					   : NULL;
	struct ab_lexer x = k->x;
	struct ab_token next;

	if (!n || n->call || !n->count)
		return NULL;
	if (ab_lexer_next(&x, &next) && next.kind == AB_TOKEN_SIGN &&
	    memchr("(.[=", k->text->text[next.at], 4) &&
	    !is_split(k, &next) &&
	    !(ab_code_is_sign(k, &next, '.') &&
	      k->lang & (AB_PERL | AB_PHP | AB_LUA)))
		return NULL;
	return n;
}

static struct ab_named *add_named(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_named(k, t);

	if (n)
		return &k->names[n - k->names];
	if (k->name_count == AB_CODE_NAMES)
		return NULL;
	if (!k->names)
		k->names = ab_check_alloc(k->c, AB_CODE_NAMES *
							sizeof(*k->names));
	if (!k->names)
		return NULL;
	k->names[k->name_count] = (struct ab_named){ .name = *t };
	return &k->names[k->name_count++];
}

static bool is_same(const struct ab_code *k, const struct ab_token *a,
		    const struct ab_token *b)
{
	const char *s = k->text->text;

	return a->len == b->len && !memcmp(s + a->at, s + b->at, a->len);
}

#define MAX_UNKNOWN 64

void ab_code_note_unknown(struct ab_code *k, const struct ab_token *t)
{
	if (t->kind != AB_TOKEN_WORD || k->is_unknown)
		return;
	for (uint32_t i = 0; i < k->unknown_count; i++) {
		if (is_same(k, &k->unknown[i], t))
			return;
	}
	if (!k->unknown)
		k->unknown = ab_check_alloc(k->c, MAX_UNKNOWN *
							  sizeof(*k->unknown));
	k->is_unknown = !k->unknown || k->unknown_count == MAX_UNKNOWN;
	if (!k->is_unknown)
		k->unknown[k->unknown_count++] = *t;
}

void ab_code_settle_names(struct ab_code *k)
{
	for (uint32_t i = 0; i < k->name_count; i++) {
		struct ab_named *n = &k->names[i];

		n->is_unknown = k->is_unknown;
		for (uint32_t u = 0; u < k->unknown_count; u++)
			n->is_unknown |= is_same(k, &k->unknown[u], &n->name);
	}
}

static_assert(AB_CODE_VALUES <= 32, "a bit for each value");

static void add_value(struct ab_code *k, struct ab_named *n,
		      const struct ab_token *t, enum ab_piece piece)
{
	struct ab_word w;

	if (n->is_cut)
		return;
	if (piece == AB_PIECE_HOLE) {
		if (n->count)
			ab_code_hole(k, &n->words[n->count - 1]);
	} else if (piece != AB_PIECE_OTHER && ab_code_word(k, t, &w)) {
		if (piece == AB_PIECE_MORE && n->count)
			ab_code_append(k, &n->words[n->count - 1], &w);
		else if (n->count < AB_CODE_VALUES)
			n->words[n->count++] = w;
		else
			n->is_cut = true;
	}
}

bool ab_code_is_path_type(const struct ab_code *k, const struct ab_token *t)
{
	return (k->lang == AB_PY && (ab_code_is_text(k, t, "Path") ||
				     ab_code_is_text(k, t, "PurePath") ||
				     ab_code_is_text(k, t, "PosixPath"))) ||
	       (k->lang == AB_RUBY && ab_code_is_text(k, t, "Pathname"));
}

/* Nothing is made of it, or the same path; the lexer is behind it. */
static bool is_plain_path(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || t.is_line)
		return true;
	if (ab_code_is_sign(k, &t, '.') && ab_lexer_next(&x, &t))
		return ab_code_is_text(k, &t, "resolve") ||
		       ab_code_is_text(k, &t, "absolute") ||
		       ab_code_is_text(k, &t, "expanduser");
	return !ab_code_is_sign(k, &t, '/') && !ab_code_is_sign(k, &t, '+');
}

enum value_kind {
	VALUE_SET,  /* name = */
	VALUE_MORE, /* name += */
	VALUE_EACH  /* for name in */
};

/* What stands behind `name =` or `for name in`. */
static void read_value(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name, enum value_kind kind)
{
	enum ab_joint joint = AB_JOINT_NONE;
	struct ab_token t, last = { 0 };
	struct ab_named *n = NULL;
	bool is_path = true; /* os.system, and no more */
	bool had = false, begins = false, is_list = false, is_file = false;
	uint32_t depth = 0, i = 0, from = 0, lists = 0;

	for (; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		bool is_text = t.kind == AB_TOKEN_STRING;
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;

		if (!depth && i && (t.is_line || (ch && memchr(";,)}]", ch, 5))))
			break;
		if (ch && memchr("([", ch, 2)) {
			is_path = is_path && i && ch == '(' && depth;
			is_file |= i && !depth &&
				   ab_code_is_path_type(k, &last);
			/* a call, unless it begins a list */
			if (i && !depth && joint == AB_JOINT_NONE && !is_file)
				break;
			/* for x in [["a", "b"], ["c"]] */
			if (begins && depth == 1 && ch == '[' &&
			    (!n || n->count < AB_CODE_VALUES))
				lists |= UINT32_C(1) << (n ? n->count : 0);
			depth++;
			begins |= !i;
		} else if (ch && memchr(")]", ch, 2) &&
			   (!depth || !--depth)) {
			last = t;
			break;
		}
		is_path = is_path && (t.kind == AB_TOKEN_WORD || ch == '.');
		if (!is_path && !is_text && !n && !(ch && memchr("([", ch, 2)))
			break;
		if (is_text && !n) {
			n = add_named(k, name);
			if (!n)
				return;
			from = n->count;
			had = from > 0;
		}
		if (n && is_text && t.quote == 'w') {
			struct ab_token w = { .at = t.at };

			while (ab_code_bare_word(k, &t, &w))
				add_value(k, n, &w, AB_PIECE_NEW);
			is_list = true;
		} else if (n) {
			enum ab_piece piece =
				ab_code_piece(k, &joint, &t, is_text);

			if (kind == VALUE_MORE && !begins &&
			    piece == AB_PIECE_NEW)
				piece = AB_PIECE_MORE;
			add_value(k, n, &t, piece);
		}
		/* ("a") is no list */
		is_list |= ch && ((ch == '[' && !i) ||
				  (ch == ',' && depth == 1 && begins));
		last = t;
	}
	/* for p in Path("x").glob("*"), Path("x") / "y" */
	if (n && is_file && (kind != VALUE_SET || !is_plain_path(k, x))) {
		n->count = from;
		return;
	}
	if (n) {
		/* what was not read may be the end of its last value */
		n->is_cut |= i == MAX_TOKENS;
		is_list &= kind != VALUE_EACH || lists;
		n->begins |= lists;
		n->is_path |= is_file;
		if (is_list && kind == VALUE_SET && from < AB_CODE_VALUES)
			n->begins |= UINT32_C(1) << from | (from > 0);
		n->is_any |= had && n->is_list != is_list &&
			     kind != VALUE_MORE;
		n->is_list |= is_list;
	}
	if (is_path && last.kind == AB_TOKEN_WORD && ab_code_call(k, &last) &&
	    (n = add_named(k, name)))
		n->call = ab_code_call(k, &last);
}

static bool begins_text(struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_STRING;
}

/* None, 0: before it is given something. */
static bool is_nothing(const struct ab_code *k, struct ab_lexer x)
{
	static const char *const words[] = { "None", "null", "nil", "undefined",
					     "True", "False", "true", "false" };
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || t.kind != AB_TOKEN_WORD)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (ab_code_is_text(k, &t, words[i]))
			return true;
	}
	return k->text->text[t.at] >= '0' && k->text->text[t.at] <= '9';
}

/* The same, and whether that is not known. */
static void set_value(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *before,
		      const struct ab_token *name, enum value_kind kind)
{
	const struct ab_named *n = ab_code_named(k, name);
	uint32_t count = n ? n->count : 0;
	bool was_cut = n && n->is_cut;

	read_value(k, x, name, kind);
	n = ab_code_named(k, name);
	/* `x += "a"` makes a value longer */
	/* f(x=y) of python gives it to another one */
	if (k->lang == AB_PY && (ab_code_is_sign(k, before, '(') ||
				 ab_code_is_sign(k, before, ',')))
		return;
	if ((!n || (n->count == count && !n->call && !was_cut)) &&
	    !(n && kind == VALUE_MORE && begins_text(x)) &&
	    !is_nothing(k, x))
		ab_code_note_unknown(k, name);
}

/* a, b = f(): behind the first of them. */
static void note_tuple(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *first)
{
	struct ab_token all[8], t;
	uint32_t n = 0;

	all[n++] = *first;
	while (n < AB_ARRAY_LEN(all) && ab_lexer_next(&x, &t) && !t.is_line) {
		if (t.kind == AB_TOKEN_WORD)
			all[n++] = t;
		else if (ab_code_is_sign(k, &t, '='))
			break;
		else if (!ab_code_is_sign(k, &t, ',') &&
			 !ab_code_is_sign(k, &t, '*'))
			return;
	}
	if (!ab_code_is_sign(k, &t, '=') ||
	    (x.pos < x.len && x.text[x.pos] == '='))
		return;
	for (uint32_t i = 0; i < n; i++)
		ab_code_note_unknown(k, &all[i]);
}

/* x.append("a"), x.extend(["a", "b"]), x.push("a"), behind the name. */
static void read_append(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	static const char *const names[] = { "append", "extend", "push" };
	const struct ab_named *known = ab_code_named(k, name);
	struct ab_named *n;
	struct ab_token t;
	bool is_append = false;

	if (!known || !known->is_list || !ab_lexer_next(&x, &t))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		is_append |= ab_code_is_text(k, &t, names[i]);
	if (!is_append || !ab_lexer_next(&x, &t))
		return;
	n = &k->names[known - k->names];
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t) &&
			     !t.is_line && !ab_code_is_sign(k, &t, ')'); i++) {
		if (t.kind == AB_TOKEN_STRING)
			add_value(k, n, &t, AB_PIECE_NEW);
	}
}

void ab_code_cut_name(struct ab_code *k, const struct ab_token *t)
{
	struct ab_named *n = add_named(k, t);

	if (n)
		n->is_cut = true;
}

void ab_code_read_param(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	const struct ab_named *n = ab_code_named(k, name);
	uint32_t count = n ? n->count : 0;

	read_value(k, x, name, VALUE_SET);
	n = ab_code_named(k, name);
	if (!n || n->count == count)
		ab_code_cut_name(k, name);
}

void ab_code_read_rest(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name)
{
	struct ab_named *n = add_named(k, name);
	struct ab_token t;

	if (!n)
		return;
	n->is_list = true;
	if (n->count < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << n->count;
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t); i++) {
		if (ab_code_is_sign(k, &t, ')'))
			return;
		if (t.kind == AB_TOKEN_STRING)
			add_value(k, n, &t, AB_PIECE_NEW);
		else if (!ab_code_is_sign(k, &t, ','))
			break;
	}
	n->is_cut = true;
}

/* x = promisify(y.exec), x = partial(os.system): another name of the call;
   behind the word. */
static void read_wrapped(struct ab_code *k, const struct ab_token *name)
{
	struct ab_lexer x = k->x;
	struct ab_token t, last = { 0 };
	struct ab_named *n;

	if (!name->len || !ab_lexer_next(&x, &t) ||
	    !ab_code_is_sign(k, &t, '('))
		return;
	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(&x, &t) &&
			     (t.kind != AB_TOKEN_SIGN ||
			      memchr(".()", k->text->text[t.at], 3)); i++) {
		if (t.kind == AB_TOKEN_WORD)
			last = t;
		else if (!ab_code_is_sign(k, &t, '.'))
			last.kind = ab_code_is_sign(k, &t, '(') ? 0 : last.kind;
		if (ab_code_is_sign(k, &t, ')') && last.kind &&
		    ab_code_call(k, &last)) {
			n = add_named(k, name);
			if (n)
				n->call = ab_code_call(k, &last);
			return;
		}
	}
}

/* What goes through a list that has a name is any of its values. */
static void copy_values(struct ab_code *k, const struct ab_token *name,
			const struct ab_token *list)
{
	const struct ab_named *from = ab_code_named(k, list);
	struct ab_named *n;

	if (!from || from->call || !from->is_list)
		return;
	n = add_named(k, name);
	if (!n || n == from)
		return;
	n->is_any |= n->is_list;
	n->is_cut |= from->is_cut;
	for (uint32_t i = 0; i < from->count; i++) {
		if (n->count < AB_CODE_VALUES)
			n->words[n->count++] = from->words[i];
		else
			n->is_cut = true;
	}
}

/* for x in, for (const x of, foreach my $x (; t stands behind the first. */
static void read_loop(struct ab_code *k, struct ab_lexer x, struct ab_token t)
{
	static const char *const declare[] = { "const", "let", "var", "my",
					       "our" };
	const struct ab_named *known;
	struct ab_token name;
	struct ab_lexer list;
	uint32_t count;

	if (ab_code_is_sign(k, &t, '(') && !ab_lexer_next(&x, &t))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(declare); i++) {
		if (ab_code_is_text(k, &t, declare[i]) &&
		    !ab_lexer_next(&x, &t))
			return;
	}
	name = t;
	list = x;
	if (name.kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &t))
		return;
	/* for k, v in: parts of what the list has */
	if (ab_code_is_sign(k, &t, ',')) {
		ab_code_note_unknown(k, &name);
		for (uint32_t i = 0; i < 8 && ab_code_is_sign(k, &t, ',') &&
				     ab_lexer_next(&x, &name); i++) {
			ab_code_note_unknown(k, &name);
			if (!ab_lexer_next(&x, &t))
				break;
		}
		return;
	}
	if (ab_code_is_text(k, &t, "in") || ab_code_is_text(k, &t, "of"))
		list = x;
	else if (k->lang != AB_PERL || !ab_code_is_sign(k, &t, '('))
		return;
	known = ab_code_named(k, &name);
	count = known ? known->count : 0;
	read_value(k, list, &name, VALUE_EACH);
	if (ab_lexer_next(&list, &t) && t.kind == AB_TOKEN_WORD)
		copy_values(k, &name, &t);
	known = ab_code_named(k, &name);
	if (!known || known->count == count)
		ab_code_note_unknown(k, &name);
}

/* p of (p =>, ((p) =>, (function (p), { |p|, do |p|. */
static bool is_parameter(struct ab_code *k, struct ab_lexer x,
			 struct ab_token *name)
{
	uint32_t open = 0;
	struct ab_token t;

	for (uint32_t i = 0; i < 6 && ab_lexer_next(&x, name); i++) {
		if (ab_code_is_sign(k, name, '(') ||
		    ab_code_is_text(k, name, "function")) {
			open++;
			continue;
		}
		if (ab_code_is_sign(k, name, '{') ||
		    ab_code_is_sign(k, name, '|') ||
		    ab_code_is_text(k, name, "async") ||
		    ab_code_is_text(k, name, "do"))
			continue;
		return name->kind == AB_TOKEN_WORD && ab_lexer_next(&x, &t) &&
		       (ab_code_is_sign(k, &t, '=') ||
			ab_code_is_sign(k, &t, '|') ||
			(open > 1 && (ab_code_is_sign(k, &t, ')') ||
				      ab_code_is_sign(k, &t, ','))));
	}
	return false;
}

/* The tokens before the one at hand, the last one first, and the place before
   the last list that was written out. */
struct trail {
	struct ab_token last[2];
	struct ab_token set; /* the name that was given something last */
	struct ab_lexer list;
};

/* ["a", "b"].forEach(p =>, x.each { |p|. */
static void read_each(struct ab_code *k, const struct trail *trail,
		      const struct ab_token *t)
{
	static const char *const names[] = { "forEach", "map", "each", "some",
					     "every", "filter", "flatMap" };
	struct ab_token name;
	bool is_each = false;

	if (!ab_code_is_sign(k, &trail->last[0], '.'))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		is_each |= ab_code_is_text(k, t, names[i]);
	if (!is_each || !is_parameter(k, k->x, &name))
		return;
	if ((ab_code_is_sign(k, &trail->last[1], ']') ||
	     trail->last[1].quote == 'w') && trail->list.text)
		read_value(k, trail->list, &name, VALUE_EACH);
	else if (trail->last[1].kind == AB_TOKEN_WORD)
		copy_values(k, &name, &trail->last[1]);
}

/* A list and no index. */
static bool is_list(const struct ab_code *k, const struct ab_token *before,
		    const struct ab_token *t)
{
	return ab_code_is_sign(k, t, '[') &&
	       before->kind != AB_TOKEN_WORD &&
	       !ab_code_is_sign(k, before, ')') &&
	       !ab_code_is_sign(k, before, ']');
}

static void look_at(struct ab_code *k, const struct ab_token *before,
		    const struct ab_token *t)
{
	const char *s = k->text->text;
	struct ab_lexer x = k->x;
	struct ab_token next, name;
	struct ab_named *n;
	uint8_t call;

	if (!ab_lexer_next(&x, &next))
		return;
	if (ab_code_is_sign(k, &next, '=')) {
		/* no `==`, `=>` or `=~`, and no x.name */
		if (!(x.pos < x.len && memchr("=>~", s[x.pos], 3)) &&
		    !ab_code_is_sign(k, before, '.'))
			set_value(k, x, before, t, VALUE_SET);
	} else if (ab_code_is_sign(k, &next, ':') && x.pos < x.len &&
		   s[x.pos] == '=') {
		ab_code_note_unknown(k, t); /* (x := f()) */
	} else if (ab_code_is_sign(k, &next, ',') &&
		   (t->is_line || !before->kind ||
		    ab_code_is_sign(k, before, ';'))) {
		note_tuple(k, x, t);
	} else if ((k->lang == AB_AWK && ab_code_is_text(k, t, "getline")) ||
		   (k->lang & (AB_PY | AB_PHP) &&
		    (ab_code_is_text(k, t, "as") ||
		     ab_code_is_text(k, t, "lambda")))) {
		ab_code_note_unknown(k, &next);
	} else if (ab_code_is_sign(k, &next, '<') && x.pos < x.len &&
		   s[x.pos] == '-' && !strcmp(k->name, "r")) {
		if (ab_lexer_next(&x, &next))
			set_value(k, x, before, t, VALUE_SET);
	} else if (ab_code_is_joint(k, &next) && x.pos < x.len &&
		   s[x.pos] == '=') {
		if (ab_lexer_next(&x, &next) &&
		    !ab_code_is_sign(k, before, '.'))
			set_value(k, x, before, t, VALUE_MORE);
	} else if (ab_code_is_sign(k, &next, '.') &&
		   k->lang & (AB_PY | AB_JS | AB_RUBY) && k->name_count) {
		read_append(k, x, t);
	} else if (ab_code_is_text(k, t, "for") ||
		   ab_code_is_text(k, t, "foreach")) {
		read_loop(k, x, next);
	} else if (((k->lang & (AB_PY | AB_JS) &&
		     ab_code_is_text(k, &next, "as")) ||
		    (k->lang == AB_JS && ab_code_is_sign(k, &next, ':'))) &&
		   (call = ab_code_call(k, t)) && ab_lexer_next(&x, &name) &&
		   name.kind == AB_TOKEN_WORD && (n = add_named(k, &name))) {
		n->call = call;
	}
}

void ab_code_find_names(struct ab_code *k)
{
	struct ab_token t;
	struct ab_lexer start = k->x, at = k->x;
	struct trail trail = { 0 };

	/* those that are known get values to the end */
	while (ab_lexer_next(&k->x, &t)) {
		if (t.kind == AB_TOKEN_WORD) {
			look_at(k, &trail.last[0], &t);
			read_each(k, &trail, &t);
			if (ab_code_is_text(k, &t, "promisify") ||
			    ab_code_is_text(k, &t, "partial"))
				read_wrapped(k, &trail.set);
		} else if (t.quote == 'w' ||
			   is_list(k, &trail.last[0], &t)) {
			trail.list = at;
		}
		if (ab_code_is_sign(k, &t, '='))
			trail.set = trail.last[0];
		else if (ab_code_is_sign(k, &t, ';'))
			trail.set.len = 0;
		at = k->x;
		trail.last[1] = trail.last[0];
		trail.last[0] = t;
	}
	k->x = start;
	k->last = NULL;
}
