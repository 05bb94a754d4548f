/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds secrets among arguments: the value of an option or word that takes
 * one (secret_options.c), of an option or an assignment whose name says so,
 * and of a setting with such a name. A text is cut into words first, roughly
 * as a shell does; this is no parser and catches mistakes only. Never fails
 * and asks for no memory. Spec: agentbox-audit(5), "REDACTION".
 */
#include "config.h"

#include "audit/arguments.h"

#include <string.h>

#include "audit/internal.h"
#include "base/attr.h"

/* Programs that keep settings by name: git config NAME VALUE. */
#define KEEPS_SETTINGS (AB_WORD(SETTING) | AB_WORD(AWS) | AB_WORD(KUBECTL))

static const ab_audit_option named_option = { 0, "", AB_APART, AB_PART_ALL,
					      0 };

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* From `at` on, without quotes around it. */
static ab_audit_span bare(const char *p, size_t n, size_t at)
{
	while (at < n && is_quote(p[at]))
		at++;
	while (n > at && is_quote(p[n - 1]))
		n--;
	return (ab_audit_span){ at, n - at };
}

static ab_audit_span after(const char *p, size_t n, char c)
{
	const char *at = memchr(p, c, n);

	return at ? bare(p, n, (size_t)(at + 1 - p)) : (ab_audit_span){ 0, 0 };
}

/* user/password@place; a place or a script begins with the @ */
static ab_audit_span after_slash(const char *p, size_t n)
{
	const char *slash = memchr(p, '/', n);
	const char *at = memrchr(p, '@', n);

	if (!slash || (at && memchr(p, '@', (size_t)(slash - p))))
		return (ab_audit_span){ 0, 0 };
	return after(p, at && at > slash ? (size_t)(at - p) : n, '/');
}

static ab_audit_span header(const char *p, size_t n)
{
	ab_audit_span name = bare(p, n, 0), value = after(p, n, ':');
	const char *colon = memchr(p, ':', n);

	if (!colon || !ab_audit_is_secret_name(p + name.at,
					       (size_t)(colon - p) - name.at))
		return (ab_audit_span){ 0, 0 };
	size_t from = ab_audit_skip_scheme(p, value.at + value.len, value.at);
	value.len -= from - value.at;
	value.at = from;
	return value;
}

static ab_audit_span part_of(unsigned part, const char *p, size_t n)
{
	static const ab_audit_span none = { 0, 0 };
	ab_audit_span all = bare(p, n, 0);

	switch ((enum ab_audit_part)part) {
	case AB_PART_NOTHING:
		return none;
	case AB_PART_ALL:
		return all;
	case AB_PART_AFTER_COLON:
		return after(p, n, ':');
	case AB_PART_AFTER_COMMA:
		return after(p, n, ',');
	case AB_PART_AFTER_PERCENT:
		return after(p, n, '%');
	case AB_PART_AFTER_SLASH:
		return after_slash(p, n);
	case AB_PART_AFTER_EQUALS:
		return after(p, n, '=');
	case AB_PART_HEADER:
		return header(p, n);
	case AB_PART_COOKIE:
		return memchr(p, '=', n) ? all : none;
	case AB_PART_PASS:
		return all.len > 5 && memcmp(p + all.at, "pass:", 5) == 0 ?
			after(p, n, ':') : none;
	}
	return none;
}

/* What the name of a setting ends in: github.token, //host/:_authToken. */
static bool is_secret_key(const char *p, size_t n)
{
	size_t from = n;

	while (from && p[from - 1] != '.' && p[from - 1] != ':' &&
	       p[from - 1] != '/')
		from--;
	return ab_audit_is_secret_name(p + from, n - from);
}

/* Where "=value" begins after a plain name, or 0. */
static size_t equals(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (is_letter(p[i]) || (p[i] >= '0' && p[i] <= '9') ||
			 p[i] == '_' || p[i] == '-' || p[i] == '.'))
		i++;
	return i && i < n && p[i] == '=' ? i : 0;
}

/* --no-password and --ask-password take none. */
static bool takes_no_value(const char *name, size_t n)
{
	static const char *const verbs[] = { "no", "ask", "prompt", "with",
					     "use", "show", "hide" };

	for (size_t i = 0; i < AB_ARRAY_LEN(verbs); i++) {
		size_t len = strlen(verbs[i]);

		if (n > len && (name[len] == '-' || name[len] == '_') &&
		    memcmp(name, verbs[i], len) == 0)
			return true;
	}
	return false;
}

/* The value in -pVALUE or --user=VALUE; 0 when the row is another's. */
static size_t glued(const ab_audit_option *o, const char *p, size_t n)
{
	size_t len = strlen(o->name);

	if (!(o->where & AB_GLUED) || n <= len || memcmp(p, o->name, len) != 0)
		return 0;
	if (o->name[1] != '-')
		return len;
	return p[len] == '=' ? len + 1 : 0;
}

/* -sSu ends in the -u of the row. */
static bool ends_bundle(const ab_audit_option *o, const char *p, size_t n)
{
	if (!(o->where & AB_APART) || strlen(o->name) != 2 || n < 3 ||
	    o->name[0] != '-' || p[n - 1] != o->name[1])
		return false;
	for (size_t i = 1; i < n; i++) {
		if (!is_letter(p[i]))
			return false;
	}
	return true;
}

static bool is_it(const ab_audit_option *o, const char *p, size_t n)
{
	return (o->where & (AB_APART | AB_REST)) && strlen(o->name) == n &&
	       memcmp(p, o->name, n) == 0;
}

enum how { EXACTLY, GLUED, BUNDLED };

static const ab_audit_option *find(uint64_t seen, const char *p, size_t n,
				   enum how how)
{
	for (size_t i = 0; i < ab_audit_options_count; i++) {
		const ab_audit_option *o = &ab_audit_options[i];

		if ((o->needs & seen) != o->needs)
			continue;
		if ((how == EXACTLY && is_it(o, p, n)) ||
		    (how == GLUED && glued(o, p, n)) ||
		    (how == BUNDLED && ends_bundle(o, p, n)))
			return o;
	}
	return NULL;
}

static void expect(ab_audit_arguments *a, const ab_audit_option *o)
{
	if (!o || o->part == AB_PART_NOTHING)
		return;
	a->option = o;
	a->skip = o->skip;
}

/* An option; what is secret in the word itself. */
static ab_audit_span option(ab_audit_arguments *a, const char *p, size_t n)
{
	ab_audit_span none = { 0, 0 }, found = none;
	const ab_audit_option *o = find(a->seen, p, n, EXACTLY);
	size_t from = p[1] == '-' ? 2 : 1, equal = equals(p + from, n - from);

	if (o) {
		expect(a, o);
		return none;
	}
	if (equal && is_secret_key(p + from, equal))
		return bare(p, n, from + equal + 1);
	o = find(a->seen, p, n, GLUED);
	if (o) {
		size_t at = glued(o, p, n);

		found = part_of(o->part, p + at, n - at);
		found.at += at;
	}
	if (found.len || equal)
		return found;
	if (is_secret_key(p + from, n - from)) {
		if (!takes_no_value(p + from, n - from))
			expect(a, &named_option);
		return none;
	}
	expect(a, find(a->seen, p, n, BUNDLED));
	return none;
}

/* A word that is no option: a program, what it is to do, a setting. */
static ab_audit_span word(ab_audit_arguments *a, const char *p, size_t n)
{
	ab_audit_span none = { 0, 0 };
	const char *slash = memrchr(p, '/', n);
	size_t from = slash ? (size_t)(slash + 1 - p) : 0;
	size_t equal = equals(p, n);

	if (equal)
		return is_secret_key(p, equal) ? bare(p, n, equal + 1) : none;
	expect(a, find(a->seen, p + from, n - from, EXACTLY));
	if ((a->seen & KEEPS_SETTINGS) && (a->seen & AB_WORD(CONFIG)) &&
	    is_secret_key(p, n))
		expect(a, &named_option);
	a->seen |= ab_audit_word_bit(p, n);
	return none;
}

ab_audit_span ab_audit_argument(ab_audit_arguments *a, const char *p,
				size_t n)
{
	const ab_audit_option *o = a->option;
	ab_audit_span due = { 0, 0 }, own;

	if (o && a->skip) {
		a->skip--;
	} else if (o) {
		due = part_of(o->part, p, n);
		if (!(o->where & AB_REST))
			a->option = NULL;
	}
	own = bare(p, n, 0);
	if (!own.len)
		return due;
	n = own.len;
	p += own.at;
	/* also when it was a value: --password --token x */
	if (n > 1 && p[0] == '-') {
		size_t at = own.at;

		own = option(a, p, n);
		own.at += at;
	} else if (!due.len) {
		size_t at = own.at;

		own = word(a, p, n);
		own.at += at;
	}
	return due.len ? due : own;
}

/* How words are cut out of a text. */
typedef struct cutter {
	const char *p;
	size_t n, i;
	bool reads_quotes;
	bool ended; /* a command ended before this word */
} cutter;

static bool is_blank(const cutter *c, char x)
{
	if (x == ' ' || x == '\t' || x == '\r')
		return true;
	return !c->reads_quotes && (is_quote(x) || x == '\\' || x == ',' ||
				    x == '[' || x == ']' || x == '{' ||
				    x == '}');
}

static bool ends_command(char x)
{
	return x == '\n' || x == ';' || x == '|' || x == '&' || x == '(' ||
	       x == ')' || x == '`';
}

/* Past what a shell would read as one piece of a word. */
static void skip_piece(cutter *c)
{
	char quote = c->p[c->i++];

	if (!c->reads_quotes)
		return;
	if (quote == '\\' && c->i < c->n)
		c->i++;
	if (!is_quote(quote))
		return;
	while (c->i < c->n && c->p[c->i] != quote) {
		if (quote == '"' && c->p[c->i] == '\\' && c->i + 1 < c->n)
			c->i++;
		c->i++;
	}
	if (c->i < c->n)
		c->i++;
}

static bool next_word(cutter *c, size_t *from)
{
	c->ended = false;
	for (; c->i < c->n; c->i++) {
		char x = c->p[c->i];

		if (x == '\\' && c->i + 1 < c->n && c->p[c->i + 1] == '\n')
			c->i++;
		else if (ends_command(x))
			c->ended = true;
		else if (!is_blank(c, x))
			break;
	}
	*from = c->i;
	while (c->i < c->n && !is_blank(c, c->p[c->i]) &&
	       !ends_command(c->p[c->i]))
		skip_piece(c);
	return c->i > *from;
}

static bool mark_words(cutter c, char *mask)
{
	ab_audit_arguments a = { 0 };
	bool is_found = false;
	size_t from;

	while (next_word(&c, &from)) {
		ab_audit_span s;

		if (c.ended)
			a = (ab_audit_arguments){ 0 };
		s = ab_audit_argument(&a, c.p + from, c.i - from);
		if (!s.len)
			continue;
		is_found = true;
		if (!mask)
			return true;
		memset(mask + from + s.at, 1, s.len);
	}
	return is_found;
}

bool ab_audit_mark_arguments(const char *p, size_t n, char *mask)
{
	cutter c = { .p = p, .n = n, .reads_quotes = true };
	bool is_found;

	if (!memchr(p, ' ', n))
		return false;
	is_found = mark_words(c, mask);
	if (is_found && !mask)
		return true;
	if (!memchr(p, '"', n) && !memchr(p, '\'', n))
		return is_found;
	c.reads_quotes = false;
	return mark_words(c, mask) || is_found;
}
