/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live box's walls, tried instead of believed. A small program is run in the
 * box as any command of its agent is, behind the very same walls, and tries to
 * get out; meanwhile what the kernel says of the box's processes is read from
 * outside. Every finding says what was tried, what happened, which wall
 * answered, and whether that wall is hard.
 *
 * It finds what is missing, it does not prove that nothing is: a wall that
 * answers as it should to these probes may still have a hole. A probe that
 * could not be run is never counted as passed.
 *
 * Threads: a report is immutable, any thread may read it; options belong to
 * one thread at a time; agentbox_verify_run() as agentbox_sandbox_spawn().
 */
#ifndef AGENTBOX_VERIFY_H
#define AGENTBOX_VERIFY_H

#include <agentbox/base.h>
#include <agentbox/owner.h>
#include <agentbox/sandbox.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_verify agentbox_verify;
typedef struct agentbox_verify_options agentbox_verify_options;

/* The version of the document of agentbox_verify_to_json(). */
#define AGENTBOX_VERIFY_SCHEMA 1

/* What the program asks for; all off at first. */
AGENTBOX_API int32_t agentbox_verify_options_new(
	agentbox_verify_options **options, agentbox_error **err);
AGENTBOX_API void agentbox_verify_options_free(
	agentbox_verify_options *options);
/* The most it may take, in milliseconds; default 120000, AGENTBOX_EINVAL 0. */
AGENTBOX_API int32_t agentbox_verify_options_set_timeout(
	agentbox_verify_options *options, uint32_t milliseconds,
	agentbox_error **err);

/*
 * Look for a secret where it must not be: in the environment, arguments and
 * memory of the box's processes, in what the box writes to, and in the state
 * directory. From outside, so the box is not told. `fd` (borrowed) is read
 * from its beginning, 8 to 8192 bytes, without line ends at the end, and kept
 * in guarded memory as long as the options. `name` is for findings. What is
 * found is missing under the wall "secrets". AGENTBOX_ELIMIT: more than 32;
 * AGENTBOX_EINVAL: NULL, or a value that cannot be read or is too short or
 * long.
 */
AGENTBOX_API int32_t agentbox_verify_options_add_secret(
	agentbox_verify_options *options, const char *name, int32_t fd,
	agentbox_error **err);

/*
 * Not 0: at the end, revoke the box's gateway and try it once more, with the
 * key that was good. The box has no network afterwards, for good
 * (agentbox_gateway_revoke()). Nothing without a gateway.
 */
AGENTBOX_API int32_t agentbox_verify_options_set_revoke(
	agentbox_verify_options *options, int32_t revoke,
	agentbox_error **err);

/*
 * Ends a run: as soon as `fd` (borrowed; -1: none, as at first) is readable,
 * agentbox_verify_run() takes everything away again and returns
 * AGENTBOX_ECANCELED. Only looked at, never read. AGENTBOX_EINVAL: not open.
 */
AGENTBOX_API int32_t agentbox_verify_options_set_stop_fd(
	agentbox_verify_options *options, int32_t fd, agentbox_error **err);

/*
 * Walk the box's boundary; `options` may be NULL. What it does: one command is
 * run in the box (it is in the audit as such, and counts against the box's
 * limits), which makes and removes an empty file in directories that the agent
 * may write to; files and sockets to look for are made in the state directory
 * and removed; a TCP port of the host's loopback, an abstract socket and a
 * System V segment are there for as long as it lasts, and a second box, with
 * nothing in it but an empty workspace of its own, whose processes and key the
 * first must not reach and in which protected names are made. Where the
 * box has a gateway it refuses some connections, which it records. Nothing of
 * the box is changed, unless a revocation is asked for.
 *
 * 0 means that there is a report, not that it is a good one. Errors:
 * AGENTBOX_EINVAL, AGENTBOX_EFORKED, AGENTBOX_ECLOSED, AGENTBOX_EHELPER when
 * agentbox-verify cannot be used, AGENTBOX_ENOMEM, AGENTBOX_ESYS,
 * those of agentbox_context_set_state_dir() and, with an audit, of
 * agentbox_audit_append(). A command that cannot be run in the box, or does
 * not answer in time, is no error: its probes are "unknown".
 */
AGENTBOX_API int32_t agentbox_verify_run(
	agentbox_sandbox *sandbox, const agentbox_verify_options *options,
	agentbox_verify **report, agentbox_error **err);
AGENTBOX_API void agentbox_verify_free(agentbox_verify *report);

/*
 * 1: no wall is missing and nothing is unknown. 0: else. A weaker tier that
 * the policy allows is good and reported; a bare box never is.
 */
AGENTBOX_API int32_t agentbox_verify_is_good(const agentbox_verify *report);
/*
 * The sum of the parts that the document lists under "exposure": what the
 * policy opens, what is soft, what is missing. Higher is more exposed.
 */
AGENTBOX_API uint32_t agentbox_verify_get_exposure(
	const agentbox_verify *report);

/*
 * Findings, by index; "" past the last. Borrowed. The verdict is one of
 * "pass", "missing", "unknown", "weaker" (not there, and the policy allows a
 * box without it; or there and soft) and "not-applicable" (the policy opens
 * it; the answer names the key).
 */
AGENTBOX_API size_t agentbox_verify_get_count(const agentbox_verify *report);
AGENTBOX_API const char *agentbox_verify_get_probe(
	const agentbox_verify *report, size_t index);
AGENTBOX_API const char *agentbox_verify_get_wall(
	const agentbox_verify *report, size_t index);
AGENTBOX_API const char *agentbox_verify_get_verdict(
	const agentbox_verify *report, size_t index);
/* What was tried, what happened, what answered. */
AGENTBOX_API const char *agentbox_verify_get_tried(
	const agentbox_verify *report, size_t index);
AGENTBOX_API const char *agentbox_verify_get_result(
	const agentbox_verify *report, size_t index);
AGENTBOX_API const char *agentbox_verify_get_answer(
	const agentbox_verify *report, size_t index);

/*
 * For the owner of boxes that others may ask about (agentbox_owner(3)): when
 * `request` is {"command": "verify", "box": ID} and the id is one of
 * `boxes`, begin, and reply with the document or the error; 1: the request
 * was taken. 0: it asks for something else and is still the caller's. The rest
 * is done in agentbox_owner_dispatch() of the owner, which goes on serving,
 * until the client has gone or agentbox_owner_remove() takes the box away; so
 * that has to come before the box is freed. A box that this owner does not
 * serve is tried at once, and this blocks as agentbox_verify_run() does.
 */
AGENTBOX_API int32_t agentbox_verify_answer(agentbox_request *request,
					    agentbox_sandbox *const *boxes,
					    size_t count);

/* The whole report as one JSON document: agentbox_verify(3). */
AGENTBOX_API int32_t agentbox_verify_to_json(const agentbox_verify *report,
					     agentbox_bytes **json,
					     agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
