/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two jobs on one snapshot, switched at each step of both: what a race finds
 * once in a thousand turns is found each time. A step is a system call of the
 * helper by which the other's files change or are seen: the first goes so many
 * of its own, then the other, the first as far as it can without the other,
 * and both to their end. Cases 72, 73. Spec: SNAPSHOT-CASES.md.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agentbox/base.h"

#include "box.h"
#include "copy.h"

/* The short form has some of the turns, and a copy's steps from the first name
   that it gives or takes away on; the long one has all. */
#ifndef STRIDES
#define STRIDES { 2, 31 }
#define MOST_SECONDS 120
#endif

static const unsigned strides[2] = STRIDES;

/* scrub.c */
#define SCRUB_WAITS_MS 2000
/* Fewer and they were not stopped where they should be. */
#define LEAST_TURNS 2

/* How a worker ends that may not be traced. */
#define NOT_TRACED 77

/* A job whose helper is traced: it goes on as far as it is told to. */
typedef struct job {
	pid_t worker, helper;
	int said; /* where the worker says how it ended */
	unsigned steps;
	bool has_begun, is_at_step, has_ended;
	/* it asked for a lock twice, and did nothing else between */
	bool is_waiting, was_refused;
	long call;
} job;

static copy_task task_of(uint32_t kind, uint32_t flags)
{
	copy_task task;

	copy_init(&task, kind);
	task.plan.flags = flags;
	task.source = host_path("small");
	return task;
}

/* How it ended, in one piece of the worker's pipe. */
typedef struct said_end {
	int32_t code;
	char message[600];
} said_end;

static void work(const copy_task *task, int said)
{
	copy_run run;
	copy_end end;
	said_end last = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(errno == EPERM || errno == ENOSYS ? NOT_TRACED : 1);
	raise(SIGSTOP);
	run = copy_start(task);
	copy_wait(&run, &end);
	last.code = end.code;
	memcpy(last.message, end.message, sizeof(last.message));
	_exit(write(said, &last, sizeof(last)) != sizeof(last));
}

static int wait_stopped(pid_t pid)
{
	int status = 0;

	REQUIRE(waitpid(pid, &status, __WALL) == pid, "waitpid: %m");
	return status;
}

/* The first process that the worker starts is the helper: it is followed, and
   nobody else. */
static job start(const copy_task *task)
{
	const long births = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			    PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	unsigned long helper = 0;
	job j = { .has_begun = strides[0] == 1 ||
			       task->plan.job == AB_COPY_SCRUB };
	int said[2], status;

	REQUIRE(pipe2(said, O_CLOEXEC) == 0, "pipe2: %m");
	j.worker = fork();
	if (j.worker == 0)
		work(task, said[1]);
	close(said[1]);
	j.said = said[0];
	status = wait_stopped(j.worker);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_TRACED)
		e2e_skip("nobody may be traced here (ptrace)");
	REQUIRE(WIFSTOPPED(status), "it ended: %x", status);
	REQUIRE(ptrace(PTRACE_SETOPTIONS, j.worker, 0, births) == 0,
		"options: %m");
	for (int sig = 0; !helper;) {
		REQUIRE(ptrace(PTRACE_CONT, j.worker, 0, sig) == 0, "cont: %m");
		status = wait_stopped(j.worker);
		REQUIRE(WIFSTOPPED(status), "it ended: %x", status);
		sig = 0;
		if (status >> 16)
			ptrace(PTRACE_GETEVENTMSG, j.worker, 0, &helper);
		else
			sig = WSTOPSIG(status);
	}
	j.helper = (pid_t)helper;
	REQUIRE(ptrace(PTRACE_DETACH, j.worker, 0, 0) == 0, "detach: %m");
	REQUIRE(WIFSTOPPED(wait_stopped(j.helper)), "it ended");
	REQUIRE(ptrace(PTRACE_SETOPTIONS, j.helper, 0,
		       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
			       PTRACE_O_EXITKILL) == 0,
		"options: %m");
	return j;
}

/* Of names in directories that it was given: the other job's too. */
static bool is_step(const struct __ptrace_syscall_info *info)
{
	switch ((long)info->entry.nr) {
	case SYS_renameat2:
	case SYS_unlinkat:
	case SYS_openat:
		return (int)info->entry.args[0] != AT_FDCWD;
	case SYS_newfstatat: /* fstat(3) is one, too */
		return (int)info->entry.args[0] != AT_FDCWD &&
		       !(info->entry.args[3] & AT_EMPTY_PATH);
	case SYS_flock:
		return true;
	}
	return false;
}

/* Up to its next step, or the end. */
static void go_on(job *j)
{
	int sig = 0;

	j->is_at_step = j->is_waiting = false;
	while (!j->has_ended && !j->is_at_step && !j->is_waiting) {
		struct __ptrace_syscall_info info = { 0 };
		int status;

		/* whoever waited for its end too long has killed it (ESRCH) */
		REQUIRE(ptrace(PTRACE_SYSCALL, j->helper, 0, sig) == 0 ||
				errno == ESRCH, "syscall: %m");
		status = wait_stopped(j->helper);
		sig = 0;
		if (!WIFSTOPPED(status)) {
			j->has_ended = true;
			break;
		}
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			sig = status >> 16 ? 0 : WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, j->helper, sizeof(info),
			   &info) < 0) {
			REQUIRE(errno == ESRCH, "info: %m");
			continue;
		}
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			j->call = (long)info.entry.nr;
			j->has_begun |= j->call == SYS_renameat2;
			j->is_at_step = j->has_begun && is_step(&info);
			j->steps += j->is_at_step;
			j->was_refused &= j->call == SYS_flock ||
					  !j->is_at_step;
		} else if (j->call == SYS_flock) {
			bool is_refused = info.exit.rval == -EWOULDBLOCK;

			j->is_waiting = is_refused && j->was_refused;
			j->was_refused = is_refused;
		}
	}
}

/* So many steps are done, and the next has not begun; or is there none that
   it can come to while the other stands still? */
static bool go_to(job *j, unsigned steps)
{
	while (!j->has_ended && !j->is_waiting && j->steps <= steps)
		go_on(j);
	return !j->has_ended && !j->is_waiting;
}

/* Until it has ended, or can only wait for the other. */
static void go_while_it_can(job *j)
{
	do
		go_on(j);
	while (!j->has_ended && !j->is_waiting);
}

static void go_to_end(job *j)
{
	while (!j->has_ended)
		go_on(j);
}

/* Past its next flock(2), by which another may come to something. */
static void go_past_lock(job *j)
{
	do
		go_on(j);
	while (!j->has_ended && !(j->is_at_step && j->call == SYS_flock));
	if (!j->has_ended)
		go_on(j);
}

static said_end end(job *j)
{
	said_end last = { .code = AGENTBOX_ECLOSED };
	int status = 0;

	CHECK(read(j->said, &last, sizeof(last)) == sizeof(last),
	      "it said nothing");
	REQUIRE(waitpid(j->worker, &status, 0) == j->worker, "worker: %m");
	close(j->said);
	return last;
}

/* --- what is there before ------------------------------------------------- */

static unsigned round_number;

static void change_source(void)
{
	host_write(host_path("small/round.c"),
		   e2e_text("round %u\n", round_number++));
}

static void make(uint32_t flags)
{
	copy_task task = task_of(AB_COPY_MAKE, flags);
	copy_end end;

	change_source();
	end = copy_do(&task);
	REQUIRE(end.code == 0, "%d %s", end.code, end.message);
}

/* So many generations are there: a file of each is held. */
static void make_before(unsigned generations, int held[2])
{
	held[0] = held[1] = -1;
	for (unsigned i = 0; i < generations; i++) {
		make(AB_COPY_KEEP_OLD | (i ? AB_COPY_REPLACE : 0));
		held[i] = open(snap_path("round.c"), O_RDONLY | O_CLOEXEC);
		REQUIRE(held[i] >= 0, "round.c");
	}
	change_source();
}

static char *names_in(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	char *all = e2e_text("%s", "");

	REQUIRE(d, "%s: %m", path);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
			all = e2e_text("%s %s", all, e->d_name);
	closedir(d);
	return all;
}

/* --- the two of them ------------------------------------------------------ */

typedef struct turn {
	unsigned generations;
	bool anew; /* made without AB_COPY_REPLACE: when it was ended */
	uint32_t kinds[2];
	unsigned steps[2]; /* so far each goes before it is the other's turn */
	bool was_first_done; /* before the second began */
	unsigned checked;    /* turns so far, but for those that stood still */
	said_end ends[2];
} turn;

static const char *name_of(uint32_t kind)
{
	return kind == AB_COPY_SCRUB ? "scrub" : "make";
}

static const char *text_of(const turn *t)
{
	const char *text = e2e_text("%u generations%s", t->generations,
				    t->anew ? ", anew" : "");

	for (int i = 0; i < 2; i++)
		text = e2e_text("%s; %s to %u: %d %s", text,
				name_of(t->kinds[i]), t->steps[i],
				t->ends[i].code, t->ends[i].message);
	return text;
}

static bool has(const turn *t, uint32_t kind, int32_t code)
{
	return (t->kinds[0] == kind && t->ends[0].code == code) ||
	       (t->kinds[1] == kind && t->ends[1].code == code);
}

/* What each of them may say. */
static void check_codes(const turn *t)
{
	bool has_made = has(t, AB_COPY_MAKE, 0);
	bool scrubs = t->kinds[0] == AB_COPY_SCRUB ||
		      t->kinds[1] == AB_COPY_SCRUB;

	for (int i = 0; i < 2; i++) {
		int32_t code = t->ends[i].code;

		if (t->kinds[i] == AB_COPY_SCRUB)
			CHECK(code == 0 || code == AGENTBOX_ENOTFOUND, "%s",
			      text_of(t));
		else
			CHECK(code == 0 || code == AGENTBOX_EBUSY ||
				      (t->anew && code == AGENTBOX_EEXIST) ||
				      (scrubs && code == AGENTBOX_ENOTFOUND),
			      "%s", text_of(t));
	}
	/* what was there was ended by somebody, or somebody made it anew */
	CHECK(scrubs ? !t->generations || has(t, AB_COPY_SCRUB, 0) : has_made,
	      "nobody did it: %s", text_of(t));
}

static bool reads(int fd)
{
	char c;

	return fd >= 0 && pread(fd, &c, 1, 0) != 0;
}

/* A snapshot that is whole and alone, of which a scrub leaves nothing. */
static void check_whole(const char *which)
{
	copy_task task = task_of(AB_COPY_VERIFY, 0);
	copy_end end = copy_do(&task);
	const char *left;

	CHECK(end.code == 0 && end.done.left_out == 0, "%d %s %s: %s",
	      end.code, end.message, end.report, which);
	CHECK(snap_has("round.c"), "it has not what was copied: %s", which);
	CHECK(copy_leftovers(host_path("out")) == 0, "left:%s: %s",
	      names_in(host_path("out")), which);
	task = task_of(AB_COPY_SCRUB, AB_COPY_ASKED);
	end = copy_do(&task);
	left = names_in(host_path("out"));
	CHECK(end.code == 0 && !*left, "%d, left then:%s: %s", end.code, left,
	      which);
}

/* Nothing, or a snapshot; and which of the two where only one can be. */
static void check_left(const turn *t, const int held[2])
{
	bool made = has(t, AB_COPY_MAKE, 0), ended = has(t, AB_COPY_SCRUB, 0);
	const char *left = names_in(host_path("out"));
	bool is_scrub_last = t->was_first_done &&
			     t->kinds[1] == AB_COPY_SCRUB;

	CHECK(!ended || (!reads(held[0]) && !reads(held[1])),
	      "a held file reads: %s", text_of(t));
	CHECK(*left ? made && (!ended || (t->anew && !is_scrub_last))
		    : !made || ended, "left:%s: %s", left, text_of(t));
	if (*left)
		check_whole(text_of(t));
}

static copy_task task_in(const turn *t, int which)
{
	uint32_t flags = AB_COPY_KEEP_OLD | (t->anew ? 0 : AB_COPY_REPLACE);

	return task_of(t->kinds[which],
		       t->kinds[which] == AB_COPY_MAKE ? flags : 0);
}

/* Of a scrub that stood still for too long there is nothing to say. */
static bool was_too_slow(const turn *t, int64_t begin)
{
	copy_task task = task_of(AB_COPY_SCRUB, 0);

	if (!has(t, AB_COPY_SCRUB, AGENTBOX_EBUSY) ||
	    e2e_now_ms() - begin < SCRUB_WAITS_MS)
		return false;
	(void)copy_do(&task);
	return true;
}

/* Did each come as far as it should? Else this was no turn of its own. */
static void take_turn(turn *t, bool came[2])
{
	int64_t begin = e2e_now_ms();
	int held[2];

	make_before(t->generations, held);
	copy_task tasks[2] = { task_in(t, 0), task_in(t, 1) };
	job jobs[2] = { start(&tasks[0]), start(&tasks[1]) };

	came[0] = go_to(&jobs[0], t->steps[0]);
	t->was_first_done = jobs[0].has_ended;
	came[1] = go_to(&jobs[1], t->steps[1]);
	go_while_it_can(&jobs[0]);
	while (!jobs[1].has_ended) {
		go_past_lock(&jobs[1]);
		go_while_it_can(&jobs[0]);
	}
	go_to_end(&jobs[0]);
	t->ends[0] = end(&jobs[0]);
	t->ends[1] = end(&jobs[1]);
	if (!was_too_slow(t, begin)) {
		check_codes(t);
		check_left(t, held);
		t->checked++;
	}
	for (int i = 0; i < 2; i++)
		if (held[i] >= 0)
			close(held[i]);
}

static void take_turns_of(turn t)
{
	unsigned turns = 0;
	bool came[2] = { true, true };

	for (; came[0]; t.steps[0] += strides[0]) {
		came[0] = false;
		came[1] = true;
		t.steps[1] = t.steps[0] % strides[1];
		for (; came[1]; t.steps[1] += strides[1]) {
			bool now[2];

			take_turn(&t, now);
			came[0] |= now[0];
			came[1] = now[1];
			turns++;
			if (e2e_failures() > 5)
				e2e_end();
		}
	}
	CHECK(turns > LEAST_TURNS && t.checked > turns / 2,
	      "%u turns, %u of them checked", turns, t.checked);
	e2e_note("%u generations%s, %u steps, %u turns", t.generations,
		 t.anew ? ", anew" : "", t.steps[0], turns);
}

static void take_turns(uint32_t first, uint32_t second)
{
	turn t = { .kinds = { first, second } };

	e2e_seconds(MOST_SECONDS);
	for (t.generations = 0; t.generations < 3; t.generations++) {
		t.anew = t.generations == 0;
		take_turns_of(t);
	}
	t.generations = 1;
	t.anew = true;
	if (first != second)
		take_turns_of(t);
}

static void case_073_a_copy_and_then_a_scrub(void)
{
	take_turns(AB_COPY_MAKE, AB_COPY_SCRUB);
}

static void case_073_a_scrub_and_then_a_copy(void)
{
	take_turns(AB_COPY_SCRUB, AB_COPY_MAKE);
}

static void case_072_two_copies(void)
{
	take_turns(AB_COPY_MAKE, AB_COPY_MAKE);
}

static void case_073_two_scrubs(void)
{
	take_turns(AB_COPY_SCRUB, AB_COPY_SCRUB);
}

/* --- three of them -------------------------------------------------------- */

static void go_to_call(job *j, long call)
{
	do
		go_on(j);
	while (!j->has_ended && !(j->is_at_step && j->call == call));
	REQUIRE(!j->has_ended, "it ended before that call");
}

/* A first copy between its two names: it has given the record's. */
static job start_between_names(void)
{
	const copy_task task = task_of(AB_COPY_MAKE, AB_COPY_KEEP_OLD);
	int held[2];
	job j;

	make_before(0, held);
	j = start(&task);
	go_to_call(&j, SYS_renameat2);
	go_to_call(&j, SYS_renameat2);
	CHECK(host_exists(host_path("out/.snap.agentbox")) && !snap_has(""),
	      "it is elsewhere");
	return j;
}

static void nothing_is_left(void)
{
	const char *left = names_in(host_path("out"));

	CHECK(!*left, "left:%s", left);
}

/* The one before could not wait; the record has no name any more. */
static void case_073_a_scrub_after_one_that_gave_up(void)
{
	const copy_task task = task_of(AB_COPY_SCRUB, 0);
	copy_end first;
	job make, scrub;

	e2e_seconds(60);
	make = start_between_names();
	first = copy_do(&task);
	CHECK(first.code == AGENTBOX_EBUSY, "%d %s", first.code,
	      first.message);
	scrub = start(&task);
	go_while_it_can(&scrub);
	CHECK(scrub.is_waiting, "it does not wait");
	go_to_end(&make);
	go_to_end(&scrub);
	CHECK(end(&make).code == 0 && end(&scrub).code == 0, "who is last?");
	nothing_is_left();
}

/* The one before waits still, and the copy is done before this one looks. */
static void case_073_a_scrub_beside_one_that_waits(void)
{
	const copy_task task = task_of(AB_COPY_SCRUB, 0);
	job make, first, second;

	e2e_seconds(60);
	make = start_between_names();
	first = start(&task);
	go_while_it_can(&first);
	CHECK(first.is_waiting, "it does not wait");
	second = start(&task);
	go_to_call(&second, SYS_renameat2);
	go_to_call(&second, SYS_renameat2);
	go_to_end(&make);
	go_to_end(&second);
	CHECK(end(&make).code == 0 && end(&second).code == 0, "who is last?");
	nothing_is_left();
	go_to_end(&first);
	CHECK(end(&first).code == 0, "the first");
	nothing_is_left();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_072_two_copies),
		CASE(case_073_a_copy_and_then_a_scrub),
		CASE(case_073_a_scrub_and_then_a_copy),
		CASE(case_073_two_scrubs),
		CASE(case_073_a_scrub_after_one_that_gave_up),
		CASE(case_073_a_scrub_beside_one_that_waits),
		CASES_END
	};

	e2e_most_seconds = MOST_SECONDS;
	return e2e_main(argc, argv, cases);
}
