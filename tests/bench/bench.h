/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What benchmarks share: their arguments, a series of times, a table whose rows
 * are ratios, and the programs that are compared.
 */
#ifndef BENCH_H
#define BENCH_H

#include <agentbox/agentbox.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRUE_PROGRAM "/usr/bin/true"

/* Times of one thing, in microseconds. */
struct series {
	double *us;
	size_t count, room;
};

double bench_now_us(void);
void series_add(struct series *s, double us);
/* p in 0..1; sorts. 0 for an empty series. */
double series_at(struct series *s, double p);
void series_free(struct series *s);

/* --- table.c ------------------------------------------------------------- */

/* --quick; --json FILE, or AB_BENCH_JSON, NULL: none. */
struct bench_args {
	const char *file;
	bool is_quick;
};

/*
 * Also takes the policy and the nice value that others have, and says so
 * where that is a change: helpers take them too, and a peer that kept the
 * caller's would run before what it is compared with.
 */
struct bench_args bench_args_of(int argc, char **argv);
/* Where others have the CPUs: what cannot be trusted then. */
void bench_say_busy(const char *what);
/* Into the file that was asked for; takes the document. */
void bench_write(const struct bench_args *args, json_t *document);

void table_head(const char *title);
/* `base` may be NULL; target 0: none. Remembered for the JSON. */
void table_row(const char *what, struct series *s, struct series *base,
	       double target);
/*
 * What was measured in turns: the ratio within each turn, its median, least
 * and most. Before anything sorts the two.
 */
void table_pairs(const char *what, const struct series *s,
		 const struct series *base, double target);
void table_skip(const char *what, const char *why);
/* A median with a limit in microseconds of its own. */
void table_limit(const char *what, struct series *s, double limit_us);
/* A number; most < 0: none is too many. */
void table_count(const char *what, double n, double most);
/* A heading for rows of table_value(). */
void table_title(const char *title);
/* A number of any unit; target > 0: at most that; < 0: at least -target. */
void table_value(const char *what, double value, const char *unit,
		 double target);
/* Owned by the caller: every row so far. */
json_t *table_rows(void);
void table_set_who(const char *who);

/* --- peers.c ------------------------------------------------------------- */

/* Is it in PATH? */
bool peer_installed(const char *program);
/* Start, wait, free; -1 when it did not end with status 0. */
int run_program(const char *const *argv, const int fds[3]);
/* The same in a session of its own. */
int run_session(const char *const *argv, const int fds[3]);
/* As bwrap would build the mounts of a plan (agentbox_sandbox_plan_to_json);
   NULL-terminated, owned by the caller with its strings. */
char **bwrap_of_plan(const char *plan_json);
void argv_free(char **argv);

/*
 * The same, with all that bwrap can be asked for of what the box has: the
 * files by value, the masks, and a filter as long as the box's that allows
 * everything. What it reads is in memfds.
 */
#define MAX_GIVEN 128
typedef struct equal_bwrap {
	char **argv;
	int fds[MAX_GIVEN];
	size_t fd_count, files, masks, mounts, instructions;
} equal_bwrap;

void equal_bwrap_make(equal_bwrap *e, const char *plan_json);
void equal_bwrap_end(equal_bwrap *e);
/* Until nothing of it is left, in a subreaper without other children: its
   last process ends after the mounts do. Negative: it could not run. */
double time_equal_bwrap(const equal_bwrap *e, const int fds[3]);
/* Wait for every child, also of those that ended. */
void reap_all(void);
/* What each side has in the cold comparison. */
void print_sides(const equal_bwrap *e);
/* Every peer there is; base: the plain spawn; scratch: a directory. */
void bench_peers(struct series *base, char **bwrap, const char *scratch);

#endif
