/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command that runs or has run. Its channel is its own: waiting for it
 * touches nothing else. The end is told only after protected paths were
 * settled and relayed files flushed.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "sandbox/sandbox.h"
#include "wire/message.h"

static int32_t usable(const agentbox_process *p, agentbox_error **err)
{
	if (!p)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "process is NULL");
	if (p->box->owner != getpid())
		return ab_box_usable(p->box, err);
	return 0;
}

int32_t agentbox_process_get_fd(const agentbox_process *p)
{
	return p ? p->channel_fd : -1;
}

int32_t agentbox_process_get_pid(const agentbox_process *p)
{
	return p ? (int32_t)p->pid : -1;
}

/* What is on the channel: the exit, or its end. */
static int32_t read_end(agentbox_process *p, agentbox_error **err)
{
	uint8_t buf[512];
	size_t fd_count = 0;
	ssize_t n = ab_message_recv(p->channel_fd, buf, sizeof(buf), NULL, 0,
				    &fd_count, 0);
	ab_reader r;

	if (n <= 0) {
		p->ended = p->lost = true;
		return 0;
	}
	ab_reader_init(&r, buf, (size_t)n);
	uint32_t kind = ab_get_u32(&r);
	if (kind == AB_MSG_EXITED && ab_get_u32(&r) == 0 &&
	    ab_msg_get_exited(&r, &p->exited) == 0) {
		p->ended = true;
		return 0;
	}
	p->ended = p->lost = true;
	return ab_error_set(err, AGENTBOX_EPROTO, "channel",
			    "malformed end of process %u", p->pid);
}

/*
 * Before the end is told: what appeared at protected names is moved away,
 * relayed files are complete. A box that ended meanwhile has nothing left to
 * settle; a protection that failed freezes the next spawn, not this answer.
 */
static int32_t settle(agentbox_process *p, agentbox_error **err)
{
	if (p->settled)
		return 0;
	p->settled = true;
	if (!p->lost && !atomic_load(&p->box->ended))
		ab_box_settle(p->box, p->relayed, NULL);
	return ab_record_exit(p->box, p, err);
}

int32_t agentbox_process_wait(agentbox_process *p, int64_t timeout_ms,
			      agentbox_error **err)
{
	int32_t rc = usable(p, err);
	if (rc < 0)
		return rc;
	if (!p->ended) {
		int ready = ab_fd_poll(p->channel_fd, POLLIN,
				       timeout_ms < 0 ? -1 : timeout_ms);
		if (ready == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "",
					    "process %u still runs after %lld "
					    "ms", p->pid,
					    (long long)timeout_ms);
		if (ready < 0)
			return ab_error_sys(err, -ready, "",
					    "cannot wait for process %u",
					    p->pid);
		rc = read_end(p, err);
	}
	int32_t settled = settle(p, rc < 0 ? NULL : err);
	if (rc < 0 || settled < 0)
		return rc < 0 ? rc : settled;
	if (p->lost)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "box %s ended before process %u told its "
				    "status", p->box->id, p->pid);
	return 0;
}

int32_t agentbox_process_get_exit_status(const agentbox_process *p)
{
	if (!p || !p->ended || p->lost || !WIFEXITED(p->exited.status))
		return -1;
	return WEXITSTATUS(p->exited.status);
}

int32_t agentbox_process_get_signal(const agentbox_process *p)
{
	if (!p || !p->ended || p->lost || !WIFSIGNALED(p->exited.status))
		return 0;
	return WTERMSIG(p->exited.status);
}

const char *agentbox_process_get_reason(const agentbox_process *p)
{
	if (!p || !p->ended)
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
		"box", p->box->id, "pid", (int)p->pid,
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
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_signal(&w, &m);
	int sent = ab_message_send(p->channel_fd, w.data, w.len, NULL, 0,
				   MSG_DONTWAIT);
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
	/* Closing the channel ends the process group (wire/box.h). */
	if (p->channel_fd >= 0)
		close(p->channel_fd);
	if (p->pty_fd >= 0)
		close(p->pty_fd);
	ab_box_unref(p->box);
	free(p);
	errno = saved;
}
