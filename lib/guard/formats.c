/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a text is judged by that a program runs: `code FORMAT WORDS` in a pack.
 * Most formats are languages, whose programs code.c reads. The others have a
 * name here and a reader of their own: recipes, lists, sheets, patches.
 *
 * A name that is not in the table is a language: what no reader knows is read
 * as a program of any.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/code.h"
#include "guard/command.h"

static const char *const names[] = {
	[AB_FORMAT_SED] = "sed",	     [AB_FORMAT_FILES] = "files",
	[AB_FORMAT_VIM] = "vim",	     [AB_FORMAT_VIML] = "viml",
	[AB_FORMAT_TCL] = "tcl",	     [AB_FORMAT_M4] = "m4",
	[AB_FORMAT_MAKE] = "make",	     [AB_FORMAT_PIECE] = "piece",
	[AB_FORMAT_PATCH] = "patch",	     [AB_FORMAT_CURL] = "curl",
	[AB_FORMAT_LISTED] = "listed",	     [AB_FORMAT_GLOBS] = "globs",
	[AB_FORMAT_DOCKER] = "docker",	     [AB_FORMAT_PROCFILE] = "procfile",
	[AB_FORMAT_TMUX] = "tmux",	     [AB_FORMAT_NPM] = "npm",
	[AB_FORMAT_TASKS] = "tasks",	     [AB_FORMAT_SNAKE] = "snake",
	[AB_FORMAT_GENERATE] = "generate",   [AB_FORMAT_XML] = "xml",
	[AB_FORMAT_BAZEL] = "bazel",	     [AB_FORMAT_TERRAFORM] = "terraform",
	[AB_FORMAT_JQ] = "jq",		     [AB_FORMAT_BATS] = "bats",
	[AB_FORMAT_JUST] = "just",	     [AB_FORMAT_SHELL] = "shell",
	[AB_FORMAT_CMAKE] = "cmake",	     [AB_FORMAT_BANG] = "bang",
	[AB_FORMAT_GDB] = "gdb",	     [AB_FORMAT_GNUPLOT] = "gnuplot",
	[AB_FORMAT_CONFIG] = "config",	     [AB_FORMAT_CARGO] = "cargo",
	[AB_FORMAT_ARIA] = "aria2",	     [AB_FORMAT_SOURCE] = "source",
	[AB_FORMAT_YARN] = "yarn",
};

uint8_t ab_format_of(const char *name)
{
	for (size_t i = AB_FORMAT_LANGUAGE + 1; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(names[i], name))
			return (uint8_t)i;
	}
	return AB_FORMAT_LANGUAGE;
}

/* A program, and what it edits where its program writes a file. */
static void run_language(struct ab_check *c, const struct ab_use *use,
			 const char *lang, const struct ab_word *w)
{
	ab_check_code(c, use, lang, w);
	if (c->run && use && use->program &&
	    ab_has_role(use->program, AB_ROLE_WRITE))
		ab_edit_by(c, use, lang, w);
}

/* Snakefile, dodo.py: python, with commands behind keys. */
static void run_snake(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *w)
{
	struct ab_word all;

	run_language(c, use, "python", w);
	if (memmem(w->text, w->len, "shell", 5) &&
	    ab_tasks_join(c, w, &all)) {
		ab_check_tasks(c, &all);
		ab_check_shell_calls(c, &all);
	}
	ab_check_actions(c, w);
}

static void run_make(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *w)
{
	ab_check_files(c, use, "make", w);
	if (ab_code_is_value(w))
		ab_check_known(c, AB_KNOWN_OPAQUE, AB_V_ASK, w);
	else
		ab_check_make(c, use, w);
}

void ab_run_code(struct ab_check *c, const struct ab_use *use,
		 const struct ab_role *role, const struct ab_word *w)
{
	const char *name = role->text;

	switch ((enum ab_format)role->format) {
	case AB_FORMAT_SED:
		ab_check_code(c, use, name, w);
		break;
	case AB_FORMAT_FILES:
		ab_check_files(c, use, name, w);
		break;
	case AB_FORMAT_VIM:
	case AB_FORMAT_VIML:
		ab_check_files(c, use, name, w);
		ab_check_ex(c, use, w);
		run_language(c, use, name, w);
		break;
	case AB_FORMAT_BANG:
	case AB_FORMAT_GDB:
	case AB_FORMAT_GNUPLOT:
		ab_check_escapes(c, name, w);
		run_language(c, use, name, w);
		break;
	case AB_FORMAT_TCL:
		ab_check_files(c, use, name, w);
		ab_check_text(c, name, w);
		ab_check_lines(c, use, name, w);
		break;
	case AB_FORMAT_PROCFILE:
		ab_check_lines(c, use, name, w);
		break;
	case AB_FORMAT_M4:
		ab_check_files(c, use, name, w);
		ab_check_m4(c, w);
		break;
	case AB_FORMAT_MAKE:
		run_make(c, use, w);
		break;
	case AB_FORMAT_PIECE:
		ab_edit_by(c, use, name, w);
		break;
	case AB_FORMAT_PATCH:
		ab_edit_patch(c, use, w);
		break;
	case AB_FORMAT_CURL:
		ab_check_curl(c, use, w);
		break;
	case AB_FORMAT_LISTED:
		ab_list_read(c, use, w);
		break;
	case AB_FORMAT_GLOBS:
		ab_check_globs(c, use, w);
		break;
	case AB_FORMAT_DOCKER:
		ab_check_image(c, use, w);
		break;
	case AB_FORMAT_TMUX:
		ab_command_text(c, use, w);
		break;
	case AB_FORMAT_NPM:
		ab_check_npm(c, use, w);
		break;
	case AB_FORMAT_TASKS:
		ab_check_tasks(c, w);
		break;
	case AB_FORMAT_SNAKE:
		run_snake(c, use, w);
		break;
	case AB_FORMAT_GENERATE:
		ab_check_generate(c, w);
		break;
	case AB_FORMAT_XML:
		ab_check_xml(c, use, w);
		break;
	case AB_FORMAT_BAZEL:
	case AB_FORMAT_TERRAFORM:
		ab_check_keyed(c, name, w);
		break;
	case AB_FORMAT_JQ:
		ab_check_jq(c, w);
		break;
	case AB_FORMAT_BATS:
		ab_check_bats(c, w);
		break;
	case AB_FORMAT_JUST:
		ab_check_just(c, use, w);
		break;
	case AB_FORMAT_SHELL: /* each word is a text */
		ab_check_script(c, w, true, NULL, 0, NULL);
		break;
	case AB_FORMAT_CMAKE:
		ab_check_cmake(c, use, w);
		break;
	case AB_FORMAT_CARGO:
		ab_check_tasks(c, w);
		ab_check_config(c, use, name, w);
		break;
	case AB_FORMAT_CONFIG:
	case AB_FORMAT_ARIA:
	case AB_FORMAT_YARN:
		ab_check_config(c, use, name, w);
		break;
	case AB_FORMAT_LANGUAGE:
	case AB_FORMAT_SOURCE:
	default:
		run_language(c, use, name, w);
		break;
	}
}
