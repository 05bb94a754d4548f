/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of an owner, shared by the files of the serving side: owner.c
 * (its life, the listener, the loop), client.c (who asks), job.c (commands
 * that clients run), request.c (calls for the host program), work.c (what such
 * a call asks for and takes its time).
 */
#ifndef AB_OWNER_INTERNAL_H
#define AB_OWNER_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "agentbox/owner.h"
#include "owner/protocol.h"

/* First member of everything an epoll event can point at. */
enum source_kind {
	SOURCE_LISTEN,
	SOURCE_CLIENT,
	SOURCE_JOB,
	SOURCE_REMOTE,
	SOURCE_WORK
};

typedef struct ab_source {
	enum source_kind kind;
} ab_source;

typedef struct ab_served {
	agentbox_sandbox *box; /* borrowed */
	char name[AB_OWNER_MAX_NAME + 1];
	struct ab_served *next;
} ab_served;

typedef struct ab_client {
	ab_source source;
	int fd;
	bool gone; /* closed; freed at the end of the dispatch */
	agentbox_owner *owner;
	struct ab_client *next;
} ab_client;

/* A command of a client: our process, and the channel towards the client. */
typedef struct ab_job {
	ab_source source; /* the process's channel */
	ab_source remote_source;
	int remote_fd;
	bool gone;
	bool is_settling; /* it has ended; the box was asked to settle */
	agentbox_owner *owner;
	agentbox_sandbox *box;
	agentbox_process *process;
	struct ab_job *next;
} ab_job;

/* What a request asked for and takes its time: owner/work.h. */
typedef struct ab_owner_work {
	ab_source source;
	agentbox_owner *owner;
	agentbox_sandbox *box;
	agentbox_request *request;
	const struct ab_work_kind *kind;
	void *arg;
	bool gone;
	struct ab_owner_work *next;
} ab_owner_work;

struct agentbox_request {
	agentbox_owner *owner; /* NULL once the owner was freed */
	ab_client *client;     /* NULL once it went away */
	uint32_t serial;
	char *json;
	agentbox_request *next; /* in the owner's list of open requests */
	bool handed_out;
};

struct agentbox_owner {
	pid_t pid;
	char name[AB_OWNER_MAX_NAME + 1];
	char socket_name[AB_OWNER_MAX_NAME + 1];
	agentbox_context *context;
	int dirfd, listen_fd, epoll_fd;
	int name_lock_fd;
	ab_source listen_source;
	uint64_t listen_again_ns; /* not listening until then; 0: listening */
	ab_served *boxes;
	ab_client *clients;
	size_t client_count;
	ab_job *jobs;
	ab_owner_work *works;
	agentbox_request *requests;
	size_t request_count;
};

/* owner.c */

int32_t ab_owner_usable(const agentbox_owner *o, agentbox_error **err);
/* An event of `fd` leads to `s`. 0, or -1 with errno. */
int ab_owner_watch(agentbox_owner *o, int fd, ab_source *s);
/*
 * Before a watched descriptor is closed: close(2) takes it out of the epoll
 * set only when no copy is left, and the client, or a child forked by the
 * host, may have one; the event would then point at freed memory. Only in
 * the owner's own process: a forked child shares the set.
 */
void ab_owner_unwatch(agentbox_owner *o, int fd);
/* The same for a socket of ours, which ends even if copies of it live. */
void ab_owner_end_socket(agentbox_owner *o, int *fd);
/* By id or name; borrowed, NULL when it is not served. */
agentbox_sandbox *ab_owner_find_box(const agentbox_owner *o, const char *name);

/* client.c */

/* Its connection goes; the rest at the end of the dispatch. */
void ab_client_drop(ab_client *c);
/* Its socket is readable: one request. */
void ab_client_ready(ab_client *c);
void ab_client_answer(ab_client *c, uint32_t serial, int32_t code,
		      const char *text, size_t n);
/* What a client sent in a sealed memfd; owned text. */
int32_t ab_owner_slurp(int fd, size_t max, char **text, size_t *n,
		       agentbox_error **err);

/* job.c */

/* Run a command for the client at the other end of *channel (taken). */
int32_t ab_job_start(agentbox_owner *o, agentbox_sandbox *box, int *channel,
		     const agentbox_command *c, agentbox_error **err);
/* Its process has news, or is settled after. */
void ab_job_ready(ab_job *j);
/* Its client has: a signal, or its end. */
void ab_job_told(ab_job *j);
/* Ends what still runs; the rest at the end of the dispatch. */
void ab_job_end(ab_job *j);

/* request.c */

/* A text for the host program, in `fd` (borrowed). */
int32_t ab_request_queue(agentbox_owner *o, ab_client *c, uint32_t serial,
			 int fd, agentbox_error **err);
/* Take it out of its owner's list and free it. */
void ab_request_end(agentbox_request *q);

/* work.c */

/* A turn for each, whether or not it has news; who is done is taken out. */
void ab_owner_work_all(agentbox_owner *o);
/* Of this box, or of every one (NULL): it is given up. */
void ab_owner_end_works(agentbox_owner *o, const agentbox_sandbox *box);
/* The shortest of theirs, -1: none. */
int64_t ab_owner_work_timeout_ms(const agentbox_owner *o);

#endif
