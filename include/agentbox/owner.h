/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes across processes. Every box has one owner, the process that raised
 * it, and dies with it. An owner that wants others of the same user to reach
 * its boxes (a tool, a second host) serves them on a socket in the state
 * directory, inside its own dispatch; the others use a remote.
 *
 * The socket is a hard control against other users and against boxes. It
 * lies in a directory of mode 0700 that is masked in the owner's boxes, and
 * the peer must have the same user id and live in the same user namespace
 * (unix(7), SO_PEERCRED, SO_PEERPIDFD; user_namespaces(7)), which no box
 * does. Any other process of the same user may use it, as it could use
 * ptrace(2). Both sides need /proc and must be dumpable (prctl(2)).
 *
 * Threads: an owner and a remote belong to one thread at a time. In a forked
 * child both return AGENTBOX_EFORKED, and the getters of an owner -1.
 */
#ifndef AGENTBOX_OWNER_H
#define AGENTBOX_OWNER_H

#include <agentbox/base.h>
#include <agentbox/sandbox.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_owner agentbox_owner;
typedef struct agentbox_request agentbox_request;
typedef struct agentbox_remote agentbox_remote;

/*
 * Start to serve on `<state directory>/owners/<pid>-<epoch>`; the epoch is
 * random, so that a recycled pid is another owner. The context must have a
 * state directory (AGENTBOX_EINVAL; other errors of it as there). `name` (1
 * to 64 letters, digits, '.', '_', '-', no leading '.') may be NULL; with a
 * name the owner is unique: AGENTBOX_EEXIST when a live one has it.
 * AGENTBOX_EACCES when the directory of sockets is open to others.
 */
AGENTBOX_API int32_t agentbox_owner_new(agentbox_context *context,
					const char *name,
					agentbox_owner **owner,
					agentbox_error **err);
/* Stops serving and removes the socket; the boxes stay. */
AGENTBOX_API void agentbox_owner_free(agentbox_owner *owner);

/*
 * Serve `sandbox` (borrowed: remove it before freeing it) under its id and,
 * when `name` is not NULL, under that name, which must not have the form of an
 * id (AGENTBOX_EINVAL). AGENTBOX_EEXIST for a name in use here. What another
 * owner's boxes are called is not known here: who asks for a name that boxes
 * of two owners have is refused.
 */
AGENTBOX_API int32_t agentbox_owner_add(agentbox_owner *owner,
					agentbox_sandbox *sandbox,
					const char *name,
					agentbox_error **err);
/* Processes that remotes run in it are ended. Unknown: AGENTBOX_ENOTFOUND. */
AGENTBOX_API int32_t agentbox_owner_remove(agentbox_owner *owner,
					   agentbox_sandbox *sandbox,
					   agentbox_error **err);

/*
 * As for a box: poll the fd for at most the timeout, dispatch, then
 * next_request until EAGAIN. Out of descriptors, the owner accepts nobody for
 * a while and the timeout says how long.
 */
AGENTBOX_API int32_t agentbox_owner_get_fd(const agentbox_owner *owner);
AGENTBOX_API int32_t agentbox_owner_get_timeout_ms(const agentbox_owner *owner);
/*
 * Serve what is there: lists, kills, spawns and their ends. It never waits
 * for a client: one that does not read its answers, or misbehaves, loses its
 * connection, and others notice nothing. It does wait for the box: for what
 * agentbox_sandbox_spawn() waits for, which is the launcher and, after a
 * change in the workspace, the settling of protected paths; and for the box's
 * answer to a kill. The end of a command is not waited for, nor the settling
 * after it: the timeout says when to look again. With a box
 * that works these are milliseconds. With one that was stopped each such
 * request takes at most 30 seconds, a spawn several of them. A host that must
 * not wait that long dispatches in a thread of its own. Errors: EINVAL,
 * EFORKED, ESYS; what fails for a client is told to the client.
 */
AGENTBOX_API int32_t agentbox_owner_dispatch(agentbox_owner *owner,
					     agentbox_error **err);

/*
 * What the library does not answer itself: a JSON text that a client sent
 * with agentbox_remote_call(), for the host program to carry out.
 */
AGENTBOX_API int32_t agentbox_owner_next_request(agentbox_owner *owner,
						 agentbox_request **request,
						 agentbox_error **err);
/* Borrowed. Untrusted: parse it. */
AGENTBOX_API const char *agentbox_request_get_json(
	const agentbox_request *request);
/*
 * Answer, once: a code (0 or AGENTBOX_E*) and a JSON text or a message. The
 * request is taken and freed, also on failure.
 */
AGENTBOX_API int32_t agentbox_request_reply(agentbox_request *request,
					    int32_t code, const char *text,
					    agentbox_error **err);
/* Without a reply the client is told AGENTBOX_ECANCELED. NULL is accepted. */
AGENTBOX_API void agentbox_request_free(agentbox_request *request);

/*
 * Every box of every live owner in the state directory, as a JSON array of
 * {"id", "name", "tier", "owner_pid", "owner_name", "policy", "config_hash",
 * "account", "identity", "reads_peers", "snapshot", "workspace": {"path", "dev",
 * "ino"}}.
 * Sockets of dead owners are removed on the way. An owner that does not
 * answer is waited for at most 5 seconds to connect and 5 to answer, and its
 * boxes are missing. AGENTBOX_ELIMIT: more than 4096 entries are in the
 * directory of sockets, so that not every owner was seen.
 */
AGENTBOX_API int32_t agentbox_remote_list(agentbox_context *context,
					  agentbox_bytes **json,
					  agentbox_error **err);
/*
 * agentbox_sandbox_revoke() for every box of every live owner whose policy has
 * this identity. *json: an array of {"id", "name", "cut"} of those boxes.
 * AGENTBOX_ETIMEOUT, or the owner's own error: all that could be were revoked,
 * and of the others it is not known. Boxes that nobody serves are not found.
 */
AGENTBOX_API int32_t agentbox_remote_revoke_identity(
	agentbox_context *context, const char *identity,
	agentbox_bytes **json, agentbox_error **err);
/*
 * The same with agentbox_gateway_forget_secret(), for every box whose policy
 * delivers the secret.
 */
AGENTBOX_API int32_t agentbox_remote_forget_secret(agentbox_context *context,
						   const char *name,
						   agentbox_bytes **json,
						   agentbox_error **err);

/*
 * Connect to the owner of a box, by box id or box name. AGENTBOX_EINVAL when
 * boxes of two owners have the name: give an id. AGENTBOX_ENOTFOUND when no
 * live owner has it; AGENTBOX_ETIMEOUT when that is not known, for an owner did
 * not answer in time (as above); AGENTBOX_ELIMIT as above.
 */
AGENTBOX_API int32_t agentbox_remote_open(agentbox_context *context,
					  const char *box,
					  agentbox_remote **remote,
					  agentbox_error **err);
/* The same for an owner, by its name. */
AGENTBOX_API int32_t agentbox_remote_open_owner(agentbox_context *context,
						const char *name,
						agentbox_remote **remote,
						agentbox_error **err);
AGENTBOX_API void agentbox_remote_free(agentbox_remote *remote);

/*
 * Send a JSON text of at most 1 MiB (AGENTBOX_EINVAL) to the host program
 * behind the owner and wait for its answer, at most timeout_ms (-1: for ever)
 * after the text was handed over, which takes at most 5 seconds. A negative
 * code of its answer is returned with its text as message. After
 * AGENTBOX_ETIMEOUT the request may still be carried out; its late answer is
 * dropped and the remote can be used on.
 */
AGENTBOX_API int32_t agentbox_remote_call(agentbox_remote *remote,
					  const char *json, int64_t timeout_ms,
					  agentbox_bytes **reply,
					  agentbox_error **err);
/*
 * agentbox_sandbox_spawn() in the box the remote was opened for. The process
 * handle works as a local one: its descriptors are this process's, its end
 * is told after the owner settled protected paths. When the owner could not
 * settle them, agentbox_process_wait() is AGENTBOX_EWALL with the status
 * known, each time: another wait asks nobody. It outlives the remote.
 */
AGENTBOX_API int32_t agentbox_remote_spawn(agentbox_remote *remote,
					   const agentbox_command *command,
					   agentbox_process **process,
					   agentbox_error **err);
/*
 * agentbox_sandbox_kill_all() there. AGENTBOX_EINVAL, as for a spawn: the
 * remote was opened for an owner and no box.
 */
AGENTBOX_API int32_t agentbox_remote_kill_all(agentbox_remote *remote,
					      agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
