/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every bound on outside data, in one place. Reaching one is an error with
 * the name of the bound in it, never a silent cut.
 */
#ifndef AB_BASE_LIMITS_H
#define AB_BASE_LIMITS_H

#define AB_MAX_POLICY_BYTES (1u << 20)
#define AB_MAX_JSON_DEPTH 16
#define AB_MAX_JSON_NODES 200000
#define AB_MAX_CANONICAL_BYTES (16u << 20)
#define AB_MAX_CANONICAL_DEPTH 64
#define AB_MAX_POLICY_MOUNTS 1024
#define AB_MAX_POLICY_ENTRIES 10000
#define AB_MAX_PATH 4096
#define AB_MAX_NAME 255
#define AB_MAX_EXTENDS 8

#define AB_MAX_MESSAGE 65536
#define AB_MAX_MESSAGE_FDS 128
#define AB_MAX_PLAN_BYTES (16u << 20)
#define AB_MAX_ARGV_BYTES (2u << 20)
#define AB_MAX_ARGS 65536
#define AB_MAX_EXTRA_FDS 32

#define AB_MAX_AUDIT_RECORD 65536
#define AB_MAX_ERROR_TEXT 1024

/* One text or argv that a guard judges, and all the memory of one check. */
#define AB_MAX_CHECK_TEXT (4u << 20)
#define AB_MAX_CHECK_MEMORY (512u << 20)

#define AB_MAX_PROTECTED 4096
#define AB_MAX_SCAN_ENTRIES 5000000
#define AB_MAX_SCAN_DEPTH 64
/* Kept free of AB_MAX_PATH for what is appended to a path of a workspace. */
#define AB_SCAN_PATH_RESERVE 256

#endif
