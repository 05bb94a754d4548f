/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names in plain text. A name counts as a whole: no letter or digit beside it
 * (or something unseen between), and of several that begin at one place the
 * longest, so "sb-1" is neither in "sb-10" nor in "xsb-1", and is in
 * "sb-1-db". Each place costs at most the length of a name.
 */
#include "config.h"

#include <string.h>

#include "scope/internal.h"

/* An id of random bits may be cut short, as tools let one cut it. */
#define LEAST_PREFIX 8
#define MAX_HEX 64
/* What a look around a word counts for. */
#define PLACE_WORK 64

static uint8_t mark_at(const struct ab_plain *p, size_t i)
{
	if (i >= p->n)
		return p->end_gap ? AB_MARK_GAP : 0;
	return p->mark ? p->mark[i] : 0;
}

bool ab_scope_begins(const struct ab_plain *p, size_t i)
{
	return i == 0 || !ab_scope_is_alnum(p->c[i - 1]) ||
	       (mark_at(p, i) & AB_MARK_GAP);
}

bool ab_scope_ends(const struct ab_plain *p, size_t e)
{
	return e >= p->n || !ab_scope_is_alnum(p->c[e]) ||
	       (mark_at(p, e) & AB_MARK_GAP);
}

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == '.';
}

bool ab_scope_is_exact(const struct ab_plain *p, size_t i, size_t e,
		       const struct ab_scope_name *name)
{
	if (e - i != name->len)
		return false;
	for (size_t k = 0; k < name->len; k++) {
		uint8_t mark = mark_at(p, i + k);

		if (k == 0)
			mark &= AB_MARK_CHANGED;
		if (mark || (p->c[i + k] != name->text[k] &&
			     !(is_separator(p->c[i + k]) &&
			       is_separator(name->text[k]))))
			return false;
	}
	return true;
}

/* --- the longest name at a place ------------------------------------------ */

/* The first of names[low..high) whose character k is not before c. */
static size_t lower(const agentbox_scope *s, size_t low, size_t high, size_t k,
		    int c)
{
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if ((unsigned char)s->names[mid].fold[k] < c)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct ab_scope_name *longest(const agentbox_scope *s,
					   const struct ab_plain *p, size_t i,
					   size_t *end)
{
	const struct ab_scope_name *best = NULL;
	size_t low = 0;
	size_t high = s->name_count;

	for (size_t k = 0; i + k < p->n && low < high; k++) {
		int c = (unsigned char)ab_scope_fold(p->c[i + k]);

		low = lower(s, low, high, k, c);
		high = lower(s, low, high, k, c + 1);
		if (low < high && s->names[low].len == k + 1 &&
		    ab_scope_ends(p, i + k + 1)) {
			best = &s->names[low];
			*end = i + k + 1;
		}
	}
	return best;
}

/* --- ids of random bits --------------------------------------------------- */

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

/* The hex digits at i, with single separators between as a UUID has them. */
static size_t hex_digits(const struct ab_plain *p, size_t i, char *out,
			 size_t *end)
{
	size_t n = 0;

	for (; i < p->n && n < MAX_HEX; i++) {
		if (is_hex(p->c[i]))
			out[n++] = ab_scope_fold(p->c[i]);
		else if (n == 0 || i + 1 >= p->n || !is_hex(p->c[i + 1]) ||
			 !strchr("-_.: ", p->c[i]) || !p->c[i])
			break;
	}
	*end = i;
	return n;
}

/* The one of which it is the beginning; NULL for none and for several. */
static const struct ab_scope_name *by_prefix(const agentbox_scope *s,
					     const char *hex, size_t n)
{
	const struct ab_scope_name *found = NULL;
	size_t low = 0;
	size_t high = s->name_count;

	for (size_t k = 0; k < n && low < high; k++) {
		low = lower(s, low, high, k, (unsigned char)hex[k]);
		high = lower(s, low, high, k, (unsigned char)hex[k] + 1);
	}
	for (; low < high; low++) {
		if (!s->names[low].is_hex || n < s->names[low].least)
			continue;
		if (found && found->box != s->names[low].box)
			return NULL;
		found = &s->names[low];
	}
	return found;
}

/* In more bytes than that it is a piece of some other id. */
void ab_scope_find_id_bytes(struct ab_scope_look *l, const char *bytes,
			    size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const struct ab_scope_name *name;
	char hex[32];

	if (!l->scope->has_hex || n != sizeof(hex) / 2)
		return;
	for (size_t i = 0; i < sizeof(hex); i++)
		hex[i] = digits[(unsigned char)bytes[i / 2] >>
				(i % 2 ? 0 : 4) & 15];
	name = by_prefix(l->scope, hex, sizeof(hex));
	if (name && name->len == sizeof(hex) &&
	    l->scope->boxes[name->box].owner != AB_SCOPE_OWN)
		l->saw(l->data, AB_SAW_BOX, name, l->level);
}

static const struct ab_scope_name *hex_id(const agentbox_scope *s,
					  const struct ab_plain *p, size_t i,
					  size_t *end)
{
	char hex[MAX_HEX];
	size_t n;
	size_t e = i;

	while (e < p->n && e - i < MAX_HEX && is_hex(p->c[e]))
		e++;
	if (e - i >= LEAST_PREFIX && ab_scope_ends(p, e)) {
		for (n = 0; i + n < e; n++)
			hex[n] = ab_scope_fold(p->c[i + n]);
		*end = e;
		return by_prefix(s, hex, n);
	}
	n = hex_digits(p, i, hex, &e);
	*end = e;
	return n >= 16 && ab_scope_ends(p, e) ? by_prefix(s, hex, n) : NULL;
}

/* --- families ------------------------------------------------------------- */

static bool begins_with(const struct ab_plain *p, size_t i, const char *prefix,
			size_t n)
{
	if (p->n - i < n)
		return false;
	for (size_t k = 0; k < n; k++)
		if (ab_scope_fold(p->c[i + k]) != prefix[k])
			return false;
	return true;
}

/* Any character, as a regular expression has it or LIKE: not the end of a
   sentence, nor a part of a name. */
static bool is_wildcard(const struct ab_plain *p, size_t at)
{
	char c = p->c[at];
	size_t end = at;

	while (end < p->n && p->c[end] == c)
		end++;
	if (c == '_')
		return end == p->n || (!ab_scope_is_alnum(p->c[end]) &&
				       !is_separator(p->c[end]));
	return c == '.' && end < p->n && p->c[end] &&
	       strchr("*+?{|)$\"'`", p->c[end]);
}

/* "sb-" and then what is no number yet: a pattern, a variable, nothing. */
static bool is_open(const struct ab_plain *p, size_t i, size_t at, bool joined)
{
	if (p->c[at - 1] == '\0' || ab_scope_is_alnum(p->c[at - 1]))
		return false;
	if (at < p->n && p->c[at] &&
	    (strchr("*?[{($%\\<", p->c[at]) || is_wildcard(p, at)))
		return true;
	if (at == p->n)
		return i == 0 || (joined && p->end_gap);
	return joined && (mark_at(p, at) & AB_MARK_OPEN);
}

/* Some other one of an own id's family: its end, or 0. */
static size_t of_family(const struct ab_scope_look *l,
			const struct ab_plain *p, size_t i, bool joined,
			enum ab_scope_what *what)
{
	for (size_t f = 0; f < l->scope->family_count; f++) {
		const char *prefix = l->scope->families[f];
		size_t n = strlen(prefix);
		size_t at = i + n;

		if (!begins_with(p, i, prefix, n))
			continue;
		*what = AB_SAW_PATTERN;
		if (is_open(p, i, at, joined))
			return at;
		while (at < p->n && p->c[at] >= '0' && p->c[at] <= '9')
			at++;
		*what = AB_SAW_UNKNOWN;
		if (at > i + n && ab_scope_ends(p, at))
			return at;
	}
	return 0;
}

/* --- what is seen --------------------------------------------------------- */

/*
 * What Kubernetes puts behind a name: "-0", "-7c9d8f6b5-x2k4z", in letters of
 * which it makes no words. Where that ends, or e.
 */
static size_t generated_end(const struct ab_plain *p, size_t e)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";

	while (e + 1 < p->n && p->c[e] == '-') {
		size_t made = e + 1;
		size_t number = e + 1;

		while (made < p->n && p->c[made] &&
		       strchr(letters, p->c[made]))
			made++;
		while (number < p->n && p->c[number] >= '0' &&
		       p->c[number] <= '9')
			number++;
		if (number > e + 1 && ab_scope_ends(p, number))
			e = number;
		else if (made - e > 5 && made - e < 12 &&
			 ab_scope_ends(p, made))
			e = made;
		else
			break;
	}
	return e;
}

/* Beside the value, as who types leaves them. */
#define MAX_BLANKS 64

static bool is_blank(const struct ab_plain *p, size_t i, size_t e)
{
	if (e - i > MAX_BLANKS)
		return false;
	while (i < e && ab_scope_is_space(p->c[i]))
		i++;
	return i == e;
}

/*
 * The name of a pod of a deployment, "X-7c9d8f6b5-x2k4z": nobody writes that
 * of anything but X, so it is one wherever it stands.
 */
static bool is_pod(const struct ab_plain *p, size_t i, size_t e)
{
	size_t end = generated_end(p, e);
	bool has_digit = false;

	if (end < e + 15 || end > e + 17 || p->c[end - 6] != '-' ||
	    (i > 0 && is_separator(p->c[i - 1])))
		return false;
	for (size_t k = e + 1; k < end - 6; k++) {
		if (p->c[k] == '-')
			return false;
		has_digit |= p->c[k] >= '0' && p->c[k] <= '9';
	}
	return has_digit;
}

/* A host with the word as a label, a path or an address of one. */
static bool is_part(const struct ab_plain *p, size_t i, size_t e)
{
	for (size_t k = 0; k < p->n; k++)
		if (!ab_scope_is_alnum(p->c[k]) && !strchr("-._:@", p->c[k]))
			return false;
	e = generated_end(p, e);
	return (i == 0 || strchr(".@", p->c[i - 1])) &&
	       (e == p->n || strchr(".:", p->c[e]));
}

static void saw_weak(struct ab_scope_look *l, const struct ab_plain *p,
		     size_t i, size_t e, const struct ab_scope_name *name)
{
	bool whole = is_blank(p, 0, i) && is_blank(p, e, p->n);
	bool place = l->key == AB_KEY_BOX || l->key == AB_KEY_TARGET;

	if (place && (whole || (p->n < 256 && is_part(p, i, e))))
		l->saw(l->data, AB_SAW_BOX, name, l->level);
	else if (ab_scope_pay(l, PLACE_WORK) &&
		 (ab_scope_in_place(p, i, e) || is_pod(p, i, e)))
		l->saw(l->data, AB_SAW_BOX, name, l->level);
	/* what hides a word is as much the value as the word would be; the
	   pieces of an encoded text are not, and short ones are chance */
	else if (whole && !l->is_key &&
		 (l->level == 0 || (l->is_spelled && e > 3)))
		l->saw(l->data, AB_SAW_PERHAPS, name, l->level);
}

static void saw_name(struct ab_scope_look *l, const struct ab_plain *p,
		     size_t i, size_t e, const struct ab_scope_name *name)
{
	bool own = l->scope->boxes[name->box].owner == AB_SCOPE_OWN;

	if (own && !name->is_weak && !name->is_hex &&
	    !ab_scope_is_exact(p, i, e, name))
		l->saw(l->data, AB_SAW_OWN_LIKE, name, l->level);
	else if (own && e < p->n && p->c[e] == '*' && !name->is_weak)
		l->saw(l->data, AB_SAW_PATTERN, NULL, l->level);
	else if (own)
		return;
	else if (name->is_weak && !l->is_data)
		saw_weak(l, p, i, e, name);
	else if (!name->is_weak)
		l->saw(l->data, AB_SAW_BOX, name, l->level);
}

/* Everything that begins at i; where to go on. */
static size_t look_here(struct ab_scope_look *l, const struct ab_plain *p,
			size_t i, bool joined)
{
	const agentbox_scope *s = l->scope;
	const struct ab_scope_name *name = NULL;
	enum ab_scope_what what;
	size_t end = i + 1;

	if (s->starts[(unsigned char)ab_scope_fold(p->c[i])])
		name = longest(s, p, i, &end);
	if (!name && s->has_hex && is_hex(p->c[i]))
		name = hex_id(s, p, i, &end);
	if (name) {
		saw_name(l, p, i, end, name);
		return end;
	}
	end = of_family(l, p, i, joined, &what);
	if (!end)
		return i + 1;
	l->saw(l->data, what, NULL, l->level);
	return end;
}

void ab_scope_find(struct ab_scope_look *l, const struct ab_plain *p,
		   bool joined)
{
	for (size_t i = 0; i < p->n;) {
		if (!ab_scope_begins(p, i))
			i++;
		else
			i = look_here(l, p, i, joined);
	}
}
