/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one check of a path costs: the shape alone, a file that is there, one
 * that is not, through a link, and an open. Medians over batches, as a table
 * and one JSON line; the bounds of F26 are printed beside, not judged.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/guard.h"

#define BATCHES 4001
#define CHECKS 8

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	perror(what);
	exit(1);
}

static void file(int dir, const char *path)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	must(fd, path);
	close(fd);
}

static int make_tree(char *dir)
{
	int fd;

	must(mkdtemp(dir) ? 0 : -1, dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(fd, dir);
	must(mkdirat(fd, "src", 0755), "src");
	must(mkdirat(fd, "src/lib", 0755), "src/lib");
	must(mkdirat(fd, "src/lib/guard", 0755), "src/lib/guard");
	file(fd, "src/lib/guard/write.c");
	must(symlinkat("lib/guard", fd, "src/link"), "src/link");
	return fd;
}

static void remove_tree(const char *dir, int fd)
{
	unlinkat(fd, "src/link", 0);
	unlinkat(fd, "src/lib/guard/write.c", 0);
	unlinkat(fd, "src/lib/guard", AT_REMOVEDIR);
	unlinkat(fd, "src/lib", AT_REMOVEDIR);
	unlinkat(fd, "src", AT_REMOVEDIR);
	rmdir(dir);
	close(fd);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

typedef void (*one_fn)(agentbox_guard *guard, agentbox_decision **d,
		       const char *path, size_t n);

static void check_one(agentbox_guard *guard, agentbox_decision **d,
		      const char *path, size_t n)
{
	must(agentbox_guard_check_path(guard, AGENTBOX_ACTION_WRITE, -1, path,
				       n, d, NULL), "check");
}

static void ask_one(agentbox_guard *guard, agentbox_decision **d,
		    const char *path, size_t n)
{
	(void)d;
	(void)agentbox_guard_allow_write(guard, path, n);
}

static void open_one(agentbox_guard *guard, agentbox_decision **d,
		     const char *path, size_t n)
{
	int32_t fd;

	must(agentbox_guard_open(guard, AGENTBOX_OPEN_WRITE, 0, -1, path, n,
				 &fd, d, NULL), "open");
	close(fd);
}

/* The median of a call, in nanoseconds; a batch is shorter than the time slice
   that other work on the machine would take away. */
static double measure(agentbox_guard *guard, one_fn one, const char *path)
{
	static double times[BATCHES];
	agentbox_decision *d = NULL;
	size_t n = strlen(path);

	for (int i = 0; i < BATCHES; i++) {
		double start = now();

		for (int j = 0; j < CHECKS; j++)
			one(guard, &d, path, n);
		times[i] = (now() - start) / CHECKS;
	}
	agentbox_decision_free(d);
	qsort(times, BATCHES, sizeof(*times), compare);
	return times[BATCHES / 2];
}

int main(void)
{
	static const struct {
		const char *name;
		one_fn one;
		const char *path;
		int bound; /* ns, F26; 0: none */
	} rows[] = {
		{ "shape refused", check_one, "src/../../x", 2000 },
		{ "file that is there", check_one, "src/lib/guard/write.c",
		  20000 },
		{ "file that is not", check_one, "src/lib/guard/new.c", 20000 },
		{ "protected name", check_one, "src/.git/hooks/pre-commit",
		  20000 },
		{ "through a link", check_one, "src/link/write.c", 0 },
		{ "allow_write", ask_one, "src/lib/guard/write.c", 20000 },
		{ "open and close", open_one, "src/lib/guard/write.c", 0 },
	};
	char dir[] = "/var/tmp/agentbox-bench-guard.XXXXXX";
	int fd = make_tree(dir);
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_guard *guard = NULL;

	must(agentbox_context_new(&context, NULL), "context");
	must(agentbox_policy_builtin(context, "workspace", &policy, NULL),
	     "policy");
	must(agentbox_guard_new(policy, fd, &guard, NULL), "guard");
	printf("%-22s %10s %10s\n", "path check", "p50 ns", "bound");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double ns = measure(guard, rows[i].one, rows[i].path);

		printf("%-22s %10.0f %10d\n", rows[i].name, ns, rows[i].bound);
		printf("{\"bench\":\"guard_path\",\"case\":\"%s\",\"p50_ns\":"
		       "%.0f}\n", rows[i].name, ns);
	}
	agentbox_guard_unref(guard);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	remove_tree(dir, fd);
	return 0;
}
