/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The standard streams of the command. Pipes, opened anew, and files go into
 * the box (the library relays regular files). What must not go in is relayed
 * here: our own terminal, other character devices, sockets, which carry the
 * host's network, and files open for reading and writing. Directories and the
 * like are refused by the library.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"
#include "text.h"

#define NULL_DEVICE 0x0103 /* /dev/null, as the library takes it */

static bool must_relay(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) || fstat(fd, &st) < 0)
		return false;
	if (S_ISCHR(st.st_mode))
		return st.st_rdev != NULL_DEVICE;
	if (S_ISSOCK(st.st_mode))
		return true;
	return S_ISREG(st.st_mode) && (flags & O_ACCMODE) == O_RDWR;
}

/* What stands where standard output was closed, see main(). */
static bool was_closed(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fd == 1 && flags >= 0 && (flags & O_ACCMODE) == O_RDONLY &&
	       fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == NULL_DEVICE;
}

/* One terminal, socket or pipe. */
static bool same_stream(int a, int b)
{
	struct stat x, y;

	if (fstat(a, &x) < 0 || fstat(b, &y) < 0)
		return false;
	if (isatty(a) && isatty(b))
		return x.st_rdev == y.st_rdev;
	return (S_ISSOCK(x.st_mode) || S_ISFIFO(x.st_mode)) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void close_side(int *fd, bool own)
{
	if (*fd >= 0 && own)
		close(*fd);
	*fd = -1;
}

static int fail_stream(session *s, agentbox_error *err, int target)
{
	static const char *const names[] = { "standard input",
					     "standard output",
					     "standard error" };
	int status = agentbox_error_get_code(err) == AGENTBOX_EDENIED
		     ? TOOL_REFUSED : TOOL_NO_BOX;

	return tool_fail_as(s->t, status, err, names[target]);
}

/* A pipe between `fd` of ours and `target` of the command. */
static int relay(session *s, agentbox_command *command, int target, int fd)
{
	pump *p = &s->pumps[target];
	agentbox_error *err = NULL;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return tool_refuse(s->t, TOOL_INTERNAL, "ESYS", NULL,
				   "cannot make a pipe: %s", strerror(errno));
	int ours = ends[target == 0], theirs = ends[target != 0];
	fcntl(ours, F_SETFL, O_NONBLOCK);
	p->open = true;
	p->from = target ? ours : fd;
	p->to = target ? fd : ours;
	p->own_from = target != 0;
	p->own_to = target == 0;
	p->keyboard = !target && isatty(fd);
	int32_t rc = agentbox_command_set_fd(command, target, theirs, &err);
	/* Two streams of one thing keep their order in one pipe. */
	if (rc == 0 && target == 1 && same_stream(1, 2) && !s->pty)
		rc = agentbox_command_set_fd(command, 2, theirs, &err);
	close(theirs);
	return rc < 0 ? fail_stream(s, err, target) : 0;
}

/*
 * A pipe, opened once more: O_NONBLOCK and the like belong to an open file,
 * not to the pipe (fcntl(2)), so what the box sets on its own is none of
 * those who share ours. -1 when it cannot be: the pipe of another user, or
 * no /proc.
 */
static int open_again(int fd)
{
	char path[40];
	int flags = fcntl(fd, F_GETFL);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* fifo(7): not to wait here for a named one's other side */
	int again = flags < 0 ? -1 : open(path, (flags & O_ACCMODE) |
					  O_NONBLOCK | O_CLOEXEC);
	if (again >= 0)
		fcntl(again, F_SETFL, flags & (O_NONBLOCK | O_DIRECT));
	return again;
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int plan_one(session *s, agentbox_command *command, int target)
{
	agentbox_error *err = NULL;
	int fd = target == 1 && s->t->json ? 2 : target;

	if (target == 2 && s->pumps[PUMP_OUT].open && !s->pty &&
	    same_stream(1, 2))
		return 0;
	/* what no stream is given for is /dev/null to the command */
	if (was_closed(fd))
		return 0;
	int again = is_pipe(fd) ? open_again(fd) : -1;
	if (must_relay(fd) || (is_pipe(fd) && again < 0))
		return relay(s, command, target, fd);
	int32_t rc = agentbox_command_set_fd(command, target,
					     again < 0 ? fd : again, &err);
	if (again >= 0)
		close(again);
	return rc < 0 ? fail_stream(s, err, target) : 0;
}

int streams_plan(session *s, agentbox_command *command)
{
	agentbox_error *err = NULL;
	uint32_t rows, columns;
	int rc = 0;

	if (tool_has(s->args, "--tty"))
		s->pty = true;
	else
		s->pty = !tool_has(s->args, "--no-tty") && !s->no_pty &&
			 !s->t->json &&
			 isatty(0) && isatty(1) && isatty(2);
	if (s->pty) {
		terminal_size(&rows, &columns);
		if (agentbox_command_set_pty(command, rows, columns,
					     &err) < 0)
			return tool_fail(s->t, err, "--tty");
		return 0;
	}
	for (int target = 0; target <= 2 && !rc; target++)
		rc = plan_one(s, command, target);
	return rc;
}

int streams_connect(session *s)
{
	agentbox_error *err = NULL;
	int32_t fd = -1;

	if (!s->pty)
		return 0;
	if (agentbox_process_open_pty(s->process, &fd, &err) < 0)
		return tool_fail(s->t, err, "--tty");
	s->master = fd;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	pump *in = &s->pumps[PUMP_IN], *out = &s->pumps[PUMP_OUT];
	in->open = out->open = true;
	in->from = 0;
	in->to = fd;
	in->keyboard = isatty(0);
	in->to_terminal = true;
	out->from = fd;
	out->to = 1;
	s->raw_wanted = isatty(0);
	return 0;
}

void streams_end(session *s)
{
	for (int i = 0; i < PUMPS; i++) {
		pump *p = &s->pumps[i];
		if (!p->open)
			continue;
		close_side(&p->from, p->own_from);
		close_side(&p->to, p->own_to);
		p->open = false;
	}
	if (s->master >= 0)
		close(s->master);
	s->master = -1;
}

bool pump_pending(const pump *p)
{
	return p->open && p->to >= 0 && p->end > p->start;
}

size_t pump_poll(const pump *p, struct pollfd *fds, bool foreground)
{
	size_t n = 0;

	if (!p->open || p->to < 0)
		return 0;
	if (p->end > p->start)
		fds[n++] = (struct pollfd){ .fd = p->to, .events = POLLOUT };
	else if (p->from >= 0 && (foreground || !p->keyboard))
		fds[n++] = (struct pollfd){ .fd = p->from, .events = POLLIN };
	return n;
}

static bool ready(int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };

	return poll(&one, 1, 0) > 0;
}

/*
 * The end of the input. A pipe is closed; a terminal in line mode is told
 * with its end-of-file key, twice when a line was begun.
 */
static void end_input(pump *p)
{
	static const char eof_keys[] = { 4, 4 };

	close_side(&p->from, p->own_from);
	if (p->to_terminal && p->to >= 0) {
		size_t n = p->last && p->last != '\n' ? 2 : 1;
		memcpy(p->bytes, eof_keys, n);
		p->start = 0;
		p->end = n;
		p->to_terminal = false;
		return;
	}
	if (p->own_to)
		close_side(&p->to, true);
}

static void pump_read(session *s, pump *p)
{
	ssize_t n = read(p->from, p->bytes, sizeof(p->bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* EIO: a terminal without its other side */
		end_input(p);
		return;
	}
	p->start = 0;
	p->end = (size_t)n;
	p->last = p->bytes[n - 1];
	if (!p->keyboard || p->to != s->master || s->master < 0)
		return;
	for (size_t i = 0; i < p->end; i++) {
		if (!terminal_suspends(s->master, p->bytes[i]))
			continue;
		/* the rest of a paste must not become the shell's input */
		p->end = i;
		terminal_flush();
		session_suspend(s, true);
		return;
	}
}

/* One that was hung up is none any more, and EIO says so; a file has ENOTTY. */
static bool is_terminal(int fd)
{
	return isatty(fd) || errno == EIO;
}

static void pump_write(session *s, pump *p)
{
	size_t n = p->end - p->start;
	ssize_t done = send(p->to, p->bytes + p->start, n,
			    MSG_DONTWAIT | MSG_NOSIGNAL);

	/* Small enough that a terminal which said POLLOUT takes it. */
	if (done < 0 && errno == ENOTSOCK)
		done = write(p->to, p->bytes + p->start, n > 2048 ? 2048 : n);

	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (done >= 0) {
		p->start += (size_t)done;
		return;
	}
	/* A full disk, say. Nobody told the command, whose status may be 0. */
	int number = errno;

	if (p != &s->pumps[PUMP_IN] && number != EPIPE && !s->lost &&
	    !(number == EIO && is_terminal(p->to))) {
		s->lost = number;
		text_note("what the command writes is lost: standard %s cannot "
			  "be written: %s", p->to == 2 ? "error" : "output",
			  strerror(s->lost));
	}
	/* Nobody reads: whoever writes shall notice as it would have. */
	p->start = p->end = 0;
	close_side(&p->to, p->own_to);
	close_side(&p->from, p->own_from);
	if (p == &s->pumps[PUMP_OUT] && s->master >= 0)
		agentbox_process_kill(s->process, SIGHUP, NULL);
}

void pump_move(session *s, pump *p, bool foreground)
{
	if (!p->open || p->to < 0)
		return;
	if (p->end > p->start) {
		if (ready(p->to, POLLOUT))
			pump_write(s, p);
		return;
	}
	if (p->from >= 0 && (foreground || !p->keyboard) &&
	    ready(p->from, POLLIN))
		pump_read(s, p);
}
