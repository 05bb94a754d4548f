/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox run and agentbox shell: a policy out of the options, a box out of
 * the policy, one command in it, and its end told as a shell would tell it.
 * Nothing of the box is left when they return. Specification: agentbox(1).
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <agentbox/peering.h>

#include "log.h"
#include "report.h"
#include "session.h"
#include "text.h"

extern char **environ;

/* The log may lie in the workspace: there it is protected by its name. */
static int shield_log(session *s, const char *log)
{
	char *path = tool_absolute(log);
	char *slash = path ? strrchr(path, '/') : NULL;
	const char *rest = NULL;
	char *dir = NULL, *full = NULL, *fragment = NULL;
	agentbox_policy *out = NULL;

	if (slash) {
		*slash = '\0';
		dir = realpath(*path ? path : "/", NULL);
		full = dir ? text_format("%s/%s", dir, slash + 1) : NULL;
	}
	if (full && s->plan.host_workspace)
		rest = tool_below(full, s->plan.host_workspace);
	if (!rest || !*rest)
		goto out;
	json_t *o = json_pack("{s:[s]}", "protect+", rest + 1);
	fragment = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	if (fragment && !strpbrk(rest, "*?[]{}!\\") &&
	    agentbox_policy_merge(s->plan.policy, fragment, strlen(fragment),
				  &out, NULL) == 0) {
		agentbox_policy_unref(s->plan.policy);
		s->plan.policy = out;
	} else {
		text_warning("'%s' lies in the workspace: the box can destroy "
			     "it (verify would tell); better keep it outside",
			     log);
	}
out:
	free(path);
	free(dir);
	free(full);
	free(fragment);
	return 0;
}

static int open_audit(session *s)
{
	const char *log = tool_get(s->args, "--audit");
	int rc = log ? tool_log_open(s->t, log, &s->audit) : 0;

	return rc || !log ? rc : shield_log(s, log);
}

static int close_audit(session *s)
{
	agentbox_error *err = NULL;

	if (s->audit && agentbox_audit_close(s->audit, &err) < 0)
		return tool_fail(s->t, err, "--audit");
	return 0;
}

/* What "require" can name; no box is without a filter, so that one is not. */
static const char *const layers[] = {
	"userns", "mountns", "pidns", "ipcns", "utsns", "cgroupns", "netns",
	"proc", "landlock", "landlock-net", "landlock-scope", "cgroup",
	"groups", "idmap", "noswap", "peer-pidfd",
};

/* The layer that could not be had; what of it stands behind its name. */
static const char *layer_of(const char *where)
{
	size_t n = strcspn(where, " [");

	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
		if (strlen(layers[i]) == n && !strncmp(where, layers[i], n))
			return layers[i];
	return NULL;
}

/* A policy that needs nothing of what could not be raised, or NULL. A gateway
   stands in a network of the box's own, or there is none. */
static char *lesser_policy(const char *where)
{
	static const char limit[] = "limits.";
	const char *layer = layer_of(where);

	if (!strcmp(where, "gateway"))
		return text_format("whose network.mode is not 'gateway'");
	if (!strncmp(where, limit, sizeof(limit) - 1))
		return text_format("whose limits.require does not name '%s'",
				   where + sizeof(limit) - 1);
	/* it was there, and could not be entered */
	if (!strncmp(where, "cgroup ", 7))
		return text_format("that sets none of limits.memory, "
				   "limits.cpus and limits.pids");
	return layer ? text_format("that does not require '%s'%s", layer,
				   strcmp(layer, "netns") ? ""
				   : " and whose network.mode is not "
				     "'gateway'") : NULL;
}

/* What a person can do about a box that does not stand. */
static void advise(agentbox_error *err)
{
	char *policy;

	switch (agentbox_error_get_code(err)) {
	case AGENTBOX_EWALL:
		policy = lesser_policy(agentbox_error_get_where(err));
		text_note("see 'agentbox doctor' for what this machine can "
			  "enforce and how to fix it%s%s%s",
			  policy ? "; a policy " : "", policy ? policy : "",
			  policy ? " can be raised without it" : "");
		free(policy);
		break;
	case AGENTBOX_EHELPER:
		if (tool_is_about_helper(err))
			tool_note_helper();
		break;
	default:
		break;
	}
}

/* In quotes: then it need not stand in front as well. */
static bool names(const char *message, const char *what)
{
	size_t n = strlen(what);

	for (const char *at = message; (at = strchr(at, '\'')); at++)
		if (!strncmp(at + 1, what, n) && at[1 + n] == '\'')
			return true;
	return false;
}

static int fail_box(session *s, agentbox_error *err)
{
	int32_t code = agentbox_error_get_code(err);
	bool state = tool_is_about_state(s->t, err);
	const char *where = state ? "--state" : agentbox_error_get_where(err);
	int status = state ? TOOL_NO_BOX
		     : code == AGENTBOX_ENOTFOUND ? TOOL_NOT_FOUND
		     : code == AGENTBOX_EPOLICY ? TOOL_BAD_INPUT : TOOL_NO_BOX;
	bool named = names(agentbox_error_get_message(err), where);
	char *line = text_format("the box cannot be raised: %s%s%s [%s]",
				 named ? "" : where,
				 named || !*where ? "" : ": ",
				 agentbox_error_get_message(err),
				 agentbox_error_name(code));

	text_error(line ? line : "the box cannot be raised");
	free(line);
	if (!state)
		advise(err);
	else if (!s->t->state)
		text_note("%s", tool_no_state_hint);
	if (s->t->json)
		tool_print_json(s->t, json_pack(
			"{s:i, s:{s:s, s:s, s:s}}", "exit", status, "error",
			"code", agentbox_error_name(code), "where", where,
			"message", agentbox_error_get_message(err)));
	agentbox_error_free(err);
	return status;
}

/*
 * Descriptors in flight are counted per user and compared with the soft limit
 * of whoever sends one (unix(7)): with ours above that of the boxes none of
 * them can keep us from starting commands. Our box took the old one.
 */
static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static json_t *walls_of(session *s)
{
	agentbox_bytes *b = NULL;

	agentbox_sandbox_walls_to_json(s->box, &b, NULL);
	return tool_json_of(b);
}

/* What is weaker is said without being asked for. */
static void tell_weaker(session *s, const char *tier)
{
	json_t *walls = walls_of(s);
	char *names = report_weaker_line(walls);

	if (!strcmp(tier, "bare"))
		text_warning("this box is BARE: no wall stands around the "
			     "command, it can do what you can do");
	else if (strcmp(tier, "full") != 0)
		text_warning("this box has tier '%s', not 'full': --walls "
			     "tells what is missing", tier);
	/* a document has it in `walls` */
	if (names && strcmp(tier, "bare") != 0 && !s->t->json)
		text_warning("weaker here than a box can be: %s; --walls "
			     "tells why, and what to do", names);
	report_not_hidden(walls, s->plan.hidden);
	if (!s->t->json)
		report_read_only(walls);
	free(names);
	json_decref(walls);
}

static int raise_box(session *s)
{
	agentbox_sandbox_options *options = NULL;
	agentbox_error *err = NULL;
	int32_t rc = agentbox_sandbox_options_new(&options, &err);

	if (rc == 0)
		rc = agentbox_sandbox_options_set_audit(options, s->audit,
							&err);
	if (rc == 0 && tool_has(s->args, "--resolver"))
		rc = agentbox_sandbox_options_set_resolver(
			options, tool_get(s->args, "--resolver"), &err);
	bool is_set = rc == 0;
	if (is_set) {
		text_progress_begin("raising the box");
		rc = agentbox_sandbox_new(s->t->context, s->plan.policy,
					  options, &s->box, &err);
		text_progress_end();
	}
	agentbox_sandbox_options_free(options);
	if (rc < 0 && !strcmp(agentbox_error_get_where(err), "resolver"))
		return tool_fail_name(s->t, err, "--resolver");
	if (rc < 0)
		return is_set ? fail_box(s, err) : tool_fail(s->t, err, NULL);
	raise_files();
	const char *tier = agentbox_sandbox_get_tier(s->box);
	tell_weaker(s, tier);
	rc = tool_give_secrets(s);
	if (!rc)
		rc = tool_open_previews(s);
	return rc ? rc : tool_plan_start(s->t, s->args, &s->plan,
					 !strcmp(tier, "full") ||
					 !strcmp(tier, "no-proc"));
}

/* What another call of the tool can take from it, also without a name. */
static bool can_lose(const session *s)
{
	return json_object_get(s->plan.document, "identity") ||
	       json_array_size(json_object_get(s->plan.document, "secrets"));
}

/* Under --name the box is reached by other calls of the tool. */
static int serve_box(session *s)
{
	const char *name = tool_get(s->args, "--name");
	agentbox_error *err = NULL;

	if (!name && !can_lose(s))
		return 0;
	if (agentbox_owner_new(s->t->context, NULL, &s->owner, &err) < 0 ||
	    agentbox_owner_add(s->owner, s->box, name, &err) < 0)
		return tool_fail_name(s->t, err,
				      tool_is_about_state(s->t, err) ?
				      "--state" : "--name");
	return 0;
}

/* What peers shared with it, or read of it, ends with it. */
static void end_grants(session *s)
{
	agentbox_peering *peering = NULL;
	agentbox_error *err = NULL;

	agentbox_owner_free(s->owner);
	s->owner = NULL;
	if (agentbox_peering_new(s->t->context, s->audit, &peering, &err) < 0 ||
	    agentbox_peering_add(peering, s->box, NULL, &err) < 0 ||
	    agentbox_peering_remove(peering, s->box, &err) < 0)
		text_warning("what peers shared with box %s is not ended: %s",
			     agentbox_sandbox_get_id(s->box),
			     agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_peering_free(peering);
}

static json_t *limits_of(session *s)
{
	agentbox_bytes *b = NULL;

	agentbox_sandbox_limits_to_json(s->box, &b, NULL);
	return tool_json_of(b);
}

static void tell_walls(session *s)
{
	json_t *walls = walls_of(s), *limits = limits_of(s);

	text_line(stderr, "box %s, tier %s", agentbox_sandbox_get_id(s->box),
		  agentbox_sandbox_get_tier(s->box));
	report_walls(walls);
	report_limits(limits);
	json_decref(walls);
	json_decref(limits);
}

static int dry_run(session *s)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;

	if (agentbox_sandbox_plan_to_json(s->t->context, s->plan.policy,
					  &bytes, &err) < 0)
		return fail_box(s, err);
	json_t *plan = tool_json_of(bytes);
	if (s->t->json)
		return tool_print_json(s->t, plan);
	if (agentbox_policy_is_bare(s->plan.policy))
		text_warning("this box would be BARE: no wall would stand "
			     "around the command");
	text_note("this box would be raised; nothing was");
	report_plan(plan);
	const char *mode = text_of(json_object_get(s->plan.document, "shield"),
				   "mode");
	if (*mode && strcmp(mode, "off") != 0)
		text_note("agentbox-shield would see what is executed in it, "
			  "in mode '%s'", mode);
	json_decref(plan);
	return 0;
}

static int set_environment(session *s, agentbox_command *command)
{
	agentbox_error *err = NULL;

	for (char **e = environ; *e; e++) {
		char *copy = strdup(*e);
		char *value = copy ? strchr(copy, '=') : NULL;
		/* What cannot be passed is not passed. */
		if (value && value != copy) {
			*value++ = '\0';
			agentbox_command_set_host_env(command, copy, value,
						      NULL);
		}
		free(copy);
	}
	for (size_t i = 0; i < s->args->value_count; i++) {
		const tool_value *v = &s->args->values[i];
		if (strcmp(v->option->name, "--env") != 0)
			continue;
		char *copy = strdup(v->value);
		char *value = copy ? strchr(copy, '=') : NULL;
		int32_t rc = AGENTBOX_EINVAL;
		if (value) {
			*value++ = '\0';
			rc = agentbox_command_set_env(command, copy, value,
						      &err);
		}
		free(copy);
		if (!value)
			return tool_refuse(s->t, TOOL_USAGE, "EINVAL",
					   "--env", "'%s' is not NAME=VALUE",
					   v->value);
		if (rc < 0)
			return tool_fail_as(s->t, TOOL_USAGE, err, "--env");
	}
	return 0;
}

/* Where the host would find the program, for the hint; owned or NULL. */
static char *find_on_host(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path ? path : ""), *save = NULL, *found = NULL;

	if (strchr(name, '/')) {
		free(copy);
		return access(name, X_OK) == 0 ? tool_absolute(name) : NULL;
	}
	for (char *dir = copy ? strtok_r(copy, ":", &save) : NULL;
	     dir && !found; dir = strtok_r(NULL, ":", &save)) {
		found = text_format("%s/%s", dir, name);
		if (found && access(found, X_OK) < 0) {
			free(found);
			found = NULL;
		}
	}
	free(copy);
	return found;
}

/* "--shield deny make": the mode was taken for the command. */
static bool is_mode_of_shield(const session *s, const char *name)
{
	const char *mode = tool_get(s->args, "--shield");

	return mode && !*mode && (!strcmp(name, "audit") ||
				  !strcmp(name, "deny") || !strcmp(name, "ask"));
}

/* The shield said no to the command itself: one line, and what to do. */
static int fail_shield(session *s, agentbox_error *err)
{
	bool refused = agentbox_error_get_code(err) == AGENTBOX_EDENIED;
	size_t last;

	session_take_events(s);
	last = json_array_size(s->events);
	if (last && !strcmp(text_of(json_array_get(s->events, last - 1),
				    "kind"), refused ? "tripwire" : "shield"))
		s->events_told = last;
	tool_fail_as(s->t, refused ? TOOL_REFUSED : TOOL_NO_BOX, err, NULL);
	if (refused)
		text_note("the policy's 'commands' and 'git' rules can allow "
			  "it; --shield=audit records it and lets it run");
	return refused ? TOOL_REFUSED : TOOL_NO_BOX;
}

static int fail_spawn(session *s, agentbox_error *err, const char *name)
{
	int32_t code = agentbox_error_get_code(err);
	bool exec = !strcmp(agentbox_error_get_where(err), "exec");
	int status = !strcmp(agentbox_error_get_where(err), "cwd")
		     ? TOOL_NOT_FOUND
		     : exec && code == AGENTBOX_ENOTFOUND ? TOOL_NO_COMMAND
		     : exec ? TOOL_CANNOT_EXEC
		     : code == AGENTBOX_EDENIED ? TOOL_REFUSED
		     : code == AGENTBOX_EWALL ? TOOL_NO_BOX : TOOL_INTERNAL;
	char *host = status == TOOL_NO_COMMAND ? find_on_host(name) : NULL;

	if (status == TOOL_NOT_FOUND)
		tool_refuse(s->t, status, "ENOTFOUND", "--cwd",
			    "cannot start in '%s': there is no such directory "
			    "in the box", s->plan.cwd ? s->plan.cwd : "");
	else if (status == TOOL_NO_COMMAND)
		tool_refuse(s->t, status, "ENOTFOUND", NULL,
			    "'%s' was not found in the box", name);
	else if (status == TOOL_CANNOT_EXEC)
		tool_refuse(s->t, status, agentbox_error_name(code), NULL,
			    "'%s' cannot be executed in the box: %s", name,
			    strerror(agentbox_error_get_errno(err)));
	else
		tool_fail_as(s->t, status, err, NULL), err = NULL;
	if (host)
		text_note("the host has '%s', which the policy does not show: "
			  "--read %s would", host, host);
	if (status == TOOL_NO_COMMAND && is_mode_of_shield(s, name))
		text_note("a mode stands behind '=': --shield=%s", name);
	free(host);
	agentbox_error_free(err);
	return status;
}

int session_command(session *s, const char *const *argv, size_t argc,
		    agentbox_command **command)
{
	agentbox_error *err = NULL;

	if (agentbox_command_new(argv, argc, command, &err) < 0)
		return tool_fail_as(s->t, TOOL_USAGE, err, NULL);
	if (s->plan.cwd &&
	    agentbox_command_set_cwd(*command, s->plan.cwd, &err) < 0)
		return tool_fail_as(s->t, TOOL_USAGE, err, "--cwd");
	return set_environment(s, *command);
}

/* PS1: a shell without start-up files; debian_chroot: Debian's and kin. */
static void set_prompt(session *s, agentbox_command *command, bool posix)
{
	char id[9] = "";

	strncat(id, agentbox_sandbox_get_id(s->box), 8);
	char *name = text_format("box %s", id);
	char *prompt = text_format(posix ? "(box %s) $ " : "(box %s) \\w \\$ ",
				   id);
	agentbox_command_set_env(command, "AGENTBOX_BOX", id, NULL);
	if (prompt)
		agentbox_command_set_env(command, "PS1", prompt, NULL);
	if (name && !posix)
		agentbox_command_set_env(command, "debian_chroot", name, NULL);
	free(name);
	free(prompt);
}

/* A terminal that is a convenience may be missing: the landlock tier's. */
static bool do_without_terminal(session *s, const agentbox_error *err)
{
	if (!s->pty || tool_has(s->args, "--tty") ||
	    strcmp(agentbox_error_get_where(err), "terminal") != 0)
		return false;
	text_warning("the box cannot have a terminal of its own here; its "
		     "streams are relayed");
	s->no_pty = true;
	return true;
}

/* 0; an exit status, already said; or -1 with *err: it was not started. */
static int try_start(session *s, const char *const *argv, size_t argc,
		     bool shell, agentbox_error **err)
{
	agentbox_command *command = NULL;
	int rc = session_command(s, argv, argc, &command);

	if (!rc && shell)
		set_prompt(s, command, !strcmp(argv[0], "/bin/sh"));
	if (!rc)
		rc = streams_plan(s, command);
	if (!rc && agentbox_sandbox_spawn(s->box, command, &s->process,
					  err) < 0)
		rc = -1;
	agentbox_command_free(command);
	if (rc)
		streams_end(s);
	if (rc < 0 && do_without_terminal(s, *err)) {
		agentbox_error_free(*err);
		*err = NULL;
		return try_start(s, argv, argc, shell, err);
	}
	return rc ? rc : streams_connect(s);
}

static int start(session *s, const char *const *argv, size_t argc)
{
	agentbox_error *err = NULL;
	int rc = try_start(s, argv, argc, false, &err);

	if (rc < 0 && !strcmp(agentbox_error_get_where(err), "shield"))
		return fail_shield(s, err);
	return rc < 0 ? fail_spawn(s, err, argv[0]) : rc;
}

/* The first of these shells that the box has. */
static int start_shell(session *s)
{
	const char *mine = getenv("SHELL");
	const char *const shells[] = { mine && *mine ? mine : "/bin/bash",
				       "/bin/bash", "/bin/sh" };
	const size_t count = sizeof(shells) / sizeof(*shells);
	agentbox_error *err = NULL;
	int rc = -1;

	for (size_t i = 0; i < count && rc < 0; i++) {
		rc = try_start(s, &shells[i], 1, true, &err);
		bool exec = !strcmp(agentbox_error_get_where(err), "exec");
		if (rc < 0 && !strcmp(agentbox_error_get_where(err), "shield"))
			return fail_shield(s, err);
		if (rc < 0 && (i + 1 == count || !exec))
			return fail_spawn(s, err, shells[i]);
		agentbox_error_free(err);
		err = NULL;
	}
	if (!rc && s->pty)
		text_note("box %.8s, tier %s; leave it with exit",
			  agentbox_sandbox_get_id(s->box),
			  agentbox_sandbox_get_tier(s->box));
	return rc;
}

/*
 * Who stops a service or a container signals all its processes: the box as
 * well, which has no time to tell how the command ended. That signal, or 0.
 */
static int signal_to_all(session *s)
{
	int signum;

	if (!s->asked_to_end ||
	    strcmp(agentbox_process_get_reason(s->process), "closed") != 0)
		return 0;
	signum = session_pending_signal(s);
	if (signum)
		s->interrupted = signum;
	return s->interrupted;
}

/* What of ours ended it, and what to do about it. */
static void tell_reason(session *s, const char *reason)
{
	static const struct {
		const char *reason, *limit, *what;
	} table[] = {
		{ "wall", "wall", "wall-clock limit" },
		{ "memory", "memory", "memory limit" },
		{ "pids", "pids", "process limit" },
	};
	json_t *limits = json_object_get(s->plan.document, "limits");
	char buf[32] = "";

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(reason, table[i].reason) != 0)
			continue;
		json_t *v = json_object_get(limits, table[i].limit);
		if (json_is_integer(v))
			snprintf(buf, sizeof(buf), "%lld",
				 (long long)json_integer_value(v));
		char *line = text_format(
			"ended by the %s of %s (limits.%s); --limit %s=... "
			"changes it", table[i].what,
			json_is_string(v) ? json_string_value(v) : buf,
			table[i].limit, table[i].limit);
		text_error(line ? line : "ended by a limit");
		free(line);
		return;
	}
	if (!strcmp(reason, "seccomp"))
		text_error("ended by a system call that the seccomp wall "
			   "forbids (syscalls.profile in the policy)");
	else if (!strcmp(reason, "closed"))
		text_error(signal_to_all(s)
			   ? "a signal ended the box, and the command with it"
			   : "the box ended before the command told its "
			     "status");
}

static int status_of_end(session *s)
{
	const char *reason = agentbox_process_get_reason(s->process);
	int32_t signum = agentbox_process_get_signal(s->process);
	int32_t status = agentbox_process_get_exit_status(s->process);

	if (!strcmp(reason, "wall"))
		return TOOL_TIMED_OUT;
	if (signum <= 0)
		signum = signal_to_all(s);
	if (signum > 0)
		return TOOL_SIGNAL + signum;
	/* its own status does not know of output that did not arrive */
	if (status < 0 || (status == 0 && s->lost))
		return TOOL_INTERNAL;
	return status;
}

/* The command's status is known, its workspace is not to be trusted. */
static void tell_unsettled(session *s, int own)
{
	char *line = text_format(
		"the command ended with status %d, but protected paths could "
		"not be put right: %s [%s]", own,
		agentbox_error_get_message(s->unsettled),
		agentbox_error_name(agentbox_error_get_code(s->unsettled)));

	text_error(line ? line : "protected paths could not be put right");
	free(line);
	text_note("look at what is named above before anything on the host "
		  "uses the workspace");
}

static void forget_unsettled(session *s)
{
	agentbox_error_free(s->unsettled);
	s->unsettled = NULL;
}

static json_t *unsettled_error(const session *s)
{
	const agentbox_error *err = s->unsettled;

	if (!err && s->shield_lost)
		return json_pack("{s:s, s:s, s:s}", "code", "ECLOSED", "where",
				 "shield", "message",
				 "the shield ended before the command");
	if (!err && s->lost)
		return json_pack("{s:s, s:s, s:s}", "code", "ESYS", "where",
				 "output", "message", strerror(s->lost));
	return !err ? NULL : json_pack(
		"{s:s, s:s, s:s}", "code",
		agentbox_error_name(agentbox_error_get_code(err)), "where",
		agentbox_error_get_where(err), "message",
		agentbox_error_get_message(err));
}

static int tell_end(session *s, json_t *walls, json_t *limits)
{
	agentbox_bytes *bytes = NULL;
	int own = status_of_end(s);
	bool is_lost = s->shield_lost && !signal_to_all(s);
	int status = s->unsettled || is_lost ? TOOL_NO_BOX : own;

	if (s->unsettled)
		tell_unsettled(s, own);

	if (!s->t->json) {
		tell_reason(s, agentbox_process_get_reason(s->process));
		forget_unsettled(s);
		json_decref(walls);
		json_decref(limits);
		return status;
	}
	agentbox_process_to_json(s->process, &bytes, NULL);
	int rc = tool_print_json(s->t, json_pack(
		"{s:i, s:s, s:s, s:s, s:O, s:O*, s:o*, s:o*, s:o*, s:o*}", "exit",
		status, "box", agentbox_sandbox_get_id(s->box), "tier",
		agentbox_sandbox_get_tier(s->box), "config_hash",
		agentbox_policy_get_digest(s->plan.policy), "events",
		s->events, "previews", s->previews, "process", tool_json_of(bytes), "walls", walls,
		"limits", limits, "error", unsettled_error(s)));
	forget_unsettled(s);
	return rc ? rc : status;
}

/* Keep the first failure to put protected paths right; `err` is taken. */
static void keep_unsettled(session *s, agentbox_error *err)
{
	if (s->unsettled)
		agentbox_error_free(err);
	else
		s->unsettled = err;
}

static int wait_end(session *s)
{
	agentbox_error *err = NULL;
	int rc = session_loop(s);
	int32_t got = rc ? 0 : agentbox_process_wait(s->process, -1, &err);

	if (got == AGENTBOX_EWALL)
		keep_unsettled(s, err), err = NULL;
	else if (got < 0 && strcmp(agentbox_process_get_reason(s->process),
				   "closed") != 0)
		rc = tool_fail(s->t, err, NULL), err = NULL;
	agentbox_error_free(err);
	session_take_events(s);
	session_flush(s, false);
	return rc;
}

/*
 * End the box while its last events can still be read: what a process that
 * the command left behind did is known only when that is dead.
 */
static int end_box(session *s)
{
	agentbox_error *err = NULL;
	int rc = 0;

	if (!s->box || s->ended)
		return 0;
	s->ended = true;
	if (s->owner)
		end_grants(s);
	int32_t got = agentbox_sandbox_end(s->box, &err);
	session_take_events(s);
	if (s->process)
		session_flush(s, true);
	terminal_restore();
	session_tell_events(s);
	if (got == AGENTBOX_EWALL)
		keep_unsettled(s, err);
	else if (got < 0)
		rc = tool_fail(s->t, err, NULL);
	return rc;
}

/* Everything in the box is dead when this returns. */
static int run_in_box(session *s, bool shell)
{
	const tool_args *a = s->args;
	int rc;

	if (tool_has(a, "--walls") && !s->t->json)
		tell_walls(s);
	s->interrupted = session_pending_signal(s);
	if (s->interrupted)
		return TOOL_SIGNAL + s->interrupted;
	rc = shell ? start_shell(s)
		   : start(s, (const char *const *)a->operands,
			   (size_t)a->operand_count);
	if (rc) {
		int signum = session_pending_signal(s);

		return signum ? TOOL_SIGNAL + signum : rc;
	}
	rc = wait_end(s);
	if (rc)
		return rc;
	json_t *walls = s->t->json ? walls_of(s) : NULL;
	json_t *limits = s->t->json ? limits_of(s) : NULL;
	rc = end_box(s);
	if (!rc)
		return tell_end(s, walls, limits);
	json_decref(walls);
	json_decref(limits);
	return rc;
}

static int end(session *s)
{
	int rc = end_box(s);

	if (s->unsettled) /* and no command's end was told with it */
		rc = tool_fail(s->t, s->unsettled, NULL);
	s->unsettled = NULL;
	terminal_restore();
	agentbox_sandbox_free(s->box);
	s->box = NULL;
	agentbox_process_free(s->process);
	s->process = NULL;
	streams_end(s);
	return rc;
}

int session_open(session *s)
{
	tool_make_state_parents(s->t);
	int rc = session_catch_signals(s);

	if (!rc)
		rc = open_audit(s);
	if (!rc) {
		rc = raise_box(s);
		int signum = rc ? session_pending_signal(s) : 0;
		rc = signum ? TOOL_SIGNAL + signum : rc;
	}
	return rc ? rc : serve_box(s);
}

int session_close(session *s, int rc)
{
	int ended = end(s);
	int closed = close_audit(s);

	agentbox_audit_unref(s->audit);
	tool_plan_end(&s->plan);
	json_decref(s->events);
	json_decref(s->denied);
	json_decref(s->tripped);
	json_decref(s->asks);
	free(s->refused);
	json_decref(s->previews);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	return rc ? rc : ended ? ended : closed;
}

static int session_main(tool *t, const tool_args *args, bool shell)
{
	session s = { .t = t, .args = args, .signal_fd = -1, .master = -1,
		      .events = json_array() };
	int rc = 0;

	if (tool_has(args, "--tty") && (t->json || tool_has(args, "--no-tty")))
		rc = tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				 "--tty and %s exclude each other",
				 t->json ? "--json" : "--no-tty");
	if (!rc)
		rc = tool_plan_new(t, args, &s.plan);
	if (!rc && tool_has(args, "--dry-run")) {
		rc = dry_run(&s);
		goto out;
	}
	if (!rc)
		rc = session_open(&s);
	if (!rc)
		rc = run_in_box(&s, shell);
out:
	return session_close(&s, rc);
}

int tool_run(tool *t, const tool_args *args)
{
	return session_main(t, args, false);
}

int tool_shell(tool *t, const tool_args *args)
{
	return session_main(t, args, true);
}
