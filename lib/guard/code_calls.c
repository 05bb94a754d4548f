/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a call of an inline program is and what it is no call of: by what stands
 * around its name. code_table.c has the names, and what their arguments mean is
 * code_judge.c's.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

bool ab_code_is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_';
}

/* The name as a word of the text. */
bool ab_code_text_has(const struct ab_word *text, const char *name)
{
	const char *at = text->text, *end = text->text + text->len;
	size_t n = strlen(name);

	for (; (at = memmem(at, (size_t)(end - at), name, n)); at++) {
		if ((at == text->text || !ab_code_is_letter(at[-1])) &&
		    (at + n == end || !ab_code_is_letter(at[n])))
			return true;
	}
	return false;
}

bool ab_code_has_name(const struct ab_code *k, const char *name)
{
	return ab_code_text_has(k->text, name);
}

bool ab_code_reads_files(struct ab_code *k)
{
	static const char *const names[] = { "open",	  "read",
					     "read_text", "read_bytes",
					     "readlines", "readFileSync",
					     "readFile",  "file_get_contents",
					     "readfile",  "file",
					     "copy",	  "copyfile",
					     "copy2" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names) && !k->reads; i++) {
		if (ab_code_text_has(k->text, names[i]))
			k->reads = 1;
	}
	if (!k->reads)
		k->reads = 2;
	return k->reads == 1;
}

bool ab_code_reads_input(const struct ab_code *k)
{
	static const struct {
		const char *name;
		uint8_t langs;
	} names[] = {
		{ "stdin", AB_ALL_LANGS }, { "STDIN", AB_ALL_LANGS },
		{ "input", AB_PY },	   { "raw_input", AB_PY },
		{ "fileinput", AB_PY },	   { "gets", AB_RUBY },
		{ "ARGF", AB_RUBY },	   { "getline", AB_AWK },
	};
	/* a file's number, and what has no letters */
	static const struct {
		const char *text;
		uint8_t langs;
	} texts[] = {
		{ "open(0", AB_PY },	 { "fdopen(0", AB_PY },
		{ "read(0", AB_PY },	 { "<>", AB_PERL },
		{ "Sync(0", AB_JS },	 { "$_", AB_PERL | AB_RUBY },
		{ "io.read", AB_LUA },	 { "/fd/0", AB_ALL_LANGS },
		{ "io.lines", AB_LUA },	 { "$0", AB_AWK },
		{ "$1", AB_AWK },	 { "php://stdin", AB_PHP },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if ((names[i].langs & k->lang) &&
		    ab_code_text_has(k->text, names[i].name))
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++) {
		if ((texts[i].langs & k->lang) &&
		    memmem(k->text->text, k->text->len, texts[i].text,
			   strlen(texts[i].text)))
			return true;
	}
	return false;
}

bool ab_code_takes_away(struct ab_code *k)
{
	if (!k->is_counted)
		k->removals = ab_code_count_removals(k, k->text);
	k->is_counted = true;
	return k->removals;
}

/* The byte behind the blanks from `at` on; 0: the end. */
char ab_code_next_byte(const struct ab_word *text, uint32_t at)
{
	while (at < text->len && memchr(" \t\r\n", text->text[at], 4))
		at++;
	return at < text->len ? text->text[at] : 0;
}

/* The byte before the blanks at `at`, and where it is. */
char ab_code_last_byte(const struct ab_word *text, uint32_t *at)
{
	while (*at && memchr(" \t\r\n", text->text[*at - 1], 4))
		--*at;
	return *at ? text->text[*at - 1] : 0;
}

/* What stands behind `name =` is a pattern: /x/ or new RegExp(). */
static bool is_pattern_name(const struct ab_word *text, const char *name,
			    uint32_t n)
{
	const char *at = text->text, *end = text->text + text->len;

	for (; (at = memmem(at, (size_t)(end - at), name, n)); at++) {
		uint32_t i = (uint32_t)(at - text->text) + n;

		if ((at > text->text && ab_code_is_letter(at[-1])) ||
		    ab_code_next_byte(text, i) != '=')
			continue;
		i = (uint32_t)((const char *)memchr(text->text + i, '=',
						    text->len - i) -
			       text->text) + 1;
		while (i < text->len && text->text[i] == ' ')
			i++;
		if ((i < text->len && text->text[i] == '/') ||
		    (text->len - i > 10 &&
		     !memcmp(text->text + i, "new RegExp", 10)))
			return true;
	}
	return false;
}

/* So often all of the text is looked through; then exec() runs something. */
#define MAX_LOOKS 64

/* js: x.exec(y), where x is no child_process. */
static bool is_match(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_word *text = k->text;
	uint32_t at = t->at, from;

	if (k->lang != AB_JS || t->len != 4 ||
	    memcmp(text->text + at, "exec", 4) != 0 ||
	    ab_code_last_byte(text, &at) != '.')
		return false;
	/* without one there is none to take it from */
	if (!(k->modules & AB_MODULE_COMMANDS))
		return true;
	at--;
	if (at && text->text[at - 1] == '?')
		at--;
	/* /x/g.exec(y) */
	for (from = at; from && ab_code_is_letter(text->text[from - 1]);)
		from--;
	if (from && text->text[from - 1] == '/')
		return true;
	return from < at && k->looked++ < MAX_LOOKS &&
	       is_pattern_name(text, text->text + from, at - from);
}

bool ab_code_is_match(struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text;
	uint32_t at = t->at, from;

	if (k->lang != AB_JS || !ab_code_is_text(k, t, "exec") ||
	    !ab_code_is_sign(k, &k->before, '.'))
		return false;
	if (k->behind.kind == AB_TOKEN_SIGN && k->behind.len > 1 &&
	    s[k->behind.at] == '/' && !k->behind.is_doubt)
		return true;
	/* what has that name may be another thing by now */
	if (k->modules & AB_MODULE_COMMANDS || k->looked++ >= MAX_LOOKS ||
	    ab_code_text_has(k->text, "require") || ab_code_text_has(k->text, "import"))
		return false;
	at = k->before.at;
	for (from = at; from && ab_code_is_letter(s[from - 1]);)
		from--;
	return from < at && is_pattern_name(k->text, s + from, at - from);
}

/* go: t.Run("x", func...) of package testing. */
static bool is_subtest(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	return ab_code_is_text(k, t, "Run") && t->at > 2 && s[-1] == '.' &&
	       memchr("tb", s[-2], 2) && !ab_code_is_letter(s[-3]) &&
	       k->modules & AB_MODULE_TESTING;
}

/* A word that says of which kind it is, or of which it is one. */
static bool is_said_of(const struct ab_code *k, const struct ab_word *text,
		       uint32_t from)
{
	static const char *const words[] = { "in", "string", "str", "String" };
	struct ab_token word = { .kind = AB_TOKEN_WORD };

	while (from < text->len && memchr(" \t", text->text[from], 2))
		from++;
	word.at = from;
	while (from < text->len && ab_code_is_letter(text->text[from]))
		from++;
	word.len = from - word.at;
	return ab_code_is_one_of(k, &word, words, AB_ARRAY_LEN(words));
}

bool ab_code_runs_nothing(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const words[] = { "let", "mut", "var", "val",
					     "const", "auto", "final", "def",
					     "String", "string", "str" };
	const struct ab_word *text = k->text;
	uint32_t at = t->at, i = t->at + t->len;
	struct ab_token word = { .kind = AB_TOKEN_WORD };
	char next = ab_code_next_byte(text, i);

	if (*(text->text + t->at) == 'R')
		return is_subtest(k, t);
	/* dart, c#: a command that is called cmd may be one that they run */
	if (k->modules & AB_MODULE_PROCESS)
		return false;
	if (next && memchr("),;.]}", next, 6))
		return true;
	if (is_said_of(k, text, i))
		return true;
	if (!next || !memchr(":=", next, 2))
		return false;
	i = (uint32_t)((const char *)memchr(text->text + i, next,
					    text->len - i) - text->text) + 1;
	if (i < text->len && text->text[i] == '=')
		return true;
	if (next == ':' || ab_code_last_byte(text, &at) == '*')
		return next == '=';
	word.at = at;
	while (word.at && ab_code_is_letter(text->text[word.at - 1]))
		word.at--;
	word.len = at - word.at;
	return ab_code_is_one_of(k, &word, words, AB_ARRAY_LEN(words));
}

bool ab_code_is_run(struct ab_code *k, const struct ab_token *t)
{
	uint32_t at = t->at;
	char next = ab_code_next_byte(k->text, t->at + t->len);
	char last;

	if (is_match(k, t))
		return false;
	if (next == '(' || k->lang & (AB_PERL | AB_RUBY | AB_OTHER))
		return true;
	/* lua: f"x"; js: f`x`, f?.(x), f.call(null, x) */
	if (next && memchr("\"'`?.", next, 5))
		return true;
	/* map(os.system, x) */
	last = ab_code_last_byte(k->text, &at);
	if (!next || !memchr(",)]", next, 3))
		return false;
	if (last == '(') {
		at--;
		(void)ab_code_last_byte(k->text, &at);
		return at < 6 || memcmp(k->text->text + at - 6, "import", 6);
	}
	return last == '.' || last == '[';
}

bool ab_code_is_one_of(const struct ab_code *k, const struct ab_token *t,
		       const char *const *names, size_t count)
{
	const char *s = k->text->text + t->at;

	for (size_t i = 0; t->len && i < count; i++) {
		if (*names[i] == *s && ab_code_is_text(k, t, names[i]))
			return true;
	}
	return false;
}

bool ab_code_hands_on(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"split", "quote", "join", "str", "list", "tuple",
		"dedent", "strip", "which", "Path",
		"fspath", "expanduser", "expandvars", "resolve", "concat",
		"String", "raw", "escapeshellarg",
		"escapeshellcmd", "escape", "shellescape", "shelljoin",
		"catfile", "expand_path", "push", "unshift", "array",
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

bool ab_code_ends_words(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const words[] = { "or", "and", "if", "unless",
					     "while", "until", "do", "for",
					     "foreach", "rescue", "then" };

	return t->is_line || ab_code_is_sign(k, t, ';') ||
	       ab_code_is_sign(k, t, '}') ||
	       (k->lang & (AB_PERL | AB_RUBY) &&
		ab_code_is_one_of(k, t, words, AB_ARRAY_LEN(words)));
}

/* The first argument, token by token. */
struct first {
	int depth;
	int hidden; /* the depth of a call or an index, whose strings are no
		       part of it; 0: none */
	bool is_said, is_computed;
};

/* " ".join(x): what it joins is the command. */
static bool is_separator(const struct ab_code *k, const struct ab_token *t)
{
	struct ab_lexer x = k->x;
	struct ab_token next;

	return t->kind == AB_TOKEN_STRING && k->lang & (AB_PY | AB_JS) &&
	       ab_lexer_next(&x, &next) && ab_code_is_sign(k, &next, '.') &&
	       ab_lexer_next(&x, &next) && ab_code_is_text(k, &next, "join");
}

static void see_token(struct ab_code *k, struct first *f,
		      const struct ab_token *t, const struct ab_token *before)
{
	char ch = t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;
	struct ab_word own;

	if (ch && memchr("([{", ch, 3)) {
		bool is_call = before->kind == AB_TOKEN_WORD ||
			       ab_code_is_sign(k, before, ')') ||
			       ab_code_is_sign(k, before, ']');

		f->depth++;
		if (is_call && !f->hidden && !ab_code_hands_on(k, before))
			f->hidden = f->depth;
	} else if (ch && memchr(")]}", ch, 3)) {
		if (f->hidden == f->depth)
			f->hidden = 0;
		f->depth--;
	} else if (ab_code_is_joint(k, t) && !f->depth) {
		/* f(x) + "it push" */
		f->is_computed |= !f->is_said && before->kind;
	} else if (t->kind == AB_TOKEN_STRING && !ab_code_hands_on(k, before) &&
		   before->kind == AB_TOKEN_WORD &&
		   k->lang & (AB_PERL | AB_RUBY)) {
		return; /* eval get "https://..." */
	} else if (!f->hidden && !is_separator(k, t)) {
		f->is_said |= (t->kind == AB_TOKEN_STRING &&
			       !ab_code_runs_text(k, t)) ||
			      ab_code_value(k, t) ||
			      ab_code_own_program(k, t, &own);
	}
}

/* Behind the comma that ends the argument that begins with t: t is the next
   token. Where the next argument begins. */
static uint32_t skip_argument(const struct ab_code *k, struct ab_lexer *x,
			      struct ab_token *t)
{
	uint32_t start = x->pos;
	int depth = 0;

	for (uint32_t i = 0; i < 64 && t->kind; i++) {
		char ch = t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;
		bool is_end = ch == ',' && !depth;

		depth += ch && memchr("([{", ch, 3);
		depth -= ch && memchr(")]}", ch, 3);
		start = x->pos;
		if (!ab_lexer_next(x, t))
			t->kind = 0;
		if (is_end)
			break;
	}
	return start;
}

void ab_code_see_first(const struct ab_code *k, struct ab_args *a)
{
	const bool is_bare = ab_code_next_byte(k->text, k->x.pos) != '(';
	struct ab_word first = *k->text;
	struct ab_code inner = *k;
	struct ab_token t = { 0 }, before = { 0 }, behind = { 0 };
	struct first f = { 0 };
	struct ab_lexer x = k->x;
	uint32_t start;

	bool is_remote = false;

	a->is_fed = a->is_computed = a->is_fetched = false;
	if (is_bare && !(a->is_command && k->lang & (AB_PERL | AB_RUBY)))
		return;
	/* ( and [ before the first word of a list */
	do
		start = x.pos;
	while (ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_SIGN &&
	       memchr("([", k->text->text[t.at], 2));
	if (ab_code_is_environment(k, &t))
		start = skip_argument(k, &x, &t);
	first.text += start;
	first.len = 0;
	for (uint32_t i = 0; i < 64 && t.kind; i++) {
		if ((is_bare && i && !f.depth && ab_code_ends_words(k, &t)) ||
		    (!f.depth && (ab_code_is_sign(k, &t, ',') ||
				  ab_code_is_sign(k, &t, ')') ||
				  ab_code_is_sign(k, &t, ']') ||
				  ab_code_is_sign(k, &t, '}'))))
			break;
		inner.x = x;
		see_token(&inner, &f, &t, &before);
		is_remote |= ab_code_is_remote(k, &t, x, &before, &behind);
		first.len = x.pos - start;
		behind = before;
		before = t;
		if (!ab_lexer_next(&x, &t))
			break;
	}
	inner.text = &first;
	a->is_fetched = is_remote;
	a->is_computed = (!f.is_said || f.is_computed) && first.len;
	a->is_fed = !is_bare && (!f.is_said || ab_code_reads_input(&inner));
}

/* The names behind `subprocess as`. */
static void find_aliases(struct ab_code *k)
{
	static const char as[] = "subprocess as ";
	const size_t n = sizeof(as) - 1;
	const struct ab_word *text = k->text;
	const char *at = text->text, *end = text->text + text->len;

	while (k->alias_count < AB_ARRAY_LEN(k->aliases) &&
	       (at = memmem(at, (size_t)(end - at), as, n))) {
		struct ab_token *t = &k->aliases[k->alias_count++];

		at += n;
		t->at = (uint32_t)(at - text->text);
		while (at < end && ab_code_is_letter(*at))
			at++;
		t->len = (uint32_t)(at - text->text) - t->at;
	}
}

void ab_code_find_modules(struct ab_code *k)
{
	const struct ab_word *text = k->text;

	if (k->lang == AB_PY && ab_code_text_has(text, "mock"))
		k->modules |= AB_MODULE_MOCK;
	if (k->lang == AB_PY && ab_code_text_has(text, "subprocess")) {
		k->modules |= AB_MODULE_SUBPROCESS;
		find_aliases(k);
	}
	if (k->lang == AB_PY && (memmem(text->text, text->len, "import sh", 9) ||
				 memmem(text->text, text->len, "from sh ", 8)))
		k->modules |= AB_MODULE_SH | AB_MODULE_GIT;
	if (k->lang == AB_PY && ab_code_text_has(text, "git"))
		k->modules |= AB_MODULE_GIT;
	if (k->lang == AB_PY &&
	    (ab_code_text_has(text, "ZipFile") || ab_code_text_has(text, "tarfile")))
		k->modules |= AB_MODULE_ARCHIVE;
	if (k->lang == AB_OTHER && ab_code_text_has(text, "testing"))
		k->modules |= AB_MODULE_TESTING;
	if (k->lang == AB_OTHER && ab_code_text_has(text, "Process"))
		k->modules |= AB_MODULE_PROCESS;
	if (k->lang != AB_JS)
		return;
	if (memmem(text->text, text->len, "simple-git", 10) ||
	    memmem(text->text, text->len, "isomorphic-git", 14))
		k->modules |= AB_MODULE_GIT;
	if (ab_code_text_has(text, "child_process"))
		k->modules |= AB_MODULE_CHILD;
	if (ab_code_text_has(text, "Deno"))
		k->modules |= AB_MODULE_DENO;
	if (memmem(text->text, text->len, "child", 5) ||
	    memmem(text->text, text->len, "shell", 5))
		k->modules |= AB_MODULE_COMMANDS;
}

/* subprocess.run() or, where it was imported as p, p.run(). */
static bool is_of_subprocess(const struct ab_code *k, uint32_t at)
{
	static const char module[] = "subprocess";
	const char *s = k->text->text;
	uint32_t from;

	if (ab_code_last_byte(k->text, &at) != '.')
		return true; /* from subprocess import run */
	at--;
	for (from = at; from && ab_code_is_letter(s[from - 1]);)
		from--;
	if (at - from == sizeof(module) - 1 &&
	    !memcmp(s + from, module, at - from))
		return true;
	for (uint32_t i = 0; i < k->alias_count; i++) {
		if (k->aliases[i].len == at - from &&
		    !memcmp(s + k->aliases[i].at, s + from, at - from))
			return true;
	}
	return false;
}

/* :system, and not CORE::system */
static bool is_symbol(const struct ab_code *k, const struct ab_token *of)
{
	const struct ab_token *b = &k->before;

	return ab_code_is_sign(k, b, ':') && b->at + 1 == of->at &&
	       !(b->at && k->text->text[b->at - 1] == ':');
}

/* sub system, def system, :system: it is no call. */
static bool is_name_only(const struct ab_code *k, const struct ab_token *of)
{
	return ab_code_is_text(k, &k->before, "def") ||
	       ab_code_is_text(k, &k->before, "sub") || is_symbol(k, of);
}

/* perl and ruby: system "rm", x; behind the lexer. */
static bool begins_words(const struct ab_code *k, const struct ab_token *of)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	if (is_name_only(k, of) || !ab_lexer_next(&x, &t))
		return false;
	if (t.kind != AB_TOKEN_SIGN)
		return !ab_code_ends_words(k, &t);
	return !t.is_line && memchr("*@%[<", k->text->text[t.at], 5);
}

/* cmd("x"), and of lisp (system* "x") */
static bool begins_string(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token next;

	return ab_lexer_next(&x, &next) &&
	       (next.kind == AB_TOKEN_STRING ||
		(ab_code_is_sign(k, &next, '(') && ab_lexer_next(&x, &next) &&
		 next.kind == AB_TOKEN_STRING));
}

bool ab_code_names_command(const struct ab_code *k, const struct ab_token *t)
{
	/* of other things too */
	static const char *const shared[] = { "run",	"call",	   "Command",
					      "sh",	"shell",   "script",
					      "open2",	"open3",   "Process",
					      "exec_command", "exec_run" };
	bool is_shared = false, is_method;
	uint32_t at = t->at;
	char last;

	last = ab_code_last_byte(k->text, &at);
	is_method = last == '.' || last == '>';
	for (size_t i = 0; i < AB_ARRAY_LEN(shared); i++)
		is_shared |= ab_code_is_text(k, t, shared[i]);
	switch (k->lang) {
	case AB_PY:
		return !is_shared || (k->modules & AB_MODULE_SUBPROCESS &&
				      is_of_subprocess(k, t->at));
	case AB_JS:
		if (k->modules & AB_MODULE_DENO &&
		    ab_code_is_text(k, t, "Command"))
			return true;
		return !is_shared && (k->modules & AB_MODULE_CHILD ||
				      ab_code_is_text(k, &k->behind, "Bun"));
	case AB_RUBY:
	case AB_PHP:
		/* those of a data base */
		return !is_shared &&
		       !(is_method && ab_code_is_text(k, t, "exec"));
	case AB_PERL:
	case AB_LUA:
	case AB_AWK:
		return !is_shared;
	default:
		/* go's, of the shared ones; so many things have these names
		   that only what begins with a string is one */
		is_shared &= !ab_code_is_text(k, t, "Command") ||
			     !ab_code_is_text(k, &k->behind, "exec");
		return !is_shared &&
		       (!strcmp(k->name, "r") || begins_string(k));
	}
}

bool ab_code_is_command(const struct ab_code *k, const struct ab_token *t)
{
	char next = ab_code_next_byte(k->text, t->at + t->len);

	return (next == '(' || next == '"' ||
		/* system {$p} "x": the block says which program */
		(next == '{' && k->lang == AB_PERL && !is_name_only(k, t)) ||
		(k->lang & (AB_PERL | AB_RUBY) && begins_words(k, t))) &&
	       ab_code_names_command(k, t);
}

bool ab_code_is_code(const struct ab_code *k, const struct ab_token *t)
{
	/* what else may eval() */
	static const char *const own[] = {
		"builtins", "__builtins__", "globalThis", "window",  "global",
		"self",	    "Kernel",	    "binding",	  "Binding", "this",
	};
	const bool is_method = ab_code_is_sign(k, &k->before, '.');
	struct ab_token of = { .kind = AB_TOKEN_WORD };
	uint32_t at = t->at;
	char next = ab_code_next_byte(k->text, t->at + t->len);

	if (ab_code_is_text(k, t, "timeit") ||
	    ab_code_is_text(k, t, "compile") ||
	    ab_code_is_text(k, t, "Worker"))
		return false;
	if (k->lang & (AB_PERL | AB_RUBY))
		return next == '(' || begins_words(k, t);
	/* what others are given that is no string is mostly code already, or
	   a number to be */
	if (k->lang == AB_OTHER && !ab_code_is_text(k, t, "eval_string") &&
	    !ab_code_is_text(k, t, "include_string"))
		return false;
	if (next != '(' || !is_method || !(ab_code_is_text(k, t, "eval") ||
					   ab_code_is_text(k, t, "exec")))
		return next == '(';
	(void)ab_code_last_byte(k->text, &at);
	of.at = at -= at > 0;
	while (of.at && ab_code_is_letter(k->text->text[of.at - 1]))
		of.at--;
	of.len = at - of.at;
	return ab_code_is_one_of(k, &of, own, AB_ARRAY_LEN(own));
}

bool ab_code_has_eval(const struct ab_code *k)
{
	const struct ab_word *text = k->text;
	const char *at = text->text, *end = text->text + text->len;

	for (; (at = memmem(at, (size_t)(end - at), "eval", 4)); at++) {
		uint32_t i = (uint32_t)(at - text->text) + 4;

		if ((at == text->text || !ab_code_is_letter(at[-1])) &&
		    (at + 4 == end || !ab_code_is_letter(at[4])) &&
		    ab_code_next_byte(text, i) != '{')
			return true;
	}
	return false;
}
