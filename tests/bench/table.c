/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every benchmark begins and ends with; times and their table:
 * microseconds at the median and at the 99th
 * percentile, and the ratio of medians to something measured in the same run.
 */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static json_t *rows;
static const char *who = "";

static bool is_before_others(void)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	errno = 0;
	return policy == SCHED_FIFO || policy == SCHED_RR ||
	       (getpriority(PRIO_PROCESS, 0) < 0 && errno == 0);
}

static void be_as_others(void)
{
	const struct sched_param plain = { 0 };

	if (!is_before_others())
		return;
	if (sched_setscheduler(0, SCHED_OTHER, &plain) < 0 ||
	    setpriority(PRIO_PROCESS, 0, 0) < 0) {
		perror("bench: cannot run as others do");
		exit(1);
	}
	printf("running as others do: no helper keeps its host's priority\n");
}

struct bench_args bench_args_of(int argc, char **argv)
{
	struct bench_args a = { .file = getenv("AB_BENCH_JSON") };

	be_as_others();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
			a.file = argv[++i];
		else if (strcmp(argv[i], "--quick") == 0)
			a.is_quick = true;
	}
	return a;
}

void bench_say_busy(const char *what)
{
	double load[1];

	if (getloadavg(load, 1) == 1 &&
	    load[0] > 0.5 * (double)sysconf(_SC_NPROCESSORS_ONLN))
		printf("this machine is busy (load %.1f): %s\n", load[0],
		       what);
}

void bench_write(const struct bench_args *args, json_t *document)
{
	if (args->file &&
	    json_dump_file(document, args->file, JSON_INDENT(1)) < 0)
		perror(args->file);
	json_decref(document);
}

double bench_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void series_add(struct series *s, double us)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->us = realloc(s->us, s->room * sizeof(*s->us));
		if (!s->us)
			abort();
	}
	s->us[s->count++] = us;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double series_at(struct series *s, double p)
{
	if (s->count == 0)
		return 0;
	qsort(s->us, s->count, sizeof(*s->us), compare);
	return s->us[(size_t)(p * (double)(s->count - 1))];
}

void series_free(struct series *s)
{
	free(s->us);
	memset(s, 0, sizeof(*s));
}

void table_set_who(const char *name)
{
	who = name;
}

void table_head(const char *title)
{
	printf("\n%-44s %8s %8s %6s  %s\n", title, "p50 us", "p99 us",
	       "ratio", "target");
}

static void remember(json_t *row)
{
	if (!rows)
		rows = json_array();
	json_object_set_new(row, "as", json_string(who));
	json_array_append_new(rows, row);
}

void table_row(const char *what, struct series *s, struct series *base,
	       double target)
{
	const double p50 = series_at(s, 0.5), p99 = series_at(s, 0.99);
	const double under = base ? series_at(base, 0.5) : 0;
	const double ratio = under > 0 ? p50 / under : 0;
	json_t *row = json_pack("{s:s, s:f, s:f, s:I}", "what", what, "p50_us",
				p50, "p99_us", p99, "samples",
				(json_int_t)s->count);

	printf("  %-42s %8.0f %8.0f", what, p50, p99);
	if (ratio > 0) {
		printf(" %6.2f", ratio);
		json_object_set_new(row, "ratio", json_real(ratio));
	}
	if (ratio > 0 && target > 0) {
		printf("  <= %.2f %s", target, ratio <= target ? "ok" : "MISSED");
		json_object_set_new(row, "target", json_real(target));
		json_object_set_new(row, "ok", json_boolean(ratio <= target));
	}
	putchar('\n');
	fflush(stdout);
	remember(row);
}

void table_pairs(const char *what, const struct series *s,
		 const struct series *base, double target)
{
	struct series ratios = { 0 };
	double least, middle, most;
	bool is_met;

	for (size_t i = 0; i < s->count && i < base->count; i++)
		series_add(&ratios, s->us[i] / base->us[i]);
	least = series_at(&ratios, 0);
	middle = series_at(&ratios, 0.5);
	most = series_at(&ratios, 1);
	is_met = target <= 0 || middle <= target;
	printf("  %-42s %8zu turns: %.2f (%.2f to %.2f)", what, ratios.count,
	       middle, least, most);
	if (target > 0)
		printf("  <= %.2f %s", target, is_met ? "ok" : "MISSED");
	printf("\n");
	fflush(stdout);
	remember(json_pack("{s:s, s:f, s:f, s:f, s:I, s:f, s:b}", "what", what,
			   "ratio", middle, "least", least, "most", most,
			   "samples", (json_int_t)ratios.count, "target",
			   target, "ok", is_met));
	series_free(&ratios);
}

void table_limit(const char *what, struct series *s, double limit_us)
{
	const double p50 = series_at(s, 0.5), p99 = series_at(s, 0.99);

	printf("  %-42s %8.0f %8.0f         <= %.0f us %s\n", what, p50, p99,
	       limit_us, p50 <= limit_us ? "ok" : "MISSED");
	fflush(stdout);
	remember(json_pack("{s:s, s:f, s:f, s:I, s:f, s:b}", "what", what,
			   "p50_us", p50, "p99_us", p99, "samples",
			   (json_int_t)s->count, "limit_us", limit_us, "ok",
			   p50 <= limit_us));
}

void table_count(const char *what, double n, double most)
{
	const char *verdict = most < 0 ? "" : n <= most ? "ok" : "MISSED";

	printf("  %-42s %8.0f                  %s\n", what, n, verdict);
	fflush(stdout);
	remember(json_pack("{s:s, s:f}", "what", what, "count", n));
}

void table_title(const char *title)
{
	printf("\n%s\n", title);
}

void table_value(const char *what, double value, const char *unit,
		 double target)
{
	const double limit = target < 0 ? -target : target;
	const bool ok = target < 0 ? value >= limit : value <= limit;
	json_t *row = json_pack("{s:s, s:f, s:s}", "what", what, "value",
				value, "unit", unit);

	printf("  %-42s %8.*f %-7s", what, value > -10 && value < 10 ? 3 : 0,
	       value, unit);
	if (limit > 0) {
		printf("  %s %g %s", target < 0 ? ">=" : "<=", limit,
		       ok ? "ok" : "MISSED");
		json_object_set_new(row, "target", json_real(limit));
		json_object_set_new(row, "ok", json_boolean(ok));
	}
	putchar('\n');
	fflush(stdout);
	remember(row);
}

void table_skip(const char *what, const char *why)
{
	printf("  %-42s skipped: %s\n", what, why);
	fflush(stdout);
	remember(json_pack("{s:s, s:s}", "what", what, "skipped", why));
}

json_t *table_rows(void)
{
	return rows ? rows : json_array();
}
