/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What other rooms may use of a box beyond its public header: the owner
 * stands between a box and another process, so it passes on what the
 * handles keep to themselves. The bodies are in internal.h.
 */
#ifndef AB_SANDBOX_SANDBOX_H
#define AB_SANDBOX_SANDBOX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox/sandbox.h"
#include "base/limits.h"
#include "wire/box.h"
#include "wire/codec.h"

/* How long the launcher may take to start a command. */
#define AB_SPAWN_DEADLINE_MS 5000
/* How long the holder may take to answer a request. */
#define AB_REQUEST_TIMEOUT_MS 30000

/* The policy it was raised with; borrowed. */
agentbox_policy *ab_box_policy(const agentbox_sandbox *box);

/* What peering asks of a box; strings are borrowed. */
typedef struct ab_box_facts {
	const char *account;   /* NULL: the policy names none */
	const char *workspace; /* on the host, without links; NULL: none */
	uint64_t workspace_dev, workspace_ino;
	bool is_reader; /* it has a `.shared` */
	pid_t owner;
} ab_box_facts;
void ab_box_facts_of(const agentbox_sandbox *box, ab_box_facts *facts);

/* Patterns of what it does not see of its workspace: an owned array; NULL: no
   memory, or a name that is no UTF-8. */
json_t *ab_box_hidden(const agentbox_sandbox *box);

/* EFORKED in a forked child, ECLOSED when the box has ended, else 0. */
int32_t ab_box_usable(const agentbox_sandbox *box, agentbox_error **err);

/* What verify asks of a box; borrowed, while the box lives. */
typedef struct ab_box_walls {
	agentbox_context *context;
	pid_t holder; /* agentbox-init outside of it; all else is below */
	uint32_t tier, landlock_abi;
	uint32_t walls, expected; /* AB_WALL_*: raised, and asked for */
	const json_t *limits, *notes; /* the limits report; strings */
	const json_t *weaker;	      /* {wall, what, why, fix} */
	char *const *cgroups;
	size_t cgroup_count;
	const char *workspace; /* inside; NULL: none */
} ab_box_walls;
void ab_box_walls_of(const agentbox_sandbox *box, ab_box_walls *walls);
/* agentbox_sandbox_plan_to_json() of this box and its tier; owned. */
int32_t ab_box_plan(const agentbox_sandbox *box, json_t **plan,
		    agentbox_error **err);

/*
 * command.c: a program of ours. Descriptor `target` of the command is `fd`
 * (borrowed), a sealed memfd, itself and not through a relay; argv[0] is to be
 * "/proc/self/fd/<target>". No rule of the shield's is about it.
 */
int32_t ab_command_set_program(agentbox_command *c, int target, int fd,
			       agentbox_error **err);

/*
 * process.c: a handle for a channel (taken, also on failure) that speaks the
 * messages of wire/box.h, whoever is at its other end. `box` may be NULL.
 */
int32_t ab_process_new(agentbox_sandbox *box, const char *box_id,
		       int channel_fd, agentbox_process **out,
		       agentbox_error **err);
/* Wait for STARTED at most timeout_ms; AGENTBOX_EAGAIN when it is not there. */
int32_t ab_process_await_started(agentbox_process *p, const char *name,
				 int64_t timeout_ms, agentbox_error **err);
/* It runs no more, whether its status is known or not. */
bool ab_process_has_ended(const agentbox_process *p);
/* Its status, borrowed; NULL while it runs and when the box did not tell. */
const ab_msg_exited *ab_process_exited(const agentbox_process *p);
/* The host's side of its terminal, borrowed; -1: none. */
int ab_process_pty_fd(const agentbox_process *p);

/* pack.c: a command as bytes, without its descriptors. */
void ab_command_put(ab_writer *w, const agentbox_command *command);
/*
 * The command with `fds` (borrowed) as its descriptors. Built by the public
 * calls, so bytes and descriptors from outside are judged as the host's own.
 */
int32_t ab_command_get(ab_reader *r, const int *fds, size_t fd_count,
		       agentbox_command **out, agentbox_error **err);
/* argv[0]; borrowed. */
const char *ab_command_name(const agentbox_command *command);
/* Its descriptors, borrowed, in the order of ab_command_put(); the count. */
size_t ab_command_fds(const agentbox_command *command,
		      int fds[AB_MAX_EXTRA_FDS]);

#endif
