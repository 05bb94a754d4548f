/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that do not end by themselves (yes, /dev/zero) and fill a disk where
 * they go into a file. What may end one, `head -c 9`, does so here: a command
 * passes it on only where it is known to.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/command.h"

bool ab_fill_is_source(const struct ab_word *w)
{
	static const char *const names[] = { "/dev/zero", "/dev/urandom",
					     "/dev/random", "/dev/full" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(w, names[i]))
			return true;
	}
	return false;
}

/* sed 9q, sed '/x/q', and no s/x/q/ */
static bool has_quit(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if ((w->text[i] | 0x20) == 'q' &&
		    (!i || memchr("0123456789$/;{ !", w->text[i - 1], 16)) &&
		    (i + 1 == w->len || memchr("; }\n", w->text[i + 1], 4)))
			return true;
	}
	return false;
}

/* `end` begins a word, or is a letter of -abc; "q" is a command of sed's. */
static bool has_end(const struct ab_use *use, const char *end)
{
	size_t n = strlen(end);

	for (uint32_t i = 1; n && i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (n > 1 && w->len >= n && !memcmp(w->text, end, n))
			return true;
		if (*end == 'q' && has_quit(w))
			return true;
		if (n == 1 && *end != 'q' && w->len > 1 && *w->text == '-' &&
		    memchr(w->text, *end, w->len))
			return true;
	}
	return false;
}

/* It goes on as long as it reads something; what ends it is beside it. */
bool ab_fill_goes_on(const struct ab_use *use)
{
	static const struct {
		const char *name, *end;
	} all[] = {
		{ "cat", "" },	  { "tee", "" },     { "tr", "" },
		{ "base64", "" }, { "base32", "" },  { "pv", "S" },
		{ "fold", "" },	  { "cut", "" },     { "rev", "" },
		{ "nl", "" },	  { "gzip", "" },    { "pigz", "" },
		{ "bzip2", "" },  { "xz", "" },	     { "zstd", "" },
		{ "lz4", "" },	  { "sed", "q" },    { "od", "N" },
		{ "xxd", "l" },	  { "hexdump", "n" }, { "dd", "count=" },
		{ "yes", "" },
	};
	struct ab_word name = use->words[0];
	uint32_t base = ab_name_base(&name);

	name.text += base;
	name.len -= base;
	for (size_t i = 0; i < AB_ARRAY_LEN(all); i++) {
		if (ab_word_equals(&name, all[i].name))
			return !has_end(use, all[i].end);
	}
	return false;
}

void ab_fill_check(struct ab_check *c, const struct ab_use *use, uint32_t taint,
		   const struct ab_word *path)
{
	if (AB_LIKELY(!(taint & AB_TAINT_ENDLESS)) ||
	    (path->len > 5 && !memcmp(path->text, "/dev/", 5)))
		return;
	ab_check_flow(c, use, AB_SINK_DISK, AB_TAINT_ENDLESS, path);
}
