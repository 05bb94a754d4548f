/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command as bytes, for the way to the process that owns the box. Both
 * ends run as the same user, but a confused client must not confuse an
 * owner: everything is parsed with bounds, and the command is built through
 * the same judging calls as one of the host itself.
 */
#include "config.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "sandbox/internal.h"

AB_DEFINE_AUTO(agentbox_command, agentbox_command_free)

const char *ab_command_name(const agentbox_command *c)
{
	return c->argv[0];
}

size_t ab_command_fds(const agentbox_command *c, int fds[AB_MAX_EXTRA_FDS])
{
	for (size_t i = 0; i < c->fd_count; i++)
		fds[i] = c->fds[i].fd;
	return c->fd_count;
}

void ab_command_put(ab_writer *w, const agentbox_command *c)
{
	ab_put_u32(w, (uint32_t)c->argc);
	for (size_t i = 0; i < c->argc; i++)
		ab_put_str(w, c->argv[i]);
	ab_put_u32(w, (uint32_t)c->env_count);
	for (size_t i = 0; i < c->env_count; i++) {
		ab_put_u8(w, c->env[i].from_host);
		ab_put_u8(w, c->env[i].value != NULL);
		ab_put_str(w, c->env[i].name);
		ab_put_str(w, c->env[i].value ? c->env[i].value : "");
	}
	ab_put_str(w, c->cwd ? c->cwd : "");
	ab_put_u8(w, c->pty);
	ab_put_u32(w, c->rows);
	ab_put_u32(w, c->cols);
	ab_put_u32(w, c->wall_ms);
	ab_put_u32(w, (uint32_t)c->fd_count);
	for (size_t i = 0; i < c->fd_count; i++)
		ab_put_u32(w, (uint32_t)c->fds[i].target);
}

static int32_t get_argv(ab_reader *r, agentbox_command **out,
			agentbox_error **err)
{
	uint32_t argc = ab_get_count(r, AB_MAX_ARGS);
	const char **argv = ab_calloc((size_t)argc + 1, sizeof(*argv));

	if (!argv)
		return ab_error_nomem(err);
	for (uint32_t i = 0; i < argc; i++)
		argv[i] = ab_get_str(r);
	int32_t rc = r->bad ? ab_error_set(err, AGENTBOX_EPROTO, "argv",
					   "malformed command")
			    : agentbox_command_new(argv, argc, out, err);
	free(argv);
	return rc;
}

static int32_t get_env(ab_reader *r, agentbox_command *c, agentbox_error **err)
{
	uint32_t count = ab_get_count(r, AB_MAX_POLICY_ENTRIES);

	for (uint32_t i = 0; i < count && !r->bad; i++) {
		uint8_t from_host = ab_get_u8(r);
		uint8_t has_value = ab_get_u8(r);
		const char *name = ab_get_str(r);
		const char *value = ab_get_str(r);
		int32_t rc = r->bad ? 0
			: from_host
			? agentbox_command_set_host_env(c, name, value, err)
			: agentbox_command_set_env(c, name,
						   has_value ? value : NULL,
						   err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int32_t get_rest(ab_reader *r, const int *fds, size_t fd_count,
			agentbox_command *c, agentbox_error **err)
{
	const char *cwd = ab_get_str(r);
	uint8_t pty = ab_get_u8(r);
	uint32_t rows = ab_get_u32(r), cols = ab_get_u32(r);
	uint32_t wall_ms = ab_get_u32(r);
	uint32_t targets = ab_get_count(r, AB_MAX_EXTRA_FDS);
	int32_t rc = 0;

	if (r->bad || targets != fd_count)
		return ab_error_set(err, AGENTBOX_EPROTO, "command",
				    "malformed command");
	if (cwd[0])
		rc = agentbox_command_set_cwd(c, cwd, err);
	if (rc == 0 && pty)
		rc = agentbox_command_set_pty(c, rows, cols, err);
	if (rc == 0)
		rc = agentbox_command_set_wall(c, wall_ms, err);
	for (size_t i = 0; rc == 0 && i < fd_count; i++) {
		uint32_t target = ab_get_u32(r);
		rc = agentbox_command_set_fd(c, target > INT32_MAX
					     ? -1 : (int32_t)target,
					     fds[i], err);
	}
	if (rc == 0 && !ab_reader_done(r))
		rc = ab_error_set(err, AGENTBOX_EPROTO, "command",
				  "malformed command");
	return rc;
}

int32_t ab_command_get(ab_reader *r, const int *fds, size_t fd_count,
		       agentbox_command **out, agentbox_error **err)
{
	ab_auto(agentbox_command) *c = NULL;

	int32_t rc = get_argv(r, &c, err);
	if (rc == 0)
		rc = get_env(r, c, err);
	if (rc == 0)
		rc = get_rest(r, fds, fd_count, c, err);
	if (rc == 0)
		*out = ab_steal(&c);
	return rc;
}
