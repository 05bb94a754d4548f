/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names below a home that an inline program puts together: Path.home() /
 * ".ssh", join(homedir(), ".ssh"), home + "/.ssh", `${env.HOME}/.ssh`. Only
 * what is joined to the home is judged: a name with a dot beside one belongs
 * to another directory.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_VARIABLES 8
#define MAX_LOOK 32 /* tokens */

struct home {
	struct ab_code *k;
	struct ab_token variables[MAX_VARIABLES]; /* that stand for a home */
	uint32_t count;
	uint64_t joins; /* a bit for each open bracket: its commas join */
	bool writes;
	bool expands;	/* the program knows expanduser or expand_path */
	bool is_open;	/* the path goes on */
	bool is_else;	/* behind `||`: another value for the home */
	bool has_slash; /* behind a `/`, or a comma that joins */
	struct ab_word path;
};

static bool is_variable(const struct home *h, const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < h->count; i++) {
		const struct ab_token *v = &h->variables[i];

		if (v->len == len &&
		    !memcmp(h->k->text->text + v->at, s, len))
			return true;
	}
	return false;
}

/* The token names a home; the lexer is behind it. */
static bool is_home(const struct home *h, const struct ab_token *t)
{
	const struct ab_code *k = h->k;
	const char *s = k->text->text + t->at;

	if (t->kind == AB_TOKEN_WORD && is_variable(h, s, t->len))
		return true;
	/* expanduser("~") */
	if (t->kind == AB_TOKEN_STRING && t->len && t->len < 3 && *s == '~' &&
	    (t->len == 1 || s[1] == '/'))
		return h->expands;
	return ab_code_is_home(k, t);
}

/* --- variables ---------------------------------------------------------- */

/* The value behind `name =` is a home and nothing is joined to it. */
static bool is_value_home(struct home *h)
{
	struct ab_code *k = h->k;
	struct ab_lexer start = k->x;
	struct ab_token t;
	bool has_home = false;
	int depth = 0;

	for (uint32_t i = 0; i < MAX_LOOK && ab_lexer_next(&k->x, &t); i++) {
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;

		if (!depth && i && (t.is_line || ch == ';' || ch == ','))
			break;
		if (ch && memchr("([{", ch, 3))
			depth++;
		if (ch && memchr(")]}", ch, 3) && --depth < 0)
			break;
		has_home |= is_home(h, &t);
		if (ch && (memchr("+=%", ch, 3) || (ch == '/' && i))) {
			has_home = false;
			break;
		}
	}
	k->x = start;
	return has_home;
}

static void find_variables(struct home *h)
{
	struct ab_code *k = h->k;
	struct ab_token t, last = { 0 };

	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && h->count < MAX_VARIABLES) {
		bool is_set = ab_code_is_sign(k, &t, '=') &&
			      last.kind == AB_TOKEN_WORD &&
			      k->x.pos < k->x.len &&
			      !memchr("=>~", k->x.text[k->x.pos], 3);

		if (is_set && is_value_home(h))
			h->variables[h->count++] = last;
		last = t;
	}
}

/* --- paths -------------------------------------------------------------- */

/* What is known of the path by now, when it goes below a name with a dot. */
static void judge(struct home *h)
{
	const struct ab_check *c = h->k->c;
	uint32_t at = c->place->home.len;
	struct ab_word *w = &h->path;

	while (at < w->len && w->text[at] == '/')
		at++;
	if (at + 2 >= w->len || w->text[at] != '.' ||
	    memchr("./", w->text[at + 1], 2))
		return;
	ab_check_path(h->k->c, h->k->use, AB_ROLE_READ, w);
	if (h->writes)
		ab_check_path(h->k->c, h->k->use, AB_ROLE_WRITE, w);
}

static void open_path(struct home *h)
{
	const struct ab_known_path *home = &h->k->c->place->home;

	h->path = (struct ab_word){ .text = home->text, .len = home->len,
				    .span = h->k->text->span };
	h->k->last = NULL;
	h->is_open = true;
	h->is_else = h->has_slash = false;
}

static void add_name(struct home *h, const struct ab_word *name)
{
	static const struct ab_word slash = { .text = "/", .len = 1 };

	if (h->has_slash)
		ab_code_append(h->k, &h->path, &slash);
	ab_code_append(h->k, &h->path, name);
	h->has_slash = false;
	judge(h);
}

/* "...".format(home), "%s/x" % home */
static bool is_filled(struct home *h)
{
	struct ab_code *k = h->k;
	struct ab_lexer start = k->x;
	struct ab_token t;
	bool has_home = false;

	for (uint32_t i = 0; i < MAX_LOOK && ab_lexer_next(&k->x, &t); i++) {
		if ((!i && !ab_code_is_sign(k, &t, '.') &&
		     !ab_code_is_sign(k, &t, '%')) ||
		    ab_code_is_sign(k, &t, ';') || (i && t.is_line))
			break;
		has_home |= is_home(h, &t);
	}
	k->x = start;
	return has_home;
}

/* A home stands in what is put into a string: {HOME}, {os.homedir()}, {h} */
static bool is_insert(const struct home *h, uint32_t from, uint32_t to)
{
	struct ab_code k = *h->k;
	struct home inner = *h;
	struct ab_token t;

	k.x.pos = from;
	k.x.len = to;
	inner.k = &k;
	while (ab_lexer_next(&k.x, &t)) {
		if (is_home(&inner, &t))
			return true;
	}
	return false;
}

#define NOWHERE UINT32_MAX

/* Where the text goes on that stands behind a home in the string. */
static uint32_t behind_home(struct home *h, const struct ab_token *t)
{
	const char *s = h->k->text->text;
	uint32_t end = t->at + t->len, from = t->at;
	bool is_asked = false, fills = false;

	/* "$h/.ssh" */
	if (t->len && s[from] == '$' && t->quote != '\'') {
		while (from < end && s[from] != '/')
			from++;
		if (is_variable(h, s + t->at, from - t->at))
			return from;
	}
	if (t->len > 2 && !memcmp(s + t->at, "%s", 2))
		return is_filled(h) ? t->at + 2 : NOWHERE;
	for (from = t->at; from < end;) {
		const char *open = memchr(s + from, '{', end - from);
		const char *close = open ? memchr(open, '}',
						  end - (size_t)(open - s))
					 : NULL;

		if (!close)
			break;
		uint32_t at = (uint32_t)(open - s) + 1;

		from = (uint32_t)(close - s) + 1;
		if (is_insert(h, at, from - 1))
			return from;
		/* what is behind the string is looked at once */
		if (from - at < 3 && !is_asked) {
			fills = is_filled(h);
			is_asked = true;
		}
		if (from - at < 3 && fills)
			return from;
	}
	return NOWHERE;
}

/* ruby: expand_path("x", home) */
static bool is_before_home(struct home *h)
{
	struct ab_code *k = h->k;
	struct ab_lexer start = k->x;
	struct ab_token t = { 0 };
	bool has_home = false;

	if (k->lang == AB_RUBY && h->expands && ab_lexer_next(&k->x, &t) &&
	    ab_code_is_sign(k, &t, ',')) {
		for (uint32_t i = 0; i < 3 && ab_lexer_next(&k->x, &t); i++)
			has_home |= is_home(h, &t);
	}
	k->x = start;
	return has_home;
}

/* A string: it goes on with a path, or has a home itself. */
static void add_string(struct home *h, const struct ab_token *t)
{
	struct ab_code *k = h->k;
	const char *s = k->text->text;
	uint32_t end = t->at + t->len, from = t->at, stop;
	struct ab_word w;

	if (h->is_open) {
		/* ruby: "#{ENV["HOME"]}/x" is two strings */
		while (from < end && memchr(")]}", s[from], 3))
			from++;
		if (from > t->at ? ab_word_slice(k->c, k->text, from,
						 end - from, &w)
				 : ab_code_word(k, t, &w))
			add_name(h, &w);
		return;
	}
	if (is_before_home(h) && ab_code_word(k, t, &w)) {
		open_path(h);
		h->has_slash = true;
		add_name(h, &w);
		h->is_open = false;
		return;
	}
	from = behind_home(h, t);
	if (from == NOWHERE)
		return;
	for (stop = from; stop < end && !memchr("{$#", s[stop], 3);)
		stop++;
	open_path(h);
	if (ab_word_slice(k->c, k->text, from, stop - from, &w))
		add_name(h, &w);
	h->is_open = stop == end;
}

/* --- tokens ------------------------------------------------------------- */

/* Calls whose arguments are the parts of one path. */
static bool is_join(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "join",	 "joinpath", "resolve",
					     "Path",	 "PurePath", "catfile",
					     "normalize", "catdir" };

	/* file.path(), paste0(), str(), File(x, y), Paths.get(x, y) */
	static const char *const others[] = { "path", "paste0", "str",
					      "concat", "File", "get", "of" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_code_is_text(k, t, names[i]))
			return true;
	}
	return k->lang == AB_OTHER &&
	       ab_code_is_one_of(k, t, others, AB_ARRAY_LEN(others));
}

/* [home, "x"].join("/"); the lexer is behind the bracket. */
static bool is_joined_list(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;
	int depth = 1;

	for (uint32_t i = 0; i < MAX_LOOK && ab_lexer_next(&x, &t); i++) {
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;

		if (!depth && ch != '.')
			return ab_code_is_text(k, &t, "join");
		if (ch && memchr("([{", ch, 3))
			depth++;
		else if (ch && memchr(")]}", ch, 3))
			depth--;
	}
	return false;
}

static void bracket(struct home *h, const struct ab_token *t)
{
	struct ab_code *k = h->k;
	bool is_inner = ab_code_is_sign(k, &k->before, '(') && h->joins & 1;

	if (memchr("([{", k->text->text[t->at], 3))
		h->joins = h->joins << 1 |
			   (is_join(k, &k->before) || is_inner ||
			    (ab_code_is_sign(k, t, '[') && is_joined_list(k)));
	else
		h->joins >>= 1;
}

/* The rest of environ.get("HOME", "/root"). */
static void skip_call(struct home *h)
{
	struct ab_code *k = h->k;
	struct ab_lexer start = k->x;
	struct ab_token t;
	int depth = 1;

	for (uint32_t i = 0; i < MAX_LOOK && ab_lexer_next(&k->x, &t); i++) {
		if (t.kind != AB_TOKEN_SIGN)
			continue;
		if (memchr("([{", k->text->text[t.at], 3))
			depth++;
		if (memchr(")]}", k->text->text[t.at], 3) && !--depth) {
			h->joins >>= 1;
			k->before = t;
			return;
		}
	}
	k->x = start;
}

static void go_on(struct home *h, const struct ab_token *t)
{
	struct ab_code *k = h->k;
	char ch = t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;
	char last = k->before.kind == AB_TOKEN_SIGN
			    ? k->text->text[k->before.at] : 0;

	if (t->is_line && !(ch && memchr(".+/)", ch, 4)) &&
	    !(last && memchr(".+/,([", last, 6))) {
		h->is_open = false;
	} else if (ch == '|' || ch == '?' || ab_code_is_text(k, t, "or")) {
		h->is_else = true;
	} else if (ch == '/' || (ch == ',' && h->joins & 1)) {
		h->has_slash = true;
		h->is_else = false;
	} else if (ch && (memchr(".+()[]}", ch, 7) ||
			  (k->lang == AB_OTHER && memchr("!<>*", ch, 4)))) {
		h->is_else &= ch != '+';
	} else if (t->kind == AB_TOKEN_WORD &&
		   (is_join(k, t) || (t->len < 3 && k->x.pos < k->x.len &&
				      memchr("'\"", k->x.text[k->x.pos], 2)))) {
		h->has_slash |= is_join(k, t); /* home.joinpath("x"), r"x" */
	} else {
		h->is_open = false;
	}
}

static bool has_home(const struct ab_word *text)
{
	static const char *const names[] = { "HOME",	   "home",
					     "expanduser", "expand_path",
					     "USERPROFILE" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (memmem(text->text, text->len, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static bool may_write(const struct ab_code *k)
{
	/* python and js write with a call of that name */
	static const struct {
		const char *text;
		uint8_t langs;
	} signs[] = {
		{ "write", AB_ALL_LANGS },
		{ "append", AB_JS },
		{ "put_contents", AB_PHP },
		{ "\"a", AB_PERL | AB_RUBY | AB_PHP | AB_LUA },
		{ "'a", AB_PERL | AB_RUBY | AB_PHP | AB_LUA },
		{ "\"w", AB_PERL | AB_RUBY | AB_PHP | AB_LUA },
		{ "'w", AB_PERL | AB_RUBY | AB_PHP | AB_LUA },
		{ ">", AB_PERL | AB_AWK },
	};
	const struct ab_word *text = k->text;

	for (size_t i = 0; i < AB_ARRAY_LEN(signs); i++) {
		if (signs[i].langs & k->lang &&
		    memmem(text->text, text->len, signs[i].text,
			   strlen(signs[i].text)))
			return true;
	}
	return false;
}

void ab_code_check_home(struct ab_code *k)
{
	struct home h = { .k = k };
	struct ab_token t;
	void *mark = k->c->scratch->low;

	if (!k->c->place->home.text || !has_home(k->text))
		return;
	h.expands = ab_code_has_name(k, "expanduser") ||
		    ab_code_has_name(k, "expand_path");
	h.writes = may_write(k);
	find_variables(&h);
	ab_lexer_rewind(&k->x);
	k->before = (struct ab_token){ 0 };
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		bool was_open = h.is_open;

		if (is_home(&h, &t)) {
			open_path(&h);
			if (t.kind == AB_TOKEN_STRING &&
			    k->x.text[t.at] != '~')
				skip_call(&h);
		} else if (t.kind == AB_TOKEN_STRING) {
			if (was_open && (h.is_else || (t.is_line &&
			    k->before.kind != AB_TOKEN_SIGN)))
				h.is_open = h.is_else;
			else
				add_string(&h, &t);
		} else if (was_open) {
			go_on(&h, &t);
		}
		if (t.kind == AB_TOKEN_SIGN &&
		    memchr("([{)]}", k->text->text[t.at], 6))
			bracket(&h, &t);
		k->before = t;
		if (!h.is_open) {
			ab_arena_release(k->c->scratch, mark);
			k->last = NULL;
		}
	}
}
