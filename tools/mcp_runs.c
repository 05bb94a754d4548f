/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run and result of the box tools: commands go through the shell check and
 * then through the box's launcher. They run beside one another; their output
 * is kept up to a bound and can be asked for until newer runs need the place.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mcp_box.h"
#include "text.h"

#define MOST_ARGS 4096
#define WAIT_MS 30000	     /* for the end, when the call does not say */
#define MOST_WAIT_MS 600000
#define LAST_BYTES_MS 1000   /* for a pipe that somebody else still holds */
#define SETTLE_MS 5

static void close_stream(box_stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void free_run(box_run *r)
{
	agentbox_process_free(r->process);
	close_stream(&r->out);
	close_stream(&r->err);
	free(r->out.bytes);
	free(r->err.bytes);
	json_decref(r->waiter);
	memset(r, 0, sizeof(*r));
}

/* A free place, or that of the oldest that has ended; NULL: all run. */
static box_run *place(box_server *b)
{
	box_run *oldest = NULL;

	for (size_t i = 0; i < BOX_RUNS; i++) {
		box_run *r = &b->runs[i];
		if (!r->number)
			return r;
		if (r->ended && !r->waiter &&
		    (!oldest || r->number < oldest->number))
			oldest = r;
	}
	if (oldest)
		free_run(oldest);
	return oldest;
}

/* --- what to run --------------------------------------------------------- */

/* The command as an argv: owned array of borrowed texts, NULL: it is none. */
static const char **argv_of(const json_t *arguments, size_t *argc)
{
	const json_t *list = json_object_get(arguments, "argv");
	const char *line = box_text(arguments, "command", NULL);
	size_t n = json_array_size(list);
	const char **argv;

	if ((line != NULL) == (list != NULL) || n > MOST_ARGS)
		return NULL;
	*argc = line ? 3 : n;
	argv = calloc(*argc + 1, sizeof(*argv));
	if (!argv)
		return NULL;
	if (line) {
		argv[0] = "/bin/sh";
		argv[1] = "-c";
		argv[2] = line;
		return argv;
	}
	for (size_t i = 0; i < n; i++) {
		argv[i] = json_string_value(json_array_get(list, i));
		if (!argv[i] || (i == 0 && !*argv[i])) {
			free(argv);
			return NULL;
		}
	}
	if (n)
		return argv;
	free(argv);
	return NULL;
}

/* Why the shell check refuses it, or NULL. Nobody is there to ask. */
static json_t *judge(box_server *b, const json_t *arguments,
		     const char *const *argv, size_t argc)
{
	const char *line = box_text(arguments, "command", NULL);
	agentbox_error *err = NULL;
	int32_t rc;

	if (line) {
		rc = agentbox_guard_check_shell(b->guard, b->place, line,
						strlen(line), &b->decision,
						&err);
	} else {
		size_t *lens = calloc(argc, sizeof(*lens));
		for (size_t i = 0; lens && i < argc; i++)
			lens[i] = strlen(argv[i]);
		rc = lens ? agentbox_guard_check_argv(b->guard, b->place, argv,
						      lens, argc, &b->decision,
						      &err)
			  : AGENTBOX_ENOMEM;
		free(lens);
	}
	agentbox_error_free(err);
	if (rc == 0 && b->s.audit)
		rc = agentbox_decision_record(b->decision, b->s.audit, NULL);
	if (rc < 0)
		return box_failure("the command could not be judged");
	if (agentbox_decision_get_verdict(b->decision) ==
	    AGENTBOX_VERDICT_ALLOW)
		return NULL;
	const char *other = agentbox_decision_get_alternative(b->decision);
	return box_failure("refused by %s: %s%s%s",
			   agentbox_decision_get_rule(b->decision),
			   agentbox_decision_get_reason(b->decision),
			   *other ? "; instead: " : "", other);
}

/*
 * Standard input as a file that can only be read, as a box takes it; -1
 * without one, and *bad on failure.
 */
static int input_of(const json_t *arguments, bool *bad)
{
	size_t n = 0;
	const char *text = box_text(arguments, "input", &n);
	char path[40];

	*bad = false;
	if (!text)
		return -1;
	int made = memfd_create("input", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
	int fd = made >= 0 && write(made, text, n) == (ssize_t)n
		 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	*bad = fd < 0;
	if (made >= 0)
		close(made);
	return fd;
}

/* Pipes, the directory, the input. */
static int32_t furnish(box_run *r, agentbox_command *command,
		       const json_t *arguments, agentbox_error **err)
{
	const char *cwd = box_text(arguments, "cwd", NULL);
	box_stream *streams[] = { &r->out, &r->err };
	bool bad;
	int input = input_of(arguments, &bad);
	int32_t rc = bad ? AGENTBOX_ESYS : 0;

	if (rc == 0 && input >= 0)
		rc = agentbox_command_set_fd(command, 0, input, err);
	if (input >= 0)
		close(input);
	for (int i = 0; i < 2 && rc == 0; i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC) < 0)
			return AGENTBOX_ESYS;
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		streams[i]->fd = ends[0];
		rc = agentbox_command_set_fd(command, i + 1, ends[1], err);
		close(ends[1]);
	}
	if (rc == 0 && cwd)
		rc = agentbox_command_set_cwd(command, cwd, err);
	return rc;
}

static int32_t spawn(box_server *b, const agentbox_command *command,
		     agentbox_process **process, agentbox_error **err)
{
	return b->remote ? agentbox_remote_spawn(b->remote, command, process,
						 err)
			 : agentbox_sandbox_spawn(b->box.box, command, process,
						  err);
}

static json_t *start(box_server *b, box_run *r, const json_t *arguments,
		     const char *const *argv, size_t argc)
{
	json_int_t wall = json_integer_value(
		json_object_get(arguments, "timeout_ms"));
	agentbox_command *command = NULL;
	agentbox_error *err = NULL;
	json_t *failure = NULL;

	r->out.fd = r->err.fd = -1;
	if (session_command(&b->box, argv, argc, &command))
		return box_failure("the command cannot be run");
	if (furnish(r, command, arguments, &err) < 0 ||
	    (wall > 0 && wall <= UINT32_MAX &&
	     agentbox_command_set_wall(command, (uint32_t)wall, &err) < 0) ||
	    spawn(b, command, &r->process, &err) < 0)
		failure = box_failure("cannot start '%s': %s", argv[0],
				      agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_command_free(command);
	if (failure)
		free_run(r);
	else
		r->number = ++b->last_run;
	return failure;
}

/* --- answers ------------------------------------------------------------- */

static json_t *text_of_stream(const box_stream *s)
{
	json_t *text = json_stringn(s->bytes ? s->bytes : "", s->n);

	if (text && !memchr(s->bytes ? s->bytes : "", 0, s->n))
		return text;
	/* bytes that are no text: each as itself, or as a mark */
	json_decref(text);
	char *out = malloc(3 * s->n + 1);
	size_t used = 0;
	for (size_t i = 0; out && i < s->n; i++) {
		unsigned char c = (unsigned char)s->bytes[i];
		if (c && c < 0x80) {
			out[used++] = (char)c;
		} else {
			memcpy(out + used, "\xef\xbf\xbd", 3);
			used += 3;
		}
	}
	text = out ? json_stringn(out, used) : NULL;
	free(out);
	return text;
}

static json_t *report(box_run *r)
{
	json_t *out = text_of_stream(&r->out), *err = text_of_stream(&r->err);
	json_t *about = json_pack(
		"{s:I, s:b, s:o, s:o, s:I, s:I}", "id", (json_int_t)r->number,
		"running", !r->ended, "stdout", out, "stderr", err,
		"stdout_dropped", (json_int_t)r->out.dropped, "stderr_dropped",
		(json_int_t)r->err.dropped);
	const char *end = r->unsettled ? "; protected paths could not be put "
					 "right" : "";

	if (!about)
		return NULL;
	if (r->ended) {
		json_object_set_new(about, "exit", json_integer(r->status));
		json_object_set_new(about, "reason", json_string(r->reason));
	}
	char *head = r->ended ? text_format("[run %llu ended: %s, status %d%s]",
					    (unsigned long long)r->number,
					    r->reason, r->status, end)
			      : text_format("[run %llu is running]",
					    (unsigned long long)r->number);
	char *text = head ? text_format("%s%s%s%s\n",
					json_string_value(out),
					json_string_length(err)
					? "\n[standard error]\n" : "",
					json_string_value(err), head) : NULL;
	json_t *result = text ? box_result(text, strlen(text), about) : NULL;
	if (!text)
		json_decref(about);
	if (result && r->ended && (r->status || r->unsettled))
		json_object_set_new(result, "isError", json_true());
	free(head);
	free(text);
	return result;
}

static bool answer_waiter(box_server *b, box_run *r)
{
	json_t *id = r->waiter;
	bool ok = box_answer(b, id, report(r), r->stateless);

	r->waiter = NULL;
	json_decref(id);
	return ok;
}

/* Wait for the end before the call is answered, as it asks. */
static json_t *wait_for(box_server *b, box_run *r, const json_t *id,
			const json_t *arguments, bool *later)
{
	const json_t *wait = json_object_get(arguments, "wait_ms");
	json_int_t ms = wait ? json_integer_value(wait) : WAIT_MS;

	ms = ms > MOST_WAIT_MS ? MOST_WAIT_MS : ms;
	if (r->ended || ms <= 0)
		return report(r);
	if (r->waiter)
		return box_failure("another call waits for this run");
	r->waiter = json_incref((json_t *)(uintptr_t)id);
	r->waits_until = box_now_ms() + ms;
	r->stateless = b->stateless;
	*later = true;
	return NULL;
}

json_t *box_run_command(box_server *b, const json_t *id,
			const json_t *arguments, bool *later)
{
	size_t argc = 0;
	const char **argv = argv_of(arguments, &argc);
	json_t *failure;
	box_run *r;

	if (!argv)
		return box_failure("give one of command, a line for sh, and "
				   "argv, a list of texts");
	failure = judge(b, arguments, argv, argc);
	r = failure ? NULL : place(b);
	if (r)
		failure = start(b, r, arguments, argv, argc);
	else if (!failure)
		failure = box_failure("%d commands are running", BOX_RUNS);
	free(argv);
	return failure ? failure : wait_for(b, r, id, arguments, later);
}

json_t *box_run_result(box_server *b, const json_t *id,
		       const json_t *arguments, bool *later)
{
	json_int_t number = json_integer_value(
		json_object_get(arguments, "id"));
	box_run *r = NULL;

	for (size_t i = 0; i < BOX_RUNS; i++)
		if (number > 0 && b->runs[i].number == (uint64_t)number)
			r = &b->runs[i];
	if (!r)
		return box_failure("there is no such run, or its place was "
				   "needed");
	if (json_is_true(json_object_get(arguments, "kill")) && !r->ended) {
		r->killed = true;
		agentbox_process_kill(r->process, SIGKILL, NULL);
	}
	return wait_for(b, r, id, arguments, later);
}

void box_run_cancel(box_server *b, const json_t *id)
{
	for (size_t i = 0; i < BOX_RUNS; i++) {
		box_run *r = &b->runs[i];
		if (!r->waiter ||
		    !json_equal(r->waiter, (json_t *)(uintptr_t)id))
			continue;
		json_decref(r->waiter);
		r->waiter = NULL;
		if (!r->ended)
			agentbox_process_kill(r->process, SIGKILL, NULL);
	}
}

/* --- the loop's part ----------------------------------------------------- */

size_t box_runs_poll(box_server *b, struct pollfd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < BOX_RUNS; i++) {
		box_run *r = &b->runs[i];
		if (!r->number || !r->process)
			continue;
		if (!r->ended_ms && !r->ending)
			fds[n++] = (struct pollfd){
				agentbox_process_get_fd(r->process), POLLIN,
				0 };
		fds[n++] = (struct pollfd){ r->out.fd, POLLIN, 0 };
		fds[n++] = (struct pollfd){ r->err.fd, POLLIN, 0 };
	}
	return n;
}

/* What the pipe has; what is over the bound is read and counted. */
static void take(box_stream *s)
{
	static char spill[65536];
	size_t times = 16;

	while (s->fd >= 0 && times--) {
		if (s->n < BOX_OUTPUT && !s->bytes)
			s->bytes = malloc(BOX_OUTPUT);
		bool keep = s->bytes && s->n < BOX_OUTPUT;
		ssize_t got = keep ? read(s->fd, s->bytes + s->n,
					  BOX_OUTPUT - s->n)
				   : read(s->fd, spill, sizeof(spill));
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0)
			close_stream(s);
		else if (keep)
			s->n += (size_t)got;
		else
			s->dropped += (uint64_t)got;
	}
}

static void finish(box_run *r)
{
	const char *reason = agentbox_process_get_reason(r->process);
	int32_t signum = agentbox_process_get_signal(r->process);

	r->ended = true;
	r->status = signum > 0 ? TOOL_SIGNAL + signum
			       : agentbox_process_get_exit_status(r->process);
	strncpy(r->reason, reason, sizeof(r->reason) - 1);
	close_stream(&r->out);
	close_stream(&r->err);
	agentbox_process_free(r->process);
	r->process = NULL;
}

static void look(box_run *r)
{
	int32_t rc;

	take(&r->out);
	take(&r->err);
	if (!r->ended_ms) {
		struct pollfd p = { agentbox_process_get_fd(r->process),
				    POLLIN, 0 };
		rc = agentbox_process_wait(r->process, 0, NULL);
		r->ending = poll(&p, 1, 0) > 0;
		if (rc == AGENTBOX_ETIMEOUT)
			return;
		r->unsettled = rc == AGENTBOX_EWALL;
		r->ended_ms = box_now_ms();
	}
	if ((r->out.fd < 0 && r->err.fd < 0) ||
	    box_now_ms() >= r->ended_ms + LAST_BYTES_MS)
		finish(r);
}

bool box_runs_turn(box_server *b)
{
	bool ok = true;

	for (size_t i = 0; i < BOX_RUNS && ok; i++) {
		box_run *r = &b->runs[i];
		if (r->number && !r->ended)
			look(r);
		if (r->waiter &&
		    (r->ended || box_now_ms() >= r->waits_until))
			ok = answer_waiter(b, r);
	}
	return ok;
}

int box_runs_timeout(const box_server *b, int ms)
{
	int64_t now = box_now_ms();

	for (size_t i = 0; i < BOX_RUNS; i++) {
		const box_run *r = &b->runs[i];
		int64_t left = r->waiter ? r->waits_until - now : ms;

		/* its protected paths are being settled: no fd tells the end */
		if (r->ending && !r->ended)
			left = left < SETTLE_MS ? left : SETTLE_MS;
		if (left < ms)
			ms = left < 0 ? 0 : (int)left;
	}
	return ms;
}

void box_runs_end(box_server *b)
{
	for (size_t i = 0; i < BOX_RUNS; i++)
		if (b->runs[i].number)
			free_run(&b->runs[i]);
}
