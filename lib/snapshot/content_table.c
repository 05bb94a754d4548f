/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values that a name has in a table: below it in a file of comma-separated
 * values, whose first line has the names (RFC 4180), in a table of Markdown,
 * and in the rows behind the names in a statement of SQL, INSERT or COPY. It
 * finds cells and judges nothing. What it does not know: a table without names,
 * and rows that are further away than a verifier sees.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#define run ab_content_run
#define is_one_of ab_content_is_one_of

/* What lists of names are made of; their separator is another matter. */
static bool is_of_names(uint8_t c)
{
	return ab_content_is_word(c) || is_one_of(" \t\"'`.-/[]", c);
}

static const uint8_t *spaces(const uint8_t *p, const uint8_t *hi)
{
	while (p < hi && *p == ' ')
		p++;
	return p;
}

/* The quote that ends the cell which begins with one; NULL: none does. */
static const uint8_t *quoted_end(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *q = p + 1;

	for (; q < hi; q++) {
		if (*q == '\\')
			q++;
		else if (*q == *p && (hi - q == 1 || q[1] != *p))
			return q;
		else if (*q == *p)
			q++; /* two are one of the text */
	}
	return NULL;
}

static bool ends_cell(const ab_content_column *c, uint8_t b)
{
	return b == c->separator || b == c->close ||
	       (c->close == '\n' && b == '\r');
}

/* Behind the letter that says how a string of SQL is written: N'v', E'v'. */
static const uint8_t *before_string(const uint8_t *p, const uint8_t *hi)
{
	return hi - p > 1 && is_one_of("NnEe", *p) && p[1] == '\'' ? p + 1 : p;
}

/* A cell from p on: *m is what it holds; what ends it is returned. */
static const uint8_t *cell(const ab_content_column *c, const uint8_t *p,
			   const uint8_t *hi, ab_content_match *m)
{
	const uint8_t *end = NULL;
	int depth = 0; /* of a function's arguments */
	size_t escape;

	p = c->close == ')' ? before_string(run('s', p, hi, 64), hi) :
			      spaces(p, hi);
	/* of a statement that is a string itself */
	escape = c->close == ')' && hi - p > 2 && *p == '\\' &&
		 is_one_of("\"'", p[1]);
	if (escape)
		end = memmem(p + 2, (size_t)(hi - p - 2), p, 2);
	else if (p < hi && is_one_of("\"'`", *p))
		end = quoted_end(p, hi);
	m->value = p;
	m->end = NULL;
	if (end) {
		m->value = p + 1 + escape;
		m->end = end;
		p = end + 1 + escape;
	}
	for (; p < hi && (depth || !ends_cell(c, *p)); p++)
		depth += (c->close == ')') * ((*p == '(') - (*p == ')'));
	for (end = p; end > m->value && end[-1] <= ' ';)
		end--;
	if (!m->end)
		m->end = end;
	return p;
}

/* The name is a cell of the file's first line; the line's separator. */
static uint8_t separator_of(const ab_content_window *w, const uint8_t *name,
			    const uint8_t *end)
{
	static const char set[] = ",;\t|";

	end = spaces(run('q', end, w->hi, 1), w->hi);
	if (end < w->hi && is_one_of(set, *end))
		return *end;
	if (end == w->hi || !is_one_of("\r\n", *end))
		return 0;
	/* the last one, of which the name may be the last word */
	while (name > w->lo && is_of_names(name[-1]) && name[-1] != '\t')
		name--;
	return name > w->lo && is_one_of(set, name[-1]) ? name[-1] : 0;
}

/* Where the first row of a table of Markdown is, whose names have "---" below
   them; NULL: it is none. */
static const uint8_t *below_rule(const uint8_t *p, const uint8_t *hi)
{
	bool is_ruled = false;

	p = run('s', p, hi, 2);
	for (; p < hi && !is_one_of("\r\n", *p); p++) {
		is_ruled |= *p == '-';
		if (!is_one_of(" \t|:-", *p))
			return NULL;
	}
	return is_ruled ? p : NULL;
}

/* Are names and separators all that is in the line from p on? *end is where
   that ends. */
static bool is_header(const ab_content_window *w, const uint8_t *p,
		      uint8_t separator, const uint8_t **end)
{
	while (p < w->hi && (*p == separator || is_of_names(*p)))
		p++;
	*end = p;
	return p < w->hi && is_one_of("\r\n", *p);
}

/* The column's number; false: what is before the name in its line is more than
   names, or it is not the first where it has to be. */
static bool is_numbered(const ab_content_window *w, const uint8_t *name,
			ab_content_column *c)
{
	const uint8_t *p = name;

	for (; p > w->lo && !ab_content_is_line(w, p); p--) {
		c->index += p[-1] == c->separator;
		if (p[-1] != c->separator && !is_of_names(p[-1]))
			return false;
	}
	if (c->separator == '|')
		return true;
	while (p > w->lo && is_one_of("\r\n", p[-1]))
		p--;
	return p == w->lo || p - w->lo == 3; /* UTF-8's mark */
}

static bool find_in_file(const ab_content_window *w, const uint8_t *name,
			 const uint8_t *end, ab_content_column *c)
{
	*c = (ab_content_column){ .separator = separator_of(w, name, end),
				  .close = '\n' };
	/* at the window's beginning is the file's, or something else */
	if (!c->separator || (c->separator == '|' ?
				      w->marks[AB_MARK_RULED] > name :
				      w->at - w->lo >= AB_CONTENT_BACK))
		return false;
	if (is_header(w, end, c->separator, &end))
		c->p = c->separator == '|' ? below_rule(end, w->hi) : end;
	if (c->p && is_numbered(w, name, c))
		return true;
	if (c->separator == '|') /* of no name up to there */
		w->marks[AB_MARK_RULED] = end;
	return false;
}

/* Where the list of names that p is in has its ')'; NULL: it is none. */
static const uint8_t *names_end(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t **mark = &w->marks[AB_MARK_TABLE];

	p += p < w->hi && is_one_of("\"'`]", *p);
	p = run('s', p, w->hi, 64);
	if (p == w->hi || !is_one_of(",)", *p))
		return NULL;
	if (*mark > p)
		p = *mark; /* the search for the name before this came there */
	while (p < w->hi && (is_of_names(*p) || is_one_of("\r\n,", *p)))
		p++;
	*mark = p;
	return p < w->hi && *p == ')' ? p : NULL;
}

static bool find_in_statement(const ab_content_window *w, const uint8_t *name,
			      const uint8_t *end, ab_content_column *c)
{
	const uint8_t *p = names_end(w, end);

	if (!p)
		return false;
	p = run('s', p + 1, w->hi, 64);
	*c = (ab_content_column){ .separator = ',', .close = ')' };
	if (ab_content_at(w, p, "values", true)) {
		c->p = run('s', p + strlen("values"), w->hi, 64);
	} else if (ab_content_at(w, p, "from stdin", true)) {
		c->separator = '\t';
		c->close = '\n';
		c->p = memchr(p, '\n', (size_t)(w->hi - p));
		if (!c->p)
			return false;
	} else {
		return false;
	}
	for (p = name; p > w->lo && p[-1] != '('; p--) {
		c->index += p[-1] == ',';
		if (!is_of_names(p[-1]) && !is_one_of("\r\n,", p[-1]))
			return false;
	}
	return p > w->lo;
}

bool ab_content_find_column(const ab_content_window *w, const uint8_t *name,
			    const uint8_t *end, ab_content_column *c)
{
	return find_in_file(w, name, end, c) ||
	       find_in_statement(w, name, end, c);
}

/* Where the first cell of the next row begins; NULL: there is no row. */
static const uint8_t *next_row(const ab_content_column *c, const uint8_t *hi)
{
	const uint8_t *p = c->p;

	if (c->close == '\n') {
		while (p < hi && is_one_of("\r\n", *p))
			p++;
		return p < hi ? p : NULL;
	}
	p = run('s', p, hi, 64);
	if (p < hi && *p == ',')
		p = run('s', p + 1, hi, 64);
	return p < hi && *p == '(' ? p + 1 : NULL;
}

bool ab_content_next_cell(const ab_content_window *w, ab_content_column *c,
			  ab_content_match *m)
{
	const uint8_t *p;
	bool is_found = false;

	while (!is_found && (p = next_row(c, w->hi))) {
		ab_content_match at = *m;
		size_t i = 0;

		for (;; p++, i++) {
			p = cell(c, p, w->hi, &at);
			if (i == c->index) {
				*m = at;
				is_found = true;
			}
			if (p == w->hi || *p != c->separator)
				break;
		}
		c->p = p < w->hi && *p == ')' ? p + 1 : p;
	}
	return is_found;
}
