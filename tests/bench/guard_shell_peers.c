/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Others that read shell lines, when they are installed: `bash -n` as a
 * process and over a large text, and packages of node in a process of its
 * own. None of them is needed; one that is missing is skipped.
 */
#include "guard_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define SPAWNS 200

/* Stdin from `in`, stdout to `out` (-1: nowhere); 0: it could be run. */
static int run(const char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int status, rc;

	posix_spawn_file_actions_init(&fa);
	if (in >= 0)
		posix_spawn_file_actions_adddup2(&fa, in, 0);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&fa, out, 1);
	else
		posix_spawn_file_actions_addopen(&fa, 1, "/dev/null",
						 O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL,
			  (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (rc)
		return -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? 0 : -1;
}

static FILE *scratch(void)
{
	FILE *f = tmpfile();

	if (!f)
		abort();
	return f;
}

/* --- bash ----------------------------------------------------------------- */

static void bench_bash_line(double ours)
{
	const char *const argv[] = { "bash", "-n", "-c", bench_lines[0],
				     NULL };
	double times[SPAWNS];

	for (int i = 0; i < SPAWNS; i++) {
		double start = bench_now();

		if (run(argv, -1, -1) < 0) {
			row_skip("bash -n", "not installed");
			return;
		}
		times[i] = bench_now() - start;
	}
	row("bash -n, a process for a line: times ours",
	    bench_median(times, SPAWNS, 0.5) / ours, "x", -1, 0);
}

/* One process reads as many bytes of usual lines as the texts have. */
static void bench_bash_texts(double rate, const struct texts *t)
{
	const char *const argv[] = { "bash", "-n", NULL };
	FILE *f = scratch();
	double best = 1e18;

	for (size_t n = 0; n < t->bytes; n += strlen(bench_lines[0]) + 1)
		fprintf(f, "%s\n", bench_lines[0]);
	fflush(f);
	for (int i = 0; i < 5; i++) {
		double start = bench_now();

		rewind(f);
		lseek(fileno(f), 0, SEEK_SET);
		if (run(argv, fileno(f), -1) < 0)
			break;
		start = bench_now() - start;
		best = start < best ? start : best;
	}
	if (best < 1e18)
		row("bash -n over as many bytes: times ours",
		    rate * best / (double)t->bytes, "x", -1, 0);
	fclose(f);
}

/* --- node ----------------------------------------------------------------- */

/* Lines on stdin; one "NAME NS" for each package that is there. */
static const char node_script[] =
	"const lines=require('fs').readFileSync(0,'utf8').split('\\n')"
	".filter(Boolean);\n"
	"const dirs=(process.env.NODE_PATH||'').split(':').concat("
	"[process.cwd(),'/usr/lib/node_modules','/usr/local/lib/node_modules',"
	"'/usr/share/nodejs']).filter(Boolean);\n"
	"function load(n){try{return require(require.resolve(n,"
	"{paths:dirs}));}catch(e){return null;}}\n"
	"function time(name,fn){try{for(const l of lines)fn(l);"
	"const t=[];for(let r=0;r<200;r++)for(const l of lines){"
	"const s=process.hrtime.bigint();fn(l);"
	"t.push(Number(process.hrtime.bigint()-s));}"
	"t.sort((a,b)=>a-b);console.log(name,t[t.length>>1]);}"
	"catch(e){}}\n"
	"const sq=load('shell-quote');if(sq)time('shell-quote',"
	"l=>sq.parse(l));\n"
	"const ts=load('tree-sitter'),tb=load('tree-sitter-bash');"
	"if(ts&&tb){const p=new ts();p.setLanguage(tb);"
	"time('tree-sitter-bash',l=>p.parse(l));}\n"
	"const cc=load('cc-safety-net');"
	"const an=cc&&(cc.analyzeCommand||cc.analyze);"
	"if(an)time('cc-safety-net',l=>an(l));\n";

static void bench_node(double ours)
{
	static const char *const names[] = { "shell-quote",
					     "tree-sitter-bash",
					     "cc-safety-net" };
	const char *const argv[] = { "node", "-e", node_script, NULL };
	FILE *in = scratch(), *out = scratch();
	double ns[3] = { 0 }, value;
	char name[64];

	for (size_t i = 0; bench_lines[i]; i++)
		fprintf(in, "%s\n", bench_lines[i]);
	fflush(in);
	lseek(fileno(in), 0, SEEK_SET);
	if (run(argv, fileno(in), fileno(out)) == 0) {
		rewind(out);
		while (fscanf(out, "%63s %lf", name, &value) == 2) {
			for (size_t i = 0; i < 3; i++) {
				if (!strcmp(name, names[i]))
					ns[i] = value;
			}
		}
	}
	for (size_t i = 0; i < 3; i++) {
		char what[96];

		snprintf(what, sizeof(what), "%s for a line: times ours",
			 names[i]);
		if (ns[i] > 0)
			row(what, ns[i] / ours, "x", -1, 0);
		else
			row_skip(names[i], "not installed");
	}
	fclose(in);
	fclose(out);
}

void bench_shell_peers(double ours, double rate, const struct texts *texts)
{
	printf("\n  peers\n");
	bench_bash_line(ours);
	bench_bash_texts(rate, texts);
	bench_node(ours);
}
