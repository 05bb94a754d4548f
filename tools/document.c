/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policies out of files and out of the options of run and shell. Options are
 * laid over the document by the library, so that they are checked as it is;
 * nothing here decides what is allowed. Specification: agentbox(1),
 * agentbox-policy(5).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"
#include "tool.h"

#define MOST_DOCUMENT (1u << 20) /* the library's limit of a document */

static bool is_builtin(const char *name)
{
	const char *one;

	for (size_t i = 0; (one = agentbox_policy_builtin_name(i)); i++)
		if (!strcmp(name, one))
			return true;
	return false;
}

int tool_read_all(tool *t, const char *name, const char *what, size_t most,
		  char **text, size_t *n)
{
	bool standard = !strcmp(name, "-");
	int fd = standard ? dup(0) : open(name, O_RDONLY | O_CLOEXEC |
					  O_NONBLOCK | O_NOCTTY);
	size_t room = 65536, have = 0;
	struct stat st;
	char *buf = NULL;
	ssize_t got = 1;

	if (fd < 0 && errno == ENOENT && !strcmp(what, "policy") &&
	    is_builtin(name))
		return tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND", name,
				   "cannot open the policy: no such file; the "
				   "built-in policy is builtin:%s", name);
	if (fd < 0)
		return tool_refuse(t, errno == ENOENT ? TOOL_NOT_FOUND
				   : errno == EACCES ? TOOL_REFUSED
				   : TOOL_BAD_INPUT,
				   errno == ENOENT ? "ENOTFOUND" : "EACCES",
				   name, "cannot open the %s: %s", what,
				   strerror(errno));
	if (!standard && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISFIFO(st.st_mode)) {
		close(fd);
		return tool_refuse(t, TOOL_BAD_INPUT, "EINVAL", name,
				   "is not a file");
	}
	if (!standard)
		fcntl(fd, F_SETFL, 0);
	while (got > 0 && have <= most) {
		char *grown = realloc(buf, room);
		if (!grown)
			break;
		buf = grown;
		do
			got = read(fd, buf + have, room - have);
		while (got < 0 && errno == EINTR);
		have += got > 0 ? (size_t)got : 0;
		room = have == room ? 2 * room : room;
	}
	int saved = errno;
	close(fd);
	if (got < 0 || !buf) {
		free(buf);
		return tool_refuse(t, TOOL_BAD_INPUT, "ESYS", name,
				   "cannot read the %s: %s", what,
				   strerror(saved));
	}
	if (have > most) {
		free(buf);
		return tool_refuse(t, TOOL_BAD_INPUT, "ELIMIT",
				   standard ? "standard input" : name,
				   "the %s has more than %zu bytes", what,
				   most);
	}
	*text = buf;
	*n = have;
	return 0;
}

int tool_read_policy(tool *t, const char *name, agentbox_policy **policy)
{
	agentbox_error *err = NULL;
	char *text = NULL;
	size_t n = 0;

	if (!strncmp(name, "builtin:", 8)) {
		if (agentbox_policy_builtin(t->context, name, policy, &err) < 0)
			return tool_fail(t, err, NULL);
		return 0;
	}
	int rc = tool_read_all(t, name, "policy", MOST_DOCUMENT, &text, &n);
	if (rc)
		return rc;
	int32_t parsed = agentbox_policy_parse(t->context, text, n, policy,
					       &err);
	free(text);
	/* Whatever is wrong with a document is bad input. */
	if (parsed < 0)
		return tool_fail_as(t, parsed == AGENTBOX_ENOMEM
				    ? TOOL_INTERNAL : TOOL_BAD_INPUT,
				    err, strcmp(name, "-") ? name
				    : "standard input");
	return 0;
}

/* "limits.memory: line 1 column 12: ..." said of an option: no position. */
static int fail_option(tool *t, agentbox_error *err, const char *option,
		       const char *value)
{
	const char *message = agentbox_error_get_message(err);
	const char *line = strstr(message, ": line ");
	const char *rest = line ? strstr(line + 2, ": ") : NULL;
	int32_t code = agentbox_error_get_code(err);
	char *about = text_format("%s %s", option, value);
	int rc = tool_refuse(t, tool_status_of(code),
			     agentbox_error_name(code), about, "%.*s%s",
			     line ? (int)(line - message) : 0, message,
			     rest ? rest : line ? "" : message);

	free(about);
	agentbox_error_free(err);
	return rc;
}

static int lay_over(tool *t, tool_plan *plan, json_t *fragment,
		    const char *option, const char *value)
{
	char *text = fragment ? json_dumps(fragment, JSON_COMPACT) : NULL;
	agentbox_policy *out = NULL;
	agentbox_error *err = NULL;
	int rc = 0;

	json_decref(fragment);
	if (!text)
		return tool_refuse(t, TOOL_BAD_INPUT, "EINVAL", option,
				   "'%s' is not text", value);
	if (agentbox_policy_merge(plan->policy, text, strlen(text), &out,
				  &err) < 0) {
		rc = fail_option(t, err, option, value);
	} else {
		agentbox_policy_unref(plan->policy);
		plan->policy = out;
	}
	free(text);
	return rc;
}

static int load_document(tool *t, tool_plan *plan)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;

	if (agentbox_policy_to_json(plan->policy, &bytes, &err) < 0)
		return tool_fail(t, err, NULL);
	json_decref(plan->document);
	plan->document = tool_json_of(bytes);
	if (!plan->document)
		return tool_refuse(t, TOOL_INTERNAL, "EPARSE", NULL,
				   "the policy's own dump is not JSON");
	json_t *ws = json_object_get(plan->document, "workspace");
	const char *at = json_string_value(json_object_get(ws, "at"));
	plan->box_workspace = at && !strcmp(at, "same") ? plan->host_workspace
							: at;
	return 0;
}

/* agentbox-policy(5), limits. A key "x-..." would be a good policy, and no
   limit. */
static bool is_limit(const char *name)
{
	static const char *const names[] = { "memory", "cpus", "pids", "disk",
					     "files", "wall" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* --limit memory=2GiB,pids=256: one fragment each, so errors name it. */
static int apply_limits(tool *t, tool_plan *plan, const char *option,
			const char *list)
{
	char *copy = strdup(list), *save = NULL;
	int rc = copy ? 0 : TOOL_INTERNAL;

	if (copy && !*copy)
		rc = tool_refuse(t, TOOL_USAGE, "EINVAL", option,
				 "needs NAME=VALUE");
	for (char *one = copy ? strtok_r(copy, ",", &save) : NULL; one && !rc;
	     one = strtok_r(NULL, ",", &save)) {
		char *value = strchr(one, '=');
		if (!value || value == one || !value[1]) {
			rc = tool_refuse(t, TOOL_USAGE, "EINVAL", option,
					 "'%s' is not NAME=VALUE", one);
			break;
		}
		*value++ = '\0';
		if (!is_limit(one)) {
			rc = tool_refuse(t, TOOL_BAD_INPUT, "EPOLICY", option,
					 "there is no limit '%s'; there are "
					 "memory, cpus, pids, disk, files, wall",
					 one);
			break;
		}
		bool number = strlen(value) < 18 &&
			      strspn(value, "0123456789") == strlen(value) &&
			      (value[0] != '0' || !value[1]);
		json_t *v = number ? json_integer(strtoll(value, NULL, 10))
				   : json_string(value);
		char *about = text_format("%s=%s", one, value);
		rc = lay_over(t, plan, json_pack("{s:{s:o}}", "limits", one, v),
			      option, about ? about : one);
		free(about);
	}
	free(copy);
	return rc;
}

/* Where a host path is in the box: in the workspace, or where it is. */
static char *place_in_box(const tool_plan *plan, const char *path,
			  const char *real)
{
	const char *rest = plan->host_workspace && plan->box_workspace && real
			   ? tool_below(real, plan->host_workspace) : NULL;

	return rest ? text_format("%s%s", plan->box_workspace, rest)
		    : strdup(path);
}

static int apply_mount(tool *t, tool_plan *plan, const char *option,
		       const char *path)
{
	const char *access = option + 2; /* "read", "write" or "hide" */
	bool hide = !strcmp(access, "hide");
	char *clean = tool_absolute(path);
	char *real = *path ? realpath(path, NULL) : NULL;
	int saved = errno;
	int rc;

	if (!*path || (!real && !hide)) {
		rc = tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND", option,
				 "'%s': %s", path, *path ? strerror(saved)
				 : "an empty path names nothing");
		goto out;
	}
	char *to = clean ? place_in_box(plan, clean, real ? real : clean)
			 : NULL;
	json_t *mount = hide ? json_pack("{s:s, s:s}", "to", to, "access",
					 access)
			     : json_pack("{s:s, s:s, s:s, s:b}", "from", real,
					 "to", to, "access", access, "exec", 1);
	rc = lay_over(t, plan, json_pack("{s:[o]}", "mounts+", mount), option,
		      path);
	if (hide && to && !plan->hidden)
		plan->hidden = json_array();
	if (hide && to)
		json_array_append_new(plan->hidden, json_string(to));
	free(to);
out:
	free(clean);
	free(real);
	return rc;
}

/* The base: --policy, --builtin, --bare or builtin:workspace. */
static int choose_base(tool *t, const tool_args *args, tool_plan *plan)
{
	const char *file = tool_get(args, "--policy");
	const char *name = tool_get(args, "--builtin");
	bool bare = tool_has(args, "--bare");
	agentbox_error *err = NULL;

	if ((file != NULL) + (name != NULL) + bare > 1)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "--policy, --builtin and --bare exclude "
				   "each other");
	if (file)
		return tool_read_policy(t, file, &plan->policy);
	if (agentbox_policy_builtin(t->context, bare ? "bare"
				    : name ? name : "workspace",
				    &plan->policy, &err) < 0)
		return tool_fail(t, err, name ? "--builtin" : NULL);
	return 0;
}

/*
 * The workspace is the one place a box writes to, so it may not hold the
 * keys and sockets of this tool. This also refuses "/" and, with the usual
 * state directory, a whole home.
 */
static int judge_workspace(tool *t, const char *real)
{
	char *state = t->state ? realpath(t->state, NULL) : NULL;
	const char *at = state ? state : t->state;
	int rc = 0;

	if (!strcmp(real, "/"))
		rc = tool_refuse(t, TOOL_REFUSED, "EDENIED", "workspace",
				 "'/' cannot be a workspace: cd into a project "
				 "or give --workspace DIR");
	else if (at && tool_below(at, real))
		rc = tool_refuse(t, TOOL_REFUSED, "EDENIED", "workspace",
				 "'%s' holds agentbox's own state (%s), which "
				 "a box may never write: cd into a project, "
				 "give --workspace DIR, or --state DIR", real,
				 at);
	free(state);
	return rc;
}

static int set_workspace(tool *t, const tool_args *args, tool_plan *plan,
			 const char *dir)
{
	const char *at = tool_get(args, "--at");
	agentbox_policy *out = NULL;
	agentbox_error *err = NULL;
	struct stat st;

	plan->host_workspace = realpath(dir, NULL);
	if (!plan->host_workspace)
		return tool_refuse(t, errno == EACCES ? TOOL_REFUSED
				   : TOOL_NOT_FOUND,
				   errno == EACCES ? "EACCES" : "ENOTFOUND",
				   "workspace", "'%s': %s", dir,
				   strerror(errno));
	if (stat(plan->host_workspace, &st) == 0 && !S_ISDIR(st.st_mode))
		return tool_refuse(t, TOOL_BAD_INPUT, "EINVAL", "workspace",
				   "'%s' is not a directory", dir);
	/* Only legacy-home makes a home writable, and only written out. */
	const char *builtin = tool_get(args, "--builtin");
	int rc = builtin && !strcmp(builtin, "legacy-home")
		 ? 0 : judge_workspace(t, plan->host_workspace);
	if (rc)
		return rc;
	if (agentbox_policy_with_workspace(plan->policy, plan->host_workspace,
					   at, &out, &err) < 0)
		return tool_fail(t, err, at ? "--at" : "--workspace");
	agentbox_policy_unref(plan->policy);
	plan->policy = out;
	return load_document(t, plan);
}

static int choose_workspace(tool *t, const tool_args *args, tool_plan *plan)
{
	const char *dir = tool_get(args, "--workspace");
	json_t *ws = json_object_get(plan->document, "workspace");
	const char *path = json_string_value(json_object_get(ws, "path"));

	/* A document that has no workspace, or names one, means it. */
	if (!dir && !path && (ws || !tool_has(args, "--policy")) &&
	    !agentbox_policy_is_bare(plan->policy))
		dir = ".";
	if (dir)
		return set_workspace(t, args, plan, dir);
	if (tool_has(args, "--at"))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--at",
				   "needs --workspace DIR");
	if (path) {
		plan->host_workspace = realpath(path, NULL);
		return load_document(t, plan);
	}
	return 0;
}

/* A workspace that holds the state directory does not show it. */
static int hide_state(tool *t, tool_plan *plan)
{
	char *state = t->state ? realpath(t->state, NULL) : NULL;
	int rc = 0;

	if (state && plan->host_workspace &&
	    tool_below(state, plan->host_workspace)) {
		char *to = place_in_box(plan, state, state);
		rc = lay_over(t, plan, json_pack(
			"{s:[{s:s, s:s}]}", "mounts+", "to", to, "access",
			"hide"), "--state", state);
		free(to);
	}
	free(state);
	return rc;
}

/*
 * Below the workspace on the host, the command starts there in the box. At
 * its top nothing is said: the box knows where that is.
 */
int tool_plan_start(tool *t, const tool_args *args, tool_plan *plan,
		    bool own_tree)
{
	const char *given = tool_get(args, "--cwd");
	const char *top = own_tree ? plan->box_workspace
				   : plan->host_workspace;
	char *here = given ? NULL : getcwd(NULL, 0);
	const char *rest = plan->host_workspace && here
			   ? tool_below(here, plan->host_workspace)
			   : plan->host_workspace && given
			   ? tool_below(given, plan->host_workspace) : NULL;

	if (given && !*given)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--cwd",
				   "an empty path names nothing");
	if (top && rest && *rest)
		plan->cwd = text_format("%s%s", top, rest);
	else if (given && given[0] != '/')
		plan->cwd = text_format("%s/%s", top ? top : "", given);
	else if (given && !(top && rest))
		plan->cwd = strdup(given);
	free(here);
	return 0;
}

/* A way in needs a gateway; the box stays without any other way out. */
static int apply_preview(tool *t, const tool_args *args, tool_plan *plan,
			 const char *option, const char *value)
{
	const char *mode = json_string_value(json_object_get(
		json_object_get(plan->document, "network"), "mode"));
	size_t n = strlen(value);
	long port = n < 6 && n && strspn(value, "0123456789") == n
			    ? strtol(value, NULL, 10) : 0;

	if (port < 1 || port > 65535 || value[0] == '0')
		return tool_refuse(t, TOOL_USAGE, "EINVAL", option,
				   "'%s' is not a port", value);
	if (mode && !strcmp(mode, "host") && !tool_has(args, "--allow") &&
	    !tool_has(args, "--stored"))
		return tool_refuse(t, TOOL_BAD_INPUT, "EINVAL", option,
				   "the policy's network mode is 'host': the "
				   "box's ports are this machine's");
	return lay_over(t, plan, json_pack("{s:{s:s, s:[i]}}", "network",
					   "mode", "gateway", "preview+",
					   (int)port), option, value);
}

/*
 * The stored allowlist: asked for, or where nothing else says what the box
 * may reach. A policy that was chosen is never widened unasked.
 */
static int apply_stored(tool *t, const tool_args *args, tool_plan *plan)
{
	bool asked = tool_has(args, "--stored");
	const char *account = json_string_value(
		json_object_get(plan->document, "account"));
	json_t *allow;
	int rc;

	if (!asked && (tool_has(args, "--policy") ||
		       tool_has(args, "--builtin") ||
		       tool_has(args, "--bare") || tool_has(args, "--allow")))
		return 0;
	rc = tool_stored_allow(t, account, &allow);
	if (rc || (!asked && !json_array_size(allow))) {
		json_decref(allow);
		return rc;
	}
	return lay_over(t, plan, json_pack("{s:{s:s, s:o}}", "network", "mode",
					   "gateway", "allow+", allow),
			"--stored", "(agentbox network show)");
}

int tool_plan_new(tool *t, const tool_args *args, tool_plan *plan)
{
	int rc = choose_base(t, args, plan);

	if (!rc)
		rc = load_document(t, plan);
	if (!rc)
		rc = choose_workspace(t, args, plan);
	if (!rc)
		rc = apply_stored(t, args, plan);
	for (size_t i = 0; i < args->value_count && !rc; i++) {
		const char *name = args->values[i].option->name;
		const char *value = args->values[i].value;
		if (!strcmp(name, "--limit"))
			rc = apply_limits(t, plan, name, value);
		else if (!strcmp(name, "--read") || !strcmp(name, "--write") ||
			 !strcmp(name, "--hide"))
			rc = apply_mount(t, plan, name, value);
		else if (!strcmp(name, "--allow"))
			rc = lay_over(t, plan, json_pack(
				"{s:{s:s, s:[s]}}", "network", "mode",
				"gateway", "allow+", value), name, value);
		else if (!strcmp(name, "--preview"))
			rc = apply_preview(t, args, plan, name, value);
		else if (!strcmp(name, "--shield"))
			rc = lay_over(t, plan, json_pack(
				"{s:{s:s}}", "shield", "mode",
				*value ? value : "deny"), name, value);
		else if (!strcmp(name, "--peering"))
			rc = lay_over(t, plan, json_pack("{s:s}", "peering",
							 "read"), name, NULL);
	}
	if (!rc)
		rc = hide_state(t, plan);
	return rc ? rc : load_document(t, plan);
}

void tool_plan_end(tool_plan *plan)
{
	agentbox_policy_unref(plan->policy);
	json_decref(plan->document);
	json_decref(plan->hidden);
	free(plan->host_workspace);
	free(plan->cwd);
}
