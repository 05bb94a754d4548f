/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of tests/data/shell-run.jsonl: {in, out, status?}. out is one line per
 * command told: assignments, argv with | between words, redirections. A hole
 * is {kind name:bytes}, kind one of B bytes, F fields, P pattern, H home,
 * L likely, X process; + is a taint (the number of the command that wrote
 * it). Indented by the scopes around it. The visitor pushes the arguments of
 * eval and the second one of `sh -c`, as a guard would.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "shell/shell.h"

struct printer {
	FILE *out;
	int depth;
	uint32_t commands;
};

static char *memory;
static size_t memory_size;

static void print_word(FILE *out, const struct ab_word *w)
{
	static const char kinds[] = "?BFPHLX";
	uint32_t at = 0;

	for (uint32_t i = 0; i <= w->hole_count; i++) {
		const struct ab_hole *h =
			i < w->hole_count ? &w->holes[i] : NULL;
		uint32_t end = h ? h->at : w->len;

		for (; at < end; at++)
			if (w->text[at] == '\n')
				fputs("\\n", out);
			else
				fputc(w->text[at], out);
		if (!h)
			break;
		fprintf(out, "{%c%s", kinds[h->kind], h->name ? h->name : "");
		if (ab_hole_taint(h))
			fprintf(out, "+%u", ab_hole_taint(h));
		if (h->len)
			fprintf(out, ":%.*s", (int)h->len, w->text + h->at);
		fputc('}', out);
		at = h->at + h->len;
	}
}

static void print_redirs(FILE *out, const struct ab_shell_redir *r,
			 uint32_t count)
{
	static const char *const ops[] = { "",	 "<",  ">",  ">|", ">>",  "<>",
					   "&>", "&>>", "<&", ">&", "<<",
					   "<<<" };

	for (; count--; r++) {
		fprintf(out, " %d%s", r->fd, ops[r->kind]);
		print_word(out, &r->target);
	}
}

static int is(const struct ab_word *w, const char *text)
{
	return ab_word_is_exact(w) && w->len == strlen(text) &&
	       memcmp(w->text, text, w->len) == 0;
}

static void push_texts(struct ab_shell_run *run,
		       const struct ab_shell_command *c)
{
	struct ab_shell_text text = { 0 };

	if (c->argc > 1 && is(c->argv, "eval")) {
		ck_assert(ab_shell_join(run, c->argv + 1, c->argc - 1,
					&text.text));
		ab_shell_push(run, &text);
	} else if (c->argc > 2 && is(c->argv, "sh")) {
		text.text = c->argv[2];
		text.is_child = true;
		text.args = c->argv + 3;
		text.arg_count = c->argc - 3;
		ab_shell_push(run, &text);
	}
}

static enum ab_shell_answer print_command(void *user, struct ab_shell_run *run,
					  const struct ab_shell_command *c)
{
	static const char letters[] = "&!cmlesSdCagb";
	struct printer *p = user;
	FILE *out = p->out;

	p->commands++;
	fprintf(out, "%*s", p->depth, "");
	for (uint32_t i = 0; i < c->assign_count; i++) {
		fprintf(out, "%s%s", c->assigns[i].name,
			c->assigns[i].is_append ? "+=" : "=");
		for (uint32_t k = 0; k < c->assigns[i].value_count; k++) {
			fputs(k ? "," : "", out);
			print_word(out, &c->assigns[i].values[k]);
		}
		fputc(i + 1 < c->assign_count || c->argc ? ' ' : ';', out);
	}
	for (uint32_t i = 0; i < c->argc; i++) {
		fputs(i ? "|" : "", out);
		print_word(out, &c->argv[i]);
	}
	print_redirs(out, c->redirs, c->redir_count);
	if (c->place.flags) {
		fputs(" -", out);
		for (int i = 0; letters[i]; i++)
			if (c->place.flags & 1u << i)
				fputc(letters[i], out);
	}
	if (c->callee)
		fputs(" call", out);
	if (c->place.in && c->place.in->taint)
		fprintf(out, " <%u", c->place.in->taint);
	if (c->place.in && c->place.in->value) {
		fputs(" reads ", out);
		print_word(out, c->place.in->value);
	}
	if (c->place.out)
		c->place.out->taint = p->commands;
	fputc('\n', out);
	push_texts(run, c);
	return AB_SHELL_GO;
}

static enum ab_shell_answer print_begin(void *user, struct ab_shell_run *run,
					const struct ab_shell_scope *s)
{
	static const char *const names[] = {
		"",	"pipeline", "stage", "subshell", "group", "branch",
		"loop", "if",	    "case",  "subst",	 "def",	  "call",
		"text", "coproc",   "test",  "arith"
	};
	struct printer *p = user;

	(void)run;
	if (s->kind == AB_SCOPE_LOOP || s->kind == AB_SCOPE_CASE ||
	    s->kind == AB_SCOPE_TEST || s->kind == AB_SCOPE_ARITH ||
	    s->redir_count || s->kind == AB_SCOPE_PIPELINE ||
	    s->kind == AB_SCOPE_DEFINITION) {
		fprintf(p->out, "%*s%s:", p->depth, "", names[s->kind]);
		for (uint32_t i = 0; i < s->word_count; i++) {
			fputs(i ? "|" : " ", p->out);
			print_word(p->out, &s->words[i]);
		}
		print_redirs(p->out, s->redirs, s->redir_count);
		fputc('\n', p->out);
	}
	p->depth++;
	return AB_SHELL_GO;
}

static enum ab_shell_answer print_end(void *user, struct ab_shell_run *run,
				      const struct ab_shell_scope *s)
{
	struct printer *p = user;

	(void)run;
	(void)s;
	p->depth--;
	return AB_SHELL_GO;
}

static const struct ab_shell_context context = {
	.home = "/home/u", .home_len = 7, .cwd = "/srv/repo", .cwd_len = 9
};

static char *run_text(const char *in, size_t len,
		      struct ab_shell_result *result)
{
	static const struct ab_shell_visitor visitor = {
		.command = print_command,
		.begin = print_begin,
		.end = print_end
	};
	const struct ab_shell_tree *tree;
	struct printer p = { 0 };
	struct ab_arena arena;
	char *text = NULL;
	size_t size = 0;

	p.out = open_memstream(&text, &size);
	ab_arena_init(&arena, memory, memory_size);
	tree = ab_shell_parse(&arena, in, len, NULL, result);
	ab_shell_run(&arena, tree, &context, &visitor, &p, result);
	ck_assert(p.depth == 0 || result->status == AB_SHELL_LIMIT);
	fclose(p.out);
	return text;
}

static void check_row(const json_t *row, size_t number)
{
	static const char *const statuses[] = { "ok", "unterminated", "syntax",
						"limit", "stopped" };
	const json_t *in = json_object_get(row, "in");
	const char *status = json_string_value(json_object_get(row, "status"));
	const char *want = json_string_value(json_object_get(row, "out"));
	struct ab_shell_result result;
	char *text = run_text(json_string_value(in), json_string_length(in),
			      &result);

	ck_assert_msg(strcmp(text, want) == 0,
		      "row %zu: %s\n%s\ninstead of\n%s", number,
		      json_string_value(in), text, want);
	ck_assert_msg(strcmp(statuses[result.status],
			     status ? status : "ok") == 0,
		      "row %zu: %s", number, statuses[result.status]);
	free(text);
}

START_TEST(every_row_runs_as_written)
{
	char path[4096];
	char *line = NULL;
	size_t room = 0, rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/shell-run.jsonl",
		 ab_test_srcdir());
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

		rows++;
		ck_assert_msg(row != NULL, "row %zu is not JSON", rows);
		check_row(row, rows);
		json_decref(row);
	}
	ck_assert_uint_ge(rows, 100);
	free(line);
	fclose(f);
}
END_TEST

/* A text of `count` units, run; its status. */
static enum ab_shell_status run_many(const char *before, const char *unit,
				     size_t count)
{
	size_t len = strlen(before), n = strlen(unit);
	char *text = malloc(len + count * n + 1);
	struct ab_shell_result result;

	ck_assert(text != NULL);
	memcpy(text, before, len);
	for (size_t i = 0; i < count; i++, len += n)
		memcpy(text + len, unit, n);
	free(run_text(text, len, &result));
	free(text);
	return result.status;
}

START_TEST(what_is_too_deep_or_too_much_is_a_limit)
{
	ck_assert_int_eq(run_many("", "$(", 3000), AB_SHELL_LIMIT);
	ck_assert_int_eq(run_many("", "${x:-", 3000), AB_SHELL_LIMIT);
	ck_assert_int_eq(run_many("", "( ", 3000), AB_SHELL_LIMIT);
	ck_assert_int_eq(run_many("", "if a; then ", 3000), AB_SHELL_LIMIT);
	ck_assert_int_eq(run_many("x='eval \"$x\"';", "eval \"$x\";", 1),
			 AB_SHELL_LIMIT);
	ck_assert_int_eq(run_many("f(){ a; };", "f;", 100000),
			 AB_SHELL_LIMIT);
}
END_TEST

START_TEST(what_doubles_becomes_a_hole)
{
	ck_assert_int_eq(run_many("echo ", "{a,b}", 40), AB_SHELL_OK);
	ck_assert_int_eq(run_many("x=a;", "x=$x$x;", 1000), AB_SHELL_OK);
	ck_assert_int_eq(run_many("x=$(a);", "x=$x$x;", 1000), AB_SHELL_OK);
	ck_assert_int_eq(run_many("", "for i in a b c; do ", 20),
			 AB_SHELL_UNTERMINATED);
}
END_TEST

/* Every size of arena: an answer, and LIMIT unless it was enough. */
START_TEST(any_arena_is_enough_or_a_limit)
{
	static const char text[] =
		"a=1; x && a=2; b=1; x && b=2; c=1; x && c=2; $a $b $c; "
		"f(){ for i in a \"$@\"; do x=$(echo $i`b`); done; }; f c; "
		"sh -c 'echo \"$0\"' {1..9} | cat <<E\n$x ${y:-z}\nE\n"
		"cat <<A <<B <<C\nA\nB\nC\n";
	static const struct ab_shell_visitor visitor = {
		.command = print_command,
		.begin = print_begin,
		.end = print_end
	};
	size_t enough = 0;

	for (size_t size = 0; size < 60000; size += size < 4096 ? 8 : 200) {
		struct printer p = { 0 };
		struct ab_shell_result result;
		const struct ab_shell_tree *tree;
		struct ab_arena arena;
		char *room = malloc(size + 1), *out = NULL;
		size_t len;

		p.out = open_memstream(&out, &len);
		ab_arena_init(&arena, room, size);
		tree = ab_shell_parse(&arena, text, sizeof(text) - 1, NULL,
				      &result);
		ab_shell_run(&arena, tree, &context, &visitor, &p, &result);
		if (result.status != AB_SHELL_OK) {
			ck_assert_int_eq(result.status, AB_SHELL_LIMIT);
			ck_assert(arena.is_full && enough == 0);
		} else if (!enough) {
			enough = size;
		}
		fclose(p.out);
		free(out);
		free(room);
	}
	ck_assert_uint_gt(enough, 0);
}
END_TEST

static struct ab_span seen;

static enum ab_shell_answer find_rm(void *user, struct ab_shell_run *run,
				    const struct ab_shell_command *c)
{
	(void)user;
	if (c->argc && is(c->argv, "rm"))
		seen = ab_word_span(c->argv, 0, c->argv->len);
	push_texts(run, c);
	return AB_SHELL_GO;
}

/* Where the `rm` that runs was written: its first and last byte. */
static void check_span(const char *text, const char *want)
{
	static const struct ab_shell_visitor visitor = { .command = find_rm };
	struct ab_shell_result result;
	const struct ab_shell_tree *tree;
	struct ab_arena arena;
	char *got;

	memset(&seen, 0, sizeof(seen));
	ab_arena_init(&arena, memory, memory_size);
	tree = ab_shell_parse(&arena, text, strlen(text), NULL, &result);
	ab_shell_run(&arena, tree, &context, &visitor, NULL, &result);
	got = strndup(text + seen.begin, seen.end - seen.begin);
	ck_assert_msg(strcmp(got, want) == 0, "%s: '%s' instead of '%s'", text,
		      got, want);
	free(got);
}

START_TEST(a_span_leads_back_through_every_layer)
{
	check_span("a; rm b", "rm");
	check_span("a; r'm' b", "r'm");
	check_span("eval 'x; rm -rf /'", "rm");
	check_span("sh -c \"eval 'a; rm b'\"", "rm");
	check_span("sh -c \"$(printf 'r%s b' m)\"", "r%s b' m");
	check_span("x='rm b'; $x", "rm");
	check_span("`echo \\`echo rm\\``", "rm");
	check_span("$'\\x72m' b", "\\x72m");
	check_span("eval \"a\\\nb; rm c\"", "rm");
	check_span("cat <<E | sh\nrm b\nE\n", "");
}
END_TEST

static enum ab_shell_answer stop(void *user, struct ab_shell_run *run,
				 const struct ab_shell_command *c)
{
	(void)run;
	(void)c;
	return ++*(int *)user == 2 ? AB_SHELL_STOP : AB_SHELL_GO;
}

START_TEST(a_visitor_can_stop_the_run)
{
	static const struct ab_shell_visitor visitor = { .command = stop };
	static const char text[] = "a; b; c; d";
	struct ab_shell_result result;
	const struct ab_shell_tree *tree;
	struct ab_arena arena;
	int count = 0;

	ab_arena_init(&arena, memory, memory_size);
	tree = ab_shell_parse(&arena, text, sizeof(text) - 1, NULL, &result);
	ab_shell_run(&arena, tree, &context, &visitor, &count, &result);
	ck_assert_int_eq(count, 2);
	ck_assert_int_eq(result.status, AB_SHELL_STOPPED);
}
END_TEST

static enum ab_shell_answer own(void *user, struct ab_shell_run *run,
				const struct ab_shell_command *c)
{
	const struct ab_word *w = ab_shell_get(run, " cwd", 4, NULL);
	FILE *out = user;

	if (w)
		print_word(out, w);
	fputc(';', out);
	if (c->argc == 2 && is(c->argv, "cd"))
		ck_assert(ab_shell_set(run, " cwd", 4, &c->argv[1],
			     AB_SHELL_OWN));
	return AB_SHELL_GO;
}

START_TEST(a_visitors_own_variable_follows_subshells_and_joins)
{
	static const struct ab_shell_visitor visitor = { .command = own };
	static const char text[] =
		"x; cd a; x; (cd b; x); x; cd c | x; x; y && cd d; x";
	struct ab_shell_result result;
	const struct ab_shell_tree *tree;
	struct ab_arena arena;
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	ab_arena_init(&arena, memory, memory_size);
	tree = ab_shell_parse(&arena, text, sizeof(text) - 1, NULL, &result);
	ab_shell_run(&arena, tree, &context, &visitor, f, &result);
	fclose(f);
	ck_assert_str_eq(out, ";;a;a;b;a;a;a;a;a;a;{B cwd};");
	free(out);
}
END_TEST

/* The table is searched from where the first byte begins in it. */
START_TEST(every_builtin_is_found_by_its_name_alone)
{
	static const char names[][10] = {
		".",	     ":",	 "[",	   "alias",   "break",
		"builtin",   "cat",	 "cd",	   "command", "continue",
		"declare",   "echo",	 "eval",   "exit",    "export",
		"false",     "getopts",	 "let",	   "local",   "mapfile",
		"popd",	     "printf",	 "pushd",  "pwd",     "read",
		"readarray", "readonly", "return", "set",     "shift",
		"shopt",     "sleep",	 "source", "test",    "trap",
		"true",	     "type",	 "typeset", "unset",  "wait",
		"which",
	};
	uint64_t found = 0;

	ck_assert_uint_eq(sizeof(names) / sizeof(*names), AB_BUILTIN_WHICH);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);
		enum ab_builtin builtin = ab_shell_builtin_of(names[i], n);
		char more[12];

		ck_assert_uint_ne(builtin, AB_BUILTIN_NONE);
		found |= UINT64_C(1) << builtin;
		memcpy(more, names[i], n);
		more[n] = 'x';
		ck_assert_uint_eq(ab_shell_builtin_of(more, n + 1),
				  AB_BUILTIN_NONE);
		ck_assert_uint_ne(ab_shell_builtin_of(names[i], n - 1),
				  builtin);
	}
	ck_assert_int_eq(__builtin_popcountll(found), AB_BUILTIN_WHICH);
	ck_assert_uint_eq(ab_shell_builtin_of("Echo", 4), AB_BUILTIN_NONE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shell_run");
	TCase *tc = tcase_create("run");
	SRunner *runner = srunner_create(s);
	int failed;

	memory_size = AB_SHELL_ARENA(1 << 18);
	memory = malloc(memory_size);
	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_row_runs_as_written);
	tcase_add_test(tc, what_is_too_deep_or_too_much_is_a_limit);
	tcase_add_test(tc, what_doubles_becomes_a_hole);
	tcase_add_test(tc, any_arena_is_enough_or_a_limit);
	tcase_add_test(tc, a_span_leads_back_through_every_layer);
	tcase_add_test(tc, a_visitor_can_stop_the_run);
	tcase_add_test(tc, every_builtin_is_found_by_its_name_alone);
	tcase_add_test(tc, a_visitors_own_variable_follows_subshells_and_joins);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	free(memory);
	return failed ? 1 : 0;
}
