/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a box handle, shared by the files of this room. A box is
 * counted: its owner's handle is one reference, every process handle is
 * another, so that a process outlives agentbox_sandbox_free() with its
 * status.
 */
#ifndef AB_SANDBOX_INTERNAL_H
#define AB_SANDBOX_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/spawn.h"
#include "gateway/gateway.h"
#include "sandbox/sandbox.h"
#include "shield/shield.h"
#include "walls/walls.h"
#include "wire/box.h"

#define AB_DEFAULT_START_TIMEOUT_MS 10000
#define AB_MAX_QUEUED_EVENTS 1024

struct pollfd;

struct agentbox_event {
	uint32_t kind; /* enum ab_event_kind */
	char *object, *detail;
	json_t *record; /* of the gateway: fields of its own record, or NULL */
	agentbox_event *next;
};

/*
 * What happened, in order. An event is `fresh` until it was recorded, which
 * runs host code (the audit's sink) and so holds no lock. The wake descriptor
 * tells the host's loop of events that another thread took off the socket.
 */
typedef struct ab_event_queue {
	pthread_mutex_t lock;
	agentbox_event *fresh, **fresh_tail;
	agentbox_event *ready, **ready_tail;
	size_t count;	    /* of both */
	uint64_t dropped, unprotected_dropped; /* told when it is empty */
	uint64_t unprotected; /* ever seen */
	bool ended_told;
	int wake_fd, poll_fd; /* made by the first get_fd(), or -1 */
} ab_event_queue;

struct agentbox_sandbox_options {
	agentbox_audit *audit;
	uint32_t timeout_ms;
	char *resolver; /* NULL: the system's */
};

/*
 * A settle under way, one at a time. What is sent is changed with both locks
 * held, so either is enough to read it; the answer is taken off the socket
 * by whoever reads that.
 */
typedef struct ab_settle {
	bool is_sent; /* and its answer was not looked at yet */
	uint64_t begun; /* how many; the number of the last one */
	uint64_t deadline;
	uint32_t serial;
	int32_t result; /* of the last one that was answered */

	bool is_answered; /* these two: `lock` */
	ab_msg_reply reply;
} ab_settle;

struct agentbox_sandbox {
	atomic_uint refs;
	pid_t owner; /* getpid() of the process that made it */
	char id[AB_ID_SIZE];

	agentbox_context *context;
	agentbox_policy *policy;
	agentbox_audit *audit; /* may be NULL */
	ab_compiled compiled;
	uint32_t tier; /* as raised; outlives `compiled` */
	/* what init raised, and what compiling had to say: the reports */
	uint32_t walls, landlock_abi;
	json_t *notes, *noted, *limits, *weaker;

	ab_helper helper;
	agentbox_gateway *gateway; /* NULL: the policy has none */
	agentbox_shield *shield; /* NULL: the policy has none */
	int notify_fd; /* the shield's, between its arrival and its start */
	char *resolver;
	/* the gateway's, between their arrival and its start */
	int listeners[AB_GATEWAY_MAX_FDS];
	size_t listener_count;
	uint32_t listener_flags;
	int broker_fds[1 + AB_BROKER_MAX_SECRETS];
	size_t broker_fd_count;
	int uid_fd;	  /* holds the claim on a kernel uid, or -1 */
	int spawn_fd;	  /* to the launcher; datagrams need no lock */
	atomic_uint relays; /* groups given out, wire/box.h */
	int mountinfo_fd; /* POLLPRI: the mount table changed; or -1 */
	int watch_fd;	  /* inotify, only polled here; or -1 */
	atomic_bool ended;
	atomic_bool revoked; /* its identity: nothing begins any more */
	bool lowered; /* by agentbox_sandbox_end() */
	bool watched; /* it has protected paths to settle */
	bool has_looked; /* AB_MSG_LOOKED came */

	pthread_mutex_t settle_lock; /* taken before `lock` */
	bool unprotected; /* the last settle failed, or is not done yet */
	ab_settle settle;

	pthread_mutex_t lock; /* the control socket and what follows */
	uint32_t serial;
	uint64_t relaunched_ns; /* when the launcher was last replaced */

	ab_event_queue events;
};

typedef struct ab_fd_slot {
	int target, fd;
	bool relay; /* a regular file: goes through a pipe of the holder */
	bool into_box;
	bool socket;
} ab_fd_slot;

typedef struct ab_env_entry {
	char *name, *value; /* value NULL: remove */
	bool from_host;
} ab_env_entry;

struct agentbox_command {
	char **argv; /* NULL-terminated */
	size_t argc;
	char *cwd; /* NULL: the workspace */
	ab_env_entry *env;
	size_t env_count;
	ab_fd_slot fds[AB_MAX_EXTRA_FDS];
	size_t fd_count;
	bool pty;
	bool is_ours; /* a program of the library's: no rule is about it */
	uint16_t rows, cols;
	uint32_t wall_ms;
};

struct agentbox_process {
	pid_t owner;
	char box_id[AB_ID_SIZE];
	agentbox_sandbox *box; /* a reference; NULL: another process's box */
	int channel_fd;
	int pty_fd;
	uint32_t pid;
	/* no more messages will come; kill looks at it from any thread */
	atomic_bool ended;
	bool settled; /* protected paths were settled after the end */
	bool untold;  /* ended, and not known yet whether that was settled */
	uint64_t ticket; /* of ab_box_settle() */
	bool recorded; /* its end is in the audit */
	bool unprotected; /* remote: settling after it failed */
	bool relayed; /* a relay must be flushed before the end is told */
	bool lost;    /* ended without a status: the box went away */
	ab_msg_exited exited;
	uint64_t dropped_out, dropped_err; /* by capture */
};

agentbox_sandbox *ab_box_ref(agentbox_sandbox *box);
void ab_box_unref(agentbox_sandbox *box);

/*
 * uid.c: claim a kernel uid that no other box has; the claim lives as long
 * as *claim_fd (owned). Without a pool of ids nothing is claimed.
 */
int32_t ab_uid_claim(const ab_probe *probe, const char *box_id,
		     uint32_t *uid_try, int *claim_fd, agentbox_error **err);

/*
 * left.c: what an earlier box left in a workspace is put right, and told of by
 * events of this one, or it is not: EWALL, ETIMEOUT.
 */
int32_t ab_box_settle_left(agentbox_sandbox *box, const ab_left *left,
			   uint64_t deadline, agentbox_error **err);

/* control.c */

/*
 * Send a request to the holder and wait for its reply; events that arrive
 * meanwhile are queued. fd_in (or -1) goes along; fd_out (or NULL) takes the
 * one fd of the reply. 0 or an error; a dead holder marks the box ended.
 */
int32_t ab_control_request(agentbox_sandbox *box, uint32_t kind, uint32_t arg,
			   int fd_in, int *fd_out, ab_msg_reply *reply,
			   agentbox_error **err);
/* Read what is there without blocking; lock is taken inside. */
int32_t ab_control_drain(agentbox_sandbox *box, agentbox_error **err);

/* For settle.c and the end of a box, which hold `lock`. */

/* Send a request, which takes `serial`. 0 or -errno; never blocks. */
int ab_control_send(agentbox_sandbox *box, uint32_t kind, uint32_t arg,
		    int fd_in, uint32_t *serial);
/*
 * Take one datagram without waiting: 1 when it is the reply to `serial` (not
 * 0), 0 for an event, which is queued, and for the answer to a settle, -EAGAIN
 * when there is none, else -errno: the box is to be broken.
 */
int ab_control_take(agentbox_sandbox *box, uint32_t serial, int *fd_out,
		    ab_msg_reply *reply);
/* End the connection, and with it the box. */
void ab_control_break(agentbox_sandbox *box);

/* gateway.c */

/* Start the gateway of a box that is ready, if its policy has one. */
int32_t ab_box_start_gateway(agentbox_sandbox *box, uint64_t deadline,
			     agentbox_error **err);
/* The listeners of one attempt; those that were not used are closed. */
void ab_box_drop_listeners(agentbox_sandbox *box);

/* shield.c */

/* The same for the shield, whose listener is box->notify_fd. */
int32_t ab_box_start_shield(agentbox_sandbox *box, uint64_t deadline,
			    agentbox_error **err);
/*
 * ab_fd_poll_many() while a shield may have something to record: what waits
 * for a command must not leave it waiting. 0 may come before the time is over.
 * box may be NULL.
 */
int ab_box_poll(agentbox_sandbox *box, struct pollfd *fds, size_t n,
		int64_t timeout_ms);

/* event.c */
/* The host's loop is to dispatch. */
void ab_events_wake(agentbox_sandbox *box);
/* Of the box `arg`: a descriptor of agentbox_sandbox_get_fd() is about to be
   closed. */
void ab_events_closing(void *arg, int fd);
/* Of a kind of our own, with a record's fields (taken) or NULL. */
void ab_events_add(agentbox_sandbox *box, uint32_t kind, const char *object,
		   const char *detail, json_t *record);
void ab_events_init(ab_event_queue *q);
void ab_events_end(ab_event_queue *q);
/* Decode an AB_MSG_EVENT as a fresh one. 0, -EPROTO or -ENOMEM. */
int ab_events_push(agentbox_sandbox *box, const void *p, size_t n);
/* Record what is fresh and let next_event see it; no lock may be held. */
void ab_events_publish(agentbox_sandbox *box);

/*
 * settle.c: if a protected path may have changed since the last time (or
 * `force`), let the holder put things right, until the deadline (boot-time
 * ns; 0: for ever). AGENTBOX_EAGAIN when it has not answered by then: the
 * next call with the same *ticket (0 at first) goes on. EWALL when it could
 * not be done: spawning is frozen until a later settle succeeds.
 */
int32_t ab_box_settle(agentbox_sandbox *box, bool force, uint64_t *ticket,
		      uint64_t deadline, agentbox_error **err);
/* Take account of an answer that has come; both locks held. */
void ab_settle_finish(agentbox_sandbox *box);

/*
 * environment.c: owned NULL-terminated "NAME=value" array, count in *n. `home`
 * (or NULL) is HOME, and `gateway` ("NAME=value", or NULL) is set as well,
 * unless the policy or the command says otherwise.
 */
int32_t ab_environment_build(const agentbox_policy *policy, const char *home,
			     char *const *gateway,
			     const agentbox_command *command, char ***out,
			     size_t *n, agentbox_error **err);
void ab_environment_free(char **envp);

/* record.c: the audit records of a box; all are no-ops without an audit. */
int32_t ab_record_box(agentbox_sandbox *box, const char *type,
		      agentbox_error **err);
int32_t ab_record_command(agentbox_sandbox *box,
			  const agentbox_command *command,
			  agentbox_error **err);
int32_t ab_record_exit(agentbox_sandbox *box, const agentbox_process *process,
		       agentbox_error **err);
int32_t ab_record_event(agentbox_sandbox *box, const agentbox_event *event,
			agentbox_error **err);

const char *ab_event_kind_name(uint32_t kind);

#endif
