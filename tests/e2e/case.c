/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The harness, the runner's half: one process per case, checks, what a case
 * starts with and may not leave behind. It refuses to call a case good that
 * left anything or ran out of time. Spec: tests/e2e/box.h.
 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abtest.h"
#include "box.h"

#define CASE_SECONDS 10
unsigned int e2e_most_seconds = 60;
#define EXIT_BAD 1
#define EXIT_SKIP 77

struct kept {
	struct kept *next;
	void *p;
};
static struct kept *kept;
static size_t failures;
static bool ending;
static char base[4096];
static char *outside_before;
static ab_leak_mark *mark;
static char skip_reason[512];
static int report_fd = -1;
static const char *volatile doing = "preparing";

void *e2e_keep(void *p)
{
	struct kept *k = malloc(sizeof(*k));

	if (!p || !k) {
		fputs("# out of memory\n", stdout);
		fflush(stdout);
		_exit(EXIT_BAD);
	}
	k->p = p;
	k->next = kept;
	kept = k;
	return p;
}

static char *text_va(const char *fmt, va_list ap)
{
	char *p = NULL;

	if (vasprintf(&p, fmt, ap) < 0)
		p = NULL;
	return e2e_keep(p);
}

char *e2e_text(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = text_va(fmt, ap);
	va_end(ap);
	return p;
}

char *e2e_line(int fd)
{
	char line[512];
	size_t n = 0;

	/* byte by byte: what follows is for the next reader */
	while (n < sizeof(line) - 1 && read(fd, &line[n], 1) == 1 &&
	       line[n] != '\n')
		n++;
	line[n] = '\0';
	return e2e_text("%s", line);
}

size_t e2e_count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

int64_t e2e_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void e2e_sleep_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000,
			      .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* Every line of a message becomes a TAP comment. */
static void comment(const char *text)
{
	char *save = NULL, *copy = strdup(text);

	for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		printf("#   %s\n", line);
	free(copy);
	fflush(stdout);
}

size_t e2e_failures(void)
{
	return failures;
}

void e2e_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	comment(text_va(fmt, ap));
	va_end(ap);
}

bool e2e_check(bool good, const char *file, int line, const char *what,
	       const char *fmt, ...)
{
	va_list ap;

	if (good)
		return true;
	failures++;
	va_start(ap, fmt);
	comment(e2e_text("%s:%d: %s: %s", strrchr(file, '/') ?
			 strrchr(file, '/') + 1 : file, line, what,
			 text_va(fmt, ap)));
	va_end(ap);
	return false;
}


const char *host_base(void)
{
	return base;
}

const char *host_path(const char *fmt, ...)
{
	va_list ap;
	char *tail;

	va_start(ap, fmt);
	tail = text_va(fmt, ap);
	va_end(ap);
	return e2e_text("%s/%s", base, tail);
}

void e2e_mark_again(void)
{
	ab_leak_mark_free(mark);
	mark = ab_leak_mark_new();
	outside_before = host_tree(host_path("outside"));
}

void e2e_doing(const char *what)
{
	doing = what;
}

/* Says where it stands and ends; the box ends with its host. */
static void on_alarm(int signum)
{
	static const char text[] = "#   out of time during: ";

	(void)!write(1, text, sizeof(text) - 1);
	(void)!write(1, doing, strlen(doing));
	(void)!write(1, "\n", 1);
	signal(signum, SIG_DFL);
	raise(signum);
}

void e2e_seconds(unsigned int seconds)
{
	alarm(ab_test_patience(seconds));
}

/* Removes a tree whatever the modes in it are. */
static void remove_tree(const char *path)
{
	int status;

	HOST_RUN(&status, "sh", "-c", "exec 2>/dev/null; "
		 "chmod -R u+rwx \"$1\"; rm -rf --one-file-system \"$1\"",
		 "sh", path);
}

/*
 * cgroups and state files named after a box that are still there. What was
 * quarantined stays: it is the evidence.
 */
static void check_remains(void)
{
	const char *id;
	int status;

	for (size_t i = 0; (id = box_id_seen(i)); i++) {
		char *left = HOST_RUN(&status, "find", "/sys/fs/cgroup",
				      host_path("state"), "-name",
				      e2e_text("*%s*", id), "(", "!",
				      "-path", "*/quarantine/*", "-o",
				      "-empty", ")");

		CHECK(!*left, "left by box %s: %s", id, left);
	}
}

static void finish(void)
{
	char text[4096];

	if (ending)
		return;
	ending = true;
	e2e_doing("teardown");
	box_teardown();
	if (outside_before)
		host_same_tree("outside/ of the host", outside_before,
			       host_tree(host_path("outside")));
	check_remains();
	if (*base)
		remove_tree(base);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	/* a case that ended early keeps what it had in hand */
	if (mark && !failures && !*skip_reason &&
	    ab_leak_report(mark, text, sizeof(text)) > 0)
		CHECK(false, "left behind: %s", text);
	ab_leak_mark_free(mark);
}

void e2e_end(void)
{
	finish();
	fflush(stdout);
	exit(failures ? EXIT_BAD : 0);
}

void e2e_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, sizeof(skip_reason), fmt, ap);
	va_end(ap);
	skip_reason[strcspn(skip_reason, "\n")] = 0;
	finish();
	fflush(stdout);
	if (failures)
		exit(EXIT_BAD);
	if (write(report_fd, skip_reason, strlen(skip_reason)) < 0)
		exit(EXIT_BAD);
	exit(EXIT_SKIP);
}

static void copy_attacker(void)
{
	int status;
	const char *from = e2e_text("%s/tests/e2e/attacker",
				    ab_test_builddir());

	host_mkdir(host_path("tools"));
	HOST_RUN(&status, "cp", from, host_path("tools/attacker"));
	REQUIRE(status == 0, "cannot copy %s", from);
}

/*
 * In a user namespace of an ordinary user the installed helper belongs to
 * nobody, and nobody's programs are not trusted: he gets a copy of his own.
 */
static void copy_helper(void)
{
	int status;
	const char *from = ab_test_helper_dir();

	host_mkdir(host_path("helper"));
	HOST_RUN(&status, "sh", "-c", "cp \"$0\"/agentbox-* \"$1\"", from,
		 host_path("helper"));
	REQUIRE(status == 0, "cannot copy from %s", from);
	setenv("AB_TEST_HELPER_DIR", host_path("helper"), 1);
}

static void make_host(void)
{
	char *real;

	snprintf(base, sizeof(base), "%s/e2e-XXXXXX", ab_test_tmpdir());
	REQUIRE(mkdtemp(base), "mkdtemp %s: %m", base);
	chmod(base, 0755);
	real = realpath(base, NULL);
	snprintf(base, sizeof(base), "%s", (char *)e2e_keep(real));
	host_repository(ws_path(""));
	host_write(ws_path("README"), "a workspace\n");
	host_write(ws_path("src/main.c"), "int main(void) { return 0; }\n");
	host_write(ws_path("Makefile"), "all:\n\ttrue\n");
	host_write(host_path("outside/secret"),
		   "FAKE-SECRET-FOR-TESTS-ONLY\n");
	host_write(host_path("outside/private/id_ed25519"),
		   "FAKE KEY FOR TESTS ONLY\n");
	host_mkdir(host_path("state"));
	chmod(host_path("state"), 0700);
	copy_attacker();
	if (geteuid() != 0)
		copy_helper();
}

static void run_case(const struct e2e_case *c)
{
	signal(SIGALRM, on_alarm);
	e2e_seconds(CASE_SECONDS);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	mark = ab_leak_mark_new();
	make_host();
	outside_before = host_tree(host_path("outside"));
	c->run();
	e2e_end();
}

/* A case that its own alarm cannot end is killed: a minute is past all. */
static void await(pid_t pid, int *status)
{
	int64_t until = e2e_now_ms() +
			(int64_t)ab_test_patience(e2e_most_seconds) * 1000;

	while (waitpid(pid, status, WNOHANG) == 0) {
		if (e2e_now_ms() > until)
			kill(pid, SIGKILL);
		e2e_sleep_ms(2);
	}
}

/* One case in a process group of its own; prints its TAP line. */
static bool judge(const struct e2e_case *c, size_t number)
{
	int fds[2], status = 0;
	char reason[512] = "";
	int64_t start = e2e_now_ms();
	pid_t pid;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		close(fds[0]);
		report_fd = fds[1];
		run_case(c);
	}
	close(fds[1]);
	await(pid, &status);
	kill(-pid, SIGKILL);
	n = read(fds[0], reason, sizeof(reason) - 1);
	reason[n > 0 ? n : 0] = 0;
	close(fds[0]);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (WIFSIGNALED(status))
		printf("#   ended by signal %d\n", WTERMSIG(status));
	bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP;
	bool good = skipped || (WIFEXITED(status) && !WEXITSTATUS(status));

	printf("%sok %zu - %s%s%s\n", good ? "" : "not ", number, c->name,
	       skipped ? " # SKIP " : "", skipped ? reason : "");
	if (getenv("E2E_TIMES"))
		printf("#   %lld ms\n", (long long)(e2e_now_ms() - start));
	fflush(stdout);
	return good;
}

static bool chosen(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

int e2e_main(int argc, char **argv, const struct e2e_case *cases)
{
	size_t number = 0, bad = 0;

	for (const struct e2e_case *c = cases; c->name; c++) {
		if (argc > 1 && strcmp(argv[1], "-l") == 0)
			puts(c->name);
		else if (chosen(c->name, argc, argv))
			bad += judge(c, ++number) ? 0 : 1;
	}
	if (argc < 2 || strcmp(argv[1], "-l") != 0)
		printf("1..%zu\n", number);
	return bad ? EXIT_BAD : 0;
}
