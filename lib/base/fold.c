/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Characters folded to the ASCII they stand for, see fold.h. Other alphabets'
 * letters that only look alike are not in it (UTS 39 is the scope's).
 */
#include "config.h"

#include "base/fold.h"

#include "base/attr.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool ab_fold_is_invisible(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{0xad, 0xad},	    {0x34f, 0x34f},	{0x600, 0x605},
		{0x61c, 0x61c},	    {0x6dd, 0x6dd},	{0x70f, 0x70f},
		{0x8e2, 0x8e2},	    {0x115f, 0x1160},	{0x17b4, 0x17b5},
		{0x180b, 0x180f},   {0x200b, 0x200f},	{0x2028, 0x202e},
		{0x2060, 0x206f},   {0x2800, 0x2800},	{0x3164, 0x3164},
		{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},	{0xffa0, 0xffa0},
		{0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(ranges) && c >= ranges[i][0]; i++)
		if (c <= ranges[i][1])
			return true;
	return false;
}

bool ab_fold_is_mark(uint32_t c)
{
	return (c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) ||
	       (c >= 0x1dc0 && c <= 0x1dff) || (c >= 0x20d0 && c <= 0x20ff) ||
	       (c >= 0xfe20 && c <= 0xfe2f);
}

char ab_fold_base(uint32_t c)
{
	char base = '-';

	if (c >= 0xc0 && c < 0x250)
		base = ab_fold_latin[c - 0xc0];
	else if (c >= 0x1e00 && c < 0x1f00)
		base = ab_fold_latin_more[c - 0x1e00];
	return base == '-' ? '\0' : base;
}

char ab_fold_char(uint32_t c)
{
	size_t low = 0;
	size_t high = ab_fold_run_count;

	/* mathematical alphabets and digits; the holes are unassigned */
	if (c >= 0x1d400 && c <= 0x1d6a3)
		return (char)('a' + (c - 0x1d400) % 26);
	if (c >= 0x1d7ce && c <= 0x1d7ff)
		return (char)('0' + (c - 0x1d7ce) % 10);
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct ab_fold_run *r = &ab_fold_runs[mid];

		if (c < r->first)
			high = mid;
		else if (c > r->last)
			low = mid + 1;
		else
			return lower((char)((uint32_t)r->ascii + c - r->first));
	}
	return '\0';
}

const char *ab_fold_string(uint32_t c)
{
	size_t low = 0;
	size_t high = ab_fold_text_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c == ab_fold_texts[mid].c)
			return ab_fold_texts[mid].ascii;
		if (c < ab_fold_texts[mid].c)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}
