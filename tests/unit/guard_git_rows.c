/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See guard_git_rows.h. */
#include "config.h"

#include "guard_git_rows.h"

#include <stdio.h>
#include <string.h>

void row_clear(struct row_command *c)
{
	c->count = 0;
	c->env_count = 0;
}

static bool put(struct row_word *w, char ch)
{
	if (w->word.len + 1 >= sizeof(w->text))
		return false;
	w->text[w->word.len++] = ch;
	return true;
}

static struct ab_hole *put_hole(struct row_word *w, enum ab_hole_kind kind,
				const char *name, size_t name_len)
{
	struct ab_hole *h = &w->holes[w->word.hole_count];

	if (w->word.hole_count == ROW_HOLES ||
	    name_len >= sizeof(w->names[0]))
		return NULL;
	memset(h, 0, sizeof(*h));
	h->at = w->word.len;
	h->kind = kind;
	if (name_len) {
		memcpy(w->names[w->word.hole_count], name, name_len);
		w->names[w->word.hole_count][name_len] = '\0';
		h->name = w->names[w->word.hole_count];
	}
	w->word.hole_count++;
	return h;
}

static void begin_word(struct row_word *w)
{
	memset(w, 0, sizeof(*w));
	w->word.text = w->text;
	w->word.holes = w->holes;
}

static bool marker(struct row_word *w, const char *text, size_t len)
{
	struct ab_hole *h;

	if (text[0] == '=') {
		h = put_hole(w, AB_HOLE_PATTERN, NULL, 0);
		if (!h)
			return false;
		h->len = (uint32_t)len - 1;
		for (size_t i = 1; i < len; i++)
			put(w, text[i]);
		return true;
	}
	if (len == 5 && memcmp(text, "bytes", 5) == 0)
		return put_hole(w, AB_HOLE_BYTES, NULL, 0) != NULL;
	if (len == 6 && memcmp(text, "fields", 6) == 0)
		return put_hole(w, AB_HOLE_FIELDS, NULL, 0) != NULL;
	if (len == 4 && memcmp(text, "home", 4) == 0) {
		h = put_hole(w, AB_HOLE_HOME, NULL, 0);
		return h && (h->len = 1) && put(w, '~');
	}
	return put_hole(w, AB_HOLE_BYTES, text, len) != NULL;
}

static bool fill(struct row_word *w, const char *text)
{
	begin_word(w);
	while (*text) {
		const char *end = strncmp(text, "{{", 2) == 0
					  ? strstr(text, "}}")
					  : NULL;

		if (end) {
			if (!marker(w, text + 2, (size_t)(end - text) - 2))
				return false;
			text = end + 2;
		} else if (!put(w, *text++)) {
			return false;
		}
	}
	return true;
}

bool row_add(struct row_command *c, const char *text)
{
	if (c->count == ROW_WORDS || !fill(&c->words[c->count], text))
		return false;
	c->count++;
	return true;
}

/* A copied word points into itself again. */
static void settle(struct row_word *w)
{
	w->word.text = w->text;
	w->word.holes = w->holes;
	for (uint32_t i = 0; i < w->word.hole_count; i++)
		if (w->holes[i].name)
			w->holes[i].name = w->names[i];
}

static bool take_env(struct row_command *c, size_t name_len)
{
	struct row_word *w = &c->values[c->env_count];
	size_t i = c->env_count;

	if (name_len >= sizeof(c->names[0]))
		return false;
	memcpy(c->names[i], w->text, name_len);
	memmove(w->text, w->text + name_len + 1, w->word.len - name_len);
	w->word.len -= (uint32_t)name_len + 1;
	settle(w);
	for (uint32_t k = 0; k < w->word.hole_count; k++)
		w->holes[k].at -= (uint32_t)name_len + 1;
	c->env[i].name.text = c->names[i];
	c->env[i].name.len = name_len;
	c->env[i].value = &w->word;
	c->env[i].is_unset = false;
	c->env_count++;
	return true;
}

bool row_add_env(struct row_command *c, const char *assignment)
{
	const char *equal = strchr(assignment, '=');

	return equal && c->env_count < ROW_ENV &&
	       fill(&c->values[c->env_count], assignment) &&
	       take_env(c, (size_t)(equal - assignment));
}

#define TEXT(s) ((struct ab_git_text){s, sizeof(s) - 1})

void row_context(struct ab_git_context *context)
{
	static const struct ab_git_text temp[] = {{"/tmp", 4},
						  {"/var/tmp", 8}};

	*context = (struct ab_git_context){
		.profile = AB_GIT_DEFAULT,
		.cwd = TEXT("/srv/repo"),
		.worktree = TEXT("/srv/repo"),
		.home = TEXT("/home/u"),
		.temp_dirs = temp,
		.temp_count = 2,
	};
}

enum ab_git_verdict row_check(struct row_command *c,
			      const struct ab_git_context *context,
			      struct ab_git_result *result)
{
	struct ab_git_context full = *context;
	struct ab_word argv[ROW_WORDS];

	for (size_t i = 0; i < c->env_count; i++)
		settle(&c->values[i]);
	for (size_t i = 0; i < c->count; i++) {
		settle(&c->words[i]);
		argv[i] = c->words[i].word;
	}
	full.env = c->env;
	full.env_count = c->env_count;
	ab_git_check(argv, c->count, &full, result);
	return result->verdict;
}

/* --- simple lines --- */

struct splitter {
	const char *p;
	struct row_command c;
	struct row_word word;
	bool has_word;
	bool skips_next; /* the target of a redirection */
	enum ab_git_verdict worst;
	struct ab_git_result *result;
	const struct ab_git_context *context;
};

static void end_word(struct splitter *s)
{
	const char *equal;
	struct row_word *w = &s->word;

	if (!s->has_word)
		return;
	s->has_word = false;
	if (s->skips_next) {
		s->skips_next = false;
	} else {
		equal = memchr(w->text, '=', w->word.len);
		if (!s->c.count && equal && equal != w->text &&
		    s->c.env_count < ROW_ENV &&
		    strspn(w->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
			    (size_t)(equal - w->text)) {
			s->c.values[s->c.env_count] = *w;
			take_env(&s->c, (size_t)(equal - w->text));
		} else if (s->c.count < ROW_WORDS) {
			s->c.words[s->c.count++] = *w;
		}
	}
	begin_word(w);
}

static void end_command(struct splitter *s)
{
	struct ab_git_result r;

	end_word(s);
	if (s->c.count) {
		row_check(&s->c, s->context, &r);
		if (r.verdict > s->worst || !s->result->rule)
			*s->result = r;
		if (r.verdict > s->worst)
			s->worst = r.verdict;
	}
	row_clear(&s->c);
}

static bool variable(struct splitter *s, bool is_quoted)
{
	size_t n = strspn(s->p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrs"
				"tuvwxyz0123456789");

	s->has_word = true;
	if (!n || n >= sizeof(s->word.names[0]))
		return false;
	if (!put_hole(&s->word, is_quoted ? AB_HOLE_BYTES : AB_HOLE_FIELDS,
		      s->p, n))
		return false;
	s->p += n;
	return true;
}

static bool double_quotes(struct splitter *s)
{
	s->has_word = true;
	for (; *s->p != '"';) {
		char ch = *s->p++;

		if (!ch || ch == '`')
			return false;
		if (ch == '$' && !variable(s, true))
			return false;
		if (ch == '$')
			continue;
		if (ch == '\\' && strchr("\"\\$`", *s->p) && *s->p)
			ch = *s->p++;
		if (!put(&s->word, ch))
			return false;
	}
	s->p++;
	return true;
}

static bool single_quotes(struct splitter *s)
{
	s->has_word = true;
	for (; *s->p && *s->p != '\''; s->p++)
		if (!put(&s->word, *s->p))
			return false;
	return *s->p++ == '\'';
}

static bool step(struct splitter *s)
{
	char ch = *s->p++;

	switch (ch) {
	case ' ':
	case '\t':
		end_word(s);
		return true;
	case '\n':
	case ';':
		end_command(s);
		return true;
	case '&':
	case '|':
		if (*s->p == ch)
			s->p++;
		end_command(s);
		return true;
	case '\'':
		return single_quotes(s);
	case '"':
		return double_quotes(s);
	case '$':
		return variable(s, false);
	case '\\':
		s->has_word = true;
		return *s->p && *s->p != '\n' && put(&s->word, *s->p++);
	case '<':
	case '>':
		if (*s->p == '<' || *s->p == '(' || *s->p == '&')
			return false;
		if (*s->p == '>')
			s->p++;
		end_word(s);
		s->skips_next = true;
		return true;
	case '*':
	case '?':
	case '[':
		if (!put_hole(&s->word, AB_HOLE_PATTERN, NULL, 0))
			return false;
		s->word.holes[s->word.word.hole_count - 1].len = 1;
		break;
	case '~':
		if (!s->has_word) {
			if (!put_hole(&s->word, AB_HOLE_HOME, NULL, 0))
				return false;
			s->word.holes[s->word.word.hole_count - 1].len = 1;
		}
		break;
	case '#':
		if (!s->has_word)
			return false;
		break;
	case '{':
	case '}':
		/* HEAD@{1}, stash@{0}; no brace expansion */
		if (s->word.word.len == 0 || strchr(s->p, ','))
			return false;
		break;
	case '(':
	case ')':
	case '`':
	case '!':
		return false;
	default:
		break;
	}
	s->has_word = true;
	return put(&s->word, ch);
}

bool row_check_line(const char *line, const struct ab_git_context *context,
		    enum ab_git_verdict *verdict, struct ab_git_result *result)
{
	static struct splitter s;

	memset(&s, 0, sizeof(s));
	memset(result, 0, sizeof(*result));
	s.p = line;
	s.result = result;
	s.context = context;
	begin_word(&s.word);
	while (*s.p)
		if (!step(&s))
			return false;
	end_command(&s);
	*verdict = s.worst;
	return true;
}
