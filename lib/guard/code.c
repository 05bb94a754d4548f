/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inline programs (python -c, perl -e, awk): calls that run commands or touch
 * files, as far as their arguments are literal. The strings of such a call
 * are judged as the shell would get them. What is computed is not seen; the
 * token rules of the language look for the computing itself.
 */
#include "config.h"

#include "guard/check.h"
#include "guard/command.h"
#include "guard/text.h"

#include <string.h>

#define MAX_STRINGS 64 /* of one call */
#define MAX_TOKENS 512

enum call_kind {
	CALL_NONE,
	CALL_SHELL, /* one string is a line, several are an argv */
	CALL_REMOVE,
	CALL_DELETE,
	CALL_WRITE,
	CALL_READ,
	CALL_OPEN, /* by its mode */
	CALL_CHMOD,
	CALL_SQL,
	CALL_RENAME,
	CALL_COPY,
	CALL_CODE /* of the same language */
};

enum {
	PY = 1,
	PERL = 2,
	RUBY = 4,
	JS = 8,
	PHP = 16,
	LUA = 32,
	AWK = 64,
	OTHER = 128,
	ALL = 255
};

static const struct {
	const char *name;
	uint8_t langs, kind;
} calls[] = {
	{ "system", ALL, CALL_SHELL },	     { "popen", ALL, CALL_SHELL },
	{ "Popen", PY, CALL_SHELL },	     { "run", PY, CALL_SHELL },
	{ "call", PY, CALL_SHELL },	     { "check_call", PY, CALL_SHELL },
	{ "check_output", PY, CALL_SHELL },  { "getoutput", PY, CALL_SHELL },
	{ "getstatusoutput", PY, CALL_SHELL },
	{ "execv", PY, CALL_SHELL },	     { "execl", PY, CALL_SHELL },
	{ "execlp", PY, CALL_SHELL },	     { "execvp", PY, CALL_SHELL },
	{ "execve", PY, CALL_SHELL },	     { "spawnl", PY, CALL_SHELL },
	{ "spawnv", PY, CALL_SHELL },	     { "spawnlp", PY, CALL_SHELL },
	{ "spawnvp", PY, CALL_SHELL },	     { "posix_spawn", PY, CALL_SHELL },
	{ "spawn", (uint8_t)(PY | RUBY | JS | OTHER), CALL_SHELL },
	{ "create_subprocess_shell", PY, CALL_SHELL },
	{ "create_subprocess_exec", PY, CALL_SHELL },
	{ "exec", (uint8_t)(PERL | RUBY | JS | PHP | OTHER), CALL_SHELL },
	{ "execute", LUA, CALL_SHELL },
	{ "capture2", RUBY, CALL_SHELL },    { "capture2e", RUBY, CALL_SHELL },
	{ "capture3", RUBY, CALL_SHELL },    { "popen3", RUBY, CALL_SHELL },
	{ "execSync", JS, CALL_SHELL },	     { "execFile", JS, CALL_SHELL },
	{ "execFileSync", JS, CALL_SHELL },  { "spawnSync", JS, CALL_SHELL },
	{ "Command", JS, CALL_SHELL },	     { "shell_exec", PHP, CALL_SHELL },
	{ "passthru", PHP, CALL_SHELL },     { "proc_open", PHP, CALL_SHELL },
	{ "pcntl_exec", PHP, CALL_SHELL },   { "script", OTHER, CALL_SHELL },
	{ "shell", OTHER, CALL_SHELL },	     { "command", OTHER, CALL_SHELL },
	{ "process", OTHER, CALL_SHELL },    { "system2", OTHER, CALL_SHELL },
	{ "call-process", OTHER, CALL_SHELL },
	{ "rmtree", (uint8_t)(PY | PERL), CALL_REMOVE },
	{ "remove_tree", PERL, CALL_REMOVE },
	{ "rm_rf", RUBY, CALL_REMOVE },	     { "rm_r", RUBY, CALL_REMOVE },
	{ "remove_dir", RUBY, CALL_REMOVE },
	{ "remove_entry_secure", RUBY, CALL_REMOVE },
	{ "remove_entry", RUBY, CALL_REMOVE },
	{ "rmSync", JS, CALL_REMOVE },	     { "rm", JS, CALL_REMOVE },
	{ "rmdirSync", JS, CALL_REMOVE },    { "removeSync", JS, CALL_REMOVE },
	{ "rimraf", JS, CALL_REMOVE },	     { "emptyDirSync", JS, CALL_REMOVE },
	{ "delete-directory", OTHER, CALL_REMOVE },
	{ "remove", (uint8_t)(PY | JS | LUA), CALL_DELETE },
	{ "unlink", ALL, CALL_DELETE },	     { "unlinkSync", JS, CALL_DELETE },
	{ "rmdir", ALL, CALL_DELETE },	     { "removedirs", PY, CALL_REMOVE },
	{ "delete", RUBY, CALL_DELETE },     { "rm_f", RUBY, CALL_DELETE },
	{ "delete-file", OTHER, CALL_DELETE },
	{ "rename", ALL, CALL_RENAME },	     { "move", PY, CALL_RENAME },
	{ "renameSync", JS, CALL_RENAME },   { "mv", RUBY, CALL_RENAME },
	{ "expanduser", PY, CALL_READ },     { "expand_path", RUBY, CALL_READ },
	{ "cmd", OTHER, CALL_SHELL },	     { "open", ALL, CALL_OPEN },
	{ "fopen", PHP, CALL_OPEN },
	{ "Path", PY, CALL_READ },	     { "readFileSync", JS, CALL_READ },
	{ "readFile", JS, CALL_READ },	     { "readTextFile", JS, CALL_READ },
	{ "readTextFileSync", JS, CALL_READ },
	{ "file_get_contents", PHP, CALL_READ },
	{ "readfile", PHP, CALL_READ },	     { "read", RUBY, CALL_READ },
	{ "readlines", RUBY, CALL_READ },    { "writeFileSync", JS, CALL_WRITE },
	{ "writeFile", JS, CALL_WRITE },     { "appendFileSync", JS, CALL_WRITE },
	{ "writeTextFile", JS, CALL_WRITE },
	{ "file_put_contents", PHP, CALL_WRITE },
	{ "write", RUBY, CALL_WRITE },	     { "truncate", ALL, CALL_WRITE },
	{ "truncateSync", JS, CALL_WRITE },  { "copyfile", PY, CALL_RENAME },
	{ "copy", (uint8_t)(PY | PERL | PHP), CALL_COPY },
	{ "copy2", PY, CALL_COPY },	     { "copytree", PY, CALL_COPY },
	{ "copyFileSync", JS, CALL_COPY },   { "cpSync", JS, CALL_COPY },
	{ "copyFile", JS, CALL_COPY },	     { "cp", RUBY, CALL_COPY },
	{ "cp_r", RUBY, CALL_COPY },	     { "symlinkSync", JS, CALL_COPY },
	{ "makedirs", PY, CALL_WRITE },	     { "mkdirSync", JS, CALL_WRITE },
	{ "mkdir_p", RUBY, CALL_WRITE },     { "touch", RUBY, CALL_WRITE },
	{ "createWriteStream", JS, CALL_WRITE },
	{ "createReadStream", JS, CALL_READ },
	{ "exec", PY, CALL_CODE },	     { "eval", (uint8_t)(PY | JS),
					       CALL_CODE },
	{ "symlink", ALL, CALL_RENAME },     { "chmod", ALL, CALL_CHMOD },
	{ "chmodSync", JS, CALL_CHMOD },     { "execute", PY, CALL_SQL },
	{ "executescript", PY, CALL_SQL },   { "executemany", PY, CALL_SQL },
	{ "query", (uint8_t)(JS | PHP | RUBY), CALL_SQL },
	{ "do", PERL, CALL_SQL },
};

struct code {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *text;
	struct ab_lexer x;
	const char *name; /* of the language */
	uint8_t lang;
	uint64_t heads; /* what the calls that it has begin with */
	struct ab_token before; /* the token before the one at hand */
};

static uint8_t lang_bit(const char *lang)
{
	static const char *const names[] = { "python", "perl", "ruby", "js",
					     "php",    "lua",  "awk" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(names[i], lang))
			return (uint8_t)(1u << i);
	}
	return OTHER;
}

static uint64_t call_heads(uint8_t lang)
{
	uint64_t heads = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if (calls[i].langs & lang)
			heads |= ab_head_bit(calls[i].name[0]);
	}
	return heads;
}

static enum call_kind call_of(const struct code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	if (!(k->heads & ab_head_bit(*s)))
		return CALL_NONE;
	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if (calls[i].name[0] == *s && (calls[i].langs & k->lang) &&
		    strlen(calls[i].name) == t->len &&
		    !memcmp(calls[i].name, s, t->len))
			return (enum call_kind)calls[i].kind;
	}
	return CALL_NONE;
}

/* A string token as a word: escapes gone, what follows as `+ x` unknown. */
static bool make_word(struct code *k, const struct ab_token *t,
		      struct ab_word *w)
{
	const char *from = k->text->text + t->at;

	if (!ab_word_slice(k->c, k->text, t->at, t->len, w))
		return false;
	if (!memchr(from, '\\', t->len))
		return true;
	char *to = ab_check_alloc(k->c, t->len + 1);
	uint32_t n = 0;

	if (!to)
		return false;
	for (uint32_t i = 0; i < t->len; i++) {
		if (from[i] == '\\' && i + 1 < t->len) {
			i++;
			to[n++] = from[i] == 'n' ? '\n'
				: from[i] == 't' ? '\t'
						 : from[i];
		} else {
			to[n++] = from[i];
		}
	}
	w->text = to;
	w->len = n;
	w->holes = NULL;
	w->hole_count = 0;
	return true;
}

static void add_hole(struct code *k, struct ab_word *w)
{
	struct ab_hole *h = ab_check_alloc(k->c, sizeof(*h));

	if (!h || w->hole_count)
		return;
	*h = (struct ab_hole){ .at = w->len, .kind = AB_HOLE_BYTES };
	w->holes = h;
	w->hole_count = 1;
}

struct args {
	struct ab_word words[MAX_STRINGS];
	uint32_t count;
	struct ab_token number_token; /* the last number, as chmod has it */
	bool is_cut; /* there is more of it */
};

static void add_string(struct code *k, struct args *a,
		       const struct ab_token *t)
{
	if (a->count == MAX_STRINGS)
		a->is_cut = true;
	else if (make_word(k, t, &a->words[a->count]))
		a->count++;
}

/* qw(rm -rf /) and %w[...]: words without quotes. */
static void bare_words(struct code *k, struct args *a)
{
	struct ab_lexer *x = &k->x;

	if (x->pos >= x->len)
		return;
	uint32_t from = x->pos + 1;

	while (from < x->len && !memchr(")]}/>", x->text[from], 5)) {
		uint32_t end = from;

		while (end < x->len && !memchr(" \t\n)]}>", x->text[end], 7))
			end++;
		if (end > from) {
			struct ab_token t = { .at = from, .len = end - from };

			add_string(k, a, &t);
		}
		from = end;
		while (from < x->len && memchr(" \t\n", x->text[from], 3))
			from++;
	}
	/* "/" alone is a word and not the end */
	if (from < x->len && x->text[from] == '/') {
		struct ab_token t = { .at = from, .len = 1 };

		while (from + t.len < x->len &&
		       !memchr(" \t\n)]}>", x->text[from + t.len], 7))
			t.len++;
		add_string(k, a, &t);
		from += t.len;
	}
	x->pos = from < x->len ? from + 1 : from;
}

static bool is_sign(const struct code *k, const struct ab_token *t, char sign)
{
	return t->kind == AB_TOKEN_SIGN && k->text->text[t->at] == sign;
}

static bool is_text(const struct code *k, const struct ab_token *t,
		    const char *s)
{
	return t->kind == AB_TOKEN_WORD && t->len == strlen(s) &&
	       !memcmp(k->text->text + t->at, s, t->len);
}

/* The literal arguments of a call that begins at the lexer. */
static void read_args(struct code *k, struct args *a)
{
	struct ab_token t, last = { 0 };
	int depth = 0;
	bool first = true;

	a->count = 0;
	a->is_cut = false;
	a->number_token.len = 0;
	for (uint32_t n = 0;; n++) {
		uint32_t before = k->x.pos;

		if (!ab_lexer_next(&k->x, &t))
			break;
		if (n == MAX_TOKENS) {
			a->is_cut = true;
			break;
		}
		if (!first && !depth &&
		    (is_sign(k, &t, ';') || is_sign(k, &t, '}') ||
		     t.is_line)) {
			k->x.pos = before;
			break;
		}
		if (t.kind == AB_TOKEN_SIGN &&
		    memchr("([{", k->text->text[t.at], 3))
			depth++;
		else if (t.kind == AB_TOKEN_SIGN &&
			 memchr(")]}", k->text->text[t.at], 3) && --depth <= 0)
			break;
		if (t.kind == AB_TOKEN_STRING) {
			add_string(k, a, &t);
		} else if (is_text(k, &t, "qw") || is_text(k, &t, "w")) {
			bare_words(k, a);
		} else if (t.kind == AB_TOKEN_WORD &&
			   k->text->text[t.at] >= '0' &&
			   k->text->text[t.at] <= '9') {
			a->number_token = t;
		}
		/* "rm " + x, "rm " . $x */
		if (last.kind == AB_TOKEN_STRING && a->count &&
		    (is_sign(k, &t, '+') || is_sign(k, &t, '%') ||
		     (is_sign(k, &t, '.') && k->lang & (PERL | PHP))))
			add_hole(k, &a->words[a->count - 1]);
		last = t;
		first = false;
	}
	k->before = last;
}

/* perl and ruby: open(F, "CMD |"), open("| CMD"), open(F, "-|", "CMD"). */
static bool open_command(struct code *k, struct args *a)
{
	struct ab_word w = a->words[0], rest;
	uint32_t from = 0, len = w.len;

	if (!(k->lang & (PERL | RUBY)) || !w.len)
		return false;
	if (w.len == 2 && a->count > 1 &&
	    (!memcmp(w.text, "-|", 2) || !memcmp(w.text, "|-", 2))) {
		w = a->words[1];
		len = w.len;
	} else if (*w.text == '|') {
		from = 1;
	} else if (w.text[w.len - 1] == '|') {
		len--;
	} else {
		return false;
	}
	if (ab_word_slice(k->c, &w, from, len - from, &rest) && rest.len) {
		ab_check_script(k->c, &rest, true, NULL, 0, NULL);
		/* what is printed into a shell is not seen */
		const struct ab_program *p = ab_pack_program(
			k->c->pack, rest.text, rest.len);

		if (from && p && ab_has_role(p, AB_ROLE_STDIN_SHELL))
			ab_check_flow(k->c, k->use, AB_SINK_SHELL,
				      AB_TAINT_DECODE, &rest);
	}
	return true;
}

static void open_call(struct code *k, struct args *a)
{
	enum ab_role_kind kind = AB_ROLE_READ;
	uint32_t at = 0;

	if (!a->count)
		return;
	if (open_command(k, a))
		return;
	/* perl: open(F, ">", "x") and open(F, ">x") */
	for (uint32_t i = 0; i < a->count; i++) {
		const struct ab_word *w = &a->words[i];

		if (w->len && w->len < 4 && memchr("wax>+", w->text[0], 5)) {
			kind = AB_ROLE_WRITE;
			if (i == 0 && a->count > 1)
				at = 1;
		}
	}
	ab_check_path(k->c, k->use, kind, &a->words[at]);
	k->c->out_taint |= AB_TAINT_FILE;
}

static void chmod_call(struct code *k, struct args *a)
{
	struct ab_word words[3] = { { .text = "chmod", .len = 5 } };

	if (!a->number_token.len || !a->count ||
	    !make_word(k, &a->number_token, &words[1]))
		return;
	/* 0o777 and 0777 are 777 */
	while (words[1].len > 1 && memchr("0oO", words[1].text[0], 3)) {
		words[1].text++;
		words[1].len--;
	}
	words[2] = a->words[0];
	words[0].span = words[1].span;
	ab_check_words(k->c, words, 3, 0, NULL, false);
}

static void run_call(struct code *k, struct args *a)
{
	if (!a->count)
		return;
	if (a->count == 1)
		ab_check_script(k->c, &a->words[0], true, NULL, 0, NULL);
	else
		ab_check_words(k->c, a->words, a->count, 0, NULL, false);
}

/* Path("x").write_text(...): what is done with it stands behind it. */
static enum call_kind path_method(const struct code *k)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} methods[] = {
		{ "write_text", CALL_WRITE }, { "write_bytes", CALL_WRITE },
		{ "touch", CALL_WRITE },      { "mkdir", CALL_WRITE },
		{ "symlink_to", CALL_WRITE }, { "hardlink_to", CALL_WRITE },
		{ "unlink", CALL_DELETE },    { "rmdir", CALL_DELETE },
		{ "rename", CALL_DELETE },    { "replace", CALL_DELETE },
	};
	struct ab_lexer x = k->x;
	struct ab_token t;

	/* (home / "x").unlink() closes another one */
	do {
		if (!ab_lexer_next(&x, &t))
			return CALL_READ;
	} while (is_sign(k, &t, ')'));
	if (!is_sign(k, &t, '.') || !ab_lexer_next(&x, &t))
		return CALL_READ;
	for (size_t i = 0; i < AB_ARRAY_LEN(methods); i++) {
		if (is_text(k, &t, methods[i].name))
			return (enum call_kind)methods[i].kind;
	}
	return CALL_READ;
}

/* "~/x" for what expands it. */
static void expand_home(struct code *k, struct ab_word *w)
{
	const struct ab_known_path *home = &k->c->place->home;
	char *text;

	if (!home->text || w->len < 2 || memcmp(w->text, "~/", 2) != 0)
		return;
	text = ab_check_alloc(k->c, home->len + w->len);
	if (!text)
		return;
	memcpy(text, home->text, home->len);
	memcpy(text + home->len, w->text + 1, w->len - 1);
	w->text = text;
	w->len += home->len - 1;
	w->holes = NULL;
	w->hole_count = 0;
	w->map = NULL;
	w->map_count = 0;
}

static void judge_call(struct code *k, enum call_kind kind, struct args *a)
{
	enum ab_role_kind role = AB_ROLE_READ;

	switch (kind) {
	case CALL_SHELL:
		if (a->is_cut)
			ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK,
				       k->text);
		run_call(k, a);
		return;
	case CALL_OPEN:
		open_call(k, a);
		return;
	case CALL_CODE:
		if (a->count == 1 && k->c->depth < AB_CHECK_MAX_DEPTH / 4) {
			k->c->depth++;
			ab_check_code(k->c, k->use, k->name, &a->words[0]);
			k->c->depth--;
		}
		return;
	case CALL_COPY:
		if (a->count > 1)
			ab_check_path(k->c, k->use, AB_ROLE_WRITE,
				      &a->words[1]);
		break;
	case CALL_CHMOD:
		chmod_call(k, a);
		return;
	case CALL_SQL:
		for (uint32_t i = 0; i < a->count && i < 1; i++)
			ab_check_text(k->c, "sql", &a->words[i]);
		return;
	case CALL_REMOVE:
		role = AB_ROLE_REMOVE;
		break;
	case CALL_DELETE:
		role = AB_ROLE_DELETE;
		break;
	case CALL_WRITE:
		role = AB_ROLE_WRITE;
		break;
	case CALL_RENAME:
		role = AB_ROLE_WRITE;
		for (uint32_t i = 1; i < a->count && i < 2; i++)
			ab_check_path(k->c, k->use, role, &a->words[i]);
		role = AB_ROLE_DELETE;
		break;
	case CALL_READ:
	case CALL_NONE:
		break;
	}
	if (a->count)
		ab_check_path(k->c, k->use, role, &a->words[0]);
}

/* %x(...) and qx{...}: a command without quotes. */
static void bare_command(struct code *k)
{
	static const char open[] = "([{<", close[] = ")]}>";
	struct ab_lexer *x = &k->x;
	struct ab_word w;
	uint32_t from = x->pos;

	if (from >= x->len)
		return;
	const char *at = memchr(open, x->text[from], 4);
	char end = at ? close[at - open] : x->text[from];
	const char *stop = memchr(x->text + from + 1, end, x->len - from - 1);

	if (!stop || memchr("=, ;", x->text[from], 4))
		return;
	uint32_t n = (uint32_t)(stop - x->text) - from - 1;

	if (ab_word_slice(k->c, k->text, from + 1, n, &w))
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
}

/* A string in backquotes, or awk's `"cmd" | getline` and `print | "cmd"`. */
static void loose_string(struct code *k, const struct ab_token *t)
{
	struct ab_word w;
	bool is_run = t->quote == '`' &&
		      (k->lang & (PERL | RUBY | PHP) ||
		       (k->lang == JS && is_text(k, &k->before, "$")));

	if (!make_word(k, t, &w))
		return;
	if (k->lang == AWK) {
		struct ab_lexer ahead = k->x;
		struct ab_token next;
		bool pipe_after = ab_lexer_next(&ahead, &next) &&
				  is_sign(k, &next, '|');

		is_run = pipe_after || is_sign(k, &k->before, '|');
		if (w.len > 6 && !memcmp(w.text, "/inet/", 6))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
		else if (is_sign(k, &k->before, '>'))
			ab_check_path(k->c, k->use, AB_ROLE_WRITE, &w);
		else if (is_sign(k, &k->before, '<'))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
	}
	if (!is_run)
		return;
	ab_check_script(k->c, &w, true, NULL, 0, NULL);
	/* print | "sh" */
	const struct ab_program *p = ab_pack_program(k->c->pack, w.text, w.len);

	if (k->lang == AWK && p && ab_has_role(p, AB_ROLE_STDIN_SHELL))
		ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_DECODE,
			      &w);
}

static void scan_code(struct code *k, struct args *a)
{
	struct ab_token t;

	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		void *mark = k->c->scratch->low;
		enum call_kind kind = CALL_NONE;

		if (t.kind == AB_TOKEN_STRING)
			loose_string(k, &t);
		else if (t.kind == AB_TOKEN_WORD)
			kind = call_of(k, &t);
		if ((is_text(k, &t, "x") && is_sign(k, &k->before, '%') &&
		     k->lang == RUBY) ||
		    (is_text(k, &t, "qx") && k->lang == PERL))
			bare_command(k);
		if (kind != CALL_NONE) {
			struct ab_lexer here = k->x;
			struct ab_token begin = t;

			read_args(k, a);
			if (is_text(k, &begin, "Path"))
				kind = path_method(k);
			else if (a->count && (is_text(k, &begin, "expanduser") ||
					      is_text(k, &begin, "expand_path")))
				expand_home(k, &a->words[0]);
			judge_call(k, kind, a);
			/* calls may stand inside each other */
			k->x = here;
			t = begin;
		}
		k->before = t;
		/* a text that was pushed lives on */
		if (!k->c->run)
			ab_arena_release(k->c->scratch, mark);
	}
}

/* --- sed ---------------------------------------------------------------- */

static uint32_t sed_skip_to(const char *s, uint32_t n, uint32_t i, char delim)
{
	while (i < n && s[i] != delim) {
		if (s[i] == '\\')
			i++;
		else if (s[i] == '[') { /* a set may hold the delimiter */
			uint32_t k = i + 1;

			if (k < n && s[k] == '^')
				k++;
			if (k < n && s[k] == ']')
				k++;
			while (k < n && s[k] != ']' && s[k] != '\n')
				k++;
			if (k < n && s[k] == ']')
				i = k;
		}
		i++;
	}
	return i < n ? i + 1 : n;
}

static uint32_t sed_address(const char *s, uint32_t n, uint32_t i)
{
	while (i < n) {
		if (s[i] == '/')
			i = sed_skip_to(s, n, i + 1, '/');
		else if (s[i] == '\\' && i + 1 < n)
			i = sed_skip_to(s, n, i + 2, s[i + 1]);
		else if (memchr("0123456789$,+~!IM \t\n;{}", s[i], 23))
			i++;
		else
			break;
	}
	return i;
}

static uint32_t sed_line(const char *s, uint32_t n, uint32_t i)
{
	const char *end = i < n ? memchr(s + i, '\n', n - i) : NULL;

	return end ? (uint32_t)(end - s) : n;
}

static void sed_name(struct code *k, uint32_t from, enum ab_role_kind kind)
{
	const char *s = k->text->text;
	uint32_t end = sed_line(s, k->text->len, from);
	struct ab_word w;

	while (from < end && (s[from] == ' ' || s[from] == '\t'))
		from++;
	if (!ab_word_slice(k->c, k->text, from, end - from, &w) || !w.len)
		return;
	if (kind == AB_ROLE_KINDS)
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
	else
		ab_check_path(k->c, k->use, kind, &w);
}

/* Flags behind s///: w takes the rest of the line, e runs the result. */
static uint32_t sed_flags(struct code *k, uint32_t i)
{
	const char *s = k->text->text;
	uint32_t n = k->text->len;

	while (i < n && memchr("gpIiMm0123456789", s[i], 16))
		i++;
	if (i < n && s[i] == 'w') {
		sed_name(k, i + 1, AB_ROLE_WRITE);
		return sed_line(s, n, i);
	}
	if (i < n && s[i] == 'e') {
		ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_DECODE,
			      k->text);
		i++;
	}
	return i;
}

static void scan_sed(struct code *k)
{
	const char *s = k->text->text;
	uint32_t n = k->text->len, i = 0;

	while ((i = sed_address(s, n, i)) < n) {
		char ch = s[i++];

		if (ch == 's' || ch == 'y') {
			if (i >= n)
				break;
			char delim = s[i];

			i = sed_skip_to(s, n, i + 1, delim);
			i = sed_skip_to(s, n, i, delim);
			if (ch == 's')
				i = sed_flags(k, i);
		} else if (ch == 'e') {
			sed_name(k, i, AB_ROLE_KINDS);
			i = sed_line(s, n, i);
		} else if (ch == 'w' || ch == 'W') {
			sed_name(k, i, AB_ROLE_WRITE);
			i = sed_line(s, n, i);
		} else if (ch == 'r' || ch == 'R') {
			sed_name(k, i, AB_ROLE_READ);
			i = sed_line(s, n, i);
		} else if (memchr("aicbtT:#", ch, 8)) {
			while (i < n && s[i] != '\n' &&
			       !(memchr("btT", ch, 3) && s[i] == ';'))
				i++;
		}
	}
}

void ab_check_code(struct ab_check *c, const struct ab_use *use,
		   const char *lang, const struct ab_word *text)
{
	struct code k = { .c = c, .use = use, .text = text, .name = lang,
			  .lang = lang_bit(lang) };
	uint32_t taint = ab_word_taint(text);

	ab_check_flow(c, use, AB_SINK_CODE, taint & ~(uint32_t)AB_TAINT_VAR,
		      text);
	if (!strcmp(lang, "sed")) {
		scan_sed(&k);
		return;
	}
	struct args *a = ab_check_alloc(c, sizeof(*a));

	if (!a)
		return;
	ab_check_text(c, lang, text);
	k.heads = call_heads(k.lang);
	k.x = (struct ab_lexer){ .text = text->text, .len = text->len,
				 .lang = ab_lang_of(lang) };
	scan_code(&k, a);
}
