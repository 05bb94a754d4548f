/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inline programs (python -c, perl -e, awk): calls that run commands or touch
 * files, as far as their arguments are literal, or names of what is. The
 * strings of such a call are judged as the shell would get them. What is
 * computed is not seen; the token rules of the language look for the
 * computing itself.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

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
	CALL_GLOB, /* names by a pattern */
	CALL_CODE /* of the same language */
};

/* briefly, for the table */
enum {
	PY = AB_PY,
	PERL = AB_PERL,
	RUBY = AB_RUBY,
	JS = AB_JS,
	PHP = AB_PHP,
	LUA = AB_LUA,
	OTHER = AB_OTHER,
	ALL = AB_ALL_LANGS
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
	{ "glob", (uint8_t)(PY | PERL | RUBY | PHP | JS), CALL_GLOB },
	{ "iglob", PY, CALL_GLOB },	     { "globSync", JS, CALL_GLOB },
};

static uint8_t lang_bit(const char *lang)
{
	static const char *const names[] = { "python", "perl", "ruby", "js",
					     "php",    "lua",  "awk" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(names[i], lang))
			return (uint8_t)(1u << i);
	}
	return AB_OTHER;
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

uint8_t ab_code_call(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	if (!(k->heads & ab_head_bit(*s)))
		return CALL_NONE;
	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if (calls[i].name[0] == *s && (calls[i].langs & k->lang) &&
		    strlen(calls[i].name) == t->len &&
		    !memcmp(calls[i].name, s, t->len))
			return calls[i].kind;
	}
	return CALL_NONE;
}

struct args {
	struct ab_word words[MAX_STRINGS];
	uint32_t count;
	struct ab_token number_token; /* the last number, as chmod has it */
	bool is_cut; /* there is more of it */
	enum ab_joint joint;
	/* words[which] is any of its values behind the head; or NULL */
	const struct ab_named *each;
	uint32_t which;
	struct ab_word head;
	bool has_head;
	bool is_bare; /* nothing was said behind the home */
	bool is_home; /* "~/x" is expanded */
	bool is_taken_away; /* of a call that removes */
	/* the last word is a home, which a "/" or a join() goes on with */
	bool is_open, is_joined, has_slash;
	bool has_block; /* perl: system {"rm"} ... */
	struct ab_word block;
};

static void add_string(struct ab_code *k, struct args *a,
		       const struct ab_token *t)
{
	if (a->count == MAX_STRINGS)
		a->is_cut = true;
	else if (ab_code_word(k, t, &a->words[a->count]))
		a->count++;
}

/* qw(rm -rf /) and %w[...]: words without quotes. */
static void bare_words(struct ab_code *k, struct args *a)
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

static void add_word(struct ab_code *k, struct args *a, enum ab_piece piece,
		     const struct ab_word *w)
{
	if (piece == AB_PIECE_MORE && a->count)
		ab_code_append(k, &a->words[a->count - 1], w);
	else if (a->count == MAX_STRINGS)
		a->is_cut = true;
	else
		a->words[a->count++] = *w;
}

/* x = [...] more than once: it is one of those lists. */
static bool has_lists(const struct ab_named *n)
{
	return n->is_list && (n->begins & (n->begins - 1));
}

static void begin_each(struct args *a, const struct ab_named *n, bool has_head)
{
	if (a->each || a->count == MAX_STRINGS)
		return;
	a->each = n;
	a->has_head = has_head;
	a->which = a->count - has_head;
	a->head = has_head ? a->words[a->which] : (struct ab_word){ 0 };
}

/* A name that stands for strings: one that is one of several makes a call of
   each, once in a call. Behind a string it may also be something else. */
static void add_named(struct ab_code *k, struct args *a,
		      const struct ab_token *t, const struct ab_named *n)
{
	bool is_one = n->count == 1 || n->is_list;
	bool is_many = has_lists(n);
	enum ab_piece piece;

	a->is_cut |= n->is_cut;
	if (!is_one && (a->each || a->joint == AB_JOINT_OPEN ||
			a->joint == AB_JOINT_STRING)) {
		piece = ab_code_piece(k, &a->joint, t, false);
		if (piece == AB_PIECE_HOLE && a->count) {
			begin_each(a, n, true);
			ab_code_hole(k, &a->words[a->count - 1]);
		}
		return;
	}
	piece = ab_code_piece(k, &a->joint, t, true);
	if (piece != AB_PIECE_MORE && (!is_one || n->is_any || is_many))
		begin_each(a, n, false);
	for (uint32_t i = 0; i < (n->is_list ? n->count : 1); i++)
		add_word(k, a, i ? AB_PIECE_NEW : piece, &n->words[i]);
}

/* environ["HOME"], environ.get("HOME"), getenv("HOME"): what stands before the
   string at `at`. */
static bool is_of_environment(const char *s, uint32_t at)
{
	static const char *const ends[] = { "environ", "environb", "env",
					    ".get", ".fetch" };
	uint32_t n = at ? at - 1 : 0; /* the quote */

	while (n && memchr(" \t\n", s[n - 1], 3))
		n--;
	if (!n || !memchr("([{", s[n - 1], 3))
		return false;
	n--;
	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		size_t len = strlen(ends[i]);

		if (n >= len && !strncasecmp(s + n - len, ends[i], len))
			return true;
	}
	return false;
}

/* Path.home(), os.homedir(), Dir.home, environ["HOME"], env.HOME. */
static bool is_home_name(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text;

	if (t->len == 4 && !memcmp(s + t->at, "HOME", 4))
		return t->kind != AB_TOKEN_STRING ||
		       is_of_environment(s, t->at);
	if (ab_code_is_text(k, t, "homedir"))
		return true;
	return ab_code_is_text(k, t, "home") && t->at &&
	       s[t->at - 1] == '.' &&
	       (k->lang == AB_RUBY ||
		(k->x.pos < k->x.len && s[k->x.pos] == '('));
}

/* A home that is taken away, and what stands behind it in a path. True: the
   token is part of that. */
static bool add_home(struct ab_code *k, struct args *a,
		     const struct ab_token *t)
{
	struct ab_word home = { .text = "~", .len = 1 };
	struct ab_word slash = { .text = "/", .len = 1 }, w;

	a->is_joined |= ab_code_is_text(k, t, "join");
	if (is_home_name(k, t) && a->count < MAX_STRINGS) {
		home.span = k->text->span;
		/* require("os").homedir(): what was read is a module */
		if (k->lang == AB_JS)
			a->count = 0;
		a->words[a->count++] = home;
		a->is_home = a->is_open = a->is_bare = true;
		a->joint = AB_JOINT_STRING;
		return true;
	}
	if (!a->is_open)
		return false;
	/* homedir() + "/x", environ["HOME"] + "/x" */
	if (a->is_bare && t->kind == AB_TOKEN_SIGN &&
	    memchr("()]}", k->text->text[t->at], 4))
		return true;
	a->is_bare = false;
	if (ab_code_is_sign(k, t, '/') ||
	    (ab_code_is_sign(k, t, ',') && a->is_joined)) {
		a->has_slash = true;
		return true;
	}
	a->is_open = a->has_slash || !ab_code_is_sign(k, t, ',');
	if (t->kind != AB_TOKEN_STRING || !a->has_slash ||
	    !ab_code_word(k, t, &w))
		return false;
	ab_code_append(k, &a->words[a->count - 1], &slash);
	ab_code_append(k, &a->words[a->count - 1], &w);
	a->has_slash = false;
	return true;
}

/* A token of the arguments that is no bracket. */
static void add_token(struct ab_code *k, struct args *a,
		      const struct ab_token *t)
{
	const struct ab_named *n = ab_code_value(k, t);
	const char *s = k->text->text + t->at;
	bool is_string = t->kind == AB_TOKEN_STRING;
	enum ab_piece piece;
	struct ab_word w;

	a->is_home |= ab_code_is_text(k, t, "expanduser") ||
		      ab_code_is_text(k, t, "expand_path");
	if (a->is_taken_away && add_home(k, a, t))
		return;
	if (n) {
		add_named(k, a, t, n);
		return;
	}
	piece = ab_code_piece(k, &a->joint, t, is_string);
	if (piece == AB_PIECE_HOLE && a->count)
		ab_code_hole(k, &a->words[a->count - 1]);
	if (is_string && ab_code_word(k, t, &w))
		add_word(k, a, piece, &w);
	else if (ab_code_is_text(k, t, "qw") || ab_code_is_text(k, t, "w"))
		bare_words(k, a);
	else if (t->kind == AB_TOKEN_WORD && *s >= '0' && *s <= '9')
		a->number_token = *t;
}

/* perl: system {"rm"} "x", "-rf", "/" runs rm, and "x" is what it is told to
   be called. How many brackets are open behind the block. */
static int read_block(struct ab_code *k, struct args *a)
{
	struct ab_lexer x = k->x;
	struct ab_token t;
	int depth = 0;

	a->has_block = false;
	if (k->lang != AB_PERL || !ab_lexer_next(&x, &t))
		return 0;
	if (ab_code_is_sign(k, &t, '(')) {
		depth++;
		if (!ab_lexer_next(&x, &t))
			return 0;
	}
	if (!ab_code_is_sign(k, &t, '{') || !ab_lexer_next(&x, &t) ||
	    t.kind != AB_TOKEN_STRING || !ab_code_word(k, &t, &a->block) ||
	    !ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, '}'))
		return 0;
	a->has_block = true;
	k->x = x;
	return depth;
}

/* The arguments of a call that begins at the lexer. */
static void read_args(struct ab_code *k, struct args *a)
{
	struct ab_token t, last = { 0 };
	int depth = read_block(k, a);
	bool first = !a->has_block;

	a->count = 0;
	a->is_cut = false;
	a->number_token.len = 0;
	a->joint = AB_JOINT_NONE;
	a->each = NULL;
	a->is_home = a->is_open = a->is_joined = a->has_slash = false;
	a->is_bare = false;
	for (uint32_t n = 0;; n++) {
		uint32_t before = k->x.pos;

		if (!ab_lexer_next(&k->x, &t))
			break;
		if (n == MAX_TOKENS) {
			a->is_cut = true;
			break;
		}
		if (!first && !depth &&
		    (ab_code_is_sign(k, &t, ';') ||
		     ab_code_is_sign(k, &t, '}') || t.is_line)) {
			k->x.pos = before;
			break;
		}
		if (t.kind == AB_TOKEN_SIGN &&
		    memchr("([{", k->text->text[t.at], 3))
			depth++;
		else if (t.kind == AB_TOKEN_SIGN &&
			 memchr(")]}", k->text->text[t.at], 3) && --depth <= 0)
			break;
		add_token(k, a, &t);
		last = t;
		first = false;
	}
	k->before = last;
}

/* perl and ruby: open(F, "CMD |"), open("| CMD"), open(F, "-|", "CMD"). */
static bool open_command(struct ab_code *k, struct args *a)
{
	struct ab_word w = a->words[0], rest;
	uint32_t from = 0, len = w.len;

	if (!(k->lang & (AB_PERL | AB_RUBY)) || !w.len)
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

static void open_call(struct ab_code *k, struct args *a)
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

static void chmod_call(struct ab_code *k, struct args *a)
{
	struct ab_word words[3] = { { .text = "chmod", .len = 5 } };

	if (!a->number_token.len || !a->count ||
	    !ab_code_word(k, &a->number_token, &words[1]))
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

/* More than the name of a program: the shell reads it. */
static bool is_line(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr(" \t\n;&|", w->text[i], 6))
			return true;
	}
	return false;
}

static void run_call(struct ab_code *k, struct args *a)
{
	if (a->has_block) {
		a->words[0] = a->block;
		ab_check_words(k->c, a->words, a->count ? a->count : 1, 0,
			       NULL, false);
		return;
	}
	if (!a->count)
		return;
	/* what stands behind a line are options of the call: cwd="/tmp" */
	if (a->count == 1 || is_line(&a->words[0]))
		ab_check_script(k->c, &a->words[0], true, NULL, 0, NULL);
	if (a->count > 1)
		ab_check_words(k->c, a->words, a->count, 0, NULL, false);
}

/* Path("x").write_text(...): what is done with it stands behind it. */
static enum call_kind path_method(const struct ab_code *k)
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
	} while (ab_code_is_sign(k, &t, ')'));
	if (!ab_code_is_sign(k, &t, '.') || !ab_lexer_next(&x, &t))
		return CALL_READ;
	for (size_t i = 0; i < AB_ARRAY_LEN(methods); i++) {
		if (ab_code_is_text(k, &t, methods[i].name))
			return (enum call_kind)methods[i].kind;
	}
	return CALL_READ;
}

/* "~/x" for what expands it. */
static void expand_home(struct ab_code *k, struct ab_word *w)
{
	const struct ab_known_path *home = &k->c->place->home;
	char *text;

	if (!home->text || !w->len || *w->text != '~' ||
	    (w->len > 1 && w->text[1] != '/'))
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

/* Something in the program takes files away; which, is not followed. */
static bool takes_away(const struct ab_code *k)
{
	static const char *const names[] = { "unlink", "remove", "delete",
					     "rmtree", "rmSync", "rmdir",
					     "rm_", "rimraf" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (memmem(k->text->text, k->text->len, names[i],
			   strlen(names[i])))
			return true;
	}
	return false;
}

/* The names that a pattern takes, as paths of the shell: false: it is none. */
static bool glob_word(struct ab_code *k, struct ab_word *w)
{
	struct ab_hole *hole = ab_check_alloc(k->c, sizeof(*hole));
	uint32_t at = 0;

	while (at < w->len && !memchr("*?[", w->text[at], 3))
		at++;
	if (!hole || w->hole_count || at == w->len)
		return false;
	*hole = (struct ab_hole){ .at = at, .len = w->len - at,
				  .kind = AB_HOLE_PATTERN, .span = w->span };
	w->holes = hole;
	w->hole_count = 1;
	return true;
}

static void judge_call(struct ab_code *k, enum call_kind kind, struct args *a)
{
	enum ab_role_kind role = AB_ROLE_READ;

	if (a->is_home && a->count &&
	    (a->words[0].len > 1 || kind == CALL_REMOVE ||
	     kind == CALL_DELETE))
		expand_home(k, &a->words[0]);
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
	case CALL_GLOB:
		if (!a->count || !takes_away(k) ||
		    !glob_word(k, &a->words[0]))
			return;
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
static void bare_command(struct ab_code *k)
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
static void loose_string(struct ab_code *k, const struct ab_token *t)
{
	struct ab_word w;
	bool is_run = t->quote == '`' &&
		      (k->lang & (AB_PERL | AB_RUBY | AB_PHP) ||
		       (k->lang == AB_JS &&
			ab_code_is_text(k, &k->before, "$")));

	if (!ab_code_word(k, t, &w))
		return;
	if (k->lang == AB_AWK) {
		struct ab_lexer ahead = k->x;
		struct ab_token next;
		bool pipe_after = ab_lexer_next(&ahead, &next) &&
				  ab_code_is_sign(k, &next, '|');

		is_run = pipe_after || ab_code_is_sign(k, &k->before, '|');
		if (w.len > 6 && !memcmp(w.text, "/inet/", 6))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
		else if (ab_code_is_sign(k, &k->before, '>'))
			ab_check_path(k->c, k->use, AB_ROLE_WRITE, &w);
		else if (ab_code_is_sign(k, &k->before, '<'))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
	}
	if (!is_run)
		return;
	ab_check_script(k->c, &w, true, NULL, 0, NULL);
	/* print | "sh" */
	const struct ab_program *p = ab_pack_program(k->c->pack, w.text, w.len);

	if (k->lang == AB_AWK && p && ab_has_role(p, AB_ROLE_STDIN_SHELL))
		ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_DECODE,
			      &w);
}

/* awk: c = "cmd"; c | getline, and print | c. */
static void piped_name(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_value(k, t);
	struct ab_lexer ahead = k->x;
	struct ab_token next;

	if (!n || !(ab_code_is_sign(k, &k->before, '|') ||
		    (ab_lexer_next(&ahead, &next) &&
		     ab_code_is_sign(k, &next, '|') &&
		     ahead.pos < ahead.len && ahead.text[ahead.pos] != '|')))
		return;
	if (n->is_cut)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	for (uint32_t i = 0; i < n->count; i++)
		ab_check_script(k->c, &n->words[i], true, NULL, 0, NULL);
}

/* The call with each of the lists that the name stands for. */
static void judge_lists(struct ab_code *k, enum call_kind kind, struct args *a)
{
	const struct ab_named *n = a->each;
	struct args *one = ab_check_alloc(k->c, sizeof(*one));
	uint32_t behind = a->which + n->count, from = 0;

	if (!one)
		return;
	while (from < n->count && !k->c->is_broken) {
		uint32_t end = from + 1, at = a->which;

		while (end < n->count && !(n->begins >> end & 1))
			end++;
		*one = *a;
		for (; from < end; from++) {
			if (at < MAX_STRINGS)
				one->words[at++] = n->words[from];
		}
		for (uint32_t i = behind; i < a->count && at < MAX_STRINGS; i++)
			one->words[at++] = a->words[i];
		one->count = at;
		judge_call(k, kind, one);
	}
}

/* The call with each value of the name between what stands beside it. */
static void judge_each(struct ab_code *k, enum call_kind kind, struct args *a)
{
	const struct ab_named *n = a->each;
	struct ab_word *w = &a->words[a->which], tail;
	uint32_t from = a->has_head ? a->head.len : n->words[0].len;

	if (!ab_word_slice(k->c, w, from, n->is_list ? 0 : w->len, &tail))
		return;
	/* the hole that the name made */
	if (a->has_head && tail.hole_count && !tail.holes[0].at) {
		tail.holes++;
		tail.hole_count--;
	}
	if (n->is_list || a->has_head)
		judge_call(k, kind, a);
	if (n->is_list)
		a->count = a->which + 1;
	for (uint32_t i = 0; i < n->count && !k->c->is_broken; i++) {
		*w = a->has_head ? a->head : n->words[i];
		k->last = NULL; /* a text of somebody else */
		if (a->has_head)
			ab_code_append(k, w, &n->words[i]);
		if (tail.len || tail.hole_count)
			ab_code_append(k, w, &tail);
		judge_call(k, kind, a);
	}
}

static void call(struct ab_code *k, struct args *a, enum call_kind kind,
		 const struct ab_token *t)
{
	a->is_taken_away = kind == CALL_REMOVE || kind == CALL_DELETE;
	read_args(k, a);
	if (ab_code_is_text(k, t, "Path"))
		kind = path_method(k);
	a->is_home |= ab_code_is_text(k, t, "expanduser") ||
		     ab_code_is_text(k, t, "expand_path") ||
		     ab_code_is_text(k, t, "delete-directory") ||
		     ab_code_is_text(k, t, "delete-file") ||
		     (kind == CALL_GLOB && k->lang == AB_PERL) ||
		     /* R's, where the others take it as it is */
		     (kind == CALL_DELETE && k->lang == AB_OTHER);
	if (a->each && has_lists(a->each))
		judge_lists(k, kind, a);
	if (a->each)
		judge_each(k, kind, a);
	else
		judge_call(k, kind, a);
}

/* The call that a word of the program names, by its own name or another. */
static enum call_kind call_at(const struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n;
	uint8_t kind = ab_code_call(k, t);

	if (!kind && k->name_count && (n = ab_code_named(k, t)))
		kind = n->call;
	return (enum call_kind)kind;
}

static void scan_code(struct ab_code *k, struct args *a)
{
	struct ab_token t;

	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		void *mark = k->c->scratch->low;
		enum call_kind kind = CALL_NONE;

		if (t.kind == AB_TOKEN_STRING)
			loose_string(k, &t);
		else if (t.kind == AB_TOKEN_WORD)
			kind = call_at(k, &t);
		if ((ab_code_is_text(k, &t, "x") &&
		     ab_code_is_sign(k, &k->before, '%') &&
		     k->lang == AB_RUBY) ||
		    (ab_code_is_text(k, &t, "qx") && k->lang == AB_PERL))
			bare_command(k);
		if (k->lang == AB_AWK && k->name_count)
			piped_name(k, &t);
		if (kind != CALL_NONE) {
			struct ab_lexer here = k->x;

			call(k, a, kind, &t);
			/* calls may stand inside each other */
			k->x = here;
		}
		k->before = t;
		/* a text that was pushed lives on */
		if (!k->c->run)
			ab_arena_release(k->c->scratch, mark);
		k->last = NULL;
	}
}

void ab_check_code(struct ab_check *c, const struct ab_use *use,
		   const char *lang, const struct ab_word *text)
{
	struct ab_code k = { .c = c, .use = use, .text = text, .name = lang,
			  .lang = lang_bit(lang) };
	uint32_t taint = ab_word_taint(text);

	ab_check_flow(c, use, AB_SINK_CODE, taint & ~(uint32_t)AB_TAINT_VAR,
		      text);
	if (!strcmp(lang, "sed")) {
		ab_check_sed(c, use, text);
		return;
	}
	struct args *a = ab_check_alloc(c, sizeof(*a));

	if (!a)
		return;
	ab_check_text(c, lang, text);
	k.heads = call_heads(k.lang);
	k.x = (struct ab_lexer){ .text = text->text, .len = text->len,
				 .lang = ab_lang_of(lang) };
	ab_code_find_names(&k);
	scan_code(&k, a);
}
