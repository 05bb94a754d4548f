/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments of a call: JSON (RFC 8259) read value by value, each with its
 * place. It refuses what two readers could read differently: a key twice, an
 * encoding that is none, anything behind the end; and what has no bound. Keys
 * are remembered by hash: two that share one are taken for the same, which
 * only ever refuses. Linear; no recursion.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"
#include "scope/internal.h"

#define MAX_PROBES 64
#define MAX_POINTER 1024

static bool stop(struct ab_scope_reader *r, const char *why)
{
	r->why = why;
	return false;
}

static void skip_space(struct ab_scope_reader *r)
{
	while (r->at < r->n && strchr(" \t\r\n", r->text[r->at]) &&
	       r->text[r->at])
		r->at++;
}

/* --- strings -------------------------------------------------------------- */

/* Four hex digits at p; -1: there are none. */
static int32_t unit(const struct ab_scope_reader *r, size_t at)
{
	int32_t value = 0;

	if (at + 4 > r->n)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		int d = ab_hex_digit(r->text[at + i]);

		if (d < 0)
			return -1;
		value = value << 4 | d;
	}
	return value;
}

/* \uXXXX at r->at (behind the u); pairs are one character, halves U+FFFD. */
static bool read_unit(struct ab_scope_reader *r, char *out, size_t *used)
{
	int32_t high = unit(r, r->at);
	int32_t low;
	uint32_t c;

	if (high < 0)
		return stop(r, "an escape in a string is not JSON's");
	r->at += 4;
	c = (uint32_t)high;
	if (c >= 0xd800 && c < 0xdc00 && r->at + 6 <= r->n &&
	    r->text[r->at] == '\\' && r->text[r->at + 1] == 'u') {
		low = unit(r, r->at + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) +
			    ((uint32_t)low - 0xdc00);
			r->at += 6;
		}
	}
	if (c >= 0xd800 && c < 0xe000)
		c = 0xfffd;
	*used += ab_utf8_put(out + *used, c);
	return true;
}

static bool read_escape(struct ab_scope_reader *r, char *out, size_t *used)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c;

	if (r->at >= r->n)
		return stop(r, "a string has no end");
	c = r->text[r->at++];
	if (c == 'u')
		return read_unit(r, out, used);
	found = c ? strchr(from, c) : NULL;
	if (!found)
		return stop(r, "an escape in a string is not JSON's");
	out[(*used)++] = to[found - from];
	return true;
}

static bool read_character(struct ab_scope_reader *r, char *out, size_t *used)
{
	uint32_t c;
	size_t len = ab_utf8_decode(r->text + r->at, r->n - r->at, &c);

	if (len == 0)
		return stop(r, "the arguments are not UTF-8");
	if (c < 0x20)
		return stop(r, "a control character stands in a string");
	memcpy(out + *used, r->text + r->at, len);
	*used += len;
	r->at += len;
	return true;
}

/* The string that begins at r->at; *out is in the arena, *begin and *end are
   without quotes. */
static bool read_string(struct ab_scope_reader *r, char **out, size_t *n,
			size_t *begin, size_t *end)
{
	size_t at = ++r->at;
	size_t used = 0;

	*begin = at;
	while (at < r->n && r->text[at] != '"')
		at += r->text[at] == '\\' ? 2 : 1;
	if (at >= r->n)
		return stop(r, "a string has no end");
	*out = ab_arena_low(r->arena, at - *begin + 4);
	if (!*out)
		return stop(r, "there is no memory for a string");
	while (r->at < at) {
		bool good;

		if (r->text[r->at] == '\\') {
			r->at++;
			good = read_escape(r, *out, &used);
		} else {
			good = read_character(r, *out, &used);
		}
		if (!good)
			return false;
	}
	*end = at;
	r->at = at + 1;
	*n = used;
	return true;
}

/* --- keys ----------------------------------------------------------------- */

static uint64_t hash(uint64_t seed, const char *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);

	for (size_t i = 0; i < n; i++) {
		h ^= (unsigned char)p[i];
		h *= 0x100000001b3u;
	}
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 32;
	return h ? h : 1;
}

static bool note_key(struct ab_scope_reader *r, uint64_t serial,
		     const char *key, size_t n)
{
	uint64_t h = hash(serial, key, n);
	size_t i = (size_t)h & (r->seen_size - 1);

	for (unsigned probes = 0; r->seen[i]; probes++) {
		if (r->seen[i] == h)
			return stop(r, "a key stands twice in one object");
		if (probes == MAX_PROBES)
			return stop(r, "the keys of the arguments were made "
				       "to be slow");
		i = (i + 1) & (r->seen_size - 1);
	}
	r->seen[i] = h;
	return true;
}

static bool make_seen(struct ab_scope_reader *r)
{
	size_t keys = 4;

	for (size_t i = 0; i < r->n; i++)
		keys += r->text[i] == ':';
	r->seen_size = 16;
	while (r->seen_size < 2 * keys)
		r->seen_size *= 2;
	r->seen = ab_arena_low(r->arena, r->seen_size * sizeof(*r->seen));
	r->strings = ab_arena_low(r->arena, r->n + 16);
	r->bytes = ab_arena_low(r->arena, r->n + 16);
	if (!r->seen || !r->strings || !r->bytes)
		return stop(r, "there is no memory for the arguments");
	memset(r->seen, 0, r->seen_size * sizeof(*r->seen));
	return true;
}

/* --- values --------------------------------------------------------------- */

static void tell(struct ab_scope_reader *r, enum ab_scope_type type,
		 const char *text, size_t n)
{
	r->value(r, type, text, n);
}

/* What was gathered belongs to the object or array that holds it. */
static void tell_gathered(struct ab_scope_reader *r)
{
	if (r->string_count > 1 && r->has_string)
		tell(r, AB_VALUE_JOINED, r->strings, r->string_len);
	if (r->byte_len > 1)
		tell(r, AB_VALUE_BYTES, r->bytes, r->byte_len);
	r->string_len = r->string_count = r->byte_len = 0;
	r->has_string = false;
}

static void gather_string(struct ab_scope_reader *r, const char *text,
			  size_t n)
{
	if (r->string_count++)
		r->strings[r->string_len++] = '\0';
	memcpy(r->strings + r->string_len, text, n);
	r->string_len += n;
}

/* 115 or 115.0, in an array or {"0": 115, "1": 98}. */
static void gather_number(struct ab_scope_reader *r, const char *text,
			  size_t n)
{
	unsigned value = 0;

	if (n > 2 && memcmp(text + n - 2, ".0", 2) == 0)
		n -= 2;
	for (size_t i = 0; i < n && n <= 3; i++) {
		if (text[i] < '0' || text[i] > '9')
			return;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	if (n <= 3 && value < 256)
		r->bytes[r->byte_len++] = (char)value;
}

static bool read_digits(struct ab_scope_reader *r)
{
	size_t from = r->at;

	while (r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9')
		r->at++;
	return r->at > from;
}

static bool read_number(struct ab_scope_reader *r)
{
	size_t from = r->at;
	size_t digits;
	bool good;

	r->at += r->text[r->at] == '-';
	digits = r->at;
	good = read_digits(r);
	good = good && (r->text[digits] != '0' || r->at == digits + 1);
	if (good && r->at < r->n && r->text[r->at] == '.') {
		r->at++;
		good = read_digits(r);
	}
	if (good && r->at < r->n && (r->text[r->at] | 0x20) == 'e') {
		r->at++;
		if (r->at < r->n && strchr("+-", r->text[r->at]) &&
		    r->text[r->at])
			r->at++;
		good = read_digits(r);
	}
	if (!good)
		return stop(r, "a number is not JSON's");
	r->begin = from;
	r->end = r->at;
	tell(r, AB_VALUE_NUMBER, r->text + from, r->at - from);
	if (!r->depth)
		return true;
	gather_string(r, r->text + from, r->at - from);
	gather_number(r, r->text + from, r->at - from);
	return true;
}

static bool read_word(struct ab_scope_reader *r)
{
	static const char *const words[] = { "true", "false", "null", NULL };

	for (size_t i = 0; words[i]; i++) {
		size_t n = strlen(words[i]);

		if (r->n - r->at < n || memcmp(r->text + r->at, words[i], n))
			continue;
		r->begin = r->at;
		r->at += n;
		r->end = r->at;
		tell(r, AB_VALUE_WORD, words[i], n);
		return true;
	}
	return stop(r, "the arguments are not JSON");
}

static bool read_text(struct ab_scope_reader *r)
{
	void *mark = r->arena->low;
	char *text;
	size_t n;

	if (!read_string(r, &text, &n, &r->begin, &r->end))
		return false;
	tell(r, AB_VALUE_STRING, text, n);
	if (r->depth)
		gather_string(r, text, n);
	r->has_string = true;
	ab_arena_release(r->arena, mark);
	return true;
}

static bool open_frame(struct ab_scope_reader *r, bool is_object)
{
	struct ab_scope_frame *f = &r->frames[r->depth];

	tell_gathered(r);
	if (r->depth == AB_SCOPE_MAX_DEPTH) {
		r->is_limit = true;
		return stop(r, "the arguments are nested too deep");
	}
	*f = (struct ab_scope_frame){ .is_object = is_object,
				      .key = r->key,
				      .child = r->key,
				      .serial = ++r->serial };
	r->depth++;
	r->at++;
	return true;
}

/* A member's key and its colon. */
static bool read_key(struct ab_scope_reader *r)
{
	struct ab_scope_frame *f = &r->frames[r->depth - 1];
	void *mark = r->arena->low;
	char *key;
	size_t n;

	if (r->at >= r->n || r->text[r->at] != '"')
		return stop(r, "the arguments are not JSON");
	if (!read_string(r, &key, &n, &f->key_begin, &f->key_end) ||
	    !note_key(r, f->serial, key, n))
		return false;
	r->parent = f->key;
	r->begin = f->key_begin;
	r->end = f->key_end;
	r->key = AB_KEY_PLAIN;
	tell(r, AB_VALUE_KEY, key, n);
	f->child = ab_scope_key(key, n);
	ab_arena_release(r->arena, mark);
	skip_space(r);
	if (r->at >= r->n || r->text[r->at] != ':')
		return stop(r, "the arguments are not JSON");
	r->at++;
	skip_space(r);
	return true;
}

static void use_key(struct ab_scope_reader *r)
{
	const struct ab_scope_frame *f =
		r->depth ? &r->frames[r->depth - 1] : NULL;

	r->parent = f ? f->key : AB_KEY_PLAIN;
	r->key = f ? f->child : AB_KEY_PLAIN;
}

/* After a value: what closes, what comes next. True with *more false: all is
   read. */
static bool go_on(struct ab_scope_reader *r, bool *more)
{
	for (;;) {
		struct ab_scope_frame *f;
		char c;

		skip_space(r);
		if (r->depth == 0) {
			*more = false;
			return r->at == r->n ||
			       stop(r, "something stands behind the "
				       "arguments");
		}
		f = &r->frames[r->depth - 1];
		c = r->at < r->n ? r->text[r->at] : '\0';
		if (c == ',') {
			r->at++;
			f->index++;
			skip_space(r);
			return !f->is_object || read_key(r);
		}
		if (c != (f->is_object ? '}' : ']'))
			return stop(r, "the arguments are not JSON");
		r->at++;
		/* at the place of the first: a member, or an element */
		use_key(r);
		tell_gathered(r);
		r->depth--;
	}
}

/* '{' or '[': the first of its values, if there is one. */
static bool read_open(struct ab_scope_reader *r, bool *empty)
{
	bool is_object = r->text[r->at] == '{';

	if (!open_frame(r, is_object))
		return false;
	skip_space(r);
	*empty = r->at < r->n && r->text[r->at] == (is_object ? '}' : ']');
	return *empty || !is_object || read_key(r);
}

static bool read_value(struct ab_scope_reader *r)
{
	char c = r->at < r->n ? r->text[r->at] : '\0';

	if (c == '"')
		return read_text(r);
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(r);
	return read_word(r);
}

bool ab_scope_read(struct ab_scope_reader *r)
{
	bool more = true;

	if (!make_seen(r))
		return false;
	skip_space(r);
	while (more) {
		bool empty = false;

		skip_space(r);
		use_key(r);
		if (r->at < r->n &&
		    (r->text[r->at] == '{' || r->text[r->at] == '[')) {
			if (!read_open(r, &empty))
				return false;
			if (!empty)
				continue;
		} else if (!read_value(r)) {
			return false;
		}
		if (!go_on(r, &more))
			return false;
	}
	return true;
}

/* --- places --------------------------------------------------------------- */

static size_t append(char *out, size_t n, const char *p, size_t len)
{
	for (size_t i = 0; i < len && n + 2 < MAX_POINTER; i++) {
		if (p[i] == '~' || p[i] == '/') {
			out[n++] = '~';
			out[n++] = p[i] == '~' ? '0' : '1';
		} else {
			out[n++] = p[i];
		}
	}
	return n;
}

/*
 * Keys stand in it as in the text, escapes included: whoever wants the very
 * key has begin and end. One too long is cut.
 */
const char *ab_scope_pointer(const struct ab_scope_reader *r,
			     struct ab_arena *high)
{
	char text[MAX_POINTER + 32];
	size_t n = 0;
	char *out;

	for (size_t i = 0; i < r->depth && n < MAX_POINTER; i++) {
		const struct ab_scope_frame *f = &r->frames[i];

		text[n++] = '/';
		if (f->is_object)
			n = append(text, n, r->text + f->key_begin,
				   f->key_end - f->key_begin);
		else
			n += (size_t)snprintf(text + n, 24, "%zu", f->index);
	}
	out = ab_arena_high(high, n + 1);
	if (!out)
		return NULL;
	memcpy(out, text, n);
	out[n] = '\0';
	return out;
}
