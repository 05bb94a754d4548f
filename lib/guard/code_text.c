/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an inline program makes of a text that is known: base64 and hexadecimal
 * digits are read, parts are replaced, letters changed, and it is cut where a
 * text stands. What is not one known text stays a hole.
 */
#include "config.h"

#include "guard/code_op.h"

#include <string.h>

#include "base/digit.h"

#define MAX_TEXT 4096 /* of what is made; beyond it time would not be linear */

static bool is_known(const struct ab_made *m)
{
	return m->count == 1 && !m->is_list && !m->words[0].hole_count &&
	       m->words[0].len <= MAX_TEXT;
}

static char *begin_text(struct ab_code *k, struct ab_made *m, size_t size)
{
	char *text = ab_check_alloc(k->c, size + 1);

	*m = (struct ab_made){ 0 };
	if (!text)
		ab_made_hole(k, m);
	return text;
}

static void end_text(struct ab_code *k, struct ab_made *m, const char *text,
		     size_t len)
{
	const struct ab_word w = { .text = text, .len = (uint32_t)len,
				   .span = k->text->span };

	ab_made_word(k, m, &w);
}

/* What is made of digits is cut, so that a command that is written so is asked
   about, whatever it is: who reads the text does not see it. */
static void decode_base64(struct ab_code *k, struct ab_made *m)
{
	const struct ab_word from = m->words[0];
	char *text = begin_text(k, m, from.len);
	uint32_t bits = 0, n = 0, len = 0;

	if (!text)
		return;
	for (uint32_t i = 0; i < from.len; i++) {
		int digit = ab_base64_digit(from.text[i]);

		if (digit < 0)
			continue;
		bits = bits << 6 | (uint32_t)digit;
		if (++n % 4 != 1)
			text[len++] = (char)(bits >> (2 * (4 - n % 4) % 8));
	}
	end_text(k, m, text, len);
	m->is_cut = true;
}

static void decode_hex(struct ab_code *k, struct ab_made *m)
{
	const struct ab_word from = m->words[0];
	char *text = begin_text(k, m, from.len);
	uint32_t n = 0, len = 0;
	int high = 0;

	if (!text)
		return;
	for (uint32_t i = 0; i < from.len; i++) {
		int digit = ab_hex_digit(from.text[i]);

		if (digit < 0)
			continue;
		if (n++ % 2)
			text[len++] = (char)(high << 4 | digit);
		high = digit;
	}
	end_text(k, m, text, len);
	m->is_cut = true;
}

static void replace(struct ab_code *k, struct ab_made *m,
		    const struct ab_word *what, const struct ab_word *with,
		    bool is_one)
{
	const struct ab_word from = m->words[0];
	const char *s = from.text, *end = s + from.len, *at;
	size_t most = from.len / what->len, len = 0, n;
	char *text;

	/* "$&" of js, "\\0" of ruby */
	if (from.len + most * with->len > MAX_TEXT ||
	    (k->lang != AB_PY && (memchr(with->text, '$', with->len) ||
				  memchr(with->text, '\\', with->len)))) {
		ab_made_hole(k, m);
		return;
	}
	text = begin_text(k, m, from.len + most * with->len);
	if (!text)
		return;
	for (; (at = memmem(s, (size_t)(end - s), what->text, what->len));
	     s = at + what->len) {
		if (is_one && s != from.text)
			break;
		n = (size_t)(at - s);
		memcpy(text + len, s, n);
		memcpy(text + len + n, with->text, with->len);
		len += n + with->len;
	}
	n = (size_t)(end - s);
	memcpy(text + len, s, n);
	end_text(k, m, text, len + n);
}

static void change_case(struct ab_code *k, struct ab_made *m, bool is_upper)
{
	const struct ab_word from = m->words[0];
	char *text = begin_text(k, m, from.len);

	if (!text)
		return;
	for (uint32_t i = 0; i < from.len; i++) {
		char ch = from.text[i];
		bool is_other = is_upper ? ch >= 'a' && ch <= 'z'
					 : ch >= 'A' && ch <= 'Z';

		text[i] = is_other ? (char)(ch ^ 0x20) : ch;
	}
	end_text(k, m, text, from.len);
}

/* The parts between the separators. */
static void cut(struct ab_code *k, struct ab_made *m,
		const struct ab_word *between)
{
	const struct ab_word all = m->words[0];
	struct ab_made list = { .is_list = true };
	struct ab_word w;
	uint32_t from = 0;

	for (const char *at; list.count < AB_CODE_VALUES;) {
		at = memmem(all.text + from, all.len - from, between->text,
			    between->len);
		uint32_t end = at ? (uint32_t)(at - all.text) : all.len;

		if (!ab_word_slice(k->c, &all, from, end - from, &w))
			break;
		ab_made_add(k, &list, &w);
		if (!at) {
			*m = list;
			return;
		}
		from = end + between->len;
	}
	ab_made_hole(k, m);
	m->is_cut = true;
}

/* One of them, or one of those that a list has. */
static bool any_of(struct ab_code *k, const struct ab_op_args *f,
		   struct ab_made *m)
{
	*m = (struct ab_made){ 0 };
	for (uint32_t i = 0; i < f->args.count; i++) {
		struct ab_made one = f->args.all[i];

		if (f->args.keys[i].len)
			continue;
		one.is_list = false;
		m->is_cut |= one.is_cut;
		for (uint32_t n = 0; n < one.count; n++)
			ab_made_add(k, m, &one.words[n]);
	}
	return m->count;
}

/* What it is given beside the text is what it takes. */
static bool are_known(const struct ab_op_args *f)
{
	const bool is_replace = f->op == AB_OP_REPLACE ||
				f->op == AB_OP_REPLACE_ONE;
	const uint32_t wants = is_replace	   ? 2
			       : f->op == AB_OP_CUT ? 1
						    : 0;

	/* how often it is cut makes other parts, of the same text */
	if (wants && ((f->args.count != wants &&
		       !(f->op == AB_OP_CUT && f->args.count == 2)) ||
		      !is_known(&f->args.all[0]) ||
		      !f->args.all[0].words[0].len))
		return false;
	return !is_replace || is_known(&f->args.all[1]);
}

bool ab_op_text(struct ab_code *k, const struct ab_op_args *f,
		struct ab_made *m)
{
	const struct ab_made *all = f->args.all;
	const uint32_t count = f->args.count;

	if (f->op == AB_OP_ANY)
		return any_of(k, f, m);
	if (f->op == AB_OP_ELEMENT) {
		*m = f->of;
		if (m->is_list && m->count)
			m->is_list = false;
		else
			ab_made_hole(k, m);
		return true;
	}
	*m = (f->op == AB_OP_BASE64 || f->op == AB_OP_HEX ||
	      f->op == AB_OP_BUFFER) && count ? all[0] : f->of;
	if (f->op == AB_OP_BUFFER && count < 2)
		return m->count;
	if (!is_known(m) || !are_known(f) ||
	    (f->op == AB_OP_BUFFER && !is_known(&all[1]))) {
		ab_made_hole(k, m);
		return true;
	}
	switch (f->op) {
	case AB_OP_BASE64:
		decode_base64(k, m);
		break;
	case AB_OP_HEX:
		decode_hex(k, m);
		break;
	case AB_OP_BUFFER: /* Buffer.from("x", "base64") */
		if (ab_word_equals(&all[1].words[0], "base64"))
			decode_base64(k, m);
		else if (ab_word_equals(&all[1].words[0], "hex"))
			decode_hex(k, m);
		break;
	case AB_OP_REPLACE:
	case AB_OP_REPLACE_ONE:
		replace(k, m, &all[0].words[0], &all[1].words[0],
			f->op == AB_OP_REPLACE_ONE);
		break;
	case AB_OP_CUT:
		cut(k, m, &all[0].words[0]);
		break;
	case AB_OP_UPPER:
	case AB_OP_LOWER:
		change_case(k, m, f->op == AB_OP_UPPER);
		break;
	default:
		return false;
	}
	return true;
}
