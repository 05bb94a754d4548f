/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way from the root of a document, and errors that name it: way.h. */
#include "config.h"

#include "policy/way.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"

#define POINTER_SIZE 512

void ab_way_key(ab_way *w, const char *key)
{
	if (w->depth < AB_MAX_WAY)
		w->steps[w->depth] = (ab_step){ .key = key };
	w->depth++;
}

void ab_way_number(ab_way *w, size_t number)
{
	if (w->depth < AB_MAX_WAY)
		w->steps[w->depth] = (ab_step){ .number = number };
	w->depth++;
}

void ab_way_leave(ab_way *w)
{
	w->depth--;
}

int32_t ab_way_failed(const ab_way *w)
{
	int32_t code = w->err ? agentbox_error_get_code(*w->err) : 0;

	return code < 0 ? code : ab_error_nomem(w->err);
}

/* RFC 6901 escapes for one key; a key too long for the pointer is cut off. */
static size_t put_key(char *out, size_t room, const char *key)
{
	size_t n = 0;

	for (; *key && n + 3 < room; key++) {
		if (*key == '~' || *key == '/') {
			out[n++] = '~';
			out[n++] = *key == '~' ? '0' : '1';
		} else {
			out[n++] = *key;
		}
	}
	out[n] = '\0';
	return n;
}

/* The pointer and the dotted form people read: /a/0/b and a[0].b */
static void write_way(const ab_way *w, char pointer[POINTER_SIZE],
		      char dotted[POINTER_SIZE])
{
	size_t p = 0;
	size_t d = 0;

	pointer[0] = dotted[0] = '\0';
	for (size_t i = 0; i < w->depth && i < AB_MAX_WAY; i++) {
		const ab_step *s = &w->steps[i];

		if (p + 32 > POINTER_SIZE || d + 32 > POINTER_SIZE)
			return;
		pointer[p++] = '/';
		pointer[p] = '\0';
		if (s->key) {
			p += put_key(pointer + p, POINTER_SIZE - p, s->key);
			d += (size_t)snprintf(dotted + d, POINTER_SIZE - d,
					      "%s%.100s", d ? "." : "", s->key);
		} else {
			p += (size_t)snprintf(pointer + p, POINTER_SIZE - p,
					      "%zu", s->number);
			d += (size_t)snprintf(dotted + d, POINTER_SIZE - d,
					      "[%zu]", s->number);
		}
	}
}

int32_t ab_way_fail(ab_way *w, int32_t code, const char *fmt, ...)
{
	char pointer[POINTER_SIZE];
	char dotted[POINTER_SIZE];
	char where[POINTER_SIZE + 32];
	char text[AB_MAX_ERROR_TEXT];
	unsigned line;
	unsigned column;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	write_way(w, pointer, dotted);
	if (!w->index ||
	    ab_json_index_find(w->index, pointer, &line, &column) < 0)
		return ab_error_set(w->err, code, pointer, "%s%s%s", dotted,
				    dotted[0] ? ": " : "", text);
	snprintf(where, sizeof(where), "%s%s%u:%u", pointer,
		 pointer[0] ? " " : "", line, column);
	return ab_error_set(w->err, code, where,
			    "%s%sline %u column %u: %s", dotted,
			    dotted[0] ? ": " : "", line, column, text);
}
