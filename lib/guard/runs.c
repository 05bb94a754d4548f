/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command runs in turn: texts for shells, inline programs, statements,
 * and what its stdin brings. wrap.c has the commands behind wrappers, and
 * formats.c what a text of each format is judged by.
 *
 * Refuses to push texts without an end: what is too much, of one parallel too,
 * is denied.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

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
				    .source = c->source,
				    .source_len = c->source_len,
				    .len = len };
	chain->is_image = c->is_image || (c->chain && c->chain->is_image);
	chain->is_part = ab_check_is_part(c);
	chain->is_later = c->when == AB_SHELL_LATER ||
			  (c->chain && c->chain->is_later);
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

static void look_for_exports(struct ab_check *c, const struct ab_use *use)
{
	if (use->held && use->held->has_exports)
		return;
	ab_defined_export(c, use->words, use->count);
	if (use->held)
		use->held->has_exports = true;
}

static bool is_one_of(const struct ab_use *use, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; use && use->count && i < count; i++) {
		if (ab_word_equals(use->words, names[i]))
			return true;
	}
	return false;
}

/* It reads the text as bash does, whatever `sh` is; zsh's echo is dash's. */
static bool is_bash(const struct ab_use *use)
{
	static const char *const names[] = { "bash", "/bin/bash",
					     "/usr/bin/bash" };

	for (uint32_t i = 1; use && i < use->count && i < 4; i++) {
		if (ab_word_equals(&use->words[i], "--posix") ||
		    ab_word_equals(&use->words[i], "posix"))
			return false;
	}
	return is_one_of(use, names, AB_ARRAY_LEN(names));
}

/* echo / | read x: it sets x. */
static bool is_ksh(const struct ab_use *use)
{
	static const char *const names[] = {
		"zsh", "/bin/zsh", "/usr/bin/zsh", "ksh",
		"/bin/ksh", "/usr/bin/ksh", "ksh93", "rksh",
	};

	return is_one_of(use, names, AB_ARRAY_LEN(names));
}

void ab_check_script(struct ab_check *c, const struct ab_word *text,
		     bool is_child, const struct ab_word *args,
		     uint32_t arg_count, const char *how)
{
	struct ab_shell_text push = { .text = *text, .is_child = is_child,
				      .args = args, .arg_count = arg_count,
				      .is_perhaps = c->is_perhaps,
				      .when = c->when,
				      .is_part = c->is_part };
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
	if (is_child || c->own_in)
		push.in = own_stdin(c);
	/* $PWD and all that is relative in it */
	ab_check_want_cwd(c);
	if (how)
		chain = add_chain(c, how, (uint32_t)strlen(how));
	else if (c->use && c->use->program)
		chain = add_chain(c, c->use->program->name,
				  c->use->program->name_len);
	else if (AB_UNLIKELY(c->is_part))
		chain = add_chain(c, "sh", 2);
	push.tag = (void *)(uintptr_t)chain;
	push.is_bash = is_child && is_bash(c->use);
	if (is_child && is_ksh(c->use))
		ab_shell_note_option(c->run, AB_SHELL_LASTPIPE);
	/* bash -a, bash -o allexport */
	if (is_child && c->use)
		look_for_exports(c, c->use);
	if (!ab_shell_push(c->run, &push))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, text);
}

/* A value that is no command, but whose $(...) is run where arithmetic comes
   across it: in a subshell, or what looks like NAME=VALUE in it would set the
   name to something else. */
void ab_run_embedded(struct ab_check *c, const struct ab_word *w)
{
	char *text = ab_check_alloc(c, (size_t)w->len + 3);
	struct ab_hole *holes = ab_check_alloc(
		c, (size_t)(w->hole_count + 1) * sizeof(*holes));
	struct ab_word sub = { .text = text, .len = w->len + 3,
			       .holes = holes, .hole_count = w->hole_count,
			       .span = w->span };

	if (!text || !holes)
		return;
	*text = '(';
	memcpy(text + 1, w->text, w->len);
	memcpy(text + 1 + w->len, "\n)", 2);
	for (uint32_t i = 0; i < w->hole_count; i++) {
		holes[i] = w->holes[i];
		holes[i].at++;
	}
	ab_check_script(c, &sub, false, NULL, 0, NULL);
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

/* --pipe, --pipepart, --spreadstdin: what is on stdin goes to the command's. */
static bool gives_stdin(const struct ab_use *use, uint32_t first)
{
	for (uint32_t i = 1; i < first; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len >= 6 && (!memcmp(w->text, "--pipe", 6) ||
				    !memcmp(w->text, "--spre", 6)))
			return true;
	}
	return false;
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

/* ::: a b, and :::: FILE */
static bool is_group(const struct ab_word *w)
{
	return w->len >= 3 && !memcmp(w->text, ":::", 3);
}

/* find / | parallel rm: words, and the names that come from somebody, as of
   xargs. */
static bool is_like_xargs(const struct ab_use *use, uint32_t first)
{
	if (use->in_text || has_arg_file(use, first))
		return false;
	for (uint32_t i = first; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (memchr(w->text, ' ', w->len) || is_group(w))
			return false;
	}
	return true;
}

/* echo x; parallel 'cmd {}' ::: a b: the commands are one text each. Without
   a ::: the lines of stdin. */
static void run_parallel(struct ab_check *c, const struct ab_use *use,
			 uint32_t first)
{
	uint32_t end = first, tried = 0, at = 0;
	const struct ab_word *in = use->in_text;
	struct ab_word *all, text;
	bool is_file = false;

	while (end < use->count && !is_group(&use->words[end]))
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
		if (i < use->count && is_group(&use->words[i]))
			continue;
		if (i < use->count && is_group(&use->words[i - 1]))
			is_file = use->words[i - 1].len > 3 &&
				  use->words[i - 1].text[3] == ':';
		if (i < use->count && !is_file)
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
	if (AB_UNLIKELY(use->program->is_builtin))
		ab_callback(c, use, &text);
	ab_check_script(c, w, !is_eval, args, args ? n + 1 : 0, NULL);
	c->when = AB_SHELL_NOW;
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
		if (!strcmp(use->program->name, "trap")) {
			ab_trap_set(c, w, use->count - rest + 1);
			return;
		}
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
		if (gives_stdin(use, first))
			ab_check_words(c, use->words + first,
				       use->count - first, use->in_taint,
				       use->in_text, use->has_stdin);
		else if (is_like_xargs(use, first))
			ab_wrap_xargs(c, use, use->words + first,
				      use->count - first);
		run_parallel(c, use, first);
		return;
	}
	if (!strcmp(use->program->name, "alias")) {
		/* what it does is done where it is called */
		c->when = AB_SHELL_LAST;
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
		c->when = AB_SHELL_NOW;
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
	/* tmux new sh -c TEXT: more than one word is run as it is */
	if (AB_UNLIKELY(use->program->has_commands) && use->count - first > 1)
		ab_run_words(c, use, use->words + first, use->count - first);
	if (sets_quoted(use, first))
		ab_check_script(c, &text, false, NULL, 0, NULL);
	else
		shell_word(c, use, role, &text);
}

static void text_word(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *w)
{
	ab_check_flow(c, use, AB_SINK_TEXT,
		      part_taint(ab_word_taint(w),
				 !ab_text_opens(w, role->text)), w);
	ab_check_text(c, role->text, w);
	if (AB_UNLIKELY(!strcmp(role->text, "escape")))
		ab_check_transfer(c, use, w);
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
static bool is_named(const struct ab_check *c, const struct ab_use *use,
		     const struct ab_role *role)
{
	bool has_value = false;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		struct ab_word w = use->words[v->word];

		if (!(role->need & (UINT64_C(1) << v->group)))
			continue;
		w.text += v->at;
		w.len -= v->at;
		if (w.hole_count || ab_is_stdin_name(&w) || c->has_stdin_link)
			return true;
		has_value = true;
	}
	return !has_value;
}

/* A file may be a link to it. */
static bool reads_stdin(const struct ab_check *c, const struct ab_use *use,
			const struct ab_role *role)
{
	uint32_t base = use->base[use->program->depth];
	struct ab_role plain = *role;

	if (ab_role_applies(use, role) && is_named(c, use, role))
		return true;
	plain.none = 0;
	return role->none == 1 && use->operand_count > base &&
	       (c->has_stdin_link ||
		ab_is_stdin_name(&use->words[use->operands[base]])) &&
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

/* Python and node read to the end before they run anything: to what they start
   nothing is left. */
static void stdin_code(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	static const struct ab_word nothing = { .text = "" };
	bool is_over = !strcmp(role->text, "python") ||
		       !strcmp(role->text, "js");
	const struct ab_use *outer = c->use;
	struct ab_use own = *use;

	if (is_over) {
		own.in_text = &nothing;
		own.in_taint = 0;
		c->use = &own;
	}
	ab_run_code(c, &own, role, use->in_text);
	c->use = outer;
}

/* `if x; then echo 'drop table a;'; fi | psql`, `{ cat x; echo ...; } | psql`:
   what is known of it is perhaps read, and more may be. */
static void stdin_part(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	const struct ab_word *part = c->command ? ab_part_in(c->command) : NULL;
	bool was_part = c->is_part, was_perhaps = c->is_perhaps;
	struct ab_use own = *use;

	if (AB_LIKELY(!part))
		return;
	own.in_text = part;
	c->is_part = c->is_perhaps = true;
	if (role->kind == AB_ROLE_STDIN_CODE)
		stdin_code(c, &own, role);
	else
		ab_check_text(c, role->text, part);
	c->is_part = was_part;
	c->is_perhaps = was_perhaps;
}

void ab_run_stdin(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	/* what made it is a filter, also where it is known what that made */
	uint32_t made = use->in_taint & (AB_TAINT_DECODE | AB_TAINT_PICK);
	uint32_t taint = use->in_taint;

	if (!use->has_stdin || !reads_stdin(c, use, role))
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
				      part_taint(taint, 1) | made, NULL);
		break;
	case AB_ROLE_STDIN_CODE:
		if (role->format == AB_FORMAT_LISTED) {
			ab_list_read(c, use, NULL);
			break;
		}
		if (use->in_text)
			stdin_code(c, use, role);
		else
			stdin_part(c, use, role);
		/* what is compiled does not run yet */
		if (role->format != AB_FORMAT_SOURCE)
			ab_check_flow(c, use, AB_SINK_CODE, taint | made,
				      NULL);
		break;
	case AB_ROLE_STDIN_TEXT:
		if (use->in_text)
			ab_check_text(c, role->text, use->in_text);
		else
			stdin_part(c, use, role);
		if (use->in_text && !strcmp(role->text, "escape"))
			ab_check_transfer(c, use, use->in_text);
		if (!ab_is_statements(role))
			break;
		if (use->in_text && ab_text_opens(use->in_text, role->text))
			taint |= ab_word_taint(use->in_text);
		else if (use->in_text && !c->in_is_loose)
			break;
		taint |= c->in_is_loose ? AB_TAINT_FILE : 0;
		ab_check_flow(c, use, AB_SINK_TEXT, taint, NULL);
		break;
	default:
		break;
	}
}
