/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-verify in the box: started as a command of the agent's would be,
 * told the probes when the outside was looked at, and its answers judged by
 * the table. The agent cannot trace it (it is not dumpable) and can end or
 * stop it: then what it did not answer is unknown. What it writes is read
 * with bounds all the same. Spec: libexec/verify/main.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "verify/ask.h"

#define PROGRAM_FD 9
#define PROGRAM_PATH "/proc/self/fd/9"
#define MAX_OUTPUT (1u << 20)
#define HELLO "agentbox-verify\t"

/* --- the program --------------------------------------------------------- */

static int32_t make_command(ab_verify_run *run, agentbox_command **out,
			    agentbox_error **err)
{
	static const char *const argv[] = { PROGRAM_PATH };
	agentbox_command *c = NULL;
	ab_autofd int program = -1, in = -1, from = -1;
	int pair[2];
	int32_t rc = ab_helper_open_program(run->context, "agentbox-verify",
					    &program, err);

	if (rc)
		return rc;
	/* no pipe: the agent can end who reads it, and then a write(2) of
	   ours would raise SIGPIPE in the host */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return ab_error_sys(err, errno, "", "cannot make a socket");
	in = pair[0];
	run->to_fd = pair[1];
	if (pipe2(pair, O_CLOEXEC))
		return ab_error_sys(err, errno, "", "cannot make a pipe");
	run->from_fd = pair[0];
	from = pair[1];
	rc = agentbox_command_new(argv, 1, &c, err);
	if (rc == 0)
		rc = agentbox_command_set_cwd(c, "/", err);
	if (rc == 0)
		rc = agentbox_command_set_fd(c, 0, in, err);
	if (rc == 0)
		rc = agentbox_command_set_fd(c, 1, from, err);
	if (rc == 0)
		rc = ab_command_set_program(c, PROGRAM_FD, program, err);
	if (rc)
		agentbox_command_free(c);
	else
		*out = c;
	return rc;
}

/* A line of what it says, without its end; -errno. Blocks until `deadline`. */
static ssize_t read_line(ab_verify_run *run, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		int r = ab_fd_poll(run->from_fd, POLLIN,
				   ab_clock_left_ms(run->deadline));

		if (r <= 0)
			return r ? r : -ETIMEDOUT;
		/* byte by byte: a few kilobytes, once */
		ssize_t got = read(run->from_fd, line + n, 1);
		if (got == 0)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0 && line[n++] == '\n') {
			line[n - 1] = '\0';
			return (ssize_t)n - 1;
		}
	}
	return -EMSGSIZE;
}

static int take_hello(ab_verify_run *run)
{
	char line[256];
	ssize_t n = read_line(run, line, sizeof(line));

	if (n < 0)
		return (int)n;
	if (strncmp(line, HELLO, strlen(HELLO)) != 0 ||
	    strcmp(line + strlen(HELLO), agentbox_build_id()) != 0)
		return -ESTALE;
	return 0;
}

/* Not to be run: told in every finding of the inside. */
static int32_t give_up(ab_verify_run *run, const char *what, int sys_errno,
		       agentbox_error **err)
{
	ab_cleanup_fd(&run->to_fd);
	run->to_fd = -1;
	run->why_not = ab_asprintf("%s: %s", what,
				   strerrordesc_np(sys_errno));
	return run->why_not ? 0 : ab_error_nomem(err);
}

int32_t ab_verify_start(ab_verify_run *run, agentbox_error **err)
{
	ab_auto(agentbox_error) *why = NULL;
	agentbox_command *c = NULL;
	int32_t rc = make_command(run, &c, err);
	int r;

	if (rc)
		return rc;
	rc = agentbox_sandbox_spawn(run->box, c, &run->process, &why);
	agentbox_command_free(c);
	/* that the box does not run it is a finding; the rest is an error */
	if (rc == AGENTBOX_ENOTFOUND || rc == AGENTBOX_EACCES ||
	    rc == AGENTBOX_ETIMEOUT || rc == AGENTBOX_EWALL ||
	    (rc == AGENTBOX_ECLOSED && !ab_box_usable(run->box, NULL))) {
		run->why_not = ab_strdup(agentbox_error_get_message(why));
		return run->why_not ? 0 : ab_error_nomem(err);
	}
	if (rc)
		return ab_error_move(err, &why);
	r = take_hello(run);
	if (r == -ESTALE)
		return ab_error_set(err, AGENTBOX_EHELPER, "agentbox-verify",
				    "agentbox-verify is of another build than "
				    "the library");
	return r ? give_up(run, "agentbox-verify did not answer", -r, err) : 0;
}

/* --- the answers --------------------------------------------------------- */

/* What was not asked, or has no answer. */
static void judge_unasked(ab_verify_run *run, const ab_question *item,
			  const char *why)
{
	uint32_t verdict = item->skip ? item->skip : AB_VERDICT_UNKNOWN;

	ab_verify_add(run->report, item->id, item->wall, item->tries, true,
		      verdict, ab_strdup("not tried"), ab_strdup(why));
}

/* Not for ever: the agent may have stopped who reads it. */
static int say(ab_verify_run *run, const char *p, size_t n)
{
	while (n) {
		int r = ab_fd_poll(run->to_fd, POLLOUT,
				   ab_clock_left_ms(run->deadline));

		if (r <= 0)
			return r ? r : -ETIMEDOUT;
		ssize_t sent = send(run->to_fd, p, n,
				    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		}
	}
	return 0;
}

/* Why nothing more was said to it or by it. */
static const char *why_silent(int error)
{
	switch (error) {
	case -ETIMEDOUT:
		return "it did not answer in time";
	case -EMSGSIZE:
	case -ENOMEM:
		return strerrordesc_np(-error);
	default:
		return "agentbox-verify was ended";
	}
}

static int send_all(ab_verify_run *run, const ab_questions *q)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(AB_VERIFY_MAX_INPUT);
	int r;

	for (size_t i = 0; b && i < q->count; i++) {
		if (q->items[i].op)
			ab_bytes_appendf(b, "%zu\t%s\n", i, q->items[i].op);
	}
	if (!b || !ab_bytes_ok(b))
		return b && ab_bytes_is_over(b) ? -EMSGSIZE : -ENOMEM;
	r = say(run, agentbox_bytes_get_data(b), agentbox_bytes_get_size(b));
	ab_cleanup_fd(&run->to_fd);
	run->to_fd = -1;
	return r;
}

/* Why the rest has no answer; NULL: everything was said. */
static const char *take_answers(ab_verify_run *run, ab_questions *q)
{
	char line[8192];
	ssize_t n = 0;

	for (size_t taken = 0; taken <= q->count; taken++) {
		char *how, *text, *end;
		unsigned long i;

		n = read_line(run, line, sizeof(line));
		if (n < 0 || !strcmp(line, "end"))
			break;
		i = strtoul(line, &end, 10);
		how = *end == '\t' ? end + 1 : NULL;
		text = how ? strchr(how, '\t') : NULL;
		if (!text || i >= q->count || !q->items[i].op)
			return "agentbox-verify said something else";
		*text++ = '\0';
		ab_verify_decode(text);
		ab_verify_judge(run, &q->items[i], how, text);
		free(ab_steal(&q->items[i].op));
		q->items[i].why = "";
	}
	return n < 0 ? why_silent((int)n) : NULL;
}

/* Ask, hear, judge; what has no answer is unknown. Ends the questions. */
static void carry_on(ab_verify_run *run, ab_questions *asked)
{
	ab_questions q = *asked;
	const char *why = run->why_not;

	if (!why && !q.nomem) {
		int r = send_all(run, &q);

		why = r ? why_silent(r) : take_answers(run, &q);
	}
	if (!why)
		why = "agentbox-verify did not say";
	for (size_t i = 0; i < q.count; i++) {
		const ab_question *item = &q.items[i];

		if (item->op || !item->why)
			judge_unasked(run, item, why);
		else if (*item->why)
			judge_unasked(run, item, item->why);
	}
	if (q.nomem)
		run->report->nomem = true;
	ab_questions_end(&q);
}

void ab_verify_inside(ab_verify_run *run)
{
	ab_questions q = { NULL, 0, 0, false };

	ab_questions_ask(&q, run);
	carry_on(run, &q);
}

void ab_verify_revoked(ab_verify_run *run)
{
	ab_questions q = { NULL, 0, 0, false };

	ab_questions_ask_revoked(&q, run);
	carry_on(run, &q);
}
