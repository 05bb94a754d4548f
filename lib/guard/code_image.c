/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Dockerfile: its RUN lines are commands. They act in the image that is
 * built, so what is said of this machine's files and settings alone is not
 * said of them; what leaves the machine, or comes from the network, is. Where
 * the build is given the machine's files or rights, they count as here. The
 * commands of a here-document are read, whatever it is for.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>
#include <strings.h>

#include "guard/command.h"

/* The build of podman can have directories of the machine, and that of docker
   its rights. */
static bool is_given(const struct ab_use *use)
{
	static const char *const names[] = { "--volume", "--device",
					     "--cap-add", "--privileged",
					     "--allow", "--isolation",
					     "--security-opt" };

	for (uint32_t i = 1; use && i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->hole_count || (w->len > 1 && !memcmp(w->text, "-v", 2)))
			return true;
		for (size_t k = 0; k < AB_ARRAY_LEN(names); k++) {
			size_t n = strlen(names[k]);

			if (w->len >= n && !memcmp(w->text, names[k], n))
				return true;
		}
	}
	return false;
}

static uint32_t line_end(const struct ab_word *text, uint32_t at)
{
	return at + (uint32_t)ab_seek(text->text + at, text->len - at, '\n');
}

static uint32_t skip_blanks(const struct ab_word *text, uint32_t at,
			    uint32_t end)
{
	while (at < end && memchr(" \t", text->text[at], 2))
		at++;
	return at;
}

/* The next line begins with a # : it is none of the command's. */
static bool is_remark(const struct ab_word *text, uint32_t at)
{
	at = skip_blanks(text, at, text->len);
	return at < text->len && text->text[at] == '#';
}

/* The line ends with a backslash. */
static bool goes_on(const struct ab_word *text, uint32_t at, uint32_t end)
{
	while (end > at && memchr(" \t\r", text->text[end - 1], 3))
		end--;
	return end > at && text->text[end - 1] == '\\';
}

/* The end of a command: lines that are empty or a remark are none of it. */
static uint32_t command_end(const struct ab_word *text, uint32_t at)
{
	uint32_t begin = at, end = line_end(text, at);

	while (end < text->len &&
	       (goes_on(text, begin, end) ||
		(begin != at && (is_remark(text, begin) ||
				 skip_blanks(text, begin, end) == end)))) {
		begin = end + 1;
		end = line_end(text, begin);
	}
	return end;
}

/* RUN <<X, or with a command before it: the line that ends it, or the end of
   the text, and in *body where it begins. */
static uint32_t document_end(const struct ab_word *text, uint32_t at,
			     uint32_t end, uint32_t *body)
{
	const char *mark = memmem(text->text + at, end - at, "<<", 2);
	uint32_t from = mark ? (uint32_t)(mark - text->text) + 2 : end, n = 0;

	*body = end < text->len ? end + 1 : end;
	while (from < end && memchr("-\"' ", text->text[from], 4))
		from++;
	while (from + n < end && !memchr(" \t\"';<>|&)",
					 text->text[from + n], 10))
		n++;
	if (!n || text->text[from] == '<')
		return end;
	for (uint32_t i = *body; i < text->len;) {
		uint32_t stop = line_end(text, i);
		uint32_t first = skip_blanks(text, i, stop);

		if (stop - first == n &&
		    !memcmp(text->text + first, text->text + from, n))
			return stop;
		i = stop + 1;
	}
	return text->len;
}

/* Without the remarks in it and its line ends. */
static bool join_lines(struct ab_check *c, const struct ab_word *text,
		       uint32_t at, uint32_t end, struct ab_word *w)
{
	char *out;
	uint32_t n = 0;

	if (!ab_word_slice(c, text, at, end - at, w))
		return false;
	if (w->hole_count || !memchr(w->text, '\n', w->len))
		return true;
	out = ab_check_alloc(c, w->len);
	if (!out)
		return false;
	for (uint32_t i = at; i < end;) {
		uint32_t stop = line_end(text, i);

		stop = stop < end ? stop : end;
		if (i == at || !is_remark(text, i)) {
			memcpy(out + n, text->text + i, stop - i);
			n += stop - i;
			while (n && memchr(" \t\r", out[n - 1], 3))
				n--;
			if (stop < end && n && out[n - 1] == '\\')
				n--;
		}
		i = stop + 1;
	}
	w->text = out;
	w->len = n;
	w->map = NULL;
	w->map_count = 0;
	return true;
}

/* RUN ["make", "x"]: the words of one command. */
static bool list_words(struct ab_check *c, struct ab_word *w)
{
	struct ab_word *words = ab_check_alloc(c, 64 * sizeof(*words));
	uint32_t count = 0, at = 0;

	while (words && count < 64 && at < w->len) {
		const char *s = memchr(w->text + at, '"', w->len - at);
		const char *end = s ? memchr(s + 1, '"',
					     (size_t)(w->text + w->len - s - 1))
				    : NULL;

		if (!end)
			break;
		if (!ab_word_slice(c, w, (uint32_t)(s - w->text) + 1,
				   (uint32_t)(end - s) - 1, &words[count]))
			return false;
		count++;
		at = (uint32_t)(end - w->text) + 1;
	}
	return count && ab_shell_join(c->run, words, count, w);
}

/* One RUN from behind its name; where it ends. */
static uint32_t run_line(struct ab_check *c, const struct ab_word *text,
			 uint32_t at, bool is_here)
{
	uint32_t end = command_end(text, at), body, stop, from;
	struct ab_word w;
	bool is_image = !is_here;

	at = skip_blanks(text, at, end);
	while (end - at > 2 && !memcmp(text->text + at, "--", 2)) {
		from = at;
		while (at < end && !memchr(" \t\\\n", text->text[at], 4))
			at++;
		if (at - from > 10 &&
		    !memcmp(text->text + from, "--security", 10))
			is_image = false;
		while (at < end && memchr(" \t\\\n", text->text[at], 4))
			at++;
	}
	stop = document_end(text, at, end, &body);
	c->is_image = is_image;
	if (stop > end && end - at > 2 &&
	    !memcmp(text->text + at, "<<", 2)) {
		if (ab_word_slice(c, text, body, stop - body, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	} else if (stop > end) {
		if (ab_word_slice(c, text, at, stop - at, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	} else if (join_lines(c, text, at, end, &w)) {
		if (!w.len || *w.text != '[' || list_words(c, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	}
	c->is_image = false;
	return stop;
}

void ab_check_image(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *text)
{
	bool is_here = is_given(use);

	for (uint32_t i = 0; i < text->len; i++) {
		uint32_t stop = line_end(text, i);

		i = skip_blanks(text, i, stop);
		if (stop - i > 8 && !strncasecmp(text->text + i, "onbuild ", 8))
			i = skip_blanks(text, i + 8, stop);
		if (stop - i > 4 && !strncasecmp(text->text + i, "run", 3) &&
		    memchr(" \t\\", text->text[i + 3], 3))
			stop = run_line(c, text, i + 4, is_here);
		i = stop;
	}
}
