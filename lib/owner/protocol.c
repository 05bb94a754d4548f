/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the owner's protocol that both sides share. Both sides run as
 * the same user, but a confused client must not confuse an owner: everything
 * is parsed with bounds, and a command from outside is built through the
 * same judging calls as one from the host itself.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "owner/protocol.h"
#include "sandbox/sandbox.h"

AB_DEFINE_AUTO(agentbox_command, agentbox_command_free)

bool ab_owner_name_ok(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz0123456789._-");

	return n && !name[n] && n <= AB_OWNER_MAX_NAME && name[0] != '.';
}

int32_t ab_owner_open_dir(agentbox_context *context, int *dirfd,
			  agentbox_error **err)
{
	ab_autofd int state = -1;
	struct stat st;

	int32_t rc = ab_context_open_state(context, &state, err);
	if (rc < 0)
		return rc;
	if (mkdirat(state, AB_OWNER_DIR, 0700) < 0 && errno != EEXIST)
		return ab_error_sys(err, errno, AB_OWNER_DIR,
				    "cannot make '%s' in the state directory",
				    AB_OWNER_DIR);
	ab_autofd int fd = ab_fd_lift(openat(state, AB_OWNER_DIR,
					     O_RDONLY | O_DIRECTORY |
					     O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_error_sys(err, errno, AB_OWNER_DIR,
				    "cannot open '%s' in the state directory",
				    AB_OWNER_DIR);
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return ab_error_set(err, AGENTBOX_EACCES, AB_OWNER_DIR,
				    "'%s' in the state directory belongs to "
				    "others or is open to them; remove it",
				    AB_OWNER_DIR);
	*dirfd = ab_steal_fd(&fd);
	return 0;
}

int ab_owner_address(int dirfd, const char *name, struct sockaddr_un *out)
{
	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	int n = snprintf(out->sun_path, sizeof(out->sun_path),
			 "/proc/self/fd/%d/%s", dirfd, name);
	return n < 0 || (size_t)n >= sizeof(out->sun_path) ? -ENAMETOOLONG : 0;
}

int ab_owner_connect(int dirfd, const char *name)
{
	struct sockaddr_un address;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	int rc = ab_owner_address(dirfd, name, &address);
	if (rc < 0)
		return rc;
	ab_autofd int fd = ab_fd_lift(socket(AF_UNIX, SOCK_SEQPACKET |
					     SOCK_CLOEXEC, 0));
	if (fd < 0)
		return -errno;
	/* connect(2) waits for room in the owner's queue as a send does, and
	   a non-blocking one is not finished later (unix(7)). */
	const struct timeval limit = { .tv_sec = AB_OWNER_CONNECT_MS / 1000 };
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	uint64_t deadline = ab_clock_boot_ns() +
			    AB_OWNER_CONNECT_MS * UINT64_C(1000000);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		if (errno != EINTR || ab_clock_left_ms(deadline) == 0)
			return errno == EINTR ? -EAGAIN : -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	if (peer.uid != geteuid())
		return -EACCES;
	return ab_steal_fd(&fd);
}

void ab_owner_put_command(ab_writer *w, const agentbox_command *c)
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

int32_t ab_owner_get_command(ab_reader *r, const int *fds, size_t fd_count,
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
