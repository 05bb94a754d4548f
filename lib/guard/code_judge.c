/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call of an inline program, by its kind: what it does to the files that
 * its arguments name, seen from where the program went. What it runs is judged
 * in code_judge_run.c. Spec: DESIGN.md section 7.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>
#include <strings.h>

/* How many bytes at the beginning are a home; 0: none. */
static uint32_t home_len(const struct ab_word *w, bool is_expanded)
{
	static const char *const heads[] = { "$ENV{HOME}", "$ENV{'HOME'}",
					     "#{Dir.home}" };

	if (is_expanded && w->len && *w->text == '~' &&
	    (w->len == 1 || w->text[1] == '/'))
		return 1;
	for (size_t i = 0; i < AB_ARRAY_LEN(heads); i++) {
		uint32_t n = (uint32_t)strlen(heads[i]);

		if (w->len >= n && !memcmp(w->text, heads[i], n))
			return n;
	}
	return 0;
}

/* "~/x" for what expands it, and "$ENV{HOME}/x". */
static void expand_home(struct ab_code *k, struct ab_word *w, bool is_expanded)
{
	const struct ab_known_path *home = &k->c->place->home;
	uint32_t n = home_len(w, is_expanded);
	char *text;

	if (!home->text || !n || w->hole_count)
		return;
	text = ab_check_alloc(k->c, home->len + w->len);
	if (!text)
		return;
	memcpy(text, home->text, home->len);
	memcpy(text + home->len, w->text + n, w->len - n);
	w->text = text;
	w->len += home->len - n;
	w->holes = NULL;
	w->hole_count = 0;
	w->map = NULL;
	w->map_count = 0;
}

/* perl and ruby: open(F, "CMD |"), open("| CMD"), open(F, "-|", "CMD"). */
static bool open_command(struct ab_code *k, struct ab_args *a)
{
	struct ab_word w = a->words[0], rest;
	uint32_t from = 0, len = w.len;
	bool is_to = *w.text == '|';

	if (!(k->lang & (AB_PERL | AB_RUBY)) || !w.len)
		return false;
	if (w.len == 2 && a->count > 1 &&
	    (!memcmp(w.text, "-|", 2) || !memcmp(w.text, "|-", 2))) {
		if (a->count > 2) {
			ab_check_words(k->c, &a->words[1], a->count - 1, 0,
				       NULL, false);
			if (is_to && ab_code_is_shell(k, &a->words[1]))
				ab_check_flow(k->c, k->use, AB_SINK_SHELL,
					      AB_TAINT_DECODE, &a->words[1]);
			return true;
		}
		w = a->words[1];
		len = w.len;
	} else if (w.len == 2 && !memcmp(w.text, "-|", 2)) {
		/* open(F, "-|", $x) */
		ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK, k->text);
		return true;
	} else if (is_to) {
		from = 1;
	} else if (w.text[w.len - 1] == '|') {
		len--;
	} else {
		return false;
	}
	if (ab_word_slice(k->c, &w, from, len - from, &rest) &&
	    (rest.len || rest.hole_count)) {
		ab_check_script(k->c, &rest, true, NULL, 0, NULL);
		/* what is printed into a shell is not seen */
		if (is_to && ab_code_is_shell(k, &rest))
			ab_check_flow(k->c, k->use, AB_SINK_SHELL,
				      AB_TAINT_DECODE, &rest);
	}
	return true;
}

void ab_code_write(struct ab_code *k, const struct ab_word *w)
{
	if (ab_code_fetches(k)) {
		ab_file_save(k->c, w, AB_TAINT_REMOTE, NULL, false);
		return;
	}
	ab_check_path(k->c, k->use, AB_ROLE_WRITE, w);
	ab_file_make(k->c, k->use, w);
	ab_code_note_target(k, w);
}

/* perl: open(F, ">x"), "+<x" and "<x" say how and what in one. */
static bool open_mode(struct ab_code *k, const struct ab_word *w)
{
	struct ab_word path;
	uint32_t from = 0;

	while (from < w->len && memchr("+<> ", w->text[from], 4))
		from++;
	if (k->lang != AB_PERL || !from || from == w->len ||
	    !ab_word_slice(k->c, w, from, w->len - from, &path))
		return false;
	if (memchr(w->text, '>', from) || *w->text == '+')
		ab_code_write(k, &path);
	else
		ab_check_path(k->c, k->use, AB_ROLE_READ, &path);
	return true;
}

/* perl: the mode of open(F, MODE, "x"). */
static bool is_open_mode(const struct ab_code *k, const struct ab_args *a)
{
	const struct ab_word *w = &a->words[0];

	return k->lang == AB_PERL && a->count > 1 && w->len &&
	       memchr("+<>", *w->text, 3) &&
	       (w->len < 4 || memchr(w->text, ':', w->len));
}

/* "w", "a", "r+": of the words behind the name. */
static bool has_write_mode(const struct ab_args *a)
{
	for (uint32_t i = 1; i < a->count; i++) {
		const struct ab_word *w = &a->words[i];

		bool is_mode = w->len && (w->len < 4 ||
					  (w->len < 7 && w->text[1] == ':'));

		if (is_mode &&
		    (memchr("wax", *w->text, 3) ||
		     memchr(w->text, '+', w->len)))
			return true;
	}
	return a->is_written;
}

static void open_call(struct ab_code *k, struct ab_args *a)
{
	struct ab_word *w = &a->words[0];
	bool is_write;

	if (!a->count)
		return;
	if (is_open_mode(k, a)) {
		is_write = memchr(w->text, '>', w->len) || *w->text == '+';
		w = &a->words[1];
		expand_home(k, w, false);
	} else if (open_command(k, a) || open_mode(k, w)) {
		return;
	} else {
		is_write = has_write_mode(a);
	}
	if (is_write)
		ab_code_write(k, w);
	else
		ab_check_path(k->c, k->use, AB_ROLE_READ, w);
	k->c->out_taint |= AB_TAINT_FILE;
}

/* A digit, or 16. */
static uint32_t digit_of(char ch)
{
	return ch >= '0' && ch <= '9'	? (uint32_t)(ch - '0') :
	       ch >= 'a' && ch <= 'f'	? (uint32_t)(ch - 'a') + 10 :
	       ch >= 'A' && ch <= 'F'	? (uint32_t)(ch - 'A') + 10 :
					  16;
}

/* 511, 0x1ff and 0o7_77 are 0777; false: it is no number, or is written so. */
static bool number_mode(struct ab_code *k, struct ab_word *w)
{
	bool has_zero = w->len > 2 && *w->text == '0';
	char mark = has_zero ? (char)(w->text[1] | 0x20) : 0;
	uint32_t radix = mark == 'x'		   ? 16 :
			 mark == 'b'		   ? 2 :
			 w->len && *w->text != '0' ? 10 :
						     8;
	bool is_other = radix != 8;
	uint32_t value = 0;
	char *octal;

	for (uint32_t i = mark && memchr("xbo", mark, 3) ? 2 : 0; i < w->len;
	     i++) {
		uint32_t digit = digit_of(w->text[i]);

		is_other |= w->text[i] == '_';
		if (w->text[i] == '_')
			continue;
		if (digit >= radix)
			return false;
		value = value * radix + digit;
		if (value > 07777)
			return false;
	}
	if (!is_other)
		return false;
	octal = ab_check_alloc(k->c, 4);
	if (!octal)
		return false;
	for (uint32_t i = 4; i--; value >>= 3)
		octal[i] = (char)('0' + (value & 7));
	*w = (struct ab_word){ .text = octal, .len = 4, .span = w->span };
	return true;
}

static void chmod_call(struct ab_code *k, struct ab_args *a)
{
	struct ab_word words[3] = { { .text = "chmod", .len = 5 } };
	/* Path(x).chmod(0o777), chmod(x, 0o777): the mode says enough */
	const struct ab_word any = { .text = "_", .len = 1,
				     .span = k->text->span };
	/* FileUtils.chmod("a+w", "x"), chmodSync("x", "777") */
	const bool is_behind = k->lang == AB_RUBY;

	if (a->count > 1 && !a->number_token.len)
		words[1] = a->words[!is_behind];
	else if (!a->number_token.len ||
		 !ab_code_word(k, &a->number_token, &words[1]))
		return;
	struct ab_word number = words[1];

	/* 0o777 and 0777 are 777 */
	while (words[1].len > 1 && memchr("0oO", words[1].text[0], 3)) {
		words[1].text++;
		words[1].len--;
	}
	words[2] = !a->count		  ? any :
		   a->number_token.len	  ? a->words[0] :
					    a->words[is_behind];
	words[0].span = words[1].span;
	/* who writes 777 for a decimal number means the octal one */
	ab_check_words(k->c, words, 3, 0, NULL, false);
	if (a->number_token.len && number_mode(k, &number)) {
		words[1] = number;
		ab_check_words(k->c, words, 3, 0, NULL, false);
	}
	/* chmod("x", int("777", 8)) */
	if (a->number_token.len && a->count > 1 && !is_behind &&
	    a->words[1].len && digit_of(*a->words[1].text) < 8) {
		words[1] = a->words[1];
		ab_check_words(k->c, words, 3, 0, NULL, false);
	}
}

/* Addresses of files are files: file:///x, php://filter/y/resource=x. */
static bool cut_address(struct ab_code *k, struct ab_word *w)
{
	static const char *const heads[] = { "file://localhost/", "file:///",
					     "file:/" };
	static const char mark[] = "/resource=";
	const char *at = NULL;
	uint32_t from = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(heads) && !from; i++) {
		uint32_t n = (uint32_t)strlen(heads[i]);

		if (w->len > n && !strncasecmp(w->text, heads[i], n))
			from = n - 1;
	}
	if (k->lang == AB_PHP && w->len > 6 && !memcmp(w->text, "php://", 6))
		at = memmem(w->text, w->len, mark, sizeof(mark) - 1);
	if (at)
		from = (uint32_t)(at - w->text) + (uint32_t)sizeof(mark) - 1;
	return from && ab_word_slice(k->c, w, from, w->len - from, w);
}

/* php: copy("https://x", "y") */
static bool is_address(const struct ab_word *w)
{
	static const char *const heads[] = { "http://", "https://", "ftp://" };

	for (size_t i = 0; i < AB_ARRAY_LEN(heads); i++) {
		size_t n = strlen(heads[i]);

		if (w->len > n && !strncasecmp(w->text, heads[i], n))
			return true;
	}
	return false;
}

/* new File("x").delete(), path("x")->spew(...) */
static enum ab_role_kind method_role(const struct ab_code *k)
{
	static const struct {
		const char *name;
		uint8_t role;
	} methods[] = {
		{ "delete", AB_ROLE_DELETE },
		{ "deleteOnExit", AB_ROLE_DELETE },
		{ "remove", AB_ROLE_DELETE },
		{ "renameTo", AB_ROLE_DELETE },
		{ "move", AB_ROLE_DELETE },
		{ "deleteDir", AB_ROLE_REMOVE },
		{ "deleteRecursively", AB_ROLE_REMOVE },
		{ "remove_tree", AB_ROLE_REMOVE },
		{ "write", AB_ROLE_WRITE },
		{ "append", AB_ROLE_WRITE },
		{ "spew", AB_ROLE_WRITE },
		{ "spew_utf8", AB_ROLE_WRITE },
		{ "spew_raw", AB_ROLE_WRITE },
		{ "touch", AB_ROLE_WRITE },
		{ "mkdir", AB_ROLE_WRITE },
		{ "mkdirs", AB_ROLE_WRITE },
		{ "mkpath", AB_ROLE_WRITE },
		{ "createNewFile", AB_ROLE_WRITE },
		{ "setText", AB_ROLE_WRITE },
		{ "setBytes", AB_ROLE_WRITE },
		{ "writeText", AB_ROLE_WRITE },
		{ "writeBytes", AB_ROLE_WRITE },
		{ "appendText", AB_ROLE_WRITE },
		{ "appendBytes", AB_ROLE_WRITE },
		{ "withWriter", AB_ROLE_WRITE },
		{ "withPrintWriter", AB_ROLE_WRITE },
		{ "newWriter", AB_ROLE_WRITE },
		{ "printWriter", AB_ROLE_WRITE },
		{ "bufferedWriter", AB_ROLE_WRITE },
		{ "outputStream", AB_ROLE_WRITE },
		{ "newOutputStream", AB_ROLE_WRITE },
	};
	struct ab_lexer x = k->x;
	struct ab_token t, next;

	/* << "x" */
	if (!ab_lexer_next(&x, &t))
		return AB_ROLE_READ;
	if (ab_code_is_sign(k, &t, '<'))
		return AB_ROLE_WRITE;
	if (ab_code_is_sign(k, &t, '-') && !ab_lexer_next(&x, &t))
		return AB_ROLE_READ;
	if (!(ab_code_is_sign(k, &t, '.') || ab_code_is_sign(k, &t, '>')) ||
	    !ab_lexer_next(&x, &t))
		return AB_ROLE_READ;
	for (size_t i = 0; i < AB_ARRAY_LEN(methods); i++) {
		if (ab_code_is_text(k, &t, methods[i].name))
			return (enum ab_role_kind)methods[i].role;
	}
	/* .text = "x" */
	return ab_lexer_next(&x, &next) && ab_code_is_sign(k, &next, '=') &&
			       ab_code_next_byte(k->text, x.pos) != '='
		       ? AB_ROLE_WRITE
		       : AB_ROLE_READ;
}

/* Path("x").joinpath("y").unlink() */
static enum ab_role_kind joined_role(struct ab_code *k, struct ab_word *w)
{
	static const struct ab_word slash = { .text = "/", .len = 1 };
	struct ab_lexer start = k->x, behind = k->x;
	enum ab_call kind = AB_CALL_READ;
	struct ab_token t;
	struct ab_word more;

	if (!ab_lexer_next(&k->x, &t) || !ab_code_is_sign(k, &t, '.') ||
	    !ab_lexer_next(&k->x, &t) || !ab_code_is_text(k, &t, "joinpath")) {
		k->x = start;
		return AB_ROLE_READ;
	}
	for (uint32_t i = 0; i < 16 && ab_lexer_next(&k->x, &t) &&
			     !ab_code_is_sign(k, &t, ')'); i++) {
		if (t.kind != AB_TOKEN_STRING || !ab_code_word(k, &t, &more))
			continue;
		k->last = NULL;
		ab_code_append(k, w, &slash);
		ab_code_append(k, w, &more);
	}
	kind = ab_code_path_method(k, &behind);
	k->x = start;
	return kind == AB_CALL_WRITE  ? AB_ROLE_WRITE :
	       kind == AB_CALL_DELETE ? AB_ROLE_DELETE :
	       kind == AB_CALL_REMOVE ? AB_ROLE_REMOVE :
					AB_ROLE_READ;
}

/* `src/` + `**` + `/` + NAME: src/NAME, or all of src. */
static void cut_deep(struct ab_code *k, struct ab_word *w, uint32_t at)
{
	const char *slash = memrchr(w->text, '/', w->len);
	uint32_t from = (uint32_t)(slash - w->text) + 1, letters = 0;
	char *text = ab_check_alloc(k->c, w->len);

	for (uint32_t i = from; i < w->len; i++)
		letters += !memchr("*?[].!^-{},\\", w->text[i], 12);
	if (!text || from != at + 3 || !letters ||
	    memchr(w->text + from, '[', w->len - from)) {
		w->len = at + 1;
		return;
	}
	memcpy(text, w->text, at);
	memcpy(text + at, w->text + from, w->len - from);
	w->text = text;
	w->len = at + w->len - from;
	w->map = NULL;
	w->map_count = 0;
}

/* The names that a pattern takes, as paths of the shell: false: it is none. */
bool ab_code_glob(struct ab_code *k, struct ab_word *w, bool is_deep)
{
	struct ab_hole *hole = ab_check_alloc(k->c, sizeof(*hole));
	uint32_t at = 0;

	while (at < w->len && !memchr("*?[", w->text[at], 3))
		at++;
	if (!hole || w->hole_count || at == w->len)
		return false;
	/* two stars: all that is below, or what has such a name there */
	if (is_deep && w->len > at + 2 && !memcmp(w->text + at, "**/", 3))
		cut_deep(k, w, at);
	*hole = (struct ab_hole){ .at = at, .len = w->len - at,
				  .kind = AB_HOLE_PATTERN, .span = w->span };
	w->holes = hole;
	w->hole_count = 1;
	return true;
}

/* A name as it is seen from where chdir("x") went. */
static void rebase(struct ab_code *k, struct ab_word *w)
{
	struct ab_word full = k->cwd;
	const struct ab_word slash = { .text = "/", .len = 1 };

	if (!k->cwd.len || !w->len || memchr("/~", *w->text, 2))
		return;
	k->last = NULL;
	ab_code_append(k, &full, &slash);
	ab_code_append(k, &full, w);
	full.span = w->span;
	*w = full;
}

#define MAX_CWD 512 /* beyond it time would not be linear */

/* The scratch memory of a call is given back. */
static void keep_cwd(struct ab_code *k, const struct ab_word *w)
{
	char *text;

	k->cwd.len = 0;
	if (w->len > MAX_CWD) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return;
	}
	text = ab_arena_high(k->c->high, w->len + 1);
	if (!text) {
		k->c->is_broken = true;
		return;
	}
	memcpy(text, w->text, w->len);
	k->cwd = (struct ab_word){ .text = text, .len = w->len,
				   .span = w->span };
}

/* Which of the arguments are names of files: as many from the first on. */
static uint32_t names_of(const struct ab_code *k, enum ab_call kind,
			 const struct ab_args *a)
{
	switch (kind) {
	case AB_CALL_NONE:
	case AB_CALL_SHELL:
	case AB_CALL_CODE:
	case AB_CALL_SQL:
	case AB_CALL_FETCH:
	case AB_CALL_URL:
	case AB_CALL_PIPE:
	case AB_CALL_ARGV:
	case AB_CALL_GIT:
		return 0;
	case AB_CALL_READS:
	case AB_CALL_WRITES:
		return a->count;
	case AB_CALL_OPEN: /* perl: its modes */
		return k->lang == AB_PERL ? 0 : a->count > 0;
	case AB_CALL_RENAME:
	case AB_CALL_COPY:
	case AB_CALL_LINK:
	case AB_CALL_ALIAS:
		return a->count < 2 ? a->count : 2;
	default:
		return a->count > 0;
	}
}

/* A home at the beginning of a name; it is expanded by the program itself. */
static void expand_names(struct ab_code *k, enum ab_call kind,
			 struct ab_args *a)
{
	const bool takes_all = kind == AB_CALL_REMOVE ||
			       kind == AB_CALL_DELETE ||
			       kind == AB_CALL_WALK || kind == AB_CALL_FIND ||
			       kind == AB_CALL_CHDIR;

	/* R's and those of emacs expand it in every name */
	a->is_home |= k->lang == AB_OTHER ||
		      (k->lang == AB_PERL && kind == AB_CALL_PATH);
	for (uint32_t i = 0; i < a->count && (!i || i < names_of(k, kind, a));
	     i++)
		expand_home(k, &a->words[i],
			    a->is_home && (a->words[i].len > 1 || takes_all));
}

static void chdir_call(struct ab_code *k, const struct ab_args *a)
{
	k->cwd.len = 0;
	if (a->count && !a->words[0].hole_count)
		keep_cwd(k, &a->words[0]);
	else
		k->is_away = true;
}

static void sql_call(struct ab_code *k, struct ab_args *a, bool is_known)
{
	/* Git(".").execute(["git", "push"]) */
	if (k->lang == AB_PY && a->count > 1 && a->words[0].len == 3 &&
	    !memcmp(a->words[0].text, "git", 3))
		ab_check_words(k->c, a->words, a->count, 0, NULL, false);
	/* perl: do "x.pl" */
	if (k->lang == AB_PERL && k->c->has_files && k->use && is_known)
		ab_code_run_module(k, &a->words[0]);
	if (a->count)
		ab_check_text(k->c, "sql", &a->words[0]);
}

/* Two stars, and the program tells by the names which go: a walk of what is
   before them. */
static bool narrow_deep(struct ab_code *k, const struct ab_word *w)
{
	const char *stars = memmem(w->text, w->len, "**", 2);
	uint32_t at = stars ? (uint32_t)(stars - w->text) : 0;
	struct ab_word dir = { .text = ".", .len = 1, .span = w->span };

	/* .git** is no more than .git* */
	if (!stars || w->hole_count || (at && stars[-1] != '/') ||
	    (at && !ab_word_slice(k->c, w, 0, at > 1 ? at - 1 : 1, &dir)))
		return false;
	ab_code_narrow_walk(k, &dir, false);
	if (!dir.hole_count)
		return false;
	ab_check_path(k->c, k->use, AB_ROLE_REMOVE, &dir);
	return true;
}

/* Something in it removes what it is given with all that is below. */
static bool has_tree_call(struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	if (k->trees)
		return k->trees == 1;
	ab_lexer_rewind(&x);
	x.len = k->text->len;
	k->trees = 2;
	while (k->trees == 2 && ab_lexer_next(&x, &t)) {
		if (t.kind == AB_TOKEN_WORD &&
		    ab_code_call(k, &t) == AB_CALL_REMOVE)
			k->trees = 1;
	}
	return k->trees == 1;
}

/* Path("x").glob("*") has names of another place; glob.glob("*") has not. */
static bool is_elsewhere(const struct ab_code *k, const struct ab_args *a)
{
	static const char *const modules[] = { "glob", "Dir", "fg" };
	const char *s = k->text->text;
	uint32_t end = a->name.at;

	if (!end || s[end - 1] != '.')
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(modules); i++) {
		size_t n = strlen(modules[i]);

		if (end > n && !memcmp(s + end - 1 - n, modules[i], n))
			return false;
	}
	return true;
}

/* What is done to the names that a pattern takes: rm -f *, or rm -rf *, where
   nothing tells one from another. */
static enum ab_role_kind taken_role(struct ab_code *k, const struct ab_args *a,
				    const struct ab_word *w)
{
	return !is_elsewhere(k, a) && has_tree_call(k) &&
			       !ab_code_is_narrow_entry(k, AB_CALL_REMOVE, w)
		       ? AB_ROLE_REMOVE
		       : AB_ROLE_DELETE;
}

/* glob("*.c"): what is done to the names that it gives. */
static void glob_call(struct ab_code *k, struct ab_args *a)
{
	struct ab_word deep;
	bool is_deep;

	if (!a->count)
		return;
	if (ab_code_reads_files(k)) {
		deep = a->words[0];
		(void)ab_code_glob(k, &deep, false);
		ab_check_path(k->c, k->use, AB_ROLE_READ, &deep);
	}
	if (!ab_code_takes_away(k) || narrow_deep(k, &a->words[0]))
		return;
	deep = a->words[0];
	is_deep = memmem(deep.text, deep.len, "**", 2);
	if (is_deep && ab_code_glob(k, &a->words[0], true))
		ab_check_path(k->c, k->use, AB_ROLE_REMOVE, &a->words[0]);
	if (ab_code_glob(k, &deep, false))
		ab_check_path(k->c, k->use, taken_role(k, a, &deep), &deep);
}

/* What a call makes of its first name in another place. */
static void second_name(struct ab_code *k, enum ab_call kind,
			const struct ab_args *a)
{
	if (a->count < 2)
		return;
	if (kind == AB_CALL_FETCH ||
	    (kind == AB_CALL_COPY && is_address(&a->words[0])))
		ab_file_save(k->c, &a->words[1], AB_TAINT_REMOTE, NULL, false);
	if (kind == AB_CALL_FETCH)
		return;
	ab_check_path(k->c, k->use, AB_ROLE_WRITE, &a->words[1]);
	ab_file_land(k->c, k->use, &a->words[0], &a->words[1]);
	if (kind == AB_CALL_LINK || kind == AB_CALL_ALIAS)
		ab_link_make(k->c, &a->words[0], &a->words[1],
			     kind == AB_CALL_LINK);
}

static void remove_call(struct ab_code *k, struct ab_args *a, bool is_known)
{
	/* shell.rm("-rf", "x") */
	while (k->lang == AB_JS && a->count > 1 && a->words[0].len &&
	       *a->words[0].text == '-')
		memmove(a->words, a->words + 1,
			--a->count * sizeof(a->words[0]));
	/* what they are given is a pattern, too */
	if (k->lang == AB_JS && is_known &&
	    memchr(a->words[0].text, '*', a->words[0].len))
		(void)ab_code_glob(k, &a->words[0], true);
}

/* The calls that are judged whole; false: its first name is, by first_role. */
static bool judge_whole(struct ab_code *k, enum ab_call kind,
			struct ab_args *a, bool is_known)
{
	switch (kind) {
	case AB_CALL_CHDIR:
		chdir_call(k, a);
		return true;
	case AB_CALL_SHELL:
		ab_code_judge_shell(k, a, is_known);
		return true;
	case AB_CALL_CODE:
		ab_code_judge_code(k, a, is_known);
		return true;
	case AB_CALL_PIPE:
		ab_code_judge_pipe(k, a);
		return true;
	case AB_CALL_ARGV:
	case AB_CALL_GIT:
		ab_code_judge_method(k, kind == AB_CALL_GIT, a);
		return true;
	case AB_CALL_OPEN:
		open_call(k, a);
		return true;
	case AB_CALL_CHMOD:
		chmod_call(k, a);
		return true;
	case AB_CALL_SQL:
		sql_call(k, a, is_known);
		return true;
	case AB_CALL_GLOB:
		glob_call(k, a);
		return true;
	case AB_CALL_READ: /* IO.read("| make") */
		return k->lang == AB_RUBY && is_known &&
		       *a->words[0].text == '|' && open_command(k, a);
	case AB_CALL_WALK:
	case AB_CALL_FIND:
		return !ab_code_takes_away(k);
	default:
		return false;
	}
}

/* What it does to its first name; the other names are judged here. */
static enum ab_role_kind first_role(struct ab_code *k, enum ab_call kind,
				    struct ab_args *a, bool is_known)
{
	enum ab_role_kind role = AB_ROLE_READ;

	switch (kind) {
	case AB_CALL_COPY:
	case AB_CALL_LINK:
	case AB_CALL_ALIAS:
	case AB_CALL_FETCH:
		second_name(k, kind, a);
		return role;
	case AB_CALL_RENAME:
		second_name(k, kind, a);
		/* Path(x).rename("y") */
		if (k->lang == AB_PY && a->count == 1)
			ab_check_path(k->c, k->use, AB_ROLE_WRITE,
				      &a->words[0]);
		return AB_ROLE_DELETE;
	case AB_CALL_REMOVE:
		remove_call(k, a, is_known);
		return AB_ROLE_REMOVE;
	case AB_CALL_WALK:
	case AB_CALL_FIND:
		if (a->count)
			ab_code_narrow_walk(k, &a->words[0],
					    kind == AB_CALL_FIND);
		return AB_ROLE_REMOVE;
	case AB_CALL_DELETE:
		return AB_ROLE_DELETE;
	case AB_CALL_WRITE:
		return AB_ROLE_WRITE;
	case AB_CALL_READS:
	case AB_CALL_WRITES:
		if (kind == AB_CALL_WRITES || a->is_written)
			role = AB_ROLE_WRITE;
		for (uint32_t i = 1; i < a->count; i++)
			ab_check_path(k->c, k->use, role, &a->words[i]);
		return role;
	case AB_CALL_PATH:
		return method_role(k);
	case AB_CALL_READ:
		return k->lang == AB_PY && is_known
			       ? joined_role(k, &a->words[0]) : role;
	case AB_CALL_LOAD:
		for (uint32_t i = 0; i < a->count && k->use &&
				     AB_UNLIKELY(k->c->has_files); i++) {
			if (!a->words[i].hole_count)
				ab_code_run_module(k, &a->words[i]);
		}
		return role;
	default:
		return role;
	}
}

/* unlink "a", "b", make_path("a", "b") and js's rm("-rf", "a", "b"): all of
   them are names. */
static bool takes_all(const struct ab_code *k, enum ab_call kind,
		      const struct ab_args *a)
{
	if (kind == AB_CALL_WRITE)
		return k->lang == AB_PERL &&
		       (ab_code_is_text(k, &a->name, "make_path") ||
			ab_code_is_text(k, &a->name, "mkpath"));
	if (k->lang == AB_JS)
		return kind == AB_CALL_REMOVE && a->words[0].len &&
		       *a->words[0].text == '-';
	if (k->lang == AB_OTHER)
		return kind == AB_CALL_DELETE && !strcmp(k->name, "r");
	return k->lang & (AB_PERL | AB_RUBY) &&
	       (kind == AB_CALL_DELETE || kind == AB_CALL_REMOVE);
}

/* rm_rf(["a", "b"]), cp(["a", "b"], "c"): each of the names, with what stands
   behind them. False: there is one. */
static bool judge_names(struct ab_code *k, enum ab_call kind,
			const struct ab_args *a)
{
	const uint32_t kinds = 1u << AB_CALL_REMOVE | 1u << AB_CALL_DELETE |
			       1u << AB_CALL_WRITE | 1u << AB_CALL_RENAME |
			       1u << AB_CALL_COPY | 1u << AB_CALL_GLOB |
			       1u << AB_CALL_WALK | 1u << AB_CALL_FIND;
	uint32_t n = a->listed;
	struct ab_args *one;

	if (AB_LIKELY(a->count < 2 || !(kinds >> kind & 1)))
		return false;
	/* {"x": "a"}["x"]: what of it is the name, is not looked at */
	if ((kind == AB_CALL_REMOVE || kind == AB_CALL_DELETE) && a->first > n)
		n = a->first;
	/* map(shutil.rmtree, words) */
	if (takes_all(k, kind, a) || a->is_handed)
		n = a->count;
	if (n > a->count)
		n = a->count;
	if (n < 2 || !(one = ab_check_alloc(k->c, sizeof(*one))))
		return false;
	for (uint32_t i = 0; i < n && !k->c->is_broken; i++) {
		*one = *a;
		one->listed = one->first = 1;
		one->count = 1 + a->count - n;
		one->words[0] = a->words[i];
		memcpy(one->words + 1, a->words + n,
		       (a->count - n) * sizeof(a->words[0]));
		ab_code_judge(k, kind, one);
	}
	return true;
}

void ab_code_judge(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	const bool is_known = a->count && a->words[0].len &&
			      !a->words[0].hole_count;
	enum ab_role_kind role;
	bool is_file;

	if (AB_UNLIKELY(judge_names(k, kind, a)))
		return;
	is_file = a->count && kind != AB_CALL_SHELL && kind != AB_CALL_CODE &&
		  cut_address(k, &a->words[0]);
	expand_names(k, kind, a);
	if (k->argv_count || k->lang == AB_AWK)
		ab_code_note_argv(k, kind, a);
	for (uint32_t i = 0; k->cwd.len && i < names_of(k, kind, a); i++)
		rebase(k, &a->words[i]);
	if (judge_whole(k, kind, a, is_known) ||
	    (kind == AB_CALL_URL && !is_file))
		return;
	role = first_role(k, kind, a, is_known);
	if (a->count && role == AB_ROLE_WRITE)
		ab_code_write(k, &a->words[0]);
	else if (a->count)
		ab_check_path(k->c, k->use, role, &a->words[0]);
}
