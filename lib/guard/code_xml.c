/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * build.xml of ant and pom.xml of maven: the commands that they run and the
 * files that they remove or write. It is no parser of XML: elements and their
 * attributes are read one after the other, whichever target they are in, and
 * properties stay names. And values behind keys of bazel and terraform.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/command.h"

#define MAX_ARGS 64 /* of one command */
#define MAX_PROPERTIES 32

struct xml {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *text;
	struct ab_word argv[MAX_ARGS];
	uint32_t argc; /* with room for the program, which may come last */
	bool has_program;
	struct {
		struct ab_word name, value;
	} properties[MAX_PROPERTIES];
	uint32_t property_count;
	bool is_delete; /* what is named next is taken away */
};

/* One element: its name, and where its attributes are. */
struct tag {
	struct ab_word name;
	uint32_t at, end;
};

static bool is_blank(char ch)
{
	return memchr(" \t\r\n", ch, 4) != NULL;
}

/* &lt; and its kind as what they stand for, in place. */
static bool plain(struct ab_check *c, const struct ab_word *w,
		  struct ab_word *out)
{
	static const struct {
		const char *name;
		char ch;
	} all[] = { { "&lt;", '<' },   { "&gt;", '>' },	  { "&amp;", '&' },
		    { "&quot;", '"' }, { "&apos;", '\'' }, { "&#10;", '\n' } };
	uint32_t n = 0;
	char *text;

	*out = *w;
	if (AB_LIKELY(!memchr(w->text, '&', w->len) || w->hole_count))
		return true;
	text = ab_check_alloc(c, w->len + 1);
	if (!text)
		return false;
	for (uint32_t i = 0; i < w->len;) {
		size_t k = 0, m = 1;

		for (; w->text[i] == '&' && k < AB_ARRAY_LEN(all); k++) {
			m = strlen(all[k].name);
			if (w->len - i >= m &&
			    !memcmp(w->text + i, all[k].name, m))
				break;
		}
		if (w->text[i] != '&' || k == AB_ARRAY_LEN(all)) {
			text[n++] = w->text[i++];
			continue;
		}
		text[n++] = all[k].ch;
		i += (uint32_t)m;
	}
	*out = (struct ab_word){ .text = text, .len = n, .span = w->span };
	return true;
}

/* What stands for ${user.home} and for properties of the text that are there
   already, with which ant leaves it; NULL: it stays a name. */
static const struct ab_word *property(const struct xml *x, const char *name,
				      uint32_t len, struct ab_word *home)
{
	static const char *const homes[] = { "user.home", "env.HOME" };

	for (size_t i = 0; i < AB_ARRAY_LEN(homes); i++) {
		if (strlen(homes[i]) == len && !memcmp(homes[i], name, len)) {
			home->text = x->c->place->home.text;
			home->len = (uint32_t)x->c->place->home.len;
			return home->len ? home : NULL;
		}
	}
	for (uint32_t i = 0; i < x->property_count; i++) {
		const struct ab_word *w = &x->properties[i].name;

		if (w->len == len && !memcmp(w->text, name, len))
			return &x->properties[i].value;
	}
	return NULL;
}

/* The first of them; others are of what it was made of, or names. */
static bool put_property(struct xml *x, struct ab_word *w)
{
	const char *sign = memmem(w->text, w->len, "${", 2), *end;
	const struct ab_word *value;
	struct ab_word home = { .text = "" };
	uint32_t at, rest;
	char *text;

	if (AB_LIKELY(!sign) || w->hole_count)
		return true;
	at = (uint32_t)(sign - w->text);
	end = memchr(sign, '}', w->len - at);
	if (!end)
		return true;
	value = property(x, sign + 2, (uint32_t)(end - sign) - 2, &home);
	if (!value)
		return true;
	rest = w->len - (uint32_t)(end + 1 - w->text);
	text = ab_check_alloc(x->c, (size_t)at + value->len + rest + 1);
	if (!text)
		return false;
	memcpy(text, w->text, at);
	memcpy(text + at, value->text, value->len);
	memcpy(text + at + value->len, end + 1, rest);
	*w = (struct ab_word){ .text = text, .len = at + value->len + rest,
			       .span = w->span };
	return true;
}

/* The value of an attribute; false: the element has none of that name. */
static bool attribute(struct xml *x, const struct tag *t, const char *name,
		      struct ab_word *out)
{
	const char *s = x->text->text;
	uint32_t n = (uint32_t)strlen(name), at = t->at;

	while (at < t->end) {
		uint32_t from, len;

		while (at < t->end && (is_blank(s[at]) || s[at] == '/'))
			at++;
		for (from = at; at < t->end && s[at] != '=' &&
				!is_blank(s[at]);)
			at++;
		len = at - from;
		while (at < t->end && !memchr("\"'", s[at], 2))
			at++;
		if (at == t->end)
			return false;
		const char *stop = memchr(s + at + 1, s[at], t->end - at - 1);
		uint32_t to = stop ? (uint32_t)(stop - s) : t->end;
		struct ab_word value;

		if (len == n && !memcmp(s + from, name, n))
			return ab_word_slice(x->c, x->text, at + 1,
					     to - at - 1, &value) &&
			       plain(x->c, &value, out) &&
			       put_property(x, out);
		at = to + 1;
	}
	return false;
}

static void add_word(struct xml *x, const struct ab_word *w)
{
	if (x->argc < MAX_ARGS)
		x->argv[x->argc++] = *w;
	else
		ab_check_known(x->c, AB_KNOWN_LIMIT, AB_V_ASK, w);
}

/* line="-rf x": the words in it. */
static void add_line(struct xml *x, const struct ab_word *line)
{
	struct ab_word w;

	for (uint32_t at = 0; at < line->len;) {
		uint32_t from;

		while (at < line->len && is_blank(line->text[at]))
			at++;
		for (from = at; at < line->len && !is_blank(line->text[at]);)
			at++;
		if (at > from && ab_word_slice(x->c, line, from, at - from, &w))
			add_word(x, &w);
	}
}

static void run_argv(struct xml *x)
{
	if (x->has_program)
		ab_check_words(x->c, x->argv, x->argc, 0, NULL, false);
	x->has_program = false;
	x->argc = 1;
}

static void set_program(struct xml *x, const struct ab_word *w)
{
	if (x->has_program)
		run_argv(x);
	x->argv[0] = *w;
	x->has_program = true;
}

/* The first that is said is what it stays. */
static void add_property(struct xml *x, const struct tag *t)
{
	struct ab_word name, value;

	if (x->property_count == MAX_PROPERTIES ||
	    !attribute(x, t, "name", &name) ||
	    (!attribute(x, t, "location", &value) &&
	     !attribute(x, t, "value", &value)) || name.hole_count ||
	    value.hole_count || value.len > 4096)
		return;
	x->properties[x->property_count].name = name;
	x->properties[x->property_count++].value = value;
}

static bool is_named(const struct tag *t, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ab_word_equals(&t->name, names[i]))
			return true;
	}
	return false;
}

/* <delete dir="x"/>: all of it, where no <include> is likely to follow. */
static void remove_named(struct xml *x, const struct tag *t)
{
	struct ab_word w;

	if (attribute(x, t, "dir", &w))
		ab_check_path(x->c, x->use, AB_ROLE_REMOVE, &w);
	if (attribute(x, t, "file", &w))
		ab_check_path(x->c, x->use, AB_ROLE_DELETE, &w);
	x->is_delete = true;
}

/* Some of what lies there is written or taken away. */
static void change_below(struct xml *x, const struct ab_word *dir)
{
	struct ab_word all;
	char *text = ab_check_alloc(x->c, dir->len + 2);

	if (!text)
		return;
	memcpy(text, dir->text, dir->len);
	memcpy(text + dir->len, "/x", 2);
	all = (struct ab_word){ .text = text, .len = dir->len + 2,
				.span = dir->span };
	ab_check_path(x->c, x->use, AB_ROLE_WRITE, &all);
}

static void open_tag(struct xml *x, const struct tag *t)
{
	static const char *const runs[] = { "exec", "apply", "execute" };
	static const char *const writes[] = { "echo",	"touch", "copy",
					      "move",	"concat", "get",
					      "mkdir",	"replace", "unzip",
					      "untar",	"chmod" };
	static const char *const targets[] = { "file", "tofile", "todir",
					       "dest", "destfile", "dir" };
	struct ab_word w;

	if (is_named(t, runs, AB_ARRAY_LEN(runs))) {
		run_argv(x);
		if (attribute(x, t, "executable", &w))
			set_program(x, &w);
		else if (attribute(x, t, "command", &w))
			ab_check_script(x->c, &w, true, NULL, 0, NULL);
	} else if (ab_word_equals(&t->name, "Exec")) { /* msbuild */
		if (attribute(x, t, "Command", &w))
			ab_check_script(x->c, &w, true, NULL, 0, NULL);
	} else if (ab_word_equals(&t->name, "RemoveDir")) {
		if (attribute(x, t, "Directories", &w))
			ab_check_path(x->c, x->use, AB_ROLE_REMOVE, &w);
	} else if (ab_word_equals(&t->name, "property")) {
		add_property(x, t);
	} else if (ab_word_equals(&t->name, "arg") && x->has_program) {
		if (attribute(x, t, "value", &w) ||
		    attribute(x, t, "file", &w) || attribute(x, t, "path", &w))
			add_word(x, &w);
		if (attribute(x, t, "line", &w))
			add_line(x, &w);
	} else if (ab_word_equals(&t->name, "delete")) {
		remove_named(x, t);
	} else if (ab_word_equals(&t->name, "fileset") && x->is_delete) {
		if (attribute(x, t, "dir", &w))
			change_below(x, &w);
	} else if (is_named(t, writes, AB_ARRAY_LEN(writes))) {
		for (size_t i = 0; i < AB_ARRAY_LEN(targets); i++) {
			bool is_from = !i && t->name.text[0] != 'e' &&
				       t->name.text[0] != 't' &&
				       t->name.text[0] != 'r';

			if (!is_from && attribute(x, t, targets[i], &w))
				ab_check_path(x->c, x->use, AB_ROLE_WRITE, &w);
		}
	}
}

/* </exec>, and what maven has between <executable> and its end. */
static void close_tag(struct xml *x, const struct tag *t, uint32_t from)
{
	static const char *const ends[] = { "exec", "apply", "configuration",
					    "target", "project" };
	struct ab_word w, value;

	if (is_named(t, ends, AB_ARRAY_LEN(ends))) {
		run_argv(x);
		return;
	}
	if (ab_word_equals(&t->name, "delete"))
		x->is_delete = false;
	if (!ab_word_slice(x->c, x->text, from, t->at - from, &value) ||
	    !plain(x->c, &value, &w))
		return;
	if (ab_word_equals(&t->name, "script") ||
	    ab_word_equals(&t->name, "scriptdef")) {
		/* javascript, or groovy and its kind: who reads which */
		ab_check_code(x->c, x->use, "js", &w);
		ab_check_code(x->c, x->use, "other", &w);
	} else if (ab_word_equals(&t->name, "PreBuildEvent") ||
		   ab_word_equals(&t->name, "PostBuildEvent")) {
		ab_check_script(x->c, &w, true, NULL, 0, NULL);
	} else if (ab_word_equals(&t->name, "executable")) {
		set_program(x, &w);
	} else if (ab_word_equals(&t->name, "argument")) {
		add_word(x, &w);
	} else if (ab_word_equals(&t->name, "commandlineArgs")) {
		add_line(x, &w);
	}
}

/* Behind <!-- -->, <? ?> and <! >; 0: it is an element. */
static uint32_t skip_remark(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text + at;
	uint32_t left = text->len - at;
	const char *end = NULL;

	if (left > 8 && !memcmp(s, "<![CDATA[", 9))
		return at + 9;
	if (left > 3 && !memcmp(s, "<!--", 4))
		end = memmem(s, left, "-->", 3);
	else if (left > 1 && (s[1] == '?' || s[1] == '!'))
		end = memchr(s, '>', left);
	else
		return 0;
	return end ? (uint32_t)(end - text->text) + 1 : text->len;
}

/* The end of the element that begins at `at`: `>` in no quotes. */
static uint32_t tag_end(const struct ab_word *text, uint32_t at)
{
	char quote = '\0';

	for (; at < text->len; at++) {
		char ch = text->text[at];

		if (quote)
			quote = ch == quote ? '\0' : quote;
		else if (ch == '"' || ch == '\'')
			quote = ch;
		else if (ch == '>')
			break;
	}
	return at;
}

void ab_check_xml(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *text)
{
	struct xml *x = ab_check_alloc(c, sizeof(*x));
	uint32_t at = 0, from = 0, skip;
	const char *s = text->text;
	struct tag t;

	if (!x)
		return;
	x->c = c;
	x->use = use;
	x->text = text;
	x->argc = 1;
	x->has_program = false;
	x->property_count = 0;
	x->is_delete = false;
	while (at < text->len && !c->is_broken) {
		at += (uint32_t)ab_seek(s + at, text->len - at, '<');
		skip = at < text->len ? skip_remark(text, at) : 0;
		if (skip || at == text->len) {
			at = skip ? skip : at;
			continue;
		}
		bool is_end = at + 1 < text->len && s[at + 1] == '/';
		uint32_t name = at + 1 + is_end, end = tag_end(text, at);

		t.at = at;
		t.end = end;
		for (skip = name; skip < end && !is_blank(s[skip]) &&
				  s[skip] != '/';)
			skip++;
		/* <ant:exec> */
		const char *prefix = memchr(s + name, ':', skip - name);

		if (prefix)
			name = (uint32_t)(prefix - s) + 1;
		if (!ab_word_slice(c, text, name, skip - name, &t.name))
			return;
		if (is_end) {
			close_tag(x, &t, from);
		} else {
			t.at = skip;
			open_tag(x, &t);
			if (end > skip && s[end - 1] == '/' &&
			    !ab_word_equals(&t.name, "arg"))
				close_tag(x, &t, skip);
		}
		at = from = end + 1;
	}
	run_argv(x);
}

/* --- cmd = "...", of bazel and terraform --------------------------------- */

static bool runs_value(const struct ab_word *text, const struct ab_token *t)
{
	static const char *const names[] = { "cmd", "cmd_bash", "command",
					     "local_command" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (t->kind == AB_TOKEN_WORD && strlen(names[i]) == t->len &&
		    !memcmp(text->text + t->at, names[i], t->len))
			return true;
	}
	return false;
}

static bool is_sign(const struct ab_word *text, const struct ab_token *t,
		    char ch)
{
	return t->kind == AB_TOKEN_SIGN && t->len == 1 &&
	       text->text[t->at] == ch;
}

/* bazel: $(location x), $@ and $< are names of files that it makes, and $$ is
   the shell's own sign. */
static bool put_made(struct ab_check *c, struct ab_word *w)
{
	static const char made[] = "bazel-out/x";
	uint32_t n = 0, size = sizeof(made) - 1, end;
	char *text = ab_check_alloc(c, (size_t)w->len * size + 1);

	if (!text)
		return false;
	for (uint32_t i = 0; i < w->len; i++) {
		char next = i + 1 < w->len ? w->text[i + 1] : '\0';

		end = i + 1;
		if (w->text[i] == '$' && next == '(')
			end = i + (uint32_t)ab_seek(w->text + i, w->len - i,
						    ')');
		if (w->text[i] != '$' || !next || !memchr("$@<^(", next, 5)) {
			text[n++] = w->text[i];
			continue;
		}
		i = end;
		if (next == '$') {
			text[n++] = '$';
			continue;
		}
		memcpy(text + n, made, size);
		n += size;
	}
	*w = (struct ab_word){ .text = text, .len = n, .span = w->span };
	return true;
}

#define MAX_JOINED 4096 /* bytes of a command in parts */

/* "git " + "push", of which the first part may be none yet. */
static void join_part(struct ab_check *c, struct ab_word *all,
		      const struct ab_word *w)
{
	char *text;

	if (!all->text) {
		*all = *w;
		return;
	}
	text = ab_check_alloc(c, (size_t)all->len + w->len + 1);
	if (!text)
		return;
	if (w->hole_count || all->hole_count ||
	    all->len + w->len > MAX_JOINED) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return;
	}
	memcpy(text, all->text, all->len);
	memcpy(text + all->len, w->text, w->len);
	*all = (struct ab_word){ .text = text, .len = all->len + w->len,
				 .span = all->span };
}

static void run_parts(struct ab_check *c, struct ab_word *all, bool is_bazel)
{
	if (all->text && (!is_bazel || put_made(c, all)))
		ab_check_script(c, all, true, NULL, 0, NULL);
	all->text = NULL;
}

/* command = <<-EOT: the lines up to that word; the lexer is behind the first
   sign, and then behind them. */
static bool read_lines(struct ab_check *c, const struct ab_word *text,
		       struct ab_lexer *x)
{
	const char *s = text->text;
	uint32_t at = x->pos, from, begin, n, i;
	struct ab_word w;

	if (at == text->len || s[at] != '<')
		return false;
	at++;
	at += at < text->len && s[at] == '-';
	for (from = at; at < text->len && ab_code_is_letter(s[at]);)
		at++;
	n = at - from;
	if (!n)
		return false;
	for (begin = at; at < text->len;) {
		at += (uint32_t)ab_seek(s + at, text->len - at, '\n');
		for (i = at; i < text->len && is_blank(s[i]);)
			i++;
		if (text->len - i >= n && !memcmp(s + i, s + from, n))
			break;
		at = i;
	}
	x->pos = at;
	if (ab_word_slice(c, text, begin, at - begin, &w))
		ab_check_script(c, &w, true, NULL, 0, NULL);
	return true;
}

/* cmd = X: what that was given; false: it is no such name. */
static bool named_value(struct ab_code *k, const struct ab_lexer *x,
			const struct ab_token *t, bool *has_names,
			struct ab_word *w)
{
	const struct ab_named *n;

	if (!*has_names)
		ab_code_find_names(k);
	*has_names = true;
	k->x = *x;
	n = ab_code_value(k, t);
	if (!n || n->is_list || !n->count)
		return false;
	*w = n->words[0];
	return true;
}

/* Another element of the list comes next. */
static bool goes_on(const struct ab_word *text, struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && is_sign(text, &t, ',');
}

/* A string, or another part of it, comes next. */
static bool has_part(const struct ab_word *text, struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) &&
	       (t.kind == AB_TOKEN_STRING || is_sign(text, &t, '+'));
}

/* " ".join(["git", "push"]) */
static bool is_joined(const struct ab_word *text, struct ab_lexer *x)
{
	struct ab_lexer at = *x;
	struct ab_token t;

	if (!ab_lexer_next(&at, &t) || !is_sign(text, &t, '.') ||
	    !ab_lexer_next(&at, &t) || t.len != 4 ||
	    memcmp(text->text + t.at, "join", 4) != 0)
		return false;
	*x = at;
	return true;
}

#define MAX_PROGRAM 2048 /* bytes of a list */

/* `program` of terraform's own, `execute` of a hook of terragrunt's */
static bool is_program(const struct ab_word *text, const struct ab_token *t)
{
	return t->len == 7 && (!memcmp(text->text + t->at, "program", 7) ||
			       !memcmp(text->text + t->at, "execute", 7));
}

/* terraform: program = ["git", "push"] */
static void run_program(struct ab_check *c, const struct ab_word *text,
			uint32_t at)
{
	const uint32_t left = text->len - at;
	const uint32_t room = left < MAX_PROGRAM ? left : MAX_PROGRAM;
	const uint32_t n = (uint32_t)ab_seek(text->text + at, room, ']');

	if (n == MAX_PROGRAM)
		ab_check_known(c, AB_KNOWN_OPAQUE, AB_V_ASK, text);
	ab_check_strings(c, text, at, at + n);
}

void ab_check_keyed(struct ab_check *c, const char *lang,
		    const struct ab_word *text)
{
	const bool is_bazel = !strcmp(lang, "bazel");
	struct ab_lexer x = { .text = text->text, .len = text->len,
			      .traits = ab_lex_traits("python") };
	struct ab_code k = { .c = c, .text = text, .name = "python",
			     .lang = AB_PY, .x = x };
	struct ab_word w, all = { .text = NULL }, glue = { .text = NULL };
	struct ab_token t, before = { 0 };
	bool is_value = false, has_names = false;

	while (ab_lexer_next(&x, &t) && !c->is_broken) {
		if (is_sign(text, &t, '=')) {
			run_parts(c, &all, is_bazel);
			is_value = runs_value(text, &before);
			if (is_program(text, &before) &&
			    ab_code_next_byte(text, x.pos) == '[')
				run_program(c, text, t.at);
			glue.text = NULL;
		} else if (is_value && t.kind == AB_TOKEN_STRING &&
			   is_joined(text, &x)) {
			if (!ab_word_slice(c, text, t.at, t.len, &glue))
				return;
		} else if (is_value && glue.text && all.text &&
			   is_sign(text, &t, ',')) {
			join_part(c, &all, &glue);
		} else if (is_value &&
			   (t.kind == AB_TOKEN_STRING
				    ? ab_code_plain_word(&k, &t, &w)
				    : t.kind == AB_TOKEN_WORD && is_bazel &&
					      named_value(&k, &x, &t,
							  &has_names,
							  &w))) {
			join_part(c, &all, &w);
			if (has_part(text, x) ||
			    (glue.text && goes_on(text, x)))
				continue;
			run_parts(c, &all, is_bazel);
		} else if (is_value && is_sign(text, &t, '<') &&
			   read_lines(c, text, &x)) {
			is_value = false;
		} else if (is_value && !is_sign(text, &t, '[') &&
			   !is_sign(text, &t, '(') && !is_sign(text, &t, '+')) {
			run_parts(c, &all, is_bazel);
			is_value = false;
		}
		before = t;
	}
	run_parts(c, &all, is_bazel);
}
