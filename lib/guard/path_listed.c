/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which classes of the pack a path is in: its components against the listed
 * patterns. Few are compared: a pattern is found by a literal in it, by what
 * its one name begins or ends with, or by what a pattern in the path may be.
 */
#include "config.h"

#include "guard/path.h"

#include <string.h>

#include "base/key.h"
#include "path/glob.h"

#define MAX_HOME 8 /* components of a home */

#define MAX_MEET 64 /* bytes of a pattern that is compared with a pattern */

/* `server.pe[mn]` or `.e?v.prod` for `*.pem` and `.env.*`: a few signs that
   are not known, no star, between bytes that are. */
static bool may_meet(const struct path *p, const struct ab_part *want,
		     const struct part *have)
{
	uint32_t k = want->len - 1u, open = 0;

	if (have->len > MAX_MEET || want->shape == AB_SHAPE_ANY || !want->len)
		return false;
	for (uint32_t i = 0; i < have->len; i++) {
		if (memchr("*({", have->text[i], 3))
			return false;
		open += have->text[i] == '?' || have->text[i] == '[';
	}
	for (uint32_t i = 1; open && open <= k / 2 && i <= have->len; i++) {
		if (want->shape == AB_SHAPE_TAIL ?
			    ab_pattern_may_take(have->text + i,
						have->len - i, want->text + 1,
						k, p->has_fold) :
			    ab_pattern_may_take(have->text, i, want->text, k,
						p->has_fold))
			return true;
	}
	return false;
}

/* `.${x}env`: of a variable that nobody set nothing is left. */
static bool is_without(const struct ab_part *want, const struct part *have)
{
	if (want->kind == 0)
		return want->len == have->len &&
		       ab_same(want->text, have->text, want->len);
	return have->len && ab_part_takes(want, have->text, have->len);
}

static bool part_matches(const struct path *p, const struct ab_part *want,
			 const struct part *have, bool is_not)
{
	/* a pattern is taken away only when all that it matches is */
	if (is_not && have->kind == 1)
		return ab_glob_match_name(want->text, want->len, have->text,
					  have->len, 0);
	if (have->kind == 2) /* any one name, where the pattern takes any */
		return (want->kind == 1 && want->len == 1) ||
		       (!is_not && is_without(want, have));
	if (have->kind == 1) {
		if (want->kind == 0)
			return ab_part_may_be(p, have, want->text, want->len);
		if (want->len == 1 && want->text[0] == '*')
			return true;
		if (ab_part_is_all(have))
			return false;
		if (may_meet(p, want, have))
			return true;
	}
	if (want->kind == 0)
		return want->len == have->len &&
		       ab_same(want->text, have->text, want->len);
	if (have->len &&
	    ((want->first && want->first != have->text[0]) ||
	     (want->last && want->last != have->text[have->len - 1])))
		return false;
	return ab_part_takes(want, have->text, have->len);
}

/* Components from..p->count against the pattern's, with one `**` at most
   remembered, as in path/glob.c. */
static bool all_match(const struct ab_pack *pack,
		      const struct ab_path_pattern *pattern,
		      const struct path *p, uint32_t from)
{
	const struct ab_part *want = pack->parts + pattern->part;
	uint32_t n = pattern->component_count, i = 0, k = from;
	uint32_t star = UINT32_MAX, back = 0;

	if (!pattern->is_deep && n != p->count - from)
		return false;
	while (k < p->count) {
		if (i < n && want[i].kind == 2) {
			star = i++;
			back = k;
		} else if (i < n && part_matches(p, &want[i], &p->parts[k],
						 pattern->is_not)) {
			i++;
			k++;
		} else if (star != UINT32_MAX) {
			i = star + 1;
			k = ++back;
		} else {
			return false;
		}
	}
	while (i < n && want[i].kind == 2)
		i++;
	return i == n;
}

/* The same; most fail by the first two names, which are other ones. */
static inline bool parts_match(const struct ab_pack *pack,
			       const struct ab_path_pattern *pattern,
			       const struct path *p, uint32_t from)
{
	const struct ab_part *want = pack->parts + pattern->part;
	const struct part *have = &p->parts[from];

	if (pattern->component_count && from < p->count && !want->kind &&
	    !have->kind &&
	    (want->len != have->len || *want->text != *have->text))
		return false;
	return all_match(pack, pattern, p, from);
}

/* Asked for by every pattern below a home, and the same for all of them. */
static uint16_t homes_of(const struct ab_check *c, struct path *p)
{
	if (!p->has_homes) {
		p->has_homes = true;
		p->homes = 0;
		for (uint32_t n = 1; n <= MAX_HOME && n <= p->count; n++)
			p->homes |= (uint16_t)(ab_path_is_home(c, p, n) << n);
	}
	return p->homes;
}

static inline bool pattern_matches(const struct ab_check *c,
				   const struct ab_path_pattern *pattern,
				   struct path *p)
{
	if (pattern->base == 1)
		return p->from == FROM_ROOT &&
		       parts_match(c->pack, pattern, p, 0);
	/* `**` and one name: the last */
	if (pattern->base == 0 && pattern->component_count == 1) {
		const struct ab_part *want = &c->pack->parts[pattern->part];
		const struct part *last = p->count ? &p->parts[p->count - 1]
						   : NULL;
		char end = want->text[want->len - 1];

		if (!last || (last->kind != 1 && end != '*' && end != '?' &&
			      end != ']' &&
			      (!last->len || last->text[last->len - 1] != end)))
			return false;
		/* `*` among the project's files says nothing of `id_rsa` */
		if (last->kind == 1 && *want->text != '.' &&
		    !pattern->is_not && ab_part_is_all(last) &&
		    ab_path_is_ordinary(c, p))
			return false;
		return part_matches(p, want, last, pattern->is_not);
	}
	if (pattern->base == 0) {
		uint32_t n = pattern->component_count;

		/* without a `**` it is the end of the path that counts */
		if (!pattern->is_deep)
			return n <= p->count &&
			       parts_match(c->pack, pattern, p, p->count - n);
		for (uint32_t from = 0; from <= p->count; from++) {
			if (parts_match(c->pack, pattern, p, from))
				return true;
		}
		return false;
	}
	if (p->from == FROM_HOME)
		return parts_match(c->pack, pattern, p, 0);
	uint16_t homes = homes_of(c, p);

	for (uint32_t n = 1; homes >> n; n++) {
		if (homes >> n & 1 && parts_match(c->pack, pattern, p, n))
			return true;
	}
	return false;
}

static void try_pattern(const struct ab_check *c,
			const struct ab_path_pattern *pattern, struct path *p,
			uint64_t *yes, uint64_t *no)
{
	if (pattern_matches(c, pattern, p))
		*(pattern->is_not ? no : yes) |= UINT64_C(1)
						 << pattern->class_bit;
}

static void try_end(const struct ab_check *c, uint32_t at, struct path *p,
		    uint64_t *yes, uint64_t *no)
{
	while (at) {
		const struct ab_path_pattern *pattern =
			&c->pack->patterns[at - 1];

		try_pattern(c, pattern, p, yes, no);
		at = pattern->next_end;
	}
}

/* Patterns without a literal: by the first or the last byte of the name. */
static void try_free(const struct ab_check *c, struct path *p, uint64_t *yes,
		     uint64_t *no)
{
	const struct ab_pack *pack = c->pack;
	const struct part *last = &p->parts[p->count - 1];

	if (last->kind || !last->len) { /* may be any name */
		for (uint32_t at = pack->path_free; at;
		     at = pack->patterns[at - 1].next) {
			if (last->kind != 2 || pack->patterns[at - 1].is_open)
				try_pattern(c, &pack->patterns[at - 1], p, yes,
					    no);
		}
		return;
	}
	try_end(c, pack->path_first[(unsigned char)last->text[0]], p, yes, no);
	try_end(c, pack->path_last[(unsigned char)last->text[last->len - 1]],
		p, yes, no);
	try_end(c, pack->path_rest, p, yes, no);
}

/* The bytes that a name must begin and end with to be one that a pattern
   takes; 0: any. */
struct ends {
	char first, last;
};

static char literal_byte(char ch)
{
	return memchr("*?[]{}()\\!@+", ch, 13) ? '\0' : ch;
}

/* A star stands for itself there, see part_matches(). */
static char written_byte(char ch)
{
	return memchr("?[]\\", ch, 4) ? '\0' : ch;
}

static struct ends ends_of(const struct part *part)
{
	if (!part->len || memchr(part->text, '(', part->len) ||
	    memchr(part->text, '{', part->len))
		return (struct ends){ 0, 0 };
	return (struct ends){ literal_byte(part->text[0]),
			      literal_byte(part->text[part->len - 1]) };
}

/* The last name decides most: false when it cannot be what is listed. What a
   listed pattern takes is looked at byte by byte, also in a pattern. */
static bool may_end(const struct ab_end *end, const struct ends *name,
		    const struct ends *bytes)
{
	const struct ends *have = end->kind ? bytes : name;

	return (!end->first || !have->first || end->first == have->first) &&
	       (!end->last || !have->last || end->last == have->last);
}

/* What is known of the last name of a path: the bytes that it must begin and
   end with, and those that it is written with. */
struct last {
	struct ends name, bytes;
};

/* Patterns that have this component. */
static void try_key(const struct ab_check *c, const struct part *key,
		    struct path *p, const struct last *last, uint64_t *yes,
		    uint64_t *no)
{
	const struct ab_pack *pack = c->pack;

	if (!key->len || !ab_pack_may_list(pack, key->text, key->len))
		return;
	uint32_t hash = ab_pack_hash(key->text, key->len);

	for (uint32_t at = pack->path_buckets[hash % AB_PATH_BUCKETS]; at;
	     at = pack->patterns[at - 1].next) {
		if (pack->patterns[at - 1].key_hash == hash &&
		    may_end(&pack->ends[at - 1], &last->name, &last->bytes))
			try_pattern(c, &pack->patterns[at - 1], p, yes, no);
	}
}

/* An absolute entry, or one below a home, is not what begins otherwise. */
static bool may_begin(const struct ab_end *end, const struct path *p,
		      bool has_home)
{
	const struct part *first = &p->parts[0];

	if (end->base == 1)
		return p->from == FROM_ROOT &&
		       (!end->head || first->kind ||
			first->text[0] == end->head);
	return end->base != 2 || has_home;
}

/* What the ends from..end-1 of the order give. */
static uint64_t try_ends(const struct ab_check *c, struct path *p,
			 const struct last *last, bool has_home, uint32_t from,
			 uint32_t end)
{
	const struct ab_pack *pack = c->pack;
	uint64_t yes = 0, no = 0;

	for (uint32_t i = from; i < end; i++) {
		uint32_t number = pack->end_order[i];
		const struct ab_end *e = &pack->ends[number];

		if (may_begin(e, p, has_home) &&
		    may_end(e, &last->name, &last->bytes) && !e->is_not)
			try_pattern(c, &pack->patterns[number], p, &yes, &no);
	}
	return yes;
}

/* Entries whose key is what a component with patterns in it may be. */
static uint64_t try_globs(const struct ab_check *c, struct path *p,
			  const struct last *last, bool has_home)
{
	const struct ab_pack *pack = c->pack;
	uint64_t yes = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		const struct part *part = &p->parts[i];
		unsigned char end = 0;

		if (part->kind != 1)
			continue;
		if (!ab_part_is_all(part))
			end = (unsigned char)ends_of(part).last;
		if (!end)
			return try_ends(c, p, last, has_home,
					pack->end_first[1], pack->ends_count);
		yes |= try_ends(c, p, last, has_home, pack->end_first[end],
				pack->end_first[end + 1]);
	}
	return yes;
}

/* A path with patterns in it may be what any entry says whose key is one of
   its names, or what a pattern takes: the entries that take away count only
   where one has given. */
static uint64_t listed_patterns(const struct ab_check *c, struct path *p)
{
	const struct ab_pack *pack = c->pack;
	const struct part *end = &p->parts[p->count - 1];
	struct last last = { { 0, 0 }, { 0, 0 } };
	uint64_t yes = 0, no = 0;
	bool has_home = p->from == FROM_HOME || homes_of(c, p);

	if (end->kind == 1 && end->len) {
		last.name = ends_of(end);
		last.bytes = (struct ends){
			written_byte(end->text[0]),
			written_byte(end->text[end->len - 1])
		};
	}
	for (uint32_t i = 0; i < p->count; i++) {
		if (!p->parts[i].kind)
			try_key(c, &p->parts[i], p, &last, &yes, &no);
	}
	no = 0;
	yes |= try_ends(c, p, &last, has_home, 0, pack->end_first[1]) |
	       try_globs(c, p, &last, has_home);
	for (uint32_t i = 0; yes && i < pack->ends_count; i++) {
		if (pack->ends[i].is_not &&
		    (yes >> pack->patterns[i].class_bit & 1))
			try_pattern(c, &pack->patterns[i], p, &yes, &no);
	}
	return yes & ~no;
}

uint64_t ab_path_listed(const struct ab_check *c, struct path *p)
{
	const struct part *last = p->count ? &p->parts[p->count - 1] : NULL;
	struct last end = { { 0, 0 }, { 0, 0 } };
	uint64_t yes = 0, no = 0;
	bool has_pattern = false;

	for (uint32_t i = 0; i < p->count; i++)
		has_pattern |= p->parts[i].kind == 1;
	if (has_pattern)
		return listed_patterns(c, p);
	if (last && !last->kind && last->len)
		end.name = end.bytes = (struct ends){
			last->text[0], last->text[last->len - 1]
		};
	for (uint32_t i = 0; i < p->count; i++)
		try_key(c, &p->parts[i], p, &end, &yes, &no);
	if (last)
		try_free(c, p, &yes, &no);
	return yes & ~no;
}
