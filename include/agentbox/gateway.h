/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network wall of a box whose policy says `network.mode: gateway`: its
 * one way out is agentbox-gateway, a process outside the box that judges every
 * connection by the policy's lists.
 *
 * Hard control: the box has no route but to that process, which ends with its
 * host; when it dies the box has no network.
 *
 * A gateway is made by agentbox_sandbox_new() and got from the box with
 * agentbox_sandbox_get_gateway(). What it decides comes as events of the box
 * (agentbox_sandbox_next_event()) of the kinds "allowed", "denied", "closed",
 * "failed" and "gateway", and as records in the box's audit.
 *
 * Threads: each function may be called from any thread. In a forked child of
 * the process that made the box they return AGENTBOX_EFORKED.
 */
#ifndef AGENTBOX_GATEWAY_H
#define AGENTBOX_GATEWAY_H

#include <agentbox/base.h>
#include <agentbox/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to its box and lives as long. */
typedef struct agentbox_gateway agentbox_gateway;

/* 1: it judges; 0: it is revoked or has ended, the box has no network. */
AGENTBOX_API int32_t agentbox_gateway_is_alive(
	const agentbox_gateway *gateway);

/*
 * From now on judge by the lists (`network.allow`, `deny`, `private`) of
 * another policy; nothing else of it counts, and the ports that are served
 * without a proxy stay those of the box's own. What is connected stays. On
 * failure the old lists stay in force. AGENTBOX_EINVAL: the policy's mode is
 * not gateway; AGENTBOX_EPOLICY: a list that cannot be compiled, `where` names
 * the entry; AGENTBOX_ECLOSED: revoked or dead.
 */
AGENTBOX_API int32_t agentbox_gateway_reload(agentbox_gateway *gateway,
					     agentbox_policy *policy,
					     agentbox_error **err);

/*
 * The value of a secret that routes inject (`routes[].inject.secret`): fd is
 * a regular file or memfd of one line, borrowed, read by the gateway and by
 * nobody else; the value never is in this process. Connections that were made
 * with an earlier value are not used again; what goes on goes on. -1 takes it
 * away: routes answer 503 without it, and what goes through them is cut, as it
 * is where the new value is refused. AGENTBOX_ENOTFOUND: no route injects it;
 * AGENTBOX_EINVAL: not a value that a header may have, or shorter than 8 bytes,
 * or fd is not open;
 * AGENTBOX_ELIMIT: more than 8192; AGENTBOX_EACCES: no regular file,
 * or not open for reading; AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_set_secret(agentbox_gateway *gateway,
						 const char *name, int32_t fd,
						 agentbox_error **err);

/*
 * The route of exactly this prefix ("/mcp/NAME": a server of tools) ends, for
 * the life of the box: what goes through it is cut at once, its secret is
 * wiped, requests get 403, and its host is reached in no other way. *count (may
 * be NULL): how many connections and sessions were cut. 0 also when the gateway
 * was revoked or has ended. AGENTBOX_ENOTFOUND: there is no such route.
 */
AGENTBOX_API int32_t agentbox_gateway_remove_route(agentbox_gateway *gateway,
						   const char *prefix,
						   uint64_t *count,
						   agentbox_error **err);

/*
 * What a host that wants to be asked is asked: may the box reach `target`
 * ("name:443"), which its policy's list does not name, by `how` ("connect",
 * "socks", "http", "transparent")? Called inside agentbox_sandbox_dispatch(),
 * on its thread. AGENTBOX_VERDICT_ALLOW lets this one connection, or request,
 * go on; AGENTBOX_VERDICT_ASK leaves the answer to agentbox_gateway_answer();
 * anything else is no. It may call functions of the gateway and may not free
 * the box. `target` is text of the box's: a canonical host and port.
 */
typedef int32_t (*agentbox_gateway_ask_fn)(void *data, uint32_t id,
					   const char *how,
					   const char *target);

/*
 * Ask on a refusal for not being in `network.allow`, and wait for the answer
 * for at most timeout_ms (1 to 600000): without one in that time it is no, as
 * it is past 32 questions at once. What is denied, private, special or has a
 * route is not asked about, and where a name leads is judged as always. A name
 * that is not listed is not looked up for who uses no proxy, and so not asked
 * about. `ask` NULL (timeout_ms is 0 then): nobody is asked any more. `data` is
 * borrowed. AGENTBOX_EINVAL; AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_set_ask(agentbox_gateway *gateway,
					      agentbox_gateway_ask_fn ask,
					      void *data, uint32_t timeout_ms,
					      agentbox_error **err);

/*
 * May the box call this tool of a server that it reaches through the gateway?
 * Asked for each call of those that the policy's `tools.ask` names, as `ask`
 * is: inside agentbox_sandbox_dispatch(), on its thread, and answered with the
 * same verdicts, or later with agentbox_gateway_answer(). `tool` is
 * "server:tool", `arguments` the JSON text of an object, of the box's: at most
 * AGENTBOX_MCP_QUESTION_MAX bytes, nothing of it is checked but its form.
 */
typedef int32_t (*agentbox_gateway_approve_fn)(void *data, uint32_t id,
					       const char *tool,
					       const char *arguments);

/*
 * Let calls that need a yes wait for it, for at most timeout_ms (1 to 600000);
 * without one in that time, without a callback (the default, or `approve` NULL
 * with timeout_ms 0) and past 32 questions of either kind at once they are
 * refused with an error of the protocol. `data` is borrowed. A tool that
 * changed meanwhile is refused whatever the answer. AGENTBOX_EINVAL;
 * AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_set_approve(
	agentbox_gateway *gateway, agentbox_gateway_approve_fn approve,
	void *data, uint32_t timeout_ms, agentbox_error **err);

/*
 * The answer that a callback has left open: AGENTBOX_VERDICT_ALLOW, or no.
 * AGENTBOX_ENOTFOUND: nobody waits for it any more; AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_answer(agentbox_gateway *gateway,
					     uint32_t id, int32_t verdict,
					     agentbox_error **err);

/*
 * Let the host look at a port of the box (`network.preview`): listen on
 * 127.0.0.1 port `host_port` (0: any free one) and pass each connection on to
 * that port of the box's own loopback, IPv4 or else IPv6. Nothing of the box
 * gets out by it: only who connects to the host's port begins anything. Every
 * process of this machine can connect. *bound (may be NULL) is the host's
 * port. 48 connections at once are served, the next ones wait; none counts
 * against rates and budgets. It ends with the gateway and its revocation.
 * AGENTBOX_EDENIED: not in the policy's `network.preview`; AGENTBOX_EBUSY: the
 * host's port is taken; AGENTBOX_EACCES: it may not be had; AGENTBOX_EEXIST:
 * this port of the box is open already; AGENTBOX_ELIMIT: 16 are;
 * AGENTBOX_EINVAL: no port; AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_open_preview(
	agentbox_gateway *gateway, uint32_t port, uint32_t host_port,
	uint32_t *bound, agentbox_error **err);

/*
 * Listen no more; connections that stand go on until they end.
 * AGENTBOX_ENOTFOUND: it is not open; AGENTBOX_EINVAL; AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_close_preview(agentbox_gateway *gateway,
						    uint32_t port,
						    agentbox_error **err);

/*
 * Who has the values of the secrets that a box asks its broker for (those with
 * "memfd" or "file" in their delivery). Called inside
 * agentbox_sandbox_dispatch(), on its thread, once for each question that the
 * policy allows. 0: *fd is a regular file or memfd, open for reading, with the
 * value of at most 64 KiB; it is the library's from then on and goes to the
 * gateway unread. Anything else: there is no value, and the box is told so.
 * `name` is borrowed. The gateway waits 10 seconds and keeps no value.
 */
typedef int32_t (*agentbox_secret_provider)(void *data, const char *name,
					    int32_t *fd);

/*
 * Without one (or with NULL) values are what the program prints that the
 * policy names for the secret (`secrets[].command`), or else the stored ones
 * of the context that the box was made with, see agentbox_secret_put(). `data`
 * is borrowed until the box is freed or another is set.
 */
AGENTBOX_API int32_t agentbox_gateway_set_provider(
	agentbox_gateway *gateway, agentbox_secret_provider provider,
	void *data, agentbox_error **err);

/*
 * From a provider, while it is called, and once: the value is what this
 * program prints. argv ends with NULL, has at most 64 entries and is borrowed;
 * argv[0] is an absolute path, of which every directory, link and the file
 * belong to root or the caller and are writable by nobody else. What the
 * provider returns then is not looked at. The program runs with the rights of
 * this process, outside the box and beside this process, with a small
 * environment of its own, for at most 9 seconds; what it has started ends with
 * it. It has to exit with 0; one line end at the end is not part of the value,
 * which passes no memory of this process. It ends at once where the box, its
 * secret or its identity is revoked. AGENTBOX_EINVAL; AGENTBOX_EBUSY: 8 of the
 * box run; AGENTBOX_EHELPER: agentbox-provider is not there; AGENTBOX_ECLOSED.
 */
AGENTBOX_API int32_t agentbox_gateway_use_program(agentbox_gateway *gateway,
						  const char *const *argv,
						  agentbox_error **err);

/*
 * The box may not have this secret any more, for good: its leases end now, a
 * file is emptied, also for who has it open. What was handed over as a memfd
 * cannot be recalled. What goes through routes that inject it is cut, and they
 * have no value until agentbox_gateway_set_secret() gives one. *count (may be
 * NULL): how many leases ended, and how many were cut. 0 also when the gateway
 * was revoked or has ended. AGENTBOX_ENOTFOUND: the box's policy does not
 * deliver it, and no route injects it.
 */
AGENTBOX_API int32_t agentbox_gateway_forget_secret(agentbox_gateway *gateway,
						    const char *name,
						    uint64_t *count,
						    agentbox_error **err);

/*
 * Cut everything now: tunnels, requests, look-ups, leases, and nothing begins
 * any more, for good. *count (may be NULL) is how many of them were cut. 0
 * also when it was revoked before or has ended: there is nothing left then.
 * A gateway that does not answer is killed, which cuts the same.
 */
AGENTBOX_API int32_t agentbox_gateway_revoke(agentbox_gateway *gateway,
					     uint64_t *count,
					     agentbox_error **err);

/*
 * Stored secrets: files of mode 0600 below `secrets` of the context's state
 * directory, which no box sees. A name is 1 to 64 letters, digits, '_' and
 * '-', the first no '-' (AGENTBOX_EINVAL); a value is 1 byte to 64 KiB
 * (AGENTBOX_EINVAL, AGENTBOX_ELIMIT). Errors of the state directory as
 * agentbox_context_set_state_dir() says. From any thread.
 */

/* Store what fd (borrowed: a pipe, a file) gives until its end, in place of
   what was there. It passes memory of this process, guarded and wiped. */
AGENTBOX_API int32_t agentbox_secret_put(agentbox_context *context,
					 const char *name, int32_t fd,
					 agentbox_error **err);
/*
 * *fd is its file, open for reading, owned. AGENTBOX_ENOTFOUND;
 * AGENTBOX_EACCES: another user's, open to others, or no regular file.
 */
AGENTBOX_API int32_t agentbox_secret_open(agentbox_context *context,
					  const char *name, int32_t *fd,
					  agentbox_error **err);
/* AGENTBOX_ENOTFOUND. Boxes that have it keep it: see
   agentbox_gateway_forget_secret(). */
AGENTBOX_API int32_t agentbox_secret_remove(agentbox_context *context,
					    const char *name,
					    agentbox_error **err);
/*
 * Their names, never a value: a JSON array of {"name", "bytes", "problem"},
 * sorted; the last is null, or says why it is not handed out.
 */
AGENTBOX_API int32_t agentbox_secret_list(agentbox_context *context,
					  agentbox_bytes **json,
					  agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
