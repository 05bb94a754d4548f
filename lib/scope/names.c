/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names as they are compared: folded, sorted, and told apart into strong ones,
 * which count wherever they stand as a word, and weak ones, which are words of
 * any language or short and count only where a name stands. Spec:
 * agentbox_scope(3), IDS.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digit.h"
#include "base/error.h"
#include "scope/internal.h"

char ab_scope_fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + ('a' - 'A'));
	return c == '_' || c == '.' ? '-' : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool ab_scope_is_id(const char *s)
{
	size_t n = strlen(s);

	if (n == 0 || n > AB_SCOPE_MAX_ID || !ab_scope_is_alnum(s[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!ab_scope_is_alnum(s[i]) && !strchr("._-", s[i]))
			return false;
	return true;
}

/* Words, numbers, and what has less than four characters. */
static bool is_weak(const char *fold, size_t n)
{
	bool letter = false;
	bool digit = false;
	bool other = false;

	for (size_t i = 0; i < n; i++) {
		digit |= is_digit(fold[i]);
		letter |= ab_scope_is_alnum(fold[i]) && !is_digit(fold[i]);
		other |= !ab_scope_is_alnum(fold[i]);
	}
	return n < 4 || (letter + digit + other < 2);
}

static bool is_hex(const char *fold, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_digit(fold[i]) && !(fold[i] >= 'a' && fold[i] <= 'f'))
			return false;
	return n >= 16;
}

/* The first of random hex digits are enough, as tools let one cut them. */
#define LEAST_DIGITS 8

static bool is_uuid(const char *fold, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? fold[i] != '-' : ab_hex_digit(fold[i]) < 0)
			return false;
	}
	return n == 36;
}

/*
 * The digits of a UUID alone are the same id to whoever reads it. One that
 * begins with the time (RFC 9562: versions 1, 6, 7) has its first digits in
 * common with all that were made when it was.
 */
static int32_t add_digits(agentbox_scope *s, const struct ab_scope_name *uuid,
			  agentbox_error **err)
{
	struct ab_scope_name *name = &s->names[s->name_count];
	char version = uuid->fold[14];

	*name = *uuid;
	name->fold = ab_calloc(uuid->len, 1);
	if (!name->fold)
		return ab_error_nomem(err);
	s->name_count++;
	name->len = 0;
	for (size_t i = 0; i < uuid->len; i++)
		if (uuid->fold[i] != '-')
			name->fold[name->len++] = uuid->fold[i];
	name->is_hex = name->is_bare = s->has_hex = true;
	name->least = version == '1' || version == '6' || version == '7' ?
			      (unsigned)name->len : LEAST_DIGITS;
	return 0;
}

/* An alias says where a box is found: it is never taken for a word. */
static int32_t add_name(agentbox_scope *s, const char *text, uint32_t box,
			bool is_alias, agentbox_error **err)
{
	struct ab_scope_name *name = &s->names[s->name_count];

	name->len = strlen(text);
	name->fold = ab_strdup(text);
	if (!name->fold)
		return ab_error_nomem(err);
	s->name_count++;
	for (size_t i = 0; i < name->len; i++)
		name->fold[i] = ab_scope_fold(name->fold[i]);
	name->text = text;
	name->box = box;
	name->is_weak = !is_alias && is_weak(name->fold, name->len);
	name->is_hex = is_hex(name->fold, name->len);
	name->least = LEAST_DIGITS;
	s->has_hex |= name->is_hex;
	s->starts[(unsigned char)name->fold[0]] = true;
	if (is_alias) {
		struct ab_scope_address *a = &s->addresses[s->address_count];

		a->box = box;
		s->address_count += ab_address_parse(text, name->len,
						     &a->address);
	}
	return is_uuid(name->fold, name->len) ? add_digits(s, name, err) : 0;
}

static int32_t add_list(agentbox_scope *s, const json_t *box, const char *key,
			uint32_t at, agentbox_error **err)
{
	const json_t *list = json_object_get(box, key);
	bool is_alias = strcmp(key, "aliases") == 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		int32_t r = add_name(s,
				     json_string_value(json_array_get(list, i)),
				     at, is_alias, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int32_t add_box(agentbox_scope *s, const json_t *box,
		       enum ab_scope_owner owner, agentbox_error **err)
{
	uint32_t at = (uint32_t)s->box_count++;
	const char *mount = json_string_value(json_object_get(box, "name"));
	int32_t r;

	s->boxes[at].id = json_string_value(json_object_get(box, "id"));
	s->boxes[at].mount = mount;
	s->boxes[at].owner = owner;
	r = add_name(s, s->boxes[at].id, at, false, err);
	if (r == 0 && mount && strcmp(mount, s->boxes[at].id) != 0)
		r = add_name(s, mount, at, false, err);
	if (r == 0)
		r = add_list(s, box, "names", at, err);
	return r == 0 ? add_list(s, box, "aliases", at, err) : r;
}

static size_t count_names(const json_t *list)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *box = json_array_get(list, i);

		n += 2 + json_array_size(json_object_get(box, "names")) +
		     json_array_size(json_object_get(box, "aliases"));
	}
	return n;
}

/* --- families ------------------------------------------------------------- */

/*
 * An own id like "sb-1" shows how the host numbers its boxes: "sb-" and any
 * other number is somebody else, whether he is there or not.
 */
static int32_t add_family(agentbox_scope *s, const struct ab_scope_name *name,
			  agentbox_error **err)
{
	size_t n = name->len;
	size_t letters = 0;

	if (name->is_hex)
		return 0;
	while (n && is_digit(name->fold[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++)
		letters += ab_scope_is_alnum(name->fold[i]) &&
			   !is_digit(name->fold[i]);
	if (n == name->len || letters < 2 || name->len < 4)
		return 0;
	s->families[s->family_count] = ab_memdup0(name->fold, n);
	if (!s->families[s->family_count])
		return ab_error_nomem(err);
	s->family_count++;
	s->starts[(unsigned char)name->fold[0]] = true;
	return 0;
}

/* --- the whole ------------------------------------------------------------ */

static int by_fold(const void *a, const void *b)
{
	const struct ab_scope_name *x = a;
	const struct ab_scope_name *y = b;
	int r = strcmp(x->fold, y->fold);

	if (r != 0)
		return r;
	return x->box < y->box ? -1 : x->box > y->box;
}

/* The same name twice: a box's own is one, two boxes' are a mistake, but what
   can be read is no stranger. */
static int32_t unite(agentbox_scope *s, agentbox_error **err)
{
	size_t used = 0;

	for (size_t i = 0; i < s->name_count; i++) {
		struct ab_scope_name *now = &s->names[i];
		struct ab_scope_name *last = used ? &s->names[used - 1] : NULL;
		enum ab_scope_owner owner = s->boxes[now->box].owner;

		if (!last || strcmp(last->fold, now->fold) != 0) {
			s->names[used++] = *now;
			if (i + 1 != used)
				now->fold = NULL;
			continue;
		}
		if (s->boxes[last->box].owner == AB_SCOPE_OWN &&
		    owner != AB_SCOPE_OWN)
			return ab_error_set(err, AGENTBOX_EPOLICY, "",
					    "'%s' is the caller's and "
					    "somebody else's", now->text);
		free(now->fold);
		now->fold = NULL;
	}
	s->name_count = used;
	return 0;
}

static int32_t make_room(agentbox_scope *s, agentbox_error **err)
{
	const json_t *d = s->document;
	size_t boxes = json_array_size(json_object_get(d, "boxes")) +
		       json_array_size(json_object_get(d, "grants")) +
		       json_array_size(json_object_get(d, "others")) + 1;
	size_t names = count_names(json_object_get(d, "boxes")) +
		       count_names(json_object_get(d, "grants")) +
		       count_names(json_object_get(d, "others")) + 2 +
		       json_array_size(json_object_get(d, "names")) +
		       json_array_size(json_object_get(d, "aliases"));

	if (names > AB_SCOPE_MAX_NAMES)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "more than %d names", AB_SCOPE_MAX_NAMES);
	s->boxes = ab_calloc(boxes, sizeof(*s->boxes));
	/* each may be a UUID, and its digits are another name */
	s->names = ab_calloc(2 * names, sizeof(*s->names));
	s->addresses = ab_calloc(names, sizeof(*s->addresses));
	s->families = ab_calloc(names, sizeof(*s->families));
	if (!s->boxes || !s->names || !s->addresses || !s->families)
		return ab_error_nomem(err);
	return 0;
}

int32_t ab_scope_compile(agentbox_scope *s, agentbox_error **err)
{
	static const char *const lists[] = { "boxes", "grants", "others" };
	static const enum ab_scope_owner owners[] = {
		AB_SCOPE_OWN, AB_SCOPE_PEER, AB_SCOPE_OTHER
	};
	int32_t r = make_room(s, err);
	size_t own;

	if (r == 0)
		r = add_box(s, s->document, AB_SCOPE_OWN, err);
	own = s->name_count;
	for (size_t i = 0; r == 0 && i < AB_ARRAY_LEN(lists); i++) {
		const json_t *list = json_object_get(s->document, lists[i]);

		for (size_t j = 0; r == 0 && j < json_array_size(list); j++)
			r = add_box(s, json_array_get(list, j), owners[i],
				    err);
		if (i == 0)
			own = s->name_count;
	}
	for (size_t i = 0; r == 0 && i < own; i++)
		r = add_family(s, &s->names[i], err);
	if (r < 0)
		return r;
	qsort(s->names, s->name_count, sizeof(*s->names), by_fold);
	return unite(s, err);
}

bool ab_scope_is_own(const agentbox_scope *s, const char *text, size_t n)
{
	for (size_t i = 0; i < s->name_count; i++) {
		const struct ab_scope_name *name = &s->names[i];

		if (s->boxes[name->box].owner == AB_SCOPE_OWN &&
		    !name->is_bare && name->len == n &&
		    memcmp(name->text, text, n) == 0)
			return true;
	}
	return false;
}

const struct ab_scope_name *ab_scope_find_name(const agentbox_scope *s,
					       const char *text, size_t n)
{
	size_t low = 0;
	size_t high = s->name_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct ab_scope_name *name = &s->names[mid];
		size_t i = 0;
		int d = 0;

		while (i < n && i < name->len && d == 0) {
			d = (unsigned char)ab_scope_fold(text[i]) -
			    (unsigned char)name->fold[i];
			i++;
		}
		if (d == 0)
			d = n < name->len ? -1 : n > name->len;
		if (d == 0)
			return name;
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}
