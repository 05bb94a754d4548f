/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the shell check's benchmark reads: usual lines, real scripts when they
 * are beside the project, and texts that are made to be slow.
 */
#include "guard_shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_lines[] = {
	"cd /srv/repo && git status --short && npm run build -- --mode "
	"production --out dist/app --verbose 2>&1",
	"for f in src/*.c; do gcc -c \"$f\" -o \"${f%.c}.o\" $CFLAGS || exit "
	"1; done; echo done; ls -la build/ | wc",
	"git log --oneline -n 20 --format='%h %an %s' origin/main..HEAD -- "
	"lib/shell include/agentbox tests/unit",
	"find . -name '*.py' -not -path './venv/*' -print0 | xargs -0 grep -n "
	"'import os' | sort -u | head -n 50",
	"sed -n '120,180p' src/server/handlers/session.ts && grep -rn "
	"\"createSession\" src --include='*.ts' | head",
	"mkdir -p build/out && cp -r assets/images build/out/ && rm -rf "
	"build/tmp && tar czf build.tgz -C build out",
	"python3 -m pytest tests/unit/test_parser.py -k 'not slow' -x -q "
	"--maxfail=3 2>&1 | tail -n 40 > test.log.txt",
	"if [ -f package.json ]; then npm ci --no-audit; else echo \"no "
	"package.json in $(pwd)\" >&2; exit 1; fi; true",
	"curl -fsSL https://registry.example.com/leftpad | jq -r "
	"'.versions | keys | last' | tee /tmp/version.latest",
	"export NODE_ENV=test PORT=3000; timeout 60 node --test "
	"--test-reporter=spec test/api.test.js || echo \"rc=$?\"",
	NULL
};

void texts_add(struct texts *t, const char *bytes, size_t n)
{
	char *copy = malloc(n + 1);

	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 1024;
		t->items = realloc(t->items, t->room * sizeof(*t->items));
	}
	if (!copy || !t->items)
		abort();
	memcpy(copy, bytes, n);
	copy[n] = '\0';
	t->items[t->count++] = (struct text){ copy, n };
	t->bytes += n;
}

void texts_free(struct texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free((char *)(uintptr_t)t->items[i].bytes);
	free(t->items);
	*t = (struct texts){ 0 };
}

static FILE *open_corpus(const char *name)
{
	const char *dir = getenv("AGENTBOX_CORPUS");
	const char *src = getenv("AB_TEST_SRCDIR");
	char path[4096];

	if (dir)
		snprintf(path, sizeof(path), "%s/%s", dir, name);
	else
		snprintf(path, sizeof(path), "%s/../shared/corpus/%s",
			 src ? src : ".", name);
	return fopen(path, "r");
}

int texts_read(struct texts *t, const char *name)
{
	FILE *f = open_corpus(name);
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!f)
		return 0;
	while ((n = getline(&line, &room, f)) > 0) {
		json_t *one = json_loadb(line, (size_t)n, JSON_ALLOW_NUL, NULL);
		json_t *cmd = json_object_get(one, "cmd");

		if (json_is_string(cmd))
			texts_add(t, json_string_value(cmd),
				  json_string_length(cmd));
		json_decref(one);
	}
	free(line);
	fclose(f);
	return t->count > 0;
}

void texts_make(struct texts *t)
{
	char script[8192];
	size_t lines = 0;

	while (bench_lines[lines])
		lines++;
	for (size_t i = 0; i < 1000; i++) {
		size_t n = (size_t)snprintf(script, sizeof(script),
					    "#!/bin/sh\n# step %zu\nset -eu\n",
					    i);

		for (size_t k = 0; k < 1 + i % 12; k++)
			n += (size_t)snprintf(script + n, sizeof(script) - n,
					      "%s\n",
					      bench_lines[(i + k) % lines]);
		texts_add(t, script, n);
	}
}

/* --- made to be slow ------------------------------------------------------ */

static const struct {
	const char *name, *begin, *unit, *end; /* end: for each unit */
} generators[] = {
	{ "nested $(", "echo ", "$(", "" },
	{ "nested $(...)", "echo ", "$(", ")" },
	{ "backquotes", "echo ", "`", "" },
	{ "${x:-", "echo ", "${x:-", "" },
	{ "${x:-...}", "echo ", "${x:-", "}" },
	{ "((", "", "((", "" },
	{ "$((", "echo ", "$((", "" },
	{ "<<A", "cat ", "<<A ", "" },
	{ "<<A with lines", "cat ", "<<A\n", "" },
	{ "eval", "", "eval ", "" },
	{ "sudo", "", "sudo ", "" },
	{ "{a,b}", "echo ", "{a,b}", "" },
	{ "{a,b} words", "echo ", "{a,b} ", "" },
	{ "true;", "", "true;", "" },
	{ "doubling backslashes", "echo ", "\\", "" },
	{ "backslashes in quotes", "echo \"", "\\\\\\\"", "" },
	{ "one long word", "", "a", "" },
	{ "one long comment", "# ", "a", "" },
	{ "many words", "echo ", "a ", "" },
	{ "inserts of a program", "python3 <<E\nhome=\"", "{}", "" },
	{ "strings of a program", "ruby <<E\nhome ", "\"~\",", "" },
	{ "a file that grows", "[ a ] && echo a > f; ", "echo b >> f;", "" },
	{ "pipes", "a", "|a", "" },
	{ "x=$x$x", "x=a;", "x=$x$x;", "" },
	{ "rm -rf x;", "", "rm -rf x;", "" },
	{ "a/../", "cat ", "a/../", "" },
	{ "* * *", "cat ", "* ", "" },
	{ "f(){ f;};f;", "f(){ a; };", "f;", "" },
	{ "if a;then", "", "if a;then ", "" },
	{ "sh -c '", "", "sh -c ' ", "" },
	{ "env -S", "", "env -S 'a b' ", "" },
	{ "git -c", "git ", "-c a=b ", "" },
	{ "xargs", "", "xargs -I{} ", "" },
	{ "git add a b", "git add ", "a/../../x ", "" },
	{ "git log --oneline", "git log ", "--oneline ", "" },
	{ "git log --n: many it may be", "git log ", "--n ", "" },
	{ "git: one long option", "git log --", "a", "" },
	{ "git: one long bundle", "git log -", "p", "" },
	{ "git: one long number", "git log -", "1", "" },
	{ "git: one long path", "git log --output=", "a/../", "" },
	{ "git: one long format", "git log --format=", "%h", "" },
	{ "git: one long pattern", "git config --get-regexp abc", "xt", "" },
	{ "git: a path of patterns", "git add ", "./.*/", "" },
	{ "a long PATH", "PATH=", "/usr/bin:", "" },
	{ "paths of a command", "x ", "--output-dir=/etc/x ", "" },
	{ "substitutions of a redirection", "cat < ", "<(ls)", "" },
	{ "holes of a text", "x=$(date); bash -c \"", "$x ", "\"" },
	{ "calls of a program", "python3 <<E\n", "x.run(y)\n", "" },
	{ "exec() of names", "node <<E\nchild;", "x.exec(y);", "" },
	{ "files of a program", "perl <<E\n", "open F,\">a\";", "" },
	{ "\"#{a}\" of a program", "ruby <<E\n", "f \"#{a}\";", "" },
	{ "\"#{ of a program", "ruby <<E\nf \"", "#{", "" },
	{ "q( of a program", "perl <<E\n", "q(", "" },
	{ "qx( of a program", "perl <<E\n", "qx( ", "" },
	{ "<<A of a program", "ruby <<'E'\n", "f <<A\n", "" },
	{ "}/a/; of a program", "node <<'E'\n", "}/a/;", "" },
	{ "}/\"/; of a program", "node <<'E'\n", "}/\"/;", "" },
	{ "`${ of a program", "node <<'E'\n", "`${", "" },
	{ "=pod of a program", "perl <<'E'\n", "}\n=pod\n", "" },
	{ "?><? of a program", "php <<'E'\n<?php ", "?>a<?php ", "" },
	{ "promisify(", "node <<'E'\nx=", "promisify(", "" },
	{ "functions of a program", "python3 <<E\nimport subprocess\n",
	  "def f(a):\n f('x')\n", "" },
	{ "exec) of a program", "node <<'E'\nchild.", "exec)", "" },
};

const char *generator_name(size_t i)
{
	return i < sizeof(generators) / sizeof(*generators)
		       ? generators[i].name
		       : NULL;
}

char *generator_text(size_t i, size_t n)
{
	char *text = malloc(n + 1);
	size_t at = strlen(generators[i].begin);
	size_t unit = strlen(generators[i].unit);
	size_t end = strlen(generators[i].end);
	size_t units;

	if (!text || n < at)
		abort();
	memset(text, ' ', n);
	text[n] = '\0';
	memcpy(text, generators[i].begin, at);
	units = (n - at) / (unit + end);
	for (size_t k = 0; k < units; k++, at += unit)
		memcpy(text + at, generators[i].unit, unit);
	for (size_t k = 0; k < units && end; k++, at += end)
		memcpy(text + at, generators[i].end, end);
	return text;
}
