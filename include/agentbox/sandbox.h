/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A box: kernel walls raised once, commands run inside one after another.
 *
 * Hard control: the walls are held by the kernel and by agentbox-init, a
 * process outside the box; nothing in the box, no environment variable and
 * no flag turns one off.
 *
 * Threads: a box may be used from several threads at once for
 * agentbox_sandbox_spawn(), agentbox_sandbox_capture() and
 * agentbox_sandbox_kill_all(); everything else on a box, and each command
 * and process handle, belongs to one thread at a time. agentbox_process_kill()
 * may be called from any thread. agentbox_sandbox_end() and
 * agentbox_sandbox_free() want the box for themselves: see there. In a forked
 * child of the process that made them, boxes and processes return
 * AGENTBOX_EFORKED, and get_fd(), get_timeout_ms() and get_pid() -1; free()
 * there releases memory and descriptors and leaves the box alone.
 */
#ifndef AGENTBOX_SANDBOX_H
#define AGENTBOX_SANDBOX_H

#include <agentbox/audit.h>
#include <agentbox/base.h>
#include <agentbox/gateway.h>
#include <agentbox/policy.h>
#include <agentbox/shield.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_sandbox agentbox_sandbox;
typedef struct agentbox_sandbox_options agentbox_sandbox_options;
typedef struct agentbox_command agentbox_command;
typedef struct agentbox_process agentbox_process;
typedef struct agentbox_event agentbox_event;

/*
 * What only the program knows about a box. All setters copy or take their
 * own reference; AGENTBOX_EINVAL for a NULL or impossible value.
 */
AGENTBOX_API int32_t agentbox_sandbox_options_new(
	agentbox_sandbox_options **options, agentbox_error **err);
AGENTBOX_API void agentbox_sandbox_options_free(
	agentbox_sandbox_options *options);
/* Records of the box's life go here; NULL (the default) records nothing. */
AGENTBOX_API int32_t agentbox_sandbox_options_set_audit(
	agentbox_sandbox_options *options, agentbox_audit *audit,
	agentbox_error **err);
/* The most a cold start may take, in milliseconds; default 10000. */
AGENTBOX_API int32_t agentbox_sandbox_options_set_timeout(
	agentbox_sandbox_options *options, uint32_t milliseconds,
	agentbox_error **err);

/*
 * The name servers that the box's gateway asks, in place of the system's:
 * addresses with or without a port, separated by commas ("192.0.2.1:53,
 * [2001:db8::1]:5353" without the space). NULL or "": the system's. They are
 * read when the gateway starts: agentbox_sandbox_new() answers AGENTBOX_EINVAL
 * at "resolver" where one is none.
 */
AGENTBOX_API int32_t agentbox_sandbox_options_set_resolver(
	agentbox_sandbox_options *options, const char *servers,
	agentbox_error **err);

/*
 * Raise every wall the policy asks for, or none: on failure nothing is left
 * behind. Starts agentbox-init and waits until the launcher stands behind
 * every wall. `options` may be NULL.
 *
 * Errors: AGENTBOX_EWALL when a required wall cannot be raised (`where`
 * names it: "userns", "landlock", "limits.memory", ...), AGENTBOX_EHELPER,
 * AGENTBOX_ENOTFOUND for a path of the policy, AGENTBOX_EDENIED for one that
 * no box may have (the state directory, /proc, /run; `where` names the mount),
 * AGENTBOX_EUNSUPPORTED for a policy that asks for something
 * this build lacks, AGENTBOX_ETIMEOUT, those of
 * agentbox_context_set_state_dir() and, with an audit, of
 * agentbox_audit_append().
 */
AGENTBOX_API int32_t agentbox_sandbox_new(
	agentbox_context *context, agentbox_policy *policy,
	const agentbox_sandbox_options *options, agentbox_sandbox **sandbox,
	agentbox_error **err);

/*
 * End every process of the box and remove everything: processes, mounts,
 * cgroups, files. Returns when they are gone and protected paths were
 * settled for the last time; the handle stays, for the last events. It waits
 * 30 seconds for that, no longer.
 *
 * No other call may be running on the box, in any thread: who spawns from
 * several threads joins them first, or holds a lock of his own. What is
 * spawned or killed later returns AGENTBOX_ECLOSED. Process handles are not
 * meant: calls on them may be running, and they stay valid and answer
 * ECLOSED or their recorded status. AGENTBOX_EWALL when what the last
 * processes left at protected names could not be put right: the events say
 * what; its errno is ETIMEDOUT after the 30 seconds and EOWNERDEAD when
 * agentbox-init was killed. A second call returns 0.
 *
 * Below the state directory a record, quarantine/unsettled/ID, says that the
 * box runs. It goes when all was put right, and when this function told that
 * agentbox-init looked to the end and something stands. Where it stays, the
 * next agentbox_sandbox_new() over that workspace puts right first what that
 * box left, and tells of it by events of the new one; where that cannot be
 * judged no box is raised before somebody has removed the record:
 * agentbox_sandbox(3), FILES.
 */
AGENTBOX_API int32_t agentbox_sandbox_end(agentbox_sandbox *sandbox,
					  agentbox_error **err);
/*
 * The same, and the handle goes; the last events are in the audit only. Of
 * what could not be put right it tells nobody, so then the record stays and
 * bars the next box, which cannot put it right either: who wants to raise
 * another calls agentbox_sandbox_end() first, and reads its error. The
 * rule about other calls is the same and lasts: none may be running, and none
 * may begin, for the handle is no more. Process handles stay valid.
 */
AGENTBOX_API void agentbox_sandbox_free(agentbox_sandbox *sandbox);

/* 128 random bits as 32 hex digits. Borrowed. */
AGENTBOX_API const char *agentbox_sandbox_get_id(
	const agentbox_sandbox *sandbox);
/* "full", "no-proc", "landlock" or "bare". Static. */
AGENTBOX_API const char *agentbox_sandbox_get_tier(
	const agentbox_sandbox *sandbox);

/* The shield of a box whose policy has a `shield.mode` other than "off",
   borrowed; else NULL. */
AGENTBOX_API agentbox_shield *agentbox_sandbox_get_shield(
	const agentbox_sandbox *sandbox);

/*
 * The gateway of a box whose policy's network mode is `gateway`, borrowed;
 * else NULL.
 */
AGENTBOX_API agentbox_gateway *agentbox_sandbox_get_gateway(
	const agentbox_sandbox *sandbox);


/*
 * The walls report: for every wall whether it stands, what holds it, whether
 * it is hard, and why it is missing; the limits report: for every resource
 * the mechanism, its scope and whether it is hard. One JSON document each.
 */
AGENTBOX_API int32_t agentbox_sandbox_walls_to_json(
	const agentbox_sandbox *sandbox, agentbox_bytes **json,
	agentbox_error **err);
AGENTBOX_API int32_t agentbox_sandbox_limits_to_json(
	const agentbox_sandbox *sandbox, agentbox_bytes **json,
	agentbox_error **err);

/*
 * What agentbox_sandbox_new() would do with this policy, as JSON: tier,
 * mounts in order, Landlock rules, limits. Raises nothing.
 */
AGENTBOX_API int32_t agentbox_sandbox_plan_to_json(
	agentbox_context *context, agentbox_policy *policy,
	agentbox_bytes **json, agentbox_error **err);

/*
 * The box's identity is revoked: everything that goes through its gateway is
 * cut now (tunnels, streams, sessions, leases of secrets), and nothing begins
 * any more, for good: agentbox_sandbox_spawn() is AGENTBOX_EDENIED. Commands
 * that run go on, without a network; agentbox_sandbox_kill_all() ends them.
 * What was handed to the box as bytes cannot be recalled. *count (may be NULL)
 * is how many connections and leases were cut. Recorded as box.revoke.
 * Threads: as agentbox_sandbox_spawn().
 */
AGENTBOX_API int32_t agentbox_sandbox_revoke(agentbox_sandbox *sandbox,
					     uint64_t *count,
					     agentbox_error **err);

/*
 * SIGKILL every process the agent has in the box; the box stays usable.
 * Threads: as agentbox_sandbox_spawn().
 */
AGENTBOX_API int32_t agentbox_sandbox_kill_all(agentbox_sandbox *sandbox,
					       agentbox_error **err);

/*
 * Events of the box for a host's own loop: poll the fd for reading (borrowed),
 * at most get_timeout_ms (-1: no timeout), call dispatch, then next_event
 * until AGENTBOX_EAGAIN. None of them blocks.
 */
AGENTBOX_API int32_t agentbox_sandbox_get_fd(const agentbox_sandbox *sandbox);
AGENTBOX_API int32_t agentbox_sandbox_get_timeout_ms(
	const agentbox_sandbox *sandbox);
AGENTBOX_API int32_t agentbox_sandbox_dispatch(agentbox_sandbox *sandbox,
					       agentbox_error **err);
AGENTBOX_API int32_t agentbox_sandbox_next_event(agentbox_sandbox *sandbox,
						 agentbox_event **event,
						 agentbox_error **err);
/*
 * "quarantined", "reprotected", "unprotected", "launcher", "limit" or
 * "ended"; static. Object and detail are borrowed, never NULL; bytes that are
 * no UTF-8 are written \xNN in them.
 *
 * Quarantined is what appears under a protected name, also when the host's
 * own user made it: who did cannot be told, but for what git makes while no
 * process of the box is there. While a command runs that waits for its end.
 * It is renamed, into the state directory or, where that is on another file
 * system, beside where it was; never copied, overwritten or
 * removed. The detail is where it is now.
 *
 * A host that replaces a protected file detaches its read-only mount. While
 * commands run it is made again by agentbox-init, as a rule within a
 * millisecond, or ten when that happens again and again; a name that is away
 * has ten to come back. In that window a command can open the new file for
 * writing, and what is open stays open. Where that is too much, stop the
 * commands first or use a workspace of mode "overlay".
 */
AGENTBOX_API const char *agentbox_event_get_kind(const agentbox_event *event);
AGENTBOX_API const char *agentbox_event_get_object(const agentbox_event *event);
AGENTBOX_API const char *agentbox_event_get_detail(const agentbox_event *event);
AGENTBOX_API void agentbox_event_free(agentbox_event *event);

/*
 * A command: what to run, with which descriptors. argv[0] is looked up in
 * the PATH of the command's environment, inside the box. Strings are copied.
 * A command may be spawned any number of times.
 *
 * The environment is what the policy sets and passes, then set_env().
 * The library reads no environment of its own: `pass` names take their value
 * from set_host_env().
 */
AGENTBOX_API int32_t agentbox_command_new(const char *const *argv, size_t argc,
					  agentbox_command **command,
					  agentbox_error **err);
AGENTBOX_API void agentbox_command_free(agentbox_command *command);
/*
 * Directory inside the box, absolute (AGENTBOX_EINVAL); default: the
 * workspace, else "/".
 */
AGENTBOX_API int32_t agentbox_command_set_cwd(agentbox_command *command,
					      const char *path,
					      agentbox_error **err);
/* NULL value removes the name. AGENTBOX_EINVAL for '=' or NUL in names. */
AGENTBOX_API int32_t agentbox_command_set_env(agentbox_command *command,
					      const char *name,
					      const char *value,
					      agentbox_error **err);
/*
 * A candidate "NAME=value" of the host's environment: it reaches the command
 * only when the policy's env.pass lists NAME.
 */
AGENTBOX_API int32_t agentbox_command_set_host_env(agentbox_command *command,
						   const char *name,
						   const char *value,
						   agentbox_error **err);
/*
 * Descriptor `target` of the command is a duplicate of `fd`. Pipes, sockets,
 * terminals and regular files are accepted; directories, O_PATH, block
 * devices and descriptors of namespaces or mounts are refused
 * (AGENTBOX_EDENIED): openat(fd, "../..") leaves the box. A socket carries
 * the network it was made in: unless the policy's network mode is `host`,
 * agentbox_sandbox_spawn() refuses all but connected UNIX stream and seqpacket
 * sockets (AGENTBOX_EDENIED at `fd`). Flags such as O_NONBLOCK belong to what
 * is shared: the box can set them for whoever holds the same pipe or socket,
 * so give it one of its own. A regular file is
 * relayed through a pipe, because the box could reopen it with more rights
 * through /proc/self/fd. 0-2 without a descriptor are /dev/null; all others
 * are closed. The descriptor is duplicated here and closed by free. `target`
 * is 0 to 1023, and one set twice keeps the last; AGENTBOX_ELIMIT for too
 * many.
 */
AGENTBOX_API int32_t agentbox_command_set_fd(agentbox_command *command,
					     int32_t target, int32_t fd,
					     agentbox_error **err);
/*
 * 0-2 are a new terminal of the box, the controlling one of the command; its
 * host side: agentbox_process_open_pty(). 1 to 65535 rows and columns.
 */
AGENTBOX_API int32_t agentbox_command_set_pty(agentbox_command *command,
					      uint32_t rows, uint32_t columns,
					      agentbox_error **err);
/* Wall-clock limit in ms; 0: the policy's limits.wall, which also caps it. */
AGENTBOX_API int32_t agentbox_command_set_wall(agentbox_command *command,
					       uint32_t milliseconds,
					       agentbox_error **err);

/*
 * Run a command in the box. Returns when it was started or could not be:
 * AGENTBOX_ENOTFOUND / EACCES / ESYS when the program cannot be executed in
 * the box or its directory not entered (`where`: exec, cwd), AGENTBOX_ETIMEOUT
 * when the launcher did not answer within the spawn deadline of 5 seconds (it
 * is then replaced), AGENTBOX_ECLOSED when the box ended, AGENTBOX_EWALL while
 * its protected paths cannot be settled, AGENTBOX_ELIMIT for arguments and
 * environment that are too long (execve(2): one of 128 KiB), and with an audit
 * what agentbox_audit_append() returns: what cannot be recorded does not run.
 * The walls are inherited: nothing is raised per command. From any thread,
 * but not beside agentbox_sandbox_end() or agentbox_sandbox_free().
 */
AGENTBOX_API int32_t agentbox_sandbox_spawn(agentbox_sandbox *sandbox,
					    const agentbox_command *command,
					    agentbox_process **process,
					    agentbox_error **err);

/*
 * Spawn, collect standard output and error, wait. At most `max_bytes` of
 * each are kept; what follows is read and dropped, and counted in
 * agentbox_process_to_json(). `out` and `err_out` may be NULL, then that
 * stream goes where the command says. Blocks until the command has ended.
 * Errors as spawn and wait; AGENTBOX_EINVAL for a command with a terminal.
 * After AGENTBOX_EWALL of the wait, what ran is handed out all the same.
 * Threads: as agentbox_sandbox_spawn().
 */
AGENTBOX_API int32_t agentbox_sandbox_capture(agentbox_sandbox *sandbox,
					      const agentbox_command *command,
					      size_t max_bytes,
					      agentbox_process **process,
					      agentbox_bytes **out,
					      agentbox_bytes **err_out,
					      agentbox_error **err);

/* Readable when the command has ended, and from then on. Borrowed. */
AGENTBOX_API int32_t agentbox_process_get_fd(const agentbox_process *process);
/* Process id inside the box. */
AGENTBOX_API int32_t agentbox_process_get_pid(const agentbox_process *process);
/*
 * Wait until the command has ended and protected paths were settled after
 * it: timeout in ms for both, 0 only looks, below for ever. AGENTBOX_ETIMEOUT
 * when either is not so yet; until it is, the getters below say "running".
 * The settling goes on meanwhile, as a rule for less than a millisecond, and
 * the fd stays readable: wait again, with a timeout of a few milliseconds, or
 * a loop of looks spins. AGENTBOX_ECLOSED when the box ended
 * without a status. AGENTBOX_EWALL when protected paths could not be
 * settled: the status is known, the workspace is not to be trusted, and
 * another wait tries to settle again.
 */
AGENTBOX_API int32_t agentbox_process_wait(agentbox_process *process,
					   int64_t timeout_ms,
					   agentbox_error **err);
/* After wait: 0-255, or -1 when a signal ended it or it has not ended. */
AGENTBOX_API int32_t agentbox_process_get_exit_status(
	const agentbox_process *process);
/* After wait: the signal that ended it, or 0. */
AGENTBOX_API int32_t agentbox_process_get_signal(
	const agentbox_process *process);
/*
 * Why it ended: "exited", "signal", "wall" (its wall-clock limit), "killed"
 * (by the host), "memory", "pids", "seccomp", "closed" (the box ended),
 * "running". Static.
 */
AGENTBOX_API const char *agentbox_process_get_reason(
	const agentbox_process *process);
/* Status, signal, reason, rusage and times as one JSON document. */
AGENTBOX_API int32_t agentbox_process_to_json(const agentbox_process *process,
					      agentbox_bytes **json,
					      agentbox_error **err);
/*
 * Signal (1 to 64) the command's process group. From any thread.
 * AGENTBOX_ECLOSED when it has ended, AGENTBOX_EBUSY when many signals wait.
 */
AGENTBOX_API int32_t agentbox_process_kill(agentbox_process *process,
					   int32_t signum,
					   agentbox_error **err);
/*
 * A new descriptor (CLOEXEC, caller's) of the terminal's host side;
 * AGENTBOX_EINVAL without a terminal.
 */
AGENTBOX_API int32_t agentbox_process_open_pty(agentbox_process *process,
					       int32_t *fd,
					       agentbox_error **err);
/* The terminal's new size; the foreground group receives SIGWINCH. */
AGENTBOX_API int32_t agentbox_process_resize(agentbox_process *process,
					     uint32_t rows, uint32_t columns,
					     agentbox_error **err);
/* A command that still runs is ended with its process group (SIGKILL). */
AGENTBOX_API void agentbox_process_free(agentbox_process *process);

#ifdef __cplusplus
}
#endif

#endif
