/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The attacker: one static program that tries one thing and prints what
 * happened, so that a case can compare the *reason* and not only the
 * failure. It runs inside a box and, as the positive control, outside.
 *
 *   attacker NAME [ARG...] [, NAME [ARG...]]...
 *
 * prints one line per attack: "NAME OK[ detail]", "NAME E<errno>" or
 * "NAME SIG<n>" when the attempt was ended by a signal. Each attack runs in
 * a child of its own with three seconds to live. Names that begin with "do-"
 * run in place of the attacker, without a line of their own: for what must
 * be the command's first process.
 *
 * It refuses nothing and needs no file. Spec: tests/e2e/SANDBOX-CASES.md.
 */
#include "attacker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char detail_text[8192];

static const struct attack *const tables[] = {
	attacks_files, attacks_kernel, attacks_process,
	attacks_network, attacks_load, attacks_exec, attacks_verify,
	attacks_odd,
};

void detail(const char *fmt, ...)
{
	size_t used = strlen(detail_text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail_text + used, sizeof(detail_text) - used, fmt, ap);
	va_end(ap);
}

long result(long value)
{
	return value == -1 ? -(long)errno : value;
}

long number(const char *text)
{
	char *end;
	unsigned long long value;
	int negative = *text == '-';

	value = strtoull(text + negative, &end, 0);
	if (*end || end == text) {
		fprintf(stderr, "attacker: not a number: %s\n", text);
		_exit(2);
	}
	return negative ? -(long)value : (long)value;
}

static const struct attack *find(const char *name)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct attack *a = tables[t]; a->name; a++)
			if (strcmp(a->name, name) == 0)
				return a;
	return NULL;
}

static void print_result(const char *name, long value)
{
	const char *error = value < 0 ? strerrorname_np((int)-value) : NULL;

	if (value >= 0)
		printf("%s OK%s%s\n", name, *detail_text ? " " : "",
		       detail_text);
	else if (error)
		printf("%s %s\n", name, error);
	else
		printf("%s E%ld\n", name, -value);
	fflush(stdout);
}

/* One attack in a child; a signal that ends it is its result. */
static void run_forked(const struct attack *a, char **argv)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0) {
		printf("%s fork:%s\n", a->name, strerrorname_np(errno));
		return;
	}
	if (pid == 0) {
		alarm(3);
		print_result(a->name, a->run(argv));
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("%s SIG%d\n", a->name, WTERMSIG(status));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct attack *a = find(argv[i]);
		int first = i + 1, end = first;

		while (end < argc && strcmp(argv[end], ",") != 0)
			end++;
		if (!a || end - first < a->argc) {
			fprintf(stderr, "attacker: %s: %s\n", argv[i],
				a ? "too few arguments" : "unknown");
			return 2;
		}
		argv[end] = NULL;
		if (strncmp(a->name, "do-", 3) == 0)
			return (int)a->run(argv + first);
		run_forked(a, argv + first);
		i = end;
	}
	return 0;
}
