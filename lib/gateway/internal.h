/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a gateway handle, for the files of this room. */
#ifndef AB_GATEWAY_INTERNAL_H
#define AB_GATEWAY_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "base/spawn.h"
#include "gateway/gateway.h"
#include "net/target.h"
#include "policy/routes.h"
#include "policy/secrets.h"

/* More than the gateway asks for at once. */
#define AB_GATEWAY_MAX_NEEDS 16

typedef struct ab_gateway_need {
	uint32_t serial;
	char name[AB_BROKER_MAX_NAME + 1];
	bool is_dropped; /* while it was served: who asked has been refused */
} ab_gateway_need;

/* A program that is asked for a value: program.c. */
typedef struct ab_gateway_run ab_gateway_run;
/* As many as the gateway asks for at once. */
#define AB_GATEWAY_MAX_RUNS 8

/* What the gateway asks, until dispatch() puts it to the host. */
typedef struct ab_gateway_question {
	uint32_t id;
	char how[16], target[AB_TARGET_TEXT_SIZE];
	char *arguments; /* owned: of a call of the tool; NULL: a target */
} ab_gateway_question;

/* Who is asked: borrowed. */
typedef struct ab_gateway_asker {
	agentbox_gateway_ask_fn ask;	     /* NULL: nobody is */
	agentbox_gateway_approve_fn approve; /* the same */
	void *ask_data, *approve_data;
} ab_gateway_asker;

struct agentbox_gateway {
	pid_t owner; /* getpid() of the process that made it */
	void (*told)(void *arg, const ab_gateway_record *record);
	void (*closing)(void *arg, int fd);
	void (*wake)(void *arg);
	void *arg;
	agentbox_context *context; /* a reference */
	char *key;  /* guarded memory, AB_GATEWAY_KEY_SIZE */
	char **env; /* ends with NULL */
	uint16_t *previews; /* network.preview, preview_count of them */
	size_t preview_count;

	pthread_mutex_t lock; /* what follows */
	ab_helper helper;
	bool has_ended, is_revoked;
	uint32_t serial;
	ab_gateway_asker asker;
	ab_gateway_question asked[AB_GATEWAY_ASKS]; /* a ring */
	uint32_t asked_at, asked_count;
	agentbox_secret_provider provider; /* NULL: the stored ones */
	void *provider_data;
	/* what the box asks for and was not answered yet */
	ab_gateway_need needs[AB_GATEWAY_MAX_NEEDS];
	size_t need_count;
	agentbox_policy *policy; /* a reference: what programs it names */
	uint32_t uid_outside; /* of the box's agent */
	int runs_fd; /* epoll(7): one of them has said something; or -1 */
	ab_gateway_run *runs[AB_GATEWAY_MAX_RUNS]; /* owned, NULL: free */
	/* the one that is served, and whether no program may be named for it:
	   one has been, or no provider is called */
	ab_gateway_need *serving;
	bool is_named;
	uint8_t message[AB_GATEWAY_MAX_QUESTION]; /* the one that is read */
	/* of secrets as files: emptied when the gateway is gone */
	int files[AB_BROKER_MAX_SECRETS];
	size_t file_count;
};

/* ask.c: one that has come, lock held. 0 or -EPROTO. */
int ab_gateway_take_question(agentbox_gateway *gateway, ab_reader *r,
			     bool is_call);
/* Those that were not put to the host go. */
void ab_gateway_drop_questions(agentbox_gateway *gateway);

/* environment.c: 0 or AGENTBOX_ENOMEM. */
int32_t ab_gateway_make_environment(agentbox_gateway *gateway,
				    const ab_policy *policy,
				    const ab_policy_routes *routes,
				    const ab_wire_broker *broker,
				    agentbox_error **err);

/* routes.c */
/* The routes of a policy, and the files their roots come from. */
typedef struct ab_gateway_routes {
	ab_policy_routes policy;
	ab_wire_routes wire;
	const char *paths[AB_ROUTE_ROOTS_MAX];
	char *texts[AB_ROUTE_ROOTS_MAX];
} ab_gateway_routes;

/* ab_gateway_routes_end() ends it also after a failure. */
int32_t ab_gateway_routes_init(const agentbox_policy *policy,
			       ab_gateway_routes *routes,
			       agentbox_error **err);
void ab_gateway_routes_end(ab_gateway_routes *routes);

/* tools.c */
/* Texts for the plan; NULL where the policy names no server of tools. */
typedef struct ab_gateway_tools {
	char *tools, *identity;
} ab_gateway_tools;

/* ab_gateway_tools_end() ends it also after a failure. */
int32_t ab_gateway_tools_init(const agentbox_policy *policy,
			      const char *box_id, ab_gateway_tools *out,
			      agentbox_error **err);
void ab_gateway_tools_end(ab_gateway_tools *tools);

/* broker.c */
/* Keeps duplicates of the files. */
int32_t ab_gateway_keep_files(agentbox_gateway *gateway, const int *fds,
			      size_t count, agentbox_error **err);
/* Whatever is in them goes, and they with it. */
void ab_gateway_drop_files(agentbox_gateway *gateway);
/* What becomes of a question: result 0 and a value (borrowed), or -1. */
void ab_gateway_give(agentbox_gateway *gateway, uint32_t serial,
		     int32_t result, int fd);
/* A NEED whose kind and fd count were read, lock held. 0 or -EPROTO. */
int ab_gateway_take_need(agentbox_gateway *gateway, ab_reader *r);

/* program.c */
/* Where programs are heard of, where any is named or may be; the policy is
   referenced. */
int32_t ab_gateway_runs_init(agentbox_gateway *gateway,
			     agentbox_policy *policy, bool has_broker,
			     agentbox_error **err);
/* Waits for what routes inject and a program has, before the box begins. */
int32_t ab_gateway_inject_named(agentbox_gateway *gateway,
				const ab_wire_routes *routes,
				uint64_t deadline, agentbox_error **err);
/* The program that the policy names for the secret is asked; no lock held.
   false: it names none. */
bool ab_gateway_run_named(agentbox_gateway *gateway,
			  const ab_gateway_need *need);
/* What programs have said goes on to the gateway; no lock held. */
void ab_gateway_serve_runs(agentbox_gateway *gateway);
/* Those of this secret, or all with NULL, end; lock held. */
void ab_gateway_end_runs(agentbox_gateway *gateway, const char *name);
/* All memory and descriptors; in a forked child no more than that. */
void ab_gateway_runs_end(agentbox_gateway *gateway);

/* request.c */
/* Ask and wait; lock held. 0 and what it said, or -errno: it is lost. `name`
   is NULL for a message that has none. */
int ab_gateway_ask(agentbox_gateway *gateway, uint32_t kind, const char *name,
		   int fd, int32_t *result, uint64_t *value, char *text,
		   size_t size);
/*
 * Ask it to end something: how much of that there was. *result, 0 before, is
 * what it answers; one that is revoked or gone has nothing left, and one that
 * does not answer is ended.
 */
uint64_t ab_gateway_end(agentbox_gateway *gateway, uint32_t kind,
			const char *name, int32_t *result);
/* How long it may take to answer; it never waits for anybody. */
#define AB_GATEWAY_ANSWER_MS 5000
/* borrowed from the policy; ab_gateway_lists_end() frees the arrays */
int32_t ab_gateway_lists_of(const ab_policy *policy, ab_gateway_lists *lists,
			    agentbox_error **err);
/*
 * One datagram without waiting, lock held: a record is told, the answer to
 * `serial` gives 1, nothing there -EAGAIN. Any other error ends it.
 */
int ab_gateway_take(agentbox_gateway *gateway, uint32_t serial,
		    int32_t *result, uint64_t *value, char *text, size_t size);
/* 0; EINVAL: NULL, EFORKED. */
int32_t ab_gateway_usable(const agentbox_gateway *gateway,
			  agentbox_error **err);
/*
 * Ask and wait; no lock held. 0 and what it said, ECLOSED. `name`: the string
 * that the message carries, or NULL; fd: -1 for none.
 */
int32_t ab_gateway_request(agentbox_gateway *gateway, uint32_t kind,
			   const char *name, int fd, int32_t *result,
			   char *text, size_t size, agentbox_error **err);
/* Ends the helper, lock held; who watches its socket is told before. */
void ab_gateway_end_helper(agentbox_gateway *gateway);
/* Kill and close, lock held; told once. */
void ab_gateway_lose(agentbox_gateway *gateway);

#endif
