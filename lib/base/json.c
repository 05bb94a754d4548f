/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON with positions around jansson. A token scan of our own comes first
 * and refuses what jansson would take or would recurse on: NUL, reals, depth,
 * node count. jansson then decides syntax; the now well-formed text is read
 * again, once to see that the tree says what the text says and once to record
 * where each value is. Every pass is linear. Spec: json.h, RFC 8259, RFC 6901.
 */
#include "config.h"

#include "base/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"

#define WHERE_SIZE 32
#define NO_NODE UINT32_MAX
#define IN_ARRAY UINT32_MAX

/* kind: one of {}[]:, or 's' string, 'n' number, 'w' word, '?' junk, 0 end. */
typedef struct token {
	char kind;
	size_t start, end;
	unsigned line, column;
} token;

typedef struct scan {
	const char *text;
	size_t n, pos;
	unsigned line, column; /* of text[pos] */
} scan;

typedef struct node {
	uint32_t line, column;
	uint32_t next;	  /* sibling, or NO_NODE */
	uint32_t first;	  /* child, or NO_NODE */
	uint32_t key;	  /* offset in keys; element number in an array */
	uint32_t key_len; /* or IN_ARRAY */
} node;

struct ab_json_index {
	node *nodes; /* owned; nodes[0] is the root */
	uint32_t count, cap;
	char *keys; /* owned; unescaped keys, one after the other */
	size_t keys_len;
};

/* --- tokens ------------------------------------------------------------ */

static void scan_init(scan *s, const char *text, size_t n)
{
	s->text = text;
	s->n = n;
	s->pos = 0;
	s->line = 1;
	s->column = 1;
}

/* One byte on; a UTF-8 continuation byte is not a column of its own. */
static void scan_step(scan *s)
{
	unsigned char c = (unsigned char)s->text[s->pos++];

	if (c == '\n') {
		s->line++;
		s->column = 1;
	} else if (s->pos >= s->n ||
		   ((unsigned char)s->text[s->pos] & 0xc0) != 0x80) {
		s->column++;
	}
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
	       c == 'e' || c == 'E';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* To behind the closing quote, or to the end of the text. */
static void scan_string(scan *s)
{
	scan_step(s);
	while (s->pos < s->n) {
		char c = s->text[s->pos];

		scan_step(s);
		if (c == '"')
			return;
		if (c == '\\' && s->pos < s->n)
			scan_step(s);
	}
}

static void scan_while(scan *s, bool (*is_part)(char))
{
	while (s->pos < s->n && is_part(s->text[s->pos]))
		scan_step(s);
}

static void scan_next(scan *s, token *t)
{
	char c;

	scan_while(s, is_space);
	t->start = s->pos;
	t->line = s->line;
	t->column = s->column;
	t->kind = '\0';
	t->end = s->pos;
	if (s->pos >= s->n)
		return;
	c = s->text[s->pos];
	if (c == '"') {
		t->kind = 's';
		scan_string(s);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		t->kind = 'n';
		scan_while(s, is_number);
	} else if (is_word(c)) {
		t->kind = 'w';
		scan_while(s, is_word);
	} else {
		t->kind = c && strchr("{}[]:,", c) ? c : '?';
		scan_step(s);
	}
	t->end = s->pos;
}

static void where_of(char out[WHERE_SIZE], unsigned line, unsigned column)
{
	snprintf(out, WHERE_SIZE, "%u:%u", line, column);
}

static void where_of_offset(char out[WHERE_SIZE], const char *text, size_t n,
			    size_t offset)
{
	scan s;

	scan_init(&s, text, n);
	while (s.pos < offset && s.pos < n)
		scan_step(&s);
	where_of(out, s.line, s.column);
}

/* --- before jansson ---------------------------------------------------- */

static int32_t refuse_nul(const char *text, size_t n, agentbox_error **err)
{
	const char *nul = n ? memchr(text, '\0', n) : NULL;
	char where[WHERE_SIZE];

	if (!nul)
		return AGENTBOX_OK;
	where_of_offset(where, text, n, (size_t)(nul - text));
	return ab_error_set(err, AGENTBOX_EPARSE, where,
			    "a NUL byte is not allowed in JSON");
}

static bool is_real(const char *text, const token *t)
{
	for (size_t i = t->start; i < t->end; i++) {
		if (text[i] == '.' || text[i] == 'e' || text[i] == 'E')
			return true;
	}
	return false;
}

static int32_t refuse_token(const char *text, const token *t, unsigned depth,
			    unsigned nodes, agentbox_error **err)
{
	bool has_real = t->kind == 'n' && is_real(text, t);
	char where[WHERE_SIZE];

	/* a good document has many tokens: print no place that nobody needs */
	if (depth <= AB_MAX_JSON_DEPTH && nodes <= AB_MAX_JSON_NODES &&
	    !has_real)
		return AGENTBOX_OK;
	where_of(where, t->line, t->column);
	if (depth > AB_MAX_JSON_DEPTH)
		return ab_error_set(err, AGENTBOX_ELIMIT, where,
				    "JSON is nested deeper than %d levels",
				    AB_MAX_JSON_DEPTH);
	if (nodes > AB_MAX_JSON_NODES)
		return ab_error_set(err, AGENTBOX_ELIMIT, where,
				    "JSON has more than %d keys and values",
				    AB_MAX_JSON_NODES);
	return ab_error_set(err, AGENTBOX_EPARSE, where,
			    "a number with a fraction or an exponent "
			    "is not allowed; write an integer");
}

static int32_t check_tokens(const char *text, size_t n, agentbox_error **err)
{
	unsigned depth = 0, nodes = 0;
	token t;
	scan s;

	scan_init(&s, text, n);
	for (scan_next(&s, &t); t.kind; scan_next(&s, &t)) {
		int32_t r;

		if (t.kind == '{' || t.kind == '[')
			depth++;
		else if ((t.kind == '}' || t.kind == ']') && depth)
			depth--;
		if (t.kind != '}' && t.kind != ']' && t.kind != ':' &&
		    t.kind != ',')
			nodes++;
		r = refuse_token(text, &t, depth, nodes, err);
		if (r)
			return r;
	}
	return AGENTBOX_OK;
}

/* --- jansson ----------------------------------------------------------- */

/*
 * jansson tells where it stopped reading, which is behind the token it
 * objects to. A person looks for the beginning.
 */
static void where_of_jansson(char out[WHERE_SIZE], const char *text, size_t n,
			     const json_error_t *e)
{
	enum json_error_code code = json_error_code(e);
	bool at_end = code == json_error_premature_end_of_input;
	size_t stop = at_end || e->position < 0 ? n : (size_t)e->position;
	token t;
	scan s;

	if (code == json_error_invalid_utf8) {
		/* it stops in front of the first bad byte */
		where_of_offset(out, text, n, stop);
		return;
	}
	scan_init(&s, text, n);
	do {
		scan_next(&s, &t);
	} while (t.kind && (at_end || t.end < stop));
	if (at_end || (t.start < stop && (t.kind != 's' || t.end == stop)))
		where_of(out, t.line, t.column);
	else /* between tokens or within a string: the byte is the place */
		where_of(out, e->line > 0 ? (unsigned)e->line : 1,
			 e->column > 0 ? (unsigned)e->column : 1);
}

static int32_t refuse_syntax(const char *text, size_t n, const json_error_t *e,
			     agentbox_error **err)
{
	char where[WHERE_SIZE];

	/* every complaint about the text has words; without any it is memory */
	if (e->text[0] == '\0' ||
	    json_error_code(e) == json_error_out_of_memory)
		return ab_error_nomem(err);
	where_of_jansson(where, text, n, e);
	if (json_error_code(e) == json_error_invalid_utf8)
		return ab_error_set(err, AGENTBOX_EPARSE, where,
				    "not valid UTF-8: %s", e->text);
	/* its own words are about an option of its own */
	if (json_error_code(e) == json_error_null_character ||
	    json_error_code(e) == json_error_null_byte_in_key)
		return ab_error_set(err, AGENTBOX_EPARSE, where,
				    "\\u0000 is not allowed in a string or "
				    "a key");
	return ab_error_set(err, AGENTBOX_EPARSE, where, "%s", e->text);
}

/* --- the index --------------------------------------------------------- */

static uint32_t index_add(ab_json_index *x, const token *t)
{
	node *at;

	if (x->count == x->cap) {
		uint32_t cap = x->cap ? x->cap * 2 : 64;
		node *grown = ab_realloc(x->nodes, cap, sizeof(*grown));

		if (!grown)
			return NO_NODE;
		x->nodes = grown;
		x->cap = cap;
	}
	at = &x->nodes[x->count];
	at->line = t->line;
	at->column = t->column;
	at->next = NO_NODE;
	at->first = NO_NODE;
	at->key = 0;
	at->key_len = IN_ARRAY;
	return x->count++;
}

static unsigned hex4(const char *p)
{
	unsigned v = 0;

	for (size_t i = 0; i < 4; i++) {
		char c = p[i];

		v = v << 4 |
		    (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return v;
}

/*
 * The escape at p (behind the backslash) into `to`; returns the bytes read.
 * jansson has accepted the text, so hex digits and surrogate halves are there;
 * `left` guards all the same. An escape is never shorter than its UTF-8.
 */
static size_t unescape(const char *p, size_t left, char *to, size_t *put)
{
	static const char from[] = "\"\\/bfnrt";
	static const char plain[] = "\"\\/\b\f\n\r\t";
	const char *found;
	uint32_t c;

	if (*p != 'u') {
		found = memchr(from, *p, sizeof(from) - 1);
		to[0] = found ? plain[found - from] : *p;
		*put = 1;
		return 1;
	}
	if (left < 5) {
		*put = 0;
		return left;
	}
	c = hex4(p + 1);
	if (c >= 0xd800 && c < 0xdc00 && left >= 11) {
		c = 0x10000 + ((c & 0x3ff) << 10 | (hex4(p + 7) & 0x3ff));
		*put = ab_utf8_put(to, c);
		return 11;
	}
	*put = ab_utf8_put(to, c);
	return 5;
}

/* The string token without quotes and escapes into `to`; its length. */
static size_t unescape_token(const char *text, const token *t, char *to)
{
	size_t i = t->start + 1, end = t->end - 1, len = 0;

	while (i < end) {
		size_t put = 1;

		if (text[i] == '\\' && i + 1 < end) {
			i++;
			i += unescape(text + i, end - i, to + len, &put);
		} else {
			to[len] = text[i++];
		}
		len += put;
	}
	return len;
}

/* Where the scan is: a stack of open containers, bounded like the text. */
typedef struct builder {
	ab_json_index *x;
	const char *text;
	uint32_t open[AB_MAX_JSON_DEPTH]; /* node numbers */
	uint32_t last[AB_MAX_JSON_DEPTH]; /* newest child, or NO_NODE */
	bool is_object[AB_MAX_JSON_DEPTH];
	unsigned depth;
	uint32_t key, key_len;
	bool has_key;
} builder;

/* Hang a fresh node below the innermost open container. */
static void attach(builder *b, uint32_t n)
{
	node *nodes = b->x->nodes;
	uint32_t *last;

	if (b->depth == 0)
		return;
	last = &b->last[b->depth - 1];
	if (b->has_key) {
		nodes[n].key = b->key;
		nodes[n].key_len = b->key_len;
	} else {
		nodes[n].key = *last == NO_NODE ? 0 : nodes[*last].key + 1;
	}
	if (*last == NO_NODE)
		nodes[b->open[b->depth - 1]].first = n;
	else
		nodes[*last].next = n;
	*last = n;
	b->has_key = false;
}

static bool build_value(builder *b, const token *t)
{
	uint32_t n = index_add(b->x, t);

	if (n == NO_NODE)
		return false;
	attach(b, n);
	if ((t->kind == '{' || t->kind == '[') &&
	    b->depth < AB_MAX_JSON_DEPTH) {
		b->open[b->depth] = n;
		b->last[b->depth] = NO_NODE;
		b->is_object[b->depth] = t->kind == '{';
		b->depth++;
	}
	return true;
}

/* In an object a string where no key is pending is the key. */
static bool is_key(const builder *b, const token *t)
{
	return b->depth > 0 && b->is_object[b->depth - 1] && !b->has_key &&
	       t->kind == 's';
}

static bool build(builder *b, size_t n)
{
	token t;
	scan s;

	scan_init(&s, b->text, n);
	for (scan_next(&s, &t); t.kind; scan_next(&s, &t)) {
		if (t.kind == ',' || t.kind == ':')
			continue;
		if (t.kind == '}' || t.kind == ']') {
			if (b->depth)
				b->depth--;
			continue;
		}
		if (is_key(b, &t)) {
			b->key = (uint32_t)b->x->keys_len;
			b->key_len = (uint32_t)unescape_token(
				b->text, &t, b->x->keys + b->x->keys_len);
			b->x->keys_len += b->key_len;
			b->has_key = true;
			continue;
		}
		if (!build_value(b, &t))
			return false;
	}
	return true;
}

static int32_t index_new(ab_json_index **out, const char *text, size_t n)
{
	ab_auto(ab_json_index) *x = ab_new(ab_json_index);
	builder b = {.x = x, .text = text};

	if (!x)
		return AGENTBOX_ENOMEM;
	x->keys = ab_calloc(n + 1, 1); /* all keys together are shorter */
	if (!x->keys || !build(&b, n))
		return AGENTBOX_ENOMEM;
	*out = ab_steal(&x);
	return AGENTBOX_OK;
}

/* --- jansson's tree against the text ------------------------------------ */

/*
 * jansson 2.14 does not look whether it had memory to keep the bytes of a
 * token (lex_save() ignores strbuffer_append_byte()), so a shortage can give
 * a shorter string or number and no error. A deny list must not lose its last
 * letter: the tree is compared with the text before anybody sees it.
 */
typedef struct witness {
	scan s;
	char *scratch; /* as long as the text */
} witness;

static bool is_same(witness *w, const token *t, const json_t *v);

static bool is_same_integer(const char *text, const token *t, const json_t *v)
{
	bool is_negative = text[t->start] == '-';
	uint64_t n = 0;

	for (size_t i = t->start + is_negative; i < t->end; i++)
		n = n * 10 + (uint64_t)(text[i] - '0');
	if (is_negative)
		n = -n;
	return json_is_integer(v) && (uint64_t)json_integer_value(v) == n;
}

static bool is_same_array(witness *w, const json_t *v)
{
	size_t i = 0;
	token t;

	for (scan_next(&w->s, &t); t.kind && t.kind != ']';
	     scan_next(&w->s, &t)) {
		if (t.kind == ',')
			continue;
		if (!is_same(w, &t, json_array_get(v, i++)))
			return false;
	}
	return json_is_array(v) && i == json_array_size(v);
}

static bool is_same_object(witness *w, const json_t *v)
{
	size_t count = 0;
	token t;

	for (scan_next(&w->s, &t); t.kind && t.kind != '}';
	     scan_next(&w->s, &t)) {
		const json_t *member;
		size_t len;

		if (t.kind == ',')
			continue;
		len = unescape_token(w->s.text, &t, w->scratch);
		member = json_object_getn(v, w->scratch, len);
		scan_next(&w->s, &t); /* the colon */
		scan_next(&w->s, &t);
		if (!is_same(w, &t, member))
			return false;
		count++;
	}
	return json_is_object(v) && count == json_object_size(v);
}

/* Recursion is as deep as the document, at most AB_MAX_JSON_DEPTH. */
static bool is_same(witness *w, const token *t, const json_t *v)
{
	const char *text = w->s.text;
	size_t len;

	switch (t->kind) {
	case '{':
		return is_same_object(w, v);
	case '[':
		return is_same_array(w, v);
	case 'n':
		return is_same_integer(text, t, v);
	case 's':
		len = unescape_token(text, t, w->scratch);
		return json_is_string(v) && json_string_length(v) == len &&
		       memcmp(json_string_value(v), w->scratch, len) == 0;
	case 'w':
		return (text[t->start] == 't' && json_is_true(v)) ||
		       (text[t->start] == 'f' && json_is_false(v)) ||
		       (text[t->start] == 'n' && json_is_null(v));
	default:
		return false;
	}
}

bool ab_json_is_faithful(const char *text, size_t n, const json_t *value)
{
	ab_autofree char *scratch = ab_calloc(n + 1, 1);
	witness w = {.scratch = scratch};
	token t;

	if (!scratch)
		return false;
	scan_init(&w.s, text, n);
	scan_next(&w.s, &t);
	return is_same(&w, &t, value);
}

void ab_json_index_free(ab_json_index *index)
{
	if (!index)
		return;
	free(index->nodes);
	free(index->keys);
	free(index);
}

int32_t ab_json_parse(const char *text, size_t n, size_t max, json_t **out,
		      ab_json_index **index, agentbox_error **err)
{
	ab_auto(json_t) *value = NULL;
	json_error_t e = {.line = 0};
	int32_t r;

	if (!out || (!text && n))
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "text and out must not be NULL");
	/* positions are 32 bits wide here and in jansson */
	if (n > max || n > INT32_MAX)
		return ab_error_set(err, AGENTBOX_ELIMIT, NULL,
				    "JSON of %zu bytes is over the limit of "
				    "%zu", n, max);
	r = refuse_nul(text, n, err);
	if (r == AGENTBOX_OK)
		r = check_tokens(text, n, err);
	if (r)
		return r;
	value = json_loadb(n ? text : "", n,
			   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	if (!value)
		return refuse_syntax(text, n, &e, err);
	if (!ab_json_is_faithful(text, n, value))
		return ab_error_nomem(err);
	if (index && index_new(index, text, n))
		return ab_error_nomem(err);
	*out = ab_steal(&value);
	return AGENTBOX_OK;
}

/* Does a reference token, [p, end) with ~0 and ~1, name this key? */
static bool token_is_key(const char *p, const char *end, const char *key,
			 size_t key_len)
{
	size_t i = 0;

	while (p < end) {
		char c = *p++;

		if (c == '~') {
			if (p == end || (*p != '0' && *p != '1'))
				return false;
			c = *p++ == '0' ? '~' : '/';
		}
		if (i == key_len || key[i++] != c)
			return false;
	}
	return i == key_len;
}

/* RFC 6901 section 4: digits without leading zeros. */
static bool token_is_number(const char *p, const char *end, uint32_t number)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", (unsigned)number);

	return end - p == n && memcmp(p, text, (size_t)n) == 0;
}

static uint32_t find_child(const ab_json_index *x, uint32_t parent,
			   const char *p, const char *end)
{
	uint32_t i = x->nodes[parent].first;

	for (; i != NO_NODE; i = x->nodes[i].next) {
		const node *c = &x->nodes[i];

		if (c->key_len == IN_ARRAY ?
			    token_is_number(p, end, c->key) :
			    token_is_key(p, end, x->keys + c->key, c->key_len))
			return i;
	}
	return NO_NODE;
}

int ab_json_index_find(const ab_json_index *index, const char *pointer,
		       unsigned *line, unsigned *column)
{
	const char *p = pointer;
	uint32_t at = 0;

	if (!index || !pointer || index->count == 0)
		return -1;
	while (*p == '/') {
		const char *end = ++p;

		while (*end && *end != '/')
			end++;
		at = find_child(index, at, p, end);
		if (at == NO_NODE)
			return -1;
		p = end;
	}
	if (*p)
		return -1;
	*line = index->nodes[at].line;
	*column = index->nodes[at].column;
	return 0;
}
