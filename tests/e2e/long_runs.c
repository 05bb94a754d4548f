/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The minutes-long runs: 64 threads in 16 boxes for a minute, ten thousand
 * warm spawns, a host of 2 GiB, 2 GiB of output. Rows 62, 92 and 93 of
 * tests/e2e/SANDBOX-CASES.md. Times are printed, never judged.
 */
#include "box.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BOXES 16
#define THREADS 64

struct work {
	agentbox_sandbox *sandbox;
	int64_t until;
	long done, bad;
	char error[200];
};

static void *work(void *data)
{
	struct work *w = data;
	const char *argv[] = { "/bin/echo", "fine" };

	while (e2e_now_ms() < w->until) {
		agentbox_command *c = NULL;
		agentbox_process *p = NULL;
		agentbox_bytes *out = NULL;
		agentbox_error *err = NULL;

		if (agentbox_command_new(argv, 2, &c, &err) ||
		    agentbox_sandbox_capture(w->sandbox, c, 100, &p, &out,
					     NULL, &err) ||
		    strcmp(agentbox_bytes_get_data(out), "fine\n") != 0) {
			w->bad++;
			snprintf(w->error, sizeof(w->error), "%s",
				 agentbox_error_get_message(err));
			agentbox_error_free(err);
		}
		w->done++;
		agentbox_bytes_free(out);
		agentbox_process_free(p);
		agentbox_command_free(c);
	}
	return NULL;
}

static void case_092_a_minute_of_64_threads_in_16_boxes(void)
{
	agentbox_sandbox *boxes[BOXES];
	pthread_t threads[THREADS];
	static struct work works[THREADS];
	size_t fds;
	long done = 0;

	e2e_seconds(180);
	box_raise(NULL, NULL);
	box_end();
	fds = host_fd_count(getpid());
	for (int i = 0; i < BOXES; i++)
		boxes[i] = box_raise(NULL, NULL);
	for (int i = 0; i < THREADS; i++) {
		works[i].sandbox = boxes[i % BOXES];
		works[i].until = e2e_now_ms() + 60000;
		REQUIRE(pthread_create(&threads[i], NULL, work,
				       &works[i]) == 0, "thread");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		done += works[i].done;
		CHECK(!works[i].bad, "thread %d: %ld of %ld bad, last: %s", i,
		      works[i].bad, works[i].done, works[i].error);
	}
	box_end();
	for (int i = 0; i < BOXES - 1; i++)
		agentbox_sandbox_free(boxes[i]);
	e2e_note("%ld commands", done);
	CHECK(host_fd_count(getpid()) == fds, "%zu descriptors, then %zu",
	      fds, host_fd_count(getpid()));
}

/* Without the harness, which keeps text: only the library's own memory. */
static void spawn_and_wait(const agentbox_command *c)
{
	agentbox_process *p = NULL;
	agentbox_error *err = NULL;

	REQUIRE(agentbox_sandbox_spawn(box(), c, &p, &err) == 0 &&
		agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
		agentbox_error_get_message(err));
	agentbox_process_free(p);
}

static void api_ten_thousand_spawns_cost_nothing(void)
{
	const char *argv[] = { "/bin/true" };
	agentbox_command *c = NULL;
	agentbox_error *err = NULL;
	size_t fds = 0, rss = 0, init_fds = 0, init_rss = 0;
	pid_t init = 0;
	int64_t start;

	e2e_seconds(180);
	box_raise(NULL, NULL);
	REQUIRE(agentbox_command_new(argv, 1, &c, &err) == 0, "command");
	start = e2e_now_ms();
	for (int i = 0; i < 10000; i++) {
		spawn_and_wait(c);
		if (i != 1000)
			continue;
		init = host_descendant("agentbox-init");
		fds = host_fd_count(getpid());
		rss = host_rss_kib(getpid());
		init_fds = host_fd_count(init);
		init_rss = host_rss_kib(init);
	}
	e2e_note("%lld ms", (long long)(e2e_now_ms() - start));
	CHECK(host_fd_count(getpid()) == fds, "descriptors: %zu, then %zu",
	      fds, host_fd_count(getpid()));
	CHECK(host_rss_kib(getpid()) <= rss + 256, "RSS: %zu, then %zu", rss,
	      host_rss_kib(getpid()));
	CHECK(host_fd_count(init) == init_fds, "init: %zu, then %zu",
	      init_fds, host_fd_count(init));
	CHECK(host_rss_kib(init) <= init_rss + 128,
	      "RSS of init: %zu, then %zu", init_rss, host_rss_kib(init));
	agentbox_command_free(c);
}

static int64_t hundred_spawns(void)
{
	const char *argv[] = { "/bin/true" };
	agentbox_command *c = NULL;
	agentbox_error *err = NULL;
	int64_t start;

	REQUIRE(agentbox_command_new(argv, 1, &c, &err) == 0, "command");
	start = e2e_now_ms();
	for (int i = 0; i < 100; i++)
		spawn_and_wait(c);
	agentbox_command_free(c);
	return e2e_now_ms() - start;
}

static void case_093_host_of_2_gib(void)
{
	size_t size = (size_t)2 << 30;
	char *p;

	if (*(getenv("AB_TEST_SANITIZED") ?: ""))
		e2e_skip("a sanitizer multiplies the 2 GiB");
	e2e_seconds(60);
	box_raise(NULL, NULL);
	e2e_note("100 commands, small host: %lld ms",
		 (long long)hundred_spawns());
	box_end();
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		e2e_skip("no 2 GiB of memory");
	memset(p, 1, size);
	box_raise(NULL, NULL);
	e2e_note("100 commands, 2 GiB host: %lld ms",
		 (long long)hundred_spawns());
	ATTACK("EROFS|EACCES", "write /workspace/.git/config");
	munmap(p, size);
}

static void case_062_two_gib_of_output(void)
{
	size_t before = host_rss_kib(getpid());
	struct outcome o;

	e2e_seconds(120);
	box_raise(NULL, NULL);
	o = BOX_RUN("/attack/attacker", "do-flood", "2048");
	CHECK(o.status == 0 && strlen(o.out) == (size_t)1 << 20,
	      "status %d, kept %zu", o.status, strlen(o.out));
	CHECK(host_rss_kib(getpid()) < before + 32 * 1024, "grew by %zu KiB",
	      host_rss_kib(getpid()) - before);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_092_a_minute_of_64_threads_in_16_boxes),
		CASE(api_ten_thousand_spawns_cost_nothing),
		CASE(case_093_host_of_2_gib),
		CASE(case_062_two_gib_of_output),
		CASES_END,
	};

	e2e_most_seconds = 240;
	return e2e_main(argc, argv, cases);
}
