/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that hold options of a tool, a name and a value in each line (.npmrc,
 * .wgetrc, .yarnrc.yml, the list that aria2c -i reads, config.toml of cargo):
 * the command is judged once more, with what the lines say as its options.
 * Refuses to know which options a tool takes from there: those that no rule
 * knows say nothing.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"
#include "guard/files.h"

#include <string.h>

#define MAX_NAME 64

/* What is read, and the words that it makes. */
struct config {
	struct ab_check *c;
	const struct ab_word *text;
	struct ab_word *words;
	uint32_t count;
	char section[MAX_NAME]; /* [build]: "build." */
	uint32_t section_len;
	bool is_cargo, is_list, is_yarn;
};

static uint32_t skip_blanks(const char *s, uint32_t at, uint32_t end)
{
	while (at < end && memchr(" \t\r", s[at], 3))
		at++;
	return at;
}

/* [target.x86_64-unknown-linux-gnu] */
static void begin_section(struct config *g, uint32_t at, uint32_t end)
{
	const char *s = g->text->text + at + 1;
	uint32_t n = (uint32_t)ab_seek(s, end - at - 1, ']');

	if (n + 1 >= sizeof(g->section))
		n = 0;
	memcpy(g->section, s, n);
	g->section[n] = '.';
	g->section_len = n ? n + 1 : 0;
}

/* --name=, as a command line has it; 0: that is no name. */
static uint32_t spell_name(const struct config *g, const char *s, uint32_t n,
			   char *out)
{
	uint32_t len = g->is_cargo ? g->section_len : 2;

	if (!n || n > MAX_NAME)
		return 0;
	memcpy(out, g->is_cargo ? g->section : "--", len);
	for (uint32_t i = 0; i < n; i++) {
		char ch = s[i];

		/* "rustc-wrapper" = */
		if (g->is_cargo && memchr("\"'", ch, 2))
			continue;
		if (!ab_code_is_letter(ch) && !memchr("-.", ch, 2))
			return 0;
		out[len++] = ch == '_' && !g->is_cargo ? '-' : ch;
	}
	out[len++] = '=';
	return len;
}

/* Without the quotes around it. */
static bool read_value(struct config *g, uint32_t at, uint32_t end,
		       struct ab_word *out)
{
	const char *s = g->text->text;

	while (end > at && memchr(" \t\r", s[end - 1], 3))
		end--;
	if (end - at > 1 && memchr("\"'", s[at], 2) && s[end - 1] == s[at]) {
		at++;
		end--;
	}
	/* what cargo finds in PATH it finds there anyway, and a list is read
	   as a command */
	if (g->is_cargo && (s[at] == '[' || !memchr(s + at, '/', end - at)))
		return false;
	return end > at && ab_word_slice(g->c, g->text, at, end - at, out);
}

/* n bytes are its name. */
static void add_named(struct config *g, const char *of, uint32_t n,
		      uint32_t at, uint32_t end)
{
	static const struct ab_word config = { .text = "--config", .len = 8 };
	char *text = ab_check_alloc(g->c, 2 * MAX_NAME + 4);
	struct ab_word name = { .text = text, .span = g->text->span }, value;

	if (!text)
		return;
	name.len = spell_name(g, of, n, text);
	if (!name.len ||
	    !read_value(g, skip_blanks(g->text->text, at, end), end,
			&value) ||
	    !ab_file_join(g->c, &name, &value, &g->words[g->count]))
		return;
	if (g->is_cargo) {
		g->words[g->count + 1] = g->words[g->count];
		g->words[g->count++] = config;
	}
	g->count++;
}

static void add_option(struct config *g, uint32_t at, uint32_t end)
{
	const char *s = g->text->text;
	uint32_t sign = at + (uint32_t)ab_seek(s + at, end - at, '=');
	uint32_t n = sign;

	while (n > at && memchr(" \t", s[n - 1], 2))
		n--;
	if (sign < end)
		add_named(g, s + at, n - at, sign + 1, end);
}

/* `yarnPath: x` of its .yml, `yarn-path "x"` of the file before that; a list
   has its name in the line in front, `- path: x` is one of it. */
static void read_yarn(struct config *g, uint32_t at, uint32_t end)
{
	const char *s = g->text->text;
	uint32_t from = at, n;

	if (end - at > 1 && !memcmp(s + at, "- ", 2)) {
		at = skip_blanks(s, at + 1, end);
		if (end - at > 5 && !memcmp(s + at, "path:", 5))
			at += 5;
		add_named(g, g->section, g->section_len, at, end);
		return;
	}
	while (at < end && !memchr(": \t", s[at], 3))
		at++;
	n = at - from;
	at = skip_blanks(s, at + (at < end && s[at] == ':'), end);
	if (at < end) {
		add_named(g, s + from, n, at, end);
	} else if (n < sizeof(g->section)) {
		memcpy(g->section, s + from, n);
		g->section_len = n;
	}
}

/* dir=x, and not https://x.io/?a=b */
static bool is_option(const char *s, uint32_t at, uint32_t end)
{
	uint32_t n = (uint32_t)ab_seek(s + at, end - at, '=');

	return n < end - at && !memchr(s + at, ':', n);
}

static void read_line(struct config *g, uint32_t at, uint32_t end)
{
	const char *s = g->text->text;
	uint32_t from = at;

	at = skip_blanks(s, at, end);
	if (at == end || memchr("#;", s[at], 2))
		return;
	if (g->is_yarn) {
		read_yarn(g, at, end);
	} else if (s[at] == '[') {
		begin_section(g, at, end);
	} else if (g->is_list && at == from && !is_option(s, at, end)) {
		/* an address, and mirrors */
		end = at + (uint32_t)ab_seek(s + at, end - at, '\t');
		g->count += ab_word_slice(g->c, g->text, at, end - at,
					  &g->words[g->count]);
	} else {
		add_option(g, at, end);
	}
}

void ab_check_config(struct ab_check *c, const struct ab_use *use,
		     const char *kind, const struct ab_word *text)
{
	struct config g = { .c = c, .text = text,
			    .is_cargo = !strcmp(kind, "cargo"),
			    .is_list = !strcmp(kind, "aria2"),
			    .is_yarn = !strcmp(kind, "yarn") };
	size_t lines = 1;

	/* a file in a file is not followed */
	if (!use || c->is_globbed)
		return;
	for (uint32_t i = 0; i < text->len; i++)
		lines += text->text[i] == '\n';
	g.words = ab_check_alloc(c, (use->count + 2 * lines) *
					    sizeof(*g.words));
	if (!g.words)
		return;
	g.words[g.count++] = use->words[0];
	for (uint32_t at = 0; at < text->len && !c->is_broken;) {
		uint32_t end = at + (uint32_t)ab_seek(text->text + at,
						      text->len - at, '\n');

		read_line(&g, at, end);
		at = end + 1;
	}
	if (g.count == 1)
		return;
	/* in front of a subcommand, behind whose words there may be none */
	memcpy(g.words + g.count, use->words + 1,
	       (use->count - 1) * sizeof(*g.words));
	g.count += use->count - 1;
	c->is_globbed = true;
	ab_run_words(c, use, g.words, g.count);
	c->is_globbed = false;
}
