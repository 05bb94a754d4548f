/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * --secret NAME=FILE: the file goes to the box's gateway unread. One that
 * others can read is no secret and is refused. The stored secrets, which boxes
 * ask their broker for, and taking from live boxes what they were given.
 * Specification: agentbox(1).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"
#include "text.h"

/* NULL, or what is wrong with it. */
static const char *judge(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return "cannot be looked at";
	if (!S_ISREG(st.st_mode))
		return "is no regular file";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "belongs to another user";
	if (st.st_mode & 077)
		return "can be read by others; chmod it to 0600";
	return NULL;
}

static int give(session *s, const char *name, const char *file)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(s->box);
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
	const char *why = fd < 0 ? strerror(errno) : judge(fd);
	agentbox_error *err = NULL;
	int rc = 0;

	if (why)
		rc = tool_refuse(s->t, absent ? TOOL_NOT_FOUND : TOOL_BAD_INPUT,
				 absent ? "ENOTFOUND" : "EACCES", "--secret",
				 fd < 0 ? "'%s': %s" : "'%s' %s", file, why);
	else if (!gateway)
		rc = tool_refuse(s->t, TOOL_BAD_INPUT, "EINVAL", "--secret",
				 "this box has no gateway: the policy's "
				 "network mode is not 'gateway'");
	else if (agentbox_gateway_set_secret(gateway, name, fd, &err) < 0)
		rc = tool_fail_as(s->t, TOOL_BAD_INPUT, err, "--secret");
	if (fd >= 0)
		close(fd);
	return rc;
}

int tool_give_secrets(session *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->args->value_count; i++) {
		const tool_value *v = &s->args->values[i];
		char *name, *file;

		if (strcmp(v->option->name, "--secret") != 0)
			continue;
		name = strdup(v->value);
		file = name ? strchr(name, '=') : NULL;
		if (!file || file == name || !file[1]) {
			rc = tool_refuse(s->t, TOOL_USAGE, "EINVAL",
					 "--secret", "'%s' is not NAME=FILE",
					 v->value);
		} else {
			*file++ = '\0';
			rc = give(s, name, file);
		}
		free(name);
	}
	return rc;
}

/* --- agentbox secret, agentbox identity ---------------------------------- */

static int begin(tool *t)
{
	tool_make_state_parents(t);
	return tool_need_state(t);
}

/* The library's place is an argument of its own: `about` says which. */
static int fail(tool *t, agentbox_error *err, const char *about)
{
	int32_t code = agentbox_error_get_code(err);
	const char *where = agentbox_error_get_where(err);

	if (!strcmp(where, "fd") || !strcmp(where, "name")) {
		int status = code == AGENTBOX_EINVAL || code == AGENTBOX_ELIMIT
			     ? TOOL_BAD_INPUT : tool_status_of(code);
		int rc = tool_refuse(t, status, agentbox_error_name(code),
				     !strcmp(where, "fd") ? "standard input"
							  : NULL, "%s",
				     agentbox_error_get_message(err));

		agentbox_error_free(err);
		return rc;
	}
	if (code == AGENTBOX_EINVAL || code == AGENTBOX_ELIMIT)
		return tool_fail_as(t, TOOL_BAD_INPUT, err, about);
	return tool_fail(t, err, tool_is_about_state(t, err) ? "--state"
							     : about);
}

int tool_secret_put(tool *t, const tool_args *args)
{
	const char *name = args->operands[0];
	agentbox_error *err = NULL;
	int rc = begin(t);

	if (rc)
		return rc;
	if (isatty(STDIN_FILENO))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "the value comes on standard input, which "
				   "is a terminal, where it would be shown: "
				   "agentbox secret put %s <FILE", name);
	if (agentbox_secret_put(t->context, name, STDIN_FILENO, &err) < 0)
		return fail(t, err, name);
	return t->json ? tool_print_json(t, json_pack("{s:s}", "name", name))
		       : 0;
}

static char *stored_line(const json_t *v)
{
	const char *problem = text_of(v, "problem");

	return text_format("%s%s%s\n", text_of(v, "name"),
			   problem[0] ? "\t" : "", problem);
}

int tool_secret_list(tool *t, const tool_args *args)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = begin(t);

	(void)args;
	if (rc)
		return rc;
	if (agentbox_secret_list(t->context, &bytes, &err) < 0)
		return fail(t, err, NULL);
	return tool_print_rows(t, tool_json_of(bytes), stored_line,
			       "no secret is stored");
}

static bool is_none(const agentbox_bytes *list)
{
	return !strcmp(agentbox_bytes_get_data(list), "[]");
}

/* Which boxes it was taken from; `bytes` is taken. */
static int print_taken(tool *t, agentbox_bytes *bytes, const char *what)
{
	json_t *all = tool_json_of(bytes), *v;
	size_t i;

	if (!all || t->json)
		return tool_print_rows(t, all, NULL, NULL);
	json_array_foreach(all, i, v) {
		text_note("box %s: %s, %lld cut", text_of(v, "id"),
			  what, (long long)json_integer_value(
					json_object_get(v, "cut")));
	}
	json_decref(all);
	return 0;
}

/* First what is stored, so that no box is given it anew meanwhile. */
int tool_secret_revoke(tool *t, const tool_args *args)
{
	const char *name = args->operands[0];
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL, *missing = NULL;
	int rc = begin(t);

	if (rc)
		return rc;
	if (agentbox_secret_remove(t->context, name, &missing) < 0 &&
	    agentbox_error_get_code(missing) != AGENTBOX_ENOTFOUND)
		return fail(t, missing, name);
	if (agentbox_remote_forget_secret(t->context, name, &bytes,
					  &err) < 0) {
		agentbox_error_free(missing);
		return fail(t, err, name);
	}
	/* one that the host got elsewhere is no mistake */
	if (missing && is_none(bytes)) {
		agentbox_bytes_free(bytes);
		return fail(t, missing, name);
	}
	if (!missing && !t->json)
		text_note("'%s' is not stored any more", name);
	agentbox_error_free(missing);
	if (is_none(bytes) && !t->json)
		text_note("no live box has had '%s'", name);
	return print_taken(t, bytes, "may not have it any more");
}

int tool_identity_revoke(tool *t, const tool_args *args)
{
	const char *identity = args->operands[0];
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = begin(t);

	if (rc)
		return rc;
	if (!*identity)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "identity revoke: ID is empty; 'agentbox "
				   "identity list' shows those of live boxes");
	if (agentbox_remote_revoke_identity(t->context, identity, &bytes,
					    &err) < 0)
		return fail(t, err, identity);
	if (is_none(bytes)) {
		agentbox_bytes_free(bytes);
		return tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND", NULL,
				   "no live box has the identity '%s'; "
				   "'agentbox identity list' shows those that "
				   "have one", identity);
	}
	return print_taken(t, bytes, "revoked");
}

static char *identity_line(const json_t *v)
{
	return text_format("%s\t%s\t%s\n", text_of(v, "identity"),
			   text_of(v, "box"), text_of(v, "name"));
}

/* Of the boxes that are served, those with an identity. */
int tool_identity_list(tool *t, const tool_args *args)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	json_t *boxes, *v, *all;
	int rc = begin(t);
	size_t i;

	(void)args;
	if (rc)
		return rc;
	if (agentbox_remote_list(t->context, &bytes, &err) < 0)
		return fail(t, err, NULL);
	boxes = tool_json_of(bytes);
	all = boxes ? json_array() : NULL;
	json_array_foreach(boxes, i, v)
		if (json_is_string(json_object_get(v, "identity")))
			json_array_append_new(all, json_pack(
				"{s:s, s:s, s:s}", "identity",
				text_of(v, "identity"), "box",
				text_of(v, "id"), "name", text_of(v, "name")));
	json_decref(boxes);
	return tool_print_rows(t, all, identity_line,
			       "no live box has an identity");
}
