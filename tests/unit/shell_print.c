/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "shell_print.h"

static void print_list(FILE *out, const unsigned char *s,
		       const struct cmd *list);
static void print_words(FILE *out, const unsigned char *s,
			const struct word *words, const char *between);

static void raw(FILE *out, const unsigned char *s, uint32_t begin,
		uint32_t end)
{
	for (uint32_t i = begin; i < end; i++)
		if (s[i] == '\n')
			fputs("\\n", out);
		else
			fputc(s[i], out);
}

static void print_param(FILE *out, const unsigned char *s,
			const struct param *param)
{
	static const char *const ops[] = {
		"",   "-",  "=",  "?",	"+", "#",  "##", "%", "%%", "/",
		"//", "/#", "/%", "^", "^^", ",", ",,", "~", "~~", ":", "@",
		"len", "names", "bad"
	};

	fputs(param->is_indirect ? "${!" : "${", out);
	raw(out, s, param->name, param->name + param->name_len);
	if (param->op) {
		fputs(param->has_colon ? " :" : " ", out);
		fputs(ops[param->op], out);
	}
	if (param->op == OP_AT)
		fputc(param->letter, out);
	fputs(param->has_index || !param->has_args ? "" : " ", out);
	if (!param->has_args && !param->has_index)
		fputc('}', out);
}

/* Text in double quotes: the stretches between what is taken off. */
static void print_escaped(FILE *out, const unsigned char *s,
			  const struct part *p)
{
	for (uint32_t at = p->begin, from; at < p->end;) {
		from = at += ab_tree_is_escape(s + at);
		do {
			at++;
		} while (at < p->end && !ab_tree_is_escape(s + at));
		fputc('\'', out);
		raw(out, s, from, at);
		fputc('\'', out);
	}
}

/* What closes the parts that a part opens; one stack for all of a word. */
static const struct part *print_part(FILE *out, const unsigned char *s,
				     const struct part *p, const char **stack,
				     int *depth)
{
	switch ((enum part_kind)p->kind) {
	case PART_TEXT:
		if (p->escapes) {
			print_escaped(out, s, p);
			break;
		}
		if (p->flags & PART_QUOTED)
			fputc('\'', out);
		raw(out, s, p->begin, p->end);
		if (p->flags & PART_QUOTED)
			fputc('\'', out);
		break;
	case PART_ANSI:
		fputs("$'", out);
		raw(out, s, p->begin, p->end);
		fputc('\'', out);
		break;
	case PART_PARAM:
		print_param(out, s, p->u.param);
		if (p->u.param->has_args || p->u.param->has_index)
			stack[(*depth)++] = "}";
		break;
	case PART_SEP:
		fputs(" / ", out);
		break;
	case PART_INDEX:
		fputc('[', out);
		stack[(*depth)++] = "]";
		break;
	case PART_COMMAND:
		fputs("$(", out);
		print_list(out, s, p->u.list);
		fputc(')', out);
		break;
	case PART_BACKQUOTE:
		fputc('`', out);
		raw(out, s, p->begin, p->end);
		fputc('`', out);
		break;
	case PART_FUNSUB:
		fputs("${|", out);
		raw(out, s, p->begin, p->end);
		fputc('}', out);
		break;
	case PART_ARITH:
		fputs("$((", out);
		stack[(*depth)++] = "))";
		break;
	case PART_PROC_IN:
	case PART_PROC_OUT:
		fputs(p->kind == PART_PROC_IN ? "<(" : ">(", out);
		print_list(out, s, p->u.list);
		fputc(')', out);
		break;
	case PART_ARRAY:
		fputc('(', out);
		print_words(out, s, p->u.words, " ");
		fputc(')', out);
		break;
	case PART_ASSIGN:
		fputs("::", out);
		break;
	case PART_HOLE:
		fputc('?', out);
		break;
	case PART_END:
		if (*depth)
			fputs(stack[--*depth], out);
		break;
	}
	return p->next;
}

static void print_word(FILE *out, const unsigned char *s,
		       const struct word *w)
{
	const char *stack[1024];
	int depth = 0;

	if (!w->parts) {
		if (w->assign) {
			raw(out, s, w->begin, w->begin + w->assign);
			fputs("::", out);
		}
		raw(out, s, w->begin + w->assign, w->end);
		return;
	}
	for (const struct part *p = w->parts; p;) {
		const struct part *at = p;

		p = print_part(out, s, p, stack, &depth);
		/* a subscript was the last thing inside of ${x[1]} */
		if (at->kind == PART_END && depth &&
		    stack[depth - 1][0] == '}' && s[at->begin] == ']' &&
		    s[at->begin + 1] == '}') {
			depth--;
			fputc('}', out);
		}
	}
	while (depth)
		fputs(stack[--depth], out);
}

static void print_words(FILE *out, const unsigned char *s,
			const struct word *words, const char *between)
{
	for (const struct word *w = words; w; w = w->next) {
		print_word(out, s, w);
		if (w->next)
			fputs(between, out);
	}
}

static void print_redirs(FILE *out, const unsigned char *s,
			 const struct redir *redirs)
{
	static const char *const ops[] = { "",	 "<",  ">",  ">|", ">>",  "<>",
					   "&>", "&>>", "<&", ">&", "<<",
					   "<<<" };

	for (const struct redir *r = redirs; r; r = r->next) {
		fputc(' ', out);
		if (r->fd < 0) {
			fputc('{', out);
			raw(out, s, r->fd_name, r->fd_name + r->fd_name_len);
			fputc('}', out);
		} else {
			fprintf(out, "%d", r->fd);
		}
		fputs(ops[r->kind], out);
		if (r->kind != AB_REDIR_HERE_DOC) {
			print_word(out, s, &r->target);
			continue;
		}
		fputs(r->is_stripped ? "-" : "", out);
		fputs(r->is_quoted ? "'" : "\"", out);
		raw(out, s, r->body, r->body_end);
		fputs(r->is_quoted ? "'" : "\"", out);
	}
}

static void print_clauses(FILE *out, const unsigned char *s,
			  const struct cmd *c, const char *words[3])
{
	for (const struct clause *k = c->clauses; k; k = k->next) {
		fputs(k->cond ? words[k == c->clauses ? 0 : 1] : "", out);
		print_list(out, s, k->cond);
		fputs(k->cond ? words[2] : "; else ", out);
		print_list(out, s, k->body);
	}
}

static void print_case(FILE *out, const unsigned char *s, const struct cmd *c)
{
	static const char *const terms[] = { ";;", ";&", ";;&" };

	fputs("case ", out);
	print_words(out, s, c->words, " ");
	for (const struct clause *k = c->clauses; k; k = k->next) {
		fputc(' ', out);
		print_words(out, s, k->words, "|");
		fputs(") ", out);
		print_list(out, s, k->body);
		fputs(terms[k->term], out);
	}
}

static void print_cmd(FILE *out, const unsigned char *s, const struct cmd *c)
{
	static const char *ifs[] = { "if ", "; elif ", "; then " };
	static const char *whiles[] = { "while ", "", "; do " };
	static const char *untils[] = { "until ", "", "; do " };
	static const char *const kinds[] = {
		[CMD_SIMPLE] = "[",  [CMD_SUBSHELL] = "(", [CMD_GROUP] = "{",
		[CMD_COND] = "[[ ",  [CMD_ARITH] = "((",
		[CMD_FUNCTION] = "(def ",
	};
	static const char *const ends[] = {
		[CMD_SIMPLE] = "]", [CMD_GROUP] = "}",
		[CMD_COND] = " ]]", [CMD_ARITH] = "))", [CMD_ARITH + 1] = "" };

	fputs(c->flags & CMD_TIME ? "time " : "", out);
	fputs(c->flags & CMD_BANG ? "! " : "", out);
	fputs(c->flags & CMD_COPROC ? "coproc " : "", out);
	fputs(kinds[c->kind] ? kinds[c->kind] : "(", out);
	if (c->kind == CMD_IF)
		print_clauses(out, s, c, ifs);
	else if (c->kind == CMD_WHILE)
		print_clauses(out, s, c, whiles);
	else if (c->kind == CMD_UNTIL)
		print_clauses(out, s, c, untils);
	else if (c->kind == CMD_CASE)
		print_case(out, s, c);
	else {
		static const char *const names[] = { [CMD_FOR] = "for ",
						     [CMD_SELECT] = "select ",
						     [CMD_CFOR] = "for ((" };

		if (c->kind >= CMD_FOR && c->kind <= CMD_CFOR)
			fputs(names[c->kind], out);
		if (c->kind != CMD_SUBSHELL && c->kind != CMD_GROUP)
			raw(out, s, c->name, c->name + c->name_len);
		fputs(c->flags & CMD_HAS_WORDS ? " in " : "", out);
		print_words(out, s, c->words, " ");
		if (c->kind == CMD_CFOR)
			fputs("))", out);
		if (c->clauses && c->kind >= CMD_FOR)
			fputs(c->kind == CMD_FUNCTION ? " " : "; do ", out);
		if (c->clauses)
			print_list(out, s, c->clauses->body);
	}
	if (c->kind != CMD_SIMPLE)
		fputs(ends[c->kind] ? ends[c->kind] : ")", out);
	print_redirs(out, s, c->redirs);
	if (c->kind == CMD_SIMPLE)
		fputs("]", out);
}

static void print_list(FILE *out, const unsigned char *s,
		       const struct cmd *list)
{
	static const char *const ops[] = { "", "; ", " & ", " && ", " || ",
					   " | ", " |& " };

	for (const struct cmd *c = list; c; c = c->next) {
		print_cmd(out, s, c);
		if (c->next || c->op == CMD_OP_AMP)
			fputs(c->op ? ops[c->op] : " !! ", out);
	}
}

void shell_print(FILE *out, const struct ab_shell_tree *tree)
{
	print_list(out, tree->text, tree->list);
}
