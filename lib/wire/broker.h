/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The credential broker of a box: where its socket is, what a process of the
 * box asks there and what it is told (SOCK_SEQPACKET, one datagram each), and
 * what of a policy's secrets the gateway knows. No value is ever in a frame:
 * it comes as a sealed memfd, or is in a file. Structures point into the
 * message. Spec: DESIGN.md section 9, gateway cases 140-151. Libc only.
 */
#ifndef AB_WIRE_BROKER_H
#define AB_WIRE_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

/* Where a box has it all; nothing of a policy may be mounted there. */
#define AB_BROKER_DIR "/run/agentbox"
#define AB_BROKER_SOCKET AB_BROKER_DIR "/broker"
#define AB_BROKER_PROGRAM AB_BROKER_DIR "/agentbox-secret"
#define AB_BROKER_FILES AB_BROKER_DIR "/secrets"

#define AB_BROKER_MAX_SECRETS 32
#define AB_BROKER_MAX_NAME 64
#define AB_BROKER_MAX_VALUE 65536
#define AB_BROKER_MAX_EUIDS 64
#define AB_BROKER_DEFAULT_TTL_MS (15 * 60 * 1000u)
#define AB_BROKER_DEFAULT_MAX_TTL_MS (24 * 60 * 60 * 1000u)
#define AB_BROKER_KEY_LEN 64
/* A question and an answer with a list of all secrets. */
#define AB_BROKER_MAX_ASK 768
#define AB_BROKER_MAX_ANSWER 4096

/* Hosts of a secret for git, and what a question and an answer say of it. */
#define AB_BROKER_MAX_HOSTS 64
#define AB_BROKER_MAX_HOST 261
#define AB_BROKER_MAX_USER 255

/* How the box may have a secret; bits. Injection is a matter of routes. */
#define AB_BROKER_MEMFD 1u
#define AB_BROKER_FILE 2u
#define AB_BROKER_GIT 4u /* as a password of its hosts */
#define AB_BROKER_AWS 8u /* where SDKs look for credentials */
#define AB_BROKER_WAY_COUNT 4
#define AB_BROKER_WAYS ((1u << AB_BROKER_WAY_COUNT) - 1)
/* Their names in policies and records, by index. */
extern const char *const ab_broker_ways[AB_BROKER_WAY_COUNT];
/* Of one bit. */
unsigned ab_broker_way_index(uint32_t way);

/* --- in the gateway's plan ----------------------------------------------- */

typedef struct ab_wire_secret {
	const char *name;
	uint32_t ways; /* of AB_BROKER_WAYS: one at least */
	uint64_t ttl_ms, max_ttl_ms; /* not less: as far as it is renewed */
	bool has_euids; /* else each of the box's own */
	uint32_t euids[AB_BROKER_MAX_EUIDS]; /* as the box has them */
	uint32_t euid_count;
	/* of AB_BROKER_GIT: patterns, and who git says it is; "": anybody */
	const char *hosts[AB_BROKER_MAX_HOSTS];
	uint32_t host_count;
	const char *user;
} ab_wire_secret;

/* Zeroed: the box has no broker. */
typedef struct ab_wire_broker {
	ab_wire_secret *items; /* those with FILE have one each, in order */
	uint32_t count;
	/* the one id of the box, inside and as the host's kernel has it */
	uint32_t uid_inside, uid_outside;
} ab_wire_broker;

void ab_wire_broker_put(ab_writer *w, const ab_wire_broker *broker);
/* 0, -EPROTO, -ENOMEM; strings stay the message's. */
int ab_wire_broker_get(ab_reader *r, ab_wire_broker *out);
void ab_wire_broker_end(ab_wire_broker *broker);
/* How many of them have FILE. */
uint32_t ab_wire_broker_files(const ab_wire_broker *broker);

/* 1 to AB_BROKER_MAX_NAME of A-Z a-z 0-9 _ -, the first no "-". */
bool ab_broker_name_ok(const char *name);

/* --- the socket ---------------------------------------------------------- */

enum ab_broker_message {
	AB_MSG_BROKER_ASK = 224,
	AB_MSG_BROKER_ANSWER = 225 /* one fd with OK to GET and GET_GIT */
};

enum ab_broker_verb {
	AB_BROKER_GET = 1, /* a sealed memfd */
	AB_BROKER_GET_FILE, /* into AB_BROKER_FILES/name */
	AB_BROKER_RENEW,
	AB_BROKER_RELEASE,
	AB_BROKER_LIST,
	AB_BROKER_GET_GIT, /* the password of a host, as GET */
	AB_BROKER_VERB_COUNT
};

enum ab_broker_result {
	AB_BROKER_OK = 0,
	/* the key, the user, the name or the way: which, the host knows */
	AB_BROKER_REFUSED,
	AB_BROKER_BUSY,	  /* too many questions at once, or a second */
	AB_BROKER_NONE,	  /* nobody has a value for it */
	AB_BROKER_LATE,	  /* who has the value did not answer in time */
	AB_BROKER_ENDED,  /* no lease of it is in force */
	AB_BROKER_FAILED, /* descriptors, memory */
	AB_BROKER_RESULT_COUNT
};

typedef struct ab_broker_ask {
	const char *key; /* AB_BROKER_KEY_LEN bytes */
	uint32_t verb;	 /* enum ab_broker_verb */
	const char *name; /* "" with LIST alone; with GET_GIT "host:port" */
	const char *user; /* with GET_GIT, "": any; else not there */
} ab_broker_ask;

typedef struct ab_broker_row {
	const char *name;
	uint32_t ways;
	uint64_t ttl_ms;
	/* of what is in force, by the way's index; 0: nothing */
	uint64_t left_ms[AB_BROKER_WAY_COUNT];
} ab_broker_row;

typedef struct ab_broker_answer {
	uint32_t result; /* enum ab_broker_result */
	uint64_t left_ms; /* of the lease */
	ab_broker_row rows[AB_BROKER_MAX_SECRETS]; /* of LIST */
	uint32_t row_count;
	const char *user; /* to GET_GIT; "": any */
} ab_broker_answer;

/*
 * put: with kind and fd count. get: r is behind them; 0 or -EPROTO, for a
 * name that is none, too.
 */
void ab_broker_ask_put(ab_writer *w, const ab_broker_ask *m);
int ab_broker_ask_get(ab_reader *r, ab_broker_ask *m);
void ab_broker_answer_put(ab_writer *w, const ab_broker_answer *m,
			  uint32_t fds);
int ab_broker_answer_get(ab_reader *r, ab_broker_answer *m);

#endif
