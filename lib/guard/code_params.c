/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters of the functions that an inline program defines: they stand for
 * what the program calls those with. One that is ever given something that is
 * not known, or is handed on without being called, is not known. A function
 * that has the name of a call of the table is none, where nothing else in the
 * text can give that name to something.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_FUNCTIONS AB_CODE_OWN
#define MAX_PARAMS 8
#define MAX_ARGS 16 /* of a call, or time is not linear */
#define MAX_LINKS 32
#define MAX_TOKENS 64 /* of parameters, and of an argument */

struct function {
	struct ab_token name;
	struct ab_token params[MAX_PARAMS];
	uint32_t count, rest; /* the one that is all that follow: *a, ...a */
	struct ab_token all;  /* perl: @_ */
	bool is_called;
	bool is_cut; /* there are more */
	bool is_method;
	bool is_own; /* its name can be no other one's */
};

/* A parameter that is given what a name stands for. */
struct link {
	struct ab_token to, from;
	bool is_done;
};

struct functions {
	struct function all[MAX_FUNCTIONS];
	uint32_t count;
	struct link links[MAX_LINKS];
	uint32_t link_count;
	bool has_names; /* a string may call one of them */
};

/* python: def f(a=g()) may be called without it. */
static void see_default(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name)
{
	static const char *const none[] = { "None", "True", "False" };
	struct ab_token t;
	bool is_none = false;

	if (k->lang != AB_PY || !ab_lexer_next(&x, &t) ||
	    !ab_code_is_sign(k, &t, '=') || !ab_lexer_next(&x, &t) ||
	    t.kind != AB_TOKEN_WORD)
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(none); i++)
		is_none |= ab_code_is_text(k, &t, none[i]);
	if (!is_none && !(k->text->text[t.at] >= '0' &&
			  k->text->text[t.at] <= '9'))
		ab_code_note_unknown(k, name);
}

static void add_param(struct ab_code *k, struct function *f,
		      const struct ab_token *t, bool is_rest)
{
	if (f->count == MAX_PARAMS) {
		f->is_cut = true;
		ab_code_note_unknown(k, t);
		return;
	}
	if (is_rest && f->rest == MAX_PARAMS)
		f->rest = f->count;
	f->params[f->count++] = *t;
}

/* Names up to the bracket that closes, or the colon behind a lambda's; what
   else is there is no parameter. The lexer is behind the bracket. */
static void read_params(struct ab_code *k, struct ab_lexer *x,
			struct function *f, bool is_lambda)
{
	struct ab_token t, last = { 0 };
	int depth = 1;
	uint32_t i = 0;

	for (; i < MAX_TOKENS && ab_lexer_next(x, &t); i++) {
		bool is_rest = ab_code_is_sign(k, &last, '*') ||
			       ab_code_is_sign(k, &last, '.');
		bool begins = !last.kind || is_rest ||
			      ab_code_is_sign(k, &last, ',');

		if (t.kind == AB_TOKEN_SIGN && t.len == 1) {
			char ch = k->text->text[t.at];

			depth += memchr("([{", ch, 3) != NULL;
			depth -= memchr(")]}", ch, 3) != NULL;
			depth -= is_lambda && depth == 1 && ch == ':';
		}
		if (!depth)
			return;
		/* php: string $a */
		if (k->lang == AB_PHP)
			begins = t.kind == AB_TOKEN_WORD &&
				 k->text->text[t.at] == '$';
		if (depth == 1 && t.kind == AB_TOKEN_WORD && begins) {
			f->is_method |= ab_code_is_text(k, &t, "self") ||
					ab_code_is_text(k, &t, "cls");
			if (!ab_code_is_text(k, &t, "self") &&
			    !ab_code_is_text(k, &t, "cls")) {
				add_param(k, f, &t, is_rest);
				see_default(k, *x, &t);
			}
		}
		last = t;
	}
	/* who knows what else is one */
	k->is_unknown |= i == MAX_TOKENS;
}

static bool is_arrow(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '=') &&
	       x.pos < x.len && x.text[x.pos] == '>';
}

/* def f(a, b), function f(a), sub f {, f = (a) => and f = a =>, f = lambda a:,
   f = function (a), f <- function(a), behind the first word of it. */
static bool read_definition(struct ab_code *k, struct ab_lexer x,
			    const struct ab_token *t, struct function *f)
{
	struct ab_token next;

	*f = (struct function){ .rest = MAX_PARAMS };
	if (!ab_lexer_next(&x, &next))
		return false;
	if (k->lang == AB_PERL) {
		f->name = next;
		return ab_code_is_text(k, t, "sub") &&
		       next.kind == AB_TOKEN_WORD;
	}
	/* js, in a class: of a constructor the caller knows whose it is */
	if (ab_code_is_sign(k, &next, '(') && ab_code_is_method(k, x, t)) {
		f->name = *t;
		f->is_method = true;
		read_params(k, &x, f, false);
		return true;
	}
	if (ab_code_is_text(k, t, "def") || ab_code_is_text(k, t, "function")) {
		f->name = next;
		if (next.kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &next) ||
		    !ab_code_is_sign(k, &next, '('))
			return false;
		read_params(k, &x, f, false);
		return true;
	}
	/* R: f <- function(a) */
	if (k->lang == AB_OTHER && ab_code_is_sign(k, &next, '<')) {
		if (!ab_lexer_next(&x, &next) ||
		    !ab_code_is_sign(k, &next, '-'))
			return false;
	} else if (!ab_code_is_sign(k, &next, '=')) {
		return false;
	}
	if (!ab_lexer_next(&x, &next))
		return false;
	f->name = *t;
	if (k->lang == AB_PY) {
		if (!ab_code_is_text(k, &next, "lambda"))
			return false;
		read_params(k, &x, f, true);
		return true;
	}
	if (ab_code_is_text(k, &next, "function")) {
		if (!ab_lexer_next(&x, &next) ||
		    !ab_code_is_sign(k, &next, '('))
			return false;
		read_params(k, &x, f, false);
		return true;
	}
	if (k->lang != AB_JS)
		return false;
	if (ab_code_is_text(k, &next, "async") && !ab_lexer_next(&x, &next))
		return false;
	if (ab_code_is_sign(k, &next, '('))
		read_params(k, &x, f, false);
	else if (next.kind == AB_TOKEN_WORD)
		f->params[f->count++] = next;
	return f->count && is_arrow(k, x);
}

/* --- what they are called with ------------------------------------------ */

static struct function *find(const struct ab_code *k, struct functions *all,
			     const struct ab_token *t)
{
	const char *s = k->text->text;

	for (uint32_t i = 0; i < all->count; i++) {
		struct function *f = &all->all[i];

		if (f->name.len == t->len && f->name.at != t->at &&
		    !memcmp(s + f->name.at, s + t->at, t->len))
			return f;
	}
	return NULL;
}

/* subprocess.run() is none of the program's own. */
static bool is_of_module(const struct ab_code *k, const struct ab_token *dot,
			 const struct ab_token *of)
{
	static const char *const modules[] = { "subprocess", "os", "Kernel",
					       "Open3", "IO", "Process",
					       "asyncio", "shutil" };

	if (!ab_code_is_sign(k, dot, '.'))
		return false;
	if (k->lang & (AB_JS | AB_LUA))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(modules); i++) {
		if (ab_code_is_text(k, of, modules[i]))
			return true;
	}
	for (uint32_t i = 0; i < k->alias_count; i++) {
		if (ab_code_is_same(k, &k->aliases[i], of))
			return true;
	}
	return false;
}

static void forget(struct ab_code *k, const struct function *f, uint32_t from)
{
	for (uint32_t i = from; i < f->count; i++)
		ab_code_cut_name(k, &f->params[i]);
	if (f->all.len)
		ab_code_cut_name(k, &f->all);
}

static void note_params(struct ab_code *k, const struct function *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		ab_code_note_unknown(k, &f->params[i]);
	if (f->all.len)
		ab_code_note_unknown(k, &f->all);
}

/* The argument ends behind the token at the lexer. */
static bool ends_argument(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return !ab_lexer_next(&x, &t) || ab_code_is_sign(k, &t, ',') ||
	       ab_code_is_sign(k, &t, ')') || ab_code_ends_words(k, &t);
}

/* python: "a %s" % x, where x is not settled yet */
static bool is_filled(struct ab_code *k, struct ab_lexer x)
{
	struct ab_lexer ahead = x;
	struct ab_token t;
	struct ab_made m;

	return k->lang == AB_PY && ab_lexer_next(&x, &t) &&
	       t.kind == AB_TOKEN_STRING && ab_lexer_next(&x, &t) &&
	       ab_code_is_sign(k, &t, '%') &&
	       !(ab_code_read_expr(k, &ahead, &m, AB_NEED_MADE) &&
		 ab_made_is_known(&m));
}

/* One argument, at the lexer. */
static void give(struct ab_code *k, struct functions *all, struct ab_lexer x,
		 const struct ab_token *to)
{
	struct ab_lexer behind = x;
	struct ab_token t;

	if (!ab_lexer_next(&behind, &t) || t.kind != AB_TOKEN_WORD ||
	    !ends_argument(k, behind)) {
		ab_code_read_param(k, x, to);
		if (is_filled(k, x))
			ab_code_note_unknown(k, to);
	} else if (all->link_count == MAX_LINKS) {
		ab_code_cut_name(k, to);
	} else if (!ab_code_is_same(k, &t, to)) {
		all->links[all->link_count++] = (struct link){
			.to = *to, .from = t,
		};
	}
}

/* One more word of the list that the parameter is. */
static void give_rest(struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *to)
{
	struct ab_named *n = ab_code_add_named(k, to);
	struct ab_lexer made = x;
	struct ab_token t;
	struct ab_made m;
	struct ab_word w;

	if (!n)
		return;
	/* sys.executable, os.path.join("a", "b") */
	if (ab_code_read_expr(k, &made, &m, AB_NEED_MADE) &&
	    ends_argument(k, made) &&
	    m.count == 1 && !m.is_list && ab_made_is_known(&m)) {
		ab_code_add_value(k, n, &m.words[0], false);
		k->last = NULL;
		return;
	}
	if (!ab_lexer_next(&x, &t) || t.kind != AB_TOKEN_STRING ||
	    t.quote == 'w' || !ends_argument(k, x) || !ab_code_word(k, &t, &w))
		n->is_cut = true;
	else
		ab_code_add_value(k, n, &w, false);
}

static void begin_rest(struct ab_code *k, const struct ab_token *to)
{
	struct ab_named *n = ab_code_add_named(k, to);

	if (!n)
		return;
	n->is_list = true;
	if (n->count < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << n->count;
}

/* f(a="x"): the parameter of that name; the lexer then is behind it. */
static const struct ab_token *keyword(const struct ab_code *k,
				      struct ab_lexer *x,
				      const struct function *f, bool *is_one)
{
	struct ab_lexer behind = *x;
	struct ab_token t, next;

	*is_one = false;
	if (!(k->lang & (AB_PY | AB_RUBY)) || !ab_lexer_next(&behind, &t) ||
	    t.kind != AB_TOKEN_WORD || !ab_lexer_next(&behind, &next) ||
	    !ab_code_is_sign(k, &next, k->lang == AB_PY ? '=' : ':') ||
	    (behind.pos < behind.len &&
	     memchr("=:", behind.text[behind.pos], 2)))
		return NULL;
	*is_one = true;
	*x = behind;
	for (uint32_t i = 0; i < f->count; i++) {
		if (ab_code_is_same(k, &f->params[i], &t))
			return &f->params[i];
	}
	return NULL;
}

/* f("a", b), f "a": the lexer is behind the name. */
static void read_call(struct ab_code *k, struct functions *all,
		      struct ab_lexer x, const struct function *f)
{
	const bool may_be_bare = k->lang & (AB_RUBY | AB_PERL);
	struct ab_lexer behind = x;
	bool is_bare, is_later, is_cut = false;
	struct ab_token t;

	is_bare = !ab_lexer_next(&behind, &t) || !ab_code_is_sign(k, &t, '(');
	if (is_bare && (!may_be_bare || t.is_line ||
			(t.kind != AB_TOKEN_STRING &&
			 !ab_code_is_sign(k, &t, '[') &&
			 !ab_code_is_sign(k, &t, '@') &&
			 !(t.kind == AB_TOKEN_WORD && t.len > 1 &&
			   k->text->text[t.at] == '$')))) {
		forget(k, f, 0);
		return;
	}
	if (!is_bare)
		x = behind;
	is_later = !is_bare && f->rest < f->count &&
		   ab_code_defer_rest(k, x, &f->params[f->rest], f->rest);
	if (f->rest < f->count && !is_later)
		begin_rest(k, &f->params[f->rest]);
	if (f->all.len)
		begin_rest(k, &f->all);
	/* f() */
	behind = x;
	if (ab_lexer_next(&behind, &t) && ab_code_is_sign(k, &t, ')'))
		return;
	for (uint32_t i = 0, n = 0;; i++, n++) {
		const struct ab_token *to;
		bool is_keyword;

		behind = x;
		to = keyword(k, &x, f, &is_keyword);
		if (is_keyword) {
			i--;
			if (to)
				give(k, all, x, to);
		} else if (is_later && i >= f->rest) {
			break; /* what is left is read later */
		} else if (ab_lexer_next(&behind, &t) &&
			   t.kind == AB_TOKEN_SIGN &&
			   memchr("*.@&", k->text->text[t.at], 4)) {
			/* *x may be any of those that follow */
			forget(k, f, 0);
			return;
		} else if (i >= f->rest && f->rest < f->count) {
			give_rest(k, x, &f->params[f->rest]);
		} else if (i < f->count) {
			give(k, all, x, &f->params[i]);
		}
		if (f->all.len && !is_keyword)
			give_rest(k, x, &f->all);
		if (!ab_code_next_argument(k, &x, is_bare, &is_cut))
			break;
		if (n == MAX_ARGS) {
			is_cut = true;
			break;
		}
	}
	if (is_cut)
		forget(k, f, 0);
}

/* --- what is given by a name -------------------------------------------- */

static bool is_target(const struct ab_code *k, const struct functions *all,
		      const struct ab_token *name)
{
	for (uint32_t i = 0; i < all->link_count; i++) {
		if (!all->links[i].is_done &&
		    ab_code_is_same(k, &all->links[i].to, name))
			return true;
	}
	return false;
}

static void copy_link(struct ab_code *k, const struct link *link)
{
	const struct ab_named *from = ab_code_named(k, &link->from);
	struct ab_named *n;

	if (!from || from->call || from->is_map || !from->count) {
		ab_code_cut_name(k, &link->to);
		return;
	}
	n = ab_code_add_named(k, &link->to);
	if (!n || n == from)
		return;
	n->is_path |= from->is_path;
	n->is_any |= from->is_any || (n->count && n->is_list != from->is_list);
	n->is_list |= from->is_list;
	if (n->count && n->is_nested != from->is_nested)
		ab_code_note_unknown(k, &link->to);
	n->is_nested |= from->is_nested;
	n->is_cut |= from->is_cut;
	if (from->is_list && n->count < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << n->count;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct ab_word w = from->words[i];

		if (from->is_list && n->count < AB_CODE_VALUES)
			n->begins |= (from->begins >> i & 1) << n->count;
		ab_code_add_value(k, n, &w, false);
	}
}

void ab_code_link_params(struct ab_code *k)
{
	struct functions *all = k->functions;
	bool is_done = false;

	while (all && !is_done) {
		is_done = true;
		for (uint32_t i = 0; i < all->link_count; i++) {
			struct link *link = &all->links[i];

			if (link->is_done || is_target(k, all, &link->from))
				continue;
			copy_link(k, link);
			link->is_done = true;
			is_done = false;
		}
	}
	/* they are given each other */
	for (uint32_t i = 0; all && i < all->link_count; i++) {
		if (!all->links[i].is_done)
			ab_code_cut_name(k, &all->links[i].to);
	}
}

bool ab_code_is_linked(const struct ab_code *k, const struct ab_token *t)
{
	const struct functions *all = k->functions;

	for (uint32_t i = 0; all && i < all->link_count; i++) {
		if (ab_code_is_same(k, &all->links[i].to, t))
			return true;
	}
	return false;
}

bool ab_code_settle_links(struct ab_code *k)
{
	const struct functions *all = k->functions;
	bool has_more = false;

	for (uint32_t i = 0; all && i < all->link_count; i++) {
		const struct ab_named *from =
			ab_code_named(k, &all->links[i].from);
		const struct ab_named *to = ab_code_named(k, &all->links[i].to);

		/* what is done to a list that is handed on is done to both */
		if (!from || !to || to->is_unknown == from->is_unknown ||
		    (to->is_unknown && !from->is_list))
			continue;
		k->names[to - k->names].is_unknown = true;
		k->names[from - k->names].is_unknown = true;
		has_more = true;
	}
	return has_more;
}

/* --- perl --------------------------------------------------------------- */

/* The sub that is being read. */
struct body {
	struct function *f;
	struct ab_token last[2];
	int depth;
};

/* my ($a, @b) = @_; behind the bracket. */
static void read_unpacked(struct ab_code *k, struct ab_lexer x,
			  struct function *f)
{
	const struct ab_lexer start = x;
	struct ab_token t, last = { 0 };
	uint32_t n = 0;

	while (n++ < MAX_TOKENS && ab_lexer_next(&x, &t) &&
	       !ab_code_is_sign(k, &t, ')'))
		;
	if (!ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, '=') ||
	    !ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, '@') ||
	    !ab_lexer_next(&x, &t) || !ab_code_is_text(k, &t, "_"))
		return;
	x = start;
	while (ab_lexer_next(&x, &t) && !ab_code_is_sign(k, &t, ')')) {
		if (t.kind == AB_TOKEN_WORD && f)
			add_param(k, f, &t, ab_code_is_sign(k, &last, '@'));
		else if (t.kind == AB_TOKEN_WORD)
			ab_code_note_unknown(k, &t);
		last = t;
	}
}

/* my @a = @_; behind `my`. */
static void read_all_of(struct ab_code *k, struct ab_lexer x,
			struct function *f)
{
	struct ab_token t, name;

	if (ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '@') &&
	    ab_lexer_next(&x, &name) && name.kind == AB_TOKEN_WORD &&
	    ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '=') &&
	    ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '@') &&
	    ab_lexer_next(&x, &t) && ab_code_is_text(k, &t, "_"))
		add_param(k, f, &name, true);
}

static void read_body(struct ab_code *k, struct functions *all,
		      struct body *b, struct ab_lexer x,
		      const struct ab_token *t)
{
	struct ab_token next;

	b->depth += ab_code_is_sign(k, t, '{');
	b->depth -= ab_code_is_sign(k, t, '}');
	if (b->f && ab_code_is_sign(k, t, '}') && b->depth <= 0)
		b->f = NULL;
	if (b->f && ab_code_is_text(k, t, "my"))
		read_all_of(k, x, b->f);
	if (ab_code_is_text(k, t, "my") && ab_lexer_next(&x, &next) &&
	    ab_code_is_sign(k, &next, '('))
		read_unpacked(k, x, b->f);
	if (ab_code_is_text(k, t, "_") &&
	    ab_code_is_sign(k, &b->last[0], '@')) {
		for (uint32_t i = 0; i < all->count; i++) {
			if (!all->all[i].all.len)
				all->all[i].all = *t;
		}
	}
	/* my $a = shift; */
	if (ab_code_is_text(k, t, "shift") &&
	    ab_code_is_sign(k, &b->last[0], '=') &&
	    b->last[1].kind == AB_TOKEN_WORD && ab_lexer_next(&x, &next) &&
	    ab_code_is_sign(k, &next, ';')) {
		if (b->f)
			add_param(k, b->f, &b->last[1], false);
		else
			ab_code_note_unknown(k, &b->last[1]);
	}
	b->last[1] = b->last[0];
	b->last[0] = *t;
}

/* --- names that nothing else can have ----------------------------------- */

/* Blocks that are open, as far as words tell. */
static int block_change(const struct ab_code *k, const struct ab_token *before,
			const struct ab_token *t)
{
	static const char *const heads[] = { "def",   "class", "module", "if",
					     "unless", "while", "until", "case",
					     "begin", "do",    "for" };

	if (ab_code_is_sign(k, before, '.') || ab_code_is_sign(k, before, ':'))
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(heads); i++) {
		if (ab_code_is_text(k, t, heads[i]))
			return 1;
	}
	return ab_code_is_sign(k, t, '{')    ? 1 :
	       ab_code_is_sign(k, t, '}') ||
			       ab_code_is_text(k, t, "end") ? -1 :
							       0;
}

/* Where it is defined, it is so for all of the text. */
static bool may_be_own(const struct ab_code *k, const struct function *f,
		       const struct ab_token *t, int depth, bool is_marked)
{
	const char *s = k->text->text;

	if (!ab_code_call(k, &f->name) || is_marked)
		return false;
	switch (k->lang) {
	case AB_PY:
		return ab_code_is_text(k, t, "def") && !f->is_method &&
		       (!t->at || s[t->at - 1] == '\n');
	case AB_RUBY:
		return !depth;
	case AB_PERL:
		return ab_code_is_text(k, &f->name, "run") ||
		       ab_code_is_text(k, &f->name, "shell");
	case AB_JS:
	case AB_LUA:
		return !f->is_method;
	default:
		return false;
	}
}

/* The name stands there for something else, or for more than a call. */
static void see_use(const struct ab_code *k, struct function *f,
		    struct ab_lexer x, const struct ab_token *before)
{
	bool is_member = ab_code_is_sign(k, before, '.') ||
			 ab_code_is_sign(k, before, '>');
	struct ab_token t;
	bool has_next = ab_lexer_next(&x, &t);

	if (has_next && ab_code_is_sign(k, &t, '(') &&
	    !ab_code_is_text(k, before, "class"))
		return;
	if (is_member && !(has_next && ab_code_is_sign(k, &t, '=')))
		return;
	if (has_next && k->lang & (AB_RUBY | AB_PERL) && !t.is_line &&
	    !ab_code_is_sign(k, before, ':') &&
	    !ab_code_is_sign(k, before, '*') &&
	    !ab_code_is_sign(k, before, '&') &&
	    (t.kind == AB_TOKEN_STRING ||
	     (ab_code_is_text(k, before, "sub") &&
	      ab_code_is_sign(k, &t, '{'))))
		return;
	f->is_own = false;
}

/* The string calls it, as far as its expressions are code. */
static bool calls(const struct ab_code *k, const struct ab_token *t,
		  const struct ab_token *name)
{
	const char *s = k->text->text + t->at, *at = s, *end = s + t->len;
	const char *n = k->text->text + name->at;

	if (!memchr(s, '{', t->len))
		return false;
	for (; (at = memmem(at, (size_t)(end - at), n, name->len)); at++) {
		const char *behind = at + name->len;

		if ((at > s && ab_code_is_letter(at[-1])) || behind == end)
			continue;
		if (memchr("(.,)|", *behind, 5) || (at > s && at[-1] == '{'))
			return true;
	}
	return false;
}

/* "x.f" and "f" */
static bool ends_with(const struct ab_code *k, const struct ab_token *t,
		      const struct ab_token *name)
{
	const char *s = k->text->text;
	uint32_t at = t->at + t->len - name->len;

	return t->len >= name->len &&
	       !memcmp(s + at, s + name->at, name->len) &&
	       (t->len == name->len || !ab_code_is_letter(s[at - 1]));
}

/* "#{f(x)}", f"{f(x)}" and the name in a list of names: it is called, or said,
   where that is not seen. */
static void see_string(struct ab_code *k, struct functions *all,
		       const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	for (uint32_t i = 0; i < all->count; i++) {
		struct function *f = &all->all[i];
		bool is_name = t->len == f->name.len && all->has_names;

		/* qw(run), patch("x.run", y) */
		if ((t->quote == 'w' || ends_with(k, t, &f->name)) &&
		    memmem(s, t->len, k->text->text + f->name.at, f->name.len))
			f->is_own = false;
		if ((is_name && !memcmp(s, k->text->text + f->name.at,
					t->len)) ||
		    calls(k, t, &f->name)) {
			f->is_own = false;
			forget(k, f, 0);
		}
	}
}

bool ab_code_is_defined(const struct ab_code *k, const struct ab_token *t)
{
	return k->functions && find(k, k->functions, t);
}

bool ab_code_is_own(const struct ab_code *k, const struct ab_token *t)
{
	/* elsewhere `: f()` begins a block, and `=> f()` and `&& f()` are calls
	   like others */
	const uint8_t arrows = AB_PERL | AB_PHP | AB_RUBY;

	if (ab_code_is_sign(k, &k->before, '.') ||
	    (k->lang & (arrows | AB_LUA) &&
	     ab_code_is_sign(k, &k->before, ':')) ||
	    (k->lang & arrows && (ab_code_is_sign(k, &k->before, '>') ||
				  ab_code_is_sign(k, &k->before, '&'))))
		return false;
	for (uint32_t i = 0; i < k->own_count; i++) {
		if (ab_code_is_same(k, &k->own[i], t))
			return true;
	}
	return false;
}

/* --- all of them -------------------------------------------------------- */

static void find_functions(struct ab_code *k, struct functions *all)
{
	struct ab_lexer x = k->x;
	struct ab_token t, last[2] = { 0 }, class = { 0 };
	struct body body = { .depth = 0 };
	const bool is_plain = !ab_code_has_tricks(k);
	bool is_marked = false;
	int depth = 0;

	for (; ab_lexer_next(&x, &t); last[1] = last[0], last[0] = t) {
		struct function f;
		int change = k->lang == AB_RUBY ? block_change(k, &last[0], &t)
						: 0;

		/* python: what a decorator makes of it */
		is_marked |= k->lang == AB_PY && t.is_line &&
			     ab_code_is_sign(k, &t, '@');
		is_marked |= k->lang == AB_PY && !t.at &&
			     ab_code_is_sign(k, &t, '@');
		if (ab_code_is_text(k, &last[0], "class"))
			class = t;
		if (k->lang == AB_PERL)
			read_body(k, all, &body, x, &t);
		/* a lambda that has a name was read with it */
		if (k->lang == AB_PY && ab_code_is_text(k, &t, "lambda") &&
		    !(ab_code_is_sign(k, &last[0], '=') &&
		      last[1].kind == AB_TOKEN_WORD && all->count &&
		      all->all[all->count - 1].name.at == last[1].at)) {
			struct ab_lexer inner = x;

			f = (struct function){ .rest = MAX_PARAMS };
			read_params(k, &inner, &f, true);
			note_params(k, &f);
		} else if (t.kind == AB_TOKEN_WORD &&
			   read_definition(k, x, &t, &f)) {
			f.is_own = is_plain &&
				   may_be_own(k, &f, &t, depth, is_marked);
			/* it is called by the name of the class */
			if (class.len && ab_code_is_constructor(k, &f.name)) {
				f.name = class;
				f.is_own = false;
			}
			if (ab_code_is_text(k, &t, "def"))
				is_marked = false;
			if (all->count < MAX_FUNCTIONS) {
				all->all[all->count++] = f;
				body = (struct body){
					.f = &all->all[all->count - 1],
				};
			} else {
				note_params(k, &f);
				body.f = NULL;
			}
		}
		depth += change;
	}
}

void ab_code_find_params(struct ab_code *k)
{
	struct functions *all;
	struct ab_lexer start = k->x;
	struct ab_token t, last[2] = { 0 };

	if (!(k->lang & (AB_PY | AB_JS | AB_RUBY | AB_PHP | AB_PERL |
			 AB_LUA | AB_AWK | AB_OTHER)) ||
	    (k->lang == AB_OTHER && strcmp(k->name, "r") != 0) ||
	    !ab_code_may_define(k))
		return;
	all = ab_check_alloc(k->c, sizeof(*all));
	if (!all)
		return;
	all->count = all->link_count = 0;
	all->has_names = ab_code_calls_by_name(k);
	k->functions = all;
	find_functions(k, all);
	for (; all->count && ab_lexer_next(&k->x, &t);
	     last[1] = last[0], last[0] = t) {
		struct function *f =
			t.kind == AB_TOKEN_WORD ? find(k, all, &t) : NULL;

		if (t.kind == AB_TOKEN_STRING)
			see_string(k, all, &t);
		if (!f)
			continue;
		see_use(k, f, k->x, &last[0]);
		if ((is_of_module(k, &last[0], &last[1]) &&
		     !(k->lang == AB_JS && f->is_method)) ||
		    ab_code_is_text(k, &last[0], "class") ||
		    ab_code_is_text(k, &last[0], "def") ||
		    ab_code_is_text(k, &last[0], "sub") ||
		    ab_code_is_text(k, &last[0], "function"))
			continue;
		f->is_called = true;
		read_call(k, all, ab_code_behind_new(k), f);
	}
	/* who calls it is not seen */
	for (uint32_t i = 0; i < all->count; i++) {
		if (!all->all[i].is_called)
			note_params(k, &all->all[i]);
		if (all->all[i].is_own)
			k->own[k->own_count++] = all->all[i].name;
	}
	k->x = start;
	k->last = NULL;
}
