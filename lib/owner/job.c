/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands that clients run: the process is ours, and the channel towards
 * the client speaks as the box's own would. A command is ended when its
 * client closes the channel, as for a host of its own.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "owner/internal.h"
#include "sandbox/sandbox.h"
#include "wire/message.h"

void ab_job_end(ab_job *j)
{
	if (j->gone)
		return;
	j->gone = true;
	ab_owner_end_socket(j->owner, &j->remote_fd);
	ab_owner_unwatch(j->owner, agentbox_process_get_fd(j->process));
	agentbox_process_free(j->process); /* ends what still runs */
	j->process = NULL;
}

/*
 * The process's channel is readable: it has ended. Its status is told even
 * when settling after it failed, but behind that failure: a client that does
 * not know the failure does not take the status for a good one.
 */
void ab_job_ready(ab_job *j)
{
	ab_auto(agentbox_error) *error = NULL;
	uint8_t memory[2048];
	ab_writer w;
	int sent = 0;

	int32_t rc = agentbox_process_wait(j->process, 0, &error);
	if (rc == AGENTBOX_ETIMEOUT) {
		/* not yet; its channel stays readable once it has ended */
		if (ab_process_has_ended(j->process) && !j->is_settling) {
			ab_owner_unwatch(j->owner,
					 agentbox_process_get_fd(j->process));
			j->is_settling = true;
		}
		return;
	}
	const ab_msg_exited *exited = ab_process_exited(j->process);
	if (rc < 0 && exited) {
		char text[1024];
		snprintf(text, sizeof(text), "%s",
			 agentbox_error_get_message(error));
		ab_msg_failed m = { .stage = "protect", .message = text };
		ab_writer_init_fixed(&w, memory, sizeof(memory));
		ab_msg_put_failed(&w, AB_MSG_FAILED, &m);
		sent = ab_message_send(j->remote_fd, w.data, w.len, NULL, 0,
				       MSG_DONTWAIT);
	}
	if (sent == 0 && exited) {
		ab_writer_init_fixed(&w, memory, sizeof(memory));
		ab_msg_put_exited(&w, exited);
		ab_message_send(j->remote_fd, w.data, w.len, NULL, 0,
				MSG_DONTWAIT);
	}
	ab_job_end(j);
}

/* The client's end: a signal, or its end. */
void ab_job_told(ab_job *j)
{
	uint8_t buf[64];
	size_t fds = 0;
	ab_msg_signal m;
	ab_reader r;

	ssize_t n = ab_message_recv(j->remote_fd, buf, sizeof(buf), NULL, 0,
				    &fds, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	ab_reader_init(&r, buf, n > 0 ? (size_t)n : 0);
	if (n > 0 && ab_get_u32(&r) == AB_MSG_SIGNAL && ab_get_u32(&r) == 0 &&
	    ab_msg_get_signal(&r, &m) == 0)
		agentbox_process_kill(j->process, m.signum, NULL);
	else
		ab_job_end(j);
}

int32_t ab_job_start(agentbox_owner *o, agentbox_sandbox *box, int *channel,
		     const agentbox_command *c, agentbox_error **err)
{
	uint8_t memory[32];
	ab_writer w;
	ab_job *j = ab_new(ab_job);

	if (!j)
		return ab_error_nomem(err);
	j->source.kind = SOURCE_JOB;
	j->remote_source.kind = SOURCE_REMOTE;
	j->owner = o;
	j->box = box;
	int32_t rc = agentbox_sandbox_spawn(box, c, &j->process, err);
	if (rc < 0) {
		free(j);
		return rc;
	}
	j->remote_fd = ab_steal_fd(channel);
	j->next = o->jobs;
	o->jobs = j;

	int pty_fd = ab_process_pty_fd(j->process);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STARTED);
	ab_put_u32(&w, pty_fd >= 0);
	ab_put_u32(&w, (uint32_t)agentbox_process_get_pid(j->process));
	int sent = ab_message_send(j->remote_fd, w.data, w.len, &pty_fd,
				   pty_fd >= 0, MSG_DONTWAIT);
	if (sent < 0 ||
	    ab_owner_watch(o, agentbox_process_get_fd(j->process),
			   &j->source) < 0 ||
	    ab_owner_watch(o, j->remote_fd, &j->remote_source) < 0) {
		ab_job_end(j);
		return ab_error_set(err, AGENTBOX_ESYS, "",
				    "cannot serve the command");
	}
	return 0;
}
