/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-verify in the box: started as a command of the agent's would be,
 * told the probes when the outside was looked at, and its answers judged by
 * the table. The agent cannot trace it (it is not dumpable) and can end or
 * stop it: then what it did not answer by the run's deadline is unknown, and
 * nobody has waited for it. What it writes is read with bounds all the same.
 * Spec: libexec/verify/main.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "shield/shield.h"
#include "verify/ask.h"

#define PROGRAM_FD 9
#define PROGRAM_PATH "/proc/self/fd/9"
#define MAX_OUTPUT (1u << 20)
#define HELLO "agentbox-verify\t"

/* --- what is waited for --------------------------------------------------- */

static int32_t watch(const ab_verify_run *run, int fd, uint32_t events,
		     agentbox_error **err)
{
	struct epoll_event e = { .events = events };

	return epoll_ctl(run->epoll_fd, EPOLL_CTL_ADD, fd, &e)
		       ? ab_error_sys(err, errno, "", "epoll")
		       : 0;
}

/* Before it is closed, for a child that the host forked may have a copy. */
static void unwatch(const ab_verify_run *run, int fd)
{
	if (fd >= 0)
		epoll_ctl(run->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static void close_stream(const ab_verify_run *run, int *fd)
{
	unwatch(run, *fd);
	ab_cleanup_fd(fd);
	*fd = -1;
}

static bool is_late(const ab_verify_run *run)
{
	return ab_clock_left_ms(run->deadline) == 0;
}

/* --- the program --------------------------------------------------------- */

int32_t ab_verify_make_command(agentbox_context *context, int in, int out,
			       agentbox_command **command,
			       agentbox_error **err)
{
	static const char *const argv[] = { PROGRAM_PATH };
	agentbox_command *c = NULL;
	ab_autofd int program = -1;
	int32_t rc = ab_helper_open_program(context, "agentbox-verify",
					    &program, err);

	if (rc == 0)
		rc = agentbox_command_new(argv, 1, &c, err);
	if (rc == 0)
		rc = agentbox_command_set_cwd(c, "/", err);
	if (rc == 0)
		rc = agentbox_command_set_fd(c, 0, in, err);
	if (rc == 0)
		rc = agentbox_command_set_fd(c, 1, out, err);
	if (rc == 0)
		rc = ab_command_set_program(c, PROGRAM_FD, program, err);
	if (rc)
		agentbox_command_free(c);
	else
		*command = c;
	return rc;
}

static int32_t make_command(ab_verify_run *run, agentbox_command **out,
			    agentbox_error **err)
{
	ab_autofd int in = -1, from = -1;
	int pair[2];

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
	/* of our end alone */
	if (fcntl(run->from_fd, F_SETFL, O_NONBLOCK))
		return ab_error_sys(err, errno, "", "cannot make a pipe");
	return ab_verify_make_command(run->context, in, from, out, err);
}

/* A whole line is in run->line, without its end: 1. Not yet: 0. -errno. */
static int hear(ab_verify_run *run)
{
	for (;;) {
		ssize_t n;

		if (run->line_len + 1 >= sizeof(run->line))
			return -EMSGSIZE;
		/* byte by byte: a few kilobytes, once */
		n = read(run->from_fd, run->line + run->line_len, 1);
		if (n == 0)
			return -EPIPE;
		if (n < 0 && errno == EAGAIN)
			return is_late(run) ? -ETIMEDOUT : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0 || run->line[run->line_len++] != '\n')
			continue;
		run->line[run->line_len - 1] = '\0';
		run->line_len = 0;
		return 1;
	}
}

int32_t ab_verify_start(ab_verify_run *run, agentbox_error **err)
{
	agentbox_shield *shield = agentbox_sandbox_get_shield(run->box);
	ab_auto(agentbox_error) *why = NULL;
	agentbox_command *c = NULL;
	int32_t rc = make_command(run, &c, err);

	run->stage = AB_VERIFY_HELLO;
	run->line_len = 0;
	if (rc)
		return rc;
	if (shield && !run->is_announced)
		run->is_announced = ab_shield_own(shield, true);
	rc = agentbox_sandbox_spawn(run->box, c, &run->process, &why);
	agentbox_command_free(c);
	/* that the box does not run it, or has no process or memory left for
	   it, is a finding; the rest is an error */
	if (rc == AGENTBOX_ENOTFOUND || rc == AGENTBOX_EACCES ||
	    rc == AGENTBOX_ETIMEOUT || rc == AGENTBOX_EWALL ||
	    rc == AGENTBOX_ESYS ||
	    (rc == AGENTBOX_ECLOSED && !ab_box_usable(run->box, NULL))) {
		run->why_not = ab_strdup(agentbox_error_get_message(why));
		return run->why_not ? 0 : ab_error_nomem(err);
	}
	return rc ? ab_error_move(err, &why)
		  : watch(run, run->from_fd, EPOLLIN, err);
}

/* Not to be run: told in every finding of the inside. */
static int32_t give_up(ab_verify_run *run, int sys_errno,
		       agentbox_error **err)
{
	run->why_not = ab_asprintf("agentbox-verify did not answer: %s",
				   strerrordesc_np(sys_errno));
	return run->why_not ? 0 : ab_error_nomem(err);
}

int32_t ab_verify_hear_hello(ab_verify_run *run, bool *is_over,
			     agentbox_error **err)
{
	int r = run->why_not ? 1 : hear(run);

	*is_over = r != 0;
	if (r == 0 || run->why_not)
		return 0;
	if (r < 0)
		return give_up(run, -r, err);
	if (strncmp(run->line, HELLO, strlen(HELLO)) != 0 ||
	    strcmp(run->line + strlen(HELLO), agentbox_build_id()) != 0)
		return ab_error_set(err, AGENTBOX_EHELPER, "agentbox-verify",
				    "agentbox-verify is of another build than "
				    "the library");
	return 0;
}

void ab_verify_stop(ab_verify_run *run)
{
	close_stream(run, &run->to_fd);
	close_stream(run, &run->from_fd);
	if (run->process && !run->is_settling)
		unwatch(run, agentbox_process_get_fd(run->process));
	run->is_settling = false;
	agentbox_process_free(ab_steal(&run->process));
	free(ab_steal(&run->why_not));
	if (run->asked)
		ab_questions_end(run->asked);
	free(ab_steal(&run->asked));
	agentbox_bytes_free(ab_steal(&run->input));
}

bool ab_verify_has_ended(ab_verify_run *run)
{
	int fd = run->process ? agentbox_process_get_fd(run->process) : -1;

	if (!run->process || is_late(run) ||
	    agentbox_process_wait(run->process, 0, NULL) != AGENTBOX_ETIMEOUT)
		return true;
	/* its descriptor stays readable while the box settles */
	if (!run->is_settling && ab_fd_poll(fd, POLLIN, 0) > 0) {
		run->is_settling = true;
		unwatch(run, fd);
	}
	return false;
}

/* --- the answers --------------------------------------------------------- */

/* What was not asked, or has no answer. */
static void judge_unasked(ab_verify_run *run, const ab_question *item,
			  const char *why)
{
	ab_verify_add(run->report, item->id, item->wall, item->tries, true,
		      item->unasked, ab_strdup("not tried"), ab_strdup(why));
}

/* What is left to be told: 1: nothing; 0: it takes no more now; -errno. */
static int say(ab_verify_run *run)
{
	const char *p = agentbox_bytes_get_data(run->input);
	size_t n = agentbox_bytes_get_size(run->input);

	while (run->told < n) {
		ssize_t sent = send(run->to_fd, p + run->told, n - run->told,
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EAGAIN)
			return is_late(run) ? -ETIMEDOUT : 0;
		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0)
			run->told += (size_t)sent;
	}
	return 1;
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

static int write_down(ab_verify_run *run)
{
	const ab_questions *q = run->asked;
	agentbox_bytes *b = ab_bytes_new(AB_VERIFY_MAX_INPUT);

	run->input = b;
	run->told = 0;
	for (size_t i = 0; b && i < q->count; i++) {
		if (q->items[i].op)
			ab_bytes_appendf(b, "%zu\t%s\n", i, q->items[i].op);
	}
	if (b && ab_bytes_ok(b))
		return 0;
	return b && ab_bytes_is_over(b) ? -EMSGSIZE : -ENOMEM;
}

/* A line of answers was said: "something else" is why nothing more is. */
static const char *take_answer(ab_verify_run *run)
{
	ab_questions *q = run->asked;
	char *end, *how, *text;
	unsigned long i = strtoul(run->line, &end, 10);

	how = *end == '\t' ? end + 1 : NULL;
	text = how ? strchr(how, '\t') : NULL;
	if (!text || i >= q->count || !q->items[i].op ||
	    run->answers++ == q->count)
		return "agentbox-verify said something else";
	*text++ = '\0';
	ab_verify_decode(text);
	ab_verify_judge(run, &q->items[i], how, text);
	free(ab_steal(&q->items[i].op));
	q->items[i].why = "";
	return NULL;
}

/* What has no answer is unknown, and why. */
static void judge_rest(ab_verify_run *run, const char *why)
{
	const ab_questions *q = run->asked;

	for (size_t i = 0; i < q->count; i++) {
		const ab_question *item = &q->items[i];

		if (item->op || !item->why)
			judge_unasked(run, item, why);
		else if (*item->why)
			judge_unasked(run, item, item->why);
	}
	if (q->nomem)
		run->report->nomem = true;
}

/* Nothing more is said by it or to it. */
static int32_t close_answers(ab_verify_run *run, const char *why,
			     agentbox_error **err)
{
	judge_rest(run, why);
	close_stream(run, &run->to_fd);
	close_stream(run, &run->from_fd);
	run->stage = AB_VERIFY_END;
	return run->process ? watch(run, agentbox_process_get_fd(run->process),
				    EPOLLIN, err)
			    : 0;
}

int32_t ab_verify_ask(ab_verify_run *run, agentbox_error **err)
{
	run->asked = ab_new(ab_questions);
	run->answers = 0;
	if (!run->asked)
		return ab_error_nomem(err);
	if (run->has_revoked)
		ab_questions_ask_revoked(run->asked, run);
	else
		ab_questions_ask(run->asked, run);
	run->stage = AB_VERIFY_ANSWERS;
	if (run->why_not)
		return close_answers(run, run->why_not, err);
	if (run->asked->nomem)
		return close_answers(run, "no memory", err);
	int r = write_down(run);
	if (r)
		return close_answers(run, why_silent(r), err);
	/* it says nothing before it has heard everything */
	unwatch(run, run->from_fd);
	return watch(run, run->to_fd, EPOLLOUT, err);
}

int32_t ab_verify_hear_answers(ab_verify_run *run, agentbox_error **err)
{
	int r = run->to_fd >= 0 ? say(run) : 1;

	if (r == 0)
		return 0;
	if (r > 0 && run->to_fd >= 0) {
		int32_t rc = watch(run, run->from_fd, EPOLLIN, err);

		if (rc)
			return rc;
	}
	close_stream(run, &run->to_fd);
	while (r > 0 && (r = hear(run)) > 0) {
		const char *why = strcmp(run->line, "end")
					  ? take_answer(run)
					  : "agentbox-verify did not say";

		if (why)
			return close_answers(run, why, err);
	}
	return r < 0 ? close_answers(run, why_silent(r), err) : 0;
}
