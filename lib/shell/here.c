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

/* The delimiter with its quotes removed, in the arena. */
static const unsigned char *delimiter_of(struct parser *p,
					 const struct word *w, uint32_t *len)
{
	unsigned char *text;
	uint32_t n = 0;

	*len = w->end - w->begin;
	if (!w->parts)
		return p->s + w->begin;
	text = ab_parser_alloc(p, *len + 1);
	for (const struct part *part = w->parts; part; part = part->next) {
		if (part->end <= part->begin ||
		    n + (part->end - part->begin) > *len)
			continue;
		for (uint32_t at = part->begin; at < part->end; at++) {
			at += part->escapes && ab_tree_is_escape(p->s + at);
			text[n++] = p->s[at];
		}
	}
	*len = n;
	return text;
}

/* The first line at or after p->pos that is the delimiter ends the body. */
static void read_body(struct parser *p, struct redir *r)
{
	const unsigned char *s = p->s, *newline;
	uint32_t len, at = p->pos;
	const unsigned char *delimiter = delimiter_of(p, &r->target, &len);

	r->is_quoted = r->target.flags & WORD_QUOTED;
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
}

void ab_lex_here_documents(struct parser *p)
{
	struct redir *r = p->waiting;

	p->waiting = NULL;
	p->waiting_tail = &p->waiting;
	for (; r; r = r->waiting)
		read_body(p, r);
}
