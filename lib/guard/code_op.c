/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of inline programs that make words of words, by language: a table, and
 * what each of them makes of what it is given. Refuses to know a call that has
 * such a name and another owner.
 */
#include "config.h"

#include "guard/code_op.h"

#include <string.h>

static void join_all(struct ab_code *k, struct ab_op_args *f, struct ab_made *m,
		     enum ab_glue glue)
{
	uint32_t from = 0;

	*m = f->of;
	if (m->is_list && !m->count) {
		if (f->args.count)
			*m = f->args.all[from++];
		else
			ab_made_text(k, m, ".");
	}
	for (; from < f->args.count; from++)
		ab_made_join(k, m, &f->args.all[from], glue);
}

/* A tuple is a list. */
static bool end_group(struct ab_code *k, struct ab_op_args *f,
		      struct ab_made *m)
{
	if (f->args.count == 1 && !f->has_comma) {
		*m = f->args.all[0];
		return true;
	}
	*m = (struct ab_made){ .is_list = true };
	for (uint32_t i = 0; i < f->args.count; i++) {
		const struct ab_made *one = &f->args.all[i];

		if (one->count != 1 || one->is_list)
			return false;
		ab_made_add(k, m, &one->words[0]);
	}
	return true;
}

static bool is_word(const struct ab_made *m, const char *s)
{
	return m->count == 1 && m->words[0].len == strlen(s) &&
	       !memcmp(m->words[0].text, s, m->words[0].len);
}

/* What a variable of the environment has: the home, or what is said to be
   there where there is none. */
static void end_variable(struct ab_code *k, struct ab_op_args *f,
			 struct ab_made *m)
{
	const struct ab_made *name = &f->args.all[0];

	if (f->args.count && (is_word(name, "HOME") ||
			      is_word(name, "USERPROFILE"))) {
		ab_made_home(k, m);
	} else if (f->args.count && is_word(name, "PWD")) {
		ab_made_text(k, m, ".");
	} else {
		ab_made_hole(k, m);
		if (f->args.count > 1)
			ab_made_either(k, m, &f->args.all[1]);
	}
}

/* table.concat(list, " "), R's paste("a", "b", sep = " ") */
static bool end_texts(struct ab_code *k, struct ab_op_args *f,
		      struct ab_made *m)
{
	const struct ab_made *sep = NULL;
	struct ab_made text;

	ab_made_text(k, &text, f->op == AB_OP_PASTE || f->op == AB_OP_LINE ? " "
									 : "");
	*m = (struct ab_made){ .is_list = true };
	for (uint32_t i = 0; i < f->args.count; i++) {
		const struct ab_made *one = &f->args.all[i];

		if (f->args.keys[i].len ||
		    (f->op == AB_OP_TABLE && i == 1))
			sep = one;
		else if (one->is_list)
			ab_made_join(k, m, one, AB_GLUE_TEXT);
		else if (one->count == 1)
			ab_made_add(k, m, &one->words[0]);
		else
			return false;
	}
	ab_made_words(k, m, sep ? sep : &text);
	return true;
}

static void end_words(struct ab_code *k, struct ab_op_args *f,
		      struct ab_made *m)
{
	struct ab_made text;

	switch (f->op) {
	case AB_OP_WORDS:
		*m = f->of;
		if (f->args.count)
			ab_made_words(k, m, &f->args.all[0]);
		break;
	case AB_OP_BETWEEN:
		*m = f->args.all[0];
		ab_made_words(k, m, &f->of);
		break;
	default:
		*m = f->of;
		ab_made_text(k, &text, k->lang == AB_JS ? "," : "");
		ab_made_words(k, m, f->args.count ? &f->args.all[0]
						     : &text);
	}
}

static void end_path(struct ab_code *k, struct ab_op_args *f, struct ab_made *m)
{
	struct ab_made name;

	switch (f->op) {
	case AB_OP_PATH:
		join_all(k, f, m, AB_GLUE_PATH);
		m->is_path = true;
		break;
	case AB_OP_JOIN:
		join_all(k, f, m, AB_GLUE_PATH);
		break;
	case AB_OP_BELOW:
		join_all(k, f, m, AB_GLUE_BELOW);
		break;
	case AB_OP_UNDER:
		*m = f->args.all[0];
		ab_made_expand(k, m);
		if (f->args.count > 1) {
			name = *m;
			*m = f->args.all[1];
			ab_made_expand(k, m);
			ab_made_join(k, m, &name, AB_GLUE_PATH);
		}
		break;
	case AB_OP_GLOB:
		*m = f->of;
		ab_made_join(k, m, &f->args.all[0], AB_GLUE_BELOW);
		/* what takes away is judged by where it goes */
		for (uint32_t i = 0; i < m->count && !ab_code_takes_away(k);
		     i++)
			(void)ab_code_glob(k, &m->words[i], true);
		break;
	default:
		*m = f->args.all[0];
		ab_made_parent(k, m);
	}
}

/* What a format is filled with stands behind it. */
static void end_sprintf(struct ab_code *k, struct ab_op_args *f,
			struct ab_made *m)
{
	*m = f->args.all[0];
	f->args.count--;
	memmove(f->args.all, f->args.all + 1, f->args.count * sizeof(*m));
	ab_made_format(k, m, &f->args, '%');
}

char ab_op_list(const struct ab_code *k, const struct ab_token *t,
		struct ab_lexer *x)
{
	const bool is_macro = ab_code_is_text(k, t, "vec");
	struct ab_lexer at = *x;
	struct ab_token next = *t;

	if (next.kind == AB_TOKEN_WORD && !ab_lexer_next(&at, &next))
		return 0;
	if (!ab_code_is_sign(k, &next, is_macro ? '!' : '[') ||
	    !ab_lexer_next(&at, &next) ||
	    !ab_code_is_sign(k, &next, is_macro ? '[' : ']'))
		return 0;
	if (!is_macro && (!ab_lexer_next(&at, &next) ||
			  (next.kind == AB_TOKEN_WORD &&
			   !ab_lexer_next(&at, &next)) ||
			  !ab_code_is_sign(k, &next, '{')))
		return 0;
	*x = at;
	return is_macro ? ']' : '}';
}

#define MAX_SLICE 16

static void cut_list(struct ab_made *m, uint32_t begin, uint32_t end)
{
	end = end < m->count ? end : m->count;
	begin = begin < end ? begin : end;
	m->words += begin;
	m->count = end - begin;
	m->room = 0; /* others have the words */
}

uint32_t ab_op_slice(const char *s, uint32_t left, struct ab_made *m)
{
	const char *close = memchr(s, ']', left < MAX_SLICE ? left : MAX_SLICE);
	const uint32_t len = close ? (uint32_t)(close - s) : 0;
	uint32_t begin = 0, end = UINT32_MAX, at = 0;
	bool is_range;

	if (len && *s >= '0' && *s <= '9')
		begin = (uint32_t)(s[at++] - '0');
	is_range = len - at > 1 && !memcmp(s + at, "..", 2);
	if (!m->is_list || at == len || (s[at] != ':' && !is_range))
		return 0;
	at += 1 + is_range;
	if (at + 1 == len && s[at] >= '0' && s[at] <= '9')
		end = (uint32_t)(s[at] - '0') + is_range;
	else if (at != len && !(is_range && len - at > 1 &&
				(!memcmp(s + at, "-1", 2) ||
				 !memcmp(s + at, "$#", 2))))
		return 0;
	cut_list(m, begin, end);
	return len + 1;
}

bool ab_op_is_range(const struct ab_code *k, uint32_t from, uint32_t end)
{
	const char *s = k->text->text + from;
	const uint32_t len = end - from;

	return memchr(s, ':', len) || memmem(s, len, "..", 2) ||
	       memchr(s, ',', len);
}

bool ab_op_index(struct ab_code *k, uint32_t from, uint32_t end,
		 struct ab_made *m)
{
	const char *s = k->text->text + from;
	const uint32_t len = end > from ? end - from - 1 : 0;
	const bool is_last = len == 2 && *s == '-' &&
			     k->lang & (AB_PY | AB_RUBY);
	const char digit = len ? s[len - 1] : 0;
	uint32_t i = (uint32_t)(digit - '0');
	struct ab_word w;

	if (!m->is_list || !m->count || ab_op_is_range(k, from, end))
		return false;
	if (digit < '0' || digit > '9' || !(len == 1 || is_last)) {
		m->is_list = false; /* any of them */
		return true;
	}
	i = is_last ? m->count - i : i - (k->lang == AB_LUA);
	if (i >= m->count)
		return false;
	w = m->words[i];
	ab_made_word(k, m, &w);
	return true;
}

static bool is_digit(const struct ab_made *m)
{
	return m->count == 1 && m->words[0].len == 1 &&
	       *m->words[0].text >= '0' && *m->words[0].text <= '9';
}

/* list.slice(1), list.slice(1, 3), list.drop(1); list.concat(["x"], "y") */
static bool end_list(struct ab_code *k, const struct ab_op_args *f,
		     struct ab_made *m)
{
	const struct ab_made *all = f->args.all;
	uint32_t count = f->args.count;

	*m = f->of;
	/* go: append(list, "x") */
	if (f->op == AB_OP_CONCAT && !m->count && !m->is_list && count) {
		*m = *all++;
		count--;
	}
	if (!m->is_list)
		return false;
	if (f->op == AB_OP_SLICE) {
		if (count > 2 || (count && !is_digit(&all[0])) ||
		    (count > 1 && !is_digit(&all[1])))
			return false;
		cut_list(m, count ? (uint32_t)(*all->words->text - '0') : 0,
			 count > 1 ? (uint32_t)(*all[1].words->text - '0')
				   : UINT32_MAX);
		return true;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (all[i].is_list)
			ab_made_join(k, m, &all[i], AB_GLUE_TEXT);
		else if (all[i].count == 1)
			ab_made_add(k, m, &all[i].words[0]);
		else
			return false;
	}
	return true;
}

bool ab_op_make(struct ab_code *k, struct ab_op_args *f, struct ab_made *m)
{
	const bool is_empty = !f->args.count;

	switch (f->op) {
	case AB_OP_NONE:
	case AB_OP_ROOT:
	case AB_OP_STRING:
		return false;
	case AB_OP_GROUP:
		return end_group(k, f, m);
	case AB_OP_LIST:
		*m = f->of;
		return true;
	case AB_OP_PATH:
	case AB_OP_JOIN:
	case AB_OP_BELOW:
		end_path(k, f, m);
		return true;
	case AB_OP_UNDER:
	case AB_OP_PARENT:
	case AB_OP_GLOB:
		if (!is_empty)
			end_path(k, f, m);
		return !is_empty;
	case AB_OP_SAME:
	case AB_OP_EXPAND:
		*m = is_empty ? f->of : f->args.all[0];
		if (f->op == AB_OP_EXPAND)
			ab_made_expand(k, m);
		return m->count;
	case AB_OP_HERE:
		ab_made_text(k, m, ".");
		m->is_path = k->lang == AB_PY;
		return true;
	case AB_OP_HOME:
		ab_made_home(k, m);
		m->is_path = k->lang == AB_PY;
		return true;
	case AB_OP_FORMAT:
		*m = f->of;
		ab_made_format(k, m, &f->args, '{');
		return true;
	case AB_OP_FILL:
		*m = f->of;
		ab_made_format(k, m, &f->args, '%');
		return true;
	case AB_OP_SPRINTF:
		if (!is_empty)
			end_sprintf(k, f, m);
		return !is_empty;
	case AB_OP_BETWEEN:
		if (!is_empty)
			end_words(k, f, m);
		return !is_empty;
	case AB_OP_WORDS:
	case AB_OP_OF_WORDS:
		end_words(k, f, m);
		return true;
	case AB_OP_TABLE:
	case AB_OP_PASTE:
	case AB_OP_PASTE0:
	case AB_OP_LINE:
		return end_texts(k, f, m);
	case AB_OP_SPLIT:
		*m = f->of;
		if (!is_empty && !is_word(&f->args.all[0], " ")) {
			f->op = AB_OP_CUT;
			return ab_op_text(k, f, m);
		}
		ab_made_split(k, m);
		return true;
	case AB_OP_SLICE:
	case AB_OP_CONCAT:
		return end_list(k, f, m);
	case AB_OP_VARIABLE:
		end_variable(k, f, m);
		return true;
	case AB_OP_NAMES:
		ab_made_entry(k, m);
		return true;
	default:
		return ab_op_text(k, f, m);
	}
}

bool ab_op_is_making(enum ab_op op)
{
	return op != AB_OP_GROUP && op != AB_OP_LIST && op != AB_OP_NAMES;
}

/* --- by their names ----------------------------------------------------- */

struct call {
	const char *name;
	uint8_t langs, op;
	const char *of; /* with a plus: or nobody's */
};

static enum ab_op find(const struct ab_code *k, const struct call *all,
		       size_t count, const struct ab_token *t,
		       const struct ab_token *owner)
{
	for (size_t i = 0; i < count; i++) {
		const char *of = all[i].of;

		if (!(all[i].langs & k->lang) ||
		    !ab_code_is_text(k, t, all[i].name))
			continue;
		if (!of || (*of == '+' && !owner->len))
			return (enum ab_op)all[i].op;
		for (of += *of == '+'; *of; of += *of == ' ') {
			size_t n = strcspn(of, " ");

			if (n == owner->len &&
			    !memcmp(of, k->text->text + owner->at, n))
				return (enum ab_op)all[i].op;
			of += n;
		}
	}
	return AB_OP_NONE;
}

static const struct call calls[] = {
	{ "join", AB_PY, AB_OP_JOIN, "+path osp posixpath ospath" },
	{ "join", AB_JS, AB_OP_BELOW, "+path posix Path nodePath" },
	{ "resolve", AB_JS, AB_OP_JOIN, "+path posix nodePath" },
	{ "normalize", AB_JS, AB_OP_SAME, "path posix" },
	{ "join", AB_RUBY, AB_OP_BELOW, "File" },
	{ "catfile", AB_PERL, AB_OP_BELOW },
	{ "catdir", AB_PERL, AB_OP_BELOW },
	{ "path", AB_OTHER, AB_OP_BELOW, "file" },
	{ "joinpath", AB_OTHER, AB_OP_JOIN },
	{ "Path", AB_PY, AB_OP_PATH },
	{ "PurePath", AB_PY, AB_OP_PATH },
	{ "PosixPath", AB_PY, AB_OP_PATH },
	{ "new", AB_RUBY, AB_OP_PATH, "Pathname" },
	{ "Pathname", AB_RUBY, AB_OP_PATH },
	{ "str", AB_PY, AB_OP_SAME },
	{ "fspath", AB_PY, AB_OP_SAME },
	{ "abspath", AB_PY, AB_OP_SAME },
	{ "normpath", AB_PY, AB_OP_SAME },
	{ "realpath", AB_PY | AB_PHP, AB_OP_SAME },
	{ "dedent", AB_PY, AB_OP_SAME },
	{ "list", AB_PY, AB_OP_SAME },
	{ "tuple", AB_PY, AB_OP_SAME },
	{ "quote", AB_PY, AB_OP_SAME, "shlex pipes" },
	/* of the names of a program that one is called which is run */
	{ "which", AB_PY, AB_OP_SAME, "+shutil" },
	{ "sync", AB_JS, AB_OP_SAME, "which" },
	{ "String", AB_JS, AB_OP_SAME },
	{ "escapeshellarg", AB_PHP, AB_OP_SAME },
	{ "expanduser", AB_PY, AB_OP_EXPAND, "+path osp ospath" },
	{ "expandvars", AB_PY, AB_OP_EXPAND },
	{ "expand", AB_OTHER, AB_OP_EXPAND, "path" },
	{ "expanduser", AB_OTHER, AB_OP_EXPAND },
	{ "expand_path", AB_RUBY, AB_OP_UNDER, "File" },
	{ "getcwd", AB_PY | AB_PERL | AB_PHP, AB_OP_HERE },
	{ "getcwdb", AB_PY, AB_OP_HERE },
	{ "cwd", AB_PY | AB_JS, AB_OP_HERE, "+Path process Deno" },
	{ "pwd", AB_RUBY, AB_OP_HERE, "Dir" },
	{ "home", AB_PY | AB_RUBY, AB_OP_HOME, "Path Dir" },
	{ "homedir", AB_JS | AB_OTHER, AB_OP_HOME },
	{ "dirname", AB_PY | AB_JS | AB_RUBY | AB_PHP | AB_PERL, AB_OP_PARENT },
	{ "sprintf", AB_PERL | AB_RUBY | AB_PHP | AB_AWK | AB_OTHER,
	  AB_OP_SPRINTF },
	{ "c", AB_OTHER, AB_OP_LIST },
	{ "format", AB_RUBY | AB_LUA, AB_OP_SPRINTF, "+string Kernel" },
	{ "format", AB_JS, AB_OP_SPRINTF, "+util u" },
	{ "join", AB_PERL, AB_OP_WORDS },
	{ "implode", AB_PHP, AB_OP_WORDS },
	{ "join", AB_PHP, AB_OP_WORDS },
	{ "concat", AB_LUA, AB_OP_TABLE, "table" },
	{ "append", AB_OTHER, AB_OP_CONCAT },
	{ "paste", AB_OTHER, AB_OP_PASTE },
	{ "paste0", AB_OTHER, AB_OP_PASTE0 },
	{ "join", AB_PY, AB_OP_LINE, "shlex" },
	{ "list2cmdline", AB_PY, AB_OP_LINE },
	{ "shelljoin", AB_RUBY, AB_OP_LINE, "Shellwords" },
	{ "split", AB_PY, AB_OP_SAME, "shlex" },
	{ "getenv", AB_PY | AB_PHP | AB_LUA, AB_OP_VARIABLE },
	{ "get", AB_PY, AB_OP_VARIABLE, "environ" },
	{ "fetch", AB_RUBY, AB_OP_VARIABLE, "ENV" },
	{ "get", AB_JS, AB_OP_VARIABLE, "env" },
	{ "b64decode", AB_PY, AB_OP_BASE64 },
	{ "urlsafe_b64decode", AB_PY, AB_OP_BASE64 },
	{ "standard_b64decode", AB_PY, AB_OP_BASE64 },
	{ "a2b_base64", AB_PY, AB_OP_BASE64 },
	{ "atob", AB_JS, AB_OP_BASE64 },
	{ "decode64", AB_RUBY, AB_OP_BASE64 },
	{ "strict_decode64", AB_RUBY, AB_OP_BASE64 },
	{ "urlsafe_decode64", AB_RUBY, AB_OP_BASE64 },
	{ "decode_base64", AB_PERL, AB_OP_BASE64 },
	{ "base64_decode", AB_PHP, AB_OP_BASE64 },
	{ "fromhex", AB_PY, AB_OP_HEX },
	{ "unhexlify", AB_PY, AB_OP_HEX },
	{ "hex2bin", AB_PHP, AB_OP_HEX },
	{ "from", AB_JS, AB_OP_BUFFER, "Buffer" },
	{ "max", AB_PY, AB_OP_ANY, "+" },
	{ "min", AB_PY, AB_OP_ANY, "+" },
	{ "next", AB_PY, AB_OP_ANY, "+" },
	{ "iter", AB_PY, AB_OP_SAME, "+" },
	{ "choice", AB_PY, AB_OP_ANY },
	{ "listdir", AB_PY, AB_OP_NAMES },
	{ "readdirSync", AB_JS, AB_OP_NAMES },
	{ "children", AB_RUBY, AB_OP_NAMES, "Dir" },
	{ "entries", AB_RUBY, AB_OP_NAMES, "Dir" },
	{ "each_child", AB_RUBY, AB_OP_NAMES, "Dir" },
};

static const struct call methods[] = {
	{ "joinpath", AB_PY, AB_OP_JOIN },
	{ "join", AB_RUBY, AB_OP_JOIN },
	{ "resolve", AB_PY, AB_OP_SAME },
	{ "absolute", AB_PY, AB_OP_SAME },
	{ "as_posix", AB_PY, AB_OP_SAME },
	{ "strip", AB_PY | AB_RUBY, AB_OP_SAME },
	{ "rstrip", AB_PY | AB_RUBY, AB_OP_SAME },
	{ "lstrip", AB_PY | AB_RUBY, AB_OP_SAME },
	{ "replace", AB_PY, AB_OP_REPLACE },
	{ "replaceAll", AB_JS, AB_OP_REPLACE },
	{ "replace", AB_JS, AB_OP_REPLACE_ONE },
	{ "gsub", AB_RUBY, AB_OP_REPLACE },
	{ "sub", AB_RUBY, AB_OP_REPLACE_ONE },
	{ "lower", AB_PY, AB_OP_LOWER },
	{ "casefold", AB_PY, AB_OP_LOWER },
	{ "toLowerCase", AB_JS, AB_OP_LOWER },
	{ "downcase", AB_RUBY, AB_OP_LOWER },
	{ "upper", AB_PY, AB_OP_UPPER },
	{ "toUpperCase", AB_JS, AB_OP_UPPER },
	{ "upcase", AB_RUBY, AB_OP_UPPER },
	{ "zfill", AB_PY, AB_OP_SAME },
	{ "encode", AB_PY, AB_OP_SAME },
	{ "decode", AB_PY, AB_OP_SAME },
	{ "trim", AB_JS, AB_OP_SAME },
	{ "toString", AB_JS, AB_OP_SAME },
	{ "to_s", AB_RUBY, AB_OP_SAME },
	{ "to_path", AB_RUBY, AB_OP_SAME },
	{ "freeze", AB_RUBY, AB_OP_SAME },
	{ "cleanpath", AB_RUBY, AB_OP_SAME },
	{ "realpath", AB_RUBY, AB_OP_SAME },
	{ "expanduser", AB_PY, AB_OP_EXPAND },
	{ "expand_path", AB_RUBY, AB_OP_EXPAND },
	{ "pop", AB_PY | AB_JS | AB_RUBY, AB_OP_ELEMENT },
	{ "popleft", AB_PY, AB_OP_ELEMENT },
	{ "shift", AB_JS | AB_RUBY, AB_OP_ELEMENT },
	{ "at", AB_JS, AB_OP_ELEMENT },
	{ "find", AB_JS, AB_OP_ELEMENT },
	{ "first", AB_RUBY, AB_OP_ELEMENT },
	{ "last", AB_RUBY, AB_OP_ELEMENT },
	{ "sample", AB_RUBY, AB_OP_ELEMENT },
	{ "split", AB_PY | AB_JS | AB_RUBY, AB_OP_SPLIT },
	{ "rsplit", AB_PY, AB_OP_SPLIT },
	{ "slice", AB_JS, AB_OP_SLICE },
	{ "drop", AB_RUBY, AB_OP_SLICE },
	{ "concat", AB_JS | AB_RUBY, AB_OP_CONCAT },
	{ "format", AB_PY, AB_OP_FORMAT },
	{ "format", AB_LUA, AB_OP_FILL },
	{ "glob", AB_PY, AB_OP_GLOB },
	{ "rglob", AB_PY, AB_OP_GLOB },
};

enum ab_op ab_op_of_call(const struct ab_code *k, const struct ab_token *t,
			 const struct ab_token *owner)
{
	return find(k, calls, AB_ARRAY_LEN(calls), t, owner);
}

bool ab_op_takes_one(const struct ab_code *k, const struct ab_named *n,
		     struct ab_lexer x)
{
	const struct ab_token nobody = { 0 };
	struct ab_token t;

	return (n->is_list || n->is_map) && ab_lexer_next(&x, &t) &&
	       ab_code_is_sign(k, &t, '.') && ab_lexer_next(&x, &t) &&
	       ab_code_next_byte(k->text, x.pos) == '(' &&
	       (find(k, methods, AB_ARRAY_LEN(methods), &t, &nobody) ==
			AB_OP_ELEMENT ||
		(n->is_map && ab_code_is_text(k, &t, "get")));
}

void ab_op_default(struct ab_code *k, struct ab_lexer x, struct ab_made *m)
{
	bool is_cut = false, is_all;
	struct ab_token t, close;
	struct ab_made other;
	struct ab_lexer at;
	struct ab_word w;

	if (!ab_code_next_argument(k, &x, false, &is_cut) && !is_cut)
		return;
	at = x;
	is_all = !is_cut && ab_lexer_next(&x, &t) &&
		 ab_lexer_next(&x, &close) && ab_code_is_sign(k, &close, ')');
	if (is_all && ab_code_is_nothing(k, at))
		return;
	ab_made_hole(k, &other);
	if (is_all && t.kind == AB_TOKEN_STRING && ab_code_word(k, &t, &w))
		ab_made_word(k, &other, &w);
	ab_made_either(k, m, &other);
}

enum ab_op ab_op_of_method(const struct ab_code *k, const struct ab_token *t,
			   const struct ab_made *of, bool walks)
{
	const struct ab_token nobody = { 0 };
	enum ab_op op = find(k, methods, AB_ARRAY_LEN(methods), t, &nobody);

	if (ab_code_is_text(k, t, "join")) {
		if (of->is_list && k->lang & (AB_JS | AB_RUBY))
			return AB_OP_OF_WORDS;
		if (k->lang == AB_PY && !of->is_list && !of->is_path)
			return AB_OP_BETWEEN;
	}
	if ((op == AB_OP_JOIN && !of->is_path) ||
	    (op == AB_OP_GLOB && !(of->is_path && walks)) ||
	    ((op == AB_OP_FORMAT || op == AB_OP_REPLACE) && of->is_path))
		return AB_OP_NONE;
	return op;
}
