/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-verify: the inside of agentbox_verify(3). It is run in a box as any
 * command of the agent is, behind the same walls, tries what it is told and
 * prints the kernel's answers. It decides nothing: what an answer means is
 * judged outside (lib/verify). It needs no file and no environment.
 *
 * Standard input: a line for each probe, `NUMBER\tOPERATION[\tARGUMENT]...`,
 * bytes outside of 0x21-0x7e and '%' as %XX; standard output: its build, and
 * once the first byte came a line `NUMBER\tANSWER\tTEXT` for each, where the
 * answer is "ok", "e" and an errno, "s" and a signal, or "?"; then "end".
 *
 * Each probe runs in a child of its own for a limited time, so that what a
 * wall does to it (SIGSYS, SIGKILL, a hang) is an answer and not the end. The
 * agent can signal us as any of its own: what it ends says nothing.
 */
#include "probe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build-id.h"

#define MAX_INPUT (60 * 1024)
#define MAX_ARGS 128
#define SECONDS 60

/* What a probe found out, in memory that its child shares with us. */
static struct said {
	bool is_said;
	long value;
	char told[2048];
} *said;

static char input[MAX_INPUT + 1];

static const probe_op *const tables[] = {probe_files, probe_kernel,
					 probe_network};

void probe_tell(const char *fmt, ...)
{
	char *told = said->told;
	size_t used = strlen(told), room = sizeof(said->told) - used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(told + used, room, fmt, ap);
	va_end(ap);
	/* no list that is cut off looks whole: lib/verify/judge.c */
	if (n < 0 || (size_t)n >= room)
		strcpy(told + sizeof(said->told) - sizeof(PROBE_MORE),
		       PROBE_MORE);
}

long probe_result(long value)
{
	return value == -1 ? -(long)errno : value;
}

static const probe_op *find(const char *name)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
		for (const probe_op *op = tables[t]; op->name; op++) {
			if (strcmp(op->name, name) == 0)
				return op;
		}
	}
	return NULL;
}

static void answer(const char *number, const char *how)
{
	printf("%s\t%s\t", number, how);
	for (const char *p = said->told; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c > ' ' && c < 0x7f && c != '%')
			putchar(c);
		else
			printf("%%%02x", c);
	}
	putchar('\n');
	fflush(stdout);
}

static void answer_result(const char *number, long value)
{
	char how[32] = "ok";

	if (value == PROBE_UNKNOWN)
		snprintf(how, sizeof(how), "?");
	else if (value < 0)
		snprintf(how, sizeof(how), "e%ld", -value);
	answer(number, how);
}

/* In a child; a signal that ends it before it has said anything is its answer.
 */
static void run(const char *number, const probe_op *op, char **argv)
{
	char how[32] = "?";
	int status = 0;
	pid_t pid;

	pid = fork();
	if (pid < 0) {
		probe_tell("no process for it: %s", strerror(errno));
		answer(number, "?");
		return;
	}
	if (pid == 0) {
		alarm(SECONDS);
		said->value = op->run(argv);
		said->is_said = true;
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (said->is_said) {
		answer_result(number, said->value);
		return;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
		snprintf(how, sizeof(how), "s%d", WTERMSIG(status));
	answer(number, how);
}

static void decode(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		char hex[3] = "";

		if (*p == '%' && p[1] && p[2]) {
			memcpy(hex, p + 1, 2);
			*to++ = (char)strtoul(hex, NULL, 16);
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

static void handle(char *line)
{
	char *argv[MAX_ARGS + 3], *word;
	const probe_op *op;
	int argc = 0;

	while (argc < MAX_ARGS + 2 && (word = strsep(&line, "\t")) != NULL) {
		decode(word);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	if (argc < 2)
		return;
	op = find(argv[1]);
	memset(said, 0, sizeof(*said));
	if (!op || argc - 2 < op->argc) {
		probe_tell("no such operation: %s", argv[1]);
		answer(argv[0], "?");
		return;
	}
	run(argv[0], op, argv + 2);
}

/* All of standard input; false: too much of it. */
static int take_input(void)
{
	size_t n = 0;
	ssize_t r;

	while (n < MAX_INPUT) {
		r = read(STDIN_FILENO, input + n, MAX_INPUT - n);
		if (r == 0)
			return 1;
		if (r < 0 && errno != EINTR)
			return 0;
		n += r > 0 ? (size_t)r : 0;
	}
	return 0;
}

int main(void)
{
	char *rest = input, *line;

	/* the file it was started from cannot be read, so it was born like
	   that: here for a kernel that sees it otherwise */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	signal(SIGPIPE, SIG_DFL);
	/* the filter's own ends us all the same, kill(2)'s does not:
	   seccomp(2), SECCOMP_RET_KILL_PROCESS */
	signal(SIGSYS, SIG_IGN);
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		return 1;
	printf("agentbox-verify\t%s\n", AB_BUILD_ID);
	fflush(stdout);
	if (!take_input())
		return 1;
	while ((line = strsep(&rest, "\n")) != NULL)
		handle(line);
	printf("end\n");
	fflush(stdout);
	return 0;
}
