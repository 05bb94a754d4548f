/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host and agentbox-provider agree on: its plan (sealed on fd 4),
 * which is one program, and its one answer. Libc only; strings point into the
 * message. Spec: DESIGN.md sections 2 and 9.
 */
#ifndef AB_WIRE_PROVIDER_H
#define AB_WIRE_PROVIDER_H

#include <stdint.h>

#include "base/limits.h"
#include "wire/codec.h"

#define AB_PROVIDER_MAX_ARGS 64
/* Every mount of a policy, and its workspace. */
#define AB_PROVIDER_MAX_WRITABLE (AB_MAX_POLICY_MOUNTS + 1)
/* The program's time; the box is told "late" a second later. */
#define AB_PROVIDER_MS 9000
#define AB_PROVIDER_MAX_ANSWER 1024

typedef struct ab_provider_plan {
	const char *build_id; /* a helper of another build stops here */
	uint32_t timeout_ms;
	uint32_t argc; /* 1 to AB_PROVIDER_MAX_ARGS; argv[0] is absolute */
	const char *argv[AB_PROVIDER_MAX_ARGS + 1];
	/* as whom the box that asks writes, to the kernel, where nothing is
	   id-mapped; UINT32_MAX: nobody knows */
	uint32_t box_uid;
	/* on the host: where it can write */
	const char *writable[AB_PROVIDER_MAX_WRITABLE];
	uint32_t writable_count;
} ab_provider_plan;

enum ab_provider_message {
	AB_MSG_PROVIDER_VALUE = 240, /* fd: a sealed memfd with the value */
	AB_MSG_PROVIDER_FAILED = 241 /* str stage, i32 errno, str message */
};

/* 0 or -errno. */
int ab_provider_plan_put(ab_writer *w, const ab_provider_plan *plan);
/* -ESTALE: another build; -EPROTO. */
int ab_provider_plan_get(ab_reader *r, const char *build_id,
			 ab_provider_plan *plan);

#endif
