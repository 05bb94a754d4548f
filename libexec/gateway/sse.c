/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of a stream, byte by byte. Spec: sse.h. */
#include "config.h"

#include "sse.h"

#include <string.h>

enum state {
	E_BOM = 0,
	E_NAME,	 /* of a field, up to ":" or the end */
	E_SPACE, /* the one space behind the colon */
	E_VALUE
};

enum field {
	F_OTHER = 0, /* comments, retry and what nobody knows */
	F_DATA,
	F_EVENT,
	F_ID
};

void ab_sse_init(ab_sse *sse, char *room, size_t size)
{
	memset(sse, 0, sizeof(*sse));
	sse->data = room;
	sse->size = size;
}

/* --- fields ------------------------------------------------------------- */

static enum field field_of(const ab_sse *s)
{
	static const struct {
		const char *name;
		enum field field;
	} fields[] = { { "data", F_DATA }, { "event", F_EVENT },
		       { "id", F_ID } };

	/* names have case: "Data" is another field */
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strlen(fields[i].name) == s->name_len &&
		    memcmp(fields[i].name, s->name, s->name_len) == 0)
			return fields[i].field;
	return F_OTHER;
}

static enum ab_sse_reason put_data(ab_sse *s, char c)
{
	if (s->len == s->size)
		return AB_SSE_LONG;
	s->data[s->len++] = c;
	return AB_SSE_MORE;
}

/* The name of a field is whole, and its value begins. */
static enum ab_sse_reason begin_value(ab_sse *s)
{
	s->field = (uint8_t)field_of(s);
	s->state = E_SPACE;
	switch ((enum field)s->field) {
	case F_EVENT:
		s->type_len = 0;
		break;
	case F_ID:
		s->new_id_len = 0;
		s->has_id = 1;
		break;
	case F_DATA:
		/* between two data lines stands one LF */
		if (s->has_data)
			return put_data(s, '\n');
		s->has_data = 1;
		break;
	case F_OTHER:
		break;
	}
	return AB_SSE_MORE;
}

static enum ab_sse_reason put_value(ab_sse *s, char c)
{
	bool control = (unsigned char)c < ' ' || c == 0x7f;

	switch ((enum field)s->field) {
	case F_DATA:
		return put_data(s, c);
	case F_EVENT:
		if (control || s->type_len == AB_SSE_TYPE_SIZE - 1)
			return AB_SSE_TYPE;
		s->type[s->type_len++] = c;
		return AB_SSE_MORE;
	case F_ID:
		/* WHATWG ignores an id with NUL; it goes into a head again */
		if (control || s->new_id_len == AB_SSE_ID_SIZE - 1)
			return AB_SSE_ID;
		s->new_id[s->new_id_len++] = c;
		return AB_SSE_MORE;
	case F_OTHER:
		break;
	}
	return AB_SSE_MORE;
}

static enum ab_sse_reason put_name(ab_sse *s, char c)
{
	/* a longer name is none of ours; one byte more tells it from them */
	if (s->name_len < sizeof(s->name))
		s->name[s->name_len++] = c;
	return AB_SSE_MORE;
}

/* --- lines -------------------------------------------------------------- */

static void forget_event(ab_sse *s)
{
	s->len = 0;
	s->has_data = 0;
	s->type_len = 0;
	s->type[0] = '\0';
	s->emitted = 0;
}

static enum ab_sse_reason dispatch(ab_sse *s)
{
	if (s->has_id) {
		memcpy(s->id, s->new_id, s->new_id_len);
		s->id[s->new_id_len] = '\0';
		s->id_len = s->new_id_len;
		s->has_id = 0;
	}
	if (!s->has_data) {
		forget_event(s);
		return AB_SSE_MORE;
	}
	s->type[s->type_len] = '\0';
	s->emitted = 1;
	return AB_SSE_EVENT;
}

static enum ab_sse_reason end_line(ab_sse *s)
{
	enum ab_sse_reason reason = AB_SSE_MORE;

	/* a line without a colon is a field without a value */
	if (s->state == E_NAME && s->name_len)
		reason = begin_value(s);
	else if (s->state == E_NAME)
		reason = dispatch(s);
	s->state = E_NAME;
	s->name_len = 0;
	return reason;
}

static enum ab_sse_reason read_byte(ab_sse *s, char c)
{
	bool is_lf_of_crlf = c == '\n' && s->after_cr;

	s->after_cr = c == '\r';
	if (is_lf_of_crlf)
		return AB_SSE_MORE;
	if (c == '\r' || c == '\n')
		return end_line(s);
	switch ((enum state)s->state) {
	case E_BOM:
	case E_NAME:
		if (c != ':')
			return put_name(s, c);
		return begin_value(s);
	case E_SPACE:
		s->state = E_VALUE;
		if (c == ' ')
			return AB_SSE_MORE;
		return put_value(s, c);
	case E_VALUE:
		break;
	}
	return put_value(s, c);
}

/* One byte order mark at the very beginning is dropped. */
static enum ab_sse_reason read_bom(ab_sse *s, char c)
{
	static const char mark[3] = { '\xef', '\xbb', '\xbf' };
	enum ab_sse_reason reason = AB_SSE_MORE;
	unsigned had = s->bom;

	if (c == mark[had]) {
		s->bom++;
		s->state = s->bom == sizeof(mark) ? E_NAME : E_BOM;
		return AB_SSE_MORE;
	}
	s->state = E_NAME;
	for (unsigned i = 0; i < had; i++)
		put_name(s, mark[i]);
	reason = read_byte(s, c);
	return reason;
}

enum ab_sse_reason ab_sse_read(ab_sse *s, const char *p, size_t n,
			       size_t *used)
{
	enum ab_sse_reason reason = (enum ab_sse_reason)s->reason;
	size_t i = 0;

	if (s->emitted)
		forget_event(s);
	while (reason == AB_SSE_MORE && i < n) {
		char c = p[i++];

		reason = s->state == E_BOM ? read_bom(s, c) : read_byte(s, c);
	}
	*used = i;
	if (reason > AB_SSE_EVENT)
		s->reason = (uint8_t)reason;
	return reason;
}
