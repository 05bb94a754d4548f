/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that a builtin of bash keeps and runs itself: `bind -x` at a key,
 * `mapfile -C` for lines that it reads. The latter is a loop over the lines,
 * and is judged as one that is written out: what it does to the shell is done
 * once, many times or never.
 *
 * Refuses to know how many lines there are between two calls.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

/* bind -x '"\C-x": COMMAND': what stands behind the keys, in quotes or not. */
static bool bound_command(struct ab_check *c, const struct ab_word *w,
			  struct ab_word *out)
{
	const char *s = w->text, *end = s + w->len, *at = s;

	while (at < end && memchr(" \t", *at, 2))
		at++;
	if (at < end && memchr("\"'", *at, 2)) {
		char quote = *at++;

		while (at < end && *at != quote)
			at += at + 1 < end && *at == '\\' ? 2 : 1;
	}
	at = at < end ? memchr(at, ':', (size_t)(end - at)) : NULL;
	if (!at)
		return false;
	while (++at < end && memchr(" \t", *at, 2))
		;
	if (end - at > 1 && memchr("\"'", *at, 2) && end[-1] == *at) {
		at++;
		end--;
	}
	return ab_word_slice(c, w, (uint32_t)(at - s), (uint32_t)(end - at),
			     out);
}

/* `TEXT INDEX LINE` for each line. The name is none that a text would have. */
static void loop_over(struct ab_check *c, const struct ab_word *w,
		      struct ab_word *out)
{
	static const char head[] = "while IFS= read -r _ab_line; do\n";
	static const char tail[] = " \"${#_ab_line}\" \"$_ab_line\"\ndone";
	uint32_t at = sizeof(head) - 1;
	char *text = ab_check_alloc(c, (size_t)w->len + sizeof(head) +
					       sizeof(tail));
	struct ab_hole *holes = ab_check_alloc(
		c, (size_t)(w->hole_count + 1) * sizeof(*holes));

	if (!text || !holes)
		return;
	memcpy(text, head, at);
	memcpy(text + at, w->text, w->len);
	memcpy(text + at + w->len, tail, sizeof(tail) - 1);
	for (uint32_t i = 0; i < w->hole_count; i++) {
		holes[i] = w->holes[i];
		holes[i].at += at;
	}
	*out = (struct ab_word){ .text = text, .holes = holes,
				 .len = at + w->len + sizeof(tail) - 1,
				 .hole_count = w->hole_count,
				 .span = w->span };
}

/* It reads stdin, up to the ends of lines. */
static bool reads_lines(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->hole_count || (w->len && *w->text == '-' &&
				      (memchr(w->text, 'u', w->len) ||
				       memchr(w->text, 'd', w->len))))
			return false;
	}
	return true;
}

/* What mapfile reads, for a loop that reads the same. */
static struct ab_stream *lines_of(struct ab_check *c, const struct ab_use *use)
{
	struct ab_stream *in = ab_shell_stream(c->run, use->words->span);
	struct ab_word *kept;

	if (!in)
		return NULL;
	in->taint = use->in_taint;
	if (use->in_text && reads_lines(use)) {
		kept = ab_arena_high(c->high, sizeof(*kept));
		if (!kept || !ab_keep_word(c, use->in_text, kept))
			return NULL;
		in->value = kept;
	}
	return in;
}

void ab_callback(struct ab_check *c, const struct ab_use *use,
		 struct ab_word *text)
{
	const char *name = use->program->name;
	const struct ab_word w = *text;

	c->when = !strcmp(name, "bind") || !strcmp(name, "complete") ?
			  AB_SHELL_LATER : AB_SHELL_NOW;
	if (!strcmp(name, "bind") && !bound_command(c, &w, text))
		*text = w;
	if (!strcmp(name, "mapfile") || !strcmp(name, "readarray")) {
		loop_over(c, &w, text);
		c->own_in = lines_of(c, use);
		c->is_broken |= !c->own_in;
	}
}
