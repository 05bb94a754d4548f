/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the work of a check grows with the text, in instructions: what else the
 * machine does is not in them, as it is in times. This program runs itself
 * under valgrind's callgrind, which writes a file at the end of each check;
 * the files come in the order of the checks. Without valgrind the row says so.
 */
#include "guard_shell.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL ((size_t)64 << 10)
#define CHECK "agentbox_guard_check_shell"

extern char **environ;

void growth_run(void (*check)(void *user, const char *text, size_t n),
		void *user)
{
	for (size_t i = 0; generator_name(i); i++) {
		for (size_t n = SMALL; n <= 2 * SMALL; n *= 2) {
			char *text = generator_text(i, n);

			check(user, text, n);
			free(text);
		}
	}
}

/* What callgrind wrote about check `number`, from 1; 0: nothing. */
static double take_total(const char *dir, size_t number)
{
	char path[128], line[256];
	double total = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out.%zu", dir, number);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "totals: ", 8))
			total = strtod(line + 8, NULL);
	}
	fclose(f);
	unlink(path);
	return total;
}

/* Whether valgrind ran this program to its end. */
static int run_counted(const char *dir)
{
	char out[128], self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *const argv[] = {
		(char[]){ "valgrind" }, (char[]){ "-q" },
		(char[]){ "--tool=callgrind" },
		(char[]){ "--toggle-collect=" CHECK },
		(char[]){ "--dump-after=" CHECK }, out, self,
		(char[]){ GROWTH_OPTION }, NULL
	};
	posix_spawn_file_actions_t actions;
	int status = -1, rc;
	pid_t pid;

	if (n < 0)
		return 0;
	self[n] = '\0';
	snprintf(out, sizeof(out), "--callgrind-out-file=%s/out", dir);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY,
					 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
					 0);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc == 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void remove_dir(const char *dir, size_t files)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/out", dir);
	unlink(path);
	for (size_t i = 1; i <= files; i++)
		(void)take_total(dir, i);
	rmdir(dir);
}

void bench_growth_counted(void)
{
	char dir[] = "/tmp/guard-growth-XXXXXX";
	size_t count = 0, known = 0;
	double worst = 0;

	if (!mkdtemp(dir)) {
		row_skip("growth in instructions", "no directory for it");
		return;
	}
	if (run_counted(dir)) {
		printf("\n  %-30s %10s %14s\n", "growth, 64 to 128 KiB",
		       "ratio", "instructions");
		for (; generator_name(count); count++) {
			double one = take_total(dir, 2 * count + 1);
			double two = take_total(dir, 2 * count + 2);
			double ratio = one > 0 ? two / one : 0;

			printf("  %-30s %10.3f %14.0f\n",
			       generator_name(count), ratio, two);
			known += ratio > 0;
			worst = ratio > worst ? ratio : worst;
		}
	}
	remove_dir(dir, 2 * count + 2);
	if (!count || known < count) {
		row_skip("growth in instructions",
			 "valgrind did not count them");
		return;
	}
	row("worst instructions(2n) / instructions(n)", worst, "", 2.2, 1);
}
