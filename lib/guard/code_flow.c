/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an inline program does with two things that it has from outside, as they
 * are or by a name that was given what is made of them. Secrets of its
 * environment are sent away: in an address, a body, a field of a call that
 * talks to the network; a header says who one is, and so does what goes to the
 * host that the variable is named after. What it reads from a file is sent as a
 * body, or, of a file or its stdin, is taken away with all below it.
 * Refuses to follow what a call makes of a secret, a key or a signature, to
 * follow parameters, and to look at programs that do neither.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>
#include <strings.h>

#define MAX_NAMES 16
#define MAX_DEPTH 16 /* of brackets; what is deeper belongs to the last */
#define MAX_TARGET 1024 /* bytes: they are read more than once */
#define MAX_OPTIONS 8 /* of perl, in front of its program */
#define MAX_REACH 4  /* tokens: environ . get ( "X" */

struct span {
	uint32_t at, end;
};

/* A name, and the variable that it was made of; of what was read: none. */
struct sent {
	struct span name, variable;
};

struct scan {
	struct ab_code *k;
	struct ab_lexer x; /* behind the token at hand */
	struct ab_token before, behind, last; /* the last tokens, backwards */
	uint32_t since;	   /* tokens behind the name of the environment */
	uint32_t hole;	   /* of the text: none of those before is looked at */
	bool has_argv;	   /* a word behind the program is a secret */
	struct sent names[MAX_NAMES];
	uint32_t count;
	struct span found; /* the variable that is sent */
	bool is_reading;   /* it is about what the program reads */
	bool is_sending;   /* ... and sends; otherwise it removes that */
	bool is_showing;   /* ... or prints */
	bool is_fed;	   /* and the statement has that */
	bool is_line;	   /* perl: so has $_ */
	bool is_given;	   /* ... which is sent or removed */
	uint32_t depth;
	struct {
		struct span target; /* `x =` of the statement in it */
		bool is_net;	/* given to what sends, or removes */
		bool is_body;	/* statements of their own */
		bool has_chain; /* of a call: is_chain before it */
		bool is_rm;	/* ... that runs rm(1) */
		bool is_own;	/* a header */
		bool is_payload; /* files=, body: */
		bool is_closed; /* what a call makes of it is another thing */
	} all[MAX_DEPTH];
	bool is_chain; /* requests.x.y, c.x: of the network */
	bool is_net, is_open; /* what the call at hand would be */
	struct span group;    /* what the last bracket holds */
	uint32_t opened[MAX_DEPTH];
};

static uint32_t level(const struct scan *s)
{
	return s->depth < MAX_DEPTH ? s->depth : MAX_DEPTH - 1;
}

static char sign_of(const struct scan *s, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_SIGN ? s->k->text->text[t->at] : 0;
}

static struct span bare(const struct scan *s, uint32_t at, uint32_t len)
{
	struct span name = { .at = at, .end = at + len };

	while (name.at < name.end &&
	       memchr("$@%", s->k->text->text[name.at], 3))
		name.at++;
	return name;
}

/* It is named like what says who one is; of what is read, or written for a
   request, and no file. */
static bool is_header(const struct scan *s, struct span name)
{
	return ab_code_is_header(s->k->text->text + name.at,
				 name.end - name.at, s->is_reading);
}

static bool is_secret(const struct scan *s, struct span name)
{
	char text[64];
	uint32_t len = name.end - name.at;

	if (len >= sizeof(text))
		return false;
	memcpy(text, s->k->text->text + name.at, len);
	text[len] = '\0';
	return strlen(text) == len && ab_value_is_secret(text);
}

/* --- secrets -------------------------------------------------------------- */

/* for k in ("X_TOKEN", "Y_KEY"): environ[k] */
static bool holds_secret(const struct scan *s, const struct ab_token *t)
{
	const struct ab_named *n = t->kind == AB_TOKEN_WORD && s->k->name_count
					   ? ab_code_named(s->k, t)
					   : NULL;

	for (uint32_t i = 0; n && !n->call && i < n->count; i++) {
		const struct ab_word *w = &n->words[i];
		char text[64];

		if (w->len >= sizeof(text))
			continue;
		memcpy(text, w->text, w->len);
		text[w->len] = '\0';
		if (ab_value_is_secret(text))
			return true;
	}
	return false;
}

static const struct sent *find(const struct scan *s, struct span name)
{
	const char *text = s->k->text->text;
	uint32_t len = name.end - name.at;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct span *n = &s->names[i].name;

		if (n->end - n->at == len &&
		    !memcmp(text + n->at, text + name.at, len))
			return &s->names[i];
	}
	return NULL;
}

/* f"..." */
static bool is_prefix(const struct scan *s, const struct ab_token *t)
{
	const uint32_t end = t->at + t->len;

	return s->k->lang == AB_PY && t->len <= 2 && end < s->x.len &&
	       memchr("\"'", s->x.text[end], 2);
}

/* The token is a secret of the environment, or a name of one; `since` tells how
   far it is from the environment. */
static bool names_secret(const struct scan *s, const struct ab_token *t,
			 const struct ab_token *before, uint32_t *since,
			 struct span *variable)
{
	const struct span name = bare(s, t->at, t->len);
	const struct sent *known;

	if (t->kind == AB_TOKEN_WORD && ab_code_reads_environment(s->k, t)) {
		*since = 0;
		return false;
	}
	if (*since <= MAX_REACH)
		++*since;
	if (t->kind == AB_TOKEN_SIGN)
		return false;
	if (s->has_argv && ab_code_is_argv(s->k, t)) {
		*variable = name;
		return true;
	}
	if (*since <= MAX_REACH && *since > 1 &&
	    (is_secret(s, name) || holds_secret(s, t))) {
		*variable = name;
		return true;
	}
	/* a property of something is another thing */
	if (t->kind != AB_TOKEN_WORD || !s->count ||
	    sign_of(s, before) == '.' || is_prefix(s, t))
		return false;
	known = find(s, name);
	if (known)
		*variable = known->variable;
	return known;
}

#define MAX_MODE 16 /* tokens, to where it stands */

/* open(x, "w") */
static bool is_written(const struct scan *s)
{
	struct ab_lexer x = s->x;
	struct ab_token t, before = { 0 };
	uint32_t depth = 0;

	for (uint32_t i = 0; i < MAX_MODE && ab_lexer_next(&x, &t); i++) {
		const char ch = sign_of(s, &t);

		depth += ch == '(';
		depth -= ch == ')' && depth;
		if (ch == ')' && !depth)
			break;
		if (t.kind == AB_TOKEN_STRING && t.len && t.len <= 3 &&
		    sign_of(s, &before) &&
		    memchr(",=", sign_of(s, &before), 2) &&
		    memchr("wax>", x.text[t.at], 4))
			return true;
		before = t;
	}
	return false;
}

/* open(x), File.read(x): a file, and nothing that is typed or fetched. */
static bool is_file(const struct scan *s, const struct ab_token *t)
{
	if (ab_code_is_file_reader(s->k, t))
		return true;
	if (ab_code_is_text(s->k, &s->behind, "File"))
		return ab_code_is_text(s->k, t, "read") ||
		       ab_code_is_text(s->k, t, "open");
	return s->k->lang == AB_PY && sign_of(s, &s->before) != '.' &&
	       ab_code_is_text(s->k, t, "open");
}

/* It reads a file or its stdin: open(x), sys.stdin, <F>; or it is a name of
   what that gave. */
static bool is_read(const struct scan *s, const struct ab_token *t)
{
	const char *text = s->k->text->text;
	uint32_t at = t->at + 1;

	if (t->kind == AB_TOKEN_WORD &&
	    (is_prefix(s, t) ||
	     (ab_code_is_text(s->k, t, "open") && is_written(s))))
		return false;
	if ((s->is_sending || s->is_showing) && is_file(s, t))
		return true;
	if (t->kind == AB_TOKEN_WORD) {
		if ((!s->is_sending &&
		     ab_code_is_reader(s->k, t)) ||
		    (s->is_line && ab_code_is_text(s->k, t, "$_")))
			return true;
		return sign_of(s, &s->before) != '.' && s->count &&
		       find(s, bare(s, t->at, t->len));
	}
	if (s->k->lang != AB_PERL || s->is_sending || sign_of(s, t) != '<')
		return false;
	while (at < s->x.len && at - t->at < 32 &&
	       (ab_code_is_letter(text[at]) || text[at] == '$'))
		at++;
	return at < s->x.len && text[at] == '>';
}

/* The same anywhere in a part of the text. */
static bool has_secret(const struct scan *s, uint32_t at, uint32_t end,
		       struct span *variable)
{
	struct ab_lexer x = { .text = s->x.text, .pos = at, .len = end,
			      .traits = s->x.traits };
	struct ab_token t, before = { 0 };
	uint32_t since = MAX_REACH + 1;

	while (ab_lexer_next(&x, &t)) {
		if (names_secret(s, &t, &before, &since, variable))
			return true;
		before = t;
	}
	return false;
}

/* perl and php put "$x" and "$ENV{X}" into a string without a brace. */
static bool has_variable(const struct scan *s, const struct ab_token *t,
			 struct span *variable)
{
	const char *text = s->k->text->text;
	const uint32_t end = t->at + t->len;

	if (!(s->k->lang & (AB_PERL | AB_PHP)) || t->quote == '\'')
		return false;
	for (uint32_t i = t->at; i + 1 < end; i++) {
		uint32_t to = i + 1;

		if (text[i] != '$')
			continue;
		while (to < end && (ab_code_is_letter(text[to]) ||
				    memchr("{}['\"", text[to], 5)))
			to++;
		if (has_secret(s, i, to, variable))
			return true;
		i = to - 1;
	}
	return false;
}

/* python3 -c "... '$X_TOKEN' ...": the shell puts it in. */
static bool has_hole(struct scan *s, const struct ab_token *t,
		     struct span *variable)
{
	const struct ab_word *text = s->k->text;
	const uint32_t end = t->at + t->len;

	while (s->hole < text->hole_count && text->holes[s->hole].at < t->at)
		s->hole++;
	for (; s->hole < text->hole_count && text->holes[s->hole].at <= end;
	     s->hole++) {
		const struct ab_hole *h = &text->holes[s->hole];

		if (!h->name || h->is_test || !ab_value_is_secret(h->name))
			continue;
		*variable = (struct span){ t->at, end + !t->len };
		return true;
	}
	return false;
}

/* What the string puts in of its expressions, but for `user:x@host`, which
   says who one is. */
static bool string_has_secret(const struct scan *s, const struct ab_token *t,
			      struct span *variable)
{
	const char *text = s->k->text->text;
	uint32_t from = t->at, at, end;

	while (ab_code_field(s->k, t, from, &at, &end)) {
		bool is_user = end + 1 < t->at + t->len &&
			       text[end + 1] == '@';

		if (!is_user && has_secret(s, at, end, variable))
			return true;
		from = end;
	}
	return has_variable(s, t, variable);
}

/* --- where they go -------------------------------------------------------- */

static void add_name(struct scan *s, struct span name, struct span variable)
{
	if (name.end <= name.at || s->count == MAX_NAMES ||
	    is_header(s, name) || find(s, name))
		return;
	s->names[s->count++] = (struct sent){ name, variable };
}

static void add_names(struct scan *s, struct span part, struct span variable)
{
	struct ab_lexer x = { .text = s->x.text, .pos = part.at,
			      .len = part.end, .traits = s->x.traits };
	struct ab_token t;

	for (uint32_t i = 0; i < MAX_NAMES && ab_lexer_next(&x, &t); i++) {
		if (t.kind == AB_TOKEN_WORD)
			add_name(s, bare(s, t.at, t.len), variable);
	}
}

/* What is made of it has these names from here on. */
static void give(struct scan *s, struct span variable)
{
	for (uint32_t i = level(s);; i--) {
		add_names(s, s->all[i].target, variable);
		s->all[i].target = (struct span){ 0 };
		/* whatever a call makes of what was read was read */
		if (!i || s->all[i].is_body ||
		    (s->all[i].is_closed && !s->is_reading))
			break;
	}
}

static void see_secret(struct scan *s, struct span variable)
{
	uint32_t top = level(s);

	for (uint32_t i = 0; i <= top; i++) {
		if (s->all[i].is_own)
			return;
	}
	if (s->all[top].is_net)
		s->found = variable;
	else
		give(s, variable);
}

static void see_read(struct scan *s)
{
	const uint32_t top = level(s);

	s->is_fed = true;
	s->is_line |= s->k->lang == AB_PERL && !s->is_sending;
	if (s->all[top].is_own)
		return;
	if (s->all[top].is_net)
		s->is_given |= !s->is_sending || s->all[top].is_payload;
	else
		give(s, (struct span){ 0 });
}

/* const { X_TOKEN } = process.env */
static void see_environment(struct scan *s)
{
	struct ab_lexer x = { .text = s->x.text, .traits = s->x.traits };
	struct ab_token t;

	x.pos = s->all[level(s)].target.at;
	x.len = s->all[level(s)].target.end;
	for (uint32_t i = 0; i < MAX_NAMES && ab_lexer_next(&x, &t); i++) {
		const struct span name = bare(s, t.at, t.len);

		if (t.kind == AB_TOKEN_WORD && is_secret(s, name))
			add_name(s, name, name);
	}
}

static void end_statement(struct scan *s)
{
	uint32_t top = level(s);

	s->all[top].target = (struct span){ 0 };
	if (!s->depth || s->all[top].is_body)
		s->all[top].is_net = s->all[top].is_own = s->is_fed =
			s->all[top].is_payload = false;
}

static void end_line(struct scan *s, const struct ab_token *t)
{
	char ch = sign_of(s, t), last = sign_of(s, &s->before);

	if (!(ch && memchr(".)]}+|&?:", ch, 9)) &&
	    !(last && memchr("=(,[{.+|&\\>", last, 11)))
		end_statement(s);
}

/* The brace begins statements: `else {`, `) {`, `=> {`, not `return {`. */
static bool is_body(const struct scan *s, const struct ab_token *t)
{
	const char last = sign_of(s, &s->before);

	if (s->before.kind == AB_TOKEN_WORD)
		return s->x.text[t->at - 1] == ' ' && s->k->lang != AB_PY &&
		       !ab_code_is_text(s->k, &s->before, "return");
	return last && memchr(")>", last, 2);
}

/* form.append(x): it has x from there on. */
static bool is_addition(const struct scan *s)
{
	static const char *const names[] = { "append", "set", "push", "update",
					     "add" };

	return sign_of(s, &s->behind) == '.' && s->last.kind == AB_TOKEN_WORD &&
	       ab_code_is_one_of(s->k, &s->before, names, AB_ARRAY_LEN(names));
}

static void open_bracket(struct scan *s, const struct ab_token *t, char ch)
{
	const uint32_t was = level(s);
	const char last = sign_of(s, &s->before);
	const bool is_new = ch == '{' && is_body(s, t);
	const bool is_call = ch == '(' && (s->before.kind == AB_TOKEN_WORD ||
					   (last && memchr(")]", last, 2)));

	if (is_call && is_addition(s) && !s->all[was].target.end)
		s->all[was].target = bare(s, s->last.at, s->last.len);
	s->depth++;
	if (s->depth >= MAX_DEPTH)
		return;
	s->opened[s->depth] =
		s->before.kind == AB_TOKEN_WORD ? s->before.at : s->x.pos;
	s->all[s->depth].target = (struct span){ 0 };
	s->all[s->depth].is_body = is_new;
	s->all[s->depth].has_chain = s->is_chain;
	s->all[s->depth].is_payload = !is_new && s->all[was].is_payload;
	s->all[s->depth].is_rm = !is_new && s->all[was].is_rm;
	s->all[s->depth].is_own = !is_new && s->all[was].is_own;
	s->all[s->depth].is_net = !is_new && (s->all[was].is_net ||
					      (is_call && s->is_net));
	s->all[s->depth].is_closed =
		is_new || (is_call && !s->is_net && !s->is_open);
}

static void close_bracket(struct scan *s, const struct ab_token *t)
{
	if (s->depth && s->depth < MAX_DEPTH) {
		s->group = (struct span){ s->opened[s->depth], t->at };
		/* requests.Session().post(...) */
		s->is_chain = s->all[s->depth].has_chain;
	}
	s->depth -= s->depth > 0;
}

/* `x =`, `{x, y} =`, `x["a"] =`: what is given something. */
static void note_target(struct scan *s, const struct ab_token *t)
{
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;
	const char last = sign_of(s, &s->before);
	const struct ab_token *name =
		s->before.kind == AB_TOKEN_WORD ? &s->before : &s->behind;
	struct span target = { 0 };

	/* f(x=...) names what it is given */
	if ((next && memchr("=~>", next, 3)) ||
	    (last && memchr("=!<>", last, 4)) || !t->at ||
	    (s->depth && !s->all[level(s)].is_body &&
	     s->k->lang & (AB_PY | AB_RUBY)))
		return;
	if (last && memchr(")]}", last, 3))
		target = s->group;
	else if (name->kind == AB_TOKEN_WORD)
		target = bare(s, name->at, name->len);
	if (!is_header(s, target) && target.end - target.at <= MAX_TARGET)
		s->all[level(s)].target = target;
}

/* lines.forEach(x => ...), (x) => ...: it is called with what was read. */
static void note_arrow(struct scan *s)
{
	if (!s->is_fed)
		return;
	if (s->before.kind == AB_TOKEN_WORD)
		add_name(s, bare(s, s->before.at, s->before.len),
			 (struct span){ 0 });
	else if (s->group.end - s->group.at <= MAX_TARGET)
		add_names(s, s->group, (struct span){ 0 });
}

static void see_sign(struct scan *s, const struct ab_token *t)
{
	const uint32_t top = level(s);
	char ch = sign_of(s, t);

	switch (ch) {
	case '(':
	case '[':
	case '{':
		open_bracket(s, t, ch);
		break;
	case ')':
	case ']':
	case '}':
		close_bracket(s, t);
		return;
	case ';':
		end_statement(s);
		break;
	case ',':
		/* set("Authorization", x) */
		s->all[top].is_payload =
			s->depth && top && s->all[top - 1].is_payload;
		s->all[top].is_own =
			(s->depth && top && s->all[top - 1].is_own) ||
			(s->before.kind == AB_TOKEN_STRING &&
			 is_header(s, bare(s, s->before.at, s->before.len)));
		break;
	case '=':
		if (s->x.pos < s->x.len && s->x.text[s->x.pos] == '>')
			note_arrow(s);
		else
			note_target(s, t);
		break;
	case '.':
	case ':':
		return;
	default:
		/* perl: x->y */
		if (ch == '>' || ch == '-')
			return;
		break;
	}
	s->is_chain = s->is_net = s->is_open = false;
}

/* for x in, with open(y) as x, { |x| ... }: and what takes away all of it. */
static void see_reader(struct scan *s, const struct ab_token *t)
{
	const struct ab_code *k = s->k;
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;

	if (s->before.kind == AB_TOKEN_WORD &&
	    (ab_code_is_text(k, t, "in") || ab_code_is_text(k, t, "of")))
		s->all[level(s)].target =
			bare(s, s->before.at, s->before.len);
	if (s->is_fed && (ab_code_is_text(k, &s->before, "as") ||
			  sign_of(s, &s->before) == '|'))
		add_name(s, bare(s, t->at, t->len), (struct span){ 0 });
	s->all[level(s)].is_payload |= ab_code_is_payload(s->k, t);
	if (s->is_sending)
		return;
	s->is_net = s->is_showing ? ab_code_is_print(k, t)
				  : ab_code_call(k, t) == AB_CALL_REMOVE;
	if (k->lang & (AB_RUBY | AB_PERL) && s->is_net && next == ' ')
		s->all[level(s)].is_net = true;
}

static void see_word(struct scan *s, const struct ab_token *t)
{
	const struct ab_code *k = s->k;
	const char last = sign_of(s, &s->before);
	const bool is_more = last && memchr(".:>", last, 3);
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;

	if (s->is_reading)
		see_reader(s, t);
	if (s->is_reading && !s->is_sending)
		return;
	if (ab_code_reads_environment(k, t))
		see_environment(s);
	if (ab_code_is_remote(k, t, s->x, &s->before, &s->behind))
		s->is_chain = s->is_net = true;
	else
		s->is_net = ab_code_is_sender(k, t) ||
			    (is_more && s->is_chain && ab_code_is_verb(k, t));
	s->is_chain &= s->is_net || is_more;
	s->is_open = ab_code_carries(k, t);
	s->all[level(s)].is_own |= is_header(s, bare(s, t->at, t->len));
	/* ruby: Net::HTTP.post uri, x */
	if (k->lang & (AB_RUBY | AB_PERL) && s->is_net && next == ' ')
		s->all[level(s)].is_net = true;
}

/* perl: get("https://..."); js: require("https").get(...) */
static void see_string(struct scan *s, const struct ab_token *t)
{
	const uint32_t top = level(s);

	s->is_chain = ab_code_is_remote(s->k, t, s->x, &s->before, &s->behind);
	s->all[top].is_net |= s->is_chain && s->depth;
	s->all[top].has_chain |= s->is_chain;
	s->all[top].is_own |= is_header(s, bare(s, t->at, t->len)) && s->depth;
}

/* run(["rm", "-rf", x]), execFile("rm", ["-rf", x]) */
static void see_words(struct scan *s, const struct ab_token *t)
{
	const char *text = s->k->text->text + t->at;
	const char last = sign_of(s, &s->before);
	const uint32_t top = level(s);

	if (last && memchr("([", last, 2) && t->len == 2 &&
	    !memcmp(text, "rm", 2))
		s->all[top].is_rm = true;
	else if (s->all[top].is_rm && t->len > 1 && *text == '-' &&
		 t->len < 32 &&
		 (memchr(text, 'r', t->len) || memchr(text, 'R', t->len)))
		s->all[top].is_net = true;
}

static void look_for(struct scan *s, const struct ab_token *t)
{
	const bool is_string = t->kind == AB_TOKEN_STRING;
	struct span variable;

	if (is_string && s->is_reading && !s->is_sending)
		see_words(s, t);
	else if (is_string)
		see_string(s, t);
	if (s->is_reading) {
		s->all[level(s)].is_payload |=
			is_string && ab_code_is_payload(s->k, t);
		if (is_read(s, t))
			see_read(s);
		return;
	}
	if (names_secret(s, t, &s->before, &s->since, &variable) ||
	    (is_string && (has_hole(s, t, &variable) ||
			   string_has_secret(s, t, &variable))))
		see_secret(s, variable);
}

static void see_token(struct scan *s, const struct ab_token *t)
{
	if (t->is_line && !(s->k->lang & (AB_PERL | AB_PHP)))
		end_line(s, t);
	look_for(s, t);
	if (t->kind == AB_TOKEN_SIGN)
		see_sign(s, t);
	else if (t->kind == AB_TOKEN_WORD)
		see_word(s, t);
	s->last = s->behind;
	s->behind = s->before;
	s->before = *t;
}

/* --- the program ---------------------------------------------------------- */

/* All addresses that it has are of this machine, or of a host that the
   variable is named after. */
static bool goes_home(const struct scan *s)
{
	struct ab_lexer x = s->x;
	bool has_address = false;
	struct ab_token t;

	ab_lexer_rewind(&x);
	x.len = s->k->text->len;
	while (ab_lexer_next(&x, &t)) {
		const struct ab_word w = { .text = s->k->text->text + t.at,
					   .len = t.len };

		if (t.kind != AB_TOKEN_STRING ||
		    !memmem(w.text, w.len < 12 ? w.len : 12, "://", 3))
			continue;
		has_address = true;
		if (!ab_value_is_localhost(&w) &&
		    !ab_value_is_hosted_for(&w, s->k->text->text + s->found.at,
					    s->found.end - s->found.at))
			return false;
	}
	return has_address;
}

/* It has a word for that, of some kind. */
static bool may_read(const struct ab_code *k)
{
	const char *s = k->text->text;
	size_t n = k->text->len;

	return memmem(s, n, "read", 4) || memmem(s, n, "open", 4);
}

static bool may_talk(struct ab_code *k)
{
	return ab_code_fetches(k) || ab_code_has_socket(k);
}

/* It may send something to the network. */
static bool may_upload(struct ab_code *k)
{
	const char *s = k->text->text;
	size_t n = k->text->len;

	return k->lang & (AB_PY | AB_JS | AB_RUBY) &&
	       (memmem(s, n, "post", 4) || memmem(s, n, "put", 3) ||
		memmem(s, n, "POST", 4) || memmem(s, n, "PUT", 3)) &&
	       may_talk(k);
}

/* A word behind the program is a secret. */
static bool has_words(const struct ab_code *k)
{
	for (uint32_t i = 0; i < k->argv_count; i++) {
		if (k->argv[i].hole_count && ab_value_has_secret(&k->argv[i]))
			return true;
	}
	return false;
}

/* A program that reads such a variable, and may send something. */
static bool may_send(struct ab_code *k)
{
	const char *s = k->text->text;
	size_t n = k->text->len;

	if (AB_LIKELY(!memmem(s, n, "env", 3) && !memmem(s, n, "ENV", 3) &&
		      !ab_value_has_secret(k->text) && !has_words(k)) ||
	    !(k->lang & (AB_PY | AB_JS | AB_RUBY | AB_PERL | AB_PHP)))
		return false;
	return may_talk(k) ||
	       memmem(s, n, "gethostby", 9) || memmem(s, n, "getaddrinfo", 11);
}

static void go_through(struct scan *s)
{
	struct ab_token t;

	ab_lexer_rewind(&s->x);
	s->x.len = s->k->text->len;
	while (!s->found.end && !s->is_given && ab_lexer_next(&s->x, &t))
		see_token(s, &t);
}

/* perl -n, -pe: $_ is a line of what it reads. */
static bool has_lines(const struct ab_code *k)
{
	const struct ab_use *use = k->use;

	for (uint32_t i = 1; use && k->lang == AB_PERL && i < use->count &&
			     i < MAX_OPTIONS; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len < 2 || *w->text != '-')
			continue;
		for (uint32_t at = 1; at < w->len &&
				      !memchr("eEMmI-", w->text[at], 6); at++) {
			if (memchr("np", w->text[at], 2))
				return true;
		}
	}
	return false;
}

/* js: rmSync(x, {recursive: true}), and not rmSync(x) alone. */
static bool removes_trees(const struct ab_code *k)
{
	const char *s = k->text->text;
	const size_t n = k->text->len;

	return k->lang != AB_JS || memmem(s, n, "recursive", 9) ||
	       !(memmem(s, n, "rmSync(", 7) || memmem(s, n, ".rm(", 4));
}

/* It has calls that take away something with all below it. */
static void check_removed(struct ab_code *k)
{
	struct scan s = { .k = k, .x = k->x, .is_reading = true,
			  .is_line = has_lines(k) }, again;
	struct ab_word w = { .text = "", .span = k->text->span };

	go_through(&s);
	/* python: [f(x) for x in y] says behind it what x is */
	again = (struct scan){ .k = k, .x = k->x, .is_reading = true,
			       .count = s.count };
	memcpy(again.names, s.names, sizeof(s.names));
	if (!s.is_given && s.count && k->lang == AB_PY)
		go_through(&again);
	if (!s.is_given && !again.is_given)
		return;
	ab_code_hole(k, &w);
	ab_check_path(k->c, k->use, AB_ROLE_REMOVE, &w);
}

/* Its strings may be the names of what it reads. */
static void check_strings(struct ab_code *k, enum ab_role_kind role)
{
	struct ab_lexer x = k->x;
	struct ab_token t;
	struct ab_word w;

	ab_lexer_rewind(&x);
	x.len = k->text->len;
	while (ab_lexer_next(&x, &t)) {
		if (t.kind == AB_TOKEN_STRING && t.len && t.len < MAX_TARGET &&
		    ab_code_has_key_name(k, &t) &&
		    ab_word_slice(k->c, k->text, t.at, t.len, &w))
			ab_check_path(k->c, k->use, role, &w);
	}
}

/* print(open("x.pem").read()): as with cat(1). */
static void check_shown(struct ab_code *k)
{
	struct scan s = { .k = k, .x = k->x, .is_reading = true,
			  .is_showing = true };

	go_through(&s);
	if (s.is_given)
		check_strings(k, AB_ROLE_SHOW);
}

/* with open(x) as f: post(u, files={"f": f}) */
static void check_uploaded(struct ab_code *k)
{
	struct scan s = { .k = k, .x = k->x, .is_reading = true,
			  .is_sending = true };

	go_through(&s);
	if (!s.is_given || goes_home(&s))
		return;
	ab_check_flow(k->c, k->use, AB_SINK_NET, AB_TAINT_DATA, k->text);
	if (ab_code_has_keys(k))
		check_strings(k, AB_ROLE_SEND);
}

void ab_code_check_flow(struct ab_code *k)
{
	struct scan s = { .k = k, .x = k->x, .since = MAX_REACH + 1 };

	if (AB_UNLIKELY(k->has_removed) && removes_trees(k))
		check_removed(k);
	if (may_read(k) && may_upload(k))
		check_uploaded(k);
	if (may_read(k) && ab_code_has_keys(k))
		check_shown(k);
	if (!may_send(k))
		return;
	s.has_argv = has_words(k);
	go_through(&s);
	if (s.found.end && !goes_home(&s))
		ab_check_flow(k->c, k->use, AB_SINK_NET, AB_TAINT_CRED,
			      k->text);
}
