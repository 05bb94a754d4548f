/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the self-test makes of what it hears and reads: tests/data/verify.jsonl
 * {id, what, expected?, plan?, ...}, where `expected` are the walls that the
 * box was raised with. `what` is
 *   answer: an answer of agentbox-verify {wall, needs?, refused, how, text?}
 *   status, table: /proc/PID/status and mountinfo of a command {text}, the
 *           latter beside the owner's {owner}, whose uid is 1000
 *   limits: /proc/PID/limits {text}, with the limits report {limits} and the
 *           files of a cgroup {cgroup}, where %d is this process
 *   causes: findings, as below, that fall with one another {findings}
 *   report: findings of these verdicts {verdicts}, and whether it is {good}
 * `found` lists every finding that is not "pass", as "probe wall verdict", in
 * the order they come; `pass` probes that must be found to hold.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/clock.h"
#include "net_rows.h"
#include "verify/ask.h"
#include "verify/internal.h"

static const struct {
	const char *name;
	uint32_t bit;
} walls[] = {
	{ "userns", AB_WALL_USERNS },	  { "pidns", AB_WALL_PIDNS },
	{ "netns", AB_WALL_NETNS },	  { "rootfs", AB_WALL_ROOTFS },
	{ "landlock", AB_WALL_LANDLOCK }, { "seccomp", AB_WALL_SECCOMP },
	{ "caps", AB_WALL_CAPS },	  { "no_new_privs", AB_WALL_NNP },
};

/* All of them where the row says nothing. */
static uint32_t bits_of(const json_t *row, const char *key, uint32_t none)
{
	const json_t *list = json_object_get(row, key);
	uint32_t bits = list ? 0 : none;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		size_t w = 0;

		while (w < AB_ARRAY_LEN(walls) && strcmp(walls[w].name, name))
			w++;
		ck_assert_msg(w < AB_ARRAY_LEN(walls), "no wall %s", name);
		bits |= walls[w].bit;
	}
	return bits;
}

static void check_found(const agentbox_verify *report, const json_t *row,
			const char *id)
{
	const json_t *want = json_object_get(row, "found");
	const json_t *pass = json_object_get(row, "pass");
	size_t next = 0;

	ck_assert_msg(!report->nomem, "%s: no memory", id);
	for (size_t i = 0; i < report->count; i++) {
		const ab_finding *f = &report->findings[i];
		const char *w = json_string_value(json_array_get(want, next));
		char text[256];

		/* nothing holds of which something does not */
		if (f->verdict == AB_VERDICT_PASS) {
			ck_assert_msg(ab_verify_verdict_of(report, f->probe) ==
					      AB_VERDICT_PASS, "%s: %s", id,
				      f->probe);
			continue;
		}
		snprintf(text, sizeof(text), "%s %s %s", f->probe, f->wall,
			 ab_verdict_name(f->verdict));
		ck_assert_msg(w && !strcmp(w, text), "%s: %s (%s), not %s", id,
			      text, f->result, w ? w : "none");
		next++;
	}
	ck_assert_msg(next == json_array_size(want), "%s: %zu findings", id,
		      next);
	for (size_t i = 0; i < json_array_size(pass); i++) {
		const char *probe = json_string_value(json_array_get(pass, i));

		ck_assert_msg(ab_verify_verdict_of(report, probe) ==
				      AB_VERDICT_PASS, "%s: %s", id, probe);
	}
}

/* --- what is judged ------------------------------------------------------- */

static void judge_answer(ab_verify_run *run, const json_t *row)
{
	const char *text = net_text(row, "text");
	char *decoded = strdup(text ? text : "");
	ab_question item = { .id = "it", .tries = "try it",
			     .wall = net_text(row, "wall"),
			     .refused = net_text(row, "refused"),
			     .needs = bits_of(row, "needs", 0) };

	ab_verify_decode(decoded);
	ab_verify_judge(run, &item, net_text(row, "how"), decoded);
	free(decoded);
}

static void judge_table(ab_verify_run *run, const json_t *row)
{
	char *text = strdup(net_text(row, "text"));
	const char *owners = net_text(row, "owner");

	/* what the plan hides is looked for in this very tree */
	run->prober = getpid();
	ab_verify_table(run, text, owners ? owners : "");
	free(text);
}

/* Files of a cgroup: made, or removed with their directory. */
static void change_files(const char *dir, const json_t *files, bool make)
{
	const char *name;
	json_t *text;

	if (make)
		ck_assert_int_eq(mkdir(dir, 0700), 0);
	json_object_foreach((json_t *)(uintptr_t)files, name, text) {
		const char *from = json_string_value(text);
		const char *at = strstr(from, "%d");
		char path[512];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (!make) {
			unlink(path);
			continue;
		}
		f = fopen(path, "we");
		ck_assert_ptr_nonnull(f);
		if (at)
			fprintf(f, "%.*s%d%s", (int)(at - from), from,
				(int)getpid(), at + 2);
		else
			fputs(from, f);
		fclose(f);
	}
	if (!make)
		ck_assert_int_eq(rmdir(dir), 0);
}

static void judge_limits(ab_verify_run *run, const json_t *row)
{
	const json_t *files = json_object_get(row, "cgroup");
	const char *tmp = getenv("TMPDIR");
	char dir[256];
	char *dirs[] = { dir };

	snprintf(dir, sizeof(dir), "%s/ab-verify-%d", tmp ? tmp : "/tmp",
		 (int)getpid());
	run->walls.limits = json_object_get(row, "limits");
	run->prober = getpid();
	if (files) {
		change_files(dir, files, true);
		run->walls.cgroups = dirs;
		run->walls.cgroup_count = 1;
	}
	ab_verify_limits(run, net_text(row, "text"));
	if (files)
		change_files(dir, files, false);
}

static void judge_report(agentbox_verify *report, const json_t *row,
			 const char *id)
{
	const json_t *list = json_object_get(row, "verdicts");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		uint32_t verdict = 0;

		while (strcmp(ab_verdict_name(verdict), name) != 0)
			verdict++;
		ab_verify_add(report, "it", "it", "try it", true, verdict,
			      strdup("so"), strdup("somebody"));
	}
	report->is_bare = net_flag(row, "bare");
	ck_assert_msg(agentbox_verify_is_good(report) == net_flag(row, "good"),
		      "%s", id);
}

/* "probe wall verdict" each; what falls with what. */
static void judge_causes(agentbox_verify *report, const json_t *row)
{
	const json_t *list = json_object_get(row, "findings");
	static char words[16][3][32];

	for (size_t i = 0; i < json_array_size(list); i++) {
		uint32_t verdict = 0;

		ck_assert_int_eq(sscanf(json_string_value(
			json_array_get(list, i)), "%31s %31s %31s",
			words[i][0], words[i][1], words[i][2]), 3);
		while (strcmp(ab_verdict_name(verdict), words[i][2]) != 0)
			verdict++;
		ab_verify_add(report, words[i][0], words[i][1], "try it", true,
			      verdict, strdup("so"), strdup("somebody"));
	}
	ab_verify_find_causes(report);
}

static void check_row(const json_t *row, const char *id)
{
	const char *what = net_text(row, "what");
	agentbox_verify *report = calloc(1, sizeof(*report));
	ab_verify_run run = { .report = report, .owner = 1000 };

	run.walls.expected = bits_of(row, "expected", ~0u);
	run.plan = json_pack("{s:O?}", "mounts", json_object_get(row, "plan"));
	if (!strcmp(what, "answer"))
		judge_answer(&run, row);
	else if (!strcmp(what, "status"))
		ab_verify_status(&run, net_text(row, "text"));
	else if (!strcmp(what, "table"))
		judge_table(&run, row);
	else if (!strcmp(what, "limits"))
		judge_limits(&run, row);
	else if (!strcmp(what, "scheduling"))
		ab_verify_scheduling(&run, net_text(row, "stat"),
				     net_text(row, "text"),
				     (long)json_integer_value(json_object_get(
					     row, "io")));
	else if (!strcmp(what, "causes"))
		judge_causes(report, row);
	else
		judge_report(report, row, id);
	if (strcmp(what, "report") != 0)
		check_found(report, row, id);
	json_decref(run.plan);
	agentbox_verify_free(report);
}

START_TEST(verdicts_are_as_their_rows_say)
{
	net_each_row("verify.jsonl", 60, check_row);
}
END_TEST

/* --- text ----------------------------------------------------------------- */

START_TEST(a_finding_is_text_whatever_the_names_are)
{
	agentbox_verify *report = calloc(1, sizeof(*report));
	const ab_finding *f;

	ab_verify_add(report, "a\xff" "b", "it", "try it", true,
		      AB_VERDICT_PASS, strdup("\x1b[2J\nx\xc3\xa9\xc3"),
		      strdup("\x7f\xc2\x9b"));
	f = &report->findings[0];
	ck_assert_str_eq(f->probe, "a?b");
	ck_assert_str_eq(f->result, "?[2J x\xc3\xa9?");
	ck_assert_str_eq(f->answer, "???");
	agentbox_verify_free(report);
}
END_TEST

/* What could not be written down makes the report fail. */
START_TEST(a_finding_is_never_lost)
{
	agentbox_verify *report = calloc(1, sizeof(*report));

	ab_verify_add(report, "a", "it", "try it", true, AB_VERDICT_PASS, NULL,
		      strdup("x"));
	ck_assert(report->nomem && report->count == 0);
	ck_assert_int_eq(agentbox_verify_is_good(report), 0);
	ck_assert_uint_eq(ab_verify_verdict_of(report, "a"),
			  AB_VERDICT_UNKNOWN);
	agentbox_verify_free(report);
}
END_TEST

/* --- what listens where it was tried -------------------------------------- */

static int listen_somewhere(struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(*a);

	*a = (struct sockaddr_in){ .sin_family = AF_INET };
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)a, n), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)a, &n), 0);
	return fd;
}

/* The program said that it got through; did it come to us? */
static void look_at_bait(bool comes, const char *tried, const char *arrived)
{
	agentbox_verify *report = calloc(1, sizeof(*report));
	ab_policy policy = { .network.mode = AB_NET_NONE };
	ab_verify_run run = { .report = report, .policy = &policy };
	struct sockaddr_in a;
	int fd = -1;

	run.walls.expected = ~0u;
	run.bait.unix_fd = run.bait.abstract_fd = -1;
	run.bait.tcp_fd = listen_somewhere(&a);
	ab_verify_add(report, "sockets.loopback", "netns", "try it", true,
		      AB_VERDICT_MISSING, strdup("it was let"),
		      strdup("nothing"));
	if (comes) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)),
				 0);
	}
	ab_bait_look(&run);
	ck_assert_str_eq(ab_verdict_name(ab_verify_verdict_of(
		report, "sockets.loopback")), tried);
	ck_assert_str_eq(ab_verdict_name(ab_verify_verdict_of(
		report, "arrived.port")), arrived);
	close(run.bait.tcp_fd);
	if (fd >= 0)
		close(fd);
	agentbox_verify_free(report);
}

/* The agent may listen at every port of a loopback that is the box's own. */
START_TEST(who_listens_in_the_box_makes_no_wall_missing)
{
	look_at_bait(true, "missing", "missing");
	look_at_bait(false, "pass", "pass");
}
END_TEST

/* --- a secret in memory --------------------------------------------------- */

#define NR_MEMFD_SECRET 447

enum hidden { NOWHERE, WRITE_ONLY, READ_ONLY, NO_ACCESS, RESERVED, IN_RESERVED,
	      MEMFD, SECRETMEM };

/* More than is read for one secret; one page of it is touched, or two. */
#define RESERVE (UINT64_C(4) << 30)
#define DEEP (UINT64_C(3) << 30)

/* Descendants may be looked at up to 1: kernel.yama.ptrace_scope. */
static bool may_look(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope < 2;
}

/* Of the page, when the value stands there. */
static bool close_page(enum hidden how, void *page)
{
	static const int rights[] = { [WRITE_ONLY] = PROT_WRITE,
				      [READ_ONLY] = PROT_READ,
				      [NO_ACCESS] = PROT_NONE,
				      [MEMFD] = PROT_READ };

	return how == NOWHERE || how == RESERVED || how == IN_RESERVED ||
	       how == SECRETMEM || mprotect(page, 4096, rights[how]) == 0;
}

/* In two pages of it, or in none. */
static char *reserve(enum hidden how)
{
	char *all = mmap(NULL, RESERVE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (all == MAP_FAILED)
		_exit(1);
	all[0] = 1;
	return how == IN_RESERVED ? all + DEEP + 4096 - 10 : all;
}

/* Of what is only reserved, where no kernel tells which pages were touched
   (PAGEMAP_SCAN, since 6.7): it is too much to be read. */
static uint32_t of_reserved(uint32_t verdict)
{
	uint64_t arg[12] = { sizeof(arg) };
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	int r = ioctl(fd, _IOWR('f', 16, uint64_t[12]), arg);

	close(fd);
	return r == 0 ? verdict : AB_VERDICT_UNKNOWN;
}

/* A process that holds the secret in one page; 0: there is no such memory.
   It spells it itself: the test reads it into its own memory afterwards. */
static pid_t hold(enum hidden how)
{
	int fd = how == SECRETMEM ? (int)syscall(NR_MEMFD_SECRET, 0)
		 : how == MEMFD	  ? memfd_create("kept", MFD_CLOEXEC)
				  : -1;
	char *page, done;
	int pair[2];
	pid_t pid;

	if (how >= MEMFD && (fd < 0 || ftruncate(fd, 4096)))
		return 0;
	ck_assert_int_eq(pipe(pair), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
			    fd, 0);
		if (page == MAP_FAILED)
			_exit(1);
		if (how == RESERVED || how == IN_RESERVED)
			page = reserve(how);
		for (int i = 0;
		     how != NOWHERE && how != RESERVED && i < 24; i++)
			page[i] = (char)('a' + i * 7 % 24);
		if (!close_page(how, page))
			_exit(1);
		if (write(pair[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pair[1]);
	ck_assert_int_eq(read(pair[0], &done, 1), 1);
	close(pair[0]);
	if (fd >= 0)
		close(fd);
	return pid;
}

static uint32_t look_in(pid_t pid)
{
	agentbox_verify_options *o = calloc(1, sizeof(*o));
	agentbox_verify *report = calloc(1, sizeof(*report));
	ab_proc proc = { .pid = pid, .pid_inside = pid };
	ab_verify_run run = { .options = o, .report = report,
			      .procs = &proc, .proc_count = 1,
			      .prober = getpid() };
	int fd = memfd_create("secret", MFD_CLOEXEC);
	uint32_t verdict;

	for (int i = 0; i < 24; i++) {
		char c = (char)('a' + i * 7 % 24);

		ck_assert_int_eq(write(fd, &c, 1), 1);
	}
	ck_assert_int_eq(agentbox_verify_options_add_secret(o, "s", fd, NULL),
			 0);
	close(fd);
	run.deadline = ab_clock_boot_ns() + UINT64_C(60000000000);
	ab_verify_secrets(&run);
	verdict = ab_verify_verdict_of(report, "secrets.s.memory");
	agentbox_verify_free(report);
	agentbox_verify_options_free(o);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return verdict;
}

/* What nobody reads from outside is not "not there". */
START_TEST(a_secret_in_hidden_memory_is_not_missed)
{
	pid_t pid;

	if (!may_look()) {
		printf("# a secret in memory: skipped, kernel.yama.ptrace_scope "
		       "lets nobody look\n");
		return;
	}
	pid = hold(NOWHERE);
	ck_assert_uint_eq(look_in(pid), AB_VERDICT_PASS);
	pid = hold(READ_ONLY);
	ck_assert_uint_eq(look_in(pid), AB_VERDICT_MISSING);
	pid = hold(MEMFD);
	ck_assert_uint_eq(look_in(pid), AB_VERDICT_MISSING);
	pid = hold(RESERVED);
	ck_assert_uint_eq(look_in(pid), of_reserved(AB_VERDICT_PASS));
	pid = hold(IN_RESERVED);
	ck_assert_uint_eq(look_in(pid), of_reserved(AB_VERDICT_MISSING));
	pid = hold(NO_ACCESS);
	ck_assert_uint_ne(look_in(pid), AB_VERDICT_PASS);
	/* read where the kernel lets a debugger (proc_mem.force_override) */
	pid = hold(WRITE_ONLY);
	ck_assert_uint_ne(look_in(pid), AB_VERDICT_PASS);
	pid = hold(SECRETMEM);
	if (pid)
		ck_assert_uint_eq(look_in(pid), AB_VERDICT_UNKNOWN);
}
END_TEST

/* --- tracers -------------------------------------------------------------- */

struct tracer {
	pid_t traced, thread;
	long r;
	int said[2], end[2];
};

static void *trace(void *arg)
{
	struct tracer *t = arg;
	char byte = 'x';

	t->thread = gettid();
	t->r = ptrace(PTRACE_SEIZE, t->traced, 0, 0);
	if (write(t->said[1], &byte, 1) == 1)
		(void)!read(t->end[0], &byte, 1);
	return NULL;
}

static void *pause_in_a_thread(void *arg)
{
	pid_t me = gettid();

	if (write(*(int *)arg, &me, sizeof(me)) == sizeof(me))
		pause();
	return NULL;
}

/* Of neither process is it the main thread, and no list has it. */
START_TEST(a_tracer_is_found_whichever_thread_it_is)
{
	struct tracer t = { 0 };
	pthread_t thread;
	int pair[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(pair) | pipe(t.said) | pipe(t.end), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, pause_in_a_thread, &pair[1]))
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(pair[0], &t.traced, sizeof(t.traced)),
			 sizeof(t.traced));
	ck_assert_int_eq(ab_proc_tracer(pid, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, trace, &t), 0);
	ck_assert_int_eq(read(t.said[0], &byte, 1), 1);
	if (t.r) {
		printf("# tracers: skipped, this user may trace nobody\n");
	} else {
		ck_assert_int_eq(ab_proc_tracer(pid, 0), t.thread);
		ck_assert_int_eq(ab_proc_tracer(pid, pid), t.thread);
		ck_assert_int_eq(ab_proc_tracer(pid, getpid()), 0);
		ck_assert_int_eq(ab_proc_tracer(pid, getppid()), 0);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(write(t.end[1], "x", 1), 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_lt(ab_proc_tracer(pid, 0), 0);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(t.said[i]);
		close(t.end[i]);
	}
}
END_TEST

#define MANY 20000
#define LEFT 40

/* The first 4096 that a directory gives of so many hold not all of it. */
START_TEST(what_is_left_is_found_among_many_names)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char dir[512], name[64];
	int at, found = 0;

	snprintf(dir, sizeof(dir), "%s/many.XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(at, 0);
	for (int i = 0; i < MANY; i++) {
		bool is_left = i % (MANY / LEFT) == 0;

		snprintf(name, sizeof(name), "%s%016x",
			 is_left ? "left-" : "other-", (unsigned)i);
		if (!is_left) {
			ck_assert_int_eq(mknodat(at, name, S_IFREG | 0600, 0),
					 0);
			continue;
		}
		ck_assert_int_eq(mkdirat(at, name, 0700), 0);
		ck_assert_int_eq(utimensat(at, name, old, 0), 0);
	}
	ab_leftover_sweep(at, ".", "left-");
	for (int i = 0; i < MANY; i += MANY / LEFT) {
		snprintf(name, sizeof(name), "left-%016x", (unsigned)i);
		found += faccessat(at, name, F_OK, 0) == 0;
	}
	close(at);
	ab_leftover_remove(AT_FDCWD, dir);
	ck_assert_int_eq(found, 0);
}
END_TEST

START_TEST(options_refuse_what_cannot_be_looked_at)
{
	agentbox_verify_options *o = NULL;

	ck_assert_int_eq(agentbox_verify_options_new(&o, NULL), 0);
	ck_assert_int_eq(agentbox_verify_options_set_stop_fd(o, 999, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_verify_options_set_stop_fd(o, -2, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_verify_options_set_stop_fd(o, 0, NULL), 0);
	ck_assert_int_eq(agentbox_verify_options_set_stop_fd(o, -1, NULL), 0);
	agentbox_verify_options_free(o);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("verify");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60 * ab_test_slowness());
	tcase_add_test(tc, verdicts_are_as_their_rows_say);
	tcase_add_test(tc, a_finding_is_text_whatever_the_names_are);
	tcase_add_test(tc, a_finding_is_never_lost);
	tcase_add_test(tc, who_listens_in_the_box_makes_no_wall_missing);
	tcase_add_test(tc, a_secret_in_hidden_memory_is_not_missed);
	tcase_add_test(tc, a_tracer_is_found_whichever_thread_it_is);
	tcase_add_test(tc, what_is_left_is_found_among_many_names);
	tcase_add_test(tc, options_refuse_what_cannot_be_looked_at);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(suite());
	int bad;

	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
