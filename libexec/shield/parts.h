/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pure parts of agentbox-shield: its own copy of the grants, the calls
 * that a host has announced, addresses and paths. They hold no fd and ask
 * nobody.
 */
#ifndef AB_SHIELD_PARTS_H
#define AB_SHIELD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "net/allow.h"
#include "policy/policy.h"
#include "wire/shield.h"

#define AB_SHIELD_MAX_TOOLS 1024

/* A source that this box may read. */
typedef struct ab_sh_grant {
	char box[AB_SHIELD_MAX_NAME + 1], name[AB_SHIELD_MAX_NAME + 1];
} ab_sh_grant;

typedef struct ab_sh_grants {
	char own[AB_SHIELD_MAX_NAME + 1];
	/* tools that may name no box but their own; owned */
	char *tools[AB_SHIELD_MAX_TOOLS];
	size_t tool_count;
	ab_sh_grant items[AB_SHIELD_MAX_GRANTS];
	size_t count;
	bool is_told; /* the host tells of grants at all */
} ab_sh_grants;

/* A tool's name besides those that are always scoped: 0 or -errno. */
int ab_sh_grants_scope(ab_sh_grants *grants, const char *tool);
/* From u32 count on: all of the new list. -EPROTO: there is none then. */
int ab_sh_grants_take(ab_sh_grants *grants, ab_reader *r);
/*
 * May `tool` do `action` to `box`? NULL, or why not. Everything to the box's
 * own, "read" to what is granted; the same words for what is not granted and
 * what does not exist.
 */
const char *ab_sh_grants_refuse(const ab_sh_grants *grants, const char *tool,
				const char *box, const char *action);

/* The box may read what is below this name of .shared, or nobody tells. */
bool ab_sh_grants_cover(const ab_sh_grants *grants, const char *name,
			size_t n);

/* What a host said was allowed and is under way. */
typedef struct ab_sh_calls {
	char ids[AB_SHIELD_MAX_CALLS][AB_SHIELD_MAX_NAME + 1];
	size_t count;
	bool is_told; /* it tells of calls at all */
} ab_sh_calls;

/* -E2BIG, -EEXIST, -EINVAL. */
int ab_sh_calls_begin(ab_sh_calls *calls, const char *id);
/* -ENOENT */
int ab_sh_calls_end(ab_sh_calls *calls, const char *id);
/* A call is under way, or the host does not tell of calls. */
bool ab_sh_calls_cover(const ab_sh_calls *calls);
/* The one that is, or "". */
const char *ab_sh_calls_one(const ab_sh_calls *calls);

/* --- what was let through before ------------------------------------------ */

#define AB_SH_MEMO_SLOTS 128u
#define AB_SH_MEMO_BYTES 1000u /* of each; longer ones are judged anew */

/* Of an exec: the file, and all it was given, each ended by a NUL. */
typedef struct ab_sh_words {
	const char *path, *text;
	size_t path_len, text_len;
} ab_sh_words;

typedef struct ab_sh_known {
	bool is_used;
	uint32_t path_len, text_len, cwd_len;
	char bytes[AB_SH_MEMO_BYTES];
} ab_sh_known;

typedef struct ab_sh_memo {
	ab_sh_known slots[AB_SH_MEMO_SLOTS];
} ab_sh_memo;

/*
 * NULL: not known. Else the working directory in which these words were let
 * through, not ended; of length 0: they are wherever it is.
 */
const char *ab_sh_memo_find(const ab_sh_memo *memo, const ab_sh_words *words,
			    size_t *cwd_len);
/* In place of what was there. */
void ab_sh_memo_keep(ab_sh_memo *memo, const ab_sh_words *words,
		     const char *cwd, size_t cwd_len);

/* --- where a connection leads --------------------------------------------- */

#define AB_SH_ADDRESS_BYTES 128 /* sizeof(struct sockaddr_storage) */

enum ab_sh_address_kind {
	AB_SH_OTHER = 1, /* nothing that leads out of the box */
	AB_SH_INTERNET,
	AB_SH_PATH /* a socket with a name in the file system */
};

typedef struct ab_sh_address {
	uint32_t kind;
	ab_target target;		/* INTERNET */
	char text[AB_TARGET_TEXT_SIZE]; /* for people; PATH: the path */
} ab_sh_address;

/*
 * From the bytes of a sockaddr: 0, or -EINVAL: it is none that is known.
 * `is_sent`: something is sent there, no connection made or ended.
 */
int ab_sh_address_get(ab_sh_address *out, const void *bytes, size_t n,
		      bool is_sent);

typedef struct ab_sh_network {
	uint32_t mode; /* enum ab_policy_netmode */
	ab_allow allow;
} ab_sh_network;

/* 0 or -errno; zeroed: nothing but the box itself. */
int ab_sh_network_init(ab_sh_network *out, const ab_policy_network *policy);
/* NULL, or why the policy does not let a box connect there. */
const char *ab_sh_network_refuse(const ab_sh_network *network,
				 const ab_target *target);

/* --- what a path names ---------------------------------------------------- */

typedef struct ab_sh_tree {
	/* The text of a link, not ended: its length, 0: no link, -errno. */
	ssize_t (*readlink)(void *arg, const char *path, char *out,
			    size_t size);
	void *arg;
	const char *plain; /* NULL, or below it no link is followed */
} ab_sh_tree;

/*
 * `path` without links, dots and double slashes, a relative one from `start`
 * on, which the kernel has named; its last component is followed if it is a
 * link and `follow`. Its length; 0: it leads nowhere, so whoever opens it
 * fails; -errno: not known.
 */
ssize_t ab_sh_resolve(const ab_sh_tree *tree, const char *start,
		      const char *path, bool follow, char *out, size_t size);
bool ab_sh_is_below(const char *path, const char *dir);

#endif
