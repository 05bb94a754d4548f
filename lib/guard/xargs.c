/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find and xargs: the commands they run, with the words that they put in. What
 * find comes across is not known, but where it looks and what the names are
 * like; so what would be read there is judged as if it were named. Spec:
 * DESIGN.md section 7.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/digit.h"
#include "guard/command.h"
#include "guard/git.h"

/* The words of a find -exec with `{}` put in, or of xargs with its input. */
bool ab_fill_words(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *from, uint32_t count,
		   const char *mark, const struct ab_word *value,
		   struct ab_word *to)
{
	uint32_t n = (uint32_t)strlen(mark);

	(void)use;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_word *w = &from[i];
		const char *hit = memmem(w->text, w->len, mark, n);

		to[i] = *w;
		if (!hit || !n)
			continue;
		uint32_t at = (uint32_t)(hit - w->text);
		uint32_t len = w->len - n + value->len;
		char *text = ab_check_alloc(c, len + 1);
		struct ab_hole *holes = NULL;

		if (!text)
			return false;
		memcpy(text, w->text, at);
		memcpy(text + at, value->text, value->len);
		memcpy(text + at + value->len, hit + n, w->len - at - n);
		if (value->hole_count) {
			holes = ab_check_alloc(c, value->hole_count *
							  sizeof(*holes));
			if (!holes)
				return false;
			for (uint32_t k = 0; k < value->hole_count; k++) {
				holes[k] = value->holes[k];
				holes[k].at += at;
			}
		}
		to[i].text = text;
		to[i].len = len;
		to[i].holes = holes;
		to[i].hole_count = value->hole_count;
		to[i].map = NULL;
		to[i].map_count = 0;
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

/* The words of a text, split at what `ends` them; at most `room`. */
static uint32_t split_words(struct ab_check *c, const struct ab_word *text,
			    const char *ends, uint32_t end_count,
			    struct ab_word *out, uint32_t room)
{
	uint32_t n = 0, i = 0;

	while (i < text->len && n < room) {
		while (i < text->len &&
		       memchr(ends, text->text[i], end_count))
			i++;
		uint32_t from = i;

		while (i < text->len &&
		       !memchr(ends, text->text[i], end_count))
			i++;
		if (i > from &&
		    !ab_word_slice(c, text, from, i - from, &out[n++]))
			return 0;
	}
	if (!text->len && text->hole_count && n < room)
		out[n++] = *text;
	return n;
}

#define MAX_INPUT 256 /* words of a known stdin that xargs appends */
#define MAX_SINGLE 16 /* of them each alone */

/* -x, -xVALUE or the long form among the words before the command. */
static bool has_option(const struct ab_use *use, const char *brief,
		       const char *name)
{
	uint32_t end = use->operand_count ? use->operands[0] : use->count;

	for (uint32_t i = 1; i < end; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len >= 2 && (!memcmp(w->text, brief, 2) ||
				    (w->len >= 4 && w->text[1] == '-' &&
				     !strncmp(w->text, name,
					      w->len < strlen(name)
						      ? w->len
						      : strlen(name)))))
			return true;
	}
	return false;
}

static inline bool is_text(const struct ab_word *w, const char *text)
{
	return ab_word_equals(w, text);
}

/* What find's -name says; else *name stays. True: it says something. */
static bool find_name(struct ab_check *c, const struct ab_use *use,
		      struct ab_word *name)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];

		if (v->at || w->hole_count || !w->len ||
		    ab_is_negated(use, v->option) ||
		    (!is_text(&use->words[v->option], "-name") &&
		     !is_text(&use->words[v->option], "-iname")))
			continue;
		return ab_word_slice(c, w, 0, UINT32_MAX, name);
	}
	return false;
}

static bool has_wildcard(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr("*?[\\", w->text[i], 4))
			return true;
	}
	return false;
}

/* START/NAME: a file that find comes across; is_pattern: NAME is one. */
static bool found_file(struct ab_check *c, const struct ab_word *start,
		       const struct ab_word *name, bool is_pattern,
		       struct ab_word *out)
{
	uint32_t count = start->hole_count + is_pattern;
	char *text = ab_check_alloc(c, start->len + name->len + 2);
	struct ab_hole *holes = ab_check_alloc(c, (count + 1) *
							  sizeof(*holes));

	if (!text || !holes)
		return false;
	memcpy(text, start->text, start->len);
	text[start->len] = '/';
	memcpy(text + start->len + 1, name->text, name->len);
	if (start->hole_count)
		memcpy(holes, start->holes,
		       start->hole_count * sizeof(*holes));
	if (is_pattern)
		holes[start->hole_count] = (struct ab_hole){
			.at = start->len + 1, .len = name->len,
			.kind = AB_HOLE_PATTERN, .span = name->span };
	*out = *start;
	out->text = text;
	out->len = start->len + 1 + name->len;
	out->holes = holes;
	out->hole_count = count;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

/* What of the judgement counts. */
enum {
	ONLY_READ = 1, /* what is read of secrets */
	ONLY_CHANGED = 2
};

struct only {
	ab_guard_report *report;
	void *user;
	unsigned what;
};

static void on_file(void *user, const struct ab_shell_found *f)
{
	const struct only *only = user;

	if (((only->what & ONLY_READ) && !strncmp(f->rule, "cred.", 5)) ||
	    ((only->what & ONLY_CHANGED) && !strncmp(f->rule, "fs.", 3)))
		only->report(only->user, f);
}

/* What the words would read or change is judged, and nothing else about
   them. */
static void run_reading(struct ab_check *c, const struct ab_use *use,
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

static bool is_action(const struct ab_word *w)
{
	static const char *const names[] = { "-exec", "-execdir", "-ok",
					     "-okdir", "-delete", "-fprint",
					     "-fprint0", "-fls", "-printf",
					     "-quit", "-ls" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (is_text(w, names[i]))
			return true;
	}
	return false;
}

/* What narrows down which files find takes: NAME, or ""; false: who knows. */
static bool what_is_found(struct ab_check *c, const struct ab_use *use,
			  struct ab_word *name)
{
	name->len = 0;
	if (find_name(c, use, name)) {
		/* -name '*' is none */
		if (ab_word_equals(name, "*"))
			name->len = 0;
		return true;
	}
	/* -type f is no choice; whatever else there is may be one */
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_word *o = &use->words[use->values[i].option];

		if (!is_text(o, "-type") && !is_text(o, "-maxdepth") &&
		    !is_text(o, "-mindepth") && !is_action(o))
			return false;
	}
	for (uint32_t i = 1; i < use->count; i++) {
		if (is_text(&use->words[i], "-empty"))
			return false;
	}
	return true;
}

#define MAX_STARTS 8 /* of find, that are looked at */

/* What is searched for from the root may be /etc's: most files that have a
   name of their own, and are the system's secrets, are there. */
static bool is_in_etc(struct ab_check *c, const struct ab_word *start,
		      const struct ab_word *name, struct ab_word *out)
{
	struct ab_word etc = { .text = "etc", .len = 3, .span = name->span };

	return name->len && ab_path_classes(c, start) & AB_CLASS(ROOT) &&
	       found_file(c, start, &etc, false, out) &&
	       found_file(c, out, name, has_wildcard(name), out);
}

/* ... or one of these below the home, which no other place gives away. */
static bool is_in_home(struct ab_check *c, const struct ab_word *start,
		       const struct ab_word *name, struct ab_word *out)
{
	static const char *const files[] = {
		".aws/credentials", ".docker/config.json", ".kube/config",
		".config/gh/hosts.yml", ".cargo/credentials.toml",
		".config/gcloud/application_default_credentials.json"
	};
	const struct ab_known_path *home = &c->place->home;
	const uint64_t wide = AB_CLASS(ROOT) | AB_CLASS(HOME);
	struct ab_word at = { .text = home->text, .len = home->len,
			      .span = name->span };

	if (!name->len || !home->text ||
	    !(ab_path_classes(c, start) & wide))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(files); i++) {
		struct ab_word file = { .text = files[i],
					.len = (uint32_t)strlen(files[i]),
					.span = name->span };

		if (file.len > name->len &&
		    files[i][file.len - name->len - 1] == '/' &&
		    !memcmp(files[i] + file.len - name->len, name->text,
			    name->len))
			return found_file(c, &at, &file, false, out);
	}
	return false;
}

/* What is found of the name from there on. */
static void add_found(struct ab_check *c, const struct ab_word *start,
		      const struct ab_word *name,
		      struct ab_word out[MAX_STARTS], uint32_t *n)
{
	out[*n] = *start;
	if (!name->len ||
	    found_file(c, start, name, has_wildcard(name), &out[*n]))
		++*n;
	if (*n < MAX_STARTS && is_in_etc(c, start, name, &out[*n]))
		++*n;
	if (*n < MAX_STARTS && is_in_home(c, start, name, &out[*n]))
		++*n;
}

/* What find takes, a word for each place where it starts; their number. */
static uint32_t found_files(struct ab_check *c, const struct ab_use *use,
			    struct ab_word out[MAX_STARTS])
{
	struct ab_word here = { .text = ".", .len = 1,
				.span = use->words[0].span };
	uint32_t n = 0, i = 0;
	struct ab_word name;

	if (!what_is_found(c, use, &name))
		return 0;
	do {
		add_found(c, i < use->operand_count ?
				     &use->words[use->operands[i]] : &here,
			  &name, out, &n);
	} while (++i < use->operand_count && n < MAX_STARTS);
	return n;
}

/* What ls, realpath and locate print, as far as their operands say. */
static uint32_t named_files(struct ab_check *c, const struct ab_use *use,
			    struct ab_word out[MAX_STARTS])
{
	struct ab_word root = { .text = "/", .len = 1,
				.span = use->words[0].span };
	uint32_t n = 0;

	for (uint32_t i = 0; i < use->operand_count && n < MAX_STARTS; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];

		if (use->program->is_listed)
			out[n++] = *w;
		else if (w->len)
			add_found(c, &root, w, out, &n);
	}
	return n;
}

/* -maxdepth 1 -type f: files right below the start, and never the start. */
static bool is_flat(const struct ab_use *use)
{
	bool is_near = false, is_file = false;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_word *o = &use->words[use->values[i].option];
		const struct ab_word *w = &use->words[use->values[i].word];

		if (is_text(o, "-maxdepth")) {
			is_near = is_text(w, "1");
			if (!is_near)
				return false;
		}
		is_file |= is_text(o, "-type") && is_text(w, "f");
	}
	for (uint32_t i = 1; i < use->count; i++) {
		static const char *const others[] = { "!", "-not", "-o", "-or",
						      "," };

		for (size_t k = 0; k < AB_ARRAY_LEN(others); k++) {
			if (is_text(&use->words[i], others[k]))
				return false;
		}
	}
	return is_near && is_file;
}

/* `find packages -name dist`: below the project's own directories, by a name,
   and nothing but the names is printed. */
static bool is_narrow(struct ab_check *c, const struct ab_use *use)
{
	static const char *const wide[] = { "!", "-not", "-o", "-or", ",",
					    "-L", "-follow", "-H",
					    "-files0-from" };
	const uint64_t own = AB_CLASS(ANY) | AB_CLASS(INSIDE) |
			     AB_CLASS(SUBDIR) | AB_CLASS(WORKTREE);
	struct ab_word here = { .text = ".", .len = 1,
				.span = use->words[0].span };
	uint32_t letters = 0, i = 0;
	struct ab_word name;

	if (!find_name(c, use, &name))
		return false;
	if (memchr(name.text, '[', name.len))
		return false;
	for (uint32_t k = 0; k < name.len; k++)
		letters += !memchr("*?].!^-\\", name.text[k], 8);
	for (uint32_t k = 1; k < use->count; k++) {
		if (is_action(&use->words[k]))
			return false;
		for (size_t n = 0; n < AB_ARRAY_LEN(wide); n++) {
			if (is_text(&use->words[k], wide[n]))
				return false;
		}
	}
	do {
		if (ab_path_classes(c, i < use->operand_count ?
					       &use->words[use->operands[i]] :
					       &here) & ~own)
			return false;
	} while (++i < use->operand_count);
	return letters > 1;
}

/* Kept as long as the check; is_flat: of the words the starts are only read
   from, and the second half are what is below them. */
struct names {
	uint32_t count;
	bool is_flat, is_read; /* is_read: only what reads them is judged */
	const struct ab_stream *own; /* of is_narrow(): where it wrote that */
	struct ab_word words[2 * MAX_STARTS];
};

/* Those that go through it, if any; what git prints is noted otherwise. */
static const struct names *noted(const struct ab_stream *s)
{
	return s && s->note && !ab_git_is_note(s->note) ? s->note : NULL;
}

bool ab_keep_word(struct ab_check *c, const struct ab_word *w,
		  struct ab_word *out)
{
	size_t size = w->hole_count * sizeof(*w->holes);
	struct ab_hole *holes = ab_arena_high(c->high, size);
	char *text = ab_arena_high(c->high, w->len + 1);

	if (!holes || !text)
		return false;
	*out = *w;
	memcpy(text, w->text, w->len);
	if (size)
		memcpy(holes, w->holes, size);
	out->text = text;
	out->holes = holes;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

/* Programs that print the names of a whole tree unless a word says which: with
   one of the options `need`, if any, and none but those in `fine`. */
static const struct {
	const char *name, *sub, *need, *fine;
} trees[] = {
	{ "git", "ls-files", NULL, "z c v --cached --full-name" },
	{ "git", "ls-tree", "r", "r z t --name-only --full-tree --full-name" },
	{ "fd", NULL, NULL, "H I u a 0 L p F s i t f" },
	{ "fdfind", NULL, NULL, "H I u a 0 L p F s i t f" },
	{ "rg", NULL, "l --files --files-with-matches",
	  "l 0 i N n . u --files --files-with-matches --hidden --null" },
	{ "grep", NULL, "l --files-with-matches",
	  "r R l i I E Z F s z --recursive --files-with-matches --null" },
};

/* One of the words in the list. */
static bool is_among(const char *list, const char *s, size_t n)
{
	for (const char *at = list; at && (at = strchr(at, *s)); at++) {
		if ((at == list || at[-1] == ' ') && !strncmp(at, s, n) &&
		    (!at[n] || at[n] == ' '))
			return true;
	}
	return false;
}

/* The letters of -abc, or the long option. *has: one of them is needed. */
static bool is_fine_option(const struct ab_word *w, const char *need,
			   const char *fine, bool *has)
{
	if (w->text[1] == '-') {
		*has |= is_among(need, w->text, w->len);
		return w->len == 2 || is_among(fine, w->text, w->len);
	}
	for (uint32_t i = 1; i < w->len; i++) {
		*has |= is_among(need, w->text + i, 1);
		if (!is_among(fine, w->text + i, 1))
			return false;
	}
	return true;
}

/* An option may be the one that is needed: most greps have no -l. */
static bool has_letter(const struct ab_use *use, char letter)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len > 1 && *w->text == '-' &&
		    memchr(w->text, letter, w->len))
			return true;
	}
	return false;
}

/* git ls-files, fd ., rg -l .: whatever there is. */
static bool prints_tree(const struct ab_use *use)
{
	static const char any[] = ". ./ .* * ^ :/ HEAD f";
	struct ab_word name = use->words[0];
	uint32_t base = ab_name_base(&name), t = 0, i = 1;
	bool has = false;

	name.text += base;
	name.len -= base;
	if (!name.len || !memchr("gfr", *name.text, 3))
		return false;
	for (; t < AB_ARRAY_LEN(trees); t++) {
		if (ab_word_equals(&name, trees[t].name) &&
		    (!trees[t].sub || (use->count > 1 &&
				       ab_word_equals(&use->words[1],
						      trees[t].sub))))
			break;
	}
	if (t == AB_ARRAY_LEN(trees) ||
	    (trees[t].need && !has_letter(use, *trees[t].need)))
		return false;
	for (i += trees[t].sub != NULL; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->hole_count && w->holes->kind != AB_HOLE_PATTERN)
			return false;
		if (w->len > 1 && *w->text == '-' ?
			    !is_fine_option(w, trees[t].need, trees[t].fine,
					    &has) :
			    w->len && !is_among(any, w->text, w->len))
			return false;
	}
	return has || !trees[t].need;
}

/* Its words, as long as the check; false: no memory. */
static bool keep_names(struct ab_check *c, struct ab_stream *out,
		       const struct names *names, const struct ab_word *files,
		       uint32_t count)
{
	struct names *kept = ab_arena_high(c->high, sizeof(*kept));

	if (kept)
		*kept = *names;
	for (uint32_t i = 0; kept && i < count; i++) {
		if (!ab_keep_word(c, &files[i], &kept->words[i]))
			kept = NULL;
	}
	if (!kept)
		c->is_broken = true;
	c->has_names = true;
	out->note = kept;
	return kept;
}

/* Options of grep that leave its pattern one for names, as they are. */
static bool is_plain_grep(const struct ab_use *use, bool *folds)
{
	static const char *const names[] = { "grep",  "egrep", "fgrep",
					     "ggrep", "ugrep", "rg" };
	struct ab_word name = use->words[0];
	uint32_t base = ab_name_base(&name);
	bool is_grep = false;

	name.text += base;
	name.len -= base;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		is_grep |= ab_word_equals(&name, names[i]);
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->hole_count)
			return false;
		for (uint32_t k = 1; k < w->len && *w->text == '-'; k++) {
			if (!memchr("EFGPaiswx", w->text[k], 9))
				return false;
			*folds |= w->text[k] == 'i';
		}
	}
	return is_grep && use->operand_count == 1;
}

static bool is_letter(char ch)
{
	return ch == '_' ||
	       (ab_base64_digit(ch) >= 0 && ch != '+' && ch != '/');
}

/* `| grep '\.o$'`: *.o, of those that come in; false: nobody knows which. */
static bool grep_name(struct ab_check *c, const struct ab_use *use,
		      struct ab_word *out)
{
	uint32_t n = 0, letters = 0;
	bool folds = false, is_end = false;
	const struct ab_word *w;
	char *text;

	if (!is_plain_grep(use, &folds))
		return false;
	w = &use->words[use->operands[0]];
	text = ab_check_alloc(c, w->len + 3);
	if (!text)
		return false;
	text[n++] = '*';
	for (uint32_t i = w->len && *w->text == '^'; i < w->len; i++) {
		char ch = w->text[i];
		bool is_escaped = ch == '\\' && i + 1 < w->len &&
				  memchr(".-/", w->text[i + 1], 3);

		is_end = ch == '$' && i + 1 == w->len;
		if (is_end)
			break;
		if (is_escaped)
			ch = w->text[++i];
		else if (!is_letter(ch) && !memchr(".-/", ch, 3))
			return false;
		letters += is_letter(ch) || is_escaped;
		text[n++] = ch;
		if (ch == '/') /* the last name is what counts */
			n = 1, letters = 0;
		else if (folds && ch >= 'A' && ch <= 'Z')
			text[n - 1] = (char)(ch | 0x20);
	}
	if (!is_end)
		text[n++] = '*';
	*out = (struct ab_word){ .text = text, .len = n, .span = w->span };
	return letters > 1;
}

/* Whole lines of what it reads, and nothing else. */
static bool picks_lines(const struct ab_use *use)
{
	static const char *const names[] = { "head", "tail", "sort", "uniq",
					     "tac" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(&use->words[0], names[i]))
			return !use->operand_count;
	}
	return ab_word_equals(&use->words[0], "grep") &&
	       use->operand_count == 1;
}

/* What a filter lets through of the names that it reads. */
static void pass_names(struct ab_check *c, const struct ab_use *use)
{
	struct ab_stream *in = c->command->place.in;
	struct ab_stream *out = c->command->place.out;
	const struct names *were = noted(in);
	AB_UNINITIALIZED struct ab_word files[2 * MAX_STARTS], name;
	struct names are;
	uint32_t n = 0;

	if (AB_UNLIKELY(in->note && !were)) {
		out->note = picks_lines(use) && in->writes <= 1 ? in->note
								: NULL;
		return;
	}
	out->note = in->note;
	if (AB_LIKELY(!were) || !grep_name(c, use, &name))
		return;
	for (uint32_t i = 0; i < were->count && n < MAX_STARTS; i++)
		add_found(c, &were->words[i], &name, files, &n);
	are = (struct names){ .count = n, .is_read = were->is_read };
	(void)keep_names(c, out, &are, files, n);
}

void ab_wrap_names(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_shell_command *m = c->command;
	const struct ab_program *p = use->program;
	struct ab_word any = { .text = "*", .len = 1,
			       .span = use->words[0].span };
	struct ab_word here = { .text = ".", .len = 1, .span = any.span };
	AB_UNINITIALIZED struct ab_word files[2 * MAX_STARTS], name;
	struct names names = { 0 };
	uint32_t n = 0;

	if (c->is_probe || c->is_reading)
		return;
	if (p->is_pass && m->place.in)
		pass_names(c, use);
	if (prints_tree(use)) {
		/* for who reads the pipe itself: no filter passes that on */
		if (m->place.out->kind == AB_STREAM_PIPE)
			c->out_taint |= AB_TAINT_TREE;
		else
			files[n++] = here;
	} else if (p->is_names) {
		n = found_files(c, use, files);
		names.is_flat = !find_name(c, use, &name) && is_flat(use);
		names.own = is_narrow(c, use) ? m->place.out : NULL;
	} else if (p->is_listed || p->is_located) {
		n = named_files(c, use, files);
		names.is_read = true;
	}
	if (!n && c->out_taint == AB_TAINT_TEMP && !use->operand_count &&
	    !use->value_count)
		m->place.out->note = (void *)(uintptr_t)&ab_git_temp_note;
	if (!n)
		return;
	names.count = n;
	for (uint32_t i = 0; names.is_flat && i < names.count; i++) {
		if (!found_file(c, &files[i], &any, true, &files[n++]))
			return;
	}
	(void)keep_names(c, m->place.out, &names, files, n);
}

/* Nothing else was written there. */
static bool is_own(const struct names *names, const struct ab_stream *s)
{
	return names && names->own == s && s->writes == 1;
}

bool ab_names_are_own(const struct ab_hole *hole)
{
	const struct ab_stream *s = hole->origin;

	return s && !hole->is_cut &&
	       ((s->taint & AB_TAINT_FOUND) ||
		is_own(noted(s), s));
}

/* The names that a word stands for as a whole; or NULL. */
static const struct names *names_of(const struct ab_word *w)
{
	const struct ab_hole *h = w->holes;

	return w->len || w->hole_count != 1 ? NULL : noted(h->origin);
}

/* The words with all names put in; of a flat find the second half or not. */
static void judge_found(struct ab_check *c, const struct ab_word *words,
			uint32_t count, bool is_below, unsigned what)
{
	uint32_t total = count, n = 0;
	struct ab_word *all;

	for (uint32_t i = 1; i < count; i++) {
		const struct names *names = names_of(&words[i]);

		total += names ? names->count : 0;
	}
	all = total > count ? ab_check_alloc(c, total * sizeof(*all)) : NULL;
	if (!all)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct names *names = i ? names_of(&words[i]) : NULL;
		uint32_t from = names && is_below && names->is_flat
					? names->count
					: 0;

		if (!names) {
			all[n++] = words[i];
			continue;
		}
		memcpy(all + n, names->words + from,
		       names->count * sizeof(*all));
		n += names->count;
	}
	run_reading(c, NULL, all, n, what);
}

void ab_check_found(struct ab_check *c, const struct ab_word *words,
		    uint32_t count)
{
	bool has_names = false, is_flat = false, is_read = false;

	for (uint32_t i = 1; i < count; i++) {
		const struct names *names = names_of(&words[i]);

		has_names |= names != NULL;
		is_flat |= names && names->is_flat;
		is_read |= names && names->is_read;
	}
	if (AB_LIKELY(!has_names))
		return;
	judge_found(c, words, count, false,
		    is_flat || is_read ? ONLY_READ : ONLY_READ | ONLY_CHANGED);
	if (is_flat)
		judge_found(c, words, count, true, ONLY_CHANGED);
}

/* CMD NAMES, or with a mark CMD for each of them where the mark is: all[] has
   room behind its count words. */
static void read_names(struct ab_check *c, const struct ab_use *use,
		       const struct names *names, const char *mark,
		       const struct ab_word *words, struct ab_word *all,
		       uint32_t count)
{
	uint32_t halves = !names ? 0 : names->is_flat ? 2 : 1;

	for (uint32_t h = 0; h < halves; h++) {
		const struct ab_word *from = names->words + h * names->count;
		unsigned what = h			     ? ONLY_CHANGED :
				halves == 2 || names->is_read ? ONLY_READ :
						ONLY_READ | ONLY_CHANGED;

		for (uint32_t i = 0; mark && i < names->count; i++) {
			if (ab_fill_words(c, use, words, count, mark, &from[i],
					  all))
				run_reading(c, use, all, count, what);
		}
		if (mark)
			continue;
		memcpy(all + count, from, names->count * sizeof(*all));
		run_reading(c, use, all, count + names->count, what);
	}
}

/* The command with each line of a known stdin where the mark is; `any` stands
   for those that are not known. */
static void run_marked(struct ab_check *c, const struct ab_use *use,
		       const char *mark, const struct ab_word *any,
		       const struct ab_word *words, struct ab_word *all,
		       uint32_t count)
{
	AB_UNINITIALIZED struct ab_word lines[MAX_SINGLE + 1];
	uint32_t n = 0;

	if (use->in_text)
		n = split_words(c, use->in_text, "\n\0", 2, lines, MAX_SINGLE);
	if (!n || n == MAX_SINGLE)
		lines[n++] = *any;
	for (uint32_t i = 0; i < n && !c->is_broken; i++) {
		if (ab_fill_words(c, use, words, count, mark, &lines[i], all))
			ab_run_words(c, use, all, count);
	}
}

void ab_wrap_xargs(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *words, uint32_t count)
{
	const struct ab_shell_command *m = c->command;
	const struct names *names = m ? noted(m->place.in) : NULL;
	struct ab_word value, *all;
	const char *mark = NULL;
	uint32_t extra = 0;
	char text[32];

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];
		const struct ab_word *o = &use->words[v->option];

		if (o->len < 2 || (o->text[1] != 'I' && o->text[1] != 'i' &&
				   memcmp(o->text, "--replace",
					  o->len < 9 ? o->len : 9) != 0))
			continue;
		uint32_t n = w->len - v->at;

		if (n && n < sizeof(text)) {
			memcpy(text, w->text + v->at, n);
			text[n] = '\0';
			mark = text;
		}
	}
	if (!mark && has_option(use, "-i", "--replace"))
		mark = "{}";
	if (!ab_stdin_word(c, use, &value))
		return;
	if (value.holes->origin && names && m->place.in->note == names &&
	    is_own(names, m->place.in))
		value.holes->origin->taint |= AB_TAINT_FOUND;
	if (value.holes->origin && m && m->place.in && !names &&
	    m->place.in->writes <= 1)
		value.holes->origin->note = m->place.in->note;
	all = ab_check_alloc(c, (count + MAX_INPUT + MAX_STARTS) *
				       sizeof(*all));
	if (!all)
		return;
	if (mark) {
		run_marked(c, use, mark, &value, words, all, count);
		read_names(c, use, names, mark, words, all, count);
		return;
	}
	if (!count) /* xargs alone echoes */
		return;
	memcpy(all, words, count * sizeof(*all));
	if (use->in_text) {
		/* -0 and -d: not at blanks */
		bool is_raw = has_option(use, "-0", "--null") ||
			      has_option(use, "-d", "--delimiter");

		extra = split_words(c, use->in_text,
				    is_raw ? "\n\0" : " \t\n",
				    is_raw ? 2 : 3, all + count, MAX_INPUT);
	}
	if (!use->in_text || extra == MAX_INPUT)
		all[count + extra++] = value;
	ab_run_words(c, use, all, count + extra);
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

/* find takes the file, by its name and where it begins. */
static bool may_come_across(struct ab_check *c, const struct ab_use *use,
			    const struct ab_word *path)
{
	struct ab_word name;
	uint32_t len, base = ab_name_base(path);
	const char *dir;

	for (uint32_t i = 1; i < use->count; i++) {
		if (is_text(&use->words[i], "-o") ||
		    is_text(&use->words[i], "-or"))
			return true;
	}
	if (find_name(c, use, &name) &&
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

/* find START -exec words {} ; */
void ab_wrap_find(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *words, uint32_t count)
{
	struct ab_word *all = ab_check_alloc(c, (count + 1) * sizeof(*all));
	struct ab_word value = { .text = "./{}", .len = 4,
				 .span = use->words[0].span };
	struct ab_word name = { .text = "{}", .len = 2 };
	AB_UNINITIALIZED struct ab_word files[MAX_STARTS];
	uint32_t n;

	if (use->operand_count) {
		const struct ab_word *start = &use->words[use->operands[0]];

		if (find_name(c, use, &name) && has_wildcard(&name))
			name = (struct ab_word){ .text = "{}", .len = 2 };
		if (!found_file(c, start, &name, false, &value))
			return;
	}
	if (all && ab_fill_words(c, use, words, count, "{}", &value, all))
		ab_run_words(c, use, all, count);
	if (AB_UNLIKELY(c->written_count) && all)
		run_written(c, use, words, count, all);
	n = all ? found_files(c, use, files) : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (ab_fill_words(c, use, words, count, "{}", &files[i], all))
			run_reading(c, use, all, count, ONLY_READ);
	}
}
