/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words that strings of an inline program make: escapes, expressions in
 * them, names in them, and what is joined to them. Refuses to know what such
 * an expression is: it is a hole, and read as code beside that (code.c).
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

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

/* What a backslash may stand before in a string to mean something. */
struct escapes {
	bool is_any;
	char bytes[3]; /* where it is not: itself and the quotes, or NULs */
};

static struct escapes escapes_of(const struct ab_code *k,
				 const struct ab_token *t)
{
	static const char pairs[] = "([{<)]}>";
	struct escapes all = { .is_any = true }, none = { 0 }, few = none;
	const char *s = k->text->text, *pair;
	uint32_t at = t->at, n = 0;

	if (k->lang & (AB_PERL | AB_RUBY | AB_PHP) && t->quote == '\'') {
		if (!at || s[at - 1] == '\n') /* <<'X' */
			return none;
		pair = memchr(pairs, s[at - 1], 4);
		few.bytes[0] = '\\';
		few.bytes[1] = s[at - 1];
		few.bytes[2] = pair ? pair[4] : s[at - 1];
		return few;
	}
	if (k->lang != AB_PY)
		return all;
	while (at && s[at - 1] == t->quote)
		at--;
	while (n < 2 && n < at && memchr("rbfuRBFU", s[at - n - 1], 8))
		n++;
	if (n < at && ab_code_is_letter(s[at - n - 1]))
		return all;
	return memchr(s + at - n, 'r', n) || memchr(s + at - n, 'R', n) ?
		       none :
		       all;
}

/* What a backslash stands for in a string. */
static bool unescape(struct ab_code *k, struct escapes escapes,
		     struct ab_word *w)
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
		if (from[i] == '\\' && i + 1 < len &&
		    (escapes.is_any ||
		     (from[i + 1] && memchr(escapes.bytes, from[i + 1], 3))))
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
	const struct escapes all = { .is_any = true };
	struct ab_word part;

	if (!ab_word_slice(k->c, k->text, from, to - from, &part) ||
	    !unescape(k, all, &part))
		return false;
	ab_code_append(k, w, &part);
	return true;
}

/* An odd number of backslashes stands before it. */
static bool is_escaped(const char *s, uint32_t at)
{
	uint32_t n = 0;

	while (n < at && s[at - n - 1] == '\\')
		n++;
	return n & 1;
}

/* ruby: "#$x" and "#@x" */
static bool has_marks(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	return k->lang == AB_RUBY && t->quote != '\'' &&
	       (memmem(s, t->len, "#$", 2) || memmem(s, t->len, "#@", 2));
}

/* A part, with those in it. */
static bool put_part(struct ab_code *k, struct ab_word *w, uint32_t from,
		     uint32_t to)
{
	const char *s = k->text->text, *at;

	while (k->lang == AB_RUBY &&
	       (at = memchr(s + from, '#', to - from)) != NULL) {
		uint32_t mark = (uint32_t)(at - s), name = mark + 1, end;

		if (name == to || !memchr("$@", s[name], 2) ||
		    is_escaped(s, mark)) {
			if (!put_text(k, w, from, name))
				return false;
			from = name;
			continue;
		}
		for (end = name + 1; end < to && (s[end] == '@' ||
				     ab_code_is_letter(s[end])); end++)
			;
		if (!put_text(k, w, from, mark))
			return false;
		while (s[name] == '@' && name + 1 < end)
			name++;
		put_field(k, w, name, end - name);
		from = end;
	}
	return put_text(k, w, from, to);
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
		if (!put_part(k, w, at, stop))
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

/* "$1", "${1}", "$&" and "@a" of perl, which no shell has or takes for something
   else: their length, or 0. */
static uint32_t own_name(const struct ab_code *k, uint32_t at, uint32_t end)
{
	const char *s = k->text->text;
	bool is_array = s[at] == '@', is_braced;
	uint32_t i = at + 1, from;

	if (k->lang != AB_PERL || i >= end || is_escaped(s, at))
		return 0;
	if (!is_array && s[i] == '&')
		return 2;
	is_braced = !is_array && s[i] == '{';
	from = i += is_braced;
	while (i < end && (is_array ? ab_code_is_letter(s[i])
				    : s[i] >= '0' && s[i] <= '9'))
		i++;
	if (i == from || (is_braced && (i == end || s[i] != '}')))
		return 0;
	return i + is_braced - at;
}

static bool has_names(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text;
	uint32_t end = t->at + t->len;

	if (!(k->lang & (AB_PERL | AB_PHP)) || t->quote == '\'')
		return false;
	if (k->name_count && memchr(s + t->at, '$', t->len))
		return true;
	for (uint32_t i = t->at; k->lang == AB_PERL && i < end; i++) {
		if ((s[i] == '$' || s[i] == '@') && own_name(k, i, end))
			return true;
	}
	return false;
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
		uint32_t own = s[i] == '$' || s[i] == '@'
				       ? own_name(k, i, end)
				       : 0;

		if (own) {
			if (!put_text(k, w, at, i))
				return false;
			ab_code_hole(k, w);
			at = i += own;
			continue;
		}
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

bool ab_code_plain_word(struct ab_code *k, const struct ab_token *t,
			struct ab_word *w)
{
	return ab_word_slice(k->c, k->text, t->at, t->len, w) &&
	       unescape(k, escapes_of(k, t), w);
}

bool ab_code_runs_text(const struct ab_code *k, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_STRING && t->quote == '`' &&
	       k->lang & (AB_PERL | AB_RUBY | AB_PHP);
}

bool ab_code_word(struct ab_code *k, const struct ab_token *t,
		  struct ab_word *w)
{
	if (AB_LIKELY(!ab_code_runs_text(k, t)))
		return ab_code_text_word(k, t, w);
	if (!ab_word_slice(k->c, k->text, t->at, 0, w))
		return false;
	ab_code_hole(k, w);
	return true;
}

bool ab_code_text_word(struct ab_code *k, const struct ab_token *t,
		       struct ab_word *w)
{
	const char *open = field_open(k, t);

	if (has_names(k, t))
		return fill_names(k, t, w);
	if (!open && has_marks(k, t))
		open = "#{";
	if (open)
		return fill_fields(k, t, open, w);
	return ab_code_plain_word(k, t, w);
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
	const char *s = k->text->text;

	/* ruby: "a" << x */
	if (k->lang == AB_RUBY && ab_code_is_sign(k, t, '<'))
		return (t->at + 1 < k->text->len && s[t->at + 1] == '<') ||
		       (t->at && s[t->at - 1] == '<');
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
		/* "a" "b" is one string, and awk's "a" x "b" */
		return was == AB_JOINT_OPEN ||
				       (was == AB_JOINT_STRING &&
					k->lang & (AB_PY | AB_RUBY | AB_AWK)) ||
				       (was == AB_JOINT_COMPUTED &&
					k->lang == AB_AWK)
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
