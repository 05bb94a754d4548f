/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host and agentbox-shield agree on: its plan (sealed on fd 4) and
 * its messages. Libc only; structures point into the message.
 * Spec: DESIGN.md sections 2 and 12.
 */
#ifndef AB_WIRE_SHIELD_H
#define AB_WIRE_SHIELD_H

#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

/* The longest record, and with it the longest command line that is told. */
#define AB_SHIELD_MAX_RECORD 8192
#define AB_SHIELD_MAX_COMMAND 4096
#define AB_SHIELD_MAX_GRANTS 256
#define AB_SHIELD_MAX_CALLS 64
#define AB_SHIELD_MAX_NAME 255

typedef struct ab_shield_plan {
	const char *build_id; /* a helper of another build stops here */
	const char *box_id;
	uint32_t mode;	  /* enum ab_policy_shield, not OFF */
	uint32_t flags;	  /* AB_SHIELD_AUDITED */
	uint32_t uid, gid; /* of the owner of the box's user namespace */
	uint32_t ask_ms;  /* how long the host may take to answer */
	const char *workspace, *home; /* in the box; "": none */
	const char *policy; /* its canonical document */
} ab_shield_plan;

/* What is let through has to be told first, or it is not let through. */
#define AB_SHIELD_AUDITED 1u

enum ab_shield_message {
	/* host -> shield; all but LISTEN begin with u32 serial */
	AB_MSG_SH_LISTEN = 192, /* fd: the listener */
	AB_MSG_SH_GRANTS = 193, /* u32 count, count x (str box, str name) */
	AB_MSG_SH_VERIFY = 194, /* str tool, str box, str action */
	AB_MSG_SH_CALL = 195,	/* u32 1: it begins, 0: it ends; str id */
	AB_MSG_SH_ANSWER = 196, /* u64 id, u32 1: let it through */
	AB_MSG_SH_PING = 197,
	AB_MSG_SH_OWN = 198,	/* u32 1: a program of ours begins, 0: ends */
	/* shield -> host */
	AB_MSG_SH_READY = 208,
	AB_MSG_SH_FAILED = 209, /* str stage, i32 errno, str message */
	AB_MSG_SH_RECORD = 210, /* ab_shield_record */
	AB_MSG_SH_REPLY = 211	/* u32 serial, i32 result, str why */
};

enum ab_shield_kind {
	AB_SHIELD_EXEC = 1,    /* a program was to be executed */
	AB_SHIELD_CONNECT = 2, /* a connection was to be made */
	AB_SHIELD_VERIFY = 3,  /* a request was answered */
	AB_SHIELD_TROUBLE = 4, /* of the shield itself */
	AB_SHIELD_PEER = 5,    /* a peer's file was to be changed */
	AB_SHIELD_READ = 6,    /* a peer's file was to be read */
	AB_SHIELD_KINDS = 6
};

/* What became of it. */
enum ab_shield_answer {
	AB_SHIELD_LET = 1,
	AB_SHIELD_REFUSED = 2,
	AB_SHIELD_ASKED = 3, /* the host shall answer */
	AB_SHIELD_ANSWERS = 3
};

#define AB_SHIELD_CUT 1u      /* not all of it was looked at */
#define AB_SHIELD_UNREAD 2u   /* it could not be read */
#define AB_SHIELD_MISMATCH 4u /* no layer has allowed it */
#define AB_SHIELD_UNCALLED 8u /* for no call that was allowed is under way */
#define AB_SHIELD_FLAGS 15u

typedef struct ab_shield_record {
	uint32_t kind, answer, flags;
	uint32_t verdict; /* AGENTBOX_VERDICT_* of the checks */
	uint64_t id;	  /* of what is asked, or was; or 0 */
	uint32_t pid;	  /* on the host */
	const char *object; /* the file, the address, the tool */
	const char *command; /* argv, for people */
	const char *rule, *reason;
	const char *call; /* the one under way, "" : none or several */
	uint64_t lost;	  /* records that were not sent since the last one */
} ab_shield_record;

/* 0 or -errno. */
int ab_shield_plan_put(ab_writer *w, const ab_shield_plan *plan);
/* -ESTALE: another build; -EPROTO. */
int ab_shield_plan_get(ab_reader *r, const char *build_id,
		       ab_shield_plan *plan);

/* With kind and fd count; get: r is behind them. 0 or -EPROTO. */
void ab_shield_record_put(ab_writer *w, const ab_shield_record *m);
int ab_shield_record_get(ab_reader *r, ab_shield_record *m);

#endif
