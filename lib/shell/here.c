/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the bodies of here-documents end. They are read at the newline that
 * ends their line; what is in them is left for the run.
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

/* One logical line of an unquoted body: a backslash joins the next one to it.
 * Its end; *is_last: it is the delimiter. */
static uint32_t joined_line(const struct parser *p, uint32_t at,
			    const unsigned char *delimiter, uint32_t len,
			    bool *is_last)
{
	const unsigned char *s = p->s;
	uint32_t matched = 0;
	bool equal = true;

	for (; at < p->len && s[at] != '\n'; at++) {
		if (s[at] == '\\' && s[at + 1] == '\n') {
			at++;
			continue;
		}
		equal = equal && matched < len && s[at] == delimiter[matched];
		matched++;
		if (s[at] == '\\' && at + 1 < p->len) {
			at++;
			equal = equal && matched < len &&
				s[at] == delimiter[matched];
			matched++;
		}
	}
	*is_last = equal && matched == len;
	return at;
}

static bool ends_in_backslash(const unsigned char *s, uint32_t begin,
			      uint32_t end)
{
	uint32_t count = 0;

	while (end > begin && s[end - 1] == '\\') {
		end--;
		count++;
	}
	return count & 1;
}

/* Those of the word itself: not what stands inside of ${ } and $(( )). */
static const struct part *next_part(const struct part *part)
{
	uint32_t depth = 0;

	do {
		depth += part->kind == PART_ARITH ||
			 part->kind == PART_INDEX ||
			 (part->kind == PART_PARAM && part->u.param->has_args);
		depth -= part->kind == PART_END && depth;
		part = part->next;
	} while (part && depth);
	return part;
}

/* The bytes of what is expanded elsewhere, and stands for itself here. */
static struct ab_span raw_of(const struct part *part)
{
	struct ab_span span = { part->begin, part->end };

	switch ((enum part_kind)part->kind) {
	case PART_COMMAND:
	case PART_PROC_IN:
	case PART_PROC_OUT:
		span.begin -= 2;
		span.end++;
		break;
	case PART_BACKQUOTE:
	case PART_FUNSUB:
		span.begin--;
		span.end++;
		break;
	default:
		break;
	}
	return span;
}

/* How many bytes of the delimiter a part is, without its quotes. */
static uint32_t put_part(const struct parser *p, const struct part *part,
			 unsigned char *out)
{
	struct ab_span span = raw_of(part);
	uint32_t n = 0, used;

	for (uint32_t at = span.begin; at < span.end; at++) {
		if (part->kind == PART_ANSI && p->s[at] == '\\') {
			n += ab_decode_escape(p->s + at, span.end - at,
					      (char *)out + n, &used, true);
			at += used - 1;
			continue;
		}
		at += part->escapes && ab_tree_is_escape(p->s + at);
		out[n++] = p->s[at];
	}
	return n;
}

/* The delimiter with its quotes removed, in the arena. */
static const unsigned char *delimiter_of(struct parser *p, struct redir *r,
					 uint32_t *len)
{
	const struct word *w = &r->target;
	bool is_expanded = false, is_quoted = false;
	unsigned char *text;
	uint32_t n = 0;

	*len = w->end - w->begin;
	r->is_quoted = w->flags & WORD_QUOTED;
	if (!w->parts)
		return p->s + w->begin;
	/* a byte that is decoded may be more */
	text = ab_parser_alloc(p, *len + 8);
	for (const struct part *part = w->parts; part;
	     part = next_part(part)) {
		bool is_text = part->kind == PART_TEXT ||
			       part->kind == PART_ANSI;
		struct ab_span span = raw_of(part);

		if (span.end <= span.begin || span.end > p->len ||
		    n + (span.end - span.begin) > *len)
			continue;
		is_expanded |= !is_text;
		is_quoted |= is_text && (part->flags & PART_QUOTED ||
					 part->kind == PART_ANSI);
		n += put_part(p, part, text + n);
	}
	/* the quotes of "$(x)" are the word's, those in it are not */
	if (is_expanded)
		r->is_quoted = is_quoted;
	*len = n;
	return text;
}

/* The first line at or after p->pos that is the delimiter ends the body. */
static void read_body(struct parser *p, struct redir *r)
{
	const unsigned char *s = p->s, *newline;
	uint32_t len, at = p->pos;
	const unsigned char *delimiter = delimiter_of(p, r, &len);

	r->body = at;
	while (at < p->len) {
		uint32_t begin = at, end, next;
		bool is_last;

		while (r->is_stripped && s[begin] == '\t')
			begin++;
		newline = memchr(s + begin, '\n', p->len - begin);
		end = newline ? (uint32_t)(newline - s) : p->len;
		is_last = end - begin == len &&
			  memcmp(s + begin, delimiter, len) == 0;
		if (!r->is_quoted && newline &&
		    ends_in_backslash(s, begin, end))
			end = joined_line(p, begin, delimiter, len, &is_last);
		next = end < p->len ? end + 1 : p->len;
		if (!is_last && p->substs && end - begin > len &&
		    memcmp(s + begin, delimiter, len) == 0 &&
		    memchr(s + begin + len, ')', end - begin - len)) {
			is_last = true; /* $(cat <<E ... E) */
			next = begin + len;
		}
		if (is_last) {
			r->body_end = at;
			p->pos = next;
			return;
		}
		at = next;
	}
	r->body_end = p->pos = p->len;
	p->lacks_end = true;
}

void ab_lex_here_documents(struct parser *p)
{
	struct redir *r = p->waiting;

	p->waiting = NULL;
	p->waiting_tail = &p->waiting;
	for (; r; r = r->waiting)
		read_body(p, r);
}
