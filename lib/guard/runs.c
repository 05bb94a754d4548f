/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command runs in turn: other commands behind wrappers, texts for
 * shells, inline programs, statements, and what its stdin brings.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>
#include <strings.h>

#include "guard/code.h"
#include "guard/command.h"

/* A directory that nobody knows. */
static const struct ab_word nowhere = { .text = "" };

/* --- running other things ----------------------------------------------- */

static const struct ab_chain *add_chain(struct ab_check *c, const char *name,
					uint32_t len)
{
	struct ab_chain *chain = ab_arena_high(c->high, sizeof(*chain));

	if (!chain) {
		c->is_broken = true;
		return c->chain;
	}
	*chain = (struct ab_chain){ .up = c->chain, .name = name,
				    .len = len };
	if (c->is_stdin_text) {
		chain->is_stdin = true;
		chain->in = c->command ? c->command->place.in : NULL;
		chain->depth = c->command ? c->command->place.depth + 1 : 0;
	} else if (c->chain) {
		chain->is_stdin = c->is_on_script;
		chain->in = c->chain->in;
		chain->depth = c->command ? c->command->place.depth + 1 : 0;
	}
	return chain;
}

/* The run keeps the directory from now on. */
static void follow_cwd(struct ab_check *c)
{
	const struct ab_word *w = c->first_cwd ? c->first_cwd : &nowhere;
	const size_t len = sizeof(AB_SHELL_CWD) - 1;

	if (!ab_shell_variable(c->run, AB_SHELL_CWD, len) &&
	    !ab_shell_set(c->run, AB_SHELL_CWD, len, w, AB_SHELL_INHERITED))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
	c->has_cwd = true;
}

/* What the wrappers around it give a shell, the outermost first. */
static void give_words(struct ab_check *c, struct ab_shell_text *push)
{
	struct ab_word *all;
	uint32_t count = 0;

	for (const struct ab_given *g = c->given; g; g = g->up)
		count += g->count;
	all = ab_check_alloc(c, count * sizeof(*all));
	if (!all)
		return;
	push->given = all;
	push->given_count = count;
	for (const struct ab_given *g = c->given; g; g = g->up) {
		count -= g->count;
		memcpy(all + count, g->words, g->count * sizeof(*all));
	}
}

/* sh -c bash <<< TEXT: what the commands in it read; NULL: what the command
   itself stands behind. */
static struct ab_stream *own_stdin(struct ab_check *c)
{
	const struct ab_use *use = c->use;
	struct ab_word *kept;

	if (c->own_in || !use || !use->in_text || !c->command ||
	    c->is_stdin_text)
		return c->is_stdin_text ? NULL : c->own_in;
	if (c->command->place.in &&
	    c->command->place.in->value == use->in_text)
		return NULL;
	kept = ab_arena_high(c->high, sizeof(*kept));
	c->own_in = ab_shell_stream(c->run, use->in_text->span);
	if (!kept || !c->own_in || !ab_keep_word(c, use->in_text, kept)) {
		c->is_broken = true;
		return NULL;
	}
	c->own_in->value = kept;
	c->own_in->taint = use->in_taint;
	return c->own_in;
}

void ab_check_script(struct ab_check *c, const struct ab_word *text,
		     bool is_child, const struct ab_word *args,
		     uint32_t arg_count, const char *how)
{
	struct ab_shell_text push = { .text = *text, .is_child = is_child,
				      .args = args, .arg_count = arg_count,
				      .is_perhaps = c->is_perhaps };
	const struct ab_chain *chain = c->chain;

	/* env -C DIR sh -c ... */
	if (AB_UNLIKELY(is_child && c->cwd != c->first_cwd))
		push.cwd = c->cwd ? c->cwd : &nowhere;
	/* what is the same in each directory looks at that itself */
	if (c->is_reading || (c->is_again && !push.cwd &&
			      ab_shell_has_pushed(c->run, text)))
		return;
	if (AB_UNLIKELY(push.cwd != NULL))
		follow_cwd(c);
	if (AB_UNLIKELY(c->given != NULL) && is_child)
		give_words(c, &push);
	if (is_child)
		push.in = own_stdin(c);
	/* $PWD and all that is relative in it */
	ab_check_want_cwd(c);
	if (c->use && c->use->program)
		chain = add_chain(c, how ? how : c->use->program->name,
				  how ? (uint32_t)strlen(how)
				      : c->use->program->name_len);
	push.tag = (void *)(uintptr_t)chain;
	/* bash -a, bash -o allexport */
	if (is_child && c->use)
		ab_defined_export(c, c->use->words, c->use->count);
	if (!ab_shell_push(c->run, &push))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, text);
}

void ab_run_words(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *words, uint32_t count)
{
	const struct ab_chain *chain = c->chain;
	struct ab_given given = { .up = c->given, .words = use->words + 1 };
	bool is_given = use->program->has_env && words > use->words &&
			words < use->words + use->count;

	if (!count)
		return;
	if (is_given) {
		given.count = (uint32_t)(words - given.words);
		c->given = &given;
	}
	c->chain = add_chain(c, use->program->name, use->program->name_len);
	ab_check_words(c, words, count, use->in_taint, use->in_text,
		       use->has_stdin);
	c->chain = chain;
	c->given = given.up;
}

static bool is_text(const struct ab_word *w, const char *text)
{
	return ab_word_equals(w, text);
}

/* Words behind an option, up to `;` or `+` (find) or the end. */
static void until_role(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		uint32_t from = v->word, end = from;

		if (!(role->mask & (UINT64_C(1) << v->group)) || v->at)
			continue;
		while (end < use->count) {
			const struct ab_word *w = &use->words[end];

			if (w->len == 1 && (*w->text == ';' ||
					    (*w->text == '+' && end > from)))
				break;
			end++;
		}
		ab_wrap_find(c, use, use->words + from, end - from);
	}
}

/* docker run --entrypoint rm IMAGE -rf /: the words from operand `at` on are
   what it gets. */
static bool run_entrypoint(struct ab_check *c, const struct ab_use *use,
			   const struct ab_role *role, uint32_t at)
{
	struct ab_word *all;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];

		if (!(role->mask & (UINT64_C(1) << v->group)))
			continue;
		uint32_t from = at <= use->operand_count
					? use->operands[at - 1]
					: use->count;
		uint32_t count = use->count - from;

		all = ab_check_alloc(c, (count + 1) * sizeof(*all));
		if (!all || !ab_word_slice(c, &use->words[v->word], v->at,
					   UINT32_MAX, &all[0]))
			return true;
		if (!all[0].len && !all[0].hole_count) /* none, then */
			return false;
		if (count)
			memcpy(all + 1, use->words + from,
			       count * sizeof(*all));
		ab_run_words(c, use, all, count + 1);
		return true;
	}
	return false;
}

/* nix run nixpkgs#git -- push: git, with the words behind the dashes. */
static bool run_flake(struct ab_check *c, const struct ab_use *use,
		      uint32_t first)
{
	const struct ab_word *w = &use->words[first];
	const char *sign = w->len ? memchr(w->text, '#', w->len) : NULL;
	uint32_t count = use->count - first;
	struct ab_word *all;

	if (!sign || strcmp(use->program->name, "nix/run") != 0)
		return false;
	all = ab_check_alloc(c, (count + 1) * sizeof(*all));
	if (!all || !ab_word_slice(c, w, (uint32_t)(sign - w->text) + 1,
				   w->len, &all[0]))
		return true;
	if (count > 1 && is_text(w + 1, "--")) {
		w++;
		count--;
	}
	memcpy(all + 1, w + 1, (count - 1) * sizeof(*all));
	ab_run_words(c, use, all, count);
	return true;
}

/* npx prisma@5, uvx 'twine==6', npx @scope/name@1: how long the name is. */
static uint32_t package_name(const struct ab_word *w)
{
	static const char signs[] = "@=<>~![";
	uint32_t i = 1;

	while (i < w->len && !memchr(signs, w->text[i], sizeof(signs) - 1))
		i++;
	return i;
}

/* The words that a runner of packages gets, without the version. */
static bool run_package(struct ab_check *c, const struct ab_use *use,
			uint32_t first)
{
	const struct ab_word *w = &use->words[first];
	uint32_t count = use->count - first, len;
	struct ab_word *all;

	if (!use->program->is_package || !w->len ||
	    (len = package_name(w)) >= w->len)
		return false;
	all = ab_check_alloc(c, count * sizeof(*all));
	if (!all || !ab_word_slice(c, w, 0, len, &all[0]))
		return true;
	memcpy(all + 1, w + 1, (count - 1) * sizeof(*all));
	ab_run_words(c, use, all, count);
	return true;
}

void ab_run_wrap(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role)
{
	uint32_t base = use->base[use->program->depth];
	uint32_t n = use->operand_count - base;

	if (role->select == AB_SEL_UNTIL) {
		until_role(c, use, role);
		return;
	}
	if (run_entrypoint(c, use, role, base + role->a))
		return;
	if (n < role->a) {
		if (ab_has_role(use->program, AB_ROLE_STDIN_ARGS) &&
		    role->a == 1)
			ab_wrap_xargs(c, use, NULL, 0);
		return;
	}
	uint32_t first = use->operands[base + role->a - 1];

	if (ab_has_role(use->program, AB_ROLE_STDIN_ARGS)) {
		ab_wrap_xargs(c, use, use->words + first, use->count - first);
		return;
	}
	if (run_flake(c, use, first))
		return;
	if (use->program->has_commands) {
		ab_run_commands(c, use, first);
		return;
	}
	if (is_text(&use->words[first], "--"))
		first++;
	if (first < use->count && run_package(c, use, first))
		return;
	/* an option that is not in the table may have taken the first words */
	uint32_t tries = use->is_unsure ? 3 : 1;

	for (uint32_t i = 0; i < tries && first + i < use->count; i++) {
		if (!i || ab_names_program(c, &use->words[first + i]))
			ab_run_words(c, use, use->words + first + i,
				     use->count - first - i);
	}
}

/* --- texts -------------------------------------------------------------- */

#define MAX_COMMANDS 256 /* of one parallel */

/* The next line of a text from *at on. False: no memory. */
static bool next_line(struct ab_check *c, const struct ab_word *text,
		      uint32_t *at, struct ab_word *line)
{
	uint32_t from = *at;
	const char *end = memchr(text->text + from, '\n', text->len - from);
	uint32_t stop = end ? (uint32_t)(end - text->text) : text->len;

	*at = stop;
	while (*at < text->len && text->text[*at] == '\n')
		++*at;
	return ab_word_slice(c, text, from, stop - from, line);
}

/* -a FILE: what it gets is not on stdin. */
static bool has_arg_file(const struct ab_use *use, uint32_t first)
{
	for (uint32_t i = 1; i < first; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len > 1 && *w->text == '-' &&
		    (w->text[1] == 'a' ||
		     (w->len > 2 && !memcmp(w->text, "--a", 3))))
			return true;
	}
	return false;
}

/* echo x; parallel 'cmd {}' ::: a b: the commands are one text each. Without
   a ::: the lines of stdin. */
static void run_parallel(struct ab_check *c, const struct ab_use *use,
			 uint32_t first)
{
	uint32_t end = first, tried = 0, at = 0;
	const struct ab_word *in = use->in_text;
	struct ab_word *all, text;

	while (end < use->count &&
	       !(use->words[end].len >= 3 &&
		 !memcmp(use->words[end].text, ":::", 3)))
		end++;
	all = ab_check_alloc(c, (end - first + 1) * sizeof(*all));
	if (!all)
		return;
	if (end < use->count || !in || (in->len && *in->text == '\n') ||
	    has_arg_file(use, first))
		in = NULL;
	for (uint32_t i = end + 1;
	     i < use->count || !tried || (in && at < in->len); i++, tried++) {
		struct ab_word value;
		uint32_t n = end - first;
		bool has_mark = false;

		if (tried == MAX_COMMANDS) {
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
			return;
		}
		if (i < use->count)
			value = use->words[i];
		else if (in && in->len ? !next_line(c, in, &at, &value)
				       : !ab_stdin_word(c, use, &value))
			return;
		for (uint32_t k = first; k < end; k++)
			has_mark |= memmem(use->words[k].text,
					   use->words[k].len, "{}", 2) != NULL;
		if (!ab_fill_words(c, use, use->words + first, n, "{}", &value,
				all))
			return;
		if (!has_mark)
			all[n++] = value;
		if (ab_shell_join(c->run, all, n, &text))
			ab_check_script(c, &text, true, NULL, 0, NULL);
	}
}

/* A value put into a text is a word of it, as a line that was picked is; a
   text that is all value is not
   known at all. */
static uint32_t part_taint(uint32_t taint, uint32_t len)
{
	return len ? taint & ~(uint32_t)(AB_TAINT_VAR | AB_TAINT_FILE |
					 AB_TAINT_PICK)
		   : taint;
}

/* What a ${x:-...} stands for is likely, and not known. */
static bool is_likely(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].kind == AB_HOLE_LIKELY)
			return true;
	}
	return false;
}

/* The first word behind the value w of env -S. */
static uint32_t behind_value(const struct ab_use *use, const struct ab_word *w)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];

		if (use->words[v->word].text + v->at == w->text)
			return v->word + 1;
	}
	return use->operand_count ? use->operands[0] : use->count;
}

/*
 * Where env -S stops reading: at \c, and at a # that begins a word. The words
 * behind its text come all the same. is_other: it has escapes in '', as no
 * shell has, and is read otherwise from there on.
 */
static uint32_t split_end(const struct ab_word *w, bool *is_other)
{
	bool is_begin = true;
	char quote = 0;

	for (uint32_t i = 0; i < w->len; i++) {
		char ch = w->text[i];

		if (ch == '#' && is_begin)
			return i;
		if (ch == '\\' && i + 1 < w->len) {
			ch = w->text[i + 1];
			if (quote == '\'') {
				*is_other |= ch == '\'' || ch == '\\';
				i += ch == '\'' || ch == '\\';
				continue;
			}
			if (ch == 'c')
				return i;
			is_begin = ch == '_' && !quote;
			i++;
			continue;
		}
		if (quote ? ch == quote : ch == '"' || ch == '\'')
			quote = quote ? 0 : ch;
		is_begin = !quote && memchr(" \t\n\v\f\r", ch, 6);
	}
	return w->len;
}

/* env -S writes a blank as \_ too. The words behind it come after its own, as
   they are: "$@" stands for them, and may be options and A=1 yet. */
static void split_string(struct ab_check *c, bool has_more, struct ab_word *w)
{
	struct ab_word all[3] = {
		{ .text = "env", .len = 3, .span = w->span }, *w,
		{ .text = "\"$@\"", .len = 4, .span = w->span }
	};
	char *text;

	if (has_more)
		ab_shell_join(c->run, all, 3, w);
	if (!memmem(w->text, w->len, "\\_", 2) ||
	    !(text = ab_check_alloc(c, w->len + 1)))
		return;
	memcpy(text, w->text, w->len);
	for (uint32_t i = 0; i + 1 < w->len; i++) {
		if (text[i] == '\\' && text[i + 1] == '_')
			text[i] = text[i + 1] = ' ';
	}
	w->text = text;
}

/* $(...) of one command that prints no more than that. What is cut out of its
   output has a name. */
static bool is_output(const struct ab_word *w, uint32_t taint)
{
	const struct ab_stream *from =
		!w->len && w->hole_count == 1 && !w->holes->name ?
			w->holes->origin : NULL;

	return from && from->kind == AB_STREAM_COMMAND && from->writes == 1 &&
	       from->taint == taint;
}

static void shell_word(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, const struct ab_word *w)
{
	uint32_t taint = ab_word_taint(w);
	bool is_eval = role->kind == AB_ROLE_EVAL;
	const struct ab_word *args = NULL;
	struct ab_word text = *w;
	uint32_t n = 0;

	if (!strcmp(use->program->name, "env")) {
		uint32_t first = behind_value(use, w);
		bool is_other = false;
		uint32_t end = split_end(w, &is_other);

		n = use->count - first;
		if (is_other)
			ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, w);
		if (!ab_word_slice(c, w, 0, is_other ? w->len : end, &text))
			return;
		split_string(c, n > 0, &text);
		/* NAME ARGS */
		args = n ? use->words + first - 1 : NULL;
	}
	w = &text;
	if (is_eval && is_likely(w))
		taint |= AB_TAINT_VAR;
	if (taint)
		ab_check_flow(c, use,
			      is_eval ? AB_SINK_EVAL : AB_SINK_SHELL,
			      part_taint(taint, w->len && !is_eval), w);
	/* eval "$(ssh-agent -s)": that is all there is to say of it */
	if (is_eval && is_output(w, AB_TAINT_HOOK))
		return;
	ab_check_script(c, w, !is_eval, args, args ? n + 1 : 0, NULL);
}

/* eval set -- "$(getopt ...)", and nothing else: all of it is words that were
   quoted for the shell. */
static bool sets_quoted(const struct ab_use *use, uint32_t first)
{
	return use->count == first + 3 &&
	       ab_word_equals(&use->words[first], "set") &&
	       ab_word_equals(&use->words[first + 1], "--") &&
	       is_output(&use->words[first + 2],
			 AB_TAINT_FILE | AB_TAINT_QUOTED);
}

void ab_run_shell(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	uint32_t base = use->base[use->program->depth];
	uint32_t n = use->operand_count - base;
	struct ab_word text;

	if (role->select == AB_SEL_NTH && n >= role->a) {
		/* sh -c TEXT NAME ARGS */
		const struct ab_word *w =
			&use->words[use->operands[base + role->a - 1]];
		uint32_t rest = use->operands[base + role->a - 1] + 1;
		uint32_t taint = ab_word_taint(w);

		if (taint)
			ab_check_flow(c, use, AB_SINK_SHELL,
				      part_taint(taint, w->len), w);
		if (!strcmp(use->program->name, "trap") && ab_trap_set(c, w))
			return;
		ab_check_script(c, w, role->kind == AB_ROLE_SHELL,
				use->words + rest, use->count - rest, NULL);
		return;
	}
	if (role->select != AB_SEL_FROM) {
		ab_role_each(c, use, role, shell_word);
		return;
	}
	if (n < role->a)
		return;
	uint32_t first = use->operands[base + role->a - 1];

	if (ab_has_role(use->program, AB_ROLE_STDIN_ARGS)) {
		run_parallel(c, use, first);
		return;
	}
	if (!strcmp(use->program->name, "alias")) {
		for (uint32_t i = first; i < use->count; i++) {
			const struct ab_word *w = &use->words[i];
			const char *eq = memchr(w->text, '=', w->len);
			struct ab_word value;

			if (eq && ab_word_slice(c, w,
						(uint32_t)(eq - w->text) + 1,
						w->len, &value))
				ab_check_script(c, &value, false, NULL, 0,
						NULL);
		}
		return;
	}
	if (use->program->is_typed) {
		if (ab_typed_text(c, use, first, &text))
			shell_word(c, use, role, &text);
		return;
	}
	if (!ab_shell_join(c->run, use->words + first, use->count - first,
			   &text))
		return;
	if (sets_quoted(use, first))
		ab_check_script(c, &text, false, NULL, 0, NULL);
	else
		shell_word(c, use, role, &text);
}

/* Where the words of tcl's exec, spawn or system begin; 0: no such. */
static uint32_t tcl_command(const char *line, uint32_t n)
{
	static const char *const names[] = { "exec ", "spawn ", "system " };
	uint32_t first = 0;

	while (first < n && (line[first] == ' ' || line[first] == '\t'))
		first++;
	if (first < n && line[first] == '#')
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const char *hit = memmem(line, n, names[i], strlen(names[i]));

		if (hit && (hit == line || memchr(" \t[{;", hit[-1], 5)))
			return (uint32_t)(hit - line) +
			       (uint32_t)strlen(names[i]);
	}
	return 0;
}

/* Where that ends that begins at `at`: [exec make], catch {exec make}. */
static uint32_t tcl_end(const char *line, uint32_t at, uint32_t n)
{
	int depth = 0;

	for (uint32_t i = at; i < n; i++) {
		depth += line[i] == '[' || line[i] == '{';
		depth -= line[i] == ']' || line[i] == '}';
		if (depth < 0)
			return i;
	}
	return n;
}

/* $(shell COMMAND) and ${shell COMMAND} of a makefile. */
static void check_make_calls(struct ab_check *c, const struct ab_word *text)
{
	static const char call[] = "shell";
	const char *end = text->text + text->len, *at = text->text;
	struct ab_word w;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		char open = at > text->text ? at[-1] : '\0';
		const char *from = at += sizeof(call) - 1;
		char close = open == '(' ? ')' : '}';
		uint32_t depth = 1;

		if ((open != '(' && open != '{') || at == end ||
		    (*at != ' ' && *at != '\t'))
			continue;
		while (at < end && (depth -= *at == close))
			depth += *at++ == open;
		if (ab_word_slice(c, text, (uint32_t)(from - text->text),
				  (uint32_t)(at - from), &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	}
}

/* NAME != COMMAND, and not what is in a recipe, a call or another value. */
static bool is_make_name(const char *line, const char *end)
{
	bool has_name = false;
	int depth = 0;

	for (; line < end; line++) {
		if (!depth && memchr("=#;\"'", *line, 5))
			return false;
		depth += memchr("({", *line, 2) != NULL;
		depth -= memchr(")}", *line, 2) != NULL;
		has_name |= *line != ' ';
	}
	return has_name && !depth;
}

/* syscmd(COMMAND) and esyscmd of m4, in whatever quotes. */
static void check_m4_calls(struct ab_check *c, const struct ab_word *text)
{
	static const char call[] = "syscmd(";
	const char *end = text->text + text->len, *at = text->text;
	struct ab_word w;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		const char *from = at += sizeof(call) - 1;
		uint32_t depth = 1;

		while (at < end && (depth -= *at == ')'))
			depth += *at++ == '(';
		const char *stop = at;

		while (from < stop && memchr("`[ \t\n", *from, 5))
			from++;
		while (from < stop && memchr("'] \t\n", stop[-1], 5))
			stop--;
		if (ab_word_slice(c, text, (uint32_t)(from - text->text),
				  (uint32_t)(stop - from), &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
	}
}

/* define(`x', defn(`syscmd')), builtin(`syscmd', ...): which of its words is
   a command is not said. */
static bool has_other_call(const struct ab_word *text)
{
	static const char call[] = "syscmd";
	const char *end = text->text + text->len, *at = text->text;

	while ((at = memmem(at, (size_t)(end - at), call, sizeof(call) - 1))) {
		at += sizeof(call) - 1;
		if (at == end || *at != '(')
			return true;
	}
	return false;
}

static void check_m4(struct ab_check *c, const struct ab_word *text)
{
	static const char signs[] = "`'[](),\n";
	uint32_t from = 0;
	struct ab_word w;

	if (!has_other_call(text)) {
		check_m4_calls(c, text);
		return;
	}
	ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, text);
	for (uint32_t i = 0; i <= text->len; i++) {
		if (i < text->len && !memchr(signs, text->text[i], 8))
			continue;
		if (i > from && memchr(text->text + from, ' ', i - from) &&
		    ab_word_slice(c, text, from, i - from, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
		from = i + 1;
	}
}

#define MAKE_HOME "$(HOME)"

/* What make gives to the shell: `$$` is a dollar, $(HOME) what it is for the
   shell, and a line goes on behind a backslash. */
static bool make_line(struct ab_check *c, const struct ab_word *text,
		      uint32_t at, uint32_t *stop, struct ab_word *w)
{
	uint32_t end = *stop, n = 0, size = sizeof(MAKE_HOME) - 1;
	char *out;

	while (end < text->len && end > at && text->text[end - 1] == '\\') {
		const char *next = memchr(text->text + end + 1, '\n',
					  text->len - end - 1);

		end = next ? (uint32_t)(next - text->text) : text->len;
	}
	*stop = end;
	if (!ab_word_slice(c, text, at, end - at, w))
		return false;
	if (w->hole_count ||
	    (!memmem(w->text, w->len, "$$", 2) &&
	     !memmem(w->text, w->len, MAKE_HOME, size)))
		return true;
	out = ab_check_alloc(c, w->len);
	if (!out)
		return false;
	for (uint32_t i = 0; i < w->len; i++) {
		if (w->len - i >= size &&
		    !memcmp(w->text + i, MAKE_HOME, size)) {
			memcpy(out + n, "${HOME}", size);
			n += size;
			i += size - 1;
			continue;
		}
		i += w->text[i] == '$' && i + 1 < w->len &&
		     w->text[i + 1] == '$';
		out[n++] = w->text[i];
	}
	*w = (struct ab_word){ .text = out, .len = n, .span = w->span };
	return true;
}

/* Recipes of a makefile, RUN lines of a container's, NAME: COMMAND. */
static void check_lines(struct ab_check *c, const char *lang,
			const struct ab_word *text)
{
	bool is_make = !strcmp(lang, "make"), is_tcl = !strcmp(lang, "tcl");
	bool is_proc = !strcmp(lang, "procfile");

	if (is_make)
		check_make_calls(c, text);
	for (uint32_t i = 0; i < text->len;) {
		const char *end = memchr(text->text + i, '\n', text->len - i);
		uint32_t stop = end ? (uint32_t)(end - text->text)
				    : text->len;
		const char *line = text->text + i;
		uint32_t n = stop - i, at = 0;
		struct ab_word w;

		if (is_make) {
			const char *semi = memchr(line, ';', n);
			const char *set = memmem(line, n, "!=", 2);

			if (n && *line == '\t')
				at = 1;
			else if (set && is_make_name(line, set))
				at = (uint32_t)(set - line) + 2;
			else if (semi && memchr(line, ':',
						(size_t)(semi - line)))
				at = (uint32_t)(semi - line) + 1;
		} else if (is_tcl) {
			at = tcl_command(line, n);
			n = at ? tcl_end(line, at, n) : n;
		} else if (is_proc) {
			const char *colon = memchr(line, ':', n);

			at = colon ? (uint32_t)(colon - line) + 1 : 0;
		} else if (n > 4 && !strncasecmp(line, "run ", 4)) {
			at = 4;
		}
		while (at && is_make && at < n &&
		       memchr("@-+ ", line[at], 4))
			at++;
		if (at && is_make ? make_line(c, text, i + at, &stop, &w)
				  : at && ab_word_slice(c, text, i + at,
							n - at, &w))
			ab_check_script(c, &w, true, NULL, 0, NULL);
		i = stop + 1;
	}
}

void ab_run_code(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *w)
{
	if (!strcmp(role->text, "make") || !strcmp(role->text, "docker") ||
	    !strcmp(role->text, "tcl") || !strcmp(role->text, "procfile"))
		check_lines(c, role->text, w);
	else if (!strcmp(role->text, "tmux"))
		ab_command_text(c, use, w);
	else if (!strcmp(role->text, "m4"))
		check_m4(c, w);
	else if (!strcmp(role->text, "npm"))
		ab_check_npm(c, use, w);
	else if (!strcmp(role->text, "tasks"))
		ab_check_tasks(c, w);
	else if (!strcmp(role->text, "just"))
		ab_check_just(c, use, w);
	else
		ab_check_code(c, use, role->text, w);
}

static void text_word(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *w)
{
	ab_check_flow(c, use, AB_SINK_TEXT,
		      part_taint(ab_word_taint(w), w->len), w);
	ab_check_text(c, role->text, w);
}

void ab_run_text(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role)
{
	uint32_t base = use->base[use->program->depth];
	struct ab_word text;

	if (role->select != AB_SEL_FROM) {
		ab_role_each(c, use, role, text_word);
		return;
	}
	if (use->operand_count - base < role->a)
		return;
	uint32_t first = use->operands[base + role->a - 1];

	if (ab_shell_join(c->run, use->words + first, use->count - first,
			  &text))
		text_word(c, use, role, &text);
}

/* --- stdin -------------------------------------------------------------- */

bool ab_names_stdin(const struct ab_word *w)
{
	static const char *const names[] = { "-", "/dev/stdin", "/dev/fd/0",
					     "/proc/self/fd/0" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(w, names[i]))
			return true;
	}
	return false;
}

/* awk -f FILE has its program from stdin when FILE is that; with an option
   that has no value there is nothing to say. */
static bool is_named(const struct ab_use *use, const struct ab_role *role)
{
	bool has_value = false;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		struct ab_word w = use->words[v->word];

		if (!(role->need & (UINT64_C(1) << v->group)))
			continue;
		w.text += v->at;
		w.len -= v->at;
		if (w.hole_count || ab_is_stdin_name(&w))
			return true;
		has_value = true;
	}
	return !has_value;
}

static bool reads_stdin(const struct ab_use *use, const struct ab_role *role)
{
	uint32_t base = use->base[use->program->depth];
	struct ab_role plain = *role;

	if (ab_role_applies(use, role) && is_named(use, role))
		return true;
	plain.none = 0;
	return role->none == 1 && use->operand_count > base &&
	       ab_is_stdin_name(&use->words[use->operands[base]]) &&
	       ab_role_applies(use, &plain);
}

/* sh -s ARGS and sh /dev/stdin ARGS: "$0" and what stands behind it. */
static uint32_t stdin_args(const struct ab_use *use, const struct ab_role *role,
			   const struct ab_word **args)
{
	uint32_t base = use->base[use->program->depth], first;

	if (use->operand_count == base)
		return 0;
	first = use->operands[base];
	if (role->none != 1 || !ab_is_stdin_name(&use->words[first]))
		first--;
	*args = use->words + first;
	return use->count - first;
}

static void stdin_shell(struct ab_check *c, const struct ab_use *use,
			const struct ab_role *role)
{
	const struct ab_word *args = NULL;
	uint32_t count = stdin_args(use, role, &args);

	c->is_stdin_text = true;
	/* . /dev/stdin: the shell itself */
	ab_check_script(c, use->in_text, !use->program->is_builtin, args,
			count, NULL);
	c->is_stdin_text = false;
}

void ab_run_stdin(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	uint32_t taint = use->in_taint;

	if (!use->has_stdin || !reads_stdin(use, role))
		return;
	if (use->in_text)
		taint = ab_word_taint(use->in_text);
	else if (!taint && !(c->in_is_file &&
			     role->kind != AB_ROLE_STDIN_TEXT))
		taint = AB_TAINT_FILE;
	switch ((enum ab_role_kind)role->kind) {
	case AB_ROLE_STDIN_SHELL:
		if (use->in_text)
			stdin_shell(c, use, role);
		if (!use->in_text || !use->in_text->len)
			ab_check_flow(c, use, AB_SINK_SHELL, taint, NULL);
		else
			ab_check_flow(c, use, AB_SINK_SHELL,
				      part_taint(taint, 1), NULL);
		break;
	case AB_ROLE_STDIN_CODE:
		if (use->in_text)
			ab_run_code(c, use, role, use->in_text);
		ab_check_flow(c, use, AB_SINK_CODE, taint, NULL);
		break;
	case AB_ROLE_STDIN_TEXT:
		if (use->in_text)
			ab_check_text(c, role->text, use->in_text);
		/* a manifest says what is to be, and runs nothing here */
		if (!strcmp(role->text, "k8s"))
			break;
		if (!use->in_text || !use->in_text->len)
			ab_check_flow(c, use, AB_SINK_TEXT, taint, NULL);
		break;
	default:
		break;
	}
}
