/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment, and who reads it: of `env | grep -q X` nothing is shown, and
 * of `env | grep -E '^(CI|LANG)='` no more than printenv(1) shows of the same
 * names. What is asked about the first command waits for the one behind the
 * pipe. Refuses to look further than that, into groups and functions, and at
 * patterns that may take a line for its value: those are asked about.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

struct ab_dump {
	struct ab_shell_found found;
	const struct ab_stream *out;
	uint32_t index, depth; /* in the pipeline */
	bool is_read; /* nothing is shown; another reading may be one day */
};

bool ab_dump_hold(struct ab_check *c, const struct ab_shell_found *found)
{
	const struct ab_shell_command *m = c->command;
	struct ab_dump *d;

	if (c->dump || !m || found->verdict != AB_V_ASK ||
	    c->chain != (const struct ab_chain *)m->place.tag ||
	    c->is_probe || m->redir_count || !m->place.out || !c->use ||
	    c->use->count != m->argc ||
	    m->place.pipe_index + 1 >= m->place.pipe_count)
		return false;
	d = ab_arena_high(c->high, sizeof(*d));
	if (!d) {
		c->is_broken = true;
		return false;
	}
	*d = (struct ab_dump){ .found = *found, .out = m->place.out,
			       .index = m->place.pipe_index,
			       .depth = m->place.depth };
	/* the words do not live that long */
	d->found.words = NULL;
	d->found.count = 0;
	c->dump = d;
	return true;
}

void ab_dump_tell(struct ab_check *c)
{
	struct ab_dump *d = c->dump;

	c->dump = NULL;
	if (d && !d->is_read && !ab_defined_defer(c, &d->found))
		c->report(c->user, &d->found);
}

/* NAME, up to `at`, that is not named like a secret in any case of letters. */
static bool is_plain_name(const char *s, uint32_t len)
{
	char name[64];

	if (!len || len >= sizeof(name))
		return false;
	for (uint32_t i = 0; i < len; i++) {
		bool is_small = s[i] >= 'a' && s[i] <= 'z';

		if (!is_small && !(s[i] >= 'A' && s[i] <= 'Z') &&
		    !(s[i] >= '0' && s[i] <= '9') && s[i] != '_')
			return false;
		name[i] = is_small ? (char)(s[i] - 'a' + 'A') : s[i];
	}
	name[len] = '\0';
	return !ab_value_is_secret(name);
}

/* ^NAME= or ^(NAME|NAME)=, and what may come behind it in the value; ^NAME=*
   takes each name that begins so. */
static bool takes_names(const struct ab_word *w)
{
	const char *s = w->text, *end = s + w->len;
	const char *sign = memchr(s, '=', w->len);
	const char *stop = sign;

	if (w->hole_count || !sign || *s++ != '^' ||
	    (end - sign > 1 && memchr("*?{\\", sign[1], 4)) ||
	    memchr(sign, '|', (size_t)(end - sign)) ||
	    memchr(sign, '\n', (size_t)(end - sign)))
		return false;
	if (s < stop && *s == '(') {
		s++;
		if (*--stop != ')')
			return false;
	}
	for (;;) {
		const char *bar = memchr(s, '|', (size_t)(stop - s));
		const char *to = bar ? bar : stop;

		if ((bar && stop == sign) ||
		    !is_plain_name(s, (uint32_t)(to - s)))
			return false;
		if (!bar)
			return true;
		s = bar + 1;
	}
}

/* grep that tells a number, nothing, or the lines of names. */
static bool greps_names(const struct ab_shell_command *m)
{
	static const char *const quiet[] = { "--quiet", "--silent", "--count" };
	const struct ab_word *pattern = NULL;
	bool is_quiet = false;

	for (uint32_t i = 1; i < m->argc; i++) {
		const struct ab_word *w = &m->argv[i];
		uint32_t at = 1;

		if (w->hole_count || !w->len)
			return false;
		if (*w->text != '-') {
			if (pattern) /* a file */
				return false;
			pattern = w;
			continue;
		}
		for (size_t k = 0; k < AB_ARRAY_LEN(quiet); k++) {
			if (ab_word_equals(w, quiet[k])) {
				is_quiet = true;
				at = w->len;
			}
		}
		for (; at < w->len; at++) {
			if (!memchr("EGiqcow", w->text[at], 7))
				return false;
			is_quiet |= memchr("qc", w->text[at], 2) != NULL;
		}
		if (w->len == 1)
			return false;
	}
	return pattern && (is_quiet || takes_names(pattern));
}

static bool has_options_only(const struct ab_shell_command *m)
{
	for (uint32_t i = 1; i < m->argc; i++) {
		const struct ab_word *w = &m->argv[i];

		if (w->hole_count || w->len != 2 || *w->text != '-' ||
		    !memchr("lcwmrun", w->text[1], 7))
			return false;
	}
	return true;
}

static bool is_behind(const struct ab_dump *d, const struct ab_shell_command *m)
{
	return m->place.in == d->out && m->place.pipe_index == d->index + 1 &&
	       m->place.depth == d->depth;
}

void ab_dump_next(struct ab_check *c, const struct ab_shell_command *m)
{
	struct ab_dump *d = c->dump;

	if (d->is_read && !is_behind(d, m)) {
		c->dump = NULL;
		return;
	}
	/* grep "$P": P may be another one, and the command comes again */
	d->is_read = false;
	if (!is_behind(d, m) || !m->argc || m->redir_count || m->callee ||
	    m->assign_count) {
		ab_dump_tell(c);
	} else if (ab_word_equals(m->argv, "sort") && has_options_only(m) &&
		   m->place.out && d->index + 2 < m->place.pipe_count) {
		d->out = m->place.out;
		d->index++;
	} else if ((ab_word_equals(m->argv, "wc") && has_options_only(m)) ||
		   ((ab_word_equals(m->argv, "grep") ||
		     ab_word_equals(m->argv, "egrep")) && greps_names(m))) {
		d->is_read = true;
	} else {
		ab_dump_tell(c);
	}
}
