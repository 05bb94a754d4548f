/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index over names.c, see match.h. */
#include "config.h"

#include "snapshot/match.h"

#include <string.h>

#include "base/alloc.h"
#include "path/glob.h"

#define SLOTS 4096u /* a power of two, several times the rules */
#define RULES_MAX 1024u

enum kind {
	KIND_EXACT,  /* name */
	KIND_SUFFIX, /* *.name, from its first byte on */
	KIND_INFIX,  /* *.name.* */
	KIND_GLOB
};

struct ab_match {
	uint16_t slots[SLOTS];	  /* rule + 1; equal keys side by side */
	uint16_t first[256];	  /* globs by their first byte: rule + 1 */
	uint16_t last[256];	  /* else by their last byte */
	struct glob {
		const char *p; /* its last component, n bytes */
		uint16_t next; /* in its list: rule + 1 */
		uint8_t n;
		uint8_t head, tail; /* literal bytes at its ends */
	} globs[RULES_MAX];
};

const char *ab_match_last(const char *pattern, size_t *n)
{
	size_t len = strlen(pattern);
	const char *slash;

	if (len > 0 && pattern[len - 1] == '/')
		len--;
	slash = memrchr(pattern, '/', len);
	*n = slash ? (size_t)(pattern + len - slash) - 1 : len;
	return slash ? slash + 1 : pattern;
}

/* Backwards, so that one pass over a name has the hash of each suffix. */
static uint32_t hash_on(uint32_t h, char c)
{
	return (h ^ (unsigned char)c) * 16777619u; /* FNV-1a */
}

static uint32_t slot_of(enum kind kind, uint32_t h)
{
	h ^= (uint32_t)kind << 12;
	return (h ^ h >> 15) % SLOTS;
}

static uint32_t hash(const char *p, size_t n)
{
	uint32_t h = 2166136261u;

	while (n > 0)
		h = hash_on(h, p[--n]);
	return h;
}

static bool is_literal(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr("*?[\\", p[i]))
			return false;
	return true;
}

static size_t literal_head(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && is_literal(p + i, 1))
		i++;
	return i;
}

static size_t literal_tail(const char *p, size_t n)
{
	size_t i = 0;

	/* a bracket ends a set */
	while (i < n && is_literal(p + n - i - 1, 1) && p[n - i - 1] != ']')
		i++;
	return i;
}

/* Where a name is cut for its suffixes. */
static bool is_cut(char c)
{
	return c == '.' || c == '-' || c == '_' || c == '~';
}

/* How a pattern is looked up, and by which of its bytes. */
static enum kind classify(const char **p, size_t *n)
{
	if (is_literal(*p, *n))
		return KIND_EXACT;
	if (*n > 4 && (*p)[0] == '*' && (*p)[1] == '.' &&
	    (*p)[*n - 2] == '.' && (*p)[*n - 1] == '*' &&
	    is_literal(*p + 1, *n - 2) && !memchr(*p + 2, '.', *n - 4)) {
		*p += 2;
		*n -= 4;
		return KIND_INFIX;
	}
	if (*n > 1 && (*p)[0] == '*' && is_cut((*p)[1]) &&
	    is_literal(*p + 1, *n - 1)) {
		*p += 1;
		*n -= 1;
		return KIND_SUFFIX;
	}
	return KIND_GLOB;
}

static void insert(ab_match *match, size_t rule)
{
	size_t n;
	const char *p = ab_match_last(ab_name_rules[rule].pattern, &n);
	enum kind kind = classify(&p, &n);
	uint16_t *head;

	if (kind != KIND_GLOB) {
		uint32_t at = slot_of(kind, hash(p, n));

		while (match->slots[at])
			at = (at + 1) % SLOTS;
		match->slots[at] = (uint16_t)(rule + 1);
		return;
	}
	/* a pattern with wildcards at both ends would be in last['*'] */
	head = p[0] == '*' || p[0] == '[' || p[0] == '?'
		       ? &match->last[(unsigned char)p[n - 1]]
		       : &match->first[(unsigned char)p[0]];
	match->globs[rule] = (struct glob){
		.p = p,
		.next = *head,
		.n = (uint8_t)n,
		.head = (uint8_t)literal_head(p, n),
		.tail = (uint8_t)literal_tail(p, n),
	};
	*head = (uint16_t)(rule + 1);
}

ab_match *ab_match_new(void)
{
	ab_match *match = ab_new(ab_match);

	if (!match || ab_name_rule_count > RULES_MAX) {
		free(match);
		return NULL;
	}
	/* backwards, so that the first rule is found first */
	for (size_t i = ab_name_rule_count; i-- > 0;)
		insert(match, i);
	return match;
}

void ab_match_free(ab_match *match)
{
	free(match);
}

static void look_up(const ab_match *match, enum kind kind, uint32_t h,
		    const char *p, size_t n,
		    void (*hit)(void *, const struct ab_name_rule *),
		    void *data)
{
	uint32_t at = slot_of(kind, h);

	for (; match->slots[at]; at = (at + 1) % SLOTS) {
		const struct ab_name_rule *rule =
			&ab_name_rules[match->slots[at] - 1];
		size_t len;
		const char *key = ab_match_last(rule->pattern, &len);

		if (classify(&key, &len) == kind && len == n &&
		    memcmp(key, p, n) == 0)
			hit(data, rule);
	}
}

static void try_globs(const ab_match *match, uint16_t head, const char *form,
		      size_t n,
		      void (*hit)(void *, const struct ab_name_rule *),
		      void *data)
{
	for (; head; head = match->globs[head - 1].next) {
		const struct glob *g = &match->globs[head - 1];

		if (n >= g->head && n >= g->tail &&
		    memcmp(g->p, form, g->head) == 0 &&
		    memcmp(g->p + g->n - g->tail, form + n - g->tail,
			   g->tail) == 0 &&
		    ab_glob_match_name(g->p, g->n, form, n, 0))
			hit(data, &ab_name_rules[head - 1]);
	}
}

void ab_match_form(const ab_match *match, const char *form, size_t n,
		   void (*hit)(void *data, const struct ab_name_rule *rule),
		   void *data)
{
	uint32_t h = hash("", 0);
	size_t end = 0; /* of what stands between this dot and the next */

	if (n == 0)
		return;
	for (size_t i = n; i-- > 0;) {
		h = hash_on(h, form[i]);
		if (!is_cut(form[i]))
			continue;
		look_up(match, KIND_SUFFIX, h, form + i, n - i, hit, data);
		if (form[i] != '.')
			continue;
		if (end)
			look_up(match, KIND_INFIX,
				hash(form + i + 1, end - i - 1), form + i + 1,
				end - i - 1, hit, data);
		end = i;
	}
	look_up(match, KIND_EXACT, h, form, n, hit, data);
	try_globs(match, match->first[(unsigned char)form[0]], form, n, hit,
		  data);
	try_globs(match, match->last[(unsigned char)form[n - 1]], form, n, hit,
		  data);
}
