/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of commands that have names, of which a tool runs those that it is
 * asked for: the scripts of package.json and the recipes of a justfile. What
 * is not asked for is not judged; where that is not known, all are.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"
#include "guard/files.h"

#include <string.h>

#define MAX_ASKED 16

struct asked {
	struct ab_word names[MAX_ASKED];
	uint32_t count;
	bool is_all;
};

static bool is_text(const struct ab_word *w, const char *s)
{
	return w->len && *w->text == *s && w->len == strlen(s) &&
	       !memcmp(w->text, s, w->len);
}

static bool is_one_of(const struct ab_word *w, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is_text(w, names[i]))
			return true;
	}
	return false;
}

static void ask(struct asked *a, const struct ab_word *w)
{
	if (a->count < MAX_ASKED)
		a->names[a->count++] = *w;
	else
		a->is_all = true;
}

static void ask_text(struct asked *a, const char *s)
{
	const struct ab_word w = { .text = s, .len = (uint32_t)strlen(s) };

	ask(a, &w);
}

/* --- package.json ------------------------------------------------------- */

/* What a verb runs besides the script of its own name. */
static bool ask_verb(struct asked *a, const struct ab_word *w)
{
	static const char *const installs[] = {
		"install", "i",	     "in",	"ins",	   "inst",
		"add",	   "ci",     "ic",	"rebuild", "rb",
		"update",  "up",     "upgrade", "remove",  "rm",
		"un",	   "prune",  "dedupe",	"link",	   "uninstall",
		"it",	   "cit",    "import",	"clean-install",
		"install-test",	     "install-ci-test",	   "install-clean",
		"sit",	   "clean-install-test",
	};
	static const char *const tests[] = { "t", "tst", "it", "cit", "sit",
					     "install-test",
					     "clean-install-test",
					     "install-ci-test" };
	static const char *const packs[] = { "pack", "publish" };
	bool is_install = is_one_of(w, installs, AB_ARRAY_LEN(installs));
	bool is_test = is_one_of(w, tests, AB_ARRAY_LEN(tests));
	bool is_pack = is_one_of(w, packs, AB_ARRAY_LEN(packs));

	ask(a, w);
	if (is_test)
		ask_text(a, "test");
	if (is_install)
		ask_text(a, "install");
	if (is_install || is_pack) {
		ask_text(a, "prepare");
		ask_text(a, "prepublish");
		ask_text(a, "dependencies");
	}
	if (is_pack) {
		ask_text(a, "pack");
		ask_text(a, "prepublishOnly");
	}
	if (is_text(w, "restart")) {
		ask_text(a, "stop");
		ask_text(a, "start");
	}
	return is_install || is_test || is_pack;
}

/* What npm and the like are asked to run, by their words. */
static void read_asked(const struct ab_use *use, struct asked *a)
{
	static const char *const tools[] = { "npm", "pnpm", "yarn", "bun",
					     "deno" };
	static const char *const runs[] = { "run", "run-script", "rum",
					    "urn", "task" };
	static const char *const others[] = { "workspace", "workspaces",
					      "recursive", "multi",
					      "foreach" };
	uint32_t base = ab_name_base(&use->words[0]);
	const struct ab_word tool = {
		.text = use->words[0].text + base,
		.len = use->words[0].len - base,
	};
	bool is_behind = false; /* an option, which may take the word */

	a->is_all = use->words[0].hole_count ||
		    !is_one_of(&tool, tools, AB_ARRAY_LEN(tools));
	for (uint32_t i = 1; i < use->count && !a->is_all; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->hole_count) {
			a->is_all = true;
		} else if (w->len && *w->text == '-') {
			is_behind = !memchr(w->text, '=', w->len);
			continue;
		} else if (!is_one_of(w, runs, AB_ARRAY_LEN(runs))) {
			(void)ask_verb(a, w);
			if (!is_behind &&
			    !(a->count && is_one_of(&a->names[0], others,
						    AB_ARRAY_LEN(others))))
				return;
		}
		is_behind = false;
	}
	/* yarn and bun install when they are told nothing */
	if (!a->count) {
		ask_text(a, "prepare");
		ask_text(a, "install");
	}
}

/* The script itself, or what goes before it or behind it. */
static bool is_asked(const struct asked *a, const struct ab_word *script)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct ab_word *w = &a->names[i];
		uint32_t skip = script->len - w->len;

		if (script->len < w->len ||
		    memcmp(script->text + skip, w->text, w->len) != 0)
			continue;
		if (!skip || (skip == 3 && !memcmp(script->text, "pre", 3)) ||
		    (skip == 4 && !memcmp(script->text, "post", 4)))
			return true;
	}
	return a->is_all;
}

static uint32_t put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | code >> 12);
	to[1] = (char)(0x80 | (code >> 6 & 0x3f));
	to[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* The four digits behind \u; -1: there are none. */
static int32_t hex_code(const char *s, uint32_t len)
{
	static const char digits[] = "0123456789abcdef";
	int32_t code = 0;

	for (uint32_t i = 0; i < 4; i++) {
		char ch = i < len ? s[i] : 0;
		const char *at;

		if (ch >= 'A' && ch <= 'F')
			ch = (char)(ch | 0x20);
		at = ch ? strchr(digits, ch) : NULL;
		if (!at)
			return -1;
		code = code * 16 + (int32_t)(at - digits);
	}
	return code;
}

/* A string of JSON as what it says. False: no memory. */
static bool json_word(struct ab_code *k, const struct ab_token *t,
		      struct ab_word *w)
{
	static const char letters[] = "nrtbf", bytes[] = "\n\r\t\b\f";
	char *to;
	uint32_t n = 0;

	if (!ab_word_slice(k->c, k->text, t->at, t->len, w))
		return false;
	if (!w->len || !memchr(w->text, '\\', w->len))
		return true;
	if (w->hole_count)
		return ab_code_word(k, t, w);
	to = ab_check_alloc(k->c, w->len + 1);
	if (!to)
		return false;
	for (uint32_t i = 0; i < w->len; i++) {
		const char *s = w->text + i;
		const char *at;
		int32_t code = -1;

		if (*s != '\\' || i + 1 == w->len) {
			to[n++] = *s;
			continue;
		}
		i++;
		at = strchr(letters, s[1]);
		if (s[1] == 'u')
			code = hex_code(s + 2, w->len - i - 1);
		if (code >= 0) {
			n += put_utf8(to + n, (uint32_t)code);
			i += 4;
		} else {
			to[n++] = s[1] && at ? bytes[at - letters] : s[1];
		}
	}
	*w = (struct ab_word){ .text = to, .len = n, .span = w->span };
	return true;
}

/* run-s, concurrently "npm:x": which scripts these run is not read. */
static bool runs_others(const struct ab_word *script)
{
	static const char *const names[] = { "npm-run-all", "run-s", "run-p",
					     "npm:",	    "--run" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (memmem(script->text, script->len, names[i],
			   strlen(names[i])))
			return true;
	}
	return false;
}

struct scripts {
	struct ab_code k;
	struct asked asked;
	bool is_inside;	 /* "scripts": { */
	bool is_scripts; /* the key at hand is that */
	bool is_wanted;	 /* the script at hand is run */
	bool runs_others;
};

/* A string in the outermost object, or in that of the scripts. */
static void json_string(struct scripts *s, const struct ab_token *t)
{
	struct ab_code *k = &s->k;
	struct ab_word w;

	if (!json_word(k, t, &w))
		return;
	if (ab_code_is_sign(k, &k->before, ':')) {
		if (!s->is_inside || !s->is_wanted)
			return;
		s->runs_others |= runs_others(&w);
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
		return;
	}
	if (s->is_inside)
		s->is_wanted = w.hole_count || is_asked(&s->asked, &w);
	else
		s->is_scripts = is_text(&w, "scripts");
}

static void scan_scripts(struct scripts *s)
{
	struct ab_code *k = &s->k;
	struct ab_token t;
	uint32_t depth = 0;

	ab_lexer_rewind(&k->x);
	k->before = (struct ab_token){ 0 };
	s->is_inside = s->is_scripts = false;
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;
		void *mark = k->c->scratch->low;

		if (ch && memchr("{[", ch, 2)) {
			s->is_inside |= ch == '{' && depth == 1 &&
					s->is_scripts &&
					ab_code_is_sign(k, &k->before, ':');
			depth++;
		} else if (ch && memchr("}]", ch, 2) && depth) {
			depth--;
			s->is_inside &= depth > 1;
		} else if (t.kind == AB_TOKEN_STRING &&
			   depth == (s->is_inside ? 2 : 1)) {
			json_string(s, &t);
		}
		k->before = t;
		ab_arena_release(k->c->scratch, mark);
	}
}

void ab_check_npm(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *text)
{
	static const struct ab_word open = { .text = "{\"scripts\":{",
					     .len = 12 },
				    close = { .text = "}}", .len = 2 };
	struct scripts *s = ab_check_alloc(c, sizeof(*s));
	struct ab_word all;

	if (!s)
		return;
	/* "test": "x" that an editor put in */
	if (AB_UNLIKELY(c->is_part)) {
		if (!ab_file_join(c, &open, text, &all) ||
		    !ab_file_join(c, &all, &close, &all))
			return;
		all.span = text->span;
		text = &all;
	}
	*s = (struct scripts){
		.k = { .c = c, .use = use, .text = text, .name = "npm",
		       .lang = AB_JS,
		       .x = { .text = text->text, .len = text->len,
			      .traits = ab_lex_traits("js") } },
	};
	read_asked(use, &s->asked);
	scan_scripts(s);
	if (s->runs_others && !s->asked.is_all) {
		s->asked.is_all = true;
		scan_scripts(s);
	}
}

/* --- justfile ----------------------------------------------------------- */

/* The line of a text at `at`; where the next one is. */
static uint32_t line_at(const struct ab_word *text, uint32_t at,
			struct ab_word *line)
{
	const char *from = text->text + at;
	const char *end = memchr(from, '\n', text->len - at);

	*line = (struct ab_word){
		.text = from,
		.len = end ? (uint32_t)(end - from) : text->len - at,
	};
	return at + line->len + 1;
}

static bool is_name_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_' || ch == '-';
}

/* `@name a b=c: deps` names a recipe, and `rest` are what it needs first. */
static bool is_recipe(const struct ab_word *line, struct ab_word *name,
		      struct ab_word *rest)
{
	uint32_t from = line->len && *line->text == '@', at = from, end;
	const char *colon;

	while (at < line->len && is_name_byte(line->text[at]))
		at++;
	end = at;
	if (at == from)
		return false;
	colon = memchr(line->text + at, ':', line->len - at);
	if (!colon || (colon + 1 < line->text + line->len && colon[1] == '='))
		return false;
	*name = (struct ab_word){ .text = line->text + from,
				  .len = end - from };
	*rest = (struct ab_word){
		.text = colon + 1,
		.len = line->len - (uint32_t)(colon + 1 - line->text),
	};
	return true;
}

static bool has_name(const struct asked *a, const struct ab_word *name)
{
	for (uint32_t i = 0; i < a->count; i++) {
		if (a->names[i].len == name->len &&
		    !memcmp(a->names[i].text, name->text, name->len))
			return true;
	}
	return a->is_all;
}

/* The names behind the colon, of recipes that are run as well. */
static void ask_needed(struct asked *a, const struct ab_word *rest)
{
	for (uint32_t i = 0; i < rest->len;) {
		uint32_t from = i;

		while (i < rest->len && is_name_byte(rest->text[i]))
			i++;
		const struct ab_word w = { .text = rest->text + from,
					   .len = i - from };

		if (w.len && !has_name(a, &w))
			ask(a, &w);
		i += i == from;
	}
}

/* Which recipes are run: those that are named, else the first one, and what
   they need. A name that is none of the file's may be another one's. */
static void ask_recipes(const struct ab_use *use, const struct ab_word *text,
			struct asked *a)
{
	struct ab_word line, name, rest, first = { 0 };
	uint32_t before, found = 0, base = use->base[use->program->depth];

	for (uint32_t i = base; i < use->operand_count; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];

		a->is_all |= w->hole_count > 0;
		if (w->len && !memchr(w->text, '=', w->len))
			ask(a, w);
	}
	for (uint32_t at = 0; at < text->len;) {
		at = line_at(text, at, &line);
		if (!is_recipe(&line, &name, &rest))
			continue;
		if (!first.len)
			first = name;
		found |= a->count && name.len == a->names[0].len &&
			 !memcmp(name.text, a->names[0].text, name.len);
	}
	a->is_all |= !first.len || (a->count && !found) || text->hole_count;
	if (!a->count && first.len)
		ask(a, &first);
	do {
		before = a->count;
		for (uint32_t at = 0; at < text->len && !a->is_all;) {
			at = line_at(text, at, &line);
			if (is_recipe(&line, &name, &rest) &&
			    has_name(a, &name))
				ask_needed(a, &rest);
		}
	} while (before < a->count && !a->is_all);
}

void ab_check_just(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *text)
{
	struct asked *a = ab_check_alloc(c, sizeof(*a));
	struct ab_word line, name, rest, w;
	bool is_wanted = false;

	if (!a)
		return;
	*a = (struct asked){ 0 };
	ask_recipes(use, text, a);
	for (uint32_t at = 0; at < text->len;) {
		uint32_t begin = at, i = 0;

		at = line_at(text, at, &line);
		if (line.len && !memchr(" \t", *line.text, 2)) {
			if (is_recipe(&line, &name, &rest))
				is_wanted = has_name(a, &name);
			continue;
		}
		while (i < line.len && memchr("@-+ \t", line.text[i], 5))
			i++;
		if ((is_wanted || a->is_all) && i < line.len &&
		    ab_word_slice(c, text, begin + i, line.len - i, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	}
}
