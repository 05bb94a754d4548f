/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands of ftp, lftp, sftp and smbclient: which files go to the other
 * machine. Paths alone are read; what a command does there is not judged.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

/* Those that send: the first file, or all; mirror only with an option. */
static const struct {
	const char *name;
	bool is_all, is_mirror;
} verbs[] = {
	{ "put", false, false },   { "send", false, false },
	{ "append", false, false }, { "reput", false, false },
	{ "mput", true, false },    { "mirror", false, true },
};

/* The next word from *at on, in one line; false: there is none. */
static bool next_word(struct ab_check *c, const struct ab_word *text,
		      uint32_t end, uint32_t *at, struct ab_word *out)
{
	const char *s = text->text;
	char quote = '\0';
	uint32_t from;

	while (*at < end && memchr(" \t\r", s[*at], 3))
		++*at;
	if (*at == end)
		return false;
	if (s[*at] == '"' || s[*at] == '\'')
		quote = s[(*at)++];
	from = *at;
	while (*at < end && (quote ? s[*at] != quote
				   : !memchr(" \t\r", s[*at], 3)))
		++*at;
	if (!ab_word_slice(c, text, from, *at - from, out))
		return false;
	*at += quote && *at < end;
	return true;
}

/* ~/x is in the home. */
static bool expand_home(struct ab_check *c, struct ab_word *w)
{
	const struct ab_known_path *home = &c->place->home;
	char *text;

	if (w->len < 2 || memcmp(w->text, "~/", 2) != 0 || !home->text ||
	    w->hole_count)
		return true;
	text = ab_check_alloc(c, home->len + w->len);
	if (!text)
		return false;
	memcpy(text, home->text, home->len);
	memcpy(text + home->len, w->text + 1, w->len - 1);
	w->text = text;
	w->len += home->len - 1;
	return true;
}

/* put -O /remote a b, put a -o b: what it is called there is no file here. */
static bool names_remote(const struct ab_word *w)
{
	return w->len == 2 && memchr("oO", w->text[1], 2);
}

/* What stands behind the verb, to the end of the command; lftp takes more
   files than one, and values of options in front of them. */
static void send_files(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *text, uint32_t end, uint32_t at,
		       size_t verb)
{
	bool is_sent = !verbs[verb].is_mirror;
	bool is_all = verbs[verb].is_all || verbs[verb].is_mirror ||
		      ab_word_equals(&use->words[0], "lftp");
	struct ab_word w;

	while (next_word(c, text, end, &at, &w)) {
		if (w.len && *w.text == '-') {
			is_sent |= memchr(w.text, 'R', w.len) ||
				   ab_word_equals(&w, "--reverse");
			if (!verbs[verb].is_mirror && names_remote(&w) &&
			    !next_word(c, text, end, &at, &w))
				return;
			continue;
		}
		if (!is_sent || !expand_home(c, &w))
			return;
		ab_check_path(c, use, AB_ROLE_SEND, &w);
		ab_check_flow(c, use, AB_SINK_NET, AB_TAINT_FILE, &w);
		if (!is_all)
			return;
	}
}

static void one_command(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *text, uint32_t at, uint32_t end)
{
	struct ab_word verb, w;

	if (!next_word(c, text, end, &at, &verb))
		return;
	if (ab_word_equals(&verb, "lcd")) {
		if (next_word(c, text, end, &at, &w) && expand_home(c, &w))
			c->cwd = ab_cwd_after(c, &w);
		return;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(verbs); i++) {
		if (ab_word_equals(&verb, verbs[i].name))
			send_files(c, use, text, end, at, i);
	}
}

void ab_check_transfer(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *text)
{
	const struct ab_word *cwd = c->cwd;
	uint32_t at = 0;

	while (at < text->len && !c->is_broken) {
		void *mark = c->scratch->low;
		const struct ab_word *here = c->cwd;
		uint32_t end = at;

		while (end < text->len && !memchr("\n;&|", text->text[end], 4))
			end++;
		one_command(c, use, text, at, end);
		if (c->cwd == here)
			ab_arena_release(c->scratch, mark);
		at = end + 1;
	}
	c->cwd = cwd;
}
