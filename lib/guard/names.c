/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of files in a stream: noted where a command prints them, passed on or
 * narrowed down by filters, and put in where a command takes them as words,
 * `cat $(find ~ -name id_rsa)`. What git prints is noted on the same streams,
 * and is none of these. Spec: DESIGN.md section 7.
 */
#include "config.h"

#include "guard/found.h"

#include <string.h>

#include "base/alloc.h"
#include "base/digit.h"
#include "guard/command.h"
#include "guard/files.h"
#include "guard/git.h"

/* Those that go through it, if any; what git prints is noted otherwise. */
const struct ab_names *ab_names_noted(const struct ab_stream *s)
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
	/* -o: all that nobody committed; with -i it is what can be built */
	{ "git", "ls-files", NULL,
	  "z c v o t --cached --full-name --others --exclude-standard" },
	/* not names: the files themselves, for who unpacks them */
	{ "git", "archive", NULL, "v --format=tar --verbose" },
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
	    (trees[t].need && !ab_use_has_letter(use, *trees[t].need)))
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

struct ab_names *ab_names_keep(struct ab_check *c, struct ab_stream *out,
			       const struct ab_word *files, uint32_t count)
{
	struct ab_names *kept = ab_arena_high(c->high, sizeof(*kept));

	/* no word is read beyond those that are put in */
	if (kept) {
		kept->count = count;
		kept->is_flat = kept->is_read = kept->is_all = false;
		kept->own = kept->inside = NULL;
	}
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

/* '\.o$': *.o; false: nobody knows which names that takes. */
static bool pattern_name(struct ab_check *c, const struct ab_word *w,
			 bool folds, struct ab_word *out)
{
	uint32_t n = 0, letters = 0;
	bool is_end = false;
	char *text = ab_check_alloc(c, w->len + 3);

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
		else if (ch == '.')
			ch = '?';
		else if (!is_letter(ch) && !memchr("-/", ch, 2))
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

/* `| grep '\.o$'`: *.o, of those that come in. */
static bool grep_name(struct ab_check *c, const struct ab_use *use,
		      struct ab_word *out)
{
	bool folds = false;

	return is_plain_grep(use, &folds) &&
	       pattern_name(c, &use->words[use->operands[0]], folds, out);
}

/* Each option of it is of these letters and numbers, or one of the names. */
static bool has_only(const struct ab_use *use, const char *letters,
		     const char *names)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len < 2 || *w->text != '-')
			continue;
		if (w->text[1] == '-') {
			if (w->len > 2 && !is_among(names, w->text, w->len))
				return false;
			continue;
		}
		for (uint32_t k = 1; k < w->len; k++) {
			if (!memchr(letters, w->text[k], strlen(letters)))
				return false;
		}
	}
	return true;
}

/* sed -n 2p, sed 1q */
static bool picks_number(const struct ab_use *use)
{
	const struct ab_word *w = &use->words[use->count - 1];
	bool is_quiet = use->count == 3 && ab_word_equals(&use->words[1], "-n");

	if ((use->count != 2 && !is_quiet) || w->hole_count || w->len < 2 ||
	    w->text[w->len - 1] != (is_quiet ? 'p' : 'q'))
		return false;
	for (uint32_t i = 0; i + 1 < w->len; i++) {
		if (!memchr("0123456789$,", w->text[i], 12))
			return false;
	}
	return true;
}

/* Whole lines of what it reads, and nothing else. */
static bool picks_lines(const struct ab_use *use)
{
	static const struct {
		const char *name, *letters, *names;
	} all[] = {
		{ "head", "nqvz+-0123456789", "--lines" },
		{ "tail", "nqvz+-0123456789", "--lines" },
		{ "sort", "rnuVfhkbdgiMRsztc0123456789,",
		  "--reverse --unique --version-sort --numeric-sort" },
		{ "uniq", "dicu", "--count --repeated --unique" },
		{ "tac", "", "" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(all); i++) {
		if (ab_word_equals(&use->words[0], all[i].name))
			return !use->operand_count &&
			       has_only(use, all[i].letters, all[i].names);
	}
	if (ab_word_equals(&use->words[0], "sed"))
		return picks_number(use);
	/* not -o, which cuts them, or -f, which is a file */
	return ab_word_equals(&use->words[0], "grep") &&
	       use->operand_count == 1 &&
	       has_only(use, "EFGPaimvwxz0123456789",
			"--invert-match --ignore-case --extended-regexp");
}

/* awk '{print $1}', cut -d' ' -f1: the first word of each line; or with 2 the
   second, and what follows it. */
static bool picks_word(const struct ab_use *use, uint32_t which)
{
	static const char *const all[2][7] = {
		{ "awk {print $1}", "awk { print $1 }", "cut -d  -f1",
		  "cut -d  -f 1", "cut -d   -f1", "cut -f1 -d ",
		  "sed s/ .*//" },
		{ "awk {print $2}", "awk { print $2 }", "awk {print $NF}",
		  "awk { print $NF }", "cut -c4-", "cut -c 4-",
		  "sed s/^...//" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(all[0]); i++) {
		const char *at = all[which - 1][i];
		uint32_t k = 0;

		for (; k < use->count; k++) {
			const struct ab_word *w = &use->words[k];

			if (w->hole_count || strlen(at) < w->len ||
			    memcmp(at, w->text, w->len) != 0)
				break;
			at += w->len;
			if (k + 1 < use->count && *at++ != ' ')
				break;
		}
		if (k == use->count && !*at)
			return true;
	}
	return false;
}

/* What git told of the lines, and the filter leaves of it; or NULL. */
static const void *pass_note(const struct ab_use *use,
			     const struct ab_stream *in)
{
	if (!ab_git_is_all(in))
		return NULL;
	if (picks_lines(use))
		return in->note;
	if (in->note == &ab_git_notes[AB_GIT_LINES] && picks_word(use, 1))
		return &ab_git_notes[AB_GIT_NAMES];
	if (in->note == &ab_git_notes[AB_GIT_STATUS] && picks_word(use, 2))
		return &ab_git_notes[AB_GIT_FILES];
	return NULL;
}

/* git ls-files | grep '\.env$' */
static void pass_secrets(struct ab_check *c, const struct ab_use *use,
			 struct ab_stream *out)
{
	AB_UNINITIALIZED struct ab_word files[AB_MAX_STARTS], name;
	struct ab_word here = { .text = ".", .len = 1 };
	bool is_inside = out->note == &ab_git_notes[AB_GIT_FILES];
	struct ab_names *are;
	uint32_t n = 0;

	if (!grep_name(c, use, &name) || !ab_git_names_secret(c, &name, 0))
		return;
	here.span = name.span;
	ab_found_add(c, &here, &name, files, &n);
	are = n ? ab_names_keep(c, out, files, n) : NULL;
	if (!are)
		return;
	are->is_read = true;
	are->inside = is_inside ? out : NULL;
}

/* All lines that it reads, in whatever order, or at other ends. */
static bool keeps_all(const struct ab_use *use)
{
	static const char *const all[] = { "cat", "sort", "tac", "shuf" };
	static const char *const words[][2] = {
		{ "awk", "{print}" }, { "awk", "{print $0}" }, { "awk", "1" },
		{ "grep", "." },      { "sed", "s/^/.\\//" },
		{ "sed", "s|^|./|" }, { "sed", "s#^#./#" },
	};

	if (use->count == 1 && ab_word_equals(&use->words[0], "uniq"))
		return true;
	for (size_t i = 0; use->count == 2 && i < AB_ARRAY_LEN(words); i++) {
		if (ab_word_equals(&use->words[0], words[i][0]) &&
		    ab_word_equals(&use->words[1], words[i][1]))
			return true;
	}
	if (ab_word_equals(&use->words[0], "tee"))
		return true;
	if (ab_word_equals(&use->words[0], "tr"))
		return use->count == 3 &&
		       ab_word_equals(&use->words[1], "\\n") &&
		       ab_word_equals(&use->words[2], "\\0");
	for (size_t i = 0; i < AB_ARRAY_LEN(all); i++) {
		if (ab_word_equals(&use->words[0], all[i]))
			return !use->operand_count && !use->value_count;
	}
	return false;
}

/* What goes on behind a filter: of a list of processes their numbers, too, and
   those that `grep -v` leaves are nearly all. */
static uint32_t kept_by(const struct ab_use *use)
{
	if (keeps_all(use))
		return AB_TAINT_TREE | AB_TAINT_EVERY;
	return picks_word(use, 1) || picks_word(use, 2) ||
			       (ab_use_has_letter(use, 'v') &&
				ab_word_equals(&use->words[0], "grep"))
		       ? AB_TAINT_EVERY : 0;
}

/* What a filter lets through of the names that it reads. */
static void pass_names(struct ab_check *c, const struct ab_use *use,
		       const struct ab_stream *in, struct ab_stream *out)
{
	const struct ab_names *were = ab_names_noted(in);
	AB_UNINITIALIZED struct ab_word files[2 * AB_MAX_STARTS], name;
	const struct ab_word here = { .text = ".", .len = 1,
				      .span = use->words[0].span };
	struct ab_names *are;
	uint32_t n = 0;
	bool is_own;

	if (AB_UNLIKELY(in->taint & (AB_TAINT_TREE | AB_TAINT_EVERY)))
		c->out_taint |= in->taint & kept_by(use);
	if (AB_UNLIKELY(in->note && !were)) {
		out->note = pass_note(use, in);
		if (in->note == &ab_git_notes[AB_GIT_FILES])
			pass_secrets(c, use, out);
		return;
	}
	out->note = in->note;
	/* git ls-tree -r HEAD | grep env */
	if (!were && AB_UNLIKELY(in->taint & AB_TAINT_TREE))
		pass_secrets(c, use, out);
	if (AB_LIKELY(!were))
		return;
	is_own = ab_names_are_all(were, in);
	if ((is_own || ab_names_are_inside(in)) && picks_lines(use)) {
		are = ab_names_keep(c, out, were->words, were->count);
		if (!are)
			return;
		/* grep -v: who knows which it leaves */
		if (are->count && ab_word_equals(&use->words[0], "grep") &&
		    ab_found_is_hidden(&are->words[are->count - 1]))
			are->count--;
		are->is_flat = false;
		are->is_read = were->is_read;
		are->is_all = were->is_all;
		are->inside = ab_names_are_inside(in) ? out : NULL;
		are->own = is_own ? out : NULL;
		were = are;
	}
	if (!grep_name(c, use, &name))
		return;
	for (uint32_t i = 0; i < were->count && n < AB_MAX_STARTS; i++) {
		const struct ab_word *w = &were->words[i];

		/* the hidden ones that ls prints are in "." as well */
		if (!ab_found_is_hidden(w))
			ab_found_add(c, ab_found_is_any(w) ? &here : w, &name,
				     files, &n);
	}
	are = ab_names_keep(c, out, files, n);
	if (!are)
		return;
	are->is_read = were->is_read;
	are->is_all = were->is_all;
	are->inside = were->inside == out ? out : NULL;
	are->own = were->own == out ? out : NULL;
}

/* ls -dt a*: the names that the patterns take, as they are. */
static bool is_spelled(const struct ab_use *use)
{
	bool is_itself = false;

	if (!ab_word_equals(&use->words[0], "ls") || !use->operand_count ||
	    use->operand_count > AB_MAX_STARTS || !has_only(use, "1dtrSUv", ""))
		return false;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		for (uint32_t k = 0; k < w->hole_count; k++) {
			if (w->holes[k].kind != AB_HOLE_PATTERN)
				return false;
		}
		/* what xargs and words of the shell take apart */
		for (uint32_t k = 0; k < w->len; k++) {
			if (memchr(" \t\n\"'\\", w->text[k], 6))
				return false;
		}
		is_itself |= w->len > 1 && *w->text == '-' &&
			     memchr(w->text, 'd', w->len);
	}
	return is_itself;
}

/* -exec echo /etc ';': what it prints among the names, from there on. */
static uint32_t add_echoed(struct ab_check *c, const struct ab_use *use,
			   struct ab_word files[AB_MAX_STARTS], uint32_t n)
{
	for (uint32_t i = 1; i + 1 < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len < 5 || memcmp(w->text, "-exec", 5) != 0 ||
		    (!ab_word_equals(w + 1, "echo") &&
		     !ab_word_equals(w + 1, "printf")))
			continue;
		for (i += 2; i < use->count &&
			     !ab_word_equals(&use->words[i], ";"); i++) {
			if (ab_found_is_full(c, use->words, n))
				return n;
			files[n++] = use->words[i];
		}
	}
	return n;
}

static uint32_t found_by_find(struct ab_check *c, const struct ab_use *use,
			      struct ab_word files[AB_MAX_STARTS])
{
	AB_UNINITIALIZED struct ab_word others[AB_MAX_STARTS];
	uint32_t n = ab_found_paths(c, use, files);
	uint32_t count = ab_found_files(c, use, others);

	for (uint32_t i = 0; i < count; i++) {
		if (ab_found_is_full(c, use->words, n))
			break;
		files[n++] = others[i];
	}
	return add_echoed(c, use, files, n);
}

/* What went there before, unless it is the same. */
static uint32_t add_told(struct ab_check *c, const struct ab_use *use,
			 const struct ab_names *told,
			 struct ab_word files[AB_MAX_STARTS], uint32_t n)
{
	uint32_t own = n;

	for (uint32_t i = 0; i < told->count; i++) {
		const struct ab_word *w = &told->words[i];
		uint32_t k = 0;

		while (k < own && (files[k].len != w->len ||
				   memcmp(files[k].text, w->text, w->len) != 0))
			k++;
		if (k < own)
			continue;
		if (ab_found_is_full(c, use->words, n))
			break;
		files[n++] = *w;
	}
	return n;
}

/* What find, ls and locate print; the whole of a tree is ".". */
static AB_COLD void print_names(struct ab_check *c, const struct ab_use *use,
				bool is_tree, struct ab_stream *out)
{
	const struct ab_program *p = use->program;
	struct ab_word any = { .text = "*", .len = 1,
			       .span = use->words[0].span };
	AB_UNINITIALIZED struct ab_word files[2 * AB_MAX_STARTS], name;
	bool flat = false, is_exact;
	const struct ab_names *told = ab_names_noted(out); /* by git */
	uint32_t n = 0, count;
	struct ab_names *kept;

	if (is_tree)
		files[n++] = (struct ab_word){ .text = ".", .len = 1,
					       .span = any.span };
	else if (p->is_names)
		n = found_by_find(c, use, files);
	else
		n = ab_found_named(c, use, files);
	if (!n)
		return;
	/* { find a; find b; }, and by git */
	n = told ? add_told(c, use, told, files, n) : n;
	if (!is_tree && p->is_names)
		flat = !ab_found_name(c, use, &name) && ab_found_is_flat(use);
	count = n;
	for (uint32_t i = 0; flat && i < count; i++) {
		if (!ab_found_file(c, &files[i], &any, true, &files[n++]))
			return;
	}
	kept = ab_names_keep(c, out, files, n);
	if (!kept)
		return;
	kept->count = count;
	kept->is_flat = flat;
	kept->is_all = !told && !is_tree && !p->is_located;
	is_exact = p->is_listed && is_spelled(use);
	kept->is_read = (p->is_listed && !is_exact &&
			 !ab_found_are_files(c, use)) || p->is_located ||
			(told && told->is_read);
	kept->own = is_exact || (p->is_names && ab_found_is_narrow(c, use))
			    ? out : NULL;
	kept->inside = ab_found_is_inside(c, use) ? out : NULL;
}

/* Options that neither print anything else nor take names from elsewhere. */
static bool leaves_names(const struct ab_word *w, bool *is_listed)
{
	static const char letters[] = "rRliIEFwsHzZngNu0tp-";
	static const char *const names[] = {
		"--files-with-matches", "--files", "--include=", "--exclude=",
		"--exclude-dir=", "--glob=", "--type=", "--extension=",
		"--hidden", "--no-ignore", "--ignore-case", "--recursive",
		"--null", "--fixed-strings", "--word-regexp",
		"--extended-regexp", "--no-messages"
	};

	if (w->text[1] != '-') {
		for (uint32_t i = 1; i < w->len; i++) {
			if (!memchr(letters, w->text[i], sizeof(letters) - 1))
				return false;
			*is_listed |= w->text[i] == 'l';
		}
		return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (w->len >= n && !memcmp(w->text, names[i], n)) {
			*is_listed |= i < 2;
			return true;
		}
	}
	return w->len == 2;
}

/* grep -rl word src: *files are the operands that it looks into. */
static bool lists_files(const struct ab_use *use, struct ab_use *files,
			bool *is_fd)
{
	static const char *const names[] = { "grep", "egrep", "fgrep", "rg",
					     "ag", "ack", "fd", "fdfind" };
	bool is_listed = false;
	size_t n = 0;

	if (!use->words[0].len || !memchr("aefgr", *use->words[0].text, 5))
		return false;
	while (n < AB_ARRAY_LEN(names) &&
	       !ab_word_equals(&use->words[0], names[n]))
		n++;
	if (AB_LIKELY(n == AB_ARRAY_LEN(names)))
		return false;
	*is_fd = is_listed = n >= AB_ARRAY_LEN(names) - 2;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len > 1 && *w->text == '-' &&
		    !leaves_names(w, &is_listed))
			return false;
	}
	if (!is_listed || !use->operand_count)
		return false;
	*files = *use;
	/* the pattern is none of them, and rg --files has none */
	if (ab_word_equals(&use->words[0], "rg") &&
	    ab_use_has_word(use, "--files"))
		return true;
	files->operands++;
	files->operand_count--;
	return true;
}

/* fd . DIR, rg --files DIR: what there is. */
static bool lists_all(const struct ab_use *use, bool is_fd)
{
	const struct ab_word *pattern = &use->words[use->operands[0]];

	return is_fd ? ab_word_equals(pattern, ".") || !pattern->len
		     : ab_word_equals(&use->words[0], "rg") &&
			       ab_use_has_word(use, "--files");
}

/* `grep -rl x .git/hooks`, `fd -H '^\.env'`: names that are special; and those
   that are not the worktree's. */
static uint32_t list_special(struct ab_check *c, const struct ab_use *use,
			     const struct ab_use *files, bool is_fd,
			     struct ab_word out[AB_MAX_STARTS])
{
	struct ab_word here = { .text = ".", .len = 1,
				.span = use->words[0].span };
	const struct ab_word some = { .text = "{}", .len = 2,
				      .span = here.span };
	bool is_hidden = ab_use_has_letter(use, 'H') ||
			 ab_use_has_letter(use, 'u');
	struct ab_word name;
	uint32_t n = 0;

	if (is_fd && is_hidden &&
	    pattern_name(c, &use->words[use->operands[0]], true, &name) &&
	    ab_git_names_secret(c, &name, 0))
		ab_found_add(c, &here, &name, out, &n);
	for (uint32_t i = 0; i < files->operand_count; i++) {
		const struct ab_word *w = &use->words[files->operands[i]];
		const bool is_special = ab_found_is_special(c, w);

		if (!is_special && ab_found_are_inside(c, files))
			continue;
		if (ab_found_is_full(c, use->words, n))
			break;
		/* of what is elsewhere some files, or all of them */
		if (is_special || lists_all(use, is_fd))
			out[n++] = *w;
		else
			n += ab_found_file(c, w, &some, false, &out[n]);
	}
	return n;
}

/* Of the worktree, or what is special in it. */
static void print_listed(struct ab_check *c, const struct ab_use *use,
			 const struct ab_use *files, bool is_fd,
			 struct ab_stream *out)
{
	AB_UNINITIALIZED struct ab_word special[AB_MAX_STARTS];
	bool is_inside = ab_found_are_inside(c, files);
	uint32_t n = list_special(c, use, files, is_fd, special);
	struct ab_names *kept;

	if (is_inside)
		out->note = &ab_git_notes[AB_GIT_FILES];
	kept = n ? ab_names_keep(c, out, special, n) : NULL;
	if (kept)
		kept->inside = is_inside ? out : NULL;
}

/* What comes in: from a stream, or from a file that the last word names. */
static void pass_in(struct ab_check *c, const struct ab_use *use,
		    struct ab_stream *out)
{
	const struct ab_shell_command *m = c->command;
	const struct ab_stream *in = ab_has_stdin(m) ? m->place.in : c->in_list;
	struct ab_use rest = *use;

	if (AB_UNLIKELY(c->has_lists) && use->operand_count &&
	    use->operands[use->operand_count - 1] == use->count - 1) {
		const struct ab_stream *list =
			ab_list_of(c, &use->words[use->count - 1]);

		rest.operand_count -= list != NULL;
		rest.count -= list != NULL;
		in = list ? list : in;
	}
	if (in)
		pass_names(c, &rest, in, out);
}

/* find ~ -fprint l */
static void print_into(struct ab_check *c, const struct ab_use *use)
{
	uint32_t n = 0;

	for (uint32_t i = 0; use->program->is_names && i < use->value_count;
	     i++) {
		const struct ab_word *o = &use->words[use->values[i].option];
		struct ab_stream file = { .kind = AB_STREAM_REDIRECT };

		if (!ab_word_equals(o, "-fprint") &&
		    !ab_word_equals(o, "-fprint0"))
			continue;
		if (ab_found_is_full(c, o, n++))
			return;
		print_names(c, use, false, &file);
		file.span = o->span;
		ab_list_save(c, &use->words[use->values[i].word],
			     ab_list_made(c, &file), true);
	}
}

/* tee: the same goes into each file. */
static void tee_names(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_stream *in = ab_list_in(c->command);

	if (!in || !ab_has_stdin(c->command) ||
	    !ab_word_equals(use->words, "tee"))
		return;
	for (uint32_t i = 0; i < use->operand_count; i++)
		ab_list_save(c, &use->words[use->operands[i]],
			     ab_list_made(c, in), !ab_may_keep(use));
}

/* `echo .en*`: names that are special, as ls would print them. */
static AB_COLD void print_patterns(struct ab_check *c, const struct ab_use *use,
				   struct ab_stream *out)
{
	AB_UNINITIALIZED struct ab_word files[AB_MAX_STARTS];
	uint32_t n = ab_found_patterns(c, use, files);

	if (n)
		ab_names_keep(c, out, files, n);
}

static void wrap_names(struct ab_check *c, const struct ab_use *use,
		       struct ab_stream *out)
{
	const struct ab_program *p = use->program;
	AB_UNINITIALIZED struct ab_use files;
	bool is_tree, is_fd;

	if (p->is_pass)
		pass_in(c, use, out);
	is_tree = prints_tree(use);
	/* for who reads the pipe itself: no filter passes that on */
	if (is_tree && (out->kind == AB_STREAM_PIPE ||
			out->kind == AB_STREAM_REDIRECT))
		c->out_taint |= AB_TAINT_TREE;
	else if (is_tree || p->is_names || p->is_listed || p->is_located)
		print_names(c, use, is_tree, out);
	else if (c->out_taint == AB_TAINT_TEMP && !use->operand_count &&
		 !use->value_count)
		out->note = &ab_git_notes[AB_GIT_TEMP];
	else if (AB_UNLIKELY(lists_files(use, &files, &is_fd)))
		print_listed(c, use, &files, is_fd, out);
	else if (AB_UNLIKELY(ab_found_has_patterns(use)))
		print_patterns(c, use, out);
}

void ab_wrap_names(struct ab_check *c, const struct ab_use *use)
{
	struct ab_stream file = { .kind = AB_STREAM_REDIRECT };

	if (c->is_probe || c->is_reading)
		return;
	tee_names(c, use);
	print_into(c, use);
	if (AB_LIKELY(ab_has_stdout(c->command))) {
		if (c->command->place.out)
			wrap_names(c, use, c->command->place.out);
		return;
	}
	/* git has told of its own */
	file.note = c->out_list ? c->out_list->note : NULL;
	wrap_names(c, use, &file);
	file.taint = c->out_taint;
	file.span = use->words[0].span;
	c->out_list = ab_list_made(c, &file);
	c->out_taint &= ~(uint32_t)AB_TAINT_TREE;
}

/* Nothing else was written there. */
bool ab_names_are_all(const struct ab_names *names, const struct ab_stream *s)
{
	return names && names->own == s && s->writes == 1;
}

bool ab_names_are_inside(const struct ab_stream *s)
{
	const struct ab_names *names = ab_names_noted(s);

	return names && names->inside == s && s->writes <= 1;
}

bool ab_names_are_own(const struct ab_hole *hole)
{
	const struct ab_stream *s = hole->origin;

	/* read -r x rest: the rest is what stands behind a blank in a name */
	return s && !hole->is_cut && hole->part != AB_PART_BYTES &&
	       ((s->taint & AB_TAINT_FOUND) ||
		ab_names_are_all(ab_names_noted(s), s));
}

/* The names that a word stands for as a whole, or behind of=; or NULL. */
static const struct ab_names *names_of(const struct ab_word *w)
{
	const struct ab_hole *h = w->holes;

	if (w->hole_count != 1 || h->at != w->len ||
	    (w->len && w->text[w->len - 1] != '='))
		return NULL;
	return ab_names_noted(h->origin);
}

/* The same words, each behind what stands before it. False: no memory. */
static bool put_names(struct ab_check *c, const struct ab_word *w,
		      const struct ab_word *names, uint32_t count,
		      struct ab_word *out)
{
	struct ab_word before = *w;

	before.hole_count = 0;
	memcpy(out, names, count * sizeof(*out));
	for (uint32_t i = 0; w->len && i < count; i++) {
		if (!ab_file_join(c, &before, &names[i], &out[i]))
			return false;
	}
	return true;
}

/* The words with all names put in; of a flat find the second half or not. */
static void judge_found(struct ab_check *c, const struct ab_word *words,
			uint32_t count, bool is_below, unsigned what)
{
	uint32_t total = count, n = 0;
	struct ab_word *all;

	for (uint32_t i = 1; i < count; i++) {
		const struct ab_names *names = names_of(&words[i]);

		total += names ? names->count : 0;
	}
	all = total > count ? ab_check_alloc(c, total * sizeof(*all)) : NULL;
	if (!all)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_names *names = i ? names_of(&words[i]) : NULL;
		uint32_t from = names && is_below && names->is_flat
					? names->count
					: 0;

		if (!names) {
			all[n++] = words[i];
			continue;
		}
		if (!put_names(c, &words[i], names->words + from, names->count,
			       all + n))
			return;
		n += names->count;
	}
	ab_run_reading(c, NULL, all, n, what);
}

void ab_check_found_path(struct ab_check *c, enum ab_role_kind role,
			 const struct ab_word *w)
{
	const struct ab_names *names = c->has_names ? names_of(w) : NULL;
	uint32_t from;

	if (AB_LIKELY(!names || (names->is_read && role != AB_ROLE_SHOW)))
		return;
	from = names->is_flat && role != AB_ROLE_SHOW ? names->count : 0;
	for (uint32_t i = 0; i < names->count; i++)
		ab_check_path(c, c->use, role, &names->words[from + i]);
}

void ab_check_found(struct ab_check *c, const struct ab_word *words,
		    uint32_t count)
{
	bool has_names = false, is_flat = false, is_read = false;

	for (uint32_t i = 1; i < count; i++) {
		const struct ab_names *names = names_of(&words[i]);

		has_names |= names != NULL;
		is_flat |= names && names->is_flat;
		is_read |= names && names->is_read;
	}
	if (AB_LIKELY(!has_names))
		return;
	judge_found(c, words, count, false,
		    is_flat || is_read ? AB_ONLY_READ :
					 AB_ONLY_READ | AB_ONLY_CHANGED);
	if (is_flat)
		judge_found(c, words, count, true, AB_ONLY_CHANGED);
}

