/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find and xargs: the commands they run, with the words that they put in; what
 * would be read of names that are found is judged as if it were named. Spec:
 * DESIGN.md section 7.
 */
#include "config.h"

#include "guard/found.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/command.h"
#include "guard/files.h"
#include "guard/git.h"

/* What the marks of a word may add to it: more than any usual command, and a
   text of marks alone does not become its square. */
#define MAX_FILLED 32768

/* How often the mark is in the word. */
static uint32_t count_marks(const struct ab_word *w, const char *mark,
			    uint32_t n)
{
	const char *end = w->text + w->len, *at = w->text;
	uint32_t count = 0;

	while ((at = memmem(at, (size_t)(end - at), mark, n)) != NULL) {
		count++;
		at += n;
	}
	return count;
}

/* The word with the value in place of each mark: `to` has room for both. */
static void fill(const struct ab_word *w, const char *mark, uint32_t n,
		 const struct ab_word *value, struct ab_word *to, char *text,
		 struct ab_hole *holes)
{
	const char *from = w->text, *end = w->text + w->len;
	uint32_t own = 0, len = 0;

	to->hole_count = 0;
	for (const char *hit = from; hit; from = hit + n) {
		hit = memmem(from, (size_t)(end - from), mark, n);
		uint32_t upto = (uint32_t)((hit ? hit : end) - w->text);
		uint32_t shift = len - (uint32_t)(from - w->text);

		for (; own < w->hole_count && w->holes[own].at < upto; own++) {
			holes[to->hole_count] = w->holes[own];
			holes[to->hole_count++].at += shift;
		}
		memcpy(text + len, from, upto - (size_t)(from - w->text));
		len = upto + shift;
		if (!hit)
			break;
		for (uint32_t k = 0; k < value->hole_count; k++) {
			holes[to->hole_count] = value->holes[k];
			holes[to->hole_count++].at += len;
		}
		memcpy(text + len, value->text, value->len);
		len += value->len;
	}
	for (; own < w->hole_count; own++) {
		holes[to->hole_count] = w->holes[own];
		holes[to->hole_count++].at += len - w->len;
	}
	to->text = text;
	to->len = len;
	to->holes = holes;
	to->map = NULL;
	to->map_count = 0;
}

/* The words of a find -exec with `{}` put in wherever it is, or of xargs with
   its input. */
bool ab_fill_words(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *from, uint32_t count,
		   const char *mark, const struct ab_word *value,
		   struct ab_word *to)
{
	uint32_t n = (uint32_t)strlen(mark);

	(void)use;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_word *w = &from[i];
		uint32_t marks = n ? count_marks(w, mark, n) : 0;
		size_t more = (size_t)marks * value->len;
		size_t hole_count = w->hole_count +
				    (size_t)marks * value->hole_count;
		struct ab_hole *holes = NULL;
		char *text;

		to[i] = *w;
		if (!marks)
			continue;
		if (AB_UNLIKELY(marks > 1 && (more > MAX_FILLED ||
					      hole_count > MAX_FILLED / 16))) {
			c->is_broken = true;
			return false;
		}
		text = ab_check_alloc(c, w->len + more + 1);
		if (hole_count)
			holes = ab_check_alloc(c, hole_count * sizeof(*holes));
		if (!text || (hole_count && !holes))
			return false;
		fill(w, mark, n, value, &to[i], text, holes);
	}
	return true;
}

/* One hole that stands for all arguments that stdin brings. */
bool ab_stdin_word(struct ab_check *c, const struct ab_use *use,
		   struct ab_word *out)
{
	struct ab_hole *h = ab_check_alloc(c, sizeof(*h));

	if (!h)
		return false;
	*h = (struct ab_hole){ .kind = AB_HOLE_FIELDS };
	if (use->in_taint) {
		h->origin = ab_shell_stream(c->run, use->words[0].span);
		if (!h->origin)
			return false;
		h->origin->taint = use->in_taint;
	}
	*out = (struct ab_word){ .text = "", .holes = h, .hole_count = 1,
				 .span = use->words[0].span };
	return true;
}

/* The first hole from *at on, in front of `end` or there. */
static bool has_hole(const struct ab_word *text, uint32_t *at, uint32_t end)
{
	bool has = false;

	for (; *at < text->hole_count && text->holes[*at].at <= end; ++*at)
		has = true;
	return has;
}

/* What cuts a text into words; is_raw: quotes are bytes like others. */
struct cuts {
	char bytes[4];
	uint32_t count;
	bool is_raw, is_line; /* a line: without the blanks it begins with */
};

/* The end of the word at `i`: xargs(1) reads quotes and backslashes as a shell
   does, but for lines, which end them. */
static uint32_t word_end(const struct ab_word *text, uint32_t i,
			 const struct cuts *cuts, bool *is_quoted)
{
	char quote = '\0';

	for (; i < text->len; i++) {
		char ch = text->text[i];

		if (quote && ch != '\n') {
			quote = ch == quote ? '\0' : quote;
			continue;
		}
		if (memchr(cuts->bytes, ch, cuts->count))
			break;
		if (cuts->is_raw || !memchr("'\"\\", ch, 3))
			continue;
		*is_quoted = true;
		if (ch != '\\')
			quote = ch;
		else
			i += i + 1 < text->len;
	}
	return i;
}

/* Without its quotes. */
static bool unquote(struct ab_check *c, struct ab_word *w)
{
	size_t size = (w->hole_count + 1) * sizeof(struct ab_hole);
	char *text = ab_check_alloc(c, w->len + 1), quote = '\0';
	struct ab_hole *holes = ab_check_alloc(c, size);
	uint32_t n = 0, hole = 0;

	if (!text || !holes)
		return false;
	for (uint32_t i = 0; i <= w->len; i++) {
		char ch = i < w->len ? w->text[i] : '\0';

		for (; hole < w->hole_count && w->holes[hole].at <= i; hole++) {
			holes[hole] = w->holes[hole];
			holes[hole].at = n;
		}
		if (i == w->len)
			break;
		if (quote ? ch == quote : memchr("'\"", ch, 2) != NULL)
			quote = quote ? '\0' : ch;
		else if (!quote && ch == '\\' && i + 1 < w->len)
			text[n++] = w->text[++i];
		else
			text[n++] = ch;
	}
	w->text = text;
	w->len = n;
	w->holes = holes;
	w->hole_count = hole;
	return true;
}

/* The words of a text, at most `room`. What is not known is a word, or a part
   of one, whatever stands around it. */
static uint32_t split_words(struct ab_check *c, const struct ab_word *text,
			    const struct cuts *cuts, struct ab_word *out,
			    uint32_t room)
{
	uint32_t n = 0, i = 0, hole = 0;

	while (n < room && (i < text->len || hole < text->hole_count)) {
		uint32_t next = hole < text->hole_count ? text->holes[hole].at
							: text->len;
		bool is_quoted = false;

		while (i < text->len && i < next &&
		       (memchr(cuts->bytes, text->text[i], cuts->count) ||
			(cuts->is_line && memchr(" \t", text->text[i], 2))))
			i++;
		uint32_t from = i;

		i = word_end(text, i, cuts, &is_quoted);
		if (!has_hole(text, &hole, i) && i == from)
			continue;
		if (!ab_word_slice(c, text, from, i - from, &out[n]) ||
		    (is_quoted && !unquote(c, &out[n])))
			return 0;
		n++;
	}
	return n;
}

#define MAX_INPUT 256 /* words of a known stdin that xargs appends */
#define MAX_SINGLE 16 /* of them each alone */

/* --del=X for --delimiter. */
static bool is_long(const struct ab_word *w, const char *name)
{
	const char *sign = memchr(w->text, '=', w->len);
	size_t n = sign ? (size_t)(sign - w->text) : w->len;

	return n > 2 && n <= strlen(name) && !memcmp(w->text, name, n);
}

/* -x, -xVALUE, -rx or the long form among the words before the command. */
static bool has_option(const struct ab_use *use, char letter, const char *name)
{
	static const char takers[] = "aEeIiLlnPsd"; /* the rest of the word */
	uint32_t end = use->operand_count ? use->operands[0] : use->count;

	for (uint32_t i = 1; i < end; i++) {
		const struct ab_word *w = &use->words[i];

		if (is_long(w, name))
			return true;
		if (w->len < 2 || w->text[0] != '-' || w->text[1] == '-')
			continue;
		for (uint32_t at = 1; at < w->len; at++) {
			if (w->text[at] == letter)
				return true;
			if (memchr(takers, w->text[at], sizeof(takers) - 1))
				break;
		}
	}
	return false;
}

/* The option that the value belongs to is this one. */
static bool is_of(const struct ab_use *use, const struct ab_value *v,
		  char letter, const char *name)
{
	const struct ab_word *o = &use->words[v->option];
	uint32_t last = v->word == v->option ? v->at : o->len;

	if (o->len > 2 && !memcmp(o->text, "--", 2))
		return is_long(o, name);
	return last && last <= o->len && o->text[last - 1] == letter;
}

/* -a FILE: the value, and in *w what stands for it alone; or NULL. */
static const struct ab_value *arg_file(const struct ab_use *use,
				       struct ab_word *w)
{
	const struct ab_value *found = NULL;

	for (uint32_t i = 0; i < use->value_count; i++) {
		if (is_of(use, &use->values[i], 'a', "--arg-file"))
			found = &use->values[i];
	}
	if (!found || !w)
		return found;
	*w = use->words[found->word];
	w->text += found->at;
	w->len -= found->at;
	if (found->at && w->hole_count) /* where they stand is not known */
		w->len = 0;
	return found;
}

struct only {
	ab_guard_report *report;
	void *user;
	unsigned what;
};

static void on_file(void *user, const struct ab_shell_found *f)
{
	const struct only *only = user;

	if (((only->what & AB_ONLY_READ) && !strncmp(f->rule, "cred.", 5)) ||
	    ((only->what & AB_ONLY_CHANGED) && !strncmp(f->rule, "fs.", 3)))
		only->report(only->user, f);
}

/* What the words would read or change is judged, and nothing else about
   them. */
void ab_run_reading(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *words, uint32_t count,
			unsigned what)
{
	struct only only = { c->report, c->user, what };
	ab_guard_command *told = c->told;

	/* what is pushed would be judged later, and for all it does */
	if (c->is_probe || c->is_reading)
		return;
	c->report = on_file;
	c->user = &only;
	c->told = NULL;
	c->is_reading = true;
	if (use)
		ab_run_words(c, use, words, count);
	else
		ab_check_words(c, words, count, 0, NULL, false);
	c->is_reading = false;
	c->report = only.report;
	c->user = only.user;
	c->told = told;
}

/* The program of that name, with or without its directory; or NULL. */
static const struct ab_program *program_of(struct ab_check *c,
					   const struct ab_word *name)
{
	uint32_t base = ab_name_base(name);

	return ab_pack_find(c->pack, name->text + base, name->len - base);
}

/* Of a shell more than what the words say by themselves is judged: what its
   text does with the names. */
static bool is_shell(struct ab_check *c, const struct ab_word *name)
{
	const struct ab_program *p = program_of(c, name);

	return p && ab_has_role(p, AB_ROLE_SHELL);
}

/* CMD NAMES, or with a mark CMD for each of them where the mark is: all[] has
   room behind its count words. */
static void read_names(struct ab_check *c, const struct ab_use *use,
		       const struct ab_names *names, const char *mark,
		       const struct ab_word *words, struct ab_word *all,
		       uint32_t count)
{
	uint32_t halves = !names ? 0 : names->is_flat ? 2 : 1;
	bool runs = halves == 1 && !names->is_read && count > 2 &&
		    is_shell(c, words);

	for (uint32_t h = 0; h < halves; h++) {
		const struct ab_word *from = names->words + h * names->count;
		unsigned what = h			     ? AB_ONLY_CHANGED :
				halves == 2 || names->is_read ? AB_ONLY_READ :
						AB_ONLY_READ | AB_ONLY_CHANGED;

		for (uint32_t i = 0; mark && i < names->count; i++) {
			if (!ab_fill_words(c, use, words, count, mark,
					   &from[i], all))
				return;
			ab_run_reading(c, use, all, count, what);
			if (runs)
				ab_run_words(c, use, all, count);
		}
		if (mark)
			continue;
		memcpy(all + count, from, names->count * sizeof(*all));
		ab_run_reading(c, use, all, count + names->count, what);
		if (runs)
			ab_run_words(c, use, all, count + names->count);
	}
}

/* The words, and what their names would read or change: `echo "$l" | xargs`. */
static void run_found(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *words, uint32_t count)
{
	ab_run_words(c, use, words, count);
	if (AB_UNLIKELY(c->has_names))
		ab_check_found(c, words, count);
}

/* The command with each line of a known stdin where the mark is; `any` stands
   for those that are not known. */
static void run_marked(struct ab_check *c, const struct ab_use *use,
		       const char *mark, const struct cuts *cuts,
		       const struct ab_word *any,
		       const struct ab_word *words, struct ab_word *all,
		       uint32_t count)
{
	AB_UNINITIALIZED struct ab_word lines[MAX_SINGLE + 1];
	uint32_t n = 0;

	if (use->in_text)
		n = split_words(c, use->in_text, cuts, lines, MAX_SINGLE);
	if (!n || n == MAX_SINGLE || c->in_is_loose)
		lines[n++] = *any;
	for (uint32_t i = 0; i < n && !c->is_broken; i++) {
		if (ab_fill_words(c, use, words, count, mark, &lines[i], all))
			run_found(c, use, all, count);
	}
}

/* What git or a list of files told of the words that it makes of its input. */
static const void *note_of(const struct ab_use *use, const struct ab_stream *in)
{
	if (!in || !ab_git_is_all(in))
		return NULL;
	if (arg_file(use, NULL))
		return NULL;
	/* at a delimiter of its own a name may end anywhere */
	if (has_option(use, 'd', "--delimiter"))
		return in->note == &ab_git_notes[AB_GIT_NAMES] ? in->note
							       : NULL;
	if (ab_names_noted(in))
		return ab_names_are_inside(in) ? &ab_git_notes[AB_GIT_FILES]
					       : NULL;
	return in->note;
}

/* X as it stands, or as \n, \x3a, \072. */
static char cut_of(const char *s, uint32_t len)
{
	static const char names[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
	uint32_t base = len > 2 && s[1] == 'x' ? 16 : 8, value = 0;
	const char *name;

	if (len < 2 || *s != '\\')
		return *s;
	name = memchr(names, s[1], sizeof(names) - 1);
	if (name)
		return bytes[name - names];
	for (uint32_t i = base == 16 ? 2 : 1; i < len && i < 5; i++) {
		char ch = (char)(s[i] | 0x20);

		value *= base;
		if (s[i] >= '0' && s[i] <= '9')
			value += (uint32_t)(s[i] - '0');
		else if (base == 16 && ch >= 'a' && ch <= 'f')
			value += (uint32_t)(ch - 'a') + 10;
		else
			return s[1];
	}
	return (char)value;
}

/* What -d says; or \n. */
static char delimiter(const struct ab_use *use)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];

		if (w->len > v->at && is_of(use, v, 'd', "--delimiter"))
			return cut_of(w->text + v->at, w->len - v->at);
	}
	return '\n';
}

/* -0 and -d: not at blanks; -I: at lines alone. */
static void find_cuts(const struct ab_use *use, bool has_mark,
		      struct cuts *cuts)
{
	bool is_raw = has_option(use, '0', "--null") ||
		      has_option(use, 'd', "--delimiter");

	*cuts = (struct cuts){ .bytes = " \t\n", .count = 3,
			       .is_raw = is_raw };
	if (!is_raw && !has_mark)
		return;
	cuts->is_line = !is_raw;
	cuts->bytes[0] = '\n';
	cuts->bytes[1] = is_raw ? '\0' : '\n';
	cuts->bytes[2] = is_raw ? delimiter(use) : '\n';
}

/* The names that stdin brings, or the file of -a. */
static const struct ab_names *names_in(struct ab_check *c,
				       const struct ab_use *use)
{
	const struct ab_shell_command *m = c->command;
	struct ab_word path;

	if (AB_UNLIKELY(arg_file(use, &path) != NULL)) {
		if (path.hole_count == 1 && path.holes->kind == AB_HOLE_PROC)
			return ab_names_noted(path.holes->origin);
		return path.len ? ab_names_noted(ab_list_of(c, &path)) : NULL;
	}
	return ab_names_noted(m && ab_has_stdin(m) ? m->place.in : c->in_list);
}

/* One of them is a text that reads of its stdin. */
static bool may_read(const struct ab_word *words, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct ab_word *w = &words[i];

		if (memmem(w->text, w->len, "read ", 5) ||
		    memmem(w->text, w->len, "$(cat", 5) ||
		    memmem(w->text, w->len, "$(<", 3))
			return true;
	}
	return false;
}

/* xargs sh -c 'read x; ...': what is started has no stdin, or that of xargs. */
static void run_unfed(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *words, uint32_t count)
{
	static const struct ab_word nothing = { .text = "" };
	struct ab_stream *was = c->own_in;

	if (AB_LIKELY(!may_read(words, count)) || !c->run)
		return;
	c->own_in = ab_shell_stream(c->run, words->span);
	if (c->own_in) {
		c->own_in->value = &nothing;
		ab_run_words(c, use, words, count);
	} else {
		c->is_broken = true;
	}
	c->own_in = was;
}

static void run_input(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *words, uint32_t count)
{
	const struct ab_shell_command *m = c->command;
	const struct ab_names *names = names_in(c, use);
	struct ab_word value, *all;
	struct ab_hole hole;
	const char *mark = NULL;
	struct cuts cuts;
	uint32_t extra = 0;
	char text[32];

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];

		if (!is_of(use, v, 'I', "--replace") &&
		    !is_of(use, v, 'i', "--replace"))
			continue;
		uint32_t n = w->len - v->at;

		if (n && n < sizeof(text)) {
			memcpy(text, w->text + v->at, n);
			text[n] = '\0';
			mark = text;
		}
	}
	if (!mark && has_option(use, 'i', "--replace"))
		mark = "{}";
	run_unfed(c, use, words, count);
	find_cuts(use, mark != NULL, &cuts);
	if (!ab_stdin_word(c, use, &value))
		return;
	if (value.holes->origin && names && m->place.in &&
	    m->place.in->note == names &&
	    ab_names_are_all(names, m->place.in))
		value.holes->origin->taint |= AB_TAINT_FOUND;
	if (value.holes->origin && m && ab_has_stdin(m))
		value.holes->origin->note = note_of(use, m->place.in);
	/* where the mark is it is one word, whatever is in it */
	if (mark) {
		hole = *value.holes;
		hole.kind = AB_HOLE_BYTES;
		value.holes = &hole;
	}
	all = ab_check_alloc(c, (count + MAX_INPUT + AB_MAX_STARTS) *
				       sizeof(*all));
	if (!all)
		return;
	if (mark) {
		run_marked(c, use, mark, &cuts, &value, words, all, count);
		read_names(c, use, names, mark, words, all, count);
		return;
	}
	if (!count) /* xargs alone echoes */
		return;
	memcpy(all, words, count * sizeof(*all));
	if (use->in_text)
		extra = split_words(c, use->in_text, &cuts, all + count,
				    MAX_INPUT);
	if (!use->in_text || extra == MAX_INPUT || c->in_is_loose)
		all[count + extra++] = value;
	run_found(c, use, all, count + extra);
	/* sh -c gets one of them at a time; not again for each xargs in it */
	if (c->is_single) {
		read_names(c, use, names, NULL, words, all, count);
		return;
	}
	c->is_single = true;
	for (uint32_t i = 1; i < extra && i < MAX_SINGLE; i++) {
		all[count] = all[count + i];
		ab_run_words(c, use, all, count + 1);
	}
	c->is_single = false;
	read_names(c, use, names, NULL, words, all, count);
}

/* xargs -a FILE: its stdin is left to what it runs. */
static void run_arg_file(struct ab_check *c, const struct ab_use *use,
			 const struct ab_word *path,
			 const struct ab_word *words, uint32_t count)
{
	const struct ab_word *text = path->hole_count || !path->len ?
					     NULL :
					     ab_file_content(c, path);
	const struct ab_stream *list = path->len ? ab_list_of(c, path) : NULL;
	struct ab_use own = *use;
	bool was = c->in_is_loose;

	own.in_text = text && text->len ? text : NULL;
	if (text)
		own.in_taint |= ab_word_taint(text);
	c->in_is_loose = text && ab_file_is_loose(c, path);
	if (AB_UNLIKELY(list != NULL))
		own.in_taint |= list->taint;
	run_input(c, &own, words, count);
	c->in_is_loose = was;
	if (use->has_stdin)
		ab_run_words(c, use, words, count);
}

void ab_wrap_xargs(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *words, uint32_t count)
{
	struct ab_word path;

	if (AB_UNLIKELY(arg_file(use, &path) != NULL))
		run_arg_file(c, use, &path, words, count);
	else
		run_input(c, use, words, count);
}

/* find takes the file, by its name and where it begins. */
static bool may_come_across(struct ab_check *c, const struct ab_use *use,
			    const struct ab_word *path)
{
	struct ab_word name;
	uint32_t len, base = ab_name_base(path);
	const char *dir;

	for (uint32_t i = 1; i < use->count; i++) {
		if (ab_word_equals(&use->words[i], "-o") ||
		    ab_word_equals(&use->words[i], "-or"))
			return true;
	}
	if (ab_found_name(c, use, &name) &&
	    !ab_pattern_may_take(name.text, name.len, path->text + base,
				 path->len - base, true))
		return false;
	if (use->operand_count != 1)
		return true;
	dir = ab_path_text(c, &use->words[use->operands[0]], &len);
	return !dir || (path->len > len && !memcmp(path->text, dir, len));
}

/* -exec sh {}: each script that the text wrote and find comes across. */
static void run_written(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *words, uint32_t count,
			struct ab_word *all)
{
	struct ab_word path = { .span = use->words[0].span };
	uint32_t i = 0;

	while (ab_file_next(c, &i, &path)) {
		if (may_come_across(c, use, &path) &&
		    ab_fill_words(c, use, words, count, "{}", &path, all))
			ab_run_words(c, use, all, count);
	}
}

/* Its -c may be a text that it runs: not that of wc, grep or gcc. */
static bool may_run_text(struct ab_check *c, const struct ab_word *name)
{
	static const uint8_t kinds[] = { AB_ROLE_SHELL, AB_ROLE_EVAL,
					 AB_ROLE_WRAP, AB_ROLE_CODE,
					 AB_ROLE_STDIN_SHELL,
					 AB_ROLE_STDIN_CODE };
	const struct ab_program *p = program_of(c, name);

	for (size_t i = 0; p && i < AB_ARRAY_LEN(kinds); i++) {
		if (ab_has_role(p, kinds[i]))
			return true;
	}
	return !p || name->hole_count;
}

/* The find begins at / or a home, and no name narrows it down. */
static bool is_wide(struct ab_check *c, const struct ab_use *use)
{
	const uint64_t wide = AB_CLASS(ROOT) | AB_CLASS(TOP) | AB_CLASS(HOME) |
			      AB_CLASS(PARENT);
	struct ab_word name;
	uint64_t classes = 0;

	for (uint32_t i = 0; i < use->operand_count; i++)
		classes |= ab_path_classes(c, &use->words[use->operands[i]]);
	return classes & wide && !ab_found_name(c, use, &name);
}

/* env {}, timeout 5 {}, sh {}: what is found is run, whoever does it. */
static void run_filled(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *words, const struct ab_word *all,
		       uint32_t count)
{
	bool is_all = false;

	for (uint32_t i = 0; i < count && !is_all; i++) {
		const struct ab_word *w = &words[i];

		if (w->len < 2 || memcmp(w->text + w->len - 2, "{}", 2) != 0)
			continue;
		/* env A={} bash {} */
		is_all = w->len == 2;
		if (is_all || !c->found)
			c->found = all[i].text;
	}
	c->is_found_wide = c->found && is_wide(c, use);
	ab_run_words(c, use, all, count);
	c->found = NULL;
}

void ab_check_is_found(struct ab_check *c, const struct ab_word *w,
		       bool is_command)
{
	if (w->text == c->found && (is_command || c->is_found_wide))
		ab_check_known(c, AB_KNOWN_DYNAMIC,
			       c->is_found_wide ? AB_V_DENY : AB_V_ASK, w);
}

/* -exec sh -c '{}' ;: what is found is the command. */
static void check_itself(struct ab_check *c, const struct ab_word *words,
			 uint32_t count)
{
	bool runs_text = count && may_run_text(c, words);

	for (uint32_t i = 0; i < count; i++) {
		const struct ab_word *w = &words[i], *o = &words[i - !!i];
		bool is_text = i && runs_text && o->len > 1 &&
			       *o->text == '-' && o->text[o->len - 1] == 'c';

		if (is_text && w->len > 1 && !w->hole_count &&
		    !memcmp(w->text, "{}", 2) &&
		    (w->len == 2 || memchr(" ;&|", w->text[2], 4)))
			ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, w);
	}
}

/* find START -exec words {} ; */
void ab_wrap_find(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *words, uint32_t count)
{
	struct ab_word *all = ab_check_alloc(c, (count + 1) * sizeof(*all));
	struct ab_word value = { .text = "./{}", .len = 4,
				 .span = use->words[0].span };
	struct ab_word name = { .text = "{}", .len = 2 };
	AB_UNINITIALIZED struct ab_word files[AB_MAX_STARTS];
	uint32_t n;

	if (use->operand_count) {
		const struct ab_word *start = &use->words[use->operands[0]];

		if (ab_found_name(c, use, &name) && ab_found_is_pattern(&name))
			name = (struct ab_word){ .text = "{}", .len = 2 };
		if (!ab_found_file(c, start, &name, false, &value))
			return;
	}
	check_itself(c, words, count);
	if (all && ab_fill_words(c, use, words, count, "{}", &value, all))
		run_filled(c, use, words, all, count);
	if (AB_UNLIKELY(c->written_count) && all)
		run_written(c, use, words, count, all);
	n = all ? ab_found_files(c, use, files) : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (ab_fill_words(c, use, words, count, "{}", &files[i], all))
			ab_run_reading(c, use, all, count, AB_ONLY_READ);
	}
	n = all ? ab_found_paths(c, use, files) : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!ab_fill_words(c, use, words, count, "{}", &files[i], all))
			continue;
		ab_run_words(c, use, all, count);
		ab_run_reading(c, use, all, count, AB_ONLY_READ);
	}
}
