/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line, read by the tables of commands.c: exact names only,
 * "--name value" or "--name=value", "--" ends the options. What is not in
 * the tables is an error with the nearest name, never a guess.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "tool.h"

#define LONGEST_NAME 32

/* `message` is taken; it is told when the words are all read. */
static int wrong(tool_args *args, const char *group, const char *name,
		 char *message)
{
	args->wrong = message ? message : strdup("out of memory");
	args->wrong_group = group;
	args->wrong_name = name;
	return TOOL_USAGE;
}

static int wrong_use(tool_args *args, char *message)
{
	const tool_command *c = args->command;

	return wrong(args, c ? c->group : NULL, c ? c->name : "", message);
}

static int tell(tool *t, const char *group, const char *name,
		const char *message)
{
	tool_usage(t, message ? message : "out of memory");
	text_note("see agentbox %s%s%s%s--help", group ? group : "",
		  group ? " " : "", name, *name ? " " : "");
	return TOOL_USAGE;
}

static int tell_wrong(tool *t, const tool_args *args)
{
	return tell(t, args->wrong_group, args->wrong_name, args->wrong);
}

/* "check argv: CMD is missing"; of `operand` the first word. */
static char *lacking(const tool_command *c, const char *operand)
{
	return text_format("%s%s%s: %.*s is missing", c->group ? c->group : "",
			   c->group ? " " : "", c->name,
			   (int)strcspn(operand, " "), operand);
}

int tool_lacks(tool *t, const tool_args *args, const char *operand)
{
	const tool_command *c = args->command;
	char *message = lacking(c, operand);
	int rc = tell(t, c->group, c->name, message);

	free(message);
	return rc;
}

/* Edits from a to b; both are short names of ours or cut to be. */
static int distance(const char *a, const char *b)
{
	int row[LONGEST_NAME + 1];
	int n = (int)strnlen(b, LONGEST_NAME);

	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 1; i <= LONGEST_NAME && a[i - 1]; i++) {
		int diagonal = row[0];
		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int change = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			int gap = 1 + (row[j - 1] < row[j] ? row[j - 1]
							   : row[j]);
			row[j] = change < gap ? change : gap;
		}
	}
	return row[n];
}

typedef struct nearest {
	const char *word, *name;
	int best;
} nearest;

static void consider(nearest *n, const char *name)
{
	int d = distance(n->word, name);
	int most = (int)strlen(name) / 3 + 1;

	/* A beginning of the name is near whatever its length. */
	if (strlen(n->word) > 2 && !strncmp(n->word, name, strlen(n->word)))
		d = 0;
	if (d <= most && d < n->best) {
		n->best = d;
		n->name = name;
	}
}

static const tool_option *find_in(const tool_option *table, const char *name,
				  size_t n)
{
	for (; table->name; table++)
		if (strlen(table->name) == n && !memcmp(table->name, name, n))
			return table;
	return NULL;
}

static const tool_option *find_option(const tool_command *c, const char *name,
				      size_t n)
{
	const tool_option *o = c ? find_in(c->options, name, n) : NULL;

	if (!o && n == 2 && !memcmp(name, "-h", 2))
		return find_in(tool_global_options, "--help", 6);
	return o ? o : find_in(tool_global_options, name, n);
}

static int unknown_option(tool_args *args, const char *word)
{
	const tool_command *c = args->command;
	size_t n = strcspn(word, "=");
	char *name = strndup(word, n);
	nearest near = { .word = name ? name : "", .best = 99 };
	char *message = NULL;

	for (const tool_option *o = tool_global_options; o->name; o++)
		consider(&near, o->name);
	for (const tool_option *o = c ? c->options : NULL; o && o->name; o++)
		consider(&near, o->name);
	message = near.name ? text_format("unknown option '%s'; did you mean "
					  "'%s'?", near.word, near.name)
		  : text_format("unknown option '%s'", near.word);
	free(name);
	return wrong_use(args, message);
}

/* "[=MODE]": the value is given with "=", or not at all. */
static bool may_lack_value(const tool_option *o)
{
	return o->argument && o->argument[0] == '[';
}

/* Options are few, so room for every word of argv is room enough. */
static int take_option(tool_args *args, int argc, char **argv, int *at)
{
	const char *word = argv[*at];
	size_t n = strcspn(word, "=");
	const tool_option *o = find_option(args->command, word, n);
	const char *value = word[n] ? word + n + 1 : NULL;
	char *message = NULL;

	if (!o)
		return unknown_option(args, word);
	if (!o->argument && value)
		message = text_format("option '%s' takes no value", o->name);
	else if (o->argument && !value && !may_lack_value(o) &&
		 *at + 1 >= argc)
		message = text_format("option '%s' needs %s", o->name,
				      o->argument);
	else if (!(o->flags & TOOL_REPEAT) && o->argument &&
		 tool_has(args, o->name))
		message = text_format("option '%s' is given twice", o->name);
	if (message)
		return wrong_use(args, message);
	if (o->argument && !value && !may_lack_value(o))
		value = argv[++*at];
	args->values[args->value_count++] =
		(tool_value){ o, value ? value : "" };
	return -1;
}

static bool group_exists(const char *word)
{
	for (const tool_command *c = tool_commands; c->name; c++)
		if (c->group && !strcmp(c->group, word))
			return true;
	return false;
}

static const tool_command *find_command(const char *group, const char *name)
{
	for (const tool_command *c = tool_commands; c->name; c++) {
		if ((group == NULL) != (c->group == NULL))
			continue;
		if (!strcmp(c->name, name) &&
		    (!group || !strcmp(group, c->group)))
			return c;
	}
	return NULL;
}

/* The names at this place, for an error: once each, in table order. */
static char *names_of(const char *group, nearest *near)
{
	char *list = strdup("");
	const char *last = "";

	for (const tool_command *c = tool_commands; c->name && list; c++) {
		const char *name = c->name;
		if (group ? !c->group || strcmp(c->group, group) : false)
			continue;
		if (!group && c->group)
			name = c->group;
		if (!strcmp(name, last))
			continue;
		last = name;
		consider(near, name);
		char *grown = text_format("%s%s%s", list, *list ? ", " : "",
					  name);
		free(list);
		list = grown;
	}
	return list;
}

static int unknown_command(tool_args *args, const char *group,
			   const char *word)
{
	nearest near = { .word = word ? word : "", .best = 99 };
	char *names = names_of(group, &near);
	char *what = word ? text_format("unknown command '%s%s%s'",
					group ? group : "", group ? " " : "",
					word)
		     : group ? text_format("'%s' needs a command", group)
			     : text_format("a command is needed");
	char *message = text_format("%s%s%s%s; there are: %s",
				    what ? what : "",
				    word && near.name ? "; did you mean '" : "",
				    word && near.name ? near.name : "",
				    word && near.name ? "'?" : "",
				    names ? names : "");

	/* "?;" reads badly: the question ends the sentence. */
	char *seam = message ? strstr(message, "?; there") : NULL;
	if (seam)
		memmove(seam + 1, seam + 2, strlen(seam + 2) + 1);
	free(names);
	free(what);
	return wrong(args, group, "", message);
}

static void help_options(const tool_option *table)
{
	for (; table->name; table++) {
		bool gap = table->argument && !may_lack_value(table);
		char *label = text_format("  %s%s%s", table->name,
					  gap ? " " : "", table->argument
					  ? table->argument : "");
		if (label)
			text_item(stdout, 26, TEXT_PLAIN, label, table->help);
		free(label);
	}
}

static void help_commands(const char *group)
{
	for (const tool_command *c = tool_commands; c->name; c++) {
		if (group && (!c->group || strcmp(c->group, group)))
			continue;
		char *label = text_format("  %s%s%s", c->group ? c->group : "",
					  c->group ? " " : "", c->name);
		if (label)
			text_item(stdout, 20, TEXT_BOLD, label, c->summary);
		free(label);
	}
}

static void help_examples(const char *lines)
{
	text_item(stdout, 0, TEXT_BOLD, "Examples:", "");
	while (*lines) {
		int n = (int)strcspn(lines, "\n");
		printf("  %.*s\n", n, lines);
		lines += n + 1;
	}
}

/* What was printed has arrived, or it is told that not. */
static int printed(void)
{
	bool bad = ferror(stdout) != 0;

	if (fflush(stdout) == 0 && !bad)
		return TOOL_OK;
	char *line = text_format("cannot write standard output: %s",
				 strerror(errno));
	text_error(line ? line : "cannot write standard output");
	free(line);
	return TOOL_INTERNAL;
}

static int help(const tool_command *c, const char *group)
{
	text_begin(stdout);
	if (c) {
		text_line(stdout, "usage: agentbox %s%s%s [options]%s%s",
			  c->group ? c->group : "", c->group ? " " : "",
			  c->name, *c->synopsis ? " " : "", c->synopsis);
		putchar('\n');
		text_line(stdout, "%s.", c->summary);
		if (c->detail)
			text_line(stdout, "%s", c->detail);
		if (c->options->name) {
			text_item(stdout, 0, TEXT_BOLD, "Options:", "");
			help_options(c->options);
		}
	} else {
		text_line(stdout, "usage: agentbox %s [options] ...",
			  group ? group : "COMMAND");
		if (!group)
			text_line(stdout, "Kernel walls around the programs "
				  "of AI agents.");
		text_item(stdout, 0, TEXT_BOLD, "Commands:", "");
		help_commands(group);
	}
	text_item(stdout, 0, TEXT_BOLD, "Options everywhere:", "");
	help_options(tool_global_options);
	if (c && c->example)
		help_examples(c->example);
	text_line(stdout, "Manual: agentbox(1); what it protects from and what "
		  "not: agentbox(7).");
	return printed();
}

/* Rows: command, option or operand, argument, how to complete, help. */
static void list_rows(const char *path, const tool_option *table)
{
	for (; table->name; table++)
		printf("%s\t%s\t%s\t%s\t%s\n", path, table->name,
		       table->argument ? table->argument : "",
		       table->complete, table->help);
}

static int list_tables(void)
{
	list_rows("", tool_global_options);
	for (const tool_command *c = tool_commands; c->name; c++) {
		char *path = text_format("%s%s%s", c->group ? c->group : "",
					 c->group ? " " : "", c->name);
		if (!path)
			return TOOL_INTERNAL;
		printf("%s\t\t%s\t%s\t%s\n", path, c->synopsis, c->complete,
		       c->summary);
		list_rows(path, c->options);
		free(path);
	}
	for (size_t i = 0; agentbox_policy_builtin_name(i); i++)
		printf("\tbuiltin\t%s\t\t\n", agentbox_policy_builtin_name(i));
	return printed();
}

static int version(tool *t)
{
	if (t->json)
		return tool_print_json(t, json_pack("{s:s, s:s}", "version",
						    agentbox_version(), "build",
						    agentbox_build_id()));
	printf("agentbox %s (build %s)\n", agentbox_version(),
	       agentbox_build_id());
	return printed();
}

/* What answers without running anything. */
static int answered(tool *t, const tool_args *args, const char *group)
{
	if (args->is_help || tool_has(args, "--help"))
		return help(args->command, group);
	if (tool_has(args, "--version"))
		return version(t);
	if (tool_has(args, "--list-options"))
		return list_tables();
	return -1;
}

/* The word for operand `n` in the synopsis; what is in brackets is optional. */
static const char *operand_name(const tool_command *c, int n)
{
	const char *word = c->synopsis;

	while (*word == '[' || n-- > 0) {
		word += strcspn(word, " ");
		word += *word == ' ';
	}
	return word;
}

static int check_operands(tool *t, tool_args *args)
{
	const tool_command *c = args->command;
	int min = tool_has(args, "--dry-run") ? 0 : c->min;

	for (size_t i = 0; i < args->value_count; i++) {
		const tool_option *o = args->values[i].option;
		if (o->flags & TOOL_NOT_YET)
			return tool_refuse(t, TOOL_NO_BOX, "EUNSUPPORTED",
					   o->name, "%s", o->refusal);
	}
	if (args->operand_count < min) {
		return wrong_use(args, lacking(
			c, operand_name(c, args->operand_count)));
	}
	if (c->max >= 0 && args->operand_count > c->max) {
		char *m = text_format(c->max ? "%s%s%s: '%s' is one operand too many"
				      : "%s%s%s: '%s': it takes options only",
				      c->group ? c->group : "",
				      c->group ? " " : "", c->name,
				      args->operands[c->max]);
		return wrong_use(args, m);
	}
	return -1;
}

/* The next word that is no option, once `command` is known or not. */
static int take_operand(tool_args *args, const char **group, char *word)
{
	if (args->command) {
		args->operands[args->operand_count++] = word;
		return -1;
	}
	if (!*group && group_exists(word)) {
		*group = word;
		return -1;
	}
	if (!*group && !args->is_help && !strcmp(word, "help")) {
		args->is_help = true;
		return -1;
	}
	args->command = find_command(*group, word);
	return args->command ? -1 : unknown_command(args, *group, word);
}

/*
 * Is --json among the words that were not read after a wrong one, argv[at - 1]?
 * What may be the words of a command is not looked at; the first one may be
 * the value of an option that is unknown.
 */
static bool json_follows(const tool_args *args, int argc, char **argv, int at)
{
	const tool_command *c = args->command;

	if (at + 1 < argc && argv[at][0] != '-')
		at++;
	for (int i = at; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "--json"))
			return true;
		if (c && c->command_line && argv[i][0] != '-')
			return false;
	}
	return false;
}

int tool_parse(tool *t, int argc, char **argv, tool_args *args)
{
	const char *group = NULL;
	bool options = true;
	int rc = -1;
	int i = 1;

	args->values = calloc((size_t)argc + 1, sizeof(*args->values));
	args->operands = calloc((size_t)argc + 1, sizeof(*args->operands));
	if (!args->values || !args->operands)
		return TOOL_INTERNAL;
	for (; i < argc && rc < 0; i++) {
		char *word = argv[i];
		const tool_command *c = args->command;
		if (options && !strcmp(word, "--"))
			options = false;
		else if (options && word[0] == '-' && word[1])
			rc = take_option(args, argc, argv, &i);
		else
			rc = take_operand(args, &group, word);
		if (args->operand_count && c && c->command_line)
			options = false;
	}
	t->json = tool_has(args, "--json") ||
		  (options && json_follows(args, argc, argv, i));
	t->verbose = tool_has(args, "--verbose");
	if (rc < 0)
		rc = answered(t, args, group);
	if (rc < 0 && !args->command)
		rc = unknown_command(args, group, NULL);
	if (rc < 0)
		rc = check_operands(t, args);
	return args->wrong ? tell_wrong(t, args) : rc;
}

void tool_args_end(tool_args *args)
{
	free(args->values);
	free(args->operands);
	free(args->wrong);
}

const char *tool_get(const tool_args *args, const char *name)
{
	for (size_t i = args->value_count; i > 0; i--)
		if (!strcmp(args->values[i - 1].option->name, name))
			return args->values[i - 1].value;
	return NULL;
}

bool tool_has(const tool_args *args, const char *name)
{
	return tool_get(args, name) != NULL;
}
