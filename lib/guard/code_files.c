/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of files in programs, by what stands before them: slurp("/x"),
 * readFile /x, from '/x', include(/x), :r /x. Whatever is called with a name
 * and is not known to do otherwise reads the file; calls that are known are
 * code_table.c's. A name that is compared, printed or given to another name is
 * text. Refuses to look for names that are put together: code_home.c has
 * those.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>
#include <strings.h>

#define MAX_PATH_LEN 512

/* What makes something of a text and opens nothing; words of languages, before
   which nothing is called. */
static const char *const texts[] = {
	"print",      "println",    "printf",	  "puts",	"p",
	"pp",	      "echo",	    "say",	  "log",	"error",
	"warn",	      "info",	    "debug",	  "warning",	"write",
	"writeln",    "len",	    "length",	  "str",	"repr",
	"String",     "format",	    "sprintf",	  "join",	"basename",
	"dirname",    "normpath",   "split",	  "startswith", "startsWith",
	"start_with", "endswith",   "endsWith",	  "end_with",	"includes",
	"contains",   "indexOf",    "index",	  "match",	"test",
	"replace",    "sub",	    "gsub",	  "compile",	"search",
	"fullmatch",  "RegExp",	    "equal",	  "equals",	"deepEqual",
	"strictEqual", "assertEqual", "assertEquals", "assert_equal", "expect",
	"toBe",	      "toEqual",    "describe",	  "it",		"append",
	"push",	      "add",	    "extend",	  "insert",	"has",
	"exists",     "existsSync", "isfile",	  "isdir",	"is_file",
	"file_exists", "lstat",	    "stat",	  "access",	"Error",
	"Exception",  "ValueError", "cat",	  "message",	"princ",
	"prin1",      "display",    "quote",	  "encode",	"get",
	"post",	      "put",	    "route",	  "use",	"select",
	"where",      "and",	    "or",	  "not",	"in",
	"is",	      "if",	    "then",	  "else",	"elif",
	"return",     "case",	    "when",	  "let",	"set",
	"const",      "val",	    "var",	  "assert",	"raise",
	"throw",      "die",	    "yield",	  "of",		"as",
	"like",	      "values",	    "commit",	  "title",	"label",
	"string",     "text",	    "trim",	  "upper",	"lower",
	"while",      "until",	    "unless",	  "do",		"eq",
	"ne",	      "disp",	    "hash",	  "dump",	"inspect",
	"Output",     "Host",	    "note",	  "printfn",	"concat",
	/* whether it is there, and of what size */
	"getsize",    "getmtime",   "islink",	  "isabs",	"relpath",
	"abspath",    "realpath",   "commonpath", "splitext",	"fnmatch",
	"statSync",   "lstatSync",  "accessSync", "resolve",	"normalize",
	"extname",    "isAbsolute", "is_readable", "filesize",	"filemtime",
	"fileperms",  "fileowner",  "size",	  "exist",	"getatime",
	"file-exists-p", "fileExists", "is_absolute", "relative",
};

/* What is used to look at names of files alone: nothing is read. */
static bool is_text_call(const struct ab_word *text, const struct ab_token *t)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++) {
		if (strlen(texts[i]) == t->len &&
		    !strncasecmp(texts[i], text->text + t->at, t->len))
			return true;
	}
	return false;
}

/* A whole name of a file, from the root or a home on. */
static bool is_path(const char *s, uint32_t len)
{
	uint32_t from = len > 2 && *s == '~' ? 1 : 0;

	if (len < 4 || len > MAX_PATH_LEN || s[from] != '/' ||
	    (!from && s[1] == '.') || s[from + 1] == '/')
		return false;
	for (uint32_t i = from; i < len; i++) {
		if (memchr(" \t\n;|&<>\"", s[i], 9))
			return false;
	}
	return true;
}

static void read_path(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *text, uint32_t at, uint32_t len)
{
	const struct ab_known_path *home = &c->place->home;
	struct ab_word w;
	char *full;

	if (!ab_word_slice(c, text, at, len, &w))
		return;
	if (*w.text == '~' && home->text) {
		full = ab_check_alloc(c, home->len + w.len);
		if (!full)
			return;
		memcpy(full, home->text, home->len);
		memcpy(full + home->len, w.text + 1, w.len - 1);
		w = (struct ab_word){ .text = full, .span = w.span,
				      .len = home->len + w.len - 1 };
	}
	ab_check_path(c, use, AB_ROLE_READ, &w);
}

static bool is_sign(const struct ab_word *text, const struct ab_token *t,
		    const char *signs)
{
	return t->kind == AB_TOKEN_SIGN && t->len == 1 &&
	       strchr(signs, text->text[t->at]);
}

/* Something is called with what stands at `at`. is_free: no bracket is needed
   for that. */
static bool is_called(const struct ab_word *text, uint32_t at,
		      const struct ab_token *before,
		      const struct ab_token *behind, bool is_free)
{
	if (is_sign(text, before, "("))
		return behind->kind == AB_TOKEN_WORD &&
		       !is_text_call(text, behind);
	/* File.read!("x"), slurp "x" */
	if (is_sign(text, before, "!?") && is_free)
		return behind->kind == AB_TOKEN_WORD &&
		       !is_text_call(text, behind);
	return is_free && before->kind == AB_TOKEN_WORD && before->len &&
	       before->at + before->len <= at && !is_text_call(text, before);
}

/* raku: "/x".IO; scala: "/x".toFile */
static bool is_made_file(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	return k->lang == AB_OTHER && ab_lexer_next(&x, &t) &&
	       ab_code_is_sign(k, &t, '.') && ab_lexer_next(&x, &t) &&
	       (ab_code_is_text(k, &t, "IO") ||
		ab_code_is_text(k, &t, "toFile"));
}

void ab_code_read_string(struct ab_code *k, const struct ab_token *t)
{
	const bool is_free = k->lang & (AB_OTHER | AB_RUBY | AB_PERL | AB_LUA);
	const struct ab_token *before = &k->before, *behind = &k->behind;
	const struct ab_token *name =
		before->kind == AB_TOKEN_WORD ? before : behind;

	if (AB_LIKELY(!t->len || !memchr("/~", k->text->text[t->at], 2)) ||
	    !is_path(k->text->text + t->at, t->len))
		return;
	/* of these it is said what they do; of other languages, of whose */
	if (k->lang != AB_OTHER ? ab_code_is_known(k, name)
				: ab_code_call(k, name) != AB_CALL_NONE)
		return;
	/* File.read!("x") */
	if (k->lang == AB_OTHER && is_sign(k->text, before, "(") &&
	    is_sign(k->text, behind, "!?"))
		read_path(k->c, k->use, k->text, t->at, t->len);
	else if (is_called(k->text, t->at, before, behind, is_free) ||
		 is_made_file(k))
		read_path(k->c, k->use, k->text, t->at, t->len);
}

/* Where a name without quotes ends. */
static uint32_t bare_end(const struct ab_word *text, uint32_t at)
{
	while (at < text->len && !memchr(" \t\n\r()[]{};,\"'`|&<>", text->text[at],
					 19))
		at++;
	return at;
}

/* The sign begins a name: it stands behind a blank, a bracket or nothing. */
static bool begins_path(const struct ab_word *text, const struct ab_token *t)
{
	return is_sign(text, t, "/~") &&
	       (!t->at || memchr(" \t\n(<`", text->text[t->at - 1], 6));
}

void ab_check_files(struct ab_check *c, const struct ab_use *use,
		    const char *lang, const struct ab_word *text)
{
	struct ab_lexer x = { .text = text->text, .len = text->len,
			      .traits = ab_lex_traits(lang) };
	const bool is_make = !strcmp(lang, "make");
	struct ab_token t, before = { 0 }, behind = { 0 };

	while (ab_lexer_next(&x, &t)) {
		const char *s = text->text + t.at;
		bool is_string = t.kind == AB_TOKEN_STRING;
		uint32_t len = t.len;

		if (begins_path(text, &t)) {
			len = bare_end(text, t.at) - t.at;
			x.pos = t.at + len;
		} else if (is_string && t.quote == '`') {
			/* m4: `x' */
			const char *end = memchr(s, '\'', t.len);

			len = end ? (uint32_t)(end - s) : t.len;
			x.pos = end ? t.at + len + 1 : x.pos;
		} else if (!is_string) {
			len = 0;
		}
		/* $(file < /x); dhall: /x as Text */
		if (len && is_path(s, len) &&
		    (is_sign(text, &before, "<") ||
		     (!before.kind && !is_make && !is_string) ||
		     (!is_make && is_called(text, t.at, &before, &behind,
					    true))))
			read_path(c, use, text, t.at, len);
		behind = before;
		before = t;
	}
}
