/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands of ftp, lftp, sftp and smbclient: which files go to the other
 * machine. Paths alone are read; what a command does there is not judged. And
 * the options that curl(1) has in a file.
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

/* --- curl -K -------------------------------------------------------------- */

/* `data = "@x"`, `-d @x`, `url: x`: an option, and perhaps a value. */
static uint32_t option_line(struct ab_check *c, const struct ab_word *text,
			    uint32_t at, uint32_t end, struct ab_word *out)
{
	const char *s = text->text;
	uint32_t from;
	char *name;

	while (at < end && memchr(" \t", s[at], 2))
		at++;
	for (from = at; at < end && !memchr(" \t\r=:", s[at], 5);)
		at++;
	name = ab_check_alloc(c, at - from + 3);
	if (at == from || s[from] == '#' || !name)
		return 0;
	memcpy(name, "--", 2);
	memcpy(name + 2, s + from, at - from);
	*out = (struct ab_word){ .text = name, .len = at - from + 2,
				 .span = text->span };
	if (s[from] == '-' && !ab_word_slice(c, text, from, at - from, out))
		return 0;
	/* a file in a file is not followed */
	if (ab_word_equals(out, "-K") || ab_word_equals(out, "--config"))
		return 0;
	while (at < end && memchr(" \t=:", s[at], 4))
		at++;
	return 1 + next_word(c, text, end, &at, out + 1);
}

void ab_check_curl(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *text)
{
	uint32_t lines = 1, count = 0;
	struct ab_word *all;

	for (uint32_t i = 0; i < text->len; i++)
		lines += text->text[i] == '\n';
	all = ab_check_alloc(c, (use->count + 2 * (size_t)lines) *
					sizeof(*all));
	for (uint32_t i = 0; all && i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (ab_word_equals(w, "-K") || ab_word_equals(w, "--config"))
			i++;
		else if (!(w->len > 2 && !memcmp(w->text, "-K", 2)) &&
			 !(w->len > 9 && !memcmp(w->text, "--config=", 9)))
			all[count++] = *w;
	}
	for (uint32_t at = 0; all && at < text->len;) {
		const char *nl = memchr(text->text + at, '\n', text->len - at);
		uint32_t end = nl ? (uint32_t)(nl - text->text) : text->len;

		count += option_line(c, text, at, end, all + count);
		at = end + 1;
	}
	if (all && count)
		ab_run_words(c, use, all, count);
}
