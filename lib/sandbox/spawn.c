/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The warm path: one datagram to the launcher, one answer. Every wall is
 * inherited by the command, so nothing is raised here; what costs is counted
 * in system calls (DESIGN.md section 15). Holds no lock while it waits, so
 * threads that share a box do not wait for each other.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "sandbox/internal.h"
#include "wire/message.h"

/* What the launcher takes: libexec/init/launcher.c. */
#define MAX_COMMAND_BYTES (AB_MAX_ARGV_BYTES + AB_MAX_MESSAGE)

/* Fits above the direction in the argument of AB_MSG_RELAY. */
#define MAX_RELAY_GROUP (UINT32_MAX >> 1)

/* What is lent to one spawn and closed after it. */
typedef struct outgoing {
	int fds[2 + AB_MAX_EXTRA_FDS]; /* channel, [memfd,] then slots */
	size_t count;
	int owned[1 + AB_MAX_EXTRA_FDS]; /* pipes of relays, the memfd */
	size_t owned_count;
	uint32_t targets[AB_MAX_EXTRA_FDS];
	uint32_t target_count;
	uint32_t relays; /* their group, 0: there are none */
} outgoing;

static void outgoing_end(outgoing *o)
{
	for (size_t i = 0; i < o->owned_count; i++)
		close(o->owned[i]);
}

/*
 * A socket is of the network namespace it was made in: with one of TCP, as
 * inetd(8) gives them, a box would have the host's network, and to one without
 * a name it could give one of the host's. The launcher looks again.
 */
static int32_t judge_sockets(const agentbox_sandbox *box,
			     const agentbox_command *c, agentbox_error **err)
{
	if (box->compiled.host_sockets)
		return 0;
	for (size_t i = 0; i < c->fd_count; i++) {
		const ab_fd_slot *slot = &c->fds[i];
		int rc = slot->socket ? ab_fd_check_connected_unix(slot->fd)
				      : 0;
		if (rc < 0)
			return ab_error_sys_code(
				err, AGENTBOX_EDENIED, rc == -EPERM ? 0 : -rc,
				"fd", "descriptor %d of the command would be a "
				"socket that carries the host's network; "
				"unless the policy's network mode is 'host', "
				"only connected UNIX stream sockets go into a "
				"box: relay it through a pipe", slot->target);
		if (slot->socket)
			rc = ab_fd_take_unix_name(slot->fd);
		if (rc < 0)
			return ab_error_sys_code(
				err, AGENTBOX_EDENIED, -rc, "fd",
				"descriptor %d of the command would be a "
				"socket without a name, and cannot be given "
				"one", slot->target);
	}
	return 0;
}

/* The fds of a command; a regular file becomes a pipe the holder pumps. */
static int32_t gather_fds(agentbox_sandbox *box, const agentbox_command *c,
			  int *slots, outgoing *o, agentbox_error **err)
{
	for (size_t i = 0; i < c->fd_count; i++) {
		const ab_fd_slot *slot = &c->fds[i];
		int fd = slot->fd;
		if (slot->relay) {
			ab_msg_reply reply = { 0 };
			while (!o->relays)
				o->relays = ++box->relays & MAX_RELAY_GROUP;
			int32_t rc = ab_control_request(
				box, AB_MSG_RELAY,
				o->relays << 1 | slot->into_box, fd, &fd,
				&reply, err);
			if (rc < 0)
				return rc;
			if (reply.result < 0 || fd < 0)
				return ab_error_sys_code(
					err, AGENTBOX_ESYS, -reply.result,
					"fd", "cannot relay the file for "
					"descriptor %d", slot->target);
			o->owned[o->owned_count++] = fd;
		}
		slots[i] = fd;
		o->targets[i] = (uint32_t)slot->target;
	}
	o->target_count = (uint32_t)c->fd_count;
	return 0;
}

static uint32_t effective_wall(const agentbox_sandbox *box,
			       const agentbox_command *c)
{
	const ab_policy_number *w =
		&ab_policy_get(box->policy)->limits.value[AB_LIMIT_WALL];
	uint64_t policy = w->state == AB_POLICY_SET ? w->value : 0;

	if (policy > UINT32_MAX)
		policy = UINT32_MAX;
	if (!c->wall_ms || (policy && policy < c->wall_ms))
		return (uint32_t)policy;
	return c->wall_ms;
}

static const char *cwd_of(const agentbox_sandbox *box,
			  const agentbox_command *c)
{
	return c->cwd ? c->cwd
	       : box->compiled.workspace_inside
	       ? box->compiled.workspace_inside : "/";
}

static void fill_message(const agentbox_sandbox *box, const agentbox_command *c,
			 const outgoing *o, char **envp, size_t envc,
			 ab_msg_spawn *m)
{
	*m = (ab_msg_spawn){
		.flags = c->pty ? AB_SPAWN_PTY : 0,
		.rows = c->rows,
		.cols = c->cols,
		.wall_ms = effective_wall(box, c),
		.relays = o->relays,
		.cwd = cwd_of(box, c),
		.targets = o->targets,
		.target_count = o->target_count,
		.argv = (const char *const *)c->argv,
		.argc = (uint32_t)c->argc,
		.envp = (const char *const *)envp,
		.envc = (uint32_t)envc,
	};
}

/* A message over 64 KiB goes through a sealed memfd. */
static int32_t encode_big(const ab_msg_spawn *m, ab_writer *small,
			  uint8_t *memory, size_t size, uint32_t fd_count,
			  outgoing *o, int *memfd, agentbox_error **err)
{
	ab_writer big;

	ab_writer_init(&big, MAX_COMMAND_BYTES);
	ab_msg_put_spawn(&big, m);
	if (big.bad) {
		ab_writer_end(&big);
		return ab_error_set(err, AGENTBOX_ELIMIT, "argv",
				    "arguments and environment exceed %u bytes",
				    MAX_COMMAND_BYTES);
	}
	int fd = ab_fd_memfd_sealed("agentbox-spawn", big.data, big.len);
	ab_writer_end(&big);
	if (fd < 0)
		return ab_error_sys(err, -fd, "argv", "cannot make a memfd");
	o->owned[o->owned_count++] = fd;
	*memfd = fd;
	ab_writer_init_fixed(small, memory, size);
	ab_put_u32(small, AB_MSG_SPAWN_BIG);
	ab_put_u32(small, fd_count);
	return 0;
}

/* Send without waiting for ever on a launcher that reads nothing. */
static int send_to_launcher(agentbox_sandbox *box, const ab_writer *w,
			    const outgoing *o, uint64_t deadline)
{
	for (;;) {
		int rc = ab_message_send(box->spawn_fd, w->data, w->len, o->fds,
					 o->count, MSG_DONTWAIT);
		if (rc != -EAGAIN)
			return rc;
		rc = ab_fd_poll(box->spawn_fd, POLLOUT,
				ab_clock_left_ms(deadline));
		if (rc <= 0)
			return rc ? rc : -ETIMEDOUT;
	}
}

/* Unless another thread had it replaced while this one waited. */
static int32_t replace_launcher(agentbox_sandbox *box, uint64_t since,
				agentbox_error **err)
{
	pthread_mutex_lock(&box->lock);
	bool done = box->relaunched_ns > since;
	box->relaunched_ns = ab_clock_boot_ns();
	pthread_mutex_unlock(&box->lock);
	return done ? 0 : ab_control_request(box, AB_MSG_RELAUNCH, 0, -1, NULL,
					     NULL, err);
}

/*
 * A launcher that does not answer is replaced once: what it had not read
 * yet, the new one reads from the same socket; what it had read dies with
 * it, and the channel closes.
 */
static int32_t await_started(agentbox_process *p, const char *name,
			     agentbox_error **err)
{
	for (int tries = 0; tries < 2; tries++) {
		uint64_t began = ab_clock_boot_ns();
		int32_t rc = ab_process_await_started(
			p, name, AB_SPAWN_DEADLINE_MS, err);
		if (rc != AGENTBOX_EAGAIN)
			return rc;
		rc = replace_launcher(p->box, began, err);
		if (rc < 0)
			return rc;
	}
	return ab_error_set(err, AGENTBOX_ETIMEOUT, "launcher-stalled",
			    "the launcher of box %s stalled and was replaced; "
			    "'%s' may or may not have run", p->box->id, name);
}

static int32_t send_command(agentbox_sandbox *box, const agentbox_command *c,
			    char **envp, size_t envc, outgoing *o,
			    agentbox_process **out, agentbox_error **err)
{
	uint8_t memory[AB_MAX_MESSAGE];
	int slots[AB_MAX_EXTRA_FDS];
	int pair[2], memfd = -1;
	ab_msg_spawn m;
	ab_writer w;

	int32_t rc = judge_sockets(box, c, err);
	if (rc == 0)
		rc = gather_fds(box, c, slots, o, err);
	if (rc < 0)
		return rc;
	uint32_t fd_count = 1 + o->target_count;
	fill_message(box, c, o, envp, envc, &m);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_SPAWN);
	ab_put_u32(&w, fd_count);
	ab_msg_put_spawn(&w, &m);
	if (w.bad) {
		fd_count++;
		rc = encode_big(&m, &w, memory, sizeof(memory), fd_count, o,
				&memfd, err);
		if (rc < 0)
			return rc;
	}

	rc = ab_fd_seqpacket_pair(pair);
	if (rc < 0)
		return ab_error_sys(err, -rc, "", "cannot make a channel");
	rc = ab_process_new(box, box->id, pair[0], out, err);
	if (rc < 0) {
		close(pair[1]);
		return rc;
	}
	o->fds[o->count++] = pair[1];
	if (memfd >= 0)
		o->fds[o->count++] = memfd;
	for (size_t i = 0; i < o->target_count; i++)
		o->fds[o->count++] = slots[i];
	rc = send_to_launcher(box, &w, o,
			      ab_clock_boot_ns() +
			      AB_SPAWN_DEADLINE_MS * 1000000ull);
	close(pair[1]);
	if (rc < 0)
		return ab_error_sys_code(err, rc == -ETIMEDOUT
					 ? AGENTBOX_ETIMEOUT
					 : rc == -EPIPE || rc == -ECONNRESET
					 ? AGENTBOX_ECLOSED : AGENTBOX_ESYS,
					 -rc, "launcher",
					 "cannot reach the launcher of box %s",
					 box->id);
	return 0;
}

int32_t agentbox_sandbox_spawn(agentbox_sandbox *box,
			       const agentbox_command *c,
			       agentbox_process **process, agentbox_error **err)
{
	if (!box || !c || !process)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox, command or process is NULL");
	uint64_t ticket = 0;
	int32_t rc = ab_box_usable(box, err);
	if (rc == 0 && atomic_load(&box->revoked))
		rc = ab_error_set(err, AGENTBOX_EDENIED, "identity",
				  "the identity of box %s is revoked", box->id);
	if (rc == 0)
		rc = ab_box_settle(box, false, &ticket, 0, err);
	if (rc == 0 && !c->is_ours)
		rc = ab_shield_command(box->shield,
				       (const char *const *)c->argv, c->argc,
				       cwd_of(box, c), err);
	/* what it said of a command is told also of one that it refused */
	if (box->shield)
		ab_events_publish(box);
	if (rc == 0)
		rc = ab_record_command(box, c, err);
	if (rc < 0)
		return rc;

	agentbox_process *p = NULL;
	outgoing o = { .count = 0 };
	char **envp = NULL;
	size_t envc = 0;
	rc = ab_environment_build(box->policy, box->compiled.home,
				  ab_gateway_environment(box->gateway), c,
				  &envp, &envc, err);
	if (rc == 0)
		rc = send_command(box, c, envp, envc, &o, &p, err);
	ab_environment_free(envp);
	outgoing_end(&o);
	if (rc == 0) {
		p->relayed = o.relays != 0;
		rc = await_started(p, c->argv[0], err);
	}
	if (rc < 0) {
		agentbox_process_free(p);
		return rc;
	}
	*process = p;
	return 0;
}
