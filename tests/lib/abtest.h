/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every test program shares. Linking it is enough to get the leak
 * checker: at exit the process must have no more file descriptors, living
 * descendants or mounts than at start, or it exits 99.
 */
#ifndef ABTEST_H
#define ABTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where things are; from the runner's environment, else the build tree. */
const char *ab_test_srcdir(void);
const char *ab_test_builddir(void);
const char *ab_test_helper_dir(void);
/* The installed `agentbox` program. */
const char *ab_test_tool(void);
/* A private writable directory. */
const char *ab_test_tmpdir(void);

/*
 * This test cannot run here: prints "# SKIP name: reason", which the runner
 * counts as a skip instead of a pass. The caller then returns. `reason`
 * names the missing kernel feature.
 */
void ab_test_skip(const char *name, const char *reason);
/* The same for a whole program: exits 77. */
void ab_test_skip_all(const char *reason) __attribute__((noreturn));

/*
 * How many times slower than usual this program may be (AB_TEST_SLOWNESS, as
 * under valgrind), 1 where nothing is said. For bounds in seconds; how time
 * grows is judged as ever.
 */
double ab_test_slowness(void);

/*
 * `seconds`, as many times over as CK_TIMEOUT_MULTIPLIER says, which Check
 * knows too: how long to wait before what should happen counts as lost.
 */
unsigned int ab_test_patience(unsigned int seconds);

/*
 * Leaks between two points of one process. `ab_leak_report` writes one line
 * per leak into text and returns how many there are; it waits up to a second
 * for processes that are about to end.
 */
typedef struct ab_leak_mark ab_leak_mark;
ab_leak_mark *ab_leak_mark_new(void);
size_t ab_leak_report(const ab_leak_mark *mark, char *text, size_t size);
void ab_leak_mark_free(ab_leak_mark *mark);
/* For Check: tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown) */
void ab_leak_setup(void);
void ab_leak_teardown(void);

/*
 * Run `body` once for every allocation it makes, with that one failing, until
 * a run meets no failure. `body` returns true when it reported success and
 * false when it reported out of memory; it must clean up either way. Returns
 * the number of allocations failed. A body that says success although its
 * allocation failed is right only when it could do without; `*tolerated`
 * (may be NULL) counts those. Runs at most `max` rounds, then returns 0.
 * Without fault injection in this build it runs the body once and returns 0.
 */
typedef bool (*ab_torture_fn)(void *data);
uint64_t ab_torture(ab_torture_fn body, void *data, uint64_t max,
		    uint64_t *tolerated);
bool ab_torture_available(void);

#endif
