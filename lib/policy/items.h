/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of single strings, for the schema. Each has the form ab_item_fn. */
#ifndef AB_POLICY_ITEMS_H
#define AB_POLICY_ITEMS_H

#include "policy/schema.h"

/* 1..255 bytes of printable text without control characters. */
bool ab_item_text(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* An identifier: A-Z a-z 0-9 . _ @ + - , not starting with . or - */
bool ab_item_id(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* A secret's name: as an id, at most 64 bytes, no @ or + */
bool ab_item_secret(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* One path component. */
bool ab_item_name(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* An absolute path, normalised. */
bool ab_item_path(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* The same, and something a box may be shown from the host. */
bool ab_item_source(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* The same, and a place in a box where something may be put. */
bool ab_item_target(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* The same two for an entry of mounts, without the characters of a glob. */
bool ab_item_mount_from(const char *s, size_t n, char *out,
			char why[AB_WHY_SIZE]);
bool ab_item_mount_to(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE]);
/* A target, or "same". */
bool ab_item_at(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* A directory of the host that is neither "/" nor empty (role.team_dir). */
bool ab_item_dir(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_env(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_glob(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* "RULE:PATTERN": a rule of the content scan, and a pattern. */
bool ab_item_admit(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_protect(const char *s, size_t n, char *out,
		     char why[AB_WHY_SIZE]);
bool ab_item_syscall(const char *s, size_t n, char *out,
		     char why[AB_WHY_SIZE]);
bool ab_item_feature(const char *s, size_t n, char *out,
		     char why[AB_WHY_SIZE]);
bool ab_item_limit(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_delivery(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE]);
/* One entry of a list of hosts, canonical. */
bool ab_item_host(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_prefix(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_upstream(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE]);
/* A known preset of a route: policy/presets.h. */
bool ab_item_preset(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* The word before a credential: a token (RFC 9110 section 11.1). */
bool ab_item_scheme(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* The user of Basic authentication: printable ASCII, no space, no colon. */
bool ab_item_user(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_header(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_digest(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_tool(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_subject(const char *s, size_t n, char *out,
		     char why[AB_WHY_SIZE]);
bool ab_item_grant(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
bool ab_item_tool_pin(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE]);
/* One argument of a command: any text without control characters. */
bool ab_item_argument(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE]);
/* A reference or a commit, and one that means one thing: policy/commit.h. */
bool ab_item_reference(const char *s, size_t n, char *out,
		       char why[AB_WHY_SIZE]);
bool ab_item_head(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* What the shield may watch besides exec: "connect", "peers",
   "reads". */
bool ab_item_watch(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);
/* What names no box but the caller's own: a kind, a tool, "server:prefix*". */
bool ab_item_scope(const char *s, size_t n, char *out, char why[AB_WHY_SIZE]);

/*
 * True for an environment variable that makes a program load or run code or
 * changes how words are split: LD_*, GIT_*, BASH_ENV, NODE_OPTIONS ... (C06).
 */
bool ab_item_env_runs_code(const char *name);

#endif
