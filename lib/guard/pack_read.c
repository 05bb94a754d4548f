/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a pack: lines, words, blocks, classes, sets. What a line of a
 * program or of a rule means is in pack_program.c and pack_rule.c. The format
 * is agentbox-rules(5).
 */
#include "config.h"

#include "base/digit.h"
#include "guard/pack.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "guard/pack_internal.h"

enum block { BLOCK_NONE, BLOCK_CLASS, BLOCK_SET, BLOCK_PROGRAM, BLOCK_RULE };

static const char *const computed[AB_CLASS_COMPUTED] = {
	"root",	  "top",     "home",	"parent", "worktree",
	"everything", "inside", "temp", "outside", "git",
	"hole",	  "unknown", "subdir",	"checked", "any",
};

int32_t ab_pack_bad(struct ab_pack_reader *r, const char *at, const char *fmt,
		    ...)
{
	char text[256], where[300];
	va_list args;
	size_t column = at && at >= r->start ? (size_t)(at - r->start) + 1 : 1;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(where, sizeof(where), "%.200s:%u:%zu", r->name, r->line,
		 column);
	return ab_error_set(r->err, AGENTBOX_EPARSE, where, "%s", text);
}

/* Has any table as many entries as it may have? */
static bool is_at_limit(const struct ab_pack *pack)
{
#define X(name, type)                                                         \
	if (pack->name##_room >= AB_PACK_MAX_ITEMS)                           \
		return true;
	AB_TABLES(X)
#undef X
	return false;
}

int32_t ab_pack_full(struct ab_pack_reader *r)
{
	char where[300];

	if (!is_at_limit(r->pack))
		return ab_error_nomem(r->err);
	snprintf(where, sizeof(where), "%.200s:%u:1", r->name, r->line);
	return ab_error_set(r->err, AGENTBOX_ELIMIT, where,
			    "a pack has at most %d entries of a kind",
			    AB_PACK_MAX_ITEMS);
}

int32_t ab_pack_too_many(struct ab_pack_reader *r, uint32_t max,
			 const char *what)
{
	char where[300];

	snprintf(where, sizeof(where), "%.200s:%u:1", r->name, r->line);
	return ab_error_set(r->err, AGENTBOX_ELIMIT, where, "at most %u %s",
			    max, what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* One escape at *p (behind the backslash); its byte, or -1. */
static int escape(char **p)
{
	static const char from[] = "ntr\\\"e0";
	static const char to[] = "\n\t\r\\\"\033\0";
	char c = *(*p)++;
	const char *at = c ? strchr(from, c) : NULL;

	if (at)
		return (unsigned char)to[at - from];
	if (c != 'x' || ab_hex_digit((*p)[0]) < 0 || ab_hex_digit((*p)[1]) < 0)
		return -1;
	*p += 2;
	return ab_hex_digit((*p)[-2]) * 16 + ab_hex_digit((*p)[-1]);
}

/* In place; the new length or -1 with *bad at the escape. */
static long unescape(char *text, char **bad)
{
	char *out = text;

	for (char *p = text; *p;) {
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		*bad = p++;
		int byte = escape(&p);

		if (byte < 0)
			return -1;
		*out++ = (char)byte;
	}
	*out = '\0';
	return out - text;
}

static int32_t quoted_word(struct ab_pack_reader *r, char **pp)
{
	char *p = *pp + 1, *out = p;

	r->words[r->count++] = p;
	while (*p && *p != '"') {
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		char *at = p++;
		int byte = escape(&p);

		if (byte <= 0)
			return ab_pack_bad(r, at, "no such escape");
		*out++ = (char)byte;
	}
	if (!*p)
		return ab_pack_bad(r, *pp, "the quote is not closed");
	*out = '\0';
	*pp = p + 1;
	return 0;
}

static int32_t cut_words(struct ab_pack_reader *r, char *p)
{
	r->count = 0;
	for (;;) {
		while (is_blank(*p))
			*p++ = '\0';
		if (!*p || *p == '#')
			break;
		if (r->count == AB_PACK_MAX_TOKENS)
			return ab_pack_bad(r, p, "more than %d words",
					   AB_PACK_MAX_TOKENS);
		if (*p == '"') {
			int32_t rc = quoted_word(r, &p);

			if (rc < 0)
				return rc;
			if (*p && !is_blank(*p))
				return ab_pack_bad(r, p,
						   "a blank must follow");
			continue;
		}
		r->words[r->count++] = p;
		while (*p && !is_blank(*p))
			p++;
	}
	*p = '\0';
	return 0;
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-_");

	return n && n < 64 && !s[n];
}

/* --- classes ------------------------------------------------------------ */

int32_t ab_pack_classes(struct ab_pack_reader *r, char *text, uint64_t *mask)
{
	*mask = 0;
	for (char *p = text; p;) {
		char *end = strchr(p, '|');
		size_t n = end ? (size_t)(end - p) : strlen(p);
		int bit = -1;

		for (int i = 0; i < AB_CLASS_COMPUTED && bit < 0; i++) {
			if (strlen(computed[i]) == n &&
			    !memcmp(computed[i], p, n))
				bit = i;
		}
		for (uint32_t i = 0; i < r->pack->classes_count && bit < 0;
		     i++) {
			const char *name = r->pack->classes[i].name;

			if (strlen(name) == n && !memcmp(name, p, n))
				bit = (int)i + AB_CLASS_COMPUTED;
		}
		if (bit < 0)
			return ab_pack_bad(r, p, "no class '%.*s'", (int)n, p);
		*mask |= UINT64_C(1) << bit;
		p = end ? end + 1 : NULL;
	}
	return 0;
}

static int32_t open_class(struct ab_pack_reader *r)
{
	struct ab_pack *pack = r->pack;

	if (r->count < 2 || !is_name(r->words[1]))
		return ab_pack_bad(r, r->words[r->count - 1],
				   "a class needs a name");
	for (uint32_t i = 0; i < pack->classes_count + AB_CLASS_COMPUTED;
	     i++) {
		const char *have =
			i < AB_CLASS_COMPUTED
				? computed[i]
				: pack->classes[i - AB_CLASS_COMPUTED].name;

		if (!strcmp(have, r->words[1]))
			return ab_pack_bad(r, r->words[1],
					   "class '%s' is there already",
					   r->words[1]);
	}
	if (pack->classes_count + AB_CLASS_COMPUTED >= AB_PACK_MAX_CLASSES)
		return ab_pack_too_many(r, AB_PACK_MAX_CLASSES, "classes");
	struct ab_class *c = ab_pack_add(pack, classes);

	if (!c)
		return ab_pack_full(r);
	c->name = r->words[1];
	c->pattern = pack->patterns_count;
	return 0;
}

static uint8_t shape_of(const char *text, size_t n)
{
	size_t specials = 0;

	for (size_t i = 0; i < n; i++)
		specials += strchr("*?[\\", text[i]) != NULL;
	if (specials != 1 || n < 2)
		return AB_SHAPE_ANY;
	return *text == '*'	    ? AB_SHAPE_TAIL :
	       text[n - 1] == '*' ? AB_SHAPE_HEAD :
				      AB_SHAPE_ANY;
}

static void read_part(struct ab_part *part, const char *text, size_t n)
{
	part->shape = shape_of(text, n);
	part->text = text;
	part->len = (uint16_t)n;
	part->kind = n == 2 && !memcmp(text, "**", 2) ? 2 : 0;
	for (size_t i = 0; i < n && !part->kind; i++) {
		if (strchr("*?[", text[i]))
			part->kind = 1;
	}
	if (!strchr("*?[\\", text[0]))
		part->first = text[0];
	if (!strchr("*?]\\", text[n - 1]))
		part->last = text[n - 1];
}

static int32_t add_end(struct ab_pack_reader *r,
		       const struct ab_path_pattern *p)
{
	struct ab_end *end = ab_pack_add(r->pack, ends);
	const struct ab_part *part;

	if (!end)
		return ab_pack_full(r);
	*end = (struct ab_end){ .kind = 2, .base = p->base,
				.is_not = p->is_not };
	if (!p->component_count)
		return 0;
	part = &r->pack->parts[p->part];
	if (p->base == 1 && !part->kind)
		end->head = part->text[0];
	part = &r->pack->parts[p->part + p->component_count - 1];
	if (part->kind == 2)
		return 0;
	end->kind = part->kind;
	end->first = part->kind ? part->first : part->text[0];
	end->last = part->kind ? part->last : part->text[part->len - 1];
	return 0;
}

/* A pattern without a literal: by what its one name begins or ends with. */
static void add_free(struct ab_pack *pack, struct ab_path_pattern *p)
{
	/* of no component there may be no part at all: not even the array */
	const struct ab_part *part = p->component_count == 1 && !p->is_deep
					     ? &pack->parts[p->part]
					     : NULL;
	uint32_t *list = &pack->path_rest;

	if (part && part->first)
		list = &pack->path_first[(unsigned char)part->first];
	else if (part && part->last)
		list = &pack->path_last[(unsigned char)part->last];
	p->next_end = *list;
	*list = pack->patterns_count;
	p->next = pack->path_free;
	pack->path_free = pack->patterns_count;
}

static int32_t add_parts(struct ab_pack_reader *r, struct ab_path_pattern *p,
			 const char *text)
{
	const char *key = NULL;
	size_t key_len = 0;

	p->part = r->pack->parts_count;
	p->is_open = true;
	while (*text) {
		size_t n = strcspn(text, "/");

		if (!n) {
			text++;
			continue;
		}
		if (n > AB_MAX_NAME)
			return ab_pack_too_many(r, AB_MAX_NAME,
						"bytes in a name of a path");
		struct ab_part *part = ab_pack_add(r->pack, parts);

		if (!part)
			return ab_pack_full(r);
		read_part(part, text, n);
		p->is_deep |= part->kind == 2;
		p->is_open = part->kind == 2 || (part->kind == 1 && n == 1);
		if (!part->kind) {
			key = text;
			key_len = n;
		}
		p->component_count++;
		text += n;
	}
	int32_t rc = add_end(r, p);

	if (rc < 0)
		return rc;
	if (!key) {
		add_free(r->pack, p);
		return 0;
	}
	r->pack->ends[r->pack->ends_count - 1].key = key[key_len - 1];
	p->key_hash = ab_pack_hash(key, key_len);
	r->pack->path_keys[(unsigned char)*key] |= ab_pack_length(key_len);
	r->pack->path_tails[(unsigned char)key[key_len - 1]] |=
		ab_pack_length(key_len);

	uint32_t *bucket =
		&r->pack->path_buckets[p->key_hash % AB_PATH_BUCKETS];

	p->next = *bucket;
	*bucket = r->pack->patterns_count;
	return 0;
}

static int32_t add_pattern(struct ab_pack_reader *r, char *text)
{
	struct ab_pack *pack = r->pack;
	struct ab_path_pattern *p = ab_pack_add(pack, patterns);

	if (!p)
		return ab_pack_full(r);
	p->text = text;
	p->class_bit =
		(uint8_t)(pack->classes_count - 1 + AB_CLASS_COMPUTED);
	pack->classes[pack->classes_count - 1].pattern_count++;
	if (*text == '!') {
		p->is_not = true;
		text++;
	}
	if (!strncmp(text, "~/", 2) || !strcmp(text, "~")) {
		p->base = 2;
		text++;
	} else if (!strncmp(text, "**/", 3)) {
		text += 3;
	} else if (*text == '/') {
		p->base = 1;
	} else {
		return ab_pack_bad(r, text,
				   "a path begins with '/', '~/' or '**/'");
	}
	return add_parts(r, p, text);
}

static int32_t read_patterns(struct ab_pack_reader *r, uint32_t from)
{
	for (uint32_t i = from; i < r->count; i++) {
		int32_t rc = add_pattern(r, r->words[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- sets --------------------------------------------------------------- */

static int32_t add_to_set(struct ab_pack_reader *r, uint32_t from)
{
	struct ab_set *set = &r->pack->sets[r->pack->sets_count - 1];

	for (uint32_t i = from; i < r->count; i++) {
		const char **s = ab_pack_add(r->pack, strings);

		if (!s)
			return ab_pack_full(r);
		*s = r->words[i];
		set->count++;
	}
	return 0;
}

static int32_t open_set(struct ab_pack_reader *r)
{
	if (r->count < 2 || !is_name(r->words[1]))
		return ab_pack_bad(r, r->words[r->count - 1],
				   "a set needs a name");
	for (uint32_t i = 0; i < r->pack->sets_count; i++) {
		if (!strcmp(r->pack->sets[i].name, r->words[1]))
			return ab_pack_bad(r, r->words[1],
					   "set '%s' is there already",
					   r->words[1]);
	}
	struct ab_set *set = ab_pack_add(r->pack, sets);

	if (!set)
		return ab_pack_full(r);
	set->name = r->words[1];
	set->first = r->pack->strings_count;
	return add_to_set(r, 2);
}

/* --- lines -------------------------------------------------------------- */

/* Lines of a rule that take the rest as it stands. */
static int32_t raw_line(struct ab_pack_reader *r, char *line, bool *done)
{
	static const char *const names[] = { "match", "not_match", "reason",
					     "advice", "try", "match_c",
					     "not_match_c" };
	size_t n = strcspn(line, " \t"), i;

	*done = false;
	for (i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n && !memcmp(names[i], line, n))
			break;
	}
	if (r->block != BLOCK_RULE || i == AB_ARRAY_LEN(names))
		return 0;
	*done = true;
	char *rest = line + n + strspn(line + n, " \t");
	size_t len = strlen(rest);

	while (len && is_blank(rest[len - 1]))
		rest[--len] = '\0';
	if (!len)
		return ab_pack_bad(r, line, "nothing behind '%s'", names[i]);
	struct ab_rule *rule = &r->pack->rules[r->rule];

	if (r->is_changed && r->layer == AB_LAYER_PROJECT && i >= 2 && i <= 4)
		return ab_pack_bad(r, line,
				   "a project does not say why or what instead "
				   "for '%s'", rule->id);
	if (i == 2) {
		rule->reason = rest;
		return 0;
	}
	if (i == 3 || i == 4) {
		rule->alternative = rest;
		rule->is_command = i == 4;
		return 0;
	}
	if (i > 4) {
		char *bad = rest;
		long got = unescape(rest, &bad);

		if (got < 0)
			return ab_pack_bad(r, bad, "no such escape");
		len = (size_t)got;
	}
	struct ab_example *e = ab_pack_add(r->pack, examples);

	if (!e)
		return ab_pack_full(r);
	e->rule = r->rule;
	e->is_match = i == 0 || i == 5;
	e->text = rest;
	e->len = (uint32_t)len;
	e->line = r->line;
	return 0;
}

static int32_t inner_line(struct ab_pack_reader *r)
{
	switch ((enum block)r->block) {
	case BLOCK_CLASS:
		return read_patterns(r, 0);
	case BLOCK_SET:
		return add_to_set(r, 0);
	case BLOCK_PROGRAM:
		return ab_pack_read_program(r);
	case BLOCK_RULE:
		return ab_pack_read_rule(r);
	case BLOCK_NONE:
		break;
	}
	return ab_pack_bad(r, r->words[0],
			   "an indented line needs a block above it");
}

static int32_t outer_line(struct ab_pack_reader *r)
{
	const char *what = r->words[0];
	int32_t rc;

	if (!strcmp(what, "pack")) {
		if (r->count != 3)
			return ab_pack_bad(r, what, "pack NAME VERSION");
		r->pack->name = r->words[1];
		r->pack->version = r->words[2];
		r->block = BLOCK_NONE;
		return 0;
	}
	if (!strcmp(what, "class")) {
		r->block = BLOCK_CLASS;
		rc = open_class(r);
		return rc < 0 ? rc : read_patterns(r, 2);
	}
	if (!strcmp(what, "set")) {
		r->block = BLOCK_SET;
		return open_set(r);
	}
	if (!strcmp(what, "program")) {
		r->block = BLOCK_PROGRAM;
		return ab_pack_open_program(r);
	}
	if (!strcmp(what, "rule")) {
		r->block = BLOCK_RULE;
		return ab_pack_open_rule(r);
	}
	if (!strcmp(what, "help")) {
		r->block = BLOCK_NONE;
		return ab_pack_read_help(r);
	}
	if (!strcmp(what, "common")) {
		r->block = BLOCK_NONE;
		return ab_pack_read_common(r);
	}
	return ab_pack_bad(r, what, "'%s' begins no block", what);
}

static int32_t read_line(struct ab_pack_reader *r, char *line)
{
	char *p = line + strspn(line, " \t");
	bool is_inner = p != line, done;

	r->start = line;
	if (!*p || *p == '#')
		return 0;
	if (is_inner) {
		int32_t rc = raw_line(r, p, &done);

		if (rc < 0 || done)
			return rc;
	}
	int32_t rc = cut_words(r, p);

	if (rc < 0)
		return rc;
	return is_inner ? inner_line(r) : outer_line(r);
}

static int32_t read_lines(struct ab_pack_reader *r, char *text, size_t n)
{
	for (char *p = text; p < text + n;) {
		char *end = strchr(p, '\n');

		r->line++;
		if (!end)
			end = text + n;
		char *next = end + 1;

		if (end > p && end[-1] == '\r')
			end[-1] = '\0';
		*end = '\0';
		int32_t rc = read_line(r, p);

		if (rc < 0)
			return rc;
		p = next;
	}
	return 0;
}

int32_t ab_pack_read(struct ab_pack *pack, enum ab_pack_layer layer,
		     const char *name, const char *text, size_t n,
		     agentbox_error **err)
{
	struct ab_pack_reader r = { .pack = pack, .layer = layer,
				    .name = name, .err = err };

	if (n > AB_PACK_MAX_BYTES)
		return ab_error_set(err, AGENTBOX_ELIMIT, name,
				    "a pack has at most %u bytes",
				    AB_PACK_MAX_BYTES);
	if (memchr(text, 0, n))
		return ab_error_set(err, AGENTBOX_EPARSE, name,
				    "a pack holds no NUL");
	if (pack->text_count == AB_PACK_MAX_TEXTS)
		return ab_error_set(err, AGENTBOX_ELIMIT, name,
				    "more than %d packs", AB_PACK_MAX_TEXTS);
	char *copy = ab_memdup0(text, n);

	if (!copy)
		return ab_error_nomem(err);
	pack->text[pack->text_count++] = copy;
	int32_t rc = read_lines(&r, copy, n);

	if (rc == 0 && !ab_pack_settle(pack))
		return ab_error_nomem(err);
	return rc;
}
