/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program prints that passes on what it reads, or some of its lines,
 * where all of that is known: here-documents, files that the text wrote, what
 * came through a pipe. Of other filters only that their output is made of it:
 * that and more, which nobody knows. Refuses to follow much of either, and
 * expressions that are more than plain words (prints_sed.c).
 */
#include "config.h"

#include "guard/files.h"
#include "guard/prints.h"

#include <string.h>

#include "guard/command.h"

#define MAX_PAID (1u << 18)
#define MAX_JOINS 16 /* files of one command */
#define MAX_DIGITS 7 /* of a number of lines */

struct reading {
	struct ab_check *c;
	const struct ab_word *in; /* stdin; NULL: not known */
	struct ab_word text;	  /* all of it that is known, in order */
	uint32_t joins;
	bool has_text, has_other;
	bool is_lines; /* a line ends where its file does */
	bool is_either; /* one that is not known may hold one of several */
};

/* What is done to texts in one check is paid for; false: no more of it. */
bool ab_print_pay(struct ab_check *c, uint32_t bytes)
{
	if (bytes > MAX_PAID - c->printed)
		return false;
	c->printed += bytes;
	return true;
}

/* What was read so far, and its last line ends. */
static bool end_line(struct reading *r)
{
	static const struct ab_word newline = { .text = "\n", .len = 1 };
	struct ab_word all;

	if (!r->is_lines || (r->text.len &&
			     r->text.text[r->text.len - 1] == '\n'))
		return true;
	if (!ab_file_join(r->c, &r->text, &newline, &all))
		return false;
	r->text = all;
	return true;
}

/* <(...) as all of the word: what the commands in it write. */
static const struct ab_word *proc_text(const struct ab_word *w)
{
	const struct ab_hole *h = w->hole_count == 1 && w->len == w->holes->len
					  ? w->holes
					  : NULL;

	return h && h->kind == AB_HOLE_PROC && h->origin &&
			       h->origin->kind == AB_STREAM_PROC_IN
		       ? h->origin->value
		       : NULL;
}

/* A file, or (NULL) stdin. */
static void read_text(struct reading *r, const struct ab_word *w)
{
	const struct ab_word *from = !w || ab_is_stdin_name(w)
					     ? r->in
					     : ab_file_content(r->c, w);
	struct ab_word all;

	if (!from && w) {
		from = proc_text(w);
		/* without the end of its last line */
		r->is_lines |= from != NULL;
	}
	r->has_other |= w && ab_file_is_loose(r->c, w);
	if (!from || !from->len || ab_file_is_copy(from)) {
		r->has_other = true;
		r->is_either |= w && from && !from->len &&
				ab_file_is_either(r->c, w);
	} else if (!r->has_text) {
		r->text = *from;
		r->has_text = true;
	} else if (r->text.len + from->len <= AB_MAX_PRINTED &&
		   r->joins++ < MAX_JOINS &&
		   ab_print_pay(r->c, r->text.len + from->len) &&
		   end_line(r) && ab_file_join(r->c, &r->text, from, &all)) {
		r->text = all;
	} else {
		r->has_other = true;
	}
}

/* The same; cat part_*: those of the text, and who knows what else. */
static void read_one(struct reading *r, const struct ab_word *w)
{
	struct ab_word all, name;
	uint32_t i = 0;

	if (w && AB_UNLIKELY(r->c->written_count) && ab_file_is_pattern(w) &&
	    ab_file_pattern(r->c, w, &all)) {
		while (ab_file_taken(r->c, &all, &i, &name))
			read_text(r, &name);
	}
	read_text(r, w);
}

/* --- head and tail ------------------------------------------------------ */

struct part {
	int64_t count;
	bool is_tail, is_bytes;
	char sign; /* in front of the number; 0: none */
};

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool part_number(struct part *p, const char *s, uint32_t n)
{
	p->sign = n && (*s == '+' || *s == '-') ? *s : '\0';
	s += p->sign != '\0';
	n -= p->sign != '\0';
	p->count = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!is_digit(s[i]) || i == MAX_DIGITS)
			return false;
		p->count = p->count * 10 + (s[i] - '0');
	}
	return n;
}

/* -5, -n5, -n 5, --lines=5: false: another option, or not known. */
static bool part_option(struct part *p, const struct ab_word *argv,
			uint32_t argc, uint32_t *i)
{
	static const char long_lines[] = "--lines=";
	const struct ab_word *w = &argv[*i];
	uint32_t skip = 2;

	if (ab_word_equals(w, "-q"))
		return true;
	if (is_digit(w->text[1]))
		return part_number(p, w->text + 1, w->len - 1);
	if (w->len > 8 && !memcmp(w->text, long_lines, 8))
		skip = 8;
	else if (w->text[1] != 'n' && w->text[1] != 'c')
		return false;
	p->is_bytes = w->text[1] == 'c';
	if (w->len > skip)
		return part_number(p, w->text + skip, w->len - skip);
	return ++*i < argc && !argv[*i].hole_count &&
	       part_number(p, argv[*i].text, argv[*i].len);
}

/* Behind n lines or bytes. */
static uint32_t offset_of(const struct ab_word *w, int64_t n, bool is_bytes)
{
	uint32_t at = 0;

	if (is_bytes)
		return n < w->len ? (uint32_t)n : w->len;
	while (n-- > 0 && at < w->len) {
		const char *end = memchr(w->text + at, '\n', w->len - at);

		at = end ? (uint32_t)(end + 1 - w->text) : w->len;
	}
	return at;
}

static int64_t units_of(const struct ab_word *w, bool is_bytes)
{
	int64_t n = 0;

	if (is_bytes)
		return w->len;
	for (uint32_t at = 0; at < w->len; n++)
		at += offset_of(&(struct ab_word){ .text = w->text + at,
						   .len = w->len - at },
				1, false);
	return n;
}

static bool cut_part(struct reading *r, const struct part *p)
{
	int64_t n = p->count, all;
	uint32_t at;

	if (r->text.hole_count || !ab_print_pay(r->c, r->text.len))
		return false;
	all = units_of(&r->text, p->is_bytes);
	if (p->is_tail)
		n = p->sign == '+' ? n - (n > 0) : all > n ? all - n : 0;
	else if (p->sign == '-')
		n = all > n ? all - n : 0;
	at = offset_of(&r->text, n, p->is_bytes);
	return ab_word_slice(r->c, &r->text, p->is_tail ? at : 0,
			     p->is_tail ? UINT32_MAX : at, &r->text);
}

static bool print_part(struct reading *r, const struct ab_word *argv,
		       uint32_t argc, bool is_tail)
{
	struct part part = { .count = 10, .is_tail = is_tail };
	uint32_t files = 0;

	for (uint32_t i = 1; i < argc; i++) {
		if (argv[i].len > 1 && *argv[i].text == '-') {
			if (argv[i].hole_count ||
			    !part_option(&part, argv, argc, &i))
				return false;
			continue;
		}
		read_one(r, &argv[i]);
		files++;
	}
	if (!files)
		read_one(r, NULL);
	/* of several it tells the names, too */
	return files < 2 && r->has_text && !r->has_other && cut_part(r, &part);
}

/* --- grep of plain words ------------------------------------------------ */

static bool is_plain_pattern(const struct ab_word *w)
{
	if (w->hole_count || !w->len)
		return false;
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr(".[]*^$\\+?(){}|\n", w->text[i], 15))
			return false;
	}
	return true;
}

/* The lines that have it, or (is_other) have it not. */
static bool pick_lines(struct reading *r, const struct ab_word *pattern,
		       bool is_other)
{
	const struct ab_word *w = &r->text;
	uint32_t len = 0;
	char *out;

	if (w->hole_count || w->len > AB_MAX_PRINTED ||
	    !ab_print_pay(r->c, w->len))
		return false;
	out = ab_check_alloc(r->c, w->len + 2);
	if (!out)
		return false;
	for (uint32_t at = 0, end; at < w->len; at = end) {
		const char *newline = memchr(w->text + at, '\n', w->len - at);

		end = newline ? (uint32_t)(newline + 1 - w->text) : w->len;
		if (is_other == (memmem(w->text + at, end - at, pattern->text,
					pattern->len) != NULL))
			continue;
		memcpy(out + len, w->text + at, end - at);
		len += end - at;
	}
	/* it ends the last line */
	if (len && out[len - 1] != '\n')
		out[len++] = '\n';
	r->text = (struct ab_word){ .text = out, .len = len,
				    .span = w->span };
	return true;
}

static bool print_grep(struct reading *r, const struct ab_word *argv,
		       uint32_t argc)
{
	const struct ab_word *pattern = NULL;
	bool is_other = false;
	uint32_t files = 0;

	for (uint32_t i = 1; i < argc; i++) {
		const struct ab_word *w = &argv[i];

		if (w->len > 1 && *w->text == '-') {
			for (uint32_t k = 1; k < w->len; k++) {
				if (!memchr("FEvha", w->text[k], 5))
					return false;
				is_other |= w->text[k] == 'v';
			}
		} else if (!pattern) {
			pattern = w;
		} else {
			read_one(r, w);
			files++;
		}
	}
	if (!files)
		read_one(r, NULL);
	return files < 2 && pattern && is_plain_pattern(pattern) &&
	       r->has_text && !r->has_other &&
	       pick_lines(r, pattern, is_other);
}

/* --- the others --------------------------------------------------------- */

static bool print_cat(struct reading *r, const struct ab_word *argv,
		      uint32_t argc)
{
	for (uint32_t i = 1; i < argc; i++) {
		if (argv[i].len > 1 && *argv[i].text == '-' &&
		    !ab_word_equals(&argv[i], "-u") &&
		    !ab_word_equals(&argv[i], "--"))
			return false;
	}
	for (uint32_t i = 1; i < argc; i++) {
		if (argv[i].len < 2 || *argv[i].text != '-')
			read_one(r, &argv[i]);
	}
	if (argc == 1)
		read_one(r, NULL);
	return r->has_text && !r->has_other;
}

static bool print_tee(struct reading *r)
{
	read_one(r, NULL);
	return r->has_text;
}

static bool print_sed(struct reading *r, const struct ab_word *argv,
		      uint32_t argc)
{
	struct ab_sed sed = { 0 };
	uint32_t files = 0;

	r->is_lines = true;
	for (uint32_t i = 1; i < argc; i++) {
		if (ab_sed_word(&sed, argv, argc, &i))
			continue;
		read_one(r, &argv[i]);
		files++;
	}
	if (!files)
		read_one(r, NULL);
	return r->has_text && !r->has_other && !sed.is_odd &&
	       ab_sed_edit(r->c, &sed, &r->text);
}

/* A name that one of these may have: what is dear comes behind it. */
static bool print_known(struct reading *r, const struct ab_word *name,
			const struct ab_word *argv, uint32_t argc)
{
	if (ab_word_equals(name, "cat") || ab_word_equals(name, "gcat"))
		return print_cat(r, argv, argc);
	if (ab_word_equals(name, "tee"))
		return print_tee(r);
	if (ab_word_equals(name, "head") || ab_word_equals(name, "ghead"))
		return print_part(r, argv, argc, false);
	if (ab_word_equals(name, "tail") || ab_word_equals(name, "gtail"))
		return print_part(r, argv, argc, true);
	if (ab_word_equals(name, "sed") || ab_word_equals(name, "gsed"))
		return print_sed(r, argv, argc);
	if (ab_word_equals(name, "grep") || ab_word_equals(name, "fgrep") ||
	    ab_word_equals(name, "egrep"))
		return print_grep(r, argv, argc);
	return false;
}

/* Of words like `command` in front of a program. */
static uint32_t words_in_front(const struct ab_word *argv, uint32_t argc)
{
	static const char *const names[] = { "command", "builtin", "env",
					     "nohup", "sudo" };
	uint32_t i = 0;

	for (bool any = true; any && i + 1 < argc; i += any) {
		any = false;
		for (size_t k = 0; k < AB_ARRAY_LEN(names) && !any; k++)
			any = ab_word_equals(&argv[i], names[k]);
	}
	return i;
}

static struct ab_word base_of(const struct ab_word *w)
{
	uint32_t base = ab_name_base(w);
	struct ab_word name = *w;

	name.text += base;
	name.len -= base;
	return name;
}

bool ab_prints(struct ab_check *c, const struct ab_word *argv, uint32_t argc,
	       const struct ab_word *in, struct ab_word *out)
{
	struct reading r = { .c = c, .in = in };
	uint32_t skip;
	struct ab_word name;

	/* cat <(...) needs no file */
	if (!argc || AB_LIKELY(!in && !c->has_files &&
			       !argv[argc - 1].hole_count))
		return false;
	skip = words_in_front(argv, argc);
	name = base_of(&argv[skip]);
	if (!print_known(&r, &name, argv + skip, argc - skip))
		return false;
	*out = r.text;
	return true;
}

/* More follows that nobody knows. */
bool ab_print_more(struct ab_check *c, uint32_t taint, struct ab_word *text)
{
	struct ab_hole hole = { .kind = AB_HOLE_BYTES };
	struct ab_word rest = { .text = "", .holes = &hole, .hole_count = 1 };
	struct ab_word all;

	hole.origin = ab_shell_stream(c->run, text->span);
	if (!hole.origin)
		return false;
	hole.origin->taint = taint | AB_TAINT_FILE;
	if (!ab_file_join(c, text, &rest, &all))
		return false;
	*text = all;
	return true;
}

bool ab_prints_of(struct ab_check *c, const struct ab_word *argv, uint32_t argc,
		  const struct ab_word *in, struct ab_word *out)
{
	struct reading r = { .c = c, .in = in, .is_lines = true };
	const struct ab_program *p;
	struct ab_word name;
	uint32_t skip;

	if (AB_LIKELY(!in && !c->has_files) || !argc ||
	    (c->out_taint & AB_TAINT_DECODE))
		return false;
	skip = words_in_front(argv, argc);
	name = base_of(&argv[skip]);
	p = name.hole_count ? NULL
			    : ab_pack_find(c->pack, name.text, name.len);
	if (!p || !p->is_pass)
		return false;
	for (uint32_t i = skip + 1; i < argc; i++) {
		if (argv[i].len && *argv[i].text != '-')
			read_one(&r, &argv[i]);
	}
	if (!r.has_text && !r.is_either)
		read_one(&r, NULL);
	*out = r.has_text ? r.text : (struct ab_word){ .text = "" };
	return (r.has_text || r.is_either) &&
	       ab_print_more(c, c->out_taint, out);
}
