/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command that runs or has run. Its channel is its own: waiting for it
 * touches nothing else. The end is told only after protected paths were
 * settled and relayed files flushed.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "sandbox/internal.h"
#include "wire/message.h"

int32_t ab_process_new(agentbox_sandbox *box, const char *box_id,
		       int channel_fd, agentbox_process **out,
		       agentbox_error **err)
{
	agentbox_process *p = ab_new(agentbox_process);

	if (!p) {
		close(channel_fd);
		return ab_error_nomem(err);
	}
	p->owner = getpid();
	p->box = box ? ab_box_ref(box) : NULL;
	p->channel_fd = channel_fd;
	p->pty_fd = -1;
	memcpy(p->box_id, box_id, strnlen(box_id, AB_ID_SIZE - 1));
	*out = p;
	return 0;
}

static int32_t usable(const agentbox_process *p, agentbox_error **err)
{
	if (!p)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "process is NULL");
	if (p->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "process %u belongs to host process %d; a "
				    "forked child cannot use it", p->pid,
				    (int)p->owner);
	return 0;
}

static int32_t exec_error(const ab_msg_failed *m, const char *name,
			  agentbox_error **err)
{
	int32_t code = m->sys_errno == ENOENT ? AGENTBOX_ENOTFOUND
		       : m->sys_errno == EACCES || m->sys_errno == EPERM
		       ? AGENTBOX_EACCES
		       /* execve(2): one argument of 128 KiB, or all of them */
		       : m->sys_errno == E2BIG ? AGENTBOX_ELIMIT
					       : AGENTBOX_ESYS;
	bool has_own = m->message[0] && !m->sys_errno;

	return ab_error_sys_code(err, code, m->sys_errno, m->stage,
				 "cannot run '%s' in the box%s%s%s", name,
				 strcmp(m->stage, "cwd") ? "" :
				 ": its working directory",
				 has_own ? ": " : "", has_own ? m->message : "");
}

int32_t ab_process_await_started(agentbox_process *p, const char *name,
				 int64_t timeout_ms, agentbox_error **err)
{
	uint8_t buf[4096];
	int fd[1] = { -1 };
	size_t fd_count = 0;
	ab_msg_failed failed;
	ab_reader r;

	int ready = ab_fd_poll(p->channel_fd, POLLIN, timeout_ms);
	if (ready == 0)
		return AGENTBOX_EAGAIN;
	if (ready < 0)
		return ab_error_sys(err, -ready, "launcher",
				    "cannot wait for the launcher");
	ssize_t n = ab_message_recv(p->channel_fd, buf, sizeof(buf), fd, 1,
				    &fd_count, 0);
	if (n <= 0)
		return ab_error_set(err, p->box && !atomic_load(&p->box->ended)
				    ? AGENTBOX_ETIMEOUT : AGENTBOX_ECLOSED,
				    "launcher",
				    "the launcher was replaced while starting "
				    "'%s', which was ended with it", name);
	ab_reader_init(&r, buf, (size_t)n);
	uint32_t kind = ab_get_u32(&r);
	uint32_t announced = ab_get_u32(&r);

	p->pty_fd = fd[0];
	if (announced != fd_count)
		kind = 0;
	if (kind == AB_MSG_STARTED) {
		p->pid = ab_get_u32(&r);
		if (ab_reader_done(&r))
			return 0;
	}
	if (kind == AB_MSG_NOT_STARTED && ab_msg_get_failed(&r, &failed) == 0)
		return exec_error(&failed, name, err);
	return ab_error_set(err, AGENTBOX_EPROTO, "launcher",
			    "malformed answer of the launcher");
}

/* In a forked child the descriptor is the parent's still, and who reads from
   it takes the parent's answer away. */
static bool is_ours(const agentbox_process *p)
{
	return p && p->owner == getpid();
}

int32_t agentbox_process_get_fd(const agentbox_process *p)
{
	return is_ours(p) ? p->channel_fd : -1;
}

int32_t agentbox_process_get_pid(const agentbox_process *p)
{
	return is_ours(p) ? (int32_t)p->pid : -1;
}

bool ab_process_has_ended(const agentbox_process *p)
{
	return p->ended;
}

const ab_msg_exited *ab_process_exited(const agentbox_process *p)
{
	return p->ended && !p->lost ? &p->exited : NULL;
}

int ab_process_pty_fd(const agentbox_process *p)
{
	return p->pty_fd;
}

/*
 * What is on the channel: the exit, or its end. The owner of another
 * process's box says before the exit that settling failed; then the process
 * has not ended yet for the caller.
 */
static int32_t read_end(agentbox_process *p, agentbox_error **err)
{
	uint8_t buf[2048];
	size_t fd_count = 0;
	ab_msg_failed failed;
	ab_reader r;

	ssize_t n = ab_message_recv(p->channel_fd, buf, sizeof(buf), NULL, 0,
				    &fd_count, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return 0;
	if (n <= 0) {
		p->lost = true;
		p->ended = true;
		return 0;
	}
	ab_reader_init(&r, buf, (size_t)n);
	uint32_t kind = ab_get_u32(&r), fds = ab_get_u32(&r);
	if (kind == AB_MSG_FAILED && fds == 0 && !p->box && !p->unprotected &&
	    ab_msg_get_failed(&r, &failed) == 0) {
		p->unprotected = true;
		return 0;
	}
	if (kind == AB_MSG_EXITED && fds == 0 &&
	    ab_msg_get_exited(&r, &p->exited) == 0) {
		p->ended = true;
		return 0;
	}
	p->lost = true;
	p->ended = true;
	return ab_error_set(err, AGENTBOX_EPROTO, "channel",
			    "malformed end of process %u", p->pid);
}

/* Until the end is on the channel. */
static int32_t await_end(agentbox_process *p, uint64_t deadline,
			 agentbox_error **err)
{
	while (!p->ended) {
		struct pollfd fd = { .fd = p->channel_fd, .events = POLLIN };
		int ready = ab_box_poll(p->box, &fd, 1,
					ab_clock_left_ms(deadline));
		if (ready == 0 && ab_clock_left_ms(deadline) == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "",
					    "process %u still runs", p->pid);
		if (ready < 0)
			return ab_error_sys(err, -ready, "",
					    "cannot wait for process %u",
					    p->pid);
		int32_t rc = read_end(p, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * Before the end is told: what appeared at protected names is moved away,
 * relayed files are complete. When that fails the wait fails, and may be
 * tried again. A box that ended in order settled at its end.
 */
static int32_t settle(agentbox_process *p, uint64_t deadline,
		      agentbox_error **err)
{
	if (p->settled)
		return 0;
	if (!p->box && p->unprotected) /* its owner settled, or could not */
		return ab_error_set(err, AGENTBOX_EWALL, "protect",
				    "protected paths of box %s could not be "
				    "put right after process %u", p->box_id,
				    p->pid);
	if (!p->box)
		return 0;
	int32_t rc = p->lost ? 0 : ab_box_settle(p->box, p->relayed,
						 &p->ticket, deadline, err);
	p->untold = rc == AGENTBOX_EAGAIN;
	if (p->untold)
		return ab_error_set(err, AGENTBOX_ETIMEOUT, "protect",
				    "process %u has ended; what it did at "
				    "protected paths is still looked at",
				    p->pid);
	p->settled = rc == 0;
	if (!p->recorded) {
		int32_t recorded = ab_record_exit(p->box, p,
						  rc < 0 ? NULL : err);
		p->recorded = recorded == 0;
		if (rc == 0)
			rc = recorded;
	}
	return rc;
}

int32_t agentbox_process_wait(agentbox_process *p, int64_t timeout_ms,
			      agentbox_error **err)
{
	int32_t rc = usable(p, err);
	if (rc < 0)
		return rc;
	uint64_t deadline = ab_clock_deadline(timeout_ms);
	rc = await_end(p, deadline, err);
	if (!p->ended)
		return rc;
	int32_t settled = settle(p, deadline, rc < 0 ? NULL : err);
	if (rc < 0 || settled < 0)
		return rc < 0 ? rc : settled;
	if (p->lost)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "box %s ended before process %u told its "
				    "status", p->box_id, p->pid);
	return 0;
}

/* Its end is for the caller to know. */
static bool is_told(const agentbox_process *p)
{
	return p && p->ended && !p->untold;
}

int32_t agentbox_process_get_exit_status(const agentbox_process *p)
{
	if (!is_told(p) || p->lost || !WIFEXITED(p->exited.status))
		return -1;
	return WEXITSTATUS(p->exited.status);
}

int32_t agentbox_process_get_signal(const agentbox_process *p)
{
	if (!is_told(p) || p->lost || !WIFSIGNALED(p->exited.status))
		return 0;
	return WTERMSIG(p->exited.status);
}

const char *agentbox_process_get_reason(const agentbox_process *p)
{
	if (!is_told(p))
		return "running";
	if (p->lost)
		return "closed";
	switch (p->exited.reason) {
	case AB_REASON_WALL:
		return "wall";
	case AB_REASON_KILLED:
		return "killed";
	case AB_REASON_MEMORY:
		return "memory";
	case AB_REASON_PIDS:
		return "pids";
	case AB_REASON_SECCOMP:
		return "seccomp";
	case AB_REASON_CLOSED:
		return "closed";
	default:
		return WIFSIGNALED(p->exited.status) ? "signal" : "exited";
	}
}

int32_t agentbox_process_to_json(const agentbox_process *p,
				 agentbox_bytes **json, agentbox_error **err)
{
	if (!p || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "process or json is NULL");
	const ab_msg_exited *e = &p->exited;
	json_t *o = json_pack(
		"{s:s, s:i, s:s, s:i, s:i, s:I, s:I, s:{s:I, s:I, s:I, s:I, "
		"s:I, s:I, s:I, s:I, s:I}, s:I}",
		"box", p->box_id, "pid", (int)p->pid,
		"reason", agentbox_process_get_reason(p),
		"exit_status", (int)agentbox_process_get_exit_status(p),
		"signal", (int)agentbox_process_get_signal(p),
		"dropped_stdout", (json_int_t)p->dropped_out,
		"dropped_stderr", (json_int_t)p->dropped_err,
		"rusage",
		"user_us", (json_int_t)e->utime_us,
		"system_us", (json_int_t)e->stime_us,
		"max_rss_kib", (json_int_t)e->maxrss_kib,
		"minor_faults", (json_int_t)e->minflt,
		"major_faults", (json_int_t)e->majflt,
		"blocks_in", (json_int_t)e->inblock,
		"blocks_out", (json_int_t)e->oublock,
		"voluntary_switches", (json_int_t)e->nvcsw,
		"involuntary_switches", (json_int_t)e->nivcsw,
		"wall_us", (json_int_t)e->wall_us);
	int32_t rc = o ? ab_json_canonical(o, json, err) : ab_error_nomem(err);
	json_decref(o);
	return rc;
}

int32_t agentbox_process_kill(agentbox_process *p, int32_t signum,
			      agentbox_error **err)
{
	uint8_t memory[32];
	ab_writer w;
	ab_msg_signal m = { .signum = signum, .group = 1 };

	int32_t rc = usable(p, err);
	if (rc < 0)
		return rc;
	if (signum < 1 || signum > 64)
		return ab_error_set(err, AGENTBOX_EINVAL, "signal",
				    "%d is no signal", signum);
	/* its end is told a moment before its channel closes */
	if (p->ended)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "process %u has ended", p->pid);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_signal(&w, &m);
	int sent = ab_message_send(p->channel_fd, w.data, w.len, NULL, 0,
				   MSG_DONTWAIT);
	if (sent == -EAGAIN)
		return ab_error_sys_code(err, AGENTBOX_EBUSY, -sent, "",
					 "process %u has many signals waiting",
					 p->pid);
	if (sent < 0)
		return ab_error_sys_code(err, AGENTBOX_ECLOSED, -sent, "",
					 "process %u has ended", p->pid);
	return 0;
}

int32_t agentbox_process_open_pty(agentbox_process *p, int32_t *fd,
				  agentbox_error **err)
{
	int32_t rc = usable(p, err);
	if (rc < 0)
		return rc;
	if (!fd || p->pty_fd < 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "pty",
				    "process %u has no terminal; ask for one "
				    "with agentbox_command_set_pty()", p->pid);
	int copy = ab_fd_dup(p->pty_fd);
	if (copy < 0)
		return ab_error_sys(err, -copy, "pty",
				    "cannot duplicate the terminal");
	*fd = copy;
	return 0;
}

int32_t agentbox_process_resize(agentbox_process *p, uint32_t rows,
				uint32_t columns, agentbox_error **err)
{
	int32_t rc = usable(p, err);
	if (rc < 0)
		return rc;
	if (p->pty_fd < 0 || !rows || !columns || rows > UINT16_MAX ||
	    columns > UINT16_MAX)
		return ab_error_set(err, AGENTBOX_EINVAL, "pty",
				    "no terminal, or no terminal size: %u by "
				    "%u", rows, columns);
	struct winsize size = { .ws_row = (unsigned short)rows,
				.ws_col = (unsigned short)columns };
	if (ioctl(p->pty_fd, TIOCSWINSZ, &size) < 0)
		return ab_error_sys(err, errno, "pty",
				    "cannot resize the terminal");
	return 0;
}

void agentbox_process_free(agentbox_process *p)
{
	if (!p)
		return;
	int saved = errno;
	/* The end of the channel ends the process group (wire/box.h); a forked
	   child of the host may hold a copy of the descriptor, so say it to
	   the socket. In such a child the channel is not ours to end. */
	if (p->channel_fd >= 0) {
		if (p->owner == getpid())
			shutdown(p->channel_fd, SHUT_RDWR);
		close(p->channel_fd);
	}
	if (p->pty_fd >= 0)
		close(p->pty_fd);
	ab_box_unref(p->box);
	free(p);
	errno = saved;
}
