/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the shell check costs: usual lines of 100 bytes with one decision used
 * again, real scripts (ci_real.jsonl of AGENTBOX_CORPUS, or of
 * ../shared/corpus beside the project, when it is there), instructions and
 * time that grow with the text on texts made to be slow, heap allocations, C
 * stack, and the same lines for the peers that are installed. A table, then
 * one JSON object; targets of DESIGN.md section 15 are printed, not judged.
 */
#include "guard_shell.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/guard.h"

#define ROUNDS 4000
#define STACK_BYTES ((size_t)1 << 20)
#define LARGEST ((size_t)1 << 20)

/* --- heap allocations are counted ----------------------------------------- */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static size_t allocations;

void *malloc(size_t n)
{
	allocations++;
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	allocations++;
	return __libc_realloc(p, n);
}

/* --- time, instructions, rows --------------------------------------------- */

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* For what takes longer than a time slice: others' slices do not count. */
static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *times, size_t count, double p)
{
	qsort(times, count, sizeof(*times), compare);
	return count ? times[(size_t)(p * (double)(count - 1))] : 0;
}

/* Instructions of this thread in user mode; -1: the kernel does not say. */
static int count_instructions(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t instructions(int fd)
{
	uint64_t n = 0;

	if (fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n))
		return 0;
	return n;
}

static json_t *all_rows;

static void remember(json_t *one)
{
	if (!all_rows)
		all_rows = json_array();
	json_array_append_new(all_rows, one);
}

void row(const char *what, double value, const char *unit, double target,
	 int is_ceiling)
{
	json_t *one = json_pack("{s:s, s:f, s:s}", "what", what, "value",
				value, "unit", unit);
	int good = is_ceiling ? value <= target : value >= target;

	printf("  %-44s %12.2f %-8s", what, value, unit);
	if (target > 0 || (is_ceiling && target == 0)) {
		printf(" %s %g %s", is_ceiling ? "<=" : ">=", target,
		       good ? "ok" : "MISSED");
		json_object_set_new(one, "target", json_real(target));
		json_object_set_new(one, "ok", json_boolean(good));
	}
	putchar('\n');
	fflush(stdout);
	remember(one);
}

void row_skip(const char *what, const char *why)
{
	printf("  %-44s skipped: %s\n", what, why);
	remember(json_pack("{s:s, s:s}", "what", what, "skipped", why));
}

json_t *rows_json(void)
{
	return all_rows ? all_rows : json_array();
}

#define plain_row(what, value, unit) row(what, value, unit, -1, 0)

/* --- the check ------------------------------------------------------------ */

struct subject {
	agentbox_guard *guard;
	agentbox_place *place;
	agentbox_decision *decision;
};

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s: %d\n", what, rc);
	exit(1);
}

static void check(struct subject *s, const char *text, size_t n)
{
	must(agentbox_guard_check_shell(s->guard, s->place, text, n,
					&s->decision, NULL), "check");
}

/* `rounds` at most 21. */
static void make_subject(struct subject *s, size_t rounds)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	double times[21];

	must(agentbox_context_new(&context, NULL), "context");
	must(agentbox_policy_builtin(context, "workspace", &policy, NULL),
	     "policy");
	for (size_t i = 0; i < rounds; i++) {
		agentbox_guard_unref(s->guard);
		double start = bench_now();

		must(agentbox_guard_new(policy, -1, &s->guard, NULL),
		     "guard");
		times[i] = bench_now() - start;
	}
	plain_row("a guard is made, p50",
		  bench_median(times, rounds, 0.5) / 1e3, "us");
	must(agentbox_place_new(&s->place, NULL), "place");
	must(agentbox_place_set_cwd(s->place, "/srv/repo", 9, NULL), "cwd");
	must(agentbox_place_set_root(s->place, "/srv/repo", 9, NULL), "root");
	must(agentbox_place_set_home(s->place, "/home/u", 7, NULL), "home");
	must(agentbox_place_add_temp(s->place, "/tmp", 4, NULL), "temp");
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

static void end_subject(struct subject *s)
{
	agentbox_decision_free(s->decision);
	agentbox_place_free(s->place);
	agentbox_guard_unref(s->guard);
}

/* --- lines ---------------------------------------------------------------- */

/* Each call on its own: p99 is of calls. Returns the median. */
static double bench_calls(struct subject *s, int counter)
{
	size_t lines = 0, n = 0;
	double *times, clock_cost = 1e9, p50;
	uint64_t count;

	while (bench_lines[lines])
		lines++;
	times = malloc(lines * ROUNDS * sizeof(*times));
	if (!times)
		abort();
	for (int i = 0; i < 1000; i++) {
		double start = bench_now(), took = bench_now() - start;

		clock_cost = took < clock_cost ? took : clock_cost;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < lines; i++) {
			size_t len = strlen(bench_lines[i]);
			double start = bench_now();

			check(s, bench_lines[i], len);
			times[n++] = bench_now() - start - clock_cost;
		}
	}
	p50 = bench_median(times, n, 0.5);
	row("usual lines of 100 bytes, p50", p50, "ns", 3000, 1);
	row("usual lines of 100 bytes, p99", bench_median(times, n, 0.99),
	    "ns", 10000, 1);
	free(times);
	count = instructions(counter);
	for (size_t i = 0; i < lines; i++)
		check(s, bench_lines[i], strlen(bench_lines[i]));
	if (counter >= 0)
		plain_row("instructions per line",
			  (double)(instructions(counter) - count) /
				  (double)lines, "");
	return p50;
}

/* Each line by itself: the median over calls. */
static void bench_each_line(struct subject *s)
{
	static double times[ROUNDS];

	for (size_t i = 0; bench_lines[i]; i++) {
		size_t len = strlen(bench_lines[i]);
		char name[64];

		for (int round = 0; round < ROUNDS; round++) {
			double start = bench_now();

			check(s, bench_lines[i], len);
			times[round] = bench_now() - start;
		}
		snprintf(name, sizeof(name), "  %.30s...", bench_lines[i]);
		plain_row(name, bench_median(times, ROUNDS, 0.5), "ns");
	}
}

/* The best of some passes, in bytes per nanosecond. */
static double bench_texts(struct subject *s, const struct texts *t,
			  const char *what, int counter)
{
	double best = 1e18;
	uint64_t count = 0;
	size_t allocated = 0;
	char name[64];

	for (int pass = 0; pass < 7; pass++) {
		double start = cpu_now(), took;

		count = instructions(counter);
		allocated = allocations;
		for (size_t i = 0; i < t->count; i++)
			check(s, t->items[i].bytes, t->items[i].n);
		count = instructions(counter) - count;
		took = cpu_now() - start;
		allocated = allocations - allocated; /* rows take some, too */
		best = took < best ? took : best;
	}
	row(what, (double)t->bytes / best * 1e3, "MB/s", 100, 0);
	if (counter >= 0) {
		snprintf(name, sizeof(name), "  instructions per byte");
		plain_row(name, (double)count / (double)t->bytes, "");
	}
	row("  heap allocations, decision used again",
	    (double)allocated, "", 0, 1);
	return (double)t->bytes / best;
}

/* Lines of 80 to 120 bytes of a corpus: the best time of each. */
static void bench_corpus_lines(struct subject *s)
{
	struct texts t = { 0 };
	double *times;
	size_t count = 0;

	if (!texts_read(&t, "tldr_real.jsonl")) {
		row_skip("lines of a corpus", "not there");
		return;
	}
	times = malloc(t.count * sizeof(*times));
	for (size_t i = 0; times && i < t.count; i++) {
		double best = 1e18;

		if (t.items[i].n < 80 || t.items[i].n > 120)
			continue;
		for (int k = 0; k < 20; k++) {
			double start = bench_now(), took;

			check(s, t.items[i].bytes, t.items[i].n);
			took = bench_now() - start;
			best = took < best ? took : best;
		}
		times[count++] = best;
	}
	if (count) {
		row("real lines of 80-120 bytes, p50",
		    bench_median(times, count, 0.5), "ns", 3000, 1);
		row("real lines of 80-120 bytes, p99",
		    bench_median(times, count, 0.99), "ns", 10000, 1);
	}
	free(times);
	texts_free(&t);
}

/* --- growth --------------------------------------------------------------- */

#define SIZES 6 /* LARGEST / 32 to LARGEST */

/*
 * The best time of each size. The sizes take turns, so that what others do
 * meanwhile, and how fast the processor runs, is in all of them. Each has a
 * decision of its own, whose memory is warm: one that is used for a large text
 * and then for a small one gives the memory back in between.
 */
static void times_of(struct subject *subjects, size_t generator,
		     double best[SIZES])
{
	char *texts[SIZES];
	double all = 0;

	for (size_t i = 0; i < SIZES; i++) {
		texts[i] = generator_text(generator,
					  LARGEST >> (SIZES - 1 - i));
		best[i] = 1e18;
	}
	for (int round = 0; round < 5 || (round < 50 && all < 3e8); round++) {
		for (size_t i = 0; i < SIZES; i++) {
			double start = cpu_now(), took;

			check(&subjects[i], texts[i],
			      LARGEST >> (SIZES - 1 - i));
			took = cpu_now() - start;
			best[i] = took < best[i] ? took : best[i];
			all += took;
		}
	}
	for (size_t i = 0; i < SIZES; i++)
		free(texts[i]);
}

/*
 * time(2n) / time(n) up to 1 MiB: the worst step, and what the steps come to
 * on average. Below 64 KiB the fixed cost of a check hides growth; the bound
 * of the steps is then what is measured. The worst step has the caches of the
 * machine in it: what a check writes for 256 KiB of short words is in the
 * second level, and for 1 MiB in none. The work itself is counted in
 * instructions (guard_shell_growth.c).
 */
static void bench_growth(struct subject *s)
{
	struct subject subjects[SIZES];
	double worst_of_all = 0, mean_of_all = 0;

	for (size_t i = 0; i < SIZES; i++) {
		subjects[i] = *s;
		subjects[i].decision = NULL;
	}
	printf("\n  %-30s %10s %10s %12s\n", "growth to 1 MiB", "worst",
	       "average", "ms at 1 MiB");
	for (size_t i = 0; generator_name(i); i++) {
		double t[SIZES], worst = 0, mean;

		times_of(subjects, i, t);
		for (size_t k = 1; k < SIZES; k++)
			worst = t[k] / t[k - 1] > worst ? t[k] / t[k - 1]
							: worst;
		mean = pow(t[SIZES - 1] / t[0], 1.0 / (SIZES - 1));
		printf("  %-30s %10.2f %10.2f %12.2f\n", generator_name(i),
		       worst, mean, t[SIZES - 1] / 1e6);
		fflush(stdout);
		remember(json_pack("{s:s, s:f, s:f, s:f}", "growth",
				   generator_name(i), "worst", worst,
				   "average", mean, "ms", t[SIZES - 1] / 1e6));
		worst_of_all = worst > worst_of_all ? worst : worst_of_all;
		mean_of_all = mean > mean_of_all ? mean : mean_of_all;
	}
	for (size_t i = 0; i < SIZES; i++)
		agentbox_decision_free(subjects[i].decision);
	row("worst time(2n) / time(n)", worst_of_all, "", 2.2, 1);
	row("worst average of time(2n) / time(n)", mean_of_all, "", 2.2, 1);
}

/* --- stack ---------------------------------------------------------------- */

struct on_stack {
	struct subject *subject;
	const char *text;
	size_t n;
};

static void *check_on_stack(void *user)
{
	struct on_stack *o = user;

	check(o->subject, o->text, o->n);
	return NULL;
}

/* Bytes of a painted stack that a check of the text touched. */
static size_t stack_of(struct subject *s, const char *text, size_t n)
{
	struct on_stack o = { s, text, n };
	unsigned char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	size_t at = 0;

	if (stack == MAP_FAILED)
		return 0;
	memset(stack, 0xa5, STACK_BYTES);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, STACK_BYTES) == 0 &&
	    pthread_create(&thread, &attr, check_on_stack, &o) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	while (at < STACK_BYTES && stack[at] == 0xa5)
		at++;
	munmap(stack, STACK_BYTES);
	return STACK_BYTES - at;
}

/* The largest text of a generator may not need more than a small one. */
static void bench_stack(struct subject *s)
{
	size_t small = 0, large = 0;

	for (size_t i = 0; generator_name(i); i++) {
		char *text = generator_text(i, LARGEST);
		size_t used = stack_of(s, text, 4096);

		small = used > small ? used : small;
		used = stack_of(s, text, LARGEST);
		large = used > large ? used : large;
		free(text);
	}
	plain_row("C stack, texts of 4 KiB", (double)small, "bytes");
	plain_row("C stack, texts of 1 MiB", (double)large, "bytes");
}

/* --- all ------------------------------------------------------------------ */

static void bench_rate(struct subject *s, int counter, double ours)
{
	struct texts made = { 0 }, real = { 0 };
	double rate;

	texts_make(&made);
	rate = bench_texts(s, &made, "scripts of usual lines", counter);
	if (texts_read(&real, "ci_real.jsonl"))
		bench_texts(s, &real, "ci_real.jsonl", counter);
	else
		row_skip("ci_real.jsonl", "not there");
	bench_corpus_lines(s);
	bench_growth_counted();
	bench_growth(s);
	bench_stack(s);
	bench_shell_peers(ours, rate, &made);
	texts_free(&made);
	texts_free(&real);
}

static void check_any(void *user, const char *text, size_t n)
{
	check(user, text, n);
}

int main(int argc, char **argv)
{
	struct subject s = { 0 };
	int counter = count_instructions();
	double ours;
	json_t *out;

	if (argc == 2 && !strcmp(argv[1], GROWTH_OPTION)) {
		make_subject(&s, 1);
		growth_run(check_any, &s);
		end_subject(&s);
		json_decref(rows_json());
		return 0;
	}
	printf("%-46s\n", "shell check");
	make_subject(&s, 21);
	ours = bench_calls(&s, counter);
	bench_each_line(&s);
	bench_rate(&s, counter, ours);
	end_subject(&s);
	out = json_pack("{s:s, s:o}", "bench", "guard_shell", "rows",
			rows_json());
	json_dumpf(out, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(out);
	return 0;
}
