/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of tasks for runners (Taskfile.yml, tox.ini, deno.json, mise.toml,
 * lefthook.yml): what stands behind a key, in a list or in quotes is taken
 * for a command, whatever the format, and whichever of them is run. Keys that
 * are there for people are left out. It is read for files that the text
 * writes itself.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"
#include "guard/files.h"

#include <string.h>

static bool is_key_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || memchr("_-.\"'", ch, 5);
}

/* NAME: or NAME =; where the value begins, 0: the line has no key. */
static uint32_t value_at(const char *s, uint32_t len, uint32_t *key)
{
	uint32_t i = 0;

	while (i < len && is_key_byte(s[i]))
		i++;
	*key = i;
	while (i < len && memchr(" \t", s[i], 2))
		i++;
	if (!*key || i == len || !memchr(":=", s[i], 2) ||
	    (i + 1 < len && s[i] == ':' && !memchr(" \t", s[i + 1], 2)))
		return 0;
	return i + 1;
}

/* What it says is for people. */
static bool is_told(const char *s, uint32_t len)
{
	static const char *const names[] = { "desc",  "description", "name",
					     "title", "help",	     "summary",
					     "author", "message",    "prompt" };

	while (len && memchr("\"'", *s, 2)) {
		s++;
		len--;
	}
	while (len && memchr("\"'", s[len - 1], 2))
		len--;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == len && !memcmp(s, names[i], len))
			return true;
	}
	return false;
}

/* Words for people run nothing: a command begins with a program that has
   rules, or has more of the shell in it. */
static bool is_command(const struct ab_check *c, const struct ab_word *w)
{
	struct ab_word first = *w;

	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr(";&|$`/=", w->text[i], 7))
			return true;
	}
	first.len = 0;
	while (first.len < w->len && !memchr(" \t", w->text[first.len], 2))
		first.len++;
	return w->hole_count || ab_names_program(c, &first);
}

static void run_slice(struct ab_check *c, const struct ab_word *text,
		      uint32_t at, uint32_t len)
{
	struct ab_word w;

	if (len > 1 && ab_word_slice(c, text, at, len, &w) &&
	    is_command(c, &w))
		ab_check_script(c, &w, true, NULL, 0, NULL);
}

/* /tmp/x, ./x, ../x, ~/x */
static bool is_program_path(const struct ab_word *w)
{
	const char *slash = memchr(w->text, '/', w->len);

	return slash && (slash == w->text ||
			 (slash - w->text <= 2 && memchr(".~", *w->text, 2) &&
			  slash[-1] == *w->text));
}

/* The strings of a list: each a command, or all of them one. */
void ab_check_strings(struct ab_check *c, const struct ab_word *text,
		      uint32_t at, uint32_t end)
{
	struct ab_word words[16];
	uint32_t count = 0;

	while (at < end) {
		const char *s = text->text + at;
		const char *stop = *s == '"' || *s == '\''
			? memchr(s + 1, *s, end - at - 1) : NULL;
		uint32_t n = stop ? (uint32_t)(stop - s) - 1 : 0;

		if (stop && memchr(s + 1, ' ', n))
			run_slice(c, text, at + 1, n);
		else if (n && count < AB_ARRAY_LEN(words) &&
			 ab_word_slice(c, text, at + 1, n, &words[count]))
			count++;
		at += stop ? n + 2 : 1;
	}
	/* one word alone is most often no command, unless it is a path */
	if (count > 1 || (count && is_program_path(&words[0])))
		ab_check_words(c, words, count, 0, NULL, false);
}

static void check_line(struct ab_check *c, const struct ab_word *text,
		       uint32_t at, uint32_t end)
{
	const char *s = text->text;
	uint32_t key, value;

	while (at < end && memchr(" \t", s[at], 2))
		at++;
	while (end > at && memchr(" \t\r,", s[end - 1], 4))
		end--;
	while (end - at > 1 && s[at] == '-' && s[at + 1] == ' ')
		at += 2;
	while (at < end && memchr(" \t", s[at], 2))
		at++;
	if (at == end || s[at] == '#')
		return;
	value = value_at(s + at, end - at, &key);
	if (value && is_told(s + at, key))
		return;
	at += value;
	while (at < end && memchr(" \t", s[at], 2))
		at++;
	if (at < end && memchr("[{\"'", s[at], 4))
		ab_check_strings(c, text, at, end);
	else if (at < end && !memchr("|>&*", s[at], 4))
		run_slice(c, text, at, end - at);
}

void ab_check_tasks(struct ab_check *c, const struct ab_word *text)
{
	for (uint32_t i = 0; i < text->len;) {
		const char *from = text->text + i;
		const char *end = memchr(from, '\n', text->len - i);
		uint32_t stop = end ? (uint32_t)(end - text->text) : text->len;

		check_line(c, text, i, stop);
		i = stop + 1;
	}
}

/* The string that begins there, with one quote or three: how long it is. */
static uint32_t string_len(const char *s, uint32_t n, uint32_t *quotes)
{
	uint32_t k = n > 2 && s[1] == *s && s[2] == *s ? 3 : 1;

	*quotes = k;
	for (uint32_t i = k; i < n; i++) {
		if (k == 1 && s[i] == '\n')
			return i;
		if (s[i] == '\\')
			i++;
		else if (s[i] == *s &&
			 (k == 1 || (n - i > 2 && s[i + 1] == *s &&
				     s[i + 2] == *s)))
			return i + k;
	}
	return n;
}

/* The strings from *i on that are one, since nothing but blanks stands between
   them, go to `all`; how long that is. */
static uint32_t join_strings(const struct ab_word *text, uint32_t *i,
			     char *all)
{
	const char *s = text->text;
	uint32_t n = 0, skip = 0, at = *i;

	for (;;) {
		uint32_t quotes, len = string_len(s + at, text->len - at,
						  &quotes);
		uint32_t next = at + len;

		memcpy(all + n, s + at + skip, len - skip);
		n += len - skip;
		*i = next;
		while (next < text->len && memchr(" \t\r\n", s[next], 4))
			next++;
		if (quotes != 1 || len < 2 || s[at + len - 1] != s[at] ||
		    next >= text->len || s[next] != s[at])
			return n;
		string_len(s + next, 3 < text->len - next
					     ? 3 : text->len - next, &quotes);
		if (quotes != 1)
			return n;
		n--;
		skip = 1;
		at = next;
	}
}

bool ab_tasks_join(struct ab_check *c, const struct ab_word *text,
		   struct ab_word *out)
{
	char *all = ab_check_alloc(c, (size_t)text->len + 1);
	const char *s = text->text;
	uint32_t n = 0;

	*out = *text;
	if (!all || text->hole_count)
		return all;
	for (uint32_t i = 0; i < text->len;) {
		/* a quote in a remark is none */
		if (s[i] == '#')
			i += (uint32_t)ab_seek(s + i, text->len - i, '\n');
		else if (memchr("\"'", s[i], 2))
			n += join_strings(text, &i, all + n);
		else
			all[n++] = s[i++];
	}
	out->text = all;
	out->len = n;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

/* Snakefile: shell("git push") in a `run:` */
void ab_check_shell_calls(struct ab_check *c, const struct ab_word *text)
{
	static const char call[] = "shell(";
	const char *s = text->text, *hit;
	uint32_t at = 0, stop;

	while ((hit = memmem(s + at, text->len - at, call, sizeof(call) - 1))) {
		at = (uint32_t)(hit - s) + (uint32_t)sizeof(call) - 1;
		while (at < text->len && memchr(" \t\r\n", s[at], 4))
			at++;
		/* f"..." */
		while (text->len - at > 1 && memchr("fr", s[at], 2))
			at++;
		stop = at + (uint32_t)ab_seek(s + at, text->len - at, '\n');
		/* with three quotes it goes on behind the line */
		if (text->len - at > 6 && memchr("\"'", s[at], 2) &&
		    s[at] == s[at + 1] && s[at] == s[at + 2]) {
			hit = memmem(s + at + 3, text->len - at - 3, s + at, 3);
			stop = hit ? (uint32_t)(hit - s) : text->len;
			run_slice(c, text, at + 3, stop - at - 3);
		}
		ab_check_strings(c, text, at, stop);
		at = stop;
	}
}

/* dodo.py: {"actions": ["git push"]}, dict(actions=[...]) */
void ab_check_actions(struct ab_check *c, const struct ab_word *text)
{
	const char *s = text->text, *end = s + text->len;
	const char *hit, *from, *nl, *close;

	for (; (hit = memmem(s, (size_t)(end - s), "actions", 7)); s = nl) {
		nl = memchr(hit, '\n', (size_t)(end - hit));
		nl = nl ? nl : end;
		for (from = hit; from < nl && !memchr(":=", *from, 2); from++)
			;
		if (from == nl)
			continue;
		/* a list may go on behind the line */
		close = memchr(from, ']', (size_t)(end - from));
		nl = close && close > nl ? close : nl;
		ab_check_strings(c, text, (uint32_t)(from - text->text),
				 (uint32_t)(nl - text->text));
	}
}

#define MAX_GENERATORS 8

/* -command NAME WORDS: NAME stands for WORDS in the lines that follow. */
struct generators {
	struct ab_word names[MAX_GENERATORS], words[MAX_GENERATORS];
	uint32_t count;
};

/* The word that begins at or behind *at, which goes behind it. */
static bool next_word(struct ab_check *c, const struct ab_word *text,
		      uint32_t *at, struct ab_word *out)
{
	uint32_t from;

	while (*at < text->len && memchr(" \t\r", text->text[*at], 3))
		++*at;
	for (from = *at;
	     *at < text->len && !memchr(" \t\r", text->text[*at], 3);)
		++*at;
	return *at > from && ab_word_slice(c, text, from, *at - from, out);
}

static bool is_same_word(const struct ab_word *a, const struct ab_word *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static void run_generator(struct ab_check *c, struct generators *g,
			  const struct ab_word *line)
{
	struct ab_word first, name, rest, all;
	uint32_t at = 0;

	if (!next_word(c, line, &at, &first))
		return;
	if (ab_word_equals(&first, "-command")) {
		if (g->count == MAX_GENERATORS)
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, line);
		else if (next_word(c, line, &at, &name) &&
			 ab_word_slice(c, line, at, line->len - at,
				       &g->words[g->count]))
			g->names[g->count++] = name;
		return;
	}
	for (uint32_t i = 0; i < g->count; i++) {
		if (is_same_word(&first, &g->names[i]) &&
		    ab_word_slice(c, line, at, line->len - at, &rest) &&
		    ab_file_join(c, &g->words[i], &rest, &all))
			ab_check_script(c, &all, true, NULL, 0, NULL);
	}
	ab_check_script(c, line, true, NULL, 0, NULL);
}

/* //go:generate git push */
void ab_check_generate(struct ab_check *c, const struct ab_word *text)
{
	static const char mark[] = "//go:generate";
	const size_t n = sizeof(mark) - 1;
	struct generators g = { .count = 0 };
	struct ab_word w;

	for (uint32_t i = 0; i < text->len;) {
		const char *from = text->text + i;
		const uint32_t len =
			(uint32_t)ab_seek(from, text->len - i, '\n');

		if (len > n && !memcmp(from, mark, n) &&
		    memchr(" \t", from[n], 2) &&
		    ab_word_slice(c, text, i + (uint32_t)n, len - (uint32_t)n,
				  &w))
			run_generator(c, &g, &w);
		i += len + 1;
	}
}

/* `@test "name" {` begins a group of commands: where it does, or 0. */
static uint32_t group_at(const char *s, uint32_t at, uint32_t end)
{
	char quote;

	while (at < end && memchr(" \t", s[at], 2))
		at++;
	if (end - at < 7 || memcmp(s + at, "@test ", 6) != 0)
		return 0;
	for (at += 6; at < end && s[at] == ' '; at++)
		;
	quote = at < end && memchr("\"'", s[at], 2) ? s[at++] : ' ';
	while (at < end && s[at] != quote)
		at++;
	while (at < end && s[at] != '{')
		at++;
	return at < end ? at : 0;
}

void ab_check_bats(struct ab_check *c, const struct ab_word *text)
{
	char *copy = ab_check_alloc(c, (size_t)text->len + 1);
	struct ab_word all = *text;

	if (!copy)
		return;
	memcpy(copy, text->text, text->len);
	for (uint32_t i = 0; i < text->len;) {
		const char *end = memchr(copy + i, '\n', text->len - i);
		uint32_t stop = end ? (uint32_t)(end - copy) : text->len;
		uint32_t group = group_at(copy, i, stop);

		if (group)
			memset(copy + i, ' ', group - i);
		i = stop + 1;
	}
	all.text = copy;
	ab_check_script(c, &all, true, NULL, 0, NULL);
}
