/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands of ftp, lftp, sftp and smbclient: which files go to the other
 * machine. Paths alone are read; what a command does there is not judged. And
 * the options that curl(1) has in a file.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>
#include <strings.h>

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

/* --- curl's own patterns -------------------------------------------------- */

#define MAX_GLOBS 64 /* words that are made of one */
#define MAX_VALUES 9 /* #1 to #9 */
#define MAX_NUMBERS 16 /* of [1-9] each alone */
#define MAX_NAME 4096

/* A word that is made of another one: up to `from` no pattern is left. Where
   the bytes are that were put in is what `-o '#1'` asks for. */
struct glob {
	struct ab_word word;
	uint32_t from, count;
	struct {
		uint32_t at, len;
	} values[MAX_VALUES];
};

/* The next {a,b} or [1-9] from `at` on: its first byte; the word's length:
   there is none. *end: behind it. */
static uint32_t next_glob(const struct ab_word *w, uint32_t at, uint32_t *end)
{
	for (; at < w->len; at++) {
		char close = w->text[at] == '{'	  ? '}'
			     : w->text[at] == '[' ? ']'
						  : '\0';
		const char *hit;

		at += w->text[at] == '\\';
		/* http://[::1]/ */
		if (!close || (close == ']' && at && w->text[at - 1] == '/' &&
			       at + 1 < w->len && w->text[at + 1] == ':'))
			continue;
		hit = memchr(w->text + at, close, w->len - at);
		if (!hit)
			return w->len;
		*end = (uint32_t)(hit - w->text) + 1;
		return at;
	}
	return w->len;
}

/* The word with other bytes from `at` to `end`, which are a pattern of the
   shell or as they stand. */
static bool put_glob(struct ab_check *c, const struct glob *g, uint32_t at,
		     uint32_t end, const char *text, uint32_t n,
		     bool is_pattern, struct glob *out)
{
	const struct ab_word *w = &g->word;
	uint32_t count = w->hole_count + is_pattern;
	char *all = ab_check_alloc(c, w->len + n + 1);
	struct ab_hole *holes =
		count ? ab_check_alloc(c, count * sizeof(*holes)) : NULL;

	if (!all || (count && !holes))
		return false;
	memcpy(all, w->text, at);
	memcpy(all + at, text, n);
	memcpy(all + at + n, w->text + end, w->len - end);
	if (w->hole_count)
		memcpy(holes, w->holes, w->hole_count * sizeof(*holes));
	if (is_pattern)
		holes[w->hole_count] = (struct ab_hole){
			.kind = AB_HOLE_PATTERN, .at = at, .len = n,
			.span = w->span
		};
	*out = *g;
	out->from = at + n;
	if (out->count < MAX_VALUES) {
		out->values[out->count].at = at;
		out->values[out->count++].len = n;
	}
	out->word = (struct ab_word){ .text = all, .len = w->len + n - end + at,
				      .holes = holes, .hole_count = count,
				      .span = w->span };
	return true;
}

/* [1-9]: few numbers each alone. False: it is no such range. */
static bool expand_numbers(struct ab_check *c, const struct glob *g,
			   uint32_t at, uint32_t end, struct glob *all,
			   uint32_t *n)
{
	const char *s = g->word.text + at + 1;
	uint32_t i = 0, ends[2] = { 0, 0 }, room = end - at - 2;
	char text[4];

	for (uint32_t k = 0; k < 2; k++) {
		uint32_t from = i;

		for (; i < room && i - from < 3 && s[i] >= '0' && s[i] <= '9';)
			ends[k] = ends[k] * 10 + (uint32_t)(s[i++] - '0');
		/* 01 is another name than 1 */
		if (i == from || (s[from] == '0' && i - from > 1) ||
		    (k ? i != room : i == room || s[i++] != '-'))
			return false;
	}
	if (ends[1] < ends[0] || ends[1] - ends[0] >= MAX_NUMBERS ||
	    *n + MAX_NUMBERS > MAX_GLOBS)
		return false;
	for (uint32_t v = ends[0]; v <= ends[1]; v++) {
		uint32_t len = 0;

		for (uint32_t ten = 100; ten; ten /= 10) {
			if (len || v >= ten || ten == 1)
				text[len++] = (char)('0' + v / ten % 10);
		}
		if (!put_glob(c, g, at, end, text, len, false, &all[(*n)++]))
			return false;
	}
	return true;
}

/* The words that the first pattern stands for, behind *n; of many numbers only
   that they are some. False: there is no room. */
static bool expand_glob(struct ab_check *c, const struct glob *g,
			struct glob *all, uint32_t *n)
{
	const char *s = g->word.text;
	uint32_t end = 0, at = next_glob(&g->word, g->from, &end), m;

	if (s[at] == '[' && end - at >= 5 && (s[at + 1] | 0x20) >= 'a') {
		for (char ch = s[at + 1]; ch <= s[at + 3] && ch > 0; ch++) {
			if (*n == MAX_GLOBS ||
			    !put_glob(c, g, at, end, &ch, 1, false,
				      &all[(*n)++]))
				return false;
		}
		return true;
	}
	if (s[at] == '[')
		return expand_numbers(c, g, at, end, all, n) ||
		       (*n < MAX_GLOBS && put_glob(c, g, at, end, "[0-9]*", 6,
						  true, &all[(*n)++]));
	for (uint32_t i = at + 1; i < end; i += m + 1) {
		const char *comma = memchr(s + i, ',', end - 1 - i);

		m = comma ? (uint32_t)(comma - s) - i : end - 1 - i;
		if (*n == MAX_GLOBS ||
		    !put_glob(c, g, at, end, s + i, m, false, &all[(*n)++]))
			return false;
	}
	return true;
}

/* Which value `#N` at the byte is; MAX_VALUES: none. */
static uint32_t value_of(const struct ab_word *w, uint32_t at,
			 const struct glob *g)
{
	uint32_t n = at + 1 < w->len && w->text[at] == '#'
			     ? (uint32_t)(w->text[at + 1] - '1')
			     : MAX_VALUES;

	return n < g->count ? n : MAX_VALUES;
}

/* -o 'f#1': with what the address has in their place. */
static void put_values(struct ab_check *c, struct ab_word *w,
		       const struct glob *g)
{
	uint32_t len = 0, n = 0, count = 0;
	struct ab_hole *holes;
	char *text;

	for (uint32_t i = 0; i < w->len; i++) {
		uint32_t k = value_of(w, i, g);

		count += k < MAX_VALUES;
		/* 100,000 times a long value is more than a number holds */
		if (len <= MAX_NAME)
			len += k < MAX_VALUES ? g->values[k].len : 1;
	}
	if (AB_LIKELY(!count) || w->hole_count)
		return;
	text = len > MAX_NAME ? NULL : ab_check_alloc(c, len + 1);
	holes = text ? ab_check_alloc(c, count * sizeof(*holes)) : NULL;
	if (len > MAX_NAME)
		ab_check_known(c, AB_KNOWN_OPAQUE, AB_V_ASK, w);
	if (!holes)
		return;
	count = 0;
	for (uint32_t i = 0; i < w->len; i++) {
		uint32_t k = value_of(w, i, g);

		if (k == MAX_VALUES) {
			text[n++] = w->text[i];
			continue;
		}
		memcpy(text + n, g->word.text + g->values[k].at,
		       g->values[k].len);
		if (g->values[k].len && text[n] == '[')
			holes[count++] = (struct ab_hole){
				.kind = AB_HOLE_PATTERN, .at = n,
				.len = g->values[k].len, .span = w->span
			};
		n += g->values[k].len;
		i++;
	}
	*w = (struct ab_word){ .text = text, .len = n, .holes = holes,
			       .hole_count = count, .span = w->span };
}

/* The command with that in place of its word i. */
static void run_glob(struct ab_check *c, const struct ab_use *use, uint32_t i,
		     const struct glob *g)
{
	struct ab_word *all = ab_check_alloc(c, use->count * sizeof(*all));

	if (!all)
		return;
	memcpy(all, use->words, use->count * sizeof(*all));
	for (uint32_t k = 1; k < use->count; k++) {
		if (k != i && memchr(all[k].text, '#', all[k].len))
			put_values(c, &all[k], g);
	}
	all[i] = g->word;
	c->is_globbed = true;
	ab_run_words(c, use, all, use->count);
	c->is_globbed = false;
}

/* -o '#1', -O: files are called as the address says. */
static bool names_files(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		const char *sign = memchr(w->text, '#', w->len);

		if (!w->len)
			continue;
		if (sign && sign + 1 < w->text + w->len && sign[1] >= '1' &&
		    sign[1] <= '9')
			return true;
		if (w->text[0] == '-' &&
		    (w->text[1 % w->len] == '-'
			     ? w->len > 12 &&
				       !memcmp(w->text, "--remote-name", 13)
			     : memchr(w->text, 'O', w->len) != NULL))
			return true;
	}
	return false;
}

/* curl -T '{a,b}', file:///{a,b}: what is sent or read. Of other addresses
   only their hosts count, and what files are called by them. */
void ab_check_globs(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *w)
{
	AB_UNINITIALIZED struct glob all[MAX_GLOBS];
	uint32_t n = 1, own = 0, end;

	if (AB_LIKELY((!memchr(w->text, '{', w->len) &&
		       !memchr(w->text, '[', w->len)) ||
		      w->hole_count || c->is_globbed))
		return;
	if (memmem(w->text, w->len, "://", 3) && !names_files(use) &&
	    (w->len < 5 || strncasecmp(w->text, "file:", 5) != 0))
		return;
	/* it may be what stands behind an option in a word */
	while (own < use->count && (w->text < use->words[own].text ||
				    w->text + w->len !=
					    use->words[own].text +
						    use->words[own].len))
		own++;
	if (own == use->count)
		return;
	all[0].word = use->words[own];
	all[0].from = all[0].word.len - w->len;
	all[0].count = 0;
	for (uint32_t i = 0; i < n && !c->is_broken; i++) {
		if (next_glob(&all[i].word, all[i].from, &end) ==
		    all[i].word.len)
			run_glob(c, use, own, &all[i]);
		else if (!expand_glob(c, &all[i], all, &n))
			ab_check_known(c, AB_KNOWN_OPAQUE, AB_V_ASK, w);
	}
}
