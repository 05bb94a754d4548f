/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shield of a box whose policy says `shield.mode`: agentbox-shield, a
 * process outside the box, which sees every program that is executed in it,
 * by `shield.watch` its connections and what would change peers' files, too,
 * and answers from its own copy of the grants what the box may do to others.
 *
 * What it says of a call is a soft control, a tripwire: the file's name and
 * the arguments lie in the memory of who makes it, and another thread may
 * change them after they were read (seccomp_unotify(2)). Records say so. That
 * nothing is executed without the shield is hard: when it ends, or is ended
 * because it does not answer, the kernel refuses every exec in the box.
 * agentbox_shield_verify() rests on no memory of the agent's.
 *
 * A shield is made by agentbox_sandbox_new() and got from the box with
 * agentbox_sandbox_get_shield(). What it sees comes as events of the box
 * (agentbox_sandbox_next_event()) of the kinds "tripwire", "ask", "mismatch"
 * and "shield", and everything as records in the box's audit.
 *
 * Threads: each function may be called from any thread. In a forked child of
 * the process that made the box they return AGENTBOX_EFORKED.
 */
#ifndef AGENTBOX_SHIELD_H
#define AGENTBOX_SHIELD_H

#include <agentbox/base.h>
#include <agentbox/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to its box and lives as long. */
typedef struct agentbox_shield agentbox_shield;

/*
 * 1: it answers, within two seconds; 0: it does not, and was ended, so that
 * nothing is executed in the box any more.
 */
AGENTBOX_API int32_t agentbox_shield_is_alive(agentbox_shield *shield);

/*
 * What the box may read of others, from now on: a JSON array as
 * agentbox_peering_list() makes it, of which the elements count whose "reader"
 * is this box and whose "state" is "live" (their "source" and "name"), at most
 * 256. Until the first call nothing is granted. A list that is refused
 * (AGENTBOX_EPARSE, AGENTBOX_ELIMIT) leaves none in force.
 * AGENTBOX_ECLOSED: the shield has ended.
 */
AGENTBOX_API int32_t agentbox_shield_set_grants(agentbox_shield *shield,
						const char *json, size_t n,
						agentbox_error **err);

/*
 * Before the gate: may the box do `action` ("read", ...) to the box `target`
 * (its id, or the name it is granted under) with `tool` (a name, or a kind of
 * `scope.tools`)? *verdict is AGENTBOX_VERDICT_ALLOW for everything to the
 * box itself, and for "read" of what is granted with a tool that is not kept
 * to its own box ("database", "secrets", "deployment", "observability" and
 * the policy's `scope.tools`); else, and on every error, DENY. With "connect"
 * a `target` of an address and a port ("192.0.2.7:443") is judged by the
 * policy's network, as a connection would be. *why (NULL: not
 * asked for) is owned by the caller, and the same for a box that is not
 * granted and one that does not exist. It is recorded before it is answered.
 *
 * Errors: AGENTBOX_EINVAL, AGENTBOX_ELIMIT (a name without or over 255 bytes),
 * AGENTBOX_ECLOSED (the shield has ended, or did not answer within two
 * seconds and was ended).
 */
AGENTBOX_API int32_t agentbox_shield_verify(agentbox_shield *shield,
					    const char *tool,
					    const char *target,
					    const char *action,
					    int32_t *verdict,
					    agentbox_bytes **why,
					    agentbox_error **err);

/*
 * The host has allowed a tool call: `id` (1 to 255 bytes) names it in records
 * until its end, 64 at once. From the first call on, a program that is
 * executed, or a watched connection, while no call is under way is told of as
 * "mismatch", of high severity: two layers disagree. Which call a program
 * belongs to is known by time alone. AGENTBOX_EEXIST, AGENTBOX_ELIMIT,
 * AGENTBOX_ENOTFOUND, AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_shield_begin_call(agentbox_shield *shield,
						const char *id,
						agentbox_error **err);
AGENTBOX_API int32_t agentbox_shield_end_call(agentbox_shield *shield,
					      const char *id,
					      agentbox_error **err);

/*
 * The answer to an event of the kind "ask": `id` is its object, `allow` not 0
 * lets the program run. An ask that is not answered within a minute is
 * refused. AGENTBOX_EINVAL: not such an id; AGENTBOX_ENOTFOUND: it is over;
 * AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_shield_answer(agentbox_shield *shield,
					    const char *id, int32_t allow,
					    agentbox_error **err);

/*
 * What it sees with: a JSON object of "mode", "watched" ("exec", "connect",
 * "peers") and "witnesses", each with "name" ("seccomp", "landlock-audit",
 * "fanotify"), "state" and "reason". "used": it tells; "unused": the kernel
 * lets this process have it, and nobody reads it; "missing": it cannot be had.
 * *json is owned by the caller.
 */
AGENTBOX_API int32_t agentbox_shield_report(agentbox_shield *shield,
					    agentbox_bytes **json,
					    agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
