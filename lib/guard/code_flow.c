/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an inline program does with two things that it has from outside, as they
 * are or by a name that was given what is made of them. Secrets of its
 * environment are sent away: in an address, a body, a field of a call that
 * talks to the network; a header says who one is, and so does what goes to the
 * host that the variable is named after. What it reads from a file is sent as a
 * body, or, of a file or its stdin, is taken away with all below it.
 * A function of the program that sends what it is given is one that sends.
 * Refuses to follow what a call makes of a secret, a key or a signature, and to
 * look at programs that do neither.
 */
#include "config.h"

#include "guard/code_flow.h"
#include "guard/command.h"
#include "guard/found.h"

#include <string.h>

#define MAX_OPTIONS 8 /* of perl, in front of its program */

static uint32_t level(const struct ab_flow *s)
{
	return s->depth < AB_FLOW_DEPTH ? s->depth : AB_FLOW_DEPTH - 1;
}

/* It is named like what says who one is; of what is read, or written for a
   request, and no file. */
static bool is_header(const struct ab_flow *s, struct ab_flow_span name)
{
	return ab_code_is_header(s->k->text->text + name.at,
				 name.end - name.at, s->is_reading);
}

/* --- where they go -------------------------------------------------------- */

static void add_name(struct ab_flow *s, struct ab_flow_span name,
		     struct ab_flow_span variable)
{
	if (name.end <= name.at || is_header(s, name) || ab_flow_find(s, name))
		return;
	if (s->count == AB_FLOW_NAMES) {
		s->is_full = true;
		return;
	}
	s->names[s->count++] = (struct ab_flow_sent){ name, variable };
}

void ab_flow_add_names(struct ab_flow *s, struct ab_flow_span part,
		       struct ab_flow_span variable)
{
	struct ab_lexer x = { .text = s->x.text, .pos = part.at,
			      .len = part.end, .traits = s->x.traits };
	struct ab_token t;

	for (uint32_t i = 0; i < AB_FLOW_NAMES && ab_lexer_next(&x, &t); i++) {
		if (t.kind == AB_TOKEN_WORD)
			add_name(s, ab_flow_bare(s, t.at, t.len), variable);
	}
}

/* What is made of it has these names from here on. */
static void give(struct ab_flow *s, struct ab_flow_span variable)
{
	for (uint32_t i = level(s);; i--) {
		ab_flow_add_names(s, s->all[i].target, variable);
		s->all[i].target = (struct ab_flow_span){ 0 };
		if (s->all[i].is_returned && !s->is_learning)
			add_name(s, s->function, variable);
		/* whatever a call makes of what was read was read */
		if (!i || s->all[i].is_body ||
		    (s->all[i].is_closed && !s->is_reading))
			break;
	}
}

static void see_secret(struct ab_flow *s, struct ab_flow_span variable)
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

static void see_read(struct ab_flow *s)
{
	const uint32_t top = level(s);

	s->is_fed = true;
	s->is_line |= s->k->lang == AB_PERL && !s->is_sending;
	if (s->all[top].is_own)
		return;
	if (s->all[top].is_net)
		s->is_given |= !s->is_sending || s->all[top].is_payload;
	else
		give(s, (struct ab_flow_span){ 0 });
}

/* const { X_TOKEN, Y_KEY: y } = process.env */
static void see_environment(struct ab_flow *s)
{
	struct ab_lexer x = { .text = s->x.text, .traits = s->x.traits };
	struct ab_flow_span of = { 0 };
	struct ab_token t, before = { 0 };

	x.pos = s->all[level(s)].target.at;
	x.len = s->all[level(s)].target.end;
	for (uint32_t i = 0; i < AB_FLOW_NAMES && ab_lexer_next(&x, &t); i++) {
		const struct ab_flow_span name = ab_flow_bare(s, t.at, t.len);

		if (t.kind == AB_TOKEN_WORD && of.end &&
		    ab_flow_sign(s, &before) == ':') {
			add_name(s, name, of);
		} else if (t.kind == AB_TOKEN_WORD &&
			   ab_flow_is_secret(s, name)) {
			add_name(s, name, name);
			of = name;
		}
		before = t;
	}
}

struct ab_flow_span ab_flow_target(const struct ab_flow *s)
{
	return s->all[level(s)].target;
}

static void end_statement(struct ab_flow *s)
{
	uint32_t top = level(s);

	s->all[top].target = (struct ab_flow_span){ 0 };
	s->all[top].is_returned = false;
	if (!s->depth || s->all[top].is_body)
		s->all[top].is_net = s->all[top].is_own = s->is_fed =
			s->all[top].is_payload = false;
}

static void end_line(struct ab_flow *s, const struct ab_token *t)
{
	char ch = ab_flow_sign(s, t), last = ab_flow_sign(s, &s->before);

	if (!(ch && memchr(".)]}+|&?:", ch, 9)) &&
	    !(last && memchr("=(,[{.+|&\\>", last, 11)))
		end_statement(s);
}

/* The brace begins statements: `else {`, `) {`, `=> {`, not `return {`. */
static bool is_body(const struct ab_flow *s, const struct ab_token *t)
{
	const char last = ab_flow_sign(s, &s->before);

	if (s->before.kind == AB_TOKEN_WORD)
		return s->x.text[t->at - 1] == ' ' && s->k->lang != AB_PY &&
		       !ab_code_is_text(s->k, &s->before, "return");
	return last && memchr(")>", last, 2);
}

/* form.append(x): it has x from there on. */
static bool is_addition(const struct ab_flow *s)
{
	static const char *const names[] = { "append", "set", "push", "update",
					     "add" };

	return ab_flow_sign(s, &s->behind) == '.' &&
	       s->last.kind == AB_TOKEN_WORD &&
	       ab_code_is_one_of(s->k, &s->before, names, AB_ARRAY_LEN(names));
}

static void open_bracket(struct ab_flow *s, const struct ab_token *t, char ch)
{
	const uint32_t was = level(s);
	const char last = ab_flow_sign(s, &s->before);
	const bool is_new = ch == '{' && is_body(s, t);
	const bool is_call = ch == '(' && (s->before.kind == AB_TOKEN_WORD ||
					   (last && memchr(")]", last, 2)));

	if (is_call && is_addition(s) && !s->all[was].target.end)
		s->all[was].target = ab_flow_bare(s, s->last.at, s->last.len);
	if (is_new)
		ab_flow_begin_function(s, t);
	s->depth++;
	if (s->depth >= AB_FLOW_DEPTH)
		return;
	s->opened[s->depth] =
		s->before.kind == AB_TOKEN_WORD ? s->before.at : s->x.pos;
	s->all[s->depth].target = (struct ab_flow_span){ 0 };
	s->all[s->depth].is_returned = false;
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

static void close_bracket(struct ab_flow *s, const struct ab_token *t)
{
	if (s->depth && s->depth < AB_FLOW_DEPTH) {
		s->group = (struct ab_flow_span){ s->opened[s->depth], t->at };
		/* requests.Session().post(...) */
		s->is_chain = s->all[s->depth].has_chain;
	}
	s->depth -= s->depth > 0;
}

/* `x =`, `{x, y} =`, `x["a"] =`: what is given something. */
static void note_target(struct ab_flow *s, const struct ab_token *t)
{
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;
	const char last = ab_flow_sign(s, &s->before);
	const struct ab_token *name =
		s->before.kind == AB_TOKEN_WORD ? &s->before : &s->behind;
	struct ab_flow_span target = { 0 };

	/* f(x=...) names what it is given */
	if ((next && memchr("=~>", next, 3)) ||
	    (last && memchr("=!<>", last, 4)) || !t->at ||
	    (s->depth && !s->all[level(s)].is_body &&
	     s->k->lang & (AB_PY | AB_RUBY)))
		return;
	if (last && memchr(")]}", last, 3))
		target = s->group;
	else if (name->kind == AB_TOKEN_WORD)
		target = ab_flow_bare(s, name->at, name->len);
	/* a = b = x */
	if (name == &s->before && ab_flow_sign(s, &s->behind) == '=' &&
	    s->all[level(s)].target.end)
		target.at = s->all[level(s)].target.at;
	if (is_header(s, target))
		return;
	if (target.end - target.at <= AB_FLOW_TARGET)
		s->all[level(s)].target = target;
	else
		s->is_full = true;
}

/* lines.forEach(x => ...), (x) => ...: it is called with what was read. */
static void note_arrow(struct ab_flow *s)
{
	if (!s->is_reading)
		ab_flow_begin_arrow(s);
	if (!s->is_fed)
		return;
	if (s->before.kind == AB_TOKEN_WORD)
		add_name(s, ab_flow_bare(s, s->before.at, s->before.len),
			 (struct ab_flow_span){ 0 });
	else if (s->group.end - s->group.at <= AB_FLOW_TARGET)
		ab_flow_add_names(s, s->group, (struct ab_flow_span){ 0 });
}

static void see_sign(struct ab_flow *s, const struct ab_token *t)
{
	const uint32_t top = level(s);
	char ch = ab_flow_sign(s, t);

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
			 is_header(s, ab_flow_bare(s, s->before.at,
						   s->before.len)));
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
static void see_reader(struct ab_flow *s, const struct ab_token *t)
{
	const struct ab_code *k = s->k;
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;

	if (s->before.kind == AB_TOKEN_WORD &&
	    (ab_code_is_text(k, t, "in") || ab_code_is_text(k, t, "of")))
		s->all[level(s)].target =
			ab_flow_bare(s, s->before.at, s->before.len);
	if (s->is_fed && (ab_code_is_text(k, &s->before, "as") ||
			  ab_flow_sign(s, &s->before) == '|'))
		add_name(s, ab_flow_bare(s, t->at, t->len),
			 (struct ab_flow_span){ 0 });
	s->all[level(s)].is_payload |= ab_code_is_payload(s->k, t);
	if (s->is_sending)
		return;
	s->is_net = s->is_showing ? ab_code_is_print(k, t)
				  : ab_code_call(k, t) == AB_CALL_REMOVE;
	if (k->lang & (AB_RUBY | AB_PERL) && s->is_net && next == ' ')
		s->all[level(s)].is_net = true;
}

static void see_word(struct ab_flow *s, const struct ab_token *t)
{
	const struct ab_code *k = s->k;
	const char last = ab_flow_sign(s, &s->before);
	const bool is_more = last && memchr(".:>", last, 3);
	const char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;

	if (s->is_reading)
		see_reader(s, t);
	if (s->is_reading && !s->is_sending)
		return;
	if (ab_code_reads_environment(k, t))
		see_environment(s);
	if (ab_code_is_text(k, t, "return"))
		s->all[level(s)].is_returned = true;
	else if (t->len >= 3 && t->len <= 6)
		ab_flow_begin_function(s, t);
	if (ab_code_is_remote(k, t, s->x, &s->before, &s->behind))
		s->is_chain = s->is_net = true;
	else
		s->is_net = ab_code_is_sender(k, t) ||
			    (s->own_count && ab_flow_is_own_sender(s, t)) ||
			    (is_more && s->is_chain && ab_code_is_verb(k, t));
	s->is_chain &= s->is_net || is_more;
	s->is_open = ab_code_carries(k, t);
	s->all[level(s)].is_own |= is_header(s, ab_flow_bare(s, t->at, t->len));
	/* ruby: Net::HTTP.post uri, x */
	if (k->lang & (AB_RUBY | AB_PERL) && s->is_net && next == ' ')
		s->all[level(s)].is_net = true;
}

/* perl: get("https://..."); js: require("https").get(...) */
static void see_string(struct ab_flow *s, const struct ab_token *t)
{
	const uint32_t top = level(s);

	s->is_chain = ab_code_is_remote(s->k, t, s->x, &s->before, &s->behind);
	s->all[top].is_net |= s->is_chain && s->depth;
	s->all[top].has_chain |= s->is_chain;
	s->all[top].is_own |=
		is_header(s, ab_flow_bare(s, t->at, t->len)) && s->depth;
}

/* run(["rm", "-rf", x]), execFile("rm", ["-rf", x]) */
static void see_words(struct ab_flow *s, const struct ab_token *t)
{
	const char *text = s->k->text->text + t->at;
	const char last = ab_flow_sign(s, &s->before);
	const uint32_t top = level(s);

	if (last && memchr("([", last, 2) && t->len == 2 &&
	    !memcmp(text, "rm", 2))
		s->all[top].is_rm = true;
	else if (s->all[top].is_rm && t->len > 1 && *text == '-' &&
		 t->len < 32 &&
		 (memchr(text, 'r', t->len) || memchr(text, 'R', t->len)))
		s->all[top].is_net = true;
}

static void look_for(struct ab_flow *s, const struct ab_token *t)
{
	const bool is_string = t->kind == AB_TOKEN_STRING;
	struct ab_flow_span variable;

	if (is_string && s->is_reading && !s->is_sending)
		see_words(s, t);
	else if (is_string)
		see_string(s, t);
	if (s->is_reading) {
		s->all[level(s)].is_payload |=
			is_string && ab_code_is_payload(s->k, t);
		if (ab_flow_is_read(s, t))
			see_read(s);
		return;
	}
	if (ab_flow_names_secret(s, t, &s->before, &s->since, &variable) ||
	    (is_string && (ab_flow_has_hole(s, t, &variable) ||
			   ab_flow_string_has_secret(s, t, &variable))) ||
	    (t->kind == AB_TOKEN_WORD && ab_flow_is_whole(s, t, &variable)))
		see_secret(s, variable);
}

static void see_token(struct ab_flow *s, const struct ab_token *t)
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
static bool goes_home(const struct ab_flow *s)
{
	struct ab_lexer x = s->x;
	bool has_address = false;
	struct ab_token t;

	ab_lexer_rewind(&x);
	x.len = s->k->text->len;
	while (ab_lexer_next(&x, &t)) {
		const struct ab_word w = { .text = s->k->text->text + t.at,
					   .len = t.len };

		uint32_t skip = 0;

		while (skip < w.len && memchr(" \t\r\n", w.text[skip], 4))
			skip++;
		if (t.kind != AB_TOKEN_STRING ||
		    !memmem(w.text + skip,
			    w.len - skip < 12 ? w.len - skip : 12, "://", 3))
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

static void go_through(struct ab_flow *s)
{
	struct ab_token t;

	ab_lexer_rewind(&s->x);
	s->x.len = s->k->text->len;
	while (!s->found.end && !s->is_given && ab_lexer_next(&s->x, &t)) {
		see_token(s, &t);
		if (s->is_learning && s->found.end)
			ab_flow_learn(s);
	}
}

/* def send(x): requests.post(u, data=x): who is given a secret sends it. */
static void learn_own(struct ab_flow *s)
{
	static const char *const begins[] = { "def ", "function", "=>",
					      "lambda", "sub ", ") {" };
	struct ab_flow own = *s;
	const struct ab_word *w = s->k->text;

	for (size_t i = 0; i < AB_ARRAY_LEN(begins); i++)
		own.is_learning |= memmem(w->text, w->len, begins[i],
					  strlen(begins[i])) != NULL;
	if (!own.is_learning)
		return;
	go_through(&own);
	memcpy(s->own, own.own, sizeof(s->own));
	s->own_count = own.own_count;
	s->is_full |= own.is_full;
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
	struct ab_flow s = { .k = k, .x = k->x, .is_reading = true,
			  .is_line = has_lines(k) }, again;
	struct ab_word w = { .text = "", .span = k->text->span };

	go_through(&s);
	/* python: [f(x) for x in y] says behind it what x is */
	again = (struct ab_flow){ .k = k, .x = k->x, .is_reading = true,
			       .count = s.count };
	memcpy(again.names, s.names, sizeof(s.names));
	if (!s.is_given && s.count && k->lang == AB_PY)
		go_through(&again);
	if (!s.is_given && !again.is_given && !s.is_full &&
	    !(k->has_unseen && (k->c->has_kept || ab_code_keeps_system(k))))
		return;
	ab_code_hole(k, &w);
	ab_check_path(k->c, k->use, AB_ROLE_REMOVE, &w);
}

/* unlink, os.remove(x), File.delete(x), "rm " . $x */
static bool is_removal(const struct ab_code *k, const struct ab_token *t,
		       const struct ab_token *before,
		       const struct ab_token *behind)
{
	static const char *const names[] = { "unlink", "unlinkSync", "rmSync",
					     "rmtree", "rm_f", "rm_rf",
					     "removeSync" };
	static const char *const verbs[] = { "remove", "delete", "rm" };
	static const char *const owners[] = { "os", "shutil", "fs", "File",
					      "FileUtils", "Deno" };
	const char *text = k->text->text + t->at;

	if (t->kind == AB_TOKEN_STRING)
		return t->len >= 2 && !memcmp(text, "rm", 2) &&
		       (t->len == 2 || text[2] == ' ');
	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names)) ||
	       (ab_code_is_one_of(k, t, verbs, AB_ARRAY_LEN(verbs)) &&
		ab_code_is_sign(k, before, '.') &&
		ab_code_is_one_of(k, behind, owners, AB_ARRAY_LEN(owners)));
}

/* "rm -rf $x", rmtree(x) */
static bool is_deep(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "rmtree", "rm_rf", "rmSync",
					     "removeSync" };

	if (t->kind == AB_TOKEN_STRING)
		return memmem(k->text->text + t->at, t->len, " -r", 3) != NULL;
	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* rm of what it reads: of all files, or those that a command has told. */
static AB_COLD void run_removal(struct ab_code *k, struct ab_stream *in,
				bool is_deep)
{
	struct ab_stream tree = { .taint = AB_TAINT_TREE,
				  .span = k->text->span };
	struct ab_hole hole = { .kind = AB_HOLE_BYTES,
				.origin = in ? in : &tree,
				.span = k->text->span };
	const struct ab_word words[] = {
		{ .text = "rm", .len = 2, .span = k->text->span },
		{ .text = "", .holes = &hole, .hole_count = 1,
		  .span = k->text->span },
		{ .text = "-r", .len = 2, .span = k->text->span },
	};

	if (in)
		ab_check_found(k->c, words, is_deep ? 3 : 2);
	else
		ab_check_words(k->c, words, 2, 0, NULL, false);
}

/* git ls-files | perl -ne 'chomp; unlink', cd /etc && ls | ...: what it reads
   are files, and it may take them away. */
static AB_COLD void check_listed(struct ab_code *k, struct ab_stream *in)
{
	struct ab_lexer x = k->x;
	struct ab_token t, before = { 0 }, behind = { 0 };

	ab_lexer_rewind(&x);
	x.len = k->text->len;
	while (ab_lexer_next(&x, &t)) {
		if (is_removal(k, &t, &before, &behind)) {
			run_removal(k, in, is_deep(k, &t));
			return;
		}
		behind = before;
		before = t;
	}
}

/* What it reads has told of names; or NULL. */
static struct ab_stream *names_read(const struct ab_code *k)
{
	const struct ab_shell_command *m = k->c->command;

	return m && k->use && k->use->has_stdin && ab_has_stdin(m) &&
			       ab_names_noted(m->place.in) &&
			       (has_lines(k) || ab_code_reads_input(k))
		       ? m->place.in : NULL;
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
		if (t.kind == AB_TOKEN_STRING && t.len &&
		    t.len < AB_FLOW_TARGET &&
		    ab_code_has_key_name(k, &t) &&
		    ab_word_slice(k->c, k->text, t.at, t.len, &w))
			ab_check_path(k->c, k->use, role, &w);
	}
}

/* print(open("x.pem").read()): as with cat(1). */
static void check_shown(struct ab_code *k)
{
	struct ab_flow s = { .k = k, .x = k->x, .is_reading = true,
			  .is_showing = true };

	go_through(&s);
	if (s.is_given)
		check_strings(k, AB_ROLE_SHOW);
}

/* with open(x) as f: post(u, files={"f": f}) */
static void check_uploaded(struct ab_code *k)
{
	struct ab_flow s = { .k = k, .x = k->x, .is_reading = true,
			  .is_sending = true };

	go_through(&s);
	if (!(s.is_given || s.is_full) || goes_home(&s))
		return;
	ab_check_flow(k->c, k->use, AB_SINK_NET, AB_TAINT_DATA, k->text);
	if (ab_code_has_keys(k))
		check_strings(k, AB_ROLE_SEND);
}

void ab_code_check_flow(struct ab_code *k)
{
	struct ab_flow s = { .k = k, .x = k->x, .since = AB_FLOW_REACH + 1 };

	if (AB_UNLIKELY(k->c->codes)) {
		k->c->has_unseen |= k->has_unseen;
		k->c->has_kept = k->c->has_kept || ab_code_keeps_system(k);
	}
	if (AB_UNLIKELY(k->c->has_unseen))
		k->has_removed = k->has_unseen = true;
	if (AB_UNLIKELY(k->has_removed) && removes_trees(k))
		check_removed(k);
	if (AB_UNLIKELY(k->use && k->use->in_taint & AB_TAINT_TREE))
		check_listed(k, NULL);
	else if (AB_UNLIKELY(k->c->has_names) && names_read(k))
		check_listed(k, names_read(k));
	if (may_read(k) && may_upload(k))
		check_uploaded(k);
	if (may_read(k) && ab_code_has_keys(k))
		check_shown(k);
	if (!may_send(k))
		return;
	s.has_argv = has_words(k);
	learn_own(&s);
	go_through(&s);
	if (s.found.end && !goes_home(&s))
		ab_check_flow(k->c, k->use, AB_SINK_NET, AB_TAINT_CRED,
			      k->text);
	else if (s.is_full && !goes_home(&s))
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
}
