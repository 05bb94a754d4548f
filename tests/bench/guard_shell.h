/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the shell check's benchmark share: texts to check, and
 * rows of a table that are remembered for the JSON.
 */
#ifndef BENCH_GUARD_SHELL_H
#define BENCH_GUARD_SHELL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *bytes;
	size_t n;
};

struct texts {
	struct text *items;
	size_t count, room, bytes;
};

/* Lines of some 100 bytes as agents write them; NULL-terminated. */
extern const char *const bench_lines[];

/* bytes is copied. */
void texts_add(struct texts *t, const char *bytes, size_t n);
/* The "cmd" of each row of a file of the corpus; 0: it is not there. */
int texts_read(struct texts *t, const char *name);
/* Scripts put together from bench_lines. */
void texts_make(struct texts *t);
void texts_free(struct texts *t);

/* An adversarial text of n bytes; NULL behind the last. Owned by the caller;
   NUL behind it. */
const char *generator_name(size_t i);
char *generator_text(size_t i, size_t n);

double bench_now(void); /* ns */
double bench_median(double *times, size_t count, double p); /* sorts */

/* A row of the table; target 0: none; ceiling: at most it, else at least. */
void row(const char *what, double value, const char *unit, double target,
	 int is_ceiling);
void row_skip(const char *what, const char *why);
json_t *rows_json(void); /* owned by the caller */

/* guard_shell_growth.c: with --growth, under valgrind, this program makes the
   checks of which it then reads the instructions. */
#define GROWTH_OPTION "--growth"
void growth_run(void (*check)(void *user, const char *text, size_t n),
		void *user);
void bench_growth_counted(void);

/* `ours`: ns of one check of a line of bench_lines; bytes per ns of texts. */
void bench_shell_peers(double ours, double ours_rate,
		       const struct texts *texts);

#endif
